/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes on USB: the list that both libraries fill, and the choice of one by its serial number. Must not talk
 * to a probe.
 */
#include "link/cmsis_dap_usb.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct known {
    uint16_t vid, first, last;
    const char *name, *openocd;
} known[] = {
    {0x0483, 0x3744, 0x3744, "ST-Link/V1", "interface/stlink.cfg"},
    {0x0483, 0x3748, 0x374B, "ST-Link/V2", "interface/stlink-dap.cfg"},
    {0x0483, 0x374D, 0x374F, "STLINK-V3", "interface/stlink-dap.cfg"},
    {0x0483, 0x3752, 0x3752, "ST-Link/V2", "interface/stlink-dap.cfg"},
    {0x0483, 0x3753, 0x3757, "STLINK-V3", "interface/stlink-dap.cfg"},
    {0x1366, 0x0101, 0x0105, "J-Link", "interface/jlink.cfg"},
    {0x1366, 0x1001, 0x1069, "J-Link", "interface/jlink.cfg"},
    {0x0403, 0x6010, 0x6010, "FTDI FT2232", "interface/ftdi/*.cfg"},
    {0x0403, 0x6011, 0x6011, "FTDI FT4232H", "interface/ftdi/*.cfg"},
    {0x0403, 0x6014, 0x6014, "FTDI FT232H", "interface/ftdi/*.cfg"},
    {0x0451, 0xBEF3, 0xBEF4, "XDS110", "interface/xds110.cfg"},
    {0x1CBE, 0x00FD, 0x00FD, "TI ICDI", "interface/ti-icdi.cfg"},
};

bool link_probe_other(struct link_probe *probe)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (probe->vid == known[i].vid && probe->pid >= known[i].first && probe->pid <= known[i].last) {
            probe->kind = LINK_PROBE_OTHER;
            probe->name = known[i].name;
            probe->openocd = known[i].openocd;
            return true;
        }
    return false;
}

struct link_probe *link_probes_add(struct link_probes *list)
{
    if (list->count == LINK_PROBES_MAX)
        return NULL;
    struct link_probe *p = &list->probe[list->count++];
    *p = (struct link_probe){.kind = LINK_PROBE_OTHER};
    return p;
}

static bool same(const struct link_probe *a, const struct link_probe *b)
{
    return a->vid == b->vid && a->pid == b->pid && strcmp(a->serial, b->serial) == 0;
}

/* A probe with both interfaces is one probe, and bulk is the faster of them. */
static void merge(struct link_probes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct link_probe *bulk = &list->probe[i];
        if (bulk->kind != LINK_PROBE_BULK)
            continue;
        for (size_t k = 0; k < list->count; k++) {
            if (list->probe[k].kind != LINK_PROBE_HID || !same(bulk, &list->probe[k]))
                continue;
            bulk->also_hid = true;
            memmove(&list->probe[k], &list->probe[k + 1], (--list->count - k) * sizeof(list->probe[0]));
            if (k < i) {
                i--;
                break;
            }
            k--;
        }
    }
}

void link_probes_find(struct link_probes *list)
{
    memset(list, 0, sizeof(*list));
#ifdef CORRAL_HAVE_LIBUSB
    list->has_bulk = true;
    cmsis_dap_bulk_find(list);
#endif
#ifdef CORRAL_HAVE_HIDAPI
    list->has_hid = true;
    cmsis_dap_hid_find(list);
#endif
    merge(list);
}

void link_probe_words(const struct link_probes *list, const struct link_probe *probe, char *out, size_t room)
{
    unsigned ours = 0, alike = 0;
    for (size_t i = 0; i < list->count; i++) {
        ours += list->probe[i].kind != LINK_PROBE_OTHER;
        alike += list->probe[i].kind != LINK_PROBE_OTHER && strcmp(list->probe[i].serial, probe->serial) == 0;
    }
    out[0] = '\0';
    if (probe->kind == LINK_PROBE_OTHER)
        return;
    if (ours == 1)
        snprintf(out, room, "cmsis-dap");
    else if (alike == 1 && probe->serial[0])
        snprintf(out, room, "cmsis-dap:%s", probe->serial);
}

bool cmsis_dap_usb_refused(const struct link_probe *probe, bool permission, const char *why, struct diag *d)
{
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s%s%s on USB cannot be opened: %s",
             probe->product[0] ? probe->product : "CMSIS-DAP", probe->serial[0] ? " " : "", probe->serial,
             permission ? "permission denied" : why);
    if (permission)
        diag_hint(d,
                  "Corral's udev rules (60-corral.rules) give it to whoever sits at this machine; plug it in "
                  "again after installing them");
    else
        diag_hint(d, "another program may be using it");
    return false;
}

static bool none_found(const struct link_probes *list, const char *serial, struct diag *d)
{
    if (!list->has_bulk && !list->has_hid) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED,
                 "this corral was built without USB: hidapi and libusb were missing");
        diag_hint(d, "'cmsis-dap:tcp:HOST:PORT' works all the same");
        return false;
    }
    if (serial[0])
        diag_set(d, CORRAL_ERR_LINK_DOWN, "there is no CMSIS-DAP probe with serial number %s on USB", serial);
    else
        diag_set(d, CORRAL_ERR_LINK_DOWN, "there is no CMSIS-DAP probe on USB");
    if (list->denied)
        diag_hint(d, "%zu device%s may not be looked at: see the udev rules in 'corral probes --help'",
                  list->denied, list->denied == 1 ? "" : "s");
    else if (!list->has_bulk || !list->has_hid)
        diag_hint(d, "this corral was built without %s",
                  list->has_hid ? "libusb, so version 2 probes are not seen"
                                : "hidapi, so version 1 probes are not seen");
    else
        diag_hint(d, "'corral probes' lists what is there");
    return false;
}

/* The one that is meant; NULL with *d set. */
static const struct link_probe *choose(const struct link_probes *list, const char *serial, struct diag *d)
{
    const struct link_probe *found = NULL;
    char printable[LINK_PROBE_TEXT];
    text_escape((const uint8_t *)serial, strlen(serial), printable, sizeof(printable));
    for (size_t i = 0; i < list->count; i++) {
        const struct link_probe *p = &list->probe[i];
        if (p->kind == LINK_PROBE_OTHER || (serial[0] && strcmp(printable, p->serial) != 0))
            continue;
        if (found) {
            diag_set(d, CORRAL_ERR_USAGE, "there is more than one CMSIS-DAP probe%s%s",
                     serial[0] ? " with serial number " : " on USB", printable);
            diag_hint(d, "choose one by its serial number: cmsis-dap:SERIAL ('corral probes' lists them)");
            return NULL;
        }
        found = p;
    }
    if (!found)
        none_found(list, printable, d);
    return found;
}

bool cmsis_dap_usb_open(struct cmsis_dap_wire *wire, const char *serial, struct diag *d)
{
    struct link_probes list;
    link_probes_find(&list);
    const struct link_probe *probe = choose(&list, serial, d);
    if (!probe)
        return false;
#ifdef CORRAL_HAVE_LIBUSB
    if (probe->kind == LINK_PROBE_BULK)
        return cmsis_dap_bulk_open(wire, probe, d);
#endif
#ifdef CORRAL_HAVE_HIDAPI
    if (probe->kind == LINK_PROBE_HID)
        return cmsis_dap_hid_open(wire, probe, d);
#endif
    (void)wire;
    return none_found(&list, serial, d);
}
