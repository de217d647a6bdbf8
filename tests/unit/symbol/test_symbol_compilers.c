/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index on files that compilers made: DWARF 4 and 5, GNU ld and lld, both byte orders, with code
 * the linker threw away. Functions and lines are compared with addr2line's answers, address by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbol.h"

#define FIXTURE SOURCE_ROOT "/tests/unit/symbol/symbol_fixture.c"
#define DEAD    SOURCE_ROOT "/tests/unit/symbol/symbol_fixture_dead.c"
#define LINK                                                                                       \
    "-nostdlib -ffreestanding -fno-inline -O1 -ffunction-sections -Wl,--gc-sections -Wl,-e,reset " \
    "-Wl,-Ttext=0x08000000 -Wl,-Tdata=0x20000000 -Wl,-z,max-page-size=4096 "

struct builder {
    const char *tool; /* what must be installed */
    const char *command;
};

static const struct builder builders[] = {
    {"arm-none-eabi-gcc", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -gdwarf-4 " LINK},
    {"arm-none-eabi-gcc", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -gdwarf-5 " LINK},
    {"arm-none-eabi-gcc", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -gdwarf-4 -mbig-endian " LINK},
    {"clang-14", "clang-14 --target=thumbv7em-none-eabi --ld-path=$(command -v ld.lld-14) -gdwarf-4 " LINK},
    {"clang-14", "clang-14 --target=thumbv7em-none-eabi --ld-path=$(command -v ld.lld-14) -gdwarf-5 " LINK},
};
#define BUILDERS (sizeof(builders) / sizeof(builders[0]))

static int installed(const char *tool)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

/* False when the compiler is not there. The file in `name` is the caller's to unlink. */
static int build(const struct builder *b, const char *more, char name[32])
{
    char command[1200];
    if (!installed(b->tool)) {
        print_message("# %s is not installed: left out\n", b->tool);
        return 0;
    }
    snprintf(name, 32, "symbol-test-XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof(command), "%s %s -o %s %s 2>&1", b->command, more, name, FIXTURE);
    if (system(command) != 0)
        fail_msg("does not build: %s", command);
    return 1;
}

static struct symbol_index *open_built(const char *name)
{
    struct diag d = DIAG_INIT;
    struct symbol_index *s = symbol_open(name, &d);
    if (!s)
        fail_msg("refused: %s", d.message);
    return s;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Every even address of the text against addr2line's function, file and line. */
static size_t compare_with_addr2line(const struct symbol_index *s, const char *name, uint32_t first)
{
    uint32_t last = first + 0x100;
    char command[256];
    char function[256];
    char place[600];
    size_t agreed = 0;
    snprintf(command, sizeof(command),
             "seq -f %%.0f %u 2 %u | while read a; do printf '0x%%x\\n' $a; done | "
             "arm-none-eabi-addr2line -f -e %s",
             first, last, name);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    for (uint64_t a = first; a <= last; a += 2) {
        assert_non_null(fgets(function, sizeof(function), p));
        assert_non_null(fgets(place, sizeof(place), p));
        function[strcspn(function, "\n")] = '\0';
        place[strcspn(place, "\n")] = '\0';
        char *colon = strrchr(place, ':');
        assert_non_null(colon);
        *colon = '\0';
        uint32_t want_line = (uint32_t)strtoul(colon + 1, NULL, 10);
        struct symbol_function f;
        const char *file = NULL;
        uint32_t line = 0;
        int has_function = symbol_function_at(s, a, &f);
        int has_line = symbol_line_at(s, a, &file, &line);
        /* Assembly without lines; or no code, where addr2line may still tell a variable's line. */
        if (want_line == 0 || strcmp(function, "??") == 0) {
            assert_int_equal(has_line, 0);
            continue;
        }
        assert_int_equal(has_line, 1);
        assert_int_equal(line, want_line);
        assert_string_equal(last_part(file), last_part(place));
        assert_int_equal(has_function, 1);
        assert_string_equal(f.name, function);
        assert_int_equal(symbol_line_at(s, a + 1, &file, &line), 1); /* bit 0 is ignored */
        assert_int_equal(line, want_line);
        agreed++;
    }
    pclose(p);
    return agreed;
}

static void functions_and_lines_as_addr2line_has_them(void **state)
{
    (void)state;
    size_t done = 0;
    if (!installed("arm-none-eabi-addr2line")) {
        print_message("# arm-none-eabi-addr2line is not installed: skipped\n");
        skip();
    }
    for (size_t i = 0; i < BUILDERS; i++) {
        char name[32];
        if (!build(&builders[i], "", name))
            continue;
        struct symbol_index *s = open_built(name);
        assert_null(symbol_note(s));
        if (compare_with_addr2line(s, name, 0x08000000) < 30)
            fail_msg("too few addresses have lines: %s", builders[i].command);
        symbol_close(s);
        unlink(name);
        done++;
    }
    if (done == 0)
        skip();
}

/* Flash at 0, as on many parts: discarded code keeps line rows there that must not cover what is live. */
static void discarded_code_does_not_cover_live_code(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < BUILDERS; i++) {
        char name[32];
        uint64_t entry;
        const char *file;
        uint32_t line;
        struct symbol_function f;
        if (!build(&builders[i], "-Wl,-Ttext=0x20 " DEAD, name))
            continue;
        struct symbol_index *s = open_built(name);
        assert_false(symbol_lookup(s, "dead_library", NULL, NULL));
        for (uint64_t a = 0; a < 0x20; a += 2)
            assert_false(symbol_line_at(s, a, &file, &line));
        size_t seen = 0;
        entry = symbol_entry(s);
        for (uint64_t a = 0x20; a < entry + 8; a += 2) {
            if (!symbol_line_at(s, a, &file, &line))
                continue;
            assert_string_equal(last_part(file), "symbol_fixture.c");
            assert_true(symbol_function_at(s, a, &f));
            seen++;
        }
        assert_in_range(seen, 20, 100);
        symbol_close(s);
        unlink(name);
        done++;
    }
    if (done == 0)
        skip();
}

static void symbols_of_real_files(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < BUILDERS; i++) {
        char name[32];
        uint64_t address = 0;
        uint64_t size = 0;
        struct symbol_function f;
        if (!build(&builders[i], "", name))
            continue;
        struct symbol_index *s = open_built(name);
        assert_true(symbol_lookup(s, "fixture_data", &address, &size));
        assert_int_equal(address, 0x20000000);
        assert_int_equal(size, 4);
        assert_true(symbol_lookup(s, "local_one", &address, NULL));
        assert_true(symbol_function_at(s, address, &f));
        assert_string_equal(f.name, "local_one");
        assert_false(symbol_lookup(s, "dead_function", NULL, NULL));
        assert_true(symbol_lookup(s, "reset", &address, NULL));
        assert_int_equal(symbol_entry(s), address);

        uint64_t alias = 0; /* the strong name is shown, both are found */
        assert_true(symbol_lookup(s, "public_two", &address, NULL));
        assert_true(symbol_lookup(s, "alias_of_two", &alias, NULL));
        assert_int_equal(alias, address);
        assert_true(symbol_function_at(s, address + 2, &f));
        assert_string_equal(f.name, "public_two");

        assert_true(symbol_lookup(s, "bare", &address, &size)); /* no size of its own */
        assert_int_equal(size, 0);
        for (uint32_t at = 0; at < 6; at += 2) {
            assert_true(symbol_function_at(s, address + at, &f));
            assert_string_equal(f.name, "bare");
        }
        symbol_close(s);
        unlink(name);
        done++;
    }
    if (done == 0)
        skip();
}

static void without_dwarf_and_without_symbols(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < BUILDERS; i++) {
        char name[32];
        const char *file;
        uint64_t address;
        uint32_t line;
        struct symbol_function f;
        if (!build(&builders[i], "-g0", name))
            continue;
        struct symbol_index *s = open_built(name);
        assert_non_null(strstr(symbol_note(s), "no DWARF"));
        assert_true(symbol_lookup(s, "reset", &address, NULL));
        assert_true(symbol_function_at(s, address, &f));
        assert_false(symbol_line_at(s, address, &file, &line));
        symbol_close(s);
        unlink(name);

        assert_true(build(&builders[i], "-Wl,-s", name));
        struct diag d = DIAG_INIT;
        assert_null(symbol_open(name, &d));
        assert_int_equal(d.code, CORRAL_ERR_NO_SYMBOL);
        assert_non_null(strstr(d.message, "no symbol table"));
        unlink(name);
        done++;
    }
    if (done == 0)
        skip();
}

/* Bytes changed all over a file with DWARF: refused with a sentence, or opened and then harmless. */
static void damaged_dwarf_does_no_harm(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t i = 0; i < BUILDERS; i++) {
        static uint8_t good[65536];
        static uint8_t bad[65536];
        char name[32];
        if (!build(&builders[i], "", name))
            continue;
        FILE *f = fopen(name, "rb");
        assert_non_null(f);
        size_t size = fread(good, 1, sizeof(good), f);
        fclose(f);
        unlink(name);
        assert_in_range(size, 1000, sizeof(good) - 1);
        uint32_t seed = 7;
        size_t opened = 0;
        for (int round = 0; round < 1500; round++) {
            memcpy(bad, good, size);
            for (int k = 0; k < 1 + round % 8; k++) {
                seed = seed * 1664525u + 1013904223u;
                size_t at = (seed >> 4) % size;
                seed = seed * 1664525u + 1013904223u;
                bad[at] = (uint8_t)(seed >> 24);
            }
            /* Sometimes cut as well: what was there must stand or the whole be refused. */
            size_t n = round % 5 == 4 ? (seed >> 3) % size : size;
            struct diag d = DIAG_INIT;
            struct symbol_index *s = symbol_open_memory(bad, n, "damaged.elf", &d);
            if (!s) {
                assert_true(d.code != CORRAL_OK && d.message[0] != '\0');
                continue;
            }
            opened++;
            for (uint64_t a = 0x08000000; a < 0x08000100; a += 2) {
                struct symbol_function function;
                const char *file = "";
                uint32_t line = 1;
                if (symbol_function_at(s, a, &function))
                    assert_true(a - function.address < function.size && strlen(function.name) > 0);
                if (symbol_line_at(s, a, &file, &line))
                    assert_true(line > 0 && strlen(file) < 100000);
            }
            symbol_close(s);
        }
        assert_in_range(opened, 300, 1499);
        done++;
    }
    if (done == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_lines_as_addr2line_has_them),
        cmocka_unit_test(discarded_code_does_not_cover_live_code),
        cmocka_unit_test(symbols_of_real_files),
        cmocka_unit_test(without_dwarf_and_without_symbols),
        cmocka_unit_test(damaged_dwarf_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
