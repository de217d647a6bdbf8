/* SPDX-License-Identifier: Apache-2.0 */
/* See cmsis_dap_chain.h. DAP_JTAG_Sequence moves the TAPs; bits that come back are counted, never trusted. */
#include "link/cmsis_dap_chain.h"

#include <string.h>

#include "base/bytes.h"

#define TAPS_MAX      8u
#define CHAIN_BITS    (32u * (TAPS_MAX + 1u))
#define IR_BITS_MAX   96u
#define DAP_IR_LENGTH 4u

#define SEQUENCE_TMS 0x40u
#define SEQUENCE_TDO 0x80u
#define SEQUENCE_MAX 64u /* cycles */

/* What came out of TDO. */
struct bits {
    uint8_t data[CHAIN_BITS / 8u + 8u];
    unsigned count;
};

static unsigned bit(const struct bits *b, unsigned i)
{
    return i < b->count ? b->data[i / 8u] >> (i % 8u) & 1u : 0;
}

static void keep(struct bits *b, const uint8_t *data, unsigned count)
{
    for (unsigned i = 0; i < count && b->count < 8u * sizeof(b->data); i++, b->count++) {
        uint8_t mask = (uint8_t)(1u << b->count % 8u);
        bool one = data[i / 8u] >> (i % 8u) & 1u;
        b->data[b->count / 8u] = (uint8_t)((b->data[b->count / 8u] & ~mask) | (one ? mask : 0));
    }
}

/* Up to 64 cycles with TMS and TDI as they are; what comes from TDO goes to `to`, NULL = nobody. */
static bool cycles(struct cmsis_dap_probe *probe, unsigned count, bool tms, bool tdi, struct bits *to)
{
    uint8_t request[3 + SEQUENCE_MAX / 8u] = {CMD_JTAG_SEQUENCE, 1};
    unsigned bytes = (count + 7u) / 8u;
    request[2] = (uint8_t)((count & 0x3Fu) | (tms ? SEQUENCE_TMS : 0) | (to ? SEQUENCE_TDO : 0));
    memset(request + 3, tdi ? 0xFF : 0, bytes);
    const uint8_t *answer = cmsis_dap_probe_ask(probe, request, 3 + bytes, to ? 2 + bytes : 2);
    if (!answer || answer[1] != 0)
        return false;
    if (to)
        keep(to, answer + 2, count);
    return true;
}

static bool many(struct cmsis_dap_probe *probe, unsigned count, bool tdi, struct bits *to)
{
    bool ok = true;
    for (unsigned n; ok && count; count -= n) {
        n = count < SEQUENCE_MAX ? count : SEQUENCE_MAX;
        ok = cycles(probe, n, false, tdi, to);
    }
    return ok;
}

/* From Run-Test/Idle into Shift-DR or Shift-IR. */
static bool enter(struct cmsis_dap_probe *probe, bool ir)
{
    return cycles(probe, ir ? 2 : 1, true, false, NULL) && cycles(probe, 2, false, false, NULL);
}

/* The last bit, and by Update to Run-Test/Idle. */
static bool leave(struct cmsis_dap_probe *probe, bool tdi, struct bits *to)
{
    return cycles(probe, 1, true, tdi, to) && cycles(probe, 1, true, false, NULL) &&
           cycles(probe, 1, false, false, NULL);
}

bool cmsis_dap_chain_reset(struct cmsis_dap_probe *probe)
{
    static const uint8_t request[] = {CMD_SWJ_SEQUENCE, 9, 0xFF, 0};
    return cmsis_dap_probe_do(probe, request, sizeof(request));
}

static bool fail(struct cmsis_dap_probe *probe, enum corral_err code, const char *what, struct diag *why)
{
    if (cmsis_dap_probe_failed(probe))
        *why = *cmsis_dap_probe_why(probe);
    else
        diag_set(why, code, "the probe %s %s", cmsis_dap_probe_name(probe), what);
    return false;
}

struct chain {
    unsigned taps, dap;
    uint32_t idcode[TAPS_MAX];
};

/* After a reset each TAP shows its IDCODE, or a single 0 where it has none. Behind the last come our ones. */
static bool read_idcodes(struct cmsis_dap_probe *probe, struct chain *c, struct diag *why)
{
    struct bits b = {.count = 0};
    if (!enter(probe, false) || !many(probe, CHAIN_BITS - 1, true, &b) || !leave(probe, true, &b))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL, "refused a JTAG sequence", why);
    bool low = true;
    for (unsigned at = 0; at + 32 <= b.count;) {
        uint32_t word = 0;
        for (unsigned i = 0; i < 32; i++)
            word |= (uint32_t)bit(&b, at + i) << i;
        low = low && word == 0;
        if (word == UINT32_MAX)
            return c->taps > 0 || fail(probe, CORRAL_ERR_LINK_DOWN, "finds no target: TDO is always 1", why);
        if (c->taps == TAPS_MAX)
            break;
        c->idcode[c->taps++] = word & 1u ? word : 0;
        at += word & 1u ? 32 : 1;
    }
    return fail(probe, low ? CORRAL_ERR_LINK_DOWN : CORRAL_ERR_LINK_PROTOCOL,
                low ? "finds no target: TDO is always 0" : "sees no end of the chain of TAPs", why);
}

/* All instruction registers are filled with ones, then those are counted that come out ahead of the zeros. */
static bool count_ir_bits(struct cmsis_dap_probe *probe, unsigned *count, struct diag *why)
{
    struct bits b = {.count = 0};
    if (!enter(probe, true) || !many(probe, IR_BITS_MAX, true, NULL) ||
        !many(probe, IR_BITS_MAX, false, &b) || !many(probe, IR_BITS_MAX - 1, true, NULL) ||
        !leave(probe, true, NULL))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL, "refused a JTAG sequence", why);
    for (*count = 0; *count < IR_BITS_MAX && bit(&b, *count); ++*count)
        ;
    return true;
}

static bool is_dap(uint32_t idcode)
{
    return (idcode & 0x0FFF0FFFu) == 0x0BA00477u; /* Arm, part BA0x */
}

static bool find_dap(struct cmsis_dap_probe *probe, struct chain *c, unsigned ir_bits, struct diag *why)
{
    bool found = false;
    for (unsigned i = c->taps; i-- > 0;)
        if (is_dap(c->idcode[i])) {
            c->dap = i;
            found = true;
        }
    if (!found && c->taps > 1)
        return fail(probe, CORRAL_ERR_LINK_DOWN, "finds a chain without an Arm debug port", why);
    if (ir_bits < DAP_IR_LENGTH + c->taps - 1 || ir_bits == IR_BITS_MAX ||
        (c->taps == 1 && ir_bits != DAP_IR_LENGTH))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL, "sees instruction registers that no debug port has",
                    why);
    if (c->dap && c->dap + 1 < c->taps)
        return fail(probe, CORRAL_ERR_UNSUPPORTED,
                    "sees TAPs on both sides of the debug port's, which is not supported", why);
    return true;
}

/* The others' instruction bits are all on one side: how they are shared out there changes nothing. */
static bool configure(struct cmsis_dap_probe *probe, const struct chain *c, unsigned ir_bits,
                      struct diag *why)
{
    uint8_t request[2 + TAPS_MAX] = {CMD_JTAG_CONFIGURE, (uint8_t)c->taps};
    unsigned rest = ir_bits - DAP_IR_LENGTH, others = c->taps - 1;
    for (unsigned i = 0; i < c->taps; i++) {
        if (i == c->dap) {
            request[2 + i] = DAP_IR_LENGTH;
            continue;
        }
        unsigned bits = --others ? 1 : rest;
        request[2 + i] = (uint8_t)bits;
        rest -= bits;
    }
    if (!cmsis_dap_probe_do(probe, request, 2 + c->taps))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL, "refused to be told of the chain", why);
    const uint8_t ask[] = {CMD_JTAG_IDCODE, (uint8_t)c->dap};
    const uint8_t *answer = cmsis_dap_probe_ask(probe, ask, sizeof(ask), 6);
    if (!answer || answer[1] != 0 || (c->idcode[c->dap] && load_le32(answer + 2) != c->idcode[c->dap]))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL,
                    "reads another IDCODE from the debug port than it showed", why);
    return true;
}

bool cmsis_dap_chain_find(struct cmsis_dap_probe *probe, uint8_t *index, uint32_t *idcode, struct diag *why)
{
    struct chain c = {0};
    unsigned ir_bits = 0;
    if (!read_idcodes(probe, &c, why) || !count_ir_bits(probe, &ir_bits, why) ||
        !find_dap(probe, &c, ir_bits, why))
        return false;
    if (!cmsis_dap_chain_reset(probe))
        return fail(probe, CORRAL_ERR_LINK_PROTOCOL, "refused to send a sequence", why);
    if (!configure(probe, &c, ir_bits, why))
        return false;
    *index = (uint8_t)c.dap;
    *idcode = c.idcode[c.dap];
    return true;
}
