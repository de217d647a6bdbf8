/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sequence list: the debug sequences that a device has, its own and the defaults (cross-trigger sheet
 * 4.8). Devices that have the same are listed together. Touches no target.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/pack_options.h"
#include "cli/put_json.h"
#include "cli/sequence_request.h"

#define NAMES_SHOWN 8 /* devices in a heading; more are counted */

static const char *clean(const char *text, char *out, size_t size)
{
    text_escape((const uint8_t *)text, strlen(text), out, size);
    return out;
}

static const char *origin_of(const struct pack_target *t, const struct sequence_info *info)
{
    if (info->is_default)
        return "default";
    return pack_kind_of(t->file) == PACK_CBUILD_RUN ? "cbuild-run" : "pack";
}

static json_t *text_or_null(const char *text)
{
    char out[TEXT_CLEAN_MAX(256)];
    return text[0] ? json_string(clean(text, out, sizeof(out))) : json_null();
}

static json_t *one_sequence(const struct pack_target *t, const struct sequence_info *info)
{
    char file[PACK_PLACE_MAX];
    struct sequence_place whole = {.file = info->place.file};
    bool placed = !info->is_default && info->place.line;
    if (placed)
        pack_place_text(t->file, t->device->set, &whole, file);
    return json_pack("{s:o,s:o,s:s,s:b,s:b,s:b,s:o,s:o,s:o}", "name", text_or_null(info->name), "pname",
                     text_or_null(info->pname), "origin", origin_of(t, info), "predefined",
                     (int)info->predefined, "disabled", (int)info->disabled, "errors", (int)info->has_errors,
                     "info", text_or_null(info->info), "file", placed ? json_string(file) : json_null(),
                     "line", placed ? json_integer(info->place.line) : json_null());
}

/* Does it count for processor `core`? One of its own hides the one for all. */
static bool counts_for(const struct sequence_program *program, const struct sequence_info *info,
                       const char *core)
{
    struct sequence_info found;
    return !core ||
           (sequence_find(program, info->name, core, &found) && strcmp(found.pname, info->pname) == 0);
}

static json_t *all_sequences(const struct pack_target *t, const char *core)
{
    json_t *list = json_array();
    struct sequence_info info;
    for (size_t i = 0; list && sequence_get(t->program, i, &info); i++)
        if (counts_for(t->program, &info, core))
            json_array_append_new(list, one_sequence(t, &info));
    return list;
}

static enum corral_err check_core(const struct pack_target *t, const char *core, struct diag *d)
{
    return core && !pack_processor_named(t->device, core) ? pack_target_no_core(t, core, d) : CORRAL_OK;
}

/* Into the group of devices that have the same, else a new one. */
static void add_device(json_t *groups, const char *name, json_t *sequences)
{
    char out[TEXT_CLEAN_MAX(PACK_NAME_MAX)];
    json_t *called = json_string(clean(name, out, sizeof(out)));
    for (size_t i = json_array_size(groups); i > 0; i--) { /* neighbours are alike */
        json_t *group = json_array_get(groups, i - 1);
        if (!json_equal(json_object_get(group, "sequences"), sequences))
            continue;
        json_array_append_new(json_object_get(group, "devices"), called);
        json_decref(sequences);
        return;
    }
    json_array_append_new(groups, json_pack("{s:[o],s:o}", "devices", called, "sequences", sequences));
}

static enum corral_err list_device(const struct cli *cli, struct pack_target *t,
                                   const struct sequence_request *r, const char *name, json_t *groups,
                                   struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    t->device = pack_describe(t->file, name, &t->problems, d);
    t->program = t->device ? pack_compile(t->device, &t->problems, d) : NULL;
    if (t->device && t->program) {
        err = check_core(t, r->core, d);
        if (!err)
            add_device(groups, t->device->name, all_sequences(t, r->core));
    } else {
        err = d->code;
    }
    if (t->problems.errors && r->device)
        pack_target_tell(cli, t, NULL);
    sequence_problems_clear(&t->problems);
    sequence_program_free(t->program);
    pack_device_free(t->device);
    t->program = NULL;
    t->device = NULL;
    return err;
}

/* Of those that have the core that was named; that none has it is a mistake. */
static enum corral_err list_all(const struct cli *cli, struct pack_target *t,
                                const struct sequence_request *r, json_t *groups, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    size_t count = pack_device_count(t->file);
    if (!count)
        return pack_target_no_device(t, d);
    for (size_t i = 0; i < count && (!err || (err == CORRAL_ERR_USAGE && r->core)); i++) {
        err = list_device(cli, t, r, pack_device_name(t->file, i), groups, d);
        if (!err && atomic_load(cli_stop_flag()))
            err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
    }
    return err == CORRAL_ERR_USAGE && r->core && json_array_size(groups) ? CORRAL_OK : err;
}

static const char *word_of(json_t *sequence, const char *key)
{
    json_t *value = json_object_get(sequence, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

static void show_table(json_t *sequences)
{
    size_t i, name = 4, pname = 0;
    json_t *s;
    json_array_foreach(sequences, i, s)
    {
        name = strlen(word_of(s, "name")) > name ? strlen(word_of(s, "name")) : name;
        pname = strlen(word_of(s, "pname")) > pname ? strlen(word_of(s, "pname")) : pname;
    }
    json_array_foreach(sequences, i, s)
    {
        printf("  %-*s  ", (int)name, word_of(s, "name"));
        if (pname)
            printf("%-*s  ", (int)pname, word_of(s, "pname"));
        printf("%s%s%s", word_of(s, "origin"),
               json_is_true(json_object_get(s, "disabled")) ? ", disabled" : "",
               json_is_true(json_object_get(s, "errors")) ? ", has errors" : "");
        printf("%s%s\n", word_of(s, "info")[0] ? ": " : "", word_of(s, "info"));
    }
}

static void show_text(json_t *groups)
{
    size_t i, k;
    json_t *group, *name;
    json_array_foreach(groups, i, group)
    {
        json_t *devices = json_object_get(group, "devices");
        size_t count = json_array_size(devices);
        json_array_foreach(devices, k, name)
        {
            if (k < NAMES_SHOWN)
                printf("%s%s", k ? ", " : i ? "\n" : "", json_string_value(name));
        }
        if (count > NAMES_SHOWN)
            printf(" and %zu more", count - NAMES_SHOWN);
        fputs(":\n", stdout);
        show_table(json_object_get(group, "sequences"));
    }
}

static enum corral_err show(const struct cli *cli, const struct sequence_request *r, json_t *groups,
                            struct diag *d)
{
    char file[TEXT_CLEAN_MAX(4096)];
    if (!cli->json) {
        show_text(groups);
        return CORRAL_OK;
    }
    text_escape((const uint8_t *)r->file, strnlen(r->file, 4096), file, sizeof(file));
    json_t *j = json_pack("{s:s,s:O}", "file", file, "groups", groups);
    return cli_put_json(j, d);
}

int list_sequences(const struct cli *cli, const struct sequence_request *r)
{
    struct diag d = DIAG_INIT;
    struct pack_target t = {0};
    json_t *groups = json_array();
    char root[PACK_ROOT_MAX];
    pack_options_root(root);
    struct pack_places places = {.pack_root = root[0] ? root : NULL, .dbgconf = r->dbgconf};
    t.file = pack_open(r->file, &places, &t.problems, &d);
    enum corral_err err = t.file ? CORRAL_OK : d.code;
    if (!err && r->device)
        err = list_device(cli, &t, r, r->device, groups, &d);
    else if (!err)
        err = list_all(cli, &t, r, groups, &d);
    if (!err)
        err = show(cli, r, groups, &d);
    json_decref(groups);
    pack_target_close(&t);
    return err ? cli_fail(cli, &d) : 0;
}
