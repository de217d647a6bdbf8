/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the command line of `corral profile`, and of `corral top` which takes its sources alike
 * (profile_options.h, INTERFACE.md "Commands"). */
#include "cli/profile_options.h"

#include <math.h>
#include <string.h>

#include "base/host_clock.h"
#include "prof/collector.h"
#include "session/profiling.h"

enum {
    OPT_LISTEN = 256,
    OPT_PCAP,
    OPT_PORT,
    OPT_PCSR,
    OPT_CONNECT,
    OPT_ELF,
    OPT_SECONDS,
    OPT_EXPORT,
    OPT_DIFF,
    OPT_FAIL_ON_LOSS,
    OPT_LEGACY_HEADERS,
    OPT_THREAD,
    OPT_TOP
};

static const struct option options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"pcap", required_argument, NULL, OPT_PCAP},
    {"port", required_argument, NULL, OPT_PORT},
    {"pcsr", no_argument, NULL, OPT_PCSR},
    {"connect", required_argument, NULL, OPT_CONNECT},
    {"elf", required_argument, NULL, OPT_ELF},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"export", required_argument, NULL, OPT_EXPORT},
    {"diff", required_argument, NULL, OPT_DIFF},
    {"fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS},
    {"legacy-headers", no_argument, NULL, OPT_LEGACY_HEADERS},
    {"thread", required_argument, NULL, OPT_THREAD},
    {"top", required_argument, NULL, OPT_TOP},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct parser {
    const struct cli *cli;
    const struct cli_command *command;
    int argc;
    char **argv;
    struct profile_options *o;
    int exit_code;
};

static bool usage(struct parser *p, const char *sentence)
{
    p->exit_code = cli_usage(p->cli, p->command, "%s: %s", p->command->name, sentence);
    return false;
}

static bool number(struct parser *p, const char *what, uint64_t least, uint64_t most, uint64_t *value)
{
    p->exit_code = 2;
    return cli_parse_u64(p->cli, p->command, what, optarg, least, most, value);
}

/* ADDR:PORT; an IPv6 address may stand in brackets, which the collector does not want. */
static bool take_listen(struct parser *p)
{
    char *colon = strrchr(optarg, ':'), *address = optarg;
    uint64_t port;
    if (!colon || colon == optarg) {
        p->exit_code = cli_usage(p->cli, p->command, "--listen: '%s' is not ADDR:PORT", optarg);
        return false;
    }
    p->exit_code = 2;
    if (!cli_parse_u64(p->cli, p->command, "--listen: port", colon + 1, 0, 65535, &port))
        return false;
    *colon = '\0';
    if (address[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        address++;
    }
    p->o->listen = address;
    p->o->listen_port = (int)port;
    p->o->listen_given = true;
    return true;
}

/* FORMAT:FILE, where FILE may hold colons of its own. */
static bool take_export(struct parser *p)
{
    struct diag d = DIAG_INIT;
    char *colon = strchr(optarg, ':');
    if (!colon || colon == optarg) {
        p->exit_code = cli_usage(p->cli, p->command, "--export: '%s' is not FORMAT:FILE", optarg);
        return false;
    }
    if (p->o->export_count == PROFILE_EXPORTS_MOST)
        return usage(p, "more files to export than it takes at once");
    *colon = '\0';
    if (profiling_check_export(optarg, colon + 1, &d) != CORRAL_OK) {
        diag_prefix(&d, "--export");
        p->exit_code = cli_fail(p->cli, &d);
        return false;
    }
    p->o->exports[p->o->export_count++] = (struct profile_export){.format = optarg, .path = colon + 1};
    return true;
}

/* The second file is the next word. */
static bool take_diff(struct parser *p)
{
    if (optind >= p->argc)
        return usage(p, "--diff compares two files, A and B");
    if (p->o->diff[0])
        return usage(p, "--diff may be given once");
    p->o->diff[0] = optarg;
    p->o->diff[1] = p->argv[optind++];
    return true;
}

static bool take_seconds(struct parser *p)
{
    double seconds;
    p->exit_code = 2;
    if (!cli_parse_seconds(p->cli, p->command, "--seconds", optarg, 0, 1e6, &seconds))
        return false;
    p->o->ns = (int64_t)llround(seconds * (double)NS_PER_S);
    return true;
}

static bool take_word(struct parser *p, const char **list, size_t *count, size_t most, const char *too_many)
{
    if (*count == most)
        return usage(p, too_many);
    list[(*count)++] = optarg;
    return true;
}

static bool take(struct parser *p, int option)
{
    struct profile_options *o = p->o;
    uint64_t v = 0;
    bool good;
    switch (option) {
    case OPT_LISTEN:
        return take_listen(p);
    case OPT_PCAP:
        return take_word(p, o->pcaps, &o->pcap_count, PROFILE_FILES_MOST, "more than 1000 capture files");
    case OPT_PORT:
        good = number(p, "--port", 1, 65535, &v);
        o->port = (uint16_t)v;
        return good;
    case OPT_PCSR:
        o->pcsr = true;
        return true;
    case OPT_CONNECT:
        o->connect = optarg;
        return true;
    case OPT_ELF:
        return take_word(p, o->elfs, &o->elf_count, PROFILE_ELFS_MOST, "more than 100 ELF files");
    case OPT_SECONDS:
        return take_seconds(p);
    case OPT_EXPORT:
        return take_export(p);
    case OPT_DIFF:
        return take_diff(p);
    case OPT_FAIL_ON_LOSS:
        o->fail_on_loss = true;
        return true;
    case OPT_LEGACY_HEADERS:
        o->legacy_headers = true;
        return true;
    case OPT_THREAD:
        good = number(p, "--thread", 0, 15, &v);
        o->thread = (int)v;
        return good;
    default: /* OPT_TOP */
        good = number(p, "--top", 1, 100000, &v);
        o->top = (size_t)v;
        return good;
    }
}

/* What does not go together is told before anything is opened. */
static bool check(struct parser *p)
{
    const struct profile_options *o = p->o;
    bool live = o->listen_given || o->pcsr || o->connect || p->cli->link;
    if (o->diff[0] && (live || o->pcap_count || o->export_count || o->ns >= 0))
        return usage(p, "--diff takes two files and collects nothing itself");
    if (o->pcap_count && !live && o->ns >= 0)
        return usage(p, "--seconds is for what is collected live; a capture file ends by itself");
    size_t inputs = 0;
    for (size_t i = 0; i < o->pcap_count; i++)
        inputs += strcmp(o->pcaps[i], "-") == 0;
    for (size_t i = 0; i < 2 && o->diff[0]; i++)
        inputs += strcmp(o->diff[i], "-") == 0;
    if (inputs > 1)
        return usage(p, "standard input can be read once");
    return true;
}

bool profile_options_parse(const struct cli *cli, const struct cli_command *command, int argc, char **argv,
                           struct profile_options *o, int *exit_code)
{
    struct parser p = {.cli = cli, .command = command, .argc = argc, .argv = argv, .o = o};
    *o = (struct profile_options){.listen_port = -1, .port = PROF_PORT, .ns = -1, .thread = -1, .top = 20};
    bool good = true;
    for (int c; good && (c = cli_getopt(cli, command, argc, argv, options, &p.exit_code)) != -1;)
        good = c != CLI_DONE && take(&p, c);
    if (good && optind < argc) {
        p.exit_code = cli_usage(cli, command, "%s: '%s' is one word too many", command->name, argv[optind]);
        good = false;
    }
    good = good && check(&p);
    *exit_code = p.exit_code;
    return good;
}
