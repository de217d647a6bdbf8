/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sequence run: debug sequences on a link, one after the other in one connection (cross-trigger sheet
 * 4.6 to 4.9; corral-sequence(1)). All that can be known to be wrong is said before the link is opened.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/pack_options.h"
#include "cli/render_sequence.h"
#include "cli/sequence_request.h"
#include "cli/view_session.h"
#include "session/config.h"
#include "session/sequences.h"
#include "session/target_memory.h"

#define RUN_MOST      64  /* sequences of one command */
#define WRITE_LOOK_MS 100 /* how often a writer that waits looks whether it shall end */

struct running {
    const struct cli *cli;
    const struct sequence_request *r;
    struct pack_target t;
    char names[RUN_MOST][SEQUENCE_NAME_MAX];
    size_t name_count;
    struct config *config;
    struct event_bus *bus;
    struct session *s;
    struct sequences *sequences;
    const atomic_bool *stop;
};

/* ---- what is to be run */

static enum corral_err take_names(struct running *v, struct diag *d)
{
    for (const char *p = v->r->names;; p++) {
        size_t n = strcspn(p, ",");
        if (n == 0 || n >= SEQUENCE_NAME_MAX)
            return diag_set(d, CORRAL_ERR_USAGE,
                            n ? "NAME: that is too long for a sequence's name"
                              : "NAME: between two commas there is none");
        if (v->name_count == RUN_MOST)
            return diag_set(d, CORRAL_ERR_USAGE, "NAME: at most %d sequences go in one command", RUN_MOST);
        memcpy(v->names[v->name_count], p, n);
        v->names[v->name_count++][n] = '\0';
        p += n;
        if (!*p)
            return CORRAL_OK;
    }
}

static bool named_before(const struct sequence_program *program, size_t i, const char *name)
{
    struct sequence_info info;
    for (size_t k = 0; k < i && sequence_get(program, k, &info); k++)
        if (strcmp(info.name, name) == 0)
            return true;
    return false;
}

/* The file's own before the defaults, as many as there is room for. */
static void hint_names(const struct running *v, struct diag *d)
{
    struct sequence_info info;
    char list[sizeof(d->hint)] = "";
    size_t used = 0;
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; sequence_get(v->t.program, i, &info); i++) {
            char clean[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
            if (info.is_default != (round == 1) || named_before(v->t.program, i, info.name))
                continue;
            text_escape((const uint8_t *)info.name, strlen(info.name), clean, sizeof(clean));
            if (used + strlen(clean) + 40 > sizeof(list)) {
                snprintf(list + used, sizeof(list) - used, " ...");
                round = 2;
                break;
            }
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", clean);
        }
    diag_hint(d, "it has %s", list);
}

static enum corral_err check_names(struct running *v, struct diag *d)
{
    struct sequence_info info;
    const struct pack_processor *start = sequences_start_processor(v->t.device);
    const char *pname = v->r->core ? v->r->core : start ? start->pname : NULL;
    for (size_t i = 0; i < v->name_count; i++) {
        const char *name = v->names[i];
        char clean[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
        text_escape((const uint8_t *)name, strlen(name), clean, sizeof(clean));
        if (!sequence_find(v->t.program, name, pname, &info)) {
            if (sequence_is_predefined(name))
                continue;
            diag_set(d, CORRAL_ERR_USAGE, "%s has no sequence '%s'", v->t.device->name, clean);
            hint_names(v, d);
            return CORRAL_ERR_USAGE;
        }
        if (info.has_errors) {
            diag_set(d, CORRAL_ERR_FORMAT, "%s cannot be run: it, or one that it calls, has mistakes", clean);
            diag_hint(d, "'corral sequence check' shows them");
            return CORRAL_ERR_FORMAT;
        }
    }
    return CORRAL_OK;
}

static enum corral_err set_variables(struct running *v, struct diag *d)
{
    for (size_t i = 0; i < v->r->var_count; i++) {
        const struct sequence_variable *var = &v->r->vars[i];
        char name[SEQUENCE_NAME_MAX];
        size_t n = strcspn(var->name, "=");
        if (n >= sizeof(name))
            return diag_set(d, CORRAL_ERR_USAGE, "--var: that is too long for a variable's name");
        memcpy(name, var->name, n);
        name[n] = '\0';
        enum corral_err err = sequence_set_value(v->t.program, name, var->value, d);
        if (err)
            return diag_prefix(d, "--var");
    }
    return CORRAL_OK;
}

static enum corral_err prepare(struct running *v, struct diag *d)
{
    enum corral_err err = take_names(v, d);
    if (!err)
        err = pack_target_open(v->r->file, v->r->device, v->r->dbgconf, &v->t, d);
    if (v->t.device)
        pack_target_tell(v->cli, &v->t, v->r->names);
    if (!err && v->r->core && !pack_processor_named(v->t.device, v->r->core))
        err = pack_target_no_core(&v->t, v->r->core, d);
    if (!err)
        err = check_names(v, d);
    return err ? err : set_variables(v, d);
}

/* ---- on the link */

/* The port is set up and powered by the sequences themselves, or there is none: then nothing else may be
 * seen there. */
static bool brings_port_up(const struct running *v, const char *words)
{
    return session_words_mean(words, "dry") || strcmp(v->names[0], "DebugPortSetup") == 0 ||
           strcmp(v->names[0], "DebugPortStart") == 0;
}

/*
 * What follows is called on the link's thread while this one waits. The signal that frees a write from a
 * reader who reads no more (cli_stop_flag) reaches the main thread only, so none is begun here that would
 * have to wait: false once the user wants to end.
 */
static bool may_write(const struct running *v, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    while (poll(&p, 1, WRITE_LOOK_MS) == 0)
        if (atomic_load(v->stop))
            return false;
    return true;
}

/* What the sequence does is written at once and in order. What is left over the main thread writes. */
static void on_publish(void *ctx)
{
    const struct running *v = ctx;
    if (may_write(v, STDOUT_FILENO))
        event_bus_drain(v->bus, NULL);
}

static void say(void *ctx, enum sequence_message kind, const char *sentence)
{
    const struct running *v = ctx;
    if (kind != SEQUENCE_FATAL && may_write(v, STDERR_FILENO)) /* that is the error's words */
        cli_warn(v->cli, v->r->core, sentence);
}

static enum corral_err make_sequences(struct running *v, const char *words, struct diag *d)
{
    const struct pack_device *device = v->t.device;
    struct sequences_options o = {.device = device,
                                  .program = v->t.program,
                                  .bus = v->r->trace ? v->bus : NULL,
                                  .trace = v->r->trace,
                                  .sync = v->r->sync || (device->sync_set && device->sync),
                                  .protocol = sequences_protocol(words, v->cli->wire.protocol),
                                  .connection = 1,
                                  .stop = cli_stop_flag(),
                                  .timeout_ns = v->cli->timeout_ns,
                                  .say = say,
                                  .ctx = v};
    v->sequences = sequences_new(&o, d);
    return v->sequences ? CORRAL_OK : d->code;
}

static enum corral_err open_link(struct running *v, struct diag *d)
{
    enum corral_err err = cli_load_config(v->cli, &v->config, d);
    if (!err && !(v->bus = event_bus_new()))
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (err)
        return err;
    const char *words = session_link_words(v->cli->link, v->config);
    bool dry = session_words_mean(words, "dry"), own = brings_port_up(v, words);
    if (own && v->cli->wire.connect > CONNECT_ATTACH)
        return diag_set(d, CORRAL_ERR_USAGE,
                        dry ? "--connect: link '%s' has no reset line"
                            : "--connect: %s is to find the port as it is",
                        dry ? words : v->names[0]);
    struct session_options how = cli_session_options(v->cli, v->config, v->bus);
    if (!(v->s = session_open(&how, d)))
        return d->code;
    if (!own)
        err = session_connect_port(v->s, d);
    if (!err && !dry)
        err = cli_warm_up(v->s, d);
    if (!err && v->r->trace) {
        err = cli_attach_sink(v->bus, render_sequence_trace(stdout, v->cli->json), d);
        event_bus_on_publish(v->bus, on_publish, v);
    }
    return err ? err : make_sequences(v, words, d);
}

static enum corral_err on_link(struct link *link, void *ctx, struct diag *d)
{
    struct running *v = ctx;
    for (size_t i = 0; i < v->name_count; i++) {
        struct sequence_result result = {0};
        enum corral_err err = sequences_run(v->sequences, link, v->names[i], v->r->core, &result, d);
        if (!err || result.ran)
            render_sequence_summary(stdout, v->cli->json, v->names[i], &result);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* The interpreter knows the place, and says it as the object. */
static void name_place(struct diag *d)
{
    char object[sizeof(d->object)];
    size_t n = strlen(d->object);
    if (!n || strncmp(d->message, d->object, n) == 0)
        return;
    memcpy(object, d->object, n + 1);
    diag_prefix(d, "%s", object);
}

int run_sequences(const struct cli *cli, const struct sequence_request *r)
{
    struct diag d = DIAG_INIT;
    struct running *v = calloc(1, sizeof(*v));
    if (!v)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    v->cli = cli;
    v->r = r;
    v->stop = cli_stop_flag();
    enum corral_err err = prepare(v, &d);
    if (!err)
        err = open_link(v, &d);
    if (!err && (err = link_thread_call(session_thread(v->s), LINK_PRIO_HALT, on_link, v, &d)) != CORRAL_OK)
        name_place(&d);
    sequences_free(v->sequences);
    session_close(v->s);
    event_bus_free(v->bus, NULL);
    config_free(v->config);
    pack_target_close(&v->t);
    free(v);
    return err ? cli_fail(cli, &d) : 0;
}
