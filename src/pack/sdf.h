/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system description file (SDF) of a device: which core is behind which AP, where its CTI is, and which
 * trigger output restarts it. Cross-trigger sheet 1.5 ("Data source for n") and 2.5; case B19.
 *
 * What is read: `device` elements (name, type) with their `config_item`s CORESIGHT_AP_INDEX,
 * CORESIGHT_AP_ADDRESS, CORESIGHT_BASE_ADDRESS, CORESIGHT_BASE_ADDRESS_MSW, CTI_CORESIGHT_BASE_ADDRESS and
 * CORESIGHT_DP_MEMSPACE, and `topology_link` elements of type CTITrigger (master a core, slave a CTI, trigger
 * the core's restart output). All else is skipped. The file is from outside: one without DTD and entities,
 * bounded in size, depth and number.
 */
#ifndef CORRAL_PACK_SDF_H
#define CORRAL_PACK_SDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define SDF_NAME_MAX  64 /* with the NUL; longer names are refused */
#define SDF_MAX_CORES 32
#define SDF_MAX_APS   32

struct sdf_core {
    char name[SDF_NAME_MAX]; /* as the file has it, escaped */
    uint32_t ap;             /* an ADIv5 number or ADIv6 base address */
    bool base_set;
    uint64_t base; /* of its debug registers */
    bool cti_set;
    uint32_t cti_ap;
    uint64_t cti_address;
    int restart_output; /* -1 = not given */
    unsigned line;
};

struct sdf {
    size_t core_count; /* cores whose AP is given */
    struct sdf_core cores[SDF_MAX_CORES];
    size_t ap_count; /* memory access ports */
    uint32_t aps[SDF_MAX_APS];
};

/* NULL with *d set: CORRAL_ERR_FORMAT and "FILE:LINE: what is wrong", CORRAL_ERR_IO for a file that cannot be
 * read, CORRAL_ERR_UNSUPPORTED in a build without libxml2. Free with sdf_free. */
struct sdf *sdf_load(const char *path, struct diag *d);
/* The same for bytes already read; `name` names them in messages. */
struct sdf *sdf_parse(const char *name, const char *bytes, size_t size, struct diag *d);
void sdf_free(struct sdf *sdf); /* NULL is allowed */

#endif
