/* SPDX-License-Identifier: Apache-2.0 */
/* Counting against a naive count, and grouping by function. */
#include "prof_testing.h"

#define SOURCES 3
#define PCS     40
#define CALLERS 3

static uint32_t next_random(uint32_t *x)
{
    *x = *x * 1664525 + 1013904223;
    return *x >> 8;
}

static void add(struct prof_aggregate *a, unsigned source, uint32_t pc, uint32_t caller, unsigned thread,
                bool active)
{
    struct profile_sample sample = {
        .pc = pc, .a5 = caller, .thread = (uint8_t)thread, .active = active ? 0xffff : 0};
    struct profile_packet packet = {.layout = PROFILE_V17, .samples = &sample, .sample_count = 1};

    prof_aggregate_packet(a, source, &packet, NULL);
}

static void hot_list_against_a_naive_count(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    assert_non_null(a);
    static uint64_t naive[SOURCES][PCS][CALLERS];
    uint64_t samples[SOURCES] = {0}, active[SOURCES] = {0};
    uint32_t x = 99;
    memset(naive, 0, sizeof(naive));
    for (unsigned i = 0; i < 200000; i++) {
        unsigned source = next_random(&x) % SOURCES;
        unsigned pc = next_random(&x) % PCS * (next_random(&x) % PCS) / PCS;
        unsigned caller = next_random(&x) % CALLERS;
        bool is_active = next_random(&x) % 5 != 0;
        add(a, source, 0x40000000 + 4 * pc, caller, next_random(&x) % 16, is_active);
        samples[source]++;
        active[source] += is_active;
        naive[source][pc][caller] += is_active;
    }
    size_t n = 0, distinct = 0;
    struct testing_hot *hot = testing_hot_list(a, &n);
    assert_non_null(hot);
    for (size_t i = 0; i < n; i++) {
        uint64_t *count = &naive[hot[i].source][(hot[i].pc - 0x40000000) / 4][hot[i].caller];
        assert_int_equal(hot[i].count, *count);
        *count = 0; /* seen: none may come twice */
        if (i == 0)
            continue;
        const struct testing_hot *p = &hot[i - 1], *q = &hot[i];
        assert_true(
            p->count > q->count ||
            (p->count == q->count && (p->source < q->source || (p->source == q->source && p->pc <= q->pc))));
    }
    for (unsigned i = 0; i < SOURCES; i++) {
        assert_int_equal(prof_aggregate_samples(a, i), samples[i]);
        assert_int_equal(prof_aggregate_active(a, i), active[i]);
        for (unsigned j = 0; j < PCS; j++)
            for (unsigned k = 0; k < CALLERS; k++)
                distinct += naive[i][j][k];
    }
    assert_int_equal(distinct, 0); /* and none is missing */
    free(hot);
    prof_aggregate_free(a);
}

static void many_addresses_keep_their_counts(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    assert_non_null(a);
    for (unsigned round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 100000; i++)
            add(a, 0, i * 65536, i, 0, true); /* low bits alike: a poor hash would crowd them */
    size_t n = 0;
    struct testing_hot *hot = testing_hot_list(a, &n);
    assert_int_equal(n, 100000);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(hot[i].count, 3);
    free(hot);
    prof_aggregate_free(a);
}

static void bound_is_kept_and_counted(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    assert_non_null(a);
    for (uint32_t i = 0; i < PROF_MAX_ADDRESSES + 1000; i++)
        add(a, 1, i * 4, 0, 0, true);
    for (uint32_t i = 0; i < 1000; i++) /* those that are there still count */
        add(a, 1, i * 1024 * 4, 0, 0, true);
    add(a, 1, 0, 0, 0, true);
    assert_int_equal(prof_aggregate_overflow(a), 1000);
    assert_int_equal(prof_aggregate_active(a, 1), PROF_MAX_ADDRESSES + 2001);
    size_t n = 0;
    struct testing_hot *hot = testing_hot_list(a, &n);
    assert_int_equal(n, PROF_MAX_ADDRESSES);
    assert_int_equal(hot[0].pc, 0);
    assert_int_equal(hot[0].count, 3);
    assert_int_equal(hot[1000].count, 1);
    free(hot);
    prof_aggregate_free(a);
}

static void nothing_to_report(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    size_t n = 7;
    assert_non_null(a);
    add(a, 64, 4, 0, 0, true); /* no such source */
    add(a, 0, 4, 0, 0, false); /* inactive: the denominator only */
    struct testing_hot *hot = testing_hot_list(a, &n);
    assert_non_null(hot);
    assert_int_equal(n, 0);
    free(hot);
    assert_int_equal(prof_aggregate_samples(a, 0), 1);
    assert_int_equal(prof_aggregate_active(a, 0), 0);
    assert_int_equal(prof_aggregate_samples(a, 64), 0);
    prof_aggregate_free(a);
    prof_aggregate_free(NULL);
}

/* --- keys, senders that go, and the limit ------------------------------------------------------------------
 */

static void add_v21(struct prof_aggregate *a, unsigned source, const struct profile_sample *sample)
{
    struct profile_packet packet = {.layout = PROFILE_V21, .samples = sample, .sample_count = 1};
    const double weight = 0.5;

    prof_aggregate_packet(a, source, &packet, &weight);
}

static void key_tells_stacks_threads_and_processes_apart(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    assert_non_null(a);
    struct profile_sample s = {.pc = 4, .pid = 7, .a_reg = 9, .active = 0xffff, .parent_count = 6};
    for (uint32_t i = 0; i < 6; i++)
        s.parents[i] = 100 + i;
    add_v21(a, 0, &s);
    s.parents[5] = 0; /* behind the fourth: not kept */
    add_v21(a, 0, &s);
    for (size_t change = 0; change < 7; change++) {
        struct profile_sample other = s;
        switch (change) {
        case 0:
            other.pc++;
            break;
        case 1:
            other.pid++;
            break;
        case 2:
            other.a_reg++;
            break;
        case 3:
            other.thread++;
            break;
        case 4:
            other.parents[0]++;
            break;
        case 5:
            other.parents[3]++;
            break;
        default:
            other.parent_count = 2;
        }
        add_v21(a, 0, &other);
    }
    s.parent_count = 2;
    s.parents[2] = 0; /* words of 0 at the end are no words */
    s.parent_count = 3;
    add_v21(a, 0, &s);
    struct prof_aggregate_snapshot n;
    assert_true(prof_aggregate_snapshot(a, &n));
    assert_int_equal(n.count, 8);
    uint64_t sum = 0, twos = 0;
    for (size_t i = 0; i < n.count; i++) {
        sum += n.entries[i].samples;
        twos += n.entries[i].samples == 2;
        assert_true(n.entries[i].weight == 0.5 * (double)n.entries[i].samples);
    }
    assert_int_equal(sum, 10);
    assert_int_equal(twos, 2);
    prof_aggregate_snapshot_free(&n);
    prof_aggregate_free(a);
}

static void row_60_samples_go_with_their_sender(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    struct prof_aggregate_snapshot n;
    assert_non_null(a);
    for (uint32_t i = 0; i < 10; i++)
        add(a, 3, 0x1000 + i, 0, 0, i != 9);
    add(a, 4, 0x1000, 0, 0, true);
    prof_aggregate_evict(a, 3);
    add(a, 3, 0x1000, 0, 0, true); /* the next one, at an address that was there before */
    assert_true(prof_aggregate_snapshot(a, &n));
    assert_int_equal(n.count, 2);
    assert_int_equal(n.entries[0].samples, 1);
    assert_int_equal(n.entries[1].samples, 1);
    assert_int_equal(n.active[3], 1);
    assert_int_equal(n.evicted_samples, 10);
    assert_int_equal(n.evicted_active, 9);
    prof_aggregate_snapshot_free(&n);
    prof_aggregate_reset(a);
    assert_true(prof_aggregate_snapshot(a, &n));
    assert_int_equal(n.count, 0);
    assert_int_equal(n.evicted_samples, 0);
    prof_aggregate_snapshot_free(&n);
    add(a, 3, 0x1000, 0, 0, true);
    assert_int_equal(prof_aggregate_active(a, 3), 1);
    prof_aggregate_free(a);
}

static void row_60_a_flood_of_senders_leaves_room(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    struct prof_aggregate_snapshot n;
    assert_non_null(a);
    for (uint32_t sender = 0; sender < 3000; sender++) { /* 3 million addresses, none of which stays */
        for (uint32_t i = 0; i < 1000; i++)
            add(a, 5, sender * 4096 + i, sender, 0, true);
        prof_aggregate_evict(a, 5);
        add(a, 6, sender, 0, 0, true);
    }
    assert_int_equal(prof_aggregate_overflow(a), 0);
    assert_true(prof_aggregate_snapshot(a, &n));
    assert_int_equal(n.count, 3000); /* those of the one that stayed */
    assert_int_equal(n.active[6], 3000);
    assert_int_equal(n.evicted_active, 3000000);
    prof_aggregate_snapshot_free(&n);
    prof_aggregate_free(a);
}

/* Stack words that are data make every sample distinct. They must not cost others their functions. */
static void stacks_give_way_before_functions(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    struct prof_aggregate_snapshot n;
    uint64_t overflow = 0, sum = 0, without = 0;
    assert_non_null(a);
    struct profile_sample s = {.active = 1, .parent_count = 1};
    for (uint32_t i = 1; i < PROF_MAX_ADDRESSES + 100000; i++) {
        s.pc = 0x1000 + i % 64 * 4;
        s.parents[0] = i;
        add_v21(a, 0, &s);
    }
    for (uint32_t i = 0; i < 1000; i++)
        add(a, 1, 0x9000 + i * 4, 0, 0, true);
    assert_true(prof_aggregate_snapshot(a, &n));
    overflow = n.overflow[0] + n.overflow[1];
    assert_int_equal(overflow, 0);
    for (size_t i = 0; i < n.count; i++) {
        sum += n.entries[i].samples;
        if (n.entries[i].source == 0 && !n.entries[i].parent_count)
            without += n.entries[i].samples;
    }
    assert_int_equal(sum, PROF_MAX_ADDRESSES + 100000 - 1 + 1000);
    assert_int_equal(without, n.coarse[0]);
    assert_int_equal(n.coarse[0], PROF_MAX_ADDRESSES / 2 + 100000 - 1);
    prof_aggregate_snapshot_free(&n);
    prof_aggregate_free(a);
}

static void overflow_is_counted_by_sender(void **state)
{
    (void)state;
    struct prof_aggregate *a = prof_aggregate_new();
    struct prof_aggregate_snapshot n;
    assert_non_null(a);
    for (uint32_t i = 0; i < PROF_MAX_ADDRESSES; i++)
        add(a, 0, i * 4, 0, 0, true);
    for (uint32_t i = 0; i < 7; i++)
        add(a, 1, i * 4, 0, 0, true);
    assert_true(prof_aggregate_snapshot(a, &n));
    assert_int_equal(n.overflow[0], 0);
    assert_int_equal(n.overflow[1], 7);
    assert_int_equal(n.active[1], 7);
    prof_aggregate_snapshot_free(&n);
    prof_aggregate_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_list_against_a_naive_count),
        cmocka_unit_test(many_addresses_keep_their_counts),
        cmocka_unit_test(bound_is_kept_and_counted),
        cmocka_unit_test(nothing_to_report),
        cmocka_unit_test(key_tells_stacks_threads_and_processes_apart),
        cmocka_unit_test(row_60_samples_go_with_their_sender),
        cmocka_unit_test(row_60_a_flood_of_senders_leaves_room),
        cmocka_unit_test(stacks_give_way_before_functions),
        cmocka_unit_test(overflow_is_counted_by_sender),
    };
    return cmocka_run_group_tests_name("prof aggregate", tests, NULL, NULL);
}
