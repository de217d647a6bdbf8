/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's cores by their identity: what a debugger finds, breakpoints, watchpoints, restarts, and the
 * built-in programs on every pairing. Cross-trigger sheet 1.3, 1.5, 2.4, 3.1, 3.5.
 */
#include "board_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/identity.h"

#define CPUID      0xE000ED00u
#define DWT_CTRL   0xE0001000u
#define DWT_CYCCNT 0xE0001004u
#define DWT_PCSR   0xE000101Cu
#define FP_CTRL    0xE0002000u
#define FP_COMP(n) (0xE0002008u + 4 * (n))

#define DWT_COMP(n)     (0xE0001020u + 16 * (n))
#define DWT_MASK(n)     (0xE0001024u + 16 * (n))
#define DWT_FUNCTION(n) (0xE0001028u + 16 * (n))

#define TRCENA       (1u << 24)
#define S_RESTART_ST (1u << 26)
#define DWTTRAP      4u

static struct board *counting(enum board_identity identity, uint32_t *loop)
{
    struct board_config config = {.identity = {identity, identity}};
    return board_counting(&config, loop);
}

static void names_of_the_identities(void **state)
{
    enum board_identity id = BOARD_M7;
    (void)state;
    for (unsigned k = 0; k < BOARD_IDENTITIES; k++) {
        const char *name = board_identity_info((enum board_identity)k)->name;
        assert_true(board_identity_parse(name, strlen(name), &id));
        assert_int_equal(id, k);
    }
    assert_true(board_identity_parse("m33,m7", 3, &id));
    assert_int_equal(id, BOARD_M33);
    assert_false(board_identity_parse("m3", 2, &id));
    assert_false(board_identity_parse("m0", 2, &id));
    assert_false(board_identity_parse("", 0, &id));
    assert_false(board_identity_parse("M7", 2, &id));
    assert_ptr_equal(board_identity_info((enum board_identity)99), board_identity_info(BOARD_M7));
}

/* What a walk of the ROM table must find, in the table's order. */
struct found {
    uint32_t base;
    uint16_t part;
    uint8_t class;
    uint32_t devarch;
};

static const struct {
    enum board_identity id;
    uint32_t cpuid;
    uint16_t table;
    uint32_t dwt_ctrl, fp_ctrl;
    struct found component[5];
} cores[] = {
    {BOARD_M7,
     0x411FC272,
     0x4C7,
     0x49000000,
     0x10000080,
     {{0xE000E000, 0x00C, 0xE, 0},
      {0xE0001000, 0x002, 0xE, 0},
      {0xE0002000, 0x00E, 0xE, 0},
      {0xE0000000, 0x001, 0xE, 0},
      {0xE0042000, 0x906, 0x9, 0}}},
    {BOARD_M4,
     0x410FC241,
     0x4C4,
     0x49000000,
     0x00000060,
     {{0xE000E000, 0x00C, 0xE, 0},
      {0xE0001000, 0x002, 0xE, 0},
      {0xE0002000, 0x003, 0xE, 0},
      {0xE0000000, 0x001, 0xE, 0},
      {0xE0042000, 0x906, 0x9, 0}}},
    {BOARD_M33,
     0x410FD214,
     0x4C9,
     0x49000000,
     0x10000080,
     {{0xE000E000, 0xD21, 0x9, 0x47702A04},
      {0xE0001000, 0xD21, 0x9, 0x47701A02},
      {0xE0002000, 0xD21, 0x9, 0x47701A03},
      {0xE0000000, 0xD21, 0x9, 0x47701A01},
      {0xE0042000, 0xD21, 0x9, 0x47701A14}}},
    {BOARD_M0PLUS,
     0x410CC601,
     0x4C0,
     0x20000000,
     0x00000040,
     {{0xE000E000, 0x008, 0xE, 0},
      {0xE0001000, 0x00A, 0xE, 0},
      {0xE0002000, 0x00B, 0xE, 0},
      {0xE0042000, 0x9A6, 0x9, 0x47701A14}}},
};

static uint32_t part_at(struct board *b, uint32_t base)
{
    return (mem_read(b, 0, base + 0xFE0) & 0xFFu) | (mem_read(b, 0, base + 0xFE4) & 0xFu) << 8;
}

static void a_debugger_finds_the_components_of_each(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sizeof(cores) / sizeof(cores[0]); k++) {
        struct board *b = counting(cores[k].id, NULL);
        assert_int_equal(mem_read(b, 0, CPUID), cores[k].cpuid);
        assert_int_equal(part_at(b, BOARD_ROM_BASE), cores[k].table);
        assert_int_equal(mem_read(b, 0, DWT_CTRL), cores[k].dwt_ctrl);
        assert_int_equal(mem_read(b, 0, FP_CTRL), cores[k].fp_ctrl);
        unsigned n = 0;
        for (;; n++) {
            uint32_t entry = mem_read(b, 0, BOARD_ROM_BASE + 4 * n);
            if (entry == 0)
                break;
            const struct found *f = &cores[k].component[n];
            uint32_t base = BOARD_ROM_BASE + (entry & ~0xFFFu);
            assert_int_equal(base, f->base);
            assert_int_equal(entry & 3u, 3);
            assert_int_equal(part_at(b, base), f->part);
            assert_int_equal(mem_read(b, 0, base + 0xFF4) >> 4 & 15u, f->class);
            assert_int_equal(mem_read(b, 0, base + 0xFBC), f->devarch);
        }
        assert_int_equal(n, cores[k].id == BOARD_M0PLUS ? 4 : 5);
        assert_int_equal(mem_read(b, 0, BOARD_CTI_BASE + 0xFCC), 0x14);
        assert_int_equal(mem_read(b, 0, BOARD_CTI_BASE + 0xFC8), 0x00040800);
        if (cores[k].id == BOARD_M0PLUS)
            mem_read_fails(b, 0, BOARD_ITM_BASE);
        board_free(b);
    }
}

/* Off a breakpoint, and on to the next one: where it is. */
static uint32_t next_breakpoint(struct board *b)
{
    mem_write(b, 0, FP_CTRL, 2);
    step(b, 0);
    mem_write(b, 0, FP_CTRL, 3);
    resume(b, 0);
    assert_true(is_halted(b, 0));
    return core_register(b, 0, 15);
}

static void fpb_version_1_breaks_at_either_half_of_a_word(void **state)
{
    static const enum board_identity ids[] = {BOARD_M4, BOARD_M0PLUS};
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        uint32_t loop = 0;
        struct board *b = counting(ids[k], &loop);
        uint32_t word = (loop + 2) & ~3u; /* of the loop's three instructions it holds two */
        mem_write(b, 0, DHCSR, KEY_HALT);
        for (uint32_t half = 1; half <= 2; half++) {
            mem_write(b, 0, FP_COMP(3), word | half << 30 | 1u);
            assert_int_equal(mem_read(b, 0, FP_COMP(3)), word | half << 30 | 1u);
            for (unsigned n = 0; n < 3; n++)
                assert_int_equal(next_breakpoint(b), word + 2 * (half - 1));
        }
        mem_write(b, 0, FP_COMP(3), word | 3u << 30 | 1u); /* both halves */
        assert_int_equal(next_breakpoint(b), word);
        assert_int_equal(next_breakpoint(b), word + 2);
        mem_write(b, 0, FP_COMP(3), word | 1u); /* REPLACE 0 would remap */
        resume(b, 0);
        assert_false(is_halted(b, 0));
        /* There are no more comparators than FP_CTRL says. */
        unsigned count = mem_read(b, 0, FP_CTRL) >> 4 & 15u;
        mem_write(b, 0, FP_COMP(count), 0xC8000101);
        assert_int_equal(mem_read(b, 0, FP_COMP(count)), 0);
        board_free(b);
    }
}

static void fpb_version_1_does_not_reach_ram(void **state)
{
    struct board *b = counting(BOARD_M4, NULL);
    (void)state;
    mem_write(b, 0, DHCSR, KEY_HALT);
    mem_write(b, 0, 0x20000200, 0xE7FEBF00); /* NOP; branch to itself */
    set_core_register(b, 0, 15, 0x20000200);
    mem_write(b, 0, FP_CTRL, 3);
    mem_write(b, 0, FP_COMP(0), 0xC0000201 | 0x20000000);
    assert_int_equal(mem_read(b, 0, FP_COMP(0)), 0xC0000201);
    resume(b, 0);
    assert_false(is_halted(b, 0));
    halt(b, 0);
    assert_int_equal(core_register(b, 0, 15), 0x20000202);
    board_free(b);
}

/* Sheet 3.5: on Armv8-M a bit of DHCSR proves that the core was started, also when it has stopped again. */
static void restart_sticks_in_dhcsr_on_v8m_only(void **state)
{
    (void)state;
    for (unsigned id = 0; id < BOARD_IDENTITIES; id++) {
        uint32_t loop = 0, expected = id == BOARD_M33 ? S_RESTART_ST : 0;
        struct board *b = counting((enum board_identity)id, &loop);
        mem_write(b, 0, DHCSR, KEY_HALT);
        mem_read(b, 0, DHCSR);
        assert_int_equal(mem_read(b, 0, DHCSR) & S_RESTART_ST, 0);
        step(b, 0);
        mem_write(b, 0, DHCSR, KEY_STEP);
        assert_int_equal(mem_read(b, 0, DHCSR) & (S_RESTART_ST | S_HALT), expected | S_HALT);
        assert_int_equal(mem_read(b, 0, DHCSR) & S_RESTART_ST, 0);
        mem_write(b, 0, DHCSR, KEY_HALT); /* C_HALT stays: no restart */
        assert_int_equal(mem_read(b, 0, DHCSR) & S_RESTART_ST, 0);
        board_free(b);
    }
}

/* Sheet 1.5: output 1 restarts a Cortex-M33, output 7 the others; nothing else does. */
static void the_restart_output_of_each(void **state)
{
    (void)state;
    for (unsigned id = 0; id < BOARD_IDENTITIES; id++) {
        struct board *b = counting((enum board_identity)id, NULL);
        unsigned restart = id == BOARD_M33 ? 1 : 7;
        mem_write(b, 0, CTI_LAR, CTI_KEY);
        mem_write(b, 0, CTI_CONTROL, 1);
        halt(b, 0);
        mem_read(b, 0, DHCSR);
        for (unsigned n = 1; n < 8; n++) {
            if (n == restart)
                continue;
            mem_write(b, 0, CTI_OUTEN(n), RESTART_CHANNEL);
            mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
            assert_true(is_halted(b, 0));
            mem_write(b, 0, CTI_OUTEN(n), 0);
        }
        mem_write(b, 0, CTI_OUTEN(restart), RESTART_CHANNEL);
        mem_write(b, 0, CTI_APPPULSE, RESTART_CHANNEL);
        uint32_t dhcsr = mem_read(b, 0, DHCSR);
        assert_int_equal(dhcsr & S_HALT, 0);
        assert_int_equal(dhcsr & S_RESTART_ST, id == BOARD_M33 ? S_RESTART_ST : 0);
        board_free(b);
    }
}

static void lock_and_claim_are_where_the_part_has_them(void **state)
{
    (void)state;
    for (unsigned id = 0; id < BOARD_IDENTITIES; id++) {
        struct board *b = counting((enum board_identity)id, NULL);
        bool lock = id == BOARD_M7 || id == BOARD_M4;
        assert_int_equal(mem_read(b, 0, CTI_LSR), lock ? 3 : 0);
        mem_write(b, 0, CTI_GATE, 1);
        assert_int_equal(mem_read(b, 0, CTI_GATE), lock ? 0xF : 1);
        assert_int_equal(mem_read(b, 0, CTI(0xFA0)), id == BOARD_M33 ? 0 : 0xF);
        board_free(b);
    }
}

static void v6m_debug_registers_have_fewer_bits(void **state)
{
    struct board *b = counting(BOARD_M0PLUS, NULL);
    (void)state;
    mem_write(b, 0, DHCSR, KEY_HALT | 1u << 5); /* C_SNAPSTALL */
    assert_int_equal(mem_read(b, 0, DHCSR) & 0x2F, 3);
    mem_write(b, 0, DEMCR, 0xFFFFFFFF);
    assert_int_equal(mem_read(b, 0, DEMCR), 0x01000401);
    mem_write(b, 0, DWT_CTRL, 1);
    assert_int_equal(mem_read(b, 0, DWT_CTRL), 0x20000000);
    resume(b, 0);
    uint32_t before = mem_read(b, 0, DWT_CYCCNT);
    assert_int_equal(mem_read(b, 0, DWT_CYCCNT), before);
    assert_in_range(mem_read(b, 0, DWT_PCSR), CODE_BASE, CODE_BASE + 64);
    /* System registers are words only. */
    ap_write(b, 0, 0x00, 0x23000000);
    ap_write(b, 0, 0x04, 0xE000E400);
    uint32_t value = 0x40;
    assert_int_equal(board_dap_transfer(b, true, false, 0xC, &value), 1);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0x20);
    dp_write(b, 0x0, 0x1E);
    /* None of what only the larger architectures have. */
    static const uint32_t absent[] = {0xE000E300, 0xE000ED18, 0xE000ED28, 0xE000ED2C, 0xE000ED34,
                                      0xE000ED38, 0xE000ED40, 0xE000ED60, 0xE000ED88, 0xE000E004};
    for (unsigned k = 0; k < sizeof(absent) / sizeof(absent[0]); k++)
        assert_int_equal(mem_read(b, 0, absent[k]), 0);
    assert_int_equal(mem_read(b, 0, 0xE000ED14), 0x208); /* CCR: STKALIGN, UNALIGN_TRP */
    mem_write(b, 0, 0xE000ED14, 0);
    assert_int_equal(mem_read(b, 0, 0xE000ED14), 0x208);
    mem_write(b, 0, 0xE000E400, 0xFFFFFFFF);
    assert_int_equal(mem_read(b, 0, 0xE000E400), 0xC0C0C0C0);
    mem_write(b, 0, AIRCR, 0x05FA0700);
    assert_int_equal(mem_read(b, 0, AIRCR), 0xFA050000);
    board_free(b);
}

static uint32_t registers_of(struct board *b, unsigned regsel)
{
    return core_register(b, 0, regsel);
}

static void only_v8m_has_stack_limits(void **state)
{
    (void)state;
    for (unsigned id = 0; id < BOARD_IDENTITIES; id++) {
        struct board *b = counting((enum board_identity)id, NULL);
        halt(b, 0);
        set_core_register(b, 0, 30, 0x20000407);
        set_core_register(b, 0, 31, 0x20000808);
        assert_int_equal(registers_of(b, 30), id == BOARD_M33 ? 0x20000400 : 0);
        assert_int_equal(registers_of(b, 31), id == BOARD_M33 ? 0x20000808 : 0);
        set_core_register(b, 0, 20, 0x01FFFF01); /* CONTROL, FAULTMASK, BASEPRI, PRIMASK */
        assert_int_equal(registers_of(b, 20), id == BOARD_M0PLUS ? 0x01000001 : 0x0101F001);
        set_core_register(b, 0, 16, 0xFF0F0000);
        assert_int_equal(registers_of(b, 16), id == BOARD_M0PLUS ? 0xF1000000 : 0xFF0F0000);
        board_free(b);
    }
}

static void a_stack_overflow_is_caught_as_a_checking_error(void **state)
{
    struct board *b = counting(BOARD_M33, NULL);
    (void)state;
    halt(b, 0);
    mem_write(b, 0, DEMCR, 1u << 6);         /* VC_CHKERR */
    mem_write(b, 0, 0xE000ED24, 1u << 18);   /* SHCSR.USGFAULTENA */
    mem_write(b, 0, 0x20000200, 0xE7FEB403); /* PUSH {r0, r1} */
    set_core_register(b, 0, 18, 0x20000104); /* PSP, and its limit */
    set_core_register(b, 0, 31, 0x20000100);
    set_core_register(b, 0, 20, 0x02000000);
    set_core_register(b, 0, 15, 0x20000200);
    mem_write(b, 0, DFSR, 0x1F);
    uint32_t below = mem_read(b, 0, 0x200000FC);
    resume(b, 0);
    assert_true(is_halted(b, 0));
    assert_int_equal(mem_read(b, 0, DFSR), 8);              /* VCATCH */
    assert_int_equal(mem_read(b, 0, 0xE000ED28), 1u << 20); /* CFSR.STKOF */
    assert_int_equal(core_register(b, 0, 16) & 0x1FFu, 6);
    assert_int_equal(mem_read(b, 0, 0x200000FC), below);
    board_free(b);
}

/* Sets comparator n of an Armv8-M DWT. */
static void watch_v8(struct board *b, unsigned n, uint32_t address, uint32_t function)
{
    mem_write(b, 0, DWT_COMP(n), address);
    mem_write(b, 0, DWT_FUNCTION(n), function);
}

static bool stops(struct board *b)
{
    resume(b, 0);
    bool stopped = is_halted(b, 0);
    if (!stopped)
        halt(b, 0);
    else
        assert_int_equal(mem_read(b, 0, DFSR) & DWTTRAP, DWTTRAP);
    mem_write(b, 0, DFSR, 0x1F);
    return stopped;
}

static void the_dwt_of_v8m_watches_by_match_and_action(void **state)
{
    uint32_t loop = 0;
    struct board *b = counting(BOARD_M33, &loop);
    (void)state;
    halt(b, 0);
    mem_write(b, 0, DEMCR, TRCENA);
    watch_v8(b, 0, CELL, 2u << 10 | 1u << 4 | 5u); /* a word, written */
    assert_true(stops(b));
    assert_int_equal(mem_read(b, 0, DWT_FUNCTION(0)) & 0x01000C3Fu, 0x01000815u);
    assert_int_equal(mem_read(b, 0, DWT_FUNCTION(0)) & 1u << 24, 0); /* MATCHED: cleared by reading */
    watch_v8(b, 0, CELL, 2u << 10 | 1u << 4 | 4u);                   /* either */
    assert_true(stops(b));
    watch_v8(b, 0, CELL, 2u << 10 | 1u << 4 | 6u); /* read: it is only written */
    assert_false(stops(b));
    watch_v8(b, 0, CELL + 3, 0u << 10 | 1u << 4 | 5u); /* one byte of it */
    assert_true(stops(b));
    watch_v8(b, 0, CELL + 4, 2u << 10 | 1u << 4 | 5u);
    assert_false(stops(b));
    watch_v8(b, 0, CELL, 2u << 10 | 0u << 4 | 5u); /* a trigger only */
    assert_false(stops(b));
    assert_int_equal(mem_read(b, 0, DWT_FUNCTION(0)) >> 24 & 1u, 1);
    /* A range ends at the odd comparator, which alone can. */
    watch_v8(b, 2, CELL - 16, 2u << 10 | 1u << 4 | 5u);
    watch_v8(b, 3, CELL - 1, 2u << 10 | 7u);
    mem_write(b, 0, DWT_FUNCTION(0), 0);
    assert_false(stops(b));
    watch_v8(b, 3, CELL, 2u << 10 | 7u);
    assert_true(stops(b));
    mem_write(b, 0, DWT_FUNCTION(3), 0);
    watch_v8(b, 2, CELL, 7u);
    assert_int_equal(mem_read(b, 0, DWT_FUNCTION(2)) & 15u, 0);
    mem_write(b, 0, DWT_MASK(0), 5);
    assert_int_equal(mem_read(b, 0, DWT_MASK(0)), 0);
    watch_v8(b, 1, loop + 2, 1u << 4 | 2u); /* an instruction */
    assert_true(stops(b));
    assert_int_equal(core_register(b, 0, 15), loop + 4);
    board_free(b);
}

static void a_dwt_match_reaches_the_trigger_of_its_core(void **state)
{
    static const struct {
        enum board_identity id;
        uint32_t function;
        int input; /* of comparator 1; -1: none */
    } cases[] = {{BOARD_M7, 10, 2}, {BOARD_M4, 10, 5}, {BOARD_M33, 2u << 10 | 5u, 2}, {BOARD_M0PLUS, 6, -1}};
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        for (int input = 1; input < 8; input++) {
            struct board *b = counting(cases[k].id, NULL);
            mem_write(b, 0, CTI_LAR, CTI_KEY);
            mem_write(b, 0, CTI_INEN(input), HALT_CHANNEL);
            mem_write(b, 0, CTI_OUTEN(0), HALT_CHANNEL);
            mem_write(b, 0, CTI_CONTROL, 1);
            halt(b, 0);
            mem_write(b, 0, DFSR, 0x1F);
            mem_write(b, 0, DEMCR, TRCENA);
            mem_write(b, 0, DWT_COMP(1), CELL);
            mem_write(b, 0, DWT_MASK(1), 2);
            mem_write(b, 0, DWT_FUNCTION(1), cases[k].function);
            resume(b, 0);
            bool external = (mem_read(b, 0, DFSR) & 0x10u) != 0;
            assert_int_equal(external, input == cases[k].input);
            board_free(b);
        }
    }
}

/* What a core has sent to its UART. */
struct heard {
    char text[2][4096];
    size_t size[2];
};

static void hear(void *ctx, unsigned core, uint8_t byte)
{
    struct heard *h = ctx;
    if (h->size[core] + 1 < sizeof(h->text[core]))
        h->text[core][h->size[core]++] = (char)byte;
}

static void every_pairing_runs_the_built_in_programs(void **state)
{
    static struct heard h;
    (void)state;
    for (unsigned pair = 0; pair < BOARD_IDENTITIES * BOARD_IDENTITIES; pair++) {
        struct board_config config = {.identity = {(enum board_identity)(pair / BOARD_IDENTITIES),
                                                   (enum board_identity)(pair % BOARD_IDENTITIES)},
                                      .uart = hear,
                                      .ctx = &h};
        struct diag d = DIAG_INIT;
        memset(&h, 0, sizeof(h));
        struct board *b = board_new(&config, &d);
        assert_non_null(b);
        for (unsigned core = 0; core < BOARD_CORES; core++) {
            size_t size = 0;
            const uint8_t *image = board_identity_image(config.identity[core], core, &size);
            if (size == 0)
                skip(); /* built without the firmware */
            assert_int_equal(board_load_elf(b, core, image, size, &d), CORRAL_OK);
        }
        board_reset(b);
        board_run_until(b, board_tick_hz(b) / 1000 * 20);
        for (unsigned core = 0; core < BOARD_CORES; core++) {
            char boot[32];
            snprintf(boot, sizeof(boot), "boot: core %u at 100000000 Hz", core);
            if (strstr(h.text[core], "fault") || !strstr(h.text[core], boot))
                fail_msg("pairing %u, core %u: %s", pair, core, h.text[core]);
        }
        const char *asked = strstr(h.text[0], "mbox: ");
        assert_non_null(asked);
        char *rest = NULL;
        if (strtoul(asked + 6, &rest, 10) < 100 || strncmp(rest, " asked, 0 missed", 16) != 0)
            fail_msg("pairing %u: %s", pair, asked);
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_identities),
        cmocka_unit_test(a_debugger_finds_the_components_of_each),
        cmocka_unit_test(fpb_version_1_breaks_at_either_half_of_a_word),
        cmocka_unit_test(fpb_version_1_does_not_reach_ram),
        cmocka_unit_test(restart_sticks_in_dhcsr_on_v8m_only),
        cmocka_unit_test(the_restart_output_of_each),
        cmocka_unit_test(lock_and_claim_are_where_the_part_has_them),
        cmocka_unit_test(v6m_debug_registers_have_fewer_bits),
        cmocka_unit_test(only_v8m_has_stack_limits),
        cmocka_unit_test(a_stack_overflow_is_caught_as_a_checking_error),
        cmocka_unit_test(the_dwt_of_v8m_watches_by_match_and_action),
        cmocka_unit_test(a_dwt_match_reaches_the_trigger_of_its_core),
        cmocka_unit_test(every_pairing_runs_the_built_in_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
