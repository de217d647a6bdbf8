/* SPDX-License-Identifier: Apache-2.0 */
/* What the profiler sheet says of ELF files and addresses: section 9 on Ubicom32's symbols and sections,
 * section 11 rows 37 and 63. Files are made by hand. */
#include "symbol_elf_maker.h"

#include <stdio.h>

#include "symbol/symbol.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NOP      0xC9000000u /* MOVEI: any opcode that is in use */
#define HEADERS  (6u * 40u)

static const struct elf_symbol ubicom[] = {
    {"vector", TEXT, 0, GLOBAL_NOTYPE, SECTION_TEXT},
    {"alpha", TEXT + 0x10, 8, GLOBAL_FUNC, SECTION_TEXT}, /* its size is not believed */
    {"label", TEXT + 0x30, 0, LOCAL_NOTYPE, SECTION_TEXT},
    {".Ltmp3", TEXT + 0x38, 0, LOCAL_NOTYPE, SECTION_TEXT},
    {"data_label", DATA, 0, GLOBAL_NOTYPE, SECTION_DATA},
    {"object", TEXT + 0x50, 16, GLOBAL_OBJECT, SECTION_TEXT},
    {"omega", TEXT + 0x60, 4, GLOBAL_FUNC, SECTION_TEXT},
    {".init.text", 0, 0, GLOBAL_NOTYPE, SECTION_ABS}, /* for the name of a section */
    {".upgrade.1", 0, 0, GLOBAL_NOTYPE, SECTION_ABS},
    {".protect", 0, 0, GLOBAL_NOTYPE, SECTION_ABS},
    {".protected", 0, 0, GLOBAL_NOTYPE, SECTION_ABS},
    {".text", 0, 0, GLOBAL_NOTYPE, SECTION_ABS},
};

static void make(struct elf_maker *m, bool big, unsigned machine)
{
    elf_make(m, big, machine, ubicom, COUNT(ubicom));
    for (size_t i = 0; i < 0x100; i += 4)
        elf_u32(m, 52 + i, NOP);
}

/* The text section's name becomes that of a symbol: sections and symbols share the table of names. */
static void name_text(struct elf_maker *m, const char *name)
{
    uint32_t at = 1;
    for (size_t i = 0; i < COUNT(ubicom) && strcmp(ubicom[i].name, name) != 0; i++)
        at += (uint32_t)strlen(ubicom[i].name) + 1;
    elf_u32(m, m->size - HEADERS + 40, at);
}

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

static void labels_are_functions_and_go_up_to_the_next(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    make(m, true, SYMBOL_MACHINE_UBICOM32);
    struct symbol_index *s = open_made(m);
    static const struct {
        uint32_t offset;
        const char *name;
    } want[] = {{0x00, "vector"}, {0x0C, "vector"}, {0x10, "alpha"}, {0x14, "alpha"}, {0x18, "alpha"},
                {0x2C, "alpha"},  {0x30, "label"},  {0x38, "label"}, {0x5C, "label"}, {0x60, "omega"},
                {0x64, "omega"},  {0xFC, "omega"},  {0x100, "-"}};
    for (size_t i = 0; i < COUNT(want); i++)
        assert_string_equal(name_at(s, TEXT + want[i].offset), want[i].name);
    assert_string_equal(name_at(s, DATA), "-");
    assert_int_equal(symbol_function_count(s), 4);
    struct symbol_function f;
    uint64_t at = 0;
    for (size_t i = 0; symbol_function_get(s, i, &f); i++) {
        assert_true(f.address >= at);
        at = f.address + f.size;
    }
    assert_int_equal(at, TEXT + 0x100);
    assert_false(symbol_function_get(s, 4, &f));
    symbol_close(s);
    /* On any other machine, labels are none and sizes are believed. */
    make(m, true, SYMBOL_MACHINE_MIPS);
    s = open_made(m);
    assert_string_equal(name_at(s, TEXT), "-");
    assert_string_equal(name_at(s, TEXT + 0x14), "alpha");
    assert_string_equal(name_at(s, TEXT + 0x18), "-");
    assert_int_equal(symbol_function_count(s), 2);
    symbol_close(s);
    free(m);
}

static void sections_that_are_gone_when_it_runs_are_left_out(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    static const struct {
        const char *name;
        bool counts;
    } want[] = {{".init.text", false},
                {".upgrade.1", false},
                {".protect", false},
                {".protected", true},
                {".text", true}};
    for (size_t i = 0; i < COUNT(want); i++) {
        make(m, true, SYMBOL_MACHINE_UBICOM32);
        name_text(m, want[i].name);
        struct symbol_index *s = open_made(m);
        struct symbol_section section;
        assert_int_equal(symbol_section_count(s), want[i].counts);
        assert_string_equal(name_at(s, TEXT + 0x10), want[i].counts ? "alpha" : "-");
        if (want[i].counts) {
            assert_true(symbol_section_get(s, 0, &section));
            assert_string_equal(section.name, want[i].name);
            assert_int_equal(section.start, TEXT);
            assert_int_equal(section.limit, TEXT + 0x100);
            assert_int_equal(section.file_offset, 52);
        } else {
            assert_non_null(strstr(symbol_note(s), "no function"));
        }
        symbol_close(s);
        make(m, true, SYMBOL_MACHINE_MIPS);
        name_text(m, want[i].name);
        s = open_made(m);
        assert_string_equal(name_at(s, TEXT + 0x10), "alpha");
        symbol_close(s);
    }
    free(m);
}

static void an_illegal_opcode_says_that_the_file_is_another(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    static const struct {
        uint32_t word;
        enum symbol_misfit misfit;
    } want[] = {
        {0x00000000, SYMBOL_MISFIT_ILLEGAL}, /* zeros */
        {0x00000700, SYMBOL_MISFIT_ILLEGAL}, /* major 0, minor 0 */
        {0x00000800, SYMBOL_FITS},
        {0x00002000, SYMBOL_FITS}, /* RET: minor 4 */
        {0x0000F800, SYMBOL_FITS},
        {0x01u << 27, SYMBOL_MISFIT_ILLEGAL},
        {0x07u << 27, SYMBOL_MISFIT_ILLEGAL},
        {0x17u << 27, SYMBOL_MISFIT_ILLEGAL},
        {0x1Fu << 27, SYMBOL_MISFIT_ILLEGAL},
        {0xFFFFFFFF, SYMBOL_MISFIT_ILLEGAL}, /* erased flash */
        {0x1Au << 27, SYMBOL_FITS},          /* JMPcc */
        {0x1Bu << 27, SYMBOL_FITS},          /* CALL */
        {0x1Cu << 27, SYMBOL_FITS},          /* MOVEAI */
        {0x1Du << 27, SYMBOL_FITS},          /* MOVEAI of the newer cores: 4-bit opcode 0xe */
        {0x1Eu << 27, SYMBOL_FITS},          /* CALLI */
    };
    make(m, true, SYMBOL_MACHINE_UBICOM32);
    for (uint32_t i = 0; i < COUNT(want); i++)
        elf_u32(m, 52 + 4 * i, want[i].word);
    struct symbol_index *s = open_made(m);
    for (uint32_t i = 0; i < COUNT(want); i++) {
        uint8_t code[4];
        assert_int_equal(symbol_misfit(s, TEXT + 4 * i), want[i].misfit);
        assert_int_equal(symbol_fits(s, TEXT + 4 * i), want[i].misfit == SYMBOL_FITS);
        assert_true(symbol_code(s, TEXT + 4 * i, code, 4));
        assert_int_equal(load_be32(code), want[i].word);
    }
    symbol_close(s);
    make(m, true, SYMBOL_MACHINE_MIPS); /* where zeros are an instruction */
    elf_u32(m, 52, 0);
    s = open_made(m);
    assert_int_equal(symbol_misfit(s, TEXT), SYMBOL_FITS);
    symbol_close(s);
    free(m);
}

/* Odd, unmapped, 0, 0xffffffff: no name, no frame, no line, and none of them fits. */
static void row_37_a_pc_that_is_none_has_no_name(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    static const struct {
        uint64_t pc;
        enum symbol_misfit misfit;
    } want[] = {
        {TEXT + 1, SYMBOL_MISFIT_UNALIGNED},
        {TEXT + 0x12, SYMBOL_MISFIT_UNALIGNED},
        {TEXT + 0x13, SYMBOL_MISFIT_UNALIGNED},
        {TEXT - 4, SYMBOL_MISFIT_OUTSIDE},
        {TEXT + 0x100, SYMBOL_MISFIT_OUTSIDE},
        {DATA, SYMBOL_MISFIT_OUTSIDE},
        {0, SYMBOL_MISFIT_OUTSIDE},
        {1, SYMBOL_MISFIT_OUTSIDE},
        {0xFFFFFFFC, SYMBOL_MISFIT_OUTSIDE},
        {UINT32_MAX, SYMBOL_MISFIT_OUTSIDE},
        {UINT64_MAX, SYMBOL_MISFIT_OUTSIDE},
        {(UINT64_C(1) << 32) + TEXT, SYMBOL_MISFIT_OUTSIDE},
    };
    make(m, true, SYMBOL_MACHINE_UBICOM32);
    struct symbol_index *s = open_made(m);
    for (size_t i = 0; i < COUNT(want); i++) {
        struct symbol_frame frame;
        const char *file;
        uint32_t line;
        uint8_t byte;
        assert_string_equal(name_at(s, want[i].pc), "-");
        assert_int_equal(symbol_frames(s, want[i].pc, &frame, 1), 0);
        assert_false(symbol_line_at(s, want[i].pc, &file, &line));
        assert_int_equal(symbol_misfit(s, want[i].pc), want[i].misfit);
        assert_false(symbol_fits(s, want[i].pc));
        assert_int_equal(symbol_code(s, want[i].pc, &byte, 1), want[i].misfit == SYMBOL_MISFIT_UNALIGNED);
    }
    struct symbol_frame frame;
    assert_int_equal(symbol_frames(s, TEXT + 0x10, &frame, 1), 1); /* while the place before it has one */
    assert_string_equal(frame.name, "alpha");
    assert_null(frame.file);
    assert_int_equal(frame.line, 0);
    assert_false(frame.inlined);
    symbol_close(s);
    free(m);
}

static void refuse(const struct elf_maker *m, size_t size, enum corral_err code, const char *sentence)
{
    struct diag d = DIAG_INIT;
    assert_null(symbol_open_memory(m->data, size, "made.elf", &d));
    assert_int_equal(d.code, code);
    if (!strstr(d.message, sentence) || !strstr(d.message, "made.elf"))
        fail_msg("want \"%s\" in \"%s\"", sentence, d.message);
    assert_string_equal(d.object, "made.elf");
}

/* Each file has its own clear error, and the next one is not hindered. */
static void row_63_files_that_cannot_be_right(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    make(m, false, SYMBOL_MACHINE_UBICOM32);
    refuse(m, m->size, CORRAL_ERR_ELF, "little-endian");

    make(m, true, SYMBOL_MACHINE_UBICOM32);
    m->data[4] = 2;
    refuse(m, m->size, CORRAL_ERR_ELF, "64-bit");

    make(m, true, SYMBOL_MACHINE_UBICOM32);
    refuse(m, m->size - 1, CORRAL_ERR_ELF, "cut");
    refuse(m, 51, CORRAL_ERR_ELF, "cut");
    refuse(m, 3, CORRAL_ERR_ELF, "not an ELF file");

    make(m, true, SYMBOL_MACHINE_UBICOM32); /* the text's offset, and its size */
    elf_u32(m, m->size - HEADERS + 40 + 16, (uint32_t)m->size + 1);
    refuse(m, m->size, CORRAL_ERR_ELF, "behind the end");
    make(m, true, SYMBOL_MACHINE_UBICOM32);
    elf_u32(m, m->size - HEADERS + 40 + 20, UINT32_MAX);
    refuse(m, m->size, CORRAL_ERR_ELF, "behind the end");

    make(m, true, SYMBOL_MACHINE_UBICOM32); /* the name of the second symbol */
    size_t table = m->size - HEADERS - 16 * (COUNT(ubicom) + 1);
    elf_u32(m, table + 16 * 2, 0x00FFFFFF);
    refuse(m, m->size, CORRAL_ERR_ELF, "name of symbol 2");

    elf_make(m, true, SYMBOL_MACHINE_UBICOM32, ubicom, 0);
    refuse(m, m->size, CORRAL_ERR_NO_SYMBOL, "symbol table is empty");

    make(m, true, SYMBOL_MACHINE_UBICOM32);
    struct symbol_index *s = open_made(m);
    assert_string_equal(name_at(s, TEXT + 0x10), "alpha");
    symbol_close(s);
    free(m);
}

/* A machine nobody knows is used for its symbols, and that is said; a known one of another kind opens, and
 * what was seen on the target shows whether it fits. */
static void row_63_a_wrong_machine(void **state)
{
    (void)state;
    struct elf_maker *m = malloc(sizeof(*m));
    make(m, false, 0x1234);
    struct symbol_index *s = open_made(m);
    assert_non_null(strstr(symbol_note(s), "machine is not known"));
    assert_int_equal(symbol_machine(s), 0x1234);
    assert_int_equal(symbol_alignment(s), 1);
    assert_string_equal(name_at(s, TEXT + 0x11), "alpha");
    assert_true(symbol_fits(s, TEXT + 0x11));
    symbol_close(s);
    make(m, true, SYMBOL_MACHINE_ARM);
    s = open_made(m);
    assert_int_equal(symbol_machine(s), SYMBOL_MACHINE_ARM);
    assert_true(symbol_big_endian(s));
    assert_false(symbol_wide(s));
    symbol_close(s);
    make(m, true, SYMBOL_MACHINE_X86); /* there is no big-endian one */
    refuse(m, m->size, CORRAL_ERR_ELF, "big-endian");
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_functions_and_go_up_to_the_next),
        cmocka_unit_test(sections_that_are_gone_when_it_runs_are_left_out),
        cmocka_unit_test(an_illegal_opcode_says_that_the_file_is_another),
        cmocka_unit_test(row_37_a_pc_that_is_none_has_no_name),
        cmocka_unit_test(row_63_files_that_cannot_be_right),
        cmocka_unit_test(row_63_a_wrong_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
