/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as JSON, kind by kind, the whole line: names, order, nulls and what is left out (INTERFACE.md
 * "Events (JSON lines)" and the null groups of "The profile, exactly").
 */
#include "event/event_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void expect_line(const struct event *e, const char *want)
{
    char *line = event_to_json_line(e);
    assert_non_null(line);
    assert_string_equal(line, want);
    free(line);
}

/* `key` of the event, as compact JSON. */
static void expect_field(const struct event *e, const char *key, const char *want)
{
    json_t *object = event_to_json(e);
    assert_non_null(object);
    json_t *value = json_object_get(object, key);
    if (!want) {
        assert_null(value);
    } else {
        assert_non_null(value);
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        assert_string_equal(text, want);
        free(text);
    }
    json_decref(object);
}

static void log_line(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_LOG, "tlog:core0");
    e.core = "core0";
    e.host_ns = 5000;
    e.target_ns = 1500000000;
    e.log = (struct event_log){3, 0, false, 1500, 7, "hello \"you\"\t\xC2\xB0"};
    expect_line(&e, "{\"kind\":\"log\",\"stream\":\"tlog:core0\",\"core\":\"core0\",\"host_ns\":5000,"
                    "\"target_ns\":1500000000,\"level\":\"inf\",\"source\":\"SMC\",\"timestamp\":1500,"
                    "\"sequence\":7,\"text\":\"hello \\\"you\\\"\\t\xC2\xB0\",\"torn\":false}");
    e = event_make(EVENT_LOG, "tlog");
    e.log = (struct event_log){255, 2, true, 0xffffffffu, 0xffffffffu, ""};
    expect_line(&e, "{\"kind\":\"log\",\"stream\":\"tlog\",\"level\":\"lvl255\",\"source\":\"src2\","
                    "\"timestamp\":4294967295,\"sequence\":4294967295,\"text\":\"\",\"torn\":true}");
}

static void gap_restart_anomaly_batch(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_GAP, "tlog");
    e.gap = (struct event_gap){507, 924, 417, "sequence"};
    expect_line(&e, "{\"kind\":\"gap\",\"stream\":\"tlog\",\"expected\":507,\"sequence\":924,\"lost\":417,"
                    "\"reason\":\"sequence\"}");
    e.gap.lost = EVENT_LOST_UNKNOWN;
    expect_field(&e, "lost", "null");
    e = event_make(EVENT_RESTART, "tlog");
    e.restart = (struct event_restart){5506, 3};
    expect_line(&e, "{\"kind\":\"restart\",\"stream\":\"tlog\",\"previous\":5506,\"sequence\":3}");
    e = event_make(EVENT_ANOMALY, "tlog");
    e.anomaly = (struct event_anomaly){"write-offset", 0, 0xfffffff0u};
    expect_line(&e, "{\"kind\":\"anomaly\",\"stream\":\"tlog\",\"reason\":\"write-offset\",\"offset\":0,"
                    "\"value\":4294967280}");
    e = event_make(EVENT_BATCH, "tlog");
    e.batch = (struct event_batch){"a\xff.bin", "bad-magic", true, 9};
    expect_line(&e,
                "{\"kind\":\"batch\",\"stream\":\"tlog\",\"file\":\"a\\\\xff.bin\",\"status\":\"bad-magic\","
                "\"release\":true,\"torn_header_bytes\":9}");
}

static void halt_and_run(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_HALT, "group");
    e.halt.mechanism = GROUP_MECHANISM_CTI;
    e.halt.core_count = 2;
    e.halt.cores[0] =
        (struct event_core){.name = "core0", .state = CORE_HALTED, .reason = HALT_REASON_CROSS_TRIGGER};
    e.halt.cores[1] = (struct event_core){.name = "core1",
                                          .state = CORE_HALTED,
                                          .reason = HALT_REASON_BREAKPOINT,
                                          .first = true,
                                          .pc = 0xfffffffeu,
                                          .pc_known = true};
    expect_line(&e, "{\"kind\":\"halt\",\"stream\":\"group\",\"mechanism\":\"cti\",\"skew_ns\":null,"
                    "\"skew_error_ns\":null,\"cores\":[{\"name\":\"core0\",\"state\":\"halted\","
                    "\"reason\":\"cross-trigger\",\"first\":false,\"pc\":null},{\"name\":\"core1\","
                    "\"state\":\"halted\",\"reason\":\"breakpoint\",\"first\":true,\"pc\":4294967294}]}");
    e.halt.skew_ns = -30;
    e.halt.skew_error_ns = 10;
    expect_field(&e, "skew_ns", "-30");
    expect_field(&e, "skew_error_ns", "10");
    e = event_make(EVENT_RUN, "group");
    e.halt.mechanism = GROUP_MECHANISM_SOFTWARE;
    e.halt.core_count = 1;
    e.halt.cores[0] = (struct event_core){.name = "core0", .state = CORE_RUNNING, .restarted = true};
    expect_line(
        &e,
        "{\"kind\":\"run\",\"stream\":\"group\",\"mechanism\":\"software\",\"cores\":[{\"name\":\"core0\","
        "\"state\":\"running\",\"restarted\":true}]}");
    e.halt.cores[0].reason = HALT_REASON_NONE;
    e.kind = EVENT_HALT;
    expect_field(&e, "cores",
                 "[{\"name\":\"core0\",\"state\":\"running\",\"reason\":null,\"first\":false,\"pc\":null}]");
}

static void clock_link_marker_access_reject(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_CLOCK, "clock");
    e.host_ns = 7;
    e.clock = (struct event_clock){"core0", 123456789012345};
    expect_line(&e, "{\"kind\":\"clock\",\"stream\":\"clock\",\"host_ns\":7,\"domain\":\"core0\","
                    "\"domain_time\":123456789012345}");
    e = event_make(EVENT_LINK, "link");
    e.link = (struct event_link){"down", "probe unplugged"};
    expect_line(&e,
                "{\"kind\":\"link\",\"stream\":\"link\",\"state\":\"down\",\"message\":\"probe unplugged\"}");
    e = event_make(EVENT_MARKER, "user");
    e.marker.text = "here";
    expect_line(&e, "{\"kind\":\"marker\",\"stream\":\"user\",\"text\":\"here\"}");
    e = event_make(EVENT_ACCESS, "sequence");
    e.access = (struct event_access){true, "ap", 1, 0xfc, 4, UINT32_MAX};
    expect_line(&e, "{\"kind\":\"access\",\"stream\":\"sequence\",\"op\":\"write\",\"space\":\"ap\",\"ap\":1,"
                    "\"address\":252,\"size\":4,\"value\":4294967295}");
    e = event_make(EVENT_REJECT, "prof");
    e.reject = (struct profile_reject){"magic", -1, 0, 3};
    expect_line(&e, "{\"kind\":\"reject\",\"stream\":\"prof\",\"reason\":\"magic\"}");
    e.reject.version = 0;
    expect_field(&e, "version", "0");
}

static void large_unsigned_values_keep_every_bit(void **state)
{
    (void)state;
    struct event e = event_make(EVENT_ACCESS, "sequence");
    e.access.space = "mem";
    e.access.address = UINT64_MAX;
    e.access.value = 0x86852D956209F392u;
    expect_line(&e, "{\"kind\":\"access\",\"stream\":\"sequence\",\"op\":\"read\",\"space\":\"mem\",\"ap\":0,"
                    "\"address\":18446744073709551615,\"size\":0,\"value\":9693203892603057042}");
}

static struct event profile(enum profile_layout layout, const struct profile_sample *samples, size_t count)
{
    struct event e = event_make(EVENT_PROFILE, "prof");
    e.profile.layout = layout;
    e.profile.version = layout == PROFILE_V17 ? 17 : 21;
    e.profile.header.thread_count = layout == PROFILE_V17 ? 16 : 12;
    e.profile.header.perf_counter_count = layout == PROFILE_V17 ? 4 : 8;
    e.profile.samples = samples;
    e.profile.sample_count = count;
    return e;
}

static void profile_v17_whole_line(void **state)
{
    (void)state;
    struct profile_sample s = {.pc = 4, .a5 = 5, .parent = 6, .latency = 7, .active = 8, .thread = 3};
    s.self_d_blocked = true;
    struct event e = profile(PROFILE_V17, &s, 1);
    struct profile_header *h = &e.profile.header;
    h->header_size = 252;
    h->sample_count = 2;
    h->seq = 77;
    h->clocks = 0xffffffffu;
    e.profile.bad_samples = 1;
    expect_line(
        &e,
        "{\"kind\":\"profile\",\"stream\":\"prof\",\"version\":17,\"layout\":\"v17\",\"magic\":16049,"
        "\"header_size\":252,\"seq\":77,\"clocks\":4294967295,\"clock_hz\":null,\"sample_count\":2,"
        "\"bad_samples\":1,\"trailing\":0,\"instruction_count\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"
        "\"profile_instructions\":0,\"enabled\":0,\"hrt\":0,\"high\":0,\"profiler_thread\":0,\"cpu_id\":0,"
        "\"ddr_hz\":null,\"heap_free\":null,\"heap_low_water\":null,\"netpage_free\":null,"
        "\"netpage_low_water\":null,\"min_sp\":null,\"timing_sequence\":null,\"timing_interval\":null,"
        "\"timing_worst_time\":null,\"timing_function\":null,\"timing_average\":null,\"timing_count\":null,"
        "\"extheap_free\":null,\"extheap_low_water\":null,\"extnetpage_free\":null,"
        "\"extnetpage_low_water\":null,\"dsr_max_latency\":null,\"dsr_ave_latency\":null,\"dsr_count\":null,"
        "\"perf_counters\":[0,0,0,0],\"perf_config\":null,\"samples\":[{\"pc\":4,\"thread\":3,\"active\":8,"
        "\"d_blocked\":0,\"i_blocked\":0,\"cond_codes\":0,\"self_d_blocked\":true,\"self_i_blocked\":false,"
        "\"a5\":5,\"parent\":6,\"latency\":7}]}");
}

/* One field of a group that is not zero, and the whole group is reported, zeros included; the others stay
 * null. */
static void profile_null_groups_one_by_one(void **state)
{
    (void)state;
    struct group {
        uint32_t *field;
        const char *set, *other, *other_group;
    };
    struct event e = profile(PROFILE_V17, NULL, 0);
    struct profile_header *h = &e.profile.header;
    const struct group groups[] = {
        {&h->heap_low_water, "heap_low_water", "heap_free", "extheap_free"},
        {&h->netpage_free, "netpage_free", "netpage_low_water", "extnetpage_free"},
        {&h->timing_count, "timing_count", "timing_sequence", "dsr_count"},
        {&h->extheap_free, "extheap_free", "extheap_low_water", "heap_free"},
        {&h->extnetpage_low_water, "extnetpage_low_water", "extnetpage_free", "netpage_free"},
        {&h->dsr_ave_latency, "dsr_ave_latency", "dsr_max_latency", "timing_average"},
    };
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        *groups[i].field = 9;
        expect_field(&e, groups[i].set, "9");
        expect_field(&e, groups[i].other, "0");
        expect_field(&e, groups[i].other_group, "null");
        *groups[i].field = 0;
    }
    h->min_sp[15] = 1;
    expect_field(&e, "min_sp", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]");
    h->perf_config[3] = 2;
    expect_field(&e, "perf_config", "[0,0,0,2]");
    h->clock_hz = 250000000;
    expect_field(&e, "clock_hz", "250000000");
    expect_field(&e, "ddr_hz", "null"); /* each alone */
}

static void profile_v21_and_nss_fields(void **state)
{
    (void)state;
    struct profile_sample s = {.pc = 1, .pid = 2, .a_reg = 3, .parent_count = 2, .parents = {10, 11, 12}};
    struct event e = profile(PROFILE_V21, &s, 1);
    static const char sample[] =
        "[{\"pc\":1,\"thread\":0,\"active\":0,\"d_blocked\":0,\"i_blocked\":0,\"cond_codes\":0,"
        "\"self_d_blocked\":false,\"self_i_blocked\":false,\"pid\":2,\"a_reg\":3,"
        "\"parents\":[10,11]}]";
    e.profile.header.sample_stack_words = 2;
    expect_field(&e, "samples", sample);
    expect_field(&e, "layout", "\"v21\"");
    expect_field(&e, "sample_stack_words", "2");
    expect_field(&e, "instruction_count", "[0,0,0,0,0,0,0,0,0,0,0,0]");
    expect_field(&e, "perf_counters", "[0,0,0,0,0,0,0,0]");
    expect_field(&e, "perf_config", "null");
    expect_field(&e, "heap_free", NULL);
    e = profile(PROFILE_NSS, &s, 1);
    e.profile.header.stats[7] = 5;
    e.profile.header.stat_select[1] = 6;
    e.profile.header.sets_map = 0x11111;
    e.profile.header.d_blocked = 33;
    expect_field(&e, "samples", sample);
    expect_field(&e, "layout", "\"nss\"");
    expect_field(&e, "stats", "[0,0,0,0,0,0,0,5]");
    expect_field(&e, "stat_select", "[0,6]");
    expect_field(&e, "sets_map", "69905");
    expect_field(&e, "d_blocked", "33");
    expect_field(&e, "i_blocked", "0");
    expect_field(&e, "sample_sets", "0");
    expect_field(&e, "perf_config", NULL);
    expect_field(&e, "perf_counters", NULL);
}

static void counters(void **state)
{
    (void)state;
    struct profile_counter list[2] = {{"counter 0", UINT32_MAX, false}, {"B\\x01\\xff", 8, true}};
    struct event e = event_make(EVENT_COUNTERS, "prof");
    e.counters = (struct profile_counters){list, 2, 1, 11, 12};
    expect_line(
        &e, "{\"kind\":\"counters\",\"stream\":\"prof\",\"count\":2,\"truncated\":1,\"ultra_sample_time\":11,"
            "\"linux_sample_time\":12,\"counters\":[{\"name\":\"counter 0\",\"value\":4294967295,"
            "\"side\":\"ultra\"},{\"name\":\"B\\\\x01\\\\xff\",\"value\":8,\"side\":\"linux\"}]}");
}

static void maps(void **state)
{
    (void)state;
    static const char *const v17[32] = {
        "unknown",         "free",           "small", "fs", [16] = "text", "stack", "app-data", "cache",
        [24] = "reserved", [31] = "reserved"};
    static const char *const v21[16] = {"free",        "small", "fs",        [4] = "unknown",
                                        "text",        "stack", "app-data",  "ashmem",
                                        "read-shared", "cache", "vma-waste", [15] = "reserved"};
    struct profile_map list[2] = {{100, 1, 16}, {65535, 19, 2047}};
    struct event e = event_make(EVENT_MAPS, "prof");
    e.maps = (struct profile_maps){false, 12, list, 2, 1, false};
    expect_line(
        &e, "{\"kind\":\"maps\",\"stream\":\"prof\",\"encoding\":\"v17\",\"page_shift\":12,\"count\":2,"
            "\"bad_entries\":1,\"entries\":[{\"start\":100,\"type\":\"free\",\"pages\":16},{\"start\":65535,"
            "\"type\":\"cache\",\"pages\":2047}]}");
    for (int encoding = 0; encoding < 2; encoding++)
        for (unsigned type = 0; type < (encoding ? 16u : 32u); type++) {
            const char *name = encoding ? v21[type] : type >= 24 ? "reserved" : v17[type];
            char want[80], number[16];
            if (!name) {
                snprintf(number, sizeof(number), "type %u", type);
                name = number;
            }
            list[0] = (struct profile_map){1, (uint8_t)type, 1};
            e.maps = (struct profile_maps){encoding != 0, 12, list, 1, 0, false};
            snprintf(want, sizeof(want), "[{\"start\":1,\"type\":\"%s\",\"pages\":1}]", name);
            expect_field(&e, "entries", want);
        }
}

/* A packet of the largest size takes well below a millisecond; a hundred times that is still not quadratic.
 */
static void large_packets_render_in_linear_time(void **state)
{
    (void)state;
    size_t sizes[2] = {1000, 16000};
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        struct profile_sample *samples = calloc(sizes[i], sizeof(*samples));
        assert_non_null(samples);
        struct event e = profile(PROFILE_V17, samples, sizes[i]);
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        char *line = event_to_json_line(&e);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        assert_non_null(line);
        seconds[i] = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        free(line);
        free(samples);
    }
    assert_true(seconds[1] < 16 * 6 * seconds[0] + 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_line),
        cmocka_unit_test(gap_restart_anomaly_batch),
        cmocka_unit_test(halt_and_run),
        cmocka_unit_test(clock_link_marker_access_reject),
        cmocka_unit_test(large_unsigned_values_keep_every_bit),
        cmocka_unit_test(profile_v17_whole_line),
        cmocka_unit_test(profile_null_groups_one_by_one),
        cmocka_unit_test(profile_v21_and_nss_fields),
        cmocka_unit_test(counters),
        cmocka_unit_test(maps),
        cmocka_unit_test(large_packets_render_in_linear_time),
    };
    return cmocka_run_group_tests_name("event_json", tests, NULL, NULL);
}
