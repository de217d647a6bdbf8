/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to the virtual board in this process: the board behind the same debug-port transfers as a probe's.
 * The only file of src/ that knows sim/. Numbers: docs/board.md.
 *
 * The board's pace is "wire": it runs while SWCLK cycles pass and while somebody sleeps on the virtual clock.
 * Must not reach into the board for anything that a debugger reads through the port.
 */
#include "link/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/link_backend.h"
#include "sim/board.h"
#include "sim/board_control.h"
#include "sim/board_map.h"
#include "sim/board_options.h"
#include "sim/identity.h"

#define IMAGE_MAX    (64u << 20) /* no ELF file for 256 KiB of flash is larger */
#define RDBUFF_TRIES 1000

enum { DP_ABORT = 0x0, DP_RDBUFF = 0xC };

struct sim_link {
    struct board *board;
    struct host_clock *clock;
    int64_t zero_ns; /* host time at base tick 0 */
    uint64_t tick_hz;
    const uint8_t *image[LINK_SIM_CORES];
    size_t image_size[LINK_SIM_CORES];
    uint8_t *owned[LINK_SIM_CORES]; /* images read from files */
    struct board_control *control;  /* NULL until the first command */
    uint64_t transfers;
    uint64_t dead_at; /* the transfer from which on the wire is dead; UINT64_MAX = none */
    bool reset_low;   /* nRESET, as this link pulls it */
};

_Static_assert(LINK_SIM_CORES == BOARD_CORES, "the link and the board count the same cores");

static int64_t ticks_to_ns(const struct sim_link *s, uint64_t tick)
{
    return (int64_t)(tick / s->tick_hz * (uint64_t)NS_PER_S +
                     tick % s->tick_hz * (uint64_t)NS_PER_S / s->tick_hz);
}

/* The first tick that is not before `ns`. */
static uint64_t ns_to_ticks(const struct sim_link *s, int64_t ns)
{
    uint64_t n = ns > 0 ? (uint64_t)ns : 0;
    uint64_t whole = n / (uint64_t)NS_PER_S * s->tick_hz;
    return whole + (n % (uint64_t)NS_PER_S * s->tick_hz + (uint64_t)NS_PER_S - 1) / (uint64_t)NS_PER_S;
}

static void follow_board(struct sim_link *s)
{
    host_clock_set(s->clock, s->zero_ns + ticks_to_ns(s, board_tick(s->board)));
}

/* Somebody sleeps: the board runs meanwhile. */
static void pass_time(void *ctx, int64_t until)
{
    struct sim_link *s = ctx;
    board_run_until(s->board, ns_to_ticks(s, until - s->zero_ns));
    host_clock_set(s->clock, until);
}

static enum dap_ack sim_dap_posted(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct sim_link *s = ctx;
    if (s->transfers >= s->dead_at)
        return DAP_ACK_NONE;
    s->transfers++;
    unsigned ack = board_dap_transfer(s->board, ap, read, addr, value);
    follow_board(s);
    return (enum dap_ack)ack;
}

/* An AP read is two transfers: the read, and RDBUFF for its value. */
static enum dap_ack sim_dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    enum dap_ack ack = sim_dap_posted(ctx, ap, read, addr, value);
    if (ack != DAP_ACK_OK || !ap || !read)
        return ack;
    for (unsigned i = 0; i < RDBUFF_TRIES; i++) {
        ack = sim_dap_posted(ctx, false, true, DP_RDBUFF, value);
        if (ack != DAP_ACK_WAIT)
            break;
    }
    return ack;
}

/* Only `vanish` and `stall` make a transfer that is not answered. */
static void sim_explain(void *ctx, struct diag *d)
{
    (void)ctx;
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the virtual board's probe does not answer: it was told so");
}

static enum corral_err sim_drive_reset(void *ctx, bool asserted, struct diag *d)
{
    struct sim_link *s = ctx;
    (void)d;
    s->reset_low = asserted;
    board_pin_reset(s->board, asserted);
    return CORRAL_OK;
}

#define PINS       0xAFu /* those of CMSIS-DAP */
#define PIN_NRESET 0x80u

/* nRESET is the only line that there is; the others are never low, and waiting for that is waiting in vain.
 */
static void drive_pins(struct sim_link *s, struct link_raw *raw)
{
    if (raw->select & PIN_NRESET)
        sim_drive_reset(s, !(raw->out & PIN_NRESET), NULL);
    raw->in = s->reset_low ? PINS & ~PIN_NRESET : PINS;
    if ((raw->in ^ raw->out) & raw->select & PINS)
        host_clock_sleep(s->clock, (int64_t)raw->wait_us * NS_PER_US);
}

/* Sequences are clocks that pass: the debug port is there before and after, and nobody drives TDO. */
static enum corral_err sim_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct sim_link *s = ctx;
    uint32_t value = (uint32_t)raw->out;
    if (s->transfers >= s->dead_at) {
        sim_explain(s, d);
        return CORRAL_ERR_LINK_DOWN;
    }
    s->transfers++;
    switch (raw->op) {
    case LINK_RAW_PINS:
        drive_pins(s, raw);
        break;
    case LINK_RAW_CLOCK: /* the board's own */
        break;
    case LINK_RAW_SWJ:
    case LINK_RAW_JTAG:
        board_dap_idle(s->board, raw->bits);
        follow_board(s);
        raw->in = raw->op == LINK_RAW_JTAG ? UINT64_MAX >> (64 - raw->bits) : 0;
        break;
    case LINK_RAW_ABORT:
        board_dap_transfer(s->board, false, false, DP_ABORT, &value);
        follow_board(s);
        break;
    }
    return CORRAL_OK;
}

/* The AP's number, or under ADIv6 its base. */
static unsigned core_of_ap(const struct board *b, uint32_t ap)
{
    return board_get_config(b)->adiv6 ? ap / BOARD_AP6_BASE(0) - 1 : ap;
}

static enum corral_err sim_flash(void *ctx, enum link_flash_op op, uint32_t ap, uint64_t address,
                                 const uint8_t *data, size_t size, struct diag *d)
{
    struct sim_link *s = ctx;
    if (op == LINK_FLASH_DONE)
        return CORRAL_OK;
    if (address > UINT32_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "the board has no flash above 4 GiB");
    return board_program_flash(s->board, core_of_ap(s->board, ap), (uint32_t)address,
                               op == LINK_FLASH_WRITE ? data : NULL, size, d);
}

#define FLASH_BLOCK 1024u

/* Of each core: at its own address, and where the core fetches its vectors. */
static size_t sim_flash_regions(void *ctx, struct link_flash_region *list, size_t room, struct diag *d)
{
    const struct sim_link *s = ctx;
    static const uint32_t starts[] = {BOARD_FLASH_ALIAS, BOARD_FLASH_BASE};
    size_t n = 0;
    (void)d;
    for (unsigned core = 0; core < BOARD_CORES; core++)
        for (unsigned i = 0; i < 2 && n < room; i++)
            list[n++] = (struct link_flash_region){
                .start = starts[i],
                .size = BOARD_FLASH_SIZE,
                .block = FLASH_BLOCK,
                .ap = board_get_config(s->board)->adiv6 ? BOARD_AP6_BASE(core) : core,
            };
    return n;
}

static uint64_t sim_wire_clocks(void *ctx)
{
    const struct sim_link *s = ctx;
    return board_wire_clocks(s->board);
}

static void sim_close(void *ctx)
{
    struct sim_link *s = ctx;
    if (!s)
        return;
    if (s->clock)
        host_clock_set_driver(s->clock, NULL, NULL);
    board_free(s->board);
    free(s->control);
    for (size_t i = 0; i < LINK_SIM_CORES; i++)
        free(s->owned[i]);
    free(s);
}

static const struct link_backend sim_backend = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP | LINK_CAP_WIRE,
    .dap = sim_dap,
    .dap_posted = sim_dap_posted,
    .explain = sim_explain,
    .drive_reset = sim_drive_reset,
    .raw = sim_raw,
    .raws = 1u << LINK_RAW_PINS | 1u << LINK_RAW_CLOCK | 1u << LINK_RAW_SWJ | 1u << LINK_RAW_JTAG |
            1u << LINK_RAW_ABORT,
    .flash = sim_flash,
    .flash_regions = sim_flash_regions,
    .wire_clocks = sim_wire_clocks,
    .close = sim_close,
};

static enum corral_err file_error(struct diag *d, const char *path, const char *why)
{
    char name[160];
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", name, why);
    diag_object(d, "%s", name);
    return CORRAL_ERR_IO;
}

static enum corral_err read_file(const char *path, uint8_t **data, size_t *size, struct diag *d)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return file_error(d, path, strerror(errno));
    uint8_t *buffer = NULL;
    size_t used = 0, room = 0;
    const char *why = NULL;
    for (;;) {
        if (used == room) {
            size_t more = room ? room * 2 : 64u << 10;
            uint8_t *larger = more <= IMAGE_MAX ? realloc(buffer, more) : NULL;
            if (!larger) {
                why = more > IMAGE_MAX ? "it is too large for an ELF image of this board" : "out of memory";
                break;
            }
            buffer = larger;
            room = more;
        }
        size_t n = fread(buffer + used, 1, room - used, f);
        used += n;
        if (n == 0) {
            if (ferror(f))
                why = strerror(errno);
            break;
        }
    }
    fclose(f);
    if (why) {
        free(buffer);
        return file_error(d, path, why);
    }
    *data = buffer;
    *size = used;
    return CORRAL_OK;
}

static enum corral_err load(struct sim_link *s, unsigned core, const char *path, struct diag *d)
{
    if (path) {
        enum corral_err err = read_file(path, &s->owned[core], &s->image_size[core], d);
        if (err)
            return err;
        s->image[core] = s->owned[core];
    } else {
        enum board_identity identity = board_get_config(s->board)->identity[core];
        s->image[core] = board_identity_image(identity, core, &s->image_size[core]);
    }
    enum corral_err err = board_load_elf(s->board, core, s->image[core], s->image_size[core], d);
    if (err && path) {
        char name[160];
        text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
        diag_prefix(d, "%s", name);
        diag_object(d, "%s", name);
    }
    return err;
}

/* The name as the user wrote it. */
static struct link *make_link(struct sim_link *s, const struct link_sim_options *o, struct diag *d)
{
    const char *a = o->elf[0] ? o->elf[0] : "", *b = o->elf[1] ? o->elf[1] : "";
    size_t room = strlen(a) + strlen(b) + 8;
    char *name = malloc(room);
    struct link *link = NULL;
    if (name) {
        snprintf(name, room, "sim%s%s%s%s", *a ? ":" : "", a, *b ? "," : "", b);
        link = link_new(&sim_backend, s, name, s->clock);
    }
    free(name);
    if (!link)
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return link;
}

enum corral_err link_sim_check_board(const char *board, struct diag *d)
{
    struct board_options words = {0};
    return board_options_parse(&words, board, d);
}

/* The board that is asked for: its words first, then what was given as a number. */
static enum corral_err configure(const struct link_sim_options *o, struct board_options *words,
                                 struct diag *d)
{
    enum corral_err err = board_options_parse(words, o->board, d);
    struct board_config *c = &words->config;
    if (err != CORRAL_OK)
        return err;
    if (o->ctm_latency || o->ctm_latency_set) {
        c->ctm_latency = o->ctm_latency;
        c->ctm_latency_set = o->ctm_latency_set;
    }
    c->swclk_hz = o->swclk_hz;
    c->seed = o->seed ? o->seed : c->seed;
    c->count_pcs = o->count_pcs;
    c->log_accesses = o->log_accesses;
    c->datagram = o->datagram;
    c->uart = o->uart;
    c->ctx = o->ctx;
    return CORRAL_OK;
}

/* The programs: of the link's own words, else of the board's --elf, else the built-in ones. */
static enum corral_err load_all(struct sim_link *s, const struct link_sim_options *o, const char *elf,
                                struct diag *d)
{
    const char *path[LINK_SIM_CORES] = {o->elf[0], o->elf[1]};
    char *first = NULL;
    if (!path[0] && elf) {
        const char *comma = strchr(elf, ',');
        if (comma == elf || (comma && comma[1] == '\0'))
            return diag_set(d, CORRAL_ERR_USAGE,
                            "--elf: an ELF file for core 0 is wanted, or one for each core");
        first = comma ? strndup(elf, (size_t)(comma - elf)) : strdup(elf);
        if (!first)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        path[0] = first;
        path[1] = comma ? comma + 1 : NULL;
    }
    enum corral_err err = CORRAL_OK;
    for (unsigned core = 0; core < LINK_SIM_CORES && err == CORRAL_OK; core++)
        if (core == 0 || path[0] == NULL || path[core])
            err = load(s, core, path[core], d);
    free(first);
    return err;
}

struct link *link_sim_open(const struct link_sim_options *options, struct diag *d)
{
    struct board_options words = {0};
    if (!options->elf[0] && options->elf[1]) {
        diag_set(d, CORRAL_ERR_USAGE, "the virtual board wants an ELF file for core 0 before one for core 1");
        return NULL;
    }
    if (!options->clock || !host_clock_is_virtual(options->clock)) {
        diag_set(d, CORRAL_ERR_USAGE, "the virtual board wants a virtual clock");
        return NULL;
    }
    if (configure(options, &words, d) != CORRAL_OK)
        return NULL;
    struct sim_link *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->board = board_new(&words.config, d);
    if (!s->board) {
        free(s);
        return NULL;
    }
    s->dead_at = UINT64_MAX;
    s->tick_hz = board_tick_hz(s->board);
    if (load_all(s, options, words.elf, d) != CORRAL_OK) {
        sim_close(s);
        return NULL;
    }
    board_reset(s->board);
    s->clock = options->clock;
    s->zero_ns = host_clock_now(s->clock) - ticks_to_ns(s, board_tick(s->board));
    struct link *link = make_link(s, options, d);
    if (!link) {
        sim_close(s);
        return NULL;
    }
    host_clock_set_driver(s->clock, pass_time, s);
    return link;
}

const char *link_sim_command(struct link *link, const char *line)
{
    struct sim_link *s = link_backend_ctx(link, &sim_backend);
    if (!s)
        return NULL;
    if (!s->control)
        s->control = calloc(1, sizeof(*s->control));
    if (!s->control)
        return NULL;
    s->control->board = s->board;
    const char *answer = board_control_line(s->control, line);
    if (s->control->probes_asked) {
        bool dead = s->control->probes != BOARD_PROBES_THERE;
        s->control->probes_asked = false;
        s->dead_at = dead ? s->transfers + s->control->after : UINT64_MAX;
    }
    return answer;
}

bool link_sim_get_info(struct link *link, struct link_sim_info *info)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    if (!s)
        return false;
    const struct board_config *c = board_get_config(s->board);
    *info = (struct link_sim_info){
        .swclk_hz = c->swclk_hz,
        .clocks_per_transfer = BOARD_CLOCKS_PER_TRANSFER,
        .ctm_latency = c->ctm_latency,
        .deadline_us = c->deadline_us,
        .log_buffer = {BOARD_LOG_BUFFER0, BOARD_LOG_BUFFER1},
        .log_buffer_size = BOARD_LOG_BUFFER_SIZE,
        .scratch = BOARD_SYSINFO_BASE + BOARD_SYSINFO_SCRATCH(0),
        .doorbell = BOARD_SYSINFO_BASE + BOARD_SYSINFO_DOORBELL,
        .queue_memory = BOARD_QUEUE_MEMORY,
        .queue_memory_size = BOARD_QUEUE_MEMORY_SIZE,
        .log_host_buffer = BOARD_LOG_HOST_BUFFER,
    };
    for (unsigned i = 0; i < LINK_SIM_CORES; i++) {
        info->ap[i] = c->adiv6 ? BOARD_AP6_BASE(i) : i;
        info->core_hz[i] = c->core_hz[i];
    }
    return true;
}

bool link_sim_image(struct link *link, unsigned core, const uint8_t **data, size_t *size)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    if (!s || core >= LINK_SIM_CORES)
        return false;
    *data = s->image[core];
    *size = s->image_size[core];
    return *data != NULL;
}

size_t link_sim_log_count(struct link *link)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    const struct board_record *records;
    return s ? board_log(s->board, &records) : 0;
}

size_t link_sim_log(struct link *link, size_t from, struct link_sim_record *out, size_t most)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    const struct board_record *records = NULL;
    size_t count = s ? board_log(s->board, &records) : 0;
    size_t n = 0;
    for (size_t i = from; i < count && n < most; i++, n++)
        out[n] = (struct link_sim_record){
            .core = records[i].core,
            .halted = records[i].halted,
            .tick = records[i].tick,
            .ns = s->zero_ns + ticks_to_ns(s, records[i].tick),
            .pc = records[i].pc,
            .dfsr = records[i].dfsr,
        };
    return n;
}

size_t link_sim_bus_log(struct link *link, size_t from, struct link_sim_bus_record *out, size_t most)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    const struct board_bus_record *records = NULL;
    size_t count = s ? board_bus_log(s->board, &records) : 0;
    size_t n = 0;
    for (size_t i = from; i < count && n < most; i++, n++)
        out[n] = (struct link_sim_bus_record){
            .tick = records[i].tick,
            .ap = records[i].ap,
            .address = records[i].address,
            .value = records[i].value,
            .size = records[i].size,
            .write = records[i].write,
        };
    return n;
}

bool link_sim_pc_count(struct link *link, unsigned core, uint32_t *base, const uint64_t **counts, size_t *n)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    if (!s || core >= LINK_SIM_CORES)
        return false;
    *counts = board_pc_count(s->board, core, n);
    *base = BOARD_FLASH_BASE;
    return *counts != NULL && *n != 0;
}

struct board *link_sim_board(struct link *link)
{
    const struct sim_link *s = link_backend_ctx(link, &sim_backend);
    return s ? s->board : NULL;
}
