/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cross triggers can do on a target, with proof. Cross-trigger sheet 11.3 (connectivity by test pulse),
 * 11.4 (pulse or level HALTED), 3.5 (restart proof), 1.4 rule 9 (a core whose request is still asserted
 * leaves debug state and comes right back).
 *
 * Leaves cores, CTIs and sync as found. Publishes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "group/group_internal.h"

struct check {
    struct group *g;
    struct group_check *out;
    bool ran[EVENT_MAX_CORES];
    bool was_sync;
};

static group_mask those_that_ran(const struct check *c)
{
    group_mask mask = 0;
    for (size_t i = 0; i < c->g->count; i++)
        if (c->ran[i])
            mask |= group_bit(i);
    return mask;
}

static size_t first_of(const struct check *c, size_t from)
{
    for (size_t k = 0; k < c->g->count; k++) {
        size_t i = (from + k) % c->g->count;
        if (c->ran[i])
            return i;
    }
    return c->g->count;
}

static enum corral_err look(struct check *c, struct diag *d)
{
    struct group *g = c->g;
    for (size_t i = 0; i < g->count; i++) {
        struct group_check_member *m = &c->out->members[i];
        struct core_status status;
        struct core_info info;
        struct diag words = DIAG_INIT;
        struct cti *cti = core_cti(g->cores[i]);
        m->name = core_name(g->cores[i]);
        m->island = -1;
        enum corral_err err = core_peek_status(g->cores[i], &status, &words);
        m->state = status.state;
        c->ran[i] = !err && status.state == CORE_RUNNING;
        if (!err && status.state != CORE_RESET && status.state != CORE_UNPOWERED &&
            status.state != CORE_UNKNOWN) {
            err = core_get_info(g->cores[i], &info, &words);
            m->has_cycle_counter = !err && info.has_cycle_counter;
        }
        m->has_cti = cti != NULL;
        if (cti) {
            const struct cti_info *x = cti_get_info(cti);
            struct cti_registers r = {0};
            m->cti_address = x->address;
            m->cti_ap = x->ap;
            m->triggers = x->triggers;
            m->channels = x->channels;
            if (!group_is_fatal(err))
                err = cti_show(cti, &r, &words);
            m->claim_tags = !err && r.claim_tags != 0;
            m->lock = !err && (r.lock_status & 1);
        }
        if (group_is_fatal(err)) {
            if (d)
                *d = words;
            return err;
        }
    }
    return CORRAL_OK;
}

/* Who was dragged along by the leader's halt? */
static void note_halts(struct check *c, size_t leader, const struct event *e)
{
    for (size_t i = 0; i < c->g->count; i++) {
        struct group_check_member *m = &c->out->members[i];
        if (i == leader || !c->ran[i] || !c->g->seats[i].in_use || !c->g->seats[leader].in_use ||
            c->g->seats[i].island != c->g->seats[leader].island || m->halt == GROUP_PROOF_DONE)
            continue;
        m->halt =
            e->halt.cores[i].reason == HALT_REASON_CROSS_TRIGGER ? GROUP_PROOF_DONE : GROUP_PROOF_FAILED;
    }
}

static enum corral_err halt(struct check *c, size_t leader, struct diag *d)
{
    struct event e;
    enum corral_err err = group_halt_members(c->g, those_that_ran(c), leader, true, &e, d);
    if (!err)
        note_halts(c, leader, &e);
    return err;
}

/* Only this one's restart output, so that the others stay where they are. */
static enum corral_err only_restart_of(struct group *g, size_t core, bool on, struct diag *d)
{
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || i == core)
            continue;
        unsigned now = cti_engaged(cti) & ~(unsigned)CTI_RESTART;
        unsigned restart = group_connections(g, i, true) & CTI_RESTART;
        enum corral_err err = cti_engage(cti, on ? now : now | restart, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* It ran when we came: let it go, and halt it again. */
static enum corral_err prove_run(struct check *c, size_t core, struct group_check_member *m, struct diag *d)
{
    struct group *g = c->g;
    struct group_outcome o = {.asked = true};
    bool restarted = false;
    enum corral_err err = core_prepare_run(g->cores[core], d);
    if (!err)
        err = group_acknowledge(g, GROUP_ALL, d);
    if (!err)
        err = cti_pulse(group_cti(g, core), g->restart_channel, d);
    if (!err)
        err = core_confirm_run(g->cores[core], &restarted, d);
    if (err)
        return err;
    m->run = restarted ? GROUP_PROOF_DONE : GROUP_PROOF_FAILED;
    err = core_request_halt(g->cores[core], d);
    if (!err && group_wait_halted(g, core, CORE_WAIT_NS, &o)) {
        if (d)
            *d = o.why;
        err = o.err;
    }
    return err ? err : group_acknowledge(g, GROUP_ALL, d);
}

/* It was halted when we came: with its request asserted it leaves debug state and comes right back. Where
 * that let an instruction slip through, the pc is put back, and told. */
static enum corral_err prove_latched(struct check *c, size_t core, struct group_check_member *m,
                                     struct diag *d)
{
    struct group *g = c->g;
    struct cti *cti = group_cti(g, core);
    struct group_outcome o = {.asked = true};
    uint32_t before = 0, after = 0;
    bool restarted = false, asserted = false;
    enum corral_err err = core_read_register(g->cores[core], CORE_REGISTER_PC, &before, d);
    if (!err)
        err = core_prepare_run(g->cores[core], d);
    if (!err)
        err = cti_pulse(cti, g->halt_channel, d);
    if (!err)
        err = cti_request_asserted(cti, &asserted, d);
    if (!err && asserted)
        err = cti_pulse(cti, g->restart_channel, d);
    if (!err && asserted)
        err = core_confirm_run(g->cores[core], &restarted, d);
    if (err)
        return err;
    if (asserted)
        m->run = restarted ? GROUP_PROOF_DONE : GROUP_PROOF_FAILED;
    if (group_wait_halted(g, core, GROUP_STRAGGLER_NS, &o))
        err = core_request_halt(g->cores[core], d); /* it got away: back with it */
    if (!err)
        err = group_acknowledge(g, GROUP_ALL, d);
    if (!err)
        err = core_read_register(g->cores[core], CORE_REGISTER_PC, &after, d);
    if (err || after == before)
        return err;
    group_remark(g, core, "%s executed something while its restart was proven: its pc was put back to 0x%08x",
                 core_name(g->cores[core]), (unsigned)before);
    return core_write_register(g->cores[core], CORE_REGISTER_PC, before, d);
}

static enum corral_err prove_restarts(struct check *c, struct diag *d)
{
    struct group *g = c->g;
    for (size_t i = 0; i < g->count; i++) {
        struct cti *cti = group_cti(g, i);
        if (!cti || g->seats[i].run_why != GROUP_WHY_NONE || !group_is_halted(g, i))
            continue;
        struct diag words = DIAG_INIT;
        enum corral_err err = only_restart_of(g, i, true, d);
        if (!err)
            err = cti_arm(cti, false, d); /* the others are not latched over and over */
        if (!err)
            err = c->ran[i] ? prove_run(c, i, &c->out->members[i], &words)
                            : prove_latched(c, i, &c->out->members[i], &words);
        if (group_is_fatal(err)) {
            if (d)
                *d = words;
            return err;
        }
        if (err)
            group_remark(g, i, "%s: its restart could not be proven: %s", core_name(g->cores[i]),
                         words.message);
        err = cti_engage(cti, group_connections(g, i, true), d);
        if (!err)
            err = only_restart_of(g, i, false, d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

static enum corral_err type_of_halted(struct check *c, struct diag *d)
{
    struct group *g = c->g;
    for (size_t i = 0; i < g->count; i++) {
        struct group_check_member *m = &c->out->members[i];
        bool high = false;
        if (!group_cti(g, i) || !group_is_halted(g, i))
            continue;
        enum corral_err err = cti_halted_is_high(group_cti(g, i), &high, d);
        if (err)
            return err;
        m->halted_input = high || g->seats[i].level ? GROUP_HALTED_LEVEL : GROUP_HALTED_PULSE;
    }
    return CORRAL_OK;
}

static void note_islands(struct check *c)
{
    struct group *g = c->g;
    for (size_t i = 0; i < g->count; i++)
        if (group_cti(g, i))
            c->out->members[i].island = g->seats[i].island;
}

/* Numbers 0, 1, ... in the order of members; one that turned out alone is an island too. */
static void number_islands(struct check *c)
{
    struct group *g = c->g;
    int seen[EVENT_MAX_CORES];
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct group_check_member *m = &c->out->members[i];
        if (m->island < 0) {
            if (g->seats[i].why == GROUP_WHY_OTHER_CTM)
                m->island = (int)n, seen[n++] = -1;
            continue;
        }
        size_t k = 0;
        while (k < n && seen[k] != m->island)
            k++;
        if (k == n)
            seen[n++] = m->island;
        m->island = (int)k;
    }
    c->out->islands = n;
}

static void say_why(struct check *c)
{
    struct group *g = c->g;
    for (size_t i = 0; i < g->count; i++) {
        struct group_check_member *m = &c->out->members[i];
        const struct group_member *now = group_get_member(g, i);
        m->with_sync = *now;
        if (!group_by_cross_triggers(now->halt))
            snprintf(m->why, sizeof(m->why), "halted and started by itself: %s%s%.150s",
                     group_why_text(now->halt_why), now->detail[0] ? ": " : "", now->detail);
        else if (m->halt == GROUP_PROOF_FAILED)
            snprintf(m->why, sizeof(m->why), "another core's halt did not halt it");
        else if (m->run == GROUP_PROOF_FAILED)
            snprintf(m->why, sizeof(m->why), "started by itself: %s",
                     group_why_text(GROUP_WHY_RESTART_IGNORED));
        else if (!group_by_cross_triggers(now->run))
            snprintf(m->why, sizeof(m->why), "started by itself: %s", group_why_text(now->run_why));
    }
}

static enum corral_err prove(struct check *c, struct diag *d)
{
    struct group *g = c->g;
    size_t leader = first_of(c, 0), next;
    struct event e;
    enum corral_err err = CORRAL_OK;
    if (leader < g->count)
        err = halt(c, leader, d);
    if (!err)
        err = group_acknowledge(g, GROUP_ALL, d);
    if (!err && !g->islands_proven)
        err = group_prove_islands(g, d);
    if (!err)
        err = type_of_halted(c, d);
    note_islands(c);
    if (!err)
        err = prove_restarts(c, d);
    next = leader < g->count ? first_of(c, leader + 1) : g->count;
    if (err || leader == g->count || next == leader)
        return err;
    /* Once more, led by another: the first leader has not been dragged along yet. */
    err = group_run_members(g, those_that_ran(c), next, &e, d);
    return err ? err : halt(c, next, d);
}

enum corral_err group_check(struct group *g, struct group_check *check, struct diag *d)
{
    struct check c = {.g = g, .out = check, .was_sync = g->sync};
    struct event e;
    memset(check, 0, sizeof(*check));
    check->count = g->count;
    check->halt_channel = check->restart_channel = -1;
    enum corral_err err = look(&c, d);
    if (err)
        return err;
    struct diag words = DIAG_INIT;
    err = group_enable_sync(g, &words);
    if (group_is_fatal(err)) {
        if (d)
            *d = words;
        return err;
    }
    if (err) { /* A30: that is an answer too */
        group_remark(g, GROUP_WHOLE, "cross triggers cannot be set up: %s", words.message);
        say_why(&c);
        return CORRAL_OK;
    }
    group_channels(g, &check->halt_channel, &check->restart_channel);
    err = prove(&c, d);
    number_islands(&c);
    say_why(&c);
    size_t leader = first_of(&c, 0);
    if (!group_is_fatal(err) && leader < g->count) {
        enum corral_err after = group_run_members(g, those_that_ran(&c), leader, &e, err ? NULL : d);
        err = err ? err : after;
    }
    if (!c.was_sync) {
        enum corral_err after = group_disable_sync(g, err ? NULL : d);
        err = err ? err : after;
    }
    return err;
}
