/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CMSIS-DAP version 2 over USB bulk endpoints, by libusb: an interface of the vendor's class whose name has
 * "CMSIS-DAP" in it, its first endpoint out, its second in. Must not look into packets.
 */
#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/cmsis_dap_usb.h"

#define FIRST_PACKET  64u
#define STALE_MAX     64
#define STALE_WAIT_MS 1

struct bulk {
    libusb_context *usb;
    libusb_device_handle *device;
    int interface;
    uint8_t in, out;
    size_t in_unit, out_unit, packet; /* the endpoints' packets; ours */
    char name[CMSIS_DAP_NAME];
};

static enum corral_err failed(const struct bulk *b, int err, struct diag *d)
{
    if (err == LIBUSB_ERROR_TIMEOUT)
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s does not answer", b->name);
    else if (err == LIBUSB_ERROR_OVERFLOW)
        diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "the probe %s sent a packet that is too long", b->name);
    else
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the probe %s is gone: %s", b->name, libusb_error_name(err));
    diag_object(d, "%s", b->name);
    return err == LIBUSB_ERROR_OVERFLOW ? CORRAL_ERR_LINK_PROTOCOL : CORRAL_ERR_LINK_DOWN;
}

/* libusb takes 0 for ever. */
static unsigned bounded(int ms)
{
    return ms > 0 ? (unsigned)ms : 1;
}

static enum corral_err bulk_send(void *ctx, const uint8_t *packet, size_t size, int ms, struct diag *d)
{
    struct bulk *b = ctx;
    uint8_t copy[CMSIS_DAP_PACKET_MAX]; /* libusb does not promise to leave it alone */
    int done = 0;
    memcpy(copy, packet, size);
    int err = libusb_bulk_transfer(b->device, b->out, copy, (int)size, &done, bounded(ms));
    if (err == 0 && (size_t)done != size)
        err = LIBUSB_ERROR_IO;
    /* Its end is seen by a packet that is not full; an empty one where all were. */
    if (err == 0 && size % b->out_unit == 0 && size < b->packet)
        err = libusb_bulk_transfer(b->device, b->out, copy, 0, &done, bounded(ms));
    return err ? failed(b, err, d) : CORRAL_OK;
}

static enum corral_err bulk_receive(void *ctx, uint8_t *packet, size_t room, size_t *size, int ms,
                                    struct diag *d)
{
    struct bulk *b = ctx;
    uint8_t in[CMSIS_DAP_PACKET_MAX + 1024];
    size_t want = (b->packet + b->in_unit - 1) / b->in_unit * b->in_unit;
    int done = 0;
    int err = libusb_bulk_transfer(b->device, b->in, in, (int)(want < sizeof(in) ? want : sizeof(in)), &done,
                                   bounded(ms));
    if (err)
        return failed(b, err, d);
    if (done < 0 || (size_t)done > room)
        return failed(b, LIBUSB_ERROR_OVERFLOW, d);
    memcpy(packet, in, (size_t)done);
    *size = (size_t)done;
    return CORRAL_OK;
}

static void bulk_set_packet(void *ctx, size_t size)
{
    struct bulk *b = ctx;
    b->packet = size;
}

static void bulk_end(void *ctx)
{
    struct bulk *b = ctx;
    if (b->device) {
        if (b->interface >= 0)
            libusb_release_interface(b->device, b->interface);
        libusb_close(b->device);
    }
    libusb_exit(b->usb);
    free(b);
}

static const struct cmsis_dap_wire_ops bulk_ops = {
    .send = bulk_send, .receive = bulk_receive, .set_packet = bulk_set_packet, .close = bulk_end};

static void text(libusb_device_handle *device, uint8_t index, char *out, size_t room)
{
    uint8_t bytes[256];
    int n = index ? libusb_get_string_descriptor_ascii(device, index, bytes, sizeof(bytes)) : 0;
    text_escape(bytes, n > 0 ? (size_t)n : 0, out, room);
}

/* An interface with our two endpoints; its name is not looked at yet. */
static bool is_candidate(const struct libusb_interface_descriptor *i)
{
    return i->bInterfaceClass == LIBUSB_CLASS_VENDOR_SPEC && i->bNumEndpoints >= 2 &&
           (i->endpoint[0].bmAttributes & 3u) == LIBUSB_TRANSFER_TYPE_BULK &&
           (i->endpoint[1].bmAttributes & 3u) == LIBUSB_TRANSFER_TYPE_BULK &&
           !(i->endpoint[0].bEndpointAddress & LIBUSB_ENDPOINT_IN) &&
           (i->endpoint[1].bEndpointAddress & LIBUSB_ENDPOINT_IN) && i->endpoint[0].wMaxPacketSize &&
           i->endpoint[1].wMaxPacketSize;
}

/* The next candidate from *at on; NULL at the end. */
static const struct libusb_interface_descriptor *next_candidate(const struct libusb_config_descriptor *config,
                                                                unsigned *at)
{
    for (; *at < config->bNumInterfaces; ++*at) {
        const struct libusb_interface *i = &config->interface[*at];
        if (i->num_altsetting > 0 && is_candidate(&i->altsetting[0])) {
            ++*at;
            return &i->altsetting[0];
        }
    }
    return NULL;
}

/* The interface that names itself CMSIS-DAP. */
static const struct libusb_interface_descriptor *named(libusb_device_handle *device,
                                                       const struct libusb_config_descriptor *config)
{
    const struct libusb_interface_descriptor *i;
    for (unsigned at = 0; (i = next_candidate(config, &at));) {
        char name[LINK_PROBE_TEXT];
        text(device, i->iInterface, name, sizeof(name));
        if (strstr(name, "CMSIS-DAP"))
            return i;
    }
    return NULL;
}

static void path_of(libusb_device *device, char out[128])
{
    snprintf(out, 128, "%u:%u", libusb_get_bus_number(device), libusb_get_device_address(device));
}

static void look_at(struct link_probes *list, libusb_device *device)
{
    struct libusb_device_descriptor about;
    struct libusb_config_descriptor *config = NULL;
    libusb_device_handle *handle = NULL;
    struct link_probe p = {.kind = LINK_PROBE_BULK};
    unsigned at = 0;
    if (libusb_get_device_descriptor(device, &about) != 0)
        return;
    p.vid = about.idVendor;
    p.pid = about.idProduct;
    p.version = about.bcdDevice;
    path_of(device, p.path);
    if (libusb_get_active_config_descriptor(device, &config) != 0)
        config = NULL;
    bool candidate = config && next_candidate(config, &at), other = link_probe_other(&p);
    if ((candidate || other) && libusb_open(device, &handle) != 0) {
        handle = NULL;
        list->denied += !other;
    }
    if (handle && candidate && named(handle, config)) {
        p.kind = LINK_PROBE_BULK;
        other = false;
    } else {
        candidate = false;
    }
    if (handle) {
        text(handle, about.iManufacturer, p.vendor, sizeof(p.vendor));
        text(handle, about.iProduct, p.product, sizeof(p.product));
        text(handle, about.iSerialNumber, p.serial, sizeof(p.serial));
        libusb_close(handle);
    }
    struct link_probe *room = candidate || other ? link_probes_add(list) : NULL;
    if (room)
        *room = p;
    libusb_free_config_descriptor(config);
}

void cmsis_dap_bulk_find(struct link_probes *list)
{
    libusb_context *usb = NULL;
    libusb_device **all = NULL;
    if (libusb_init(&usb) != 0)
        return;
    ssize_t n = libusb_get_device_list(usb, &all);
    for (ssize_t i = 0; i < n; i++)
        look_at(list, all[i]);
    if (n >= 0)
        libusb_free_device_list(all, 1);
    libusb_exit(usb);
}

/* Opens it and claims its interface. A code of libusb. */
static int claim(struct bulk *b, libusb_device *device)
{
    struct libusb_config_descriptor *config = NULL;
    int err = libusb_open(device, &b->device);
    if (err) {
        b->device = NULL;
        return err;
    }
    err = libusb_get_active_config_descriptor(device, &config);
    if (err)
        return err;
    const struct libusb_interface_descriptor *i = named(b->device, config);
    err = i ? libusb_claim_interface(b->device, i->bInterfaceNumber) : LIBUSB_ERROR_NOT_FOUND;
    if (!err) {
        b->interface = i->bInterfaceNumber;
        b->out = i->endpoint[0].bEndpointAddress;
        b->in = i->endpoint[1].bEndpointAddress;
        b->out_unit = i->endpoint[0].wMaxPacketSize;
        b->in_unit = i->endpoint[1].wMaxPacketSize;
    }
    libusb_free_config_descriptor(config);
    return err;
}

static int find_and_claim(struct bulk *b, const char *path)
{
    libusb_device **all = NULL;
    int err = LIBUSB_ERROR_NO_DEVICE;
    ssize_t n = libusb_get_device_list(b->usb, &all);
    for (ssize_t i = 0; i < n; i++) {
        char here[128];
        path_of(all[i], here);
        if (strcmp(here, path) == 0)
            err = claim(b, all[i]);
    }
    if (n >= 0)
        libusb_free_device_list(all, 1);
    return err;
}

bool cmsis_dap_bulk_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d)
{
    uint8_t stale[CMSIS_DAP_PACKET_MAX];
    size_t size;
    struct bulk *b = calloc(1, sizeof(*b));
    if (!b || libusb_init(&b->usb) != 0) {
        free(b);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "libusb does not start");
        return false;
    }
    b->interface = -1;
    b->packet = FIRST_PACKET;
    memcpy(b->name, probe->serial[0] ? probe->serial : probe->product, LINK_PROBE_TEXT);
    int err = find_and_claim(b, probe->path);
    if (err) {
        bulk_end(b);
        return cmsis_dap_usb_refused(probe, err == LIBUSB_ERROR_ACCESS, libusb_error_name(err), d);
    }
    /* What a program before us did not wait for. */
    for (int i = 0; i < STALE_MAX; i++)
        if (bulk_receive(b, stale, sizeof(stale), &size, STALE_WAIT_MS, NULL) != CORRAL_OK)
            break;
    *wire = (struct cmsis_dap_wire){.ops = &bulk_ops, .ctx = b, .packet = FIRST_PACKET};
    memcpy(wire->name, b->name, sizeof(wire->name));
    return true;
}
