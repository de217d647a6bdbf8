/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .pack archives: the one description in the root and the files that it names; and hostile ones: bombs, names
 * that lead out, links, encrypted entries, sizes that lie, too many entries. Nothing is written to disk.
 */
#include <unistd.h>

#include "pdsc_texts.h"

#include "zip_maker.h"

#include "pack/pack_internal.h"

static const char part[] = FAMILY ONE ENDF;

static struct pack_file *open_zip(struct zip_maker *z, struct diag *d)
{
    zip_finish(z);
    struct pack_file *file =
        pack_parse(PACK_ARCHIVE, "dir/a.pack", (const char *)z->bytes, z->size, NULL, NULL, d);
    zip_free(z);
    if (!file && d->code == CORRAL_ERR_UNSUPPORTED)
        skip();
    return file;
}

static void refused(struct zip_maker *z, enum corral_err code, const char *words)
{
    struct diag d = DIAG_INIT;
    struct pack_file *file = open_zip(z, &d);
    if (file)
        fail_msg("it is taken; expected is '%s'", words);
    if (d.code != code || !strstr(d.message, words) || strncmp(d.message, "dir/a.pack", 10) != 0)
        fail_msg("%d '%s'; expected is %d '%s'", (int)d.code, d.message, (int)code, words);
}

/* ---- what a pack is */

static void test_the_description_in_the_root(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    struct diag d = DIAG_INIT;
    zip_add_text(&z, "CMSIS/", "");
    zip_add_text(&z, "CMSIS/Other.pdsc", "no XML at all");
    zip_add_text(&z, "license.txt", "words");
    zip_add_text(&z, "Maker.Part.pdsc", part);
    zip_add_text(&z, "x.pdsc.txt", "words");
    struct pack_file *file = open_zip(&z, &d);
    if (!file)
        fail_msg("%s", d.message);
    assert_int_equal(pack_kind_of(file), PACK_ARCHIVE);
    assert_string_equal(pack_path(file), "dir/a.pack");
    assert_string_equal(pack_device_name(file, 0), "D1");
    struct pack_device *device = describe(file, NULL);
    assert_string_equal(sequence_set_file_name(device->set, PACK_DESCRIPTION), "dir/a.pack/Maker.Part.pdsc");
    free_both(device, file);
}

static void test_a_mistake_in_it_is_told_with_both_names(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    zip_add_text(&z, "Part.PDSC", "<package>\n</p>");
    refused(&z, CORRAL_ERR_FORMAT, "dir/a.pack/Part.PDSC:2: this is not XML");
}

static void test_deflated_and_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/test-archive-XXXXXX.pack";
    size_t size = 0;
    struct diag d = DIAG_INIT;
    uint8_t *zip = zip_deflated("p.pdsc", part, 3000000, ' ', "<!-- -->\n", &size);
    assert_true(size < 100000);
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, zip, size), (ssize_t)size);
    close(fd);
    free(zip);
    struct pack_file *file = pack_open(path, NULL, NULL, &d);
    remove(path);
    if (!file && d.code == CORRAL_ERR_UNSUPPORTED)
        skip();
    if (!file)
        fail_msg("%s", d.message);
    assert_int_equal(pack_device_count(file), 1);
    pack_close(file);
}

static void test_files_that_the_description_names(void **state)
{
    (void)state;
    static const char sdf[] =
        "<a><device name=\"M\" type=\"Cortex-M4\"><config_item name=\"CORESIGHT_AP_INDEX\">"
        "2</config_item></device></a>";
    static const char *const named[] = {"CMSIS/Debug/a.sdf", "CMSIS\\Debug\\a.sdf"};
    for (size_t i = 0; i < 4; i++) {
        char text[1024], *bytes = NULL, *where = NULL;
        size_t size = 0;
        struct zip_maker z = {0};
        struct diag d = DIAG_INIT;
        snprintf(text, sizeof(text), FAMILY "<debugconfig sdf=\"%s\"/>" ONE ENDF, named[i % 2]);
        zip_add_text(&z, "p.pdsc", text);
        zip_add_text(&z, named[i / 2], sdf);
        struct pack_file *file = open_zip(&z, &d);
        assert_non_null(file);
        struct pack_device *device = describe(file, NULL);
        assert_non_null(device->sdf);
        assert_int_equal(device->sdf->cores[0].ap, 2);
        assert_int_equal(pack_read_named(file, named[i % 2], 1000, &bytes, &size, &where, &d), CORRAL_OK);
        assert_string_equal(bytes, sdf);
        free(bytes);
        free(where);
        assert_int_equal(pack_read_named(file, named[i % 2], 10, &bytes, &size, &where, &d),
                         CORRAL_ERR_LIMIT);
        assert_null(bytes);
        assert_int_equal(pack_read_named(file, "CMSIS/b", 10, &bytes, &size, &where, &d), CORRAL_ERR_IO);
        assert_null(bytes);
        free_both(device, file);
    }
}

static void test_names_that_lead_out_are_not_looked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"../a.sdf",  "a/../../b", "/etc/passwd", "..",      "C:/a",
                                        "..\\a.sdf", "\\a",       "a/..",        "a\\..\\b"};
    struct zip_maker z = {0};
    struct diag d = DIAG_INIT;
    zip_add_text(&z, "p.pdsc", part);
    struct pack_file *archive = open_zip(&z, &d), *file = parse(part);
    assert_non_null(archive);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *bytes = NULL, *where = NULL;
        size_t size = 0;
        assert_int_equal(pack_read_named(archive, names[i], 1000, &bytes, &size, &where, &d),
                         CORRAL_ERR_FORMAT);
        assert_int_equal(pack_read_named(file, names[i], 1000, &bytes, &size, &where, &d), CORRAL_ERR_FORMAT);
        assert_null(bytes);
        assert_null(where);
    }
    pack_close(archive);
    pack_close(file);
}

static void test_one_description_and_no_more(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    zip_add_text(&z, "sub/p.pdsc", part);
    refused(&z, CORRAL_ERR_FORMAT, "no .pdsc is in its root");
    refused(&z, CORRAL_ERR_FORMAT, "");
    zip_add_text(&z, "p.pdsc", part);
    zip_add_text(&z, "q.pdsc", part);
    refused(&z, CORRAL_ERR_FORMAT, "more than one .pdsc is in its root: q.pdsc");
    zip_add_text(&z, "p.pdsc", part);
    zip_add_text(&z, "p.pdsc", part);
    refused(&z, CORRAL_ERR_FORMAT, "more than one .pdsc");
}

/* ---- what means harm */

static void test_names_that_lead_out(void **state)
{
    (void)state;
    static const char *const names[] = {"../p.pdsc", "a/../../x", "/p.pdsc",  "/etc/passwd", "..\\x",
                                        "\\x",       "C:\\x",     "a\\..\\x", "..",          "a/.."};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct zip_maker z = {0};
        zip_add_text(&z, "p.pdsc", part);
        zip_add_text(&z, names[i], part);
        refused(&z, CORRAL_ERR_FORMAT, "an entry's name leads out of the archive");
    }
    /* These do not. */
    static const char *const good[] = {"...", "a../b", "a/..b", "..a/b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct zip_maker z = {0};
        struct diag d = DIAG_INIT;
        zip_add_text(&z, "p.pdsc", part);
        zip_add_text(&z, good[i], "");
        struct pack_file *file = open_zip(&z, &d);
        assert_non_null(file);
        pack_close(file);
    }
}

static void test_links(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    zip_add(&z,
            &(struct zip_entry){
                .name = "p.pdsc", .bytes = "/etc/passwd", .size = 11, .attributes = (uint32_t)0120777 << 16});
    refused(&z, CORRAL_ERR_FORMAT, "an entry is a link, not a file: p.pdsc");
    zip_add(&z, &(struct zip_entry){.name = "p.pdsc",
                                    .bytes = part,
                                    .size = strlen(part),
                                    .attributes = (uint32_t)0020666 << 16});
    refused(&z, CORRAL_ERR_FORMAT, "p.pdsc");
}

static void test_encrypted_entries(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    zip_add(&z, &(struct zip_entry){.name = "p.pdsc", .bytes = part, .size = strlen(part), .flags = 1});
    refused(&z, CORRAL_ERR_FORMAT, "an entry is encrypted: p.pdsc");
}

static void test_sizes_and_sums_that_lie(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    struct zip_entry e = {.name = "p.pdsc", .bytes = part, .size = strlen(part)};
    e.said_size = 10;
    zip_add(&z, &e);
    refused(&z, CORRAL_ERR_FORMAT, "");
    e.said_size = 100000;
    zip_add(&z, &e);
    refused(&z, CORRAL_ERR_FORMAT, "");
    e.said_size = 0;
    e.said_crc = 12345;
    zip_add(&z, &e);
    refused(&z, CORRAL_ERR_FORMAT, "");
    e.said_crc = 0;
    e.said_size = UINT32_MAX;
    zip_add(&z, &e);
    refused(&z, CORRAL_ERR_LIMIT, "too large");
    e.said_size = 0;
    e.method = 8; /* deflated, it says */
    zip_add(&z, &e);
    refused(&z, CORRAL_ERR_FORMAT, "");
}

/* Some of them take as much memory as the archive says. */
static void test_other_ways_to_compress(void **state)
{
    (void)state;
    static const uint16_t methods[] = {1, 6, 9, 12, 14, 93, 95, 98, 99};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct zip_maker z = {0};
        zip_add(&z, &(struct zip_entry){
                        .name = "p.pdsc", .bytes = part, .size = strlen(part), .method = methods[i]});
        refused(&z, CORRAL_ERR_FORMAT, "an entry is neither stored nor deflated: p.pdsc");
    }
}

static void refused_bytes(const uint8_t *bytes, size_t size, enum corral_err code, const char *words)
{
    struct diag d = DIAG_INIT;
    struct pack_file *file =
        pack_parse(PACK_ARCHIVE, "dir/a.pack", (const char *)bytes, size, NULL, NULL, &d);
    if (!file && d.code == CORRAL_ERR_UNSUPPORTED)
        skip();
    if (file || d.code != code || !strstr(d.message, words))
        fail_msg("%d '%s'; expected is %d '%s'", (int)d.code, d.message, (int)code, words);
}

/* 200 MB in 200 KB; and the same when it says that it is small. */
static void test_zip_bombs(void **state)
{
    (void)state;
    size_t size = 0;
    uint8_t *zip = zip_deflated("p.pdsc", "<package>", 200u << 20, ' ', "</package>", &size);
    assert_true(size < 1000000);
    refused_bytes(zip, size, CORRAL_ERR_LIMIT, "an entry is too large: p.pdsc");
    for (size_t i = 0; i + 46 < size; i++)
        if (memcmp(zip + i, "PK\1\2", 4) == 0)
            zip_le(zip + i + 24, 4, 1000);
    zip_le(zip + 22, 4, 1000);
    refused_bytes(zip, size, CORRAL_ERR_FORMAT, "");
    free(zip);
}

/* Many small entries: as many as a pack has are passed, more are refused, and a directory without an end. */
static void test_many_entries(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        unsigned count = i == 0 ? 20000 : i == 1 ? 70000 : 400000;
        struct zip_maker z = {0};
        struct diag d = DIAG_INIT;
        uint8_t again[46 + 3];
        for (unsigned k = 0; k < count; k++) {
            char name[16];
            snprintf(name, sizeof(name), "d/%u", k);
            if (i < 2 || k == 0)
                zip_add_text(&z, name, "");
            else /* only in the directory, all at the same place of the file */
                zip_put(&z.directory, &z.directory_size, &z.directory_room, again, sizeof(again));
            if (k == 0)
                memcpy(again, z.directory, sizeof(again));
        }
        zip_add_text(&z, "p.pdsc", part);
        if (i > 0) {
            refused(&z, CORRAL_ERR_LIMIT, "");
            continue;
        }
        struct pack_file *file = open_zip(&z, &d);
        if (!file)
            fail_msg("%s", d.message);
        pack_close(file);
    }
}

static void test_other_archives_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {{"", 0},
                 {"PK\3\4", 4},
                 {"PK\5\6", 4},
                 {"\x1f\x8b\x08\0\0\0\0\0", 8},
                 {"7z\xBC\xAF\x27\x1C", 6},
                 {"<package/>", 10},
                 {"ustar", 5}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused_bytes((const uint8_t *)cases[i].bytes, cases[i].size, CORRAL_ERR_FORMAT, "dir/a.pack: ");
    static uint8_t empty[22] = "PK\5\6";
    refused_bytes(empty, sizeof(empty), CORRAL_ERR_FORMAT, "dir/a.pack: ");
    static uint8_t zeros[70000];
    refused_bytes(zeros, sizeof(zeros), CORRAL_ERR_FORMAT, "no ZIP archive");
}

/* Cut short and damaged: refused or taken, and nothing else. */
static void test_archives_cut_and_damaged(void **state)
{
    (void)state;
    struct zip_maker z = {0};
    unsigned taken = 0;
    zip_add_text(&z, "a/b", "words");
    zip_add_text(&z, "p.pdsc", part);
    zip_finish(&z);
    for (size_t i = 0; i < 2 * z.size; i++) {
        size_t size = i < z.size ? i : z.size;
        struct diag d = DIAG_INIT;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, z.bytes, size);
        if (i >= z.size)
            copy[i - z.size] = (char)(copy[i - z.size] ^ 1 << i % 8);
        struct pack_file *file = pack_parse(PACK_ARCHIVE, "dir/a.pack", copy, size, NULL, NULL, &d);
        free(copy);
        if (!file && d.code == CORRAL_ERR_UNSUPPORTED)
            skip();
        taken += file != NULL;
        assert_true(file || d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_LIMIT);
        pack_close(file);
    }
    assert_true(taken > 10);
    zip_free(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_description_in_the_root),
        cmocka_unit_test(test_a_mistake_in_it_is_told_with_both_names),
        cmocka_unit_test(test_deflated_and_from_a_file),
        cmocka_unit_test(test_files_that_the_description_names),
        cmocka_unit_test(test_names_that_lead_out_are_not_looked_for),
        cmocka_unit_test(test_one_description_and_no_more),
        cmocka_unit_test(test_names_that_lead_out),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_encrypted_entries),
        cmocka_unit_test(test_sizes_and_sums_that_lie),
        cmocka_unit_test(test_other_ways_to_compress),
        cmocka_unit_test(test_zip_bombs),
        cmocka_unit_test(test_many_entries),
        cmocka_unit_test(test_other_archives_are_none),
        cmocka_unit_test(test_archives_cut_and_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
