/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing protocol buffers (the wire encoding: varints and length-delimited fields) into memory that grows.
 * Fields that are zero or empty are left out, as proto3 does, but for elements of repeated fields. A failed
 * allocation is remembered, and everything behind it is ignored. Private to src/export; knows no message.
 */
#ifndef CORRAL_EXPORT_EXPORT_PROTO_H
#define CORRAL_EXPORT_EXPORT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export_proto {
    uint8_t *data;
    size_t size, room;
    bool failed; /* out of memory; the content is worthless */
};

/* A bare varint: an element of a packed field. Signed values go in as their 64-bit two's complement. */
void export_proto_varint(struct export_proto *p, uint64_t value);
void export_proto_uint(struct export_proto *p, unsigned field, uint64_t value);
/* Also when it is zero: an element of a repeated field that is not packed. */
void export_proto_element(struct export_proto *p, unsigned field, uint64_t value);
/* A string that may be empty, since it is an element of a table. */
void export_proto_string(struct export_proto *p, unsigned field, const char *text);

/* A message or a packed field: what is written between the two calls. They nest. */
size_t export_proto_begin(struct export_proto *p, unsigned field);
void export_proto_end(struct export_proto *p, size_t begun);

void export_proto_free(struct export_proto *p);

#endif
