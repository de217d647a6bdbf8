/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random Thumb instructions in lockstep with Unicorn: registers, NZCVQ, GE and memory after each of them.
 *
 * Every case starts from random registers and a fresh Unicorn context, because after a fault Unicorn stays
 * wedged. An IT block is one step of the oracle, so it is compared as a whole. What is left out, and why, is
 * said in thumb_classes.c; the undefined encodings have their own lists here.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "thumb_case.h"

#define CASES      250000u
#define IT_BLOCKS  10000u
#define SEED       0x0C0FFEE5u
#define MAX_CLASS  512u
#define MAX_REPORT 20u

static bool run_single(struct oracle *o, const struct thumb_class *k)
{
    struct encoded e;
    uint32_t pc;
    char what[96];

    case_choose(o, k, &e);
    case_random_state(o);
    case_prepare(o, k, &e);
    pc = o->cpu.r[CPU_PC];
    snprintf(what, sizeof what, "%s %08" PRIx32, k->name, e.word);
    return case_run(o, what, pc, case_put_code(o, pc, &e), 1, 1);
}

static void resume_equal(struct oracle *o)
{
    memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
}

static void test_single_instructions(void **state)
{
    struct oracle *o = oracle_new(SEED);
    unsigned count[MAX_CLASS] = {0}, wrong = 0;

    (void)state;
    assert_non_null(o);
    assert_true(thumb_class_count <= MAX_CLASS);
    for (unsigned n = 0; n < CASES && wrong < MAX_REPORT; n++) {
        unsigned k = n < thumb_class_count * 100u ? n % thumb_class_count
                                                  : (oracle_random(o) >> 8) % thumb_class_count;
        count[k]++;
        if (!run_single(o, &thumb_classes[k])) {
            resume_equal(o);
            wrong++;
        }
    }
    for (unsigned k = 0; k < thumb_class_count; k++) {
        if (count[k] == 0)
            fail_msg("class %s was never tried", thumb_classes[k].name);
    }
    print_message("# seed %08x: %u instructions of %u classes\n", SEED, CASES, thumb_class_count);
    oracle_free(o);
    assert_int_equal(wrong, 0);
}

#define FIRST_ONLY (TC_MEM | TC_STACK | TC_WORD | TC_JUMP_REG | TC_INDEX)

/* Memory, the stack and jumps by register only where nothing before them in the block can move an address. */
static bool fits_slot(const struct thumb_class *k, unsigned slot, unsigned slots, bool ended)
{
    if (k->flags & TC_NO_IT)
        return false;
    if ((k->flags & TC_LAST) && (slot + 1 != slots || ended))
        return false;
    if ((k->flags & TC_ENDS) && slot + 1 == slots)
        return false;
    return slot == 0 || !(k->flags & FIRST_ONLY);
}

static bool run_it_block(struct oracle *o, unsigned first, unsigned *slots, unsigned *count)
{
    uint32_t r = oracle_random(o) >> 4, condition = (r >> 8) % 15u, mask = 1u + (r >> 16) % 15u;
    struct encoded it = {.size = 2}, e[4];
    uint32_t pc, end;
    char what[128];
    int used;
    bool branches = false, ended = false;

    if (condition == 14)
        mask &= 0u - mask; /* AL has no else */
    if (thumb_classes[first].flags & TC_LAST)
        mask = 8; /* a block of one */
    else if (thumb_classes[first].flags & TC_ENDS)
        mask = condition == 14 ? 1 : mask | 1;
    *slots = 4u - (unsigned)__builtin_ctz(mask);
    it.word = 0xBF00u | condition << 4 | mask;
    case_random_state(o);
    o->cpu.r[CPU_PC] &= ~0x200u; /* the block does not cross the oracle's pages of 1 KiB */
    used = snprintf(what, sizeof what, "IT %04" PRIx32, it.word);
    pc = o->cpu.r[CPU_PC];
    end = case_put_code(o, pc, &it);
    for (unsigned s = 0; s < *slots; s++) {
        unsigned k = first;
        while (s > 0 &&
               !fits_slot(&thumb_classes[k = (oracle_random(o) >> 8) % thumb_class_count], s, *slots, ended))
            ;
        count[k]++;
        branches = branches || (thumb_classes[k].flags & TC_LAST);
        ended = ended || (thumb_classes[k].flags & TC_ENDS);
        case_choose(o, &thumb_classes[k], &e[s]);
        if (s == 0)
            case_prepare(o, &thumb_classes[k], &e[s]);
        end = case_put_code(o, end, &e[s]);
        used += snprintf(what + used, sizeof what - (size_t)used, " %08" PRIx32, e[s].word);
    }
    /* MSR ends the oracle's block early, so it runs to the address behind; but a branch leaves. */
    return case_run(o, what, pc, end, 1u + *slots, branches ? 1 : 0);
}

static void test_it_blocks(void **state)
{
    struct oracle *o = oracle_new(SEED + 1);
    unsigned count[MAX_CLASS] = {0}, wrong = 0, total = 0, blocks = 0;

    (void)state;
    assert_non_null(o);
    for (unsigned n = 0; n < IT_BLOCKS && wrong < MAX_REPORT; n++) {
        unsigned slots = 0, first = n % thumb_class_count;
        if (thumb_classes[first].flags & TC_NO_IT)
            continue;
        if (!run_it_block(o, first, &slots, count)) {
            resume_equal(o);
            wrong++;
        }
        total += slots + 1;
        blocks++;
    }
    for (unsigned k = 0; k < thumb_class_count; k++) {
        if (count[k] == 0 && !(thumb_classes[k].flags & TC_NO_IT))
            fail_msg("class %s was never tried in an IT block", thumb_classes[k].name);
    }
    print_message("# seed %08x: %u IT blocks, %u instructions\n", SEED + 1, blocks, total);
    oracle_free(o);
    assert_int_equal(wrong, 0);
}

/* Sequences whose effect only a later instruction shows. n is r1, the value r2, results r3 and r4. */
static const struct {
    const char *name;
    uint32_t code[3];
    unsigned steps;
} sequences[] = {
    {"LDREX STREX", {0xE8513F02, 0xE8412402}, 2},
    {"LDREXB STREXB", {0xE8D13F4F, 0xE8C12F44}, 2},
    {"LDREXH STREXH", {0xE8D13F5F, 0xE8C12F54}, 2},
    {"LDREX CLREX STREX", {0xE8513F00, 0xF3BF8F2F, 0xE8412400}, 3},
    {"LDREX STREX elsewhere", {0xE8513F00, 0xE8412410}, 2},
    {"MSR MRS PRIMASK", {0xF3828810, 0xF3EF8310}, 2},
    {"MSR MRS BASEPRI", {0xF3828811, 0xF3EF8311}, 2},
    {"MSR MRS FAULTMASK", {0xF3828813, 0xF3EF8313}, 2},
    {"MSR MRS MSP", {0xF3828808, 0xF3EF8308}, 2},
    {"MSR MRS PSP", {0xF3828809, 0xF3EF8309}, 2},
    {"CPSID CPSIE MRS PRIMASK", {0xB672, 0xB662, 0xF3EF8310}, 3},
    {"CPSID MRS PRIMASK", {0xB672, 0xF3EF8310}, 2},
    {"CPSID MRS FAULTMASK", {0xB671, 0xF3EF8313}, 2},
};

static void test_sequences(void **state)
{
    struct oracle *o = oracle_new(SEED + 2);
    unsigned wrong = 0;

    (void)state;
    assert_non_null(o);
    for (unsigned n = 0; n < 2000; n++) {
        unsigned k = n % (sizeof sequences / sizeof sequences[0]);
        uint32_t pc, end;

        case_random_state(o);
        o->cpu.primask = o->cpu.faultmask = o->cpu.basepri = 0;
        o->cpu.r[1] = ORACLE_RAM + ((oracle_random(o) >> 8) & 0xFFCu);
        if (strstr(sequences[k].name, "BASEPRI"))
            o->cpu.r[2] &= 0xF0u; /* the oracle has eight priority bits */
        if (strstr(sequences[k].name, "SP"))
            o->cpu.r[2] &= ~3u;
        pc = end = o->cpu.r[CPU_PC];
        for (unsigned s = 0; s < sequences[k].steps; s++) {
            struct encoded e = {.word = sequences[k].code[s], .size = sequences[k].code[s] > 0xFFFF ? 4 : 2};
            end = case_put_code(o, end, &e);
        }
        if (!case_run(o, sequences[k].name, pc, end, sequences[k].steps, sequences[k].steps)) {
            resume_equal(o);
            wrong++;
        }
    }
    oracle_free(o);
    assert_int_equal(wrong, 0);
}

static uint32_t cfsr_after(struct oracle *o, const struct encoded *e)
{
    case_random_state(o);
    o->cpu.sys_active = 0;
    o->cpu.cfsr = 0;
    o->cpu.primask = o->cpu.faultmask = 0;
    case_put_code(o, o->cpu.r[CPU_PC], e);
    cpu_step(&o->cpu);
    return o->cpu.cfsr;
}

#define UNDEFINSTR (1u << 16)
#define NOCP       (1u << 19)

/* DDI0403E A5.2: what has no meaning among the 16-bit encodings (SBZ bits of CPS count as part of it). */
static bool undefined_16(uint32_t h)
{
    return (h >= 0xB600 && h <= 0xB65F) || ((h & 0xFFE8u) == 0xB668) || (h >= 0xB680 && h <= 0xB8FF) ||
           (h >= 0xBA80 && h <= 0xBABF) || h >> 8 == 0xDE;
}

static void test_every_16_bit_encoding_is_defined_or_not(void **state)
{
    struct oracle *o = oracle_new(SEED + 3);

    (void)state;
    assert_non_null(o);
    for (uint32_t h = 0; h < 0xE800; h++) {
        struct encoded e = {.word = h, .size = 2};
        bool undefined = cfsr_after(o, &e) & UNDEFINSTR;
        if (undefined != undefined_16(h))
            fail_msg("encoding %04" PRIx32 " is %s", h, undefined ? "undefined" : "defined");
    }
    oracle_free(o);
}

/* 32-bit encodings that must be refused: pattern, and the fault. */
static const struct {
    const char *pattern;
    uint32_t fault;
} refused[] = {
    {"11110 1111111 xxxx 1010 xxxxxxxxxxxx", UNDEFINSTR},      /* UDF.W */
    {"11110 1111111 xxxx 1000 xxxxxxxxxxxx", UNDEFINSTR},      /* SMC */
    {"11110 xxxxxxxxxxx 11x0 xxxxxxxxxxxx", UNDEFINSTR},       /* BLX immediate */
    {"11110 x 0 0101 x nnnn 0 xxx dddd xxxxxxxx", UNDEFINSTR}, /* modified immediate, op 5, 6, 7, 9, 12, 15 */
    {"11110 x 0 011x x nnnn 0 xxx dddd xxxxxxxx", UNDEFINSTR},
    {"11110 x 0 1001 x nnnn 0 xxx dddd xxxxxxxx", UNDEFINSTR},
    {"11110 x 0 1100 x nnnn 0 xxx dddd xxxxxxxx", UNDEFINSTR},
    {"11110 x 0 1111 x nnnn 0 xxx dddd xxxxxxxx", UNDEFINSTR},
    {"11101 01 0101 x nnnn 0 xxx dddd xxxx mmmm", UNDEFINSTR},
    {"11101 01 0111 x nnnn 0 xxx dddd xxxx mmmm", UNDEFINSTR},
    {"11101 01 1001 x nnnn 0 xxx dddd xxxx mmmm", UNDEFINSTR},
    {"11101 01 1100 x nnnn 0 xxx dddd xxxx mmmm", UNDEFINSTR},
    {"11101 01 1111 x nnnn 0 xxx dddd xxxx mmmm", UNDEFINSTR},
    {"11111000 0110 nnnn tttt xxxxxxxxxxxx", UNDEFINSTR}, /* store of size 3 */
    {"11111000 x111 nnnn tttt xxxxxxxxxxxx", UNDEFINSTR}, /* load of size 3 */
    {"11111001 xxx0 nnnn tttt xxxxxxxxxxxx", UNDEFINSTR}, /* Advanced SIMD element loads */
    {"11111000 1100 1111 tttt xxxxxxxxxxxx", UNDEFINSTR}, /* store to a literal */
    {"11111000 0100 nnnn tttt 0001 xxxxxxxx", UNDEFINSTR},
    {"11111000 0100 nnnn tttt 1000 xxxxxxxx", UNDEFINSTR},  /* P = W = 0 */
    {"11111010 1xxx nnnn 1111 dddd 0011 mmmm", UNDEFINSTR}, /* parallel arithmetic, no such kind */
    {"11111010 1x11 nnnn 1111 dddd 00x0 mmmm", UNDEFINSTR},
    {"11111010 11xx nnnn 1111 dddd 1xxx mmmm", UNDEFINSTR}, /* CRC32 and the like came later */
    {"11111010 0xxx nnnn 1111 dddd 01xx mmmm", UNDEFINSTR},
    {"11111011 0000 nnnn aaaa dddd 001x mmmm", UNDEFINSTR},
    {"11111011 1001 nnnn 1111 dddd 0000 mmmm", UNDEFINSTR},
    {"11111011 1111 nnnn 1111 dddd 0000 mmmm", UNDEFINSTR},
    {"11101000 1101 nnnn tttt 1111 0111 dddd", UNDEFINSTR}, /* LDREXD */
    {"11101000 1100 nnnn tttt 1111 0111 dddd", UNDEFINSTR}, /* STREXD */
    {"11101110 xxxx xxxx xxxx xxxx xxxxxxxx", NOCP},        /* coprocessors, the FPU among them */
    {"11111110 xxxx xxxx xxxx xxxx xxxxxxxx", NOCP},
    {"1110110 xxxxx xxxx xxxx xxxx xxxxxxxx", NOCP},
    {"11101111 xxxx xxxx xxxx xxxx xxxxxxxx", UNDEFINSTR}, /* Advanced SIMD */
    {"11111111 xxxx xxxx xxxx xxxx xxxxxxxx", UNDEFINSTR},
};

/* The oracle has an FPU and takes its instructions; on all others it must agree. */
static bool oracle_refuses(struct oracle *o, const struct encoded *e)
{
    uint32_t pc;

    case_random_state(o);
    pc = o->cpu.r[CPU_PC];
    oracle_forget(o, pc, case_put_code(o, pc, e));
    oracle_copy_registers(o);
    return uc_emu_start(o->uc, pc | 1u, 0, 0, 1) != UC_ERR_OK;
}

static void test_refused_32_bit_encodings(void **state)
{
    struct oracle *o = oracle_new(SEED + 4);

    (void)state;
    assert_non_null(o);
    for (unsigned k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        const struct thumb_class class = {refused[k].pattern, refused[k].pattern, 0};
        for (unsigned n = 0; n < 200; n++) {
            struct encoded e;
            uint32_t cfsr;
            case_choose(o, &class, &e);
            cfsr = cfsr_after(o, &e);
            if (cfsr != refused[k].fault)
                fail_msg("%08" PRIx32 " (%s): CFSR %08" PRIx32, e.word, refused[k].pattern, cfsr);
            if (refused[k].fault != NOCP && !oracle_refuses(o, &e))
                fail_msg("%08" PRIx32 " (%s): the oracle takes it", e.word, refused[k].pattern);
        }
    }
    oracle_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_instructions),
        cmocka_unit_test(test_it_blocks),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_every_16_bit_encoding_is_defined_or_not),
        cmocka_unit_test(test_refused_32_bit_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
