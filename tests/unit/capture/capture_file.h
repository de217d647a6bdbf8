/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-made capture files for the tests of src/capture: fields in either byte order, pcapng blocks, and a
 * temporary file in the current folder to put them in. */
#ifndef CORRAL_TESTS_UNIT_CAPTURE_CAPTURE_FILE_H
#define CORRAL_TESTS_UNIT_CAPTURE_CAPTURE_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"

struct capture_file {
    uint8_t data[16384];
    size_t size;
    bool big;
    size_t block; /* start of the open block */
};

static inline uint8_t *file_room(struct capture_file *f, size_t n)
{
    assert_true(n <= sizeof(f->data) - f->size);
    uint8_t *p = f->data + f->size;
    memset(p, 0, n);
    f->size += n;
    return p;
}

static inline void file_u16(struct capture_file *f, unsigned v)
{
    uint8_t *p = file_room(f, 2);
    if (f->big)
        store_be16(p, (uint16_t)v);
    else
        store_le16(p, (uint16_t)v);
}

static inline void file_u32(struct capture_file *f, uint32_t v)
{
    uint8_t *p = file_room(f, 4);
    if (f->big)
        store_be32(p, v);
    else
        store_le32(p, v);
}

static inline void file_bytes(struct capture_file *f, const void *data, size_t n)
{
    uint8_t *p = file_room(f, n);
    if (n)
        memcpy(p, data, n);
}

static inline void file_pad(struct capture_file *f)
{
    file_room(f, (4 - f->size % 4) % 4);
}

static inline void file_block_begin(struct capture_file *f, uint32_t type)
{
    f->block = f->size;
    file_u32(f, type);
    file_u32(f, 0);
}

static inline void file_block_end(struct capture_file *f)
{
    file_pad(f);
    uint32_t total = (uint32_t)(f->size + 4 - f->block);
    file_u32(f, total);
    if (f->big)
        store_be32(f->data + f->block + 4, total);
    else
        store_le32(f->data + f->block + 4, total);
}

static inline void file_section(struct capture_file *f)
{
    file_block_begin(f, 0x0A0D0D0Au);
    file_u32(f, 0x1A2B3C4Du);
    file_u16(f, 1);
    file_u16(f, 0);
    file_u32(f, UINT32_MAX);
    file_u32(f, UINT32_MAX);
    file_block_end(f);
}

static inline void file_option(struct capture_file *f, unsigned code, const void *data, size_t n)
{
    file_u16(f, code);
    file_u16(f, (unsigned)n);
    file_bytes(f, data, n);
    file_pad(f);
}

static inline void file_interface(struct capture_file *f, unsigned linktype, uint32_t snap,
                                  uint8_t resolution)
{
    file_block_begin(f, 1);
    file_u16(f, linktype);
    file_u16(f, 0);
    file_u32(f, snap);
    file_option(f, 2, "name", 4);
    file_option(f, 9, &resolution, 1);
    file_option(f, 0, NULL, 0);
    file_block_end(f);
}

static inline void file_packet(struct capture_file *f, uint32_t id, uint64_t stamp, const void *data,
                               size_t n, size_t original)
{
    file_block_begin(f, 6);
    file_u32(f, id);
    file_u32(f, (uint32_t)(stamp >> 32));
    file_u32(f, (uint32_t)stamp);
    file_u32(f, (uint32_t)n);
    file_u32(f, (uint32_t)original);
    file_bytes(f, data, n);
    file_block_end(f);
}

/* Writes the first `n` bytes to a new file in the current folder and returns its name, to be unlinked. */
static inline void file_store(const void *data, size_t n, char name[32])
{
    snprintf(name, 32, "capture-test-XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), (ssize_t)n);
    assert_int_equal(close(fd), 0);
}

#endif
