/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One batch, bytes to records: the firmware-log sheet 1.5 (vectors) and 8 (cases 1 to 15, 20, 21, 23 to 26,
 * 33, 34, 38, 39, 41), outcomes as INTERFACE.md "The log, exactly" words them.
 */
#include "tlog/tlog_decode.h"

#include "tlog_fixture.h"

#define RECORDS_MAX 400

struct seen {
    struct tlog_record records[RECORDS_MAX];
    size_t record_count;
    struct {
        enum tlog_anomaly reason;
        uint32_t offset, value;
    } anomalies[8];
    size_t anomaly_count;
    struct tlog_batch_result result;
};

static void on_record(void *ctx, const struct tlog_record *record)
{
    struct seen *seen = ctx;
    assert_true(seen->record_count < RECORDS_MAX);
    seen->records[seen->record_count++] = *record;
}

static void on_anomaly(void *ctx, enum tlog_anomaly reason, uint32_t offset, uint32_t value)
{
    struct seen *seen = ctx;
    assert_true(seen->anomaly_count < 8);
    seen->anomalies[seen->anomaly_count].reason = reason;
    seen->anomalies[seen->anomaly_count].offset = offset;
    seen->anomalies[seen->anomaly_count++].value = value;
}

static struct seen *decode_staged(const struct batch *b, size_t staging)
{
    static struct seen seen; /* big; each test looks at it before the next decode */
    memset(&seen, 0, sizeof(seen));
    const struct tlog_callbacks callbacks = {&seen, on_record, on_anomaly};
    seen.result = tlog_decode_batch(b->data, b->capacity, staging, &callbacks);
    assert_int_equal(seen.result.records, seen.record_count);
    assert_int_equal(seen.result.anomalies, seen.anomaly_count);
    return &seen;
}

static struct seen *decode(const struct batch *b)
{
    return decode_staged(b, TLOG_STAGING_DEFAULT);
}

static void expect_text(const struct tlog_record *r, const char *text)
{
    assert_int_equal(r->text_size, strlen(text) + 1);
    assert_memory_equal(r->text, text, r->text_size);
}

static void expect_only(const struct seen *s, enum tlog_anomaly reason, uint32_t offset, uint32_t value)
{
    assert_int_equal(s->anomaly_count, 1);
    assert_int_equal(s->anomalies[0].reason, reason);
    assert_int_equal(s->anomalies[0].offset, offset);
    assert_int_equal(s->anomalies[0].value, value);
}

/* Sheet 1.5, byte for byte. */
static void sheet_1_5_vectors(void **state)
{
    (void)state;
    static const uint8_t header[] = {0x43, 0, 0, 0, 0, 0x10, 0, 0, 0x47, 0x4f, 0x4c, 0x54, 1, 0, 0, 0};
    static const uint8_t first[] = {0x0f, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'h', 'i', 0};
    static const uint8_t second[] = {0x24, 0,    1,    0,   0x78, 0x56, 0x34, 0x12, 0xff, 0xff, 0xff, 0xff,
                                     0x1b, 0x5b, 0x31, ';', '3',  '1',  'm',  '<',  'e',  'r',  'r',  '>',
                                     ' ',  'm',  ':',  ' ', 'x',  0x1b, '[',  '0',  'm',  '\r', '\n', 0};
    struct batch b = batch_begin(4096);
    memcpy(b.data, header, sizeof(header));
    memcpy(b.data + 16, first, sizeof(first));
    memcpy(b.data + 31, second, sizeof(second));
    const struct seen *s = decode(&b);
    assert_int_equal(s->result.status, TLOG_OK);
    assert_true(s->result.release);
    assert_int_equal(s->anomaly_count, 0);
    assert_int_equal(s->record_count, 2);
    assert_int_equal(s->records[0].level, 3);
    assert_int_equal(s->records[0].timestamp, 1);
    assert_int_equal(s->records[0].sequence, 0);
    expect_text(&s->records[0], "hi");
    assert_int_equal(s->records[1].level, 1);
    assert_int_equal(s->records[1].timestamp, 0x12345678);
    assert_int_equal(s->records[1].sequence, 0xffffffff);
    expect_text(&s->records[1], "\x1b[1;31m<err> m: x\x1b[0m\r\n");
    free(b.data);
}

static void case_1_owner_0_with_plausible_data(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    batch_line(&b, 1, 1, "not yours");
    b.data[TLOG_OFF_OWNER] = 0;
    const struct seen *s = decode(&b);
    assert_int_equal(s->result.status, TLOG_EMPTY);
    assert_false(s->result.release);
    assert_int_equal(s->record_count + s->anomaly_count, 0);
    free(b.data);
}

static void case_2_odd_owner(void **state)
{
    (void)state;
    static const uint8_t owners[] = {2, 0x80, 0xff};
    for (size_t i = 0; i < sizeof(owners); i++) {
        struct batch b = batch_begin(4096);
        batch_line(&b, 1, 1, "not yours");
        b.data[TLOG_OFF_OWNER] = owners[i];
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_EMPTY);
        assert_false(s->result.release);
        assert_int_equal(s->record_count, 0);
        expect_only(s, TLOG_ANOMALY_OWNER, TLOG_OFF_OWNER, owners[i]);
        free(b.data);
    }
}

/* Owner is looked at before the magic (sheet 6, 18), but for a dead link. */
static void owner_before_magic(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    store_le32(b.data + TLOG_OFF_MAGIC, 0x12345678);
    b.data[TLOG_OFF_OWNER] = 0;
    const struct seen *s = decode(&b);
    assert_int_equal(s->result.status, TLOG_EMPTY);
    assert_int_equal(s->anomaly_count, 0);
    free(b.data);
}

static void case_3_empty_batch(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    const struct seen *s = decode(&b);
    assert_int_equal(s->result.status, TLOG_OK);
    assert_true(s->result.release);
    assert_int_equal(s->record_count + s->anomaly_count, 0);
    free(b.data);
}

static void case_4_write_offset_below_the_header(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 1, 15};
    for (size_t i = 0; i < 3; i++) {
        struct batch b = batch_begin(4096);
        batch_line(&b, 1, 1, "behind");
        store_le32(b.data, offsets[i]);
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_OK);
        assert_true(s->result.release);
        assert_int_equal(s->record_count, 0);
        assert_int_equal(s->result.torn_header_bytes, 0);
        expect_only(s, TLOG_ANOMALY_WRITE_OFFSET, 0, offsets[i]);
        free(b.data);
    }
}

static void case_5_write_offset_past_the_buffer(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {65, 0xfffffff0u, 0xffffffffu};
    for (size_t i = 0; i < 3; i++) {
        struct batch b = batch_begin(64);
        static const char rest[36 - 1] = "fills the buffer to its last byte.";
        batch_claim(&b, 48, 3, 0, 1, 1, rest, sizeof(rest));
        batch_put(&b, "", 1);
        assert_int_equal(b.end, 64);
        store_le32(b.data, offsets[i]);
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_OK);
        assert_int_equal(s->record_count, 1);
        assert_false(s->records[0].torn);
        assert_int_equal(s->records[0].text_size, 36);
        expect_only(s, TLOG_ANOMALY_WRITE_OFFSET, 0, offsets[i]);
        free(b.data);
    }
}

static void case_6_buffer_size_lies(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 16, 4095, 0xffffffffu};
    for (size_t i = 0; i < 4; i++) {
        struct batch b = batch_begin(4096);
        batch_line(&b, 1, 1, "kept");
        store_le32(b.data + TLOG_OFF_BUFFER_SIZE, sizes[i]);
        const struct seen *s = decode(&b);
        assert_int_equal(s->record_count, 1);
        expect_only(s, TLOG_ANOMALY_BUFFER_SIZE, TLOG_OFF_BUFFER_SIZE, sizes[i]);
        free(b.data);
    }
}

static void case_7_magic(void **state)
{
    (void)state;
    static const struct {
        uint32_t magic;
        enum tlog_status status;
        bool release;
        enum tlog_anomaly reason;
    } cases[] = {
        {0, TLOG_BAD_MAGIC, true, TLOG_ANOMALY_MAGIC},
        {0x544C4F46, TLOG_BAD_MAGIC, true, TLOG_ANOMALY_MAGIC},
        {TLOG_MAGIC_SWAPPED, TLOG_BAD_MAGIC, true, TLOG_ANOMALY_MAGIC_BYTE_ORDER},
        {0xffffffffu, TLOG_LINK_DOWN, false, TLOG_ANOMALY_LINK_DOWN},
    };
    for (size_t i = 0; i < 4; i++) {
        struct batch b = batch_begin(4096);
        batch_line(&b, 1, 1, "never read");
        store_le32(b.data + TLOG_OFF_MAGIC, cases[i].magic);
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, cases[i].status);
        assert_int_equal(s->result.release, cases[i].release);
        assert_int_equal(s->record_count, 0);
        expect_only(s, cases[i].reason, TLOG_OFF_MAGIC, cases[i].magic);
        free(b.data);
    }
}

/* With a magic of ones the owner byte is not looked at. */
static void case_7_dead_link_whatever_the_owner(void **state)
{
    (void)state;
    static const uint8_t owners[] = {0, 1, 0xff};
    for (size_t i = 0; i < 3; i++) {
        struct batch b = batch_begin(64);
        memset(b.data, 0xff, 64);
        b.data[TLOG_OFF_OWNER] = owners[i];
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_LINK_DOWN);
        assert_false(s->result.release);
        expect_only(s, TLOG_ANOMALY_LINK_DOWN, TLOG_OFF_MAGIC, 0xffffffffu);
        free(b.data);
    }
}

static void case_8_msg_size_below_12(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 1, 11};
    for (size_t i = 0; i < 3; i++) {
        struct batch b = batch_begin(4096);
        batch_line(&b, 1, 4, "good");
        batch_claim(&b, sizes[i], 3, 0, 0, 5, "bad", 4);
        batch_line(&b, 1, 6, "after it");
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_OK);
        assert_true(s->result.release);
        assert_int_equal(s->record_count, 1);
        expect_text(&s->records[0], "good");
        assert_int_equal(s->result.torn_header_bytes, 0);
        expect_only(s, TLOG_ANOMALY_MSG_SIZE, 16 + 17, sizes[i]);
        free(b.data);
    }
}

static void case_9_record_without_payload(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    batch_claim(&b, 12, 3, 0, 7, 1, NULL, 0);
    batch_line(&b, 8, 2, "y");
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 2);
    assert_int_equal(s->records[0].text_size, 0);
    assert_false(s->records[0].torn);
    expect_text(&s->records[1], "y");
    assert_int_equal(s->anomaly_count, 0);
    free(b.data);
}

static void case_10_last_record_ends_the_batch(void **state)
{
    (void)state;
    struct batch b = batch_begin(40);
    batch_claim(&b, 24, 3, 0, 7, 1, "eleven byte", 12);
    assert_int_equal(b.end, 40);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 1);
    assert_false(s->records[0].torn);
    expect_text(&s->records[0], "eleven byte");
    assert_int_equal(s->result.torn_header_bytes + s->anomaly_count, 0);
    free(b.data);
}

static void case_11_torn_tail(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    batch_line(&b, 1, 1, "whole");
    batch_claim(&b, 4096, 3, 0, 2, 2, "torn", 4);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 2);
    assert_false(s->records[0].torn);
    assert_true(s->records[1].torn);
    assert_int_equal(s->records[1].text_size, 4);
    assert_memory_equal(s->records[1].text, "torn", 4);
    assert_int_equal(s->anomaly_count + s->result.torn_header_bytes, 0);
    free(b.data);
}

static void case_11_torn_right_behind_its_header(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    batch_claim(&b, 13, 3, 0, 2, 2, NULL, 0);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 1);
    assert_true(s->records[0].torn);
    assert_int_equal(s->records[0].text_size, 0);
    free(b.data);
}

static void case_12_beyond_the_staging_size_is_corruption(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    batch_claim(&b, 0xffff, 3, 0, 2, 2, "text", 5);
    expect_only(decode(&b), TLOG_ANOMALY_MSG_SIZE, 16, 0xffff);
    store_le16(b.data + 16, 4097);
    expect_only(decode(&b), TLOG_ANOMALY_MSG_SIZE, 16, 4097);
    /* the staging size is the producer's, not ours */
    const struct seen *s = decode_staged(&b, 8192);
    assert_int_equal(s->record_count, 1);
    assert_true(s->records[0].torn);
    store_le16(b.data + 16, 65);
    expect_only(decode_staged(&b, 64), TLOG_ANOMALY_MSG_SIZE, 16, 65);
    free(b.data);
}

/* A record larger than the staging size is legal as long as all of it is there. */
static void a_whole_record_above_the_staging_size_is_a_record(void **state)
{
    (void)state;
    struct batch b = batch_begin(256);
    uint8_t text[100] = {0};
    memset(text, 'a', 99);
    batch_claim(&b, 112, 3, 0, 2, 2, text, sizeof(text));
    const struct seen *s = decode_staged(&b, 64);
    assert_int_equal(s->record_count, 1);
    assert_false(s->records[0].torn);
    free(b.data);
}

static void case_13_torn_header(void **state)
{
    (void)state;
    for (size_t left = 1; left <= 11; left++) {
        struct batch b = batch_begin(64);
        batch_line(&b, 1, 1, "whole");
        batch_put(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", left);
        const struct seen *s = decode(&b);
        assert_int_equal(s->record_count, 1);
        assert_int_equal(s->result.torn_header_bytes, left);
        assert_int_equal(s->anomaly_count, 0);
        free(b.data);
    }
}

static void case_14_and_15_payload_is_bounded_by_msg_size(void **state)
{
    (void)state;
    struct batch b = batch_begin(64);
    batch_claim(&b, 15, 3, 0, 1, 1, "abc", 3);
    batch_claim(&b, 16, 3, 0, 1, 2, "a\0bc", 4);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 2);
    assert_int_equal(s->records[0].text_size, 3);
    assert_memory_equal(s->records[0].text, "abc", 3);
    assert_int_equal(s->records[1].text_size, 4);
    free(b.data);
}

static void case_20_and_21_level_and_source_as_they_came(void **state)
{
    (void)state;
    static const uint8_t odd[] = {0, 5, 7, 255};
    struct batch b = batch_begin(128);
    for (uint8_t i = 0; i < 4; i++)
        batch_claim(&b, 13, odd[i], odd[3 - i], 0, i, "", 1);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(s->records[i].level, odd[i]);
        assert_int_equal(s->records[i].source, odd[3 - i]);
    }
    free(b.data);
}

static void case_33_records_at_every_alignment(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    for (uint32_t i = 0; i < 32; i++) {
        char text[40] = "";
        memset(text, 'x', i);
        batch_line(&b, 0x01020304u * (i + 1), i, text);
    }
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(s->records[i].timestamp, 0x01020304u * (i + 1));
        assert_int_equal(s->records[i].text_size, i + 1);
    }
    free(b.data);
}

static void case_34_version(void **state)
{
    (void)state;
    struct batch b = batch_begin(64);
    batch_line(&b, 1, 1, "decoded all the same");
    b.data[TLOG_OFF_VERSION] = 1;
    const struct seen *s = decode(&b);
    assert_int_equal(s->result.status, TLOG_OK);
    assert_int_equal(s->record_count, 1);
    expect_only(s, TLOG_ANOMALY_VERSION, TLOG_OFF_VERSION, 1);
    b.data[TLOG_OFF_VERSION] = 0;
    assert_int_equal(decode(&b)->anomaly_count, 0);
    free(b.data);
}

static void case_38_capacity_below_the_staging_size(void **state)
{
    (void)state;
    struct batch b = batch_begin(64);
    batch_claim(&b, 300, 3, 0, 1, 1, "thirty-six bytes of a longer record.", 36);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 1);
    assert_true(s->records[0].torn);
    assert_int_equal(s->records[0].text_size, 36);
    free(b.data);
}

static void case_39_longest_record(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    char text[4068];
    memset(text, 'B', sizeof(text));
    batch_claim(&b, 4080, 3, 0, 1, 1, text, sizeof(text));
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 1);
    assert_false(s->records[0].torn);
    assert_int_equal(s->records[0].text_size, 4068);
    free(b.data);
}

/* Sheet 1.6: 340 records of 12 bytes fill 4096. */
static void case_26_most_records(void **state)
{
    (void)state;
    struct batch b = batch_begin(4096);
    for (uint32_t i = 0; i < 340; i++)
        batch_claim(&b, 12, 3, 0, i, i * 2654435761u, NULL, 0);
    assert_int_equal(b.end, 4096);
    const struct seen *s = decode(&b);
    assert_int_equal(s->record_count, 340);
    for (uint32_t i = 0; i < 340; i++)
        assert_int_equal(s->records[i].timestamp, i);
    free(b.data);
}

static void case_41_file_below_a_header(void **state)
{
    (void)state;
    for (size_t capacity = 0; capacity < 16; capacity++) {
        struct batch b = {malloc(capacity ? capacity : 1), capacity, 0};
        assert_non_null(b.data);
        memset(b.data, 0xff, capacity);
        const struct seen *s = decode(&b);
        assert_int_equal(s->result.status, TLOG_BAD_MAGIC);
        assert_false(s->result.release);
        assert_int_equal(s->anomaly_count, 1);
        assert_int_equal(s->anomalies[0].reason, TLOG_ANOMALY_MAGIC);
        free(b.data);
    }
    struct batch b = batch_begin(16);
    assert_int_equal(decode(&b)->result.status, TLOG_OK);
    free(b.data);
}

static void callbacks_may_be_absent(void **state)
{
    (void)state;
    struct batch b = batch_begin(64);
    batch_line(&b, 1, 1, "x");
    batch_claim(&b, 3, 0, 0, 0, 0, NULL, 0);
    const struct tlog_callbacks none = {0};
    struct tlog_batch_result r = tlog_decode_batch(b.data, b.capacity, 4096, &none);
    assert_int_equal(r.records, 1);
    assert_int_equal(r.anomalies, 1);
    free(b.data);
}

static void cases_22_to_25_sequence(void **state)
{
    (void)state;
    static const struct {
        uint32_t last, next;
        enum tlog_step step;
        uint32_t lost;
    } cases[] = {
        {34, 35, TLOG_STEP_NEXT, 0},
        {0xffffffffu, 0, TLOG_STEP_NEXT, 0},
        {506, 924, TLOG_STEP_GAP, 417},
        {0xfffffffeu, 1, TLOG_STEP_GAP, 2},
        {0, 2, TLOG_STEP_GAP, 1},
        {0, 0x80000000u, TLOG_STEP_GAP, 0x7fffffffu},
        {0, 0x80000001u, TLOG_STEP_RESTART, 0},
        {506, 506, TLOG_STEP_RESTART, 0},
        {506, 505, TLOG_STEP_RESTART, 0},
        {5506, 0, TLOG_STEP_RESTART, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tlog_sequence s = {0};
        uint32_t lost = 99;
        assert_int_equal(tlog_sequence_step(&s, cases[i].last, &lost),
                         TLOG_STEP_FIRST); /* a baseline, no gap */
        assert_int_equal(lost, 0);
        assert_int_equal(tlog_sequence_step(&s, cases[i].next, &lost), cases[i].step);
        assert_int_equal(lost, cases[i].lost);
        assert_int_equal(tlog_sequence_step(&s, cases[i].next + 1, &lost), TLOG_STEP_NEXT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheet_1_5_vectors),
        cmocka_unit_test(case_1_owner_0_with_plausible_data),
        cmocka_unit_test(case_2_odd_owner),
        cmocka_unit_test(owner_before_magic),
        cmocka_unit_test(case_3_empty_batch),
        cmocka_unit_test(case_4_write_offset_below_the_header),
        cmocka_unit_test(case_5_write_offset_past_the_buffer),
        cmocka_unit_test(case_6_buffer_size_lies),
        cmocka_unit_test(case_7_magic),
        cmocka_unit_test(case_7_dead_link_whatever_the_owner),
        cmocka_unit_test(case_8_msg_size_below_12),
        cmocka_unit_test(case_9_record_without_payload),
        cmocka_unit_test(case_10_last_record_ends_the_batch),
        cmocka_unit_test(case_11_torn_tail),
        cmocka_unit_test(case_11_torn_right_behind_its_header),
        cmocka_unit_test(case_12_beyond_the_staging_size_is_corruption),
        cmocka_unit_test(a_whole_record_above_the_staging_size_is_a_record),
        cmocka_unit_test(case_13_torn_header),
        cmocka_unit_test(case_14_and_15_payload_is_bounded_by_msg_size),
        cmocka_unit_test(case_20_and_21_level_and_source_as_they_came),
        cmocka_unit_test(cases_22_to_25_sequence),
        cmocka_unit_test(case_26_most_records),
        cmocka_unit_test(case_33_records_at_every_alignment),
        cmocka_unit_test(case_34_version),
        cmocka_unit_test(case_38_capacity_below_the_staging_size),
        cmocka_unit_test(case_39_longest_record),
        cmocka_unit_test(case_41_file_below_a_header),
        cmocka_unit_test(callbacks_may_be_absent),
    };
    return cmocka_run_group_tests_name("tlog_decode", tests, NULL, NULL);
}
