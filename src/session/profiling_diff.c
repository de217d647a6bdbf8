/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two profiles (profiling_diff.h). A saved report is a file like any other: checked, bounded. */
#include "session/profiling_diff.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/profiling_remarks.h"

#define MAX_FUNCTIONS (1u << 20)
#define MOST_MEMORY   (UINT64_C(2) << 30) /* that reading a report may take */

struct side_function {
    char *name, *file; /* file NULL = not known; its last part only */
    uint64_t self;
};

struct profiling_side {
    char *label;
    struct profiling_side_totals totals;
    size_t count;
    struct side_function *functions; /* by name, then file; each once */
};

void profiling_side_free(struct profiling_side *side)
{
    if (!side)
        return;
    for (size_t i = 0; i < side->count; i++) {
        free(side->functions[i].name);
        free(side->functions[i].file);
    }
    free(side->functions);
    free(side->label);
    free(side);
}

void profiling_side_totals(const struct profiling_side *side, struct profiling_side_totals *totals)
{
    *totals = side->totals;
    totals->label = side->label;
}

/* --- making a side -------------------------------------------------------------------------------------- */

static struct profiling_side *new_side(const char *label, size_t room, struct diag *d)
{
    struct profiling_side *side = calloc(1, sizeof(*side));
    if (side) {
        side->label = strdup(label);
        side->functions = calloc(room + 1, sizeof(*side->functions));
    }
    if (side && side->label && side->functions)
        return side;
    profiling_side_free(side);
    diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return NULL;
}

/* Builds of one program in different folders are to be comparable. */
static bool add_function(struct profiling_side *side, const char *name, const char *file, uint64_t self)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    struct side_function *f = &side->functions[side->count++];
    *f = (struct side_function){.name = strdup(name), .self = self};
    if (file)
        f->file = strdup(slash ? slash + 1 : file);
    return f->name && (!file || f->file);
}

static int compare_names(const struct side_function *x, const struct side_function *y)
{
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static int by_name(const void *a, const void *b)
{
    return compare_names(a, b);
}

/* Senders and processes that have the same function are one. */
static void merge(struct profiling_side *side)
{
    size_t kept = 0;
    qsort(side->functions, side->count, sizeof(*side->functions), by_name);
    for (size_t i = 0; i < side->count; i++) {
        struct side_function *f = &side->functions[i];
        if (kept && compare_names(&side->functions[kept - 1], f) == 0) {
            side->functions[kept - 1].self += f->self;
            free(f->name);
            free(f->file);
        } else {
            side->functions[kept++] = *f;
        }
    }
    side->count = kept;
}

struct profiling_side *profiling_side_of_report(const char *label, const struct prof_report *report,
                                                struct diag *d)
{
    struct profiling_side *side = new_side(label, report->function_count, d);
    if (!side)
        return NULL;
    side->totals = (struct profiling_side_totals){
        .packets = report->totals.packets,
        .samples = report->totals.samples,
        .active_samples = report->totals.active_samples,
        .lost = report->totals.lost,
        .loss = profiling_loss(report),
    };
    for (size_t i = 0; i < report->function_count; i++) {
        const struct prof_report_function *f = &report->functions[i];
        if (!add_function(side, f->frame.name, f->frame.file, f->self)) {
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
            profiling_side_free(side);
            return NULL;
        }
    }
    merge(side);
    return side;
}

/* --- a saved report ------------------------------------------------------------------------------------- */

static bool get_count(const json_t *object, const char *key, uint64_t *out)
{
    const json_t *value = json_object_get(object, key);
    json_int_t n = json_integer_value(value);
    *out = n > 0 ? (uint64_t)n : 0;
    return json_is_integer(value) && n >= 0;
}

static bool read_totals(const json_t *root, struct profiling_side_totals *t)
{
    const json_t *totals = json_object_get(root, "totals");
    const char *kind = json_string_value(json_object_get(root, "kind"));
    return kind && strcmp(kind, "profile-report") == 0 && get_count(totals, "packets", &t->packets) &&
           get_count(totals, "samples", &t->samples) &&
           get_count(totals, "active_samples", &t->active_samples) && get_count(totals, "lost", &t->lost) &&
           get_count(json_object_get(root, "losses"), "loss", &t->loss);
}

static struct profiling_side *read_side(const char *label, const json_t *root, struct diag *d)
{
    const json_t *list = json_object_get(root, "functions");
    size_t n = json_array_size(list);
    struct profiling_side_totals totals = {.packets = 0};
    bool good = read_totals(root, &totals) && json_is_array(list) && n <= MAX_FUNCTIONS;
    struct profiling_side *side = good ? new_side(label, n, d) : NULL;
    if (good && !side)
        return NULL;
    if (side)
        side->totals = totals;
    uint64_t sum = 0, self;
    for (size_t i = 0; i < n && good; i++) {
        const json_t *f = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(f, "function"));
        good = name && get_count(f, "self", &self) && self <= totals.active_samples - sum &&
               add_function(side, name, json_string_value(json_object_get(f, "file")), self);
        sum += good ? self : 0;
    }
    if (good) {
        merge(side);
        return side;
    }
    profiling_side_free(side);
    diag_set(d, CORRAL_ERR_FORMAT, "'%.200s' is no report of 'corral --json profile'", label);
    diag_hint(d, "--diff takes capture files and reports that were saved with --json");
    return NULL;
}

/* What the text becomes in memory, by its brackets and commas: "{}," is 3 bytes there and 200 here. A bound,
 * not a measure; whether it is JSON is found out later. */
static uint64_t memory_of(const char *json, size_t size)
{
    uint64_t sum = size;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (quoted && json[i] == '\\')
            i++;
        else if (json[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            sum += json[i] == '{' ? 224 : json[i] == '[' ? 128 : json[i] == ',' ? 96 : 0;
    }
    return sum;
}

struct profiling_side *profiling_side_of_json(const char *label, const char *json, size_t size,
                                              struct diag *d)
{
    json_error_t why;
    if (memory_of(json, size) > MOST_MEMORY) {
        diag_set(d, CORRAL_ERR_LIMIT, "'%.200s' is too large a report to be compared", label);
        return NULL;
    }
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &why);
    if (!root) {
        diag_set(d, CORRAL_ERR_FORMAT, "'%.150s' is no JSON: line %d: %.100s", label, why.line, why.text);
        return NULL;
    }
    struct profiling_side *side = read_side(label, root, d);
    json_decref(root);
    return side;
}

/* --- the comparison ------------------------------------------------------------------------------------- */

static double ratio(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

static void test_row(struct profiling_diff_row *row, uint64_t all_a, uint64_t all_b)
{
    double na = (double)all_a, nb = (double)all_b;
    row->share_a = ratio(row->count_a, all_a);
    row->share_b = ratio(row->count_b, all_b);
    row->difference = row->share_b - row->share_a;
    if (all_a == 0 || all_b == 0)
        return;
    row->error = sqrt(row->share_a * (1 - row->share_a) / na + row->share_b * (1 - row->share_b) / nb);
    double pooled = ((double)row->count_a + (double)row->count_b) / (na + nb);
    double rarer = smaller(pooled, 1 - pooled);
    double spread = sqrt(pooled * (1 - pooled) * (1 / na + 1 / nb));
    row->tested = rarer * smaller(na, nb) >= PROFILING_DIFF_LEAST && spread > 0;
    if (!row->tested)
        return;
    row->z = row->difference / spread;
    row->p = erfc(fabs(row->z) / sqrt(2.0));
}

static int by_p(const void *a, const void *b)
{
    const struct profiling_diff_row *x = a, *y = b;
    if (x->tested != y->tested)
        return x->tested ? -1 : 1;
    return (x->p > y->p) - (x->p < y->p);
}

/* Holm: the smallest p against alpha / m, the next against alpha / (m - 1), until one does not pass. */
static void correct(struct profiling_diff *diff)
{
    qsort(diff->rows, diff->count, sizeof(*diff->rows), by_p);
    for (size_t i = 0; i < diff->count; i++)
        diff->tests += diff->rows[i].tested;
    for (size_t i = 0; i < diff->tests; i++) {
        if (diff->rows[i].p > (1 - PROFILING_DIFF_CONFIDENCE) / (double)(diff->tests - i))
            return;
        diff->rows[i].significant = true;
    }
}

static int for_display(const void *a, const void *b)
{
    const struct profiling_diff_row *x = a, *y = b;
    double dx = fabs(x->difference), dy = fabs(y->difference);
    if (x->significant != y->significant)
        return x->significant ? -1 : 1;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static void join(struct profiling_diff *diff, const struct profiling_side *a, const struct profiling_side *b)
{
    size_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : compare_names(&a->functions[i], &b->functions[k]);
        const struct side_function *f = order <= 0 ? &a->functions[i] : &b->functions[k];
        struct profiling_diff_row *row = &diff->rows[diff->count++];
        *row = (struct profiling_diff_row){.name = f->name, .file = f->file};
        if (order <= 0)
            row->count_a = a->functions[i++].self;
        if (order >= 0)
            row->count_b = b->functions[k++].self;
        test_row(row, a->totals.active_samples, b->totals.active_samples);
    }
}

struct profiling_diff *profiling_diff_make(const struct profiling_side *a, const struct profiling_side *b,
                                           struct diag *d)
{
    struct profiling_diff *diff = calloc(1, sizeof(*diff));
    if (diff)
        diff->rows = calloc(a->count + b->count + 1, sizeof(*diff->rows));
    if (!diff || !diff->rows) {
        profiling_diff_free(diff);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    join(diff, a, b);
    correct(diff);
    qsort(diff->rows, diff->count, sizeof(*diff->rows), for_display);
    return diff;
}

void profiling_diff_free(struct profiling_diff *diff)
{
    if (!diff)
        return;
    free(diff->rows);
    free(diff);
}
