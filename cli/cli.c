/* SPDX-License-Identifier: Apache-2.0 */
/* The manners all commands share (cli.h): errors, options, signals, closing stdout. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/text.h"
#include "session/config.h"

int cli_fail(const struct cli *cli, const struct diag *d)
{
    char message[TEXT_CLEAN_MAX(sizeof(d->message))];
    char hint[TEXT_CLEAN_MAX(sizeof(d->hint))];
    text_escape((const uint8_t *)d->message, strlen(d->message), message, sizeof(message));
    text_escape((const uint8_t *)d->hint, strlen(d->hint), hint, sizeof(hint));
    if (cli->json) {
        json_t *root = json_pack("{s:{s:i,s:s,s:s,s:s}}", "error", "code", (int)d->code, "name",
                                 corral_err_name(d->code), "message", message, "hint", hint);
        char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
        fprintf(stderr, "%s\n", line ? line : "{\"error\":{\"code\":2,\"name\":\"no-memory\"}}");
        free(line);
        json_decref(root);
    } else {
        fprintf(stderr, "corral: %s\n", message);
        if (hint[0])
            fprintf(stderr, "        %s\n", hint);
    }
    return corral_err_exit_code(d->code);
}

int cli_usage(const struct cli *cli, const struct cli_command *command, const char *fmt, ...)
{
    struct diag d = DIAG_INIT;
    char sentence[sizeof(d.message)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof(sentence), fmt, args);
    va_end(args);
    diag_set(&d, CORRAL_ERR_USAGE, "%s", sentence);
    if (command)
        diag_hint(&d, "see 'corral %s --help'", command->name);
    else
        diag_hint(&d, "see 'corral --help'");
    return cli_fail(cli, &d);
}

void cli_note(void *ctx, const char *sentence)
{
    cli_warn(ctx, NULL, sentence);
}

void cli_warn(const struct cli *cli, const char *core, const char *sentence)
{
    char text[TEXT_CLEAN_MAX(320)], who[TEXT_CLEAN_MAX(64)];
    if (cli->quiet)
        return;
    text_escape((const uint8_t *)sentence, strnlen(sentence, 320), text, sizeof(text));
    text_escape((const uint8_t *)(core ? core : ""), core ? strnlen(core, 64) : 0, who, sizeof(who));
    fflush(stdout); /* where both are one terminal, in the order in which they came */
    if (!cli->json) {
        bool named = !core || strncmp(text, who, strlen(who)) == 0; /* in the sentence itself */
        fprintf(stderr, "corral: %s%s%s\n", named ? "" : who, named ? "" : ": ", text);
        return;
    }
    json_t *root = json_pack("{s:{s:s?,s:s}}", "warning", "core", core ? who : NULL, "message", text);
    char *line = root ? json_dumps(root, JSON_COMPACT) : NULL;
    if (line)
        fprintf(stderr, "%s\n", line);
    free(line);
    json_decref(root);
}

int cli_help(const struct cli_command *command)
{
    fputs(command->help, stdout);
    return 0; /* that it could not be written is said where standard output is closed */
}

/* These commands take a description from a configuration only: who tries the option must learn that. */
static bool is_in_configuration(const struct cli_command *command, const char *word)
{
    static const char *const options[] = {"--pack", "--device", "--cbuild-run"};
    static const char *const commands[] = {"read", "write", "watch", "regs", "load", "cti"};
    bool is_option = false, is_command = false;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        is_option |= strcmp(word, options[i]) == 0;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        is_command |= strcmp(command->name, commands[i]) == 0;
    return is_option && is_command;
}

/* Options of every command are read before its name: who writes one behind it must be told so. */
static int unknown_option(const struct cli *cli, const struct cli_command *command, const char *word)
{
    static const char *const general[] = {"--target",   "--link",    "--timeout", "--clock",
                                          "--protocol", "--connect", "--wire-log"};
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++) {
        size_t n = strlen(general[i]);
        if (strncmp(word, general[i], n) != 0 || (word[n] && word[n] != '='))
            continue;
        diag_set(&d, CORRAL_ERR_USAGE, "%s: %s goes before the command", command->name, general[i]);
        diag_hint(&d, "corral %s ... %s ...", general[i], command->name);
        return cli_fail(cli, &d);
    }
    if (is_in_configuration(command, word)) {
        diag_set(&d, CORRAL_ERR_USAGE, "%s: %s is no option of this command", command->name, word);
        diag_hint(&d, "%s: in a corral.yml is for this command, too: see corral.yml(5)", word + 2);
        return cli_fail(cli, &d);
    }
    return cli_usage(cli, command, "%s: option '%s' is unknown or takes no value", command->name, word);
}

int cli_getopt(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
               const struct option *options, int *exit_code)
{
    opterr = 0;
    int index = optind ? optind : 1;
    int c = getopt_long(argc, argv, ":h", options, NULL);
    if (c == 'h') {
        *exit_code = cli_help(command);
        return CLI_DONE;
    }
    if (c == '?') {
        const char *word = optopt == 0 || optopt >= 256 ? argv[optind - 1] : argv[index];
        *exit_code = unknown_option(cli, command, word);
        return CLI_DONE;
    }
    if (c == ':') {
        *exit_code =
            cli_usage(cli, command, "%s: option '%s' needs a value", command->name, argv[optind - 1]);
        return CLI_DONE;
    }
    return c;
}

bool cli_parse_u64(const struct cli *cli, const struct cli_command *command, const char *what,
                   const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 0) : 0;
    if (!end || *end || errno || v < least || v > most) {
        cli_usage(cli, command, "%s: '%s' is not a number from %llu to %llu", what, text,
                  (unsigned long long)least, (unsigned long long)most);
        return false;
    }
    *value = v;
    return true;
}

bool cli_parse_seconds(const struct cli *cli, const struct cli_command *command, const char *what,
                       const char *text, double least, double most, double *value)
{
    char *end = NULL;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(v) || v < least || v > most) {
        cli_usage(cli, command, "%s: '%s' is not a number of seconds from %g to %g", what, text, least, most);
        return false;
    }
    *value = v;
    return true;
}

enum corral_err cli_load_config(const struct cli *cli, struct config **config, struct diag *d)
{
    const char *path = cli->target;
    *config = NULL;
    if (!path && access("corral.yml", F_OK) == 0)
        path = "corral.yml";
    if (path && !(*config = config_load(path, d)))
        return d->code;
    return CORRAL_OK;
}

enum corral_err cli_close_stdout(struct diag *d)
{
    bool bad = ferror(stdout) != 0;
    if (fflush(stdout) != 0 || bad) {
        int e = errno;
        return diag_set(d, CORRAL_ERR_IO, "cannot write to standard output: %s", strerror(e));
    }
    return CORRAL_OK;
}

#define STUCK_SECONDS 3 /* how long a reader that has stopped reading may hold up the end */

/* Who ends a process with a signal often sends it twice at once (to the group and to the leader): only one
 * that comes later than this is a second wish. */
#define SECOND_SIGNAL_NS 250000000LL

/* A signal handler can reach nothing but file scope: these are the one exception to the rule. */
static atomic_bool cli_stop;
static _Atomic int64_t cli_stopped_at;

static void cli_on_signal(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* async-signal-safe by POSIX */
    int64_t ns = (int64_t)now.tv_sec * 1000000000LL + now.tv_nsec;
    if (!atomic_exchange(&cli_stop, true)) {
        atomic_store(&cli_stopped_at, ns);
        alarm(STUCK_SECONDS);
    } else if (ns - atomic_load(&cli_stopped_at) > SECOND_SIGNAL_NS)
        _exit(128 + signal_number);
}

/* A write that waits for a reader who has stopped reading would outlast the wish to end: it is interrupted,
 * and from then on nobody reads that stream. What else is to be closed is closed as after any other error. */
static void cli_on_alarm(int signal_number)
{
    int kept = errno, ends[2];
    (void)signal_number;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        if (poll(&p, 1, 0) != 0 || pipe(ends) != 0)
            continue;
        close(ends[0]);
        dup2(ends[1], fd);
        close(ends[1]);
    }
    errno = kept;
    alarm(STUCK_SECONDS);
}

const atomic_bool *cli_stop_flag(void)
{
    struct sigaction late = {.sa_handler = cli_on_alarm}; /* not restarted: that is its purpose */
    sigemptyset(&late.sa_mask);
    sigaction(SIGALRM, &late, NULL);
    /* Restarted: a line that is being written when the signal comes is written to its end. */
    struct sigaction action = {.sa_handler = cli_on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* The terminal is gone: as if asked to end, unless the user has said that it shall go on (nohup). */
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    return &cli_stop;
}

bool cli_want_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no && no[0]);
}

enum corral_err cli_attach_sink(struct event_bus *bus, struct sink *sink, struct diag *d)
{
    if (!sink)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = event_bus_attach(bus, sink, d);
    if (err)
        sink_free(sink, NULL);
    return err;
}
