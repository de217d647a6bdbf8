/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's accesses as the link's. What cannot be done at all is found before anything is sent, and
 * within one call on the link's thread nothing comes between (cross-trigger sheet 4.5, 4.7).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_clock.h"
#include "session/sequences_internal.h"

#define AP_BLOCK   0x1000u /* an ADIv6 access port's registers */
#define BATCH_MOST 1024    /* accesses of an atomic block */
#define SLICE_NS   (20 * NS_PER_MS)

static enum corral_err port_of(const struct sequences *s, const struct sequence_port *port, uint32_t *ap,
                               struct diag *d)
{
    if (!port->by_id && port->ap > UINT32_MAX)
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port 0x%" PRIx64, port->ap);
    *ap = (uint32_t)port->ap;
    if (port->by_id && (port->id > UINT32_MAX || !sequences_ap_of_id(s->o.device, (uint32_t)port->id, ap)))
        return diag_set(d, CORRAL_ERR_NO_AP, "no access port has the __apid %" PRIu64, port->id);
    for (size_t i = 0; i < s->stand_in_count; i++)
        if (s->stand_ins[i].ap == *ap) {
            *ap = s->stand_ins[i].other;
            break;
        }
    return CORRAL_OK;
}

static bool is_raw(enum sequence_access_op op)
{
    return op == SEQUENCE_PINS || op == SEQUENCE_CLOCK || op == SEQUENCE_SWJ_SEQUENCE ||
           op == SEQUENCE_JTAG_SEQUENCE || op == SEQUENCE_ABORT;
}

static struct link_raw raw_of(const struct sequence_access *a)
{
    switch (a->op) {
    case SEQUENCE_PINS:
        return (struct link_raw){.op = LINK_RAW_PINS,
                                 .out = a->value,
                                 .select = a->address & 0xFF,
                                 .wait_us = (uint32_t)(a->address >> 8)};
    case SEQUENCE_CLOCK:
        return (struct link_raw){.op = LINK_RAW_CLOCK, .out = a->value};
    case SEQUENCE_SWJ_SEQUENCE:
        return (struct link_raw){.op = LINK_RAW_SWJ, .bits = a->size, .out = a->value};
    case SEQUENCE_JTAG_SEQUENCE:
        return (struct link_raw){
            .op = LINK_RAW_JTAG, .bits = a->size, .select = a->address & 1, .out = a->value};
    default:
        return (struct link_raw){.op = LINK_RAW_ABORT, .out = a->value};
    }
}

static const char *space_of(enum sequence_access_op op)
{
    static const char *const names[] = {
        [SEQUENCE_MEM] = "mem",
        [SEQUENCE_AP] = "ap",
        [SEQUENCE_AP_SPACE] = "ap",
        [SEQUENCE_DP] = "dp",
        [SEQUENCE_ABORT] = "abort",
        [SEQUENCE_PINS] = "pins",
        [SEQUENCE_CLOCK] = "clock",
        [SEQUENCE_SWJ_SEQUENCE] = "swj",
        [SEQUENCE_JTAG_SEQUENCE] = "jtag",
        [SEQUENCE_DELAY] = "delay",
    };
    return names[op];
}

static void publish(const struct sequences *s, const struct sequence_access *a, uint32_t ap)
{
    if (!s->o.trace || !s->o.bus)
        return;
    struct event e = event_make(EVENT_ACCESS, SEQUENCES_STREAM);
    e.host_ns = host_clock_now(link_clock(s->link));
    e.access =
        (struct event_access){.write = a->write,
                              .space = space_of(a->op),
                              .ap = ap,
                              .address = a->op == SEQUENCE_AP_SPACE ? a->address % AP_BLOCK : a->address,
                              .size = (uint8_t)a->size,
                              .value = a->value};
    event_bus_publish(s->o.bus, &e);
}

/* The debug port that an access goes to: where access ports are declared, theirs counts for what goes through
 * one (sheet 4.6). */
static uint64_t dp_of(const struct sequences *s, const struct sequence_access *a)
{
    const struct pack_access_port *port = NULL;
    if (a->port.by_id && a->port.id <= UINT32_MAX && (a->op == SEQUENCE_MEM || a->op == SEQUENCE_AP))
        port = pack_access_port_of(s->o.device, (uint32_t)a->port.id);
    return port ? port->dp : a->port.dp;
}

static enum corral_err check_dp(const struct sequences *s, const struct sequence_access *a, struct diag *d)
{
    uint64_t dp = dp_of(s, a);
    if (dp == s->dp || sequences_any_dp(s->link))
        return CORRAL_OK;
    return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                    "debug port %" PRIu64 " cannot be reached over link '%s', which is at number %" PRIu64,
                    dp, link_name(s->link), s->dp);
}

/* One that this link can do at all, and on which access port: before anything is sent. */
static enum corral_err check(const struct sequences *s, const struct sequence_access *a, uint32_t *ap,
                             struct diag *d)
{
    const struct link *link = s->link;
    unsigned caps = link_caps(link);
    *ap = 0;
    if (a->op == SEQUENCE_ABORT) {
        enum corral_err err = check_dp(s, a, d);
        if (err)
            return err;
    }
    if (is_raw(a->op)) {
        struct link_raw raw = raw_of(a);
        if (a->op == SEQUENCE_ABORT ? (caps & LINK_CAP_DAP) != 0 : link_can_raw(link, raw.op))
            return CORRAL_OK;
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' cannot do this: its wires are not ours",
                 link_name(link));
        diag_hint(d, "cmsis-dap and jtag links can");
        return CORRAL_ERR_UNSUPPORTED;
    }
    if (a->op == SEQUENCE_DELAY)
        return CORRAL_OK;
    enum corral_err err = check_dp(s, a, d);
    if (err)
        return err;
    if (!(caps & LINK_CAP_DAP) && a->op != SEQUENCE_MEM)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' has no debug port registers", link_name(link));
    if (a->op == SEQUENCE_AP_SPACE) {
        if (a->address > UINT32_MAX)
            return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port register 0x%" PRIx64, a->address);
        *ap = (uint32_t)a->address & ~(AP_BLOCK - 1);
        return CORRAL_OK;
    }
    return a->op == SEQUENCE_DP ? CORRAL_OK : port_of(s, &a->port, ap, d);
}

/* Values in the host's form of that size, and back. */
union word {
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t d;
};

static void put_value(union word *w, unsigned size, uint64_t value)
{
    if (size == 1)
        w->b = (uint8_t)value;
    else if (size == 2)
        w->h = (uint16_t)value;
    else if (size == 4)
        w->w = (uint32_t)value;
    else
        w->d = value;
}

static uint64_t get_value(const union word *w, unsigned size)
{
    return size == 1 ? w->b : size == 2 ? w->h : size == 4 ? w->w : w->d;
}

static struct link_access access_of(const struct sequence_access *a, uint32_t ap, union word *data)
{
    static const enum link_op read_ops[] = {LINK_MEM_READ, LINK_AP_READ, LINK_AP_READ, LINK_DP_READ};
    static const enum link_op write_ops[] = {LINK_MEM_WRITE, LINK_AP_WRITE, LINK_AP_WRITE, LINK_DP_WRITE};
    put_value(data, a->size, a->value);
    return (struct link_access){.op = a->write ? write_ops[a->op] : read_ops[a->op],
                                .size = (uint8_t)a->size,
                                .ap = ap,
                                .address = a->op == SEQUENCE_AP_SPACE ? a->address % AP_BLOCK : a->address,
                                .count = 1,
                                .data = data};
}

/* A stretch of accesses that are the link's own kind, in one batch. *n: how many went well. */
static enum corral_err do_batch(const struct sequences *s, struct sequence_access *list, const uint32_t *aps,
                                size_t count, size_t *n, struct diag *d)
{
    struct link_access one, *accesses = count == 1 ? &one : calloc(count, sizeof(*accesses));
    union word word, *words = count == 1 ? &word : calloc(count, sizeof(*words));
    *n = 0;
    if (!accesses || !words) {
        free(count == 1 ? NULL : accesses);
        free(count == 1 ? NULL : words);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++)
        accesses[i] = access_of(&list[i], aps[i], &words[i]);
    enum corral_err err = link_execute(s->link, accesses, count, d);
    for (size_t i = 0; i < count && accesses[i].status == CORRAL_OK; i++) {
        if (!list[i].write)
            list[i].value = get_value(&words[i], list[i].size);
        publish(s, &list[i], aps[i]);
        ++*n;
    }
    if (err && *n == count)
        *n = count - 1; /* it failed as a whole: which one is not known */
    if (count != 1) {
        free(accesses);
        free(words);
    }
    return err;
}

/* What goes both ways is shown as two: what was written, then what was read. */
static enum corral_err do_raw(const struct sequences *s, struct sequence_access *a, struct diag *d)
{
    struct link_raw raw = raw_of(a);
    struct sequence_access written = *a;
    bool answers = a->op == SEQUENCE_PINS || a->op == SEQUENCE_JTAG_SEQUENCE;
    enum corral_err err;
    if (a->op == SEQUENCE_ABORT && !link_can_raw(s->link, LINK_RAW_ABORT))
        err = link_write_dp(s->link, 0, (uint32_t)a->value, d);
    else
        err = link_raw(s->link, &raw, d);
    if (err)
        return err;
    written.write = true;
    publish(s, &written, 0);
    if (answers) {
        a->value = raw.in;
        written.value = raw.in;
        written.write = false;
        publish(s, &written, 0);
    }
    return CORRAL_OK;
}

/* A batch of waits for pins may be an hour long: it ends as a sequence does. */
static enum corral_err may_go_on(const struct sequences *s, struct diag *d)
{
    if (s->o.stop && atomic_load(s->o.stop))
        return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
    if (host_clock_now(link_clock(s->link)) >= s->deadline)
        return diag_set(d, CORRAL_ERR_TIMEOUT, "the sequence's time is over");
    return CORRAL_OK;
}

/* Everything before it has reached the target: link_execute does not return sooner. */
static enum corral_err wait_for(const struct sequences *s, uint64_t us, struct diag *d)
{
    struct host_clock *clock = link_clock(s->link);
    int64_t now = host_clock_now(clock);
    int64_t end = us < (uint64_t)(INT64_MAX - now) / NS_PER_US ? now + (int64_t)us * NS_PER_US : INT64_MAX;
    if (end > s->deadline)
        return diag_set(d, CORRAL_ERR_TIMEOUT,
                        "a delay of %" PRIu64 " us is longer than the sequence may take", us);
    for (; now < end; now = host_clock_now(clock)) {
        enum corral_err err = may_go_on(s, d);
        if (err)
            return err;
        host_clock_sleep_until(clock, end - now > SLICE_NS ? now + SLICE_NS : end);
    }
    return CORRAL_OK;
}

static enum corral_err do_all(const struct sequences *s, struct sequence_access *list, const uint32_t *aps,
                              size_t count, size_t *done, struct diag *d)
{
    while (*done < count) {
        struct sequence_access *a = &list[*done];
        size_t n = 1;
        enum corral_err err = may_go_on(s, d);
        if (err)
            return err;
        if (a->op == SEQUENCE_DELAY) {
            err = wait_for(s, a->value, d);
            n = err ? 0 : 1;
            if (!err)
                publish(s, a, 0);
        } else if (is_raw(a->op)) {
            err = do_raw(s, a, d);
            n = err ? 0 : 1;
        } else {
            size_t stretch = 1;
            while (*done + stretch < count && list[*done + stretch].op <= SEQUENCE_DP)
                stretch++;
            err = do_batch(s, a, &aps[*done], stretch, &n, d);
        }
        *done += n;
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/* Within one call on the link's thread nothing comes between: that is what `atomic` needs. */
enum corral_err sequences_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d)
{
    const struct sequences *s = ctx;
    uint32_t few[4], *aps = count <= 4 ? few : NULL;
    enum corral_err err = CORRAL_OK;
    (void)atomic;
    *done = 0;
    if (count > BATCH_MOST)
        return diag_set(d, CORRAL_ERR_LIMIT, "an atomic block has %zu accesses; at most %d go in one", count,
                        BATCH_MOST);
    if (!aps && !(aps = calloc(count, sizeof(*aps))))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; !err && i < count; i++)
        err = check(s, &list[i], &aps[i], d);
    if (!err)
        err = do_all(s, list, aps, count, done, d);
    if (aps != few)
        free(aps);
    if (err == CORRAL_ERR_USAGE) { /* a number of the sequence's, not of who runs it */
        err = CORRAL_ERR_SEQUENCE;
        if (d)
            d->code = err;
    }
    return err;
}
