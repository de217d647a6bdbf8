/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version 17 data packet: profiler sheet 3.1 (header), 3.5 and 3.6 (samples). The offsets are those of
 * the sheet's table. Reads bytes only; the packet's size was checked before each part is read.
 */
#include "base/bytes.h"
#include "prof/packet_parts.h"

enum {
    V17_INSTRUCTIONS = 8,
    V17_MIN_SP = 100,
    V17_CLOCK_FREQ = 164,
    V17_SEQ = 168,
    V17_PERF_COUNTERS = 208,
    V17_PERF_CONFIG = 224,
    V17_THREADS = 16,
    V17_PERF_COUNT = 4,
};

static void read_header(const uint8_t *p, struct profile_header *h)
{
    h->header_size = p[2];
    h->sample_count = p[3];
    h->thread_count = V17_THREADS;
    h->perf_counter_count = V17_PERF_COUNT;
    h->clocks = load_be32(p + 4);
    for (size_t i = 0; i < V17_THREADS; i++) {
        h->instruction_count[i] = load_be32(p + V17_INSTRUCTIONS + 4 * i);
        h->min_sp[i] = load_be32(p + V17_MIN_SP + 4 * i);
    }
    h->profile_instructions = load_be32(p + 72);
    h->enabled = load_be16(p + 76);
    h->hrt = load_be16(p + 78);
    h->high = load_be16(p + 80);
    h->profiler_thread = load_be16(p + 82);
    h->heap_free = load_be32(p + 84);
    h->heap_low_water = load_be32(p + 88);
    h->netpage_free = load_be32(p + 92);
    h->netpage_low_water = load_be32(p + 96);
    h->clock_hz = load_be32(p + V17_CLOCK_FREQ);
    h->seq = load_be32(p + V17_SEQ);
    h->timing_sequence = load_be32(p + 172);
    h->timing_interval = load_be32(p + 176);
    h->timing_worst_time = load_be32(p + 180);
    h->timing_function = load_be32(p + 184);
    h->timing_average = load_be32(p + 188);
    h->timing_count = load_be32(p + 192);
    h->extheap_free = load_be32(p + 196);
    h->extheap_low_water = load_be32(p + 200);
    h->cpu_id = load_be32(p + 204);
    for (size_t i = 0; i < V17_PERF_COUNT; i++) {
        h->perf_counters[i] = load_be32(p + V17_PERF_COUNTERS + 4 * i);
        h->perf_config[i] = p[V17_PERF_CONFIG + i];
    }
    h->ddr_hz = load_be32(p + 228);
    h->extnetpage_free = load_be32(p + 232);
    h->extnetpage_low_water = load_be32(p + 236);
    h->dsr_max_latency = load_be32(p + 240);
    h->dsr_ave_latency = load_be32(p + 244);
    h->dsr_count = load_be32(p + 248);
}

static void read_sample(const uint8_t *p, struct profile_sample *s)
{
    uint8_t thread = p[23];

    *s = (struct profile_sample){
        .pc = load_be32(p),
        .a5 = load_be32(p + 4),
        .parent = load_be32(p + 8),
        .latency = load_be32(p + 12),
        .active = load_be16(p + 16),
        .d_blocked = load_be16(p + 18),
        .i_blocked = load_be16(p + 20),
        .cond_codes = p[22],
        .thread = thread & 0x0f, /* 16 thread slots: every value is one of them */
        .self_d_blocked = (thread & 0x10) != 0,
        .self_i_blocked = (thread & 0x20) != 0,
        .btb_status = thread >> 6,
    };
}

void packet_decode_v17(const uint8_t *data, size_t size, struct prof_scratch *scratch,
                       struct prof_decoded *out)
{
    size_t header_size = data[2];
    size_t count = data[3];

    if (header_size < PROF_V17_HEADER) { /* the layout is fixed; more may follow, less may not */
        packet_reject(out, "header-size", 17, (uint32_t)header_size, size);
        return;
    }
    if (header_size > size) {
        packet_reject(out, "truncated", 17, (uint32_t)header_size, size);
        return;
    }
    if (!packet_check_samples(out, 17, header_size, count, PROF_V17_SAMPLE, size, load_be32(data + V17_SEQ)))
        return;
    struct profile_packet *packet = &out->data;
    packet->layout = PROFILE_V17;
    read_header(data, &packet->header);
    for (size_t i = 0; i < count; i++)
        read_sample(data + header_size + i * PROF_V17_SAMPLE, &scratch->samples[i]);
    packet->samples = scratch->samples;
    packet->sample_count = count;
}
