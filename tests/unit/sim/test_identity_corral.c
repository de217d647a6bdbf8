/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corral itself on the board's cores: discovery names them and finds each one's restart output, and the back
 * end halts, steps, breaks and watches on the built-in programs. Every pairing of identities.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/host_clock.h"
#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/sim.h"
#include "sim/board_map.h"
#include "sim/identity.h"

static const enum core_arch architectures[BOARD_IDENTITIES] = {
    [BOARD_M7] = CORE_ARCH_V7M,
    [BOARD_M4] = CORE_ARCH_V7M,
    [BOARD_M33] = CORE_ARCH_V8M_MAIN,
    [BOARD_M0PLUS] = CORE_ARCH_V6M,
};

static void ok(enum corral_err err, const struct diag *d)
{
    if (err)
        fail_msg("%s", d->message);
}

/* The core stops for `reason`; where. */
static uint32_t stops(struct core *c, enum halt_reason reason)
{
    struct diag d = DIAG_INIT;
    struct core_status status;
    ok(core_wait_halted(c, CORE_WAIT_NS, &d), &d);
    ok(core_read_status(c, true, &status, &d), &d);
    assert_int_equal(status.state, CORE_HALTED);
    assert_int_equal(status.reason, reason);
    assert_true(status.pc_known);
    return status.pc;
}

static void run(struct core *c)
{
    struct diag d = DIAG_INIT;
    bool restarted = false;
    ok(core_prepare_run(c, &d), &d);
    ok(core_resume(c, &d), &d);
    ok(core_confirm_run(c, &restarted, &d), &d);
    assert_true(restarted);
}

static void drive(struct link *link, const struct cs_core *found, const struct board_identity_info *info,
                  enum core_arch arch)
{
    struct diag d = DIAG_INIT;
    struct core_info about = {0};
    uint32_t before = 0, value = 0, cycles = 0;
    struct core *c = core_cortex_m_open(link, found->ap, found->name, 0, NULL, &d);
    assert_non_null(c);
    ok(core_get_info(c, &about, &d), &d);
    assert_int_equal(about.arch, arch);
    assert_string_equal(about.part, info->core);
    assert_int_equal(about.breakpoints, info->fpb.comparators);
    assert_int_equal(about.breakpoint_version, info->fpb.version);
    assert_int_equal(about.watchpoints, info->dwt.comparators);
    assert_int_equal(about.has_cycle_counter, info->dwt.cyccnt);
    assert_int_equal(about.has_restart_flag, arch == CORE_ARCH_V8M_MAIN);
    assert_false(about.has_security);
    assert_false(about.has_fpu);
    assert_int_equal(core_read_cycles(c, &cycles, NULL) == CORRAL_OK, info->dwt.cyccnt);

    ok(core_request_halt(c, &d), &d);
    before = stops(c, HALT_REASON_REQUEST);
    ok(core_read_register(c, CORE_REGISTER_PC, &value, &d), &d);
    assert_int_equal(value, before);
    ok(core_step(c, &d), &d);
    stops(c, HALT_REASON_STEP);
    ok(core_set_breakpoint(c, before, &d), &d);
    run(c);
    assert_int_equal(stops(c, HALT_REASON_BREAKPOINT), before);
    ok(core_clear_breakpoint(c, before, &d), &d);
    ok(core_set_watchpoint(c, BOARD_MAILBOX_BASE + BOARD_MAILBOX_TX_DATA, 4, CORE_WATCH_WRITE, &d), &d);
    run(c);
    stops(c, HALT_REASON_WATCHPOINT);
    ok(core_clear_watchpoint(c, BOARD_MAILBOX_BASE + BOARD_MAILBOX_TX_DATA, 4, &d), &d);
    run(c);
    ok(core_detach(c, false, &d), &d);
    core_close(c);
}

static void every_pairing_is_found_and_driven(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < BOARD_IDENTITIES * BOARD_IDENTITIES; pair++) {
        const enum board_identity id[2] = {(enum board_identity)(pair / BOARD_IDENTITIES),
                                           (enum board_identity)(pair % BOARD_IDENTITIES)};
        struct diag d = DIAG_INIT;
        char words[64];
        snprintf(words, sizeof(words), "--identity %s,%s", board_identity_info(id[0])->name,
                 board_identity_info(id[1])->name);
        struct host_clock *clock = host_clock_new_virtual();
        struct link_sim_options options = {.board = words, .clock = clock};
        struct link *link = link_sim_open(&options, &d);
        assert_non_null(link);
        ok(dp_power_up(link, &d), &d);
        struct cs_topology *t = cs_scan(link, NULL, &d);
        assert_non_null(t);
        assert_int_equal(t->core_count, 2);
        for (unsigned n = 0; n < 2; n++) {
            const struct board_identity_info *info = board_identity_info(id[n]);
            const struct cs_core *c = &t->cores[n];
            assert_string_equal(c->type, info->core);
            assert_int_equal(c->cpuid, info->cpuid);
            assert_true(c->has_cti);
            assert_int_equal(c->cti.restart_output, id[n] == BOARD_M33 ? 1 : 7);
            assert_int_equal(c->cti.triggers, 8);
            assert_int_equal(c->cti.channels, 4);
            drive(link, c, info, architectures[id[n]]);
        }
        for (size_t k = 0; k < t->component_count; k++) {
            assert_string_equal(t->components[k].error, "");
            assert_string_not_equal(t->components[k].name, "unknown");
        }
        cs_topology_free(t);
        link_close(link);
        host_clock_free(clock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pairing_is_found_and_driven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
