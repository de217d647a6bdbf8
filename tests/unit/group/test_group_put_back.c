/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is owed to a CTI that cannot be reached when it is to be put back: an error while its core answers, a
 * remark where core and CTI are gone together; tried again by every later detach. Cross-trigger sheet 1.7
 * "teardown", cases A24, A29.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_fake.h"

#define GLBEN 0x000u

static uint32_t cti_word(const struct group_fake *b, size_t core, uint32_t reg)
{
    uint32_t value = 0;
    struct diag d = DIAG_INIT;
    if (link_read32(b->link, (uint32_t)core, FAKE_CTI_BASE + reg, &value, &d))
        fail_msg("%s", d.message);
    return value;
}

static void assert_owed_then_paid(struct group_fake *b)
{
    struct diag d = DIAG_INIT;
    assert_int_equal(group_detach(b->group, false, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "the CTI of core1 cannot be put back"));
    assert_string_equal(d.object, "core1");
    assert_int_equal(cti_word(b, 0, GLBEN), 0); /* the others' are put back all the same */
    assert_int_equal(b->t->core[0].demcr, 0);
    b->t->core[1].cti_faults = false;
    assert_int_equal(cti_word(b, 1, GLBEN), 1);
    if (group_detach(b->group, false, &d))
        fail_msg("%s", d.message);
    assert_int_equal(cti_word(b, 1, GLBEN), 0);
    size_t from = b->t->log_count;
    if (group_disable_sync(b->group, &d))
        fail_msg("%s", d.message);
    assert_int_equal(b->t->log_count, from); /* nothing is owed any more: not one write */
}

static void test_a_cti_that_faults_while_its_core_answers_is_an_error(void **state)
{
    (void)state;
    for (unsigned halted = 0; halted < 2; halted++) {
        struct group_fake b = group_fake_synced(2);
        struct event e;
        if (halted)
            group_fake_halt(&b, 0, &e);
        b.t->core[1].cti_faults = true;
        assert_owed_then_paid(&b);
        group_fake_close(&b);
    }
}

static void test_a_core_that_is_gone_with_its_cti_is_named(void **state)
{
    (void)state;
    struct group_fake b = group_fake_synced(2);
    struct diag d = DIAG_INIT;
    b.t->core[1].faults = true;
    if (group_detach(b.group, false, &d))
        fail_msg("%s", d.message);
    assert_true(group_fake_said(&b, "the CTI of core1 cannot be reached to be put back"));
    assert_int_equal(cti_word(&b, 0, GLBEN), 0);
    group_fake_close(&b);
}

/* What was given up in the middle is not forgotten: members that turn out to be alone give their CTI back. */
static void test_a_member_that_is_dropped_stays_owed(void **state)
{
    (void)state;
    struct group_fake b = group_fake_new(3);
    struct diag d = DIAG_INIT;
    struct event e;
    b.t->core[1].other_ctm = true;
    b.t->core[1].blind = true; /* while cores run nothing shows that it is alone */
    b.t->core[0].blind = true;
    b.t->core[2].blind = true;
    group_fake_start(&b, NULL);
    if (group_enable_sync(b.group, &d))
        fail_msg("%s", d.message);
    b.t->fault_write = FAKE_CTI_BASE + GLBEN;
    b.t->fault_ap = 1;
    group_halt(b.group, 0, &e, &d);
    assert_true(group_get_member(b.group, 1)->halt == GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(cti_word(&b, 1, GLBEN), 1);
    assert_int_equal(group_disable_sync(b.group, &d), CORRAL_ERR_LINK_FAULT);
    b.t->fault_write = 0;
    if (group_disable_sync(b.group, &d))
        fail_msg("%s", d.message);
    assert_int_equal(cti_word(&b, 1, GLBEN), 0);
    group_fake_close(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cti_that_faults_while_its_core_answers_is_an_error),
        cmocka_unit_test(test_a_core_that_is_gone_with_its_cti_is_named),
        cmocka_unit_test(test_a_member_that_is_dropped_stays_owed),
    };
    return cmocka_run_group_tests_name("group-put-back", tests, NULL, NULL);
}
