/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole parts, one file of words each (rom/make_parts.py; the shared vectors where they are there): nothing
 * expected is missing, nothing is invented, each core has the CTI that is its own. Each over a link that
 * takes memory accesses, and over debug ports with and without posted reads, ADIv5 and ADIv6; cases B12, B16,
 * B20 and B24.
 */
#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coresight/rom_table.h"
#include "dap_front.h"
#include "link/dry.h"

#define MAX_FILES 64

enum way { DIRECT, PLAIN, POSTED, WAYS };
static const char *const ways[WAYS] = {"memory accesses", "a debug port", "a debug port with posted reads"};

struct part {
    struct host_clock *clock;
    struct link *dry, *link;
    struct dap_front *front;
    json_t *json;
    const char *file;
};

static void open_part(struct part *p, const char *path, enum way way)
{
    char spec[512];
    struct diag d = DIAG_INIT;
    json_error_t error;
    *p = (struct part){.clock = host_clock_new_virtual(), .file = path};
    p->json = json_load_file(path, 0, &error);
    if (!p->json)
        fail_msg("%s: %s", path, error.text);
    snprintf(spec, sizeof(spec), "dry:@%s", path);
    p->dry = link_dry_open(spec, p->clock, &d);
    if (!p->dry)
        fail_msg("%s", d.message);
    if (way == DIRECT) {
        p->link = p->dry;
        return;
    }
    p->front = dap_front_new(p->dry, p->clock, way == POSTED);
    assert_non_null(p->front);
    p->link = dap_front_open(p->front);
    assert_non_null(p->link);
}

static void close_part(struct part *p)
{
    if (p->link != p->dry)
        link_close(p->link);
    dap_front_free(p->front);
    link_close(p->dry);
    json_decref(p->json);
    host_clock_free(p->clock);
}

static uint64_t number(const json_t *j)
{
    return json_is_string(j) ? strtoull(json_string_value(j), NULL, 0) : (uint64_t)json_integer_value(j);
}

static uint64_t field(const json_t *j, const char *key)
{
    return number(json_object_get(j, key));
}

static bool is_in(const json_t *list, int32_t ap, uint64_t address)
{
    size_t i;
    json_t *e;
    json_array_foreach(list, i, e)
    {
        if (json_integer_value(json_object_get(e, "ap")) == ap && field(e, "address") == address)
            return true;
    }
    return false;
}

static const struct cs_component *find(const struct cs_topology *t, int32_t ap, uint64_t address)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == ap && t->components[i].address == address)
            return &t->components[i];
    return NULL;
}

static const struct cs_core *core_on(const struct cs_topology *t, uint32_t ap, const char *type)
{
    for (size_t i = 0; i < t->core_count; i++)
        if (t->cores[i].ap == ap && (!type || strcmp(t->cores[i].type, type) == 0))
            return &t->cores[i];
    return NULL;
}

static void check_components(const struct part *p, const struct cs_topology *t, const json_t *expect,
                             bool hinted)
{
    size_t i;
    json_t *e;
    const json_t *components = json_object_get(expect, "components");
    json_array_foreach(components, i, e)
    {
        int32_t ap = (int32_t)json_integer_value(json_object_get(e, "ap"));
        const struct cs_component *c = find(t, ap, field(e, "address"));
        if (!c)
            fail_msg("%s: component missing on AP %d: 0x%llx", p->file, ap,
                     (unsigned long long)field(e, "address"));
        if (!json_is_null(json_object_get(e, "part")) && json_object_get(e, "part"))
            assert_int_equal(c->part, field(e, "part"));
        if (!json_is_null(json_object_get(e, "designer")) && json_object_get(e, "designer"))
            assert_int_equal(c->designer, field(e, "designer"));
    }
    const json_t *ctis = json_object_get(expect, "ctis");
    for (size_t k = 0; k < t->component_count; k++) {
        const struct cs_component *c = &t->components[k];
        bool table = strcmp(c->name, "ROM table") == 0, unread = c->component_class == 0 && c->error[0];
        bool known = is_in(components, c->ap, c->address) || table || unread || hinted;
        if (!known)
            fail_msg("%s: component invented on AP %d: 0x%llx", p->file, c->ap,
                     (unsigned long long)c->address);
        if (!hinted && !unread && (strcmp(c->name, "CTI") == 0) != is_in(ctis, c->ap, c->address))
            fail_msg("%s: AP %d 0x%llx is %s", p->file, c->ap, (unsigned long long)c->address, c->name);
    }
}

static void check_cores(const struct part *p, const struct cs_topology *t, const json_t *expect)
{
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(expect, "cores"), i, e)
    {
        uint32_t ap = (uint32_t)json_integer_value(json_object_get(e, "ap"));
        const char *type = json_string_value(json_object_get(e, "type"));
        if (!core_on(t, ap, type))
            fail_msg("%s: core missing on AP %u: %s", p->file, ap, type);
    }
}

static void check_ctis(const struct part *p, const struct cs_topology *t, const json_t *core_cti)
{
    const char *key;
    json_t *want;
    json_object_foreach((json_t *)(uintptr_t)core_cti, key, want)
    {
        uint32_t ap = (uint32_t)strtoul(key, NULL, 10);
        const struct cs_core *core = core_on(t, ap, NULL);
        assert_non_null(core);
        if (json_is_null(want) ? core->has_cti : !core->has_cti || core->cti.address != number(want))
            fail_msg("%s: CTI of the core on AP %u: 0x%llx (%s)", p->file, ap,
                     (unsigned long long)(core->has_cti ? core->cti.address : 0), core->why_no_cti);
        if (!core->has_cti)
            assert_true(core->why_no_cti[0] != '\0');
    }
}

struct hints_of_a_part {
    struct cs_ap_hint aps[16];
    struct cs_core_hint cores[16];
    struct cs_hints hints;
};

static void read_hints(const json_t *j, struct hints_of_a_part *h)
{
    size_t i;
    json_t *e;
    memset(h, 0, sizeof(*h));
    json_array_foreach(json_object_get(j, "aps"), i, e)
    {
        assert_true(i < 16);
        h->aps[i].ap = (uint32_t)(json_is_integer(e) ? number(e) : field(e, "ap"));
        h->aps[i].nested = json_is_object(e);
        h->aps[i].parent = (uint32_t)field(e, "parent");
        h->aps[i].address = field(e, "address");
        h->hints.ap_count = i + 1;
    }
    json_array_foreach(json_object_get(j, "cores"), i, e)
    {
        const json_t *cti = json_object_get(e, "cti"), *restart = json_object_get(cti, "restart");
        assert_true(i < 16);
        h->cores[i] = (struct cs_core_hint){.ap = (uint32_t)field(e, "ap"),
                                            .cti_set = true,
                                            .cti_ap = (uint32_t)field(cti, "ap"),
                                            .cti_address = field(cti, "address"),
                                            .cti_from = CS_SOURCE_CONFIG,
                                            .restart_output = restart ? (int)number(restart) : -1,
                                            .restart_from = CS_SOURCE_CONFIG};
        h->hints.core_count = i + 1;
    }
    h->hints.aps = h->aps;
    h->hints.cores = h->cores;
}

/* With what the sheet knows of the part beside its tables. */
static void check_hinted(struct part *p)
{
    const json_t *hinted = json_object_get(p->json, "hinted");
    struct hints_of_a_part h;
    struct diag d = DIAG_INIT;
    if (!hinted)
        return;
    read_hints(json_object_get(p->json, "hints"), &h);
    struct cs_topology *t = cs_scan(p->link, &h.hints, &d);
    if (!t)
        fail_msg("%s: %s", p->file, d.message);
    check_components(p, t, json_object_get(p->json, "expect"), true);
    check_cores(p, t, json_object_get(p->json, "expect"));
    check_ctis(p, t, json_object_get(hinted, "core_cti"));
    const char *key;
    json_t *want;
    json_object_foreach(json_object_get(hinted, "restart"), key, want)
    {
        const struct cs_core *core = core_on(t, (uint32_t)strtoul(key, NULL, 10), NULL);
        assert_non_null(core);
        assert_int_equal(core->cti.restart_output, json_integer_value(want));
    }
    const char *refused = json_string_value(json_object_get(hinted, "refused"));
    bool found = !refused;
    for (size_t i = 0; i < t->refusal_count; i++)
        found |= refused && strstr(t->refusals[i].why, refused) != NULL;
    assert_true(found);
    if (!refused && t->refusal_count)
        fail_msg("%s: refused: %s", p->file, t->refusals[0].why);
    cs_topology_free(t);
}

static void check_part(const char *path, enum way way)
{
    struct part p;
    struct diag d = DIAG_INIT;
    open_part(&p, path, way);
    struct cs_topology *t = cs_scan(p.link, NULL, &d);
    if (!t)
        fail_msg("%s over %s: %s", path, ways[way], d.message);
    const json_t *expect = json_object_get(p.json, "expect");
    check_components(&p, t, expect, false);
    check_cores(&p, t, expect);
    check_ctis(&p, t, json_object_get(expect, "core_cti"));
    cs_topology_free(t);
    check_hinted(&p);
    if (p.front) {
        assert_int_equal(dap_front_counts(p.front)->tarh_without_la, 0); /* B12 */
        assert_int_equal(dap_front_counts(p.front)->past_1k, 0);         /* B20 */
    }
    close_part(&p);
}

static void test_part(void **state)
{
    for (enum way way = DIRECT; way < WAYS; way++)
        check_part(*state, way);
}

/* ---- ports ---- */

static const char *own_folder; /* argv[1] */

static const char *own(const char *name, char path[512])
{
    snprintf(path, 512, "%s/%s", own_folder, name);
    return path;
}

/* The upper half of AP addresses is cleared once, and only where the port has it. */
static void test_adiv6_select1_is_cleared_before_the_first_access(void **state)
{
    (void)state;
    char path[512];
    for (uint32_t asize = 0; asize <= 40; asize += 40) {
        struct part p;
        struct diag d = DIAG_INIT;
        open_part(&p, own("rp2350.json", path), POSTED);
        dap_front_set_asize(p.front, asize);
        struct cs_topology *t = cs_scan(p.link, NULL, &d);
        assert_non_null(t);
        assert_int_equal(t->core_count, 2);
        assert_int_equal(dap_front_counts(p.front)->select1_writes, asize ? 1 : 0);
        assert_int_equal(dap_front_counts(p.front)->while_select1, 0);
        cs_topology_free(t);
        close_part(&p);
    }
}

/* B24: DAPABORT, and after three of them nothing more is asked through it for a while; others are. */
static void test_b24_an_ap_that_hangs_is_given_up_and_others_work(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t hanging, other;
    } cases[] = {{"stm32h745.json", 0, 3}, {"rp2350.json", 0x2000, 0x4000}};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        struct part p;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        open_part(&p, own(cases[i].file, path), POSTED);
        struct cs_topology *t = cs_scan(p.link, NULL, &d);
        assert_non_null(t);
        assert_int_equal(t->core_count, 2);
        cs_topology_free(t);
        dap_front_hang(p.front, cases[i].hanging);
        for (int k = 0; k < 3; k++)
            assert_int_equal(link_read32(p.link, cases[i].hanging, 0xE000ED00, &v, &d), CORRAL_ERR_LINK_WAIT);
        unsigned hung = dap_front_counts(p.front)->hung, aborts = dap_front_counts(p.front)->aborts;
        assert_true(aborts >= 3);
        assert_int_equal(link_read32(p.link, cases[i].hanging, 0xE000ED00, &v, &d), CORRAL_ERR_LINK_WAIT);
        assert_non_null(strstr(d.message, "given up"));
        assert_int_equal(dap_front_counts(p.front)->hung, hung); /* not one transfer */
        assert_int_equal(link_read32(p.link, cases[i].other, 0xE000ED00, &v, &d), CORRAL_OK);
        assert_true((v >> 4 & 0xF00) != 0);
        /* Later it is asked again: a core may only have slept. */
        host_clock_set(p.clock, host_clock_now(p.clock) + 2 * NS_PER_S);
        assert_int_equal(link_read32(p.link, cases[i].hanging, 0xE000ED00, &v, &d), CORRAL_ERR_LINK_WAIT);
        assert_true(dap_front_counts(p.front)->hung > hung);
        close_part(&p);
    }
}

static void test_b24_a_scan_finds_the_cores_behind_the_other_ports(void **state)
{
    (void)state;
    char path[512];
    struct part p;
    struct diag d = DIAG_INIT;
    open_part(&p, own("stm32h745.json", path), PLAIN);
    dap_front_hang(p.front, 0);
    struct cs_topology *t = cs_scan(p.link, NULL, &d);
    assert_non_null(t);
    assert_int_equal(t->core_count, 1);
    assert_int_equal(t->cores[0].ap, 3);
    assert_int_equal(t->aps[0].ap, 0);
    assert_non_null(strstr(t->aps[0].error, "WAIT"));
    cs_topology_free(t);
    close_part(&p);
}

/* B16: memory behind the nested AP is its own, all sizes, across 1 KiB, read back; the parent's is untouched.
 */
static void test_b16_memory_behind_a_nested_ap(void **state)
{
    (void)state;
    char path[512];
    for (enum way way = DIRECT; way < WAYS; way++) {
        struct part p;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        uint8_t out[600], in[600] = {0};
        open_part(&p, own("alif_e7.json", path), way);
        assert_int_equal(link_read32(p.link, 0x100, 0x02010D00, &v, &d), CORRAL_ERR_NO_AP);
        assert_int_equal(link_add_nested_ap(p.link, 0x100, 0x50000, 0x02008000, &d), CORRAL_OK);
        assert_int_equal(link_add_nested_ap(p.link, 0x100, 0x50000, 0x02008000, &d),
                         CORRAL_OK); /* the same */
        assert_int_equal(link_add_nested_ap(p.link, 0x100, 0x50000, 0x02009000, &d), CORRAL_ERR_USAGE);
        assert_int_equal(link_add_nested_ap(p.link, 0x101, 0x102, 0, &d), CORRAL_ERR_NO_AP);
        assert_int_equal(link_add_nested_ap(p.link, 0x2000, 0x50000, 0x02009000, &d), CORRAL_ERR_USAGE);
        assert_int_equal(link_read32(p.link, 0x100, 0x02010D00, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x4100D010);
        assert_int_equal(link_read_ap(p.link, 0x100, 0xDFC, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x44770002);
        for (size_t i = 0; i < sizeof(out); i++)
            out[i] = (uint8_t)(i * 7 + 1);
        assert_int_equal(link_write_bytes(p.link, 0x100, 0x10000301, out, sizeof(out), &d), CORRAL_OK);
        assert_int_equal(link_read_bytes(p.link, 0x100, 0x10000301, in, sizeof(in), &d), CORRAL_OK);
        assert_memory_equal(in, out, sizeof(out));
        assert_int_equal(link_read32(p.link, 0x50000, 0x10000304, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0);
        assert_int_equal(link_read32(p.link, 0x100, UINT64_C(0x100000000), &v, &d), CORRAL_ERR_UNSUPPORTED);
        if (p.front)
            assert_int_equal(dap_front_counts(p.front)->tarh_without_la, 0);
        close_part(&p);
    }
}

/* Large addresses: TARH is written where there is one, also back to 0. */
static void test_b12_memory_above_4_gib_with_large_addresses(void **state)
{
    (void)state;
    char path[512];
    for (enum way way = DIRECT; way < WAYS; way++) {
        struct part p;
        struct diag d = DIAG_INIT;
        uint32_t v = 1;
        open_part(&p, own("large_addresses.json", path), way);
        assert_int_equal(link_read32(p.link, 0, UINT64_C(0x400020FF0), &v, &d), CORRAL_OK);
        assert_int_equal(link_read32(p.link, 0, UINT64_C(0x400020FFC), &v, &d), CORRAL_OK);
        assert_int_equal(v, 0xB1);
        assert_int_equal(link_read32(p.link, 0, 0x00020FFC, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0);
        assert_int_equal(link_write32(p.link, 0, UINT64_C(0x500000010), 0x1234, &d), CORRAL_OK);
        assert_int_equal(link_read32(p.link, 0, UINT64_C(0x500000010), &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x1234);
        close_part(&p);
    }
}

static size_t collect(const char *folder, char files[MAX_FILES][512], size_t count)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL && count < MAX_FILES;) {
        size_t length = strlen(e->d_name);
        if (length > 5 && strcmp(e->d_name + length - 5, ".json") == 0)
            snprintf(files[count++], 512, "%s/%s", folder, e->d_name);
    }
    if (dir)
        closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    static char files[MAX_FILES][512];
    static struct CMUnitTest tests[MAX_FILES + 8] = {
        cmocka_unit_test(test_adiv6_select1_is_cleared_before_the_first_access),
        cmocka_unit_test(test_b24_an_ap_that_hangs_is_given_up_and_others_work),
        cmocka_unit_test(test_b24_a_scan_finds_the_cores_behind_the_other_ports),
        cmocka_unit_test(test_b16_memory_behind_a_nested_ap),
        cmocka_unit_test(test_b12_memory_above_4_gib_with_large_addresses),
    };
    size_t n = 5, count = 0;
    if (argc < 2)
        return 2;
    own_folder = argv[1];
    for (int i = 1; i < argc; i++)
        count = collect(argv[i], files, count);
    for (size_t i = 0; i < count; i++)
        tests[n++] = (struct CMUnitTest){
            .name = strrchr(files[i], '/') + 1, .test_func = test_part, .initial_state = files[i]};
    return _cmocka_run_group_tests("coresight-rom-parts", tests, n, NULL, NULL);
}
