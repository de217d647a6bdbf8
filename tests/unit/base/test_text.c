/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning of text from outside: every rule of INTERFACE.md "The log, exactly", Text, and the firmware-log
 * sheet 8, cases 14 to 19. Inputs lie in a buffer of exactly their size, so that the sanitizer sees a read
 * past the record.
 */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct text_case {
    const char *in;
    size_t size;
    const char *want;
};

/* sizeof, so that a case may hold a NUL. */
#define CASE(in, want)           \
    {                            \
        in, sizeof(in) - 1, want \
    }

typedef size_t clean_fn(const uint8_t *in, size_t size, char *out, size_t out_size);

static void check(clean_fn *clean, const struct text_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = cases[i].size;
        uint8_t *in = malloc(size ? size : 1);
        char *out = malloc(TEXT_CLEAN_MAX(size));
        assert_non_null(in);
        assert_non_null(out);
        memcpy(in, cases[i].in, size);
        size_t length = clean(size ? in : NULL, size, out, TEXT_CLEAN_MAX(size));
        assert_string_equal(out, cases[i].want);
        assert_int_equal(length, strlen(cases[i].want));
        free(in);
        free(out);
    }
}

#define CHECK(clean, cases) check(clean, cases, sizeof(cases) / sizeof((cases)[0]))

static void plain_text_stays(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("", ""),
        CASE("hello, world", "hello, world"),
        CASE("a\tb", "a\tb"),
        CASE("%s%n%p {} \\x00", "%s%n%p {} \\x00"), /* a backslash is not escaped */
        CASE("21\xC2\xB0"
             "C \xE2\x82\xAC \xF0\x9F\x98\x80",
             "21\xC2\xB0"
             "C \xE2\x82\xAC \xF0\x9F\x98\x80"),
    };
    CHECK(text_clean_log, cases);
}

static void case_14_no_nul_and_case_15_nul_inside(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("bounded by its size", "bounded by its size"), CASE("seen\0hidden", "seen"),
        CASE("\0hidden", ""),
        CASE("line\r\n\0behind", "line"), /* the CR LF before the NUL is the final one */
    };
    CHECK(text_clean_log, cases);
}

static void one_final_line_end_goes(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("a\r\n", "a"),
        CASE("\r\n", ""),
        CASE("a\r\n\r\n", "a\\r\\n"),
        CASE("a\n", "a\\n"),
        CASE("a\r", "a\\r"),
        CASE("a\n\r", "a\\n\\r"),
        CASE("a\r\r\n", "a\\r"),
        CASE("a\r\n\x1b[0m", "a"), /* final once the colour is gone */
        CASE("a\r\x1b[0m\n\x1b[0m", "a"),
        CASE("a\r\n\x1b[0mb", "a\\r\\nb"),
    };
    CHECK(text_clean_log, cases);
}

static void case_16_csi(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("\x1b[1;31m<err> fan\x1b[0m", "<err> fan"),
        CASE("a\x1b[mb", "ab"),
        CASE("a\x1b[?25hb", "ab"),
        CASE("a\x1b[0 qb", "ab"), /* with an intermediate byte */
        CASE("a\x1b[38;5;196mb", "ab"),
        CASE("a\x1b[@b\x1b[~c", "abc"), /* first and last final byte */
        CASE("a\x1b[", "a"),            /* unfinished */
        CASE("a\x1b[12;", "a"),
        CASE("a\x1b[31\nb", "a\\nb"), /* ends before a byte outside 0x20..0x7E */
        CASE("a\x1b[31\x7f", "a\\x7f"),
        CASE("a\x1b[31\xC3\xA9", "a\xC3\xA9"),
        CASE("a\x1b[31\x1b[0mb", "ab"),
        CASE("a\x1b[3\0mb", "a"),
    };
    CHECK(text_clean_log, cases);
}

static void case_16_eight_bit_csi(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("a\x9b"
             "31mb",
             "ab"),
        CASE("a\x9b", "a"),
        CASE("\xC5\x9B ok", "\xC5\x9B ok"), /* inside a letter it is no CSI */
        CASE("a\xC2\x9B"
             "31m",
             "a\\xc2\\x9b31m"), /* U+009B in UTF-8 is a character, escaped */
        CASE("a\x9d"
             "0;title\x07",
             "a\\x9d0;title\\x07"), /* no other C1 byte starts a sequence */
        CASE("a\x90"
             "q",
             "a\\x90q"),
        CASE("\xE2\x9B", "\\xe2"), /* a cut letter, then a CSI without end */
    };
    CHECK(text_clean_log, cases);
}

static void case_16_strings(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("a\x1b]0;title\x07"
             "b",
             "ab"),
        CASE("a\x1b]0;title\x1b\\b", "ab"),
        CASE("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        CASE("a\x1bPq#0\x1b\\b", "ab"),
        CASE("a\x1bXsos\x07"
             "b",
             "ab"),
        CASE("a\x1b^pm\x1b\\b", "ab"),
        CASE("a\x1b_apc\x1b\\b", "ab"),
        CASE("a\x1b]never ends", "a"),
        CASE("a\x1bP", "a"),
        CASE("a\x1b]x\x1by\x1b[0m\x07z", "az"), /* an ESC inside that is no ESC \ does not end it */
        CASE("a\x1b]x\x9cy\x07z", "az"),        /* nor does the 8-bit string terminator */
        CASE("a\x1b]x\r\ny", "a"),
        CASE("a\x1b]x\x1b", "a"),
        CASE("a\x1b]x\0\x07z", "a"),
    };
    CHECK(text_clean_log, cases);
}

static void case_16_other_escapes(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("a\x1b", "a"), /* a lone final ESC */
        CASE("a\x1b\0b", "a"),
        CASE("a\x1b(Bb", "ab"), /* intermediate and final */
        CASE("a\x1b#8b", "ab"),
        CASE("a\x1b $Fb", "ab"),
        CASE("a\x1b"
             "7b\x1b"
             "8c",
             "abc"),
        CASE("a\x1b=b\x1b>c\x1b~d", "abcd"),
        CASE("a\x1b\\b", "ab"),
        CASE("a\x1b\x1b[0mb", "a\\x1bb"), /* the first starts nothing */
        CASE("a\x1b\nb", "a\\x1b\\nb"),
        CASE("a\x1b\x7f", "a\\x1b\\x7f"),
        CASE("a\x1b\xC3\xA9", "a\\x1b\xC3\xA9"),
        CASE("a\x1b(\nb", "a\\x1b(\\nb"),
    };
    CHECK(text_clean_log, cases);
}

static void case_17_line_forging(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("ok\r\n[00:00] <err> forged", "ok\\r\\n[00:00] <err> forged"),
        CASE("a\x0b\x0c"
             "b",
             "a\\x0b\\x0cb"),
        CASE("a\x08\x08"
             "b",
             "a\\x08\\x08b"),
    };
    CHECK(text_clean_log, cases);
}

static void case_19_invalid_and_unsafe_characters(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("\xff\xfe", "\\xff\\xfe"),
        CASE("\x80", "\\x80"),
        CASE("\xC0\xAF", "\\xc0\\xaf"), /* over-long */
        CASE("\xC1\xBF", "\\xc1\\xbf"),
        CASE("\xE0\x80\xAF", "\\xe0\\x80\\xaf"),
        CASE("\xF0\x80\x80\xAF", "\\xf0\\x80\\x80\\xaf"),
        CASE("\xED\xA0\x80", "\\xed\\xa0\\x80"),          /* a surrogate */
        CASE("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"), /* past U+10FFFF */
        CASE("\xF5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"),
        CASE("\xE2\x82", "\\xe2\\x82"), /* cut */
        CASE("\xE2\x82x", "\\xe2\\x82x"),
        CASE("\x01\x1f\x7f", "\\x01\\x1f\\x7f"),
        CASE("\xC2\x80\xC2\x9F\xC2\xA0", "\\xc2\\x80\\xc2\\x9f\xC2\xA0"),
        CASE("\xD8\x9C", "\\xd8\\x9c"), /* U+061C */
        CASE("\xE2\x80\x8E\xE2\x80\x8F", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f"),
        CASE("\xE2\x80\xAA\xE2\x80\xAE", "\\xe2\\x80\\xaa\\xe2\\x80\\xae"),
        CASE("\xE2\x81\xA6\xE2\x81\xA9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"),
        CASE("\xE2\x80\xA8\xE2\x80\xA9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"),
        /* their neighbours are harmless */
        CASE("\xE2\x80\x8D\xE2\x80\x90", "\xE2\x80\x8D\xE2\x80\x90"),
        CASE("\xE2\x80\xA7\xE2\x80\xAF", "\xE2\x80\xA7\xE2\x80\xAF"),
        CASE("\xE2\x81\xA5\xE2\x81\xAA", "\xE2\x81\xA5\xE2\x81\xAA"),
        CASE("\xD8\x9B\xD8\x9D", "\xD8\x9B\xD8\x9D"),
        CASE("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF", "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"),
    };
    CHECK(text_clean_log, cases);
}

static void escape_keeps_sequences_visible(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        CASE("a\x1b[31mb", "a\\x1b[31mb"),
        CASE("a\x9b"
             "31m",
             "a\\x9b31m"),
        CASE("name\0x", "name"),
        CASE("two\nlines", "two\\nlines"),
        CASE("end\r\n", "end"),
        CASE("\xC3\xA9", "\xC3\xA9"),
    };
    CHECK(text_escape, cases);
}

/* With less room than needed, the text ends at a whole character and nothing is written behind the room. */
static void short_output_is_cut_at_a_character(void **state)
{
    (void)state;
    static const uint8_t in[] = "a\xE2\x82\xAC\x01z";
    static const char *const want[] = {"",
                                       "a",
                                       "a",
                                       "a",
                                       "a\xE2\x82\xAC",
                                       "a\xE2\x82\xAC",
                                       "a\xE2\x82\xAC",
                                       "a\xE2\x82\xAC",
                                       "a\xE2\x82\xAC\\x01",
                                       "a\xE2\x82\xAC\\x01z"};
    for (size_t room = 1; room <= sizeof(want) / sizeof(want[0]); room++) {
        char *out = malloc(room);
        assert_non_null(out);
        size_t length = text_clean_log(in, sizeof(in) - 1, out, room);
        assert_string_equal(out, want[room - 1]);
        assert_int_equal(length, strlen(want[room - 1]));
        free(out);
    }
    assert_int_equal(text_clean_log(in, sizeof(in) - 1, NULL, 0), 0);
    assert_int_equal(text_escape(in, sizeof(in) - 1, NULL, 0), 0);
}

/* Whatever comes in, what goes out is valid UTF-8, one line, and has no control character but TAB. */
static void any_bytes_give_safe_text(void **state)
{
    (void)state;
    static const uint8_t alphabet[] = {0x1b, '[',  ']',  '\\', 'm',  '\r', '\n',
                                       0x9b, 0xc2, 0xe2, 0x80, 0xa8, 'a',  7};
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        uint8_t in[24];
        char out[TEXT_CLEAN_MAX(sizeof(in))];
        for (size_t i = 0; i < sizeof(in); i++) {
            seed = seed * 1664525u + 1013904223u;
            in[i] = seed >> 31 ? (uint8_t)(seed >> 16) : alphabet[(seed >> 16) % sizeof(alphabet)];
        }
        size_t length = text_clean_log(in, sizeof(in), out, sizeof(out));
        assert_true(length < sizeof(out));
        assert_int_equal(strlen(out), length);
        for (size_t i = 0; i < length;) {
            uint32_t code = 0;
            size_t n = text_utf8_decode((const uint8_t *)out + i, length - i, &code);
            assert_true(n > 0);
            assert_true(code == '\t' || (code >= 0x20 && code < 0x7f) || code > 0x9f);
            assert_true(code != 0x2028 && code != 0x2029);
            i += n;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(case_14_no_nul_and_case_15_nul_inside),
        cmocka_unit_test(one_final_line_end_goes),
        cmocka_unit_test(case_16_csi),
        cmocka_unit_test(case_16_eight_bit_csi),
        cmocka_unit_test(case_16_strings),
        cmocka_unit_test(case_16_other_escapes),
        cmocka_unit_test(case_17_line_forging),
        cmocka_unit_test(case_19_invalid_and_unsafe_characters),
        cmocka_unit_test(escape_keeps_sequences_visible),
        cmocka_unit_test(short_output_is_cut_at_a_character),
        cmocka_unit_test(any_bytes_give_safe_text),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
