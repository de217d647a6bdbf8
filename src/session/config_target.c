/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What corral.yml says of a target's debug ports (config_target.h). Shapes and ranges only: whether it is
 * true is for discovery to find out. Looks whether the SDF can be read, and opens nothing.
 */
#include "session/config_target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "link/link.h"

static bool lacks(struct config_context *x, const struct yaml_tree_node *node, const char *what)
{
    config_mistake(x->diag, x->file, node->line, "this entry lacks something; expected %s", what);
    return false;
}

static bool is_nested(uint64_t ap)
{
    return ap >= LINK_NESTED_FIRST && ap <= LINK_NESTED_LAST;
}

/* ADIv5's numbers, ADIv6's base addresses, and the numbers of those under aps that stand behind others. */
static bool read_ap(struct config_context *x, const struct yaml_tree_node *node, uint32_t *ap)
{
    uint64_t value;
    if (!config_number(x, node, 0, INT32_MAX, &value))
        return false;
    if (value > 255 && value % 4096 != 0 && !is_nested(value))
        return config_refuse(x, node,
                             "an access port: a number from 0 to 255 (ADIv5), or a base address (ADIv6), "
                             "which is a multiple of 4096");
    *ap = (uint32_t)value;
    return true;
}

bool config_read_core_ap(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_core *core = into;
    core->ap_set = true;
    return read_ap(x, node, &core->ap);
}

/* ---- cti ---- */

static bool read_block(struct config_context *x, const struct yaml_tree_node *node, uint64_t *address)
{
    if (!config_number(x, node, 0, UINT64_MAX, address))
        return false;
    return *address % 4096 == 0 || config_refuse(x, node, "the start of a 4 KiB block");
}

static bool read_cti_address(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_core *core = into;
    core->cti_set = true;
    return read_block(x, node, &core->cti_address);
}

static bool read_cti_ap(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_core *core = into;
    core->cti_ap_set = true;
    return read_ap(x, node, &core->cti_ap);
}

static bool read_restart_output(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    uint64_t value;
    if (!config_number(x, node, 0, 31, &value))
        return false;
    ((struct config_core *)into)->cti_restart_output = (int)value;
    return true;
}

bool config_read_core_cti(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {
        {"address", read_cti_address}, {"ap", read_cti_ap}, {"restart_output", read_restart_output}};
    struct config_core *core = into;
    if (!CONFIG_READ_MAPPING(x, node, fields, core))
        return false;
    if (core->cti_ap_set && !core->cti_set)
        return lacks(x, node, "address: of the CTI behind that ap:");
    return core->cti_set || core->cti_restart_output >= 0 ||
           lacks(x, node, "address: of the CTI, or restart_output:");
}

/* ---- sdf ---- */

bool config_read_sdf(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    if (!config_text(x, node, "the path of a system description file"))
        return false;
    config->sdf = config_resolve(x, node->text);
    if (!config->sdf)
        return false;
    if (access(config->sdf, R_OK) == 0)
        return true;
    char path[CONFIG_SHOWN_MAX * 2];
    text_escape((const uint8_t *)config->sdf, strlen(config->sdf), path, sizeof(path));
    config_mistake(x->diag, x->file, node->line,
                   "sdf '%s' cannot be read (%s); expected a system description file", path, strerror(errno));
    diag_hint(x->diag, "paths are relative to the directory of the configuration file");
    return false;
}

/* ---- pack, device, cbuild-run ---- */

static bool read_description(struct config_context *x, const struct yaml_tree_node *node, const char *key,
                             const char *expected, char **into)
{
    if (!config_text(x, node, expected) || !(*into = config_resolve(x, node->text)))
        return false;
    if (access(*into, R_OK) == 0)
        return true;
    char path[CONFIG_SHOWN_MAX * 2];
    text_escape((const uint8_t *)*into, strlen(*into), path, sizeof(path));
    config_mistake(x->diag, x->file, node->line, "%s '%s' cannot be read (%s); expected %s", key, path,
                   strerror(errno), expected);
    diag_hint(x->diag, "paths are relative to the directory of the configuration file");
    return false;
}

bool config_read_pack(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_description(x, node, "pack", "the path of a .pdsc or .pack", &((struct config *)into)->pack);
}

bool config_read_cbuild_run(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    config->cbuild_run_line = node->line;
    return read_description(x, node, "cbuild-run", "the path of a .cbuild-run.yml", &config->cbuild_run);
}

bool config_read_device(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    config->device_line = node->line;
    return config_text(x, node, "the name of a device in the pack") &&
           (config->device = config_copy(x, node->text)) != NULL;
}

bool config_check_description(struct config_context *x)
{
    const struct config *config = x->config;
    if (config->pack && config->cbuild_run)
        config_mistake(x->diag, x->file, config->cbuild_run_line,
                       "there is a pack, too; expected one of pack and cbuild-run");
    else if (config->device && !config->pack)
        config_mistake(x->diag, x->file, config->device_line,
                       "a device of no pack; expected the key pack beside it");
    else
        return true;
    return false;
}

/* ---- aps ---- */

static bool read_nested_number(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    uint64_t value;
    if (!config_number(x, node, LINK_NESTED_FIRST, LINK_NESTED_LAST, &value))
        return false;
    ((struct config_ap *)into)->ap = (uint32_t)value;
    return true;
}

static bool read_parent(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_ap(x, node, &((struct config_ap *)into)->parent);
}

static bool read_nested_address(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_block(x, node, &((struct config_ap *)into)->address);
}

static bool read_one_ap(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {
        {"ap", read_nested_number}, {"parent", read_parent}, {"address", read_nested_address}};
    struct config *config = into;
    struct config_ap *ap = &config->aps[config->ap_count++];
    ap->line = node->line;
    if (node->kind != YAML_TREE_MAPPING) {
        if (!read_ap(x, node, &ap->ap))
            return false;
        if (is_nested(ap->ap))
            return config_refuse(x, node, "{ap: ..., parent: ..., address: ...} for an AP behind another");
    } else {
        ap->nested = true;
        if (!CONFIG_READ_MAPPING(x, node, fields, ap))
            return false;
        if (!yaml_tree_child(node, "ap") || !yaml_tree_child(node, "parent") ||
            !yaml_tree_child(node, "address"))
            return lacks(x, node,
                         "ap: its number from 256 on, parent: the AP it is behind, address: in its memory");
    }
    for (const struct config_ap *other = config->aps; other < ap; other++)
        if (other->ap == ap->ap) {
            config_mistake(x->diag, x->file, node->line,
                           "an AP is here twice (first in line %u); expected it once", other->line);
            return false;
        }
    return true;
}

bool config_read_aps(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)into;
    return config_read_list(x, node, CONFIG_MAX_APS, read_one_ap);
}

/* ---- patches ---- */

static bool read_patch_ap(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_ap(x, node, &((struct config_patch *)into)->ap);
}

static bool read_patch_address(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_patch *patch = into;
    if (!config_number(x, node, 0, UINT64_MAX, &patch->address))
        return false;
    return patch->address % 4 == 0 || config_refuse(x, node, "the address of a word");
}

static bool read_patch_register(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_patch *patch = into;
    patch->ap_register = true;
    if (!config_number(x, node, 0, 0xFFC, &patch->address))
        return false;
    return patch->address % 4 == 0 || config_refuse(x, node, "the offset of a register of the AP");
}

static bool read_word(struct config_context *x, const struct yaml_tree_node *node, uint32_t *out)
{
    uint64_t value;
    if (!config_number(x, node, 0, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_patch_value(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_word(x, node, &((struct config_patch *)into)->value);
}

static bool read_patch_mask(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_word(x, node, &((struct config_patch *)into)->mask);
}

static bool read_patch(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {{"ap", read_patch_ap},
                                                 {"address", read_patch_address},
                                                 {"register", read_patch_register},
                                                 {"value", read_patch_value},
                                                 {"mask", read_patch_mask}};
    struct config *config = into;
    struct config_patch *patch = &config->patches[config->patch_count++];
    *patch = (struct config_patch){.mask = UINT32_MAX, .line = node->line};
    if (!CONFIG_READ_MAPPING(x, node, fields, patch))
        return false;
    if (!yaml_tree_child(node, "ap") || !yaml_tree_child(node, "value") ||
        !yaml_tree_child(node, "address") == !yaml_tree_child(node, "register"))
        return lacks(x, node, "ap:, value:, and either address: in memory or register: of the AP");
    return true;
}

bool config_read_patches(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)into;
    return config_read_list(x, node, CONFIG_MAX_PATCHES, read_patch);
}
