/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as JSON: fields, names and nulls of INTERFACE.md "Events (JSON lines)" and "The profile, exactly".
 * jansson keeps the order in which members are set, so every line has its fields in the order written here.
 *
 * The profiler's payload is in event_json_profile.c. Renders only.
 */
#include "event/event_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/event_json_parts.h"

void event_json_set(struct event_json *j, const char *key, json_t *value)
{
    if (json_object_set_new_nocheck(j->object, key, value))
        j->failed = true; /* value NULL included */
}

json_t *event_json_finish(struct event_json *j)
{
    if (!j->failed)
        return j->object;
    json_decref(j->object);
    return NULL;
}

void event_json_uint(struct event_json *j, const char *key, uint64_t value)
{
    /* jansson's integers are signed; beyond them a number that is nearly right is better than a negative one.
     */
    event_json_set(j, key, value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

void event_json_bool(struct event_json *j, const char *key, bool value)
{
    event_json_set(j, key, json_boolean(value));
}

static json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    /* Not UTF-8: a file name can be anything. */
    size_t size = strlen(text);
    char *escaped = malloc(TEXT_CLEAN_MAX(size));
    if (!escaped)
        return NULL;
    text_escape((const uint8_t *)text, size, escaped, TEXT_CLEAN_MAX(size));
    value = json_string(escaped);
    free(escaped);
    return value;
}

void event_json_text(struct event_json *j, const char *key, const char *text)
{
    event_json_set(j, key, text ? text_value(text) : json_null());
}

static void set_int(struct event_json *j, const char *key, int64_t value)
{
    event_json_set(j, key, json_integer(value));
}

/* null where `value` is the mark for unknown. */
static void set_known(struct event_json *j, const char *key, int64_t value, int64_t unknown)
{
    event_json_set(j, key, value == unknown ? json_null() : json_integer(value));
}

static void add_log(struct event_json *j, const struct event_log *log)
{
    char name[EVENT_LOG_NAME_MAX];
    event_json_text(j, "level", event_log_level_name(log->level, name));
    event_json_text(j, "source", event_log_source_name(log->source, name));
    event_json_uint(j, "timestamp", log->timestamp);
    event_json_uint(j, "sequence", log->sequence);
    event_json_text(j, "text", log->text ? log->text : "");
    event_json_bool(j, "torn", log->torn);
}

static void add_cores(struct event_json *j, const struct event_halt *halt, bool is_halt)
{
    json_t *cores = json_array();
    size_t count = halt->core_count < EVENT_MAX_CORES ? halt->core_count : EVENT_MAX_CORES;
    for (size_t i = 0; i < count; i++) {
        const struct event_core *core = &halt->cores[i];
        struct event_json o = {json_object(), false};
        event_json_text(&o, "name", core->name ? core->name : "");
        event_json_text(&o, "state", core_state_name(core->state));
        if (is_halt) {
            event_json_text(&o, "reason",
                            core->reason == HALT_REASON_NONE ? NULL : halt_reason_name(core->reason));
            event_json_bool(&o, "first", core->first);
            set_known(&o, "pc", core->pc_known ? (int64_t)core->pc : -1, -1);
        } else {
            event_json_bool(&o, "restarted", core->restarted);
        }
        j->failed |= json_array_append_new(cores, event_json_finish(&o)) != 0;
    }
    event_json_set(j, "cores", cores);
}

static void add_halt(struct event_json *j, const struct event_halt *halt)
{
    event_json_text(j, "mechanism", group_mechanism_name(halt->mechanism));
    set_known(j, "skew_ns", halt->skew_ns, EVENT_NO_TIME);
    set_known(j, "skew_error_ns", halt->skew_error_ns, EVENT_NO_TIME);
    add_cores(j, halt, true);
}

/* Every bit of a word counts: what jansson's integers cannot hold is text here, and event_to_json_line takes
 * its quotes off. */
static void set_word(struct event_json *j, const char *key, uint64_t value)
{
    char digits[24];
    if (value <= INT64_MAX) {
        event_json_uint(j, key, value);
        return;
    }
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    event_json_text(j, key, digits);
}

/* "KEY":"123" becomes "KEY":123. */
static void unquote(char *line, const char *key)
{
    char *at = strstr(line, key);
    char *end = at ? strchr(at + strlen(key) + 1, '"') : NULL;
    if (!end || at[strlen(key)] != '"')
        return;
    at += strlen(key);
    memmove(at, at + 1, (size_t)(end - at - 1));
    memmove(end - 1, end + 1, strlen(end + 1) + 1);
}

static void add_access(struct event_json *j, const struct event_access *access)
{
    event_json_text(j, "op", access->write ? "write" : "read");
    event_json_text(j, "space", access->space ? access->space : "mem");
    event_json_uint(j, "ap", access->ap);
    set_word(j, "address", access->address);
    event_json_uint(j, "size", access->size);
    set_word(j, "value", access->value);
}

static void add_payload(struct event_json *j, const struct event *e)
{
    switch (e->kind) {
    case EVENT_LOG:
        add_log(j, &e->log);
        break;
    case EVENT_GAP:
        event_json_uint(j, "expected", e->gap.expected);
        event_json_uint(j, "sequence", e->gap.sequence);
        set_known(j, "lost", e->gap.lost, EVENT_LOST_UNKNOWN);
        event_json_text(j, "reason", e->gap.reason);
        break;
    case EVENT_RESTART:
        event_json_uint(j, "previous", e->restart.previous);
        event_json_uint(j, "sequence", e->restart.sequence);
        break;
    case EVENT_ANOMALY:
        event_json_text(j, "reason", e->anomaly.reason);
        event_json_uint(j, "offset", e->anomaly.offset);
        event_json_uint(j, "value", e->anomaly.value);
        break;
    case EVENT_BATCH:
        event_json_text(j, "file", e->batch.file);
        event_json_text(j, "status", e->batch.status);
        event_json_bool(j, "release", e->batch.release);
        event_json_uint(j, "torn_header_bytes", e->batch.torn_header_bytes);
        break;
    case EVENT_PROFILE:
        event_json_add_profile(j, &e->profile);
        break;
    case EVENT_COUNTERS:
        event_json_add_counters(j, &e->counters);
        break;
    case EVENT_MAPS:
        event_json_add_maps(j, &e->maps);
        break;
    case EVENT_REJECT:
        event_json_text(j, "reason", e->reject.reason);
        if (e->reject.version >= 0)
            set_int(j, "version", e->reject.version);
        break;
    case EVENT_HALT:
        add_halt(j, &e->halt);
        break;
    case EVENT_RUN:
        event_json_text(j, "mechanism", group_mechanism_name(e->halt.mechanism));
        add_cores(j, &e->halt, false);
        break;
    case EVENT_CLOCK: /* its host_ns is the event's own */
        event_json_text(j, "domain", e->clock.domain);
        set_int(j, "domain_time", e->clock.domain_time);
        break;
    case EVENT_LINK:
        event_json_text(j, "state", e->link.state);
        event_json_text(j, "message", e->link.message);
        break;
    case EVENT_MARKER:
        event_json_text(j, "text", e->marker.text);
        break;
    case EVENT_ACCESS:
        add_access(j, &e->access);
        break;
    case EVENT_KIND_COUNT:
        break;
    }
}

json_t *event_to_json(const struct event *event)
{
    struct event_json j = {json_object(), false};
    event_json_text(&j, "kind", event_kind_name(event->kind));
    event_json_text(&j, "stream", event->stream ? event->stream : "");
    if (event->core)
        event_json_text(&j, "core", event->core);
    if (event->host_ns != EVENT_NO_TIME)
        set_int(&j, "host_ns", event->host_ns);
    if (event->target_ns != EVENT_NO_TIME)
        set_int(&j, "target_ns", event->target_ns);
    add_payload(&j, event);
    return event_json_finish(&j);
}

char *event_to_json_line(const struct event *event)
{
    json_t *object = event_to_json(event);
    char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (line && event->kind == EVENT_ACCESS) { /* it has no text of others in front of them */
        unquote(line, "\"address\":");
        unquote(line, "\"value\":");
    }
    return line;
}
