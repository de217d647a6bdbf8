/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug sequences on a link, without a session: which processor's DebugPortStart runs (case C37), which debug
 * port an access goes to (cross-trigger sheet 4.6, fault 14 of sheet 6), and what ends a batch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "link/dry.h"
#include "link/sim.h"
#include "session/sequences.h"

static const char family[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<package schemaVersion=\"1.7.28\"><vendor>Test</vendor><name>T_DFP</name>\n"
                             "<devices><family Dfamily=\"T\" Dvendor=\"Test:1\">\n"
                             "<processor Pname=\"Left\" Dcore=\"Cortex-M7\"/>"
                             "<processor Pname=\"Right\" Dcore=\"Cortex-M7\"/>\n";
static const char one_port[] = "<debug Pname=\"Left\" __dp=\"0\" __ap=\"0\"/>"
                               "<debug Pname=\"Right\" __dp=\"0\" __ap=\"1\"/>\n";
static const char two_ports[] = "<debug Pname=\"Left\" __dp=\"0\" __ap=\"0\"/>"
                                "<debug Pname=\"Right\" __dp=\"1\" __ap=\"0\"/>\n";
static const char by_id[] = "<accessportV1 __apid=\"7\" __dp=\"0\" index=\"0\"/>"
                            "<accessportV1 __apid=\"8\" __dp=\"1\" index=\"0\"/>\n"
                            "<debug Pname=\"Left\" __apid=\"7\"/><debug Pname=\"Right\" __apid=\"8\"/>\n";
static const char variants[] =
    "<sequence name=\"DebugPortStart\" Pname=\"Left\"><block>Message(0, \"of Left\");"
    "</block></sequence>\n"
    "<sequence name=\"DebugPortStart\" Pname=\"Right\"><block>Message(0, \"of Right\");"
    "</block></sequence>\n";

#define TIME_NS (100 * NS_PER_MS) /* over one sequence, in the board's time */

struct bench {
    struct pack_file *file;
    struct pack_device *device;
    struct sequence_program *program;
    struct host_clock *clock;
    struct link *link;
    struct sequences *sequences;
    char said[2048];
};

static void on_said(void *ctx, enum sequence_message kind, const char *sentence)
{
    struct bench *b = ctx;
    size_t used = strlen(b->said);
    (void)kind;
    snprintf(b->said + used, sizeof(b->said) - used, "%s\n", sentence);
}

static void begin(struct bench *b, bool dry, const char *debug, const char *sequences)
{
    char text[8192];
    struct diag d = DIAG_INIT;
    struct sequence_problems problems = {0};
    *b = (struct bench){0};
    int size = snprintf(text, sizeof(text),
                        "%s%s<sequences>%s</sequences><device Dname=\"TWO\"/></family>"
                        "</devices></package>\n",
                        family, debug, sequences);
    assert_in_range(size, 1, sizeof(text) - 1);
    b->file = pack_parse(PACK_PDSC, "t.pdsc", text, (size_t)size, NULL, &problems, &d);
    b->device = b->file ? pack_describe(b->file, "TWO", &problems, &d) : NULL;
    b->program = b->device ? pack_compile(b->device, &problems, &d) : NULL;
    if (!b->program || problems.errors)
        fail_msg("%s; %s", d.message, problems.count ? problems.list[0].text : "");
    sequence_problems_clear(&problems);
    b->clock = host_clock_new_virtual();
    struct link_sim_options sim = {.clock = b->clock};
    b->link = dry ? link_dry_open("dry", b->clock, &d) : link_sim_open(&sim, &d);
    if (!b->link)
        fail_msg("%s", d.message);
    struct sequences_options o = {.device = b->device,
                                  .program = b->program,
                                  .connection = 1,
                                  .timeout_ns = TIME_NS,
                                  .say = on_said,
                                  .ctx = b};
    b->sequences = sequences_new(&o, &d);
    assert_non_null(b->sequences);
}

static void end(struct bench *b)
{
    sequences_free(b->sequences);
    link_close(b->link);
    host_clock_free(b->clock);
    sequence_program_free(b->program);
    pack_device_free(b->device);
    pack_close(b->file);
}

static void connect_says(bool dry, const char *debug, const char *sequences, const char *said)
{
    struct bench b;
    struct diag d = DIAG_INIT;
    begin(&b, dry, debug, sequences);
    if (sequences_connect(b.sequences, b.link, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    assert_string_equal(b.said, said);
    end(&b);
}

static void test_c37_the_start_cores_variant_runs_once(void **state)
{
    (void)state;
    connect_says(false, one_port, variants, "DebugPortStart: of Left\n");
}

static void test_c37_else_the_common_one(void **state)
{
    (void)state;
    connect_says(false, one_port,
                 "<sequence name=\"DebugPortStart\"><block>Message(0, \"of all\");</block></sequence>\n"
                 "<sequence name=\"DebugPortStart\" Pname=\"Right\"><block>Message(0, \"of Right\");</block>"
                 "</sequence>\n",
                 "DebugPortStart: of all\n");
}

/* A link is at one debug port: the other one's sequence would set that up a second time. */
static void test_c37_another_debug_ports_variant_does_not_run_here(void **state)
{
    (void)state;
    connect_says(false, two_ports, variants,
                 "DebugPortStart: of Left\n"
                 "DebugPortStart of debug port 1 was not run: link 'sim' is at debug port 0\n");
    connect_says(true, two_ports, variants, "DebugPortStart: of Left\nDebugPortStart: of Right\n");
}

static void runs(const char *debug, const char *statements, enum corral_err expected, const char *words)
{
    struct bench b;
    char sequence[1024];
    struct diag d = DIAG_INIT;
    snprintf(sequence, sizeof(sequence), "<sequence name=\"T\"><block>%s</block></sequence>\n", statements);
    begin(&b, false, debug, sequence);
    assert_int_equal(sequences_run(b.sequences, b.link, "T", NULL, NULL, &d), expected);
    if (!strstr(d.message, words))
        fail_msg("'%s' lacks '%s'", d.message, words);
    end(&b);
}

static void test_an_access_port_is_at_its_own_debug_port(void **state)
{
    static const char refused[] = "debug port 1 cannot be reached over link 'sim', which is at number 0";
    (void)state;
    runs(by_id, "__apid = 8; Read32(0xE000ED00);", CORRAL_ERR_UNSUPPORTED, refused);
    runs(by_id, "__apid = 8; ReadAP(0xFC);", CORRAL_ERR_UNSUPPORTED, refused);
    /* __dp is not of what goes through a declared access port. */
    runs(by_id, "WriteDP(4, 0x50000F00); DAP_Delay(1000); __dp = 1; Read32(0xE000ED00);", CORRAL_OK, "");
    runs(by_id, "__dp = 1; ReadDP(0);", CORRAL_ERR_UNSUPPORTED, refused);
    runs(one_port, "__dp = 1; Read32(0xE000ED00);", CORRAL_ERR_UNSUPPORTED, refused);
    runs(one_port, "__dp = 1; DAP_WriteABORT(0x1E);", CORRAL_ERR_UNSUPPORTED, refused);
    runs(one_port, "DAP_WriteABORT(0x1E);", CORRAL_OK, "");
}

/* nRESET is let go and waited for to be low, in vain: 20 ms each, in a batch that no statement interrupts. */
static void test_a_batch_ends_with_the_time_of_its_sequence(void **state)
{
    char text[4096] = "<sequence name=\"T\"><block atomic=\"1\">", *at = text + strlen(text);
    struct bench b;
    struct diag d = DIAG_INIT;
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        at += snprintf(at, sizeof(text) - (size_t)(at - text), "DAP_SWJ_Pins(0, 1, 20000);\n");
    snprintf(at, sizeof(text) - (size_t)(at - text), "</block></sequence>\n");
    begin(&b, false, one_port, text);
    int64_t before = host_clock_now(b.clock);
    assert_int_equal(sequences_run(b.sequences, b.link, "T", NULL, NULL, &d), CORRAL_ERR_TIMEOUT);
    assert_true(host_clock_now(b.clock) - before >= TIME_NS);
    assert_true(host_clock_now(b.clock) - before <= TIME_NS + 30 * NS_PER_MS);
    end(&b);
}

/* A delay that cannot be had is none that __errorcontrol passes over: nothing behind it is done too early. */
static void test_a_delay_beyond_the_time_ends_it_with_errorcontrol_too(void **state)
{
    (void)state;
    runs(one_port, "__errorcontrol = 1; DAP_Delay(11000000); Message(2, \"too early\");", CORRAL_ERR_TIMEOUT,
         "longer than the sequence may take");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c37_the_start_cores_variant_runs_once),
        cmocka_unit_test(test_c37_else_the_common_one),
        cmocka_unit_test(test_c37_another_debug_ports_variant_does_not_run_here),
        cmocka_unit_test(test_an_access_port_is_at_its_own_debug_port),
        cmocka_unit_test(test_a_batch_ends_with_the_time_of_its_sequence),
        cmocka_unit_test(test_a_delay_beyond_the_time_ends_it_with_errorcontrol_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
