/* SPDX-License-Identifier: Apache-2.0 */
/* The core object, for its back ends. Only files of src/core/ include this. */
#ifndef CORRAL_CORE_CORE_INTERNAL_H
#define CORRAL_CORE_CORE_INTERNAL_H

#include "core/core.h"

#define CORE_NAME_MAX 32

struct core {
    const struct core_ops *ops;
    struct link *link;
    struct cti *cti;
    uint32_t ap;
    uint32_t hz;
    char name[CORE_NAME_MAX];
    void *priv; /* the back end's; freed by ops->free */
};

/* A core with everything but ops and priv set. Takes `cti` over when it succeeds. NULL when memory is out. */
struct core *core_alloc(struct link *link, uint32_t ap, const char *name, uint32_t hz, struct cti *cti);

/* Part, revision and architecture by CPUID alone, as far as the table knows them; everything else zero. */
void core_part_of_cpuid(uint32_t cpuid, struct core_info *info);

#endif
