/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF loader: what it takes, and hostile images that must change nothing. */
#include "board_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define ROOM 4096u
#define PH   52u /* the program header of program_elf */

struct image {
    uint8_t *bytes; /* on the heap, exactly as long as it says: the sanitizer sees every byte too many */
    size_t size;
};

static struct image good_image(void)
{
    uint8_t room[ROOM];
    struct program p = {0};
    program_counter(&p, 0, NULL);
    size_t size = program_elf(&p, room, sizeof(room));
    struct image i = {malloc(size), size};
    assert_non_null(i.bytes);
    memcpy(i.bytes, room, size);
    return i;
}

/* Loading must fail with a sentence, and the program that was there must still run. */
static void refuse(const uint8_t *bytes, size_t size)
{
    struct diag d = DIAG_INIT;
    struct board *b = board_counting(NULL, NULL);
    uint32_t first = mem_read(b, 0, CODE_BASE);
    uint32_t cell = mem_read(b, 0, CELL);
    assert_int_equal(board_load_elf(b, 0, bytes, size, &d), CORRAL_ERR_ELF);
    assert_int_equal(d.code, CORRAL_ERR_ELF);
    assert_true(d.message[0] != '\0');
    assert_int_equal(board_load_elf(b, 0, bytes, size, NULL), CORRAL_ERR_ELF);
    assert_int_equal(mem_read(b, 0, CODE_BASE), first);
    assert_true(mem_read(b, 0, CELL) > cell);
    board_free(b);
}

static void refuse_with16(size_t at, unsigned value)
{
    struct image i = good_image();
    store_le16(i.bytes + at, (uint16_t)value);
    refuse(i.bytes, i.size);
    free(i.bytes);
}

static void refuse_with32(size_t at, uint32_t value)
{
    struct image i = good_image();
    store_le32(i.bytes + at, value);
    refuse(i.bytes, i.size);
    free(i.bytes);
}

static void loads_and_runs(void **state)
{
    (void)state;
    struct image i = good_image();
    struct board *b = board_new(NULL, NULL);
    struct diag d = DIAG_INIT;
    dp_power_up(b);
    assert_int_equal(board_load_elf(b, 0, i.bytes, i.size, &d), CORRAL_OK);
    assert_true(mem_read(b, 0, CELL) > 0);
    assert_int_equal(mem_read(b, 0, BOARD_FLASH_BASE + BOARD_FLASH_SIZE - 4), 0xFFFFFFFFu);
    board_free(b);
    free(i.bytes);
}

static void core_without_image_is_held_in_reset(void **state)
{
    (void)state;
    struct image i = good_image();
    struct board *b = board_new(NULL, NULL);
    dp_power_up(b);
    assert_int_equal(board_load_elf(b, 0, i.bytes, i.size, NULL), CORRAL_OK);
    assert_int_equal(mem_read(b, 1, DHCSR) >> 25 & 1u, 1);
    assert_int_equal(mem_read(b, 1, DHCSR) >> 25 & 1u, 1); /* S_RESET_ST does not go away */
    mem_write(b, 1, DHCSR, KEY_HALT);
    assert_false(is_halted(b, 1));
    assert_int_equal(board_load_elf(b, 1, i.bytes, i.size, NULL), CORRAL_OK);
    assert_false(is_halted(b, 1)); /* C_HALT does not outlive the reset */
    assert_int_equal(mem_read(b, 1, DHCSR) >> 24 & 1u, 1);
    board_free(b);
    free(i.bytes);
}

static void a_second_image_replaces_the_first(void **state)
{
    (void)state;
    struct board *b = board_counting(NULL, NULL);
    struct program p = {0};
    program_branch(&p, CODE_BASE);
    load_program(b, 0, &p);
    assert_int_equal(mem_read(b, 0, CODE_BASE + 0x10), 0xFFFFFFFFu);
    board_free(b);
}

static void segment_may_go_to_sram(void **state)
{
    (void)state;
    struct image i = good_image();
    struct board *b = board_new(NULL, NULL);
    store_le32(i.bytes + PH + 8, 0x20003000);
    store_le32(i.bytes + PH + 12, 0x20003000);
    dp_power_up(b);
    assert_int_equal(board_load_elf(b, 0, i.bytes, i.size, NULL), CORRAL_OK);
    assert_int_equal(mem_read(b, 0, 0x20003000), BOARD_SRAM_CORE0 + BOARD_SRAM_EACH);
    board_free(b);
    free(i.bytes);
}

static void zeroed_segment_takes_no_bytes(void **state)
{
    (void)state;
    uint8_t room[ROOM];
    struct program p = {0};
    program_counter(&p, 0, NULL);
    size_t size = program_elf(&p, room, sizeof(room));
    /* A second header behind the file: bss, whose load address means nothing. */
    store_le32(room + 28, (uint32_t)size);
    store_le16(room + 44, 2);
    memcpy(room + size, room + PH, 32);
    memcpy(room + size + 32, room + PH, 32);
    store_le32(room + size + 32 + 8, BOARD_SRAM_BASE);
    store_le32(room + size + 32 + 12, 0x08FFFFF0);
    store_le32(room + size + 32 + 16, 0);
    store_le32(room + size + 32 + 20, 0x1000);
    struct board *b = board_counting(NULL, NULL);
    assert_int_equal(board_load_elf(b, 0, room, size + 64, NULL), CORRAL_OK);
    store_le32(room + size + 32 + 20, 0x80001); /* and one that does not fit into SRAM */
    assert_int_equal(board_load_elf(b, 0, room, size + 64, NULL), CORRAL_ERR_ELF);
    board_free(b);
}

static void truncated_at_every_byte(void **state)
{
    (void)state;
    struct image i = good_image();
    struct board *b = board_counting(NULL, NULL);
    for (size_t size = 0; size < i.size; size++) {
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, i.bytes, size);
        assert_int_equal(board_load_elf(b, 0, cut, size, NULL), CORRAL_ERR_ELF);
        free(cut);
    }
    uint32_t cell = mem_read(b, 0, CELL);
    assert_true(mem_read(b, 0, CELL) > cell);
    board_free(b);
    free(i.bytes);
}

static void not_an_elf_file(void **state)
{
    (void)state;
    static const uint8_t zeros[256];
    refuse(zeros, sizeof(zeros));
    refuse_with32(0, 0x464C4500);
}

static void sixty_four_bit(void **state)
{
    (void)state;
    refuse_with16(4, 0x0102);
}

static void big_endian(void **state)
{
    (void)state;
    refuse_with16(4, 0x0201);
}

static void wrong_machine(void **state)
{
    (void)state;
    refuse_with16(18, 62); /* x86-64 */
    refuse_with16(18, 0);
}

static void not_an_executable(void **state)
{
    (void)state;
    refuse_with16(16, 1);
    refuse_with16(16, 3);
}

static void program_headers_out_of_file(void **state)
{
    (void)state;
    refuse_with32(28, 0xFFFFFFFFu);
    refuse_with32(28, 0xFFFFFFE0u);
    refuse_with16(44, 0xFFFF);
    refuse_with16(44, 64);
    refuse_with16(44, 0);
    refuse_with16(42, 0);
    refuse_with16(42, 0xFFFF);
}

static void segment_out_of_file(void **state)
{
    (void)state;
    refuse_with32(PH + 4, 0xFFFFFFFFu);
    refuse_with32(PH + 4, 0xFFFFFFF0u);
    refuse_with32(PH + 16, 0xFFFFFFFFu);
    refuse_with32(PH + 16, 0x80000000u);
}

static void segment_out_of_memory(void **state)
{
    (void)state;
    refuse_with32(PH + 12, 0x40000000);
    refuse_with32(PH + 12, 0xFFFFFFFCu);
    refuse_with32(PH + 12, BOARD_FLASH_BASE + BOARD_FLASH_SIZE - 16);
    refuse_with32(PH + 12, BOARD_FLASH_BASE + BOARD_FLASH_SIZE);
    refuse_with32(PH + 12, BOARD_SRAM_BASE - 4);
    refuse_with32(PH + 12, BOARD_SRAM_BASE + BOARD_SRAM_SIZE - 4);
    refuse_with32(PH + 8, 0x60000000);
}

static void huge_memory_size(void **state)
{
    (void)state;
    refuse_with32(PH + 20, 0xFFFFFFFFu);
    refuse_with32(PH + 20, BOARD_FLASH_SIZE + 1);
    refuse_with32(PH + 20, 8); /* less than the file has */
    refuse_with32(PH + 20, 0);
}

/* The core keeps what it has decoded of its flash: another image must not run as the old one. */
static void another_image_at_the_same_addresses(void **state)
{
    struct board *b = board_new(NULL, NULL);

    (void)state;
    assert_non_null(b);
    dp_power_up(b);
    for (uint32_t value = 1; value <= 3; value++) {
        struct program p = {0};
        program_store(&p, CELL, value);
        program_branch(&p, program_here(&p));
        load_program(b, 0, &p);
        board_run_until(b, board_tick(b) + 1000);
        assert_int_equal(mem_read(b, 0, CELL), value);
    }
    board_free(b);
}

static void nothing_to_load(void **state)
{
    (void)state;
    refuse_with32(PH, 2);
    refuse_with32(PH + 16, 0);
}

static void overlapping_segments(void **state)
{
    (void)state;
    /* The same bytes twice: at the same address, and through the other alias of flash. */
    static const uint32_t second[] = {BOARD_FLASH_BASE, BOARD_FLASH_BASE + 16, BOARD_FLASH_ALIAS};
    for (unsigned n = 0; n < 3; n++) {
        uint8_t room[ROOM];
        struct program p = {0};
        program_counter(&p, 0, NULL);
        size_t size = program_elf(&p, room, sizeof(room));
        store_le32(room + 28, (uint32_t)size);
        store_le16(room + 44, 2);
        memcpy(room + size, room + PH, 32);
        memcpy(room + size + 32, room + PH, 32);
        store_le32(room + size + 32 + 8, second[n]);
        store_le32(room + size + 32 + 12, second[n]);
        refuse(room, size + 64);
    }
}

static void no_such_core(void **state)
{
    (void)state;
    struct image i = good_image();
    struct board *b = board_new(NULL, NULL);
    assert_int_equal(board_load_elf(b, 2, i.bytes, i.size, NULL), CORRAL_ERR_NO_CORE);
    board_free(b);
    free(i.bytes);
}

static void random_damage_never_crashes(void **state)
{
    (void)state;
    uint32_t random = 12345;
    struct image i = good_image();
    struct board *b = board_counting(NULL, NULL);
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t *bytes = malloc(i.size);
        assert_non_null(bytes);
        memcpy(bytes, i.bytes, i.size);
        for (unsigned n = 0; n < 4; n++) {
            random = random * 1664525u + 1013904223u;
            bytes[(random >> 16) % 84] = (uint8_t)(random >> 8);
        }
        enum corral_err e = board_load_elf(b, 0, bytes, i.size, NULL);
        assert_true(e == CORRAL_OK || e == CORRAL_ERR_ELF);
        free(bytes);
    }
    board_free(b);
    free(i.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_runs),
        cmocka_unit_test(core_without_image_is_held_in_reset),
        cmocka_unit_test(a_second_image_replaces_the_first),
        cmocka_unit_test(another_image_at_the_same_addresses),
        cmocka_unit_test(segment_may_go_to_sram),
        cmocka_unit_test(zeroed_segment_takes_no_bytes),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(not_an_elf_file),
        cmocka_unit_test(sixty_four_bit),
        cmocka_unit_test(big_endian),
        cmocka_unit_test(wrong_machine),
        cmocka_unit_test(not_an_executable),
        cmocka_unit_test(program_headers_out_of_file),
        cmocka_unit_test(segment_out_of_file),
        cmocka_unit_test(segment_out_of_memory),
        cmocka_unit_test(huge_memory_size),
        cmocka_unit_test(nothing_to_load),
        cmocka_unit_test(overlapping_segments),
        cmocka_unit_test(no_such_core),
        cmocka_unit_test(random_damage_never_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
