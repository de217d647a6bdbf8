/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug probes on USB, as far as they can be named without talking to them. CMSIS-DAP ones are links of ours
 * (cmsis_dap.h); others that are known by their numbers can be reached through OpenOCD.
 */
#ifndef CORRAL_LINK_PROBES_H
#define CORRAL_LINK_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The words that name it: "cmsis-dap", "cmsis-dap:SERIAL"; "" where nothing tells it from another one. */
void link_probe_words(const struct link_probes *list, const struct link_probe *probe, char *out, size_t room);

#endif
