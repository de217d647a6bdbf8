/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict for each feature, with its reason (sync_check_verdicts.h). "yes" is only said of what was seen to
 * work; what was not tried is called so.
 */
#include "session/sync_check_verdicts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "link/link.h"

const char *sync_verdict_name(enum sync_verdict v)
{
    static const char *const names[] = {"yes", "partly", "no"};
    return (unsigned)v < sizeof(names) / sizeof(names[0]) ? names[v] : "no";
}

const char *sync_feature_name(enum sync_feature f)
{
    static const char *const names[] = {"halt together", "run together", "who was first", "step one",
                                        "reset"};
    return (unsigned)f < sizeof(names) / sizeof(names[0]) ? names[f] : "";
}

/* One more clause; what does not fit is cut. */
static void add(struct sync_check_verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct sync_check_verdict *v, const char *fmt, ...)
{
    size_t used = strlen(v->why);
    va_list args;
    if (used && used + 2 < sizeof(v->why)) {
        memcpy(v->why + used, "; ", 3);
        used += 2;
    }
    va_start(args, fmt);
    vsnprintf(v->why + used, sizeof(v->why) - used, fmt, args);
    va_end(args);
}

static bool is_reachable(const struct sync_check_core *c)
{
    return c->member.state == CORE_RUNNING || c->member.state == CORE_HALTED ||
           c->member.state == CORE_LOCKUP;
}

/* The reason why a core is not halted (or run) by cross triggers, in the group's words. */
static const char *reason(const struct sync_check_core *c, bool run)
{
    enum group_why why = run ? c->member.with_sync.run_why : c->member.with_sync.halt_why;
    const char *text = group_why_text(why);
    if (!is_reachable(c))
        return c->state_why[0] ? c->state_why : core_state_name(c->member.state);
    return text[0] ? text : "no proof";
}

static bool joins(const struct sync_check_core *c, bool run)
{
    const struct group_check_member *m = &c->member;
    if (run)
        return group_by_cross_triggers(m->with_sync.run) && m->run == GROUP_PROOF_DONE;
    return group_by_cross_triggers(m->with_sync.halt) && m->halt != GROUP_PROOF_FAILED;
}

/* Cores on islands of their own are halted together within each. */
static void judge_together(const struct session_sync_check *out, bool run, struct sync_check_verdict *v)
{
    size_t joined = 0, on_first = 0;
    int island = -1;
    for (size_t i = 0; i < out->core_count; i++) {
        const struct sync_check_core *c = &out->cores[i];
        if (!joins(c, run)) {
            add(v, "%s by itself: %s", c->name, reason(c, run));
            continue;
        }
        joined++;
        island = island < 0 ? c->member.with_sync.island : island;
        on_first += c->member.with_sync.island == island;
    }
    if (out->core_count < 2)
        add(v, "there is one core only");
    if (joined > on_first)
        add(v, "cross triggers are split into islands; a halt is carried from one to the other by software");
    if (joined == out->core_count && joined == on_first && joined > 1) {
        v->verdict = SYNC_VERDICT_YES;
        add(v,
            run ? "one pulse on channel %d started every core, each one proven"
                : "a request to one core reached all others through channel %d",
            run ? out->restart_channel : out->halt_channel);
    } else {
        v->verdict = joined > 1 ? SYNC_VERDICT_PARTLY : SYNC_VERDICT_NO;
    }
}

static void judge_first(const struct session_sync_check *out, struct sync_check_verdict *v)
{
    switch (out->verdicts[SYNC_FEATURE_HALT].verdict) {
    case SYNC_VERDICT_YES:
        v->verdict = SYNC_VERDICT_YES;
        add(v, "each core tells its own reason, and those that only followed say cross-trigger");
        break;
    case SYNC_VERDICT_PARTLY:
        v->verdict = SYNC_VERDICT_PARTLY;
        add(v, "among the cores that cross triggers join; others stop when Corral has seen the halt");
        break;
    default:
        v->verdict = out->core_count > 1 ? SYNC_VERDICT_PARTLY : SYNC_VERDICT_YES;
        add(v, out->core_count > 1 ? "each core tells its own reason, but the others run on until Corral has "
                                     "seen the halt, and may stop by themselves meanwhile"
                                   : "there is one core only");
    }
}

static void judge_single(const struct session_sync_check *out, bool reset, struct sync_check_verdict *v)
{
    size_t good = 0;
    for (size_t i = 0; i < out->core_count; i++) {
        const struct sync_check_core *c = &out->cores[i];
        if (is_reachable(c))
            good++;
        else if (reset && c->member.state == CORE_RESET)
            add(v, "%s stops at its vector once it is let go (%s)", c->name, reason(c, false));
        else
            add(v, "not on %s: %s", c->name, reason(c, false));
    }
    v->verdict = good == out->core_count ? SYNC_VERDICT_YES : good ? SYNC_VERDICT_PARTLY : SYNC_VERDICT_NO;
    if (good && reset)
        add(v, "not tried here; each core catches its own vector, and CTIs are verified and set up again");
    else if (good)
        add(v, "the stepping core is kept to itself: no other core moves or is latched");
}

static void mention_ports(const struct session_sync_check *out, struct sync_check_verdict *v)
{
    for (size_t i = 0; i < out->port_count; i++) {
        char ap[LINK_AP_NAME_MAX];
        add(v, "AP %s does not answer: a core behind it is not seen", link_ap_name(out->ports[i].ap, ap));
        if (v->verdict == SYNC_VERDICT_YES)
            v->verdict = SYNC_VERDICT_PARTLY;
    }
}

void sync_check_judge(struct session_sync_check *out)
{
    struct sync_check_verdict *v = out->verdicts;
    memset(v, 0, sizeof(out->verdicts));
    judge_together(out, false, &v[SYNC_FEATURE_HALT]);
    judge_together(out, true, &v[SYNC_FEATURE_RUN]);
    judge_first(out, &v[SYNC_FEATURE_FIRST]);
    judge_single(out, false, &v[SYNC_FEATURE_STEP]);
    judge_single(out, true, &v[SYNC_FEATURE_RESET]);
    mention_ports(out, &v[SYNC_FEATURE_HALT]);
    mention_ports(out, &v[SYNC_FEATURE_RUN]);
}
