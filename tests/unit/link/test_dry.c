/* SPDX-License-Identifier: Apache-2.0 */
/* The link without a target: presets, mirrored bits, files of a real part's words, and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "link/dry.h"

static struct host_clock *clock_of_test;

static int set_up(void **state)
{
    (void)state;
    clock_of_test = host_clock_new_virtual();
    return clock_of_test ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    host_clock_free(clock_of_test);
    return 0;
}

static struct link *open_dry(const char *spec)
{
    struct diag d = DIAG_INIT;
    struct link *link = link_dry_open(spec, clock_of_test, &d);
    if (!link)
        fail_msg("%s", d.message);
    return link;
}

static void refused(const char *spec, enum corral_err code)
{
    struct diag d = DIAG_INIT;
    assert_null(link_dry_open(spec, clock_of_test, &d));
    assert_int_equal(d.code, code);
    assert_true(d.message[0] != '\0');
}

static void test_presets_and_zero(void **state)
{
    (void)state;
    struct link *link = open_dry("dry:0x20000000=0x11223344,0xE000ED00=0x410FC241");
    struct diag d = DIAG_INIT;
    uint32_t v;
    uint8_t byte;
    assert_int_equal(link_read32(link, 0, 0x20000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x11223344);
    assert_int_equal(link_read8(link, 0, 0x20000002, &byte, &d), CORRAL_OK);
    assert_int_equal(byte, 0x22);
    assert_int_equal(link_read32(link, 3, 0x20000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x11223344);
    assert_int_equal(link_write8(link, 0, 0x20000001, 0xAA, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x20000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x1122AA44);
    assert_int_equal(link_read32(link, 0, 0x30000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0);
    link_close(link);
}

static void test_connect_sequences_end(void **state)
{
    (void)state;
    struct link *link = open_dry("dry");
    struct diag d = DIAG_INIT;
    uint32_t v;
    assert_int_equal(dp_power_up(link, &d), CORRAL_OK);
    assert_int_equal(link_read_ap(link, 0, 0xFC, &v, &d), CORRAL_OK);
    assert_int_not_equal(v, 0);
    assert_int_equal(link_write32(link, 0, 0xE000EDF0, 0xA05F0003, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(v & 0x30003, 0x30003);
    assert_int_equal(link_write32(link, 0, 0xE000EDF0, 0xA05F0001, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0xE000EDF0, &v, &d), CORRAL_OK);
    assert_int_equal(v & 0x20003, 0x1);
    link_close(link);
}

static void test_words_that_mean_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"dry:x",   "dry:0x0",     "dry:0x1=1",           "dry:0x0=",
                                      "dry:=1",  "dry:0x0=1,,", "dry:0x0=0x100000000", "dry:0x100000000=1",
                                      "dry:-4=1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refused(bad[i], CORRAL_ERR_USAGE);
    refused("dry:@no/such.json", CORRAL_ERR_IO);
}

/* Writes `text` to a file and gives "dry:@FILE". */
static const char *file_of(const char *text, char spec[64])
{
    snprintf(spec, 64, "dry:@dry-test-XXXXXX");
    int fd = mkstemp(spec + 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return spec;
}

static void test_files_that_are_not_what_they_claim(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[",
        "{}",
        "{\"aps\":1}",
        "{\"aps\":[1]}",
        "{\"aps\":[{}]}",
        "{\"aps\":[{\"ap\":-2}]}",
        "{\"aps\":[{\"ap\":0,\"idr\":\"x\"}]}",
        "{\"aps\":[{\"ap\":0,\"base\":-1}]}",
        "{\"aps\":[{\"ap\":0,\"words\":{\"0x2\":\"1\"}}]}",
        "{\"aps\":[{\"ap\":0,\"words\":{\"zero\":\"1\"}}]}",
        "{\"aps\":[{\"ap\":0,\"words\":{\"0x0\":[]}}]}",
        "{\"aps\":[{\"ap\":0,\"unreadable\":[\"?\"]}]}",
        "{\"aps\":[{\"ap\":0,\"cfg\":-1}]}",
        "{\"aps\":[{\"ap\":0,\"baseh\":\"x\"}]}",
        "{\"aps\":[{\"ap\":256}]}",
        "{\"aps\":[{\"ap\":256,\"parent\":256,\"address\":0}]}",
        "{\"aps\":[{\"ap\":256,\"parent\":-1,\"address\":0}]}",
        "{\"aps\":[{\"ap\":256,\"parent\":0,\"address\":4}]}",
    };
    char spec[64];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        refused(file_of(bad[i], spec), CORRAL_ERR_FORMAT);
        unlink(spec + 5);
    }
}

static void test_a_file_of_words(void **state)
{
    (void)state;
    char spec[64];
    struct diag d = DIAG_INIT;
    uint32_t v;
    struct link *link =
        open_dry(file_of("{\"aps\":[{\"ap\":1,\"idr\":\"0x44770002\",\"base\":\"0x80000003\","
                         "\"words\":{\"0x80000000\":\"0x00001003\"},\"unreadable\":[\"0x80001000\"]}]}",
                         spec));
    unlink(spec + 5);
    assert_int_equal(link_read_ap(link, 1, 0xFC, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x44770002);
    assert_int_equal(link_read_ap(link, 1, 0xF8, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x80000003);
    assert_int_equal(link_read_ap(link, 0, 0xFC, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0);
    assert_int_equal(link_read32(link, 1, 0x80000000, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x1003);
    assert_int_equal(link_read32(link, 1, 0x80001FF0, &v, &d), CORRAL_ERR_LINK_FAULT);
    assert_int_equal(link_read32(link, 1, 0x80002000, &v, &d), CORRAL_OK);
    link_close(link);
}

/* Domains of a class 9 table and of a GPR are on once asked for; and a plain word is a plain word. */
static void test_power_that_is_asked_for_is_there(void **state)
{
    (void)state;
    char spec[64];
    struct diag d = DIAG_INIT;
    uint32_t v;
    struct link *link =
        open_dry(file_of("{\"aps\":[{\"ap\":0,\"words\":{\"0x1FBC\":\"0x47700AF7\",\"0x1A0C\":1,"
                         "\"0x2FE0\":\"0xA4\",\"0x2FE4\":\"0xB9\"}}]}",
                         spec));
    unlink(spec + 5);
    assert_int_equal(link_read32(link, 0, 0x1A8C, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0);
    assert_int_equal(link_write32(link, 0, 0x1A0C, 3, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x1A8C, &v, &d), CORRAL_OK);
    assert_int_equal(v, 3);
    assert_int_equal(link_write32(link, 0, 0x2000, 0x20, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x2004, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x20);
    assert_int_equal(link_write32(link, 0, 0x3000, 0x20, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x3004, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0);
    link_close(link);
}

/* In all sizes, and where a write has been. */
static void test_presets_in_all_sizes(void **state)
{
    (void)state;
    struct link *link = open_dry("dry:0x20000000=0x11223344");
    struct diag d = DIAG_INIT;
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t byte;
        assert_int_equal(link_read8(link, i, 0x20000000 + i, &byte, &d), CORRAL_OK);
        assert_int_equal(byte, 0x44 - 0x11 * i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint16_t half = 0;
        struct link_access a = {.op = LINK_MEM_READ, .size = 2, .count = 1, .data = &half};
        a.address = 0x20000000 + 2 * i;
        assert_int_equal(link_execute(link, &a, 1, &d), CORRAL_OK);
        assert_int_equal(half, i ? 0x1122 : 0x3344);
        half = 0xBEEF;
        a.op = LINK_MEM_WRITE;
        a.ap = 1;
        assert_int_equal(link_execute(link, &a, 1, &d), CORRAL_OK);
    }
    assert_int_equal(link_read32(link, 1, 0x20000000, &word, &d), CORRAL_OK);
    assert_int_equal(word, 0xBEEFBEEF);
    assert_int_equal(link_read32(link, 0, 0x20000000, &word, &d), CORRAL_OK);
    assert_int_equal(word, 0x11223344); /* another AP's memory */
    link_close(link);
}

/* Whatever AP a sequence means has an IDR; in ADIv6's place, too, and with a base address for its number. */
static void test_each_ap_has_an_idr(void **state)
{
    (void)state;
    static const struct {
        uint32_t ap, reg;
    } places[] = {{0, 0xFC}, {1, 0xFC}, {3, 0xFC}, {255, 0xFC}, {0x2000, 0xDFC}, {0xFFFFF000, 0xDFC}};
    struct link *link = open_dry("dry");
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        uint32_t v = 0;
        assert_int_equal(link_read_ap(link, places[i].ap, places[i].reg, &v, &d), CORRAL_OK);
        assert_int_equal(v >> 13 & 0xF, 8); /* a MEM-AP's */
        assert_int_equal(link_write_ap(link, places[i].ap, places[i].reg, 0, &d), CORRAL_OK);
        assert_int_equal(link_read_ap(link, places[i].ap, places[i].reg, &v, &d), CORRAL_OK);
        assert_int_equal(v >> 13 & 0xF, 8); /* which cannot be written */
        uint32_t csw = places[i].reg - 0xFC;
        assert_int_equal(link_write_ap(link, places[i].ap, csw, 0x23000042, &d), CORRAL_OK);
        assert_int_equal(link_read_ap(link, places[i].ap, csw, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x23000042);
    }
    uint32_t v;
    assert_int_equal(link_read_ap(link, 0x104, 0, &v, &d), CORRAL_ERR_NO_AP); /* neither one nor the other */
    link_close(link);
}

/* Where a file's "cfg" says that the AP has them (CFG.LD). */
static void test_c42_accesses_of_64_bits(void **state)
{
    (void)state;
    char spec[64];
    struct diag d = DIAG_INIT;
    uint64_t both = 0;
    uint32_t v = 0;
    struct link_access a = {.op = LINK_MEM_READ, .size = 8, .address = 0x100, .count = 1, .data = &both};
    struct link *link = open_dry("dry:0x100=1");
    assert_int_equal(link_execute(link, &a, 1, &d), CORRAL_ERR_UNSUPPORTED);
    assert_string_equal(d.message, "access port 0 has no 64-bit accesses");
    link_close(link);
    link = open_dry(file_of("{\"aps\":[{\"ap\":0,\"cfg\":4,\"words\":{\"0x100\":1,\"0x104\":2}}]}", spec));
    unlink(spec + 5);
    assert_int_equal(link_execute(link, &a, 1, &d), CORRAL_OK);
    assert_true(both == UINT64_C(0x200000001));
    both = UINT64_C(0x1234567890);
    a.op = LINK_MEM_WRITE;
    assert_int_equal(link_execute(link, &a, 1, &d), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x104, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0x12);
    link_close(link);
}

/* What a pack's DebugPortStart and DebugPortStop do. */
static void test_the_port_goes_up_and_down(void **state)
{
    (void)state;
    struct link *link = open_dry("dry");
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        assert_int_equal(link_write_dp(link, 0x8, 0, &d), CORRAL_OK);
        assert_int_equal(link_read_dp(link, 0x4, &v, &d), CORRAL_OK);
        assert_int_equal(v & 0xF0000000, 0); /* not up before it is asked for */
        assert_int_equal(link_write_dp(link, 0x4, 0x50000000, &d), CORRAL_OK);
        unsigned polls = 0;
        do
            assert_int_equal(link_read_dp(link, 0x4, &v, &d), CORRAL_OK);
        while ((v & 0xA0000000) != 0xA0000000 && ++polls < 3);
        assert_int_equal(polls, 0);
        assert_int_equal(link_write_dp(link, 0x4, 0x50000F00, &d), CORRAL_OK);
        assert_int_equal(link_write_dp(link, 0x0, 0x1E, &d), CORRAL_OK);
        assert_int_equal(link_read_dp(link, 0x4, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0xF0000F00);
        assert_int_equal(link_write_dp(link, 0x8, 0, &d), CORRAL_OK);
        assert_int_equal(link_write_dp(link, 0x4, 0, &d), CORRAL_OK);
    }
    assert_int_equal(link_read_dp(link, 0x4, &v, &d), CORRAL_OK);
    assert_int_equal(v, 0);
    link_close(link);
}

/* A loop that waits for what never comes ends by its time. */
static void test_time_passes_with_each_access(void **state)
{
    (void)state;
    struct link *link = open_dry("dry");
    struct diag d = DIAG_INIT;
    uint32_t v;
    unsigned polls = 0;
    int64_t end = host_clock_now(clock_of_test) + 1000 * NS_PER_US;
    while (host_clock_now(clock_of_test) < end && polls++ < 1000)
        assert_int_equal(link_read_dp(link, 0x4, &v, &d), CORRAL_OK);
    assert_int_equal(polls, 100); /* 10 us each */
    link_close(link);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets_and_zero),
        cmocka_unit_test(test_connect_sequences_end),
        cmocka_unit_test(test_words_that_mean_nothing),
        cmocka_unit_test(test_files_that_are_not_what_they_claim),
        cmocka_unit_test(test_a_file_of_words),
        cmocka_unit_test(test_power_that_is_asked_for_is_there),
        cmocka_unit_test(test_presets_in_all_sizes),
        cmocka_unit_test(test_each_ap_has_an_idr),
        cmocka_unit_test(test_the_port_goes_up_and_down),
        cmocka_unit_test(test_c42_accesses_of_64_bits),
        cmocka_unit_test(test_time_passes_with_each_access),
    };
    return cmocka_run_group_tests_name("link-dry", tests, set_up, tear_down);
}
