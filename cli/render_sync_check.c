/* SPDX-License-Identifier: Apache-2.0 */
/* sync-check on one page (cli/render_sync_check.h): cores, cross triggers, skew, verdicts. */
#include "cli/render_sync_check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/put_json.h"
#include "link/link.h"

static const char *source_name(enum cs_source source)
{
    static const char *const names[] = {"", "table", "SDF", "corral.yml"};
    return (unsigned)source < sizeof(names) / sizeof(names[0]) ? names[source] : "";
}

static const char *proof_name(enum group_proof proof)
{
    return proof == GROUP_PROOF_DONE ? "proven" : proof == GROUP_PROOF_FAILED ? "failed" : "not tried";
}

static const char *halted_name(const struct group_check_member *m)
{
    return m->halted_input == GROUP_HALTED_PULSE   ? "pulse"
           : m->halted_input == GROUP_HALTED_LEVEL ? "level"
                                                   : NULL;
}

/* ---- for people ---- */

static void put_core(const struct sync_check_core *c)
{
    const struct group_check_member *m = &c->member;
    char ap[LINK_AP_NAME_MAX];
    printf("  %-8s %-14s AP %-4s %s", c->name, c->type, link_ap_name(c->ap, ap), core_state_name(m->state));
    if (c->state_why[0])
        printf(" (%s)", c->state_why);
    if (!m->has_cycle_counter && (m->state == CORE_RUNNING || m->state == CORE_HALTED))
        fputs(", no cycle counter", stdout);
    if (c->ratio > 0 && (c->ratio < 0.98 || c->ratio > 1.02))
        printf(", its clock is %.3f of the first core's (unlike clocks)", c->ratio);
    putchar('\n');
}

static void put_cti(const struct sync_check_core *c)
{
    const struct group_check_member *m = &c->member;
    if (!m->has_cti) {
        printf("  %-8s none%s%s\n", c->name, c->why_no_cti[0] ? ": " : "", c->why_no_cti);
        return;
    }
    char ap[LINK_AP_NAME_MAX];
    printf("  %-8s 0x%08" PRIx64 " on AP %s (%s), %u triggers, %u channels", c->name, m->cti_address,
           link_ap_name(m->cti_ap, ap), source_name(c->cti_from)[0] ? source_name(c->cti_from) : "table",
           m->triggers, m->channels);
    if (c->restart_output >= 0)
        printf(", restart is output %d (%s)", c->restart_output,
               source_name(c->restart_from)[0] ? source_name(c->restart_from) : "table");
    else
        fputs(", no restart output is known", stdout);
    printf("\n  %-8s ", "");
    if (m->island >= 0)
        printf("island %d, ", m->island);
    else
        fputs("island not known, ", stdout);
    printf("HALTED %s, halt %s, restart %s%s%s\n", halted_name(m) ? halted_name(m) : "not known",
           proof_name(m->halt), proof_name(m->run), m->claim_tags ? ", claim tags" : "",
           m->lock ? ", lock" : "");
    if (m->with_sync.halt == GROUP_MECHANISM_SEQUENCE)
        printf("  %-8s set up%s by the pack's debug sequences\n", "",
               m->with_sync.run == GROUP_MECHANISM_SEQUENCE ? " and started" : "");
    if (m->why[0])
        printf("  %-8s %s\n", "", m->why);
}

static void put_ns(const char *what, int64_t ns)
{
    if (ns == EVENT_NO_TIME)
        printf("  %-9s -", what);
    else if (ns < 10000)
        printf("  %s %" PRId64 " ns", what, ns);
    else
        printf("  %s %.1f us", what, (double)ns / 1e3);
}

static void put_skew(const char *name, const struct sync_check_skew *k)
{
    printf("  %-22s", name);
    if (k->rounds == 0) {
        printf(" not measured: %s\n", k->why);
        return;
    }
    printf(" %4u rounds", k->rounds);
    if (k->median_ns == EVENT_NO_TIME && k->median_cycles != EVENT_NO_TIME) {
        printf("  median %" PRId64 " cycles  longest %" PRId64 " cycles (hz: in corral.yml makes it time)\n",
               k->median_cycles, k->max_cycles);
        return;
    }
    put_ns("median", k->median_ns);
    put_ns("longest", k->max_ns);
    if (k->median_ns == EVENT_NO_TIME)
        fputs("  (unlike clocks, and corral.yml gives no hz:)", stdout);
    putchar('\n');
}

void render_sync_check_text(const struct session_sync_check *c)
{
    puts("Cores");
    for (size_t i = 0; i < c->core_count; i++)
        put_core(&c->cores[i]);
    for (size_t i = 0; i < c->port_count; i++) {
        char ap[LINK_AP_NAME_MAX];
        printf("  AP %s does not answer: %s\n", link_ap_name(c->ports[i].ap, ap), c->ports[i].error);
    }
    puts("Cross triggers");
    for (size_t i = 0; i < c->core_count; i++)
        put_cti(&c->cores[i]);
    if (c->islands)
        printf("  %zu island%s", c->islands, c->islands == 1 ? "" : "s");
    if (c->islands && c->halt_channel >= 0)
        printf("; tried with channel %d for halt", c->halt_channel);
    if (c->islands && c->restart_channel >= 0)
        printf(" and %d for restart", c->restart_channel);
    if (c->islands)
        putchar('\n');
    if (c->without.rounds)
        printf("Skew of halt and run between %s and %s\n", c->cores[c->starter].name,
               c->cores[c->stopper].name);
    else
        puts("Skew of halt and run");
    put_skew("one after the other", &c->without);
    put_skew(c->with.mechanism == GROUP_MECHANISM_SEQUENCE ? "by debug sequences" : "through cross triggers",
             &c->with);
    puts("What works with --sync");
    for (unsigned f = 0; f < SYNC_FEATURE_COUNT; f++)
        printf("  %-14s %-7s %s\n", sync_feature_name(f), sync_verdict_name(c->verdicts[f].verdict),
               c->verdicts[f].why);
    if (c->left_as_found)
        puts("The target is as it was found.");
    else
        printf("The target is not as it was found: %s.\n", c->difference[0] ? c->difference : "not read");
}

/* ---- JSON ---- */

static json_t *core_json(const struct sync_check_core *c)
{
    const struct group_check_member *m = &c->member;
    json_t *cti = json_null();
    if (m->has_cti) {
        cti = json_pack("{s:I,s:I,s:i,s:i,s:s,s:s?,s:b,s:b}", "address", (json_int_t)m->cti_address, "ap",
                        (json_int_t)m->cti_ap, "triggers", (int)m->triggers, "channels", (int)m->channels,
                        "from", source_name(c->cti_from), "halted", halted_name(m), "claim_tags",
                        (int)m->claim_tags, "lock", (int)m->lock);
        json_object_set_new(cti, "restart_output",
                            c->restart_output >= 0 ? json_integer(c->restart_output) : json_null());
        json_object_set_new(cti, "restart_from",
                            c->restart_output >= 0 ? json_string(source_name(c->restart_from)) : json_null());
        json_object_set_new(cti, "island", m->island >= 0 ? json_integer(m->island) : json_null());
        json_object_set_new(cti, "halt", json_string(proof_name(m->halt)));
        json_object_set_new(cti, "restart", json_string(proof_name(m->run)));
    }
    json_t *j = json_pack("{s:s,s:s,s:I,s:s,s:s,s:b,s:o}", "name", c->name, "type", c->type, "ap",
                          (json_int_t)c->ap, "state", core_state_name(m->state), "state_why", c->state_why,
                          "cycle_counter", (int)m->has_cycle_counter, "cti", cti);
    if (!j)
        return NULL;
    json_object_set_new(j, "clock_ratio", c->ratio > 0 ? json_real(c->ratio) : json_null());
    json_object_set_new(j, "clock_hz", c->hz ? json_integer(c->hz) : json_null());
    json_object_set_new(j, "halt_by", json_string(group_mechanism_name(m->with_sync.halt)));
    json_object_set_new(j, "halt_why", json_string(group_why_text(m->with_sync.halt_why)));
    json_object_set_new(j, "run_by", json_string(group_mechanism_name(m->with_sync.run)));
    json_object_set_new(j, "run_why", json_string(group_why_text(m->with_sync.run_why)));
    json_object_set_new(j, "why_no_cti", json_string(c->why_no_cti));
    json_object_set_new(j, "why", json_string(m->why));
    return j;
}

static json_t *number_or_null(int64_t value)
{
    return value == EVENT_NO_TIME ? json_null() : json_integer(value);
}

static json_t *skew_json(const struct sync_check_skew *k)
{
    return json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:s}", "rounds", (int)k->rounds, "mechanism",
                     group_mechanism_name(k->mechanism), "median_ns", number_or_null(k->median_ns), "max_ns",
                     number_or_null(k->max_ns), "median_cycles", number_or_null(k->median_cycles),
                     "max_cycles", number_or_null(k->max_cycles), "why", k->why);
}

enum corral_err render_sync_check_json(const struct session_sync_check *c, struct diag *d)
{
    json_t *cores = json_array(), *ports = json_array(), *verdicts = json_array(), *between = json_array();
    for (size_t i = 0; i < c->core_count; i++)
        json_array_append_new(cores, core_json(&c->cores[i]));
    for (size_t i = 0; i < c->port_count; i++)
        json_array_append_new(
            ports, json_pack("{s:I,s:s}", "ap", (json_int_t)c->ports[i].ap, "error", c->ports[i].error));
    for (unsigned f = 0; f < SYNC_FEATURE_COUNT; f++)
        json_array_append_new(verdicts, json_pack("{s:s,s:s,s:s}", "feature", sync_feature_name(f), "works",
                                                  sync_verdict_name(c->verdicts[f].verdict), "why",
                                                  c->verdicts[f].why));
    if (c->without.rounds) {
        json_array_append_new(between, json_string(c->cores[c->starter].name));
        json_array_append_new(between, json_string(c->cores[c->stopper].name));
    }
    json_t *j =
        json_pack("{s:o,s:o,s:I,s:o,s:o,s:{s:o,s:o,s:o},s:o,s:b,s:s}", "cores", cores, "unreachable", ports,
                  "islands", (json_int_t)c->islands, "halt_channel",
                  c->halt_channel >= 0 ? json_integer(c->halt_channel) : json_null(), "restart_channel",
                  c->restart_channel >= 0 ? json_integer(c->restart_channel) : json_null(), "skew", "between",
                  between, "software", skew_json(&c->without), "cti", skew_json(&c->with), "verdicts",
                  verdicts, "left_as_found", (int)c->left_as_found, "difference", c->difference);
    return cli_put_json(j, d);
}
