/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event as one JSON object (jansson), with the field names of INTERFACE.md. Renders only: no I/O here.
 */
#ifndef CORRAL_EVENT_EVENT_JSON_H
#define CORRAL_EVENT_EVENT_JSON_H

#include <jansson.h>

#include "event/event.h"

/* A new reference (json_decref), NULL when memory is out. Fields in a fixed order. */
json_t *event_to_json(const struct event *event);

/* The same as one line of text without line break; free() it. NULL when memory is out. */
char *event_to_json_line(const struct event *event);

#endif
