/* SPDX-License-Identifier: Apache-2.0 */
/* Message's format and what a Message does: cross-trigger sheet 4.7, cases C29 to C31. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"
#include "sequence_rig.h"

/* Of one number. */
static const char *shown(const char *format, uint64_t number, char out[SEQUENCE_MESSAGE_MAX])
{
    struct sequence_format_argument one = {.number = number};
    sequence_format(format, strlen(format), &one, 1, out);
    return out;
}

#define SHOWS(format, number, text)                                    \
    do {                                                               \
        char shown_out[SEQUENCE_MESSAGE_MAX];                          \
        assert_string_equal(shown(format, (number), shown_out), text); \
    } while (0)

static void test_c30_numbers_of_32_and_64_bits(void **state)
{
    (void)state;
    const uint64_t big = 0x123456789ABCDEF0;
    SHOWS("%x", big, "9abcdef0");
    SHOWS("%X", big, "9ABCDEF0");
    SHOWS("%u", big, "2596069104");
    SHOWS("%o", 0x1FFFFFFFFu, "37777777777");
    SHOWS("%b", 0x1F0000000Bu, "1011");
    SHOWS("%llx", big, "123456789abcdef0");
    SHOWS("%llX", big, "123456789ABCDEF0");
    SHOWS("%llu", UINT64_MAX, "18446744073709551615");
    SHOWS("%llo", UINT64_MAX, "1777777777777777777777");
    SHOWS("%llb", UINT64_C(1) << 63, "1000000000000000000000000000000000000000000000000000000000000000");
    SHOWS("a %u b", 0, "a 0 b");
}

static void test_c30_width_zero_and_precision(void **state)
{
    (void)state;
    SHOWS("0x%08X", 0x1ABC, "0x00001ABC");
    SHOWS("[%8x]", 0x1ABC, "[    1abc]");
    SHOWS("[%.6u]", 42, "[000042]");
    SHOWS("[%08.6u]", 42, "[  000042]");
    SHOWS("[%016llX]", 0xABC, "[0000000000000ABC]");
    SHOWS("[%2x]", 0x12345, "[12345]");
}

static void test_c30_floats_are_bit_patterns(void **state)
{
    (void)state;
    SHOWS("%f", 0x3FC00000, "1.500000");
    SHOWS("%.2f", UINT64_C(0xFFFFFFFF3FC00000), "1.50");
    SHOWS("%Lf", 0xC004000000000000, "-2.500000");
    SHOWS("[%8.1Lf]", 0xC004000000000000, "[    -2.5]");
    SHOWS("%f", 0x7F800000, "inf");
    char out[SEQUENCE_MESSAGE_MAX];
    shown("%.9999Lf", 0x7FEFFFFFFFFFFFFF, out);
    assert_int_equal(strlen(out), 309 + 1 + 64);
}

static void test_c30_percent_sign(void **state)
{
    (void)state;
    SHOWS("100%%", 0, "100%");
    SHOWS("%%%x%%", 16, "%10%");
    assert_int_equal(sequence_format_arguments("%% %%x", 6, NULL), 0);
}

static void test_c30_widths_are_capped(void **state)
{
    (void)state;
    char out[SEQUENCE_MESSAGE_MAX];
    shown("%99999u", 7, out);
    assert_int_equal(strlen(out), 64);
    shown("%.99999999999999999999u", 7, out);
    assert_int_equal(strlen(out), 64);
    /* Ten thousand of them, and a format of 10 kB. */
    char format[10001];
    memset(format, 'x', sizeof(format) - 1);
    format[sizeof(format) - 1] = '\0';
    shown(format, 7, out);
    assert_int_equal(strlen(out), SEQUENCE_MESSAGE_MAX - 1);
    assert_string_equal(out + strlen(out) - 4, "x...");
    for (size_t i = 0; i + 6 < sizeof(format); i += 6)
        memcpy(format + i, "%999%x", 6);
    shown(format, 7, out);
    assert_int_equal(strlen(out), SEQUENCE_MESSAGE_MAX - 1);
}

static void test_c29_unknown_specifiers_stay_as_they_are(void **state)
{
    (void)state;
    unsigned unknown;
    SHOWS("%d", 1, "%d");
    SHOWS("%-8x|%lu|%hhx|% x|%5d|%", 1, "%-8x|%lu|%hhx|% x|%5d|%");
    assert_int_equal(sequence_format_arguments("%d", 2, &unknown), 0);
    assert_int_equal(unknown, 1);
    assert_int_equal(sequence_format_arguments("50% of it", 9, &unknown), 0);
    assert_int_equal(unknown, 1);
    /* Those behind it still find their own. */
    const struct sequence_format_argument two[] = {{.number = 1}, {.number = 0x22}};
    char out[SEQUENCE_MESSAGE_MAX];
    sequence_format("%d %x", 5, two, 2, out);
    assert_string_equal(out, "%d 22");
    assert_int_equal(sequence_format_arguments("%d %x", 5, &unknown), 2);
    assert_int_equal(unknown, 1);
    assert_int_equal(sequence_format_arguments("%x %llu %s", 10, &unknown), 3);
    assert_int_equal(unknown, 0);
}

static void test_c29_an_argument_that_is_not_there_is_not_looked_at(void **state)
{
    (void)state;
    char out[SEQUENCE_MESSAGE_MAX];
    sequence_format("%x %s", 5, NULL, 0, out);
    assert_string_equal(out, "%x %s");
    /* A number where a text belongs is no address. */
    SHOWS("[%s]", 0x41414141, "[]");
}

static void test_c30_texts(void **state)
{
    (void)state;
    const struct sequence_format_argument text = {.is_string = true, .string = "core\x1b[2J"};
    char out[SEQUENCE_MESSAGE_MAX];
    sequence_format("%s|%3s", 2, &text, 1, out);
    assert_string_equal(out, "core\\x1b[2J");
    sequence_format("[%.4s]", 6, &text, 1, out);
    assert_string_equal(out, "[core]");
    const struct sequence_format_argument plain = {.is_string = true, .string = "m7"};
    sequence_format("[%04s]", 6, &plain, 1, out);
    assert_string_equal(out, "[  m7]");
    assert_true(sequence_format_wants_string("%x %s", 5, 1));
    assert_false(sequence_format_wants_string("%x %s", 5, 0));
    assert_false(sequence_format_wants_string("%x %s", 5, 2));
}

static void test_what_it_makes_is_safe_to_show(void **state)
{
    (void)state;
    char format[SEQUENCE_MESSAGE_MAX], out[SEQUENCE_MESSAGE_MAX];
    memset(format, '\x07', sizeof(format));
    sequence_format(format, sizeof(format), NULL, 0, out);
    assert_int_equal(strlen(out) <= SEQUENCE_MESSAGE_MAX - 1, 1);
    assert_string_equal(out + strlen(out) - 7, "\\x07...");
}

static void test_c29_message_2_ends_all_callers(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "Inner", NULL,
                 "__var v = 0xBEEF;\nMessage(2, \"bad id 0x%04X\", v);\nWrite32(0x30, 3);\n");
    rig_sequence(r, "Middle", NULL, "Sequence(\"Inner\");\nWrite32(0x20, 2);\n");
    rig_sequence(r, "Outer", NULL,
                 "__errorcontrol = 1;\nWrite32(0x10, 1);\nSequence(\"Middle\");\nWrite32(0x10, 2);\n");
    rig_compile_well(r);
    assert_int_equal(rig_run(r, "Outer"), CORRAL_ERR_SEQUENCE);
    assert_int_equal(r->d.code, CORRAL_ERR_SEQUENCE);
    assert_string_equal(r->d.message, "bad id 0xBEEF");
    assert_string_equal(r->d.object, "test.pdsc:2:1 in Inner");
    assert_string_equal(r->d.hint, "Called by Middle at test.pdsc:1, by Outer at test.pdsc:3");
    assert_string_equal(r->log, "W32 10 1\nSAID bad id 0xBEEF\n");
    assert_string_equal(r->said, "2 bad id 0xBEEF\n");
    assert_true(r->result.ran);
    assert_true(r->result.result == UINT64_MAX);
    rig_free(r);
}

static void test_c29_messages_0_and_1_go_on(void **state)
{
    (void)state;
    struct rig *r = rig_of("Message(0, \"one %s\", \"two\");\nMessage(1, \"%llx\", 0 - 1);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->said, "0 one two\n1 ffffffffffffffff\n");
    assert_int_equal(r->result.result, 0);
    assert_int_equal(r->result.statements, 2);
    rig_free(r);
}

static void test_c29_unknown_specifier_is_said_and_warned_of_once(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var i = 0;\n@while i < 3\n@begin\nMessage(0, \"%d\", 1);\ni = i + 1;\n@end\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->said, "0 %d\n0 %d\n0 %d\n");
    assert_memory_equal(r->warned, "test.pdsc:4: ", 13);
    assert_ptr_equal(strchr(r->warned, '\n'), r->warned + strlen(r->warned) - 1);
    rig_free(r);
}

static void test_c29_an_argument_that_lacks_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {"Message(0, \"%x %x\", 1);\n", "Message(0, \"%s\");\n",
                                        "__var n = 5;\nMessage(0, \"%s\", n);\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct rig *r = rig_of_refused(texts[i]);
        assert_true(r->problems.errors > 0);
        assert_int_equal(rig_run(r, "T"), CORRAL_ERR_FORMAT);
        assert_string_equal(r->said, "");
        rig_free(r);
    }
}

static void test_c29_unknown_message_type(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var t = 3;\nMessage(t, \"what\");\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_SEQUENCE);
    assert_non_null(strstr(r->d.message, "not 3"));
    assert_string_equal(r->said, "");
    rig_free(r);
}

static enum corral_err on_query(void *ctx, unsigned type, const char *text, uint64_t *answer, struct diag *d)
{
    struct rig *r = ctx;
    (void)text;
    if (r->answer_err)
        return diag_set(d, r->answer_err, "nobody answers");
    assert_int_equal(type, *answer == 77 ? SEQUENCE_QUERY_VALUE : 2);
    *answer = r->answer;
    return CORRAL_OK;
}

static void test_c31_query_in_batch_gives_the_default(void **state)
{
    (void)state;
    struct rig *r = rig_of("__var yes = 3;\n"
                           "Write32(0x10, Query(1, \"sure?\", yes));\n"
                           "Write32(0x14, Query(1, \"sure?\", yes - 2));\n"
                           "Write32(0x18, Query(0, \"well\", 1));\n"
                           "Write32(0x1C, Query(2, \"well\", yes - 1));\n"
                           "Write32(0x20, Query(3, \"well\", yes));\n"
                           "Write32(0x24, Query(3, \"well\", 2));\n"
                           "Write64(0x28, QueryValue(\"how many\", 0x100000002));\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log,
                        "W32 10 3\nW32 14 0\nW32 18 1\nW32 1C 2\nW32 20 0\nW32 24 2\nW64 28 100000002\n");
    assert_non_null(strstr(r->warned, "test.pdsc:3: "));
    rig_free(r);
}

static void test_c31_a_type_that_there_is_not_is_an_error(void **state)
{
    (void)state;
    struct rig *r = rig_of_refused("__var t = 4;\nWrite32(0x10, Query(t, \"odd\", 1));\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 0\n");
    assert_non_null(strstr(r->warned, "no type 4"));
    rig_free(r);
}

static void test_c31_query_is_answered_by_who_is_there(void **state)
{
    (void)state;
    struct rig *r = rig_of(
        "__var d = 3;\nWrite32(0x10, Query(2, \"sure?\", d));\nWrite32(0x14, QueryValue(\"n\", d + 74));\n");
    struct sequence_target asks = *r->run.target;
    asks.query = on_query;
    r->run.target = &asks;
    r->answer = 4;
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 4\nW32 14 4\n");
    r->answer = 9;
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 0\nW32 14 9\n");
    r->answer_err = CORRAL_ERR_INTERRUPTED;
    assert_int_equal(rig_run(r, "T"), CORRAL_ERR_INTERRUPTED);
    assert_string_equal(r->d.object, "test.pdsc:2:15 in T");
    rig_free(r);
}

static uint64_t on_load(void *ctx, const char *file)
{
    struct rig *r = ctx;
    assert_string_equal(file, "a.axf");
    return r->answer;
}

static void test_load_debug_info(void **state)
{
    (void)state;
    struct rig *r = rig_of("Write32(0x10, LoadDebugInfo(\"a.axf\"));\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_memory_equal(r->said, "1 LoadDebugInfo is not supported", 32);
    assert_int_equal(rig_read(r, 0x10), 1);
    struct sequence_target loads = *r->run.target;
    loads.load_debug_info = on_load;
    r->run.target = &loads;
    r->answer = 0;
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 0\n");
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c30_numbers_of_32_and_64_bits),
        cmocka_unit_test(test_c30_width_zero_and_precision),
        cmocka_unit_test(test_c30_floats_are_bit_patterns),
        cmocka_unit_test(test_c30_percent_sign),
        cmocka_unit_test(test_c30_widths_are_capped),
        cmocka_unit_test(test_c29_unknown_specifiers_stay_as_they_are),
        cmocka_unit_test(test_c29_an_argument_that_is_not_there_is_not_looked_at),
        cmocka_unit_test(test_c30_texts),
        cmocka_unit_test(test_what_it_makes_is_safe_to_show),
        cmocka_unit_test(test_c29_message_2_ends_all_callers),
        cmocka_unit_test(test_c29_messages_0_and_1_go_on),
        cmocka_unit_test(test_c29_unknown_specifier_is_said_and_warned_of_once),
        cmocka_unit_test(test_c29_an_argument_that_lacks_is_an_error),
        cmocka_unit_test(test_c29_unknown_message_type),
        cmocka_unit_test(test_c31_query_in_batch_gives_the_default),
        cmocka_unit_test(test_c31_a_type_that_there_is_not_is_an_error),
        cmocka_unit_test(test_c31_query_is_answered_by_who_is_there),
        cmocka_unit_test(test_load_debug_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
