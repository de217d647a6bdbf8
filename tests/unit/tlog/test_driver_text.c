/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's text for the kernel log against the host tool's: what sequences there are, where they end and
 * what a final line end is must be the same in both; the driver alone escapes all that is not ASCII.
 * Firmware-log sheet 8, inputs 14 to 19.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

/* kernel/tlog_core_text.c needs of the kernel no more than this. */
#define TLOG_CORE_H
typedef uint8_t u8;
typedef uint32_t u32;
#define scnprintf snprintf
size_t tlog_text_size(const u8 *text, size_t size);
size_t tlog_text_clean(char *out, size_t room, const u8 *text, size_t size);
const char *tlog_source_text(u8 source, char *room, size_t size);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
/* NOLINTNEXTLINE(bugprone-suspicious-include): the driver's own file, built for the host */
#include "kernel/tlog_core_text.c"
#pragma GCC diagnostic pop

#define SIZE_MOST 64u

static void check(const uint8_t *text, size_t size)
{
    char host[TEXT_CLEAN_MAX(SIZE_MOST)], want[4 * sizeof(host)], got[sizeof(want)];
    size_t at = 0;
    uint8_t *exact = malloc(size ? size : 1); /* the sanitizer sees a read past it */
    assert_non_null(exact);
    memcpy(exact, text, size);
    text_clean_log(exact, size, host, sizeof(host));
    for (const char *c = host; *c; c++)
        at += (size_t)snprintf(want + at, sizeof(want) - at, (uint8_t)*c < 0x80 ? "%c" : "\\x%02x",
                               (uint8_t)*c);
    want[at] = '\0';
    size_t length = tlog_text_clean(got, sizeof(got), exact, tlog_text_size(exact, size));
    free(exact);
    assert_string_equal(got, want);
    assert_int_equal(length, at);
}

static void chosen_texts_are_as_the_host_has_them(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "plain",    "a\tb",          "end\r\n",           "two\r\n\r\n",      "\r",           "a\r",
        "a\n",      "a\r\r\n",       "a\r\n\x1b[0m",      "a\r\n\x1b[0m\r\n", "a\r\x1b[0m\n", "x\x1b",
        "x\x1b[31", "x\x1b[31\x80m", "x\x1b]0;t\x07y",    "x\x1bPq\x1b\\y",   "x\x1b]0;t",    "\xc2\23331mx",
        "\23331mx", "\xe2\x80\xa8",  "\xf0\x9f\x98\x80",  "\xed\xa0\x80",     "\xc0\xaf",     "\x1b(Bx",
        "\x1b#8x",  "a\r\nb\r\n",    "[9.9] <err> f\r\n", "\x7f\x01\x1f",     "%s%n\\x41",    "a\x1b\x1b[0mb",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check((const uint8_t *)texts[i], strlen(texts[i]));
    check((const uint8_t *)"seen\0hidden", 11);
}

/* Bytes that matter, in random order. */
static void random_texts_are_as_the_host_has_them(void **state)
{
    (void)state;
    static const uint8_t pool[] = {0x1b, 0x1b, '[',  ']',  'P',  'X',  '^',  '_',  '\\', 'm',  '0',
                                   ';',  '(',  '#',  0x07, '\r', '\r', '\n', '\n', '\t', 0x7f, 0x01,
                                   0x9b, 0x9b, 0xc2, 0xe2, 0x80, 0xa8, 0xed, 0xa0, 0xf0, 0x9f, 0x98,
                                   0xff, 'a',  ' ',  0x20, 0x3f, 0x40, 0x7e, 0};
    uint32_t seed = 7;
    for (int n = 0; n < 200000; n++) {
        uint8_t text[SIZE_MOST];
        seed = seed * 1664525u + 1013904223u;
        size_t size = (seed >> 16) % 24;
        for (size_t i = 0; i < size; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = pool[(seed >> 16) % sizeof(pool)];
        }
        check(text, size);
    }
}

static void little_room_is_never_left(void **state)
{
    (void)state;
    static const char text[] = "ab\xff\r\nc\x01";
    for (size_t room = 1; room < 24; room++) {
        char *out = malloc(room);
        assert_non_null(out);
        size_t size = tlog_text_clean(out, room, (const u8 *)text, sizeof(text) - 1);
        assert_true(size < room && strlen(out) == size);
        assert_true(strncmp(out, "ab\\xff\\r\\nc\\x01", size) == 0);
        free(out);
    }
}

static void case_21_sources_without_a_name(void **state)
{
    (void)state;
    char room[8];
    assert_string_equal(tlog_source_text(0, room, sizeof(room)), "SMC");
    assert_string_equal(tlog_source_text(1, room, sizeof(room)), "DMC");
    assert_string_equal(tlog_source_text(2, room, sizeof(room)), "src2");
    assert_string_equal(tlog_source_text(255, room, sizeof(room)), "src255");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_texts_are_as_the_host_has_them),
        cmocka_unit_test(random_texts_are_as_the_host_has_them),
        cmocka_unit_test(little_room_is_never_left),
        cmocka_unit_test(case_21_sources_without_a_name),
    };
    return cmocka_run_group_tests_name("driver_text", tests, NULL, NULL);
}
