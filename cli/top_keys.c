/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys of `corral top` do (top_view.h, corral-top(1)). */
#include <string.h>

#include "base/host_clock.h"
#include "cli/top_state.h"

#define CTRL(letter)  ((letter)&0x1f)
#define KEY_ESCAPE    0x1b
#define KEY_DELETE    0x7f
#define THREAD_WAIT   (2 * NS_PER_S) /* how long a digit behind `t` still belongs to it */
#define HIGHEST_DIGIT 9

static void scroll(struct top_view *v, bool down, size_t by)
{
    size_t *at = v->help || v->details ? &v->overlay_first : &v->cursor[v->tab];
    if (down)
        *at = by > SIZE_MAX / 2 - *at ? SIZE_MAX / 2 : *at + by; /* drawing cuts it to what there is */
    else
        *at = *at > by ? *at - by : 0;
}

static bool scroll_key(struct top_view *v, uint32_t key)
{
    size_t page = v->page_rows > 1 ? v->page_rows - 1 : 1;
    switch (key) {
    case TOP_KEY_UP:
    case 'k':
        scroll(v, false, 1);
        return true;
    case TOP_KEY_DOWN:
    case 'j':
        scroll(v, true, 1);
        return true;
    case TOP_KEY_PAGE_UP:
    case CTRL('b'):
        scroll(v, false, page);
        return true;
    case TOP_KEY_PAGE_DOWN:
    case CTRL('f'):
        scroll(v, true, page);
        return true;
    case TOP_KEY_HOME:
        scroll(v, false, SIZE_MAX / 2);
        return true;
    case TOP_KEY_END:
        scroll(v, true, SIZE_MAX / 2);
        return true;
    default:
        return false;
    }
}

static void go_to(struct top_view *v, unsigned tab)
{
    v->tab = (enum top_tab)(tab % TOP_TABS);
    v->help = v->details = false;
    v->rows_good = false;
}

/* --- choosing a thread ---------------------------------------------------------------------------------- */

static bool has_thread(const struct top_view *v, int thread)
{
    for (size_t i = 0; v->report && i < v->report->thread_count; i++)
        if ((int)v->report->threads[i].thread == thread && v->report->threads[i].samples)
            return true;
    return false;
}

static enum top_action next_thread(struct top_view *v, int64_t now)
{
    int next = v->thread + 1;
    while (next < (int)PROFILE_MAX_THREADS && !has_thread(v, next))
        next++;
    v->thread = next < (int)PROFILE_MAX_THREADS ? next : -1;
    v->thread_typed = now;
    v->thread_digit = false;
    return TOP_THREAD;
}

/* A digit behind `t`, or a second one: 1 then 2 is thread 12. */
static bool thread_digit(struct top_view *v, uint32_t key, int64_t now)
{
    int digit = (int)key - '0';
    if (v->thread_typed == TOP_NO_TIME || now - v->thread_typed > THREAD_WAIT || key < '0' || key > '9')
        return false;
    int both = v->thread * 10 + digit;
    if (v->thread_digit && (v->thread <= 0 || v->thread > HIGHEST_DIGIT || both >= (int)PROFILE_MAX_THREADS))
        return false;
    v->thread = v->thread_digit ? both : digit;
    v->thread_digit = true;
    v->thread_typed = now;
    return true;
}

/* --- searching ------------------------------------------------------------------------------------------ */

static void search_add(struct top_view *v, uint32_t code)
{
    size_t used = strlen(v->search);
    char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000) ||
        code > 0x10ffff || used + n >= sizeof(v->search))
        return;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[n] | code);
    memcpy(v->search + used, bytes, n);
    v->search[used + n] = '\0';
}

static void search_cut(struct top_view *v)
{
    size_t used = strlen(v->search);
    while (used && ((unsigned char)v->search[used - 1] & 0xc0) == 0x80)
        used--;
    v->search[used ? used - 1 : 0] = '\0';
}

static void search_key(struct top_view *v, uint32_t key)
{
    switch (key) {
    case KEY_ESCAPE:
        v->search[0] = '\0';
        v->searching = false;
        break;
    case '\r':
    case '\n':
        v->searching = false;
        break;
    case TOP_KEY_BACKSPACE:
    case KEY_DELETE:
    case CTRL('h'):
        search_cut(v);
        break;
    case CTRL('u'):
        v->search[0] = '\0';
        break;
    default:
        search_add(v, key);
    }
    v->rows_good = false;
    v->cursor[v->tab] = 0;
}

/* --- sorting -------------------------------------------------------------------------------------------- */

/* To the next or last column that is in sight; beyond them is the report's own order. */
static void sort_by(struct top_view *v, bool forward)
{
    const struct top_table *table = top_table_of(v->tab);
    if (!table)
        return;
    int column = v->sort[v->tab], last = (int)table->column_count;
    do {
        column += forward ? 1 : -1;
        if (column == last)
            column = TOP_UNSORTED;
        if (column < TOP_UNSORTED)
            column = last - 1;
    } while (column != TOP_UNSORTED && !top_column_shown(&table->columns[column], v->columns));
    v->sort[v->tab] = column;
    v->reversed[v->tab] = false;
    v->rows_good = false;
}

/* --- all keys ------------------------------------------------------------------------------------------- */

static void choose(struct top_view *v)
{
    if (v->help || v->details || !top_table_of(v->tab) || !v->report || !top_rows_prepare(v) || !v->row_count)
        return;
    size_t at = v->cursor[v->tab] < v->row_count ? v->cursor[v->tab] : v->row_count - 1;
    top_choose(v->report, v->tab, v->rows[at], &v->chosen);
    v->details = true;
    v->overlay_first = 0;
}

static void back(struct top_view *v)
{
    if (v->help || v->details) {
        v->help ? (v->help = false) : (v->details = false);
        v->overlay_first = 0;
    } else if (v->search[0]) {
        v->search[0] = '\0';
        v->rows_good = false;
    }
}

static enum top_action command(struct top_view *v, uint32_t key, int64_t now)
{
    switch (key) {
    case 'q':
    case 'Q':
        return TOP_QUIT;
    case '?':
    case 'h':
        v->help = !v->help;
        v->overlay_first = 0;
        return TOP_NOTHING;
    case ' ':
    case 'p':
        v->paused = !v->paused;
        return TOP_PAUSE;
    case 'r':
        return TOP_RESET;
    case 't':
        return next_thread(v, now);
    case '/':
        v->searching = top_table_of(v->tab) && !v->help && !v->details;
        return TOP_NOTHING;
    case '>':
    case 's':
        sort_by(v, true);
        return TOP_NOTHING;
    case '<':
        sort_by(v, false);
        return TOP_NOTHING;
    case 'S':
        v->reversed[v->tab] = !v->reversed[v->tab];
        v->rows_good = false;
        return TOP_NOTHING;
    case '\r':
    case '\n':
        choose(v);
        return TOP_NOTHING;
    case KEY_ESCAPE:
    case TOP_KEY_BACKSPACE:
    case KEY_DELETE:
        back(v);
        return TOP_NOTHING;
    case CTRL('l'):
        return TOP_REPAINT;
    case '\t':
    case TOP_KEY_RIGHT:
        go_to(v, v->tab + 1u);
        return TOP_NOTHING;
    case TOP_KEY_BACKTAB:
    case TOP_KEY_LEFT:
        go_to(v, v->tab + TOP_TABS - 1u);
        return TOP_NOTHING;
    default:
        if (key >= '1' && key < '1' + TOP_TABS)
            go_to(v, key - '1');
        return TOP_NOTHING;
    }
}

enum top_action top_view_key(struct top_view *v, uint32_t key, int64_t now)
{
    if (v->searching) {
        search_key(v, key);
        return TOP_NOTHING;
    }
    if (thread_digit(v, key, now))
        return TOP_THREAD;
    v->thread_typed = TOP_NO_TIME;
    if (scroll_key(v, key))
        return TOP_NOTHING;
    return command(v, key, now);
}
