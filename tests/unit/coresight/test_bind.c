/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CTI is which core's, and its restart output: the cross-trigger sheet 2.5 and 1.5, cases A3, A26, A27,
 * B13 to B15 and B25; by the tables' own addresses, by hints, by affinity, or refused with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rom_model.h"

static void test_b13_two_candidates_are_not_guessed_at(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    put(m, TABLE + 12, to(TABLE, 0xE0043000));
    component(m, 0xE0043000, 9, CS_ARM, 0x906);
    arch(m, 0xE0043000, 0, 0x00040800, 0x14);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 1);
    assert_false(t->cores[0].has_cti);
    assert_non_null(strstr(t->cores[0].why_no_cti, "2 CTIs"));
    cs_topology_free(t);
    free_memory(m);
}

static void test_a_v8m_core_takes_the_cti_with_its_own_part(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C9);
    put(m, TABLE, to(TABLE, 0xE0044000));
    put(m, TABLE + 4, to(TABLE, 0xE000E000));
    put(m, TABLE + 8, to(TABLE, 0xE0042000));
    component(m, 0xE0044000, 9, CS_ARM, 0x906);
    arch(m, 0xE0044000, 0, 0x00040800, 0x14);
    component(m, 0xE000E000, 9, CS_ARM, 0xD21);
    arch(m, 0xE000E000, 0x47702A04, 0, 0);
    put(m, 0xE000ED00, 0x410FD214);
    component(m, 0xE0042000, 9, CS_ARM, 0xD21);
    arch(m, 0xE0042000, 0x47701A14, 0x00040800, 0x14);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 1);
    assert_string_equal(t->cores[0].type, "Cortex-M33");
    assert_int_equal(t->cores[0].cti.address, 0xE0042000);
    assert_int_equal(t->cores[0].cti.restart_output, 1);
    cs_topology_free(t);
    free_memory(m);
}

static void test_a27_a_system_cti_is_no_cores(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE, to(TABLE, 0xE000E000));
    put(m, TABLE + 4, to(TABLE, 0xE0103000)); /* past the private peripheral bus */
    component(m, 0xE000E000, 0xE, CS_ARM, 0x00C);
    put(m, 0xE000ED00, 0x411FC272);
    component(m, 0xE0103000, 9, CS_ARM, 0x906);
    arch(m, 0xE0103000, 0, 0x00040800, 0x14);
    struct cs_topology *t = scan(m);
    assert_string_equal(at(t, 0xE0103000)->name, "CTI");
    assert_false(t->cores[0].has_cti);
    cs_topology_free(t);
    free_memory(m);
}

static void add_cti(struct memory *m, uint32_t address, unsigned slot)
{
    put(m, TABLE + 4 * slot, to(TABLE, address));
    component(m, address, 9, CS_ARM, 0x906);
    arch(m, address, 0, 0x00040800, 0x14);
}

static struct cs_core_hint says(uint64_t cti, int restart)
{
    return (struct cs_core_hint){.cti_set = cti != 0,
                                 .cti_address = cti,
                                 .cti_from = CS_SOURCE_SDF,
                                 .restart_output = restart,
                                 .restart_from = CS_SOURCE_SDF};
}

static void test_b13_data_says_which_of_two(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    add_cti(m, 0xE0043000, 3);
    const struct cs_core_hint core = says(0xE0043000, -1);
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_true(t->cores[0].has_cti);
    assert_int_equal(t->cores[0].cti.address, 0xE0043000);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_SDF);
    assert_int_equal(t->cores[0].cti.restart_output, 7);
    assert_int_equal(t->cores[0].restart_from, CS_SOURCE_TABLE);
    cs_topology_free(t);
    free_memory(m);
}

static void test_a26_data_about_the_restart_output_wins(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    const struct cs_core_hint cores[] = {says(0, 1), says(0, 2)}; /* and the first wins */
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = cores, .core_count = 2});
    assert_int_equal(t->cores[0].cti.restart_output, 1);
    assert_int_equal(t->cores[0].restart_from, CS_SOURCE_SDF);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_TABLE);
    cs_topology_free(t);
    free_memory(m);
}

static void test_a3_an_output_that_is_not_there_is_no_output(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct memory *m = new_memory();
        usual(m);
        arch(m, 0xE0042000, 0, i ? 0x00040800 : 0x00040200, 0x14);
        const struct cs_core_hint core = says(0, i ? 9 : -1);
        struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
        assert_true(t->cores[0].has_cti);
        assert_int_equal(t->cores[0].cti.restart_output, -1);
        assert_int_equal(t->cores[0].restart_from, CS_SOURCE_NONE);
        assert_true(is_refused(t, i ? "no trigger output 9" : "no trigger output 7"));
        cs_topology_free(t);
        free_memory(m);
    }
}

/* E0043000 is a funnel there, E0044000 the CTI. */
static void imx7(struct memory *m)
{
    component(m, TABLE, 1, CS_ARM, 0x4C4);
    put(m, TABLE, to(TABLE, 0xE000E000));
    put(m, TABLE + 4, to(TABLE, 0xE0043000));
    put(m, TABLE + 8, to(TABLE, 0xE0044000));
    component(m, 0xE000E000, 0xE, CS_ARM, 0x00C);
    put(m, 0xE000ED00, 0x410FC241);
    component(m, 0xE0043000, 9, CS_ARM, 0x908);
    arch(m, 0xE0043000, 0, 0, 0x12);
    component(m, 0xE0044000, 9, CS_ARM, 0x906);
    arch(m, 0xE0044000, 0, 0x00040800, 0x14);
}

static void test_b25_identification_is_by_registers_not_by_address(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    imx7(m);
    struct cs_topology *t = scan(m);
    assert_string_equal(at(t, 0xE0043000)->name, "funnel");
    assert_string_equal(t->cores[0].type, "Cortex-M4");
    assert_int_equal(t->cores[0].cti.address, 0xE0044000);
    assert_int_equal(t->cores[0].cti.restart_output, 7);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b25_data_that_names_another_block_is_refused(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    imx7(m);
    const struct cs_core_hint core = says(0xE0043000, -1);
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_true(is_refused(t, "funnel"));
    assert_true(is_refused(t, "the SDF says that core0's CTI is at 0xe0043000"));
    assert_int_equal(t->cores[0].cti.address, 0xE0044000); /* the table's only one is certain */
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_TABLE);
    cs_topology_free(t);
    free_memory(m);
}

/* PSoC 6's M0+ and TI K3 have it outside the private peripheral bus: only data can say so. */
static void test_a_cti_elsewhere_on_the_ap_needs_data(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C0);
    put(m, TABLE, to(TABLE, 0xE000E000));
    component(m, 0xE000E000, 0xE, CS_ARM, 0x008);
    put(m, 0xE000ED00, 0x410CC601);
    add_cti(m, 0xF0002000, 1);
    struct cs_topology *t = scan(m);
    assert_false(t->cores[0].has_cti);
    assert_non_null(strstr(t->cores[0].why_no_cti, "0xf0002000"));
    cs_topology_free(t);
    const struct cs_core_hint core = says(0xF0002000, -1);
    t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_true(t->cores[0].has_cti);
    assert_int_equal(t->cores[0].cti.restart_output, 7);
    cs_topology_free(t);
    free_memory(m);
}

/* The same CTI for both cores of two APs: the second is told whose it is. */
static void test_one_cti_is_not_given_to_two_cores(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->aps = 3;
    struct cs_core_hint cores[2] = {says(0xE0042000, -1), says(0xE0042000, -1)};
    cores[1].ap = 1; /* its cti_ap stays 0 */
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = cores, .core_count = 2});
    assert_int_equal(t->core_count, 2);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_SDF);
    assert_true(is_refused(t, "core0's already"));
    assert_int_equal(t->cores[1].cti.ap, 1);
    assert_int_equal(t->cores[1].cti_from, CS_SOURCE_TABLE);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b14_generic_ctis_are_taken_and_strangers_refused(void **state)
{
    (void)state;
    static const struct {
        unsigned designer, part;
        uint32_t devarch;
        bool taken;
    } cases[] = {
        {CS_ARM_CHINA, 0xD24, 0x47701A14, true},
        {0x123, 0x456, 0x47701A14, true},
        {0x123, 0x906, 0, false},
        {CS_ARM, 0x906, 0x47700A00, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct memory *m = new_memory();
        usual(m);
        component(m, 0xE0042000, 9, cases[i].designer, cases[i].part);
        arch(m, 0xE0042000, cases[i].devarch, 0x00040800, 0x14);
        struct cs_topology *t = scan(m);
        assert_int_equal(t->cores[0].has_cti, cases[i].taken);
        assert_int_equal(t->cores[0].why_no_cti[0] == '\0', cases[i].taken);
        cs_topology_free(t);
        free_memory(m);
    }
}

/* A stand-alone matrix has the device type, too; and a CTI that claims no triggers cannot be used. */
static void test_b15_what_only_looks_like_a_cti(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    component(m, 0xE0042000, 9, CS_ARM, 0x904);
    struct cs_topology *t = scan(m);
    assert_false(t->cores[0].has_cti);
    cs_topology_free(t);
    component(m, 0xE0042000, 9, CS_ARM, 0x906);
    for (uint32_t devid = 0; devid < 2; devid++) {
        arch(m, 0xE0042000, 0, devid ? 0x00000800 : 0x00040000, 0x14);
        t = scan(m);
        assert_int_equal(t->cores[0].cti.triggers, 0);
        assert_int_equal(t->cores[0].cti.restart_output, -1);
        assert_non_null(strstr(t->cores[0].why_no_cti, "DEVID"));
        cs_topology_free(t);
    }
    free_memory(m);
}

/* Two Cortex-A53 with a CTI each: MPIDR tells them apart. */
static void two_a53(struct memory *m)
{
    const uint32_t table = 0x80000000;
    m->base = table | 3;
    component(m, table, 1, CS_ARM, 0x4A1);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t debug = table + 0x10000 + i * 0x100000, cti = table + 0x20000 + (1 - i) * 0x100000;
        put(m, table + 8 * i, to(table, debug));
        put(m, table + 8 * i + 4, to(table, cti));
        component(m, debug, 9, CS_ARM, 0xD03);
        arch(m, debug, 0x47706A15, 0, 0x15);
        put(m, debug + 0xD00, 0x410FD034);
        put(m, debug + 0xFA8, 0x80000000 | i);
        component(m, cti, 9, CS_ARM, 0x9A8);
        arch(m, cti, 0x47701A14, 0x00040800, 0x14);
        put(m, cti + 0xFA8, 0x80000000 | i);
    }
}

static void test_application_cores_are_bound_by_affinity(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    two_a53(m);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_string_equal(t->cores[i].type, "Cortex-A53");
        assert_false(t->cores[i].cortex_m);
        assert_true(t->cores[i].has_cti);
        assert_int_equal(t->cores[i].cti.address, 0x80020000 + (1 - i) * 0x100000);
        assert_int_equal(t->cores[i].cti.restart_output, 1);
    }
    cs_topology_free(t);
    free_memory(m);
}

static void test_application_cores_without_affinity_are_refused_with_the_reason(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    two_a53(m);
    put(m, 0x80010FA8, 0);          /* the first says nothing */
    put(m, 0x80020FA8, 0x80000005); /* the second's CTI something else */
    struct cs_topology *t = scan(m);
    assert_false(t->cores[0].has_cti);
    assert_non_null(strstr(t->cores[0].why_no_cti, "no affinity"));
    assert_false(t->cores[1].has_cti);
    assert_non_null(strstr(t->cores[1].why_no_cti, "0 CTIs"));
    cs_topology_free(t);
    /* Data that names each by its debug registers. */
    struct cs_core_hint cores[2] = {says(0x80120000, -1), says(0x80020000, 1)};
    cores[0].base_set = cores[1].base_set = true;
    cores[0].base = 0x80010000;
    cores[1].base = 0x80110000;
    t = scan_with(m, &(struct cs_hints){.cores = cores, .core_count = 2});
    assert_int_equal(t->cores[0].cti.address, 0x80120000);
    assert_int_equal(t->cores[1].cti.address, 0x80020000);
    assert_int_equal(t->cores[1].restart_from, CS_SOURCE_SDF);
    cs_topology_free(t);
    free_memory(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b13_two_candidates_are_not_guessed_at),
        cmocka_unit_test(test_b13_data_says_which_of_two),
        cmocka_unit_test(test_a_v8m_core_takes_the_cti_with_its_own_part),
        cmocka_unit_test(test_a26_data_about_the_restart_output_wins),
        cmocka_unit_test(test_a3_an_output_that_is_not_there_is_no_output),
        cmocka_unit_test(test_a27_a_system_cti_is_no_cores),
        cmocka_unit_test(test_b25_identification_is_by_registers_not_by_address),
        cmocka_unit_test(test_b25_data_that_names_another_block_is_refused),
        cmocka_unit_test(test_a_cti_elsewhere_on_the_ap_needs_data),
        cmocka_unit_test(test_one_cti_is_not_given_to_two_cores),
        cmocka_unit_test(test_b14_generic_ctis_are_taken_and_strangers_refused),
        cmocka_unit_test(test_b15_what_only_looks_like_a_cti),
        cmocka_unit_test(test_application_cores_are_bound_by_affinity),
        cmocka_unit_test(test_application_cores_without_affinity_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name("coresight-bind", tests, NULL, NULL);
}
