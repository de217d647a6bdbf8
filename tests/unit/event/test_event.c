/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, naming and cloning events. A clone must live on when everything the original pointed at is gone:
 * each test builds its payload on the heap, clones, overwrites and frees the original, and then looks.
 */
#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *heap_text(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    return copy;
}

/* Overwrite before freeing, so that a pointer kept by mistake shows without a sanitizer, too. */
static void burn(void *p, size_t size)
{
    memset(p, 0x5a, size);
    free(p);
}

static void burn_text(char *text)
{
    burn(text, strlen(text));
}

static void make_has_no_times_and_zero_payload(void **state)
{
    (void)state;
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        struct event e = event_make((enum event_kind)kind, "s");
        assert_int_equal(e.kind, kind);
        assert_string_equal(e.stream, "s");
        assert_null(e.core);
        assert_true(e.host_ns == EVENT_NO_TIME && e.target_ns == EVENT_NO_TIME);
    }
    struct event halt = event_make(EVENT_HALT, "g");
    assert_true(halt.halt.skew_ns == EVENT_NO_TIME && halt.halt.skew_error_ns == EVENT_NO_TIME);
    assert_int_equal(halt.halt.core_count, 0);
    assert_string_equal(event_make(EVENT_LOG, NULL).stream, "");
}

static void names(void **state)
{
    (void)state;
    static const char *const kinds[] = {"log",     "gap",      "restart", "anomaly", "batch",
                                        "profile", "counters", "maps",    "reject",  "halt",
                                        "run",     "clock",    "link",    "marker",  "access"};
    char buf[EVENT_LOG_NAME_MAX];
    for (int i = 0; i < EVENT_KIND_COUNT; i++)
        assert_string_equal(event_kind_name((enum event_kind)i), kinds[i]);
    assert_non_null(event_kind_name((enum event_kind)1000));
    static const char *const levels[] = {"raw", "err", "wrn", "inf", "dbg", "lvl5"};
    for (uint8_t i = 0; i < 6; i++)
        assert_string_equal(event_log_level_name(i, buf), levels[i]);
    assert_string_equal(event_log_level_name(255, buf), "lvl255");
    assert_string_equal(event_log_source_name(0, buf), "SMC");
    assert_string_equal(event_log_source_name(1, buf), "DMC");
    assert_string_equal(event_log_source_name(255, buf), "src255");
    assert_string_equal(core_state_name(CORE_LOCKUP), "lockup");
    assert_string_equal(core_state_name((enum core_state)99), "unknown");
    assert_string_equal(halt_reason_name(HALT_REASON_VECTOR_CATCH), "vector-catch");
    assert_string_equal(halt_reason_name(HALT_REASON_CROSS_TRIGGER), "cross-trigger");
    assert_string_equal(group_mechanism_name(GROUP_MECHANISM_CTI), "cti");
    assert_string_equal(group_mechanism_name((enum group_mechanism)99), "none");
    assert_string_equal(profile_layout_name(PROFILE_NSS), "nss");
}

static void clone_copies_stream_core_and_times(void **state)
{
    (void)state;
    char *stream = heap_text("tlog:core0"), *core = heap_text("core0");
    struct event e = event_make(EVENT_RESTART, stream);
    e.core = core;
    e.host_ns = 1;
    e.target_ns = -2;
    e.restart = (struct event_restart){7, 8};
    struct event *clone = event_clone(&e);
    burn_text(stream);
    burn_text(core);
    assert_non_null(clone);
    assert_string_equal(clone->stream, "tlog:core0");
    assert_string_equal(clone->core, "core0");
    assert_int_equal(clone->host_ns, 1);
    assert_int_equal(clone->target_ns, -2);
    assert_int_equal(clone->restart.previous, 7);
    assert_int_equal(clone->restart.sequence, 8);
    event_free(clone);
    event_free(NULL);
}

static void clone_of_each_kind_with_text(void **state)
{
    (void)state;
    char *text = heap_text("some text");
    struct event log = event_make(EVENT_LOG, "s"), batch = event_make(EVENT_BATCH, "s");
    struct event clock = event_make(EVENT_CLOCK, "s"), link = event_make(EVENT_LINK, "s");
    struct event marker = event_make(EVENT_MARKER, "s");
    log.log.text = text;
    log.log.sequence = 9;
    batch.batch.file = text;
    batch.batch.status = "ok";
    clock.clock.domain = text;
    clock.clock.domain_time = 5;
    link.link.state = "up";
    link.link.message = text;
    marker.marker.text = text;
    struct event *clones[] = {event_clone(&log), event_clone(&batch), event_clone(&clock), event_clone(&link),
                              event_clone(&marker)};
    burn_text(text);
    assert_string_equal(clones[0]->log.text, "some text");
    assert_int_equal(clones[0]->log.sequence, 9);
    assert_string_equal(clones[1]->batch.file, "some text");
    assert_string_equal(clones[1]->batch.status, "ok");
    assert_string_equal(clones[2]->clock.domain, "some text");
    assert_int_equal(clones[2]->clock.domain_time, 5);
    assert_string_equal(clones[3]->link.message, "some text");
    assert_string_equal(clones[3]->link.state, "up");
    assert_string_equal(clones[4]->marker.text, "some text");
    for (size_t i = 0; i < 5; i++)
        event_free(clones[i]);
}

static void clone_keeps_null_pointers_null(void **state)
{
    (void)state;
    for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        struct event e = event_make((enum event_kind)kind, "s");
        struct event *clone = event_clone(&e);
        assert_non_null(clone);
        assert_null(clone->core);
        event_free(clone);
    }
    struct event batch = event_make(EVENT_BATCH, "s");
    struct event *clone = event_clone(&batch);
    assert_null(clone->batch.file);
    event_free(clone);
}

static void clone_of_plain_kinds(void **state)
{
    (void)state;
    struct event gap = event_make(EVENT_GAP, "s"), anomaly = event_make(EVENT_ANOMALY, "s");
    struct event reject = event_make(EVENT_REJECT, "s"), access = event_make(EVENT_ACCESS, "s");
    gap.gap = (struct event_gap){1, 5, 4, "sequence"};
    anomaly.anomaly = (struct event_anomaly){"owner", 12, 2};
    reject.reject = (struct profile_reject){"magic", -1, 0x1234, 99};
    access.access = (struct event_access){true, "ap", 1, 0xfc, 4, 3};
    struct event *a = event_clone(&gap), *b = event_clone(&anomaly), *c = event_clone(&reject),
                 *d = event_clone(&access);
    assert_int_equal(a->gap.lost, 4);
    assert_string_equal(a->gap.reason, "sequence");
    assert_string_equal(b->anomaly.reason, "owner");
    assert_int_equal(b->anomaly.value, 2);
    assert_string_equal(c->reject.reason, "magic");
    assert_int_equal(c->reject.size, 99);
    assert_string_equal(d->access.space, "ap");
    assert_int_equal(d->access.address, 0xfc);
    event_free(a);
    event_free(b);
    event_free(c);
    event_free(d);
}

static void clone_of_a_profile(void **state)
{
    (void)state;
    struct profile_sample *samples = calloc(49, sizeof(*samples));
    assert_non_null(samples);
    struct event e = event_make(EVENT_PROFILE, "prof");
    for (uint32_t i = 0; i < 49; i++) {
        samples[i].pc = 0x40000000u + i;
        samples[i].parents[PROFILE_MAX_STACK_WORDS - 1] = i;
    }
    e.profile.version = 17;
    e.profile.header.seq = 77;
    e.profile.samples = samples;
    e.profile.sample_count = 49;
    struct event *clone = event_clone(&e);
    burn(samples, 49 * sizeof(*samples));
    assert_int_equal(clone->profile.header.seq, 77);
    assert_int_equal(clone->profile.sample_count, 49);
    assert_int_equal((uintptr_t)clone->profile.samples % _Alignof(struct profile_sample), 0);
    for (uint32_t i = 0; i < 49; i++) {
        assert_int_equal(clone->profile.samples[i].pc, 0x40000000u + i);
        assert_int_equal(clone->profile.samples[i].parents[PROFILE_MAX_STACK_WORDS - 1], i);
    }
    event_free(clone);
}

static void clone_of_counters_and_maps(void **state)
{
    (void)state;
    struct profile_counter *counters = calloc(3, sizeof(*counters));
    struct profile_map *maps = calloc(5, sizeof(*maps));
    assert_non_null(counters);
    assert_non_null(maps);
    strcpy(counters[2].name, "third");
    counters[2].value = 3;
    maps[4] = (struct profile_map){400, 3, 16};
    struct event a = event_make(EVENT_COUNTERS, "s"), b = event_make(EVENT_MAPS, "s");
    a.counters.counters = counters;
    a.counters.count = 3;
    b.maps.entries = maps;
    b.maps.count = 5;
    struct event *c = event_clone(&a), *m = event_clone(&b);
    burn(counters, 3 * sizeof(*counters));
    burn(maps, 5 * sizeof(*maps));
    assert_string_equal(c->counters.counters[2].name, "third");
    assert_int_equal(c->counters.counters[2].value, 3);
    assert_int_equal(m->maps.entries[4].start, 400);
    assert_int_equal(m->maps.entries[4].pages, 16);
    event_free(c);
    event_free(m);
}

static void clone_of_halt_and_run(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *name[EVENT_MAX_CORES];
        struct event e = event_make(i ? EVENT_RUN : EVENT_HALT, "group");
        e.halt.core_count = EVENT_MAX_CORES;
        for (size_t n = 0; n < EVENT_MAX_CORES; n++) {
            name[n] = heap_text("core0");
            name[n][4] = (char)('a' + n);
            e.halt.cores[n].name = name[n];
            e.halt.cores[n].pc = (uint32_t)n;
        }
        struct event *clone = event_clone(&e);
        for (size_t n = 0; n < EVENT_MAX_CORES; n++)
            burn_text(name[n]);
        for (size_t n = 0; n < EVENT_MAX_CORES; n++) {
            assert_int_equal(clone->halt.cores[n].name[4], 'a' + n);
            assert_int_equal(clone->halt.cores[n].pc, n);
        }
        event_free(clone);
    }
    /* A count that is too high is cut, not followed. */
    struct event e = event_make(EVENT_HALT, "group");
    e.halt.core_count = 1000;
    struct event *clone = event_clone(&e);
    assert_int_equal(clone->halt.core_count, EVENT_MAX_CORES);
    event_free(clone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(make_has_no_times_and_zero_payload),
        cmocka_unit_test(names),
        cmocka_unit_test(clone_copies_stream_core_and_times),
        cmocka_unit_test(clone_of_each_kind_with_text),
        cmocka_unit_test(clone_keeps_null_pointers_null),
        cmocka_unit_test(clone_of_plain_kinds),
        cmocka_unit_test(clone_of_a_profile),
        cmocka_unit_test(clone_of_counters_and_maps),
        cmocka_unit_test(clone_of_halt_and_run),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
