/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the host, and those that a description names: pack_internal.h. A pack's names lead nowhere but
 * into the pack; nothing is written anywhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "pack/pack_internal.h"

static enum corral_err refuse(const char *path, enum corral_err err, struct diag *d, const char *why)
{
    char shown[PACK_SHOWN_SIZE];
    text_escape((const uint8_t *)path, strlen(path), shown, sizeof(shown));
    diag_set(d, err, "cannot read %s: %s", shown, why);
    diag_object(d, "%s", shown);
    return err;
}

/* In steps, so that a size that is not true costs nothing. */
static enum corral_err read_all(FILE *in, const char *path, size_t most, char **bytes, size_t *size,
                                struct diag *d)
{
    size_t room = 0, have = 0;
    char *all = NULL;
    for (;;) {
        if (have + 1 >= room) {
            room = room ? 2 * room : 65536;
            room = room > most + 2 ? most + 2 : room;
            char *larger = realloc(all, room);
            if (!larger) {
                free(all);
                pack_no_memory(d);
                return CORRAL_ERR_NO_MEMORY;
            }
            all = larger;
        }
        size_t n = fread(all + have, 1, room - 1 - have, in);
        have += n;
        if (n == 0 || have > most)
            break;
    }
    if (ferror(in) || have > most) {
        char why[64];
        snprintf(why, sizeof(why), "it is larger than %zu bytes", most);
        free(all);
        return have > most ? refuse(path, CORRAL_ERR_LIMIT, d, why)
                           : refuse(path, CORRAL_ERR_IO, d, strerror(errno));
    }
    all[have] = '\0';
    *bytes = all;
    *size = have;
    return CORRAL_OK;
}

enum corral_err pack_read_host(const char *path, size_t most, char **bytes, size_t *size, struct diag *d)
{
    struct stat st;
    *bytes = NULL;
    *size = 0;
    /* A pipe or a device might never end, or answer. */
    if (stat(path, &st) != 0)
        return refuse(path, CORRAL_ERR_IO, d, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(path, CORRAL_ERR_IO, d, "it is not a file");
    FILE *in = fopen(path, "rb");
    if (!in)
        return refuse(path, CORRAL_ERR_IO, d, strerror(errno));
    enum corral_err err = read_all(in, path, most, bytes, size, d);
    fclose(in);
    return err;
}

/* Packs are also made on hosts whose names have backslashes. NULL with *d set when it leads elsewhere. */
static char *inner_name(const struct pack_file *file, const char *name, struct diag *d)
{
    size_t length = strlen(name);
    char *inner = length < PACK_MAX_PATH ? strdup(name) : NULL;
    if (!inner && length < PACK_MAX_PATH) {
        pack_no_memory(d);
        return NULL;
    }
    bool leads_out = !inner || name[0] == '/' || name[0] == '\\' || strchr(name, ':');
    for (char *p = inner; p && *p; p++)
        if (*p == '\\')
            *p = '/';
    for (const char *part = inner; part && !leads_out; part = strchr(part, '/')) {
        part += *part == '/';
        leads_out = strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0');
    }
    if (!leads_out)
        return inner;
    char shown[PACK_SHOWN_SIZE];
    text_escape((const uint8_t *)name, length, shown, sizeof(shown));
    diag_set(d, CORRAL_ERR_FORMAT, "%s names '%.80s', which is not a file of the pack", file->name, shown);
    diag_object(d, "%s", file->name);
    free(inner);
    return NULL;
}

static char *joined(const char *folder, const char *name, struct diag *d)
{
    size_t size = strlen(folder) + strlen(name) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s", folder, name);
    else
        pack_no_memory(d);
    return path;
}

static enum corral_err read_at(const char *folder, const char *name, size_t most, char **bytes, size_t *size,
                               char **path, struct diag *d)
{
    *path = joined(folder, name, d);
    enum corral_err err = *path ? pack_read_host(*path, most, bytes, size, d) : CORRAL_ERR_NO_MEMORY;
    if (err != CORRAL_OK) {
        free(*path);
        *path = NULL;
    }
    return err;
}

enum corral_err pack_read_named(const struct pack_file *file, const char *name, size_t most, char **bytes,
                                size_t *size, char **path, struct diag *d)
{
    *bytes = NULL;
    *path = NULL;
    *size = 0;
    if (file->kind == PACK_CBUILD_RUN)
        return read_at(name[0] == '/' ? "" : file->folder, name, most, bytes, size, path, d);
    char *inner = inner_name(file, name, d);
    if (!inner)
        return d && d->code == CORRAL_ERR_NO_MEMORY ? CORRAL_ERR_NO_MEMORY : CORRAL_ERR_FORMAT;
    enum corral_err err;
    if (file->kind == PACK_ARCHIVE) {
        err = pack_archive_read(file->archive, inner, most, bytes, size, d);
        if (err == CORRAL_OK && !(*path = joined("", inner, d))) {
            free(*bytes);
            *bytes = NULL;
            err = CORRAL_ERR_NO_MEMORY;
        }
    } else {
        err = read_at(file->folder, inner, most, bytes, size, path, d);
        /* A description that was taken out of its pack, with what it names beside it. */
        const char *last = strrchr(inner, '/');
        struct diag second = DIAG_INIT;
        if (err == CORRAL_ERR_IO && last && last[1] &&
            read_at(file->folder, last + 1, most, bytes, size, path, &second) == CORRAL_OK)
            err = CORRAL_OK;
    }
    free(inner);
    return err;
}
