/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a pprof file: distinct strings, functions and locations, and their numbers (profiler sheet
 * 10.2). Private to src/export; writes nothing.
 */
#ifndef CORRAL_EXPORT_EXPORT_PPROF_TABLES_H
#define CORRAL_EXPORT_EXPORT_PPROF_TABLES_H

#include "export/export_index.h"
#include "export/export_profile.h"

struct export_pprof_function {
    uint64_t name, file; /* numbers of strings */
};

/* What one address is: a function, and those inlined into it there. */
struct export_pprof_location {
    const struct export_frame *frames; /* outermost first */
    size_t count;
};

struct export_pprof_tables {
    bool failed; /* for want of memory */
    char **strings;
    size_t string_room;
    struct export_index string_index;
    struct export_pprof_function *functions;
    size_t function_room;
    struct export_index function_index;
    struct export_pprof_location *locations;
    size_t location_room;
    struct export_index location_index;
};

/* The tables must not move from here on. */
void export_pprof_tables_init(struct export_pprof_tables *t);
void export_pprof_tables_free(struct export_pprof_tables *t);

/* The number of a text that may be anything, or NULL; 0 is "". */
uint64_t export_pprof_string(struct export_pprof_tables *t, const char *text);
/* Numbers of functions and locations begin with 1. */
uint64_t export_pprof_function(struct export_pprof_tables *t, const struct export_frame *frame);
uint64_t export_pprof_location(struct export_pprof_tables *t, const struct export_pprof_location *l);

/* The frame whose address is the location's. */
const struct export_frame *export_pprof_innermost(const struct export_pprof_location *l);

#endif
