/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the pcapng file (draft-ietf-opsawg-pcapng sections 3 and 4): several sections, each in its own byte
 * order; interface description, enhanced, simple and obsolete packet blocks; all other blocks are skipped.
 *
 * A block is handed out only when its closing length agrees with its opening one: a file cut or overwritten
 * in the middle of a block ends there and never yields a packet made of two. Must not look into packets.
 */
#include "capture/capture_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define BLOCK_INTERFACE       1u
#define BLOCK_PACKET_OBSOLETE 2u
#define BLOCK_PACKET_SIMPLE   3u
#define BLOCK_PACKET_ENHANCED 6u

#define OPTION_END        0u
#define OPTION_NAME       2u
#define OPTION_RESOLUTION 9u
#define OPTION_OFFSET     14u

#define BLOCK_OVERHEAD     12u /* type, length, length again */
#define RESOLUTION_DEFAULT 6u  /* microseconds, where if_tsresol is absent */

static int64_t clamp_ns(__int128 ns)
{
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* Time stamp units of an interface to nanoseconds since the epoch; clamped, never overflowing. */
static int64_t to_ns(const struct capture_interface *interface, uint64_t stamp)
{
    unsigned exponent = interface->resolution & 0x7Fu;
    unsigned __int128 ns = stamp;
    if (interface->resolution & 0x80u) {
        ns = exponent > 94 ? 0 : (ns * 1000000000u) >> exponent;
    } else if (exponent <= 9) {
        for (unsigned i = exponent; i < 9; i++)
            ns *= 10u;
    } else {
        for (unsigned i = 9; i < exponent && ns > 0; i++)
            ns /= 10u;
    }
    return clamp_ns((__int128)ns + (__int128)interface->offset_s * 1000000000);
}

/* The options of an interface description; false when one runs over the block's end. */
static bool read_options(const struct capture_input *in, const uint8_t *p, size_t size,
                         struct capture_interface *to)
{
    while (size >= 4) {
        uint16_t code = capture_input_u16(in, p);
        size_t length = capture_input_u16(in, p + 2);
        size_t padded = (length + 3u) & ~(size_t)3u;
        if (code == OPTION_END)
            return true;
        if (padded > size - 4)
            return false;
        if (code == OPTION_NAME) {
            size_t kept = length < sizeof(to->name) ? length : sizeof(to->name) - 1;
            memcpy(to->name, p + 4, kept);
            to->name[kept] = '\0';
        } else if (code == OPTION_RESOLUTION && length == 1) {
            to->resolution = p[4];
        } else if (code == OPTION_OFFSET && length == 8) {
            uint64_t first = capture_input_u32(in, p + 4);
            uint64_t second = capture_input_u32(in, p + 8);
            to->offset_s = (int64_t)(in->big_endian ? first << 32 | second : second << 32 | first);
        }
        p += 4 + padded;
        size -= 4 + padded;
    }
    return true;
}

static int add_interface(struct capture_blocks *b, const struct capture_input *in, uint64_t at, size_t body,
                         struct diag *d)
{
    if (body < 8)
        return capture_input_damaged(in, at, d, "an interface description of %zu bytes", body);
    if (b->count >= CAPTURE_BLOCKS_MAX_INTERFACES)
        return capture_input_damaged(in, at, d, "more than %u interfaces in one section",
                                     CAPTURE_BLOCKS_MAX_INTERFACES);
    struct capture_interface one = {
        .linktype = capture_input_u16(in, in->buffer),
        .snap_length = capture_input_u32(in, in->buffer + 4),
        .resolution = RESOLUTION_DEFAULT,
    };
    if (!read_options(in, in->buffer + 8, body - 8, &one))
        return capture_input_damaged(in, at, d, "an option runs over the end of its interface description");
    if (b->count == b->room) {
        uint32_t room = b->room ? b->room * 2 : 8;
        struct capture_interface *more = realloc(b->interfaces, room * sizeof(*more));
        if (!more) {
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for capture interfaces");
            return -1;
        }
        b->interfaces = more;
        b->room = room;
    }
    b->interfaces[b->count++] = one;
    return 0;
}

/* The block behind its type: byte order, length, body. Its own order counts from its magic on. */
static int read_section(struct capture_blocks *b, struct capture_input *in, uint64_t at, struct diag *d)
{
    uint8_t head[12]; /* length, byte-order magic, version */
    if (capture_input_read(in, head, sizeof(head)) != sizeof(head))
        return capture_input_damaged(in, at, d, "the file ends inside a section header");
    if (load_be32(head + 4) == CAPTURE_BLOCK_ORDER)
        in->big_endian = true;
    else if (load_le32(head + 4) == CAPTURE_BLOCK_ORDER)
        in->big_endian = false;
    else
        return capture_input_damaged(in, at, d, "a section header without the byte-order magic");

    uint32_t total = capture_input_u32(in, head);
    uint16_t major = capture_input_u16(in, head + 8);
    if (total < 28 || total % 4 != 0)
        return capture_input_damaged(in, at, d, "a section header that claims %u bytes", total);
    if (major != 1)
        return capture_input_damaged(in, at, d, "pcapng version %u is not known", major);
    uint8_t tail[4];
    if (!capture_input_skip(in, total - 20u) || capture_input_read(in, tail, 4) != 4)
        return capture_input_damaged(in, at, d, "the file ends inside a section header");
    if (capture_input_u32(in, tail) != total)
        return capture_input_damaged(in, at, d, "a section header's two lengths differ");
    b->base += b->count;
    b->count = 0;
    return 0;
}

static int packet_of(const struct capture_blocks *b, const struct capture_input *in, uint64_t at, uint32_t id,
                     size_t fixed, size_t body, uint64_t size, struct capture_packet *packet, struct diag *d)
{
    if (id >= b->count)
        return capture_input_damaged(in, at, d, "a packet of interface %u, which is not described", id);
    if (size > CAPTURE_MAX_PACKET || size > body - fixed)
        return capture_input_damaged(in, at, d, "a packet of %llu bytes in a block of %zu",
                                     (unsigned long long)size, body + BLOCK_OVERHEAD);
    packet->linktype = b->interfaces[id].linktype;
    packet->interface_id = b->base + id;
    packet->interface = b->interfaces[id].name;
    packet->data = in->buffer + fixed;
    packet->size = (size_t)size;
    return 1;
}

static int read_packet(const struct capture_blocks *b, const struct capture_input *in, uint64_t at,
                       uint32_t type, size_t body, struct capture_packet *packet, struct diag *d)
{
    const uint8_t *p = in->buffer;
    size_t fixed = type == BLOCK_PACKET_SIMPLE ? 4 : 20;
    if (body < fixed)
        return capture_input_damaged(in, at, d, "a packet block of %zu bytes", body + BLOCK_OVERHEAD);
    *packet = (struct capture_packet){.ns = 0};
    if (type == BLOCK_PACKET_SIMPLE) {
        /* It has no time, and its captured length is what the wire, the snap length and the block allow. */
        uint64_t size = capture_input_u32(in, p);
        packet->original = (size_t)size;
        if (b->count > 0 && b->interfaces[0].snap_length > 0 && size > b->interfaces[0].snap_length)
            size = b->interfaces[0].snap_length;
        return packet_of(b, in, at, 0, fixed, body, size, packet, d);
    }
    uint32_t id = type == BLOCK_PACKET_OBSOLETE ? capture_input_u16(in, p) : capture_input_u32(in, p);
    packet->original = capture_input_u32(in, p + 16);
    int result = packet_of(b, in, at, id, fixed, body, capture_input_u32(in, p + 12), packet, d);
    if (result == 1) {
        uint64_t stamp = (uint64_t)capture_input_u32(in, p + 4) << 32 | capture_input_u32(in, p + 8);
        packet->ns = to_ns(&b->interfaces[id], stamp);
    }
    return result;
}

static bool is_packet(uint32_t type)
{
    return type == BLOCK_PACKET_ENHANCED || type == BLOCK_PACKET_SIMPLE || type == BLOCK_PACKET_OBSOLETE;
}

bool capture_blocks_open(struct capture_blocks *b, struct capture_input *in, struct diag *d)
{
    return read_section(b, in, 0, d) == 0;
}

void capture_blocks_close(struct capture_blocks *b)
{
    free(b->interfaces);
    b->interfaces = NULL;
    b->count = b->room = 0;
}

/* 1 = a packet, 0 = a block that is no packet, -1 = damaged. `type` has been read at offset `at`. */
static int read_block(struct capture_blocks *b, struct capture_input *in, uint64_t at, uint32_t type,
                      struct capture_packet *packet, struct diag *d)
{
    uint8_t word[4];
    if (type == CAPTURE_BLOCK_SECTION)
        return read_section(b, in, at, d);
    if (capture_input_read(in, word, 4) != 4)
        return capture_input_damaged(in, at, d, "the file ends inside a block header");
    uint32_t total = capture_input_u32(in, word);
    if (total < BLOCK_OVERHEAD || total % 4 != 0)
        return capture_input_damaged(in, at, d, "a block that claims %u bytes", total);
    size_t body = total - BLOCK_OVERHEAD;
    bool wanted = is_packet(type) || type == BLOCK_INTERFACE;
    if (wanted && body > CAPTURE_INPUT_BUFFER)
        return capture_input_damaged(in, at, d, "a packet block that claims %u bytes", total);
    bool whole = wanted ? capture_input_read(in, in->buffer, body) == body : capture_input_skip(in, body);
    if (!whole || capture_input_read(in, word, 4) != 4)
        return capture_input_damaged(in, at, d, "the file ends inside a block of %u bytes", total);
    if (capture_input_u32(in, word) != total)
        return capture_input_damaged(in, at, d, "a block's two lengths differ: %u and %u", total,
                                     capture_input_u32(in, word));
    if (type == BLOCK_INTERFACE)
        return add_interface(b, in, at, body, d);
    return is_packet(type) ? read_packet(b, in, at, type, body, packet, d) : 0;
}

int capture_blocks_next(struct capture_blocks *b, struct capture_input *in, struct capture_packet *packet,
                        struct diag *d)
{
    int result = 0;
    /* Bounded by the file: every turn takes at least a block header from it. */
    while (result == 0) {
        uint64_t at = in->offset;
        uint8_t type[4];
        size_t got = capture_input_read(in, type, 4);
        if (got == 0 && !ferror(in->file))
            return 0;
        if (got != 4)
            return capture_input_damaged(in, at, d, "the file ends inside a block header");
        result = read_block(b, in, at, capture_input_u32(in, type), packet, d);
    }
    return result;
}
