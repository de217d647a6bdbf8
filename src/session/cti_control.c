/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTIs for the user's own channels (cti_control.h). Names: cross-trigger sheet 1.5; where that says nothing
 * there is no name, for a wrong one would connect the wrong thing. What may be connected is cti_driver.h's.
 */
#include "session/cti_control.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session_internal.h"

#define NAMED 8 /* triggers of the table */

struct trigger_names {
    const char *type;
    const char *in[NAMED], *out[NAMED];
};

/* Restart is not in it: its output is what discovery found out. The M4 has the M3's, of which the sheet has
 * its restart output alone from the M4 itself. */
static const struct trigger_names names_of[] = {
    {"Cortex-M7",
     {"halted", "dwt0", "dwt1", "dwt2", "etm0", "etm1", "etm2", "etm3"},
     {"debug-request", "irq0", "irq1", "etm0", "etm1", "etm2", "etm3", NULL}},
    {"Cortex-M4",
     {"halted", NULL, NULL, NULL, "dwt0", "dwt1", "dwt2", "etm0"},
     {"debug-request", NULL, "irq0", "irq1", "etm0", "etm1", NULL, NULL}},
    {"Cortex-M3",
     {"halted", NULL, NULL, NULL, "dwt0", "dwt1", "dwt2", "etm0"},
     {"debug-request", NULL, "irq0", "irq1", "etm0", "etm1", NULL, NULL}},
    {"Cortex-M33",
     {"halted", "dwt0", "dwt1", "dwt2", "etm0", "etm1", NULL, NULL},
     {"debug-request", NULL, NULL, NULL, "etm0", "etm1", "etm2", "etm3"}},
};

const char *cti_trigger_name(const char *type, enum cti_side side, unsigned trigger, int restart_output)
{
    if (!type)
        return NULL;
    if (side == CTI_SIDE_OUT && restart_output >= 0 && trigger == (unsigned)restart_output)
        return "restart";
    for (size_t i = 0; i < sizeof(names_of) / sizeof(names_of[0]); i++)
        if (strcmp(names_of[i].type, type) == 0)
            return trigger >= NAMED      ? NULL
                   : side == CTI_SIDE_IN ? names_of[i].in[trigger]
                                         : names_of[i].out[trigger];
    if (trigger == 0) /* of every core */
        return side == CTI_SIDE_IN ? "halted" : "debug-request";
    return NULL;
}

int cti_trigger_named(const char *type, enum cti_side side, const char *name, int restart_output)
{
    const char *prefix = side == CTI_SIDE_IN ? "in" : "out";
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) == 0 && isdigit((unsigned char)name[n]) && strlen(name + n) <= 2) {
        char *end;
        long number = strtol(name + n, &end, 10);
        return *end || number > 31 ? -1 : (int)number;
    }
    for (unsigned i = 0; i < 32; i++) {
        const char *known = cti_trigger_name(type, side, i, restart_output);
        if (known && strcmp(known, name) == 0)
            return (int)i;
    }
    return -1;
}

struct cti_call {
    struct session *s;
    const struct session_cti *which;
    struct session_cti_view *view;
    const struct session_cti_change *change;
};

static enum corral_err no_cti(const struct core *core, struct diag *d)
{
    diag_set(d, CORRAL_ERR_NO_CROSS_TRIGGER, "%s has no CTI that is known to be its own", core_name(core));
    diag_hint(d, "'corral scan' says why; --ap and --address name one, cti: in corral.yml binds it");
    return CORRAL_ERR_NO_CROSS_TRIGGER;
}

/* A CTI of no core is opened for the call, and closed behind it: it writes nothing by itself. */
static enum corral_err
with_cti(struct link *link, struct cti_call *c,
         enum corral_err (*fn)(struct cti_call *, struct cti *, const char *, struct diag *), struct diag *d)
{
    if (c->which->by_address) {
        struct cti *cti = cti_open(link, c->which->ap, c->which->address, -1, d);
        if (!cti)
            return d ? d->code : CORRAL_ERR_CTI_UNUSABLE;
        enum corral_err err = fn(c, cti, NULL, d);
        cti_close(cti);
        return err;
    }
    struct core *core = c->s->cores[c->which->core];
    struct core_info info = {0};
    if (!core_cti(core))
        return no_cti(core, d);
    core_get_info(core, &info, NULL); /* a core that does not say what it is has fewer names */
    return fn(c, core_cti(core), info.part ? info.part : "", d);
}

static enum corral_err show(struct cti_call *c, struct cti *cti, const char *type, struct diag *d)
{
    *c->view = (struct session_cti_view){
        .core = c->which->by_address ? NULL : core_name(c->s->cores[c->which->core]),
        .type = type,
        .info = *cti_get_info(cti),
    };
    return cti_show(cti, &c->view->registers, d);
}

static enum corral_err find_trigger(const struct cti_info *info, const char *type,
                                    const struct session_cti_change *x, unsigned *trigger, struct diag *d)
{
    const char *what = x->side == CTI_SIDE_IN ? "input" : "output";
    int n = cti_trigger_named(type, x->side, x->trigger, info->restart_output);
    if (n < 0) {
        diag_set(d, CORRAL_ERR_USAGE, "the CTI has no trigger %s that is called '%s'", what, x->trigger);
        diag_hint(d, "'corral cti show' lists them; by number it is %s0 to %s%u",
                  x->side == CTI_SIDE_IN ? "in" : "out", x->side == CTI_SIDE_IN ? "in" : "out",
                  info->triggers - 1);
        return CORRAL_ERR_USAGE;
    }
    if ((unsigned)n >= info->triggers)
        return diag_set(d, CORRAL_ERR_USAGE, "the CTI has %u triggers, there is no %s %d", info->triggers,
                        what, n);
    *trigger = (unsigned)n;
    return CORRAL_OK;
}

static enum corral_err change(struct cti_call *c, struct cti *cti, const char *type, struct diag *d)
{
    const struct cti_info *info = cti_get_info(cti);
    const struct session_cti_change *x = c->change;
    unsigned trigger = 0;
    if (x->channel >= info->channels)
        return diag_set(d, CORRAL_ERR_USAGE, "the CTI has %u channels, 0 to %u: there is no channel %u",
                        info->channels, info->channels - 1, x->channel);
    if (x->action == CTI_ACTION_PULSE)
        return cti_channel_pulse(cti, x->channel, x->force, d);
    enum corral_err err = find_trigger(info, type, x, &trigger, d);
    if (err)
        return err;
    if (x->action == CTI_ACTION_CONNECT)
        return cti_connect(cti, x->side, trigger, x->channel, x->force, d);
    return cti_disconnect(cti, x->side, trigger, x->channel, x->force, d);
}

static enum corral_err do_show(struct link *link, void *ctx, struct diag *d)
{
    return with_cti(link, ctx, show, d);
}

static enum corral_err do_change(struct link *link, void *ctx, struct diag *d)
{
    return with_cti(link, ctx, change, d);
}

enum corral_err session_show_cti(struct session *s, const struct session_cti *which,
                                 struct session_cti_view *view, struct diag *d)
{
    struct cti_call c = {.s = s, .which = which, .view = view};
    return session_call(s, do_show, &c, d);
}

enum corral_err session_change_cti(struct session *s, const struct session_cti *which,
                                   const struct session_cti_change *change, struct diag *d)
{
    struct cti_call c = {.s = s, .which = which, .change = change};
    return session_call(s, do_change, &c, d);
}
