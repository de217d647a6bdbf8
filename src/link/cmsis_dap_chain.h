/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JTAG chain behind a CMSIS-DAP probe: which TAPs there are, and which is the debug port (cross-trigger
 * sheet 2.2). Only files of src/link/ include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_CHAIN_H
#define CORRAL_LINK_CMSIS_DAP_CHAIN_H

#include "link/cmsis_dap_probe.h"
#include "link/link_backend.h"

/* All TAPs to Test-Logic-Reset, then Run-Test/Idle. */
bool cmsis_dap_chain_reset(struct cmsis_dap_probe *probe);

/* Behind a reset. Configures the probe for the chain. *index: of the debug port, 0 is nearest to TDO. False
 * with *why set. */
bool cmsis_dap_chain_find(struct cmsis_dap_probe *probe, uint8_t *index, uint32_t *idcode, struct diag *why);

#endif
