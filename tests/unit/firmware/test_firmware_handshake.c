/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core 0's handshake with a host, through the debug port: queues, SETUP, RELEASE, resets, and what the log
 * does meanwhile. docs/board.md, "The handshake"; firmware-log sheet 2, 3.4 and 5. Argument 1: core 0's
 * image without the log.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sim/board_fixture.h"
#include "tlog/arc_queue_layout.h"

#define MAGIC       0x544C4F47u
#define SYSINFO(o)  (BOARD_SYSINFO_BASE + (o))
#define SCRATCH(n)  SYSINFO(BOARD_SYSINFO_SCRATCH(n))
#define DOORBELL    SYSINFO(BOARD_SYSINFO_DOORBELL)
#define SYSRESETREQ 0x05FA0004u
#define SETUP       (ARC_MSG_TLOG | ARC_TLOG_SETUP << 8)
#define RELEASE     (ARC_MSG_TLOG | ARC_TLOG_RELEASE << 8)

struct host {
    struct board *board;
    const char *no_log; /* path */
    uint32_t queues, wptr[ARC_QUEUES_DEFAULT], rptr[ARC_QUEUES_DEFAULT];
    /* Core 0's log, from whichever buffer. */
    uint32_t buffer, records, expected, holes, mailbox_lines;
    char first[160], last[160];
    char uart[BOARD_CORES][65536];
    uint32_t uart_used[BOARD_CORES];
};

static void take_byte(void *ctx, unsigned core, uint8_t byte)
{
    struct host *h = ctx;
    if (h->uart_used[core] < sizeof(h->uart[core]) - 1)
        h->uart[core][h->uart_used[core]++] = (char)byte;
}

static void run_us(struct host *h, uint64_t us)
{
    board_run_until(h->board, board_tick(h->board) + board_tick_hz(h->board) / 1000000 * us);
}

static int fresh_board(void **state)
{
    struct host *h = *state;
    struct diag d = DIAG_INIT;
    const struct board_config config = {.seed = 3, .uart = take_byte, .ctx = h};
    const char *no_log = h->no_log;
    memset(h, 0, sizeof(*h));
    h->no_log = no_log;
    h->board = board_new(&config, &d);
    assert_non_null(h->board);
    assert_int_equal(board_load_elf(h->board, 0, board_image_core0,
                                    (size_t)(board_image_core0_end - board_image_core0), &d),
                     CORRAL_OK);
    assert_int_equal(board_load_elf(h->board, 1, board_image_core1,
                                    (size_t)(board_image_core1_end - board_image_core1), &d),
                     CORRAL_OK);
    board_reset(h->board);
    dp_power_up(h->board);
    return 0;
}

static int drop_board(void **state)
{
    struct host *h = *state;
    board_free(h->board);
    h->board = NULL;
    return 0;
}

static void find_queues(struct host *h)
{
    for (unsigned i = 0; i < 100 && mem_read(h->board, 0, SCRATCH(ARC_SCRATCH_BOOT_STATUS)) != 1; i++)
        run_us(h, 10);
    assert_int_equal(mem_read(h->board, 0, SCRATCH(ARC_SCRATCH_BOOT_STATUS)), ARC_BOOT_STATUS_READY);
    uint32_t control = mem_read(h->board, 0, SCRATCH(ARC_SCRATCH_QUEUE_CONTROL));
    assert_int_equal(control, BOARD_QUEUE_MEMORY);
    h->queues = mem_read(h->board, 0, control);
    assert_int_equal(mem_read(h->board, 0, control + 4), 4 | 4 << 8);
    assert_true(h->queues + 4 * ARC_QUEUE_SIZE(4) <= BOARD_QUEUE_MEMORY + BOARD_QUEUE_MEMORY_SIZE);
    memset(h->wptr, 0, sizeof(h->wptr));
    memset(h->rptr, 0, sizeof(h->rptr));
}

/* Word 0 of the answer; the others to response[1..7]. How long it took, in microseconds of target time, to
 * *us. */
static uint32_t exchange(struct host *h, unsigned ap, uint32_t queue, bool ring, const uint32_t request[4],
                         uint32_t response[8], uint64_t *us)
{
    uint32_t at = h->queues + queue * ARC_QUEUE_SIZE(4);
    uint32_t slot = at + ARC_QUEUE_HEADER_SIZE + h->wptr[queue] % 4 * ARC_MESSAGE_SIZE;
    for (unsigned i = 0; i < 8; i++)
        mem_write(h->board, ap, slot + 4 * i, i < 4 ? request[i] : 0);
    h->wptr[queue] = (h->wptr[queue] + 1) % 8;
    mem_write(h->board, ap, at + ARC_QUEUE_REQUEST_WPTR, h->wptr[queue]);
    if (ring)
        mem_write(h->board, ap, DOORBELL, 0);
    uint64_t start = board_tick(h->board);
    while (mem_read(h->board, ap, at + ARC_QUEUE_RESPONSE_WPTR) == h->rptr[queue])
        assert_true(board_tick(h->board) - start < board_tick_hz(h->board) / 10); /* 100 ms */
    if (us)
        *us = (board_tick(h->board) - start) / (board_tick_hz(h->board) / 1000000);
    slot = at + ARC_QUEUE_HEADER_SIZE + (4 + h->rptr[queue] % 4) * ARC_MESSAGE_SIZE;
    for (unsigned i = 0; i < 8; i++)
        response[i] = mem_read(h->board, ap, slot + 4 * i);
    h->rptr[queue] = (h->rptr[queue] + 1) % 8;
    mem_write(h->board, ap, at + ARC_QUEUE_RESPONSE_RPTR, h->rptr[queue]);
    return response[0];
}

static uint32_t send_tlog(struct host *h, uint32_t word0, uint64_t address, uint32_t size)
{
    const uint32_t request[4] = {word0, (uint32_t)address, (uint32_t)(address >> 32), size};
    uint32_t response[8];
    uint32_t code = exchange(h, 0, ARC_QUEUE_TOOLS, true, request, response, NULL);
    for (unsigned i = 1; i < 8; i++)
        assert_int_equal(response[i], 0);
    return code;
}

/* Set the log up in `buffer` and read there from now on. */
static void set_up(struct host *h, uint32_t buffer)
{
    h->buffer = buffer;
    assert_int_equal(send_tlog(h, SETUP, buffer, BOARD_LOG_BUFFER_SIZE), ARC_TLOG_OK);
    assert_int_equal(mem_read(h->board, 0, buffer + 8), MAGIC);
    assert_int_equal(mem_read(h->board, 0, buffer + 4), BOARD_LOG_BUFFER_SIZE);
}

/* Every answer of core 1 came in time. */
static void check_mailbox_line(struct host *h, const char *text)
{
    if (strncmp(text, "mbox: ", 6) != 0)
        return;
    h->mailbox_lines++;
    if (!strstr(text, " asked, 0 missed"))
        fail_msg("%s", text);
}

static bool read_batch(struct host *h)
{
    static uint8_t bytes[BOARD_LOG_BUFFER_SIZE];
    if ((mem_read(h->board, 0, h->buffer + 12) & 0xFF) != 1)
        return false;
    assert_int_equal(mem_read(h->board, 0, h->buffer + 8), MAGIC);
    uint32_t end = mem_read(h->board, 0, h->buffer);
    assert_in_range(end, 17, BOARD_LOG_BUFFER_SIZE);
    for (uint32_t at = 16; at < end; at += 4) {
        uint32_t word = mem_read(h->board, 0, h->buffer + at);
        memcpy(bytes + at, &word, 4);
    }
    mem_write(h->board, 0, h->buffer + 12, 0);
    for (uint32_t at = 16; at < end;) {
        uint32_t size = bytes[at] | (uint32_t)bytes[at + 1] << 8, sequence;
        assert_true(end - at >= 13 && size >= 13 && size <= end - at);
        assert_int_equal(bytes[at + 3], 0); /* SMC */
        memcpy(&sequence, bytes + at + 8, 4);
        if (h->records++ == 0)
            snprintf(h->first, sizeof(h->first), "%s", (char *)bytes + at + 12);
        assert_true(sequence >= h->expected);
        h->holes += sequence - h->expected;
        h->expected = sequence + 1;
        snprintf(h->last, sizeof(h->last), "%s", (char *)bytes + at + 12);
        check_mailbox_line(h, h->last);
        at += size;
    }
    return true;
}

static void read_for_ms(struct host *h, unsigned ms)
{
    for (unsigned i = 0; i < ms; i += 5) {
        run_us(h, 5000);
        read_batch(h);
    }
}

static void the_log_begins_with_setup(void **state)
{
    struct host *h = *state;
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    read_for_ms(h, 60);
    assert_string_equal(h->first, "boot: core 0 at 100000000 Hz, answers due in 20 us");
    assert_true(h->records > 5);
    assert_int_equal(h->holes, 0);
    /* The default buffer was never touched. */
    for (uint32_t at = 0; at < 32; at += 4)
        assert_int_equal(mem_read(h->board, 0, BOARD_LOG_BUFFER0 + at), 0);
}

static void without_setup_it_takes_its_default_buffer_after_20_ms(void **state)
{
    struct host *h = *state;
    run_us(h, 18500);
    assert_int_equal(mem_read(h->board, 0, BOARD_LOG_BUFFER0 + 8), 0);
    assert_int_equal(mem_read(h->board, 1, BOARD_LOG_BUFFER1 + 8), MAGIC); /* core 1 does not wait */
    run_us(h, 4500);
    assert_int_equal(mem_read(h->board, 0, BOARD_LOG_BUFFER0 + 8), MAGIC);
    h->buffer = BOARD_LOG_BUFFER0;
    read_for_ms(h, 35);
    assert_string_equal(h->first, "boot: core 0 at 100000000 Hz, answers due in 20 us");
    assert_int_equal(h->holes, 0);
}

/* What went to the old buffer just before is still there after the answer. */
static void move_to(struct host *h, uint32_t buffer)
{
    uint32_t old = h->buffer;
    set_up(h, buffer);
    h->buffer = old;
    read_batch(h);
    h->buffer = buffer;
}

static void a_later_setup_moves_the_log(void **state)
{
    struct host *h = *state;
    h->buffer = BOARD_LOG_BUFFER0;
    read_for_ms(h, 35);
    find_queues(h);
    uint32_t before = h->records;
    assert_true(before > 0);
    move_to(h, BOARD_LOG_HOST_BUFFER);
    read_for_ms(h, 35);
    assert_true(h->records > before + 1);
    move_to(h, BOARD_LOG_BUFFER0); /* and back */
    read_for_ms(h, 35);
    assert_int_equal(h->holes, 0);
}

static void release_gives_the_last_lines_and_the_rest_waits(void **state)
{
    struct host *h = *state;
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    read_for_ms(h, 35);
    run_us(h, 9000); /* something is staged */
    read_batch(h);
    assert_int_equal(send_tlog(h, RELEASE, 0, 0), ARC_TLOG_OK);
    read_batch(h);
    uint32_t before = h->records;
    run_us(h, 100000);
    assert_false(read_batch(h));
    assert_int_equal(mem_read(h->board, 0, BOARD_LOG_BUFFER0 + 8), 0); /* it does not go there */
    assert_int_equal(send_tlog(h, RELEASE, 0, 0), ARC_TLOG_OK);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    read_for_ms(h, 35);
    assert_true(h->records > before + 10); /* 100 ms of lines had waited */
    assert_int_equal(h->holes, 0);
}

static void an_address_that_is_not_for_sharing_is_refused(void **state)
{
    struct host *h = *state;
    static const struct {
        uint64_t address;
        uint32_t size;
    } bad[] = {
        {0, 4112},
        {BOARD_SRAM_CORE0, 4112},
        {BOARD_SRAM_CORE1 + 0x100, 4112},
        {BOARD_SRAM_SHARED - 4, 4112},
        {BOARD_FLASH_BASE, 4112},
        {BOARD_QUEUE_MEMORY, 4112},
        {BOARD_QUEUE_MEMORY - 4108, 4112},
        {BOARD_QUEUE_MEMORY + BOARD_QUEUE_MEMORY_SIZE - 4, 4112},
        {BOARD_LOG_HOST_BUFFER + 1, 4112},
        {BOARD_LOG_HOST_BUFFER, 28},
        {BOARD_LOG_HOST_BUFFER, 0xFFFFFFFF},
        {BOARD_SRAM_BASE + BOARD_SRAM_SIZE - 4096, 4112},
        {BOARD_LOG_HOST_BUFFER | 1ull << 32, 4112},
        {0xFFFFFFFFFFFFFFF0ull, 4112},
    };
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(send_tlog(h, SETUP, bad[i].address, bad[i].size), ARC_TLOG_BAD_SIZE);
    assert_int_equal(send_tlog(h, ARC_MSG_TLOG | 3 << 8, 0, 0), ARC_TLOG_BAD_SUBCOMMAND);
    read_for_ms(h, 35); /* the old buffer is still the one */
    assert_true(h->records > 3);
    assert_int_equal(h->holes, 0);
    assert_int_equal(send_tlog(h, SETUP, BOARD_SRAM_BASE + BOARD_SRAM_SIZE - 4112, 4112), ARC_TLOG_OK);
}

static void a_message_without_a_ring_is_answered_a_little_later(void **state)
{
    struct host *h = *state;
    uint32_t response[8];
    uint64_t us, worst[2] = {0, 0};
    find_queues(h);
    for (uint32_t i = 0; i < 8; i++) {
        for (unsigned ring = 0; ring < 2; ring++) {
            const uint32_t test[4] = {ARC_MSG_TEST, 100 + i};
            assert_int_equal(exchange(h, i % 2, i % 4, ring, test, response, &us), 0);
            assert_int_equal(response[1], 101 + i);
            if (us > worst[ring])
                worst[ring] = us;
        }
    }
    assert_in_range(worst[0], 5000, 22000);
    assert_in_range(worst[1], 1, 2000);
}

static void messages_without_pause_make_no_answer_of_core_1_late(void **state)
{
    struct host *h = *state;
    uint32_t response[8], serial = 0;
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    for (uint32_t i = 0; i < 80; i++) {
        const uint32_t test[4] = {ARC_MSG_TEST, i};
        assert_int_equal(exchange(h, i % 2, ARC_QUEUE_APPS, true, test, response, NULL), 0);
        assert_int_equal(response[2], ++serial);
        mem_write(h->board, 1, DOORBELL, i); /* and rings for nothing */
        if (i % 16 == 0)
            read_batch(h);
    }
    read_for_ms(h, 35);
    assert_int_equal(h->holes, 0);
    assert_true(h->mailbox_lines >= 3); /* each says "0 missed" */
}

static void a_reset_wants_a_new_setup(void **state)
{
    struct host *h = *state;
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    read_for_ms(h, 35);
    mem_write(h->board, 1, AIRCR, SYSRESETREQ);
    assert_int_equal(mem_read(h->board, 0, SCRATCH(ARC_SCRATCH_BOOT_STATUS)), 0);
    find_queues(h);
    read_batch(h); /* handed over before the reset */
    uint32_t before = h->records;
    h->expected = 0; /* numbers begin again */
    set_up(h, BOARD_LOG_HOST_BUFFER);
    h->records = 0;
    read_for_ms(h, 35);
    assert_true(before > 0 && h->records > 0);
    assert_int_equal(h->holes, 0);
    assert_string_equal(h->first, "boot: core 0 at 100000000 Hz, answers due in 20 us");
}

static void a_fault_waits_for_the_buffer(void **state)
{
    struct host *h = *state;
    find_queues(h);
    set_up(h, BOARD_LOG_HOST_BUFFER);
    run_us(h, 60000); /* the first batch lies unread, more is staged */
    halt(h->board, 0);
    set_core_register(h->board, 0, 15, 0x60000000u);
    resume(h->board, 0);
    run_us(h, 10000);
    for (unsigned i = 0; i < 5; i++) {
        read_batch(h);
        run_us(h, 2000);
    }
    assert_non_null(strstr(h->last, "fault: exception 3, pc 0x60000000"));
    assert_int_equal(h->holes, 0);
}

static void built_without_the_log_it_runs_and_answers_ff(void **state)
{
    struct host *h = *state;
    static uint8_t image[1 << 20];
    struct diag d = DIAG_INIT;
    uint32_t response[8];
    FILE *f = fopen(h->no_log, "rb");
    assert_non_null(f);
    size_t size = fread(image, 1, sizeof(image), f);
    fclose(f);
    assert_int_equal(board_load_elf(h->board, 0, image, size, &d), CORRAL_OK);
    board_reset(h->board);
    dp_power_up(h->board);
    h->uart_used[0] = 0;
    find_queues(h);
    assert_int_equal(send_tlog(h, SETUP, BOARD_LOG_HOST_BUFFER, BOARD_LOG_BUFFER_SIZE), ARC_MSG_UNKNOWN);
    assert_int_equal(send_tlog(h, RELEASE, 0, 0), ARC_MSG_UNKNOWN);
    const uint32_t test[4] = {ARC_MSG_TEST, 41};
    assert_int_equal(exchange(h, 0, 0, true, test, response, NULL), 0);
    assert_int_equal(response[1], 42);
    run_us(h, 150000);
    assert_int_equal(mem_read(h->board, 0, BOARD_LOG_BUFFER0 + 8), 0);
    assert_int_equal(mem_read(h->board, 0, BOARD_LOG_HOST_BUFFER + 8), 0);
    h->uart[0][h->uart_used[0]] = 0;
    for (char *line = strtok(h->uart[0], "\r\n"); line; line = strtok(NULL, "\r\n"))
        check_mailbox_line(h, line);
    assert_in_range(h->mailbox_lines, 2, 5);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORE0-NO-LOG.ELF\n", argv[0]);
        return 2;
    }
    struct host *h = calloc(1, sizeof(*h));
    if (!h)
        return 2;
    h->no_log = argv[1];
#define ON_BOARD(test) cmocka_unit_test_prestate_setup_teardown(test, fresh_board, drop_board, h)
    const struct CMUnitTest tests[] = {
        ON_BOARD(the_log_begins_with_setup),
        ON_BOARD(without_setup_it_takes_its_default_buffer_after_20_ms),
        ON_BOARD(a_later_setup_moves_the_log),
        ON_BOARD(release_gives_the_last_lines_and_the_rest_waits),
        ON_BOARD(an_address_that_is_not_for_sharing_is_refused),
        ON_BOARD(a_message_without_a_ring_is_answered_a_little_later),
        ON_BOARD(messages_without_pause_make_no_answer_of_core_1_late),
        ON_BOARD(a_reset_wants_a_new_setup),
        ON_BOARD(a_fault_waits_for_the_buffer),
        ON_BOARD(built_without_the_log_it_runs_and_answers_ff),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(h);
    return failed;
}
