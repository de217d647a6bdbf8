/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of a table `corral top` shows, and in what order: once a report, not once a drawing
 * (top_state.h). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/top_state.h"

struct key {
    size_t row;
    const char *text;
    double number;
};

struct order {
    bool text, reversed;
};

static int compare(const void *a, const void *b, void *ctx)
{
    const struct key *x = a, *y = b;
    const struct order *o = ctx;
    int by = o->text && x->text && y->text ? strcasecmp(x->text, y->text) : 0;
    if (by == 0 && x->number != y->number)
        by = (x->number < y->number) == o->text ? -1 : 1; /* numbers: the biggest first */
    if (by)
        return o->reversed ? -by : by;
    return x->row < y->row ? -1 : x->row > y->row; /* as the report has them */
}

/* Does `name` hold `part`, upper and lower case being the same? */
static bool holds(const char *name, const char *part)
{
    size_t n = strlen(part);
    if (n == 0)
        return true;
    for (; *name; name++)
        if (strncasecmp(name, part, n) == 0)
            return true;
    return false;
}

static bool sort_rows(struct top_view *v, const struct top_table *table, unsigned column)
{
    struct order order = {.text = table->columns[column].text, .reversed = v->reversed[v->tab]};
    struct key *keys = malloc((v->row_count + 1) * sizeof(*keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < v->row_count; i++) {
        struct top_value value;
        value.text = NULL;
        value.number = 0;
        value.shown[0] = '\0';
        table->cell(v->report, v->rows[i], column, &value);
        keys[i] = (struct key){.row = v->rows[i], .text = value.text, .number = value.number};
    }
    qsort_r(keys, v->row_count, sizeof(*keys), compare, &order);
    for (size_t i = 0; i < v->row_count; i++)
        v->rows[i] = keys[i].row;
    free(keys);
    return true;
}

bool top_rows_prepare(struct top_view *v)
{
    const struct top_table *table = top_table_of(v->tab);
    if (v->rows_good && v->rows_tab == v->tab)
        return true;
    v->all_count = v->report && table ? table->count(v->report) : 0;
    v->row_count = 0;
    size_t *rows = realloc(v->rows, (v->all_count + 1) * sizeof(*rows));
    if (!rows)
        return false;
    v->rows = rows;
    for (size_t i = 0; i < v->all_count; i++)
        if (holds(table->name(v->report, i), v->search))
            rows[v->row_count++] = i;
    if (v->row_count && (v->sort[v->tab] != TOP_UNSORTED || v->reversed[v->tab])) {
        if (v->sort[v->tab] != TOP_UNSORTED) {
            if (!sort_rows(v, table, (unsigned)v->sort[v->tab]))
                return false;
        } else {
            for (size_t i = 0; i < v->row_count / 2; i++) {
                size_t other = rows[i];
                rows[i] = rows[v->row_count - 1 - i];
                rows[v->row_count - 1 - i] = other;
            }
        }
    }
    v->rows_tab = v->tab;
    v->rows_good = true;
    return true;
}

bool top_column_shown(const struct top_column *column, unsigned columns)
{
    return columns >= column->least;
}
