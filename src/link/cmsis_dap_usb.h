/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two ways over USB offer to cmsis_dap_usb.c, and what `corral probes` shows of them. Each is there
 * only where Corral was built with its library.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_USB_H
#define CORRAL_LINK_CMSIS_DAP_USB_H

#include "link/cmsis_dap_wire.h"

#define LINK_PROBES_MAX 64u
#define LINK_PROBE_TEXT 80

enum link_probe_kind {
    LINK_PROBE_BULK,  /* CMSIS-DAP version 2 */
    LINK_PROBE_HID,   /* CMSIS-DAP version 1 */
    LINK_PROBE_OTHER, /* one that OpenOCD knows */
};

struct link_probe {
    enum link_probe_kind kind;
    bool also_hid;                                                                   /* of a bulk one */
    uint16_t vid, pid, version;                                                      /* version: bcdDevice */
    char vendor[LINK_PROBE_TEXT], product[LINK_PROBE_TEXT], serial[LINK_PROBE_TEXT]; /* printable */
    const char *name, *openocd; /* of another kind: what it is, and OpenOCD's file for it */
    char path[128];             /* for opening it */
};

struct link_probes {
    struct link_probe probe[LINK_PROBES_MAX];
    size_t count;
    size_t denied;          /* devices that might be probes, but nobody may look */
    bool has_hid, has_bulk; /* what this program was built with */
};

/* What is on USB now. Opens nothing for longer than it takes to read its names. */
void link_probes_find(struct link_probes *list);

/* The back ends. Adding stops when the list is full. */
void cmsis_dap_hid_find(struct link_probes *list);
void cmsis_dap_bulk_find(struct link_probes *list);
bool cmsis_dap_hid_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d);
bool cmsis_dap_bulk_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d);

/* For them: the next place in the list, or NULL; the sentence of a device nobody may open. */
struct link_probe *link_probes_add(struct link_probes *list);
bool cmsis_dap_usb_refused(const struct link_probe *probe, bool permission, const char *why, struct diag *d);
/* Another kind of probe, by its numbers: false when it is none that is known. */
bool link_probe_other(struct link_probe *probe);

#endif
