/* SPDX-License-Identifier: Apache-2.0 */
/* The wire encoding of protocol buffers (export_proto.h). */
#include "export/export_proto.h"

#include <stdlib.h>
#include <string.h>

#define WIRE_VARINT    0u
#define WIRE_DELIMITED 2u
#define VARINT_MAX     10u

/* Room for `n` more bytes; false when there is none. */
static bool make_room(struct export_proto *p, size_t n)
{
    if (p->failed)
        return false;
    if (n <= p->room - p->size)
        return true;
    size_t room = p->room ? p->room : 4096;
    while (room - p->size < n && room <= SIZE_MAX / 4)
        room *= 2;
    uint8_t *data = room - p->size < n ? NULL : realloc(p->data, room);
    if (!data) {
        p->failed = true;
        return false;
    }
    p->data = data;
    p->room = room;
    return true;
}

static size_t encode(uint8_t out[VARINT_MAX], uint64_t value)
{
    size_t n = 0;
    while (value >= 0x80) {
        out[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[n++] = (uint8_t)value;
    return n;
}

void export_proto_varint(struct export_proto *p, uint64_t value)
{
    if (make_room(p, VARINT_MAX))
        p->size += encode(p->data + p->size, value);
}

static void put_tag(struct export_proto *p, unsigned field, unsigned wire)
{
    export_proto_varint(p, (uint64_t)field << 3 | wire);
}

void export_proto_element(struct export_proto *p, unsigned field, uint64_t value)
{
    put_tag(p, field, WIRE_VARINT);
    export_proto_varint(p, value);
}

void export_proto_uint(struct export_proto *p, unsigned field, uint64_t value)
{
    if (value)
        export_proto_element(p, field, value);
}

void export_proto_string(struct export_proto *p, unsigned field, const char *text)
{
    size_t n = strlen(text);
    put_tag(p, field, WIRE_DELIMITED);
    export_proto_varint(p, n);
    if (!make_room(p, n))
        return;
    memcpy(p->data + p->size, text, n);
    p->size += n;
}

size_t export_proto_begin(struct export_proto *p, unsigned field)
{
    put_tag(p, field, WIRE_DELIMITED);
    return p->size;
}

void export_proto_end(struct export_proto *p, size_t begun)
{
    uint8_t length[VARINT_MAX];
    if (p->failed)
        return;
    size_t body = p->size - begun;
    size_t n = encode(length, body);
    if (!make_room(p, n))
        return;
    memmove(p->data + begun + n, p->data + begun, body);
    memcpy(p->data + begun, length, n);
    p->size += n;
}

void export_proto_free(struct export_proto *p)
{
    free(p->data);
    *p = (struct export_proto){.data = NULL};
}
