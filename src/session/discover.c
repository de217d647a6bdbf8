/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session works with: the cores that are there, under the names and with the facts that corral.yml
 * gives them, their symbols, and the group. Reads only, but for what opening a core writes.
 */
#include <stdio.h>
#include <string.h>

#include "session/config.h"
#include "session/session_internal.h"
#include "session/target_hints.h"

const char *session_core_label(const struct session *s, unsigned ap, char out[SESSION_LABEL_MAX])
{
    const struct config_core *config = config_core_on(s->options.config, ap);
    const struct pack_processor *processor = session_pack_processor(s, ap);
    if (config)
        snprintf(out, SESSION_LABEL_MAX, "%s", config->name);
    else if (processor && processor->pname[0])
        snprintf(out, SESSION_LABEL_MAX, "%s", processor->pname);
    else
        snprintf(out, SESSION_LABEL_MAX, "core%u", ap);
    return out;
}

/* corral.yml's name before the description's before ours. */
static const char *name_of(const struct session *s, const struct cs_core *found)
{
    const struct config_core *config = config_core_on(s->options.config, found->ap);
    const struct pack_processor *processor = session_pack_processor(s, found->ap);
    return config ? config->name : processor && processor->pname[0] ? processor->pname : found->name;
}

static bool is_wanted(const struct session *s, const char *name)
{
    for (size_t i = 0; i < s->options.core_name_count; i++)
        if (strcmp(s->options.core_names[i], name) == 0)
            return true;
    return s->options.core_name_count == 0;
}

size_t session_board_core(const struct session *s, uint32_t ap)
{
    size_t i = 0;
    while (i < LINK_SIM_CORES && !(s->is_board && s->board.ap[i] == ap))
        i++;
    return i;
}

/* A CTI that cannot be used is a reason not to synchronise, not a reason to do nothing. */
static struct cti *open_cti(struct link *link, const struct cs_core *found)
{
    if (!found->has_cti)
        return NULL;
    return cti_open(link, found->cti.ap, found->cti.address, found->cti.restart_output, NULL);
}

static enum corral_err open_one_core(struct session *s, struct link *link, const struct cs_core *found,
                                     struct diag *d)
{
    const struct config_core *config = config_core_on(s->options.config, found->ap);
    size_t of_board = session_board_core(s, found->ap);
    uint32_t hz = of_board < LINK_SIM_CORES ? s->board.core_hz[of_board] : 0;
    if (config && config->hz)
        hz = (uint32_t)config->hz;
    struct cti *cti = found->stub ? NULL : open_cti(link, found);
    struct core *core = found->stub ? core_gdb_stub_open(link, found->ap, name_of(s, found), hz, d)
                                    : core_cortex_m_open(link, found->ap, name_of(s, found), hz, cti, d);
    if (!core) {
        cti_close(cti);
        return d->code;
    }
    s->found[s->core_count] = (size_t)(found - s->topology->cores);
    s->cores[s->core_count++] = core;
    return CORRAL_OK;
}

/* Every core that the command line or corral.yml names must be there. */
static enum corral_err check_names(const struct session *s, const struct cs_topology *t, struct diag *d)
{
    const struct config *c = s->options.config;
    for (size_t i = 0; c && i < c->core_count; i++) {
        uint32_t ap = c->cores[i].ap_set ? c->cores[i].ap : (uint32_t)i;
        bool there = false;
        for (size_t k = 0; k < t->core_count; k++)
            there |= t->cores[k].ap == ap;
        if (!there) {
            char number[LINK_AP_NAME_MAX];
            diag_set(d, CORRAL_ERR_CONFIG, "%s:%u: there is no core on AP %s for '%s'", c->file,
                     c->cores[i].line, link_ap_name(ap, number), c->cores[i].name);
            diag_hint(d, "'corral scan' lists what is there");
            return CORRAL_ERR_CONFIG;
        }
    }
    for (size_t i = 0; i < s->options.core_name_count; i++) {
        bool there = false;
        for (size_t k = 0; k < t->core_count; k++)
            there |= strcmp(name_of(s, &t->cores[k]), s->options.core_names[i]) == 0;
        if (!there) {
            diag_set(d, CORRAL_ERR_USAGE, "there is no core '%s'", s->options.core_names[i]);
            if (t->core_count)
                diag_hint(d, "the first is %s and the last %s; see 'corral scan'", name_of(s, &t->cores[0]),
                          name_of(s, &t->cores[t->core_count - 1]));
            return CORRAL_ERR_USAGE;
        }
    }
    return CORRAL_OK;
}

/* An image without a symbol table runs all the same: its names are then not known. */
enum corral_err session_open_images(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    for (unsigned i = 0; i < LINK_SIM_CORES; i++) {
        /* Two labels, for these are two programs: whoever compares images goes by their names. */
        static const char *const built_in[LINK_SIM_CORES] = {"the built-in image of core0",
                                                             "the built-in image of core1"};
        const uint8_t *image;
        size_t size;
        char label[256];
        struct diag why = DIAG_INIT;
        if (!link_sim_image(link, i, &image, &size))
            continue;
        s->board_programs++;
        session_image_name(s->options.link, i, label, sizeof(label));
        s->images[i] = symbol_open_memory(image, size, label[0] ? label : built_in[i], &why);
        if (s->images[i] || why.code == CORRAL_ERR_NO_SYMBOL)
            continue;
        if (d)
            *d = why;
        return why.code;
    }
    return CORRAL_OK;
}

/* corral.yml's ELF, else the description's where it has been built, else the image that the virtual board
 * runs. */
static enum corral_err open_symbols(struct session *s, size_t core, struct diag *d)
{
    uint32_t ap = core_ap(s->cores[core]);
    const struct config_core *config = config_core_on(s->options.config, ap);
    if (config && config->elf) {
        s->symbols[core] = symbol_open(config->elf, d);
        return s->symbols[core] ? CORRAL_OK : d->code;
    }
    const char *described = session_pack_program(s, core);
    struct diag why = DIAG_INIT;
    if (described && (s->symbols[core] = symbol_open(described, &why)))
        return CORRAL_OK;
    if (described)
        session_pack_note(s, why.message);
    size_t of_board = session_board_core(s, ap);
    if (of_board < LINK_SIM_CORES) {
        s->symbols[core] = s->images[of_board];
        s->images[of_board] = NULL;
    }
    return CORRAL_OK;
}

/* Application cores are listed, and are none of those that can be halted. */
static enum corral_err no_core(const struct session *s, const struct link *link, struct diag *d)
{
    const struct cs_topology *t = s->topology;
    uint32_t ap;
    const char *why;
    char number[LINK_AP_NAME_MAX];
    if (t->core_count)
        diag_set(d, CORRAL_ERR_NO_CORE, "no M-profile core was found on link '%s': %s is a %s",
                 link_name(link), t->cores[0].name, t->cores[0].type);
    else if (session_silent_port(s, 0, &ap, &why))
        diag_set(d, CORRAL_ERR_NO_CORE, "no core was found on link '%s', and AP %s does not answer: %s",
                 link_name(link), link_ap_name(ap, number), why);
    else
        diag_set(d, CORRAL_ERR_NO_CORE, "no core was found on link '%s'", link_name(link));
    diag_hint(d, "'corral scan' lists what is there; read, write and watch reach memory with --ap N");
    return CORRAL_ERR_NO_CORE;
}

bool session_silent_port(const struct session *s, size_t n, uint32_t *ap, const char **why)
{
    const struct cs_topology *t = s->topology;
    for (size_t i = 0; t && i < t->ap_count; i++) {
        bool has_core = false;
        for (size_t k = 0; k < t->core_count; k++)
            has_core |= t->cores[k].ap == t->aps[i].ap;
        if (!t->aps[i].error[0] || has_core || n--)
            continue;
        *ap = t->aps[i].ap;
        *why = t->aps[i].error;
        return true;
    }
    return false;
}

enum corral_err session_discover(struct link *link, void *ctx, struct diag *d)
{
    struct session *s = ctx;
    s->is_board = link_sim_get_info(link, &s->board);
    cs_topology_free(s->topology); /* of a try before */
    s->topology = NULL;
    struct target_hints *hints = target_hints_new(s->options.config, session_pack_for_target(s), d);
    struct cs_topology *t = s->topology = hints ? cs_scan(link, target_hints_get(hints), d) : NULL;
    target_hints_free(hints);
    if (!t)
        return d->code;
    enum corral_err err = session_pack_bind(s, d);
    if (err == CORRAL_OK)
        err = check_names(s, t, d);
    for (size_t i = 0; i < t->core_count && s->core_count < SESSION_MAX_CORES && err == CORRAL_OK; i++)
        if ((t->cores[i].cortex_m || t->cores[i].stub) && session_pack_knows(s, t->cores[i].ap) &&
            is_wanted(s, name_of(s, &t->cores[i])))
            err = open_one_core(s, link, &t->cores[i], d);
    if (err == CORRAL_OK && s->core_count == 0)
        err = no_core(s, link, d);
    for (size_t i = 0; i < s->core_count && err == CORRAL_OK; i++)
        err = open_symbols(s, i, d);
    if (err == CORRAL_OK)
        err = session_profile_images(s, d);
    if (err != CORRAL_OK)
        return err;
    s->group = group_new(s->cores, s->core_count, s->bus, "group");
    if (!s->group)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return session_pack_start(s, link, d);
}
