/* SPDX-License-Identifier: Apache-2.0 */
/* The frame machine: cross-trigger sheet 10.1 and case D24, however the stream is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdb/frame.h"

/* Feed `size` bytes in pieces of `piece`, and write what came as letters: P packet, A ack, N nak, I
 * interrupt, D damaged, L too long. The last packet is in f. */
static void feed(struct gdb_frame *f, const void *bytes, size_t size, size_t piece, char *items, size_t room)
{
    static const char letters[] = {' ', 'P', 'A', 'N', 'I', 'D', 'L'};
    const uint8_t *at = bytes;
    size_t n = 0;
    while (size) {
        size_t give = size < piece ? size : piece, used = 0;
        enum gdb_item item = gdb_frame_take(f, at, give, &used);
        assert_true(used <= give && used > 0);
        if (item != GDB_ITEM_NONE) {
            assert_true(n + 1 < room);
            items[n++] = letters[item];
        } else {
            assert_int_equal(used, give);
        }
        at += used;
        size -= used;
    }
    items[n] = '\0';
}

static struct gdb_frame *new_frame(void)
{
    struct gdb_frame *f = malloc(sizeof(*f));
    assert_non_null(f);
    gdb_frame_start(f);
    return f;
}

static void expect(const void *bytes, size_t size, const char *want)
{
    for (size_t piece = 1; piece <= size; piece++) {
        struct gdb_frame *f = new_frame();
        char items[64];
        feed(f, bytes, size, piece, items, sizeof(items));
        assert_string_equal(items, want);
        free(f);
    }
}

#define EXPECT(text, want) expect(text, sizeof(text) - 1, want)

static void test_packets_and_acknowledges(void **state)
{
    (void)state;
    EXPECT("+$g#67-$?#3f", "APNP");
    EXPECT("$#00", "P");
    EXPECT("$m0,4#fd\003$c#63", "PIP");
}

static void test_d24_checksum_error_is_told(void **state)
{
    (void)state;
    EXPECT("$g#68$g#67", "DP");
    EXPECT("$g#zz$g#67", "DP");
}

static void test_d24_interrupt_inside_a_packet_is_data(void **state)
{
    (void)state;
    struct gdb_frame *f = new_frame();
    char items[8];
    static const char stream[] = "$X0,1:\003#3a";
    uint8_t sum = 0;
    for (const char *p = "X0,1:\003"; *p; p++)
        sum = (uint8_t)(sum + (uint8_t)*p);
    char whole[32];
    snprintf(whole, sizeof(whole), "$X0,1:\003#%02x", sum);
    assert_int_equal(strlen(whole), sizeof(stream) - 1);
    feed(f, whole, strlen(whole), 1, items, sizeof(items));
    assert_string_equal(items, "P");
    assert_int_equal(f->size, 6);
    assert_int_equal(f->payload[5], 3);
    free(f);
}

static void test_d24_escapes_of_all_values(void **state)
{
    (void)state;
    char payload[256];
    uint8_t wire[GDB_FRAME_ROOM(sizeof(payload))];
    for (int i = 0; i < 256; i++)
        payload[i] = (char)i;
    size_t n = gdb_frame_put(wire, sizeof(wire), payload, sizeof(payload));
    assert_int_equal(n, sizeof(payload) + 4 + 4); /* four bytes are escaped */
    struct gdb_frame *f = new_frame();
    char items[8];
    feed(f, wire, n, 3, items, sizeof(items));
    assert_string_equal(items, "P");
    assert_int_equal(f->size, sizeof(payload));
    assert_memory_equal(f->payload, payload, sizeof(payload));
    free(f);
}

static void test_an_escape_before_the_end_escapes_nothing(void **state)
{
    (void)state;
    EXPECT("$a}#de", "P");
    EXPECT("$a}#de$g#67", "PP");
}

static void test_a_packet_in_a_packet_is_a_new_one(void **state)
{
    (void)state;
    EXPECT("$m0,40$g#67", "DP");
}

static void test_d24_a_packet_too_long_is_refused_and_the_next_is_served(void **state)
{
    (void)state;
    struct gdb_frame *f = new_frame();
    size_t size = GDB_PACKET_MAX + 100;
    char *stream = malloc(size + 20);
    char items[8];
    assert_non_null(stream);
    memset(stream, 'a', size);
    stream[0] = '$';
    uint8_t sum = 0;
    for (size_t i = 1; i < size; i++)
        sum = (uint8_t)(sum + 'a');
    int tail = snprintf(stream + size, 20, "#%02x$g#67", sum);
    feed(f, stream, size + (size_t)tail, 4096, items, sizeof(items));
    assert_string_equal(items, "LP");
    assert_int_equal(f->size, 1);
    /* exactly as long as there is room for is good */
    stream[GDB_PACKET_MAX + 1] = '#';
    sum = 0;
    for (size_t i = 1; i <= GDB_PACKET_MAX; i++)
        sum = (uint8_t)(sum + 'a');
    snprintf(stream + GDB_PACKET_MAX + 2, 4, "%02x", sum);
    feed(f, stream, GDB_PACKET_MAX + 4, 4096, items, sizeof(items));
    assert_string_equal(items, "P");
    assert_int_equal(f->size, GDB_PACKET_MAX);
    free(stream);
    free(f);
}

static void test_without_checks_any_sum_will_do(void **state)
{
    (void)state;
    struct gdb_frame *f = new_frame();
    char items[8];
    f->checks = false;
    feed(f, "$g#00$g#zz", 10, 2, items, sizeof(items));
    assert_string_equal(items, "PP");
    free(f);
}

static void test_junk_between_packets_is_counted(void **state)
{
    (void)state;
    struct gdb_frame *f = new_frame();
    char items[8];
    feed(f, "GET / HTTP\r\n\r\n$g#67", 19, 5, items, sizeof(items));
    assert_string_equal(items, "P");
    assert_int_equal(f->junk, 14);
    free(f);
}

static void test_a_reply_without_room_is_no_half_reply(void **state)
{
    (void)state;
    uint8_t out[16];
    assert_int_equal(gdb_frame_put(out, sizeof(out), "OK", 2), 6);
    assert_memory_equal(out, "$OK#9a", 6);
    assert_int_equal(gdb_frame_put(out, sizeof(out), "", 0), 4);
    assert_memory_equal(out, "$#00", 4);
    assert_int_equal(gdb_frame_put(out, 3, "", 0), 0);
    for (size_t room = 0; room < 10; room++)
        assert_int_equal(gdb_frame_put(out, room, "$$$", 3), 0);
    assert_int_equal(gdb_frame_put(out, 10, "$$$", 3), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets_and_acknowledges),
        cmocka_unit_test(test_d24_checksum_error_is_told),
        cmocka_unit_test(test_d24_interrupt_inside_a_packet_is_data),
        cmocka_unit_test(test_d24_escapes_of_all_values),
        cmocka_unit_test(test_an_escape_before_the_end_escapes_nothing),
        cmocka_unit_test(test_a_packet_in_a_packet_is_a_new_one),
        cmocka_unit_test(test_d24_a_packet_too_long_is_refused_and_the_next_is_served),
        cmocka_unit_test(test_without_checks_any_sum_will_do),
        cmocka_unit_test(test_junk_between_packets_is_counted),
        cmocka_unit_test(test_a_reply_without_room_is_no_half_reply),
    };
    return cmocka_run_group_tests_name("gdb-frame", tests, NULL, NULL);
}
