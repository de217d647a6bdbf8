/* SPDX-License-Identifier: Apache-2.0 */
/* launch.json and tasks.json of serve --print-launch (cross-trigger sheet 7). */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "session/launch.h"

static const char *const server[] = {
    "corral", "--link", "cmsis-dap", "serve", "--cbuild-run", "out/app.cbuild-run.yml", "--sync"};
static const char *const load[] = {"corral", "--link", "cmsis-dap", "load"};
static const struct launch_core two[] = {{"CM7", 3336, "out/m7.axf", "core0"},
                                         {"CM4", 3339, "out/m4.axf", NULL}};

static struct launch_options options_of_two(void)
{
    return (struct launch_options){.name = "Maker::Dual",
                                   .server = server,
                                   .server_count = sizeof(server) / sizeof(server[0]),
                                   .load = load,
                                   .load_count = sizeof(load) / sizeof(load[0]),
                                   .cores = two,
                                   .core_count = 2};
}

struct made {
    json_t *launch, *tasks;
};

static json_t *parsed(char *text)
{
    json_error_t error;
    assert_non_null(text);
    size_t size = strlen(text);
    assert_true(size > 2 && text[size - 1] == '\n' && text[size - 2] == '}');
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s", error.text);
    free(text);
    return document;
}

static struct made make(const struct launch_options *o)
{
    struct diag d = DIAG_INIT;
    char *launch, *tasks;
    if (launch_make(o, &launch, &tasks, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    return (struct made){parsed(launch), parsed(tasks)};
}

static void done(struct made *m)
{
    json_decref(m->launch);
    json_decref(m->tasks);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("there is no %s", key);
    return text;
}

static const json_t *configuration(const struct made *m, size_t i)
{
    const json_t *c = json_array_get(json_object_get(m->launch, "configurations"), i);
    assert_non_null(c);
    return c;
}

/* The task of this label. */
static const json_t *task(const struct made *m, const char *label)
{
    const json_t *tasks = json_object_get(m->tasks, "tasks");
    for (size_t i = 0; i < json_array_size(tasks); i++)
        if (strcmp(text_at(json_array_get(tasks, i), "label"), label) == 0)
            return json_array_get(tasks, i);
    return NULL;
}

static void expect_words(const json_t *list, const char *const *words, size_t count)
{
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(json_string_value(json_array_get(list, i)), words[i]);
}
#define EXPECT_WORDS(list, ...)                                               \
    do {                                                                      \
        static const char *const expected[] = {__VA_ARGS__};                  \
        expect_words(list, expected, sizeof(expected) / sizeof(expected[0])); \
    } while (0)

static void test_the_start_core_launches_the_server(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    struct made m = make(&o);
    assert_string_equal(text_at(m.launch, "version"), "0.2.0");
    assert_int_equal(json_array_size(json_object_get(m.launch, "configurations")), 2);
    const json_t *c = configuration(&m, 0), *target = json_object_get(c, "target");
    assert_string_equal(text_at(c, "name"), "CM7 (corral, launch)");
    assert_string_equal(text_at(c, "type"), "gdbtarget");
    assert_string_equal(text_at(c, "request"), "launch");
    assert_string_equal(text_at(c, "program"), "out/m7.axf");
    assert_string_equal(text_at(c, "gdb"), "gdb-multiarch");
    assert_string_equal(text_at(c, "cwd"), "${workspaceFolder}");
    assert_true(json_is_true(json_object_get(c, "auxiliaryGdb")));
    assert_string_equal(text_at(target, "server"), "corral");
    EXPECT_WORDS(json_object_get(target, "serverParameters"), "--link", "cmsis-dap", "serve", "--cbuild-run",
                 "out/app.cbuild-run.yml", "--sync");
    assert_string_equal(text_at(target, "port"), "3336"); /* a text, as the adapter has it */
    EXPECT_WORDS(json_object_get(c, "initCommands"), "monitor reset halt", "maintenance flush register-cache",
                 "tbreak main");
    EXPECT_WORDS(json_object_get(c, "customResetCommands"), "monitor reset halt",
                 "maintenance flush register-cache");
    done(&m);
}

/* CMSIS-Debugger's key: each session has it, and a path that does not depend on where the editor was started.
 */
static void test_the_projects_file_is_named_to_the_editor(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    struct made m = make(&o);
    assert_null(json_object_get(configuration(&m, 0), "cmsis"));
    done(&m);
    static const char *const given[] = {"out/app.cbuild-run.yml", "/p/app.cbuild-run.yml"};
    static const char *const shown[] = {"${workspaceFolder}/out/app.cbuild-run.yml", "/p/app.cbuild-run.yml"};
    for (size_t i = 0; i < 2; i++) {
        o.cbuild_run = given[i];
        m = make(&o);
        for (size_t core = 0; core < 2; core++) {
            const json_t *cmsis = json_object_get(configuration(&m, core), "cmsis");
            assert_string_equal(text_at(cmsis, "cbuildRunFile"), shown[i]);
        }
        done(&m);
    }
    o.cbuild_run = "${command:run}.yml";
    struct diag d = DIAG_INIT;
    char *launch = NULL, *tasks = NULL;
    assert_int_equal(launch_make(&o, &launch, &tasks, &d), CORRAL_ERR_FORMAT);
}

static void test_the_others_attach_with_the_port_alone(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    struct made m = make(&o);
    const json_t *c = configuration(&m, 1), *target = json_object_get(c, "target");
    assert_string_equal(text_at(c, "name"), "CM4 (corral, attach)");
    assert_string_equal(text_at(c, "type"), "gdbtarget");
    assert_string_equal(text_at(c, "request"), "attach");
    assert_string_equal(text_at(c, "program"), "out/m4.axf");
    assert_int_equal(json_object_size(target), 1);
    assert_string_equal(text_at(target, "port"), "3339");
    /* Another core's reset would take back what the start core has begun with. */
    assert_null(json_object_get(c, "initCommands"));
    assert_true(json_is_true(json_object_get(c, "auxiliaryGdb")));
    assert_non_null(json_object_get(c, "customResetCommands"));
    done(&m);
}

static void test_another_start_core(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    o.start = 1;
    struct made m = make(&o);
    assert_string_equal(text_at(configuration(&m, 0), "request"), "attach");
    assert_string_equal(text_at(configuration(&m, 1), "request"), "launch");
    /* The order is that of the ports; the one with the server is the first of the compound. */
    const json_t *compound = json_array_get(json_object_get(m.launch, "compounds"), 0);
    EXPECT_WORDS(json_object_get(compound, "configurations"), "CM4 (corral, launch)", "CM7 (corral, attach)");
    done(&m);
}

static void test_the_compound_has_all(void **state)
{
    (void)state;
    static const struct launch_core four[] = {
        {"a", 1, NULL, NULL}, {"b", 2, NULL, NULL}, {"c", 3, NULL, NULL}, {"d", 65535, NULL, NULL}};
    struct launch_options o = options_of_two();
    o.cores = four;
    o.core_count = 4;
    o.start = 2;
    struct made m = make(&o);
    const json_t *compounds = json_object_get(m.launch, "compounds"), *c = json_array_get(compounds, 0);
    assert_int_equal(json_array_size(compounds), 1);
    assert_string_equal(text_at(c, "name"), "Maker::Dual (corral)");
    assert_true(json_is_true(json_object_get(c, "stopAll")));
    EXPECT_WORDS(json_object_get(c, "configurations"), "c (corral, launch)", "a (corral, attach)",
                 "b (corral, attach)", "d (corral, attach)");
    assert_string_equal(text_at(json_object_get(configuration(&m, 3), "target"), "port"), "65535");
    done(&m);
    o.name = NULL;
    m = make(&o);
    assert_string_equal(text_at(json_array_get(json_object_get(m.launch, "compounds"), 0), "name"),
                        "all cores (corral)");
    done(&m);
}

static void test_a_core_without_a_program(void **state)
{
    (void)state;
    static const struct launch_core one[] = {{"core0", 3333, NULL, NULL}};
    struct launch_options o = options_of_two();
    o.cores = one;
    o.core_count = 1;
    struct made m = make(&o);
    assert_string_equal(text_at(configuration(&m, 0), "program"), "");
    /* There is no main to stop at. */
    EXPECT_WORDS(json_object_get(configuration(&m, 0), "initCommands"), "monitor reset halt",
                 "maintenance flush register-cache");
    assert_null(task(&m, "corral load"));
    assert_null(task(&m, "corral load core0"));
    assert_non_null(task(&m, "corral serve"));
    done(&m);
}

static void test_places_that_are_said(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    o.host = "10.0.0.2";
    o.gdb = "arm-none-eabi-gdb";
    o.cwd = "/project";
    struct made m = make(&o);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(text_at(configuration(&m, i), "gdb"), "arm-none-eabi-gdb");
        assert_string_equal(text_at(configuration(&m, i), "cwd"), "/project");
        assert_string_equal(text_at(json_object_get(configuration(&m, i), "target"), "host"), "10.0.0.2");
    }
    assert_string_equal(text_at(json_object_get(configuration(&m, 0), "target"), "cwd"), "/project");
    assert_string_equal(text_at(json_object_get(task(&m, "corral serve"), "options"), "cwd"), "/project");
    done(&m);
}

static bool matches(const char *pattern, const char *line)
{
    regex_t regex;
    char posix[128] = "";
    /* The editor's dialect has \d, which POSIX has not. */
    for (const char *from = pattern; *from; from++) {
        bool digit = from[0] == '\\' && from[1] == 'd';
        strncat(posix, digit ? "[0-9]" : (char[2]){*from, '\0'}, sizeof(posix) - strlen(posix) - 1);
        from += digit;
    }
    assert_int_equal(regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB), 0);
    bool found = regexec(&regex, line, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static void test_the_task_of_the_server(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    struct made m = make(&o);
    assert_string_equal(text_at(m.tasks, "version"), "2.0.0");
    const json_t *t = task(&m, "corral serve"), *matcher = json_object_get(t, "problemMatcher");
    const json_t *background = json_object_get(matcher, "background");
    assert_string_equal(text_at(t, "type"), "process"); /* no shell */
    assert_string_equal(text_at(t, "command"), "corral");
    EXPECT_WORDS(json_object_get(t, "args"), "--link", "cmsis-dap", "serve", "--cbuild-run",
                 "out/app.cbuild-run.yml", "--sync");
    assert_true(json_is_true(json_object_get(t, "isBackground")));
    assert_true(json_is_true(json_object_get(background, "activeOnStart")));
    assert_non_null(json_object_get(background, "beginsPattern"));
    const char *ends = text_at(background, "endsPattern");
    assert_true(matches(ends, "corral: gdb for CM7 on 127.0.0.1:3336"));
    assert_true(matches(ends, "corral: gdb for all cores on 127.0.0.1:3332"));
    assert_false(matches(ends, "corral: cannot listen on 127.0.0.1:3336"));
    assert_false(matches(ends, "corral: gdb for CM7 on nowhere"));
    assert_string_equal(text_at(json_object_get(matcher, "pattern"), "regexp"),
                        "^corral: (.+?):(\\d+): (.+)$");
    done(&m);
}

static void test_tasks_that_load(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    struct made m = make(&o);
    const json_t *t = task(&m, "corral load CM7");
    assert_string_equal(text_at(t, "type"), "process");
    EXPECT_WORDS(json_object_get(t, "args"), "--link", "cmsis-dap", "load", "--core", "core0", "--",
                 "out/m7.axf");
    EXPECT_WORDS(json_object_get(task(&m, "corral load CM4"), "args"), "--link", "cmsis-dap", "load",
                 "--core", "CM4", "--", "out/m4.axf");
    t = task(&m, "corral load");
    EXPECT_WORDS(json_object_get(t, "dependsOn"), "corral load CM7", "corral load CM4");
    assert_string_equal(text_at(t, "dependsOrder"), "sequence"); /* they share the link */
    done(&m);
    o.load_count = 0;
    m = make(&o);
    assert_int_equal(json_array_size(json_object_get(m.tasks, "tasks")), 1);
    done(&m);
}

static void test_the_same_texts_every_time(void **state)
{
    (void)state;
    struct launch_options o = options_of_two();
    char *launch[2], *tasks[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(launch_make(&o, &launch[i], &tasks[i], NULL), CORRAL_OK);
    assert_string_equal(launch[0], launch[1]);
    assert_string_equal(tasks[0], tasks[1]);
    /* What a person looks for comes first. */
    assert_int_equal(strncmp(launch[0], "{\n    \"version\": \"0.2.0\",\n    \"configurations\": [\n", 49),
                     0);
    for (size_t i = 0; i < 2; i++) {
        free(launch[i]);
        free(tasks[i]);
    }
}

static void expect_refused(const struct launch_options *o, enum corral_err code, const char *words)
{
    struct diag d = DIAG_INIT;
    char *launch = NULL, *tasks = NULL;
    assert_int_equal(launch_make(o, &launch, &tasks, &d), code);
    assert_int_equal(d.code, code);
    if (!strstr(d.message, words))
        fail_msg("'%s'; expected is '%s'", d.message, words);
    assert_null(launch);
    assert_null(tasks);
}

/* A description is a stranger's, and the editor runs ${command:...}. */
static void test_words_that_the_editor_would_run(void **state)
{
    (void)state;
    struct launch_core cores[2];
    struct launch_options o = options_of_two();
    o.cores = cores;
    memcpy(cores, two, sizeof(two));
    cores[1].elf = "out/${command:workbench.action.tasks.runTask}.axf";
    expect_refused(&o, CORRAL_ERR_FORMAT, "the path 'out/${command:");
    cores[1] = two[1];
    cores[0].name = "C${env:HOME}";
    expect_refused(&o, CORRAL_ERR_FORMAT, "a core's name 'C${env:HOME}' has '${' in it");
    cores[0] = two[0];
    cores[0].load_name = "${x}";
    expect_refused(&o, CORRAL_ERR_FORMAT, "a core's name '${x}'");
    cores[0] = two[0];
    o.name = "${x}";
    expect_refused(&o, CORRAL_ERR_FORMAT, "the name '${x}'");
    o.name = "x";
    cores[0].elf = "a\xFF"
                   "b";
    expect_refused(&o, CORRAL_ERR_FORMAT, "the path 'a\\xffb' is not UTF-8");
    /* The user's own words are the user's. */
    static const char *const own[] = {"${workspaceFolder}/corral", "serve"};
    static const char *const bad[] = {"corral", "serve", "\xC3("};
    o = options_of_two();
    o.server = own;
    o.server_count = 2;
    struct made m = make(&o);
    assert_string_equal(text_at(task(&m, "corral serve"), "command"), "${workspaceFolder}/corral");
    done(&m);
    o.server = bad;
    o.server_count = 3;
    expect_refused(&o, CORRAL_ERR_FORMAT, "is not UTF-8");
}

static void test_what_cannot_be_written(void **state)
{
    (void)state;
    static const struct launch_core twins[] = {{"a", 1, NULL, NULL}, {"a", 2, NULL, NULL}};
    struct launch_options o = options_of_two();
    o.cores = twins;
    expect_refused(&o, CORRAL_ERR_USAGE, "two cores are called a");
    o.core_count = 0;
    expect_refused(&o, CORRAL_ERR_USAGE, "0 cores cannot be written");
    o.core_count = 2;
    o.start = 2;
    expect_refused(&o, CORRAL_ERR_USAGE, "cannot be written");
    static struct launch_core many[LAUNCH_MAX_CORES + 1];
    o.cores = many;
    o.start = 0;
    o.core_count = LAUNCH_MAX_CORES + 1;
    expect_refused(&o, CORRAL_ERR_USAGE, "65 cores");
    static char name[300];
    memset(name, 'n', sizeof(name) - 1);
    struct launch_core one = {name, 1, NULL, NULL};
    o.cores = &one;
    o.core_count = 1;
    expect_refused(&o, CORRAL_ERR_FORMAT, "is too long");
    name[200] = '\0';
    struct made m = make(&o);
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_start_core_launches_the_server),
        cmocka_unit_test(test_the_projects_file_is_named_to_the_editor),
        cmocka_unit_test(test_the_others_attach_with_the_port_alone),
        cmocka_unit_test(test_another_start_core),
        cmocka_unit_test(test_the_compound_has_all),
        cmocka_unit_test(test_a_core_without_a_program),
        cmocka_unit_test(test_places_that_are_said),
        cmocka_unit_test(test_the_task_of_the_server),
        cmocka_unit_test(test_tasks_that_load),
        cmocka_unit_test(test_the_same_texts_every_time),
        cmocka_unit_test(test_words_that_the_editor_would_run),
        cmocka_unit_test(test_what_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
