/* SPDX-License-Identifier: Apache-2.0 */
/* cbuild-run.yml: device, output, debugger, debug-topology, processors (cross-trigger sheet 5, case C43). */
#include "cbuild_texts.h"

static void test_the_least(void **state)
{
    (void)state;
    struct described r = take("cbuild-run:\n  generated-by: hand\n");
    assert_int_equal(pack_kind_of(r.file), PACK_CBUILD_RUN);
    assert_int_equal(pack_device_count(r.file), 1);
    assert_int_equal(r.device->processor_count, 1);
    assert_string_equal(r.device->processors[0].pname, "");
    assert_int_equal(r.device->processors[0].units, 1);
    assert_false(r.device->processors[0].ap_said);
    assert_int_equal(r.device->ap_count, 0);
    assert_int_equal(r.device->protocol, PACK_PROTOCOL_ANY);
    assert_false(r.device->sync_set);
    assert_true(r.device->swj);
    assert_false(r.device->dormant);
    assert_null(r.device->sdf);
    done(&r);
}

static void test_the_device_has_a_vendor(void **state)
{
    (void)state;
    struct described r = take(RUN);
    struct diag d = DIAG_INIT;
    assert_string_equal(pack_device_name(r.file, 0), "Maker::Part");
    const char *const names[] = {"Maker::Part", "Part", "Maker"};
    for (size_t i = 0; i < 3; i++) {
        struct pack_device *device = pack_describe(r.file, names[i], NULL, &d);
        assert_non_null(device);
        assert_string_equal(device->name, "Maker::Part");
        pack_device_free(device);
    }
    assert_null(pack_describe(r.file, "Other", NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_USAGE);
    done(&r);
}

static void test_debugger(void **state)
{
    (void)state;
    struct described r = take(RUN "  debugger:\n"
                                  "    name: Any@Tool\n"
                                  "    protocol: jtag\n"
                                  "    clock: 20000000\n"
                                  "    connect: under-reset\n"
                                  "    start-pname: B\n"
                                  "    simultaneous-run-halt: true\n"
                                  "    gdbserver:\n"
                                  "      - port: 3336\n"
                                  "        pname: A\n"
                                  "      - port: \"0xD0B\"\n"
                                  "        pname: B\n"
                                  "        punit: 1\n"
                                  "    telnet:\n"
                                  "      - {mode: monitor, port: 4444}\n");
    assert_int_equal(r.device->protocol, PACK_PROTOCOL_JTAG);
    assert_int_equal(r.device->clock_hz, 20000000);
    assert_string_equal(r.device->connect, "under-reset");
    assert_string_equal(r.device->start_pname, "B");
    assert_true(r.device->sync_set);
    assert_true(r.device->sync);
    assert_int_equal(r.device->server_count, 2);
    assert_int_equal(r.device->servers[0].port, 3336);
    assert_string_equal(r.device->servers[0].pname, "A");
    assert_int_equal(r.device->servers[0].unit, -1);
    assert_int_equal(r.device->servers[1].port, 3339);
    assert_int_equal(r.device->servers[1].unit, 1);
    /* Nobody else says who the processors are. */
    assert_int_equal(r.device->processor_count, 2);
    assert_string_equal(r.device->processors[1].pname, "B");
    done(&r);
}

static void test_protocol_as_it_was_called_before(void **state)
{
    (void)state;
    struct described r = take(RUN "  debugger:\n    port: swd\n    terminal: 4444\n");
    assert_int_equal(r.device->protocol, PACK_PROTOCOL_SWD);
    done(&r);
    r = take(RUN "  debugger:\n    port: swd\n    protocol: jtag\n");
    assert_int_equal(r.device->protocol, PACK_PROTOCOL_JTAG);
    done(&r);
    expect_warning(RUN "  debugger:\n    port: 3333\n", 4, 11, "port: of the debugger");
    expect_refused(RUN "  debugger:\n    protocol: usb\n", ":4: protocol is 'usb'; expected swd or jtag");
}

static void test_the_switch_of_run_and_halt(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        bool set, on;
    } cases[] = {{"    simultaneous-run-halt: false\n", true, false},
                 {"    simultaneous-run-halt: On\n", true, true},
                 {"    device-settings:\n      simultaneous-run-halt: true\n", true, true},
                 {"    device-settings:\n      simultaneous-run-halt: 0\n", true, false},
                 {"    device-settings:\n      simultaneous-run-halt: true\n    simultaneous-run-halt: no\n",
                  true, false},
                 {"    device-settings:\n      reset-mode: hardware\n", false, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), RUN "  debugger:\n%s", cases[i].words);
        struct described r = take(text);
        assert_int_equal(r.device->sync_set, cases[i].set);
        assert_int_equal(r.device->sync, cases[i].on);
        done(&r);
    }
    expect_refused(RUN "  debugger:\n    simultaneous-run-halt: maybe\n",
                   ":4: simultaneous-run-halt is 'maybe'; expected true or false");
    expect_refused(RUN "  debugger:\n    device-settings: x\n",
                   ":4: device-settings is 'x'; expected a mapp");
}

static void test_what_the_debugger_names_is_not_there(void **state)
{
    (void)state;
    struct described r = take_with(
        RUN "  system-resources:\n    processors:\n      - pname: A\n  debugger:\n    start-pname: C\n",
        strlen(RUN
               "  system-resources:\n    processors:\n      - pname: A\n  debugger:\n    start-pname: C\n"),
        NULL);
    assert_non_null(r.device);
    assert_string_equal(r.device->start_pname, ""); /* the first one starts */
    assert_int_equal(r.problems.count, 1);
    assert_int_equal(r.problems.list[0].place.line, 7);
    done(&r);
    expect_warning(RUN "  system-resources:\n    processors:\n      - pname: A\n  debugger:\n"
                       "    gdbserver:\n      - {port: 3333, pname: C}\n",
                   8, 29, "there is no processor C");
    expect_warning(RUN "  debugger:\n    connect: sideways\n", 4, 14, "not heeded");
    expect_warning(RUN "  debug-sequences:\n    - name: S\n      pname: Q\n", 5, 14,
                   "there is no processor Q");
}

static void test_ports_of_gdb_servers(void **state)
{
    (void)state;
    expect_refused(RUN "  debugger:\n    gdbserver:\n      - port: 0\n",
                   ":5: port is '0'; expected a port fr");
    expect_refused(RUN "  debugger:\n    gdbserver:\n      - port: 65536\n", ":5: port is '65536'; expected");
    expect_refused(RUN "  debugger:\n    gdbserver:\n      - pname: A\n", ":5: a gdb server without port:");
    expect_refused(RUN
                   "  debugger:\n    gdbserver:\n      - port: 3333\n        pname: A\n      - port: 3333\n",
                   ":7: port is '3333'; expected a port that no other gdb server has");
    expect_refused(RUN "  debugger:\n    gdbserver: 3333\n", ":4: gdbserver is '3333'; expected a list");
    expect_refused(RUN "  debugger:\n    gdbserver:\n      - 3333\n",
                   ":5: an entry is '3333'; expected port:");
}

static void test_outputs(void **state)
{
    (void)state;
    struct described r =
        take(RUN "  output:\n"
                 "    - {file: out/a.axf, type: elf, load: image+symbols, pname: A}\n"
                 "    - {file: /abs/b.bin, type: bin, load: image, load-offset: 0x7FFFFFFFFFFFF}\n"
                 "    - {file: ../c.hex, type: hex, load: none}\n"
                 "    - {file: \"d e.elf\", load: symbols}\n"
                 "    - {file: C:/f.axf}\n"
                 "    - {file: g.hex}\n"
                 "    - {file: libh.a, type: lib}\n");
    const struct pack_output *o = r.device->outputs;
    assert_int_equal(r.device->output_count, 7);
    assert_string_equal(o[0].path, "dir/out/a.axf");
    assert_string_equal(o[0].type, "elf");
    assert_string_equal(o[0].pname, "A");
    assert_int_equal(o[0].load, PACK_LOAD_IMAGE_SYMBOLS);
    assert_string_equal(o[1].path, "/abs/b.bin");
    assert_int_equal(o[1].load, PACK_LOAD_IMAGE);
    assert_int_equal(o[1].load_offset, 0x7FFFFFFFFFFFF);
    assert_string_equal(o[2].path, "dir/../c.hex");
    assert_int_equal(o[2].load, PACK_LOAD_NONE);
    assert_string_equal(o[3].path, "dir/d e.elf");
    assert_string_equal(o[3].type, "elf"); /* by its name */
    assert_int_equal(o[3].load, PACK_LOAD_SYMBOLS);
    assert_string_equal(o[4].path, "C:/f.axf");
    assert_int_equal(o[4].load, PACK_LOAD_IMAGE_SYMBOLS); /* what the format does without load: */
    assert_int_equal(o[5].load, PACK_LOAD_IMAGE);
    assert_int_equal(o[6].load, PACK_LOAD_NONE);
    done(&r);
    /* In YAML 1.1 it would be a boolean. */
    expect_refused(RUN "  output:\n    - file: a.axf\n      load: off\n",
                   ":5: load is 'off'; expected image+symbols, image, symbols or none");
    expect_refused(RUN "  output:\n    - type: elf\n", ":4: an output without file:");
    expect_refused(RUN "  output:\n    - file:\n", ":4: file has no value; expected text");
    expect_refused(RUN "  output:\n    - file: \"\"\n", ":4: file is ''; expected the path of a file");
    expect_refused(RUN "  output:\n    - file: |\n        a\n        b\n",
                   ":4: file has a character that is not");
    expect_refused(RUN "  output:\n    - file: [a]\n", ":4: file is a list; expected text");
}

static void test_the_root_of_packs(void **state)
{
    (void)state;
    static const char text[] = RUN "  output:\n    - file: ${CMSIS_PACK_ROOT}/M/x.bin\n";
    struct pack_places places = {.pack_root = "/packs"};
    struct described r = take_with(text, strlen(text), &places);
    assert_int_equal(r.problems.count, 0);
    assert_string_equal(r.device->outputs[0].path, "/packs/M/x.bin");
    done(&r);
    places.pack_root = "packs";
    r = take_with(text, strlen(text), &places);
    assert_string_equal(r.device->outputs[0].path, "dir/packs/M/x.bin");
    done(&r);
    expect_warning(text, 4, 13, "${CMSIS_PACK_ROOT} is not known");
    expect_warning(RUN "  debug-topology:\n    sdf: ${CMSIS_PACK_ROOT}/a.sdf\n", 4, 10, "is not known");
    expect_warning(RUN "  debug-topology:\n    sdf: no/such.sdf\n", 4, 10,
                   "the system description is left out: cannot read dir/no/such.sdf");
    expect_warning(RUN "  debugger:\n    dbgconf: ${CMSIS_PACK_ROOT}/a.dbgconf\n", 4, 14, "is not known");
    /* A root so long that nothing fits behind it. */
    static char long_root[5000];
    memset(long_root, 'a', sizeof(long_root) - 1);
    places.pack_root = long_root;
    r = take_with(text, strlen(text), &places);
    assert_null(r.device);
    assert_non_null(strstr(r.diag.message, ":4: file is too long"));
    done(&r);
}

static void test_access_ports_within_each_other(void **state)
{
    (void)state;
    struct described r = take(RUN "  debug-topology:\n"
                                  "    debugports:\n"
                                  "      - dpid: 2\n"
                                  "        jtag: {tapindex: 7}\n"
                                  "        accessports:\n"
                                  "          - {apid: 1, index: 10, HPROT: 3, SPROT: 0}\n"
                                  "          - apid: 2\n"
                                  "            address: 0x00200000\n"
                                  "            datapatch:\n"
                                  "              - {address: 0xE00FF000, value: 0x11, mask: 0xFF}\n"
                                  "              - {type: AP, address: 0xF8, value: 3}\n"
                                  "            accessports:\n"
                                  "              - apid: 3\n"
                                  "                address: 0x0007FFFFFFFFFFFF\n"
                                  "                accessports:\n"
                                  "                  - {apid: 4, address: 16}\n"
                                  "          - {apid: 5, index: 1}\n"
                                  "      - dpid: 4\n"
                                  "        swd: {targetsel: 8}\n"
                                  "    swj: false\n"
                                  "    dormant: true\n");
    const struct pack_device *v = r.device;
    assert_int_equal(v->port_count, 2);
    assert_int_equal(v->ports[0].dp, 2);
    assert_true(v->ports[0].jtag);
    assert_false(v->ports[0].swd);
    assert_int_equal(v->ports[0].tapindex, 7);
    assert_false(v->ports[0].targetsel_set);
    assert_true(v->ports[1].swd);
    assert_true(v->ports[1].targetsel_set);
    assert_int_equal(v->ports[1].targetsel, 8);
    assert_int_equal(v->ports[1].tapindex, -1);
    assert_false(v->swj);
    assert_true(v->dormant);
    assert_int_equal(v->ap_count, 5);
    static const struct {
        uint32_t id, index, parent;
        bool v2, has_parent;
        uint64_t address;
    } aps[] = {{1, 10, 0, false, false, 0},
               {2, 0, 0, true, false, 0x200000},
               {3, 0, 2, true, true, 0x7FFFFFFFFFFFF},
               {4, 0, 3, true, true, 16},
               {5, 1, 0, false, false, 0}};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(v->aps[i].id, aps[i].id);
        assert_int_equal(v->aps[i].dp, 2);
        assert_int_equal(v->aps[i].index, aps[i].index);
        assert_int_equal(v->aps[i].v2, aps[i].v2);
        assert_int_equal(v->aps[i].has_parent, aps[i].has_parent);
        assert_int_equal(v->aps[i].parent, aps[i].parent);
        assert_int_equal(v->aps[i].address, aps[i].address);
    }
    assert_true(v->aps[0].hprot_set && v->aps[0].sprot_set);
    assert_int_equal(v->aps[0].hprot, 3);
    assert_false(v->aps[1].hprot_set);
    assert_int_equal(v->patch_count, 2);
    assert_false(v->patches[0].ap_register);
    assert_true(v->patches[0].by_id);
    assert_int_equal(v->patches[0].ap, 2);
    assert_int_equal(v->patches[0].address, 0xE00FF000);
    assert_int_equal(v->patches[0].value, 0x11);
    assert_int_equal(v->patches[0].mask, 0xFF);
    assert_true(v->patches[1].ap_register);
    assert_int_equal(v->patches[1].mask, UINT32_MAX);
    done(&r);
}

static void test_access_ports_that_cannot_be(void **state)
{
    (void)state;
#define PORTS RUN "  debug-topology:\n    debugports:\n      - accessports:\n"
    expect_refused(PORTS "          - {apid: 1}\n", ":6: access port 1 has neither index nor address; expec");
    expect_refused(PORTS "          - {apid: 1, index: 0, address: 0}\n",
                   ":6: access port 1 has an index and");
    expect_refused(PORTS "          - {index: 0}\n", ":6: an access port without apid:");
    expect_refused(PORTS "          - {apid: 1, index: 0}\n          - {apid: 1, index: 1}\n",
                   ":7: apid is '1'; expected an id that no other access port has");
    expect_refused(PORTS "          - {apid: 1, address: 0, accessports: [{apid: 2, index: 0}]}\n",
                   ":6: access port 2 is behind another; expected its address");
    expect_refused(PORTS "          - {apid: 0x100000000, index: 1}\n",
                   ":6: apid is '0x100000000'; expected a");
    expect_refused(PORTS "          - {apid: -1, index: 1}\n", ":6: apid is '-1'; expected a number");
    expect_refused(PORTS "          - {apid: 1, index: 1, datapatch: [{address: 0}]}\n",
                   ":6: a data patch without value:");
    expect_refused(PORTS "          - {apid: 1, index: 1, datapatch: [{address: 0, value: 0, type: ROM}]}\n",
                   ":6: type is 'ROM'; expected AP or Mem");
    expect_refused(RUN "  debug-topology:\n    debugports:\n      - dpid: 0\n      - dpid: 0\n",
                   ":6: debug port 0 is here twice");
    expect_refused(RUN "  debug-topology:\n    swj: on\n", ":4: swj is 'on'; expected true or false");
}

static void test_processors(void **state)
{
    (void)state;
    struct described r = take(PORTS "          - {apid: 10, index: 0}\n"
                                    "          - {apid: 11, index: 1}\n"
                                    "    processors:\n"
                                    "      - pname: B\n"
                                    "        apid: 11\n"
                                    "        reset-sequence: ResetProcessor\n"
                                    "      - pname: A\n"
                                    "        punits:\n"
                                    "          - {punit: 0, address: 0x80030000, apid: 10}\n"
                                    "          - {punit: 1, address: 0x80130000, apid: 11}\n"
                                    "  system-resources:\n"
                                    "    processors:\n"
                                    "      - {core: Cortex-A53, pname: A}\n"
                                    "      - {core: Cortex-M7, pname: B}\n");
    const struct pack_processor *a = pack_processor_named(r.device, "A"),
                                *b = pack_processor_named(r.device, "B");
    assert_int_equal(r.device->processor_count, 2);
    assert_ptr_equal(b, &r.device->processors[0]); /* the order of debug-topology */
    assert_string_equal(b->core, "Cortex-M7");
    assert_true(b->by_id && b->ap_said);
    assert_int_equal(b->apid, 11);
    assert_int_equal(b->units, 1);
    assert_string_equal(b->reset_sequence, "ResetProcessor");
    assert_string_equal(a->core, "Cortex-A53");
    assert_int_equal(a->units, 2);
    assert_int_equal(a->apid, 10); /* of the first unit */
    assert_true(a->address_set);
    assert_int_equal(a->address, 0x80030000);
    done(&r);
}

static void test_processors_without_a_topology(void **state)
{
    (void)state;
    struct described r = take(PORTS "          - {apid: 7, index: 0}\n"
                                    "          - {apid: 3, index: 2}\n"
                                    "  system-resources:\n"
                                    "    processors:\n"
                                    "      - {core: Cortex-M7, pname: A}\n"
                                    "      - {core: Cortex-M4, pname: B}\n");
    assert_int_equal(r.device->processor_count, 2);
    assert_string_equal(r.device->processors[1].pname, "B");
    assert_string_equal(r.device->processors[1].core, "Cortex-M4");
    /* Access ports by order; and it is known that this is a guess. */
    assert_true(r.device->processors[1].by_id);
    assert_int_equal(r.device->processors[0].apid, 7);
    assert_int_equal(r.device->processors[1].apid, 3);
    assert_false(r.device->processors[1].ap_said);
    done(&r);
}

static void test_processors_that_cannot_be(void **state)
{
    (void)state;
    expect_refused(RUN "  debug-topology:\n    processors:\n      - pname: A\n      - pname: A\n",
                   ":6: processor A is here twice");
    expect_refused(RUN "  debug-topology:\n    processors:\n      - apid: 0\n      - apid: 1\n",
                   ":6: a processor without pname: is here twice");
    static const char text[] = RUN "  debug-topology:\n    processors:\n      - apid: 6\n";
    struct described r = take_with(text, strlen(text), NULL);
    assert_non_null(r.device);
    assert_int_equal(r.problems.errors, 1);
    assert_non_null(strstr(r.problems.list[0].text, "access port 6 is not declared"));
    assert_int_equal(r.problems.list[0].place.line, 5);
    done(&r);
}

static void test_keys_of_other_tools_are_skipped(void **state)
{
    (void)state;
    struct described r = take(
        "other-tool:\n  - [1, 2]\n" RUN "  debugger:\n    load-setup: {halt: true}\n    rtt: [{pname: A}]\n"
        "  new-key: {debug-sequences: 3}\n  output:\n    - {file: a.axf, new-key: 1}\n");
    assert_int_equal(r.device->output_count, 1);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_least),
        cmocka_unit_test(test_the_device_has_a_vendor),
        cmocka_unit_test(test_debugger),
        cmocka_unit_test(test_protocol_as_it_was_called_before),
        cmocka_unit_test(test_the_switch_of_run_and_halt),
        cmocka_unit_test(test_what_the_debugger_names_is_not_there),
        cmocka_unit_test(test_ports_of_gdb_servers),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_the_root_of_packs),
        cmocka_unit_test(test_access_ports_within_each_other),
        cmocka_unit_test(test_access_ports_that_cannot_be),
        cmocka_unit_test(test_processors),
        cmocka_unit_test(test_processors_without_a_topology),
        cmocka_unit_test(test_processors_that_cannot_be),
        cmocka_unit_test(test_keys_of_other_tools_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
