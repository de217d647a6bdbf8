/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See front_port.h. Every access that fails leaves the debug port without sticky errors, so that the next one
 * works. Must not touch the board but by its debug port.
 */
#include "sim/front_port.h"

#include "base/bytes.h"

#define WAITS 100 /* so often a transfer is said again */

#define DP_ABORT    0x0u
#define DP_SELECT   0x8u
#define DP_RDBUFF   0xCu
#define ABORT_CLEAR 0x1Eu
#define DPBANK_MASK 0xFu

#define AP_CSW      0x00u
#define AP_TAR      0x04u
#define AP_DRW      0x0Cu
#define AP_BD3      0x1Cu
#define CSW_DEFAULT 0x23000000u
#define CSW_SETTING 0x37u /* size and increment */
#define CSW_SINGLE  0x10u
#define TAR_WRAP    0x3FFu

void front_port_begin(struct front_port *p, struct front *f)
{
    *p = (struct front_port){.front = f};
}

/* One transfer; after a fault the sticky errors are cleared. */
static unsigned transfer(struct front_port *p, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    unsigned ack = FRONT_ACK_WAIT;

    for (int i = 0; i < WAITS && ack == FRONT_ACK_WAIT; i++) {
        ack = board_dap_transfer(p->front->board, ap, read, addr, value);
        p->front->transfers++;
    }
    if (ack != FRONT_ACK_OK) {
        uint32_t clear = ABORT_CLEAR;
        board_dap_transfer(p->front->board, false, false, DP_ABORT, &clear);
        p->front->transfers++;
        p->select_known = false;
    }
    return ack;
}

static unsigned select_bank(struct front_port *p, uint32_t select)
{
    if (p->select_known && p->select == select)
        return FRONT_ACK_OK;
    unsigned ack = transfer(p, false, false, DP_SELECT, &select);
    p->select = select;
    p->select_known = ack == FRONT_ACK_OK;
    return ack;
}

unsigned front_port_dp(struct front_port *p, bool read, uint8_t reg, uint32_t *value)
{
    uint8_t addr = reg & 0xCu;
    unsigned ack = FRONT_ACK_OK;

    if (!read && addr == DP_SELECT) /* ours */
        return select_bank(p, *value);
    if (addr == 0x4u)
        ack = select_bank(p, ((p->select_known ? p->select : 0) & ~DPBANK_MASK) | reg >> 4);
    return ack == FRONT_ACK_OK ? transfer(p, false, read, addr, value) : ack;
}

unsigned front_port_ap(struct front_port *p, uint8_t ap, bool read, uint8_t reg, uint32_t *value)
{
    unsigned ack = select_bank(p, (uint32_t)ap << 24 | (reg & 0xF0u));

    if (ack == FRONT_ACK_OK)
        ack = transfer(p, true, read, reg & 0xCu, value);
    if (ack == FRONT_ACK_OK && (read || (reg >= AP_DRW && reg <= AP_BD3))) {
        uint32_t ignored = 0;
        ack = transfer(p, false, true, DP_RDBUFF, read ? value : &ignored);
    }
    return ack;
}

static unsigned lane(const struct front_block *b, uint32_t address)
{
    return (address & 3u & ~(b->size - 1u)) * 8;
}

/* Reads are posted: each one brings the value of the one before, RDBUFF the last. */
static unsigned read_run(struct front_port *p, const struct front_block *b, uint32_t address, uint32_t count,
                         uint8_t *to)
{
    uint32_t step = b->increment ? b->size : 0, value = 0;
    unsigned ack = transfer(p, true, true, AP_DRW, &value);

    for (uint32_t i = 0; i < count && ack == FRONT_ACK_OK; i++) {
        bool last = i + 1 == count;
        p->fault_address = address;
        ack = transfer(p, !last, true, last ? DP_RDBUFF : AP_DRW, &value);
        if (ack == FRONT_ACK_OK)
            store_le(to + i * b->size, b->size, value >> lane(b, address));
        address += step;
    }
    return ack;
}

/* Whether a write was good shows at the next transfer, so RDBUFF is read behind the last. */
static unsigned write_run(struct front_port *p, const struct front_block *b, uint32_t address, uint32_t count,
                          const uint8_t *from)
{
    uint32_t step = b->increment ? b->size : 0, value = 0;
    unsigned ack = FRONT_ACK_OK;

    for (uint32_t i = 0; i < count && ack == FRONT_ACK_OK; i++) {
        value = load_le(from + i * b->size, b->size) << lane(b, address);
        ack = transfer(p, true, false, AP_DRW, &value);
        if (ack == FRONT_ACK_OK) {
            p->fault_address = address;
            address += step;
        }
    }
    return ack == FRONT_ACK_OK ? transfer(p, false, true, DP_RDBUFF, &value) : ack;
}

/* `count` accesses from `address` on, for which one TAR is good. */
static unsigned run(struct front_port *p, const struct front_block *b, uint32_t address, uint32_t count,
                    const uint8_t *from, uint8_t *to)
{
    unsigned ack = transfer(p, true, false, AP_TAR, &address);

    p->fault_address = address;
    if (ack == FRONT_ACK_OK)
        ack = to ? read_run(p, b, address, count, to) : write_run(p, b, address, count, from);
    if (ack == FRONT_ACK_OK)
        p->fault_address = 0;
    return ack;
}

unsigned front_port_memory(struct front_port *p, const struct front_block *block, const uint8_t *from,
                           uint8_t *to)
{
    uint32_t kept = p->csw[block->ap] ? p->csw[block->ap] : CSW_DEFAULT;
    uint32_t csw = (kept & ~CSW_SETTING) | block->size >> 1 | (block->increment ? CSW_SINGLE : 0);
    uint32_t address = block->address, left = block->length / block->size;
    unsigned ack = select_bank(p, (uint32_t)block->ap << 24);

    if (ack == FRONT_ACK_OK)
        ack = transfer(p, true, false, AP_CSW, &csw);
    while (left > 0 && ack == FRONT_ACK_OK) {
        uint32_t count = (TAR_WRAP + 1 - (address & TAR_WRAP) + block->size - 1) / block->size;
        if (!block->increment || count > left)
            count = left;
        ack = run(p, block, address, count, from, to);
        from = from ? from + count * block->size : NULL;
        to = to ? to + count * block->size : NULL;
        address += count * block->size;
        left -= count;
    }
    return ack;
}
