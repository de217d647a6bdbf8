/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See render_scan.h. As a tree an access port leads to its ROM table and that to its components, each error
 * where it occurred; what a core and what its CTI is stands beside the component. Finds nothing out.
 */
#include "cli/render_scan.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BOLD   "\033[1m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define RED    "\033[31m"
#define DIM    "\033[2m"
#define RESET  "\033[0m"

/* A block that could not even be identified is no component: it is listed apart. */
static bool is_unreadable(const struct cs_component *c)
{
    return c->component_class == 0 && c->error[0];
}

static bool has_root(const struct cs_topology *t)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap < 0)
            return true;
    return false;
}

/* NULL where the fact is the table's, as usual. */
static const char *source_name(enum cs_source source)
{
    return source == CS_SOURCE_SDF ? "sdf" : source == CS_SOURCE_CONFIG ? "corral.yml" : NULL;
}

/* ---- JSON ---- */

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
    if (ap && ap->nested) {
        json_object_set_new(j, "parent", json_integer((json_int_t)ap->parent));
        json_object_set_new(j, "address", json_integer((json_int_t)ap->address));
    }
    if (json_array_size(unreadable))
        json_object_set(j, "unreadable", unreadable);
    json_decref(unreadable);
    if (ap && ap->error[0])
        json_object_set_new(j, "error", json_string(ap->error));
    return j;
}

static json_t *cti_json(const struct cs_core *core)
{
    const char *from = source_name(core->cti_from), *restart_from = source_name(core->restart_from);
    json_t *j =
        json_pack("{s:I,s:i,s:i,s:o}", "address", (json_int_t)core->cti.address, "triggers",
                  (int)core->cti.triggers, "channels", (int)core->cti.channels, "restart_output",
                  core->cti.restart_output < 0 ? json_null() : json_integer(core->cti.restart_output));
    if (core->cti.ap != core->ap)
        json_object_set_new(j, "ap", json_integer((json_int_t)core->cti.ap));
    if (from)
        json_object_set_new(j, "from", json_string(from));
    if (restart_from)
        json_object_set_new(j, "restart_from", json_string(restart_from));
    return j;
}

static json_t *core_json(const struct cs_core *core)
{
    json_t *j = json_pack("{s:s,s:I,s:I,s:s,s:o}", "name", core->name, "ap", (json_int_t)core->ap, "cpuid",
                          (json_int_t)core->cpuid, "type", core->type, "cti",
                          core->has_cti ? cti_json(core) : json_null());
    if (core->error[0])
        json_object_set_new(j, "error", json_string(core->error));
    if (core->why_no_cti[0])
        json_object_set_new(j, "why_no_cti", json_string(core->why_no_cti));
    return j;
}

char *render_scan_json(const struct cs_topology *t)
{
    json_t *aps = json_array(), *cores = json_array(), *refused = json_array();
    if (has_root(t))
        json_array_append_new(aps, ap_json(t, -1, NULL));
    for (size_t i = 0; i < t->ap_count; i++)
        json_array_append_new(aps, ap_json(t, (int32_t)t->aps[i].ap, &t->aps[i]));
    for (size_t i = 0; i < t->core_count; i++)
        json_array_append_new(cores, core_json(&t->cores[i]));
    for (size_t i = 0; i < t->refusal_count; i++)
        json_array_append_new(refused,
                              json_pack("{s:I,s:I,s:s}", "ap", (json_int_t)t->refusals[i].ap, "address",
                                        (json_int_t)t->refusals[i].address, "why", t->refusals[i].why));
    json_t *j = json_pack("{s:o,s:o}", "aps", aps, "cores", cores);
    if (json_array_size(refused))
        json_object_set(j, "refused", refused);
    json_decref(refused);
    if (t->cut)
        json_object_set_new(j, "cut", json_true());
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    return text;
}

/* ---- for people ---- */

struct screen {
    FILE *out;
    bool colour;
};

static void paint(const struct screen *s, const char *colour, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void paint(const struct screen *s, const char *colour, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (s->colour && colour)
        fputs(colour, s->out);
    vfprintf(s->out, fmt, args);
    if (s->colour && colour)
        fputs(RESET, s->out);
    va_end(args);
}

static const struct cs_core *core_at(const struct cs_topology *t, const struct cs_component *c, bool cti)
{
    for (size_t i = 0; i < t->core_count; i++) {
        const struct cs_core *core = &t->cores[i];
        if (cti ? core->has_cti && (int32_t)core->cti.ap == c->ap && core->cti.address == c->address
                : (int32_t)core->ap == c->ap && core->address == c->address)
            return core;
    }
    return NULL;
}

/* Tables are nested at most so deep that the list cannot run in a circle: each stands before what it names.
 */
static int depth_of(const struct cs_topology *t, const struct cs_component *c)
{
    int depth = 1;
    for (int table = c->table; table >= 0 && (size_t)table < t->component_count;
         table = t->components[table].table)
        depth++;
    return depth;
}

static void print_component(const struct screen *s, const struct cs_topology *t, const struct cs_component *c)
{
    int indent = 2 * depth_of(t, c);
    const struct cs_core *core = core_at(t, c, false), *triggered = core_at(t, c, true);
    fprintf(s->out, "%*s0x%08" PRIx64 "  ", indent, "", c->address);
    if (is_unreadable(c)) {
        paint(s, RED, "cannot be read: %s", c->error);
        fputc('\n', s->out);
        return;
    }
    bool table = strcmp(c->name, "ROM table") == 0;
    paint(s, core || triggered ? GREEN : table ? BOLD : NULL, "%-10s", c->name);
    paint(s, DIM, "  class %x  designer %03x  part %03x", c->component_class, c->designer, c->part);
    if (c->component_class == 9)
        paint(s, DIM, "  devtype %02x  archid %04x", c->devtype, c->archid);
    if (core)
        paint(s, GREEN, "  = %s, %s", core->name, core->type);
    if (triggered)
        paint(s, GREEN, "  = %s's CTI", triggered->name);
    if (c->error[0])
        paint(s, RED, "  %s", c->error);
    fputc('\n', s->out);
}

static void print_components(const struct screen *s, const struct cs_topology *t, int32_t ap)
{
    for (size_t i = 0; i < t->component_count; i++)
        if (t->components[i].ap == ap)
            print_component(s, t, &t->components[i]);
}

static void print_ap(const struct screen *s, const struct cs_topology *t, const struct cs_ap *ap)
{
    char name[LINK_AP_NAME_MAX], parent[LINK_AP_NAME_MAX];
    paint(s, BOLD, "AP %s", link_ap_name(ap->ap, name));
    fprintf(s->out, "  IDR 0x%08" PRIx32 "  BASE 0x%08" PRIx64, ap->idr, ap->base);
    if (ap->nested)
        fprintf(s->out, "  behind AP %s at 0x%08" PRIx64, link_ap_name(ap->parent, parent), ap->address);
    if (ap->error[0])
        paint(s, RED, "  %s", ap->error);
    fputc('\n', s->out);
    print_components(s, t, (int32_t)ap->ap);
}

static void print_cti(const struct screen *s, const struct cs_core *core)
{
    const char *from = source_name(core->cti_from), *restart_from = source_name(core->restart_from);
    char name[LINK_AP_NAME_MAX];
    fprintf(s->out, "  CTI at 0x%08" PRIx64, core->cti.address);
    if (core->cti.ap != core->ap)
        fprintf(s->out, " on AP %s", link_ap_name(core->cti.ap, name));
    if (from)
        fprintf(s->out, " (%s)", from);
    if (core->why_no_cti[0]) {
        paint(s, YELLOW, " cannot be used: %s", core->why_no_cti);
    } else {
        fprintf(s->out, ": %u triggers, %u channels, ", core->cti.triggers, core->cti.channels);
        if (core->cti.restart_output < 0)
            paint(s, YELLOW, "restart output not known");
        else
            fprintf(s->out, "restart is output %d", core->cti.restart_output);
        if (restart_from)
            fprintf(s->out, " (%s)", restart_from);
    }
    fputc('\n', s->out);
}

static void print_core(const struct screen *s, const struct cs_core *core)
{
    char name[LINK_AP_NAME_MAX];
    paint(s, BOLD, "%s", core->name);
    fprintf(s->out, "  %s on AP %s, CPUID 0x%08" PRIx32 "\n", core->type, link_ap_name(core->ap, name),
            core->cpuid);
    if (core->error[0]) {
        paint(s, RED, "  cannot be looked at: %s", core->error);
        fputc('\n', s->out);
    }
    if (core->has_cti) {
        print_cti(s, core);
    } else {
        paint(s, YELLOW, "  no cross trigger: %s", core->why_no_cti);
        fputc('\n', s->out);
    }
}

void render_scan_tree(FILE *out, bool colour, const struct cs_topology *t)
{
    const struct screen s = {out, colour};
    if (has_root(t)) {
        paint(&s, BOLD, "debug port's own address space (ADIv6)");
        fputc('\n', out);
        print_components(&s, t, -1);
    }
    for (size_t i = 0; i < t->ap_count; i++)
        print_ap(&s, t, &t->aps[i]);
    if (t->ap_count == 0)
        fputs("no access port\n", out);
    for (size_t i = 0; i < t->core_count; i++)
        print_core(&s, &t->cores[i]);
    if (t->core_count == 0)
        fputs("no core found\n", out);
    for (size_t i = 0; i < t->refusal_count; i++) {
        paint(&s, YELLOW, "refused: %s", t->refusals[i].why);
        fputc('\n', out);
    }
    if (t->cut)
        fputs("there is more than can be listed\n", out);
}
