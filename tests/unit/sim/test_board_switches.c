/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board as its switches want it: the cases of cross-trigger sheet 12.A that need another board than the
 * default one, as far as they are the board's part.
 */
#include "board_fixture.h"

#include "sim/board_options.h"

static struct board *board_with(const char *words)
{
    struct board_options o = {0};
    struct diag d = DIAG_INIT;
    assert_int_equal(board_options_parse(&o, words, &d), CORRAL_OK);
    return board_counting(&o.config, NULL);
}

/* Both cores debug enabled, halt channel 0, restart channel 1. */
static void cross_trigger(struct board *b, const unsigned restart[2])
{
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        mem_write(b, ap, DHCSR, KEY_RUN);
        mem_write(b, ap, CTI_LAR, CTI_KEY);
        mem_write(b, ap, CTI_INEN(0), HALT_CHANNEL);
        mem_write(b, ap, CTI_OUTEN(0), HALT_CHANNEL);
        mem_write(b, ap, CTI_OUTEN(restart[ap]), RESTART_CHANNEL);
        mem_write(b, ap, CTI_CONTROL, 1);
    }
}

static void acknowledge(struct board *b)
{
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        mem_write(b, ap, CTI_INTACK, 1);
        assert_int_equal(mem_read(b, ap, CTI_TRIGOUT) & 1u, 0);
    }
}

static void restart_output_is_the_cores_own(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        unsigned restart[2];
    } cases[] = {{"--identity m7,m7", {7, 7}},
                 {"--identity m7,m33", {7, 1}},
                 {"--identity m33,m0plus", {1, 7}},
                 {"--identity m4,m33", {7, 1}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct board *b = board_with(cases[i].words);
        cross_trigger(b, cases[i].restart);
        halt(b, i & 1);
        assert_true(is_halted(b, 0) && is_halted(b, 1));
        acknowledge(b);
        mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
        assert_false(is_halted(b, 0) || is_halted(b, 1));
        board_free(b);
    }
}

static void another_output_does_not_restart(void **state)
{
    (void)state;
    static const unsigned wrong[2] = {1, 7};
    struct board *b = board_with("--identity m7,m33");
    cross_trigger(b, wrong);
    halt(b, 0);
    acknowledge(b);
    mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
    assert_true(is_halted(b, 0) && is_halted(b, 1));
    board_free(b);
}

/* A17: a CTI without a lock takes writes at once, and what is written to LAR does nothing. */
static void test_a17_no_lock_on_an_m33(void **state)
{
    (void)state;
    struct board *b = board_with("--identity m7,m33");
    mem_write(b, 0, CTI_CONTROL, 1);
    mem_write(b, 1, CTI_CONTROL, 1);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 0); /* locked */
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 1);
    mem_write(b, 1, CTI_LAR, 0);
    mem_write(b, 1, CTI_CONTROL, 0);
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 0);
    assert_int_equal(mem_read(b, 0, CTI_LSR), 3);
    assert_int_equal(mem_read(b, 1, CTI_LSR), 0);
    assert_int_equal(mem_read(b, 0, CTI(0xFBC)), 0);
    assert_int_equal(mem_read(b, 1, CTI(0xFBC)), 0x47701A14);
    board_free(b);
}

/* A5 and clause 8: HALTED as a level cannot be acknowledged before INEN is cleared on both. */
static void test_a5_a_level_holds_the_request(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("--level-halted");
    cross_trigger(b, restart);
    assert_int_equal(mem_read(b, 0, CTI_TRIGIN), 0);
    halt(b, 0);
    assert_true(is_halted(b, 1));
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        assert_int_equal(mem_read(b, ap, CTI_TRIGIN), 1);
        assert_int_equal(mem_read(b, ap, CTI_CHIN), HALT_CHANNEL);
        mem_write(b, ap, CTI_INTACK, 1);
        assert_int_equal(mem_read(b, ap, CTI_TRIGOUT), 1);
    }
    mem_write(b, 0, CTI_INEN(0), 0);
    mem_write(b, 0, CTI_INTACK, 1);
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1); /* core 1's level still comes over the matrix */
    mem_write(b, 1, CTI_INEN(0), 0);
    acknowledge(b);
    mem_write(b, 1, CTI_APPPULSE, RESTART_CHANNEL);
    assert_false(is_halted(b, 0) || is_halted(b, 1));
    assert_int_equal(mem_read(b, 0, CTI_TRIGIN), 0); /* the core runs */
    board_free(b);
}

/* INEN set again while a core is in debug state: the level drags the others at once. */
static void a_level_acts_when_it_is_mapped(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("--level-halted");
    cross_trigger(b, restart);
    mem_write(b, 0, CTI_INEN(0), 0);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    mem_write(b, 0, CTI_INEN(0), HALT_CHANNEL);
    assert_true(is_halted(b, 1));
    board_free(b);
}

/* Resuming drops the level; the other core, whose request was acknowledged, stays as it is. */
static void a_level_ends_with_the_debug_state(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("--level-halted");
    cross_trigger(b, restart);
    mem_write(b, 1, CTI_INEN(0), 0);
    mem_write(b, 0, CTI_OUTEN(0), 0);
    halt(b, 0);
    assert_true(is_halted(b, 1));
    resume(b, 0);
    assert_false(is_halted(b, 0));
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0);
    mem_write(b, 1, CTI_INTACK, 1);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 0);
    board_free(b);
}

/* A28: no channel in common. */
static void test_a28_separate_matrices(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("--separate-ctm");
    cross_trigger(b, restart);
    halt(b, 0);
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 0, CTI_TRIGOUT), 1); /* its own loop works */
    mem_write(b, 0, CTI_APPSET, 4);
    assert_int_equal(mem_read(b, 0, CTI_CHOUT), 4);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 0);
    board_free(b);
}

/* Every entry of core `ap`'s ROM table, as an address; returns how many. */
static unsigned rom_entries(struct board *b, unsigned ap, uint32_t entries[16])
{
    unsigned n = 0;
    for (; n < 16; n++) {
        uint32_t entry = mem_read(b, ap, BOARD_ROM_BASE + 4 * n);
        if (!entry)
            break;
        entries[n] = BOARD_ROM_BASE + (entry & 0xFFFFF000u);
    }
    return n;
}

static bool lists(struct board *b, unsigned ap, uint32_t address)
{
    uint32_t entries[16];
    for (unsigned n = rom_entries(b, ap, entries); n > 0; n--)
        if (entries[n - 1] == address)
            return true;
    return false;
}

static void a_core_without_a_cti(void **state)
{
    (void)state;
    struct board *b = board_with("--no-cti core1");
    assert_true(lists(b, 0, BOARD_CTI_BASE));
    assert_false(lists(b, 1, BOARD_CTI_BASE));
    assert_true(lists(b, 1, BOARD_SCS_BASE) && lists(b, 1, BOARD_ITM_BASE));
    mem_read_fails(b, 1, BOARD_CTI_BASE);
    mem_write_fails(b, 1, CTI_LAR, CTI_KEY);
    halt(b, 1); /* nothing to tell anybody */
    assert_false(is_halted(b, 0));
    board_free(b);
}

static void a_cti_elsewhere(void **state)
{
    (void)state;
    struct board *b = board_with("--cti-base 0xE0043000,0xF0002000");
    static const uint32_t base[] = {0xE0043000u, 0xF0002000u};
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        assert_true(lists(b, ap, base[ap]));
        assert_false(lists(b, ap, BOARD_CTI_BASE));
        mem_read_fails(b, ap, BOARD_CTI_BASE);
        assert_int_equal(mem_read(b, ap, base[ap] + 0xFE0), 0x06);
        mem_write(b, ap, base[ap] + 0xFB0, CTI_KEY);
        mem_write(b, ap, base[ap], 1);
        assert_int_equal(mem_read(b, ap, base[ap]), 1);
    }
    board_free(b);
}

/* A12: S_RESET_ST keeps reading 1 until somebody lets it go. */
static void test_a12_held_in_reset(void **state)
{
    (void)state;
    const uint32_t hold = BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD;
    struct board *b = board_with("--held-in-reset core1");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(mem_read(b, 1, DHCSR) & (1u << 25), 1u << 25);
    assert_int_equal(mem_read(b, 0, CELL + 4), 0);
    assert_int_equal(mem_read(b, 0, hold), 2);
    mem_write(b, 1, DHCSR, KEY_HALT); /* a core in reset does not halt */
    assert_false(is_halted(b, 1));
    mem_write(b, 0, hold, 0);
    assert_int_equal(mem_read(b, 1, DHCSR) & (1u << 25), 1u << 25); /* it was in reset */
    assert_int_equal(mem_read(b, 1, DHCSR) & (1u << 25), 0);
    assert_true(mem_read(b, 0, CELL + 4) > 0);
    /* A system reset is a new start: it is held again. */
    mem_write(b, 0, AIRCR, 0x05FA0004);
    assert_int_equal(mem_read(b, 0, hold), 2);
    assert_int_equal(mem_read(b, 1, DHCSR) & mem_read(b, 1, DHCSR) & (1u << 25), 1u << 25);
    board_free(b);
}

static void vector_catch_out_of_the_reset(void **state)
{
    (void)state;
    struct board *b = board_with("--held-in-reset core1");
    mem_write(b, 1, DHCSR, KEY_RUN);
    mem_write(b, 1, DEMCR, 1);
    assert_false(is_halted(b, 1));
    mem_write(b, 0, BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD, 0);
    assert_true(is_halted(b, 1));
    assert_int_equal(mem_read(b, 1, DFSR), 8);
    assert_int_equal(core_register(b, 1, 15), CODE_BASE);
    board_free(b);
}

/* A program holds the other core and lets it go. */
static void a_program_releases_the_other_core(void **state)
{
    (void)state;
    struct board_config config = {.held_in_reset = {false, true}};
    struct diag d = DIAG_INIT;
    struct board *b = board_new(&config, &d);
    assert_non_null(b);
    struct program p = {0}, q = {0};
    q.vector[0] = BOARD_SRAM_CORE1 + BOARD_SRAM_EACH;
    program_counter(&q, 1, NULL);
    load_program(b, 1, &q);
    program_store(&p, BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD, 0);
    program_counter(&p, 0, NULL);
    load_program(b, 0, &p);
    dp_power_up(b);
    assert_true(mem_read(b, 0, CELL + 4) > 0);
    board_free(b);
}

/* A core that holds itself stops at once, and another one can start it again. */
static void a_core_holds_itself(void **state)
{
    (void)state;
    struct board *b = board_with("");
    struct program p = {0};
    program_store(&p, CELL, 1);
    program_store(&p, BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD, 1);
    program_store(&p, CELL, 2);
    load_program(b, 0, &p);
    board_dap_idle(b, 1000);
    assert_int_equal(mem_read(b, 1, CELL), 1);
    assert_int_equal(mem_read(b, 0, DHCSR) & (1u << 25), 1u << 25);
    board_free(b);
}

/* Not one register of core `ap`'s port answers. */
static void port_faults(struct board *b, unsigned ap)
{
    static const uint8_t banks[] = {0x00, 0x10, 0xF0};
    for (unsigned i = 0; i < sizeof(banks) * 4; i++) {
        uint32_t value = 0;
        dp_write(b, 0x8, (uint32_t)ap << 24 | banks[i / 4]);
        assert_int_equal(board_dap_transfer(b, true, true, (uint8_t)(i % 4 * 4), &value), 1);
        assert_int_equal(dp_read(b, 0x4) & 0x20u, 0x20u);
        dp_write(b, 0x0, 0x1E);
    }
}

/* A13: what lost its power has lost its CTI and its debug registers. */
static void test_a13_lost_power(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("");
    cross_trigger(b, restart);
    mem_write(b, 1, DEMCR, 1u << 24);
    board_set_power(b, 1, false);
    port_faults(b, 1);
    halt(b, 0);
    assert_int_equal(mem_read(b, 0, CELL + 4), mem_read(b, 0, CELL + 4));
    board_set_power(b, 1, true);
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 0);
    assert_int_equal(mem_read(b, 1, CTI_INEN(0)), 0);
    assert_int_equal(mem_read(b, 1, DHCSR) & 1u, 0);
    assert_int_equal(mem_read(b, 1, DEMCR), 0);
    uint32_t before = mem_read(b, 0, CELL + 4);
    assert_true(mem_read(b, 0, CELL + 4) > before);
    board_free(b);
}

static void unpowered_from_the_start(void **state)
{
    (void)state;
    struct board *b = board_with("--unpowered core1");
    port_faults(b, 1);
    assert_int_equal(ap_read(b, 0, 0xFC), 0x84770001u);
    board_set_power(b, 1, true);
    assert_int_equal(ap_read(b, 1, 0xFC), 0x84770001u);
    assert_true(mem_read(b, 0, CELL + 4) > 0);
    board_free(b);
}

/* What an unpowered core held on a channel falls, and when it comes back it hears what others hold. */
static void power_and_held_channels(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("");
    cross_trigger(b, restart);
    mem_write(b, 1, CTI_APPSET, 4);
    mem_write(b, 0, CTI_APPSET, 8);
    assert_int_equal(mem_read(b, 0, CTI_CHIN), 4);
    board_set_power(b, 1, false);
    assert_int_equal(mem_read(b, 0, CTI_CHIN), 0);
    board_set_power(b, 1, true);
    assert_int_equal(mem_read(b, 1, CTI_CHIN), 8);
    board_free(b);
}

static void a_cti_that_forgets(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("");
    cross_trigger(b, restart);
    halt(b, 0);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 1);
    board_cti_lose(b, 1);
    assert_int_equal(mem_read(b, 1, CTI_TRIGOUT), 0);
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 0);
    assert_true(is_halted(b, 1)); /* the core is another matter */
    resume(b, 1);
    assert_false(is_halted(b, 1));
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 1);
    board_free(b);
}

/* A11: asleep without a clock the port waits, and the debug request waits with it. */
static void test_a11_asleep_without_a_clock(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("--sleep-stops-clock core1");
    struct program p = {0};
    cross_trigger(b, restart);
    p.vector[0] = BOARD_SRAM_CORE1 + BOARD_SRAM_EACH;
    p.vector[17] = CODE_BASE + 0x80;
    program_store(&p, BOARD_TIMER_BASE + BOARD_TIMER_LOAD, 2000000);
    program_store(&p, BOARD_TIMER_BASE + BOARD_TIMER_CTRL, 3);
    program_store(&p, 0xE000E100, 2);
    program_op(&p, OP_WFI);
    program_store(&p, CELL + 4, 7);
    program_branch(&p, program_here(&p));
    load_program(b, 1, &p);
    board_dap_idle(b, 100);
    uint32_t value = 0;
    ap_write(b, 1, 0x04, DHCSR);
    dp_write(b, 0x8, 0x01000000);
    assert_int_equal(board_dap_transfer(b, true, true, 0xC, &value), 2); /* WAIT */
    assert_int_equal(dp_read(b, 0x4) & 0x32u, 0);
    assert_int_equal(ap_read(b, 1, 0xFC), 0x84770001u); /* the port's own registers have a clock */
    halt(b, 0);
    const struct board_record *r = NULL;
    size_t halts = board_log(b, &r);
    assert_int_equal(r[halts - 1].core, 0);
    board_dap_idle(b, 200000); /* the timer wakes it: 20 ms */
    size_t later = board_log(b, &r);
    assert_int_equal(later, halts + 1);
    assert_true(r[halts].core == 1 && r[halts].halted && r[halts].dfsr == 16);
    assert_true(is_halted(b, 1));
    board_free(b);
}

/* A16 and A18: nothing takes. */
static void test_a18_debug_is_refused(void **state)
{
    (void)state;
    struct board *b = board_with("--no-debug core1");
    mem_write(b, 1, DHCSR, KEY_HALT);
    assert_int_equal(mem_read(b, 1, DHCSR) & 0xFu, 0);
    assert_false(is_halted(b, 1));
    mem_write(b, 1, CTI_LAR, CTI_KEY);
    mem_write(b, 1, CTI_CONTROL, 1);
    mem_write(b, 1, CTI_INEN(0), 1);
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 0);
    assert_int_equal(mem_read(b, 1, CTI_INEN(0)), 0);
    assert_int_equal(mem_read(b, 1, CTI(0xFB8)), 0x0A);
    assert_int_equal(mem_read(b, 0, CTI(0xFB8)), 0x0F);
    assert_int_equal(mem_read(b, 1, CTI(0xFE0)), 0x06); /* it can be found */
    mem_write(b, 1, CTI_APPPULSE, 1);
    halt(b, 0); /* the other core is free */
    board_free(b);
}

static void the_reset_pin(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    struct board *b = board_with("");
    cross_trigger(b, restart);
    mem_write(b, 1, DEMCR, 1);
    halt(b, 0);
    board_pin_reset(b, true);
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        assert_false(is_halted(b, ap));
        assert_int_equal(mem_read(b, ap, DHCSR) & (1u << 25), 1u << 25);
        assert_int_equal(mem_read(b, ap, CTI_CONTROL), 1); /* clause 13: a system reset keeps it */
        mem_write(b, ap, CTI_INTACK, 1);
    }
    uint32_t count = mem_read(b, 0, CELL);
    assert_int_equal(mem_read(b, 0, CELL), count);
    board_pin_reset(b, false);
    assert_true(is_halted(b, 1)); /* caught at its vector, and its HALTED drags core 0 along */
    assert_int_equal(mem_read(b, 1, DFSR) & 8u, 8);
    assert_true(is_halted(b, 0));
    board_free(b);
}

static void unlike_clocks(void **state)
{
    (void)state;
    struct board *b = board_with("--core-hz 100000000,64000000");
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        mem_write(b, ap, DEMCR, 1u << 24);
        mem_write(b, ap, BOARD_DWT_BASE, 1);
    }
    assert_int_equal(board_tick_hz(b), 1600000000u);
    assert_int_equal(mem_read(b, 1, BOARD_SYSINFO_BASE + BOARD_SYSINFO_CORE_HZ), 64000000);
    uint32_t zero[2] = {mem_read(b, 0, BOARD_DWT_BASE + 4), mem_read(b, 1, BOARD_DWT_BASE + 4)};
    uint64_t tick = board_tick(b);
    board_dap_idle(b, 400000); /* 100 ms */
    uint32_t a = mem_read(b, 0, BOARD_DWT_BASE + 4) - zero[0];
    uint32_t c = mem_read(b, 1, BOARD_DWT_BASE + 4) - zero[1];
    assert_true(board_tick(b) - tick > 160000000u);
    assert_in_range(a, 10000000, 10100000);
    assert_in_range(c, 6400000, 6464000);
    board_free(b);
}

/* The unit of ctm_latency is core 0's cycle. */
static void latency(void **state)
{
    (void)state;
    static const unsigned restart[2] = {7, 7};
    static const char *const words[] = {"--ctm-latency 0", "--ctm-latency 50"};
    for (unsigned i = 0; i < 2; i++) {
        struct board *b = board_with(words[i]);
        const struct board_record *r = NULL;
        cross_trigger(b, restart);
        halt(b, 0);
        assert_true(is_halted(b, 1));
        size_t n = board_log(b, &r);
        assert_int_equal(n, 2);
        assert_in_range(r[1].tick - r[0].tick, 50 * i, 50 * i + 1);
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_output_is_the_cores_own),
        cmocka_unit_test(another_output_does_not_restart),
        cmocka_unit_test(test_a17_no_lock_on_an_m33),
        cmocka_unit_test(test_a5_a_level_holds_the_request),
        cmocka_unit_test(a_level_acts_when_it_is_mapped),
        cmocka_unit_test(a_level_ends_with_the_debug_state),
        cmocka_unit_test(test_a28_separate_matrices),
        cmocka_unit_test(a_core_without_a_cti),
        cmocka_unit_test(a_cti_elsewhere),
        cmocka_unit_test(test_a12_held_in_reset),
        cmocka_unit_test(vector_catch_out_of_the_reset),
        cmocka_unit_test(a_program_releases_the_other_core),
        cmocka_unit_test(a_core_holds_itself),
        cmocka_unit_test(test_a13_lost_power),
        cmocka_unit_test(unpowered_from_the_start),
        cmocka_unit_test(power_and_held_channels),
        cmocka_unit_test(a_cti_that_forgets),
        cmocka_unit_test(test_a11_asleep_without_a_clock),
        cmocka_unit_test(test_a18_debug_is_refused),
        cmocka_unit_test(the_reset_pin),
        cmocka_unit_test(unlike_clocks),
        cmocka_unit_test(latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
