/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of parser and checker ask about problems. Included by each of them once. */
#ifndef CORRAL_TESTS_SEQUENCE_CHECKS_H
#define CORRAL_TESTS_SEQUENCE_CHECKS_H

#include <stdio.h>
#include <string.h>

#include "sequence_rig.h"

/* The problem whose sentence holds `words`, NULL = none. */
static inline const struct sequence_problem *problem_with(const struct rig *r, const char *words)
{
    for (size_t i = 0; i < r->problems.count; i++)
        if (strstr(r->problems.list[i].text, words))
            return &r->problems.list[i];
    return NULL;
}

static inline void print_problems(const struct rig *r)
{
    for (size_t i = 0; i < r->problems.count; i++)
        printf("# %s %u:%u+%u %s: %s\n", r->problems.list[i].severity ? "error" : "warning",
               r->problems.list[i].place.line, r->problems.list[i].place.column, r->problems.list[i].width,
               r->problems.list[i].sequence, r->problems.list[i].text);
}

/* Exactly one problem in "T" with this text: of this kind, at this place, in these words. */
#define ONE_PROBLEM(text_, severity_, line_, column_, width_, words_)    \
    do {                                                                 \
        struct rig *rig_ = rig_new();                                    \
        rig_sequence(rig_, "T", NULL, text_);                            \
        rig_compile(rig_);                                               \
        ONE_PROBLEM_IN(rig_, severity_, line_, column_, width_, words_); \
        rig_free(rig_);                                                  \
    } while (0)
#define ONE_PROBLEM_IN(rig_, severity_, line_, column_, width_, words_)           \
    do {                                                                          \
        if ((rig_)->problems.count != 1)                                          \
            print_problems(rig_);                                                 \
        assert_int_equal((rig_)->problems.count, 1);                              \
        const struct sequence_problem *one_ = &(rig_)->problems.list[0];          \
        if (!strstr(one_->text, words_))                                          \
            fail_msg("\"%s\" is not in \"%s\"", words_, one_->text);              \
        assert_int_equal(one_->severity, severity_);                              \
        assert_int_equal((rig_)->problems.errors, (severity_) == SEQUENCE_ERROR); \
        assert_int_equal(one_->place.line, line_);                                \
        assert_int_equal(one_->place.column, column_);                            \
        assert_int_equal(one_->width, width_);                                    \
        assert_int_equal(one_->place.file, (rig_)->file);                         \
    } while (0)
#define NO_PROBLEM(text_)                          \
    do {                                           \
        struct rig *rig_ = rig_new();              \
        rig_sequence(rig_, "T", NULL, text_);      \
        rig_compile(rig_);                         \
        if (rig_->problems.count)                  \
            print_problems(rig_);                  \
        assert_int_equal(rig_->problems.count, 0); \
        rig_free(rig_);                            \
    } while (0)

#endif
