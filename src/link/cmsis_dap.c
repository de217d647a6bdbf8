/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cmsis_dap.h. The words, the opening and closing, the reset line; accesses are cmsis_dap_access.c's and
 * cmsis_dap_block.c's, finding the port is cmsis_dap_port.c's.
 */
#include "link/cmsis_dap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "link/cmsis_dap_access.h"
#include "link/link_tcp.h"

#define PIN_NRESET     0x80u
#define PINS_WAIT_US   100000u
#define GOOD_BYE_MS    1000
#define TARGETSEL_WORD "?targetsel="

static bool probe_failed(const struct cmsis_dap *c)
{
    return cmsis_dap_probe_failed(c->port.probe);
}

static void cmsis_dap_explain(void *ctx, struct diag *d)
{
    const struct cmsis_dap *c = ctx;
    const struct diag *why = probe_failed(c) ? cmsis_dap_probe_why(c->port.probe) : &c->why;
    if (d && why->code != CORRAL_OK)
        *d = *why;
}

static enum corral_err cmsis_dap_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct cmsis_dap *c = ctx;
    uint8_t request[7] = {CMD_SWJ_PINS, asserted ? 0 : PIN_NRESET, PIN_NRESET};
    store_le32(request + 3, PINS_WAIT_US); /* until the pin is where it is to be */
    const uint8_t *answer = cmsis_dap_probe_ask(c->port.probe, request, sizeof(request), 2);
    if (!answer) {
        struct diag own = DIAG_INIT;
        d = d ? d : &own;
        cmsis_dap_explain(c, d);
        return d->code;
    }
    c->tar_known = c->step_known = c->taken = false;
    if (asserted && (answer[1] & PIN_NRESET)) {
        diag_set(d, CORRAL_ERR_UNSUPPORTED, "nRESET stays high though the probe %s was told to pull it low",
                 cmsis_dap_probe_name(c->port.probe));
        diag_hint(d, "is the reset line connected?");
        return CORRAL_ERR_UNSUPPORTED;
    }
    return CORRAL_OK;
}

static enum corral_err explained(struct cmsis_dap *c, const char *what, struct diag *d)
{
    if (!probe_failed(c))
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the probe %s refused to %s",
                        cmsis_dap_probe_name(c->port.probe), what);
    cmsis_dap_explain(c, d);
    return d->code;
}

static enum corral_err raw_pins(struct cmsis_dap *c, struct link_raw *raw, struct diag *d)
{
    uint8_t request[7] = {CMD_SWJ_PINS, (uint8_t)raw->out, (uint8_t)raw->select};
    store_le32(request + 3, raw->wait_us);
    const uint8_t *answer = cmsis_dap_probe_ask(c->port.probe, request, sizeof(request), 2);
    if (!answer)
        return explained(c, "drive its pins", d);
    raw->in = answer[1];
    return CORRAL_OK;
}

static enum corral_err raw_swj(struct cmsis_dap *c, const struct link_raw *raw, struct diag *d)
{
    uint8_t request[10] = {CMD_SWJ_SEQUENCE, (uint8_t)raw->bits};
    store_le32(request + 2, (uint32_t)raw->out);
    store_le32(request + 6, (uint32_t)(raw->out >> 32));
    return cmsis_dap_probe_do(c->port.probe, request, 2 + (raw->bits + 7u) / 8u)
               ? CORRAL_OK
               : explained(c, "send a sequence", d);
}

#define JTAG_SEQUENCE_TMS 0x40u
#define JTAG_SEQUENCE_TDO 0x80u /* to be sent back */

static enum corral_err raw_jtag(struct cmsis_dap *c, struct link_raw *raw, struct diag *d)
{
    size_t bytes = (raw->bits + 7u) / 8u;
    uint8_t request[11] = {CMD_JTAG_SEQUENCE, 1}, tdo[8] = {0};
    request[2] = (uint8_t)((raw->bits & 0x3Fu) | JTAG_SEQUENCE_TDO);
    if (raw->select & 1u)
        request[2] |= JTAG_SEQUENCE_TMS;
    store_le32(request + 3, (uint32_t)raw->out);
    store_le32(request + 7, (uint32_t)(raw->out >> 32));
    size_t size = 0;
    const uint8_t *answer = cmsis_dap_probe_send(c->port.probe, request, 3 + bytes)
                                ? cmsis_dap_probe_take(c->port.probe, 2, &size)
                                : NULL;
    if (answer && answer[1] == 0 && size < 2 + bytes)
        cmsis_dap_probe_refuse(c->port.probe, "answered a sequence with fewer bits than it was asked for");
    if (!answer || answer[1] != 0 || probe_failed(c))
        return explained(c, "send a JTAG sequence", d);
    memcpy(tdo, answer + 2, bytes);
    raw->in = load_le32(tdo) | (uint64_t)load_le32(tdo + 4) << 32;
    if (raw->bits < 64)
        raw->in &= (UINT64_C(1) << raw->bits) - 1;
    return CORRAL_OK;
}

static enum corral_err cmsis_dap_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct cmsis_dap *c = ctx;
    uint8_t clock[5] = {CMD_SWJ_CLOCK};
    if (raw->op == LINK_RAW_CLOCK) {
        store_le32(clock + 1, (uint32_t)raw->out);
        return cmsis_dap_probe_do(c->port.probe, clock, sizeof(clock))
                   ? CORRAL_OK
                   : explained(c, "work at this clock frequency", d);
    }
    if (raw->op == LINK_RAW_ABORT) {
        /* On SWD the port is not looked for: this is what may make it answer. */
        bool ready = c->port.jtag ? cmsis_dap_ready(c, false) : !probe_failed(c);
        if (ready && cmsis_dap_abort(c, (uint32_t)raw->out) == DAP_ACK_OK)
            return CORRAL_OK;
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the debug port behind %s does not take a write of ABORT",
                 cmsis_dap_probe_name(c->port.probe));
        cmsis_dap_explain(c, d);
        return d->code;
    }
    c->moved = true;
    c->lost = false; /* whether it answers is seen anew, and by hand first */
    c->tar_known = c->step_known = c->taken = false;
    return raw->op == LINK_RAW_PINS  ? raw_pins(c, raw, d)
           : raw->op == LINK_RAW_SWJ ? raw_swj(c, raw, d)
                                     : raw_jtag(c, raw, d);
}

static void cmsis_dap_set_deadline(void *ctx, int64_t when)
{
    struct cmsis_dap *c = ctx;
    cmsis_dap_probe_set_limit(c->port.probe, link_tcp_limit(c->clock, when));
}

static void cmsis_dap_close(void *ctx)
{
    static const uint8_t lamp[] = {CMD_HOST_STATUS, 0, 0}, disconnect[] = {CMD_DISCONNECT};
    struct cmsis_dap *c = ctx;
    if (!c)
        return;
    if (c->port.probe && !probe_failed(c)) {
        cmsis_dap_probe_set_limit(c->port.probe, link_tcp_now() + GOOD_BYE_MS);
        cmsis_dap_probe_do(c->port.probe, lamp, sizeof(lamp));
        cmsis_dap_probe_do(c->port.probe, disconnect, sizeof(disconnect));
    }
    cmsis_dap_probe_close(c->port.probe);
    free(c);
}

#define CMSIS_DAP_BACKEND                                                                         \
    .caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = cmsis_dap_dap, .dap_block = cmsis_dap_block,      \
    .flush = cmsis_dap_flush, .explain = cmsis_dap_explain, .drive_reset = cmsis_dap_drive_reset, \
    .raw = cmsis_dap_raw, .set_deadline = cmsis_dap_set_deadline, .close = cmsis_dap_close
#define CMSIS_DAP_RAWS \
    (1u << LINK_RAW_PINS | 1u << LINK_RAW_CLOCK | 1u << LINK_RAW_SWJ | 1u << LINK_RAW_ABORT)

/* Of a probe that does SWD only, and of others. */
static const struct link_backend cmsis_dap_backend = {CMSIS_DAP_BACKEND, .raws = CMSIS_DAP_RAWS};
static const struct link_backend cmsis_dap_jtag_backend = {CMSIS_DAP_BACKEND,
                                                           .raws = CMSIS_DAP_RAWS | 1u << LINK_RAW_JTAG};

/* The words behind "?": TARGETSEL. */
static bool parse_tail(const char *tail, struct cmsis_dap_port *p, struct diag *d)
{
    char *end = NULL;
    if (!tail)
        return true;
    if (strncmp(tail, TARGETSEL_WORD, strlen(TARGETSEL_WORD)) == 0) {
        const char *number = tail + strlen(TARGETSEL_WORD);
        unsigned long long v = *number >= '0' && *number <= '9' ? strtoull(number, &end, 0) : 0;
        if (end && *end == '\0' && v <= UINT32_MAX && (v & 1u)) {
            p->multidrop = true;
            p->targetsel = (uint32_t)v;
            return true;
        }
    }
    diag_set(d, CORRAL_ERR_USAGE,
             "--link cmsis-dap: behind '?' stands targetsel= with a number of 32 bits, odd");
    diag_hint(d, "for example --link \"cmsis-dap?targetsel=0x01002927\"");
    return false;
}

struct link *link_cmsis_dap_open_wire(const struct cmsis_dap_wire *wire, const char *spec,
                                      const struct link_options *options, struct host_clock *clock,
                                      struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    struct cmsis_dap *c = calloc(1, sizeof(*c));
    if (!c || !parse_tail(strchr(spec, '?'), &c->port, d)) {
        if (!c)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        wire->ops->close(wire->ctx);
        free(c);
        return NULL;
    }
    c->clock = clock;
    c->port.probe = cmsis_dap_probe_open(wire, link_tcp_open_limit(options), d);
    uint32_t ctrl = 0;
    bool good = c->port.probe != NULL;
    if (good && !cmsis_dap_port_connect(&c->port, options)) {
        *d = c->port.why;
        good = false;
    }
    if (good && c->port.jtag) { /* what was requested before us stays so */
        if (cmsis_dap_port_dp(&c->port, true, DP_CTRL_STAT, &ctrl) == DAP_ACK_OK)
            c->ctrl = ctrl & 0x54000000u;
    }
    if (good)
        cmsis_dap_probe_set_limit(c->port.probe, INT64_MAX);
    bool jtag = good && cmsis_dap_probe_info(c->port.probe)->jtag;
    struct link *link =
        good ? link_new(jtag ? &cmsis_dap_jtag_backend : &cmsis_dap_backend, c, spec, clock) : NULL;
    if (good && !link)
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!link)
        cmsis_dap_close(c);
    return link;
}

struct link *link_cmsis_dap_open(const char *spec, const struct link_options *options,
                                 struct host_clock *clock, struct diag *d)
{
    struct diag own = DIAG_INIT;
    struct cmsis_dap_port tail = {0};
    struct cmsis_dap_wire wire;
    d = d ? d : &own;
    const char *words = spec + strlen("cmsis-dap");
    const char *end = strchr(spec, '?');
    char *where = strndup(words, (size_t)((end ? end : spec + strlen(spec)) - words));
    if (!where) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    bool open = parse_tail(end, &tail, d);
    if (open && strncmp(where, ":tcp:", 5) == 0)
        open = cmsis_dap_tcp_open(&wire, where + 5, link_tcp_left(link_tcp_open_limit(options), INT_MAX), d);
    else if (open)
        open = cmsis_dap_usb_open(&wire, where[0] ? where + 1 : "", d);
    free(where);
    return open ? link_cmsis_dap_open_wire(&wire, spec, options, clock, d) : NULL;
}

bool link_cmsis_dap_get_info(struct link *link, struct link_cmsis_dap_info *info)
{
    const struct cmsis_dap *c = link_backend_ctx(link, &cmsis_dap_backend);
    if (!c)
        c = link_backend_ctx(link, &cmsis_dap_jtag_backend);
    if (!c)
        return false;
    *info = *cmsis_dap_probe_info(c->port.probe);
    info->connected = c->port.jtag ? LINK_PROTOCOL_JTAG : LINK_PROTOCOL_SWD;
    info->dpidr = c->port.dpidr;
    return true;
}
