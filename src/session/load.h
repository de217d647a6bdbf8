/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF executable into a target's RAM. Flash is not programmed: that is refused before anything is done. */
#ifndef CORRAL_SESSION_LOAD_H
#define CORRAL_SESSION_LOAD_H

#include "session/target_memory.h"

#define LOAD_SEGMENTS_MOST 64
#define LOAD_RANGES_MOST   8
#define LOAD_BYTES_MOST    (64u << 20)

struct load_segment {
    uint64_t address; /* physical: where the bytes go */
    uint64_t offset;  /* in the file */
    uint64_t size;    /* bytes that the file holds */
};

struct load_image {
    size_t count;
    struct load_segment segments[LOAD_SEGMENTS_MOST];
    uint32_t entry;
    uint64_t bytes; /* of all segments */
    /* One begins with a vector table whose reset entry is `entry`. */
    bool has_vectors;
    uint32_t vectors, stack; /* its address, and the first stack pointer in it */
    bool entry_loaded;       /* `entry` lies in what is loaded */
};

/* What is RAM though the architecture's map puts code there (a Cortex-M7's ITCM, SRAM below 0x20000000). */
struct load_range {
    uint64_t address, size;
};

/*
 * The program headers of an ELF32 little-endian Arm executable (ELF part 1). Hostile input: every number is
 * checked in 64 bits. Only PT_LOAD with bytes in the file counts; what is to be zero is the program's matter.
 * CORRAL_ERR_ELF; CORRAL_ERR_UNSUPPORTED, and a sentence with the address, for what is not RAM: outside of
 * 0x20000000..0x3FFFFFFF and 0x60000000..0x9FFFFFFF, which the Armv6-M to v8-M memory map has for it, and of
 * `ram`.
 */
enum corral_err load_parse(const uint8_t *file, size_t size, const struct load_range *ram, size_t ranges,
                           struct load_image *image, struct diag *d);

/* Write it through `view`, and read all of it back: CORRAL_ERR_FAILED names the first byte that differs. */
enum corral_err session_load(struct session *s, const struct session_view *view, const uint8_t *file,
                             const struct load_image *image, const atomic_bool *stop, struct diag *d);

/* A halted core as it is behind a reset, but at the image's entry: xPSR, CONTROL and the masks cleared; with
 * a vector table in the image also the main stack pointer and VTOR from it. */
enum corral_err session_load_registers(struct session *s, size_t core, const struct load_image *image,
                                       struct diag *d);

#endif
