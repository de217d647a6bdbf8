/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parser for the small text protocol that the programs feed themselves: words separated by spaces, decimal
 * numbers with an optional minus. Numbers wrap; anything else that is unexpected makes the line COMMAND_BAD.
 */
#include "firmware/work.h"

static bool line_ends(char c)
{
    return c == 0 || c == '\n';
}

/* Hash the word at *at and step behind it and the spaces that follow (FNV-1a). */
static WORK_APART uint32_t parse_word(const char **at)
{
    const char *p = *at;
    uint32_t hash = 2166136261u;
    while (!line_ends(*p) && *p != ' ')
        hash = (hash ^ (uint8_t)*p++) * 16777619u;
    while (*p == ' ')
        p++;
    *at = p;
    return hash;
}

static WORK_APART bool parse_number(const char **at, int32_t *value)
{
    const char *p = *at;
    bool minus = *p == '-';
    uint32_t sum = 0;
    if (minus)
        p++;
    const char *first = p;
    while (*p >= '0' && *p <= '9')
        sum = sum * 10 + (uint32_t)(*p++ - '0');
    if (p == first || !(line_ends(*p) || *p == ' '))
        return false;
    while (*p == ' ')
        p++;
    *at = p;
    *value = (int32_t)(minus ? 0u - sum : sum);
    return true;
}

WORK_APART struct command parse_command(const char *line)
{
    struct command c = {COMMAND_BAD, 0, 0};
    const char *p = line;
    char verb =
        line_ends(p[0]) ? 0 : p[1]; /* the second letters of get, set and sum tell two of them apart */
    char first = p[0];
    parse_word(&p);
    if (first == 's' && verb == 'u') {
        uint32_t sum = 0;
        int32_t value;
        do {
            if (!parse_number(&p, &value))
                return c;
            sum += (uint32_t)value;
        } while (!line_ends(*p));
        c.value = (int32_t)sum;
        c.kind = COMMAND_SUM;
    } else if ((first == 'g' || first == 's') && verb == 'e' && !line_ends(*p)) {
        c.name = parse_word(&p);
        if (first == 'g')
            c.kind = line_ends(*p) ? COMMAND_GET : COMMAND_BAD;
        else if (parse_number(&p, &c.value) && line_ends(*p))
            c.kind = COMMAND_SET;
    }
    return c;
}
