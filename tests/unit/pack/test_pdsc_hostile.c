/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PDSC files that are none, or mean harm (case C44): document types and their entities, depth, numbers of
 * elements and attributes, sizes; each is refused with a sentence that has the line, soon and in little
 * memory.
 */
#include "pdsc_texts.h"

#include "pack/pack_internal.h"
#include "pack/pack_xml.h"

static void refused(const char *text, const char *words)
{
    expect_refused(text, strlen(text), NULL, CORRAL_ERR_FORMAT, words);
}

/* ---- document types */

static void test_c44_billion_laughs(void **state)
{
    (void)state;
    char text[4096] = XML "<!DOCTYPE p [\n<!ENTITY a0 \"ha\">\n";
    for (unsigned i = 1; i < 30; i++) {
        char line[256];
        snprintf(line, sizeof(line), "<!ENTITY a%u \"&a%u;&a%u;&a%u;&a%u;\">\n", i, i - 1, i - 1, i - 1,
                 i - 1);
        strcat(text, line);
    }
    strcat(text, "]>\n<package><name>&a29;</name></package>");
    refused(text, "dir/part.pdsc:2: a document type, which is not taken here");
}

static void test_c44_document_types_of_all_kinds(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "<!DOCTYPE package SYSTEM \"file:///etc/passwd\">",
        "<!DOCTYPE package PUBLIC \"-//X\" \"http://localhost:1/x.dtd\">",
        "<!DOCTYPE p [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>",
        "<!DOCTYPE p [<!ENTITY % p SYSTEM \"http://localhost:1/\">%p;]>",
        "<!DOCTYPE p [<!ENTITY % a \"<!ENTITY b 'c'>\">%a;]>",
        "<!doctype html>",
        "<!DOCTYPE",
        "<!",
        "<!ELEMENT a ANY>",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text), XML "<!-- -->\n%s<package>&x;</package>", cases[i]);
        refused(text, "part.pdsc:3: a document type");
        snprintf(text, sizeof(text), XML "<package>\n\n%s</package>", cases[i]);
        refused(text, "part.pdsc:4: a document type");
    }
}

static void test_c44_words_of_one_elsewhere_are_only_words(void **state)
{
    (void)state;
    struct pack_file *file = parse(XML "<!-- <!DOCTYPE a [<!ENTITY b 'c'>]> --><package>"
                                       "<![CDATA[<!DOCTYPE a>]]><?x <!DOCTYPE a>?></package>");
    pack_close(file);
}

static void test_c44_entities_that_are_not_xmls_own(void **state)
{
    (void)state;
    refused(XML "<package>\n&nbsp;</package>", "part.pdsc:3: this is not XML");
    refused(XML "<package\n a=\"&x;\"/>", "this is not XML");
    refused(XML "<package>&lt</package>", "this is not XML");
    refused(XML "<package>&#0;</package>", "this is not XML");
    refused(XML "<package>&#x110000;</package>", "this is not XML");
    refused(XML "<package>&#xFFFFFFFFFFFFFFFF41;</package>", "this is not XML");
}

/* ---- not XML */

static void test_what_is_not_xml_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "the file is empty"},
        {"   \n", "there is no element"},
        {"hello", "there is no element"},
        {"<", "the name of an element"},
        {"<package", "attribute"},
        {"<package>", "without its end tag"},
        {"<package></package", "an end tag without its end"},
        {"<package>\n</packag>", ":2: this is not XML (the end tag of <package>, line 1, is expected)"},
        {"<package/></package>", "an end tag too many"},
        {"<package/><package/>", "this is not XML"},
        {"<package/>text", "this is not XML"},
        {"text<package/>", "this is not XML"},
        {"<package a/>", "an attribute without a value"},
        {"<package a=b/>", "without quotes"},
        {"<package a=\"b/>", "without its end"},
        {"<package a=\"<\"/>", "without its end"},
        {"<package a=\"1\" a=\"2\"/>", "this is not XML"},
        {"<package a=\"1\"b=\"2\"/>", "this is not XML"},
        {"<package =\"1\"/>", "an attribute is expected"},
        {"<package / >", "a tag without its end"},
        {"<package><!-- </package>", "a comment without its end"},
        {"<package><!-- -- --></package>", "this is not XML"},
        {"<package><![CDATA[ </package>", "a CDATA section without its end"},
        {"<package><? </package>", "an instruction without its end"},
        {"<package><?xml version=\"1.0\"?></package>", "this is not XML"},
        {"<package>]]></package>", "this is not XML"},
        {"<package>\x01</package>", "this is not XML"},
        {"<package><1/></package>", "this is not XML"},
        {"<html></html>", "this is no package description"},
        {"\xFF\xFE<\0p\0", "is not UTF-8"},
        {"<package>\n\xE4</package>", ":2: byte 0xE4 is not UTF-8"},
        {"<package>\xED\xA0\x80</package>", "is not UTF-8"},
        {"<package>\xC0\xBC</package>", "is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused(cases[i].text, cases[i].words);
    expect_refused("<package>\n\0</package>", 21, NULL, CORRAL_ERR_FORMAT, ":2: a NUL byte");
}

static void test_another_encodings_name_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"UTF-8", "utf-8", "ISO-8859-1", "UTF-16", "UTF-7", "EBCDIC-CP-US"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char text[512];
        struct diag d = DIAG_INIT;
        snprintf(text, sizeof(text),
                 "<?xml version=\"1.0\" encoding=\"%s\"?><package><devices><family><device Dname=\"D\"/>"
                 "</family></devices></package>",
                 names[i]);
        struct pack_file *file = try_parse(text, strlen(text), NULL, &d);
        if (file) {
            assert_int_equal(pack_device_count(file), 1);
            assert_string_equal(pack_device_name(file, 0), "D");
        } else {
            assert_int_equal(d.code, CORRAL_ERR_FORMAT);
            assert_true(i >= 3);
        }
        pack_close(file);
    }
}

/* Every file cut short, and every byte of it damaged: refused or taken, and nothing else. */
static void test_files_cut_and_damaged(void **state)
{
    (void)state;
    static const char whole[] =
        XML "<package><devices><family Dvendor=\"M:1\"><processor Pname=\"A\" Dcore=\"Cortex-M4\"/>"
            "<debugport __dp=\"0\"><swd targetsel=\"1\"/></debugport><accessportV1 __apid=\"1\" index=\"0\"/>"
            "<debug __apid=\"1\"><datapatch address=\"1\" value=\"2\"/></debug><debugvars Pname=\"A\">"
            "__var a = 1;</debugvars><sequences><sequence name=\"S\" disable=\"1\"/><sequence name=\"T\">"
            "<control if=\"1 &lt; 2\" while='x' timeout=\"1\"><block atomic=\"1\">a<!-- c --><![CDATA[b]]>"
            "</block></control></sequence></sequences><device Dname=\"D\"/></family></devices></package>";
    char text[sizeof(whole)];
    unsigned taken = 0;
    for (size_t i = 0; i < 2 * sizeof(whole) - 2; i++) {
        size_t size = i < sizeof(whole) ? i : sizeof(whole) - 1;
        struct diag d = DIAG_INIT;
        memcpy(text, whole, sizeof(whole));
        if (i >= sizeof(whole))
            text[i - sizeof(whole)] = (char)(text[i - sizeof(whole)] ^ 1 << i % 7);
        /* Of exactly the size, so that a sanitizer sees a read past it. */
        char *copy = malloc(size ? size : 1);
        memcpy(copy, text, size);
        struct pack_file *file = try_parse(copy, size, NULL, &d);
        free(copy);
        struct pack_device *device = file ? pack_describe(file, NULL, NULL, &d) : NULL;
        taken += device != NULL;
        if (!file)
            assert_int_equal(d.code, CORRAL_ERR_FORMAT);
        free_both(device, file);
    }
    assert_true(taken > 50);
}

/* ---- bounds */

/* `count` times `piece` between `head` and `tail`, to be freed. */
static char *repeated(const char *head, const char *piece, size_t count, const char *tail, size_t *size)
{
    size_t length = strlen(piece);
    char *text = malloc(strlen(head) + count * length + strlen(tail) + 1), *at = text;
    assert_non_null(text);
    at = stpcpy(at, head);
    for (size_t i = 0; i < count; i++, at += length)
        memcpy(at, piece, length);
    at = stpcpy(at, tail);
    *size = (size_t)(at - text);
    return text;
}

static void refuse_repeated(const char *head, const char *piece, size_t count, const char *tail,
                            enum corral_err code, const char *words)
{
    size_t size;
    char *text = repeated(head, piece, count, tail, &size);
    expect_refused(text, size, NULL, code, words);
    free(text);
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    refuse_repeated("<package>", "<a>", 64, "</package>", CORRAL_ERR_FORMAT, "nested too deep");
    refuse_repeated("<package>", "<a>", 4000000, "", CORRAL_ERR_FORMAT, "nested too deep");
    refuse_repeated(FAMILY ONE "<sequences><sequence name=\"s\">", "<control>", 500000, "", CORRAL_ERR_FORMAT,
                    "nested too deep");
}

static void test_elements_are_bounded(void **state)
{
    (void)state;
    refuse_repeated("<package>", "<a/>", PACK_XML_MAX_ELEMENTS, "</package>", CORRAL_ERR_FORMAT,
                    "too many elements");
}

/* libxml2 compares each attribute with each. */
static void test_attributes_are_bounded(void **state)
{
    (void)state;
    refuse_repeated("<package", " a=\"\"", 65, "/>", CORRAL_ERR_FORMAT, "too many attributes");
    refuse_repeated("<package", " a=\"\"", 3000000, "/>", CORRAL_ERR_FORMAT, "too many attributes");
    refuse_repeated("<package>", "<a xmlns:a=\"b\"/>", 65, "</package>", CORRAL_ERR_FORMAT,
                    "too many namespaces");
}

static void test_names_of_elements_and_attributes_are_bounded(void **state)
{
    (void)state;
    static const char *const forms[] = {"<a%u/>", "<a b%u=\"\"/>"};
    for (size_t i = 0; i < 2; i++) {
        char *text = malloc(600000 * 20), *at = text;
        at = stpcpy(at, "<package>");
        for (unsigned k = 0; k < 600000; k++)
            at += sprintf(at, forms[i], k);
        strcpy(at, "</package>");
        refused(text, "too many different names");
        free(text);
    }
}

static void test_devices_are_bounded(void **state)
{
    (void)state;
    refuse_repeated(FAMILY, "<device Dname=\"D\"/>", PACK_MAX_DEVICES + 1, ENDF, CORRAL_ERR_LIMIT,
                    "too many devices; at most 8192");
    size_t size;
    char *text = repeated(FAMILY, "<device Dname=\"D\"/>", PACK_MAX_DEVICES, ENDF, &size);
    struct diag d = DIAG_INIT;
    struct pack_file *file = try_parse(text, size, NULL, &d);
    assert_non_null(file);
    assert_int_equal(pack_device_count(file), PACK_MAX_DEVICES);
    pack_close(file);
    free(text);
}

static void refuse_many(const char *piece, size_t most, const char *words)
{
    char *text = malloc(200 * (most + 2)), *at = text;
    at = stpcpy(at, FAMILY);
    for (size_t i = 0; i <= most; i++)
        at += sprintf(at, piece, (unsigned)i);
    strcpy(at, ONE ENDF);
    refused(text, words);
    free(text);
}

static void test_parts_of_a_device_are_bounded(void **state)
{
    (void)state;
    refuse_many("<processor Pname=\"P%u\"/>", PACK_MAX_PROCESSORS, "too many processors");
    refuse_many("<debug Pname=\"P%u\"/>", PACK_MAX_PROCESSORS, "too many processors");
    refuse_many("<debugport __dp=\"%u\"/>", PACK_MAX_PORTS, "too many debug ports");
    refuse_many("<accessportV1 index=\"0\" __apid=\"%u\"/>", PACK_MAX_APS, "too many access ports");
    refuse_many("<debug><datapatch address=\"%u\" value=\"0\"/></debug>", PACK_MAX_PATCHES,
                "too many data patches");
}

/* The same again and again, which fits into each table. */
static void test_elements_of_a_device_are_bounded(void **state)
{
    (void)state;
    static const char *const pieces[] = {"<processor Pname=\"P\"/>", "<debug __ap=\"1\"/>",
                                         "<debug><datapatch address=\"1\" value=\"1\"/></debug>",
                                         "<debugport __dp=\"1\"><swd/></debugport>", "<debugconfig/>"};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        refuse_repeated(FAMILY ONE, pieces[i], 5000, ENDF, CORRAL_ERR_FORMAT,
                        "too many processors, ports and patches for one device");
}

static void test_names_are_bounded(void **state)
{
    (void)state;
    char name[300], text[1024];
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    static const char *const forms[] = {
        "<device\n Dname=\"%s\"/>", ONE "<processor Pname=\"%s\"/>", ONE "<processor Dcore=\"%s\"/>",
        ONE "<sequences><sequence name=\"%s\"/></sequences>", ONE "<debugvars configfile=\"%s\"/>"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char form[512];
        snprintf(form, sizeof(form), "%s%s%s", FAMILY, forms[i], ENDF);
        snprintf(text, sizeof(text), form, name);
        refused(text, "part.pdsc:5: ");
        snprintf(text, sizeof(text), form, "a&#x9B;31m");
        refused(text, "printable characters");
    }
}

static void test_what_must_be_there(void **state)
{
    (void)state;
    refused(FAMILY ONE "\n<accessportV1 index=\"1\"/>" ENDF, "part.pdsc:6: accessportV1 without __apid");
    refused(FAMILY ONE "<accessportV1 __apid=\"1\"/>" ENDF, "accessportV1 without index");
    refused(FAMILY ONE "<accessportV2 __apid=\"1\"/>" ENDF, "accessportV2 without address");
    refused(FAMILY ONE "<debug><datapatch value=\"1\"/></debug>" ENDF, "datapatch without address");
    refused(FAMILY ONE "<debug><datapatch address=\"1\"/></debug>" ENDF, "datapatch without value");
}

#define SEQ  FAMILY ONE "<sequences><sequence name=\"S\">\n"
#define ENDS "</sequence></sequences>" ENDF

/* 10 MB in one block: more than a set takes, said with the block's line. */
static void test_blocks_are_bounded(void **state)
{
    (void)state;
    refuse_repeated(SEQ "<block>", "Write32(0x20000000, 1);\n", 10 * 1024 * 1024 / 24 + 1, "</block>" ENDS,
                    CORRAL_ERR_LIMIT, "part.pdsc:6: ");
    refuse_repeated(SEQ, "<block/>", 300000, ENDS, CORRAL_ERR_LIMIT, "part.pdsc:");
    refuse_repeated(FAMILY ONE "<sequences>", "<sequence name=\"s\"/>", 4097, "</sequences>" ENDF,
                    CORRAL_ERR_LIMIT, "part.pdsc:");
    refuse_repeated(FAMILY ONE, "<debugvars/>", 4097, ENDF, CORRAL_ERR_LIMIT, "part.pdsc:");
    refuse_repeated(FAMILY ONE "<debugvars>", "// a line\n", 1100000, "</debugvars>" ENDF, CORRAL_ERR_LIMIT,
                    "part.pdsc:");
}

static void test_files_are_bounded(void **state)
{
    (void)state;
    char path[] = "/tmp/test-pdsc-XXXXXX.pdsc";
    int fd = mkstemps(path, 5);
    struct diag d = DIAG_INIT;
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    /* 100 MB that take no room. */
    assert_int_equal(fseek(f, 100 * 1024 * 1024, SEEK_SET), 0);
    assert_int_equal(fputc('x', f), 'x');
    assert_int_equal(fclose(f), 0);
    assert_null(pack_open(path, NULL, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_LIMIT);
    assert_non_null(strstr(d.message, "larger than 16777216 bytes"));
    remove(path);
    refuse_repeated("<package>", "        ", PACK_MAX_BYTES / 8, "</package>", CORRAL_ERR_LIMIT,
                    "larger than");
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum corral_err code;
    } cases[] = {{"/nowhere/at/all.pdsc", CORRAL_ERR_IO},
                 {"/nowhere/at/all.pack", CORRAL_ERR_IO},
                 {"/nowhere/at/all.txt", CORRAL_ERR_USAGE},
                 {".pdsc", CORRAL_ERR_USAGE},
                 {"", CORRAL_ERR_USAGE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct diag d = DIAG_INIT;
        assert_null(pack_open(cases[i].path, NULL, NULL, &d));
        if (d.code != cases[i].code && d.code != CORRAL_ERR_UNSUPPORTED)
            fail_msg("%s: %d %s", cases[i].path, (int)d.code, d.message);
    }
    char folder[] = "/tmp/test-pdsc-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/a.pdsc", folder);
    assert_int_equal(rename(folder, folder), 0);
    struct diag d = DIAG_INIT;
    assert_null(pack_open(path, NULL, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c44_billion_laughs),
        cmocka_unit_test(test_c44_document_types_of_all_kinds),
        cmocka_unit_test(test_c44_words_of_one_elsewhere_are_only_words),
        cmocka_unit_test(test_c44_entities_that_are_not_xmls_own),
        cmocka_unit_test(test_what_is_not_xml_is_told_with_its_line),
        cmocka_unit_test(test_another_encodings_name_changes_nothing),
        cmocka_unit_test(test_files_cut_and_damaged),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_elements_are_bounded),
        cmocka_unit_test(test_attributes_are_bounded),
        cmocka_unit_test(test_names_of_elements_and_attributes_are_bounded),
        cmocka_unit_test(test_devices_are_bounded),
        cmocka_unit_test(test_parts_of_a_device_are_bounded),
        cmocka_unit_test(test_elements_of_a_device_are_bounded),
        cmocka_unit_test(test_names_are_bounded),
        cmocka_unit_test(test_what_must_be_there),
        cmocka_unit_test(test_blocks_are_bounded),
        cmocka_unit_test(test_files_are_bounded),
        cmocka_unit_test(test_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
