/* SPDX-License-Identifier: Apache-2.0 */
/* Probes on USB bulk endpoints, and the choice of one, over a libusb of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/cmsis_dap.h"
#include "link/probes.h"
#include "tests/unit/link/fake_libusb.h"

#define SRAM 0x20060000u

static const struct fake_usb_device probe_a = {0x0d28, 0x0204, "DAPLink", "A001", "CMSIS-DAP v2"};
static const struct fake_usb_device probe_b = {0x2e8a, 0x000c, "Debug Probe", "B\x1b[2J",
                                               "CMSIS-DAP v2 Interface"};
static const struct fake_usb_device other = {0x0483, 0x374E, "STLINK-V3", "0042", "ST-Link Debug"};
static const struct fake_usb_device disk = {0x1234, 0x5678, "Disk", "D", "bulk storage"};
static const struct fake_usb_device hidden = {0x1111, 0x2222,      "?",
                                              "?",    "CMSIS-DAP", .refuse = LIBUSB_ERROR_ACCESS};

static struct cmsis_dap_peer peer;

static void plug(unsigned count, const struct fake_usb_device *const *devices)
{
    memset(&fake_usb, 0, sizeof(fake_usb));
    for (unsigned i = 0; i < count; i++)
        fake_usb.device[i] = *devices[i];
    fake_usb.count = count;
    fake_usb.peer = &peer;
}

static void all_given_back(void)
{
    assert_int_equal(fake_usb.contexts, 0);
    assert_int_equal(fake_usb.open, 0);
    assert_int_equal(fake_usb.claimed, 0);
}

static void test_probes_are_listed(void **state)
{
    (void)state;
    static struct link_probes list;
    char words[64];
    plug(5, (const struct fake_usb_device *const[]){&disk, &probe_a, &hidden, &other, &probe_b});
    link_probes_find(&list);
    assert_true(list.has_bulk);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.denied, 1);
    assert_int_equal(list.probe[0].kind, LINK_PROBE_BULK);
    assert_int_equal(list.probe[0].vid, 0x0d28);
    assert_int_equal(list.probe[0].version, 0x0123);
    assert_string_equal(list.probe[0].vendor, "Vendor");
    assert_string_equal(list.probe[0].product, "DAPLink");
    link_probe_words(&list, &list.probe[0], words, sizeof(words));
    assert_string_equal(words, "cmsis-dap:A001");
    assert_int_equal(list.probe[1].kind, LINK_PROBE_OTHER);
    assert_string_equal(list.probe[1].name, "STLINK-V3");
    assert_string_equal(list.probe[1].openocd, "interface/stlink-dap.cfg");
    link_probe_words(&list, &list.probe[1], words, sizeof(words));
    assert_string_equal(words, "");
    assert_null(strchr(list.probe[2].serial, '\x1b')); /* what a device says is not sent to a terminal */
    plug(1, (const struct fake_usb_device *const[]){&probe_a});
    link_probes_find(&list);
    link_probe_words(&list, &list.probe[0], words, sizeof(words));
    assert_string_equal(words, "cmsis-dap");
    plug(0, NULL);
    link_probes_find(&list);
    assert_int_equal(list.count, 0);
    all_given_back();
}

static void refused(const char *spec, enum corral_err code, const char *words)
{
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    assert_null(link_cmsis_dap_open(spec, NULL, clock, &d));
    if (d.code != code || !strstr(d.message, words))
        fail_msg("%s: %d %s", spec, d.code, d.message);
    host_clock_free(clock);
    all_given_back();
}

static void test_which_probe_is_meant(void **state)
{
    (void)state;
    struct fake_usb_device busy = probe_a, denied = probe_a;
    plug(2, (const struct fake_usb_device *const[]){&probe_a, &probe_b});
    refused("cmsis-dap", CORRAL_ERR_USAGE, "more than one");
    refused("cmsis-dap:C", CORRAL_ERR_LINK_DOWN, "serial number C");
    plug(2, (const struct fake_usb_device *const[]){&probe_a, &probe_a});
    refused("cmsis-dap:A001", CORRAL_ERR_USAGE, "more than one");
    plug(2, (const struct fake_usb_device *const[]){&disk, &other});
    refused("cmsis-dap", CORRAL_ERR_LINK_DOWN, "no CMSIS-DAP probe");
    refused("cmsis-dap:0042", CORRAL_ERR_LINK_DOWN, "0042");
    busy.busy = true;
    plug(1, (const struct fake_usb_device *const[]){&busy});
    refused("cmsis-dap", CORRAL_ERR_LINK_DOWN, "LIBUSB_ERROR_BUSY");
    denied.refuse = LIBUSB_ERROR_ACCESS;
    plug(1, (const struct fake_usb_device *const[]){&denied});
    refused("cmsis-dap", CORRAL_ERR_LINK_DOWN, "no CMSIS-DAP probe");
}

static void test_a_target_behind_bulk_endpoints(void **state)
{
    (void)state;
    static uint32_t out[700], in[700];
    static const unsigned sizes[] = {64, 512, 1024};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct host_clock *clock = host_clock_new_real();
        struct diag d = DIAG_INIT;
        struct cmsis_dap_peer_options o = {.packet_size = sizes[i] > 1024 ? 1024 : sizes[i],
                                           .packet_count = 4};
        cmsis_dap_peer_start(&peer, &o);
        plug(2, (const struct fake_usb_device *const[]){&probe_b, &probe_a});
        fake_usb.stale = 5; /* of a program that went */
        struct link *link = link_cmsis_dap_open("cmsis-dap:A001", NULL, clock, &d);
        if (!link)
            fail_msg("%s", d.message);
        assert_int_equal(fake_usb.claimed, 1);
        assert_int_equal(link_write_dp(link, 0x4, 0x50000000, &d), CORRAL_OK);
        for (uint32_t n = 0; n < 700; n++)
            out[n] = n * 3 + sizes[i];
        assert_int_equal(link_write_bytes(link, 0, SRAM, out, sizeof(out), &d), CORRAL_OK);
        assert_int_equal(link_read_bytes(link, 1, SRAM, in, sizeof(in), &d), CORRAL_OK);
        assert_memory_equal(in, out, sizeof(in));
        /* It is pulled out. */
        fake_usb.gone = true;
        assert_int_equal(link_read_bytes(link, 1, SRAM, in, sizeof(in), &d), CORRAL_ERR_LINK_DOWN);
        assert_non_null(strstr(d.message, "A001 is gone"));
        link_close(link);
        host_clock_free(clock);
        all_given_back();
        assert_int_equal(peer.wrong, 0);
        peer.closed = true;
        cmsis_dap_peer_stop(&peer);
    }
}

static void test_misdeeds_over_bulk_endpoints(void **state)
{
    (void)state;
    static const struct {
        enum dap_misdeed misdeed;
        enum corral_err code;
        const char *words;
    } cases[] = {
        {DAP_LONG, CORRAL_ERR_LINK_PROTOCOL, "too long"},
        {DAP_SILENT, CORRAL_ERR_LINK_DOWN, "does not answer"},
        {DAP_EMPTY, CORRAL_ERR_LINK_PROTOCOL, "empty"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cmsis_dap_peer_options o = {.misdeed = cases[i].misdeed, .misdeed_after = 9};
        cmsis_dap_peer_start(&peer, &o);
        plug(1, (const struct fake_usb_device *const[]){&probe_a});
        refused("cmsis-dap", cases[i].code, cases[i].words);
        peer.closed = true;
        cmsis_dap_peer_stop(&peer);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_are_listed),
        cmocka_unit_test(test_which_probe_is_meant),
        cmocka_unit_test(test_a_target_behind_bulk_endpoints),
        cmocka_unit_test(test_misdeeds_over_bulk_endpoints),
    };
    return cmocka_run_group_tests_name("link-cmsis-dap-bulk", tests, NULL, NULL);
}
