/* SPDX-License-Identifier: Apache-2.0 */
/* The CTI and CTM of the board: one test for each clause of the cross-trigger sheet 1.4 that it models. */
#include "board_fixture.h"
#include "sim/cti.h"

static void both_halted(struct board *b)
{
    assert_true(is_halted(b, 0));
    assert_true(is_halted(b, 1));
}

static void acknowledge(struct board *b, unsigned core)
{
    mem_write(b, core, CTI_INTACK, 1);
    assert_int_equal(mem_read(b, core, CTI_TRIGOUT) & 1u, 0);
}

/* The last records of the board's own log, newest last. */
static const struct board_record *log_tail(const struct board *b, size_t n)
{
    const struct board_record *r = NULL;
    size_t count = board_log(b, &r);
    assert_true(count >= n);
    return r + count - n;
}

static void clause_1_channel_is_or_of_its_drivers(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_OUTEN(1), 0xC); /* channels 2 and 3 drive IRQ output 1 of core 0 */
    mem_write(b, 1, CTI_APPSET, 0x4);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 2);
    mem_write(b, 0, CTI_APPSET, 0x8);
    mem_write(b, 1, CTI_APPCLEAR, 0x4);
    mem_write(b, 0, CTI_INTACK, 2); /* channel 3 still drives it */
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 2);
    mem_write(b, 0, CTI_APPCLEAR, 0x8);
    mem_write(b, 0, CTI_INTACK, 2);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 0);
    board_free(b);
}

static void clause_1_one_input_may_drive_several_channels(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_INEN(0), 0xC);
    mem_write(b, 1, CTI_OUTEN(1), 0x4);
    mem_write(b, 1, CTI_OUTEN(2), 0x8);
    mem_write(b, 1, CTI_OUTEN(0), 0);
    halt(b, 0);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 6);
    assert_false(is_halted(b, 1));
    board_free(b);
}

static void clause_2_own_input_reaches_own_output_with_gate_closed(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_GATE, 0);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT) & 1u, 1);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT) & 1u, 0);
    assert_false(is_halted(b, 1));
    board_free(b);
}

static void clause_2_gate_holds_levels_back_until_it_opens(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_GATE, 0);
    mem_write(b, 0, CTI_APPSET, HALT_CHANNEL);
    assert_true(is_halted(b, 0));
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 0, CTI_CHOUT), 0);
    mem_write(b, 0, CTI_GATE, HALT_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_CHOUT), HALT_CHANNEL);
    both_halted(b);
    board_free(b);
}

static void clause_2_originator_must_be_acknowledged_too(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    both_halted(b);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 1);
    acknowledge(b, 1);
    mem_write(b, 1, CTI_APPPULSE, RESTART_CHANNEL);
    assert_true(is_halted(b, 0)); /* its own latch brought it back, and its halt brought core 1 back */
    assert_true(is_halted(b, 1));
    board_free(b);
}

/* A halt whose own trigger restarts the core, while the request stays latched: time must go on all the same.
 */
static void clause_4_halt_and_restart_on_one_channel_do_not_stop_time(void **state)
{
    (void)state;
    for (unsigned latency = 0; latency < 2; latency++) {
        struct board *b =
            board_cross_triggered(&(struct board_config){.ctm_latency = latency, .ctm_latency_set = true});
        for (unsigned core = 0; core < BOARD_CORES; core++) {
            mem_write(b, core, CTI_INEN(0), 0xF);
            mem_write(b, core, CTI_OUTEN(0), 0xF);
            mem_write(b, core, CTI_OUTEN(7), 0xF);
        }
        mem_write(b, 0, CTI_APPPULSE, HALT_CHANNEL);
        uint64_t then = board_tick(b);
        board_run_until(b, then + 1000);
        assert_true(board_tick(b) == then + 1000);
        mem_write(b, 0, CTI_OUTEN(7), 0); /* and a debugger can end it */
        mem_write(b, 1, CTI_OUTEN(7), 0);
        both_halted(b);
        board_free(b);
    }
}

/* The same in a ring: each core's halt restarts the other, with nothing between them. */
static void clause_4_cores_that_restart_each_other_do_not_stop_time(void **state)
{
    (void)state;
    struct board *b =
        board_cross_triggered(&(struct board_config){.ctm_latency = 0, .ctm_latency_set = true});
    halt(b, 0);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        mem_write(b, core, CTI_OUTEN(7), 4u << core);
        mem_write(b, core, CTI_INEN(0), 4u << (1 - core));
    }
    mem_write(b, 0, CTI_APPPULSE, 4); /* both requests are latched still */
    uint64_t then = board_tick(b);
    board_run_until(b, then + 1000);
    assert_true(board_tick(b) == then + 1000);
    board_free(b);
}

static void clause_3_nothing_is_mapped_while_glben_is_0(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_CONTROL, 0);
    mem_write(b, 0, CTI_APPPULSE, HALT_CHANNEL);
    mem_write(b, 0, CTI_APPSET, HALT_CHANNEL);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 0);
    assert_false(is_halted(b, 1));
    mem_write(b, 0, CTI_CONTROL, 1); /* the level that was set meanwhile now counts */
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    assert_true(is_halted(b, 1));
    board_free(b);
}

static void clause_3_receiver_with_glben_0_is_not_halted(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 1, CTI_CONTROL, 0);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    board_free(b);
}

static void clause_3_unacknowledged_output_stays_when_glben_drops(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    mem_write(b, 0, CTI_CONTROL, 0);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    acknowledge(b, 0);
    board_free(b);
}

static void clause_4_debug_request_is_latched_and_restart_is_not(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_APPPULSE, HALT_CHANNEL);
    both_halted(b);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
    assert_false(is_halted(b, 0));
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 0);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 0);
    board_free(b);
}

static void clause_4_interrupt_output_raises_the_line_until_acknowledged(void **state)
{
    (void)state;
    const uint32_t ispr = 0xE000E200u;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_OUTEN(1), 0x4);
    mem_write(b, 1, CTI_APPPULSE, 0x4);
    assert_int_equal(mem_read(b, 0, ispr) & 1u << BOARD_IRQ_CTI0, 1u << BOARD_IRQ_CTI0);
    mem_write(b, 0, CTI_INTACK, 2);
    mem_write(b, 0, 0xE000E280u, 1u << BOARD_IRQ_CTI0); /* ICPR */
    assert_int_equal(mem_read(b, 0, ispr) & 1u << BOARD_IRQ_CTI0, 0);
    board_free(b);
}

static void clause_5_intack_needs_its_bit_and_a_quiet_channel(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    mem_write(b, 0, CTI_INTACK, 0);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    mem_write(b, 0, CTI_INTACK,
              0xFFFFFFFEu); /* other outputs, the self-acknowledging one, bits beyond NUMTRIG */
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    mem_write(b, 1, CTI_APPSET, HALT_CHANNEL); /* held active by the other CTI */
    mem_write(b, 0, CTI_INTACK, 1);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    mem_write(b, 1, CTI_APPCLEAR, HALT_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1); /* the ignored write is not made up for */
    acknowledge(b, 0);
    board_free(b);
}

static void clause_5_intack_before_the_request_does_nothing(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_INTACK, 1);
    mem_write(b, 0, CTI_APPPULSE, HALT_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1);
    assert_int_equal(mem_read(b, 0, CTI_INTACK), 0);
    board_free(b);
}

static void clause_6_apppulse_leaves_appset_alone(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_APPSET, 0x8);
    mem_write(b, 0, CTI_APPPULSE, 0xC);
    assert_int_equal(mem_read(b, 0, CTI_APPSET), 0x8);
    assert_int_equal(mem_read(b, 0, CTI_APPPULSE), 0);
    board_free(b);
}

static void clause_6_pulse_on_an_active_channel_has_no_effect(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_APPSET, RESTART_CHANNEL); /* ignored by the running cores; from now on held */
    halt(b, 0);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
    both_halted(b);
    mem_write(b, 0, CTI_APPCLEAR, RESTART_CHANNEL);
    mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
    assert_false(is_halted(b, 0));
    assert_false(is_halted(b, 1));
    board_free(b);
}

/* More changes on the way than the matrix keeps: they merge, but never with those of another core. */
static void clause_6_merged_pulses_keep_their_direction(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(
        &(struct board_config){.core_hz = {10000000, 10000000}, .ctm_latency = 1000000});
    mem_write(b, 0, CTI_OUTEN(1), 0x8);
    mem_write(b, 1, CTI_OUTEN(1), 0x4);
    uint64_t begin = board_tick(b);
    for (unsigned i = 0; i < BOARD_CTM_QUEUE + 10; i++)
        mem_write(b, 0, CTI_APPPULSE, 0x4);
    mem_write(b, 1, CTI_APPPULSE, 0x8);
    assert_true(board_tick(b) - begin < 1000000); /* all of it is on the way */
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 0);
    board_run_until(b, board_tick(b) + 1000000);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 2);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 2);
    board_free(b);
}

static void clause_7_held_appset_blocks_the_acknowledge(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_APPSET, HALT_CHANNEL);
    both_halted(b);
    assert_int_equal(mem_read(b, 0, CTI_APPSET), HALT_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_CHOUT), HALT_CHANNEL);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), HALT_CHANNEL);
    for (unsigned core = 0; core < 2; core++) {
        mem_write(b, core, CTI_INTACK, 1);
        assert_int_equal(mem_read(b, core, CTI_TRIGOUT), 1);
    }
    mem_write(b, 0, CTI_APPCLEAR, HALT_CHANNEL);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0);
    acknowledge(b, 0);
    acknowledge(b, 1);
    board_free(b);
}

static void clause_8_halted_input_is_a_pulse(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, CTI_TRIGIN), 0);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0);
    acknowledge(b, 0); /* although the core is still halted */
    board_free(b);
}

static void clause_8_gate_does_not_keep_events_away(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 1, CTI_GATE, 0); /* DEVID.INOUT = 0: only core 1's own events stay inside */
    halt(b, 0);
    both_halted(b);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 1, CTI_OUTEN(0), 0); /* this isolates it */
    resume(b, 0);
    resume(b, 1);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    board_free(b);
}

static void clause_9_unacknowledged_core_is_back_at_once(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    acknowledge(b, 1);
    uint32_t pc = core_register(b, 0, 15);
    mem_write(b, 0, CTI_INEN(0), 0); /* keep the second halt to core 0 */
    mem_write(b, 0, DFSR, 0x1F);
    resume(b, 0);
    assert_true(is_halted(b, 0));
    assert_int_equal(core_register(b, 0, 15), pc); /* not one instruction */
    assert_int_equal(mem_read(b, 0, DFSR), 1u << 4);
    const struct board_record *r = log_tail(b, 2);
    assert_false(r[0].halted);
    assert_true(r[1].halted);
    assert_true(r[0].tick == r[1].tick);
    board_free(b);
}

static void clause_10_restart_is_ignored_by_a_running_core(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    const struct board_record *r = NULL;
    mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 0); /* acknowledged itself all the same */
    assert_int_equal(board_log(b, &r), 0);
    halt(b, 0); /* no restart is left over that would start it */
    both_halted(b);
    board_free(b);
}

static void clause_10_restart_with_c_step_executes_one_instruction(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 0, CTI_INEN(0), 0);
    mem_write(b, 0, DHCSR, 0xA05F0007u); /* C_STEP, still halted */
    uint32_t pc = core_register(b, 0, 15);
    mem_write(b, 1, CTI_APPPULSE, RESTART_CHANNEL);
    assert_true(is_halted(b, 0));
    assert_int_not_equal(core_register(b, 0, 15), pc);
    assert_false(is_halted(b, 1));
    board_free(b);
}

static void clause_10_restart_clears_c_halt(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 1, CTI_APPPULSE, RESTART_CHANNEL);
    assert_int_equal(mem_read(b, 0, DHCSR) & 3u, 1);
    board_free(b);
}

static void clause_11_levels_and_pulses_both_exist(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_APPSET, 0x8);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0x8);
    mem_write(b, 0, CTI_APPPULSE, 0x4); /* gone before anybody can read it */
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0x8);
    board_free(b);
}

static void clause_12_mapping_after_power_on_is_empty(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    for (unsigned core = 0; core < 2; core++) {
        assert_int_equal(mem_read(b, core, CTI_CONTROL), 0);
        assert_int_equal(mem_read(b, core, CTI_APPSET), 0);
        assert_int_equal(mem_read(b, core, CTI_GATE), 0xF);
        for (unsigned n = 0; n < 8; n++) {
            assert_int_equal(mem_read(b, core, CTI_INEN(n)), 0);
            assert_int_equal(mem_read(b, core, CTI_OUTEN(n)), 0);
        }
    }
    board_free(b);
}

static void clause_13_system_reset_keeps_the_cti_and_power_on_clears_it(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, AIRCR, 0x05FA0004);
    assert_int_equal(mem_read(b, 0, DHCSR) & 1u << 25, 1u << 25); /* it was a reset */
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 1);
    assert_int_equal(mem_read(b, 0, CTI_OUTEN(7)), RESTART_CHANNEL);
    assert_int_equal(mem_read(b, 0, CTI_INEN(0)), HALT_CHANNEL);
    board_reset(b);
    dp_power_up(b);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 0);
    assert_int_equal(mem_read(b, 0, CTI_OUTEN(7)), 0);
    assert_int_equal(mem_read(b, 0, CTI_LSR), 3);
    board_free(b);
}

static void clause_14_each_cti_is_behind_its_own_core_only(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    mem_write(b, 0, CTI_LAR, CTI_KEY);
    mem_write(b, 0, CTI_OUTEN(3), 5);
    assert_int_equal(mem_read(b, 0, CTI_OUTEN(3)), 5);
    assert_int_equal(mem_read(b, 1, CTI_OUTEN(3)), 0);
    board_free(b);
}

static void clause_15_locked_cti_drops_writes(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    assert_int_equal(mem_read(b, 0, CTI_LSR), 3);
    mem_write(b, 0, CTI_CONTROL, 1);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 0);
    mem_write(b, 0, CTI_LAR, CTI_KEY);
    assert_int_equal(mem_read(b, 0, CTI_LSR), 1);
    mem_write(b, 0, CTI_CONTROL, 1);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 1);
    mem_write(b, 0, CTI_LAR, 0); /* any other value locks again */
    mem_write(b, 0, CTI_CONTROL, 0);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 1);
    board_free(b);
}

static void clause_16_core_without_debug_does_nothing(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 1, DHCSR, 0xA05F0000u);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 1); /* the request is there; the core does not listen */
    mem_write(b, 1, DHCSR, KEY_RUN);
    assert_true(is_halted(b, 1)); /* now it does */
    board_free(b);
}

static void sheet_3_2_debug_request_takes_debugmonitor_without_c_debugen(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    struct program p = {0};
    program_counter(&p, 1, NULL);
    p.vector[12] = program_here(&p);
    program_store(&p, CELL + 8, 0x600D);
    load_program(b, 1, &p);
    mem_write(b, 1, DHCSR, 0xA05F0000u);
    mem_write(b, 1, DEMCR, 1u << 16);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    board_run_until(b, board_tick(b) + 100);
    assert_int_equal(mem_read(b, 1, CELL + 8), 0x600D);
    assert_int_equal(mem_read(b, 1, DFSR), 1u << 4);
    board_free(b);
}

static void identification_is_a_cs400_cti(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    assert_int_equal(mem_read(b, 0, CTI(0xFC8)), 0x00040800);
    assert_int_equal(mem_read(b, 0, CTI(0xFCC)), 0x14);
    assert_int_equal(mem_read(b, 0, CTI(0xFBC)), 0);
    assert_int_equal(mem_read(b, 0, CTI(0xFE0)), 0x06);
    assert_int_equal(mem_read(b, 0, CTI(0xFE4)), 0xB9);
    assert_int_equal(mem_read(b, 0, CTI(0xFE8)) & 0xFu, 0xB);
    assert_int_equal(mem_read(b, 0, CTI(0xFD0)), 0x04);
    board_free(b);
}

/* Ticks from the halt of core 0 to that of core 1. At 100 MHz both, a tick is a cycle of core 0. */
static uint64_t halt_skew(uint32_t latency)
{
    struct board_config c = {.ctm_latency = latency, .ctm_latency_set = true};
    struct board *b = board_cross_triggered(&c);
    halt(b, 0);
    const struct board_record *r = log_tail(b, 2);
    assert_int_equal(r[0].core, 0);
    assert_int_equal(r[0].dfsr, 1);
    assert_int_equal(r[1].core, 1);
    assert_int_equal(r[1].dfsr, 1u << 4);
    uint64_t skew = r[1].tick - r[0].tick;
    board_free(b);
    return skew;
}

static void matrix_latency_is_what_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(halt_skew(0), 0);
    assert_int_equal(halt_skew(3), 3);
    assert_int_equal(halt_skew(20), 20);
    assert_int_equal(halt_skew(100), 100);
}

static void restart_skew_is_the_latency_too(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    halt(b, 0);
    acknowledge(b, 0);
    acknowledge(b, 1);
    mem_write(b, 1, CTI_APPPULSE, RESTART_CHANNEL);
    const struct board_record *r = log_tail(b, 2);
    assert_false(r[0].halted);
    assert_int_equal(r[0].core, 1); /* its own output at once */
    assert_int_equal(r[1].core, 0);
    assert_int_equal(r[1].tick - r[0].tick, 3);
    board_free(b);
}

static void dwt_comparator_pulses_its_trigger_input(void **state)
{
    (void)state;
    struct board *b = board_cross_triggered(NULL);
    mem_write(b, 0, CTI_INEN(2), HALT_CHANNEL);
    mem_write(b, 0, CTI_OUTEN(0), 0);
    mem_write(b, 0, DEMCR, 1u << 24);
    mem_write(b, 0, BOARD_DWT_BASE + 0x30, CELL);
    mem_write(b, 0, BOARD_DWT_BASE + 0x38, 10); /* comparator 1: trigger on write, no halt */
    assert_true(is_halted(b, 1));
    assert_false(is_halted(b, 0));
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clause_1_channel_is_or_of_its_drivers),
        cmocka_unit_test(clause_1_one_input_may_drive_several_channels),
        cmocka_unit_test(clause_2_own_input_reaches_own_output_with_gate_closed),
        cmocka_unit_test(clause_2_gate_holds_levels_back_until_it_opens),
        cmocka_unit_test(clause_2_originator_must_be_acknowledged_too),
        cmocka_unit_test(clause_3_nothing_is_mapped_while_glben_is_0),
        cmocka_unit_test(clause_3_receiver_with_glben_0_is_not_halted),
        cmocka_unit_test(clause_3_unacknowledged_output_stays_when_glben_drops),
        cmocka_unit_test(clause_4_debug_request_is_latched_and_restart_is_not),
        cmocka_unit_test(clause_4_interrupt_output_raises_the_line_until_acknowledged),
        cmocka_unit_test(clause_5_intack_needs_its_bit_and_a_quiet_channel),
        cmocka_unit_test(clause_5_intack_before_the_request_does_nothing),
        cmocka_unit_test(clause_6_apppulse_leaves_appset_alone),
        cmocka_unit_test(clause_6_pulse_on_an_active_channel_has_no_effect),
        cmocka_unit_test(clause_6_merged_pulses_keep_their_direction),
        cmocka_unit_test(clause_7_held_appset_blocks_the_acknowledge),
        cmocka_unit_test(clause_8_halted_input_is_a_pulse),
        cmocka_unit_test(clause_8_gate_does_not_keep_events_away),
        cmocka_unit_test(clause_9_unacknowledged_core_is_back_at_once),
        cmocka_unit_test(clause_10_restart_is_ignored_by_a_running_core),
        cmocka_unit_test(clause_10_restart_with_c_step_executes_one_instruction),
        cmocka_unit_test(clause_4_halt_and_restart_on_one_channel_do_not_stop_time),
        cmocka_unit_test(clause_4_cores_that_restart_each_other_do_not_stop_time),
        cmocka_unit_test(clause_10_restart_clears_c_halt),
        cmocka_unit_test(clause_11_levels_and_pulses_both_exist),
        cmocka_unit_test(clause_12_mapping_after_power_on_is_empty),
        cmocka_unit_test(clause_13_system_reset_keeps_the_cti_and_power_on_clears_it),
        cmocka_unit_test(clause_14_each_cti_is_behind_its_own_core_only),
        cmocka_unit_test(clause_15_locked_cti_drops_writes),
        cmocka_unit_test(clause_16_core_without_debug_does_nothing),
        cmocka_unit_test(sheet_3_2_debug_request_takes_debugmonitor_without_c_debugen),
        cmocka_unit_test(identification_is_a_cs400_cti),
        cmocka_unit_test(matrix_latency_is_what_was_asked_for),
        cmocka_unit_test(restart_skew_is_the_latency_too),
        cmocka_unit_test(dwt_comparator_pulses_its_trigger_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
