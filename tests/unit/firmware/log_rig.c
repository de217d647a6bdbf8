/* SPDX-License-Identifier: Apache-2.0 */
/* A producer of either mode on a host buffer. Firmware-log sheet 1 and 3. */
#include "log_rig.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct log_rig *log_rig_new(unsigned mode, uint32_t buffer_size, uint32_t staging_size)
{
    struct log_rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->host = host_new(buffer_size);
    r->host->torn_allowed = mode == TLOG_PRODUCER_COMPATIBLE;
    r->staging = malloc(staging_size ? staging_size : 1);
    assert_non_null(r->staging);
    for (uint32_t i = 0; i < sizeof(r->text); i++)
        r->text[i] = (char)('A' + i % 26);
    const struct tlog_producer_config config = {
        .port = &r->host->port, .staging = r->staging, .staging_size = staging_size, .mode = (uint8_t)mode};
    assert_true(tlog_producer_init(&r->producer, &config));
    return r;
}

uint32_t log_rig_staged(const struct log_rig *r)
{
    uint32_t staged = 0;
    for (uint32_t at = 0; at < r->producer.used; staged++)
        at += (uint32_t)r->staging[at] | (uint32_t)r->staging[at + 1] << 8;
    return staged;
}

uint32_t log_rig_missing(const struct log_rig *r)
{
    uint32_t expected = 0, missing = 0;
    for (uint32_t i = 0; i < r->host->record_count; i++) {
        assert_true(r->host->records[i].sequence >= expected);
        missing += r->host->records[i].sequence - expected;
        expected = r->host->records[i].sequence + 1;
    }
    return missing + r->producer.sequence - expected;
}

void log_rig_free(struct log_rig *r)
{
    const struct tlog_producer_counts *c = &r->producer.counts;
    assert_int_equal(c->logged + c->notices, c->delivered + c->torn + c->dropped + log_rig_staged(r));
    assert_int_equal(r->producer.sequence, c->logged + c->notices);
    if (r->host->memory[HOST_GUARD + 12] != 1) {
        assert_int_equal(r->host->record_count, c->delivered);
        assert_int_equal(r->host->torn_records + r->host->torn_headers, c->torn);
    }
    host_check_guards(r->host);
    host_free(r->host);
    free(r->staging);
    free(r);
}

bool log_rig_attach(struct log_rig *r)
{
    return tlog_producer_attach(&r->producer, HOST_ADDRESS, r->host->size);
}

bool log_rig_log(struct log_rig *r, uint32_t text_length)
{
    assert_true(text_length <= sizeof(r->text));
    return tlog_producer_log(&r->producer, TLOG_INF, TLOG_SMC, r->text, text_length);
}

bool log_rig_error(struct log_rig *r, const char *text)
{
    return tlog_producer_log(&r->producer, TLOG_ERR, TLOG_SMC, text, (uint32_t)strlen(text));
}

void log_rig_stage(struct log_rig *r, uint32_t used)
{
    while (r->producer.used < used) {
        uint32_t left = used - r->producer.used;
        uint32_t record = left > 200 ? 100 : left;
        assert_true(record >= 13);
        assert_true(log_rig_log(r, record - 13));
    }
    assert_int_equal(r->producer.used, used);
}

void log_rig_drain(struct log_rig *r)
{
    for (unsigned i = 0; i < 1000; i++) {
        bool took = host_take(r->host);
        bool sent = tlog_producer_tick(&r->producer);
        if (!took && !sent)
            return;
    }
    fail_msg("the producer never comes to an end");
}
