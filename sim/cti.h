/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's model of one Cross Trigger Interface and of the matrix between the two. Cross-trigger sheet 1.1
 * (registers), 1.2 (DEVID), 1.4 (rules). Which trigger is what: sim/identity.h.
 *
 * A model, not a driver: src/coresight/cti_driver.h is the host's side and must not be mixed up with it.
 */
#ifndef CORRAL_SIM_CTI_H
#define CORRAL_SIM_CTI_H

#include <stdbool.h>
#include <stdint.h>

#define BOARD_CTI_TRIGGERS 8u
#define BOARD_CTI_CHANNELS 4u
#define BOARD_CTM_QUEUE    256u

/* The same on every core. */
enum board_cti_trigger {
    BOARD_CTI_IN_HALTED = 0, /* the core entered debug state: a pulse, or with level_halted it is in it */
    BOARD_CTI_IN_DWT0 = 1,   /* of most */
    BOARD_CTI_OUT_DEBUG_REQUEST = 0,
};

struct board_cti {
    bool locked;
    uint32_t control; /* bit 0 GLBEN */
    uint32_t appset;
    uint32_t inen[BOARD_CTI_TRIGGERS];
    uint32_t outen[BOARD_CTI_TRIGGERS];
    uint32_t gate;
    uint32_t claim;
    uint32_t asicctl;
    uint32_t itctrl;
    uint32_t trigin;      /* inputs that are levels, and high */
    uint32_t trigout;     /* latched, software-acknowledged outputs */
    uint32_t active;      /* channels of the internal bus that are held active */
    uint32_t channel_in;  /* levels that arrived from the matrix */
    uint32_t channel_out; /* levels last given to the matrix */
    bool restart_line;    /* the restart output is held active by a level */
};

/* A change under way from one CTI to another. */
struct board_ctm_arrival {
    uint64_t tick;
    uint32_t pulse; /* channels with an event */
    uint32_t level; /* channels held from here on */
    unsigned to;    /* core */
};

struct board_ctm {
    struct board_ctm_arrival queue[BOARD_CTM_QUEUE]; /* in order of arrival: the latency is one constant */
    unsigned head;
    unsigned count;
};

#endif
