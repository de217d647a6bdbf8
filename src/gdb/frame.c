/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame machine: one state per byte, so that it is all the same how a stream was cut on its way. GDB
 * manual, "Overview" of the remote protocol; cross-trigger sheet 10.1, case D24.
 *
 * Must not know what a packet says. 0x03 inside a packet is data; outside it is gdb's Ctrl-C. What a stub
 * answers is read by link/rsp_frame.c: runs and notifications come from a stub only, and what gdb sends may
 * hold a bare '*'.
 */
#include "gdb/frame.h"

#include "base/text.h"
#include "link/rsp_frame.h"

#define BEGIN     '$'
#define END       '#'
#define ESCAPE    '}'
#define ESCAPED   0x20
#define INTERRUPT 0x03

void gdb_frame_start(struct gdb_frame *f)
{
    f->state = GDB_FRAME_OUTSIDE;
    f->checks = true;
    f->too_long = false;
    f->sum = f->told = 0;
    f->junk = 0;
    f->size = 0;
    f->payload[0] = '\0';
}

static void begin(struct gdb_frame *f)
{
    f->state = GDB_FRAME_INSIDE;
    f->too_long = false;
    f->sum = 0;
    f->size = 0;
}

static void add(struct gdb_frame *f, uint8_t byte)
{
    if (f->size < GDB_PACKET_MAX)
        f->payload[f->size++] = (char)byte;
    else
        f->too_long = true;
}

static enum gdb_item outside(struct gdb_frame *f, uint8_t c)
{
    switch (c) {
    case BEGIN:
        begin(f);
        return GDB_ITEM_NONE;
    case '+':
        return GDB_ITEM_ACK;
    case '-':
        return GDB_ITEM_NAK;
    case INTERRUPT:
        return GDB_ITEM_INTERRUPT;
    default:
        f->junk++;
        return GDB_ITEM_NONE;
    }
}

static enum gdb_item finish(struct gdb_frame *f, uint8_t c)
{
    int high = text_hex_digit(f->told), low = text_hex_digit(c);
    bool good = !f->checks || (high >= 0 && low >= 0 && (uint8_t)(high << 4 | low) == f->sum);
    f->state = GDB_FRAME_OUTSIDE;
    f->payload[f->size] = '\0';
    if (!good)
        return GDB_ITEM_DAMAGED;
    return f->too_long ? GDB_ITEM_TOO_LONG : GDB_ITEM_PACKET;
}

static enum gdb_item take_one(struct gdb_frame *f, uint8_t c)
{
    switch (f->state) {
    case GDB_FRAME_OUTSIDE:
        return outside(f, c);
    case GDB_FRAME_INSIDE:
        if (c == BEGIN) { /* never unescaped in a packet: the end of the one before was lost */
            begin(f);
            return GDB_ITEM_DAMAGED;
        }
        if (c == END) {
            f->state = GDB_FRAME_SUM1;
            return GDB_ITEM_NONE;
        }
        f->sum = (uint8_t)(f->sum + c);
        if (c == ESCAPE)
            f->state = GDB_FRAME_ESCAPE;
        else
            add(f, c);
        return GDB_ITEM_NONE;
    case GDB_FRAME_ESCAPE:
        if (c == END) { /* an escape that escapes nothing: the packet ends here all the same */
            f->state = GDB_FRAME_SUM1;
            return GDB_ITEM_NONE;
        }
        f->sum = (uint8_t)(f->sum + c);
        add(f, c ^ ESCAPED);
        f->state = GDB_FRAME_INSIDE;
        return GDB_ITEM_NONE;
    case GDB_FRAME_SUM1:
        f->told = c;
        f->state = GDB_FRAME_SUM2;
        return GDB_ITEM_NONE;
    default:
        return finish(f, c);
    }
}

enum gdb_item gdb_frame_take(struct gdb_frame *f, const uint8_t *bytes, size_t size, size_t *used)
{
    for (size_t i = 0; i < size; i++) {
        enum gdb_item item = take_one(f, bytes[i]);
        if (item != GDB_ITEM_NONE) {
            *used = i + 1;
            return item;
        }
    }
    *used = size;
    return GDB_ITEM_NONE;
}

/* What goes out looks alike in both directions of the protocol. */
size_t gdb_frame_put(uint8_t *out, size_t room, const char *payload, size_t size)
{
    return rsp_frame_write(payload, size, out, room);
}
