/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral serve --print-launch: launch.json and tasks.json, shown or written into a folder (print_launch.h).
 * What stands in them is session/launch.h's.
 */
#include "cli/print_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/put_json.h"
#include "session/config.h"
#include "session/described.h"
#include "session/launch.h"
#include "session/sequences.h"

#define PATH_MOST 4096

/* ---- into a folder */

struct written {
    char path[PATH_MOST];
    int fd; /* -1: not made */
};

static enum corral_err failed(struct diag *d, const char *path, int error)
{
    diag_set(d, CORRAL_ERR_IO, "%.200s: %s", path, strerror(error));
    if (error == EEXIST)
        diag_hint(d, "it is left as it is: print without a folder, and put in what is missing");
    if (error == ENOENT)
        diag_hint(d, "the folder is made by nobody: mkdir -p it first");
    return CORRAL_ERR_IO;
}

/* Only where there is none: a user's own configurations may be in it. */
static enum corral_err make(struct written *w, const char *folder, const char *name, struct diag *d)
{
    int n = snprintf(w->path, sizeof(w->path), "%s/%s", folder, name);
    w->fd = -1;
    if (n < 0 || (size_t)n >= sizeof(w->path))
        return failed(d, folder, ENAMETOOLONG);
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return w->fd < 0 ? failed(d, w->path, errno) : CORRAL_OK;
}

static enum corral_err fill(struct written *w, const char *text, struct diag *d)
{
    size_t size = strlen(text), done = 0;
    while (done < size) {
        ssize_t n = write(w->fd, text + done, size - done);
        if (n < 0 && errno != EINTR)
            return failed(d, w->path, errno);
        done += n > 0 ? (size_t)n : 0;
    }
    return CORRAL_OK;
}

static enum corral_err finish(struct written *w, enum corral_err err, struct diag *d)
{
    if (w->fd < 0)
        return err;
    if (close(w->fd) != 0 && !err)
        err = failed(d, w->path, errno);
    w->fd = -1;
    return err;
}

/* Both or none. */
static enum corral_err write_both(const char *folder, const char *launch, const char *tasks, struct diag *d)
{
    struct written *w = calloc(2, sizeof(*w));
    if (!w)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    w[1].fd = -1;
    bool made[2] = {false, false};
    enum corral_err err = make(&w[0], folder, "launch.json", d);
    made[0] = !err;
    if (!err)
        err = make(&w[1], folder, "tasks.json", d);
    made[1] = made[0] && !err;
    if (!err)
        err = fill(&w[0], launch, d);
    if (!err)
        err = fill(&w[1], tasks, d);
    err = finish(&w[0], err, d);
    err = finish(&w[1], err, d);
    for (size_t i = 0; i < 2; i++)
        if (err && made[i])
            unlink(w[i].path);
    free(w);
    return err;
}

/* ---- what is to stand in them */

#define WORDS_MOST   96
#define DEFAULT_PORT 3333

struct words {
    const char *list[WORDS_MOST];
    size_t count;
};

static bool add(struct words *w, const char *word)
{
    if (w->count == WORDS_MOST)
        return false;
    w->list[w->count++] = word;
    return true;
}

static bool add_option(struct words *w, const char *option, const char *value)
{
    return !value || (add(w, option) && add(w, value));
}

/* The general options that say which target it is, as they were given. */
static bool add_general(struct words *w, const struct cli *cli, char clock[16])
{
    static const char *const connects[] = {[CONNECT_ATTACH] = "attach",
                                           [CONNECT_UNDER_RESET] = "under-reset",
                                           [CONNECT_PRE_RESET] = "pre-reset"};
    const struct session_wire *wire = &cli->wire;
    snprintf(clock, 16, "%u", (unsigned)cli->clock_hz);
    return add(w, "corral") && add_option(w, "--target", cli->target) && add_option(w, "--link", cli->link) &&
           add_option(w, "--clock", cli->clock_hz ? clock : NULL) &&
           add_option(w, "--protocol",
                      wire->protocol == LINK_PROTOCOL_SWD    ? "swd"
                      : wire->protocol == LINK_PROTOCOL_JTAG ? "jtag"
                                                             : NULL) &&
           add_option(w, "--connect", wire->connect ? connects[wire->connect] : NULL);
}

/* This command's own words but the one that asks for the files, which may be cut short. */
static bool add_own(struct words *w, const struct launch_request *r)
{
    for (int i = 0; i < r->argc; i++)
        if (strncmp(r->argv[i], "--pri", 5) != 0 && !add(w, r->argv[i]))
            return false;
    return true;
}

struct described {
    const char *names[LAUNCH_MAX_CORES], *pnames[LAUNCH_MAX_CORES], *elfs[LAUNCH_MAX_CORES];
    size_t count, start;
};

static bool is_wanted(const struct launch_request *r, const char *name)
{
    for (size_t i = 0; i < r->core_count; i++)
        if (strcmp(r->cores[i], name) == 0)
            return true;
    return r->core_count == 0;
}

static void add_core(struct described *c, const struct launch_request *r, const char *name, const char *pname,
                     const char *elf)
{
    if (!is_wanted(r, name) || c->count == LAUNCH_MAX_CORES)
        return;
    c->names[c->count] = name;
    c->pnames[c->count] = pname;
    c->elfs[c->count++] = elf;
}

/* As serve will call them: corral.yml's names before the description's. */
static void find_cores(const struct launch_request *r, const struct config *config,
                       const struct pack_device *device, struct described *c)
{
    const struct pack_processor *start = device ? sequences_start_processor(device) : NULL;
    for (size_t i = 0; device && i < device->processor_count; i++) {
        const struct pack_processor *p = &device->processors[i];
        uint32_t ap = 0;
        const struct config_core *core = sequences_ap_of(device, p, &ap) ? config_core_on(config, ap) : NULL;
        if (p == start)
            c->start = c->count;
        add_core(c, r,
                 core          ? core->name
                 : p->pname[0] ? p->pname
                               : "core0",
                 p->pname, core && core->elf ? core->elf : described_program(device, p->pname));
    }
    for (size_t i = 0; !device && config && i < config->core_count; i++)
        add_core(c, r, config->cores[i].name, NULL, config->cores[i].elf);
    if (c->start >= c->count)
        c->start = 0;
}

static enum corral_err take_ports(const struct launch_request *r, const struct pack_device *device,
                                  const struct described *c, struct launch_core *cores, struct diag *d)
{
    uint16_t ports[LAUNCH_MAX_CORES];
    bool listed = device && !r->port_set && described_ports(device, c->pnames, c->count, ports);
    unsigned first = r->port_set ? r->port : DEFAULT_PORT;
    if (r->port_set && !first)
        return diag_set(d, CORRAL_ERR_USAGE,
                        "--print-launch: a debugger must know the port: --gdb-port 0 does not say it");
    for (size_t i = 0; i < c->count; i++) {
        unsigned port = listed ? ports[i] : first + (unsigned)i;
        if (!port || port > UINT16_MAX)
            return diag_set(d, CORRAL_ERR_USAGE, "--print-launch: there is no port left for %s", c->names[i]);
        cores[i] = (struct launch_core){.name = c->names[i], .port = (uint16_t)port, .elf = c->elfs[i]};
    }
    return CORRAL_OK;
}

static enum corral_err make_texts(const struct cli *cli, const struct launch_request *r,
                                  const struct config *config, const struct pack_device *device,
                                  char **launch, char **tasks, struct diag *d)
{
    struct words server = {.count = 0}, load = {.count = 0};
    struct launch_core cores[LAUNCH_MAX_CORES];
    struct described c = {.count = 0};
    char clock[16];
    find_cores(r, config, device, &c);
    if (!c.count) {
        diag_set(d, CORRAL_ERR_USAGE, "--print-launch: which cores there are is not known");
        diag_hint(d, "--pack, --cbuild-run, or cores: in corral.yml say it, and --core names some of those");
        return CORRAL_ERR_USAGE;
    }
    enum corral_err err = take_ports(r, device, &c, cores, d);
    if (err)
        return err;
    bool fits = add_general(&server, cli, clock) && add(&server, "serve") && add_own(&server, r);
    /* corral load has no description but corral.yml's, and would call the cores otherwise. */
    if (config && fits)
        fits = add_general(&load, cli, clock) && add(&load, "load");
    if (!fits)
        return diag_set(d, CORRAL_ERR_LIMIT, "--print-launch: the command line has too many words");
    const char *cbuild_run = r->pack->cbuild_run;
    if (!cbuild_run && !r->pack->pack && config)
        cbuild_run = config->cbuild_run;
    struct launch_options o = {.name = device ? device->name : NULL,
                               .server = server.list,
                               .server_count = server.count,
                               .load = load.list,
                               .load_count = load.count,
                               .cores = cores,
                               .core_count = c.count,
                               .start = c.start,
                               .host = r->address,
                               .cbuild_run = cbuild_run};
    return launch_make(&o, launch, tasks, d);
}

/* ---- out */

static enum corral_err show(const struct cli *cli, const char *launch, const char *tasks, struct diag *d)
{
    if (!cli->json) {
        printf("// .vscode/launch.json\n%s// .vscode/tasks.json\n%s", launch, tasks);
        return CORRAL_OK;
    }
    json_t *j =
        json_pack("{s:o,s:o}", "launch", json_loads(launch, 0, NULL), "tasks", json_loads(tasks, 0, NULL));
    return cli_put_json(j, d);
}

int print_launch(const struct cli *cli, const struct launch_request *r)
{
    struct diag d = DIAG_INIT;
    struct config *config = NULL;
    struct pack_target target = {0};
    char *launch = NULL, *tasks = NULL;
    enum corral_err err = cli_load_config(cli, &config, &d);
    if (!err)
        err = pack_options_open(cli, r->pack, config, &target, &d);
    if (!err)
        err = make_texts(cli, r, config, target.device, &launch, &tasks, &d);
    if (!err)
        err = r->folder ? write_both(r->folder, launch, tasks, &d) : show(cli, launch, tasks, &d);
    free(launch);
    free(tasks);
    pack_target_close(&target);
    config_free(config);
    return err ? cli_fail(cli, &d) : 0;
}
