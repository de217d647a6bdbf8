/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the reader of cbuild-run.yml files write and ask, in short. */
#ifndef CORRAL_TESTS_UNIT_PACK_CBUILD_TEXTS_H
#define CORRAL_TESTS_UNIT_PACK_CBUILD_TEXTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pack/pack.h"
#include "sequence/sequence_store.h"

#define RUN "cbuild-run:\n  device: Maker::Part\n"

struct described {
    struct pack_file *file;
    struct pack_device *device;
    struct sequence_problems problems;
    struct diag diag;
};

static inline struct described take_with(const char *text, size_t size, const struct pack_places *places)
{
    struct described r = {.diag = DIAG_INIT};
    r.file = pack_parse(PACK_CBUILD_RUN, "dir/x.cbuild-run.yml", text, size, places, &r.problems, &r.diag);
    r.device = r.file ? pack_describe(r.file, NULL, &r.problems, &r.diag) : NULL;
    return r;
}

static inline void done(struct described *r)
{
    pack_device_free(r->device);
    pack_close(r->file);
    sequence_problems_clear(&r->problems);
}

/* A file that is taken, without a word. */
static inline struct described take(const char *text)
{
    struct described r = take_with(text, strlen(text), NULL);
    if (!r.device)
        fail_msg("%s", r.diag.message);
    if (r.problems.count)
        fail_msg("%u:%u: %s", r.problems.list[0].place.line, r.problems.list[0].place.column,
                 r.problems.list[0].text);
    return r;
}

/* One that is taken, with one warning that begins at this place. */
static inline void expect_warning(const char *text, unsigned line, unsigned column, const char *words)
{
    struct described r = take_with(text, strlen(text), NULL);
    if (!r.device)
        fail_msg("%s", r.diag.message);
    assert_int_equal(r.problems.count, 1);
    assert_int_equal(r.problems.errors, 0);
    const struct sequence_problem *p = &r.problems.list[0];
    if (p->place.line != line || p->place.column != column || !strstr(p->text, words))
        fail_msg("%u:%u: %s; expected is %u:%u: %s", p->place.line, p->place.column, p->text, line, column,
                 words);
    assert_int_equal(p->place.file, 1);
    done(&r);
}

static inline void expect_refused_bytes(const char *text, size_t size, const char *words)
{
    struct described r = take_with(text, size, NULL);
    if (r.device)
        fail_msg("it is taken; expected is '%s'", words);
    if (r.diag.code != CORRAL_ERR_FORMAT || !strstr(r.diag.message, words))
        fail_msg("%d '%s'; expected is '%s'", (int)r.diag.code, r.diag.message, words);
    assert_int_equal(strncmp(r.diag.message, "dir/x.cbuild-run.yml:", 21), 0);
    assert_int_equal(strncmp(r.diag.object, "dir/x.cbuild-run.yml:", 21), 0);
    done(&r);
}

/* `words` begins with the line's number. */
static inline void expect_refused(const char *text, const char *words)
{
    expect_refused_bytes(text, strlen(text), words);
}

#endif
