/* SPDX-License-Identifier: Apache-2.0 */
/* The group's state, and what its files offer one another. Only files of src/group/ include this. */
#ifndef CORRAL_GROUP_GROUP_INTERNAL_H
#define CORRAL_GROUP_GROUP_INTERNAL_H

#include "group/group.h"

/* How long the cross triggers get before a core is asked by itself. They need microseconds. */
#define GROUP_STRAGGLER_NS (5 * NS_PER_MS)

/* What is known of one member's cross triggers. */
struct group_seat {
    bool in_use;            /* its CTI is set up by us, or adopted */
    bool sequenced;         /* with in_use: debug sequences are used for it */
    bool waiting;           /* it could not be set up yet: in reset, without power */
    bool level;             /* its HALTED input is a level: off while the core is halted */
    bool isolated;          /* group_disarm */
    bool running;           /* it was started, or seen running, and has not been seen to halt since */
    bool away;              /* was seen in reset, without power or clock since it was last halted */
    int island;             /* -1 = none */
    enum group_why why;     /* why its CTI is not in use, or does not halt it */
    enum group_why run_why; /* why it is not started through it */
    uint32_t resets;        /* core_status.resets as last seen */
    char detail[160];
};

struct group {
    struct core *cores[EVENT_MAX_CORES];
    size_t count;
    struct event_bus *bus;
    char stream[32];
    bool sync;
    bool islands_proven;                    /* by test pulse, since the last change */
    int asked_halt, asked_restart;          /* channels, GROUP_ANY_CHANNEL = choose */
    unsigned halt_channel, restart_channel; /* the latter may be CTI_NO_CHANNEL */
    struct group_seat seats[EVENT_MAX_CORES];
    struct group_member shown[EVENT_MAX_CORES];
    struct group_remark remarks[GROUP_REMARKS_MAX];
    size_t remark_count;
    size_t next_poll;
    const struct group_sequences *sequences; /* NULL = our own way */
    bool start_ignored; /* ProcessorStart started nobody: not used any more while sync is on */
    bool false_alarm;   /* the last halt was nobody's wish (core_status.false_halt) */
};

/* What happened to one core in one group halt or run. */
struct group_outcome {
    bool asked;                /* it belongs to what was asked for */
    bool by_software;          /* a request of its own was needed */
    bool by_stop;              /* halt: ProcessorStop was its request */
    bool prepared;             /* run: was halted and is ready to leave debug state */
    bool restarted;            /* run: proven */
    bool excused;              /* it cannot halt or run, and that is no failure; why is in `status` */
    struct core_status status; /* halt: as last read */
    enum corral_err err;
    struct diag why;
};

/* group.c */
group_mask group_bit(size_t i);
/* Core number `i` of a walk that begins with the leader. */
size_t group_order(size_t leader, size_t i);
void group_remark(struct group *g, size_t core, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define GROUP_WHOLE SIZE_MAX /* for group_remark: it is about all */
/* Errors that end everything, and not just one member's part. */
bool group_is_fatal(enum corral_err err);
/* The CTI of a member that is in use, or NULL. */
struct cti *group_cti(const struct group *g, size_t i);
/* Its channels reach another member, or another one's reach it. */
bool group_linked(const struct group *g, size_t i);
bool group_runs_by_cti(const struct group *g, size_t i);
/* Is `i` the first of its gdb stub's cores among those before it in order from `leader`? */
bool group_domain_served(const struct group *g, size_t leader, size_t position, group_mask mask);
struct event group_event(struct group *g, enum event_kind kind);
void group_finish_event(struct group *g, const struct event *e, struct event *out);
void group_take_status(struct event_core *c, const struct core_status *s);
/* A reason of the core's own, neither our request nor another core's. */
bool group_own_reason(enum halt_reason reason);
enum corral_err group_check_leader(const struct group *g, group_mask mask, size_t leader, struct diag *d);
enum corral_err group_first_failure(const struct group *g, const struct group_outcome *outcomes,
                                    struct diag *d);
/* The connections member `i` should have now; `halted`: it is in debug state. */
unsigned group_connections(const struct group *g, size_t i, bool halted);
bool group_is_halted(struct group *g, size_t core);
void group_skew_of(const struct group *g, int64_t round_ns, struct group_skew *skew);

/* group_halt.c */
/* Halt, reasons, acknowledge: everything but publishing. `ask_leader` false: it has halted by itself. */
enum corral_err group_halt_members(struct group *g, group_mask mask, size_t leader, bool ask_leader,
                                   struct event *e, struct diag *d);
/* Polls until it is halted, or has been seen for a while to be in a state that cannot halt. */
enum corral_err group_wait_halted(struct group *g, size_t core, int64_t wait_ns, struct group_outcome *o);
/* Sets o->excused when what its status says explains why it is not halted. */
void group_excuse(struct group *g, size_t core, struct group_outcome *o);

/* group_ack.c */
/* Acknowledge the members of `mask` that are halted. A source that is a level is taken off first. */
enum corral_err group_acknowledge(struct group *g, group_mask mask, struct diag *d);
/* The same right after a halt: a debug sequence for it is run whether the request shows or not. */
enum corral_err group_acknowledge_halt(struct group *g, group_mask mask, struct diag *d);
/* As group_acknowledge, but only those whose request is still asserted: right before a restart. */
enum corral_err group_acknowledge_late(struct group *g, group_mask mask, struct diag *d);

/* group_run.c */
enum corral_err group_run_members(struct group *g, group_mask mask, size_t leader, struct event *e,
                                  struct diag *d);

/* group_islands.c */
/* Who sees whose channel, while nothing is connected yet: levels on the restart channel (all set up silent).
 */
enum corral_err group_see_islands(struct group *g, struct diag *d);
/* By test pulse; every CTI in use must be of a halted core, and acknowledged. */
enum corral_err group_prove_islands(struct group *g, struct diag *d);

/* group_sync.c */
/* By itself from now on, and why. Writes nothing. */
void group_leave_out(struct group *g, size_t i, enum group_why why, const struct diag *words);
/* A set-up that was refused with `err`: it is left out, or (the result) that ends everything. */
enum corral_err group_refused(struct group *g, size_t i, enum corral_err err, const struct diag *words,
                              struct diag *d);
/* A CTI whose core answers has not lost what was written to it: that it cannot be put back is an error. One
 * without power has lost all anyway, and is named. What fails stays owed (cti_teardown): it is tried again.
 */
enum corral_err group_put_back(struct group *g, size_t i, struct diag *d);
/* Make the connections of a CTI in use again; by its sequence, which leaves it out where that does not hold.
 */
enum corral_err group_set_again(struct group *g, size_t i, struct diag *d);
/* Read back every CTI in use and put right what a reset or a loss of power took; says so. */
enum corral_err group_mend(struct group *g, bool *mended, struct diag *d);
/* Set up those that could not be set up before. Only a link that is gone is an error. */
enum corral_err group_adopt(struct group *g, struct diag *d);
/* A reset was seen on this core since the last time: look at its CTI. */
void group_watch_resets(struct group *g, size_t core, const struct core_status *s);
/* Members that are alone on their channels give their CTI back. */
void group_drop_lonely(struct group *g);

/* group_sequence.c: each is of a member that has what it uses */
bool group_has_sequences(const struct group *g, size_t i);
bool group_sets_up_by_sequence(const struct group *g);
bool group_stops_by_sequence(const struct group *g, size_t i);
bool group_acknowledges_by_sequence(const struct group *g, size_t i);
bool group_starts_by_sequence(const struct group *g, size_t i);
/* Set aside, run, read back, run once more; those that do not hold, or not on the channels of most, are left
 * out. Only what ends everything is an error. */
enum corral_err group_sequence_set_up_all(struct group *g, group_mask mask, struct diag *d);
/* The same for one that joins later, on the group's channels. */
enum corral_err group_sequence_set_up(struct group *g, size_t i, struct diag *d);
enum corral_err group_sequence_set_again(struct group *g, size_t i, struct diag *d);
/* By the sequence; by ourselves where that does not clear the request. `always`: also where none shows. */
enum corral_err group_sequence_acknowledge(struct group *g, size_t i, bool always, struct diag *d);
/* A sequence that fails is a remark: whether it did what it should is for the caller to see. *ran false: it
 * has none of this name. */
enum corral_err group_sequence_stop(struct group *g, size_t i, bool *ran, struct diag *d);
enum corral_err group_sequence_start(struct group *g, size_t i, bool *ran, struct diag *d);

#endif
