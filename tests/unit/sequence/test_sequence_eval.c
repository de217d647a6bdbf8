/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: cross-trigger sheet 4.2, cases C1 to C8, and the faults of sheet 6 that are about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sequence_rig.h"

#define IS(expression, number)                                             \
    do {                                                                   \
        uint64_t got = rig_value(expression);                              \
        if (got != (uint64_t)(number))                                     \
            fail_msg("%s is 0x%llx", expression, (unsigned long long)got); \
    } while (0)

/* Through variables, so that nothing is folded before it runs. */
static uint64_t value_of(const char *expression, uint64_t a, uint64_t b)
{
    char text[256];
    snprintf(text, sizeof(text), "__var a = 0x%llx;\n__var b = 0x%llx;\nWrite64(0x1000, %s);\n",
             (unsigned long long)a, (unsigned long long)b, expression);
    struct rig *r = rig_of(text);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    uint64_t value = rig_read(r, 0x1000);
    rig_free(r);
    return value;
}

static void test_c1_c2_precedence(void **state)
{
    (void)state;
    IS("1 + 2 * 3 == 7 && 0x10 >> 4 == 1", 1);
    assert_int_equal(value_of("a & 3 == 3", 7, 0), 1);
    assert_int_equal(value_of("a & 3 == 4", 7, 0), 0);
    IS("2 - 1 - 1", 0);
    IS("0 ? 1 : 0 ? 2 : 3", 3);
    IS("1 | 6 ^ 2 & 3", 5);
}

static void test_c3_subtraction_wraps(void **state)
{
    (void)state;
    IS("0 - 1", UINT64_MAX);
    assert_true(value_of("a - b", 0, 1) == UINT64_MAX);
    assert_true(value_of("a + b", UINT64_MAX, 2) == 1);
    assert_true(value_of("a * b", UINT64_C(1) << 63, 2) == 0);
    assert_true(value_of("a * b", 0x100000001, 0x100000001) == 0x200000001);
    assert_true(value_of("a < b", 1, UINT64_MAX) == 1);
    assert_true(value_of("(a - b) > 0", 0, 1) == 1);
}

static void test_c4_shifts_are_logical(void **state)
{
    (void)state;
    IS("~0 >> 63", 1);
    assert_true(value_of("~a >> b", 0, 63) == 1);
    assert_true(value_of("a << b", 1, 63) == UINT64_C(1) << 63);
}

static void test_c5_shifts_by_64_and_more_are_0(void **state)
{
    (void)state;
    IS("1 << 64", 0);
    assert_true(value_of("a << b", 1, 64) == 0);
    assert_true(value_of("a >> b", UINT64_MAX, 64) == 0);
    assert_true(value_of("a >> b", UINT64_MAX, UINT64_MAX) == 0);
    assert_true(value_of("a << b", 1, 0x100000001) == 0);
}

static void test_c6_division_by_0(void **state)
{
    (void)state;
    static const char *const texts[] = {"__var z = 0;\n__var x = 5 / z;\nWrite32(0x10, 1);\n",
                                        "__var z = 0;\n__var x = 5 % z;\nWrite32(0x10, 1);\n",
                                        "__var z = 0;\n__var x = 5; x /= z;\nWrite32(0x10, 1);\n"};
    for (size_t i = 0; i < 3; i++) {
        struct rig *r = rig_of(texts[i]);
        assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
        assert_non_null(strstr(r->d.message, "by 0"));
        assert_memory_equal(r->d.object, "test.pdsc:2:", 12);
        assert_string_equal(r->log, "");
        assert_true(r->result.result == UINT64_MAX);
        rig_free(r);
    }
    struct rig *r = rig_of("__errorcontrol = 1;\n__var z = 0;\nWrite32(0x10, 7 + 5 / z);\nWrite32(0x10, 5 % "
                           "z);\nWrite64(0x18, __Result);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 7\nW32 10 0\nW64 18 FFFFFFFFFFFFFFFF\n");
    assert_true(r->result.result == UINT64_MAX);
    rig_free(r);
}

static void test_c7_only_what_counts_is_evaluated(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var no = 0;\n__var yes = 2;\n"
                           "no && Write32(0x10, 1);\nyes || Write32(0x10, 2);\n"
                           "Write64(0x18, yes && 6);\nWrite64(0x18, no || 0);\n"
                           "Write64(0x18, yes ? 2 : Read32(0x20));\nWrite64(0x18, no ? Read32(0x24) : 3);\n"
                           "yes && Read32(0x28);\nno || Read32(0x2C);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W64 18 1\nW64 18 0\nW64 18 2\nW64 18 3\nR32 28\nR32 2C\n");
    rig_free(r);
}

static void test_c8_unary(void **state)
{
    (void)state;
    IS("!5", 0);
    IS("!!5", 1);
    IS("-1", UINT64_MAX);
    IS("- -1", 1);
    assert_true(value_of("-a", 0x10, 0) == UINT64_MAX - 15);
    assert_true(value_of("!a", UINT64_C(1) << 40, 0) == 0);
    assert_true(value_of("~a", 0xFF, 0) == UINT64_MAX - 255);
}

static void test_6_what_has_an_effect_stays(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "__var x = Read32(0x10) & 0;\nx = Read32(0x14) * 0;\nx = 0 - Read32(0x18);\nWrite64(0x1C, x);\n"
        "Write64(0x1C, Read32(0x18) || 0);\nWrite64(0x1C, 0 || Read32(0x18));\n");
    rig_memory(r, 0x18, 5);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(
        r->log, "R32 10\nR32 14\nR32 18\nW64 1C FFFFFFFFFFFFFFFB\nR32 18\nW64 1C 1\nR32 18\nW64 1C 1\n");
    rig_free(r);
}

static void test_comparisons(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t less, equal, more;
    } all[] = {{"a < b", 1, 0, 0},  {"a > b", 0, 0, 1},  {"a <= b", 1, 1, 0},
               {"a >= b", 0, 1, 1}, {"a == b", 0, 1, 0}, {"a != b", 1, 0, 1}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(value_of(all[i].text, 4, 5), all[i].less);
        assert_int_equal(value_of(all[i].text, 5, 5), all[i].equal);
        assert_int_equal(value_of(all[i].text, 0x8000000000000000, 5), all[i].more);
    }
}

static void test_compound_assignments(void **state)
{
    (void)state;
    struct rig *r =
        rig_of("__var x = 12;\nx += 3; Write64(0x10, x);\nx -= 16; Write64(0x10, x);\nx &= 0xFF0; "
               "Write64(0x10, x);\n"
               "x |= 5; Write64(0x10, x);\nx ^= 1; Write64(0x10, x);\nx <<= 4; Write64(0x10, x);\nx >>= 8; "
               "Write64(0x10, x);\n"
               "x *= 3; Write64(0x10, x);\nx /= 4; Write64(0x10, x);\nx %= 100; Write64(0x10, x);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log,
                        "W64 10 F\nW64 10 FFFFFFFFFFFFFFFF\nW64 10 FF0\nW64 10 FF5\nW64 10 FF4\nW64 10 FF40\n"
                        "W64 10 FF\nW64 10 2FD\nW64 10 BF\nW64 10 5B\n");
    rig_free(r);
}

static void test_an_assignment_has_its_value(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var x = 0;\n__var n = 0;\n@while (x = Read32(0x10)) != 3\n@begin\nn += "
                           "1;\nWrite32(0x10, x + 1);\n@end\nWrite32(0x14, n);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "R32 10\nW32 10 1\nR32 10\nW32 10 2\nR32 10\nW32 10 3\nR32 10\nW32 14 3\n");
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c1_c2_precedence),
        cmocka_unit_test(test_c3_subtraction_wraps),
        cmocka_unit_test(test_c4_shifts_are_logical),
        cmocka_unit_test(test_c5_shifts_by_64_and_more_are_0),
        cmocka_unit_test(test_c6_division_by_0),
        cmocka_unit_test(test_c7_only_what_counts_is_evaluated),
        cmocka_unit_test(test_c8_unary),
        cmocka_unit_test(test_6_what_has_an_effect_stays),
        cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_compound_assignments),
        cmocka_unit_test(test_an_assignment_has_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
