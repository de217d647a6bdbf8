/* SPDX-License-Identifier: Apache-2.0 */
/* cbuild-run.yml files that mean harm: each is refused with a sentence, in bounded time and memory
 * (cross-trigger sheet 12, case C43). */
#include "cbuild_texts.h"

struct text {
    char *bytes;
    size_t size, room;
};

static void add(struct text *t, const char *words)
{
    size_t length = strlen(words);
    if (t->size + length + 1 > t->room) {
        t->room = 2 * (t->size + length + 1);
        t->bytes = realloc(t->bytes, t->room);
        assert_non_null(t->bytes);
    }
    memcpy(t->bytes + t->size, words, length + 1);
    t->size += length;
}

static void add_times(struct text *t, const char *words, size_t times)
{
    for (size_t i = 0; i < times; i++)
        add(t, words);
}

static void refuse(struct text *t, const char *words)
{
    expect_refused_bytes(t->bytes, t->size, words);
    free(t->bytes);
}

static void test_c43_alias_bombs(void **state)
{
    (void)state;
    expect_refused("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\ncbuild-run: {}\n",
                   ":1: an anchor (&) is not supported here; expected the value itself");
    expect_refused(RUN "  output: *a\n", ":3: an alias (*) is not supported here");
    expect_refused(RUN "  <<: *a\n", ":3: an alias (*)");
    expect_refused("%TAG ! tag:x,2000:\n---\n" RUN "  board: !x y\n", ":5: a tag (!) is not supported here");
}

static void test_c43_a_key_twice(void **state)
{
    (void)state;
    expect_refused(RUN "  device: other\n", ":3: key 'device' is here twice (first in line 2)");
    expect_refused("cbuild-run: {}\ncbuild-run: {}\n", ":2: key 'cbuild-run' is here twice");
}

static void test_deep_nesting(void **state)
{
    (void)state;
    struct text t = {0};
    add(&t, RUN "  debug-sequences: ");
    add_times(&t, "[", 100000);
    refuse(&t, ":3: nested too deep; expected at most 64 levels");
    t = (struct text){0};
    add(&t, RUN "  x: ");
    add_times(&t, "{a: ", 100000);
    refuse(&t, ":3: nested too deep");
    t = (struct text){0}; /* in blocks of indentation */
    add(&t, RUN);
    for (int depth = 1; depth < 100; depth++) {
        char line[160];
        snprintf(line, sizeof(line), "%*sa:\n", depth + 1, "");
        add(&t, line);
    }
    refuse(&t, "nested too deep");
    t = (struct text){0}; /* "? ? ? ..." is a key within a key */
    add_times(&t, "? ", 100000);
    refuse(&t, ":1: a key that is not text");
}

/* Access ports behind each other, and blocks within each other, as deep as the tree goes. */
static void test_deep_but_not_too_deep(void **state)
{
    (void)state;
    struct text t = {0};
    struct described r;
    add(&t, RUN "  debug-topology: {debugports: [{accessports: ");
    for (int i = 0; i < 28; i++) {
        char one[64];
        snprintf(one, sizeof(one), "[{apid: %d, address: %d, accessports: ", i, i);
        add(&t, one);
    }
    add(&t, "[]");
    add_times(&t, "}]", 28);
    add(&t, "}]}\n");
    r = take(t.bytes);
    assert_int_equal(r.device->ap_count, 28);
    assert_int_equal(r.device->aps[27].parent, 26);
    done(&r);
    free(t.bytes);
    t = (struct text){0};
    add(&t, RUN "  debug-sequences: [{name: S, blocks: ");
    add_times(&t, "[{if: 1, blocks: ", 11);
    add(&t, "[{execute: \"Write32(0, 1);\"}]");
    add_times(&t, "}]", 11);
    add(&t, "}]\n");
    r = take(t.bytes);
    struct sequence_program *program = pack_compile(r.device, &r.problems, &r.diag);
    assert_true(r.problems.errors > 0); /* case C39: 11 controls */
    sequence_program_free(program);
    done(&r);
    free(t.bytes);
}

static void test_blocks_of_ten_megabytes(void **state)
{
    (void)state;
    struct text t = {0};
    add(&t, RUN "  debug-sequences:\n    - name: S\n      blocks:\n        - execute: |\n");
    t.bytes = realloc(t.bytes, t.size + 10 * 1024 * 1024 + 1);
    assert_non_null(t.bytes);
    memset(t.bytes + t.size, ' ', 10 * 1024 * 1024);
    t.size += 10 * 1024 * 1024;
    t.bytes[t.size] = '\0';
    refuse(&t, ":1: the file is too large; expected at most 4194304 bytes");
    t = (struct text){0}; /* as large as is taken, of nothing but short lines */
    add(&t, RUN "  debug-sequences:\n    - name: S\n      blocks:\n        - execute: |\n");
    while (t.size < 4 * 1024 * 1024 - 16)
        add(&t, "            ;\n");
    struct described r = take(t.bytes);
    assert_int_equal(r.device->set->sequences[0].first->text.mark_count,
                     r.device->set->sequences[0].first->text.size / 2);
    done(&r);
    free(t.bytes);
}

static void test_many_of_everything(void **state)
{
    (void)state;
    static const struct {
        const char *before, *each;
        size_t times;
        const char *words;
    } cases[] = {
        {RUN "  x:\n", "    - a\n", 65540, "too many entries; expected at most 65536"},
        {RUN "  output:\n", "    - file: a\n", 65, ":68: too many outputs; expected at most 64"},
        {RUN "  debug-topology:\n    debugports:\n      - accessports:\n", NULL, 65,
         ":70: too many access ports; expected at most 64"},
        {RUN "  debug-topology:\n    debugports:\n", NULL, 33,
         ":37: too many debug ports; expected at most 32"},
        {RUN "  debug-topology:\n    processors:\n", NULL, 33,
         ":37: too many processors; expected at most 32"},
        {RUN "  debugger:\n    gdbserver:\n", NULL, 33, ":37: too many gdb servers; expected at most 32"},
        {RUN, NULL, 1025, "too many keys in one mapping; expected at most 1024"},
        {RUN "  debug-topology:\n    debugports:\n      - accessports:\n          - apid: 1\n"
             "            index: 1\n            datapatch:\n",
         "              - {address: 0, value: 0}\n", 257,
         ":265: too many data patches; expected at most 256"},
    };
    static const char *const each[] = {[2] = "          - {apid: %zu, index: 0}\n",
                                       [3] = "      - dpid: %zu\n",
                                       [4] = "      - pname: P%zu\n",
                                       [5] = "      - port: 1%zu\n",
                                       [6] = "  key%zu: 1\n"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text t = {0};
        add(&t, cases[i].before);
        for (size_t n = 0; n < cases[i].times; n++) {
            char line[64];
            if (cases[i].each)
                add(&t, cases[i].each);
            else if (snprintf(line, sizeof(line), each[i], n) > 0)
                add(&t, line);
        }
        refuse(&t, cases[i].words);
    }
}

static void test_many_sequences_are_a_limit(void **state)
{
    (void)state;
    struct text t = {0};
    add(&t, RUN "  debug-sequences:\n");
    for (int i = 0; i <= SEQUENCE_MAX_COUNT; i++) {
        char line[64];
        snprintf(line, sizeof(line), "    - name: S%d\n", i);
        add(&t, line);
    }
    struct described r = take_with(t.bytes, t.size, NULL);
    assert_null(r.device);
    assert_int_equal(r.diag.code, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(r.diag.message, "dir/x.cbuild-run.yml:4100: more than 4096 debug sequences"));
    done(&r);
    free(t.bytes);
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    static const char nul[] = RUN "  board: a\0b\n";
    expect_refused_bytes(nul, sizeof(nul) - 1, ":3: control characters are not allowed; expected UTF-8 text");
    expect_refused(RUN "  board: \"a\\0b\"\n", ":3: a control character in a text");
    expect_refused(RUN "  output:\n    - file: \"a\\x1b[2J\"\n", ":4: a control character in a text");
    expect_refused(RUN "  output:\n    - \"fi\\nle\": x\n", ":4: a control character in a value");
    expect_refused(RUN "  board: \xC3\x28\n", ":3: invalid trailing UTF-8 octet; expected UTF-8 text");
    expect_refused(RUN "  board: \xF8\x88\x80\x80\x80\n", "expected UTF-8 text");
    expect_refused(RUN "  output:\n    - file: \"a\\u202Eb\"\n",
                   ":4: file has a character that is not printabl");
    expect_refused(RUN "  debugger:\n    start-pname: \"a\\tb\"\n",
                   ":4: start-pname has a character that is");
    expect_refused(RUN "  debugger: {protocol: \"a\\tb\\nc\"}\n", ":3: protocol is 'a b\\nc'");
    expect_refused(RUN "\tx: 1\n", ":3: a tab in the indentation; expected spaces");
    /* UTF-16 is YAML, but no tool writes it: what is shown of lines would be wrong. */
    static const char wide[] = "\xFF\xFE"
                               "a\0:\0 \0b\0\n";
    expect_refused_bytes(wide, sizeof(wide), ":1: there is no cbuild-run: in it");
}

static void test_files_that_are_something_else(void **state)
{
    (void)state;
    expect_refused("", ":1: the file is empty");
    expect_refused("# only a comment\n", "the file is empty");
    expect_refused("- a\n", ":1: the file is not a mapping");
    expect_refused("cbuild-run: text\n", ":1: cbuild-run is 'text'; expected a mapping");
    expect_refused("cbuild-run:\n", ":1: cbuild-run has no value; expected a mapping");
    expect_refused("solution: {}\n", ":1: there is no cbuild-run: in it; expected a .cbuild-run.yml");
    expect_refused("cbuild-run: {}\n---\ncbuild-run: {}\n", ":2: a second document; expected one");
    expect_refused("cbuild-run:\n  device: [x]\n", ":2: device is a list; expected text");
    expect_refused("cbuild-run:\n  a: b: c\n", ":2: this is not YAML (mapping values are not allowed");
}

/* A name must not break the line that tells of it. */
static void test_names_in_messages(void **state)
{
    (void)state;
    struct described r = {.diag = DIAG_INIT};
    r.file = pack_parse(PACK_CBUILD_RUN, "a\n\x1b[2Jb.yml", "x: y\n", 5, NULL, NULL, &r.diag);
    assert_null(r.file);
    assert_null(strchr(r.diag.message, '\n'));
    assert_null(strchr(r.diag.message, '\x1b'));
    r = take_with(RUN "  debugger: {protocol: \"\\u009B31m\"}\n",
                  strlen(RUN "  debugger: {protocol: \"\\u009B31m\"}\n"), NULL);
    assert_null(r.device);
    assert_null(strstr(r.diag.message, "\xC2\x9B"));
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c43_alias_bombs),
        cmocka_unit_test(test_c43_a_key_twice),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_deep_but_not_too_deep),
        cmocka_unit_test(test_blocks_of_ten_megabytes),
        cmocka_unit_test(test_many_of_everything),
        cmocka_unit_test(test_many_sequences_are_a_limit),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_files_that_are_something_else),
        cmocka_unit_test(test_names_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
