/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index on one small program for every machine that the compilers here make: both classes, both
 * byte orders, DWARF 4 and 5; and Ubicom32 (profiler sheet 3.7, 9), for which there is none, as a MIPS file
 * with another machine number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbol_space.h"

#define FIXTURE SOURCE_ROOT "/tests/unit/symbol/symbol_fixture_inline.c"
#define OPTIONS                                                                                 \
    "-O2 -g -ffreestanding -nostdlib -fno-pic -fno-builtin -fomit-frame-pointer -Wl,-e,_start " \
    "-Wl,-Ttext=0x40000000 "
#define CLANG "clang-14 --ld-path=$(command -v ld.lld-14) " OPTIONS "-static "

struct target {
    const char *tool, *command;
    uint16_t machine;
    bool big, wide;
    unsigned alignment;
};

static const struct target targets[] = {
    {"clang-14", CLANG "--target=mips-linux-gnu -gdwarf-4", SYMBOL_MACHINE_MIPS, true, false, 4},
    {"clang-14", CLANG "--target=mipsel-linux-gnu -gdwarf-5", SYMBOL_MACHINE_MIPS, false, false, 4},
    {"clang-14", CLANG "--target=mips64-linux-gnu -mno-abicalls -gdwarf-5", SYMBOL_MACHINE_MIPS, true, true,
     4},
    {"clang-14", CLANG "--target=mips64el-linux-gnu -mno-abicalls -gdwarf-4", SYMBOL_MACHINE_MIPS, false,
     true, 4},
    {"clang-14", CLANG "--target=aarch64-linux-gnu -gdwarf-5", SYMBOL_MACHINE_AARCH64, false, true, 4},
    {"clang-14", CLANG "--target=x86_64-linux-gnu -gdwarf-4", SYMBOL_MACHINE_X86_64, false, true, 1},
    {"clang-14", CLANG "--target=i386-linux-gnu -gdwarf-5", SYMBOL_MACHINE_X86, false, false, 1},
    {"clang-14", CLANG "--target=armv7a-none-eabi -gdwarf-4", SYMBOL_MACHINE_ARM, false, false, 2},
    {"clang-14", CLANG "--target=thumbv6m-none-eabi -gdwarf-5", SYMBOL_MACHINE_ARM, false, false, 2},
    {"arm-none-eabi-gcc", "arm-none-eabi-gcc -mcpu=cortex-r5 -mbig-endian -gdwarf-5 " OPTIONS,
     SYMBOL_MACHINE_ARM, true, false, 2},
    {"arm-none-eabi-gcc", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -gdwarf-4 " OPTIONS, SYMBOL_MACHINE_ARM,
     false, false, 2},
    {"gcc", "gcc -no-pie -static -gdwarf-5 -fcf-protection=none " OPTIONS, SYMBOL_MACHINE_X86_64, false, true,
     1},
};
#define TARGETS (sizeof(targets) / sizeof(targets[0]))

static bool installed(const char *tool)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

/* The file's bytes, to be freed; NULL when the compiler is not there, or makes no code for this machine. */
static uint8_t *build(const struct target *t, size_t *size)
{
    char command[1200];
    char name[] = "symbol-test-XXXXXX";
    if (!installed(t->tool) || (strstr(t->command, "--target") && !installed("ld.lld-14"))) {
        print_message("# %s is not installed: left out\n", t->tool);
        return NULL;
    }
    if (strcmp(t->tool, "gcc") == 0 && system("test \"$(gcc -dumpmachine)\" = x86_64-linux-gnu") != 0)
        return NULL;
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    snprintf(command, sizeof(command), "%s -o %s %s 2>&1", t->command, name, FIXTURE);
    if (system(command) != 0)
        fail_msg("does not build: %s", command);
    close(fd);
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    uint8_t *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    unlink(name);
    assert_in_range(*size, 1000, (1 << 20) - 1);
    return bytes;
}

static struct symbol_index *open_bytes(const uint8_t *bytes, size_t size)
{
    struct diag d = DIAG_INIT;
    struct symbol_index *s = symbol_open_memory(bytes, size, "target.elf", &d);
    if (!s)
        fail_msg("refused: %s", d.message);
    return s;
}

static uint32_t line_of(const char *mark)
{
    char text[256];
    uint32_t number = 0;
    FILE *f = fopen(FIXTURE, "r");
    assert_non_null(f);
    while (fgets(text, sizeof(text), f)) {
        number++;
        if (strstr(text, mark)) {
            fclose(f);
            return number;
        }
    }
    fail_msg("no %s in the fixture", mark);
    return 0;
}

/* All of `outer`: its last frame is itself, and somewhere in it is the chain leaf, middle, outer. */
static void check_frames(const struct symbol_index *s)
{
    uint64_t start, size;
    size_t deep = 0;
    bool at_the_store = false;
    assert_true(symbol_lookup(s, "outer", &start, &size));
    assert_true(size >= 8);
    for (uint64_t a = start; a < start + size; a += symbol_alignment(s)) {
        struct symbol_frame frames[8];
        struct symbol_frame first;
        size_t n = symbol_frames(s, a, frames, 8);
        assert_in_range(n, 1, 3);
        assert_string_equal(frames[n - 1].name, "outer");
        assert_int_equal(symbol_frames(s, a, &first, 1), n); /* counts what there is no room for */
        assert_string_equal(first.name, frames[0].name);
        assert_int_equal(symbol_frames(s, a, NULL, 0), n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(frames[i].inlined, i + 1 < n);
            assert_string_equal(frames[i].file, FIXTURE);
        }
        if (n < 3)
            continue;
        deep++;
        assert_string_equal(frames[0].name, "leaf");
        assert_string_equal(frames[1].name, "middle");
        assert_int_equal(frames[1].line, line_of("CALL LEAF"));
        assert_int_equal(frames[2].line, line_of("CALL MIDDLE"));
        at_the_store |= frames[0].line == line_of("/* LEAF"); /* it is volatile, so it is somewhere */
    }
    assert_true(deep > 0);
    assert_true(at_the_store);
}

/* A place inside an instruction of fixed width has no name; in others every byte has its function's. */
static void check_alignment(const struct symbol_index *s, const struct target *t)
{
    uint64_t start;
    struct symbol_function f;
    assert_true(symbol_lookup(s, "plain", &start, NULL));
    for (unsigned i = 0; i < 4; i++) {
        bool whole = i % t->alignment == 0 || (t->machine == SYMBOL_MACHINE_ARM && (i & 1));
        struct symbol_frame frame;
        const char *file;
        uint32_t line;
        assert_int_equal(symbol_function_at(s, start + i, &f), whole);
        assert_int_equal(symbol_frames(s, start + i, &frame, 1), whole);
        assert_int_equal(symbol_line_at(s, start + i, &file, &line), whole);
        if (t->machine != SYMBOL_MACHINE_ARM)
            assert_int_equal(symbol_misfit(s, start + i), whole ? SYMBOL_FITS : SYMBOL_MISFIT_UNALIGNED);
    }
}

static void check_image(const struct symbol_index *s, const uint8_t *bytes, const struct target *t)
{
    struct symbol_section section;
    uint64_t address;
    uint8_t code[8];
    assert_int_equal(symbol_machine(s), t->machine);
    assert_int_equal(symbol_big_endian(s), t->big);
    assert_int_equal(symbol_wide(s), t->wide);
    assert_int_equal(symbol_alignment(s), t->alignment);
    assert_true(symbol_has_lines(s));
    assert_true(symbol_has_inlines(s));
    assert_null(symbol_note(s));
    assert_string_equal(symbol_path(s), "target.elf");
    assert_true(symbol_section_count(s) >= 1);
    assert_false(symbol_section_get(s, symbol_section_count(s), &section));
    assert_true(symbol_lookup(s, "plain", &address, NULL));
    size_t holds = 0;
    for (size_t i = 0; symbol_section_get(s, i, &section); i++) {
        if (address < section.start || address >= section.limit)
            continue;
        holds++;
        assert_string_equal(section.name, ".text");
        assert_int_equal(section.start, 0x40000000);
        uint64_t offset = section.file_offset + (address - section.start);
        assert_true(symbol_code(s, address, code, 8));
        assert_memory_equal(code, bytes + offset, 8);
        uint64_t back;
        assert_true(symbol_address_of_offset(s, offset, &back));
        assert_int_equal(back, address);
        assert_true(symbol_code(s, section.limit - 4, code, 4));
        assert_false(symbol_code(s, section.limit - 4, code, 5));
        assert_false(symbol_code(s, section.limit, code, 1));
        assert_false(symbol_code(s, section.start - 1, code, 1));
        assert_false(symbol_code(s, section.start, code, SIZE_MAX));
        assert_int_equal(symbol_misfit(s, section.limit), SYMBOL_MISFIT_OUTSIDE);
    }
    assert_int_equal(holds, 1);
    assert_int_equal(symbol_misfit(s, UINT64_MAX), SYMBOL_MISFIT_OUTSIDE);
    assert_false(symbol_address_of_offset(s, UINT64_MAX, &address));
}

static void every_target_has_functions_inlines_and_lines(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        size_t size;
        uint8_t *bytes = build(&targets[i], &size);
        if (!bytes)
            continue;
        struct symbol_index *s = open_bytes(bytes, size);
        print_message("# %s\n", targets[i].command);
        check_image(s, bytes, &targets[i]);
        check_frames(s);
        check_alignment(s, &targets[i]);
        symbol_close(s);
        free(bytes);
        done++;
    }
    if (done == 0)
        skip();
}

/* Arm: the words between functions are marked as data, and a pc does not fit there; nor at a half ARM word.
 */
static void a_pc_in_a_literal_pool_does_not_fit(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        size_t size;
        uint8_t *bytes = targets[i].machine == SYMBOL_MACHINE_ARM ? build(&targets[i], &size) : NULL;
        if (!bytes)
            continue;
        struct symbol_index *s = open_bytes(bytes, size);
        bool thumb = strstr(targets[i].command, "-mthumb") || strstr(targets[i].command, "thumbv");
        uint64_t start, length;
        size_t fit = 0, data = 0, unaligned = 0;
        assert_true(symbol_lookup(s, "plain", &start, &length));
        for (uint64_t a = start; a < start + length; a += 2) {
            enum symbol_misfit m = symbol_misfit(s, a);
            fit += m == SYMBOL_FITS;
            data += m == SYMBOL_MISFIT_DATA;
            unaligned += m == SYMBOL_MISFIT_UNALIGNED;
            assert_int_equal(symbol_fits(s, a), m == SYMBOL_FITS);
            assert_int_equal(symbol_misfit(s, a + 1), m); /* the Thumb bit says nothing of the place */
        }
        assert_true(fit > 0);
        assert_int_equal(unaligned > 0, !thumb);
        if (thumb)
            assert_true(data > 0); /* 0x7654321 */
        symbol_close(s);
        free(bytes);
        done++;
    }
    if (done == 0)
        skip();
}

/* Ubicom32: big-endian, 32 bits, machine 0xde3d. The DWARF is that of the MIPS file. */
static void ubicom32_is_named_like_any_other(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = build(&targets[0], &size);
    if (!bytes) {
        skip();
        return;
    }
    bytes[18] = 0xDE;
    bytes[19] = 0x3D;
    struct symbol_index *s = open_bytes(bytes, size);
    check_frames(s);
    assert_int_equal(symbol_machine(s), SYMBOL_MACHINE_UBICOM32);
    assert_int_equal(symbol_alignment(s), 4);
    uint64_t start;
    struct symbol_function f;
    assert_true(symbol_lookup(s, "plain", &start, NULL));
    assert_true(symbol_function_at(s, start + 4, &f));
    for (unsigned i = 1; i < 4; i++) {
        assert_false(symbol_function_at(s, start + i, &f));
        assert_int_equal(symbol_misfit(s, start + i), SYMBOL_MISFIT_UNALIGNED);
    }
    /* Sizes go up to the next symbol, so no address between functions is without a name. */
    struct symbol_section section;
    assert_true(symbol_section_get(s, 0, &section));
    for (uint64_t a = section.start; a < section.limit; a += 4)
        assert_true(symbol_function_at(s, a, &f));
    symbol_close(s);
    free(bytes);
}

/* An image of 64 bits that is mapped somewhere by a process: the file's segments say what lies where. */
static void a_mapped_file_is_found_by_its_segments(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        size_t size;
        if (!targets[i].wide)
            continue;
        uint8_t *bytes = build(&targets[i], &size);
        if (!bytes)
            continue;
        struct symbol_index *s = open_bytes(bytes, size);
        struct symbol_space *space = symbol_space_new();
        struct symbol_section section;
        struct symbol_place place;
        uint64_t plain;
        const uint64_t base = UINT64_C(0x7FFFF7A00000);
        assert_true(symbol_lookup(s, "plain", &plain, NULL));
        assert_true(symbol_section_get(s, 0, &section));
        uint64_t from = section.file_offset & ~UINT64_C(0xFFF);
        assert_int_equal(
            symbol_space_add_map(space, 5, base, base + 0x10000, from, "/lib/target.so", s, NULL), CORRAL_OK);
        uint64_t at = base + (section.file_offset - from) + (plain - section.start);
        assert_true(symbol_space_find(space, 5, at, &place));
        assert_ptr_equal(place.image, s);
        assert_int_equal(place.address, plain);
        assert_string_equal(place.path, "/lib/target.so");
        symbol_space_free(space);
        symbol_close(s);
        free(bytes);
        done++;
    }
    if (done == 0)
        skip();
}

static void the_build_id_is_told(void **state)
{
    (void)state;
    struct target with = {.tool = "clang-14",
                          .command = CLANG "--target=mips-linux-gnu -Wl,--build-id=0xDEADBEEF01020304"};
    struct target without = {.tool = "clang-14",
                             .command = CLANG "--target=mips-linux-gnu -Wl,--build-id=none"};
    size_t size;
    uint8_t *bytes = build(&with, &size);
    if (!bytes) {
        skip();
        return;
    }
    struct symbol_index *s = open_bytes(bytes, size);
    assert_string_equal(symbol_build_id(s), "deadbeef01020304");
    symbol_close(s);
    free(bytes);
    bytes = build(&without, &size);
    s = open_bytes(bytes, size);
    assert_string_equal(symbol_build_id(s), "");
    symbol_close(s);
    free(bytes);
}

/* Files of 64 bits and of other machines with bytes changed, or cut: refused with a sentence or harmless. */
static void damaged_files_of_every_target_do_no_harm(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < TARGETS; i += 2) {
        size_t size;
        size_t opened = 0;
        uint64_t seed = i + 1;
        uint8_t *good = build(&targets[i], &size);
        if (!good)
            continue;
        uint8_t *bad = malloc(size);
        for (int round = 0; round < 400; round++) {
            memcpy(bad, good, size);
            for (int k = 0; k < 1 + round % 8; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                bad[(seed >> 33) % size] = (uint8_t)(seed >> 25);
            }
            size_t n = round % 5 == 4 ? (seed >> 20) % size : size;
            struct diag d = DIAG_INIT;
            struct symbol_index *s = symbol_open_memory(bad, n, "damaged.elf", &d);
            if (!s) {
                assert_true(d.code != CORRAL_OK && d.message[0] != '\0');
                continue;
            }
            opened++;
            struct symbol_space *space = symbol_space_new();
            symbol_space_add(space, s, seed, NULL);
            for (uint64_t a = 0x40000000; a < 0x40000100; a++) {
                struct symbol_frame frames[4];
                struct symbol_place place;
                uint8_t code[4];
                size_t count = symbol_frames(s, a, frames, 4);
                for (size_t k = 0; k < count && k < 4; k++)
                    assert_true(strlen(frames[k].name) > 0 &&
                                (!frames[k].file || strlen(frames[k].file) < 20000));
                symbol_code(s, a, code, 4);
                symbol_fits(s, a);
                symbol_space_find(space, 0, a + seed, &place);
            }
            symbol_space_free(space);
            symbol_close(s);
        }
        assert_in_range(opened, 50, 399);
        free(bad);
        free(good);
        done++;
    }
    if (done == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_has_functions_inlines_and_lines),
        cmocka_unit_test(a_pc_in_a_literal_pool_does_not_fit),
        cmocka_unit_test(ubicom32_is_named_like_any_other),
        cmocka_unit_test(a_mapped_file_is_found_by_its_segments),
        cmocka_unit_test(the_build_id_is_told),
        cmocka_unit_test(damaged_files_of_every_target_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
