/* SPDX-License-Identifier: Apache-2.0 */
/* base/bus_guard.h: memory of a file that is cut while it is mapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bus_guard.h"

#define SIZE 8192u

struct touch {
    volatile uint8_t *at;
    uint8_t value;
    bool write, done;
};

static void touch(void *ctx)
{
    struct touch *t = ctx;
    if (t->write)
        *t->at = t->value;
    else
        t->value = *t->at;
    t->done = true;
}

static void cut_file_is_an_answer(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), SIZE), 0);
    uint8_t *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    bus_guard_install();
    bus_guard_install();
    for (int round = 0; round < 3; round++) {
        struct touch whole = {.at = map + SIZE - 1, .value = 7, .write = true};
        assert_true(bus_guard_run(touch, &whole));
        assert_true(whole.done);
        assert_int_equal(ftruncate(fileno(file), 0), 0);
        for (int write = 0; write < 2; write++) {
            struct touch gone = {.at = map + SIZE - 1, .write = write};
            assert_false(bus_guard_run(touch, &gone));
            assert_false(gone.done);
        }
        assert_int_equal(ftruncate(fileno(file), SIZE), 0);
    }
    struct touch again = {.at = map + SIZE - 1};
    assert_true(bus_guard_run(touch, &again));
    assert_int_equal(again.value, 0);
    munmap(map, SIZE);
    fclose(file);
}

/* Outside a guarded call, and sent by a process, the signal does what it always did. */
static void any_other_one_still_ends_the_process(void **state)
{
    (void)state;
    bus_guard_install();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        raise(SIGBUS);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_file_is_an_answer),
                                       cmocka_unit_test(any_other_one_still_ends_the_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
