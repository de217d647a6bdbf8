/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers of description files share: the file as it was read, its devices' names, and the files
 * that it names. Private to src/pack/ and its tests.
 *
 * pack.c opens, looks up, and owns struct pack_file and struct pack_device; a reader fills them.
 */
#ifndef CORRAL_PACK_PACK_INTERNAL_H
#define CORRAL_PACK_PACK_INTERNAL_H

#include "pack/pack.h"

#define PACK_MAX_BYTES   SEQUENCE_MAX_FILE /* of a description */
#define PACK_MAX_SIDE    (4 * 1024 * 1024) /* of a file that it names: SDF, .dbgconf */
#define PACK_MAX_PATH    4096
#define PACK_SHOWN_SIZE  160 /* of a name in messages, escaped and cut */
#define PACK_DESCRIPTION 1   /* of a device's set: the file that the description itself is */

struct pack_entry { /* a device or variant that can be named */
    char name[PACK_NAME_MAX];
    char vendor[SEQUENCE_NAME_MAX]; /* "" = not said */
    bool has_variants;              /* a device whose variants have entries of their own */
    size_t node;                    /* the reader's own number */
};

struct pack_file {
    enum pack_kind kind;
    char *path;   /* as it was given */
    char *folder; /* of the path: "" or with the slash at its end */
    char *name;   /* of the description, escaped, for messages: the path; of an archive PATH/NAME.pdsc */
    char *root, *dbgconf; /* struct pack_places; NULL = not said */
    char *bytes;          /* the description: without a byte order mark, with a NUL behind it */
    size_t size;
    struct pack_entry *entries;
    size_t entry_count, entry_room;
    /* Of the reader. */
    struct pack_pdsc *pdsc;
    struct pack_cbuild *cbuild;
    struct pack_archive *archive;
};

/* ---- pack.c, for the readers */

/* "FILE:LINE: words" as CORRAL_ERR_FORMAT, the same as object. False. */
bool pack_mistake(const struct pack_file *file, unsigned line, struct diag *d, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* One more device. False with *d set: memory, PACK_MAX_DEVICES, a name that is too long. `line` for words. */
bool pack_add_entry(struct pack_file *file, const struct pack_entry *entry, unsigned line, struct diag *d);
bool pack_no_memory(struct diag *d); /* False */
char *pack_shown(const char *text);  /* escaped for messages, to be freed; NULL when memory is out */

/* ---- pack_find.c */

/* NULL with *d set: CORRAL_ERR_USAGE, with names as hint. `name` NULL or "" = the only one. */
const struct pack_entry *pack_find(const struct pack_file *file, const char *name, struct diag *d);

/* ---- pack_read.c: files of the host, and those that a description names */

/* The whole file with a NUL behind it, to be freed. CORRAL_ERR_IO; CORRAL_ERR_LIMIT above `most` bytes. */
enum corral_err pack_read_host(const char *path, size_t most, char **bytes, size_t *size, struct diag *d);
/*
 * A file that the description names. PDSC: from its folder, or, by the last part of its name, next to it;
 * archive: in it. Their names may lead nowhere else (CORRAL_ERR_FORMAT for "../", "/x", "C:\x"). cbuild-run:
 * any path, from its folder. CORRAL_ERR_IO: it is not there. *path is where it was found, to be freed, for
 * messages.
 */
enum corral_err pack_read_named(const struct pack_file *file, const char *name, size_t most, char **bytes,
                                size_t *size, char **path, struct diag *d);

/* ---- pack_pdsc.c */

bool pack_pdsc_parse(struct pack_file *file, struct sequence_problems *problems, struct diag *d);
bool pack_pdsc_describe(const struct pack_file *file, const struct pack_entry *entry,
                        struct pack_device *device, struct sequence_problems *problems, struct diag *d);
void pack_pdsc_free(struct pack_pdsc *pdsc); /* NULL is allowed */

/* ---- pack_archive.c */

/* Makes file->archive of file->path, or of `bytes` where they are not NULL, and takes its one .pdsc: sets
 * file->bytes, size and name. */
bool pack_archive_open(struct pack_file *file, const char *bytes, size_t size, struct diag *d);
/* A file in it, as pack_read_host. */
enum corral_err pack_archive_read(const struct pack_archive *archive, const char *name, size_t most,
                                  char **bytes, size_t *size, struct diag *d);
void pack_archive_free(struct pack_archive *archive); /* NULL is allowed */

/* ---- pack_cbuild.c */

/* file->bytes is the text; adds one entry by pack_add_entry and may keep what it likes in file->cbuild. */
bool pack_cbuild_parse(struct pack_file *file, struct sequence_problems *problems, struct diag *d);
/* `device` is zeroed but for name, file, swj (true) and set, which has the description as its file
 * PACK_DESCRIPTION and nothing else. False with *d set: pack.c frees the device with all that is in it. */
bool pack_cbuild_describe(const struct pack_file *file, const struct pack_entry *entry,
                          struct pack_device *device, struct sequence_problems *problems, struct diag *d);
void pack_cbuild_free(struct pack_cbuild *cbuild); /* NULL is allowed */

/* ---- pack_dbgconf.c */

/*
 * The values of a .dbgconf over those of the set's debugvars, after all of these are in it: file->dbgconf
 * where the user named one, else `named` by pack_read_named (NULL = none). One that is not there is a
 * warning; one that cannot be read, an error. `place` is where it is named.
 */
bool pack_dbgconf_apply(const struct pack_file *file, struct sequence_set *set, const char *named,
                        struct sequence_place place, struct sequence_problems *problems, struct diag *d);

#endif
