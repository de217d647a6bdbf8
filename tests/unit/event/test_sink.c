/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks and the bus: order, bounded queues, the gap a full queue leaves, errors, several threads (sink.h). */
#include "event/sink.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOTES_MAX 20000

/* What a sink was asked to draw: a marker's number, or a gap. */
struct notes {
    struct {
        bool gap;
        uint32_t number; /* restart.sequence of the event, or gap.expected */
        uint32_t upto;   /* gap.sequence */
        int64_t lost;
    } list[NOTES_MAX];
    size_t count;
    unsigned flushed;
    unsigned *closed; /* the notes may be looked at after the sink is gone */
    uint32_t fail_at; /* number whose write fails; 0 = none */
};

static enum corral_err notes_write(void *ctx, const struct event *e, struct diag *d)
{
    struct notes *n = ctx;
    assert_true(n->count < NOTES_MAX);
    n->list[n->count].gap = e->kind == EVENT_GAP;
    if (e->kind == EVENT_GAP) {
        assert_string_equal(e->stream, "notes");
        assert_string_equal(e->gap.reason, "sink");
        n->list[n->count].number = e->gap.expected;
        n->list[n->count].upto = e->gap.sequence;
        n->list[n->count].lost = e->gap.lost;
    } else {
        n->list[n->count].number = e->restart.sequence;
    }
    n->count++;
    if (n->fail_at && e->kind != EVENT_GAP && e->restart.sequence >= n->fail_at)
        return diag_set(d, CORRAL_ERR_IO, "no %u", (unsigned)e->restart.sequence);
    return CORRAL_OK;
}

static enum corral_err notes_flush(void *ctx, struct diag *d)
{
    struct notes *n = ctx;
    (void)d;
    n->flushed++;
    return CORRAL_OK;
}

static enum corral_err notes_close(void *ctx, struct diag *d)
{
    struct notes *n = ctx;
    (void)d;
    if (n->closed)
        (*n->closed)++;
    return CORRAL_OK;
}

static const struct sink_ops notes_ops = {"notes", notes_write, notes_flush, notes_close};

static struct event numbered(uint32_t number)
{
    struct event e = event_make(EVENT_RESTART, "source");
    e.restart.sequence = number;
    return e;
}

static struct notes *new_notes(void)
{
    struct notes *n = calloc(1, sizeof(*n));
    assert_non_null(n);
    return n;
}

static void order_is_kept_while_the_queue_grows_and_turns(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct sink *s = sink_new(&notes_ops, n, 1000);
    uint32_t next = 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 97; i++) {
            struct event e = numbered(next++);
            assert_true(sink_submit(s, &e));
        }
        assert_int_equal(sink_drain(s, 80, NULL), CORRAL_OK);
    }
    assert_int_equal(sink_pending(s), 50 * 17);
    assert_int_equal(sink_free(s, NULL), CORRAL_OK); /* draws the rest */
    assert_int_equal(n->count, 50 * 97);
    for (uint32_t i = 0; i < n->count; i++)
        assert_true(!n->list[i].gap && n->list[i].number == i + 1);
    assert_int_equal(n->flushed, 1);
    free(n);
}

static void overflow_is_a_gap_before_the_next_event_that_fits(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct sink *s = sink_new(&notes_ops, n, 4);
    for (uint32_t i = 0; i < 10; i++) {
        struct event e = numbered(i);
        assert_int_equal(sink_submit(s, &e), i < 4);
    }
    assert_int_equal(sink_dropped(s), 6);
    assert_int_equal(sink_drain(s, 1, NULL), CORRAL_OK);
    struct event e = numbered(10);
    assert_true(sink_submit(s, &e));
    assert_int_equal(sink_drain(s, 100, NULL), CORRAL_OK);
    assert_int_equal(n->count, 6);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(!n->list[i].gap && n->list[i].number == i);
    assert_true(n->list[4].gap);
    assert_int_equal(n->list[4].lost, 6);
    assert_int_equal(n->list[4].number, 4);
    assert_int_equal(n->list[4].upto, 10);
    assert_int_equal(n->list[5].number, 10);
    /* said once */
    e = numbered(11);
    sink_submit(s, &e);
    sink_drain(s, 100, NULL);
    assert_int_equal(n->count, 7);
    assert_int_equal(sink_dropped(s), 6);
    sink_free(s, NULL);
    free(n);
}

static void a_loss_with_nothing_behind_it_is_drawn_too(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct sink *s = sink_new(&notes_ops, n, 2);
    for (uint32_t i = 0; i < 5; i++) {
        struct event e = numbered(i);
        sink_submit(s, &e);
    }
    assert_int_equal(sink_pending(s), 3); /* two events and the gap */
    sink_free(s, NULL);
    assert_int_equal(n->count, 3);
    assert_true(n->list[2].gap);
    assert_int_equal(n->list[2].lost, 3);
    free(n);
}

static void a_failing_write_is_returned_and_later_events_still_offered(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct diag d = DIAG_INIT;
    struct sink *s = sink_new(&notes_ops, n, 100);
    n->fail_at = 3;
    for (uint32_t i = 1; i <= 5; i++) {
        struct event e = numbered(i);
        sink_submit(s, &e);
    }
    assert_int_equal(sink_drain(s, 100, &d), CORRAL_ERR_IO);
    assert_string_equal(d.message, "no 3"); /* the first */
    assert_int_equal(n->count, 5);
    assert_int_equal(sink_free(s, &d), CORRAL_OK);
    assert_int_equal(sink_free(NULL, NULL), CORRAL_OK);
    free(n);
}

static void count_wakes(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void the_bus_feeds_all_sinks_and_wakes(void **state)
{
    (void)state;
    struct notes *n[3];
    unsigned wakes = 0, closed = 0;
    struct event_bus *bus = event_bus_new();
    event_bus_on_publish(bus, count_wakes, &wakes);
    for (size_t i = 0; i < 3; i++) {
        n[i] = new_notes();
        n[i]->closed = &closed;
        assert_int_equal(event_bus_attach(bus, sink_new(&notes_ops, n[i], i ? 100 : 1), NULL), CORRAL_OK);
    }
    for (uint32_t i = 0; i < 5; i++) {
        struct event e = numbered(i);
        event_bus_publish(bus, &e);
    }
    assert_int_equal(wakes, 5);
    assert_int_equal(event_bus_dropped(bus), 4); /* of the first sink only: it holds up nobody else */
    assert_int_equal(event_bus_drain(bus, NULL), CORRAL_OK);
    assert_int_equal(n[0]->count, 2);
    assert_int_equal(n[1]->count, 5);
    assert_int_equal(event_bus_flush(bus, NULL), CORRAL_OK);
    assert_int_equal(n[2]->flushed, 1);
    event_bus_on_publish(bus, NULL, NULL);
    struct event e = numbered(9);
    event_bus_publish(bus, &e);
    assert_int_equal(wakes, 5);
    assert_int_equal(event_bus_free(bus, NULL), CORRAL_OK);
    assert_int_equal(closed, 3);
    assert_int_equal(n[2]->list[5].number, 9);
    for (size_t i = 0; i < 3; i++)
        free(n[i]);
    assert_int_equal(event_bus_free(NULL, NULL), CORRAL_OK);
}

static void the_bus_has_a_limit_of_sinks(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct event_bus *bus = event_bus_new();
    struct diag d = DIAG_INIT;
    assert_int_equal(event_bus_attach(bus, NULL, &d), CORRAL_ERR_NO_MEMORY);
    enum corral_err err = CORRAL_OK;
    for (int i = 0; i < 1000 && err == CORRAL_OK; i++) {
        struct sink *s = sink_new(&notes_ops, n, 1);
        err = event_bus_attach(bus, s, &d);
        if (err != CORRAL_OK)
            sink_free(s, NULL); /* still the caller's */
    }
    assert_int_equal(err, CORRAL_ERR_LIMIT);
    event_bus_free(bus, NULL);
    free(n);
}

#define PER_THREAD 3000

struct writer {
    struct event_bus *bus;
    uint32_t from;
};

static void *publish_many(void *ctx)
{
    const struct writer *w = ctx;
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        struct event e = numbered(w->from + i);
        event_bus_publish(w->bus, &e);
    }
    return NULL;
}

/* Two threads publish while a third draws: each source's order is kept, and what is missing was counted. */
static void threads_keep_their_order_and_every_loss_is_counted(void **state)
{
    (void)state;
    struct notes *n = new_notes();
    struct event_bus *bus = event_bus_new();
    event_bus_attach(bus, sink_new(&notes_ops, n, 64), NULL);
    struct writer writers[2] = {{bus, 0}, {bus, 1u << 16}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, publish_many, &writers[i]), 0);
    for (int i = 0; i < 200; i++)
        event_bus_drain(bus, NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t dropped = event_bus_dropped(bus);
    event_bus_free(bus, NULL);
    uint64_t lost = 0, drawn = 0;
    uint32_t last[2] = {0, 0};
    for (size_t i = 0; i < n->count; i++) {
        if (n->list[i].gap) {
            lost += (uint64_t)n->list[i].lost;
            continue;
        }
        uint32_t who = n->list[i].number >> 16, number = (n->list[i].number & 0xffff) + 1;
        assert_true(number > last[who]);
        last[who] = number;
        drawn++;
    }
    assert_int_equal(lost, dropped);
    assert_int_equal(drawn + lost, 2 * PER_THREAD);
    free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_while_the_queue_grows_and_turns),
        cmocka_unit_test(overflow_is_a_gap_before_the_next_event_that_fits),
        cmocka_unit_test(a_loss_with_nothing_behind_it_is_drawn_too),
        cmocka_unit_test(a_failing_write_is_returned_and_later_events_still_offered),
        cmocka_unit_test(the_bus_feeds_all_sinks_and_wakes),
        cmocka_unit_test(the_bus_has_a_limit_of_sinks),
        cmocka_unit_test(threads_keep_their_order_and_every_loss_is_counted),
    };
    return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
