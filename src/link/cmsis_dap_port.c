/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cmsis_dap_port.h. Line reset, switch words and dormant state: cross-trigger sheet 2.2; multidrop: case
 * B22 (nobody drives the acknowledge of a TARGETSEL write, so none is looked at; DLPIDR proves who answers).
 */
#include "link/cmsis_dap_port.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "link/cmsis_dap_chain.h"
#include "link/link_backend.h"

enum { PORT_SWD = 1, PORT_JTAG = 2 };
enum { DP_DPIDR = 0x0, DP_CTRL_STAT = 0x4, DP_SELECT = 0x8 };

/* By the probe itself. On SWD the host goes on after that; on JTAG the answer is lost then (cmsis_dap.c). */
#define WAIT_RETRIES_SWD  1024u
#define WAIT_RETRIES_JTAG 2000u
#define DPBANK_DLPIDR     3u

static bool give_up(struct cmsis_dap_port *p, enum corral_err code, const char *sentence)
{
    if (cmsis_dap_probe_failed(p->probe))
        p->why = *cmsis_dap_probe_why(p->probe);
    else
        diag_set(&p->why, code, "the probe %s %s", cmsis_dap_probe_name(p->probe), sentence);
    return false;
}

/* `bits` of what `data` holds, on TMS or SWDIO. */
static bool sequence(struct cmsis_dap_port *p, unsigned bits, const void *data)
{
    uint8_t request[2 + 32] = {CMD_SWJ_SEQUENCE, (uint8_t)bits};
    size_t size = (bits + 7u) / 8u;
    memcpy(request + 2, data, size);
    return cmsis_dap_probe_do(p->probe, request, 2 + size);
}

static bool ones(struct cmsis_dap_port *p, unsigned bits)
{
    static const uint8_t all[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    return sequence(p, bits, all);
}

/* SWD: at least 50 high, 2 low; DPIDR must be read next, or TARGETSEL written. */
static bool line_reset(struct cmsis_dap_port *p)
{
    static const uint8_t bits[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00};
    return sequence(p, 64, bits);
}

/* A port that lies in JTAG with the old switch word. */
static bool switch_to_swd(struct cmsis_dap_port *p)
{
    static const uint8_t word[2] = {0x9E, 0xE7};
    return ones(p, 56) && sequence(p, 16, word) && line_reset(p);
}

/* Into dormant state from JTAG (which SWD ignores), and out of it with the selection alert and the code of
 * `activation`. */
static bool wake(struct cmsis_dap_port *p, uint8_t activation)
{
    static const uint8_t to_dormant[4] = {0xBA, 0xBB, 0xBB, 0x33};
    static const uint8_t alert[16] = {0x92, 0xF3, 0x09, 0x62, 0x95, 0x2D, 0x85, 0x86,
                                      0xE9, 0xAF, 0xDD, 0xE3, 0xA2, 0x0E, 0xBC, 0x19};
    const uint8_t code[2] = {(uint8_t)(activation << 4), (uint8_t)(activation >> 4)};
    return ones(p, 8) && sequence(p, 31, to_dormant) && ones(p, 8) && sequence(p, 128, alert) &&
           sequence(p, 12, code);
}

/* SWD that nobody is asked about: a write of TARGETSEL. Start, DP, write, A = 0xC, parity, stop, park; five
 * cycles that nobody need drive; 32 bits and their parity. */
static bool write_targetsel(struct cmsis_dap_port *p)
{
    uint8_t request[11] = {CMD_SWD_SEQUENCE, 3, 8, 0x99, 0x80 | 5, 33};
    store_le32(request + 6, p->targetsel);
    request[10] = (uint8_t)(__builtin_popcount(p->targetsel) & 1);
    /* A byte for what was read comes back; it is whatever the line had. */
    const uint8_t *answer = cmsis_dap_probe_ask(p->probe, request, sizeof(request), 3);
    return answer && answer[1] == 0;
}

unsigned cmsis_dap_port_dp(struct cmsis_dap_port *p, bool read, uint8_t addr, uint32_t *value)
{
    uint8_t request[8] = {CMD_TRANSFER, p->index, 1, (uint8_t)(addr | (read ? REQUEST_READ : 0))};
    size_t size = read ? 4 : 8, n = 0;
    if (!read)
        store_le32(request + 4, *value);
    if (!cmsis_dap_probe_send(p->probe, request, size))
        return 0;
    const uint8_t *answer = cmsis_dap_probe_take(p->probe, 3, &n);
    if (!answer)
        return 0;
    unsigned ack = answer[2];
    if (answer[1] > 1 || (ack == DAP_ACK_OK && (answer[1] != 1 || (read && n < 7)))) {
        cmsis_dap_probe_refuse(p->probe, "answered a transfer with a count that cannot be");
        return 0;
    }
    if (read && ack == DAP_ACK_OK)
        *value = load_le32(answer + 3);
    return ack;
}

/* Who answers is asked before anything is believed (case B22). */
static bool check_instance(struct cmsis_dap_port *p)
{
    static const char silent[] = "has no debug port with this TARGETSEL: nobody answered";
    uint32_t bank = DPBANK_DLPIDR, dlpidr = 0, none = 0;
    if (cmsis_dap_port_dp(p, false, DP_SELECT, &bank) != DAP_ACK_OK ||
        cmsis_dap_port_dp(p, true, DP_CTRL_STAT, &dlpidr) != DAP_ACK_OK ||
        cmsis_dap_port_dp(p, false, DP_SELECT, &none) != DAP_ACK_OK)
        return give_up(p, CORRAL_ERR_LINK_DOWN, silent);
    if (dlpidr >> 28 == p->targetsel >> 28)
        return true;
    diag_set(&p->why, CORRAL_ERR_LINK_PROTOCOL,
             "the debug port that answered TARGETSEL 0x%08" PRIx32 " is instance %" PRIu32 ", not %" PRIu32,
             p->targetsel, dlpidr >> 28, p->targetsel >> 28);
    diag_hint(&p->why, "is there a single debug port on this wire, without multidrop?");
    return false;
}

/* Line reset, then DPIDR. The acknowledge. */
static unsigned identify(struct cmsis_dap_port *p)
{
    if (!line_reset(p) || (p->multidrop && !write_targetsel(p)))
        return 0;
    return cmsis_dap_port_dp(p, true, DP_DPIDR, &p->dpidr);
}

/* The answer to the DPIDR read, as far as it is none. */
static bool no_port(struct cmsis_dap_port *p, unsigned ack)
{
    if (p->multidrop)
        return give_up(p, CORRAL_ERR_LINK_DOWN, "has no debug port with this TARGETSEL: nobody answered");
    if (ack != 0 && ack != DAP_ACK_NONE)
        return give_up(p, CORRAL_ERR_LINK_PROTOCOL,
                       "finds a debug port that does not show its DPIDR (no whole answer on the wire)");
    return give_up(p, CORRAL_ERR_LINK_DOWN, "finds no target: nobody answers on SWD");
}

static bool connect_swd(struct cmsis_dap_port *p)
{
    unsigned ack = 0;
    /* A port of multidrop wakes from dormant state; others from JTAG first, by the old word. */
    for (unsigned attempt = p->multidrop ? 1 : 0; attempt < 2; attempt++) {
        bool sent = attempt == 0 ? switch_to_swd(p) : wake(p, 0x1A);
        if (!sent)
            return give_up(p, CORRAL_ERR_LINK_PROTOCOL, "refused to send a sequence");
        ack = identify(p);
        if (ack == DAP_ACK_OK || cmsis_dap_probe_failed(p->probe))
            break;
    }
    if (ack != DAP_ACK_OK)
        return no_port(p, ack);
    return !p->multidrop || check_instance(p);
}

static bool connect_jtag(struct cmsis_dap_port *p)
{
    static const uint8_t word[2] = {0x3C, 0xE7};
    if (!ones(p, 56) || !sequence(p, 16, word) || !cmsis_dap_chain_reset(p->probe))
        return give_up(p, CORRAL_ERR_LINK_PROTOCOL, "refused to send a sequence");
    if (cmsis_dap_chain_find(p->probe, &p->index, &p->dpidr, &p->why))
        return true;
    if (cmsis_dap_probe_failed(p->probe) || p->why.code != CORRAL_ERR_LINK_DOWN)
        return false;
    /* Nobody there: it may be dormant. */
    return wake(p, 0x0A) && cmsis_dap_chain_reset(p->probe) &&
           cmsis_dap_chain_find(p->probe, &p->index, &p->dpidr, &p->why);
}

static bool choose_port(struct cmsis_dap_port *p, enum link_protocol protocol)
{
    const struct link_cmsis_dap_info *info = cmsis_dap_probe_info(p->probe);
    p->jtag = protocol == LINK_PROTOCOL_JTAG || (protocol == LINK_PROTOCOL_ANY && !info->swd && info->jtag);
    if (p->jtag ? !info->jtag : !info->swd && info->jtag)
        return give_up(p, CORRAL_ERR_UNSUPPORTED,
                       p->jtag ? "says that it cannot do JTAG" : "says that it cannot do SWD");
    if (p->jtag && p->multidrop) {
        diag_set(&p->why, CORRAL_ERR_USAGE, "targetsel is a matter of SWD, and JTAG was asked for");
        return false;
    }
    const uint8_t request[] = {CMD_CONNECT, p->jtag ? PORT_JTAG : PORT_SWD};
    const uint8_t *answer = cmsis_dap_probe_ask(p->probe, request, sizeof(request), 2);
    if (!answer || answer[1] != request[1])
        return give_up(p, CORRAL_ERR_UNSUPPORTED, p->jtag ? "does not do JTAG" : "does not do SWD");
    return true;
}

static bool configure(struct cmsis_dap_port *p, uint32_t hz)
{
    uint8_t clock[5] = {CMD_SWJ_CLOCK};
    uint8_t transfers[6] = {CMD_TRANSFER_CONFIGURE};
    const uint8_t swd[] = {CMD_SWD_CONFIGURE, 0}; /* one turnaround cycle, no data phase after WAIT */
    store_le32(clock + 1, hz);
    store_le16(transfers + 2, p->jtag ? WAIT_RETRIES_JTAG : WAIT_RETRIES_SWD);
    if (!cmsis_dap_probe_do(p->probe, clock, sizeof(clock)))
        return give_up(p, CORRAL_ERR_UNSUPPORTED, "refused this clock frequency");
    if (!cmsis_dap_probe_do(p->probe, transfers, sizeof(transfers)) ||
        (!p->jtag && !cmsis_dap_probe_do(p->probe, swd, sizeof(swd))))
        return give_up(p, CORRAL_ERR_LINK_PROTOCOL, "refused to be configured");
    return true;
}

bool cmsis_dap_port_connect(struct cmsis_dap_port *p, const struct link_options *options)
{
    static const uint8_t lamp[] = {CMD_HOST_STATUS, 0, 1};
    uint32_t hz = options && options->wire_hz ? options->wire_hz : LINK_CMSIS_DAP_DEFAULT_HZ;
    if (!choose_port(p, options ? options->protocol : LINK_PROTOCOL_ANY) || !configure(p, hz))
        return false;
    cmsis_dap_probe_do(p->probe, lamp, sizeof(lamp)); /* a probe without a lamp is a probe all the same */
    return p->jtag ? connect_jtag(p) : connect_swd(p);
}

bool cmsis_dap_port_recover(struct cmsis_dap_port *p)
{
    if (p->jtag)
        return cmsis_dap_chain_reset(p->probe) ||
               give_up(p, CORRAL_ERR_LINK_DOWN, "does not reset the chain");
    unsigned ack = identify(p);
    if (ack == DAP_ACK_OK) /* what it holds may be old, so it is asked again who it is */
        return !p->multidrop || check_instance(p);
    /* It may have lost power meanwhile, and started in JTAG or dormant state. */
    return !cmsis_dap_probe_failed(p->probe) ? connect_swd(p) : no_port(p, ack);
}

bool cmsis_dap_port_answers(struct cmsis_dap_port *p)
{
    return cmsis_dap_port_dp(p, true, DP_DPIDR, &p->dpidr) == DAP_ACK_OK;
}

bool cmsis_dap_port_find(struct cmsis_dap_port *p)
{
    if (!p->jtag)
        return cmsis_dap_port_recover(p);
    const uint8_t ask[] = {CMD_JTAG_IDCODE, p->index};
    const uint8_t *answer =
        cmsis_dap_chain_reset(p->probe) ? cmsis_dap_probe_ask(p->probe, ask, sizeof(ask), 6) : NULL;
    if (answer && answer[1] == 0 && load_le32(answer + 2) == p->dpidr)
        return true;
    return !cmsis_dap_probe_failed(p->probe) ? connect_jtag(p)
                                             : give_up(p, CORRAL_ERR_LINK_DOWN, "does not reset the chain");
}

bool cmsis_dap_port_select(struct cmsis_dap_port *p, uint32_t targetsel)
{
    p->targetsel = targetsel;
    p->multidrop = true;
    return write_targetsel(p) || give_up(p, CORRAL_ERR_LINK_PROTOCOL, "refused to send a sequence");
}
