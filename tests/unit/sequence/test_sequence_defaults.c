/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default sequences: each on a target of its own with exactly the accesses that cross-trigger sheet 4.8
 * (with 2.1, 2.2, 3.1, 3.2) demands; and the seed's sequences as they are printed (sheet 13.11, 13.12).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"
#include "sequence_rig.h"

#define DHCSR   0xE000EDF0u
#define DEMCR   0xE000EDFCu
#define ONES    "SWJ 51 7FFFFFFFFFFFF\n"
#define ALERT   "SWJ 8 FF\nSWJ 64 86852D956209F392\nSWJ 64 19BC0EA2E3DDAFE9\n"
#define TAP     "JTAG 6 tms 1 tdi 3F\nJTAG 1 tms 0 tdi 1\n"
#define SWJ     (UINT64_C(1) << 16)
#define DORMANT (UINT64_C(1) << 17)

/* Nothing but the defaults. */
static struct rig *defaults(void)
{
    static const struct sequence_processor m7 = {"", true};
    struct rig *r = rig_new();
    r->setting = (struct sequence_setting){.processors = &m7, .processor_count = 1};
    rig_compile_well(r);
    return r;
}

#define RUNS(r, name, words)                                   \
    do {                                                       \
        if (rig_run((r), name) != CORRAL_OK)                   \
            fail_msg("%s: %s", (r)->d.object, (r)->d.message); \
        assert_true((r)->result.ran);                          \
        assert_string_equal((r)->log, words);                  \
        assert_string_equal((r)->warned, "");                  \
    } while (0)

static void test_defaults_are_without_any_problem(void **state)
{
    (void)state;
    static const char *const names[] = {
        "DebugPortSetup", "DebugPortStart",  "DebugPortStop",  "DebugCoreStart",      "DebugCoreStop",
        "ResetSystem",    "ResetProcessor",  "ResetHardware",  "ResetHardwareAssert", "ResetHardwareDeassert",
        "ResetCatchSet",  "ResetCatchClear", "ProcessorStart", "ProcessorStop"};
    const size_t count = sizeof(names) / sizeof(names[0]);
    struct rig *r = defaults();
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(sequence_count(r->program), count);
    for (size_t i = 0; i < count; i++) {
        struct sequence_info info;
        assert_true(sequence_find(r->program, names[i], NULL, &info));
        assert_true(info.is_default);
        assert_true(info.predefined);
        assert_false(info.has_errors);
        assert_true(info.info[0] != '\0');
        assert_true(info.place.line > 0);
    }
    rig_free(r);
}

/* Where a message says it is, there the sentence is. */
static void test_places_in_the_file_named_default(void **state)
{
    (void)state;
    struct rig *r = defaults();
    r->bad = DEMCR;
    assert_int_equal(rig_run(r, "DebugCoreStop"), CORRAL_ERR_LINK_FAULT);
    assert_memory_equal(r->d.object, "default:", 8);
    char *rest;
    unsigned line = (unsigned)strtoul(r->d.object + 8, &rest, 10);
    assert_string_equal(rest, ":1 in DebugCoreStop");
    struct sequence_set *set = sequence_set_new();
    assert_non_null(set);
    assert_int_equal(sequence_add_defaults(set, &r->setting, &r->d), CORRAL_OK);
    bool found = false;
    for (unsigned file = 0; file < 4; file++) {
        const char *bytes;
        size_t size;
        if (strcmp(sequence_set_file_name(set, file), "default") != 0 ||
            !sequence_set_line(set, file, line, &bytes, &size))
            continue;
        assert_int_equal(size, strlen("Write32(0xE000EDFC, 0);"));
        assert_memory_equal(bytes, "Write32(0xE000EDFC, 0);", size);
        found = true;
    }
    sequence_set_free(set);
    assert_true(found);
    rig_free(r);
}

static void test_debug_port_setup(void **state)
{
    (void)state;
    static const struct {
        uint64_t protocol;
        const char *words;
    } all[] = {
        {2, ONES "SWJ 3 0\nDP 0?\n"},
        {2 | SWJ, ONES "SWJ 16 E79E\n" ONES "SWJ 3 0\nDP 0?\n"},
        {2 | SWJ | DORMANT, ONES "SWJ 31 33BBBBBA\n" ALERT "SWJ 12 1A0\n" ONES "SWJ 3 0\nDP 0?\n"},
        {2 | DORMANT, ONES "SWJ 3 0\nDP 0?\n"},
        {1, TAP},
        {1 | SWJ, ONES "SWJ 16 E73C\n" TAP},
        {1 | SWJ | DORMANT, ONES "SWJ 16 E3BC\n" ALERT "SWJ 12 A0\n" TAP},
        {3 | SWJ, "SAID DebugPortSetup has no default for protocol 3\n"},
    };
    struct rig *r = defaults();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        r->run.start.protocol = all[i].protocol;
        RUNS(r, "DebugPortSetup", all[i].words);
    }
    rig_free(r);
}

static void test_debug_port_start(void **state)
{
    (void)state;
    struct rig *r = defaults();
    r->ctrl_stat = 0xF0000040;
    RUNS(r, "DebugPortStart", "ABORT 1E\nDP 8=0\nDP 4=50000000\nDP 4?\nDP 4=50000F00\n");
    r->run.start.protocol = 1 | SWJ;
    RUNS(r, "DebugPortStart", "DP 8=0\nDP 4=50000032\nDP 4=50000000\nDP 4?\nDP 4=50000F00\n");
    r->run.start.dp = 3;
    RUNS(r, "DebugPortStart", "DP 8=0\nDP 4=50000032\nDP 4=50000000\nDP 4?\nDP 4=50000F00\n");
    assert_int_equal(r->port.dp, 3);
    rig_free(r);
}

static void test_debug_port_start_without_power(void **state)
{
    (void)state;
    struct rig *r = defaults();
    r->ctrl_stat = 0x70000040; /* one of both */
    r->access_ns = 100 * NS_PER_MS;
    assert_int_equal(rig_run(r, "DebugPortStart"), CORRAL_ERR_SEQUENCE);
    assert_string_equal(r->log, "ABORT 1E\nDP 8=0\nDP 4=50000000\n"
                                "DP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\nDP 4?\n"
                                "SAID The debug port did not power up within 1 s: CTRL/STAT is 0x70000040\n");
    rig_free(r);
}

static void test_debug_port_stop(void **state)
{
    (void)state;
    struct rig *r = defaults();
    RUNS(r, "DebugPortStop", "DP 8=0\nDP 4=0\n");
    rig_free(r);
}

static void test_debug_core_start_leaves_a_core_in_debug_as_it_is(void **state)
{
    (void)state;
    struct rig *r = defaults();
    rig_memory(r, DHCSR, 0x01000000);
    RUNS(r, "DebugCoreStart", "R32 E000EDF0\nW32 E000EDF0 A05F0001\n");
    rig_memory(r, DHCSR, 0x00030003);
    RUNS(r, "DebugCoreStart", "R32 E000EDF0\n");
    rig_memory(r, DHCSR, 0x00000001);
    RUNS(r, "DebugCoreStart", "R32 E000EDF0\n");
    rig_free(r);
}

static void test_debug_core_stop(void **state)
{
    (void)state;
    struct rig *r = defaults();
    RUNS(r, "DebugCoreStop", "W32 E000EDF0 A05F0000\nW32 E000EDFC 0\n");
    rig_free(r);
}

static void test_reset_system_and_processor(void **state)
{
    (void)state;
    struct rig *r = defaults();
    RUNS(r, "ResetSystem", "W32 E000ED0C 5FA0004\nDELAY 100000\nR32 E000EDF0\n");
    RUNS(r, "ResetProcessor", "W32 E000ED0C 5FA0001\nR32 E000EDF0\n");
    /* Which never ends. */
    rig_memory(r, DHCSR, 0x02000000);
    r->access_ns = 200 * NS_PER_MS;
    RUNS(r, "ResetSystem",
         "W32 E000ED0C 5FA0004\nDELAY 100000\nR32 E000EDF0\nR32 E000EDF0\nR32 E000EDF0\n"
         "SAID The processor is still in reset after 500 ms\n");
    assert_string_equal(r->said, "1 The processor is still in reset after 500 ms\n");
    rig_free(r);
}

static void test_reset_processor_is_for_those_that_have_it(void **state)
{
    (void)state;
    const struct sequence_processor cores[] = {{"CM7", true}, {"CM33", false}};
    struct rig *r = rig_new();
    r->setting = (struct sequence_setting){.processors = cores, .processor_count = 2};
    rig_compile_well(r);
    r->run.pname = "CM33";
    assert_int_equal(rig_run(r, "ResetProcessor"), CORRAL_OK);
    assert_false(r->result.ran);
    assert_int_equal(r->calls, 0);
    r->run.pname = "CM7";
    RUNS(r, "ResetProcessor", "W32 E000ED0C 5FA0001\nR32 E000EDF0\n");
    r->run.pname = "CM33";
    RUNS(r, "ResetSystem", "W32 E000ED0C 5FA0004\nDELAY 100000\nR32 E000EDF0\n");
    rig_free(r);
}

static void test_reset_hardware(void **state)
{
    (void)state;
    struct rig *r = defaults();
    r->pins = 0x80;
    RUNS(r, "ResetHardware", "PINS 0 of 80 wait 0\nDELAY 50000\nPINS 80 of 80 wait 0\n");
    RUNS(r, "ResetHardwareAssert", "PINS 0 of 80 wait 0\n");
    RUNS(r, "ResetHardwareDeassert", "PINS 80 of 80 wait 0\n");
    /* Pins that cannot be read: so long and no longer. */
    r->pins = UINT32_MAX;
    RUNS(r, "ResetHardware", "PINS 0 of 80 wait 0\nDELAY 50000\nPINS 80 of 80 wait 0\nDELAY 100000\n");
    RUNS(r, "ResetHardwareDeassert", "PINS 80 of 80 wait 0\nDELAY 100000\n");
    /* Somebody else holds it. */
    r->pins = 0x01;
    r->access_ns = 400 * NS_PER_MS;
    RUNS(r, "ResetHardwareDeassert",
         "PINS 80 of 80 wait 0\nPINS 80 of 80 wait 0\nPINS 80 of 80 wait 0\n"
         "PINS 80 of 80 wait 0\nSAID nRESET is still low 1 s after its release\n");
    rig_free(r);
}

static void test_reset_catch(void **state)
{
    (void)state;
    struct rig *r = defaults();
    rig_memory(r, DEMCR, 0x01000410);
    RUNS(r, "ResetCatchSet", "R32 E000EDFC\nW32 E000EDFC 1000411\nR32 E000EDF0\n");
    RUNS(r, "ResetCatchClear", "R32 E000EDFC\nW32 E000EDFC 1000410\n");
    rig_free(r);
}

static void test_13_16_masking_does_not_change_together_with_halting(void **state)
{
    (void)state;
    struct rig *r = defaults();
    rig_memory(r, DHCSR, 0x00030003);
    RUNS(r, "ProcessorStart", "R32 E000EDF0\nW32 E000EDF0 A05F0001\n");
    /* Halted and masked: the mask first, C_HALT staying. */
    rig_memory(r, DHCSR, 0x0003000B);
    RUNS(r, "ProcessorStart", "R32 E000EDF0\nW32 E000EDF0 A05F0003\nW32 E000EDF0 A05F0001\n");
    /* Running and masked: neither halted for it nor changed. */
    rig_memory(r, DHCSR, 0x00000009);
    RUNS(r, "ProcessorStart", "R32 E000EDF0\nW32 E000EDF0 A05F0009\n");
    RUNS(r, "ProcessorStop", "R32 E000EDF0\nW32 E000EDF0 A05F000B\n");
    rig_memory(r, DHCSR, 0x00000001);
    RUNS(r, "ProcessorStop", "R32 E000EDF0\nW32 E000EDF0 A05F0003\n");
    rig_free(r);
}

static void test_seeds_names_without_a_default(void **state)
{
    (void)state;
    struct rig *r = defaults();
    static const char *const names[] = {"DebugCoreSetup", "ProcessorHaltAcknowledge", "DebugDeviceUnlock"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(sequence_is_predefined(names[i]));
        assert_int_equal(rig_run(r, names[i]), CORRAL_OK);
        assert_false(r->result.ran);
    }
    rig_free(r);
}

/* ---- the seed's sequences for a Cortex-M7 with its CTI at 0xE0042000, as printed */

static const char core_setup[] = "__var multi_run_halt = ((__options & 0x00000001) != 0);\n"
                                 "@if multi_run_halt\n@begin\n"
                                 "__var CTI_Addr         = 0xE0042000;\n"
                                 "__var CTI_CONTROL_Addr = CTI_Addr + 0x000;\n"
                                 "__var CTI_IEN0_Addr    = CTI_Addr + 0x020;\n"
                                 "__var CTI_OUTEN_Addr   = CTI_Addr + 0x0A0;\n"
                                 "\n"
                                 "// Enable CTI\n"
                                 "Write32(CTI_CONTROL_Addr, 0x00000001);\n"
                                 "Write32(CTI_IEN0_Addr  + (0 << 2), 1 << 0);\n"
                                 "Write32(CTI_OUTEN_Addr + (0 << 2), 1 << 0);\n"
                                 "Write32(CTI_OUTEN_Addr + (7 << 2), 1 << 1);\n"
                                 "@end\n";

/* In its other half DFSR_Addr is declared and DHCSR_Addr written: `name` and `offset` there. */
static void start_text(char *out, size_t size, const char *name, const char *offset)
{
    snprintf(out, size,
             "__var multi_run_halt = ((__options & 0x00000001) != 0);\n"
             "@if multi_run_halt\n@begin\n"
             "__var CTI_Addr          = 0xE0042000;\n"
             "__var CTI_APPPULSE_Addr = CTI_Addr + 0x01C;\n"
             "// Event pulse on Channel 1 to restart all cores\n"
             "Write32(CTI_APPPULSE_Addr, 1 << 1);\n"
             "@end\n"
             "@if !multi_run_halt\n@begin\n"
             "__var SCS_Addr  = 0xE000E000;\n"
             "__var %s = SCS_Addr + %s;\n"
             "// Resume core execution via DHCSR\n"
             "Write32(DHCSR_Addr, 0xA05F0001);\n"
             "@end\n",
             name, offset);
}

static const char halt_acknowledge[] = "__var multi_run_halt = ((__options & 0x00000001) != 0);\n"
                                       "@if multi_run_halt\n@begin\n"
                                       "__var CTI_Addr        = 0xE0042000;\n"
                                       "__var CTI_INTACK_Addr = CTI_Addr + 0x010;\n"
                                       "// Acknowledge CTI Trigger Out 0 (Processor Debug Request)\n"
                                       "Write32(CTI_INTACK_Addr, 0x01);\n"
                                       "Write32(CTI_INTACK_Addr, 0x00);\n"
                                       "@end\n";

static void test_seed_core_setup_and_halt_acknowledge(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "DebugCoreSetup", NULL, core_setup);
    rig_sequence(r, "ProcessorHaltAcknowledge", NULL, halt_acknowledge);
    rig_compile_well(r);
    r->run.start.options = 1;
    RUNS(r, "DebugCoreSetup", "W32 E0042000 1\nW32 E0042020 1\nW32 E00420A0 1\nW32 E00420BC 2\n");
    RUNS(r, "ProcessorHaltAcknowledge", "W32 E0042010 1\nW32 E0042010 0\n");
    r->run.start.options = 0;
    RUNS(r, "DebugCoreSetup", "");
    RUNS(r, "ProcessorHaltAcknowledge", "");
    r->run.start.options = 2;
    RUNS(r, "DebugCoreSetup", "");
    rig_free(r);
}

static void test_13_11_seed_processor_start_is_refused_and_runs_when_mended(void **state)
{
    (void)state;
    char text[1024];
    struct rig *r = rig_new();
    start_text(text, sizeof(text), "DFSR_Addr", "0xD30");
    rig_sequence(r, "ProcessorStart", NULL, text);
    rig_compile(r);
    assert_true(r->problems.errors > 0);
    bool told = false;
    for (size_t i = 0; i < r->problems.count; i++)
        told |= r->problems.list[i].severity == SEQUENCE_ERROR &&
                strstr(r->problems.list[i].text, "DHCSR_Addr") && r->problems.list[i].place.line == 14 &&
                r->problems.list[i].place.column == 9;
    assert_true(told);
    r->run.start.options = 1;
    assert_int_equal(rig_run(r, "ProcessorStart"), CORRAL_ERR_FORMAT);
    assert_string_equal(r->log, "");
    rig_free(r);

    r = rig_new();
    start_text(text, sizeof(text), "DHCSR_Addr", "0xDF0");
    rig_sequence(r, "ProcessorStart", NULL, text);
    rig_compile_well(r);
    r->run.start.options = 1;
    RUNS(r, "ProcessorStart", "W32 E004201C 2\n");
    r->run.start.options = 0;
    RUNS(r, "ProcessorStart", "W32 E000EDF0 A05F0001\n");
    rig_free(r);
}

static void test_13_11_seed_default_processor_start(void **state)
{
    (void)state;
    static const char wrong[] = "__var SCS_Addr  = 0xE000E000;\n__var DFSR_Addr = SCS_Addr + "
                                "0xD30;\nWrite32(DHCSR_Addr, 0xA05F0001);\n";
    static const char right[] = "__var SCS_Addr   = 0xE000E000;\n__var DHCSR_Addr = SCS_Addr + "
                                "0xDF0;\nWrite32(DHCSR_Addr, 0xA05F0001);\n";
    struct rig *r = rig_new();
    rig_sequence(r, "ProcessorStart", NULL, wrong);
    rig_compile(r);
    assert_true(r->problems.errors > 0);
    assert_non_null(strstr(r->problems.list[0].text, "DHCSR_Addr"));
    assert_int_equal(rig_run(r, "ProcessorStart"), CORRAL_ERR_FORMAT);
    assert_int_equal(r->calls, 0);
    rig_free(r);
    r = rig_new();
    rig_sequence(r, "ProcessorStart", NULL, right);
    rig_compile_well(r);
    RUNS(r, "ProcessorStart", "W32 E000EDF0 A05F0001\n");
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_without_any_problem),
        cmocka_unit_test(test_places_in_the_file_named_default),
        cmocka_unit_test(test_debug_port_setup),
        cmocka_unit_test(test_debug_port_start),
        cmocka_unit_test(test_debug_port_start_without_power),
        cmocka_unit_test(test_debug_port_stop),
        cmocka_unit_test(test_debug_core_start_leaves_a_core_in_debug_as_it_is),
        cmocka_unit_test(test_debug_core_stop),
        cmocka_unit_test(test_reset_system_and_processor),
        cmocka_unit_test(test_reset_processor_is_for_those_that_have_it),
        cmocka_unit_test(test_reset_hardware),
        cmocka_unit_test(test_reset_catch),
        cmocka_unit_test(test_13_16_masking_does_not_change_together_with_halting),
        cmocka_unit_test(test_seeds_names_without_a_default),
        cmocka_unit_test(test_seed_core_setup_and_halt_acknowledge),
        cmocka_unit_test(test_13_11_seed_processor_start_is_refused_and_runs_when_mended),
        cmocka_unit_test(test_13_11_seed_default_processor_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
