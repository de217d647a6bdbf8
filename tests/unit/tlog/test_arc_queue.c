/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message queue, client against server and client against what a hostile firmware may write: the
 * firmware-log sheet, 2, 5 (hazards a to f) and 8 (cases 35 and 36).
 */
#include "arc_fixture.h"

#define QUEUE(n) (ARC_QUEUES + (n)*ARC_QUEUE_SIZE(4u))

static int setup(void **state)
{
    *state = device_new(0, 0);
    return 0;
}

static int teardown(void **state)
{
    struct device *d = *state;
    assert_int_equal(d->outside, 0); /* whatever the firmware wrote, nothing else was touched */
    device_free(d);
    return 0;
}

static enum corral_err open_client(struct device *d, struct diag *diag)
{
    struct arc_client_options options = device_client_options(d);
    arc_client_close(d->client);
    d->client = arc_client_open(&options, diag);
    return d->client ? CORRAL_OK : diag->code;
}

static void opened(struct device *d)
{
    struct diag diag = DIAG_INIT;
    if (open_client(d, &diag) != CORRAL_OK)
        fail_msg("%s", diag.message);
}

static enum corral_err ask(struct device *d, uint32_t word0, uint32_t word1, uint32_t *answer)
{
    uint32_t request[ARC_MESSAGE_WORDS] = {word0, word1}, response[ARC_MESSAGE_WORDS];
    enum corral_err err = arc_client_exchange(d->client, request, response, NULL);
    if (answer)
        memcpy(answer, response, ARC_MESSAGE_SIZE);
    return err;
}

static void test_message_is_answered(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    opened(d);
    assert_int_equal(arc_client_entries(d->client), 4);
    for (uint32_t i = 0; i < 100; i++) { /* the pointers wrap many times */
        assert_int_equal(ask(d, ARC_MSG_TEST, i, answer), CORRAL_OK);
        assert_int_equal(answer[0], 0);
        assert_int_equal(answer[1], i + 1);
        assert_int_equal(answer[2], i + 2); /* serial: the one of open came before */
    }
    assert_int_equal(d->doorbells, 101);
    assert_int_equal(arc_client_stale(d->client), 0);
}

static void every_queue_of_every_shape(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{1, 1}, {1, 4}, {3, 2}, {4, 4}, {ARC_ENTRIES_MAX, 1}, {7, 16}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct device *d = device_new(shapes[i][0], shapes[i][1]);
        for (unsigned q = 0; q < shapes[i][1]; q++) {
            struct arc_client_options options = device_client_options(d);
            uint32_t answer[ARC_MESSAGE_WORDS];
            options.queue = q;
            d->client = arc_client_open(&options, NULL);
            assert_non_null(d->client);
            for (uint32_t n = 0; n < 2 * shapes[i][0] + 3; n++) {
                assert_int_equal(ask(d, ARC_MSG_TEST, n, answer), CORRAL_OK);
                assert_int_equal(answer[1], n + 1);
            }
            arc_client_close(d->client);
            d->client = NULL;
        }
        assert_int_equal(d->outside, 0);
        device_free(d);
    }
}

static void unknown_code_is_0xff(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    opened(d);
    assert_int_equal(ask(d, 0x33, 5, answer), CORRAL_OK);
    assert_int_equal(answer[0], ARC_MSG_UNKNOWN);
    for (unsigned i = 1; i < ARC_MESSAGE_WORDS; i++)
        assert_int_equal(answer[i], 0);
    assert_int_equal(arc_answer_of(answer[0]), ARC_ANSWER_UNSUPPORTED);
}

static void setup_and_release_as_on_the_wire(void **state)
{
    (void)state;
    uint32_t words[ARC_MESSAGE_WORDS];
    struct arc_tlog_request back;
    arc_tlog_encode(&(struct arc_tlog_request){ARC_TLOG_SETUP, 0, 0x123456789abcu, 4112}, words);
    const uint32_t setup_words[ARC_MESSAGE_WORDS] = {0x000001C7, 0x56789abc, 0x1234, 4112};
    assert_memory_equal(words, setup_words, sizeof(words));
    assert_true(arc_tlog_decode(words, &back));
    assert_int_equal(back.address, 0x123456789abcu);
    assert_int_equal(back.size, 4112);
    arc_tlog_encode(&(struct arc_tlog_request){ARC_TLOG_RELEASE, 0, 1, 2}, words);
    const uint32_t release_words[ARC_MESSAGE_WORDS] = {0x000002C7};
    assert_memory_equal(words, release_words, sizeof(words));
    arc_tlog_encode(&(struct arc_tlog_request){ARC_TLOG_SETUP, 7, 0, 0}, words);
    assert_int_equal(words[0], 0x000701C7);
    words[0] = 0x190;
    assert_false(arc_tlog_decode(words, &back));
}

static void case_35_answers_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        uint32_t word0;
        enum arc_answer answer;
    } cases[] = {{0, ARC_ANSWER_OK},           {0xff, ARC_ANSWER_UNSUPPORTED}, {1, ARC_ANSWER_FAULT},
                 {0x13, ARC_ANSWER_FAULT},     {0x16, ARC_ANSWER_FAULT},       {0xf0, ARC_ANSWER_BUSY},
                 {0xf5, ARC_ANSWER_BUSY},      {0xf6, ARC_ANSWER_FAULT},       {0xef, ARC_ANSWER_FAULT},
                 {0x1f5, ARC_ANSWER_FAULT},    {0x100, ARC_ANSWER_FAULT},      {2, ARC_ANSWER_FAULT},
                 {0xffffffff, ARC_ANSWER_DEAD}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(arc_answer_of(cases[i].word0), cases[i].answer);
        assert_non_null(arc_answer_text(cases[i].word0));
    }
}

static void case_36_shape_is_checked(void **state)
{
    struct device *d = *state;
    static const uint32_t shapes[] = {0x0400, 0x04ff, 0x0441, 0x0004, 0x1104, 0xff04, 0x0204, 0};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct diag diag = DIAG_INIT;
        d->memory[(ARC_CONTROL + ARC_CONTROL_SHAPE - ARC_BASE) / 4] = shapes[i];
        assert_int_equal(open_client(d, &diag), CORRAL_ERR_TLOG_QUEUE);
    }
    assert_int_equal(d->writes, 0);
}

static void case_36_addresses_are_checked(void **state)
{
    struct device *d = *state;
    const uint32_t ends = ARC_BASE + ARC_SIZE;
    const uint32_t queues[] = {0,           ARC_BASE - 4,   ends,          ends - 4 * ARC_QUEUE_SIZE(4u) + 4,
                               0xfffffffcu, ARC_QUEUES + 1, ARC_QUEUES + 2};
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        struct diag diag = DIAG_INIT;
        d->memory[(ARC_CONTROL - ARC_BASE) / 4] = queues[i];
        assert_int_equal(open_client(d, &diag), CORRAL_ERR_TLOG_QUEUE);
    }
    d->memory[(ARC_CONTROL - ARC_BASE) / 4] = ARC_QUEUES;
    const uint32_t controls[] = {0, ARC_BASE - 16, ends - 12, ends, 0x80030400u, ARC_CONTROL + 1};
    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        struct diag diag = DIAG_INIT;
        d->scratch[ARC_SCRATCH_QUEUE_CONTROL] = controls[i];
        assert_int_equal(open_client(d, &diag), CORRAL_ERR_TLOG_QUEUE);
    }
    assert_int_equal(d->writes, 0);
}

/* Every pointer, with every impossible value, at the start and in the middle. */
static void case_36_pointers_are_checked(void **state)
{
    struct device *d = *state;
    static const uint32_t offsets[] = {ARC_QUEUE_REQUEST_WPTR, ARC_QUEUE_RESPONSE_RPTR,
                                       ARC_QUEUE_REQUEST_RPTR, ARC_QUEUE_RESPONSE_WPTR};
    static const uint32_t bad[] = {8, 9, 255, 0x80000000u, 0xfffffffeu};
    for (size_t o = 0; o < 4; o++)
        for (size_t b = 0; b < 5; b++) {
            uint32_t *pointer = device_word(d, QUEUE(ARC_QUEUE_TOOLS) + offsets[o]);
            opened(d);
            uint32_t good = *pointer;
            *pointer = bad[b];
            d->silent = true;
            unsigned writes = d->writes;
            assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
            assert_int_equal(d->writes, writes);
            *pointer = good;
            d->silent = false;
        }
    opened(d);
}

/* Less than 2N, but more messages than fit. */
static void pointers_further_apart_than_the_queue_is_long(void **state)
{
    struct device *d = *state;
    opened(d);
    d->silent = true;
    uint32_t *response_wptr = device_word(d, QUEUE(ARC_QUEUE_TOOLS) + ARC_QUEUE_RESPONSE_WPTR);
    uint32_t good = *response_wptr;
    *response_wptr = (good + 5) % 8;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
    *response_wptr = good;
    uint32_t *request_rptr = device_word(d, QUEUE(ARC_QUEUE_TOOLS) + ARC_QUEUE_REQUEST_RPTR);
    *request_rptr = (*request_rptr + 1) % 8; /* ahead of what was asked */
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
}

static void case_36_n_is_not_trusted_twice(void **state)
{
    struct device *d = *state;
    static const uint32_t shapes[] = {0x0400, 0x04ff, 0x0401, 0x0408, 0x0304};
    opened(d);
    for (size_t i = 0; i < 5; i++) {
        d->memory[(ARC_CONTROL + ARC_CONTROL_SHAPE - ARC_BASE) / 4] = shapes[i];
        unsigned writes = d->writes;
        assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
        assert_int_equal(d->writes, writes);
    }
    d->memory[(ARC_CONTROL + ARC_CONTROL_SHAPE - ARC_BASE) / 4] = 0x0404;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_OK);
    d->memory[(ARC_CONTROL - ARC_BASE) / 4] = ARC_QUEUES + 4;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
    d->memory[(ARC_CONTROL - ARC_BASE) / 4] = ARC_QUEUES;
    d->scratch[ARC_SCRATCH_QUEUE_CONTROL] = ARC_CONTROL + 16;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
}

static void case_36_stale_answers_are_drained_before_sending(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    static const uint32_t stale[ARC_MESSAGE_WORDS] = {0, 0x666};
    /* before open: an earlier user died */
    for (int i = 0; i < 4; i++)
        assert_int_equal(arc_server_respond(d->server, ARC_QUEUE_TOOLS, stale, NULL), CORRAL_OK);
    assert_int_equal(arc_server_respond(d->server, ARC_QUEUE_TOOLS, stale, NULL), CORRAL_ERR_LIMIT);
    opened(d);
    assert_int_equal(arc_client_stale(d->client), 4);
    /* between two exchanges */
    assert_int_equal(arc_server_respond(d->server, ARC_QUEUE_TOOLS, stale, NULL), CORRAL_OK);
    assert_int_equal(ask(d, ARC_MSG_TEST, 10, answer), CORRAL_OK);
    assert_int_equal(answer[1], 11);
    assert_int_equal(arc_client_stale(d->client), 5);
}

/* A request that was given up: its answer, whenever it comes, is nobody's. */
static void timed_out_request_leaves_nothing_behind(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    opened(d);
    for (int round = 0; round < 20; round++) {
        int64_t before = host_clock_now(d->clock);
        d->silent = true; /* the request waits in the queue */
        assert_int_equal(ask(d, ARC_MSG_TEST, 100, answer), CORRAL_ERR_TIMEOUT);
        assert_int_equal(answer[1], 0);
        int64_t took = host_clock_now(d->clock) - before;
        assert_true(took >= ARC_RESPONSE_NS && took < ARC_RESPONSE_NS + 20 * NS_PER_MS);
        d->silent = false;
        assert_int_equal(ask(d, ARC_MSG_TEST, 200, answer), CORRAL_OK);
        assert_int_equal(answer[1], 201);
    }
    assert_int_equal(arc_client_stale(d->client), 20);
}

/* The firmware took the request and answers after the next one was asked. */
static void late_answer_is_not_the_next_ones(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    static const uint32_t late[ARC_MESSAGE_WORDS] = {0x5};
    opened(d);
    d->reply = ARC_REPLY_NONE;
    assert_int_equal(ask(d, 0x1C7, 0, answer), CORRAL_ERR_TIMEOUT);
    assert_int_equal(arc_server_respond(d->server, ARC_QUEUE_TOOLS, late, NULL), CORRAL_OK);
    d->reply = ARC_REPLY_ANSWER;
    d->status = 0x16;
    assert_int_equal(ask(d, 0x2C7, 0, answer), CORRAL_OK);
    assert_int_equal(answer[0], 0x16);
}

static void any_number_of_late_answers(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    static const uint32_t late[ARC_MESSAGE_WORDS] = {0};
    opened(d);
    d->reply = ARC_REPLY_NONE;
    assert_int_equal(ask(d, 0x1C7, 0, answer), CORRAL_ERR_TIMEOUT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(arc_server_respond(d->server, ARC_QUEUE_TOOLS, late, NULL), CORRAL_OK);
    assert_int_equal(ask(d, ARC_MSG_TEST, 7, answer), CORRAL_OK);
    assert_int_equal(answer[1], 8);
    assert_int_equal(arc_client_stale(d->client), 3);
}

static void answer_twice(struct device *d, uint64_t address, bool write, uint32_t *value)
{
    static const uint32_t extra[ARC_MESSAGE_WORDS] = {0};
    (void)value;
    if (write && address == ARC_DOORBELL) {
        arc_server_respond(d->server, ARC_QUEUE_TOOLS, extra, NULL);
        arc_server_respond(d->server, ARC_QUEUE_TOOLS, extra, NULL);
    }
}

static void two_answers_at_once_are_refused(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    opened(d);
    d->meddle = answer_twice;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, answer), CORRAL_ERR_TLOG_QUEUE);
    d->meddle = NULL;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, answer), CORRAL_OK);
    assert_int_equal(answer[1], 2);
}

static void use_the_queue_too(struct device *d, uint64_t address, bool write, uint32_t *value)
{
    (void)value;
    if (write && address == ARC_DOORBELL) {
        uint32_t *wptr = device_word(d, QUEUE(ARC_QUEUE_TOOLS) + ARC_QUEUE_REQUEST_WPTR);
        *wptr = (*wptr + 1) % 8;
    }
}

static void second_user_is_noticed(void **state)
{
    struct device *d = *state;
    opened(d);
    d->meddle = use_the_queue_too;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TLOG_QUEUE);
    d->meddle = NULL;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_OK);
}

static void queue_that_stays_full_times_out(void **state)
{
    struct device *d = *state;
    opened(d);
    d->silent = true;
    uint32_t *wptr = device_word(d, QUEUE(ARC_QUEUE_TOOLS) + ARC_QUEUE_REQUEST_WPTR);
    *wptr = (*wptr + 4) % 8;
    unsigned writes = d->writes;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_TIMEOUT);
    assert_int_equal(d->writes, writes);
    d->silent = false; /* the firmware wakes: those four are stale, ours is answered */
    uint32_t answer[ARC_MESSAGE_WORDS];
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, answer), CORRAL_OK);
    assert_int_equal(answer[1], 2);
}

static void all_ones_is_dead(void **state)
{
    struct device *d = *state;
    struct diag diag = DIAG_INIT;
    d->dead = true;
    assert_int_equal(open_client(d, &diag), CORRAL_ERR_LINK_DOWN);
    d->dead = false;
    opened(d);
    d->dead = true;
    unsigned writes = d->writes;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, NULL), CORRAL_ERR_LINK_DOWN);
    assert_int_equal(d->writes, writes);
}

static void not_ready_is_waited_for_and_no_longer(void **state)
{
    struct device *d = *state;
    struct diag diag = DIAG_INIT;
    d->scratch[ARC_SCRATCH_BOOT_STATUS] = 0x6;
    int64_t before = host_clock_now(d->clock);
    assert_int_equal(open_client(d, &diag), CORRAL_ERR_TIMEOUT);
    int64_t took = host_clock_now(d->clock) - before;
    assert_true(took >= ARC_READY_NS && took < ARC_READY_NS + 20 * NS_PER_MS);
    assert_int_equal(d->writes, 0);
}

/* The link may fail at any access: the error is passed on, and the next exchange is right all the same. */
static void link_that_fails_at_every_access(void **state)
{
    struct device *d = *state;
    uint32_t answer[ARC_MESSAGE_WORDS];
    opened(d);
    unsigned before = d->accesses;
    assert_int_equal(ask(d, ARC_MSG_TEST, 1, answer), CORRAL_OK);
    unsigned needed = d->accesses - before;
    assert_true(needed > 20 && needed < 100);
    for (unsigned n = 1; n <= needed; n++) {
        d->fails = d->accesses + n;
        assert_int_equal(ask(d, ARC_MSG_TEST, 1000 + n, answer), CORRAL_ERR_LINK_FAULT);
        d->fails = 0;
        assert_int_equal(ask(d, ARC_MSG_TEST, n, answer), CORRAL_OK);
        assert_int_equal(answer[1], n + 1);
    }
}

static void server_answers_only_into_free_slots(void **state)
{
    struct device *d = *state;
    unsigned served = 9;
    uint32_t base = QUEUE(1);
    uint32_t *wptr = device_word(d, base + ARC_QUEUE_REQUEST_WPTR);
    for (uint32_t i = 0; i < 4; i++)
        *device_word(d, base + ARC_QUEUE_HEADER_SIZE + i * ARC_MESSAGE_SIZE) = ARC_MSG_TEST;
    *wptr = 4;
    assert_int_equal(arc_server_poll(d->server, &served, NULL), CORRAL_OK);
    assert_int_equal(served, 4);
    *wptr = 0; /* four more (modulo 8), with the answers unread */
    assert_int_equal(arc_server_poll(d->server, &served, NULL), CORRAL_OK);
    assert_int_equal(served, 0);
    *device_word(d, base + ARC_QUEUE_RESPONSE_RPTR) = 1;
    assert_int_equal(arc_server_poll(d->server, &served, NULL), CORRAL_OK);
    assert_int_equal(served, 1);
    assert_int_equal(*device_word(d, base + ARC_QUEUE_SERIAL), 5);
    assert_int_equal(*device_word(d, base + ARC_QUEUE_RESPONSE_WPTR), 5);
}

static void server_checks_the_hosts_pointers(void **state)
{
    struct device *d = *state;
    static const uint32_t bad[] = {8, 0xffffffffu, 5 /* more than N requests */};
    for (size_t i = 0; i < 3; i++) {
        unsigned served = 9;
        *device_word(d, QUEUE(0) + ARC_QUEUE_REQUEST_WPTR) = bad[i];
        assert_int_equal(arc_server_poll(d->server, &served, NULL), CORRAL_OK);
        assert_int_equal(served, 0);
        assert_int_equal(arc_server_bad_pointers(d->server), i + 1);
    }
    *device_word(d, QUEUE(0) + ARC_QUEUE_REQUEST_WPTR) = 1;
    *device_word(d, QUEUE(0) + ARC_QUEUE_RESPONSE_RPTR) = 3; /* five unread: impossible */
    assert_int_equal(arc_server_poll(d->server, NULL, NULL), CORRAL_OK);
    assert_int_equal(arc_server_bad_pointers(d->server), 4);
    assert_int_equal(d->calls, 0);
}

static void server_options_are_checked(void **state)
{
    struct device *d = *state;
    struct arc_server_options options = {.memory = {d, firmware_read, firmware_write},
                                         .control = ARC_CONTROL,
                                         .queues = ARC_QUEUES,
                                         .entries = ARC_ENTRIES_MAX + 1};
    assert_null(arc_server_new(&options, NULL));
    options.entries = 1;
    options.queue_count = ARC_QUEUES_MAX + 1;
    assert_null(arc_server_new(&options, NULL));
    options.queue_count = 1;
    options.queues++;
    assert_null(arc_server_new(&options, NULL));
}

#define DEVICE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(test_message_is_answered),
        cmocka_unit_test(every_queue_of_every_shape),
        DEVICE_TEST(unknown_code_is_0xff),
        cmocka_unit_test(setup_and_release_as_on_the_wire),
        cmocka_unit_test(case_35_answers_are_told_apart),
        DEVICE_TEST(case_36_shape_is_checked),
        DEVICE_TEST(case_36_addresses_are_checked),
        DEVICE_TEST(case_36_pointers_are_checked),
        DEVICE_TEST(pointers_further_apart_than_the_queue_is_long),
        DEVICE_TEST(case_36_n_is_not_trusted_twice),
        DEVICE_TEST(case_36_stale_answers_are_drained_before_sending),
        DEVICE_TEST(timed_out_request_leaves_nothing_behind),
        DEVICE_TEST(late_answer_is_not_the_next_ones),
        DEVICE_TEST(any_number_of_late_answers),
        DEVICE_TEST(two_answers_at_once_are_refused),
        DEVICE_TEST(second_user_is_noticed),
        DEVICE_TEST(queue_that_stays_full_times_out),
        DEVICE_TEST(all_ones_is_dead),
        DEVICE_TEST(not_ready_is_waited_for_and_no_longer),
        DEVICE_TEST(link_that_fails_at_every_access),
        DEVICE_TEST(server_answers_only_into_free_slots),
        DEVICE_TEST(server_checks_the_hosts_pointers),
        DEVICE_TEST(server_options_are_checked),
    };
    return cmocka_run_group_tests_name("arc_queue", tests, NULL, NULL);
}
