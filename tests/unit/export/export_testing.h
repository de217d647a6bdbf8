/* SPDX-License-Identifier: Apache-2.0 */
/* What the exporter tests share: a fresh folder to write into, reading back, and the check that an exporter
 * left nothing but what it should. */
#ifndef CORRAL_TESTS_UNIT_EXPORT_EXPORT_TESTING_H
#define CORRAL_TESTS_UNIT_EXPORT_EXPORT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A new empty folder below the current one, to be removed with remove_folder. */
static inline void make_folder(char name[32])
{
    snprintf(name, 32, "export-test-XXXXXX");
    assert_non_null(mkdtemp(name));
}

static inline size_t entries_in(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static inline char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) < (1 << 20) - 1);
    fclose(f);
    return text;
}

static inline json_t *read_json(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s: line %d: %s", path, error.line, error.text);
    return root;
}

/* Takes the one file in the folder away, and the folder. */
static inline void remove_folder(const char *folder, const char *path)
{
    unlink(path);
    assert_int_equal(entries_in(folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

#endif
