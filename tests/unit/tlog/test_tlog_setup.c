/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SETUP and RELEASE through the message queue, and the consumer behind it: the firmware-log sheet 8, cases
 * 29, 31, 34, 35, 37, 38, 42, and what happens when the firmware is started again.
 */
#include "arc_fixture.h"

#include "link/link_backend.h"
#include "tlog/tlog_setup.h"
#include "tlog_fixture.h"

#define BUFFER   (ARC_BASE + 0x2000u)
#define CAPACITY 4112u

struct rig {
    struct device *device;
    struct link *link;
    struct tlog_setup *setup;
    struct event_bus *bus;
    struct kept_events kept;
    struct tlog_consumer *consumer;
    uint32_t agreed_size; /* what the firmware writes at SETUP; 0 = what it was told */
    uint32_t magic;
    uint8_t version;
    bool no_header;
    unsigned setups, releases, busy; /* the first `busy` SETUPs are answered 0xF5 */
    bool twice;                      /* each SETUP gets a second answer */
    uint32_t sequence;
    uint64_t given; /* buffer address; 0 = none */
};

/* Bytes of the device's memory, as the link sees them. */
static enum corral_err rig_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct rig *r = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        uint8_t *bytes = a->data;
        for (uint32_t n = 0; n < a->count; n++, bytes += a->size) {
            uint64_t at = a->address + (uint64_t)n * a->size;
            uint32_t word = 0;
            unsigned shift = 8 * (unsigned)(at & 3);
            enum corral_err err = CORRAL_OK;
            if (a->op == LINK_MEM_READ || a->size < 4)
                err = host_read(r->device, at & ~UINT64_C(3), &word, d);
            if (a->op == LINK_MEM_READ) {
                uint32_t v = word >> shift;
                memcpy(bytes, &v, a->size);
            } else {
                uint32_t v = 0, mask = a->size == 4 ? UINT32_MAX : (1u << 8 * a->size) - 1;
                memcpy(&v, bytes, a->size);
                if (err == CORRAL_OK)
                    err = host_write(r->device, at & ~UINT64_C(3), (word & ~(mask << shift)) | v << shift, d);
            }
            a->status = err;
            if (err != CORRAL_OK)
                return err;
        }
        a->done = a->count;
    }
    return CORRAL_OK;
}

static uint8_t *buffer_bytes(struct rig *r)
{
    return (uint8_t *)r->device->memory + (BUFFER - ARC_BASE);
}

static enum arc_reply firmware(void *ctx, unsigned queue, const uint32_t request[ARC_MESSAGE_WORDS],
                               uint32_t response[ARC_MESSAGE_WORDS])
{
    struct rig *r = ctx;
    struct device *d = r->device;
    struct arc_tlog_request tlog;
    assert_int_equal(queue, ARC_QUEUE_TOOLS);
    if (!arc_tlog_decode(request, &tlog))
        return ARC_REPLY_UNKNOWN;
    response[0] = d->status;
    if (tlog.subcommand == ARC_TLOG_RELEASE) {
        r->releases++;
        r->given = 0;
        return d->reply;
    }
    r->setups++;
    assert_int_equal(tlog.version, 0);
    assert_int_equal(tlog.address, BUFFER);
    assert_int_equal(tlog.size, CAPACITY);
    if (r->setups <= r->busy) {
        response[0] = ARC_TLOG_BUSY;
        return d->reply;
    }
    if (d->status == 0 && !r->no_header) {
        uint8_t *p = buffer_bytes(r);
        store_le32(p, 16);
        store_le32(p + 4, r->agreed_size ? r->agreed_size : tlog.size);
        store_le32(p + 8, r->magic);
        store_le32(p + 12, (uint32_t)r->version << 8);
        r->given = tlog.address;
    }
    if (r->twice)
        arc_server_respond(d->server, queue, response, NULL);
    return d->reply;
}

static int setup(void **state)
{
    static const struct link_backend backend = {.caps = LINK_CAP_MEM, .execute = rig_execute};
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->device = device_new(0, 0);
    r->magic = TLOG_MAGIC;
    arc_server_free(r->device->server);
    struct arc_server_options server = {.memory = {r->device, firmware_read, firmware_write},
                                        .control = ARC_CONTROL,
                                        .queues = ARC_QUEUES,
                                        .handle = firmware,
                                        .ctx = r};
    r->device->server = arc_server_new(&server, NULL);
    r->link = link_new(&backend, r, "fake", r->device->clock);
    struct tlog_setup_options options = {.address = BUFFER,
                                         .size = CAPACITY,
                                         .scratch = ARC_SCRATCH,
                                         .doorbell = ARC_DOORBELL,
                                         .valid_base = ARC_BASE,
                                         .valid_end = ARC_BASE + 0x2000,
                                         .queue = ARC_QUEUE_TOOLS};
    r->setup = tlog_setup_new(&options, NULL);
    assert_non_null(r->setup);
    r->bus = kept_bus(&r->kept);
    struct tlog_consumer_options consumer = {.stream = "tlog", .address = BUFFER, .capacity = CAPACITY};
    r->consumer = tlog_consumer_new(&consumer, r->bus, NULL);
    assert_non_null(r->consumer);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct rig *r = *state;
    assert_int_equal(r->device->outside, 0);
    tlog_setup_free(r->setup);
    tlog_consumer_free(r->consumer);
    event_bus_free(r->bus, NULL);
    kept_clear(&r->kept);
    link_close(r->link);
    device_free(r->device);
    free(r);
    return 0;
}

static void fails(struct rig *r, enum corral_err err, enum tlog_setup_state want, uint32_t answer)
{
    struct diag d = DIAG_INIT;
    assert_int_equal(tlog_setup_run(r->setup, r->link, &d), err);
    assert_int_equal(d.code, err);
    assert_true(d.message[0] != '\0');
    assert_int_equal(tlog_setup_state(r->setup), want);
    assert_int_equal(tlog_setup_answer(r->setup), answer);
}

/* The firmware hands over one record. */
static void speak(struct rig *r, const char *text)
{
    struct batch b = batch_begin(CAPACITY);
    assert_true(r->given == BUFFER);
    batch_line(&b, r->sequence, r->sequence, text);
    r->sequence++;
    memcpy(buffer_bytes(r), b.data, CAPACITY);
    free(b.data);
}

static bool poll_once(struct rig *r)
{
    bool took = false;
    assert_int_equal(tlog_consumer_poll(r->consumer, r->link, &took, NULL), CORRAL_OK);
    event_bus_drain(r->bus, NULL);
    return took;
}

static void setup_consume_release(void **state)
{
    struct rig *r = *state;
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_ACTIVE);
    assert_int_equal(tlog_setup_answer(r->setup), 0);
    r->sequence = 34; /* case 42: what was logged before anybody listened */
    for (int i = 0; i < 10; i++) {
        speak(r, "line");
        assert_true(poll_once(r));
        assert_false(poll_once(r));
    }
    speak(r, "the last"); /* left in the buffer when the firmware lets go */
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, 1);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
    assert_true(poll_once(r));
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 11);
    assert_int_equal(r->kept.count, 11); /* no gap for the 34 before */
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, 1); /* nothing left to release */
}

static void case_34_unknown_version_is_refused_and_released(void **state)
{
    struct rig *r = *state;
    r->version = 1;
    fails(r, CORRAL_ERR_UNSUPPORTED, TLOG_SETUP_BAD_VERSION, 0);
    assert_int_equal(r->releases, 1);
}

static void case_34_version_byte_0_later_is_no_downgrade(void **state)
{
    struct rig *r = *state;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    speak(r, "after the hand-over the version byte is cleared");
    assert_true(poll_once(r));
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 0);
}

static void case_35_each_answer(void **state)
{
    struct rig *r = *state;
    static const struct {
        uint32_t answer;
        enum corral_err err;
        enum tlog_setup_state state;
    } cases[] = {
        {0xff, CORRAL_ERR_UNSUPPORTED, TLOG_SETUP_UNSUPPORTED},
        {0x01, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_REFUSED},
        {0x13, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_REFUSED},
        {0x16, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_REFUSED},
        {0x77, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_REFUSED},
        {0xf5, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_BUSY},
        {0xf0, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_BUSY},
        {0xffffffff, CORRAL_ERR_LINK_DOWN, TLOG_SETUP_DEAD},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        r->device->status = cases[i].answer;
        fails(r, cases[i].err, cases[i].state, cases[i].answer);
    }
    assert_int_equal(r->releases, 0);
}

static void case_35_busy_is_tried_again(void **state)
{
    struct rig *r = *state;
    r->busy = 3;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->setups, 4);
    r->setups = 0;
    r->busy = 1000; /* but not for ever */
    fails(r, CORRAL_ERR_TLOG_REFUSED, TLOG_SETUP_BUSY, 0xf5);
    assert_true(r->setups >= 3 && r->setups <= 10);
}

/* It may be active: RELEASE is still owed, and the buffer is nobody else's until then. */
static void case_35_no_answer_is_unknown(void **state)
{
    struct rig *r = *state;
    r->device->reply = ARC_REPLY_NONE;
    fails(r, CORRAL_ERR_TIMEOUT, TLOG_SETUP_UNKNOWN, 0xffffffffu);
    assert_int_equal(r->setups, 1);
    r->device->reply = ARC_REPLY_ANSWER;
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, 1);
}

/* It was carried out, and only its answer cannot be trusted: RELEASE is owed all the same. */
static void case_35_an_answer_of_a_broken_queue_leaves_release_owed(void **state)
{
    struct rig *r = *state;
    r->twice = true;
    fails(r, CORRAL_ERR_TLOG_QUEUE, TLOG_SETUP_BAD_QUEUE, 0xffffffffu);
    assert_true(r->given == BUFFER);
    r->twice = false;
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, 1);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, 1);
}

/* RELEASE was refused: the firmware goes on, so it is asked again. */
static void a_refused_release_is_still_owed(void **state)
{
    struct rig *r = *state;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    r->device->status = ARC_TLOG_BUSY;
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_ERR_TLOG_REFUSED);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_UNKNOWN);
    unsigned before = r->releases;
    r->device->status = 0;
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->releases, before + 1);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
}

static void not_ready_is_not_unknown(void **state)
{
    struct rig *r = *state;
    bool ready = true;
    r->device->scratch[ARC_SCRATCH_BOOT_STATUS] = 0;
    assert_int_equal(tlog_setup_ready(r->setup, r->link, &ready, NULL), CORRAL_OK);
    assert_false(ready);
    fails(r, CORRAL_ERR_TIMEOUT, TLOG_SETUP_NOT_READY, 0xffffffffu);
    assert_int_equal(r->device->writes, 0);
    r->device->dead = true;
    assert_int_equal(tlog_setup_ready(r->setup, r->link, &ready, NULL), CORRAL_OK);
    assert_false(ready);
    fails(r, CORRAL_ERR_LINK_DOWN, TLOG_SETUP_DEAD, 0xffffffffu);
}

static void queue_that_is_none(void **state)
{
    struct rig *r = *state;
    r->device->memory[(ARC_CONTROL + ARC_CONTROL_SHAPE - ARC_BASE) / 4] = 0;
    fails(r, CORRAL_ERR_TLOG_QUEUE, TLOG_SETUP_BAD_QUEUE, 0xffffffffu);
    assert_int_equal(r->device->writes, 0);
}

static void agreed_but_no_header(void **state)
{
    struct rig *r = *state;
    /* a header of an earlier life must not be taken for this one's */
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    r->no_header = true;
    fails(r, CORRAL_ERR_TLOG_MAGIC, TLOG_SETUP_BAD_MAGIC, 0);
    assert_int_equal(r->releases, 1);
    r->no_header = false;
    r->magic = TLOG_MAGIC_SWAPPED;
    fails(r, CORRAL_ERR_TLOG_MAGIC, TLOG_SETUP_BAD_MAGIC, 0);
}

static void case_37_buffers_that_are_refused_before_sending(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        uint32_t size;
    } bad[] = {
        {0x10000, 29},          {0x10000, 30},   {0x10000, 31},        {0x10000, 28},
        {0x10000, 4095},        {0x10000, 4113}, {0x10000, 0},         {0x10000, 1u << 21},
        {0x10000, 0xfffffffcu}, {0, 4112},       {0x10001, 4112},      {0x10002, 4112},
        {0xfff000, 4112},       {0xffffff4, 32}, {0x7ffffffff0, 4112}, {UINT64_MAX - 3, 4112},
    };
    static const struct {
        uint64_t address;
        uint32_t size;
    } good[] = {{0x10000, 32}, {0x10000, 4112}, {0xffeff0, 4112}, {0x1000000, 4112}, {0xfff000, 4096}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct diag d = DIAG_INIT;
        struct tlog_setup_options options = {.address = bad[i].address, .size = bad[i].size};
        assert_null(tlog_setup_new(&options, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(tlog_setup_check(good[i].address, good[i].size, NULL), CORRAL_OK);
}

static void case_38_small_buffer_is_warned_of(void **state)
{
    struct rig *r = *state;
    assert_null(tlog_setup_warning(r->setup));
    static const uint32_t sizes[] = {64, 4096, 4108};
    for (size_t i = 0; i < 3; i++) {
        struct tlog_setup_options options = {.address = BUFFER, .size = sizes[i]};
        struct tlog_setup *small = tlog_setup_new(&options, NULL);
        assert_non_null(small);
        assert_non_null(tlog_setup_warning(small));
        tlog_setup_free(small);
    }
}

/* RELEASE fails, or is agreed to and ignored: the last batch is taken once, and after that nothing is
 * touched. */
static void case_29_firmware_that_goes_on_after_release(void **state)
{
    struct rig *r = *state;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    speak(r, "the last");
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_true(poll_once(r));
    unsigned accesses = r->device->accesses;
    r->given = BUFFER;
    speak(r, "nobody's");
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_OK);
    assert_int_equal(r->device->accesses, accesses);
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 1);

    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    r->device->status = ARC_TLOG_BAD_SUBCOMMAND;
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_ERR_TLOG_REFUSED);
    r->device->reply = ARC_REPLY_NONE;
    r->device->status = 0;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_ERR_TIMEOUT);
    assert_int_equal(tlog_setup_release(r->setup, r->link, NULL), CORRAL_ERR_TIMEOUT);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_UNKNOWN); /* the buffer stays taken */
}

/* No interrupt is ever seen by this host: each batch is there at the next poll, and an empty poll costs two
 * words. */
static void case_31_polling_alone_delivers(void **state)
{
    struct rig *r = *state;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    for (uint32_t i = 0; i < 20; i++) {
        unsigned before = r->device->accesses;
        assert_false(poll_once(r));
        assert_int_equal(r->device->accesses - before, 2);
        speak(r, "without an interrupt");
        assert_true(poll_once(r));
        assert_int_equal(kept_count(&r->kept, EVENT_LOG), i + 1);
    }
}

/* The firmware writes its queues anew, as after a reset. */
static void start_again(struct rig *r)
{
    arc_server_free(r->device->server);
    struct arc_server_options server = {.memory = {r->device, firmware_read, firmware_write},
                                        .control = ARC_CONTROL,
                                        .queues = ARC_QUEUES,
                                        .handle = firmware,
                                        .ctx = r};
    r->device->server = arc_server_new(&server, NULL);
    r->given = 0;
}

static void restart_is_found_and_set_up_again(void **state)
{
    struct rig *r = *state;
    bool restarted = true;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    r->sequence = 3;
    speak(r, "before");
    assert_true(poll_once(r));
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_false(restarted);

    start_again(r);
    unsigned writes = r->device->writes;
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_true(restarted);
    assert_int_equal(r->device->writes, writes); /* looking writes nothing */
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_false(restarted); /* told once */
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    tlog_consumer_restarted(r->consumer);
    /* numbered higher than before by chance: a restart all the same, and nothing is lost */
    r->sequence = 20;
    speak(r, "after");
    assert_true(poll_once(r));
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 2);
    assert_int_equal(kept_count(&r->kept, EVENT_GAP), 0);
    const struct event *e = kept_get(&r->kept, EVENT_RESTART, 0);
    assert_int_equal(e->restart.previous, 3);
    assert_int_equal(e->restart.sequence, 20);
    speak(r, "goes on");
    assert_true(poll_once(r));
    assert_int_equal(kept_count(&r->kept, EVENT_RESTART), 1);

    r->device->scratch[ARC_SCRATCH_BOOT_STATUS] = 0; /* down right now */
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_true(restarted);
}

/* What was refused once is refused again, until it is another firmware. */
static void refused_firmware_that_is_started_again_may_be_asked_again(void **state)
{
    struct rig *r = *state;
    bool restarted = true;
    r->device->status = ARC_MSG_UNKNOWN;
    fails(r, CORRAL_ERR_UNSUPPORTED, TLOG_SETUP_UNSUPPORTED, ARC_MSG_UNKNOWN);
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_false(restarted);
    start_again(r);
    r->device->status = 0;
    assert_int_equal(tlog_setup_restarted(r->setup, r->link, &restarted, NULL), CORRAL_OK);
    assert_true(restarted);
    assert_int_equal(tlog_setup_state(r->setup), TLOG_SETUP_OFF);
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
}

static void link_that_fails_at_every_access(void **state)
{
    struct rig *r = *state;
    unsigned before = r->device->accesses;
    assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    unsigned needed = r->device->accesses - before;
    for (unsigned n = 1; n <= needed; n++) {
        r->device->fails = r->device->accesses + n;
        assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_ERR_LINK_FAULT);
        assert_true(tlog_setup_state(r->setup) != TLOG_SETUP_ACTIVE);
        r->device->fails = 0;
        assert_int_equal(tlog_setup_run(r->setup, r->link, NULL), CORRAL_OK);
    }
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(setup_consume_release),
        RIG_TEST(case_34_unknown_version_is_refused_and_released),
        RIG_TEST(case_34_version_byte_0_later_is_no_downgrade),
        RIG_TEST(case_35_each_answer),
        RIG_TEST(case_35_busy_is_tried_again),
        RIG_TEST(case_35_no_answer_is_unknown),
        RIG_TEST(case_35_an_answer_of_a_broken_queue_leaves_release_owed),
        RIG_TEST(a_refused_release_is_still_owed),
        RIG_TEST(not_ready_is_not_unknown),
        RIG_TEST(queue_that_is_none),
        RIG_TEST(agreed_but_no_header),
        cmocka_unit_test(case_37_buffers_that_are_refused_before_sending),
        RIG_TEST(case_38_small_buffer_is_warned_of),
        RIG_TEST(case_29_firmware_that_goes_on_after_release),
        RIG_TEST(case_31_polling_alone_delivers),
        RIG_TEST(restart_is_found_and_set_up_again),
        RIG_TEST(refused_firmware_that_is_started_again_may_be_asked_again),
        RIG_TEST(link_that_fails_at_every_access),
    };
    return cmocka_run_group_tests_name("tlog_setup", tests, NULL, NULL);
}
