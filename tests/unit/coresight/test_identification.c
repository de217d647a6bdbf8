/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identification, by one table: every part of the cross-trigger sheet 1.3 (CTIs), 1.5 (cores) and 2.4
 * (blocks), by (designer, class, part, DEVTYPE, ARCHID), and what must not be taken for one of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rom_model.h"

struct row {
    uint16_t designer;
    uint8_t component_class;
    uint16_t part;
    uint8_t devtype;
    uint16_t archid;
    const char *name;
};

#define CTI(designer, part)                    \
    {                                          \
        designer, 9, part, 0x14, 0x1A14, "CTI" \
    }

static const struct row rows[] = {
    /* 1.3 */
    {CS_ARM, 9, 0x906, 0x14, 0, "CTI"},
    CTI(CS_ARM, 0x9A6),
    CTI(CS_ARM, 0x9ED),
    CTI(CS_ARM, 0x9DB),
    CTI(CS_ARM, 0xD20),
    CTI(CS_ARM, 0xD21),
    CTI(CS_ARM, 0xD31),
    CTI(CS_ARM, 0xD22),
    CTI(CS_ARM, 0xD23),
    CTI(CS_ARM_CHINA, 0xD24),
    CTI(CS_ARM_CHINA, 0x132),
    CTI(CS_ARM_CHINA, 0xD25),
    CTI(0x123, 0x456), /* generic CTIv2 (B14) */
    /* B14, B15: the part, or the device type, alone is not enough */
    {0x123, 9, 0x906, 0x14, 0, "unknown"},
    {CS_ARM, 9, 0x906, 0x12, 0, "unknown"},
    {CS_ARM, 9, 0x906, 0x14, 0x0A00, "unknown"},
    {CS_ARM, 9, 0x904, 0x14, 0, "unknown"},
    {CS_ARM, 9, 0xD21, 0x12, 0x1A14, "unknown"},
    {CS_ARM, 0xE, 0x906, 0x14, 0, "unknown"},
    /* 2.4: v6-M and v7-M, class E */
    {CS_ARM, 0xE, 0x000, 0, 0, "SCS"},
    {CS_ARM, 0xE, 0x00C, 0, 0, "SCS"},
    {CS_ARM, 0xE, 0x008, 0, 0, "SCS"},
    {CS_ARM, 0xE, 0x001, 0, 0, "ITM"},
    {CS_ARM, 0xE, 0x002, 0, 0, "DWT"},
    {CS_ARM, 0xE, 0x00A, 0, 0, "DWT"},
    {CS_ARM, 0xE, 0x003, 0, 0, "FPB"},
    {CS_ARM, 0xE, 0x00E, 0, 0, "FPB"},
    {CS_ARM, 0xE, 0x00B, 0, 0, "FPB"},
    {0x020, 0xE, 0x00C, 0, 0, "unknown"}, /* another designer's number */
    /* 2.4: v8-M and CoreSight, class 9, by ARCHID: one part has them all */
    {CS_ARM, 9, 0xD21, 0x00, 0x2A04, "SCS"},
    {CS_ARM, 9, 0xD21, 0x00, 0x1A02, "DWT"},
    {CS_ARM, 9, 0xD21, 0x00, 0x1A03, "FPB"},
    {CS_ARM, 9, 0xD21, 0x43, 0x1A01, "ITM"},
    {CS_ARM, 9, 0xD21, 0x13, 0x4A13, "ETM"},
    {CS_ARM_CHINA, 9, 0xD24, 0x16, 0x0A06, "PMU"},
    {CS_ARM, 9, 0xD20, 0x31, 0x0A31, "MTB"},
    {CS_ARM, 9, 0x9E3, 0x00, 0x0A17, "MEM-AP"},
    {CS_ARM, 9, 0x9A4, 0x34, 0x0A34, "GPR"},
    {CS_ARM, 9, 0x4C9, 0x00, 0x0AF7, "ROM table"},
    {0x123, 9, 0x001, 0x00, 0x0AF7, "ROM table"},
    {CS_ARM, 1, 0x4C7, 0, 0, "ROM table"},
    {0x000, 1, 0x000, 0, 0, "ROM table"}, /* a vendor's, with part 0 */
    {CS_ARM, 9, 0x9A4, 0x34, 0, "GPR"},
    {CS_ARM, 9, 0x908, 0x12, 0, "funnel"},
    {CS_ARM, 9, 0xD03, 0x15, 0x6A15, "core debug"},
    {CS_ARM, 9, 0xC07, 0x15, 0, "core debug"},
};

static void test_every_part_by_its_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        struct memory *m = new_memory();
        component(m, TABLE, 1, CS_ARM, 0x4C7);
        put(m, TABLE, to(TABLE, 0xE0042000));
        component(m, 0xE0042000, r->component_class, r->designer, r->part);
        arch(m, 0xE0042000, r->archid ? 0x47700000u | r->archid : 0, 0x00040800, r->devtype);
        struct cs_topology *t = scan(m);
        const struct cs_component *c = at(t, 0xE0042000);
        assert_non_null(c);
        if (strcmp(c->name, r->name) != 0)
            fail_msg("designer %03x class %x part %03x devtype %02x archid %04x: %s, want %s", r->designer,
                     r->component_class, r->part, r->devtype, r->archid, c->name, r->name);
        assert_int_equal(cs_is_cti(c), strcmp(r->name, "CTI") == 0);
        assert_int_equal(c->designer, r->designer);
        assert_int_equal(c->part, r->part);
        cs_topology_free(t);
        free_memory(m);
    }
}

/* DEVARCH counts only with its PRESENT bit. */
static void test_devarch_without_present_is_none(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    arch(m, 0xE0042000, 0x47601A14, 0x00040800, 0x14);
    struct cs_topology *t = scan(m);
    assert_int_equal(at(t, 0xE0042000)->archid, 0);
    assert_string_equal(at(t, 0xE0042000)->name, "CTI"); /* by its part 906 */
    cs_topology_free(t);
    free_memory(m);
}

/* 1.5: the core by CPUID, its own kind of CTI, and the restart output that goes with both. */
static void test_every_core_and_its_restart_output(void **state)
{
    (void)state;
    static const struct {
        uint16_t core;
        const char *type;
        uint16_t designer, cti;
        int restart;
    } cores[] = {
        {0xC27, "Cortex-M7", CS_ARM, 0x906, 7},        {0xC23, "Cortex-M3", CS_ARM, 0x906, 7},
        {0xC24, "Cortex-M4", CS_ARM, 0x906, 7},        {0xC60, "Cortex-M0+", CS_ARM, 0x906, 7},
        {0xC60, "Cortex-M0+", CS_ARM, 0x9A6, 7},       {0xD20, "Cortex-M23", CS_ARM, 0xD20, 1},
        {0xD21, "Cortex-M33", CS_ARM, 0xD21, 1},       {0xD31, "Cortex-M35P", CS_ARM, 0xD31, 1},
        {0xD22, "Cortex-M55", CS_ARM, 0xD22, 1},       {0xD23, "Cortex-M85", CS_ARM, 0xD23, 1},
        {0xD24, "Cortex-M52", CS_ARM_CHINA, 0xD24, 1}, {0x132, "Star-MC1", CS_ARM_CHINA, 0x132, 1},
        {0xD25, "Star-MC3", CS_ARM_CHINA, 0xD25, 1},   {0xC20, "Cortex-M0", CS_ARM, 0x906, -1},
        {0xFFF, "unknown", CS_ARM, 0x906, -1},
    };
    for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
        bool v8m = cores[i].restart == 1;
        struct memory *m = new_memory();
        component(m, TABLE, 1, 0x123, 0x001);
        put(m, TABLE, to(TABLE, 0xE000E000));
        put(m, TABLE + 4, to(TABLE, 0xE0042000));
        component(m, 0xE000E000, v8m ? 9 : 0xE, cores[i].designer, v8m ? cores[i].core : 0x00C);
        if (v8m)
            arch(m, 0xE000E000, 0x47702A04, 0, 0);
        put(m, 0xE000ED00, 0x41000000u | (uint32_t)cores[i].core << 4);
        component(m, 0xE0042000, 9, cores[i].designer, cores[i].cti);
        arch(m, 0xE0042000, cores[i].cti == 0x906 ? 0 : 0x47701A14, 0x00040800, 0x14);
        struct cs_topology *t = scan(m);
        assert_int_equal(t->core_count, 1);
        assert_string_equal(t->cores[0].type, cores[i].type);
        assert_true(t->cores[0].has_cti && t->cores[0].cortex_m);
        assert_int_equal(t->cores[0].cti.restart_output, cores[i].restart);
        assert_int_equal(t->cores[0].restart_from, cores[i].restart < 0 ? CS_SOURCE_NONE : CS_SOURCE_TABLE);
        cs_topology_free(t);
        free_memory(m);
    }
}

/* Application cores of 1.5, by the part of their debug registers. */
static void test_restart_outputs_of_application_cores(void **state)
{
    (void)state;
    static const struct {
        uint16_t part;
        int output;
    } cores[] = {{0xC05, 7}, {0xC07, 7}, {0xC09, 7}, {0xC0F, 7}, {0xD01, 1}, {0xD03, 1}, {0xD04, 1}};
    for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
        assert_non_null(cs_core_type(cores[i].part));
        assert_int_equal(cs_core_type(cores[i].part)->restart_output, cores[i].output);
        assert_false(cs_core_type(cores[i].part)->v8m);
    }
    assert_null(cs_core_type(0xFFF));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_by_its_registers),
        cmocka_unit_test(test_devarch_without_present_is_none),
        cmocka_unit_test(test_every_core_and_its_restart_output),
        cmocka_unit_test(test_restart_outputs_of_application_cores),
    };
    return cmocka_run_group_tests_name("coresight-identification", tests, NULL, NULL);
}
