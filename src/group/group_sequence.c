/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy `sequence`: set-up, the leader's halt request, acknowledge and restart by debug sequences of a
 * pack instead of our own register writes; all else works on the CTIs as they set them up. Cross-trigger
 * sheet 13 (4, 5, 14, 15, 17); group.h "group_use_sequences" has the rules.
 *
 * Must not believe a sequence: what it should have done is read back, and done our own way, or left, where it
 * has not.
 */
#include <stdio.h>

#include "group/group_internal.h"

#define SET_UP_TRIES 2
#define ACK_LOOKS    3

/* What the set-up of one member made. */
struct made {
    bool is_ours; /* it takes part: `halt` and `restart` are set */
    unsigned halt, restart;
};

enum corral_err group_use_sequences(struct group *g, const struct group_sequences *sequences, struct diag *d)
{
    const struct group_sequences *s = sequences;
    if (g->sync)
        return diag_set(d, CORRAL_ERR_CORE_STATE, "the debug sequences cannot be changed while sync is on");
    if (s && !s->set_up && !s->start && !s->stop && !s->acknowledge)
        return diag_set(d, CORRAL_ERR_USAGE, "there is no debug sequence for run control");
    g->sequences = s;
    return CORRAL_OK;
}

bool group_has_sequences(const struct group *g, size_t i)
{
    const struct group_sequences *s = g->sequences;
    return s && (!s->has || s->has(s->ctx, i));
}

bool group_sets_up_by_sequence(const struct group *g)
{
    return g->sequences && g->sequences->set_up;
}

bool group_starts_by_sequence(const struct group *g, size_t i)
{
    return g->seats[i].sequenced && g->sequences->start && !g->start_ignored;
}

/* A sequence that took too long has failed by itself; what we were asked for may still have time. */
static bool is_final(struct group *g, enum corral_err err)
{
    if (err == CORRAL_ERR_TIMEOUT)
        return link_deadline_passed(core_link(g->cores[0]));
    return group_is_fatal(err);
}

static void name_failure(struct group *g, size_t i, const char *sequence, const struct diag *why)
{
    group_remark(g, i, "%s of %s failed: %s", sequence, core_name(g->cores[i]), why->message);
}

static enum corral_err end(enum corral_err err, const struct diag *why, struct diag *d)
{
    if (d)
        *d = *why;
    return err;
}

/* The two ways a member is done with after its set-up. */
static void take(struct group *g, size_t i)
{
    struct group_seat *s = &g->seats[i];
    const struct cti_info *info = cti_get_info(core_cti(g->cores[i]));
    s->in_use = s->sequenced = true;
    s->waiting = false;
    s->detail[0] = '\0';
    s->run_why = GROUP_WHY_NONE;
    if (info->restart_output < 0)
        s->run_why = GROUP_WHY_NO_RESTART_OUTPUT;
}

static void give_back(struct group *g, size_t i, enum group_why why, const struct diag *words)
{
    group_put_back(g, i, NULL); /* where that fails it is owed, and group_disable_sync says so */
    group_leave_out(g, i, why, words);
}

/* DebugCoreSetup, and what it made. CORRAL_ERR_CTI_UNUSABLE with what differs where it did not hold. */
static enum corral_err run_set_up(struct group *g, size_t i, struct made *m, struct diag *d)
{
    const struct group_sequences *s = g->sequences;
    struct diag why = DIAG_INIT;
    enum corral_err err = s->set_up(s->ctx, i, &why);
    if (is_final(g, err))
        return end(err, &why, d);
    enum corral_err after = cti_adopt(core_cti(g->cores[i]), &m->halt, &m->restart, d);
    m->is_ours = !after;
    if (err && after && !is_final(g, after))
        return end(CORRAL_ERR_CTI_UNUSABLE, &why, d); /* that it failed says more than what is missing */
    if (err && !after)
        name_failure(g, i, "DebugCoreSetup", &why);
    return after;
}

/* Until it holds, or is left out. `ran`: it has been run before. */
static enum corral_err set_up_until_it_holds(struct group *g, size_t i, bool ran, struct made *m,
                                             struct diag *d)
{
    struct diag why = DIAG_INIT;
    struct cti *cti = core_cti(g->cores[i]);
    enum corral_err err = CORRAL_ERR_CTI_UNUSABLE;
    if (ran)
        err = cti_adopt(cti, &m->halt, &m->restart, &why);
    m->is_ours = !err;
    for (unsigned k = ran; k < SET_UP_TRIES && !m->is_ours && !is_final(g, err); k++)
        err = run_set_up(g, i, m, &why);
    if (is_final(g, err))
        return end(err, &why, d);
    if (err && cti_why_refused(cti) == CTI_REFUSAL_TAKEN)
        give_back(g, i, GROUP_WHY_CHANNELS_TAKEN, &why);
    else if (err)
        give_back(g, i, GROUP_WHY_SET_UP_NOT_HELD, &why);
    return CORRAL_OK;
}

static enum corral_err set_aside(struct group *g, size_t i, struct diag *d)
{
    struct diag why = DIAG_INIT;
    struct cti *cti = core_cti(g->cores[i]);
    enum corral_err err = cti_set_aside(cti, &why);
    if (err)
        return group_refused(g, i, err, &why, d);
    if (g->sequences->already_run)
        cti_take_over(cti);
    return CORRAL_OK;
}

/* The channel that most of those on `halt` (CTI_NO_CHANNEL = any) have, the first one's of equals. */
static unsigned most(const struct group *g, const struct made *made, bool restart, unsigned halt)
{
    unsigned votes[CTI_NO_CHANNEL] = {0}, best = CTI_NO_CHANNEL;
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->count; i++) {
            unsigned channel = restart ? made[i].restart : made[i].halt;
            if (!made[i].is_ours || channel >= CTI_NO_CHANNEL || (restart && made[i].halt != halt))
                continue;
            if (pass == 0)
                votes[channel]++;
            else if (best == CTI_NO_CHANNEL || votes[channel] > votes[best])
                best = channel;
        }
    return best;
}

static int signed_channel(unsigned channel)
{
    return channel == CTI_NO_CHANNEL ? -1 : (int)channel;
}

/* Does it have the group's channels? Else it is not joined. */
static void join(struct group *g, size_t i, const struct made *m)
{
    struct diag words = DIAG_INIT;
    if (m->halt == g->halt_channel && (m->restart == g->restart_channel || m->restart == CTI_NO_CHANNEL)) {
        take(g, i);
        if (m->restart == CTI_NO_CHANNEL && g->seats[i].run_why == GROUP_WHY_NONE)
            g->seats[i].run_why = GROUP_WHY_RESTART_NOT_SET_UP;
        return;
    }
    snprintf(words.message, sizeof(words.message), "halt %u, restart %d instead of %u and %d", m->halt,
             signed_channel(m->restart), g->halt_channel, signed_channel(g->restart_channel));
    give_back(g, i, GROUP_WHY_OTHER_CHANNELS, &words);
}

static void compare_with_asked(struct group *g)
{
    bool halt = g->asked_halt >= 0 && (unsigned)g->asked_halt != g->halt_channel;
    bool restart = g->asked_restart >= 0 && (unsigned)g->asked_restart != g->restart_channel;
    if (halt || restart)
        group_remark(g, GROUP_WHOLE,
                     "the channels are those of the pack's DebugCoreSetup (halt %u), not those asked for",
                     g->halt_channel);
}

enum corral_err group_sequence_set_up_all(struct group *g, group_mask mask, struct diag *d)
{
    struct made made[EVENT_MAX_CORES] = {0};
    bool run[EVENT_MAX_CORES] = {false};
    const struct group_sequences *s = g->sequences;
    enum corral_err err = CORRAL_OK;
    /* All before the first sequence: it may program the CTIs of others, too. */
    for (size_t i = 0; i < g->count && !err; i++)
        if (mask & group_bit(i))
            err = set_aside(g, i, d);
    for (size_t i = 0; i < g->count && !err; i++) {
        if (!(mask & group_bit(i)) || g->seats[i].why != GROUP_WHY_NONE)
            continue;
        struct diag why = DIAG_INIT;
        made[i].is_ours =
            s->already_run && !cti_adopt(core_cti(g->cores[i]), &made[i].halt, &made[i].restart, NULL);
        if (made[i].is_ours)
            continue;
        run[i] = true;
        err = s->set_up(s->ctx, i, &why);
        if (err && !is_final(g, err)) {
            name_failure(g, i, "DebugCoreSetup", &why);
            err = CORRAL_OK;
        } else if (err) {
            return end(err, &why, d);
        }
    }
    for (size_t i = 0; i < g->count && !err; i++)
        if (run[i])
            err = set_up_until_it_holds(g, i, true, &made[i], d);
    if (err)
        return err;
    g->halt_channel = most(g, made, false, CTI_NO_CHANNEL);
    g->restart_channel = most(g, made, true, g->halt_channel);
    for (size_t i = 0; i < g->count; i++)
        if (made[i].is_ours)
            join(g, i, &made[i]);
    if (g->halt_channel != CTI_NO_CHANNEL)
        compare_with_asked(g);
    return CORRAL_OK;
}

enum corral_err group_sequence_set_up(struct group *g, size_t i, struct diag *d)
{
    struct made m = {0};
    enum corral_err err = set_aside(g, i, d);
    if (err || g->seats[i].why != GROUP_WHY_NONE)
        return err;
    err = set_up_until_it_holds(g, i, g->sequences->already_run, &m, d);
    if (!err && m.is_ours)
        join(g, i, &m);
    return err;
}

enum corral_err group_sequence_set_again(struct group *g, size_t i, struct diag *d)
{
    struct made m = {0};
    struct cti *cti = group_cti(g, i);
    struct diag why = DIAG_INIT;
    unsigned engaged = cti_engaged(cti), expected = g->restart_channel;
    if (g->seats[i].run_why == GROUP_WHY_RESTART_NOT_SET_UP)
        expected = CTI_NO_CHANNEL;
    enum corral_err err = cti_set_aside(cti, &why); /* the lock and the claim; what was found stays */
    bool free_to_write = !err;
    for (unsigned k = 0; free_to_write && k < SET_UP_TRIES && !m.is_ours && !is_final(g, err); k++)
        err = run_set_up(g, i, &m, &why);
    if (!err && (m.halt != g->halt_channel || m.restart != expected))
        err = diag_set(&why, CORRAL_ERR_CTI_UNUSABLE, "DebugCoreSetup set up other channels than before");
    if (!err)
        err = cti_engage(cti, engaged, &why);
    if (!err)
        return CORRAL_OK;
    if (!is_final(g, err))
        give_back(g, i, GROUP_WHY_SET_UP_NOT_HELD, &why);
    return end(err, &why, d);
}

/* Halt, acknowledge, start. *ran false: it has none of this name, and nothing happened. */
static enum corral_err run_one(struct group *g, size_t i, const char *name,
                               enum corral_err (*run)(void *ctx, size_t core, struct diag *d), bool *ran,
                               struct diag *d)
{
    struct diag why = DIAG_INIT;
    enum corral_err err = run(g->sequences->ctx, i, &why);
    *ran = err != CORRAL_ERR_UNSUPPORTED;
    if (is_final(g, err))
        return end(err, &why, d);
    if (err && *ran)
        name_failure(g, i, name, &why);
    return CORRAL_OK;
}

enum corral_err group_sequence_acknowledge(struct group *g, size_t i, bool always, struct diag *d)
{
    struct cti *cti = group_cti(g, i);
    bool asserted = true, ran = false;
    enum corral_err err = always ? CORRAL_OK : cti_request_asserted(cti, &asserted, d);
    if (err || !asserted)
        return err;
    err = run_one(g, i, "ProcessorHaltAcknowledge", g->sequences->acknowledge, &ran, d);
    for (unsigned k = 0; k < ACK_LOOKS && asserted && !err && ran; k++)
        err = cti_request_asserted(cti, &asserted, d);
    if (err || !asserted)
        return err;
    err = cti_acknowledge(cti, d);
    if (!err && ran) /* else something holds the channel, and no sequence could have cleared it */
        group_remark(g, i,
                     "ProcessorHaltAcknowledge of %s did not clear its debug request: Corral acknowledged it",
                     core_name(g->cores[i]));
    return err;
}

bool group_acknowledges_by_sequence(const struct group *g, size_t i)
{
    return g->seats[i].sequenced && g->sequences->acknowledge;
}

bool group_stops_by_sequence(const struct group *g, size_t i)
{
    return g->seats[i].sequenced && g->sequences->stop && group_linked(g, i);
}

enum corral_err group_sequence_stop(struct group *g, size_t i, bool *ran, struct diag *d)
{
    return run_one(g, i, "ProcessorStop", g->sequences->stop, ran, d);
}

enum corral_err group_sequence_start(struct group *g, size_t i, bool *ran, struct diag *d)
{
    return run_one(g, i, "ProcessorStart", g->sequences->start, ran, d);
}
