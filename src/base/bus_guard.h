/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Touching memory that is mapped from a file of somebody else's: the file can be cut at any moment, or its
 * disk be full when a hole is written to. The kernel then answers an access with SIGBUS, which would be the
 * end of the process. A look at the file's size first does not help: it may be cut right behind that look.
 */
#ifndef CORRAL_BASE_BUS_GUARD_H
#define CORRAL_BASE_BUS_GUARD_H

#include <stdbool.h>

/* Take the process's SIGBUS. Once before the first bus_guard_run; again does no harm. */
void bus_guard_install(void);

/*
 * Call touch(ctx). False when memory that it touched was not there: then it has been left in the middle, so
 * it must hold no lock and own nothing. Not within another one of the same thread, nor where SIGBUS is
 * blocked.
 */
bool bus_guard_run(void (*touch)(void *ctx), void *ctx);

#endif
