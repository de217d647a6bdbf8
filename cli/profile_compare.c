/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `corral profile --diff A B`: two captures, or reports that were saved with --json, or one of each. The
 * comparison is session/profiling_diff.h's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/profile_options.h"
#include "cli/render_profile.h"
#include "session/config.h"

#define SAVED_LARGE (256u << 20) /* bytes of a saved report */

struct compare {
    const struct cli *cli;
    const struct profile_options *o;
    struct config *config;
    struct host_clock *clock;
    struct profiling_side *sides[2];
    uint64_t damaged_files;
};

static enum corral_err load_saved(FILE *in, const char *path, struct profiling_side **side, struct diag *d)
{
    size_t size = 0, room = 1u << 16;
    char *text = malloc(room);
    while (text && !feof(in) && !ferror(in) && size < SAVED_LARGE) {
        if (size == room) {
            char *more = realloc(text, room *= 2);
            if (!more)
                free(text);
            text = more;
            continue;
        }
        size += fread(text + size, 1, room - size, in);
    }
    enum corral_err err = CORRAL_OK;
    if (!text)
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    else if (ferror(in))
        err = diag_set(d, CORRAL_ERR_IO, "cannot read '%.200s': %s", path, strerror(errno));
    else if (size >= SAVED_LARGE)
        err = diag_set(d, CORRAL_ERR_LIMIT, "'%.200s' is too large a report to be compared", path);
    else
        *side = profiling_side_of_json(path, text, size, d);
    free(text);
    return err == CORRAL_OK && !*side ? d->code : err;
}

static enum corral_err open_images(struct compare *c, struct profiling *profiling, struct diag *d)
{
    enum corral_err err = profiling_use_config(profiling, c->config, c->o->elf_count == 0, d);
    for (size_t i = 0; i < c->o->elf_count && err == CORRAL_OK; i++)
        err = profiling_add_elf(profiling, c->o->elfs[i], d);
    return err;
}

static enum corral_err read_capture(struct compare *c, struct profiling *profiling, const char *path,
                                    struct profiling_side **side, struct diag *d)
{
    struct profiling_file_stats stats = {0};
    enum corral_err err =
        profiling_read_capture(profiling, path, c->o->port, false, cli_stop_flag(), NULL, NULL, &stats, d);
    if (stats.damaged) {
        c->damaged_files++;
        if (!c->cli->quiet) /* what came before stands, so this is a remark */
            cli_fail(c->cli, &stats.damage);
    }
    if (err != CORRAL_OK)
        return err;
    struct prof_report *report = profiling_report(profiling, c->o->thread, 0, false, d);
    *side = report ? profiling_side_of_report(path, report, d) : NULL;
    prof_report_free(report);
    return *side ? CORRAL_OK : d->code;
}

static enum corral_err load_capture(struct compare *c, const char *path, struct profiling_side **side,
                                    struct diag *d)
{
    const struct profiling_options options = {.clock = c->clock};
    struct profiling *profiling = profiling_new(&options, d);
    enum corral_err err = profiling ? open_images(c, profiling, d) : d->code;
    if (err == CORRAL_OK && c->o->legacy_headers)
        prof_streams_legacy_headers(profiling_streams(profiling));
    if (err == CORRAL_OK)
        err = read_capture(c, profiling, path, side, d);
    profiling_free(profiling);
    return err;
}

/* A saved report begins with a brace, which no capture does. */
static enum corral_err load_side(struct compare *c, const char *path, struct profiling_side **side,
                                 struct diag *d)
{
    if (strcmp(path, "-") == 0)
        return load_capture(c, path, side, d);
    FILE *in = fopen(path, "rbe");
    if (!in)
        return diag_set(d, CORRAL_ERR_IO, "cannot open '%.200s': %s", path, strerror(errno));
    int first = getc(in);
    enum corral_err err;
    if (first == '{' && ungetc(first, in) == '{')
        err = load_saved(in, path, side, d);
    else
        err = load_capture(c, path, side, d);
    fclose(in);
    return err;
}

static enum corral_err show(const struct compare *c, struct diag *d)
{
    struct profiling_diff *diff = profiling_diff_make(c->sides[0], c->sides[1], d);
    if (!diff)
        return d->code;
    enum corral_err err = CORRAL_OK;
    const struct render_profile r = {.out = stdout,
                                     .width = render_profile_width(stdout),
                                     .colour = cli_want_colour(stdout),
                                     .top = c->o->top,
                                     .thread = c->o->thread};
    if (c->cli->json)
        err = render_profile_diff_json(stdout, c->sides[0], c->sides[1], diff, d);
    else
        render_profile_diff_text(&r, c->sides[0], c->sides[1], diff);
    profiling_diff_free(diff);
    return err;
}

static enum corral_err judge_loss(const struct compare *c, struct diag *d)
{
    uint64_t loss = c->damaged_files;
    for (int i = 0; i < 2; i++) {
        struct profiling_side_totals totals;
        profiling_side_totals(c->sides[i], &totals);
        loss += totals.loss;
    }
    if (!c->o->fail_on_loss || loss == 0)
        return CORRAL_OK;
    fflush(stdout);
    return diag_set(d, CORRAL_ERR_DATA_LOST, "data was lost in what is compared");
}

int profile_compare(const struct cli *cli, const struct profile_options *o)
{
    struct compare c = {.cli = cli, .o = o, .clock = host_clock_new_real()};
    struct diag d = DIAG_INIT;
    enum corral_err err =
        c.clock ? cli_load_config(cli, &c.config, &d) : diag_set(&d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (int i = 0; i < 2 && err == CORRAL_OK; i++)
        err = load_side(&c, o->diff[i], &c.sides[i], &d);
    if (err == CORRAL_OK)
        err = show(&c, &d);
    if (err == CORRAL_OK)
        err = judge_loss(&c, &d);
    profiling_side_free(c.sides[0]);
    profiling_side_free(c.sides[1]);
    config_free(c.config);
    host_clock_free(c.clock);
    return err == CORRAL_OK ? 0 : cli_fail(cli, &d);
}
