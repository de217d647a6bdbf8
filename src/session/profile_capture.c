/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's sources in the capture file: an interface for each, and what it received and lost. Packets that
 * come through the link are no datagrams, so no addresses are made up for them: each of their senders has an
 * interface under a link type of Corral's own, by whose name the reader knows it again.
 */
#include <stdio.h>
#include <string.h>

#include "session/session_internal.h"

enum corral_err session_capture(struct session *s, struct capture_writer *capture, struct diag *d)
{
    if (s->options.listen && strchr(s->options.listen, ':'))
        return diag_set(
            d, CORRAL_ERR_UNSUPPORTED,
            "a capture file takes profile packets over IPv4 only, and the collector listens on %s",
            s->options.listen);
    enum corral_err err =
        capture_writer_interface(capture, CAPTURE_LINKTYPE_RAW_IP, "profile", &s->capture_udp, d);
    if (err == CORRAL_OK)
        s->capture = capture;
    return err == CORRAL_OK && s->group ? session_capture_cores(s, d) : err;
}

enum corral_err session_capture_cores(struct session *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; s->capture && i < s->core_count && err == CORRAL_OK; i++) {
        char name[64];
        snprintf(name, sizeof(name), "log %s", core_name(s->cores[i]));
        err = capture_writer_interface(s->capture, CAPTURE_LINKTYPE_TLOG, name, &s->capture_logs[i], d);
    }
    return err;
}

/* --- packets that come through the link ----------------------------------------------------------------- */

static void tell_left_out(struct session *s, const char *source, const struct diag *why)
{
    char text[400];
    struct event e = event_make(EVENT_MARKER, "profile");
    snprintf(text, sizeof(text), "the packets of %.79s are not in the capture file: %.250s", source,
             why->message);
    e.host_ns = host_clock_now(s->clock);
    e.marker.text = text;
    event_bus_publish(s->bus, &e);
}

static struct session_fetched *fetched_from(struct session *s, struct capture_writer *capture,
                                            const char *source)
{
    struct diag d = DIAG_INIT;
    char name[sizeof(CAPTURE_PROFILE_NAME) + sizeof(s->fetched[0].source)];
    for (size_t i = 0; i < s->fetched_count; i++)
        if (strcmp(s->fetched[i].source, source) == 0)
            return &s->fetched[i];
    if (s->fetched_count == sizeof(s->fetched) / sizeof(s->fetched[0]))
        return NULL; /* cannot be: a core has one buffer, and its pc is sampled once */
    struct session_fetched *f = &s->fetched[s->fetched_count++];
    *f = (struct session_fetched){.packets = 0};
    snprintf(f->source, sizeof(f->source), "%s", source);
    snprintf(name, sizeof(name), CAPTURE_PROFILE_NAME "%s", f->source);
    f->has_interface =
        capture_writer_interface(capture, CAPTURE_LINKTYPE_PROFILE, name, &f->interface_id, &d) == CORRAL_OK;
    if (!f->has_interface)
        tell_left_out(s, source, &d);
    return f;
}

void session_capture_fetched(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns)
{
    struct session *s = ctx;
    struct capture_writer *capture = s->capture;
    struct session_fetched *f = capture ? fetched_from(s, capture, source) : NULL;
    if (!f || !f->has_interface)
        return;
    f->packets++; /* an error stays with the writer and is reported when it is closed */
    capture_writer_packet(capture, f->interface_id, host_ns, data, size, NULL, NULL);
}

/* --- received and lost ---------------------------------------------------------------------------------- */

static uint64_t lost_of(struct session *s, const char *source)
{
    struct prof_totals totals;
    char name[PROF_SOURCE_NAME_ROOM];
    for (unsigned i = 0; i < PROF_MAX_SOURCES; i++)
        if (prof_streams_source_totals(profiling_streams(s->profiling), i, name, &totals) &&
            strcmp(name, source) == 0)
            return totals.lost;
    return 0;
}

void session_capture_stats(struct session *s)
{
    struct prof_totals totals;
    if (!s->capture)
        return;
    int64_t now = host_clock_now(s->clock);
    session_profile_totals(s, &totals);
    for (size_t i = 0; i < s->fetched_count; i++) { /* errors stay with the writer */
        const struct session_fetched *f = &s->fetched[i];
        uint64_t lost = lost_of(s, f->source);
        totals.lost -= lost < totals.lost ? lost : totals.lost;
        if (f->has_interface)
            capture_writer_stats(s->capture, f->interface_id, now, f->packets, lost, NULL);
    }
    struct prof_collector *collector = profiling_collector(s->profiling);
    if (collector)
        capture_writer_stats(s->capture, s->capture_udp, now, prof_collector_taken(collector), totals.lost,
                             NULL);
    for (size_t i = 0; i < s->log_count; i++) {
        struct tlog_consumer_stats stats;
        tlog_consumer_get_stats(s->logs[i].consumer, &stats);
        capture_writer_stats(s->capture, s->capture_logs[s->logs[i].core], now, stats.batches, stats.lost,
                             NULL);
    }
}
