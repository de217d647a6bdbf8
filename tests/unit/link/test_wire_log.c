/* SPDX-License-Identifier: Apache-2.0 */
/* The wire log and its replay (docs/wire-log.md): what is written, what is answered, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "link/replay.h"
#include "link/sim.h"
#include "link/wire_log.h"

#define SRAM    0x20060000u
#define NOWHERE 0x70000000u
#define HEADER  "corral-wire-log 1 mem+dap+wire virtual 1000 test\n"

struct board {
    struct host_clock *clock;
    struct link *link;
};

static struct board open_board(const char *log)
{
    struct board b = {.clock = host_clock_new_virtual()};
    struct diag d = DIAG_INIT;
    b.link = link_sim_open(&(struct link_sim_options){.clock = b.clock}, &d);
    assert_non_null(b.link);
    assert_int_equal(link_start_wire_log(b.link, log, &d), CORRAL_OK);
    return b;
}

static void close_board(struct board *b)
{
    link_close(b->link);
    host_clock_free(b->clock);
}

/* What a program does, and all that it learns by it. */
struct findings {
    enum corral_err power, wide, fault, after;
    char why[sizeof(((struct diag *)0)->message)], hint[sizeof(((struct diag *)0)->hint)];
    uint32_t block[600], word;
    uint8_t bytes[13];
    uint16_t half;
    enum corral_err batch_status[3];
    uint32_t batch_done[3];
    uint64_t clocks;
    int64_t end;
};

static void explore(struct link *link, struct findings *f)
{
    struct diag d = DIAG_INIT;
    uint32_t pattern[600], extra = 0x55;
    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < 600; i++)
        pattern[i] = (uint32_t)i * 0x01010101u;
    f->power = dp_power_up(link, NULL);
    struct link_access batch[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .ap = 1, .address = SRAM, .count = 600, .data = pattern},
        {.op = LINK_MEM_READ, .size = 4, .ap = 0, .address = SRAM, .count = 600, .data = f->block}};
    f->wide = link_execute(link, batch, 2, NULL);
    link_read_bytes(link, 0, SRAM + 3, f->bytes, sizeof(f->bytes), NULL);
    struct link_access half = {
        .op = LINK_MEM_READ, .size = 2, .ap = 1, .address = SRAM + 6, .count = 1, .data = &f->half};
    link_execute(link, &half, 1, NULL);
    host_clock_sleep(link_clock(link), 3 * NS_PER_MS);
    struct link_access bad[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .ap = 0, .address = SRAM + 8, .count = 1, .data = &extra},
        {.op = LINK_MEM_READ, .size = 4, .ap = 0, .address = NOWHERE, .count = 1, .data = &f->word},
        {.op = LINK_MEM_READ, .size = 4, .ap = 0, .address = SRAM, .count = 1, .data = &f->word}};
    f->fault = link_execute(link, bad, 3, &d);
    strcpy(f->why, d.message);
    strcpy(f->hint, d.hint);
    for (size_t i = 0; i < 3; i++) {
        f->batch_status[i] = bad[i].status;
        f->batch_done[i] = bad[i].done;
    }
    f->after = link_read32(link, 0, SRAM + 8, &f->word, NULL);
    f->clocks = link_wire_clocks(link);
    f->end = host_clock_now(link_clock(link));
}

static char *read_log(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1u << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1u << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void test_a_replay_gives_what_was_there(void **state)
{
    char path[] = "test_wire_log_XXXXXX";
    struct findings first, again;
    struct diag d = DIAG_INIT;
    (void)state;
    close(mkstemp(path));
    struct board b = open_board(path);
    explore(b.link, &first);
    close_board(&b);
    assert_int_equal(first.power, CORRAL_OK);
    assert_int_equal(first.wide, CORRAL_OK);
    assert_int_equal(first.block[599], 599 * 0x01010101u);
    assert_int_equal(first.fault, CORRAL_ERR_LINK_FAULT);
    assert_int_equal(first.batch_status[2], CORRAL_ERR_INTERRUPTED);
    assert_int_equal(first.word, 0x55);

    char spec[64];
    snprintf(spec, sizeof(spec), "replay:%s", path);
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = link_replay_open(spec, clock, &d);
    assert_non_null(link);
    assert_string_equal(link_name(link), spec);
    explore(link, &again);
    assert_memory_equal(&first, &again, sizeof(first)); /* sentences, clocks and times, too */
    link_close(link);
    host_clock_free(clock);
    unlink(path);
}

static void test_every_line_is_whole_and_bounded(void **state)
{
    char path[] = "test_wire_log_XXXXXX";
    struct findings f;
    (void)state;
    close(mkstemp(path));
    struct board b = open_board(path);
    explore(b.link, &f);
    char *text = read_log(path); /* while the link is open: nothing is kept back */
    static const char head[] =
        "corral-wire-log 1 mem+dap+wire+wide+pins+clock+swj+jtag+abort virtual 0 sim\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    assert_int_equal(text[strlen(text) - 1], '\n');
    size_t lines = 0, more = 0;
    for (char *at = text, *next; *at; at = next + 1, lines++) {
        next = strchr(at, '\n');
        assert_non_null(next);
        assert_true((size_t)(next - at) < WIRE_LOG_LINE);
        more += *at == '.';
    }
    assert_true(lines > 10);
    assert_int_equal(more, 4); /* 600 values are three lines: twice */
    assert_non_null(strstr(text, " r mem 0x0 0x70000000 4 1 0 link-fault\n"));
    assert_non_null(strstr(text, "\nfail link-fault AP 0 answered FAULT at address 0x70000000\nhint "));
    free(text);
    close_board(&b);
    unlink(path);
}

/* A child that is killed in the middle leaves whole lines. */
static void test_a_killed_writer_leaves_whole_lines(void **state)
{
    char path[] = "test_wire_log_XXXXXX";
    int ready[2];
    char c;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct host_clock *clock = host_clock_new_virtual();
        struct link *link = link_sim_open(&(struct link_sim_options){.clock = clock}, NULL);
        uint32_t v;
        if (!link || link_start_wire_log(link, path, NULL) || dp_power_up(link, NULL))
            _exit(1);
        for (unsigned i = 0;; i++) {
            link_read32(link, 0, SRAM, &v, NULL);
            if (i == 100 && write(ready[1], "", 1) != 1)
                _exit(1);
        }
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(ready[0]);
    char *text = read_log(path);
    size_t lines = 0;
    for (char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_true(lines > 100);
    char *last = strrchr(text, '\n');
    assert_int_equal(last[1], '\0');
    free(text);
    unlink(path);
}

static void test_a_full_disk_ends_the_log_and_not_the_session(void **state)
{
    char path[] = "test_wire_log_XXXXXX";
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    struct rlimit old, small;
    (void)state;
    close(mkstemp(path));
    signal(SIGXFSZ, SIG_IGN);
    struct board b = open_board(path);
    assert_int_equal(dp_power_up(b.link, &d), CORRAL_OK);
    assert_false(link_wire_log_stopped(b.link, &d));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 2000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(link_read32(b.link, 0, SRAM, &v, &d), CORRAL_OK);
    assert_true(link_wire_log_stopped(b.link, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, path));
    assert_false(link_wire_log_stopped(b.link, &d)); /* said once */
    assert_int_equal(link_start_wire_log(b.link, "/nowhere/at/all", &d), CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "/nowhere/at/all"));
    close_board(&b);
    char *text = read_log(path);
    assert_true(strlen(text) <= 2000 && strlen(text) > 1500);
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
    unlink(path);
}

static struct link *replay_text(const char *text, struct host_clock *clock, struct diag *d)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(f);
    return link_replay_open_file(f, "x.log", clock, d);
}

static void test_files_that_are_no_wire_logs(void **state)
{
    static const char *const texts[] = {"\n",
                                        "something else\n",
                                        "corral-wire-log 2 mem virtual 0 x\n",
                                        "corral-wire-log 1 mem virtual 0 x",
                                        "corral-wire-log 1 mem+mem virtual 0 x\n",
                                        "corral-wire-log 1 all virtual 0 x\n",
                                        "corral-wire-log 1 mem+ virtual 0 x\n",
                                        "corral-wire-log 1 mem imaginary 0 x\n",
                                        "corral-wire-log 1 mem virtual 99999999999999999999 x\n",
                                        "corral-wire-log 1 mem virtual -1 x\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct diag d = DIAG_INIT;
        struct host_clock *clock = host_clock_new_virtual();
        struct link *link = replay_text(texts[i], clock, &d);
        if (link)
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(d.code, CORRAL_ERR_FORMAT);
        assert_non_null(strstr(d.message, "x.log:"));
        host_clock_free(clock);
    }
}

/* A read of one word at 0x20000000 through AP 0, against each of these. */
static void test_lines_that_are_none(void **state)
{
    static const struct {
        const char *line, *word;
    } cases[] = {
        {"", "ends here"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x00000001", "whole line"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 2 ok 0x1 0x2\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok\n", "ends here"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok\n1000 +5 46 r mem\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x100000000\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 1\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1 0x2\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 fine 0x1\n", "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 unknown 0x1\n", "not understood"},
        {"1000 5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1\n", "not understood"},
        {"-1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1\n", "not understood"},
        {"9223372036854775807 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1\n", "not understood"},
        {"1000 +5 46 w mem 0x0 0x20000000 4 1 1 ok 0x1\n",
         "x.log:2: 'w mem 0x0 0x20000000 4 1 1 ok 0x1' was recorded, but 'r mem 0x0 0x20000000 4 1' is "
         "asked"},
        {"1000 +5 46 r mem 0x1 0x20000000 4 1 1 ok 0x1\n", "is asked"},
        {"1000 +5 46 r mem 0x0 0x20000004 4 1 1 ok 0x1\n", "is asked"},
        {"1000 +5 46 r mem 0x0 0x20000000 2 1 1 ok 0x1\n", "is asked"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 12 12 ok 0x1\n", "is asked"},
        {"1000 +5 46 reset low ok\n", "is asked"},
        {"1000 late 2\n", "2 accesses were refused, but 1 are asked"},
        {"1000 late x\n", "not understood"},
        {"fail link-fault what\n", "is asked"},
        {"# a comment\n\n1000 +5 46 r mem 0x0 0x20000000 4 1 0 link-fault\nfail nonsense x\n",
         "not understood"},
        {"1000 +5 46 r mem 0x0 0x20000000 4 1 1 ok 0x1\nfail ok x\n", "not understood"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct diag d = DIAG_INIT;
        char text[1000];
        uint32_t v = 0;
        struct host_clock *clock = host_clock_new_virtual();
        snprintf(text, sizeof(text), "%s%s", HEADER, cases[i].line);
        struct link *link = replay_text(text, clock, &d);
        assert_non_null(link);
        assert_int_equal(link_read32(link, 0, 0x20000000, &v, &d), CORRAL_ERR_LINK_DOWN);
        if (!strstr(d.message, cases[i].word))
            fail_msg("%s: %s", cases[i].line, d.message);
        assert_int_equal(strncmp(d.message, "wire log x.log:", 15), 0);
        /* and it stays so */
        assert_int_equal(link_read32(link, 0, 0x20000000, &v, &d), CORRAL_ERR_LINK_DOWN);
        assert_non_null(strstr(d.message, cases[i].word));
        link_close(link);
        host_clock_free(clock);
    }
}

static void test_a_line_without_end_is_refused(void **state)
{
    struct diag d = DIAG_INIT;
    uint32_t v;
    (void)state;
    char *text = malloc(100000);
    assert_non_null(text);
    strcpy(text, HEADER);
    memset(text + strlen(HEADER), '7', 100000 - strlen(HEADER) - 1);
    text[99999] = '\0';
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = replay_text(text, clock, &d);
    assert_non_null(link);
    assert_int_equal(link_read32(link, 0, 0x20000000, &v, &d), CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "no whole line"));
    link_close(link);
    host_clock_free(clock);
    free(text);
}

static void test_another_value_written_is_a_divergence(void **state)
{
    struct diag d = DIAG_INIT;
    (void)state;
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = replay_text(HEADER "1000 +5 46 w mem 0x0 0x20000000 4 1 1 ok 0x00000001\n"
                                           "2000 +5 92 w mem 0x0 0x20000000 4 1 1 ok 0x00000001\n",
                                    clock, &d);
    assert_non_null(link);
    assert_int_equal(link_write32(link, 0, 0x20000000, 1, &d), CORRAL_OK);
    assert_int_equal(host_clock_now(clock), 1005);
    assert_int_equal(link_wire_clocks(link), 46);
    assert_int_equal(link_write32(link, 0, 0x20000000, 2, &d), CORRAL_ERR_LINK_DOWN);
    assert_string_equal(d.message,
                        "wire log x.log:3: another value than 0x00000001 is written to 0x20000000");
    assert_string_equal(d.object, "x.log:3");
    link_close(link);
    host_clock_free(clock);
}

/* Time that ran out when it was recorded runs out in the replay, by which clock it may be. */
static void test_late_refusals_and_resets(void **state)
{
    static const char text[] = HEADER "1000 +5 46 reset low ok\n"
                                      "2000 +5 46 reset high unsupported\n"
                                      "fail unsupported there is none\n"
                                      "5000 late 1\n"
                                      "9000 late 1\n"
                                      "9000 +5 46 r dp 0x0 0x00000000 4 1 1 ok 0x0000002a\n";
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    (void)state;
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = replay_text(text, clock, &d);
    assert_non_null(link);
    assert_int_equal(link_drive_reset(link, true, &d), CORRAL_OK);
    assert_int_equal(link_drive_reset(link, false, &d), CORRAL_ERR_UNSUPPORTED);
    assert_string_equal(d.message, "there is none");
    assert_int_equal(link_read_dp(link, 0, &v, &d), CORRAL_ERR_TIMEOUT); /* no deadline of its own */
    assert_int_equal(host_clock_now(clock), 5000);
    link_set_deadline(link, 4000);
    assert_int_equal(link_read_dp(link, 0, &v, &d), CORRAL_ERR_TIMEOUT); /* both agree: one line is used up */
    link_set_deadline(link, LINK_NO_DEADLINE);
    assert_int_equal(link_read_dp(link, 0, &v, &d), CORRAL_OK);
    assert_int_equal(v, 42);
    link_close(link);
    host_clock_free(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_replay_gives_what_was_there),
        cmocka_unit_test(test_every_line_is_whole_and_bounded),
        cmocka_unit_test(test_a_killed_writer_leaves_whole_lines),
        cmocka_unit_test(test_a_full_disk_ends_the_log_and_not_the_session),
        cmocka_unit_test(test_files_that_are_no_wire_logs),
        cmocka_unit_test(test_lines_that_are_none),
        cmocka_unit_test(test_a_line_without_end_is_refused),
        cmocka_unit_test(test_another_value_written_is_a_divergence),
        cmocka_unit_test(test_late_refusals_and_resets),
    };
    return cmocka_run_group_tests_name("link-wire-log", tests, NULL, NULL);
}
