/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Description files: opening by the name's end, devices by name, compiling. pack.h. What a file says is its
 * reader's matter (pack_pdsc.c, pack_cbuild.c).
 */
#include "pack/pack.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_internal.h"

bool pack_mistake(const struct pack_file *file, unsigned line, struct diag *d, const char *fmt, ...)
{
    char words[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof(words), fmt, args);
    va_end(args);
    /* The words count: of a long path its end is shown. */
    size_t length = strlen(file->name);
    const char *name = length > 96 ? file->name + length - 96 : file->name;
    diag_set(d, CORRAL_ERR_FORMAT, "%s:%u: %s", name, line, words);
    diag_object(d, "%s:%u", name, line);
    return false;
}

char *pack_shown(const char *text)
{
    size_t size = strlen(text);
    char *shown = malloc(TEXT_CLEAN_MAX(size));
    if (shown)
        text_escape((const uint8_t *)text, size, shown, TEXT_CLEAN_MAX(size));
    return shown;
}

bool pack_no_memory(struct diag *d)
{
    diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    return false;
}

bool pack_add_entry(struct pack_file *file, const struct pack_entry *entry, unsigned line, struct diag *d)
{
    if (file->entry_count >= PACK_MAX_DEVICES) {
        pack_mistake(file, line, d, "too many devices; at most %d are expected", PACK_MAX_DEVICES);
        if (d)
            d->code = CORRAL_ERR_LIMIT;
        return false;
    }
    if (file->entry_count == file->entry_room) {
        size_t room = file->entry_room ? 2 * file->entry_room : 64;
        struct pack_entry *larger = realloc(file->entries, room * sizeof(*larger));
        if (!larger)
            return pack_no_memory(d);
        file->entries = larger;
        file->entry_room = room;
    }
    file->entries[file->entry_count++] = *entry;
    return true;
}

/* ---- opening */

static bool has_end(const char *path, const char *end)
{
    size_t length = strlen(path), wanted = strlen(end);
    return length > wanted && strcasecmp(path + length - wanted, end) == 0;
}

static bool kind_of(const char *path, enum pack_kind *kind, struct diag *d)
{
    if (has_end(path, ".pdsc")) {
        *kind = PACK_PDSC;
    } else if (has_end(path, ".pack") || has_end(path, ".zip")) {
        *kind = PACK_ARCHIVE;
    } else if (has_end(path, ".yml") || has_end(path, ".yaml")) {
        *kind = PACK_CBUILD_RUN;
    } else {
        char shown[PACK_SHOWN_SIZE];
        text_escape((const uint8_t *)path, strlen(path), shown, sizeof(shown));
        diag_set(d, CORRAL_ERR_USAGE, "%s is no description file by its name", shown);
        diag_hint(d, "expected is a .pdsc, a .pack (or .zip), or a .cbuild-run.yml");
        diag_object(d, "%s", shown);
        return false;
    }
    return true;
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

static struct pack_file *new_file(enum pack_kind kind, const char *path, const struct pack_places *places,
                                  struct diag *d)
{
    struct pack_file *file = calloc(1, sizeof(*file));
    const char *slash = strrchr(path, '/');
    if (file) {
        file->kind = kind;
        file->path = strdup(path);
        file->folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
        file->name = pack_shown(path);
        file->root = copy_of(places ? places->pack_root : NULL);
        file->dbgconf = copy_of(places ? places->dbgconf : NULL);
    }
    if (file && file->path && file->folder && file->name && (file->root || !places || !places->pack_root) &&
        (file->dbgconf || !places || !places->dbgconf))
        return file;
    pack_close(file);
    pack_no_memory(d);
    return NULL;
}

/* What the file's own bytes are, and then what they say. Frees the file on failure. */
static struct pack_file *parse(struct pack_file *file, struct sequence_problems *problems, struct diag *d)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (file->size >= 3 && memcmp(file->bytes, mark, 3) == 0) {
        file->size -= 3;
        memmove(file->bytes, file->bytes + 3, file->size + 1);
    }
    bool ok = file->kind == PACK_CBUILD_RUN ? pack_cbuild_parse(file, problems, d)
                                            : pack_pdsc_parse(file, problems, d);
    if (ok)
        return file;
    pack_close(file);
    return NULL;
}

/* `ok`: its bytes are there. */
static struct pack_file *finish(struct pack_file *file, bool ok, struct sequence_problems *problems,
                                struct diag *d)
{
    struct sequence_problems none = {0};
    if (ok) {
        file = parse(file, problems ? problems : &none, d);
    } else {
        pack_close(file);
        file = NULL;
    }
    sequence_problems_clear(&none);
    return file;
}

struct pack_file *pack_open(const char *path, const struct pack_places *places,
                            struct sequence_problems *problems, struct diag *d)
{
    struct diag own = DIAG_INIT;
    enum pack_kind kind;
    d = d ? d : &own;
    if (!kind_of(path, &kind, d))
        return NULL;
    struct pack_file *file = new_file(kind, path, places, d);
    if (!file)
        return NULL;
    bool ok = kind == PACK_ARCHIVE
                  ? pack_archive_open(file, NULL, 0, d)
                  : pack_read_host(path, PACK_MAX_BYTES, &file->bytes, &file->size, d) == CORRAL_OK;
    return finish(file, ok, problems, d);
}

struct pack_file *pack_parse(enum pack_kind kind, const char *path, const char *bytes, size_t size,
                             const struct pack_places *places, struct sequence_problems *problems,
                             struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    struct pack_file *file = new_file(kind, path, places, d);
    if (!file)
        return NULL;
    bool ok = true;
    if (kind == PACK_ARCHIVE) {
        ok = pack_archive_open(file, bytes, size, d);
    } else if (size > PACK_MAX_BYTES) {
        diag_set(d, CORRAL_ERR_LIMIT, "cannot read %s: it is larger than %d bytes", file->name,
                 PACK_MAX_BYTES);
        ok = false;
    } else if ((file->bytes = malloc(size + 1))) {
        if (size)
            memcpy(file->bytes, bytes, size);
        file->bytes[size] = '\0';
        file->size = size;
    } else {
        ok = pack_no_memory(d);
    }
    return finish(file, ok, problems, d);
}

void pack_close(struct pack_file *file)
{
    if (!file)
        return;
    pack_pdsc_free(file->pdsc);
    pack_cbuild_free(file->cbuild);
    pack_archive_free(file->archive);
    free(file->entries);
    free(file->bytes);
    free(file->path);
    free(file->folder);
    free(file->name);
    free(file->root);
    free(file->dbgconf);
    free(file);
}

enum pack_kind pack_kind_of(const struct pack_file *file)
{
    return file->kind;
}

const char *pack_path(const struct pack_file *file)
{
    return file->path;
}

size_t pack_device_count(const struct pack_file *file)
{
    return file->entry_count;
}

const char *pack_device_name(const struct pack_file *file, size_t i)
{
    return i < file->entry_count ? file->entries[i].name : NULL;
}

/* ---- a device */

struct pack_device *pack_describe(struct pack_file *file, const char *name,
                                  struct sequence_problems *problems, struct diag *d)
{
    struct diag own = DIAG_INIT;
    struct sequence_problems none = {0};
    unsigned number = 0;
    d = d ? d : &own;
    const struct pack_entry *entry = pack_find(file, name, d);
    struct pack_device *device = entry ? calloc(1, sizeof(*device)) : NULL;
    if (!entry)
        return NULL;
    if (!device || !(device->set = sequence_set_new())) {
        pack_device_free(device);
        pack_no_memory(d);
        return NULL;
    }
    snprintf(device->name, sizeof(device->name), "%s", entry->name);
    device->file = file;
    device->swj = true;
    bool ok =
        sequence_set_lend_file(device->set, file->name, file->bytes, file->size, &number, d) == CORRAL_OK &&
        number == PACK_DESCRIPTION;
    problems = problems ? problems : &none;
    if (ok)
        ok = file->kind == PACK_CBUILD_RUN ? pack_cbuild_describe(file, entry, device, problems, d)
                                           : pack_pdsc_describe(file, entry, device, problems, d);
    sequence_problems_clear(&none);
    if (ok)
        return device;
    pack_device_free(device);
    return NULL;
}

void pack_device_free(struct pack_device *device)
{
    if (!device)
        return;
    for (size_t i = 0; i < device->output_count; i++)
        free(device->outputs[i].path);
    sdf_free(device->sdf);
    sequence_set_free(device->set);
    free(device);
}

/* ---- what is made of it */

/* Armv7-M: their AIRCR has VECTRESET (sheet 4.8). */
static bool has_vector_reset(const char *core)
{
    static const char *const v7m[] = {"Cortex-M3", "Cortex-M4", "Cortex-M7", "SC300"};
    for (size_t i = 0; i < sizeof(v7m) / sizeof(v7m[0]); i++) {
        size_t length = strlen(v7m[i]);
        if (strncasecmp(core, v7m[i], length) == 0 && !isdigit((unsigned char)core[length]))
            return true;
    }
    return false;
}

struct sequence_program *pack_compile(const struct pack_device *device, struct sequence_problems *problems,
                                      struct diag *d)
{
    struct sequence_processor processors[PACK_MAX_PROCESSORS];
    for (size_t i = 0; i < device->processor_count; i++)
        processors[i] = (struct sequence_processor){device->processors[i].pname,
                                                    has_vector_reset(device->processors[i].core)};
    struct sequence_setting setting = {.processors = processors,
                                       .processor_count = device->processor_count,
                                       .has_access_ports = device->ap_count > 0};
    return sequence_compile(device->set, &setting, problems, d);
}

const struct pack_processor *pack_processor_named(const struct pack_device *device, const char *pname)
{
    for (size_t i = 0; i < device->processor_count; i++)
        if (strcmp(device->processors[i].pname, pname ? pname : "") == 0)
            return &device->processors[i];
    return NULL;
}

const struct pack_access_port *pack_access_port_of(const struct pack_device *device, uint32_t id)
{
    for (size_t i = 0; i < device->ap_count; i++)
        if (device->aps[i].id == id)
            return &device->aps[i];
    return NULL;
}
