/* SPDX-License-Identifier: Apache-2.0 */
/* The CMSIS-DAP front: packets in OpenOCD's TCP frames. */
#include "front_fixture.h"

#include <string.h>

#define SRAM    0x20070000u
#define NOWHERE 0x70000000u

static uint32_t get(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t frame(uint8_t *to, const void *packet, size_t size)
{
    memcpy(to, "DAP\0", 4);
    to[4] = (uint8_t)size;
    to[5] = (uint8_t)(size >> 8);
    to[6] = 1;
    to[7] = 0;
    memcpy(to + 8, packet, size);
    return size + 8;
}

/* The packet that is answered; *size is its size. */
static const uint8_t *ask(struct talk *t, const void *packet, size_t packet_size, size_t *size)
{
    uint8_t bytes[2048];
    assert_true(packet_size + 8 <= sizeof(bytes));
    size_t n = talk_say(t, bytes, frame(bytes, packet, packet_size));
    assert_true(n >= 9);
    assert_memory_equal(t->out, "DAP\0", 4);
    assert_int_equal(t->out[4] | t->out[5] << 8, n - 8);
    assert_int_equal(t->out[6], 2);
    *size = n - 8;
    return t->out + 8;
}

/* What is answered must be these bytes. */
static void expect(struct talk *t, const uint8_t *packet, size_t size, const uint8_t *answer,
                   size_t answer_size)
{
    size_t n = 0;
    const uint8_t *said = ask(t, packet, size, &n);
    assert_int_equal(n, answer_size);
    assert_memory_equal(said, answer, answer_size);
}

#define BYTES(...)      (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define EXPECT(t, p, a) expect(t, p, a)

static struct talk *connected(void)
{
    struct talk *t = talk_begin(&front_cmsis_dap);
    EXPECT(t, BYTES(0x02, 0), BYTES(0x02, 1));
    EXPECT(t, BYTES(0x04, 0, 64, 0, 100, 0), BYTES(0x04, 0));
    /* DPIDR, power up, SELECT 0 */
    EXPECT(t, BYTES(0x05, 0, 3, 0x02, 0x04, 0, 0, 0, 0x50, 0x08, 0, 0, 0, 0),
           BYTES(0x05, 3, 1, 0x77, 0x24, 0xA0, 0x6B));
    return t;
}

/* CSW word and single increment on `ap`, TAR. */
static void aim(struct talk *t, uint8_t ap, uint32_t address)
{
    uint8_t a[4] = {(uint8_t)address, (uint8_t)(address >> 8), (uint8_t)(address >> 16),
                    (uint8_t)(address >> 24)};
    EXPECT(t, BYTES(0x05, 0, 3, 0x08, 0, 0, 0, ap, 0x01, 0x12, 0, 0, 0x23, 0x05, a[0], a[1], a[2], a[3]),
           BYTES(0x05, 3, 1));
}

static void what_it_says_of_itself(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_cmsis_dap);
    size_t n = 0;
    EXPECT(t, BYTES(0x00, 0xF0), BYTES(0x00, 1, 0x11));
    EXPECT(t, BYTES(0x00, 0xFF), BYTES(0x00, 2, 0x00, 0x04));
    EXPECT(t, BYTES(0x00, 0xFE), BYTES(0x00, 1, 4));
    EXPECT(t, BYTES(0x00, 0x04), BYTES(0x00, 6, '2', '.', '1', '.', '1', 0));
    EXPECT(t, BYTES(0x00, 0x77), BYTES(0x00, 0));
    const uint8_t *name = ask(t, "\0\2", 2, &n);
    assert_int_equal(name[1], n - 2);
    assert_non_null(strstr((const char *)name + 2, "CMSIS-DAP"));
    EXPECT(t, BYTES(0x02, 2), BYTES(0x02, 0)); /* no JTAG */
    EXPECT(t, BYTES(0x14, 1), BYTES(0xFF));
    EXPECT(t, BYTES(0x01, 0, 1), BYTES(0x01, 0));
    EXPECT(t, BYTES(0x0A), BYTES(0x0A, 0, 0));
    EXPECT(t, BYTES(0x11, 0x40, 0x42, 0x0F, 0), BYTES(0x11, 0));
    EXPECT(t, BYTES(0x13, 0), BYTES(0x13, 0));
    EXPECT(t, BYTES(0x10, 0, 0, 0, 0, 0, 0), BYTES(0x10, 0x83));
    EXPECT(t, BYTES(0x03), BYTES(0x03, 0));
    talk_end(t);
}

static void nothing_moves_before_connect(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_cmsis_dap);
    EXPECT(t, BYTES(0x05, 0, 1, 0x02), BYTES(0x05, 0, 0));
    EXPECT(t, BYTES(0x06, 0, 1, 0, 0x02), BYTES(0xFF));
    assert_int_equal(t->front->transfers, 0);
    talk_end(t);
}

/* Posted reads come out in their order, also with writes and debug port reads between them. */
static void a_row_of_transfers(void **state)
{
    (void)state;
    struct talk *t = connected();
    aim(t, 1, SRAM);
    EXPECT(t, BYTES(0x05, 0, 3, 0x0D, 1, 0, 0, 0x10, 0x0D, 2, 0, 0, 0x20, 0x0D, 3, 0, 0, 0x30),
           BYTES(0x05, 3, 1));
    aim(t, 0, SRAM);
    EXPECT(t, BYTES(0x05, 0, 5, 0x0F, 0x0F, 0x02, 0x0F, 0x05, 0, 0, 7, 0x20),
           BYTES(0x05, 5, 1, 1, 0, 0, 0x10, 2, 0, 0, 0x20, 0x77, 0x24, 0xA0, 0x6B, 3, 0, 0, 0x30));
    talk_end(t);
}

static void a_block_there_and_back(void **state)
{
    (void)state;
    struct talk *t = connected();
    uint8_t packet[1024] = {0x06, 0, 200, 0, 0x0D};
    size_t n = 0;
    for (size_t i = 0; i < 800; i++)
        packet[5 + i] = (uint8_t)(i * 7 + i / 256);
    aim(t, 0, SRAM);
    expect(t, packet, 5 + 800, BYTES(0x06, 200, 0, 1));
    aim(t, 1, SRAM);
    const uint8_t *said = ask(t, "\6\0\xC8\0\x0F", 5, &n);
    assert_int_equal(n, 4 + 800);
    assert_memory_equal(said, "\6\xC8\0\1", 4);
    assert_memory_equal(said + 4, packet + 5, 800);
    said = ask(t, "\6\0\xFF\xFF\x0F", 5, &n); /* as many as can be answered */
    assert_int_equal(n, 1024);
    assert_memory_equal(said, "\6\xFF\0\1", 4);
    talk_end(t);
}

static void a_fault_ends_the_row_and_abort_clears_it(void **state)
{
    (void)state;
    struct talk *t = connected();
    aim(t, 0, NOWHERE);
    EXPECT(t, BYTES(0x05, 0, 2, 0x0F, 0x02), BYTES(0x05, 1, 4)); /* posted, and then there is no value */
    EXPECT(t, BYTES(0x05, 0, 1, 0x0F), BYTES(0x05, 0, 4));
    EXPECT(t, BYTES(0x08, 0, 0x1E, 0, 0, 0), BYTES(0x08, 0));
    EXPECT(t, BYTES(0x05, 0, 1, 0x0D, 1, 2, 3, 4), BYTES(0x05, 1, 4)); /* told by what confirms it */
    EXPECT(t, BYTES(0x08, 0, 0x1E, 0, 0, 0), BYTES(0x08, 0));
    aim(t, 0, SRAM);
    talk_end(t);
}

static void a_value_is_waited_for(void **state)
{
    (void)state;
    struct talk *t = connected();
    aim(t, 0, CELL);                                                         /* core 0 counts there */
    EXPECT(t, BYTES(0x05, 0, 1, 0x01, 0x02, 0, 0, 0x23), BYTES(0x05, 1, 1)); /* the address stands */
    EXPECT(t, BYTES(0x05, 0, 2, 0x20, 1, 0, 0, 0, 0x1F, 1, 0, 0, 0), BYTES(0x05, 2, 1));
    EXPECT(t, BYTES(0x05, 0, 2, 0x20, 0, 0, 0, 0, 0x1F, 1, 0, 0, 0), BYTES(0x05, 1, 0x11));
    EXPECT(t, BYTES(0x04, 0, 0, 0, 0xFF, 0xFF), BYTES(0x04, 0));
    uint64_t before = t->front->transfers;
    EXPECT(t, BYTES(0x05, 0, 2, 0x20, 0, 0, 0, 0, 0x1F, 1, 0, 0, 0), BYTES(0x05, 1, 2)); /* not for ever */
    assert_true(t->front->transfers - before <= 20000);
    talk_end(t);
}

static unsigned wait(void *ctx, bool ap, bool read, uint8_t addr)
{
    unsigned *left = ctx;
    (void)read;
    (void)addr;
    return ap && *left > 0 && (*left)-- ? 2 : 0;
}

static void wait_is_said_again_as_often_as_wanted(void **state)
{
    (void)state;
    struct talk *t = connected();
    unsigned left = 3;
    aim(t, 0, SRAM);
    board_dap_inject(t->board, wait, &left);
    EXPECT(t, BYTES(0x04, 0, 3, 0, 0, 0), BYTES(0x04, 0));
    EXPECT(t, BYTES(0x05, 0, 1, 0x0F), BYTES(0x05, 1, 1, 0, 0, 0, 0));
    left = 4;
    EXPECT(t, BYTES(0x05, 0, 1, 0x0F), BYTES(0x05, 0, 2));
    talk_end(t);
}

static void several_commands_in_one_packet(void **state)
{
    (void)state;
    struct talk *t = connected();
    EXPECT(t, BYTES(0x7F, 3, 0x00, 0xFE, 0x05, 0, 1, 0x02, 0x03),
           BYTES(0x7F, 3, 0x00, 1, 4, 0x05, 1, 1, 0x77, 0x24, 0xA0, 0x6B, 0x03, 0));
    EXPECT(t, BYTES(0x7E, 2, 0x01, 0, 0, 0x03), BYTES(0x7F, 2, 0x01, 0, 0x03, 0));
    EXPECT(t, BYTES(0x7F, 3, 0x03, 0x99, 0x03), BYTES(0x7F, 2, 0x03, 0, 0xFF));
    EXPECT(t, BYTES(0x7F, 1, 0x7F, 1, 0x03), BYTES(0x7F, 1, 0xFF));
    talk_end(t);
}

static void wire_clocks_and_time(void **state)
{
    (void)state;
    struct talk *t = connected();
    uint64_t clocks = board_wire_clocks(t->board);
    EXPECT(t, BYTES(0x12, 51, 1, 2, 3, 4, 5, 6, 7), BYTES(0x12, 0));
    assert_int_equal(board_wire_clocks(t->board) - clocks, 51);
    EXPECT(t, BYTES(0x1D, 2, 0x05, 0x1F, 0x84), BYTES(0x1D, 0, 0xFF));
    assert_int_equal(board_wire_clocks(t->board) - clocks, 51 + 5 + 4);
    EXPECT(t, BYTES(0x04, 7, 0, 0, 0, 0), BYTES(0x04, 0));
    EXPECT(t, BYTES(0x05, 0, 1, 0x02), BYTES(0x05, 1, 1, 0x77, 0x24, 0xA0, 0x6B));
    assert_int_equal(board_wire_clocks(t->board) - clocks, 60 + BOARD_CLOCKS_PER_TRANSFER + 7);
    uint64_t tick = board_tick(t->board);
    EXPECT(t, BYTES(0x09, 100, 0), BYTES(0x09, 0));
    assert_int_equal(board_tick(t->board) - tick, board_tick_hz(t->board) / 10000);
    talk_end(t);
}

/* Each command cut at each place: an answer within its bounds, never an end of the program. */
static void cut_commands(void **state)
{
    (void)state;
    static const uint8_t commands[][10] = {
        {0x00},
        {0x01},
        {0x02},
        {0x04, 1, 2},
        {0x05, 0, 9, 0x02, 0x0D, 1},
        {0x06, 0, 9, 0, 0x0D, 1},
        {0x06, 0, 9, 1},
        {0x08, 0, 1},
        {0x09, 1},
        {0x10, 1, 2, 3},
        {0x11, 1},
        {0x12, 99, 1},
        {0x13},
        {0x1D, 9, 9, 9},
        {0x7F, 9, 0x05, 0, 200, 0x02},
    };
    struct talk *t = connected();
    size_t n = 0;
    for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++)
        for (size_t size = 1; size <= sizeof(commands[c]); size++)
            assert_true(ask(t, commands[c], size, &n) && n <= 1024);
    EXPECT(t, BYTES(0x05, 0), BYTES(0xFF));
    EXPECT(t, BYTES(0x08, 0, 1), BYTES(0xFF));
    EXPECT(t, BYTES(0x02), BYTES(0xFF));
    talk_end(t);
}

static void frames_that_are_none(void **state)
{
    (void)state;
    static const uint8_t frames[][8] = {
        {'D', 'A', 'Q', 0, 1, 0, 1, 0}, {'D', 'A', 'P', 0, 1, 0, 2, 0}, {'D', 'A', 'P', 0, 1, 4, 1, 0}};
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        struct talk *t = talk_begin(&front_cmsis_dap);
        assert_int_equal(talk_say(t, frames[i], sizeof(frames[i])), 0);
        assert_true(t->closed);
        talk_end(t);
    }
    struct talk *t = talk_begin(&front_cmsis_dap); /* nothing, and an abort: no answer, and no end */
    assert_int_equal(talk_say(t, "DAP\0\0\0\1\0DAP\0\1\0\1\0\7", 17), 0);
    EXPECT(t, BYTES(0x03), BYTES(0x03, 0));
    talk_end(t);
}

static void cut_anywhere_it_is_the_same(void **state)
{
    (void)state;
    uint8_t all[128];
    size_t size = frame(all, "\2\1", 2);
    size += frame(all + size, "\5\0\1\2", 4);
    size += frame(all + size, "\0\xFE", 2);
    for (size_t step = 1; step <= size; step++) {
        struct talk *t = talk_begin(&front_cmsis_dap);
        assert_int_equal(talk_say_cut(t, all, size, step), 10 + 15 + 11);
        assert_int_equal(get(t->out + 10 + 8 + 3), 0x6BA02477u);
        talk_end(t);
    }
}

static void nonsense_hurts_nobody(void **state)
{
    (void)state;
    static const uint8_t begin[] = {'D', 'A', 'P', 0, 2, 0, 1, 0, 2, 1, 'D', 'A', 'P', 0, 100, 0, 1, 0};
    struct talk *t = talk_begin(&front_cmsis_dap);
    talk_nonsense(t, begin, sizeof(begin));
    EXPECT(t, BYTES(0x02, 1), BYTES(0x02, 1));
    EXPECT(t, BYTES(0x05, 0, 1, 0x02), BYTES(0x05, 1, 1, 0x77, 0x24, 0xA0, 0x6B));
    talk_end(t);
}

static void the_reset_pin(void **state)
{
    (void)state;
    struct talk *t = connected();
    EXPECT(t, BYTES(0x10, 0, 0x80, 0, 0, 0, 0), BYTES(0x10, 0x03));
    mem_read(t->board, 0, DHCSR);
    assert_int_equal(mem_read(t->board, 0, DHCSR) >> 25 & 1u, 1);
    EXPECT(t, BYTES(0x10, 0x00, 0x00, 0, 0, 0, 0), BYTES(0x10, 0x03)); /* only a look */
    EXPECT(t, BYTES(0x10, 0x00, 0x01, 0, 0, 0, 0), BYTES(0x10, 0x02)); /* another pin */
    assert_true(t->front->pulls_reset);
    EXPECT(t, BYTES(0x10, 0x80, 0x80), BYTES(0xFF)); /* cut: nothing happens */
    mem_read(t->board, 0, DHCSR);
    assert_int_equal(mem_read(t->board, 0, DHCSR) >> 25 & 1u, 1);
    EXPECT(t, BYTES(0x10, 0xFF, 0x83, 0, 0, 0, 0), BYTES(0x10, 0x83));
    assert_false(t->front->pulls_reset);
    mem_read(t->board, 0, DHCSR);
    assert_int_equal(mem_read(t->board, 0, DHCSR) >> 25 & 1u, 0);
    talk_end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_of_itself),
        cmocka_unit_test(nothing_moves_before_connect),
        cmocka_unit_test(a_row_of_transfers),
        cmocka_unit_test(a_block_there_and_back),
        cmocka_unit_test(a_fault_ends_the_row_and_abort_clears_it),
        cmocka_unit_test(a_value_is_waited_for),
        cmocka_unit_test(wait_is_said_again_as_often_as_wanted),
        cmocka_unit_test(several_commands_in_one_packet),
        cmocka_unit_test(wire_clocks_and_time),
        cmocka_unit_test(cut_commands),
        cmocka_unit_test(frames_that_are_none),
        cmocka_unit_test(cut_anywhere_it_is_the_same),
        cmocka_unit_test(nonsense_hurts_nobody),
        cmocka_unit_test(the_reset_pin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
