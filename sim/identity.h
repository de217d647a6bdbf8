/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core of the board is, by its identity: architecture, debug blocks and their numbers, trigger map.
 * Cross-trigger sheet 1.3 (CTIs), 1.5 (trigger maps), 2.4 (components), 3.1 (registers). Const tables only.
 */
#ifndef CORRAL_SIM_IDENTITY_H
#define CORRAL_SIM_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/board.h"
#include "sim/cpu.h"

/* The components of the private peripheral bus that have an identification block. */
enum board_component {
    BOARD_ID_SCS,
    BOARD_ID_DWT,
    BOARD_ID_FPB,
    BOARD_ID_ITM,
    BOARD_ID_CTI,
    BOARD_ID_ROM,
    BOARD_ID_COUNT
};

struct board_component_info {
    bool present;
    uint16_t part; /* designer Arm: JEP106 identity 0x3B, continuation 4 */
    uint8_t class; /* CIDR1[7:4]: 1 ROM table, 9 CoreSight, 0xE generic */
    uint8_t revision;
    uint8_t devtype;
    uint32_t devarch; /* 0 = none */
};

struct board_fpb_info {
    uint8_t version;     /* 1: REPLACE, word addresses below 0x20000000 only; 2: any halfword */
    uint8_t comparators; /* of code; none of literals, no remapping */
};

struct board_dwt_info {
    uint8_t comparators;
    bool cyccnt;
    bool pcsr;
    bool v8; /* FUNCTION has MATCH and ACTION, no MASK registers */
};

/* Triggers are numbers of the CTI; a count of 0 says that there are none of the kind. */
struct board_cti_info {
    uint8_t debug_request; /* output */
    uint8_t restart;       /* output, acknowledges itself */
    uint8_t irq, irqs;     /* outputs irq, irq + 1 ... lead to BOARD_IRQ_CTI0, BOARD_IRQ_CTI1 ... */
    uint8_t halted;        /* input */
    uint8_t dwt, dwts;     /* inputs dwt, dwt + 1 ... are DWT comparators 0, 1 ... */
    bool lock;             /* LAR and LSR */
    bool claim;            /* CLAIMSET and CLAIMCLR */
};

struct board_identity_info {
    const char *name; /* "m7", as --identity wants it */
    const char *core; /* "Cortex-M7" */
    uint32_t cpuid;
    enum cpu_architecture architecture;
    struct board_fpb_info fpb;
    struct board_dwt_info dwt;
    struct board_cti_info cti;
    struct board_component_info component[BOARD_ID_COUNT];
};

/* Never NULL; an unknown identity is BOARD_M7. */
const struct board_identity_info *board_identity_info(enum board_identity identity);

/* "m33" -> BOARD_M33; false when there is no such name. `length`: of the word, which need not end there. */
bool board_identity_parse(const char *word, size_t length, enum board_identity *identity);

/* The built-in image of core 0 or 1 (board_images.S) that such a core can run. */
const uint8_t *board_identity_image(enum board_identity identity, unsigned core, size_t *size);

/* The identification block of a component, offsets 0xFB8..0xFFC; what is not in it reads as zero. */
uint32_t board_component_id(const struct board_identity_info *info, enum board_component which,
                            uint32_t offset);

#endif
