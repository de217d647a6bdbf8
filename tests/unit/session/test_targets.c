/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready targets/NAME.yml: each loads, says that it was not verified on hardware, and fits the words of
 * its part: nothing of it is refused, each core has the CTI and restart output that it says, and the SDF
 * reader's way to the same facts ends at the same place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "link/dry.h"
#include "session/config.h"
#include "session/target_hints.h"

static const char *source_root; /* argv[1] */

static struct config *load(const char *path)
{
    struct diag d = DIAG_INIT;
    struct config *c = config_load(path, &d);
    if (!c)
        fail_msg("%s", d.message);
    return c;
}

static void test_target(void **state)
{
    const char *name = *state;
    char path[512], spec[512], head[512] = "";
    snprintf(path, sizeof(path), "%s/targets/%s.yml", source_root, name);
    snprintf(spec, sizeof(spec), "dry:@%s/tests/unit/coresight/rom/%s.json", source_root,
             strcmp(name, "musca") == 0 ? "musca_a" : name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(head, 1, sizeof(head) - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(head, "\n# not verified on hardware\n"));

    struct diag d = DIAG_INIT;
    struct config *c = load(path);
    struct target_hints *hints = target_hints_new(c, NULL, &d);
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = link_dry_open(spec, clock, &d);
    assert_non_null(hints);
    if (!link)
        fail_msg("%s", d.message);
    struct cs_topology *t = cs_scan(link, target_hints_get(hints), &d);
    assert_non_null(t);
    for (size_t i = 0; i < t->refusal_count; i++)
        if (!strstr(t->refusals[i].why, "is not there (IDR 0)"))
            fail_msg("%s: refused: %s", name, t->refusals[i].why);
    assert_true(c->core_count == 2);
    for (size_t i = 0; i < c->core_count; i++) {
        const struct cs_core *core = NULL;
        for (size_t k = 0; k < t->core_count; k++)
            if (t->cores[k].ap == c->cores[i].ap)
                core = &t->cores[k];
        assert_non_null(core);
        assert_true(core->has_cti && core->cortex_m);
        assert_int_equal(core->cti_from, CS_SOURCE_CONFIG);
        assert_int_equal(core->cti.address, c->cores[i].cti_address);
        assert_int_equal(core->cti.restart_output, c->cores[i].cti_restart_output);
        assert_int_equal(core->restart_from, CS_SOURCE_CONFIG);
    }
    cs_topology_free(t);

    /* What the tables alone say agrees: the file is no more than they. */
    t = cs_scan(link, NULL, &d);
    assert_non_null(t);
    for (size_t k = 0; k < t->core_count; k++)
        for (size_t i = 0; i < c->core_count; i++)
            if (t->cores[k].ap == c->cores[i].ap) {
                assert_int_equal(t->cores[k].cti.address, c->cores[i].cti_address);
                assert_int_equal(t->cores[k].cti.restart_output, c->cores[i].cti_restart_output);
            }
    cs_topology_free(t);
    link_close(link);
    host_clock_free(clock);
    target_hints_free(hints);
    config_free(c);
}

/* corral.yml's own words stand before the SDF's that it names, and what both say of APs is one list. */
static void test_corral_yml_wins_over_its_sdf(void **state)
{
    (void)state;
    char made[] = "corral-targets-XXXXXX", text[256];
    int fd = mkstemp(made);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs("<a><device name=\"AP\" type=\"CSMEMAP\"><config_item "
          "name=\"CORESIGHT_AP_INDEX\">0x3</config_item></device>"
          "<device name=\"M4\" type=\"Cortex-M4\"><config_item name=\"CORESIGHT_AP_INDEX\">3</config_item>"
          "<config_item name=\"CTI_CORESIGHT_BASE_ADDRESS\">0xE0043000</config_item></device>"
          "<device name=\"CTI\" type=\"CSCTI\"/>"
          "<topology_link type=\"CTITrigger\" master=\"M4\" slave=\"CTI\" trigger=\"6\"/></a>",
          f);
    fclose(f);
    snprintf(text, sizeof(text),
             "sdf: %s\naps: [0, 3]\ncores:\n  - {name: m4, ap: 3, cti: {restart_output: 7}}\n", made);
    struct diag d = DIAG_INIT;
    struct config *c = config_parse("corral.yml", text, strlen(text), &d);
    if (!c)
        fail_msg("%s", d.message);
    struct target_hints *h = target_hints_new(c, NULL, &d);
    if (!h && d.code == CORRAL_ERR_UNSUPPORTED) {
        config_free(c);
        unlink(made);
        skip();
    }
    if (!h)
        fail_msg("%s", d.message);
    const struct cs_hints *hints = target_hints_get(h);
    assert_int_equal(hints->ap_count, 2);
    assert_int_equal(hints->core_count, 2);
    assert_int_equal(hints->cores[0].restart_output, 7);
    assert_int_equal(hints->cores[0].restart_from, CS_SOURCE_CONFIG);
    assert_false(hints->cores[0].cti_set);
    assert_int_equal(hints->cores[1].restart_output, 6);
    assert_true(hints->cores[1].cti_set);
    assert_int_equal(hints->cores[1].cti_from, CS_SOURCE_SDF);

    char spec[512];
    snprintf(spec, sizeof(spec), "dry:@%s/tests/unit/coresight/rom/stm32h745.json", source_root);
    struct host_clock *clock = host_clock_new_virtual();
    struct link *link = link_dry_open(spec, clock, &d);
    assert_non_null(link);
    struct cs_topology *t = cs_scan(link, hints, &d);
    assert_non_null(t);
    assert_int_equal(t->ap_count, 2); /* and no other was asked for */
    assert_int_equal(t->cores[1].ap, 3);
    assert_int_equal(t->cores[1].cti_from, CS_SOURCE_SDF);
    assert_int_equal(t->cores[1].cti.restart_output, 7);
    assert_int_equal(t->cores[1].restart_from, CS_SOURCE_CONFIG);
    assert_int_equal(t->cores[0].cti_from, CS_SOURCE_TABLE);
    cs_topology_free(t);
    link_close(link);
    host_clock_free(clock);
    target_hints_free(h);
    config_free(c);

    /* A broken SDF is told with its own file and line. */
    f = fopen(made, "w");
    assert_non_null(f);
    fputs("<a>\n<b>\n", f);
    fclose(f);
    c = config_parse("corral.yml", text, strlen(text), &d);
    assert_non_null(c);
    assert_null(target_hints_new(c, NULL, &d));
    assert_int_equal(d.code, CORRAL_ERR_FORMAT);
    assert_non_null(strstr(d.message, made));
    config_free(c);
    unlink(made);
}

int main(int argc, char **argv)
{
    static char names[][16] = {"stm32h745", "rp2350", "nrf5340", "mcxn947", "musca"};
    struct CMUnitTest tests[6] = {cmocka_unit_test(test_corral_yml_wins_over_its_sdf)};
    if (argc < 2)
        return 2;
    source_root = argv[1];
    for (size_t i = 0; i < 5; i++)
        tests[i + 1] =
            (struct CMUnitTest){.name = names[i], .test_func = test_target, .initial_state = names[i]};
    return cmocka_run_group_tests_name("session-targets", tests, NULL, NULL);
}
