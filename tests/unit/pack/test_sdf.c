/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System description files: what they say of cores and CTIs (the cross-trigger sheet 1.5, 2.5, case B19), and
 * hostile ones, each refused with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pack/sdf.h"
#include "pack/sdf_internal.h"

#define ITEM(name, value) "<config_item name=\"" name "\">" value "</config_item>\n"
#define AP(name, index)    \
    "<device name=\"" name \
    "\" type=\"CSMEMAP\"><config_items>\n" ITEM("CORESIGHT_AP_INDEX", index) "</config_items></device>\n"
#define DEVICE(name, type, index, base)                                                              \
    "<device name=\"" name "\" type=\"" type "\"><config_items>\n" ITEM("CORESIGHT_AP_INDEX", index) \
        ITEM("CORESIGHT_BASE_ADDRESS", base) "</config_items></device>\n"
#define LINK(master, slave, trigger)                                                                        \
    "<topology_link type=\"CTITrigger\" master=\"" master "\" slave=\"" slave "\" trigger=\"" trigger "\"/" \
    ">\n"
#define HEAD                                       \
    "<?xml version=\"1.0\" encoding=\"US-ASCII\" " \
    "standalone=\"no\"?>\n<system_description>\n<scanchain><dap name=\"DP\" type=\"ARMCS-DP\">\n"
#define MIDDLE "</dap></scanchain>\n<topology>\n"
#define TAIL   "</topology>\n</system_description>\n"

static struct sdf *parse(const char *text)
{
    struct diag d = DIAG_INIT;
    struct sdf *sdf = sdf_parse("part.sdf", text, strlen(text), &d);
    if (!sdf && d.code == CORRAL_ERR_UNSUPPORTED)
        skip();
    if (!sdf)
        fail_msg("%s", d.message);
    return sdf;
}

/* An STM32H745 as the sheet has it: M7 on AP 0, M4 on AP 3, a system CTI on AP 2. */
static const char h745[] = HEAD AP("CSMEMAP_0", "0x0") AP("CSMEMAP_2", "0x00000002") AP("CSMEMAP_3", "3")
    DEVICE("Cortex-M7", "Cortex-M7", "0x0", "0xE000E000") DEVICE("CSCTI_0", "CSCTI", "0", "0xE0043000")
        DEVICE("Cortex-M4", "Cortex-M4", "0x00000003", "0xE000E000")
            DEVICE("CSCTI_1", "CSCTI", "3", "0xE0043000") DEVICE("CSCTI_2", "CSCTI", "2", "0xE00F1000")
                DEVICE("CSTPIU", "CSTPIU", "2", "0xE00F5000") MIDDLE LINK("Cortex-M7", "CSCTI_0", "7")
                    LINK("Cortex-M4", "CSCTI_1", "7")
                        LINK("CSCTI_2", "CSTPIU",
                             "2") "<topology_link type=\"ATB\" master=\"CSETM\" slave=\"CSTPIU\" "
                                  "mater_interface=\"0\" slave_interface=\"1\"/>\n" TAIL;

static void test_cores_ctis_and_restart_outputs(void **state)
{
    (void)state;
    struct sdf *sdf = parse(h745);
    assert_int_equal(sdf->ap_count, 3);
    assert_int_equal(sdf->aps[1], 2);
    assert_int_equal(sdf->core_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct sdf_core *c = &sdf->cores[i];
        assert_string_equal(c->name, i ? "Cortex-M4" : "Cortex-M7");
        assert_int_equal(c->ap, i ? 3 : 0);
        assert_true(c->base_set && c->cti_set);
        assert_int_equal(c->base, 0xE000E000);
        assert_int_equal(c->cti_ap, c->ap);
        assert_int_equal(c->cti_address, 0xE0043000);
        assert_int_equal(c->restart_output, 7);
    }
    sdf_free(sdf);
    sdf_free(NULL);
}

static void test_b19_indexes_in_both_notations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t ap;
    } cases[] = {{"0x00000001", 1}, {"1", 1}, {" 0x1\n", 1}, {"10", 10}, {"0X0a", 10}, {"0", 0}, {"0x0", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "<a><device name=\"M33\" type=\"Cortex-M33\"><config_item name=\"CORESIGHT_AP_INDEX\">%s"
                 "</config_item></device></a>",
                 cases[i].text);
        struct sdf *sdf = parse(text);
        assert_int_equal(sdf->core_count, 1);
        assert_int_equal(sdf->cores[0].ap, cases[i].ap);
        assert_false(sdf->cores[0].base_set);
        assert_false(sdf->cores[0].cti_set);
        assert_int_equal(sdf->cores[0].restart_output, -1);
        sdf_free(sdf);
    }
}

/* Musca: the core's own item names the CTI; here without a link, and so without a restart output. */
static void test_a_core_may_name_its_cti_itself(void **state)
{
    (void)state;
    struct sdf *sdf = parse("<a><device name=\"Cortex-M33_0\" type=\"Cortex-M33\"><config_items>" ITEM(
        "CORESIGHT_AP_INDEX", "0x1") ITEM("CTI_CORESIGHT_BASE_ADDRESS", "0xE0042000")
                                ITEM("GPR_BASE_ADDRESS", "0xF0009000") "</config_items></device></a>");
    assert_true(sdf->cores[0].cti_set);
    assert_int_equal(sdf->cores[0].cti_ap, 1);
    assert_int_equal(sdf->cores[0].cti_address, 0xE0042000);
    assert_int_equal(sdf->cores[0].restart_output, -1);
    sdf_free(sdf);
}

/* ADIv6: the index is that of an AP device, whose address is the AP. Addresses may lack the 0x. */
static void test_an_ap_with_an_address_stands_for_its_index(void **state)
{
    (void)state;
    struct sdf *sdf = parse("<a><device name=\"AP\" type=\"CSMEMAP\">" ITEM("CORESIGHT_AP_INDEX", "4") ITEM(
        "CORESIGHT_AP_ADDRESS", "0x00200000") "</device>" DEVICE("M55", "Cortex-M55", "4", "E000E000")
                                DEVICE("CTI", "CSCTI", "4", "e0042000") LINK("M55", "CTI", "0x1") "</a>");
    assert_int_equal(sdf->aps[0], 0x200000);
    assert_int_equal(sdf->cores[0].ap, 0x200000);
    assert_int_equal(sdf->cores[0].cti_ap, 0x200000);
    assert_int_equal(sdf->cores[0].cti_address, 0xE0042000);
    assert_int_equal(sdf->cores[0].restart_output, 1);
    sdf_free(sdf);
}

/* A CTI in the debug port's own space, or behind another debug port, is no core's to be had here. */
static void test_what_cannot_be_reached_is_left_out(void **state)
{
    (void)state;
    struct sdf *sdf =
        parse("<a><dap/>" DEVICE(
            "M55", "Cortex-M55", "0",
            "0xE000E000") "<device name=\"CTI\" type=\"CSCTI\">" ITEM("CORESIGHT_AP_INDEX", "0")
                  ITEM("CORESIGHT_BASE_ADDRESS", "0x160000")
                      ITEM("CORESIGHT_DP_MEMSPACE", "True") "</device><dap/>" DEVICE("M33", "Cortex-M33", "0",
                                                                                     "0xE000E000")
                          LINK("M55", "CTI", "1") "<device name=\"M0\" type=\"Cortex-M0+\"/></a>");
    assert_int_equal(sdf->core_count, 1);
    assert_string_equal(sdf->cores[0].name, "M55");
    assert_false(sdf->cores[0].cti_set);
    assert_int_equal(sdf->cores[0].restart_output, 1); /* this much the link says */
    sdf_free(sdf);
}

/* Sixty-four bits of base address, and a link whose CTI the file does not have. */
static void test_wide_bases_and_dangling_links(void **state)
{
    (void)state;
    struct sdf *sdf =
        parse("<a><device name=\"A53\" type=\"Cortex-A53\">" ITEM("CORESIGHT_AP_INDEX", "1")
                  ITEM("CORESIGHT_BASE_ADDRESS", "0x80010000")
                      ITEM("CORESIGHT_BASE_ADDRESS_MSW", "0x4") "</device>" LINK("A53", "nowhere", "1")
                          LINK("nobody", "A53", "1") "</a>");
    assert_int_equal(sdf->core_count, 1);
    assert_true(sdf->cores[0].base == UINT64_C(0x480010000));
    assert_int_equal(sdf->cores[0].restart_output, -1);
    sdf_free(sdf);
}

struct wrong {
    const char *text;
    unsigned line;
    const char *what;
};

static const struct wrong mistakes[] = {
    {"", 1, "empty"},
    {"no XML at all", 1, "not XML"},
    {"<a>\n<b>\n</a>\n", 3, "not XML"},
    {"<a>\n<device name=\"x\" type=\"y\"\n", 3, "not XML"},
    {"<a/>\n<b/>", 2, "not XML"},
    {"<a>\xFF</a>", 1, "not XML"},
    {"<a>&nbsp;</a>", 1, "not XML"},
    /* entities: none is expanded, none is fetched */
    {"<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY x \"y\">]>\n<a>&x;</a>", 2, "document type"},
    {"<!DOCTYPE a SYSTEM \"http://192.0.2.1/a.dtd\">\n<a/>", 1, "document type"},
    {"<a>\n\n<!ENTITY x SYSTEM \"file:///etc/passwd\"></a>", 3, "document type"},
    /* values */
    {"<a>\n" ITEM("CORESIGHT_AP_INDEX", "0") "<device name=\"x\" type=\"y\">\n" ITEM("CORESIGHT_AP_INDEX",
                                                                                     "two") "</device></a>",
     4, "CORESIGHT_AP_INDEX is 'two'"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_AP_INDEX", "-1") "</device></a>", 1, "is '-1'"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_AP_INDEX", "") "</device></a>", 1, "is ''"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_AP_INDEX", "1 2") "</device></a>", 1, "is '1 2'"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_AP_INDEX", "4294967296") "</device></a>", 1, "fits"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_BASE_ADDRESS", "0x100000000") "</device></a>", 1,
     "fits"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CTI_CORESIGHT_BASE_ADDRESS",
                                              "0x10000000000000000") "</device></a>",
     1, "fits"},
    {"<a><device name=\"x\" type=\"y\">" ITEM("CORESIGHT_AP_INDEX", "&#27;[31m") "</device></a>", 1,
     "not XML"},
    {"<a><device name=\"x\" type=\"Cortex-M7\">" ITEM("CORESIGHT_AP_INDEX", "1")
         ITEM("CTI_CORESIGHT_BASE_ADDRESS", "0xE0042004") "</device></a>",
     1, "4 KiB"},
    {"<a>\n<topology_link type=\"CTITrigger\" master=\"a\" slave=\"b\" trigger=\"32\"/></a>", 2,
     "trigger is '32'"},
    {"<a><topology_link type=\"CTITrigger\" master=\"a\" slave=\"b\" mater_interface=\"x\"/></a>", 1,
     "mater_interface is 'x'"},
    {"<a><topology_link type=\"CTITrigger\" slave=\"b\" trigger=\"1\"/></a>", 1, "without master"},
    {"<a><device name=\"x\" type=\"y\"/>\n<device name=\"x\" type=\"z\"/></a>", 2, "twice (first in line 1)"},
};

static void test_every_mistake_has_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const struct wrong *w = &mistakes[i];
        struct diag d = DIAG_INIT;
        char place[32];
        struct sdf *sdf = sdf_parse("dir/part.sdf", w->text, strlen(w->text), &d);
        if (d.code == CORRAL_ERR_UNSUPPORTED)
            skip();
        if (sdf)
            fail_msg("accepted: %s", w->text);
        assert_int_equal(d.code, CORRAL_ERR_FORMAT);
        snprintf(place, sizeof(place), "dir/part.sdf:%u: ", w->line);
        if (strncmp(d.message, place, strlen(place)) != 0 || !strstr(d.message, w->what))
            fail_msg("case %zu: %s (want %s%s)", i, d.message, place, w->what);
        assert_null(strchr(d.message, '\n'));
        assert_null(strchr(d.message, 27));
    }
}

/* libxml2 prints what it is not kept from printing. */
static void test_nothing_is_printed(void **state)
{
    (void)state;
    static const char no_utf8[] = "<?xml version=\"1.0\" encoding=\"USA-SCII\"?>\n</con\xE8"
                                  "fig_";
    char made[] = "corral-sdf-XXXXXX";
    int file = mkstemp(made), kept = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept >= 0);
    unlink(made);
    assert_true(dup2(file, STDERR_FILENO) >= 0);
    sdf_free(sdf_parse("no.sdf", no_utf8, sizeof(no_utf8) - 1, NULL));
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        sdf_free(sdf_parse("no.sdf", mistakes[i].text, strlen(mistakes[i].text), NULL));
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
}

static void refused(char *text, const char *what)
{
    struct diag d = DIAG_INIT;
    struct sdf *sdf = sdf_parse("big.sdf", text, strlen(text), &d);
    if (d.code == CORRAL_ERR_UNSUPPORTED) {
        free(text);
        skip();
    }
    assert_null(sdf);
    assert_int_equal(d.code, CORRAL_ERR_FORMAT);
    if (!strstr(d.message, what))
        fail_msg("%s (want %s)", d.message, what);
    free(text);
}

static char *repeated(const char *head, const char *format, unsigned count, const char *tail)
{
    size_t room = strlen(head) + (strlen(format) + 16) * (size_t)count + strlen(tail) + 1, used;
    char *text = malloc(room);
    assert_non_null(text);
    used = (size_t)snprintf(text, room, "%s", head);
    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, format, i);
    snprintf(text + used, room - used, "%s", tail);
    return text;
}

static void test_everything_is_bounded(void **state)
{
    (void)state;
    refused(repeated("<a>", "<device name=\"d%u\" type=\"y\"/>\n", SDF_MAX_DEVICES + 1, "</a>"),
            "too many devices");
    refused(repeated("<a>", "<topology_link type=\"CTITrigger\" master=\"a%u\" slave=\"b\" trigger=\"1\"/>\n",
                     SDF_MAX_LINKS + 1, "</a>"),
            "too many topology links");
    refused(repeated("", "<b%u>\n", 200, ""), "too deep");
    refused(repeated("<a>",
                     "<device name=\"d%u\" type=\"Cortex-M0\">" ITEM("CORESIGHT_AP_INDEX", "0") "</device>",
                     SDF_MAX_CORES + 1, "</a>"),
            "too many cores");
    refused(
        repeated(
            "<a>", "<device name=\"d%u\" type=\"CSMEMAP\">" ITEM("CORESIGHT_AP_INDEX", "%u") "</device>", 0,
            "<device name=\"name-that-is-much-longer-than-anybody-would-ever-call-a-device-of-his\"/></a>"),
        "longer than 63");
    refused(repeated("<a>",
                     "<!-- %u -------------------------------------------------------------------- -->\n", 1,
                     "</a>"),
            "not XML"); /* "--" inside a comment */
    char *large = repeated("<a>", "<b>%08u</b>\n", SDF_MAX_BYTES / 12, "</a>");
    refused(large, "larger than");
    char nul[] = "<a>\n\0</a>";
    struct diag d = DIAG_INIT;
    assert_null(sdf_parse("nul.sdf", nul, sizeof(nul) - 1, &d));
    if (d.code != CORRAL_ERR_UNSUPPORTED)
        assert_non_null(strstr(d.message, "nul.sdf:2: "));
}

static void test_a_file_that_is_not_there(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(sdf_load("no/such.sdf", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "no/such.sdf"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores_ctis_and_restart_outputs),
        cmocka_unit_test(test_b19_indexes_in_both_notations),
        cmocka_unit_test(test_a_core_may_name_its_cti_itself),
        cmocka_unit_test(test_an_ap_with_an_address_stands_for_its_index),
        cmocka_unit_test(test_what_cannot_be_reached_is_left_out),
        cmocka_unit_test(test_wide_bases_and_dangling_links),
        cmocka_unit_test(test_every_mistake_has_its_line),
        cmocka_unit_test(test_nothing_is_printed),
        cmocka_unit_test(test_everything_is_bounded),
        cmocka_unit_test(test_a_file_that_is_not_there),
    };
    return cmocka_run_group_tests_name("pack-sdf", tests, NULL, NULL);
}
