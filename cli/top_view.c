/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of `corral top` from top to bottom: title, views, table or page, what is lost, keys
 * (top_view.h). Draws rows that are in sight only. Does nothing to the profile.
 */
#include "cli/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render_profile.h"
#include "cli/top_state.h"

#define HEAD_ROWS    3u /* title, views, what is shown */
#define LOSS_MOST    4u /* rows */
#define SILENT_LEAST 5.0

static const char *const tab_names[TOP_TABS] = {"Summary",  "Threads", "Functions", "Hot",
                                                "Counters", "Memory",  "Latency",   "Losses"};

struct top_view *top_view_new(void)
{
    struct top_view *v = calloc(1, sizeof(*v));
    for (unsigned i = 0; v && i < TOP_TABS; i++)
        v->sort[i] = TOP_UNSORTED;
    if (v) {
        v->thread = -1;
        v->thread_typed = TOP_NO_TIME;
    }
    return v;
}

void top_view_free(struct top_view *v)
{
    if (v)
        free(v->rows);
    free(v);
}

void top_view_set_report(struct top_view *v, const struct prof_report *report,
                         const struct profiling_remarks *remarks)
{
    v->report = report;
    v->remarks = remarks;
    v->rows_good = false;
}

void top_view_set_thread(struct top_view *v, int thread)
{
    v->thread = thread;
}

int top_view_thread(const struct top_view *v)
{
    return v->thread;
}

bool top_view_paused(const struct top_view *v)
{
    return v->paused;
}

/* --- what is lost, in every view ------------------------------------------------------------------------ */

struct loss {
    uint64_t lost, drops, rejected, late, overflow, coarse, unknown, images;
};

static struct loss loss_of(const struct top_view *v)
{
    const struct prof_report *r = v->report;
    struct loss l = {0};
    uint64_t missing = 0, doubtful = 0, wrong = 0;
    if (!r)
        return l;
    l = (struct loss){.lost = r->totals.lost,
                      .drops = r->kernel_drops,
                      .rejected = r->totals.rejected,
                      .late = r->totals.late};
    for (size_t i = 0; i < r->source_count; i++) {
        const struct prof_report_source *from = &r->sources[i];
        l.unknown += from->unknown_pc;
        l.overflow += from->overflow;
        l.coarse += from->coarse;
        missing += from->image_missing && from->active;
        doubtful += from->image_mismatch;
    }
    for (size_t i = 0; i < r->image_count; i++)
        wrong += r->images[i].mismatch;
    l.images = missing + (wrong > doubtful ? wrong : doubtful); /* one file is one warning */
    return l;
}

struct loss_item {
    const char *name, *brief, *loud; /* loud: where the number is not 0 */
    uint64_t n;
    enum top_style style;
};

/* Words one behind the other in as many rows as it takes; `draw` false = only find out how many. */
static unsigned loss_rows(struct top_canvas *c, const char *verdict, enum top_style verdict_style,
                          const struct loss_item *items, size_t count, bool brief, bool draw, unsigned row)
{
    unsigned at = top_canvas_width(verdict), rows = 1;
    if (draw)
        top_canvas_put(c, row, 0, c->columns, verdict_style, verdict);
    for (size_t i = 0; i < count; i++) {
        char text[64], amount[24];
        snprintf(text, sizeof(text), "%s %s",
                 items[i].n ? items[i].loud
                 : brief    ? items[i].brief
                            : items[i].name,
                 render_profile_si((double)items[i].n, amount, sizeof(amount)));
        unsigned width = top_canvas_width(text);
        if (at + 2 + width > c->columns) {
            at = 0;
            rows++;
        } else {
            at += brief ? 1 : 2;
        }
        if (draw)
            top_canvas_put(c, row + rows - 1, at, c->columns, items[i].n ? items[i].style : TOP_PLAIN, text);
        at += width;
    }
    return rows;
}

/* Draws upwards from the row `bottom`; returns how many rows it takes. */
static unsigned draw_loss(const struct top_view *v, struct top_canvas *c, unsigned bottom)
{
    struct loss l = loss_of(v);
    const struct loss_item items[] = {
        {"lost", "lost", "LOST", l.lost, TOP_LOSS},
        {"drops", "drop", "DROPS", l.drops, TOP_LOSS},
        {"rejected", "rej", "REJECTED", l.rejected, TOP_WARNING},
        {"late", "late", "LATE", l.late, TOP_WARNING},
        {"unknown pcs", "unk", "UNKNOWN PCS", l.unknown, TOP_WARNING},
        {"image warnings", "img", "IMAGE WARNINGS", l.images, TOP_WARNING},
        {"", "", "TABLE FULL", l.overflow + l.coarse, l.overflow ? TOP_LOSS : TOP_WARNING},
    };
    size_t count = sizeof(items) / sizeof(items[0]) - (l.overflow + l.coarse ? 0 : 1);
    bool lossy = l.lost || l.drops || l.overflow;
    bool doubtful = l.rejected || l.late || l.unknown || l.images || l.coarse;
    const char *verdict = !v->report ? "no data:" : lossy ? "LOSS:" : doubtful ? "no loss, but:" : "no loss:";
    enum top_style style = lossy ? TOP_LOSS : doubtful ? TOP_WARNING : TOP_PLAIN;
    bool brief = loss_rows(c, verdict, style, items, count, false, false, 0) > 1;
    unsigned rows = loss_rows(c, verdict, style, items, count, brief, false, 0);
    rows = rows > LOSS_MOST ? LOSS_MOST : rows;
    loss_rows(c, verdict, style, items, count, brief, true, bottom + 1 - rows);
    return rows;
}

/* --- title and views ------------------------------------------------------------------------------------ */

static void draw_title(const struct top_view *v, const struct top_info *info, struct top_canvas *c)
{
    char right[80] = "";
    if (v->paused)
        snprintf(right, sizeof(right), "PAUSED");
    else if (info->silent >= SILENT_LEAST)
        snprintf(right, sizeof(right), "nothing for %.0f s", info->silent);
    else if (info->trouble)
        snprintf(right, sizeof(right), "TROUBLE");
    unsigned taken = right[0] ? top_canvas_width(right) + 1 : 0;
    unsigned room = c->columns > taken ? c->columns - taken : 0;
    char seconds[32] = "";
    if (info->seconds >= 0)
        snprintf(seconds, sizeof(seconds), "  %.0f s", info->seconds);
    if (v->report && c->columns >= 60)
        top_canvas_printf(c, 0, 0, room, TOP_BOLD,
                          "corral top  %.60s%s  %" PRIu64 " samples  %" PRIu64 " sender%s", info->source,
                          seconds, v->report->totals.samples, v->report->totals.sources,
                          v->report->totals.sources == 1 ? "" : "s");
    else
        top_canvas_printf(c, 0, 0, room, TOP_BOLD, "corral top  %.60s%s", info->source, seconds);
    top_canvas_put_right(c, 0, 0, c->columns, TOP_WARNING, right);
}

static void draw_tabs(const struct top_view *v, struct top_canvas *c)
{
    bool names = c->columns >= 80;
    unsigned at = 0;
    for (unsigned i = 0; i < TOP_TABS; i++) {
        char text[32];
        bool chosen = i == (unsigned)v->tab;
        if (chosen)
            snprintf(text, sizeof(text), "[%u %s]", i + 1, tab_names[i]);
        else if (names)
            snprintf(text, sizeof(text), "%u %s", i + 1, tab_names[i]);
        else
            snprintf(text, sizeof(text), "%u", i + 1);
        at += top_canvas_put(c, 1, at, c->columns, chosen ? TOP_SELECTED : TOP_PLAIN, text) + 1;
    }
}

/* What is shown of what there is. */
static void draw_choice(const struct top_view *v, struct top_canvas *c)
{
    const struct top_table *table = top_table_of(v->tab);
    char thread[48] = "", search[TOP_SEARCH_MAX + 32] = "", order[80] = "";
    if (v->thread >= 0)
        snprintf(thread, sizeof(thread), ", only thread %d", v->thread);
    if (v->help || v->details || !table) {
        top_canvas_printf(c, 2, 0, c->columns, TOP_DIM, "%s%s%s",
                          v->help      ? "Keys and words"
                          : v->details ? "Details (Esc goes back)"
                                       : tab_names[v->tab],
                          v->lines > v->page_rows ? ", more below and above with up and down" : "", thread);
        return;
    }
    if (v->search[0])
        snprintf(search, sizeof(search), " with \"%s\"", v->search);
    if (v->sort[v->tab] != TOP_UNSORTED)
        snprintf(order, sizeof(order), ", by %s%s", table->columns[v->sort[v->tab]].title,
                 v->reversed[v->tab] ? " reversed" : "");
    else if (v->reversed[v->tab])
        snprintf(order, sizeof(order), ", reversed");
    char count[64];
    if (v->row_count == v->all_count)
        snprintf(count, sizeof(count), "%zu", v->all_count);
    else
        snprintf(count, sizeof(count), "%zu of %zu", v->row_count, v->all_count);
    top_canvas_printf(c, 2, 0, c->columns, TOP_DIM, "%s: %s%s%s%s", table->what, count, search, thread,
                      order);
}

/* --- tables --------------------------------------------------------------------------------------------- */

/* Widths of the columns; those that are not shown have none. */
static void lay_out(const struct top_table *table, unsigned columns, unsigned width[])
{
    unsigned taken = 0, parts = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct top_column *column = &table->columns[i];
        width[i] = top_column_shown(column, columns) ? column->width : 0;
        if (!top_column_shown(column, columns))
            continue;
        taken += column->width + 1;
        parts += column->width ? 0 : column->part;
    }
    unsigned left = columns > taken ? columns - taken + 1 : 0;
    for (unsigned i = 0; i < table->column_count; i++)
        if (top_column_shown(&table->columns[i], columns) && table->columns[i].width == 0 && parts)
            width[i] = left * table->columns[i].part / parts;
}

#define COLUMNS_MOST 16u

static void draw_row(const struct top_view *v, const struct top_table *table, const unsigned width[],
                     struct top_canvas *c, unsigned row, size_t index, bool chosen)
{
    unsigned at = 0;
    for (unsigned i = 0; i < table->column_count; i++) {
        struct top_value value;
        if (!width[i])
            continue;
        value.text = NULL;
        value.number = 0;
        value.shown[0] = '\0';
        table->cell(v->report, index, i, &value);
        const char *text = value.shown[0] ? value.shown : value.text ? value.text : "";
        if (table->columns[i].tail)
            top_canvas_put_tail(c, row, at, width[i], TOP_PLAIN, text);
        else if (table->columns[i].text)
            top_canvas_put(c, row, at, width[i], TOP_PLAIN, text);
        else
            top_canvas_put_right(c, row, at, width[i], TOP_PLAIN, text);
        at += width[i] + 1;
    }
    if (chosen)
        top_canvas_style_row(c, row, TOP_SELECTED);
}

static void draw_table(struct top_view *v, struct top_canvas *c, unsigned row, unsigned height)
{
    const struct top_table *table = top_table_of(v->tab);
    unsigned width[COLUMNS_MOST] = {0}, at = 0;
    size_t *cursor = &v->cursor[v->tab], *first = &v->first[v->tab];
    lay_out(table, c->columns, width);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct top_column *column = &table->columns[i];
        if (!width[i])
            continue;
        enum top_style style = (int)i == v->sort[v->tab] ? TOP_SELECTED : TOP_HEADING;
        if (column->text)
            top_canvas_put(c, row, at, width[i], style, column->title);
        else
            top_canvas_put_right(c, row, at, width[i], style, column->title);
        at += width[i] + 1;
    }
    v->page_rows = height > 1 ? height - 1 : 0;
    if (*cursor >= v->row_count)
        *cursor = v->row_count ? v->row_count - 1 : 0;
    if (*first > *cursor)
        *first = *cursor;
    if (v->page_rows && *cursor - *first >= v->page_rows)
        *first = *cursor - v->page_rows + 1;
    if (*first + v->page_rows > v->row_count) /* fill the screen where there is enough */
        *first = v->row_count > v->page_rows ? v->row_count - v->page_rows : 0;
    for (size_t i = 0; i < v->page_rows && *first + i < v->row_count; i++)
        draw_row(v, table, width, c, row + 1 + (unsigned)i, v->rows[*first + i], *first + i == *cursor);
    if (v->row_count == 0 && v->page_rows)
        top_canvas_put(c, row + 1, 0, c->columns, TOP_PLAIN,
                       !v->all_count ? "none" : "none has that in its name");
}

/* --- pages ---------------------------------------------------------------------------------------------- */

static void draw_page(struct top_view *v, struct top_canvas *c, unsigned row, unsigned height)
{
    size_t *first = v->help || v->details ? &v->overlay_first : &v->cursor[v->tab];
    v->page_rows = height;
    for (unsigned shown = 0;; shown = height) { /* first only to count its lines: it ends somewhere */
        struct top_page page = {.canvas = c, .row = row, .height = shown, .first = *first};
        if (v->help)
            top_page_help(&page);
        else if (v->details)
            top_page_details(&page, v->report, &v->chosen);
        else if (v->report)
            top_page_of(&page, v->report, v->remarks, v->tab);
        else
            top_page_line(&page, TOP_PLAIN, "nothing came yet");
        if (shown == height)
            return;
        v->lines = page.lines;
        size_t last = page.lines > height ? page.lines - height : 0;
        *first = *first > last ? last : *first;
    }
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static void draw_bottom(const struct top_view *v, const struct top_info *info, struct top_canvas *c)
{
    unsigned row = c->rows - 1;
    if (v->searching)
        top_canvas_printf(c, row, 0, c->columns, TOP_BOLD, "/%s_", v->search);
    else if (info->trouble)
        top_canvas_put(c, row, 0, c->columns, TOP_WARNING, info->trouble);
    else if (info->said)
        top_canvas_put(c, row, 0, c->columns, TOP_BOLD, info->said);
    else if (c->columns >= 76)
        top_canvas_put(c, row, 0, c->columns, TOP_DIM,
                       "? help  Tab view  Enter details  < > sort  / search  t thread  p pause  q quit");
    else
        top_canvas_put(c, row, 0, c->columns, TOP_DIM, "? help  Tab  Enter  < >  /  t  p  r  q");
}

/* Too small for a view, but not for saying so, nor for what is lost. */
static void draw_small(const struct top_view *v, struct top_canvas *c)
{
    struct loss l = loss_of(v);
    char amount[24];
    top_canvas_printf(c, 0, 0, c->columns, TOP_BOLD, "At least %ux%u, please", TOP_LEAST_COLUMNS,
                      TOP_LEAST_ROWS);
    top_canvas_printf(c, 1, 0, c->columns, TOP_PLAIN, "(this is %ux%u; q ends)", c->columns, c->rows);
    top_canvas_printf(c, 2, 0, c->columns, l.lost + l.drops ? TOP_LOSS : TOP_PLAIN, "%s %s",
                      l.lost + l.drops ? "LOST" : "lost",
                      render_profile_si((double)l.lost + (double)l.drops, amount, sizeof(amount)));
}

bool top_view_draw(struct top_view *v, const struct top_info *info, struct top_canvas *c, unsigned rows,
                   unsigned columns)
{
    if (!top_canvas_begin(c, rows, columns))
        return false;
    v->columns = c->columns;
    if (c->rows < TOP_LEAST_ROWS || c->columns < TOP_LEAST_COLUMNS) {
        draw_small(v, c);
        return true;
    }
    bool table = top_table_of(v->tab) && !v->help && !v->details;
    if (table && !top_rows_prepare(v))
        return false;
    draw_title(v, info, c);
    draw_tabs(v, c);
    unsigned loss = draw_loss(v, c, c->rows - 2);
    unsigned height = c->rows - HEAD_ROWS - loss - 1;
    if (table)
        draw_table(v, c, HEAD_ROWS, height);
    else
        draw_page(v, c, HEAD_ROWS, height);
    draw_choice(v, c);
    draw_bottom(v, info, c);
    return true;
}
