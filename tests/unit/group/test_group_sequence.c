/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `sequence` on modelled cores: set-up by a pack's debug sequences, what it gets wrong, and what
 * stays of it. Run control by them is in test_group_sequence_run.c. Cross-trigger sheet 13 (2, 12, 17, 21,
 * 23); the rules are those of group.h "group_use_sequences".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_fake.h"
#include "tests/unit/group/group_pack.h"

#define USERS 0x8u /* channel 3: connected by the user, or by firmware */

struct bench {
    struct group_fake b;
    struct group_pack p;
};

/* Change b->b.t before `begin`, b->p after it. */
static void begin(struct bench *b)
{
    group_fake_start(&b->b, NULL);
    group_pack_init(&b->p, b->b.link, b->b.cores, b->b.count, FAKE_CTI_BASE);
    group_pack_use(&b->p, b->b.group);
}

static void enable(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (group_enable_sync(b->b.group, &d))
        fail_msg("%s", d.message);
}

static void disable(struct bench *b)
{
    struct diag d = DIAG_INIT;
    if (group_disable_sync(b->b.group, &d))
        fail_msg("%s", d.message);
}

static enum group_why why(struct bench *b, size_t i)
{
    return group_get_member(b->b.group, i)->halt_why;
}

static void assert_joined(struct bench *b, size_t i)
{
    const struct group_member *m = group_get_member(b->b.group, i);
    assert_int_equal(m->halt, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(m->run, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(m->halt_why, GROUP_WHY_NONE);
}

/* Halt and run work with every leader. */
static void assert_works(struct bench *b, enum group_mechanism mechanism)
{
    struct event e;
    for (size_t leader = 0; leader < b->b.count; leader++) {
        group_fake_halt(&b->b, leader, &e);
        group_fake_assert_all(&e, CORE_HALTED);
        group_fake_assert_unlatched(&b->b);
        assert_int_equal(e.halt.mechanism, mechanism);
        assert_true(e.halt.cores[leader].first);
        group_fake_run(&b->b, leader, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        assert_int_equal(e.halt.mechanism, mechanism);
    }
}

static void assert_off(const struct bench *b, size_t i)
{
    const struct fake_cti *x = &b->b.t->core[i].cti;
    assert_int_equal(x->control, 0);
    assert_int_equal(x->inen[0] | x->outen[0] | x->outen[7], 0);
    assert_int_equal(x->out, 0);
}

static size_t remarks(const struct bench *b)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->b.group, &list);
    for (size_t i = 0; i < n; i++)
        print_message("# %s\n", list[i].text);
    return n;
}

static void test_without_sync_not_one_sequence_runs_and_no_cti_is_written(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    struct event e;
    begin(&b);
    group_fake_halt(&b.b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(group_step(b.b.group, 1, 1, NULL, &d), CORRAL_OK);
    group_fake_run(&b.b, 1, &e);
    assert_int_equal(group_detach(b.b.group, false, &d), CORRAL_OK);
    for (size_t i = 0; i < 2; i++) {
        const struct group_pack_core *c = &b.p.core[i];
        assert_int_equal(c->set_ups + c->starts + c->stops + c->acknowledges, 0);
        assert_int_equal(why(&b, i), GROUP_WHY_OFF);
    }
    assert_int_equal(fake_target_writes(b.b.t, FAKE_CTI_BASE, FAKE_CTI_BASE + 0xFFF), 0);
    group_fake_close(&b.b);
}

static void test_each_member_is_set_up_once_and_the_channels_are_the_packs(void **state)
{
    (void)state;
    for (unsigned halted = 0; halted < 2; halted++) {
        struct bench b = {.b = group_fake_new(3)};
        struct event e;
        int h = -1, r = -1;
        begin(&b);
        for (size_t i = 0; i < 3; i++) {
            b.p.core[i].halt = 2;
            b.p.core[i].restart = 0;
        }
        if (halted)
            group_fake_halt(&b.b, 0, &e);
        enable(&b);
        for (size_t i = 0; i < 3; i++) {
            const struct fake_cti *x = &b.b.t->core[i].cti;
            assert_int_equal(b.p.core[i].set_ups, 1);
            assert_joined(&b, i);
            assert_int_equal(x->control, 1);
            assert_int_equal(x->inen[0], 4);
            assert_int_equal(x->outen[0], 4);
            assert_int_equal(x->outen[7], 1);
        }
        assert_int_equal(group_mechanism(b.b.group), GROUP_MECHANISM_SEQUENCE);
        assert_true(group_channels(b.b.group, &h, &r));
        assert_int_equal(h, 2);
        assert_int_equal(r, 0);
        assert_works(&b, GROUP_MECHANISM_SEQUENCE);
        assert_int_equal(remarks(&b), 0);
        disable(&b);
        for (size_t i = 0; i < 3; i++)
            assert_off(&b, i);
        group_fake_close(&b.b);
    }
}

static void test_channels_that_were_asked_for_are_only_compared(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    begin(&b);
    assert_int_equal(group_set_channels(b.b.group, 2, GROUP_ANY_CHANNEL, &d), CORRAL_OK);
    enable(&b);
    assert_true(group_fake_said(&b.b, "the channels are those of the pack's DebugCoreSetup"));
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

static void test_a_set_up_that_does_not_hold_is_run_once_more(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    begin(&b);
    b.p.core[1].bad_set_ups = 1;
    enable(&b);
    assert_int_equal(b.p.core[0].set_ups, 1);
    assert_int_equal(b.p.core[1].set_ups, 2);
    assert_joined(&b, 1);
    assert_int_equal(remarks(&b), 0);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

static void test_a_set_up_that_never_holds_leaves_its_core_to_software(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    begin(&b);
    b.p.core[1].bad_set_ups = GROUP_PACK_EVER;
    enable(&b);
    assert_int_equal(b.p.core[1].set_ups, 2);
    assert_int_equal(why(&b, 1), GROUP_WHY_SET_UP_NOT_HELD);
    assert_int_equal(group_get_member(b.b.group, 1)->halt, GROUP_MECHANISM_SOFTWARE);
    assert_non_null(strstr(group_get_member(b.b.group, 1)->detail, "CTIOUTEN0 is 0x0"));
    assert_true(group_fake_said(&b.b, "core1 is halted and started by itself: its CTI is not as its "
                                      "DebugCoreSetup should leave it"));
    assert_joined(&b, 0);
    assert_joined(&b, 2);
    assert_off(&b, 1);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    assert_off(&b, 1); /* not tried again and again */
    assert_int_equal(b.p.core[1].set_ups, 2);
    group_fake_close(&b.b);
}

static void test_a_set_up_that_fails_is_told_with_its_words(void **state)
{
    (void)state;
    for (unsigned holds = 0; holds < 2; holds++) {
        struct bench b = {.b = group_fake_new(3)};
        begin(&b);
        b.p.core[2].set_up_error = CORRAL_ERR_SEQUENCE;
        b.p.core[2].bad_set_ups = holds ? 0 : GROUP_PACK_EVER;
        enable(&b);
        assert_true(group_fake_said(&b.b, "DebugCoreSetup of core2 failed: Message(2)"));
        if (holds) {
            assert_joined(&b, 2);
        } else {
            assert_int_equal(why(&b, 2), GROUP_WHY_SET_UP_NOT_HELD);
            assert_string_equal(group_get_member(b.b.group, 2)->detail, "Message(2): as the test wants");
        }
        assert_works(&b, holds ? GROUP_MECHANISM_SEQUENCE : GROUP_MECHANISM_SOFTWARE);
        group_fake_close(&b.b);
    }
}

static void test_a_member_without_sequences_goes_along_by_software(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    begin(&b);
    b.p.core[0].without = true;
    enable(&b);
    assert_int_equal(why(&b, 0), GROUP_WHY_NO_SEQUENCE);
    assert_int_equal(b.p.core[0].set_ups, 0);
    assert_off(&b, 0);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(b.p.core[0].stops + b.p.core[0].starts + b.p.core[0].acknowledges, 0);
    assert_true(group_fake_said(&b.b, "core0 is halted and started by itself: the pack has no debug"));
    group_fake_close(&b.b);
}

static void test_one_member_with_sequences_has_nobody_to_be_joined_to(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    begin(&b);
    b.p.core[0].without = true;
    enable(&b);
    assert_int_equal(b.p.core[1].set_ups, 0);
    assert_int_equal(fake_target_writes(b.b.t, FAKE_CTI_BASE, FAKE_CTI_BASE + 0xFFF), 0);
    assert_true(group_fake_said(&b.b, "no two cores can be joined"));
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b.b);
}

static void test_members_on_other_channels_are_not_joined(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(4)};
    begin(&b);
    b.p.core[0].halt = 2; /* the first, but not the most */
    b.p.core[0].restart = 3;
    b.p.core[2].restart = 3; /* halts with the others, and would not start */
    enable(&b);
    assert_int_equal(why(&b, 0), GROUP_WHY_OTHER_CHANNELS);
    assert_int_equal(why(&b, 2), GROUP_WHY_OTHER_CHANNELS);
    assert_true(group_fake_said(&b.b, "(halt 2, restart 3 instead of 0 and 1)"));
    assert_joined(&b, 1);
    assert_joined(&b, 3);
    assert_off(&b, 0);
    assert_off(&b, 2);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b.b);
}

static void test_two_members_on_unlike_channels_are_asked_one_by_one(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct event e;
    begin(&b);
    b.p.core[1].halt = 2;
    enable(&b);
    group_fake_halt(&b.b, 0, &e);
    assert_true(group_fake_said(&b.b, "no two cores can be joined"));
    assert_off(&b, 0); /* alone on its channels: given back */
    assert_off(&b, 1);
    group_fake_run(&b.b, 0, &e);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b.b);
}

static void test_a_restart_output_left_alone_means_halted_together_only(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    begin(&b);
    b.p.core[0].no_restart = true;
    enable(&b);
    const struct group_member *m = group_get_member(b.b.group, 0);
    assert_int_equal(m->halt, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(m->run, GROUP_MECHANISM_SOFTWARE);
    assert_int_equal(m->run_why, GROUP_WHY_RESTART_NOT_SET_UP);
    group_fake_halt(&b.b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(b.p.core[1].starts, 1); /* the first that a pulse starts */
    assert_int_equal(b.p.core[0].starts + b.p.core[2].starts, 0);
    group_fake_close(&b.b);
}

static void test_what_the_user_connected_stays_and_is_put_back(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    for (size_t i = 0; i < 2; i++) {
        b.b.t->core[i].cti.control = 1;
        b.b.t->core[i].cti.inen[4] = b.b.t->core[i].cti.outen[5] = USERS;
        b.b.t->core[i].cti.inen[0] = USERS; /* as the sequence writes it, this is lost meanwhile */
    }
    begin(&b);
    enable(&b);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(b.b.t->core[i].cti.inen[4] & b.b.t->core[i].cti.outen[5], USERS);
    disable(&b);
    for (size_t i = 0; i < 2; i++) {
        const struct fake_cti *x = &b.b.t->core[i].cti;
        assert_int_equal(x->control, 1);
        assert_int_equal(x->inen[0], USERS);
        assert_int_equal(x->inen[4] & x->outen[5], USERS);
        assert_int_equal(x->outen[0] | x->outen[7], 0);
    }
    group_fake_close(&b.b);
}

static void test_a_channel_that_somebody_uses_is_not_taken_by_a_pack_either(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    b.b.t->core[1].cti.control = 1;
    b.b.t->core[1].cti.inen[4] = 1; /* channel 0 */
    begin(&b);
    enable(&b);
    assert_int_equal(why(&b, 1), GROUP_WHY_CHANNELS_TAKEN);
    assert_int_equal(b.b.t->core[1].cti.inen[4], 1);
    assert_int_equal(b.b.t->core[1].cti.inen[0] | b.b.t->core[1].cti.outen[0], 0);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    group_fake_close(&b.b);
}

/* Sheet 13.2: the seed's sequences never write GATE; 1.4.12: reset may leave anything in the rest. */
static void test_what_another_tool_left_closed_is_opened_before_and_closed_after(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    b.b.t->core[1].cti.gate = 0;
    b.b.t->core[1].cti.inen[6] = 3;
    b.b.t->core[1].cti.appset = 1;
    begin(&b);
    enable(&b);
    assert_joined(&b, 1);
    assert_int_equal(b.b.t->core[1].cti.gate, 0xF);
    assert_int_equal(b.b.t->core[1].cti.inen[6], 0);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    disable(&b);
    assert_int_equal(b.b.t->core[1].cti.gate, 0);
    assert_int_equal(b.b.t->core[1].cti.inen[6], 3);
    group_fake_close(&b.b);
}

/* Sheet 13.3: the seed's sequences do not open the lock. */
static void test_a_lock_is_opened_and_closed_again(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    b.b.t->core[0].cti.has_lock = true;
    begin(&b);
    enable(&b);
    assert_joined(&b, 0);
    disable(&b);
    assert_off(&b, 0);
    assert_false(b.b.t->core[0].cti.unlocked);
    group_fake_close(&b.b);
}

static void test_the_claim_is_ours_while_sync_is_on(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    b.b.t->core[0].cti.claim_tags = 0xF;
    begin(&b);
    enable(&b);
    assert_int_equal(b.b.t->core[0].cti.claim, 1);
    disable(&b);
    assert_int_equal(b.b.t->core[0].cti.claim, 0);
    group_fake_close(&b.b);
}

static void run_set_ups(struct bench *b)
{
    struct diag d = DIAG_INIT;
    b->p.sequences.already_run = true;
    for (size_t i = 0; i < b->b.count; i++)
        assert_int_equal(b->p.sequences.set_up(&b->p, i, &d), CORRAL_OK);
    group_pack_forget(&b->p);
}

static void test_a_set_up_that_had_been_run_is_not_run_again_and_taken_away(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    size_t repaired = 0;
    begin(&b);
    run_set_ups(&b);
    b.b.t->core[1].cti.outen[5] = USERS;
    assert_int_equal(group_repair(b.b.group, &repaired, &d), CORRAL_OK);
    assert_int_equal(repaired, 0);
    enable(&b);
    assert_int_equal(b.p.core[0].set_ups + b.p.core[1].set_ups, 0);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    disable(&b);
    assert_off(&b, 0);
    const struct fake_cti *x = &b.b.t->core[1].cti; /* something else is connected: it stays on for that */
    assert_int_equal(x->control, 1);
    assert_int_equal(x->outen[5], USERS);
    assert_int_equal(x->inen[0] | x->outen[0] | x->outen[7], 0);
    enable(&b); /* and from then on they are run as ever */
    assert_int_equal(b.p.core[0].set_ups, 1);
    assert_int_equal(b.p.core[1].set_ups, 1);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

static void test_a_set_up_that_had_been_run_and_does_not_hold_is_run_again(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct bench b = {.b = group_fake_new(2)};
        begin(&b);
        run_set_ups(&b);
        if (way)
            b.b.t->core[1].cti.control = 0; /* DebugCoreStart took it */
        else
            b.b.t->core[1].cti.outen[0] = 0;
        enable(&b);
        assert_int_equal(b.p.core[0].set_ups, 0);
        assert_int_equal(b.p.core[1].set_ups, 1);
        assert_works(&b, GROUP_MECHANISM_SEQUENCE);
        disable(&b);
        assert_off(&b, 1);
        group_fake_close(&b.b);
    }
}

static void take_registers(struct fake_cti *x)
{
    x->control = x->appset = x->out = 0;
    memset(x->inen, 0, sizeof(x->inen));
    memset(x->outen, 0, sizeof(x->outen));
    x->gate = 0xF;
}

static void test_a13_what_a_reset_took_is_made_again_by_the_sequence(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct bench b = {.b = group_fake_new(2)};
        struct event e;
        b.b.t->core[1].cti.gate = 7; /* to be put back, in spite of all */
        begin(&b);
        enable(&b);
        if (way)
            group_fake_halt(&b.b, 0, &e);
        take_registers(&b.b.t->core[1].cti);
        if (way)
            group_fake_run(&b.b, 0, &e);
        else
            group_fake_halt(&b.b, 0, &e);
        assert_true(group_fake_said(&b.b, "the CTI of core1 had lost its connections"));
        assert_int_equal(b.p.core[1].set_ups, 2);
        assert_int_equal(b.p.core[0].set_ups, 1);
        assert_joined(&b, 1);
        if (!way)
            group_fake_run(&b.b, 0, &e);
        assert_works(&b, GROUP_MECHANISM_SEQUENCE);
        disable(&b);
        assert_off(&b, 1);
        assert_int_equal(b.b.t->core[1].cti.gate, 7);
        group_fake_close(&b.b);
    }
}

static void test_what_a_reset_took_and_the_sequence_does_not_make_again(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    begin(&b);
    enable(&b);
    group_fake_halt(&b.b, 0, &e);
    take_registers(&b.b.t->core[1].cti);
    b.p.core[1].bad_set_ups = GROUP_PACK_EVER;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_true(group_fake_said(&b.b, "and they cannot be made again"));
    assert_int_equal(why(&b, 1), GROUP_WHY_SET_UP_NOT_HELD);
    assert_off(&b, 1);
    assert_works(&b, GROUP_MECHANISM_SOFTWARE);
    assert_joined(&b, 0);
    assert_joined(&b, 2);
    group_fake_close(&b.b);
}

static void test_a_core_that_comes_out_of_reset_is_set_up_then(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    b.b.t->core[2].in_reset = true;
    begin(&b);
    enable(&b);
    assert_int_equal(why(&b, 2), GROUP_WHY_UNREACHABLE);
    assert_int_equal(b.p.core[2].set_ups, 0);
    group_fake_halt(&b.b, 0, &e);
    b.b.t->core[2].in_reset = false;
    group_fake_run(&b.b, 0, &e);
    group_fake_halt(&b.b, 1, &e);
    group_fake_assert_all(&e, CORE_HALTED);
    group_fake_run(&b.b, 1, &e);
    assert_int_equal(b.p.core[2].set_ups, 1);
    assert_joined(&b, 2);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    disable(&b);
    for (size_t i = 0; i < 3; i++)
        assert_off(&b, i);
    group_fake_close(&b.b);
}

static void test_a28_islands_are_seen_while_a_halted_core_stays_halted(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(4)};
    b.b.t->core[2].ctm = b.b.t->core[3].ctm = 1;
    begin(&b);
    struct diag d = DIAG_INIT;
    assert_int_equal(group_halt_some(b.b.group, 2, 1, NULL, &d), CORRAL_OK);
    uint64_t starts = b.b.t->core[1].starts;
    enable(&b);
    assert_int_equal(b.b.t->core[1].starts, starts); /* the level that shows islands started nobody */
    assert_true(b.b.t->core[1].halted);
    assert_false(b.b.t->core[0].halted);
    assert_int_equal(group_get_member(b.b.group, 0)->island, group_get_member(b.b.group, 1)->island);
    assert_int_equal(group_get_member(b.b.group, 2)->island, group_get_member(b.b.group, 3)->island);
    assert_int_not_equal(group_get_member(b.b.group, 0)->island, group_get_member(b.b.group, 2)->island);
    struct event e;
    group_fake_halt(&b.b, 0, &e);
    group_pack_forget(&b.p);
    group_fake_run(&b.b, 0, &e);
    assert_int_equal(b.p.core[0].starts, 1); /* one an island */
    assert_int_equal(b.p.core[2].starts, 1);
    assert_int_equal(group_pack_starts(&b.p), 2);
    group_fake_close(&b.b);
}

static void test_a_link_that_dies_in_a_set_up_ends_it(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    begin(&b);
    b.p.core[1].set_up_error = CORRAL_ERR_LINK_DOWN;
    assert_int_equal(group_enable_sync(b.b.group, &d), CORRAL_ERR_LINK_DOWN);
    assert_false(group_sync_enabled(b.b.group));
    assert_off(&b, 0);
    assert_off(&b, 1);
    group_fake_close(&b.b);
}

static void test_sequences_are_given_while_sync_is_off(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    struct group_sequences none = {0};
    begin(&b);
    assert_int_equal(group_use_sequences(b.b.group, &none, &d), CORRAL_ERR_USAGE);
    enable(&b);
    assert_int_equal(group_use_sequences(b.b.group, NULL, &d), CORRAL_ERR_CORE_STATE);
    disable(&b);
    assert_int_equal(group_use_sequences(b.b.group, NULL, &d), CORRAL_OK);
    enable(&b);
    assert_int_equal(group_mechanism(b.b.group), GROUP_MECHANISM_CTI);
    assert_int_equal(b.p.core[0].set_ups, 1);
    group_fake_close(&b.b);
}

static void test_without_a_set_up_sequence_ctis_are_set_up_our_own_way(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    begin(&b);
    b.p.sequences.set_up = NULL;
    enable(&b);
    assert_joined(&b, 0);
    assert_works(&b, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(group_pack_starts(&b.p), 2);
    disable(&b);
    assert_off(&b, 0);
    group_fake_close(&b.b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_sync_not_one_sequence_runs_and_no_cti_is_written),
        cmocka_unit_test(test_each_member_is_set_up_once_and_the_channels_are_the_packs),
        cmocka_unit_test(test_channels_that_were_asked_for_are_only_compared),
        cmocka_unit_test(test_a_set_up_that_does_not_hold_is_run_once_more),
        cmocka_unit_test(test_a_set_up_that_never_holds_leaves_its_core_to_software),
        cmocka_unit_test(test_a_set_up_that_fails_is_told_with_its_words),
        cmocka_unit_test(test_a_member_without_sequences_goes_along_by_software),
        cmocka_unit_test(test_one_member_with_sequences_has_nobody_to_be_joined_to),
        cmocka_unit_test(test_members_on_other_channels_are_not_joined),
        cmocka_unit_test(test_two_members_on_unlike_channels_are_asked_one_by_one),
        cmocka_unit_test(test_a_restart_output_left_alone_means_halted_together_only),
        cmocka_unit_test(test_what_the_user_connected_stays_and_is_put_back),
        cmocka_unit_test(test_a_channel_that_somebody_uses_is_not_taken_by_a_pack_either),
        cmocka_unit_test(test_what_another_tool_left_closed_is_opened_before_and_closed_after),
        cmocka_unit_test(test_a_lock_is_opened_and_closed_again),
        cmocka_unit_test(test_the_claim_is_ours_while_sync_is_on),
        cmocka_unit_test(test_a_set_up_that_had_been_run_is_not_run_again_and_taken_away),
        cmocka_unit_test(test_a_set_up_that_had_been_run_and_does_not_hold_is_run_again),
        cmocka_unit_test(test_a13_what_a_reset_took_is_made_again_by_the_sequence),
        cmocka_unit_test(test_what_a_reset_took_and_the_sequence_does_not_make_again),
        cmocka_unit_test(test_a_core_that_comes_out_of_reset_is_set_up_then),
        cmocka_unit_test(test_a28_islands_are_seen_while_a_halted_core_stays_halted),
        cmocka_unit_test(test_a_link_that_dies_in_a_set_up_ends_it),
        cmocka_unit_test(test_sequences_are_given_while_sync_is_off),
        cmocka_unit_test(test_without_a_set_up_sequence_ctis_are_set_up_our_own_way),
    };
    return cmocka_run_group_tests_name("group-sequence", tests, NULL, NULL);
}
