/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gdb remote protocol, bytes only: packets in, replies out, acknowledges, the interrupt byte, escapes and
 * checksums. GDB manual, appendix "Remote Protocol", section "Overview"; cross-trigger sheet 10.1 and case
 * D24. Pure: no sockets, clocks or allocation.
 *
 * Must not know what a packet says.
 */
#ifndef CORRAL_GDB_FRAME_H
#define CORRAL_GDB_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most a packet's payload may have, unescaped; told to gdb as PacketSize. A memory write of 64 KiB in
 * hexadecimal fits. */
#define GDB_PACKET_MAX (128 * 1024 + 64)

enum gdb_item {
    GDB_ITEM_NONE,      /* all bytes given have been used up */
    GDB_ITEM_PACKET,    /* a whole packet with the right checksum: f->payload, f->size */
    GDB_ITEM_ACK,       /* '+' */
    GDB_ITEM_NAK,       /* '-': the last reply is wanted again */
    GDB_ITEM_INTERRUPT, /* 0x03 between packets */
    GDB_ITEM_DAMAGED,   /* a packet with a wrong checksum, or one that another began in */
    GDB_ITEM_TOO_LONG,  /* a packet above GDB_PACKET_MAX; its bytes are gone */
};

/* One direction of one connection. Some 128 KiB: part of whatever holds the connection. */
struct gdb_frame {
    enum { GDB_FRAME_OUTSIDE, GDB_FRAME_INSIDE, GDB_FRAME_ESCAPE, GDB_FRAME_SUM1, GDB_FRAME_SUM2 } state;
    bool checks; /* compare checksums; off in no-ack mode */
    bool too_long;
    uint8_t sum, told; /* over the bytes as they came; the first digit of what the sender says */
    uint64_t junk;     /* bytes outside packets that mean nothing */
    size_t size;
    char payload[GDB_PACKET_MAX + 1]; /* unescaped, with a NUL behind it; may hold NULs */
};

/* Empty, with checksums. */
void gdb_frame_start(struct gdb_frame *f);

/*
 * Take bytes up to and including the next item. *used says how many; give the rest again. The payload is
 * valid, and may be changed, until the next call.
 */
enum gdb_item gdb_frame_take(struct gdb_frame *f, const uint8_t *bytes, size_t size, size_t *used);

/*
 * Room that gdb_frame_put needs at most for a payload of `size` bytes: every byte escaped, '$', '#' and two
 * digits.
 */
#define GDB_FRAME_ROOM(size) (2 * (size_t)(size) + 4)

/* A packet as it goes out: '$', payload escaped, '#', checksum. Returns its size; 0 when `room` is below
 * GDB_FRAME_ROOM(size). */
size_t gdb_frame_put(uint8_t *out, size_t room, const char *payload, size_t size);

#endif
