/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of the firmware log, for the producer's tests: a shared buffer with guard bytes around it,
 * every store checked and recorded, and a decoder of its own that accepts whole records only, unless told
 * otherwise. Firmware-log sheet 1. It must share no code with the producer.
 */
#ifndef CORRAL_TESTS_HOST_BUFFER_H
#define CORRAL_TESTS_HOST_BUFFER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "target/tlog_producer.h"

#define HOST_ADDRESS  0x123456780000u
#define HOST_MAX      8192u
#define HOST_GUARD    64u
#define HOST_RECORDS  2000u
#define HOST_STORES   4096u
#define HOST_TEXT_MAX 8192u

struct host_record {
    uint8_t level, source;
    uint32_t timestamp, sequence;
    uint32_t text_length; /* without NUL */
    uint32_t text_at;     /* in texts */
};

struct host_buffer {
    uint8_t memory[HOST_GUARD + HOST_MAX + HOST_GUARD];
    uint32_t size; /* of the buffer: stores past it fail the test */
    uint32_t now;
    uint32_t interrupts;
    uint32_t slack;        /* stores may reach so far past the buffer */
    bool unreachable;      /* map_window answers false */
    uint32_t answer_after; /* after so many reads of the owner byte the host takes the batch; 0 = never */
    jmp_buf *fault;        /* at the store with number fault_at (from 1) control goes here, as in a fault */
    uint32_t fault_at;
    bool fault_at_interrupt;
    uint32_t windows;
    /* The first stores since store_count was last set to 0, as offsets into the buffer. */
    uint32_t stores[HOST_STORES];
    uint32_t store_count;
    uint32_t stores_at_interrupt;
    /* What host_take has decoded so far. */
    struct host_record records[HOST_RECORDS];
    uint32_t record_count;
    bool torn_allowed; /* else a record cut short fails the test */
    uint32_t torn_records, torn_headers;
    char *texts;
    uint32_t texts_used, texts_size;
    struct target_port port;
};

struct host_buffer *host_new(uint32_t size);
void host_free(struct host_buffer *h);
uint32_t host_word(const struct host_buffer *h, uint32_t offset);
void host_set_word(struct host_buffer *h, uint32_t offset, uint32_t value);
void host_set_owner(struct host_buffer *h, uint8_t owner);
/* The guard bytes are untouched. */
void host_check_guards(const struct host_buffer *h);
/* If owner is 1: decode the batch (every record whole, NUL at its end), give the buffer back. True if there
 * was one. */
bool host_take(struct host_buffer *h);
const char *host_text(const struct host_buffer *h, uint32_t record);

#endif
