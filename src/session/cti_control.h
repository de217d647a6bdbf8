/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cross trigger interfaces of a target for who works on them himself: a core's, or any by its address;
 * trigger inputs and outputs by name (cross-trigger sheet 1.5).
 */
#ifndef CORRAL_SESSION_CTI_CONTROL_H
#define CORRAL_SESSION_CTI_CONTROL_H

#include "session/session.h"

/* Trigger `trigger`'s name on a core of this type ("Cortex-M7", or NULL for a CTI of no core): "halted",
 * "dwt0", "etm1", "debug-request", "restart", "irq0"; NULL where there is none. `restart_output` (-1 = not
 * known) wins over the table. */
const char *cti_trigger_name(const char *type, enum cti_side side, unsigned trigger, int restart_output);
/* The trigger of that name, or of "in3", "out5"; -1 = none. */
int cti_trigger_named(const char *type, enum cti_side side, const char *name, int restart_output);

/* Which CTI: of core number `core`, or the one at `address` behind access port `ap`. */
struct session_cti {
    bool by_address;
    uint32_t ap;
    uint64_t address;
    size_t core;
};

struct session_cti_view {
    const char *core; /* its name, NULL by address */
    const char *type; /* the core's, NULL likewise */
    struct cti_info info;
    struct cti_registers registers;
};

/* CORRAL_ERR_NO_CROSS_TRIGGER where the core has none that is known to be its own. */
enum corral_err session_show_cti(struct session *s, const struct session_cti *which,
                                 struct session_cti_view *view, struct diag *d);

enum cti_action { CTI_ACTION_CONNECT, CTI_ACTION_DISCONNECT, CTI_ACTION_PULSE };
struct session_cti_change {
    enum cti_action action;
    enum cti_side side; /* of `trigger`; pulse has none */
    const char *trigger;
    unsigned channel;
    bool force; /* also what halts or restarts the core, or is used for that */
};
/* CORRAL_ERR_USAGE for a trigger or channel that this CTI does not have. */
enum corral_err session_change_cti(struct session *s, const struct session_cti *which,
                                   const struct session_cti_change *change, struct diag *d);

#endif
