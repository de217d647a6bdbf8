/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cross triggering can do on the target that is attached, with proof, and with the skew that it saves.
 * Cross-trigger sheet 11.3 to 11.5; INTERFACE.md "sync-check".
 */
#ifndef CORRAL_SESSION_SYNC_CHECK_H
#define CORRAL_SESSION_SYNC_CHECK_H

#include "coresight/hints.h"
#include "session/run_control.h"

#define SYNC_CHECK_ROUNDS_MOST 1000

struct sync_check_core {
    const char *name, *type; /* "Cortex-M7"; borrowed from the session */
    uint32_t ap;
    struct group_check_member member;
    char state_why[64];   /* what its state means; "" */
    char why_no_cti[128]; /* what discovery says; "" with a CTI that can be used */
    int restart_output;   /* -1 = none known */
    enum cs_source cti_from, restart_from;
    uint32_t hz;  /* its clock as it was given; 0 = not */
    double ratio; /* its clock by the first counted core's, measured; 0 = not */
};

/* Skew of a round of run and halt, over all rounds. */
struct sync_check_skew {
    unsigned rounds; /* measured; 0: `why` says why none */
    enum group_mechanism mechanism;
    int64_t median_ns, max_ns;         /* EVENT_NO_TIME where a clock is not known */
    int64_t median_cycles, max_cycles; /* of cores on like clocks; EVENT_NO_TIME elsewhere */
    char why[240];
};

enum sync_verdict { SYNC_VERDICT_YES, SYNC_VERDICT_PARTLY, SYNC_VERDICT_NO };
const char *sync_verdict_name(enum sync_verdict v); /* "yes", "partly", "no" */

enum sync_feature {
    SYNC_FEATURE_HALT,
    SYNC_FEATURE_RUN,
    SYNC_FEATURE_FIRST,
    SYNC_FEATURE_STEP,
    SYNC_FEATURE_RESET,
    SYNC_FEATURE_COUNT,
};
const char *sync_feature_name(enum sync_feature f); /* "halt together", ... */

struct sync_check_verdict {
    enum sync_verdict verdict;
    char why[480];
};

#define SYNC_CHECK_PORTS 8

struct session_sync_check {
    size_t core_count;
    struct sync_check_core cores[EVENT_MAX_CORES];
    size_t islands;                    /* of cross triggers with a core on each */
    int halt_channel, restart_channel; /* tried; -1 = none */
    /* Access ports that do not answer: a core may be behind one. */
    size_t port_count;
    struct {
        uint32_t ap;
        char error[96];
    } ports[SYNC_CHECK_PORTS];
    size_t starter, stopper;              /* the cores the rounds were measured between */
    struct sync_check_skew without, with; /* cross triggers */
    struct sync_check_verdict verdicts[SYNC_FEATURE_COUNT];
    bool left_as_found; /* CTI registers, DEMCR and state of each core read the same afterwards */
    char difference[200];
};

/*
 * Halts the cores for some milliseconds, several times, and leaves the target as it was found: the session is
 * detached (session_detach) when it returns, also when it fails. `rounds` of skew each way, 0 = none.
 * CORRAL_ERR_INTERRUPTED once *stop is true.
 */
enum corral_err session_sync_check(struct session *s, unsigned rounds, const atomic_bool *stop,
                                   struct session_sync_check *out, struct diag *d);

#endif
