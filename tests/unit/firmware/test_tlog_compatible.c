/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's two modes at the boundaries of the firmware-log sheet, 3.2 to 3.5 and the producer-side list
 * of 8: the compatible one does what released firmware does; the careful one, in the same run, loses nothing
 * where it need not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "log_rig.h"

#include <cmocka.h>

#define CAREFUL    TLOG_PRODUCER_CAREFUL
#define COMPATIBLE TLOG_PRODUCER_COMPATIBLE

static void setup_28_is_refused_and_29_accepted(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 40; size++) {
        for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
            struct log_rig *r = log_rig_new(mode, size, 4096);
            assert_int_equal(log_rig_attach(r), size >= (mode == COMPATIBLE ? 29u : 32u));
            log_rig_free(r);
        }
    }
    /* Address 0 is not looked at, unlike in the careful mode. */
    struct log_rig *r = log_rig_new(COMPATIBLE, 4096, 4096);
    assert_false(tlog_producer_attach(&r->producer, HOST_ADDRESS + 2, 4096));
    assert_int_equal(r->host->store_count, 0);
    log_rig_free(r);
}

static void near_capacity_is_3829(void **state)
{
    (void)state;
    for (uint32_t used = 3827; used <= 3831; used++) {
        for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
            struct log_rig *r = log_rig_new(mode, 4112, 4096);
            assert_true(log_rig_attach(r));
            log_rig_stage(r, used);
            assert_int_equal(r->producer.counts.batches, 0);
            assert_true(log_rig_log(r, 0));
            assert_int_equal(r->producer.counts.batches, used >= 3829);
            assert_int_equal(r->producer.used, used >= 3829 ? 13 : used + 13);
            log_rig_drain(r);
            assert_int_equal(log_rig_missing(r), 0);
            log_rig_free(r);
        }
    }
}

static void no_room_is_4084(void **state)
{
    (void)state;
    for (uint32_t used = 4082; used <= 4086; used++) {
        for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
            struct log_rig *r = log_rig_new(mode, 4112, 4096);
            log_rig_stage(r, used); /* boot: no host yet */
            uint32_t sequence = r->producer.sequence;
            assert_int_equal(log_rig_log(r, 0), used <= 4083);
            assert_int_equal(r->producer.sequence, sequence + 1);
            assert_int_equal(r->producer.counts.dropped, used >= 4084);
            assert_true(log_rig_attach(r));
            log_rig_drain(r);
            log_rig_free(r);
        }
    }
}

static void the_longest_text_leaves_exactly_the_nul(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        for (uint32_t length = 4082; length <= 4085; length++) {
            struct log_rig *r = log_rig_new(mode, 4112, 4096);
            assert_true(log_rig_attach(r));
            assert_true(log_rig_log(r, length));
            assert_int_equal(r->producer.used, length < 4083 ? length + 13 : 4096);
            assert_int_equal(r->staging[r->producer.used - 1], 0);
            assert_int_equal(r->producer.counts.cut, length > 4083);
            log_rig_drain(r);
            assert_int_equal(r->host->records[0].text_length, length < 4083 ? length : 4083);
            log_rig_free(r);
        }
    }
}

/* Staged `used` bytes, the last record `last` bytes long, for a buffer with 4080 bytes of payload. */
static void backlog(unsigned mode, uint32_t used, uint32_t last, uint32_t lost)
{
    struct log_rig *r = log_rig_new(mode, 4096, 4096);
    log_rig_stage(r, used - last);
    assert_true(log_rig_log(r, last - 13));
    assert_int_equal(r->producer.used, used);
    assert_true(log_rig_attach(r));
    assert_true(tlog_producer_tick(&r->producer));
    if (mode == COMPATIBLE) {
        assert_int_equal(host_word(r->host, 0), used < 4080 ? 16 + used : 4096);
        assert_int_equal(r->producer.used, 0); /* the rest is lost */
        assert_int_equal(r->producer.counts.torn + r->producer.counts.dropped, lost);
    }
    log_rig_drain(r);
    assert_true(log_rig_log(r, 3)); /* shows the gap */
    log_rig_drain(r);
    assert_int_equal(log_rig_missing(r), mode == COMPATIBLE ? lost : 0);
    if (mode == COMPATIBLE && lost == 1) {
        uint32_t left = 4080 - (used - last);
        assert_int_equal(r->host->torn_headers, left < 12);
        assert_int_equal(r->host->torn_records, left >= 12);
    }
    log_rig_free(r);
}

static void staged_4096_for_4080_is_cut_inside_a_record(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        backlog(mode, 4079, 100, 0);
        backlog(mode, 4080, 100, 0);
        backlog(mode, 4081, 100, 1);
        backlog(mode, 4096, 100, 1);
        for (uint32_t last = 17; last <= 40; last++) /* down to one byte of header */
            backlog(mode, 4096, last, 1);
    }
}

static void a_long_text_late_in_the_staging_is_cut_too(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4096, 4096);
        assert_true(log_rig_attach(r));
        log_rig_stage(r, 3828);
        assert_true(log_rig_log(r, 255)); /* 268 bytes: 4096, and the host is ready all the time */
        log_rig_drain(r);
        assert_true(log_rig_log(r, 3));
        log_rig_drain(r);
        assert_int_equal(log_rig_missing(r), mode == COMPATIBLE);
        assert_int_equal(r->host->torn_records, mode == COMPATIBLE);
        log_rig_free(r);
    }
}

static void owner_1_loses_the_whole_batch_or_none(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        assert_true(log_rig_attach(r));
        assert_true(log_rig_log(r, 10));
        assert_true(tlog_producer_tick(&r->producer));
        for (unsigned i = 0; i < 7; i++)
            assert_true(log_rig_log(r, 10));
        r->host->store_count = 0;
        assert_false(tlog_producer_tick(&r->producer)); /* the timer, and the host is slow */
        assert_int_equal(r->host->store_count, 0);
        assert_int_equal(r->producer.used, mode == COMPATIBLE ? 0 : 7 * 23);
        assert_true(host_take(r->host));
        assert_true(log_rig_log(r, 10));
        log_rig_drain(r);
        assert_int_equal(log_rig_missing(r), mode == COMPATIBLE ? 7 : 0);
        assert_int_equal(r->producer.counts.dropped, mode == COMPATIBLE ? 7 : 0);
        log_rig_free(r);
    }
}

static void owners_2_to_255_count_as_free(void **state)
{
    (void)state;
    for (unsigned owner = 2; owner <= 255; owner++) {
        for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
            struct log_rig *r = log_rig_new(mode, 4112, 4096);
            assert_true(log_rig_attach(r));
            assert_true(log_rig_log(r, 10));
            host_set_owner(r->host, (uint8_t)owner);
            assert_int_equal(tlog_producer_tick(&r->producer), mode == COMPATIBLE);
            assert_int_equal(host_word(r->host, 12), mode == COMPATIBLE ? 1 : owner);
            log_rig_drain(r);
            log_rig_free(r);
        }
    }
}

static void a_destroyed_magic_loses_every_batch_until_setup(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 0xFFFFFFFF, 0x474F4C54};
    for (unsigned n = 0; n < 3; n++) {
        for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
            struct log_rig *r = log_rig_new(mode, 4112, 4096);
            assert_true(log_rig_attach(r));
            host_set_word(r->host, 8, wrong[n]);
            r->host->store_count = 0;
            for (unsigned i = 0; i < 4; i++) {
                assert_true(log_rig_log(r, 20));
                assert_false(tlog_producer_tick(&r->producer));
                assert_int_equal(r->producer.used, mode == COMPATIBLE ? 0 : 33 * (i + 1));
            }
            assert_int_equal(r->host->store_count, 0);
            assert_int_equal(r->producer.counts.bad_magic, 4);
            assert_true(log_rig_attach(r));
            assert_true(log_rig_log(r, 20));
            log_rig_drain(r);
            assert_int_equal(log_rig_missing(r), mode == COMPATIBLE ? 4 : 0);
            log_rig_free(r);
        }
    }
}

static void the_hand_off_clears_the_version(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        r->producer.version = 3;
        assert_true(log_rig_attach(r));
        assert_int_equal(host_word(r->host, 12), 0x300);
        assert_true(log_rig_log(r, 1));
        assert_true(tlog_producer_tick(&r->producer));
        assert_int_equal(host_word(r->host, 12), mode == COMPATIBLE ? 1 : 0x301);
        log_rig_drain(r);
        log_rig_free(r);
    }
}

static uint32_t bytes_past_the_end(const struct host_buffer *h)
{
    uint32_t n = 0;
    for (uint32_t i = HOST_GUARD + h->size; i < sizeof(h->memory); i++)
        n += h->memory[i] != 0xA5;
    return n;
}

static void a_full_batch_runs_over_only_into_declared_slack(void **state)
{
    (void)state;
    static const struct {
        uint32_t size, past;
    } cases[] = {{29, 3}, {30, 2}, {31, 1}, {32, 0}, {33, 3}, {4093, 3}, {4094, 2}, {4095, 1}, {4096, 0}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (uint8_t slack = 0; slack <= 3; slack++) {
            struct log_rig *r = log_rig_new(COMPATIBLE, cases[i].size, 4096);
            uint32_t size = cases[i].size, whole = size & ~3u;
            r->producer.slack = slack;
            r->host->slack = slack;
            log_rig_stage(r, 4096);
            assert_true(log_rig_attach(r));
            assert_true(tlog_producer_tick(&r->producer));
            bool over = cases[i].past <= slack;
            assert_int_equal(host_word(r->host, 0), over ? size : whole);
            assert_int_equal(bytes_past_the_end(r->host), over ? cases[i].past : 0);
            log_rig_drain(r);
            log_rig_free(r);
        }
        struct log_rig *r = log_rig_new(CAREFUL, cases[i].size, 4096);
        log_rig_stage(r, 4096);
        if (log_rig_attach(r)) {
            assert_true(tlog_producer_tick(&r->producer));
            assert_int_equal(bytes_past_the_end(r->host), 0);
            log_rig_drain(r);
        }
        log_rig_free(r);
    }
}

static void two_errors_in_a_burst(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        r->producer.flush_on_error = true;
        assert_true(log_rig_attach(r));
        assert_true(log_rig_log(r, 5));
        assert_int_equal(r->producer.counts.batches, 0);
        assert_true(log_rig_error(r, "first"));
        assert_int_equal(r->producer.counts.batches, 1);
        assert_true(log_rig_error(r, "second"));
        assert_int_equal(r->producer.used, mode == COMPATIBLE ? 0 : 19);
        log_rig_drain(r);
        assert_string_equal(host_text(r->host, r->host->record_count - 1),
                            mode == COMPATIBLE ? "first" : "second");
        assert_int_equal(r->producer.counts.dropped, mode == COMPATIBLE);
        log_rig_free(r);
    }
}

static void every_kind_of_loss_uses_its_sequence_numbers(void **state)
{
    (void)state;
    struct log_rig *r = log_rig_new(COMPATIBLE, 4096, 4096);
    tlog_producer_lost(&r->producer, 2); /* lock not obtained, twice: 0 and 1 */
    log_rig_stage(r, 4096 - 20);
    assert_true(log_rig_log(r, 7)); /* full */
    uint32_t staged = r->producer.sequence;
    assert_false(log_rig_log(r, 0)); /* no space */
    assert_false(log_rig_log(r, 0));
    assert_false(log_rig_log(r, 0));
    assert_int_equal(r->producer.sequence, staged + 3);
    assert_true(log_rig_attach(r));
    assert_true(tlog_producer_tick(&r->producer)); /* the last record is torn */
    assert_true(log_rig_log(r, 0));
    assert_false(tlog_producer_tick(&r->producer)); /* the host is slow: batch of one */
    assert_true(host_take(r->host));
    assert_int_equal(r->host->record_count, staged - 2 - 1);
    assert_int_equal(r->host->records[0].sequence, 2);
    assert_true(log_rig_log(r, 0));
    log_rig_drain(r);
    assert_int_equal(r->host->records[r->host->record_count - 1].sequence, staged + 4);
    assert_int_equal(log_rig_missing(r), 2 + 3 + 1 + 1);
    log_rig_free(r);
}

static void boot_keeps_the_oldest_4_kib(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        for (uint32_t i = 0; i < 100; i++) {
            r->host->now = i;
            log_rig_log(r, 50);
        }
        r->host->now = 5000;
        assert_true(log_rig_attach(r));
        log_rig_drain(r);
        /* 65 of 63 bytes are 4095: no room for the 66th, and a last byte that stays free. */
        assert_int_equal(r->host->records[64].sequence, 64);
        assert_int_equal(r->host->records[64].timestamp, 64);
        assert_int_equal(r->producer.counts.dropped, 35);
        if (mode == CAREFUL)
            assert_string_equal(host_text(r->host, 65), "35 messages dropped");
        assert_int_equal(r->host->record_count, mode == CAREFUL ? 66 : 65);
        log_rig_free(r);
    }
}

static void release_keeps_what_is_staged_for_the_next_host(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        assert_true(log_rig_attach(r));
        assert_true(log_rig_log(r, 5));
        tlog_producer_detach(&r->producer);
        tlog_producer_detach(&r->producer);
        assert_false(tlog_producer_tick(&r->producer));
        assert_true(log_rig_log(r, 6));
        assert_true(log_rig_attach(r));
        assert_true(log_rig_attach(r));
        log_rig_drain(r);
        assert_int_equal(r->host->record_count, 2);
        log_rig_free(r);
    }
}

static void small_staging_sizes(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 300; size++) {
        struct log_rig *r = log_rig_new(COMPATIBLE, 4112, size);
        assert_true(log_rig_attach(r));
        assert_int_equal(log_rig_log(r, 40), size >= 13);
        uint32_t batches = r->producer.counts.batches;
        assert_int_equal(log_rig_log(r, 40), size >= 13);
        /* Below 268 each record goes out before the next. */
        assert_int_equal(r->producer.counts.batches - batches, size >= 13 && size < 268 + 53);
        log_rig_drain(r);
        log_rig_free(r);
    }
}

static void a_slow_host_costs_the_careful_mode_nothing(void **state)
{
    (void)state;
    /* Ten lines a tick for a hundred ticks; the host takes a batch only at every third. */
    uint32_t missing[2];
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        assert_true(log_rig_attach(r));
        for (unsigned tick = 0; tick < 100; tick++) {
            for (unsigned i = 0; i < 10; i++)
                log_rig_log(r, 60);
            if (tick % 3 == 2)
                host_take(r->host);
            tlog_producer_tick(&r->producer);
        }
        log_rig_drain(r);
        missing[mode] = log_rig_missing(r);
        assert_int_equal(r->producer.counts.dropped, missing[mode]);
        log_rig_free(r);
    }
    assert_int_equal(missing[CAREFUL], 0);
    assert_true(missing[COMPATIBLE] > 500);
}

static void panic_flushes_once_or_to_the_end(void **state)
{
    (void)state;
    for (unsigned mode = CAREFUL; mode <= COMPATIBLE; mode++) {
        struct log_rig *r = log_rig_new(mode, 4112, 4096);
        r->producer.panic_polls = 100;
        assert_true(log_rig_attach(r));
        assert_true(log_rig_log(r, 20));
        tlog_producer_panic(&r->producer);
        if (mode == CAREFUL)
            assert_true(tlog_producer_tick(&r->producer));
        assert_int_equal(host_word(r->host, 12), 1);
        assert_int_equal(r->producer.used, 0);
        r->host->answer_after = 50; /* and gives the buffer back a little later */
        assert_true(log_rig_error(r, "fault: the reason"));
        r->host->answer_after = 50;
        assert_true(log_rig_error(r, "halting"));
        assert_int_equal(log_rig_staged(r), mode == COMPATIBLE ? 2 : 0);
        host_take(r->host);
        assert_int_equal(r->host->record_count, mode == COMPATIBLE ? 1 : 3);
        if (mode == CAREFUL)
            assert_string_equal(host_text(r->host, 2), "halting");
        log_rig_free(r);
    }
}

static void panic_without_a_host_keeps_the_last_lines(void **state)
{
    (void)state;
    for (unsigned busy = 0; busy < 2; busy++) {
        struct log_rig *r = log_rig_new(CAREFUL, 4112, 1000);
        r->producer.panic_polls = 100;
        if (busy) {
            assert_true(log_rig_attach(r));
            assert_true(log_rig_log(r, 3));
            assert_true(tlog_producer_tick(&r->producer));
        }
        while (log_rig_log(r, 60))
            ;
        tlog_producer_panic(&r->producer);
        char line[] = "last words 00";
        for (unsigned i = 0; i < 50; i++) {
            line[11] = (char)('0' + i / 10);
            line[12] = (char)('0' + i % 10);
            assert_true(log_rig_error(r, line));
        }
        assert_true(log_rig_log(r, 2000)); /* longer than all of the staging: cut, not refused */
        assert_true(log_rig_error(r, "the very last"));
        uint32_t reads = r->producer.counts.busy;
        if (busy)
            assert_in_range(reads, 101, 60 * 102); /* bounded */
        else
            assert_true(log_rig_attach(r));
        log_rig_drain(r);
        const struct tlog_producer_counts *c = &r->producer.counts;
        uint32_t last = r->host->record_count - 1;
        while (strstr(host_text(r->host, last), " messages dropped"))
            last--;
        assert_string_equal(host_text(r->host, last), "the very last");
        assert_int_equal(log_rig_missing(r), c->dropped);
        assert_true(c->dropped > 0);
        log_rig_free(r);
    }
}

/* A fault at any store of a flush, or where the interrupt is raised: what follows is whole, each record comes
 * once, and the last line comes out. */
static void panic_out_of_the_middle_of_a_flush(void **state)
{
    (void)state;
    for (volatile uint32_t at = 0; at < 80; at++) {
        struct log_rig *volatile r = log_rig_new(CAREFUL, 4112, 4096);
        jmp_buf fault;
        r->producer.panic_polls = 10;
        assert_true(log_rig_attach(r));
        for (unsigned i = 0; i < 5; i++)
            assert_true(log_rig_log(r, 40));
        r->host->fault = &fault;
        r->host->fault_at = at;
        r->host->fault_at_interrupt = at == 0;
        if (setjmp(fault) == 0)
            tlog_producer_tick(&r->producer);
        r->host->fault = NULL;
        r->host->answer_after = 2;
        tlog_producer_panic(&r->producer);
        r->host->answer_after = 2;
        assert_true(log_rig_error(r, "fault"));
        log_rig_drain(r);
        assert_int_equal(r->host->record_count, 6);
        assert_int_equal(log_rig_missing(r), 0);
        assert_string_equal(host_text(r->host, 5), "fault");
        log_rig_free(r);
    }
}

static void panic_over_a_broken_staging_sends_what_is_whole(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 1, 12, 54, 0xFFFF};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct log_rig *r = log_rig_new(CAREFUL, 4112, 4096);
        assert_true(log_rig_attach(r));
        for (unsigned k = 0; k < 3; k++)
            assert_true(log_rig_log(r, 40));
        r->staging[2 * 53] = (uint8_t)sizes[i]; /* the third record's size */
        r->staging[2 * 53 + 1] = (uint8_t)(sizes[i] >> 8);
        tlog_producer_panic(&r->producer);
        assert_true(log_rig_error(r, "fault")); /* in one batch with what was staged */
        assert_int_equal(r->producer.counts.batches, 1);
        assert_true(host_take(r->host));
        assert_int_equal(r->host->record_count, 3);
        assert_string_equal(host_text(r->host, 2), "fault");
        r->producer.counts.dropped++; /* the broken one; nothing could count it */
        log_rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setup_28_is_refused_and_29_accepted),
        cmocka_unit_test(near_capacity_is_3829),
        cmocka_unit_test(no_room_is_4084),
        cmocka_unit_test(the_longest_text_leaves_exactly_the_nul),
        cmocka_unit_test(staged_4096_for_4080_is_cut_inside_a_record),
        cmocka_unit_test(a_long_text_late_in_the_staging_is_cut_too),
        cmocka_unit_test(owner_1_loses_the_whole_batch_or_none),
        cmocka_unit_test(owners_2_to_255_count_as_free),
        cmocka_unit_test(a_destroyed_magic_loses_every_batch_until_setup),
        cmocka_unit_test(the_hand_off_clears_the_version),
        cmocka_unit_test(a_full_batch_runs_over_only_into_declared_slack),
        cmocka_unit_test(two_errors_in_a_burst),
        cmocka_unit_test(every_kind_of_loss_uses_its_sequence_numbers),
        cmocka_unit_test(boot_keeps_the_oldest_4_kib),
        cmocka_unit_test(release_keeps_what_is_staged_for_the_next_host),
        cmocka_unit_test(small_staging_sizes),
        cmocka_unit_test(a_slow_host_costs_the_careful_mode_nothing),
        cmocka_unit_test(panic_flushes_once_or_to_the_end),
        cmocka_unit_test(panic_without_a_host_keeps_the_last_lines),
        cmocka_unit_test(panic_out_of_the_middle_of_a_flush),
        cmocka_unit_test(panic_over_a_broken_staging_sends_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
