/* SPDX-License-Identifier: Apache-2.0 */
/* See rom_model.h. */
#include "rom_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/link_backend.h"

#define MAX_WORDS ROM_MODEL_WORDS

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
        bool there = a->ap < 32 && (m->aps >> a->ap & 1);
        if (a->address == 0xFC && a->ap < 64)
            m->asked |= UINT64_C(1) << a->ap;
        m->asked_above += a->address == 0xFC && a->ap >= 64;
        if (m->dead_idr && a->ap == m->dead_idr)
            return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP %u answered FAULT", (unsigned)a->ap);
        if (m->hang_from && a->ap >= m->hang_from)
            return diag_set(d, CORRAL_ERR_LINK_WAIT, "WAIT");
        *out = !there               ? 0
               : a->address == 0xFC ? m->idr
               : a->address == 0xF8 ? m->base
               : a->address == 0xF4 ? m->cfg
                                    : 0;
        assert_false(there && a->address == 0xF0 && !(m->cfg & 2)); /* B12 */
        return CORRAL_OK;
    }
    if (a->op == LINK_MEM_WRITE && m->may_write) {
        m->writes++;
        put(m, (uint32_t)a->address, *out);
        if (a->address == m->power_register && (*out & m->power_bit) && !m->power_is_refused) {
            m->off_from = m->off_to = 0;
            put(m, m->ack_register, m->ack_value);
        }
        a->done = 1;
        return CORRAL_OK;
    }
    assert_int_equal(a->op, LINK_MEM_READ); /* discovery writes nothing */
    if (m->dead_ap && a->ap == m->dead_ap)
        return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP %u answered FAULT", (unsigned)a->ap);
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t at = (uint32_t)a->address + 4 * i;
        m->reads++;
        if (m->wait_from && at >= m->wait_from)
            return diag_set(d, CORRAL_ERR_LINK_WAIT, "WAIT");
        if (at >= m->off_from && at < m->off_to)
            return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP 0 answered FAULT at address 0x%08x", at);
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

struct memory *new_memory(void)
{
    struct memory *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    m->clock = host_clock_new_virtual();
    m->base = TABLE | 3;
    m->idr = 0x24770011;
    m->aps = 1;
    return m;
}

void free_memory(struct memory *m)
{
    host_clock_free(m->clock);
    free(m);
}

void put(struct memory *m, uint32_t address, uint32_t value)
{
    assert_true(m->count < MAX_WORDS);
    m->words[m->count].address = address;
    m->words[m->count++].value = value;
}

void component(struct memory *m, uint32_t address, unsigned component_class, unsigned designer, unsigned part)
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

void arch(struct memory *m, uint32_t address, uint32_t devarch, uint32_t devid, uint32_t devtype)
{
    put(m, address + 0xFBC, devarch);
    put(m, address + 0xFC8, devid);
    put(m, address + 0xFCC, devtype);
}

uint32_t to(uint32_t table, uint32_t address)
{
    return ((address - table) & ~0xFFFu) | 3;
}

struct link *open_memory(struct memory *m)
{
    struct link *link = link_new(&backend, m, "memory", m->clock);
    assert_non_null(link);
    return link;
}

struct cs_topology *scan_with(struct memory *m, const struct cs_hints *hints)
{
    struct diag d = DIAG_INIT;
    struct link *link = open_memory(m);
    struct cs_topology *t = cs_scan(link, hints, &d);
    if (!t)
        fail_msg("%s", d.message);
    link_close(link);
    return t;
}

struct cs_topology *scan(struct memory *m)
{
    return scan_with(m, NULL);
}

bool is_refused(const struct cs_topology *t, const char *words)
{
    for (size_t i = 0; i < t->refusal_count; i++)
        if (strstr(t->refusals[i].why, words))
            return true;
    return false;
}

const struct cs_component *at(const struct cs_topology *t, uint64_t address)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].address == address)
            return &t->components[i];
    return NULL;
}

const char *error_at(const struct cs_topology *t, uint64_t address)
{
    const struct cs_component *c = at(t, address);
    return c ? c->error : "";
}

void usual(struct memory *m)
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
