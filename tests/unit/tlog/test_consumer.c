/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live consumer against a link of the test's own, whose memory the "firmware" changes between any two
 * accesses: the firmware-log sheet 6 (consumer algorithm) and 8 (cases 1 to 7, 28, 30, 32, 38, 40).
 */
#include "tlog/consumer.h"

#include "link/link_backend.h"
#include "tlog_fixture.h"

#define BASE     0x20040000u
#define CAPACITY 4096u
#define GUARD    64u /* bytes behind the buffer that must never be touched */

/* Counted in calls of execute: what happens right before the n-th. */
typedef void meddle_fn(uint8_t *memory, unsigned access);

struct fake {
    uint8_t memory[CAPACITY + GUARD];
    unsigned accesses, writes;
    uint64_t bytes_read;
    meddle_fn *meddle;
    unsigned dead_from; /* this access and later ones fail; 0 = never */
    bool writes_fail;
    bool wrote_elsewhere; /* anything but one byte 0 at the owner byte */
};

static enum corral_err fake_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct fake *f = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        size_t size = (size_t)a->size * a->count;
        f->accesses++;
        if (f->meddle)
            f->meddle(f->memory, f->accesses);
        a->status = CORRAL_ERR_LINK_DOWN;
        if (f->dead_from && f->accesses >= f->dead_from)
            return diag_set(d, CORRAL_ERR_LINK_DOWN, "the link is dead");
        assert_true(a->address >= BASE && a->address - BASE + size <= CAPACITY);
        uint8_t *at = f->memory + (a->address - BASE);
        if (a->op == LINK_MEM_READ) {
            memcpy(a->data, at, size);
            f->bytes_read += size;
        } else {
            f->writes++;
            f->wrote_elsewhere |=
                size != 1 || a->address != BASE + TLOG_OFF_OWNER || *(uint8_t *)a->data != 0;
            if (f->writes_fail)
                return diag_set(d, CORRAL_ERR_LINK_FAULT, "the write failed");
            memcpy(at, a->data, size);
        }
        a->status = CORRAL_OK;
        a->done = a->count;
    }
    return CORRAL_OK;
}

struct rig {
    struct fake fake;
    struct host_clock *clock;
    struct link *link;
    struct event_bus *bus;
    struct kept_events kept;
    struct tlog_consumer *consumer;
    struct batch batch; /* what rig_hand_over copies into the fake's memory */
    unsigned raw_calls;
    size_t raw_size;
    bool raw_owner_was_back;
};

static void on_raw(void *ctx, const uint8_t *data, size_t size, int64_t host_ns)
{
    struct rig *r = ctx;
    r->raw_calls++;
    r->raw_size = size;
    r->raw_owner_was_back = r->fake.memory[TLOG_OFF_OWNER] == 0;
    assert_int_equal(host_ns, 5000);
    assert_memory_equal(data, r->batch.data, size);
    for (size_t i = size; i < CAPACITY; i++)
        assert_int_equal(data[i], 0);
}

static int rig_setup(void **state)
{
    static const struct link_backend backend = {.caps = LINK_CAP_MEM, .execute = fake_execute};
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->clock = host_clock_new_virtual();
    host_clock_set(r->clock, 5000);
    r->link = link_new(&backend, &r->fake, "fake", r->clock);
    r->bus = kept_bus(&r->kept);
    struct tlog_consumer_options options = {.stream = "tlog:core0",
                                            .core = "core0",
                                            .address = BASE,
                                            .capacity = CAPACITY,
                                            .raw = on_raw,
                                            .raw_ctx = r};
    r->consumer = tlog_consumer_new(&options, r->bus, NULL);
    assert_non_null(r->consumer);
    r->batch = batch_begin(CAPACITY);
    *state = r;
    return 0;
}

static int rig_teardown(void **state)
{
    struct rig *r = *state;
    /* What holds in every case: nothing but the owner byte is ever written. */
    assert_false(r->fake.wrote_elsewhere);
    tlog_consumer_free(r->consumer);
    assert_int_equal(event_bus_free(r->bus, NULL), CORRAL_OK);
    kept_clear(&r->kept);
    link_close(r->link);
    host_clock_free(r->clock);
    free(r->batch.data);
    free(r);
    return 0;
}

static void rig_hand_over(struct rig *r)
{
    memcpy(r->fake.memory, r->batch.data, CAPACITY);
}

/* The next batch begins empty. */
static void rig_next_batch(struct rig *r)
{
    memset(r->batch.data + TLOG_HEADER_SIZE, 0, CAPACITY - TLOG_HEADER_SIZE);
    r->batch.end = TLOG_HEADER_SIZE;
    batch_seal(&r->batch);
}

static enum corral_err rig_poll(struct rig *r, bool *took)
{
    enum corral_err err = tlog_consumer_poll(r->consumer, r->link, took, NULL);
    event_bus_drain(r->bus, NULL);
    return err;
}

/* A poll that must succeed; returns whether it took a batch. */
static bool rig_polled(struct rig *r)
{
    bool took = true;
    assert_int_equal(rig_poll(r, &took), CORRAL_OK);
    return took;
}

static void one_batch(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1500, 7, "hello");
    batch_line(&r->batch, 1501, 8, "world");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    assert_int_equal(r->fake.writes, 1);
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 2);
    const struct event *e = kept_get(&r->kept, EVENT_LOG, 0);
    assert_string_equal(e->stream, "tlog:core0");
    assert_string_equal(e->core, "core0");
    assert_string_equal(e->log.text, "hello");
    assert_int_equal(e->host_ns, 5000);
    assert_int_equal(e->target_ns, 1500000000);
    assert_int_equal(r->kept.count, 2); /* no gap, no batch event */
    /* the batch goes to the capture raw, after the owner byte went back, only as far as it is valid */
    assert_int_equal(r->raw_calls, 1);
    assert_int_equal(r->raw_size, r->batch.end);
    assert_true(r->raw_owner_was_back);
    struct tlog_consumer_stats stats;
    tlog_consumer_get_stats(r->consumer, &stats);
    assert_int_equal(stats.polls, 1);
    assert_int_equal(stats.batches, 1);
    assert_int_equal(stats.records, 2);
    assert_int_equal(stats.bytes, r->batch.end);
}

/* An idle poll costs two words; a batch costs its valid bytes, not the capacity. */
static void reads_no_more_than_the_batch(void **state)
{
    struct rig *r = *state;
    rig_hand_over(r);
    r->fake.memory[TLOG_OFF_OWNER] = 0;
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.bytes_read, 8);
    batch_line(&r->batch, 1, 1, "short");
    rig_hand_over(r);
    r->fake.bytes_read = 0;
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.bytes_read, 8 + r->batch.end + 8);
}

static void case_1_owner_0_with_plausible_data(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "not yet");
    rig_hand_over(r);
    r->fake.memory[TLOG_OFF_OWNER] = 0;
    assert_false(rig_polled(r));
    assert_int_equal(r->kept.count, 0);
    assert_int_equal(r->fake.writes, 0);
}

static void case_2_odd_owner_is_reported_once(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "not ours");
    rig_hand_over(r);
    r->fake.memory[TLOG_OFF_OWNER] = 0x80;
    for (int i = 0; i < 5; i++)
        assert_false(rig_polled(r));
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 1);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "owner");
    assert_int_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.value, 0x80);
    r->fake.memory[TLOG_OFF_OWNER] = 0xff;
    assert_false(rig_polled(r));
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 2);
    r->fake.memory[TLOG_OFF_OWNER] = 0; /* well again: the next time is news */
    assert_false(rig_polled(r));
    r->fake.memory[TLOG_OFF_OWNER] = 0xff;
    assert_false(rig_polled(r));
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 3);
    assert_int_equal(r->fake.writes, 0);
}

static void case_3_and_4_empty_batches_are_handed_back(void **state)
{
    struct rig *r = *state;
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    assert_int_equal(r->kept.count, 0);
    store_le32(r->batch.data, 15);
    rig_hand_over(r);
    store_le32(r->batch.data, 15);
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "write-offset");
}

static void case_5_write_offset_is_clamped(void **state)
{
    struct rig *r = *state;
    static const uint32_t offsets[] = {CAPACITY + 1, 0xfffffff0u, 0xffffffffu};
    for (uint32_t i = 0; i < 3; i++) {
        rig_next_batch(r);
        batch_line(&r->batch, 1, i, "kept");
        store_le32(r->batch.data, offsets[i]);
        rig_hand_over(r);
        memset(r->fake.memory + CAPACITY, 'G', GUARD);
        assert_true(rig_polled(r)); /* the fake refuses any access behind the buffer */
        assert_int_equal(r->raw_size, CAPACITY);
    }
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 3);
}

static void case_7_attached_consumer_writes_nothing_before_the_right_magic(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "somebody else's");
    store_le32(r->batch.data + TLOG_OFF_MAGIC, 0x12345678);
    rig_hand_over(r);
    for (int i = 0; i < 3; i++)
        assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 0);
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 1);
    assert_int_equal(r->kept.count, 1); /* once */
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "magic");
    assert_int_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.value, 0x12345678);
}

/* Once it was seen, a batch without it goes back, as INTERFACE.md's `release` says; a magic that stays away
 * is taken for a reset, and nothing more is written. */
static void case_7_bad_magic_after_the_right_one(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "good");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.writes, 1);
    store_le32(r->batch.data + TLOG_OFF_MAGIC, TLOG_MAGIC_SWAPPED);
    rig_hand_over(r);
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 2);
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "magic-byte-order");
    rig_hand_over(r);
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 2);
    /* it comes back, and all goes on */
    rig_next_batch(r);
    store_le32(r->batch.data + TLOG_OFF_MAGIC, TLOG_MAGIC);
    batch_line(&r->batch, 1, 2, "again");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.writes, 3);
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 2);
}

/* Whoever set the buffer up must learn of it also where no batch comes: the firmware hands over no more. */
static void case_7_bad_magic_is_told_to_whoever_set_up(void **state)
{
    struct rig *r = *state;
    assert_false(tlog_consumer_bad_magic(r->consumer));
    rig_hand_over(r);
    r->fake.memory[TLOG_OFF_OWNER] = 0;
    assert_false(rig_polled(r));
    assert_false(tlog_consumer_bad_magic(r->consumer));
    store_le32(r->fake.memory + TLOG_OFF_MAGIC, 0);
    assert_false(rig_polled(r));
    assert_true(tlog_consumer_bad_magic(r->consumer));
    store_le32(r->fake.memory + TLOG_OFF_MAGIC, 0xffffffffu); /* a dead link is another thing */
    assert_false(rig_polled(r));
    assert_false(tlog_consumer_bad_magic(r->consumer));
    store_le32(r->fake.memory + TLOG_OFF_MAGIC, 0x12345678);
    assert_false(rig_polled(r));
    assert_true(tlog_consumer_bad_magic(r->consumer));
    tlog_consumer_move(r->consumer, BASE); /* set up anew: nothing is known of it yet */
    assert_false(tlog_consumer_bad_magic(r->consumer));
    store_le32(r->fake.memory + TLOG_OFF_MAGIC, TLOG_MAGIC);
    assert_false(rig_polled(r));
    assert_false(tlog_consumer_bad_magic(r->consumer));
    assert_int_equal(r->fake.writes, 0);
}

static void reset_forgets_the_magic_and_the_baseline(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 100, "before");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    tlog_consumer_reset(r->consumer);
    store_le32(r->batch.data + TLOG_OFF_MAGIC, 0);
    rig_hand_over(r);
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 1); /* that of the first batch */
    rig_next_batch(r);
    store_le32(r->batch.data + TLOG_OFF_MAGIC, TLOG_MAGIC);
    batch_line(&r->batch, 1, 0, "after");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(kept_count(&r->kept, EVENT_RESTART) + kept_count(&r->kept, EVENT_GAP), 0);
}

static void case_7_all_ones_is_a_dead_link(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "good");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    memset(r->fake.memory, 0xff, CAPACITY);
    for (int i = 0; i < 3; i++)
        assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 1);
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 1);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "link-down");
}

static void dead_link_is_an_error_at_every_access(void **state)
{
    struct rig *r = *state;
    for (unsigned dead = 1; dead <= 3; dead++) {
        rig_next_batch(r);
        batch_line(&r->batch, 1, dead, "text");
        rig_hand_over(r);
        r->fake.dead_from = r->fake.accesses + dead;
        bool took = true;
        assert_int_equal(rig_poll(r, &took), CORRAL_ERR_LINK_DOWN);
        assert_false(took);
        assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 1);
        r->fake.dead_from = 0;
        assert_true(rig_polled(r)); /* the batch was not lost */
    }
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 3);
    assert_int_equal(r->kept.count, 3);
}

/* Copied, but it could not be handed back: delivered at once (it may be the last), and not a second time. */
static void a_batch_that_cannot_be_handed_back_is_delivered_once(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "last words");
    rig_hand_over(r);
    r->fake.writes_fail = true;
    bool took = false;
    assert_int_equal(rig_poll(r, &took), CORRAL_ERR_LINK_FAULT);
    assert_true(took);
    assert_int_equal(rig_poll(r, &took), CORRAL_ERR_LINK_FAULT);
    assert_false(took);
    r->fake.writes_fail = false;
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    assert_int_equal(r->kept.count, 1);
    assert_int_equal(r->raw_calls, 1);
    rig_next_batch(r);
    batch_line(&r->batch, 2, 2, "goes on");
    rig_hand_over(r);
    assert_true(rig_polled(r));
    assert_int_equal(r->kept.count, 2);
}

/* The link dies at the look after the copy. */
static void link_that_dies_after_the_copy(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "last words");
    rig_hand_over(r);
    assert_true(rig_polled(r)); /* how many accesses does a batch take? */
    unsigned needed = r->fake.accesses;
    rig_next_batch(r);
    batch_line(&r->batch, 1, 2, "last words");
    rig_hand_over(r);
    r->fake.dead_from = r->fake.accesses + needed - 1; /* the last one is the write */
    bool took = false;
    assert_int_equal(rig_poll(r, &took), CORRAL_ERR_LINK_DOWN);
    assert_true(took);
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 2);
    assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 1);
}

/* Everything but the header's owner and magic turns to 0xff as soon as the copy is made. */
static void scribble_after_header(uint8_t *memory, unsigned access)
{
    if (access == 3) /* look, header, records */
        store_le32(memory + TLOG_OFF_WRITE_OFFSET, 0xffffffffu);
    if (access > 3)
        memset(memory + TLOG_HEADER_SIZE, 0xff, CAPACITY - TLOG_HEADER_SIZE);
}

static void case_28_only_the_copy_is_decoded(void **state)
{
    struct rig *r = *state;
    batch_claim(&r->batch, 16, 3, 0, 1, 1, "abc",
                4); /* 32 bytes in all: the records are one access of words */
    assert_int_equal(r->batch.end, 32);
    rig_hand_over(r);
    r->fake.meddle = scribble_after_header;
    assert_true(rig_polled(r));
    assert_int_equal(r->raw_size, 32); /* the write_offset that was copied counts */
    assert_int_equal(r->kept.count, 1);
    assert_string_equal(kept_get(&r->kept, EVENT_LOG, 0)->log.text, "abc");
}

static void change_msg_size_before_records(uint8_t *memory, unsigned access)
{
    if (access >= 3)
        store_le16(memory + TLOG_HEADER_SIZE, (uint16_t)(0xfff0u + access));
}

static void case_28_msg_size_rewritten_between_reads(void **state)
{
    struct rig *r = *state;
    batch_claim(&r->batch, 16, 3, 0, 1, 1, "abc", 4);
    rig_hand_over(r);
    store_le16(r->batch.data + TLOG_HEADER_SIZE, 0xfff3); /* what will be copied, seen once */
    r->fake.meddle = change_msg_size_before_records;
    assert_true(rig_polled(r));
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 0);
    assert_int_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.value, 0xfff3);
}

static void drop_owner_after_copy(uint8_t *memory, unsigned access)
{
    if (access == 4)
        memory[TLOG_OFF_OWNER] = 0;
}

static void case_30_owner_flips_back_during_the_copy(void **state)
{
    struct rig *r = *state;
    batch_claim(&r->batch, 16, 3, 0, 1, 1, "abc", 4);
    rig_hand_over(r);
    r->fake.meddle = drop_owner_after_copy;
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.writes, 0); /* not ours any more */
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "owner");
    assert_int_equal(r->kept.list[0]->kind, EVENT_ANOMALY); /* said before the suspect records */
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 1);
    assert_false(rig_polled(r));
}

static void odd_owner_after_copy(uint8_t *memory, unsigned access)
{
    if (access >= 4)
        memory[TLOG_OFF_OWNER] = 0x55;
}

static void case_30_owner_turns_odd_during_the_copy(void **state)
{
    struct rig *r = *state;
    batch_claim(&r->batch, 16, 3, 0, 1, 1, "abc", 4);
    rig_hand_over(r);
    r->fake.meddle = odd_owner_after_copy;
    assert_true(rig_polled(r));
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 0);
    assert_int_equal(kept_count(&r->kept, EVENT_ANOMALY), 1);
    assert_int_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.value, 0x55);
}

static void owner_gone_before_header(uint8_t *memory, unsigned access)
{
    if (access == 2)
        memory[TLOG_OFF_OWNER] = 0;
}

static void case_30_owner_gone_before_the_header_is_read(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "gone");
    rig_hand_over(r);
    r->fake.meddle = owner_gone_before_header;
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 0);
    assert_int_equal(r->kept.count, 0);
}

static void magic_gone_before_header(uint8_t *memory, unsigned access)
{
    if (access == 2)
        store_le32(memory + TLOG_OFF_MAGIC, 0);
}

static void magic_changes_before_the_header_is_read(void **state)
{
    struct rig *r = *state;
    batch_line(&r->batch, 1, 1, "gone");
    rig_hand_over(r);
    r->fake.meddle = magic_gone_before_header;
    assert_false(rig_polled(r));
    assert_int_equal(r->fake.writes, 0);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "magic");
}

static void dead_after_copy(uint8_t *memory, unsigned access)
{
    if (access == 4)
        memset(memory, 0xff, CAPACITY);
}

static void magic_turns_to_ones_during_the_copy(void **state)
{
    struct rig *r = *state;
    batch_claim(&r->batch, 16, 3, 0, 1, 1, "abc", 4);
    rig_hand_over(r);
    r->fake.meddle = dead_after_copy;
    assert_true(rig_polled(r));
    assert_int_equal(r->fake.writes, 0);
    assert_string_equal(kept_get(&r->kept, EVENT_ANOMALY, 0)->anomaly.reason, "link-down");
    assert_int_equal(kept_count(&r->kept, EVENT_LOG), 1);
}

/* A batch at every poll: one is taken a poll, each is handed back, and stale bytes of a longer batch before
 * it are never seen. */
static void case_32_a_batch_every_poll(void **state)
{
    struct rig *r = *state;
    for (uint32_t i = 0; i < 500; i++) {
        rig_next_batch(r);
        for (uint32_t n = 0; n <= i % 7; n++)
            batch_line(&r->batch, i, i * 10 + n, "record");
        rig_hand_over(r);
        assert_true(rig_polled(r));
        assert_int_equal(r->fake.memory[TLOG_OFF_OWNER], 0);
    }
    struct tlog_consumer_stats stats;
    tlog_consumer_get_stats(r->consumer, &stats);
    assert_int_equal(stats.batches, 500);
    assert_int_equal(stats.records, kept_count(&r->kept, EVENT_LOG));
    assert_int_equal(stats.gaps, 499);
    assert_int_equal(stats.anomalies, 0);
    assert_int_equal(r->fake.writes, 500);
}

static void capacity_is_checked(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0, 16, 28, (1u << 20) + 1, 0xffffffffu};
    struct event_bus *bus = event_bus_new();
    for (size_t i = 0; i < 5; i++) {
        struct diag d = DIAG_INIT;
        struct tlog_consumer_options options = {.stream = "x", .capacity = bad[i]};
        assert_null(tlog_consumer_new(&options, bus, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
    }
    event_bus_free(bus, NULL);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(one_batch),
        RIG_TEST(reads_no_more_than_the_batch),
        RIG_TEST(case_1_owner_0_with_plausible_data),
        RIG_TEST(case_2_odd_owner_is_reported_once),
        RIG_TEST(case_3_and_4_empty_batches_are_handed_back),
        RIG_TEST(case_5_write_offset_is_clamped),
        RIG_TEST(case_7_attached_consumer_writes_nothing_before_the_right_magic),
        RIG_TEST(case_7_bad_magic_after_the_right_one),
        RIG_TEST(case_7_bad_magic_is_told_to_whoever_set_up),
        RIG_TEST(reset_forgets_the_magic_and_the_baseline),
        RIG_TEST(case_7_all_ones_is_a_dead_link),
        RIG_TEST(dead_link_is_an_error_at_every_access),
        RIG_TEST(a_batch_that_cannot_be_handed_back_is_delivered_once),
        RIG_TEST(link_that_dies_after_the_copy),
        RIG_TEST(case_28_only_the_copy_is_decoded),
        RIG_TEST(case_28_msg_size_rewritten_between_reads),
        RIG_TEST(case_30_owner_flips_back_during_the_copy),
        RIG_TEST(case_30_owner_turns_odd_during_the_copy),
        RIG_TEST(case_30_owner_gone_before_the_header_is_read),
        RIG_TEST(magic_changes_before_the_header_is_read),
        RIG_TEST(magic_turns_to_ones_during_the_copy),
        RIG_TEST(case_32_a_batch_every_poll),
        cmocka_unit_test(capacity_is_checked),
    };
    return cmocka_run_group_tests_name("consumer", tests, NULL, NULL);
}
