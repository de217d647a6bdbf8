/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and replies of a gdb stub: pure parts. Cross-trigger sheet 10.1; case D24. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/rsp_frame.h"
#include "link/rsp_reply.h"

static enum rsp_frame_event feed(struct rsp_frame *f, const char *text, size_t *used)
{
    return rsp_frame_feed(f, (const uint8_t *)text, strlen(text), used);
}

static void test_a_packet_is_its_data(void **state)
{
    (void)state;
    struct rsp_frame *f = calloc(1, sizeof(*f));
    size_t used = 0;
    assert_int_equal(feed(f, "+", &used), RSP_FRAME_ACK);
    assert_int_equal(feed(f, "-", &used), RSP_FRAME_NAK);
    assert_int_equal(feed(f, "noise$OK#9a+", &used), RSP_FRAME_PACKET);
    assert_int_equal(used, 11);
    assert_string_equal((char *)f->data, "OK");
    assert_int_equal(feed(f, "$#00", &used), RSP_FRAME_PACKET);
    assert_int_equal(f->size, 0);
    assert_int_equal(feed(f, "%Stop:T05#99", &used), RSP_FRAME_NOTIFICATION);
    free(f);
}

static void test_run_lengths_and_escapes(void **state)
{
    (void)state;
    struct rsp_frame *f = calloc(1, sizeof(*f));
    size_t used = 0;
    /* '0' and then 'N' - 29 more: ' ' is 3, '*' itself 13. */
    assert_int_equal(feed(f, "$0* #7a", &used), RSP_FRAME_PACKET);
    assert_string_equal((char *)f->data, "0000");
    assert_int_equal(feed(f, "$a**b#17", &used), RSP_FRAME_PACKET);
    assert_string_equal((char *)f->data, "aaaaaaaaaaaaaab");
    assert_int_equal(feed(f, "$}\x03}]#5a", &used), RSP_FRAME_PACKET); /* '#' and '}' */
    assert_memory_equal(f->data, "#}", 2);
    assert_int_equal(feed(f, "$* #4a", &used), RSP_FRAME_BAD);     /* nothing to repeat */
    assert_int_equal(feed(f, "$0*\x1f#79", &used), RSP_FRAME_BAD); /* no count */
    assert_int_equal(feed(f, "$0*#5a", &used), RSP_FRAME_BAD);     /* cut */
    assert_int_equal(feed(f, "$0}#ad", &used), RSP_FRAME_BAD);
    free(f);
}

static void test_d24_a_wrong_checksum_is_bad_and_the_next_packet_is_not(void **state)
{
    (void)state;
    struct rsp_frame *f = calloc(1, sizeof(*f));
    size_t used = 0;
    assert_int_equal(feed(f, "$OK#9b", &used), RSP_FRAME_BAD);
    assert_int_equal(feed(f, "$OK#zz", &used), RSP_FRAME_BAD);
    assert_int_equal(feed(f, "$E01$OK#9a", &used), RSP_FRAME_PACKET); /* the first was cut */
    assert_string_equal((char *)f->data, "OK");
    free(f);
}

static void test_too_long_is_said_and_gone_over(void **state)
{
    (void)state;
    struct rsp_frame *f = calloc(1, sizeof(*f));
    size_t used = 0;
    assert_int_equal(feed(f, "$0", &used), RSP_FRAME_MORE);
    for (unsigned i = 0; i < 700; i++) /* 97 more each */
        assert_int_equal(feed(f, "*~", &used), RSP_FRAME_MORE);
    assert_true(f->size <= RSP_FRAME_MAX);
    assert_int_equal(feed(f, "#00", &used), RSP_FRAME_TOO_LONG);
    assert_int_equal(feed(f, "$OK#9a", &used), RSP_FRAME_PACKET);
    free(f);
}

static void test_what_is_written_is_read_back(void **state)
{
    (void)state;
    struct rsp_frame *f = calloc(1, sizeof(*f));
    uint8_t data[256], out[2 * 256 + 4];
    size_t used = 0;
    for (unsigned i = 0; i < 256; i++)
        data[i] = (uint8_t)i;
    size_t n = rsp_frame_write(data, 256, out, sizeof(out));
    assert_true(n > 256);
    assert_int_equal(rsp_frame_feed(f, out, n, &used), RSP_FRAME_PACKET);
    assert_int_equal(used, n);
    assert_int_equal(f->size, 256);
    assert_memory_equal(f->data, data, 256);
    assert_int_equal(rsp_frame_write(data, 256, out, 500), 0); /* no room */
    free(f);
}

static void test_hex_is_all_of_it_or_nothing(void **state)
{
    (void)state;
    uint8_t bytes[4] = {0};
    assert_true(rsp_reply_hex("0a1B", bytes, 2));
    assert_int_equal(bytes[1], 0x1B);
    assert_false(rsp_reply_hex("0a1", bytes, 2));
    assert_false(rsp_reply_hex("0a1b2c", bytes, 2));
    assert_false(rsp_reply_hex("E14", bytes, 4));
    assert_true(rsp_reply_hex("", bytes, 0));
}

static void test_stop_replies(void **state)
{
    (void)state;
    struct rsp_stop s;
    assert_true(rsp_reply_stop("T05thread:p02.2;core:1;", &s));
    assert_int_equal(s.kind, RSP_STOP_SIGNAL);
    assert_int_equal(s.signal, 5);
    assert_true(s.has_thread);
    assert_int_equal(s.thread.pid, 2);
    assert_int_equal(s.thread.tid, 2);
    assert_true(rsp_reply_stop("T05watch:20000004;thread:1;", &s));
    assert_int_equal(s.kind, RSP_STOP_WATCH);
    assert_int_equal(s.address, 0x20000004);
    assert_true(rsp_reply_stop("T05hwbreak:;0d:00000020;", &s));
    assert_int_equal(s.kind, RSP_STOP_BREAK);
    assert_true(rsp_reply_stop("S02", &s));
    assert_int_equal(s.signal, 2);
    assert_true(rsp_reply_stop("W00;process:1", &s));
    assert_int_equal(s.kind, RSP_STOP_ENDED);
    assert_true(rsp_reply_stop("X09", &s));
    static const char *const wrong[] = {"",
                                        "T",
                                        "T5",
                                        "OK",
                                        "T0gthread:1;",
                                        "T05;",
                                        "T05abc",
                                        "S02thread:1",
                                        "T05watch:;",
                                        "T05thread:zz;",
                                        "T05thread:p1;",
                                        "W0",
                                        "T05watch:11112222333344445;"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(rsp_reply_stop(wrong[i], &s));
}

static void test_thread_lists(void **state)
{
    (void)state;
    struct rsp_thread_id list[3];
    size_t count = 0;
    bool last = true;
    assert_true(rsp_reply_threads("mp1.1,p2.2", list, 3, &count, &last));
    assert_false(last);
    assert_int_equal(count, 2);
    assert_int_equal(list[1].pid, 2);
    assert_true(rsp_reply_threads("ma,b,c,d", list, 3, &count, &last)); /* more than there is room for */
    assert_int_equal(count, 3);
    assert_int_equal(list[2].tid, 0xA);
    assert_true(rsp_reply_threads("l", list, 3, &count, &last));
    assert_true(last);
    static const char *const wrong[] = {"",    "m",      "m,", "m1,",  "mp1",       "m0",
                                        "m-1", "mp-1.1", "OK", "m1 2", "m123456789"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(rsp_reply_threads(wrong[i], list, 3, &count, &last));
}

static void test_errors_and_features(void **state)
{
    (void)state;
    const char *words;
    int number;
    struct rsp_features f;
    assert_true(rsp_reply_is_error("E14", &number, &words));
    assert_int_equal(number, 0x14);
    assert_true(rsp_reply_is_error("E.core is running", &number, &words));
    assert_string_equal(words, "core is running");
    assert_false(rsp_reply_is_error("E1", &number, &words));
    assert_false(rsp_reply_is_error("E123", &number, &words)); /* memory may begin like this */
    rsp_reply_features("PacketSize=1000;multiprocess+;QStartNoAckMode-;vContSupported+;x=y;;", &f);
    assert_int_equal(f.packet_size, 0x1000);
    assert_true(f.multiprocess && f.vcont);
    assert_false(f.no_ack || f.target_xml);
    rsp_reply_features("PacketSize=123456789a", &f);
    assert_int_equal(f.packet_size, 0);
}

static void test_register_descriptions(void **state)
{
    (void)state;
    struct rsp_registers *r = calloc(1, sizeof(*r));
    rsp_reply_registers(
        "<target><!-- <reg name=\"no\" bitsize=\"32\"/> --><xi:include href='m.xml'/>"
        "<reg name=\"r0\" bitsize=\"32\" type=\"uint32\"/>\n<reg bitsize='64' name='d0' regnum='30'/>"
        "<reg name=\"pc\" bitsize=\"32\"/><reg name=\"\" bitsize=\"32\"/><reg bitsize=\"32\"/>"
        "<reg name=\"a\x1b[31m\" bitsize=\"32\"/><xi:include href=\"../x\"/><reg name=\"cut",
        r);
    assert_int_equal(r->count, 3);
    assert_string_equal(r->reg[0].name, "r0");
    assert_int_equal(r->reg[1].number, 30);
    assert_int_equal(r->reg[1].bits, 64);
    assert_int_equal(r->reg[2].number, 31); /* the next one */
    assert_int_equal(r->includes, 1);
    assert_string_equal(r->include[0], "m.xml");
    for (unsigned i = 0; i < 200; i++)
        rsp_reply_registers("<reg name=\"q\" bitsize=\"32\"/><xi:include href=\"y\"/>", r);
    assert_int_equal(r->count, RSP_REGISTERS);
    assert_int_equal(r->includes, RSP_INCLUDES);
    free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_is_its_data),
        cmocka_unit_test(test_run_lengths_and_escapes),
        cmocka_unit_test(test_d24_a_wrong_checksum_is_bad_and_the_next_packet_is_not),
        cmocka_unit_test(test_too_long_is_said_and_gone_over),
        cmocka_unit_test(test_what_is_written_is_read_back),
        cmocka_unit_test(test_hex_is_all_of_it_or_nothing),
        cmocka_unit_test(test_stop_replies),
        cmocka_unit_test(test_thread_lists),
        cmocka_unit_test(test_errors_and_features),
        cmocka_unit_test(test_register_descriptions),
    };
    return cmocka_run_group_tests_name("link-gdb-frames", tests, NULL, NULL);
}
