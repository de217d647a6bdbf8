/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction classes that the lockstep test draws from, as bit patterns (DDI0403E A5, A7).
 *
 * 0 and 1 are fixed, x is random, letters are fields. n, m, d, t, a and u of four bits are registers 0..12
 * and 14; of three bits 0..7. N is a base register and may be the SP. Everything UNPREDICTABLE is kept out by
 * the pattern or by a flag that names the rule.
 */
#ifndef CORRAL_TESTS_ORACLE_THUMB_CLASSES_H
#define CORRAL_TESTS_ORACLE_THUMB_CLASSES_H

enum {
    TC_MEM = 1u << 0,       /* n or N is an address in the scratch RAM */
    TC_INDEX = 1u << 1,     /* m is a small index */
    TC_ALIGN = 1u << 2,     /* the address must be a multiple of 4 */
    TC_TARGETS = 1u << 3,   /* words at the base are odd code addresses (a load of the PC) */
    TC_JUMP_REG = 1u << 4,  /* m holds an odd code address */
    TC_NO_IT = 1u << 5,     /* not inside an IT block */
    TC_WRITEBACK = 1u << 6, /* n is not t (nor u) */
    TC_DISTINCT = 1u << 7,  /* d is not t: two result registers */
    TC_STREX = 1u << 8,     /* d is neither n nor t */
    TC_MODIMM = 1u << 9,    /* a zero byte is not replicated */
    TC_BFI = 1u << 10,      /* msb >= lsb */
    TC_BFX = 1u << 11,      /* lsb + width <= 32 */
    TC_LIST = 1u << 12,     /* register list rules of LDM and STM, 32-bit */
    TC_LIST16 = 1u << 13,   /* register list rules of LDM and STM, 16-bit */
    TC_STACK = 1u << 14,    /* the SP points into the scratch RAM */
    TC_RM_RN = 1u << 15,    /* n is m (CLZ, REV, RBIT hold the register twice) */
    TC_SHIFT_NZ = 1u << 16, /* SSAT, USAT with shift 1: a zero amount is another instruction */
    TC_WORD = 1u << 18,     /* m is a multiple of 4: the oracle keeps bits 1..0 of an SP, hardware has none */
    TC_ENDS = 1u << 19,     /* the oracle ends its translation block here */
    TC_LAST = 1u << 17,     /* a branch: only at the end of an IT block */
};

struct thumb_class {
    const char *name;
    const char *pattern;
    unsigned flags;
};

extern const struct thumb_class thumb_classes[];
extern const unsigned thumb_class_count;

#endif
