/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own channels of a CTI, and what a debugger left there. Cross-trigger sheet 1.4, 12.A. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/cti_driver.h"
#include "tests/unit/link/fake_target.h"

#define REG(offset) (FAKE_CTI_BASE + (offset))

struct bench {
    struct fake_target *t;
    struct fake_cti *x;
    struct link *link;
    struct cti *cti;
};

static struct bench open_bench(void)
{
    struct bench b = {.t = fake_target_new(1)};
    struct diag d = DIAG_INIT;
    assert_non_null(b.t);
    b.x = &b.t->core[0].cti;
    b.link = fake_target_link(b.t);
    b.cti = cti_open(b.link, 0, FAKE_CTI_BASE, 7, &d);
    assert_non_null(b.cti);
    return b;
}

static void close_bench(struct bench *b)
{
    cti_close(b->cti);
    link_close(b->link);
    fake_target_free(b->t);
}

static void test_show_reads_every_register_and_writes_none(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct cti_registers r;
    b.x->control = 1;
    b.x->inen[4] = 2;
    b.x->outen[2] = 4;
    b.x->appset = 8;
    b.x->out = 1;
    b.x->claim_tags = 0xF;
    b.x->claim = 2;
    b.x->has_lock = true;
    assert_int_equal(cti_show(b.cti, &r, &d), CORRAL_OK);
    assert_int_equal(r.control, 1);
    assert_int_equal(r.inen[4], 2);
    assert_int_equal(r.outen[2], 4);
    assert_int_equal(r.appset, 8);
    assert_int_equal(r.trigout_status, 1);
    assert_int_equal(r.claim_tags, 0xF);
    assert_int_equal(r.claim, 2);
    assert_int_equal(r.lock_status, 3);
    assert_int_equal(r.gate, 0xF);
    assert_int_equal(r.devid, 0x40800);
    assert_int_equal(b.t->log_count, 0);
    close_bench(&b);
}

/* Off: what reset left in the other connections is no one's wish. It goes before the CTI is turned on. */
static void test_the_first_connection_turns_the_cti_on_with_nothing_else(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < 8; i++)
        b.x->inen[i] = b.x->outen[i] = 0xF;
    b.x->gate = 1;
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_OK);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(b.x->inen[i], i == 4 ? 4 : 0);
        assert_int_equal(b.x->outen[i], 0);
    }
    assert_int_equal(b.x->gate, 5);
    assert_int_equal(b.x->control, 1);
    const struct fake_write *last = &b.t->log[b.t->log_count - 1];
    assert_int_equal(last->address, REG(0x000));
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_OUT, 3, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->outen[3], 4);
    assert_int_equal(b.x->inen[4], 4);
    assert_int_equal(cti_channel_pulse(b.cti, 2, false, &d), CORRAL_OK);
    assert_int_equal(cti_channel_set(b.cti, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->appset, 4);
    assert_int_equal(cti_channel_clear(b.cti, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->appset, 0);
    assert_int_equal(cti_disconnect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->control, 1);
    assert_int_equal(cti_disconnect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_disconnect(b.cti, CTI_SIDE_OUT, 3, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->control, 0);
    close_bench(&b);
}

static void test_numbers_past_the_part_are_refused_unwritten(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 8, 0, true, &d), CORRAL_ERR_USAGE);
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_OUT, 0, 4, true, &d), CORRAL_ERR_USAGE);
    assert_int_equal(cti_disconnect(b.cti, CTI_SIDE_OUT, 32, 0, true, &d), CORRAL_ERR_USAGE);
    assert_int_equal(cti_channel_pulse(b.cti, 4, true, &d), CORRAL_ERR_USAGE);
    assert_int_equal(cti_channel_set(b.cti, 32, true, &d), CORRAL_ERR_USAGE);
    assert_int_equal(b.t->log_count, 0);
    close_bench(&b);
}

static void test_a16_no_event_while_the_cti_is_off(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_channel_pulse(b.cti, 2, true, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_channel_set(b.cti, 2, true, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_non_null(strstr(d.message, "off"));
    assert_int_equal(b.t->log_count, 0);
    close_bench(&b);
}

static void test_what_halts_and_restarts_the_core_is_refused_unless_forced(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_OUT, 0, 3, false, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_OUT, 7, 3, false, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(b.t->log_count, 0);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    size_t from = b.t->log_count;
    for (unsigned channel = 0; channel < 2; channel++) {
        assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, channel, false, &d), CORRAL_ERR_CTI_UNUSABLE);
        assert_int_equal(cti_channel_pulse(b.cti, channel, false, &d), CORRAL_ERR_CTI_UNUSABLE);
        assert_int_equal(cti_channel_set(b.cti, channel, false, &d), CORRAL_ERR_CTI_UNUSABLE);
        assert_non_null(strstr(d.hint, "force"));
    }
    assert_int_equal(b.t->log_count, from);
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, 0, true, &d), CORRAL_OK);
    assert_int_equal(b.x->inen[4], 1);
    close_bench(&b);
}

/* Made while a group has the CTI: it is there afterwards, and what a reset had left is not. */
static void test_a_connection_outlives_the_group(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.x->inen[5] = 8; /* left by reset: the CTI is off */
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->inen[0], 1);
    assert_int_equal(cti_set_again(b.cti, &d), CORRAL_OK);
    assert_int_equal(b.x->inen[4], 4);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(b.x->control, 1);
    assert_int_equal(b.x->inen[4], 4);
    assert_int_equal(b.x->inen[5], 0);
    assert_int_equal(b.x->inen[0], 0);
    assert_int_equal(b.x->outen[0], 0);
    assert_int_equal(b.x->outen[7], 0);
    close_bench(&b);
}

static void test_a_lock_is_closed_again(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    b.x->has_lock = true;
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_OK);
    assert_int_equal(b.x->inen[4], 4);
    assert_false(b.x->unlocked);
    assert_int_equal(cti_disconnect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_OK);
    assert_false(b.x->unlocked);
    b.t->core[0].cti_read_only = true;
    assert_int_equal(cti_connect(b.cti, CTI_SIDE_IN, 4, 2, false, &d), CORRAL_ERR_CTI_UNUSABLE);
    close_bench(&b);
}

static void test_leftovers_are_found_by_our_claim(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct cti_leftovers l;
    b.x->claim_tags = 0xF;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(b.x->claim, 1);
    b.x->inen[0] = 0; /* it died with the halted input off */
    b.x->inen[4] = 4; /* a user's */
    b.x->out = 1;
    struct cti *next = cti_open(b.link, 0, FAKE_CTI_BASE, 7, &d);
    assert_non_null(next);
    assert_int_equal(cti_find_leftovers(next, &l, &d), CORRAL_OK);
    assert_true(cti_has_leftovers(&l));
    assert_true(l.claimed && l.request);
    assert_int_equal(l.halt_channels, 1);
    assert_int_equal(l.restart_channels, 2);
    assert_int_equal(cti_clear_leftovers(next, &l, &d), CORRAL_OK);
    assert_int_equal(b.x->outen[0], 0);
    assert_int_equal(b.x->outen[7], 0);
    assert_int_equal(b.x->out, 0);
    assert_int_equal(b.x->claim, 0);
    assert_int_equal(b.x->inen[4], 4);
    assert_int_equal(b.x->control, 1); /* for the user's */
    assert_int_equal(cti_find_leftovers(next, &l, &d), CORRAL_OK);
    assert_false(cti_has_leftovers(&l));
    cti_close(next);
    close_bench(&b);
}

/* Without claim tags only what a debugger alone makes counts; with them, and without our claim, nothing. */
static void test_leftovers_are_not_what_others_connected(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct cti_leftovers l;
    b.x->control = 1;
    b.x->inen[0] = 2;  /* halted goes out to a trace funnel */
    b.x->outen[0] = 4; /* a comparator of the other core halts this one */
    b.x->outen[7] = 8;
    assert_int_equal(cti_find_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_false(cti_has_leftovers(&l));
    b.x->inen[0] = 6;
    assert_int_equal(cti_find_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_int_equal(l.halt_channels, 4);
    assert_int_equal(l.restart_channels, 8);
    b.x->claim_tags = 0xF;
    assert_int_equal(cti_find_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_false(cti_has_leftovers(&l));
    /* A held channel that halts the core is nobody's wish, whoever made it. */
    b.x->appset = 4;
    b.x->out = 1;
    assert_int_equal(cti_find_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_int_equal(l.held, 4);
    assert_true(l.request);
    assert_int_equal(cti_clear_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_int_equal(b.x->appset, 0);
    assert_int_equal(b.x->out, 0);
    assert_int_equal(b.x->outen[0], 4);
    assert_int_equal(b.x->control, 1);
    close_bench(&b);
}

static void test_a_clean_cti_has_no_leftovers_and_is_not_written(void **state)
{
    (void)state;
    struct bench b = open_bench();
    struct diag d = DIAG_INIT;
    struct cti_leftovers l;
    for (size_t i = 0; i < 8; i++)
        b.x->inen[i] = b.x->outen[i] = 0xF; /* off: reset may leave anything */
    b.x->appset = 1;
    assert_int_equal(cti_find_leftovers(b.cti, &l, &d), CORRAL_OK);
    assert_false(cti_has_leftovers(&l));
    assert_int_equal(b.t->log_count, 0);
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_show_reads_every_register_and_writes_none),
        cmocka_unit_test(test_the_first_connection_turns_the_cti_on_with_nothing_else),
        cmocka_unit_test(test_numbers_past_the_part_are_refused_unwritten),
        cmocka_unit_test(test_a16_no_event_while_the_cti_is_off),
        cmocka_unit_test(test_what_halts_and_restarts_the_core_is_refused_unless_forced),
        cmocka_unit_test(test_a_connection_outlives_the_group),
        cmocka_unit_test(test_a_lock_is_closed_again),
        cmocka_unit_test(test_leftovers_are_found_by_our_claim),
        cmocka_unit_test(test_leftovers_are_not_what_others_connected),
        cmocka_unit_test(test_a_clean_cti_has_no_leftovers_and_is_not_written),
    };
    return cmocka_run_group_tests_name("coresight-cti-user", tests, NULL, NULL);
}
