/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe on USB HID through the real hidapi: umockdev shows it a hidraw device that is not there, behind
 * which is the CMSIS-DAP peer. The program starts itself once more with umockdev's library in front of
 * libc's.
 *
 * umockdev does not emulate poll, so hid_read_timeout is turned into a read that waits where an answer is
 * due, and into a time-out where none is; all else of hidapi is as it is.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dlfcn.h>
#include <linux/hidraw.h>
#include <sys/ioctl.h>

#include <cmocka.h>
#include <hidapi/hidapi.h>
#include <umockdev.h>

#include "link/cmsis_dap.h"
#include "link/probes.h"
#include "tests/unit/link/cmsis_dap_peer.h"

#define SRAM    0x20060000u
#define REPORT  64u
#define PRELOAD "libumockdev-preload.so.0"

static struct cmsis_dap_peer peer;
static atomic_uint due; /* answers that the peer has */
static bool unplugged;

/* A vendor's page; a report of 64 bytes in and out, without a number. */
static const uint8_t descriptor[] = {0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00,
                                     0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x09, 0x01,
                                     0x81, 0x02, 0x95, 0x40, 0x09, 0x01, 0x91, 0x02, 0xC0};

int __real_hid_read_timeout(hid_device *device, unsigned char *data, size_t length, int ms);
int __wrap_hid_read_timeout(hid_device *device, unsigned char *data, size_t length, int ms);
int __wrap_hid_read_timeout(hid_device *device, unsigned char *data, size_t length, int ms)
{
    assert_true(ms >= 0);
    return atomic_load(&due) || unplugged ? __real_hid_read_timeout(device, data, length, -1) : 0;
}

static gboolean on_ioctl(UMockdevIoctlBase *base, UMockdevIoctlClient *client, void *ctx)
{
    (void)base;
    (void)ctx;
    gulong request = umockdev_ioctl_client_get_request(client);
    if (request != HIDIOCGRDESCSIZE && request != HIDIOCGRDESC)
        return FALSE;
    bool size_only = request == HIDIOCGRDESCSIZE;
    size_t room = size_only ? sizeof(int) : sizeof(struct hidraw_report_descriptor);
    UMockdevIoctlData *data =
        umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, room, NULL);
    if (!data)
        return FALSE;
    if (size_only) {
        int size = sizeof(descriptor);
        umockdev_ioctl_data_update(data, 0, (guint8 *)&size, sizeof(size));
    } else {
        struct hidraw_report_descriptor d = {.size = sizeof(descriptor)};
        memcpy(d.value, descriptor, sizeof(descriptor));
        umockdev_ioctl_data_update(data, 0, (guint8 *)&d, sizeof(d));
    }
    umockdev_ioctl_data_unref(data);
    umockdev_ioctl_client_complete(client, 0, 0);
    return TRUE;
}

static gboolean on_write(UMockdevIoctlBase *base, UMockdevIoctlClient *client, void *ctx)
{
    (void)base;
    (void)ctx;
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&peer);
    const UMockdevIoctlData *data = umockdev_ioctl_client_get_arg(client);
    size_t size = (size_t)data->data_len;
    /* The report's number, which the bus does not carry, and the whole report. */
    bool good = !unplugged && size == 1 + REPORT && data->data[0] == 0 &&
                wire.ops->send(wire.ctx, data->data + 1, REPORT, 1, NULL) == CORRAL_OK;
    if (good && peer.options.misdeed != DAP_SILENT)
        atomic_fetch_add(&due, 1);
    umockdev_ioctl_client_complete(client, good ? (glong)size : -1, good ? 0 : ENODEV);
    return TRUE;
}

static gboolean on_read(UMockdevIoctlBase *base, UMockdevIoctlClient *client, void *ctx)
{
    (void)base;
    (void)ctx;
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&peer);
    UMockdevIoctlData *data = umockdev_ioctl_client_get_arg(client);
    uint8_t in[REPORT];
    size_t size = 0;
    if (unplugged || !atomic_load(&due)) {
        umockdev_ioctl_client_complete(client, -1, unplugged ? ENODEV : EAGAIN);
        return TRUE;
    }
    wire.ops->receive(wire.ctx, in, sizeof(in), &size, 1, NULL);
    atomic_fetch_sub(&due, 1);
    size = size < (size_t)data->data_len ? size : (size_t)data->data_len;
    umockdev_ioctl_data_update(data, 0, in, (gint)size);
    umockdev_ioctl_client_complete(client, (glong)size, 0);
    return TRUE;
}

static const char device_tree[] =
    "P: /devices/pci0/usb1/1-1\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_device\nA: idVendor=0d28\\n\n"
    "A: idProduct=0204\\n\nA: bcdDevice=0234\\n\nA: manufacturer=Arm\\n\nA: product=Board CMSIS-DAP\\n\n"
    "A: serial=HID42\\n\n\n"
    "P: /devices/pci0/usb1/1-1/1-1:1.0\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_interface\nA: "
    "bInterfaceNumber=00\\n\n\n"
    "P: /devices/pci0/usb1/1-1/1-1:1.0/0003:0D28:0204.0001\nE: SUBSYSTEM=hid\nE: DRIVER=hid-generic\n"
    "E: HID_ID=0003:00000D28:00000204\nE: HID_NAME=Arm Board CMSIS-DAP\nE: HID_UNIQ=HID42\nE: "
    "HID_PHYS=usb-1/input0\n"
    "H: report_descriptor=0600FF0901A101150026FF00750895400901810295400901910"
    "2C0\n\n"
    "P: /devices/pci0/usb1/1-1/1-1:1.0/0003:0D28:0204.0001/hidraw/hidraw0\nN: hidraw0\nE: SUBSYSTEM=hidraw\n"
    "E: DEVNAME=/dev/hidraw0\nL: device=../../../0003:0D28:0204.0001\n\n";

struct bench {
    UMockdevTestbed *bed;
    UMockdevIoctlBase *handler;
    struct host_clock *clock;
};

static void plug(struct bench *b, const struct cmsis_dap_peer_options *options)
{
    GError *error = NULL;
    cmsis_dap_peer_start(&peer, options);
    atomic_store(&due, 0);
    unplugged = false;
    b->clock = host_clock_new_real();
    b->bed = umockdev_testbed_new();
    if (!umockdev_testbed_add_from_string(b->bed, device_tree, &error))
        fail_msg("%s", error->message);
    b->handler = umockdev_ioctl_base_new();
    g_signal_connect(b->handler, "handle-ioctl", G_CALLBACK(on_ioctl), NULL);
    g_signal_connect(b->handler, "handle-read", G_CALLBACK(on_read), NULL);
    g_signal_connect(b->handler, "handle-write", G_CALLBACK(on_write), NULL);
    if (!umockdev_testbed_attach_ioctl(b->bed, "/dev/hidraw0", b->handler, &error))
        fail_msg("%s", error->message);
}

static void unplug(struct bench *b)
{
    umockdev_testbed_detach_ioctl(b->bed, "/dev/hidraw0", NULL);
    g_object_unref(b->handler);
    g_object_unref(b->bed);
    host_clock_free(b->clock);
    peer.closed = true;
    cmsis_dap_peer_stop(&peer);
}

static const struct cmsis_dap_peer_options report = {
    .packet_size = REPORT, .packet_count = 3, .padded = true};

static void test_a_probe_is_listed(void **state)
{
    (void)state;
    static struct link_probes list;
    struct bench b;
    char words[64];
    plug(&b, &report);
    link_probes_find(&list);
    assert_true(list.has_hid);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.probe[0].kind, LINK_PROBE_HID);
    assert_int_equal(list.probe[0].vid, 0x0d28);
    assert_int_equal(list.probe[0].pid, 0x0204);
    assert_int_equal(list.probe[0].version, 0x0234);
    assert_string_equal(list.probe[0].vendor, "Arm");
    assert_string_equal(list.probe[0].product, "Board CMSIS-DAP");
    assert_string_equal(list.probe[0].serial, "HID42");
    link_probe_words(&list, &list.probe[0], words, sizeof(words));
    assert_string_equal(words, "cmsis-dap");
    unplug(&b);
}

static void test_a_target_behind_it(void **state)
{
    (void)state;
    static uint32_t out[300], in[300];
    static const char *const specs[] = {"cmsis-dap", "cmsis-dap:HID42"};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        struct diag d = DIAG_INIT;
        struct link_cmsis_dap_info info;
        plug(&b, &report);
        struct link *link = link_cmsis_dap_open(specs[i], NULL, b.clock, &d);
        if (!link)
            fail_msg("%s", d.message);
        assert_true(link_cmsis_dap_get_info(link, &info));
        assert_int_equal(info.packet_size, REPORT);
        assert_int_equal(link_write_dp(link, 0x4, 0x50000000, &d), CORRAL_OK);
        for (uint32_t n = 0; n < 300; n++)
            out[n] = n * 7 + 1;
        assert_int_equal(link_write_bytes(link, 0, SRAM, out, sizeof(out), &d), CORRAL_OK);
        assert_int_equal(link_read_bytes(link, 1, SRAM, in, sizeof(in), &d), CORRAL_OK);
        assert_memory_equal(in, out, sizeof(in));
        assert_int_equal(peer.most_waiting, 3);
        assert_int_equal(peer.wrong, 0);
        unplugged = true;
        assert_int_equal(link_read_bytes(link, 1, SRAM, in, sizeof(in), &d), CORRAL_ERR_LINK_DOWN);
        assert_non_null(strstr(d.message, "HID42 is gone"));
        link_close(link);
        unplug(&b);
    }
}

static void test_one_that_does_not_answer(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    struct cmsis_dap_peer_options silent = report;
    silent.misdeed = DAP_SILENT;
    plug(&b, &silent);
    assert_null(link_cmsis_dap_open("cmsis-dap", NULL, b.clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "HID42 does not answer"));
    unplug(&b);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_probe_is_listed),
        cmocka_unit_test(test_a_target_behind_it),
        cmocka_unit_test(test_one_that_does_not_answer),
    };
    if (argc < 2) {
        char options[1024];
        const char *given = getenv("ASAN_OPTIONS");
        /* What umockdev and GLib keep is theirs; libasan need not be the first library. */
        snprintf(options, sizeof(options), "%s%sverify_asan_link_order=0:detect_leaks=0", given ? given : "",
                 given ? ":" : "");
        setenv("ASAN_OPTIONS", options, 1);
        setenv("LD_PRELOAD", PRELOAD, 1);
        execl("/proc/self/exe", argv[0], "mocked", (char *)NULL);
        perror("exec");
        return 1;
    }
    if (!dlopen(PRELOAD, RTLD_NOW | RTLD_NOLOAD)) {
        puts("1..0 # SKIP umockdev's library could not be preloaded");
        return 0;
    }
    return cmocka_run_group_tests_name("link-cmsis-dap-hid", tests, NULL, NULL);
}
