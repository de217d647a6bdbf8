/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of cores as one object: halt, run, step, reset, who was first, skew. A group never touches a wire; it
 * asks cores and their CTIs. Without group_enable_sync each core is reached by itself and not one CTI
 * register is written; with it a member is reached by cross triggers where that can be, and by itself
 * otherwise, with the reason (group_get_member).
 *
 * Algorithms: the cross-trigger sheet 1.7 (set-up, halt, acknowledge, restart), 3.4 (who was first), 3.5
 * (restart proof), 11.1 to 11.4. Owner thread of the link only.
 */
#ifndef CORRAL_GROUP_GROUP_H
#define CORRAL_GROUP_GROUP_H

#include "core/core.h"
#include "event/sink.h"

struct group;

/* Why a member is not halted, or not started, by cross triggers. */
enum group_why {
    GROUP_WHY_NONE,               /* it is, both */
    GROUP_WHY_OFF,                /* sync is off */
    GROUP_WHY_NO_CTI,             /* none that is known to be its own */
    GROUP_WHY_UNREACHABLE,        /* in reset, without power or clock: tried again when that is over */
    GROUP_WHY_NOT_WRITABLE,       /* writes to its CTI have no effect */
    GROUP_WHY_UNUSABLE,           /* integration test mode, too few channels */
    GROUP_WHY_CHANNELS_TAKEN,     /* no two channels are free, or those asked for are not */
    GROUP_WHY_OTHER_CTM,          /* its channels reach no other member */
    GROUP_WHY_NO_RESTART_OUTPUT,  /* halted by cross triggers, started by itself: none is known */
    GROUP_WHY_NO_RESTART_CHANNEL, /* likewise: its CTI has one channel */
    GROUP_WHY_RESTART_IGNORED,    /* likewise: a pulse on its restart output did nothing */
    GROUP_WHY_DEBUG_DISABLED,     /* a request has no effect on it (authentication) */
    GROUP_WHY_ISOLATED,           /* group_disarm */
    GROUP_WHY_STUB,               /* a gdb stub halts and starts it together with others */
    GROUP_WHY_NO_SEQUENCE,        /* group_use_sequences: there is none for it */
    GROUP_WHY_SET_UP_NOT_HELD,    /* likewise: its CTI is not as it should be after DebugCoreSetup, twice */
    GROUP_WHY_OTHER_CHANNELS,     /* likewise: it was set up with other channels than the others */
    GROUP_WHY_RESTART_NOT_SET_UP, /* likewise: halted by cross triggers, started by itself */
};
/* A clause: "it has no CTI that is known to be its own"; "" for GROUP_WHY_NONE. Never NULL. */
const char *group_why_text(enum group_why why);

struct group_member {
    const char *name;          /* the core's */
    enum group_mechanism halt; /* GROUP_MECHANISM_CTI, _SEQUENCE, _SOFTWARE or _STUB */
    enum group_mechanism run;  /* likewise */
    enum group_why halt_why;   /* GROUP_WHY_NONE with halt by cross triggers: cti, sequence */
    enum group_why run_why;    /* GROUP_WHY_NONE with run by cross triggers */
    int island;                /* members with the same number share channels; -1 = no CTI in use */
    bool island_proven;        /* by a test pulse (sheet 11.3), not just seen on the channel's status */
    bool level_halted;         /* its HALTED input was found to be a level (11.4) */
    int restart_output;        /* trigger output number, -1 = none */
    char detail[160];          /* the words of the error behind the reason; "" when there are none more */
};

/* What a caller prints as a warning: something was done otherwise than asked, or found. */
struct group_remark {
    const char *core; /* NULL = the whole group. Borrowed from the core */
    char text[320];   /* a sentence without a full stop */
};
#define GROUP_REMARKS_MAX 64

/* How two cores' counts over a measured round compare: see group_measure_round. */
struct group_skew {
    int64_t
        skew_ns; /* half of start plus stop skew; EVENT_NO_TIME when it could not be measured: see below */
    int64_t error_ns; /* resolution of the count, as if the clocks were exact; EVENT_NO_TIME likewise */
    uint32_t cycles[EVENT_MAX_CORES]; /* each core's DWT_CYCCNT difference over the round */
};

/* The cores stay the caller's and must outlive the group; at most EVENT_MAX_CORES. Events go to `bus` (may be
 * NULL) on `stream`. NULL when memory is out or there are too many. */
struct group *group_new(struct core *const *cores, size_t count, struct event_bus *bus, const char *stream);
void group_free(struct group *g); /* does not touch the target; NULL is allowed */

size_t group_count(const struct group *g);
/* Member `i` as it is reached now. Borrowed until the next call that takes the group. NULL past the end. (Not
 * group_member: unistd.h has that.) */
const struct group_member *group_get_member(struct group *g, size_t i);

/* Remarks gathered since the last group_forget_remarks, in order, each text once. Borrowed until the next
 * call. Returns how many. */
size_t group_remarks(const struct group *g, const struct group_remark **list);
void group_forget_remarks(struct group *g);

/* A set of members: bit i is member i. */
typedef uint32_t group_mask;
#define GROUP_ALL UINT32_MAX

/* Before group_enable_sync: use these channels instead of the first two that nobody routes; GROUP_ANY_CHANNEL
 * = choose. CORRAL_ERR_USAGE when both are the same or above 31, CORRAL_ERR_CORE_STATE while sync is on. */
#define GROUP_ANY_CHANNEL (-1)
enum corral_err group_set_channels(struct group *g, int halt, int restart, struct diag *d);
/* The channels in use; false while sync is off or nobody is reached by cross triggers. `restart` -1 = none.
 */
bool group_channels(const struct group *g, int *halt, int *restart);

/*
 * Debug sequences of a pack in place of our own register accesses (the seed's proposal; cross-trigger sheet
 * 13.14 to 13.17): what group_enable_sync and everything after it then does. `sequences` must outlive its
 * use; NULL takes them away. While sync is off only (CORRAL_ERR_CORE_STATE); CORRAL_ERR_USAGE when all four
 * are NULL. Without sync not one of the four is run. They run on the link's thread, and return within a
 * bounded time.
 *
 * Set-up. What every CTI holds is remembered first (cti_set_aside), so that group_disable_sync puts it back;
 * then set_up is run for each member, what it made is read back, and where that does not hold set_up is run
 * once more. What holds decides the channels (group_set_channels is only compared with them); members on
 * other channels than most are not joined. A member without sequences, without a CTI that discovery knows, or
 * whose set-up does not hold is reached by software, with the reason in group_get_member and in a remark. The
 * rest works on the CTIs as on those that we set up: proof by test pulse, levels, keeping members apart while
 * one steps or some run, mending after a reset (by set_up again).
 *
 * Run control. stop, acknowledge and start are looked after: what they did not do is done our own way, and a
 * remark says so. Each may answer CORRAL_ERR_UNSUPPORTED without having done anything: the member has none of
 * that name, and no remark is made. A start that nobody, or nobody but its own member, left debug state by is
 * not used again until sync is turned on anew. Mechanism of a member, and in events: `sequence` where its CTI
 * was set up by them; a run that was made without `start` is `cti`.
 */
struct group_sequences {
    void *ctx;
    bool (*has)(void *ctx, size_t core); /* false: this member has none. NULL = all have them */
    /* DebugCoreSetup: of each member with `has`, once more where reading back shows that it did not hold.
     * NULL: CTIs are set up our own way. */
    enum corral_err (*set_up)(void *ctx, size_t core, struct diag *d);
    /* ProcessorStart: once a group start (and island), of the first member in order from the leader that is
     * to start and has one, all others made ready before; never once per core. NULL: our own pulse. */
    enum corral_err (*start)(void *ctx, size_t core, struct diag *d);
    /* ProcessorStop of the leader, instead of a halt request. NULL: our own. */
    enum corral_err (*stop)(void *ctx, size_t core, struct diag *d);
    /* ProcessorHaltAcknowledge: of each member, once all have halted, and again before a start where its
     * request is asserted. NULL: our own way. */
    enum corral_err (*acknowledge)(void *ctx, size_t core, struct diag *d);
    /* set_up has been run already, before group_enable_sync (where the seed puts it, before DebugCoreStart).
     * Where it still holds it is not run again, and group_repair does not take it for a leftover. Unless the
     * CTI had been set aside before that (cti_set_aside), nobody saw what was there: then its connections
     * count as found off, and group_disable_sync takes them away and turns the CTI off where there are no
     * others. */
    bool already_run;
};
enum corral_err group_use_sequences(struct group *g, const struct group_sequences *sequences, struct diag *d);

/*
 * Use cross triggers from now on, for every member that can be joined to another one: sets their CTIs up in
 * the safe order with read-back. Others are halted and started by themselves; group_get_member says why and a
 * remark too. Where no two members can be joined the call still succeeds, every member is reached by
 * software, and a remark says so. (While cores run this is seen, not proven: then their
 * CTIs are given back at the next halt, if it holds.) On failure (the link, or a CTI that took a part of
 * what was written: CORRAL_ERR_CTI_PARTIAL) everything written is rolled back and sync stays off.
 */
enum corral_err group_enable_sync(struct group *g, struct diag *d);
/* Acknowledge, put every CTI back as it was found. */
enum corral_err group_disable_sync(struct group *g, struct diag *d);
bool group_sync_enabled(const struct group *g);
/* Is it done by CTIs, whoever set them up? */
static inline bool group_by_cross_triggers(enum group_mechanism m)
{
    return m == GROUP_MECHANISM_CTI || m == GROUP_MECHANISM_SEQUENCE;
}
/* CTI when at least two members are joined by cross triggers, SEQUENCE when that is done by debug sequences;
 * STUB when all share one gdb stub. */
enum group_mechanism group_mechanism(const struct group *g);

/*
 * Halt all. `leader` is the index of the core that gets the request first. Fills *event when not NULL
 * (borrowed names; valid while the group lives) and publishes it. CORRAL_OK when every core that can halt is
 * halted: one in reset, without power, without clock or with debug disabled is named in a remark and in the
 * event. CORRAL_ERR_CORE_NO_HALT, after a bounded wait, names a core that should have halted, or says that
 * not one did; the others are halted all the same.
 */
enum corral_err group_halt(struct group *g, size_t leader, struct event *event, struct diag *d);
/* Start all that are halted; each one's restart is proven. A core that is not halted is no error. */
enum corral_err group_run(struct group *g, size_t leader, struct event *event, struct diag *d);
/* The same for some members; the others go on as they are. `leader` must be one of them. The event lists all
 * members. CORRAL_ERR_NO_CORE when the mask holds none. */
enum corral_err group_halt_some(struct group *g, group_mask mask, size_t leader, struct event *event,
                                struct diag *d);
enum corral_err group_run_some(struct group *g, group_mask mask, size_t leader, struct event *event,
                               struct diag *d);
/* Read every core's state without changing anything (mechanism none). */
enum corral_err group_status(struct group *g, struct event *event, struct diag *d);

/*
 * Execute `count` instructions on member `core`, which must be halted; no other core moves or is latched
 * (case A20). Ends early where the core stops for a reason of its own. The event's reason is "step" then.
 */
enum corral_err group_step(struct group *g, size_t core, unsigned count, struct event *event, struct diag *d);

/*
 * To be called again and again while the group runs (sheet 11.1): looks at one member a call. Where it has
 * halted, all others are halted too, *stopped is true and *event is as of group_halt. A halt that no one
 * wanted (core_status.false_halt, case A23) starts the whole group again: *stopped stays false.
 */
enum corral_err group_poll(struct group *g, bool *stopped, struct event *event, struct diag *d);

/* Keep member `core` to itself, in both directions, until group_arm: for a flash algorithm or another run
 * whose end is nobody else's business (case A21). Without sync both do nothing. */
enum corral_err group_disarm(struct group *g, size_t core, struct diag *d);
enum corral_err group_arm(struct group *g, size_t core, struct diag *d);

/* A reset by debug sequences of a pack: each function sets *done false where the pack has none of its own,
 * and then the core's own way is taken. On the link's thread. */
struct group_reset_by {
    void *ctx;
    size_t first; /* what member 0 of the group is called there */
    enum corral_err (*reset)(void *ctx, size_t core, enum core_reset how, bool *done, struct diag *d);
    /* ResetCatchSet and ResetCatchClear. */
    enum corral_err (*catch_vector)(void *ctx, size_t core, bool on, bool *done, struct diag *d);
};

struct group_reset {
    enum core_reset how;             /* CORE_RESET_CORE: member `core` alone, cross-halt disarmed meanwhile */
    bool halt;                       /* stop at the first instruction; else all run afterwards */
    size_t core;                     /* the one that asks for the reset */
    const struct group_reset_by *by; /* NULL = the core's own way */
};
/*
 * Reset (sheet 11.2). With `halt` every member that is reset catches its own vector; afterwards each CTI is
 * read back and set up again where the reset took it. A member that stays in reset is named in a remark; its
 * vector catch stays on, so that it stops at its first instruction when it is let go. The event is a halt
 * (reason vector-catch) or a run.
 */
enum corral_err group_reset(struct group *g, const struct group_reset *reset, struct event *event,
                            struct diag *d);

/* Leave the target as it was found: every CTI first (case A24), then every core (core_detach). Goes on past
 * failures and returns the first. Sync is off afterwards. */
enum corral_err group_detach(struct group *g, bool leave_halted, struct diag *d);

/*
 * At attach, before group_enable_sync: look for what a tool left that ended without detaching: a debug
 * request that is asserted, an application channel that is held, connections of HALTED to the debug request
 * and to restart. Each is named in a remark and taken away; `repaired` counts them (may be NULL). Reads only
 * where nothing is wrong. Cores that are halted stay halted, and a remark names them when anything was
 * repaired on them.
 */
enum corral_err group_repair(struct group *g, size_t *repaired, struct diag *d);

/* After a link was lost and is there again: nothing is assumed, everything is read again (case A29). */
enum corral_err group_refresh(struct group *g, struct diag *d);

enum group_proof {
    GROUP_PROOF_NONE,  /* not tried; `why` says why */
    GROUP_PROOF_DONE,  /* seen to work */
    GROUP_PROOF_FAILED /* tried, and nothing happened */
};

struct group_check_member {
    const char *name;
    enum core_state state; /* as found */
    bool has_cti;
    uint64_t cti_address;
    uint32_t cti_ap;
    unsigned triggers, channels;
    bool claim_tags, lock; /* the CTI has them */
    int island;            /* by test pulse; -1 = not known */
    enum group_proof halt; /* another member's channel halted it */
    enum group_proof run;  /* a pulse on its restart output started it */
    enum { GROUP_HALTED_UNKNOWN, GROUP_HALTED_PULSE, GROUP_HALTED_LEVEL } halted_input;
    bool has_cycle_counter;
    struct group_member with_sync; /* how it would be reached with sync on, and why */
    char why[240];                 /* what will not work on it, and why; "" = all works */
};

struct group_check {
    size_t count;
    struct group_check_member members[EVENT_MAX_CORES];
    size_t islands;                    /* islands with at least one member */
    int halt_channel, restart_channel; /* tried; -1 = none */
};
/*
 * What cross triggers can do here, with proof: connectivity by test pulse (sheet 11.3), pulse or level HALTED
 * (11.4), restart of each core by itself (3.5). Halts all for some milliseconds, and starts those again that
 * ran; CTIs and cores are left as found, sync too. A core that was found halted is proven to restart without
 * letting it execute anything: with its debug request still asserted.
 */
enum corral_err group_check(struct group *g, struct group_check *check, struct diag *d);

/*
 * One measured round: run (led by core `starter`), let `run_ns` pass, halt (led by core `stopper`, another
 * core), and compare DWT_CYCCNT, which stands still in debug state: over the round the counts differ by start
 * plus stop skew, so half of that is reported. All cores must be halted before, and are halted after. The
 * skew is put into the halt event. It is not known (and the call succeeds) when a core has no cycle counter
 * (a remark says so), when its frequency is not known, when a core stopped by itself in between, or when
 * cores have unlike clocks and the round was so long that a count wrapped (43 s at 100 MHz).
 */
enum corral_err group_measure_round(struct group *g, size_t starter, size_t stopper, int64_t run_ns,
                                    struct group_skew *skew, struct diag *d);

#endif
