/* SPDX-License-Identifier: Apache-2.0 */
/* See board_jtag.h. */
#include "board_jtag.h"

#include <stdbool.h>

enum tap {
    TAP_RESET,
    TAP_IDLE,
    TAP_SELECT_DR,
    TAP_CAPTURE_DR,
    TAP_SHIFT_DR,
    TAP_EXIT1_DR,
    TAP_PAUSE_DR,
    TAP_EXIT2_DR,
    TAP_UPDATE_DR,
    TAP_SELECT_IR,
    TAP_CAPTURE_IR,
    TAP_SHIFT_IR,
    TAP_EXIT1_IR,
    TAP_PAUSE_IR,
    TAP_EXIT2_IR,
    TAP_UPDATE_IR,
};

/* Next state by TMS. */
static const uint8_t next_state[16][2] = {
    [TAP_RESET] = {TAP_IDLE, TAP_RESET},
    [TAP_IDLE] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_DR] = {TAP_CAPTURE_DR, TAP_SELECT_IR},
    [TAP_CAPTURE_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_SHIFT_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_EXIT1_DR] = {TAP_PAUSE_DR, TAP_UPDATE_DR},
    [TAP_PAUSE_DR] = {TAP_PAUSE_DR, TAP_EXIT2_DR},
    [TAP_EXIT2_DR] = {TAP_SHIFT_DR, TAP_UPDATE_DR},
    [TAP_UPDATE_DR] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_IR] = {TAP_CAPTURE_IR, TAP_RESET},
    [TAP_CAPTURE_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_SHIFT_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_EXIT1_IR] = {TAP_PAUSE_IR, TAP_UPDATE_IR},
    [TAP_PAUSE_IR] = {TAP_PAUSE_IR, TAP_EXIT2_IR},
    [TAP_EXIT2_IR] = {TAP_SHIFT_IR, TAP_UPDATE_IR},
    [TAP_UPDATE_IR] = {TAP_IDLE, TAP_SELECT_DR},
};

#define IR_LENGTH 4u
#define IR_ABORT  0x8u
#define IR_DPACC  0xAu
#define IR_APACC  0xBu
#define IR_IDCODE 0xEu

#define ACK_OK_FAULT      2u /* of a JTAG-DP: a fault shows in CTRL/STAT only */
#define CTRL_STAT         0x4u
#define CTRL_STICKY       0x32u /* write 1 to clear, on a JTAG-DP */
#define ABORT_CLEAR_ALL   0x1Eu
#define DP_ABORT          0x0u
#define DP_RDBUFF         0xCu
#define BOARD_TRANSFER_OK 1u

void board_jtag_init(struct board_jtag *j, struct board *b)
{
    *j = (struct board_jtag){.board = b, .state = TAP_RESET, .ir = IR_IDCODE};
}

static void clear_sticky(struct board_jtag *j)
{
    uint32_t value = ABORT_CLEAR_ALL;
    board_dap_transfer(j->board, false, false, DP_ABORT, &value);
}

static void access(struct board_jtag *j, bool ap)
{
    bool read = j->shift & 1u;
    uint8_t addr = (uint8_t)((j->shift >> 1 & 3u) << 2);
    uint32_t value = (uint32_t)(j->shift >> 3);
    j->result = 0;
    if (!ap && addr == DP_ABORT) /* reserved on a JTAG-DP */
        return;
    if (!ap && !read && addr == CTRL_STAT && (value & CTRL_STICKY)) {
        clear_sticky(j);
        value &= ~CTRL_STICKY;
    }
    if (board_dap_transfer(j->board, ap, read, addr, &value) != BOARD_TRANSFER_OK || !read)
        return;
    if (!ap)
        j->result = value;
    else if (board_dap_transfer(j->board, false, true, DP_RDBUFF, &value) == BOARD_TRANSFER_OK)
        j->result = value;
}

static void capture_dr(struct board_jtag *j)
{
    j->shift = 0;
    j->length = 1; /* BYPASS */
    if (j->ir == IR_IDCODE) {
        j->shift = BOARD_JTAG_IDCODE;
        j->length = 32;
    } else if (j->ir == IR_DPACC || j->ir == IR_APACC) {
        j->shift = (uint64_t)j->result << 3 | ACK_OK_FAULT;
        j->length = 35;
    } else if (j->ir == IR_ABORT) {
        j->length = 35;
    }
}

static void clock_edge(struct board_jtag *j, unsigned tms, unsigned tdi)
{
    if (j->state == TAP_CAPTURE_DR) {
        capture_dr(j);
    } else if (j->state == TAP_CAPTURE_IR) {
        j->shift = 1;
        j->length = IR_LENGTH;
    } else if (j->state == TAP_SHIFT_DR || j->state == TAP_SHIFT_IR) {
        j->shift = j->shift >> 1 | (uint64_t)tdi << (j->length - 1);
    }
    j->state = next_state[j->state][tms];
    if (j->state == TAP_RESET)
        j->ir = IR_IDCODE;
    else if (j->state == TAP_UPDATE_IR)
        j->ir = (unsigned)(j->shift & 0xFu);
    else if (j->state == TAP_UPDATE_DR && j->ir == IR_ABORT)
        clear_sticky(j);
    else if (j->state == TAP_UPDATE_DR && (j->ir == IR_DPACC || j->ir == IR_APACC))
        access(j, j->ir == IR_APACC);
}

char board_jtag_character(struct board_jtag *j, char c)
{
    if (c == 'Q')
        return 'Q';
    if (c == 'R') {
        bool shifting = j->state == TAP_SHIFT_DR || j->state == TAP_SHIFT_IR;
        return shifting && (j->shift & 1u) ? '1' : '0';
    }
    if (c >= '0' && c <= '7') {
        unsigned pins = (unsigned)(c - '0');
        int tck = pins >> 2 & 1u;
        if (tck && !j->tck)
            clock_edge(j, pins >> 1 & 1u, pins & 1u);
        j->tck = tck;
    }
    return 0;
}
