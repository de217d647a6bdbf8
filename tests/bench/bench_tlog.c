/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: how fast full batches of 60-byte texts are decoded, beside memcpy of the same bytes; and how
 * long the firmware waits for its buffer, from owner 1 to owner 0, on mapped memory. Reports, asserts
 * nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "link/shm.h"
#include "tlog/consumer.h"

#define CAPACITY 4112u
#define TEXT     60u
#define ROUNDS   200000u
#define POLLS    20001u

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static uint32_t fill(uint8_t *buffer)
{
    uint32_t at = TLOG_HEADER_SIZE, records = 0;
    while (at + TLOG_RECORD_HEADER + TEXT + 1 <= CAPACITY) {
        store_le16(buffer + at, TLOG_RECORD_HEADER + TEXT + 1);
        buffer[at + 2] = 3;
        store_le32(buffer + at + 4, records);
        store_le32(buffer + at + 8, records++);
        memset(buffer + at + TLOG_RECORD_HEADER, 'x', TEXT);
        at += TLOG_RECORD_HEADER + TEXT + 1;
    }
    store_le32(buffer, at);
    store_le32(buffer + TLOG_OFF_BUFFER_SIZE, CAPACITY);
    store_le32(buffer + TLOG_OFF_MAGIC, TLOG_MAGIC);
    buffer[TLOG_OFF_OWNER] = 1;
    return records;
}

static void on_record(void *ctx, const struct tlog_record *record)
{
    uint64_t *sum = ctx;
    *sum += record->text_size + record->sequence;
}

static void bench_decode(void)
{
    uint8_t buffer[CAPACITY] = {0};
    static uint8_t copy[CAPACITY];
    uint64_t sum = 0;
    const struct tlog_callbacks callbacks = {&sum, on_record, NULL};
    uint32_t records = fill(buffer);
    int64_t start = now_ns();
    for (uint32_t i = 0; i < ROUNDS; i++)
        tlog_decode_batch(buffer, CAPACITY, TLOG_STAGING_DEFAULT, &callbacks);
    int64_t decode = now_ns() - start;
    start = now_ns();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        memcpy(copy, buffer, CAPACITY);
        __asm__ volatile("" : : "r"(copy) : "memory");
    }
    int64_t copying = now_ns() - start;
    printf("decode: %.1f million records/s (target 5), %.2f times memcpy's time (checksum %" PRIu64 ")\n",
           (double)records * ROUNDS * 1e3 / (double)decode, (double)decode / (double)copying, sum);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Called right after the owner byte was given back, before anything is decoded. */
static void on_given_back(void *ctx, const uint8_t *data, size_t size, int64_t host_ns)
{
    int64_t *when = ctx;
    (void)data;
    (void)size;
    (void)host_ns;
    *when = now_ns();
}

static int bench_shm(void)
{
    char path[] = "bench-tlog-XXXXXX", spec[64];
    uint8_t buffer[CAPACITY] = {0};
    static int64_t times[POLLS];
    int fd = mkstemp(path);
    fill(buffer);
    if (fd < 0 || pwrite(fd, buffer, CAPACITY, 0) != CAPACITY)
        return 1;
    snprintf(spec, sizeof(spec), "shm:%s", path);
    struct host_clock *clock = host_clock_new_real();
    struct event_bus *bus = event_bus_new();
    struct link *link = clock ? link_shm_open(spec, clock, NULL) : NULL;
    int64_t given_back = 0;
    struct tlog_consumer_options options = {
        .stream = "tlog", .capacity = CAPACITY, .raw = on_given_back, .raw_ctx = &given_back};
    struct tlog_consumer *consumer = bus ? tlog_consumer_new(&options, bus, NULL) : NULL;
    int bad = !link || !consumer;
    for (uint32_t i = 0; i < POLLS && !bad; i++) {
        bool took = false;
        bad |= link_write8(link, 0, TLOG_OFF_OWNER, 1, NULL) != CORRAL_OK;
        int64_t start = now_ns();
        bad |= tlog_consumer_poll(consumer, link, &took, NULL) != CORRAL_OK || !took;
        times[i] = given_back - start;
    }
    qsort(times, POLLS, sizeof(times[0]), compare);
    const size_t median = POLLS / 2, late = POLLS - POLLS / 100;
    if (!bad)
        printf("shm: from the look at the owner to giving it back, full batch: median %.1f us, 99 %% %.1f us "
               "(target below 5)\n",
               (double)times[median] / 1e3, (double)times[late] / 1e3);
    tlog_consumer_free(consumer);
    link_close(link);
    event_bus_free(bus, NULL);
    host_clock_free(clock);
    close(fd);
    unlink(path);
    return bad;
}

int main(void)
{
    bench_decode();
    return bench_shm();
}
