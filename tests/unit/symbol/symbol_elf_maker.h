/* SPDX-License-Identifier: Apache-2.0 */
/* Makes small ELF32 files by hand (System V ABI chapter 4), in either byte order: a text section of 0x100
 * bytes at 0x08000000, a data section at 0x20000000, and the symbols a test gives. */
#ifndef CORRAL_TESTS_UNIT_SYMBOL_SYMBOL_ELF_MAKER_H
#define CORRAL_TESTS_UNIT_SYMBOL_SYMBOL_ELF_MAKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

#define TEXT 0x08000000u
#define DATA 0x20000000u

#define SECTION_TEXT 1
#define SECTION_DATA 2
#define SECTION_ABS  0xFFF1

#define GLOBAL_FUNC   0x12
#define LOCAL_FUNC    0x02
#define WEAK_FUNC     0x22
#define GLOBAL_OBJECT 0x11
#define LOCAL_NOTYPE  0x00
#define GLOBAL_NOTYPE 0x10

struct elf_symbol {
    const char *name;
    uint32_t value;
    uint32_t size;
    uint8_t info;
    uint16_t section;
};

struct elf_maker {
    uint8_t data[8192];
    size_t size;
    bool big;
};

static inline void elf_u16(struct elf_maker *m, size_t at, unsigned v)
{
    assert_true(at + 2 <= sizeof(m->data));
    if (m->big)
        store_be16(m->data + at, (uint16_t)v);
    else
        store_le16(m->data + at, (uint16_t)v);
}

static inline void elf_u32(struct elf_maker *m, size_t at, uint32_t v)
{
    assert_true(at + 4 <= sizeof(m->data));
    if (m->big)
        store_be32(m->data + at, v);
    else
        store_le32(m->data + at, v);
}

static inline void elf_section(struct elf_maker *m, size_t at, const uint32_t fields[10])
{
    for (size_t i = 0; i < 10; i++)
        elf_u32(m, at + 4 * i, fields[i]);
}

/* Header, text (0x100 zero bytes), data, string table, symbol table, section headers last. */
static inline void elf_make(struct elf_maker *m, bool big, unsigned machine, const struct elf_symbol *symbols,
                            size_t count)
{
    memset(m, 0, sizeof(*m));
    m->big = big;
    memcpy(m->data, (uint8_t[]){0x7F, 'E', 'L', 'F', 1, big ? 2 : 1, 1}, 7);
    elf_u16(m, 16, 2); /* ET_EXEC */
    elf_u16(m, 18, machine);
    elf_u32(m, 20, 1);
    elf_u32(m, 24, TEXT + 0x1D);
    elf_u16(m, 40, 52);
    elf_u16(m, 46, 40);
    elf_u16(m, 48, 6);
    elf_u16(m, 50, 3); /* section names: none are needed, any string table does */

    size_t strings = 52 + 0x100 + 16;
    size_t string_size = 1;
    for (size_t i = 0; i < count; i++)
        string_size += strlen(symbols[i].name) + 1;
    size_t table = (strings + string_size + 3) & ~(size_t)3;
    size_t name = 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = table + 16 * (i + 1);
        size_t length = strlen(symbols[i].name) + 1;
        assert_true(at + 16 <= sizeof(m->data));
        memcpy(m->data + strings + name, symbols[i].name, length);
        elf_u32(m, at, (uint32_t)name);
        elf_u32(m, at + 4, symbols[i].value);
        elf_u32(m, at + 8, symbols[i].size);
        m->data[at + 12] = symbols[i].info;
        elf_u16(m, at + 14, symbols[i].section);
        name += length;
    }
    uint32_t table_size = (uint32_t)(16 * (count + 1));
    size_t headers = table + table_size;
    elf_u32(m, 32, (uint32_t)headers);
    const uint32_t sections[6][10] = {
        {0},
        {0, 1, 2 | 4, TEXT, 52, 0x100, 0, 0, 4, 0},
        {0, 1, 2 | 1, DATA, 52 + 0x100, 16, 0, 0, 4, 0},
        {0, 3, 0, 0, (uint32_t)strings, (uint32_t)string_size, 0, 0, 1, 0},
        {0, 2, 0, 0, (uint32_t)table, table_size, 3, 1, 4, 16},
        {0},
    };
    for (size_t i = 0; i < 6; i++)
        elf_section(m, headers + 40 * i, sections[i]);
    m->size = headers + 40 * 6;
    assert_true(m->size <= sizeof(m->data));
}

#endif
