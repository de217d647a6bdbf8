/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * BAR2 of the emulated firmware-log device: shared memory of an ivshmem-doorbell device (1af4:1110). The
 * emulator (corral sim --tlog-device) and tlog_pci.ko share this header. Plain RAM: no access has a side
 * effect, so every command is "store, then ring the doorbell" (BAR0 + 12 = peer << 16 | vector).
 *
 * Little-endian 32-bit words; offsets in bytes.
 */
#ifndef TLOG_PCI_REGS_H
#define TLOG_PCI_REGS_H

#define TLOG_PCI_VENDOR 0x1af4
#define TLOG_PCI_DEVICE 0x1110

#define TLOG_PCI_BAR_SIZE 0x10000u

#define TLOG_PCI_ID          0x0000u /* TLOG_PCI_ID_VALUE, written by the emulator before anything else */
#define TLOG_PCI_ID_VALUE    0x474f4c43u
#define TLOG_PCI_VERSION     0x0004u /* 1 */
#define TLOG_PCI_GENERATION  0x0008u /* counts firmware starts: a change is a device reset */
#define TLOG_PCI_EMULATOR_ID 0x000cu /* ivshmem peer number of the emulator, for the doorbell */
/* Scratch registers as in tlog/arc_queue_layout.h; addresses in them are offsets into this BAR. */
#define TLOG_PCI_SCRATCH(n)  (0x0100u + 4u * (n))
#define TLOG_PCI_QUEUES      0x1000u /* control block, then the queues */

/* MSI-X vectors that the emulator raises in the guest. */
#define TLOG_PCI_VECTOR_LOG   0u /* a batch was handed over */
#define TLOG_PCI_VECTOR_RESET 1u /* the firmware has started again: TLOG_PCI_GENERATION changed */
#define TLOG_PCI_VECTORS      2u

/* Doorbell vector that the guest rings at the emulator: look at the queues. */
#define TLOG_PCI_BELL_QUEUE 0u

#endif
