/* SPDX-License-Identifier: Apache-2.0 */
/* See board_control.h. What comes in is hostile: words are counted and checked before anything is done. */
#include "sim/board_control.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 6
#define LINE_MAX  256
#define LOG_LINES 500 /* in one answer */
#define LOG_LINE  96  /* and no longer each */

_Static_assert(LOG_LINES *LOG_LINE + 64 <= BOARD_CONTROL_ANSWER, "an answer has room for its lines");

struct words {
    unsigned count; /* behind the command's name */
    const char *word[WORDS_MAX];
};

static bool is(const struct words *w, unsigned n, const char *text)
{
    return n < w->count && strcmp(w->word[n], text) == 0;
}

static bool number(const struct words *w, unsigned n, uint64_t most, uint64_t *value)
{
    char *end = NULL;
    if (n >= w->count || !isdigit((unsigned char)w->word[n][0]))
        return false;
    errno = 0;
    *value = strtoull(w->word[n], &end, 0);
    return *end == '\0' && errno == 0 && *value <= most;
}

static bool core(const struct words *w, unsigned *n)
{
    *n = is(w, 0, "core1");
    return is(w, 0, "core0") || *n;
}

/* "after M" behind the first `n` words, or nothing. */
static bool after(const struct words *w, unsigned n, uint64_t *value)
{
    *value = 0;
    return w->count == n || (w->count == n + 2 && is(w, n, "after") && number(w, n + 1, UINT64_MAX, value));
}

static bool cmd_reset(struct board_control *c, const struct words *w)
{
    unsigned n = 0;
    if (!core(w, &n) || (!is(w, 1, "on") && !is(w, 1, "off") && !is(w, 1, "pulse")))
        return false;
    if (!is(w, 1, "off"))
        board_hold_reset(c->board, n, true);
    if (!is(w, 1, "on"))
        board_hold_reset(c->board, n, false);
    return true;
}

static bool cmd_power(struct board_control *c, const struct words *w)
{
    unsigned n = 0;
    if (!core(w, &n) || (!is(w, 1, "on") && !is(w, 1, "off")))
        return false;
    board_set_power(c->board, n, is(w, 1, "on"));
    return true;
}

static bool cmd_cti_lose(struct board_control *c, const struct words *w)
{
    unsigned n = 0;
    if (!core(w, &n))
        return false;
    board_cti_lose(c->board, n);
    return true;
}

static bool cmd_fault(struct board_control *c, const struct words *w)
{
    uint64_t count = 0, later = 0;
    if ((!is(w, 0, "wait") && !is(w, 0, "fault")) || !number(w, 1, UINT64_MAX, &count) ||
        !after(w, 2, &later))
        return false;
    board_dap_fault_next(c->board, is(w, 0, "wait") ? 2 : 4, count, later);
    return true;
}

static bool cmd_apfault(struct board_control *c, const struct words *w)
{
    uint64_t ap = 0, address = 0, mask = 0;
    if (w->count == 1 && is(w, 0, "off")) {
        board_ap_mend(c->board);
        return true;
    }
    return w->count == 3 && number(w, 0, BOARD_CORES - 1, &ap) && number(w, 1, UINT32_MAX, &address) &&
           number(w, 2, UINT32_MAX, &mask) &&
           board_ap_fault(c->board, (unsigned)ap, (uint32_t)address, (uint32_t)mask);
}

static bool probes(struct board_control *c, const struct words *w, enum board_probes to)
{
    bool off = w->count == 1 && is(w, 0, "off");
    uint64_t later = 0;
    if (!off && !after(w, 0, &later))
        return false;
    c->probes = off ? BOARD_PROBES_THERE : to;
    c->after = later;
    c->probes_asked = true;
    return true;
}

static bool cmd_vanish(struct board_control *c, const struct words *w)
{
    return probes(c, w, BOARD_PROBES_GONE);
}

static bool cmd_stall(struct board_control *c, const struct words *w)
{
    return probes(c, w, BOARD_PROBES_STUCK);
}

/* Numbers count from the first record ever; those that went make a hole at the start. */
static bool cmd_log(struct board_control *c, const struct words *w)
{
    const struct board_record *r = NULL;
    uint64_t from = 0, gone = board_log_dropped(c->board, false), count = board_log(c->board, &r);
    size_t used = 0;
    unsigned lines = 0;
    if (w->count > 0 && !number(w, 0, UINT64_MAX, &from))
        return false;
    if (from < gone)
        from = gone;
    for (; from < gone + count && lines < LOG_LINES; from++, lines++) {
        const struct board_record *one = &r[from - gone];
        used += (size_t)snprintf(c->answer + used, sizeof(c->answer) - used,
                                 "%s core%u tick %" PRIu64 " pc 0x%08" PRIx32 " dfsr 0x%02" PRIx32 "\n",
                                 one->halted ? "halt" : "run", one->core, one->tick, one->pc, one->dfsr);
    }
    snprintf(c->answer + used, sizeof(c->answer) - used, "ok %" PRIu64 "\n", from);
    return true;
}

static bool cmd_ticks(struct board_control *c, const struct words *w)
{
    (void)w;
    snprintf(c->answer, sizeof(c->answer), "ok %" PRIu64 " %" PRIu64 "\n", board_tick(c->board),
             board_tick_hz(c->board));
    return true;
}

static const struct command {
    const char *name;
    unsigned least, most; /* words behind it */
    bool (*run)(struct board_control *c, const struct words *w);
    const char *usage;
} commands[] = {
    {"reset", 2, 2, cmd_reset, "reset core0|core1 on|off|pulse"},
    {"power", 2, 2, cmd_power, "power core0|core1 off|on"},
    {"cti-lose", 1, 1, cmd_cti_lose, "cti-lose core0|core1"},
    {"fault", 2, 4, cmd_fault, "fault wait|fault N [after M]"},
    {"apfault", 1, 3, cmd_apfault, "apfault AP ADDRESS MASK (16 at most), or apfault off"},
    {"vanish", 0, 2, cmd_vanish, "vanish [after N], or vanish off"},
    {"stall", 0, 2, cmd_stall, "stall [after N], or stall off"},
    {"log", 0, 1, cmd_log, "log [FROM]"},
    {"ticks", 0, 0, cmd_ticks, "ticks"},
};

const char *board_control_line(struct board_control *c, const char *line)
{
    char copy[LINE_MAX], *rest = copy;
    struct words w = {0};
    const char *name = NULL;
    unsigned words = 0;
    if (strlen(line) >= sizeof(copy))
        return "error: a command that is too long\n";
    memcpy(copy, line, strlen(line) + 1);
    for (char *word; (word = strtok_r(rest, " \t", &rest)) != NULL; words++) {
        if (!name)
            name = word;
        else if (w.count < WORDS_MAX)
            w.word[w.count++] = word;
    }
    if (!name)
        return "error: an empty command\n";
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const struct command *k = &commands[i];
        if (strcmp(k->name, name) != 0)
            continue;
        snprintf(c->answer, sizeof(c->answer), "ok\n");
        if (words - 1 < k->least || words - 1 > k->most || !k->run(c, &w))
            snprintf(c->answer, sizeof(c->answer), "error: %s\n", k->usage);
        return c->answer;
    }
    return "error: there is no such command\n";
}
