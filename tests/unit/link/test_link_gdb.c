/* SPDX-License-Identifier: Apache-2.0 */
/* The link to a gdb stub, against a stub of the test's own: what it asks, and what it does with answers that
 * are wrong. Cross-trigger sheet 10.1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/link_gdb.h"
#include "tests/unit/link/gdb_peer.h"

#define RULES(...) ((const struct gdb_peer_rule[]){__VA_ARGS__, {NULL, NULL, false, false}})
#define ANSWER(packet, reply)       \
    {                               \
        packet, reply, false, false \
    }
#define RAW(packet, bytes)         \
    {                              \
        packet, bytes, true, false \
    }
#define SILENT(packet)             \
    {                              \
        packet, NULL, false, false \
    }
#define HANG_UP(packet)           \
    {                             \
        packet, NULL, false, true \
    }

struct bench {
    struct gdb_peer *peer;
    struct host_clock *clock;
    struct link *link;
    struct diag d;
};

static struct bench try_open(const struct gdb_peer_rule *rules, int64_t open_ns)
{
    struct bench b = {.peer = gdb_peer_start(rules), .clock = host_clock_new_real(), .d = DIAG_INIT};
    struct link_options o = {.open_ns = open_ns};
    b.link = link_gdb_open(gdb_peer_spec(b.peer), &o, b.clock, &b.d);
    return b;
}

static struct bench open_bench(const struct gdb_peer_rule *rules)
{
    struct bench b = try_open(rules, 0);
    if (!b.link)
        fail_msg("%s", b.d.message);
    return b;
}

/* What the stub was asked. */
static char *close_bench(struct bench *b)
{
    link_close(b->link);
    char *log = gdb_peer_stop(b->peer);
    host_clock_free(b->clock);
    return log;
}

static void refused(const struct gdb_peer_rule *rules, enum corral_err err)
{
    struct bench b = try_open(rules, 0);
    assert_null(b.link);
    assert_int_equal(b.d.code, err);
    assert_true(b.d.message[0] != '\0');
    free(close_bench(&b));
}

static void test_every_process_of_qemu_is_attached_to(void **state)
{
    (void)state;
    /* It lists what was attached to; the third process is not there. */
    struct bench b = open_bench(RULES(ANSWER("qfThreadInfo", "mp01.01")));
    assert_int_equal(link_gdb_core_count(b.link), 1); /* for this stub never lists the second */
    free(close_bench(&b));
    b = open_bench(RULES(ANSWER("qSupported", "PacketSize=1000;multiprocess+;QStartNoAckMode+")));
    assert_int_equal(link_gdb_core_count(b.link), 2);
    assert_string_equal(link_gdb_core_id(b.link, 1), "p2.2");
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "QStartNoAckMode\n"));
    assert_non_null(strstr(log, "\nD;1\nD;2\n")); /* nobody said that it should stay halted */
    assert_null(strstr(log, "vAttach;1\n"));
    free(log);
}

/* Another stub's processes are the host's own: never attached to. */
static void test_only_qemu_is_asked_for_further_processes(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("qqemu", ""), ANSWER("qfThreadInfo", "mp01.01")));
    assert_int_equal(link_gdb_core_count(b.link), 1);
    char *log = close_bench(&b);
    assert_null(strstr(log, "vAttach"));
    assert_null(strstr(log, "qRcmd"));
    free(log);
}

static void test_a_stub_that_knows_nothing_is_one_core(void **state)
{
    (void)state;
    struct bench b = open_bench(
        RULES(ANSWER("qSupported", ""), ANSWER("QStart", ""), ANSWER("qqemu", ""), ANSWER("vCont", ""),
              ANSWER("?", "S05"), ANSWER("qfThread", ""), ANSWER("Hg", ""), ANSWER("p", ""),
              ANSWER("g", "000000000100000002000000030000000400000005000000060000000700000008000000"
                          "090000000a0000000b0000000c0000000d0000000e000000efbeadde00000061"),
              ANSWER("Hc-1", "OK"), SILENT("c")));
    struct diag d = DIAG_INIT;
    uint64_t value = 0;
    assert_int_equal(link_gdb_core_count(b.link), 1);
    const struct rsp_registers *r = link_gdb_registers(b.link, 0);
    assert_int_equal(r->count, 17); /* those that every Cortex-M stub has */
    assert_int_equal(link_gdb_read_register(b.link, 0, &r->reg[15], &value, &d), CORRAL_OK);
    assert_int_equal(value, 0xDEADBEEF);
    assert_int_equal(link_gdb_read_register(b.link, 0, &r->reg[16], &value, &d), CORRAL_OK);
    assert_int_equal(value, 0x61000000);
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_OK);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nHc-1\nc\n"));
    assert_null(strstr(log, "\nD")); /* it was started: it stays so */
    free(log);
}

static void test_memory_goes_in_packets_the_stub_takes(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("qSupported", "PacketSize=40"),
                                      ANSWER("m20000000,c", "000102030405060708090a0b"),
                                      ANSWER("m2000000c,4", "0c0d0e0f"), ANSWER("M", "OK")));
    struct diag d = DIAG_INIT;
    uint32_t words[4] = {0};
    struct link_access a = {
        .op = LINK_MEM_READ, .size = 4, .ap = 1, .address = 0x20000000, .count = 4, .data = words};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_OK);
    assert_int_equal(a.done, 4);
    assert_int_equal(words[0], 0x03020100);
    assert_int_equal(words[3], 0x0F0E0D0C);
    uint16_t halves[2] = {0x1234, 0x5678};
    struct link_access w = {
        .op = LINK_MEM_WRITE, .size = 2, .ap = 1, .address = 0x20000002, .count = 2, .data = halves};
    assert_int_equal(link_execute(b.link, &w, 1, &d), CORRAL_OK);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nHgp2.2\nm20000000,c\nm2000000c,4\nM20000002,4:34127856\n"));
    free(log);
}

static void test_memory_is_written_raw_where_the_stub_has_x(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("X", "OK")));
    struct diag d = DIAG_INIT;
    assert_int_equal(link_write_bytes(b.link, 0, 0x20000000, "$#}*", 4, &d), CORRAL_OK);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nX20000000,4:$#}*\n"));
    free(log);
}

static void test_what_cannot_be_read_is_a_fault_and_the_next_access_works(void **state)
{
    (void)state;
    struct bench b = open_bench(
        RULES(ANSWER("m70000000", "E14"), ANSWER("m70000004", "E.no such memory \x1b[1m"),
              ANSWER("m70000008", "0011"), ANSWER("m7000000c", "hello wo"), ANSWER("m", "01000000")));
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    assert_int_equal(link_read32(b.link, 0, 0x70000000, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "0x70000000"));
    assert_int_equal(link_read32(b.link, 0, 0x70000004, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "no such memory"));
    assert_null(strchr(d.message, 0x1b));
    assert_int_equal(link_read32(b.link, 0, 0x70000008, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(link_read32(b.link, 0, 0x7000000C, &v, &d), CORRAL_ERR_LINK_PROTOCOL);
    assert_int_equal(link_read32(b.link, 0, 0x20000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 1);
    assert_int_equal(link_read32(b.link, 2, 0x20000000, &v, &d), CORRAL_ERR_NO_AP);
    free(close_bench(&b));
}

static void test_a_running_target_is_asked_nothing(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(SILENT("vCont;c")));
    struct diag d = DIAG_INIT;
    struct link_gdb_state now;
    uint32_t v = 0;
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_OK);
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_OK); /* it runs already */
    assert_int_equal(link_read32(b.link, 0, 0x20000000, &v, &d), CORRAL_ERR_CORE_STATE);
    assert_int_equal(link_gdb_halt(b.link, &d), CORRAL_OK);
    assert_int_equal(link_gdb_halt(b.link, &d), CORRAL_OK); /* asked once is enough */
    assert_int_equal(link_gdb_poll(b.link, 20000, &now, &d), CORRAL_OK);
    assert_false(now.running);
    assert_true(now.asked);
    assert_int_equal(now.stop.signal, 2);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nvCont;c\n^C\n"));
    assert_null(strstr(log, "\nD")); /* it was halted by the user: it stays so */
    free(log);
}

static void test_a_stop_names_its_core(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("vCont;c", "T05watch:20000010;thread:p02.02;")));
    struct diag d = DIAG_INIT;
    struct link_gdb_state now;
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_OK);
    assert_int_equal(link_gdb_poll(b.link, 20000, &now, &d), CORRAL_OK);
    assert_false(now.running || now.asked);
    assert_int_equal(now.core, 1);
    assert_int_equal(now.stop.kind, RSP_STOP_WATCH);
    free(close_bench(&b));
}

/* An E to vCont is no stop (sheet 10.1): nothing was started. */
static void test_a_refused_start_is_an_error(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("vCont;c", "E01")));
    struct diag d = DIAG_INIT;
    struct link_gdb_state now;
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_OK);
    assert_int_equal(link_gdb_poll(b.link, 20000, &now, &d), CORRAL_ERR_LINK_FAULT);
    assert_false(now.running);
    free(close_bench(&b));
}

static void test_a_step_moves_one_core(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("vCont;s", "T05thread:p02.02;")));
    struct diag d = DIAG_INIT;
    struct link_gdb_state now;
    assert_int_equal(link_gdb_step(b.link, 1, &d), CORRAL_OK);
    assert_int_equal(link_gdb_poll(b.link, 0, &now, &d), CORRAL_OK);
    assert_true(now.stepped && !now.running);
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nvCont;s:p2.2\n"));
    free(log);
}

/* QEMU's breakpoints stop every core: two users of one share it. */
static void test_a_breakpoint_of_two_is_set_once(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(ANSWER("Z9", "")));
    struct diag d = DIAG_INIT;
    unsigned type;
    assert_int_equal(link_gdb_set_point(b.link, 0, true, 1, 0x100, 2, &d), CORRAL_OK);
    assert_int_equal(link_gdb_set_point(b.link, 1, true, 1, 0x100, 2, &d), CORRAL_OK);
    assert_int_equal(link_gdb_set_point(b.link, 0, false, 1, 0x100, 2, &d), CORRAL_OK);
    assert_true(link_gdb_stops_at(b.link, 0, 0x100, &type));
    assert_int_equal(link_gdb_set_point(b.link, 1, false, 1, 0x100, 2, &d), CORRAL_OK);
    assert_false(link_gdb_stops_at(b.link, 1, 0x100, &type));
    char *log = close_bench(&b);
    assert_non_null(strstr(log, "\nZ1,100,2\n"));
    assert_null(strstr(strstr(log, "\nZ1,100,2\n") + 1, "\nZ1,100,2\n"));
    assert_non_null(strstr(log, "\nz1,100,2\n"));
    free(log);
}

static void test_a_qemu_that_was_never_started_stays_so(void **state)
{
    (void)state;
    /* "VM status: paused (prelaunch)", as its monitor says it, then OK */
    struct bench b = open_bench(
        RULES(RAW("qRcmd,", "$O564d207374617475733a2070617573656420287072656c61756e6368290a#81$OK#9a")));
    char *log = close_bench(&b);
    assert_null(strstr(log, "\nD"));
    free(log);
}

/* QEMU tells of the stop that connecting was before it has read anything: that answers nothing. */
static void test_an_unasked_stop_is_no_answer(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(RAW("^connect", "$T02thread:p01.01;#03")));
    assert_int_equal(link_gdb_core_count(b.link), 2); /* the features were understood */
    free(close_bench(&b));
}

static void test_answers_that_are_wrong_end_the_link(void **state)
{
    (void)state;
    refused(RULES(RAW("?", "$T05#00$T05#00$T05#00$T05#00")), CORRAL_ERR_LINK_PROTOCOL);
    refused(RULES(ANSWER("?", "hello")), CORRAL_ERR_LINK_PROTOCOL);
    refused(RULES(ANSWER("?", "W00")), CORRAL_ERR_LINK_DOWN);
    refused(RULES(HANG_UP("?")), CORRAL_ERR_LINK_DOWN);
    refused(RULES(ANSWER("qfThreadInfo", "mp1.1,")), CORRAL_ERR_LINK_PROTOCOL);
    refused(RULES(RAW("qSupported", "----------")), CORRAL_ERR_LINK_PROTOCOL);
    refused(RULES(ANSWER("qsThreadInfo", "OK")), CORRAL_ERR_LINK_PROTOCOL);
}

static void test_a_list_without_an_end_is_bounded(void **state)
{
    (void)state;
    struct bench b =
        open_bench(RULES(ANSWER("qsThreadInfo", "mp1.1,p1.2,p1.3,p1.4,p1.5,p1.6,p1.7,p1.8,p1.9")));
    assert_true(link_gdb_core_count(b.link) <= LINK_GDB_CORES);
    free(close_bench(&b));
}

static void test_output_without_an_answer_is_bounded(void **state)
{
    (void)state;
    char *flood = malloc(8 * 1100 + 1);
    size_t n = 0;
    for (unsigned i = 0; i < 1100; i++)
        n += (size_t)sprintf(flood + n, "$O41#b4");
    refused(RULES(RAW("?", flood)), CORRAL_ERR_LINK_PROTOCOL);
    free(flood);
}

static void test_a_silent_stub_is_given_up(void **state)
{
    (void)state;
    struct bench b = try_open(RULES(SILENT("qSupported")), 100 * NS_PER_MS);
    assert_null(b.link);
    assert_int_equal(b.d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(b.d.message, "does not answer"));
    free(close_bench(&b));
}

/* What failed once stays dead: a late answer is not the next one's. */
static void test_a_dead_link_stays_dead(void **state)
{
    (void)state;
    struct bench b = open_bench(RULES(HANG_UP("m")));
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    assert_int_equal(link_read32(b.link, 0, 0x20000000, &v, &d), CORRAL_ERR_LINK_DOWN);
    assert_int_equal(link_read32(b.link, 0, 0x20000000, &v, &d), CORRAL_ERR_LINK_DOWN);
    assert_int_equal(link_gdb_run(b.link, &d), CORRAL_ERR_LINK_DOWN);
    free(close_bench(&b));
}

static void test_words_that_are_wrong(void **state)
{
    (void)state;
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    struct link_options o = {.wire_hz = 1000};
    assert_null(link_gdb_open("gdb", NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    assert_null(link_gdb_open("gdb:nowhere", NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    assert_null(link_gdb_open("gdb:127.0.0.1:1", &o, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    host_clock_free(clock);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_process_of_qemu_is_attached_to),
        cmocka_unit_test(test_only_qemu_is_asked_for_further_processes),
        cmocka_unit_test(test_a_stub_that_knows_nothing_is_one_core),
        cmocka_unit_test(test_memory_goes_in_packets_the_stub_takes),
        cmocka_unit_test(test_memory_is_written_raw_where_the_stub_has_x),
        cmocka_unit_test(test_what_cannot_be_read_is_a_fault_and_the_next_access_works),
        cmocka_unit_test(test_a_running_target_is_asked_nothing),
        cmocka_unit_test(test_a_stop_names_its_core),
        cmocka_unit_test(test_a_refused_start_is_an_error),
        cmocka_unit_test(test_a_step_moves_one_core),
        cmocka_unit_test(test_a_breakpoint_of_two_is_set_once),
        cmocka_unit_test(test_a_qemu_that_was_never_started_stays_so),
        cmocka_unit_test(test_an_unasked_stop_is_no_answer),
        cmocka_unit_test(test_answers_that_are_wrong_end_the_link),
        cmocka_unit_test(test_a_list_without_an_end_is_bounded),
        cmocka_unit_test(test_output_without_an_answer_is_bounded),
        cmocka_unit_test(test_a_silent_stub_is_given_up),
        cmocka_unit_test(test_a_dead_link_stays_dead),
        cmocka_unit_test(test_words_that_are_wrong),
    };
    return cmocka_run_group_tests_name("link-gdb", tests, NULL, NULL);
}
