/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all links share: the object, the checks of a batch before anything is done, and the small helpers.
 * Must not know any wire.
 */
#include "link/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "link/link_backend.h"
#include "link/mem_ap.h"
#include "link/nested_ap.h"
#include "link/wire_log.h"

struct link {
    const struct link_backend *backend;
    void *ctx;
    struct host_clock *clock;
    struct mem_ap *mem_ap; /* for a back end with raw transfers */
    char *name;
    int64_t deadline;          /* host_clock time, or LINK_NO_DEADLINE */
    struct wire_log *log;      /* or NULL */
    struct nested_aps *nested; /* APs behind APs; NULL = none */
};

struct link *link_new(const struct link_backend *backend, void *ctx, const char *name,
                      struct host_clock *clock)
{
    struct link *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->backend = backend;
    l->deadline = LINK_NO_DEADLINE;
    l->ctx = ctx;
    l->clock = clock;
    l->name = strdup(name);
    if (!backend->execute)
        l->mem_ap = mem_ap_new(backend, ctx, clock);
    if (!l->name || (!backend->execute && !l->mem_ap)) {
        mem_ap_free(l->mem_ap);
        free(l->name);
        free(l);
        return NULL;
    }
    return l;
}

void *link_backend_ctx(struct link *link, const struct link_backend *backend)
{
    return link && link->backend == backend ? link->ctx : NULL;
}

void link_close(struct link *link)
{
    if (!link)
        return;
    if (link->backend->close)
        link->backend->close(link->ctx);
    wire_log_close(link->log);
    mem_ap_free(link->mem_ap);
    nested_ap_free(link->nested);
    free(link->name);
    free(link);
}

unsigned link_caps(const struct link *link)
{
    return link->backend->caps | (link_can_raw(link, LINK_RAW_SWJ) ? LINK_CAP_RAW : 0);
}

const char *link_name(const struct link *link)
{
    return link->name;
}

struct host_clock *link_clock(const struct link *link)
{
    return link->clock;
}

uint64_t link_wire_clocks(const struct link *link)
{
    return link->backend->wire_clocks ? link->backend->wire_clocks(link->ctx) : 0;
}

void link_forget(struct link *link)
{
    if (link->mem_ap)
        mem_ap_forget(link->mem_ap);
    if (link->nested)
        nested_ap_forget(link->nested);
}

const char *link_ap_name(uint32_t ap, char out[LINK_AP_NAME_MAX])
{
    snprintf(out, LINK_AP_NAME_MAX, ap < LINK_NESTED_FIRST ? "%" PRIu32 : "0x%" PRIx32, ap);
    return out;
}

enum corral_err link_add_nested_ap(struct link *link, uint32_t ap, uint32_t parent, uint64_t address,
                                   struct diag *d)
{
    if (!link->nested)
        link->nested = nested_ap_new();
    if (!link->nested)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return nested_ap_add(link->nested, ap, parent, address, d);
}

/* Refuse what no back end should have to think about. */
static enum corral_err check(const struct link *link, const struct link_access *a, struct diag *d)
{
    bool mem = a->op == LINK_MEM_READ || a->op == LINK_MEM_WRITE;
    if ((mem && !(link->backend->caps & LINK_CAP_MEM)) || (!mem && !(link->backend->caps & LINK_CAP_DAP)))
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link \"%s\" does not offer this kind of access",
                        link->name);
    if (!a->data || a->count == 0)
        return diag_set(d, CORRAL_ERR_USAGE, "an access without data");
    if (!mem) {
        /* An ADIv6 AP is a 4 KiB block of registers; an ADIv5 one ends at 0xFC, which mem_ap.c minds. */
        uint64_t most = a->op == LINK_AP_READ || a->op == LINK_AP_WRITE ? 0xFFC : 0xC;
        if (a->count != 1 || a->size != 4 || a->address > most || a->address % 4 != 0)
            return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " is not a port register", a->address);
    } else {
        if (a->size == 8 && !link->mem_ap && !link->backend->double_words)
            return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' has no 64-bit accesses", link->name);
        if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8)
            return diag_set(d, CORRAL_ERR_USAGE, "an access of %u bytes an element is not possible", a->size);
        if (a->address % a->size != 0)
            return diag_set(d, CORRAL_ERR_USAGE, "address 0x%08" PRIx64 " is not aligned to %u bytes",
                            a->address, a->size);
        /* Without CFG.LA there is no TARH, so nothing lies above 4 GiB (case B12): mem_ap.c minds it. */
        bool wide = link->mem_ap || (link->backend->caps & LINK_CAP_WIDE);
        if (wide ? a->address + (uint64_t)a->count * a->size < a->address
                 : a->address > UINT32_MAX || a->address + (uint64_t)a->count * a->size > UINT64_C(1) << 32)
            return diag_set(d, CORRAL_ERR_UNSUPPORTED, "address 0x%" PRIx64 " is past a 32-bit address space",
                            a->address);
    }
    return CORRAL_OK;
}

void link_set_deadline(struct link *link, int64_t when)
{
    link->deadline = when;
    if (link->backend->set_deadline)
        link->backend->set_deadline(link->ctx, when);
}

bool link_deadline_passed(const struct link *link)
{
    return link->deadline != LINK_NO_DEADLINE && host_clock_now(link->clock) >= link->deadline;
}

static enum corral_err perform(struct link *link, struct link_access *accesses, size_t count, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (link->backend->execute)
        return link->backend->execute(link->ctx, accesses, count, d);

    size_t i = 0;
    for (; i < count && !err; i++) {
        err = mem_ap_access(link->mem_ap, &accesses[i], d);
        if (err && accesses[i].status == CORRAL_ERR_INTERRUPTED)
            accesses[i].status = err;
        else if (!err)
            accesses[i].status = CORRAL_OK;
    }
    if (!err)
        return mem_ap_finish(link->mem_ap, d);
    mem_ap_finish(link->mem_ap, NULL); /* an earlier write may be outstanding: its status is its own */
    /* A write's failure shows with the next transfer: then that write is the one that failed, and what was
     * tried after it did not happen. */
    for (size_t k = 0; k + 1 < i; k++)
        if (accesses[k].status != CORRAL_OK) {
            accesses[i - 1].status = CORRAL_ERR_INTERRUPTED;
            accesses[i - 1].done = 0;
        }
    return err;
}

enum corral_err link_execute(struct link *link, struct link_access *accesses, size_t count, struct diag *d)
{
    struct diag own = DIAG_INIT; /* the wire log wants the sentence, too */
    struct diag *said = d ? d : &own;
    if (nested_ap_concerned(accesses, count))
        return nested_ap_execute(link->nested, link, accesses, count, said);
    for (size_t i = 0; i < count; i++) {
        accesses[i].status = CORRAL_ERR_INTERRUPTED;
        accesses[i].done = 0;
    }
    for (size_t i = 0; i < count; i++) {
        enum corral_err err = check(link, &accesses[i], said);
        if (err) {
            accesses[i].status = err;
            return err;
        }
    }
    int64_t start = link->log ? host_clock_now(link->clock) : 0;
    if (link_deadline_passed(link)) {
        if (count)
            accesses[0].status = CORRAL_ERR_TIMEOUT;
        if (link->backend->refused_late)
            link->backend->refused_late(link->ctx);
        if (link->log)
            wire_log_late(link->log, start, count);
        return diag_set(said, CORRAL_ERR_TIMEOUT, "the time given for this has run out");
    }
    enum corral_err err = perform(link, accesses, count, said);
    if (link->log)
        wire_log_accesses(link->log, start, host_clock_now(link->clock), link_wire_clocks(link), accesses,
                          count, err, said);
    return err;
}

static enum corral_err one(struct link *link, enum link_op op, uint8_t size, uint32_t ap, uint64_t address,
                           uint32_t count, void *data, struct diag *d)
{
    struct link_access a = {
        .op = op, .size = size, .ap = ap, .address = address, .count = count, .data = data};
    return link_execute(link, &a, 1, d);
}

enum corral_err link_read32(struct link *link, uint32_t ap, uint64_t address, uint32_t *value, struct diag *d)
{
    return one(link, LINK_MEM_READ, 4, ap, address, 1, value, d);
}

enum corral_err link_write32(struct link *link, uint32_t ap, uint64_t address, uint32_t value, struct diag *d)
{
    return one(link, LINK_MEM_WRITE, 4, ap, address, 1, &value, d);
}

enum corral_err link_read8(struct link *link, uint32_t ap, uint64_t address, uint8_t *value, struct diag *d)
{
    return one(link, LINK_MEM_READ, 1, ap, address, 1, value, d);
}

enum corral_err link_write8(struct link *link, uint32_t ap, uint64_t address, uint8_t value, struct diag *d)
{
    return one(link, LINK_MEM_WRITE, 1, ap, address, 1, &value, d);
}

/* Words of a block that are converted between host and target order at a time. */
#define BLOCK_WORDS 256

static enum corral_err transfer_words(struct link *link, bool write, uint32_t ap, uint64_t address,
                                      uint8_t *bytes, size_t words, struct diag *d)
{
    uint32_t block[BLOCK_WORDS];
    while (words) {
        size_t n = words < BLOCK_WORDS ? words : BLOCK_WORDS;
        for (size_t i = 0; write && i < n; i++)
            block[i] = load_le32(bytes + 4 * i);
        enum corral_err err =
            one(link, write ? LINK_MEM_WRITE : LINK_MEM_READ, 4, ap, address, (uint32_t)n, block, d);
        if (err)
            return err;
        for (size_t i = 0; !write && i < n; i++)
            store_le32(bytes + 4 * i, block[i]);
        bytes += 4 * n;
        address += 4 * n;
        words -= n;
    }
    return CORRAL_OK;
}

/* Bytes up to a word boundary, words, the bytes that are left. */
static enum corral_err transfer_bytes(struct link *link, bool write, uint32_t ap, uint64_t address,
                                      uint8_t *bytes, size_t size, struct diag *d)
{
    enum link_op op = write ? LINK_MEM_WRITE : LINK_MEM_READ;
    size_t head = (size_t)(-address & 3);
    if (head > size)
        head = size;
    enum corral_err err = head ? one(link, op, 1, ap, address, (uint32_t)head, bytes, d) : CORRAL_OK;
    size_t words = (size - head) / 4;
    if (!err && words)
        err = transfer_words(link, write, ap, address + head, bytes + head, words, d);
    size_t at = head + words * 4;
    if (!err && at < size)
        err = one(link, op, 1, ap, address + at, (uint32_t)(size - at), bytes + at, d);
    return err;
}

enum corral_err link_read_bytes(struct link *link, uint32_t ap, uint64_t address, void *out, size_t size,
                                struct diag *d)
{
    return transfer_bytes(link, false, ap, address, out, size, d);
}

enum corral_err link_write_bytes(struct link *link, uint32_t ap, uint64_t address, const void *in,
                                 size_t size, struct diag *d)
{
    /* The bytes are only read: the access type has one data pointer for both directions. */
    return transfer_bytes(link, true, ap, address, (uint8_t *)(uintptr_t)in, size, d);
}

enum corral_err link_read_ap(struct link *link, uint32_t ap, uint32_t reg, uint32_t *value, struct diag *d)
{
    return one(link, LINK_AP_READ, 4, ap, reg, 1, value, d);
}

enum corral_err link_write_ap(struct link *link, uint32_t ap, uint32_t reg, uint32_t value, struct diag *d)
{
    return one(link, LINK_AP_WRITE, 4, ap, reg, 1, &value, d);
}

enum corral_err link_read_dp(struct link *link, uint32_t reg, uint32_t *value, struct diag *d)
{
    return one(link, LINK_DP_READ, 4, 0, reg, 1, value, d);
}

enum corral_err link_write_dp(struct link *link, uint32_t reg, uint32_t value, struct diag *d)
{
    return one(link, LINK_DP_WRITE, 4, 0, reg, 1, &value, d);
}

enum corral_err link_drive_reset(struct link *link, bool asserted, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    if (!link->backend->drive_reset)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' has no reset line", link->name);
    int64_t start = link->log ? host_clock_now(link->clock) : 0;
    enum corral_err err = link->backend->drive_reset(link->ctx, asserted, d);
    if (link->log)
        wire_log_reset(link->log, start, host_clock_now(link->clock), link_wire_clocks(link), asserted, err,
                       d);
    return err;
}

/* ---- the probe's wires ---- */

#define PINS_WAIT_MAX_US 3000000u

static const char *const raw_names[] = {
    [LINK_RAW_PINS] = "drive the probe's pins",
    [LINK_RAW_CLOCK] = "set the clock of the wire",
    [LINK_RAW_SWJ] = "send sequences on SWDIO and TMS",
    [LINK_RAW_JTAG] = "send JTAG sequences",
    [LINK_RAW_ABORT] = "write ABORT",
};
#define RAW_OPS (sizeof(raw_names) / sizeof(raw_names[0]))

bool link_can_raw(const struct link *link, enum link_raw_op op)
{
    return link->backend->raw && (unsigned)op < RAW_OPS && (link->backend->raws & 1u << op);
}

static enum corral_err check_raw(const struct link *link, const struct link_raw *raw, struct diag *d)
{
    if ((unsigned)raw->op >= RAW_OPS)
        return diag_set(d, CORRAL_ERR_USAGE, "%u is nothing that can be done with wires", (unsigned)raw->op);
    if (!link_can_raw(link, raw->op)) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' cannot %s", link->name, raw_names[raw->op]);
        diag_hint(d, "--link cmsis-dap reaches the probe's wires; where a sequence asks for them only to set "
                     "the debug port up, whoever is behind this link has done so");
        return CORRAL_ERR_UNSUPPORTED;
    }
    switch (raw->op) {
    case LINK_RAW_PINS:
        if (raw->out > 0xFF || raw->select > 0xFF)
            return diag_set(d, CORRAL_ERR_USAGE, "pins are bits 0 to 7 of a byte");
        if (raw->wait_us > PINS_WAIT_MAX_US)
            return diag_set(d, CORRAL_ERR_USAGE, "pins are waited for up to %u us, not %" PRIu32,
                            PINS_WAIT_MAX_US, raw->wait_us);
        break;
    case LINK_RAW_CLOCK:
        if (raw->out == 0 || raw->out > UINT32_MAX)
            return diag_set(d, CORRAL_ERR_USAGE, "%" PRIu64 " Hz is no clock of a wire", raw->out);
        break;
    case LINK_RAW_SWJ:
    case LINK_RAW_JTAG:
        if (raw->bits < 1 || raw->bits > 64)
            return diag_set(d, CORRAL_ERR_USAGE, "a sequence has 1 to 64 bits, not %u", raw->bits);
        break;
    case LINK_RAW_ABORT:
        if (raw->out > UINT32_MAX)
            return diag_set(d, CORRAL_ERR_USAGE, "ABORT has 32 bits");
        break;
    }
    return CORRAL_OK;
}

/* What was known of the port before it. */
static void forget_after(struct link *link, enum link_raw_op op)
{
    if (op == LINK_RAW_CLOCK || !link->mem_ap)
        return;
    if (op == LINK_RAW_ABORT)
        mem_ap_aborted(link->mem_ap);
    else
        mem_ap_forget_port(link->mem_ap);
}

enum corral_err link_raw(struct link *link, struct link_raw *raw, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    raw->in = 0;
    enum corral_err err = check_raw(link, raw, d);
    if (err)
        return err;
    int64_t start = link->log ? host_clock_now(link->clock) : 0;
    if (link_deadline_passed(link)) {
        if (link->backend->refused_late)
            link->backend->refused_late(link->ctx);
        if (link->log)
            wire_log_late(link->log, start, 1);
        return diag_set(d, CORRAL_ERR_TIMEOUT, "the time given for this has run out");
    }
    err = link->mem_ap ? mem_ap_finish(link->mem_ap, d) : CORRAL_OK;
    if (!err)
        err = link->backend->raw(link->ctx, raw, d);
    forget_after(link, raw->op);
    if (link->nested && raw->op != LINK_RAW_CLOCK)
        nested_ap_forget(link->nested);
    if (link->log)
        wire_log_raw(link->log, start, host_clock_now(link->clock), link_wire_clocks(link), raw, err, d);
    return err;
}

bool link_has_flash(const struct link *link)
{
    return link->backend->flash != NULL;
}

size_t link_flash_regions(struct link *link, struct link_flash_region *list, size_t room, struct diag *d)
{
    return link->backend->flash_regions ? link->backend->flash_regions(link->ctx, list, room, d) : 0;
}

enum corral_err link_flash(struct link *link, enum link_flash_op op, uint32_t ap, uint64_t address,
                           const uint8_t *data, size_t size, struct diag *d)
{
    if (!link->backend->flash)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "link '%s' cannot program flash", link->name);
    return link->backend->flash(link->ctx, op, ap, address, data, size, d);
}

enum corral_err link_start_wire_log(struct link *link, const char *path, struct diag *d)
{
    struct wire_log *log = wire_log_open(path, d);
    if (!log)
        return d ? d->code : CORRAL_ERR_IO;
    wire_log_close(link->log);
    link->log = log;
    wire_log_header(log, link->name, link_caps(link) | (link->mem_ap ? LINK_CAP_WIDE : 0),
                    link->backend->raw ? link->backend->raws : 0, host_clock_is_virtual(link->clock),
                    host_clock_now(link->clock));
    return CORRAL_OK;
}

bool link_wire_log_stopped(struct link *link, struct diag *d)
{
    return link->log && wire_log_stopped(link->log, d);
}
