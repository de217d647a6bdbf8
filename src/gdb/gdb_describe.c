/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gdb reads by qXfer: the registers of a core, its memory, the threads. GDB manual, "Standard Target
 * Features" (org.gnu.gdb.arm.m-profile, m-system), "Memory Map Format", "Thread List Format".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/gdb_parts.h"

#define XPSR_NUMBER   25 /* gdb's own number of it; those between belong to floating point of old */
#define SYSTEM_NUMBER 26 /* msp and the others, in the order of core_registers */

/* Registers 0 to 15 and xpsr are g's; the rest is asked for one by one. */
static bool is_general(const struct core_register *r)
{
    return r->number <= CORE_REGISTER_XPSR;
}

bool gdb_register_number(struct gdb_hub *hub, size_t core, uint64_t number, unsigned *found, unsigned *bits)
{
    const struct core_register *list;
    size_t n;
    *bits = 32;
    if (number <= CORE_REGISTER_PC || number == XPSR_NUMBER) {
        *found = number == XPSR_NUMBER ? CORE_REGISTER_XPSR : (unsigned)number;
        return true;
    }
    if (number < SYSTEM_NUMBER || core_registers(hub->cores[core].core, &list, &n, NULL))
        return false;
    uint64_t at = SYSTEM_NUMBER;
    for (size_t i = 0; i < n; i++)
        if (!is_general(&list[i]) && at++ == number) {
            *found = list[i].number;
            *bits = list[i].bits;
            return true;
        }
    return false;
}

static void describe_registers(struct gdb_hub *hub, size_t core, struct gdb_payload *r)
{
    const struct core_register *list;
    size_t n = 0;
    gdb_payload_text(r, "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                        "<target version=\"1.0\">\n<architecture>arm</architecture>\n"
                        "<feature name=\"org.gnu.gdb.arm.m-profile\">\n");
    for (unsigned i = 0; i < 13; i++)
        gdb_payload_format(r, "<reg name=\"r%u\" bitsize=\"32\"/>\n", i);
    gdb_payload_format(
        r,
        "<reg name=\"sp\" bitsize=\"32\" type=\"data_ptr\"/>\n<reg name=\"lr\" bitsize=\"32\"/>\n"
        "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\"/>\n"
        "<reg name=\"xpsr\" bitsize=\"32\" regnum=\"%d\"/>\n</feature>\n",
        XPSR_NUMBER);
    if (core_registers(hub->cores[core].core, &list, &n, NULL))
        n = 0;
    if (n > GDB_GENERAL_REGISTERS)
        gdb_payload_text(r, "<feature name=\"org.gnu.gdb.arm.m-system\">\n");
    unsigned number = SYSTEM_NUMBER;
    for (size_t i = 0; i < n; i++)
        if (!is_general(&list[i]))
            gdb_payload_format(
                r,
                "<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\" type=\"%s\" save-restore=\"no\" "
                "group=\"system\"/>\n",
                list[i].name, number++, list[i].bits == 32 ? "data_ptr" : "int");
    if (n > GDB_GENERAL_REGISTERS)
        gdb_payload_text(r, "</feature>\n");
    gdb_payload_text(r, "</target>\n");
}

static int by_start(const void *a, const void *b)
{
    const struct gdb_region *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void ram(struct gdb_payload *r, uint64_t from, uint64_t to)
{
    if (from < to)
        gdb_payload_format(r, "<memory type=\"ram\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64 "\"/>\n",
                           from, to - from);
}

#define REGIONS_MAX 64

/* Whatever is not listed is RAM: gdb refuses to touch an address that no line covers. */
static void describe_memory(struct gdb_client *c, struct gdb_payload *r)
{
    const struct gdb_hub_options *o = &c->hub->options;
    struct gdb_region list[REGIONS_MAX];
    size_t n = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < o->region_count && n < REGIONS_MAX; i++)
        if (o->regions[i].core == GDB_ALL_CORES || o->regions[i].core == c->registers_of)
            list[n++] = o->regions[i];
    qsort(list, n, sizeof(list[0]), by_start);
    gdb_payload_text(
        r, "<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map "
           "V1.0//EN\" \"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n");
    for (size_t i = 0; i < n; i++) {
        if (list[i].start < at || list[i].size == 0) /* it overlaps the one before */
            continue;
        ram(r, at, list[i].start);
        if (list[i].block)
            gdb_payload_format(r,
                               "<memory type=\"flash\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64
                               "\"><property name=\"blocksize\">0x%" PRIx32 "</property></memory>\n",
                               list[i].start, list[i].size, list[i].block);
        else
            gdb_payload_format(r, "<memory type=\"rom\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64 "\"/>\n",
                               list[i].start, list[i].size);
        at = list[i].start + list[i].size;
    }
    ram(r, at, (uint64_t)UINT32_MAX + 1);
    gdb_payload_text(r, "</memory-map>\n");
}

static void describe_threads(struct gdb_client *c, struct gdb_payload *r)
{
    size_t first = c->core == GDB_ALL_CORES ? 0 : c->core;
    size_t end = c->core == GDB_ALL_CORES ? c->hub->core_count : c->core + 1;
    gdb_payload_text(r, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (size_t i = first; i < end; i++) {
        const char *why;
        bool halted = gdb_core_halted(c->hub, i, &why);
        /* A core's name is ours or of corral.yml: letters, digits, '_', '-', '.'. */
        gdb_payload_format(r, "<thread id=\"%zx\" core=\"%zu\" name=\"%s\">%s</thread>\n", i - first + 1, i,
                           core_name(c->hub->cores[i].core), halted ? "halted" : why);
    }
    gdb_payload_text(r, "</threads>\n");
}

const char *gdb_describe(struct gdb_client *client, const char *object, const char *annex, size_t *size)
{
    struct gdb_hub *hub = client->hub;
    struct gdb_payload r;
    gdb_payload_start(&r, hub->xml, sizeof(hub->xml));
    if (strcmp(object, "features") == 0 && strcmp(annex, "target.xml") == 0)
        describe_registers(hub, client->registers_of, &r);
    else if (strcmp(object, "memory-map") == 0 && annex[0] == '\0' && hub->options.region_count)
        describe_memory(client, &r);
    else if (strcmp(object, "threads") == 0 && annex[0] == '\0')
        describe_threads(client, &r);
    else
        return NULL;
    *size = r.size;
    return r.cut ? NULL : r.data;
}
