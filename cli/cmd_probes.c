/* SPDX-License-Identifier: Apache-2.0 */
/* corral probes: debug probes on USB, and how each is named in --link (INTERFACE.md "Commands"). */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "link/probes.h"

enum { OPT_JSON = 256 };

static const struct option options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

#define WORDS_MAX (LINK_PROBE_TEXT + 16)

static const char *interface_of(const struct link_probe *p)
{
    return p->kind == LINK_PROBE_HID ? "hid" : p->kind == LINK_PROBE_BULK ? "bulk" : NULL;
}

static json_t *probe_json(const struct link_probes *list, const struct link_probe *p)
{
    char words[WORDS_MAX], version[16];
    link_probe_words(list, p, words, sizeof(words));
    snprintf(version, sizeof(version), "%x.%02x", p->version >> 8, p->version & 0xFFu);
    return json_pack("{s:s,s:s?,s:i,s:i,s:s,s:s,s:s,s:s,s:s?,s:s?}", "kind",
                     p->kind == LINK_PROBE_OTHER ? p->name : "CMSIS-DAP", "interface", interface_of(p), "vid",
                     (int)p->vid, "pid", (int)p->pid, "vendor", p->vendor, "product", p->product, "serial",
                     p->serial, "version", version, "link", words[0] ? words : NULL, "openocd",
                     p->kind == LINK_PROBE_OTHER ? p->openocd : NULL);
}

static bool print_json(const struct link_probes *list)
{
    json_t *probes = json_array();
    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(probes, probe_json(list, &list->probe[i]));
    json_t *j = json_pack("{s:o,s:i,s:{s:b,s:b}}", "probes", probes, "denied", (int)list->denied,
                          "built_with", "hid", (int)list->has_hid, "bulk", (int)list->has_bulk);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (text)
        puts(text);
    free(text);
    return text != NULL;
}

static void print_probe(const struct link_probes *list, const struct link_probe *p)
{
    char words[WORDS_MAX];
    link_probe_words(list, p, words, sizeof(words));
    printf("%04x:%04x  %s%s%s", p->vid, p->pid, p->vendor, p->vendor[0] ? " " : "",
           p->product[0]                 ? p->product
           : p->kind == LINK_PROBE_OTHER ? p->name
                                         : "CMSIS-DAP");
    if (p->serial[0])
        printf("  serial %s", p->serial);
    printf("  version %x.%02x\n", p->version >> 8, p->version & 0xFFu);
    if (p->kind == LINK_PROBE_OTHER) {
        printf("  %s: through OpenOCD, --link openocd:spawn:CFG with a CFG that sources %s\n", p->name,
               p->openocd);
        return;
    }
    printf("  CMSIS-DAP version %s\n", p->kind == LINK_PROBE_HID ? "1 (HID)"
                                       : p->also_hid             ? "2 (bulk; HID too)"
                                                                 : "2 (bulk)");
    if (words[0])
        printf("  --link %s\n", words);
    else
        puts("  has no serial number that would tell it from the others: plug in one at a time");
}

static void print_text(const struct link_probes *list)
{
    for (size_t i = 0; i < list->count; i++)
        print_probe(list, &list->probe[i]);
    if (!list->has_hid && !list->has_bulk) {
        puts("this corral was built without USB (hidapi and libusb): it sees no probe at all");
        return;
    }
    if (list->count == 0)
        puts("no debug probe on USB");
    if (!list->has_hid)
        puts("this corral was built without hidapi: probes with CMSIS-DAP version 1 are not seen");
    if (!list->has_bulk)
        puts("this corral was built without libusb: probes with CMSIS-DAP version 2, and others, are not "
             "seen");
    if (list->denied)
        printf("%zu device%s may be a probe, but may not be opened: install Corral's udev rules "
               "(60-corral.rules)\n",
               list->denied, list->denied == 1 ? "" : "s");
}

static int run_probes(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct cli local = *cli;
    int exit_code = 0, c;
    while ((c = cli_getopt(&local, command, argc, argv, options, &exit_code)) != -1) {
        if (c == CLI_DONE)
            return exit_code;
        local.json = true;
    }
    if (optind < argc)
        return cli_usage(&local, command, "probes: '%s' is one word too many", argv[optind]);
    struct link_probes *list = malloc(sizeof(*list));
    if (list)
        link_probes_find(list);
    if (!list || (local.json && !print_json(list)))
        exit_code = cli_fail(&local, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    else if (!local.json)
        print_text(list);
    free(list);
    return exit_code;
}

const struct cli_command cmd_probes = {
    .name = "probes",
    .summary = "list debug probes on USB and how to name them",
    .help =
        "Usage: corral [--json] probes\n"
        "\n"
        "Lists the CMSIS-DAP probes on USB (version 1 by HID, version 2 by bulk endpoints) with the words\n"
        "that name each in --link, and others that Corral can reach through OpenOCD. No probe is talked "
        "to,\n"
        "so one that another program uses is listed too. Probes on the network are not looked for:\n"
        "cmsis-dap:tcp:HOST:PORT names one.\n"
        "\n"
        "A probe that only root sees needs Corral's udev rules: 60-corral.rules, which 'make install' "
        "puts\n"
        "into lib/udev/rules.d. Exit code 0 also when there is none.\n"
        "\n"
        "Example: corral probes\n",
    .run = run_probes,
};
