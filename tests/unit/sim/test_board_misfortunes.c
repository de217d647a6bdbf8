/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random misfortunes between random accesses, on boards with random switches: the board survives them, its
 * time goes on, its log stays in order, and the same once more gives the same.
 */
#include "board_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/board_control.h"
#include "sim/board_options.h"

static uint32_t next(uint32_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random;
}

static const char *const switches[] = {"--level-halted",
                                       "--level-halted --ctm-latency 0",
                                       "--separate-ctm",
                                       "--no-cti core1",
                                       "--cti-base 0xE0043000 --level-halted",
                                       "--held-in-reset core1",
                                       "--unpowered core0 --level-halted",
                                       "--sleep-stops-clock both",
                                       "--no-debug core0",
                                       "--adiv6 --core-hz 10000000,6400000",
                                       "--identity m33,m0plus --level-halted --core-hz 10000000,6400000"};

#define SWITCHES (sizeof(switches) / sizeof(switches[0]))

static void misfortune(struct board_control *c, uint32_t r)
{
    static const char *const commands[] = {
        "reset core# on", "reset core# off", "reset core# pulse",     "power core# off",
        "power core# on", "power core# on",  "cti-lose core#",        "apfault # 0xE0042000 0xFFFFFF00",
        "apfault off",    "fault wait #",    "fault fault # after 3", "log",
        "vanish"};
    char line[64];
    unsigned n = r % (sizeof(commands) / sizeof(commands[0]) + 2);
    if (n >= sizeof(commands) / sizeof(commands[0])) {
        board_pin_reset(c->board, n & 1u);
        return;
    }
    /* The number is behind the words it belongs to. */
    size_t before = strcspn(commands[n], "#");
    snprintf(line, sizeof(line), "%.*s", (int)before, commands[n]);
    if (commands[n][before])
        snprintf(line + before, sizeof(line) - before, "%u%s", r >> 8 & 1u, commands[n] + before + 1);
    const char *answer = board_control_line(c, line);
    assert_true(strchr(answer, '\n') && (strstr(answer, "ok") || strstr(answer, "error: apfault")));
}

static void better_times(struct board *b)
{
    for (unsigned n = 0; n < BOARD_CORES; n++) {
        board_hold_reset(b, n, false);
        board_set_power(b, n, true);
    }
    board_pin_reset(b, false);
    board_ap_mend(b);
}

static void transfer(struct board *b, bool ap, bool read, uint8_t addr, uint32_t value, uint64_t *sum)
{
    unsigned ack = board_dap_transfer(b, ap, read, addr, &value);
    assert_true(ack == 1 || ack == 2 || ack == 4);
    *sum = *sum * 31 + ack + (ack == 1 && read ? value : 0);
}

static uint64_t live_through(const char *words, uint32_t seed)
{
    static const uint32_t places[] = {DHCSR,
                                      DHCSR,
                                      DEMCR,
                                      DFSR,
                                      BOARD_SYSINFO_BASE + BOARD_SYSINFO_RESET_HOLD,
                                      BOARD_TIMER_BASE,
                                      BOARD_SCS_BASE + 0x100,
                                      CELL};
    struct board_options o = {0};
    struct board_control *c = calloc(1, sizeof(*c));
    struct diag d = DIAG_INIT;
    uint32_t random = seed;
    uint64_t sum = 0;
    assert_non_null(c);
    assert_int_equal(board_options_parse(&o, words, &d), CORRAL_OK);
    struct board *b = board_counting(&o.config, NULL);
    c->board = b;
    for (unsigned round = 0; round < 1500; round++) {
        uint32_t r = next(&random), where = next(&random), value = next(&random);
        uint32_t cti = board_get_config(b)->cti_base[r & 1u];
        uint32_t address = where % 2 ? cti + (where >> 8 & 0x1FCu) : places[where >> 8 & 7u];
        uint64_t before = board_tick(b);
        if (address == DHCSR)
            value = 0xA05F0000u | (value % 16 ? 1u : 0u) | (value >> 8 & 0xFu);
        else if (value % 4)
            value &= 3u; /* the channels that are in use */
        if (r % 16 == 0)
            misfortune(c, r >> 4);
        if (round % 64 == 63)
            better_times(b);
        if (r % 64 == 1)
            board_dap_idle(b, r >> 20);
        transfer(b, false, false, 0x0, 0x1E, &sum);
        transfer(b, false, false, 0x4, 0x50000000u | (r >> 6 & 1u), &sum);
        uint32_t ap = o.config.adiv6 ? BOARD_AP6_BASE(r & 1u) + 0xD00u : (r & 1u) << 24;
        transfer(b, false, false, 0x8, ap, &sum);
        transfer(b, true, false, 0x0, 0x23000002, &sum);
        if (round < 4 || r % 32 == 2) { /* the lock, so that most writes take */
            transfer(b, true, false, 0x4, cti + 0xFB0, &sum);
            transfer(b, true, false, 0xC, CTI_KEY, &sum);
        }
        transfer(b, true, false, 0x4, address, &sum);
        transfer(b, true, (r & 2u) != 0, 0xC, value, &sum);
        transfer(b, false, true, 0xC, 0, &sum);
        assert_true(board_tick(b) > before);
    }
    const struct board_record *records = NULL;
    size_t count = board_log(b, &records);
    bool halted[BOARD_CORES] = {false, false};
    assert_true(count > 10);
    for (size_t n = 0; n < count; n++) {
        sum = sum * 31 + records[n].pc + records[n].tick + records[n].dfsr;
        assert_true(n == 0 || records[n].tick >= records[n - 1].tick);
        assert_true(halted[records[n].core] !=
                    records[n].halted); /* each halt has its end, each end its halt */
        halted[records[n].core] = records[n].halted;
    }
    sum = sum * 31 + board_tick(b) + count;
    board_free(b);
    free(c);
    return sum;
}

static void survived_and_repeatable(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SWITCHES; i++)
        for (uint32_t seed = 1; seed <= 2; seed++)
            assert_true(live_through(switches[i], seed + 10 * i) == live_through(switches[i], seed + 10 * i));
}

/* HALTED as a level, mapped to a restart: the core would go in and out of debug state for ever at one tick.
 */
static void a_level_that_restarts_its_core(void **state)
{
    (void)state;
    static const char *const words[] = {"--level-halted", "--level-halted --ctm-latency 0"};
    for (unsigned i = 0; i < 2; i++) {
        struct board_options o = {0};
        struct diag d = DIAG_INIT;
        assert_int_equal(board_options_parse(&o, words[i], &d), CORRAL_OK);
        struct board *b = board_counting(&o.config, NULL);
        for (unsigned ap = 0; ap < BOARD_CORES; ap++) {
            mem_write(b, ap, DHCSR, KEY_RUN);
            mem_write(b, ap, CTI_LAR, CTI_KEY);
            mem_write(b, ap, CTI_INEN(0), 1);
            mem_write(b, ap, CTI_OUTEN(0), 1);
            mem_write(b, ap, CTI_OUTEN(7), 1);
            mem_write(b, ap, CTI_CONTROL, 1);
        }
        uint64_t before = board_tick(b);
        mem_write(b, 0, DHCSR, KEY_HALT);
        assert_true(board_tick(b) > before);
        mem_write(b, 0, CTI_CONTROL, 0); /* it can be ended */
        mem_write(b, 1, CTI_CONTROL, 0);
        mem_write(b, 0, CTI_INTACK, 1);
        mem_write(b, 1, CTI_INTACK, 1);
        mem_write(b, 0, DHCSR, KEY_HALT);
        assert_true(is_halted(b, 0));
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survived_and_repeatable),
        cmocka_unit_test(a_level_that_restarts_its_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
