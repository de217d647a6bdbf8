/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard names that are misspelt: such a sequence is never run, and nothing else would say so. Only those
 * that nobody calls are looked at. Must not refuse anything: a name may be meant.
 */
#include <string.h>

#include "sequence/sequence_compiler.h"

#define NEAR     2 /* letters that may differ */
#define SHORTEST 8 /* below that other words are near by chance */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters have to be put in, taken out, changed or swapped; NEAR + 1 for more than NEAR. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][SEQUENCE_NAME_MAX + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > m + NEAR || m > n + NEAR || n >= SEQUENCE_NAME_MAX || m >= SEQUENCE_NAME_MAX)
        return NEAR + 1;
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            now[k] = least(least(before[k], now[k - 1]) + 1, before[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                now[k] = least(now[k], two_before[k - 2] + 1);
        }
    }
    return least(rows[n % 3][m], NEAR + 1);
}

static bool is_called(const struct sequence_compiler *c, const char *name)
{
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].node->a && c->calls[i].node->a->kind == NODE_STRING &&
            strcmp(c->calls[i].node->a->string.bytes, name) == 0)
            return true;
    return false;
}

void compiler_check_near_names(struct sequence_compiler *c)
{
    for (size_t i = 0; i < c->program->code_count; i++) {
        const struct sequence_info *info = &c->program->codes[i]->info;
        size_t length = strlen(info->name);
        /* ResetSystem1 is a name on purpose: defaultResetSequence may say so. */
        if (info->is_default || info->predefined || length < SHORTEST ||
            (info->name[length - 1] >= '0' && info->name[length - 1] <= '9'))
            continue;
        const char *meant = NULL;
        const char *standard;
        for (size_t k = 0; !meant && (standard = sequence_predefined_name(k)); k++)
            if (distance(info->name, standard) <= NEAR)
                meant = standard;
        if (meant && !is_called(c, info->name))
            sequence_problems_add(c->problems, SEQUENCE_WARNING, info->place, 1, info->name,
                                  "nobody runs %s: is %s meant?", info->name, meant);
    }
}
