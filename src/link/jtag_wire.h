/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pins of a JTAG chain behind a remote_bitbang server: movements are queued and sent in lumps, samples
 * of TDO are collected, and the scans of one TAP are wrapped in what the chain's other TAPs need. Knows TAPs,
 * not debug ports. For jtag.c only.
 *
 * A wire that failed once stays dead: every call after it does nothing, and `why` says what happened.
 */
#ifndef CORRAL_LINK_JTAG_WIRE_H
#define CORRAL_LINK_JTAG_WIRE_H

#include "link/jtag.h"
#include "link/link_tcp.h"

#define JTAG_WIRE_SCANS 264 /* that may be queued before jtag_wire_run */

struct jtag_wire;

/* Connects, resets the chain and finds out who is on it. NULL with *d set. */
/* `limit`: until when (link_tcp_now), or INT64_MAX. */
struct jtag_wire *jtag_wire_open(const char *words, int64_t limit, struct diag *d);
void jtag_wire_close(struct jtag_wire *w); /* says good-bye to the server; NULL is allowed */

/* No wait goes beyond `limit` (link_tcp_now) from now on; INT64_MAX = the wire's own bounds only. */
void jtag_wire_set_limit(struct jtag_wire *w, int64_t limit);

/* The pin nRESET (SRST). What the server does with it is not known. */
bool jtag_wire_drive_reset(struct jtag_wire *w, bool asserted);

/* The same with TRST, which resets the TAPs alone. Nothing is clocked. */
void jtag_wire_drive_lines(struct jtag_wire *w, bool srst, bool trst);
bool jtag_wire_srst(const struct jtag_wire *w); /* as they were driven last */
bool jtag_wire_trst(const struct jtag_wire *w);
/* TCK, TMS and TDI (bits 2 to 0, as the protocol has them) of `select`; a rising TCK moves the TAPs. */
void jtag_wire_drive_pins(struct jtag_wire *w, unsigned pins, unsigned select);
/* `bits` cycles: `tms` and `tdi` LSB first. Returns the scan that has TDO, when that is `wanted`. What the
 * TAPs are in then is the caller's affair, until jtag_wire_reset. */
unsigned jtag_wire_cycles(struct jtag_wire *w, uint64_t tms, uint64_t tdi, unsigned bits, bool wanted);

/* TAPs to Test-Logic-Reset and Run-Test/Idle; instructions are IDCODE or BYPASS then. */
void jtag_wire_reset(struct jtag_wire *w);

/* Queue a scan of the debug port's TAP, `bits` long: of the instruction first where it is another one than
 * before. Returns its index for jtag_wire_value. Of what comes out only the first `wanted` bits are asked
 * for: each is a character there and one back. */
unsigned jtag_wire_scan(struct jtag_wire *w, unsigned instruction, uint64_t data, unsigned bits,
                        unsigned wanted);
/* Send what is queued and wait for the answers. False when the wire is dead. */
bool jtag_wire_run(struct jtag_wire *w);
uint64_t jtag_wire_value(const struct jtag_wire *w, unsigned scan); /* what came out; until the next scan */

bool jtag_wire_failed(const struct jtag_wire *w);
const struct diag *jtag_wire_why(const struct jtag_wire *w);
const char *jtag_wire_name(const struct jtag_wire *w);
uint64_t jtag_wire_clocks(const struct jtag_wire *w);
const struct link_jtag_info *jtag_wire_info(const struct jtag_wire *w);

#endif
