/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a tree with places, and its limits. What its users refuse is tested with them (session-config,
 * pack-cbuild-hostile). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/yaml_tree.h"

static const struct yaml_tree_limits lines = {.what = "it",
                                              .err = CORRAL_ERR_FORMAT,
                                              .bytes = 200,
                                              .depth = 3,
                                              .nodes = 6,
                                              .keys = 3,
                                              .line_feeds = true},
                                     one_line = {.what = "it",
                                                 .err = CORRAL_ERR_CONFIG,
                                                 .bytes = 200,
                                                 .depth = 3,
                                                 .nodes = 6};

static struct yaml_tree *parse(const char *text, const struct yaml_tree_limits *limits)
{
    struct diag d = DIAG_INIT;
    struct yaml_tree *tree = yaml_tree_parse("x.yml", text, strlen(text), limits, &d);
    if (!tree)
        fail_msg("%s", d.message);
    return tree;
}

static void expect_refused(const char *text, const struct yaml_tree_limits *limits, const char *message)
{
    struct diag d = DIAG_INIT;
    assert_null(yaml_tree_parse("x.yml", text, strlen(text), limits, &d));
    assert_int_equal(d.code, limits->err);
    assert_string_equal(d.message, message);
}

static void test_places(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("a: b\nlist:\n  - \"c d\"\n  - {e: f}\n", &lines);
    const struct yaml_tree_node *root = yaml_tree_root(tree), *a = yaml_tree_child(root, "a"),
                                *list = yaml_tree_child(root, "list"), *c = list->first, *e = c->next->first;
    assert_int_equal(root->kind, YAML_TREE_MAPPING);
    assert_int_equal(a->line, 1);
    assert_int_equal(a->column, 4);
    assert_int_equal(a->key_column, 1);
    assert_int_equal(a->size, 1);
    assert_false(a->quoted);
    assert_int_equal(list->kind, YAML_TREE_LIST);
    assert_true(c->quoted);
    assert_int_equal(c->line, 3);
    assert_int_equal(c->column, 5);
    assert_int_equal(c->mark_count, 1);
    assert_int_equal(c->marks[0].column, 6); /* behind the quote */
    assert_string_equal(e->key, "e");
    assert_int_equal(e->key_line, 4);
    assert_int_equal(e->key_column, 6);
    assert_int_equal(e->column, 9);
    assert_null(yaml_tree_child(root, "b"));
    assert_null(yaml_tree_child(list, "a"));
    assert_null(yaml_tree_child(NULL, "a"));
    yaml_tree_free(tree);
}

static void test_marks_of_a_block(void **state)
{
    (void)state;
    struct yaml_tree *tree = parse("a: |\n    one\n\n     two\n    three\nb: x\n", &lines);
    const struct yaml_tree_node *a = yaml_tree_child(yaml_tree_root(tree), "a");
    static const struct yaml_tree_mark expected[] = {{0, 2, 5}, {5, 4, 5}, {10, 5, 5}};
    assert_string_equal(a->text, "one\n\n two\nthree\n");
    assert_int_equal(a->mark_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(a->marks[i].offset, expected[i].offset);
        assert_int_equal(a->marks[i].line, expected[i].line);
        assert_int_equal(a->marks[i].column, expected[i].column);
    }
    yaml_tree_free(tree);
}

static void test_limits(void **state)
{
    (void)state;
    char text[256];
    memset(text, '#', 201);
    text[201] = '\0';
    expect_refused(text, &lines, "x.yml:1: the file is too large; expected at most 200 bytes");
    expect_refused("a: [[[1]]]\n", &lines, "x.yml:1: nested too deep; expected at most 3 levels");
    expect_refused("a: [1, 2, 3, 4,\n 5]\n", &lines, "x.yml:2: too many entries; expected at most 6");
    expect_refused("a: 1\nb: 1\nc: 1\nd: 1\n", &lines,
                   "x.yml:4: too many keys in one mapping; expected at most 3");
    struct yaml_tree *tree = parse("a: [[1]]\nb: 1\nc: 1\n", &lines);
    yaml_tree_free(tree);
    tree = parse("a: 1\nb: 1\nc: 1\nd: 1\n", &one_line); /* keys without a limit of their own */
    yaml_tree_free(tree);
}

static void test_line_feeds_only_where_they_may_be(void **state)
{
    (void)state;
    expect_refused("a: |\n  b\n", &one_line,
                   "x.yml:1: a control character in a value; expected one line of printable text");
    expect_refused("\"a\\nb\": 1\n", &lines,
                   "x.yml:1: a control character in a value; expected one line of printable text");
    expect_refused("a: \"\\r\"\n", &lines, "x.yml:1: a control character in a text; expected printable text");
    struct yaml_tree *tree = parse("a: 'b'\n", &one_line);
    assert_null(yaml_tree_child(yaml_tree_root(tree), "a")->marks);
    yaml_tree_free(tree);
}

static void test_what_stands_for_a_tag(void **state)
{
    (void)state;
    struct yaml_tree_limits quoted = lines;
    quoted.tag_expected = "quotes";
    expect_refused("a: !b\n", &one_line,
                   "x.yml:1: a tag (!) is not supported here; expected the value itself");
    expect_refused("a: !b\n", &quoted, "x.yml:1: a tag (!) is not supported here; expected quotes");
    expect_refused("a: &b c\n", &quoted,
                   "x.yml:1: an anchor (&) is not supported here; expected the value itself");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_marks_of_a_block),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_line_feeds_only_where_they_may_be),
        cmocka_unit_test(test_what_stands_for_a_tag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
