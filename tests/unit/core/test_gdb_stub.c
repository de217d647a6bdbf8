/* SPDX-License-Identifier: Apache-2.0 */
/* Cores behind a gdb stub, against one of the tests' own: reasons, registers, breakpoints, what is not there.
 * Cross-trigger sheet 10.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/link_gdb.h"
#include "tests/unit/link/gdb_peer.h"

#define RULES(...) ((const struct gdb_peer_rule[]){__VA_ARGS__, {NULL, NULL, false, false}})
#define ANSWER(packet, reply)       \
    {                               \
        packet, reply, false, false \
    }
#define SILENT(packet)             \
    {                              \
        packet, NULL, false, false \
    }
#define CORES 2

struct bench {
    struct gdb_peer *peer;
    struct host_clock *clock;
    struct link *link;
    struct core *core[CORES];
};

static struct bench open_bench(const struct gdb_peer_rule *rules)
{
    struct bench b = {.peer = gdb_peer_start(rules), .clock = host_clock_new_real()};
    struct diag d = DIAG_INIT;
    b.link = link_gdb_open(gdb_peer_spec(b.peer), NULL, b.clock, &d);
    if (!b.link)
        fail_msg("%s", d.message);
    for (size_t i = 0; i < CORES; i++) {
        b.core[i] = core_gdb_stub_open(b.link, i, i ? "core1" : "core0", 0, &d);
        assert_non_null(b.core[i]);
    }
    return b;
}

static char *close_bench(struct bench *b)
{
    for (size_t i = 0; i < CORES; i++)
        core_close(b->core[i]);
    link_close(b->link);
    char *log = gdb_peer_stop(b->peer);
    host_clock_free(b->clock);
    return log;
}

static struct core_status status_of(struct bench *b, size_t core)
{
    struct diag d = DIAG_INIT;
    struct core_status s;
    assert_int_equal(core_read_status(b->core[core], true, &s, &d), CORRAL_OK);
    return s;
}

static void run(struct bench *b)
{
    struct diag d = DIAG_INIT;
    bool restarted = false;
    assert_int_equal(core_prepare_run(b->core[0], &d), CORRAL_OK);
    assert_int_equal(core_prepare_run(b->core[1], &d), CORRAL_OK);
    assert_int_equal(core_resume(b->core[0], &d), CORRAL_OK);
    assert_int_equal(core_confirm_run(b->core[1], &restarted, &d), CORRAL_OK);
    assert_true(restarted);
}

static void test_one_halts_and_runs_all(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(SILENT("vCont;c")));
    struct diag d = DIAG_INIT;
    assert_non_null(core_run_domain(b.core[0]));
    assert_ptr_equal(core_run_domain(b.core[0]), core_run_domain(b.core[1]));
    assert_string_equal(core_type(b.core[0]), "gdb-stub");
    assert_int_equal(status_of(&b, 0).state, CORE_HALTED); /* connecting did that */
    assert_int_equal(status_of(&b, 0).reason, HALT_REASON_REQUEST);
    run(&b);
    assert_int_equal(status_of(&b, 0).state, CORE_RUNNING);
    assert_int_equal(core_prepare_run(b.core[0], &d), CORRAL_ERR_CORE_STATE);
    assert_int_equal(core_step(b.core[0], &d), CORRAL_ERR_CORE_STATE);
    assert_int_equal(core_request_halt(b.core[1], &d), CORRAL_OK);
    assert_int_equal(core_wait_halted(b.core[0], CORE_WAIT_NS, &d), CORRAL_OK);
    for (size_t i = 0; i < CORES; i++) {
        assert_int_equal(status_of(&b, i).reason, HALT_REASON_REQUEST);
        assert_int_equal(status_of(&b, i).pc, 0x10000000);
    }
    free(close_bench(&b));
}

static void test_reasons_of_the_core_that_stopped_and_of_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        enum halt_reason first, other;
    } cases[] = {
        {"T05watch:20000010;thread:p02.02;", HALT_REASON_WATCHPOINT, HALT_REASON_CROSS_TRIGGER},
        {"T05hwbreak:;thread:p02.02;", HALT_REASON_BREAKPOINT, HALT_REASON_CROSS_TRIGGER},
        {"T05thread:p02.02;", HALT_REASON_BREAKPOINT, HALT_REASON_CROSS_TRIGGER},
        {"T0bthread:p02.02;", HALT_REASON_FAULT, HALT_REASON_CROSS_TRIGGER},
        {"T02thread:p02.02;", HALT_REASON_REQUEST, HALT_REASON_CROSS_TRIGGER},
        {"T1ethread:p02.02;", HALT_REASON_NONE, HALT_REASON_CROSS_TRIGGER}, /* not guessed */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b = open_bench(RULES(ANSWER("vCont;c", cases[i].reply)));
        struct diag d = DIAG_INIT;
        run(&b);
        assert_int_equal(core_wait_halted(b.core[1], CORE_WAIT_NS, &d), CORRAL_OK);
        assert_int_equal(status_of(&b, 1).reason, cases[i].first);
        assert_int_equal(status_of(&b, 0).reason, cases[i].other);
        free(close_bench(&b));
    }
}

static void test_a_program_that_ended_is_unknown(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("vCont;c", "W00")));
    struct diag d = DIAG_INIT;
    struct core_status s;
    assert_int_equal(core_resume(b.core[0], &d), CORRAL_OK);
    assert_int_equal(core_wait_halted(b.core[0], CORE_WAIT_NS, &d), CORRAL_ERR_CORE_NO_HALT);
    assert_int_equal(core_read_status(b.core[0], true, &s, &d), CORRAL_OK);
    assert_int_equal(s.state, CORE_UNKNOWN);
    assert_int_equal(s.why, CORE_WHY_STUB);
    free(close_bench(&b));
}

/* The stub's breakpoint would stop the core where it stands: step off it, whoever set it. */
static void test_breakpoints_are_stepped_off(void **state)
{
    (void)state;
    struct bench b =
        open_bench(RULES(ANSWER("vCont;c", "T05thread:p01.01;"), ANSWER("vCont;s", "T05thread:p01.01;")));
    struct diag d = DIAG_INIT;
    assert_int_equal(core_set_breakpoint(b.core[1], 0x10000001, &d), CORRAL_OK); /* the peer's pc */
    run(&b);
    assert_int_equal(status_of(&b, 0).reason, HALT_REASON_BREAKPOINT);
    assert_int_equal(core_step(b.core[1], &d), CORRAL_OK);
    assert_int_equal(core_clear_breakpoint(b.core[1], 0x10000000, &d), CORRAL_OK);
    assert_int_equal(core_clear_breakpoint(b.core[1], 0x10000000, &d), CORRAL_ERR_USAGE);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nZ1,10000000,2\n"));
    /* Each of both cores stood on it. */
    const char *off = strstr(log, "\nz1,10000000,2\nvCont;s:p1.1\n");
    assert_non_null(off);
    assert_non_null(strstr(off, "\nZ1,10000000,2\n"));
    assert_non_null(strstr(off, "\nvCont;s:p2.2\n"));
    assert_non_null(strstr(off, "\nvCont;c\n"));
    free(log);
}

static void test_a_software_breakpoint_where_there_is_no_hardware(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("Z1", ""), ANSWER("Z2", "E22")));
    struct diag d = DIAG_INIT;
    assert_int_equal(core_set_breakpoint(b.core[0], 0x10000100, &d), CORRAL_OK);
    assert_int_equal(core_set_watchpoint(b.core[0], 0x20000000, 4, CORE_WATCH_WRITE, &d),
                     CORRAL_ERR_LINK_FAULT);
    assert_int_equal(core_set_watchpoint(b.core[0], 0x20000000, 4, CORE_WATCH_ACCESS, &d), CORRAL_OK);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nZ0,10000100,2\n"));
    assert_non_null(strstr(log, "\nZ4,20000000,4\n"));
    free(log);
}

static void test_registers_by_name_and_number(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("nothing", "")));
    struct diag d = DIAG_INIT;
    const struct core_register *r;
    uint32_t v = 0;
    assert_int_equal(core_find_register(b.core[1], "XPSR", &r, &d), CORRAL_OK);
    assert_int_equal(r->number, CORE_REGISTER_XPSR);
    assert_int_equal(core_read_register(b.core[0], 0, &v, &d), CORRAL_OK);
    assert_int_equal(core_read_register(b.core[1], CORE_REGISTER_XPSR, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x12345678);
    assert_int_equal(core_write_register(b.core[1], CORE_REGISTER_SP, 0x20001000, &d), CORRAL_OK);
    assert_int_equal(core_find_register(b.core[1], "control", &r, &d),
                     CORRAL_ERR_USAGE); /* the stub has none */
    assert_int_equal(core_read_register(b.core[1], CORE_REGISTER_MSP, &v, &d), CORRAL_ERR_USAGE);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nHgp1.1\np0\nHgp2.2\np19\n"));
    assert_non_null(strstr(log, "\nPd=00100020\n"));
    free(log);
}

static void test_what_a_stub_has_not(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("qqemu", "")));
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    assert_int_equal(core_read_cycles(b.core[0], &v, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(core_reset(b.core[0], CORE_RESET_SYSTEM, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(core_reset(b.core[0], CORE_RESET_CORE, &d), CORRAL_ERR_UNSUPPORTED);
    assert_null(core_cti(b.core[0]));
    assert_null(core_gdb_stub_open(b.link, CORES, "core2", 0, &d));
    assert_int_equal(d.code, CORRAL_ERR_NO_CORE);
    free(close_bench(&b));
}

/* What the user left halted stays so; what only was looked at goes on. */
static void test_leaving(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("nothing", "")));
    struct diag d = DIAG_INIT;
    assert_int_equal(core_request_halt(b.core[0], &d), CORRAL_OK);
    assert_int_equal(core_detach(b.core[0], true, &d), CORRAL_OK);
    char *log = close_bench(&b);
    assert_null(strstr(log, "\nD"));
    free(log);
    b = open_bench(RULES(ANSWER("nothing", "")));
    assert_int_equal(core_set_breakpoint(b.core[0], 0x10000100, &d), CORRAL_OK);
    assert_int_equal(core_request_halt(b.core[0], &d), CORRAL_OK);
    assert_int_equal(core_detach(b.core[0], false, &d), CORRAL_OK);
    log = close_bench(&b);
    assert_non_null(strstr(log, "\nz1,10000100,2\n"));
    assert_non_null(strstr(log, "\nD;1\nD;2\n"));
    free(log);
}

static void test_a_scan_lists_the_cores_and_says_what_is_missing(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("me000ed00,4", "13d20f41")));
    struct diag d = DIAG_INIT;
    struct cs_topology *t = cs_scan(b.link, NULL, &d);
    assert_non_null(t);
    assert_int_equal(t->core_count, 2);
    assert_int_equal(t->ap_count, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(t->cores[i].type, "Cortex-M33");
        assert_int_equal(t->cores[i].cpuid, 0x410FD213);
        assert_true(t->cores[i].stub);
        assert_false(t->cores[i].cortex_m || t->cores[i].has_cti);
        assert_non_null(strstr(t->cores[i].why_no_cti, i ? "p2.2" : "p1.1"));
    }
    cs_topology_free(t);
    free(close_bench(&b));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_halts_and_runs_all),
        cmocka_unit_test(test_reasons_of_the_core_that_stopped_and_of_the_others),
        cmocka_unit_test(test_a_program_that_ended_is_unknown),
        cmocka_unit_test(test_breakpoints_are_stepped_off),
        cmocka_unit_test(test_a_software_breakpoint_where_there_is_no_hardware),
        cmocka_unit_test(test_registers_by_name_and_number),
        cmocka_unit_test(test_what_a_stub_has_not),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_a_scan_lists_the_cores_and_says_what_is_missing),
    };
    return cmocka_run_group_tests_name("core-gdb-stub", tests, NULL, NULL);
}
