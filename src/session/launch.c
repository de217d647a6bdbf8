/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.json and tasks.json (launch.h). Cross-trigger sheet 7. Names and paths may be a stranger's: what the
 * editor would replace in them is refused, and no shell sees them.
 */
#include "session/launch.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MOST 200 /* bytes of a name */
#define LABEL_MAX 256

static enum corral_err no_memory(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
}

/* ---- what can be written */

static enum corral_err refuse(const char *text, const char *what, const char *why, struct diag *d)
{
    char shown[96];
    text_escape((const uint8_t *)text, strlen(text), shown, sizeof(shown));
    diag_set(d, CORRAL_ERR_FORMAT, "%s '%s' %s", what, shown, why);
    diag_object(d, "%s", shown);
    return CORRAL_ERR_FORMAT;
}

static enum corral_err check_utf8(const char *text, const char *what, struct diag *d)
{
    for (size_t i = 0, size = strlen(text); i < size;) {
        uint32_t code;
        size_t length = text_utf8_decode((const uint8_t *)text + i, size - i, &code);
        if (length == 0)
            return refuse(text, what, "is not UTF-8 text", d);
        i += length;
    }
    return CORRAL_OK;
}

/* A stranger's: the words of the command line are the user's own. */
static enum corral_err check_foreign(const char *text, const char *what, size_t most, struct diag *d)
{
    if (strstr(text, "${"))
        return refuse(text, what, "has '${' in it, which the editor would replace", d);
    return strlen(text) > most ? refuse(text, what, "is too long", d) : check_utf8(text, what, d);
}

static enum corral_err check_words(const char *const *words, size_t count, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < count && !err; i++)
        err = check_utf8(words[i], "the word", d);
    return err;
}

static enum corral_err check_core(const struct launch_options *o, size_t i, struct diag *d)
{
    const struct launch_core *core = &o->cores[i];
    enum corral_err err = check_foreign(core->name, "a core's name", NAME_MOST, d);
    if (!err && core->load_name)
        err = check_foreign(core->load_name, "a core's name", NAME_MOST, d);
    if (!err && core->elf)
        err = check_foreign(core->elf, "the path", SIZE_MAX, d);
    for (size_t j = 0; j < i && !err; j++)
        if (strcmp(o->cores[j].name, core->name) == 0)
            err = diag_set(d, CORRAL_ERR_USAGE, "two cores are called %s", core->name);
    return err;
}

static enum corral_err check(const struct launch_options *o, struct diag *d)
{
    if (o->core_count == 0 || o->core_count > LAUNCH_MAX_CORES || o->start >= o->core_count)
        return diag_set(d, CORRAL_ERR_USAGE, "%zu cores cannot be written to launch.json; expected 1 to %d",
                        o->core_count, LAUNCH_MAX_CORES);
    enum corral_err err = check_words(o->server, o->server_count, d);
    if (!err)
        err = check_words(o->load, o->load_count, d);
    for (size_t i = 0; i < o->core_count && !err; i++)
        err = check_core(o, i, d);
    if (!err && o->cbuild_run)
        err = check_foreign(o->cbuild_run, "the path", SIZE_MAX, d);
    return err || !o->name ? err : check_foreign(o->name, "the name", NAME_MOST, d);
}

/* ---- JSON: each takes what it is given, NULL too; a failure is seen at the end */

static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *list_of(const char *const *words, size_t count)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < count && ok; i++)
        ok = json_array_append_new(list, json_string(words[i])) == 0;
    if (ok)
        return list;
    json_decref(list);
    return NULL;
}

/* The text of it, and the end of it. */
static char *text_of(json_t *document, bool ok)
{
    char *text = ok ? json_dumps(document, JSON_INDENT(4)) : NULL;
    json_decref(document);
    size_t size = text ? strlen(text) : 0;
    char *whole = text ? realloc(text, size + 2) : NULL;
    if (!whole) {
        free(text);
        return NULL;
    }
    memcpy(whole + size, "\n", 2);
    return whole;
}

static json_t *cwd_of(const struct launch_options *o)
{
    return json_string(o->cwd ? o->cwd : "${workspaceFolder}");
}

/* ---- launch.json */

static void name_of(const struct launch_options *o, size_t i, char out[LABEL_MAX])
{
    snprintf(out, LABEL_MAX, "%s (corral, %s)", o->cores[i].name, i == o->start ? "launch" : "attach");
}

static json_t *target_of(const struct launch_options *o, size_t i)
{
    char port[8];
    json_t *target = json_object();
    snprintf(port, sizeof(port), "%u", (unsigned)o->cores[i].port);
    bool ok = true;
    if (i == o->start)
        ok = put(target, "server", json_string(o->server[0])) &&
             put(target, "serverParameters", list_of(o->server + 1, o->server_count - 1)) &&
             put(target, "cwd", cwd_of(o));
    if (ok && o->host)
        ok = put(target, "host", json_string(o->host));
    if (ok && put(target, "port", json_string(port)))
        return target;
    json_decref(target);
    return NULL;
}

/* CMSIS-Debugger finds a core's SVD file and component views by it. Its extension knows no folder but ours.
 */
static bool put_cmsis(const struct launch_options *o, json_t *configuration)
{
    const char *path = o->cbuild_run, *folder = o->cwd ? o->cwd : "${workspaceFolder}";
    if (!path)
        return true;
    json_t *file = path[0] == '/' ? json_string(path) : json_sprintf("%s/%s", folder, path);
    json_t *cmsis = json_object();
    bool ok = put(cmsis, "cbuildRunFile", file);
    return put(configuration, "cmsis", cmsis) && ok;
}

static json_t *configuration_of(const struct launch_options *o, size_t i)
{
    /* gdb tries again meanwhile: a server that has a probe to open takes its time. */
    static const char *const before[] = {"set tcp auto-retry on", "set tcp connect-timeout 30"};
    static const char *const reset[] = {"monitor reset halt", "maintenance flush register-cache"};
    static const char *const reset_to_main[] = {"monitor reset halt", "maintenance flush register-cache",
                                                "tbreak main"};
    const struct launch_core *core = &o->cores[i];
    const bool starts = i == o->start;
    char name[LABEL_MAX];
    json_t *c = json_object();
    name_of(o, i, name);
    /* Without a program the editor is not to ask for one: memory can be looked at all the same. */
    bool ok = put(c, "name", json_string(name)) && put(c, "type", json_string("gdbtarget")) &&
              put(c, "request", json_string(starts ? "launch" : "attach")) && put(c, "cwd", cwd_of(o)) &&
              put(c, "program", json_string(core->elf ? core->elf : "")) && put_cmsis(o, c) &&
              put(c, "gdb", json_string(o->gdb ? o->gdb : "gdb-multiarch")) &&
              put(c, "auxiliaryGdb", json_true()) && put(c, "preConnectCommands", list_of(before, 2));
    /* One core's reset is that of all: only the start core's session begins with it. */
    if (ok && starts)
        ok = put(c, "initCommands", list_of(reset_to_main, core->elf ? 3 : 2));
    if (ok && put(c, "customResetCommands", list_of(reset, 2)) && put(c, "target", target_of(o, i)))
        return c;
    json_decref(c);
    return NULL;
}

static json_t *compound_of(const struct launch_options *o)
{
    json_t *names = json_array(), *c = json_object();
    char name[LABEL_MAX];
    bool ok = names && c;
    for (size_t n = 0; n < o->core_count && ok; n++) { /* the one with the server first */
        name_of(o, n == 0 ? o->start : n <= o->start ? n - 1 : n, name);
        ok = json_array_append_new(names, json_string(name)) == 0;
    }
    snprintf(name, sizeof(name), "%s (corral)", o->name ? o->name : "all cores");
    ok = ok && put(c, "name", json_string(name)) && put(c, "configurations", json_incref(names)) &&
         put(c, "stopAll", json_true());
    json_decref(names);
    if (ok)
        return c;
    json_decref(c);
    return NULL;
}

static char *make_launch(const struct launch_options *o)
{
    json_t *document = json_object(), *configurations = json_array(), *compounds = json_array();
    bool ok = document && configurations && compounds;
    for (size_t i = 0; i < o->core_count && ok; i++)
        ok = json_array_append_new(configurations, configuration_of(o, i)) == 0;
    ok = ok && json_array_append_new(compounds, compound_of(o)) == 0 &&
         put(document, "version", json_string("0.2.0")) &&
         put(document, "configurations", json_incref(configurations)) &&
         put(document, "compounds", json_incref(compounds));
    json_decref(configurations);
    json_decref(compounds);
    return text_of(document, ok);
}

/* ---- tasks.json */

/* It is up when it says where its ports are; what it says of a file's line is shown there. It begins once, so
 * nothing matches the pattern of a further beginning. */
static json_t *matcher(void)
{
    return json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i}, s:{s:b, s:s, s:s}}", "owner", "corral",
                     "fileLocation", "autoDetect", "pattern", "regexp", "^corral: (.+?):(\\d+): (.+)$",
                     "file", 1, "line", 2, "message", 3, "background", "activeOnStart", 1, "beginsPattern",
                     "(?!)", "endsPattern", "^corral: gdb for .+ on .+:\\d+$");
}

/* "process": no shell looks at the words. */
static json_t *task(const struct launch_options *o, const char *label, const char *const *words, size_t count)
{
    json_t *t = json_object(), *options = json_object();
    bool ok = t && options && put(options, "cwd", cwd_of(o)) && put(t, "label", json_string(label)) &&
              put(t, "type", json_string("process")) && put(t, "command", json_string(words[0])) &&
              put(t, "args", list_of(words + 1, count - 1)) && put(t, "options", json_incref(options));
    json_decref(options);
    if (ok)
        return t;
    json_decref(t);
    return NULL;
}

static bool add_server(const struct launch_options *o, json_t *tasks)
{
    json_t *t = task(o, "corral serve", o->server, o->server_count);
    return t && put(t, "isBackground", json_true()) && put(t, "problemMatcher", matcher())
               ? json_array_append_new(tasks, t) == 0
               : (json_decref(t), false);
}

static bool add_load(const struct launch_options *o, size_t i, json_t *tasks, json_t *labels)
{
    const struct launch_core *core = &o->cores[i];
    const char *tail[] = {"--core", core->load_name ? core->load_name : core->name, "--", core->elf};
    size_t count = o->load_count + sizeof(tail) / sizeof(tail[0]);
    const char **words = calloc(count, sizeof(*words));
    char label[LABEL_MAX];
    if (!words)
        return false;
    memcpy(words, o->load, o->load_count * sizeof(*words));
    memcpy(words + o->load_count, tail, sizeof(tail));
    snprintf(label, sizeof(label), "corral load %s", core->name);
    json_t *t = task(o, label, words, count);
    free(words);
    if (!t || !put(t, "problemMatcher", json_array())) {
        json_decref(t);
        return false;
    }
    return json_array_append_new(tasks, t) == 0 && json_array_append_new(labels, json_string(label)) == 0;
}

static bool add_loads(const struct launch_options *o, json_t *tasks)
{
    json_t *labels = json_array(), *all = json_object();
    bool ok = labels && all;
    for (size_t i = 0; i < o->core_count && ok; i++)
        ok = !o->cores[i].elf || add_load(o, i, tasks, labels);
    if (ok && json_array_size(labels) > 0)
        ok = put(all, "label", json_string("corral load")) && put(all, "dependsOn", json_incref(labels)) &&
             put(all, "dependsOrder", json_string("sequence")) && put(all, "problemMatcher", json_array()) &&
             json_array_append(tasks, all) == 0;
    json_decref(labels);
    json_decref(all);
    return ok;
}

static char *make_tasks(const struct launch_options *o)
{
    json_t *document = json_object(), *tasks = json_array();
    bool ok = document && tasks && add_server(o, tasks) && (o->load_count == 0 || add_loads(o, tasks)) &&
              put(document, "version", json_string("2.0.0")) && put(document, "tasks", json_incref(tasks));
    json_decref(tasks);
    return text_of(document, ok);
}

enum corral_err launch_make(const struct launch_options *options, char **launch, char **tasks, struct diag *d)
{
    *launch = *tasks = NULL;
    enum corral_err err = check(options, d);
    if (err)
        return err;
    *launch = make_launch(options);
    *tasks = *launch ? make_tasks(options) : NULL;
    if (*tasks)
        return CORRAL_OK;
    free(*launch);
    *launch = NULL;
    return no_memory(d);
}
