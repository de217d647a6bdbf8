/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See board_options.h. The words come from a user: each is checked here, what two of them make together in
 * board_new.
 */
#include "sim/board_options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/identity.h"

#define MAX_LATENCY 1000000u

enum kind {
    FLAG,     /* no value: a bool */
    CORES,    /* core0, core1 or both: a bool each */
    NUMBERS,  /* A[,B]: a number each, one alone is for both */
    IDENTITY, /* A[,B]: names */
    LATENCY,
    SEED,
    ELF,
};

struct board_switch {
    const char *name;
    enum kind kind;
    size_t at;            /* in struct board_config */
    uint64_t least, most; /* NUMBERS */
};

#define AT(member) offsetof(struct board_config, member)

static const struct board_switch switches[] = {
    {"identity", IDENTITY, AT(identity), 0, 0},
    {"adiv6", FLAG, AT(adiv6), 0, 0},
    {"separate-ctm", FLAG, AT(separate_ctm), 0, 0},
    {"level-halted", FLAG, AT(level_halted), 0, 0},
    {"no-cti", CORES, AT(no_cti), 0, 0},
    {"cti-base", NUMBERS, AT(cti_base), 1, UINT32_MAX},
    {"core-hz", NUMBERS, AT(core_hz), 1, UINT32_MAX},
    {"held-in-reset", CORES, AT(held_in_reset), 0, 0},
    {"unpowered", CORES, AT(unpowered), 0, 0},
    {"sleep-stops-clock", CORES, AT(sleep_stops_clock), 0, 0},
    {"no-debug", CORES, AT(no_debug), 0, 0},
    {"ctm-latency", LATENCY, 0, 0, 0},
    {"seed", SEED, 0, 0, 0},
    {"elf", ELF, 0, 0, 0},
};

#define SWITCHES (sizeof(switches) / sizeof(switches[0]))

const char *board_options_name(unsigned i, bool *value)
{
    if (i >= SWITCHES)
        return NULL;
    *value = switches[i].kind != FLAG;
    return switches[i].name;
}

/* `value` as it may be shown. */
struct shown {
    char text[TEXT_CLEAN_MAX(64)];
};

static struct shown show(const char *value, size_t length)
{
    struct shown s;
    text_escape((const uint8_t *)value, length < 64 ? length : 64, s.text, sizeof(s.text));
    return s;
}

static bool number(const char *text, size_t length, uint64_t least, uint64_t most, uint64_t *value)
{
    char copy[24]; /* no number that fits is longer */
    char *end = NULL;
    if (length == 0 || length >= sizeof(copy) || !isdigit((unsigned char)text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtoull(copy, &end, 0);
    return *end == '\0' && errno == 0 && *value >= least && *value <= most;
}

/* Takes one of the two parts of a value into *to; `which` is the core. */
static enum corral_err part(const struct board_switch *s, struct board_config *c, unsigned which,
                            const char *text, size_t length, struct diag *d)
{
    uint64_t value = 0;
    if (s->kind == NUMBERS) {
        if (!number(text, length, s->least, s->most, &value))
            return diag_set(d, CORRAL_ERR_USAGE, "--%s: '%s' is not a number from %llu to %llu", s->name,
                            show(text, length).text, (unsigned long long)s->least,
                            (unsigned long long)s->most);
        ((uint32_t *)(void *)((char *)c + s->at))[which] = (uint32_t)value;
        return CORRAL_OK;
    }
    if (board_identity_parse(text, length, &c->identity[which]))
        return CORRAL_OK;
    return diag_set(d, CORRAL_ERR_USAGE,
                    "--%s: there is no '%s'; the board's cores are m7, m4, m33 and m0plus", s->name,
                    show(text, length).text);
}

static enum corral_err pair(const struct board_switch *s, struct board_config *c, const char *value,
                            struct diag *d)
{
    const char *comma = strchr(value, ',');
    size_t first = comma ? (size_t)(comma - value) : strlen(value);
    const char *second = comma ? comma + 1 : value;
    enum corral_err err = part(s, c, 0, value, first, d);
    return err != CORRAL_OK ? err : part(s, c, 1, second, strlen(second), d);
}

static enum corral_err cores(const struct board_switch *s, struct board_config *c, const char *value,
                             struct diag *d)
{
    bool *core = (bool *)(void *)((char *)c + s->at);
    bool both = strcmp(value, "both") == 0;
    if (!both && strcmp(value, "core0") != 0 && strcmp(value, "core1") != 0)
        return diag_set(d, CORRAL_ERR_USAGE, "--%s: '%s' is not core0, core1 or both", s->name,
                        show(value, strlen(value)).text);
    core[0] = core[0] || both || value[4] == '0';
    core[1] = core[1] || both || value[4] == '1';
    return CORRAL_OK;
}

static enum corral_err take(struct board_options *o, const struct board_switch *s, const char *value,
                            struct diag *d)
{
    struct board_config *c = &o->config;
    uint64_t most = s->kind == LATENCY ? MAX_LATENCY : UINT64_MAX, n = 0;
    switch (s->kind) {
    case FLAG:
        *(bool *)(void *)((char *)c + s->at) = true;
        return CORRAL_OK;
    case CORES:
        return cores(s, c, value, d);
    case NUMBERS:
    case IDENTITY:
        return pair(s, c, value, d);
    case ELF:
        o->elf = value;
        return CORRAL_OK;
    default:
        break;
    }
    if (!number(value, strlen(value), 0, most, &n))
        return diag_set(d, CORRAL_ERR_USAGE, "--%s: '%s' is not a number from 0 to %llu", s->name,
                        show(value, strlen(value)).text, (unsigned long long)most);
    if (s->kind == SEED) {
        c->seed = n;
    } else {
        c->ctm_latency = (uint32_t)n;
        c->ctm_latency_set = true;
    }
    return CORRAL_OK;
}

enum corral_err board_options_take(struct board_options *o, const char *name, const char *value,
                                   struct diag *d)
{
    for (size_t i = 0; i < SWITCHES; i++) {
        const struct board_switch *s = &switches[i];
        if (strcmp(s->name, name) != 0)
            continue;
        if (s->kind == FLAG && value)
            return diag_set(d, CORRAL_ERR_USAGE, "--%s takes no value", s->name);
        if (s->kind != FLAG && (!value || !*value))
            return diag_set(d, CORRAL_ERR_USAGE, "--%s needs a value", s->name);
        return take(o, s, value, d);
    }
    return diag_set(d, CORRAL_ERR_USAGE, "the virtual board has no switch '--%s'",
                    show(name, strlen(name)).text);
}

/* The next word of *rest, made to end; NULL when there is none. */
static char *word(char **rest)
{
    char *start = *rest + strspn(*rest, " \t\r\n");
    if (!*start)
        return NULL;
    char *end = start + strcspn(start, " \t\r\n");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return start;
}

static bool wants_value(const char *name)
{
    for (size_t i = 0; i < SWITCHES; i++)
        if (strcmp(switches[i].name, name) == 0)
            return switches[i].kind != FLAG;
    return false;
}

enum corral_err board_options_parse(struct board_options *o, const char *words, struct diag *d)
{
    size_t length = words ? strlen(words) : 0;
    char *rest = o->text, *w = NULL;
    if (length >= sizeof(o->text))
        return diag_set(d, CORRAL_ERR_USAGE, "the virtual board's switches are more than %zu characters",
                        sizeof(o->text) - 1);
    memcpy(o->text, words ? words : "", length + 1);
    while ((w = word(&rest)) != NULL) {
        if (strncmp(w, "--", 2) != 0)
            return diag_set(d, CORRAL_ERR_USAGE, "'%s' is no switch of the virtual board: they begin with --",
                            show(w, strlen(w)).text);
        char *value = strchr(w, '=');
        if (value)
            *value++ = '\0';
        else if (wants_value(w + 2))
            value = word(&rest);
        enum corral_err err = board_options_take(o, w + 2, value, d);
        if (err != CORRAL_OK)
            return err;
    }
    return CORRAL_OK;
}
