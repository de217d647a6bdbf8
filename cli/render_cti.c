/* SPDX-License-Identifier: Apache-2.0 */
/* A CTI as a matrix of triggers and channels, with every status register (cross-trigger sheet 1.1). */
#include "cli/render_cti.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/put_json.h"
#include "link/link.h"

static void put_row(const char *name, uint32_t mask, unsigned channels, const char *note)
{
    printf("  %-22s", name);
    for (unsigned c = 0; c < channels; c++)
        printf(" %2s", mask >> c & 1 ? "x" : ".");
    printf("%s%s\n", note[0] ? "  " : "", note);
}

static void put_side(const struct session_cti_view *v, enum cti_side side)
{
    const struct cti_registers *r = &v->registers;
    for (unsigned n = 0; n < v->info.triggers; n++) {
        const char *known = cti_trigger_name(v->type, side, n, v->info.restart_output);
        bool in = side == CTI_SIDE_IN;
        bool active = (in ? r->trigin_status : r->trigout_status) >> n & 1;
        char name[40];
        snprintf(name, sizeof(name), "%s%u%s%s", in ? "in" : "out", n, known ? " " : "", known ? known : "");
        put_row(name, in ? r->inen[n] : r->outen[n], v->info.channels,
                !active ? ""
                : in    ? "high"
                        : "asserted");
    }
}

static void put_cti(const struct session_cti_view *v)
{
    const struct cti_registers *r = &v->registers;
    char ap[LINK_AP_NAME_MAX];
    printf("%s%sCTI at 0x%08" PRIx64 " on AP %s, %s: %u triggers, %u channels", v->core ? v->core : "",
           v->core ? "  " : "", v->info.address, link_ap_name(v->info.ap, ap), r->control & 1 ? "on" : "off",
           v->info.triggers, v->info.channels);
    if (v->info.restart_output >= 0)
        printf(", restart is output %d", v->info.restart_output);
    printf("\n  %-22s", "channel");
    for (unsigned c = 0; c < v->info.channels; c++)
        printf(" %2u", c);
    putchar('\n');
    put_side(v, CTI_SIDE_IN);
    put_side(v, CTI_SIDE_OUT);
    put_row("gate", r->gate, v->info.channels,
            v->info.gate_masks_inputs ? "both ways" : "to the others only");
    put_row("held (APPSET)", r->appset, v->info.channels, "");
    put_row("active, coming in", r->channel_in_status, v->info.channels, "");
    put_row("active, going out", r->channel_out_status, v->info.channels, "");
    printf("  DEVID 0x%08" PRIx32 ", DEVTYPE 0x%02" PRIx32 ", DEVARCH 0x%08" PRIx32
           ", AUTHSTATUS 0x%02" PRIx32 ", LSR %" PRIu32 ", claimed 0x%" PRIx32 " of 0x%" PRIx32
           ", ITCTRL %" PRIu32 ", ASICCTL 0x%" PRIx32 "\n",
           r->devid, r->devtype, r->devarch, r->auth_status, r->lock_status, r->claim, r->claim_tags,
           r->itctrl, r->asicctl);
}

static json_t *channels_json(uint32_t mask, unsigned channels)
{
    json_t *list = json_array();
    for (unsigned c = 0; c < channels; c++)
        if (mask >> c & 1)
            json_array_append_new(list, json_integer(c));
    return list;
}

static json_t *side_json(const struct session_cti_view *v, enum cti_side side)
{
    const struct cti_registers *r = &v->registers;
    json_t *list = json_array();
    for (unsigned n = 0; n < v->info.triggers; n++) {
        bool in = side == CTI_SIDE_IN;
        uint32_t status = in ? r->trigin_status : r->trigout_status;
        json_array_append_new(list, json_pack("{s:i,s:s?,s:o,s:b}", "trigger", (int)n, "name",
                                              cti_trigger_name(v->type, side, n, v->info.restart_output),
                                              "channels",
                                              channels_json(in ? r->inen[n] : r->outen[n], v->info.channels),
                                              in ? "high" : "asserted", (int)(status >> n & 1)));
    }
    return list;
}

static json_t *cti_json(const struct session_cti_view *v)
{
    const struct cti_registers *r = &v->registers;
    json_t *j = json_pack("{s:s?,s:I,s:I,s:i,s:i,s:b,s:o,s:o}", "core", v->core, "ap", (json_int_t)v->info.ap,
                          "address", (json_int_t)v->info.address, "triggers", (int)v->info.triggers,
                          "channels", (int)v->info.channels, "on", (int)(r->control & 1), "inputs",
                          side_json(v, CTI_SIDE_IN), "outputs", side_json(v, CTI_SIDE_OUT));
    const struct {
        const char *name;
        uint32_t value;
    } words[] = {{"control", r->control},
                 {"gate", r->gate},
                 {"appset", r->appset},
                 {"trigin_status", r->trigin_status},
                 {"trigout_status", r->trigout_status},
                 {"channel_in_status", r->channel_in_status},
                 {"channel_out_status", r->channel_out_status},
                 {"asicctl", r->asicctl},
                 {"itctrl", r->itctrl},
                 {"claim_tags", r->claim_tags},
                 {"claim", r->claim},
                 {"lock_status", r->lock_status},
                 {"auth_status", r->auth_status},
                 {"devarch", r->devarch},
                 {"devid", r->devid},
                 {"devtype", r->devtype}};
    if (!j)
        return NULL;
    int restart = v->info.restart_output;
    json_object_set_new(j, "restart_output", restart >= 0 ? json_integer(restart) : json_null());
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        json_object_set_new(j, words[i].name, json_integer(words[i].value));
    return j;
}

enum corral_err render_ctis(bool json, const struct session_cti_view *views, size_t count, struct diag *d)
{
    if (!json) {
        for (size_t i = 0; i < count; i++)
            put_cti(&views[i]);
        return CORRAL_OK;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, cti_json(&views[i]));
    json_t *j = json_pack("{s:o}", "ctis", list);
    return cli_put_json(j, d);
}
