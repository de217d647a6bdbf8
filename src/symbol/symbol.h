/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF and DWARF (libdw) as one flat index: address to function, inlines, file and line; name to address.
 * ELF32 and ELF64, either byte order: Arm, AArch64, MIPS, x86, x86-64, RISC-V, Ubicom32 (machine 0xde3d, the
 * profiler sheet 9); files of other machines by their symbols only. Hostile input: a wrong or cut ELF is
 * refused with a sentence, never guessed at. Immutable once opened, so it may be read from any thread.
 *
 * Addresses are the file's own. Of an Arm address (and of MIPS code that may be compressed) bit 0 is ignored;
 * where instructions have a fixed place (symbol_alignment), an address between them has no name and no line.
 */
#ifndef CORRAL_SYMBOL_SYMBOL_H
#define CORRAL_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* ELF machines that this room knows more of than their names. */
#define SYMBOL_MACHINE_X86      3u
#define SYMBOL_MACHINE_MIPS     8u
#define SYMBOL_MACHINE_ARM      40u
#define SYMBOL_MACHINE_X86_64   62u
#define SYMBOL_MACHINE_AARCH64  183u
#define SYMBOL_MACHINE_RISCV    243u
#define SYMBOL_MACHINE_UBICOM32 0xDE3Du

struct symbol_index;

struct symbol_function {
    const char *name; /* borrowed from the index */
    uint64_t address; /* Thumb bit cleared */
    uint64_t size;
};

/* From a file, or from bytes (copied). NULL with *d set. `label` names it in messages. */
struct symbol_index *symbol_open(const char *path, struct diag *d);
struct symbol_index *symbol_open_memory(const uint8_t *data, size_t size, const char *label, struct diag *d);
void symbol_close(struct symbol_index *s); /* NULL is allowed */

/* The function that covers `address`, by the symbol table; false when none does. */
bool symbol_function_at(const struct symbol_index *s, uint64_t address, struct symbol_function *out);
/* Source line of `address`; *file is borrowed. False when there is no line information for it. */
bool symbol_line_at(const struct symbol_index *s, uint64_t address, const char **file, uint32_t *line);

struct symbol_frame {
    const char *name; /* borrowed, never NULL */
    const char *file; /* borrowed, or NULL */
    uint32_t line;    /* 0 = not known */
    bool inlined;     /* into the next frame */
};
/* What runs at `address`, innermost first: the functions inlined there, then the one of the symbol table.
 * frames[0] has the place of `address`, every other that of the call inlined in it. Returns how many there
 * are, of which at most `max` are written: 0 when no function covers it. */
size_t symbol_frames(const struct symbol_index *s, uint64_t address, struct symbol_frame *out, size_t max);

/* Address (Thumb bit cleared) and size of the global or local symbol `name`; false when there is none. */
bool symbol_lookup(const struct symbol_index *s, const char *name, uint64_t *address, uint64_t *size);
size_t symbol_function_count(const struct symbol_index *s);
/* Function number `index` by address: for those that no sample hit. False when there are not as many. */
bool symbol_function_get(const struct symbol_index *s, size_t index, struct symbol_function *out);
uint64_t symbol_entry(const struct symbol_index *s);
/* A sentence on what of the file could not be used (no DWARF, a damaged line table), or NULL. */
const char *symbol_note(const struct symbol_index *s);

const char *symbol_path(const struct symbol_index *s); /* the path or label it was opened with */
uint16_t symbol_machine(const struct symbol_index *s); /* SYMBOL_MACHINE_* or any other */
bool symbol_big_endian(const struct symbol_index *s);
bool symbol_wide(const struct symbol_index *s);            /* 64-bit pointers */
const char *symbol_build_id(const struct symbol_index *s); /* hexadecimal, "" = none */
bool symbol_has_lines(const struct symbol_index *s);
bool symbol_has_inlines(const struct symbol_index *s);
/* Instructions lie at multiples of this: 4, 2 or 1. */
unsigned symbol_alignment(const struct symbol_index *s);

/* The executable sections, by address. Of Ubicom32, only those the profiler sheet 9 counts as such. */
struct symbol_section {
    const char *name;      /* borrowed */
    uint64_t start, limit; /* half open */
    uint64_t file_offset;  /* of `start`; SYMBOL_NO_BYTES: the file has none for it */
};
#define SYMBOL_NO_BYTES UINT64_MAX
size_t symbol_section_count(const struct symbol_index *s);
bool symbol_section_get(const struct symbol_index *s, size_t index, struct symbol_section *out);
/* The address that byte `file_offset` is loaded at; false when it is in no segment. */
bool symbol_address_of_offset(const struct symbol_index *s, uint64_t file_offset, uint64_t *address);
/* `size` bytes at `address` as they lie in memory; false unless one executable section holds them all. */
bool symbol_code(const struct symbol_index *s, uint64_t address, uint8_t *out, size_t size);

/* Can an instruction be at `address`? A pc that was seen on a target and does not fit says that the file is
 * not what runs there. */
enum symbol_misfit {
    SYMBOL_FITS = 0,         /* as far as can be told */
    SYMBOL_MISFIT_OUTSIDE,   /* no executable section holds it: another image may */
    SYMBOL_MISFIT_UNALIGNED, /* between two instructions */
    SYMBOL_MISFIT_DATA,      /* marked as data inside of code (Arm and AArch64 mapping symbols) */
    SYMBOL_MISFIT_ILLEGAL,   /* no instruction of the machine: "ELF does not match the board" */
};
enum symbol_misfit symbol_misfit(const struct symbol_index *s, uint64_t address);
bool symbol_fits(const struct symbol_index *s, uint64_t address); /* symbol_misfit == SYMBOL_FITS */

#endif
