/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile without help from the firmware and without a halt: DWT_PCSR, read over any link (ARMv7-M C1.8.4,
 * ARMv8-M: the same register). Rounds of samples become version 17 packets of one sender a core ("pcsr:NAME",
 * to be named by the caller), so that everything behind the streams is the same. Needs DEMCR.TRCENA, which is
 * set, and put back at the end; nothing else of the target is written.
 *
 * What it cannot see: a halted core's samples count as inactive; a core that sleeps shows where it sleeps, or
 * nothing; code in which non-invasive debug is forbidden (the Secure state, as the device has it) shows
 * nothing.
 *
 * The cost of a sample is one word read a core: on SWD with 4 MHz about 25 us, so a few thousand to ten
 * thousand samples a second. Owner thread of the link only.
 */
#ifndef CORRAL_PROF_PCSR_H
#define CORRAL_PROF_PCSR_H

#include "core/core.h"
#include "prof/stream.h"

struct prof_pcsr;

struct prof_pcsr_options {
    struct core *const *cores; /* borrowed, as what follows */
    size_t count;              /* 1 to EVENT_MAX_CORES */
    struct prof_streams *streams;
    uint64_t seed; /* of the intervals; 0 = a fixed one */
    /* Each packet as a sender would have sent it (capture). May be NULL. */
    void (*raw)(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns);
    void *ctx;
};

/*
 * Finds out which cores have the register. CORRAL_ERR_UNSUPPORTED when none has; *d then names each core and
 * why (no DWT, reads as zero, reads as all ones while the core runs: not permitted). NULL with *d set.
 */
struct prof_pcsr *prof_pcsr_open(const struct prof_pcsr_options *options, struct diag *d);
/* Puts DEMCR back and frees. What has not been handed over is flushed first. NULL is allowed. */
void prof_pcsr_close(struct prof_pcsr *p);

/* A sentence on the cores that are left out, or "". */
const char *prof_pcsr_note(const struct prof_pcsr *p);

/*
 * Maybe take a sample of each core: half of the calls, by chance, do nothing, so that calls at a fixed period
 * do not beat with what is periodic in the program. A full packet goes to the streams. An error of the link
 * ends the round: what was taken before it stays.
 */
enum corral_err prof_pcsr_poll(struct prof_pcsr *p, struct diag *d);
enum corral_err prof_pcsr_flush(struct prof_pcsr *p, struct diag *d);

#endif
