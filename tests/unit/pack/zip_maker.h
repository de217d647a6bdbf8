/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZIP files as a test wants them, right or wrong: written by hand, because no library writes a wrong one.
 * Deflated contents come from libarchive.
 */
#ifndef CORRAL_TESTS_UNIT_PACK_ZIP_MAKER_H
#define CORRAL_TESTS_UNIT_PACK_ZIP_MAKER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

struct zip_maker {
    uint8_t *bytes, *directory;
    size_t size, room, directory_size, directory_room;
    unsigned count;
};

struct zip_entry {
    const char *name;
    const void *bytes;
    size_t size;
    uint32_t said_size;  /* 0 = the true one */
    uint32_t said_crc;   /* 0 = the true one */
    uint16_t flags;      /* 1 = encrypted */
    uint16_t method;     /* 0 = stored */
    uint32_t attributes; /* of the host: the Unix mode in its upper half */
};

static inline void zip_put(uint8_t **bytes, size_t *size, size_t *room, const void *from, size_t length)
{
    if (*room - *size < length) {
        *room = 2 * *room + length + 1024;
        *bytes = realloc(*bytes, *room);
        if (!*bytes)
            abort();
    }
    if (length)
        memcpy(*bytes + *size, from, length);
    *size += length;
}

static inline uint32_t zip_crc(const uint8_t *p, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

static inline void zip_le(uint8_t *out, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        out[i] = (uint8_t)value;
}

static inline void zip_add(struct zip_maker *z, const struct zip_entry *e)
{
    uint8_t local[30] = "PK\3\4", central[46] = "PK\1\2";
    uint32_t at = (uint32_t)z->size, crc = e->said_crc ? e->said_crc : zip_crc(e->bytes, e->size);
    uint32_t said = e->said_size ? e->said_size : (uint32_t)e->size;
    zip_le(local + 4, 2, 20);
    zip_le(local + 6, 2, e->flags);
    zip_le(local + 8, 2, e->method);
    zip_le(local + 14, 4, crc);
    zip_le(local + 18, 4, e->size);
    zip_le(local + 22, 4, said);
    zip_le(local + 26, 2, strlen(e->name));
    zip_put(&z->bytes, &z->size, &z->room, local, sizeof(local));
    zip_put(&z->bytes, &z->size, &z->room, e->name, strlen(e->name));
    zip_put(&z->bytes, &z->size, &z->room, e->bytes, e->size);
    zip_le(central + 4, 2, 3 << 8 | 20); /* made on Unix */
    memcpy(central + 6, local + 4, 26);
    zip_le(central + 38, 4, e->attributes ? e->attributes : (uint32_t)0100644 << 16);
    zip_le(central + 42, 4, at);
    zip_put(&z->directory, &z->directory_size, &z->directory_room, central, sizeof(central));
    zip_put(&z->directory, &z->directory_size, &z->directory_room, e->name, strlen(e->name));
    z->count++;
}

static inline void zip_add_text(struct zip_maker *z, const char *name, const char *text)
{
    zip_add(z, &(struct zip_entry){.name = name, .bytes = text, .size = strlen(text)});
}

/* The directory and its end behind the entries. */
static inline void zip_finish(struct zip_maker *z)
{
    uint8_t end[22] = "PK\5\6";
    zip_le(end + 8, 2, z->count > 65535 ? 65535 : z->count);
    zip_le(end + 10, 2, z->count > 65535 ? 65535 : z->count);
    zip_le(end + 12, 4, z->directory_size);
    zip_le(end + 16, 4, z->size);
    zip_put(&z->bytes, &z->size, &z->room, z->directory, z->directory_size);
    zip_put(&z->bytes, &z->size, &z->room, end, sizeof(end));
}

static inline void zip_free(struct zip_maker *z)
{
    free(z->bytes);
    free(z->directory);
    *z = (struct zip_maker){0};
}

/* One deflated entry of `size` times the byte `fill`, behind `head` and before `tail`, as a whole archive. */
static inline uint8_t *zip_deflated(const char *name, const char *head, size_t size, int fill,
                                    const char *tail, size_t *out_size)
{
    size_t room = size / 100 + 65536, used = 0;
    uint8_t *out = malloc(room), *block = malloc(65536);
    struct archive *a = archive_write_new();
    struct archive_entry *e = archive_entry_new();
    if (!out || !block || !a || !e)
        abort();
    archive_write_set_format_zip(a);
    archive_write_open_memory(a, out, room, &used);
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (la_int64_t)(strlen(head) + size + strlen(tail)));
    archive_write_header(a, e);
    archive_write_data(a, head, strlen(head));
    memset(block, fill, 65536);
    for (size_t n; size > 0; size -= n) {
        n = size < 65536 ? size : 65536;
        archive_write_data(a, block, n);
    }
    archive_write_data(a, tail, strlen(tail));
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    free(block);
    *out_size = used;
    return out;
}

#endif
