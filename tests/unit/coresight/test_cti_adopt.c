/* SPDX-License-Identifier: Apache-2.0 */
/* A CTI that somebody else programs: set aside, adopted, put back. Cross-trigger sheet 1.4, 13.2, 13.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/cti_driver.h"
#include "tests/unit/link/fake_target.h"

#define REG(offset) (FAKE_CTI_BASE + (offset))
#define USUAL       0x00040800u

struct bench {
    struct fake_target *t;
    struct link *link;
    struct cti *cti;
    struct fake_cti *x;
};

static struct bench open_bench(uint32_t devid, int restart_output)
{
    struct bench b = {.t = fake_target_new(2)};
    struct diag d = DIAG_INIT;
    assert_non_null(b.t);
    b.x = &b.t->core[0].cti;
    b.x->devid = devid;
    b.link = fake_target_link(b.t);
    assert_non_null(b.link);
    b.cti = cti_open(b.link, 0, FAKE_CTI_BASE, restart_output, &d);
    assert_non_null(b.cti);
    return b;
}

static void close_bench(struct bench *b)
{
    cti_close(b->cti);
    link_close(b->link);
    fake_target_free(b->t);
}

/* As the seed's DebugCoreSetup: on first, then the connections; GATE is left alone. */
static void program(struct bench *b, uint32_t halt, uint32_t restart)
{
    static const uint32_t offsets[] = {0x000, 0x020, 0x0A0, 0x0BC};
    const uint32_t values[] = {1, halt, halt, restart};
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(link_write32(b->link, 0, REG(offsets[i]), values[i], &d), CORRAL_OK);
}

static void set_aside(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (cti_set_aside(b->cti, &d))
        fail_msg("%s", d.message);
}

static void tear_down(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (cti_teardown(b->cti, &d))
        fail_msg("%s", d.message);
    assert_false(cti_is_set_up(b->cti));
}

static void assert_adopted(struct bench *b, unsigned halt, unsigned restart)
{
    struct diag d = DIAG_INIT;
    unsigned h = 99, r = 99;
    size_t from = b->t->log_count;
    if (cti_adopt(b->cti, &h, &r, &d))
        fail_msg("%s", d.message);
    assert_int_equal(h, halt);
    assert_int_equal(r, restart);
    assert_true(cti_is_set_up(b->cti));
    assert_int_equal(b->t->log_count, from); /* it writes nothing */
}

static void assert_refused(struct bench *b, const char *words)
{
    struct diag d = DIAG_INIT;
    unsigned h = 0, r = 0;
    size_t from = b->t->log_count;
    assert_int_equal(cti_adopt(b->cti, &h, &r, &d), CORRAL_ERR_CTI_UNUSABLE);
    if (!strstr(d.message, words))
        fail_msg("%s", d.message);
    assert_int_equal(h, CTI_NO_CHANNEL);
    assert_int_equal(r, CTI_NO_CHANNEL);
    assert_int_equal(b->t->log_count, from);
}

static void test_the_channels_are_those_of_the_registers(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 4; h++)
        for (unsigned r = 0; r < 4; r++) {
            struct bench b = open_bench(USUAL, 7);
            struct diag d = DIAG_INIT;
            bool intact = false, asserted = true;
            set_aside(&b);
            program(&b, 1u << h, 1u << r);
            if (r == h) {
                assert_refused(&b, "would restart on the channel that halts");
                assert_int_equal(b.x->control, 1);
            } else {
                assert_adopted(&b, h, r);
                assert_int_equal(cti_engaged(b.cti), CTI_HALTED | CTI_REQUEST | CTI_RESTART);
                assert_int_equal(cti_verify(b.cti, &intact, &d), CORRAL_OK);
                assert_true(intact);
                b.x->out = 1;
                assert_int_equal(cti_acknowledge(b.cti, &d), CORRAL_OK);
                assert_int_equal(cti_request_asserted(b.cti, &asserted, &d), CORRAL_OK);
                assert_false(asserted);
                assert_int_equal(cti_engage(b.cti, 0, &d), CORRAL_OK);
                assert_int_equal(b.x->inen[0] | b.x->outen[0] | b.x->outen[7], 0);
                assert_int_equal(cti_engage(b.cti, CTI_REQUEST, &d), CORRAL_OK);
                assert_int_equal(b.x->outen[0], 1u << h);
            }
            tear_down(&b);
            assert_int_equal(b.x->control, 0);
            assert_int_equal(b.x->inen[0] | b.x->outen[0] | b.x->outen[7], 0);
            close_bench(&b);
        }
}

static void test_what_did_not_hold_is_told(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    set_aside(&b);
    assert_refused(&b, "is off: CTICONTROL is 0");
    program(&b, 1, 2);
    b.x->inen[0] = 0;
    assert_refused(&b, "CTIINEN0 is 0x0, CTIOUTEN0 is 0x1");
    b.x->inen[0] = 4;
    assert_refused(&b, "no channel from halted to the debug request: CTIINEN0 is 0x4, CTIOUTEN0 is 0x1");
    b.x->inen[0] = 1;
    b.x->gate = 0xE;
    assert_refused(&b, "keeps its channels to itself: CTIGATE is 0xe");
    b.x->gate = 0xD;
    assert_refused(&b, "keeps its channels to itself: CTIGATE is 0xd");
    b.x->gate = 0x3;
    b.x->appset = 1; /* held: no request could ever be acknowledged (sheet 1.4.7) */
    assert_refused(&b, "holds channel 0 or 1");
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_TAKEN);
    assert_false(cti_is_set_up(b.cti));
    b.x->appset = 8;
    assert_adopted(&b, 0, 1);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_NONE);
    close_bench(&b);
}

static void test_no_restart_output_means_no_restart_channel(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, -1);
    set_aside(&b);
    program(&b, 1, 2);
    assert_adopted(&b, 0, CTI_NO_CHANNEL);
    close_bench(&b);
    b = open_bench(USUAL, 7);
    set_aside(&b);
    program(&b, 1, 0);
    assert_adopted(&b, 0, CTI_NO_CHANNEL);
    close_bench(&b);
}

/* Other connections on the same registers are kept, whatever ours do. */
static void test_what_else_is_connected_stays(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    set_aside(&b);
    program(&b, 1 | 8, 2 | 4);
    b.x->outen[3] = 4;
    assert_adopted(&b, 0, 1);
    assert_int_equal(cti_engage(b.cti, 0, &d), CORRAL_OK);
    assert_int_equal(b.x->inen[0], 8);
    assert_int_equal(b.x->outen[0], 8);
    assert_int_equal(b.x->outen[7], 4);
    assert_int_equal(b.x->outen[3], 4);
    close_bench(&b);
}

static void test_it_must_have_been_set_aside(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    program(&b, 1, 2);
    assert_refused(&b, "has not been set aside");
    b.x->control = 0;
    memset(b.x->inen, 0, sizeof(b.x->inen));
    memset(b.x->outen, 0, sizeof(b.x->outen));
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(cti_set_aside(b.cti, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_refused(&b, "has not been set aside");
    assert_true(cti_is_set_up(b.cti));
    close_bench(&b);
}

static void test_set_aside_for_nothing_is_put_back_without_a_write(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    b.x->control = 1; /* in use: it may not be off for a moment */
    b.x->inen[4] = 1;
    b.x->outen[5] = 1;
    b.x->appset = 4;
    set_aside(&b);
    size_t from = b.t->log_count;
    tear_down(&b);
    assert_int_equal(b.t->log_count, from);
    assert_int_equal(b.x->control, 1);
    assert_int_equal(b.x->appset, 4);
    close_bench(&b);
}

static void test_test_mode_is_refused_before_anything_is_written(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    b.x->itctrl = 1;
    assert_int_equal(cti_set_aside(b.cti, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_TEST_MODE);
    assert_int_equal(fake_target_writes(b.t, REG(0x000), REG(0xFA8)), 0);
    tear_down(&b);
    assert_int_equal(fake_target_writes(b.t, REG(0x000), REG(0xFA8)), 0);
    close_bench(&b);
}

/* Sheet 1.4.12: what reset leaves may be anything. A2, A3: nothing is written that is not there. */
static void test_what_reset_left_is_cleared_within_the_parts_bounds(void **state)
{
    (void)state;
    struct bench b = open_bench(0x00020400, -1); /* 2 channels, 4 triggers */
    b.x->inen[2] = 3;
    b.x->outen[3] = 1;
    b.x->gate = 0;
    b.x->appset = 2;
    set_aside(&b);
    assert_int_equal(b.x->inen[2] | b.x->outen[3] | b.x->appset, 0);
    assert_int_equal(b.x->gate, 3);
    assert_int_equal(fake_target_writes(b.t, REG(0x030), REG(0x09C)), 0);
    assert_int_equal(fake_target_writes(b.t, REG(0x0B0), REG(0x12C)), 0);
    tear_down(&b);
    assert_int_equal(b.x->inen[2], 3);
    assert_int_equal(b.x->outen[3], 1);
    assert_int_equal(b.x->gate, 0);
    close_bench(&b);
}

static void test_a_claim_of_another_tool_keeps_what_it_made(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    b.x->claim_tags = 0xF;
    b.x->claim = 4;
    b.x->inen[4] = b.x->outen[5] = 2; /* channel 1, off for now */
    set_aside(&b);
    assert_int_equal(b.x->claim, 5);
    assert_int_equal(b.x->inen[4], 2);
    program(&b, 1, 2);
    assert_refused(&b, "another tool or the firmware routes");
    tear_down(&b);
    assert_int_equal(b.x->claim, 4);
    assert_int_equal(b.x->outen[5], 2);
    assert_int_equal(b.x->control, 0);
    close_bench(&b);
}

/* After a reset: the lock is closed, the claim and everything else is gone. What was found is not. */
static void test_set_aside_again_before_the_sequence_runs_again(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    bool intact = true;
    struct diag d = DIAG_INIT;
    b.x->has_lock = true;
    b.x->claim_tags = 0xF;
    b.x->gate = 5;
    set_aside(&b);
    program(&b, 1, 2);
    assert_adopted(&b, 0, 1);
    b.x->control = b.x->claim = b.x->gate = 0;
    memset(b.x->inen, 0, sizeof(b.x->inen));
    memset(b.x->outen, 0, sizeof(b.x->outen));
    b.x->unlocked = false;
    assert_int_equal(cti_verify(b.cti, &intact, &d), CORRAL_OK);
    assert_false(intact);
    set_aside(&b);
    assert_int_equal(b.x->claim, 1);
    assert_refused(&b, "is off");
    assert_true(cti_is_set_up(b.cti)); /* as it was adopted before */
    program(&b, 1, 2);
    assert_adopted(&b, 0, 1);
    tear_down(&b);
    assert_int_equal(b.x->gate, 5);
    assert_int_equal(b.x->claim, 0);
    assert_false(b.x->unlocked);
    close_bench(&b);
}

static void test_taken_over_is_found_off(void **state)
{
    (void)state;
    static const struct {
        uint32_t in, out, restart, other; /* before it is set aside */
        uint32_t in_left, out_left, control_left;
    } cases[] = {
        {1, 1, 2, 0, 0, 0, 0},     /* complete, and alone */
        {1, 1, 2, 4, 0, 0, 1},     /* beside it, something else */
        {1 | 4, 1, 2, 0, 4, 0, 1}, /* beside it, on the same input */
        {1, 0, 2, 0, 0, 0, 0},     /* it did not come to its end */
        {0, 0, 0, 4, 0, 0, 1},     /* it had no effect */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b = open_bench(USUAL, 7);
        b.x->control = 1;
        b.x->inen[0] = cases[i].in;
        b.x->outen[0] = cases[i].out;
        b.x->outen[7] = cases[i].restart;
        b.x->outen[5] = cases[i].other;
        set_aside(&b);
        size_t from = b.t->log_count;
        cti_take_over(b.cti);
        assert_int_equal(b.t->log_count, from);
        program(&b, 1, 2);
        assert_adopted(&b, 0, 1);
        cti_take_over(b.cti); /* too late: nothing changes */
        tear_down(&b);
        assert_int_equal(b.x->inen[0], cases[i].in_left);
        assert_int_equal(b.x->outen[0], cases[i].out_left);
        assert_int_equal(b.x->outen[7], 0);
        assert_int_equal(b.x->outen[5], cases[i].other);
        assert_int_equal(b.x->control, cases[i].control_left);
        close_bench(&b);
    }
}

/* Who set it aside before the sequence ran the first time knows what was found. */
static void test_set_aside_before_the_first_run_nothing_is_taken_over(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    b.x->control = 1;
    b.x->inen[0] = b.x->outen[0] = 4;
    set_aside(&b);
    program(&b, 1, 2);
    set_aside(&b);
    cti_take_over(b.cti);
    assert_adopted(&b, 0, 1);
    tear_down(&b);
    assert_int_equal(b.x->control, 1);
    assert_int_equal(b.x->inen[0], 4);
    assert_int_equal(b.x->outen[0], 4);
    assert_int_equal(b.x->outen[7], 0);
    close_bench(&b);
}

static void test_our_own_way_after_it_was_set_aside(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    b.x->gate = 9;
    set_aside(&b);
    program(&b, 4, 8); /* it is not adopted */
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(b.x->outen[0], 1);
    tear_down(&b);
    assert_int_equal(b.x->gate, 9);
    assert_int_equal(b.x->control | b.x->inen[0] | b.x->outen[0] | b.x->outen[7], 0);
    close_bench(&b);
}

/* A29: what cannot be put back stays owed. */
static void test_a_link_that_fails_leaves_it_owed(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    unsigned h, r;
    b.x->gate = 6;
    set_aside(&b);
    program(&b, 1, 2);
    b.t->core[0].cti_faults = true;
    assert_int_equal(cti_adopt(b.cti, &h, &r, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_ERR_LINK_FAULT);
    b.t->core[0].cti_faults = false;
    tear_down(&b);
    assert_int_equal(b.x->control, 0);
    assert_int_equal(b.x->gate, 6);
    size_t from = b.t->log_count;
    tear_down(&b);
    assert_int_equal(b.t->log_count, from);
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_channels_are_those_of_the_registers),
        cmocka_unit_test(test_what_did_not_hold_is_told),
        cmocka_unit_test(test_no_restart_output_means_no_restart_channel),
        cmocka_unit_test(test_what_else_is_connected_stays),
        cmocka_unit_test(test_it_must_have_been_set_aside),
        cmocka_unit_test(test_set_aside_for_nothing_is_put_back_without_a_write),
        cmocka_unit_test(test_test_mode_is_refused_before_anything_is_written),
        cmocka_unit_test(test_what_reset_left_is_cleared_within_the_parts_bounds),
        cmocka_unit_test(test_a_claim_of_another_tool_keeps_what_it_made),
        cmocka_unit_test(test_set_aside_again_before_the_sequence_runs_again),
        cmocka_unit_test(test_taken_over_is_found_off),
        cmocka_unit_test(test_set_aside_before_the_first_run_nothing_is_taken_over),
        cmocka_unit_test(test_our_own_way_after_it_was_set_aside),
        cmocka_unit_test(test_a_link_that_fails_leaves_it_owed),
    };
    return cmocka_run_group_tests_name("coresight-cti-adopt", tests, NULL, NULL);
}
