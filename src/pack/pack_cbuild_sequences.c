/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug-vars, debug-sequences and debug-sequences-conf of a cbuild-run.yml, and the .dbgconf that debugger:
 * names. Cross-trigger sheet 5, case C43.
 *
 * An item without blocks: switches the default off. `timeout` is in microseconds as in a PDSC, whatever the
 * schema's text says: the set gets it as it stands. A block with if, while or timeout is a control of the
 * language; one that only groups others is not, so that it opens no scope.
 */
#include <stdlib.h>
#include <string.h>

#include "pack/pack_cbuild_internal.h"

#define LEVEL 5 /* above all levels of a PDSC (sequence_set.h) */

/* The set refused it: where it was, is said here. */
static bool refused(struct pack_cbuild_reading *r, unsigned line)
{
    const struct diag set = *r->d;
    if (set.code == CORRAL_ERR_NO_MEMORY)
        return false;
    pack_mistake(r->file, line, r->d, "%.180s", set.message);
    r->d->code = set.code;
    return false;
}

/* A scalar as a text of the language; its marks are to be freed. */
static bool text_of(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                    struct sequence_text *text, struct sequence_mark **marks)
{
    *marks = calloc(node->mark_count ? node->mark_count : 1, sizeof(**marks));
    if (!*marks)
        return pack_no_memory(r->d);
    for (size_t i = 0; i < node->mark_count; i++)
        (*marks)[i] =
            (struct sequence_mark){node->marks[i].offset, node->marks[i].line, node->marks[i].column};
    *text = (struct sequence_text){.bytes = node->text,
                                   .size = node->size,
                                   .file = PACK_DESCRIPTION,
                                   .marks = *marks,
                                   .mark_count = node->mark_count};
    return true;
}

static bool take_execute(struct pack_cbuild_reading *r, const struct yaml_tree_node *execute, bool atomic)
{
    struct sequence_text text;
    struct sequence_mark *marks;
    if (!text_of(r, execute, &text, &marks))
        return false;
    enum corral_err err = sequence_set_block(r->device->set, &text, atomic, pack_cbuild_place(execute), r->d);
    free(marks);
    return err == CORRAL_OK || refused(r, execute->line);
}

static bool begin_control(struct pack_cbuild_reading *r, const struct yaml_tree_node *block,
                          const struct yaml_tree_node *const parts[3])
{
    struct sequence_text texts[3];
    struct sequence_mark *marks[3] = {NULL};
    bool ok = true;
    for (size_t i = 0; i < 3 && ok; i++)
        ok = !parts[i] || text_of(r, parts[i], &texts[i], &marks[i]);
    struct sequence_control control = {.if_ = parts[0] ? &texts[0] : NULL,
                                       .while_ = parts[1] ? &texts[1] : NULL,
                                       .timeout = parts[2] ? &texts[2] : NULL,
                                       .place = pack_cbuild_place(block)};
    if (ok)
        ok = sequence_set_begin_control(r->device->set, &control, r->d) == CORRAL_OK ||
             refused(r, block->line);
    for (size_t i = 0; i < 3; i++)
        free(marks[i]);
    return ok;
}

/* atomic: stands there without a value, or it does not. */
static bool read_atomic(struct pack_cbuild_reading *r, const struct yaml_tree_node *block, bool *atomic)
{
    const struct yaml_tree_node *node = yaml_tree_child(block, "atomic");
    *atomic = node != NULL;
    return !node ||
           (node->kind == YAML_TREE_SCALAR && !node->quoted &&
            (!node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)) ||
           pack_cbuild_wrong(r, node, "no value: \"atomic:\" alone");
}

/* Blocks stand within blocks: the depth of the tree bounds that of the recursion. */
static bool take_blocks(struct pack_cbuild_reading *r, const struct yaml_tree_node *list);

static bool take_block(struct pack_cbuild_reading *r, const struct yaml_tree_node *block)
{
    const struct yaml_tree_node *blocks, *execute, *parts[3];
    bool atomic;
    if (!pack_cbuild_is_mapping(r, block, "execute: or blocks:, with if:, while: and timeout:") ||
        !pack_cbuild_list(r, block, "blocks", &blocks) ||
        !pack_cbuild_scalar(r, block, "execute", "statements", &execute) ||
        !pack_cbuild_scalar(r, block, "if", "an expression", &parts[0]) ||
        !pack_cbuild_scalar(r, block, "while", "an expression", &parts[1]) ||
        !pack_cbuild_scalar(r, block, "timeout", "a number of microseconds", &parts[2]) ||
        !read_atomic(r, block, &atomic))
        return false;
    if (blocks && (execute || atomic))
        return pack_mistake(r->file, block->line, r->d, "%s: stands beside blocks:; expected one of them",
                            execute ? "execute" : "atomic");
    bool control = parts[0] || parts[1] || parts[2];
    if (control && !begin_control(r, block, parts))
        return false;
    if ((execute && !take_execute(r, execute, atomic)) || (blocks && !take_blocks(r, blocks)))
        return false;
    return !control || sequence_set_end_control(r->device->set, r->d) == CORRAL_OK || refused(r, block->line);
}

static bool take_blocks(struct pack_cbuild_reading *r, const struct yaml_tree_node *list)
{
    for (const struct yaml_tree_node *block = list->first; block; block = block->next)
        if (!take_block(r, block))
            return false;
    return true;
}

static bool take_sequence(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    char name[SEQUENCE_NAME_MAX] = "", pname[SEQUENCE_NAME_MAX] = "";
    const struct yaml_tree_node *blocks, *info;
    if (!pack_cbuild_is_mapping(r, node, "name: and blocks: of a sequence") ||
        !pack_cbuild_needs(r, node, "name", "a sequence") ||
        !pack_cbuild_text(r, node, "name", name, sizeof(name)) ||
        !pack_cbuild_text(r, node, "pname", pname, sizeof(pname)) ||
        !pack_cbuild_scalar(r, node, "info", "text", &info) || !pack_cbuild_list(r, node, "blocks", &blocks))
        return false;
    if (pname[0] && !pack_processor_named(r->device, pname))
        pack_cbuild_warn(r, yaml_tree_child(node, "pname"), "there is no processor %s", pname);
    struct sequence_head head = {.name = name,
                                 .pname = pname,
                                 .info = info ? info->text : NULL,
                                 .disabled = !blocks,
                                 .level = LEVEL,
                                 .place = pack_cbuild_place(yaml_tree_child(node, "name"))};
    if (sequence_set_begin(r->device->set, &head, r->d) != CORRAL_OK)
        return refused(r, node->line);
    if (blocks && !take_blocks(r, blocks))
        return false;
    return sequence_set_end(r->device->set, r->d) == CORRAL_OK || refused(r, node->line);
}

static bool take_variables(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *debug_vars, *vars;
    struct sequence_text text;
    struct sequence_mark *marks;
    if (!pack_cbuild_mapping(r, run, "debug-vars", &debug_vars) ||
        !pack_cbuild_scalar(r, debug_vars, "vars", "declarations of variables", &vars))
        return false;
    if (!vars)
        return true;
    if (!text_of(r, vars, &text, &marks))
        return false;
    enum corral_err err = sequence_set_variables(r->device->set, &text, NULL, LEVEL, r->d);
    free(marks);
    return err == CORRAL_OK || refused(r, vars->line);
}

static bool take_configuration(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *debugger = yaml_tree_child(run, "debugger"),
                                *node = yaml_tree_child(debugger, "dbgconf");
    struct sequence_place place = {0};
    char *name = NULL;
    bool unknown = false;
    if (!pack_cbuild_path(r, debugger, "dbgconf", &name, &unknown))
        return false;
    if (node)
        place = pack_cbuild_place(node);
    if (unknown && !r->file->dbgconf)
        pack_cbuild_warn(r, node, "the configuration is left out: ${CMSIS_PACK_ROOT} is not known");
    bool ok = pack_dbgconf_apply(r->file, r->device->set, name, place, r->problems, r->d);
    free(name);
    return ok;
}

static bool take_conf(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *conf, *setup;
    if (!pack_cbuild_mapping(r, run, "debug-sequences-conf", &conf) ||
        !pack_cbuild_scalar(r, conf, "trace-setup", "full or legacy", &setup))
        return false;
    if (setup && strcmp(setup->text, "full") != 0 && strcmp(setup->text, "legacy") != 0)
        return pack_cbuild_wrong(r, setup, "full or legacy");
    r->device->trace_setup_full = setup && strcmp(setup->text, "full") == 0;
    return true;
}

bool pack_cbuild_take_sequences(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *list;
    if (!take_conf(r, run) || !take_variables(r, run) || !pack_cbuild_list(r, run, "debug-sequences", &list))
        return false;
    for (const struct yaml_tree_node *n = list ? list->first : NULL; n; n = n->next)
        if (!take_sequence(r, n))
            return false;
    return take_configuration(r, run);
}
