/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients and cores: the cases D1 to D30 of the cross-trigger sheet that need no socket and no gdb, on the
 * virtual board. tests/peers/gdb has them once more with the real gdb.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdb_rig.h"

static const struct rig_options with_sync = {.sync = true};

/* Both clients on a stopped group with sync. */
static struct rig *open_pair(const struct rig_options *o)
{
    struct rig *r = malloc(sizeof(*r));
    assert_non_null(r);
    rig_open(r, o);
    rig_connect(r, &r->a, 0);
    rig_connect(r, &r->b, 1);
    return r;
}

static void close_pair(struct rig *r)
{
    rig_close(r);
    free(r);
}

/* A word of core 0's that moves while it runs. */
static uint32_t asked(struct rig *r)
{
    return rig_read32(r, 0, rig_symbol(r, 0, "mailbox_asked"));
}

static void test_continue_runs_all_and_ctrl_c_stops_all(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t before = asked(r);
    rig_wait(r, 2);
    assert_int_equal(asked(r), before); /* the first client of a running target halts it */
    rig_send(&r->a, "vCont;c");
    rig_expect_silence(&r->a);
    rig_wait(r, 4);
    assert_true(asked(r) != before);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    rig_expect_silence(&r->b); /* D4: it did not wait */
    before = asked(r);
    rig_wait(r, 2);
    assert_int_equal(asked(r), before);
    assert_false(rig_latched(r, 0) || rig_latched(r, 1));
    close_pair(r);
}

static void test_d1_a_stop_before_the_others_continue(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", rig_symbol(r, 1, "mailbox_answer"))), "OK");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02");
    rig_expect_silence(&r->b);
    rig_send(&r->b, "vCont;c"); /* on arrival: the reply, and no restart */
    rig_expect_stop(&r->b, "T05hwbreak:;");
    uint32_t before = asked(r);
    rig_wait(r, 2);
    assert_int_equal(asked(r), before);
    close_pair(r);
}

static size_t count_pulses(struct rig *r)
{
    static struct link_sim_bus_record records[200000];
    size_t n = link_sim_bus_log(r->link, 0, records, 200000), pulses = 0;
    for (size_t i = 0; i < n; i++)
        pulses += records[i].write && records[i].address == 0xE004201Cu;
    return pulses;
}

static void test_d2_two_continues_one_pulse(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    size_t before = count_pulses(r);
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    assert_int_equal(count_pulses(r), before + 1);
    rig_wait(r, 2);
    gdb_client_interrupt(r->b.client);
    rig_expect_stop(&r->b, "T02");
    rig_expect_stop(&r->a, "T02"); /* D4: it waited */
    close_pair(r);
}

static void test_d3_registers_of_a_running_core(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_int_equal(strlen(rig_ask(&r->b, "g")), 17 * 8);
    rig_send(&r->a, "vCont;c");
    assert_string_equal(rig_ask(&r->b, "g"), "E.core is running");
    assert_string_equal(rig_ask(&r->b, "p19"), "E.core is running");
    assert_string_equal(rig_ask(&r->b, "Pf=00000000"), "E.core is running");
    assert_int_equal(strlen(rig_ask(&r->b, "m20000000,4")), 8);
    close_pair(r);
}

/* gdb steps off a breakpoint before it continues: meanwhile somebody else may have started the group. */
static void test_a_step_while_the_group_runs_joins(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 1, "mailbox_answer");
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", at)), "OK");
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;s:1;c");
    rig_expect_silence(&r->b);
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02");
    rig_expect_stop(&r->b, "T05hwbreak:;");
    close_pair(r);
}

/* ... or between the reply to that step and gdb's look at the registers. */
static void test_registers_of_a_stop_that_is_over(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    rig_send(&r->b, "vCont;s:1;c");
    rig_expect_stop(&r->b, "T05");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 2);
    const char *g = rig_ask(&r->b, "g");
    assert_int_equal(strlen(g), 17 * 8);
    assert_int_not_equal(strncmp(g + 15 * 8, "00000000", 8), 0);
    assert_string_equal(rig_ask(&r->b, "g"), "E.core is running");
    close_pair(r);
}

static void test_d5_d6_ctrl_c_that_comes_late(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    gdb_client_interrupt(r->a.client);
    gdb_client_interrupt(r->b.client);
    rig_expect_stop(&r->a, "T02");
    rig_expect_stop(&r->b, "T02");
    gdb_client_interrupt(r->a.client); /* behind the stop: it must not stop the next run */
    rig_expect_silence(&r->a);
    rig_send(&r->a, "vCont;c");
    uint32_t before = asked(r);
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    assert_true(asked(r) != before);
    close_pair(r);
}

static uint32_t pc_of(struct rig_client *c)
{
    uint8_t bytes[4];
    const char *hex = rig_ask(c, "pf");
    assert_int_equal(strlen(hex), 8);
    for (int i = 0; i < 4; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return (uint32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16) | (uint32_t)bytes[3] << 24;
}

static void test_d7_a_step_moves_one_core(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t a = pc_of(&r->a), b = pc_of(&r->b);
    size_t from = link_sim_log_count(r->link);
    rig_send(&r->a, "vCont;s:1;c");
    rig_expect_stop(&r->a, "T05thread:1;");
    rig_expect_silence(&r->b);
    assert_true(pc_of(&r->a) != a);
    assert_int_equal(pc_of(&r->b), b);
    struct link_sim_record records[16];
    size_t n = link_sim_log(r->link, from, records, 16);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(records[i].core, 0);
    assert_false(rig_latched(r, 0) || rig_latched(r, 1));
    close_pair(r);
}

static void test_d8_a_step_over_an_instruction_with_a_breakpoint(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t a = pc_of(&r->a), b = pc_of(&r->b);
    assert_string_equal(rig_ask(&r->a, rig_packet("Z1,%x,2", a)), "OK");
    rig_send(&r->a, "vCont;s:1;c");
    rig_expect_stop(&r->a, "T05thread:1;");
    assert_true(pc_of(&r->a) != a);
    assert_int_equal(pc_of(&r->b), b);
    assert_false(rig_latched(r, 1));
    close_pair(r);
}

static void test_d9_resumes_that_name_nobody(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t before = asked(r);
    assert_int_equal(rig_ask(&r->a, "vCont;c:7")[0], 'E');
    assert_int_equal(rig_ask(&r->a, "vCont;t")[0], 'E');
    assert_int_equal(rig_ask(&r->a, "vCont;s:7;c:1")[0], 'E');
    rig_wait(r, 2);
    assert_int_equal(asked(r), before);
    close_pair(r);
}

static void test_d10_continue_of_the_one_thread(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t before = asked(r);
    rig_send(&r->a, "vCont;c:1");
    rig_wait(r, 4);
    assert_true(asked(r) != before);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    close_pair(r);
}

static void test_d11_steps_as_long_as_pc_is_inside(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 0, "crc32_update");
    assert_string_equal(rig_ask(&r->a, rig_packet("Z1,%x,2", at)), "OK");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 100);
    rig_expect_stop(&r->a, "T05hwbreak:;");
    uint32_t b = pc_of(&r->b);
    assert_string_equal(rig_ask(&r->a, rig_packet("z1,%x,2", at)), "OK");
    rig_send(&r->a, rig_packet("vCont;r%x,%x:1;c", at, at + 8));
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T05thread:1;");
    uint32_t pc = pc_of(&r->a);
    assert_true(pc < at || pc >= at + 8);
    assert_int_equal(pc_of(&r->b), b);
    close_pair(r);
}

static void test_d12_the_other_core_stands_on_a_breakpoint(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", rig_symbol(r, 1, "mailbox_answer"))), "OK");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->b, "T05hwbreak:;");
    uint32_t at = pc_of(&r->b);
    /* A starts all: B passes it unseen, and meets it again on the next pass */
    rig_catch_up(&r->a, "T02");
    uint32_t before = asked(r);
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02");
    rig_expect_silence(&r->b);
    assert_int_equal(pc_of(&r->b), at);
    assert_true(asked(r) != before);
    close_pair(r);
}

static void test_d12_removed_by_z_at_the_stop_and_armed_all_the_same(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 1, "mailbox_answer");
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", at)), "OK");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->b, "T05hwbreak:;");
    assert_string_equal(rig_ask(&r->b, rig_packet("z1,%x,2", at)), "OK"); /* as gdb does at every stop */
    rig_catch_up(&r->a, "T02");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02");
    /* it resumes without it: it is gone */
    rig_send(&r->b, "vCont;c");
    rig_expect_stop(&r->b, "T05"); /* the stop it has not heard of; no hwbreak: gdb has none there now */
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_silence(&r->b);
    close_pair(r);
}

static unsigned comparators(struct rig *r, size_t core)
{
    unsigned used = 0;
    for (unsigned i = 0; i < 8; i++)
        used += rig_read32(r, core, 0xE0002008u + 4 * i) & 1;
    return used;
}

static void test_d13_one_address_on_two_cores(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->a, "Z1,8000200,2"), "OK");
    assert_string_equal(rig_ask(&r->b, "Z1,8000200,2"), "OK");
    rig_connect(r, &r->aux, 0);
    assert_string_equal(rig_ask(&r->aux, "Z0,8000200,2"), "OK");
    assert_int_equal(comparators(r, 0), 1);
    assert_string_equal(rig_ask(&r->a, "z1,8000200,2"), "OK");
    rig_leave(&r->a);
    assert_int_equal(comparators(r, 0), 1); /* the second client wants it */
    rig_leave(&r->aux);
    assert_int_equal(comparators(r, 0), 0);
    assert_int_equal(comparators(r, 1), 1);
    close_pair(r);
}

static void test_d14_no_comparator_is_left(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    for (unsigned i = 0; i < 8; i++)
        assert_string_equal(rig_ask(&r->a, rig_packet("Z1,%x,2", 0x8000200 + 16 * i)), "OK");
    assert_int_equal(rig_ask(&r->a, "Z1,8000300,2")[0], 'E');
    assert_int_equal(comparators(r, 0), 8);
    assert_int_equal(comparators(r, 1), 0);
    /* one taken away makes room at once for another, not at the next resume */
    assert_string_equal(rig_ask(&r->a, "z1,8000200,2"), "OK");
    assert_string_equal(rig_ask(&r->a, "Z1,8000300,2"), "OK");
    assert_int_equal(comparators(r, 0), 8);
    close_pair(r);
}

static void test_d15_breakpoints_while_the_group_runs(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 1, "mailbox_answer");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", at)), "OK");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02");
    rig_send(&r->a, "vCont;c");
    assert_string_equal(rig_ask(&r->b, rig_packet("z1,%x,2", at)), "OK");
    assert_int_equal(comparators(r, 1), 0);
    close_pair(r);
}

static void test_d16_a_second_client_of_a_port(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    rig_send(&r->a, "vCont;c");
    uint32_t before = asked(r);
    rig_connect(r, &r->aux, 0); /* its ? halts nobody */
    assert_int_equal(strlen(rig_ask(&r->aux, "g")), 17 * 8);
    assert_string_equal(rig_ask(&r->aux, "g"), "E.core is running");
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    assert_true(asked(r) != before);
    assert_int_equal(strlen(rig_ask(&r->aux, "m20000000,10")), 32);
    rig_send(&r->aux, "vCont;c"); /* joins */
    rig_expect_silence(&r->aux);
    rig_leave(&r->aux);
    before = asked(r);
    rig_wait(r, 4);
    assert_true(asked(r) != before);
    rig_expect_silence(&r->a);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    close_pair(r);
}

static void test_d17_a_client_that_vanishes_while_it_waits(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->a, "Z1,803fff0,2"), "OK"); /* nobody comes there */
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_leave(&r->a);
    assert_int_equal(comparators(r, 0), 0);
    uint32_t before = asked(r);
    rig_wait(r, 10);
    assert_true(asked(r) != before);
    gdb_client_interrupt(r->b.client);
    rig_expect_stop(&r->b, "T02");
    close_pair(r);
}

static void test_d18_followers_have_no_cause(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 1, "mailbox_answer");
    assert_string_equal(rig_ask(&r->a, rig_packet("Z1,%x,2", at)), "OK"); /* its own core never comes there */
    assert_string_equal(rig_ask(&r->b, rig_packet("Z0,%x,2", at)), "OK");
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, "T02thread:1;");
    rig_expect_stop(&r->b, "T05swbreak:;thread:1;");
    close_pair(r);
}

static void test_d19_a_watchpoint(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    uint32_t at = rig_symbol(r, 0, "mailbox_asked");
    assert_string_equal(rig_ask(&r->a, rig_packet("Z2,%x,4", at)), "OK");
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->a, rig_packet("T05watch:%x;", at));
    rig_expect_stop(&r->b, "T02thread");
    close_pair(r);
}

static void test_d20_a_core_that_does_not_halt(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 2);
    assert_string_equal(link_sim_command(r->link, "power core1 off"), "ok\n");
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    rig_expect_silence(&r->b);                          /* until its core stops */
    assert_non_null(strstr(rig_texts(&r->a), "core1")); /* why, to one that waited */
    assert_string_equal(rig_texts(&r->a), "");
    gdb_client_interrupt(r->b.client); /* its user wants the prompt */
    rig_expect_stop(&r->b, "T02");
    close_pair(r);
}

static void test_d28_a_continue_that_fails_is_a_stop(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    /* the CTI of core 0 does not answer any more: neither acknowledge nor pulse */
    assert_string_equal(link_sim_command(r->link, "apfault 0 0xE0042000 0xFFFFF000"), "ok\n");
    rig_send(&r->a, "vCont;c");
    rig_expect_stop(&r->a, "T02"); /* an error would look like a stop with signal 0 */
    assert_non_null(strstr(rig_texts(&r->a), "FAULT"));
    rig_expect_silence(&r->b);
    assert_string_equal(link_sim_command(r->link, "apfault off"), "ok\n");
    uint32_t before = asked(r);
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    assert_true(asked(r) != before);
    close_pair(r);
}

static void test_d21_monitor_reset_halt(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    rig_send(&r->b, "vCont;c");
    assert_string_equal(rig_ask(&r->a, "qRcmd,72657365742068616c74"), "OK");
    rig_expect_stop(&r->b, "T05");
    assert_int_equal(pc_of(&r->a), rig_read32(r, 0, 4) & ~1u);
    assert_int_equal(pc_of(&r->b), rig_read32(r, 1, 4) & ~1u);
    rig_send(&r->a, "vCont;c"); /* who asked for it knows of it */
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    close_pair(r);
}

static void test_d23_cross_triggers_go_with_the_last_client(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->a, "D"), "OK");
    assert_int_equal(r->a.how, GDB_SEND_CLOSE);
    rig_leave(&r->a);
    assert_int_equal(rig_read32(r, 0, 0xE0042000u) & 1, 1);
    rig_send(&r->b, "k");
    assert_int_equal(r->b.how, GDB_SEND_CLOSE);
    rig_leave(&r->b);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rig_read32(r, i, 0xE0042000u) & 1, 0);
        assert_false(rig_latched(r, i));
    }
    uint32_t before = asked(r);
    rig_wait(r, 4);
    assert_true(asked(r) != before); /* it ran when the first one came */
    rig_connect(r, &r->a, 0);
    assert_int_equal(rig_read32(r, 0, 0xE0042000u) & 1, 1);
    close_pair(r);
}

static void test_d23_keep_leaves_them_halted(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){.sync = true, .on_detach = GDB_DETACH_KEEP});
    rig_leave(&r->a);
    rig_leave(&r->b);
    uint32_t before = asked(r);
    rig_wait(r, 4);
    assert_int_equal(asked(r), before);
    close_pair(r);
}

static void test_d25_without_sync_cores_are_independent(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){0});
    uint32_t at = rig_symbol(r, 1, "mailbox_answer");
    assert_string_equal(rig_ask(&r->b, rig_packet("Z1,%x,2", at)), "OK");
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 20);
    rig_expect_stop(&r->b, "T05hwbreak:;");
    rig_expect_silence(&r->a);
    assert_string_equal(rig_ask(&r->a, "g"), "E.core is running");
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    rig_leave(&r->a);
    rig_leave(&r->b);
    assert_int_equal(rig_cti_writes(r), 0);
    close_pair(r);
}

static void test_d26_one_cti_is_not_enough(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){.board = "--no-cti core1", .sync = true});
    uint32_t before = asked(r);
    rig_send(&r->a, "vCont;c");
    rig_send(&r->b, "vCont;c");
    rig_wait(r, 4);
    assert_true(asked(r) != before);
    gdb_client_interrupt(r->b.client);
    rig_expect_stop(&r->b, "T02");
    rig_expect_stop(&r->a, "T02"); /* by software */
    close_pair(r);
}

static void test_d27_a_core_that_is_held_in_reset(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){.board = "--held-in-reset core1", .sync = true});
    assert_string_equal(rig_ask(&r->b, "?"), "T02thread:1;");
    /* gdb would leave on an error to its first look (test_d16): after that, the reason */
    assert_int_equal(strlen(rig_ask(&r->b, "g")), 17 * 8);
    assert_string_equal(rig_ask(&r->b, "g"), "E.core in reset");
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 4);
    rig_expect_silence(&r->a);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    close_pair(r);
}

#define SYSINFO_RESET_HOLD 0x40010808u

static void test_d27_who_waits_for_a_core_in_reset(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){.board = "--held-in-reset core1", .sync = true});
    rig_send(&r->b, "vCont;c");
    rig_send(&r->a, "vCont;c");
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    rig_expect_silence(&r->b); /* gdb would ask for registers that there are none of */
    rig_send(&r->a, "vCont;c");
    assert_int_equal(link_write32(r->link, core_ap(r->cores[0]), SYSINFO_RESET_HOLD, 0, NULL), CORRAL_OK);
    rig_wait(r, 4);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    rig_expect_stop(&r->b, "T02"); /* it had joined */
    assert_int_equal(strlen(rig_ask(&r->b, "g")), 17 * 8);
    close_pair(r);
}

static void test_d27_ctrl_c_for_a_core_in_reset_gives_the_prompt(void **state)
{
    (void)state;
    struct rig *r = open_pair(&(struct rig_options){.board = "--held-in-reset core1", .sync = true});
    rig_send(&r->b, "vCont;c");
    gdb_client_interrupt(r->b.client);
    rig_expect_stop(&r->b, "T02");
    close_pair(r);
}

static void test_all_cores_as_threads(void **state)
{
    (void)state;
    struct rig *r = malloc(sizeof(*r));
    assert_non_null(r);
    rig_open(r, &(struct rig_options){.sync = true, .all = true});
    rig_connect(r, &r->a, GDB_ALL_CORES);
    assert_string_equal(rig_ask(&r->a, "qfThreadInfo"), "m1,2");
    assert_string_equal(rig_ask(&r->a, "qsThreadInfo"), "l");
    assert_non_null(strstr(rig_ask(&r->a, "qXfer:threads:read::0,1000"), "name=\"core1\""));
    assert_string_equal(rig_ask(&r->a, "Hg2"), "OK");
    uint32_t b = pc_of(&r->a);
    assert_string_equal(rig_ask(&r->a, "Hg1"), "OK");
    uint32_t a = pc_of(&r->a);
    rig_send(&r->a, "vCont;s:2;c");
    rig_expect_stop(&r->a, "T05thread:2;");
    assert_true(pc_of(&r->a) != b);
    assert_string_equal(rig_ask(&r->a, "Hg1"), "OK");
    assert_int_equal(pc_of(&r->a), a);
    rig_send(&r->a, "vCont;c");
    uint32_t before = asked(r);
    rig_wait(r, 4);
    assert_true(asked(r) != before);
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    close_pair(r);
}

static void test_memory_and_registers_are_written(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->a, "M2001f000,4:01020304"), "OK");
    assert_string_equal(rig_ask(&r->a, "m2001f000,4"), "01020304");
    assert_string_equal(rig_ask(&r->a, "M2001f001,2:aabb"), "OK");
    assert_string_equal(rig_ask(&r->a, "m2001f000,4"), "01aabb04");
    assert_int_equal(rig_ask(&r->a, "m60000000,4")[0], 'E');
    assert_int_equal(rig_ask(&r->a, "M60000000,1:00")[0], 'E');
    assert_int_equal(strlen(rig_ask(&r->a, "g")), 17 * 8);
    assert_string_equal(rig_ask(&r->a, "P3=78563412"), "OK");
    assert_string_equal(rig_ask(&r->a, "p3"), "78563412");
    assert_int_equal(rig_ask(&r->a, "p99")[0], 'E');
    assert_int_equal(rig_ask(&r->a, "P3=00")[0], 'E');
    /* SRAM ends at 0x20080000: what lies before the end is given */
    assert_int_equal(strlen(rig_ask(&r->a, "m2007fff8,10")), 16);
    assert_non_null(strstr(rig_ask(&r->a, "qXfer:features:read:target.xml:0,fff"), "m-profile"));
    assert_string_equal(rig_ask(&r->a, "qXfer:features:read:no.xml:0,fff"), "E00");
    assert_string_equal(rig_ask(&r->a, "vMustReplyEmpty"), "");
    assert_int_equal(rig_ask(&r->a, "vFlashErase:08000000,00001000")[0], 'E');
    close_pair(r);
}

static void test_monitor_commands(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    assert_string_equal(rig_ask(&r->a, "qRcmd,68656c70"), "OK"); /* help */
    assert_non_null(strstr(rig_texts(&r->a), "monitor sync off"));
    assert_string_equal(rig_ask(&r->a, "qRcmd,73796e63207374617475730a"), "OK"); /* sync status */
    assert_non_null(strstr(rig_texts(&r->a), "core1: halts by cti, runs by cti"));
    assert_string_equal(rig_ask(&r->a, "qRcmd,636f6666656500"), "E.the command is not a text in hexadecimal");
    assert_string_equal(rig_ask(&r->a, "qRcmd,636f66666565"), "E01"); /* coffee */
    assert_non_null(strstr(rig_texts(&r->a), "no such monitor command"));
    assert_string_equal(rig_ask(&r->a, "qRcmd,73796e63206f6666"), "OK"); /* sync off */
    assert_int_equal(rig_read32(r, 0, 0xE0042000u) & 1, 0);
    uint32_t b = pc_of(&r->b);
    rig_send(&r->a, "vCont;c");
    rig_wait(r, 2);
    assert_int_equal(pc_of(&r->b), b);
    assert_string_equal(rig_ask(&r->b, "qRcmd,73796e63206f6e"), "E01"); /* sync on, with one that runs */
    gdb_client_interrupt(r->a.client);
    rig_expect_stop(&r->a, "T02");
    assert_string_equal(rig_ask(&r->b, "qRcmd,73796e63206f6e"), "OK");
    assert_int_equal(rig_read32(r, 0, 0xE0042000u) & 1, 1);
    close_pair(r);
}

static void test_report_06_deleted_is_gone_where_nobody_else_could_start_it(void **state)
{
    (void)state;
    struct rig *r = malloc(sizeof(*r));
    assert_non_null(r);
    rig_open(r, &with_sync);
    rig_connect(r, &r->a, 0);
    assert_string_equal(rig_ask(&r->a, "Z1,8000200,2"), "OK");
    assert_int_equal(comparators(r, 0), 1);
    assert_string_equal(rig_ask(&r->a, "z1,8000200,2"), "OK");
    assert_int_equal(comparators(r, 0), 0);
    close_pair(r);
}

/* 1,000 rounds in the soak; here enough to meet every order. */
#define ROUNDS 60

static void test_d30_rounds_with_random_originators(void **state)
{
    (void)state;
    struct rig *r = open_pair(&with_sync);
    struct rig_client *clients[2] = {&r->a, &r->b};
    uint32_t random = 1;
    uint32_t at[2] = {rig_symbol(r, 0, "mailbox_ask"), rig_symbol(r, 1, "mailbox_answer")};
    for (unsigned i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned who = random >> 31, first = random >> 30 & 1, how = random >> 28 & 3;
        if (how < 2)
            assert_string_equal(rig_ask(clients[who], rig_packet("Z1,%x,2", at[who])), "OK");
        bool both = how & 1;
        rig_send(clients[first], "vCont;c");
        if (both)
            rig_send(clients[!first], "vCont;c");
        if (how >= 2) {
            rig_wait(r, 2);
            gdb_client_interrupt(clients[first]->client);
        }
        for (unsigned k = 0; k < 20 && clients[first]->count == 0; k++)
            rig_wait(r, 2);
        rig_expect_stop(clients[first], how >= 2 ? "T02" : first == who ? "T05hwbreak" : "T02");
        if (both)
            rig_expect_stop(clients[!first], how >= 2 ? "T02" : first == who ? "T02" : "T05hwbreak");
        else
            rig_expect_silence(clients[!first]);
        if (!both)
            rig_catch_up(clients[!first], "T");
        if (how < 2) {
            /* it is gone once its owner resumes without it */
            assert_string_equal(rig_ask(clients[who], rig_packet("z1,%x,2", at[who])), "OK");
            rig_send(clients[who], "vCont;c");
            gdb_client_interrupt(clients[who]->client);
            rig_expect_stop(clients[who], "T02");
            rig_catch_up(clients[!who], "T02");
        }
        assert_false(rig_latched(r, 0) || rig_latched(r, 1));
    }
    close_pair(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continue_runs_all_and_ctrl_c_stops_all),
        cmocka_unit_test(test_d1_a_stop_before_the_others_continue),
        cmocka_unit_test(test_d2_two_continues_one_pulse),
        cmocka_unit_test(test_d3_registers_of_a_running_core),
        cmocka_unit_test(test_a_step_while_the_group_runs_joins),
        cmocka_unit_test(test_registers_of_a_stop_that_is_over),
        cmocka_unit_test(test_d5_d6_ctrl_c_that_comes_late),
        cmocka_unit_test(test_d7_a_step_moves_one_core),
        cmocka_unit_test(test_d8_a_step_over_an_instruction_with_a_breakpoint),
        cmocka_unit_test(test_d9_resumes_that_name_nobody),
        cmocka_unit_test(test_d10_continue_of_the_one_thread),
        cmocka_unit_test(test_d11_steps_as_long_as_pc_is_inside),
        cmocka_unit_test(test_d12_the_other_core_stands_on_a_breakpoint),
        cmocka_unit_test(test_d12_removed_by_z_at_the_stop_and_armed_all_the_same),
        cmocka_unit_test(test_d13_one_address_on_two_cores),
        cmocka_unit_test(test_d14_no_comparator_is_left),
        cmocka_unit_test(test_d15_breakpoints_while_the_group_runs),
        cmocka_unit_test(test_d16_a_second_client_of_a_port),
        cmocka_unit_test(test_d17_a_client_that_vanishes_while_it_waits),
        cmocka_unit_test(test_d18_followers_have_no_cause),
        cmocka_unit_test(test_d19_a_watchpoint),
        cmocka_unit_test(test_d20_a_core_that_does_not_halt),
        cmocka_unit_test(test_d28_a_continue_that_fails_is_a_stop),
        cmocka_unit_test(test_d21_monitor_reset_halt),
        cmocka_unit_test(test_d23_cross_triggers_go_with_the_last_client),
        cmocka_unit_test(test_d23_keep_leaves_them_halted),
        cmocka_unit_test(test_d25_without_sync_cores_are_independent),
        cmocka_unit_test(test_d26_one_cti_is_not_enough),
        cmocka_unit_test(test_d27_a_core_that_is_held_in_reset),
        cmocka_unit_test(test_d27_who_waits_for_a_core_in_reset),
        cmocka_unit_test(test_d27_ctrl_c_for_a_core_in_reset_gives_the_prompt),
        cmocka_unit_test(test_all_cores_as_threads),
        cmocka_unit_test(test_memory_and_registers_are_written),
        cmocka_unit_test(test_monitor_commands),
        cmocka_unit_test(test_report_06_deleted_is_gone_where_nobody_else_could_start_it),
        cmocka_unit_test(test_d30_rounds_with_random_originators),
    };
    return cmocka_run_group_tests_name("gdb-hub", tests, NULL, NULL);
}
