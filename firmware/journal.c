/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs' log. The shared buffer is plain SRAM here; hosts poll, so it raises no interrupt. Core 1 sets
 * its buffer up itself, as if a host had sent SETUP (firmware-log sheet 2); core 0 waits for a host
 * (host_queue.c). With FIRMWARE_NO_LOG only the UART is left.
 */
#include "firmware/journal.h"

#include "firmware/registers.h"
#include "firmware/uart.h"

#define FLUSH_MS 20u
/* So many looks at a buffer that the host still has, in a fault: some 60 ms at 100 MHz. */
#define PANIC_POLLS 200000u

#ifndef FIRMWARE_NO_LOG
/* Where the shared buffer is, for hosts that look for the symbol; sections.ld places it. */
extern uint8_t tlog_buffer[BOARD_LOG_BUFFER_SIZE];
__attribute__((section(".tlog_buffer"), used, aligned(16))) uint8_t tlog_buffer[BOARD_LOG_BUFFER_SIZE];

static struct {
    struct tlog_producer producer;
    uint8_t staging[TLOG_PRODUCER_STAGING];
    uint32_t flushed_at;
    uint8_t source;
} journal;
#endif

static volatile uint32_t milliseconds;

#ifndef FIRMWARE_NO_LOG
/* The address comes from the host: it may lead nowhere but into the part of SRAM that is for sharing. */
static bool port_map_window(void *ctx, uint64_t address, uint32_t size)
{
    (void)ctx;
    if (address < BOARD_SRAM_SHARED || size > BOARD_SRAM_SHARED_SIZE ||
        address - BOARD_SRAM_SHARED > BOARD_SRAM_SHARED_SIZE - size)
        return false;
    return address + size <= BOARD_QUEUE_MEMORY || address >= BOARD_QUEUE_MEMORY + BOARD_QUEUE_MEMORY_SIZE;
}

static uint32_t port_read32(void *ctx, uint64_t address)
{
    (void)ctx;
    return reg_read((uint32_t)address);
}

static void port_write32(void *ctx, uint64_t address, uint32_t value)
{
    (void)ctx;
    __asm__ volatile("dmb" ::: "memory"); /* the other core may read the buffer too */
    reg_write((uint32_t)address, value);
}

static uint32_t port_now(void *ctx)
{
    (void)ctx;
    return milliseconds;
}

static const struct target_port port = {
    .map_window = port_map_window,
    .read32 = port_read32,
    .write32 = port_write32,
    .now = port_now,
};

struct tlog_producer *journal_producer(void)
{
    return &journal.producer;
}

void journal_attach_default(void)
{
    tlog_producer_attach(&journal.producer, reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_LOG_BUFFER),
                         reg_read(BOARD_SYSINFO_BASE + BOARD_SYSINFO_LOG_BUFFER_SIZE));
}
#else
void journal_attach_default(void) {}
#endif

void line_text(struct line *l, const char *text)
{
    while (*text && l->length < sizeof(l->text))
        l->text[l->length++] = *text++;
}

__attribute__((noinline)) void line_decimal(struct line *l, int64_t value)
{
    char digits[22];
    uint32_t at = sizeof(digits) - 1;
    /* Divides by 10 in 32-bit steps: a 64-bit division would want a library. */
    uint64_t rest = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    digits[at] = 0;
    do {
        uint32_t high = (uint32_t)(rest >> 32), low = (uint32_t)rest;
        uint32_t quotient_high = high / 10u;
        uint32_t carry = high % 10u;
        uint32_t upper = carry << 16 | low >> 16;
        uint32_t lower = (upper % 10u) << 16 | (low & 0xFFFFu);
        rest = (uint64_t)quotient_high << 32 | (uint32_t)((upper / 10u) << 16 | lower / 10u);
        digits[--at] = (char)('0' + lower % 10u);
    } while (rest);
    if (value < 0)
        digits[--at] = '-';
    line_text(l, digits + at);
}

__attribute__((noinline)) void line_hex(struct line *l, uint32_t value)
{
    char digits[11] = "0x";
    for (unsigned i = 0; i < 8; i++)
        digits[2 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15u];
    digits[10] = 0;
    line_text(l, digits);
}

void journal_start(uint8_t source, uint32_t core_hz, uint8_t priority)
{
#ifndef FIRMWARE_NO_LOG
    const struct tlog_producer_config config = {
        .port = &port,
        .staging = journal.staging,
        .staging_size = sizeof(journal.staging),
        .notice_source = source,
        .panic_polls = PANIC_POLLS,
    };
    journal.source = source;
    tlog_producer_init(&journal.producer, &config);
#else
    (void)source;
#endif
    reg_write(SCS_SHPR3, (reg_read(SCS_SHPR3) & 0x00FFFFFFu) | (uint32_t)priority << 24);
    reg_write(SCS_SYST_RVR, core_hz / 1000u - 1u);
    reg_write(SCS_SYST_CVR, 0);
    reg_write(SCS_SYST_CSR, 7); /* processor clock, interrupt, on */
}

#if CORE_IS_SMALL
/*
 * SysTick counts down from period - 1 to 0 and pends then. An interrupt that keeps its handler away sees it
 * pending; one that gets in before the handler has counted sees neither, and time would go back by nearly a
 * millisecond: then it is added here. (By less it goes back where the sampler interrupted this function.)
 */
uint32_t cycles_now(void)
{
    static volatile uint32_t last;
    uint32_t period = reg_read(SCS_SYST_RVR) + 1u, ms, pending, left, now;
    do {
        ms = milliseconds;
        pending = reg_read(SCS_ICSR) & ICSR_PENDSTSET;
        left = reg_read(SCS_SYST_CVR);
    } while (ms != milliseconds || pending != (reg_read(SCS_ICSR) & ICSR_PENDSTSET));
    now = (ms + (pending ? 1u : 0u)) * period + (left ? period - left : 0u);
    if ((int32_t)(last - now) > (int32_t)(period / 2u))
        now += period;
    last = now;
    return now;
}
#endif

uint32_t journal_ms(void)
{
    return milliseconds;
}

void journal_count_ms(void)
{
    milliseconds = milliseconds + 1;
}

static void write_to_uart(const struct line *l)
{
    uart_write(l->text, l->length);
    uart_write("\r\n", 2);
}

#ifndef FIRMWARE_NO_LOG
void journal_write(uint8_t level, const struct line *l)
{
    tlog_producer_log(&journal.producer, level, journal.source, l->text, l->length);
    write_to_uart(l);
}

void journal_tick(void)
{
    uint32_t now = milliseconds;
    if (now - journal.flushed_at < FLUSH_MS)
        return;
    journal.flushed_at = now;
    tlog_producer_tick(&journal.producer);
}

void journal_fault(const struct line *l)
{
    write_to_uart(l); /* first: it cannot fail */
    tlog_producer_panic(&journal.producer);
    tlog_producer_log(&journal.producer, TLOG_ERR, journal.source, l->text, l->length);
}
#else
void journal_write(uint8_t level, const struct line *l)
{
    (void)level;
    write_to_uart(l);
}

void journal_tick(void) {}

void journal_fault(const struct line *l)
{
    write_to_uart(l);
}
#endif
