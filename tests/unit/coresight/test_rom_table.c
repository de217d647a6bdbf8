/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking modelled ROM tables: cases B1 to B10 and B23 of the cross-trigger sheet. The words of real parts
 * are checked by tests/cli/test_scan.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rom_model.h"

static void test_a_usual_core(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->ap_count, 1);
    assert_int_equal(t->component_count, 4);
    assert_string_equal(at(t, TABLE)->name, "ROM table");
    assert_string_equal(at(t, 0xE0001000)->name, "DWT"); /* B3: below its table */
    assert_int_equal(at(t, 0xE0042000)->designer, 0x43B);
    assert_int_equal(t->core_count, 1);
    assert_string_equal(t->cores[0].name, "core0");
    assert_string_equal(t->cores[0].type, "Cortex-M7");
    assert_true(t->cores[0].has_cti);
    assert_int_equal(t->cores[0].cti.address, 0xE0042000);
    assert_int_equal(t->cores[0].cti.restart_output, 7);
    assert_int_equal(t->cores[0].cti.channels, 4);
    assert_false(t->cut);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b1_absent_entries_are_skipped_and_zero_ends(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    component(m, 0xE0001000, 0xE, CS_ARM, 0x002);
    component(m, 0xE0002000, 0xE, CS_ARM, 0x00E);
    component(m, 0xE0000000, 0xE, CS_ARM, 0x001);
    put(m, TABLE, to(TABLE, 0xE0001000));
    put(m, TABLE + 4, 0x00000010); /* not present, format bit 0: neither end nor component */
    put(m, TABLE + 8, to(TABLE, 0xE0002000) & ~1u);
    put(m, TABLE + 16, to(TABLE, 0xE0000000)); /* behind the end at +12 */
    put(m, TABLE + 8, to(TABLE, 0xE0002000) & ~1u);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0001000));
    assert_null(at(t, 0xE0002000));
    assert_null(at(t, 0xE0000000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b2_a_table_of_8_bit_entries_is_rejected_with_a_message(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE, to(TABLE, 0xE0001000) & ~2u);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->component_count, 1);
    assert_non_null(strstr(error_at(t, TABLE), "8-bit"));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b4_a_table_that_names_itself_or_its_parent_ends(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    uint32_t child = 0xE00FE000;
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE, to(TABLE, TABLE));
    put(m, TABLE + 4, to(TABLE, child));
    component(m, child, 1, CS_ARM, 0x4C8);
    put(m, child, to(child, TABLE));
    put(m, child + 4, to(child, 0xE0001000));
    component(m, 0xE0001000, 0xE, CS_ARM, 0x002);
    struct cs_topology *t = scan(m);
    assert_int_equal(t->component_count, 3);
    assert_non_null(at(t, 0xE0001000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b4_nesting_is_bounded(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t here = TABLE - i * 0x1000;
        component(m, here, 1, CS_ARM, 0x4C7);
        put(m, here, to(here, here - 0x1000));
    }
    struct cs_topology *t = scan(m);
    assert_int_equal(t->component_count, 8);
    assert_non_null(strstr(t->components[7].error, "deeply"));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b5_no_read_past_the_last_entry(void **state)
{
    (void)state;
    for (int class9 = 0; class9 < 2; class9++) {
        struct memory *m = new_memory();
        component(m, TABLE, class9 ? 9 : 1, CS_ARM, 0x4C7);
        arch(m, TABLE, class9 ? 0x47700AF7 : 0, 0, 0);
        for (uint32_t i = 0; i < 960; i++)
            put(m, TABLE + 4 * i, 0xFFF02002); /* none is present, none is the end */
        struct cs_topology *t = scan(m);
        assert_int_equal(m->highest_in_table & 0xFFF, class9 ? 0x7FC : 0xEFC);
        cs_topology_free(t);
        free_memory(m);
    }
}

static void test_b6_a_block_without_preamble_is_no_component(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    put(m, 0xE0001FF0, 0xFFFFFFFF);
    struct cs_topology *t = scan(m);
    assert_null(at(t, 0xE0001000));
    assert_non_null(at(t, 0xE0042000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b8_a_larger_component_begins_below_its_last_block(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    put(m, 0xE0001FD0, 0x24); /* 16 KiB; E0001000 is its last block */
    put(m, TABLE + 12, to(TABLE, 0xE0045000));
    component(m, 0xE0045000, 0xE, CS_ARM, 0x003);
    put(m, 0xE0045FD0, 0x14); /* 8 KiB */
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xDFFFE000));
    assert_non_null(at(t, 0xE0044000));
    assert_string_equal(at(t, 0xE0044000)->name, "FPB");
    cs_topology_free(t);
    free_memory(m);
}

static void test_b9_a_block_that_faults_is_listed_and_the_walk_goes_on(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->fault_block = 0xE0001000;
    struct cs_topology *t = scan(m);
    assert_non_null(strstr(error_at(t, 0xE0001000), "FAULT"));
    assert_non_null(at(t, 0xE0042000));
    assert_int_equal(t->core_count, 1);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b9_an_entry_that_faults_is_skipped(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->fault_word = TABLE + 4;
    struct cs_topology *t = scan(m);
    assert_non_null(strstr(error_at(t, TABLE), "entry 1"));
    assert_null(at(t, 0xE0001000));
    assert_non_null(at(t, 0xE0042000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b9_three_waits_give_the_access_port_up(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, 0x1000, 1, CS_ARM, 0x4C7);
    m->base = 0x1003;
    for (uint32_t i = 0; i < 64; i++)
        put(m, 0x1000 + 4 * i, to(0x1000, 0x80000000 + i * 0x1000));
    m->wait_from = 0x80000000;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->component_count, 4);
    assert_true(t->aps[0].error[0] != '\0');
    cs_topology_free(t);
    free_memory(m);
}

static void test_b23_sticky_errors_of_an_earlier_session_are_cleared(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->sticky_at_attach = true;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 1);
    assert_string_equal(t->aps[0].error, "");
    cs_topology_free(t);
    free_memory(m);
}

static void test_power_that_is_never_acknowledged(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    struct diag d = DIAG_INIT;
    m->no_power = true;
    struct link *link = open_memory(m);
    assert_null(cs_scan(link, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_NO_POWER);
    assert_in_range(host_clock_now(m->clock), NS_PER_S, 2 * NS_PER_S);
    link_close(link);
    free_memory(m);
}

/* Whenever the time is up: that is said, and what was not seen is not taken for missing. */
static void test_a_scan_that_runs_out_of_time_is_no_scan(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    usual(m);
    m->aps = 3;
    struct cs_topology *t = scan(m);
    assert_int_equal(t->core_count, 2);
    cs_topology_free(t);
    int64_t most = host_clock_now(m->clock);
    for (int64_t ns = 0; ns < most; ns += most / 97) {
        struct diag d = DIAG_INIT;
        struct link *link = open_memory(m);
        link_set_deadline(link, host_clock_now(m->clock) + ns);
        assert_null(cs_scan(link, NULL, &d));
        assert_int_equal(d.code, CORRAL_ERR_TIMEOUT);
        assert_true(d.message[0] != '\0');
        link_close(link);
    }
    free_memory(m);
}

static void test_a_wide_class_9_table(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 9, CS_ARM, 0x4C9);
    arch(m, TABLE, 0x47700AF7, 1, 0);
    put(m, TABLE, 0x00001003); /* E0100000 */
    put(m, TABLE + 8, 0x00002003);
    put(m, TABLE + 12, 1); /* above 4 GiB */
    put(m, TABLE + 16, 0x00003003);
    component(m, 0xE0100000, 9, CS_ARM, 0x975);
    component(m, 0xE0102000, 9, CS_ARM, 0x908);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0100000));
    assert_non_null(at(t, 0xE0102000));
    assert_int_equal(t->component_count, 3);
    assert_non_null(strstr(error_at(t, TABLE), "4 GiB"));
    cs_topology_free(t);
    free_memory(m);
}

static void test_random_memory_ends_within_bounds(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct memory *m = new_memory();
        m->random = true;
        m->seed = seed * 0x9E3779B9u;
        struct cs_topology *t = scan(m);
        assert_true(t->component_count <= CS_MAX_COMPONENTS);
        assert_true(m->reads < 2000000);
        cs_topology_free(t);
        free_memory(m);
    }
}

static void test_b3_a_negative_offset_wraps_at_32_bits(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE, 0xFFF02003);
    component(m, 0xE0001000, 0xE, CS_ARM, 0x002);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0001000));
    assert_int_equal(at(t, 0xE0001000)->table, 0); /* named by the first component, which is the table */
    assert_int_equal(at(t, TABLE)->table, -1);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b7_only_the_low_byte_of_an_id_word_counts(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE, to(TABLE, 0xE0001000));
    for (uint32_t i = 0; i < 12; i++) /* PIDR4..7, PIDR0..3, CIDR0..3 of a DWT */
        put(m, 0xE0001FD0 + 4 * i,
            0xFFFFFF00u | ((const uint8_t[]){4, 0, 0, 0, 2, 0xB0, 0x3B, 0, 0x0D, 0xE0, 5, 0xB1})[i]);
    struct cs_topology *t = scan(m);
    assert_string_equal(at(t, 0xE0001000)->name, "DWT");
    assert_int_equal(at(t, 0xE0001000)->part, 0x002);
    assert_int_equal(at(t, 0xE0001000)->designer, CS_ARM);
    cs_topology_free(t);
    free_memory(m);
}

#define POWERED_ENTRY(table, address, id) (to(table, address) | 4u | (uint32_t)(id) << 4)

/* A class 9 table whose entry for the DWT is in power domain 3. */
static void domain_of_a_class_9_table(struct memory *m)
{
    component(m, TABLE, 9, CS_ARM, 0x4C9);
    arch(m, TABLE, 0x47700AF7, 0x20, 0);
    put(m, TABLE, POWERED_ENTRY(TABLE, 0xE0001000, 3));
    put(m, TABLE + 4, to(TABLE, 0xE0042000));
    put(m, TABLE + 0xA00 + 4 * 3, 1); /* DBGPCR3: present */
    component(m, 0xE0001000, 9, CS_ARM, 0xD21);
    arch(m, 0xE0001000, 0x47701A02, 0, 0);
    component(m, 0xE0042000, 9, CS_ARM, 0xD21);
    arch(m, 0xE0042000, 0x47701A14, 0x00040800, 0x14);
    m->off_from = 0xE0001000;
    m->off_to = 0xE0002000;
    m->power_register = TABLE + 0xA00 + 4 * 3;
    m->power_bit = 2;
    m->ack_register = TABLE + 0xA80 + 4 * 3;
    m->ack_value = 3;
    m->may_write = true;
}

static void test_b10_a_class_9_table_asks_for_its_power_domain(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    domain_of_a_class_9_table(m);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0001000));
    assert_string_equal(at(t, 0xE0001000)->name, "DWT");
    assert_int_equal(m->writes, 1);
    assert_int_equal(t->refusal_count, 0);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b10_a_domain_that_is_on_is_not_asked_for(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    domain_of_a_class_9_table(m);
    m->off_to = m->off_from;
    m->may_write = false;
    put(m, TABLE + 0xA80 + 4 * 3, 1);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0001000));
    cs_topology_free(t);
    free_memory(m);
}

static void test_b10_a_domain_that_stays_off_is_left_out_with_the_reason(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    domain_of_a_class_9_table(m);
    m->power_is_refused = true;
    struct cs_topology *t = scan(m);
    assert_null(at(t, 0xE0001000));
    assert_non_null(strstr(error_at(t, TABLE), "power domain 3"));
    assert_true(is_refused(t, "power domain 3 stays off"));
    assert_non_null(at(t, 0xE0042000)); /* and the walk went on */
    assert_true(host_clock_now(m->clock) < NS_PER_S);
    cs_topology_free(t);
    free_memory(m);
}

/* Without the registers (DEVID.PRR, DBGPCR.PRESENT) there is nothing to ask: the block itself tells. */
static void test_b10_a_domain_nobody_controls_is_walked_into(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct memory *m = new_memory();
        domain_of_a_class_9_table(m);
        m->may_write = false;
        m->off_to = m->off_from;
        if (i == 0)
            arch(m, TABLE, 0x47700AF7, 0, 0);
        else
            put(m, TABLE + 0xA00 + 4 * 3, 0);
        struct cs_topology *t = scan(m);
        assert_non_null(at(t, 0xE0001000));
        cs_topology_free(t);
        free_memory(m);
    }
}

/* Class 1: the requester stands behind the entry that needs it. Domain 5 twice: it is asked for once. */
static void domain_of_a_gpr(struct memory *m)
{
    component(m, TABLE, 1, CS_ARM, 0x4C9);
    put(m, TABLE, POWERED_ENTRY(TABLE, 0xE0001000, 5));
    put(m, TABLE + 4, to(TABLE, 0xE0009000));
    put(m, TABLE + 8, POWERED_ENTRY(TABLE, 0xE0042000, 5));
    component(m, 0xE0001000, 0xE, CS_ARM, 0x002);
    component(m, 0xE0009000, 9, CS_ARM, 0x9A4);
    arch(m, 0xE0009000, 0x47700A34, 8, 0x34);
    component(m, 0xE0042000, 9, CS_ARM, 0xD21);
    arch(m, 0xE0042000, 0x47701A14, 0x00040800, 0x14);
    m->off_from = 0xE0001000;
    m->off_to = 0xE0002000;
    m->power_register = 0xE0009000;
    m->power_bit = 1u << 5;
    m->ack_register = 0xE0009004;
    m->ack_value = 1u << 5;
    m->may_write = true;
}

static void test_b10_a_class_1_table_asks_through_the_gpr(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    domain_of_a_gpr(m);
    struct cs_topology *t = scan(m);
    assert_non_null(at(t, 0xE0001000));
    assert_string_equal(at(t, 0xE0009000)->name, "GPR");
    assert_non_null(at(t, 0xE0042000));
    assert_int_equal(m->writes, 1);
    cs_topology_free(t);
    free_memory(m);
}

static void test_b10_a_gpr_that_refuses_costs_its_domain_only(void **state)
{
    (void)state;
    struct memory *m = new_memory();
    domain_of_a_gpr(m);
    m->power_is_refused = true;
    struct cs_topology *t = scan(m);
    assert_null(at(t, 0xE0001000));
    assert_null(at(t, 0xE0042000));
    assert_non_null(at(t, 0xE0009000));
    assert_int_equal(t->refusal_count, 1); /* one domain, however many entries */
    assert_int_equal(m->writes, 1);
    cs_topology_free(t);
    free_memory(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_usual_core),
        cmocka_unit_test(test_b1_absent_entries_are_skipped_and_zero_ends),
        cmocka_unit_test(test_b2_a_table_of_8_bit_entries_is_rejected_with_a_message),
        cmocka_unit_test(test_b3_a_negative_offset_wraps_at_32_bits),
        cmocka_unit_test(test_b4_a_table_that_names_itself_or_its_parent_ends),
        cmocka_unit_test(test_b4_nesting_is_bounded),
        cmocka_unit_test(test_b5_no_read_past_the_last_entry),
        cmocka_unit_test(test_b6_a_block_without_preamble_is_no_component),
        cmocka_unit_test(test_b7_only_the_low_byte_of_an_id_word_counts),
        cmocka_unit_test(test_b8_a_larger_component_begins_below_its_last_block),
        cmocka_unit_test(test_b9_a_block_that_faults_is_listed_and_the_walk_goes_on),
        cmocka_unit_test(test_b9_an_entry_that_faults_is_skipped),
        cmocka_unit_test(test_b9_three_waits_give_the_access_port_up),
        cmocka_unit_test(test_b10_a_class_9_table_asks_for_its_power_domain),
        cmocka_unit_test(test_b10_a_domain_that_is_on_is_not_asked_for),
        cmocka_unit_test(test_b10_a_domain_that_stays_off_is_left_out_with_the_reason),
        cmocka_unit_test(test_b10_a_domain_nobody_controls_is_walked_into),
        cmocka_unit_test(test_b10_a_class_1_table_asks_through_the_gpr),
        cmocka_unit_test(test_b10_a_gpr_that_refuses_costs_its_domain_only),
        cmocka_unit_test(test_b23_sticky_errors_of_an_earlier_session_are_cleared),
        cmocka_unit_test(test_power_that_is_never_acknowledged),
        cmocka_unit_test(test_a_scan_that_runs_out_of_time_is_no_scan),
        cmocka_unit_test(test_a_wide_class_9_table),
        cmocka_unit_test(test_random_memory_ends_within_bounds),
    };
    return cmocka_run_group_tests_name("coresight-rom-table", tests, NULL, NULL);
}
