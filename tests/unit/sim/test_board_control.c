/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that let the board's misfortunes happen: what each does, and that nothing else is understood.
 */
#include "board_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/board_control.h"

static struct board_control *begin(void)
{
    struct board_control *c = calloc(1, sizeof(*c));
    assert_non_null(c);
    c->board = board_cross_triggered(NULL);
    return c;
}

static void end(struct board_control *c)
{
    board_free(c->board);
    free(c);
}

static void say(struct board_control *c, const char *line)
{
    assert_string_equal(board_control_line(c, line), "ok\n");
}

static void reset_and_power(void **state)
{
    (void)state;
    struct board_control *c = begin();
    mem_read(c->board, 1, DHCSR);
    say(c, "reset core1 on");
    mem_read(c->board, 1, DHCSR);
    assert_int_equal(mem_read(c->board, 1, DHCSR) & (1u << 25), 1u << 25);
    mem_write(c->board, 0, AIRCR, 0x05FA0004); /* it is held all the same */
    mem_read(c->board, 1, DHCSR);
    assert_int_equal(mem_read(c->board, 1, DHCSR) & (1u << 25), 1u << 25);
    say(c, "reset core1 off");
    mem_read(c->board, 1, DHCSR);
    assert_int_equal(mem_read(c->board, 1, DHCSR) & (1u << 25), 0);
    say(c, "  reset\tcore1   pulse ");
    assert_int_equal(mem_read(c->board, 1, DHCSR) & (1u << 25), 1u << 25);
    assert_int_equal(mem_read(c->board, 1, DHCSR) & (1u << 25), 0);
    say(c, "cti-lose core0");
    assert_int_equal(mem_read(c->board, 0, CTI_CONTROL), 0);
    say(c, "power core1 off");
    say(c, "power core1 off");
    say(c, "power core1 on");
    assert_int_equal(mem_read(c->board, 1, CTI_CONTROL), 0);
    end(c);
}

static void faults(void **state)
{
    (void)state;
    struct board_control *c = begin();
    struct board *b = c->board;
    uint32_t value = 0;
    say(c, "fault wait 2 after 1");
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 1);
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 2);
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 2);
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 1);
    say(c, "fault fault 1000000");
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 4);
    say(c, "fault fault 0");
    assert_int_equal(board_dap_transfer(b, false, true, 0, &value), 1);
    say(c, "apfault 1 0xE0042000 0xFFFFF000");
    mem_read_fails(b, 1, CTI_CONTROL);
    mem_write_fails(b, 1, CTI_LSR, 0);
    assert_int_equal(mem_read(b, 0, CTI_CONTROL), 1);
    mem_read(b, 1, DHCSR);
    for (unsigned i = 1; i < 16; i++)
        say(c, "apfault 0 0x20000000 0xFFFFFFFF");
    assert_non_null(strstr(board_control_line(c, "apfault 0 0 0"), "error: "));
    say(c, "apfault off");
    assert_int_equal(mem_read(b, 1, CTI_CONTROL), 1);
    end(c);
}

static void the_log(void **state)
{
    (void)state;
    struct board_control *c = begin();
    uint64_t tick = 0, hz = 0;
    assert_string_equal(board_control_line(c, "log"), "ok 0\n");
    halt(c->board, 0);
    const char *answer = board_control_line(c, "log");
    assert_int_equal(strncmp(answer, "halt core0 tick ", 16), 0);
    assert_non_null(strstr(answer, " dfsr 0x01\nhalt core1 tick "));
    assert_non_null(strstr(answer, " dfsr 0x10\nok 2\n"));
    assert_string_equal(board_control_line(c, "log 2"), "ok 2\n");
    assert_string_equal(board_control_line(c, "log 99"), "ok 99\n");
    answer = board_control_line(c, "ticks");
    char *end_of = NULL;
    assert_int_equal(strncmp(answer, "ok ", 3), 0);
    tick = strtoull(answer + 3, &end_of, 10);
    hz = strtoull(end_of, &end_of, 10);
    assert_string_equal(end_of, "\n");
    assert_true(tick == board_tick(c->board) && hz == board_tick_hz(c->board));
    end(c);
}

/* Many records come in answers that are bounded, and none is left out. */
static void a_long_log_in_parts(void **state)
{
    (void)state;
    struct board_control *c = begin();
    for (unsigned i = 0; i < 400; i++) {
        halt(c->board, 0);
        mem_write(c->board, 0, CTI_INTACK, 1);
        mem_write(c->board, 1, CTI_INTACK, 1);
        mem_write(c->board, 0, CTI_APPPULSE, RESTART_CHANNEL);
    }
    const struct board_record *r = NULL;
    size_t count = board_log(c->board, &r), seen = 0;
    char line[32] = "log 0";
    assert_true(count == 1600);
    for (unsigned part = 0; part < 10; part++) {
        const char *answer = board_control_line(c, line);
        assert_true(strlen(answer) < BOARD_CONTROL_ANSWER - 1);
        for (const char *at = answer; (at = strchr(at, '\n')) != NULL; at++)
            seen++;
        seen--; /* the line "ok" */
        const char *next = strstr(answer, "ok ");
        assert_non_null(next);
        snprintf(line, sizeof(line), "log %u", (unsigned)strtoul(next + 3, NULL, 10));
        assert_int_equal(strtoul(next + 3, NULL, 10), seen);
        if (seen == count)
            break;
    }
    assert_int_equal(seen, count);
    end(c);
}

static void probes(void **state)
{
    (void)state;
    struct board_control *c = begin();
    say(c, "vanish after 7");
    assert_true(c->probes_asked && c->probes == BOARD_PROBES_GONE && c->after == 7);
    c->probes_asked = false;
    say(c, "stall");
    assert_true(c->probes_asked && c->probes == BOARD_PROBES_STUCK && c->after == 0);
    say(c, "stall off");
    assert_true(c->probes == BOARD_PROBES_THERE);
    c->probes_asked = false;
    assert_non_null(strstr(board_control_line(c, "vanish later"), "error: "));
    assert_false(c->probes_asked);
    end(c);
}

static void nonsense(void **state)
{
    (void)state;
    struct board_control *c = begin();
    static const char *const lines[] = {"",
                                        "   ",
                                        "help",
                                        "reset",
                                        "reset core0",
                                        "reset core2 on",
                                        "reset core0 up",
                                        "reset core0 on off",
                                        "power core0",
                                        "power core0 dim",
                                        "power core0 pulse",
                                        "cti-lose",
                                        "cti-lose both",
                                        "fault wait",
                                        "fault 2 3",
                                        "fault wait -1",
                                        "fault wait 1 after",
                                        "fault wait 1 before 2",
                                        "fault wait 1 after 2 3",
                                        "fault wait 99999999999999999999999",
                                        "apfault",
                                        "apfault 0",
                                        "apfault 0 1",
                                        "apfault 2 0 0",
                                        "apfault 0 0x100000000 0",
                                        "apfault on",
                                        "apfault 0 0 0 0",
                                        "log x",
                                        "log 1 2",
                                        "ticks 1",
                                        "vanish on",
                                        "vanish off now",
                                        "stall after",
                                        "stall after x",
                                        "RESET core0 on",
                                        "a b c d e f g h i j k"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *answer = board_control_line(c, lines[i]);
        if (strncmp(answer, "error: ", 7) != 0 || answer[strlen(answer) - 1] != '\n' ||
            strchr(answer, '\n') != answer + strlen(answer) - 1)
            fail_msg("'%s' is answered with '%s'", lines[i], answer);
    }
    char line[512];
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\0';
    assert_string_equal(board_control_line(c, line), "error: a command that is too long\n");
    assert_false(is_halted(c->board, 0));
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reset_and_power),     cmocka_unit_test(faults), cmocka_unit_test(the_log),
        cmocka_unit_test(a_long_log_in_parts), cmocka_unit_test(probes), cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
