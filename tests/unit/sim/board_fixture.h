/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the board tests share: tiny Thumb programs put together here and wrapped into an ELF, and a debugger's
 * accesses through the debug port. Everything asserts, so a test reads as the story it tells.
 */
#ifndef CORRAL_TESTS_BOARD_FIXTURE_H
#define CORRAL_TESTS_BOARD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/board.h"
#include "sim/board_map.h"

#define CODE_BASE (BOARD_FLASH_BASE + 0x100u) /* behind the vector table */
#define CODE_MAX  512u
#define CELL      0x20000100u /* a word of SRAM that core 0's programs use; core 1's is CELL + 4 */

struct program {
    uint16_t code[CODE_MAX];
    unsigned n;
    uint32_t vector[64]; /* 0 = the default handler, a branch to itself */
    bool small;          /* for Armv6-M: program_mov32 then takes seven low-register instructions */
};

uint32_t program_here(const struct program *p);
void program_op(struct program *p, unsigned op);
void program_mov32(struct program *p, unsigned reg, uint32_t value);
void program_store(struct program *p, uint32_t address, uint32_t value); /* uses r6 and r7 */
void program_branch(struct program *p, uint32_t target);

enum thumb {
    OP_NOP = 0xBF00,
    OP_WFI = 0xBF30,
    OP_WFE = 0xBF20,
    OP_SEV = 0xBF40,
    OP_BKPT = 0xBE00,
    OP_UDF = 0xDE00,
    OP_BX_LR = 0x4770,
    OP_CPSID_I = 0xB672,
    OP_CPSIE_I = 0xB662,
};
#define OP_MOVS(rd, imm)       (0x2000u | (rd) << 8 | (imm))
#define OP_ADDS(rd, imm)       (0x3000u | (rd) << 8 | (imm))
#define OP_STR(rt, rn, offset) (0x6000u | (offset) / 4 << 6 | (rn) << 3 | (rt))
#define OP_LDR(rt, rn, offset) (0x6800u | (offset) / 4 << 6 | (rn) << 3 | (rt))

/* A loop that counts into CELL + 4 * core; *loop is its first instruction (add, store, branch). */
void program_counter(struct program *p, unsigned core, uint32_t *loop);
/* The ELF image of a program; returns its size. */
size_t program_elf(const struct program *p, uint8_t *image, size_t room);
void load_program(struct board *b, unsigned core, const struct program *p);

/* Two cores counting, debug power up. Free with board_free. */
struct board *board_counting(const struct board_config *config, uint32_t *loop);
/* The same and both cores debug enabled and their CTIs mapped as a debugger does: channel 0 halts, 1 starts.
 */
struct board *board_cross_triggered(const struct board_config *config);

void dp_write(struct board *b, uint8_t addr, uint32_t value);
uint32_t dp_read(struct board *b, uint8_t addr);
void dp_power_up(struct board *b);
void ap_write(struct board *b, unsigned ap, unsigned reg, uint32_t value);
uint32_t ap_read(struct board *b, unsigned ap, unsigned reg);
uint32_t mem_read(struct board *b, unsigned ap, uint32_t address);
void mem_write(struct board *b, unsigned ap, uint32_t address, uint32_t value);
/* An access that must end in a sticky error, which is then cleared. */
void mem_read_fails(struct board *b, unsigned ap, uint32_t address);
void mem_write_fails(struct board *b, unsigned ap, uint32_t address, uint32_t value);

#define DHCSR 0xE000EDF0u
#define DCRSR 0xE000EDF4u
#define DCRDR 0xE000EDF8u
#define DEMCR 0xE000EDFCu
#define DFSR  0xE000ED30u
#define AIRCR 0xE000ED0Cu

#define KEY_RUN  0xA05F0001u
#define KEY_HALT 0xA05F0003u
#define KEY_STEP 0xA05F0005u
#define S_HALT   (1u << 17)
#define S_SLEEP  (1u << 18)
#define S_LOCKUP (1u << 19)

bool is_halted(struct board *b, unsigned core);
void halt(struct board *b, unsigned core);
void resume(struct board *b, unsigned core);
void step(struct board *b, unsigned core);
uint32_t core_register(struct board *b, unsigned core, unsigned regsel);
void set_core_register(struct board *b, unsigned core, unsigned regsel, uint32_t value);
void breakpoint(struct board *b, unsigned core, unsigned n, uint32_t address);

#define CTI(offset)  (BOARD_CTI_BASE + (offset))
#define CTI_CONTROL  CTI(0x000)
#define CTI_INTACK   CTI(0x010)
#define CTI_APPSET   CTI(0x014)
#define CTI_APPCLEAR CTI(0x018)
#define CTI_APPPULSE CTI(0x01C)
#define CTI_INEN(n)  CTI(0x020 + 4 * (n))
#define CTI_OUTEN(n) CTI(0x0A0 + 4 * (n))
#define CTI_TRIGIN   CTI(0x130)
#define CTI_TRIGOUT  CTI(0x134)
#define CTI_CHIN     CTI(0x138)
#define CTI_CHOUT    CTI(0x13C)
#define CTI_GATE     CTI(0x140)
#define CTI_LAR      CTI(0xFB0)
#define CTI_LSR      CTI(0xFB4)
#define CTI_KEY      0xC5ACCE55u

#define HALT_CHANNEL    1u /* mask of channel 0 */
#define RESTART_CHANNEL 2u /* mask of channel 1 */

#endif
