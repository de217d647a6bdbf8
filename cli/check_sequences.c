/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral sequence check: every mistake in the debug sequences of a description file, each once, though many
 * devices inherit it (cross-trigger sheet 4; corral-sequence(1)). Touches no target.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/pack_options.h"
#include "cli/render_sequence.h"
#include "cli/sequence_request.h"

#define SHOWN_MOST 2000 /* problems; more are counted only */

struct checking {
    const struct cli *cli;
    struct pack_target t;
    bool colour;
    unsigned width;
    json_t *problems; /* with --json */
    size_t devices, shown, errors, warnings;
    uint64_t *seen; /* hashes of what was told: open addressing, 0 = free */
    size_t seen_count, seen_room;
};

/* ---- each once */

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001B3ull;
    return h;
}

/* The file by its name, for each device has a set, and numbers, of its own. */
static uint64_t hash_problem(const struct sequence_problem *p, const char *where)
{
    uint64_t h = hash_text(0xCBF29CE484222325ull, where);
    h = hash_text(h ^ (uint64_t)p->severity, p->text);
    return h ? h : 1;
}

static bool enter(uint64_t *table, size_t room, uint64_t h)
{
    size_t i = h & (room - 1);
    while (table[i] && table[i] != h)
        i = (i + 1) & (room - 1);
    bool fresh = !table[i];
    table[i] = h;
    return fresh;
}

/* True when it is new. Where memory is out nothing is old: better twice than never. */
static bool is_new(struct checking *c, uint64_t h)
{
    if (2 * c->seen_count >= c->seen_room) {
        size_t room = c->seen_room ? 2 * c->seen_room : 1024;
        uint64_t *larger = calloc(room, sizeof(*larger));
        if (!larger)
            return true;
        for (size_t i = 0; i < c->seen_room; i++)
            if (c->seen[i])
                enter(larger, room, c->seen[i]);
        free(c->seen);
        c->seen = larger;
        c->seen_room = room;
    }
    bool fresh = enter(c->seen, c->seen_room, h);
    c->seen_count += fresh;
    return fresh;
}

/* ---- telling */

static void add_json(struct checking *c, const struct sequence_set *set, const struct sequence_problem *p)
{
    char file[PACK_PLACE_MAX], sequence[TEXT_CLEAN_MAX(SEQUENCE_NAME_MAX)];
    struct sequence_place whole = {.file = p->place.file};
    pack_place_text(c->t.file, set, &whole, file);
    text_escape((const uint8_t *)p->sequence, strlen(p->sequence), sequence, sizeof(sequence));
    json_t *one = json_pack(
        "{s:s,s:s,s:o,s:o,s:I,s:o,s:s}", "severity", p->severity == SEQUENCE_ERROR ? "error" : "warning",
        "file", file, "line", p->place.line ? json_integer(p->place.line) : json_null(), "column",
        p->place.column ? json_integer(p->place.column) : json_null(), "width", (json_int_t)p->width,
        "sequence", sequence[0] ? json_string(sequence) : json_null(), "message", p->text);
    if (one)
        json_array_append_new(c->problems, one);
}

static void tell(struct checking *c, const struct sequence_set *set, const struct sequence_problem *p)
{
    char where[PACK_PLACE_MAX];
    pack_place_text(c->t.file, set, &p->place, where);
    if (!is_new(c, hash_problem(p, where)))
        return;
    *(p->severity == SEQUENCE_ERROR ? &c->errors : &c->warnings) += 1;
    if (c->shown >= SHOWN_MOST)
        return;
    c->shown++;
    if (c->cli->json)
        add_json(c, set, p);
    else
        render_sequence_problem(stdout, c->colour, c->width, c->t.file, set, p);
}

static void tell_all(struct checking *c, const struct sequence_set *set, struct sequence_problems *problems)
{
    size_t errors = 0;
    for (size_t i = 0; i < problems->count; i++) {
        errors += problems->list[i].severity == SEQUENCE_ERROR;
        tell(c, set, &problems->list[i]);
    }
    if (problems->errors > errors) /* beyond what is kept */
        c->errors += problems->errors - errors;
    sequence_problems_clear(problems);
}

/* A device that cannot even be described is a mistake of the file, and no reason not to look at the others.
 */
static void tell_failure(struct checking *c, const char *device, const struct diag *d)
{
    struct sequence_problem p = {.severity = SEQUENCE_ERROR, .width = 1};
    char clean[TEXT_CLEAN_MAX(PACK_NAME_MAX)];
    text_escape((const uint8_t *)device, strnlen(device, PACK_NAME_MAX), clean, sizeof(clean));
    snprintf(p.text, sizeof(p.text), "%.80s: %.150s", clean, d->message);
    tell(c, NULL, &p);
}

/* ---- checking */

static enum corral_err check_device(struct checking *c, const char *name, struct diag *d)
{
    struct diag why = DIAG_INIT;
    struct pack_target *t = &c->t;
    t->device = pack_describe(t->file, name, &t->problems, &why);
    if (t->device)
        t->program = pack_compile(t->device, &t->problems, &why);
    tell_all(c, t->device ? t->device->set : NULL, &t->problems);
    bool ok = t->program != NULL;
    sequence_program_free(t->program);
    pack_device_free(t->device);
    t->program = NULL;
    t->device = NULL;
    c->devices += ok;
    if (ok)
        return CORRAL_OK;
    if (why.code == CORRAL_ERR_USAGE || why.code == CORRAL_ERR_NO_MEMORY) {
        *d = why;
        return why.code;
    }
    tell_failure(c, name, &why);
    return CORRAL_OK;
}

static enum corral_err check_all(struct checking *c, const struct sequence_request *r, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (r->device)
        return check_device(c, r->device, d);
    size_t count = pack_device_count(c->t.file);
    if (!count)
        return pack_target_no_device(&c->t, d);
    for (size_t i = 0; i < count && !err; i++) {
        if (atomic_load(cli_stop_flag()))
            return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted after %zu of %zu devices", i, count);
        err = check_device(c, pack_device_name(c->t.file, i), d);
    }
    return err;
}

static void show_counts(const struct checking *c, const struct sequence_request *r)
{
    if (c->cli->json) {
        char file[TEXT_CLEAN_MAX(4096)];
        text_escape((const uint8_t *)r->file, strnlen(r->file, 4096), file, sizeof(file));
        json_t *j =
            json_pack("{s:s,s:I,s:O,s:I,s:I}", "file", file, "devices", (json_int_t)c->devices, "problems",
                      c->problems, "errors", (json_int_t)c->errors, "warnings", (json_int_t)c->warnings);
        char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
        if (text)
            puts(text);
        free(text);
        json_decref(j);
        return;
    }
    if (c->errors + c->warnings > c->shown)
        printf("%zu more are not shown\n", c->errors + c->warnings - c->shown);
    printf("%zu device%s: %zu error%s, %zu warning%s\n", c->devices, c->devices == 1 ? "" : "s", c->errors,
           c->errors == 1 ? "" : "s", c->warnings, c->warnings == 1 ? "" : "s");
}

int check_sequences(const struct cli *cli, const struct sequence_request *r)
{
    struct diag d = DIAG_INIT;
    struct checking c = {.cli = cli, .colour = cli_want_colour(stdout), .problems = json_array()};
    char root[PACK_ROOT_MAX];
    pack_options_root(root);
    struct pack_places places = {.pack_root = root[0] ? root : NULL, .dbgconf = r->dbgconf};
    c.width = render_sequence_width(stdout);
    c.t.file = pack_open(r->file, &places, &c.t.problems, &d);
    enum corral_err err = c.t.file ? check_all(&c, r, &d) : d.code;
    if (c.t.file && !err) {
        tell_all(&c, NULL, &c.t.problems); /* of a file without a device */
        show_counts(&c, r);
    }
    /* Exit code 1 alone would read as mistakes that were shown. */
    if (!err && c.errors)
        err = cli_close_stdout(&d);
    int exit_code = err ? cli_fail(cli, &d) : c.errors ? 1 : 0;
    pack_target_close(&c.t);
    json_decref(c.problems);
    free(c.seen);
    return exit_code;
}
