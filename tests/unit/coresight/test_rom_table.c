/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery over modelled ROM tables: cases 12.B of the cross-trigger sheet, identification after 1.3,
 * binding after 2.5. The words of real parts are checked by tests/cli/test_scan.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/discovery.h"
#include "coresight/rom_table.h"
#include "link/link_backend.h"

#define MAX_WORDS 8192
#define TABLE     0xE00FF000u

/* One MEM-AP whose memory is a list of words; the rest reads 0. */
struct memory {
    struct host_clock *clock;
    struct {
        uint32_t address, value;
    } words[MAX_WORDS];
    size_t count;
    uint32_t base, cfg;
    uint32_t fault_block; /* 4 KiB that fault; 0 = none */
    uint32_t wait_from;   /* from here on everything is WAIT without end; 0 = nothing */
    uint32_t fault_word;
    bool sticky_at_attach;
    bool no_power;
    bool random;
    uint32_t seed;
    uint32_t ctrl_stat;
    uint32_t highest_in_table; /* of the words read in TABLE's block below the ID registers */
    size_t reads;
};

static uint32_t word(const struct memory *m, uint32_t address)
{
    for (size_t i = m->count; i > 0; i--)
        if (m->words[i - 1].address == address)
            return m->words[i - 1].value;
    return 0;
}

/* Memory full of component registers, tables and offsets, different for each seed. */
static uint32_t random_word(const struct memory *m, uint32_t address)
{
    static const uint8_t cidr[4] = {0x0D, 0x10, 0x05, 0xB1};
    uint32_t h = (address ^ m->seed) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    uint32_t in_block = address & 0xFFF;
    if (in_block >= 0xFF0)
        return in_block == 0xFF4 ? (h & 3 ? 0x10 : (h >> 8 & 0xF0)) : cidr[(in_block - 0xFF0) / 4];
    return h % 5 == 0 ? h : (h & 0xFFFFF000) | 3;
}

static enum corral_err one(struct memory *m, struct link_access *a, struct diag *d)
{
    host_clock_set(m->clock, host_clock_now(m->clock) + 1000);
    uint32_t *out = a->data;
    if (a->op == LINK_DP_READ) {
        *out = a->address == 0   ? 0x2BA01477
               : a->address == 4 ? m->ctrl_stat | (m->no_power ? 0 : (m->ctrl_stat & 0x50000000u) << 1)
                                 : 0;
        return CORRAL_OK;
    }
    if (a->op == LINK_DP_WRITE) {
        if (a->address == 0)
            m->sticky_at_attach = false;
        else if (a->address == 4)
            m->ctrl_stat = *out;
        return CORRAL_OK;
    }
    if (m->sticky_at_attach)
        return diag_set(d, CORRAL_ERR_LINK_FAULT, "sticky");
    if (a->op == LINK_AP_READ) {
        *out = a->ap                ? 0
               : a->address == 0xFC ? 0x24770011
               : a->address == 0xF8 ? m->base
               : a->address == 0xF4 ? m->cfg
                                    : 0;
        assert_false(a->ap == 0 && a->address == 0xF0 && !(m->cfg & 2)); /* B12 */
        return CORRAL_OK;
    }
    assert_int_equal(a->op, LINK_MEM_READ); /* discovery writes nothing */
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t at = (uint32_t)a->address + 4 * i;
        m->reads++;
        if (m->wait_from && at >= m->wait_from)
            return diag_set(d, CORRAL_ERR_LINK_WAIT, "WAIT");
        if ((m->fault_block && (at & ~0xFFFu) == m->fault_block) || (m->fault_word && at == m->fault_word))
            return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP 0 answered FAULT at address 0x%08x", at);
        if ((at & ~0xFFFu) == TABLE && (at & 0xFFF) < 0xFB0 && at > m->highest_in_table)
            m->highest_in_table = at;
        out[i] = m->random ? random_word(m, at) : word(m, at);
        a->done++;
    }
    return CORRAL_OK;
}

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    for (size_t i = 0; i < count; i++)
        if ((accesses[i].status = one(ctx, &accesses[i], d)))
            return accesses[i].status;
    return CORRAL_OK;
}

static const struct link_backend backend = {.caps = LINK_CAP_MEM | LINK_CAP_DAP, .execute = execute};

static struct memory *new_memory(void)
{
    struct memory *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    m->clock = host_clock_new_virtual();
    m->base = TABLE | 3;
    return m;
}

static void free_memory(struct memory *m)
{
    host_clock_free(m->clock);
    free(m);
}

static void put(struct memory *m, uint32_t address, uint32_t value)
{
    assert_true(m->count < MAX_WORDS);
    m->words[m->count].address = address;
    m->words[m->count++].value = value;
}

/* Identification registers; upper bytes are garbage that has to be masked (B7). */
static void component(struct memory *m, uint32_t address, unsigned component_class, unsigned designer,
                      unsigned part)
{
    const uint32_t junk = 0xABCDEF00;
    put(m, address + 0xFF0, junk | 0x0D);
    put(m, address + 0xFF4, junk | component_class << 4);
    put(m, address + 0xFF8, junk | 0x05);
    put(m, address + 0xFFC, junk | 0xB1);
    put(m, address + 0xFE0, junk | (part & 0xFF));
    put(m, address + 0xFE4, junk | (designer & 0xF) << 4 | part >> 8);
    put(m, address + 0xFE8, junk | 0x08 | (designer >> 4 & 7));
    put(m, address + 0xFD0, junk | designer >> 8);
}

static void arch(struct memory *m, uint32_t address, uint32_t devarch, uint32_t devid, uint32_t devtype)
{
    put(m, address + 0xFBC, devarch);
    put(m, address + 0xFC8, devid);
    put(m, address + 0xFCC, devtype);
}

static uint32_t to(uint32_t table, uint32_t address)
{
    return ((address - table) & ~0xFFFu) | 3;
}

static struct cs_topology *scan(struct memory *m)
{
    struct diag d = DIAG_INIT;
    struct link *link = link_new(&backend, m, "memory", m->clock);
    assert_non_null(link);
    struct cs_topology *t = cs_scan(link, NULL, &d);
    if (!t)
        fail_msg("%s", d.message);
    link_close(link);
    return t;
}

static const struct cs_component *at(const struct cs_topology *t, uint64_t address)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].address == address)
            return &t->components[i];
    return NULL;
}

/* The error a component is listed with; "" when it is not listed. */
static const char *error_at(const struct cs_topology *t, uint64_t address)
{
    const struct cs_component *c = at(t, address);
    return c ? c->error : "";
}

/* A Cortex-M7 with what its table usually lists. */
static void usual(struct memory *m)
{
    component(m, TABLE, 1, CS_ARM, 0x4C7);
    put(m, TABLE + 0x00, to(TABLE, 0xE000E000));
    put(m, TABLE + 0x04, to(TABLE, 0xE0001000));
    put(m, TABLE + 0x08, to(TABLE, 0xE0042000));
    component(m, 0xE000E000, 0xE, CS_ARM, 0x00C);
    put(m, 0xE000ED00, 0x411FC272);
    component(m, 0xE0001000, 0xE, CS_ARM, 0x002);
    component(m, 0xE0042000, 9, CS_ARM, 0x906);
    arch(m, 0xE0042000, 0, 0x00040800, 0x14);
}

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

/* B14, B15 and sheet 1.3: what is a CTI and what only looks like one. */
static void test_b14_b15_identification_of_ctis(void **state)
{
    (void)state;
    static const struct {
        uint16_t designer, part, archid;
        uint8_t devtype;
        bool cti;
    } cases[] = {
        {CS_ARM, 0x906, 0, 0x14, true},
        {CS_ARM, 0x9A6, 0x1A14, 0x14, true},
        {CS_ARM, 0x9ED, 0x1A14, 0x14, true},
        {CS_ARM, 0x9DB, 0x1A14, 0x14, true},
        {CS_ARM, 0xD20, 0x1A14, 0x14, true},
        {CS_ARM, 0xD21, 0x1A14, 0x14, true},
        {CS_ARM, 0xD31, 0x1A14, 0x14, true},
        {CS_ARM, 0xD22, 0x1A14, 0x14, true},
        {CS_ARM, 0xD23, 0x1A14, 0x14, true},
        {CS_ARM_CHINA, 0xD24, 0x1A14, 0x14, true},
        {CS_ARM_CHINA, 0x132, 0x1A14, 0x14, true},
        {CS_ARM_CHINA, 0xD25, 0x1A14, 0x14, true},
        {0x123, 0x456, 0x1A14, 0x14, true}, /* generic CTIv2 */
        {0x123, 0x906, 0, 0x14, false},     /* unknown designer without DEVARCH */
        {CS_ARM, 0x906, 0, 0x12, false},    /* the part alone is not enough */
        {CS_ARM, 0xD21, 0x1A02, 0x00, false},
        {CS_ARM, 0x904, 0, 0x14, false}, /* a stand-alone matrix */
        {CS_ARM, 0x906, 0x0A00, 0x14, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cs_component c = {.component_class = 9,
                                 .designer = cases[i].designer,
                                 .part = cases[i].part,
                                 .devtype = cases[i].devtype,
                                 .archid = cases[i].archid};
        assert_int_equal(cs_is_cti(&c), cases[i].cti);
        assert_int_equal(strcmp(cs_component_name(&c), "CTI") == 0, cases[i].cti);
    }
}

/* Sheet 1.5. */
static void test_restart_outputs_of_cores(void **state)
{
    (void)state;
    static const struct {
        uint16_t part;
        int output;
    } cases[] = {{0xC60, 7}, {0xC23, 7}, {0xC24, 7}, {0xC27, 7}, {0xD20, 1}, {0xD21, 1},
                 {0xD31, 1}, {0xD22, 1}, {0xD23, 1}, {0xD24, 1}, {0xD03, 1}, {0xC07, 7}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_non_null(cs_core_type(cases[i].part));
        assert_int_equal(cs_core_type(cases[i].part)->restart_output, cases[i].output);
    }
    assert_null(cs_core_type(0xFFF));
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
    struct link *link = link_new(&backend, m, "memory", m->clock);
    assert_null(cs_scan(link, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_NO_POWER);
    assert_in_range(host_clock_now(m->clock), NS_PER_S, 2 * NS_PER_S);
    link_close(link);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_usual_core),
        cmocka_unit_test(test_b1_absent_entries_are_skipped_and_zero_ends),
        cmocka_unit_test(test_b2_a_table_of_8_bit_entries_is_rejected_with_a_message),
        cmocka_unit_test(test_b4_a_table_that_names_itself_or_its_parent_ends),
        cmocka_unit_test(test_b4_nesting_is_bounded),
        cmocka_unit_test(test_b5_no_read_past_the_last_entry),
        cmocka_unit_test(test_b6_a_block_without_preamble_is_no_component),
        cmocka_unit_test(test_b8_a_larger_component_begins_below_its_last_block),
        cmocka_unit_test(test_b9_a_block_that_faults_is_listed_and_the_walk_goes_on),
        cmocka_unit_test(test_b9_an_entry_that_faults_is_skipped),
        cmocka_unit_test(test_b9_three_waits_give_the_access_port_up),
        cmocka_unit_test(test_b11_base_says_no_table),
        cmocka_unit_test(test_base_without_present_bit_is_believed_only_for_a_table),
        cmocka_unit_test(test_b13_two_candidates_are_not_guessed_at),
        cmocka_unit_test(test_a_v8m_core_takes_the_cti_with_its_own_part),
        cmocka_unit_test(test_a27_a_system_cti_is_no_cores),
        cmocka_unit_test(test_b14_b15_identification_of_ctis),
        cmocka_unit_test(test_restart_outputs_of_cores),
        cmocka_unit_test(test_b23_sticky_errors_of_an_earlier_session_are_cleared),
        cmocka_unit_test(test_power_that_is_never_acknowledged),
        cmocka_unit_test(test_a_wide_class_9_table),
        cmocka_unit_test(test_random_memory_ends_within_bounds),
    };
    return cmocka_run_group_tests_name("coresight-rom-table", tests, NULL, NULL);
}
