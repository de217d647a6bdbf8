/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access ports and what is known of them beforehand: cases B11, B12, B17 and B18 of the cross-trigger sheet,
 * over a modelled ADIv5 port. ADIv6 and APs behind APs are test_rom_parts.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rom_model.h"

static void test_b11_base_says_no_table(void **state)
{
    (void)state;
    static const uint32_t bases[] = {0xFFFFFFFF, 0x00000002};
    for (size_t i = 0; i < 2; i++) {
        struct memory *m = new_memory();
        usual(m);
        m->base = bases[i];
        struct cs_topology *t = scan(m);
        assert_int_equal(t->ap_count, 1);
        assert_int_equal(t->component_count, 0);
        assert_int_equal(m->reads, 0);
        cs_topology_free(t);
        free_memory(m);
    }
}

static void test_base_without_present_bit_is_believed_only_for_a_table(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->base = TABLE | 2;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->component_count, 4);
    cs_topology_free(t);
    m->base = 0xE0001002; /* a component, but no table */
    t = scan(m);
    assert_int_equal(t->component_count, 0);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b11_what_is_known_is_looked_at_where_there_is_no_table(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->base = 0xFFFFFFFF;
    const struct cs_core_hint core = {.base_set = true,
                                      .base = 0xE000E000,
                                      .cti_set = true,
                                      .cti_address = 0xE0042000,
                                      .cti_from = CS_SOURCE_SDF,
                                      .restart_output = -1};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_int_equal(t->core_count, 1);
    assert_string_equal(t->cores[0].type, "Cortex-M7");
    assert_true(t->cores[0].has_cti);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_SDF);
    assert_int_equal(t->cores[0].restart_from, CS_SOURCE_TABLE);
    assert_int_equal(t->component_count, 2);
    assert_int_equal(t->refusal_count, 0);
    cs_topology_free(t);
    free_memory(m);
}

/* A core of corral.yml with nothing but its AP: where M-profile cores have their registers. */
static void test_b11_a_named_core_is_looked_for_at_its_architected_place(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->base = 0x00000002;
    const struct cs_core_hint core = {.restart_output = -1};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_int_equal(t->core_count, 1);
    assert_false(t->cores[0].has_cti);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b11_what_is_said_and_is_not_there_is_refused(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    const struct cs_core_hint core = {.base_set = true,
                                      .base = 0x40000000,
                                      .cti_set = true,
                                      .cti_ap = 9,
                                      .cti_address = 0xE0042000,
                                      .cti_from = CS_SOURCE_CONFIG,
                                      .restart_output = -1};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = &core, .core_count = 1});
    assert_true(is_refused(t, "nothing at 0x40000000"));
    assert_true(is_refused(t, "AP 9 is not there"));
    assert_int_equal(t->core_count, 1);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_TABLE); /* what the table says stands */
    cs_topology_free(t);
    free_memory(m);
}

/* BASEH is not even looked at (the model asserts it), so that the table is found below 4 GiB. */
/* The other cores are there all the same. */
static void test_a_named_core_without_power_is_listed_as_out_of_reach(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->aps = 3;
    m->dead_ap = 1;
    const struct cs_core_hint cores[] = {{.restart_output = -1}, {.ap = 1, .restart_output = -1}, {.ap = 2}};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.cores = cores, .core_count = 3});
    assert_int_equal(t->core_count, 2);
    assert_string_equal(t->cores[0].error, "");
    assert_true(t->cores[0].has_cti);
    assert_int_equal(t->cores[1].ap, 1);
    assert_string_equal(t->cores[1].name, "core1");
    assert_true(t->cores[1].cortex_m);
    assert_false(t->cores[1].has_cti);
    assert_non_null(strstr(t->cores[1].error, "FAULT"));
    cs_topology_free(t);
    m->dead_ap = 0;
    m->dead_idr = 1; /* not even the port itself answers */
    t = scan_with(m, &(struct cs_hints){.cores = cores, .core_count = 3});
    assert_int_equal(t->core_count, 2);
    assert_non_null(strstr(t->cores[1].error, "FAULT"));
    assert_int_equal(t->refusal_count, 0);
    cs_topology_free(t);
    /* Nobody spoke of it: then there is no core. */
    t = scan(m);
    assert_int_equal(t->core_count, 1);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b12_no_upper_half_without_large_addresses(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->idr = 0x44770008;
    m->cfg = 0;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->aps[0].base, TABLE | 3);
    assert_false(t->aps[0].wide);
    assert_int_equal(t->core_count, 1);
    cs_topology_free(t);
    m->cfg = 2;
    t = scan(m);
    assert_true(t->aps[0].wide);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b17_gaps_among_the_access_ports_are_no_end(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->aps = 1u << 0 | 1u << 2 | 1u << 8; /* as OpenOCD's file for the STM32MP25 has them */
    struct cs_topology *t = scan(m);
    assert_int_equal(t->ap_count, 3);
    assert_int_equal(t->aps[1].ap, 2);
    assert_int_equal(t->aps[2].ap, 8);
    assert_true(m->asked == UINT64_MAX);
    assert_int_equal(m->asked_above, 192);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b17_a_list_is_all_that_is_looked_at(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->aps = 1u << 7 | 1u << 8;
    m->hang_from = 9;
    const struct cs_ap_hint aps[] = {{.ap = 7}, {.ap = 5}};
    const struct cs_core_hint core = {.ap = 8, .restart_output = -1};
    struct cs_topology *t =
        scan_with(m, &(struct cs_hints){.aps = aps, .ap_count = 2, .cores = &core, .core_count = 1});
    assert_int_equal(t->ap_count, 2);
    assert_int_equal(t->aps[0].ap, 7);
    assert_int_equal(t->aps[1].ap, 8); /* a core is said to be there */
    assert_true(m->asked == (UINT64_C(1) << 5 | UINT64_C(1) << 7 | UINT64_C(1) << 8));
    assert_int_equal(m->asked_above, 0);
    assert_true(is_refused(t, "AP 5 is not there"));
    assert_false(t->cut);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b17_a_port_that_hangs_ends_the_search_and_says_so(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->hang_from = 9;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 1);
    assert_true(t->cut);
    assert_true(is_refused(t, "aps:"));
    assert_true(m->asked < UINT64_C(1) << 16);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b18_a_patched_base_is_what_the_walk_sees(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->base = 0x00000002;
    const struct cs_patch patch = {
        .ap_register = true, .address = 0xF8, .value = TABLE | 3, .mask = UINT32_MAX};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.patches = &patch, .patch_count = 1});
    assert_int_equal(t->component_count, 4);
    assert_int_equal(t->aps[0].base, TABLE | 3);
    cs_topology_free(t);
    free_memory(m);
}

/* Of an entry that leads to 0xE0001000 the patch changes the address alone: format and present bit are read.
 */
static void test_b18_the_mask_says_which_bits_are_patched(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    component(m, 0xE0002000, 0xE, CS_ARM, 0x00E);
    const struct cs_patch patches[] = {
        {.address = TABLE + 4, .value = 0xFFF03FFC, .mask = 0xFFFFF000},
        {.ap = 1, .address = TABLE + 8, .value = 0, .mask = UINT32_MAX}, /* of another AP */
    };
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.patches = patches, .patch_count = 2});
    assert_null(at(t, 0xE0001000));
    assert_non_null(at(t, 0xE0002000));
    assert_non_null(at(t, 0xE0042000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b18_a_word_that_is_patched_whole_need_not_be_readable(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->fault_word = TABLE + 4;
    const struct cs_patch patch = {.address = TABLE + 4, .value = to(TABLE, 0xE0001000), .mask = UINT32_MAX};
    struct cs_topology *t = scan_with(m, &(struct cs_hints){.patches = &patch, .patch_count = 1});
    assert_non_null(at(t, 0xE0001000));
    assert_string_equal(error_at(t, TABLE), "");
    cs_topology_free(t);
    free_memory(m);
}

static void test_more_hints_than_are_looked_at_are_said(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    struct cs_patch many[CS_MAX_HINTS + 1];
    memset(many, 0, sizeof(many));
    struct cs_topology *t =
        scan_with(m, &(struct cs_hints){.patches = many, .patch_count = CS_MAX_HINTS + 1});
    assert_true(t->cut);
    cs_topology_free(t);
    free_memory(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b11_base_says_no_table),
        cmocka_unit_test(test_base_without_present_bit_is_believed_only_for_a_table),
        cmocka_unit_test(test_b11_what_is_known_is_looked_at_where_there_is_no_table),
        cmocka_unit_test(test_b11_a_named_core_is_looked_for_at_its_architected_place),
        cmocka_unit_test(test_b11_what_is_said_and_is_not_there_is_refused),
        cmocka_unit_test(test_a_named_core_without_power_is_listed_as_out_of_reach),
        cmocka_unit_test(test_b12_no_upper_half_without_large_addresses),
        cmocka_unit_test(test_b17_gaps_among_the_access_ports_are_no_end),
        cmocka_unit_test(test_b17_a_list_is_all_that_is_looked_at),
        cmocka_unit_test(test_b17_a_port_that_hangs_ends_the_search_and_says_so),
        cmocka_unit_test(test_b18_a_patched_base_is_what_the_walk_sees),
        cmocka_unit_test(test_b18_the_mask_says_which_bits_are_patched),
        cmocka_unit_test(test_b18_a_word_that_is_patched_whole_need_not_be_readable),
        cmocka_unit_test(test_more_hints_than_are_looked_at_are_said),
    };
    return cmocka_run_group_tests_name("coresight-access-ports", tests, NULL, NULL);
}
