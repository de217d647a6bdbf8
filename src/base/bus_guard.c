/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGBUS as an answer instead of an end (bus_guard.h). Any SIGBUS that is not this file's doing ends the
 * process as it would have without it.
 */
#include "base/bus_guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* Where this thread goes on after a fault. A signal handler can reach nothing but file scope. */
static _Thread_local sigjmp_buf *volatile bus_guard_back;

static void bus_guard_on_signal(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *back = bus_guard_back;
    (void)context;
    if (back && info->si_code > 0) /* from the kernel, and for this thread */
        siglongjmp(*back, 1);
    signal(number, SIG_DFL);
    raise(number);
}

void bus_guard_install(void)
{
    /* Not blocked in its handler: the handler is left by a jump, and the mask is not saved (a system call).
     */
    struct sigaction action = {.sa_sigaction = bus_guard_on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool bus_guard_run(void (*touch)(void *ctx), void *ctx)
{
    sigjmp_buf back;
    if (sigsetjmp(back, 0) != 0) {
        bus_guard_back = NULL;
        return false;
    }
    bus_guard_back = &back;
    atomic_signal_fence(memory_order_seq_cst);
    touch(ctx);
    atomic_signal_fence(memory_order_seq_cst);
    bus_guard_back = NULL;
    return true;
}
