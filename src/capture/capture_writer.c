/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the capture file: pcapng (draft-ietf-opsawg-pcapng sections 4.1 to 4.3 and 4.6), little-endian, one
 * section, nanoseconds. Each block is one write, so after a crash the file is good up to its last whole
 * block; when a write fails in the middle, the part is taken off again. The first failure stays: every later
 * call reports it, since a capture with a hole nobody knows of is worse than one that ends.
 */
#include "capture/capture_writer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "capture/capture_reader.h"

#define BLOCK_SECTION    0x0A0D0D0Au
#define BLOCK_INTERFACE  1u
#define BLOCK_STATISTICS 5u
#define BLOCK_PACKET     6u
#define BYTE_ORDER_MAGIC 0x1A2B3C4Du

#define OPTION_END         0u
#define OPTION_COMMENT     1u
#define OPTION_HARDWARE    2u /* section */
#define OPTION_OS          3u
#define OPTION_APPLICATION 4u
#define OPTION_NAME        2u /* interface */
#define OPTION_RESOLUTION  9u
#define OPTION_RECEIVED    4u /* statistics */
#define OPTION_DROPPED     5u

#define MAX_TEXT    1024u /* bytes of a name or a comment; longer ones are cut */
#define ALL_HEADERS 28u   /* IPv4 and UDP */

struct capture_writer {
    pthread_mutex_t lock;
    char *path;
    int fd;
    int64_t wall_ns;
    uint64_t last_stamp; /* stands in for a time that is not known */
    uint64_t end;        /* of the last whole block */
    uint32_t interfaces;
    struct diag failure; /* code CORRAL_OK while all is well */
    uint8_t block[CAPTURE_MAX_PACKET + 8192u];
};

static void put_option(struct byte_writer *w, unsigned code, const void *data, size_t size)
{
    byte_writer_le16(w, (uint16_t)code);
    byte_writer_le16(w, (uint16_t)size);
    byte_writer_bytes(w, data, size);
    byte_writer_bytes(w, "\0\0\0", (4 - size % 4) % 4);
}

/* Text as pcapng wants it: valid UTF-8, no NUL. */
static void put_text(struct byte_writer *w, unsigned code, const char *text)
{
    char clean[MAX_TEXT];
    size_t size = text_escape((const uint8_t *)text, strlen(text), clean, sizeof(clean));
    put_option(w, code, clean, size);
}

static struct byte_writer begin_block(struct capture_writer *w, uint32_t type)
{
    struct byte_writer b = byte_writer_over(w->block, sizeof(w->block));
    byte_writer_le32(&b, type);
    byte_writer_le32(&b, 0); /* the length, once it is known */
    return b;
}

/* The first failure is kept, and what of the block reached the file is taken off again. */
static enum corral_err fail(struct capture_writer *w, const char *what)
{
    int error = errno;
    /* Nothing can be done where even this fails; a reader stops at the last whole block by itself. */
    if (ftruncate(w->fd, (off_t)w->end) == 0 && lseek(w->fd, (off_t)w->end, SEEK_SET) < 0)
        error = errno;
    diag_set(&w->failure, CORRAL_ERR_IO, "%.150s: %s: %s", w->path, what, strerror(error));
    diag_hint(&w->failure, "what was written before is whole and can be read");
    diag_object(&w->failure, "%.150s", w->path);
    return w->failure.code;
}

static enum corral_err end_block(struct capture_writer *w, struct byte_writer *b)
{
    byte_writer_le32(b, (uint32_t)b->pos + 4);
    if (b->failed)
        return diag_set(&w->failure, CORRAL_ERR_FAILED, "%.150s: a capture block too large to write",
                        w->path);
    store_le32(w->block + 4, (uint32_t)b->pos);
    for (size_t done = 0; done < b->pos;) {
        ssize_t n = write(w->fd, w->block + done, b->pos - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(w, "cannot be written");
        done += (size_t)n;
    }
    w->end += b->pos;
    return CORRAL_OK;
}

static enum corral_err report(const struct capture_writer *w, struct diag *d)
{
    if (w->failure.code != CORRAL_OK && d)
        *d = w->failure;
    return w->failure.code;
}

static uint64_t stamp_of(struct capture_writer *w, int64_t host_ns)
{
    int64_t ns;
    if (host_ns == EVENT_NO_TIME)
        return w->last_stamp;
    if (__builtin_add_overflow(w->wall_ns, host_ns, &ns))
        ns = host_ns > 0 ? INT64_MAX : 0;
    w->last_stamp = ns > 0 ? (uint64_t)ns : 0;
    return w->last_stamp;
}

static void put_stamp(struct byte_writer *b, uint64_t stamp)
{
    byte_writer_le32(b, (uint32_t)(stamp >> 32));
    byte_writer_le32(b, (uint32_t)stamp);
}

static enum corral_err write_section(struct capture_writer *w)
{
    struct byte_writer b = begin_block(w, BLOCK_SECTION);
    byte_writer_le32(&b, BYTE_ORDER_MAGIC);
    byte_writer_le16(&b, 1);
    byte_writer_le16(&b, 0);
    byte_writer_le32(&b, UINT32_MAX); /* how long the section gets is not known */
    byte_writer_le32(&b, UINT32_MAX);
    struct utsname system;
    if (uname(&system) == 0) {
        char os[2 * sizeof(system.sysname) + 2];
        put_text(&b, OPTION_HARDWARE, system.machine);
        snprintf(os, sizeof(os), "%s %s", system.sysname, system.release);
        put_text(&b, OPTION_OS, os);
    }
    put_text(&b, OPTION_APPLICATION, "corral " CORRAL_VERSION);
    put_option(&b, OPTION_END, NULL, 0);
    return end_block(w, &b);
}

/*
 * An empty file that is ours alone: two writers in one capture would leave blocks in each other's middle, so
 * the second is turned away before it has changed anything. False with *d set. Devices and pipes just open.
 */
static bool open_file(struct capture_writer *w, struct diag *d)
{
    struct stat st;
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    bool ok = w->fd >= 0 && fstat(w->fd, &st) == 0;
    if (ok && S_ISREG(st.st_mode)) {
        /* a file system without locks is no reason to refuse */
        if (flock(w->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            diag_set(d, CORRAL_ERR_IO, "%.200s: another program is writing it", w->path);
            diag_object(d, "%.150s", w->path);
            return false;
        }
        ok = ftruncate(w->fd, 0) == 0;
    }
    if (!ok) {
        diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be created: %s", w->path, strerror(errno));
        diag_object(d, "%.150s", w->path);
    }
    return ok;
}

struct capture_writer *capture_writer_open(const char *path, int64_t wall_ns, struct diag *d)
{
    struct capture_writer *w = calloc(1, sizeof(*w));
    char *name = strdup(path);
    if (!w || !name || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w);
        free(name);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for the capture file");
        return NULL;
    }
    w->path = name;
    w->wall_ns = wall_ns;
    w->last_stamp = wall_ns > 0 ? (uint64_t)wall_ns : 0;
    if (open_file(w, d) && write_section(w) == CORRAL_OK)
        return w;
    report(w, d);
    capture_writer_close(w, NULL);
    return NULL;
}

enum corral_err capture_writer_interface(struct capture_writer *w, int linktype, const char *name,
                                         uint32_t *id, struct diag *d)
{
    if (linktype < 0 || linktype > UINT16_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "%d is no link type", linktype);
    pthread_mutex_lock(&w->lock);
    enum corral_err err = report(w, d);
    if (err == CORRAL_OK && w->interfaces == CAPTURE_MAX_INTERFACES) {
        err =
            diag_set(d, CORRAL_ERR_LIMIT, "a capture file holds at most %d sources", CAPTURE_MAX_INTERFACES);
    } else if (err == CORRAL_OK) {
        struct byte_writer b = begin_block(w, BLOCK_INTERFACE);
        byte_writer_le16(&b, (uint16_t)linktype);
        byte_writer_le16(&b, 0);
        byte_writer_le32(&b, 0); /* nothing is cut */
        put_text(&b, OPTION_NAME, name);
        put_option(&b, OPTION_RESOLUTION, &(uint8_t){9}, 1);
        put_option(&b, OPTION_END, NULL, 0);
        end_block(w, &b);
        err = report(w, d);
        if (err == CORRAL_OK)
            *id = w->interfaces++;
    }
    pthread_mutex_unlock(&w->lock);
    return err;
}

/* What every call on an interface checks first; the lock is held. */
static enum corral_err check(const struct capture_writer *w, uint32_t id, size_t size, size_t most,
                             struct diag *d)
{
    enum corral_err err = report(w, d);
    if (err == CORRAL_OK && id >= w->interfaces)
        return diag_set(d, CORRAL_ERR_USAGE, "the capture file has no source number %u", id);
    if (err == CORRAL_OK && size > most)
        return diag_set(d, CORRAL_ERR_LIMIT, "a packet of %zu bytes does not fit a capture file (%zu do)",
                        size, most);
    return err;
}

/* A packet in two parts, headers of our own and what came; the lock is held. */
static enum corral_err write_packet(struct capture_writer *w, uint32_t id, int64_t host_ns,
                                    const uint8_t *head, size_t head_size, const void *data, size_t size,
                                    const char *comment, struct diag *d)
{
    uint32_t total = (uint32_t)(head_size + size);
    struct byte_writer b = begin_block(w, BLOCK_PACKET);
    byte_writer_le32(&b, id);
    put_stamp(&b, stamp_of(w, host_ns));
    byte_writer_le32(&b, total);
    byte_writer_le32(&b, total);
    byte_writer_bytes(&b, head, head_size);
    byte_writer_bytes(&b, data, size);
    byte_writer_bytes(&b, "\0\0\0", (4 - total % 4) % 4);
    if (comment && comment[0]) {
        put_text(&b, OPTION_COMMENT, comment);
        put_option(&b, OPTION_END, NULL, 0);
    }
    end_block(w, &b);
    return report(w, d);
}

enum corral_err capture_writer_packet(struct capture_writer *w, uint32_t id, int64_t host_ns,
                                      const void *data, size_t size, const char *comment, struct diag *d)
{
    pthread_mutex_lock(&w->lock);
    enum corral_err err = check(w, id, size, CAPTURE_MAX_PACKET, d);
    if (err == CORRAL_OK)
        err = write_packet(w, id, host_ns, NULL, 0, data, size, comment, d);
    pthread_mutex_unlock(&w->lock);
    return err;
}

/* RFC 1071, over big-endian words; `sum` carries on from part to part (each but the last of even length). */
static uint32_t add_words(uint32_t sum, const uint8_t *p, size_t size)
{
    for (; size > 1; p += 2, size -= 2)
        sum += load_be16(p);
    return size ? sum + (uint32_t)(p[0] << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFFu) + (sum >> 16);
    return (uint16_t)~sum;
}

/* IPv4 (RFC 791) and UDP (RFC 768) headers around a payload. Never fragmented, so the identification is 0. */
static void wrap_udp(uint8_t head[ALL_HEADERS], const struct in_addr *source, uint16_t source_port,
                     const struct in_addr *dest, uint16_t dest_port, const void *data, size_t size)
{
    memset(head, 0, ALL_HEADERS);
    head[0] = 0x45;
    store_be16(head + 2, (uint16_t)(ALL_HEADERS + size));
    store_be16(head + 6, 0x4000); /* don't fragment */
    head[8] = 64;
    head[9] = 17;
    memcpy(head + 12, source, 4);
    memcpy(head + 16, dest, 4);
    store_be16(head + 10, fold(add_words(0, head, 20)));
    store_be16(head + 20, source_port);
    store_be16(head + 22, dest_port);
    store_be16(head + 24, (uint16_t)(8 + size));
    uint32_t sum = 17u + 8u + (uint32_t)size; /* the pseudo header's last fields */
    sum = add_words(sum, head + 12, 16);      /* addresses, ports, length and a checksum of 0 */
    uint16_t checksum = fold(add_words(sum, data, size));
    store_be16(head + 26, checksum ? checksum : 0xFFFF); /* 0 would mean "none" */
}

enum corral_err capture_writer_udp(struct capture_writer *w, uint32_t id, int64_t host_ns, const char *source,
                                   uint16_t source_port, const char *dest, uint16_t dest_port,
                                   const void *data, size_t size, struct diag *d)
{
    struct in_addr from;
    struct in_addr to;
    if (inet_pton(AF_INET, source, &from) != 1 || inet_pton(AF_INET, dest, &to) != 1)
        return diag_set(d, CORRAL_ERR_USAGE, "%.60s to %.60s: not two IPv4 addresses", source, dest);
    pthread_mutex_lock(&w->lock);
    enum corral_err err = check(w, id, size, UINT16_MAX - ALL_HEADERS, d);
    if (err == CORRAL_OK) {
        uint8_t head[ALL_HEADERS];
        wrap_udp(head, &from, source_port, &to, dest_port, data, size);
        err = write_packet(w, id, host_ns, head, sizeof(head), data, size, NULL, d);
    }
    pthread_mutex_unlock(&w->lock);
    return err;
}

enum corral_err capture_writer_stats(struct capture_writer *w, uint32_t id, int64_t host_ns,
                                     uint64_t received, uint64_t dropped, struct diag *d)
{
    pthread_mutex_lock(&w->lock);
    enum corral_err err = check(w, id, 0, 0, d);
    if (err == CORRAL_OK) {
        uint8_t value[8];
        struct byte_writer b = begin_block(w, BLOCK_STATISTICS);
        byte_writer_le32(&b, id);
        put_stamp(&b, stamp_of(w, host_ns));
        store_le32(value, (uint32_t)received);
        store_le32(value + 4, (uint32_t)(received >> 32));
        put_option(&b, OPTION_RECEIVED, value, sizeof(value));
        store_le32(value, (uint32_t)dropped);
        store_le32(value + 4, (uint32_t)(dropped >> 32));
        put_option(&b, OPTION_DROPPED, value, sizeof(value));
        put_option(&b, OPTION_END, NULL, 0);
        end_block(w, &b);
        err = report(w, d);
    }
    pthread_mutex_unlock(&w->lock);
    return err;
}

enum corral_err capture_writer_close(struct capture_writer *w, struct diag *d)
{
    if (!w)
        return CORRAL_OK;
    if (w->fd >= 0 && close(w->fd) != 0 && w->failure.code == CORRAL_OK)
        diag_set(&w->failure, CORRAL_ERR_IO, "%.150s: cannot be written: %s", w->path, strerror(errno));
    enum corral_err err = report(w, d);
    pthread_mutex_destroy(&w->lock);
    free(w->path);
    free(w);
    return err;
}
