/* SPDX-License-Identifier: Apache-2.0 */
/* The ST-Link front: what a client says to ST's server and to the probe behind it, and what is answered. */
#include "front_fixture.h"

#include <string.h>

#define SRAM     0x20070000u
#define NOWHERE  0x70000000u
#define OK       0x80u
#define AP_FAULT 0x11u
#define NO_PORT  0x1Du

struct message {
    uint8_t bytes[FRONT_IN_MAX];
    size_t size;
};

static void put(uint8_t *p, unsigned size, uint32_t value)
{
    for (unsigned i = 0; i < size; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static struct message *usb(const void *command, size_t command_size, bool in, uint32_t size,
                           const uint8_t *data)
{
    static struct message m;
    assert_true(command_size <= 16);
    memset(m.bytes, 0, 32);
    m.bytes[0] = 5;
    put(m.bytes + 4, 4, 1);
    memcpy(m.bytes + 8, command, command_size);
    m.bytes[24] = in;
    put(m.bytes + 28, 4, size);
    m.size = 32;
    if (!in) {
        assert_true(size <= sizeof(m.bytes) - 32);
        memcpy(m.bytes + 32, data, size);
        m.size += size;
    }
    return &m;
}

/* The answer behind the server's status. */
static const uint8_t *ask(struct talk *t, const void *command, size_t command_size, uint32_t size)
{
    struct message *m = usb(command, command_size, true, size, NULL);
    assert_int_equal(talk_say(t, m->bytes, m->size), 4 + size);
    assert_int_equal(get(t->out), 1);
    return t->out + 4;
}

#define ASK(t, size, ...) ask(t, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), size)

static void open_probe(struct talk *t)
{
    uint8_t open[8] = {3, 0, 0, 0, 1};
    assert_int_equal(talk_say(t, open, sizeof(open)), 8);
    assert_int_equal(get(t->out), 1);
    assert_int_equal(get(t->out + 4), 1);
    assert_int_equal(ASK(t, 2, 0xF2, 0x30, 0xA3)[0], OK);
    assert_int_equal(ASK(t, 2, 0xF5)[0], 2);
}

static struct talk *opened(void)
{
    struct talk *t = talk_begin(&front_stlink);
    open_probe(t);
    return t;
}

static void memory_command(uint8_t *c, uint8_t code, uint32_t address, uint32_t length, uint8_t ap)
{
    memset(c, 0, 16);
    c[0] = 0xF2;
    c[1] = code;
    put(c + 2, 4, address);
    put(c + 6, 2, length);
    c[8] = ap;
}

static uint8_t status(struct talk *t)
{
    return ASK(t, 12, 0xF2, 0x3E)[0];
}

static const uint8_t *read_memory(struct talk *t, uint8_t code, uint32_t address, uint32_t length, uint8_t ap)
{
    uint8_t c[16];
    memory_command(c, code, address, length, ap);
    return ask(t, c, sizeof(c), length);
}

static void write_memory(struct talk *t, uint8_t code, uint32_t address, uint8_t ap, const uint8_t *data,
                         uint32_t length)
{
    uint8_t c[16];
    memory_command(c, code, address, length, ap);
    struct message *m = usb(c, sizeof(c), false, length, data);
    assert_int_equal(talk_say(t, m->bytes, m->size), 4);
    assert_int_equal(get(t->out), 1);
}

static void the_server_presents_a_v3(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_stlink);
    assert_int_equal(talk_say(t, "\6\1\0\0", 4), 16);
    assert_int_equal(get(t->out), 3);
    assert_int_equal(talk_say(t, "\0\0", 2), 4);
    assert_int_equal(get(t->out), 1);
    assert_int_equal(talk_say(t, "\1", 1), 4);
    assert_int_equal(get(t->out), 1);
    assert_int_equal(talk_say(t, "\2\0\0\0\x29\0\0\0", 8), 45);
    assert_int_equal(get(t->out), 1);
    assert_memory_equal(t->out + 40, "\x83\x04\x4F\x37\0", 5);
    open_probe(t);
    assert_memory_equal(ASK(t, 6, 0xF1), "\x30\x00\x83\x04\x4F\x37", 6);
    const uint8_t *version = ASK(t, 12, 0xFB);
    assert_int_equal(version[0], 3);
    assert_int_equal(version[2], 13);
    assert_int_equal(get(ASK(t, 12, 0xF2, 0x31) + 4), 0x6BA02477u);
    assert_int_equal(get(ASK(t, 52, 0xF2, 0x62, 0) + 12), 4000);
    talk_end(t);
}

static void registers_of_both_ports(void **state)
{
    (void)state;
    struct talk *t = opened();
    const uint8_t *r = ASK(t, 8, 0xF2, 0x45, 0xFF, 0xFF, 0x04, 0);
    assert_int_equal(r[0], OK);
    assert_int_equal(get(r + 4) & 0xF0000000u, 0xF0000000u);
    assert_int_equal(get(ASK(t, 8, 0xF2, 0x45, 0xFF, 0xFF, 0x24, 0) + 4), 1); /* TARGETID, bank 2 */
    for (uint8_t ap = 0; ap < 2; ap++) {
        assert_int_equal(ASK(t, 2, 0xF2, 0x4B, ap)[0], OK);
        r = ASK(t, 8, 0xF2, 0x45, ap, 0, 0xFC, 0);
        assert_int_equal(r[0], OK);
        assert_int_equal(get(r + 4), 0x84770001u);
    }
    assert_int_equal(ASK(t, 2, 0xF2, 0x46, 1, 0, 0x04, 0, 0x44, 0x33, 0x22, 0x11)[0], OK);
    assert_int_equal(get(ASK(t, 8, 0xF2, 0x45, 1, 0, 0x04, 0) + 4), 0x11223344u);
    assert_int_equal(ASK(t, 2, 0xF2, 0x4B, 2)[0], NO_PORT);
    assert_int_equal(ASK(t, 8, 0xF2, 0x45, 0, 1, 0x04, 0)[0], NO_PORT);
    talk_end(t);
}

/* Words over the end of a KiB, halfwords and bytes at odd places, and the address that stands still. */
static void memory_in_blocks(void **state)
{
    (void)state;
    static uint8_t data[3000];
    struct talk *t = opened();
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    write_memory(t, 0x08, SRAM + 0x3F0, 1, data, sizeof(data));
    assert_int_equal(status(t), OK);
    assert_memory_equal(read_memory(t, 0x07, SRAM + 0x3F0, sizeof(data), 0), data, sizeof(data));
    assert_int_equal(status(t), OK);
    assert_memory_equal(read_memory(t, 0x47, SRAM + 0x3F2, 101 * 2, 0), data + 2, 202);
    assert_memory_equal(read_memory(t, 0x0C, SRAM + 0x3F3, 64, 1), data + 3, 64);
    write_memory(t, 0x0D, SRAM + 1, 0, (const uint8_t *)"abc", 3);
    write_memory(t, 0x48, SRAM + 6, 0, (const uint8_t *)"de", 2);
    assert_int_equal(mem_read(t->board, 0, SRAM), 0x63626100u);
    assert_int_equal(mem_read(t->board, 0, SRAM + 4), 0x65640000u);
    open_probe(t); /* the test itself moved SELECT */
    write_memory(t, 0x50, SRAM, 0, (const uint8_t *)"one.two.", 8);
    assert_memory_equal(read_memory(t, 0x54, SRAM, 8, 0), "two.two.", 8);
    talk_end(t);
}

static void an_error_is_told_and_gone(void **state)
{
    (void)state;
    struct talk *t = opened();
    read_memory(t, 0x07, NOWHERE, 16, 0);
    const uint8_t *s = ASK(t, 12, 0xF2, 0x3E);
    assert_int_equal(s[0], AP_FAULT);
    assert_int_equal(get(s + 4), NOWHERE);
    write_memory(t, 0x08, NOWHERE + 8, 0, (const uint8_t *)"0123", 4);
    assert_int_equal(status(t), AP_FAULT);
    read_memory(t, 0x07, SRAM, 16, 0);
    assert_int_equal(status(t), OK);
    read_memory(t, 0x07, 0x2007FFF0u, 32, 0); /* half of it is behind the end of the SRAM */
    s = ASK(t, 12, 0xF2, 0x3E);
    assert_int_equal(s[0], AP_FAULT);
    assert_int_equal(get(s + 4), 0x20080000u);
    assert_int_equal(ASK(t, 2, 0xF2, 0x46, 0, 0, 0x04, 0, 0, 0, 0, 0x70)[0], OK);
    assert_int_equal(ASK(t, 8, 0xF2, 0x45, 0, 0, 0x0C, 0)[0], AP_FAULT);
    assert_int_equal(ASK(t, 8, 0xF2, 0x45, 0, 0, 0xFC, 0)[0], OK);
    talk_end(t);
}

static unsigned wait(void *ctx, bool ap, bool read, uint8_t addr)
{
    unsigned *left = ctx;
    (void)read;
    (void)addr;
    return ap && *left > 0 && (*left)-- ? 2 : 0;
}

static void wait_is_said_again_and_given_up(void **state)
{
    (void)state;
    struct talk *t = opened();
    unsigned left = 5;
    board_dap_inject(t->board, wait, &left);
    read_memory(t, 0x07, SRAM, 16, 0);
    assert_int_equal(left, 0);
    assert_int_equal(status(t), OK);
    left = 100000;
    read_memory(t, 0x07, SRAM, 16, 0);
    assert_int_equal(status(t), 0x10);
    talk_end(t);
}

static void many_single_words_in_one_transfer(void **state)
{
    (void)state;
    struct talk *t = opened();
    uint8_t data[8 + 4 * 7] = {5, 1, 2, 3, 5, 3, 9, 0};
    static const uint32_t values[7] = {0, SRAM, 0xCAFE0001u, SRAM, 1, NOWHERE, 0};
    for (size_t i = 0; i < 7; i++)
        put(data + 8 + 4 * i, 4, values[i]);
    struct message *m = usb("\xF2\x51\7\0\0\0", 6, false, sizeof(data), data);
    assert_int_equal(talk_say(t, m->bytes, m->size), 4);
    assert_int_equal(get(t->out), 1);
    const uint8_t *r = ASK(t, 56, 0xF2, 0x52);
    assert_int_equal(get(r + 12), 0xCAFE0001u);
    static const uint32_t statuses[7] = {OK, OK, OK, OK, OK, AP_FAULT, 0x12};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(get(r + 28 + 4 * i), statuses[i]);
    talk_end(t);
}

static void sizes_that_lie(void **state)
{
    (void)state;
    static const uint8_t few[4] = {3, 3, 3, 3};
    struct talk *t = opened();
    uint8_t c[16];
    for (uint32_t count = 1; count;
         count = count < 0xFFFFFFFFu / 3 ? count * 3 : 0) { /* more than there is */
        uint8_t misc[6] = {0xF2, 0x51};
        put(misc + 2, 4, count);
        struct message *m = usb(misc, sizeof(misc), false, sizeof(few), few);
        assert_int_equal(talk_say(t, m->bytes, m->size), 4);
        assert_int_equal(get(t->out), 0x1002);
    }
    memory_command(c, 0x07, SRAM, 0xFFFF, 0); /* more than the transfer brings back */
    ask(t, c, sizeof(c), 8);
    memory_command(c, 0x08, SRAM, 0xFFFF, 0); /* more than comes with it */
    struct message *m = usb(c, sizeof(c), false, sizeof(few), few);
    assert_int_equal(talk_say(t, m->bytes, m->size), 4);
    memory_command(c, 0x08, SRAM, 8, 0); /* a write that wants an answer */
    ask(t, c, sizeof(c), 8);
    for (uint8_t code = 0; code < 255; code++) { /* answers with no room for what they say */
        m = usb((const uint8_t[]){0xF2, code, 0xA3}, 3, true, 1, NULL);
        assert_int_equal(talk_say(t, m->bytes, m->size), 5);
    }
    m = usb("\xF1", 1, true, 65537, NULL);
    talk_say(t, m->bytes, m->size);
    assert_true(t->closed);
    talk_end(t);
}

/* Three answers that fill the room to its last byte; the third has more to say than it was asked for. */
static void the_end_of_the_room(void **state)
{
    (void)state;
    static const uint32_t sizes[3] = {65536, FRONT_OUT_MAX - 65540 - 4 - 5, 1};
    struct talk *t = opened();
    uint8_t all[96];
    for (size_t i = 0; i < 3; i++)
        memcpy(all + 32 * i, usb("\xFB", 1, true, sizes[i], NULL)->bytes, 32);
    assert_int_equal(talk_say(t, all, sizeof(all)), FRONT_OUT_MAX);
    assert_memory_equal(t->out + FRONT_OUT_MAX - 5, "\1\0\0\0\3", 5);
    talk_end(t);
}

static void who_has_not_opened_gets_nothing(void **state)
{
    (void)state;
    struct talk *t = talk_begin(&front_stlink);
    struct message *m = usb("\xF1", 1, true, 6, NULL);
    assert_int_equal(talk_say(t, m->bytes, m->size), 10);
    assert_int_equal(get(t->out), 0x1003);
    assert_int_equal(talk_say(t, "\3\0\0\0\7\0\0\0", 8), 8); /* no such probe */
    assert_int_equal(get(t->out), 0x1002);
    open_probe(t);
    assert_int_equal(talk_say(t, "\4\0\0\0\1\0\0\0", 8), 4);
    assert_int_equal(talk_say(t, m->bytes, m->size), 36 - 32 + 2);
    talk_end(t);
}

static void an_unknown_command_has_no_good_status(void **state)
{
    (void)state;
    struct talk *t = opened();
    assert_int_equal(ASK(t, 2, 0xF2, 0x99)[0], 0);
    assert_int_equal(ASK(t, 2, 0xF2, 0x30, 0xA4)[0], 0x09); /* JTAG */
    talk_say(t, "\x66", 1);
    assert_true(t->closed);
    talk_end(t);
}

static void cut_anywhere_it_is_the_same(void **state)
{
    (void)state;
    static uint8_t all[200];
    size_t size = 0;
    uint8_t c[16];
    memcpy(all, "\6\1\0\0\3\0\0\0\1\0\0\0", size = 12);
    struct message *m = usb("\xF2\x30\xA3", 3, true, 2, NULL);
    memcpy(all + size, m->bytes, m->size);
    size += m->size;
    memory_command(c, 0x08, SRAM, 8, 0);
    m = usb(c, sizeof(c), false, 8, (const uint8_t *)"01234567");
    memcpy(all + size, m->bytes, m->size);
    size += m->size;
    memory_command(c, 0x07, SRAM, 8, 1);
    m = usb(c, sizeof(c), true, 8, NULL);
    memcpy(all + size, m->bytes, m->size);
    size += m->size;
    for (size_t step = 1; step <= size; step += 3) {
        struct talk *t = talk_begin(&front_stlink);
        assert_int_equal(talk_say_cut(t, all, size, step), 16 + 8 + 6 + 4 + 12);
        assert_memory_equal(t->out + 38, "01234567", 8);
        talk_end(t);
    }
}

static void nonsense_hurts_nobody(void **state)
{
    (void)state;
    static const uint8_t begin[] = {3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0xF2};
    struct talk *t = talk_begin(&front_stlink);
    talk_nonsense(t, begin, sizeof(begin));
    open_probe(t);
    assert_int_equal(get(ASK(t, 12, 0xF2, 0x31) + 4), 0x6BA02477u);
    talk_end(t);
}

static void the_reset_line(void **state)
{
    (void)state;
    struct talk *t = opened();
    static const struct {
        uint8_t level;
        bool held;
    } steps[] = {{0, true}, {0, true}, {1, false}, {2, false}, {0, true}, {2, false}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        mem_read(t->board, 1, DHCSR);
        assert_int_equal(ASK(t, 2, 0xF2, 0x3C, steps[i].level)[0], OK);
        assert_true(t->front->pulls_reset == steps[i].held);
        assert_int_equal(mem_read(t->board, 1, DHCSR) >> 25 & 1u, 1); /* it was, or is, in reset */
        assert_int_equal(mem_read(t->board, 1, DHCSR) >> 25 & 1u, steps[i].held);
    }
    talk_end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_presents_a_v3),
        cmocka_unit_test(registers_of_both_ports),
        cmocka_unit_test(memory_in_blocks),
        cmocka_unit_test(an_error_is_told_and_gone),
        cmocka_unit_test(wait_is_said_again_and_given_up),
        cmocka_unit_test(many_single_words_in_one_transfer),
        cmocka_unit_test(sizes_that_lie),
        cmocka_unit_test(the_end_of_the_room),
        cmocka_unit_test(who_has_not_opened_gets_nothing),
        cmocka_unit_test(an_unknown_command_has_no_good_status),
        cmocka_unit_test(cut_anywhere_it_is_the_same),
        cmocka_unit_test(nonsense_hurts_nobody),
        cmocka_unit_test(the_reset_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
