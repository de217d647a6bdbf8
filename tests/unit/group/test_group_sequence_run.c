/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Halt, acknowledge and start by a pack's debug sequences, on modelled cores: what is run when and for whom,
 * and what is done where a sequence does nothing. Cross-trigger sheet 13 (4, 5, 14, 15, 18, 20); cases A6,
 * A8, A9, A19 to A21, A25. The rules are those of group.h "group_use_sequences".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group/group_fake.h"
#include "tests/unit/group/group_pack.h"

#define REG(offset) (FAKE_CTI_BASE + (offset))
#define INTACK      REG(0x010)
#define APPPULSE    REG(0x01C)
#define DHCSR       0xE000EDF0u
#define DFSR_BKPT   0x02u
#define C_HALT      0x2u
#define C_STEP      0x4u
#define C_MASKINTS  0x8u

struct bench {
    struct group_fake b;
    struct group_pack p;
    bool ready;
};

static void begin(struct bench *b)
{
    group_fake_start(&b->b, NULL);
    group_pack_init(&b->p, b->b.link, b->b.cores, b->b.count, FAKE_CTI_BASE);
    group_pack_use(&b->p, b->b.group);
    b->ready = true;
}

/* With sync on and all halted; the counts begin here. */
static void halted(struct bench *b)
{
    struct diag d = DIAG_INIT;
    struct event e;
    if (!b->ready)
        begin(b);
    if (group_enable_sync(b->b.group, &d))
        fail_msg("%s", d.message);
    group_fake_halt(&b->b, 0, &e);
    group_pack_forget(&b->p);
}

static size_t remarks(const struct bench *b)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->b.group, &list);
    for (size_t i = 0; i < n; i++)
        print_message("# %s\n", list[i].text);
    return n;
}

static void test_a_group_start_runs_one_start_whoever_leads(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(4)};
    struct event e;
    halted(&b);
    for (size_t leader = 0; leader < 4; leader++) {
        size_t from = b.b.t->log_count;
        group_pack_forget(&b.p);
        group_fake_run(&b.b, leader, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
        assert_int_equal(group_pack_starts(&b.p), 1);
        assert_int_equal(b.p.core[leader].starts, 1);
        assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
        assert_int_equal(group_fake_writes(&b.b, from, DHCSR), 0);
        group_fake_run(&b.b, leader, &e); /* nobody is halted: nothing is sent into running cores */
        assert_int_equal(group_pack_starts(&b.p), 1);
        group_fake_halt(&b.b, 3 - leader, &e);
        assert_int_equal(b.p.core[3 - leader].stops, 1);
        assert_int_equal(b.p.core[leader].stops, 0);
    }
    assert_int_equal(remarks(&b), 0);
    group_fake_close(&b.b);
}

/* Sheet 13.15: the sequence cannot know what the others need. */
static void test_all_are_made_ready_before_the_start(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    halted(&b);
    b.b.t->core[2].control |= C_STEP | C_MASKINTS;
    b.b.t->core[1].dfsr = DFSR_BKPT;
    size_t from = b.b.t->log_count;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    size_t pulse = fake_target_find(b.b.t, from, 0, APPPULSE);
    assert_true(fake_target_find(b.b.t, from, 2, DHCSR) < pulse);
    for (size_t i = 0; i < 3; i++)
        assert_true(fake_target_find(b.b.t, from, (uint32_t)i, 0xE000ED30u) < pulse);
    assert_int_equal(b.b.t->core[2].control & (C_STEP | C_MASKINTS), 0);
    group_fake_close(&b.b);
}

static void test_each_is_acknowledged_once_after_all_have_halted(void **state)
{
    (void)state;
    for (size_t leader = 0; leader < 3; leader++) {
        struct bench b = {.b = group_fake_new(3)};
        struct event e;
        halted(&b);
        group_fake_run(&b.b, 0, &e);
        group_pack_forget(&b.p);
        size_t from = b.b.t->log_count;
        group_fake_halt(&b.b, leader, &e);
        for (size_t i = from; i < b.b.t->log_count; i++)
            if (b.b.t->log[i].address == INTACK)
                assert_true(b.b.t->log[i].all_halted);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(b.p.core[i].acknowledges, 1); /* the originator's too (sheet 1.4, rule 2) */
        group_fake_assert_unlatched(&b.b);
        group_fake_run(&b.b, leader, &e); /* nothing shows any more: not once more */
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(b.p.core[i].acknowledges, 1);
        group_fake_close(&b.b);
    }
}

static void test_a6_not_one_is_acknowledged_before_all_have_halted(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    halted(&b);
    group_fake_run(&b.b, 0, &e);
    group_pack_forget(&b.p);
    b.b.t->core[2].other_ctm = true; /* comes late: it has to be asked by itself */
    size_t from = b.b.t->log_count, acknowledged = 0;
    group_fake_halt(&b.b, 0, &e);
    for (size_t i = from; i < b.b.t->log_count; i++)
        if (b.b.t->log[i].address == INTACK) {
            acknowledged++;
            assert_true(b.b.t->log[i].all_halted);
        }
    assert_true(acknowledged >= 3);
    group_fake_assert_unlatched(&b.b);
    group_fake_close(&b.b);
}

/* A6, A25: it was asserted again meanwhile. */
static void test_what_was_latched_again_is_acknowledged_before_the_start(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct event e;
    halted(&b);
    b.b.t->core[1].cti.out = 1;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(b.p.core[1].acknowledges, 1);
    assert_int_equal(b.p.core[0].acknowledges, 0);
    assert_int_equal(group_pack_starts(&b.p), 1);
    group_fake_close(&b.b);
}

static void test_an_acknowledge_that_does_nothing_is_made_up_for(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct bench b = {.b = group_fake_new(3)};
        struct event e;
        begin(&b);
        b.p.acknowledge_does_nothing = true;
        if (way)
            b.p.core[1].acknowledge_error = CORRAL_ERR_LINK_FAULT;
        halted(&b);
        group_fake_assert_unlatched(&b.b);
        assert_true(group_fake_said(&b.b, "ProcessorHaltAcknowledge of core1 did not clear its debug "
                                          "request: Corral acknowledged it"));
        assert_int_equal(group_fake_said(&b.b, "ProcessorHaltAcknowledge of core1 failed"), way);
        group_fake_run(&b.b, 0, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
        group_fake_halt(&b.b, 1, &e);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
        group_fake_assert_unlatched(&b.b);
        group_fake_close(&b.b);
    }
}

static void test_an_acknowledge_that_fails_after_it_worked_is_only_told(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    begin(&b);
    b.p.core[0].acknowledge_error = CORRAL_ERR_TIMEOUT; /* its own bound, not the link's */
    halted(&b);
    assert_true(group_fake_said(&b.b, "ProcessorHaltAcknowledge of core0 failed"));
    assert_false(group_fake_said(&b.b, "did not clear"));
    group_fake_close(&b.b);
}

/* Sheet 13.10: with a level it cannot take effect while any core is halted. That is not the sequence's doing.
 */
static void test_a19_a_level_is_taken_off_before_the_acknowledge(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct event e;
    b.b.t->core[0].level_halted = true;
    halted(&b);
    assert_true(group_get_member(b.b.group, 0)->level_halted);
    for (unsigned round = 0; round < 4; round++) {
        group_fake_run(&b.b, round % 2, &e);
        group_fake_assert_all(&e, CORE_RUNNING);
        group_fake_halt(&b.b, 1 - round % 2, &e);
        group_fake_assert_all(&e, CORE_HALTED);
        group_fake_assert_unlatched(&b.b);
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    }
    assert_int_equal(remarks(&b), 0);
    group_fake_close(&b.b);
}

static void test_a_start_that_does_nothing_gives_way_to_our_pulse(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct diag d = DIAG_INIT;
    struct event e;
    begin(&b);
    b.p.start_does_nothing = true;
    halted(&b);
    size_t from = b.b.t->log_count;
    group_fake_run(&b.b, 1, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    assert_int_equal(group_pack_starts(&b.p), 1);
    assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
    assert_int_equal(group_fake_writes(&b.b, from, DHCSR), 0);
    assert_true(group_fake_said(&b.b, "ProcessorStart of core1 did not start the cores: Corral did"));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(group_get_member(b.b.group, i)->halt, GROUP_MECHANISM_SEQUENCE);
        assert_int_equal(group_get_member(b.b.group, i)->run, GROUP_MECHANISM_CTI);
    }
    group_fake_halt(&b.b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    group_fake_run(&b.b, 0, &e);
    assert_int_equal(group_pack_starts(&b.p), 1); /* not tried again */
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    /* Turned on anew it gets another chance. */
    assert_int_equal(group_disable_sync(b.b.group, &d), CORRAL_OK);
    b.p.start_does_nothing = false;
    halted(&b);
    group_fake_run(&b.b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

/* The seed's default ProcessorStart: by DHCSR, its own core alone. Once per core is not what it is run. */
static void test_a_start_that_moves_its_own_core_only(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    begin(&b);
    b.p.start_moves_one = true;
    halted(&b);
    uint64_t starts = b.b.t->core[2].starts;
    group_fake_run(&b.b, 2, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(b.b.t->core[2].starts, starts + 1);
    assert_int_equal(group_pack_starts(&b.p), 1);
    assert_true(group_fake_said(&b.b, "ProcessorStart of core2 did not start the cores"));
    group_fake_close(&b.b);
}

static void test_a_start_that_fails_after_its_pulse_is_not_repeated(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct event e;
    begin(&b);
    b.p.core[0].start_error = CORRAL_ERR_SEQUENCE;
    halted(&b);
    size_t from = b.b.t->log_count;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_true(group_fake_said(&b.b, "ProcessorStart of core0 failed: Message(2)"));
    assert_int_equal(group_get_member(b.b.group, 0)->run, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

/* A core that misses one pulse gets another, ours; that is not held against the sequence. */
static void test_a9_a_straggler_gets_a_second_pulse_and_no_second_start(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    halted(&b);
    b.b.t->core[2].deaf_restarts = 1;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(group_pack_starts(&b.p), 1);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(remarks(&b), 0);
    group_fake_close(&b.b);
}

static void test_no_second_start_once_a_core_has_stopped_again(void **state)
{
    (void)state;
    for (unsigned reads = 0; reads < 2; reads++) {
        struct bench b = {.b = group_fake_new(3)};
        struct event e;
        begin(&b);
        b.p.start_reads_dhcsr = reads;
        halted(&b);
        b.b.t->core[1].stop_at_once = DFSR_BKPT;
        b.b.t->core[2].deaf_restarts = 1; /* one that has not started: no reason for another pulse now */
        uint64_t starts = b.b.t->core[1].starts;
        size_t from = b.b.t->log_count;
        struct diag d = DIAG_INIT;
        assert_int_equal(group_run(b.b.group, 0, &e, &d), CORRAL_OK);
        assert_int_equal(b.b.t->core[1].starts, starts + 1);
        assert_int_equal(group_pack_starts(&b.p), 1);
        assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
        group_fake_halt(&b.b, 0, &e);
        assert_int_equal(e.halt.cores[1].reason, HALT_REASON_BREAKPOINT);
        assert_true(e.halt.cores[1].first);
        group_fake_close(&b.b);
    }
}

/* One member's DebugCoreSetup is all there is of it: the start is the next one's, the rest our own. */
static void test_a_member_with_a_set_up_only_is_served_by_the_others(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct event e;
    begin(&b);
    b.p.core[0].without_run = true;
    halted(&b);
    size_t from = b.b.t->log_count;
    group_fake_run(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(b.p.core[1].starts, 1);
    assert_int_equal(group_pack_starts(&b.p), 1);
    assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
    from = b.b.t->log_count;
    group_fake_halt(&b.b, 0, &e);
    group_fake_assert_all(&e, CORE_HALTED);
    assert_int_equal(group_fake_writes(&b.b, from, DHCSR), 1);
    group_fake_assert_unlatched(&b.b);
    b.p.core[1].without_run = b.p.core[2].without_run = true; /* nobody: our own pulse */
    from = b.b.t->log_count;
    group_fake_run(&b.b, 2, &e);
    group_fake_assert_all(&e, CORE_RUNNING);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_CTI);
    assert_int_equal(group_fake_writes(&b.b, from, APPPULSE), 1);
    assert_int_equal(remarks(&b), 0);
    group_fake_close(&b.b);
}

/* Fewer than there are: the others are kept from the pulse that the sequence makes. */
static void test_some_are_started_and_the_others_stay(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct diag d = DIAG_INIT;
    struct event e;
    halted(&b);
    uint64_t starts = b.b.t->core[1].starts;
    if (group_run_some(b.b.group, 5, 2, &e, &d))
        fail_msg("%s", d.message);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(b.p.core[2].starts, 1);
    assert_int_equal(group_pack_starts(&b.p), 1);
    assert_int_equal(b.b.t->core[1].starts, starts);
    assert_true(b.b.t->core[1].halted);
    assert_false(b.b.t->core[0].halted || b.b.t->core[2].halted);
    assert_int_equal(b.b.t->core[1].cti.outen[7], 2); /* and listens again */
    if (group_halt_some(b.b.group, 4, 2, &e, &d))
        fail_msg("%s", d.message);
    assert_false(b.b.t->core[0].halted);
    assert_int_equal(b.p.core[2].stops, 1);
    group_fake_close(&b.b);
}

/* One by itself: no pulse, so no sequence, is wanted for it. */
static void test_one_is_started_by_its_own_register(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct diag d = DIAG_INIT;
    halted(&b);
    if (group_run_some(b.b.group, 2, 1, NULL, &d))
        fail_msg("%s", d.message);
    assert_int_equal(group_pack_starts(&b.p), 0);
    assert_true(b.b.t->core[0].halted && b.b.t->core[2].halted);
    assert_false(b.b.t->core[1].halted);
    group_fake_close(&b.b);
}

/* A20, sheet 13.18. */
static void test_a20_a_step_runs_no_start_and_moves_nobody_else(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    halted(&b);
    uint64_t starts = b.b.t->core[1].starts;
    if (group_step(b.b.group, 0, 3, NULL, &d))
        fail_msg("%s", d.message);
    assert_int_equal(group_pack_starts(&b.p), 0);
    assert_int_equal(b.b.t->core[1].starts, starts);
    group_fake_assert_unlatched(&b.b);
    assert_int_equal(b.b.t->core[0].cti.inen[0], 1);
    group_fake_close(&b.b);
}

/* A21, sheet 13.20. */
static void test_a21_one_that_is_kept_to_itself_is_not_asked_by_sequences(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct diag d = DIAG_INIT;
    struct event e;
    halted(&b);
    assert_int_equal(group_disarm(b.b.group, 0, &d), CORRAL_OK);
    group_fake_run(&b.b, 0, &e);
    assert_int_equal(b.p.core[1].starts, 1);
    assert_int_equal(group_pack_starts(&b.p), 1);
    group_pack_forget(&b.p);
    group_fake_halt(&b.b, 0, &e);
    assert_int_equal(b.p.core[0].stops, 0); /* it drags nobody along, so it is halted our own way */
    group_fake_assert_all(&e, CORE_HALTED);
    assert_int_equal(group_arm(b.b.group, 0, &d), CORRAL_OK);
    group_fake_run(&b.b, 0, &e);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    group_fake_close(&b.b);
}

static void test_without_a_stop_sequence_the_leader_is_asked_our_own_way(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct event e;
    begin(&b);
    b.p.sequences.stop = NULL;
    halted(&b);
    group_fake_run(&b.b, 0, &e);
    size_t from = b.b.t->log_count;
    group_fake_halt(&b.b, 1, &e);
    assert_int_equal(group_fake_writes(&b.b, from, DHCSR), 1);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_true(e.halt.cores[1].first);
    assert_int_equal(remarks(&b), 0);
    group_fake_close(&b.b);
}

static void test_a_stop_that_does_nothing_is_made_up_for(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct bench b = {.b = group_fake_new(3)};
        struct event e;
        halted(&b);
        group_fake_run(&b.b, 0, &e);
        b.p.stop_does_nothing = true;
        b.p.core[1].stop_error = way ? CORRAL_ERR_SEQUENCE : CORRAL_OK;
        size_t from = b.b.t->log_count;
        group_fake_halt(&b.b, 1, &e);
        group_fake_assert_all(&e, CORE_HALTED);
        assert_int_equal(group_fake_writes(&b.b, from, DHCSR), 1); /* one request; the others follow it */
        assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
        assert_true(e.halt.cores[1].first);
        assert_int_equal(e.halt.cores[0].reason, HALT_REASON_CROSS_TRIGGER);
        assert_true(group_fake_said(&b.b, "ProcessorStop of core1 did not halt it"));
        assert_int_equal(group_fake_said(&b.b, "ProcessorStop of core1 failed: Message(2)"), way);
        group_fake_assert_unlatched(&b.b);
        group_fake_close(&b.b);
    }
}

/* Halted by itself: there is nobody to stop. */
static void test_a_breakpoint_needs_no_stop(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(3)};
    struct diag d = DIAG_INIT;
    struct event e;
    bool stopped = false;
    halted(&b);
    group_fake_run(&b.b, 0, &e);
    group_pack_forget(&b.p);
    fake_target_stop(b.b.t, 2, DFSR_BKPT);
    for (unsigned i = 0; i < 8 && !stopped; i++)
        assert_int_equal(group_poll(b.b.group, &stopped, &e, &d), CORRAL_OK);
    assert_true(stopped);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    assert_true(e.halt.cores[2].first);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(b.p.core[i].stops, 0);
        assert_int_equal(b.p.core[i].acknowledges, 1);
    }
    group_fake_assert_unlatched(&b.b);
    group_fake_close(&b.b);
}

static void test_a_link_that_dies_in_a_start_ends_it(void **state)
{
    (void)state;
    struct bench b = {.b = group_fake_new(2)};
    struct diag d = DIAG_INIT;
    halted(&b);
    b.p.core[0].start_error = CORRAL_ERR_LINK_DOWN;
    assert_int_equal(group_run(b.b.group, 0, NULL, &d), CORRAL_ERR_LINK_DOWN);
    b.p.core[0].start_error = CORRAL_OK;
    b.p.core[0].stop_error = CORRAL_ERR_INTERRUPTED;
    assert_int_equal(group_halt(b.b.group, 0, NULL, &d), CORRAL_ERR_INTERRUPTED);
    group_fake_close(&b.b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_group_start_runs_one_start_whoever_leads),
        cmocka_unit_test(test_all_are_made_ready_before_the_start),
        cmocka_unit_test(test_each_is_acknowledged_once_after_all_have_halted),
        cmocka_unit_test(test_a6_not_one_is_acknowledged_before_all_have_halted),
        cmocka_unit_test(test_what_was_latched_again_is_acknowledged_before_the_start),
        cmocka_unit_test(test_an_acknowledge_that_does_nothing_is_made_up_for),
        cmocka_unit_test(test_an_acknowledge_that_fails_after_it_worked_is_only_told),
        cmocka_unit_test(test_a19_a_level_is_taken_off_before_the_acknowledge),
        cmocka_unit_test(test_a_start_that_does_nothing_gives_way_to_our_pulse),
        cmocka_unit_test(test_a_start_that_moves_its_own_core_only),
        cmocka_unit_test(test_a_start_that_fails_after_its_pulse_is_not_repeated),
        cmocka_unit_test(test_a9_a_straggler_gets_a_second_pulse_and_no_second_start),
        cmocka_unit_test(test_no_second_start_once_a_core_has_stopped_again),
        cmocka_unit_test(test_a_member_with_a_set_up_only_is_served_by_the_others),
        cmocka_unit_test(test_some_are_started_and_the_others_stay),
        cmocka_unit_test(test_one_is_started_by_its_own_register),
        cmocka_unit_test(test_a20_a_step_runs_no_start_and_moves_nobody_else),
        cmocka_unit_test(test_a21_one_that_is_kept_to_itself_is_not_asked_by_sequences),
        cmocka_unit_test(test_without_a_stop_sequence_the_leader_is_asked_our_own_way),
        cmocka_unit_test(test_a_stop_that_does_nothing_is_made_up_for),
        cmocka_unit_test(test_a_breakpoint_needs_no_stop),
        cmocka_unit_test(test_a_link_that_dies_in_a_start_ends_it),
    };
    return cmocka_run_group_tests_name("group-sequence-run", tests, NULL, NULL);
}
