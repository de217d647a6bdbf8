/* SPDX-License-Identifier: Apache-2.0 */
/* `corral demo` for people, and its summary line (demo.h). Draws; finds nothing out. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/demo.h"

/* A file's name as it may be shown: one line, nothing that acts on a terminal. */
struct shown_name {
    char text[TEXT_CLEAN_MAX(sizeof(((struct demo_result *)0)->files[0]))];
};

static const char *show_name(const char *name, struct shown_name *shown)
{
    text_escape((const uint8_t *)name, strlen(name), shown->text, sizeof(shown->text));
    return shown->text;
}

void demo_render_board(const struct link_sim_info *board, uint16_t profile_port)
{
    printf("Corral demo: real Thumb firmware on a virtual two-core board\n"
           "  cores            2 x Cortex-M7 without FPU at %u MHz\n"
           "  debug wire       SWD at %u MHz, %u clocks a transfer (%.1f us)\n"
           "  cross triggers   one CTI a core on one CTM, latency %u core cycles\n"
           "  mailbox          core0 asks, core1 must answer within %u us\n"
           "  profile          version 17 packets over UDP to port %u\n",
           board->core_hz[0] / 1000000u, board->swclk_hz / 1000000u, board->clocks_per_transfer,
           1e6 * board->clocks_per_transfer / board->swclk_hz, board->ctm_latency, board->deadline_us,
           profile_port);
    fflush(stdout);
}

static const char *duration(int64_t ns, char *buf, size_t size)
{
    if (ns == EVENT_NO_TIME)
        snprintf(buf, size, "-");
    else if (ns < 10000)
        snprintf(buf, size, "%" PRId64 " ns", ns);
    else
        snprintf(buf, size, "%.1f us", (double)ns / 1e3);
    return buf;
}

static void render_rounds_row(const char *name, const struct session_rounds *r)
{
    char a[24], b[24], c[24], missed[24] = "-";
    if (r->deadlines_missed >= 0)
        snprintf(missed, sizeof(missed), "%" PRId64, r->deadlines_missed);
    printf("  %-22s %12s %12s %14s %18s\n", name, duration(r->median_ns, a, sizeof(a)),
           duration(r->max_ns, b, sizeof(b)), duration(r->board_median_ns, c, sizeof(c)), missed);
}

static void render_top(const struct demo_result *r, unsigned core)
{
    printf("\n  core%u  top functions      samples   share   by the board's own count\n", core);
    bool any = false;
    for (size_t i = 0; i < r->top_count; i++) {
        const struct demo_function *f = &r->top[i];
        if (f->core != core)
            continue;
        any = true;
        printf("         %-18s %7" PRIu64 "  %5.1f %%", f->name, f->count, 100.0 * f->share);
        if (f->board_share >= 0)
            printf("   %5.1f %%", 100.0 * f->board_share);
        putchar('\n');
    }
    if (!any)
        printf("         none: no profile packet came from this core\n");
}

void demo_render_result(const struct demo_result *r)
{
    printf("\n== What came out\n\n  %-22s %12s %12s %14s %18s\n", "skew", "median", "worst", "board's own",
           "deadlines missed");
    char title[32];
    snprintf(title, sizeof(title), "%u x core by core", r->software.rounds);
    render_rounds_row(title, &r->software);
    snprintf(title, sizeof(title), "%u x cross triggers", r->cti.rounds);
    render_rounds_row(title, &r->cti);
    for (unsigned core = 0; core < LINK_SIM_CORES; core++)
        render_top(r, core);
    printf("\n  log lines   SMC %" PRIu64 ", DMC %" PRIu64 "\n", r->logs[0], r->logs[1]);
    printf("  samples     %" PRIu64, r->totals.samples);
    if (r->firmware_samples >= 0)
        printf(" (the firmware counted %" PRId64 ")", r->firmware_samples);
    if (r->lost)
        printf("\n  LOST        %" PRIu64 " records or packets\n", r->lost);
    else
        printf("\n  lost        nothing\n");
    printf("\n  written:\n");
    struct shown_name shown;
    for (size_t i = 0; i < r->file_count; i++)
        printf("    %s\n", show_name(r->files[i], &shown));
}

static json_t *time_json(int64_t ns)
{
    return ns == EVENT_NO_TIME ? json_null() : json_integer(ns);
}

static json_t *skew_json(int64_t median, int64_t max)
{
    return json_pack("{s:o,s:o}", "median", median == EVENT_NO_TIME ? json_null() : json_integer(median),
                     "max", max == EVENT_NO_TIME ? json_null() : json_integer(max));
}

/* -1 = not counted */
static json_t *count_json(int64_t count)
{
    return count < 0 ? json_null() : json_integer(count);
}

static json_t *top_json(const struct demo_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < r->top_count; i++) {
        const struct demo_function *f = &r->top[i];
        char core[16];
        snprintf(core, sizeof(core), "core%u", f->core);
        json_array_append_new(list, json_pack("{s:s,s:s,s:I,s:f,s:o}", "core", core, "function", f->name,
                                              "count", (json_int_t)f->count, "share", f->share, "board_share",
                                              f->board_share < 0 ? json_null() : json_real(f->board_share)));
    }
    return list;
}

/* {"software": ..., "cti": ...}; takes both over. */
static json_t *both_ways(json_t *software, json_t *cti)
{
    return json_pack("{s:o,s:o}", "software", software, "cti", cti);
}

static json_t *board_json(const struct link_sim_info *b)
{
    return json_pack("{s:I,s:I,s:I,s:I}", "core_hz", (json_int_t)b->core_hz[0], "swclk_hz",
                     (json_int_t)b->swclk_hz, "ctm_latency", (json_int_t)b->ctm_latency, "deadline_us",
                     (json_int_t)b->deadline_us);
}

static json_t *files_json(const struct demo_result *r)
{
    json_t *files = json_array();
    for (size_t i = 0; files && i < r->file_count; i++) {
        struct shown_name shown;
        json_t *name = json_string(r->files[i]); /* NULL when it is no UTF-8 */
        json_array_append_new(files, name ? name : json_string(show_name(r->files[i], &shown)));
    }
    return files;
}

enum corral_err demo_render_summary(const struct demo_result *r, struct diag *d)
{
    const struct session_rounds *sw = &r->software, *cti = &r->cti;
    struct {
        const char *key;
        json_t *value;
    } fields[] = {
        {"kind", json_string("summary")},
        {"stream", json_string("demo")},
        {"board", board_json(&r->board)},
        {"logs", json_pack("{s:I,s:I}", "SMC", (json_int_t)r->logs[0], "DMC", (json_int_t)r->logs[1])},
        {"lost", json_integer((json_int_t)r->lost)},
        {"samples", json_integer((json_int_t)r->totals.samples)},
        {"firmware_samples", count_json(r->firmware_samples)},
        {"rounds", json_integer(cti->rounds)},
        {"skew_ns", both_ways(skew_json(sw->median_ns, sw->max_ns), skew_json(cti->median_ns, cti->max_ns))},
        {"board_skew_ns", both_ways(skew_json(sw->board_median_ns, sw->board_max_ns),
                                    skew_json(cti->board_median_ns, cti->board_max_ns))},
        {"agreement_ns", both_ways(time_json(sw->worst_difference_ns), time_json(cti->worst_difference_ns))},
        {"deadlines_missed", both_ways(count_json(sw->deadlines_missed), count_json(cti->deadlines_missed))},
        {"top", top_json(r)},
        {"files", files_json(r)},
    };
    json_t *root = json_object();
    bool ok = root != NULL;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        ok &= json_object_set_new(root, fields[i].key, fields[i].value) == 0;
    char *line = ok ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    puts(line);
    free(line);
    return CORRAL_OK;
}
