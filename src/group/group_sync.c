/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turning cross triggers on and off for a group: free channels, every CTI that can be joined set up, the
 * others named. Cross-trigger sheet 1.7; cases A1 to A4, A10, A12, A13, A18, A24, A30, D26.
 */
#include <stdio.h>

#include "group/group_internal.h"

enum corral_err group_set_channels(struct group *g, int halt, int restart, struct diag *d)
{
    if (halt < GROUP_ANY_CHANNEL || halt > 31 || restart < GROUP_ANY_CHANNEL || restart > 31 ||
        (halt == restart && halt != GROUP_ANY_CHANNEL))
        return diag_set(d, CORRAL_ERR_USAGE,
                        "channels %d and %d: two different numbers from 0 to 31 are needed", halt, restart);
    if (g->sync)
        return diag_set(d, CORRAL_ERR_CORE_STATE, "the channels cannot be changed while sync is on");
    g->asked_halt = halt;
    g->asked_restart = restart;
    return CORRAL_OK;
}

bool group_channels(const struct group *g, int *halt, int *restart)
{
    if (!group_by_cross_triggers(group_mechanism(g)))
        return false;
    *halt = (int)g->halt_channel;
    *restart = g->restart_channel == CTI_NO_CHANNEL ? -1 : (int)g->restart_channel;
    return true;
}

void group_leave_out(struct group *g, size_t i, enum group_why why, const struct diag *words)
{
    struct group_seat *s = &g->seats[i];
    s->in_use = s->sequenced = false;
    s->island = -1;
    s->why = s->run_why = why;
    s->waiting = why == GROUP_WHY_UNREACHABLE;
    snprintf(s->detail, sizeof(s->detail), "%.*s", (int)sizeof(s->detail) - 1, words ? words->message : "");
}

/* Can its CTI be looked at now, and would a request through it halt the core (A10, A12)? */
static enum corral_err look_at(struct group *g, size_t i, uint32_t *used, struct diag *d)
{
    struct diag words = DIAG_INIT;
    struct core_status status;
    g->seats[i].why = g->seats[i].run_why = GROUP_WHY_NONE;
    if (!core_cti(g->cores[i])) {
        group_leave_out(g, i, GROUP_WHY_NO_CTI, NULL);
        return CORRAL_OK;
    }
    if (g->sequences && !group_has_sequences(g, i)) {
        group_leave_out(g, i, GROUP_WHY_NO_SEQUENCE, NULL);
        return CORRAL_OK;
    }
    enum corral_err err = core_read_status(g->cores[i], false, &status, &words);
    if (!err && status.state != CORE_UNPOWERED && status.state != CORE_UNKNOWN &&
        status.state != CORE_RESET) {
        g->seats[i].resets = status.resets;
        if (!status.debug_enabled) {
            group_leave_out(g, i, GROUP_WHY_DEBUG_DISABLED, NULL);
            return CORRAL_OK;
        }
        err = cti_used_channels(core_cti(g->cores[i]), used, &words);
        if (!err)
            return CORRAL_OK;
    } else if (!err) {
        snprintf(words.message, sizeof(words.message), "%s is %s", core_name(g->cores[i]),
                 status.state == CORE_RESET       ? "held in reset"
                 : status.why != CORE_WHY_NONE    ? core_why_text(status.why)
                 : status.state == CORE_UNPOWERED ? "without power"
                                                  : "in an unknown state");
    }
    if (group_is_fatal(err)) {
        if (d)
            *d = words;
        return err;
    }
    group_leave_out(g, i, GROUP_WHY_UNREACHABLE, &words);
    return CORRAL_OK;
}

static bool is_candidate(const struct group *g, size_t i)
{
    return core_cti(g->cores[i]) && g->seats[i].why == GROUP_WHY_NONE;
}

/* What a pair of channels is worth: a member that can be halted by it counts most. */
static unsigned worth(const struct group *g, unsigned halt, unsigned restart)
{
    unsigned sum = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (!is_candidate(g, i))
            continue;
        const struct cti_info *info = cti_get_info(core_cti(g->cores[i]));
        if (halt < info->channels)
            sum += 2 + (info->restart_output >= 0 && restart < info->channels);
    }
    return sum;
}

/* The lowest two channels that nobody routes and that serve most members; those asked for where they were. A
 * channel that is taken on one CTI is taken on all: they may share it (A1). */
static bool choose_channels(struct group *g, uint32_t used)
{
    unsigned best = 0;
    for (unsigned h = 0; h < 32; h++) {
        if ((used >> h & 1) || (g->asked_halt >= 0 && (unsigned)g->asked_halt != h))
            continue;
        for (unsigned k = 0; k <= 32; k++) { /* none first: a channel that serves nobody is not better */
            unsigned r = k ? k - 1 : CTI_NO_CHANNEL;
            if (r == h || (r < 32 && (used >> r & 1)) ||
                (g->asked_restart >= 0 && (unsigned)g->asked_restart != r))
                continue;
            if (worth(g, h, r) <= best)
                continue;
            best = worth(g, h, r);
            g->halt_channel = h;
            g->restart_channel = r;
        }
    }
    return best > 0;
}

static enum group_why why_of(enum cti_refusal refusal)
{
    switch (refusal) {
    case CTI_REFUSAL_TAKEN:
        return GROUP_WHY_CHANNELS_TAKEN;
    case CTI_REFUSAL_NOT_WRITABLE:
        return GROUP_WHY_NOT_WRITABLE;
    case CTI_REFUSAL_NONE:
    case CTI_REFUSAL_CHANNELS:
    case CTI_REFUSAL_TEST_MODE:
        break;
    }
    return GROUP_WHY_UNUSABLE;
}

enum corral_err group_refused(struct group *g, size_t i, enum corral_err err, const struct diag *words,
                              struct diag *d)
{
    if (err == CORRAL_ERR_CTI_UNUSABLE) {
        group_leave_out(g, i, why_of(cti_why_refused(core_cti(g->cores[i]))), words);
        return CORRAL_OK;
    }
    if (err == CORRAL_ERR_LINK_FAULT || err == CORRAL_ERR_LINK_WAIT) {
        /* Nothing of it stayed (else it were a part): it cannot be written. */
        group_leave_out(g, i, GROUP_WHY_NOT_WRITABLE, words);
        return CORRAL_OK;
    }
    if (d) {
        *d = *words;
        diag_prefix(d, "%s", core_name(g->cores[i]));
        diag_object(d, "%s", core_name(g->cores[i]));
    }
    return err;
}

/* Its CTI set up. One that cannot be used is left out; what ends everything is the result. */
static enum corral_err set_up_member(struct group *g, size_t i, bool silent, struct diag *d)
{
    if (group_sets_up_by_sequence(g))
        return group_sequence_set_up(g, i, d);
    struct group_seat *s = &g->seats[i];
    struct cti *cti = core_cti(g->cores[i]);
    const struct cti_info *info = cti_get_info(cti);
    struct diag words = DIAG_INIT;
    bool restart = info->restart_output >= 0 && g->restart_channel < info->channels;
    unsigned r = restart ? g->restart_channel : CTI_NO_CHANNEL;
    enum corral_err err = silent ? cti_setup_silent(cti, g->halt_channel, r, &words)
                                 : cti_setup(cti, g->halt_channel, r, &words);
    if (err)
        return group_refused(g, i, err, &words, d);
    s->in_use = true;
    s->sequenced = g->sequences != NULL;
    s->waiting = false;
    s->run_why = restart                    ? GROUP_WHY_NONE
                 : info->restart_output < 0 ? GROUP_WHY_NO_RESTART_OUTPUT
                                            : GROUP_WHY_NO_RESTART_CHANNEL;
    s->detail[0] = '\0';
    return CORRAL_OK;
}

enum corral_err group_put_back(struct group *g, size_t i, struct diag *d)
{
    struct core_status status;
    struct diag words = DIAG_INIT;
    enum corral_err err = cti_teardown(core_cti(g->cores[i]), &words);
    if ((err == CORRAL_ERR_LINK_FAULT || err == CORRAL_ERR_LINK_WAIT) &&
        (core_read_status(g->cores[i], false, &status, NULL) || status.state == CORE_UNPOWERED ||
         status.state == CORE_UNKNOWN || status.state == CORE_RESET)) {
        group_remark(g, i, "the CTI of %s cannot be reached to be put back as it was found: %s",
                     core_name(g->cores[i]), words.message);
        return CORRAL_OK;
    }
    if (err && d) {
        *d = words;
        diag_prefix(d, "the CTI of %s cannot be put back as it was found", core_name(g->cores[i]));
        diag_object(d, "%s", core_name(g->cores[i]));
    }
    return err;
}

static enum corral_err tear_down_all(struct group *g, struct diag *d)
{
    enum corral_err first = CORRAL_OK;
    /* One level source holds the channel of all: they all go off before anything is acknowledged. */
    for (size_t i = 0; i < g->count; i++)
        if (group_cti(g, i))
            cti_arm(group_cti(g, i), false, NULL);
    for (size_t i = 0; i < g->count; i++) {
        if (!core_cti(g->cores[i]))
            continue;
        /* Also of one that is not in use (any more): nothing is written where nothing is owed. */
        enum corral_err err = group_put_back(g, i, first ? NULL : d);
        g->seats[i].in_use = g->seats[i].isolated = g->seats[i].level = false;
        g->seats[i].island = -1;
        if (err && !first)
            first = err;
    }
    return first;
}

static void remark_members(struct group *g)
{
    if (!group_by_cross_triggers(group_mechanism(g)))
        group_remark(g, GROUP_WHOLE,
                     "no two cores can be joined by cross triggers: each is halted and started by itself");
    for (size_t i = 0; i < g->count; i++) {
        const struct group_member *m = group_get_member(g, i);
        if (!group_by_cross_triggers(m->halt))
            group_remark(g, i, "%s is halted and started by itself: %s%s%s%s", m->name,
                         group_why_text(m->halt_why), m->detail[0] ? " (" : "", m->detail,
                         m->detail[0] ? ")" : "");
        else if (!group_by_cross_triggers(m->run))
            group_remark(g, i, "%s is halted by cross triggers, but started by itself: %s", m->name,
                         group_why_text(m->run_why));
    }
}

void group_drop_lonely(struct group *g)
{
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        if (!group_cti(g, i) || g->seats[i].isolated || group_linked(g, i))
            continue;
        enum group_why why = g->seats[i].why == GROUP_WHY_NONE ? GROUP_WHY_OTHER_CTM : g->seats[i].why;
        struct diag words = DIAG_INIT;
        snprintf(words.message, sizeof(words.message), "%s", g->seats[i].detail);
        group_put_back(g, i, NULL); /* where that fails it is owed, and group_disable_sync says so */
        group_leave_out(g, i, why, &words);
        any = true;
    }
    if (any)
        remark_members(g);
}

static enum corral_err set_up_our_way(struct group *g, uint32_t used, bool silent, struct diag *d)
{
    bool chosen = choose_channels(g, used);
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < g->count && !err; i++) {
        if (!is_candidate(g, i))
            continue;
        if (chosen)
            err = set_up_member(g, i, silent, d);
        else
            group_leave_out(g, i, GROUP_WHY_CHANNELS_TAKEN, NULL);
    }
    return err;
}

/* While nothing is connected, then all is: a sequence has made its connections, and they are taken off again
 * meanwhile. */
static enum corral_err see_islands(struct group *g, struct diag *d)
{
    bool sequences = group_sets_up_by_sequence(g);
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < g->count && sequences && !err; i++)
        if (group_cti(g, i))
            err = cti_engage(group_cti(g, i), 0, d);
    if (!err)
        err = group_see_islands(g, d);
    for (size_t i = 0; i < g->count && !err; i++)
        if (group_cti(g, i))
            err = sequences ? cti_engage(group_cti(g, i), group_connections(g, i, false), d)
                            : set_up_member(g, i, false, d);
    return err;
}

static enum corral_err set_up_all(struct group *g, struct diag *d)
{
    uint32_t used = 0;
    bool all_halted = true;
    g->islands_proven = false;
    for (size_t i = 0; i < g->count; i++) {
        uint32_t mask = 0;
        enum corral_err err = look_at(g, i, &mask, d);
        if (err)
            return err;
        used |= mask;
        all_halted &= !is_candidate(g, i) || group_is_halted(g, i);
    }
    group_mask candidates = 0;
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        if (is_candidate(g, i)) {
            candidates |= group_bit(i);
            count++;
        }
    for (size_t i = 0; i < g->count && count < 2; i++)
        if (is_candidate(g, i)) /* nobody to be joined to: not one write */
            group_leave_out(g, i, GROUP_WHY_OTHER_CTM, NULL);
    if (count < 2)
        return CORRAL_OK;
    enum corral_err err = group_sets_up_by_sequence(g) ? group_sequence_set_up_all(g, candidates, d)
                                                       : set_up_our_way(g, used, !all_halted, d);
    if (!err && !all_halted)
        err = see_islands(g, d);
    if (!err && all_halted)
        err = group_acknowledge(g, GROUP_ALL, d);
    if (!err && all_halted)
        err = group_prove_islands(g, d);
    return err;
}

enum corral_err group_enable_sync(struct group *g, struct diag *d)
{
    if (g->sync)
        return CORRAL_OK;
    g->start_ignored = false;
    enum corral_err err = set_up_all(g, d);
    if (err) {
        tear_down_all(g, NULL);
        for (size_t i = 0; i < g->count; i++)
            group_leave_out(g, i, GROUP_WHY_OFF, NULL);
        return err;
    }
    g->sync = true;
    remark_members(g);
    return CORRAL_OK;
}

enum corral_err group_disable_sync(struct group *g, struct diag *d)
{
    g->sync = false; /* where it was off already, something may be owed since it could not be turned on */
    enum corral_err err = tear_down_all(g, d);
    for (size_t i = 0; i < g->count; i++)
        group_leave_out(g, i, GROUP_WHY_OFF, NULL);
    return err;
}

enum corral_err group_set_again(struct group *g, size_t i, struct diag *d)
{
    if (g->seats[i].sequenced && group_sets_up_by_sequence(g))
        return group_sequence_set_again(g, i, d);
    return cti_set_again(group_cti(g, i), d);
}

static enum corral_err mend_member(struct group *g, size_t i, bool *mended, struct diag *d)
{
    bool intact = true;
    struct diag words = DIAG_INIT;
    struct cti *cti = group_cti(g, i);
    enum corral_err err = cti_verify(cti, &intact, &words);
    if (!err && !intact) {
        err = group_set_again(g, i, &words);
        g->islands_proven = false;
        *mended = true;
        if (!err)
            group_remark(g, i,
                         "the CTI of %s had lost its connections (a reset, or a loss of power); they were "
                         "made again",
                         core_name(g->cores[i]));
        else
            group_remark(g, i, "the CTI of %s has lost its connections, and they cannot be made again: %s",
                         core_name(g->cores[i]), words.message);
    }
    if (group_is_fatal(err) && d)
        *d = words;
    return group_is_fatal(err) ? err : CORRAL_OK;
}

enum corral_err group_mend(struct group *g, bool *mended, struct diag *d)
{
    *mended = false;
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = group_cti(g, i) ? mend_member(g, i, mended, d) : CORRAL_OK;
        if (err)
            return err;
    }
    return CORRAL_OK;
}

void group_watch_resets(struct group *g, size_t core, const struct core_status *s)
{
    struct group_seat *seat = &g->seats[core];
    if (s->state == CORE_UNKNOWN || s->state == CORE_UNPOWERED || s->state == CORE_RESET ||
        s->resets == seat->resets)
        return;
    seat->resets = s->resets;
    bool mended;
    if (group_cti(g, core))
        mend_member(g, core, &mended, NULL);
}

/* One that could not be reached before. Not while others run and it does not: a level would halt them. */
static enum corral_err adopt_member(struct group *g, size_t i, struct diag *d)
{
    uint32_t used = 0;
    enum corral_err err = look_at(g, i, &used, d);
    if (err || g->seats[i].why != GROUP_WHY_NONE)
        return err;
    if (group_is_halted(g, i))
        for (size_t k = 0; k < g->count; k++)
            if (g->seats[k].running) {
                group_leave_out(g, i, GROUP_WHY_UNREACHABLE, NULL);
                return CORRAL_OK;
            }
    err = set_up_member(g, i, false, d);
    if (err && !group_is_fatal(err)) {
        group_leave_out(g, i, GROUP_WHY_NOT_WRITABLE, d);
        err = CORRAL_OK;
    }
    if (err || !g->seats[i].in_use)
        return err;
    int island = 0; /* its own until it is proven */
    for (size_t k = 0; k < g->count; k++)
        if (k != i && g->seats[k].island >= island)
            island = g->seats[k].island + 1;
    g->seats[i].island = island;
    g->islands_proven = false;
    group_remark(g, i, "%s can be reached now: its CTI is set up", core_name(g->cores[i]));
    return CORRAL_OK;
}

enum corral_err group_adopt(struct group *g, struct diag *d)
{
    bool any = false, in_use = false;
    for (size_t i = 0; i < g->count && g->sync; i++) {
        any |= g->seats[i].waiting;
        in_use |= g->seats[i].in_use;
    }
    if (!any)
        return CORRAL_OK;
    if (!in_use) { /* no channels have been chosen yet */
        enum corral_err err = set_up_all(g, d);
        if (err && !group_is_fatal(err)) {
            tear_down_all(g, NULL);
            err = CORRAL_OK;
        }
        return err;
    }
    for (size_t i = 0; i < g->count; i++) {
        enum corral_err err = g->seats[i].waiting ? adopt_member(g, i, d) : CORRAL_OK;
        if (err)
            return err;
    }
    return CORRAL_OK;
}
