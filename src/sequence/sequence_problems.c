/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a description file, gathered: sequence.h. Must not decide what is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/sequence.h"

void sequence_problems_clear(struct sequence_problems *p)
{
    free(p->list);
    *p = (struct sequence_problems){0};
}

static bool same_place(const struct sequence_place *a, const struct sequence_place *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

static bool make_room(struct sequence_problems *p)
{
    if (p->count < p->room)
        return true;
    if (p->count >= SEQUENCE_MAX_PROBLEMS)
        return false;
    size_t room = p->room ? 2 * p->room : 16;
    struct sequence_problem *larger = realloc(p->list, room * sizeof(*larger));
    if (!larger)
        return false;
    p->list = larger;
    p->room = room;
    return true;
}

void sequence_problems_add(struct sequence_problems *p, enum sequence_severity severity,
                           struct sequence_place place, unsigned width, const char *sequence, const char *fmt,
                           ...)
{
    struct sequence_problem one = {.severity = severity, .place = place, .width = width ? width : 1};
    va_list args;
    va_start(args, fmt);
    vsnprintf(one.text, sizeof(one.text), fmt, args);
    va_end(args);
    snprintf(one.sequence, sizeof(one.sequence), "%s", sequence ? sequence : "");
    for (size_t i = 0; i < p->count; i++)
        if (same_place(&p->list[i].place, &place) && strcmp(p->list[i].text, one.text) == 0)
            return;
    p->errors += severity == SEQUENCE_ERROR;
    if (make_room(p))
        p->list[p->count++] = one;
    else
        p->dropped++;
}
