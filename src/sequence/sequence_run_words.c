/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ends in words: where it was (`FILE:LINE:COLUMN in NAME`), who had called it, and what is only
 * odd. Case C29 (the chain of callers).
 */
#include "sequence/sequence_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void name_caller(const struct sequence_state *s, const struct sequence_frame *frame,
                        const struct sequence_frame *caller, char *out, size_t size)
{
    const struct sequence_place *place = &frame->call->place;
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s at %s:%u", used ? ", by " : "Called by ", caller->code->info.name,
             sequence_set_file_name(s->program->set, place->file), place->line);
}

/* Of a long path the end is kept, and what stands behind it. */
static void name_place(struct diag *d, const char *file, struct sequence_place place, const char *name)
{
    char where[SEQUENCE_NAME_MAX + 32];
    if (place.line)
        snprintf(where, sizeof(where), ":%u:%u in %s", place.line, place.column, name);
    else
        snprintf(where, sizeof(where), " in %s", name);
    size_t room = sizeof(d->object) - 1 - strlen(where), length = strlen(file);
    const char *tail = file;
    if (length > room)
        tail += length - room + strlen("...");
    while (((uint8_t)*tail & 0xC0) == 0x80) /* within a character */
        tail++;
    diag_object(d, "%s%s%s", length > room ? "..." : "", tail, where);
}

bool sequence_fail_said(struct sequence_state *s, struct sequence_place place, enum corral_err err)
{
    s->err = err;
    s->variables[VAR_RESULT] = UINT64_MAX;
    if (!s->d)
        return false;
    const char *name = s->depth ? s->frames[s->depth - 1].code->info.name : s->first->info.name;
    name_place(s->d, sequence_set_file_name(s->program->set, place.file), place, name);
    char hint[sizeof(s->d->hint)] = "";
    for (unsigned i = s->depth; i > 1 && strlen(hint) + 1 < sizeof(hint); i--)
        name_caller(s, &s->frames[i - 1], &s->frames[i - 2], hint, sizeof(hint));
    if (hint[0] && s->d->hint[0]) {
        char said[sizeof(s->d->hint)];
        memcpy(said, s->d->hint, sizeof(said));
        diag_hint(s->d, "%s; %s", said, hint);
    } else if (hint[0]) {
        diag_hint(s->d, "%s", hint);
    }
    return false;
}

bool sequence_fail(struct sequence_state *s, struct sequence_place place, enum corral_err err,
                   const char *fmt, ...)
{
    char words[sizeof(s->d->message)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    diag_set(s->d, err, "%s", words);
    return sequence_fail_said(s, place, err);
}

void sequence_warn(struct sequence_state *s, const struct sequence_node *node, const char *fmt, ...)
{
    const unsigned most = sizeof(s->warned) / sizeof(s->warned[0]);
    for (unsigned i = 0; i < s->warned_count; i++)
        if (s->warned[i] == node)
            return;
    if (!s->run->warn || s->warned_count == most)
        return;
    s->warned[s->warned_count++] = node;
    char words[256], sentence[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    snprintf(sentence, sizeof(sentence), "%s:%u: %s",
             sequence_set_file_name(s->program->set, node->place.file), node->place.line, words);
    s->run->warn(s->run->ctx, sentence);
}
