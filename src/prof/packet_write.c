/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes version 17 data packets, for tests and for targets that sample through the host. Profiler sheet 3.1
 * and 3.5; every field of the layout is written, so a decoded packet comes back byte for byte but for header
 * bytes past 252, trailing bytes and the undefined bits 7..6 of the thread byte.
 */
#include "base/bytes.h"
#include "prof/packet_parts.h"

static void write_header(struct byte_writer *w, const struct profile_header *h, size_t count)
{
    byte_writer_be16(w, PROF_KIND_DATA | 17);
    byte_writer_u8(w, PROF_V17_HEADER);
    byte_writer_u8(w, (uint8_t)count);
    byte_writer_be32(w, h->clocks);
    for (size_t i = 0; i < 16; i++)
        byte_writer_be32(w, h->instruction_count[i]);
    byte_writer_be32(w, h->profile_instructions);
    byte_writer_be16(w, h->enabled);
    byte_writer_be16(w, h->hrt);
    byte_writer_be16(w, h->high);
    byte_writer_be16(w, h->profiler_thread);
    byte_writer_be32(w, h->heap_free);
    byte_writer_be32(w, h->heap_low_water);
    byte_writer_be32(w, h->netpage_free);
    byte_writer_be32(w, h->netpage_low_water);
    for (size_t i = 0; i < 16; i++)
        byte_writer_be32(w, h->min_sp[i]);
    byte_writer_be32(w, h->clock_hz);
    byte_writer_be32(w, h->seq);
    byte_writer_be32(w, h->timing_sequence);
    byte_writer_be32(w, h->timing_interval);
    byte_writer_be32(w, h->timing_worst_time);
    byte_writer_be32(w, h->timing_function);
    byte_writer_be32(w, h->timing_average);
    byte_writer_be32(w, h->timing_count);
    byte_writer_be32(w, h->extheap_free);
    byte_writer_be32(w, h->extheap_low_water);
    byte_writer_be32(w, h->cpu_id);
    for (size_t i = 0; i < 4; i++)
        byte_writer_be32(w, h->perf_counters[i]);
    for (size_t i = 0; i < 4; i++)
        byte_writer_u8(w, h->perf_config[i]);
    byte_writer_be32(w, h->ddr_hz);
    byte_writer_be32(w, h->extnetpage_free);
    byte_writer_be32(w, h->extnetpage_low_water);
    byte_writer_be32(w, h->dsr_max_latency);
    byte_writer_be32(w, h->dsr_ave_latency);
    byte_writer_be32(w, h->dsr_count);
}

static void write_sample(struct byte_writer *w, const struct profile_sample *s)
{
    unsigned thread = (s->thread & 0x0fu) | (s->self_d_blocked ? 0x10u : 0) | (s->self_i_blocked ? 0x20u : 0);

    byte_writer_be32(w, s->pc);
    byte_writer_be32(w, s->a5);
    byte_writer_be32(w, s->parent);
    byte_writer_be32(w, s->latency);
    byte_writer_be16(w, s->active);
    byte_writer_be16(w, s->d_blocked);
    byte_writer_be16(w, s->i_blocked);
    byte_writer_u8(w, s->cond_codes);
    byte_writer_u8(w, (uint8_t)thread);
}

size_t prof_packet_write(const struct profile_packet *packet, uint8_t *out, size_t size)
{
    if (packet->layout != PROFILE_V17 || packet->version != 17 || packet->sample_count > PROF_MAX_SAMPLES)
        return 0;
    struct byte_writer w = byte_writer_over(out, size);
    write_header(&w, &packet->header, packet->sample_count);
    for (size_t i = 0; i < packet->sample_count; i++)
        write_sample(&w, &packet->samples[i]);
    return w.failed ? 0 : w.pos;
}
