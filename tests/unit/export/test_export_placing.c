/* SPDX-License-Identifier: Apache-2.0 */
/* A core's own time placed on the host's timeline: least delay, halts, and what cannot be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/export_placing.h"

static struct export_placing *fresh(void)
{
    struct export_placing *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    return p;
}

static void test_nothing_known_stays_where_it_was_read(void **state)
{
    struct export_placing *p = fresh();
    (void)state;
    assert_int_equal(export_placing_host(p, 5, 1000), 1000);
    free(p);
}

static void test_least_delay_gives_the_offset(void **state)
{
    struct export_placing *p = fresh();
    (void)state;
    export_placing_line(p, 0, 150);
    export_placing_line(p, 100, 205);
    export_placing_line(p, 200, 390);
    assert_int_equal(export_placing_host(p, 0, 150), 105);
    assert_int_equal(export_placing_host(p, 200, 390), 305);
    free(p);
}

static void test_halts_are_added_and_never_beyond_the_reading(void **state)
{
    struct export_placing *p = fresh();
    (void)state;
    export_placing_line(p, 0, 10);
    export_placing_halt(p, 110);
    export_placing_halt(p, 115); /* said twice: one stop */
    export_placing_run(p, 210);
    export_placing_line(p, 150, 500); /* holds the stop: no say in the offset */
    export_placing_halt(p, 310);
    export_placing_run(p, 1310);
    assert_int_equal(export_placing_host(p, 50, 400), 60);     /* before the first */
    assert_int_equal(export_placing_host(p, 100, 400), 110);   /* the very moment */
    assert_int_equal(export_placing_host(p, 101, 400), 211);   /* after it went on */
    assert_int_equal(export_placing_host(p, 250, 2000), 1360); /* after both */
    assert_int_equal(export_placing_host(p, 250, 1355), 1355);
    free(p);
}

static void test_a_time_past_a_halt_that_lasts_is_put_at_the_halt(void **state)
{
    struct export_placing *p = fresh();
    (void)state;
    export_placing_line(p, 0, 10);
    export_placing_halt(p, 110);
    assert_int_equal(export_placing_host(p, 105, 400), 110);
    assert_int_equal(export_placing_host(p, 105, 90), 90);
    free(p);
}

static void test_more_halts_than_are_kept(void **state)
{
    struct export_placing *p = fresh();
    int64_t ns = 10;
    (void)state;
    export_placing_line(p, 0, 0);
    for (unsigned i = 0; i < EXPORT_PLACING_MAX_STOPS + 10; i++, ns += 10) {
        export_placing_halt(p, ns);
        export_placing_run(p, ns + 5);
    }
    assert_int_equal(export_placing_host(p, 8, 100), 8);
    assert_int_equal(export_placing_host(p, 1000000, 2000000), 2000000);
    free(p);
}

static void test_extreme_times_do_not_overflow(void **state)
{
    struct export_placing *p = fresh();
    (void)state;
    export_placing_line(p, INT64_MIN + 1, INT64_MAX);
    export_placing_line(p, INT64_MAX, 0);
    assert_true(export_placing_host(p, INT64_MAX, 7) <= 7);
    assert_true(export_placing_host(p, INT64_MIN + 1, 7) <= 7);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_known_stays_where_it_was_read),
        cmocka_unit_test(test_least_delay_gives_the_offset),
        cmocka_unit_test(test_halts_are_added_and_never_beyond_the_reading),
        cmocka_unit_test(test_a_time_past_a_halt_that_lasts_is_put_at_the_halt),
        cmocka_unit_test(test_more_halts_than_are_kept),
        cmocka_unit_test(test_extreme_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
