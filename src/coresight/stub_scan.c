/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cores behind a gdb stub: as many as it lists, each told apart by its CPUID. There is no debug port to
 * walk from, and a stub does not show debug registers (QEMU's read as zero), so there are no cross triggers
 * to be had, whatever the device has. Reads only.
 */
#include "coresight/stub_scan.h"

#include <stdio.h>

#include "coresight/discovery.h"
#include "link/link_gdb.h"

#define CPUID 0xE000ED00u
#define SCS   0xE000E000u

enum corral_err cs_scan_stub(struct link *link, struct cs_topology *t, struct diag *d)
{
    unsigned count = (unsigned)link_gdb_core_count(link);
    for (unsigned i = 0; i < count && t->core_count < CS_MAX_CORES; i++) {
        struct cs_core *core = &t->cores[t->core_count];
        struct diag why = DIAG_INIT;
        *core = (struct cs_core){.ap = i, .type = "core", .address = SCS, .stub = true};
        snprintf(core->name, sizeof(core->name), "core%u", i);
        enum corral_err err = link_read32(link, core->ap, CPUID, &core->cpuid, &why);
        if (cs_ends_scan(err)) {
            if (d)
                *d = why;
            return err;
        }
        const struct cs_core_type *type = err ? NULL : cs_core_type((uint16_t)(core->cpuid >> 4 & 0xFFF));
        if (type)
            core->type = type->name;
        snprintf(core->why_no_cti, sizeof(core->why_no_cti),
                 "it is thread %s of a gdb stub, which shows no debug registers", link_gdb_core_id(link, i));
        t->core_count++;
    }
    t->cut |= count > CS_MAX_CORES;
    return CORRAL_OK;
}
