/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's debugvars and sequences, handed over as text with its places; what the text means is
 * src/sequence/'s matter. Cross-trigger sheet 4.1 (inheritance, disable), 4.4 (control), 4.5 (block).
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pack/pack_pdsc_internal.h"

/* The set refused it: where it was, is said here. */
static bool refused(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    const struct diag set = *r->d;
    if (set.code == CORRAL_ERR_NO_MEMORY)
        return false;
    pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d, "%.180s", set.message);
    r->d->code = set.code;
    return false;
}

/* ---- sequences */

/* An attribute as a text of the language; NULL when it is not there. */
static bool take_text(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                      struct pack_xml_text *t, struct sequence_text *text, const struct sequence_text **out)
{
    bool there = false;
    if (!pack_xml_attribute(r->x, node, name, true, t, &there, r->d))
        return false;
    *text = pack_xml_sequence_text(t);
    *out = there ? text : NULL;
    return true;
}

static bool begin_control(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    struct sequence_text if_, while_, timeout;
    struct sequence_control control = {.place = pack_xml_place_of(r->x, node)};
    if (!take_text(r, node, "if", &r->if_, &if_, &control.if_) ||
        !take_text(r, node, "while", &r->while_, &while_, &control.while_) ||
        !take_text(r, node, "timeout", &r->timeout, &timeout, &control.timeout))
        return false;
    return sequence_set_begin_control(r->device->set, &control, r->d) == CORRAL_OK || refused(r, node);
}

static bool take_block(struct pack_pdsc_reading *r, const struct pack_xml_node *node)
{
    bool atomic = false;
    if (!pack_pdsc_flag(r, node, "atomic", &atomic) || !pack_xml_content(r->x, node, &r->text, r->d))
        return false;
    struct sequence_text text = pack_xml_sequence_text(&r->text);
    return sequence_set_block(r->device->set, &text, atomic, pack_xml_place_of(r->x, node), r->d) ==
               CORRAL_OK ||
           refused(r, node);
}

/* Down and up again: how deep it goes is bounded by the file's own depth. */
static bool take_elements(struct pack_pdsc_reading *r, const struct pack_xml_node *sequence)
{
    const struct pack_xml_node *nodes = r->x->nodes, *n = sequence;
    for (;;) {
        bool down = n->kind == PACK_XML_SEQUENCE || n->kind == PACK_XML_CONTROL;
        if (n->kind == PACK_XML_CONTROL && !begin_control(r, n))
            return false;
        if (n->kind == PACK_XML_BLOCK && !take_block(r, n))
            return false;
        if (down && n->first != PACK_XML_NONE) {
            n = &nodes[n->first];
            continue;
        }
        for (;;) {
            if (n->kind == PACK_XML_CONTROL && sequence_set_end_control(r->device->set, r->d) != CORRAL_OK)
                return refused(r, n);
            if (n == sequence)
                return true;
            if (n->next != PACK_XML_NONE)
                break;
            n = &nodes[n->parent];
        }
        n = &nodes[n->next];
    }
}

static bool take_sequence(struct pack_pdsc_reading *r, const struct pack_xml_node *node, unsigned level)
{
    char name[SEQUENCE_NAME_MAX] = "", pname[SEQUENCE_NAME_MAX] = "";
    struct sequence_head head = {
        .name = name, .pname = pname, .level = level, .place = pack_xml_place_of(r->x, node)};
    bool there = false;
    if (!pack_pdsc_string(r, node, "name", name, sizeof(name)) ||
        !pack_pdsc_string(r, node, "Pname", pname, sizeof(pname)) ||
        !pack_pdsc_flag(r, node, "disable", &head.disabled))
        return false;
    if (!name[0]) {
        sequence_problems_add(r->problems, SEQUENCE_ERROR, head.place, 1, NULL,
                              "a sequence without a name is left out");
        return true;
    }
    if (!pack_xml_attribute(r->x, node, "info", false, &r->value, &there, r->d))
        return false;
    head.info = r->value.bytes;
    if (sequence_set_begin(r->device->set, &head, r->d) != CORRAL_OK)
        return refused(r, node);
    if (!take_elements(r, node))
        return false;
    return sequence_set_end(r->device->set, r->d) == CORRAL_OK || refused(r, node);
}

static bool take_sequences(struct pack_pdsc_reading *r, const struct pack_xml_node *level_node,
                           unsigned level)
{
    for (const struct pack_xml_node *n = pack_pdsc_first(r, level_node, PACK_XML_SEQUENCES); n;
         n = pack_pdsc_next(r, n)) {
        char setup[32] = "";
        if (!pack_pdsc_string(r, n, "traceSetup", setup, sizeof(setup)))
            return false;
        if (setup[0])
            r->device->trace_setup_full = strcasecmp(setup, "full") == 0;
        for (const struct pack_xml_node *s = pack_pdsc_first(r, n, PACK_XML_SEQUENCE); s;
             s = pack_pdsc_next(r, s))
            if (!take_sequence(r, s, level))
                return false;
    }
    return true;
}

/* ---- debugvars */

struct config { /* which .dbgconf: of the lowest level, for each Pname */
    char pname[SEQUENCE_NAME_MAX];
    char file[256];
    struct sequence_place place;
};

struct configs {
    struct config list[PACK_MAX_PROCESSORS + 1];
    size_t count;
};

static bool take_variables(struct pack_pdsc_reading *r, const struct pack_xml_node *node, unsigned level,
                           struct configs *configs)
{
    struct config one = {.place = pack_pdsc_place(r, node, "configfile")};
    size_t i = 0;
    if (!pack_pdsc_string(r, node, "Pname", one.pname, sizeof(one.pname)) ||
        !pack_pdsc_string(r, node, "configfile", one.file, sizeof(one.file)) ||
        !pack_xml_content(r->x, node, &r->text, r->d))
        return false;
    while (i < configs->count && strcmp(configs->list[i].pname, one.pname) != 0)
        i++;
    if (one.file[0] && i < PACK_MAX_PROCESSORS + 1) {
        configs->list[i] = one;
        configs->count += i == configs->count;
    }
    struct sequence_text text = pack_xml_sequence_text(&r->text);
    return sequence_set_variables(r->device->set, &text, one.pname, level, r->d) == CORRAL_OK ||
           refused(r, node);
}

/* A file that the user names stands for all of them. */
static bool apply_configs(struct pack_pdsc_reading *r, const struct configs *configs)
{
    struct sequence_set *set = r->device->set;
    const struct sequence_place nowhere = {0};
    if (r->file->dbgconf)
        return pack_dbgconf_apply(r->file, set, NULL, configs->count ? configs->list[0].place : nowhere,
                                  r->problems, r->d);
    for (size_t i = 0; i < configs->count; i++) {
        const struct config *one = &configs->list[i];
        size_t before = 0;
        while (strcmp(configs->list[before].file, one->file) != 0)
            before++;
        if (before == i && !pack_dbgconf_apply(r->file, set, one->file, one->place, r->problems, r->d))
            return false;
    }
    return true;
}

bool pack_pdsc_take_sequences(struct pack_pdsc_reading *r)
{
    struct configs configs = {.count = 0};
    for (size_t i = 0; i < r->chain_length; i++)
        for (const struct pack_xml_node *n = pack_pdsc_first(r, r->chain[i].node, PACK_XML_DEBUGVARS); n;
             n = pack_pdsc_next(r, n))
            if (!take_variables(r, n, r->chain[i].level, &configs))
                return false;
    for (size_t i = 0; i < r->chain_length; i++)
        if (!take_sequences(r, r->chain[i].node, r->chain[i].level))
            return false;
    return apply_configs(r, &configs);
}
