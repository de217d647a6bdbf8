/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A project's *.cbuild-run.yml as a device: output, debugger, and by pack_cbuild_topology.c and
 * pack_cbuild_sequences.c the rest. Cross-trigger sheet 5, case C43. Keys that are not ours are skipped:
 * other tools' travel in the same file. It opens no file but those that the description names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_cbuild_internal.h"

static const struct yaml_tree_limits limits = {
    .what = "the description",
    .err = CORRAL_ERR_FORMAT,
    .bytes = 4 * 1024 * 1024, /* real ones have a few thousand */
    .depth = 64,
    .nodes = 65536,
    .keys = 1024,
    .line_feeds = true,
    .tag_expected = "quotes around a value that begins with '!', such as if: \"!x\"",
};

void pack_cbuild_free(struct pack_cbuild *cbuild)
{
    if (cbuild)
        yaml_tree_free(cbuild->tree);
    free(cbuild);
}

/* Vendor::Device, or what else says what this is for. */
static bool add_device(struct pack_file *file, const struct yaml_tree_node *run, struct diag *d)
{
    struct pack_entry entry = {.name = ""};
    struct pack_cbuild_reading r = {.file = file, .d = d};
    const struct yaml_tree_node *device = yaml_tree_child(run, "device");
    if (!pack_cbuild_text(&r, run, device ? "device" : "board", entry.name, sizeof(entry.name)))
        return false;
    if (!entry.name[0])
        snprintf(entry.name, sizeof(entry.name), "device");
    return pack_add_entry(file, &entry, run->line, d);
}

bool pack_cbuild_parse(struct pack_file *file, struct sequence_problems *problems, struct diag *d)
{
    (void)problems;
    struct pack_cbuild *cbuild = file->cbuild = calloc(1, sizeof(*cbuild));
    if (!cbuild)
        return pack_no_memory(d);
    cbuild->tree = yaml_tree_parse(file->path, file->bytes, file->size, &limits, d);
    if (!cbuild->tree)
        return false;
    const struct yaml_tree_node *root = yaml_tree_root(cbuild->tree);
    cbuild->run = yaml_tree_child(root, "cbuild-run");
    if (!cbuild->run)
        return pack_mistake(file, root->line, d, "there is no cbuild-run: in it; expected a .cbuild-run.yml");
    struct pack_cbuild_reading r = {.file = file, .d = d};
    return pack_cbuild_is_mapping(&r, cbuild->run, "a mapping of keys to values") &&
           add_device(file, cbuild->run, d);
}

/* ---- output */

static bool has_end(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcasecmp(name + length - wanted, end) == 0;
}

/* By its name, for who left the type out. */
static const char *type_of(const char *path)
{
    return has_end(path, ".hex")                                                     ? "hex"
           : has_end(path, ".bin")                                                   ? "bin"
           : has_end(path, ".elf") || has_end(path, ".axf") || has_end(path, ".out") ? "elf"
                                                                                     : "";
}

static bool take_load(struct pack_cbuild_reading *r, const struct yaml_tree_node *node,
                      struct pack_output *out)
{
    static const struct {
        const char *name;
        enum pack_load load;
    } known[] = {{"image+symbols", PACK_LOAD_IMAGE_SYMBOLS},
                 {"image", PACK_LOAD_IMAGE},
                 {"symbols", PACK_LOAD_SYMBOLS},
                 {"none", PACK_LOAD_NONE}};
    static const char expected[] = "image+symbols, image, symbols or none";
    const struct yaml_tree_node *load;
    if (!pack_cbuild_scalar(r, node, "load", expected, &load))
        return false;
    if (!load) { /* what can be done with such a file */
        bool image = strcmp(out->type, "hex") == 0 || strcmp(out->type, "bin") == 0;
        out->load = strcmp(out->type, "elf") == 0 ? PACK_LOAD_IMAGE_SYMBOLS
                    : image                       ? PACK_LOAD_IMAGE
                                                  : PACK_LOAD_NONE;
        return true;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(load->text, known[i].name) == 0) {
            out->load = known[i].load;
            return true;
        }
    }
    return pack_cbuild_wrong(r, load, expected);
}

static char *relative_to_file(const struct pack_cbuild_reading *r, const char *path)
{
    bool drive = path[0] && path[1] == ':'; /* made on another host */
    const char *folder = path[0] == '/' || drive ? "" : r->file->folder;
    size_t size = strlen(folder) + strlen(path) + 1;
    char *whole = malloc(size);
    if (whole)
        snprintf(whole, size, "%s%s", folder, path);
    return whole;
}

static bool take_output(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    struct pack_device *device = r->device;
    char *path = NULL;
    bool unknown = false;
    if (!pack_cbuild_is_mapping(r, node, "file:, type: and load: of an output"))
        return false;
    if (device->output_count == PACK_MAX_OUTPUTS)
        return pack_mistake(r->file, node->line, r->d, "too many outputs; expected at most %d",
                            PACK_MAX_OUTPUTS);
    if (!pack_cbuild_needs(r, node, "file", "an output") ||
        !pack_cbuild_path(r, node, "file", &path, &unknown))
        return false;
    if (unknown) {
        pack_cbuild_warn(r, yaml_tree_child(node, "file"),
                         "left out: ${CMSIS_PACK_ROOT} is not known; set it in the environment");
        return true;
    }
    struct pack_output *out = &device->outputs[device->output_count++]; /* from here the device's */
    snprintf(out->type, sizeof(out->type), "%s", type_of(path));
    out->path = relative_to_file(r, path);
    free(path);
    if (!out->path)
        return pack_no_memory(r->d);
    return pack_cbuild_text(r, node, "type", out->type, sizeof(out->type)) && take_load(r, node, out) &&
           pack_cbuild_number(r, node, "load-offset", UINT64_MAX, &out->load_offset, NULL) &&
           pack_cbuild_text(r, node, "pname", out->pname, sizeof(out->pname));
}

static bool take_outputs(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *list;
    if (!pack_cbuild_list(r, run, "output", &list))
        return false;
    for (const struct yaml_tree_node *n = list ? list->first : NULL; n; n = n->next)
        if (!take_output(r, n))
            return false;
    return true;
}

/* ---- debugger */

static bool protocol_named(const char *name, enum pack_protocol *protocol)
{
    static const char *const names[] = {
        [PACK_PROTOCOL_JTAG] = "jtag", [PACK_PROTOCOL_SWD] = "swd", [PACK_PROTOCOL_CJTAG] = "cjtag"};
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(name, names[i]) == 0) {
            *protocol = (enum pack_protocol)i;
            return true;
        }
    }
    return false;
}

/* `port: swd` is what it was called before it was `protocol:`. */
static bool take_protocol(struct pack_cbuild_reading *r, const struct yaml_tree_node *debugger)
{
    const struct yaml_tree_node *now, *before = yaml_tree_child(debugger, "port");
    if (!pack_cbuild_scalar(r, debugger, "protocol", "swd or jtag", &now))
        return false;
    if (now)
        return protocol_named(now->text, &r->device->protocol) || pack_cbuild_wrong(r, now, "swd or jtag");
    if (before && (before->kind != YAML_TREE_SCALAR || !protocol_named(before->text, &r->device->protocol)))
        pack_cbuild_warn(r, before, "port: of the debugger is neither swd nor jtag: not heeded");
    return true;
}

static bool take_connect(struct pack_cbuild_reading *r, const struct yaml_tree_node *debugger)
{
    static const char *const known[] = {"attach", "under-reset", "pre-reset", "halt"};
    const struct yaml_tree_node *node;
    if (!pack_cbuild_scalar(r, debugger, "connect", "attach, halt, pre-reset or under-reset", &node))
        return false;
    for (size_t i = 0; node && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(node->text, known[i]) == 0) {
            snprintf(r->device->connect, sizeof(r->device->connect), "%s", known[i]);
            return true;
        }
    }
    if (node)
        pack_cbuild_warn(r, node, "connect: is none of attach, halt, pre-reset and under-reset: not heeded");
    return true;
}

/* The switch of "halt and run together" is in no release of the schema, so it may have come through the free
 * map of device-settings, and as any of the words that YAML has had for yes and no. */
static bool take_sync(struct pack_cbuild_reading *r, const struct yaml_tree_node *debugger)
{
    static const char key[] = "simultaneous-run-halt";
    static const char *const yes[] = {"true", "on", "yes", "1"}, *const no[] = {"false", "off", "no", "0"};
    const struct yaml_tree_node *settings, *node;
    if (!pack_cbuild_mapping(r, debugger, "device-settings", &settings))
        return false;
    const struct yaml_tree_node *holder = yaml_tree_child(debugger, key) ? debugger : settings;
    if (!pack_cbuild_scalar(r, holder, key, "true or false", &node))
        return false;
    if (!node)
        return true;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        bool on = strcasecmp(node->text, yes[i]) == 0;
        if (on || strcasecmp(node->text, no[i]) == 0) {
            r->device->sync = on;
            r->device->sync_set = true;
            return true;
        }
    }
    return pack_cbuild_wrong(r, node, "true or false");
}

static bool take_server(struct pack_cbuild_reading *r, const struct yaml_tree_node *node)
{
    struct pack_device *device = r->device;
    struct pack_server one = {.unit = -1};
    uint64_t port = 0, unit = 0;
    bool unit_set = false;
    if (!pack_cbuild_is_mapping(r, node, "port: and pname: of a gdb server"))
        return false;
    if (device->server_count == PACK_MAX_SERVERS)
        return pack_mistake(r->file, node->line, r->d, "too many gdb servers; expected at most %d",
                            PACK_MAX_SERVERS);
    if (!pack_cbuild_needs(r, node, "port", "a gdb server") ||
        !pack_cbuild_number(r, node, "port", UINT16_MAX, &port, NULL) ||
        !pack_cbuild_text(r, node, "pname", one.pname, sizeof(one.pname)) ||
        !pack_cbuild_number(r, node, "punit", 1023, &unit, &unit_set))
        return false;
    if (port == 0)
        return pack_cbuild_wrong(r, yaml_tree_child(node, "port"), "a port from 1 to 65535");
    for (size_t i = 0; i < device->server_count; i++)
        if (device->servers[i].port == port)
            return pack_cbuild_wrong(r, yaml_tree_child(node, "port"), "a port that no other gdb server has");
    one.port = (uint16_t)port;
    one.unit = unit_set ? (int)unit : -1;
    if (one.pname[0] && !pack_processor_named(device, one.pname))
        pack_cbuild_warn(r, yaml_tree_child(node, "pname"), "there is no processor %s", one.pname);
    device->servers[device->server_count++] = one;
    return true;
}

static bool take_start(struct pack_cbuild_reading *r, const struct yaml_tree_node *debugger)
{
    struct pack_device *device = r->device;
    if (!pack_cbuild_text(r, debugger, "start-pname", device->start_pname, sizeof(device->start_pname)))
        return false;
    if (device->start_pname[0] && !pack_processor_named(device, device->start_pname)) {
        pack_cbuild_warn(r, yaml_tree_child(debugger, "start-pname"),
                         "there is no processor %s: the first one starts", device->start_pname);
        device->start_pname[0] = '\0';
    }
    return true;
}

bool pack_cbuild_take_debugger(struct pack_cbuild_reading *r, const struct yaml_tree_node *run)
{
    const struct yaml_tree_node *debugger, *servers;
    if (!pack_cbuild_mapping(r, run, "debugger", &debugger))
        return false;
    if (!debugger)
        return true;
    if (!take_protocol(r, debugger) ||
        !pack_cbuild_number(r, debugger, "clock", UINT32_MAX, &r->device->clock_hz, NULL) ||
        !take_connect(r, debugger) || !take_sync(r, debugger) || !take_start(r, debugger) ||
        !pack_cbuild_list(r, debugger, "gdbserver", &servers))
        return false;
    for (const struct yaml_tree_node *n = servers ? servers->first : NULL; n; n = n->next)
        if (!take_server(r, n))
            return false;
    return true;
}

bool pack_cbuild_describe(const struct pack_file *file, const struct pack_entry *entry,
                          struct pack_device *device, struct sequence_problems *problems, struct diag *d)
{
    struct pack_cbuild_reading r = {.file = file, .device = device, .problems = problems, .d = d};
    const struct yaml_tree_node *run = file->cbuild->run;
    (void)entry;
    return pack_cbuild_take_topology(&r, run) && pack_cbuild_take_debugger(&r, run) &&
           take_outputs(&r, run) && pack_cbuild_take_sequences(&r, run);
}
