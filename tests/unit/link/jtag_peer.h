/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A remote_bitbang server in a thread of the test: the virtual board behind a JTAG-DP (cross-trigger sheet
 * 2.2, last paragraph) that can be slow, hang, sit on a chain with another TAP, and misbehave.
 */
#ifndef CORRAL_TESTS_JTAG_PEER_H
#define CORRAL_TESTS_JTAG_PEER_H

#include <stdbool.h>
#include <stdint.h>

#define JTAG_PEER_IDCODE 0x4BA00477u
#define JTAG_PEER_OTHER  0x06450041u

enum peer_misdeed {
    PEER_HONEST,
    PEER_CLOSES,
    PEER_IS_SILENT,
    PEER_SENDS_LETTERS,
    PEER_SENDS_MORE,
    PEER_TDO_LOW,
    PEER_TDO_HIGH,
};

struct jtag_peer_options {
    bool other_behind, other_ahead; /* another TAP towards TDO, towards TDI */
    unsigned slow_every, slow_for;  /* each n-th AP access answers WAIT so often */
    unsigned hang_at;               /* the n-th AP access never ends */
    bool no_overruns;               /* ORUNDETECT does nothing */
    unsigned bad_ack;               /* instead of OK/FAULT */
    enum peer_misdeed misdeed;
    uint64_t misdeed_after; /* samples that were answered well */
};

struct jtag_peer;

struct jtag_peer *jtag_peer_start(const struct jtag_peer_options *options);
const char *jtag_peer_words(const struct jtag_peer *p); /* "jtag:127.0.0.1:PORT" */
uint16_t jtag_peer_port(const struct jtag_peer *p);
/* From now on, while no access is under way. */
void jtag_peer_change(struct jtag_peer *p, const struct jtag_peer_options *options);
/* What was said of the reset lines last ('r' none, 's' SRST, 't' TRST, 'u' both), 0 = nothing; after an
 * access. */
char jtag_peer_lines(const struct jtag_peer *p);
/* After the client left. */
uint64_t jtag_peer_stop(struct jtag_peer *p); /* the rising edges of TCK it has seen */

#endif
