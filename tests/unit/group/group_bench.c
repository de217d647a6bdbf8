/* SPDX-License-Identifier: Apache-2.0 */
/* See group_bench.h. */
#include "tests/unit/group/group_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"

#define CHUNK         4096
#define TRIGOUTSTATUS 0x134u

struct group_bench group_bench_open(const char *board, const struct link_sim_options *more)
{
    struct group_bench b = {0};
    struct diag d = DIAG_INIT;
    struct link_sim_options o = more ? *more : (struct link_sim_options){0};
    b.clock = o.clock = host_clock_new_virtual();
    assert_non_null(b.clock);
    o.board = board;
    b.link = link_sim_open(&o, &d);
    if (!b.link)
        fail_msg("%s: %s", board ? board : "board", d.message);
    host_clock_sleep(b.clock, 2 * NS_PER_MS);
    struct cs_topology *t = cs_scan(b.link, NULL, &d);
    if (!t)
        fail_msg("%s", d.message);
    struct link_sim_info info;
    assert_true(link_sim_get_info(b.link, &info));
    for (size_t i = 0; i < t->core_count; i++) {
        const struct cs_core *c = &t->cores[i];
        struct cti *cti = NULL;
        if (c->has_cti && c->cti.triggers) {
            cti = cti_open(b.link, c->cti.ap, c->cti.address, c->cti.restart_output, &d);
            assert_non_null(cti);
            b.cti[i] = c->cti.address;
        }
        b.hz[i] = info.core_hz[i];
        b.cores[i] = core_cortex_m_open(b.link, c->ap, c->name, info.core_hz[i], cti, &d);
        if (!b.cores[i])
            fail_msg("%s: %s", c->name, d.message);
    }
    b.count = t->core_count;
    cs_topology_free(t);
    assert_true(b.count > 0);
    b.group = group_new(b.cores, b.count, NULL, "group");
    assert_non_null(b.group);
    return b;
}

void group_bench_close(struct group_bench *b)
{
    group_free(b->group);
    for (size_t i = 0; i < b->count; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    host_clock_free(b->clock);
}

bool group_bench_said(const struct group_bench *b, const char *words)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->group, &list);
    for (size_t i = 0; i < n; i++)
        if (strstr(list[i].text, words))
            return true;
    return false;
}

void group_bench_print_remarks(const struct group_bench *b)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->group, &list);
    for (size_t i = 0; i < n; i++)
        print_message("# %s\n", list[i].text);
}

static size_t walk(struct group_bench *b, size_t from, size_t *writes)
{
    struct link_sim_bus_record *records = malloc(CHUNK * sizeof(*records));
    size_t n;
    assert_non_null(records);
    while ((n = link_sim_bus_log(b->link, from, records, CHUNK)) > 0) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < b->count; k++)
                *writes += records[i].write && b->cti[k] && records[i].ap == core_ap(b->cores[k]) &&
                           records[i].address >= b->cti[k] && records[i].address - b->cti[k] < 0x1000;
        from += n;
    }
    free(records);
    return from;
}

size_t group_bench_cti_writes(struct group_bench *b, size_t from)
{
    size_t writes = 0;
    walk(b, from, &writes);
    return writes;
}

size_t group_bench_bus_count(struct group_bench *b)
{
    size_t writes = 0;
    return walk(b, 0, &writes);
}

uint32_t group_bench_read(struct group_bench *b, size_t core, uint32_t address)
{
    uint32_t value = 0;
    struct diag d = DIAG_INIT;
    if (link_read32(b->link, core_ap(b->cores[core]), address, &value, &d))
        fail_msg("%s", d.message);
    return value;
}

void group_bench_write(struct group_bench *b, size_t core, uint32_t address, uint32_t value)
{
    struct diag d = DIAG_INIT;
    if (link_write32(b->link, core_ap(b->cores[core]), address, value, &d))
        fail_msg("%s", d.message);
}

uint32_t group_bench_cti(struct group_bench *b, size_t core, uint32_t reg)
{
    return group_bench_read(b, core, (uint32_t)b->cti[core] + reg);
}

void group_bench_set_cti(struct group_bench *b, size_t core, uint32_t reg, uint32_t value)
{
    group_bench_write(b, core, (uint32_t)b->cti[core] + 0xFB0, 0xC5ACCE55);
    group_bench_write(b, core, (uint32_t)b->cti[core] + reg, value);
}

void group_bench_halt(struct group_bench *b, size_t leader, struct event *e)
{
    struct diag d = DIAG_INIT;
    if (group_halt(b->group, leader, e, &d))
        fail_msg("halt: %s", d.message);
}

void group_bench_run(struct group_bench *b, size_t leader, struct event *e)
{
    struct diag d = DIAG_INIT;
    if (group_run(b->group, leader, e, &d))
        fail_msg("run: %s", d.message);
}

void group_bench_sync(struct group_bench *b)
{
    struct diag d = DIAG_INIT;
    if (group_enable_sync(b->group, &d))
        fail_msg("sync: %s", d.message);
}

void group_bench_assert_states(const struct event *e, enum core_state a, enum core_state b)
{
    assert_int_equal(e->halt.cores[0].state, a);
    assert_int_equal(e->halt.cores[1].state, b);
}

void group_bench_assert_unlatched(struct group_bench *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->cti[i])
            assert_int_equal(group_bench_cti(b, i, TRIGOUTSTATUS) & 1, 0);
}

/* Halt and run work, with every member as the leader. */
void group_bench_assert_works(struct group_bench *b, enum group_mechanism mechanism)
{
    struct event e;
    for (size_t leader = 0; leader < b->count; leader++) {
        group_bench_halt(b, leader, &e);
        for (size_t i = 0; i < b->count; i++)
            assert_int_equal(e.halt.cores[i].state, CORE_HALTED);
        assert_int_equal(e.halt.mechanism, mechanism);
        assert_true(e.halt.cores[leader].first);
        group_bench_assert_unlatched(b);
        group_bench_run(b, leader, &e);
        for (size_t i = 0; i < b->count; i++) {
            assert_int_equal(e.halt.cores[i].state, CORE_RUNNING);
            assert_true(e.halt.cores[i].restarted);
        }
        assert_int_equal(e.halt.mechanism, mechanism);
    }
}
