/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the symbol index: flat, sorted arrays over the strings of the opened ELF. Private to src/symbol.
 * Filled once by symbol_elf.c, symbol_table.c, symbol_dwarf.c and symbol_inline.c, then only read.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_INDEX_H
#define CORRAL_SYMBOL_SYMBOL_INDEX_H

#include "symbol/symbol.h"

#include <elfutils/libdw.h>
#include <gelf.h>

/* A hostile file may claim anything; a real one stays far below these. */
#define SYMBOL_MAX_FILE     (1u << 30) /* bytes */
#define SYMBOL_MAX_SYMBOLS  (4u << 20)
#define SYMBOL_MAX_CODE     512u /* executable sections */
#define SYMBOL_MAX_SEGMENTS 512u
#define SYMBOL_MAX_ROWS     (8u << 20)
#define SYMBOL_MAX_DIES     (32u << 20)
#define SYMBOL_MAX_RANGES   65536u      /* of one compilation unit */
#define SYMBOL_MAX_DEPTH    256u        /* of nested DIEs */
#define SYMBOL_MAX_CLEANED  (32u << 20) /* bytes of names that had to be escaped or made whole */
#define SYMBOL_MAX_BUILD_ID 64u         /* bytes */

struct symbol_body {
    struct symbol_function function;
    uint32_t order; /* in the symbol table */
    uint8_t rank;   /* 0 global, 1 weak, 2 local: which of several of one name or one place is meant */
};

struct symbol_name {
    const char *name;
    uint64_t address;
    uint64_t size;
    uint8_t rank; /* as above */
};

struct symbol_row {
    uint64_t address;
    const char *file; /* NULL: the code ends here */
    uint32_t line;
};

/* One place a function was inlined at. */
struct symbol_inline {
    const char *name;
    const char *call_file; /* or NULL */
    uint32_t call_line;
    uint32_t parent; /* what it is inlined into: index + 1 of another, 0 = the function itself */
};

/* From `start` up to the next span the innermost inlined function is `inlined` - 1; 0 = none. */
struct symbol_span {
    uint64_t start;
    uint32_t inlined;
};

/* Arm mapping symbols: 'a', 't', 'x' (code) or 'd' (data) from `address` on. */
struct symbol_mark {
    uint64_t address;
    char kind;
};

struct symbol_range { /* half open */
    uint64_t start;
    uint64_t end;
};

struct symbol_segment {
    uint64_t address;
    uint64_t offset; /* in the file */
    uint64_t size;   /* bytes in the file */
};

struct symbol_index {
    char *label;
    uint8_t *data; /* writable copy: libelf and libdw may convert and uncompress in place */
    size_t size;
    Elf *elf;
    Dwarf *dwarf;
    uint64_t entry;
    uint64_t address_mask; /* 32 or 64 bits */
    uint16_t machine;
    bool big;
    bool wide;
    bool mode_bit;      /* bit 0 of a code address is no part of it */
    unsigned alignment; /* of instructions */
    char build_id[2 * SYMBOL_MAX_BUILD_ID + 1];

    struct symbol_body *functions; /* by address; several may begin at one */
    uint64_t *reach;               /* reach[i]: the furthest end of functions[0..i] */
    size_t function_count;
    struct symbol_name *names; /* by name, then rank */
    size_t name_count;
    struct symbol_mark *marks; /* by address */
    size_t mark_count;
    struct symbol_row *rows; /* by address, ends before beginnings */
    size_t row_count;
    size_t rows_seen; /* while loading: rows, kept or not, and ranges; against SYMBOL_MAX_ROWS */
    struct symbol_inline *inlines;
    size_t inline_count;
    struct symbol_span *spans; /* by address */
    size_t span_count;
    struct symbol_section *code; /* executable sections, by address */
    uint64_t *code_reach;        /* as `reach` */
    size_t code_count;
    struct symbol_segment *segments; /* as the file lists them */
    size_t segment_count;

    struct symbol_cleaned *cleaned;
    void *paths; /* tree of those of `cleaned` that are paths */
    size_t cleaned_bytes;
    char note[400];
};

/* A name from the file that is safe to show: itself when it is printable UTF-8, else an escaped copy. */
const char *symbol_clean(struct symbol_index *s, const char *name);
void symbol_text_free(struct symbol_index *s);

/* The files a unit's line table names; all 0 at first, `names` is to be freed at last. */
struct symbol_files {
    Dwarf_Files *files;
    size_t count, room;
    const char **names; /* [number]: as symbol_file_name gives it, NULL = not yet asked for */
    const char *folder; /* the unit was compiled in, or NULL */
};
/* Of this unit from now on. False when memory is out; without a table there are no files. */
bool symbol_files_of(struct symbol_files *f, Dwarf_Die *unit);
/* Whole path of file `number`, safe to show; NULL when there is none. */
const char *symbol_file_name(struct symbol_index *s, struct symbol_files *f, size_t number);

/* Adds a sentence to the note. `why` may be NULL. */
void symbol_add_note(struct symbol_index *s, const char *what, const char *why);

/* How many bytes there are from `address` up to the end of all addresses (one less where 64 bits end). */
uint64_t symbol_room(const struct symbol_index *s, uint64_t address);
/* `address` as code is looked up by; false when no instruction can be there. */
bool symbol_code_address(const struct symbol_index *s, uint64_t *address);

/* The executable section that holds `address`, or NULL. */
const struct symbol_section *symbol_code_at(const struct symbol_index *s, uint64_t address);

/* Headers and sections; then the symbol table. */
enum corral_err symbol_elf_load(struct symbol_index *s, struct diag *d);
enum corral_err symbol_table_load(struct symbol_index *s, Elf_Scn *section, struct diag *d);
/* Line tables. What cannot be read is left out and said in s->note; fails only when memory is out. */
enum corral_err symbol_dwarf_load(struct symbol_index *s, struct diag *d);
/* Inlined functions; likewise. Needs s->dwarf. */
enum corral_err symbol_inline_load(struct symbol_index *s, struct diag *d);
/* Does code that begins at `start` belong to the program, or did the linker throw it away? */
bool symbol_is_live(const struct symbol_index *s, uint64_t start);

#endif
