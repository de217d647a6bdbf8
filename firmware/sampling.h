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

/* Mean interval. Each one is drawn from half of it to one and a half. */
extern const uint32_t prof_interval_cycles;

/* Read by the host as symbols. */
extern volatile uint32_t prof_samples_taken, prof_samples_sent, prof_packets_sent;

void sampling_start(uint32_t core, uint32_t core_hz, uint32_t seed);

#endif
