/* SPDX-License-Identifier: Apache-2.0 */
/* See identity.h: the numbers of the four cores, and the identification registers made of them. */
#include "sim/identity.h"

#include <string.h>

#include "sim/cti.h"

#define ID_AUTH    0xFB8u
#define ID_DEVARCH 0xFBCu
#define ID_DEVID   0xFC8u
#define ID_DEVTYPE 0xFCCu
#define ID_MEMTYPE 0xFCCu /* of a class 1 table */
#define ID_PIDR4   0xFD0u
#define ID_PIDR0   0xFE0u
#define ID_CIDR0   0xFF0u

#define PIDR2_JEDEC 8u

#define CLASS_ROM       0x1
#define CLASS_CORESIGHT 0x9
#define CLASS_GENERIC   0xE

#define TRIGGER_MATRIX 0x14
#define DEVARCH(id)    (0x47700000u | (id)) /* architect Arm, present, revision 0 */

/* The trigger maps of cross-trigger sheet 1.5, as far as this board has something behind a trigger. */
static const struct board_identity_info identities[BOARD_IDENTITIES] = {
    [BOARD_M7] =
        {.name = "m7",
         .core = "Cortex-M7",
         .cpuid = 0x411FC272u, /* r1p2 */
         .architecture = CPU_V7EM,
         .fpb = {.version = 2, .comparators = 8},
         .dwt = {.comparators = 4, .cyccnt = true, .pcsr = true},
         .cti = {.restart = 7, .irq = 1, .irqs = 2, .dwt = 1, .dwts = 3, .lock = true, .claim = true},
         .component = {[BOARD_ID_SCS] = {true, 0x00C, CLASS_GENERIC, 0, 0, 0},
                       [BOARD_ID_DWT] = {true, 0x002, CLASS_GENERIC, 3, 0, 0},
                       [BOARD_ID_FPB] = {true, 0x00E, CLASS_GENERIC, 0, 0, 0},
                       [BOARD_ID_ITM] = {true, 0x001, CLASS_GENERIC, 3, 0, 0},
                       [BOARD_ID_CTI] = {true, 0x906, CLASS_CORESIGHT, 4, TRIGGER_MATRIX, 0},
                       [BOARD_ID_ROM] = {true, 0x4C7, CLASS_ROM, 0, 0, 0}}},
    [BOARD_M4] =
        {.name = "m4",
         .core = "Cortex-M4",
         .cpuid = 0x410FC241u, /* r0p1 */
         .architecture = CPU_V7EM,
         .fpb = {.version = 1, .comparators = 6},
         .dwt = {.comparators = 4, .cyccnt = true, .pcsr = true},
         .cti = {.restart = 7, .irq = 2, .irqs = 2, .dwt = 4, .dwts = 3, .lock = true, .claim = true},
         .component = {[BOARD_ID_SCS] = {true, 0x00C, CLASS_GENERIC, 0, 0, 0},
                       [BOARD_ID_DWT] = {true, 0x002, CLASS_GENERIC, 3, 0, 0},
                       [BOARD_ID_FPB] = {true, 0x003, CLASS_GENERIC, 2, 0, 0},
                       [BOARD_ID_ITM] = {true, 0x001, CLASS_GENERIC, 3, 0, 0},
                       [BOARD_ID_CTI] = {true, 0x906, CLASS_CORESIGHT, 4, TRIGGER_MATRIX, 0},
                       [BOARD_ID_ROM] = {true, 0x4C4, CLASS_ROM, 0, 0, 0}}},
    /* One part number for every component of the core: only DEVARCH tells them apart. */
    [BOARD_M33] = {.name = "m33",
                   .core = "Cortex-M33",
                   .cpuid = 0x410FD214u, /* r0p4 */
                   .architecture = CPU_V8M,
                   .fpb = {.version = 2, .comparators = 8},
                   .dwt = {.comparators = 4, .cyccnt = true, .pcsr = true, .v8 = true},
                   .cti = {.restart = 1, .dwt = 1, .dwts = 3},
                   .component = {[BOARD_ID_SCS] = {true, 0xD21, CLASS_CORESIGHT, 0, 0, DEVARCH(0x2A04)},
                                 [BOARD_ID_DWT] = {true, 0xD21, CLASS_CORESIGHT, 0, 0, DEVARCH(0x1A02)},
                                 [BOARD_ID_FPB] = {true, 0xD21, CLASS_CORESIGHT, 0, 0, DEVARCH(0x1A03)},
                                 [BOARD_ID_ITM] = {true, 0xD21, CLASS_CORESIGHT, 0, 0x43, DEVARCH(0x1A01)},
                                 [BOARD_ID_CTI] = {true, 0xD21, CLASS_CORESIGHT, 0, TRIGGER_MATRIX,
                                                   DEVARCH(0x1A14)},
                                 [BOARD_ID_ROM] = {true, 0x4C9, CLASS_ROM, 0, 0, 0}}},
    /* FPB here is the Armv6-M BPU, which is programmed like an FPB of version 1. */
    [BOARD_M0PLUS] = {.name = "m0plus",
                      .core = "Cortex-M0+",
                      .cpuid = 0x410CC601u, /* r0p1 */
                      .architecture = CPU_V6M,
                      .fpb = {.version = 1, .comparators = 4},
                      .dwt = {.comparators = 2, .pcsr = true},
                      .cti = {.restart = 7, .claim = true},
                      .component = {[BOARD_ID_SCS] = {true, 0x008, CLASS_GENERIC, 0, 0, 0},
                                    [BOARD_ID_DWT] = {true, 0x00A, CLASS_GENERIC, 0, 0, 0},
                                    [BOARD_ID_FPB] = {true, 0x00B, CLASS_GENERIC, 0, 0, 0},
                                    [BOARD_ID_CTI] = {true, 0x9A6, CLASS_CORESIGHT, 0, TRIGGER_MATRIX,
                                                      DEVARCH(0x1A14)},
                                    [BOARD_ID_ROM] = {true, 0x4C0, CLASS_ROM, 0, 0, 0}}},
};

const struct board_identity_info *board_identity_info(enum board_identity identity)
{
    return (unsigned)identity < BOARD_IDENTITIES ? &identities[identity] : &identities[BOARD_M7];
}

bool board_identity_parse(const char *word, size_t length, enum board_identity *identity)
{
    for (unsigned k = 0; k < BOARD_IDENTITIES; k++) {
        if (strlen(identities[k].name) == length && memcmp(identities[k].name, word, length) == 0) {
            *identity = (enum board_identity)k;
            return true;
        }
    }
    return false;
}

uint32_t board_component_id(const struct board_identity_info *info, enum board_component which,
                            uint32_t offset)
{
    const struct board_component_info *c = &info->component[which];

    if (!c->present)
        return 0;
    switch (offset) {
    case ID_PIDR4:
        return 0x04;
    case ID_PIDR0:
        return c->part & 0xFFu;
    case ID_PIDR0 + 4:
        return 0xB0u | c->part >> 8; /* low half of the identity, 0xB */
    case ID_PIDR0 + 8:
        return (uint32_t)c->revision << 4 | PIDR2_JEDEC | 0x3u;
    case ID_CIDR0:
        return 0x0D;
    case ID_CIDR0 + 4:
        return (uint32_t)c->class << 4;
    case ID_CIDR0 + 8:
        return 0x05;
    case ID_CIDR0 + 12:
        return 0xB1;
    default:
        break;
    }
    if (c->class == CLASS_CORESIGHT && offset == ID_DEVARCH)
        return c->devarch;
    if (c->class == CLASS_CORESIGHT && offset == ID_DEVTYPE)
        return c->devtype;
    if (which == BOARD_ID_CTI && offset == ID_DEVID)
        return BOARD_CTI_CHANNELS << 16 | BOARD_CTI_TRIGGERS << 8;
    if (which == BOARD_ID_CTI && offset == ID_AUTH && info->cti.claim)
        return 0x0F; /* non-secure debug, invasive and not, implemented and enabled */
    if (which == BOARD_ID_ROM && offset == ID_MEMTYPE)
        return 1;
    return 0;
}
