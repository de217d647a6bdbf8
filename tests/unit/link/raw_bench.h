/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bench for tests of wires and debug port by hand: a link of each kind that has them, and what is done with
 * it, which must succeed. For test_link_raw.c and test_link_port.c.
 */
#ifndef CORRAL_TESTS_RAW_BENCH_H
#define CORRAL_TESTS_RAW_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/cmsis_dap.h"
#include "link/dry.h"
#include "link/jtag.h"
#include "link/sim.h"
#include "tests/unit/link/cmsis_dap_peer.h"
#include "tests/unit/link/jtag_peer.h"

#define SRAM    0x20060000u
#define NOWHERE 0x70000000u

#define PIN_SWCLK  0x01u
#define PIN_SWDIO  0x02u
#define PIN_NTRST  0x20u
#define PIN_NRESET 0x80u

#define BANK_TARGETID 2u
#define TARGETID      1u /* of the board */

enum kind { SIM, DRY, JTAG, DAP_SWD, DAP_JTAG, KINDS };
static const char *const kind_names[] = {"sim", "dry", "jtag", "cmsis-dap (SWD)", "cmsis-dap (JTAG)"};

struct bench {
    enum kind kind;
    struct host_clock *clock;
    struct link *link;
    struct jtag_peer *jtag;
    struct cmsis_dap_peer dap;
    struct diag d;
};

static inline void open_with(struct bench *b, enum kind kind, const struct cmsis_dap_peer_options *peer,
                             const char *spec)
{
    memset(b, 0, sizeof(*b));
    b->kind = kind;
    b->clock = kind == SIM || kind == DRY ? host_clock_new_virtual() : host_clock_new_real();
    if (kind == SIM) {
        b->link = link_sim_open(&(struct link_sim_options){.clock = b->clock}, &b->d);
    } else if (kind == DRY) {
        b->link = link_dry_open(spec, b->clock, &b->d);
    } else if (kind == JTAG) {
        b->jtag = jtag_peer_start(NULL);
        b->link = link_jtag_open(jtag_peer_words(b->jtag), NULL, b->clock, &b->d);
    } else {
        struct link_options options = {.protocol = kind == DAP_JTAG ? LINK_PROTOCOL_JTAG : LINK_PROTOCOL_SWD};
        cmsis_dap_peer_start(&b->dap, peer);
        struct cmsis_dap_wire wire = cmsis_dap_peer_wire(&b->dap);
        b->link = link_cmsis_dap_open_wire(&wire, spec, &options, b->clock, &b->d);
    }
    if (!b->link)
        fail_msg("%s: %s", kind_names[kind], b->d.message);
    assert_int_equal(dp_power_up(b->link, &b->d), CORRAL_OK);
}

static inline void open_bench(struct bench *b, enum kind kind)
{
    open_with(b, kind, NULL, kind == DRY ? "dry" : "cmsis-dap");
}

static inline void close_bench(struct bench *b)
{
    link_close(b->link);
    host_clock_free(b->clock);
    if (b->jtag)
        jtag_peer_stop(b->jtag);
    if (b->kind == DAP_SWD || b->kind == DAP_JTAG) {
        assert_int_equal(b->dap.wrong, 0);
        cmsis_dap_peer_stop(&b->dap);
    }
}

#define must(b, call)                                                  \
    do {                                                               \
        if ((call) != CORRAL_OK)                                       \
            fail_msg("%s: %s", kind_names[(b)->kind], (b)->d.message); \
    } while (0)

static inline uint64_t pins(struct bench *b, unsigned out, unsigned select, unsigned wait_us)
{
    struct link_raw raw = {
        .op = LINK_RAW_PINS, .out = out, .select = select, .wait_us = wait_us, .in = 0x1234567890};
    must(b, link_raw(b->link, &raw, &b->d));
    return raw.in;
}

static inline void swj(struct bench *b, unsigned bits, uint64_t out)
{
    struct link_raw raw = {.op = LINK_RAW_SWJ, .bits = bits, .out = out};
    must(b, link_raw(b->link, &raw, &b->d));
}

static inline uint64_t jtag(struct bench *b, unsigned bits, unsigned tms, uint64_t tdi)
{
    struct link_raw raw = {.op = LINK_RAW_JTAG, .bits = bits, .select = tms, .out = tdi};
    must(b, link_raw(b->link, &raw, &b->d));
    return raw.in;
}

static inline void abort_with(struct bench *b, uint32_t value)
{
    struct link_raw raw = {.op = LINK_RAW_ABORT, .out = value};
    must(b, link_raw(b->link, &raw, &b->d));
}

static inline uint32_t read_dp(struct bench *b, uint32_t reg)
{
    uint32_t v = 0;
    must(b, link_read_dp(b->link, reg, &v, &b->d));
    return v;
}

static inline void write_dp(struct bench *b, uint32_t reg, uint32_t value)
{
    must(b, link_write_dp(b->link, reg, value, &b->d));
}

/* Memory is written and read: whatever was kept of the port is right. */
static inline void check_memory(struct bench *b, uint32_t value)
{
    uint32_t v = 0;
    must(b, link_write32(b->link, 0, SRAM, value, &b->d));
    must(b, link_read32(b->link, 0, SRAM, &v, &b->d));
    assert_int_equal(v, value);
}

static inline void line_reset(struct bench *b)
{
    swj(b, 51, UINT64_C(0x0007FFFFFFFFFFFF));
    swj(b, 3, 0);
}

#endif
