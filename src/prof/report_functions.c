/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to functions and who called them: profiler sheet 9 (functions, top callers) and 3.7 (callers).
 * Samples are sorted by address first, so that each is looked up once, however many stacks lead to it; words
 * that were tested as return addresses are remembered, because few distinct ones are most of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/report_parts.h"

#define FIRST_SLOTS 256u  /* a power of two */
#define MEMORY      4096u /* tested words; a power of two */

static int order_entries(const void *x, const void *y)
{
    const struct prof_aggregate_entry *a = x, *b = y;
    int order = report_order(a->source, b->source);

    order = order ? order : report_order(a->pid, b->pid);
    order = order ? order : report_order(a->pc, b->pc);
    order = order ? order : report_order(a->thread, b->thread);
    order = order ? order : report_order(a->link, b->link);
    return order ? order : memcmp(a->parents, b->parents, sizeof(a->parents));
}

/* --- the table of functions ----------------------------------------------------------------------------- */

/* What makes two rows one: an image's function, or a file without an image, or neither. */
struct row_key {
    unsigned source;
    uint32_t pid;
    const struct symbol_index *image;
    uint64_t address;
    const char *name;
};

static size_t hash_key(const struct row_key *k)
{
    uint64_t h = k->address ^ (uint64_t)(uintptr_t)k->image;

    h = (h ^ ((uint64_t)k->pid << 8 | k->source)) * UINT64_C(0x9e3779b97f4a7c15);
    if (!k->image) /* few names, so they may share slots */
        h ^= strlen(k->name) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h ^ h >> 29);
}

static bool is_row(const struct prof_report_function *f, const struct row_key *k)
{
    return f->source == k->source && f->pid == k->pid && f->image == k->image &&
           (k->image ? f->address == k->address : strcmp(f->frame.name, k->name) == 0);
}

static bool grow_table(struct report_work *w)
{
    size_t slot_count = w->slot_count ? w->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < w->function_count; i++) {
        const struct prof_report_function *f = &w->functions[i];
        struct row_key k = {f->source, f->pid, f->image, f->image ? f->address : 0, f->frame.name};
        size_t at = hash_key(&k) & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(w->slots);
    w->slots = slots;
    w->slot_count = slot_count;
    size_t room = slot_count / 2;
    struct prof_report_function *functions = realloc(w->functions, room * sizeof(*functions));
    if (!functions)
        return false;
    w->functions = functions;
    w->function_room = room;
    return true;
}

/* Number of the row, made when there is none; REPORT_NONE when memory is out. */
static uint32_t find_row(struct report_work *w, const struct row_key *k)
{
    if (w->function_count == w->function_room && !grow_table(w))
        return REPORT_NONE;
    size_t at = hash_key(k) & (w->slot_count - 1);
    while (w->slots[at]) {
        if (is_row(&w->functions[w->slots[at] - 1], k))
            return w->slots[at] - 1;
        at = (at + 1) & (w->slot_count - 1);
    }
    struct prof_report_function *f = &w->functions[w->function_count];
    *f = (struct prof_report_function){.source = k->source,
                                       .pid = k->pid,
                                       .image = k->image,
                                       .address = k->address,
                                       .frame = {.name = k->name}};
    w->slots[at] = (uint32_t)++w->function_count;
    return (uint32_t)w->function_count - 1;
}

/* The same place in every process is one row, of process 0. */
static uint32_t shared_pid(const struct symbol_space *space, uint32_t pid, uint64_t address,
                           const struct symbol_place *at)
{
    struct symbol_place common;

    if (pid == 0 || (symbol_space_find(space, SYMBOL_ANY_PID, address, &common) &&
                     common.image == at->image && common.address == at->address))
        return 0;
    return pid;
}

static uint32_t function_row(struct report_work *w, unsigned source, uint32_t pid,
                             const struct symbol_function *function, const struct prof_target *place)
{
    struct row_key k = {source, pid, place->image, place->function, function->name};
    size_t before = w->function_count;
    uint32_t row = find_row(w, &k);

    if (row != REPORT_NONE && w->function_count != before) {
        struct prof_report_function *f = &w->functions[row];
        f->size = function->size;
        symbol_line_at(place->image, function->address, &f->frame.file, &f->frame.line);
    }
    return row;
}

/* "[libc.so]" of a path from outside. */
static const char *file_name(struct report_work *w, const char *path)
{
    const char *slash = strrchr(path, '/');
    char raw[128], name[TEXT_CLEAN_MAX(sizeof(raw))];

    snprintf(raw, sizeof(raw), "[%s]", slash ? slash + 1 : path);
    text_escape((const uint8_t *)raw, strlen(raw), name, sizeof(name));
    return report_string(w->box, name);
}

static uint32_t unnamed_row(struct report_work *w, unsigned source, uint32_t pid, uint32_t pc,
                            const struct symbol_place *at)
{
    const char *name = at && !at->image && at->path && at->path[0] ? file_name(w, at->path) : "[unknown]";
    struct row_key k = {source, pid, NULL, 0, name};
    size_t before = w->function_count;
    uint32_t row = name ? find_row(w, &k) : REPORT_NONE;

    if (row != REPORT_NONE && w->function_count != before)
        w->functions[row].address = pc; /* an example */
    return row;
}

/* --- sites ---------------------------------------------------------------------------------------------- */

static bool resolve(struct report_work *w, const struct prof_aggregate_entry *e, struct report_site *site)
{
    const struct symbol_space *space = report_space(w, e->source);
    struct symbol_function function;
    struct symbol_place at;
    bool covered = space && symbol_space_find(space, e->pid, e->pc, &at);

    *site = (struct report_site){.source = e->source, .pid = e->pid, .pc = e->pc};
    if (covered)
        site->pid = shared_pid(space, e->pid, e->pc, &at);
    if (covered && at.image && symbol_function_at(at.image, at.address, &function)) {
        site->known = true;
        site->place.image = at.image;
        site->place.shift = e->pc - at.address;
        site->place.function = function.address + site->place.shift;
        site->function = function_row(w, e->source, site->pid, &function, &site->place);
    } else {
        site->place.image = covered ? at.image : NULL;
        site->place.shift = covered ? e->pc - at.address : 0;
        site->function = unnamed_row(w, e->source, site->pid, e->pc, covered ? &at : NULL);
    }
    return site->function != REPORT_NONE;
}

static bool same_site(const struct prof_aggregate_entry *a, const struct prof_aggregate_entry *b)
{
    return a->source == b->source && a->pid == b->pid && a->pc == b->pc;
}

static bool add_sites(struct report_work *w)
{
    struct prof_aggregate_snapshot *s = &w->samples;

    if (s->count)
        qsort(s->entries, s->count, sizeof(*s->entries), order_entries);
    w->sites = malloc((s->count + 1) * sizeof(*w->sites));
    w->site_of = malloc((s->count + 1) * sizeof(*w->site_of));
    if (!w->sites || !w->site_of)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const struct prof_aggregate_entry *e = &s->entries[i];
        if ((i == 0 || !same_site(e, &s->entries[i - 1])) && !resolve(w, e, &w->sites[w->site_count++]))
            return false;
        struct report_site *site = &w->sites[w->site_count - 1];
        struct prof_report_function *f = &w->functions[site->function];
        w->site_of[i] = (uint32_t)w->site_count - 1;
        site->samples += e->samples;
        site->i_blocked += e->i_blocked;
        site->d_blocked += e->d_blocked;
        f->self += e->samples;
        f->i_blocked += e->i_blocked;
        f->d_blocked += e->d_blocked;
        f->weight += e->weight;
        f->by_thread[e->thread] += e->samples;
    }
    return true;
}

/* --- callers -------------------------------------------------------------------------------------------- */

/* A chain of calls that was worked out, by what it depends on. */
struct remembered {
    bool used;
    uint8_t source, parent_count;
    uint32_t pid, link, parents[PROF_AGGREGATE_PARENTS];
    uint64_t function;
    size_t depth;
    struct prof_caller chain[PROF_CHAIN_MAX];
};

static struct remembered *recall(struct remembered *memory, const struct prof_aggregate_entry *e,
                                 uint64_t function)
{
    uint64_t h = function ^ e->link ^ (uint64_t)e->pid << 32;

    for (size_t i = 0; i < e->parent_count; i++)
        h = (h ^ e->parents[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h *= UINT64_C(0xd6e8feb86659fd93);
    return &memory[(h ^ h >> 32) & (MEMORY - 1)];
}

static const struct remembered *work_out(struct report_work *w, struct remembered *memory,
                                         const struct prof_aggregate_entry *e, const struct report_site *site)
{
    struct remembered *r = recall(memory, e, site->place.function);

    if (r->used && r->source == e->source && r->pid == e->pid && r->link == e->link &&
        r->function == site->place.function && r->parent_count == e->parent_count &&
        memcmp(r->parents, e->parents, sizeof(r->parents)) == 0)
        return r;
    *r = (struct remembered){.used = true,
                             .source = e->source,
                             .parent_count = e->parent_count,
                             .pid = e->pid,
                             .link = e->link,
                             .function = site->place.function};
    memcpy(r->parents, e->parents, sizeof(r->parents));
    r->depth = prof_caller_chain(report_space(w, e->source), e, &site->place, r->chain);
    return r;
}

/* A call into `callee`, from `caller` (REPORT_NONE = unknown). */
struct arc {
    uint32_t callee, caller;
    uint64_t call, count;
    enum prof_certainty certainty;
};

static int order_arcs(const void *x, const void *y)
{
    const struct arc *a = x, *b = y;
    int order = report_order(a->callee, b->callee);

    order = order ? order : report_order(a->caller, b->caller);
    order = order ? order : report_order(a->call, b->call);
    return order ? order : report_order(a->certainty, b->certainty);
}

/* Every function on the way is inclusive of the samples once, however often it is on it. */
static bool credit(struct report_work *w, const struct prof_aggregate_entry *e,
                   const struct report_site *site, const struct remembered *r, struct arc *arc)
{
    uint32_t rows[1 + PROF_CHAIN_MAX] = {site->function};

    for (size_t i = 0; i < r->depth; i++) {
        const struct prof_caller *c = &r->chain[i];
        struct symbol_place at = {.image = c->place.image, .address = c->call - c->place.shift};
        uint32_t pid = shared_pid(report_space(w, e->source), e->pid, c->call, &at);
        rows[i + 1] = function_row(w, e->source, pid, &c->function, &c->place);
        if (rows[i + 1] == REPORT_NONE)
            return false;
    }
    for (size_t i = 0; i <= r->depth; i++) {
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before |= rows[k] == rows[i];
        if (!before)
            w->functions[rows[i]].inclusive += e->samples;
    }
    *arc = (struct arc){.callee = rows[0],
                        .caller = r->depth ? rows[1] : REPORT_NONE,
                        .call = r->depth ? r->chain[0].call : 0,
                        .count = e->samples,
                        .certainty = r->depth ? r->chain[0].certainty : PROF_CALLER_UNKNOWN};
    return true;
}

/* The bigger of equals is the known one, then the one that was met first. */
static void offer_caller(struct prof_report_function *f, const struct prof_report_caller *c)
{
    size_t at = f->caller_count;

    while (at && f->callers[at - 1].count < c->count)
        at--;
    if (at == PROF_REPORT_CALLERS)
        return;
    if (f->caller_count < PROF_REPORT_CALLERS)
        f->caller_count++;
    memmove(&f->callers[at + 1], &f->callers[at], (f->caller_count - 1 - at) * sizeof(f->callers[0]));
    f->callers[at] = *c;
}

/* All calls of one function by another are one caller, shown by where most of them are. */
static void add_callers(struct report_work *w, struct arc *arcs, size_t count)
{
    for (size_t i = 0; i < count;) {
        const struct arc *first = &arcs[i];
        struct prof_report_caller c = {.frame = {.name = "[unknown]"}, .certainty = PROF_CALLER_UNKNOWN};
        uint64_t most = 0;
        if (first->caller != REPORT_NONE)
            c.frame = w->functions[first->caller].frame;
        while (i < count && arcs[i].callee == first->callee && arcs[i].caller == first->caller) {
            uint64_t here = 0, call = arcs[i].call;
            for (; i < count && arcs[i].callee == first->callee && arcs[i].caller == first->caller &&
                   arcs[i].call == call;
                 i++) {
                here += arcs[i].count;
                if (arcs[i].certainty < c.certainty)
                    c.certainty = arcs[i].certainty;
            }
            c.count += here;
            if (here > most) {
                most = here;
                c.address = call;
            }
        }
        offer_caller(&w->functions[first->callee], &c);
    }
}

static bool keep_chain(struct report_work *w, size_t entry, const struct remembered *r)
{
    if (!w->chains)
        return true;
    w->depths[entry] = (uint8_t)r->depth;
    memcpy(w->chains[entry], r->chain, sizeof(r->chain));
    return true;
}

static bool add_calls(struct report_work *w)
{
    static const struct remembered nothing = {0};
    struct prof_aggregate_snapshot *s = &w->samples;
    struct arc *arcs = malloc((s->count + 1) * sizeof(*arcs));
    struct remembered *memory = calloc(MEMORY, sizeof(*memory));
    bool ok = arcs && memory;

    if (ok && w->options->stacks) {
        w->chains = malloc((s->count + 1) * sizeof(*w->chains));
        w->depths = calloc(s->count + 1, 1);
        ok = w->chains && w->depths;
    }
    for (size_t i = 0; ok && i < s->count; i++) {
        const struct prof_aggregate_entry *e = &s->entries[i];
        const struct report_site *site = &w->sites[w->site_of[i]];
        const struct remembered *r = site->known ? work_out(w, memory, e, site) : &nothing;
        ok = credit(w, e, site, r, &arcs[i]) && keep_chain(w, i, r);
    }
    if (ok && s->count) {
        qsort(arcs, s->count, sizeof(*arcs), order_arcs);
        add_callers(w, arcs, s->count);
    }
    free(arcs);
    free(memory);
    return ok;
}

/* --- shares --------------------------------------------------------------------------------------------- */

static void finish_row(const struct report_work *w, struct prof_report_function *f)
{
    const struct report_sender *s = &w->senders[f->source];
    double n = (double)w->active[f->source];

    if (n > 0) {
        f->share = (double)f->self / n;
        f->share = f->share > 1 ? 1 : f->share;
        f->share_error = sqrt(f->share * (1 - f->share) / n);
    }
    for (size_t t = 0; t < PROFILE_MAX_THREADS; t++) {
        double mips;
        if (!f->by_thread[t])
            continue;
        if (!s->state.threads[t].active || !report_mips(s, t, &mips)) { /* a part is not the whole */
            f->mips_known = false;
            f->mips = 0;
            return;
        }
        f->mips_known = true;
        f->mips += mips * (double)f->by_thread[t] / (double)s->state.threads[t].active;
    }
}

bool report_add_functions(struct report_work *w)
{
    uint64_t example[PROF_MAX_SOURCES] = {0};

    if (!add_sites(w) || !add_calls(w))
        return false;
    for (size_t i = 0; i < w->function_count; i++) {
        struct prof_report_function *f = &w->functions[i];
        finish_row(w, f);
        if (!f->image && strcmp(f->frame.name, "[unknown]") == 0) {
            struct prof_report_source *source = &w->box->report.sources[f->source];
            source->unknown_pc += f->self;
            if (f->self > example[f->source]) {
                example[f->source] = f->self;
                source->example_pc = f->address;
            }
        }
    }
    return true;
}
