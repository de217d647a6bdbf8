/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs to packets: the inverse of the reader, for tests, fuzzers and targets that sample through the host.
 * Profiler sheet 3.1, 3.3, 3.5, 4, 5 and 7. What the reader keeps is written as it came; what it does not
 * keep (spare words, trailing bytes, samples and entries that were refused) is zero or absent. Must not write
 * a packet that the reader would read differently: what no packet can say is refused.
 */
#include "base/bytes.h"
#include "prof/packet_parts.h"

static void write_words(struct byte_writer *w, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        byte_writer_be32(w, words[i]);
}

static void write_zeros(struct byte_writer *w, size_t count)
{
    for (size_t i = 0; i < count; i++)
        byte_writer_u8(w, 0);
}

static void begin_data(struct byte_writer *w, const struct profile_packet *packet, size_t header_size)
{
    byte_writer_be16(w, (uint16_t)(PROF_KIND_DATA | packet->version));
    byte_writer_u8(w, (uint8_t)header_size);
    byte_writer_u8(w, (uint8_t)packet->sample_count);
}

static uint8_t thread_byte(const struct profile_sample *s)
{
    return (uint8_t)((s->btb_status & 3u) << 6 | (s->self_i_blocked ? 0x20u : 0) |
                     (s->self_d_blocked ? 0x10u : 0) | (s->thread & 0x0fu));
}

/* --- version 17 -------------------------------------------------------------------------------------------
 */

static void write_v17_header(struct byte_writer *w, const struct profile_header *h)
{
    byte_writer_be32(w, h->clocks);
    write_words(w, h->instruction_count, 16);
    byte_writer_be32(w, h->profile_instructions);
    byte_writer_be16(w, h->enabled);
    byte_writer_be16(w, h->hrt);
    byte_writer_be16(w, h->high);
    byte_writer_be16(w, h->profiler_thread);
    byte_writer_be32(w, h->heap_free);
    byte_writer_be32(w, h->heap_low_water);
    byte_writer_be32(w, h->netpage_free);
    byte_writer_be32(w, h->netpage_low_water);
    write_words(w, h->min_sp, 16);
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
    write_words(w, h->perf_counters, 4);
    byte_writer_bytes(w, h->perf_config, 4);
    byte_writer_be32(w, h->ddr_hz);
    byte_writer_be32(w, h->extnetpage_free);
    byte_writer_be32(w, h->extnetpage_low_water);
    byte_writer_be32(w, h->dsr_max_latency);
    byte_writer_be32(w, h->dsr_ave_latency);
    byte_writer_be32(w, h->dsr_count);
}

static void write_v17(struct byte_writer *w, const struct profile_packet *packet)
{
    size_t header_size = packet->header.header_size;

    if (header_size < PROF_V17_HEADER) /* who builds a packet need not know the layout's size */
        header_size = PROF_V17_HEADER;
    begin_data(w, packet, header_size);
    write_v17_header(w, &packet->header);
    write_zeros(w, header_size - PROF_V17_HEADER);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *s = &packet->samples[i];
        byte_writer_be32(w, s->pc);
        byte_writer_be32(w, s->a5);
        byte_writer_be32(w, s->parent);
        byte_writer_be32(w, s->latency);
        byte_writer_be16(w, s->active);
        byte_writer_be16(w, s->d_blocked);
        byte_writer_be16(w, s->i_blocked);
        byte_writer_u8(w, s->cond_codes);
        byte_writer_u8(w, thread_byte(s));
    }
}

/* --- version 21, Ubicom's and the NSS port's --------------------------------------------------------------
 */

static void write_v21_header(struct byte_writer *w, const struct profile_header *h)
{
    byte_writer_be32(w, h->clocks);
    write_words(w, h->instruction_count, PROF_V21_THREADS);
    byte_writer_be32(w, h->profile_instructions);
    byte_writer_be16(w, h->enabled);
    byte_writer_be16(w, h->hrt);
    byte_writer_be16(w, h->high);
    byte_writer_be16(w, h->profiler_thread);
    byte_writer_be32(w, h->clock_hz);
    byte_writer_be32(w, h->seq);
    byte_writer_be32(w, h->cpu_id);
    byte_writer_be32(w, h->ddr_hz);
    write_words(w, h->perf_counters, PROFILE_MAX_COUNTERS);
    byte_writer_bytes(w, h->perf_config, PROFILE_MAX_COUNTERS);
    byte_writer_be32(w, h->sample_stack_words);
}

static void write_nss_header(struct byte_writer *w, const struct profile_header *h)
{
    byte_writer_u8(w, h->stat_select[0]);
    byte_writer_u8(w, h->stat_select[1]);
    byte_writer_u8(w, 0);
    byte_writer_u8(w, (uint8_t)h->sample_stack_words);
    byte_writer_be32(w, h->seq);
    byte_writer_be32(w, h->profile_instructions);
    byte_writer_be32(w, 0);
    byte_writer_be32(w, h->cpu_id);
    byte_writer_be32(w, h->clock_hz);
    byte_writer_be32(w, h->ddr_hz);
    byte_writer_be16(w, h->d_blocked);
    byte_writer_be16(w, h->i_blocked);
    byte_writer_be16(w, h->high);
    byte_writer_be16(w, h->enabled);
    byte_writer_be16(w, h->hrt);
    byte_writer_u8(w, (uint8_t)h->profiler_thread);
    byte_writer_u8(w, h->sample_sets);
    byte_writer_be32(w, h->sets_map);
    byte_writer_be32(w, h->clocks);
    write_words(w, h->instruction_count, PROF_V21_THREADS);
    write_words(w, h->stats, PROFILE_MAX_COUNTERS);
}

/* A thread that the layout lacks would come back as a refused sample, words beyond W not at all. */
static bool v21_samples_fit(const struct profile_packet *packet, size_t words)
{
    for (size_t i = 0; i < packet->sample_count; i++)
        if (packet->samples[i].thread >= PROF_V21_THREADS || packet->samples[i].parent_count > words)
            return false;
    return true;
}

static bool write_v21(struct byte_writer *w, const struct profile_packet *packet, bool nss)
{
    uint32_t words = packet->header.sample_stack_words;

    if (nss && words == 0)
        words = PROF_NSS_STACK_WORDS;
    if (words > PROFILE_MAX_STACK_WORDS || !v21_samples_fit(packet, words) ||
        (nss && packet->header.profiler_thread > UINT8_MAX))
        return false;
    begin_data(w, packet, nss ? PROF_NSS_HEADER : PROF_V21_HEADER);
    if (nss)
        write_nss_header(w, &packet->header);
    else
        write_v21_header(w, &packet->header);
    for (size_t i = 0; i < packet->sample_count; i++) {
        const struct profile_sample *s = &packet->samples[i];
        byte_writer_be32(w, s->pc);
        byte_writer_be32(w, s->pid);
        byte_writer_be16(w, s->active);
        byte_writer_be16(w, s->d_blocked);
        byte_writer_be16(w, s->i_blocked);
        byte_writer_u8(w, s->cond_codes);
        byte_writer_u8(w, thread_byte(s));
        byte_writer_be32(w, s->a_reg);
        for (size_t k = 0; k < words; k++)
            byte_writer_be32(w, k < s->parent_count ? s->parents[k] : 0);
    }
    return true;
}

size_t prof_packet_write(const struct profile_packet *packet, uint8_t *out, size_t size)
{
    struct byte_writer w = byte_writer_over(out, size);

    if (packet->sample_count > PROF_MAX_SAMPLES)
        return 0;
    if (packet->layout == PROFILE_V17 && packet->version == 17)
        write_v17(&w, packet);
    else if ((packet->layout != PROFILE_V21 && packet->layout != PROFILE_NSS) || packet->version != 21 ||
             !write_v21(&w, packet, packet->layout == PROFILE_NSS))
        return 0;
    return w.failed ? 0 : w.pos;
}

/* --- counters ---------------------------------------------------------------------------------------------
 */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte that the reader shows as \xNN; 0 when `text` begins with none. Text of that form which stands for a
 * printable character was text on the wire, too. */
static uint8_t escaped_byte(const char *text)
{
    if (text[0] != '\\' || text[1] != 'x' || hex_value(text[2]) < 0 || hex_value(text[3]) < 0)
        return 0;
    int value = hex_value(text[2]) << 4 | hex_value(text[3]);
    return value < 0x20 || value >= 0x7f ? (uint8_t)value : 0;
}

/* 20 bytes, padded with NULs; false when the name is longer. */
static bool write_name(struct byte_writer *w, const char *name)
{
    uint8_t bytes[PROF_COUNTER_NAME] = {0};
    size_t used = 0;

    for (; *name; used++) {
        uint8_t byte = escaped_byte(name);
        if (used == sizeof(bytes))
            return false;
        bytes[used] = byte ? byte : (uint8_t)*name;
        name += byte ? 4 : 1;
    }
    byte_writer_bytes(w, bytes, sizeof(bytes));
    return true;
}

size_t prof_counters_write(const struct profile_counters *counters, uint8_t *out, size_t size)
{
    struct byte_writer w = byte_writer_over(out, size);
    size_t ultra = 0;

    if (counters->count > PROF_COUNTERS_MAX || counters->truncated)
        return 0;
    while (ultra < counters->count && !counters->counters[ultra].linux_side)
        ultra++;
    byte_writer_be16(&w, PROF_KIND_COUNTERS);
    byte_writer_be16(&w, (uint16_t)ultra);
    byte_writer_be32(&w, counters->ultra_sample_time);
    byte_writer_be32(&w, (uint32_t)(counters->count - ultra));
    byte_writer_be32(&w, counters->linux_sample_time);
    for (size_t i = 0; i < counters->count; i++) {
        const struct profile_counter *c = &counters->counters[i];
        if (c->linux_side != (i >= ultra) || !write_name(&w, c->name))
            return 0;
        byte_writer_be32(&w, c->value);
    }
    return w.failed ? 0 : w.pos;
}

size_t prof_glued_write(const struct profile_counters *counters, const struct profile_packet *packet,
                        uint8_t *out, size_t size)
{
    size_t first = prof_counters_write(counters, out, size);
    size_t second = first ? prof_packet_write(packet, out + first, size - first) : 0;

    return second ? first + second : 0;
}

/* --- maps -------------------------------------------------------------------------------------------------
 */

/* The entry's second half in *word; false for a size or type that the encoding cannot say. */
static bool map_word(const struct profile_map *m, bool v21, uint16_t *word)
{
    unsigned order = 0;

    if (v21) {
        *word = (uint16_t)(m->type << 12 | (m->pages & 0xfffu)); /* 4096 is written as 0 */
        return m->type < 16 && m->pages >= 1 && m->pages <= 4096;
    }
    if (m->type >= 16) {
        *word = (uint16_t)(m->type << 11 | (m->pages & 0x7ffu));
        return m->type < 32 && m->pages <= 0x7ffu;
    }
    while (order < PROF_MAPS_MAX_ORDER && UINT32_C(1) << order < m->pages)
        order++;
    *word = (uint16_t)(m->type << 11 | order);
    return m->pages == UINT32_C(1) << order;
}

size_t prof_maps_write(const struct profile_maps *maps, uint8_t *out, size_t size)
{
    struct byte_writer w = byte_writer_over(out, size);

    if (maps->page_shift < PROF_MIN_PAGE_SHIFT || maps->page_shift > PROF_MAX_PAGE_SHIFT ||
        maps->count > UINT16_MAX || (maps->last && !maps->v21))
        return 0;
    byte_writer_be16(&w, (uint16_t)(PROF_KIND_MAPS | (maps->last ? 1u : 0u)));
    byte_writer_be16(&w, (uint16_t)maps->count);
    byte_writer_be32(&w, maps->page_shift);
    for (size_t i = 0; i < maps->count; i++) {
        uint16_t word;
        if (!map_word(&maps->entries[i], maps->v21, &word))
            return 0;
        byte_writer_be16(&w, maps->entries[i].start);
        byte_writer_be16(&w, word);
    }
    return w.failed ? 0 : w.pos;
}
