/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral scan: access ports, ROM tables, components, cores and each core's CTI (INTERFACE.md "scan"). Reads
 * only, but for powering the debug port up. Finding things out is src/coresight's; this file renders.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "coresight/rom_table.h"
#include "session/config.h"
#include "session/session.h"

enum { OPT_JSON = 256 };

static const struct option options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* A block that could not even be identified is no component: it is listed apart. */
static bool is_unreadable(const struct cs_component *c)
{
    return c->component_class == 0 && c->error[0];
}

static json_t *component_json(const struct cs_component *c)
{
    json_t *j = json_pack("{s:I,s:i,s:i,s:i,s:i,s:i,s:s}", "address", (json_int_t)c->address, "class",
                          c->component_class, "designer", c->designer, "part", c->part, "devtype", c->devtype,
                          "archid", c->archid, "name", c->name);
    if (c->error[0])
        json_object_set_new(j, "error", json_string(c->error));
    return j;
}

static json_t *ap_json(const struct cs_topology *t, int32_t number, const struct cs_ap *ap)
{
    json_t *components = json_array(), *unreadable = json_array();
    uint64_t base = ap ? ap->base : 0;
    bool first = !ap;
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap != number)
            continue;
        if (first)
            base = c->address;
        first = false;
        if (is_unreadable(c))
            json_array_append_new(
                unreadable, json_pack("{s:I,s:s}", "address", (json_int_t)c->address, "error", c->error));
        else
            json_array_append_new(components, component_json(c));
    }
    json_t *j = json_pack("{s:I,s:I,s:I,s:o}", "ap", (json_int_t)number, "idr",
                          (json_int_t)(ap ? ap->idr : 0), "base", (json_int_t)base, "components", components);
    if (json_array_size(unreadable))
        json_object_set(j, "unreadable", unreadable);
    json_decref(unreadable);
    if (ap && ap->error[0])
        json_object_set_new(j, "error", json_string(ap->error));
    return j;
}

static bool has_root(const struct cs_topology *t)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap < 0)
            return true;
    return false;
}

static json_t *core_json(const struct cs_core *core)
{
    json_t *j = json_pack("{s:s,s:I,s:I,s:s}", "name", core->name, "ap", (json_int_t)core->ap, "cpuid",
                          (json_int_t)core->cpuid, "type", core->type);
    if (!core->has_cti) {
        json_object_set_new(j, "cti", json_null());
        return j;
    }
    json_object_set_new(
        j, "cti",
        json_pack("{s:I,s:i,s:i,s:o}", "address", (json_int_t)core->cti.address, "triggers",
                  (int)core->cti.triggers, "channels", (int)core->cti.channels, "restart_output",
                  core->cti.restart_output < 0 ? json_null() : json_integer(core->cti.restart_output)));
    return j;
}

static json_t *topology_json(const struct cs_topology *t)
{
    json_t *aps = json_array(), *cores = json_array();
    if (has_root(t))
        json_array_append_new(aps, ap_json(t, -1, NULL));
    for (size_t i = 0; i < t->ap_count; i++)
        json_array_append_new(aps, ap_json(t, (int32_t)t->aps[i].ap, &t->aps[i]));
    for (size_t i = 0; i < t->core_count; i++)
        json_array_append_new(cores, core_json(&t->cores[i]));
    json_t *j = json_pack("{s:o,s:o}", "aps", aps, "cores", cores);
    if (t->cut)
        json_object_set_new(j, "cut", json_true());
    return j;
}

static void print_components(const struct cs_topology *t, int32_t ap)
{
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        if (c->ap != ap)
            continue;
        if (is_unreadable(c)) {
            printf("  0x%08" PRIx64 "  cannot be read: %s\n", c->address, c->error);
            continue;
        }
        printf("  0x%08" PRIx64 "  %-12s class %x  designer %03x  part %03x", c->address, c->name,
               c->component_class, c->designer, c->part);
        if (c->component_class == 9)
            printf("  devtype %02x  archid %04x", c->devtype, c->archid);
        printf("%s%s\n", c->error[0] ? "  " : "", c->error);
    }
}

static void print_tree(const struct cs_topology *t)
{
    if (has_root(t)) {
        puts("debug port's own address space (ADIv6)");
        print_components(t, -1);
    }
    for (size_t i = 0; i < t->ap_count; i++) {
        const struct cs_ap *ap = &t->aps[i];
        printf("AP %" PRIu32 "  IDR 0x%08" PRIx32 "  BASE 0x%08" PRIx64 "%s%s\n", ap->ap, ap->idr, ap->base,
               ap->error[0] ? "  " : "", ap->error);
        print_components(t, (int32_t)ap->ap);
    }
    if (t->ap_count == 0)
        puts("no access port");
    for (size_t i = 0; i < t->core_count; i++) {
        const struct cs_core *core = &t->cores[i];
        printf("%s  %s on AP %" PRIu32 ", CPUID 0x%08" PRIx32 "\n", core->name, core->type, core->ap,
               core->cpuid);
        if (!core->has_cti)
            printf("  no cross trigger: %s\n", core->why_no_cti);
        else if (core->why_no_cti[0])
            printf("  CTI at 0x%08" PRIx64 " cannot be used: %s\n", core->cti.address, core->why_no_cti);
        else if (core->cti.restart_output < 0)
            printf("  CTI at 0x%08" PRIx64 ": %u triggers, %u channels, restart output not known\n",
                   core->cti.address, core->cti.triggers, core->cti.channels);
        else
            printf("  CTI at 0x%08" PRIx64 ": %u triggers, %u channels, restart is output %d\n",
                   core->cti.address, core->cti.triggers, core->cti.channels, core->cti.restart_output);
    }
    if (t->core_count == 0)
        puts("no core found");
    if (t->cut)
        puts("there is more than can be listed");
}

struct scanning {
    enum connect_mode mode;
    char note[CONNECT_NOTE];
    struct cs_topology *topology;
};

/* A list that the time-out cut short is no answer. */
static enum corral_err do_scan(struct link *link, void *ctx, struct diag *d)
{
    struct scanning *s = ctx;
    enum corral_err err = connect_target(link, s->mode, s->note, d);
    if (err != CORRAL_OK)
        return err;
    s->topology = cs_scan(link, NULL, d);
    if (s->topology && !link_deadline_passed(link))
        return CORRAL_OK;
    cs_topology_free(s->topology);
    s->topology = NULL;
    return link_deadline_passed(link) ? CORRAL_ERR_TIMEOUT : d->code;
}

/* Cores are found, not believed: of corral.yml only the link counts here. */
static struct cs_topology *scan_link(const struct cli *cli, struct diag *d)
{
    struct cs_topology *t = NULL;
    struct config *config;
    if (cli_load_config(cli, &config, d) != CORRAL_OK)
        return NULL;
    struct host_clock *clock = NULL;
    const char *words = session_link_words(cli->link, config);
    struct link *link =
        session_open_wire(words, cli->clock_hz, &cli->wire, cli->timeout_ns, config, &clock, d);
    struct scanning scanning = {.mode = session_connect_mode(words, &cli->wire, config)};
    if (link && cli->timeout_ns > 0)
        session_bounded(link, do_scan, &scanning, cli->timeout_ns, d);
    else if (link)
        do_scan(link, &scanning, d);
    t = scanning.topology;
    struct diag why = DIAG_INIT;
    if (scanning.note[0])
        cli->wire.note(cli->wire.ctx, scanning.note);
    if (link && link_wire_log_stopped(link, &why))
        cli->wire.note(cli->wire.ctx, why.message);
    link_close(link);
    host_clock_free(clock);
    config_free(config);
    return t;
}

static int run_scan(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        local.json = true;
    }
    if (optind < argc)
        return cli_usage(&local, command, "scan: '%s' is one word too many", argv[optind]);

    struct diag d = DIAG_INIT;
    struct cs_topology *t = scan_link(&local, &d);
    if (!t)
        return cli_fail(&local, &d);
    if (local.json) {
        json_t *j = topology_json(t);
        char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
        json_decref(j);
        if (text)
            puts(text);
        else
            exit_code = cli_fail(&local, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
        free(text);
    } else {
        print_tree(t);
    }
    cs_topology_free(t);
    return exit_code;
}

const struct cli_command cmd_scan = {
    .name = "scan",
    .summary = "list access ports, components, cores and their cross triggers",
    .help = "Usage: corral [--link LINK] [--json] scan\n"
            "\n"
            "Powers the debug port up and walks all ROM tables. Shows every access port with its components, "
            "and\n"
            "every core with its CTI. What cannot be read is listed with the reason. Nothing is halted.\n"
            "\n"
            "Example: corral --link sim scan\n",
    .run = run_scan,
};
