/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's wires by hand (link_raw) on each link that has them, as debug sequences use them (cross-trigger
 * sheet 4.7; case C40), and in the wire log.
 */
#include "tests/unit/link/raw_bench.h"

#include <stdlib.h>
#include <unistd.h>

#include "link/link_backend.h"
#include "link/replay.h"

static void test_what_each_link_can(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        assert_true(link_caps(b.link) & LINK_CAP_RAW);
        for (enum link_raw_op op = LINK_RAW_PINS; op <= LINK_RAW_ABORT; op++)
            assert_true(link_can_raw(b.link, op));
        assert_false(link_can_raw(b.link, (enum link_raw_op)(LINK_RAW_ABORT + 1)));
        close_bench(&b);
    }
    /* A probe that does SWD only. */
    struct bench b;
    open_with(&b, DAP_SWD, &(struct cmsis_dap_peer_options){.swd_only = true}, "cmsis-dap");
    assert_true(link_caps(b.link) & LINK_CAP_RAW);
    assert_false(link_can_raw(b.link, LINK_RAW_JTAG));
    struct link_raw raw = {.op = LINK_RAW_JTAG, .bits = 8};
    unsigned packets = b.dap.packets;
    assert_int_equal(link_raw(b.link, &raw, &b.d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(b.dap.packets, packets);
    close_bench(&b);
}

static enum corral_err no_accesses(void *ctx, struct link_access *a, size_t count, struct diag *d)
{
    (void)a;
    (void)count;
    ++*(unsigned *)ctx;
    return diag_set(d, CORRAL_ERR_FAILED, "nothing was to be sent");
}

static void test_a_link_without_wires_says_so(void **state)
{
    (void)state;
    static const struct link_backend none = {.caps = LINK_CAP_MEM | LINK_CAP_DAP, .execute = no_accesses};
    unsigned sent = 0;
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = link_new(&none, &sent, "plain", clock);
    assert_non_null(link);
    assert_false(link_caps(link) & LINK_CAP_RAW);
    for (enum link_raw_op op = LINK_RAW_PINS; op <= LINK_RAW_ABORT; op++) {
        struct diag d = DIAG_INIT;
        struct link_raw raw = {.op = op, .bits = 8, .out = 1, .in = 5};
        assert_false(link_can_raw(link, op));
        assert_int_equal(link_raw(link, &raw, &d), CORRAL_ERR_UNSUPPORTED);
        assert_non_null(strstr(d.message, "link 'plain' cannot "));
        assert_true(d.hint[0] != '\0');
        assert_int_equal(raw.in, 0);
    }
    assert_int_equal(sent, 0);
    link_close(link);
    host_clock_free(clock);
}

/* Numbers out of range are refused, and nothing is sent. */
static void test_c40_numbers_out_of_range(void **state)
{
    (void)state;
    static const struct link_raw bad[] = {
        {.op = LINK_RAW_SWJ, .bits = 0},
        {.op = LINK_RAW_SWJ, .bits = 65},
        {.op = LINK_RAW_JTAG, .bits = 0},
        {.op = LINK_RAW_JTAG, .bits = 65},
        {.op = LINK_RAW_JTAG, .bits = UINT32_MAX},
        {.op = LINK_RAW_PINS, .wait_us = 3000001},
        {.op = LINK_RAW_PINS, .select = 0x100},
        {.op = LINK_RAW_PINS, .out = UINT64_C(0x100000000)},
        {.op = LINK_RAW_CLOCK, .out = 0},
        {.op = LINK_RAW_CLOCK, .out = UINT64_C(0x100000000)},
        {.op = LINK_RAW_ABORT, .out = UINT64_C(0x100000000)},
        {.op = (enum link_raw_op)77},
    };
    struct bench b;
    open_bench(&b, DAP_JTAG);
    unsigned packets = b.dap.packets;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct link_raw raw = bad[i];
        b.d = (struct diag)DIAG_INIT;
        if (link_raw(b.link, &raw, &b.d) != CORRAL_ERR_USAGE || !b.d.message[0])
            fail_msg("%zu is taken", i);
    }
    assert_int_equal(b.dap.packets, packets);
    close_bench(&b);
}

static void test_what_the_probe_is_told(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, DAP_SWD);
    assert_int_equal(pins(&b, PIN_NRESET, PIN_NRESET | PIN_SWCLK, 3000000), PIN_NRESET | PIN_SWDIO);
    assert_int_equal(b.dap.pins[0], PIN_NRESET);
    assert_int_equal(b.dap.pins[1], PIN_NRESET | PIN_SWCLK);
    assert_int_equal(b.dap.pins_wait, 3000000);
    struct link_raw raw = {.op = LINK_RAW_CLOCK, .out = 123456};
    must(&b, link_raw(b.link, &raw, &b.d));
    assert_int_equal(b.dap.clock_hz, 123456);
    swj(&b, 64, UINT64_C(0x86852D956209F392));
    static const uint8_t alert[] = {0x92, 0xF3, 0x09, 0x62, 0x95, 0x2D, 0x85, 0x86};
    assert_int_equal(b.dap.swj_bits, 64);
    assert_memory_equal(b.dap.swj, alert, sizeof(alert));
    swj(&b, 12, 0x1A0);
    assert_int_equal(b.dap.swj_bits, 12);
    assert_int_equal(b.dap.swj[0], 0xA0);
    assert_int_equal(b.dap.swj[1], 0x01);
    check_memory(&b, 0x11);
    close_bench(&b);
}

/* What waits to be written goes first: the write has happened when the wires move. */
static void test_writes_come_before_it(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        check_memory(&b, 1);
        must(&b, link_write32(b.link, 0, SRAM, 2, &b.d));
        line_reset(&b);
        uint32_t v = 0;
        must(&b, link_read32(b.link, 0, SRAM, &v, &b.d));
        assert_int_equal(v, 2);
        close_bench(&b);
    }
}

/* nRESET holds both cores; it reads as it is. */
static void test_the_reset_pin_of_the_board(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, SIM);
    assert_int_equal(pins(&b, 0, 0, 0), 0xAF);
    assert_int_equal(pins(&b, 0, PIN_NRESET, 0), 0x2F);
    uint32_t dhcsr = 0;
    must(&b, link_read32(b.link, 0, 0xE000EDF0, &dhcsr, &b.d));
    assert_true(dhcsr & 1u << 25); /* S_RESET_ST */
    must(&b, link_read32(b.link, 0, 0xE000EDF0, &dhcsr, &b.d));
    assert_int_equal(pins(&b, 0, 0, 1000000), 0x2F); /* nothing selected: nothing to wait for */
    assert_int_equal(pins(&b, PIN_NRESET, PIN_NRESET, 1000000), 0xAF);
    /* SWDIO is never low: waited for in vain. */
    int64_t before = host_clock_now(b.clock);
    assert_int_equal(pins(&b, 0, PIN_SWDIO, 1000), 0xAF);
    assert_int_equal(host_clock_now(b.clock), before + 1000 * NS_PER_US);
    check_memory(&b, 3);
    close_bench(&b);

    /* Through a probe: the board's front pulls the same line. */
    open_with(&b, DAP_SWD, &(struct cmsis_dap_peer_options){.run = true}, "cmsis-dap");
    must(&b, link_read32(b.link, 0, 0xE000EDF0, &dhcsr, &b.d));
    must(&b, link_read32(b.link, 0, 0xE000EDF0, &dhcsr, &b.d));
    assert_false(dhcsr & 1u << 25);
    assert_int_equal(pins(&b, 0, PIN_NRESET, 100) & PIN_NRESET, 0);
    assert_int_equal(pins(&b, PIN_NRESET, PIN_NRESET, 100) & PIN_NRESET, PIN_NRESET);
    must(&b, link_read32(b.link, 0, 0xE000EDF0, &dhcsr, &b.d));
    assert_true(dhcsr & 1u << 25);
    close_bench(&b);
}

/* remote_bitbang has both reset lines, and cannot read one. */
static void test_c40_pins_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        unsigned out, select;
        char lines;
    } steps[] = {
        {0, PIN_NRESET, 's'},
        {0, PIN_NTRST, 'u'},
        {PIN_NRESET, PIN_NRESET, 't'},
        {0, PIN_SWDIO | PIN_SWCLK, 't'}, /* these are others */
        {PIN_NTRST, PIN_NTRST | PIN_NRESET, 's'},
        {PIN_NTRST | PIN_NRESET, PIN_NTRST | PIN_NRESET, 'r'},
    };
    struct bench b;
    open_bench(&b, JTAG);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        uint64_t in = pins(&b, steps[i].out, steps[i].select, 0);
        assert_true(in == UINT64_C(0xFFFFFFFF)); /* 32 bits, no sign */
        check_memory(&b, (uint32_t)i + 10);
        assert_int_equal(jtag_peer_lines(b.jtag), steps[i].lines);
    }
    int64_t before = host_clock_now(b.clock);
    pins(&b, PIN_NRESET, PIN_NRESET, 2000);
    assert_true(host_clock_now(b.clock) >= before + 2000 * NS_PER_US); /* as it cannot be seen */
    /* The reset line of link_drive_reset leaves the other as it is. */
    pins(&b, 0, PIN_NTRST, 0);
    must(&b, link_drive_reset(b.link, true, &b.d));
    check_memory(&b, 5);
    assert_int_equal(jtag_peer_lines(b.jtag), 'u');
    close_bench(&b);
}

/* TCK by hand is a clock of the chain like any other. */
static void test_tck_by_hand(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, JTAG);
    check_memory(&b, 1);
    uint64_t before = link_wire_clocks(b.link);
    for (unsigned i = 0; i < 3; i++) { /* Select-DR, Select-IR, Test-Logic-Reset */
        pins(&b, PIN_SWDIO, PIN_SWDIO | PIN_SWCLK, 0);
        pins(&b, PIN_SWDIO | PIN_SWCLK, PIN_SWDIO | PIN_SWCLK, 0);
    }
    assert_int_equal(link_wire_clocks(b.link), before + 3);
    check_memory(&b, 2);
    uint64_t counted = link_wire_clocks(b.link);
    link_close(b.link);
    host_clock_free(b.clock);
    assert_int_equal(jtag_peer_stop(b.jtag), counted);
}

/* Behind a line reset DPIDR is read first, by hand or else by the link. */
static void test_the_port_is_there_after_sequences(void **state)
{
    (void)state;
    for (enum kind k = SIM; k < KINDS; k++) {
        struct bench b;
        open_bench(&b, k);
        check_memory(&b, 1);
        uint32_t dpidr = read_dp(&b, 0);
        swj(&b, 16, 0xE79E);
        line_reset(&b);
        check_memory(&b, 2); /* without a read of DPIDR */
        line_reset(&b);
        assert_int_equal(read_dp(&b, 0), dpidr);
        check_memory(&b, 3);
        line_reset(&b);
        write_dp(&b, 0x8, 0); /* by hand, and too early */
        assert_int_equal(read_dp(&b, 0x4) & 0xF0000000, 0xF0000000);
        swj(&b, 5, 0x0B); /* JTAG: into Shift-IR, and left there */
        uint32_t v = 0;
        must(&b, link_read_ap(b.link, 0, 0xFC, &v, &b.d));
        assert_int_not_equal(v, 0);
        if (k != DAP_SWD) /* where the probe's TDI goes nowhere */
            jtag(&b, 7, 0, 0x55);
        check_memory(&b, 4);
        pins(&b, PIN_SWDIO, PIN_SWDIO | PIN_SWCLK, 0);
        check_memory(&b, 5);
        close_bench(&b);
    }
}

/* SWD: what is read by hand is the first thing on the wire, with nothing of the link's ahead of it. */
static void test_what_is_read_first_is_read_first(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, DAP_SWD);
    check_memory(&b, 1);
    line_reset(&b);
    unsigned packets = b.dap.packets, resets = b.dap.line_resets;
    read_dp(&b, 0);
    assert_int_equal(b.dap.packets, packets + 1);
    check_memory(&b, 2);
    line_reset(&b);
    check_memory(&b, 3);
    assert_int_equal(b.dap.line_resets, resets + 1); /* none but that by hand: the port was well */
    close_bench(&b);
}

/* An IDCODE read with nothing but JTAG sequences. */
static void test_jtag_sequences_bring_tdo(void **state)
{
    (void)state;
    static const enum kind kinds[] = {JTAG, DAP_JTAG};
    for (size_t i = 0; i < 2; i++) {
        struct bench b;
        open_bench(&b, kinds[i]);
        check_memory(&b, 1);
        jtag(&b, 5, 1, 0);                   /* Test-Logic-Reset */
        jtag(&b, 1, 0, 0);                   /* Run-Test/Idle */
        jtag(&b, 1, 1, 0);                   /* Select-DR */
        jtag(&b, 2, 0, 0);                   /* Capture-DR, Shift-DR */
        uint64_t low = jtag(&b, 31, 0, 0x3); /* 31 bits of IDCODE; those come out behind it */
        uint64_t last = jtag(&b, 1, 1, 0);
        assert_int_equal(low | last << 31, kinds[i] == JTAG ? JTAG_PEER_IDCODE : PEER_IDCODE);
        check_memory(&b, 2);
        /* 64 bits: IDCODE, and behind it what was shifted in first. */
        swj(&b, 5, 0x1F);
        jtag(&b, 1, 0, 0);
        jtag(&b, 1, 1, 0);
        jtag(&b, 2, 0, 0);
        uint64_t all = jtag(&b, 64, 0, UINT64_C(0x123456789ABCDEF0));
        assert_true(all == (UINT64_C(0x9ABCDEF0) << 32 | JTAG_PEER_IDCODE));
        check_memory(&b, 3);
        close_bench(&b);
    }
}

/* Who moved the wires so that the debug port is gone hears it, and it can come back. */
static void test_a_port_that_was_led_away(void **state)
{
    (void)state;
    struct bench b;
    uint32_t v = 0;
    open_bench(&b, JTAG);
    swj(&b, 8, 0xFF);
    jtag_peer_change(b.jtag, &(struct jtag_peer_options){.misdeed = PEER_TDO_HIGH});
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &b.d), CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(b.d.message, "IDCODE 0xffffffff"));
    assert_int_equal(link_read32(b.link, 0, SRAM, &v, &b.d), CORRAL_ERR_LINK_DOWN);
    jtag_peer_change(b.jtag, &(struct jtag_peer_options){0});
    check_memory(&b, 7);
    close_bench(&b);
}

static void test_probes_that_misbehave(void **state)
{
    (void)state;
    static const struct {
        enum dap_misdeed misdeed;
        enum corral_err err;
    } cases[] = {
        {DAP_SHORT, CORRAL_ERR_LINK_PROTOCOL}, {DAP_EMPTY, CORRAL_ERR_LINK_PROTOCOL},
        {DAP_UNKNOWN, CORRAL_ERR_UNSUPPORTED}, {DAP_OTHER_ECHO, CORRAL_ERR_LINK_PROTOCOL},
        {DAP_SILENT, CORRAL_ERR_LINK_DOWN},    {DAP_GONE, CORRAL_ERR_LINK_DOWN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (enum link_raw_op op = LINK_RAW_PINS; op <= LINK_RAW_JTAG; op++) {
            struct bench b;
            open_bench(&b, DAP_JTAG);
            cmsis_dap_peer_change(&b.dap, &(struct cmsis_dap_peer_options){.misdeed = cases[i].misdeed});
            struct link_raw raw = {.op = op, .bits = 16, .out = 1};
            assert_int_equal(link_raw(b.link, &raw, &b.d), cases[i].err);
            assert_true(b.d.message[0] != '\0');
            raw = (struct link_raw){.op = LINK_RAW_ABORT, .out = 1};
            assert_int_equal(link_raw(b.link, &raw, &b.d), cases[i].err); /* it stays so */
            link_close(b.link);
            host_clock_free(b.clock);
            cmsis_dap_peer_stop(&b.dap);
        }
}

/* A time that has run out is refused, here as with accesses. */
static void test_a_deadline_that_has_passed(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, DRY);
    link_set_deadline(b.link, host_clock_now(b.clock));
    struct link_raw raw = {.op = LINK_RAW_PINS, .select = PIN_NRESET};
    assert_int_equal(link_raw(b.link, &raw, &b.d), CORRAL_ERR_TIMEOUT);
    link_set_deadline(b.link, LINK_NO_DEADLINE);
    assert_int_equal(pins(&b, 0, 0, 0), 0xAF); /* it was not done */
    close_bench(&b);
}

static void test_dry_pins_read_as_they_were_driven(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, DRY);
    int64_t before = host_clock_now(b.clock);
    assert_int_equal(pins(&b, 0, 0, 3000000), 0xAF);
    assert_int_equal(pins(&b, 0, PIN_NRESET, 3000000), 0x2F);
    assert_int_equal(pins(&b, PIN_SWDIO, PIN_SWDIO | PIN_SWCLK, 0), 0x2E);
    assert_int_equal(pins(&b, PIN_NRESET, PIN_NRESET, 0), 0xAE);
    assert_int_equal(jtag(&b, 64, 1, UINT64_MAX), 0);
    assert_true(host_clock_now(b.clock) > before); /* or a bounded wait would never end */
    assert_true(host_clock_now(b.clock) < before + 3000000 * NS_PER_US);
    close_bench(&b);
}

/* What is written down of it, and what a replay gives. */
static void test_the_wire_log_has_it(void **state)
{
    (void)state;
    char path[] = "link_raw_log_XXXXXX", spec[40], text[4096];
    struct bench b;
    FILE *f;
    assert_true(mkstemp(path) >= 0);
    snprintf(spec, sizeof(spec), "replay:%s", path);
    open_bench(&b, SIM);
    must(&b, link_start_wire_log(b.link, path, &b.d));
    for (unsigned turn = 0; turn < 2; turn++) {
        assert_true(link_caps(b.link) & LINK_CAP_RAW);
        assert_int_equal(pins(&b, 0, PIN_NRESET, 7), 0x2F);
        struct link_raw raw = {.op = LINK_RAW_CLOCK, .out = 1000000};
        must(&b, link_raw(b.link, &raw, &b.d));
        swj(&b, 64, UINT64_C(0x19BC0EA2E3DDAFE9));
        assert_true(jtag(&b, 64, 1, 0) == UINT64_MAX);
        abort_with(&b, 0x1E);
        check_memory(&b, 0xABCD);
        raw = (struct link_raw){.op = LINK_RAW_SWJ, .bits = 65};
        assert_int_equal(link_raw(b.link, &raw, &b.d), CORRAL_ERR_USAGE); /* no line of its own */
        link_set_deadline(b.link, host_clock_now(b.clock));
        raw = (struct link_raw){.op = LINK_RAW_ABORT, .out = 1};
        assert_int_equal(link_raw(b.link, &raw, &b.d), CORRAL_ERR_TIMEOUT);
        link_set_deadline(b.link, LINK_NO_DEADLINE);
        swj(&b, 8, 0xFF);
        link_close(b.link);
        host_clock_free(b.clock);
        if (turn)
            break;
        b.clock = host_clock_new_virtual();
        b.link = link_replay_open(spec, b.clock, &b.d);
        assert_non_null(b.link);
    }
    f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    fclose(f);
    unlink(path);
    assert_non_null(strstr(text, "+pins+clock+swj+jtag+abort virtual "));
    assert_non_null(strstr(text, " raw pins 0 0x80 7 0x0 ok 0x2f\n"));
    assert_non_null(strstr(text, " raw swj 64 0x0 0 0x19bc0ea2e3ddafe9 ok 0x0\n"));
    assert_non_null(strstr(text, " raw jtag 64 0x1 0 0x0 ok 0xffffffffffffffff\n"));
}

/* Accesses of 64 bits, as many as go on further lines. */
static void test_c42_the_wire_log_has_64_bits(void **state)
{
    (void)state;
    char path[] = "link_raw_log_XXXXXX", json[] = "link_raw_dry_XXXXXX", spec[40];
    static uint64_t out[300], in[300];
    struct diag d = DIAG_INIT;
    static const char part[] = "{\"aps\":[{\"ap\":0,\"cfg\":4}]}";
    int fd = mkstemp(json);
    assert_int_equal(write(fd, part, strlen(part)), (ssize_t)strlen(part));
    close(fd);
    assert_true(mkstemp(path) >= 0);
    for (uint64_t i = 0; i < 300; i++)
        out[i] = i * UINT64_C(0x0123456789ABCDEF);
    for (unsigned turn = 0; turn < 2; turn++) {
        snprintf(spec, sizeof(spec), turn ? "replay:%s" : "dry:@%s", turn ? path : json);
        struct host_clock *clock = host_clock_new_virtual();
        struct link *link = turn ? link_replay_open(spec, clock, &d) : link_dry_open(spec, clock, &d);
        assert_non_null(link);
        if (!turn)
            assert_int_equal(link_start_wire_log(link, path, &d), CORRAL_OK);
        struct link_access a[] = {
            {.op = LINK_MEM_WRITE, .size = 8, .address = 0x100, .count = 300, .data = out},
            {.op = LINK_MEM_READ, .size = 8, .address = 0x100, .count = 300, .data = in},
        };
        memset(in, 0, sizeof(in));
        if (link_execute(link, a, 2, &d) != CORRAL_OK)
            fail_msg("%s", d.message);
        assert_memory_equal(in, out, sizeof(in));
        link_close(link);
        host_clock_free(clock);
    }
    unlink(path);
    unlink(json);
}

#define HEADER "corral-wire-log 1 mem+dap+pins+swj virtual 1000 test\n"

static void test_replays_that_differ(void **state)
{
    (void)state;
    static const struct {
        const char *line, *word;
        enum corral_err err;
    } cases[] = {
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e ok 0x0\n", "", CORRAL_OK},
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e link-down 0x0\nfail link-down it is gone\n", "it is gone",
         CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 16 0x0 0 0xe73c ok 0x0\n", "is asked", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 17 0x0 0 0xe79e ok 0x0\n", "is asked", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw pins 0 0x0 0 0x0 ok 0x0\n", "is asked", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1\n", "is asked", CORRAL_ERR_LINK_DOWN},
        {"fail link-fault what\n", "is asked", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e ok\n", "not understood", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e ok 0x0 0x0\n", "not understood", CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e ok 0x10000000000000000\n", "not understood",
         CORRAL_ERR_LINK_DOWN},
        {"1000 +5 46 raw swj 16 0x0 0 0xe79e fine 0x0\n", "not understood", CORRAL_ERR_LINK_DOWN},
        {"", "ends here", CORRAL_ERR_LINK_DOWN},
        {"5000 late 1\n", "run out", CORRAL_ERR_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct diag d = DIAG_INIT;
        char text[400];
        snprintf(text, sizeof(text), "%s%s", HEADER, cases[i].line);
        struct host_clock *clock = host_clock_new_virtual();
        FILE *f = fmemopen(text, strlen(text), "r");
        struct link *link = link_replay_open_file(f, "x.log", clock, &d);
        assert_non_null(link);
        assert_true(link_can_raw(link, LINK_RAW_PINS) && !link_can_raw(link, LINK_RAW_ABORT));
        struct link_raw raw = {.op = LINK_RAW_SWJ, .bits = 16, .out = 0xE79E};
        if (link_raw(link, &raw, &d) != cases[i].err || !strstr(d.message, cases[i].word))
            fail_msg("%s: %s", cases[i].line, d.message);
        if (!cases[i].err)
            assert_int_equal(host_clock_now(clock), 1005);
        raw = (struct link_raw){.op = LINK_RAW_ABORT};
        assert_int_equal(link_raw(link, &raw, &d), CORRAL_ERR_UNSUPPORTED);
        link_close(link);
        host_clock_free(clock);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_each_link_can),
        cmocka_unit_test(test_a_link_without_wires_says_so),
        cmocka_unit_test(test_c40_numbers_out_of_range),
        cmocka_unit_test(test_what_the_probe_is_told),
        cmocka_unit_test(test_writes_come_before_it),
        cmocka_unit_test(test_the_reset_pin_of_the_board),
        cmocka_unit_test(test_c40_pins_that_cannot_be_read),
        cmocka_unit_test(test_tck_by_hand),
        cmocka_unit_test(test_the_port_is_there_after_sequences),
        cmocka_unit_test(test_what_is_read_first_is_read_first),
        cmocka_unit_test(test_jtag_sequences_bring_tdo),
        cmocka_unit_test(test_a_port_that_was_led_away),
        cmocka_unit_test(test_probes_that_misbehave),
        cmocka_unit_test(test_a_deadline_that_has_passed),
        cmocka_unit_test(test_dry_pins_read_as_they_were_driven),
        cmocka_unit_test(test_the_wire_log_has_it),
        cmocka_unit_test(test_replays_that_differ),
        cmocka_unit_test(test_c42_the_wire_log_has_64_bits),
    };
    return cmocka_run_group_tests_name("link-raw", tests, NULL, NULL);
}
