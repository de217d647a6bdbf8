/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the interpreter keeps while it runs: shared by sequence_run*.c (controls, calls, words),
 * sequence_eval.c (expressions), sequence_eval_calls.c and sequence_eval_words.c (functions) and
 * sequence_atomic.c. Private to them.
 *
 * Functions return false when the run has ended: state->err and state->d say why.
 */
#ifndef CORRAL_SEQUENCE_SEQUENCE_STATE_H
#define CORRAL_SEQUENCE_SEQUENCE_STATE_H

#include "sequence/sequence_run.h"
#include "sequence/sequence_tree.h"

#define SEQUENCE_EVAL_DEPTH  1024 /* expressions within expressions, of all callers together: the C stack */
#define SEQUENCE_ATOMIC_MOST 4096 /* accesses of one atomic block */
#define SEQUENCE_ARGUMENTS   64   /* of one Message */

struct sequence_frame {
    const struct sequence_code *code;
    const struct sequence_node *call; /* in the caller; NULL for the first */
    size_t base;                      /* of its locals in state->locals */
};

/* An access of an atomic block beside its struct sequence_access. */
struct sequence_atomic_note {
    const struct sequence_node *node;
    bool controlled; /* __errorcontrol bit 0 was set */
};

enum sequence_mode {
    MODE_PLAIN,
    MODE_COLLECT, /* of an atomic block: nothing is sent, what is read is not known */
    MODE_REPLAY,  /* of the same: accesses give what the batch has read */
};

struct sequence_atomic {
    enum sequence_mode mode;
    struct sequence_access *list;
    struct sequence_atomic_note *notes;
    size_t count, room;
    size_t next;        /* MODE_REPLAY */
    size_t done;        /* of the batch; those behind failed */
    bool unknown;       /* MODE_COLLECT: the value of the expression depends on what is read */
    bool ended;         /* MODE_COLLECT: Message(2) stands here */
    uint32_t variables; /* predefined ones that hold something unknown */
    uint64_t locals[SEQUENCE_MAX_SLOTS / 64]; /* the same of the frame's */
};

#define SEQUENCE_CALLS_CACHED 64
struct sequence_cached_call {
    const struct sequence_node *node;
    const struct sequence_code *code;
};

struct sequence_state {
    const struct sequence_program *program;
    const struct sequence_run *run;
    const struct sequence_code *first;
    struct sequence_result *result;
    struct diag *d;
    enum corral_err err;

    uint64_t variables[VAR_COUNT];
    uint64_t *locals; /* of all frames, one behind the other */
    size_t locals_room, locals_used;
    struct sequence_frame frames[SEQUENCE_CALL_DEPTH];
    unsigned depth; /* of frames */
    unsigned eval_depth;
    const uint64_t **values; /* debugvars as the running processor has them; NULL = not yet looked for */
    struct sequence_cached_call calls[SEQUENCE_CALLS_CACHED];

    int64_t deadline, timeout_ns;
    bool is_virtual;
    int64_t seen_ns;      /* virtual: when the clock was last seen to move */
    unsigned standing;    /* ticks since then */
    uint64_t assignments; /* so that a round that changes nothing is known */

    struct sequence_atomic atomic;
    const struct sequence_node *warned[16]; /* said once a run */
    unsigned warned_count;
};

/* sequence_run.c */
/* The stop flag and the time over all; lets time pass on a virtual clock that stands still. */
bool sequence_tick(struct sequence_state *s, struct sequence_place place);
bool sequence_statements(struct sequence_state *s, const struct sequence_element *block);
bool sequence_call(struct sequence_state *s, const struct sequence_node *call);

/* sequence_run_words.c */
/* End the run; always false. */
bool sequence_fail(struct sequence_state *s, struct sequence_place place, enum corral_err err,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* As above with the words that are in s->d already. */
bool sequence_fail_said(struct sequence_state *s, struct sequence_place place, enum corral_err err);
void sequence_warn(struct sequence_state *s, const struct sequence_node *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* sequence_eval.c */
bool sequence_eval(struct sequence_state *s, const struct sequence_node *node, uint64_t *value);
bool sequence_assign_local(struct sequence_state *s, unsigned slot, uint64_t value);

/* sequence_eval_calls.c */
bool sequence_eval_call(struct sequence_state *s, const struct sequence_node *node, uint64_t *value);
/* Words for a failed access: its name and address before what the target said. */
void sequence_name_access(struct sequence_state *s, const struct sequence_node *node,
                          const struct sequence_access *access);
/* Is a failure of this kind one that __errorcontrol lets pass? */
bool sequence_passes(enum corral_err err);

/* sequence_eval_words.c */
bool sequence_query(struct sequence_state *s, const struct sequence_node *node, uint64_t *value);
bool sequence_load_debug_info(struct sequence_state *s, const struct sequence_node *node, uint64_t *value);
bool sequence_say(struct sequence_state *s, const struct sequence_node *node);

/* sequence_atomic.c */
bool sequence_run_atomic(struct sequence_state *s, const struct sequence_element *block);
bool sequence_collect(struct sequence_state *s, const struct sequence_node *node,
                      const struct sequence_access *access, bool arguments_unknown);
bool sequence_replay(struct sequence_state *s, const struct sequence_node *node,
                     struct sequence_access *access);

#endif
