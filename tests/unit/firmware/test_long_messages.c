/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages longer than the room there is, between short ones, in both modes of the producer, with a consumer
 * and without one: no call hangs, nothing is written outside the buffer, and of 18 messages each is printed
 * (a long one as an exact prefix of itself) or counted. Firmware-log sheet 3.2.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "log_rig.h"

#include <cmocka.h>

#define STAGING  4096u
#define MESSAGES 18u

static const uint32_t sizes[] = {STAGING / 2,  STAGING / 2,  STAGING / 2, STAGING - 14,
                                 STAGING - 13, STAGING - 12, STAGING,     6000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void log_word(struct log_rig *r, uint8_t level, const char *word)
{
    tlog_producer_log(&r->producer, level, TLOG_SMC, word, (uint32_t)strlen(word));
}

/* The text of message `n`, and its length. */
static const char *message(struct log_rig *r, uint32_t n, uint32_t *length)
{
    const char *word = n == 0 ? "first" : n == MESSAGES - 1 ? "last" : n % 2 == 0 ? "between" : NULL;
    *length = word ? (uint32_t)strlen(word) : sizes[n / 2];
    return word ? word : r->text;
}

enum consumer { CONSUMER_QUICK, CONSUMER_SLOW, CONSUMER_LATER };

static void eighteen_messages(unsigned mode, enum consumer consumer)
{
    struct log_rig *r = log_rig_new(mode, 4112, STAGING);
    if (consumer != CONSUMER_LATER)
        assert_true(log_rig_attach(r));
    for (uint32_t n = 0; n < MESSAGES; n++) {
        uint32_t length;
        const char *text = message(r, n, &length);
        tlog_producer_log(&r->producer, n == MESSAGES - 1 ? TLOG_ERR : TLOG_INF, TLOG_SMC, text, length);
        if (consumer == CONSUMER_QUICK || (consumer == CONSUMER_SLOW && n % 4 == 3)) {
            host_take(r->host);
            tlog_producer_tick(&r->producer);
            if (consumer == CONSUMER_QUICK)
                host_take(r->host);
        }
    }
    if (consumer == CONSUMER_LATER)
        assert_true(log_rig_attach(r));
    log_rig_drain(r);
    log_word(r, TLOG_INF, "a mark behind them"); /* shows a gap at the end */
    log_rig_drain(r);

    uint32_t printed = 0, notices = 0, told = 0;
    for (uint32_t i = 0; i + 1 < r->host->record_count; i++) {
        const struct host_record *record = &r->host->records[i];
        const char *text = host_text(r->host, i);
        if (strstr(text, " messages dropped")) {
            notices++;
            told += (uint32_t)strtoul(text, NULL, 10);
            continue;
        }
        uint32_t length;
        const char *whole = message(r, record->sequence - notices, &length);
        assert_true(record->text_length <= length);
        assert_memory_equal(text, whole, record->text_length);
        if (length < 2000)
            assert_int_equal(record->text_length, length); /* a short one comes whole */
        printed++;
    }
    assert_int_equal(printed + log_rig_missing(r), MESSAGES);
    if (mode == TLOG_PRODUCER_CAREFUL)
        assert_int_equal(told, log_rig_missing(r));
    if (mode == TLOG_PRODUCER_CAREFUL && consumer == CONSUMER_QUICK)
        assert_int_equal(printed, MESSAGES);
    log_rig_free(r); /* checks the guards */
}

static void with_a_consumer_every_message_is_printed(void **state)
{
    (void)state;
    eighteen_messages(TLOG_PRODUCER_CAREFUL, CONSUMER_QUICK);
    eighteen_messages(TLOG_PRODUCER_COMPATIBLE, CONSUMER_QUICK);
}

static void with_a_slow_consumer_each_is_printed_or_counted(void **state)
{
    (void)state;
    eighteen_messages(TLOG_PRODUCER_CAREFUL, CONSUMER_SLOW);
    eighteen_messages(TLOG_PRODUCER_COMPATIBLE, CONSUMER_SLOW);
}

static void without_a_consumer_each_is_counted_when_one_comes(void **state)
{
    (void)state;
    eighteen_messages(TLOG_PRODUCER_CAREFUL, CONSUMER_LATER);
    eighteen_messages(TLOG_PRODUCER_COMPATIBLE, CONSUMER_LATER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_a_consumer_every_message_is_printed),
        cmocka_unit_test(with_a_slow_consumer_each_is_printed_or_counted),
        cmocka_unit_test(without_a_consumer_each_is_counted_when_one_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
