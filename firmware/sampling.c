/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile's timer interrupt. Profiler sheet 3.5: pc, the link register as a5, and as parent the return
 * address in the interrupted code's frame (the frame pointer chain that clang keeps in r7; 0 elsewhere).
 */
#include "firmware/sampling.h"

#include "firmware/registers.h"
#include "target/prof_counters.h"
#include "target/prof_records.h"
#include "target/prof_sampler.h"

const uint32_t prof_interval_cycles = FIRMWARE_PROF_INTERVAL;
volatile uint32_t prof_samples_taken, prof_samples_sent, prof_packets_sent;

#define FIRST_COUNTERS 10u  /* packets before the counters go out for the first time */
#define NEXT_COUNTERS  100u /* and between two of them: about a second at 5 kHz */

static struct {
    struct prof_sampler sampler;
    struct prof_records records;
    uint32_t random;
    uint32_t counters_due; /* when prof_packets_sent has come to it */
    const struct sampling_counter *counters;
    uint32_t counter_count;
    uint8_t packet[16 + 24 * SAMPLING_MAX_COUNTERS];
} sampling;

#if SAMPLING_RECORDS
uint32_t prof_buffer[4096]; /* a host finds it by this name */
#endif

extern uint32_t image_stack_top[];
void prof_sampler_interrupt(void);
void prof_sampler_take(const uint32_t *frame, uint32_t frame_pointer);

static bool prof_sampler_send(void *ctx, const uint8_t *packet, uint32_t size)
{
    (void)ctx;
    if (SAMPLING_RECORDS)
        return prof_records_send(&sampling.records, packet, size);
    reg_write(BOARD_DATAGRAM_BASE + BOARD_DATAGRAM_ADDRESS, (uint32_t)(uintptr_t)packet);
    reg_write(BOARD_DATAGRAM_BASE + BOARD_DATAGRAM_LENGTH, size);
    reg_write(BOARD_DATAGRAM_BASE + BOARD_DATAGRAM_SEND, 1);
    return (reg_read(BOARD_DATAGRAM_BASE + BOARD_DATAGRAM_STATUS) & 2u) == 0;
}

static uint32_t prof_sampler_interval(void)
{
    uint32_t x = sampling.random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    sampling.random = x;
    /* The upper half of a product spreads x over 0 to mean - 1 without a division. */
    return prof_interval_cycles / 2 + (uint32_t)((uint64_t)x * prof_interval_cycles >> 32);
}

/* From the interrupt, as the samples: two contexts must not share the datagram port. */
static void prof_sampler_send_counters(uint32_t clocks)
{
    struct prof_counter counters[SAMPLING_MAX_COUNTERS];
    for (uint32_t i = 0; i < sampling.counter_count; i++)
        counters[i] = (struct prof_counter){sampling.counters[i].name, *sampling.counters[i].value};
    prof_counters_send(prof_sampler_send, 0, sampling.packet, counters, sampling.counter_count, clocks);
    sampling.counters_due = sampling.sampler.packets_sent + NEXT_COUNTERS;
}

void sampling_start(uint32_t core, uint32_t core_hz, uint32_t seed, const struct sampling_counter *counters,
                    uint32_t counter_count)
{
#if SAMPLING_RECORDS
    prof_records_init(&sampling.records, prof_buffer, sizeof(prof_buffer), 4);
#endif
    sampling.counters = counters;
    sampling.counter_count = counter_count < SAMPLING_MAX_COUNTERS ? counter_count : SAMPLING_MAX_COUNTERS;
    sampling.counters_due = FIRST_COUNTERS;
    const struct prof_sampler_config config = {
        .send = prof_sampler_send,
        .clock_hz = core_hz,
        .enabled = 1,
    };
    prof_sampler_init(&sampling.sampler, &config);
    sampling.random = seed ^ (core + 1) * 0x9E3779B9u;
    if (sampling.random == 0)
        sampling.random = 1;
    reg_write(BOARD_TIMER_BASE + BOARD_TIMER_LOAD, prof_sampler_interval());
    reg_write(BOARD_TIMER_BASE + BOARD_TIMER_CTRL, BOARD_TIMER_CTRL_ENABLE | BOARD_TIMER_CTRL_IRQ);
    /* Priority 0 as after reset: the highest. */
    reg_write(SCS_NVIC_ISER0, 1u << BOARD_IRQ_TIMER);
}

/* Hands over the stacked frame and r7 as they are at entry. lr keeps EXC_RETURN: prof_sampler_take returns
 * with it. */
__attribute__((naked)) void prof_sampler_interrupt(void)
{
    __asm__ volatile("mov r0, sp\n"
                     "mov r1, r7\n" TAIL_CALL("prof_sampler_take"));
}

__attribute__((used)) void prof_sampler_take(const uint32_t *frame, uint32_t frame_pointer)
{
    uint32_t clocks = cycles_now();
    reg_write(BOARD_TIMER_BASE + BOARD_TIMER_LOAD, prof_sampler_interval());
    reg_write(BOARD_TIMER_BASE + BOARD_TIMER_STATUS, 1);

    struct prof_sampler_sample sample = {.pc = frame[6], .link = frame[5], .active = 1};
#ifdef __clang__
    /* Only a frame above the interrupted stack pointer can be one: in a prologue r7 may be anything. */
    if ((frame_pointer & 3u) == 0 && frame_pointer >= (uint32_t)(uintptr_t)(frame + 8) &&
        frame_pointer <= (uint32_t)(uintptr_t)image_stack_top - 8)
        sample.parent = ((const uint32_t *)(uintptr_t)frame_pointer)[1];
#else
    (void)frame_pointer;
#endif
    uint32_t flags = frame[7] >> 28; /* N Z C V from the top; a nibble wants N Z V C */
    flags = (flags & 0xCu) | (flags & 1u) << 1 | (flags & 2u) >> 1;
    sample.cond_codes = (uint8_t)(flags << 4 | flags);
    prof_sampler_add(&sampling.sampler, &sample, clocks);
    prof_samples_taken = sampling.sampler.samples_taken;
    prof_samples_sent = sampling.sampler.samples_sent;
    prof_packets_sent = sampling.sampler.packets_sent;
    if (sampling.counter_count && prof_packets_sent == sampling.counters_due)
        prof_sampler_send_counters(clocks);
}
