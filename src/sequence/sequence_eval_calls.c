/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a sequence: accesses to the target in their order, Query, Message. Cross-trigger
 * sheet 4.7, cases C26, C27, C29 to C31, C40 to C42. Must not know what a target is: sequence_run.h's struct
 * sequence_target does all that leaves the interpreter.
 */
#include "sequence/sequence_state.h"

#include <inttypes.h>

#define MOST_PIN_WAIT_US 3000000

bool sequence_passes(enum corral_err err)
{
    return err != CORRAL_ERR_INTERRUPTED && err != CORRAL_ERR_LINK_DOWN && err != CORRAL_ERR_NO_MEMORY;
}

static struct sequence_port port_of(const struct sequence_state *s)
{
    return (struct sequence_port){.dp = s->variables[VAR_DP],
                                  .by_id = s->program->has_access_ports,
                                  .ap = s->variables[VAR_AP],
                                  .id = s->variables[VAR_APID]};
}

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static bool reads(enum sequence_function_id id)
{
    return id == FN_READ || id == FN_READ_DP || id == FN_READ_AP || id == FN_READ_ACCESS_AP;
}

/* Bits of the value that it gives; 0 = none. */
static unsigned result_bits(const struct sequence_access *access, enum sequence_function_id id)
{
    if (id == FN_PINS)
        return 32;
    if (id == FN_JTAG_SEQUENCE)
        return access->size;
    return reads(id) ? 8 * access->size : 0;
}

static bool count_of(struct sequence_state *s, const struct sequence_node *node, uint64_t count,
                     unsigned *bits)
{
    if (count < 1 || count > 64)
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                             "%s takes 1 to 64 bits in one call, and not %" PRIu64, node->function->name,
                             count);
    *bits = (unsigned)count;
    return true;
}

/* A delay past the end of the run is cut there: the next look at the clock ends it. */
static uint64_t delay_of(const struct sequence_state *s, uint64_t us)
{
    int64_t left = s->deadline - host_clock_now(s->run->clock);
    uint64_t most = left > 0 ? (uint64_t)left / NS_PER_US + 1 : 1;
    return us < most ? us : most;
}

static uint64_t pin_wait_of(struct sequence_state *s, const struct sequence_node *node, uint64_t us)
{
    if (us <= MOST_PIN_WAIT_US)
        return us;
    sequence_warn(s, node, "%s waits 3 s at most, and not %" PRIu64 " us", node->function->name, us);
    return MOST_PIN_WAIT_US;
}

static bool make_access(struct sequence_state *s, const struct sequence_node *node, const uint64_t *v,
                        struct sequence_access *access)
{
    enum sequence_function_id id = node->function->id;
    *access = (struct sequence_access){.write = !reads(id), .size = 4, .port = port_of(s), .address = v[0]};
    switch (id) {
    case FN_READ:
    case FN_WRITE:
        access->op = SEQUENCE_MEM;
        access->size = node->function->size;
        break;
    case FN_READ_DP:
    case FN_WRITE_DP:
        access->op = SEQUENCE_DP;
        break;
    case FN_READ_AP:
    case FN_WRITE_AP:
        access->op = SEQUENCE_AP;
        break;
    case FN_READ_ACCESS_AP:
    case FN_WRITE_ACCESS_AP:
        access->op = SEQUENCE_AP_SPACE;
        break;
    case FN_WRITE_ABORT:
        access->op = SEQUENCE_ABORT;
        access->address = 0;
        access->value = low_bits(v[0], 32);
        return true;
    case FN_DELAY:
        access->op = SEQUENCE_DELAY;
        access->address = 0;
        access->value = delay_of(s, v[0]);
        return true;
    case FN_CLOCK:
        access->op = SEQUENCE_CLOCK;
        access->address = 0;
        access->value = v[0];
        return true;
    case FN_PINS:
        access->op = SEQUENCE_PINS;
        access->value = v[0] & 0xFF;
        access->address = (v[1] & 0xFF) | pin_wait_of(s, node, v[2]) << 8;
        return true;
    case FN_SWJ_SEQUENCE:
        access->op = SEQUENCE_SWJ_SEQUENCE;
        access->address = 0;
        if (!count_of(s, node, v[0], &access->size))
            return false;
        access->value = low_bits(v[1], access->size);
        return true;
    case FN_JTAG_SEQUENCE:
        access->op = SEQUENCE_JTAG_SEQUENCE;
        access->address = v[1] & 1;
        if (!count_of(s, node, v[0], &access->size))
            return false;
        access->value = low_bits(v[2], access->size);
        return true;
    default:
        return sequence_fail(s, node->place, CORRAL_ERR_UNSUPPORTED,
                             "%s is a function that the interpreter lacks", node->function->name);
    }
    if (access->write)
        access->value = low_bits(v[1], 8 * access->size);
    return true;
}

void sequence_name_access(struct sequence_state *s, const struct sequence_node *node,
                          const struct sequence_access *access)
{
    if (access->op <= SEQUENCE_DP)
        diag_prefix(s->d, "%s(0x%" PRIx64 ")", node->function->name, access->address);
    else
        diag_prefix(s->d, "%s", node->function->name);
}

static bool perform(struct sequence_state *s, const struct sequence_node *node,
                    struct sequence_access *access)
{
    struct diag said;
    size_t done = 0;
    said.code = CORRAL_OK;
    said.message[0] = said.hint[0] = said.object[0] = '\0';
    s->result->accesses++;
    enum corral_err err = s->run->target->access(s->run->ctx, access, 1, false, &done, &said);
    if (!err)
        return true;
    access->value = 0;
    s->variables[VAR_RESULT] = UINT64_MAX;
    /* A delay that may not be made is no failing access: what stands behind it counts on the time. */
    if ((s->variables[VAR_ERRORCONTROL] & 1) && access->op != SEQUENCE_DELAY && sequence_passes(err))
        return true;
    if (s->d)
        *s->d = said;
    sequence_name_access(s, node, access);
    return sequence_fail_said(s, node->place, err);
}

#define MOST_VALUES 3

/* All the arguments that are numbers, from left to right; *unknown: one hangs on what an atomic block reads.
 */
static bool arguments(struct sequence_state *s, const struct sequence_node *node,
                      uint64_t values[MOST_VALUES], bool *unknown)
{
    bool before = s->atomic.unknown;
    unsigned count = 0;
    s->atomic.unknown = false;
    for (const struct sequence_node *one = node->a; one && count < MOST_VALUES; one = one->next)
        if (!sequence_eval(s, one, &values[count++]))
            return false;
    *unknown = s->atomic.unknown;
    s->atomic.unknown = before;
    if (count < node->function->least)
        return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "%s lacks an argument", node->function->name);
    return true;
}

static bool call_target(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    uint64_t values[MOST_VALUES] = {0, 0, 0};
    struct sequence_access access;
    bool unknown, well;
    if (!arguments(s, node, values, &unknown))
        return false;
    /* One expression may hold a million of them. */
    if (!sequence_tick(s, node->place))
        return false;
    /* What is not known yet is refused for that, not for the 0 that stands for it. */
    if (unknown)
        return sequence_collect(s, node, NULL, true);
    if (!make_access(s, node, values, &access))
        return false;
    unsigned bits = result_bits(&access, node->function->id);
    switch (s->atomic.mode) {
    case MODE_COLLECT:
        s->atomic.unknown |= bits != 0;
        return sequence_collect(s, node, &access, false);
    case MODE_REPLAY:
        well = sequence_replay(s, node, &access);
        break;
    default:
        well = perform(s, node, &access);
        break;
    }
    *value = bits ? low_bits(access.value, bits) : 0;
    return well;
}

bool sequence_eval_call(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    *value = 0;
    switch (node->function->id) {
    case FN_SEQUENCE:
        if (!node->a || node->a->kind != NODE_STRING)
            return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "Sequence lacks a name");
        if (s->atomic.mode != MODE_PLAIN)
            return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                                 "Sequence cannot stand in an atomic block");
        return sequence_call(s, node);
    case FN_QUERY:
    case FN_QUERY_VALUE:
        return sequence_query(s, node, value);
    case FN_MESSAGE:
        return sequence_say(s, node);
    case FN_EXTERNAL:
        return sequence_fail(s, node->place, CORRAL_ERR_UNSUPPORTED,
                             "%s is a function of an external tool, which is not offered here",
                             node->function->name);
    case FN_LOAD_DEBUG_INFO:
        return sequence_load_debug_info(s, node, value);
    default:
        return call_target(s, node, value);
    }
}
