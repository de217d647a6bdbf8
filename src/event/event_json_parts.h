/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that render events as JSON share. Private to src/event/.
 *
 * An object being filled: a failed allocation is remembered, so that a caller checks once at the end.
 */
#ifndef CORRAL_EVENT_EVENT_JSON_PARTS_H
#define CORRAL_EVENT_EVENT_JSON_PARTS_H

#include "event/event_json.h"

struct event_json {
    json_t *object;
    bool failed;
};

/* Takes `value`; NULL is a failure. */
void event_json_set(struct event_json *j, const char *key, json_t *value);
/* The object, or NULL (and it is freed) when anything failed. */
json_t *event_json_finish(struct event_json *j);
void event_json_uint(struct event_json *j, const char *key, uint64_t value);
void event_json_bool(struct event_json *j, const char *key, bool value);
/* NULL gives null; what is not UTF-8 is escaped. */
void event_json_text(struct event_json *j, const char *key, const char *text);

void event_json_add_profile(struct event_json *j, const struct profile_packet *p);
void event_json_add_counters(struct event_json *j, const struct profile_counters *c);
void event_json_add_maps(struct event_json *j, const struct profile_maps *m);

#endif
