/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's description from the command line (pack_options.h). corral-pack(5) says what is read. Must not
 * know a file format.
 */
#include "cli/pack_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "session/config.h"
#include "session/session.h"

#define TOLD_MOST 12 /* sentences; more are counted */

bool pack_options_take(int c, struct pack_options *o)
{
    switch (c) {
    case PACK_OPT_PACK:
        o->pack = optarg;
        return true;
    case PACK_OPT_DEVICE:
        o->device = optarg;
        return true;
    case PACK_OPT_CBUILD_RUN:
        o->cbuild_run = optarg;
        return true;
    default:
        return false;
    }
}

bool pack_options_check(const struct cli *cli, const struct cli_command *command,
                        const struct pack_options *o)
{
    if (o->pack && o->cbuild_run)
        cli_usage(cli, command, "%s: --pack or --cbuild-run, not both", command->name);
    else if (o->device && o->cbuild_run)
        cli_usage(cli, command, "%s: --device is of --pack: a cbuild-run file has one device", command->name);
    else
        return true;
    return false;
}

/* ---- reading */

const char *pack_options_root(char out[PACK_ROOT_MAX])
{
    const char *root = getenv("CMSIS_PACK_ROOT");
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = 0;
    out[0] = '\0';
    if (root && root[0])
        n = snprintf(out, PACK_ROOT_MAX, "%s", root);
    else if (cache && cache[0])
        n = snprintf(out, PACK_ROOT_MAX, "%s/arm/packs", cache);
    else if (home && home[0])
        n = snprintf(out, PACK_ROOT_MAX, "%s/.cache/arm/packs", home);
    if (n < 0 || n >= PACK_ROOT_MAX)
        out[0] = '\0';
    return out;
}

enum corral_err pack_target_open(const char *path, const char *device, const char *dbgconf,
                                 struct pack_target *t, struct diag *d)
{
    char root[PACK_ROOT_MAX];
    pack_options_root(root);
    struct pack_places places = {.pack_root = root[0] ? root : NULL, .dbgconf = dbgconf};
    *t = (struct pack_target){0};
    if (!(t->file = pack_open(path, &places, &t->problems, d)))
        return d->code;
    if (!(t->device = pack_describe(t->file, device, &t->problems, d)))
        return d->code;
    t->program = pack_compile(t->device, &t->problems, d);
    return t->program ? CORRAL_OK : d->code;
}

void pack_target_close(struct pack_target *t)
{
    sequence_program_free(t->program);
    pack_device_free(t->device);
    pack_close(t->file);
    sequence_problems_clear(&t->problems);
    *t = (struct pack_target){0};
}

/* ---- telling */

const char *pack_place_text(const struct pack_file *file, const struct sequence_set *set,
                            const struct sequence_place *place, char out[PACK_PLACE_MAX])
{
    const char *name = set ? sequence_set_file_name(set, place->file) : "";
    char clean[PACK_PLACE_MAX - 32];
    if (!name[0])
        name = pack_path(file);
    text_escape((const uint8_t *)name, strlen(name), clean, sizeof(clean));
    if (!place->line)
        snprintf(out, PACK_PLACE_MAX, "%s", clean);
    else if (!place->column)
        snprintf(out, PACK_PLACE_MAX, "%s:%u", clean, place->line);
    else
        snprintf(out, PACK_PLACE_MAX, "%s:%u:%u", clean, place->line, place->column);
    return out;
}

static bool is_named(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = names; p && n; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, n) == 0 && (p[n] == '\0' || p[n] == ','))
            return true;
    }
    return false;
}

void pack_target_tell(const struct cli *cli, const struct pack_target *t, const char *names)
{
    size_t told = 0, more = t->problems.dropped;
    char place[PACK_PLACE_MAX], text[PACK_PLACE_MAX + sizeof(t->problems.list->text) + 16];
    for (size_t i = 0; i < t->problems.count; i++) {
        const struct sequence_problem *p = &t->problems.list[i];
        if (p->severity != SEQUENCE_ERROR && p->sequence[0] && !is_named(names, p->sequence))
            continue;
        if (told++ >= TOLD_MOST) {
            more++;
            continue;
        }
        pack_place_text(t->file, t->device ? t->device->set : NULL, &p->place, place);
        snprintf(text, sizeof(text), "%s: %s: %s", place, p->severity == SEQUENCE_ERROR ? "error" : "warning",
                 p->text);
        cli_warn(cli, NULL, text);
    }
    if (!more)
        return;
    snprintf(text, sizeof(text), "%zu more of this kind: 'corral sequence check' shows them", more);
    cli_warn(cli, NULL, text);
}

enum corral_err pack_target_no_device(const struct pack_target *t, struct diag *d)
{
    char where[PACK_PLACE_MAX];
    struct sequence_place whole = {0};
    pack_place_text(t->file, NULL, &whole, where);
    diag_set(d, CORRAL_ERR_FORMAT, "%.200s describes no device", where);
    diag_hint(d, "packs of devices are often named Vendor.Family_DFP");
    return CORRAL_ERR_FORMAT;
}

enum corral_err pack_target_no_core(const struct pack_target *t, const char *name, struct diag *d)
{
    char clean[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)], list[sizeof(d->hint)] = "";
    const struct pack_device *device = t->device;
    size_t used = 0;
    text_escape((const uint8_t *)name, strnlen(name, SEQUENCE_NAME_MAX), clean, sizeof(clean));
    diag_set(d, CORRAL_ERR_USAGE, "%s has no core '%s'", device->name, clean);
    for (size_t i = 0; i < device->processor_count && used < sizeof(list) - 1; i++) {
        int n =
            snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", device->processors[i].pname);
        used += n > 0 ? (size_t)n : 0;
    }
    if (device->processor_count > 1 || (device->processor_count && device->processors[0].pname[0]))
        diag_hint(d, "it has %s", list);
    else
        diag_hint(d, "it has one without a name: leave --core out");
    return CORRAL_ERR_USAGE;
}

/* ---- for commands that take it from the command line */

/* Each option has its own kind of file: a device of a pack, or a project's one. */
static enum corral_err check_kind(bool cbuild_run, const struct pack_target *t, struct diag *d)
{
    char where[PACK_PLACE_MAX];
    struct sequence_place whole = {0};
    if ((pack_kind_of(t->file) == PACK_CBUILD_RUN) == cbuild_run)
        return CORRAL_OK;
    pack_place_text(t->file, NULL, &whole, where);
    diag_set(d, CORRAL_ERR_USAGE, "%.200s is %s", where, cbuild_run ? "a pack" : "a cbuild-run file");
    diag_hint(d, cbuild_run ? "--pack reads it, with --device" : "--cbuild-run reads it");
    return CORRAL_ERR_USAGE;
}

/* A file on the command line stands in for what corral.yml names. */
static struct pack_options resolve(const struct pack_options *o, const struct config *config)
{
    struct pack_options r = *o;
    if (r.pack || r.cbuild_run || !config)
        return r;
    r.pack = config->pack;
    r.cbuild_run = config->cbuild_run;
    if (!r.device)
        r.device = config->device;
    return r;
}

enum corral_err pack_options_open(const struct cli *cli, const struct pack_options *o,
                                  const struct config *config, struct pack_target *t, struct diag *d)
{
    struct pack_options r = resolve(o, config);
    struct diag kind = DIAG_INIT;
    *t = (struct pack_target){0};
    if (r.device && !r.pack) {
        diag_set(d, CORRAL_ERR_USAGE, "--device of what? There is no pack");
        diag_hint(d, "--pack names the file");
        return CORRAL_ERR_USAGE;
    }
    if (!r.pack && !r.cbuild_run)
        return CORRAL_OK;
    enum corral_err err = pack_target_open(r.pack ? r.pack : r.cbuild_run, r.device, NULL, t, d);
    if (t->file && check_kind(!r.pack, t, &kind) != CORRAL_OK) {
        *d = kind;
        return kind.code;
    }
    if (t->file)
        pack_target_tell(cli, t, NULL);
    return err;
}

void pack_options_apply(const struct pack_target *t, bool sync, struct session_options *how)
{
    if (!t->device)
        return;
    how->pack = t->device;
    how->program = t->program;
    how->pack_sync = sync;
    how->stop = cli_stop_flag();
}

bool pack_options_sync(const struct pack_target *t, const struct config *config, bool said, bool sync)
{
    if (said)
        return sync;
    if (config && config->sync_set)
        return config->sync;
    return t->device && t->device->sync_set && t->device->sync;
}
