/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PDSC's sequences and debugvars, compiled: which one counts (cross-trigger sheet 4.1), which is disabled,
 * and that a mistake is told where it stands (cases C33, C36, C39).
 */
#include "pdsc_texts.h"

struct compiled {
    struct pack_file *file;
    struct pack_device *device;
    struct sequence_program *program;
    struct sequence_problems problems;
};

static struct compiled compile(const char *text, const char *name)
{
    struct compiled c = {0};
    struct diag d = DIAG_INIT;
    c.file = try_parse(text, strlen(text), &c.problems, &d);
    if (c.file)
        c.device = pack_describe(c.file, name, &c.problems, &d);
    if (c.device)
        c.program = pack_compile(c.device, &c.problems, &d);
    if (!c.program)
        fail_msg("%s", d.message);
    return c;
}

static void done(struct compiled *c)
{
    sequence_program_free(c->program);
    sequence_problems_clear(&c->problems);
    free_both(c->device, c->file);
}

static void expect_clean(const struct compiled *c)
{
    if (c->problems.count)
        fail_msg("%u:%u: %s", c->problems.list[0].place.line, c->problems.list[0].place.column,
                 c->problems.list[0].text);
}

/* Told by the line of the file in which it stands. */
static unsigned line_of(const struct compiled *c, const char *name, const char *pname)
{
    struct sequence_info info;
    if (!sequence_find(c->program, name, pname, &info))
        return 0;
    return info.place.line;
}

#define SEQUENCE(attributes) "<sequence name=\"X\" " attributes "><block/></sequence>\n"
#define LEVEL(attributes)    "<sequences>\n" SEQUENCE(attributes) "</sequences>\n"

static void test_the_lower_level_wins(void **state)
{
    (void)state;
    static const char text[] = FAMILY                                     /* its content begins in line 4 */
        "<subFamily>\n<device Dname=\"A\">\n<variant Dvariant=\"V\">\n"   /* 4, 5, 6 */
        LEVEL("") /* 8 */ "</variant>\n" LEVEL("") /* 12 */ "</device>\n" /* 14 */
                                                            "<device Dname=\"B\"/>\n" /* 15 */
        LEVEL("") /* 17 */ "</subFamily>\n<device Dname=\"C\"/>\n" LEVEL("") /* 22 */ ENDF;
    static const struct {
        const char *device;
        unsigned line;
    } cases[] = {{"V", 8}, {"A", 12}, {"B", 17}, {"C", 22}};
    for (size_t i = 0; i < 4; i++) {
        struct compiled c = compile(text, cases[i].device);
        expect_clean(&c);
        assert_int_equal(line_of(&c, "X", NULL), cases[i].line);
        done(&c);
    }
}

static void test_one_for_a_pname_beats_one_for_all(void **state)
{
    (void)state;
    struct compiled c = compile(FAMILY "<processor Pname=\"P\"/><processor Pname=\"Q\"/>\n" /* 4 */
                                LEVEL("Pname=\"P\"") /* 6 */ "<device Dname=\"D\">\n"       /* 8 */
                                LEVEL("") /* 10 */ "</device>" ENDF,
                                NULL);
    expect_clean(&c);
    assert_int_equal(line_of(&c, "X", "P"), 6);
    assert_int_equal(line_of(&c, "X", "Q"), 10);
    assert_int_equal(line_of(&c, "X", NULL), 10);
    done(&c);
}

static void test_c36_twice_at_one_level(void **state)
{
    (void)state;
    struct compiled c =
        compile(FAMILY ONE "<sequences>\n" SEQUENCE("") SEQUENCE("") "</sequences>" ENDF, NULL);
    assert_int_equal(c.problems.count, 1);
    assert_int_equal(c.problems.list[0].severity, SEQUENCE_WARNING);
    assert_int_equal(line_of(&c, "X", NULL), 7);
    done(&c);
}

static void test_disabled_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *attribute;
        bool disabled;
    } cases[] = {{"disable=\"1\"", true},      {"disable=\"true\"", true},
                 {"disable=\"0\"", false},     {"", false},
                 {"disable=\"false\"", false}, {"disable=\" 1\"", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct sequence_info info;
        snprintf(text, sizeof(text),
                 FAMILY ONE "<sequences><sequence name=\"DebugCoreStart\" %s/></sequences>" ENDF,
                 cases[i].attribute);
        struct compiled c = compile(text, NULL);
        assert_true(sequence_find(c.program, "DebugCoreStart", NULL, &info));
        assert_int_equal(info.disabled, cases[i].disabled);
        assert_true(sequence_is_defined(c.program, "DebugCoreStart", NULL));
        assert_int_equal(c.problems.errors, 0);
        done(&c);
    }
}

static void test_info_and_name_have_their_entities(void **state)
{
    (void)state;
    struct sequence_info info;
    struct compiled c = compile(FAMILY ONE "<sequences><sequence name=\"&#88;\" info='a &lt; \"b\"'><block/>"
                                           "</sequence></sequences>" ENDF,
                                NULL);
    assert_true(sequence_find(c.program, "X", NULL, &info));
    assert_string_equal(info.info, "a < \"b\"");
    done(&c);
}

static void test_debugvars_of_levels_and_processors(void **state)
{
    (void)state;
    struct compiled c = compile(
        FAMILY "<processor Pname=\"P\"/><debugvars>__var a = 1; __var b = 2;</debugvars>"
               "<debugvars Pname=\"P\">__var c = 3;</debugvars>"
               "<device Dname=\"D\"><debugvars configfile=\"not/there.dbgconf\">__var a = 4;</debugvars>"
               "</device><sequences><sequence name=\"S\"><block>__var x = a + b;</block></sequence>"
               "<sequence name=\"T\" Pname=\"P\"><block>__var x = c;</block></sequence></sequences>" ENDF,
        NULL);
    assert_int_equal(c.problems.errors, 0);
    assert_int_equal(c.problems.count, 1); /* and nothing but that the file is not there */
    assert_non_null(strstr(c.problems.list[0].text, "not/there.dbgconf is not there"));
    assert_int_equal(sequence_set_value(c.program, "a", 1, NULL), CORRAL_OK);
    assert_int_equal(sequence_set_value(c.program, "z", 1, NULL), CORRAL_ERR_USAGE);
    done(&c);
}

static void test_trace_setup(void **state)
{
    (void)state;
    struct pack_file *file =
        parse(FAMILY "<sequences traceSetup=\"full\"/><device Dname=\"A\"/>"
                     "<device Dname=\"B\"><sequences traceSetup=\"legacy\"/></device>" ENDF);
    struct pack_device *a = describe(file, "A"), *b = describe(file, "B");
    assert_true(a->trace_setup_full);
    assert_false(b->trace_setup_full);
    pack_device_free(a);
    free_both(b, file);
}

static void test_access_ports_decide_of_apid(void **state)
{
    (void)state;
#define USES(variable) \
    "<sequences><sequence name=\"S\"><block>" variable " = 1;</block></sequence></sequences>"
    struct compiled c =
        compile(FAMILY "<accessportV1 __apid=\"1\" index=\"0\"/>" ONE USES("__apid") ENDF, NULL);
    expect_clean(&c);
    done(&c);
    c = compile(FAMILY "<accessportV1 __apid=\"1\" index=\"0\"/>" ONE USES("__ap") ENDF, NULL);
    assert_true(c.problems.errors > 0);
    done(&c);
    c = compile(FAMILY ONE USES("__apid") ENDF, NULL);
    assert_true(c.problems.errors > 0);
    done(&c);
}

/* Sheet 4.8: only Armv7-M has AIRCR.VECTRESET, and so a default. */
static void test_reset_processor_by_the_core(void **state)
{
    (void)state;
    static const struct {
        const char *core;
        bool writes;
    } cases[] = {{"Cortex-M7", true},   {"Cortex-M4", true},  {"Cortex-M3", true},   {"Cortex-M0+", false},
                 {"Cortex-M33", false}, {"Cortex-M0", false}, {"Cortex-M55", false}, {"Star-MC1", false}};
    const struct pack_processor *p;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct sequence_info info;
        snprintf(text, sizeof(text), FAMILY "<processor Dcore=\"%s\"/>" ONE ENDF, cases[i].core);
        struct compiled c = compile(text, NULL);
        p = pack_processor_named(c.device, "");
        assert_string_equal(p->core, cases[i].core);
        assert_int_equal(sequence_find(c.program, "ResetProcessor", "", &info), cases[i].writes);
        done(&c);
    }
}

/* ---- where a mistake is */

static const struct sequence_problem *first_error(const struct compiled *c)
{
    for (size_t i = 0; i < c->problems.count; i++)
        if (c->problems.list[i].severity == SEQUENCE_ERROR)
            return &c->problems.list[i];
    fail_msg("there is no error");
    return NULL;
}

/* The name that nobody declared; where it is only read, that is a warning. */
#define WRONG "wrong_name"

static const struct sequence_problem *of_wrong(const struct compiled *c)
{
    for (size_t i = 0; i < c->problems.count; i++)
        if (strstr(c->problems.list[i].text, WRONG))
            return &c->problems.list[i];
    fail_msg("nothing is said");
    return NULL;
}

static void expect_at_wrong(const char *text)
{
    unsigned line = 1, column = 1;
    const char *begin = strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
    for (const char *p = begin; p != strstr(text, WRONG); p++) {
        assert_true(*p != '\0');
        column = *p == '\n' ? 1 : column + (((unsigned char)*p & 0xC0) != 0x80);
        line += *p == '\n';
    }
    struct compiled c = compile(text, NULL);
    const struct sequence_problem *e = of_wrong(&c);
    if (e->place.line != line || e->place.column != column)
        fail_msg("told at %u:%u, it stands at %u:%u", e->place.line, e->place.column, line, column);
    assert_string_equal(sequence_set_file_name(c.device->set, e->place.file), "dir/part.pdsc");
    const char *bytes = NULL;
    size_t size = 0;
    assert_true(sequence_set_line(c.device->set, e->place.file, line, &bytes, &size));
    assert_non_null(memmem(bytes, size, WRONG, strlen(WRONG)));
    done(&c);
}

#define SEQ  FAMILY ONE "<sequences>\n  <sequence name=\"S\">\n"
#define ENDS "\n</sequence></sequences>" ENDF

static void test_c33_a_mistake_is_told_where_it_stands(void **state)
{
    (void)state;
    static const char *const cases[] = {
        SEQ "<block>" WRONG " = 1;</block>" ENDS,
        SEQ "    <block>\n      __var a = 1;\n\t  " WRONG " = a;\n    </block>" ENDS,
        SEQ "<block>__var a = 1; <!-- a = 2;\n a = 3;\n --> a = 4; " WRONG " = 1;</block>" ENDS,
        SEQ "<block>__var a = 1 &lt;&lt; 2; a = 5 &amp; 1; " WRONG " = 1;</block>" ENDS,
        SEQ "<block>// \xC3\xA4\xE2\x82\xAC\n/<!-- -->/ &#x20AC;\n " WRONG " = 1;</block>" ENDS,
        SEQ "<block><![CDATA[__var a = 1 << 2;\n a = 2 & 1;]]>\n" WRONG " = 1;</block>" ENDS,
        SEQ "<block><![CDATA[__var a = 1 << 2;\n a = " WRONG " & 1;]]></block>" ENDS,
        SEQ "<block>__var a = 1;\r\n\r\n a = " WRONG ";\r\n</block>" ENDS,
        SEQ "<control if=\"" WRONG " == 1\"><block/></control>" ENDS,
        SEQ "<control\n info=\"if\"\n  while = '1 &lt; 2 &amp;&amp;\n   " WRONG "' timeout=\"1\"/>" ENDS,
        SEQ "<control if=\"1\"><control if=\"2\"><block>\n\n" WRONG " = 1;</block></control></control>" ENDS,
        "\xEF\xBB\xBF" SEQ "<block>\n" WRONG " = 1;</block>" ENDS,
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_at_wrong(cases[i]);
    enum { LINES = 66000 };
    char *text = malloc(LINES + 2048), *at = text;
    at = stpcpy(at, SEQ);
    memset(at, '\n', LINES);
    strcpy(at + LINES, "  <block> <!-- a -->" WRONG " = 1;</block>" ENDS);
    expect_at_wrong(text);
    free(text);
}

/* `// ////` comments, the last without a line's end, and a comment of C, which is a mistake. */
static void test_c33_comments_of_the_language(void **state)
{
    (void)state;
    struct compiled c =
        compile(SEQ "<block>//// a\n\t__var a = 1; // b\r\n<!-- c -->a = 2; // d</block>" ENDS, NULL);
    expect_clean(&c);
    done(&c);
    c = compile(SEQ "<block>__var a = 1;\n  /* b */ a = 2;</block>" ENDS, NULL);
    assert_int_equal(first_error(&c)->place.line, 8);
    assert_int_equal(first_error(&c)->place.column, 3);
    done(&c);
}

static void test_c39_eleven_controls_within_each_other(void **state)
{
    (void)state;
    char text[4096] = SEQ;
    for (unsigned i = 0; i < 10; i++)
        strcat(text, "<control if=\"1\">");
    strcat(text, "<block/>");
    size_t length = strlen(text);
    for (unsigned i = 0; i < 10; i++)
        strcat(text, "</control>");
    strcat(text, ENDS);
    struct compiled c = compile(text, NULL);
    expect_clean(&c);
    done(&c);
    strcpy(text + length, "<control if=\"1\"/>");
    for (unsigned i = 0; i < 10; i++)
        strcat(text, "</control>");
    strcat(text, ENDS);
    c = compile(text, NULL);
    assert_int_equal(first_error(&c)->place.line, 7);
    done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lower_level_wins),
        cmocka_unit_test(test_one_for_a_pname_beats_one_for_all),
        cmocka_unit_test(test_c36_twice_at_one_level),
        cmocka_unit_test(test_disabled_sequences),
        cmocka_unit_test(test_info_and_name_have_their_entities),
        cmocka_unit_test(test_debugvars_of_levels_and_processors),
        cmocka_unit_test(test_trace_setup),
        cmocka_unit_test(test_access_ports_decide_of_apid),
        cmocka_unit_test(test_reset_processor_by_the_core),
        cmocka_unit_test(test_c33_a_mistake_is_told_where_it_stands),
        cmocka_unit_test(test_c33_comments_of_the_language),
        cmocka_unit_test(test_c39_eleven_controls_within_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
