/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CMSIS-DAP probe in this process, behind a wire of the tests: the board and its CMSIS-DAP front, with
 * other packet sizes, JTAG (which the front has not), several debug ports on one wire, and misdeeds.
 */
#ifndef CORRAL_TESTS_CMSIS_DAP_PEER_H
#define CORRAL_TESTS_CMSIS_DAP_PEER_H

#include "link/cmsis_dap_wire.h"
#include "sim/board.h"

#define PEER_IDCODE    0x4BA00477u
#define PEER_OTHER     0x06450041u
#define PEER_TARGETSEL 0x01002927u /* + instance << 28 */
#define PEER_NO_ANSWER 0x7FFFFFFFu

enum dap_misdeed {
    DAP_HONEST,
    DAP_SHORT,      /* answers are one byte too short */
    DAP_EMPTY,      /* answers without a byte */
    DAP_LONG,       /* longer than the packet it announced */
    DAP_OTHER_ECHO, /* another command's byte */
    DAP_UNKNOWN,    /* 0xFF */
    DAP_SILENT,     /* no answer */
    DAP_GONE,       /* the wire refuses */
    DAP_MORE_DONE,  /* counts more transfers than there were */
    DAP_LESS_DONE,  /* counts fewer, and says OK */
    DAP_NO_ACK,     /* transfers: nobody answers on the wire */
    DAP_PARITY,     /* transfers: protocol error */
    DAP_ACK_5,      /* transfers: an acknowledge that is none */
};

struct cmsis_dap_peer_options {
    bool run;                           /* the built-in images; else both cores are held in reset */
    unsigned packet_size, packet_count; /* 0 = the front's */
    bool announce_zero_size, announce_zero_count, long_text;
    bool padded;
    bool adiv6; /* the board's debug port */
    bool swd_only, jtag_only;
    bool dormant;     /* SWD only after the selection alert */
    bool stuck_reset; /* nRESET reads high whatever is asked */
    /* A chain. */
    unsigned others_ahead, others_behind; /* TAPs towards TDI, towards TDO */
    /* Multidrop: instances 0 .. n-1 on the wire; 0 = a single port without it. */
    unsigned instances;
    uint32_t lie_instance; /* DLPIDR says so; with instances */
    enum dap_misdeed misdeed;
    unsigned misdeed_after;  /* commands that are answered well */
    unsigned misdeed_for;    /* 0 = for ever */
    uint8_t misdeed_command; /* only answers to this one; 0 = all */
};

struct cmsis_dap_peer {
    struct cmsis_dap_peer_options options;
    struct board *board;
    struct front *front;
    struct {
        uint8_t data[2048];
        size_t size;
    } answer[20];
    unsigned first, waiting, most_waiting;
    bool jtag, closed;
    unsigned packets, commands, wrong; /* `wrong`: requests that no probe would have to take */
    uint32_t clock_hz;
    unsigned line_resets, hung_up;
    bool awake, fresh; /* fresh: behind a line reset DPIDR must be read first */
    uint8_t pins[2];   /* out and select of the last DAP_SWJ_Pins */
    uint32_t pins_wait;
    uint8_t swj_bits; /* of the last DAP_SWJ_Sequence, 0 = 256 */
    uint8_t swj[32];
    uint32_t selected; /* TARGETSEL that was written last */
    uint32_t bank;     /* DPBANKSEL of the JTAG-DP */
    uint8_t ir_length[16];
    unsigned ir_lengths;
    /* The chain. */
    unsigned tap_state, taps;
    struct {
        unsigned ir_length, ir, length;
        uint32_t idcode, shift;
    } tap[8]; /* [0] nearest to TDI */
    unsigned dap;
};

void cmsis_dap_peer_start(struct cmsis_dap_peer *p, const struct cmsis_dap_peer_options *options);
/* The wire to it; the peer outlives the link. */
struct cmsis_dap_wire cmsis_dap_peer_wire(struct cmsis_dap_peer *p);
/* From now on. */
void cmsis_dap_peer_change(struct cmsis_dap_peer *p, const struct cmsis_dap_peer_options *options);
void cmsis_dap_peer_stop(struct cmsis_dap_peer *p);

#endif
