/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Zephyr log back end over the producer. Firmware-log sheet 1.3, 1.4, 3.2 and 3.4. Process runs in the log
 * thread, the periodic look in the system work queue, SETUP wherever the firmware calls it; one mutex holds
 * them apart. In a panic no lock is taken: the kernel may refuse it there, and nothing else runs.
 *
 * What Zephyr's own queue or this back end's lock cost is counted, uses up sequence numbers, and is told in a
 * record, unless it is to behave like earlier firmware.
 */
#include "target/zephyr/zephyr_log_backend.h"

#include <zephyr/kernel.h>
#include <zephyr/logging/log_backend.h>
#include <zephyr/logging/log_backend_std.h>
#include <zephyr/logging/log_output.h>

#include "target/tlog_control.h"
#include "target/tlog_producer.h"
#include "tlog/arc_queue_layout.h"

#define LOG_LOCK_MS     10
#define CONTROL_LOCK_MS 100

#define COMPATIBLE IS_ENABLED(CONFIG_TT_PCIE_LOG_BACKEND_COMPATIBLE)

static struct {
    struct target_port port;
    struct tlog_producer producer;
    struct tlog_control control;
    struct k_work_delayable look;
    atomic_t missed; /* messages that never reached the producer */
    uint32_t stamp;  /* of the message being processed */
    uint32_t length; /* of its text */
    bool ready, panicking;
    char text[CONFIG_TT_PCIE_LOG_BACKEND_TEXT_MAX];
    uint8_t staging[CONFIG_TT_PCIE_LOG_BACKEND_BUFFER_SIZE];
} state;

K_MUTEX_DEFINE(zephyr_log_backend_lock);

static bool lock(int ms)
{
    return state.panicking || k_mutex_lock(&zephyr_log_backend_lock, K_MSEC(ms)) == 0;
}

static void unlock(void)
{
    if (!state.panicking)
        k_mutex_unlock(&zephyr_log_backend_lock);
}

/* ---- formatting: Zephyr hands the text over in pieces ---- */

static uint8_t piece[32];

static int take_piece(uint8_t *data, size_t length, void *ctx)
{
    ARG_UNUSED(ctx);
    for (size_t i = 0; i < length && state.length < sizeof(state.text); i++)
        state.text[state.length++] = (char)data[i];
    return (int)length; /* all of it, always: the formatter would try the rest again for ever */
}

LOG_OUTPUT_DEFINE(zephyr_log_backend_output, take_piece, piece, sizeof(piece));

/* ---- the producer's port and the host's messages ---- */

static uint32_t stamp_now(void *ctx)
{
    ARG_UNUSED(ctx);
    return state.stamp;
}

static bool control_lock(void *ctx)
{
    ARG_UNUSED(ctx);
    return lock(CONTROL_LOCK_MS);
}

static void control_unlock(void *ctx)
{
    ARG_UNUSED(ctx);
    unlock();
}

static void control_changed(void *ctx, bool attached)
{
    ARG_UNUSED(ctx);
    if (attached)
        k_work_reschedule(&state.look, K_MSEC(CONFIG_TT_PCIE_LOG_BACKEND_PERIOD_MS));
    else
        k_work_cancel_delayable(&state.look);
}

static void tell_missed(void)
{
    uint32_t n = (uint32_t)atomic_set(&state.missed, 0);
    if (n)
        tlog_producer_lost(&state.producer, n);
}

static void look_at_buffer(struct k_work *work)
{
    ARG_UNUSED(work);
    bool locked = lock(CONTROL_LOCK_MS);
    if (locked) {
        tell_missed();
        tlog_producer_tick(&state.producer);
    }
    /* With the lock held, so that a RELEASE is either over and seen here, or cancels this. */
    if (!locked || tlog_producer_attached(&state.producer))
        k_work_reschedule(&state.look, K_MSEC(CONFIG_TT_PCIE_LOG_BACKEND_PERIOD_MS));
    if (locked)
        unlock();
}

void zephyr_log_backend_message(const uint32_t request[8], uint32_t response[8])
{
    /* A host can be quicker than the logging subsystem, which calls backend_init. */
    if (state.control.producer)
        tlog_control_message(&state.control, request, response);
    else
        response[0] = ARC_TLOG_BUSY;
}

/* ---- the back end ---- */

static void backend_init(const struct log_backend *const backend)
{
    ARG_UNUSED(backend);
    zephyr_log_backend_port(&state.port);
    state.port.now = stamp_now;
    const struct tlog_producer_config config = {
        .port = &state.port,
        .staging = state.staging,
        .staging_size = sizeof(state.staging),
        .mode = COMPATIBLE ? TLOG_PRODUCER_COMPATIBLE : TLOG_PRODUCER_CAREFUL,
        .notice_source = TLOG_SMC,
        .flush_on_error = IS_ENABLED(CONFIG_TT_PCIE_LOG_BACKEND_FLUSH_ON_ERROR),
        .panic_polls = CONFIG_TT_PCIE_LOG_BACKEND_PANIC_POLLS,
    };
    state.ready = tlog_producer_init(&state.producer, &config);
    state.control.unable = !state.ready;
    state.control.lock = control_lock;
    state.control.unlock = control_unlock;
    state.control.changed = control_changed;
    k_work_init_delayable(&state.look, look_at_buffer);
    state.control.producer = &state.producer; /* last: messages are taken from here on */
}

static void backend_process(const struct log_backend *const backend, union log_msg_generic *msg)
{
    ARG_UNUSED(backend);
    uint8_t level = log_msg_get_level(&msg->log);
    /* printk and raw text: for consoles. */
    if (!state.ready || (level == LOG_LEVEL_NONE && log_msg_get_source(&msg->log) == NULL))
        return;
    if (!lock(LOG_LOCK_MS)) {
        atomic_add(&state.missed, 1);
        return;
    }
    tell_missed();
    state.length = 0;
    state.stamp = (uint32_t)log_msg_get_timestamp(&msg->log);
    log_output_msg_process(&zephyr_log_backend_output, &msg->log, log_backend_std_get_flags());
    tlog_producer_log(&state.producer, level, TLOG_SMC, state.text, state.length);
    unlock();
}

static void backend_panic(const struct log_backend *const backend)
{
    ARG_UNUSED(backend);
    if (!state.ready)
        return;
    state.panicking = true; /* whoever holds the mutex never runs again */
    tlog_producer_panic(&state.producer);
    tlog_producer_tick(&state.producer);
}

static void backend_dropped(const struct log_backend *const backend, uint32_t count)
{
    ARG_UNUSED(backend);
    /* Earlier firmware ignores them, and a host cannot know of them. */
    if (!COMPATIBLE)
        atomic_add(&state.missed, (atomic_val_t)count);
}

static const struct log_backend_api backend_api = {
    .process = backend_process,
    .panic = backend_panic,
    .dropped = backend_dropped,
    .init = backend_init,
};

LOG_BACKEND_DEFINE(zephyr_log_backend, backend_api, true);
