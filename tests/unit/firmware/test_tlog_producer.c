/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware log's producer against the producer-side list of the firmware-log sheet, section 8, and the
 * robust choices of its section 6. The peer is host_buffer: it checks every store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host_buffer.h"

/* A producer on a host buffer. */
struct rig {
    struct host_buffer *host;
    struct tlog_producer producer;
    uint8_t *staging;
    char text[8192];
};

static struct rig *rig_new(uint32_t buffer_size, uint32_t staging_size)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->host = host_new(buffer_size);
    r->staging = malloc(staging_size ? staging_size : 1); /* exactly so big: the sanitizer sees an overrun */
    assert_non_null(r->staging);
    for (uint32_t i = 0; i < sizeof(r->text); i++)
        r->text[i] = (char)('!' + i % 90);
    const struct tlog_producer_config config = {.port = &r->host->port,
                                                .staging = r->staging,
                                                .staging_size = staging_size,
                                                .notice_source = TLOG_SMC};
    assert_true(tlog_producer_init(&r->producer, &config));
    return r;
}

static void rig_free(struct rig *r)
{
    const struct tlog_producer_counts *c = &r->producer.counts;
    uint32_t staged = 0;
    for (uint32_t at = 0; at < r->producer.used; staged++)
        at += (uint32_t)r->staging[at] | (uint32_t)r->staging[at + 1] << 8;
    assert_int_equal(c->logged + c->notices, c->delivered + c->dropped + staged);
    assert_int_equal(r->host->record_count, c->delivered - (r->host->memory[HOST_GUARD + 12] == 1 ? 1 : 0));
    host_check_guards(r->host);
    host_free(r->host);
    free(r->staging);
    free(r);
}

static bool attach(struct rig *r)
{
    return tlog_producer_attach(&r->producer, HOST_ADDRESS, r->host->size);
}

static bool log_length(struct rig *r, uint32_t length)
{
    assert_true(length <= sizeof(r->text));
    return tlog_producer_log(&r->producer, TLOG_INF, TLOG_SMC, r->text, length);
}

static bool log_text(struct rig *r, const char *text)
{
    return tlog_producer_log(&r->producer, TLOG_INF, TLOG_SMC, text, (uint32_t)strlen(text));
}

/* Take batches and tick until nothing comes. */
static void drain(struct rig *r)
{
    for (unsigned i = 0; i < 1000; i++) {
        bool took = host_take(r->host);
        bool sent = tlog_producer_tick(&r->producer);
        if (!took && !sent)
            return;
    }
    fail_msg("the producer never comes to an end");
}

static void setup_writes_the_header_of_sheet_1_5(void **state)
{
    (void)state;
    static const uint8_t expected[16] = {0x10, 0, 0, 0, 0, 0x10, 0, 0, 0x47, 0x4F, 0x4C, 0x54, 0, 0, 0, 0};
    struct rig *r = rig_new(4096, 4096);
    assert_true(attach(r));
    assert_memory_equal(r->host->memory + HOST_GUARD, expected, sizeof(expected));
    /* The magic last: before it nobody takes the other words for a header. */
    assert_int_equal(r->host->stores[r->host->store_count - 1], 8);
    rig_free(r);
}

static void records_are_those_of_sheet_1_5(void **state)
{
    (void)state;
    static const uint8_t first[] = {0x0F, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'h', 'i', 0};
    static const char error[] = "\x1b[1;31m<err> m: x\x1b[0m\r\n";
    static const uint8_t second[] = {0x24, 0, 1, 0, 0x78, 0x56, 0x34, 0x12, 0xFF, 0xFF, 0xFF, 0xFF};
    struct rig *r = rig_new(4096, 4096);
    assert_true(attach(r));
    r->host->now = 1;
    assert_true(log_text(r, "hi"));
    r->host->now = 0x12345678;
    r->producer.sequence = 0xFFFFFFFF;
    assert_true(tlog_producer_log(&r->producer, TLOG_ERR, TLOG_SMC, error, sizeof(error) - 1));
    assert_true(tlog_producer_tick(&r->producer));
    const uint8_t *payload = r->host->memory + HOST_GUARD + 16;
    assert_memory_equal(payload, first, sizeof(first));
    assert_memory_equal(payload + 15, second, sizeof(second));
    assert_memory_equal(payload + 27, error, sizeof(error));
    assert_int_equal(host_word(r->host, 0), 67);
    assert_int_equal(host_word(r->host, 12), 1);
    assert_int_equal(payload[51], 0); /* byte 67: padding */
    assert_true(host_take(r->host));
    assert_true(log_text(r, "after the wrap"));
    assert_int_equal(r->producer.sequence, 1);
    drain(r);
    assert_int_equal(r->host->records[2].sequence, 0);
    rig_free(r);
}

static void sizes_28_to_31_are_refused_and_32_works(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 32; size++) {
        struct rig *r = rig_new(size, 4096);
        assert_false(attach(r));
        assert_int_equal(r->host->store_count, 0);
        rig_free(r);
    }
    struct rig *r = rig_new(32, 4096);
    assert_true(attach(r));
    assert_true(log_text(r, "abcdef")); /* room for three bytes */
    assert_true(tlog_producer_tick(&r->producer));
    assert_int_equal(host_word(r->host, 0), 32);
    drain(r);
    assert_string_equal(host_text(r->host, 0), "abc");
    assert_int_equal(r->producer.counts.cut, 1);
    rig_free(r);
}

static void address_0_and_unaligned_are_refused(void **state)
{
    (void)state;
    struct rig *r = rig_new(4096, 4096);
    assert_false(tlog_producer_attach(&r->producer, 0, 4096));
    for (uint64_t odd = 1; odd < 4; odd++)
        assert_false(tlog_producer_attach(&r->producer, HOST_ADDRESS + odd, 4096));
    r->host->unreachable = true;
    assert_false(attach(r));
    assert_int_equal(r->host->store_count, 0);
    /* A refused SETUP leaves the old buffer in use. */
    r->host->unreachable = false;
    assert_true(attach(r));
    assert_false(tlog_producer_attach(&r->producer, HOST_ADDRESS + 2, 4096));
    assert_true(log_text(r, "still here"));
    drain(r);
    assert_int_equal(r->host->record_count, 1);
    rig_free(r);
}

static void no_size_makes_it_write_past_the_buffer(void **state)
{
    (void)state;
    for (uint32_t size = 32; size <= 320; size++) {
        struct rig *r = rig_new(size, 512);
        for (uint32_t length = 0; length < 300; length += 7)
            log_length(r, length); /* first a backlog, staged before the size is known */
        assert_true(attach(r));
        drain(r);
        for (uint32_t length = 0; length < 320; length++) {
            log_length(r, length);
            if (length % 3 == 0)
                host_take(r->host);
        }
        drain(r);
        assert_int_equal(r->producer.used, 0);
        rig_free(r);
    }
}

/* Fill the staging memory to `used` bytes. */
static void stage_to(struct rig *r, uint32_t used)
{
    while (r->producer.used < used) {
        uint32_t left = used - r->producer.used;
        uint32_t record = left > 200 ? 100 : left;
        assert_true(record >= 13);
        assert_true(log_length(r, record - 13));
    }
    assert_int_equal(r->producer.used, used);
}

static void near_capacity_is_3829(void **state)
{
    (void)state;
    for (uint32_t used = 3827; used <= 3830; used++) {
        struct rig *r = rig_new(4112, 4096);
        assert_true(attach(r));
        stage_to(r, used);
        assert_int_equal(r->producer.counts.batches, 0);
        assert_true(log_length(r, 0));
        assert_int_equal(r->producer.counts.batches, used >= 3829 ? 1 : 0);
        drain(r);
        rig_free(r);
    }
}

static void no_room_is_4084(void **state)
{
    (void)state;
    for (uint32_t used = 4083; used <= 4086; used++) {
        struct rig *r = rig_new(4112, 4096); /* not attached: nothing can go out */
        stage_to(r, used);
        uint32_t sequence = r->producer.sequence;
        assert_int_equal(log_length(r, 0), used <= 4083);
        assert_int_equal(r->producer.sequence, sequence + 1);
        assert_int_equal(r->producer.counts.dropped, used <= 4083 ? 0 : 1);
        rig_free(r);
    }
}

static void a_text_is_cut_to_an_exact_prefix(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 4066, 4067, 4068, 4082, 4083, 4084, 4096, 6000};
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        /* Staging 4096 takes 4083 bytes of text; the host's buffer of 4112 too, that of 4096 takes 4067. */
        for (uint32_t size = 4096; size <= 4112; size += 16) {
            for (unsigned early = 0; early < 2; early++) {
                struct rig *r = rig_new(size, 4096);
                if (!early)
                    assert_true(attach(r));
                assert_true(log_length(r, lengths[i]));
                if (early)
                    assert_true(attach(r));
                drain(r);
                uint32_t kept = size - 16 - 13;
                if (lengths[i] < kept)
                    kept = lengths[i];
                assert_int_equal(r->host->record_count, 1);
                assert_int_equal(r->host->records[0].text_length, kept);
                assert_memory_equal(host_text(r->host, 0), r->text, kept);
                assert_true((r->producer.counts.cut != 0) == (kept < lengths[i]));
                rig_free(r);
            }
        }
    }
}

static void the_last_room_takes_a_prefix(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    stage_to(r, 4096 - 20);
    assert_true(log_length(r, 100));
    assert_int_equal(r->producer.used, 4096);
    assert_true(attach(r));
    drain(r);
    uint32_t last = r->host->record_count - 1;
    assert_int_equal(r->host->records[last].text_length, 7);
    assert_memory_equal(host_text(r->host, last), r->text, 7);
    rig_free(r);
}

static void staged_4096_for_a_payload_of_4080_goes_in_whole_records(void **state)
{
    (void)state;
    struct rig *r = rig_new(4096, 4096);
    stage_to(r, 4096);
    uint32_t logged = r->producer.counts.logged;
    assert_true(attach(r));
    assert_true(tlog_producer_tick(&r->producer));
    assert_true(host_word(r->host, 0) <= 4096);
    assert_true(r->producer.used > 0); /* the rest stays */
    drain(r);
    assert_int_equal(r->host->record_count, logged);
    for (uint32_t i = 0; i < logged; i++)
        assert_int_equal(r->host->records[i].sequence, i);
    assert_int_equal(r->producer.counts.cut, 0);
    rig_free(r);
}

static void owner_1_keeps_the_batch(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(log_text(r, "one"));
    assert_true(tlog_producer_tick(&r->producer));
    assert_true(log_text(r, "two"));
    r->host->store_count = 0;
    for (unsigned i = 0; i < 5; i++)
        assert_false(tlog_producer_tick(&r->producer));
    assert_int_equal(r->host->store_count, 0);
    assert_int_equal(r->producer.counts.busy, 5);
    assert_int_equal(r->producer.counts.dropped, 0);
    drain(r);
    assert_string_equal(host_text(r->host, 0), "one");
    assert_string_equal(host_text(r->host, 1), "two");
    rig_free(r);
}

static void owners_2_to_255_are_not_free(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(log_text(r, "kept"));
    r->host->store_count = 0;
    for (unsigned owner = 2; owner <= 255; owner++) {
        host_set_owner(r->host, (uint8_t)owner);
        assert_false(tlog_producer_tick(&r->producer));
        assert_int_equal(r->producer.counts.bad_owner, owner - 1);
    }
    assert_int_equal(r->host->store_count, 0);
    host_set_owner(r->host, 0);
    drain(r);
    assert_string_equal(host_text(r->host, 0), "kept");
    rig_free(r);
}

static void a_destroyed_magic_stops_the_writing_and_keeps_the_records(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 0xFFFFFFFF, 0x474F4C54, 0x544C4F46};
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct rig *r = rig_new(4112, 4096);
        assert_true(attach(r));
        assert_true(log_text(r, "kept"));
        host_set_word(r->host, 8, wrong[i]);
        r->host->store_count = 0;
        assert_false(tlog_producer_tick(&r->producer));
        assert_int_equal(r->host->store_count, 0);
        assert_int_equal(r->producer.counts.bad_magic, 1);
        assert_true(attach(r)); /* the host comes back */
        drain(r);
        assert_string_equal(host_text(r->host, 0), "kept");
        rig_free(r);
    }
}

static void the_version_survives_the_hand_over(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    r->producer.version = 3;
    assert_true(attach(r));
    assert_int_equal(host_word(r->host, 12), 0x300);
    assert_true(log_text(r, "x"));
    assert_true(tlog_producer_tick(&r->producer));
    assert_int_equal(host_word(r->host, 12), 0x301);
    drain(r);
    rig_free(r);
}

static void bytes_then_offset_then_owner_then_interrupt(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(log_length(r, 50));
    r->host->store_count = 0;
    assert_true(tlog_producer_tick(&r->producer));
    const struct host_buffer *h = r->host;
    assert_int_equal(h->store_count, 16 + 2); /* 63 bytes are 16 words */
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(h->stores[i], 16 + 4 * i);
    assert_int_equal(h->stores[16], 0);
    assert_int_equal(h->stores[17], 12);
    assert_int_equal(h->interrupts, 1);
    assert_int_equal(h->stores_at_interrupt, 18);
    drain(r);
    rig_free(r);
}

static void a_tick_with_nothing_staged_touches_nothing(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    r->host->store_count = r->host->windows = 0;
    assert_false(tlog_producer_tick(&r->producer));
    assert_int_equal(r->host->store_count, 0);
    assert_int_equal(r->host->windows, 0);
    rig_free(r);
}

static void small_staging_sizes(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 300; size++) {
        struct rig *r = rig_new(4112, size);
        assert_true(attach(r));
        bool kept = log_length(r, 40);
        assert_int_equal(kept, size >= 13);
        host_take(r->host);
        assert_int_equal(log_length(r, 40), kept);
        drain(r);
        if (kept) {
            /* Below 268 each record is flushed before the next. */
            uint32_t text = size - 13 < 40 ? size - 13 : 40;
            assert_int_equal(r->host->record_count, 2);
            assert_int_equal(r->host->records[1].text_length, size < 2 * 53 || size >= 268 ? text : 40);
        } else {
            assert_int_equal(r->producer.counts.dropped, 2);
        }
        rig_free(r);
    }
}

static void drops_leave_a_hole_and_are_told(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(log_text(r, "first"));
    assert_true(tlog_producer_tick(&r->producer)); /* the host does not take it */
    stage_to(r, 4090);
    uint32_t before = r->producer.sequence;
    for (unsigned i = 0; i < 3; i++)
        assert_false(log_text(r, "lost"));
    assert_int_equal(r->producer.sequence, before + 3);
    drain(r);
    const struct host_record *notice = &r->host->records[r->host->record_count - 1];
    assert_string_equal(host_text(r->host, r->host->record_count - 1), "3 messages dropped");
    assert_int_equal(notice->sequence, before + 3);
    assert_int_equal(notice->level, TLOG_WRN);
    assert_int_equal(notice->source, TLOG_SMC);
    assert_true(log_text(r, "again"));
    drain(r);
    assert_string_equal(host_text(r->host, r->host->record_count - 1), "again");
    rig_free(r);
}

static void an_error_goes_out_at_once_if_asked(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    r->producer.flush_on_error = true;
    assert_true(attach(r));
    assert_true(log_text(r, "calm"));
    assert_int_equal(r->producer.counts.batches, 0);
    assert_true(tlog_producer_log(&r->producer, TLOG_ERR, TLOG_DMC, "bad", 3));
    assert_int_equal(r->producer.counts.batches, 1);
    /* A burst: the buffer is with the host, so the second error waits instead of being lost. */
    assert_true(tlog_producer_log(&r->producer, TLOG_ERR, TLOG_DMC, "worse", 5));
    assert_int_equal(r->producer.counts.batches, 1);
    assert_int_equal(r->producer.counts.dropped, 0);
    drain(r);
    assert_int_equal(r->host->record_count, 3);
    assert_int_equal(r->host->records[2].source, TLOG_DMC);
    assert_int_equal(r->host->records[2].level, TLOG_ERR);
    rig_free(r);
}

static void release_twice_then_setup_delivers_what_was_staged(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    tlog_producer_detach(&r->producer);
    assert_true(attach(r));
    assert_true(log_text(r, "staged"));
    tlog_producer_detach(&r->producer);
    tlog_producer_detach(&r->producer);
    r->host->store_count = 0;
    assert_false(tlog_producer_tick(&r->producer));
    assert_int_equal(r->host->store_count, 0);
    assert_true(log_text(r, "more"));
    assert_true(attach(r));
    assert_true(attach(r)); /* SETUP while staged, twice */
    drain(r);
    assert_int_equal(r->host->record_count, 2);
    assert_int_equal(r->host->records[1].sequence, 1);
    rig_free(r);
}

static void a_lost_window_keeps_the_records(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(log_text(r, "kept"));
    r->host->unreachable = true;
    assert_false(tlog_producer_tick(&r->producer));
    r->host->unreachable = false;
    drain(r);
    assert_int_equal(r->host->record_count, 1);
    rig_free(r);
}

static void text_is_data(void **state)
{
    (void)state;
    static const char text[] = "%s%n\0\x1b[2J\xff\r\nend";
    struct rig *r = rig_new(4112, 4096);
    assert_true(attach(r));
    assert_true(tlog_producer_log(&r->producer, 255, 7, text, sizeof(text) - 1));
    drain(r);
    assert_int_equal(r->host->records[0].level, 255);
    assert_int_equal(r->host->records[0].source, 7);
    assert_int_equal(r->host->records[0].text_length, sizeof(text) - 1);
    assert_memory_equal(host_text(r->host, 0), text, sizeof(text));
    rig_free(r);
}

static void a_staging_above_64_kib_keeps_msg_size_in_16_bits(void **state)
{
    (void)state;
    struct rig *r = rig_new(4112, 80000);
    static char big[70000];
    memset(big, 'x', sizeof(big));
    assert_true(tlog_producer_log(&r->producer, TLOG_INF, TLOG_SMC, big, sizeof(big)));
    assert_int_equal(r->producer.used, 65535);
    assert_true(log_text(r, "next"));
    assert_true(attach(r));
    drain(r);
    assert_int_equal(r->host->records[0].text_length, 4096 - 13);
    assert_string_equal(host_text(r->host, 1), "next");
    rig_free(r);
}

static void init_refuses_what_it_cannot_work_with(void **state)
{
    (void)state;
    struct host_buffer *h = host_new(4112);
    struct tlog_producer p;
    uint8_t staging[64];
    struct target_port port = h->port;
    struct tlog_producer_config config = {.port = &port, .staging = staging, .staging_size = sizeof(staging)};
    assert_true(tlog_producer_init(&p, &config));
    config.mode = 1;
    assert_false(tlog_producer_init(&p, &config));
    config.mode = TLOG_PRODUCER_CAREFUL;
    config.staging = NULL;
    assert_false(tlog_producer_init(&p, &config));
    config.staging = staging;
    port.now = NULL;
    assert_false(tlog_producer_init(&p, &config));
    port = h->port;
    port.read32 = NULL;
    assert_false(tlog_producer_init(&p, &config));
    port = h->port;
    port.write32 = NULL;
    assert_false(tlog_producer_init(&p, &config));
    config.port = NULL;
    assert_false(tlog_producer_init(&p, &config));
    host_free(h);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void every_record_is_delivered_or_counted(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        uint32_t random = seed * 2654435761u;
        uint32_t size = 32 + next_random(&random) % 1200;
        struct rig *r = rig_new(size, 13 + next_random(&random) % 2000);
        if (seed % 3)
            assert_true(attach(r));
        for (unsigned step = 0; step < 600; step++) {
            uint32_t what = next_random(&random) % 16;
            if (what < 11)
                log_length(r, next_random(&random) % (what == 0 ? 3000 : 120));
            else if (what < 14)
                tlog_producer_tick(&r->producer);
            else if (what == 14 || seed % 2)
                host_take(r->host);
            else if (r->host->memory[HOST_GUARD + 12] != 1)
                assert_true(attach(r));
        }
        if (r->producer.room == 0)
            assert_true(attach(r));
        drain(r);
        drain(r);
        const struct tlog_producer_counts *c = &r->producer.counts;
        assert_int_equal(r->host->record_count, c->delivered);
        assert_int_equal(c->delivered + c->dropped, c->logged + c->notices);
        assert_int_equal(r->producer.sequence, c->logged + c->notices);
        /* The holes in the sequence are the drops; the notices name them all. */
        uint32_t expected = 0, holes = 0, told = 0, notices = 0;
        for (uint32_t i = 0; i < r->host->record_count; i++) {
            const struct host_record *record = &r->host->records[i];
            assert_true(record->sequence >= expected);
            holes += record->sequence - expected;
            expected = record->sequence + 1;
            const char *space = strchr(host_text(r->host, i), ' ');
            if (record->level == TLOG_WRN && space && strcmp(space, " messages dropped") == 0) {
                told += (uint32_t)strtoul(host_text(r->host, i), NULL, 10);
                notices++;
            }
        }
        holes += r->producer.sequence - expected;
        assert_int_equal(holes, c->dropped);
        assert_int_equal(notices, c->notices);
        assert_int_equal(told + r->producer.unreported, c->dropped);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setup_writes_the_header_of_sheet_1_5),
        cmocka_unit_test(records_are_those_of_sheet_1_5),
        cmocka_unit_test(sizes_28_to_31_are_refused_and_32_works),
        cmocka_unit_test(address_0_and_unaligned_are_refused),
        cmocka_unit_test(no_size_makes_it_write_past_the_buffer),
        cmocka_unit_test(near_capacity_is_3829),
        cmocka_unit_test(no_room_is_4084),
        cmocka_unit_test(a_text_is_cut_to_an_exact_prefix),
        cmocka_unit_test(the_last_room_takes_a_prefix),
        cmocka_unit_test(staged_4096_for_a_payload_of_4080_goes_in_whole_records),
        cmocka_unit_test(owner_1_keeps_the_batch),
        cmocka_unit_test(owners_2_to_255_are_not_free),
        cmocka_unit_test(a_destroyed_magic_stops_the_writing_and_keeps_the_records),
        cmocka_unit_test(the_version_survives_the_hand_over),
        cmocka_unit_test(bytes_then_offset_then_owner_then_interrupt),
        cmocka_unit_test(a_tick_with_nothing_staged_touches_nothing),
        cmocka_unit_test(small_staging_sizes),
        cmocka_unit_test(drops_leave_a_hole_and_are_told),
        cmocka_unit_test(an_error_goes_out_at_once_if_asked),
        cmocka_unit_test(release_twice_then_setup_delivers_what_was_staged),
        cmocka_unit_test(a_lost_window_keeps_the_records),
        cmocka_unit_test(text_is_data),
        cmocka_unit_test(a_staging_above_64_kib_keeps_msg_size_in_16_bits),
        cmocka_unit_test(init_refuses_what_it_cannot_work_with),
        cmocka_unit_test(every_record_is_delivered_or_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
