/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences that call each other in a circle, and which ones call one with mistakes (cross-trigger sheet 12,
 * case C23). Walks the graph of calls once, without recursion.
 *
 * A sequence for all processors may run for any, so that a call in it leads to all of the called name; one
 * for a processor calls what counts for that. So that the graph stays small, the former go through a node
 * that stands for the name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/sequence_compiler.h"

#define MAX_CIRCLES 100 /* that are said */

struct walk {
    struct sequence_compiler *c;
    size_t codes;               /* nodes 0 .. codes - 1; codes + i stands for the name of code i */
    uint8_t *colour;            /* 0 = not seen, 1 = on the stack, 2 = done */
    bool *errors;               /* it, or one that it reaches */
    size_t *cursor;             /* of a code: the next call; of a name: index + 1 of the next code */
    uint32_t *stack, *position; /* of a node on the stack */
    uint32_t *lowest;           /* position that a circle of the node begins at */
    size_t depth;
    size_t *first_call; /* of each code; one more at the end */
    unsigned circles;
};

/* The next node that `at` leads to; false = no more. */
static bool next_edge(struct walk *w, uint32_t at, uint32_t *to, const struct sequence_node **call)
{
    const struct sequence_program *program = w->c->program;
    *call = NULL;
    if (at >= w->codes) {
        size_t code = w->cursor[at];
        if (!code)
            return false;
        w->cursor[at] = compiler_next_named(program, (uint32_t)code);
        *to = (uint32_t)code - 1;
        return true;
    }
    while (w->cursor[at] < w->first_call[at + 1]) {
        const struct compiler_call *one = &w->c->calls[w->cursor[at]++];
        const char *pname = program->codes[at]->info.pname, *name = one->node->a->string.bytes;
        uint32_t first = compiler_first_named(program, name);
        *call = one->node;
        if (!first)
            continue; /* predefined, without a default */
        const struct sequence_code *target = pname[0] ? sequence_code_find(program, name, pname) : NULL;
        if (pname[0] && !target)
            continue; /* there is none for this processor */
        *to = target ? target->index : (uint32_t)w->codes + first - 1;
        return true;
    }
    return false;
}

/* The path from `from` to the top of the stack is a circle. */
static void say_circle(struct walk *w, uint32_t from, const struct sequence_node *call)
{
    struct sequence_compiler *c = w->c;
    char path[200] = "";
    size_t used = 0;
    uint32_t top = w->stack[w->depth - 1];
    if (w->circles++ >= MAX_CIRCLES)
        return;
    for (size_t i = w->position[from]; i < w->depth; i++) {
        if (w->stack[i] >= w->codes)
            continue;
        const char *name = c->program->codes[w->stack[i]]->info.name;
        bool fits = used < 60; /* whole names: a cut one could end within a character */
        used += (size_t)snprintf(path + used, sizeof(path) - used, "%s%s", fits ? name : "...",
                                 fits ? " calls " : " ");
        if (!fits)
            break;
    }
    uint32_t back = from >= w->codes ? from - (uint32_t)w->codes : from;
    /* Of a name's node the call is that of the code before it. */
    uint32_t caller = top >= w->codes && w->depth > 1 ? w->stack[w->depth - 2] : top;
    c->code = c->program->codes[caller];
    c->said_errors = 0;
    if (!call)
        call = w->c->calls[w->cursor[caller] - 1].node;
    compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "sequences call each other in a circle: %s%s",
                 path, c->program->codes[back]->info.name);
}

static void push(struct walk *w, uint32_t at)
{
    w->colour[at] = 1;
    w->cursor[at] = at < w->codes ? w->first_call[at] : at - w->codes + 1;
    w->errors[at] = at < w->codes && w->c->program->codes[at]->own_errors;
    w->position[at] = (uint32_t)w->depth;
    w->lowest[at] = UINT32_MAX;
    w->stack[w->depth++] = at;
}

static void pop(struct walk *w)
{
    uint32_t at = w->stack[--w->depth];
    w->colour[at] = 2;
    if (w->lowest[at] <= w->position[at]) {
        w->errors[at] = true;
        if (at < w->codes)
            w->c->program->codes[at]->own_errors = true;
    }
    if (!w->depth)
        return;
    uint32_t below = w->stack[w->depth - 1];
    if (w->lowest[at] < w->lowest[below])
        w->lowest[below] = w->lowest[at];
    if (w->errors[at])
        w->errors[below] = true;
}

static void walk_from(struct walk *w, uint32_t start)
{
    push(w, start);
    while (w->depth) {
        uint32_t at = w->stack[w->depth - 1], to;
        const struct sequence_node *call;
        if (!next_edge(w, at, &to, &call)) {
            pop(w);
        } else if (w->colour[to] == 0) {
            push(w, to);
        } else if (w->colour[to] == 1) {
            say_circle(w, to, call);
            if (w->position[to] < w->lowest[at])
                w->lowest[at] = w->position[to];
        } else if (w->errors[to]) {
            w->errors[at] = true;
        }
    }
}

void compiler_check_circles(struct sequence_compiler *c)
{
    size_t n = c->program->code_count, call = 0;
    struct walk w = {.c = c, .codes = n};
    w.colour = compiler_take(c, 2 * n * sizeof(*w.colour));
    w.errors = compiler_take(c, 2 * n * sizeof(*w.errors));
    w.cursor = compiler_take(c, 2 * n * sizeof(*w.cursor));
    w.stack = compiler_take(c, 2 * n * sizeof(*w.stack));
    w.position = compiler_take(c, 2 * n * sizeof(*w.position));
    w.lowest = compiler_take(c, 2 * n * sizeof(*w.lowest));
    w.first_call = compiler_take(c, (n + 1) * sizeof(*w.first_call));
    if (c->err)
        return;
    for (size_t i = 0; i <= n; i++) {
        while (call < c->call_count && c->calls[call].caller < i)
            call++;
        w.first_call[i] = call;
    }
    for (size_t i = 0; i < n; i++)
        if (w.colour[i] == 0)
            walk_from(&w, (uint32_t)i);
    for (size_t i = 0; i < n; i++)
        c->program->codes[i]->info.has_errors = w.errors[i] || c->program->codes[i]->own_errors;
}
