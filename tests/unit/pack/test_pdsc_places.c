/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a PDSC's texts stand in the file (case C33 and the places of all others): behind comments, entities,
 * CDATA sections, attributes over several lines, line ends of every kind. An `@` planted in a file must be
 * told at the line and column that counting the file's own lines gives.
 */
#include "pdsc_texts.h"

#include "pack/pack_internal.h"
#include "pack/pack_xml.h"

/* By counting: the n-th '@' of the file. The byte order mark has no column. */
static struct sequence_place counted(const char *text, size_t size, unsigned n)
{
    struct sequence_place p = {1, 1, 1};
    for (size_t i = size >= 3 && (unsigned char)text[0] == 0xEF ? 3 : 0; i < size; i++) {
        if (text[i] == '@' && n-- == 0)
            return p;
        if (text[i] == '\n') {
            p.line++;
            p.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) {
            p.column++;
        }
    }
    fail_msg("the file has too few '@'");
    return p;
}

/* By the marks, as sequence_set.h has it. */
static struct sequence_place marked(const struct pack_xml_text *t, size_t offset)
{
    struct sequence_place p = {1, 0, 0};
    size_t m = 0;
    assert_true(t->mark_count > 0);
    assert_int_equal(t->marks[0].offset, 0);
    for (size_t i = 0; i <= offset; i++) {
        for (; m < t->mark_count && t->marks[m].offset == i; m++) {
            p.line = t->marks[m].line;
            p.column = t->marks[m].column;
        }
        if (i == offset)
            break;
        if (t->bytes[i] == '\n') {
            p.line++;
            p.column = 1;
        } else if (((unsigned char)t->bytes[i] & 0xC0) != 0x80) {
            p.column++;
        }
    }
    return p;
}

static void check_text(const char *file, size_t size, const struct pack_xml_text *t, unsigned *seen)
{
    for (size_t i = 0; i < t->size; i++) {
        if (t->bytes[i] != '@')
            continue;
        struct sequence_place want = counted(file, size, *seen), is = marked(t, i);
        if (is.line != want.line || is.column != want.column)
            fail_msg("'@' %u is told at %u:%u, it stands at %u:%u", *seen, is.line, is.column, want.line,
                     want.column);
        (*seen)++;
    }
}

/* All texts of the file, in its order, joined by '|' in `all`; each '@' is where it stands. */
static unsigned read_texts(const char *text, size_t size, char *all, size_t room)
{
    static const char *const attributes[] = {"if", "while", "timeout"};
    struct diag d = DIAG_INIT;
    struct pack_xml_text t = {0};
    struct pack_xml x = {0};
    unsigned seen = 0;
    struct pack_file *file = try_parse(text, size, NULL, &d);
    if (!file)
        fail_msg("%s", d.message);
    assert_true(pack_xml_read(&x, file, &d));
    all[0] = '\0';
    for (size_t i = 0; i < x.count; i++) {
        const struct pack_xml_node *node = &x.nodes[i];
        for (size_t a = 0; a < 3 && node->kind == PACK_XML_CONTROL; a++) {
            bool there = false;
            assert_true(pack_xml_attribute(&x, node, attributes[a], true, &t, &there, &d));
            check_text(text, size, &t, &seen);
            if (there)
                snprintf(all + strlen(all), room - strlen(all), "%s|", t.bytes);
        }
        if (node->kind != PACK_XML_BLOCK && node->kind != PACK_XML_DEBUGVARS)
            continue;
        assert_true(pack_xml_content(&x, node, &t, &d));
        check_text(text, size, &t, &seen);
        snprintf(all + strlen(all), room - strlen(all), "%s|", t.bytes);
    }
    pack_xml_text_free(&t);
    pack_xml_free(&x);
    pack_close(file);
    return seen;
}

#define SEQ  FAMILY ONE "<sequences>\n  <sequence name=\"S\">\n"
#define ENDS "\n</sequence></sequences>" ENDF

static void check(const char *text, const char *expected, unsigned marks)
{
    static char all[65536];
    assert_int_equal(read_texts(text, strlen(text), all, sizeof(all)), marks);
    assert_string_equal(all, expected);
}

static void test_c33_plain_text(void **state)
{
    (void)state;
    check(SEQ "<block>@</block><block>\n\t a @ // c\n\n   @;@</block>" ENDS, "@|\n\t a @ // c\n\n   @;@|", 4);
}

static void test_c33_behind_comments_and_instructions(void **state)
{
    (void)state;
    check(SEQ
          "<block><!-- one -->a<!-- two\nlines -->@b\n<?what ever?>@ <!-- > ' \" -->@<!----></block>" ENDS,
          "a@b\n@ @|", 3);
}

static void test_c33_behind_entities_and_references(void **state)
{
    (void)state;
    check(SEQ "<block>&lt;&lt;@ &gt;&amp;&quot;&apos;@&#65;&#x42;@&#x20AC;@\n&#10;@</block>" ENDS,
          "<<@ >&\"'@AB@\xE2\x82\xAC@\n\n@|", 5);
}

static void test_c33_cdata(void **state)
{
    (void)state;
    check(SEQ
          "<block>a<![CDATA[ b < c &lt; @\n @]]>d@<![CDATA[]]>@<![CDATA[]]]]>@<![CDATA[>@]]></block>" ENDS,
          "a b < c &lt; @\n @d@@]]@>@|", 6);
}

static void test_c33_carriage_returns(void **state)
{
    (void)state;
    check(SEQ "<block>\r\n @ a\r\n@\r@ \r\r\n@</block>\r\n<control if=\"a\r\n@\r@\" while='\r\n\r\n@'/>" ENDS,
          "\n @ a\n@\n@ \n\n@|a @ @|  @|", 7);
}

static void test_attributes_over_several_lines(void **state)
{
    (void)state;
    check(SEQ "<control\n  if  =\n  \"@ &amp;&amp; @\n\t@ &gt;= '>' @\"\n info=\"if=\" while='\"@\"'\n"
              " timeout = \"@\n\"\n>\n<block>@</block></control>" ENDS,
          "@ && @  @ >= '>' @|\"@\"|@ |@|", 7);
}

static void test_characters_of_several_bytes_are_one_column(void **state)
{
    (void)state;
    check(SEQ
          "<block>// \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 @\n\xC3\xA4<!-- \xC3\xA4 -->\xC3\xA4@</block>" ENDS,
          "// \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 @\n\xC3\xA4\xC3\xA4@|", 2);
}

static void test_elements_within_a_block_are_left_out(void **state)
{
    (void)state;
    check(SEQ "<block>a<b x='>'>no<c/>no<![CDATA[no]]><!-- </b> --></b>@<d/>@</block>" ENDS, "a@@|", 2);
}

static void test_an_empty_block_has_a_place(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    struct pack_xml x = {0};
    struct pack_xml_text t = {0};
    struct pack_file *file = parse(SEQ "    <block/>" ENDS);
    assert_true(pack_xml_read(&x, file, &d));
    for (size_t i = 0; i < x.count; i++) {
        if (x.nodes[i].kind != PACK_XML_BLOCK)
            continue;
        assert_true(pack_xml_content(&x, &x.nodes[i], &t, &d));
        assert_int_equal(t.size, 0);
        assert_int_equal(t.mark_count, 1);
        assert_int_equal(t.marks[0].line, 7);
        assert_int_equal(t.marks[0].column, 13);
        assert_int_equal(pack_xml_place_of(&x, &x.nodes[i]).column, 5);
    }
    assert_int_equal(t.mark_count, 1);
    pack_xml_text_free(&t);
    pack_xml_free(&x);
    pack_close(file);
}

static void test_behind_a_byte_order_mark(void **state)
{
    (void)state;
    check("\xEF\xBB\xBF<package><devices><family><debugvars>@</debugvars></family></devices></package>", "@|",
          1);
}

/* libxml2 itself ends to count at 65535. */
static void test_above_line_65535(void **state)
{
    (void)state;
    enum { LINES = 70000 };
    char *text = malloc(LINES * 12 + 1024), *at = text, all[64];
    at += sprintf(at, "%s", SEQ);
    for (unsigned i = 0; i < LINES; i++)
        at += sprintf(at, i % 7 ? "\n" : "<!-- %u -->\n", i % 100);
    at += sprintf(at, "  <control if=\"\n @\"><block> &lt;@</block></control>%s", ENDS);
    assert_int_equal(read_texts(text, (size_t)(at - text), all, sizeof(all)), 2);
    assert_string_equal(all, "  @| <@|");
    struct sequence_place p = counted(text, (size_t)(at - text), 1);
    assert_true(p.line > 70000);
    /* And a mistake's line, there. */
    memcpy(strstr(text + (at - text) - 80, "</block>"), "</blick>", 8);
    char words[64];
    snprintf(words, sizeof(words), "part.pdsc:%u: this is not XML", p.line);
    expect_refused(text, (size_t)(at - text), NULL, CORRAL_ERR_FORMAT, words);
    free(text);
}

/* Long lines, and marks at every place against the 4096 bytes by which places are found. */
static void test_on_long_lines(void **state)
{
    (void)state;
    static char text[32768], all[32768];
    for (unsigned pad = 4000; pad < 4200; pad++) {
        int size =
            snprintf(text, sizeof(text), "%s<!--%*s\n%*s\xC3\xA4--><block>@&lt;%*s<!--%*s-->@</block>%s", SEQ,
                     7, "", (int)pad, "\xC3\xA4", 3, "", (int)pad, "", ENDS);
        assert_int_equal(read_texts(text, (size_t)size, all, sizeof(all)), 2);
        assert_string_equal(all, "@<   @|");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c33_plain_text),
        cmocka_unit_test(test_c33_behind_comments_and_instructions),
        cmocka_unit_test(test_c33_behind_entities_and_references),
        cmocka_unit_test(test_c33_cdata),
        cmocka_unit_test(test_c33_carriage_returns),
        cmocka_unit_test(test_attributes_over_several_lines),
        cmocka_unit_test(test_characters_of_several_bytes_are_one_column),
        cmocka_unit_test(test_elements_within_a_block_are_left_out),
        cmocka_unit_test(test_an_empty_block_has_a_place),
        cmocka_unit_test(test_behind_a_byte_order_mark),
        cmocka_unit_test(test_above_line_65535),
        cmocka_unit_test(test_on_long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
