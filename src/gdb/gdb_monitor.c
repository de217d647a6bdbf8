/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `monitor` commands: what gdb's own words do not say. They act on the port's own core, and through it on
 * those that stop and start with it. Each ends with one OK, or with an error that gdb shows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gdb/gdb_parts.h"

static void show_status(struct gdb_client *c)
{
    struct gdb_hub *hub = c->hub;
    char line[256];
    bool all_first = true; /* after a reset: nobody was */
    for (size_t i = 0; i < hub->core_count; i++)
        all_first &= hub->cores[i].last.first;
    for (size_t i = 0; i < hub->core_count; i++) {
        const char *why;
        const struct gdb_core *k = &hub->cores[i];
        if (gdb_core_halted(hub, i, &why))
            snprintf(line, sizeof(line), "%s: halted at 0x%08" PRIx32 ", %s%s\n", core_name(k->core),
                     k->last.pc, halt_reason_name(k->last.reason),
                     k->last.first && !all_first ? ", it stopped first" : "");
        else
            snprintf(line, sizeof(line), "%s: %s\n", core_name(k->core), why);
        gdb_client_print(c, line);
    }
}

static void show_sync(struct gdb_client *c)
{
    struct gdb_hub *hub = c->hub;
    char line[400];
    if (!hub->sync) {
        gdb_client_print(c, "sync is off: each core halts and runs by itself\n");
        return;
    }
    const struct gdb_domain *d = gdb_domain_of(hub, c->registers_of);
    for (size_t i = 0; i < group_count(d->group); i++) {
        const struct group_member *m = group_get_member(d->group, i);
        snprintf(line, sizeof(line), "%s: halts by %s, runs by %s%s%s\n", m->name,
                 group_mechanism_name(m->halt), group_mechanism_name(m->run),
                 m->halt_why || m->run_why ? ": " : "",
                 group_why_text(m->halt_why ? m->halt_why : m->run_why));
        gdb_client_print(c, line);
    }
}

/* Who asked for a stop knows of it: the next resume is meant. */
static enum corral_err knows(struct gdb_client *c, enum corral_err err)
{
    c->seen_epoch = gdb_domain_of(c->hub, c->registers_of)->epoch;
    return err;
}

static enum corral_err do_halt(struct gdb_client *c, struct diag *d)
{
    return knows(c, gdb_hub_halt(c->hub, c->registers_of, d));
}

static enum corral_err do_reset(struct gdb_client *c, struct diag *d)
{
    return gdb_hub_reset(c->hub, c->registers_of, false, d);
}

static enum corral_err do_reset_halt(struct gdb_client *c, struct diag *d)
{
    return knows(c, gdb_hub_reset(c->hub, c->registers_of, true, d));
}

static enum corral_err do_sync_on(struct gdb_client *c, struct diag *d)
{
    enum corral_err err = gdb_hub_set_sync(c->hub, true, d);
    if (!err)
        show_sync(c);
    return err;
}

static enum corral_err do_sync_off(struct gdb_client *c, struct diag *d)
{
    return gdb_hub_set_sync(c->hub, false, d);
}

static enum corral_err do_sync_status(struct gdb_client *c, struct diag *d)
{
    (void)d;
    show_sync(c);
    return CORRAL_OK;
}

static enum corral_err do_status(struct gdb_client *c, struct diag *d)
{
    (void)d;
    show_status(c);
    return CORRAL_OK;
}

static enum corral_err do_cti(struct gdb_client *c, struct diag *d)
{
    struct cti *cti = core_cti(c->hub->cores[c->registers_of].core);
    struct cti_registers r;
    char line[256];
    if (!cti)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "this core has no CTI that is known to be its own");
    enum corral_err err = cti_show(cti, &r, d);
    if (err)
        return err;
    const struct cti_info *info = cti_get_info(cti);
    snprintf(line, sizeof(line),
             "CTI at 0x%08" PRIx64 ": CONTROL %" PRIx32 ", GATE %" PRIx32 ", TRIGOUT %" PRIx32 "\n",
             info->address, r.control, r.gate, r.trigout_status);
    gdb_client_print(c, line);
    for (unsigned i = 0; i < info->triggers; i++) {
        if (!r.inen[i] && !r.outen[i])
            continue;
        snprintf(line, sizeof(line), "  INEN%u %" PRIx32 ", OUTEN%u %" PRIx32 "\n", i, r.inen[i], i,
                 r.outen[i]);
        gdb_client_print(c, line);
    }
    return CORRAL_OK;
}

static enum corral_err do_help(struct gdb_client *c, struct diag *d);

static const struct monitor_command {
    const char *words, *help;
    enum corral_err (*run)(struct gdb_client *c, struct diag *d);
} commands[] = {
    {"help", "this list", do_help},
    {"halt", "halt this core, and those that stop with it", do_halt},
    {"reset", "reset the device; the cores run", do_reset},
    {"reset halt", "reset the device; each core stops at its first instruction", do_reset_halt},
    {"reset init", "the same", do_reset_halt},
    {"status", "what each core does, and why it stopped", do_status},
    {"sync on", "halt and run all cores through cross triggers", do_sync_on},
    {"sync off", "each core by itself", do_sync_off},
    {"sync status", "how each core is halted and started, and why", do_sync_status},
    {"sync", "the same", do_sync_status},
    {"cti", "this core's cross trigger interface", do_cti},
};

static enum corral_err do_help(struct gdb_client *c, struct diag *d)
{
    (void)d;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char line[160];
        snprintf(line, sizeof(line), "monitor %-12s %s\n", commands[i].words, commands[i].help);
        gdb_client_print(c, line);
    }
    if (c->hub->options.command)
        gdb_client_print(c, "monitor log level N  show log lines of this level and worse\n");
    return CORRAL_OK;
}

static void print_to(void *to, const char *text)
{
    gdb_client_print(to, text);
}

/* One blank between words, none around them, in small letters. */
static void plain_words(const char *words, char *out, size_t room)
{
    size_t n = 0;
    for (const char *p = words; *p && n + 1 < room; p++) {
        bool blank = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
        if (blank && (n == 0 || out[n - 1] == ' '))
            continue;
        out[n++] = blank ? ' ' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

void gdb_monitor(struct gdb_client *client, const char *words)
{
    const struct gdb_hub_options *o = &client->hub->options;
    struct diag d = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    char plain[128];
    bool known = false;
    plain_words(words, plain, sizeof(plain));
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && !known; i++)
        if (strcmp(plain, commands[i].words) == 0) {
            known = true;
            err = commands[i].run(client, &d);
        }
    if (!known && o->command)
        err = o->command(o->command_ctx, client->registers_of, plain, print_to, client, &known, &d);
    if (!known)
        err = diag_set(&d, CORRAL_ERR_USAGE, "there is no such monitor command; 'monitor help' lists them");
    if (err) {
        gdb_client_print(client, d.message);
        gdb_client_print(client, "\n");
        client->send(client->ctx, "E01", 3, GDB_SEND_REPLY);
        return;
    }
    gdb_client_ok(client);
}
