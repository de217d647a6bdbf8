/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware log's device, emulated: an ivshmem-doorbell device for QEMU whose firmware half runs in this
 * process. Queues and registers lie in BAR2 (kernel/tlog_pci_regs.h); "DMA" goes into the file that backs the
 * guest's memory; interrupts are eventfds. Firmware-log sheet 2, 3 and 5; hostile behaviour for its
 * section 8.
 *
 * The device checks itself: a store outside the buffer that the guest gave, into one it took back, or into
 * one that the host owns is refused and reported as a violation. It must not be confused with a device that a
 * guest with an IOMMU could contain: nothing here is translated.
 *
 * One device serves one guest, once. Not thread-safe; the device lives on the thread that runs it.
 */
#ifndef CORRAL_SIM_TLOG_DEVICE_H
#define CORRAL_SIM_TLOG_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct tlog_device_options {
    const char *socket;    /* where QEMU's ivshmem-doorbell connects */
    const char *ram;       /* the file behind the guest's memory; has to be there at the first message */
    uint64_t ram_size;     /* bytes; 0 = the file's size */
    const char *control;   /* a socket for commands, or NULL */
    const char *misbehave; /* commands carried out at the start, separated by commas, or NULL */
    uint64_t count;        /* records to produce from the start */
    uint32_t rate;         /* records a second; 0 = as many as the buffer takes */
    uint32_t period_ms;    /* the firmware's flush timer; 0 = 20 */
};

#define TLOG_DEVICE_NOTES 8u

/* Counts since the device was made. */
struct tlog_device_report {
    uint32_t generation; /* firmware starts */
    bool connected;      /* a guest is, or was, there */
    bool active;         /* a buffer is set up */
    bool dead;           /* BAR2 reads all ones */
    uint64_t address;    /* the buffer, while active */
    uint32_t size;
    uint32_t owner;                           /* owner byte now, while active */
    uint32_t setups;                          /* accepted */
    uint32_t refused;                         /* SETUPs answered with an error */
    uint32_t releases;                        /* acknowledged */
    uint32_t requests;                        /* taken from the queues */
    uint32_t doorbells;                       /* wake-ups of the queue's doorbell; rings can merge */
    uint32_t interrupts;                      /* raised on TLOG_PCI_VECTOR_LOG */
    uint32_t withheld;                        /* interrupts that a misbehaviour kept back */
    uint64_t logged;                          /* records given to the producer of this generation */
    uint64_t delivered;                       /* of those handed over */
    uint64_t dropped;                         /* of those lost */
    uint64_t batches;                         /* over all generations */
    uint64_t records;                         /* delivered, over all generations */
    uint64_t left;                            /* records still to produce */
    uint32_t staged;                          /* bytes */
    uint32_t violations;                      /* what this device did and must not do */
    uint32_t remarks;                         /* what the guest did and must not do */
    const char *violation[TLOG_DEVICE_NOTES]; /* the first ones; constant strings */
    const char *remark[TLOG_DEVICE_NOTES];
};

struct tlog_device;

/* Makes the sockets, so that QEMU and the controller can connect from now on. NULL and *d on failure. */
struct tlog_device *tlog_device_open(const struct tlog_device_options *options, struct diag *d);
void tlog_device_free(struct tlog_device *dev);

/* Serves until the guest goes away, the command `quit`, or *stop. */
enum corral_err tlog_device_run(struct tlog_device *dev, const atomic_bool *stop, struct diag *d);

/* Carry out one command; writes one line without line break into reply ("ok", "error: ...", or JSON for
 * `status`). False when it is refused. The commands: docs/tlog-device.md. */
bool tlog_device_command(struct tlog_device *dev, const char *line, char *reply, size_t reply_size);

void tlog_device_get_report(const struct tlog_device *dev, struct tlog_device_report *report);

#endif
