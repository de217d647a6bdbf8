/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's half of the statistical profile: samples from a timer interrupt, packed into version 17 data
 * packets (profiler sheet 3.1, 3.5 and 3.6; big-endian) and handed whole to a send function.
 *
 * No heap, no library, no state of its own. Not re-entrant: call it from one interrupt, or serialise. Adding
 * a sample writes 24 bytes; closing a packet writes 12 more, whatever its size: the rest of the header is
 * written once. What is not known stays 0, which readers take as "not reported".
 *
 * Sizes are in docs/target.md; stack about 40 bytes and what send takes.
 *
 * Where to sample: from an interrupt at the highest priority, at intervals that vary (a fixed interval beats
 * with whatever is periodic in the program). Code that masks that interrupt is never seen: say so.
 */
#ifndef CORRAL_TARGET_PROF_SAMPLER_H
#define CORRAL_TARGET_PROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_SAMPLER_HEADER  252u
#define PROF_SAMPLER_SAMPLE  24u
#define PROF_SAMPLER_MAX     49u /* samples in the 1440 bytes that senders use */
#define PROF_SAMPLER_PACKET  (PROF_SAMPLER_HEADER + PROF_SAMPLER_MAX * PROF_SAMPLER_SAMPLE)
#define PROF_SAMPLER_THREADS 16u

struct prof_sampler_config {
    /* Send `size` bytes as one datagram; they may be reused when it returns. False: it was not sent. */
    bool (*send)(void *ctx, const uint8_t *packet, uint32_t size);
    void *ctx;
    uint32_t clock_hz; /* of the clock counter; 0 = not reported */
    uint32_t cpu_id;   /* high half family, low half revision; 0 = not reported */
    uint16_t enabled;  /* mask of hardware threads */
    uint16_t profiler_thread;
    uint8_t per_packet; /* samples a packet, 1 to PROF_SAMPLER_MAX; 0 = PROF_SAMPLER_MAX */
};

struct prof_sampler_sample {
    uint32_t pc;      /* of the interrupted code */
    uint32_t link;    /* its link register: the caller's return address while pc is in a leaf function */
    uint32_t parent;  /* a return address from the stack; 0 = not known */
    uint32_t latency; /* core clocks since the last message dispatch; 0 = not known */
    uint16_t active;  /* mask of hardware threads that are not suspended */
    uint16_t d_blocked, i_blocked;
    uint8_t cond_codes; /* two NZVC nibbles */
    uint8_t thread;     /* hardware thread 0 to 15; bits 4 and 5: blocked on data, on instructions */
};

/* All state; the members are the sampler's own, but for the three counters, which anyone may read. */
struct prof_sampler {
    bool (*send)(void *ctx, const uint8_t *packet, uint32_t size);
    void *ctx;
    uint32_t sequence;
    uint8_t count, per_packet;
    volatile uint32_t samples_taken; /* every call of prof_sampler_add */
    volatile uint32_t samples_sent;  /* in packets that were sent */
    volatile uint32_t packets_sent;
    uint8_t packet[PROF_SAMPLER_PACKET];
};

/* False when there is no send function or per_packet is too big. */
bool prof_sampler_init(struct prof_sampler *s, const struct prof_sampler_config *config);

/* A thread's free-running instruction count, for the next packet. Threads never given stay 0. */
void prof_sampler_set_instructions(struct prof_sampler *s, unsigned thread, uint32_t count);

/* Add a sample taken when the free-running core clock counter stood at `clocks`. Sends the packet when it is
 * full; a packet that could not be sent is lost, and its number with it, so the reader sees the hole. */
void prof_sampler_add(struct prof_sampler *s, const struct prof_sampler_sample *sample, uint32_t clocks);

/* Send what there is. Does nothing when there is no sample. */
void prof_sampler_flush(struct prof_sampler *s, uint32_t clocks);

#endif
