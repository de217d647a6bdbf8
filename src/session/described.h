/* SPDX-License-Identifier: Apache-2.0 */
/* What a description (pack/pack.h) says of each core's debugger: known without a target. */
#ifndef CORRAL_SESSION_DESCRIBED_H
#define CORRAL_SESSION_DESCRIBED_H

#include "pack/pack.h"

/*
 * The gdb port of each of the processors `pnames` (NULL = of none): that of the description's list, each
 * once; for the others the ones behind its highest, 0 where there are no more. False, and nothing said,
 * without a list.
 */
bool described_ports(const struct pack_device *device, const char *const *pnames, size_t count,
                     uint16_t *ports);
/* The ELF file whose symbols are those of processor `pname`'s program; NULL = none. The device's. */
const char *described_program(const struct pack_device *device, const char *pname);

#endif
