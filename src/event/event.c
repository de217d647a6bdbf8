/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event type: making, copying and naming. INTERFACE.md "Events (JSON lines)".
 *
 * A clone is one allocation: the same walk over an event's pointers first measures, then places, so the two
 * can never disagree. Fields documented as string literals keep their pointer. No I/O here.
 */
#include "event/event.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const char *const *names, size_t count, unsigned index, const char *otherwise)
{
    return index < count ? names[index] : otherwise;
}

#define NAME_OF(names, index, otherwise) \
    name_of(names, sizeof(names) / sizeof((names)[0]), (unsigned)(index), otherwise)

const char *event_kind_name(enum event_kind kind)
{
    static const char *const names[EVENT_KIND_COUNT] = {
        [EVENT_LOG] = "log",           [EVENT_GAP] = "gap",       [EVENT_RESTART] = "restart",
        [EVENT_ANOMALY] = "anomaly",   [EVENT_BATCH] = "batch",   [EVENT_PROFILE] = "profile",
        [EVENT_COUNTERS] = "counters", [EVENT_MAPS] = "maps",     [EVENT_REJECT] = "reject",
        [EVENT_HALT] = "halt",         [EVENT_RUN] = "run",       [EVENT_CLOCK] = "clock",
        [EVENT_LINK] = "link",         [EVENT_MARKER] = "marker", [EVENT_ACCESS] = "access",
    };
    return NAME_OF(names, kind, "unknown");
}

const char *event_log_level_name(uint8_t level, char buf[EVENT_LOG_NAME_MAX])
{
    static const char *const names[] = {"raw", "err", "wrn", "inf", "dbg"};
    if (level < sizeof(names) / sizeof(names[0]))
        snprintf(buf, EVENT_LOG_NAME_MAX, "%s", names[level]);
    else
        snprintf(buf, EVENT_LOG_NAME_MAX, "lvl%u", (unsigned)level);
    return buf;
}

const char *event_log_source_name(uint8_t source, char buf[EVENT_LOG_NAME_MAX])
{
    static const char *const names[] = {"SMC", "DMC"};
    if (source < sizeof(names) / sizeof(names[0]))
        snprintf(buf, EVENT_LOG_NAME_MAX, "%s", names[source]);
    else
        snprintf(buf, EVENT_LOG_NAME_MAX, "src%u", (unsigned)source);
    return buf;
}

const char *core_state_name(enum core_state state)
{
    static const char *const names[] = {
        [CORE_UNKNOWN] = "unknown", [CORE_HALTED] = "halted", [CORE_RUNNING] = "running",
        [CORE_RESET] = "reset",     [CORE_LOCKUP] = "lockup", [CORE_UNPOWERED] = "unpowered",
    };
    return NAME_OF(names, state, "unknown");
}

const char *halt_reason_name(enum halt_reason reason)
{
    static const char *const names[] = {
        [HALT_REASON_NONE] = "none",
        [HALT_REASON_REQUEST] = "request",
        [HALT_REASON_BREAKPOINT] = "breakpoint",
        [HALT_REASON_WATCHPOINT] = "watchpoint",
        [HALT_REASON_VECTOR_CATCH] = "vector-catch",
        [HALT_REASON_STEP] = "step",
        [HALT_REASON_CROSS_TRIGGER] = "cross-trigger",
        [HALT_REASON_FAULT] = "fault",
    };
    return NAME_OF(names, reason, "none");
}

const char *group_mechanism_name(enum group_mechanism mechanism)
{
    static const char *const names[] = {
        [GROUP_MECHANISM_NONE] = "none",         [GROUP_MECHANISM_CTI] = "cti",
        [GROUP_MECHANISM_SOFTWARE] = "software", [GROUP_MECHANISM_STUB] = "stub",
        [GROUP_MECHANISM_SEQUENCE] = "sequence",
    };
    return NAME_OF(names, mechanism, "none");
}

const char *profile_layout_name(enum profile_layout layout)
{
    static const char *const names[] = {
        [PROFILE_V17] = "v17", [PROFILE_V21] = "v21", [PROFILE_NSS] = "nss", [PROFILE_LEGACY] = "legacy"};
    return NAME_OF(names, layout, "legacy");
}

struct event event_make(enum event_kind kind, const char *stream)
{
    struct event e;
    memset(&e, 0, sizeof(e)); /* the largest member of the union too */
    e.kind = kind;
    e.stream = stream ? stream : "";
    e.host_ns = EVENT_NO_TIME;
    e.target_ns = EVENT_NO_TIME;
    if (kind == EVENT_HALT || kind == EVENT_RUN)
        e.halt.skew_ns = e.halt.skew_error_ns = EVENT_NO_TIME;
    return e;
}

/* Where copies go. With base NULL only `used` moves. */
struct arena {
    unsigned char *base;
    size_t used;
};

static void keep_bytes(struct arena *a, const void **field, size_t size, size_t align)
{
    if (!*field)
        return;
    a->used = (a->used + align - 1) / align * align;
    if (a->base) {
        if (size)
            memcpy(a->base + a->used, *field, size);
        *field = a->base + a->used;
    }
    a->used += size;
}

static void keep_string(struct arena *a, const char **field)
{
    if (*field) {
        const void *p = *field;
        keep_bytes(a, &p, strlen(*field) + 1, 1);
        *field = p;
    }
}

#define KEEP_ARRAY(a, field, count)                                              \
    do {                                                                         \
        const void *kept_ = (field);                                             \
        keep_bytes(a, &kept_, (count) * sizeof(*(field)), alignof(max_align_t)); \
        (field) = kept_;                                                         \
    } while (0)

/* Every pointer of `e` that is not documented as a string literal. */
static void keep_pointers(struct arena *a, struct event *e)
{
    keep_string(a, &e->stream);
    keep_string(a, &e->core);
    switch (e->kind) {
    case EVENT_LOG:
        keep_string(a, &e->log.text);
        break;
    case EVENT_BATCH:
        keep_string(a, &e->batch.file);
        break;
    case EVENT_PROFILE:
        KEEP_ARRAY(a, e->profile.samples, e->profile.sample_count);
        break;
    case EVENT_COUNTERS:
        KEEP_ARRAY(a, e->counters.counters, e->counters.count);
        break;
    case EVENT_MAPS:
        KEEP_ARRAY(a, e->maps.entries, e->maps.count);
        break;
    case EVENT_HALT:
    case EVENT_RUN:
        if (e->halt.core_count > EVENT_MAX_CORES)
            e->halt.core_count = EVENT_MAX_CORES;
        for (size_t i = 0; i < e->halt.core_count; i++)
            keep_string(a, &e->halt.cores[i].name);
        break;
    case EVENT_CLOCK:
        keep_string(a, &e->clock.domain);
        break;
    case EVENT_LINK:
        keep_string(a, &e->link.message);
        break;
    case EVENT_MARKER:
        keep_string(a, &e->marker.text);
        break;
    case EVENT_GAP:
    case EVENT_RESTART:
    case EVENT_ANOMALY:
    case EVENT_REJECT:
    case EVENT_ACCESS:
    case EVENT_KIND_COUNT:
        break;
    }
}

struct event *event_clone(const struct event *event)
{
    struct event copy = *event;
    struct arena measure = {NULL, sizeof(struct event)};
    keep_pointers(&measure, &copy);
    struct arena place = {malloc(measure.used), sizeof(struct event)};
    if (!place.base)
        return NULL;
    copy = *event;
    keep_pointers(&place, &copy);
    memcpy(place.base, &copy, sizeof(copy));
    return (struct event *)(void *)place.base;
}

void event_free(struct event *event)
{
    free(event);
}
