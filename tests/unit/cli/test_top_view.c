/* SPDX-License-Identifier: Apache-2.0 */
/* The views of `corral top` without a terminal: what is on the screen, at every size, whatever the names are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/host_clock.h"
#include "cli/top_view.h"

#define FUNCTIONS 10000
#define HOSTILE   "\x1b[31m\x1b]0;title\x07\r\n\t\x9b\x7f\xe2\x80\xae\xcc\x81\xff%n%s\xe6\xbc\xa2\xe5\xad\x97"

static const struct symbol_index *const some_image = (const struct symbol_index *)(const void *)"image";

struct world {
    struct prof_report report;
    struct profiling_remarks remarks;
    struct prof_report_source sources[2];
    struct prof_report_thread threads[3];
    struct prof_report_function *functions;
    struct prof_report_hot hot[40];
    struct prof_report_counter counters[3];
    struct prof_report_maps maps[1];
    char (*names)[48];
    struct top_view *view;
    struct top_canvas canvas;
    struct top_info info;
};

static void make_functions(struct world *w, size_t count)
{
    w->functions = calloc(count, sizeof(*w->functions));
    w->names = calloc(count, sizeof(*w->names));
    assert_non_null(w->functions);
    assert_non_null(w->names);
    for (size_t i = 0; i < count; i++) {
        struct prof_report_function *f = &w->functions[i];
        snprintf(w->names[i], sizeof(w->names[i]), "function_%05zu", i);
        *f = (struct prof_report_function){
            .frame = {.name = w->names[i], .file = "src/x.c", .line = (uint32_t)i},
            .image = some_image,
            .address = 0x1000 + 16 * i,
            .self = count - i,
            .inclusive = count,
            .share = 1.0 / (double)(i + 2),
            .share_error = 0.01};
        f->by_thread[1] = count - i;
        f->caller_count = 2;
        f->callers[0] = (struct prof_report_caller){
            .frame = {.name = "the_caller", .file = "src/y.c", .line = 7}, .address = 0x4444, .count = 1};
        f->callers[1] = (struct prof_report_caller){.certainty = PROF_CALLER_UNKNOWN, .count = 1};
    }
    w->report.functions = w->functions;
    w->report.function_count = count;
}

static void make_sources(struct world *w)
{
    for (int i = 0; i < 2; i++) {
        struct prof_report_source *s = &w->sources[i];
        snprintf(s->name, sizeof(s->name), "%s", i ? HOSTILE : "core0");
        s->sent = true;
        s->totals = (struct prof_totals){.packets = 100, .samples = 5000, .active_samples = 4000, .lost = 12};
        s->totals.rejected = s->totals.rejected_by[PROF_REASON_SHORT] = 3;
        s->seconds = 2.5;
        s->active = 4000;
        s->sampling_hz = NAN;
        s->utilisation = INFINITY;
        s->heap = (struct prof_report_pool){.known = true, .free = 4000, .low_water = 99};
        s->timing = (struct prof_report_timing){.known = true, .frame = {.name = HOSTILE}};
        s->dsr = (struct prof_report_dsr){.known = true, .count = 5};
        s->perf = (struct prof_report_perf){
            .count = 8, .total = {1, 2, 3}, .rate_known = true, .per_second = {NAN}};
        s->latency_count = 9;
        s->latency_max = UINT32_MAX;
        s->latency[32] = 9;
    }
    w->report.sources = w->sources;
    w->report.source_count = 2;
}

static void make_rest(struct world *w)
{
    for (unsigned i = 0; i < 3; i++)
        w->threads[i] = (struct prof_report_thread){.source = i % 2,
                                                    .thread = 5 * i,
                                                    .enabled = i != 1,
                                                    .samples = 10 + i,
                                                    .active = 5,
                                                    .mips_known = true,
                                                    .mips = i ? NAN : 12.5,
                                                    .utilisation = 0.25 * i,
                                                    .min_sp_known = true,
                                                    .min_sp = 0x40001000};
    for (unsigned i = 0; i < 40; i++) {
        w->hot[i] = (struct prof_report_hot){.pc = 0x8000 + 2 * i, .count = 40 - i, .frame_count = i % 3};
        w->hot[i].frames[0] = (struct prof_report_frame){"inlined", "src/deep/file.c", 42};
        w->hot[i].frames[1] = (struct prof_report_frame){HOSTILE, NULL, 0};
    }
    w->counters[0] =
        (struct prof_report_counter){.name = "Packets", .value = 7, .rate_known = true, .per_second = 3};
    w->counters[1] =
        (struct prof_report_counter){.name = HOSTILE, .gauge = true, .resets = 2, .linux_side = true};
    w->counters[2] =
        (struct prof_report_counter){.name = "", .source = 1, .rate_known = true, .per_second = INFINITY};
    w->maps[0] =
        (struct prof_report_maps){.page_bytes = 4096, .type_count = 1, .largest_free = 4, .overlaps = 1};
    snprintf(w->maps[0].types[0].name, sizeof(w->maps[0].types[0].name), "\x1b[2Jmap");
    w->maps[0].types[0].pages = 16;
    w->report.threads = w->threads;
    w->report.thread_count = 3;
    w->report.hot = w->hot;
    w->report.hot_count = 40;
    w->report.counters = w->counters;
    w->report.counter_count = 3;
    w->report.maps = w->maps;
    w->report.maps_count = 1;
    w->report.totals = (struct prof_totals){.packets = 200, .samples = 10000, .lost = 12, .sources = 2};
}

static void show(struct world *w, unsigned rows, unsigned columns)
{
    assert_true(top_view_draw(w->view, &w->info, &w->canvas, rows, columns));
}

static void setup(struct world *w, size_t functions)
{
    *w = (struct world){.info = {.source = "UDP 127.0.0.1:1", .seconds = 3, .silent = 0.5}};
    w->view = top_view_new();
    assert_non_null(w->view);
    make_functions(w, functions);
    make_sources(w);
    make_rest(w);
    profiling_remarks_find(&w->report, &w->remarks);
    top_view_set_report(w->view, &w->report, &w->remarks);
}

static void teardown(struct world *w)
{
    top_view_free(w->view);
    top_canvas_free(&w->canvas);
    free(w->functions);
    free(w->names);
}

static void key(struct world *w, uint32_t k)
{
    top_view_key(w->view, k, 0);
}

static void type(struct world *w, const char *text)
{
    for (; *text; text++)
        key(w, (uint32_t)*text);
}

static char *row_text(const struct world *w, unsigned row, char out[5000])
{
    assert_true(top_canvas_text(&w->canvas, row, out, 5000));
    return out;
}

/* The first row that holds `text`; fails with the screen when there is none. */
static int find(const struct world *w, const char *text)
{
    char line[5000];
    for (unsigned i = 0; i < w->canvas.rows; i++)
        if (strstr(row_text(w, i, line), text))
            return (int)i;
    return -1;
}

static void assert_shown(const struct world *w, const char *text)
{
    char line[5000];
    if (find(w, text) >= 0)
        return;
    for (unsigned i = 0; i < w->canvas.rows; i++)
        print_message("|%s\n", row_text(w, i, line));
    fail_msg("'%s' is not on the screen", text);
}

/* Nothing that moves the cursor, and every cell as wide as the terminal takes it. */
static void assert_safe(const struct world *w)
{
    for (unsigned row = 0; row < w->canvas.rows; row++) {
        for (unsigned i = 0; i < w->canvas.columns; i++) {
            const struct top_cell *c = &w->canvas.cells[(size_t)row * w->canvas.columns + i];
            if (c->code == 0) {
                assert_true(i > 0);
                assert_int_equal(wcwidth((wchar_t)c[-1].code), 2);
                continue;
            }
            int width = wcwidth((wchar_t)c->code);
            assert_true(width == 1 || width == 2);
            assert_true(c->code >= 0x20 && (c->code < 0x7f || c->code >= 0xa0));
            if (width == 2) {
                assert_true(i + 1 < w->canvas.columns);
                assert_int_equal(c[1].code, 0);
            }
        }
    }
}

static const struct {
    unsigned rows, columns;
} sizes[] = {{24, 80}, {10, 40}, {60, 200}, {11, 41}, {24, 59}, {13, 79}, {30, 133}};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void every_view_at_every_size_shows_the_loss_and_nothing_that_moves_the_cursor(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 50);
    w.names[0][0] = '\x1b';
    w.functions[1].frame.name = HOSTILE;
    w.functions[2].frame = (struct prof_report_frame){NULL, HOSTILE, 3};
    for (size_t i = 0; i < SIZES; i++) {
        for (unsigned tab = 0; tab < TOP_TABS; tab++) {
            key(&w, '1' + tab);
            for (int overlay = 0; overlay < 3; overlay++) { /* the view, its details, help */
                if (overlay)
                    key(&w, overlay == 1 ? '\r' : '?');
                show(&w, sizes[i].rows, sizes[i].columns);
                assert_int_equal(w.canvas.rows, sizes[i].rows);
                assert_int_equal(w.canvas.columns, sizes[i].columns);
                assert_safe(&w);
                assert_shown(&w, "LOST 12");
                assert_int_equal(find(&w, "\x1b"), -1);
                assert_int_equal(find(&w, "nan"), -1);
                assert_int_equal(find(&w, "inf %"), -1);
            }
            key(&w, '?');
            key(&w, 0x1b);
        }
    }
    teardown(&w);
}

static void nothing_lost_is_said_too(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 5);
    w.report.totals.lost = 0;
    show(&w, 24, 80);
    assert_shown(&w, "no loss:  lost 0  drops 0  rejected 0  late 0  unknown pcs 0  image warnings 0");
    w.report.totals.late = 2;
    w.sources[0].unknown_pc = 5;
    w.sources[1].unknown_pc = 6;
    w.sources[1].image_missing = true;
    show(&w, 24, 200);
    assert_shown(&w, "no loss, but:  lost 0  drops 0  rejected 0  LATE 2  UNKNOWN PCS 11  IMAGE WARNINGS 1");
    w.report.kernel_drops = 4;
    w.report.totals.rejected = 9;
    w.sources[0].overflow = 8;
    show(&w, 24, 200);
    assert_shown(
        &w, "LOSS:  lost 0  DROPS 4  REJECTED 9  LATE 2  UNKNOWN PCS 11  IMAGE WARNINGS 1  TABLE FULL 8");
    show(&w, 10, 40); /* in more rows where one is too short */
    assert_shown(&w, "TABLE FULL 8");
    assert_shown(&w, "DROPS 4");
    teardown(&w);
}

static void tables_of_ten_thousand_rows_are_gone_through_and_sorted(void **state)
{
    struct world w;
    (void)state;
    setup(&w, FUNCTIONS);
    key(&w, '3');
    show(&w, 24, 80);
    assert_shown(&w, "Functions: 10000");
    assert_int_equal(find(&w, "function_00000"), 4);
    assert_int_equal(find(&w, "x.c:17"), 4 + 17);
    assert_int_equal(find(&w, "x.c:18"), -1);
    key(&w, TOP_KEY_END);
    show(&w, 24, 80);
    assert_int_equal(find(&w, "function_09999"), 21);
    key(&w, TOP_KEY_HOME);
    show(&w, 24, 80);
    key(&w, TOP_KEY_PAGE_DOWN);
    key(&w, TOP_KEY_DOWN);
    show(&w, 24, 80);
    assert_int_equal(find(&w, "function_00018"), 21);
    key(&w, TOP_KEY_HOME);
    key(&w, 'S'); /* the report's order, turned round */
    show(&w, 24, 80);
    assert_int_equal(find(&w, "function_09999"), 4);
    for (int i = 0; i < 3; i++) /* share, error, samples */
        key(&w, '>');
    show(&w, 24, 80);
    assert_shown(&w, "by samples");
    assert_int_equal(find(&w, "function_00000"), 4);
    key(&w, 'S');
    show(&w, 24, 80);
    assert_shown(&w, "by samples reversed");
    assert_int_equal(find(&w, "function_09999"), 4);
    type(&w, "/UNCTION_0777\r");
    show(&w, 24, 80);
    assert_shown(&w, "Functions: 10 of 10000 with \"UNCTION_0777\", by samples reversed");
    assert_int_equal(find(&w, "function_07779"), 4);
    assert_int_equal(find(&w, "function_07770"), 13);
    teardown(&w);
}

static void of_a_place_that_is_too_long_the_line_is_kept(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 3);
    w.functions[1].frame.file = "src/" HOSTILE "a_name_that_is_very_long_indeed.c";
    w.functions[1].frame.line = 4711;
    key(&w, '3');
    for (unsigned columns = 60; columns < 90; columns++) {
        show(&w, 24, columns);
        assert_safe(&w);
        assert_shown(&w, "indeed.c:4711");
    }
    teardown(&w);
}

static void a_search_is_text_of_any_kind_and_can_be_taken_back(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 30);
    w.functions[3].frame.name = "m\xc3\xbcll";
    key(&w, '3');
    type(&w, "/m");
    key(&w, 0xfc);
    show(&w, 24, 80);
    assert_shown(&w, "/m\xc3\xbc_");
    assert_shown(&w, "Functions: 1 of 30");
    key(&w, 'q'); /* text, not the end */
    show(&w, 24, 80);
    assert_shown(&w, "none has that in its name");
    key(&w, TOP_KEY_BACKSPACE);
    key(&w, TOP_KEY_BACKSPACE); /* a whole code point */
    show(&w, 24, 80);
    assert_shown(&w, "/m_");
    for (int i = 0; i < 200; i++)
        key(&w, 0x1f600);
    key(&w, 0xd800); /* no code point */
    show(&w, 24, 80);
    assert_safe(&w);
    key(&w, 0x1b);
    show(&w, 24, 80);
    assert_shown(&w, "Functions: 30");
    teardown(&w);
}

static void details_follow_their_row_and_say_when_it_is_gone(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 20);
    key(&w, '3');
    key(&w, TOP_KEY_DOWN);
    key(&w, '\r');
    show(&w, 24, 80);
    assert_shown(&w, "function_00001");
    assert_shown(&w, "the_caller");
    assert_shown(&w, "y.c:7");
    assert_shown(&w, "not known");
    assert_shown(&w, "thread 1");
    struct prof_report_function moved = w.functions[1];
    w.functions[1] = w.functions[9];
    w.functions[9] = moved;
    top_view_set_report(w.view, &w.report, &w.remarks);
    show(&w, 24, 80);
    assert_shown(&w, "function_00001");
    w.report.function_count = 9;
    top_view_set_report(w.view, &w.report, &w.remarks);
    show(&w, 24, 80);
    assert_shown(&w, "is not in the profile now");
    top_view_set_report(w.view, NULL, NULL);
    show(&w, 24, 80);
    assert_shown(&w, "is not in the profile now");
    teardown(&w);
}

static void threads_are_chosen_in_turn_or_by_number(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 5);
    assert_int_equal(top_view_key(w.view, 't', 0), TOP_THREAD);
    assert_int_equal(top_view_thread(w.view), 0);
    top_view_key(w.view, 't', 0);
    assert_int_equal(top_view_thread(w.view), 5); /* the next that was sampled */
    top_view_key(w.view, 't', 0);
    assert_int_equal(top_view_thread(w.view), 10);
    top_view_key(w.view, 't', 0);
    assert_int_equal(top_view_thread(w.view), -1);
    top_view_key(w.view, 't', 0);
    assert_int_equal(top_view_key(w.view, '1', NS_PER_S), TOP_THREAD);
    assert_int_equal(top_view_thread(w.view), 1);
    assert_int_equal(top_view_key(w.view, '2', 2 * NS_PER_S), TOP_THREAD);
    assert_int_equal(top_view_thread(w.view), 12);
    show(&w, 24, 80);
    assert_shown(&w, "[1 Summary]");
    assert_shown(&w, "only thread 12");
    assert_int_equal(top_view_key(w.view, '4', 9 * NS_PER_S), TOP_NOTHING); /* too late: a view */
    show(&w, 24, 80);
    assert_shown(&w, "[4 Hot]");
    assert_int_equal(top_view_thread(w.view), 12);
    teardown(&w);
}

static void what_is_not_running_is_said(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 5);
    w.info.silent = 4.9;
    show(&w, 24, 80);
    assert_int_equal(find(&w, "nothing for"), -1);
    w.info.silent = 7.2;
    for (size_t i = 0; i < SIZES; i++) {
        show(&w, sizes[i].rows, sizes[i].columns);
        assert_shown(&w, "nothing for 7 s");
    }
    w.info.trouble = "the target does not answer";
    show(&w, 24, 80);
    assert_shown(&w, "the target does not answer");
    assert_int_equal(top_view_key(w.view, ' ', 0), TOP_PAUSE);
    assert_true(top_view_paused(w.view));
    show(&w, 24, 80);
    assert_shown(&w, "PAUSED");
    assert_int_equal(top_view_key(w.view, 'r', 0), TOP_RESET);
    assert_int_equal(top_view_key(w.view, 'q', 0), TOP_QUIT);
    teardown(&w);
}

static void too_small_a_screen_says_so_and_what_is_lost(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 5);
    show(&w, 9, 40);
    assert_shown(&w, "At least 40x10, please");
    assert_shown(&w, "(this is 40x9; q ends)");
    assert_shown(&w, "LOST 12");
    for (unsigned rows = 0; rows < 12; rows++)
        for (unsigned columns = 0; columns < 45; columns++) {
            show(&w, rows, columns);
            assert_safe(&w);
        }
    show(&w, 100000, 100000);
    assert_int_equal(w.canvas.rows, TOP_CANVAS_MOST);
    teardown(&w);
}

static void nothing_came_yet_in_any_view(void **state)
{
    struct world w;
    struct prof_report empty = {0};
    (void)state;
    setup(&w, 1);
    for (int i = 0; i < 2; i++) {
        top_view_set_report(w.view, i ? &empty : NULL, NULL);
        for (unsigned tab = 0; tab < TOP_TABS; tab++) {
            key(&w, '1' + tab);
            key(&w, '\r');
            key(&w, TOP_KEY_END);
            show(&w, 24, 80);
            assert_safe(&w);
            assert_shown(&w, i ? "no loss:" : "no data:");
        }
    }
    teardown(&w);
}

/* Names that differ from one report to the next, rows that go, sizes and keys in any order. */
static void any_keys_in_any_order_at_any_size(void **state)
{
    static const uint32_t keys[] = {'1',
                                    '2',
                                    '3',
                                    '4',
                                    '5',
                                    '6',
                                    '7',
                                    '8',
                                    '\t',
                                    '<',
                                    '>',
                                    's',
                                    'S',
                                    '/',
                                    'a',
                                    '\r',
                                    0x1b,
                                    '?',
                                    'p',
                                    't',
                                    '9',
                                    '0',
                                    TOP_KEY_UP,
                                    TOP_KEY_DOWN,
                                    TOP_KEY_END,
                                    TOP_KEY_HOME,
                                    TOP_KEY_PAGE_DOWN,
                                    TOP_KEY_PAGE_UP,
                                    TOP_KEY_LEFT,
                                    TOP_KEY_RIGHT,
                                    TOP_KEY_BACKSPACE,
                                    TOP_KEY_BACKTAB,
                                    0,
                                    0x7fffffff,
                                    0x10ffff,
                                    12};
    struct world w;
    uint32_t chance = 1;
    (void)state;
    setup(&w, 100);
    for (int i = 0; i < 5000; i++) {
        chance = chance * 1664525u + 1013904223u;
        top_view_key(w.view, keys[(chance >> 8) % (sizeof(keys) / sizeof(keys[0]))], i * (NS_PER_S / 3));
        if (chance >> 28 == 0) {
            w.report.function_count = (chance >> 16) % 101;
            w.report.hot_count = (chance >> 16) % 41;
            w.report.thread_count = (chance >> 16) % 4;
            w.report.counter_count = (chance >> 16) % 4;
            top_view_set_report(w.view, &w.report, &w.remarks);
        }
        show(&w, (chance >> 12) % 40, (chance >> 20) % 150);
        assert_safe(&w);
    }
    teardown(&w);
}

static void without_utf8_other_letters_are_question_marks(void **state)
{
    struct world w;
    (void)state;
    setup(&w, 3);
    w.functions[0].frame.name = "m\xc3\xbcll\xe6\xbc\xa2";
    key(&w, '3');
    assert_non_null(setlocale(LC_CTYPE, "C"));
    show(&w, 24, 80);
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_shown(&w, "m?ll?");
    show(&w, 24, 80);
    assert_shown(&w, "m\xc3\xbcll\xe6\xbc\xa2");
    teardown(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_at_every_size_shows_the_loss_and_nothing_that_moves_the_cursor),
        cmocka_unit_test(nothing_lost_is_said_too),
        cmocka_unit_test(tables_of_ten_thousand_rows_are_gone_through_and_sorted),
        cmocka_unit_test(of_a_place_that_is_too_long_the_line_is_kept),
        cmocka_unit_test(a_search_is_text_of_any_kind_and_can_be_taken_back),
        cmocka_unit_test(details_follow_their_row_and_say_when_it_is_gone),
        cmocka_unit_test(threads_are_chosen_in_turn_or_by_number),
        cmocka_unit_test(what_is_not_running_is_said),
        cmocka_unit_test(too_small_a_screen_says_so_and_what_is_lost),
        cmocka_unit_test(nothing_came_yet_in_any_view),
        cmocka_unit_test(any_keys_in_any_order_at_any_size),
        cmocka_unit_test(without_utf8_other_letters_are_question_marks),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8")) {
        puts("1..0 # SKIP there is no locale C.UTF-8");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
