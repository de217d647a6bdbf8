/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An atomic block: its accesses reach the target as one batch, or not at all. Cross-trigger sheet 4.5, case
 * C28.
 *
 * The block is evaluated twice from the same variables. The first time its accesses are only collected, and
 * what they read is unknown: an access that would hang on it is refused, with nothing sent. Then the batch
 * goes out, and the second time each access gives what the batch has read for it; messages are said then.
 */
#include "sequence/sequence_state.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct sequence_state *s, const struct sequence_node *node)
{
    struct sequence_atomic *a = &s->atomic;
    if (a->count < a->room)
        return true;
    if (a->count == SEQUENCE_ATOMIC_MOST)
        return sequence_fail(s, node->place, CORRAL_ERR_LIMIT, "an atomic block has more than %d accesses",
                             SEQUENCE_ATOMIC_MOST);
    size_t room = a->room ? 2 * a->room : 64;
    struct sequence_access *list = realloc(a->list, room * sizeof(*list));
    if (list)
        a->list = list;
    struct sequence_atomic_note *notes = list ? realloc(a->notes, room * sizeof(*notes)) : NULL;
    if (!notes)
        return sequence_fail(s, node->place, CORRAL_ERR_NO_MEMORY, "out of memory");
    a->notes = notes;
    a->room = room;
    return true;
}

bool sequence_collect(struct sequence_state *s, const struct sequence_node *node,
                      const struct sequence_access *access, bool arguments_unknown)
{
    struct sequence_atomic *a = &s->atomic;
    if (arguments_unknown)
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                             "in an atomic block no access may depend on a value that is read in the block");
    if (a->ended)
        return true;
    if (!make_room(s, node))
        return false;
    a->list[a->count] = *access;
    a->notes[a->count++] =
        (struct sequence_atomic_note){.node = node, .controlled = s->variables[VAR_ERRORCONTROL] & 1};
    a->variables |= UINT32_C(1) << VAR_RESULT; /* it may fail */
    return true;
}

static bool same(const struct sequence_access *a, const struct sequence_access *b)
{
    return a->op == b->op && a->write == b->write && a->size == b->size && a->address == b->address &&
           a->port.dp == b->port.dp && a->port.ap == b->port.ap && a->port.id == b->port.id;
}

bool sequence_replay(struct sequence_state *s, const struct sequence_node *node,
                     struct sequence_access *access)
{
    struct sequence_atomic *a = &s->atomic;
    if (a->next >= a->count || a->notes[a->next].node != node || !same(&a->list[a->next], access))
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                             "in an atomic block an access depended on a value that was read in the block");
    size_t i = a->next++;
    access->value = i < a->done ? a->list[i].value : 0;
    if (i >= a->done)
        s->variables[VAR_RESULT] = UINT64_MAX;
    return true;
}

/* Kept behind the frame's own locals, so that the block can be evaluated once more from them. */
static bool keep(struct sequence_state *s, struct sequence_place place, size_t *count)
{
    size_t base = s->frames[s->depth - 1].base;
    *count = s->locals_used - base;
    if (s->locals_used + *count > s->locals_room) {
        size_t room = 2 * (s->locals_used + *count);
        uint64_t *larger = realloc(s->locals, room * sizeof(*larger));
        if (!larger)
            return sequence_fail(s, place, CORRAL_ERR_NO_MEMORY, "out of memory");
        s->locals = larger;
        s->locals_room = room;
    }
    if (*count)
        memcpy(s->locals + s->locals_used, s->locals + base, *count * sizeof(*s->locals));
    return true;
}

static bool collect(struct sequence_state *s, const struct sequence_element *block)
{
    struct sequence_atomic *a = &s->atomic;
    uint64_t variables[VAR_COUNT];
    size_t count;
    if (!keep(s, block->place, &count))
        return false;
    memcpy(variables, s->variables, sizeof(variables));
    a->mode = MODE_COLLECT;
    a->count = a->next = a->done = 0;
    a->ended = false;
    a->variables = 0;
    memset(a->locals, 0, sizeof(a->locals));
    if (!sequence_statements(s, block))
        return false;
    memcpy(s->variables, variables, sizeof(variables));
    if (count)
        memcpy(s->locals + s->frames[s->depth - 1].base, s->locals + s->locals_used,
               count * sizeof(*s->locals));
    return true;
}

static bool send(struct sequence_state *s)
{
    struct sequence_atomic *a = &s->atomic;
    struct diag said = DIAG_INIT;
    if (!a->count)
        return true;
    s->result->accesses += a->count;
    enum corral_err err = s->run->target->access(s->run->ctx, a->list, a->count, true, &a->done, &said);
    if (!err) {
        a->done = a->count;
        return true;
    }
    a->done = a->done < a->count ? a->done : a->count - 1;
    const struct sequence_atomic_note *failed = &a->notes[a->done];
    /* Who cannot do it as one must not go on: that is no failing access (sheet 4.5). */
    if (failed->controlled && a->list[a->done].op != SEQUENCE_DELAY && err != CORRAL_ERR_UNSUPPORTED &&
        err != CORRAL_ERR_LIMIT && sequence_passes(err))
        return true;
    if (s->d)
        *s->d = said;
    sequence_name_access(s, failed->node, &a->list[a->done]);
    return sequence_fail_said(s, failed->node->place, err);
}

bool sequence_run_atomic(struct sequence_state *s, const struct sequence_element *block)
{
    uint64_t statements = s->result->statements;
    if (!collect(s, block))
        return false;
    s->result->statements = statements;
    s->atomic.unknown = false;
    if (!send(s))
        return false;
    s->atomic.mode = MODE_REPLAY;
    bool well = sequence_statements(s, block);
    s->atomic.mode = MODE_PLAIN;
    return well;
}
