/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See openocd.h. A batch of accesses becomes scripts of commands, each of which adds its values and a
 * semicolon to the result: as many semicolons as there are, as many accesses happened. Reads are cut to 256
 * elements a command (OpenOCD's read_memory takes time that grows with the square of it in some versions).
 *
 * What OpenOCD says is hostile: numbers are checked and counted, names must be plain, texts are escaped.
 */
#include "link/openocd.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/link_backend.h"
#include "link/openocd_flash.h"
#include "link/openocd_rpc.h"

#define CHUNK        256u /* elements a command */
#define SCRIPT_UNITS 64u  /* commands a script */
#define SCRIPT_READS 2048u
#define UNIT_ROOM    (CHUNK * 11u + 200u)
#define TARGETS      32u
#define NAME_ROOM    OPENOCD_NAME_ROOM
#define AP_IDR       0xFCu

#define PIN_NRESET 0x80u
#define DPBANKSEL  0xFu

enum { DP_CTRL_STAT = 0x4, DP_SELECT = 0x8 };

struct target {
    char name[NAME_ROOM];
    uint32_t ap;
    bool mem_ap;
    bool present; /* its AP has an IDR */
};

struct openocd {
    struct openocd_rpc *rpc;
    struct host_clock *clock;
    char dap[NAME_ROOM];
    uint32_t bank; /* DPBANKSEL as it was written last: OpenOCD has a register's bank in its number */
    struct target target[TARGETS];
    size_t targets;
    struct openocd_flash flash;
};

/* One command of a script: elements of one access. */
struct unit {
    size_t access;
    uint32_t first, count;
};

struct script {
    char text[OPENOCD_SCRIPT_MAX];
    size_t used;
    struct unit unit[SCRIPT_UNITS];
    size_t units;
    uint32_t reads;
};

static void add(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct script *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): just started */
    int n = vsnprintf(s->text + s->used, sizeof(s->text) - s->used, fmt, args);
    va_end(args);
    s->used += n > 0 && (size_t)n < sizeof(s->text) - s->used ? (size_t)n : 0;
}

static const struct target *find(const struct openocd *o, uint32_t ap)
{
    const struct target *found = NULL;
    for (size_t i = 0; i < o->targets; i++)
        if (o->target[i].ap == ap && (!found || (o->target[i].mem_ap && !found->mem_ap)))
            found = &o->target[i];
    return found;
}

static uint32_t element(const struct link_access *a, uint32_t i)
{
    const uint8_t *p = (const uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half;
    uint32_t word;
    if (a->size == 1)
        return *p;
    if (a->size == 2) {
        memcpy(&half, p, sizeof(half));
        return half;
    }
    memcpy(&word, p, sizeof(word));
    return word;
}

static void set_element(struct link_access *a, uint32_t i, uint32_t value)
{
    uint8_t *p = (uint8_t *)a->data + (size_t)i * a->size;
    uint16_t half = (uint16_t)value;
    if (a->size == 1)
        *p = (uint8_t)value;
    else if (a->size == 2)
        memcpy(p, &half, sizeof(half));
    else
        memcpy(p, &value, sizeof(value));
}

static bool is_read(const struct link_access *a)
{
    return a->op == LINK_MEM_READ || a->op == LINK_AP_READ || a->op == LINK_DP_READ;
}

static void add_unit(struct script *s, const struct openocd *o, const struct link_access *a,
                     const struct unit *u)
{
    const struct target *t = find(o, a->ap);
    uint64_t address = a->address + (uint64_t)u->first * a->size;
    switch (a->op) {
    case LINK_MEM_READ:
        add(s, "append corral_r [%s read_memory 0x%" PRIx64 " %u %" PRIu32 "]", t->name, address,
            8u * a->size, u->count);
        break;
    case LINK_MEM_WRITE:
        add(s, "%s write_memory 0x%" PRIx64 " %u {", t->name, address, 8u * a->size);
        for (uint32_t i = 0; i < u->count; i++)
            add(s, "0x%" PRIx32 " ", element(a, u->first + i));
        add(s, "}");
        break;
    case LINK_AP_READ:
        add(s, "append corral_r [%s apreg %" PRIu32 " 0x%" PRIx64 "]", o->dap, a->ap, address);
        break;
    case LINK_AP_WRITE:
        add(s, "%s apreg %" PRIu32 " 0x%" PRIx64 " 0x%" PRIx32, o->dap, a->ap, address, element(a, 0));
        break;
    case LINK_DP_READ:
        add(s, "append corral_r [%s dpreg 0x%" PRIx64 "]", o->dap,
            address | (address < DP_SELECT ? o->bank << 4 : 0));
        break;
    case LINK_DP_WRITE: /* OpenOCD's own affair */
        add(s, "set corral_e {}");
        break;
    }
    add(s, "; append corral_r {;}; ");
    s->unit[s->units++] = *u;
    s->reads += is_read(a) ? u->count : 0;
}

/* The values of one unit, up to its semicolon; NULL when it is something else. */
static const char *take_values(const char *text, struct link_access *a, const struct unit *u)
{
    uint32_t expected = is_read(a) ? u->count : 0;
    uint64_t limit = a->size == 4 ? UINT32_MAX : a->size == 2 ? UINT16_MAX : UINT8_MAX;
    for (uint32_t i = 0; i < expected; i++) {
        char *end = NULL;
        text += strspn(text, " \r\n");
        if (*text < '0' || *text > '9')
            return NULL;
        unsigned long long v = strtoull(text, &end, 0);
        if (v > limit || (*end != ' ' && *end != ';' && *end != '\n' && *end != '\r'))
            return NULL;
        set_element(a, u->first + i, (uint32_t)v);
        text = end;
    }
    text += strspn(text, " \r\n");
    return *text == ';' ? text + 1 : NULL;
}

/* Why a command failed: what it was about, or that the target is gone altogether. */
static enum corral_err refused(struct openocd *o, const struct link_access *a, const struct unit *u,
                               const char *error, struct diag *d)
{
    char said[140], probe[NAME_ROOM + 80];
    const char *result = NULL, *again = NULL;
    text_escape((const uint8_t *)error, strlen(error), said, sizeof(said)); /* before it is overwritten */
    uint64_t address = a->address + (uint64_t)u->first * a->size;
    snprintf(probe, sizeof(probe), "append corral_r [%s dpreg 0x%x]", o->dap, (unsigned)DP_CTRL_STAT);
    enum corral_err err = openocd_rpc_run(o->rpc, probe, &result, &again, d);
    if (err)
        return err;
    if (again && o->dap[0])
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "OpenOCD does not reach the target any more: %s", said);
    if (a->op == LINK_DP_READ || a->op == LINK_DP_WRITE)
        return diag_set(d, CORRAL_ERR_LINK_FAULT, "OpenOCD failed at DP register 0x%02" PRIx64 ": %s",
                        address, said);
    if (a->op == LINK_AP_READ || a->op == LINK_AP_WRITE)
        return diag_set(d, CORRAL_ERR_LINK_FAULT,
                        "OpenOCD failed at register 0x%02" PRIx64 " of AP %" PRIu32 ": %s", address, a->ap,
                        said);
    return diag_set(d, CORRAL_ERR_LINK_FAULT,
                    "OpenOCD failed to %s %" PRIu32 " x %u bytes at address 0x%08" PRIx64 " of AP %" PRIu32
                    ": %s",
                    is_read(a) ? "read" : "write", u->count, a->size, address, a->ap, said);
}

/* Run the script and give the accesses what came of it. *d and the failing access' status are set. */
static enum corral_err run(struct openocd *o, struct script *s, struct link_access *accesses, struct diag *d)
{
    const char *text = NULL, *error = NULL;
    size_t n = 0;
    enum corral_err err = s->units ? openocd_rpc_run(o->rpc, s->text, &text, &error, d) : CORRAL_OK;
    for (; !err && n < s->units; n++) {
        struct link_access *a = &accesses[s->unit[n].access];
        if (error && *text == '\0')
            break;
        text = take_values(text, a, &s->unit[n]);
        if (!text) {
            err = diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "OpenOCD (%s) did not answer the values asked for",
                           openocd_rpc_name(o->rpc));
            break;
        }
        a->done += s->unit[n].count;
        if (a->done == a->count)
            a->status = CORRAL_OK;
    }
    bool all = n == s->units;
    if (!err && !all && error)
        err = refused(o, &accesses[s->unit[n].access], &s->unit[n], error, d);
    else if (!err && (!all || error || (n && *text)))
        err = diag_set(d, CORRAL_ERR_LINK_PROTOCOL, "OpenOCD (%s) answered more or less than it was asked",
                       openocd_rpc_name(o->rpc));
    if (err)
        accesses[s->unit[n < s->units ? n : s->units - 1].access].status = err;
    s->used = s->units = s->reads = 0;
    s->text[0] = '\0';
    return err;
}

/* Is there a target for this access, and an AP behind it? An absent AP reads as 0 without complaint. */
static enum corral_err check(struct openocd *o, const struct link_access *a, struct diag *d)
{
    if (a->op != LINK_MEM_READ && a->op != LINK_MEM_WRITE)
        return CORRAL_OK;
    const struct target *found = find(o, a->ap);
    if (!found) {
        diag_set(d, CORRAL_ERR_NO_AP, "this OpenOCD has no target on access port %" PRIu32, a->ap);
        diag_hint(d, "target create NAME mem_ap -dap %s -ap-num %" PRIu32 " in its configuration", o->dap,
                  a->ap);
        return CORRAL_ERR_NO_AP;
    }
    struct target *t = &o->target[found - o->target];
    if (!t->present) {
        char script[NAME_ROOM + 80];
        const char *result = NULL, *error = NULL;
        snprintf(script, sizeof(script), "append corral_r [%s apreg %" PRIu32 " 0x%x]", o->dap, t->ap,
                 AP_IDR);
        enum corral_err err = openocd_rpc_run(o->rpc, script, &result, &error, d);
        if (err)
            return err;
        if (error || strtoull(result, NULL, 0) == 0)
            return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %" PRIu32, a->ap);
        t->present = true;
    }
    return CORRAL_OK;
}

static enum corral_err openocd_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct openocd *o = ctx;
    struct script *s = calloc(1, sizeof(*s));
    if (!s)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; !err && i < count; i++) {
        struct link_access *a = &accesses[i];
        struct diag late = DIAG_INIT;
        enum corral_err bad = check(o, a, &late);
        if (bad) { /* what stands before it happens all the same */
            err = run(o, s, accesses, d);
            if (!err) {
                a->status = err = bad;
                if (d)
                    *d = late;
            }
            break;
        }
        for (uint32_t at = 0; !err && at < a->count;) {
            struct unit u = {
                .access = i, .first = at, .count = a->count - at < CHUNK ? a->count - at : CHUNK};
            if (s->units == SCRIPT_UNITS || s->used + UNIT_ROOM > sizeof(s->text) ||
                s->reads + u.count > SCRIPT_READS)
                err = run(o, s, accesses, d);
            if (!err && a->op == LINK_DP_WRITE && a->address == DP_SELECT)
                o->bank = element(a, 0) & DPBANKSEL;
            if (!err)
                add_unit(s, o, a, &u);
            at += u.count;
        }
        if (!err && i + 1 == count)
            err = run(o, s, accesses, d);
    }
    free(s);
    return err;
}

static void openocd_set_deadline(void *ctx, int64_t when)
{
    struct openocd *o = ctx;
    openocd_rpc_set_limit(o->rpc, link_tcp_limit(o->clock, when));
}

/* A script of the whole adapter; `what` it was meant to do, for the sentence. */
static enum corral_err adapter(struct openocd *o, const char *script, enum corral_err code, const char *what,
                               const char *hint, struct diag *d)
{
    const char *result = NULL, *error = NULL;
    char said[140];
    enum corral_err err = openocd_rpc_run(o->rpc, script, &result, &error, d);
    if (err || !error)
        return err;
    text_escape((const uint8_t *)error, strlen(error), said, sizeof(said));
    /* Many of its errors go to its own log only. */
    diag_set(d, code, "OpenOCD (%s) does not %s%s%s", openocd_rpc_name(o->rpc), what, said[0] ? ": " : "",
             said);
    diag_hint(d, "%s", hint);
    return code;
}

/* Before OpenOCD 0.11 it was jtag_reset TRST SRST. */
static enum corral_err openocd_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct openocd *o = ctx;
    char script[320];
    snprintf(script, sizeof(script),
             "if {[catch {adapter %s srst} corral_x]} { if {[llength [info commands jtag_reset]]} "
             "{ jtag_reset 0 %d } else { error $corral_x } }; %s",
             asserted ? "assert" : "deassert", asserted,
             asserted ? "" : "catch {dap init}"); /* the port may have lost what OpenOCD remembers of it */
    return adapter(o, script, CORRAL_ERR_UNSUPPORTED, asserted ? "pull nRESET" : "let nRESET go",
                   "'reset_config srst_only srst_nogate' in its configuration, where the probe has the line",
                   d);
}

static enum corral_err set_clock(struct openocd *o, uint32_t hz, struct diag *d)
{
    char script[240];
    uint32_t khz = hz / 1000 ? hz / 1000 : 1;
    snprintf(script, sizeof(script),
             "if {[catch {adapter speed %" PRIu32 "} corral_x]} { if {[llength [info commands adapter_khz]]} "
             "{ adapter_khz %" PRIu32 " } else { error $corral_x } }",
             khz, khz);
    return adapter(o, script, CORRAL_ERR_USAGE, "set the clock", "its adapter may have one speed only", d);
}

/* Of the wires OpenOCD gives nRESET and the clock; the debug port's registers are its own, but ABORT. */
static enum corral_err openocd_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct openocd *o = ctx;
    char script[NAME_ROOM + 80];
    switch (raw->op) {
    case LINK_RAW_PINS:
        raw->in = UINT32_MAX; /* they cannot be read */
        if (raw->select & ~PIN_NRESET) {
            diag_set(d, CORRAL_ERR_UNSUPPORTED, "of the probe's pins OpenOCD (%s) offers nRESET only",
                     openocd_rpc_name(o->rpc));
            diag_hint(d, "--link cmsis-dap reaches all pins of such a probe");
            return CORRAL_ERR_UNSUPPORTED;
        }
        enum corral_err err = raw->select ? openocd_drive_reset(o, !(raw->out & PIN_NRESET), d) : CORRAL_OK;
        if (!err)
            host_clock_sleep(o->clock, (int64_t)raw->wait_us * NS_PER_US);
        return err;
    case LINK_RAW_CLOCK:
        return set_clock(o, (uint32_t)raw->out, d);
    case LINK_RAW_ABORT:
        snprintf(script, sizeof(script), "%s dpreg 0x0 0x%" PRIx32, o->dap, (uint32_t)raw->out);
        return adapter(o, script, CORRAL_ERR_LINK_FAULT, "write ABORT", "its log may say why", d);
    case LINK_RAW_SWJ:
    case LINK_RAW_JTAG:
        break; /* link.c asks `raws` first */
    }
    return diag_set(d, CORRAL_ERR_UNSUPPORTED, "OpenOCD (%s) cannot do that", openocd_rpc_name(o->rpc));
}

static void openocd_close(void *ctx)
{
    struct openocd *o = ctx;
    if (!o)
        return;
    openocd_rpc_close(o->rpc);
    free(o);
}

static enum corral_err openocd_flash(void *ctx, enum link_flash_op op, uint32_t ap, uint64_t address,
                                     const uint8_t *data, size_t size, struct diag *d)
{
    struct openocd *o = ctx;
    return openocd_flash_do(&o->flash, o->rpc, op, ap, address, data, size, d);
}

static size_t list_flash(void *ctx, struct link_flash_region *list, size_t room, struct diag *d)
{
    struct openocd *o = ctx;
    return openocd_flash_regions(&o->flash, o->rpc, list, room, d);
}

#define OPENOCD_BACKEND                                                                                  \
    .caps = LINK_CAP_MEM | LINK_CAP_DAP, .execute = openocd_execute, .drive_reset = openocd_drive_reset, \
    .raw = openocd_raw, .raws = 1u << LINK_RAW_PINS | 1u << LINK_RAW_CLOCK | 1u << LINK_RAW_ABORT,       \
    .set_deadline = openocd_set_deadline, .close = openocd_close

/* With and without a flash bank in its configuration. */
static const struct link_backend openocd_backend = {OPENOCD_BACKEND};
static const struct link_backend openocd_flash_backend = {
    OPENOCD_BACKEND,
    .flash = openocd_flash,
    .flash_regions = list_flash,
};

static bool is_plain(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n < NAME_ROOM &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") == n;
}

/* "NAME TYPE DAP AP;" for each target. Only those on one DAP count: AP numbers mean nothing without it. */
static void read_targets(struct openocd *o, char *list)
{
    char *save = NULL;
    for (char *line = strtok_r(list, ";", &save); line; line = strtok_r(NULL, ";", &save)) {
        char *word[4] = {NULL}, *inner = NULL, *end = NULL;
        if (openocd_flash_take(&o->flash, line))
            continue;
        word[0] = strtok_r(line, " \n", &inner);
        for (size_t i = 1; i < 4 && word[i - 1]; i++)
            word[i] = strtok_r(NULL, " \n", &inner);
        if (!word[3] || !is_plain(word[0]) || !is_plain(word[2]) || o->targets == TARGETS)
            continue;
        unsigned long long ap = strtoull(word[3], &end, 0);
        if (*end || ap > 0xFF || (o->dap[0] && strcmp(o->dap, word[2]) != 0))
            continue;
        struct target *t = &o->target[o->targets++];
        snprintf(t->name, sizeof(t->name), "%s", word[0]);
        snprintf(o->dap, sizeof(o->dap), "%s", word[2]);
        t->ap = (uint32_t)ap;
        t->mem_ap = strcmp(word[1], "mem_ap") == 0;
    }
}

/* Which AP a bank's flash is seen through: its target's. A bank of a target that is none of ours goes. */
static void bind_banks(struct openocd *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->flash.count; i++)
        for (size_t k = 0; k < o->targets; k++)
            if (strcmp(o->flash.bank[i].target, o->target[k].name) == 0) {
                o->flash.bank[kept] = o->flash.bank[i];
                o->flash.bank[kept++].ap = o->target[k].ap;
                break;
            }
    o->flash.count = kept;
}

static enum corral_err list_targets(struct openocd *o, struct diag *d)
{
    static const char targets[] =
        "foreach corral_t [target names] { if {[catch {append corral_r "
        "\"$corral_t [$corral_t cget -type] [$corral_t cget -dap] [$corral_t cget -ap-num];\"}]} "
        "{ append corral_r {;} } }";
    const char *result = NULL, *error = NULL;
    char script[800];
    snprintf(script, sizeof(script), "%s%s", targets, openocd_flash_list);
    enum corral_err err = openocd_rpc_run(o->rpc, script, &result, &error, d);
    if (err)
        return err;
    char *list = strdup(result);
    if (!list)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    read_targets(o, list);
    free(list);
    bind_banks(o);
    if (o->targets)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_NO_AP, "OpenOCD (%s) has no target with an access port", openocd_rpc_name(o->rpc));
    diag_hint(d, "target create NAME mem_ap -dap DAP -ap-num 0 in its configuration");
    return CORRAL_ERR_NO_AP;
}

struct link *link_openocd_open(const char *spec, const struct link_options *options, struct host_clock *clock,
                               struct diag *d)
{
    struct diag own = DIAG_INIT;
    char setup[200];
    d = d ? d : &own;
    const char *words = strncmp(spec, "openocd:", 8) == 0 ? spec + 8 : "";
    if (options && options->protocol) {
        diag_set(d, CORRAL_ERR_USAGE, "link '%s': OpenOCD's configuration alone chooses the protocol", spec);
        return NULL;
    }
    struct openocd *o = calloc(1, sizeof(*o));
    if (!o) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    snprintf(setup, sizeof(setup),
             "foreach corral_d [dap names] { for {set corral_i 0} {$corral_i < %d} {incr corral_i} { "
             "target create corral.$corral_d.$corral_i mem_ap -dap $corral_d -ap-num $corral_i } }",
             LINK_OPENOCD_APS);
    o->clock = clock;
    o->rpc = openocd_rpc_open(words, setup, link_tcp_open_limit(options), d);
    struct link *link = NULL;
    bool good = o->rpc && list_targets(o, d) == CORRAL_OK;
    if (good && options && options->wire_hz)
        good = set_clock(o, options->wire_hz, d) == CORRAL_OK;
    if (good) {
        openocd_rpc_set_limit(o->rpc, INT64_MAX);
        link = link_new(o->flash.count ? &openocd_flash_backend : &openocd_backend, o, spec, clock);
        if (!link)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    if (!link)
        openocd_close(o);
    return link;
}
