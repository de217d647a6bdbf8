/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the SDF reader share: the elements as they stand in the file. Private to src/pack/.
 */
#ifndef CORRAL_PACK_SDF_INTERNAL_H
#define CORRAL_PACK_SDF_INTERNAL_H

#include "pack/sdf.h"

#define SDF_MAX_BYTES   (4 * 1024 * 1024)
#define SDF_MAX_DEPTH   32
#define SDF_MAX_DEVICES 512
#define SDF_MAX_LINKS   1024
#define SDF_TYPE_MAX    32
#define SDF_TEXT_MAX    64 /* of a value */

struct sdf_device {
    char name[SDF_NAME_MAX], type[SDF_TYPE_MAX];
    unsigned dap; /* which debug port of the file, from 0 */
    bool index_set, ap_address_set, base_set, msw_set, cti_set, dp_space;
    uint32_t index, ap_address, base, msw;
    uint64_t cti;
    unsigned line;
};

struct sdf_link {
    char master[SDF_NAME_MAX], slave[SDF_NAME_MAX];
    int trigger; /* -1 = not given */
    unsigned line;
};

struct sdf_elements {
    const char *name; /* of the file, for messages */
    struct sdf_device devices[SDF_MAX_DEVICES];
    size_t device_count;
    struct sdf_link links[SDF_MAX_LINKS]; /* CTITrigger only */
    size_t link_count;
};

/* sdf_xml.c: true, or false with *d set. */
bool sdf_read_elements(struct sdf_elements *e, const char *bytes, size_t size, struct diag *d);
/* "NAME:LINE: words" as CORRAL_ERR_FORMAT. False. */
bool sdf_mistake(const char *name, unsigned line, struct diag *d, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
