/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf writer: bytes as the encoding's description has them, and the numbering of distinct things. */
#include "export_testing.h"

#include "export/export_index.h"
#include "export/export_proto.h"
#include "export/export_text.h"

static void bytes_are(struct export_proto *p, const char *want, size_t size)
{
    assert_false(p->failed);
    assert_int_equal(p->size, size);
    assert_memory_equal(p->data, want, size);
    export_proto_free(p);
    assert_int_equal(p->size, 0);
}

static void varints_of_every_length(void **state)
{
    (void)state;
    struct export_proto p = {.data = NULL};
    export_proto_varint(&p, 0);
    export_proto_varint(&p, 127);
    export_proto_varint(&p, 128);
    export_proto_varint(&p, 300);
    export_proto_varint(&p, UINT64_MAX);
    bytes_are(&p, "\x00\x7F\x80\x01\xAC\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 16);
    for (unsigned bits = 1; bits < 64; bits++) {
        export_proto_varint(&p, UINT64_C(1) << bits);
        assert_int_equal(p.size, bits / 7 + 1);
        assert_int_equal(p.data[p.size - 1], 1u << bits % 7);
        export_proto_free(&p);
    }
}

static void fields_that_are_zero_are_left_out(void **state)
{
    (void)state;
    struct export_proto p = {.data = NULL};
    export_proto_uint(&p, 1, 0);
    export_proto_uint(&p, 1, 150);
    export_proto_element(&p, 13, 0);
    export_proto_string(&p, 6, "");
    export_proto_string(&p, 16, "ab");
    bytes_are(&p,
              "\x08\x96\x01\x68\x00\x32\x00\x82\x01\x02"
              "ab",
              12);
}

static void messages_nest(void **state)
{
    (void)state;
    struct export_proto p = {.data = NULL};
    size_t outer = export_proto_begin(&p, 3);
    size_t inner = export_proto_begin(&p, 1);
    export_proto_varint(&p, 3);
    export_proto_varint(&p, 270);
    export_proto_end(&p, inner);
    export_proto_uint(&p, 2, 1);
    export_proto_end(&p, outer);
    size_t empty = export_proto_begin(&p, 4);
    export_proto_end(&p, empty);
    bytes_are(&p, "\x1A\x07\x0A\x03\x03\x8E\x02\x10\x01\x22\x00", 11);
}

/* A length of several bytes moves the body; nothing of it may be lost. */
static void long_messages_have_long_lengths(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    struct export_proto p = {.data = NULL};
    size_t outer = export_proto_begin(&p, 1);
    for (unsigned i = 0; i < LONG; i++)
        export_proto_varint(&p, i & 0x7F);
    export_proto_end(&p, outer);
    assert_int_equal(p.size, 1 + 3 + LONG);
    assert_memory_equal(p.data, "\x0A\xA0\x8D\x06\x00\x01\x02", 7);
    for (unsigned i = 0; i < LONG; i++)
        assert_int_equal(p.data[4 + i], i & 0x7F);
    export_proto_free(&p);
}

static bool same_number(const void *ctx, size_t number, const void *key)
{
    const uint64_t *values = *(const uint64_t *const *)ctx;
    return values[number] == *(const uint64_t *)key;
}

static void numbers_follow_the_first_appearance(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    uint64_t *values = NULL;
    size_t room = 0;
    struct export_index ix = {.same = same_number, .ctx = &values};
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < MANY; i++) {
            bool fresh;
            assert_true(export_grow((void **)&values, &room, ix.count, sizeof(*values)));
            /* Hashes that are all alike in their low bits, and half of them alike altogether. */
            assert_int_equal(export_index_number(&ix, i / 2 << 40, &i, &fresh), i);
            assert_int_equal(fresh, round == 0);
            if (fresh)
                values[i] = i;
        }
    assert_int_equal(ix.count, MANY);
    free(values);
    export_index_free(&ix);
}

static void hashes_know_where_a_text_ends(void **state)
{
    (void)state;
    uint64_t start = EXPORT_HASH_START;
    assert_true(export_hash_text(export_hash_text(start, "ab"), "c") !=
                export_hash_text(export_hash_text(start, "a"), "bc"));
    assert_true(export_hash_text(start, NULL) != export_hash_text(start, ""));
    assert_true(export_hash_number(start, 1) != export_hash_number(start, UINT64_C(1) << 56));
}

static void numbers_are_grouped(void **state)
{
    (void)state;
    char out[EXPORT_GROUPED_ROOM];
    assert_string_equal(export_text_grouped(0, out), "0");
    assert_string_equal(export_text_grouped(999, out), "999");
    assert_string_equal(export_text_grouped(1000, out), "1,000");
    assert_string_equal(export_text_grouped(UINT64_MAX, out), "18,446,744,073,709,551,615");
}

static void the_note_names_every_track_that_lost(void **state)
{
    (void)state;
    const struct export_track tracks[] = {{"a", NULL, 0, 3}, {"b", NULL, 0, 0}, {"c\n", NULL, 0, 1}};
    struct export_profile p = {.tracks = tracks, .count = 3, .note = "Two words."};
    char *note = export_text_note(&p);
    assert_string_equal(note, "Two words. 4 packets lost, whose samples are missing here: a 3, c\\n 1.");
    free(note);
    p.note = NULL;
    p.count = 1;
    note = export_text_note(&p);
    assert_string_equal(note, "3 packets lost, whose samples are missing here: a 3.");
    free(note);
    p.count = 0;
    note = export_text_note(&p);
    assert_string_equal(note, "");
    free(note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_of_every_length),
        cmocka_unit_test(fields_that_are_zero_are_left_out),
        cmocka_unit_test(messages_nest),
        cmocka_unit_test(long_messages_have_long_lengths),
        cmocka_unit_test(numbers_follow_the_first_appearance),
        cmocka_unit_test(hashes_know_where_a_text_ends),
        cmocka_unit_test(numbers_are_grouped),
        cmocka_unit_test(the_note_names_every_track_that_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
