/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's own firmware in lockstep with Unicorn: each core in turn runs beside it, on the whole board.
 *
 * What the core read from peripherals is given to the oracle again, and what it wrote must be equal. The
 * oracle knows no exceptions: after entry, return and sleep its registers and the frame are copied (QEMU is
 * the oracle for those). The other core's stores are copied too. Uses the board's inside, to step it by the
 * instruction.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle_unicorn.h"
#include "sim/board_internal.h"

#define INSTRUCTIONS  500000u
#define FEWER         100000u /* on the other cores */
#define COMPARE_EVERY 512u
#define LOG_MAX       256u

struct access {
    unsigned core;
    bool write;
    uint32_t address, value;
    unsigned size;
};

struct lane {
    struct lockstep *all;
    struct cpu_hooks real;
};

struct lockstep {
    struct board *b;
    unsigned target;
    struct lane lane[2];
    uc_engine *uc;
    uc_context *fresh;
    uint8_t *ram;                                /* the oracle's */
    struct access bus[LOG_MAX], memory[LOG_MAX]; /* peripherals of the target; SRAM of both */
    unsigned bus_count, bus_next, memory_count;
    bool bus_wrong;
    unsigned copied; /* instructions after which the state was copied, not compared */
};

static void add(struct access *log, unsigned *count, struct access a)
{
    assert_true(*count < LOG_MAX);
    log[(*count)++] = a;
}

static unsigned lane_core(const struct lane *l)
{
    return (unsigned)(l - l->all->lane);
}

static bool on_read(void *ctx, uint32_t address, unsigned size, uint32_t *value)
{
    struct lane *l = ctx;
    bool ok = l->real.read(l->real.ctx, address, size, value);

    if (ok && lane_core(l) == l->all->target)
        add(l->all->bus, &l->all->bus_count, (struct access){l->all->target, false, address, *value, size});
    return ok;
}

static bool on_write(void *ctx, uint32_t address, unsigned size, uint32_t value)
{
    struct lane *l = ctx;

    if (lane_core(l) == l->all->target)
        add(l->all->bus, &l->all->bus_count, (struct access){l->all->target, true, address, value, size});
    return l->real.write(l->real.ctx, address, size, value);
}

/* The rest of the hooks goes straight through. */
static bool on_bkpt(void *ctx)
{
    struct lane *l = ctx;
    return l->real.bkpt(l->real.ctx);
}

static void on_access(void *ctx, uint32_t address, unsigned size, bool write, uint32_t value)
{
    struct lane *l = ctx;

    if (write && address - BOARD_SRAM_BASE < BOARD_SRAM_SIZE)
        add(l->all->memory, &l->all->memory_count, (struct access){lane_core(l), true, address, value, size});
}

/* The frame has just been pushed: nobody else tells of these stores. */
static void on_entered(void *ctx, unsigned number)
{
    struct lane *l = ctx;
    struct cpu *c = &l->all->b->core[lane_core(l)].cpu;
    uint32_t frame = c->r[CPU_LR] & 4u ? c->sp_other : c->r[CPU_SP];

    for (uint32_t at = frame; at < frame + 32; at += 4) {
        uint32_t v = 0;
        assert_true(cpu_bus_read(c, at, 4, &v));
        on_access(l, at, 4, true, v);
    }
    l->real.exception_entered(l->real.ctx, number);
}

static void on_event(void *ctx)
{
    struct lane *l = ctx;
    l->real.send_event(l->real.ctx);
}

static void on_reset(void *ctx)
{
    struct lane *l = ctx;
    l->real.reset_request(l->real.ctx);
}

/* The oracle's peripherals: the target's accesses over again. */
static struct access *replay(struct lockstep *s, bool write, uint64_t address, unsigned size)
{
    struct access *a = &s->bus[s->bus_next];

    if (s->bus_next >= s->bus_count || a->write != write || a->address != address || a->size != size) {
        s->bus_wrong = true;
        return NULL;
    }
    s->bus_next++;
    return a;
}

static uint64_t oracle_read(struct lockstep *s, uint64_t address, unsigned size)
{
    const struct access *a = replay(s, false, address, size);
    return a ? a->value : 0;
}

static void oracle_write(struct lockstep *s, uint64_t address, unsigned size, uint64_t value)
{
    const struct access *a = replay(s, true, address, size);
    if (a && a->value != value)
        s->bus_wrong = true;
}

static uint64_t device_read(uc_engine *uc, uint64_t offset, unsigned size, void *user)
{
    (void)uc;
    return oracle_read(user, 0x40000000u + offset, size);
}

static void device_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user)
{
    (void)uc;
    oracle_write(user, 0x40000000u + offset, size, value);
}

static uint64_t private_read(uc_engine *uc, uint64_t offset, unsigned size, void *user)
{
    (void)uc;
    return oracle_read(user, 0xE0000000u + offset, size);
}

static void private_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *user)
{
    (void)uc;
    oracle_write(user, 0xE0000000u + offset, size, value);
}

static void set_up(struct lockstep *s, unsigned target, enum board_identity identity)
{
    static const int model[BOARD_IDENTITIES] = {
        [BOARD_M7] = UC_CPU_ARM_CORTEX_M7,
        [BOARD_M4] = UC_CPU_ARM_CORTEX_M4,
        [BOARD_M33] = UC_CPU_ARM_CORTEX_M33,
        [BOARD_M0PLUS] = UC_CPU_ARM_CORTEX_M0,
    };
    struct diag d;
    struct board_config config = {.identity = {identity, identity}, .seed = 1};
    uint8_t *flash;

    memset(s, 0, sizeof *s);
    s->target = target;
    s->b = board_new(&config, &d);
    assert_non_null(s->b);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        size_t size = 0;
        const uint8_t *image = board_identity_image(identity, core, &size);
        assert_int_equal(board_load_elf(s->b, core, image, size, &d), CORRAL_OK);
    }
    board_reset(s->b);
    for (unsigned k = 0; k < 2; k++) {
        struct cpu *c = &s->b->core[k].cpu;
        s->lane[k] = (struct lane){s, c->hooks};
        c->hooks = (struct cpu_hooks){&s->lane[k], on_read,    on_write, on_bkpt,
                                      on_access,   on_entered, on_event, on_reset};
    }
    s->ram = aligned_alloc(4096, BOARD_SRAM_SIZE);
    assert_non_null(s->ram);
    memcpy(s->ram, s->b->sram, BOARD_SRAM_SIZE);
    flash = aligned_alloc(4096, BOARD_FLASH_SIZE);
    assert_non_null(flash);
    memcpy(flash, s->b->core[target].flash, BOARD_FLASH_SIZE);
    assert_int_equal(uc_open(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS, &s->uc), UC_ERR_OK);
    assert_int_equal(uc_ctl_set_cpu_model(s->uc, model[identity]), UC_ERR_OK);
    assert_int_equal(uc_mem_map(s->uc, BOARD_FLASH_BASE, BOARD_FLASH_SIZE, UC_PROT_READ | UC_PROT_EXEC),
                     UC_ERR_OK);
    assert_int_equal(uc_mem_write(s->uc, BOARD_FLASH_BASE, flash, BOARD_FLASH_SIZE), UC_ERR_OK);
    assert_int_equal(uc_mem_map(s->uc, BOARD_FLASH_ALIAS, BOARD_FLASH_SIZE, UC_PROT_READ | UC_PROT_EXEC),
                     UC_ERR_OK);
    assert_int_equal(uc_mem_write(s->uc, BOARD_FLASH_ALIAS, flash, BOARD_FLASH_SIZE), UC_ERR_OK);
    free(flash);
    assert_int_equal(
        uc_mem_map_ptr(s->uc, BOARD_SRAM_BASE, BOARD_SRAM_SIZE, UC_PROT_READ | UC_PROT_WRITE, s->ram),
        UC_ERR_OK);
    assert_int_equal(uc_mmio_map(s->uc, 0x40000000, 0x20000, device_read, s, device_write, s), UC_ERR_OK);
    assert_int_equal(uc_mmio_map(s->uc, 0xE0000000, 0x100000, private_read, s, private_write, s), UC_ERR_OK);
    assert_int_equal(uc_context_alloc(s->uc, &s->fresh), UC_ERR_OK);
    assert_int_equal(uc_context_save(s->uc, s->fresh), UC_ERR_OK);
    oracle_write_registers(s->uc, s->fresh, &s->b->core[target].cpu);
}

static void tear_down(struct lockstep *s)
{
    uc_context_free(s->fresh);
    uc_close(s->uc);
    free(s->ram);
    board_free(s->b);
}

static void copy_stores(struct lockstep *s, bool of_target)
{
    for (unsigned k = 0; k < s->memory_count; k++) {
        const struct access *a = &s->memory[k];
        if ((a->core == s->target) == of_target)
            memcpy(s->ram + (a->address - BOARD_SRAM_BASE), &a->value, a->size);
    }
}

static uint32_t oracle_pc(struct lockstep *s)
{
    uint32_t pc = 0;
    uc_reg_read(s->uc, UC_ARM_REG_PC, &pc);
    return pc;
}

static bool is_wait(struct cpu *c, uint32_t pc)
{
    uint32_t half = 0;
    return cpu_bus_read(c, pc, 2, &half) && (half == 0xBF30 || half == 0xBF20);
}

/* The oracle over the instruction, or the IT block, that began at `pc`. */
static void follow(struct lockstep *s, uint32_t pc)
{
    struct cpu *c = &s->b->core[s->target].cpu;

    s->bus_next = 0;
    assert_int_equal(uc_emu_start(s->uc, pc | 1u, 0, 0, 1), UC_ERR_OK);
    for (unsigned k = 0; k < 4 && oracle_pc(s) != c->r[CPU_PC]; k++)
        assert_int_equal(uc_emu_start(s->uc, oracle_pc(s) | 1u, 0, 0, 1), UC_ERR_OK);
    assert_true(oracle_registers_equal(s->uc, c, "firmware", pc));
    if (s->bus_wrong || s->bus_next != s->bus_count)
        fail_msg("at %08" PRIx32 " the peripheral accesses differ", pc);
}

static void run_beside(unsigned target, enum board_identity identity, unsigned instructions)
{
    struct lockstep *s = test_malloc(sizeof *s);
    uint64_t compared = 0, checked = 0;

    set_up(s, target, identity);
    struct cpu *c = &s->b->core[target].cpu;
    uint32_t start = c->r[CPU_PC];
    bool copy = false;
    uint64_t steps = 0;

    while (compared < instructions) {
        uint64_t before = c->instructions, ipsr = c->ipsr;
        uint32_t pc = c->r[CPU_PC];
        s->memory_count = 0;
        s->b->core[0].cpu.watch = s->b->core[1].cpu.watch = true;
        board_run_until(s->b, board_tick(s->b) + 1);
        if (target == 1)
            copy_stores(s, false); /* core 0 was first */
        if (c->instructions == before && c->ipsr == ipsr) {
            copy_stores(s, false);
            assert_true(++steps < 100000000u);
            continue;
        }
        steps = 0;
        copy = copy || c->ipsr != ipsr || c->instructions == before || is_wait(c, pc);
        if (copy)
            copy_stores(s, true);
        if (!c->it) {
            if (copy) {
                oracle_write_registers(s->uc, s->fresh, c);
                s->copied++;
            } else {
                follow(s, start);
                compared += c->instructions - before;
            }
            copy = false;
            s->bus_count = 0;
            start = c->r[CPU_PC];
        } else {
            compared += !copy;
        }
        if (target == 0)
            copy_stores(s, false);
        if (compared - checked >= COMPARE_EVERY && !c->it) {
            checked = compared;
            assert_memory_equal(s->ram, s->b->sram, BOARD_SRAM_SIZE);
        }
    }
    print_message("# core %u, %s: %" PRIu64 " instructions equal, %u copied (exceptions, sleep)\n", target,
                  board_identity_info(identity)->core, compared, s->copied);
    tear_down(s);
    test_free(s);
}

static void test_core0(void **state)
{
    (void)state;
    run_beside(0, BOARD_M7, INSTRUCTIONS);
}

static void test_core1(void **state)
{
    (void)state;
    run_beside(1, BOARD_M7, INSTRUCTIONS);
}

static void test_cores_of_an_m0plus(void **state)
{
    (void)state;
    for (unsigned core = 0; core < BOARD_CORES; core++)
        run_beside(core, BOARD_M0PLUS, FEWER);
}

static void test_core_of_an_m4_and_an_m33(void **state)
{
    (void)state;
    run_beside(0, BOARD_M4, FEWER);
    run_beside(1, BOARD_M33, FEWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core0),
        cmocka_unit_test(test_core1),
        cmocka_unit_test(test_cores_of_an_m0plus),
        cmocka_unit_test(test_core_of_an_m4_and_an_m33),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
