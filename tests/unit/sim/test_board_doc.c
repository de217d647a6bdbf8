/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example of docs/board.md, built from the page: its log lines, its packets and its hot function come
 * out. Arguments: the images for core 0 and core 1.
 */
#include "board_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define TEXT "hello from the smallest firmware"

static const char *paths[BOARD_CORES];

struct image {
    uint8_t *bytes;
    size_t size;
};

struct profile {
    uint32_t low[2], high[2]; /* spin_short, spin_long */
    unsigned packets, samples, hits[2];
};

static struct profile profiles[BOARD_CORES];

static struct image read_image(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    struct image i = {malloc(1u << 20), 0};
    assert_non_null(i.bytes);
    i.size = fread(i.bytes, 1, 1u << 20, f);
    fclose(f);
    return i;
}

/* Address and size of a symbol. The image was just built by our own tool chain; ranges are asserted. */
static void find_symbol(const struct image *i, const char *name, uint32_t *low, uint32_t *high)
{
    uint32_t table = load_le32(i->bytes + 32);
    unsigned sections = load_le16(i->bytes + 48);
    assert_true((uint64_t)table + 40ull * sections <= i->size);
    for (unsigned n = 0; n < sections; n++) {
        const uint8_t *s = i->bytes + table + 40 * n;
        if (load_le32(s + 4) != 2) /* SHT_SYMTAB */
            continue;
        const uint8_t *strings = i->bytes + load_le32(i->bytes + table + 40 * load_le32(s + 24) + 16);
        for (uint32_t at = 0; at < load_le32(s + 20); at += 16) {
            const uint8_t *symbol = i->bytes + load_le32(s + 16) + at;
            if (strcmp((const char *)strings + load_le32(symbol), name) == 0) {
                *low = load_le32(symbol + 4) & ~1u;
                *high = *low + load_le32(symbol + 8);
                return;
            }
        }
    }
    fail_msg("no symbol %s", name);
}

static void take_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size)
{
    struct profile *p = &profiles[core];
    (void)ctx;
    assert_int_equal(size, 252 + 40 * 24);
    assert_int_equal(load_be16(data), 0x3EB1);
    assert_int_equal(data[2], 252);
    assert_int_equal(data[3], 40);
    assert_int_equal(load_be32(data + 164), BOARD_DEFAULT_CORE_HZ);
    assert_int_equal(load_be32(data + 168), p->packets);
    p->packets++;
    for (unsigned n = 0; n < data[3]; n++) {
        uint32_t pc = load_be32(data + 252 + 24 * n);
        p->samples++;
        for (unsigned f = 0; f < 2; f++)
            p->hits[f] += pc >= p->low[f] && pc < p->high[f];
    }
}

/* Take the log line that waits in a core's buffer, as a host does. */
static void take_line(struct board *b, unsigned core, uint32_t buffer, uint32_t sequence)
{
    char text[sizeof(TEXT) + 8] = {0};
    assert_int_equal(mem_read(b, core, buffer + 8), 0x544C4F47);
    assert_int_equal(mem_read(b, core, buffer + 12), 1);
    assert_int_equal(mem_read(b, core, buffer), 16 + 12 + sizeof(TEXT));
    assert_int_equal(mem_read(b, core, buffer + 16), (12 + sizeof(TEXT)) | 3u << 16 | (uint32_t)core << 24);
    assert_int_equal(mem_read(b, core, buffer + 24), sequence);
    for (uint32_t n = 0; n < sizeof(TEXT); n += 4)
        store_le32((uint8_t *)text + n, mem_read(b, core, buffer + 28 + n));
    text[sizeof(TEXT) - 1] = '\0';
    assert_string_equal(text, TEXT);
    mem_write(b, core, buffer + 12, 0);
}

static void example_logs_and_profiles(void **state)
{
    (void)state;
    struct board_config c = {.datagram = take_datagram};
    struct diag d = DIAG_INIT;
    struct board *b = board_new(&c, NULL);
    uint32_t buffer[BOARD_CORES] = {0}, end = 0;
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        struct image i = read_image(paths[core]);
        assert_int_equal(board_load_elf(b, core, i.bytes, i.size, &d), CORRAL_OK);
        find_symbol(&i, "spin_short", &profiles[core].low[0], &profiles[core].high[0]);
        find_symbol(&i, "spin_long", &profiles[core].low[1], &profiles[core].high[1]);
        find_symbol(&i, "tlog_buffer", &buffer[core], &end);
        assert_int_equal(buffer[core], core ? BOARD_LOG_BUFFER1 : BOARD_LOG_BUFFER0);
        assert_int_equal(end - buffer[core], BOARD_LOG_BUFFER_SIZE);
        free(i.bytes);
    }
    dp_power_up(b);
    for (uint32_t line = 0; line < 8; line++) {
        board_run_until(b, board_tick(b) + BOARD_DEFAULT_CORE_HZ / 40);
        for (unsigned core = 0; core < BOARD_CORES; core++)
            take_line(b, core, buffer[core], line);
    }
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        const struct profile *p = &profiles[core];
        assert_true(p->samples >= 800);
        /* Three quarters of the work in spin_long, and nearly all of the time is this work. */
        assert_true((p->hits[0] + p->hits[1]) * 100 > p->samples * 95);
        assert_in_range(p->hits[1] * 100 / (p->hits[0] + p->hits[1]), 71, 79);
    }
    board_free(b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example_logs_and_profiles)};
    if (argc != 3)
        return 2;
    paths[0] = argv[1];
    paths[1] = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
