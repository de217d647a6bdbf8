/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, reading and closing what a profile comes from (profile_sources.h). */
#include "cli/profile_sources.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/view_session.h"
#include "prof/records.h"
#include "session/config.h"
#include "session/session.h"
#include "symbol/symbol_space.h"

#define CONNECT_NS (10 * NS_PER_S)
#define LOOPBACK   "127.0.0.1"

static bool has_link(const struct profile_sources *s)
{
    if (s->cli->link || s->o->pcsr)
        return true;
    return s->o->pcap_count == 0 && s->config && s->config->link;
}

static enum corral_err open_session(struct profile_sources *s, struct diag *d)
{
    const struct session_options options = {
        .link = s->cli->link,
        .clock_hz = s->cli->clock_hz,
        .wire = s->cli->wire,
        .config = s->config,
        .profile = true,
        .no_listen = s->o->pcsr && !s->o->listen_given,
        .listen = s->o->listen,
        .listen_port = s->o->listen_port,
        .timeout_ns = s->cli->timeout_ns,
        .bus = s->bus,
    };
    s->session = session_open(&options, d);
    if (!s->session)
        return d->code;
    s->profiling = session_profiling(s->session);
    return CORRAL_OK;
}

static enum corral_err open_profiling(struct profile_sources *s, struct diag *d)
{
    s->own_clock = host_clock_new_real();
    if (!s->own_clock)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    const struct profiling_options options = {.bus = s->bus_given ? s->bus : NULL, .clock = s->own_clock};
    s->profiling = profiling_new(&options, d);
    return s->profiling ? profiling_use_config(s->profiling, s->config, s->o->elf_count == 0, d) : d->code;
}

static enum corral_err connect_session(struct profile_sources *s, struct diag *d)
{
    enum corral_err err = session_connect(s->session, d);
    if (err == CORRAL_OK)
        err = session_start_records(s->session, d);
    if (err == CORRAL_OK && s->o->pcsr)
        err = session_start_pcsr(s->session, d);
    return err;
}

enum corral_err profile_sources_open(struct profile_sources *s, struct diag *d)
{
    s->bus_given = s->bus != NULL;
    if (!s->bus)
        s->bus = event_bus_new();
    if (!s->bus)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = cli_load_config(s->cli, &s->config, d);
    if (err == CORRAL_OK)
        err = has_link(s) ? open_session(s, d) : open_profiling(s, d);
    for (size_t i = 0; i < s->o->elf_count && err == CORRAL_OK; i++)
        err = profiling_add_elf(s->profiling, s->o->elfs[i], d);
    if (err == CORRAL_OK && s->o->legacy_headers)
        prof_streams_legacy_headers(profiling_streams(s->profiling));
    return err == CORRAL_OK && s->session ? connect_session(s, d) : err;
}

static void add_stats(struct profile_sources *s, const struct profiling_file_stats *one)
{
    s->files.packets += one->packets;
    s->files.udp += one->udp;
    s->files.other += one->other;
    s->files.fragments += one->fragments;
    s->files.cut += one->cut;
    s->files.unknown_linktype += one->unknown_linktype;
    if (!one->damaged)
        return;
    s->damaged_files++;
    s->damage = one->damage;
}

/* A file that was not read to its end would be a profile of something else than it says. */
static bool is_pipe(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 && fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode);
}

enum corral_err profile_sources_read_files(struct profile_sources *s,
                                           void (*progress)(void *ctx, uint64_t done, uint64_t size),
                                           void *ctx, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < s->o->pcap_count && err == CORRAL_OK; i++) {
        struct profiling_file_stats stats = {0};
        err = profiling_read_capture(s->profiling, s->o->pcaps[i], s->o->port, false, s->stop, progress, ctx,
                                     &stats, d);
        add_stats(s, &stats);
        if (err == CORRAL_ERR_INTERRUPTED && is_pipe(s->o->pcaps[i]))
            return CORRAL_OK;
    }
    return err;
}

bool profile_sources_live(const struct profile_sources *s)
{
    return s->session || s->o->listen_given || s->o->connect || s->o->pcap_count == 0;
}

/* A daemon elsewhere sends to the address that this machine has for it, which 127.0.0.1 would never hear. */
const char *profile_sources_address(const struct profile_sources *s)
{
    if (s->o->listen)
        return s->o->listen;
    if (s->config && s->config->listen[0])
        return s->config->listen;
    return s->o->connect && !profiling_target_is_here(s->o->connect) ? "0.0.0.0" : LOOPBACK;
}

static enum corral_err listen_here(struct profile_sources *s, struct diag *d)
{
    const struct config *c = s->config;
    const char *address = profile_sources_address(s);
    int port = s->o->listen_port >= 0     ? s->o->listen_port
               : c && c->listen_port >= 0 ? c->listen_port
                                          : PROF_PORT;
    const struct prof_collector_options options = {
        .address = address, .port = (uint16_t)port, .clock = s->own_clock};
    return profiling_listen(s->profiling, &options, d);
}

enum corral_err profile_sources_start(struct profile_sources *s, struct diag *d)
{
    enum corral_err err = s->session ? CORRAL_OK : listen_here(s, d);
    if (err == CORRAL_OK && s->o->connect)
        err = profiling_control(s->profiling, s->o->connect,
                                s->cli->timeout_ns > 0 ? s->cli->timeout_ns : CONNECT_NS, d);
    return err;
}

enum corral_err profile_sources_run(struct profile_sources *s, int64_t ns, struct diag *d)
{
    if (!s->session)
        return CORRAL_OK;
    enum corral_err err = session_run_for(s->session, ns, s->stop, d);
    return err == CORRAL_OK ? session_profile_error(s->session, d) : err;
}

struct host_clock *profile_sources_clock(struct profile_sources *s)
{
    return s->session ? session_clock(s->session) : s->own_clock;
}

/* --- what the report cannot know ------------------------------------------------------------------------ */

static void records_remarks(struct session *session, size_t index, struct profiling_remarks *remarks)
{
    struct prof_records_stats r;
    const char *name = session_records_stats(session, index, &r);
    if (!name)
        return;
    if (r.lost)
        profiling_remarks_add(remarks, PROFILING_NOTE, -1, "records-full",
                              "%s: the target found no room in RAM for %" PRIu64
                              " packets (they are among the "
                              "lost ones): read it faster, or give it more slots",
                              name, r.lost);
    if (!r.ready)
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "records-none",
                              "%s: there is a prof_buffer, but nothing was ever put into it", name);
    if (r.bad_shapes + r.bad_owners + r.bad_batches + r.bad_records)
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "records-bad",
                              "%s: what was read at prof_buffer was refused: %" PRIu64 " headers, %" PRIu64
                              " owners, %" PRIu64 " batches, %" PRIu64 " records",
                              name, r.bad_shapes, r.bad_owners, r.bad_batches, r.bad_records);
}

static void file_remarks(const struct profile_sources *s, struct profiling_remarks *remarks)
{
    if (s->damaged_files)
        profiling_remarks_add(remarks, PROFILING_LOSS, -1, "damaged-file", "%s%s; what came before stands",
                              s->damage.message, s->damaged_files > 1 ? ", and other files are damaged" : "");
    if (s->files.cut)
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "cut-frames",
                              "%" PRIu64 " frames were cut when they were captured and are not read: capture "
                              "with a longer snap length",
                              s->files.cut);
    if (s->files.fragments)
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "fragments",
                              "%" PRIu64 " fragments of IP packets are not read", s->files.fragments);
}

/* What to look at when nothing came. */
static void empty_remarks(const struct profile_sources *s, const struct prof_report *report,
                          struct profiling_remarks *remarks)
{
    struct prof_collector *collector = profiling_collector(s->profiling);
    if (report->totals.packets || report->totals.rejected)
        return;
    if (s->o->pcap_count && s->files.packets)
        profiling_remarks_add(remarks, PROFILING_NOTE, -1, "no-datagram",
                              "of %" PRIu64 " captured packets none was for UDP port %u (--port)",
                              s->files.packets, (unsigned)s->o->port);
    if (!s->session && collector && strcmp(profile_sources_address(s), LOOPBACK) == 0)
        profiling_remarks_add(
            remarks, PROFILING_NOTE, -1, "loopback",
            "port %u was listened on at " LOOPBACK ", where only this machine can send to; for a "
            "target on the network: --listen 0.0.0.0:%u",
            (unsigned)prof_collector_port(collector), (unsigned)prof_collector_port(collector));
}

/* A name that nobody has is no error, since senders come late; but it is worth a word. */
static void elf_remarks(const struct profile_sources *s, const struct prof_report *report,
                        struct profiling_remarks *remarks)
{
    char sender[256];
    for (size_t i = 0; i < SYMBOL_SPACE_MAX_IMAGES && report->totals.packets; i++)
        if (profiling_idle_elf(s->profiling, report, i, sender))
            profiling_remarks_add(
                remarks, PROFILING_WARNING, -1, "elf-unused",
                "%.200s: an ELF file was given for this sender, but none of this name, address or "
                "number sent anything",
                sender);
}

void profile_sources_remarks(struct profile_sources *s, const struct prof_report *report,
                             struct profiling_remarks *remarks)
{
    struct prof_collector *collector = profiling_collector(s->profiling);
    file_remarks(s, remarks);
    empty_remarks(s, report, remarks);
    elf_remarks(s, report, remarks);
    if (collector && prof_collector_receive_buffer(collector) < PROF_BUFFER_ENOUGH)
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "small-buffer",
                              "the kernel gave a receive buffer of only %zu bytes, in which a burst may be "
                              "lost: raise net.core.rmem_max",
                              prof_collector_receive_buffer(collector));
    if (s->session && session_pcsr_note(s->session)[0])
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "pcsr", "%s", session_pcsr_note(s->session));
    for (size_t i = 0; s->session && i < session_records_count(s->session); i++)
        records_remarks(s->session, i, remarks);
    if (profiling_control_refused(s->profiling))
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "control-lines",
                              "%.200s: %" PRIu64
                              " lines of its answers were refused: names of its processes may be missing",
                              s->o->connect, profiling_control_refused(s->profiling));
    if (profiling_control_lost(s->profiling))
        profiling_remarks_add(remarks, PROFILING_WARNING, -1, "connection",
                              "%s closed the control connection before the end", s->o->connect);
}

enum corral_err profile_sources_close(struct profile_sources *s, enum corral_err err, struct diag *d)
{
    if (s->session)
        err = cli_leave(s->session, err, d); /* frees the profile, too */
    else
        profiling_free(s->profiling);
    host_clock_free(s->own_clock);
    config_free(s->config);
    if (!s->bus_given)
        event_bus_free(s->bus, NULL);
    return err;
}
