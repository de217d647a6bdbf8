/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC sampling over the debug link (pcsr.h). ARMv7-M C1.8.4: DWT_PCSR reads as zero where it is not
 * implemented, and as all ones where it cannot tell (debug state, or not permitted). It must not halt a core,
 * and must not believe that a register that answers once always does.
 */
#include "prof/pcsr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/packet.h"

#define DEMCR        0xE000EDFCu
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL     0xE0001000u
#define DWT_CYCCNT   0xE0001004u
#define DWT_NOCYCCNT (1u << 25)
#define DWT_PCSR     0xE000101Cu

#define PCSR_NOT_KNOWN 0xFFFFFFFFu
#define PROBES         16
#define PROBE_PAUSE_NS (200 * NS_PER_US)
#define THREAD         0
#define PER_PACKET     PROF_V17_MAX_COUNT
#define FIRST_STATE    UINT64_C(0x9E3779B97F4A7C15)

struct sampled_core {
    struct core *core;
    bool usable;
    bool trace_was_off; /* TRCENA was ours to set */
    bool counts_cycles;
    char source[80];
    uint32_t seq;
    size_t count;
    struct profile_sample samples[PER_PACKET];
};

struct prof_pcsr {
    struct prof_streams *streams;
    void (*raw)(void *ctx, const char *source, const uint8_t *data, size_t size, int64_t host_ns);
    void *ctx;
    uint64_t state; /* of the chance */
    char note[320];
    size_t count;
    struct sampled_core cores[EVENT_MAX_CORES];
};

/* xorshift64*: spread enough for intervals. */
static bool by_chance(struct prof_pcsr *p)
{
    p->state ^= p->state >> 12;
    p->state ^= p->state << 25;
    p->state ^= p->state >> 27;
    return (p->state * UINT64_C(0x2545F4914F6CDD1D)) >> 63 != 0;
}

static enum corral_err read_word(const struct sampled_core *c, uint32_t address, uint32_t *value,
                                 struct diag *d)
{
    return link_read32(core_link(c->core), core_ap(c->core), address, value, d);
}

static enum corral_err write_word(const struct sampled_core *c, uint32_t address, uint32_t value,
                                  struct diag *d)
{
    return link_write32(core_link(c->core), core_ap(c->core), address, value, d);
}

static enum corral_err enable_trace(struct sampled_core *c, struct diag *d)
{
    uint32_t demcr;
    enum corral_err err = read_word(c, DEMCR, &demcr, d);

    if (err != CORRAL_OK || (demcr & DEMCR_TRCENA))
        return err;
    err = write_word(c, DEMCR, demcr | DEMCR_TRCENA, d);
    c->trace_was_off = err == CORRAL_OK;
    return err;
}

/* Why the register cannot be used, or NULL when it can. A core that is halted now may run later: it has one.
 */
static enum corral_err find_register(struct sampled_core *c, const char **why, struct diag *d)
{
    struct host_clock *clock = link_clock(core_link(c->core));
    struct core_status status;
    uint32_t ctrl, pc, zero = 0, unknown = 0;
    enum corral_err err = read_word(c, DWT_CTRL, &ctrl, d);

    if (err != CORRAL_OK)
        return err;
    c->counts_cycles = !(ctrl & DWT_NOCYCCNT);
    for (int i = 0; i < PROBES && err == CORRAL_OK; i++) {
        err = read_word(c, DWT_PCSR, &pc, d);
        zero += pc == 0;
        unknown += pc == PCSR_NOT_KNOWN;
        host_clock_sleep(clock, PROBE_PAUSE_NS);
    }
    if (err == CORRAL_OK && unknown == PROBES)
        err = core_peek_status(c->core, &status, d);
    if (err != CORRAL_OK)
        return err;
    *why = NULL;
    if (zero == PROBES)
        *why = ctrl == 0 ? "has no DWT" : "has no PC sample register (it reads as zero)";
    else if (unknown == PROBES && status.state == CORE_RUNNING)
        *why = "does not show its pc (it reads as all ones: not permitted)";
    c->usable = *why == NULL;
    return CORRAL_OK;
}

static void note(struct prof_pcsr *p, const struct sampled_core *c, const char *why)
{
    size_t used = strlen(p->note);

    snprintf(p->note + used, sizeof(p->note) - used, "%s%s %s", used ? "; " : "", core_name(c->core), why);
}

static enum corral_err open_core(struct prof_pcsr *p, struct sampled_core *c, struct core *core,
                                 struct diag *d)
{
    const char *why = NULL;

    c->core = core;
    snprintf(c->source, sizeof(c->source), "pcsr:%s", core_name(core));
    enum corral_err err = enable_trace(c, d);
    if (err == CORRAL_OK)
        err = find_register(c, &why, d);
    if (err == CORRAL_OK && why)
        note(p, c, why);
    return err;
}

struct prof_pcsr *prof_pcsr_open(const struct prof_pcsr_options *options, struct diag *d)
{
    struct prof_pcsr *p = calloc(1, sizeof(*p));
    enum corral_err err = CORRAL_OK;
    bool any = false;

    if (!p) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    p->streams = options->streams;
    p->raw = options->raw;
    p->ctx = options->ctx;
    p->state = options->seed ? options->seed : FIRST_STATE;
    if (options->count == 0 || options->count > EVENT_MAX_CORES)
        err = diag_set(d, CORRAL_ERR_USAGE, "there is no core whose pc could be sampled");
    for (size_t i = 0; i < options->count && err == CORRAL_OK; i++) {
        p->count = i + 1;
        err = open_core(p, &p->cores[i], options->cores[i], d);
        any |= p->cores[i].usable;
    }
    if (err == CORRAL_OK && !any) {
        err =
            diag_set(d, CORRAL_ERR_UNSUPPORTED, "the pc cannot be sampled over the debug port: %s", p->note);
        diag_hint(d, "a profile needs firmware with the sampler then (docs/target.md)");
    }
    if (err != CORRAL_OK) {
        prof_pcsr_close(p);
        return NULL;
    }
    return p;
}

static void hand_over(struct prof_pcsr *p, const struct sampled_core *c, const struct profile_packet *packet,
                      int64_t now)
{
    uint8_t bytes[PROF_V17_HEADER + PER_PACKET * PROF_V17_SAMPLE];
    size_t size = p->raw ? prof_packet_write(packet, bytes, sizeof(bytes)) : 0;

    if (size)
        p->raw(p->ctx, c->source, bytes, size, now);
    prof_streams_packet(p->streams, c->source, packet, now);
}

static enum corral_err flush_core(struct prof_pcsr *p, struct sampled_core *c, struct diag *d)
{
    struct profile_packet packet = {.version = 17, .layout = PROFILE_V17, .samples = c->samples};
    uint32_t cycles = 0;
    enum corral_err err = CORRAL_OK;

    if (c->count == 0)
        return CORRAL_OK;
    if (c->counts_cycles)
        err = read_word(c, DWT_CYCCNT, &cycles, d);
    /* The samples stand, whether or not their time is known. */
    packet.sample_count = c->count;
    packet.header = (struct profile_header){
        .header_size = PROF_V17_HEADER,
        .sample_count = (uint8_t)c->count,
        .thread_count = PROFILE_MAX_THREADS,
        .clocks = cycles,
        .enabled = 1u << THREAD,
        .profiler_thread = UINT16_MAX,
        .clock_hz = c->counts_cycles && err == CORRAL_OK ? core_hz(c->core) : 0,
        .seq = c->seq++,
        .perf_counter_count = 4,
    };
    hand_over(p, c, &packet, host_clock_now(link_clock(core_link(c->core))));
    c->count = 0;
    return err;
}

static enum corral_err sample_core(struct prof_pcsr *p, struct sampled_core *c, struct diag *d)
{
    uint32_t pc;
    enum corral_err err = read_word(c, DWT_PCSR, &pc, d);

    if (err != CORRAL_OK)
        return err;
    bool known = pc != PCSR_NOT_KNOWN;
    c->samples[c->count++] = (struct profile_sample){
        .pc = known ? pc & ~1u : 0, .active = known ? 1u << THREAD : 0, .thread = THREAD};
    return c->count == PER_PACKET ? flush_core(p, c, d) : CORRAL_OK;
}

enum corral_err prof_pcsr_poll(struct prof_pcsr *p, struct diag *d)
{
    enum corral_err err = CORRAL_OK;

    if (!by_chance(p))
        return CORRAL_OK;
    for (size_t i = 0; i < p->count && err == CORRAL_OK; i++)
        if (p->cores[i].usable)
            err = sample_core(p, &p->cores[i], d);
    return err;
}

enum corral_err prof_pcsr_flush(struct prof_pcsr *p, struct diag *d)
{
    enum corral_err first = CORRAL_OK;

    for (size_t i = 0; i < p->count; i++) {
        enum corral_err err = flush_core(p, &p->cores[i], first == CORRAL_OK ? d : NULL);
        first = first == CORRAL_OK ? err : first;
    }
    return first;
}

void prof_pcsr_close(struct prof_pcsr *p)
{
    if (!p)
        return;
    prof_pcsr_flush(p, NULL);
    for (size_t i = 0; i < p->count; i++) {
        struct sampled_core *c = &p->cores[i];
        uint32_t demcr;
        if (c->trace_was_off && read_word(c, DEMCR, &demcr, NULL) == CORRAL_OK)
            write_word(c, DEMCR, demcr & ~DEMCR_TRCENA, NULL); /* best effort: the link may be gone */
    }
    free(p);
}

const char *prof_pcsr_note(const struct prof_pcsr *p)
{
    return p->note;
}
