/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes and entries of a Chrome trace ("Trace Event Format": complete events X, instants i, metadata M).
 * Slices are complete events, so each is closed by construction; slices of one lane must not overlap, which
 * the caller sees to. Times are microseconds with three decimals: the nanoseconds as they are, not through a
 * double.
 */
#include "export/export_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/export_file.h"

#define PROCESS 1 /* one target; viewers group lanes by process */

json_t *export_trace_string(const char *text)
{
    json_t *string = json_string(text);
    if (string)
        return string;
    size_t size = strlen(text);
    char *clean = malloc(TEXT_CLEAN_MAX(size));
    if (clean) {
        text_escape((const uint8_t *)text, size, clean, TEXT_CLEAN_MAX(size));
        string = json_string(clean);
    }
    free(clean);
    return string;
}

uint32_t export_trace_lane(struct export_trace *t, const char *name)
{
    for (size_t i = 0; i < t->lane_count; i++)
        if (strcmp(t->lanes[i], name) == 0)
            return (uint32_t)i;
    if (t->lane_count == EXPORT_TRACE_MAX_LANES)
        return EXPORT_TRACE_MAX_LANES - 1;
    char *copy = strdup(t->lane_count == EXPORT_TRACE_MAX_LANES - 1 ? "others" : name);
    if (!copy)
        return t->lane_count ? (uint32_t)t->lane_count - 1 : 0;
    t->lanes[t->lane_count++] = copy;
    return (uint32_t)t->lane_count - 1;
}

static bool grow(struct export_trace *t)
{
    if (t->count < t->room)
        return true;
    size_t room = t->room ? t->room * 2 : 1024;
    struct export_trace_entry *more = realloc(t->entries, room * sizeof(*more));
    if (!more)
        return false;
    t->entries = more;
    t->room = room;
    return true;
}

void export_trace_see(struct export_trace *t, int64_t ns)
{
    if (!t->has_time || ns < t->first_ns)
        t->first_ns = ns;
    if (!t->has_time || ns > t->last_ns)
        t->last_ns = ns;
    t->has_time = true;
}

static struct export_trace_entry *add(struct export_trace *t, struct export_trace_entry entry,
                                      const char *name, const char *colour, json_t *args)
{
    bool fits = t->count < EXPORT_TRACE_MAX_ENTRIES && grow(t);
    json_t *fields = fits ? json_object() : NULL;
    export_trace_see(t, entry.ns);
    if (fields) {
        json_object_set_new(fields, "name", export_trace_string(name));
        if (colour)
            json_object_set_new(fields, "cname", json_string(colour));
        if (args)
            json_object_set(fields, "args", args);
        entry.text = json_dumps(fields, JSON_COMPACT | JSON_EMBED);
    }
    json_decref(fields);
    json_decref(args);
    if (!entry.text) {
        t->left_out++;
        return NULL;
    }
    entry.order = (uint32_t)t->count;
    t->entries[t->count] = entry;
    return &t->entries[t->count++];
}

void export_trace_slice(struct export_trace *t, uint32_t lane, int64_t ns, int64_t end_ns, const char *name,
                        const char *colour, json_t *args)
{
    int64_t duration = end_ns > ns ? end_ns - ns : 0;
    add(t, (struct export_trace_entry){.ns = ns, .duration_ns = duration, .lane = lane}, name, colour, args);
    export_trace_see(t, ns + duration);
}

struct export_trace_entry *export_trace_instant(struct export_trace *t, uint32_t lane, int64_t ns,
                                                const char *name, const char *colour, json_t *args)
{
    return add(t, (struct export_trace_entry){.ns = ns, .duration_ns = -1, .lane = lane}, name, colour, args);
}

/* By lane, then time; slices before the instants in them; else as they came. */
static int compare(const void *a, const void *b)
{
    const struct export_trace_entry *x = a;
    const struct export_trace_entry *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    bool x_instant = x->duration_ns < 0;
    bool y_instant = y->duration_ns < 0;
    if (x_instant != y_instant)
        return x_instant ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void put_us(FILE *out, const char *key, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    fprintf(out, "\"%s\":%s%" PRIu64 ".%03u,", key, ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
}

/* Lanes stand in the order of their names, whoever spoke first. */
static size_t rank(const struct export_trace *t, size_t lane)
{
    size_t before = 0;
    for (size_t i = 0; i < t->lane_count; i++)
        before += strcmp(t->lanes[i], t->lanes[lane]) < 0;
    return before;
}

static void put_metadata(FILE *out, const struct export_trace *t)
{
    fprintf(out,
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"target\"}}",
            PROCESS);
    for (size_t i = 0; i < t->lane_count; i++) {
        fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%zu,\"name\":\"thread_name\",\"args\":{\"name\":",
                PROCESS, i + 1);
        export_file_json_string(out, t->lanes[i]);
        fprintf(out,
                "}},\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%zu,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
                "index\":%zu}}",
                PROCESS, i + 1, rank(t, i));
    }
}

void export_trace_write(struct export_trace *t, FILE *out)
{
    if (t->count)
        qsort(t->entries, t->count, sizeof(*t->entries), compare);
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"corral " CORRAL_VERSION
          "\"},\"traceEvents\":[\n",
          out);
    put_metadata(out, t);
    for (size_t i = 0; i < t->count; i++) {
        const struct export_trace_entry *e = &t->entries[i];
        bool instant = e->duration_ns < 0;
        fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u,", instant ? "i" : "X", PROCESS, e->lane + 1);
        put_us(out, "ts", e->ns);
        if (instant)
            fputs("\"s\":\"t\",", out);
        else
            put_us(out, "dur", e->duration_ns);
        fprintf(out, "%s}", e->text);
    }
    if (t->left_out) {
        fprintf(out, ",\n{\"ph\":\"i\",\"pid\":%d,\"tid\":0,", PROCESS);
        put_us(out, "ts", t->last_ns);
        fprintf(out,
                "\"s\":\"g\",\"name\":\"lost %" PRIu64
                "\",\"cname\":\"terrible\",\"args\":{\"reason\":\"timeline full\"}}",
                t->left_out);
    }
    fputs("\n]}\n", out);
}

void export_trace_free(struct export_trace *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->entries[i].text);
    for (size_t i = 0; i < t->lane_count; i++)
        free(t->lanes[i]);
    free(t->entries);
    *t = (struct export_trace){.entries = NULL};
}
