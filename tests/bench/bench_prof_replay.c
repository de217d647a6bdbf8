/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: full profile packets replayed from memory, datagram to sums: samples a second of one core's
 * time, against distinct addresses, and the memory they take; and how long a report takes. Reports, asserts
 * nothing. Arguments: how many million samples a row (default 20).
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "prof/report.h"

#define PACKETS 4096u

struct datagrams {
    uint8_t (*data)[1440];
    size_t size, sequence_at;
    unsigned samples; /* of each */
};

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Bytes that malloc has handed out, mapped ones too. */
static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Half of the samples are in a sixteenth of the addresses, as programs are. */
static uint32_t pick(uint64_t *state, uint32_t addresses)
{
    uint32_t r = next_random(state);
    uint32_t room = r & 1 && addresses >= 16 ? addresses / 16 : addresses;
    return 0x40000000 + 4 * ((r >> 1) % room);
}

static void write_v17(uint8_t *p, uint32_t addresses, uint64_t *state)
{
    store_be16(p, 0x3eb1);
    p[2] = 252;
    p[3] = 49;
    store_be16(p + 76, 0x000f);
    store_be32(p + 164, 250000000);
    for (unsigned i = 0; i < 49; i++) {
        uint8_t *s = p + 252 + 24 * (size_t)i;
        uint32_t pc = pick(state, addresses);
        store_be32(s, pc);
        store_be32(s + 4, pc ^ 0x1000);
        store_be32(s + 8, pc ^ 0x2000);
        store_be16(s + 16, 0x000f);
        s[23] = (uint8_t)(i % 4);
    }
}

static void write_v21(uint8_t *p, uint32_t addresses, uint64_t *state)
{
    store_be16(p, 0x3eb5);
    p[2] = 128;
    p[3] = 36;
    store_be16(p + 60, 0x000f);
    store_be32(p + 68, 250000000);
    store_be32(p + 124, 4);
    for (unsigned i = 0; i < 36; i++) {
        uint8_t *s = p + 128 + 36 * (size_t)i;
        uint32_t pc = pick(state, addresses);
        store_be32(s, pc);
        store_be16(s + 8, 0x000f);
        s[15] = (uint8_t)(i % 4);
        for (unsigned w = 0; w < 5; w++)
            store_be32(s + 16 + 4 * (size_t)w, pc ^ 0x1000 * (w + 1));
    }
}

static struct datagrams make(bool v21, uint32_t addresses)
{
    struct datagrams d = {.data = calloc(PACKETS, sizeof(*d.data)),
                          .size = v21 ? 1424 : 1428,
                          .sequence_at = v21 ? 72 : 168,
                          .samples = v21 ? 36 : 49};
    uint64_t state = 1;
    for (size_t i = 0; d.data && i < PACKETS; i++) {
        if (v21)
            write_v21(d.data[i], addresses, &state);
        else
            write_v17(d.data[i], addresses, &state);
    }
    return d;
}

static void run(bool v21, uint32_t addresses, uint64_t want)
{
    struct datagrams d = make(v21, addresses);
    size_t before = allocated();
    struct prof_analysis *analysis = prof_analysis_new();
    struct prof_streams *streams = prof_streams_new(NULL, analysis);
    uint64_t samples = 0;
    uint32_t sequence = 0;
    if (!d.data || !streams)
        exit(1);
    double start = cpu_seconds();
    for (size_t i = 0; samples < want; i = (i + 1) % PACKETS) {
        store_be32(d.data[i] + d.sequence_at, sequence++);
        prof_streams_datagram(streams, "192.0.2.1:1", d.data[i], d.size, 0);
        samples += d.samples;
    }
    double seconds = cpu_seconds() - start;
    size_t after = allocated();
    struct prof_aggregate_snapshot snapshot;
    if (!prof_aggregate_snapshot(prof_analysis_aggregate(analysis), &snapshot))
        exit(1);
    size_t entries = snapshot.count;
    prof_aggregate_snapshot_free(&snapshot);
    start = cpu_seconds();
    const struct prof_report_options options = {.thread = -1, .hot_limit = 100};
    struct prof_report *report = prof_report_make(streams, analysis, &options, NULL);
    double reported = cpu_seconds() - start;
    printf("%s  %7" PRIu32
           " addresses  %8zu entries  %6.1f M samples/s  %5.1f ns each  %6zu KiB  report %6.1f ms\n",
           v21 ? "v21" : "v17", addresses, entries, (double)samples / seconds / 1e6,
           seconds / (double)samples * 1e9, (after - before) / 1024, reported * 1e3);
    prof_report_free(report);
    prof_streams_free(streams);
    prof_analysis_free(analysis);
    free(d.data);
}

int main(int argc, char **argv)
{
    static const uint32_t addresses[] = {100, 1000, 10000, 100000};
    uint64_t want = (argc > 1 ? strtoull(argv[1], NULL, 10) : 20) * 1000000;
    for (unsigned v21 = 0; v21 < 2; v21++)
        for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
            run(v21 != 0, addresses[i], want);
    return 0;
}
