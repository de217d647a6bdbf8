/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples to counts: by source and address, by function, by stack. Memory grows with distinct addresses, not
 * with samples. Adding is O(1); a report sorts once. Thread-safe: a report shows one moment.
 */
#ifndef CORRAL_PROF_AGGREGATE_H
#define CORRAL_PROF_AGGREGATE_H

#include "event/profile_event.h"
#include "symbol/symbol.h"

#define PROF_MAX_ADDRESSES (1u << 20) /* distinct (source, thread, pc, caller); more go to `overflow` */

struct prof_aggregate;

struct prof_aggregate *prof_aggregate_new(void);
void prof_aggregate_free(struct prof_aggregate *a);

/* `source` is an index the caller gives (0..63): which sender. `caller` 0 = not known. Inactive samples count
 * for the denominator only. */
void prof_aggregate_add(struct prof_aggregate *a, unsigned source, const struct profile_sample *sample,
                        uint32_t caller, bool active);

struct prof_hot {
    unsigned source;
    uint32_t pc;
    uint32_t caller;
    uint64_t count;
};
/* Active samples by (source, pc, caller), biggest count first, then source, pc. Free with free(). NULL when
 * memory is out: no samples are an empty list. */
struct prof_hot *prof_aggregate_hot(struct prof_aggregate *a, size_t *count);

struct prof_function {
    unsigned source;
    const char *name; /* borrowed from the symbol index, or "[unknown]" */
    const char *file; /* or NULL */
    uint32_t line;
    uint32_t address; /* of the function; the first pc seen for [unknown] */
    uint64_t count;
    double share; /* of the source's active samples, 0..1 */
};
/* By function, biggest first. `symbols[source]` may be NULL. Free with free(). NULL when memory is out. */
struct prof_function *prof_aggregate_functions(struct prof_aggregate *a, struct symbol_index *const *symbols,
                                               size_t symbol_count, size_t *count);

uint64_t prof_aggregate_samples(struct prof_aggregate *a, unsigned source);
uint64_t prof_aggregate_active(struct prof_aggregate *a, unsigned source);
uint64_t prof_aggregate_overflow(struct prof_aggregate *a);

#endif
