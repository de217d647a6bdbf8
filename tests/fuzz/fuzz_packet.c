/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the profile packet decoder: any bytes, in an allocation of their exact size. What must hold
 * for every input is checked, in the replay of the corpus too.
 */
#include <string.h>

#include "fuzz_target.h"
#include "prof/packet.h"

static void check_reject(const struct profile_reject *reject, size_t size)
{
    static const char *const reasons[] = {"short",     "magic",        "byte-order",   "header-size",
                                          "truncated", "sample-count", "sample-size",  "version",
                                          "map-count", "page-shift",   "counter-count"};
    bool known = false;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        known |= strcmp(reject->reason, reasons[i]) == 0;
    FUZZ_CHECK(known);
    FUZZ_CHECK(reject->size == size);
    FUZZ_CHECK(reject->version >= -1 && reject->version < 32);
}

static size_t write_decoded(const struct prof_decoded *d, uint8_t *out, size_t size)
{
    if (d->kind == PROF_DATA)
        return prof_packet_write(&d->data, out, size);
    return d->kind == PROF_COUNTERS ? prof_counters_write(&d->counters, out, size)
                                    : prof_maps_write(&d->maps, out, size);
}

/* What the reader does not keep (packet.h) may be missing, so the first bytes written are compared with those
 * that come of reading them. The sizes must be those of what was kept. */
static void check_writer(const struct prof_decoded *d, int version, size_t kept)
{
    static struct prof_scratch scratch;
    static uint8_t bytes[PROF_MAX_DATAGRAM], again_bytes[PROF_MAX_DATAGRAM];
    struct prof_decoded again;
    size_t size = write_decoded(d, bytes, sizeof(bytes));

    FUZZ_CHECK(size == kept);
    if (size == 0)
        return;
    FUZZ_CHECK(write_decoded(d, again_bytes, size - 1) == 0);
    prof_packet_decode_after(bytes, size, version, &scratch, &again);
    FUZZ_CHECK(again.kind == d->kind && again.consumed == size);
    FUZZ_CHECK(write_decoded(&again, again_bytes, sizeof(again_bytes)) == size);
    FUZZ_CHECK(memcmp(bytes, again_bytes, size) == 0);
}

static void check_data(const struct prof_decoded *d, const struct prof_scratch *scratch, size_t size)
{
    const struct profile_packet *p = &d->data;
    size_t sample_size = PROF_V17_SAMPLE;

    FUZZ_CHECK(p->samples == scratch->samples);
    if (p->layout == PROFILE_LEGACY) {
        FUZZ_CHECK(p->version >= 5 && p->version <= 16 && p->sample_count == 0 && p->bad_samples == 0);
        FUZZ_CHECK(p->header.header_size <= size && p->header.thread_count >= 1);
        FUZZ_CHECK(p->header.thread_count <= PROFILE_MAX_THREADS && d->seq_known == (p->version >= 7));
        check_writer(d, 0, 0);
        return;
    }
    FUZZ_CHECK(p->version == 17 || p->version == 21);
    if (p->version == 21)
        sample_size = 20 + 4 * (size_t)p->header.sample_stack_words;
    if (p->layout == PROFILE_NSS && p->header.sample_stack_words == 0)
        sample_size = 36;
    FUZZ_CHECK(p->sample_count + p->bad_samples == p->header.sample_count);
    FUZZ_CHECK(p->header.header_size + p->header.sample_count * sample_size + p->trailing == size);
    FUZZ_CHECK(d->seq_known && d->seq == p->header.seq);
    for (size_t i = 0; i < p->sample_count; i++) {
        FUZZ_CHECK(p->samples[i].thread < p->header.thread_count);
        FUZZ_CHECK(p->samples[i].parent_count <= PROFILE_MAX_STACK_WORDS);
    }
    check_writer(d, 0, p->header.header_size + p->sample_count * sample_size);
}

static void check_counters(const struct prof_decoded *d, const struct prof_scratch *scratch, size_t size)
{
    const struct profile_counters *c = &d->counters;

    FUZZ_CHECK(c->counters == scratch->counters);
    FUZZ_CHECK(c->count + c->truncated <= 59);
    FUZZ_CHECK(16 + 24 * c->count <= size);
    FUZZ_CHECK(d->consumed == size || d->consumed == 16 + 24 * c->count);
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->counters[i].name;
        size_t length = strnlen(name, PROFILE_COUNTER_NAME_MAX);
        FUZZ_CHECK(length < PROFILE_COUNTER_NAME_MAX);
        for (size_t k = 0; k < length; k++)
            FUZZ_CHECK(name[k] >= 0x20 && name[k] < 0x7f);
        FUZZ_CHECK(i == 0 || c->counters[i].linux_side >= c->counters[i - 1].linux_side);
    }
    check_writer(d, 0, c->truncated ? 0 : 16 + 24 * c->count);
}

static void check_maps(const struct prof_decoded *d, const struct prof_scratch *scratch, size_t size)
{
    const struct profile_maps *m = &d->maps;

    FUZZ_CHECK(m->entries == scratch->maps);
    FUZZ_CHECK(8 + 4 * (m->count + m->bad_entries) <= size);
    FUZZ_CHECK(m->page_shift >= 10 && m->page_shift <= 20);
    for (size_t i = 0; i < m->count; i++) {
        FUZZ_CHECK(m->entries[i].pages <= 65536);
        FUZZ_CHECK(m->entries[i].type < (m->v21 ? 16 : 32));
    }
    check_writer(d, m->v21 ? 21 : 17, 8 + 4 * m->count);
}

static void check(const struct prof_decoded *d, const struct prof_scratch *scratch, size_t size)
{
    FUZZ_CHECK(d->consumed <= size && (d->consumed == size || d->consumed >= 16));
    switch (d->kind) {
    case PROF_DATA:
        check_data(d, scratch, size);
        break;
    case PROF_COUNTERS:
        check_counters(d, scratch, size);
        break;
    case PROF_MAPS:
        check_maps(d, scratch, size);
        break;
    case PROF_REJECT:
        check_reject(&d->reject, size);
        break;
    default:
        FUZZ_CHECK(false);
    }
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

static uint64_t sample_digest(const struct profile_sample *s)
{
    uint64_t digest = mix(s->pc, s->a5);

    digest = mix(mix(digest, s->parent), s->latency);
    digest = mix(mix(digest, s->pid), s->a_reg);
    digest = mix(mix(digest, s->active), (uint64_t)s->d_blocked << 16 | s->i_blocked);
    digest = mix(digest, (uint64_t)s->cond_codes << 8 | s->thread);
    digest = mix(digest, (uint64_t)s->self_d_blocked << 1 | s->self_i_blocked);
    for (size_t i = 0; i < PROFILE_MAX_STACK_WORDS; i++)
        digest = mix(digest, s->parents[i]);
    return digest;
}

/* Decode everything in the datagram, starting from scratch filled with `filler`; a digest of the results. */
static uint64_t decode_all(const uint8_t *data, size_t size, int version, bool legacy, int filler)
{
    static struct prof_scratch scratch;
    uint64_t digest = 0;
    size_t at = 0;

    memset(&scratch, filler, sizeof(scratch));
    do {
        struct prof_decoded d;
        memset(&d, filler, sizeof(d));
        (legacy ? prof_packet_decode_legacy : prof_packet_decode_after)(data + at, size - at, version,
                                                                        &scratch, &d);
        check(&d, &scratch, size - at);
        for (size_t i = 0; d.kind == PROF_DATA && i < d.data.sample_count; i++)
            digest = mix(digest, sample_digest(&d.data.samples[i]));
        for (size_t i = 0; d.kind == PROF_COUNTERS && i < d.counters.count; i++)
            digest = mix(digest, d.counters.counters[i].value);
        for (size_t i = 0; d.kind == PROF_MAPS && i < d.maps.count; i++)
            digest = mix(digest, (uint64_t)d.maps.entries[i].start << 32 | d.maps.entries[i].pages);
        digest = mix(mix(digest, d.kind), d.consumed);
        at += d.consumed;
    } while (at < size);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* What is left over in the caller's memory must not show through. */
    FUZZ_CHECK(decode_all(data, size, 0, false, 0x00) == decode_all(data, size, 0, false, 0xff));
    FUZZ_CHECK(decode_all(data, size, 21, true, 0x00) == decode_all(data, size, 21, true, 0xff));
    return 0;
}
