/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls, scopes, calls, failures and bounds of the interpreter: cross-trigger sheet 4.3 to 4.7, cases C10,
 * C13, C14, C19 to C27, C40 to C42. Each asserts every access that was made, in its order.
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

#define RUNS(r, words)                                         \
    do {                                                       \
        if (rig_run((r), "T") != CORRAL_OK)                    \
            fail_msg("%s: %s", (r)->d.object, (r)->d.message); \
        assert_string_equal((r)->log, words);                  \
    } while (0)

static void run_and_free(const char *text, const char *words)
{
    struct rig *r = rig_of(text);
    RUNS(r, words);
    rig_free(r);
}

/* ---- scopes */

static void test_c10_without_an_initializer_it_is_0(void **state)
{
    (void)state;
    run_and_free("__var x;\nWrite32(0x10, x);\nx = 5;\nWrite32(0x10, x);\n", "W32 10 0\nW32 10 5\n");
}

static void test_c13_siblings_reuse_a_name(void **state)
{
    (void)state;
    run_and_free("@if 1\n@begin\n__var a = 7;\nWrite32(0x10, a);\n@end\n"
                 "@if 1\n@begin\n__var a;\nWrite32(0x14, a);\n@end\n",
                 "W32 10 7\nW32 14 0\n");
}

static void test_c14_a_body_declares_anew_each_round(void **state)
{
    (void)state;
    run_and_free("__var i = 0;\n@while i < 3\n@begin\n__var fresh;\nWrite32(0x10, fresh);\nfresh = 9;\ni += "
                 "1;\n@end\n",
                 "W32 10 0\nW32 10 0\nW32 10 0\n");
}

static void test_blocks_are_no_scopes_and_controls_change_outer_ones(void **state)
{
    (void)state;
    run_and_free("__var a = 1;\n@block\na = a + 1;\n@if a == 2\n@begin\na = 40;\n@end\nWrite32(0x10, a);\n",
                 "W32 10 28\n");
}

static void test_callees_do_not_see_the_callers_variables(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL,
                 "__var a = 1;\n__var b = 2;\nSequence(\"Sub\");\nWrite32(0x10, a);\nWrite32(0x14, b);\n");
    rig_sequence(r, "Sub", NULL, "__var a = 0x77;\n__var c;\nWrite32(0x18, c);\nc = a;\nWrite32(0x18, c);\n");
    rig_compile_well(r);
    RUNS(r, "W32 18 0\nW32 18 77\nW32 10 1\nW32 14 2\n");
    rig_free(r);
}

static void test_debugvars_of_the_running_processor(void **state)
{
    (void)state;
    const struct sequence_processor cores[] = {{"CM7", true}, {"CM4", true}};
    const char all[] = "__var Base = 0x100;\n__var Other = 3;\n", own[] = "__var Base = 0x400;\n";
    struct rig *r = rig_new();
    r->setting = (struct sequence_setting){.processors = cores, .processor_count = 2};
    const struct sequence_mark mark = {0, 1, 1};
    struct sequence_text text = {all, strlen(all), r->file, &mark, 1};
    assert_int_equal(sequence_set_variables(r->set, &text, NULL, 1, &r->d), CORRAL_OK);
    text.bytes = own;
    text.size = strlen(own);
    assert_int_equal(sequence_set_variables(r->set, &text, "CM4", 1, &r->d), CORRAL_OK);
    rig_sequence(r, "T", NULL, "Write32(Base, Other);\n");
    rig_compile_well(r);
    r->run.pname = "CM7";
    RUNS(r, "W32 100 3\n");
    r->run.pname = "CM4";
    RUNS(r, "W32 400 3\n");
    assert_int_equal(sequence_set_value(r->program, "Other", 8, &r->d), CORRAL_OK);
    RUNS(r, "W32 400 8\n");
    rig_free(r);
}

static void test_predefined_variables_hold_what_they_start_with(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("Write64(0x10, __connection);\nWrite64(0x18, __protocol);\nWrite64(0x20, __traceout);\n"
               "Write64(0x28, __FlashOp);\nWrite64(0x30, __FlashAddr);\nWrite64(0x38, __FlashLen);\n"
               "Write64(0x40, __FlashArg);\nWrite64(0x48, __options);\nWrite64(0x50, __traceclockin);\n"
               "Write64(0x58, __traceclockout);\nWrite64(0x60, __dp);\nWrite64(0x68, __ap);\n"
               "Write64(0x70, __errorcontrol);\nWrite64(0x78, __Result);\n");
    r->run.start = (struct sequence_start){.dp = 11,
                                           .ap = 12,
                                           .connection = 1,
                                           .protocol = 2,
                                           .traceout = 3,
                                           .traceclockin = 9,
                                           .traceclockout = 10,
                                           .flash_op = 4,
                                           .flash_addr = 5,
                                           .flash_len = 6,
                                           .flash_arg = 7,
                                           .options = 8};
    const char *words =
        "W64 10 1\nW64 18 2\nW64 20 3\nW64 28 4\nW64 30 5\nW64 38 6\nW64 40 7\nW64 48 8\nW64 50 9\n"
        "W64 58 A\nW64 60 B\nW64 68 C\nW64 70 0\nW64 78 0\n";
    RUNS(r, words);
    assert_int_equal(sequence_set_value(r->program, "__connection", 0x101, &r->d), CORRAL_OK);
    RUNS(r, "W64 10 101\nW64 18 2\nW64 20 3\nW64 28 4\nW64 30 5\nW64 38 6\nW64 40 7\nW64 48 8\nW64 50 9\n"
            "W64 58 A\nW64 60 B\nW64 68 C\nW64 70 0\nW64 78 0\n");
    rig_free(r);
}

/* ---- controls */

static void test_if(void **state)
{
    (void)state;
    run_and_free("@if 0x100000000\n@begin\nWrite32(0x10, 1);\n@end\n@if 0\n@begin\nWrite32(0x10, 2);\n@end\n",
                 "W32 10 1\n");
}

static void test_while_tests_first(void **state)
{
    (void)state;
    run_and_free("__var i = 0;\n@while i < 2\n@begin\nWrite32(0x10, i);\ni += 1;\n@end\n@while "
                 "0\n@begin\nWrite32(0x14, 1);\n@end\n",
                 "W32 10 0\nW32 10 1\n");
}

static void test_c19_if_false_leaves_while_alone(void **state)
{
    (void)state;
    run_and_free("@if 0\n@while Read32(0x10) == 0\n@timeout 1000\n@begin\nWrite32(0x14, "
                 "1);\n@end\nWrite32(0x18, 1);\n",
                 "W32 18 1\n");
}

static void test_c19_if_is_tested_once(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__var i = 0;\n@if Read32(0x10)\n@while i < 2\n@begin\nWrite32(0x10, 0);\ni += 1;\n@end\n");
    rig_memory(r, 0x10, 1);
    RUNS(r, "R32 10\nW32 10 0\nW32 10 0\n");
    rig_free(r);
}

static void test_c20_without_a_timeout_it_runs_until_it_is_stopped(void **state)
{
    (void)state;
    struct rig *r = rig_of("@while Read32(0x10) == 0\n@timeout 0\n@begin\n@end\nWrite32(0x14, 1);\n");
    r->stop_after = 5;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_INTERRUPTED);
    assert_string_equal(r->log, "R32 10\nR32 10\nR32 10\nR32 10\nR32 10\n");
    assert_int_equal(r->d.code, CORRAL_ERR_INTERRUPTED);
    assert_true(r->result.result == UINT64_MAX);
    /* __errorcontrol is about accesses. */
    rig_free(r);
    r = rig_of("__errorcontrol = 1;\n@while 1\n@begin\nRead32(0x10);\n@end\n");
    r->stop_after = 2;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_INTERRUPTED);
    assert_string_equal(r->log, "R32 10\nR32 10\n");
    rig_free(r);
}

static void test_c20_nothing_is_done_once_stopped(void **state)
{
    (void)state;
    struct rig *r = rig_of("Write32(0x10, 1);\n");
    atomic_store(&r->stop, true);
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_INTERRUPTED);
    assert_string_equal(r->log, "");
    rig_free(r);
}

static void test_c20_the_time_over_all_ends_it(void **state)
{
    (void)state;
    struct rig *r = rig_of("@while 1\n@begin\nRead32(0x10);\n@end\n");
    r->access_ns = NS_PER_MS;
    r->run.timeout_ns = 5 * NS_PER_MS;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_TIMEOUT);
    assert_string_equal(r->log, "R32 10\nR32 10\nR32 10\nR32 10\nR32 10\n");
    assert_string_equal(r->d.message, "the sequence did not end within 0.005 s");
    rig_free(r);
    /* Without one it is SEQUENCE_TIMEOUT_NS. */
    r = rig_of("@while 1\n@begin\nDAP_Delay(7000000);\n@end\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_TIMEOUT);
    assert_int_equal(r->calls, 9);
    assert_true(host_clock_now(r->clock) >= SEQUENCE_TIMEOUT_NS);
    assert_true(host_clock_now(r->clock) < SEQUENCE_TIMEOUT_NS + NS_PER_MS);
    rig_free(r);
}

/* Many accesses of one expression: each looks at the stop flag and at the time. */
static void test_c20_one_expression_does_not_outlast_the_run(void **state)
{
    char text[1024] = "__var x = 0", *at = text + strlen(text);
    (void)state;
    for (unsigned i = 0; i < 50; i++)
        at += snprintf(at, sizeof(text) - (size_t)(at - text), " + Read32(0x10)");
    strcpy(at, ";\n");
    struct rig *r = rig_of(text);
    r->stop_after = 5;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_INTERRUPTED);
    assert_int_equal(r->calls, 5);
    rig_free(r);
    r = rig_of(text);
    r->access_ns = NS_PER_MS;
    r->run.timeout_ns = 5 * NS_PER_MS;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_TIMEOUT);
    assert_int_equal(r->calls, 5);
    rig_free(r);
}

static void test_c21_the_running_round_is_completed_and_the_condition_tested_once_more(void **state)
{
    (void)state;
    struct rig *r = rig_of("@while Read32(0x10) == 0\n@timeout 1000\n@begin\nDAP_Delay(600);\nWrite32(0x14, "
                           "1);\n@end\nWrite32(0x18, __Result);\n");
    RUNS(r, "R32 10\nDELAY 600\nW32 14 1\nR32 10\nDELAY 600\nW32 14 1\nR32 10\nW32 18 0\n");
    assert_int_equal(r->result.result, 0);
    rig_free(r);
}

static void test_c21_the_clock_starts_on_entry(void **state)
{
    (void)state;
    /* What `if` takes counts; the second entry has a clock of its own. */
    struct rig *r = rig_of("__var i = 0;\n@while i < 2\n@begin\ni += 1;\n@if Read32(0x10) == 0\n@while "
                           "1\n@timeout 1000\n@begin\nRead32(0x14);\n@end\n@end\n");
    r->access_ns = 400 * NS_PER_US;
    RUNS(r, "R32 10\nR32 14\nR32 14\nR32 10\nR32 14\nR32 14\n");
    rig_free(r);
}

static void test_c21_the_delay_idiom_takes_its_time(void **state)
{
    (void)state;
    struct rig *r = rig_of("@while 1\n@timeout 250000\n@begin\n@end\nWrite32(0x10, 1);\n");
    RUNS(r, "W32 10 1\n");
    assert_int_equal(host_clock_now(r->clock), 250 * NS_PER_MS);
    /* The same on a real clock, with a short one. */
    rig_free(r);
    struct host_clock *real = host_clock_new_real();
    assert_non_null(real);
    r = rig_of("@while 1\n@timeout 3000\n@begin\n@end\nWrite32(0x10, 1);\n");
    r->run.clock = real;
    int64_t begin = host_clock_now(real);
    RUNS(r, "W32 10 1\n");
    assert_true(host_clock_now(real) - begin >= 3 * NS_PER_MS);
    host_clock_free(real);
    rig_free(r);
}

/* A loop that computes is not slowed down: with a rest each round this one would take 20 s. */
static void test_counting_takes_no_rests(void **state)
{
    (void)state;
    struct host_clock *real = host_clock_new_real();
    assert_non_null(real);
    struct rig *r = rig_of("__var n = 0;\n@while n < 20000\n@begin\nn += 1;\n@end\nWrite32(0x10, n);\n");
    r->run.clock = real;
    r->run.timeout_ns = 15 * NS_PER_S;
    RUNS(r, "W32 10 4E20\n");
    rig_free(r);
    host_clock_free(real);
}

static void test_c22_a_timeout_without_while_is_nothing(void **state)
{
    (void)state;
    run_and_free("@if 1\n@timeout 1\n@begin\nDAP_Delay(500);\nWrite32(0x10, 1);\n@end\n",
                 "DELAY 500\nW32 10 1\n");
}

static void test_an_empty_body_polls(void **state)
{
    (void)state;
    struct rig *r = rig_of("@while (Read32(0x10) & 1) == 0\n@timeout 100\n@begin\n@end\n@if (Read32(0x10) & "
                           "1) == 0\n@begin\nMessage(2, \"not ready\");\n@end\n");
    r->access_ns = 50 * NS_PER_US;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
    assert_string_equal(r->log, "R32 10\nR32 10\nR32 10\nR32 10\nSAID not ready\n");
    rig_memory(r, 0x10, 1);
    RUNS(r, "R32 10\nR32 10\n");
    rig_free(r);
}

/* ---- calls */

static void test_c23_calling_itself_ends_with_an_error(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "Write32(0x10, 1);\nSequence(\"T\");\n");
    rig_compile_anyway(r); /* the checker sees it too */
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
    assert_int_equal(r->calls, SEQUENCE_CALL_DEPTH);
    assert_non_null(strstr(r->d.message, "more than 32 deep"));
    assert_non_null(strstr(r->d.hint, "Called by T at test.pdsc:2"));
    rig_free(r);
}

static void test_c23_as_deep_as_is_allowed(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    char name[16], text[64];
    rig_sequence(r, "T", NULL, "Sequence(\"S1\");\n");
    for (unsigned i = 1; i < SEQUENCE_CALL_DEPTH; i++) {
        snprintf(name, sizeof(name), "S%u", i);
        if (i + 1 < SEQUENCE_CALL_DEPTH)
            snprintf(text, sizeof(text), "Sequence(\"S%u\");\n", i + 1);
        else
            snprintf(text, sizeof(text), "Write32(0x10, 1);\n");
        rig_sequence(r, name, NULL, text);
    }
    rig_compile_well(r);
    RUNS(r, "W32 10 1\n");
    rig_free(r);
}

/* Ten calls in each of twenty: nobody lives to see the end of it, on a clock that stands still either. */
static void test_c23_a_fan_of_calls_ends_in_time(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    for (unsigned i = 0; i < 20; i++) {
        char name[16], text[512] = "";
        snprintf(name, sizeof(name), i ? "S%u" : "T", i);
        for (unsigned k = 0; k < 10 && i + 1 < 20; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "Sequence(\"S%u\");\n", i + 1);
        rig_sequence(r, name, NULL, *text ? text : "__var x = 1;\n");
    }
    rig_compile_well(r);
    r->run.timeout_ns = 10 * NS_PER_MS;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_TIMEOUT);
    rig_free(r);
}

/* A tree that no parser here would make: it must end in words, and not the process. */
static void test_c23_deep_expressions_do_not_break_the_stack(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    struct rig *r = rig_of("Write32(0x10, 1);\n");
    struct sequence_code *code = NULL;
    for (size_t i = 0; i < r->program->code_count; i++)
        if (strcmp(r->program->codes[i]->info.name, "T") == 0)
            code = r->program->codes[i];
    assert_non_null(code);
    struct sequence_node *nodes = calloc(DEPTH, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t i = 0; i + 1 < DEPTH; i++) {
        nodes[i].kind = NODE_UNARY;
        nodes[i].op = OP_INVERT;
        nodes[i].a = &nodes[i + 1];
    }
    code->first->statements->expression = nodes;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LIMIT);
    assert_string_equal(r->log, "");
    free(nodes);
    rig_free(r);
}

static void test_c24_calls_of_predefined_ones(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL,
                 "Write32(0x10, Sequence(\"DebugDeviceUnlock\"));\nSequence(\"DebugCoreStop\");\n"
                 "Sequence(\"DebugPortStop\");\nWrite32(0x14, 1);\n");
    rig_disable(r, "DebugCoreStop");
    rig_compile_well(r);
    /* No default: nothing. Disabled: nothing. Not defined here: its default. */
    RUNS(r, "W32 10 0\nDP 8=0\nDP 4=0\nW32 14 1\n");
    rig_free(r);
}

static void test_c24_the_first_one_too(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "Write32(0x10, 1);\n");
    rig_disable(r, "DebugCoreStop");
    rig_compile_well(r);
    assert_int_equal(rig_run(r, "DebugDeviceUnlock"), CORRAL_OK);
    assert_false(r->result.ran);
    assert_int_equal(r->result.result, 0);
    assert_int_equal(rig_run(r, "DebugCoreStop"), CORRAL_OK);
    assert_false(r->result.ran);
    assert_int_equal(r->calls, 0);
    assert_int_equal(rig_run(r, "DebugCoreStart"), CORRAL_OK);
    assert_true(r->result.ran);
    assert_int_equal(rig_run(r, "Nowhere\x1b"), CORRAL_ERR_USAGE);
    assert_string_equal(r->d.message, "there is no sequence 'Nowhere\\x1b'");
    assert_false(r->result.ran);
    rig_free(r);
}

static void test_what_has_errors_does_not_run(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "Write32(0x10, 1);\nSequence(\"Bad\");\n");
    rig_sequence(r, "Bad", NULL, "nowhere = 1;\n");
    rig_sequence(r, "Good", NULL, "Write32(0x20, 1);\n");
    rig_compile(r);
    assert_true(r->problems.errors > 0);
    assert_int_equal(rig_run(r, "Bad"), CORRAL_ERR_FORMAT);
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_FORMAT);
    assert_string_equal(r->log, "");
    assert_non_null(strstr(r->d.object, " in T"));
    assert_int_equal(rig_run(r, "Good"), CORRAL_OK);
    assert_string_equal(r->log, "W32 20 1\n");
    rig_free(r);
}

static void test_c25_what_a_call_restores_and_what_not(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL,
                 "__dp = 1;\n__ap = 2;\n__errorcontrol = 2;\nSequence(\"Sub\");\n"
                 "Write64(0x10, __dp);\nWrite64(0x18, __ap);\nWrite64(0x20, __errorcontrol);\nWrite64(0x28, "
                 "__Result);\n");
    rig_sequence(r, "Sub", NULL,
                 "__dp = 5;\n__ap = 6;\n__errorcontrol = 1;\n__Result = 0 - 1;\nRead32(0x30);\n");
    rig_compile_well(r);
    RUNS(r, "R32 30\nW64 10 1\nW64 18 2\nW64 20 2\nW64 28 FFFFFFFFFFFFFFFF\n");
    assert_true(r->result.result == UINT64_MAX);
    rig_free(r);
}

static void test_c25_apid_with_access_ports(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    r->setting.has_access_ports = true;
    rig_sequence(r, "T", NULL, "__apid = 3;\nSequence(\"Sub\");\nWrite32(0x10, __apid);\n");
    rig_sequence(r, "Sub", NULL, "__apid = 7;\n__dp = 2;\nReadAP(0xFC);\n");
    rig_compile_well(r);
    RUNS(r, "AP FC?\nW32 10 3\n");
    assert_true(r->port.by_id);
    assert_int_equal(r->port.id, 3);
    assert_int_equal(r->port.dp, 0);
    rig_free(r);
}

static void test_the_sequence_of_the_running_processor_is_called(void **state)
{
    (void)state;
    const struct sequence_processor cores[] = {{"CM7", true}, {"CM4", true}};
    struct rig *r = rig_new();
    r->setting = (struct sequence_setting){.processors = cores, .processor_count = 2};
    rig_sequence(r, "T", NULL, "Sequence(\"Sub\");\n");
    rig_sequence(r, "Sub", NULL, "Write32(0x10, 1);\n");
    rig_sequence(r, "Sub", "CM4", "Write32(0x10, 4);\n");
    rig_compile_well(r);
    RUNS(r, "W32 10 1\n");
    r->run.pname = "CM4";
    RUNS(r, "W32 10 4\n");
    r->run.pname = "CM7";
    RUNS(r, "W32 10 1\n");
    rig_free(r);
}

/* ---- failing accesses */

static void test_c26_errorcontrol_goes_on_with_0(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__errorcontrol = 1;\nWrite32(0x14, Read32(0xBAD) + 5);\nWrite64(0x18, __Result);\n");
    r->bad = 0xBAD;
    rig_memory(r, 0xBAD, 0x1234);
    RUNS(r, "R32 BAD\nW32 14 5\nW64 18 FFFFFFFFFFFFFFFF\n");
    assert_true(r->result.result == UINT64_MAX);
    assert_int_equal(r->d.code, CORRAL_OK);
    assert_string_equal(r->d.message, "");
    rig_free(r);
}

static void test_c26_a_failing_write_is_the_same(void **state)
{
    (void)state;
    struct rig *r = rig_of("__errorcontrol = 3;\nWrite8(0xBAD, 1);\n__errorcontrol = 2;\nWrite8(0x10, "
                           "1);\nWrite8(0xBAD, 2);\nWrite8(0x10, 2);\n");
    r->bad = 0xBAD;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LINK_FAULT);
    assert_string_equal(r->log, "W8 BAD 1\nW8 10 1\nW8 BAD 2\n");
    rig_free(r);
}

static void test_c27_without_it_the_sequence_and_its_callers_end(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "Write32(0x10, 1);\nSequence(\"Sub\");\nWrite32(0x10, 2);\n");
    rig_sequence(r, "Sub", NULL, "__var v =\n  Read32(0xBAD);\nWrite32(0x10, 3);\n");
    rig_compile_well(r);
    r->bad = 0xBAD;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LINK_FAULT);
    assert_string_equal(r->log, "W32 10 1\nR32 BAD\n");
    assert_string_equal(r->d.message, "Read32(0xbad): the target answered FAULT");
    assert_string_equal(r->d.object, "test.pdsc:2:3 in Sub");
    assert_string_equal(r->d.hint, "Called by T at test.pdsc:2");
    assert_true(r->result.result == UINT64_MAX);
    assert_int_equal(r->result.accesses, 2);
    /* Without a place for the words it is the same. */
    assert_int_equal(sequence_run(r->program, "T", &r->run, NULL, NULL), CORRAL_ERR_LINK_FAULT);
    rig_free(r);
}

static void test_c27_a_long_path_does_not_hide_the_place(void **state)
{
    (void)state;
    char path[400];
    memset(path, 'd', sizeof(path));
    memcpy(path + sizeof(path) - 10, "/end.pdsc", 10);
    struct rig *r = rig_new();
    assert_int_equal(sequence_set_add_file(r->set, path, NULL, 0, &r->file, &r->d), CORRAL_OK);
    rig_sequence(r, "T", NULL, "Read32(0xBAD);\n");
    rig_compile_well(r);
    r->bad = 0xBAD;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(strlen(r->d.object), sizeof(r->d.object) - 1);
    assert_memory_equal(r->d.object, "...ddd", 6);
    assert_string_equal(strchr(r->d.object, '/'), "/end.pdsc:1:1 in T");
    rig_free(r);
}

static void test_c27_errorcontrol_begins_anew_in_the_next_run(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "__errorcontrol = 1;\n__dp = 9;\n__ap = 9;\nRead32(0xBAD);\n");
    rig_sequence(r, "U", NULL, "Write64(0x10, __errorcontrol);\nWrite64(0x10, __Result);\nRead32(0xBAD);\n");
    rig_compile_well(r);
    r->bad = 0xBAD;
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_int_equal(r->port.dp, 9);
    assert_int_equal(rig_run(r, "U"), CORRAL_ERR_LINK_FAULT);
    assert_string_equal(r->log, "W64 10 0\nW64 10 0\nR32 BAD\n");
    assert_int_equal(r->port.dp, 0);
    assert_int_equal(r->port.ap, 0);
    rig_free(r);
}

static void test_c26_a_lost_link_is_no_failing_access(void **state)
{
    (void)state;
    struct rig *r = rig_of("__errorcontrol = 1;\nRead32(0xBAD);\nWrite32(0x10, 1);\n");
    r->bad = 0xBAD;
    r->bad_err = CORRAL_ERR_LINK_DOWN;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_LINK_DOWN);
    r->bad_err = CORRAL_ERR_LINK_WAIT;
    RUNS(r, "R32 BAD\nW32 10 1\n");
    rig_free(r);
}

/* ---- functions */

static void test_every_access_in_its_order(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__dp = 1;\n__ap = 2;\nWriteDP(0x8, 0xF0);\nWriteAP(0x0, 0x1FFFFFFFF);\nReadAP(0xFC);\n"
               "WriteAccessAP(0xD00, 3);\nReadAccessAP(0xDFC);\nReadDP(4);\nDAP_WriteABORT(0x1E);\n"
               "DAP_Delay(10);\nDAP_SWJ_Clock(1000000);\nWrite64(0x20, DAP_SWJ_Pins(0x80, 0x81, 1000));\n"
               "DAP_SWJ_Sequence(51, 0xFFFFFFFFFFFFFFFF);\nWrite64(0x28, DAP_JTAG_Sequence(4, 1, 0xFA));\n");
    r->pins = 0x81;
    r->tdo = 0xF5;
    RUNS(r,
         "DP 8=F0\nAP 0=FFFFFFFF\nAP FC?\nSPACE D00=3\nSPACE DFC?\nDP 4?\nABORT 1E\nDELAY 10\nCLOCK 1000000\n"
         "PINS 80 of 81 wait 1000\nW64 20 81\nSWJ 51 7FFFFFFFFFFFF\nJTAG 4 tms 1 tdi A\nW64 28 5\n");
    assert_int_equal(r->port.dp, 1);
    assert_int_equal(r->port.ap, 2);
    assert_false(r->port.by_id);
    /* Writing SELECT did not change __ap (sheet 4.6). */
    assert_int_equal(r->result.accesses, 14);
    assert_int_equal(r->result.statements, 14);
    rig_free(r);
}

static void test_c40_counts_outside_1_to_64(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "__var n = 65;\nDAP_SWJ_Sequence(n, 1);\n", "__var n = 0;\nDAP_SWJ_Sequence(n, 1);\n",
        "__var n = 65;\nDAP_JTAG_Sequence(n, 0, 1);\n", "__var n = 0;\nDAP_JTAG_Sequence(n, 0, 1);\n",
        "__var n = 0x100000001;\nDAP_SWJ_Sequence(n, 1);\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rig *r = rig_of(texts[i]);
        assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
        assert_non_null(strstr(r->d.message, "1 to 64 bits"));
        assert_string_equal(r->log, "");
        rig_free(r);
    }
    run_and_free("DAP_SWJ_Sequence(64, 0 - 1);\nDAP_SWJ_Sequence(1, 3);\nDAP_JTAG_Sequence(64, 3, 0 - 1);\n",
                 "SWJ 64 FFFFFFFFFFFFFFFF\nSWJ 1 1\nJTAG 64 tms 1 tdi FFFFFFFFFFFFFFFF\n");
}

static void test_c40_pins_that_cannot_be_read_are_32_ones(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "__var pins = DAP_SWJ_Pins(0, 0, 0);\nWrite64(0x10, pins);\nWrite64(0x18, pins == 0xFFFFFFFF);\n");
    r->pins = UINT32_MAX;
    RUNS(r, "PINS 0 of 0 wait 0\nW64 10 FFFFFFFF\nW64 18 1\n");
    rig_free(r);
}

static void test_pins_wait_3_s_at_most(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__var w = 3000001;\nDAP_SWJ_Pins(0x180, 0x180, w - 1);\nDAP_SWJ_Pins(0, 0x80, w);\n");
    RUNS(r, "PINS 80 of 80 wait 3000000\nPINS 0 of 80 wait 3000000\n");
    assert_memory_equal(r->warned, "test.pdsc:3: ", 13);
    rig_free(r);
}

static void test_c41_writes_are_cut_to_their_size(void **state)
{
    (void)state;
    run_and_free(
        "__var v = 0x123456789ABCDEF0;\nWrite8(0x10, v);\nWrite16(0x10, v);\nWrite32(0x10, "
        "v);\nWrite64(0x10, v);\n"
        "WriteDP(0x4, v);\nWriteAP(0x4, v);\nDAP_WriteABORT(v);\n",
        "W8 10 F0\nW16 10 DEF0\nW32 10 9ABCDEF0\nW64 10 123456789ABCDEF0\nDP 4=9ABCDEF0\nAP 4=9ABCDEF0\n"
        "ABORT 9ABCDEF0\n");
}

static void test_c41_reads_have_their_size(void **state)
{
    (void)state;
    struct rig *r = rig_of("Write64(0x18, Read8(0x10));\nWrite64(0x18, Read16(0x10));\nWrite64(0x18, "
                           "Read32(0x10));\nWrite64(0x18, Read64(0x10));\n");
    rig_memory(r, 0x10, 0xFEDCBA9876543210);
    RUNS(r,
         "R8 10\nW64 18 10\nR16 10\nW64 18 3210\nR32 10\nW64 18 76543210\nR64 10\nW64 18 FEDCBA9876543210\n");
    rig_free(r);
}

static void test_c42_read64_is_handed_on_as_one(void **state)
{
    (void)state;
    struct rig *r = rig_of("Read64(0xBAD);\nWrite32(0x10, 1);\n");
    r->bad = 0xBAD;
    r->bad_err = CORRAL_ERR_UNSUPPORTED;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_UNSUPPORTED);
    assert_string_equal(r->log, "R64 BAD\n");
    rig_free(r);
}

static void test_a_delay_ends_with_the_run(void **state)
{
    (void)state;
    struct rig *r = rig_of("DAP_Delay(0 - 1);\nWrite32(0x10, 1);\n");
    r->run.timeout_ns = NS_PER_S;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_TIMEOUT);
    assert_true(host_clock_now(r->clock) < 2 * NS_PER_S);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c10_without_an_initializer_it_is_0),
        cmocka_unit_test(test_c13_siblings_reuse_a_name),
        cmocka_unit_test(test_c14_a_body_declares_anew_each_round),
        cmocka_unit_test(test_blocks_are_no_scopes_and_controls_change_outer_ones),
        cmocka_unit_test(test_callees_do_not_see_the_callers_variables),
        cmocka_unit_test(test_debugvars_of_the_running_processor),
        cmocka_unit_test(test_predefined_variables_hold_what_they_start_with),
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_while_tests_first),
        cmocka_unit_test(test_c19_if_false_leaves_while_alone),
        cmocka_unit_test(test_c19_if_is_tested_once),
        cmocka_unit_test(test_c20_without_a_timeout_it_runs_until_it_is_stopped),
        cmocka_unit_test(test_c20_nothing_is_done_once_stopped),
        cmocka_unit_test(test_c20_the_time_over_all_ends_it),
        cmocka_unit_test(test_c20_one_expression_does_not_outlast_the_run),
        cmocka_unit_test(test_c21_the_running_round_is_completed_and_the_condition_tested_once_more),
        cmocka_unit_test(test_c21_the_clock_starts_on_entry),
        cmocka_unit_test(test_c21_the_delay_idiom_takes_its_time),
        cmocka_unit_test(test_counting_takes_no_rests),
        cmocka_unit_test(test_c22_a_timeout_without_while_is_nothing),
        cmocka_unit_test(test_an_empty_body_polls),
        cmocka_unit_test(test_c23_calling_itself_ends_with_an_error),
        cmocka_unit_test(test_c23_as_deep_as_is_allowed),
        cmocka_unit_test(test_c23_a_fan_of_calls_ends_in_time),
        cmocka_unit_test(test_c23_deep_expressions_do_not_break_the_stack),
        cmocka_unit_test(test_c24_calls_of_predefined_ones),
        cmocka_unit_test(test_c24_the_first_one_too),
        cmocka_unit_test(test_what_has_errors_does_not_run),
        cmocka_unit_test(test_c25_what_a_call_restores_and_what_not),
        cmocka_unit_test(test_c25_apid_with_access_ports),
        cmocka_unit_test(test_the_sequence_of_the_running_processor_is_called),
        cmocka_unit_test(test_c26_errorcontrol_goes_on_with_0),
        cmocka_unit_test(test_c26_a_failing_write_is_the_same),
        cmocka_unit_test(test_c27_without_it_the_sequence_and_its_callers_end),
        cmocka_unit_test(test_c27_a_long_path_does_not_hide_the_place),
        cmocka_unit_test(test_c27_errorcontrol_begins_anew_in_the_next_run),
        cmocka_unit_test(test_c26_a_lost_link_is_no_failing_access),
        cmocka_unit_test(test_every_access_in_its_order),
        cmocka_unit_test(test_c40_counts_outside_1_to_64),
        cmocka_unit_test(test_c40_pins_that_cannot_be_read_are_32_ones),
        cmocka_unit_test(test_pins_wait_3_s_at_most),
        cmocka_unit_test(test_c41_writes_are_cut_to_their_size),
        cmocka_unit_test(test_c41_reads_have_their_size),
        cmocka_unit_test(test_c42_read64_is_handed_on_as_one),
        cmocka_unit_test(test_a_delay_ends_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
