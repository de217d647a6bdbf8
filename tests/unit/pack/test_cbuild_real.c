/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cbuild-run.yml files as tools write them, from FOLDER (shared/packs, never copied): their ports, cores,
 * access ports, outputs and sequences. usage: test_cbuild_real FOLDER
 */
#include "cbuild_texts.h"

#include <unistd.h>

static struct described open_real(void **state, const char *name, const char *root)
{
    struct described r = {.diag = DIAG_INIT};
    struct pack_places places = {.pack_root = root};
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", (const char *)*state, name);
    if (access(path, R_OK) != 0) {
        print_message("# skipped: there is no %s\n", path);
        skip();
    }
    r.file = pack_open(path, &places, &r.problems, &r.diag);
    r.device = r.file ? pack_describe(r.file, NULL, &r.problems, &r.diag) : NULL;
    if (!r.device)
        fail_msg("%s", r.diag.message);
    return r;
}

static void expect_sequence(const struct described *r, const char *name, const char *pname, unsigned line)
{
    const struct sequence_set *set = r->device->set;
    for (size_t i = 0; i < set->sequence_count; i++) {
        if (strcmp(set->sequences[i].name, name) == 0 && strcmp(set->sequences[i].pname, pname) == 0) {
            assert_int_equal(set->sequences[i].place.line, line);
            assert_false(set->sequences[i].disabled);
            return;
        }
    }
    fail_msg("there is no sequence %s of '%s'", name, pname);
}

static void test_a_multi_core_project(void **state)
{
    struct described r = open_real(state, "vscode-multi-core.cbuild-run.yml", NULL);
    const struct pack_device *v = r.device;
    assert_int_equal(r.problems.count, 0);
    assert_string_equal(v->name, "MyVendor::MyDevice");
    assert_int_equal(v->protocol, PACK_PROTOCOL_SWD);
    assert_int_equal(v->clock_hz, 10000000);
    assert_string_equal(v->start_pname, "Core0");
    assert_false(v->sync_set);
    assert_int_equal(v->server_count, 2);
    assert_int_equal(v->servers[0].port, 3336);
    assert_string_equal(v->servers[0].pname, "Core0");
    assert_int_equal(v->servers[1].port, 3339);
    assert_string_equal(v->servers[1].pname, "Core1");
    assert_int_equal(v->processor_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pack_processor *p = pack_processor_named(v, i ? "Core1" : "Core0");
        assert_non_null(p);
        assert_true(p->by_id && p->ap_said);
        const struct pack_access_port *ap = pack_access_port_of(v, p->apid);
        assert_non_null(ap);
        assert_true(ap->v2);
        assert_int_equal(ap->address, i ? 0x100000 : 0);
        assert_false(ap->has_parent);
    }
    assert_int_equal(v->output_count, 2);
    assert_string_equal(v->outputs[0].type, "bin");
    assert_int_equal(v->outputs[0].load, PACK_LOAD_IMAGE);
    assert_int_equal(v->outputs[1].load, PACK_LOAD_SYMBOLS);
    assert_non_null(strstr(v->outputs[1].path, "/out/out/MyApp.axf"));
    expect_sequence(&r, "MySequence", "Core0", 93);
    expect_sequence(&r, "DebugDeviceUnlock", "Core0", 104);
    /* Its condition is a word that nobody declares; the other sequence is sound. */
    struct sequence_program *program = pack_compile(v, &r.problems, &r.diag);
    struct sequence_info info;
    assert_int_equal(r.problems.errors, 0);
    assert_true(sequence_find(program, "DebugDeviceUnlock", "Core0", &info));
    assert_false(info.has_errors);
    assert_false(sequence_find(program, "MySequence", "Core1", &info));
    sequence_program_free(program);
    done(&r);
}

static void test_a_project_with_all_keys(void **state)
{
    struct described r = open_real(state, "run-debug+TestHW.cbuild-run.yml", "/packs");
    const struct pack_device *v = r.device;
    assert_string_equal(v->name, "ARM::RteTest_ARMCM4_NOFP");
    assert_int_equal(v->protocol, PACK_PROTOCOL_JTAG);
    assert_int_equal(v->clock_hz, 20000000);
    assert_int_equal(v->server_count, 1);
    assert_int_equal(v->servers[0].port, 3333);
    assert_string_equal(v->servers[0].pname, "");
    assert_true(v->trace_setup_full);
    assert_false(v->swj);
    assert_true(v->dormant);
    assert_int_equal(v->output_count, 4);
    assert_int_equal(v->outputs[0].load, PACK_LOAD_NONE);
    assert_int_equal(v->outputs[2].load_offset, 0xA000);
    assert_int_equal(v->outputs[3].load_offset, 0x1000);
    assert_int_equal(v->port_count, 2);
    assert_int_equal(v->ports[0].tapindex, 7);
    assert_int_equal(v->ports[1].targetsel, 8);
    assert_int_equal(v->ap_count, 3);
    assert_int_equal(v->aps[0].index, 10);
    assert_false(v->aps[0].v2);
    assert_int_equal(v->aps[2].address, 0x300000);
    assert_true(v->aps[2].has_parent);
    assert_int_equal(v->aps[2].parent, 2);
    /* Nothing says where the one core is: the first access port. */
    assert_int_equal(v->processor_count, 1);
    assert_string_equal(v->processors[0].core, "Cortex-M4");
    assert_true(v->processors[0].by_id);
    assert_false(v->processors[0].ap_said);
    assert_int_equal(v->processors[0].apid, 1);
    /* The SDF is in a pack that is not here. */
    assert_null(v->sdf);
    assert_int_equal(r.problems.count, 1);
    assert_non_null(
        strstr(r.problems.list[0].text, "/packs/ARM/RteTest_DFP/0.2.0/Device/ARM/Debug/ARMCM4.sdf"));
    assert_int_equal(v->set->sequence_count, 4);
    expect_sequence(&r, "DebugDeviceUnlock", "", 81);
    expect_sequence(&r, "DebugPortStop", "", 115);
    assert_int_equal(v->set->variables_count, 1);
    assert_int_equal(v->set->variables[0].text.mark_count, 3);
    assert_int_equal(v->set->variables[0].text.marks[2].line, 77);
    assert_int_equal(v->set->variables[0].text.marks[2].column, 7);
    done(&r);
}

int main(int argc, char **argv)
{
    char *folder = argc > 1 ? argv[1] : (char *)".";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_a_multi_core_project, folder),
        cmocka_unit_test_prestate(test_a_project_with_all_keys, folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
