/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline sink: read back as JSON and checked as a trace viewer would: lanes named, slices of a lane one
 * after the other and all closed, every loss shown, times exact to the nanosecond. */
#include "export_testing.h"

#include "export/export_sinks.h"

struct place {
    char folder[32];
    char path[64];
    struct sink *sink;
};

static struct place *start(void)
{
    struct place *p = calloc(1, sizeof(*p));
    struct diag d = DIAG_INIT;
    make_folder(p->folder);
    snprintf(p->path, sizeof(p->path), "%s/timeline.json", p->folder);
    p->sink = export_timeline_open(p->path, &d);
    assert_non_null(p->sink);
    return p;
}

static void submit(struct place *p, const struct event *e)
{
    assert_true(sink_submit(p->sink, e));
}

/* The core's lane number in the trace; fails when there is no such lane, or two. */
static json_int_t lane_of(const json_t *events, const char *name)
{
    size_t i;
    const json_t *e;
    json_int_t lane = -1;
    json_array_foreach(events, i, e)
    {
        const char *kind = json_string_value(json_object_get(e, "name"));
        if (strcmp(json_string_value(json_object_get(e, "ph")), "M") != 0 || strcmp(kind, "thread_name") != 0)
            continue;
        if (strcmp(json_string_value(json_object_get(json_object_get(e, "args"), "name")), name) == 0) {
            assert_int_equal(lane, -1);
            lane = json_integer_value(json_object_get(e, "tid"));
        }
    }
    if (lane < 0)
        fail_msg("no lane %s", name);
    return lane;
}

/* What holds for every trace. */
static void check_trace(const json_t *events)
{
    size_t i;
    const json_t *e;
    double last[300] = {0};
    double busy_until[300] = {0};
    json_array_foreach(events, i, e)
    {
        const char *phase = json_string_value(json_object_get(e, "ph"));
        assert_non_null(phase);
        assert_true(json_is_string(json_object_get(e, "name")));
        assert_int_equal(json_integer_value(json_object_get(e, "pid")), 1);
        json_int_t lane = json_integer_value(json_object_get(e, "tid"));
        assert_in_range(lane, 0, 299);
        if (strcmp(phase, "M") == 0)
            continue;
        const json_t *ts = json_object_get(e, "ts");
        assert_true(json_is_real(ts));
        assert_true(json_real_value(ts) >= last[lane]); /* in order of time within a lane */
        last[lane] = json_real_value(ts);
        if (strcmp(phase, "X") == 0) {
            double dur = json_real_value(json_object_get(e, "dur"));
            assert_true(json_is_real(json_object_get(e, "dur")) && dur >= 0);
            assert_true(json_real_value(ts) >= busy_until[lane] - 0.0005);
            busy_until[lane] = json_real_value(ts) + dur;
        } else {
            assert_string_equal(phase, "i");
            assert_non_null(strpbrk(json_string_value(json_object_get(e, "s")), "tpg"));
        }
    }
}

static json_t *finish(struct place *p, const json_t **events)
{
    struct diag d = DIAG_INIT;
    assert_int_equal(sink_free(p->sink, &d), CORRAL_OK);
    assert_int_equal(entries_in(p->folder), 1);
    json_t *root = read_json(p->path);
    *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(*events));
    check_trace(*events);
    remove_folder(p->folder, p->path);
    free(p);
    return root;
}

/* The n-th entry of a lane (by tid) and phase, or NULL. */
static const json_t *entry(const json_t *events, json_int_t lane, const char *phase, size_t n)
{
    size_t i;
    const json_t *e;
    json_array_foreach(events, i, e)
    {
        if (json_integer_value(json_object_get(e, "tid")) == lane &&
            strcmp(json_string_value(json_object_get(e, "ph")), phase) == 0 && n-- == 0)
            return e;
    }
    return NULL;
}

static void expect(const json_t *e, const char *name, double ts, double dur)
{
    assert_non_null(e);
    assert_string_equal(json_string_value(json_object_get(e, "name")), name);
    assert_float_equal(json_real_value(json_object_get(e, "ts")), ts, 0.0001);
    if (dur >= 0)
        assert_float_equal(json_real_value(json_object_get(e, "dur")), dur, 0.0001);
}

static const json_t *arg(const json_t *e, const char *key)
{
    const json_t *value = json_object_get(json_object_get(e, "args"), key);
    if (!value)
        fail_msg("no argument %s", key);
    return value;
}

static struct event group_event(enum event_kind kind, int64_t ns, enum core_state first,
                                enum core_state second)
{
    struct event e = event_make(kind, "group");
    e.host_ns = ns;
    e.halt.mechanism = GROUP_MECHANISM_CTI;
    e.halt.skew_ns = kind == EVENT_HALT ? 30 : EVENT_NO_TIME;
    e.halt.skew_error_ns = EVENT_NO_TIME;
    e.halt.core_count = 2;
    e.halt.cores[0] = (struct event_core){.name = "core0", .state = first};
    e.halt.cores[1] = (struct event_core){.name = "core1", .state = second};
    return e;
}

static void cores_run_and_halt_in_slices(void **state)
{
    (void)state;
    struct place *p = start();
    struct event e = group_event(EVENT_RUN, 1000001, CORE_RUNNING, CORE_RUNNING);
    e.halt.cores[0].restarted = true;
    submit(p, &e);
    e = group_event(EVENT_HALT, 2000002, CORE_HALTED, CORE_HALTED);
    e.halt.cores[0].reason = HALT_REASON_BREAKPOINT;
    e.halt.cores[0].first = true;
    e.halt.cores[0].pc_known = true;
    e.halt.cores[0].pc = 0x08000123;
    e.halt.cores[1].reason = HALT_REASON_CROSS_TRIGGER;
    submit(p, &e);
    e = group_event(EVENT_RUN, 3000000, CORE_RUNNING, CORE_HALTED); /* core1 stays: one slice goes on */
    submit(p, &e);
    e = group_event(EVENT_HALT, 4000000, CORE_UNKNOWN, CORE_LOCKUP);
    submit(p, &e);
    e = event_make(EVENT_MARKER, "demo");
    e.host_ns = 9000000;
    e.marker.text = "the end";
    submit(p, &e);
    const json_t *events;
    json_t *root = finish(p, &events);
    json_int_t core0 = lane_of(events, "core0");
    json_int_t core1 = lane_of(events, "core1");
    expect(entry(events, core0, "X", 0), "running", 1000.001, 1000.001);
    expect(entry(events, core0, "X", 1), "halted", 2000.002, 999.998);
    expect(entry(events, core0, "X", 2), "running", 3000, 1000);
    assert_null(entry(events, core0, "X", 3)); /* unknown is not drawn */
    expect(entry(events, core1, "X", 0), "running", 1000.001, 1000.001);
    expect(entry(events, core1, "X", 1), "halted", 2000.002, 1999.998);
    expect(entry(events, core1, "X", 2), "lockup", 4000, 5000); /* closed at the end of the trace */
    const json_t *halted = entry(events, core0, "X", 1);
    assert_string_equal(json_string_value(arg(halted, "reason")), "breakpoint");
    assert_string_equal(json_string_value(arg(halted, "mechanism")), "cti");
    assert_string_equal(json_string_value(arg(halted, "pc")), "0x08000123");
    assert_true(json_is_true(arg(halted, "first")));
    assert_int_equal(json_integer_value(arg(halted, "skew_ns")), 30);
    assert_string_equal(json_string_value(arg(entry(events, core1, "X", 1), "reason")), "cross-trigger");
    expect(entry(events, lane_of(events, "demo"), "i", 0), "the end", 9000, -1);
    json_decref(root);
}

static void states_reported_late_never_overlap(void **state)
{
    (void)state;
    struct place *p = start();
    static const int64_t times[] = {5000, 9000, 2000, 9500, 1000, 1000, 20000};
    for (size_t i = 0; i < COUNT(times); i++) {
        struct event e = i % 2 ? group_event(EVENT_HALT, times[i], CORE_HALTED, CORE_RESET)
                               : group_event(EVENT_RUN, times[i], CORE_RUNNING, CORE_RUNNING);
        submit(p, &e);
    }
    const json_t *events;
    json_t *root = finish(p, &events); /* check_trace has the assertion */
    json_int_t core0 = lane_of(events, "core0");
    assert_non_null(entry(events, core0, "X", COUNT(times) - 1));
    assert_null(entry(events, core0, "X", COUNT(times)));
    json_decref(root);
}

static void a_sink_that_saw_nothing_writes_a_valid_file(void **state)
{
    (void)state;
    const json_t *events;
    json_t *root = finish(start(), &events);
    assert_int_equal(json_array_size(events), 1); /* the process' name */
    json_decref(root);
}

static void log_lines_are_instants_in_order_of_time(void **state)
{
    (void)state;
    struct place *p = start();
    static const int64_t times[] = {5000000123, 4000000000, 4500000000};
    static const char *const texts[] = {"last \"quoted\" \\ back", "first \xC3\xA4\xE2\x82\xAC",
                                        "bad \xFF utf"};
    for (size_t i = 0; i < 3; i++) {
        struct event e = event_make(EVENT_LOG, "SMC");
        e.core = "core0";
        e.host_ns = times[i];
        e.log.level = (uint8_t)(i + 1);
        e.log.sequence = (uint32_t)i;
        e.log.text = texts[i];
        e.log.torn = i == 0;
        submit(p, &e);
    }
    const json_t *events;
    json_t *root = finish(p, &events);
    json_int_t core0 = lane_of(events, "core0");
    expect(entry(events, core0, "i", 0), "first \xC3\xA4\xE2\x82\xAC", 4000000, -1);
    expect(entry(events, core0, "i", 1), "bad \\xff utf", 4500000, -1);
    expect(entry(events, core0, "i", 2), "last \"quoted\" \\ back", 5000000.123, -1);
    const json_t *e = entry(events, core0, "i", 2);
    assert_string_equal(json_string_value(arg(e, "level")), "err");
    assert_string_equal(json_string_value(arg(e, "source")), "SMC");
    assert_int_equal(json_integer_value(arg(e, "sequence")), 0);
    assert_string_equal(json_string_value(arg(e, "text")), texts[0]);
    assert_true(json_is_true(arg(e, "torn")));
    json_decref(root);
}

static void times_are_exact_far_from_zero(void **state)
{
    (void)state;
    struct place *p = start();
    struct event e = event_make(EVENT_MARKER, "m");
    e.host_ns = 1700000000123456789;
    e.marker.text = "x";
    submit(p, &e);
    struct diag d = DIAG_INIT;
    assert_int_equal(sink_free(p->sink, &d), CORRAL_OK);
    char *text = read_whole(p->path);
    assert_non_null(strstr(text, "\"ts\":1700000000123456.789,"));
    free(text);
    remove_folder(p->folder, p->path);
    free(p);
}

static void every_loss_is_drawn(void **state)
{
    (void)state;
    struct place *p = start();
    struct event e = event_make(EVENT_GAP, "SMC");
    e.core = "core0";
    e.host_ns = 1000;
    e.gap.expected = 7;
    e.gap.sequence = 10;
    e.gap.lost = 3;
    e.gap.reason = "sequence";
    submit(p, &e);
    e.host_ns = EVENT_NO_TIME; /* when is not known; that it happened is */
    e.gap.lost = EVENT_LOST_UNKNOWN;
    e.gap.reason = "kernel";
    submit(p, &e);
    e = event_make(EVENT_RESTART, "SMC");
    e.core = "core0";
    e.host_ns = 2000;
    submit(p, &e);
    e = event_make(EVENT_ANOMALY, "SMC");
    e.core = "core0";
    e.host_ns = 3000;
    e.anomaly.reason = "msg-size";
    submit(p, &e);
    e = event_make(EVENT_REJECT, "192.0.2.2:40000");
    e.host_ns = 4000;
    e.reject.reason = "short";
    submit(p, &e);
    const json_t *events;
    json_t *root = finish(p, &events);
    json_int_t core0 = lane_of(events, "core0");
    expect(entry(events, core0, "i", 0), "lost 3", 1, -1);
    assert_int_equal(json_integer_value(arg(entry(events, core0, "i", 0), "lost")), 3);
    expect(entry(events, core0, "i", 1), "lost, nobody knows how many", 1, -1);
    assert_true(json_is_null(arg(entry(events, core0, "i", 1), "lost")));
    assert_string_equal(json_string_value(arg(entry(events, core0, "i", 1), "time")), "not known");
    expect(entry(events, core0, "i", 2), "restart", 2, -1);
    expect(entry(events, core0, "i", 3), "anomaly: msg-size", 3, -1);
    expect(entry(events, lane_of(events, "192.0.2.2:40000"), "i", 0), "rejected: short", 4, -1);
    json_decref(root);
}

static void a_profile_packet_is_one_instant_with_its_hottest_pc(void **state)
{
    (void)state;
    struct place *p = start();
    const struct profile_sample samples[] = {
        {.pc = 0x100, .active = 0}, /* idle: hot, but not running */
        {.pc = 0x100, .active = 0},
        {.pc = 0x100, .active = 0},
        {.pc = 0x08000200, .active = 1},
        {.pc = 0x08000200, .active = 1},
        {.pc = 0x08000300, .active = 2, .thread = 1},
        {.pc = 0x08000300, .active = 0xFFFF, .thread = 200}, /* no thread of any layout */
        {.pc = 0x08000300, .active = 0xFFFF, .thread = 200},
    };
    struct event e = event_make(EVENT_PROFILE, "127.0.0.1:5000");
    e.core = "core1";
    e.host_ns = 7000;
    e.profile.samples = samples;
    e.profile.sample_count = COUNT(samples);
    e.profile.header.seq = 12;
    submit(p, &e);
    e.host_ns = 8000;
    e.profile.samples = NULL;
    e.profile.sample_count = 0;
    submit(p, &e);
    const json_t *events;
    json_t *root = finish(p, &events);
    const json_t *one = entry(events, lane_of(events, "core1"), "i", 0);
    expect(one, "8 samples", 7, -1);
    assert_string_equal(json_string_value(arg(one, "hottest_pc")), "0x08000200");
    assert_int_equal(json_integer_value(arg(one, "hottest_count")), 2);
    assert_int_equal(json_integer_value(arg(one, "seq")), 12);
    const json_t *none = entry(events, lane_of(events, "core1"), "i", 1);
    expect(none, "0 samples", 8, -1);
    assert_null(json_object_get(json_object_get(none, "args"), "hottest_pc"));
    json_decref(root);
}

static void more_lanes_than_there_are_share_the_last(void **state)
{
    (void)state;
    struct place *p = start();
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof(name), "stream %d", i);
        struct event e = event_make(EVENT_MARKER, name);
        e.host_ns = i;
        e.marker.text = "m";
        submit(p, &e);
    }
    const json_t *events;
    json_t *root = finish(p, &events);
    json_int_t others = lane_of(events, "others");
    assert_non_null(entry(events, others, "i", 400 - 255 - 1));
    assert_null(entry(events, others, "i", 400 - 255));
    json_decref(root);
}

static void what_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(export_timeline_open("no-such-folder/t.json", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "no-such-folder/t.json"));
    struct sink *full = export_timeline_open("/dev/full", &d);
    assert_non_null(full); /* found out when it is written */
    assert_int_equal(sink_free(full, &d), CORRAL_ERR_IO);

    char folder[32];
    char path[64];
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/t.json", folder);
    assert_int_equal(mkdir(path, 0755), 0); /* a folder in the way */
    assert_null(export_timeline_open(path, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_int_equal(entries_in(folder), 1);
    assert_int_equal(rmdir(path), 0);

    struct sink *sink = export_timeline_open(path, &d);
    assert_non_null(sink);
    assert_int_equal(mkdir(path, 0755), 0); /* the same, after it was opened */
    assert_int_equal(sink_free(sink, &d), CORRAL_ERR_IO);
    assert_int_equal(entries_in(folder), 1); /* the temporary file is gone */
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_run_and_halt_in_slices),
        cmocka_unit_test(states_reported_late_never_overlap),
        cmocka_unit_test(a_sink_that_saw_nothing_writes_a_valid_file),
        cmocka_unit_test(log_lines_are_instants_in_order_of_time),
        cmocka_unit_test(times_are_exact_far_from_zero),
        cmocka_unit_test(every_loss_is_drawn),
        cmocka_unit_test(a_profile_packet_is_one_instant_with_its_hottest_pc),
        cmocka_unit_test(more_lanes_than_there_are_share_the_last),
        cmocka_unit_test(what_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
