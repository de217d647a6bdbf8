/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the target code needs from the machine it runs on: a table of functions that the user fills in. The
 * firmware log (tlog_producer.h) uses it; the profile sampler needs none of it.
 *
 * Freestanding: no heap, no library. The table and what `ctx` points to must outlive the producer.
 */
#ifndef CORRAL_TARGET_PORT_H
#define CORRAL_TARGET_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct target_port {
    void *ctx; /* given back to every function */

    /*
     * Make `size` bytes at host address `address` reachable for read32 and write32 until the next call.
     * Called before every use of the buffer, since other code may move the same window in between. False when
     * the range cannot be reached as a whole (it crosses the window's end, or the link is down): then nothing
     * is read or written. Where the buffer is plain memory: return true. NULL stands for that.
     */
    bool (*map_window)(void *ctx, uint64_t address, uint32_t size);

    /* One aligned 32-bit access inside the window; `address` is the host address. Values are the machine's
     * own numbers: on a link that swaps bytes, the port swaps them back to little-endian memory. */
    uint32_t (*read32)(void *ctx, uint64_t address);

    /* Stores must reach the memory in the order of the calls: the last one of a batch gives it away. */
    void (*write32)(void *ctx, uint64_t address, uint32_t value);

    /* Tell the host that a batch is there (an MSI, a doorbell). May do nothing: hosts poll as well. May be
     * NULL. */
    void (*raise_irq)(void *ctx);

    /* The time for a record's stamp: milliseconds since boot, modulo 2^32. */
    uint32_t (*now)(void *ctx);
};

#endif
