/* SPDX-License-Identifier: Apache-2.0 */
/* A link from its words on the command line (INTERFACE.md "--link"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/cmsis_dap.h"
#include "link/dry.h"
#include "link/jtag.h"
#include "link/link_gdb.h"
#include "link/openocd.h"
#include "link/replay.h"
#include "link/shm.h"
#include "session/config.h"
#include "session/session_internal.h"

static struct link *open_sim(const char *spec, struct link_sim_options *options, struct diag *d)
{
    const char *files = spec + strlen("sim");
    if (*files == '\0')
        return link_sim_open(options, d);
    files++; /* the colon */
    const char *comma = strchr(files, ',');
    size_t length = comma ? (size_t)(comma - files) : strlen(files);
    if (length == 0 || (comma && comma[1] == '\0')) {
        diag_set(d, CORRAL_ERR_USAGE, "--link '%s': an ELF file for core 0 is wanted, or one for each core",
                 spec);
        diag_hint(d, "for example --link sim:core0.elf,core1.elf");
        return NULL;
    }
    char *first = strndup(files, length);
    if (!first) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    options->elf[0] = first;
    options->elf[1] = comma ? comma + 1 : NULL; /* core 1 is held in reset */
    struct link *link = link_sim_open(options, d);
    free(first);
    return link;
}

bool session_words_mean(const char *spec, const char *kind)
{
    size_t n = strlen(kind);
    return strncmp(spec, kind, n) == 0 && (spec[n] == '\0' || spec[n] == ':');
}

bool session_words_mean_board(const char *spec)
{
    return session_words_mean(spec, "sim");
}

void session_image_name(const char *spec, unsigned core, char *out, size_t size)
{
    const char *comma = strchr(spec, ',');
    out[0] = '\0';
    if (strncmp(spec, "sim:", 4) != 0)
        return;
    if (!comma)
        snprintf(out, size, "%s", core == 0 ? spec + 4 : "");
    else if (core == 0)
        snprintf(out, size, "%.*s", (int)(comma - spec - 4), spec + 4);
    else
        snprintf(out, size, "%s", comma + 1);
}

const char *session_link_words(const char *command_line, const struct config *config)
{
    if (command_line)
        return command_line;
    return config && config->link ? config->link : "sim";
}

struct host_clock *session_clock_for(const char *spec, struct diag *d)
{
    bool real = session_words_mean(spec, "shm") || session_words_mean(spec, "jtag") ||
                session_words_mean(spec, "openocd") || session_words_mean(spec, "cmsis-dap") ||
                session_words_mean(spec, "gdb");
    if (!session_words_mean(spec, "sim") && !session_words_mean(spec, "dry") &&
        !session_words_mean(spec, "replay") && !real) {
        diag_set(d, CORRAL_ERR_USAGE, "--link '%s': there is no such kind of link", spec);
        diag_hint(d, "this version knows sim, sim:A.elf,B.elf, shm:PATH[@BASE], dry[:PRESETS], "
                     "cmsis-dap[:SERIAL], cmsis-dap:tcp:HOST:PORT, jtag:HOST:PORT, openocd:HOST:PORT, "
                     "openocd:spawn:CFG, gdb:HOST:PORT and replay:FILE");
        return NULL;
    }
    struct host_clock *clock = real ? host_clock_new_real() : host_clock_new_virtual();
    if (!clock)
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return clock;
}

/* corral.yml's words on a wire are meant for its own link, which another one may stand in for. */
static bool is_own_link(const char *spec, const struct config *config)
{
    return config && config->link && strcmp(spec, config->link) == 0;
}

enum connect_mode session_connect_mode(const char *spec, const struct session_wire *wire,
                                       const struct config *config)
{
    if (wire && wire->connect != CONNECT_DEFAULT)
        return wire->connect;
    return is_own_link(spec, config) && config->connect ? config->connect : CONNECT_ATTACH;
}

static enum corral_err wire_options(const char *spec, const struct session_link_how *how,
                                    struct link_options *o, struct diag *d)
{
    const struct config *config = how->config;
    bool sim = session_words_mean(spec, "sim"), own = is_own_link(spec, config);
    bool has_wire = sim || session_words_mean(spec, "jtag") || session_words_mean(spec, "openocd") ||
                    session_words_mean(spec, "cmsis-dap");
    *o = (struct link_options){.wire_hz = how->clock_hz, .open_ns = how->timeout_ns};
    o->protocol = how->wire ? how->wire->protocol : LINK_PROTOCOL_ANY;
    if (!o->wire_hz && config && (sim || own))
        o->wire_hz = (uint32_t)config->clock_hz;
    if (!o->protocol && own)
        o->protocol = config->protocol;
    if (o->wire_hz && !has_wire)
        return diag_set(d, CORRAL_ERR_USAGE, "--clock: link '%s' has no wire whose clock could be set", spec);
    if (o->protocol && !has_wire)
        return diag_set(d, CORRAL_ERR_USAGE, "--protocol: link '%s' has no choice of protocol", spec);
    if (sim && o->protocol == LINK_PROTOCOL_JTAG)
        return diag_set(d, CORRAL_ERR_USAGE, "--protocol: the virtual board in this process has an SWD port");
    return CORRAL_OK;
}

static struct link *open_kind(const char *spec, const struct session_link_how *how,
                              const struct link_options *o, struct host_clock *clock, struct diag *d)
{
    struct link_sim_options sim = how->sim ? *how->sim : (struct link_sim_options){0};
    sim.clock = clock;
    sim.swclk_hz = o->wire_hz;
    sim.board = how->config ? how->config->board : NULL;
    if (session_words_mean(spec, "shm"))
        return link_shm_open(spec, clock, d);
    if (session_words_mean(spec, "jtag"))
        return link_jtag_open(spec, o, clock, d);
    if (session_words_mean(spec, "openocd"))
        return link_openocd_open(spec, o, clock, d);
    if (session_words_mean(spec, "cmsis-dap"))
        return link_cmsis_dap_open(spec, o, clock, d);
    if (session_words_mean(spec, "gdb"))
        return link_gdb_open(spec, o, clock, d);
    if (session_words_mean(spec, "replay"))
        return link_replay_open(spec, clock, d);
    return session_words_mean(spec, "sim") ? open_sim(spec, &sim, d) : link_dry_open(spec, clock, d);
}

struct link *session_open_kind(const char *spec, const struct session_link_how *how, struct host_clock *clock,
                               struct diag *d)
{
    struct link_options o;
    if (wire_options(spec, how, &o, d) != CORRAL_OK)
        return NULL;
    struct link *link = open_kind(spec, how, &o, clock, d);
    const char *log = link && how->wire ? how->wire->log : NULL;
    if (log && link_start_wire_log(link, log, d) != CORRAL_OK) {
        link_close(link);
        return NULL;
    }
    return link;
}

struct link *session_open_wire(const char *spec, uint32_t clock_hz, const struct session_wire *wire,
                               int64_t timeout_ns, const struct config *config, struct host_clock **clock,
                               struct diag *d)
{
    struct session_link_how how = {
        .clock_hz = clock_hz, .wire = wire, .timeout_ns = timeout_ns, .config = config};
    *clock = session_clock_for(spec, d);
    struct link *link = *clock ? session_open_kind(spec, &how, *clock, d) : NULL;
    if (!link) {
        host_clock_free(*clock);
        *clock = NULL;
    }
    return link;
}

struct link *session_open_link(const char *spec, uint32_t clock_hz, const struct config *config,
                               struct host_clock **clock, struct diag *d)
{
    return session_open_wire(spec, clock_hz, NULL, 0, config, clock, d);
}
