/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session whose device is described: names and order of connecting, and option 1 (our own cross triggers)
 * beside option 2 (the pack's sequences) on the virtual board: the same registers, the same skew, the target
 * left as it was found. Issue "CMSIS debug sequences"; cross-trigger sheet 13; the seed's sequences as
 * printed where ../shared is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/cti_driver.h"
#include "pack/pack.h"
#include "session/run_control.h"
#include "session/session.h"
#include "session/target_memory.h"

#define CTI          0xE0042000u
#define ROUNDS       10
#define ROUND_RUN_NS (200 * NS_PER_US)
#define SKEW_MOST_NS 50
#define REGISTERS    4
#define TEXT_MOST    (256 * 1024)

static const char *source_root;

static const char head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<package schemaVersion=\"1.7.28\"><vendor>Test</vendor><name>T_DFP</name>\n"
    "<devices><family Dfamily=\"T\" Dvendor=\"Test:1\">\n"
    "<processor Pname=\"Left\" Dcore=\"Cortex-M7\"/><processor Pname=\"Right\" Dcore=\"Cortex-M7\"/>\n"
    "<debug Pname=\"Left\" __dp=\"0\" __ap=\"0\"/><debug Pname=\"Right\" __dp=\"0\" __ap=\"1\"/>\n"
    "<sequences>\n";
static const char tail[] = "</sequences><device Dname=\"TWO\"/></family></devices></package>\n";

/* What the proposal wants of a Cortex-M7 with its CTI at 0xE0042000, in words of our own. */
static const char ours[] =
    "<sequence name=\"DebugCoreSetup\"><control if=\"__options &amp; 1\"><block>\n"
    "  Write32(0xE0042000, 1);\n"
    "  Write32(0xE0042020, 1 &lt;&lt; 0);\n"
    "  Write32(0xE00420A0, 1 &lt;&lt; 0);\n"
    "  Write32(0xE00420A0 + (7 &lt;&lt; 2), 1 &lt;&lt; 1);\n"
    "</block></control></sequence>\n"
    "<sequence name=\"ProcessorStart\">\n"
    "<control if=\"__options &amp; 1\"><block>Write32(0xE004201C, 2);</block></control>\n"
    "<control if=\"!(__options &amp; 1)\"><block>Write32(0xE000EDF0, 0xA05F0001);</block></control>\n"
    "</sequence>\n"
    "<sequence name=\"ProcessorHaltAcknowledge\"><control if=\"__options &amp; 1\"><block>\n"
    "  Write32(0xE0042010, 1); Write32(0xE0042010, 0);\n"
    "</block></control></sequence>\n";

struct run {
    struct pack_file *file;
    struct pack_device *device;
    struct sequence_program *program;
    struct event_bus *bus;
    struct session *s;
    char notes[2048];
    unsigned accesses; /* seen by the sink */
};

static void on_note(void *ctx, const char *sentence)
{
    struct run *r = ctx;
    size_t used = strlen(r->notes);
    snprintf(r->notes + used, sizeof(r->notes) - used, "%s\n", sentence);
}

/* `sequences` NULL: no description at all. `errors` are expected in it. */
static void open_run_with(struct run *r, const char *sequences, bool sync, size_t errors)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems problems = {0};
    *r = (struct run){0};
    r->bus = event_bus_new();
    assert_non_null(r->bus);
    struct session_options how = {.link = "sim",
                                  .listen_port = -1,
                                  .bus = r->bus,
                                  .pack_sync = sync,
                                  .wire = {.note = on_note, .ctx = r}};
    if (sequences) {
        char *text = malloc(TEXT_MOST);
        assert_non_null(text);
        int size = snprintf(text, TEXT_MOST, "%s%s%s", head, sequences, tail);
        assert_in_range(size, 1, TEXT_MOST - 1);
        r->file = pack_parse(PACK_PDSC, "t.pdsc", text, (size_t)size, NULL, &problems, &d);
        if (!r->file)
            fail_msg("%s", d.message);
        r->device = pack_describe(r->file, "TWO", &problems, &d);
        r->program = r->device ? pack_compile(r->device, &problems, &d) : NULL;
        if (!r->program || problems.errors != errors)
            fail_msg("%s; %s", d.message, problems.count ? problems.list[0].text : "");
        how.pack = r->device;
        how.program = r->program;
        free(text);
    }
    sequence_problems_clear(&problems);
    r->s = session_open(&how, &d);
    if (!r->s || session_connect(r->s, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
}

static void open_run(struct run *r, const char *sequences, bool sync)
{
    open_run_with(r, sequences, sync, 0);
}

static void close_run(struct run *r)
{
    assert_int_equal(session_close(r->s), CORRAL_OK);
    event_bus_free(r->bus, NULL);
    sequence_program_free(r->program);
    pack_device_free(r->device);
    pack_close(r->file);
}

static void read_words(struct run *r, size_t core, uint64_t address, uint32_t *words, uint32_t count)
{
    struct diag d = DIAG_INIT;
    uint32_t done = 0;
    struct session_memory m = {.view = {.core = core}, .address = address, .size = 4, .count = count};
    if (session_read_memory(r->s, &m, (uint8_t *)words, &done, NULL, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
}

static void read_cti(struct run *r, size_t core, uint32_t words[REGISTERS])
{
    static const uint32_t offsets[REGISTERS] = {0x000, 0x020, 0x0A0, 0x140};
    for (unsigned i = 0; i < REGISTERS; i++)
        read_words(r, core, CTI + offsets[i], &words[i], 1);
}

static void turn_on(struct run *r, enum group_mechanism halt, enum group_mechanism run)
{
    struct diag d = DIAG_INIT;
    struct group_member member;
    if (session_set_sync(r->s, true, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(session_member(r->s, i, &member, &d), CORRAL_OK);
        if (member.halt != halt)
            fail_msg("%s: %s; %s", member.name, group_why_text(member.halt_why), member.detail);
        assert_int_equal(member.run, run);
    }
}

static void measure(struct run *r, struct session_rounds *out)
{
    struct diag d = DIAG_INIT;
    struct event e;
    if (session_halt(r->s, 0, &e, &d) != CORRAL_OK ||
        session_measure_rounds(r->s, ROUNDS, ROUND_RUN_NS, NULL, out, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
}

static void compare_options(const char *sequences)
{
    struct run one, two;
    struct session_rounds skew_one, skew_two;
    uint32_t found[2][REGISTERS], left[REGISTERS], by_us[2][REGISTERS], by_pack[2][REGISTERS], restart[2];
    struct diag d = DIAG_INIT;

    open_run(&one, NULL, false);
    for (size_t i = 0; i < 2; i++)
        read_cti(&one, i, found[i]);
    turn_on(&one, GROUP_MECHANISM_CTI, GROUP_MECHANISM_CTI);
    measure(&one, &skew_one);
    for (size_t i = 0; i < 2; i++)
        read_cti(&one, i, by_us[i]);
    read_words(&one, 0, CTI + 0x0A0 + 4 * 7, &restart[0], 1);
    close_run(&one);

    open_run(&two, sequences, true);
    assert_string_equal(session_core_name(two.s, 0), "Left");
    assert_string_equal(session_core_name(two.s, 1), "Right");
    turn_on(&two, GROUP_MECHANISM_SEQUENCE, GROUP_MECHANISM_SEQUENCE);
    measure(&two, &skew_two);
    for (size_t i = 0; i < 2; i++) {
        read_cti(&two, i, by_pack[i]);
        assert_memory_equal(by_us[i], by_pack[i], sizeof(by_us[i]));
    }
    read_words(&two, 0, CTI + 0x0A0 + 4 * 7, &restart[1], 1);
    assert_int_equal(restart[0], restart[1]);
    assert_true(llabs(skew_one.max_ns - skew_two.max_ns) <= SKEW_MOST_NS);
    assert_true(llabs(skew_one.median_ns - skew_two.median_ns) <= SKEW_MOST_NS);
    assert_true(skew_two.worst_difference_ns <= SKEW_MOST_NS);
    print_message("# skew: option 1 %lld ns, option 2 %lld ns\n", (long long)skew_one.max_ns,
                  (long long)skew_two.max_ns);

    assert_int_equal(session_set_sync(two.s, false, &d), CORRAL_OK);
    for (size_t i = 0; i < 2; i++) {
        read_cti(&two, i, left);
        assert_memory_equal(found[i], left, sizeof(left));
    }
    close_run(&two);
}

static void test_both_options_leave_the_same_registers_and_skew(void **state)
{
    (void)state;
    compare_options(ours);
}

/* The three sequences for the Cortex-M7 out of the seed's text; NULL (after a message) where it is not there.
 */
static char *sequences_of_the_seed(void)
{
    static const char *const names[] = {"DebugCoreSetup", "ProcessorStart", "ProcessorHaltAcknowledge"};
    char path[1024];
    snprintf(path, sizeof(path), "%s/../shared/seeds/002-cross-trigger.txt", source_root);
    FILE *f = fopen(path, "r");
    if (!f) {
        print_message("# skipped: no %s\n", "../shared/seeds/002-cross-trigger.txt");
        return NULL;
    }
    char *text = calloc(1, TEXT_MOST), *picked = calloc(1, TEXT_MOST);
    assert_non_null(text);
    assert_non_null(picked);
    assert_true(fread(text, 1, TEXT_MOST - 1, f) > 0);
    fclose(f);
    for (unsigned i = 0; i < 3; i++) {
        char opening[80];
        snprintf(opening, sizeof(opening), "<sequence name=\"%s\">", names[i]);
        char *last = NULL; /* the example stands behind the default */
        for (char *at = text; (at = strstr(at, opening)); at++)
            last = at;
        assert_non_null(last);
        char *end = strstr(last, "</sequence>");
        assert_non_null(end);
        strncat(picked, last, (size_t)(end - last) + strlen("</sequence>"));
        strcat(picked, "\n");
    }
    free(text);
    return picked;
}

/* ProcessorStart writes to a variable that it does not declare (sheet 13.11): refused, with the reason. The
 * others run as printed, and the start is our own pulse then. */
static void test_the_seeds_sequences_as_printed(void **state)
{
    struct run r;
    struct sequence_info info;
    struct session_rounds skew;
    char *picked = sequences_of_the_seed();
    (void)state;
    if (!picked)
        skip();
    open_run_with(&r, picked, true, 1);
    assert_non_null(strstr(r.notes, "ProcessorStart of t.pdsc is not used"));
    assert_true(sequence_find(r.program, "ProcessorStart", "Left", &info));
    assert_true(info.has_errors);
    assert_true(sequence_find(r.program, "DebugCoreSetup", "Left", &info) && !info.has_errors);
    assert_true(sequence_find(r.program, "ProcessorHaltAcknowledge", "Left", &info) && !info.has_errors);
    turn_on(&r, GROUP_MECHANISM_SEQUENCE, GROUP_MECHANISM_CTI);
    measure(&r, &skew);
    assert_true(skew.worst_difference_ns <= SKEW_MOST_NS);
    close_run(&r);
    free(picked);
}

/* Renaming alone would write the key to DFSR: the offset is mended, too. */
static void test_the_seeds_sequences_mended(void **state)
{
    static const char wrong[] = "__var DFSR_Addr = SCS_Addr + 0xD30;";
    static const char right[] = "__var DHCSR_Addr = SCS_Addr + 0xDF0;";
    char *picked = sequences_of_the_seed();
    (void)state;
    if (!picked)
        skip();
    char *at = strstr(picked, wrong);
    assert_non_null(at);
    memmove(at + sizeof(right) - 1, at + sizeof(wrong) - 1, strlen(at + sizeof(wrong) - 1) + 1);
    memcpy(at, right, sizeof(right) - 1);
    compare_options(picked);
    free(picked);
}

/* Where nobody switches sync on, DebugCoreSetup must not have left anything behind either. */
static void test_a_setup_that_nobody_used_is_taken_back(void **state)
{
    struct run r;
    uint32_t found[REGISTERS], now[REGISTERS], left[REGISTERS];
    struct diag d = DIAG_INIT;
    (void)state;
    open_run(&r, NULL, false);
    read_cti(&r, 0, found);
    close_run(&r);
    open_run(&r, ours, true);
    read_cti(&r, 0, now);
    assert_int_equal(now[0], 1);
    size_t repaired = 1;
    assert_int_equal(session_repair(r.s, &repaired, &d), CORRAL_OK); /* ours is no leftover */
    assert_int_equal(repaired, 0);
    read_cti(&r, 0, now);
    assert_int_equal(now[0], 1);
    assert_int_equal(session_detach(r.s, true, &d), CORRAL_OK); /* the port stays up to be looked at */
    read_cti(&r, 0, left);
    assert_memory_equal(found, left, sizeof(left));
    close_run(&r);
}

/* Without the wish for sync not one register of a CTI is written, and __options is 0. */
static void test_without_sync_no_setup(void **state)
{
    struct run r, plain;
    uint32_t found[REGISTERS], now[REGISTERS];
    (void)state;
    open_run(&plain, NULL, false);
    read_cti(&plain, 0, found);
    close_run(&plain);
    open_run(&r, ours, false);
    read_cti(&r, 0, now);
    assert_memory_equal(found, now, sizeof(now));
    close_run(&r);
}

static void test_a_start_alone_is_not_used_and_that_is_said(void **state)
{
    static const char sequences[] =
        "<sequence name=\"ProcessorStart\"><block>Write32(0xE004201C, 2);</block></sequence>\n";
    struct run r;
    (void)state;
    open_run(&r, sequences, true);
    assert_non_null(strstr(r.notes, "ProcessorStart is not used for Left"));
    turn_on(&r, GROUP_MECHANISM_CTI, GROUP_MECHANISM_CTI);
    close_run(&r);
}

/* The order of connecting and leaving, by what each sequence leaves in RAM. */
static void test_order_of_connecting(void **state)
{
    static const char sequences[] =
        "<sequence name=\"DebugPortStart\"><block>Sequence(\"Mark\");</block></sequence>\n"
        "<sequence name=\"Mark\"><block>WriteDP(8, 0); WriteDP(4, 0x50000F00);</block></sequence>\n"
        "<sequence name=\"DebugDeviceUnlock\"><block>Write32(0x20000000, 1);</block></sequence>\n"
        "<sequence name=\"DebugCoreStart\" Pname=\"Left\"><block>\n"
        "  Write32(0x20000004, Read32(0x20000000) + 1); Write32(0xE000EDF0, 0xA05F0001);</block></sequence>\n"
        "<sequence name=\"DebugCoreStart\" Pname=\"Right\"><block>Write32(0x20000008, __ap + "
        "7);</block></sequence>\n"
        "<sequence name=\"DebugCoreStop\"><block>Message(0, \"stop %u\", __ap);</block></sequence>\n"
        "<sequence name=\"DebugPortStop\"><block>Message(0, \"port\");</block></sequence>\n";
    struct run r;
    struct diag d = DIAG_INIT;
    (void)state;
    open_run(&r, sequences, false);
    assert_string_equal(r.notes, "");
    assert_int_equal(session_detach(r.s, false, &d), CORRAL_OK);
    assert_string_equal(r.notes, "DebugCoreStop: stop 0\nDebugCoreStop: stop 1\nDebugPortStop: port\n");
    close_run(&r);
}

/* A core that is to stay halted would be let go by them. */
static void test_cores_that_stay_halted_keep_their_debug_port(void **state)
{
    static const char sequences[] =
        "<sequence name=\"DebugPortStop\"><block>Message(0, \"port\");</block></sequence>\n";
    struct run r;
    struct event e;
    struct diag d = DIAG_INIT;
    (void)state;
    open_run(&r, sequences, false);
    assert_int_equal(session_halt(r.s, 0, &e, &d), CORRAL_OK);
    assert_int_equal(session_detach(r.s, true, &d), CORRAL_OK);
    assert_string_equal(r.notes, "");
    close_run(&r);
}

/* The virtual board is none of the devices of packs: what fails there is said, and the rest goes on. */
static void test_a_sequence_that_fails_on_the_board_is_said(void **state)
{
    static const char sequences[] =
        "<sequence name=\"DebugDeviceUnlock\"><block>Message(2, \"not this device\");</block></sequence>\n";
    struct run r;
    (void)state;
    open_run(&r, sequences, false);
    assert_int_equal(session_core_count(r.s), 2);
    assert_non_null(strstr(r.notes, "DebugDeviceUnlock ended early"));
    assert_non_null(strstr(r.notes, "not this device"));
    close_run(&r);
}

/* ResetSystem of the pack is what a reset does, and what it read away is known all the same. */
static void test_reset_by_the_packs_sequence(void **state)
{
    static const char sequences[] =
        "<sequence name=\"ResetSystem\"><block>\n"
        "  Message(0, \"reset\"); Write32(0xE000ED0C, 0x05FA0004); DAP_Delay(1000);</block>\n"
        "<control while=\"Read32(0xE000EDF0) &amp; 0x02000000\" timeout=\"500000\"/></sequence>\n";
    struct run r;
    struct event e;
    struct diag d = DIAG_INIT;
    struct group_reset reset = {.how = CORE_RESET_SYSTEM, .halt = true};
    (void)state;
    open_run(&r, sequences, false);
    if (session_reset(r.s, &reset, &e, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(e.halt.cores[i].state, CORE_HALTED);
        assert_int_equal(e.halt.cores[i].reason, HALT_REASON_VECTOR_CATCH);
    }
    struct core_status status;
    assert_int_equal(session_core_status(r.s, 0, &status, &d), CORRAL_OK);
    assert_int_equal(status.resets, 1);
    assert_int_equal(session_detach(r.s, false, &d), CORRAL_OK);
    assert_non_null(strstr(r.notes, "ResetSystem: reset"));
    close_run(&r);
}

/* One that is refused half way has run all the same: nobody pulses a second time for it. */
static void test_a_start_that_is_refused_behind_its_pulse_has_run(void **state)
{
    static const char set_up[] =
        "<sequence name=\"DebugCoreSetup\"><block>\n"
        "  Write32(0xE0042000, 1); Write32(0xE0042020, 1); Write32(0xE00420A0, 1); Write32(0xE00420BC, 2);\n"
        "</block></sequence>\n"
        "<sequence name=\"ProcessorHaltAcknowledge\"><block>Write32(0xE0042010, 1);</block></sequence>\n"
        "<sequence name=\"ProcessorStart\"><block>\n"
        "  Write32(0xE004201C, 2); __dp = 1; ReadDP(0);</block></sequence>\n";
    struct run r;
    struct event e;
    struct diag d = DIAG_INIT;
    (void)state;
    open_run(&r, set_up, true);
    turn_on(&r, GROUP_MECHANISM_SEQUENCE, GROUP_MECHANISM_SEQUENCE);
    assert_int_equal(session_halt(r.s, 0, &e, &d), CORRAL_OK);
    if (session_run(r.s, 0, &e, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    assert_int_equal(e.halt.mechanism, GROUP_MECHANISM_SEQUENCE);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(e.halt.cores[i].state, CORE_RUNNING);
    close_run(&r);
}

/* Connecting that ends early leaves the port, as connecting that did not. */
static void test_a_connection_that_ends_early_is_left(void **state)
{
    static const char sequences[] =
        "<sequence name=\"DebugPortStop\"><block>Message(0, \"port\");</block></sequence>\n";
    struct run r;
    struct diag d = DIAG_INIT;
    const char *const none[] = {"Nobody"};
    (void)state;
    open_run(&r, sequences, false);
    assert_int_equal(session_close(r.s), CORRAL_OK);
    r.notes[0] = '\0';
    struct session_options how = {.link = "sim",
                                  .listen_port = -1,
                                  .bus = r.bus,
                                  .pack = r.device,
                                  .program = r.program,
                                  .core_names = none,
                                  .core_name_count = 1,
                                  .wire = {.note = on_note, .ctx = &r}};
    r.s = session_open(&how, &d);
    assert_non_null(r.s);
    assert_int_not_equal(session_connect(r.s, &d), CORRAL_OK);
    assert_string_equal(r.notes, "");
    close_run(&r);
    assert_string_equal(r.notes, "DebugPortStop: port\n");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_options_leave_the_same_registers_and_skew),
        cmocka_unit_test(test_the_seeds_sequences_as_printed),
        cmocka_unit_test(test_the_seeds_sequences_mended),
        cmocka_unit_test(test_a_setup_that_nobody_used_is_taken_back),
        cmocka_unit_test(test_without_sync_no_setup),
        cmocka_unit_test(test_a_start_alone_is_not_used_and_that_is_said),
        cmocka_unit_test(test_order_of_connecting),
        cmocka_unit_test(test_cores_that_stay_halted_keep_their_debug_port),
        cmocka_unit_test(test_a_sequence_that_fails_on_the_board_is_said),
        cmocka_unit_test(test_reset_by_the_packs_sequence),
        cmocka_unit_test(test_a_start_that_is_refused_behind_its_pulse_has_run),
        cmocka_unit_test(test_a_connection_that_ends_early_is_left),
    };
    source_root = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
