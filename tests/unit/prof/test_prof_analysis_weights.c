/* SPDX-License-Identifier: Apache-2.0 */
/* The weight of a sample (profiler sheet 9): each rule by a case worked out by hand, and that the weights of
 * one instant never add up to more than 1, over every mask of four threads. */
#include "prof_rig.h"

#include "prof/weights.h"

static const struct prof_shares no_shares;

/* Weights of threads 0..3 at one instant. */
static void expect_weights(const struct prof_shares *shares, unsigned active, unsigned blocked, unsigned hrt,
                           unsigned high, double w0, double w1, double w2, double w3)
{
    struct prof_instant at = {0};

    prof_weights_instant(&at, shares, (uint16_t)active, (uint16_t)blocked, (uint16_t)hrt, (uint16_t)high);
    expect_near(at.weight[0], w0);
    expect_near(at.weight[1], w1);
    expect_near(at.weight[2], w2);
    expect_near(at.weight[3], w3);
}

static void threads_of_a_class_share_evenly(void **state)
{
    (void)state;
    expect_weights(&no_shares, 0x1, 0, 0, 0, 1, 0, 0, 0);
    expect_weights(&no_shares, 0x7, 0, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0);
    expect_weights(&no_shares, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void nrt_has_nothing_while_a_high_one_is_active(void **state)
{
    (void)state;
    expect_weights(&no_shares, 0x7, 0, 0, 0x6, 0, 0.5, 0.5, 0);
    expect_weights(&no_shares, 0x7, 0x2, 0, 0x2, 0, 1, 0, 0); /* not even while that one is blocked */
}

static void blocked_threads_weigh_only_when_all_are(void **state)
{
    (void)state;
    expect_weights(&no_shares, 0x7, 0x1, 0, 0, 0, 0.5, 0.5, 0);
    expect_weights(&no_shares, 0x3, 0x3, 0, 0, 0.5, 0.5, 0, 0);
    expect_weights(&no_shares, 0x3, 0x7, 0, 0, 0.5, 0.5, 0, 0); /* who is not active is no peer */
}

/* Thread 1 has every fourth turn, thread 2 every eighth, thread 0 every eighth though it is not HRT. */
static void make_shares(struct prof_shares *shares)
{
    uint8_t table[64];

    for (size_t i = 0; i < 64; i++)
        table[i] = 0x40;
    table[0] = table[4] = 1;
    table[1] = 2;
    table[2] = 0;
    table[7] = 0xc0; /* empty, and the last */
    table[8] = 3;    /* behind the end */
    prof_weights_table(shares, table);
}

static void hrt_table(void **state)
{
    (void)state;
    struct prof_shares shares;
    make_shares(&shares);
    assert_true(shares.known);
    expect_near(shares.share[0], 1.0 / 8);
    expect_near(shares.share[1], 1.0 / 4);
    expect_near(shares.share[2], 1.0 / 8);
    expect_near(shares.share[3], 0);
    /* 1 and 2 are HRT; the rest, 1 - 1/4 - 1/8, is thread 3's */
    expect_weights(&shares, 0xe, 0, 0x6, 0, 0, 0.25, 0.125, 0.625);
    /* what a blocked HRT thread does not use is left over for it, too */
    expect_weights(&shares, 0xe, 0x2, 0x6, 0, 0, 0, 0.125, 0.875);
    /* a guaranteed share, and half of the rest: 1 - 1/8 - 1/4 */
    expect_weights(&shares, 0xb, 0, 0x2, 0, 0.125 + 0.3125, 0.25, 0, 0.3125);
    /* HRT threads alone: the turns of others are nobody's, those of a blocked one are wasted by it */
    expect_weights(&shares, 0x6, 0, 0x6, 0, 0, 0.25, 0.125, 0);
    expect_weights(&shares, 0x6, 0x4, 0x6, 0, 0, 0.25, 0.125, 0);
}

static void without_a_table_hrt_is_high(void **state)
{
    (void)state;
    expect_weights(&no_shares, 0x7, 0, 0x2, 0x1, 0.5, 0.5, 0, 0);
}

static void hostile_tables(void **state)
{
    (void)state;
    struct prof_shares shares;
    uint8_t table[64];
    memset(table, 0x40, sizeof(table));
    prof_weights_table(&shares, table);
    assert_false(shares.known);
    memset(table, 0x1f, sizeof(table)); /* there is no thread 31 */
    prof_weights_table(&shares, table);
    assert_false(shares.known);
    memset(table, 0, sizeof(table)); /* no end: 64 turns of thread 0 */
    prof_weights_table(&shares, table);
    expect_near(shares.share[0], 1);
}

static void weights_of_an_instant_add_up_to_at_most_1(void **state)
{
    (void)state;
    struct prof_shares with;
    make_shares(&with);
    for (unsigned bits = 0; bits < 1u << 17; bits++) {
        struct prof_instant at = {0};
        uint16_t active = bits & 0xf, blocked = bits >> 4 & 0xf, hrt = bits >> 8 & 0xf,
                 high = bits >> 12 & 0xf;
        double sum = 0;
        prof_weights_instant(&at, bits >> 16 ? &with : &no_shares, active, blocked, hrt, high);
        for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) {
            assert_true(at.weight[t] >= 0);
            assert_true(at.weight[t] == 0 || active >> t & 1);
            sum += at.weight[t];
        }
        assert_true(sum <= 1 + 1e-12);
        if (active & ~hrt) /* nothing is lost while anybody can take it */
            assert_true(sum >= 1 - 1e-12);
    }
}

static void cached_instant_is_computed_anew_for_other_masks(void **state)
{
    (void)state;
    struct prof_instant at = {0};
    prof_weights_instant(&at, &no_shares, 3, 0, 0, 0);
    prof_weights_instant(&at, &no_shares, 3, 0, 0, 1);
    expect_near(at.weight[0], 1);
    expect_near(at.weight[1], 0);
    prof_weights_instant(&at, &no_shares, 3, 1, 0, 0);
    expect_near(at.weight[1], 1);
    prof_weights_instant(&at, &no_shares, 2, 1, 0, 0);
    expect_near(at.weight[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_a_class_share_evenly),
        cmocka_unit_test(nrt_has_nothing_while_a_high_one_is_active),
        cmocka_unit_test(blocked_threads_weigh_only_when_all_are),
        cmocka_unit_test(hrt_table),
        cmocka_unit_test(without_a_table_hrt_is_high),
        cmocka_unit_test(hostile_tables),
        cmocka_unit_test(weights_of_an_instant_add_up_to_at_most_1),
        cmocka_unit_test(cached_instant_is_computed_anew_for_other_masks),
    };
    return cmocka_run_group_tests_name("prof weights", tests, NULL, NULL);
}
