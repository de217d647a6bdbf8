/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of corral.yml that tell discovery what a target is made of (config.h): sdf, aps, patches, a core's
 * ap and cti. Private to src/session/. */
#ifndef CORRAL_SESSION_CONFIG_TARGET_H
#define CORRAL_SESSION_CONFIG_TARGET_H

#include "session/config_value.h"

/* Readers of single keys: `into` is the core's struct config_core, or the configuration. */
bool config_read_core_ap(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_core_cti(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_sdf(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_pack(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_device(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_cbuild_run(struct config_context *x, const struct yaml_tree_node *node, void *into);
/* What of these does not go together, once all are read. */
bool config_check_description(struct config_context *x);
bool config_read_aps(struct config_context *x, const struct yaml_tree_node *node, void *into);
bool config_read_patches(struct config_context *x, const struct yaml_tree_node *node, void *into);

#endif
