/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the exception torture image on the virtual board and on QEMU's mps2-an385 and compares the UART traces
 * byte for byte. Arguments: the image, and the path of qemu-system-arm ("" when it is not installed: then
 * only the board runs, and the comparison is skipped with a message).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/board.h"

#define TRACE_MAX    (1u << 20)
#define BOARD_MS     200
#define QEMU_SECONDS 30
#define END_MARKER   "torture: end\n"
#define LEAST_LINES  1300u

struct trace {
    char text[TRACE_MAX + 1];
    size_t length;
};

struct fixture {
    const char *image;
    const char *qemu;
    struct trace board, peer;
};

static void trace_byte(void *ctx, unsigned core, uint8_t byte)
{
    struct trace *t = ctx;
    if (core == 0 && t->length < TRACE_MAX)
        t->text[t->length++] = (char)byte;
}

static bool trace_ended(const struct trace *t)
{
    size_t end = strlen(END_MARKER);
    return t->length >= end && memcmp(t->text + t->length - end, END_MARKER, end) == 0;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(1u << 20);
    assert_non_null(data);
    *size = fread(data, 1, 1u << 20, file);
    fclose(file);
    return data;
}

static void the_board_comes_to_the_end(void **state)
{
    struct fixture *f = *state;
    struct diag d = {0};
    const struct board_config config = {.uart = trace_byte, .ctx = &f->board};
    struct board *board = board_new(&config, &d);
    assert_non_null(board);
    size_t size;
    uint8_t *image = read_file(f->image, &size);
    assert_int_equal(board_load_elf(board, 0, image, size, &d), CORRAL_OK);
    free(image);
    board_reset(board);
    for (unsigned ms = 0; ms < BOARD_MS && !trace_ended(&f->board); ms++)
        board_run_until(board, board_tick(board) + board_tick_hz(board) / 1000);
    board_free(board);
    if (!trace_ended(&f->board))
        fail_msg("no end; the trace so far ends with: %s",
                 f->board.text + (f->board.length > 400 ? f->board.length - 400 : 0));
    assert_null(strstr(f->board.text, "UNEXPECTED"));
    unsigned lines = 0;
    for (size_t i = 0; i < f->board.length; i++)
        lines += f->board.text[i] == '\n';
    assert_true(lines >= LEAST_LINES);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* QEMU never ends by itself: read until the marker or the deadline, then end it by its process number. */
static void run_qemu(struct fixture *f)
{
    int pipe_fd[2];
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(pipe_fd[1], 1);
        dup2(null, 2);
        execl(f->qemu, f->qemu, "-M", "mps2-an385", "-display", "none", "-monitor", "none", "-serial",
              "stdio", "-kernel", f->image, (char *)NULL);
        _exit(127);
    }
    close(pipe_fd[1]);
    int64_t deadline = now_ms() + QEMU_SECONDS * 1000;
    while (!trace_ended(&f->peer) && f->peer.length < TRACE_MAX) {
        struct pollfd wait = {.fd = pipe_fd[0], .events = POLLIN};
        int64_t left = deadline - now_ms();
        if (left <= 0 || (poll(&wait, 1, (int)left) < 0 && errno != EINTR))
            break;
        if (!wait.revents)
            continue;
        ssize_t got = read(pipe_fd[0], f->peer.text + f->peer.length, TRACE_MAX - f->peer.length);
        if (got <= 0)
            break;
        f->peer.length += (size_t)got;
    }
    close(pipe_fd[0]);
    kill(child, SIGKILL);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
}

/* Where the line that holds text[at] starts, and how long it is. */
static int line_at(const struct trace *t, size_t at, size_t *start)
{
    while (at > 0 && t->text[at - 1] != '\n')
        at--;
    *start = at;
    return (int)strcspn(t->text + at, "\n");
}

static void the_trace_is_that_of_qemu(void **state)
{
    struct fixture *f = *state;
    if (f->qemu[0] == 0) {
        print_message("skipped: qemu-system-arm is not installed\n");
        skip();
    }
    run_qemu(f);
    assert_true(trace_ended(&f->peer));
    size_t at = 0;
    while (at < f->board.length && at < f->peer.length && f->board.text[at] == f->peer.text[at])
        at++;
    if (at == f->board.length && at == f->peer.length)
        return;
    size_t case_start = at, ours, theirs;
    while (case_start > 0 && strncmp(f->board.text + case_start, "== ", 3) != 0)
        case_start--;
    int case_length = (int)strcspn(f->board.text + case_start, "\n");
    int ours_length = line_at(&f->board, at, &ours), theirs_length = line_at(&f->peer, at, &theirs);
    fail_msg("in case \"%.*s\": the board has \"%.*s\", QEMU has \"%.*s\"", case_length,
             f->board.text + case_start, ours_length, f->board.text + ours, theirs_length,
             f->peer.text + theirs);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s IMAGE QEMU\n", argv[0]);
        return 2;
    }
    struct fixture *f = calloc(1, sizeof(*f));
    if (!f)
        return 2;
    f->image = argv[1];
    f->qemu = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_board_comes_to_the_end, f),
        cmocka_unit_test_prestate(the_trace_is_that_of_qemu, f),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(f);
    return failed;
}
