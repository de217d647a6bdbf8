/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the firmware log for tests. Firmware-log sheet 1.1 and 1.2. */
#include "host_buffer.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GUARD_BYTE 0xA5

static bool map_window(void *ctx, uint64_t address, uint32_t size)
{
    struct host_buffer *h = ctx;
    h->windows++;
    if (h->unreachable)
        return false;
    assert_true(address >= HOST_ADDRESS);
    assert_true(address - HOST_ADDRESS + size <= HOST_MAX);
    return true;
}

static uint32_t reach(struct host_buffer *h, uint64_t address)
{
    assert_false(h->unreachable);
    assert_true(address >= HOST_ADDRESS);
    assert_int_equal(address & 3, 0);
    uint64_t offset = address - HOST_ADDRESS;
    assert_true(offset + 4 <= h->size + h->slack);
    return (uint32_t)offset;
}

static uint32_t read32(void *ctx, uint64_t address)
{
    struct host_buffer *h = ctx;
    uint32_t offset = reach(h, address);
    if (offset == 12 && h->answer_after && --h->answer_after == 0)
        host_take(h);
    return host_word(h, offset);
}

static void write32(void *ctx, uint64_t address, uint32_t value)
{
    struct host_buffer *h = ctx;
    uint32_t offset = reach(h, address);
    if (h->fault && h->fault_at && --h->fault_at == 0)
        longjmp(*h->fault, 1);
    if (h->store_count < HOST_STORES)
        h->stores[h->store_count++] = offset;
    host_set_word(h, offset, value);
}

static void raise_irq(void *ctx)
{
    struct host_buffer *h = ctx;
    h->interrupts++;
    if (h->fault && h->fault_at_interrupt)
        longjmp(*h->fault, 1);
    h->stores_at_interrupt = h->store_count;
}

static uint32_t now(void *ctx)
{
    struct host_buffer *h = ctx;
    return h->now;
}

struct host_buffer *host_new(uint32_t size)
{
    struct host_buffer *h = calloc(1, sizeof(*h));
    assert_non_null(h);
    assert_true(size <= HOST_MAX);
    memset(h->memory, GUARD_BYTE, sizeof(h->memory));
    h->size = size;
    h->texts_size = 1u << 20;
    h->texts = malloc(h->texts_size);
    assert_non_null(h->texts);
    h->port = (struct target_port){.ctx = h,
                                   .map_window = map_window,
                                   .read32 = read32,
                                   .write32 = write32,
                                   .raise_irq = raise_irq,
                                   .now = now};
    return h;
}

void host_free(struct host_buffer *h)
{
    free(h->texts);
    free(h);
}

uint32_t host_word(const struct host_buffer *h, uint32_t offset)
{
    const uint8_t *p = h->memory + HOST_GUARD + offset;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void host_set_word(struct host_buffer *h, uint32_t offset, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        h->memory[HOST_GUARD + offset + i] = (uint8_t)(value >> (8 * i));
}

void host_set_owner(struct host_buffer *h, uint8_t owner)
{
    h->memory[HOST_GUARD + 12] = owner;
}

void host_check_guards(const struct host_buffer *h)
{
    for (uint32_t i = 0; i < HOST_GUARD; i++)
        assert_int_equal(h->memory[i], GUARD_BYTE);
    for (uint32_t i = HOST_GUARD + h->size + h->slack; i < sizeof(h->memory); i++)
        assert_int_equal(h->memory[i], GUARD_BYTE);
}

bool host_take(struct host_buffer *h)
{
    const uint8_t *buffer = h->memory + HOST_GUARD;
    host_check_guards(h);
    if (buffer[12] != 1)
        return false;
    assert_int_equal(host_word(h, 8), 0x544C4F47);
    uint32_t end = host_word(h, 0);
    assert_true(end > 16);
    assert_true(end <= h->size);
    uint32_t at = 16;
    while (at < end) {
        if (h->torn_allowed && end - at < 12) {
            h->torn_headers++;
            break;
        }
        assert_true(end - at >= 12);
        uint32_t size = (uint32_t)buffer[at] | (uint32_t)buffer[at + 1] << 8;
        assert_true(size >= 13);
        if (h->torn_allowed && size > end - at) {
            h->torn_records++;
            break;
        }
        assert_true(size <= end - at);
        assert_int_equal(buffer[at + size - 1], 0);
        assert_true(h->record_count < HOST_RECORDS);
        struct host_record *r = &h->records[h->record_count++];
        r->level = buffer[at + 2];
        r->source = buffer[at + 3];
        r->timestamp = host_word(h, at + 4);
        r->sequence = host_word(h, at + 8);
        r->text_length = size - 13;
        r->text_at = h->texts_used;
        assert_true(h->texts_used + size <= h->texts_size);
        memcpy(h->texts + h->texts_used, buffer + at + 12, size - 12);
        h->texts_used += size - 12;
        at += size;
    }
    host_set_owner(h, 0);
    return true;
}

const char *host_text(const struct host_buffer *h, uint32_t record)
{
    assert_true(record < h->record_count);
    return h->texts + h->records[record].text_at;
}
