/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: one shared buffer of the firmware log, any bytes. Checks what tlog_decode.h and text.h
 * promise: records lie inside the buffer, in order, without overlap; only the last may be torn; the counts
 * agree; cleaned text is bounded, valid UTF-8 and one line.
 */
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "fuzz_target.h"
#include "tlog/tlog_decode.h"

#define ANOMALIES_MAX 4 /* version, buffer-size, write-offset, msg-size: each once a batch */

struct walk {
    const uint8_t *data;
    size_t size;
    size_t at; /* where the next record must begin */
    bool torn;
    uint32_t records, anomalies;
    uint64_t checksum; /* of all that was reported, to compare two decodes */
};

static void check_text(const uint8_t *text, size_t size)
{
    char *out = malloc(TEXT_CLEAN_MAX(size));
    FUZZ_CHECK(out);
    size_t length = text_clean_log(text, size, out, TEXT_CLEAN_MAX(size));
    FUZZ_CHECK(length < TEXT_CLEAN_MAX(size) && strlen(out) == length);
    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        size_t n = text_utf8_decode((const uint8_t *)out + i, length - i, &code);
        FUZZ_CHECK(n > 0);
        FUZZ_CHECK(code == '\t' || (code >= 0x20 && code < 0x7F) || code > 0x9F);
        i += n;
    }
    /* The same bytes as a name, and into less room than they need. */
    for (size_t room = TEXT_CLEAN_MAX(size); room; room /= 2) {
        length = text_escape(text, size, out, room);
        FUZZ_CHECK(length < room && strlen(out) == length);
    }
    free(out);
}

static void on_record(void *ctx, const struct tlog_record *r)
{
    struct walk *w = ctx;
    FUZZ_CHECK(!w->torn); /* nothing comes behind a torn record */
    FUZZ_CHECK(r->text == w->data + w->at + TLOG_RECORD_HEADER);
    FUZZ_CHECK(r->text_size <= w->size - w->at - TLOG_RECORD_HEADER);
    w->at += TLOG_RECORD_HEADER + r->text_size;
    w->torn = r->torn;
    w->records++;
    w->checksum = w->checksum * 31 + r->sequence + r->timestamp + r->level + r->source + r->text_size;
    check_text(r->text, r->text_size);
}

static void on_anomaly(void *ctx, enum tlog_anomaly reason, uint32_t offset, uint32_t value)
{
    struct walk *w = ctx;
    FUZZ_CHECK(w->size < TLOG_HEADER_SIZE || offset < w->size);
    if (reason == TLOG_ANOMALY_MSG_SIZE)
        FUZZ_CHECK(offset == w->at);
    w->anomalies++;
    w->checksum = w->checksum * 31 + (uint64_t)reason + offset + value;
}

static struct tlog_batch_result decode(struct walk *w, const uint8_t *data, size_t size, size_t staging)
{
    *w = (struct walk){.data = data, .size = size, .at = TLOG_HEADER_SIZE};
    const struct tlog_callbacks callbacks = {w, on_record, on_anomaly};
    struct tlog_batch_result result = tlog_decode_batch(data, size, staging, &callbacks);
    FUZZ_CHECK(result.records == w->records && result.anomalies == w->anomalies);
    FUZZ_CHECK(w->anomalies <= ANOMALIES_MAX);
    FUZZ_CHECK(result.torn_header_bytes < TLOG_RECORD_HEADER);
    FUZZ_CHECK(result.status == TLOG_OK || (!w->records && !result.torn_header_bytes));
    FUZZ_CHECK(result.status != TLOG_OK || result.release);
    FUZZ_CHECK(result.status != TLOG_OK || w->at + result.torn_header_bytes <= size);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct walk first, again, small;
    struct tlog_batch_result result = decode(&first, data, size, TLOG_STAGING_DEFAULT);
    decode(&again, data, size, TLOG_STAGING_DEFAULT);
    FUZZ_CHECK(first.checksum == again.checksum); /* no state is kept */

    /* A smaller staging size can only turn the torn record into corruption. */
    struct tlog_batch_result other = decode(&small, data, size, 64);
    FUZZ_CHECK(other.status == result.status && other.records <= result.records &&
               other.records + 1 >= result.records);

    struct tlog_sequence sequence = {0};
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t next, lost, before = sequence.last;
        memcpy(&next, data + i, 4);
        enum tlog_step step = tlog_sequence_step(&sequence, next, &lost);
        FUZZ_CHECK(sequence.last == next && (step == TLOG_STEP_FIRST) == (i == 0));
        FUZZ_CHECK((step == TLOG_STEP_GAP) == (lost != 0) && lost < 0x80000000u);
        FUZZ_CHECK(step != TLOG_STEP_GAP || before + 1 + lost == next);
    }
    return 0;
}
