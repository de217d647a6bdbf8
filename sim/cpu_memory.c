/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory off the fast path: peripherals, unaligned accesses, faults, watching, the exclusive monitor.
 * DDI0403E A3.2 (alignment), A3.4 (exclusives), B3.1 (the default address map).
 */
#include "sim/cpu_internal.h"

/* Device and strongly-ordered parts of the default map refuse unaligned accesses. */
static bool device_memory(uint32_t address)
{
    unsigned part = address >> 29;
    return part == 2 || part >= 5;
}

static bool bus_read(struct cpu *c, uint32_t address, unsigned size, uint32_t *value)
{
    const uint8_t *p = cpu_region_span(c, address, size, false);

    *value = 0;
    if (p) {
        memcpy(value, p, size);
        return true;
    }
    return c->hooks.read && c->hooks.read(c->hooks.ctx, address, size, value);
}

static bool bus_write(struct cpu *c, uint32_t address, unsigned size, uint32_t value)
{
    uint8_t *p = cpu_region_span(c, address, size, true);

    if (p) {
        memcpy(p, &value, size);
        return true;
    }
    if (cpu_region_find(c, address, false)) /* memory that this core may not write, or its edge */
        return false;
    return c->hooks.write && c->hooks.write(c->hooks.ctx, address, size, value);
}

static bool bus_fault(struct cpu *c, uint32_t address)
{
    c->fault = CPU_FAULT_BUS;
    c->fault_address = address;
    return false;
}

/* BFHFNMIGN: handlers at priority -1 and -2 may probe memory without faulting. */
static bool ignores_bus_faults(const struct cpu *c)
{
    return (c->ccr & CPU_CCR_BFHFNMIGN) && cpu_execution_priority(c, true) < 0;
}

/* The private peripheral bus is for privileged code; STIR alone can be opened with CCR.USERSETMPEND. */
static bool forbidden(const struct cpu *c, uint32_t address, bool write)
{
    if (address >> 20 != 0xE00 || cpu_privileged(c))
        return false;
    return !(write && address == 0xE000EF00u && (c->ccr & CPU_CCR_USERSETMPEND));
}

static bool misaligned(struct cpu *c, uint32_t address, unsigned size)
{
    if (!(address & (size - 1u)))
        return false;
    if (!(c->ccr & CPU_CCR_UNALIGN_TRP) && !device_memory(address))
        return false;
    c->fault = CPU_FAULT_UNALIGNED;
    return true;
}

/* An unaligned access that lies in one region, while nobody watches: filters make many of them. */
static bool load_span(const struct cpu *c, uint32_t address, unsigned size, uint32_t *value)
{
    const uint8_t *p = c->watch ? NULL : cpu_region_span(c, address, size, false);
    uint16_t half;

    if (!p || size == 1)
        return false;
    if (size == 4) {
        memcpy(value, p, 4);
    } else {
        memcpy(&half, p, 2);
        *value = half;
    }
    return true;
}

bool cpu_load_slow(struct cpu *c, uint32_t address, unsigned size, uint32_t *value)
{
    unsigned step = address & (size - 1u) ? 1 : size;
    uint32_t v = 0;

    if (misaligned(c, address, size))
        return false;
    if (load_span(c, address, size, value))
        return true;
    for (unsigned done = 0; done < size; done += step) {
        uint32_t part = 0, at = address + done;
        if (forbidden(c, at, false) || !bus_read(c, at, step, &part)) {
            if (!ignores_bus_faults(c))
                return bus_fault(c, at);
            part = 0;
        }
        v |= part << (done * 8);
    }
    *value = v;
    if (c->watch && c->hooks.data_access)
        c->hooks.data_access(c->hooks.ctx, address, size, false, v);
    return true;
}

bool cpu_store_slow(struct cpu *c, uint32_t address, unsigned size, uint32_t value)
{
    unsigned step = address & (size - 1u) ? 1 : size;

    if (misaligned(c, address, size))
        return false;
    for (unsigned done = 0; done < size; done += step) {
        uint32_t at = address + done;
        uint32_t part = step == 4 ? value : (value >> (done * 8)) & ((1u << (step * 8)) - 1u);
        if ((forbidden(c, at, true) || !bus_write(c, at, step, part)) && !ignores_bus_faults(c))
            return bus_fault(c, at);
    }
    cpu_monitor_store(c, address, size, ~(1u << c->number));
    if (c->watch && c->hooks.data_access)
        c->hooks.data_access(c->hooks.ctx, address, size, true, value);
    return true;
}

/* A store of `size` bytes was seen: the tags of `cores` (one bit each) in its granules go. */
void cpu_monitor_store(struct cpu *c, uint32_t address, unsigned size, uint32_t cores)
{
    struct cpu_monitor *m = c->monitor;
    uint32_t first = address & CPU_GRANULE_MASK, last = (address + size - 1u) & CPU_GRANULE_MASK;

    for (unsigned k = 0; k < 2; k++) {
        if ((m->valid & cores & (1u << k)) && (m->tag[k] == first || m->tag[k] == last))
            m->valid &= ~(1u << k);
    }
}

/* CLREX, STREX, exception entry and return end this core's claim. */
void cpu_monitor_clear(struct cpu *c)
{
    c->monitor->valid &= ~(1u << c->number);
}

static bool bus_size(uint32_t address, unsigned size)
{
    return (size == 1 || size == 2 || size == 4) && !(address & (size - 1u));
}

bool cpu_bus_read(struct cpu *c, uint32_t address, unsigned size, uint32_t *value)
{
    *value = 0;
    return bus_size(address, size) && bus_read(c, address, size, value);
}

bool cpu_bus_write(struct cpu *c, uint32_t address, unsigned size, uint32_t value)
{
    if (!bus_size(address, size) || !bus_write(c, address, size, value))
        return false;
    cpu_monitor_store(c, address, size, ~0u);
    return true;
}
