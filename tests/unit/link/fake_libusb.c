/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cmsis_dap_bulk.c needs of libusb, over devices of the test's own: this machine may have no USB. A bulk
 * transfer goes to the CMSIS-DAP peer.
 */
#include "tests/unit/link/fake_libusb.h"

#include <stdlib.h>
#include <string.h>

struct fake_usb fake_usb;

struct libusb_device {
    const struct fake_usb_device *about;
    unsigned address;
};

struct libusb_device_handle {
    struct libusb_device *device;
};

struct libusb_context {
    struct libusb_device devices[8];
};

int libusb_init(libusb_context **ctx)
{
    fake_usb.contexts++;
    *ctx = calloc(1, sizeof(**ctx));
    return *ctx ? 0 : LIBUSB_ERROR_NO_MEM;
}

void libusb_exit(libusb_context *ctx)
{
    fake_usb.contexts--;
    free(ctx);
}

ssize_t libusb_get_device_list(libusb_context *ctx, libusb_device ***list)
{
    *list = calloc(fake_usb.count + 1, sizeof(**list));
    for (unsigned i = 0; i < fake_usb.count; i++) {
        ctx->devices[i] = (struct libusb_device){&fake_usb.device[i], i + 1};
        (*list)[i] = &ctx->devices[i];
    }
    return (ssize_t)fake_usb.count;
}

void libusb_free_device_list(libusb_device **list, int unref_devices)
{
    (void)unref_devices;
    free(list);
}

int libusb_get_device_descriptor(libusb_device *dev, struct libusb_device_descriptor *desc)
{
    *desc = (struct libusb_device_descriptor){.idVendor = dev->about->vid,
                                              .idProduct = dev->about->pid,
                                              .bcdDevice = 0x0123,
                                              .iManufacturer = 1,
                                              .iProduct = 2,
                                              .iSerialNumber = 3};
    return 0;
}

/* A configuration and what it points to, freed as one. */
struct whole {
    struct libusb_config_descriptor config;
    struct libusb_interface interface[2];
    struct libusb_interface_descriptor setting[2];
    struct libusb_endpoint_descriptor endpoint[2];
};

int libusb_get_active_config_descriptor(libusb_device *dev, struct libusb_config_descriptor **config)
{
    struct whole *w = calloc(1, sizeof(*w));
    if (!w || dev->about->no_config) {
        free(w);
        return LIBUSB_ERROR_NOT_FOUND;
    }
    w->endpoint[0] = (struct libusb_endpoint_descriptor){
        .bEndpointAddress = 0x02, .bmAttributes = LIBUSB_TRANSFER_TYPE_BULK, .wMaxPacketSize = 512};
    w->endpoint[1] = (struct libusb_endpoint_descriptor){
        .bEndpointAddress = 0x83, .bmAttributes = LIBUSB_TRANSFER_TYPE_BULK, .wMaxPacketSize = 512};
    /* A serial port's interface first, then the one that is ours. */
    w->setting[0] = (struct libusb_interface_descriptor){.bInterfaceClass = 0x0A, .iInterface = 4};
    w->setting[1] = (struct libusb_interface_descriptor){.bInterfaceNumber = 5,
                                                         .bInterfaceClass =
                                                             dev->about->hid ? 3 : LIBUSB_CLASS_VENDOR_SPEC,
                                                         .bNumEndpoints = 2,
                                                         .iInterface = 4,
                                                         .endpoint = w->endpoint};
    for (int i = 0; i < 2; i++)
        w->interface[i] = (struct libusb_interface){.altsetting = &w->setting[i], .num_altsetting = 1};
    w->config.bNumInterfaces = 2;
    w->config.interface = w->interface;
    *config = &w->config;
    return 0;
}

void libusb_free_config_descriptor(struct libusb_config_descriptor *config)
{
    free(config);
}

uint8_t libusb_get_bus_number(libusb_device *dev)
{
    (void)dev;
    return 1;
}

uint8_t libusb_get_device_address(libusb_device *dev)
{
    return (uint8_t)dev->address;
}

int libusb_open(libusb_device *dev, libusb_device_handle **dev_handle)
{
    if (dev->about->refuse)
        return dev->about->refuse;
    *dev_handle = calloc(1, sizeof(**dev_handle));
    (*dev_handle)->device = dev;
    fake_usb.open++;
    return 0;
}

void libusb_close(libusb_device_handle *dev_handle)
{
    fake_usb.open--;
    free(dev_handle);
}

int libusb_get_string_descriptor_ascii(libusb_device_handle *dev_handle, uint8_t desc_index,
                                       unsigned char *data, int length)
{
    const struct fake_usb_device *about = dev_handle->device->about;
    const char *const texts[5] = {NULL, "Vendor", about->product, about->serial, about->interface};
    const char *text = desc_index < 5 ? texts[desc_index] : NULL;
    if (!text)
        return LIBUSB_ERROR_NOT_FOUND;
    int n = (int)strlen(text);
    n = n < length ? n : length;
    memcpy(data, text, (size_t)n);
    return n;
}

int libusb_claim_interface(libusb_device_handle *dev_handle, int interface_number)
{
    if (interface_number != 5)
        return LIBUSB_ERROR_INVALID_PARAM;
    if (dev_handle->device->about->busy)
        return LIBUSB_ERROR_BUSY;
    fake_usb.claimed++;
    return 0;
}

int libusb_release_interface(libusb_device_handle *dev_handle, int interface_number)
{
    (void)dev_handle;
    (void)interface_number;
    fake_usb.claimed--;
    return 0;
}

int libusb_bulk_transfer(libusb_device_handle *dev_handle, unsigned char endpoint, unsigned char *data,
                         int length, int *actual_length, unsigned timeout)
{
    (void)dev_handle;
    *actual_length = 0;
    if (timeout == 0) /* libusb would wait for ever */
        return LIBUSB_ERROR_INVALID_PARAM;
    if (fake_usb.gone)
        return LIBUSB_ERROR_NO_DEVICE;
    struct cmsis_dap_wire wire = cmsis_dap_peer_wire(fake_usb.peer);
    if (endpoint == 0x02) {
        if (length == 0) {
            fake_usb.empty_packets++;
            return 0;
        }
        *actual_length = length;
        return wire.ops->send(wire.ctx, data, (size_t)length, 1, NULL) == CORRAL_OK ? 0 : LIBUSB_ERROR_IO;
    }
    if (endpoint != 0x83 || length % 512 != 0)
        return LIBUSB_ERROR_INVALID_PARAM;
    if (fake_usb.stale) {
        fake_usb.stale--;
        *actual_length = 3;
        memset(data, 0, 3);
        return 0;
    }
    size_t size = 0;
    if (fake_usb.peer->waiting == 0)
        return LIBUSB_ERROR_TIMEOUT;
    enum corral_err err = wire.ops->receive(wire.ctx, data, (size_t)length, &size, 1, NULL);
    *actual_length = (int)size;
    return err == CORRAL_OK                  ? 0
           : err == CORRAL_ERR_LINK_PROTOCOL ? LIBUSB_ERROR_OVERFLOW
                                             : LIBUSB_ERROR_TIMEOUT;
}

const char *libusb_error_name(int errcode)
{
    return errcode == LIBUSB_ERROR_BUSY        ? "LIBUSB_ERROR_BUSY"
           : errcode == LIBUSB_ERROR_NO_DEVICE ? "LIBUSB_ERROR_NO_DEVICE"
                                               : "LIBUSB_ERROR";
}
