/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target of the tests' own for the interpreter: it writes down what it is asked, word for word, and answers
 * from a small memory. Everything is one text in the language, or a program that was made otherwise.
 */
#ifndef CORRAL_TESTS_SEQUENCE_RIG_H
#define CORRAL_TESTS_SEQUENCE_RIG_H

#include "sequence/sequence_run.h"

struct rig_word {
    uint64_t address, value;
};

struct rig {
    struct host_clock *clock;
    struct sequence_set *set;
    struct sequence_program *program;
    struct sequence_problems problems;
    struct sequence_setting setting; /* before rig_compile */
    unsigned file;

    struct sequence_run run; /* what rig_run runs with */
    struct sequence_result result;
    struct diag d;

    char log[16384];   /* an access a line: "R32 20000000", "W8 10 5A", "DP 4=50000000"; a batch in braces */
    char said[16384];  /* a message a line: "0 text" */
    char warned[4096]; /* a warning a line */
    size_t calls;      /* of target->access */

    struct rig_word words[64]; /* memory, read and written; what is not there reads as 0 */
    size_t word_count;
    uint64_t bad;            /* an access to this address fails with LINK_FAULT */
    enum corral_err bad_err; /* ... or with this */
    int64_t access_ns;       /* time an access takes */
    enum corral_err refuses_atomic;
    uint64_t pins, tdo, ctrl_stat; /* what is read of them */
    atomic_bool stop;
    size_t stop_after; /* accesses; 0 = never */
    uint64_t answer;
    enum corral_err answer_err;
    struct sequence_port port; /* of the last access */
};

struct rig *rig_new(void); /* a virtual clock */
void rig_free(struct rig *r);

/* A sequence of one block. In `text` lines "@if E", "@while E", "@timeout N" (of one control, in this order,
 * each optional) followed by "@begin" open a control, "@end" closes it; "@atomic" and "@block" begin a new
 * block. */
void rig_sequence(struct rig *r, const char *name, const char *pname, const char *text);
void rig_disable(struct rig *r, const char *name);
void rig_compile(struct rig *r);                          /* problems are kept */
void rig_compile_well(struct rig *r);                     /* fails the test when there is an error */
void rig_compile_anyway(struct rig *r);                   /* what the checker refuses is run all the same */
enum corral_err rig_run(struct rig *r, const char *name); /* logs begin anew */
void rig_memory(struct rig *r, uint64_t address, uint64_t value);
uint64_t rig_read(const struct rig *r, uint64_t address);
/* The value of an expression, computed by the interpreter alone; the test fails when it cannot be. */
uint64_t rig_value(const char *expression);
/* A set of one sequence "T" with this text, compiled well and run. */
struct rig *rig_of(const char *text);
struct rig *rig_of_refused(const char *text); /* the same with rig_compile_anyway */

#endif
