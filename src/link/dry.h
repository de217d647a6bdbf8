/* SPDX-License-Identifier: Apache-2.0 */
/* The link without a target (INTERFACE.md "--link", dry): what is written is kept, the rest reads 0 or a
 * preset. */
#ifndef CORRAL_LINK_DRY_H
#define CORRAL_LINK_DRY_H

#include "link/link.h"

/*
 * `spec` is "dry", "dry:0xADDR=VALUE,..." (words seen through every AP) or "dry:@FILE.json" (the words of a
 * real part: objects "aps" of "ap", "idr", "base", "baseh", "cfg", "words", "unreadable"; "ap" -1 is an ADIv6
 * root address space, reached as AP registers: AP number = address of the block, register = offset in it. An
 * "ap" from LINK_NESTED_FIRST to LINK_NESTED_LAST with "parent" and "address" is what lies behind a MEM-AP
 * there, reached through that AP's registers). `clock` must outlive the link. NULL with *d set.
 *
 * What is mirrored so that sequences end: CTRL/STAT acknowledges the power requests written last (and none
 * after 0), DHCSR has S_REGRDY, and S_HALT while C_HALT is set; without a file each AP that is asked has an
 * IDR, in ADIv5's place and in ADIv6's. Of the wires, pins read as they were driven, high where nobody did,
 * and TDO reads 0; sequences, clock and ABORT are accepted. Each access lets 10 us pass.
 */
struct link *link_dry_open(const char *spec, struct host_clock *clock, struct diag *d);

#endif
