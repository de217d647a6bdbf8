/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found when a set is compiled, beyond its syntax: scopes, names, calls, constants, atomic blocks,
 * circles. Cross-trigger sheet 4.3 to 4.7 and the cases of 12.C, each with its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"
#include "sequence_checks.h"

static bool has_errors(const struct rig *r, const char *name, const char *pname)
{
    struct sequence_info info;
    assert_true(sequence_find(r->program, name, pname, &info));
    return info.has_errors;
}

/* ---- scopes */

static void test_c11_declared_twice(void **state)
{
    (void)state;
    ONE_PROBLEM("__var x=1;\n__var x=2;\n", SEQUENCE_ERROR, 2, 7, 1, "declared already, on line 1");
    /* A block is no scope. */
    ONE_PROBLEM("__var x=1;\n@block\n__var x=2;\n", SEQUENCE_ERROR, 3, 7, 1, "declared already, on line 1");
    NO_PROBLEM("__var x=1;\n@block\nWrite32(0, x);\n");
}

static void test_c12_declared_again_in_a_control(void **state)
{
    (void)state;
    ONE_PROBLEM("__var x=1;\n@if 1\n@begin\n__var x=2;\n@end\n", SEQUENCE_ERROR, 4, 7, 1,
                "declared already, on line 1");
    NO_PROBLEM("__var x=1;\n@if 1\n@begin\n@if 1\n@begin\nx = 2;\n@end\n@end\nWrite32(0, x);\n");
}

static void test_c13_siblings_may_reuse_a_name(void **state)
{
    (void)state;
    NO_PROBLEM(
        "@if 1\n@begin\n__var x=1;\nWrite32(0, x);\n@end\n@if 1\n@begin\n__var x=2;\nWrite32(0, x);\n@end\n"
        "__var x = 3;\n");
}

static void test_c14_declared_in_a_loop(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "__var n = 0;\n@while n < 3\n@begin\n__var x = 5;\nx = x + n;\nWrite32(0, x);\nn = n + 1;\n@end\n");
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 5\nW32 0 6\nW32 0 7\n");
    rig_free(r);
}

static void test_c15_used_after_its_scope(void **state)
{
    (void)state;
    ONE_PROBLEM("@if 1\n@begin\n__var x=1;\n@end\nWrite32(0, x);\n", SEQUENCE_ERROR, 5, 12, 1,
                "the control in which line 3 declares it has ended");
    ONE_PROBLEM("@if 1\n@begin\n__var x=1;\n@end\nx = 2;\n", SEQUENCE_ERROR, 5, 1, 1,
                "the control in which line 3 declares it has ended");
    /* Also in a condition, and the body's are not the condition's. */
    ONE_PROBLEM("@if 1\n@begin\n__var x=1;\n@end\n@if x\n@begin\n@end\n", SEQUENCE_ERROR, 5, 5, 1,
                "has ended");
    /* Called ones do not see the caller's. */
    struct rig *r = rig_new();
    rig_sequence(r, "A", NULL, "__var x = 1;\nSequence(\"B\");\n");
    rig_sequence(r, "B", NULL, "\n\nWrite32(0, x);\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 3, 12, 1, "x is not declared");
    rig_free(r);
}

static void test_c16_undeclared_assignment(void **state)
{
    (void)state;
    ONE_PROBLEM("y = 1;\n", SEQUENCE_ERROR, 1, 1, 1, "expected '__var y = ...;'");
    ONE_PROBLEM("__var x = x;\n", SEQUENCE_ERROR, 1, 11, 1, "x is not declared");
    /* The seed's own. */
    ONE_PROBLEM("__var DFSR_Addr = 0xE000E000 + 0xD30;\nWrite32(DHCSR_Addr, 0xA05F0001);\n", SEQUENCE_ERROR,
                2, 9, 10, "DHCSR_Addr is not declared");
}

/* Shipped descriptions have it: a warning, and the sequence is refused when it is to be run. */
static void test_c16_undeclared_in_a_condition(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "@while (ReadDP(DP_CTRL_STAT) & 1) != 1\n@timeout 10\n@begin\n@end\n");
    rig_sequence(r, "Caller", NULL, "Sequence(\"T\");\n");
    rig_sequence(r, "Other", NULL, "Write32(0, 1);\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 1, 16, 12, "DP_CTRL_STAT is not declared: the sequence is refused");
    assert_true(has_errors(r, "T", NULL));
    assert_true(has_errors(r, "Caller", NULL));
    assert_false(has_errors(r, "Other", NULL));
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_FORMAT);
    assert_int_equal(rig_run(r, "Caller"), CORRAL_ERR_FORMAT);
    assert_string_equal(r->log, "");
    rig_free(r);
}

static struct rig *with_variables(const char *variables)
{
    struct rig *r = rig_new();
    const struct sequence_mark mark = {0, 100, 1};
    const struct sequence_text text = {variables, strlen(variables), r->file, &mark, 1};
    assert_int_equal(sequence_set_variables(r->set, &text, NULL, 1, NULL), CORRAL_OK);
    return r;
}

static void test_c17_what_is_read_only(void **state)
{
    (void)state;
    ONE_PROBLEM("__protocol = 1;\n", SEQUENCE_ERROR, 1, 1, 10, "the debugger gives its value");
    ONE_PROBLEM("__options = 1;\n", SEQUENCE_ERROR, 1, 1, 9, "the debugger gives its value");
    NO_PROBLEM("__dp = 0; __ap = 1; __errorcontrol = 1; __Result = 0;\n");
    struct rig *r = with_variables("__var D = 1;");
    rig_sequence(r, "T", NULL, "Write32(0, D);\nD = 2;\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 2, 1, 1, "it is a debug variable, whose value is fixed");
    rig_free(r);
}

static void test_c18_reserved_names(void **state)
{
    (void)state;
    ONE_PROBLEM("__var __foo = 1;\nWrite32(0, __foo);\n", SEQUENCE_WARNING, 1, 7, 5,
                "kept for predefined variables");
    ONE_PROBLEM("__var __dp = 1;\n", SEQUENCE_ERROR, 1, 7, 4, "is a predefined variable");
    struct rig *r = with_variables("__var D = 1;");
    rig_sequence(r, "T", NULL, "__var D = 2;\nWrite32(0, D);\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 1, 7, 1, "hides the debug variable");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 2\n");
    rig_free(r);
}

/* ---- controls */

static void test_c22_timeout_without_while(void **state)
{
    (void)state;
    ONE_PROBLEM("@if 1\n@timeout 100\n@begin\nWrite32(0, 1);\n@end\n", SEQUENCE_WARNING, 2, 10, 3,
                "it is ignored");
}

static void test_timeouts_are_constants(void **state)
{
    (void)state;
    struct rig *r = with_variables("__var US = 1000;");
    rig_sequence(r, "T", NULL, "@while 1\n@timeout US * 2 + 0x10\n@begin\n@end\nWrite32(0, 1);\n");
    rig_compile_well(r);
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(sequence_code_find(r->program, "T", NULL)->first->timeout_us, 2016);
    rig_free(r);
    ONE_PROBLEM("__var x = 1;\n@while 1\n@timeout x\n@begin\n@end\n", SEQUENCE_ERROR, 3, 10, 1,
                "not a constant");
    ONE_PROBLEM("@while 1\n@timeout 1 / 0\n@begin\n@end\n", SEQUENCE_ERROR, 2, 10, 5, "divided by 0");
    ONE_PROBLEM("@while 1\n@timeout 1 s\n@begin\n@end\n", SEQUENCE_ERROR, 2, 12, 1,
                "the end of the expression");
}

/* ---- calls */

static void test_c23_circles(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "A", NULL, "Write32(0, 1);\n  Sequence(\"A\");\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 2, 3, 13, "in a circle: A calls A");
    assert_true(has_errors(r, "A", NULL));
    rig_free(r);
    r = rig_new();
    rig_sequence(r, "A", NULL, "Sequence(\"B\");\n");
    rig_sequence(r, "B", NULL, "Sequence(\"C\");\nSequence(\"D\");\n");
    rig_sequence(r, "C", NULL, "\n\nSequence(\"A\");\n");
    rig_sequence(r, "D", NULL, "Write32(0, 1);\n");
    rig_sequence(r, "E", NULL, "Sequence(\"D\");\nSequence(\"D\");\n");
    rig_sequence(r, "F", NULL, "Sequence(\"B\");\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 3, 1, 13, "in a circle: A calls B calls C calls A");
    assert_true(has_errors(r, "A", NULL) && has_errors(r, "B", NULL) && has_errors(r, "C", NULL));
    assert_true(has_errors(r, "F", NULL));
    assert_false(has_errors(r, "D", NULL) || has_errors(r, "E", NULL));
    rig_free(r);
}

/* Each of many calls the next one, and the first one many times. */
static void test_c23_long_circles(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    for (unsigned i = 0; i < 4000; i++) {
        char name[16], text[2000] = "";
        snprintf(name, sizeof(name), "S%u", i);
        snprintf(text, sizeof(text), "Sequence(\"S%u\");\n", i + 1 < 4000 ? i + 1 : 0);
        for (unsigned k = 0; k < 100; k++)
            strcat(text, "Sequence(\"S0\");");
        rig_sequence(r, name, NULL, text);
    }
    rig_compile(r);
    assert_non_null(problem_with(r, "in a circle: S0 calls S1 calls"));
    assert_int_equal(r->problems.count, 1);
    assert_true(has_errors(r, "S0", NULL) && has_errors(r, "S3999", NULL));
    rig_free(r);
}

/* What a user writes under the name of a default, and what that default calls. */
static void test_c23_circle_through_a_default(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "ResetSystem", NULL, "Sequence(\"Mine\");\n");
    rig_sequence(r, "Mine", NULL, "Sequence(\"ResetSystem\");\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 1);
    assert_non_null(problem_with(r, "ResetSystem calls Mine calls ResetSystem"));
    rig_free(r);
}

/* A circle of processors' variants; and none, where another variant is called. */
static void test_c23_circles_of_processors(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "A", "M7", "Sequence(\"B\");\n");
    rig_sequence(r, "A", "M4", "Write32(0, 1);\n");
    rig_sequence(r, "B", "M7", "Write32(0, 1);\n");
    rig_sequence(r, "B", "M4", "Sequence(\"A\");\n");
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    rig_free(r);
    r = rig_new();
    rig_sequence(r, "A", NULL, "Sequence(\"B\");\n");
    rig_sequence(r, "B", "M7", "Sequence(\"A\");\n");
    rig_sequence(r, "B", "M4", "Write32(0, 1);\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 1);
    assert_non_null(problem_with(r, "A calls B calls A"));
    assert_true(has_errors(r, "B", "M7"));
    assert_false(has_errors(r, "B", "M4"));
    rig_free(r);
}

static void test_c24_undefined_names(void **state)
{
    (void)state;
    ONE_PROBLEM("Write32(0, 1);\nSequence(\"Undefined\");\n", SEQUENCE_ERROR, 2, 10, 11,
                "T calls the sequence Undefined, which there is not");
    NO_PROBLEM("Sequence(\"DebugDeviceUnlock\");\nSequence(\"ResetSystem\");\nSequence(\"FlashInit\");\n");
    ONE_PROBLEM("Sequence(\"debugDeviceUnlock\");\n", SEQUENCE_ERROR, 1, 10, 19, "which there is not");
    struct rig *r = rig_new();
    rig_sequence(r, "X", "M7", "Write32(0, 1);\n");
    rig_sequence(r, "T", NULL, "Sequence(\"X\");\n");
    rig_sequence(r, "T", "M7", "Sequence(\"X\");\n");
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    rig_free(r);
    r = rig_new();
    rig_sequence(r, "X", "M7", "Write32(0, 1);\n");
    rig_sequence(r, "T", "M4", "Sequence(\"X\");\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 1, 10, 3, "which there is not for this processor");
    rig_free(r);
}

static void test_c34_names_and_arguments(void **state)
{
    (void)state;
    ONE_PROBLEM("write32(0, 1);\nREAD32(0);\n", SEQUENCE_WARNING, 1, 1, 7, "is written Write32");
    ONE_PROBLEM("Write32(0);\n", SEQUENCE_ERROR, 1, 1, 10, "Write32 takes 2 arguments, not 1");
    ONE_PROBLEM("Read32();\n", SEQUENCE_ERROR, 1, 1, 8, "Read32 takes 1 argument, not 0");
    ONE_PROBLEM("Read32(1, 2);\n", SEQUENCE_ERROR, 1, 1, 12, "not 2");
    ONE_PROBLEM("Message(0);\n", SEQUENCE_ERROR, 1, 1, 10, "at least 2 arguments, not 1");
    ONE_PROBLEM("Fetch32(0);\n", SEQUENCE_ERROR, 1, 1, 7, "there is no function Fetch32");
    ONE_PROBLEM("Read3(0);\n", SEQUENCE_ERROR, 1, 1, 5, "there is no function Read3");
    ONE_PROBLEM("Read32(\"a\");\n", SEQUENCE_ERROR, 1, 8, 3, "argument 1 of Read32 must be a number");
    ONE_PROBLEM("Sequence(1);\n", SEQUENCE_ERROR, 1, 10, 1, "argument 1 of Sequence must be a string");
    ONE_PROBLEM("Query(0, 1, 2);\n", SEQUENCE_ERROR, 1, 10, 1, "argument 2 of Query must be a string");
    ONE_PROBLEM("QueryValue(\"a\", \"b\");\n", SEQUENCE_ERROR, 1, 17, 3,
                "argument 2 of QueryValue must be a number");
    NO_PROBLEM("Read8(0); Read16(0); Read32(0); Read64(0); Write8(0, 1); Write16(0, 1); Write32(0, 1);\n"
               "Write64(0, 1); ReadDP(0); WriteDP(8, 1); ReadAP(0); WriteAP(0, 1); ReadAccessAP(0);\n"
               "WriteAccessAP(0, 1); DAP_Delay(1); DAP_WriteABORT(1); DAP_SWJ_Pins(0, 0x80, 100);\n"
               "DAP_SWJ_Clock(1000); DAP_SWJ_Sequence(8, 1); DAP_JTAG_Sequence(8, 1, 1);\n"
               "Query(0, \"a\", 1); QueryValue(\"a\", 1); Message(0, \"a\"); LoadDebugInfo(\"a\");\n");
}

static void test_external_functions_are_refused_by_name(void **state)
{
    (void)state;
    ONE_PROBLEM("RunApplication(\"a\");\n", SEQUENCE_ERROR, 1, 1, 14,
                "RunApplication is a function of external tools, which Corral does not run");
    ONE_PROBLEM("BufferGet(1, 2);\n", SEQUENCE_ERROR, 1, 1, 9, "external tools");
    ONE_PROBLEM("FlashLoadAlgorithm(\"a.flm\", 0, 1);\n", SEQUENCE_ERROR, 1, 1, 18, "does not program flash");
    ONE_PROBLEM("FlashWriteBuffer(0, 0, 1, 1);\n", SEQUENCE_ERROR, 1, 1, 16, "does not program flash");
}

static void test_c29_c30_formats(void **state)
{
    (void)state;
    ONE_PROBLEM("Message(0, \"%d\", 1);\n", SEQUENCE_WARNING, 1, 12, 4, "not known");
    ONE_PROBLEM("Message(0, \"%x %u\", 1);\n", SEQUENCE_ERROR, 1, 1, 22, "wants 2 arguments, not 1");
    ONE_PROBLEM("Message(0, \"%x\");\n", SEQUENCE_ERROR, 1, 1, 16, "wants 1 argument, not 0");
    ONE_PROBLEM("Message(0, \"%x\", 1, 2);\n", SEQUENCE_WARNING, 1, 1, 22, "the rest is not shown");
    ONE_PROBLEM("__var x = 1;\nMessage(0, \"%s\", x);\n", SEQUENCE_ERROR, 2, 18, 1, "not for an expression");
    ONE_PROBLEM("Message(0, \"%x\", \"a\");\n", SEQUENCE_ERROR, 1, 18, 3, "wants a number");
    ONE_PROBLEM("Message(0, \"a\", \"b\");\n", SEQUENCE_WARNING, 1, 1, 20, "the rest is not shown");
    ONE_PROBLEM("Message(3, \"a\");\n", SEQUENCE_ERROR, 1, 9, 1, "types 0 (information)");
    NO_PROBLEM("Message(0, \"%s %llX %08x %% %99999u %Lf\", \"a\", 1, 2, 3, 4);\n");
}

static void test_queries(void **state)
{
    (void)state;
    ONE_PROBLEM("__var x = 1;\nQuery(x, \"a\", 1);\n", SEQUENCE_ERROR, 2, 7, 1, "must be a constant");
    ONE_PROBLEM("Query(4, \"a\", 1);\n", SEQUENCE_ERROR, 1, 7, 1, "types 0 (Ok)");
    struct rig *r = with_variables("__var K = 1;");
    rig_sequence(r, "T", NULL, "Query(K + 1, \"a\", 2);\n");
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    rig_free(r);
}

static void test_c40_constant_ranges(void **state)
{
    (void)state;
    ONE_PROBLEM("DAP_SWJ_Sequence(65, 0);\n", SEQUENCE_ERROR, 1, 18, 2, "must be 1 to 64");
    ONE_PROBLEM("DAP_SWJ_Sequence(0, 0);\n", SEQUENCE_ERROR, 1, 18, 1, "must be 1 to 64");
    ONE_PROBLEM("DAP_JTAG_Sequence(32 + 33, 0, 0);\n", SEQUENCE_ERROR, 1, 19, 7, "must be 1 to 64");
    ONE_PROBLEM("DAP_SWJ_Pins(0, 0, 3000001);\n", SEQUENCE_ERROR, 1, 20, 7, "must be 0 to 3000000");
    ONE_PROBLEM("ReadDP(2);\n", SEQUENCE_ERROR, 1, 8, 1, "0x0, 0x4, 0x8 and 0xC");
    NO_PROBLEM("__var n = 65;\nDAP_SWJ_Sequence(n, 0);\nDAP_SWJ_Sequence(64, 0);\nDAP_SWJ_Sequence(1, 0);\n");
}

static void one_warning_in(const char *name, const char *text, const char *words)
{
    struct rig *r = rig_new();
    rig_sequence(r, name, NULL, text);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 1, 1, 9, words);
    assert_false(has_errors(r, name, NULL));
    rig_free(r);
}

static void test_c38_memory_while_the_port_goes_down(void **state)
{
    (void)state;
    one_warning_in("DebugPortStop", "Read32(0);\nWrite32(0, 1);\n", "DebugPortStop accesses memory");
    one_warning_in("DebugPortStart", "Read32(0);\nReadAP(0);\n", "DebugPortStart accesses memory");
    one_warning_in("DebugPortSetup", "ReadAP(0);\nRead32(0);\n", "DebugPortSetup accesses an access port");
    NO_PROBLEM("Read32(0);\n");
}

static void test_c35_ap_and_apid(void **state)
{
    (void)state;
    ONE_PROBLEM("__apid = 1;\n", SEQUENCE_ERROR, 1, 1, 6, "expected __ap");
    ONE_PROBLEM("Write32(0, __apid);\n", SEQUENCE_ERROR, 1, 12, 6, "expected __ap");
    NO_PROBLEM("__ap = 1;\n");
    struct rig *r = rig_new();
    r->setting.has_access_ports = true;
    rig_sequence(r, "T", NULL, "__apid = 1;\n__ap = 1;\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 2, 1, 4, "expected __apid");
    rig_free(r);
    /* A sequence that is refused for its conditions: a remark. */
    r = rig_new();
    r->setting.has_access_ports = true;
    rig_sequence(r, "T", NULL, "__ap = 1;\n@if nothing\n@begin\n@end\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 0);
    assert_int_equal(r->problems.count, 2);
    assert_true(has_errors(r, "T", NULL));
    rig_free(r);
}

/* ---- atomic blocks */

#define ATOMIC(text, line, column, width, words) \
    ONE_PROBLEM("@atomic\n" text, SEQUENCE_ERROR, line, column, width, words)

static void test_c28_calls_in_an_atomic_block(void **state)
{
    (void)state;
    ATOMIC("Query(0, \"a\", 1);\n", 2, 1, 16, "Query cannot be called");
    ATOMIC("QueryValue(\"a\", 1);\n", 2, 1, 18, "QueryValue cannot be called");
    ATOMIC("Write32(0, Sequence(\"ResetSystem\"));\n", 2, 12, 23, "Sequence cannot be called");
    ONE_PROBLEM("@atomic\nMessage(0, \"a\");\n", SEQUENCE_WARNING, 2, 1, 15,
                "comes behind all of the block's accesses");
    NO_PROBLEM("Query(0, \"a\", 1);\n@atomic\nWrite32(0, 1);\nDAP_Delay(5);\n@block\nQuery(0, \"a\", 1);\n");
}

static void test_c28_reads_used_in_the_same_block(void **state)
{
    (void)state;
    ATOMIC("__var x = Read32(0);\nWrite32(4, x);\n", 3, 12, 1, "holds what the same atomic block reads");
    ATOMIC("__var x = 0;\nx = Read32(0);\nx = x + 1;\n", 4, 5, 1, "holds what the same atomic block reads");
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "@atomic\n__var x = 0;\nx = Read32(0);\nx += 1;\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 1);
    assert_non_null(problem_with(r, "holds what the same atomic block reads"));
    rig_free(r);
    ATOMIC("Write32(4, Read32(0));\n", 2, 12, 9, "cannot be an argument in it");
    ATOMIC("Write32(4, Read32(0) | 1);\n", 2, 12, 13, "cannot be an argument in it");
    ATOMIC("Read32(Read32(0));\n", 2, 8, 9, "cannot be an argument in it");
    ATOMIC("__var x = ReadDP(0) ? ReadDP(4) : 2;\n", 2, 23, 9, "whether this is done");
    ATOMIC("!Read32(0) || Write32(4, 1);\n", 2, 15, 13, "whether this is done");
    ATOMIC("__ap = Read32(0);\n", 2, 1, 16, "a predefined variable");
}

static void test_c28_what_an_atomic_block_may_do(void **state)
{
    (void)state;
    NO_PROBLEM("__var x = 0;\n@atomic\nx = (Read32(0) | 1) >> 4;\nWrite32(4, 1);\n@block\nWrite32(0, x);\n");
    NO_PROBLEM("@atomic\n__var x = ReadDP(0) ? 1 : 2;\n__var y = 1 ? ReadAP(0) : 2;\n"
               "__var z = !DAP_SWJ_Pins(0, 0, 0) && 5 || 0;\n");
    NO_PROBLEM("__var x = 0;\n@atomic\nx = Read32(0);\nWrite32(4, 1);\nRead32(8);\n@block\nWrite32(0, x);\n");
    NO_PROBLEM("__var x = 5;\n@atomic\nWrite32(4, x);\nx = Read32(0);\nx = 7;\nWrite32(8, x + 1);\n");
    NO_PROBLEM(
        "__var x = Read32(0);\n@atomic\nWrite32(4, x);\n@atomic\nx = Read32(0);\n@atomic\nWrite32(8, x);\n");
    NO_PROBLEM("@atomic\n__Result = ReadDP(4);\n__errorcontrol = 1;\nWrite32(0, Write32(4, 5) + 1);\n");
}

/* ---- duplicates and levels */

static void add(struct rig *r, const char *name, const char *pname, unsigned level, unsigned line,
                const char *block, bool disabled)
{
    const struct sequence_head head = {
        .name = name, .pname = pname, .level = level, .disabled = disabled, .place = {r->file, line, 1}};
    const struct sequence_mark mark = {0, line, 1};
    const struct sequence_text text = {block, strlen(block), r->file, &mark, 1};
    assert_int_equal(sequence_set_begin(r->set, &head, &r->d), CORRAL_OK);
    if (!disabled)
        assert_int_equal(sequence_set_block(r->set, &text, false, head.place, &r->d), CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, &r->d), CORRAL_OK);
}

static void test_c36_the_last_of_one_level_counts(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    add(r, "T", NULL, 3, 10, "Write32(0, 1);", false);
    add(r, "T", "M7", 3, 15, "Write32(0, 3);", false);
    add(r, "T", NULL, 3, 20, "Write32(0, 2);", false);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 20, 1, 1, "this one counts, not that of line 10");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 2\n");
    rig_free(r);
}

static void test_a_misspelt_standard_name_is_told(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    add(r, "ProcesorHaltAcknowledge", NULL, 3, 10, "Write32(0, 1);", false);
    add(r, "DebugCoreStrat", NULL, 3, 20, "Write32(0, 1);", false);
    add(r, "DebugCoreStrut", NULL, 3, 30, "Write32(0, 1);", false); /* somebody calls it */
    add(r, "ResetSystem1", NULL, 3, 40, "Sequence(\"DebugCoreStrut\");", false);
    add(r, "TraceStarting", NULL, 3, 50, "Write32(0, 1);", false);
    rig_compile(r);
    assert_int_equal(r->problems.count, 2);
    assert_int_equal(r->problems.errors, 0);
    assert_string_equal(r->problems.list[0].text,
                        "nobody runs ProcesorHaltAcknowledge: is ProcessorHaltAcknowledge meant?");
    assert_string_equal(r->problems.list[1].text, "nobody runs DebugCoreStrat: is DebugCoreStart meant?");
    assert_int_equal(r->problems.list[1].place.line, 20);
    rig_free(r);
}

static void test_the_level_nearest_to_the_device_counts(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    add(r, "T", NULL, 3, 10, "Write32(0, 3);", false);
    add(r, "T", NULL, 1, 20, "Write32(0, 1);", false);
    add(r, "T", NULL, 4, 30, "Write32(0, 4);", false);
    add(r, "T", NULL, 2, 40, "undeclared = 4;", false);
    add(r, "T", "M7", 1, 50, "Write32(0, 7);", false);
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 4\n");
    r->run.pname = "M7";
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 7\n");
    rig_free(r);
}

static void test_what_there_is(void **state)
{
    (void)state;
    struct sequence_info info;
    struct rig *r = rig_new();
    add(r, "Mine", "M7", 3, 10, "Write32(0, 3);", false);
    add(r, "DebugCoreStart", "M7", 3, 11, "Write32(0, 3);", false);
    add(r, "ResetSystem", NULL, 3, 12, "", true);
    rig_compile(r);
    assert_false(sequence_find(r->program, "Mine", NULL, &info));
    assert_false(sequence_find(r->program, "Mine", "M4", &info));
    assert_true(sequence_find(r->program, "Mine", "M7", &info));
    assert_string_equal(info.name, "Mine");
    assert_string_equal(info.pname, "M7");
    assert_int_equal(info.place.line, 10);
    assert_false(info.is_default || info.predefined || info.disabled || info.has_errors);
    assert_true(sequence_find(r->program, "DebugCoreStart", "M4", &info));
    assert_true(info.is_default && info.predefined);
    assert_string_equal(sequence_set_file_name(r->set, info.place.file), "default");
    assert_true(sequence_is_defined(r->program, "DebugCoreStart", "M7"));
    assert_false(sequence_is_defined(r->program, "DebugCoreStart", "M4"));
    assert_true(sequence_is_defined(r->program, "ResetSystem", NULL));
    assert_true(sequence_find(r->program, "ResetSystem", "M4", &info));
    assert_true(info.disabled && !info.is_default);
    assert_false(sequence_find(r->program, "DebugDeviceUnlock", NULL, &info));
    assert_true(sequence_is_predefined("DebugDeviceUnlock"));
    assert_false(sequence_is_predefined("Mine"));
    size_t count = sequence_count(r->program), mine = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(sequence_get(r->program, i, &info));
        mine += strcmp(info.name, "Mine") == 0;
        if (strcmp(info.name, "ResetSystem") == 0)
            assert_false(info.is_default);
    }
    assert_int_equal(mine, 1);
    assert_false(sequence_get(r->program, count, &info));
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c11_declared_twice),
        cmocka_unit_test(test_c12_declared_again_in_a_control),
        cmocka_unit_test(test_c13_siblings_may_reuse_a_name),
        cmocka_unit_test(test_c14_declared_in_a_loop),
        cmocka_unit_test(test_c15_used_after_its_scope),
        cmocka_unit_test(test_c16_undeclared_assignment),
        cmocka_unit_test(test_c16_undeclared_in_a_condition),
        cmocka_unit_test(test_c17_what_is_read_only),
        cmocka_unit_test(test_c18_reserved_names),
        cmocka_unit_test(test_c22_timeout_without_while),
        cmocka_unit_test(test_timeouts_are_constants),
        cmocka_unit_test(test_c23_circles),
        cmocka_unit_test(test_c23_long_circles),
        cmocka_unit_test(test_c23_circle_through_a_default),
        cmocka_unit_test(test_c23_circles_of_processors),
        cmocka_unit_test(test_c24_undefined_names),
        cmocka_unit_test(test_c34_names_and_arguments),
        cmocka_unit_test(test_external_functions_are_refused_by_name),
        cmocka_unit_test(test_c29_c30_formats),
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_c40_constant_ranges),
        cmocka_unit_test(test_c38_memory_while_the_port_goes_down),
        cmocka_unit_test(test_c35_ap_and_apid),
        cmocka_unit_test(test_c28_calls_in_an_atomic_block),
        cmocka_unit_test(test_c28_reads_used_in_the_same_block),
        cmocka_unit_test(test_c28_what_an_atomic_block_may_do),
        cmocka_unit_test(test_c36_the_last_of_one_level_counts),
        cmocka_unit_test(test_a_misspelt_standard_name_is_told),
        cmocka_unit_test(test_the_level_nearest_to_the_device_counts),
        cmocka_unit_test(test_what_there_is),
    };
    return cmocka_run_group_tests_name("sequence-check", tests, NULL, NULL);
}
