/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No file of `corral profile` is written over another of the same command line (profile_files.h). Compares
 * what the names lead to, not the names; opens nothing.
 */
#include "cli/profile_files.h"

#include <string.h>
#include <sys/stat.h>

/* Where a file would be made: its folder, and its name there; false where there is no such folder. */
static bool place_of(const char *path, struct stat *folder, const char **name)
{
    char text[4096] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof(text))
        return false;
    if (slash) {
        memcpy(text, path, length);
        text[length] = '\0';
    }
    *name = slash ? slash + 1 : path;
    return stat(text, folder) == 0;
}

static bool same_stat(const struct stat *x, const struct stat *y)
{
    return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

/* A terminal, a pipe and /dev/null may well be written to twice. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *name_a, *name_b;
    bool is_a = stat(a, &x) == 0, is_b = stat(b, &y) == 0;
    if (is_a && is_b)
        return S_ISREG(x.st_mode) && same_stat(&x, &y);
    return !is_a && !is_b && place_of(a, &x, &name_a) && place_of(b, &y, &name_b) && same_stat(&x, &y) &&
           strcmp(name_a, name_b) == 0;
}

static enum corral_err refuse(const char *path, const char *why, struct diag *d)
{
    diag_set(d, CORRAL_ERR_USAGE, "--export: %.200s: %s", path, why);
    diag_object(d, "%.150s", path);
    return CORRAL_ERR_USAGE;
}

enum corral_err profile_files_check(const struct profile_options *o, struct profiling *profiling,
                                    struct diag *d)
{
    const struct symbol_index *image;
    for (size_t i = 0; i < o->export_count; i++) {
        const char *path = o->exports[i].path;
        for (size_t k = 0; k < i; k++)
            if (same_file(path, o->exports[k].path))
                return refuse(path, "two exports cannot be one file", d);
        for (size_t k = 0; k < o->pcap_count; k++)
            if (same_file(path, strcmp(o->pcaps[k], "-") == 0 ? "/dev/stdin" : o->pcaps[k]))
                return refuse(path, "it is the capture that is to be read", d);
        for (size_t k = 0; (image = profiling_image(profiling, k)) != NULL; k++)
            if (same_file(path, symbol_path(image)))
                return refuse(path, "it is the ELF file that the names come from", d);
    }
    return CORRAL_OK;
}
