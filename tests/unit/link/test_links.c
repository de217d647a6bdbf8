/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One list of checks over every link, with the same results: what is found is written down as text, without
 * times and counts, and the text of each link is that of the virtual board in this process.
 *
 * Arguments: the path of corral; that of openocd, where there is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "group/group.h"
#include "tests/unit/link/link_places.h"
#include "tlog/consumer.h"

#define SRAM        0x20060000u
#define NOWHERE     0x70000000u
#define VECTORS     0x08000000u
#define SYSTICK     15u
#define LOG_BUFFER1 0x20042000u
#define LOG_SIZE    4112u
#define WORDS       700u
#define DCRSR_R(n)  (n)

static const char *corral, *openocd;
static char expected[16384]; /* what the board in this process said, of the switches of now */

struct findings {
    char text[16384];
    size_t used;
    struct place place;
    struct core *core[2];
    struct group *group;
    struct diag d;
};

static void say(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct findings *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(f->text + f->used, sizeof(f->text) - f->used, fmt, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof(f->text) - f->used);
    f->used += (size_t)n;
}

static void must(struct findings *f, const char *what, enum corral_err err)
{
    if (err != CORRAL_OK)
        fail_msg("%s: %s: %s (%s)", f->place.name, what, f->d.message, corral_err_name(err));
}

static void check_scan(struct findings *f)
{
    struct cs_topology *t = cs_scan(f->place.link, NULL, &f->d);
    if (!t)
        fail_msg("%s: scan: %s", f->place.name, f->d.message);
    for (size_t i = 0; i < t->ap_count; i++)
        say(f, "AP %" PRIu32 " %08" PRIx32 " %" PRIx64 " %s\n", t->aps[i].ap, t->aps[i].idr, t->aps[i].base,
            t->aps[i].error);
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        say(f, "%" PRId32 " %" PRIx64 " %x %x %x %x %x %s %s\n", c->ap, c->address, c->component_class,
            c->designer, c->part, c->devtype, c->archid, c->name, c->error);
    }
    assert_int_equal(t->core_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct cs_core *c = &t->cores[i];
        say(f, "%s AP %" PRIu32 " %" PRIx32 " %s CTI %d %" PRIx64 " %u %u %d %s\n", c->name, c->ap, c->cpuid,
            c->type, c->has_cti, c->cti.address, c->cti.triggers, c->cti.channels, c->cti.restart_output,
            c->why_no_cti);
        struct cti *cti = cti_open(f->place.link, c->cti.ap, c->cti.address, c->cti.restart_output, &f->d);
        assert_non_null(cti);
        f->core[i] = core_cortex_m_open(f->place.link, c->ap, c->name, 100000000, cti, &f->d);
        assert_non_null(f->core[i]);
    }
    cs_topology_free(t);
    f->place.ap = core_ap(f->core[0]);
    f->group = group_new(f->core, 2, NULL, "group");
    assert_non_null(f->group);
}

/* Who is how, and why; where they stand depends on how long the link takes. */
static void say_event(struct findings *f, const char *what, const struct event *e)
{
    say(f, "%s: %s, by mechanism %d", what, e->kind == EVENT_HALT ? "halt" : "run", (int)e->halt.mechanism);
    for (size_t i = 0; i < e->halt.core_count; i++) {
        const struct event_core *c = &e->halt.cores[i];
        say(f, "; %s %s %s%s%s", c->name, core_state_name(c->state),
            c->reason ? halt_reason_name(c->reason) : "-", c->first ? " first" : "",
            c->restarted ? " restarted" : "");
        if (c->state == CORE_HALTED)
            assert_true(c->pc_known && c->pc >= VECTORS && c->pc < VECTORS + (1u << 20));
    }
    say(f, "\n");
}

static void check_status(struct findings *f, const char *what)
{
    struct event e;
    must(f, what, group_status(f->group, &e, &f->d));
    say_event(f, what, &e);
}

static void check_halt_and_run(struct findings *f, size_t leader, const char *what)
{
    struct event e;
    assert_true(place_let_pass(&f->place, 4));
    must(f, what, group_halt(f->group, leader, &e, &f->d));
    say_event(f, what, &e);
    check_status(f, "halted");
    must(f, what, group_run(f->group, leader, &e, &f->d));
    say_event(f, what, &e);
    check_status(f, "running");
    must(f, what, group_halt(f->group, leader, &e, &f->d));
    say_event(f, what, &e);
}

/* Both cores are halted. */
static void check_step_and_registers(struct findings *f)
{
    for (size_t i = 0; i < 2; i++) {
        struct core_status s;
        uint32_t pc = 0, after = 0, old = 0, v = 0;
        struct core *c = f->core[i];
        must(f, "pc", core_read_register(c, CORE_REGISTER_PC, &pc, &f->d));
        must(f, "step", core_step(c, &f->d));
        must(f, "step", core_wait_halted(c, CORE_WAIT_NS, &f->d));
        must(f, "status", core_read_status(c, true, &s, &f->d));
        must(f, "pc", core_read_register(c, CORE_REGISTER_PC, &after, &f->d));
        say(f, "step: %s %s, pc moved %d\n", core_state_name(s.state), halt_reason_name(s.reason),
            after != pc);
        for (unsigned n = 0; n < 13; n++) {
            must(f, "register", core_read_register(c, n, &old, &f->d));
            must(f, "register", core_write_register(c, n, 0xA5000000u + n, &f->d));
            must(f, "register", core_read_register(c, n, &v, &f->d));
            must(f, "register", core_write_register(c, n, old, &f->d));
            say(f, " r%u %" PRIx32, n, v);
        }
        say(f, "\n");
    }
}

static void check_memory(struct findings *f)
{
    static uint32_t out[WORDS], in[WORDS];
    uint8_t bytes[37], back[37];
    struct link *link = f->place.link;
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = i * 0x9E3779B9u;
    for (size_t core = 0; core < 2; core++) {
        uint32_t ap = core_ap(f->core[core]), other = core_ap(f->core[1 - core]);
        uint8_t b = 0;
        uint16_t h = 0xBEEF, hb = 0;
        uint32_t w = 0;
        struct link_access blocks[] = {
            {.op = LINK_MEM_WRITE, .size = 4, .ap = ap, .address = SRAM + 8, .count = WORDS, .data = out},
            {.op = LINK_MEM_READ, .size = 4, .ap = other, .address = SRAM + 8, .count = WORDS, .data = in}};
        memset(in, 0, sizeof(in));
        must(f, "blocks", link_execute(link, blocks, 2, &f->d));
        assert_memory_equal(in, out, sizeof(out));
        say(f, "blocks of AP %" PRIu32 ": %d %" PRIu32 " %d %" PRIu32 "\n", ap, (int)blocks[0].status,
            blocks[0].done, (int)blocks[1].status, blocks[1].done);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(i * 7 + ap);
        must(f, "bytes", link_write_bytes(link, ap, SRAM + 0x1003, bytes, sizeof(bytes), &f->d));
        must(f, "bytes", link_read_bytes(link, ap, SRAM + 0x1003, back, sizeof(back), &f->d));
        assert_memory_equal(back, bytes, sizeof(bytes));
        must(f, "word", link_write32(link, ap, SRAM, 0x11223344, &f->d));
        must(f, "byte", link_write8(link, ap, SRAM + 1, 0xAA, &f->d));
        must(f, "byte", link_read8(link, ap, SRAM + 3, &b, &f->d));
        struct link_access half[] = {
            {.op = LINK_MEM_WRITE, .size = 2, .ap = ap, .address = SRAM + 6, .count = 1, .data = &h},
            {.op = LINK_MEM_READ, .size = 2, .ap = ap, .address = SRAM + 2, .count = 1, .data = &hb}};
        must(f, "halfwords", link_execute(link, half, 2, &f->d));
        must(f, "word", link_read32(link, ap, SRAM, &w, &f->d));
        say(f, "single: %x %x %" PRIx32 "\n", b, hb, w);
    }
}

/* B21 and its like: an error is that access' error, nothing of it is taken for data, and the next works. */
static void check_faults(struct findings *f)
{
    struct link *link = f->place.link;
    for (size_t core = 0; core < 2; core++) {
        uint32_t ap = core_ap(f->core[core]);
        uint32_t v = 0x5555AAAA, w = 0, good = 1;
        enum corral_err read = link_read32(link, ap, NOWHERE, &v, &f->d);
        bool named = strstr(f->d.message, "0x70000000") != NULL;
        enum corral_err write = link_write32(link, ap, NOWHERE, 1, &f->d);
        uint32_t block[64], later = 7;
        struct link_access a[] = {
            {.op = LINK_MEM_WRITE, .size = 4, .ap = ap, .address = SRAM, .count = 1, .data = &good},
            {.op = LINK_MEM_READ, .size = 4, .ap = ap, .address = NOWHERE, .count = 64, .data = block},
            {.op = LINK_MEM_WRITE, .size = 4, .ap = ap, .address = SRAM, .count = 1, .data = &later}};
        enum corral_err batch = link_execute(link, a, 3, &f->d);
        must(f, "after a fault", link_read32(link, ap, SRAM, &w, &f->d));
        say(f,
            "faults of AP %" PRIu32 ": %s %d %" PRIx32 " %s %s %s %s %s done %" PRIu32 " then %" PRIx32 "\n",
            ap, corral_err_name(read), named, v, corral_err_name(write), corral_err_name(batch),
            corral_err_name(a[0].status), corral_err_name(a[1].status), corral_err_name(a[2].status),
            a[1].done, w);
    }
    uint32_t v;
    enum corral_err err = link_read32(link, 7, SRAM, &v, &f->d);
    say(f, "no AP: %s\n", corral_err_name(err));
    must(f, "after an AP that is not there", link_read32(link, f->place.ap, SRAM, &v, &f->d));
}

/* Core 0 runs into a breakpoint at its SysTick handler; with sync the other core stops with it. */
static void check_breakpoint(struct findings *f, bool sync)
{
    struct event e;
    uint32_t handler = 0;
    must(f, "vector", link_read32(f->place.link, f->place.ap, VECTORS + 4 * SYSTICK, &handler, &f->d));
    handler &= ~1u;
    must(f, "breakpoint", core_set_breakpoint(f->core[0], handler, &f->d));
    must(f, "run", group_run(f->group, 1, &e, &f->d));
    struct core_status s = {.state = CORE_RUNNING};
    for (unsigned i = 0; i < 500 && s.state == CORE_RUNNING; i++) {
        assert_true(place_let_pass(&f->place, 2));
        must(f, "status", core_peek_status(f->core[0], &s, &f->d));
    }
    say(f, "breakpoint: %s %s, at it %d\n", core_state_name(s.state), halt_reason_name(s.reason),
        s.pc == handler);
    must(f, "halt", group_halt(f->group, 1, &e, &f->d));
    say_event(f, sync ? "breakpoint, all" : "breakpoint, then the rest", &e);
    must(f, "breakpoint", core_clear_breakpoint(f->core[0], handler, &f->d));
}

struct heard {
    unsigned records, torn;
};

static enum corral_err hear(void *ctx, const struct event *event, struct diag *d)
{
    struct heard *h = ctx;
    (void)d;
    if (event->kind == EVENT_LOG) {
        h->records++;
        h->torn += event->log.torn;
    }
    return CORRAL_OK;
}

static void check_log(struct findings *f)
{
    static const struct sink_ops ops = {.name = "hear", .write = hear};
    struct heard heard = {0};
    struct event_bus *bus = event_bus_new();
    assert_int_equal(event_bus_attach(bus, sink_new(&ops, &heard, 4096), &f->d), CORRAL_OK);
    struct tlog_consumer_options o = {.stream = "log",
                                      .core = "core1",
                                      .ap = core_ap(f->core[1]),
                                      .address = LOG_BUFFER1,
                                      .capacity = LOG_SIZE};
    struct tlog_consumer *c = tlog_consumer_new(&o, bus, &f->d);
    struct tlog_consumer_stats stats = {0};
    struct event e;
    assert_non_null(c);
    must(f, "run", group_run(f->group, 0, &e, &f->d));
    for (unsigned i = 0; i < 500 && stats.records < 3; i++) {
        assert_true(place_let_pass(&f->place, 4));
        must(f, "log", tlog_consumer_poll(c, f->place.link, NULL, &f->d));
        tlog_consumer_get_stats(c, &stats);
    }
    event_bus_drain(bus, &f->d);
    say(f, "log: records %d told %d torn %u anomalies %" PRIu64 "\n", stats.records >= 3,
        heard.records == stats.records, heard.torn, stats.anomalies);
    tlog_consumer_free(c);
    event_bus_free(bus, &f->d);
}

static void check_sync(struct findings *f)
{
    must(f, "sync", group_enable_sync(f->group, &f->d));
    check_halt_and_run(f, 0, "led by core0");
    check_halt_and_run(f, 1, "led by core1");
    check_breakpoint(f, true);
    must(f, "sync off", group_disable_sync(f->group, &f->d));
}

/* The bank of DP registers by hand, over memory accesses in between. */
static void check_banks(struct findings *f)
{
    struct link *link = f->place.link;
    uint32_t v[4] = {0}, w = 0;
    must(f, "SELECT", link_write_dp(link, 0x8, 2, &f->d));
    must(f, "TARGETID", link_read_dp(link, 0x4, &v[0], &f->d));
    must(f, "word", link_read32(link, f->place.ap, SRAM, &w, &f->d));
    must(f, "TARGETID", link_read_dp(link, 0x4, &v[1], &f->d));
    must(f, "SELECT", link_write_dp(link, 0x8, 0, &f->d));
    must(f, "CTRL/STAT", link_read_dp(link, 0x4, &v[2], &f->d));
    must(f, "ABORT", link_write_dp(link, 0x0, 0x1E, &f->d));
    must(f, "word", link_read32(link, f->place.ap, SRAM, &w, &f->d));
    must(f, "CTRL/STAT", link_read_dp(link, 0x4, &v[3], &f->d));
    say(f, "DP by hand: %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 "\n", v[0], v[1], v[2] & 0xF0000032,
        v[3] & 0xF0000032);
}

static enum corral_err raw(struct findings *f, struct link_raw r)
{
    return link_raw(f->place.link, &r, &f->d);
}

/* The probe's wires by hand: nRESET and ABORT on every link, sequences where they are its own. */
static void check_wires(struct findings *f)
{
    struct link *link = f->place.link;
    uint32_t dhcsr[3] = {0}, w = 0;
    must(f, "DHCSR", link_read32(link, f->place.ap, 0xE000EDF0, &dhcsr[0], &f->d));
    must(f, "DHCSR", link_read32(link, f->place.ap, 0xE000EDF0, &dhcsr[0], &f->d));
    must(f, "nRESET low", raw(f, (struct link_raw){.op = LINK_RAW_PINS, .select = 0x80, .wait_us = 100}));
    must(f, "nRESET high",
         raw(f, (struct link_raw){.op = LINK_RAW_PINS, .select = 0x80, .out = 0x80, .wait_us = 100}));
    must(f, "DHCSR", link_read32(link, f->place.ap, 0xE000EDF0, &dhcsr[1], &f->d));
    must(f, "DHCSR", link_read32(link, f->place.ap, 0xE000EDF0, &dhcsr[2], &f->d));
    must(f, "ABORT", raw(f, (struct link_raw){.op = LINK_RAW_ABORT, .out = 0x1E}));
    must(f, "word", link_read32(link, f->place.ap, SRAM, &w, &f->d));
    say(f, "reset seen: %d %d %d\n", dhcsr[0] >> 25 & 1, dhcsr[1] >> 25 & 1, dhcsr[2] >> 25 & 1);
    bool ours = f->place.kind != PLACE_OPENOCD && f->place.kind != PLACE_OPENOCD_SPAWN;
    assert_int_equal((link_caps(link) & LINK_CAP_RAW) != 0, ours);
    if (!ours) { /* who is in between has them */
        assert_int_equal(raw(f, (struct link_raw){.op = LINK_RAW_SWJ, .bits = 8}), CORRAL_ERR_UNSUPPORTED);
        assert_int_equal(raw(f, (struct link_raw){.op = LINK_RAW_PINS, .select = 1}), CORRAL_ERR_UNSUPPORTED);
        assert_non_null(strstr(f->d.message, "nRESET only"));
        return;
    }
    must(f, "clock", raw(f, (struct link_raw){.op = LINK_RAW_CLOCK, .out = 4000000}));
    must(f, "line reset",
         raw(f, (struct link_raw){.op = LINK_RAW_SWJ, .bits = 51, .out = UINT64_C(0x7FFFFFFFFFFFF)}));
    must(f, "idle", raw(f, (struct link_raw){.op = LINK_RAW_SWJ, .bits = 3}));
    must(f, "DPIDR", link_read_dp(link, 0, &w, &f->d));
    must(f, "word", link_write32(link, f->place.ap, SRAM, 0x600D, &f->d));
    must(f, "sequence", raw(f, (struct link_raw){.op = LINK_RAW_SWJ, .bits = 13, .out = 0xB0F}));
    must(f, "word", link_read32(link, f->place.ap, SRAM, &w, &f->d));
    assert_int_equal(w, 0x600D);
}

static void run_all(enum place_kind kind, const char *board)
{
    struct findings f = {.d = DIAG_INIT};
    if (!place_open(&f.place, kind, corral, openocd, board, &f.d)) {
        place_close(&f.place);
        fail_msg("%s", f.d.message);
    }
    check_scan(&f);
    check_status(&f, "found");
    check_halt_and_run(&f, 0, "core by core");
    check_step_and_registers(&f);
    check_memory(&f);
    check_faults(&f);
    check_breakpoint(&f, false);
    check_sync(&f);
    check_log(&f);
    check_banks(&f);
    check_wires(&f);
    group_free(f.group);
    for (size_t i = 0; i < 2; i++)
        core_close(f.core[i]);
    place_close(&f.place);
    if (getenv("LINKS_VERBOSE"))
        printf("# %s\n", f.text);
    if (kind == PLACE_SIM)
        strcpy(expected, f.text);
    else
        assert_string_equal(f.text, expected);
}

static void without_openocd(void)
{
    if (openocd)
        return;
    if (getenv("CI"))
        fail_msg("openocd is not installed");
    skip();
}

static void test_sim(void **state)
{
    (void)state;
    run_all(PLACE_SIM, NULL);
    /* what the others are compared with is itself as it must be */
    static const char *const words[] = {
        "found: halt, by mechanism 0; core0 running -; core1 running -\n",
        "core0 halted request first; core1 halted request\n",
        "core0 halted request first; core1 halted cross-trigger\n",
        "core0 halted cross-trigger; core1 halted request first\n",
        "core0 halted breakpoint first; core1 halted cross-trigger\n",
        "core0 running - restarted; core1 running - restarted\n",
        "step: halted step, pc moved 1\n r0 a5000000 r1 a5000001",
        "single: 11 1122 1122aa44\n",
        "link-fault 1 5555aaaa link-fault link-fault ok link-fault interrupted done 0 then 1\n",
        "no AP: no-ap\n",
        "breakpoint: halted breakpoint, at it 1\n",
        "log: records 1 told 1 torn 0 anomalies 0\n",
        "DP by hand: 1 1 f0000000 f0000000\n",
        "reset seen: 0 1 0\n"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strstr(expected, words[i]))
            fail_msg("not found: %s in %s", words[i], expected);
}

static void test_jtag(void **state)
{
    (void)state;
    run_all(PLACE_JTAG, NULL);
}

static void test_cmsis_dap_tcp(void **state)
{
    (void)state;
    run_all(PLACE_CMSIS_DAP, NULL);
}

static void test_openocd(void **state)
{
    (void)state;
    without_openocd();
    run_all(PLACE_OPENOCD, NULL);
}

static void test_openocd_spawn(void **state)
{
    (void)state;
    without_openocd();
    run_all(PLACE_OPENOCD_SPAWN, NULL);
}

/* A port of version 3: APs by their addresses, other acknowledges on JTAG. OpenOCD 0.12 knows none. */
static void test_adiv6(void **state)
{
    (void)state;
    run_all(PLACE_SIM, "--adiv6");
    if (!strstr(expected, "AP 8192 34770008 e00ff003") || !strstr(expected, "core1 AP 16384"))
        fail_msg("not an ADIv6 board: %s", expected);
    run_all(PLACE_JTAG, "--adiv6");
    run_all(PLACE_CMSIS_DAP, "--adiv6");
}

/* HALTED as a level, unlike cores and clocks. */
static void test_a_mixed_board(void **state)
{
    static const char switches[] = "--identity m33,m0plus --level-halted --core-hz 150000000,48000000";
    (void)state;
    run_all(PLACE_SIM, switches);
    run_all(PLACE_JTAG, switches);
    run_all(PLACE_CMSIS_DAP, switches);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sim),           cmocka_unit_test(test_jtag),
        cmocka_unit_test(test_cmsis_dap_tcp), cmocka_unit_test(test_openocd),
        cmocka_unit_test(test_openocd_spawn), cmocka_unit_test(test_adiv6),
        cmocka_unit_test(test_a_mixed_board),
    };
    corral = argc > 1 ? argv[1] : "corral";
    openocd = argc > 2 ? argv[2] : NULL;
    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
