/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of the message queue (tlog/arc_queue.h) against the firmware's (target/queue_server.h): two
 * implementations of the firmware-log sheet's section 5 that share nothing but its layout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "target/queue_server.h"
#include "target/tlog_control.h"
#include "tlog/arc_queue.h"

#define BASE     0x20044000u
#define SIZE     0x4000u
#define SCRATCH  0x40010400u
#define DOORBELL 0x40010800u
#define BUFFER   (BASE + 0x2000u)

struct both {
    uint32_t memory[SIZE / 4], scratch[64];
    bool deaf; /* the firmware does nothing, whatever rings */
    unsigned rings;
    struct host_clock *clock;
    struct target_port port;
    uint8_t staging[512];
    struct tlog_producer producer;
    struct tlog_control control;
    struct queue_server_handler handler;
    struct queue_server server;
};

static uint32_t *word(struct both *b, uint64_t address)
{
    assert_int_equal(address % 4, 0);
    if (address >= SCRATCH && address < SCRATCH + sizeof(b->scratch))
        return &b->scratch[(address - SCRATCH) / 4];
    assert_true(address >= BASE && address < BASE + SIZE);
    return &b->memory[(address - BASE) / 4];
}

static enum corral_err host_read(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    (void)d;
    *value = *word(ctx, address);
    return CORRAL_OK;
}

static enum corral_err host_write(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    struct both *b = ctx;
    (void)d;
    if (address == DOORBELL)
        b->rings++;
    else
        *word(b, address) = value;
    return CORRAL_OK;
}

static uint32_t read32(void *ctx, uint64_t address)
{
    return *word(ctx, address);
}

static void write32(void *ctx, uint64_t address, uint32_t value)
{
    *word(ctx, address) = value;
}

static uint32_t now(void *ctx)
{
    (void)ctx;
    return 0;
}

/* The firmware runs while the host sleeps, and only if it was rung for. */
static void pass(void *ctx, int64_t until)
{
    struct both *b = ctx;
    if (b->rings && !b->deaf) {
        b->rings = 0;
        while (queue_server_poll(&b->server))
            ;
    }
    host_clock_set(b->clock, until);
}

static struct both *both_new(uint8_t entries, uint8_t queues)
{
    struct both *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    b->clock = host_clock_new_virtual();
    assert_non_null(b->clock);
    host_clock_set_driver(b->clock, pass, b);
    b->port = (struct target_port){.ctx = b, .read32 = read32, .write32 = write32, .now = now};
    const struct tlog_producer_config log = {
        .port = &b->port, .staging = b->staging, .staging_size = sizeof(b->staging)};
    assert_true(tlog_producer_init(&b->producer, &log));
    b->control.producer = &b->producer;
    b->handler = (struct queue_server_handler){ARC_MSG_TLOG, tlog_control_message, &b->control};
    const struct queue_server_config config = {.port = &b->port,
                                               .control = BASE,
                                               .queues = BASE + 16,
                                               .entries = entries,
                                               .queue_count = queues,
                                               .handlers = &b->handler,
                                               .handler_count = 1};
    assert_true(queue_server_init(&b->server, &config));
    b->scratch[ARC_SCRATCH_QUEUE_CONTROL] = BASE;
    b->scratch[ARC_SCRATCH_BOOT_STATUS] = ARC_BOOT_STATUS_READY;
    return b;
}

static void both_free(struct both *b)
{
    host_clock_free(b->clock);
    free(b);
}

static struct arc_client *open_client(struct both *b, unsigned queue)
{
    struct diag d = DIAG_INIT;
    const struct arc_client_options options = {.memory = {b, host_read, host_write},
                                               .clock = b->clock,
                                               .scratch = SCRATCH,
                                               .doorbell = DOORBELL,
                                               .valid_base = BASE,
                                               .valid_end = BASE + SIZE,
                                               .queue = queue};
    struct arc_client *c = arc_client_open(&options, &d);
    if (!c)
        fail_msg("%s", d.message);
    return c;
}

static uint32_t ask(struct arc_client *c, uint32_t word0, uint64_t address, uint32_t size)
{
    struct diag d = DIAG_INIT;
    const uint32_t request[8] = {word0, (uint32_t)address, (uint32_t)(address >> 32), size};
    uint32_t response[8] = {0xDEAD};
    assert_int_equal(arc_client_exchange(c, request, response, &d), CORRAL_OK);
    if ((word0 & 0xFF) == ARC_MSG_TEST)
        assert_int_equal(response[1], (uint32_t)address + 1);
    return response[0];
}

static void every_shape_of_queue_carries_messages_round_and_round(void **state)
{
    (void)state;
    for (uint8_t entries = 1; entries <= 9; entries++) {
        struct both *b = both_new(entries, 4);
        for (unsigned queue = 0; queue < 4; queue++) {
            struct arc_client *c = open_client(b, queue);
            assert_int_equal(arc_client_entries(c), entries);
            for (uint32_t i = 0; i < 40; i++)
                assert_int_equal(ask(c, ARC_MSG_TEST, i, 0), 0);
            assert_int_equal(ask(c, 0x33, 0, 0), ARC_MSG_UNKNOWN);
            arc_client_close(c);
        }
        assert_int_equal(b->server.bad_pointers, 0);
        both_free(b);
    }
}

static void setup_log_release(void **state)
{
    (void)state;
    struct both *b = both_new(4, 4);
    struct arc_client *c = open_client(b, ARC_QUEUE_TOOLS);
    uint32_t words[8], *buffer = word(b, BUFFER);
    const struct arc_tlog_request setup = {.subcommand = ARC_TLOG_SETUP, .address = BUFFER, .size = 4112};
    arc_tlog_encode(&setup, words);
    assert_int_equal(arc_answer_of(ask(c, words[0], BUFFER, 4112)), ARC_ANSWER_OK);
    assert_int_equal(buffer[2], TLOG_PRODUCER_MAGIC);
    assert_true(tlog_producer_log(&b->producer, TLOG_INF, TLOG_SMC, "hi", 2));
    assert_int_equal(arc_answer_of(ask(c, ARC_MSG_TLOG | ARC_TLOG_RELEASE << 8, 0, 0)), ARC_ANSWER_OK);
    assert_int_equal(buffer[3], 1);
    assert_int_equal(buffer[0], 16 + 15);
    assert_int_equal(arc_answer_of(ask(c, ARC_MSG_TLOG | 9 << 8, 0, 0)), ARC_ANSWER_FAULT);
    b->server.handler_count = 0; /* built without the log */
    assert_int_equal(arc_answer_of(ask(c, words[0], BUFFER, 4112)), ARC_ANSWER_UNSUPPORTED);
    arc_client_close(c);
    both_free(b);
}

static void late_answers_and_a_new_host_do_not_bring_them_out_of_step(void **state)
{
    (void)state;
    struct both *b = both_new(4, 4);
    struct diag d = DIAG_INIT;
    struct arc_client *c = open_client(b, 3);
    for (uint32_t i = 0; i < 30; i++) {
        const uint32_t request[8] = {ARC_MSG_TEST, 1000 + i};
        uint32_t response[8];
        b->deaf = true;
        assert_int_equal(arc_client_exchange(c, request, response, &d), CORRAL_ERR_TIMEOUT);
        b->deaf = false; /* and now it is answered, with the next one */
        if (i % 3 == 2) {
            arc_client_close(c);
            c = open_client(b, 3);
        }
        assert_int_equal(ask(c, ARC_MSG_TEST, i, 0), 0);
    }
    assert_int_equal(b->server.bad_pointers, 0);
    arc_client_close(c);
    both_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_of_queue_carries_messages_round_and_round),
        cmocka_unit_test(setup_log_release),
        cmocka_unit_test(late_answers_and_a_new_host_do_not_bring_them_out_of_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
