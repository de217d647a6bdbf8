/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking ROM tables of class 1 and class 9. Cross-trigger sheet 2.4; cases B1 to B10, B16. Reads only, but
 * for what power_request.c asks for.
 *
 * Every table, depth and number of blocks is bounded; each block is visited once, so that a table which names
 * itself ends. A block that cannot be read is listed with its error and the walk goes on.
 */
#include "coresight/rom_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coresight/discovery.h"

#define MAX_DEPTH   8
#define MAX_VISITED 1024 /* blocks of one address space */
#define MAX_WAITS   3    /* WAIT without end in a row: this address space is given up (B9) */

#define CLASS1_ENTRIES   960
#define CLASS9_ENTRIES32 512
#define CLASS9_ENTRIES64 256
#define CHUNK            16 /* entries read at a time */

/* Of an entry. */
#define POWERID_VALID 4u
#define POWERID(e)    ((unsigned)((e) >> 4 & 0x1F))

struct walk {
    const struct cs_scan *scan;
    struct cs_topology *t;
    struct cs_space space;
    bool gpr_sought, gpr_found; /* the granular power requester of this address space */
    uint64_t gpr;
    uint32_t on, off; /* domains that were asked for through it */
    uint64_t visited[MAX_VISITED];
    size_t visited_count;
    unsigned waits;
    bool given_up;
    enum corral_err dead; /* the port itself */
    struct diag *d;
};

struct table {
    uint64_t address; /* of the 4 KiB block with the entries */
    bool class9;
    bool wide; /* 64-bit entries */
    uint32_t devid;
    unsigned limit;
    size_t component; /* its number in the topology */
};

/* Keep count of what says that going on is useless. */
static void watch(struct walk *w, enum corral_err err, const struct diag *d)
{
    if (cs_ends_scan(err)) {
        w->dead = err;
        w->given_up = true;
        if (w->d)
            *w->d = *d;
    }
    w->waits = err == CORRAL_ERR_LINK_WAIT ? w->waits + 1 : 0;
    if (w->waits >= MAX_WAITS)
        w->given_up = true;
}

static enum corral_err read_words(struct walk *w, uint64_t address, uint32_t *words, uint32_t count,
                                  struct diag *d)
{
    enum corral_err err = cs_read_words(&w->space, address, words, count, d);
    watch(w, err, d);
    return err;
}

static bool visit(struct walk *w, uint64_t address)
{
    for (size_t i = 0; i < w->visited_count; i++)
        if (w->visited[i] == address)
            return false;
    if (w->visited_count >= MAX_VISITED) {
        w->t->cut = true;
        w->given_up = true;
        return false;
    }
    w->visited[w->visited_count++] = address;
    return true;
}

static struct cs_component *add(struct walk *w)
{
    if (w->t->component_count >= CS_MAX_COMPONENTS) {
        w->t->cut = true;
        w->given_up = true;
        return NULL;
    }
    struct cs_component *c = &w->t->components[w->t->component_count++];
    *c = (struct cs_component){.ap = w->space.ap, .table = -1, .name = "unknown"};
    return c;
}

static enum cs_found identify(struct walk *w, uint64_t address, struct cs_component *c, uint32_t *devid)
{
    struct diag d = DIAG_INIT;
    enum cs_found found = cs_identify(&w->space, address, c, devid, &d);
    watch(w, d.code, &d);
    return found;
}

static void note(struct walk *w, size_t component, const char *text)
{
    struct cs_component *c = &w->t->components[component];
    if (!c->error[0])
        cs_error_text(c->error, text);
}

/* Up to CHUNK entries from `first`; those that cannot be read are reported and read as "not present". */
static unsigned read_entries(struct walk *w, const struct table *table, unsigned first, uint64_t *entries)
{
    unsigned words = table->wide ? 2 : 1;
    unsigned n = table->limit - first < CHUNK ? table->limit - first : CHUNK;
    uint32_t raw[2 * CHUNK] = {0};
    uint64_t at = table->address + (uint64_t)first * words * 4;
    struct diag d = DIAG_INIT;
    bool whole = read_words(w, at, raw, n * words, &d) == CORRAL_OK;
    for (unsigned i = 0; i < n && !w->given_up; i++) {
        if (!whole && read_words(w, at + (uint64_t)i * words * 4, &raw[i * words], words, &d)) {
            char text[CS_ERROR_MAX];
            snprintf(text, sizeof(text), "entry %u: %.70s", first + i, d.message);
            note(w, table->component, text);
            raw[i * words] = 2; /* not present, and not the end */
            if (words == 2)
                raw[2 * i + 1] = 0;
        }
        entries[i] = words == 2 ? (uint64_t)raw[2 * i + 1] << 32 | raw[2 * i] : raw[i];
    }
    return w->given_up ? 0 : n;
}

static void walk_block(struct walk *w, uint64_t address, int named_by, unsigned depth);

/* Where an entry leads. False for one that leads nowhere; *end at the end of the table. */
static bool follow(struct walk *w, const struct table *table, unsigned number, uint64_t entry,
                   uint64_t *address, bool *end)
{
    bool present = table->class9 ? (entry & 3) == 3 : (entry & 1) != 0;
    *end = table->class9 ? (entry & 3) == 0 : entry == 0;
    if (*end || !present)
        return false;
    if (!table->class9 && !(entry & 2)) {
        note(w, table->component, "a table of 8-bit entries, which cannot be walked"); /* B2 */
        *end = true;
        return false;
    }
    uint64_t sum = table->address + (entry & ~UINT64_C(0xFFF));
    if (!table->wide) /* the offset is signed, added modulo 2^32 (B3) */
        sum = (table->address & ~UINT64_C(0xFFFFFFFF)) | (uint32_t)sum;
    *address = sum;
    if (sum > UINT32_MAX && !w->space.wide) {
        char text[CS_ERROR_MAX];
        snprintf(text, sizeof(text), "entry %u lies above 4 GiB", number);
        note(w, table->component, text);
        return false;
    }
    return true;
}

/* Looks for it among the table's entries that need no power, once a walk: those that do may stand before it.
 */
static void seek_gpr(struct walk *w, const struct table *table)
{
    uint64_t entries[CHUNK] = {0};
    w->gpr_sought = true;
    for (unsigned first = 0; first < table->limit; first += CHUNK) {
        unsigned n = read_entries(w, table, first, entries);
        for (unsigned i = 0; i < n; i++) {
            uint64_t address;
            bool end;
            bool leads = follow(w, table, first + i, entries[i], &address, &end);
            if (end || w->given_up)
                return;
            struct cs_component c;
            uint32_t devid;
            if (!leads || (entries[i] & POWERID_VALID) ||
                identify(w, address, &c, &devid) != CS_FOUND_BLOCK || !cs_is_gpr(&c))
                continue;
            w->gpr_found = true;
            w->gpr = address;
            return;
        }
        if (n == 0)
            return;
    }
}

/* False where what the entry leads to is without power and stays so. */
static bool has_power(struct walk *w, const struct table *table, unsigned number, uint64_t entry)
{
    if (!(entry & POWERID_VALID))
        return true;
    if (!table->class9 && !w->gpr_sought)
        seek_gpr(w, table);
    if (w->given_up)
        return false;
    if (!table->class9 && !w->gpr_found)
        return true; /* nothing to ask: the blocks tell whether they can be read */
    struct cs_domain domain = {.id = POWERID(entry),
                               .class9 = table->class9,
                               .devid = table->devid,
                               .registers = table->class9 ? table->address : w->gpr};
    uint32_t bit = 1u << domain.id;
    if (!table->class9 && (w->on & bit))
        return true;
    char why[CS_ERROR_MAX] = "", text[CS_ERROR_MAX];
    bool on = (table->class9 || !(w->off & bit)) && cs_power_domain(&w->space, &domain, why);
    if (!table->class9)
        *(on ? &w->on : &w->off) |= bit;
    if (on)
        return true;
    if (why[0])
        cs_refuse(w->t, w->space.ap, domain.registers, "%s", why);
    snprintf(text, sizeof(text), "entry %u: power domain %u stays off", number, domain.id);
    note(w, table->component, text);
    return false;
}

static void walk_table(struct walk *w, const struct table *table, unsigned depth)
{
    uint64_t entries[CHUNK] = {0};
    for (unsigned first = 0; first < table->limit; first += CHUNK) {
        unsigned n = read_entries(w, table, first, entries);
        for (unsigned i = 0; i < n; i++) {
            uint64_t address;
            bool end;
            bool leads = follow(w, table, first + i, entries[i], &address, &end);
            if (end)
                return;
            if (!leads || !has_power(w, table, first + i, entries[i]))
                continue;
            if (depth + 1 >= MAX_DEPTH)
                note(w, table->component, "tables are nested too deeply");
            else
                walk_block(w, address, (int)table->component, depth + 1);
            if (w->given_up)
                return;
        }
        if (n == 0)
            return;
    }
}

/* An access port in a table is an AP, too: in an ADIv6 root at its own address, in memory behind this AP. */
static void found_ap(struct walk *w, uint64_t address)
{
    enum corral_err err = CORRAL_OK;
    if (w->space.ap >= 0)
        err = cs_add_nested_ap(w->scan, cs_free_nested_number(w->scan), (uint32_t)w->space.ap, address);
    else if (address > INT32_MAX)
        w->t->cut = true;
    else
        cs_add_ap(w->scan, (uint32_t)address, 0xD00, &err);
    struct diag d = DIAG_INIT;
    if (err)
        diag_set(&d, err, "the debug port does not answer any more");
    if (err)
        watch(w, err, &d);
}

static void walk_block(struct walk *w, uint64_t address, int named_by, unsigned depth)
{
    struct cs_component found;
    uint32_t devid;
    if (!visit(w, address))
        return; /* B4 */
    enum cs_found what = identify(w, address, &found, &devid);
    if (what == CS_FOUND_NOTHING || w->dead)
        return;
    bool mem_ap = found.archid == CS_ARCHID_MEM_AP && found.component_class == CS_CLASS_CORESIGHT;
    if (mem_ap)
        found_ap(w, address);
    if (mem_ap && w->space.ap < 0)
        return;
    struct cs_component *c = add(w);
    if (!c)
        return;
    *c = found;
    c->table = named_by;
    if (!cs_is_rom_table(c))
        return;
    struct table table = {
        .address = address,
        .class9 = c->component_class == CS_CLASS_CORESIGHT,
        .devid = devid,
        .component = (size_t)(c - w->t->components),
    };
    table.wide = table.class9 && (devid & 0xF) == 1;
    table.limit = !table.class9 ? CLASS1_ENTRIES : table.wide ? CLASS9_ENTRIES64 : CLASS9_ENTRIES32;
    walk_table(w, &table, depth);
}

enum corral_err cs_walk(const struct cs_scan *scan, int32_t ap, uint64_t address, bool sure, struct diag *d)
{
    struct cs_topology *t = scan->t;
    struct walk *w = calloc(1, sizeof(*w));
    if (!w)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    w->scan = scan;
    w->t = t;
    w->space = cs_space_of(scan, ap);
    w->d = d;
    size_t before = t->component_count;
    size_t aps_before = t->ap_count;
    /* BASE says "not present" and still names an address: only a table there is believed. */
    struct cs_component probe;
    uint32_t devid;
    if (sure || (identify(w, address, &probe, &devid) == CS_FOUND_BLOCK && cs_is_rom_table(&probe)))
        walk_block(w, address, -1, 0);
    enum corral_err err = w->dead;
    for (size_t i = 0; sure && ap >= 0 && i < t->ap_count; i++) {
        if (t->aps[i].ap != (uint32_t)ap || t->aps[i].error[0])
            continue;
        if (w->waits >= MAX_WAITS)
            cs_error_text(t->aps[i].error, "its bus does not answer: the walk was given up");
        else if (t->component_count == before && t->ap_count == aps_before)
            snprintf(t->aps[i].error, CS_ERROR_MAX, "there is no component at its BASE 0x%08" PRIx64,
                     address);
    }
    free(w);
    return err;
}
