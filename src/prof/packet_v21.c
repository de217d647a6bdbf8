/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two layouts that call themselves version 21, told apart by header_size alone: 128 is Ubicom's (profiler
 * sheet 3.3), 132 the NSS port's (sheet 7). Their samples are alike (3.5). Reads bytes only; guesses nothing.
 */
#include "base/bytes.h"
#include "prof/packet_parts.h"

#define V21_PERF_COUNT 8

static void read_v21_header(const uint8_t *p, struct profile_header *h)
{
    h->clocks = load_be32(p + 4);
    for (size_t i = 0; i < PROF_V21_THREADS; i++)
        h->instruction_count[i] = load_be32(p + 8 + 4 * i);
    h->profile_instructions = load_be32(p + 56);
    h->enabled = load_be16(p + 60);
    h->hrt = load_be16(p + 62);
    h->high = load_be16(p + 64);
    h->profiler_thread = load_be16(p + 66);
    h->clock_hz = load_be32(p + 68);
    h->seq = load_be32(p + 72);
    h->cpu_id = load_be32(p + 76);
    h->ddr_hz = load_be32(p + 80);
    for (size_t i = 0; i < V21_PERF_COUNT; i++) {
        h->perf_counters[i] = load_be32(p + 84 + 4 * i);
        h->perf_config[i] = p[116 + i];
    }
    h->perf_counter_count = V21_PERF_COUNT;
    h->sample_stack_words = load_be32(p + 124);
}

static void read_nss_header(const uint8_t *p, struct profile_header *h)
{
    h->stat_select[0] = p[4];
    h->stat_select[1] = p[5];
    h->sample_stack_words = p[7];
    h->seq = load_be32(p + 8);
    h->profile_instructions = load_be32(p + 12);
    h->cpu_id = load_be32(p + 20);
    h->clock_hz = load_be32(p + 24);
    h->ddr_hz = load_be32(p + 28);
    h->d_blocked = load_be16(p + 32);
    h->i_blocked = load_be16(p + 34);
    h->high = load_be16(p + 36);
    h->enabled = load_be16(p + 38);
    h->hrt = load_be16(p + 40);
    h->profiler_thread = p[42];
    h->sample_sets = p[43];
    h->sets_map = load_be32(p + 44);
    h->clocks = load_be32(p + 48);
    for (size_t i = 0; i < PROF_V21_THREADS; i++)
        h->instruction_count[i] = load_be32(p + 52 + 4 * i);
    for (size_t i = 0; i < V21_PERF_COUNT; i++)
        h->stats[i] = load_be32(p + 100 + 4 * i);
}

static void read_sample(const uint8_t *p, size_t words, struct profile_sample *s)
{
    uint8_t thread = p[15];

    *s = (struct profile_sample){
        .pc = load_be32(p),
        .pid = load_be32(p + 4),
        .active = load_be16(p + 8),
        .d_blocked = load_be16(p + 10),
        .i_blocked = load_be16(p + 12),
        .cond_codes = p[14],
        .thread = thread & 0x0f,
        .self_d_blocked = (thread & 0x10) != 0,
        .self_i_blocked = (thread & 0x20) != 0,
        .btb_status = thread >> 6,
        .a_reg = load_be32(p + 16),
        .parent_count = (uint8_t)words,
    };
    for (size_t i = 0; i < words; i++)
        s->parents[i] = load_be32(p + PROF_V21_SAMPLE + 4 * i);
}

void packet_decode_v21(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                       struct prof_decoded *out)
{
    size_t header_size = data[2];
    size_t count = data[3];
    bool nss = header_size == PROF_NSS_HEADER;

    if (header_size != PROF_V21_HEADER && !nss) {
        packet_reject(out, "header-size", 21, (uint32_t)header_size, size);
        return;
    }
    if (header_size > size) {
        packet_reject(out, "truncated", 21, (uint32_t)header_size, size);
        return;
    }
    struct profile_header header = {0};
    if (nss)
        read_nss_header(data, &header);
    else
        read_v21_header(data, &header);
    header.header_size = (uint8_t)header_size;
    header.sample_count = (uint8_t)count;
    header.thread_count = PROF_V21_THREADS;
    uint32_t words = header.sample_stack_words;
    if (nss && words == 0) /* an old driver stores the count in the wrong byte order (sheet 7) */
        words = PROF_NSS_STACK_WORDS;
    if (words > PROFILE_MAX_STACK_WORDS) {
        packet_reject(out, "sample-size", 21, words, size);
        return;
    }
    size_t sample_size = PROF_V21_SAMPLE + 4 * (size_t)words;
    if (!packet_check_samples(out, 21, header_size, count, sample_size, size, header.seq))
        return;
    struct profile_packet *packet = &out->data;
    packet->layout = nss ? PROFILE_NSS : PROFILE_V21;
    packet->header = header;
    packet->samples = scratch->samples;
    for (size_t i = 0; i < count; i++) {
        struct profile_sample *s = &scratch->samples[packet->sample_count];
        read_sample(data + header_size + i * sample_size, words, s);
        if (s->thread < PROF_V21_THREADS)
            packet->sample_count++;
        else /* there is no such thread: this sample is refused, the packet is not */
            packet->bad_samples++;
    }
}
