/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .dbgconf that a PDSC, a cbuild-run.yml or the user names: found, or told that it is not there (case
 * C45); and those of a report, with what a sequence then writes. usage: test_dbgconf FOLDER
 * (shared/reports/20; may be missing)
 */
#include "cbuild_texts.h"

#include <sys/stat.h>
#include <unistd.h>

#include "sequence/sequence_run.h"

struct place {
    const char *reports;
    char folder[64];
};

static int set_up(void **state)
{
    struct place *p = *state;
    strcpy(p->folder, "/tmp/corral-dbgconf-XXXXXX");
    return mkdtemp(p->folder) ? 0 : -1;
}

static void path_of(const struct place *p, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", p->folder, name);
}

static int tear_down(void **state)
{
    static const char *const names[] = {"a.dbgconf", "b.dbgconf", "x.cbuild-run.yml", "x.pdsc"};
    struct place *p = *state;
    char path[256];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        path_of(p, names[i], path);
        if (unlink(path) != 0)
            rmdir(path);
    }
    return rmdir(p->folder);
}

static void write_file(const struct place *p, const char *name, const char *bytes, size_t size)
{
    char path[256];
    path_of(p, name, path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void write_text(const struct place *p, const char *name, const char *text)
{
    write_file(p, name, text, strlen(text));
}

static struct described open_here(const struct place *p, const char *name, const char *dbgconf)
{
    struct described r = {.diag = DIAG_INIT};
    struct pack_places places = {.dbgconf = dbgconf};
    char path[256];
    path_of(p, name, path);
    r.file = pack_open(path, &places, &r.problems, &r.diag);
    r.device = r.file ? pack_describe(r.file, NULL, &r.problems, &r.diag) : NULL;
    return r;
}

struct writes {
    uint64_t address[8], value[8];
    size_t count;
};

static enum corral_err access_writes(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                     size_t *finished, struct diag *d)
{
    struct writes *w = ctx;
    (void)atomic;
    (void)d;
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].write && w->count < 8);
        w->address[w->count] = list[i].address;
        w->value[w->count++] = list[i].value;
    }
    *finished = count;
    return CORRAL_OK;
}

static struct writes show(struct described *r)
{
    static const struct sequence_target target = {.access = access_writes};
    struct writes writes = {.count = 0};
    struct host_clock *clock = host_clock_new_virtual();
    if (!r->device)
        fail_msg("%s", r->diag.message);
    struct sequence_program *program = pack_compile(r->device, &r->problems, &r->diag);
    assert_non_null(program);
    struct sequence_run how = {.target = &target, .ctx = &writes, .clock = clock};
    struct sequence_result result;
    if (sequence_run(program, "Show", &how, &result, &r->diag) != CORRAL_OK)
        fail_msg("%s", r->diag.message);
    sequence_program_free(program);
    host_clock_free(clock);
    return writes;
}

#define VARS_AND_SHOW                                       \
    "  debug-vars:\n    vars: |\n      __var A = 1;\n"      \
    "      __var B = 2;\n      __var C = 3;\n"              \
    "      __var LAST = 4;\n"                               \
    "  debug-sequences:\n    - name: Show\n      blocks:\n" \
    "        - execute: |\n"                                \
    "            Write32(0x20000000, A);\n"                 \
    "            Write32(0x20000004, B);\n"                 \
    "            Write32(0x20000008, C);\n"                 \
    "            Write32(0x2000000C, LAST);\n"

static void expect_values(const struct writes *w, uint64_t a, uint64_t b, uint64_t c, uint64_t last)
{
    const uint64_t expected[] = {a, b, c, last};
    assert_int_equal(w->count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(w->address[i], 0x20000000 + 4 * i);
        assert_int_equal(w->value[i], expected[i]);
    }
}

static void test_named_by_a_project(void **state)
{
    const struct place *p = *state;
    write_text(p, "x.cbuild-run.yml", RUN "  debugger:\n    dbgconf: a.dbgconf\n" VARS_AND_SHOW);
    write_text(p, "a.dbgconf", "A = 0x11;\nC = 0x33;\n");
    struct described r = open_here(p, "x.cbuild-run.yml", NULL);
    assert_int_equal(r.problems.count, 0);
    struct writes w = show(&r);
    expect_values(&w, 0x11, 2, 0x33, 4);
    done(&r);
}

static void test_c45_a_mistake_in_it_is_shown_there(void **state)
{
    const struct place *p = *state;
    write_text(p, "x.cbuild-run.yml", RUN "  debugger:\n    dbgconf: a.dbgconf\n" VARS_AND_SHOW);
    write_text(p, "a.dbgconf",
               "\xEF\xBB\xBF"
               "A = 0x11;\n  NOT_THERE = 1;\n");
    struct described r = open_here(p, "x.cbuild-run.yml", NULL);
    struct writes w = show(&r);
    expect_values(&w, 0x11, 2, 3, 4);
    assert_int_equal(r.problems.count, 1);
    assert_int_equal(r.problems.list[0].place.line, 2);
    assert_int_equal(r.problems.list[0].place.column, 3);
    const char *name = sequence_set_file_name(r.device->set, r.problems.list[0].place.file);
    assert_non_null(strstr(name, "/a.dbgconf"));
    done(&r);
}

static void test_the_users_stands_for_the_named_one(void **state)
{
    const struct place *p = *state;
    char path[256];
    write_text(p, "x.cbuild-run.yml", RUN "  debugger:\n    dbgconf: a.dbgconf\n" VARS_AND_SHOW);
    write_text(p, "a.dbgconf", "A = 0x11;\n");
    write_text(p, "b.dbgconf", "B = 0x22;\n");
    path_of(p, "b.dbgconf", path);
    struct described r = open_here(p, "x.cbuild-run.yml", path);
    struct writes w = show(&r);
    expect_values(&w, 1, 0x22, 3, 4);
    done(&r);
    /* Also where nothing is named. */
    write_text(p, "x.cbuild-run.yml", RUN VARS_AND_SHOW);
    r = open_here(p, "x.cbuild-run.yml", path);
    w = show(&r);
    expect_values(&w, 1, 0x22, 3, 4);
    done(&r);
}

static void test_one_that_is_not_there_is_told(void **state)
{
    const struct place *p = *state;
    write_text(p, "x.cbuild-run.yml", RUN "  debugger:\n    dbgconf: b.dbgconf\n" VARS_AND_SHOW);
    struct described r = open_here(p, "x.cbuild-run.yml", NULL);
    assert_int_equal(r.problems.count, 1);
    assert_int_equal(r.problems.list[0].severity, SEQUENCE_WARNING);
    assert_string_equal(r.problems.list[0].text,
                        "the configuration b.dbgconf is not there (--dbgconf names another place): "
                        "debug variables keep their values");
    assert_int_equal(r.problems.list[0].place.line, 4);
    assert_int_equal(r.problems.list[0].place.column, 14);
    assert_int_equal(r.problems.list[0].width, 9);
    struct writes w = show(&r);
    expect_values(&w, 1, 2, 3, 4);
    done(&r);
    /* One that the user names, too: the description's own is not taken instead. */
    write_text(p, "b.dbgconf", "B = 0x22;\n");
    r = open_here(p, "x.cbuild-run.yml", "no/such.dbgconf");
    assert_int_equal(r.problems.count, 1);
    assert_non_null(strstr(r.problems.list[0].text, "no/such.dbgconf is not there"));
    assert_int_equal(r.problems.list[0].place.line, 0);
    w = show(&r);
    expect_values(&w, 1, 2, 3, 4);
    done(&r);
}

static void test_one_that_cannot_be_read_is_an_error(void **state)
{
    const struct place *p = *state;
    char path[256];
    write_text(p, "x.cbuild-run.yml", RUN "  debugger:\n    dbgconf: b.dbgconf\n" VARS_AND_SHOW);
    path_of(p, "b.dbgconf", path);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    struct described r = open_here(p, "x.cbuild-run.yml", NULL);
    assert_null(r.device);
    assert_int_equal(r.diag.code, CORRAL_ERR_IO);
    assert_non_null(strstr(r.diag.message, "b.dbgconf: it is not a file"));
    done(&r);
    r = open_here(p, "x.cbuild-run.yml", path);
    assert_null(r.device);
    assert_int_equal(r.diag.code, CORRAL_ERR_IO);
    done(&r);
    rmdir(path);
    size_t size = 4 * 1024 * 1024 + 1; /* PACK_MAX_SIDE and one */
    char *large = malloc(size);
    assert_non_null(large);
    memset(large, '\n', size);
    write_file(p, "b.dbgconf", large, size);
    r = open_here(p, "x.cbuild-run.yml", NULL);
    assert_null(r.device);
    assert_int_equal(r.diag.code, CORRAL_ERR_LIMIT);
    done(&r);
    write_file(p, "b.dbgconf", large, size - 1);
    r = open_here(p, "x.cbuild-run.yml", NULL);
    assert_non_null(r.device);
    done(&r);
    free(large);
}

#define PDSC                                                                                           \
    "<package><devices><family Dfamily=\"F\" Dvendor=\"V:1\"><debugvars configfile=\"sub/a.dbgconf\">" \
    "__var A = 1;</debugvars><sequences><sequence name=\"Show\"><block>Write32(0, A);</block>"         \
    "</sequence></sequences><device Dname=\"D\"/></family></devices></package>"

static void test_named_by_a_pack(void **state)
{
    const struct place *p = *state;
    char path[256];
    write_text(p, "x.pdsc", PDSC);
    path_of(p, "a.dbgconf", path);
    unlink(path);
    struct described r = open_here(p, "x.pdsc", NULL);
    if (!r.file && r.diag.code == CORRAL_ERR_UNSUPPORTED)
        skip();
    assert_int_equal(r.problems.count, 1);
    assert_non_null(strstr(r.problems.list[0].text, "sub/a.dbgconf is not there"));
    assert_int_equal(show(&r).value[0], 1);
    done(&r);
    write_text(p, "a.dbgconf", "A = 0x11;\n"); /* beside the description */
    r = open_here(p, "x.pdsc", NULL);
    assert_int_equal(r.problems.count, 0);
    assert_int_equal(show(&r).value[0], 0x11);
    done(&r);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    r = open_here(p, "x.pdsc", NULL);
    assert_null(r.device);
    assert_int_equal(r.diag.code, CORRAL_ERR_IO);
    done(&r);
    rmdir(path);
}

/* ---- a report's files: by the user's word for a pack, and named by a project */

static void expect_report(struct place *p, const char *name, uint64_t a, uint64_t b, uint64_t c,
                          uint64_t last)
{
    char path[4200], text[8192];
    struct pack_places places = {.dbgconf = path};
    struct described r = {.diag = DIAG_INIT};
    snprintf(path, sizeof(path), "%s/demo.pdsc", p->reports);
    r.file = pack_open(path, NULL, &r.problems, &r.diag);
    if (!r.file && r.diag.code != CORRAL_ERR_UNSUPPORTED)
        fail_msg("%s", r.diag.message);
    if (r.file) { /* else a build without XML */
        done(&r);
        r = (struct described){.diag = DIAG_INIT};
        char pack[4200];
        memcpy(pack, path, sizeof(pack));
        snprintf(path, sizeof(path), "%s/%s.dbgconf", p->reports, name);
        r.file = pack_open(pack, &places, &r.problems, &r.diag);
        r.device = r.file ? pack_describe(r.file, "DEMO", &r.problems, &r.diag) : NULL;
        struct writes w = show(&r);
        expect_values(&w, a, b, c, last);
        assert_int_equal(r.problems.errors, 0);
    }
    done(&r);
    snprintf(text, sizeof(text), RUN "  debugger:\n    dbgconf: %s/%s.dbgconf\n" VARS_AND_SHOW, p->reports,
             name);
    write_text(p, "x.cbuild-run.yml", text);
    r = open_here(p, "x.cbuild-run.yml", NULL);
    struct writes w = show(&r);
    expect_values(&w, a, b, c, last);
    assert_int_equal(r.problems.errors, 0);
    done(&r);
}

static void test_report_20(void **state)
{
    struct place *p = *state;
    if (access(p->reports, R_OK) != 0) {
        print_message("# skipped: there is no %s\n", p->reports);
        skip();
    }
    expect_report(p, "no-last-semicolon", 0x11, 0x22, 0x33, 0x44);
    expect_report(p, "comments", 0x11, 0x22, 0x33, 0x44);
    expect_report(p, "crlf-bom", 0x11, 0x22, 0x33, 0x44);
    expect_report(p, "two-lines", 0x55, 0x22, 0x33, 0x44);
    expect_report(p, "unknown", 0x11, 2, 3, 0x44);
    expect_report(p, "empty", 1, 2, 3, 4);
}

int main(int argc, char **argv)
{
    static struct place place;
    place.reports = argc > 1 ? argv[1] : "no-reports";
#define TEST(f) cmocka_unit_test_prestate_setup_teardown(f, set_up, tear_down, &place)
    const struct CMUnitTest tests[] = {
        TEST(test_named_by_a_project),
        TEST(test_c45_a_mistake_in_it_is_shown_there),
        TEST(test_the_users_stands_for_the_named_one),
        TEST(test_one_that_is_not_there_is_told),
        TEST(test_one_that_cannot_be_read_is_an_error),
        TEST(test_named_by_a_pack),
        TEST(test_report_20),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
