/* SPDX-License-Identifier: Apache-2.0 */
/* A link from its words on the command line (INTERFACE.md "--link"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/dry.h"
#include "link/jtag.h"
#include "link/openocd.h"
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

static bool is_kind(const char *spec, const char *kind)
{
    size_t n = strlen(kind);
    return strncmp(spec, kind, n) == 0 && (spec[n] == '\0' || spec[n] == ':');
}

bool session_words_mean_board(const char *spec)
{
    return is_kind(spec, "sim");
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
    bool real = is_kind(spec, "shm") || is_kind(spec, "jtag") || is_kind(spec, "openocd");
    if (!is_kind(spec, "sim") && !is_kind(spec, "dry") && !real) {
        diag_set(d, CORRAL_ERR_USAGE, "--link '%s': there is no such kind of link", spec);
        diag_hint(d, "this version knows sim, sim:A.elf,B.elf, shm:PATH[@BASE], dry[:PRESETS], "
                     "jtag:HOST:PORT, openocd:HOST:PORT and openocd:spawn:CFG");
        return NULL;
    }
    struct host_clock *clock = real ? host_clock_new_real() : host_clock_new_virtual();
    if (!clock)
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return clock;
}

struct link *session_open_link_with(const char *spec, const struct link_sim_options *sim,
                                    struct host_clock *clock, struct diag *d)
{
    struct link_sim_options options = sim ? *sim : (struct link_sim_options){0};
    options.clock = clock;
    if (is_kind(spec, "shm"))
        return link_shm_open(spec, clock, d);
    if (is_kind(spec, "jtag"))
        return link_jtag_open(spec, NULL, clock, d);
    if (is_kind(spec, "openocd"))
        return link_openocd_open(spec, NULL, clock, d);
    return is_kind(spec, "sim") ? open_sim(spec, &options, d) : link_dry_open(spec, clock, d);
}

enum corral_err session_wire_clock(const char *spec, uint32_t given, const struct config *config,
                                   struct link_sim_options *sim, struct diag *d)
{
    sim->swclk_hz = given;
    if (!given && config) /* it may be meant for the link of the file, which another one stands in for */
        sim->swclk_hz = (uint32_t)config->clock_hz;
    sim->board = config ? config->board : NULL;
    if (given && !is_kind(spec, "sim"))
        return diag_set(d, CORRAL_ERR_USAGE, "--clock: link '%s' has no wire whose clock could be set", spec);
    return CORRAL_OK;
}

struct link *session_open_link(const char *spec, uint32_t clock_hz, const struct config *config,
                               struct host_clock **clock, struct diag *d)
{
    struct link_sim_options sim = {0};
    *clock =
        session_wire_clock(spec, clock_hz, config, &sim, d) == CORRAL_OK ? session_clock_for(spec, d) : NULL;
    struct link *link = *clock ? session_open_link_with(spec, &sim, *clock, d) : NULL;
    if (!link) {
        host_clock_free(*clock);
        *clock = NULL;
    }
    return link;
}
