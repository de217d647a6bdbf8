/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PDSC files: devices and their names, what is inherited, processors, ports and patches (cross-trigger sheet
 * 4.1, 4.6, 14). Hostile files are test_pdsc_hostile.c's, places of texts test_pdsc_places.c's.
 */
#include "pdsc_texts.h"

/* ---- names */

static const char three[] =
    FAMILY "<subFamily DsubFamily=\"S\"><device Dname=\"ABC12\"/>"
           "<device Dname=\"ABC13\"><variant Dvariant=\"ABC13-P\"/></device></subFamily>"
           "<device Dname=\"Xyz\"/>" ENDF;

static void test_devices_and_variants_in_the_files_order(void **state)
{
    (void)state;
    static const char *const names[] = {"ABC12", "ABC13", "ABC13-P", "Xyz"};
    struct pack_file *file = parse(three);
    assert_int_equal(pack_device_count(file), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(pack_device_name(file, i), names[i]);
    assert_null(pack_device_name(file, 4));
    assert_int_equal(pack_kind_of(file), PACK_PDSC);
    assert_string_equal(pack_path(file), "dir/part.pdsc");
    pack_close(file);
    pack_close(NULL);
    pack_device_free(NULL);
}

static void test_a_device_by_its_name(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"ABC12", "ABC12"},     {"abc12", "ABC12"},    {"XYZ", "Xyz"},        {"ABC13", "ABC13"},
        {"abc13-p", "ABC13-P"}, {"Maker::Xyz", "Xyz"}, {"maker::xyz", "Xyz"}, {"Maker:99::ABC12", "ABC12"}};
    struct pack_file *file = parse(three);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pack_device *device = describe(file, cases[i][0]);
        assert_string_equal(device->name, cases[i][1]);
        assert_ptr_equal(device->file, file);
        pack_device_free(device);
    }
    pack_close(file);
}

static void test_a_name_that_is_none_is_refused_with_others(void **state)
{
    (void)state;
    static const char *const cases[] = {"ABC1", "ABC12x", "Other::ABC12", "::", "Maker::", "Mak::Xyz"};
    struct pack_file *file = parse(three);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct diag d = DIAG_INIT;
        assert_null(pack_describe(file, cases[i], NULL, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
        assert_non_null(strstr(d.message, cases[i]));
        assert_non_null(strstr(d.hint, "ABC12"));
    }
    pack_close(file);
}

static void test_without_a_name_several_are_refused_with_their_number(void **state)
{
    (void)state;
    char *text = malloc(100000);
    size_t used = (size_t)sprintf(text, FAMILY);
    for (unsigned i = 0; i < 1000; i++)
        used += (size_t)sprintf(text + used, "<device Dname=\"CHIP%u\"/>\n", i);
    strcpy(text + used, ENDF);
    struct pack_file *file = parse(text);
    struct diag d = DIAG_INIT;
    assert_int_equal(pack_device_count(file), 1000);
    assert_null(pack_describe(file, NULL, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    assert_non_null(strstr(d.hint, "CHIP0, CHIP1"));
    assert_non_null(strstr(d.hint, "1000"));
    assert_null(pack_describe(file, "CHIP77x", NULL, &d));
    assert_non_null(strstr(d.hint, "CHIP77"));
    pack_close(file);
    free(text);
}

static void test_the_only_device_needs_no_name(void **state)
{
    (void)state;
    struct pack_file *file = parse(FAMILY ONE ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_string_equal(device->name, "D1");
    free_both(device, file);
    file = parse(FAMILY "<device Dname=\"D\"><variant Dvariant=\"V\"/></device>" ENDF);
    device = describe(file, NULL);
    assert_string_equal(device->name, "V");
    free_both(device, file);
}

static void test_letters_cases_that_do_not_decide_are_refused(void **state)
{
    (void)state;
    static const char text[] = FAMILY "<device Dname=\"Chip\"/><device Dname=\"CHIP\"/>" ENDF;
    struct pack_file *file = parse(text);
    struct pack_device *device = describe(file, "CHIP");
    assert_string_equal(device->name, "CHIP");
    free_both(device, file);
    expect_refused(text, strlen(text), "chip", CORRAL_ERR_USAGE, "more than one device");
}

static void test_a_device_twice_is_told(void **state)
{
    (void)state;
    static const char text[] = FAMILY ONE "<device Dname=\"D2\"/>\n<device Dname=\"D1\"/>" ENDF;
    struct sequence_problems p = {0};
    struct diag d = DIAG_INIT;
    struct pack_file *file = try_parse(text, strlen(text), &p, &d);
    assert_non_null(file);
    assert_int_equal(p.count, 1);
    assert_int_equal(p.list[0].severity, SEQUENCE_WARNING);
    assert_int_equal(p.list[0].place.line, 6);
    assert_non_null(strstr(p.list[0].text, "D1"));
    sequence_problems_clear(&p);
    pack_close(file);
}

static void test_a_software_pack_has_no_device(void **state)
{
    (void)state;
    static const char text[] =
        XML "<package xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\" "
            "xs:noNamespaceSchemaLocation=\"PACK.xsd\"><name>S</name>"
            "<conditions><condition id=\"c\"><require Dname=\"x\"/></condition></conditions>"
            "<components><component Cclass=\"C\"><description>&lt;b&gt; &#x263A;</description>"
            "<files><file category=\"doc\" name=\"a\"/></files></component></components></package>";
    struct pack_file *file = parse(text);
    assert_int_equal(pack_device_count(file), 0);
    pack_close(file);
    expect_refused(text, strlen(text), NULL, CORRAL_ERR_USAGE, "describes no device");
    expect_refused(text, strlen(text), "D1", CORRAL_ERR_USAGE, "describes no device");
}

/* A device elsewhere is none of these: boards mount them, conditions require them. */
static void test_elements_that_are_not_known_are_skipped(void **state)
{
    (void)state;
    struct pack_file *file =
        parse(XML "<package><devices><family><what><device Dname=\"no\"/></what>" ONE
                  "<environment><device Dname=\"no\"/></environment><trace><serialwire/></trace></family>"
                  "</devices><boards><board><mountedDevice Dname=\"no\"/><device Dname=\"no\"/></board>"
                  "</boards></package>");
    assert_int_equal(pack_device_count(file), 1);
    pack_close(file);
}

/* ---- processors and where they are */

#define H745                                                                                       \
    "<processor Pname=\"CM7\" Dcore=\"Cortex-M7\"/><processor Pname=\"CM4\" Dcore=\"Cortex-M4\"/>" \
    "<debug Pname=\"CM7\" __ap=\"0\" svd=\"a\"/><debug Pname=\"CM4\" __ap=\"3\" svd=\"b\" "        \
    "defaultResetSequence=\"ResetProcessor\" address=\"0xE000E000\"/>"

static void test_processors_behind_their_access_ports(void **state)
{
    (void)state;
    struct pack_file *file = parse(FAMILY "<subFamily>" H745 ONE "</subFamily>" ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->processor_count, 2);
    const struct pack_processor *m7 = pack_processor_named(device, "CM7");
    const struct pack_processor *m4 = pack_processor_named(device, "CM4");
    assert_string_equal(m7->core, "Cortex-M7");
    assert_int_equal(m7->ap, 0);
    assert_true(m7->ap_said);
    assert_false(m7->address_set);
    assert_string_equal(m7->reset_sequence, "");
    assert_string_equal(m4->core, "Cortex-M4");
    assert_int_equal(m4->ap, 3);
    assert_int_equal(m4->units, 1);
    assert_true(m4->address_set);
    assert_int_equal(m4->address, 0xE000E000);
    assert_string_equal(m4->reset_sequence, "ResetProcessor");
    assert_null(pack_processor_named(device, ""));
    free_both(device, file);
}

/* Sheet 4.1: no __ap is 0; the STM32WL's CM0+ is such a one. */
static void test_without_debug_elements_processors_are_on_ap_0(void **state)
{
    (void)state;
    struct pack_file *file = parse(FAMILY "<processor Dcore=\"Cortex-M3\"/>" ONE ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->processor_count, 1);
    assert_string_equal(device->processors[0].pname, "");
    assert_string_equal(device->processors[0].core, "Cortex-M3");
    assert_int_equal(device->processors[0].ap, 0);
    assert_false(device->processors[0].ap_said);
    assert_true(device->swj);
    assert_false(device->dormant);
    assert_int_equal(device->protocol, PACK_PROTOCOL_ANY);
    assert_int_equal(device->clock_hz, 0);
    assert_null(device->sdf);
    free_both(device, file);
    file = parse(FAMILY "<debug __ap=\"2\"/>" ONE ENDF);
    device = describe(file, NULL);
    assert_int_equal(device->processor_count, 1);
    assert_int_equal(device->processors[0].ap, 2);
    free_both(device, file);
}

static void test_the_lower_level_wins_attribute_by_attribute(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY "<debugconfig default=\"jtag\" clock=\"1000\" swj=\"0\"/><debug __ap=\"1\" __dp=\"2\"/>"
               "<processor Dcore=\"Cortex-M3\" Punits=\"4\"/>"
               "<subFamily><debug __ap=\"2\"/><debugconfig clock=\"2000\" dormant=\"true\"/>"
               "<device Dname=\"A\"><debug __ap=\"3\"/><debugconfig default=\"swd\"/>"
               "<processor Dfpu=\"1\" Dcore=\"Cortex-M4\"/>"
               "<variant Dvariant=\"V\"><processor Punits=\"2\"/><debug __ap=\"0x4\"/></variant></device>"
               "</subFamily><device Dname=\"B\"/>" ENDF);
    struct pack_device *a = describe(file, "A"), *v = describe(file, "V"), *b = describe(file, "B");
    assert_int_equal(a->processor_count, 1);
    assert_int_equal(a->processors[0].ap, 3);
    assert_int_equal(a->processors[0].dp, 2);
    assert_int_equal(a->processors[0].units, 4);
    assert_string_equal(a->processors[0].core, "Cortex-M4");
    assert_int_equal(a->protocol, PACK_PROTOCOL_SWD);
    assert_int_equal(a->clock_hz, 2000);
    assert_false(a->swj);
    assert_true(a->dormant);
    assert_int_equal(v->processors[0].ap, 4);
    assert_int_equal(v->processors[0].units, 2);
    assert_string_equal(v->processors[0].core, "Cortex-M4");
    assert_int_equal(b->processors[0].ap, 1);
    assert_string_equal(b->processors[0].core, "Cortex-M3");
    assert_int_equal(b->protocol, PACK_PROTOCOL_JTAG);
    assert_false(b->dormant);
    pack_device_free(a);
    pack_device_free(v);
    free_both(b, file);
}

static void test_what_is_said_for_one_pname_beats_what_is_said_for_all(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY
        "<processor Pname=\"A\" Dcore=\"Cortex-M0\"/><debug Pname=\"A\" __ap=\"5\"/>"
        "<device Dname=\"D\"><processor Pname=\"B\" Dcore=\"Cortex-M33\"/><debug __ap=\"1\" __dp=\"3\"/>"
        "</device>" ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->processor_count, 2);
    assert_int_equal(pack_processor_named(device, "A")->ap, 5);
    assert_int_equal(pack_processor_named(device, "A")->dp, 3);
    assert_int_equal(pack_processor_named(device, "B")->ap, 1);
    assert_int_equal(pack_processor_named(device, "B")->dp, 3);
    free_both(device, file);
}

static void test_of_several_units_the_first_is_the_processors(void **state)
{
    (void)state;
    struct pack_file *file =
        parse(FAMILY "<processor Pname=\"A\" Punits=\"2\"/><debug Pname=\"A\" Punit=\"0\" __ap=\"1\"/>"
                     "<debug Pname=\"A\" Punit=\"1\" __ap=\"2\"/>" ONE ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->processors[0].units, 2);
    assert_int_equal(device->processors[0].ap, 1);
    free_both(device, file);
}

static void expect_problem(const char *text, const char *name, enum sequence_severity severity, unsigned line,
                           const char *words)
{
    struct sequence_problems p = {0};
    struct diag d = DIAG_INIT;
    struct pack_file *file = try_parse(text, strlen(text), &p, &d);
    assert_non_null(file);
    struct pack_device *device = pack_describe(file, name, &p, &d);
    if (!device)
        fail_msg("%s", d.message);
    assert_int_equal(p.count, 1);
    if (!strstr(p.list[0].text, words))
        fail_msg("%s", p.list[0].text);
    assert_int_equal(p.list[0].severity, severity);
    assert_int_equal(p.list[0].place.line, line);
    assert_string_equal(sequence_set_file_name(device->set, p.list[0].place.file), "dir/part.pdsc");
    sequence_problems_clear(&p);
    free_both(device, file);
}

static void test_what_is_odd_is_told_with_its_line(void **state)
{
    (void)state;
    expect_problem(FAMILY "<processor Pname=\"A\"/>\n<debug Pname=\"B\" __ap=\"1\"/>" ONE ENDF, NULL,
                   SEQUENCE_WARNING, 5, "no processor with Pname B");
    expect_problem(FAMILY "\n<debug __apid=\"1\"/>" ONE ENDF, NULL, SEQUENCE_ERROR, 5, "__apid 1");
    expect_problem(FAMILY "<debugconfig default=\"usb\"/>" ONE ENDF, NULL, SEQUENCE_WARNING, 4, "usb");
    expect_problem(FAMILY "<debugconfig\n swj=\"maybe\"/>" ONE ENDF, NULL, SEQUENCE_WARNING, 5, "maybe");
    expect_problem(FAMILY "<debugconfig\n sdf=\"not/there.sdf\"/>" ONE ENDF, NULL, SEQUENCE_WARNING, 5,
                   "not/there.sdf is not there");
    expect_problem(FAMILY "<debugconfig\n sdf=\"../../etc/passwd\"/>" ONE ENDF, NULL, SEQUENCE_WARNING, 5,
                   "not a file of the pack");
    expect_problem(FAMILY "<device/>" ONE ENDF, NULL, SEQUENCE_WARNING, 4, "without a name");
    expect_problem(FAMILY "<sequences>\n<sequence/></sequences>" ONE ENDF, NULL, SEQUENCE_ERROR, 5,
                   "without a name");
    expect_problem(FAMILY "<debug><datapatch type=\"Reg\" address=\"1\" value=\"1\"/></debug>" ONE ENDF, NULL,
                   SEQUENCE_WARNING, 4, "Reg");
}

/* ---- ports */

static void test_debug_ports(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY "<debugport __dp=\"0\"><jtag tapindex=\"7\" irlen=\"4\" idcode=\"0x4BA00477\"/>"
               "<cjtag/></debugport><debugport __dp=\"1\"><swd targetsel=\"0x01002927\"/></debugport>"
               "<device Dname=\"D\"><debugport __dp=\"0\"><jtag tapindex=\"2\"/></debugport></device>" ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->port_count, 2);
    assert_true(device->ports[0].jtag);
    assert_false(device->ports[0].swd);
    assert_int_equal(device->ports[0].tapindex, 2);
    assert_int_equal(device->ports[0].irlen, 4);
    assert_int_equal(device->ports[0].idcode, 0x4BA00477);
    assert_false(device->ports[0].targetsel_set);
    assert_int_equal(device->ports[1].dp, 1);
    assert_true(device->ports[1].swd);
    assert_int_equal(device->ports[1].tapindex, -1);
    assert_true(device->ports[1].targetsel_set);
    assert_int_equal(device->ports[1].targetsel, 0x01002927);
    free_both(device, file);
}

static void test_access_ports_of_both_versions(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY "<accessportV1 __apid=\"1\" __dp=\"3\" index=\"10\" HPROT=\"0x2\" SPROT=\"1\"/>"
               "<accessportV2 __apid=\"2\" address=\"0x00200000\"/>"
               "<accessportV2 __apid=\"3\" address=\"0xFFFFFFFF00000000\" parent=\"2\"/>"
               "<processor Pname=\"A\"/><processor Pname=\"B\"/><debug Pname=\"A\" __apid=\"3\"/>"
               "<debug Pname=\"B\" __apid=\"1\"/>"
               "<device Dname=\"D\"><accessportV1 __apid=\"1\" __dp=\"4\" index=\"11\"/></device>" ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->ap_count, 3);
    const struct pack_access_port *ap = pack_access_port_of(device, 1);
    assert_false(ap->v2);
    assert_int_equal(ap->index, 11);
    assert_int_equal(ap->dp, 4);
    assert_false(ap->hprot_set);
    ap = pack_access_port_of(device, 3);
    assert_true(ap->v2);
    assert_true(ap->address == 0xFFFFFFFF00000000u);
    assert_true(ap->has_parent);
    assert_int_equal(ap->parent, 2);
    assert_false(pack_access_port_of(device, 2)->has_parent);
    assert_null(pack_access_port_of(device, 4));
    const struct pack_processor *b = pack_processor_named(device, "B");
    assert_true(b->by_id);
    assert_true(b->ap_said);
    assert_int_equal(b->apid, 1);
    assert_int_equal(b->dp, 4);
    free_both(device, file);
}

static void test_parents_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    static const char self[] = FAMILY "<accessportV2 __apid=\"1\" address=\"0\" parent=\"1\"/>" ONE ENDF;
    static const char ring[] = FAMILY "<accessportV2 __apid=\"1\" address=\"0\" parent=\"2\"/>"
                                      "<accessportV2 __apid=\"2\" address=\"0\" parent=\"1\"/>" ONE ENDF;
    static const char none[] = FAMILY "<accessportV2 __apid=\"1\" address=\"0\" parent=\"9\"/>" ONE ENDF;
    expect_refused(self, strlen(self), NULL, CORRAL_ERR_FORMAT, "behind itself");
    expect_refused(ring, strlen(ring), NULL, CORRAL_ERR_FORMAT, "behind itself");
    expect_refused(none, strlen(none), NULL, CORRAL_ERR_FORMAT, "not declared");
}

static void test_data_patches(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY "<debug><datapatch address=\"0x1000FFFF\" value=\"0xCC\"/></debug>"
               "<processor Pname=\"A\"/><processor Pname=\"B\"/>"
               "<device Dname=\"D\"><debug Pname=\"A\" __ap=\"1\"/><debug Pname=\"B\" __ap=\"2\" __dp=\"1\">"
               "<datapatch address=\"0x1000FFFF\" value=\"0xDD\" mask=\"0xF0\"/>"
               "<datapatch type=\"AP\" __dp=\"5\" __ap=\"7\" address=\"0xF8\" "
               "value=\"0x3\"/></debug></device>" ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->patch_count, 3);
    const struct pack_patch *p = device->patches;
    assert_int_equal(p[0].ap, 1);
    assert_int_equal(p[0].value, 0xCC);
    assert_int_equal(p[0].mask, 0xFFFFFFFF);
    assert_int_equal(p[1].dp, 1);
    assert_int_equal(p[1].ap, 2);
    assert_int_equal(p[1].address, 0x1000FFFF);
    assert_int_equal(p[1].value, 0xDD);
    assert_int_equal(p[1].mask, 0xF0);
    assert_false(p[1].ap_register);
    assert_true(p[2].ap_register);
    assert_int_equal(p[2].dp, 5);
    assert_int_equal(p[2].ap, 7);
    assert_int_equal(p[2].address, 0xF8);
    free_both(device, file);
}

static void test_data_patches_by_id(void **state)
{
    (void)state;
    struct pack_file *file = parse(
        FAMILY "<accessportV1 __apid=\"4\" index=\"0\"><datapatch type=\"AP\" address=\"0xF8\" value=\"1\"/>"
               "</accessportV1><accessportV1 __apid=\"5\" index=\"1\"/>"
               "<debug __apid=\"5\"><datapatch address=\"8\" value=\"2\"/>"
               "<datapatch __apid=\"4\" address=\"8\" value=\"3\"/></debug>" ONE ENDF);
    struct pack_device *device = describe(file, NULL);
    assert_int_equal(device->patch_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(device->patches[i].by_id);
    assert_int_equal(device->patches[0].ap, 4);
    assert_int_equal(device->patches[1].ap, 5);
    assert_int_equal(device->patches[2].ap, 4);
    free_both(device, file);
}

/* ---- numbers */

static void test_numbers_decimal_hexadecimal_and_with_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t value;
    } cases[] = {{"3", 3},
                 {"0x3", 3},
                 {" 10 ", 10},
                 {"0X1f", 31},
                 {"\n7\t", 7},
                 {"010", 10},
                 {"&#x33;", 3},
                 {"4294967295", UINT32_MAX},
                 {"0xFFFFFFFF", UINT32_MAX}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text), FAMILY "<debug __ap=\"%s\"/>" ONE ENDF, cases[i].text);
        struct pack_file *file = parse(text);
        struct pack_device *device = describe(file, NULL);
        assert_int_equal(device->processors[0].ap, cases[i].value);
        free_both(device, file);
    }
}

static void test_wrong_numbers_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",        "x",  "0x",          "1 2",        "-1", "0b1",
        "1.0",     "3U", "0x100000000", "4294967296", "FF", "99999999999999999999999",
        "1&#1234;"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        snprintf(text, sizeof(text), FAMILY "<debug Pname=\"\"\n\n __ap=\"%s\"/>" ONE ENDF, cases[i]);
        expect_refused(text, strlen(text), NULL, CORRAL_ERR_FORMAT, "dir/part.pdsc:6: __ap is '");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_and_variants_in_the_files_order),
        cmocka_unit_test(test_a_device_by_its_name),
        cmocka_unit_test(test_a_name_that_is_none_is_refused_with_others),
        cmocka_unit_test(test_without_a_name_several_are_refused_with_their_number),
        cmocka_unit_test(test_the_only_device_needs_no_name),
        cmocka_unit_test(test_letters_cases_that_do_not_decide_are_refused),
        cmocka_unit_test(test_a_device_twice_is_told),
        cmocka_unit_test(test_a_software_pack_has_no_device),
        cmocka_unit_test(test_elements_that_are_not_known_are_skipped),
        cmocka_unit_test(test_processors_behind_their_access_ports),
        cmocka_unit_test(test_without_debug_elements_processors_are_on_ap_0),
        cmocka_unit_test(test_the_lower_level_wins_attribute_by_attribute),
        cmocka_unit_test(test_what_is_said_for_one_pname_beats_what_is_said_for_all),
        cmocka_unit_test(test_of_several_units_the_first_is_the_processors),
        cmocka_unit_test(test_what_is_odd_is_told_with_its_line),
        cmocka_unit_test(test_debug_ports),
        cmocka_unit_test(test_access_ports_of_both_versions),
        cmocka_unit_test(test_parents_that_lead_nowhere_are_refused),
        cmocka_unit_test(test_data_patches),
        cmocka_unit_test(test_data_patches_by_id),
        cmocka_unit_test(test_numbers_decimal_hexadecimal_and_with_blanks),
        cmocka_unit_test(test_wrong_numbers_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
