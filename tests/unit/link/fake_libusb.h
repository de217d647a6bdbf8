/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that fake_libusb.c has. */
#ifndef CORRAL_TESTS_FAKE_LIBUSB_H
#define CORRAL_TESTS_FAKE_LIBUSB_H

#include <libusb.h>

#include "tests/unit/link/cmsis_dap_peer.h"

struct fake_usb_device {
    uint16_t vid, pid;
    const char *product, *serial, *interface;
    bool hid, no_config, busy;
    int refuse; /* what opening it gives */
};

struct fake_usb {
    struct fake_usb_device device[8];
    unsigned count;
    struct cmsis_dap_peer *peer; /* behind whichever is opened */
    unsigned stale;              /* answers that wait from a client before */
    bool gone;
    int contexts, open, claimed;
    unsigned empty_packets;
};

extern struct fake_usb fake_usb;

#endif
