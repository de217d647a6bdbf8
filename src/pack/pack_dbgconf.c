/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .dbgconf of a project: finds the file that a description or the user names and hands its text to the
 * set, which reads it (sequence_set_configuration). Cross-trigger sheet 4.1 (debugvars), case C45. A file
 * that is not there is told and no mistake: the variables keep the description's values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "pack/pack_internal.h"

static bool is_there(const char *folder, const char *name)
{
    struct stat st;
    char path[PACK_MAX_PATH];
    int length = snprintf(path, sizeof(path), "%s%s", folder, name);
    return length > 0 && (size_t)length < sizeof(path) && stat(path, &st) == 0;
}

/* pack_read_named says IO for a file that is not there and for one that cannot be read. */
static bool is_missing(const struct pack_file *file, const char *name)
{
    const char *last = strrchr(name, '/');
    if (file->dbgconf)
        return !is_there("", file->dbgconf);
    if (file->kind == PACK_ARCHIVE)
        return true;
    if (file->kind == PACK_CBUILD_RUN)
        return !is_there(name[0] == '/' ? "" : file->folder, name);
    return !is_there(file->folder, name) && !(last && last[1] && is_there(file->folder, last + 1));
}

static bool take_text(struct sequence_set *set, const char *path, const char *bytes, size_t size,
                      struct diag *d)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const struct sequence_mark begin = {.offset = 0, .line = 1, .column = 1};
    if (size >= 3 && memcmp(bytes, byte_order_mark, 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    struct sequence_text text = {.bytes = bytes, .size = size, .marks = &begin, .mark_count = 1};
    return sequence_set_add_file(set, path, bytes, size, &text.file, d) == CORRAL_OK &&
           sequence_set_configuration(set, &text, d) == CORRAL_OK;
}

bool pack_dbgconf_apply(const struct pack_file *file, struct sequence_set *set, const char *named,
                        struct sequence_place place, struct sequence_problems *problems, struct diag *d)
{
    const char *name = file->dbgconf ? file->dbgconf : named;
    char *bytes = NULL, *path = NULL;
    size_t size = 0;
    struct diag own = DIAG_INIT;
    enum corral_err err;
    if (!name)
        return true;
    if (file->dbgconf) {
        err = pack_read_host(name, PACK_MAX_SIDE, &bytes, &size, &own);
        place = (struct sequence_place){0};
    } else {
        err = pack_read_named(file, name, PACK_MAX_SIDE, &bytes, &size, &path, &own);
    }
    if (err == CORRAL_ERR_IO && is_missing(file, name)) {
        char shown[PACK_SHOWN_SIZE];
        size_t width = text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
        sequence_problems_add(problems, SEQUENCE_WARNING, place, width ? (unsigned)width : 1, NULL,
                              "the configuration %.120s is not there (--dbgconf names another place): debug "
                              "variables keep their values",
                              shown);
        return true;
    }
    if (err != CORRAL_OK) {
        if (d)
            *d = own;
        return false;
    }
    bool ok = take_text(set, path ? path : name, bytes, size, d);
    free(bytes);
    free(path);
    return ok;
}
