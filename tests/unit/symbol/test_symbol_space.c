/* SPDX-License-Identifier: Apache-2.0 */
/* Images at offsets and processes' memory maps: which of them covers an address, replacing, limits, threads.
 */
#include "symbol_elf_maker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "symbol/symbol_space.h"

static const struct elf_symbol symbols[] = {
    {"alpha", TEXT + 1, 0x10, GLOBAL_FUNC, SECTION_TEXT},
    {"rom", 0x1001, 0x10, GLOBAL_FUNC, SECTION_ABS},
};

static struct symbol_index *open_image(const char *label)
{
    struct elf_maker *m = malloc(sizeof(*m));
    struct diag d = DIAG_INIT;
    elf_make(m, false, SYMBOL_MACHINE_ARM, symbols, 2);
    struct symbol_index *s = symbol_open_memory(m->data, m->size, label, &d);
    assert_non_null(s);
    free(m);
    return s;
}

static void expect(const struct symbol_space *space, uint32_t pid, uint64_t address,
                   const struct symbol_index *image, const char *path, uint64_t own)
{
    struct symbol_place place;
    if (!symbol_space_find(space, pid, address, &place))
        fail_msg("nothing at 0x%llx of process %u", (unsigned long long)address, pid);
    assert_ptr_equal(place.image, image);
    assert_string_equal(place.path, path);
    if (image)
        assert_int_equal(place.address, own);
}

static void expect_nothing(const struct symbol_space *space, uint32_t pid, uint64_t address)
{
    struct symbol_place place;
    assert_false(symbol_space_find(space, pid, address, &place));
}

static void images_at_offsets(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct symbol_index *b = open_image("b.elf");
    struct symbol_space *space = symbol_space_new();
    expect_nothing(space, 0, TEXT);
    assert_int_equal(symbol_space_image_count(space), 0);
    assert_int_equal(symbol_space_add(space, a, 0, NULL), CORRAL_OK);
    assert_int_equal(symbol_space_add(space, b, 0x80, NULL), CORRAL_OK); /* half of it is a's */
    assert_int_equal(symbol_space_image_count(space), 2);
    uint64_t offset = 0;
    assert_ptr_equal(symbol_space_image(space, 1, &offset), b);
    assert_int_equal(offset, 0x80);
    assert_null(symbol_space_image(space, 2, &offset));
    static const uint32_t pids[] = {0, 7, SYMBOL_ANY_PID};
    for (size_t i = 0; i < 3; i++) {
        expect_nothing(space, pids[i], TEXT - 1);
        expect(space, pids[i], TEXT, a, "a.elf", TEXT);
        expect(space, pids[i], TEXT + 0xFF, a, "a.elf", TEXT + 0xFF); /* the first wins */
        expect(space, pids[i], TEXT + 0x100, b, "b.elf", TEXT + 0x80);
        expect(space, pids[i], TEXT + 0x17F, b, "b.elf", TEXT + 0xFF);
        expect_nothing(space, pids[i], TEXT + 0x180);
        expect(space, pids[i], 0x1000, a, "a.elf", 0x1000); /* code of a ROM, in no section */
        expect(space, pids[i], 0x108F, b, "b.elf", 0x100F);
        expect_nothing(space, pids[i], 0x1010);
        expect_nothing(space, pids[i], UINT32_MAX);
        expect_nothing(space, pids[i], UINT64_MAX);
    }
    symbol_space_free(space);
    symbol_close(a);
    symbol_close(b);
}

/* An image between two pieces of an older one, and one that wraps the 32 bits of its addresses. */
static void an_image_fills_what_is_free(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct symbol_index *b = open_image("b.elf");
    struct symbol_space *space = symbol_space_new();
    assert_int_equal(symbol_space_add(space, a, (uint32_t)(0x40 - TEXT), NULL), CORRAL_OK); /* 0x40..0x13f */
    assert_int_equal(symbol_space_add(space, b, (uint32_t)(0xFFFFFFF0 - TEXT), NULL), CORRAL_OK);
    expect(space, 0, 0xFFFFFFF0, b, "b.elf", TEXT);
    expect(space, 0, UINT32_MAX, b, "b.elf", TEXT + 0x0F);
    expect(space, 0, 0, b, "b.elf", TEXT + 0x10);
    expect(space, 0, 0x3F, b, "b.elf", TEXT + 0x4F);
    expect(space, 0, 0x40, a, "a.elf", TEXT);
    expect(space, 0, 0xFF, a, "a.elf", TEXT + 0xBF);
    expect(space, 0, 0x13F, a, "a.elf", TEXT + 0xFF);
    expect_nothing(space, 0, 0x140);
    /* One that is wholly covered adds nothing, and does no harm. */
    assert_int_equal(symbol_space_add(space, b, (uint32_t)(0x40 - TEXT), NULL), CORRAL_OK);
    expect(space, 0, 0x40, a, "a.elf", TEXT);
    symbol_space_free(space);
    symbol_close(a);
    symbol_close(b);
}

static void no_more_images_than_the_limit(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct symbol_space *space = symbol_space_new();
    struct diag d = DIAG_INIT;
    for (uint32_t i = 0; i < SYMBOL_SPACE_MAX_IMAGES; i++)
        assert_int_equal(symbol_space_add(space, a, i * 0x1000, &d), CORRAL_OK);
    assert_int_equal(symbol_space_add(space, a, 0x20000000, &d), CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "100"));
    expect(space, 0, TEXT + 99 * 0x1000, a, "a.elf", TEXT);
    symbol_space_free(space);
    symbol_close(a);
}

static enum corral_err map(struct symbol_space *space, uint32_t pid, uint64_t start, uint64_t end,
                           const char *path, const struct symbol_index *image)
{
    /* elf_make's text begins at byte 52 of the file; it has no segments. */
    return symbol_space_add_map(space, pid, start, end, image ? TEXT : 0, path, image, NULL);
}

static void maps_belong_to_their_process(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct symbol_index *b = open_image("b.elf");
    struct symbol_space *space = symbol_space_new();
    assert_int_equal(symbol_space_add(space, a, 0, NULL), CORRAL_OK);
    assert_int_equal(map(space, 7, TEXT, TEXT + 0x80, "/bin/seven", b), CORRAL_OK);
    assert_int_equal(map(space, 9, TEXT + 0x40, TEXT + 0x1000, "/bin/nine", NULL), CORRAL_OK);
    assert_int_equal(map(space, 0, 0x40000000, 0x40001000, "kernel.ko", NULL), CORRAL_OK);
    expect(space, 7, TEXT + 4, b, "/bin/seven", TEXT + 4);
    expect(space, 7, TEXT + 0x80, a, "a.elf", TEXT + 0x80);
    expect(space, 9, TEXT + 4, a, "a.elf", TEXT + 4);
    expect(space, 9, TEXT + 0x40, NULL, "/bin/nine", 0); /* known to be another file than a.elf */
    expect(space, 8, TEXT + 4, a, "a.elf", TEXT + 4);
    expect(space, SYMBOL_ANY_PID, TEXT + 4, a, "a.elf", TEXT + 4);
    expect(space, 0, TEXT + 4, a, "a.elf", TEXT + 4);
    expect(space, 9, 0x40000000, NULL, "kernel.ko", 0);
    expect(space, 8, 0x40000FFF, NULL, "kernel.ko", 0);
    expect_nothing(space, 8, 0x40001000);
    symbol_space_clear_maps(space, 7);
    symbol_space_clear_maps(space, 12345);
    expect(space, 7, TEXT + 4, a, "a.elf", TEXT + 4);
    expect(space, 9, TEXT + 0x40, NULL, "/bin/nine", 0);
    symbol_space_free(space);
    symbol_close(a);
    symbol_close(b);
}

static void a_newer_map_replaces_what_it_overlaps(void **state)
{
    (void)state;
    struct symbol_space *space = symbol_space_new();
    assert_int_equal(map(space, 1, 0x1000, 0x5000, "old", NULL), CORRAL_OK);
    assert_int_equal(map(space, 1, 0x6000, 0x8000, "second", NULL), CORRAL_OK);
    assert_int_equal(map(space, 1, 0x2000, 0x3000, "inside", NULL), CORRAL_OK);
    expect(space, 1, 0x1FFF, NULL, "old", 0);
    expect(space, 1, 0x2000, NULL, "inside", 0);
    expect(space, 1, 0x2FFF, NULL, "inside", 0);
    expect(space, 1, 0x3000, NULL, "old", 0);
    assert_int_equal(map(space, 1, 0x2800, 0x7000, "over", NULL), CORRAL_OK);
    expect(space, 1, 0x27FF, NULL, "inside", 0);
    expect(space, 1, 0x2800, NULL, "over", 0);
    expect(space, 1, 0x5800, NULL, "over", 0);
    expect(space, 1, 0x6FFF, NULL, "over", 0);
    expect(space, 1, 0x7000, NULL, "second", 0);
    expect_nothing(space, 1, 0x8000);
    assert_int_equal(map(space, 1, 0, UINT64_MAX, "all", NULL), CORRAL_OK);
    expect(space, 1, 0, NULL, "all", 0);
    expect(space, 1, 0x2000, NULL, "all", 0);
    expect(space, 1, UINT64_MAX - 1, NULL, "all", 0);
    assert_int_equal(map(space, 1, 0x10, 0x10, "none", NULL), CORRAL_ERR_FORMAT);
    assert_int_equal(map(space, 1, 0x10, 0xF, "none", NULL), CORRAL_ERR_FORMAT); /* sheet 11, row 62 */
    expect(space, 1, 0x10, NULL, "all", 0);
    symbol_space_free(space);
}

/* Behind the cut the file goes on where it would have. */
static void what_is_left_of_a_map_keeps_its_place_in_the_file(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct symbol_space *space = symbol_space_new();
    assert_int_equal(map(space, 1, 0x1000, 0x1100, "a", a), CORRAL_OK);
    assert_int_equal(map(space, 1, 0x1040, 0x1080, "b", NULL), CORRAL_OK);
    expect(space, 1, 0x103F, a, "a", TEXT + 0x3F);
    expect(space, 1, 0x1080, a, "a", TEXT + 0x80);
    expect(space, 1, 0x10FF, a, "a", TEXT + 0xFF);
    symbol_space_free(space);
    symbol_close(a);
}

static void paths_of_maps_are_safe_to_show(void **state)
{
    (void)state;
    struct symbol_space *space = symbol_space_new();
    assert_int_equal(map(space, 1, 0x1000, 0x2000, "bad\x1B[31m\xFF", NULL), CORRAL_OK);
    expect(space, 1, 0x1000, NULL, "bad\\x1b[31m\\xff", 0);
    assert_int_equal(map(space, 1, 0x2000, 0x3000, "", NULL), CORRAL_OK);
    expect(space, 1, 0x2000, NULL, "", 0);
    symbol_space_free(space);
}

static void no_more_maps_than_the_limit(void **state)
{
    (void)state;
    struct symbol_space *space = symbol_space_new();
    struct diag d = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    uint32_t added = 0;
    while (added < 2 * SYMBOL_SPACE_MAX_MAPS && err == CORRAL_OK) {
        uint64_t start = 0x1000 + 0x1000 * (uint64_t)added;
        err = symbol_space_add_map(space, 1 + added % 5, start, start + 0x1000, 0, "lib", NULL, &d);
        added += err == CORRAL_OK;
    }
    assert_int_equal(err, CORRAL_ERR_LIMIT);
    assert_in_range(added, SYMBOL_SPACE_MAX_MAPS - 8, SYMBOL_SPACE_MAX_MAPS);
    expect(space, 1, 0x1000, NULL, "lib", 0);
    symbol_space_clear_maps(space, 1);
    assert_int_equal(map(space, 3, 0, 0x10, "lib", NULL), CORRAL_OK);
    /* Processes, and names of files, have limits, too. */
    err = CORRAL_OK;
    for (added = 0; added < 100000 && err == CORRAL_OK; added++) {
        symbol_space_clear_maps(space, 2);
        err = symbol_space_add_map(space, 10 + added, 0, 0x1000, 0, "lib", NULL, &d);
    }
    assert_int_equal(err, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "processes"));
    char *name = malloc(4001);
    memset(name, 'x', 4000);
    name[4000] = '\0';
    err = CORRAL_OK;
    for (added = 0; added < 100000 && err == CORRAL_OK; added++) {
        snprintf(name, 12, "%011u", added);
        name[11] = 'x';
        err = symbol_space_add_map(space, 3, 0, 0x10, 0, name, NULL, &d);
    }
    assert_int_equal(err, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "names"));
    free(name);
    symbol_space_free(space);
}

struct race {
    struct symbol_space *space;
    const struct symbol_index *image;
    atomic_bool stop;
    atomic_uint wrong, looked;
};

static void *look(void *ctx)
{
    struct race *r = ctx;
    while (!atomic_load(&r->stop)) {
        struct symbol_place place;
        if (!symbol_space_find(r->space, 5, 0x1800, &place)) {
            atomic_fetch_add(&r->looked, 1);
            continue;
        }
        bool one = place.image == NULL && strcmp(place.path, "first") == 0;
        bool two =
            place.image == r->image && strcmp(place.path, "other") == 0 && place.address == TEXT + 0x80;
        if (!one && !two)
            atomic_fetch_add(&r->wrong, 1);
        atomic_fetch_add(&r->looked, 1);
    }
    return NULL;
}

static void maps_may_be_added_while_others_look(void **state)
{
    (void)state;
    struct symbol_index *a = open_image("a.elf");
    struct race r = {.space = symbol_space_new(), .image = a};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, &r), 0);
    uint32_t round = 0;
    while (round < 4000 || atomic_load(&r.looked) < 1000) {
        assert_int_equal(map(r.space, 5, 0x1000, 0x2000, "first", NULL), CORRAL_OK);
        assert_int_equal(map(r.space, 5, 0x1780, 0x1880, "other", a), CORRAL_OK);
        assert_int_equal(map(r.space, 6 + round % 64, 0x1000, 0x2000, "more", NULL), CORRAL_OK);
        if (round % 16 == 0)
            symbol_space_clear_maps(r.space, 5);
        round++;
    }
    atomic_store(&r.stop, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&r.wrong), 0);
    symbol_space_free(r.space);
    symbol_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_at_offsets),
        cmocka_unit_test(an_image_fills_what_is_free),
        cmocka_unit_test(no_more_images_than_the_limit),
        cmocka_unit_test(maps_belong_to_their_process),
        cmocka_unit_test(a_newer_map_replaces_what_it_overlaps),
        cmocka_unit_test(what_is_left_of_a_map_keeps_its_place_in_the_file),
        cmocka_unit_test(paths_of_maps_are_safe_to_show),
        cmocka_unit_test(no_more_maps_than_the_limit),
        cmocka_unit_test(maps_may_be_added_while_others_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
