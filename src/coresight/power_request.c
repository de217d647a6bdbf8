/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power domains that a ROM table names (POWERID): a class 9 table has registers of its own for them, a class
 * 1 table needs a granular power requester (GPR) beside it. Cross-trigger sheet 2.4, case B10.
 *
 * A domain is only ever asked to be on. What stays off within the bound is reported, and the walk goes round
 * it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "coresight/discovery.h"

enum { DBGPCR = 0xA00, DBGPSR = 0xA80, GPR_CPWRUPREQ = 0x000, GPR_CPWRUPACK = 0x004 };
enum { LAR = 0xFB0, LSR = 0xFB4 };

#define GPR_PART       0x9A4
#define DEVID_PRR      0x20u
#define PCR_PRESENT    0x1u
#define PCR_PR         0x2u
#define PSR_PS         0x3u
#define LSR_LOCKED     0x3u /* there is a lock, and it is closed */
#define LAR_KEY        0xC5ACCE55u
#define POWER_WAIT_NS  (100 * NS_PER_MS)
#define POWER_POLL_NS  (200 * NS_PER_US)
#define POWER_MIN_POLL 16

bool cs_is_gpr(const struct cs_component *c)
{
    return c->component_class == CS_CLASS_CORESIGHT && c->designer == CS_ARM &&
           (c->archid == CS_ARCHID_GPR || (c->part == GPR_PART && c->archid == 0));
}

/* Until `mask` of the register is not 0. At least so often, however slow this machine is. */
static bool becomes(const struct cs_space *s, uint64_t address, uint32_t mask, struct diag *d)
{
    struct deadline limit = deadline_in(link_clock(s->link), POWER_WAIT_NS);
    for (unsigned i = 0;; i++) {
        uint32_t value = 0;
        if (cs_read_words(s, address, &value, 1, d))
            return false;
        if (value & mask)
            return true;
        if (i >= POWER_MIN_POLL && deadline_passed(&limit))
            return false;
        host_clock_sleep(link_clock(s->link), POWER_POLL_NS);
    }
}

static bool refused(const struct cs_domain *domain, const struct diag *d, char why[CS_ERROR_MAX])
{
    snprintf(why, CS_ERROR_MAX, "power domain %u stays off%s%.60s", domain->id, d->code ? ": " : "",
             d->code ? d->message : "");
    return false;
}

static bool table_domain(const struct cs_space *s, const struct cs_domain *domain, char why[CS_ERROR_MAX])
{
    uint64_t pcr = domain->registers + DBGPCR + 4 * (uint64_t)domain->id;
    uint64_t psr = domain->registers + DBGPSR + 4 * (uint64_t)domain->id;
    struct diag d = DIAG_INIT;
    uint32_t control = 0, state = 0;
    /* Without control of this domain it is as it is: its blocks tell whether they can be read. */
    if (!(domain->devid & DEVID_PRR) || cs_read_words(s, pcr, &control, 1, &d) || !(control & PCR_PRESENT))
        return true;
    if (!cs_read_words(s, psr, &state, 1, &d) && (state & PSR_PS))
        return true;
    if (cs_write_word(s, pcr, control | PCR_PR, &d) || !becomes(s, psr, PSR_PS, &d))
        return refused(domain, &d, why);
    return true;
}

static bool gpr_domain(const struct cs_space *s, const struct cs_domain *domain, char why[CS_ERROR_MAX])
{
    uint32_t bit = 1u << domain->id, requested = 0, acknowledged = 0, lock = 0;
    uint64_t gpr = domain->registers;
    struct diag d = DIAG_INIT;
    if (cs_read_words(s, gpr + GPR_CPWRUPREQ, &requested, 1, &d) ||
        cs_read_words(s, gpr + GPR_CPWRUPACK, &acknowledged, 1, &d))
        return refused(domain, &d, why);
    if (acknowledged & bit)
        return true;
    if (!cs_read_words(s, gpr + LSR, &lock, 1, &d) && (lock & LSR_LOCKED) == LSR_LOCKED &&
        cs_write_word(s, gpr + LAR, LAR_KEY, &d))
        return refused(domain, &d, why);
    d.code = CORRAL_OK;
    if (cs_write_word(s, gpr + GPR_CPWRUPREQ, requested | bit, &d) ||
        !becomes(s, gpr + GPR_CPWRUPACK, bit, &d))
        return refused(domain, &d, why);
    return true;
}

bool cs_power_domain(const struct cs_space *s, const struct cs_domain *domain, char why[CS_ERROR_MAX])
{
    why[0] = '\0';
    return domain->class9 ? table_domain(s, domain, why) : gpr_domain(s, domain, why);
}
