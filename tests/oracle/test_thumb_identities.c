/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction sets of the board's other cores against Unicorn's models of them: Cortex-M0 (the M0+ has
 * the same instructions), M4 and M33. Random cases as in test_thumb_lockstep.c, and for Armv6-M the other way
 * round: what is not in its short list must be refused (that is not asked of the oracle, whose Cortex-M0
 * takes all of Thumb-2). DDI0419E A5, DDI0553 C2.
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

#define SEED       0x1D3A717Eu
#define CASES_M4   20000u
#define CASES_M33  60000u
#define CASES_M0   40000u
#define WIDE_M0    60000u
#define MAX_REPORT 20u

#define UNDEFINSTR (1u << 16)
#define HARDFAULT  3u

/* Armv8-M beyond Armv7E-M. */
static const struct thumb_class v8m_classes[] = {
    {"LDA", "111010001101 NNNN tttt 1111 1010 1111", TC_MEM | TC_ALIGN},
    {"LDAB", "111010001101 NNNN tttt 1111 1000 1111", TC_MEM},
    {"LDAH", "111010001101 NNNN tttt 1111 1001 1111", TC_MEM | TC_ALIGN},
    {"STL", "111010001100 NNNN tttt 1111 1010 1111", TC_MEM | TC_ALIGN},
    {"STLB", "111010001100 NNNN tttt 1111 1000 1111", TC_MEM},
    {"STLH", "111010001100 NNNN tttt 1111 1001 1111", TC_MEM | TC_ALIGN},
    {"LDAEX", "111010001101 NNNN tttt 1111 1110 1111", TC_MEM | TC_ALIGN},
    {"LDAEXB", "111010001101 NNNN tttt 1111 1100 1111", TC_MEM},
    {"LDAEXH", "111010001101 NNNN tttt 1111 1101 1111", TC_MEM | TC_ALIGN},
    {"STLEX alone", "111010001100 NNNN tttt 1111 1110 dddd", TC_MEM | TC_ALIGN | TC_STREX},
    {"STLEXB alone", "111010001100 NNNN tttt 1111 1100 dddd", TC_MEM | TC_STREX},
    {"STLEXH alone", "111010001100 NNNN tttt 1111 1101 dddd", TC_MEM | TC_ALIGN | TC_STREX},
    {"SG", "1110100101111111 1110100101111111", 0},
};
#define V8M_CLASSES (sizeof v8m_classes / sizeof v8m_classes[0])

static bool narrow(const struct thumb_class *k)
{
    unsigned n = 0;
    for (const char *p = k->pattern; *p; p++)
        n += *p != ' ';
    return n == 16;
}

/* Armv6-M: the 16-bit ones but CBZ and CBNZ, and a handful of 32-bit ones. */
static bool in_v6m(const struct thumb_class *k)
{
    static const char *const wide[] = {"BL", "MRS APSR", "MRS xPSR", "MRS IPSR", "DSB", "DMB", "ISB"};

    if (narrow(k))
        return strcmp(k->name, "CBZ") != 0 && strcmp(k->name, "CBNZ") != 0;
    for (unsigned n = 0; n < sizeof wide / sizeof wide[0]; n++) {
        if (strcmp(k->name, wide[n]) == 0)
            return true;
    }
    return false;
}

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

static void run_cases(enum cpu_architecture architecture, int model, unsigned cases)
{
    struct oracle *o = oracle_new_core(SEED + (uint32_t)model, architecture, model);
    const struct thumb_class *classes[512];
    unsigned count = 0, wrong = 0;

    assert_non_null(o);
    assert_true(thumb_class_count + V8M_CLASSES <= sizeof classes / sizeof classes[0]);
    for (unsigned k = 0; k < thumb_class_count; k++) {
        if (architecture != CPU_V6M || in_v6m(&thumb_classes[k]))
            classes[count++] = &thumb_classes[k];
    }
    for (unsigned k = 0; k < V8M_CLASSES && architecture == CPU_V8M; k++)
        classes[count++] = &v8m_classes[k];
    assert_true(cases >= 50 * count);
    for (unsigned n = 0; n < cases && wrong < MAX_REPORT; n++) {
        if (!run_single(o, classes[n % count])) {
            memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
            wrong++;
        }
    }
    print_message("# %u instructions of %u classes\n", cases, count);
    oracle_free(o);
    assert_int_equal(wrong, 0);
}

static void test_m4_runs_as_the_oracle_does(void **state)
{
    (void)state;
    run_cases(CPU_V7EM, UC_CPU_ARM_CORTEX_M4, CASES_M4);
}

static void test_m33_runs_as_the_oracle_does(void **state)
{
    (void)state;
    run_cases(CPU_V8M, UC_CPU_ARM_CORTEX_M33, CASES_M33);
}

static void test_m0plus_runs_as_the_oracle_does(void **state)
{
    (void)state;
    run_cases(CPU_V6M, UC_CPU_ARM_CORTEX_M0, CASES_M0);
}

/* Sequences whose effect only a later instruction shows. n is r1, the value r2, results r3 and r4. */
static const struct {
    const char *name;
    enum cpu_architecture architecture;
    int model;
    uint32_t code[3];
    unsigned steps;
} sequences[] = {
    {"LDAEX STLEX", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xE8D13FEF, 0xE8C12FE4}, 2},
    {"LDAEXB STLEXB", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xE8D13FCF, 0xE8C12FC4}, 2},
    {"LDAEXH STREXH", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xE8D13FDF, 0xE8C12F54}, 2},
    {"LDREX STLEX", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xE8513F00, 0xE8C12FE4}, 2},
    {"LDAEX CLREX STLEX", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xE8D13FEF, 0xF3BF8F2F, 0xE8C12FE4}, 3},
    {"MSR MRS MSPLIM", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xF382880A, 0xF3EF830A}, 2},
    {"MSR MRS PSPLIM", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xF382880B, 0xF3EF830B}, 2},
    {"MSR MRS BASEPRI", CPU_V8M, UC_CPU_ARM_CORTEX_M33, {0xF3828811, 0xF3EF8311}, 2},
    {"MSR MRS PRIMASK", CPU_V6M, UC_CPU_ARM_CORTEX_M0, {0xF3828810, 0xF3EF8310}, 2},
    {"MSR MRS MSP", CPU_V6M, UC_CPU_ARM_CORTEX_M0, {0xF3828808, 0xF3EF8308}, 2},
    {"MSR MRS PSP", CPU_V6M, UC_CPU_ARM_CORTEX_M0, {0xF3828809, 0xF3EF8309}, 2},
    {"CPSID CPSIE MRS PRIMASK", CPU_V6M, UC_CPU_ARM_CORTEX_M0, {0xB672, 0xB662, 0xF3EF8310}, 3},
    {"CPSID MRS PRIMASK", CPU_V6M, UC_CPU_ARM_CORTEX_M0, {0xB672, 0xF3EF8310}, 2},
};

static void test_sequences(void **state)
{
    unsigned wrong = 0;

    (void)state;
    for (unsigned k = 0; k < sizeof sequences / sizeof sequences[0]; k++) {
        struct oracle *o = oracle_new_core(SEED + k, sequences[k].architecture, sequences[k].model);
        assert_non_null(o);
        for (unsigned n = 0; n < 100; n++) {
            uint32_t pc, end;
            case_random_state(o);
            o->cpu.primask = o->cpu.faultmask = o->cpu.basepri = 0;
            o->cpu.sp_limit = o->cpu.sp_limit_other = 0;
            o->cpu.r[1] = ORACLE_RAM + ((oracle_random(o) >> 8) & 0xFFCu);
            o->cpu.r[2] &= strstr(sequences[k].name, "BASEPRI") ? 0xF0u : ~3u;
            pc = end = o->cpu.r[CPU_PC];
            for (unsigned s = 0; s < sequences[k].steps; s++) {
                struct encoded e = {.word = sequences[k].code[s],
                                    .size = sequences[k].code[s] > 0xFFFF ? 4 : 2};
                end = case_put_code(o, end, &e);
            }
            if (!case_run(o, sequences[k].name, pc, end, sequences[k].steps, sequences[k].steps)) {
                memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
                wrong++;
            }
        }
        oracle_free(o);
    }
    assert_int_equal(wrong, 0);
}

/* True when the core takes HardFault or UsageFault for the instruction, and executes nothing. */
static bool refused(struct oracle *o, const struct encoded *e)
{
    case_random_state(o);
    o->cpu.sys_active = 0;
    o->cpu.cfsr = 0;
    o->cpu.primask = o->cpu.faultmask = 0;
    o->cpu.attention = 0;
    case_put_code(o, o->cpu.r[CPU_PC], e);
    cpu_step(&o->cpu);
    return (o->cpu.cfsr & UNDEFINSTR) != 0;
}

/* DDI0419E A5.2: all of what has no meaning among the 16-bit encodings. */
static bool undefined_v6m(uint32_t h)
{
    bool cps = h == 0xB662 || h == 0xB672;
    bool miscellaneous = h >> 12 == 0xB &&                             /* A5.2.5 */
                         !(h >> 8 == 0xB0 || h >> 8 == 0xB2 || cps ||  /* ADD and SUB SP, extends, CPS */
                           h >> 9 == 0xB4 / 2 || h >> 9 == 0xBC / 2 || /* PUSH, POP */
                           (h >> 8 == 0xBA && (h >> 6 & 3u) != 2) ||   /* REV, REV16, REVSH */
                           h >> 8 == 0xBE || (h >> 8 == 0xBF && (h & 15u) == 0)); /* BKPT, hints */
    return miscellaneous || h >> 8 == 0xDE;
}

static void test_m0plus_refuses_every_other_16_bit_encoding(void **state)
{
    struct oracle *o = oracle_new_core(SEED + 3, CPU_V6M, UC_CPU_ARM_CORTEX_M0);

    (void)state;
    assert_non_null(o);
    for (uint32_t h = 0; h < 0xE800; h++) {
        struct encoded e = {.word = h, .size = 2};
        if (refused(o, &e) != undefined_v6m(h))
            fail_msg("encoding %04" PRIx32 " is %s", h, undefined_v6m(h) ? "taken" : "refused");
        if (undefined_v6m(h))
            assert_int_equal(o->cpu.ipsr, HARDFAULT);
    }
    oracle_free(o);
}

/* DDI0419E A5.3: BL, MSR, MRS, DSB, DMB, ISB. Special registers: B5.2.2. */
static bool wide_v6m(uint32_t w)
{
    static const uint8_t special[] = {0, 1, 2, 3, 5, 6, 7, 8, 9, 16, 20};
    uint32_t op = w >> 20 & 0x7Fu, option = w >> 4 & 15u;

    if (w >> 27 != 0x1E || !(w & 0x8000u))
        return false;
    if ((w >> 12 & 5u) == 5)
        return true;
    if (w >> 12 & 7u)
        return false;
    if (op == 0x3B)
        return option == 4 || option == 5 || option == 6;
    if (op == 0x38 || op == 0x39 || op == 0x3E || op == 0x3F) {
        for (unsigned k = 0; k < sizeof special; k++) {
            if ((w & 0xFFu) == special[k])
                return true;
        }
    }
    return false;
}

static void test_m0plus_refuses_every_other_32_bit_encoding(void **state)
{
    struct oracle *o = oracle_new_core(SEED + 4, CPU_V6M, UC_CPU_ARM_CORTEX_M0);
    unsigned taken = 0, refusals = 0;

    (void)state;
    assert_non_null(o);
    for (uint32_t n = 0; n < WIDE_M0; n++) {
        /* Each value of the first halfword's upper bits in turn, and the control instructions more often. */
        uint32_t first = n % 4 ? 0xE800u + (n * 37u) % 0x1800u : 0xF380u + (n / 4) % 0x80u;
        struct encoded e = {.word = first << 16 | (oracle_random(o) >> 8 & 0xFFFFu), .size = 4};
        bool known = wide_v6m(e.word);
        if (refused(o, &e) == known)
            fail_msg("encoding %08" PRIx32 " is %s", e.word, known ? "refused" : "taken");
        taken += known;
        refusals += !known;
    }
    assert_true(taken > 1000 && refusals > 1000);
    oracle_free(o);
}

/* And by name: each class that Armv6-M does not have. */
static void test_m0plus_refuses_the_classes_of_the_others(void **state)
{
    struct oracle *o = oracle_new_core(SEED + 5, CPU_V6M, UC_CPU_ARM_CORTEX_M0);
    unsigned tried = 0;

    (void)state;
    assert_non_null(o);
    for (unsigned k = 0; k < thumb_class_count + V8M_CLASSES; k++) {
        const struct thumb_class *class =
            k < thumb_class_count ? &thumb_classes[k] : &v8m_classes[k - thumb_class_count];
        if (in_v6m(class) || strncmp(class->name, "MSR", 3) == 0)
            continue;
        for (unsigned n = 0; n < 20; n++) {
            struct encoded e;
            case_choose(o, class, &e);
            if (!refused(o, &e))
                fail_msg("%s %08" PRIx32 " is taken", class->name, e.word);
            tried++;
        }
    }
    assert_true(tried > 4000);
    oracle_free(o);
}

static void test_v7em_refuses_what_v8m_added(void **state)
{
    struct oracle *o = oracle_new_core(SEED + 6, CPU_V7EM, UC_CPU_ARM_CORTEX_M4);
    struct oracle *v8 = oracle_new_core(SEED + 7, CPU_V8M, UC_CPU_ARM_CORTEX_M33);
    static const uint32_t unsecured[] = {0x4704, 0x470C, 0x4784, 0x478C, 0x4774};

    (void)state;
    assert_non_null(o);
    assert_non_null(v8);
    for (unsigned k = 0; k < V8M_CLASSES; k++) {
        struct encoded e;
        case_choose(o, &v8m_classes[k], &e);
        if (!refused(o, &e))
            fail_msg("%s %08" PRIx32 " is taken", v8m_classes[k].name, e.word);
    }
    /* BXNS and BLXNS without a secure state to leave. */
    for (unsigned k = 0; k < sizeof unsecured / sizeof unsecured[0]; k++) {
        struct encoded e = {.word = unsecured[k], .size = 2};
        assert_true(refused(v8, &e));
    }
    oracle_free(o);
    oracle_free(v8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m4_runs_as_the_oracle_does),
        cmocka_unit_test(test_m33_runs_as_the_oracle_does),
        cmocka_unit_test(test_m0plus_runs_as_the_oracle_does),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_m0plus_refuses_every_other_16_bit_encoding),
        cmocka_unit_test(test_m0plus_refuses_every_other_32_bit_encoding),
        cmocka_unit_test(test_m0plus_refuses_the_classes_of_the_others),
        cmocka_unit_test(test_v7em_refuses_what_v8m_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
