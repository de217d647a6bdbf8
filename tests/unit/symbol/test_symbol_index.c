/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index on hand-made files: what counts as a function, sizes, names, and hostile files. */
#include "symbol_elf_maker.h"

#include <stdio.h>
#include <unistd.h>

#include "symbol/symbol.h"

#define EM_ARM   40
#define EM_UBI32 0xBB /* any machine that is not Arm */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct symbol_index *open_made(const struct elf_maker *m)
{
    struct diag d = DIAG_INIT;
    struct symbol_index *s = symbol_open_memory(m->data, m->size, "made.elf", &d);
    if (!s)
        fail_msg("refused: %s", d.message);
    return s;
}

static const char *name_at(const struct symbol_index *s, uint64_t address)
{
    struct symbol_function f;
    return symbol_function_at(s, address, &f) ? f.name : "-";
}

static const struct elf_symbol usual[] = {
    {"$t", TEXT, 0, LOCAL_NOTYPE, SECTION_TEXT},
    {"$d", TEXT + 0x0C, 0, LOCAL_NOTYPE, SECTION_TEXT},
    {"$t.1", TEXT + 0x14, 0, LOCAL_NOTYPE, SECTION_TEXT},
    {"$d.realdata", DATA, 0, LOCAL_NOTYPE, SECTION_DATA},
    {"alpha", TEXT + 1, 0x14, GLOBAL_FUNC, SECTION_TEXT},
    {"beta", TEXT + 0x15, 4, LOCAL_FUNC, SECTION_TEXT},
    {"no_size", TEXT + 0x21, 0, GLOBAL_FUNC, SECTION_TEXT},
    {"gamma", TEXT + 0x31, 4, GLOBAL_FUNC, SECTION_TEXT},
    {"last", TEXT + 0xF1, 0, GLOBAL_FUNC, SECTION_TEXT},
    {"odd_object", DATA + 1, 2, GLOBAL_OBJECT, SECTION_DATA},
    {"in_data", DATA + 5, 4, GLOBAL_FUNC, SECTION_DATA},
    {"elsewhere", 0, 0, GLOBAL_NOTYPE, 0},
    {"stack_top", DATA + 0x10000, 0, GLOBAL_NOTYPE, SECTION_ABS},
};

static void functions_by_address(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    for (int big = 0; big < 2; big++) {
        elf_make(m, big, EM_ARM, usual, COUNT(usual));
        struct symbol_index *s = open_made(m);
        assert_int_equal(symbol_function_count(s), 5);
        assert_int_equal(symbol_entry(s), TEXT + 0x1C);
        static const struct {
            uint32_t offset;
            const char *name;
        } want[] = {
            {0x00, "alpha"},   {0x01, "alpha"}, {0x0C, "alpha"}, {0x13, "alpha"}, {0x14, "beta"},
            {0x15, "beta"},    {0x17, "beta"},  {0x18, "-"},     {0x1F, "-"},     {0x20, "no_size"},
            {0x2F, "no_size"}, {0x30, "gamma"}, {0x34, "-"},     {0xEE, "-"},     {0xF0, "last"},
            {0xFF, "last"},    {0x100, "-"},
        };
        for (size_t i = 0; i < COUNT(want); i++)
            assert_string_equal(name_at(s, TEXT + want[i].offset), want[i].name);
        assert_string_equal(name_at(s, 0), "-");
        assert_string_equal(name_at(s, TEXT - 1), "-");
        assert_string_equal(name_at(s, DATA + 5), "-");
        assert_string_equal(name_at(s, UINT32_MAX), "-");
        struct symbol_function f;
        assert_true(symbol_function_at(s, TEXT + 0x25, &f));
        assert_int_equal(f.address, TEXT + 0x20);
        assert_int_equal(f.size, 0x10);
        const char *file;
        uint32_t line;
        assert_false(symbol_line_at(s, TEXT, &file, &line));
        assert_non_null(strstr(symbol_note(s), "no DWARF"));
        symbol_close(s);
    }
    free(m);
}

static void names_to_addresses(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    elf_make(m, false, EM_ARM, usual, COUNT(usual));
    struct symbol_index *s = open_made(m);
    uint64_t address = 0;
    uint64_t size = 0;
    assert_true(symbol_lookup(s, "alpha", &address, &size));
    assert_int_equal(address, TEXT);
    assert_int_equal(size, 0x14);
    assert_true(symbol_lookup(s, "odd_object", &address, &size)); /* no Thumb bit in data */
    assert_int_equal(address, DATA + 1);
    assert_int_equal(size, 2);
    assert_true(symbol_lookup(s, "stack_top", &address, NULL));
    assert_int_equal(address, DATA + 0x10000);
    assert_true(symbol_lookup(s, "in_data", NULL, NULL));
    static const char *const none[] = {"", "$t", "$d", "$t.1", "elsewhere", "alph", "alphaa", "ALPHA", "zzz"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(symbol_lookup(s, none[i], &address, &size));
    symbol_close(s);
    free(m);
}

static void aliases_nested_and_wrong_sizes(void **state)
{
    (void)state;
    static const struct elf_symbol symbols[] = {
        {"weak_handler", TEXT + 1, 8, WEAK_FUNC, SECTION_TEXT},
        {"a_local", TEXT + 1, 8, LOCAL_FUNC, SECTION_TEXT},
        {"default_handler", TEXT + 1, 8, GLOBAL_FUNC, SECTION_TEXT},
        {"sizeless", TEXT + 1, 0, GLOBAL_FUNC, SECTION_TEXT},
        {"outer", TEXT + 0x41, 0x40, GLOBAL_FUNC, SECTION_TEXT},
        {"inner", TEXT + 0x51, 0x10, GLOBAL_FUNC, SECTION_TEXT},
        {"huge", TEXT + 0xC1, UINT32_MAX, GLOBAL_FUNC, SECTION_TEXT},
        {"rom", 0xFFFFFFF1, 0x7FFFFFFF, GLOBAL_FUNC, SECTION_ABS},
        {"rom_sizeless", 0x1001, 0, GLOBAL_FUNC, SECTION_ABS},
        {"same", TEXT + 0x81, 2, LOCAL_FUNC, SECTION_TEXT},
        {"same", TEXT + 0x85, 2, GLOBAL_FUNC, SECTION_TEXT},
        {"same", TEXT + 0x83, 2, LOCAL_FUNC, SECTION_TEXT},
    };
    struct elf_maker *m = malloc(sizeof(*m));
    elf_make(m, false, EM_ARM, symbols, COUNT(symbols));
    struct symbol_index *s = open_made(m);
    assert_string_equal(name_at(s, TEXT), "default_handler");
    assert_string_equal(name_at(s, TEXT + 8), "-");
    assert_string_equal(name_at(s, TEXT + 0x40), "outer");
    assert_string_equal(name_at(s, TEXT + 0x50), "inner");
    assert_string_equal(name_at(s, TEXT + 0x60), "outer");
    assert_string_equal(name_at(s, TEXT + 0x80), "same");
    assert_string_equal(name_at(s, TEXT + 0xFE), "huge");
    assert_string_equal(name_at(s, TEXT + 0x100), "-");
    assert_string_equal(name_at(s, UINT32_MAX), "rom");
    assert_string_equal(name_at(s, 0x1000), "-");
    uint64_t address;
    assert_true(symbol_lookup(s, "same", &address, NULL)); /* the global one */
    assert_int_equal(address, TEXT + 0x84);
    symbol_close(s);
    free(m);
}

static void other_machines_have_no_thumb_bit(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    static const struct elf_symbol symbols[] = {{"even", TEXT, 4, GLOBAL_FUNC, SECTION_TEXT},
                                                {"odd", TEXT + 5, 3, GLOBAL_FUNC, SECTION_TEXT}};
    elf_make(m, true, EM_UBI32, symbols, COUNT(symbols));
    struct symbol_index *s = open_made(m);
    uint64_t address;
    assert_true(symbol_lookup(s, "odd", &address, NULL));
    assert_int_equal(address, TEXT + 5);
    assert_string_equal(name_at(s, TEXT + 2), "even");
    symbol_close(s);
    free(m);
}

static void names_that_are_no_text_are_escaped(void **state)
{
    (void)state;
    static const struct elf_symbol symbols[] = {{"bad\x1B[31m", TEXT + 1, 4, GLOBAL_FUNC, SECTION_TEXT},
                                                {"\xFF\xFE", TEXT + 5, 4, GLOBAL_FUNC, SECTION_TEXT},
                                                {"h\xC3\xA4usle", TEXT + 9, 4, GLOBAL_FUNC, SECTION_TEXT}};
    struct elf_maker *m = malloc(sizeof(*m));
    elf_make(m, false, EM_ARM, symbols, COUNT(symbols));
    struct symbol_index *s = open_made(m);
    assert_string_equal(name_at(s, TEXT), "bad\\x1b[31m");
    assert_string_equal(name_at(s, TEXT + 4), "\\xff\\xfe");
    assert_string_equal(name_at(s, TEXT + 8), "h\xC3\xA4usle");
    symbol_close(s);
    free(m);
}

static void refuse(const uint8_t *data, size_t size, enum corral_err code, const char *sentence)
{
    struct diag d = DIAG_INIT;
    struct symbol_index *s = symbol_open_memory(data, size, "made.elf", &d);
    assert_null(s);
    assert_int_equal(d.code, code);
    if (!strstr(d.message, sentence))
        fail_msg("want \"%s\" in \"%s\"", sentence, d.message);
    assert_null(symbol_open_memory(data, size, "made.elf", NULL));
}

static void what_is_no_program_is_refused_with_a_sentence(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    refuse((const uint8_t *)"", 0, CORRAL_ERR_ELF, "not an ELF file");
    refuse((const uint8_t *)"\x7F"
                            "EL",
           3, CORRAL_ERR_ELF, "not an ELF file");
    refuse((const uint8_t *)"#!/bin/sh\necho this is no firmware at all, not even nearly", 50, CORRAL_ERR_ELF,
           "not an ELF file");
    elf_make(m, false, EM_ARM, usual, COUNT(usual));
    refuse(m->data, 51, CORRAL_ERR_ELF, "cut inside its header");
    m->data[4] = 2;
    refuse(m->data, m->size, CORRAL_ERR_ELF, "64-bit");
    m->data[4] = 3;
    refuse(m->data, m->size, CORRAL_ERR_ELF, "class and byte order");
    m->data[4] = 1;
    m->data[5] = 0;
    refuse(m->data, m->size, CORRAL_ERR_ELF, "class and byte order");
    m->data[5] = 1;
    elf_u16(m, 16, 1);
    refuse(m->data, m->size, CORRAL_ERR_ELF, "not linked");
    elf_u16(m, 16, 4);
    refuse(m->data, m->size, CORRAL_ERR_ELF, "type 4");
    elf_u16(m, 16, 3); /* position-independent: accepted */
    symbol_close(open_made(m));

    elf_make(m, false, EM_ARM, usual, COUNT(usual)); /* no symbol table: its section becomes notes */
    elf_u32(m, m->size - 2 * 40 + 4, 7);
    refuse(m->data, m->size, CORRAL_ERR_NO_SYMBOL, "no symbol table");
    elf_make(m, false, EM_ARM, usual, COUNT(usual)); /* a symbol table behind the end of the file */
    elf_u32(m, m->size - 2 * 40 + 16, 0x7FFFFFF0);
    refuse(m->data, m->size, CORRAL_ERR_ELF, "behind the end");
    elf_make(m, false, EM_ARM, usual, COUNT(usual));
    elf_u32(m, m->size - 2 * 40 + 20, UINT32_MAX);
    refuse(m->data, m->size, CORRAL_ERR_ELF, "behind the end");

    struct diag d = DIAG_INIT;
    assert_null(symbol_open("no-such.elf", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_null(symbol_open(".", &d));
    assert_int_equal(d.code, CORRAL_ERR_ELF);
    assert_null(symbol_open("/dev/zero", &d));
    assert_int_equal(d.code, CORRAL_ERR_ELF);
    symbol_close(NULL);
    free(m);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    elf_make(m, false, EM_ARM, usual, COUNT(usual));
    for (size_t n = 0; n < m->size; n++) {
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, m->data, n);
        struct diag d = DIAG_INIT;
        assert_null(symbol_open_memory(exact, n, "cut.elf", &d));
        assert_int_equal(d.code, CORRAL_ERR_ELF);
        assert_true(d.message[0] != '\0');
        free(exact);
    }
    free(m);
}

/* Whatever is opened must answer any question about any address without reading astray. */
static void use(const struct symbol_index *s)
{
    struct symbol_function f;
    const char *file;
    uint32_t line;
    uint64_t size;
    static const uint32_t bases[] = {0, TEXT, TEXT + 0xC0, DATA, UINT32_MAX - 64};
    for (size_t b = 0; b < COUNT(bases); b++)
        for (uint32_t i = 0; i < 64; i += 3) {
            uint64_t a = bases[b] + i; /* the damage may have made it a machine without Thumb bit */
            if (symbol_function_at(s, a, &f)) {
                assert_true(a - f.address < f.size || (a & ~UINT64_C(1)) - f.address < f.size);
                assert_true(strlen(f.name) > 0);
                assert_true(f.name[0] != '$' || strlen(f.name) > 2);
            }
            symbol_line_at(s, a, &file, &line);
        }
    symbol_lookup(s, "alpha", &size, &size);
}

static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    uint32_t seed = 1;
    size_t opened = 0;
    for (int round = 0; round < 6000; round++) {
        elf_make(m, round & 1, EM_ARM, usual, COUNT(usual));
        size_t changes = 1 + (size_t)round % 5;
        for (size_t i = 0; i < changes; i++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 8) % m->size;
            if (round % 3 == 0) /* the section headers are where it hurts */
                at = m->size - 1 - (seed >> 8) % 240;
            seed = seed * 1664525u + 1013904223u;
            m->data[at] = (uint8_t)(round % 7 == 0 ? 0xFF : seed >> 24);
        }
        struct diag d = DIAG_INIT;
        struct symbol_index *s = symbol_open_memory(m->data, m->size, "damaged.elf", &d);
        if (s) {
            opened++;
            use(s);
            symbol_close(s);
        } else {
            assert_true(d.code != CORRAL_OK && d.message[0] != '\0');
        }
    }
    assert_in_range(opened, 1000, 5999); /* both ways were taken */
    free(m);
}

static void the_callers_bytes_are_copied(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    elf_make(m, false, EM_ARM, usual, COUNT(usual));
    struct symbol_index *s = open_made(m);
    memset(m, 0xAA, sizeof(*m));
    assert_string_equal(name_at(s, TEXT + 0x14), "beta");
    symbol_close(s);
    free(m);
}

/* The file of the public report on names from a Thumb symbol table without DWARF. */
static void names_of_report_16(void **state)
{
    (void)state;
    static const char path[] = SOURCE_ROOT "/../shared/reports/16/syms.elf";
    if (access(path, R_OK) != 0) {
        print_message("# no reports/16: skipped\n");
        skip();
    }
    static const struct {
        uint32_t pc;
        const char *name;
    } want[] = {{134217748, "beta"},  {134217728, "alpha"}, {134217752, "gamma"},
                {134217760, "reset"}, {134217744, "alpha"}, {134217750, "beta"}};
    struct diag d = DIAG_INIT;
    struct symbol_index *s = symbol_open(path, &d);
    assert_non_null(s);
    for (size_t i = 0; i < COUNT(want); i++)
        assert_string_equal(name_at(s, want[i].pc), want[i].name);
    assert_int_equal(symbol_function_count(s), 4);
    uint64_t address;
    assert_true(symbol_lookup(s, "odd_object", &address, NULL));
    assert_int_equal(address, 0x20000001);
    symbol_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_by_address),
        cmocka_unit_test(names_to_addresses),
        cmocka_unit_test(aliases_nested_and_wrong_sizes),
        cmocka_unit_test(other_machines_have_no_thumb_bit),
        cmocka_unit_test(names_that_are_no_text_are_escaped),
        cmocka_unit_test(what_is_no_program_is_refused_with_a_sentence),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(the_callers_bytes_are_copied),
        cmocka_unit_test(names_of_report_16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
