/* SPDX-License-Identifier: Apache-2.0 */
/* A link from its words on the command line (INTERFACE.md "--link"). */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "link/dry.h"

static struct link *open_sim(const char *spec, struct link_sim_options *options, struct diag *d)
{
    const char *files = spec + strlen("sim");
    if (*files == '\0')
        return link_sim_open(options, d);
    files++; /* the colon */
    const char *comma = strchr(files, ',');
    if (!comma || comma == files || comma[1] == '\0') {
        diag_set(d, CORRAL_ERR_USAGE, "--link '%s': two ELF files are wanted, one for each core", spec);
        diag_hint(d, "for example --link sim:core0.elf,core1.elf");
        return NULL;
    }
    char *first = strndup(files, (size_t)(comma - files));
    if (!first) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    options->elf[0] = first;
    options->elf[1] = comma + 1;
    struct link *link = link_sim_open(options, d);
    free(first);
    return link;
}

struct link *session_open_link_with(const char *spec, const struct link_sim_options *sim,
                                    struct host_clock **clock, struct diag *d)
{
    struct link_sim_options options = sim ? *sim : (struct link_sim_options){0};
    bool is_sim = strcmp(spec, "sim") == 0 || strncmp(spec, "sim:", 4) == 0;
    bool is_dry = strcmp(spec, "dry") == 0 || strncmp(spec, "dry:", 4) == 0;
    *clock = NULL;
    if (!is_sim && !is_dry) {
        diag_set(d, CORRAL_ERR_USAGE, "--link '%s': there is no such kind of link", spec);
        diag_hint(d, "this version knows sim, sim:A.elf,B.elf and dry[:PRESETS]");
        return NULL;
    }
    *clock = host_clock_new_virtual();
    if (!*clock) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    options.clock = *clock;
    struct link *link = is_sim ? open_sim(spec, &options, d) : link_dry_open(spec, *clock, d);
    if (!link) {
        host_clock_free(*clock);
        *clock = NULL;
    }
    return link;
}

struct link *session_open_link(const char *spec, struct host_clock **clock, struct diag *d)
{
    return session_open_link_with(spec, NULL, clock, d);
}
