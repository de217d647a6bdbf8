/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile: samples of the interrupted code from the board's TIMER at the highest priority, sent by the
 * DATAGRAM port (target/prof_sampler packs them).
 *
 * Masked regions, which the profile cannot see: the sampling handler itself (prof_sampler_interrupt,
 * prof_sampler_take and what they call: about 130 instructions a sample, 200 when a packet is closed), the
 * NMI and HardFault handlers, and the first instructions after reset. Nothing in the firmware sets PRIMASK,
 * FAULTMASK or BASEPRI.
 */
#ifndef CORRAL_FIRMWARE_SAMPLING_H
#define CORRAL_FIRMWARE_SAMPLING_H

#include <stdint.h>

/* Built for it, the packets stay in RAM as records (target/prof_records.h), at the symbol prof_buffer: for a
 * board without a network. */
#ifdef FIRMWARE_PROF_RECORDS
#define SAMPLING_RECORDS 1
#else
#define SAMPLING_RECORDS 0
#endif
#ifndef FIRMWARE_PROF_INTERVAL
#define FIRMWARE_PROF_INTERVAL 20000 /* 5 kHz at 100 MHz */
#endif

/* A counter of the program that goes out by name, about once a second. */
struct sampling_counter {
    const char *name;
    const volatile uint32_t *value;
};
#define SAMPLING_MAX_COUNTERS 8u

/* Mean interval. Each one is drawn from half of it to one and a half. */
extern const uint32_t prof_interval_cycles;

/* Read by the host as symbols. */
extern volatile uint32_t prof_samples_taken, prof_samples_sent, prof_packets_sent;

void sampling_start(uint32_t core, uint32_t core_hz, uint32_t seed, const struct sampling_counter *counters,
                    uint32_t counter_count);

#endif
