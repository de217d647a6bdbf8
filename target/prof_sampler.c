/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile sampler: version 17 data packets, byte by byte in network order. Profiler sheet 3.1, 3.5, 3.6.
 * Freestanding: it must not call a library, allocate, or loop over more than one sample in prof_sampler_add.
 */
#include "target/prof_sampler.h"

#define PROF_MAGIC 0x3EB1u

/* Header, byte offsets. */
#define OFF_MAGIC           0u
#define OFF_HEADER_SIZE     2u
#define OFF_SAMPLE_COUNT    3u
#define OFF_CLOCKS          4u
#define OFF_INSTRUCTIONS    8u
#define OFF_ENABLED         76u
#define OFF_PROFILER_THREAD 82u
#define OFF_CLOCK_FREQ      164u
#define OFF_SEQ_NUM         168u
#define OFF_CPU_ID          204u

static void put_be16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put_be32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

bool prof_sampler_init(struct prof_sampler *s, const struct prof_sampler_config *config)
{
    if (!config->send || config->per_packet > PROF_SAMPLER_MAX)
        return false;
    s->send = config->send;
    s->ctx = config->ctx;
    s->sequence = 0;
    s->count = 0;
    s->per_packet = config->per_packet ? config->per_packet : (uint8_t)PROF_SAMPLER_MAX;
    s->samples_taken = 0;
    s->samples_sent = 0;
    s->packets_sent = 0;
    for (uint32_t i = 0; i < PROF_SAMPLER_PACKET; i++)
        s->packet[i] = 0;
    put_be16(s->packet + OFF_MAGIC, PROF_MAGIC);
    s->packet[OFF_HEADER_SIZE] = PROF_SAMPLER_HEADER;
    put_be16(s->packet + OFF_ENABLED, config->enabled);
    put_be16(s->packet + OFF_PROFILER_THREAD, config->profiler_thread);
    put_be32(s->packet + OFF_CLOCK_FREQ, config->clock_hz);
    put_be32(s->packet + OFF_CPU_ID, config->cpu_id);
    return true;
}

void prof_sampler_set_instructions(struct prof_sampler *s, unsigned thread, uint32_t count)
{
    if (thread < PROF_SAMPLER_THREADS)
        put_be32(s->packet + OFF_INSTRUCTIONS + 4 * thread, count);
}

void prof_sampler_flush(struct prof_sampler *s, uint32_t clocks)
{
    uint32_t count = s->count;
    if (count == 0)
        return;
    s->packet[OFF_SAMPLE_COUNT] = (uint8_t)count;
    put_be32(s->packet + OFF_CLOCKS, clocks);
    put_be32(s->packet + OFF_SEQ_NUM, s->sequence++);
    s->count = 0;
    if (s->send(s->ctx, s->packet, PROF_SAMPLER_HEADER + count * PROF_SAMPLER_SAMPLE)) {
        s->samples_sent += count;
        s->packets_sent++;
    }
}

void prof_sampler_add(struct prof_sampler *s, const struct prof_sampler_sample *sample, uint32_t clocks)
{
    uint8_t *to = s->packet + PROF_SAMPLER_HEADER + s->count * PROF_SAMPLER_SAMPLE;
    put_be32(to, sample->pc);
    put_be32(to + 4, sample->link);
    put_be32(to + 8, sample->parent);
    put_be32(to + 12, sample->latency);
    put_be16(to + 16, sample->active);
    put_be16(to + 18, sample->d_blocked);
    put_be16(to + 20, sample->i_blocked);
    to[22] = sample->cond_codes;
    to[23] = sample->thread;
    s->samples_taken++;
    s->count++;
    if (s->count >= s->per_packet)
        prof_sampler_flush(s, clocks);
}
