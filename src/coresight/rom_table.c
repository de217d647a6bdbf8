/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking ROM tables of class 1 and class 9. Cross-trigger sheet 2.4; cases B1 to B9. Reads only.
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

enum { REG_DEVARCH = 0xFBC, REG_DEVID = 0xFC8, REG_PIDR4 = 0xFD0 };

struct walk {
    struct cs_topology *t;
    struct cs_space space;
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
    unsigned limit;
    size_t component; /* its number in the topology */
};

enum corral_err cs_read_words(const struct cs_space *s, uint64_t address, uint32_t *words, uint32_t count,
                              struct diag *d)
{
    if (s->ap >= 0) {
        struct link_access a = {.op = LINK_MEM_READ,
                                .size = 4,
                                .ap = (uint32_t)s->ap,
                                .address = address,
                                .count = count,
                                .data = words};
        return link_execute(s->link, &a, 1, d);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = address + 4 * (uint64_t)i;
        enum corral_err err =
            link_read_ap(s->link, (uint32_t)(at & ~UINT64_C(0xFFF)), at & 0xFFF, &words[i], d);
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* Read, and keep count of what says that going on is useless. */
static enum corral_err read_words(struct walk *w, uint64_t address, uint32_t *words, uint32_t count,
                                  struct diag *d)
{
    enum corral_err err = cs_read_words(&w->space, address, words, count, d);
    if (err == CORRAL_ERR_LINK_DOWN || err == CORRAL_ERR_LINK_PROTOCOL) {
        w->dead = err;
        w->given_up = true;
        if (w->d)
            *w->d = *d;
    }
    w->waits = err == CORRAL_ERR_LINK_WAIT ? w->waits + 1 : 0;
    if (w->waits >= MAX_WAITS)
        w->given_up = true;
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
    *c = (struct cs_component){.ap = w->space.ap, .name = "unknown"};
    return c;
}

enum found { FOUND_NOTHING, FOUND_BLOCK, FOUND_ERROR };

/* Identification registers of the block at `address`. Only the low byte of each word counts (B7). */
static enum found identify(struct walk *w, uint64_t address, struct cs_component *c, uint32_t *devid)
{
    uint32_t id[12], arch[5] = {0};
    struct diag d = DIAG_INIT;
    *c = (struct cs_component){.ap = w->space.ap, .address = address, .name = "unknown"};
    *devid = 0;
    if (read_words(w, address + REG_PIDR4, id, 12, &d)) {
        cs_error_text(c->error, d.message);
        return FOUND_ERROR;
    }
    for (size_t i = 0; i < 12; i++)
        id[i] &= 0xFF;
    const uint32_t *cidr = &id[8], *pidr = &id[4];
    if (cidr[0] != 0x0D || (cidr[1] & 0x0F) != 0 || cidr[2] != 0x05 || cidr[3] != 0xB1)
        return FOUND_NOTHING; /* B6 */
    c->component_class = (uint8_t)(cidr[1] >> 4);
    c->part = (uint16_t)(pidr[0] | (pidr[1] & 0x0F) << 8);
    bool jep = (pidr[2] & 0x08) != 0;
    c->designer = (uint16_t)(pidr[1] >> 4 | (pidr[2] & 7) << 4 | (jep ? (id[0] & 0x0F) << 8 : 0));
    if (c->component_class == CS_CLASS_CORESIGHT) {
        if (read_words(w, address + REG_DEVARCH, arch, 5, &d)) {
            cs_error_text(c->error, d.message);
        } else {
            c->archid = arch[0] & 1u << 20 ? (uint16_t)arch[0] : 0;
            *devid = arch[3];
            c->devtype = (uint8_t)arch[4];
        }
    }
    /* The block named is the last one of a component that is larger than 4 KiB (B8). */
    uint64_t before = ((UINT64_C(1) << (id[0] >> 4)) - 1) * 0x1000;
    if (before <= address)
        c->address = address - before;
    c->name = cs_component_name(c);
    return FOUND_BLOCK;
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

static void walk_block(struct walk *w, uint64_t address, unsigned depth);

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
    if (!table->wide)
        sum = (uint32_t)sum; /* the offset is signed, added modulo 2^32 (B3) */
    *address = sum;
    if (sum > UINT32_MAX) {
        char text[CS_ERROR_MAX];
        snprintf(text, sizeof(text), "entry %u lies above 4 GiB", number);
        note(w, table->component, text);
        return false;
    }
    return true;
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
            if (!leads)
                continue;
            if (depth + 1 >= MAX_DEPTH)
                note(w, table->component, "tables are nested too deeply");
            else
                walk_block(w, address, depth + 1);
            if (w->given_up)
                return;
        }
        if (n == 0)
            return;
    }
}

/* An ADIv6 access port found in the root: an AP, not a component. */
static void add_ap(struct walk *w, uint64_t address)
{
    struct cs_topology *t = w->t;
    if (t->ap_count >= CS_MAX_APS || address > INT32_MAX) {
        t->cut = true;
        return;
    }
    struct cs_ap *ap = &t->aps[t->ap_count++];
    struct diag d = DIAG_INIT;
    *ap = (struct cs_ap){.ap = (uint32_t)address};
    enum corral_err err = link_read_ap(w->space.link, ap->ap, 0xDFC, &ap->idr, &d);
    if (err)
        cs_error_text(ap->error, d.message);
    else
        cs_read_base(w->space.link, ap, 0xD00, &err);
}

static void walk_block(struct walk *w, uint64_t address, unsigned depth)
{
    struct cs_component found;
    uint32_t devid;
    if (!visit(w, address))
        return; /* B4 */
    enum found what = identify(w, address, &found, &devid);
    if (what == FOUND_NOTHING || w->dead)
        return;
    if (w->space.ap < 0 && found.archid == CS_ARCHID_MEM_AP && found.component_class == CS_CLASS_CORESIGHT) {
        add_ap(w, address);
        return;
    }
    struct cs_component *c = add(w);
    if (!c)
        return;
    *c = found;
    if (!cs_is_rom_table(c))
        return;
    struct table table = {
        .address = address,
        .class9 = c->component_class == CS_CLASS_CORESIGHT,
        .component = (size_t)(c - w->t->components),
    };
    table.wide = table.class9 && (devid & 0xF) == 1;
    table.limit = !table.class9 ? CLASS1_ENTRIES : table.wide ? CLASS9_ENTRIES64 : CLASS9_ENTRIES32;
    walk_table(w, &table, depth);
}

enum corral_err cs_walk(struct link *link, struct cs_topology *t, int32_t ap, uint64_t address, bool sure,
                        struct diag *d)
{
    struct walk *w = calloc(1, sizeof(*w));
    if (!w)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    w->t = t;
    w->space = (struct cs_space){link, ap};
    w->d = d;
    size_t before = t->component_count;
    size_t aps_before = t->ap_count;
    if (!sure) {
        /* BASE says "not present" and still names an address: only a table there is believed. */
        struct cs_component probe;
        uint32_t devid;
        if (identify(w, address, &probe, &devid) == FOUND_BLOCK && cs_is_rom_table(&probe))
            walk_block(w, address, 0);
    } else {
        walk_block(w, address, 0);
    }
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

/* ADIv6: the root table is reached through AP registers, BASEPTR0 says where it is (sheet 2.1). */
static enum corral_err scan_root(struct link *link, struct cs_topology *t, struct diag *d)
{
    uint32_t low = 0, high = 0;
    enum corral_err err = link_write_dp(link, 0x8, 2, d);
    if (!err)
        err = link_read_dp(link, 0x0, &low, d);
    if (!err)
        err = link_write_dp(link, 0x8, 3, d);
    if (!err)
        err = link_read_dp(link, 0x0, &high, d);
    if (!err)
        err = link_write_dp(link, 0x8, 0, d);
    if (err || !(low & 1) || high)
        return err;
    return cs_walk(link, t, -1, low & ~0xFFFu, true, d);
}

struct cs_topology *cs_scan(struct link *link, const struct cs_hints *hints, struct diag *d)
{
    (void)hints;
    uint32_t dpidr = 0;
    struct cs_topology *t = calloc(1, sizeof(*t));
    if (!t) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    enum corral_err err = dp_power_up(link, d);
    if (!err)
        err = link_read_dp(link, 0x0, &dpidr, d);
    if (!err)
        err = (dpidr >> 12 & 0xF) >= 3 ? scan_root(link, t, d) : cs_list_aps(link, t, d);
    for (size_t i = 0; !err && i < t->ap_count; i++) {
        bool sure;
        const struct cs_ap *ap = &t->aps[i];
        bool mem_ap = (ap->idr >> 13 & 0xF) == 8;
        if (!mem_ap || ap->error[0] || ap->ap > INT32_MAX || !cs_base_usable(ap->base, &sure))
            continue;
        if (ap->base > UINT32_MAX) {
            cs_error_text(t->aps[i].error, "its ROM table lies above 4 GiB");
            continue;
        }
        err = cs_walk(link, t, (int32_t)ap->ap, ap->base & ~UINT64_C(0xFFF), sure, d);
    }
    if (!err)
        err = cs_bind(link, t, d);
    if (err) {
        cs_topology_free(t);
        return NULL;
    }
    return t;
}

void cs_topology_free(struct cs_topology *t)
{
    free(t);
}
