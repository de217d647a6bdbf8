/* SPDX-License-Identifier: Apache-2.0 */
/* gdb beside everything else that a session does (serve.h). */
#include "session/serve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/run_control.h"
#include "session/session_internal.h"

#define SERVE_SLICE_NS (2 * NS_PER_MS)
#define FLUSH_NS       (20 * NS_PER_MS) /* how long a line may wait before it is drawn */
#define REGIONS        64

struct session_server {
    struct gdb_server *gdb;
    struct session_serve_options options;
    struct session *session;
    struct gdb_region regions[REGIONS];
    size_t region_count;
};

/* What the link can program, with the core that sees it. On the link's thread. */
static enum corral_err ask_regions(struct link *link, void *ctx, struct diag *d)
{
    struct session_server *server = ctx;
    struct link_flash_region found[REGIONS];
    size_t n = link_flash_regions(link, found, REGIONS, d);
    for (size_t i = 0; i < n; i++)
        for (size_t core = 0; core < server->session->core_count && server->region_count < REGIONS; core++)
            if (core_ap(server->session->cores[core]) == found[i].ap)
                server->regions[server->region_count++] =
                    (struct gdb_region){found[i].start, found[i].size, found[i].block, core};
    return CORRAL_OK;
}

/* What `monitor` knows beyond the cores. On the link's thread. */
static enum corral_err monitor(void *ctx, size_t core, const char *words,
                               void (*print)(void *to, const char *text), void *to, bool *known,
                               struct diag *d)
{
    struct session_server *server = ctx;
    static const char level[] = "log level ";
    (void)core;
    if (strncmp(words, level, sizeof(level) - 1) != 0)
        return CORRAL_OK;
    *known = true;
    const char *digit = words + sizeof(level) - 1;
    if (digit[0] < '0' || digit[0] > '9' || digit[1] != '\0')
        return diag_set(d, CORRAL_ERR_USAGE, "log level: a number from 0 to 9 is wanted");
    if (!server->options.set_log_level)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "no log is being read");
    server->options.set_log_level(server->options.ctx, (unsigned)(digit[0] - '0'));
    print(to, "done\n");
    return CORRAL_OK;
}

/* Flash, where the link can program it. On the link's thread. */
static enum corral_err program(struct session *s, enum link_flash_op op, size_t core, uint64_t address,
                               const uint8_t *data, size_t size, struct diag *d)
{
    struct core *c = s->cores[core];
    return link_flash(core_link(c), op, core_ap(c), address, data, size, d);
}

static enum corral_err flash_erase(void *ctx, size_t core, uint64_t address, uint64_t size, struct diag *d)
{
    if (size > UINT32_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "that is more than there can be");
    return program(ctx, LINK_FLASH_ERASE, core, address, NULL, (size_t)size, d);
}

static enum corral_err flash_write(void *ctx, size_t core, uint64_t address, const uint8_t *data, size_t size,
                                   struct diag *d)
{
    return program(ctx, LINK_FLASH_WRITE, core, address, data, size, d);
}

static enum corral_err flash_done(void *ctx, size_t core, struct diag *d)
{
    return program(ctx, LINK_FLASH_DONE, core, 0, NULL, 0, d);
}

static enum corral_err ask_flash(struct link *link, void *ctx, struct diag *d)
{
    (void)d;
    *(bool *)ctx = link_has_flash(link);
    return CORRAL_OK;
}

struct session_server *session_serve_start(struct session *s, const struct session_serve_options *o,
                                           struct diag *d)
{
    const struct config *config = s->options.config;
    if (s->core_count == 0) {
        diag_set(d, CORRAL_ERR_NO_CORE, "link '%s' has no core to serve", s->options.link);
        return NULL;
    }
    struct session_server *server = calloc(1, sizeof(*server));
    if (!server) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    server->options = *o;
    server->session = s;
    /* Of a target of which the link says nothing gdb may touch all memory. */
    session_call(s, ask_regions, server, NULL);
    struct gdb_server_options options = {
        .thread = s->thread,
        .address = o->address,
        .port = o->port,
        .all = o->all,
        .all_port = o->all_port,
        .hub = {.cores = s->cores,
                .count = s->core_count,
                .bus = s->bus,
                .stream = "group",
                .sync = o->sync,
                .sequences = session_pack_sequences(s),
                .reset_by = session_pack_reset_by(s),
                .halt_channel = config ? config->halt_channel : GROUP_ANY_CHANNEL,
                .restart_channel = config ? config->restart_channel : GROUP_ANY_CHANNEL,
                .on_detach = o->on_detach,
                .regions = server->regions,
                .region_count = server->region_count,
                .command = monitor,
                .command_ctx = server},
    };
    uint16_t ports[SESSION_MAX_CORES];
    if (o->described_ports && session_pack_ports(s, ports))
        options.ports = ports;
    bool has_flash = false;
    if (session_call(s, ask_flash, &has_flash, NULL) == CORRAL_OK && has_flash)
        options.hub.flash = (struct gdb_flash){flash_erase, flash_write, flash_done, s};
    server->gdb = gdb_server_start(&options, d);
    if (!server->gdb) {
        free(server);
        return NULL;
    }
    return server;
}

unsigned session_serve_port(const struct session_server *server, size_t core)
{
    return gdb_server_port(server->gdb, core);
}

void session_serve_report(struct session_server *server, struct gdb_server_report *report)
{
    gdb_server_get_report(server->gdb, report);
}

static int64_t real_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* The board is ahead of real time by this much: let the rest of the machine have it. */
static void wait_for_real_time(int64_t ahead)
{
    struct timespec ts = {.tv_sec = 0, .tv_nsec = (long)(ahead < NS_PER_S ? ahead : NS_PER_S - 1)};
    nanosleep(&ts, NULL); /* a signal ends it early, which is what is wanted */
}

enum corral_err session_serve(struct session *s, struct session_server *server, const atomic_bool *stop,
                              struct diag *d)
{
    bool paced = host_clock_is_virtual(s->clock);
    int64_t real = real_now(), board = host_clock_now(s->clock), flushed = real;
    enum corral_err err = CORRAL_OK;
    while (!err && !atomic_load(stop)) {
        err = session_run_for(s, SERVE_SLICE_NS, stop, d);
        int64_t now = real_now();
        if (paced) {
            int64_t ahead = (host_clock_now(s->clock) - board) - (now - real);
            if (ahead > 0) {
                wait_for_real_time(ahead);
            } else if (ahead < -NS_PER_S / 10) { /* too slow: what is behind is not made up for */
                real = now;
                board = host_clock_now(s->clock);
            }
        }
        if (!err && now - flushed >= FLUSH_NS) {
            err = event_bus_flush(s->bus, d);
            flushed = now;
        }
        struct diag why = DIAG_INIT;
        if (!err && gdb_server_error(server->gdb, &why) == CORRAL_ERR_LINK_DOWN) {
            *d = why;
            err = why.code;
        }
    }
    return err == CORRAL_ERR_INTERRUPTED ? CORRAL_OK : err;
}

enum corral_err session_serve_stop(struct session *s, struct session_server *server, struct diag *d)
{
    if (!server)
        return CORRAL_OK;
    bool keep = server->options.on_detach == GDB_DETACH_KEEP;
    struct diag why = DIAG_INIT;
    enum corral_err err = gdb_server_stop(server->gdb, d);
    enum corral_err left = session_detach(s, keep, &why);
    if (left && !err) {
        err = left;
        if (d)
            *d = why;
    }
    free(server);
    return err;
}
