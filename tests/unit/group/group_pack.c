/* SPDX-License-Identifier: Apache-2.0 */
/* See group_pack.h. */
#include "tests/unit/group/group_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define DHCSR 0xE000EDF0u
#define RUN   0xA05F0001u
#define STOP  0xA05F0003u

static bool has(void *ctx, size_t core)
{
    const struct group_pack *p = ctx;
    return !p->core[core].without;
}

static enum corral_err put(struct group_pack *p, size_t core, uint32_t address, uint32_t value,
                           struct diag *d)
{
    return link_write32(p->link, p->core[core].ap, address, value, d);
}

static enum corral_err after(enum corral_err err, enum corral_err wanted, struct diag *d)
{
    return err || !wanted ? err : diag_set(d, wanted, "Message(2): as the test wants");
}

static enum corral_err none(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_UNSUPPORTED, "there is no such sequence");
}

static enum corral_err set_up(void *ctx, size_t core, struct diag *d)
{
    struct group_pack *p = ctx;
    struct group_pack_core *c = &p->core[core];
    bool bad = c->bad_set_ups > 0;
    c->set_ups++;
    c->bad_set_ups -= bad;
    enum corral_err err = put(p, core, p->cti + 0x000, 1, d);
    if (!err)
        err = put(p, core, p->cti + 0x020, 1u << c->halt, d);
    if (!err && !bad)
        err = put(p, core, p->cti + 0x0A0, 1u << c->halt, d);
    if (!err && !c->no_restart)
        err = put(p, core, p->cti + 0x0A0 + 4 * p->restart_output, 1u << c->restart, d);
    return after(err, c->set_up_error, d);
}

static enum corral_err start(void *ctx, size_t core, struct diag *d)
{
    struct group_pack *p = ctx;
    struct group_pack_core *c = &p->core[core];
    uint32_t dhcsr;
    enum corral_err err = CORRAL_OK;
    if (c->without_run)
        return none(d);
    c->starts++;
    if (p->start_moves_one)
        err = put(p, core, DHCSR, RUN, d);
    else if (!p->start_does_nothing)
        err = put(p, core, p->cti + 0x01C, 1u << c->restart, d);
    for (size_t i = 0; i < p->count && p->start_reads_dhcsr && !err; i++)
        err = link_read32(p->link, p->core[i].ap, DHCSR, &dhcsr, d);
    return after(err, c->start_error, d);
}

static enum corral_err stop(void *ctx, size_t core, struct diag *d)
{
    struct group_pack *p = ctx;
    if (p->core[core].without_run)
        return none(d);
    p->core[core].stops++;
    enum corral_err err = p->stop_does_nothing ? CORRAL_OK : put(p, core, DHCSR, STOP, d);
    return after(err, p->core[core].stop_error, d);
}

static enum corral_err acknowledge(void *ctx, size_t core, struct diag *d)
{
    struct group_pack *p = ctx;
    enum corral_err err = CORRAL_OK;
    if (p->core[core].without_run)
        return none(d);
    p->core[core].acknowledges++;
    if (!p->acknowledge_does_nothing) {
        err = put(p, core, p->cti + 0x010, 1, d);
        if (!err)
            err = put(p, core, p->cti + 0x010, 0, d);
    }
    return after(err, p->core[core].acknowledge_error, d);
}

void group_pack_init(struct group_pack *p, struct link *link, struct core *const *cores, size_t count,
                     uint32_t cti)
{
    memset(p, 0, sizeof(*p));
    p->sequences = (struct group_sequences){
        .ctx = p, .has = has, .set_up = set_up, .start = start, .stop = stop, .acknowledge = acknowledge};
    p->link = link;
    p->cti = cti;
    p->count = count;
    p->restart_output = 7;
    assert_true(count <= GROUP_PACK_CORES);
    for (size_t i = 0; i < count; i++) {
        p->core[i].ap = core_ap(cores[i]);
        p->core[i].restart = 1;
    }
}

void group_pack_use(struct group_pack *p, struct group *g)
{
    struct diag d = DIAG_INIT;
    if (group_use_sequences(g, &p->sequences, &d))
        fail_msg("%s", d.message);
}

unsigned group_pack_starts(const struct group_pack *p)
{
    unsigned n = 0;
    for (size_t i = 0; i < GROUP_PACK_CORES; i++)
        n += p->core[i].starts;
    return n;
}

void group_pack_forget(struct group_pack *p)
{
    for (size_t i = 0; i < GROUP_PACK_CORES; i++)
        p->core[i].set_ups = p->core[i].starts = p->core[i].stops = p->core[i].acknowledges = 0;
}
