/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in programs on the virtual board: what they log, sample and answer, seen from outside only (debug
 * port, datagrams, symbols). Argument 1 and 2: core0.elf and core1.elf, for their symbols; 3: what the cores
 * are (m7). Firmware-log sheet 1, profiler sheet 3.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "../sim/board_fixture.h"
#include "sim/identity.h"

#define SYMBOLS_MAX 256u
#define SAMPLES_MAX 20000u
#define MAGIC       0x544C4F47u

enum { LEVEL_ERR = 1, LEVEL_WRN, LEVEL_INF, LEVEL_DBG };

struct symbol {
    char name[48];
    uint32_t address, size;
    bool function;
};

struct core_image {
    struct symbol symbols[SYMBOLS_MAX];
    unsigned count;
};

struct fixture {
    const char *path[BOARD_CORES];
    enum board_identity identity;
    struct core_image image[BOARD_CORES];
    struct board *board;
    uint32_t pc[BOARD_CORES][SAMPLES_MAX];
    uint32_t samples[BOARD_CORES], packets[BOARD_CORES];
    uint32_t counters[BOARD_CORES]; /* packets of named counters */
    uint32_t uart_lines[BOARD_CORES];
};

static void take_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size)
{
    struct fixture *f = ctx;
    static const uint8_t start[3] = {0x3E, 0xB1, 252};
    if (size >= 2 && data[0] == 0x9E && data[1] == 0xA0) {
        static const char *const first[BOARD_CORES] = {"mailbox asked", "mailbox answered"};
        assert_int_equal(size, 16 + 24u * data[3]);
        assert_string_equal((const char *)data + 16, first[core]); /* shorter than its 20 bytes */
        f->counters[core]++;
        return;
    }
    assert_true(size >= 276);
    assert_memory_equal(data, start, sizeof(start));
    assert_int_equal(size, 252 + 24u * data[3]);
    uint32_t seq =
        (uint32_t)data[168] << 24 | (uint32_t)data[169] << 16 | (uint32_t)data[170] << 8 | data[171];
    assert_int_equal(seq, f->packets[core]++);
    for (unsigned i = 0; i < data[3]; i++) {
        const uint8_t *s = data + 252 + 24 * i;
        uint32_t pc = (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
        assert_int_equal(s[17], 1); /* active: thread 0 */
        assert_int_equal(s[23], 0);
        assert_true(f->samples[core] < SAMPLES_MAX);
        f->pc[core][f->samples[core]++] = pc;
    }
}

static void take_byte(void *ctx, unsigned core, uint8_t byte)
{
    struct fixture *f = ctx;
    f->uart_lines[core] += byte == '\n';
}

static void read_symbols(struct core_image *image, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        assert_non_null(gelf_getshdr(section, &header));
        if (header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            assert_non_null(gelf_getsym(data, (int)i, &symbol));
            unsigned type = GELF_ST_TYPE(symbol.st_info);
            if (type != STT_FUNC && type != STT_OBJECT)
                continue;
            assert_true(image->count < SYMBOLS_MAX);
            struct symbol *s = &image->symbols[image->count++];
            snprintf(s->name, sizeof(s->name), "%s", elf_strptr(elf, header.sh_link, symbol.st_name));
            s->address = (uint32_t)symbol.st_value & (type == STT_FUNC ? ~1u : ~0u);
            s->size = (uint32_t)symbol.st_size;
            s->function = type == STT_FUNC;
        }
    }
    elf_end(elf);
    close(fd);
}

static const struct symbol *symbol_named(const struct fixture *f, unsigned core, const char *name)
{
    for (unsigned i = 0; i < f->image[core].count; i++)
        if (strcmp(f->image[core].symbols[i].name, name) == 0)
            return &f->image[core].symbols[i];
    fail_msg("no symbol %s in %s", name, f->path[core]);
    return NULL;
}

static uint32_t variable(struct fixture *f, unsigned core, const char *name)
{
    return mem_read(f->board, core, symbol_named(f, core, name)->address);
}

static void run_us(struct fixture *f, uint64_t us)
{
    board_run_until(f->board, board_tick(f->board) + board_tick_hz(f->board) / 1000000 * us);
}

static int fresh_board(void **state)
{
    struct fixture *f = *state;
    struct diag d = {0};
    const struct board_config config = {.identity = {f->identity, f->identity},
                                        .seed = 7,
                                        .count_pcs = true,
                                        .datagram = take_datagram,
                                        .uart = take_byte,
                                        .ctx = f};
    memset(f->samples, 0, sizeof(f->samples));
    memset(f->counters, 0, sizeof(f->counters));
    memset(f->packets, 0, sizeof(f->packets));
    memset(f->uart_lines, 0, sizeof(f->uart_lines));
    f->board = board_new(&config, &d);
    assert_non_null(f->board);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        size_t size = 0;
        const uint8_t *image = board_identity_image(f->identity, core, &size);
        assert_int_equal(board_load_elf(f->board, core, image, size, &d), CORRAL_OK);
    }
    board_reset(f->board);
    dp_power_up(f->board);
    return 0;
}

static int drop_board(void **state)
{
    struct fixture *f = *state;
    board_free(f->board);
    f->board = NULL;
    return 0;
}

/* One core's log as a host reads it. */
struct reader {
    uint32_t buffer;
    uint32_t records, expected, last_time, levels[8], holes;
    char first[64], last[160], notice[64];
};

static void read_batch(struct fixture *f, unsigned core, struct reader *r)
{
    static uint8_t bytes[4112];
    if ((mem_read(f->board, core, r->buffer + 12) & 0xFF) != 1)
        return;
    assert_int_equal(mem_read(f->board, core, r->buffer + 8), MAGIC);
    uint32_t end = mem_read(f->board, core, r->buffer);
    assert_in_range(end, 17, 4112);
    for (uint32_t at = 16; at < end; at += 4) {
        uint32_t word = mem_read(f->board, core, r->buffer + at);
        memcpy(bytes + at, &word, 4);
    }
    mem_write(f->board, core, r->buffer + 12, 0);
    for (uint32_t at = 16; at < end;) {
        assert_true(end - at >= 13);
        uint32_t size = bytes[at] | (uint32_t)bytes[at + 1] << 8;
        assert_true(size >= 13 && size <= end - at);
        uint32_t time, sequence;
        memcpy(&time, bytes + at + 4, 4);
        memcpy(&sequence, bytes + at + 8, 4);
        assert_true(sequence >= r->expected);
        r->holes += sequence - r->expected;
        assert_true(time >= r->last_time);
        assert_int_equal(bytes[at + 3], core);
        assert_in_range(bytes[at + 2], 1, 4);
        assert_int_equal(bytes[at + size - 1], 0);
        r->levels[bytes[at + 2]]++;
        r->expected = sequence + 1;
        r->last_time = time;
        if (r->records++ == 0)
            snprintf(r->first, sizeof(r->first), "%s", (char *)bytes + at + 12);
        snprintf(r->last, sizeof(r->last), "%s", (char *)bytes + at + 12);
        if (strstr(r->last, " messages dropped"))
            snprintf(r->notice, sizeof(r->notice), "%.60s", r->last);
        at += size;
    }
}

static void the_log_of_both_cores_comes_whole(void **state)
{
    struct fixture *f = *state;
    struct reader reader[BOARD_CORES] = {{.buffer = BOARD_LOG_BUFFER0}, {.buffer = BOARD_LOG_BUFFER1}};
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        const struct symbol *s = symbol_named(f, core, "tlog_buffer");
        assert_int_equal(s->address, reader[core].buffer);
        assert_int_equal(s->size, 4112);
    }
    for (unsigned ms = 0; ms < 200; ms += 5) {
        run_us(f, 5000);
        for (unsigned core = 0; core < BOARD_CORES; core++)
            read_batch(f, core, &reader[core]);
    }
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        const struct reader *r = &reader[core];
        /* Reading takes wire time, so the board has run for longer than 200 ms. */
        assert_in_range(r->records, 20, 60);
        assert_in_range(r->last_time, 170, 400);
        assert_true(r->records <= f->uart_lines[core] && f->uart_lines[core] <= r->records + 8);
        assert_true(r->levels[LEVEL_WRN] && r->levels[LEVEL_INF] && r->levels[LEVEL_DBG]);
        assert_int_equal(r->levels[LEVEL_ERR], 0);
        assert_int_equal(r->holes, 0);
    }
    assert_string_equal(reader[0].first, "boot: core 0 at 100000000 Hz, answers due in 20 us");
    assert_string_equal(reader[1].first, "boot: core 1 at 100000000 Hz");
}

static void an_unread_log_is_kept_then_dropped_with_a_count(void **state)
{
    struct fixture *f = *state;
    struct reader reader = {.buffer = BOARD_LOG_BUFFER1};
    halt(f->board, 0); /* saves the test's time */
    run_us(f, 850000); /* about 120 lines: more than the buffer and the staging hold */
    read_batch(f, 1, &reader);
    assert_in_range(reader.records, 1, 10); /* what the first flush gave */
    run_us(f, 25000);
    read_batch(f, 1, &reader); /* the oldest of the rest */
    assert_int_equal(reader.holes, 0);
    assert_true(reader.records > 50);
    for (unsigned i = 0; i < 4; i++) {
        run_us(f, 25000);
        read_batch(f, 1, &reader);
    }
    assert_true(reader.holes > 10);
    char notice[40];
    snprintf(notice, sizeof(notice), "%u messages dropped", reader.holes);
    assert_string_equal(reader.notice, notice);
}

static void samples_add_up_and_no_answer_is_late_in_free_running(void **state)
{
    struct fixture *f = *state;
    run_us(f, 400000);
    for (unsigned core = 0; core < BOARD_CORES; core++)
        halt(f->board, core);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        assert_int_equal(variable(f, core, "prof_packets_sent"), f->packets[core]);
        assert_int_equal(variable(f, core, "prof_samples_sent"), f->samples[core]);
        assert_int_equal(f->counters[core], f->packets[core] < 10 ? 0 : 1 + (f->packets[core] - 10) / 100);
        uint32_t taken = variable(f, core, "prof_samples_taken");
        assert_true(taken >= f->samples[core] && taken < f->samples[core] + 49);
        assert_in_range(taken, 1850, 2150); /* 5 kHz */

        size_t halfwords;
        const uint64_t *cycles = board_pc_count(f->board, core, &halfwords);
        uint64_t all = 0;
        for (size_t i = 0; i < halfwords; i++)
            all += cycles[i];
        unsigned compared = 0;
        for (unsigned i = 0; i < f->image[core].count; i++) {
            const struct symbol *s = &f->image[core].symbols[i];
            if (!s->function)
                continue;
            uint64_t here = 0;
            for (uint32_t at = s->address; at < s->address + s->size; at += 2)
                here += cycles[(at - BOARD_FLASH_BASE) / 2];
            uint32_t seen = 0;
            for (uint32_t k = 0; k < f->samples[core]; k++)
                seen += f->pc[core][k] >= s->address && f->pc[core][k] < s->address + s->size;
            double exact = 100.0 * (double)here / (double)all;
            double sampled = 100.0 * seen / f->samples[core];
            if (exact < 5)
                continue;
            compared++;
            if (exact - sampled > 3 || sampled - exact > 3)
                fail_msg("core %u %s: %.2f %% of the cycles, %.2f %% of the samples", core, s->name, exact,
                         sampled);
        }
        assert_true(compared >= 4);
    }
    uint32_t asked = variable(f, 0, "mailbox_asked");
    assert_in_range(asked, 400000 / 16, 400000 / 2); /* soonest where core 1 always answers by interrupt */
    assert_int_equal(variable(f, 0, "mailbox_missed"), 0);
    assert_int_equal(variable(f, 0, "mailbox_wrong"), 0);
    assert_in_range(variable(f, 0, "mailbox_worst"), 100, 1200); /* 12 us of 20 */
    assert_true(variable(f, 1, "mailbox_answered") + 2 >= asked);
}

static void a_stand_still_of_core_1_makes_one_answer_late(void **state)
{
    struct fixture *f = *state;
    static const uint32_t us[] = {23, 25, 30, 57, 200};
    run_us(f, 20000);
    uint32_t missed = 0;
    for (unsigned round = 0; round < 60; round++) {
        uint32_t stand = round == 59 ? 50000 : us[round % (sizeof(us) / sizeof(us[0]))];
        run_us(f, 333 + 7 * round);             /* at every phase of the work */
        mem_write(f->board, 1, DHCSR, KEY_RUN); /* leaves the access port pointing there */
        uint32_t key = KEY_HALT;
        assert_int_equal(board_dap_transfer(f->board, true, false, 0xC, &key), 1);
        /* The next transfer takes its time too; then the core runs. */
        board_dap_idle(f->board, (uint64_t)stand * 4 - BOARD_CLOCKS_PER_TRANSFER);
        key = KEY_RUN;
        assert_int_equal(board_dap_transfer(f->board, true, false, 0xC, &key), 1);
        run_us(f, 100);
        uint32_t now = variable(f, 0, "mailbox_missed");
        if (now != missed + 1)
            fail_msg("round %u, %u us: %u missed, not 1", round, stand, now - missed);
        missed = now;
    }
    size_t n;
    const struct board_record *log;
    n = board_log(f->board, &log);
    assert_int_equal(n, 2 * 60);
    assert_int_equal((log[1].tick - log[0].tick) * 1000000 / board_tick_hz(f->board), 23);
    assert_int_equal(variable(f, 0, "mailbox_wrong"), 0);
}

static void stopped_and_started_together_no_answer_is_late(void **state)
{
    struct fixture *f = *state;
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        mem_write(f->board, core, DHCSR, KEY_RUN);
        mem_write(f->board, core, CTI_LAR, 0xC5ACCE55u);
        mem_write(f->board, core, CTI_OUTEN(0), 1); /* channel 0 stops, channel 1 starts */
        mem_write(f->board, core, CTI_OUTEN(board_identity_info(f->identity)->cti.restart), 2);
        mem_write(f->board, core, CTI_GATE, 3);
        mem_write(f->board, core, CTI_CONTROL, 1);
    }
    for (unsigned round = 0; round < 60; round++) {
        run_us(f, 500 + 13 * round);
        mem_write(f->board, round % 2, CTI_APPPULSE, 1);
        run_us(f, 1 + 50 * (round % 5));
        for (unsigned core = 0; core < BOARD_CORES; core++) {
            assert_true(is_halted(f->board, core));
            mem_write(f->board, core, CTI_INTACK, 1);
            assert_int_equal(mem_read(f->board, core, CTI_TRIGOUT), 0);
        }
        mem_write(f->board, (round / 2) % 2, CTI_APPPULSE, 2);
        run_us(f, 50);
        assert_false(is_halted(f->board, 0));
        assert_false(is_halted(f->board, 1));
        assert_int_equal(variable(f, 0, "mailbox_missed"), 0);
    }
    assert_true(variable(f, 0, "mailbox_asked") > 1000);
}

static void a_fault_is_logged_and_stops_the_core(void **state)
{
    struct fixture *f = *state;
    struct reader reader = {.buffer = BOARD_LOG_BUFFER0};
    run_us(f, 30000);
    read_batch(f, 0, &reader);
    halt(f->board, 0);
    set_core_register(f->board, 0, 15, 0x60000000u);
    resume(f->board, 0);
    run_us(f, 1000);
    read_batch(f, 0, &reader);
    assert_non_null(strstr(reader.last, "fault: exception 3, pc 0x60000000"));
    assert_non_null(strstr(reader.last, "core stopped"));
    assert_int_equal(reader.levels[LEVEL_ERR], 1);
    halt(f->board, 0);
    uint32_t pc = core_register(f->board, 0, 15);
    const struct symbol *s = symbol_named(f, 0, "fault_stop");
    assert_in_range(pc, s->address, s->address + s->size);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s CORE0.ELF CORE1.ELF [IDENTITY]\n", argv[0]);
        return 2;
    }
    struct fixture *f = calloc(1, sizeof(*f));
    if (!f)
        return 2;
    if (argc == 4 && !board_identity_parse(argv[3], strlen(argv[3]), &f->identity))
        return 2;
    elf_version(EV_CURRENT);
    for (unsigned core = 0; core < BOARD_CORES; core++) {
        f->path[core] = argv[1 + core];
        read_symbols(&f->image[core], f->path[core]);
    }
#define ON_BOARD(test) cmocka_unit_test_prestate_setup_teardown(test, fresh_board, drop_board, f)
    const struct CMUnitTest tests[] = {
        ON_BOARD(the_log_of_both_cores_comes_whole),
        ON_BOARD(an_unread_log_is_kept_then_dropped_with_a_count),
        ON_BOARD(samples_add_up_and_no_answer_is_late_in_free_running),
        ON_BOARD(a_stand_still_of_core_1_makes_one_answer_late),
        ON_BOARD(stopped_and_started_together_no_answer_is_late),
        ON_BOARD(a_fault_is_logged_and_stops_the_core),
    };
    /* The same sources for another core: without the longest ones. */
    const struct CMUnitTest other_core[] = {
        ON_BOARD(the_log_of_both_cores_comes_whole),
        ON_BOARD(samples_add_up_and_no_answer_is_late_in_free_running),
        ON_BOARD(stopped_and_started_together_no_answer_is_late),
        ON_BOARD(a_fault_is_logged_and_stops_the_core),
    };
    int failed = f->identity == BOARD_M7 ? cmocka_run_group_tests(tests, NULL, NULL)
                                         : cmocka_run_group_tests(other_core, NULL, NULL);
    free(f);
    return failed;
}
