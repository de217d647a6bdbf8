/* SPDX-License-Identifier: Apache-2.0 */
/* See link_places.h. */
#include "tests/unit/link/link_places.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coresight/rom_table.h"
#include "link/cmsis_dap.h"
#include "link/jtag.h"
#include "link/openocd.h"
#include "link/sim.h"

#define PATIENCE_MS 60000 /* for a program to come up on a machine that does much else */
#define WORDS       256u

static bool failed(struct diag *d, const char *what)
{
    diag_set(d, CORRAL_ERR_FAILED, "%s: %s", what, strerror(errno));
    return false;
}

/* Starts `argv` with its stderr in *said, a file: nobody reads what is said later. */
static pid_t start(char *const argv[], int *said)
{
    *said = memfd_create("said", MFD_CLOEXEC);
    if (*said < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails or crashes leaves nobody behind */
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(*said, STDERR_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    return pid;
}

/* Reads what is said until `before` was met, and takes the number behind it. */
static bool wait_for_number(pid_t pid, int said, const char *before, uint16_t *number, struct diag *d)
{
    static const struct timespec nap = {.tv_nsec = 10000000};
    char text[16384] = "";
    for (unsigned i = 0; i < PATIENCE_MS / 10; i++) {
        ssize_t n = pread(said, text, sizeof(text) - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        const char *at = strstr(text, before);
        if (at && strchr(at, '\n')) {
            *number = (uint16_t)strtoul(at + strlen(before), NULL, 10);
            return true;
        }
        if (waitpid(pid, NULL, WNOHANG) != 0)
            break;
        nanosleep(&nap, NULL);
    }
    diag_set(d, CORRAL_ERR_FAILED, "'%s' was not said, but: %.250s", before, text);
    return false;
}

static const struct {
    const char *name, *front;
} kinds[PLACE_KINDS] = {
    [PLACE_SIM] = {"sim", NULL},
    [PLACE_JTAG] = {"jtag", "--jtag"},
    [PLACE_CMSIS_DAP] = {"cmsis-dap", "--cmsis-dap"},
    [PLACE_OPENOCD] = {"openocd", "--stlink"},
    [PLACE_OPENOCD_SPAWN] = {"openocd:spawn", "--jtag"},
};

static bool start_board(struct place *p, const char *corral, const char *more, struct diag *d)
{
    char exe[512], front[24], words[200], said[64], port[] = "0", sim[] = "sim";
    char *argv[24] = {exe, sim, front, port};
    size_t n = 4;
    char *save = NULL;
    snprintf(exe, sizeof(exe), "%s", corral);
    snprintf(front, sizeof(front), "%s", kinds[p->kind].front);
    snprintf(words, sizeof(words), "%s", more ? more : "");
    for (char *w = strtok_r(words, " ", &save); w && n < 23; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    p->board = start(argv, &p->said[0]);
    if (p->board < 0)
        return failed(d, exe);
    snprintf(said, sizeof(said), "%s listens on 127.0.0.1:", front + 2);
    return wait_for_number(p->board, p->said[0], said, &p->port, d);
}

static bool write_config(struct place *p)
{
    strcpy(p->config, "openocd_place_XXXXXX");
    int fd = mkstemp(p->config);
    if (fd < 0)
        return false;
    if (p->kind == PLACE_OPENOCD)
        dprintf(fd,
                "adapter driver st-link\nst-link vid_pid 0x0483 0x374f\nst-link backend tcp %u\n"
                "transport select dapdirect_swd\nswd newdap c cpu -expected-id 0x6ba02477\n"
                "dap create c.dap -chain-position c.cpu\n"
                "target create m0 mem_ap -dap c.dap -ap-num 0\n"
                "target create m1 mem_ap -dap c.dap -ap-num 1\n",
                p->port);
    else
        dprintf(fd,
                "adapter driver remote_bitbang\nremote_bitbang host 127.0.0.1\nremote_bitbang port %u\n"
                "transport select jtag\njtag newtap c cpu -irlen 4 -expected-id 0x4ba00477\n"
                "dap create c.dap -chain-position c.cpu\n",
                p->port);
    dprintf(fd, "reset_config srst_only srst_nogate\n");
    return close(fd) == 0;
}

static bool start_openocd(struct place *p, const char *openocd, struct diag *d)
{
    char exe[512], c[] = "-c", f[] = "-f", init[] = "init; poll off";
    char ports[] = "gdb_port disabled; telnet_port disabled; tcl_port 0";
    char *argv[] = {exe, c, ports, f, p->config, c, init, NULL};
    snprintf(exe, sizeof(exe), "%s", openocd);
    p->openocd = start(argv, &p->said[1]);
    if (p->openocd < 0)
        return failed(d, exe);
    return wait_for_number(p->openocd, p->said[1], "Listening on port ", &p->tcl, d);
}

bool place_start(struct place *p, enum place_kind kind, const char *corral, const char *openocd,
                 const char *more, struct diag *d)
{
    *p = (struct place){.kind = kind, .name = kinds[kind].name, .said = {-1, -1}};
    snprintf(p->more, sizeof(p->more), "%s", more ? more : "");
    if (kind == PLACE_SIM)
        return true;
    if (!start_board(p, corral, more, d))
        return false;
    bool behind = kind == PLACE_OPENOCD || kind == PLACE_OPENOCD_SPAWN;
    if (behind && !write_config(p))
        return failed(d, "a configuration");
    return kind != PLACE_OPENOCD || start_openocd(p, openocd, d);
}

bool place_link(struct place *p, const struct link_options *options, struct diag *d)
{
    p->clock = p->kind == PLACE_SIM ? host_clock_new_virtual() : host_clock_new_real();
    if (!p->clock)
        return failed(d, "a clock");
    switch (p->kind) {
    case PLACE_SIM:
        snprintf(p->spec, sizeof(p->spec), "sim");
        p->link = link_sim_open(
            &(struct link_sim_options){.clock = p->clock, .board = p->more[0] ? p->more : NULL}, d);
        break;
    case PLACE_JTAG:
        snprintf(p->spec, sizeof(p->spec), "jtag:127.0.0.1:%u", p->port);
        p->link = link_jtag_open(p->spec, options, p->clock, d);
        break;
    case PLACE_CMSIS_DAP:
        snprintf(p->spec, sizeof(p->spec), "cmsis-dap:tcp:127.0.0.1:%u", p->port);
        p->link = link_cmsis_dap_open(p->spec, options, p->clock, d);
        break;
    case PLACE_OPENOCD:
        snprintf(p->spec, sizeof(p->spec), "openocd:127.0.0.1:%u", p->tcl);
        p->link = link_openocd_open(p->spec, options, p->clock, d);
        break;
    case PLACE_OPENOCD_SPAWN:
    case PLACE_KINDS:
        snprintf(p->spec, sizeof(p->spec), "openocd:spawn:%s", p->config);
        p->link = link_openocd_open(p->spec, options, p->clock, d);
        break;
    }
    return p->link != NULL;
}

bool place_open(struct place *p, enum place_kind kind, const char *corral, const char *openocd,
                const char *more, struct diag *d)
{
    return place_start(p, kind, corral, openocd, more, d) && place_link(p, NULL, d) &&
           dp_power_up(p->link, d) == CORRAL_OK;
}

static void end(pid_t *pid)
{
    if (*pid <= 0)
        return;
    kill(*pid, SIGCONT);
    kill(*pid, SIGKILL);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

void place_close(struct place *p)
{
    link_close(p->link);
    host_clock_free(p->clock);
    end(&p->openocd);
    end(&p->board);
    for (size_t i = 0; i < 2; i++)
        if (p->said[i] >= 0)
            close(p->said[i]);
    if (p->config[0])
        unlink(p->config);
    *p = (struct place){.said = {-1, -1}};
}

/* A board behind a wire runs while there is something on the wire: some 40 clocks a word at 4 MHz. */
bool place_let_pass(struct place *p, unsigned ms)
{
    uint32_t words[WORDS];
    if (p->kind == PLACE_SIM) {
        host_clock_sleep(p->clock, (int64_t)ms * NS_PER_MS);
        return true;
    }
    for (unsigned i = 0; i < (ms + 1) / 2; i++) {
        struct link_access a = {.op = LINK_MEM_READ,
                                .size = 4,
                                .ap = p->ap,
                                .address = 0x20070000u,
                                .count = WORDS,
                                .data = words};
        if (link_execute(p->link, &a, 1, NULL) != CORRAL_OK)
            return false;
    }
    return true;
}
