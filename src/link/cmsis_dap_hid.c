/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMSIS-DAP version 1 over USB HID, by hidapi: each packet is one report, filled up to its full size. Must
 * not look into packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <hidapi/hidapi.h>

#include "base/text.h"
#include "link/cmsis_dap_usb.h"

#define REPORT        64u /* until the probe has told how long they are */
#define REPORT_ATMEL  512u
#define VID_ATMEL     0x03EBu
#define STALE_MAX     64
#define STALE_WAIT_MS 1

struct hid {
    hid_device *device;
    char name[CMSIS_DAP_NAME];
};

/* Wide characters as bytes that may be shown. */
static void narrow(const wchar_t *wide, char *out, size_t room)
{
    uint8_t bytes[4 * LINK_PROBE_TEXT];
    size_t n = 0;
    for (; wide && *wide && n < sizeof(bytes); wide++)
        bytes[n++] = *wide > 0 && *wide < 0x7F ? (uint8_t)*wide : (uint8_t)'?';
    text_escape(bytes, n, out, room);
}

static enum corral_err gone(const struct hid *h, struct diag *d)
{
    char why[LINK_PROBE_TEXT];
    narrow(hid_error(h->device), why, sizeof(why));
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s is gone: %s", h->name, why);
    diag_object(d, "%s", h->name);
    return CORRAL_ERR_LINK_DOWN;
}

static enum corral_err hid_send(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d)
{
    struct hid *h = ctx;
    uint8_t report[1 + CMSIS_DAP_PACKET_MAX] = {0}; /* the report's number, which is none */
    (void)ms;                                       /* the kernel bounds it */
    memcpy(report + 1, packet, size);
    return hid_write(h->device, report, 1 + size) < 0 ? gone(h, d) : CORRAL_OK;
}

static enum corral_err hid_receive(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms,
                                   struct diag *d)
{
    struct hid *h = ctx;
    int n = hid_read_timeout(h->device, packet, room, ms);
    if (n < 0)
        return gone(h, d);
    if (n == 0) {
        diag_object(d, "%s", h->name);
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s does not answer", h->name);
    }
    *size = (size_t)n;
    return CORRAL_OK;
}

static void hid_end(void *ctx)
{
    struct hid *h = ctx;
    hid_close(h->device);
    free(h);
}

static const struct cmsis_dap_wire_ops hid_ops = {.send = hid_send, .receive = hid_receive, .close = hid_end};

bool cmsis_dap_hid_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d)
{
    struct hid *h = calloc(1, sizeof(*h));
    uint8_t stale[CMSIS_DAP_PACKET_MAX];
    if (!h) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    h->device = hid_open_path(probe->path);
    if (!h->device) {
        bool permission = access(probe->path, R_OK | W_OK) != 0 && errno == EACCES;
        free(h);
        return cmsis_dap_usb_refused(probe, permission, "it does not open", d);
    }
    memcpy(h->name, probe->serial[0] ? probe->serial : probe->product, LINK_PROBE_TEXT);
    /* What a program before us did not wait for. */
    for (int i = 0; i < STALE_MAX && hid_read_timeout(h->device, stale, sizeof(stale), STALE_WAIT_MS) > 0;
         i++)
        ;
    *wire = (struct cmsis_dap_wire){.ops = &hid_ops, .ctx = h, .padded = true};
    wire->packet = probe->vid == VID_ATMEL ? REPORT_ATMEL : REPORT;
    memcpy(wire->name, h->name, sizeof(wire->name));
    return true;
}

void cmsis_dap_hid_find(struct link_probes *list)
{
    if (hid_init() != 0)
        return;
    struct hid_device_info *all = hid_enumerate(0, 0);
    for (const struct hid_device_info *i = all; i; i = i->next) {
        if (!i->path || !i->product_string || !wcsstr(i->product_string, L"CMSIS-DAP") ||
            strlen(i->path) >= sizeof(list->probe[0].path))
            continue;
        struct link_probe *p = link_probes_add(list);
        if (!p)
            break;
        p->kind = LINK_PROBE_HID;
        p->vid = i->vendor_id;
        p->pid = i->product_id;
        p->version = i->release_number;
        narrow(i->manufacturer_string, p->vendor, sizeof(p->vendor));
        narrow(i->product_string, p->product, sizeof(p->product));
        narrow(i->serial_number, p->serial, sizeof(p->serial));
        memcpy(p->path, i->path, strlen(i->path) + 1);
    }
    hid_free_enumeration(all);
}
