/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile being collected (profiling.h): the streams, the analysis and the collector put together, and the
 * report that every view draws. What images and process maps add is in profiling_elf.c and
 * profiling_control.c.
 */
#include "session/profiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/config.h"
#include "session/profiling_internal.h"

struct profiling *profiling_new(const struct profiling_options *options, struct diag *d)
{
    struct profiling *p = calloc(1, sizeof(*p));
    if (!p || pthread_mutex_init(&p->lock, NULL) != 0) {
        free(p);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    p->bus = options->bus;
    p->clock = options->clock;
    p->analysis = prof_analysis_new();
    p->streams = p->analysis ? prof_streams_new(p->bus, p->analysis) : NULL;
    if (!p->streams) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        profiling_free(p);
        return NULL;
    }
    return p;
}

void profiling_free(struct profiling *p)
{
    if (!p)
        return;
    prof_collector_stop(p->collector);
    profiling_free_control(p);
    prof_streams_free(p->streams);
    prof_analysis_free(p->analysis);
    profiling_free_images(p);
    for (size_t i = 0; i < p->name_count; i++) {
        free(p->names[i].address);
        free(p->names[i].name);
    }
    free(p->raw_source);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

struct prof_streams *profiling_streams(struct profiling *p)
{
    return p->streams;
}

struct prof_collector *profiling_collector(struct profiling *p)
{
    return p->collector;
}

/* --- names ---------------------------------------------------------------------------------------------- */

enum corral_err profiling_name_sender(struct profiling *p, const char *address, const char *name,
                                      struct diag *d)
{
    enum corral_err err = prof_streams_name(p->streams, address, name, d);
    if (err != CORRAL_OK)
        return err;
    pthread_mutex_lock(&p->lock);
    if (p->name_count == PROFILING_MAX_NAMES) {
        err = diag_set(d, CORRAL_ERR_LIMIT, "there are more than %d named senders", PROFILING_MAX_NAMES);
    } else {
        struct profiling_name *entry = &p->names[p->name_count];
        *entry = (struct profiling_name){.address = strdup(address), .name = strdup(name)};
        p->name_count++; /* freed with the others, whole or not */
        if (!entry->address || !entry->name)
            err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    pthread_mutex_unlock(&p->lock);
    return err;
}

const char *profiling_address_of(const struct profiling *p, const char *name)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (p->names[i].name && p->names[i].address && strcmp(p->names[i].name, name) == 0)
            return p->names[i].address;
    return name;
}

/* One sender of corral.yml: what it is called, and unless a session has the images, what runs there. */
static enum corral_err use_source(struct profiling *p, const struct config *config,
                                  const struct config_source *source, bool images, struct diag *d)
{
    const struct config_core *core = &config->cores[source->core];
    char address[96];
    enum corral_err err = CORRAL_OK;
    snprintf(address, sizeof(address), "%s", source->address);
    if (source->port >= 0) {
        snprintf(address, sizeof(address), "%s:%d", source->address, source->port);
        err = profiling_name_sender(p, address, core->name, d);
    }
    if (err != CORRAL_OK || !images || !core->elf)
        return err;
    return profiling_add_elf_of(p, address, core->elf, 0, d);
}

enum corral_err profiling_use_config(struct profiling *p, const struct config *config, bool images,
                                     struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; config && i < config->source_count && err == CORRAL_OK; i++)
        err = use_source(p, config, &config->sources[i], images, d);
    return err;
}

/* --- collecting ----------------------------------------------------------------------------------------- */

enum corral_err profiling_listen(struct profiling *p, const struct prof_collector_options *options,
                                 struct diag *d)
{
    struct prof_collector_options o = *options;
    struct timespec now;
    if (p->collector)
        return diag_set(d, CORRAL_ERR_USAGE, "a profile listens on one port only");
    o.clock = o.clock ? o.clock : p->clock;
    o.streams = p->streams;
    p->collector = prof_collector_start(&o, d);
    if (!p->collector)
        return d ? d->code : CORRAL_ERR_PROF_PORT;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && !p->start_ns)
        p->start_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
    return CORRAL_OK;
}

void profiling_finish(struct profiling *p)
{
    prof_collector_finish(p->collector);
}

void profiling_reset(struct profiling *p)
{
    prof_streams_reset(p->streams);
}

/* --- the report ----------------------------------------------------------------------------------------- */

/* Who sends what is looked up anew for each report: senders come while it is collected. */
static size_t find_spaces(struct profiling *p, struct symbol_space *spaces[PROF_MAX_SOURCES])
{
    size_t known = 0;
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++) {
        char name[PROF_SOURCE_NAME_ROOM];
        struct prof_totals totals;
        spaces[i] = NULL;
        if (!prof_streams_source_totals(p->streams, i, name, &totals))
            continue;
        spaces[i] = profiling_space_for(p, i, name);
        known = i + 1;
    }
    pthread_mutex_unlock(&p->lock);
    return known;
}

/* As find_spaces, for the senders that a report was made of. */
size_t profiling_spaces_of(struct profiling *p, const struct prof_report *report,
                           struct symbol_space *spaces[PROF_MAX_SOURCES])
{
    size_t n = report->source_count < PROF_MAX_SOURCES ? report->source_count : PROF_MAX_SOURCES;
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < n; i++)
        spaces[i] = profiling_space_for(p, i, report->sources[i].name);
    pthread_mutex_unlock(&p->lock);
    return n;
}

struct prof_report *profiling_report(struct profiling *p, int thread, size_t hot_limit, bool stacks,
                                     struct diag *d)
{
    struct symbol_space *spaces[PROF_MAX_SOURCES];
    size_t n = find_spaces(p, spaces);
    struct prof_report_options options = {
        .spaces = spaces, .space_count = n, .thread = thread, .hot_limit = hot_limit, .stacks = stacks};
    return prof_report_make(p->streams, p->analysis, &options, d);
}
