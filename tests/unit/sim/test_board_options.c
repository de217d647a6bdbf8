/* SPDX-License-Identifier: Apache-2.0 */
/* The words for the board's switches: what each means, and a sentence for every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sim/board_options.h"

static struct board_options parsed(const char *words)
{
    struct board_options o = {0};
    struct diag d = DIAG_INIT;
    assert_int_equal(board_options_parse(&o, words, &d), CORRAL_OK);
    assert_string_equal(d.message, "");
    return o;
}

static void test_nothing_is_the_default(void **state)
{
    (void)state;
    static const struct board_config none;
    const char *const words[] = {NULL, "", "  \t\n "};
    for (size_t i = 0; i < 3; i++) {
        struct board_options o = parsed(words[i]);
        assert_memory_equal(&o.config, &none, sizeof(none));
        assert_null(o.elf);
    }
}

static void test_every_switch(void **state)
{
    (void)state;
    struct board_options o =
        parsed("--identity m33,m0plus --adiv6 --separate-ctm --level-halted\n --no-cti=core1 "
               "--cti-base 0xE0043000,0xE0044000 --core-hz 100000000,64000000 --held-in-reset core1 "
               "--unpowered core0 --sleep-stops-clock both --no-debug core0 --ctm-latency 0 --seed 0x10 "
               "--elf a.elf,b.elf");
    const struct board_config *c = &o.config;
    assert_int_equal(c->identity[0], BOARD_M33);
    assert_int_equal(c->identity[1], BOARD_M0PLUS);
    assert_true(c->adiv6 && c->separate_ctm && c->level_halted);
    assert_true(!c->no_cti[0] && c->no_cti[1]);
    assert_int_equal(c->cti_base[0], 0xE0043000);
    assert_int_equal(c->cti_base[1], 0xE0044000);
    assert_int_equal(c->core_hz[0], 100000000);
    assert_int_equal(c->core_hz[1], 64000000);
    assert_true(!c->held_in_reset[0] && c->held_in_reset[1]);
    assert_true(c->unpowered[0] && !c->unpowered[1]);
    assert_true(c->sleep_stops_clock[0] && c->sleep_stops_clock[1]);
    assert_true(c->no_debug[0] && !c->no_debug[1]);
    assert_true(c->ctm_latency_set && c->ctm_latency == 0);
    assert_int_equal(c->seed, 16);
    assert_string_equal(o.elf, "a.elf,b.elf");
}

static void test_one_value_is_for_both_cores(void **state)
{
    (void)state;
    struct board_options o = parsed("--identity m4 --core-hz 64000000 --cti-base 0xE0043000");
    assert_true(o.config.identity[0] == BOARD_M4 && o.config.identity[1] == BOARD_M4);
    assert_true(o.config.core_hz[0] == 64000000 && o.config.core_hz[1] == 64000000);
    assert_true(o.config.cti_base[0] == 0xE0043000 && o.config.cti_base[1] == 0xE0043000);
}

static void test_a_switch_twice_adds_cores(void **state)
{
    (void)state;
    struct board_options o = parsed("--unpowered core1 --unpowered core0");
    assert_true(o.config.unpowered[0] && o.config.unpowered[1]);
}

static void test_the_names_are_the_table(void **state)
{
    (void)state;
    unsigned n = 0;
    bool value = false;
    for (const char *name; (name = board_options_name(n, &value)) != NULL; n++) {
        struct board_options o = {0};
        struct diag d = DIAG_INIT;
        assert_true(strlen(name) > 0 && name[0] != '-');
        /* A flag takes no value, and everything else wants one. */
        assert_int_equal(board_options_take(&o, name, value ? NULL : "1", &d), CORRAL_ERR_USAGE);
        assert_non_null(strstr(d.message, name));
    }
    assert_int_equal(n, 14);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"--identity m7,m99", "'m99'"},
        {"--identity m7,", "''"},
        {"--identity ,m7", "''"},
        {"--identity m7,m4,m4", "'m4,m4'"},
        {"--identity", "needs a value"},
        {"--identity=", "needs a value"},
        {"--adiv6=1", "takes no value"},
        {"--adiv5", "no switch '--adiv5'"},
        {"level-halted", "begin with --"},
        {"--", "no switch"},
        {"--no-cti core2", "core0, core1 or both"},
        {"--no-cti corex", "core0, core1 or both"},
        {"--no-cti 0", "core0, core1 or both"},
        {"--cti-base 0,1", "number"},
        {"--cti-base 0x1FFFFFFFF", "number"},
        {"--core-hz 0", "number"},
        {"--core-hz 100,x", "'x'"},
        {"--core-hz -1", "number"},
        {"--core-hz 111111111111111111111111111", "number"},
        {"--ctm-latency 1000001", "0 to 1000000"},
        {"--ctm-latency 1 2", "begin with --"},
        {"--seed 18446744073709551616", "number"},
        {"--seed ''", "number"},
        {"--unpowered \033[31m", "\\x1b"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct board_options o = {0};
        struct diag d = DIAG_INIT;
        assert_int_equal(board_options_parse(&o, cases[i][0], &d), CORRAL_ERR_USAGE);
        if (!strstr(d.message, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], d.message);
        assert_null(strchr(d.message, 27));
    }
}

static void test_too_many_words(void **state)
{
    (void)state;
    struct board_options o = {0};
    struct diag d = DIAG_INIT;
    char *words = malloc(BOARD_OPTIONS_TEXT + 1);
    assert_non_null(words);
    memset(words, ' ', BOARD_OPTIONS_TEXT);
    words[BOARD_OPTIONS_TEXT] = '\0';
    assert_int_equal(board_options_parse(&o, words, &d), CORRAL_ERR_USAGE);
    words[BOARD_OPTIONS_TEXT - 1] = '\0';
    assert_int_equal(board_options_parse(&o, words, &d), CORRAL_OK);
    free(words);
}

static void test_what_switches_make_together(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "--core-hz 99999989,99999971",     /* no common clock below 100 GHz */
        "--cti-base 0xE0042004",           /* no block of 4 KiB */
        "--cti-base 0x40042000",           /* neither bus of a core */
        "--cti-base 0xE0042000,0xE00FF000" /* the ROM table's place */
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct board_options o = parsed(refused[i]);
        struct diag d = DIAG_INIT;
        assert_null(board_new(&o.config, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
        assert_true(d.message[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_the_default),
        cmocka_unit_test(test_every_switch),
        cmocka_unit_test(test_one_value_is_for_both_cores),
        cmocka_unit_test(test_a_switch_twice_adds_cores),
        cmocka_unit_test(test_the_names_are_the_table),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_too_many_words),
        cmocka_unit_test(test_what_switches_make_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
