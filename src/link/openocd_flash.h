/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenOCD's flash banks and the commands that program them. For openocd.c only; knows nothing of accesses.
 * What is written goes through a file in the folder for temporary files: OpenOCD must see the same folder.
 */
#ifndef CORRAL_LINK_OPENOCD_FLASH_H
#define CORRAL_LINK_OPENOCD_FLASH_H

#include "link/link.h"
#include "link/openocd_rpc.h"

#define OPENOCD_BANKS_MAX 16u
#define OPENOCD_NAME_ROOM 64

struct openocd_bank {
    uint64_t base, size;
    uint32_t number; /* as OpenOCD counts them */
    uint32_t ap;     /* of its target */
    char target[OPENOCD_NAME_ROOM];
};

struct openocd_flash {
    struct openocd_bank bank[OPENOCD_BANKS_MAX];
    size_t count;
};

/* Tcl that leaves "=NUMBER BASE SIZE TARGET;" for each bank behind what is in corral_r. */
extern const char openocd_flash_list[];
/* Is `line`, without its semicolon, one of these? Then it is taken, if it makes sense; `line` is changed. */
bool openocd_flash_take(struct openocd_flash *f, char *line);
enum corral_err openocd_flash_do(const struct openocd_flash *f, struct openocd_rpc *rpc,
                                 enum link_flash_op op, uint32_t ap, uint64_t address, const uint8_t *data,
                                 size_t size, struct diag *d);
/* See link_flash_regions. OpenOCD looks at the device for it. */
size_t openocd_flash_regions(const struct openocd_flash *f, struct openocd_rpc *rpc,
                             struct link_flash_region *list, size_t room, struct diag *d);

#endif
