/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual board as a profiled target on a network: its datagrams leave as UDP, and a daemon answers the
 * profiler's control channel (profiler sheet 6) as a target without an MMU does: one client at a time, text
 * lines over TCP, memory maps over UDP. The board keeps to real time where this machine is fast enough.
 *
 * Not thread-safe; everything happens in profile_target_run.
 */
#ifndef CORRAL_SIM_PROFILE_TARGET_H
#define CORRAL_SIM_PROFILE_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct profile_target_options {
    uint16_t control_port; /* TCP on loopback; 0 = any free one */
    uint16_t udp_port;     /* where a client's collector listens; 0 = 51080 */
    uint64_t seed;         /* of the board; 0 = its default */
    double seconds;        /* ends after so long; <= 0 = never */
};

struct profile_target_report {
    uint64_t clients, commands, unknown_commands;
    uint64_t datagrams;         /* sent to a client */
    uint64_t discarded;         /* made while nobody had asked for them */
    uint64_t refused;           /* that this host would not send */
    double board_seconds;       /* how long the board ran, by its own clock */
    double fell_behind_seconds; /* how much real time it could not keep up with */
};

struct profile_target;

/* Listens from now on. NULL with *d set. */
struct profile_target *profile_target_open(const struct profile_target_options *options, struct diag *d);
void profile_target_free(struct profile_target *t); /* NULL is allowed */
uint16_t profile_target_port(const struct profile_target *t);

/* Serves until *stop or the time is over. */
enum corral_err profile_target_run(struct profile_target *t, const atomic_bool *stop, struct diag *d);
void profile_target_get_report(const struct profile_target *t, struct profile_target_report *report);

#endif
