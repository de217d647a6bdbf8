/* SPDX-License-Identifier: Apache-2.0 */
/* The CTI driver against a modelled CTI: order of writes, read-back, roll-back. Cross-trigger
 * sheet 1.4, 1.7, 12.A. */
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
    struct link *link;
    struct cti *cti;
};

static struct bench open_bench(uint32_t devid, int restart_output)
{
    struct bench b = {.t = fake_target_new(2)};
    struct diag d = DIAG_INIT;
    assert_non_null(b.t);
    b.t->core[0].cti.devid = devid;
    b.link = fake_target_link(b.t);
    assert_non_null(b.link);
    b.cti = cti_open(b.link, 0, FAKE_CTI_BASE, restart_output, &d);
    if (!b.cti)
        assert_int_equal(d.code, CORRAL_ERR_CTI_UNUSABLE);
    return b;
}

static void close_bench(struct bench *b)
{
    cti_close(b->cti);
    link_close(b->link);
    fake_target_free(b->t);
}

#define USUAL 0x00040800u

static size_t at(const struct bench *b, uint32_t offset)
{
    return fake_target_find(b->t, 0, 0, REG(offset));
}

static void test_open_writes_nothing(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    const struct cti_info *info = cti_get_info(b.cti);
    assert_int_equal(info->triggers, 8);
    assert_int_equal(info->channels, 4);
    assert_int_equal(info->restart_output, 7);
    assert_int_equal(b.t->log_count, 0);
    assert_false(cti_is_set_up(b.cti));
    close_bench(&b);
}

static void test_b15_devid_without_triggers_or_channels_is_refused(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0x00000000, 0x00040000, 0x00000800, 0x00043F00};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct bench b = open_bench(bad[i], 7);
        assert_null(b.cti);
        close_bench(&b);
    }
}

static void test_a3_restart_output_past_numtrig_is_never_written(void **state)
{
    (void)state;
    struct bench b = open_bench(0x00040200, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_get_info(b.cti)->restart_output, -1);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(fake_target_writes(b.t, REG(0x0A8), REG(0x0BC)), 0);
    assert_int_equal(fake_target_writes(b.t, REG(0x028), REG(0x03C)), 0);
    close_bench(&b);
}

static void test_setup_in_the_safe_order(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    x->gate = 0; /* A4: left closed by another tool */
    assert_int_equal(cti_setup(b.cti, 1, 2, &d), CORRAL_OK);
    assert_true(cti_is_set_up(b.cti));
    assert_int_equal(x->control, 1);
    assert_int_equal(x->inen[0], 2);
    assert_int_equal(x->outen[0], 2);
    assert_int_equal(x->outen[7], 4);
    assert_int_equal(x->gate, 6);
    /* LAR, CONTROL off, mappings, gate, CONTROL on and nothing after it */
    assert_true(at(&b, 0xFB0) < at(&b, 0x000));
    assert_true(at(&b, 0x000) < at(&b, 0x020));
    assert_true(at(&b, 0x020) < at(&b, 0x140));
    assert_true(at(&b, 0x0A0) < at(&b, 0x140));
    assert_int_equal(b.t->log[at(&b, 0x000)].value, 0);
    const struct fake_write *last = &b.t->log[b.t->log_count - 1];
    assert_int_equal(last->address, REG(0x000));
    assert_int_equal(last->value, 1);
    close_bench(&b);
}

static void test_rule12_mappings_of_unknown_reset_value_are_cleared_before_enable(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    for (size_t i = 0; i < 8; i++)
        x->inen[i] = x->outen[i] = 0xF;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 1);
    assert_int_equal(x->inen[3], 0);
    assert_int_equal(x->outen[0], 1);
    assert_int_equal(x->outen[3], 0);
    assert_int_equal(x->outen[7], 2);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(x->inen[3], 0xF);
    assert_int_equal(x->outen[7], 0xF);
    assert_int_equal(x->control, 0);
    close_bench(&b);
}

static void test_a1_foreign_mappings_are_kept_and_channels_in_use_refused(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    uint32_t used = 0;
    x->control = 1;
    x->inen[4] = 1u << 0;
    x->outen[2] = 1u << 3;
    assert_int_equal(cti_used_channels(b.cti, &used, &d), CORRAL_OK);
    assert_int_equal(used, 0x9);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(x->inen[4], 1);
    assert_int_equal(x->control, 1);
    assert_int_equal(cti_setup(b.cti, 1, 2, &d), CORRAL_OK);
    assert_int_equal(x->inen[4], 1u << 0);
    assert_int_equal(x->outen[2], 1u << 3);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 0);
    assert_int_equal(x->inen[4], 1u << 0);
    assert_int_equal(x->outen[2], 1u << 3);
    assert_int_equal(x->control, 1);
    close_bench(&b);
}

static void test_a17_a_lock_is_opened(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    b.t->core[0].cti.has_lock = true;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(b.t->core[0].cti.control, 1);
    close_bench(&b);
}

static void test_a18_not_writable_is_found_by_reading_back(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    b.t->core[0].cti_read_only = true;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_non_null(strstr(d.message, "not writable"));
    assert_false(cti_is_set_up(b.cti));
    close_bench(&b);
}

static void test_a30_a_mapping_that_does_not_stick_rolls_all_back(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    b.t->core[0].outen_read_only = true;
    x->gate = 0x8;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_PARTIAL);
    assert_int_equal(x->control, 0);
    assert_int_equal(x->inen[0], 0);
    assert_int_equal(x->gate, 0x8);
    close_bench(&b);
}

static void test_a_write_that_faults_rolls_all_back(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    x->control = 1;
    x->inen[5] = 0x8;
    b.t->fault_write = REG(0x140); /* for good: so the gate cannot be put back, and it says so */
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_PARTIAL);
    assert_non_null(strstr(d.hint, "could not be put back"));
    b.t->fault_write = 0;
    assert_int_equal(x->inen[0], 0);
    assert_int_equal(x->inen[5], 0x8);
    assert_false(cti_is_set_up(b.cti));
    close_bench(&b);
}

static void test_a7_acknowledge_touches_the_debug_request_only(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    b.t->core[0].cti.out = 1;
    size_t from = b.t->log_count;
    assert_int_equal(cti_acknowledge(b.cti, &d), CORRAL_OK);
    assert_int_equal(b.t->core[0].cti.out, 0);
    for (size_t i = from; i < b.t->log_count; i++) { /* A7 */
        if (b.t->log[i].address == REG(0x010))
            assert_int_equal(b.t->log[i].value, 1);
        else
            assert_int_equal(b.t->log[i].address, REG(0x018));
    }
    close_bench(&b);
}

static void test_a5_application_set_is_cleared_before_acknowledge(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    b.t->core[0].cti.out = 1;
    b.t->core[0].cti.appset = 1;
    assert_int_equal(cti_acknowledge(b.cti, &d), CORRAL_OK);
    assert_int_equal(b.t->core[0].cti.out, 0);
    close_bench(&b);
}

static void test_a5_a_stuck_output_ends_with_an_error(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    b.t->core[0].cti.out = 1;
    b.t->core[0].stuck = true;
    size_t from = b.t->log_count;
    assert_int_equal(cti_acknowledge(b.cti, &d), CORRAL_ERR_CTI_STUCK);
    assert_true(b.t->log_count - from < 200);
    close_bench(&b);
}

static void test_a16_no_pulse_unless_set_up(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_pulse(b.cti, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(b.t->log_count, 0);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(cti_pulse(b.cti, 4, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_pulse(b.cti, 1, &d), CORRAL_OK);
    assert_int_equal(b.t->log[b.t->log_count - 1].value, 2);
    close_bench(&b);
}

static void test_a13_a_reset_that_took_the_mapping_is_noticed(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    bool intact = false;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(cti_verify(b.cti, &intact, &d), CORRAL_OK);
    assert_true(intact);
    b.t->core[0].cti.outen[7] = 0;
    assert_int_equal(cti_verify(b.cti, &intact, &d), CORRAL_OK);
    assert_false(intact);
    close_bench(&b);
}

static void test_a25_teardown_leaves_no_latch(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    b.t->core[0].cti.out = 1;
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(b.t->core[0].cti.out, 0);
    assert_int_equal(b.t->core[0].cti.control, 0);
    assert_false(cti_is_set_up(b.cti));
    close_bench(&b);
}

static void test_integration_mode_is_refused(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    b.t->core[0].cti.itctrl = 1;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(b.t->core[0].cti.control, 0);
    close_bench(&b);
}

/* 1.7: a lock that was closed is closed again; a claim tag is set where there is one, and taken back. */
static void test_lock_and_claim_are_left_as_found(void **state)
{
    (void)state;
    for (unsigned tags = 0; tags < 2; tags++) {
        struct bench b = open_bench(USUAL, 7);
        struct diag d = DIAG_INIT;
        struct fake_cti *x = &b.t->core[0].cti;
        x->has_lock = true;
        x->claim_tags = tags ? 0xF : 0;
        assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
        assert_true(x->unlocked);
        assert_int_equal(x->claim, tags);
        if (!tags)
            assert_int_equal(fake_target_writes(b.t, REG(0xFA0), REG(0xFA4)), 0);
        assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
        assert_false(x->unlocked);
        assert_int_equal(x->claim, 0);
        close_bench(&b);
    }
}

/* A1: a foreign channel on the core's own triggers is kept; one that is held or half connected is taken. */
static void test_a1_foreign_channels_on_the_own_triggers(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    uint32_t used = 0;
    x->control = 1;
    x->inen[0] = 8; /* halted stops a trace */
    x->appset = 4;
    assert_int_equal(cti_used_channels(b.cti, &used, &d), CORRAL_OK);
    assert_int_equal(used, 0xC);
    assert_int_equal(cti_setup(b.cti, 2, 0, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_TAKEN);
    assert_int_equal(x->appset, 4);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 9);
    assert_int_equal(cti_arm(b.cti, false, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 8);
    assert_int_equal(x->appset, 4);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 8);
    assert_int_equal(x->appset, 4);
    close_bench(&b);
}

static void test_why_a_set_up_was_refused(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 4, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_CHANNELS);
    assert_int_equal(cti_setup(b.cti, 1, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_CHANNELS);
    assert_int_equal(b.t->log_count, 0);
    b.t->core[0].cti.itctrl = 1;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_TEST_MODE);
    b.t->core[0].cti.itctrl = 0;
    b.t->core[0].cti_read_only = true;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_why_refused(b.cti), CTI_REFUSAL_NOT_WRITABLE);
    close_bench(&b);
}

/* What leads out of the core goes first and comes last, or its level would latch what it drives. */
static void test_connections_are_made_and_taken_in_the_safe_order(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(cti_engaged(b.cti), CTI_HALTED | CTI_REQUEST | CTI_RESTART);
    size_t from = b.t->log_count;
    assert_int_equal(cti_engage(b.cti, 0, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from + 3);
    assert_int_equal(b.t->log[from].address, REG(0x020));
    assert_int_equal(b.t->core[0].cti.outen[0], 0);
    assert_int_equal(b.t->core[0].cti.outen[7], 0);
    from = b.t->log_count;
    assert_int_equal(cti_engage(b.cti, CTI_HALTED | CTI_REQUEST, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from + 2);
    assert_int_equal(b.t->log[from + 1].address, REG(0x020));
    assert_int_equal(cti_engage(b.cti, CTI_HALTED | CTI_REQUEST, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from + 2); /* nothing to change, nothing written */
    close_bench(&b);
}

/* Set up silent: on, and nothing of ours connected; then the connections, with the CTI off meanwhile. */
/* A change of which only a part was made: the next one writes everything, also to go back to what was. */
static void test_a_change_that_failed_half_way_is_made_good(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    unsigned all = cti_engaged(b.cti);
    b.t->fault_write = REG(0x0A0);
    assert_int_equal(cti_engage(b.cti, 0, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(x->inen[0], 0); /* this far it came */
    b.t->fault_write = 0;
    assert_int_equal(cti_engage(b.cti, all, &d), CORRAL_OK);
    assert_int_equal(x->inen[0], 1);
    assert_int_equal(x->outen[0], 1);
    assert_int_equal(x->outen[7], 2);
    size_t from = b.t->log_count;
    assert_int_equal(cti_engage(b.cti, all, &d), CORRAL_OK);
    assert_int_equal(b.t->log_count, from); /* it is known again */
    close_bench(&b);
}

static void test_a_silent_set_up_connects_nothing(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_cti *x = &b.t->core[0].cti;
    for (size_t i = 0; i < 8; i++)
        x->inen[i] = x->outen[i] = 0xF;
    assert_int_equal(cti_setup_silent(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(x->control, 1);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(x->inen[i], 0);
        assert_int_equal(x->outen[i], 0);
    }
    assert_int_equal(cti_setup_silent(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_setup(b.cti, 0, 2, &d), CORRAL_ERR_CTI_UNUSABLE);
    size_t from = b.t->log_count;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    assert_int_equal(b.t->log[from].address, REG(0x000));
    assert_int_equal(b.t->log[from].value, 0);
    assert_int_equal(x->inen[0], 1);
    assert_int_equal(x->outen[7], 2);
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_ERR_CTI_UNUSABLE);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(x->inen[3], 0xF); /* as found before both */
    close_bench(&b);
}

/* 1.4.3: what is asserted is acknowledged while the CTI is on, and looked at again once it is off. */
static void test_a25_a_level_of_its_own_does_not_stick_at_teardown(void **state)
{
    (void)state;
    struct bench b = open_bench(USUAL, 7);
    struct diag d = DIAG_INIT;
    struct fake_core *c = &b.t->core[0];
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    c->level_halted = true;
    c->control = 1;
    fake_target_stop(b.t, 0, 2);
    assert_int_equal(c->cti.out, 1);
    assert_int_equal(cti_acknowledge(b.cti, &d), CORRAL_ERR_CTI_STUCK);
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_OK);
    assert_int_equal(c->cti.out, 0);
    assert_int_equal(c->cti.control, 0);
    c->stuck = true;
    assert_int_equal(cti_setup(b.cti, 0, 1, &d), CORRAL_OK);
    c->cti.out = 1;
    assert_int_equal(cti_teardown(b.cti, &d), CORRAL_ERR_CTI_STUCK);
    close_bench(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_writes_nothing),
        cmocka_unit_test(test_b15_devid_without_triggers_or_channels_is_refused),
        cmocka_unit_test(test_a3_restart_output_past_numtrig_is_never_written),
        cmocka_unit_test(test_setup_in_the_safe_order),
        cmocka_unit_test(test_rule12_mappings_of_unknown_reset_value_are_cleared_before_enable),
        cmocka_unit_test(test_a1_foreign_mappings_are_kept_and_channels_in_use_refused),
        cmocka_unit_test(test_a17_a_lock_is_opened),
        cmocka_unit_test(test_a18_not_writable_is_found_by_reading_back),
        cmocka_unit_test(test_a30_a_mapping_that_does_not_stick_rolls_all_back),
        cmocka_unit_test(test_a_write_that_faults_rolls_all_back),
        cmocka_unit_test(test_a7_acknowledge_touches_the_debug_request_only),
        cmocka_unit_test(test_a5_application_set_is_cleared_before_acknowledge),
        cmocka_unit_test(test_a5_a_stuck_output_ends_with_an_error),
        cmocka_unit_test(test_a16_no_pulse_unless_set_up),
        cmocka_unit_test(test_a13_a_reset_that_took_the_mapping_is_noticed),
        cmocka_unit_test(test_a25_teardown_leaves_no_latch),
        cmocka_unit_test(test_integration_mode_is_refused),
        cmocka_unit_test(test_lock_and_claim_are_left_as_found),
        cmocka_unit_test(test_a1_foreign_channels_on_the_own_triggers),
        cmocka_unit_test(test_why_a_set_up_was_refused),
        cmocka_unit_test(test_connections_are_made_and_taken_in_the_safe_order),
        cmocka_unit_test(test_a_change_that_failed_half_way_is_made_good),
        cmocka_unit_test(test_a_silent_set_up_connects_nothing),
        cmocka_unit_test(test_a25_a_level_of_its_own_does_not_stick_at_teardown),
    };
    return cmocka_run_group_tests_name("coresight-cti", tests, NULL, NULL);
}
