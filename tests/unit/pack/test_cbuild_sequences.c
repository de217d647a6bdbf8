/* SPDX-License-Identifier: Apache-2.0 */
/* cbuild-run.yml: debug-vars and debug-sequences (cross-trigger sheet 5, case C43). */
#include "cbuild_texts.h"

#include "base/host_clock.h"
#include "sequence/sequence_run.h"

static const struct store_sequence *first(const struct described *r)
{
    assert_true(r->device->set->sequence_count > 0);
    return &r->device->set->sequences[0];
}

static void expect_text(const struct sequence_text *text, const char *expected)
{
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->bytes, expected, text->size);
}

static void expect_mark(const struct sequence_text *text, size_t i, size_t offset, unsigned line,
                        unsigned column)
{
    assert_true(i < text->mark_count);
    assert_int_equal(text->marks[i].offset, offset);
    assert_int_equal(text->marks[i].line, line);
    assert_int_equal(text->marks[i].column, column);
}

#define SEQUENCES RUN "  debug-sequences:\n"

static void test_c43_a_block_is_text_and_stands_where_it_stands(void **state)
{
    (void)state;
    struct described r = take(SEQUENCES "    - name: S\n"
                                        "      info: some words\n"
                                        "      blocks:\n"
                                        "        - execute: |\n"
                                        "            __var x = 1; # is text: no comment of YAML\n"
                                        "\n"
                                        "              // indented: \"and: more\"\n"
                                        "            Write32(0, x);\t// a tab\n"
                                        "        - info: second\n"
                                        "          execute: \"Write32(4, 1);\"\n"
                                        "        - execute: Write32(8, 1);\n");
    const struct store_sequence *s = first(&r);
    assert_string_equal(s->name, "S");
    assert_string_equal(s->info, "some words");
    assert_false(s->disabled);
    assert_int_equal(s->level, 5);
    assert_int_equal(s->place.line, 4);
    assert_int_equal(s->place.column, 13);
    const struct store_element *e = s->first;
    assert_int_equal(e->kind, STORE_BLOCK);
    expect_text(&e->text, "__var x = 1; # is text: no comment of YAML\n\n  // indented: \"and: more\"\n"
                          "Write32(0, x);\t// a tab\n");
    assert_int_equal(e->text.mark_count, 3);
    expect_mark(&e->text, 0, 0, 8, 13);
    expect_mark(&e->text, 1, 44, 10, 13);
    expect_mark(&e->text, 2, 71, 11, 13);
    expect_text(&e->next->text, "Write32(4, 1);");
    expect_mark(&e->next->text, 0, 0, 13, 21);
    expect_text(&e->next->next->text, "Write32(8, 1);");
    expect_mark(&e->next->next->text, 0, 0, 14, 20);
    assert_null(e->next->next->next);
    done(&r);
}

static void test_c43_blocks_of_every_shape_have_their_places(void **state)
{
    (void)state;
    /* Blank lines first, an indentation that is told, and line ends of the other sort. */
    struct described r = take(SEQUENCES "    - name: S\n"
                                        "      blocks:\n"
                                        "        - execute: |\n"
                                        "\n"
                                        "            a;\n");
    expect_text(&first(&r)->first->text, "\na;\n");
    expect_mark(&first(&r)->first->text, 0, 0, 7, 1);
    expect_mark(&first(&r)->first->text, 1, 1, 8, 13);
    done(&r);
    r = take(SEQUENCES
             "    - name: S\n      blocks:\n        - execute: |2-\n              a;\n             b;\n");
    expect_text(&first(&r)->first->text, "  a;\n b;");
    expect_mark(&first(&r)->first->text, 0, 0, 7, 13);
    expect_mark(&first(&r)->first->text, 1, 5, 8, 13);
    done(&r);
    r = take("cbuild-run:\r\n  device: x\r\n  debug-sequences:\r\n    - name: S\r\n      blocks:\r\n"
             "        - execute: |\r\n            a;\r\n            b;\r\n");
    expect_text(&first(&r)->first->text, "a;\nb;\n");
    expect_mark(&first(&r)->first->text, 1, 3, 8, 13);
    done(&r);
}

static void test_a_mistake_is_shown_where_it_stands(void **state)
{
    (void)state;
    struct described r = take(SEQUENCES "    - name: S\n"
                                        "      blocks:\n"
                                        "        - execute: |\n"
                                        "            __var a = 1;\n"
                                        "            a = b;\n"
                                        "        - if: c == 1\n");
    struct sequence_program *program = pack_compile(r.device, &r.problems, &r.diag);
    assert_non_null(program);
    assert_int_equal(r.problems.count, 2);
    assert_int_equal(r.problems.list[0].place.file, 1);
    assert_int_equal(r.problems.list[0].place.line, 8);
    assert_int_equal(r.problems.list[0].place.column, 17);
    assert_int_equal(r.problems.list[1].place.line, 9);
    assert_int_equal(r.problems.list[1].place.column, 15);
    const char *line;
    size_t size;
    assert_true(sequence_set_line(r.device->set, 1, 8, &line, &size));
    assert_int_equal(size, 18);
    assert_memory_equal(line, "            a = b;", size);
    sequence_program_free(program);
    done(&r);
}

static void test_c43_controls(void **state)
{
    (void)state;
    struct described r = take(SEQUENCES "    - name: S\n"
                                        "      blocks:\n"
                                        "        - if: 1\n"
                                        "          while: \"a != 2\"\n"
                                        "          timeout: 0x10\n"
                                        "          execute: one;\n"
                                        "        - if: \"!x\"\n"
                                        "          blocks:\n"
                                        "            - execute: two;\n"
                                        "            - while: ReadDP(4)\n"
                                        "        - blocks:\n"
                                        "            - execute: three;\n"
                                        "        - atomic:\n"
                                        "          execute: four;\n"
                                        "        - info: nothing\n");
    const struct store_element *e = first(&r)->first;
    assert_int_equal(e->kind, STORE_CONTROL);
    assert_true(e->has_if && e->has_while && e->has_timeout);
    expect_text(&e->if_, "1");
    expect_text(&e->while_, "a != 2");
    expect_mark(&e->while_, 0, 0, 7, 19);
    expect_text(&e->timeout, "0x10");
    expect_text(&e->first->text, "one;");
    assert_null(e->first->next);
    e = e->next;
    assert_int_equal(e->kind, STORE_CONTROL);
    expect_text(&e->if_, "!x");
    assert_false(e->has_while || e->has_timeout);
    expect_text(&e->first->text, "two;");
    assert_int_equal(e->first->next->kind, STORE_CONTROL);
    assert_null(e->first->next->first); /* polls: there is nothing in it */
    e = e->next;
    assert_int_equal(e->kind, STORE_BLOCK); /* only grouped: no scope of its own */
    expect_text(&e->text, "three;");
    assert_false(e->atomic);
    e = e->next;
    assert_true(e->atomic);
    expect_text(&e->text, "four;");
    assert_null(e->next);
    done(&r);
}

static void test_c43_an_item_without_blocks_disables(void **state)
{
    (void)state;
    struct described r = take(SEQUENCES "    - name: DebugPortStart\n"
                                        "    - name: DebugPortStop\n"
                                        "      blocks: []\n");
    struct sequence_info info;
    struct sequence_program *program = pack_compile(r.device, &r.problems, &r.diag);
    assert_true(sequence_find(program, "DebugPortStart", NULL, &info));
    assert_true(info.disabled);
    assert_false(info.is_default);
    assert_true(sequence_find(program, "DebugPortStop", NULL, &info));
    assert_false(info.disabled);
    assert_true(sequence_is_defined(program, "DebugPortStop", NULL));
    sequence_program_free(program);
    done(&r);
    expect_refused(SEQUENCES "    - name: S\n      blocks:\n", ":5: blocks has no value; expected a list");
}

static void test_sequences_of_processors(void **state)
{
    (void)state;
    struct described r = take(RUN "  system-resources:\n    processors: [{pname: A}, {pname: B}]\n"
                                  "  debug-sequences:\n"
                                  "    - {name: S, blocks: [{execute: \"Write32(0, 1);\"}], pname: B}\n");
    struct sequence_info info;
    struct sequence_program *program = pack_compile(r.device, &r.problems, &r.diag);
    assert_int_equal(r.problems.errors, 0);
    assert_true(sequence_find(program, "S", "B", &info));
    assert_string_equal(info.pname, "B");
    assert_false(sequence_find(program, "S", "A", &info));
    sequence_program_free(program);
    done(&r);
}

/* ---- run */

struct board {
    struct host_clock *clock;
    unsigned delays, writes;
    uint64_t last;
};

static enum corral_err access_board(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                    size_t *finished, struct diag *d)
{
    struct board *board = ctx;
    (void)atomic;
    (void)d;
    for (size_t i = 0; i < count; i++) {
        if (list[i].op == SEQUENCE_DELAY) {
            host_clock_sleep(board->clock, (int64_t)list[i].value * NS_PER_US);
            board->delays++;
        } else if (list[i].write) {
            board->writes++;
            board->last = list[i].value;
        } else {
            list[i].value = 0;
        }
    }
    *finished = count;
    return CORRAL_OK;
}

static struct board run(struct described *r, const char *name)
{
    static const struct sequence_target target = {.access = access_board};
    struct board board = {.clock = host_clock_new_virtual()};
    struct sequence_program *program = pack_compile(r->device, &r->problems, &r->diag);
    assert_non_null(program);
    if (r->problems.errors)
        fail_msg("%s", r->problems.list[0].text);
    struct sequence_run how = {.target = &target, .ctx = &board, .clock = board.clock};
    struct sequence_result result;
    if (sequence_run(program, name, &how, &result, &r->diag) != CORRAL_OK)
        fail_msg("%s", r->diag.message);
    sequence_program_free(program);
    host_clock_free(board.clock);
    return board;
}

static void test_c43_timeouts_are_microseconds(void **state)
{
    (void)state;
    /* 10 ms, and each round takes 1 ms. As milliseconds it would be 10000 rounds. */
    struct described r = take(SEQUENCES "    - name: S\n"
                                        "      blocks:\n"
                                        "        - while: 1\n"
                                        "          timeout: 10000\n"
                                        "          execute: DAP_Delay(1000);\n"
                                        "        - execute: Write32(0, 5);\n");
    struct board board = run(&r, "S");
    assert_in_range(board.delays, 10, 11);
    assert_int_equal(board.last, 5);
    done(&r);
}

static void test_variables_of_the_file(void **state)
{
    (void)state;
    struct described r = take(RUN "  debug-vars:\n"
                                  "    vars: |\n"
                                  "      __var First  = 0x12;   // and a comment\n"
                                  "      __var Second = 0x34;\n"
                                  "  debug-sequences-conf:\n"
                                  "    trace-setup: full\n"
                                  "  debug-sequences:\n"
                                  "    - name: S\n"
                                  "      blocks:\n"
                                  "        - execute: Write32(0, First + Second);\n");
    assert_true(r.device->trace_setup_full);
    assert_int_equal(run(&r, "S").last, 0x46);
    done(&r);
    expect_refused(RUN "  debug-sequences-conf:\n    trace-setup: half\n",
                   ":4: trace-setup is 'half'; expec");
}

static void test_c43_shapes_that_are_refused(void **state)
{
    (void)state;
#define BLOCK SEQUENCES "    - name: S\n      blocks:\n        - "
    static const struct {
        const char *text, *words;
    } cases[] = {
        {RUN "  debug-sequences: 1\n", ":3: debug-sequences is '1'; expected a list"},
        {SEQUENCES "    - 1\n", ":4: an entry is '1'; expected name: and blocks:"},
        {SEQUENCES "    - info: x\n", ":4: a sequence without name:"},
        {SEQUENCES "    - name: [a]\n", ":4: name is a list; expected text"},
        {SEQUENCES "    - name: S\n      blocks: text\n", ":5: blocks is 'text'; expected a list"},
        {BLOCK "1\n", ":6: an entry is '1'; expected execute: or blocks:"},
        {BLOCK "execute: [a]\n", ":6: execute is a list; expected statements"},
        {BLOCK "execute:\n", ":6: execute has no value; expected statements"},
        {BLOCK "if: {a: 1}\n", ":6: if is a mapping; expected an expression"},
        {BLOCK "while: []\n", ":6: while is a list; expected an expression"},
        {BLOCK "timeout: ~\n", ":6: timeout has no value; expected a number of microseconds"},
        {BLOCK "execute: a;\n          atomic: yes\n", ":7: atomic is 'yes'; expected no value"},
        {BLOCK "execute: a;\n          blocks: []\n", ":6: execute: stands beside blocks:"},
        {BLOCK "atomic:\n          blocks: []\n", ":6: atomic: stands beside blocks:"},
        {BLOCK "execute: a;\n          execute: b;\n", ":7: key 'execute' is here twice (first in line 6)"},
        {RUN "  debug-vars:\n    vars: [a]\n", ":4: vars is a list; expected declarations of variables"},
        {SEQUENCES "    - name: "
                   "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl\n",
         ":4: name is too long; expected at most 63 characters"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_refused(cases[i].text, cases[i].words);
}

static void test_c43_a_mark_of_exclamation_is_to_be_quoted(void **state)
{
    (void)state;
    static const char words[] = ":6: a tag (!) is not supported here; expected quotes around a value that "
                                "begins with '!', such as if: \"!x\"";
    expect_refused(BLOCK "if: !hasDormant\n          execute: a;\n", words);
    expect_refused(BLOCK "if: !(a && b)\n          execute: a;\n", words);
    expect_refused(BLOCK "while: !!x\n", words);
    /* Not the first character: text as any other. */
    struct described r = take(BLOCK "if: a != 1\n");
    expect_text(&first(&r)->first->if_, "a != 1");
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c43_a_block_is_text_and_stands_where_it_stands),
        cmocka_unit_test(test_c43_blocks_of_every_shape_have_their_places),
        cmocka_unit_test(test_a_mistake_is_shown_where_it_stands),
        cmocka_unit_test(test_c43_controls),
        cmocka_unit_test(test_c43_an_item_without_blocks_disables),
        cmocka_unit_test(test_sequences_of_processors),
        cmocka_unit_test(test_c43_timeouts_are_microseconds),
        cmocka_unit_test(test_variables_of_the_file),
        cmocka_unit_test(test_c43_shapes_that_are_refused),
        cmocka_unit_test(test_c43_a_mark_of_exclamation_is_to_be_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
