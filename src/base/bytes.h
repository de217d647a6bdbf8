/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded reading and writing of little- and big-endian fields, byte by byte: no alignment is assumed, no
 * length is believed. A reader or writer that is asked for more than it has sets `failed`, returns 0 and
 * stays failed, so a decoder may read a whole header and check once.
 */
#ifndef CORRAL_BASE_BYTES_H
#define CORRAL_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void store_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
    store_le16(p, (uint16_t)v);
    store_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void store_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
    store_be16(p, (uint16_t)(v >> 16));
    store_be16(p + 2, (uint16_t)v);
}

/* A little-endian field of `size` bytes, 1 to 4; what of the value does not fit it is left out. */
static inline uint32_t load_le(const uint8_t *p, unsigned size)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < size; i++)
        v |= (uint32_t)p[i] << 8 * i;
    return v;
}

static inline void store_le(uint8_t *p, unsigned size, uint32_t v)
{
    for (unsigned i = 0; i < size; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* A borrowed range of bytes and a position in it. */
struct byte_reader {
    const uint8_t *data;
    size_t size;
    size_t pos;
    bool failed;
};

static inline struct byte_reader byte_reader_over(const void *data, size_t size)
{
    return (struct byte_reader){.data = data, .size = size};
}

/* `n` bytes at the position, which moves past them; NULL (and failed) when fewer are left. */
static inline const uint8_t *byte_reader_take(struct byte_reader *r, size_t n)
{
    if (r->failed || n > r->size - r->pos) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *p = r->data + r->pos;
    r->pos += n;
    return p;
}

static inline size_t byte_reader_left(const struct byte_reader *r)
{
    return r->failed ? 0 : r->size - r->pos;
}

#define BYTE_READER_FIELD(name, type, width, load)               \
    static inline type byte_reader_##name(struct byte_reader *r) \
    {                                                            \
        const uint8_t *p = byte_reader_take(r, width);           \
        return p ? (type)(load) : 0;                             \
    }

BYTE_READER_FIELD(u8, uint8_t, 1, p[0])
BYTE_READER_FIELD(le16, uint16_t, 2, load_le16(p))
BYTE_READER_FIELD(le32, uint32_t, 4, load_le32(p))
BYTE_READER_FIELD(be16, uint16_t, 2, load_be16(p))
BYTE_READER_FIELD(be32, uint32_t, 4, load_be32(p))
#undef BYTE_READER_FIELD

/* A caller's buffer that is filled from the front. */
struct byte_writer {
    uint8_t *data;
    size_t size;
    size_t pos;
    bool failed;
};

static inline struct byte_writer byte_writer_over(void *data, size_t size)
{
    return (struct byte_writer){.data = data, .size = size};
}

/* Room for `n` bytes, which the caller fills; NULL (and failed) when there is less. */
static inline uint8_t *byte_writer_take(struct byte_writer *w, size_t n)
{
    if (w->failed || n > w->size - w->pos) {
        w->failed = true;
        return NULL;
    }
    uint8_t *p = w->data + w->pos;
    w->pos += n;
    return p;
}

static inline void byte_writer_bytes(struct byte_writer *w, const void *src, size_t n)
{
    uint8_t *p = byte_writer_take(w, n);
    if (p && n)
        memcpy(p, src, n);
}

#define BYTE_WRITER_FIELD(name, type, width, store)                      \
    static inline void byte_writer_##name(struct byte_writer *w, type v) \
    {                                                                    \
        uint8_t *p = byte_writer_take(w, width);                         \
        if (p)                                                           \
            store;                                                       \
    }

BYTE_WRITER_FIELD(u8, uint8_t, 1, p[0] = v)
BYTE_WRITER_FIELD(le16, uint16_t, 2, store_le16(p, v))
BYTE_WRITER_FIELD(le32, uint32_t, 4, store_le32(p, v))
BYTE_WRITER_FIELD(be16, uint16_t, 2, store_be16(p, v))
BYTE_WRITER_FIELD(be32, uint32_t, 4, store_be32(p, v))
#undef BYTE_WRITER_FIELD

#endif
