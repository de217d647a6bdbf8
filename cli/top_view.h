/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `corral top` shows and what its keys do, without a terminal: a report, a state and a size in, cells
 * out. Every number is the report's. Loss is in sight in every view.
 */
#ifndef CORRAL_CLI_TOP_VIEW_H
#define CORRAL_CLI_TOP_VIEW_H

#include "cli/top_canvas.h"
#include "prof/report.h"
#include "session/profiling_remarks.h"

#define TOP_LEAST_COLUMNS 40u
#define TOP_LEAST_ROWS    10u
#define TOP_SEARCH_MAX    64u

enum top_tab {
    TOP_SUMMARY,
    TOP_THREADS,
    TOP_FUNCTIONS,
    TOP_HOT,
    TOP_COUNTERS,
    TOP_MEMORY,
    TOP_LATENCY,
    TOP_LOSSES,
    TOP_TABS
};

/* Keys that are no code points. */
enum top_key {
    TOP_KEY_UP = 0x110000,
    TOP_KEY_DOWN,
    TOP_KEY_LEFT,
    TOP_KEY_RIGHT,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_BACKSPACE,
    TOP_KEY_BACKTAB,
};

/* What a key asks of the one who collects. */
enum top_action { TOP_NOTHING, TOP_QUIT, TOP_RESET, TOP_PAUSE, TOP_THREAD, TOP_REPAINT };

/* What the report cannot know. */
struct top_info {
    const char *source;  /* "UDP 127.0.0.1:51080" */
    double seconds;      /* since the beginning; < 0 = a file */
    double silent;       /* seconds since anything came; < 0 = that is no matter (a file) */
    const char *trouble; /* why nothing comes, or NULL */
    const char *said;    /* an answer to the last key, or NULL */
};

struct top_view;

struct top_view *top_view_new(void);
void top_view_free(struct top_view *v);
/* Borrowed until the next call. NULL = none yet. */
void top_view_set_report(struct top_view *v, const struct prof_report *report,
                         const struct profiling_remarks *remarks);
/* A code point or enum top_key, at a time in ns. */
enum top_action top_view_key(struct top_view *v, uint32_t key, int64_t now);
void top_view_set_thread(struct top_view *v, int thread);
int top_view_thread(const struct top_view *v); /* -1 = all */
bool top_view_paused(const struct top_view *v);
/* Draws on a canvas of this size. False when memory is out. */
bool top_view_draw(struct top_view *v, const struct top_info *info, struct top_canvas *c, unsigned rows,
                   unsigned columns);

#endif
