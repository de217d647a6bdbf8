/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of gdb: what gdb 13.1 really sends (cross-trigger sheet 10.1), and what nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdb/request.h"

/* The packet in a block of exactly its size and the NUL, so that a byte too far is seen. Kept until the next.
 */
static char *last;

static struct gdb_request parse_bytes(const void *bytes, size_t size)
{
    struct gdb_request r;
    free(last);
    last = malloc(size + 1);
    assert_non_null(last);
    memcpy(last, bytes, size);
    last[size] = '\0';
    gdb_request_parse(&r, last, size);
    assert_true(r.kind != GDB_MALFORMED || r.fault);
    return r;
}

static struct gdb_request parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static int drop_last(void **state)
{
    (void)state;
    free(last);
    last = NULL;
    return 0;
}

static void test_what_gdb_sends_at_first(void **state)
{
    (void)state;
    struct gdb_request r =
        parse("qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;xmlRegisters=i386");
    assert_int_equal(r.kind, GDB_SUPPORTED);
    assert_true(r.supported.swbreak && r.supported.hwbreak && r.supported.multiprocess);
    assert_false(r.supported.error_message);
    assert_int_equal(parse("qSupported").kind, GDB_SUPPORTED);
    assert_int_equal(parse("vMustReplyEmpty").kind, GDB_UNKNOWN);
    assert_int_equal(parse("QStartNoAckMode").kind, GDB_NO_ACK);
    assert_int_equal(parse("!").kind, GDB_EXTENDED);
    assert_int_equal(parse("?").kind, GDB_STOP_REASON);
    assert_int_equal(parse("qTStatus").kind, GDB_TRACE_STATUS);
    assert_int_equal(parse("qAttached").kind, GDB_ATTACHED);
    assert_int_equal(parse("qAttached:1").kind, GDB_ATTACHED);
    assert_int_equal(parse("qC").kind, GDB_CURRENT_THREAD);
    assert_int_equal(parse("qCx").kind, GDB_UNKNOWN);
    assert_int_equal(parse("qfThreadInfo").kind, GDB_FIRST_THREADS);
    assert_int_equal(parse("qsThreadInfo").kind, GDB_NEXT_THREADS);
    assert_int_equal(parse("qSymbol::").kind, GDB_SYMBOL);
    assert_int_equal(parse("QNonStop:1").kind, GDB_UNKNOWN);
    r = parse("Hg0");
    assert_int_equal(r.kind, GDB_SELECT_THREAD);
    assert_int_equal(r.select.operation, 'g');
    assert_int_equal(r.select.thread, GDB_THREAD_ANY);
    r = parse("Hc-1");
    assert_int_equal(r.select.thread, GDB_THREAD_ALL);
    assert_int_equal(parse("Hgp2.3").select.thread, 3);
    assert_int_equal(parse("Hgp2.-1").select.thread, GDB_THREAD_ALL);
}

static void test_objects_are_read_in_pieces(void **state)
{
    (void)state;
    struct gdb_request r = parse("qXfer:features:read:target.xml:ffb,1000");
    assert_int_equal(r.kind, GDB_XFER_READ);
    assert_string_equal(r.xfer.object, "features");
    assert_string_equal(r.xfer.annex, "target.xml");
    assert_int_equal(r.xfer.offset, 0xffb);
    assert_int_equal(r.xfer.length, 0x1000);
    r = parse("qXfer:memory-map:read::0,400");
    assert_string_equal(r.xfer.object, "memory-map");
    assert_string_equal(r.xfer.annex, "");
    assert_int_equal(parse("qXfer:memory-map:write::0,00").kind, GDB_UNKNOWN);
    assert_int_equal(parse("qXfer:features:read:target.xml").kind, GDB_MALFORMED);
    assert_int_equal(parse("qXfer:features:read:target.xml:0").kind, GDB_MALFORMED);
    assert_int_equal(parse("qXfer:features:read:target.xml:0,10000000000000000").kind, GDB_MALFORMED);
    assert_int_equal(parse_bytes("qXfer:a\0b:read::0,1", 19).kind, GDB_MALFORMED);
    assert_int_equal(parse("qXfer:").kind, GDB_UNKNOWN);
}

static void test_registers(void **state)
{
    (void)state;
    assert_int_equal(parse("g").kind, GDB_READ_REGISTERS);
    assert_int_equal(parse("g1").kind, GDB_MALFORMED);
    struct gdb_request r = parse("Gdeadbeef");
    assert_int_equal(r.kind, GDB_WRITE_REGISTERS);
    assert_int_equal(r.data_size, 4);
    assert_memory_equal(r.data, "\xde\xad\xbe\xef", 4);
    assert_int_equal(parse("Gabc").kind, GDB_MALFORMED);
    assert_int_equal(parse("p19").number, 0x19);
    r = parse("Pf=01000008");
    assert_int_equal(r.kind, GDB_WRITE_REGISTER);
    assert_int_equal(r.number, 15);
    assert_memory_equal(r.data, "\x01\x00\x00\x08", 4);
    assert_int_equal(parse("Pf").kind, GDB_MALFORMED);
    assert_int_equal(parse("P=00").kind, GDB_MALFORMED);
}

static void test_memory(void **state)
{
    (void)state;
    struct gdb_request r = parse("m20000000,40");
    assert_int_equal(r.kind, GDB_READ_MEMORY);
    assert_int_equal(r.memory.address, 0x20000000);
    assert_int_equal(r.memory.length, 0x40);
    r = parse("M0,2:Ab01");
    assert_int_equal(r.kind, GDB_WRITE_MEMORY);
    assert_memory_equal(r.data, "\xab\x01", 2);
    assert_int_equal(parse("m").kind, GDB_MALFORMED);
    assert_int_equal(parse("m0").kind, GDB_MALFORMED);
    assert_int_equal(parse("m0,").kind, GDB_MALFORMED);
    assert_int_equal(parse("m0,4x").kind, GDB_MALFORMED);
    assert_int_equal(parse("m11111111111111111,4").kind, GDB_MALFORMED);
    assert_int_equal(parse("m00000000000000000000020000000,4").memory.address, 0x20000000);
}

/* Report 05: a payload is not searched for separators, and lengths are compared. */
static void test_report_05_lengths_that_disagree(void **state)
{
    (void)state;
    struct gdb_request r = parse_bytes("X0,8:,:;#$*}\003", 13);
    assert_int_equal(r.kind, GDB_WRITE_MEMORY);
    assert_int_equal(r.data_size, 8);
    assert_memory_equal(r.data, ",:;#$*}\003", 8);
    r = parse_bytes("X0,0:", 5);
    assert_int_equal(r.kind, GDB_WRITE_MEMORY);
    assert_int_equal(r.data_size, 0);
    assert_int_equal(parse("X0,3:ab").kind, GDB_MALFORMED);
    assert_int_equal(parse("X0,1:ab").kind, GDB_MALFORMED);
    assert_int_equal(parse("M0,3:0102").kind, GDB_MALFORMED);
    assert_int_equal(parse("M0,1:0102").kind, GDB_MALFORMED);
    assert_int_equal(parse("M0,2:010").kind, GDB_MALFORMED);
    assert_int_equal(parse("M0,2:01zz").kind, GDB_MALFORMED);
    assert_int_equal(parse("X0,2").kind, GDB_MALFORMED);
}

static void test_resume_as_gdb_writes_it(void **state)
{
    (void)state;
    assert_int_equal(parse("vCont?").kind, GDB_RESUME_ACTIONS);
    struct gdb_request r = parse("vCont;s:1;c");
    assert_int_equal(r.kind, GDB_RESUME);
    assert_int_equal(r.actions.count, 2);
    assert_int_equal(r.actions.list[0].kind, GDB_STEP);
    assert_int_equal(r.actions.list[0].thread, 1);
    assert_int_equal(r.actions.list[1].kind, GDB_CONTINUE);
    assert_int_equal(r.actions.list[1].thread, GDB_THREAD_ALL);
    assert_false(r.actions.old_form);
    r = parse("vCont;c:p1.-1");
    assert_int_equal(r.actions.list[0].thread, GDB_THREAD_ALL);
    r = parse("vCont;r8000100,8000108:1;c");
    assert_int_equal(r.actions.list[0].kind, GDB_RANGE_STEP);
    assert_int_equal(r.actions.list[0].start, 0x8000100);
    assert_int_equal(r.actions.list[0].end, 0x8000108);
    assert_int_equal(parse("vCont;t:1").actions.list[0].kind, GDB_STOP);
}

/* Report 02: the forms with a signal run, too. */
static void test_report_02_resume_with_a_signal(void **state)
{
    (void)state;
    struct gdb_request r = parse("vCont;C0b:1;c");
    assert_int_equal(r.kind, GDB_RESUME);
    assert_int_equal(r.actions.list[0].kind, GDB_CONTINUE);
    assert_int_equal(r.actions.list[0].signal, 11);
    assert_int_equal(r.actions.list[0].thread, 1);
    assert_int_equal(parse("vCont;C0b").actions.list[0].signal, 11);
    assert_int_equal(parse("vCont;S0b:1").actions.list[0].kind, GDB_STEP);
    r = parse("C0b");
    assert_int_equal(r.kind, GDB_RESUME);
    assert_true(r.actions.old_form);
    assert_int_equal(r.actions.list[0].kind, GDB_CONTINUE);
    r = parse("S0b;8000100");
    assert_int_equal(r.actions.list[0].kind, GDB_STEP);
    assert_true(r.actions.list[0].address_set);
    assert_int_equal(r.actions.list[0].address, 0x8000100);
    assert_int_equal(parse("c").actions.list[0].kind, GDB_CONTINUE);
    assert_true(parse("s8000100").actions.list[0].address_set);
}

static void test_resume_that_makes_no_sense(void **state)
{
    (void)state;
    static const char *const bad[] = {"vCont;",     "vCont;x",  "vCont;c:",  "vCont;c:q",  "vCont;C",
                                      "vCont;C100", "vCont;r1", "vCont;r1,", "vCont;c;;s", "vCont;c:1x",
                                      "C",          "cx",       "Cb;",       "s0q",        "vCont;c:-2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct gdb_request r = parse(bad[i]);
        if (strcmp(bad[i], "Cb;") == 0) /* an empty address behind ';' is none */
            assert_int_equal(r.kind, GDB_RESUME);
        else
            assert_int_equal(r.kind, GDB_MALFORMED);
    }
    char many[6 + 2 * (GDB_ACTIONS_MAX + 1)];
    strcpy(many, "vCont");
    for (int i = 0; i < GDB_ACTIONS_MAX; i++)
        strcat(many, ";c");
    assert_int_equal(parse(many).kind, GDB_RESUME);
    strcat(many, ";c");
    assert_int_equal(parse(many).kind, GDB_MALFORMED);
}

static void test_breakpoints(void **state)
{
    (void)state;
    struct gdb_request r = parse("Z1,8000100,2");
    assert_int_equal(r.kind, GDB_BREAKPOINT);
    assert_true(r.breakpoint.insert);
    assert_int_equal(r.breakpoint.type, 1);
    assert_int_equal(r.breakpoint.address, 0x8000100);
    assert_int_equal(r.breakpoint.kind, 2);
    r = parse("z4,20000000,4");
    assert_false(r.breakpoint.insert);
    assert_int_equal(r.breakpoint.type, 4);
    assert_int_equal(parse("Z5,0,2").kind, GDB_MALFORMED);
    assert_int_equal(parse("Z0,0").kind, GDB_MALFORMED);
    assert_int_equal(parse("Z0,0,2;X1,00").kind, GDB_MALFORMED);
    assert_int_equal(parse("Z").kind, GDB_MALFORMED);
}

static void test_commands_are_text(void **state)
{
    (void)state;
    struct gdb_request r = parse("qRcmd,72657365742068616c74");
    assert_int_equal(r.kind, GDB_COMMAND);
    assert_string_equal(r.text, "reset halt");
    assert_string_equal(parse("qRcmd,").text, "");
    assert_int_equal(parse("qRcmd,7").kind, GDB_MALFORMED);
    assert_int_equal(parse("qRcmd,6100").kind, GDB_MALFORMED);
}

static void test_flash_and_ends(void **state)
{
    (void)state;
    struct gdb_request r = parse("vFlashErase:08000000,00004000");
    assert_int_equal(r.kind, GDB_FLASH_ERASE);
    assert_int_equal(r.memory.length, 0x4000);
    r = parse_bytes("vFlashWrite:8000000:\0:#", 23);
    assert_int_equal(r.kind, GDB_FLASH_WRITE);
    assert_int_equal(r.data_size, 3);
    assert_int_equal(parse("vFlashDone").kind, GDB_FLASH_DONE);
    assert_int_equal(parse("D").kind, GDB_DETACH);
    assert_int_equal(parse("D;1").kind, GDB_DETACH);
    assert_int_equal(parse("k").kind, GDB_KILL);
    assert_int_equal(parse("vKill;1").kind, GDB_KILL);
    assert_int_equal(parse("vRun;").kind, GDB_RUN);
    assert_int_equal(parse("vAttach;1").kind, GDB_ATTACH);
    assert_int_equal(parse("R00").kind, GDB_RESTART);
    assert_int_equal(parse("qCRC:8000000,100").kind, GDB_CRC);
    assert_int_equal(parse("T1").thread, 1);
    assert_int_equal(parse("T").kind, GDB_MALFORMED);
    assert_int_equal(parse("").kind, GDB_UNKNOWN);
    assert_int_equal(parse("jThreadsInfo").kind, GDB_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_gdb_sends_at_first),
        cmocka_unit_test(test_objects_are_read_in_pieces),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_report_05_lengths_that_disagree),
        cmocka_unit_test(test_resume_as_gdb_writes_it),
        cmocka_unit_test(test_report_02_resume_with_a_signal),
        cmocka_unit_test(test_resume_that_makes_no_sense),
        cmocka_unit_test(test_breakpoints),
        cmocka_unit_test(test_commands_are_text),
        cmocka_unit_test(test_flash_and_ends),
    };
    return cmocka_run_group_tests_name("gdb-request", tests, NULL, drop_last);
}
