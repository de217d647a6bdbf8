/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile sampler: packets byte for byte as the profiler sheet gives them (3.1, 3.5, 3.6), and the
 * counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "target/prof_sampler.h"

struct wire {
    uint8_t last[2048];
    uint32_t last_size;
    uint32_t packets;
    bool refuse;
};

static bool wire_send(void *ctx, const uint8_t *packet, uint32_t size)
{
    struct wire *w = ctx;
    assert_true(size <= sizeof(w->last));
    memcpy(w->last, packet, size);
    w->last_size = size;
    w->packets++;
    return !w->refuse;
}

static struct prof_sampler_config config_for(struct wire *w)
{
    return (struct prof_sampler_config){
        .send = wire_send, .ctx = w, .clock_hz = 100000000, .cpu_id = 0x00070012, .enabled = 0x8001};
}

static const struct prof_sampler_sample first = {
    .pc = 0x08000123,
    .link = 0x080004A5,
    .parent = 0x0800BEEF,
    .latency = 0x01020304,
    .active = 0x8001,
    .d_blocked = 0x0102,
    .i_blocked = 0x0304,
    .cond_codes = 0x6A,
    .thread = 0x2F,
};

static void a_packet_of_one_sample_is_276_bytes(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    struct prof_sampler_config config = config_for(&w);
    config.profiler_thread = 0x0203;
    assert_true(prof_sampler_init(&s, &config));
    prof_sampler_set_instructions(&s, 0, 0xA1A2A3A4);
    prof_sampler_set_instructions(&s, 15, 0xB1B2B3B4);
    prof_sampler_set_instructions(&s, 16, 0xFFFFFFFF); /* no such thread */
    prof_sampler_add(&s, &first, 0x11223344);
    assert_int_equal(w.packets, 0);
    prof_sampler_flush(&s, 0x11223355);

    uint8_t expected[276] = {0x3E, 0xB1, 0xFC, 0x01, 0x11, 0x22, 0x33, 0x55, 0xA1, 0xA2, 0xA3, 0xA4};
    static const uint8_t sample[24] = {0x08, 0x00, 0x01, 0x23, 0x08, 0x00, 0x04, 0xA5,
                                       0x08, 0x00, 0xBE, 0xEF, 0x01, 0x02, 0x03, 0x04,
                                       0x80, 0x01, 0x01, 0x02, 0x03, 0x04, 0x6A, 0x2F};
    static const uint8_t last_count[4] = {0xB1, 0xB2, 0xB3, 0xB4};
    memcpy(expected + 68, last_count, 4);
    expected[76] = 0x80; /* enabled */
    expected[77] = 0x01;
    expected[82] = 0x02; /* profiler_thread */
    expected[83] = 0x03;
    expected[164] = 0x05; /* clock_freq 100,000,000 */
    expected[165] = 0xF5;
    expected[166] = 0xE1;
    expected[205] = 0x07; /* cpu_id */
    expected[207] = 0x12;
    memcpy(expected + 252, sample, sizeof(sample));
    assert_int_equal(w.last_size, sizeof(expected));
    assert_memory_equal(w.last, expected, sizeof(expected));
}

static void a_packet_of_49_samples_is_1428_bytes(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    const struct prof_sampler_config config = config_for(&w);
    assert_true(prof_sampler_init(&s, &config));
    for (uint32_t i = 0; i < 49; i++) {
        struct prof_sampler_sample sample = first;
        assert_int_equal(w.packets, 0);
        sample.pc = i;
        prof_sampler_add(&s, &sample, 1000 + i);
    }
    assert_int_equal(w.packets, 1);
    assert_int_equal(w.last_size, 1428);
    static const uint8_t start[8] = {0x3E, 0xB1, 0xFC, 49, 0, 0, 0x04, 0x18}; /* clocks of the last sample */
    assert_memory_equal(w.last, start, sizeof(start));
    for (uint32_t i = 0; i < 49; i++) {
        const uint8_t *sample = w.last + 252 + 24 * i;
        assert_int_equal(sample[3], i);
        assert_int_equal(sample[23], 0x2F);
    }
    assert_int_equal(s.samples_taken, 49);
    assert_int_equal(s.samples_sent, 49);
    assert_int_equal(s.packets_sent, 1);
}

static void the_sequence_counts_packets_from_0(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    struct prof_sampler_config config = config_for(&w);
    config.per_packet = 3;
    assert_true(prof_sampler_init(&s, &config));
    for (uint32_t i = 0; i < 300 * 3; i++) {
        prof_sampler_add(&s, &first, i);
        if (i % 3 == 2) {
            assert_int_equal(w.packets, i / 3 + 1);
            assert_int_equal(w.last_size, 252 + 3 * 24);
            assert_int_equal(w.last[170] << 8 | w.last[171], i / 3);
        }
    }
    assert_int_equal(s.samples_taken, 900);
    assert_int_equal(s.samples_sent, 900);
}

static void a_shorter_packet_says_so(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    const struct prof_sampler_config config = config_for(&w);
    assert_true(prof_sampler_init(&s, &config));
    for (unsigned i = 0; i < 49 + 5; i++)
        prof_sampler_add(&s, &first, i);
    prof_sampler_flush(&s, 99);
    assert_int_equal(w.packets, 2);
    assert_int_equal(w.last[3], 5);
    assert_int_equal(w.last_size, 252 + 5 * 24);
    prof_sampler_flush(&s, 100); /* nothing left */
    assert_int_equal(w.packets, 2);
}

static void a_packet_that_is_not_sent_leaves_a_hole(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    struct prof_sampler_config config = config_for(&w);
    config.per_packet = 2;
    assert_true(prof_sampler_init(&s, &config));
    w.refuse = true;
    prof_sampler_add(&s, &first, 1);
    prof_sampler_add(&s, &first, 2);
    w.refuse = false;
    prof_sampler_add(&s, &first, 3);
    prof_sampler_add(&s, &first, 4);
    assert_int_equal(w.last[171], 1);
    assert_int_equal(s.samples_taken, 4);
    assert_int_equal(s.samples_sent, 2);
    assert_int_equal(s.packets_sent, 1);
}

static void init_refuses_what_it_cannot_work_with(void **state)
{
    (void)state;
    struct wire w = {.packets = 0};
    struct prof_sampler s;
    struct prof_sampler_config config = config_for(&w);
    config.per_packet = 50;
    assert_false(prof_sampler_init(&s, &config));
    config.per_packet = 49;
    assert_true(prof_sampler_init(&s, &config));
    config.send = NULL;
    assert_false(prof_sampler_init(&s, &config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_of_one_sample_is_276_bytes),
        cmocka_unit_test(a_packet_of_49_samples_is_1428_bytes),
        cmocka_unit_test(the_sequence_counts_packets_from_0),
        cmocka_unit_test(a_shorter_packet_says_so),
        cmocka_unit_test(a_packet_that_is_not_sent_leaves_a_hole),
        cmocka_unit_test(init_refuses_what_it_cannot_work_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
