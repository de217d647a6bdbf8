/* SPDX-License-Identifier: Apache-2.0 */
/* Events as text for people: the line of every kind, colour only where asked for, nothing hostile let
 * through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

static void expect_drawn(const struct event *e, bool colour, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    render_text_event(out, colour, e);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void expect_text(const struct event *e, const char *want)
{
    expect_drawn(e, false, want);
}

static void log_lines(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_LOG, "tlog:core0");
    e.core = "core0";
    e.host_ns = 1;
    e.target_ns = 3723004999999;
    e.log = (struct event_log){1, 0, false, 0, 0, "fan %s stalled"};
    expect_text(&e, "01:02:03.004 core0 SMC err fan %s stalled\n");
    expect_drawn(&e, true, "01:02:03.004 core0 \033[31mSMC err fan %s stalled\033[0m\n");
    e.target_ns = EVENT_NO_TIME;
    expect_text(&e, "@00:00:00.000 core0 SMC err fan %s stalled\n"); /* host time is marked */
    e.host_ns = EVENT_NO_TIME;
    e.core = NULL;
    e.log.level = 7;
    e.log.source = 9;
    e.log.torn = true;
    expect_text(&e, "tlog:core0 src9 lvl7 fan %s stalled [cut by the firmware]\n");
}

static void empty_record_prints_nothing(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_LOG, "tlog");
    e.log.text = "";
    expect_text(&e, "");
    expect_drawn(&e, true, "");
}

static void losses_are_loud(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_GAP, "tlog");
    e.gap = (struct event_gap){507, 924, 417, "sequence"};
    expect_text(&e, "tlog -- 417 records lost (expected 507, got 924) --\n");
    expect_drawn(&e, true, "tlog \033[1;31m-- 417 records lost (expected 507, got 924) --\033[0m\n");
    e.gap.lost = 1;
    e.stream = "prof:10.0.0.1:5000";
    expect_text(&e, "prof:10.0.0.1:5000 -- 1 packet lost (expected 507, got 924) --\n");
    e.gap.lost = EVENT_LOST_UNKNOWN;
    e.gap.reason = "kernel";
    e.stream = "tlog";
    expect_text(&e, "tlog -- records lost, nobody knows how many (expected 507, got 924) --\n");
    e.gap = (struct event_gap){0, 0, 12, "sink"};
    e.stream = "text";
    expect_text(&e, "text -- 12 events lost on the way to this output --\n");
    e = event_make(EVENT_RESTART, "tlog");
    e.restart = (struct event_restart){5506, 3};
    expect_text(&e, "tlog -- restarted (sequence 5506, then 3) --\n");
}

static void anomaly_and_batch(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_ANOMALY, "tlog");
    e.anomaly = (struct event_anomaly){"write-offset", 0, 0xfffffff0u};
    expect_text(&e, "tlog anomaly: write-offset 0xfffffff0 at offset 0\n");
    e = event_make(EVENT_BATCH, "tlog");
    e.batch = (struct event_batch){"evil\n\033[31m.bin", "ok", true, 9};
    expect_text(&e, "evil\\n\\x1b[31m.bin: ok, to be handed back, 9 bytes of a cut record header\n");
    e.batch = (struct event_batch){"x", "link-down", false, 0};
    expect_text(&e, "x: link-down, not to be handed back\n");
}

/* Who was first comes first. */
static void halt_and_run(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_HALT, "group");
    e.host_ns = 1000000000;
    e.halt.mechanism = GROUP_MECHANISM_CTI;
    e.halt.skew_ns = 30;
    e.halt.skew_error_ns = 10;
    e.halt.core_count = 3;
    e.halt.cores[0] =
        (struct event_core){.name = "core0", .state = CORE_HALTED, .reason = HALT_REASON_CROSS_TRIGGER};
    e.halt.cores[1] = (struct event_core){.name = "core1",
                                          .state = CORE_HALTED,
                                          .reason = HALT_REASON_BREAKPOINT,
                                          .first = true,
                                          .pc = 0x8000124,
                                          .pc_known = true};
    e.halt.cores[2] = (struct event_core){.name = "core2", .state = CORE_LOCKUP};
    expect_text(&e, "@00:00:01.000 halt: core1 stopped first: breakpoint at 0x08000124; core0 cross-trigger; "
                    "core2 lockup; skew 30 ns +-10 ns (cti)\n");
    e.halt.cores[0].first = true;
    expect_text(&e, "@00:00:01.000 halt: core0 cross-trigger; core1 breakpoint at 0x08000124; core2 lockup; "
                    "skew 30 ns +-10 ns (cti)\n");
    e = event_make(EVENT_RUN, "group");
    e.halt.mechanism = GROUP_MECHANISM_SOFTWARE;
    e.halt.core_count = 2;
    e.halt.cores[0] = (struct event_core){.name = "core0", .state = CORE_RUNNING, .restarted = true};
    e.halt.cores[1] = (struct event_core){.name = "core1", .state = CORE_HALTED};
    expect_text(&e, "run: core0 running; core1 halted (not seen to restart) (software)\n");
    e.halt.cores[1].state = CORE_RUNNING;
    expect_text(&e, "run: core0 running; core1 running (ran already) (software)\n");
    e.halt.mechanism = GROUP_MECHANISM_NONE;
    e.halt.cores[0] = (struct event_core){.name = "core0", .state = CORE_RUNNING};
    e.halt.cores[1] = (struct event_core){.name = "core1", .state = CORE_RESET};
    expect_text(&e, "run: core0 running; core1 reset (nothing to start: no core was halted)\n");
}

static void packets(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_PROFILE, "prof");
    e.profile.version = 17;
    e.profile.header.seq = 77;
    e.profile.header.clock_hz = 250000000;
    e.profile.bad_samples = 1;
    e.profile.trailing = 3;
    expect_text(
        &e, "prof profile v17 seq 77: 0 samples, 1 refused, 250.000 MHz, 3 bytes behind the last sample\n");
    e = event_make(EVENT_COUNTERS, "prof");
    e.counters.count = 16;
    e.counters.truncated = 1;
    expect_text(&e, "prof profile counters: 16 values, 1 cut off\n");
    e = event_make(EVENT_MAPS, "prof");
    e.maps.count = 3;
    e.maps.page_shift = 12;
    e.maps.bad_entries = 2;
    expect_text(&e, "prof profile maps v17: 3 entries, pages of 4096 bytes, 2 refused\n");
    e.maps.page_shift = UINT32_MAX; /* hostile numbers shift nothing out of range */
    expect_text(&e, "prof profile maps v17: 3 entries, pages of 9223372036854775808 bytes, 2 refused\n");
    e = event_make(EVENT_REJECT, "prof");
    e.reject = (struct profile_reject){"version", 5, 5, 99};
    expect_text(&e, "prof refused a packet of 99 bytes: version, version 5\n");
    e.reject = (struct profile_reject){"magic", -1, 5, 99};
    expect_text(&e, "prof refused a packet of 99 bytes: magic, 0x0005\n");
}

static void other_kinds(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_CLOCK, "clock");
    e.clock = (struct event_clock){"core0", 42};
    expect_text(&e, "clock clock core0: 42 ns\n");
    e = event_make(EVENT_LINK, "link");
    e.link = (struct event_link){"down", "gone\nforged"};
    expect_text(&e, "link link down: gone\\nforged\n");
    e.link = (struct event_link){"up", NULL};
    expect_text(&e, "link link up\n");
    e = event_make(EVENT_MARKER, "user");
    e.marker.text = "here\xE2\x80\xAE";
    expect_text(&e, "# here\\xe2\\x80\\xae\n");
    e = event_make(EVENT_ACCESS, "sequence");
    e.access = (struct event_access){true, "mem", 1, 0x20000000, 4, 0xff};
    expect_text(&e, "sequence write mem ap 1 0x20000000 size 4: 0xff\n");
}

static void the_sink_draws_and_reports_errors(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct event e = event_make(EVENT_MARKER, "user");
    e.marker.text = "one";
    FILE *out = open_memstream(&text, &size);
    struct sink *sink = render_text_sink(out, false);
    assert_non_null(sink);
    assert_true(sink_submit(sink, &e));
    assert_int_equal(sink_free(sink, NULL), CORRAL_OK);
    fclose(out); /* stayed the caller's */
    assert_string_equal(text, "# one\n");
    free(text);

    struct diag d = DIAG_INIT;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    sink = render_text_sink(full, false);
    sink_submit(sink, &e);
    sink_drain(sink, 10, NULL);
    assert_int_equal(sink_free(sink, &d), CORRAL_ERR_IO);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_lines),       cmocka_unit_test(empty_record_prints_nothing),
        cmocka_unit_test(losses_are_loud), cmocka_unit_test(anomaly_and_batch),
        cmocka_unit_test(halt_and_run),    cmocka_unit_test(packets),
        cmocka_unit_test(other_kinds),     cmocka_unit_test(the_sink_draws_and_reports_errors),
    };
    return cmocka_run_group_tests_name("render_text", tests, NULL, NULL);
}
