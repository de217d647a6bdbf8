/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's frame: controls, blocks, calls, and the bounds of all of it. Cross-trigger sheet 4.3
 * (scope), 4.4 (if, while, timeout), 4.6 (what a call keeps), cases C19 to C25, C27. Must not know a function
 * by name: sequence_eval_calls.c does.
 *
 * Every way of going on passes sequence_tick: a statement, a round of a loop, a call, an access.
 */
#include "sequence/sequence_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sequence/sequence_state.h"

#define STANDING_TICKS 100              /* on a virtual clock that does not move ... */
#define STANDING_NS    (10 * NS_PER_US) /* ... as much passes, so that every run ends */
#define IDLE_LEAST_NS  (50 * NS_PER_US)
#define IDLE_MOST_NS   NS_PER_MS

/* ---- bounds */

/* A clock that only waiting moves would stand still for ever: let a little pass, but not beyond `until`. */
static void pass_time(struct sequence_state *s, int64_t now, int64_t ns, int64_t until)
{
    if (until > s->deadline)
        until = s->deadline;
    host_clock_sleep_until(s->run->clock, until - now < ns ? until : now + ns);
}

bool sequence_tick(struct sequence_state *s, struct sequence_place place)
{
    if (s->run->stop && atomic_load_explicit(s->run->stop, memory_order_relaxed))
        return sequence_fail(s, place, CORRAL_ERR_INTERRUPTED, "the sequence was stopped");
    int64_t now = host_clock_now(s->run->clock);
    if (now >= s->deadline)
        return sequence_fail(s, place, CORRAL_ERR_TIMEOUT, "the sequence did not end within %g s",
                             (double)s->timeout_ns / (double)NS_PER_S);
    if (!s->is_virtual)
        return true;
    if (now != s->seen_ns) {
        s->seen_ns = now;
        s->standing = 0;
    } else if (++s->standing >= STANDING_TICKS) {
        pass_time(s, now, STANDING_NS, INT64_MAX);
    }
    return true;
}

/* ---- controls */

struct round {
    int64_t begin;
    uint64_t accesses, assignments;
};

static struct round begin_round(struct sequence_state *s)
{
    return (struct round){.begin = s->is_virtual ? host_clock_now(s->run->clock) : 0,
                          .accesses = s->result->accesses,
                          .assignments = s->assignments};
}

/* On a real clock a round without an access or an assignment can change nothing: only time ends its loop, so
 * the processor may rest. On a virtual one time that stands still is made to pass. */
static void end_round(struct sequence_state *s, const struct round *round, int64_t until, int64_t *rest)
{
    int64_t now = host_clock_now(s->run->clock);
    if (s->is_virtual) {
        if (now == round->begin)
            pass_time(s, now, STANDING_NS, until);
    } else if (round->accesses == s->result->accesses && round->assignments == s->assignments) {
        pass_time(s, now, *rest, until);
        *rest = *rest < IDLE_MOST_NS / 2 ? 2 * *rest : IDLE_MOST_NS;
    } else {
        *rest = IDLE_LEAST_NS;
    }
}

static bool run_elements(struct sequence_state *s, const struct sequence_element *first, unsigned depth);

static bool run_while(struct sequence_state *s, const struct sequence_element *control, int64_t until,
                      unsigned depth)
{
    int64_t rest = IDLE_LEAST_NS;
    for (;;) {
        struct round round = begin_round(s);
        uint64_t more;
        if (!sequence_tick(s, control->while_->place) || !sequence_eval(s, control->while_, &more))
            return false;
        if (!more)
            return true;
        if (!run_elements(s, control->first, depth))
            return false;
        /* The running round was completed; the condition's last word changes nothing but what it does. */
        if (host_clock_now(s->run->clock) >= until)
            return sequence_eval(s, control->while_, &more);
        end_round(s, &round, until, &rest);
    }
}

static int64_t end_of(struct sequence_state *s, uint64_t timeout_us)
{
    const int64_t now = host_clock_now(s->run->clock);
    if (!timeout_us || timeout_us >= (uint64_t)(INT64_MAX - now) / NS_PER_US)
        return INT64_MAX;
    return now + (int64_t)timeout_us * NS_PER_US;
}

static bool run_control(struct sequence_state *s, const struct sequence_element *control, unsigned depth)
{
    int64_t until = control->while_ ? end_of(s, control->timeout_us) : INT64_MAX;
    uint64_t yes = 1;
    if (!sequence_tick(s, control->place) || (control->if_ && !sequence_eval(s, control->if_, &yes)))
        return false;
    if (!yes)
        return true;
    return control->while_ ? run_while(s, control, until, depth) : run_elements(s, control->first, depth);
}

bool sequence_statements(struct sequence_state *s, const struct sequence_element *block)
{
    for (const struct sequence_statement *one = block->statements; one; one = one->next) {
        uint64_t value = 0;
        if (!sequence_tick(s, one->place))
            return false;
        s->result->statements++;
        s->atomic.unknown = false;
        if (one->expression && !sequence_eval(s, one->expression, &value))
            return false;
        if (one->declares && !sequence_assign_local(s, one->slot, value))
            return false;
    }
    return true;
}

static bool run_elements(struct sequence_state *s, const struct sequence_element *first, unsigned depth)
{
    for (const struct sequence_element *one = first; one; one = one->next) {
        bool well;
        if (one->kind == ELEMENT_BLOCK)
            well = one->atomic ? sequence_run_atomic(s, one) : sequence_statements(s, one);
        else if (depth >= SEQUENCE_MAX_DEPTH)
            well = sequence_fail(s, one->place, CORRAL_ERR_LIMIT, "controls are nested more than %u deep",
                                 SEQUENCE_MAX_DEPTH);
        else
            well = run_control(s, one, depth + 1);
        if (!well)
            return false;
    }
    return true;
}

/* ---- calls */

static bool take_locals(struct sequence_state *s, size_t count, struct sequence_place place)
{
    size_t needed = s->locals_used + count;
    if (needed > s->locals_room) {
        size_t room = 2 * needed;
        uint64_t *larger = realloc(s->locals, room * sizeof(*larger));
        if (!larger)
            return sequence_fail(s, place, CORRAL_ERR_NO_MEMORY, "out of memory");
        s->locals = larger;
        s->locals_room = room;
    }
    if (count)
        memset(s->locals + s->locals_used, 0, count * sizeof(*s->locals));
    s->locals_used = needed;
    return true;
}

static bool enter(struct sequence_state *s, const struct sequence_code *code,
                  const struct sequence_node *call, struct sequence_place place)
{
    if (s->depth == SEQUENCE_CALL_DEPTH)
        return sequence_fail(s, place, CORRAL_ERR_SEQUENCE,
                             "sequences call each other more than %u deep: '%s' is not entered",
                             SEQUENCE_CALL_DEPTH, code->info.name);
    if (code->own_errors || code->info.has_errors) {
        diag_set(s->d, CORRAL_ERR_FORMAT, "sequence '%s' has errors and is not run", code->info.name);
        diag_hint(s->d, "'corral sequence check' shows them");
        return sequence_fail_said(s, place, CORRAL_ERR_FORMAT);
    }
    size_t base = s->locals_used;
    if (!take_locals(s, code->slots, place))
        return false;
    s->frames[s->depth++] = (struct sequence_frame){.code = code, .call = call, .base = base};
    bool well = run_elements(s, code->first, 0);
    s->depth--;
    s->locals_used = base;
    return well;
}

/* The names are those of the file, so that one call always means the same sequence. */
static const struct sequence_code *callee(struct sequence_state *s, const struct sequence_node *call)
{
    struct sequence_cached_call *cached =
        &s->calls[((uintptr_t)call / sizeof(*call)) % SEQUENCE_CALLS_CACHED];
    if (cached->node != call) {
        cached->node = call;
        cached->code = sequence_code_find(s->program, call->a->string.bytes, s->run->pname);
    }
    return cached->code;
}

bool sequence_call(struct sequence_state *s, const struct sequence_node *call)
{
    const struct sequence_code *code = callee(s, call);
    if (!sequence_tick(s, call->place))
        return false;
    if (!code && !sequence_is_predefined(call->a->string.bytes)) {
        char name[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
        text_escape((const uint8_t *)call->a->string.bytes,
                    call->a->string.size < SEQUENCE_NAME_MAX ? call->a->string.size : SEQUENCE_NAME_MAX, name,
                    sizeof(name));
        return sequence_fail(s, call->place, CORRAL_ERR_SEQUENCE, "there is no sequence '%s'", name);
    }
    if (!code || code->info.disabled)
        return true;
    static const enum sequence_predefined kept[] = {VAR_DP, VAR_AP, VAR_APID, VAR_ERRORCONTROL};
    uint64_t values[sizeof(kept) / sizeof(kept[0])];
    for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        values[i] = s->variables[kept[i]];
    if (!enter(s, code, call, call->place))
        return false;
    for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        s->variables[kept[i]] = values[i];
    return true;
}

/* ---- the whole */

static void start_variables(struct sequence_state *s, const struct sequence_start *start)
{
    const uint64_t values[VAR_COUNT] = {
        [VAR_DP] = start->dp,
        [VAR_AP] = start->ap,
        [VAR_APID] = start->apid,
        [VAR_CONNECTION] = start->connection,
        [VAR_PROTOCOL] = start->protocol,
        [VAR_TRACEOUT] = start->traceout,
        [VAR_TRACECLOCKIN] = start->traceclockin,
        [VAR_TRACECLOCKOUT] = start->traceclockout,
        [VAR_FLASH_OP] = start->flash_op,
        [VAR_FLASH_ADDR] = start->flash_addr,
        [VAR_FLASH_LEN] = start->flash_len,
        [VAR_FLASH_ARG] = start->flash_arg,
        [VAR_OPTIONS] = start->options,
    };
    for (unsigned i = 0; i < VAR_COUNT; i++)
        s->variables[i] = s->program->is_forced[i] ? s->program->forced[i] : values[i];
}

static enum corral_err run_code(struct sequence_state *s, const struct sequence_code *code)
{
    s->timeout_ns = s->run->timeout_ns > 0 ? s->run->timeout_ns : SEQUENCE_TIMEOUT_NS;
    s->is_virtual = host_clock_is_virtual(s->run->clock);
    s->seen_ns = host_clock_now(s->run->clock);
    s->deadline = s->timeout_ns < INT64_MAX - s->seen_ns ? s->seen_ns + s->timeout_ns : INT64_MAX;
    start_variables(s, &s->run->start);
    size_t values = s->program->value_count;
    s->values = values ? calloc(values, sizeof(*s->values)) : NULL;
    if (values && !s->values)
        return diag_set(s->d, CORRAL_ERR_NO_MEMORY, "out of memory");
    s->result->ran = true;
    enter(s, code, NULL, code->info.place);
    s->result->result = s->variables[VAR_RESULT] ? UINT64_MAX : 0;
    return s->err;
}

enum corral_err sequence_run(const struct sequence_program *program, const char *name,
                             const struct sequence_run *run, struct sequence_result *result, struct diag *d)
{
    struct sequence_result unasked;
    result = result ? result : &unasked;
    *result = (struct sequence_result){.ran = false};
    const struct sequence_code *code = sequence_code_find(program, name, run->pname);
    if (!code && !sequence_is_predefined(name)) {
        char shown[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
        text_escape((const uint8_t *)name, strnlen(name, SEQUENCE_NAME_MAX), shown, sizeof(shown));
        result->result = UINT64_MAX;
        return diag_set(d, CORRAL_ERR_USAGE, "there is no sequence '%s'", shown);
    }
    if (!code || code->info.disabled)
        return CORRAL_OK;
    struct sequence_state *s = calloc(1, sizeof(*s));
    if (!s)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    s->program = program;
    s->run = run;
    s->result = result;
    s->d = d;
    s->first = code;
    enum corral_err err = run_code(s, code);
    free(s->values);
    free(s->locals);
    free(s->atomic.list);
    free(s->atomic.notes);
    free(s);
    return err;
}
