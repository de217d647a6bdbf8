/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of corral.yml mean (config.h): one table of keys a mapping. Types and ranges are checked by
 * config_value.c. It opens nothing but the file itself and looks whether the ELF files can be read.
 */
#include "session/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "link/sim.h"
#include "session/config_target.h"
#include "session/config_value.h"

static bool set_core(struct config_context *x, const struct yaml_tree_node *node, size_t *core)
{
    if (!config_text(x, node, "a core's name"))
        return false;
    for (size_t i = 0; i < x->config->core_count; i++) {
        if (strcmp(x->config->cores[i].name, node->text) == 0) {
            *core = i;
            return true;
        }
    }
    return config_refuse(x, node, "the name of a core under cores");
}

static bool missing(struct config_context *x, const struct yaml_tree_node *node, const char *what)
{
    config_mistake(x->diag, x->file, node->line, "this entry lacks something; expected %s", what);
    return false;
}

/* ---- cores ---- */

static bool read_core_name(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_core *core = into;
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const char *expected = "a name of 1 to 31 letters, digits, '_', '-' and '.'";
    if (!config_text(x, node, expected))
        return false;
    size_t length = strlen(node->text);
    if (length >= CONFIG_NAME_MAX || strspn(node->text, allowed) != length)
        return config_refuse(x, node, expected);
    for (size_t i = 0; i < x->config->core_count; i++)
        if (strcmp(x->config->cores[i].name, node->text) == 0)
            return config_refuse(x, node, "a name that no other core has");
    memcpy(core->name, node->text, length + 1);
    return true;
}

static bool read_elf(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_core *core = into;
    if (!config_text(x, node, "the path of an ELF file"))
        return false;
    core->elf = config_resolve(x, node->text);
    if (!core->elf)
        return false;
    if (access(core->elf, R_OK) != 0) {
        char path[CONFIG_SHOWN_MAX * 2];
        text_escape((const uint8_t *)core->elf, strlen(core->elf), path, sizeof(path));
        config_mistake(x->diag, x->file, node->line, "elf '%s' cannot be read (%s); expected an ELF file",
                       path, strerror(errno));
        diag_hint(x->diag, "paths are relative to the directory of the configuration file");
        return false;
    }
    return true;
}

static bool read_hz(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return config_number(x, node, 1, UINT32_MAX, &((struct config_core *)into)->hz);
}

static bool read_core(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {{"name", read_core_name},
                                                 {"ap", config_read_core_ap},
                                                 {"elf", read_elf},
                                                 {"hz", read_hz},
                                                 {"cti", config_read_core_cti}};
    struct config *config = into;
    struct config_core *core = &config->cores[config->core_count];
    core->line = node->line;
    core->cti_restart_output = -1;
    if (!CONFIG_READ_MAPPING(x, node, fields, core)) {
        free(core->elf); /* not counted yet: nobody else would */
        core->elf = NULL;
        return false;
    }
    config->core_count++;
    return core->name[0] ? true : missing(x, node, "name: of the core");
}

static bool read_cores(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)into;
    return config_read_list(x, node, CONFIG_MAX_CORES, read_core);
}

/* ---- logs ---- */

static bool read_log_core(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return set_core(x, node, &((struct config_log *)into)->core);
}

static bool read_symbol(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_log *log = into;
    if (!config_text(x, node, "the name of a variable"))
        return false;
    log->symbol = config_copy(x, node->text);
    return log->symbol != NULL;
}

static bool read_log_address(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return config_number(x, node, 0, UINT64_MAX, &((struct config_log *)into)->address);
}

static bool read_u32(struct config_context *x, const struct yaml_tree_node *node, uint64_t least,
                     uint64_t most, uint32_t *out)
{
    uint64_t value;
    if (!config_number(x, node, least, most, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_log_size(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    /* A header, a record's header and one character; above, nobody's shared memory. */
    return read_u32(x, node, 29, 1024 * 1024, &((struct config_log *)into)->size);
}

static bool read_staging(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_u32(x, node, 13, 1024 * 1024, &((struct config_log *)into)->staging);
}

static bool read_timestamp_hz(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return read_u32(x, node, 1, UINT32_MAX, &((struct config_log *)into)->timestamp_hz);
}

static bool read_log(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {
        {"core", read_log_core}, {"symbol", read_symbol},   {"address", read_log_address},
        {"size", read_log_size}, {"staging", read_staging}, {"timestamp_hz", read_timestamp_hz}};
    struct config *config = into;
    struct config_log *log = &config->logs[config->log_count];
    log->line = node->line;
    if (!CONFIG_READ_MAPPING(x, node, fields, log)) {
        free(log->symbol);
        log->symbol = NULL;
        return false;
    }
    config->log_count++;
    bool address = yaml_tree_child(node, "address"), size = yaml_tree_child(node, "size");
    if (!yaml_tree_child(node, "core"))
        return missing(x, node, "core: whose log it is");
    if (log->symbol ? address || size : !address || !size)
        return missing(x, node, "either symbol:, or address: and size:");
    return true;
}

static bool read_logs(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)into;
    return config_read_list(x, node, CONFIG_MAX_LOGS, read_log);
}

/* ---- profile ---- */

static bool read_listen(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    return config_address(x, node, true, config->listen, &config->listen_port);
}

static bool read_source_address(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config_source *source = into;
    return config_address(x, node, false, source->address, &source->port);
}

static bool read_source_core(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return set_core(x, node, &((struct config_source *)into)->core);
}

static bool read_source(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {{"address", read_source_address},
                                                 {"core", read_source_core}};
    struct config *config = into;
    struct config_source *source = &config->sources[config->source_count++];
    source->line = node->line;
    if (!CONFIG_READ_MAPPING(x, node, fields, source))
        return false;
    if (!yaml_tree_child(node, "address") || !yaml_tree_child(node, "core"))
        return missing(x, node, "address: of the sender and core: it stands for");
    for (const struct config_source *other = config->sources; other < source; other++)
        if (strcmp(other->address, source->address) == 0 && other->port == source->port)
            return config_refuse(x, yaml_tree_child(node, "address"), "an address that no other source has");
    return true;
}

static bool read_sources(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)into;
    return config_read_list(x, node, CONFIG_MAX_SOURCES, read_source);
}

static bool read_profile(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {{"listen", read_listen}, {"sources", read_sources}};
    ((struct config *)into)->profile_set = true;
    return CONFIG_READ_MAPPING(x, node, fields, into);
}

/* ---- the rest ---- */

/* Words of a link that are paths, made to start from the file: after these, up to a comma or '@'. */
static bool read_link(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct {
        const char *prefix;
        const char *ends;
    } kinds[] = {{"sim:", ","}, {"dry:@", ""}, {"shm:", "@"}, {"openocd:spawn:", ""}};
    struct config *config = into;
    if (!config_text(x, node, "a link, such as sim or openocd:HOST:PORT"))
        return false;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        size_t prefix = strlen(kinds[k].prefix);
        if (strncmp(node->text, kinds[k].prefix, prefix) != 0)
            continue;
        /* At most one directory for each path, and there are fewer paths than characters. */
        const char *in = node->text + prefix;
        size_t size = strlen(node->text) + 1, paths = 1;
        for (const char *c = in; *c; c++)
            paths += *c == ',';
        char *out = calloc(1, size + paths * x->directory);
        if (!out)
            return config_out_of_memory(x);
        memcpy(out, node->text, prefix);
        size_t used = prefix;
        bool more = true;
        while (more) {
            size_t length = strcspn(in, kinds[k].ends);
            if (in[0] != '/' && length > 0) {
                memcpy(out + used, x->file, x->directory);
                used += x->directory;
            }
            memcpy(out + used, in, length);
            used += length;
            in += length;
            more = *in == ',';
            if (more)
                out[used++] = *in++;
        }
        memcpy(out + used, in, strlen(in) + 1);
        config->link = out;
        return true;
    }
    config->link = config_copy(x, node->text);
    return config->link != NULL;
}

/* The switches of the virtual board: a line of them, or a list of such lines. */
static bool read_board(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    struct diag d = DIAG_INIT;
    size_t room = 1, used = 0;
    if (node->kind != YAML_TREE_LIST && !config_text(x, node, "switches, such as --identity m7,m33"))
        return false;
    const struct yaml_tree_node *first = node->kind == YAML_TREE_LIST ? node->first : node;
    for (const struct yaml_tree_node *n = first; n; n = node->kind == YAML_TREE_LIST ? n->next : NULL) {
        if (!config_text(x, n, "a switch, such as --level-halted"))
            return false;
        room += strlen(n->text) + 1;
    }
    config->board = calloc(1, room);
    if (!config->board)
        return config_out_of_memory(x);
    for (const struct yaml_tree_node *n = first; n; n = node->kind == YAML_TREE_LIST ? n->next : NULL) {
        memcpy(config->board + used, n->text, strlen(n->text));
        used += strlen(n->text);
        config->board[used++] = ' ';
    }
    if (link_sim_check_board(config->board, &d) == CORRAL_OK)
        return true;
    config_mistake(x->diag, x->file, node->line, "board: %s; expected switches of corral sim's board",
                   d.message);
    return false;
}

static bool read_clock(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    return config_number(x, node, 1, 1000000000, &((struct config *)into)->clock_hz);
}

static bool read_protocol(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const char expected[] = "swd or jtag";
    return config_text(x, node, expected) &&
           (connect_protocol_named(node->text, &((struct config *)into)->protocol) ||
            config_refuse(x, node, expected));
}

static bool read_connect(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const char expected[] = "attach, under-reset or pre-reset";
    return config_text(x, node, expected) &&
           (connect_mode_named(node->text, &((struct config *)into)->connect) ||
            config_refuse(x, node, expected));
}

static bool read_sync(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    struct config *config = into;
    config->sync_set = true;
    return config_bool(x, node, &config->sync);
}

static bool read_halt_channel(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    uint64_t value;
    if (!config_number(x, node, 0, 31, &value))
        return false;
    ((struct config *)into)->halt_channel = (int)value;
    return true;
}

static bool read_restart_channel(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    uint64_t value;
    if (!config_number(x, node, 0, 31, &value))
        return false;
    ((struct config *)into)->restart_channel = (int)value;
    return true;
}

static bool read_channels(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    static const struct config_field fields[] = {{"halt", read_halt_channel},
                                                 {"restart", read_restart_channel}};
    struct config *config = into;
    if (!CONFIG_READ_MAPPING(x, node, fields, config))
        return false;
    if (config->halt_channel >= 0 && config->halt_channel == config->restart_channel)
        return config_refuse(x, yaml_tree_child(node, "restart"), "another channel than halt's");
    return true;
}

/* Logs and sources name cores, which may stand below them in the file: they are read in a second pass. */
static bool read_later(struct config_context *x, const struct yaml_tree_node *node, void *into)
{
    (void)x;
    (void)node;
    (void)into;
    return true;
}

static bool read_config(struct config_context *x, const struct yaml_tree_node *root)
{
    static const struct config_field fields[] = {{"link", read_link},
                                                 {"board", read_board},
                                                 {"clock", read_clock},
                                                 {"protocol", read_protocol},
                                                 {"connect", read_connect},
                                                 {"sync", read_sync},
                                                 {"channels", read_channels},
                                                 {"cores", read_cores},
                                                 {"sdf", config_read_sdf},
                                                 {"pack", config_read_pack},
                                                 {"device", config_read_device},
                                                 {"cbuild-run", config_read_cbuild_run},
                                                 {"aps", config_read_aps},
                                                 {"patches", config_read_patches},
                                                 {"logs", read_later},
                                                 {"profile", read_later}};
    if (!CONFIG_READ_MAPPING(x, root, fields, x->config) || !config_check_description(x))
        return false;
    const struct yaml_tree_node *logs = yaml_tree_child(root, "logs"),
                                *profile = yaml_tree_child(root, "profile");
    return (!logs || read_logs(x, logs, x->config)) && (!profile || read_profile(x, profile, x->config));
}

struct config *config_parse(const char *path, const char *bytes, size_t size, struct diag *d)
{
    struct yaml_tree *tree = yaml_tree_parse(path, bytes, size, &config_limits, d);
    if (!tree)
        return NULL;
    const char *slash = strrchr(path, '/');
    struct config *config = calloc(1, sizeof(*config));
    struct config_context x = {
        .config = config, .file = path, .directory = slash ? (size_t)(slash - path) + 1 : 0, .diag = d};
    bool ok = config != NULL;
    if (ok) {
        config->halt_channel = config->restart_channel = config->listen_port = -1;
        config->file = config_copy(&x, path);
        ok = config->file && read_config(&x, yaml_tree_root(tree));
    } else {
        config_out_of_memory(&x);
    }
    yaml_tree_free(tree);
    if (ok)
        return config;
    config_free(config);
    return NULL;
}

struct config *config_load(const char *path, struct diag *d)
{
    /* One byte more than is allowed tells that there is more; a pipe or a device cannot run away. */
    char *bytes = malloc(CONFIG_MAX_BYTES + 1);
    if (!bytes) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory reading the configuration");
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, CONFIG_MAX_BYTES + 1, file) : 0;
    struct config *config = NULL;
    if (!file || ferror(file))
        config_mistake(d, path, 1, "%s; expected a readable configuration file", strerror(errno));
    else
        config = config_parse(path, bytes, size, d);
    if (file)
        fclose(file);
    free(bytes);
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->core_count; i++)
        free(config->cores[i].elf);
    for (size_t i = 0; i < config->log_count; i++)
        free(config->logs[i].symbol);
    free(config->link);
    free(config->board);
    free(config->sdf);
    free(config->pack);
    free(config->device);
    free(config->cbuild_run);
    free(config->file);
    free(config);
}

const struct config_core *config_core_on(const struct config *config, uint32_t ap)
{
    for (size_t i = 0; config && i < config->core_count; i++)
        if (config->cores[i].ap_set ? config->cores[i].ap == ap : i == ap)
            return &config->cores[i];
    return NULL;
}
