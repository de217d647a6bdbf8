/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the symbol index: flat, sorted arrays over the strings of the opened ELF. Private to src/symbol.
 * Filled once by symbol_elf.c and symbol_dwarf.c, then only read.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_INDEX_H
#define CORRAL_SYMBOL_SYMBOL_INDEX_H

#include "symbol/symbol.h"

#include <elfutils/libdw.h>
#include <gelf.h>

/* A hostile file may claim anything; a real one for a 32-bit target stays far below these. */
#define SYMBOL_MAX_FILE    (1u << 30) /* bytes */
#define SYMBOL_MAX_SYMBOLS (4u << 20)
#define SYMBOL_MAX_CODE    512u /* executable sections */
#define SYMBOL_MAX_ROWS    (8u << 20)
#define SYMBOL_MAX_RANGES  65536u     /* of one compilation unit */
#define SYMBOL_MAX_CLEANED (4u << 20) /* bytes of names that had to be escaped */

struct symbol_body {
    struct symbol_function function;
    uint8_t rank; /* as below */
};

struct symbol_name {
    const char *name;
    uint32_t address;
    uint32_t size;
    uint8_t rank; /* 0 global, 1 weak, 2 local: which of several of one name is meant */
};

struct symbol_row {
    uint32_t address;
    uint32_t line;
    const char *file; /* NULL: the code ends here */
};

/* An executable section, half open. */
struct symbol_range {
    uint64_t start;
    uint64_t end;
};

struct symbol_index {
    char *label;
    uint8_t *data; /* writable copy: libelf and libdw may convert and uncompress in place */
    size_t size;
    Elf *elf;
    Dwarf *dwarf;
    uint32_t entry;
    uint16_t machine;

    struct symbol_body *functions; /* by address; several may begin at one */
    uint64_t *reach;               /* reach[i]: the furthest end of functions[0..i] */
    size_t function_count;
    struct symbol_name *names; /* by name, then rank */
    size_t name_count;
    struct symbol_row *rows; /* by address, ends before beginnings */
    size_t row_count;
    size_t rows_seen;          /* while loading: rows, kept or not, and ranges; against SYMBOL_MAX_ROWS */
    struct symbol_range *code; /* executable sections as the file lists them */
    size_t code_count;

    struct symbol_cleaned *cleaned;
    size_t cleaned_bytes;
    char note[200];
};

/* A name from the file that is safe to show: itself when it is printable UTF-8, else an escaped copy. */
const char *symbol_clean(struct symbol_index *s, const char *name);

/* The executable section that holds `address`, or NULL. */
const struct symbol_range *symbol_code_at(const struct symbol_index *s, uint64_t address);

/* Headers, sections, symbol table. */
enum corral_err symbol_elf_load(struct symbol_index *s, struct diag *d);
/* Line table. What cannot be read is left out and said in s->note; fails only when memory is out. */
enum corral_err symbol_dwarf_load(struct symbol_index *s, struct diag *d);

#endif
