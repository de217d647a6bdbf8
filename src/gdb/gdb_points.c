/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose breakpoint is it: each client's own list, and the union of them in the core. Cross-trigger
 * sheet 10.4, cases D12 to D15.
 *
 * gdb takes its breakpoints away at every stop and puts them back before it resumes. Another client may start
 * the cores in between: so, where there is another, one that was taken away while its core was halted stays
 * armed until this client resumes without it.
 */
#include <stdlib.h>
#include <string.h>

#include "gdb/gdb_parts.h"

static bool same(const struct gdb_point *p, const struct gdb_point *q)
{
    return p->type == q->type && p->address == q->address && p->core == q->core &&
           (p->type < 2 || p->kind == q->kind);
}

static struct gdb_point *find(const struct gdb_client *c, const struct gdb_point *want)
{
    for (size_t i = 0; i < c->point_count; i++)
        if (same(&c->points[i], want))
            return &c->points[i];
    return NULL;
}

/* One comparator serves all who want it: software and hardware breakpoints are the same to a core. */
static bool serves(const struct gdb_point *p, const struct gdb_point *want)
{
    if (p->core != want->core || p->address != want->address || (p->type < 2) != (want->type < 2))
        return false;
    return p->type < 2 || (p->type == want->type && p->kind == want->kind);
}

/* Does anybody else's entry, or another one of this client's, keep it armed? */
static bool wanted_elsewhere(const struct gdb_hub *hub, const struct gdb_point *p)
{
    for (const struct gdb_client *c = hub->clients; c; c = c->next)
        for (size_t i = 0; i < c->point_count; i++)
            if (&c->points[i] != p && serves(&c->points[i], p))
                return true;
    return false;
}

static enum corral_err arm(struct gdb_hub *hub, const struct gdb_point *p, struct diag *d)
{
    struct core *core = hub->cores[p->core].core;
    static const enum core_watch watch[] = {[2] = CORE_WATCH_WRITE, CORE_WATCH_READ, CORE_WATCH_ACCESS};
    if (p->type < 2)
        return core_set_breakpoint(core, p->address, d);
    return core_set_watchpoint(core, p->address, p->kind, watch[p->type], d);
}

static enum corral_err disarm(struct gdb_hub *hub, const struct gdb_point *p, struct diag *d)
{
    struct core *core = hub->cores[p->core].core;
    if (p->type < 2)
        return core_clear_breakpoint(core, p->address, d);
    return core_clear_watchpoint(core, p->address, p->kind, d);
}

static enum corral_err take_away(struct gdb_client *c, struct gdb_point *p, struct diag *d)
{
    enum corral_err err = wanted_elsewhere(c->hub, p) ? CORRAL_OK : disarm(c->hub, p, d);
    *p = c->points[--c->point_count];
    return err;
}

static enum corral_err insert(struct gdb_client *c, const struct gdb_point *want, struct diag *d)
{
    struct gdb_point *there = find(c, want);
    if (there) {
        there->removed = false;
        return CORRAL_OK;
    }
    if (c->point_count >= GDB_POINTS_MAX)
        return diag_set(d, CORRAL_ERR_LIMIT, "there are %d breakpoints already", GDB_POINTS_MAX);
    if (c->point_count == c->point_room) {
        size_t room = c->point_room ? 2 * c->point_room : 16;
        struct gdb_point *more = realloc(c->points, room * sizeof(*more));
        if (!more)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        c->points = more;
        c->point_room = room;
    }
    struct gdb_point *p = &c->points[c->point_count];
    *p = *want;
    if (!wanted_elsewhere(c->hub, p)) {
        enum corral_err err = arm(c->hub, p, d);
        if (err == CORRAL_ERR_LIMIT) {
            /* What was taken away, and would go at the next resume, must not stand in the way. */
            gdb_points_settle(c);
            p = &c->points[c->point_count];
            *p = *want;
            err = arm(c->hub, p, d);
        }
        if (err)
            return err;
    }
    c->point_count++;
    return CORRAL_OK;
}

void gdb_points_request(struct gdb_client *client, const struct gdb_request *r)
{
    struct diag d = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    if (r->breakpoint.address > UINT32_MAX || r->breakpoint.kind > UINT32_MAX) {
        gdb_client_error(client, "the address lies above 4 GiB");
        return;
    }
    /* Of a client of all cores, a breakpoint is every core's: they run one image. */
    for (size_t core = 0; core < client->hub->core_count && !err; core++) {
        if (!gdb_client_covers(client, core))
            continue;
        struct gdb_point want = {.type = r->breakpoint.type,
                                 .address =
                                     (uint32_t)r->breakpoint.address & (r->breakpoint.type < 2 ? ~1u : ~0u),
                                 .kind = (uint32_t)r->breakpoint.kind,
                                 .core = core};
        struct gdb_point *there = find(client, &want);
        if (r->breakpoint.insert)
            err = insert(client, &want, &d);
        else if (there && (gdb_domain_of(client->hub, core)->running || gdb_client_alone(client)))
            err = take_away(client, there, &d); /* effective at once, without a stop (D15) */
        else if (there)
            there->removed = true;
        if (err && r->breakpoint.insert) /* all of it, or nothing (D14) */
            for (size_t i = 0; i < core; i++) {
                want.core = i;
                there = find(client, &want);
                if (there)
                    take_away(client, there, NULL);
            }
    }
    if (err)
        gdb_client_error(client, d.message);
    else
        gdb_client_ok(client);
}

void gdb_points_settle(struct gdb_client *client)
{
    for (size_t i = 0; i < client->point_count;)
        if (client->points[i].removed)
            take_away(client, &client->points[i], NULL); /* another one has taken its place */
        else
            i++;
}

void gdb_points_drop(struct gdb_client *client)
{
    while (client->point_count)
        take_away(client, &client->points[client->point_count - 1], NULL);
}

const struct gdb_point *gdb_points_at(const struct gdb_client *client, size_t core, bool watch, uint32_t pc)
{
    const struct gdb_point *found = NULL;
    for (size_t i = 0; i < client->point_count; i++) {
        const struct gdb_point *p = &client->points[i];
        if (p->core != core || p->removed || (p->type >= 2) != watch)
            continue;
        if (!watch && p->address == (pc & ~1u))
            return p;
        if (watch && found)
            return NULL; /* several: which one it was is not known */
        if (watch)
            found = p;
    }
    return found;
}
