/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's packets as JSON: fields of the profiler sheet 3 to 5 and 7, null groups of INTERFACE.md
 * ("The profile, exactly"). A group that is zero throughout was not reported by the sender, and shows as
 * null.
 */
#include <stdio.h>

#include "event/event_json_parts.h"

#define DATA_MAGIC 0x3EA0u /* plus the version */

static json_t *array_of_u32(const uint32_t *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_integer(values[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *array_of_u8(const uint8_t *values, size_t count)
{
    uint32_t wide[PROFILE_MAX_COUNTERS];
    for (size_t i = 0; i < count && i < PROFILE_MAX_COUNTERS; i++)
        wide[i] = values[i];
    return array_of_u32(wide, count);
}

static bool any_u32(const uint32_t *values, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= values[i];
    return all != 0;
}

struct field {
    const char *name;
    uint32_t value;
};

/* Fields that stand or fall together. */
static void add_group(struct event_json *j, const struct field *fields, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= fields[i].value;
    for (size_t i = 0; i < count; i++)
        event_json_set(j, fields[i].name, all ? json_integer(fields[i].value) : json_null());
}

#define ADD_GROUP(j, ...)                                         \
    do {                                                          \
        const struct field group_[] = {__VA_ARGS__};              \
        add_group(j, group_, sizeof(group_) / sizeof(group_[0])); \
    } while (0)

static json_t *sample_json(const struct profile_sample *s, enum profile_layout layout)
{
    struct event_json o = {json_object(), false};
    event_json_uint(&o, "pc", s->pc);
    event_json_uint(&o, "thread", s->thread);
    event_json_uint(&o, "active", s->active);
    event_json_uint(&o, "d_blocked", s->d_blocked);
    event_json_uint(&o, "i_blocked", s->i_blocked);
    event_json_uint(&o, "cond_codes", s->cond_codes);
    event_json_bool(&o, "self_d_blocked", s->self_d_blocked);
    event_json_bool(&o, "self_i_blocked", s->self_i_blocked);
    if (layout == PROFILE_V21 || layout == PROFILE_NSS) {
        size_t words = s->parent_count < PROFILE_MAX_STACK_WORDS ? s->parent_count : PROFILE_MAX_STACK_WORDS;
        event_json_uint(&o, "pid", s->pid);
        event_json_uint(&o, "a_reg", s->a_reg);
        event_json_set(&o, "parents", array_of_u32(s->parents, words));
    } else {
        event_json_uint(&o, "a5", s->a5);
        event_json_uint(&o, "parent", s->parent);
        event_json_uint(&o, "latency", s->latency);
    }
    return event_json_finish(&o);
}

/* A field that came with version `since` (profiler sheet 3.2); the layouts that are known whole have it. */
static bool has(const struct profile_packet *p, int since)
{
    return p->layout != PROFILE_LEGACY || p->version >= since;
}

/* In all layouts. */
static void add_common(struct event_json *j, const struct profile_packet *p)
{
    const struct profile_header *h = &p->header;

    size_t threads = h->thread_count < PROFILE_MAX_THREADS ? h->thread_count : PROFILE_MAX_THREADS;
    event_json_set(j, "instruction_count", array_of_u32(h->instruction_count, threads));
    event_json_uint(j, "profile_instructions", h->profile_instructions);
    event_json_uint(j, "enabled", h->enabled);
    event_json_uint(j, "hrt", h->hrt);
    event_json_uint(j, "high", h->high);
    event_json_uint(j, "profiler_thread", h->profiler_thread);
    event_json_set(j, "cpu_id", has(p, 11) ? json_integer(h->cpu_id) : json_null());
    event_json_set(j, "ddr_hz", h->ddr_hz ? json_integer(h->ddr_hz) : json_null());
}

static void add_perf(struct event_json *j, const struct profile_packet *p)
{
    const struct profile_header *h = &p->header;

    size_t count =
        h->perf_counter_count < PROFILE_MAX_COUNTERS ? h->perf_counter_count : PROFILE_MAX_COUNTERS;
    bool configured = false;
    for (size_t i = 0; i < count; i++)
        configured |= h->perf_config[i] != 0;
    event_json_set(j, "perf_counters", has(p, 11) ? array_of_u32(h->perf_counters, count) : json_null());
    event_json_set(j, "perf_config", configured ? array_of_u8(h->perf_config, count) : json_null());
}

/* The groups that a legacy version lacks are zero, and so null, too. */
static void add_v17(struct event_json *j, const struct profile_packet *p)
{
    const struct profile_header *h = &p->header;

    size_t threads = h->thread_count < PROFILE_MAX_THREADS ? h->thread_count : PROFILE_MAX_THREADS;
    ADD_GROUP(j, {"heap_free", h->heap_free}, {"heap_low_water", h->heap_low_water});
    ADD_GROUP(j, {"netpage_free", h->netpage_free}, {"netpage_low_water", h->netpage_low_water});
    event_json_set(j, "min_sp", any_u32(h->min_sp, threads) ? array_of_u32(h->min_sp, threads) : json_null());
    ADD_GROUP(j, {"timing_sequence", h->timing_sequence}, {"timing_interval", h->timing_interval},
              {"timing_worst_time", h->timing_worst_time}, {"timing_function", h->timing_function},
              {"timing_average", h->timing_average}, {"timing_count", h->timing_count});
    ADD_GROUP(j, {"extheap_free", h->extheap_free}, {"extheap_low_water", h->extheap_low_water});
    ADD_GROUP(j, {"extnetpage_free", h->extnetpage_free}, {"extnetpage_low_water", h->extnetpage_low_water});
    ADD_GROUP(j, {"dsr_max_latency", h->dsr_max_latency}, {"dsr_ave_latency", h->dsr_ave_latency},
              {"dsr_count", h->dsr_count});
    add_perf(j, p);
}

static void add_nss(struct event_json *j, const struct profile_header *h)
{
    event_json_set(j, "stat_select", array_of_u8(h->stat_select, 2));
    event_json_uint(j, "d_blocked", h->d_blocked);
    event_json_uint(j, "i_blocked", h->i_blocked);
    event_json_uint(j, "sample_sets", h->sample_sets);
    event_json_uint(j, "sets_map", h->sets_map);
    event_json_set(j, "stats", array_of_u32(h->stats, PROFILE_MAX_COUNTERS));
    event_json_uint(j, "sample_stack_words", h->sample_stack_words);
}

void event_json_add_profile(struct event_json *j, const struct profile_packet *p)
{
    const struct profile_header *h = &p->header;
    event_json_uint(j, "version", p->version);
    event_json_text(j, "layout", profile_layout_name(p->layout));
    event_json_uint(j, "magic", DATA_MAGIC + p->version);
    event_json_uint(j, "header_size", h->header_size);
    event_json_set(j, "seq", has(p, 7) ? json_integer(h->seq) : json_null());
    event_json_uint(j, "clocks", h->clocks);
    event_json_set(j, "clock_hz", h->clock_hz ? json_integer(h->clock_hz) : json_null());
    event_json_uint(j, "sample_count", h->sample_count);
    event_json_uint(j, "bad_samples", p->bad_samples);
    event_json_uint(j, "trailing", p->trailing);
    add_common(j, p);
    if (p->layout == PROFILE_V21) {
        add_perf(j, p);
        event_json_uint(j, "sample_stack_words", h->sample_stack_words);
    } else if (p->layout == PROFILE_NSS) {
        add_nss(j, h);
    } else {
        add_v17(j, p);
    }
    json_t *samples = json_array();
    for (size_t i = 0; i < p->sample_count; i++)
        j->failed |= json_array_append_new(samples, sample_json(&p->samples[i], p->layout)) != 0;
    event_json_set(j, "samples", samples);
}

void event_json_add_counters(struct event_json *j, const struct profile_counters *c)
{
    json_t *list = json_array();
    event_json_uint(j, "count", c->count);
    event_json_uint(j, "truncated", c->truncated);
    event_json_uint(j, "ultra_sample_time", c->ultra_sample_time);
    event_json_uint(j, "linux_sample_time", c->linux_sample_time);
    for (size_t i = 0; i < c->count; i++) {
        struct event_json o = {json_object(), false};
        event_json_text(&o, "name", c->counters[i].name);
        event_json_uint(&o, "value", c->counters[i].value);
        event_json_text(&o, "side", c->counters[i].linux_side ? "linux" : "ultra");
        j->failed |= json_array_append_new(list, event_json_finish(&o)) != 0;
    }
    event_json_set(j, "counters", list);
}

/* INTERFACE.md's names; "type N" for the numbers it leaves out. */
static const char *map_type_name(uint8_t type, bool v21, char buf[12])
{
    static const char *const v17_names[32] = {
        [0] = "unknown", [1] = "free",   [2] = "small",     [3] = "fs",
        [16] = "text",   [17] = "stack", [18] = "app-data", [19] = "cache",
    };
    static const char *const v21_names[16] = {
        [0] = "free",        [1] = "small",  [2] = "fs",         [4] = "unknown",
        [5] = "text",        [6] = "stack",  [7] = "app-data",   [8] = "ashmem",
        [9] = "read-shared", [10] = "cache", [11] = "vma-waste", [15] = "reserved",
    };
    const char *name = NULL;
    if (v21)
        name = type < 16 ? v21_names[type] : NULL;
    else if (type < 32)
        name = type >= 24 ? "reserved" : v17_names[type];
    if (name)
        return name;
    snprintf(buf, 12, "type %u", (unsigned)type);
    return buf;
}

void event_json_add_maps(struct event_json *j, const struct profile_maps *m)
{
    json_t *list = json_array();
    char buf[12];
    event_json_text(j, "encoding", m->v21 ? "v21" : "v17");
    event_json_uint(j, "page_shift", m->page_shift);
    event_json_uint(j, "count", m->count);
    event_json_uint(j, "bad_entries", m->bad_entries);
    if (m->v21)
        event_json_bool(j, "last", m->last);
    for (size_t i = 0; i < m->count; i++) {
        struct event_json o = {json_object(), false};
        event_json_uint(&o, "start", m->entries[i].start);
        event_json_text(&o, "type", map_type_name(m->entries[i].type, m->v21, buf));
        event_json_uint(&o, "pages", m->entries[i].pages);
        j->failed |= json_array_append_new(list, event_json_finish(&o)) != 0;
    }
    event_json_set(j, "entries", list);
}
