/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's end of the message queue against everything a host can write, and the firmware log's control
 * messages through it. Firmware-log sheet 2 and 5.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "log_rig.h"
#include "target/queue_server.h"
#include "target/tlog_control.h"

#include <cmocka.h>

#define BASE    0x20044000u
#define QUEUES  (BASE + 16u)
#define WORDS   (4u + QUEUE_SERVER_QUEUES * ARC_QUEUE_SIZE(ARC_ENTRIES_MAX) / 4u)
#define ENTRIES ARC_ENTRIES_DEFAULT

/* The memory of both sides, exactly as big as the configuration says, and a host that keeps its own count. */
struct rig {
    uint32_t words[WORDS];
    uint32_t size; /* bytes; accesses behind fail the test */
    uint32_t last_store;
    struct target_port port;
    struct queue_server server;
    struct queue_server_handler handlers[2];
    uint32_t calls;
    uint32_t wptr[QUEUE_SERVER_QUEUES], rptr[QUEUE_SERVER_QUEUES];
};

static uint32_t word_of(const struct rig *r, uint64_t address)
{
    assert_true(address >= BASE && (address & 3) == 0 && address - BASE + 4 <= r->size);
    return (uint32_t)(address - BASE) / 4;
}

static uint32_t read32(void *ctx, uint64_t address)
{
    struct rig *r = ctx;
    return r->words[word_of(r, address)];
}

static void write32(void *ctx, uint64_t address, uint32_t value)
{
    struct rig *r = ctx;
    r->words[word_of(r, address)] = value;
    r->last_store = (uint32_t)address;
}

static void count_call(void *ctx, const uint32_t request[8], uint32_t response[8])
{
    struct rig *r = ctx;
    r->calls++;
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(response[i], 0);
        response[i] = ~request[i];
    }
}

static struct rig *rig_new(uint8_t entries, uint8_t queues)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->port = (struct target_port){.ctx = r, .read32 = read32, .write32 = write32};
    r->size = 16 + queues * ARC_QUEUE_SIZE((uint32_t)entries);
    memset(r->words, 0xEE, sizeof(r->words)); /* what was there before the reset */
    r->handlers[0] = (struct queue_server_handler){.code = 0x21, .handle = count_call, .ctx = r};
    const struct queue_server_config config = {.port = &r->port,
                                               .control = BASE,
                                               .queues = QUEUES,
                                               .entries = entries,
                                               .queue_count = queues,
                                               .handlers = r->handlers,
                                               .handler_count = 1};
    assert_true(queue_server_init(&r->server, &config));
    return r;
}

static uint32_t *queue_word(struct rig *r, uint32_t n, uint32_t offset)
{
    return &r->words[word_of(r, QUEUES + n * ARC_QUEUE_SIZE((uint32_t)r->server.entries) + offset)];
}

static void send_message(struct rig *r, uint32_t n, const uint32_t request[8])
{
    uint32_t entries = r->server.entries, slot = r->wptr[n] % entries;
    memcpy(queue_word(r, n, ARC_QUEUE_HEADER_SIZE + slot * ARC_MESSAGE_SIZE), request, ARC_MESSAGE_SIZE);
    r->wptr[n] = (r->wptr[n] + 1) % (2 * entries);
    *queue_word(r, n, ARC_QUEUE_REQUEST_WPTR) = r->wptr[n];
}

static bool take_answer(struct rig *r, uint32_t n, uint32_t response[8])
{
    uint32_t entries = r->server.entries, slot = entries + r->rptr[n] % entries;
    if (*queue_word(r, n, ARC_QUEUE_RESPONSE_WPTR) == r->rptr[n])
        return false;
    memcpy(response, queue_word(r, n, ARC_QUEUE_HEADER_SIZE + slot * ARC_MESSAGE_SIZE), ARC_MESSAGE_SIZE);
    r->rptr[n] = (r->rptr[n] + 1) % (2 * entries);
    *queue_word(r, n, ARC_QUEUE_RESPONSE_RPTR) = r->rptr[n];
    return true;
}

static void exchange(struct rig *r, uint32_t n, const uint32_t request[8], uint32_t response[8])
{
    send_message(r, n, request);
    assert_true(queue_server_poll(&r->server));
    assert_true(take_answer(r, n, response));
    assert_false(take_answer(r, n, response));
}

static void the_layout_is_that_of_sheet_5(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 4);
    assert_int_equal(r->words[0], QUEUES);
    assert_int_equal(r->words[1], 0x0404);
    assert_int_equal(r->words[2], 0);
    assert_int_equal(r->words[3], 0);
    assert_int_equal(r->size, 16 + 4 * 288);
    for (uint32_t i = 4; i < r->size / 4; i++)
        assert_int_equal(r->words[i], 0);
    /* Nobody takes it for a control block before the queues are there. */
    assert_int_equal(r->last_store, BASE);
    assert_false(queue_server_poll(&r->server));
    free(r);
}

static void test_answers_argument_and_serial_and_unknown_is_ff(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 4);
    uint32_t response[8] = {0};
    for (uint32_t i = 0; i < 40; i++) {
        for (uint32_t n = 0; n < 4; n++) {
            const uint32_t test[8] = {ARC_MSG_TEST, 0xFFFFFFF0u + i};
            exchange(r, n, test, response);
            const uint32_t expected[8] = {0, 0xFFFFFFF1u + i, 3 * i + 1};
            assert_memory_equal(response, expected, sizeof(expected));
            const uint32_t unknown[8] = {0xFFFFFF00u + (i % 0x20), 1, 2, 3, 4, 5, 6, 7};
            exchange(r, n, unknown, response);
            const uint32_t refused[8] = {0xFF};
            assert_memory_equal(response, refused, sizeof(refused));
            const uint32_t known[8] = {0xABCDEF21u, 1, 2, 3, 4, 5, 6, 0xFFFFFFFFu};
            exchange(r, n, known, response);
            for (unsigned k = 0; k < 8; k++)
                assert_int_equal(response[k], ~known[k]);
            assert_int_equal(*queue_word(r, n, ARC_QUEUE_SERIAL), 3 * i + 3);
        }
    }
    assert_int_equal(r->calls, 160);
    assert_int_equal(r->server.handled, 3 * 160);
    assert_int_equal(r->server.unknown, 160);
    free(r);
}

static void a_full_queue_is_drained_in_order_and_waits_for_its_reader(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 2);
    uint32_t response[8];
    for (uint32_t round = 0; round < 9; round++) {
        for (uint32_t i = 0; i < 4; i++)
            send_message(r, 1, (const uint32_t[8]){ARC_MSG_TEST, 10 * i});
        assert_true(queue_server_poll(&r->server));
        assert_int_equal(*queue_word(r, 1, ARC_QUEUE_REQUEST_RPTR), r->wptr[1]);
        /* Four more, and nobody has read an answer: they wait. */
        for (uint32_t i = 4; i < 8; i++)
            send_message(r, 1, (const uint32_t[8]){ARC_MSG_TEST, 10 * i});
        assert_false(queue_server_poll(&r->server));
        for (uint32_t i = 0; i < 8; i++) {
            assert_true(take_answer(r, 1, response));
            assert_int_equal(response[1], 10 * i + 1);
            assert_int_equal(queue_server_poll(&r->server), i < 4);
        }
        assert_false(take_answer(r, 1, response));
    }
    assert_int_equal(r->server.bad_pointers, 0);
    free(r);
}

static void impossible_pointers_stop_that_queue_only(void **state)
{
    (void)state;
    static const uint32_t bad[] = {8, 9, 255, 256, 0x80000000u, 0xFFFFFFFFu, 5, 6, 7};
    for (uint32_t field = ARC_QUEUE_REQUEST_WPTR; field <= ARC_QUEUE_RESPONSE_RPTR; field += 4) {
        for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            struct rig *r = rig_new(4, 4);
            uint32_t response[8];
            /* 5 to 7 requests are more than fit; so are 5 to 7 unread answers, where there was none. */
            uint32_t value = field == ARC_QUEUE_RESPONSE_RPTR && bad[i] < 8 ? 8 - bad[i] : bad[i];
            *queue_word(r, 0, field) = value;
            for (unsigned k = 0; k < 3; k++)
                assert_false(queue_server_poll(&r->server));
            assert_int_equal(r->server.bad_pointers, 3);
            exchange(r, 2, (const uint32_t[8]){ARC_MSG_TEST, 1}, response);
            assert_int_equal(response[1], 2);
            /* The host comes to its senses. */
            *queue_word(r, 0, field) = 0;
            exchange(r, 0, (const uint32_t[8]){ARC_MSG_TEST, 5}, response);
            assert_int_equal(response[1], 6);
            free(r);
        }
    }
}

static void the_host_may_scribble_over_our_own_fields(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 4);
    uint32_t response[8];
    exchange(r, 0, (const uint32_t[8]){ARC_MSG_TEST, 1}, response);
    r->words[0] = 0x40010000; /* the control block */
    r->words[1] = 0xFFFF;
    *queue_word(r, 0, ARC_QUEUE_REQUEST_RPTR) = 2; /* as if what comes had been taken */
    *queue_word(r, 0, ARC_QUEUE_RESPONSE_WPTR) = 77;
    *queue_word(r, 0, ARC_QUEUE_SERIAL) = 1000;
    send_message(r, 0, (const uint32_t[8]){ARC_MSG_TEST, 2});
    assert_true(queue_server_poll(&r->server));
    assert_int_equal(*queue_word(r, 0, ARC_QUEUE_REQUEST_RPTR), 2);
    assert_int_equal(*queue_word(r, 0, ARC_QUEUE_RESPONSE_WPTR), 2);
    assert_true(take_answer(r, 0, response));
    assert_int_equal(response[1], 3);
    assert_int_equal(response[2], 2);               /* the serial is the private one */
    *queue_word(r, 0, ARC_QUEUE_REQUEST_RPTR) = 1;  /* as if it were still to be taken */
    *queue_word(r, 0, ARC_QUEUE_RESPONSE_WPTR) = 6; /* as if the answers had no room */
    assert_false(queue_server_poll(&r->server));
    exchange(r, 0, (const uint32_t[8]){ARC_MSG_TEST, 3}, response);
    assert_int_equal(response[1], 4);
    free(r);
}

/* The host raises its write pointer again at each answer: poll comes back all the same. */
static void feed_more(void *ctx, const uint32_t request[8], uint32_t response[8])
{
    struct rig *r = ctx;
    r->calls++;
    response[0] = request[0];
    r->wptr[0] = (r->wptr[0] + 1) % 8;
    *queue_word(r, 0, ARC_QUEUE_REQUEST_WPTR) = r->wptr[0];
    r->rptr[0] = (r->rptr[0] + 1) % 8;
    *queue_word(r, 0, ARC_QUEUE_RESPONSE_RPTR) = (uint32_t)r->server.queue[0].response_wptr;
}

static void a_host_that_never_stops_does_not_hold_the_caller(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 4);
    r->handlers[0].handle = feed_more;
    for (uint32_t i = 0; i < 4; i++)
        *queue_word(r, 0, ARC_QUEUE_HEADER_SIZE + i * ARC_MESSAGE_SIZE) = 0x21;
    r->wptr[0] = 1;
    *queue_word(r, 0, ARC_QUEUE_REQUEST_WPTR) = 1;
    assert_true(queue_server_poll(&r->server));
    assert_int_equal(r->calls, 4);
    assert_true(queue_server_poll(&r->server));
    assert_int_equal(r->calls, 8);
    free(r);
}

static void impossible_configurations_are_refused(void **state)
{
    (void)state;
    struct rig *r = rig_new(4, 4);
    struct queue_server s;
    const struct queue_server_config good = {.port = &r->port, .control = BASE, .queues = QUEUES};
    struct queue_server_config c = good;
    assert_true(queue_server_init(&s, &c));
    assert_int_equal(s.entries, 4);
    assert_int_equal(s.queue_count, 4);
    c.entries = ARC_ENTRIES_MAX + 1;
    assert_false(queue_server_init(&s, &c));
    c = good;
    c.queue_count = QUEUE_SERVER_QUEUES + 1;
    assert_false(queue_server_init(&s, &c));
    c = good;
    c.control = BASE + 2;
    assert_false(queue_server_init(&s, &c));
    c = good;
    c.queues = QUEUES + 1;
    assert_false(queue_server_init(&s, &c));
    c.queues = 0x100000000u;
    assert_false(queue_server_init(&s, &c));
    c.queues = 0xFFFFFFF0u;
    assert_false(queue_server_init(&s, &c));
    c = good;
    c.handler_count = 1;
    assert_false(queue_server_init(&s, &c));
    c = good;
    c.port = NULL;
    assert_false(queue_server_init(&s, &c));
    free(r);
}

static void random_writes_never_lead_it_astray(void **state)
{
    (void)state;
    uint32_t x = 12345;
    for (unsigned round = 0; round < 300; round++) {
        struct rig *r = rig_new((uint8_t)(1 + round % 7), (uint8_t)(1 + round % 4));
        for (unsigned step = 0; step < 100; step++) {
            x = x * 1664525u + 1013904223u;
            uint32_t at = (x >> 8) % (r->size / 4);
            x = x * 1664525u + 1013904223u;
            r->words[at] = x >> 24 < 64 ? x : (x >> 8) % 20; /* small ones are good pointers now and then */
            queue_server_poll(&r->server);                   /* word_of checks every access */
            for (uint32_t n = 0; n < r->server.queue_count; n++) {
                assert_true(r->server.queue[n].request_rptr < 2 * r->server.entries);
                assert_true(r->server.queue[n].response_wptr < 2 * r->server.entries);
            }
        }
        free(r);
    }
}

/* ---- 0xC7 ---- */

struct control_rig {
    struct log_rig *log;
    struct tlog_control control;
    bool locked, busy;
    uint32_t locks, attached, released;
};

static bool lock(void *ctx)
{
    struct control_rig *c = ctx;
    assert_false(c->locked);
    c->locks++;
    c->locked = !c->busy;
    return c->locked;
}

static void unlock(void *ctx)
{
    struct control_rig *c = ctx;
    assert_true(c->locked);
    c->locked = false;
}

static void changed(void *ctx, bool attached)
{
    struct control_rig *c = ctx;
    assert_true(c->locked);
    c->attached += attached;
    c->released += !attached;
}

static void control_start(struct control_rig *c, unsigned mode, uint32_t size)
{
    *c = (struct control_rig){.log = log_rig_new(mode, size, 4096)};
    c->control = (struct tlog_control){
        .producer = &c->log->producer, .lock = lock, .unlock = unlock, .changed = changed, .ctx = c};
}

static uint32_t control_send(struct control_rig *c, uint32_t word0, uint64_t address, uint32_t size)
{
    const uint32_t request[8] = {word0, (uint32_t)address, (uint32_t)(address >> 32), size};
    uint32_t response[8] = {0};
    tlog_control_message(&c->control, request, response);
    assert_false(c->locked);
    for (unsigned i = 1; i < 8; i++)
        assert_int_equal(response[i], 0);
    return response[0];
}

#define SETUP   0x1C7u
#define RELEASE 0x2C7u

static void the_codes_of_sheet_2_in_their_order(void **state)
{
    (void)state;
    for (unsigned mode = TLOG_PRODUCER_CAREFUL; mode <= TLOG_PRODUCER_COMPATIBLE; mode++) {
        struct control_rig c;
        control_start(&c, mode, 4112);
        c.control.unable = true; /* first, for every subcommand, bad ones too */
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0x13);
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 0), 0x13);
        assert_int_equal(control_send(&c, RELEASE, 0, 0), 0x13);
        assert_int_equal(control_send(&c, 0x7C7, 0, 0), 0x13);
        c.control.unable = false;
        for (uint32_t subcommand = 0; subcommand < 256; subcommand++)
            if (subcommand != 1 && subcommand != 2)
                assert_int_equal(control_send(&c, 0xC7 | subcommand << 8, HOST_ADDRESS, 4112), 0x16);
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 28), 0x01);
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 0), 0x01);
        assert_int_equal(c.locks, 0);
        assert_int_equal(control_send(&c, RELEASE, 0, 0), 0); /* nothing is set up */
        c.busy = true;
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0xF5);
        assert_int_equal(control_send(&c, RELEASE, 0, 0), 0xF5);
        c.busy = false;
        assert_int_equal(c.log->host->store_count, 0);
        assert_int_equal(c.attached + c.released, 0);
        /* The host's version, and its bits above, change nothing. */
        assert_int_equal(control_send(&c, SETUP | 0x55AA0000u, HOST_ADDRESS, 4112), 0);
        assert_int_equal(host_word(c.log->host, 8), 0x544C4F47);
        assert_int_equal(host_word(c.log->host, 4), 4112);
        assert_int_equal(c.attached, 1);
        assert_int_equal(control_send(&c, RELEASE, 0, 0), 0);
        assert_int_equal(control_send(&c, RELEASE, 0, 0), 0);
        assert_int_equal(c.released, 1);
        log_rig_free(c.log);
    }
}

static void setup_refuses_28_and_takes_29_in_compatible_mode(void **state)
{
    (void)state;
    for (uint32_t size = 28; size <= 33; size++) {
        for (unsigned mode = TLOG_PRODUCER_CAREFUL; mode <= TLOG_PRODUCER_COMPATIBLE; mode++) {
            struct control_rig c;
            control_start(&c, mode, size);
            bool taken = size >= (mode == TLOG_PRODUCER_COMPATIBLE ? 29u : 32u);
            assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, size), taken ? 0 : 1);
            assert_int_equal(tlog_producer_attached(&c.log->producer), taken);
            log_rig_free(c.log);
        }
    }
}

static void setup_twice_adopts_the_new_address(void **state)
{
    (void)state;
    for (unsigned mode = TLOG_PRODUCER_CAREFUL; mode <= TLOG_PRODUCER_COMPATIBLE; mode++) {
        struct control_rig c;
        control_start(&c, mode, 4112 + 64);
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0);
        assert_true(log_rig_log(c.log, 5)); /* staged over the second SETUP */
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS + 64, 4112), 0);
        assert_int_equal(c.attached, 2);
        c.log->host->store_count = 0;
        assert_true(tlog_producer_tick(&c.log->producer));
        for (uint32_t i = 0; i < c.log->host->store_count; i++)
            assert_true(c.log->host->stores[i] >= 64); /* the old one is left as it stands */
        assert_int_equal(host_word(c.log->host, 64 + 12), 1);
        assert_int_equal(host_word(c.log->host, 64 + 16 + 8), 0); /* the first sequence number */
        assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0);
        assert_true(log_rig_log(c.log, 5));
        c.log->host->size = 4112;
        c.log->host->slack = 64;
        c.log->producer.counts.delivered--; /* the host of this test looks at one place only */
        c.log->producer.counts.dropped++;
        log_rig_drain(c.log);
        assert_int_equal(c.log->host->records[0].sequence, 1);
        log_rig_free(c.log);
    }
}

static void release_gives_the_last_batch_or_keeps_it(void **state)
{
    (void)state;
    for (unsigned mode = TLOG_PRODUCER_CAREFUL; mode <= TLOG_PRODUCER_COMPATIBLE; mode++) {
        for (unsigned free_buffer = 0; free_buffer < 2; free_buffer++) {
            struct control_rig c;
            control_start(&c, mode, 4112);
            assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0);
            assert_true(log_rig_log(c.log, 5));
            if (!free_buffer) {
                assert_true(tlog_producer_tick(&c.log->producer));
                assert_true(log_rig_log(c.log, 5));
            }
            assert_int_equal(control_send(&c, RELEASE, 0, 0), 0);
            bool given = mode == TLOG_PRODUCER_CAREFUL && free_buffer;
            assert_int_equal(log_rig_staged(c.log), given ? 0 : 1);
            c.log->host->store_count = 0;
            assert_false(tlog_producer_tick(&c.log->producer));
            assert_int_equal(c.log->host->store_count, 0);
            host_take(c.log->host); /* the host's one last look */
            assert_int_equal(c.log->host->record_count, given || !free_buffer ? 1 : 0);
            assert_int_equal(control_send(&c, SETUP, HOST_ADDRESS, 4112), 0);
            log_rig_drain(c.log);
            assert_int_equal(log_rig_missing(c.log), 0);
            log_rig_free(c.log);
        }
    }
}

static void the_log_answers_through_the_queue_and_without_it_ff(void **state)
{
    (void)state;
    struct control_rig c;
    control_start(&c, TLOG_PRODUCER_CAREFUL, 4112);
    struct rig *r = rig_new(4, 4);
    uint32_t response[8];
    const uint32_t setup[8] = {SETUP, (uint32_t)HOST_ADDRESS, (uint32_t)(HOST_ADDRESS >> 32), 4112};
    exchange(r, 0, setup, response);
    assert_int_equal(response[0], 0xFF);
    r->handlers[1] = (struct queue_server_handler){ARC_MSG_TLOG, tlog_control_message, &c.control};
    r->server.handler_count = 2;
    exchange(r, 0, setup, response);
    assert_int_equal(response[0], 0);
    assert_int_equal(host_word(c.log->host, 0), 16);
    assert_true(log_rig_log(c.log, 9));
    exchange(r, 3, (const uint32_t[8]){RELEASE}, response);
    assert_int_equal(response[0], 0);
    assert_true(host_take(c.log->host));
    free(r);
    log_rig_free(c.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_sheet_5),
        cmocka_unit_test(test_answers_argument_and_serial_and_unknown_is_ff),
        cmocka_unit_test(a_full_queue_is_drained_in_order_and_waits_for_its_reader),
        cmocka_unit_test(impossible_pointers_stop_that_queue_only),
        cmocka_unit_test(the_host_may_scribble_over_our_own_fields),
        cmocka_unit_test(a_host_that_never_stops_does_not_hold_the_caller),
        cmocka_unit_test(impossible_configurations_are_refused),
        cmocka_unit_test(random_writes_never_lead_it_astray),
        cmocka_unit_test(the_codes_of_sheet_2_in_their_order),
        cmocka_unit_test(setup_refuses_28_and_takes_29_in_compatible_mode),
        cmocka_unit_test(setup_twice_adopts_the_new_address),
        cmocka_unit_test(release_gives_the_last_batch_or_keeps_it),
        cmocka_unit_test(the_log_answers_through_the_queue_and_without_it_ff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
