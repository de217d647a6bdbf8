/* SPDX-License-Identifier: Apache-2.0 */
/* Registers by name, and one core halted or started alone (core_registers.h); on the link's thread. */
#include "session/core_registers.h"

#include <string.h>

#include "session/session_internal.h"

struct registers {
    struct session *s;
    size_t core;
    const char *const *names;
    size_t name_count;
    struct session_register *out;
    size_t count;
    const char *name; /* to write */
    uint32_t value;
    bool ran;
};

static enum corral_err require_halted(struct core *core, struct diag *d)
{
    struct core_status status = {0};
    enum corral_err err = core_read_status(core, false, &status, d);
    if (err || status.state == CORE_HALTED)
        return err;
    const char *why = core_why_text(status.why);
    diag_set(d, CORRAL_ERR_CORE_STATE, "%s is %s%s%s%s: registers are had while it is halted",
             core_name(core), core_state_name(status.state), why[0] ? " (" : "", why, why[0] ? ")" : "");
    diag_object(d, "%s", core_name(core));
    if (status.state == CORE_RUNNING)
        diag_hint(d,
                  "'corral regs --halt' halts it for as long as it takes, 'corral halt --core %s' for good",
                  core_name(core));
    return CORRAL_ERR_CORE_STATE;
}

static void add(struct registers *x, const struct core_register *r, unsigned *numbers)
{
    numbers[x->count] = r->number;
    x->out[x->count++] = (struct session_register){.name = r->name, .bits = r->bits};
}

static enum corral_err do_read(struct link *link, void *ctx, struct diag *d)
{
    struct registers *x = ctx;
    struct core *core = x->s->cores[x->core];
    const struct core_register *list = NULL;
    size_t count = 0;
    unsigned numbers[SESSION_REGISTERS_MOST];
    uint32_t values[SESSION_REGISTERS_MOST] = {0};
    (void)link;
    enum corral_err err = core_registers(core, &list, &count, d);
    if (!err && (x->name_count ? x->name_count : count) > SESSION_REGISTERS_MOST)
        err = diag_set(d, CORRAL_ERR_LIMIT, "at most %d registers at once", SESSION_REGISTERS_MOST);
    for (size_t i = 0; x->name_count == 0 && i < count && !err; i++)
        add(x, &list[i], numbers);
    /* a name that is wrong is that also while the core runs */
    for (size_t i = 0; i < x->name_count && !err; i++) {
        err = core_find_register(core, x->names[i], &list, d);
        if (!err)
            add(x, list, numbers);
    }
    if (!err)
        err = require_halted(core, d);
    if (!err)
        err = core_read_registers(core, numbers, x->count, values, d);
    for (size_t i = 0; i < x->count; i++)
        x->out[i].value = values[i];
    x->count = err ? 0 : x->count;
    return err;
}

enum corral_err session_read_registers(struct session *s, size_t core, const char *const *names,
                                       size_t name_count, struct session_register *out, size_t *count,
                                       struct diag *d)
{
    struct registers x = {.s = s, .core = core, .names = names, .name_count = name_count, .out = out};
    enum corral_err err = session_call(s, do_read, &x, d);
    *count = x.count;
    return err;
}

static enum corral_err do_write(struct link *link, void *ctx, struct diag *d)
{
    struct registers *x = ctx;
    struct core *core = x->s->cores[x->core];
    const struct core_register *r = NULL;
    (void)link;
    enum corral_err err = core_find_register(core, x->name, &r, d);
    if (!err && r->bits < 32 && x->value >> r->bits)
        err = diag_set(d, CORRAL_ERR_USAGE, "%s has %u bits: 0x%x does not fit", r->name, r->bits, x->value);
    if (!err)
        err = require_halted(core, d);
    return err ? err : core_write_register(core, r->number, x->value, d);
}

enum corral_err session_write_register(struct session *s, size_t core, const char *name, uint32_t value,
                                       struct diag *d)
{
    struct registers x = {.s = s, .core = core, .name = name, .value = value};
    return session_call(s, do_write, &x, d);
}

static enum corral_err do_halt(struct link *link, void *ctx, struct diag *d)
{
    struct registers *x = ctx;
    struct core *core = x->s->cores[x->core];
    struct core_status status = {0};
    (void)link;
    enum corral_err err = core_read_status(core, false, &status, d);
    x->ran = status.state != CORE_HALTED;
    if (err || !x->ran)
        return err;
    err = core_request_halt(core, d);
    return err ? err : core_wait_halted(core, CORE_WAIT_NS, d);
}

enum corral_err session_halt_core(struct session *s, size_t core, bool *ran, struct diag *d)
{
    struct registers x = {.s = s, .core = core};
    enum corral_err err = session_call(s, do_halt, &x, d);
    *ran = x.ran;
    return err;
}

static enum corral_err do_run(struct link *link, void *ctx, struct diag *d)
{
    struct registers *x = ctx;
    struct core *core = x->s->cores[x->core];
    (void)link;
    enum corral_err err = core_prepare_run(core, d);
    if (!err)
        err = core_resume(core, d);
    if (!err)
        err = core_confirm_run(core, &x->ran, d);
    if (!err && !x->ran)
        err = diag_set(d, CORRAL_ERR_CORE_NO_RUN, "%s did not restart", core_name(core));
    return err;
}

enum corral_err session_run_core(struct session *s, size_t core, struct diag *d)
{
    struct registers x = {.s = s, .core = core};
    return session_call(s, do_run, &x, d);
}
