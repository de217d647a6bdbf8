/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile that is fetched through the link: packets that the target leaves in RAM
 * (docs/profile-records.md), and PC sampling. Both run as jobs of the link's thread at the lowest priority,
 * and become packets of senders "ram:NAME" and "pcsr:NAME" in the session's profile.
 */
#include <stdio.h>
#include <string.h>

#include "session/session_internal.h"

#define RECORDS_SYMBOL   "prof_buffer"
#define RECORDS_EVERY_NS (2 * NS_PER_MS)
#define RECORDS_BURST \
    16 /* slots in a row: there are no more; a target that goes on writing must not keep us */
#define PCSR_EVERY_NS (200 * NS_PER_US)

/* --- packets in RAM ------------------------------------------------------------------------------------- */

static enum corral_err poll_records(struct link *link, void *ctx, struct diag *d)
{
    struct session_records *r = ctx;
    bool took = !atomic_load(&r->session->profile_stopped); /* then the counts are final */
    enum corral_err err = CORRAL_OK;
    for (int i = 0; i < RECORDS_BURST && took && err == CORRAL_OK; i++)
        err = prof_records_poll(r->reader, link, &took, d);
    return err;
}

static enum corral_err watch(struct session *s, const char *name, uint32_t ap,
                             const struct symbol_index *image, uint64_t address, uint64_t size,
                             struct diag *d)
{
    struct session_records *r = &s->records[s->records_count];
    if (s->records_count == SESSION_MAX_CORES)
        return diag_set(d, CORRAL_ERR_LIMIT, "at most %d buffers of packets can be read", SESSION_MAX_CORES);
    *r = (struct session_records){.session = s};
    snprintf(r->name, sizeof(r->name), "ram:%s", name);
    const struct prof_records_options options = {
        .source = r->name,
        .ap = ap,
        .address = address,
        .size = size > PROF_RECORDS_BUFFER_MAX ? PROF_RECORDS_BUFFER_MAX : (uint32_t)size,
        .streams = profiling_streams(s->profiling),
        .raw = session_capture_fetched,
        .ctx = s,
    };
    enum corral_err err = profiling_add_image(s->profiling, r->name, image, d);
    if (err != CORRAL_OK)
        return err;
    r->reader = prof_records_reader_new(&options, d);
    if (!r->reader) {
        diag_prefix(d, "%s of %s", RECORDS_SYMBOL, name);
        return d ? d->code : CORRAL_ERR_USAGE;
    }
    s->records_count++;
    r->job = link_thread_every(s->thread, LINK_PRIO_SAMPLE, RECORDS_EVERY_NS, poll_records, r);
    return r->job < 0 ? diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link") : CORRAL_OK;
}

enum corral_err session_start_records(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    uint64_t address, size;
    size_t images = 0; /* that are there now: each that is watched is listed once more, as its sender's */
    while (profiling_image(s->profiling, images))
        images++;
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++)
        if (s->symbols[i] && symbol_lookup(s->symbols[i], RECORDS_SYMBOL, &address, &size))
            err = watch(s, core_name(s->cores[i]), core_ap(s->cores[i]), s->symbols[i], address, size, d);
    for (size_t i = 0; s->core_count == 0 && i < images && err == CORRAL_OK; i++) { /* what --elf gave */
        const struct symbol_index *image = profiling_image(s->profiling, i);
        if (symbol_lookup(image, RECORDS_SYMBOL, &address, &size))
            err = watch(s, s->options.link, 0, image, address, size, d);
    }
    return err;
}

size_t session_records_count(const struct session *s)
{
    return s->records_count;
}

struct stats_call {
    const struct prof_records_reader *reader;
    struct prof_records_stats *stats;
};

static enum corral_err read_stats(struct link *link, void *ctx, struct diag *d)
{
    const struct stats_call *call = ctx;
    (void)link;
    (void)d;
    prof_records_reader_stats(call->reader, call->stats);
    return CORRAL_OK;
}

/* The reader is the link's thread's, which may be at it. */
const char *session_records_stats(struct session *s, size_t index, struct prof_records_stats *stats)
{
    struct diag d = DIAG_INIT;
    if (index >= s->records_count)
        return NULL;
    struct stats_call call = {s->records[index].reader, stats};
    return session_call(s, read_stats, &call, &d) == CORRAL_OK ? s->records[index].name : NULL;
}

static enum corral_err drain_records(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < s->records_count && err == CORRAL_OK; i++) {
        bool took = true;
        for (int k = 0; k < RECORDS_BURST && took && err == CORRAL_OK; k++)
            err = prof_records_poll(s->records[i].reader, link, &took, d);
    }
    return err;
}

/* --- PC sampling ---------------------------------------------------------------------------------------- */

static enum corral_err poll_pcsr(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)link;
    return s->pcsr ? prof_pcsr_poll(s->pcsr, d) : CORRAL_OK;
}

static enum corral_err open_pcsr(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    const struct prof_pcsr_options options = {.cores = s->cores,
                                              .count = s->core_count,
                                              .streams = profiling_streams(s->profiling),
                                              .raw = session_capture_fetched,
                                              .ctx = s};
    (void)link;
    s->pcsr = prof_pcsr_open(&options, d);
    return s->pcsr ? CORRAL_OK : d ? d->code : CORRAL_ERR_UNSUPPORTED;
}

enum corral_err session_start_pcsr(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (s->core_count == 0)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "link '%s' reaches memory only: there is no core to sample", s->options.link);
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++) {
        char source[80];
        snprintf(source, sizeof(source), "pcsr:%s", core_name(s->cores[i]));
        err = profiling_add_image(s->profiling, source, s->symbols[i], d);
    }
    if (err == CORRAL_OK)
        err = session_call(s, open_pcsr, s, d);
    if (err != CORRAL_OK)
        return err;
    snprintf(s->pcsr_note, sizeof(s->pcsr_note), "%s", prof_pcsr_note(s->pcsr));
    s->pcsr_job = link_thread_every(s->thread, LINK_PRIO_SAMPLE, PCSR_EVERY_NS, poll_pcsr, s);
    return s->pcsr_job < 0 ? diag_set(d, CORRAL_ERR_LIMIT, "too many periodic jobs on one link") : CORRAL_OK;
}

const char *session_pcsr_note(const struct session *s)
{
    return s->pcsr_note;
}

static enum corral_err close_pcsr(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    (void)link;
    enum corral_err err = s->pcsr ? prof_pcsr_flush(s->pcsr, d) : CORRAL_OK;
    prof_pcsr_close(s->pcsr);
    s->pcsr = NULL;
    return err;
}

/* --- both ----------------------------------------------------------------------------------------------- */

enum corral_err session_profile_error(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < s->records_count && err == CORRAL_OK; i++)
        err = link_thread_job_error(s->thread, s->records[i].job, d);
    if (err == CORRAL_OK && s->pcsr)
        err = link_thread_job_error(s->thread, s->pcsr_job, d);
    return err;
}

enum corral_err session_pcsr_close(struct session *s, struct diag *d)
{
    return s->pcsr ? session_call(s, close_pcsr, s, d) : CORRAL_OK;
}

enum corral_err session_stop_profile(struct session *s, struct diag *d)
{
    enum corral_err err = session_pcsr_close(s, d);
    if (err == CORRAL_OK && s->records_count)
        err = session_call(s, drain_records, s, d);
    s->profile_stopped = true;
    if (s->profiling)
        profiling_finish(s->profiling);
    return err;
}

void session_profile_fetch_free(struct session *s)
{
    for (size_t i = 0; i < s->records_count; i++)
        prof_records_reader_free(s->records[i].reader);
    s->records_count = 0;
}
