/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the commands (target_memory.h), on the link's thread. Must not halt a core, and must not touch
 * more than was asked for: reading a peripheral has effects.
 */
#include "session/target_memory.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "session/session_internal.h"

#define PIECE 4096u /* bytes between two looks at the stop flag */

static enum corral_err power_up(struct link *link, void *ctx, struct diag *d)
{
    (void)ctx;
    return link_caps(link) & LINK_CAP_DAP ? dp_power_up(link, d) : CORRAL_OK;
}

enum corral_err session_connect_port(struct session *s, struct diag *d)
{
    enum corral_err err = session_come_to_target(s, d);
    return err ? err : session_call(s, power_up, NULL, d);
}

enum corral_err session_first_view(struct session *s, struct session_view *view, struct diag *d)
{
    *view = (struct session_view){.by_ap = s->core_count == 0};
    if (s->core_count == 0 && (s->caps & LINK_CAP_DAP))
        return diag_set(d, CORRAL_ERR_NO_CORE, "there is no core to look through");
    return CORRAL_OK;
}

static uint32_t view_ap(const struct session *s, const struct session_view *v)
{
    return v->by_ap ? v->ap : core_ap(s->cores[v->core]);
}

/* ---- addresses ---- */

static bool parse_number(const char *text, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 0) : 0;
    return end && !*end && !errno;
}

static enum corral_err no_symbol(struct session *s, const struct session_view *view, const char *name,
                                 struct diag *d)
{
    char clean[TEXT_CLEAN_MAX(64)];
    text_escape((const uint8_t *)name, strnlen(name, 64), clean, sizeof(clean));
    const char *who = view->by_ap ? "an access port" : core_name(s->cores[view->core]);
    if (!view->by_ap && session_symbols(s, view->core))
        return diag_set(d, CORRAL_ERR_NO_SYMBOL, "the program of %s has no symbol '%s'", who, clean);
    diag_set(d, CORRAL_ERR_NO_SYMBOL, "'%s' is no number, and no program is known for %s", clean, who);
    diag_hint(d, "elf: in corral.yml names a core's program");
    return CORRAL_ERR_NO_SYMBOL;
}

enum corral_err session_address(struct session *s, const struct session_view *view, const char *words,
                                uint64_t *address, uint64_t *size, struct diag *d)
{
    uint64_t offset = 0;
    *size = 0;
    if (parse_number(words, address))
        return CORRAL_OK;
    const char *plus = strrchr(words, '+');
    char *name = plus ? strndup(words, (size_t)(plus - words)) : strdup(words);
    if (!name)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = CORRAL_OK;
    struct symbol_index *symbols = view->by_ap ? NULL : session_symbols(s, view->core);
    if (isdigit((unsigned char)words[0]) || !name[0] || (plus && !parse_number(plus + 1, &offset)))
        err = diag_set(d, CORRAL_ERR_USAGE, "'%s' is neither a number nor NAME or NAME+OFFSET", words);
    else if (!symbols || !symbol_lookup(symbols, name, address, size))
        err = no_symbol(s, view, name, d);
    free(name);
    if (err)
        return err;
    *size = offset < *size ? *size - offset : 0;
    if (__builtin_add_overflow(*address, offset, address))
        err = diag_set(d, CORRAL_ERR_USAGE, "'%s' lies past the address space", words);
    return err;
}

/* ---- transfers ---- */

struct transfer {
    struct session *s;
    const struct session_memory *m;
    enum link_op op;
    uint8_t *bytes; /* count * size */
    uint32_t done;
    const atomic_bool *stop;
};

/* Between the target's little-endian bytes and the link's elements in host order. */
static void to_host(void *elements, const uint8_t *bytes, unsigned size, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = load_le(bytes + (size_t)i * size, size);
        if (size == 1)
            ((uint8_t *)elements)[i] = (uint8_t)v;
        else if (size == 2)
            ((uint16_t *)elements)[i] = (uint16_t)v;
        else
            ((uint32_t *)elements)[i] = v;
    }
}

static void from_host(uint8_t *bytes, const void *elements, unsigned size, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = size == 1   ? ((const uint8_t *)elements)[i]
                     : size == 2 ? ((const uint16_t *)elements)[i]
                                 : ((const uint32_t *)elements)[i];
        store_le(bytes + (size_t)i * size, size, v);
    }
}

/* Elements from number t->done on, at most PIECE bytes of them. */
static enum corral_err piece(struct link *link, struct transfer *t, uint32_t count, struct diag *d)
{
    uint32_t elements[PIECE / sizeof(uint32_t)];
    const struct session_memory *m = t->m;
    uint8_t *bytes = t->bytes + (size_t)t->done * m->size;
    struct link_access a = {.op = t->op,
                            .size = (uint8_t)m->size,
                            .ap = view_ap(t->s, &m->view),
                            .address = m->address + (uint64_t)t->done * m->size,
                            .count = count,
                            .data = elements};
    if (t->op == LINK_MEM_WRITE)
        to_host(elements, bytes, m->size, count);
    enum corral_err err = link_execute(link, &a, 1, d);
    uint32_t got = err ? (a.done < count ? a.done : 0) : count;
    if (t->op == LINK_MEM_READ)
        from_host(bytes, elements, m->size, got);
    t->done += got;
    return err;
}

/* After a refusal in smaller and smaller pieces, so that it is known exactly how far memory goes. */
static enum corral_err transfer_all(struct link *link, void *ctx, struct diag *d)
{
    struct transfer *t = ctx;
    uint32_t most = PIECE / t->m->size;
    while (t->done < t->m->count) {
        uint32_t rest = t->m->count - t->done, count = rest < most ? rest : most;
        if (t->stop && atomic_load(t->stop))
            return diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
        enum corral_err err = piece(link, t, count, d);
        if (err && (err != CORRAL_ERR_LINK_FAULT || count == 1))
            return err;
        if (err)
            most = (count + 1) / 2;
    }
    return CORRAL_OK;
}

static enum corral_err check(const struct session_memory *m, struct diag *d)
{
    if (m->size != 1 && m->size != 2 && m->size != 4)
        return diag_set(d, CORRAL_ERR_USAGE, "%u bytes are no element: 1, 2 or 4 are", m->size);
    if (m->address % m->size != 0)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%08" PRIx64 " is no multiple of %u: elements are aligned",
                        m->address, m->size);
    if (m->count == 0 || m->count > SESSION_MEMORY_MOST / m->size)
        return diag_set(d, CORRAL_ERR_USAGE, "%" PRIu32 " elements of %u bytes: 1 to %u can be taken at once",
                        m->count, m->size, SESSION_MEMORY_MOST / m->size);
    if (m->address > UINT32_MAX || m->address + (uint64_t)m->count * m->size > UINT64_C(1) << 32)
        return diag_set(d, CORRAL_ERR_USAGE, "0x%" PRIx64 " and what follows does not fit 32-bit addresses",
                        m->address);
    return CORRAL_OK;
}

static enum corral_err transfer(struct transfer *t, const char *what, uint32_t *done, struct diag *d)
{
    const struct session_memory *m = t->m;
    enum corral_err err = check(m, d);
    if (!err)
        err = session_call(t->s, transfer_all, t, d);
    *done = t->done;
    if (err && err != CORRAL_ERR_USAGE && m->count > 1)
        diag_prefix(d, "%" PRIu32 " of %" PRIu32 " %s, up to 0x%08" PRIx64, t->done, m->count, what,
                    m->address + (uint64_t)t->done * m->size);
    return err;
}

enum corral_err session_read_memory(struct session *s, const struct session_memory *m, uint8_t *out,
                                    uint32_t *done, const atomic_bool *stop, struct diag *d)
{
    struct transfer t = {.s = s, .m = m, .op = LINK_MEM_READ, .bytes = out, .stop = stop};
    return transfer(&t, "read", done, d);
}

/* The first element that is not what was written. */
static enum corral_err compare(const struct session_memory *m, const uint8_t *wanted, const uint8_t *found,
                               struct diag *d)
{
    for (uint32_t i = 0; i < m->count; i++) {
        size_t at = (size_t)i * m->size;
        if (memcmp(wanted + at, found + at, m->size) == 0)
            continue;
        int digits = (int)m->size * 2;
        diag_set(d, CORRAL_ERR_FAILED,
                 "0x%08" PRIx64 " does not read back: 0x%0*" PRIx32 " was written, 0x%0*" PRIx32 " is there",
                 m->address + at, digits, load_le(wanted + at, m->size), digits,
                 load_le(found + at, m->size));
        diag_hint(d, "it may be flash, a register, or memory that a running core writes, too");
        return CORRAL_ERR_FAILED;
    }
    return CORRAL_OK;
}

enum corral_err session_write_memory(struct session *s, const struct session_memory *m, const uint8_t *in,
                                     bool verify, uint32_t *done, const atomic_bool *stop, struct diag *d)
{
    *done = 0;
    enum corral_err err = check(m, d);
    if (err)
        return err;
    size_t size = (size_t)m->count * m->size;
    uint8_t *copy = malloc(size);
    if (!copy)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    memcpy(copy, in, size);
    struct transfer t = {.s = s, .m = m, .op = LINK_MEM_WRITE, .bytes = copy, .stop = stop};
    err = transfer(&t, "written", done, d);
    if (!err && verify) {
        t = (struct transfer){.s = s, .m = m, .op = LINK_MEM_READ, .bytes = copy, .stop = stop};
        uint32_t back;
        err = transfer(&t, "read back", &back, d);
        if (!err)
            err = compare(m, in, copy, d);
    }
    free(copy);
    return err;
}
