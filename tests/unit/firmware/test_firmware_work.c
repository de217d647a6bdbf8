/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of the board's programs, compiled for the host: known answers and properties.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/work.h"

static void checksums_have_their_published_check_values(void **state)
{
    (void)state;
    static const uint8_t digits[] = "123456789";
    uint32_t table[256];
    crc32_table(table);
    assert_int_equal(crc32_update(table, 0, digits, 9), 0xCBF43926);
    assert_int_equal(crc16_update(0, digits, 9), 0x31C3);
    assert_int_equal(crc16_update(0xFFFF, digits, 9), 0x29B1);
    /* In pieces is the same as at once. */
    uint32_t crc = crc32_update(table, 0, digits, 4);
    assert_int_equal(crc32_update(table, crc, digits + 4, 5), 0xCBF43926);
}

static void sorts_sort(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (uint32_t n = 0; n < 130; n++) {
        int32_t shell[130], heap[130];
        int64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            shell[i] = heap[i] = (int32_t)(noise_next(&random) >> (n % 3 ? 28 : 1)) - 5;
            sum += shell[i];
        }
        sort_shell(shell, n);
        uint32_t step = 0, steps = 0;
        while (!sort_heap_step(heap, n, &step)) {
            steps++;
            assert_true(steps <= 2 * n + 2);
        }
        for (uint32_t i = 0; i < n; i++) {
            assert_true(i == 0 || shell[i - 1] <= shell[i]);
            assert_int_equal(shell[i], heap[i]);
            sum -= shell[i];
        }
        assert_true(sum == 0);
    }
}

static void commands_are_parsed(void **state)
{
    (void)state;
    struct command c = parse_command("sum 12 -7 30100 44 -1024 6");
    assert_int_equal(c.kind, COMMAND_SUM);
    assert_int_equal(c.value, 12 - 7 + 30100 + 44 - 1024 + 6);
    c = parse_command("set gain 17\nget x");
    assert_int_equal(c.kind, COMMAND_SET);
    assert_int_equal(c.value, 17);
    uint32_t name = c.name;
    c = parse_command("get gain");
    assert_int_equal(c.kind, COMMAND_GET);
    assert_int_equal(c.name, name);
    static const char *const bad[] = {"",        "\n",      "get",       "get ",     "get a b", "set",
                                      "set a",   "set a b", "set a 1 2", "set a 1x", "sum",     "sum ",
                                      "sum 1 x", "sum -",   "other 1",   "s",        "g"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse_command(bad[i]).kind, COMMAND_BAD);
}

static void the_fir_filter_passes_constants_and_stops_alternation(void **state)
{
    (void)state;
    int16_t in[WORK_TAPS - 1 + 16], out[16];
    int32_t sum = 0;
    for (uint32_t i = 0; i < WORK_TAPS; i++) {
        sum += work_low_pass[i];
        assert_int_equal(work_low_pass[i], work_low_pass[WORK_TAPS - 1 - i]);
    }
    assert_in_range(sum, 30000, 34000);
    for (uint32_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        in[i] = 1000;
    fir_filter(work_low_pass, in, out, 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(out[i], sum * 1000 >> 15);
    for (uint32_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        in[i] = i % 2 ? 16000 : -16000;
    fir_filter(work_low_pass, in, out, 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_in_range(out[i] + 100, 0, 200);
    /* An impulse brings the taps out, last first. */
    memset(in, 0, sizeof(in));
    in[WORK_TAPS - 1] = 16384;
    fir_filter(work_low_pass, in, out, 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(out[i], work_low_pass[WORK_TAPS - 1 - i] >> 1);
    static const int16_t loud[WORK_TAPS] = {32767, 32767, 32767, 32767};
    for (uint32_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        in[i] = INT16_MIN / 2;
    fir_filter(loud, in, out, 16);
    assert_int_equal(out[0], INT16_MIN);
}

static void the_iir_filter_settles_on_a_constant(void **state)
{
    (void)state;
    struct biquad s[2] = {{72429549, 144859098, 72429549, 1227265917, -443242289, 0, 0, 0, 0}};
    s[1] = s[0];
    int32_t y = 0;
    for (unsigned i = 0; i < 500; i++)
        y = iir_filter(s, 2, 100000000);
    assert_in_range(y, 98000000, 102000000);
    struct biquad twice = {2147483647, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_int_equal(iir_filter(&twice, 1, INT32_MAX), INT32_MAX);
    assert_int_equal(iir_filter(&twice, 1, INT32_MIN), INT32_MIN);
}

static void the_energy_is_a_sum_of_squares(void **state)
{
    (void)state;
    static const int16_t in[4] = {3, -4, INT16_MIN, INT16_MIN};
    assert_true(signal_energy(in, 4) == 25 + 2 * 1073741824LL);
}

static void signals_stay_in_range(void **state)
{
    (void)state;
    uint32_t noise = 1, phase = 0;
    int16_t out[64];
    int32_t least = 0, most = 0;
    for (unsigned block = 0; block < 100; block++) {
        signal_block(&noise, &phase, 0x02345678, out, 64);
        for (unsigned i = 0; i < 64; i++) {
            least = out[i] < least ? out[i] : least;
            most = out[i] > most ? out[i] : most;
        }
    }
    assert_in_range(most, 8000, 16383);
    assert_in_range(-least, 8000, 16383);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_have_their_published_check_values),
        cmocka_unit_test(sorts_sort),
        cmocka_unit_test(commands_are_parsed),
        cmocka_unit_test(the_fir_filter_passes_constants_and_stops_alternation),
        cmocka_unit_test(the_iir_filter_settles_on_a_constant),
        cmocka_unit_test(the_energy_is_a_sum_of_squares),
        cmocka_unit_test(signals_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
