/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access ports behind access ports (cross-trigger sheet 2.3 "ADIv6 nesting", case B16): an access through one
 * is made of accesses to its registers in the parent's memory. The parent is whatever link.h can reach,
 * another such AP included.
 *
 * Only files of src/link/ include this.
 */
#ifndef CORRAL_LINK_NESTED_AP_H
#define CORRAL_LINK_NESTED_AP_H

#include "link/link.h"

struct nested_aps;

struct nested_aps *nested_ap_new(void); /* NULL when memory is out */
void nested_ap_free(struct nested_aps *n);
enum corral_err nested_ap_add(struct nested_aps *n, uint32_t ap, uint32_t parent, uint64_t address,
                              struct diag *d);
void nested_ap_forget(struct nested_aps *n);

/* Is one of these accesses through an AP with such a number? */
bool nested_ap_concerned(const struct link_access *accesses, size_t count);
/* As link_execute; the others among the accesses are handed on as they are. `n` may be NULL: then there is
 * none. */
enum corral_err nested_ap_execute(struct nested_aps *n, struct link *link, struct link_access *accesses,
                                  size_t count, struct diag *d);

#endif
