/* SPDX-License-Identifier: Apache-2.0 */
/* The board's exact share of a function: what a sampled profile can be checked against. */
#include <string.h>

#include "session/session_internal.h"

struct exact {
    struct session *s;
    size_t core;
    uint32_t address, size;
    double share;
};

/* The profiler's interrupt is where samples cannot fall; its functions begin with prof_. */
static bool is_sampler(const struct symbol_index *symbols, uint32_t pc)
{
    struct symbol_function f;
    return symbol_function_at(symbols, pc, &f) && strncmp(f.name, "prof_", 5) == 0;
}

static enum corral_err do_exact(struct link *link, void *ctx, struct diag *d)
{
    struct exact *e = ctx;
    const struct symbol_index *symbols = e->s->symbols[e->core];
    size_t of_board = session_board_core(e->s, core_ap(e->s->cores[e->core]));
    uint32_t base;
    const uint64_t *counts;
    size_t n;
    uint64_t own = 0, total = 0;
    (void)d;
    if (of_board >= LINK_SIM_CORES || !link_sim_pc_count(link, (unsigned)of_board, &base, &counts, &n))
        return CORRAL_OK;
    for (size_t i = 0; i < n; i++) {
        uint64_t at =
            (uint64_t)base + i * 2; /* the function's range is the file's word: it may wrap 32 bits */
        if (!counts[i])
            continue;
        if (at >= e->address && at - e->address < e->size)
            own += counts[i];
        if (!symbols || !is_sampler(symbols, (uint32_t)at))
            total += counts[i];
    }
    e->share = total ? (double)own / (double)total : -1;
    return CORRAL_OK;
}

double session_exact_share(struct session *s, size_t core, uint32_t address, uint32_t size)
{
    struct exact e = {.s = s, .core = core, .address = address, .size = size, .share = -1};
    if (core < s->core_count && s->is_board)
        session_call(s, do_exact, &e, NULL);
    return e.share;
}
