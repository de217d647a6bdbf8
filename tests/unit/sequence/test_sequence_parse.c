/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lexer and parser: cross-trigger sheet 4.2 and the cases of 12.C that are about text, each with the place at
 * which a mistake is shown. Values are computed by the interpreter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sequence_checks.h"

static void test_c1_precedence(void **state)
{
    (void)state;
    assert_int_equal(rig_value("1 + 2 * 3 == 7 && 0x10 >> 4 == 1"), 1);
    assert_int_equal(rig_value("2 + 3 << 1"), 10);
    assert_int_equal(rig_value("1 | 2 ^ 3 & 2"), 1);
    assert_int_equal(rig_value("1 < 2 == 1"), 1);
    assert_int_equal(rig_value("10 - 4 - 3"), 3);
    assert_int_equal(rig_value("100 / 5 / 2 % 7"), 3);
    assert_int_equal(rig_value("0 || 1 && 0"), 0);
    assert_int_equal(rig_value("(1 + 2) * 3"), 9);
    assert_int_equal(rig_value("0 ? 1 : 1 ? 2 : 3"), 2);
}

static void test_c2_and_binds_weaker_than_equal(void **state)
{
    (void)state;
    assert_int_equal(rig_value("2 & 2 == 2"), 0);
    assert_int_equal(rig_value("1 & 3 == 3"), 1);
}

static void test_c3_c4_c8_unary_operators(void **state)
{
    (void)state;
    assert_true(rig_value("0 - 1") == UINT64_MAX);
    assert_int_equal(rig_value("~0 >> 63"), 1);
    assert_int_equal(rig_value("!5"), 0);
    assert_int_equal(rig_value("!!5"), 1);
    assert_true(rig_value("-1") == UINT64_MAX);
    assert_int_equal(rig_value("- -1"), 1);
    assert_int_equal(rig_value("-1 + 2"), 1);
    assert_int_equal(rig_value("!0 + 1"), 2);
    assert_int_equal(rig_value("+3"), 3);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(rig_value("010"), 10); /* there are no octal ones */
    assert_int_equal(rig_value("0x1F"), 31);
    assert_int_equal(rig_value("0XaB"), 0xab);
    assert_int_equal(rig_value("0x130U"), 0x130);
    assert_int_equal(rig_value("1ul + 2LL + 3uLL"), 6);
    assert_int_equal(rig_value("0b101"), 5);
    ONE_PROBLEM("Write32(0, 0x130U);\nWrite32(4, 1L);\n", SEQUENCE_WARNING, 1, 12, 6, "letters behind it");
    ONE_PROBLEM("Write32(0, 0b11);\n", SEQUENCE_WARNING, 1, 12, 4, "binary");
    ONE_PROBLEM("Write32(0, 12ab);\n", SEQUENCE_ERROR, 1, 12, 4, "12ab is not a number");
    ONE_PROBLEM("Write32(0, 0x);\n", SEQUENCE_ERROR, 1, 12, 2, "0x is not a number");
    ONE_PROBLEM("Write32(0, 1.5);\n", SEQUENCE_ERROR, 1, 12, 3, "1.5 is not a number");
    ONE_PROBLEM("Write32(0, 0b12);\n", SEQUENCE_ERROR, 1, 12, 4, "0b12 is not a number");
    ONE_PROBLEM("Write32(0, 'a');\n", SEQUENCE_ERROR, 1, 12, 1, "no character literals");
}

static void test_c9_more_than_64_bits(void **state)
{
    (void)state;
    assert_true(rig_value("0xFFFFFFFFFFFFFFFF") == UINT64_MAX);
    assert_true(rig_value("18446744073709551615") == UINT64_MAX);
    ONE_PROBLEM("Write32(0,\n  0x1FFFFFFFFFFFFFFFF);\n", SEQUENCE_ERROR, 2, 3, 19, "more than 64 bits");
    ONE_PROBLEM("Write32(0, 18446744073709551616);\n", SEQUENCE_ERROR, 1, 12, 20, "more than 64 bits");
}

static void test_c10_declaration_without_value(void **state)
{
    (void)state;
    ONE_PROBLEM("__var x;\nWrite32(0, x);\n", SEQUENCE_WARNING, 1, 7, 1, "it is 0");
    struct rig *r = rig_of("__var x;\nWrite32(0x1000, x + 7);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_int_equal(rig_read(r, 0x1000), 7);
    rig_free(r);
}

static void test_compound_assignment_is_said_once_a_file(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL,
                 "__var x = 6;\nx |= 1; x <<= 2; x ^= 1; x -= 1; x /= 2;\nWrite32(0x1000, x);\n");
    rig_sequence(r, "U", NULL, "__var x = 6;\nx += 1;\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 2, 3, 2, "|= is not in the specification");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_int_equal(rig_read(r, 0x1000), 14);
    rig_free(r);
}

static void test_r17_assignment_as_a_value(void **state)
{
    (void)state;
    ONE_PROBLEM("__var a = 1;\n__var b = 2;\na = b = 7;\n", SEQUENCE_WARNING, 3, 7, 1, "used as a value");
    ONE_PROBLEM("__var v = 0;\n@while ((v = Read32(4)) & 2) == 0\n@begin\n@end\n", SEQUENCE_WARNING, 2, 12, 1,
                "is '==' meant?");
    ONE_PROBLEM("__var x = 5;\n@if x = 0\n@begin\n@end\n", SEQUENCE_WARNING, 2, 7, 1, "is '==' meant?");
    struct rig *r = rig_of("__var a = 1;\n__var b = 2;\na = b = 7;\nWrite32(0x10, a);\nWrite32(0x14, b);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 10 7\nW32 14 7\n");
    rig_free(r);
    r = rig_of("__var n = 0;\n@while (n = n + 1) < 4\n@begin\nWrite32(0x30, n);\n@end\nWrite32(0x34, n);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 30 1\nW32 30 2\nW32 30 3\nW32 34 4\n");
    rig_free(r);
}

static void test_what_cannot_be_assigned_to(void **state)
{
    (void)state;
    ONE_PROBLEM("0 = 5;\n", SEQUENCE_ERROR, 1, 1, 1, "cannot be assigned to");
    ONE_PROBLEM("__var x = 1;\nx + 1 = 5;\n", SEQUENCE_ERROR, 2, 1, 5, "cannot be assigned to");
    ONE_PROBLEM("Read32(0) = 5;\n", SEQUENCE_ERROR, 1, 1, 9, "cannot be assigned to");
    ONE_PROBLEM("(__protocol) = 5;\n", SEQUENCE_ERROR, 1, 2, 10, "cannot be assigned to");
}

static void test_semicolons_that_are_missing(void **state)
{
    (void)state;
    ONE_PROBLEM("Write32(0, 1);\nWrite32(4, 2)", SEQUENCE_WARNING, 2, 14, 1, "before the end of the text");
    ONE_PROBLEM("Write32(0, 1)\nWrite32(4, 2);\n", SEQUENCE_WARNING, 2, 1, 7, "before this line");
    ONE_PROBLEM("Write32(0, 1) Write32(4, 2);\n", SEQUENCE_ERROR, 1, 15, 7, "expected ';', not 'Write32'");
    NO_PROBLEM("Write32(0, 1); Write32(4, 2);;\n;");
}

static void test_c32_signs_in_strings(void **state)
{
    (void)state;
    NO_PROBLEM("Message(0, \"a;b // c ) d /* e\"); Write32(0, 1);\n");
    struct rig *r = rig_of("Message(0, \"a;b // c ) d\"); Write32(0, 1);\n");
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->said, "0 a;b // c ) d\n");
    assert_string_equal(r->log, "SAID a;b // c ) d\nW32 0 1\n");
    rig_free(r);
    ONE_PROBLEM("Message(0, \"abc);\nWrite32(0, 1);\n", SEQUENCE_ERROR, 1, 12, 6, "does not end on its line");
    ONE_PROBLEM("Message(0, \"a\" + \"b\");\n", SEQUENCE_ERROR, 1, 16, 1, "cannot be put together");
    ONE_PROBLEM("Message(0, \"a\" \"b\");\n", SEQUENCE_ERROR, 1, 16, 3, "cannot be put together");
    ONE_PROBLEM("__var x = \"a\";\n", SEQUENCE_ERROR, 1, 11, 3, "only be an argument");
}

static void test_c33_comments_and_line_ends(void **state)
{
    (void)state;
    NO_PROBLEM("//// begin //\nWrite32(0, 1); // one\n\tWrite32(4,\t2);\r\nWrite32(8, 3);\r\n// the end");
    NO_PROBLEM("// nothing else");
    NO_PROBLEM("Write32(0, 1 // so\n);\n");
}

static void test_c33_block_comment_is_an_error_with_the_files_line(void **state)
{
    (void)state;
    ONE_PROBLEM("Write32(0, 1);\n  /* two\n lines */\nWrite32(4, 2);\n", SEQUENCE_ERROR, 2, 3, 2,
                "expected '//'");
    ONE_PROBLEM("Write32(0, 1 /* in it */);\n", SEQUENCE_ERROR, 1, 14, 2, "expected '//'");
    ONE_PROBLEM("Write32(0, 1);\n/* without an end; Write32(\n", SEQUENCE_ERROR, 2, 1, 2, "expected '//'");
}

static void test_c33_places_are_those_of_the_marks(void **state)
{
    (void)state;
    static const char text[] = "Write32(0, a << b);\n";
    const struct sequence_mark marks[] = {{0, 40, 9}, {14, 40, 26}, {15, 40, 30}};
    const struct sequence_text t = {text, sizeof(text) - 1, 1, marks, 3};
    struct rig *r = rig_new();
    const struct sequence_head head = {.name = "T", .place = {1, 39, 5}};
    assert_int_equal(sequence_set_begin(r->set, &head, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_block(r->set, &t, false, head.place, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, NULL), CORRAL_OK);
    rig_compile(r);
    assert_int_equal(r->problems.count, 2);
    assert_int_equal(r->problems.list[0].place.line, 40);
    assert_int_equal(r->problems.list[0].place.column, 20);
    assert_int_equal(r->problems.list[1].place.column, 31);
    rig_free(r);
}

static void test_a_text_of_unknown_place_is_shown_at_its_element(void **state)
{
    (void)state;
    const struct sequence_text t = {"a = 1;", 6, 1, NULL, 0};
    struct rig *r = rig_new();
    const struct sequence_head head = {.name = "T", .place = {1, 39, 5}};
    assert_int_equal(sequence_set_begin(r->set, &head, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_block(r->set, &t, false, (struct sequence_place){1, 41, 7}, NULL),
                     CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, NULL), CORRAL_OK);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 41, 7, 1, "a is not declared");
    rig_free(r);
}

static void test_columns_count_characters(void **state)
{
    (void)state;
    ONE_PROBLEM("Message(0, \"\xc3\xa4\xe2\x82\xac\"); a = 1;\n", SEQUENCE_ERROR, 1, 19, 1,
                "a is not declared");
}

static void test_c41_a_value_wider_than_its_write(void **state)
{
    (void)state;
    NO_PROBLEM("Write32(0x1000, 0x123456789);\n");
}

static void test_syntax_mistakes_say_what_was_expected(void **state)
{
    (void)state;
    ONE_PROBLEM("Write32(0, );\n", SEQUENCE_ERROR, 1, 12, 1, "expected a value, not ')'");
    ONE_PROBLEM("Write32(0 1);\n", SEQUENCE_ERROR, 1, 11, 1, "expected ',' or ')', not '1'");
    ONE_PROBLEM("__var x = (1 + 2;\n", SEQUENCE_ERROR, 1, 17, 1, "the ')' of the '(' on line 1");
    ONE_PROBLEM("__var x = 1 ? 2;\n", SEQUENCE_ERROR, 1, 16, 1, "the ':' of '?'");
    ONE_PROBLEM("__var 5 = 1;\n", SEQUENCE_ERROR, 1, 7, 1, "the name of a variable");
    ONE_PROBLEM("__var x 1;\n", SEQUENCE_ERROR, 1, 9, 1, "expected '=' or ';'");
    ONE_PROBLEM("__var x = 1 +", SEQUENCE_ERROR, 1, 14, 1, "but the text ends here");
    ONE_PROBLEM("if (1);\n", SEQUENCE_ERROR, 1, 1, 2, "controls outside of the text");
    ONE_PROBLEM("@if 1 2\n@begin\n@end\n", SEQUENCE_ERROR, 1, 7, 1, "the end of the expression");
    ONE_PROBLEM("@if  \n@begin\n@end\n", SEQUENCE_ERROR, 2, 1, 1, "an empty if");
    ONE_PROBLEM("@if 1;\n@begin\n@end\n", SEQUENCE_WARNING, 1, 6, 1, "no ';' behind the expression");
    ONE_PROBLEM("Write32(0, 1 &amp; 2);\n", SEQUENCE_ERROR, 1, 14, 5, "'&amp;' is not decoded");
    ONE_PROBLEM("__var x = 1;\nx;\n", SEQUENCE_WARNING, 2, 1, 1, "no effect");
}

static void test_reading_goes_on_behind_a_mistake(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, "__var a = (;\nWrite32(0, a);\nb = 1;\nWrite32(0;\nc = 2;\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 4);
    assert_int_equal(r->problems.list[0].place.line, 1);
    assert_int_equal(r->problems.list[1].place.line, 3);
    assert_int_equal(r->problems.list[2].place.line, 4);
    assert_int_equal(r->problems.list[3].place.line, 5);
    rig_free(r);
}

static void test_c39_eleven_controls(void **state)
{
    (void)state;
    for (unsigned depth = 10; depth <= 12; depth++) {
        char text[512] = "";
        for (unsigned i = 0; i < depth; i++)
            strcat(text, "@if 1\n@begin\n");
        for (unsigned i = 0; i < depth; i++)
            strcat(text, "@end\n");
        if (depth == 10)
            NO_PROBLEM(text);
        else
            ONE_PROBLEM(text, SEQUENCE_ERROR, 22, 1, 1, "nested more than 10 deep");
    }
}

/* ---- hostile text */

static struct rig *compiled(const char *text, size_t size)
{
    struct rig *r = rig_new();
    const struct sequence_mark mark = {0, 1, 1};
    const struct sequence_text t = {text, size, 1, &mark, 1};
    const struct sequence_head head = {.name = "T", .place = {1, 1, 1}};
    assert_int_equal(sequence_set_begin(r->set, &head, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_block(r->set, &t, false, head.place, &r->d), CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, NULL), CORRAL_OK);
    r->program = sequence_compile(r->set, &r->setting, &r->problems, &r->d);
    return r;
}

static char *repeated(const char *what, size_t count, const char *begin, size_t *size)
{
    size_t n = strlen(what), b = strlen(begin);
    char *text = malloc(b + n * count + 1);
    assert_non_null(text);
    memcpy(text, begin, b);
    for (size_t i = 0; i < count; i++)
        memcpy(text + b + i * n, what, n);
    *size = b + n * count;
    text[*size] = '\0';
    return text;
}

static void test_deep_expressions_are_refused(void **state)
{
    (void)state;
    static const char *const hostile[] = {
        "(", "-", "!", "1?", "1?1:", "Read32(", "x=", "1+(", "1||1&&1|1^1&1==1<1<<1+1*("};
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        size_t size;
        char *text = repeated(hostile[i], 100000, "__var x = 0; x = ", &size);
        struct rig *r = compiled(text, size);
        assert_non_null(r->program);
        if (!problem_with(r, "nested more than 200 deep"))
            fail_msg("%s", hostile[i]);
        rig_free(r);
        free(text);
    }
}

static void test_long_chains_are_refused_since_their_trees_are_high(void **state)
{
    (void)state;
    size_t size;
    char *text = repeated("+1", 100000, "__var x = 1", &size);
    struct rig *r = compiled(text, size);
    assert_non_null(problem_with(r, "nested more than 200 deep"));
    rig_free(r);
    free(text);
    text = repeated("+1", 150, "__var x = 1", &size);
    r = compiled(text, size);
    assert_int_equal(r->problems.errors, 0);
    rig_free(r);
    free(text);
}

static void test_much_text_is_bounded(void **state)
{
    (void)state;
    size_t size;
    char *text = repeated("x=1;", 1000000, "__var x=0;", &size);
    struct rig *r = compiled(text, size);
    assert_null(r->program);
    assert_int_equal(r->d.code, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(r->d.message, "too large"));
    rig_free(r);
    free(text);
    text = repeated("y=1;", 1000000, "", &size); /* a mistake each */
    r = compiled(text, size);
    assert_non_null(r->program);
    assert_int_equal(r->problems.errors, 51);
    assert_non_null(problem_with(r, "50 mistakes: the rest is not read"));
    rig_free(r);
    free(text);
    text = repeated(" ", SEQUENCE_MAX_TEXT, "", &size);
    r = compiled(text, size);
    assert_non_null(r->program);
    assert_int_equal(r->problems.count, 0);
    rig_free(r);
    free(text);
}

static void test_any_bytes_are_told_safely(void **state)
{
    (void)state;
    static const char *const words[] = {"\0",   "\x01",     "\x1b",         "\x7f",
                                        "\xff", "\xc3\xa4", "\xe2\x80\xae", "@"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct rig *r = compiled(words[i], i ? strlen(words[i]) : 1);
        assert_int_equal(r->problems.errors, 1);
        for (const char *c = r->problems.list[0].text; *c; c++)
            assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
        rig_free(r);
    }
    struct rig *r = compiled("Message(0, \"a\0b\");", 18);
    assert_non_null(problem_with(r, "a NUL byte in a string"));
    rig_free(r);
}

static void test_long_names(void **state)
{
    (void)state;
    size_t size;
    char *text = repeated("n", 64, "__var ", &size);
    struct rig *r = compiled(text, size);
    assert_non_null(problem_with(r, "has more than 63 characters"));
    rig_free(r);
    text[size - 1] = ';';
    r = compiled(text, size);
    assert_int_equal(r->problems.errors, 0);
    rig_free(r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c1_precedence),
        cmocka_unit_test(test_c2_and_binds_weaker_than_equal),
        cmocka_unit_test(test_c3_c4_c8_unary_operators),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_c9_more_than_64_bits),
        cmocka_unit_test(test_c10_declaration_without_value),
        cmocka_unit_test(test_compound_assignment_is_said_once_a_file),
        cmocka_unit_test(test_r17_assignment_as_a_value),
        cmocka_unit_test(test_what_cannot_be_assigned_to),
        cmocka_unit_test(test_semicolons_that_are_missing),
        cmocka_unit_test(test_c32_signs_in_strings),
        cmocka_unit_test(test_c33_comments_and_line_ends),
        cmocka_unit_test(test_c33_block_comment_is_an_error_with_the_files_line),
        cmocka_unit_test(test_c33_places_are_those_of_the_marks),
        cmocka_unit_test(test_a_text_of_unknown_place_is_shown_at_its_element),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_c41_a_value_wider_than_its_write),
        cmocka_unit_test(test_syntax_mistakes_say_what_was_expected),
        cmocka_unit_test(test_reading_goes_on_behind_a_mistake),
        cmocka_unit_test(test_c39_eleven_controls),
        cmocka_unit_test(test_deep_expressions_are_refused),
        cmocka_unit_test(test_long_chains_are_refused_since_their_trees_are_high),
        cmocka_unit_test(test_much_text_is_bounded),
        cmocka_unit_test(test_any_bytes_are_told_safely),
        cmocka_unit_test(test_long_names),
    };
    return cmocka_run_group_tests_name("sequence-parse", tests, NULL, NULL);
}
