/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See openocd_rpc.h. Command and answer end with 0x1A. An answer does not say whether the command failed, so
 * each is wrapped in `catch`, and numbered, so that an answer to something else is not taken for ours.
 *
 * A spawned OpenOCD has its Tcl port on standard input and output, which are one socket here: no port can be
 * taken by somebody else, nobody else can connect, and OpenOCD ends when the socket does, even where this
 * process is killed.
 */
#include "link/openocd_rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define END_OF_MESSAGE   0x1A
#define ANSWER_MS        10000
#define START_MS         30000
#define GRACE_MS         3000
#define HURRY_MS         100
#define NOTIFICATIONS    100 /* between a command and its answer */
#define SAID_MAX         (16u << 10)
#define STANDARD_STREAMS 3
#define SIGNALS_MAX      4

struct openocd_rpc {
    int fd;
    pid_t child;        /* 0: somebody else's */
    int said;           /* the read end of its standard error, or -1 */
    bool failed, hurry; /* nobody waits for a child that does not answer */
    int64_t limit;      /* of every wait, link_tcp_now */
    int patience;       /* ms for an answer; 0 = ANSWER_MS */
    unsigned number;
    size_t filled, taken; /* of `in` */
    char name[LINK_TCP_NAME];
    char out[OPENOCD_SCRIPT_MAX + 256];
    char in[OPENOCD_ANSWER_MAX];
    struct diag why;
};

/* Ends the child, if it has not yet, and keeps nothing of it. */
static void reap(struct openocd_rpc *r)
{
    static const struct timespec nap = {.tv_nsec = 2000000};
    if (r->child <= 0)
        return;
    int grace = r->hurry ? HURRY_MS : GRACE_MS;
    int64_t end = link_tcp_now() + grace;
    int signals = 0;
    while (waitpid(r->child, NULL, WNOHANG) == 0) {
        if (signals == SIGNALS_MAX)
            break; /* not even SIGKILL: it hangs in the kernel */
        if (link_tcp_now() >= end) {
            kill(r->child, signals++ ? SIGKILL : SIGTERM);
            end = link_tcp_now() + grace;
        }
        nanosleep(&nap, NULL);
    }
    r->child = 0;
}

/* The first lines of what a child that ended said as errors; else its last line. */
static void last_words(struct openocd_rpc *r, char *out, size_t room)
{
    char said[SAID_MAX], lines[240] = "";
    size_t size = 0;
    ssize_t n;
    const char *last = "";
    out[0] = '\0';
    while (size < sizeof(said) - 1 && (n = read(r->said, said + size, sizeof(said) - 1 - size)) > 0)
        size += (size_t)n;
    for (size_t i = 0; i < size; i++)
        said[i] = said[i] ? said[i] : ' ';
    said[size] = '\0';
    char *save = NULL;
    for (char *line = strtok_r(said, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
        const char *error = strstr(line, "Error: ");
        size_t used = strlen(lines);
        last = line;
        if (error && used < sizeof(lines) - 1)
            snprintf(lines + used, sizeof(lines) - used, "%s%s", used ? "; " : "", error + 7);
    }
    const char *text = lines[0] ? lines : last;
    text_escape((const uint8_t *)text, strlen(text), out, room);
}

/* From now on nothing works any more. */
static enum corral_err dead(struct openocd_rpc *r, enum corral_err code, const char *what, struct diag *d)
{
    char words[250] = "";
    if (!r->failed) {
        bool ours = r->child > 0;
        r->failed = true;
        shutdown(r->fd, SHUT_RDWR);
        reap(r);
        if (ours)
            last_words(r, words, sizeof(words));
        diag_set(&r->why, code, "OpenOCD (%s) %s%s%s", r->name, what, words[0] ? ": " : "", words);
        diag_object(&r->why, "%s", r->name);
    }
    if (d)
        *d = r->why;
    return r->why.code;
}

static _Noreturn void run_openocd(int fd, int said, char *const argv[])
{
    static const char no_program[] = "Error: there is no program 'openocd' to run\n";
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid(); /* the terminal's Ctrl-C is ours: it must outlive our good-bye to the target */
    if (dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0)
        execvp(argv[0], argv);
    if (write(said, no_program, sizeof(no_program) - 1) < 0)
        _exit(126);
    _exit(127);
}

/* A descriptor that dup2 onto the standard streams cannot clobber, close on exec. */
static int lift(int fd)
{
    if (fd < 0 || fd >= STANDARD_STREAMS)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, STANDARD_STREAMS);
    close(fd);
    return high;
}

static bool spawn(struct openocd_rpc *r, const char *config, const char *setup)
{
    char first[] = "gdb_port disabled; telnet_port disabled; tcl_port pipe";
    char name[] = "openocd", option_c[] = "-c", option_f[] = "-f", last[] = "init; catch {poll off}";
    char *own_config = strdup(config), *own_setup = strdup(setup);
    char *const argv[] = {name,     option_c,  first,    option_f, own_config,
                          option_c, own_setup, option_c, last,     NULL};
    int ends[2] = {-1, -1}, said[2] = {-1, -1};
    bool good =
        own_config && own_setup && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
        pipe2(said, O_CLOEXEC | O_NONBLOCK) == 0; /* what does not fit is lost: nobody reads for long */
    for (size_t i = 0; i < 2; i++) {
        ends[i] = lift(ends[i]);
        said[i] = lift(said[i]);
        good = good && ends[i] >= 0 && said[i] >= 0;
    }
    r->child = good ? fork() : -1;
    if (r->child == 0)
        run_openocd(ends[1], said[1], argv);
    good = r->child > 0;
    if (ends[1] >= 0)
        close(ends[1]);
    if (said[1] >= 0)
        close(said[1]);
    r->fd = ends[0];
    r->said = said[0];
    free(own_config);
    free(own_setup);
    return good;
}

struct openocd_rpc *openocd_rpc_open(const char *words, const char *setup, int64_t limit, struct diag *d)
{
    struct openocd_rpc *r = calloc(1, sizeof(*r));
    if (!r) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    r->fd = r->said = -1;
    r->limit = limit;
    if (strncmp(words, "spawn:", 6) != 0) {
        r->fd = link_tcp_connect_within(words, "openocd", link_tcp_left(limit, INT_MAX), r->name, d);
        if (r->fd >= 0)
            return r;
    } else if (words[6] == '\0') {
        diag_set(d, CORRAL_ERR_USAGE, "--link openocd:spawn: an OpenOCD configuration file is wanted");
        diag_hint(d, "for example --link openocd:spawn:board.cfg");
    } else {
        text_escape((const uint8_t *)words + 6, strlen(words + 6), r->name, sizeof(r->name));
        if (spawn(r, words + 6, setup))
            return r;
        diag_set(d, CORRAL_ERR_LINK_DOWN, "cannot start OpenOCD: %s", strerror(errno));
    }
    openocd_rpc_close(r);
    return NULL;
}

void openocd_rpc_close(struct openocd_rpc *r)
{
    if (!r)
        return;
    if (r->fd >= 0) {
        shutdown(r->fd, SHUT_RDWR);
        close(r->fd);
    }
    reap(r);
    if (r->said >= 0)
        close(r->said);
    free(r);
}

void openocd_rpc_set_patience(struct openocd_rpc *r, int ms)
{
    r->patience = ms;
}

void openocd_rpc_set_limit(struct openocd_rpc *r, int64_t limit)
{
    r->limit = limit;
}

const char *openocd_rpc_name(const struct openocd_rpc *r)
{
    return r->name;
}

/* The next message, NUL in place of its end. NULL when there will be none. */
static char *receive(struct openocd_rpc *r, int64_t end, struct diag *d)
{
    memmove(r->in, r->in + r->taken, r->filled - r->taken);
    r->filled -= r->taken;
    r->taken = 0;
    for (size_t seen = 0;;) {
        char *at = memchr(r->in + seen, END_OF_MESSAGE, r->filled - seen);
        if (at) {
            *at = '\0';
            r->taken = (size_t)(at - r->in) + 1;
            return r->in;
        }
        seen = r->filled;
        if (r->filled == sizeof(r->in)) {
            dead(r, CORRAL_ERR_LINK_PROTOCOL, "sent an answer without end", d);
            return NULL;
        }
        int64_t left = end - link_tcp_now();
        ssize_t n =
            link_tcp_receive(r->fd, r->in + r->filled, sizeof(r->in) - r->filled, left > 0 ? (int)left : 0);
        if (n <= 0) {
            const char *what = n == 0 || errno == ECONNRESET ? r->child ? "ended" : "closed the connection"
                               : errno == ETIMEDOUT          ? "does not answer"
                                                             : "cannot be heard any more";
            r->hurry = n < 0 && errno == ETIMEDOUT;
            dead(r, CORRAL_ERR_LINK_DOWN, what, d);
            return NULL;
        }
        r->filled += (size_t)n;
    }
}

enum corral_err openocd_rpc_run(struct openocd_rpc *r, const char *script, const char **result,
                                const char **error, struct diag *d)
{
    char mark[24];
    if (r->failed)
        return dead(r, r->why.code, "", d);
    int ms = link_tcp_left(r->limit, r->child && r->number == 0 ? START_MS
                                     : r->patience              ? r->patience
                                                                : ANSWER_MS);
    int length = snprintf(mark, sizeof(mark), "corral%u|", ++r->number);
    int n = snprintf(r->out, sizeof(r->out),
                     "set corral_r {}; set corral_c [catch {%s} corral_e]; "
                     "format %%s%%s|%%s|%%s {%s} $corral_c $corral_r $corral_e\x1A",
                     script, mark);
    if (length < 0 || n < 0 || (size_t)n >= sizeof(r->out))
        return diag_set(d, CORRAL_ERR_USAGE, "a script for OpenOCD is too long");
    int64_t end = link_tcp_now() + ms;
    if (link_tcp_send(r->fd, r->out, (size_t)n, ms) != 0)
        return dead(r, CORRAL_ERR_LINK_DOWN, r->child ? "ended" : "closed the connection", d);
    for (unsigned i = 0; i < NOTIFICATIONS; i++) {
        char *text = receive(r, end, d);
        if (!text)
            return r->why.code;
        /* A spawned one's configuration may have printed something ahead of the first answer. */
        char *at = r->child && r->number == 1 ? strstr(text, mark) : text;
        if (at && strncmp(at, mark, (size_t)length) == 0) {
            char *bar = NULL;
            long code = strtol(at + length, &bar, 10);
            char *second = *bar == '|' ? strchr(bar + 1, '|') : NULL;
            if (!second || bar == at + length)
                break;
            *second = '\0';
            *result = bar + 1;
            *error = code ? second + 1 : NULL;
            return CORRAL_OK;
        }
        if (strncmp(text, "type ", 5) != 0) /* else a notification that somebody asked for */
            break;
    }
    return dead(r, CORRAL_ERR_LINK_PROTOCOL, "sent something that is no answer to what it was asked", d);
}
