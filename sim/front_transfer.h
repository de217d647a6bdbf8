/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two commands of CMSIS-DAP that move data: DAP_Transfer and DAP_TransferBlock, on SWD. Requests are read
 * from one packet and answers written into another; both are bounded, and what comes in is hostile.
 */
#ifndef CORRAL_SIM_FRONT_TRANSFER_H
#define CORRAL_SIM_FRONT_TRANSFER_H

#include "sim/front.h"

/* What is left of a request. Reading behind its end gives zeros and `cut`. */
struct front_request {
    const uint8_t *at;
    size_t left;
    bool cut;
};

/* The answer; what does not fit is left out, and `full` says so. */
struct front_answer {
    uint8_t *data;
    size_t room, size;
    bool full;
};

uint32_t front_take(struct front_request *r, unsigned bytes); /* little-endian, up to 4 */
void front_give(struct front_answer *a, unsigned bytes, uint32_t value);

struct front_transfer {
    struct front *front;
    uint8_t idle;         /* wire clocks after each transfer */
    uint16_t wait_retry;  /* after WAIT */
    uint16_t match_retry; /* until the value is there */
    uint32_t match_mask;
    unsigned budget; /* transfers that this packet may still make: a client must not hold up the others */
};

/* Everything behind the command's byte; the answer behind its byte. */
void front_transfer_list(struct front_transfer *t, struct front_request *r, struct front_answer *a);
void front_transfer_block(struct front_transfer *t, struct front_request *r, struct front_answer *a);
unsigned front_transfer_write(struct front_transfer *t, uint8_t request, uint32_t value);

#endif
