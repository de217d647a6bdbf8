/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two ways over USB offer to cmsis_dap_usb.c. Each is there only where Corral was built with its
 * library. Only files of src/link/ include this.
 */
#ifndef CORRAL_LINK_CMSIS_DAP_USB_H
#define CORRAL_LINK_CMSIS_DAP_USB_H

#include "link/cmsis_dap_wire.h"
#include "link/probes.h"

/* The back ends. Adding stops when the list is full. */
void cmsis_dap_hid_find(struct link_probes *list);
void cmsis_dap_bulk_find(struct link_probes *list);
bool cmsis_dap_hid_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d);
bool cmsis_dap_bulk_open(struct cmsis_dap_wire *wire, const struct link_probe *probe, struct diag *d);

/* For them: the next place in the list, or NULL; the sentence of a device nobody may open. */
struct link_probe *link_probes_add(struct link_probes *list);
bool cmsis_dap_usb_refused(const struct link_probe *probe, bool permission, const char *why, struct diag *d);
/* Another kind of probe, by its numbers: false when it is none that is known. */
bool link_probe_other(struct link_probe *probe);

#endif
