/* SPDX-License-Identifier: Apache-2.0 */
/* The JTAG front: characters in, TDO out. Cross-trigger sheet 2.2. */
#include "front_fixture.h"

#include <string.h>

#include "sim/front_jtag.h"

struct script {
    char text[8192];
    size_t n;
};

static void pins(struct script *s, unsigned tms, unsigned tdi, bool sample)
{
    assert_true(s->n + 3 <= sizeof(s->text));
    s->text[s->n++] = (char)('0' + (tms << 1 | tdi));
    if (sample)
        s->text[s->n++] = 'R';
    s->text[s->n++] = (char)('4' + (tms << 1 | tdi));
}

static void move(struct script *s, const char *tms)
{
    for (; *tms; tms++)
        pins(s, (unsigned)(*tms - '0'), 0, false);
}

/* From Run-Test/Idle through a scan and back, with `idle` clocks there. */
static void scan(struct script *s, bool ir, uint64_t bits, unsigned length, bool sample, unsigned idle)
{
    move(s, ir ? "1100" : "100");
    for (unsigned i = 0; i < length; i++)
        pins(s, i + 1 == length, (unsigned)(bits >> i & 1u), sample);
    move(s, "10");
    while (idle--)
        pins(s, 0, 0, false);
}

static uint64_t say(struct talk *t, const struct script *s)
{
    uint64_t value = 0;
    size_t n = talk_say(t, s->text, s->n);
    assert_true(n <= 64 && t->in_size == 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(t->out[i] == '0' || t->out[i] == '1');
        value |= (uint64_t)(t->out[i] - '0') << i;
    }
    return value;
}

static uint64_t reach(struct talk *t, bool ap, bool read, unsigned addr, uint32_t value)
{
    struct script s = {.n = 0};
    scan(&s, true, ap ? 0xB : 0xA, FRONT_JTAG_IR_LENGTH, false, 0);
    scan(&s, false, (uint64_t)value << 3 | (addr >> 2) << 1 | read, 35, true, 2);
    return say(t, &s);
}

static uint32_t result(struct talk *t)
{
    uint64_t answer = reach(t, false, true, 0xC, 0);
    assert_int_equal(answer & 7, 2);
    return (uint32_t)(answer >> 3);
}

static void begin(struct talk *t)
{
    struct script s = {.n = 0};
    move(&s, "111110");
    assert_int_equal(talk_say(t, s.text, s.n), 0);
}

static void idcode_after_reset(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    struct script s = {.n = 0};
    begin(t);
    scan(&s, false, 0, 32, true, 0);
    assert_int_equal(say(t, &s), FRONT_JTAG_IDCODE);
    talk_end(t);
}

static void capture_ir_is_one_and_bypass_is_one_bit(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    struct script s = {.n = 0};
    begin(t);
    scan(&s, true, 0xF, FRONT_JTAG_IR_LENGTH, true, 0);
    assert_int_equal(say(t, &s), 1);
    s.n = 0;
    scan(&s, false, 0xA5, 9, true, 0);
    assert_int_equal(say(t, &s), 0xA5 << 1);
    talk_end(t);
}

static void a_port_answers_through_dpacc_and_apacc(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    begin(t);
    reach(t, false, false, 0x4, 0x50000000u);
    reach(t, false, true, 0x4, 0);
    assert_int_equal(result(t), 0xF0000000u);
    reach(t, false, false, 0x8, 0x010000F0u); /* AP 1, bank F */
    reach(t, true, true, 0xC, 0);
    assert_int_equal(result(t), 0x84770001u);
    assert_true(t->front->transfers >= 4);
    talk_end(t);
}

static void each_clock_of_the_wire_moves_the_board(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    begin(t);
    uint64_t before = board_wire_clocks(t->board), tick = board_tick(t->board);
    struct script s = {.n = 0};
    scan(&s, true, 0xA, FRONT_JTAG_IR_LENGTH, false, 0); /* 4 + 4 + 2 clocks */
    scan(&s, false, 0x1, 35, false, 7);                  /* 3 + 35 + 2 + 7 */
    say(t, &s);
    assert_int_equal(board_wire_clocks(t->board) - before, 57);
    assert_int_equal(board_tick(t->board) - tick,
                     57 * board_tick_hz(t->board) / board_get_config(t->board)->swclk_hz);
    talk_end(t);
}

static unsigned say_wait(void *ctx, bool ap, bool read, uint8_t addr)
{
    unsigned *left = ctx;
    (void)read;
    (void)addr;
    return ap && *left > 0 && (*left)-- ? 2 : 0;
}

/* While the access waits, new ones are thrown away, and it happens once. */
static void an_access_that_waits_is_not_lost(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    unsigned left = 2;
    begin(t);
    reach(t, false, false, 0x8, 0x000000F0u);
    board_dap_inject(t->board, say_wait, &left);
    reach(t, true, true, 0xC, 0);                            /* waits */
    assert_int_equal(reach(t, false, false, 0x8, 0) & 7, 1); /* still: this SELECT is thrown away */
    uint64_t answer = reach(t, false, true, 0xC, 0);
    assert_int_equal(answer & 7, 2);
    assert_int_equal(answer >> 3, 0x84770001u);
    board_dap_inject(t->board, NULL, NULL);
    reach(t, true, true, 0xC, 0); /* bank F is still selected */
    assert_int_equal(result(t), 0x84770001u);
    talk_end(t);
}

static void a_sticky_error_is_cleared_in_ctrl_stat(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    begin(t);
    reach(t, false, false, 0x4, 0x50000000u);
    reach(t, false, false, 0x8, 0);
    reach(t, true, false, 0x4, 0x70000000u); /* nothing is there */
    reach(t, true, true, 0xC, 0);
    reach(t, false, true, 0x4, 0);
    assert_true(result(t) & 0x20u);
    reach(t, false, false, 0x4, 0x50000020u);
    reach(t, false, true, 0x4, 0);
    assert_false(result(t) & 0x20u);
    talk_end(t);
}

static void cut_anywhere_it_is_the_same(void **state)
{
    (void)state;
    struct script s = {.n = 0};
    uint8_t whole[64];
    move(&s, "111110");
    scan(&s, false, 0, 32, true, 0);
    for (size_t step = 1; step <= 7; step++) {
        struct talk *t = talk_begin(&front_jtag);
        size_t n = talk_say_cut(t, s.text, s.n, step);
        assert_int_equal(n, 32);
        if (step == 1)
            memcpy(whole, t->out, n);
        assert_memory_equal(t->out, whole, n);
        talk_end(t);
    }
}

static void nonsense_hurts_nobody(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    struct script s = {.n = 0};
    talk_nonsense(t, (const uint8_t *)"R", 1);
    begin(t);
    scan(&s, false, 0, 32, true, 0);
    assert_int_equal(say(t, &s), FRONT_JTAG_IDCODE);
    talk_end(t);
}

static void quit_and_trst(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    struct script s = {.n = 0};
    begin(t);
    scan(&s, true, 0xF, FRONT_JTAG_IR_LENGTH, false, 0);
    say(t, &s);
    talk_say(t, "tr", 2);
    s.n = 0;
    move(&s, "0");
    scan(&s, false, 0, 32, true, 0);
    assert_int_equal(say(t, &s), FRONT_JTAG_IDCODE);
    assert_false(t->closed);
    talk_say(t, "Q", 1);
    assert_true(t->closed);
    talk_end(t);
}

/* r s t u: none of the two, SRST, TRST, both. */
static void srst_holds_the_cores(void **state)
{
    (void)state;
    static const struct {
        char c;
        bool held;
    } steps[] = {{'s', true}, {'r', false}, {'u', true}, {'t', false}, {'s', true}, {'r', false}};
    struct talk *t = talk_begin(&front_jtag);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        talk_say(t, &steps[i].c, 1);
        assert_true(t->front->pulls_reset == steps[i].held);
        mem_read(t->board, 0, DHCSR);
        assert_int_equal(mem_read(t->board, 0, DHCSR) >> 25 & 1u, steps[i].held);
        assert_int_equal(mem_read(t->board, 1, DHCSR) >> 25 & 1u, 1);
    }
    talk_end(t);
}

/* With ORUNDETECT a scan on top of a WAIT is lost and everything behind it refused, until the flag is
 * cleared; what waited is not lost. */
static void an_overrun_is_sticky(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_jtag);
    unsigned left = 2;
    begin(t);
    reach(t, false, false, 0x4, 0x50000001u);
    reach(t, false, false, 0x8, 0x000000F0u);
    board_dap_inject(t->board, say_wait, &left);
    reach(t, true, true, 0xC, 0);                                      /* waits */
    assert_int_equal(reach(t, false, false, 0x8, 0) & 7, 1);           /* lost */
    assert_int_equal(reach(t, false, true, 0x4, 0) >> 3, 0x84770001u); /* what waited has come */
    assert_int_equal(result(t) & 0x3u, 3);                             /* STICKYORUN, ORUNDETECT */
    reach(t, true, true, 0xC, 0);
    assert_int_equal(result(t), 0); /* refused */
    reach(t, false, false, 0x4, 0x50000002u);
    reach(t, false, true, 0x4, 0);
    assert_int_equal(result(t) & 0x3u, 0);
    reach(t, true, true, 0xC, 0);
    assert_int_equal(result(t), 0x84770001u);
    talk_end(t);
}

/* ADIv6: OK and FAULT are two acknowledges. */
static void adiv6_tells_ok_from_fault(void **state)
{
    (void)state;
    const struct board_config config = {.adiv6 = true};
    struct talk *t = talk_begin_with(&front_jtag, &config);
    begin(t);
    reach(t, false, false, 0x4, 0x50000000u);
    assert_int_equal(reach(t, false, false, 0x8, 0x00002DF0u) & 7, 4);
    reach(t, true, true, 0xC, 0);
    assert_int_equal(reach(t, false, false, 0x8, 0x00002D00u), 0x34770008ull << 3 | 4);
    reach(t, true, false, 0x4, 0x70000000u);
    reach(t, true, true, 0xC, 0);
    assert_int_equal(reach(t, false, true, 0x4, 0) & 7, 2); /* FAULT */
    talk_end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idcode_after_reset),
        cmocka_unit_test(capture_ir_is_one_and_bypass_is_one_bit),
        cmocka_unit_test(a_port_answers_through_dpacc_and_apacc),
        cmocka_unit_test(each_clock_of_the_wire_moves_the_board),
        cmocka_unit_test(an_access_that_waits_is_not_lost),
        cmocka_unit_test(a_sticky_error_is_cleared_in_ctrl_stat),
        cmocka_unit_test(cut_anywhere_it_is_the_same),
        cmocka_unit_test(nonsense_hurts_nobody),
        cmocka_unit_test(quit_and_trst),
        cmocka_unit_test(srst_holds_the_cores),
        cmocka_unit_test(an_overrun_is_sticky),
        cmocka_unit_test(adiv6_tells_ok_from_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
