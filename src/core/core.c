/* SPDX-License-Identifier: Apache-2.0 */
/* What all cores share: the object, and the calls handed on to its back end. Knows of no other core. */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/core_internal.h"

/* Polls at the link's own pace at first: a halt takes a few cycles. Then it leaves the link to others. */
#define FAST_POLLS     20
#define POLL_NS        NS_PER_MS
#define HOPELESS_POLLS 3

struct core *core_alloc(struct link *link, uint32_t ap, const char *name, uint32_t hz, struct cti *cti)
{
    struct core *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->link = link;
    c->ap = ap;
    c->hz = hz;
    c->cti = cti;
    snprintf(c->name, sizeof(c->name), "%s", name);
    return c;
}

void core_close(struct core *c)
{
    if (!c)
        return;
    if (c->ops && c->ops->free)
        c->ops->free(c);
    cti_close(c->cti);
    free(c);
}

const char *core_name(const struct core *c)
{
    return c->name;
}

uint32_t core_hz(const struct core *c)
{
    return c->hz;
}

struct cti *core_cti(struct core *c)
{
    return c->cti;
}

struct link *core_link(struct core *c)
{
    return c->link;
}

uint32_t core_ap(const struct core *c)
{
    return c->ap;
}

static enum corral_err named(const struct core *c, enum corral_err err, struct diag *d)
{
    if (err && d) {
        char name[CORE_NAME_MAX];
        snprintf(name, sizeof(name), "%s", c->name);
        if (strncmp(d->message, name, strlen(name)) != 0)
            diag_prefix(d, "%s", name);
        diag_object(d, "%s", name);
    }
    return err;
}

static enum corral_err lacks(const struct core *c, const char *what, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s cannot %s over this link", c->name, what);
}

enum corral_err core_request_halt(struct core *c, struct diag *d)
{
    return named(c, c->ops->request_halt(c, d), d);
}

enum corral_err core_read_status(struct core *c, bool reason, struct core_status *status, struct diag *d)
{
    *status = (struct core_status){.state = CORE_UNKNOWN};
    return named(c, c->ops->read_status(c, reason, status, d), d);
}

enum corral_err core_peek_status(struct core *c, struct core_status *status, struct diag *d)
{
    *status = (struct core_status){.state = CORE_UNKNOWN};
    if (!c->ops->peek_status)
        return named(c, c->ops->read_status(c, false, status, d), d);
    return named(c, c->ops->peek_status(c, status, d), d);
}

/* What keeps it from halting, for people. */
static const char *reluctance(const struct core_status *status)
{
    if (status->why)
        return core_why_text(status->why);
    return status->asleep ? "asleep" : core_state_name(status->state);
}

/* Nothing will change for it within the wait: no need to sit it out. */
static bool is_hopeless(const struct core_status *status)
{
    return status->state == CORE_UNPOWERED || status->state == CORE_UNKNOWN ||
           status->why == CORE_WHY_DEBUG_DISABLED;
}

enum corral_err core_wait_halted(struct core *c, int64_t wait_ns, struct diag *d)
{
    struct host_clock *clock = link_clock(c->link);
    struct deadline limit = deadline_in(clock, wait_ns);
    struct core_status status;
    unsigned hopeless = 0;
    for (unsigned i = 0;; i++) {
        enum corral_err err = core_read_status(c, false, &status, d);
        if (err || status.state == CORE_HALTED)
            return err;
        hopeless = is_hopeless(&status) ? hopeless + 1 : 0;
        if (hopeless >= HOPELESS_POLLS)
            break;
        if (i >= FAST_POLLS)
            host_clock_sleep(clock, POLL_NS);
        /* Look once more after the time is up: the sleep may have taken long. */
        if (i > 0 && deadline_passed(&limit))
            break;
    }
    diag_set(d, CORRAL_ERR_CORE_NO_HALT, "%s did not halt: it is %s", c->name, reluctance(&status));
    diag_object(d, "%s", c->name);
    return CORRAL_ERR_CORE_NO_HALT;
}

enum corral_err core_prepare_run(struct core *c, struct diag *d)
{
    return named(c, c->ops->prepare_run(c, d), d);
}

enum corral_err core_resume(struct core *c, struct diag *d)
{
    return named(c, c->ops->resume(c, d), d);
}

enum corral_err core_confirm_run(struct core *c, bool *restarted, struct diag *d)
{
    *restarted = false;
    return named(c, c->ops->confirm_run(c, restarted, d), d);
}

static bool alike(struct core *const *cores, size_t count)
{
    bool same = count > 0 && count <= EVENT_MAX_CORES && cores[0]->ops->look != NULL;
    for (size_t i = 0; same && i < count; i++)
        same = cores[i]->ops == cores[0]->ops && cores[i]->link == cores[0]->link;
    return same;
}

void core_look(struct core *const *cores, size_t count)
{
    if (alike(cores, count))
        cores[0]->ops->look(cores, count, NULL);
}

void core_forget_look(struct core *const *cores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cores[i]->ops->forget_look)
            cores[i]->ops->forget_look(cores[i]);
}

void core_start_all(struct core *const *cores, size_t count, struct core_start *started)
{
    for (size_t i = 0; i < count; i++)
        started[i] = (struct core_start){.done = false};
    if (alike(cores, count))
        cores[0]->ops->look(cores, count, started);
    for (size_t i = 0; i < count; i++) {
        if (started[i].err)
            named(cores[i], started[i].err, &started[i].why);
        if (started[i].done)
            continue;
        started[i].done = true;
        started[i].why = (struct diag)DIAG_INIT;
        started[i].err = core_resume(cores[i], &started[i].why);
    }
}

enum corral_err core_step(struct core *c, struct diag *d)
{
    return c->ops->step ? named(c, c->ops->step(c, d), d) : lacks(c, "step", d);
}

enum corral_err core_read_register(struct core *c, unsigned number, uint32_t *value, struct diag *d)
{
    return c->ops->read_register ? named(c, c->ops->read_register(c, number, value, d), d)
                                 : lacks(c, "read registers", d);
}

enum corral_err core_read_registers(struct core *c, const unsigned *numbers, size_t count, uint32_t *values,
                                    struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (c->ops->read_registers)
        return named(c, c->ops->read_registers(c, numbers, count, values, d), d);
    for (size_t i = 0; i < count && !err; i++)
        err = core_read_register(c, numbers[i], &values[i], d);
    return err;
}

enum corral_err core_write_register(struct core *c, unsigned number, uint32_t value, struct diag *d)
{
    return c->ops->write_register ? named(c, c->ops->write_register(c, number, value, d), d)
                                  : lacks(c, "write registers", d);
}

enum corral_err core_set_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    return c->ops->set_breakpoint ? named(c, c->ops->set_breakpoint(c, address, d), d)
                                  : lacks(c, "set breakpoints", d);
}

enum corral_err core_clear_breakpoint(struct core *c, uint32_t address, struct diag *d)
{
    return c->ops->clear_breakpoint ? named(c, c->ops->clear_breakpoint(c, address, d), d)
                                    : lacks(c, "clear breakpoints", d);
}

enum corral_err core_read_cycles(struct core *c, uint32_t *cycles, struct diag *d)
{
    return c->ops->read_cycles ? named(c, c->ops->read_cycles(c, cycles, d), d) : lacks(c, "count cycles", d);
}

enum corral_err core_reset(struct core *c, enum core_reset kind, struct diag *d)
{
    return c->ops->reset ? named(c, c->ops->reset(c, kind, d), d) : lacks(c, "be reset", d);
}

enum corral_err core_expect_reset(struct core *c, struct diag *d)
{
    return c->ops->expect_reset ? named(c, c->ops->expect_reset(c, d), d) : CORRAL_OK;
}

void core_was_reset(struct core *c)
{
    if (c->ops->was_reset)
        c->ops->was_reset(c);
}

enum corral_err core_vector_catch(struct core *c, bool on, struct diag *d)
{
    return c->ops->vector_catch ? named(c, c->ops->vector_catch(c, on, d), d)
                                : lacks(c, "catch its reset", d);
}

enum corral_err core_detach(struct core *c, bool leave_halted, struct diag *d)
{
    return c->ops->detach ? named(c, c->ops->detach(c, leave_halted, d), d) : CORRAL_OK;
}

enum corral_err core_attach(struct core *c, struct diag *d)
{
    return c->ops->attach ? named(c, c->ops->attach(c, d), d) : CORRAL_OK;
}

enum corral_err core_get_info(struct core *c, struct core_info *info, struct diag *d)
{
    *info = (struct core_info){.part = ""};
    return c->ops->info ? named(c, c->ops->info(c, info, d), d) : CORRAL_OK;
}

enum corral_err core_registers(struct core *c, const struct core_register **list, size_t *count,
                               struct diag *d)
{
    *list = NULL;
    *count = 0;
    return c->ops->registers ? named(c, c->ops->registers(c, list, count, d), d)
                             : lacks(c, "list registers", d);
}

enum corral_err core_find_register(struct core *c, const char *name, const struct core_register **found,
                                   struct diag *d)
{
    static const char *const other[][2] = {{"r13", "sp"}, {"r14", "lr"}, {"r15", "pc"}};
    const struct core_register *list;
    size_t count;
    enum corral_err err = core_registers(c, &list, &count, d);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (strcasecmp(name, other[i][0]) == 0)
            name = other[i][1];
    for (size_t i = 0; !err && i < count; i++)
        if (strcasecmp(name, list[i].name) == 0) {
            *found = &list[i];
            return CORRAL_OK;
        }
    return err ? err : diag_set(d, CORRAL_ERR_USAGE, "%s has no register '%s'", c->name, name);
}

enum corral_err core_set_watchpoint(struct core *c, uint32_t address, uint32_t size, enum core_watch watch,
                                    struct diag *d)
{
    return c->ops->set_watchpoint ? named(c, c->ops->set_watchpoint(c, address, size, watch, d), d)
                                  : lacks(c, "set watchpoints", d);
}

enum corral_err core_clear_watchpoint(struct core *c, uint32_t address, uint32_t size, struct diag *d)
{
    return c->ops->clear_watchpoint ? named(c, c->ops->clear_watchpoint(c, address, size, d), d)
                                    : lacks(c, "clear watchpoints", d);
}

const void *core_run_domain(const struct core *c)
{
    return c->ops->run_domain ? c->ops->run_domain(c) : NULL;
}

const char *core_type(const struct core *c)
{
    return c->ops->type;
}

const char *core_why_text(enum core_why why)
{
    switch (why) {
    case CORE_WHY_NONE:
        break;
    case CORE_WHY_IN_RESET:
        return "held in reset";
    case CORE_WHY_LOCKUP:
        return "locked up";
    case CORE_WHY_NO_POWER:
        return "without power: its debug registers answer with a fault";
    case CORE_WHY_NO_CLOCK:
        return "without a clock: it does not answer";
    case CORE_WHY_DEBUG_DISABLED:
        return "closed: debug is disabled on it";
    case CORE_WHY_STUB:
        return "unknown: its gdb stub does not tell";
    }
    return "";
}

const char *core_arch_name(enum core_arch arch)
{
    switch (arch) {
    case CORE_ARCH_UNKNOWN:
        break;
    case CORE_ARCH_V6M:
        return "Armv6-M";
    case CORE_ARCH_V7M:
        return "Armv7-M";
    case CORE_ARCH_V8M_BASE:
        return "Armv8-M Baseline";
    case CORE_ARCH_V8M_MAIN:
        return "Armv8-M Mainline";
    }
    return "unknown";
}

enum corral_err core_read_memory(struct core *c, uint64_t address, void *out, size_t size, struct diag *d)
{
    enum corral_err err = link_read_bytes(c->link, c->ap, address, out, size, d);
    if (!err && c->ops->screen)
        c->ops->screen(c, false, address, out, size);
    return named(c, err, d);
}

#define SCREENED 1024 /* bytes copied at a time */

enum corral_err core_write_memory(struct core *c, uint64_t address, const void *bytes, size_t size,
                                  struct diag *d)
{
    const uint8_t *from = bytes;
    uint8_t copy[SCREENED];
    enum corral_err err = CORRAL_OK;
    if (!c->ops->screen || !c->ops->screen(c, true, address, NULL, size))
        return named(c, link_write_bytes(c->link, c->ap, address, bytes, size, d), d);
    while (size && !err) {
        size_t n = size < sizeof(copy) ? size : sizeof(copy);
        memcpy(copy, from, n);
        c->ops->screen(c, true, address, copy, n);
        err = link_write_bytes(c->link, c->ap, address, copy, n, d);
        from += n;
        address += n;
        size -= n;
    }
    return named(c, err, d);
}
