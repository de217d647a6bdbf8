/* SPDX-License-Identifier: Apache-2.0 */
/* See gdb_rig.h. */
#include "gdb_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"

#define POLL_NS (2 * NS_PER_MS)

static void keep(void *ctx, const char *payload, size_t size, enum gdb_send how)
{
    struct rig_client *c = ctx;
    c->how = how;
    if (!payload)
        return;
    assert_true(c->count < RIG_REPLIES);
    if (size >= RIG_REPLY)
        size = RIG_REPLY - 1; /* the tests look at the beginning of long ones */
    memcpy(c->reply[c->count], payload, size);
    c->reply[c->count++][size] = '\0';
}

void rig_open(struct rig *r, const struct rig_options *o)
{
    struct diag d = DIAG_INIT;
    struct link_sim_options sim = {.board = o->board, .log_accesses = true};
    *r = (struct rig){.clock = host_clock_new_virtual()};
    assert_non_null(r->clock);
    sim.clock = r->clock;
    r->link = link_sim_open(&sim, &d);
    if (!r->link)
        fail_msg("%s", d.message);
    host_clock_sleep(r->clock, 2 * NS_PER_MS);
    struct cs_topology *t = cs_scan(r->link, NULL, &d);
    assert_non_null(t);
    assert_int_equal(t->core_count, LINK_SIM_CORES);
    for (size_t i = 0; i < LINK_SIM_CORES; i++) {
        const struct cs_core *c = &t->cores[i];
        struct cti *cti =
            c->has_cti ? cti_open(r->link, c->cti.ap, c->cti.address, c->cti.restart_output, &d) : NULL;
        r->cores[i] = core_cortex_m_open(r->link, c->ap, c->name, 100000000, cti, &d);
        if (!r->cores[i])
            fail_msg("%s", d.message);
        const uint8_t *image;
        size_t size;
        if (link_sim_image(r->link, (unsigned)i, &image, &size))
            r->symbols[i] = symbol_open_memory(image, size, c->name, &d);
    }
    cs_topology_free(t);
    struct gdb_hub_options options = {.cores = r->cores,
                                      .count = LINK_SIM_CORES,
                                      .stream = "gdb",
                                      .sync = o->sync,
                                      .one_inferior = o->all,
                                      .halt_channel = GROUP_ANY_CHANNEL,
                                      .restart_channel = GROUP_ANY_CHANNEL,
                                      .on_detach = o->on_detach};
    r->hub = gdb_hub_new(&options, &d);
    if (!r->hub)
        fail_msg("%s", d.message);
}

void rig_close(struct rig *r)
{
    struct diag d = DIAG_INIT;
    if (gdb_hub_free(r->hub, &d))
        fail_msg("%s", d.message);
    for (size_t i = 0; i < LINK_SIM_CORES; i++) {
        core_close(r->cores[i]);
        symbol_close(r->symbols[i]);
    }
    link_close(r->link);
    host_clock_free(r->clock);
}

void rig_send(struct rig_client *c, const char *packet)
{
    char copy[1024];
    size_t size = strlen(packet);
    assert_true(size < sizeof(copy));
    memcpy(copy, packet, size + 1);
    gdb_client_packet(c->client, copy, size);
}

static void drop(struct rig_client *c, size_t i)
{
    c->count--;
    memmove(c->reply[i], c->reply[i + 1], (c->count - i) * sizeof(c->reply[0]));
}

static bool is_text(const char *reply)
{
    return reply[0] == 'O' && strcmp(reply, "OK") != 0;
}

const char *rig_reply(struct rig_client *c)
{
    static char taken[RIG_REPLY];
    for (size_t i = 0; i < c->count; i++)
        if (!is_text(c->reply[i])) {
            memcpy(taken, c->reply[i], sizeof(taken));
            drop(c, i);
            return taken;
        }
    return "";
}

const char *rig_ask(struct rig_client *c, const char *packet)
{
    rig_send(c, packet);
    return rig_reply(c);
}

const char *rig_texts(struct rig_client *c)
{
    static char all[RIG_REPLY];
    size_t n = 0;
    for (size_t i = 0; i < c->count;) {
        if (!is_text(c->reply[i])) {
            i++;
            continue;
        }
        for (const char *p = c->reply[i] + 1; p[0] && p[1] && n + 1 < sizeof(all); p += 2) {
            char two[3] = {p[0], p[1], '\0'};
            all[n++] = (char)strtoul(two, NULL, 16);
        }
        drop(c, i);
    }
    all[n] = '\0';
    return all;
}

void rig_connect(struct rig *r, struct rig_client *c, size_t core)
{
    struct diag d = DIAG_INIT;
    c->count = 0;
    c->client = gdb_hub_connect(r->hub, core, keep, c, &d);
    if (!c->client)
        fail_msg("%s", d.message);
    assert_non_null(strstr(rig_ask(c, "qSupported:swbreak+;hwbreak+;vContSupported+"), "PacketSize="));
    assert_int_equal(rig_ask(c, "?")[0], 'T');
}

void rig_leave(struct rig_client *c)
{
    gdb_client_leave(c->client);
    c->client = NULL;
}

void rig_wait(struct rig *r, unsigned ms)
{
    struct diag d = DIAG_INIT;
    int64_t end = host_clock_now(r->clock) + ms * NS_PER_MS;
    while (host_clock_now(r->clock) < end) {
        host_clock_sleep(r->clock, POLL_NS);
        if (gdb_hub_poll(r->hub, &d))
            fail_msg("%s", d.message);
    }
}

uint32_t rig_symbol(struct rig *r, size_t core, const char *name)
{
    uint64_t address = 0;
    if (!symbol_lookup(r->symbols[core], name, &address, NULL))
        fail_msg("core %zu has no '%s'", core, name);
    return (uint32_t)address & ~1u;
}

uint32_t rig_read32(struct rig *r, size_t core, uint32_t address)
{
    uint32_t value = 0;
    assert_int_equal(link_read32(r->link, core_ap(r->cores[core]), address, &value, NULL), CORRAL_OK);
    return value;
}

#define CTI_FIRST   0xE0042000u
#define CTI_LAST    0xE0042FFFu
#define CTI_TRIGOUT 0x134u
#define MAX_ACCESS  200000

size_t rig_cti_writes(struct rig *r)
{
    struct link_sim_bus_record *records = malloc(MAX_ACCESS * sizeof(*records));
    assert_non_null(records);
    size_t n = link_sim_bus_log(r->link, 0, records, MAX_ACCESS), writes = 0;
    assert_true(n < MAX_ACCESS);
    for (size_t i = 0; i < n; i++)
        writes += records[i].write && records[i].address >= CTI_FIRST && records[i].address <= CTI_LAST;
    free(records);
    return writes;
}

bool rig_latched(struct rig *r, size_t core)
{
    return rig_read32(r, core, CTI_FIRST + CTI_TRIGOUT) & 1;
}

const char *rig_packet(const char *fmt, ...)
{
    static char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized): just started */
    va_end(args);
    return text;
}

void rig_expect_stop(struct rig_client *c, const char *begin)
{
    const char *reply = rig_reply(c);
    if (strncmp(reply, begin, strlen(begin)) != 0)
        fail_msg("wanted %s..., got '%s'", begin, reply);
    assert_string_equal(rig_reply(c), ""); /* one, and no second */
}

void rig_expect_silence(struct rig_client *c)
{
    assert_string_equal(rig_reply(c), "");
}

/* It has not heard of the last stop yet: its resume is answered with that, and starts nothing. */
void rig_catch_up(struct rig_client *c, const char *begin)
{
    rig_send(c, "vCont;c");
    rig_expect_stop(c, begin);
}
