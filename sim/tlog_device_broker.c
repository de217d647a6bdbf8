/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ivshmem side of the emulated firmware-log device: the server protocol that QEMU's ivshmem-doorbell
 * speaks (docs/specs of QEMU, "ivshmem": 64-bit little-endian messages, descriptors as SCM_RIGHTS), BAR2 as a
 * memfd, interrupts and doorbells as eventfds. QEMU blocks while it realizes the device until all of it has
 * come.
 */
#include "sim/tlog_device_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/control_socket.h"

#define IVSHMEM_VERSION 0

enum corral_err tlog_device_broker_open(struct tlog_device *dev, struct diag *d)
{
    dev->bar_fd = memfd_create("tlog-bar2", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* The guest gets it too, and must not be able to cut it under us. */
    if (dev->bar_fd < 0 || ftruncate(dev->bar_fd, TLOG_PCI_BAR_SIZE) != 0 ||
        fcntl(dev->bar_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return diag_set(d, CORRAL_ERR_IO, "cannot make the memory of BAR2: %s", strerror(errno));
    void *map = mmap(NULL, TLOG_PCI_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, dev->bar_fd, 0);
    if (map == MAP_FAILED)
        return diag_set(d, CORRAL_ERR_IO, "cannot map the memory of BAR2: %s", strerror(errno));
    dev->bar = map;
    for (uint32_t i = 0; i < TLOG_PCI_VECTORS; i++) {
        dev->bell[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        dev->vector[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (dev->bell[i] < 0 || dev->vector[i] < 0)
            return diag_set(d, CORRAL_ERR_IO, "cannot make an eventfd: %s", strerror(errno));
    }
    dev->listener = control_socket_listen(dev->options.socket, d);
    return dev->listener < 0 ? d ? d->code : CORRAL_ERR_IO : CORRAL_OK;
}

void tlog_device_broker_close(struct tlog_device *dev)
{
    if (dev->listener >= 0) { /* in this order: another emulator that takes the name over keeps it */
        unlink(dev->options.socket);
        close(dev->listener);
    }
    if (dev->guest >= 0)
        close(dev->guest);
    for (uint32_t i = 0; i < TLOG_PCI_VECTORS; i++) {
        if (dev->bell[i] >= 0)
            close(dev->bell[i]);
        if (dev->vector[i] >= 0)
            close(dev->vector[i]);
    }
    if (dev->bar)
        munmap(dev->bar, TLOG_PCI_BAR_SIZE);
    if (dev->bar_fd >= 0)
        close(dev->bar_fd);
}

/* One message, with a descriptor when fd is not -1. */
static bool send_message(int to, int64_t value, int fd)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    ssize_t sent;
    do
        sent = sendmsg(to, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(bytes);
}

enum corral_err tlog_device_accept(struct tlog_device *dev, struct diag *d)
{
    int fd = accept4(dev->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED
                   ? CORRAL_OK
                   : diag_set(d, CORRAL_ERR_IO, "cannot accept the guest: %s", strerror(errno));
    if (dev->report.connected) { /* one guest, once: a second one would share the buffer with it */
        close(fd);
        return CORRAL_OK;
    }
    bool sent = send_message(fd, IVSHMEM_VERSION, -1) && send_message(fd, GUEST_PEER, -1) &&
                send_message(fd, -1, dev->bar_fd);
    for (uint32_t i = 0; i < TLOG_PCI_VECTORS; i++)
        sent = sent && send_message(fd, DEVICE_PEER, dev->bell[i]);
    for (uint32_t i = 0; i < TLOG_PCI_VECTORS; i++)
        sent = sent && send_message(fd, GUEST_PEER, dev->vector[i]);
    if (!sent) {
        close(fd);
        return diag_set(d, CORRAL_ERR_IO, "the guest went away while the device was handed to it");
    }
    dev->guest = fd;
    dev->report.connected = true;
    return CORRAL_OK;
}

void tlog_device_raise(struct tlog_device *dev, uint32_t vector)
{
    uint64_t one = 1;
    /* A counter that is full already means "raised": nothing is lost when the write does not succeed. */
    if (dev->vector[vector] >= 0 && write(dev->vector[vector], &one, sizeof(one)) < 0)
        return;
}

uint32_t tlog_device_bar_read(const struct tlog_device *dev, uint32_t offset)
{
    if (offset % 4 != 0 || offset > TLOG_PCI_BAR_SIZE - 4)
        return 0;
    return __atomic_load_n((const uint32_t *)(const void *)(dev->bar + offset), __ATOMIC_ACQUIRE);
}

void tlog_device_bar_write(struct tlog_device *dev, uint32_t offset, uint32_t value)
{
    if (offset % 4 == 0 && offset <= TLOG_PCI_BAR_SIZE - 4)
        __atomic_store_n((uint32_t *)(void *)(dev->bar + offset), value, __ATOMIC_RELEASE);
}
