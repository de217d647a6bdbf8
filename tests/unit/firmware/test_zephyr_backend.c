/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Zephyr log back end on a stand-in of Zephyr, built in either mode (COMPATIBLE is 0 or 1). Firmware-log
 * sheet 1.3, 1.4, 2, 3.2 and 3.4. The back end is one per firmware, so the tests are one story, in order.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <zephyr/logging/log_backend.h>
#include <zephyr/logging/log_output.h>

#include "host_buffer.h"
#include "target/zephyr/zephyr_log_backend.h"

#include <cmocka.h>

#define COMPATIBLE CONFIG_TT_PCIE_LOG_BACKEND_COMPATIBLE
#define SETUP      0x1C7u
#define RELEASE    0x2C7u

extern const struct log_backend zephyr_log_backend;
struct stand_in stand_in;
static struct host_buffer *host;
static const int some_module;

int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout)
{
    stand_in.locks++;
    if (timeout > stand_in.longest_ms)
        stand_in.longest_ms = timeout;
    if (stand_in.refuse_lock) {
        stand_in.refuse_lock--;
        return -11;
    }
    assert_int_equal(mutex->held, 0);
    mutex->held = 1;
    return 0;
}

int k_mutex_unlock(struct k_mutex *mutex)
{
    assert_int_equal(mutex->held, 1);
    mutex->held = 0;
    return 0;
}

void k_work_init_delayable(struct k_work_delayable *work, void (*handler)(struct k_work *work))
{
    work->work.handler = handler;
}

int k_work_reschedule(struct k_work_delayable *work, k_timeout_t delay)
{
    stand_in.scheduled = &work->work;
    stand_in.delay_ms = delay;
    return 1;
}

int k_work_cancel_delayable(struct k_work_delayable *work)
{
    assert_true(!stand_in.scheduled || stand_in.scheduled == &work->work);
    stand_in.scheduled = NULL;
    return 0;
}

void log_output_msg_process(const struct log_output *output, struct log_msg *msg, uint32_t flags)
{
    size_t length = strlen(msg->text);
    assert_int_equal(flags, 3);
    for (size_t at = 0; at < length;) {
        size_t n = length - at < output->size ? length - at : output->size;
        memcpy(output->buf, msg->text + at, n);
        int taken = output->func(output->buf, n, NULL);
        assert_in_range(taken, 1, n); /* 0 would never end */
        at += (size_t)taken;
    }
}

void zephyr_log_backend_port(struct target_port *port)
{
    *port = host->port;
    port->now = NULL;
}

static void process(uint8_t level, const void *source, uint64_t stamp, const char *text)
{
    union log_msg_generic msg = {.log = {level, source, stamp, text}};
    zephyr_log_backend.api->process(&zephyr_log_backend, &msg);
}

static uint32_t control(uint32_t word0, uint64_t address, uint32_t size)
{
    const uint32_t request[8] = {word0, (uint32_t)address, (uint32_t)(address >> 32), size};
    uint32_t response[8] = {0};
    zephyr_log_backend_message(request, response);
    return response[0];
}

/* The periodic work: it asks for its next time. */
static void work(void)
{
    assert_non_null(stand_in.scheduled);
    struct k_work *w = stand_in.scheduled;
    stand_in.scheduled = NULL;
    w->handler(w);
    assert_non_null(stand_in.scheduled);
    assert_int_equal(stand_in.delay_ms, 1000);
}

static const struct host_record *last(void)
{
    assert_true(host->record_count > 0);
    return &host->records[host->record_count - 1];
}

static const char *last_text(void)
{
    return host_text(host, host->record_count - 1);
}

/* The host's first SETUP comes before Zephyr has started the back end: it is to ask again. */
static void setup_before_the_back_end_is_there_is_busy(void **state)
{
    (void)state;
    assert_int_equal(control(SETUP, HOST_ADDRESS, host->size), 0xF5);
    assert_int_equal(control(RELEASE, 0, 0), 0xF5);
    assert_null(stand_in.scheduled);
}

static void boot_lines_wait_for_setup_with_their_own_stamps(void **state)
{
    (void)state;
    assert_true(zephyr_log_backend.autostart);
    zephyr_log_backend.api->init(&zephyr_log_backend);
    process(3, &some_module, 0x100000005ull, "[00:00:00.005,000] <inf> boot: one\r\n");
    process(0, NULL, 6, "printk is not for us");
    process(2, &some_module, 7,
            "[00:00:00.007,000] <wrn> boot: two, longer than a piece of the formatter\r\n");
    assert_null(stand_in.scheduled);
    assert_int_equal(control(SETUP, HOST_ADDRESS, host->size), 0);
    assert_int_equal(stand_in.delay_ms, 1000);
    assert_int_equal(stand_in.longest_ms, 100);
    work();
    assert_int_equal(host->interrupts, 1);
    assert_true(host_take(host));
    assert_int_equal(host->record_count, 2);
    assert_int_equal(host->records[0].timestamp, 5); /* the low 32 bits, of when it was logged */
    assert_string_equal(host_text(host, 0), "[00:00:00.005,000] <inf> boot: one\r\n");
    assert_int_equal(last()->timestamp, 7);
    assert_int_equal(last()->sequence, 1); /* printk took no number */
    assert_int_equal(last()->level, 2);
    assert_string_equal(last_text(),
                        "[00:00:00.007,000] <wrn> boot: two, longer than a piece of the formatter\r\n");
}

static void an_error_goes_out_at_once(void **state)
{
    (void)state;
    process(1, &some_module, 10, "<err> hot");
    assert_true(host_take(host));
    assert_string_equal(last_text(), "<err> hot");
}

static void a_long_text_is_cut_and_nothing_hangs(void **state)
{
    (void)state;
    static char big[5000];
    memset(big, 'x', sizeof(big) - 1);
    process(1, &some_module, 11, big);
    assert_true(host_take(host));
    assert_int_equal(last()->text_length, CONFIG_TT_PCIE_LOG_BACKEND_TEXT_MAX);
}

static void a_lock_that_is_not_had_costs_a_message_that_is_counted(void **state)
{
    (void)state;
    uint32_t before = last()->sequence;
    stand_in.refuse_lock = 2;
    stand_in.longest_ms = 0;
    process(3, &some_module, 12, "lost");
    process(3, &some_module, 13, "lost");
    assert_int_equal(stand_in.longest_ms, 10);
    process(1, &some_module, 14, "<err> after");
    assert_true(host_take(host));
    assert_string_equal(last_text(), "<err> after");
    /* The numbers of both are used up; the careful mode says so, which takes one more. */
    assert_int_equal(last()->sequence, before + 3 + !COMPATIBLE);
    if (!COMPATIBLE)
        assert_string_equal(host_text(host, host->record_count - 2), "2 messages dropped");
    stand_in.refuse_lock = 1;
    assert_int_equal(control(SETUP, HOST_ADDRESS, host->size), 0xF5);
    assert_int_equal(control(0x3C7, 0, 0), 0x16);
}

static void what_zephyr_dropped_is_told(void **state)
{
    (void)state;
    uint32_t before = last()->sequence;
    zephyr_log_backend.api->dropped(&zephyr_log_backend, 7);
    process(3, &some_module, 15, "<inf> going on");
    work();
    assert_true(host_take(host));
    assert_int_equal(last()->sequence, COMPATIBLE ? before + 1 : before + 9);
    if (!COMPATIBLE)
        assert_string_equal(host_text(host, host->record_count - 2), "7 messages dropped");
}

static void a_busy_lock_skips_one_look(void **state)
{
    (void)state;
    process(3, &some_module, 16, "waits");
    stand_in.refuse_lock = 1;
    work();
    assert_false(host_take(host));
    work();
    assert_true(host_take(host));
    assert_string_equal(last_text(), "waits");
}

static void release_stops_the_work_and_setup_starts_it(void **state)
{
    (void)state;
    struct k_work *running = stand_in.scheduled;
    assert_int_equal(control(RELEASE, 0, 0), 0);
    assert_null(stand_in.scheduled);
    /* The look that waited for the lock meanwhile must not start itself again. */
    running->handler(running);
    assert_null(stand_in.scheduled);
    process(1, &some_module, 17, "for the next host");
    assert_false(host_take(host));
    assert_int_equal(control(SETUP, HOST_ADDRESS, host->size), 0);
    work();
    assert_true(host_take(host));
    assert_string_equal(last_text(), "for the next host");
}

static void in_a_panic_the_last_lines_come_out_without_a_lock(void **state)
{
    (void)state;
    uint32_t records = host->record_count;
    process(3, &some_module, 20, "before");
    int locks = stand_in.locks;
    zephyr_log_backend.api->panic(&zephyr_log_backend);
    host->answer_after = 30; /* the host takes its time over each batch */
    process(1, &some_module, 21, "<err> os: >>> ZEPHYR FATAL ERROR");
    host->answer_after = 30;
    process(1, &some_module, 22, "<err> os: Halting system");
    assert_int_equal(stand_in.locks, locks);
    host_take(host);
    if (COMPATIBLE) { /* the crash text is what is lost */
        assert_int_equal(host->record_count, records + 1);
        assert_string_equal(last_text(), "before");
    } else {
        assert_int_equal(host->record_count, records + 3);
        assert_string_equal(last_text(), "<err> os: Halting system");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setup_before_the_back_end_is_there_is_busy),
        cmocka_unit_test(boot_lines_wait_for_setup_with_their_own_stamps),
        cmocka_unit_test(an_error_goes_out_at_once),
        cmocka_unit_test(a_long_text_is_cut_and_nothing_hangs),
        cmocka_unit_test(a_lock_that_is_not_had_costs_a_message_that_is_counted),
        cmocka_unit_test(what_zephyr_dropped_is_told),
        cmocka_unit_test(a_busy_lock_skips_one_look),
        cmocka_unit_test(release_stops_the_work_and_setup_starts_it),
        cmocka_unit_test(in_a_panic_the_last_lines_come_out_without_a_lock),
    };
    host = host_new(4112);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    host_free(host);
    return failed;
}
