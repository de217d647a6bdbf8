/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one random instruction of a class and the registers it needs. DDI0403E A7 for what is UNPREDICTABLE.
 */
#include "thumb_case.h"

#include <stdio.h>
#include <string.h>

static unsigned letter(char ch)
{
    return ch >= 'a' ? (unsigned)(ch - 'a') : (unsigned)(ch - 'A') + 26u;
}

#define F(e, ch) ((e)->field[letter(ch)])

static unsigned pattern_length(const char *p)
{
    unsigned n = 0;
    for (; *p; p++)
        n += *p != ' ';
    return n;
}

/* Fill a pattern at random. */
static void fill(struct oracle *o, const struct thumb_class *k, struct encoded *e)
{
    unsigned width[52] = {0};

    memset(e, 0, sizeof *e);
    e->size = pattern_length(k->pattern) / 8;
    for (const char *p = k->pattern; *p; p++) {
        if (*p != ' ' && *p != '0' && *p != '1' && *p != 'x')
            width[letter(*p)]++;
    }
    for (unsigned n = 0; n < 52; n++) {
        if (width[n] == 4) {
            uint32_t r = oracle_random(o) >> 8;
            e->field[n] = n == letter('N') ? r % 15u : r % 14u == 13u ? 14u : r % 14u;
        } else if (width[n]) {
            e->field[n] = (oracle_random(o) >> 8) & ((1u << width[n]) - 1u);
        }
    }
    for (const char *p = k->pattern; *p; p++) {
        uint32_t bit;
        if (*p == ' ')
            continue;
        if (*p == '0' || *p == '1')
            bit = *p == '1';
        else if (*p == 'x')
            bit = (oracle_random(o) >> 16) & 1u;
        else
            bit = (F(e, *p) >> --width[letter(*p)]) & 1u;
        e->word = e->word << 1 | bit;
    }
}

static unsigned bits(uint32_t w, unsigned low, unsigned n)
{
    return (w >> low) & ((1u << n) - 1u);
}

static unsigned base_register(const struct thumb_class *k, const struct encoded *e)
{
    return strchr(k->pattern, 'N') ? F(e, 'N') : F(e, 'n');
}

/* The rules that a pattern cannot say. */
static bool predictable(const struct thumb_class *k, const struct encoded *e)
{
    unsigned base = base_register(k, e), n = F(e, 'n'), d = F(e, 'd'), t = F(e, 't'), m = F(e, 'm');
    unsigned lsb = bits(e->word, 6, 2) | bits(e->word, 12, 3) << 2, low5 = bits(e->word, 0, 5);
    bool has_u = strchr(k->pattern, 'u') != NULL, has_d = strchr(k->pattern, 'd') != NULL;

    if ((k->flags & TC_MEM) && (k->flags & TC_INDEX) && base == m)
        return false; /* not UNPREDICTABLE, but the address would be nowhere */
    if ((k->flags & TC_WRITEBACK) &&
        ((strchr(k->pattern, 't') && base == t) || (has_u && base == F(e, 'u')) || (has_d && base == d)))
        return false;
    if ((k->flags & TC_WRITEBACK) && base == CPU_SP && e->size == 4 && (e->word >> 25) == 0x7C &&
        (e->word & 3u))
        return false; /* an SP that is no multiple of 4 */
    if ((k->flags & TC_DISTINCT) && d == t)
        return false;
    if ((k->flags & TC_STREX) && (d == base || d == t))
        return false;
    if ((k->flags & TC_MODIMM) && bits(e->word, 0, 8) == 0 && !bits(e->word, 26, 1) &&
        !bits(e->word, 14, 1) && bits(e->word, 12, 2))
        return false;
    if ((k->flags & TC_SHIFT_NZ) && lsb == 0)
        return false;
    if ((k->flags & TC_BFI) && low5 < lsb)
        return false;
    if ((k->flags & TC_BFX) && low5 + lsb > 31)
        return false;
    if ((k->flags & TC_LIST) &&
        (__builtin_popcount(e->word & 0xFFFFu) < 2 || (bits(e->word, base, 1) && bits(e->word, 21, 1))))
        return false;
    if (k->flags & TC_LIST16) {
        unsigned list = e->word & (e->word >> 12 == 0xB ? 0x1FFu : 0xFFu);
        if (list == 0)
            return false;
        /* STM of its own base is only defined when it is the lowest register. */
        if (e->word >> 11 == 0x18 && (list >> n & 1u) && list & ((1u << n) - 1u))
            return false;
    }
    return true;
}

static uint32_t code_address(struct oracle *o)
{
    return ORACLE_CODE + 0x10000u + ((oracle_random(o) >> 12) & 0xFFEu);
}

static uint32_t interesting(struct oracle *o)
{
    static const uint32_t corner[] = {0,          1,          2,          31,         32,         33,
                                      0x7F,       0x80,       0xFF,       0x7FFF,     0x8000,     0xFFFF,
                                      0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x7FFF8000, 0x80007FFF,
                                      0x7F80FF01, 0x00FF00FF, 0x80808080, 0x7F7F7F7F, 0xFFFF0000, 0x80008000};
    uint32_t r = oracle_random(o) >> 4;

    if (r % 3 == 0)
        return corner[(r >> 8) % (sizeof corner / sizeof corner[0])];
    return r % 3 == 1 ? oracle_random(o) : oracle_random(o) >> ((r >> 8) & 31u);
}

void case_random_state(struct oracle *o)
{
    struct cpu *c = &o->cpu;
    uint32_t flags = oracle_random(o);

    for (unsigned k = 0; k < 15; k++)
        c->r[k] = interesting(o);
    c->r[CPU_SP] = ORACLE_RAM + 0x8000u + ((oracle_random(o) >> 8) & 0xFFCu);
    c->r[CPU_PC] = code_address(o);
    cpu_set_xpsr(c, (flags & 0xF80F0000u) | 1u << 24);
    o->monitor.valid = 0;
}

void case_prepare(struct oracle *o, const struct thumb_class *k, const struct encoded *e)
{
    struct cpu *c = &o->cpu;
    unsigned base = base_register(k, e);

    if (k->flags & TC_INDEX)
        c->r[F(e, 'm')] = (oracle_random(o) >> 8) & (c->architecture == CPU_V6M ? 0xFCu : 0xFFu);
    if (k->flags & TC_MEM) {
        uint32_t at = ORACLE_RAM + 0x8000u + ((oracle_random(o) >> 8) & 0x3FFu);
        if ((k->flags & TC_ALIGN) || base == CPU_SP || c->architecture == CPU_V6M)
            at &= ~3u;
        c->r[base] = at;
    }
    if (k->flags & TC_WORD)
        c->r[F(e, 'm')] &= ~3u;
    if (k->flags & TC_JUMP_REG)
        c->r[F(e, 'm')] = code_address(o) | 1u;
    if (k->flags & TC_TARGETS) {
        uint32_t at = (k->flags & TC_STACK ? c->r[CPU_SP] : c->r[base]) - ORACLE_RAM - 128u;
        for (unsigned n = 0; n < 96; n++, at += 4) {
            uint32_t target = code_address(o) | 1u;
            memcpy(o->ram + at, &target, 4);
            memcpy(o->uc_ram + at, &target, 4);
        }
    }
}

uint32_t case_put_code(struct oracle *o, uint32_t at, const struct encoded *e)
{
    uint16_t half[2] = {(uint16_t)(e->word >> 16), (uint16_t)e->word};

    memcpy(o->code + (at - ORACLE_CODE), e->size == 4 ? half : &half[1], e->size);
    return at + e->size;
}

void case_choose(struct oracle *o, const struct thumb_class *k, struct encoded *e)
{
    do {
        fill(o, k, e);
    } while (!predictable(k, e));
}

bool case_run(struct oracle *o, const char *what, uint32_t pc, uint32_t end, unsigned ours, unsigned theirs)
{
    const struct encoded stop = {.word = 0xE7FE, .size = 2}; /* B . */
    uc_err err;

    /* A branch behind it keeps the oracle from translating more of the random code than is run. */
    oracle_forget(o, pc, case_put_code(o, end, &stop));
    oracle_copy_registers(o);
    /* Always with a count: going between runs with and without one flushes the oracle's whole cache. */
    err = uc_emu_start(o->uc, pc | 1u, theirs ? 0 : end, 0, theirs ? theirs : 64);
    for (unsigned k = 0; k < ours; k++)
        cpu_step(&o->cpu);
    if (err) {
        fprintf(stderr, "%s: oracle says %s\n", what, uc_strerror(err));
        return false;
    }
    return oracle_equal(o, what, pc);
}
