/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connect modes (connect.h). Cross-trigger sheet 3.1 for DHCSR and DEMCR, section 11 for the order: reset
 * catch is set on every core, only then is the reset let go.
 *
 * Many parts keep the core's debug registers in reset, or do not let the port at them, while nRESET is low.
 * What did not take is done right after the release instead, and that is said: such a core has run some
 * instructions.
 */
#include "session/connect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/host_clock.h"
#include "coresight/rom_table.h"

#define DHCSR             0xE000EDF0u
#define DEMCR             0xE000EDFCu
#define DBGKEY            0xA05F0000u
#define C_DEBUGEN         0x1u
#define C_HALT            0x2u
#define S_HALT            (1u << 17)
#define VC_CORERESET      0x1u
#define DEMCR_KEPT        0x010F07F1u /* what may be written back: catches, monitor, trace enable */
#define PULSE_NS          (20 * NS_PER_MS)
#define SETTLE_NS         (10 * NS_PER_MS)
#define PORT_NS           (1000 * NS_PER_MS) /* for a debug port to come back after a reset */
#define HALT_NS           (200 * NS_PER_MS)
#define POLL_NS           (1 * NS_PER_MS)
#define CONNECT_MAX_CORES 16

bool connect_mode_named(const char *word, enum connect_mode *mode)
{
    static const char *const names[] = {"attach", "under-reset", "pre-reset"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(word, names[i]) == 0) {
            *mode = (enum connect_mode)(CONNECT_ATTACH + i);
            return true;
        }
    return false;
}

bool connect_protocol_named(const char *word, enum link_protocol *protocol)
{
    bool swd = strcmp(word, "swd") == 0;
    *protocol = swd ? LINK_PROTOCOL_SWD : LINK_PROTOCOL_JTAG;
    return swd || strcmp(word, "jtag") == 0;
}

/* One Cortex-M core that is to stop at its vector. */
struct caught {
    uint32_t ap;
    char name[32];
    bool set;       /* C_DEBUGEN and VC_CORERESET hold */
    uint32_t demcr; /* as it was found */
};

struct catching {
    struct link *link;
    const struct cs_hints *hints;
    struct caught core[CONNECT_MAX_CORES];
    size_t count;
};

static void sleep_for(struct link *link, int64_t ns)
{
    host_clock_sleep(link_clock(link), ns);
}

/* The port's power requests are gone after a reset on some parts, and it may need a while. */
static enum corral_err wait_for_port(struct link *link, struct diag *d)
{
    struct deadline limit = deadline_in(link_clock(link), PORT_NS);
    for (;;) {
        link_forget(link);
        enum corral_err err = dp_power_up(link, d);
        if (err == CORRAL_OK || err == CORRAL_ERR_TIMEOUT || deadline_passed(&limit))
            return err;
        sleep_for(link, POLL_NS);
    }
}

static void find_cores(struct catching *c)
{
    struct cs_topology *t = cs_scan(c->link, c->hints, NULL);
    for (size_t i = 0; t && i < t->core_count && c->count < CONNECT_MAX_CORES; i++) {
        bool known = !t->cores[i].cortex_m;
        for (size_t k = 0; k < c->count; k++)
            known |= c->core[k].ap == t->cores[i].ap;
        if (known)
            continue;
        struct caught *core = &c->core[c->count++];
        *core = (struct caught){.ap = t->cores[i].ap};
        snprintf(core->name, sizeof(core->name), "%s", t->cores[i].name);
    }
    cs_topology_free(t);
}

/* Written, and read back: a register that is held in reset takes nothing. */
static bool set_catch(struct link *link, struct caught *core)
{
    uint32_t demcr = 0, dhcsr = 0;
    if (link_write32(link, core->ap, DHCSR, DBGKEY | C_DEBUGEN, NULL) ||
        link_read32(link, core->ap, DEMCR, &core->demcr, NULL) ||
        link_write32(link, core->ap, DEMCR, (core->demcr & DEMCR_KEPT) | VC_CORERESET, NULL) ||
        link_read32(link, core->ap, DEMCR, &demcr, NULL) || link_read32(link, core->ap, DHCSR, &dhcsr, NULL))
        return false;
    return (demcr & VC_CORERESET) && (dhcsr & C_DEBUGEN);
}

static bool is_halted(struct link *link, const struct caught *core)
{
    uint32_t dhcsr = 0;
    return link_read32(link, core->ap, DHCSR, &dhcsr, NULL) == CORRAL_OK && (dhcsr & S_HALT);
}

static bool wait_halted(struct link *link, const struct caught *core, int64_t ns)
{
    struct deadline limit = deadline_in(link_clock(link), ns);
    while (!is_halted(link, core)) {
        if (deadline_passed(&limit) || link_deadline_passed(link))
            return false;
        sleep_for(link, POLL_NS);
    }
    return true;
}

static void add_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

/* After the release: what was not caught is halted as it runs, and the catches go. */
static void finish(struct catching *c, char note[CONNECT_NOTE])
{
    char late[120] = "", never[120] = "";
    for (size_t i = 0; i < c->count; i++) /* those that run, first and fast */
        if (!c->core[i].set)
            link_write32(c->link, c->core[i].ap, DHCSR, DBGKEY | C_DEBUGEN | C_HALT, NULL);
    for (size_t i = 0; i < c->count; i++) {
        struct caught *core = &c->core[i];
        bool halted = wait_halted(c->link, core, core->set ? SETTLE_NS : HALT_NS);
        if (!halted && core->set) { /* the reset took the catch away */
            core->set = false;
            link_write32(c->link, core->ap, DHCSR, DBGKEY | C_DEBUGEN | C_HALT, NULL);
            halted = wait_halted(c->link, core, HALT_NS);
        }
        if (!halted)
            add_name(never, sizeof(never), core->name);
        else if (!core->set)
            add_name(late, sizeof(late), core->name);
        if (core->set)
            link_write32(c->link, core->ap, DEMCR, core->demcr & DEMCR_KEPT, NULL);
    }
    size_t used = 0;
    if (late[0])
        used =
            (size_t)snprintf(note, CONNECT_NOTE,
                             "%s could not be set to halt while held in reset, and was halted right after: "
                             "it has run some instructions",
                             late);
    if (never[0] && used < CONNECT_NOTE)
        snprintf(note + used, CONNECT_NOTE - used, "%s%s did not halt when reset was let go",
                 used ? "; " : "", never);
}

static enum corral_err under_reset(struct link *link, const struct cs_hints *hints, char note[CONNECT_NOTE],
                                   struct diag *d)
{
    struct catching c = {.link = link, .hints = hints};
    enum corral_err err = link_drive_reset(link, true, d);
    if (err)
        return err;
    sleep_for(link, PULSE_NS);
    link_forget(link);
    if (dp_power_up(link, NULL) == CORRAL_OK) {
        find_cores(&c);
        for (size_t i = 0; i < c.count; i++)
            c.core[i].set = set_catch(link, &c.core[i]);
    }
    size_t found = c.count;
    err = link_drive_reset(link, false, d);
    if (!err)
        err = wait_for_port(link, d);
    if (err)
        return err;
    if (found == 0) { /* nothing could be seen in reset: now, and at once */
        find_cores(&c);
        link_forget(link);
    }
    finish(&c, note);
    if (c.count == 0)
        snprintf(note, CONNECT_NOTE, "no core was found that could be halted under reset");
    return CORRAL_OK;
}

enum corral_err connect_target(struct link *link, enum connect_mode mode, const struct cs_hints *hints,
                               char note[CONNECT_NOTE], struct diag *d)
{
    note[0] = '\0';
    if (mode == CONNECT_UNDER_RESET)
        return under_reset(link, hints, note, d);
    if (mode != CONNECT_PRE_RESET)
        return CORRAL_OK;
    enum corral_err err = link_drive_reset(link, true, d);
    if (err)
        return err;
    sleep_for(link, PULSE_NS);
    err = link_drive_reset(link, false, d);
    sleep_for(link, SETTLE_NS);
    link_forget(link);
    return err;
}
