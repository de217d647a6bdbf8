/* SPDX-License-Identifier: Apache-2.0 */
/* See board_fixture.h. */
#include "board_fixture.h"

#include <string.h>

#include "base/bytes.h"
#include "sim/identity.h"

uint32_t program_here(const struct program *p)
{
    return CODE_BASE + 2 * p->n;
}

void program_op(struct program *p, unsigned op)
{
    assert_true(p->n < CODE_MAX);
    p->code[p->n++] = (uint16_t)op;
}

static void mov16(struct program *p, unsigned op, unsigned reg, uint32_t half)
{
    program_op(p, op | (half >> 11 & 1u) << 10 | half >> 12);
    program_op(p, (half >> 8 & 7u) << 12 | reg << 8 | (half & 0xFFu));
}

void program_mov32(struct program *p, unsigned reg, uint32_t value)
{
    if (p->small) {
        program_op(p, OP_MOVS(reg, value >> 24));
        for (unsigned shift = 16; shift < 24; shift -= 8) {
            program_op(p, 0x0200u | reg << 3 | reg); /* LSLS reg, reg, #8 */
            program_op(p, OP_ADDS(reg, value >> shift & 0xFFu));
        }
        return;
    }
    mov16(p, 0xF240, reg, value & 0xFFFFu); /* MOVW */
    mov16(p, 0xF2C0, reg, value >> 16);     /* MOVT */
}

void program_store(struct program *p, uint32_t address, uint32_t value)
{
    program_mov32(p, 6, address);
    program_mov32(p, 7, value);
    program_op(p, OP_STR(7u, 6u, 0u));
}

void program_branch(struct program *p, uint32_t target)
{
    int32_t offset = (int32_t)(target - (program_here(p) + 4)) / 2;
    assert_in_range(offset + 1024, 0, 2047);
    program_op(p, 0xE000u | ((unsigned)offset & 0x7FFu));
}

void program_counter(struct program *p, unsigned core, uint32_t *loop)
{
    program_mov32(p, 1, CELL + 4 * core);
    program_op(p, OP_MOVS(0u, 0u));
    uint32_t start = program_here(p);
    program_op(p, OP_ADDS(0u, 1u));
    program_op(p, OP_STR(0u, 1u, 0u));
    program_branch(p, start);
    if (loop)
        *loop = start;
}

size_t program_elf(const struct program *p, uint8_t *image, size_t room)
{
    size_t bytes = 0x100 + 2 * (size_t)p->n + 2;
    assert_true(84 + bytes <= room);
    memset(image, 0, 84 + bytes);
    memcpy(image, "\177ELF\1\1\1", 7);
    store_le16(image + 16, 2);  /* ET_EXEC */
    store_le16(image + 18, 40); /* EM_ARM */
    store_le32(image + 20, 1);
    store_le32(image + 24, CODE_BASE | 1u);
    store_le32(image + 28, 52);
    store_le16(image + 40, 52);
    store_le16(image + 42, 32);
    store_le16(image + 44, 1);
    uint8_t *ph = image + 52;
    store_le32(ph, 1);
    store_le32(ph + 4, 84);
    store_le32(ph + 8, BOARD_FLASH_BASE);
    store_le32(ph + 12, BOARD_FLASH_BASE);
    store_le32(ph + 16, (uint32_t)bytes);
    store_le32(ph + 20, (uint32_t)bytes);
    uint8_t *flash = image + 84;
    uint32_t spin = program_here(p); /* a branch to itself behind the program */
    for (unsigned n = 2; n < 64; n++)
        store_le32(flash + 4 * n, (p->vector[n] ? p->vector[n] : spin) | 1u);
    store_le32(flash, p->vector[0] ? p->vector[0] : BOARD_SRAM_CORE0 + BOARD_SRAM_EACH);
    store_le32(flash + 4, (p->vector[1] ? p->vector[1] : CODE_BASE) | 1u);
    for (unsigned n = 0; n < p->n; n++)
        store_le16(flash + 0x100 + 2 * n, p->code[n]);
    store_le16(flash + 0x100 + 2 * p->n, 0xE7FE);
    return 84 + bytes;
}

void load_program(struct board *b, unsigned core, const struct program *p)
{
    uint8_t image[2048];
    struct diag d = DIAG_INIT;
    size_t size = program_elf(p, image, sizeof(image));
    assert_int_equal(board_load_elf(b, core, image, size, &d), CORRAL_OK);
}

struct board *board_counting(const struct board_config *config, uint32_t *loop)
{
    struct diag d = DIAG_INIT;
    struct board *b = board_new(config, &d);
    assert_non_null(b);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        struct program p = {0};
        p.vector[0] = (core ? BOARD_SRAM_CORE1 : BOARD_SRAM_CORE0) + BOARD_SRAM_EACH;
        p.small = config && config->identity[core] == BOARD_M0PLUS;
        program_counter(&p, core, loop);
        load_program(b, core, &p);
    }
    board_reset(b);
    dp_power_up(b);
    return b;
}

struct board *board_cross_triggered(const struct board_config *config)
{
    struct board *b = board_counting(config, NULL);
    for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
        mem_write(b, ap, DHCSR, KEY_RUN);
        mem_write(b, ap, CTI_LAR, CTI_KEY);
        mem_write(b, ap, CTI_INEN(0), HALT_CHANNEL);
        mem_write(b, ap, CTI_OUTEN(0), HALT_CHANNEL);
        unsigned restart = board_identity_info(board_get_config(b)->identity[ap])->cti.restart;
        mem_write(b, ap, CTI_OUTEN(restart), RESTART_CHANNEL);
        mem_write(b, ap, CTI_CONTROL, 1);
    }
    return b;
}

void dp_write(struct board *b, uint8_t addr, uint32_t value)
{
    assert_int_equal(board_dap_transfer(b, false, false, addr, &value), 1);
}

uint32_t dp_read(struct board *b, uint8_t addr)
{
    uint32_t value = 0;
    assert_int_equal(board_dap_transfer(b, false, true, addr, &value), 1);
    return value;
}

void dp_power_up(struct board *b)
{
    dp_write(b, 0x0, 0x1E);
    dp_write(b, 0x4, 0x50000000);
    assert_int_equal(dp_read(b, 0x4) & 0xF0000000u, 0xF0000000u);
}

void ap_write(struct board *b, unsigned ap, unsigned reg, uint32_t value)
{
    dp_write(b, 0x8, (uint32_t)ap << 24 | (reg & 0xF0u));
    assert_int_equal(board_dap_transfer(b, true, false, reg & 0xCu, &value), 1);
}

uint32_t ap_read(struct board *b, unsigned ap, unsigned reg)
{
    uint32_t value = 0;
    dp_write(b, 0x8, (uint32_t)ap << 24 | (reg & 0xF0u));
    assert_int_equal(board_dap_transfer(b, true, true, reg & 0xCu, &value), 1);
    return dp_read(b, 0xC);
}

uint32_t mem_read(struct board *b, unsigned ap, uint32_t address)
{
    ap_write(b, ap, 0x00, 0x23000002);
    ap_write(b, ap, 0x04, address);
    return ap_read(b, ap, 0x0C);
}

void mem_write(struct board *b, unsigned ap, uint32_t address, uint32_t value)
{
    ap_write(b, ap, 0x00, 0x23000002);
    ap_write(b, ap, 0x04, address);
    ap_write(b, ap, 0x0C, value);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0);
}

static void clear_sticky(struct board *b)
{
    uint32_t value = 0;
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0x20u);
    assert_int_equal(board_dap_transfer(b, false, true, 0xC, &value), 4);
    dp_write(b, 0x0, 0x1E);
    assert_int_equal(dp_read(b, 0x4) & 0x20u, 0);
}

void mem_read_fails(struct board *b, unsigned ap, uint32_t address)
{
    uint32_t value = 0;
    ap_write(b, ap, 0x00, 0x23000002);
    ap_write(b, ap, 0x04, address);
    assert_int_equal(board_dap_transfer(b, true, true, 0xC, &value), 1);
    clear_sticky(b);
}

void mem_write_fails(struct board *b, unsigned ap, uint32_t address, uint32_t value)
{
    ap_write(b, ap, 0x00, 0x23000002);
    ap_write(b, ap, 0x04, address);
    ap_write(b, ap, 0x0C, value);
    clear_sticky(b);
}

bool is_halted(struct board *b, unsigned core)
{
    return (mem_read(b, core, DHCSR) & S_HALT) != 0;
}

void halt(struct board *b, unsigned core)
{
    mem_write(b, core, DHCSR, KEY_HALT);
    assert_true(is_halted(b, core));
}

void resume(struct board *b, unsigned core)
{
    mem_write(b, core, DHCSR, KEY_RUN);
}

void step(struct board *b, unsigned core)
{
    mem_write(b, core, DHCSR, KEY_STEP);
    assert_true(is_halted(b, core));
}

uint32_t core_register(struct board *b, unsigned core, unsigned regsel)
{
    mem_write(b, core, DCRSR, regsel);
    assert_int_equal(mem_read(b, core, DHCSR) & (1u << 16), 1u << 16);
    return mem_read(b, core, DCRDR);
}

void set_core_register(struct board *b, unsigned core, unsigned regsel, uint32_t value)
{
    mem_write(b, core, DCRDR, value);
    mem_write(b, core, DCRSR, regsel | 1u << 16);
}

void breakpoint(struct board *b, unsigned core, unsigned n, uint32_t address)
{
    uint32_t comp = address | 1u;
    if (mem_read(b, core, BOARD_FPB_BASE) >> 28 == 0) /* version 1: a word, and which half of it */
        comp = (address & 0x1FFFFFFCu) | (address & 2u ? 2u : 1u) << 30 | 1u;
    mem_write(b, core, BOARD_FPB_BASE, 3);
    mem_write(b, core, BOARD_FPB_BASE + 8 + 4 * n, comp);
}
