/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of an ELF executable into RAM, and a core to its entry (load.h). On the link's thread. */
#include "session/load.h"

#include <inttypes.h>
#include <string.h>

#include "session/session_internal.h"

#define PIECE       4096u /* bytes between two looks at the stop flag */
#define VTOR        0xE000ED08u
#define ICIALLU     0xE000EF50u /* v7-M and v8-M: invalidate the instruction cache */
#define XPSR_THUMB  0x01000000u
#define REGISTER_20 20u /* CONTROL, FAULTMASK, BASEPRI, PRIMASK */

struct load {
    struct session *s;
    const struct session_view *view;
    const uint8_t *file;
    const struct load_image *image;
    const atomic_bool *stop;
};

static enum corral_err differs(uint64_t address, const uint8_t *wanted, const uint8_t *found, size_t size,
                               struct diag *d)
{
    size_t i = 0;
    while (i < size && wanted[i] == found[i])
        i++;
    if (i == size)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_FAILED, "0x%08" PRIx64 " does not read back: 0x%02x was written, 0x%02x is there",
             address + i, wanted[i], found[i]);
    diag_hint(d, "there is no RAM, or a core or DMA writes to it");
    return CORRAL_ERR_FAILED;
}

static enum corral_err load_segment(struct link *link, const struct load *l, uint32_t ap,
                                    const struct load_segment *segment, struct diag *d)
{
    uint8_t back[PIECE];
    enum corral_err err = CORRAL_OK;
    for (int pass = 0; pass < 2; pass++) /* all of it is written before any of it is read back */
        for (uint64_t at = 0; at < segment->size && !err; at += PIECE) {
            size_t n = segment->size - at < PIECE ? (size_t)(segment->size - at) : PIECE;
            const uint8_t *bytes = l->file + segment->offset + at;
            if (l->stop && atomic_load(l->stop))
                return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
            if (pass == 0)
                err = link_write_bytes(link, ap, segment->address + at, bytes, n, d);
            else if (!(err = link_read_bytes(link, ap, segment->address + at, back, n, d)))
                err = differs(segment->address + at, bytes, back, n, d);
        }
    return err;
}

static enum corral_err do_load(struct link *link, void *ctx, struct diag *d)
{
    const struct load *l = ctx;
    uint32_t ap = l->view->by_ap ? l->view->ap : core_ap(l->s->cores[l->view->core]);
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < l->image->count && !err; i++)
        err = load_segment(link, l, ap, &l->image->segments[i], d);
    return err;
}

enum corral_err session_load(struct session *s, const struct session_view *view, const uint8_t *file,
                             const struct load_image *image, const atomic_bool *stop, struct diag *d)
{
    struct load l = {s, view, file, image, stop};
    return session_call(s, do_load, &l, d);
}

struct to_entry {
    struct core *core;
    const struct load_image *image;
};

/* Code may have been there before that an instruction cache still holds; debug writes pass it by. */
static bool has_instruction_cache(struct core *core)
{
    static const char *const parts[] = {"Cortex-M7", "Cortex-M52", "Cortex-M55", "Cortex-M85"};
    struct core_info info = {0};
    if (core_get_info(core, &info, NULL) || !info.part)
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(info.part, parts[i]) == 0)
            return true;
    return false;
}

static enum corral_err do_registers(struct link *link, void *ctx, struct diag *d)
{
    struct to_entry *t = ctx;
    struct core *c = t->core;
    enum corral_err err = core_write_register(c, REGISTER_20, 0, d);
    if (!err)
        err = core_write_register(c, CORE_REGISTER_XPSR, XPSR_THUMB, d);
    if (!err && t->image->has_vectors) {
        err = core_write_register(c, CORE_REGISTER_SP, t->image->stack, d);
        if (!err)
            err = link_write32(link, core_ap(c), VTOR, t->image->vectors, d);
    }
    if (!err && has_instruction_cache(c))
        err = link_write32(link, core_ap(c), ICIALLU, 0, d);
    return err ? err : core_write_register(c, CORE_REGISTER_PC, t->image->entry & ~1u, d);
}

enum corral_err session_load_registers(struct session *s, size_t core, const struct load_image *image,
                                       struct diag *d)
{
    struct to_entry t = {s->cores[core], image};
    return session_call(s, do_registers, &t, d);
}
