/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the message queue: the device's memory and registers as plain words, a server that runs
 * while the client sleeps on the virtual clock, and hooks to change anything before any access.
 */
#ifndef CORRAL_TESTS_ARC_FIXTURE_H
#define CORRAL_TESTS_ARC_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tlog/arc_queue.h"

#define ARC_BASE     0x10000000u
#define ARC_SIZE     0x4000u
#define ARC_CONTROL  (ARC_BASE + 0x100u)
#define ARC_QUEUES   (ARC_BASE + 0x200u)
#define ARC_SCRATCH  0x80030400u
#define ARC_DOORBELL 0x800B0000u

struct device {
    uint32_t memory[ARC_SIZE / 4];
    uint32_t scratch[64];
    unsigned doorbells, accesses, writes;
    uint64_t outside; /* accesses to anywhere else: must stay 0 */
    void (*meddle)(struct device *d, uint64_t address, bool write, uint32_t *value);
    bool dead;      /* every read is all ones */
    bool silent;    /* the firmware does nothing */
    unsigned fails; /* this access and later ones fail; 0 = none */
    struct host_clock *clock;
    struct arc_server *server;
    struct arc_client *client;
    /* what the handler answers, and what it was asked */
    enum arc_reply reply;
    uint32_t status;
    uint32_t asked[ARC_MESSAGE_WORDS];
    unsigned calls;
};

static inline uint32_t *device_word(struct device *d, uint64_t address)
{
    if (address % 4 == 0 && address >= ARC_BASE && address < ARC_BASE + ARC_SIZE)
        return &d->memory[(address - ARC_BASE) / 4];
    if (address % 4 == 0 && address >= ARC_SCRATCH && address < ARC_SCRATCH + sizeof(d->scratch))
        return &d->scratch[(address - ARC_SCRATCH) / 4];
    return NULL;
}

static inline enum corral_err host_read(void *ctx, uint64_t address, uint32_t *value, struct diag *diag)
{
    struct device *d = ctx;
    d->accesses++;
    if (d->fails && d->accesses >= d->fails)
        return diag_set(diag, CORRAL_ERR_LINK_FAULT, "the access failed");
    uint32_t *word = device_word(d, address);
    d->outside += !word;
    *value = word ? *word : 0;
    if (d->meddle)
        d->meddle(d, address, false, value);
    if (d->dead)
        *value = 0xffffffffu;
    return CORRAL_OK;
}

static inline enum corral_err host_write(void *ctx, uint64_t address, uint32_t value, struct diag *diag)
{
    struct device *d = ctx;
    d->accesses++;
    d->writes++;
    if (d->fails && d->accesses >= d->fails)
        return diag_set(diag, CORRAL_ERR_LINK_FAULT, "the access failed");
    if (d->meddle)
        d->meddle(d, address, true, &value);
    if (address == ARC_DOORBELL) {
        assert_int_equal(value, 0);
        d->doorbells++;
        return CORRAL_OK;
    }
    uint32_t *word = device_word(d, address);
    d->outside += !word;
    if (word)
        *word = value;
    return CORRAL_OK;
}

static inline enum corral_err firmware_read(void *ctx, uint64_t address, uint32_t *value, struct diag *diag)
{
    uint32_t *word = device_word(ctx, address);
    (void)diag;
    assert_non_null(word);
    *value = *word;
    return CORRAL_OK;
}

static inline enum corral_err firmware_write(void *ctx, uint64_t address, uint32_t value, struct diag *diag)
{
    uint32_t *word = device_word(ctx, address);
    (void)diag;
    assert_non_null(word);
    *word = value;
    return CORRAL_OK;
}

static inline enum arc_reply device_handle(void *ctx, unsigned queue,
                                           const uint32_t request[ARC_MESSAGE_WORDS],
                                           uint32_t response[ARC_MESSAGE_WORDS])
{
    struct device *d = ctx;
    (void)queue;
    memcpy(d->asked, request, ARC_MESSAGE_SIZE);
    d->calls++;
    if ((request[0] & 0xff) != ARC_MSG_TLOG)
        return ARC_REPLY_UNKNOWN;
    response[0] = d->status;
    return d->reply;
}

/* The client sleeps: the firmware runs. */
static inline void device_pass(void *ctx, int64_t until)
{
    struct device *d = ctx;
    if (!d->silent && d->server)
        assert_int_equal(arc_server_poll(d->server, NULL, NULL), CORRAL_OK);
    host_clock_set(d->clock, until);
}

static inline struct device *device_new(unsigned entries, unsigned queues)
{
    struct device *d = calloc(1, sizeof(*d));
    assert_non_null(d);
    d->clock = host_clock_new_virtual();
    host_clock_set_driver(d->clock, device_pass, d);
    struct arc_server_options options = {.memory = {d, firmware_read, firmware_write},
                                         .control = ARC_CONTROL,
                                         .queues = ARC_QUEUES,
                                         .entries = entries,
                                         .queue_count = queues,
                                         .handle = device_handle,
                                         .ctx = d};
    d->server = arc_server_new(&options, NULL);
    assert_non_null(d->server);
    d->scratch[ARC_SCRATCH_QUEUE_CONTROL] = ARC_CONTROL;
    d->scratch[ARC_SCRATCH_BOOT_STATUS] = ARC_BOOT_STATUS_READY;
    return d;
}

static inline struct arc_client_options device_client_options(struct device *d)
{
    return (struct arc_client_options){.memory = {d, host_read, host_write},
                                       .clock = d->clock,
                                       .scratch = ARC_SCRATCH,
                                       .doorbell = ARC_DOORBELL,
                                       .valid_base = ARC_BASE,
                                       .valid_end = ARC_BASE + ARC_SIZE,
                                       .queue = ARC_QUEUE_TOOLS};
}

static inline void device_free(struct device *d)
{
    arc_client_close(d->client);
    arc_server_free(d->server);
    host_clock_free(d->clock);
    free(d);
}

#endif
