/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to memory that this machine can map: a file (a dump, /dev/shm) or a PCI device's resource file,
 * "shm:PATH[@BASE]". Byte 0 of it is target address BASE (0 without it). Memory accesses only; all access
 * ports are the same memory. (INTERFACE.md "--link")
 */
#ifndef CORRAL_LINK_SHM_H
#define CORRAL_LINK_SHM_H

#include "link/link.h"

/*
 * `spec` is the whole of "shm:PATH[@BASE]". A PCI resource whose device has a driver is refused: two owners
 * would take each other's data. The file is locked against a second Corral as long as the link is open.
 * NULL with *d set: CORRAL_ERR_USAGE (words), CORRAL_ERR_LINK_DOWN (no such file, or it cannot be had).
 */
struct link *link_shm_open(const char *spec, struct host_clock *clock, struct diag *d);

/* Which target addresses the file covers: [*base, *base + *size). False when it is another kind of link. */
bool link_shm_range(struct link *link, uint64_t *base, uint64_t *size);

#endif
