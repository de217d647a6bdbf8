/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for programs (render_profile.h): one document, whose fields docs/man/corral-profile.1 lists. All
 * functions are in it, whatever the text shows of them, so that it can be compared later (--diff). What is
 * not known or not reported is null; no number is made up for it.
 */
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "cli/render_profile.h"

static json_t *number(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* null unless it is known: not below 0. */
static json_t *known(double value)
{
    return value >= 0 ? real(value) : json_null();
}

/* Text from outside is valid UTF-8 by the time it is here; what is not must not make the document vanish. */
static json_t *text(const char *value)
{
    json_t *string = value ? json_string(value) : json_null();
    return string ? string : json_string("?");
}

static json_t *nonzero(uint64_t n)
{
    return n ? number(n) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value); /* takes NULL for an error, which the end finds */
}

/* --- losses --------------------------------------------------------------------------------------------- */

/* By reason, those that there were. */
static json_t *rejected_json(const struct prof_totals *t)
{
    json_t *o = json_object();
    for (unsigned i = 0; i < PROF_REASONS; i++)
        if (t->rejected_by[i])
            set(o, prof_reason_name((enum prof_reason)i), number(t->rejected_by[i]));
    return o;
}

static json_t *totals_json(const struct prof_totals *t)
{
    json_t *o = json_object();
    set(o, "packets", number(t->packets));
    set(o, "samples", number(t->samples));
    set(o, "active_samples", number(t->active_samples));
    set(o, "lost", number(t->lost));
    set(o, "duplicates", number(t->duplicates));
    set(o, "late", number(t->late));
    set(o, "restarts", number(t->restarts));
    set(o, "idle_steps", number(t->idle_steps));
    set(o, "rejected", number(t->rejected));
    set(o, "bad_samples", number(t->bad_samples));
    set(o, "sources", number(t->sources));
    set(o, "evicted_sources", number(t->evicted));
    set(o, "frequency_swapped", number(t->frequency_swapped));
    set(o, "frequency_disagrees", number(t->frequency_disagrees));
    set(o, "empty", number(t->empty));
    set(o, "trailing", number(t->trailing));
    set(o, "counters_packets", number(t->counters_packets));
    set(o, "maps_packets", number(t->maps_packets));
    set(o, "rejected_by", rejected_json(t));
    return o;
}

static json_t *losses_json(const struct prof_report *report, const struct render_profile_source *source)
{
    json_t *o = json_object();
    uint64_t overflow = 0;
    for (size_t i = 0; i < report->source_count; i++)
        overflow += report->sources[i].overflow;
    set(o, "loss", number(profiling_loss(report) + source->damaged_files + source->events_dropped));
    set(o, "packets", number(report->totals.lost));
    set(o, "packets_share", real(profiling_lost_share(&report->totals)));
    set(o, "kernel_drops", number(report->kernel_drops));
    set(o, "samples_without_place", number(overflow));
    set(o, "foreign", number(report->foreign));
    set(o, "events_dropped", number(source->events_dropped));
    set(o, "damaged_files", source->files ? number(source->damaged_files) : json_null());
    set(o, "cut_frames", source->files ? number(source->files->cut) : json_null());
    set(o, "fragments", source->files ? number(source->files->fragments) : json_null());
    return o;
}

static json_t *remarks_json(const struct profiling_remarks *remarks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < remarks->count; i++) {
        const struct profiling_remark *m = &remarks->list[i];
        json_t *o = json_object();
        set(o, "weight", text(profiling_weight_name(m->weight)));
        set(o, "code", text(m->code));
        set(o, "source", m->source < 0 ? json_null() : json_integer(m->source));
        set(o, "text", text(m->text));
        json_array_append_new(list, o);
    }
    return list;
}

/* --- senders -------------------------------------------------------------------------------------------- */

static json_t *pool_json(const struct prof_report_pool *p)
{
    json_t *o = p->known ? json_object() : json_null();
    if (p->known) {
        set(o, "free", number(p->free));
        set(o, "low_water", number(p->low_water));
    }
    return o;
}

static json_t *timing_json(const struct prof_report_timing *t)
{
    if (!t->known)
        return json_null();
    json_t *o = json_object();
    set(o, "sequence", number(t->sequence));
    set(o, "interval_s", number(t->interval_s));
    set(o, "worst_clocks", number(t->worst_clocks));
    set(o, "average_clocks", number(t->average_clocks));
    set(o, "count", number(t->count));
    set(o, "address", number(t->function));
    set(o, "function", text(t->frame.name));
    return o;
}

static json_t *dsr_json(const struct prof_report_dsr *d)
{
    if (!d->known)
        return json_null();
    json_t *o = json_object();
    set(o, "max_clocks", number(d->max_clocks));
    set(o, "average_clocks", number(d->average_clocks));
    set(o, "count", number(d->count));
    return o;
}

static json_t *perf_json(const struct prof_report_perf *p)
{
    bool any = false;
    for (unsigned i = 0; i < p->count && i < PROFILE_MAX_COUNTERS; i++)
        any |= p->total[i] != 0;
    if (!any)
        return json_null();
    json_t *o = json_object(), *totals = json_array(), *rates = p->rate_known ? json_array() : json_null();
    for (unsigned i = 0; i < p->count && i < PROFILE_MAX_COUNTERS; i++) {
        json_array_append_new(totals, number(p->total[i]));
        if (p->rate_known)
            json_array_append_new(rates, real(p->per_second[i]));
    }
    set(o, "totals", totals);
    set(o, "per_second", rates);
    set(o, "i_miss_per_instruction", p->miss_rates_known ? real(p->i_miss_per_instruction) : json_null());
    set(o, "d_miss_rate", p->miss_rates_known ? real(p->d_miss_rate) : json_null());
    return o;
}

static json_t *groups_json(const struct prof_report_source *s)
{
    json_t *o = json_object();
    set(o, "heap", pool_json(&s->heap));
    set(o, "extheap", pool_json(&s->extheap));
    set(o, "netpage", pool_json(&s->netpage));
    set(o, "extnetpage", pool_json(&s->extnetpage));
    set(o, "timing", timing_json(&s->timing));
    set(o, "dsr", dsr_json(&s->dsr));
    set(o, "perf", perf_json(&s->perf));
    return o;
}

static json_t *latency_json(const struct prof_report_source *s)
{
    if (s->latency_count == 0 || s->latency_max == 0)
        return json_null();
    json_t *o = json_object(), *buckets = json_array();
    set(o, "count", number(s->latency_count));
    set(o, "max_clocks", number(s->latency_max));
    for (unsigned i = 0; i < 33; i++)
        if (s->latency[i]) {
            json_t *bucket = json_object();
            set(bucket, "from_clocks", number(i ? UINT64_C(1) << (i - 1) : 0));
            set(bucket, "samples", number(s->latency[i]));
            json_array_append_new(buckets, bucket);
        }
    set(o, "buckets", buckets);
    return o;
}

static json_t *source_json(const struct prof_report_source *s)
{
    json_t *o = json_object();
    set(o, "name", text(s->name));
    set(o, "sent", json_boolean(s->sent));
    set(o, "evicted", json_boolean(s->evicted));
    set(o, "layout", s->totals.packets ? text(profile_layout_name(s->layout)) : json_null());
    set(o, "version", s->totals.packets ? number(s->version) : json_null());
    set(o, "cpu_id", nonzero(s->cpu_id));
    set(o, "clock_hz", nonzero(s->clock_hz));
    set(o, "ddr_hz", nonzero(s->ddr_hz));
    set(o, "seconds", known(s->seconds));
    set(o, "intervals", number(s->intervals));
    set(o, "sampling_hz", known(s->sampling_hz));
    set(o, "utilisation", known(s->utilisation));
    set(o, "profiler_share", known(s->profiler_share));
    set(o, "totals", totals_json(&s->totals));
    set(o, "lost_share", real(profiling_lost_share(&s->totals)));
    set(o, "active_samples", number(s->active));
    set(o, "unknown_pc", number(s->unknown_pc));
    set(o, "example_pc", s->unknown_pc ? number(s->example_pc) : json_null());
    set(o, "image_missing", json_boolean(s->image_missing));
    set(o, "image_mismatch", json_boolean(s->image_mismatch));
    set(o, "samples_without_place", number(s->overflow));
    set(o, "samples_without_callers", number(s->coarse));
    set(o, "counters_cut", number(s->counters_cut));
    set(o, "counters_ignored", number(s->counters_ignored));
    set(o, "groups", groups_json(s));
    set(o, "latency", latency_json(s));
    return o;
}

static json_t *sources_json(const struct prof_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->source_count; i++)
        json_array_append_new(list, source_json(&report->sources[i]));
    return list;
}

static json_t *threads_json(const struct prof_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->thread_count; i++) {
        const struct prof_report_thread *t = &report->threads[i];
        json_t *o = json_object();
        set(o, "source", number(t->source));
        set(o, "thread", number(t->thread));
        set(o, "enabled", json_boolean(t->enabled));
        set(o, "type", text(prof_thread_type_name(t->type)));
        set(o, "samples", number(t->samples));
        set(o, "active_samples", number(t->active));
        set(o, "i_blocked", number(t->i_blocked));
        set(o, "d_blocked", number(t->d_blocked));
        set(o, "mips", t->mips_known ? real(t->mips) : json_null());
        set(o, "rate", real(t->rate));
        set(o, "utilisation", real(t->utilisation));
        set(o, "min_sp", t->min_sp_known ? number(t->min_sp) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

/* --- functions and addresses ---------------------------------------------------------------------------- */

static void set_frame(json_t *o, const struct prof_report_frame *frame)
{
    set(o, "function", text(frame->name));
    set(o, "file", text(frame->file));
    set(o, "line", nonzero(frame->line));
}

static json_t *callers_json(const struct prof_report_function *f)
{
    static const char *const names[] = {"valid", "possible", "unknown"};
    json_t *list = json_array();
    for (size_t i = 0; i < f->caller_count; i++) {
        const struct prof_report_caller *c = &f->callers[i];
        json_t *o = json_object();
        bool is_known = c->certainty != PROF_CALLER_UNKNOWN;
        set_frame(o, &c->frame);
        if (!is_known)
            set(o, "function", json_null());
        set(o, "address", is_known ? number(c->address) : json_null());
        set(o, "samples", number(c->count));
        set(o, "certainty", text(names[c->certainty]));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *by_thread_json(const struct prof_report_function *f)
{
    json_t *o = json_object();
    for (unsigned i = 0; i < PROFILE_MAX_THREADS; i++) {
        char key[8];
        snprintf(key, sizeof(key), "%u", i);
        if (f->by_thread[i])
            set(o, key, number(f->by_thread[i]));
    }
    return o;
}

static json_t *functions_json(const struct prof_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->function_count; i++) {
        const struct prof_report_function *f = &report->functions[i];
        json_t *o = json_object();
        set(o, "source", number(f->source));
        set(o, "pid", nonzero(f->pid));
        set_frame(o, &f->frame);
        set(o, "image", f->image ? text(symbol_path(f->image)) : json_null());
        set(o, "address", number(f->address));
        set(o, "size", nonzero(f->size));
        set(o, "self", number(f->self));
        set(o, "inclusive", number(f->inclusive));
        set(o, "i_blocked", number(f->i_blocked));
        set(o, "d_blocked", number(f->d_blocked));
        set(o, "share", real(f->share));
        set(o, "share_error", real(f->share_error));
        set(o, "weight", real(f->weight));
        set(o, "mips", f->mips_known ? real(f->mips) : json_null());
        set(o, "by_thread", by_thread_json(f));
        set(o, "callers", callers_json(f));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *hot_json(const struct prof_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->hot_count; i++) {
        const struct prof_report_hot *h = &report->hot[i];
        json_t *o = json_object(), *frames = json_array();
        set(o, "source", number(h->source));
        set(o, "pid", nonzero(h->pid));
        set(o, "pc", number(h->pc));
        set(o, "count", number(h->count));
        set(o, "share", real(h->share));
        set(o, "i_blocked", number(h->i_blocked));
        set(o, "d_blocked", number(h->d_blocked));
        for (size_t k = 0; k < h->frame_count; k++) {
            json_t *frame = json_object();
            set_frame(frame, &h->frames[k]);
            json_array_append_new(frames, frame);
        }
        set(o, "frames", frames);
        set(o, "taken", h->is_branch ? number(h->taken) : json_null());
        set(o, "not_taken", h->is_branch ? number(h->not_taken) : json_null());
        set(o, "mispredicted_at_most", h->is_branch ? number(h->mispredicted_at_most) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

/* --- counters, maps, images ----------------------------------------------------------------------------- */

static json_t *counters_json(const struct prof_report *report)
{
    json_t *list = report->counter_count ? json_array() : json_null();
    for (size_t i = 0; i < report->counter_count; i++) {
        const struct prof_report_counter *c = &report->counters[i];
        json_t *o = json_object();
        set(o, "source", number(c->source));
        set(o, "name", text(c->name));
        set(o, "side", text(c->linux_side ? "linux" : "ultra"));
        set(o, "value", number(c->value));
        set(o, "min", number(c->min));
        set(o, "max", number(c->max));
        set(o, "per_second", c->rate_known ? real(c->per_second) : json_null());
        set(o, "level", json_boolean(c->gauge));
        set(o, "resets", number(c->resets));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *maps_json(const struct prof_report *report)
{
    json_t *list = report->maps_count ? json_array() : json_null();
    for (size_t i = 0; i < report->maps_count; i++) {
        const struct prof_report_maps *m = &report->maps[i];
        json_t *o = json_object(), *types = json_array(), *orders = json_array();
        for (size_t k = 0; k < m->type_count; k++) {
            json_t *type = json_object();
            set(type, "type", text(m->types[k].name));
            set(type, "blocks", number(m->types[k].blocks));
            set(type, "pages", number(m->types[k].pages));
            json_array_append_new(types, type);
        }
        for (size_t k = 0; k < sizeof(m->free_by_order) / sizeof(m->free_by_order[0]); k++)
            json_array_append_new(orders, number(m->free_by_order[k]));
        set(o, "source", number(m->source));
        set(o, "encoding", text(m->v21 ? "v21" : "v17"));
        set(o, "complete", m->v21 ? json_boolean(m->complete) : json_null());
        set(o, "page_bytes", number(m->page_bytes));
        set(o, "types", types);
        set(o, "free_by_order", orders);
        set(o, "largest_free", number(m->largest_free));
        set(o, "largest_used", number(m->largest_used));
        set(o, "overlaps", number(m->overlaps));
        set(o, "clipped", number(m->clipped));
        set(o, "ignored", number(m->ignored));
        set(o, "bad_entries", number(m->bad_entries));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *images_json(const struct prof_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->image_count; i++) {
        const struct prof_report_image *m = &report->images[i];
        json_t *o = json_object();
        set(o, "file", text(symbol_path(m->image)));
        set(o, "build_id", symbol_build_id(m->image)[0] ? text(symbol_build_id(m->image)) : json_null());
        set(o, "samples", number(m->samples));
        set(o, "mismatch", json_boolean(m->mismatch));
        set(o, "note", text(m->note));
        json_array_append_new(list, o);
    }
    return list;
}

static enum corral_err write_document(FILE *out, json_t *root, struct diag *d)
{
    char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!line)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "there is no memory for the report");
    fprintf(out, "%s\n", line);
    free(line);
    return CORRAL_OK;
}

enum corral_err render_profile_json(FILE *out, const struct prof_report *report,
                                    const struct profiling_remarks *remarks, int thread,
                                    const struct render_profile_source *source, struct diag *d)
{
    json_t *root = json_object();
    set(root, "kind", text("profile-report"));
    set(root, "version", json_integer(1));
    set(root, "thread", thread < 0 ? json_null() : json_integer(thread));
    set(root, "totals", totals_json(&report->totals));
    set(root, "losses", losses_json(report, source));
    set(root, "remarks", remarks_json(remarks));
    set(root, "sources", sources_json(report));
    set(root, "threads", threads_json(report));
    set(root, "functions", functions_json(report));
    set(root, "hot", hot_json(report));
    set(root, "counters", counters_json(report));
    set(root, "maps", maps_json(report));
    set(root, "images", images_json(report));
    return write_document(out, root, d);
}

/* --- the difference of two ------------------------------------------------------------------------------ */

static json_t *side_json(const struct profiling_side *side)
{
    struct profiling_side_totals t;
    json_t *o = json_object();
    profiling_side_totals(side, &t);
    set(o, "file", text(t.label));
    set(o, "packets", number(t.packets));
    set(o, "samples", number(t.samples));
    set(o, "active_samples", number(t.active_samples));
    set(o, "lost", number(t.lost));
    set(o, "loss", number(t.loss));
    return o;
}

enum corral_err render_profile_diff_json(FILE *out, const struct profiling_side *a,
                                         const struct profiling_side *b, const struct profiling_diff *diff,
                                         struct diag *d)
{
    json_t *root = json_object(), *rows = json_array();
    for (size_t i = 0; i < diff->count; i++) {
        const struct profiling_diff_row *row = &diff->rows[i];
        json_t *o = json_object();
        set(o, "function", text(row->name));
        set(o, "file", text(row->file));
        set(o, "count_a", number(row->count_a));
        set(o, "count_b", number(row->count_b));
        set(o, "share_a", real(row->share_a));
        set(o, "share_b", real(row->share_b));
        set(o, "difference", real(row->difference));
        set(o, "error", real(row->error));
        set(o, "z", row->tested ? real(row->z) : json_null());
        set(o, "p", row->tested ? real(row->p) : json_null());
        set(o, "significant", row->tested ? json_boolean(row->significant) : json_null());
        json_array_append_new(rows, o);
    }
    set(root, "kind", text("profile-diff"));
    set(root, "version", json_integer(1));
    set(root, "confidence", json_real(PROFILING_DIFF_CONFIDENCE));
    set(root, "correction", text("holm"));
    set(root, "tests", number(diff->tests));
    set(root, "a", side_json(a));
    set(root, "b", side_json(b));
    set(root, "functions", rows);
    return write_document(out, root, d);
}
