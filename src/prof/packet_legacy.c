/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers of versions 5 to 16, for whoever asks for them: profiler sheet 3.2. The number of threads comes out
 * of header_size, fields are there as far as it reaches. Must not read samples: their layout in these
 * versions is a guess.
 */
#include "base/bytes.h"
#include "prof/packet_parts.h"

/* header_size = fixed + 8 a thread; 0 = no such version. */
static size_t fixed_size(int version)
{
    static const uint8_t fixed[] = {[5] = 36,   [6] = 40,   [7] = 44,   [8] = 68,   [9] = 76,   [10] = 76,
                                    [11] = 100, [12] = 112, [13] = 112, [14] = 112, [15] = 124, [16] = 124};

    return version >= 0 && (size_t)version < sizeof(fixed) ? fixed[version] : 0;
}

/* The version's own thread count; 0 when the size is none of this version's. */
static size_t thread_count(int version, size_t header_size)
{
    size_t fixed = fixed_size(version);
    size_t threads = header_size > fixed ? (header_size - fixed) / 8 : 0;

    if (threads * 8 + fixed != header_size || threads > PROFILE_MAX_THREADS)
        return 0;
    return version == 16 && threads != 16 ? 0 : threads;
}

/* The reader ends where the header does, so that what a version has not reads as 0. */
static void read_header(struct byte_reader *r, size_t threads, struct profile_header *h)
{
    h->clocks = byte_reader_be32(r);
    for (size_t i = 0; i < threads; i++)
        h->instruction_count[i] = byte_reader_be32(r);
    h->profile_instructions = byte_reader_be32(r);
    h->enabled = byte_reader_be16(r);
    h->hrt = byte_reader_be16(r);
    h->high = byte_reader_be16(r);
    h->profiler_thread = byte_reader_be16(r);
    h->heap_free = byte_reader_be32(r);
    h->heap_low_water = byte_reader_be32(r);
    h->netpage_free = byte_reader_be32(r);
    h->netpage_low_water = byte_reader_be32(r);
    for (size_t i = 0; i < threads; i++)
        h->min_sp[i] = byte_reader_be32(r);
    h->clock_hz = byte_reader_be32(r);
    h->seq = byte_reader_be32(r);
    h->timing_sequence = byte_reader_be32(r);
    h->timing_interval = byte_reader_be32(r);
    h->timing_worst_time = byte_reader_be32(r);
    h->timing_function = byte_reader_be32(r);
    h->timing_average = byte_reader_be32(r);
    h->timing_count = byte_reader_be32(r);
    h->extheap_free = byte_reader_be32(r);
    h->extheap_low_water = byte_reader_be32(r);
    h->cpu_id = byte_reader_be32(r);
    for (size_t i = 0; i < 4; i++)
        h->perf_counters[i] = byte_reader_be32(r);
    for (size_t i = 0; i < 4; i++)
        h->perf_config[i] = byte_reader_u8(r);
    h->ddr_hz = byte_reader_be32(r);
    h->extnetpage_free = byte_reader_be32(r);
    h->extnetpage_low_water = byte_reader_be32(r);
    h->dsr_max_latency = byte_reader_be32(r);
    h->dsr_ave_latency = byte_reader_be32(r);
    h->dsr_count = byte_reader_be32(r);
}

bool packet_is_legacy(int version)
{
    return fixed_size(version) != 0;
}

void packet_decode_legacy(const uint8_t *data, size_t size, int version, struct prof_scratch *scratch,
                          struct prof_decoded *out)
{
    size_t header_size = data[2];
    size_t threads = thread_count(version, header_size);

    if (threads == 0) {
        packet_reject(out, "header-size", version, (uint32_t)header_size, size);
        return;
    }
    if (header_size > size) {
        packet_reject(out, "truncated", version, (uint32_t)header_size, size);
        return;
    }
    struct byte_reader r = byte_reader_over(data + 4, header_size - 4);
    out->kind = PROF_DATA;
    out->data = (struct profile_packet){
        .version = (uint8_t)version, .layout = PROFILE_LEGACY, .samples = scratch->samples};
    struct profile_header *h = &out->data.header;
    h->header_size = (uint8_t)header_size;
    h->sample_count = data[3];
    h->thread_count = (uint8_t)threads;
    h->perf_counter_count = version >= 11 ? 4 : 0;
    read_header(&r, threads, h);
    out->seq_known = version >= 7;
    out->seq = h->seq;
}
