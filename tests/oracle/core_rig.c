/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two cores with their own flash and one RAM: set-up and hooks.
 */
#include "core_rig.h"

#include <stdlib.h>
#include <string.h>

static struct rig *rig_of(struct cpu *c)
{
    return (struct rig *)(void *)((char *)(c - c->number) - offsetof(struct rig, core));
}

static bool read_hook(void *ctx, uint32_t address, unsigned size, uint32_t *value)
{
    return address >> 12 == 0xE000E && cpu_scs_read(ctx, address, size, value, false);
}

static bool write_hook(void *ctx, uint32_t address, unsigned size, uint32_t value)
{
    return address >> 12 == 0xE000E && cpu_scs_write(ctx, address, size, value, false);
}

static bool bkpt_hook(void *ctx)
{
    struct rig *r = rig_of(ctx);
    r->breakpoints++;
    return r->halt_on_bkpt;
}

static void access_hook(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value)
{
    struct rig *r = rig_of(ctx);
    (void)size;
    (void)write;
    (void)value;
    r->accesses++;
    r->accessed = address;
}

static void entered_hook(void *ctx, unsigned number)
{
    rig_of(ctx)->entered = number;
}

static void event_hook(void *ctx)
{
    struct rig *r = rig_of(ctx);
    cpu_set_event(&r->core[0]);
    cpu_set_event(&r->core[1]);
}

static void reset_hook(void *ctx)
{
    rig_of(ctx)->resets++;
}

static void put_word(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, 4);
}

int rig_setup(void **state)
{
    struct rig *r = calloc(1, sizeof *r);

    if (!r)
        return -1;
    for (unsigned k = 0; k < 2; k++) {
        struct cpu *c = &r->core[k];
        put_word(r->flash[k], RIG_STACK + k * 0x1000u);
        put_word(r->flash[k] + 4, RIG_MAIN | 1u);
        for (unsigned n = 2; n < 48; n++) {
            put_word(r->flash[k] + 4 * n, RIG_HANDLER(n) | 1u);
            RIG_CODE(r, k, RIG_HANDLER(n), 0x4770);
        }
        for (uint32_t at = RIG_MAIN; at < RIG_MAIN + 0x100u; at += 2)
            RIG_CODE(r, k, at, 0xBF00);
        c->number = k;
        c->monitor = &r->monitor;
        c->cpuid = 0x411FC272;
        c->region[0] = (struct cpu_region){0, RIG_FLASH_SIZE, r->flash[k], false};
        c->region[1] = (struct cpu_region){RIG_RAM, RIG_RAM_SIZE, r->ram, true};
        c->hooks = (struct cpu_hooks){.ctx = c,
                                      .read = read_hook,
                                      .write = write_hook,
                                      .bkpt = bkpt_hook,
                                      .data_access = access_hook,
                                      .exception_entered = entered_hook,
                                      .send_event = event_hook,
                                      .reset_request = reset_hook};
        cpu_reset(c);
    }
    *state = r;
    return 0;
}

int rig_teardown(void **state)
{
    free(*state);
    return 0;
}

void rig_code(struct rig *r, unsigned core, uint32_t address, unsigned n, const uint32_t *code)
{
    for (unsigned k = 0; k < n; k++) {
        uint16_t half[2] = {(uint16_t)(code[k] >> 16), (uint16_t)code[k]};
        if (code[k] > 0xFFFF) {
            memcpy(r->flash[core] + address, half, 4);
            address += 4;
        } else {
            memcpy(r->flash[core] + address, &half[1], 2);
            address += 2;
        }
    }
}

unsigned rig_step(struct cpu *c)
{
    unsigned cycles = cpu_step(c);
    c->cycles += cycles;
    return cycles;
}

void rig_steps(struct cpu *c, unsigned n)
{
    while (n--)
        rig_step(c);
}

uint32_t rig_word(struct rig *r, uint32_t address)
{
    uint32_t v;
    assert_in_range(address, RIG_RAM, RIG_RAM + RIG_RAM_SIZE - 4);
    memcpy(&v, r->ram + (address - RIG_RAM), 4);
    return v;
}

void rig_write(struct cpu *c, uint32_t address, uint32_t value)
{
    assert_true(cpu_bus_write(c, address, 4, value));
}

uint32_t rig_read(struct cpu *c, uint32_t address)
{
    uint32_t v = 0;
    assert_true(cpu_bus_read(c, address, 4, &v));
    return v;
}
