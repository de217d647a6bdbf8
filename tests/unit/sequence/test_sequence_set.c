/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set that readers fill: what it keeps, what it refuses; debug variables with levels and processors; a
 * .dbgconf over them (cross-trigger sheet 12, case C45; the files of report 20 where they are there).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"
#include "sequence_checks.h"

static const char *shared_files; /* may be missing */

static void variables(struct rig *r, const char *text, const char *pname, unsigned level)
{
    const struct sequence_mark mark = {0, 100 * level, 1};
    const struct sequence_text t = {text, strlen(text), r->file, &mark, 1};
    assert_int_equal(sequence_set_variables(r->set, &t, pname, level, &r->d), CORRAL_OK);
}

static void configuration(struct rig *r, const char *text, size_t size)
{
    const struct sequence_mark mark = {0, 1, 1};
    const struct sequence_text t = {text, size, r->file, &mark, 1};
    assert_int_equal(sequence_set_configuration(r->set, &t, &r->d), CORRAL_OK);
}

/* As a sequence of that processor sees it. */
static uint64_t value(const struct rig *r, const char *name, const char *pname)
{
    const struct sequence_program *p = r->program;
    unsigned base = UINT32_MAX;
    for (unsigned i = 0; i < p->value_count; i++)
        if (strcmp(p->values[i].name, name) == 0 && (base == UINT32_MAX || !p->values[i].pname[0]))
            base = i;
    assert_true(base != UINT32_MAX);
    return p->values[sequence_value_slot(p, base, pname)].value;
}

/* ---- files and lines */

static void test_files_and_lines(void **state)
{
    (void)state;
    struct sequence_set *set = sequence_set_new();
    unsigned one, two;
    const char *bytes;
    size_t size;
    static const char text[] = "first\r\nsecond\n\nlast";
    assert_int_equal(sequence_set_add_file(set, "a/b.pdsc", text, sizeof(text) - 1, &one, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_add_file(set, "x\x1b[1m", NULL, 0, &two, NULL), CORRAL_OK);
    assert_int_not_equal(one, two);
    assert_string_equal(sequence_set_file_name(set, one), "a/b.pdsc");
    assert_string_equal(sequence_set_file_name(set, two), "x\\x1b[1m");
    assert_string_equal(sequence_set_file_name(set, 0), "");
    assert_string_equal(sequence_set_file_name(set, 77), "");
    static const char *const lines[] = {"first", "second", "", "last"};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(sequence_set_line(set, one, i + 1, &bytes, &size));
        assert_int_equal(size, strlen(lines[i]));
        assert_memory_equal(bytes, lines[i], size);
    }
    assert_false(sequence_set_line(set, one, 0, &bytes, &size));
    assert_false(sequence_set_line(set, one, 5, &bytes, &size));
    assert_false(sequence_set_line(set, two, 1, &bytes, &size));
    assert_false(sequence_set_line(set, 0, 1, &bytes, &size));
    sequence_set_free(set);
    sequence_set_free(NULL);
}

static void test_files_are_bounded(void **state)
{
    (void)state;
    struct sequence_set *set = sequence_set_new();
    struct diag d = DIAG_INIT;
    unsigned file;
    char *large = calloc(1, SEQUENCE_MAX_FILE + 1);
    assert_non_null(large);
    assert_int_equal(sequence_set_add_file(set, "a", large, SEQUENCE_MAX_FILE + 1, &file, &d),
                     CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "more than 16 MB"));
    assert_int_equal(sequence_set_add_file(set, "a", large, SEQUENCE_MAX_FILE, &file, &d), CORRAL_OK);
    assert_int_equal(sequence_set_add_file(set, "b", large, 1, &file, &d), CORRAL_ERR_LIMIT);
    free(large);
    sequence_set_free(set);
    set = sequence_set_new();
    size_t count = 0;
    while (sequence_set_add_file(set, "a", NULL, 0, &file, &d) == CORRAL_OK)
        count++;
    assert_int_equal(count, 256);
    assert_int_equal(d.code, CORRAL_ERR_LIMIT);
    sequence_set_free(set);
}

/* ---- sequences */

static const struct sequence_head head = {.name = "T", .place = {1, 1, 1}};
static const struct sequence_text empty = {"", 0, 1, NULL, 0};
static const struct sequence_control control = {.place = {1, 1, 1}};

static void test_order_is_kept_or_refused(void **state)
{
    (void)state;
    struct sequence_set *set = sequence_set_new();
    assert_int_equal(sequence_set_end(set, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_block(set, &empty, false, head.place, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_begin_control(set, &control, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_end_control(set, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_begin(set, &head, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_begin(set, &head, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_end_control(set, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_begin_control(set, &control, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_end(set, NULL), CORRAL_ERR_USAGE);
    assert_int_equal(sequence_set_end_control(set, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_end(set, NULL), CORRAL_OK);
    sequence_set_free(set);
}

static void test_names_of_sequences(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct sequence_set *set = sequence_set_new();
    char longest[SEQUENCE_NAME_MAX + 1];
    memset(longest, 'n', sizeof(longest) - 1);
    longest[SEQUENCE_NAME_MAX] = '\0';
    struct sequence_head h = {.name = longest};
    assert_int_equal(sequence_set_begin(set, &h, &d), CORRAL_ERR_LIMIT);
    longest[SEQUENCE_NAME_MAX - 1] = '\0';
    assert_int_equal(sequence_set_begin(set, &h, &d), CORRAL_OK);
    assert_int_equal(sequence_set_end(set, &d), CORRAL_OK);
    h.name = "";
    assert_int_equal(sequence_set_begin(set, &h, &d), CORRAL_ERR_FORMAT);
    h.name = "a\x1b[2J";
    assert_int_equal(sequence_set_begin(set, &h, &d), CORRAL_ERR_FORMAT);
    assert_null(strchr(d.message, '\x1b'));
    h.name = "T";
    h.pname = "a\nb";
    assert_int_equal(sequence_set_begin(set, &h, &d), CORRAL_ERR_FORMAT);
    sequence_set_free(set);
}

static void test_numbers_of_things_are_bounded(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct sequence_set *set = sequence_set_new();
    for (unsigned i = 0; i < SEQUENCE_MAX_COUNT; i++) {
        assert_int_equal(sequence_set_begin(set, &head, &d), CORRAL_OK);
        assert_int_equal(sequence_set_end(set, &d), CORRAL_OK);
    }
    assert_int_equal(sequence_set_begin(set, &head, &d), CORRAL_ERR_LIMIT);
    sequence_set_free(set);

    set = sequence_set_new();
    assert_int_equal(sequence_set_begin(set, &head, &d), CORRAL_OK);
    unsigned depth = 0;
    while (depth < 1000 && sequence_set_begin_control(set, &control, &d) == CORRAL_OK)
        depth++;
    assert_int_equal(depth, 64);
    assert_int_equal(d.code, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "nested more than 10 deep"));
    sequence_set_free(set);

    set = sequence_set_new();
    assert_int_equal(sequence_set_begin(set, &head, &d), CORRAL_OK);
    char *large = calloc(1, SEQUENCE_MAX_TEXT);
    assert_non_null(large);
    const struct sequence_text half = {large, SEQUENCE_MAX_TEXT / 2, 1, NULL, 0},
                               byte = {large, 1, 1, NULL, 0};
    assert_int_equal(sequence_set_block(set, &half, false, head.place, &d), CORRAL_OK);
    assert_int_equal(sequence_set_block(set, &half, false, head.place, &d), CORRAL_OK);
    assert_int_equal(sequence_set_block(set, &byte, false, head.place, &d), CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "more than 10 MB of text"));
    free(large);
    sequence_set_free(set);

    set = sequence_set_new();
    assert_int_equal(sequence_set_begin(set, &head, &d), CORRAL_OK);
    unsigned blocks = 0;
    while (blocks < 1000000 && sequence_set_block(set, &empty, false, head.place, &d) == CORRAL_OK)
        blocks++;
    assert_int_equal(blocks, 262144);
    assert_int_equal(d.code, CORRAL_ERR_LIMIT);
    sequence_set_free(set);
}

/* The set's own copy counts, not the reader's. */
static void test_texts_are_copied(void **state)
{
    (void)state;
    char text[] = "Write32(0, 1);", name[] = "T", file[] = "f.pdsc";
    struct sequence_mark mark = {0, 5, 1};
    struct sequence_text t = {text, strlen(text), 1, &mark, 1};
    struct sequence_head h = {.name = name, .info = text, .place = {1, 1, 1}};
    struct rig *r = rig_new();
    unsigned number;
    assert_int_equal(sequence_set_add_file(r->set, file, file, strlen(file), &number, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_begin(r->set, &h, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_block(r->set, &t, false, h.place, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, NULL), CORRAL_OK);
    memset(text, 'x', strlen(text));
    name[0] = file[0] = 'U';
    mark.line = 99;
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 1\n");
    assert_string_equal(sequence_set_file_name(r->set, number), "f.pdsc");
    rig_free(r);
}

/* ---- debug variables */

static void test_variables_refer_to_earlier_ones(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    variables(r, "__var A = 0x10; // one\n__var B = A + 1;\n\t__var C = (B << 4) | ~0 >> 63;\r\n__var D;",
              NULL, 1);
    rig_compile(r);
    assert_int_equal(r->problems.errors, 0);
    assert_int_equal(value(r, "A", NULL), 0x10);
    assert_int_equal(value(r, "B", NULL), 0x11);
    assert_int_equal(value(r, "C", NULL), 0x111);
    assert_int_equal(value(r, "D", NULL), 0);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 103, 7, 1, "D has no value");
    rig_free(r);
}

static void one_variable_mistake(const char *text, unsigned line, unsigned column, unsigned width,
                                 const char *words)
{
    struct rig *r = rig_new();
    variables(r, text, NULL, 1);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, line, column, width, words);
    rig_free(r);
}

static void test_mistakes_in_variables(void **state)
{
    (void)state;
    one_variable_mistake("__var A = Read32(0);", 100, 11, 6, "expected a constant expression");
    one_variable_mistake("__var A = B;\n__var B = 1;", 100, 11, 1, "expected a debug variable from above");
    one_variable_mistake("__var A = __dp;", 100, 11, 4, "expected a debug variable from above");
    one_variable_mistake("__var A = 1 / 0;", 100, 11, 5, "divided by 0");
    one_variable_mistake("A = 1;", 100, 1, 1, "expected '__var'");
    one_variable_mistake("__var __ap = 1;", 100, 7, 4, "is a predefined variable");
    one_variable_mistake("__var A = 1;\n/* no */", 101, 1, 2, "expected '//'");
    one_variable_mistake("__var A = 1\n = 2;", 101, 2, 1, "nothing can be assigned here");
}

/* What uses a variable whose value is a mistake is not run. */
static void test_a_wrong_variable_stops_what_uses_it(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    struct sequence_info info;
    variables(r, "__var A = (;\n__var B = 1;\n", NULL, 1);
    rig_sequence(r, "UsesA", NULL, "Write32(0, A);\n");
    rig_sequence(r, "UsesB", NULL, "Write32(0, B);\n");
    rig_compile(r);
    assert_int_equal(r->problems.errors, 1);
    assert_true(sequence_find(r->program, "UsesA", NULL, &info) && info.has_errors);
    assert_true(sequence_find(r->program, "UsesB", NULL, &info) && !info.has_errors);
    rig_free(r);
}

static void test_levels_of_variables(void **state)
{
    (void)state;
    struct rig *r = rig_new();
    variables(r, "__var A = 3;", NULL, 3);
    variables(r, "__var A = 1; __var B = 1;", NULL, 1);
    variables(r, "__var C = B + 1; __var A = 2;", NULL, 2);
    rig_compile(r);
    assert_int_equal(r->problems.count, 0);
    assert_int_equal(value(r, "A", NULL), 3);
    assert_int_equal(value(r, "B", NULL), 1);
    assert_int_equal(value(r, "C", NULL), 2);
    rig_free(r);
    r = rig_new();
    variables(r, "__var A = 1;\n__var A = 2;", NULL, 1);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 101, 7, 1, "this one counts, not that of line 100");
    assert_int_equal(value(r, "A", NULL), 2);
    rig_free(r);
}

static void test_variables_of_processors(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct rig *r = rig_new();
        if (first)
            variables(r, "__var A = 1;", NULL, 1);
        variables(r, "__var A = 7; __var B = A + 1; __var ONLY = 70;", "M7", 1);
        variables(r, "__var A = 4; __var B = A + 1;", "M4", 1);
        if (!first)
            variables(r, "__var A = 1;", NULL, 1);
        rig_sequence(r, "T", NULL, "Write32(0, A);\n");
        rig_sequence(r, "U", "M7", "Write32(0, ONLY);\n");
        rig_sequence(r, "V", "M7", "@while 1\n@timeout A\n@begin\n@end\n");
        rig_compile(r);
        assert_int_equal(r->problems.count, 0);
        assert_int_equal(value(r, "A", NULL), 1);
        assert_int_equal(value(r, "A", "M7"), 7);
        assert_int_equal(value(r, "A", "M4"), 4);
        assert_int_equal(value(r, "A", "M0"), 1);
        assert_int_equal(value(r, "B", "M7"), 8);
        assert_int_equal(value(r, "B", "M4"), 5);
        assert_int_equal(sequence_code_find(r->program, "V", "M7")->first->timeout_us, 7);
        static const char *const names[] = {NULL, "M7", "M4"};
        static const char *const logs[] = {"W32 0 1\n", "W32 0 7\n", "W32 0 4\n"};
        for (unsigned i = 0; i < 3; i++) {
            r->run.pname = names[i];
            assert_int_equal(rig_run(r, "T"), CORRAL_OK);
            assert_string_equal(r->log, logs[i]);
        }
        rig_free(r);
    }
    struct rig *r = rig_new();
    variables(r, "__var ONLY = 70;", "M7", 1);
    rig_sequence(r, "U", "M4", "Write32(0, ONLY);\n");
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 1, 12, 4, "ONLY is not declared");
    rig_free(r);
}

static void test_variables_are_bounded(void **state)
{
    (void)state;
    char *text = malloc(64 * (SEQUENCE_MAX_VALUES + 1)), *at = text;
    assert_non_null(text);
    for (unsigned i = 0; i <= SEQUENCE_MAX_VALUES; i++)
        at += sprintf(at, "__var V%u = %u;\n", i, i);
    struct rig *r = rig_new();
    variables(r, text, NULL, 1);
    rig_compile(r);
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 100 + SEQUENCE_MAX_VALUES, 7, 5, "more than 1024 debug variables");
    assert_int_equal(value(r, "V1023", NULL), 1023);
    rig_free(r);
    free(text);
}

static void test_set_value(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct rig *r = rig_new();
    variables(r, "__var A = 1;", NULL, 1);
    variables(r, "__var A = 2;", "M7", 1);
    rig_sequence(r, "T", NULL, "Write32(0, A);\nWrite32(4, __connection);\n");
    rig_compile(r);
    assert_int_equal(sequence_set_value(r->program, "A", 9, &d), CORRAL_OK);
    assert_int_equal(sequence_set_value(r->program, "__connection", 0x101, &d), CORRAL_OK);
    r->run.pname = "M7";
    assert_int_equal(rig_run(r, "T"), CORRAL_OK);
    assert_string_equal(r->log, "W32 0 9\nW32 4 101\n");
    assert_int_equal(sequence_set_value(r->program, "__ap", 1, &d), CORRAL_ERR_USAGE);
    assert_non_null(strstr(d.message, "__ap is set by the sequences themselves"));
    assert_int_equal(sequence_set_value(r->program, "\x1bZ", 1, &d), CORRAL_ERR_USAGE);
    assert_non_null(strstr(d.message, "there is no debug variable \\x1bZ"));
    rig_free(r);
}

/* ---- .dbgconf */

static struct rig *configured(const char *text, size_t size)
{
    struct rig *r = rig_new();
    variables(r, "__var A = 1; __var B = 2; __var C = 3; __var LAST = 4;", NULL, 1);
    configuration(r, text, size);
    rig_sequence(r, "Show", NULL, "Write32(0, A);\nWrite32(4, B);\nWrite32(8, C);\nWrite32(12, LAST);\n");
    rig_compile(r);
    return r;
}

static void shows(struct rig *r, unsigned a, unsigned b, unsigned c, unsigned last)
{
    assert_int_equal(value(r, "A", NULL), a);
    assert_int_equal(value(r, "B", NULL), b);
    assert_int_equal(value(r, "C", NULL), c);
    assert_int_equal(value(r, "LAST", NULL), last);
}

#define CONFIGURED(text) configured(text, sizeof(text) - 1)

static void test_c45_unknown_names_are_ignored(void **state)
{
    (void)state;
    struct rig *r = CONFIGURED("A = 0x11;\nNOT_THERE = 0x77;\nLAST = 0x44;\n");
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 2, 1, 9, "NOT_THERE is no debug variable of this device");
    shows(r, 0x11, 2, 3, 0x44);
    rig_free(r);
}

static void test_c45_an_expression_is_an_error(void **state)
{
    (void)state;
    struct rig *r = CONFIGURED("A = 1 + 1;\nB = 0x22;\n");
    struct sequence_info info;
    ONE_PROBLEM_IN(r, SEQUENCE_ERROR, 1, 7, 1, "A is given no number");
    shows(r, 1, 0x22, 3, 4);
    assert_true(sequence_find(r->program, "Show", NULL, &info) && info.has_errors);
    rig_free(r);
    static const char *const wrong[] = {"A = B;",
                                        "A = (1);",
                                        "A = -1;",
                                        "A = \"x\";",
                                        "A = Read32(0);",
                                        "A = ;",
                                        "A |= 1;",
                                        "A 1;",
                                        "5 = 1;",
                                        "A = 1 B = 2;",
                                        "= 1;",
                                        "A = 0x1FFFFFFFFFFFFFFFF;",
                                        "A = 1 /* no end",
                                        "A"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        r = configured(wrong[i], strlen(wrong[i]));
        if (r->problems.errors != 1)
            fail_msg("%s: %zu", wrong[i], r->problems.errors);
        shows(r, 1, 2, 3, 4);
        rig_free(r);
    }
}

static void test_r20_files_as_people_leave_them(void **state)
{
    (void)state;
    struct rig *r = CONFIGURED("");
    assert_int_equal(r->problems.count, 0);
    shows(r, 1, 2, 3, 4);
    rig_free(r);
    r = CONFIGURED("// set\nA = 0x11;\nB = 0x22;\nLAST = 0x44");
    ONE_PROBLEM_IN(r, SEQUENCE_WARNING, 4, 8, 4, "expected ';' behind the value of LAST: it is taken");
    shows(r, 0x11, 0x22, 3, 0x44);
    rig_free(r);
    r = CONFIGURED("/* A = 1; */ A = 5 // B = 6;\n;B\n=\n/**/ 7; C=8;A=9;\r\n\tLAST = 4;// end");
    assert_int_equal(r->problems.count, 0);
    shows(r, 9, 7, 8, 4);
    rig_free(r);
    r = CONFIGURED("\xef\xbb\xbf// <<< wizard >>>\r\nA = 0x11;\r\n");
    assert_int_equal(r->problems.count, 0);
    shows(r, 0x11, 2, 3, 4);
    rig_free(r);
    r = CONFIGURED("A = 5\nB = 6;\n__var C = 7;");
    assert_int_equal(r->problems.errors, 0);
    assert_int_equal(r->problems.count, 2);
    shows(r, 5, 6, 7, 4);
    rig_free(r);
}

static char *read_whole(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/reports/20/%s.dbgconf", shared_files ? shared_files : "", name);
    FILE *f = shared_files ? fopen(path, "rb") : NULL;
    if (!f)
        return NULL;
    char *text = calloc(1, 4096);
    assert_non_null(text);
    *size = fread(text, 1, 4095, f);
    fclose(f);
    return text;
}

static void test_r20_the_reports_files(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned a, b, c, last, warnings;
    } files[] = {
        {"no-last-semicolon", 0x11, 0x22, 0x33, 0x44, 1},
        {"comments", 0x11, 0x22, 0x33, 0x44, 0},
        {"crlf-bom", 0x11, 0x22, 0x33, 0x44, 0},
        {"two-lines", 0x55, 34, 0x33, 0x44, 0},
        {"unknown", 0x11, 2, 3, 0x44, 1},
        {"empty", 1, 2, 3, 4, 0},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t size;
        char *text = read_whole(files[i].name, &size);
        if (!text) {
            print_message("skipped: the shared files are not here\n");
            skip();
        }
        struct rig *r = configured(text, size);
        assert_int_equal(r->problems.errors, 0);
        assert_int_equal(r->problems.count, files[i].warnings);
        shows(r, files[i].a, files[i].b, files[i].c, files[i].last);
        rig_free(r);
        free(text);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_and_lines),
        cmocka_unit_test(test_files_are_bounded),
        cmocka_unit_test(test_order_is_kept_or_refused),
        cmocka_unit_test(test_names_of_sequences),
        cmocka_unit_test(test_numbers_of_things_are_bounded),
        cmocka_unit_test(test_texts_are_copied),
        cmocka_unit_test(test_variables_refer_to_earlier_ones),
        cmocka_unit_test(test_mistakes_in_variables),
        cmocka_unit_test(test_a_wrong_variable_stops_what_uses_it),
        cmocka_unit_test(test_levels_of_variables),
        cmocka_unit_test(test_variables_of_processors),
        cmocka_unit_test(test_variables_are_bounded),
        cmocka_unit_test(test_set_value),
        cmocka_unit_test(test_c45_unknown_names_are_ignored),
        cmocka_unit_test(test_c45_an_expression_is_an_error),
        cmocka_unit_test(test_r20_files_as_people_leave_them),
        cmocka_unit_test(test_r20_the_reports_files),
    };
    shared_files = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests_name("sequence-set", tests, NULL, NULL);
}
