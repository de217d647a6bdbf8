/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A .pack archive, which is a ZIP file: the one .pdsc in its root, and files that it names, into memory and
 * never to disk. By libarchive, which gets no other format and no filter. The archive is from outside: what
 * is read of it, how many entries it has and how large a file becomes is bounded; links, encrypted files and
 * names that lead out of it are refused.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_internal.h"

#ifdef CORRAL_HAVE_ARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_ENTRIES 65536
#define MAX_DIRECTORY                                                                                      \
    (16 * 1024 * 1024)                   /* bytes read until the first entry is known: the ZIP's directory \
                                          */
#define ENTRY_BYTES (256 * 1024)         /* and for each entry that is passed */
#define MAX_COPY    (256u * 1024 * 1024) /* of an archive in memory */
#define STEP        16384

struct pack_archive {
    char *path;     /* of the file */
    char *name;     /* the same, for messages */
    uint8_t *bytes; /* the whole, when it was handed over; else NULL */
    size_t size;
};

/* One look through the archive. */
struct look {
    const struct pack_archive *archive;
    struct archive *reader;
    struct diag *d;
    FILE *in;
    int64_t at, size;
    int64_t allowance; /* bytes that may still be read */
    bool spent;        /* more was wanted */
    uint8_t step[STEP];
};

static enum corral_err refuse(const struct pack_archive *a, enum corral_err err, struct diag *d,
                              const char *what, const char *name)
{
    char shown[96];
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    size_t length = strlen(a->name);
    const char *end = length > 96 ? a->name + length - 96 : a->name;
    diag_set(d, err, "%s: %s%s%s", end, what, *shown ? ": " : "", shown);
    diag_object(d, "%s", end);
    return err;
}

/* ---- what libarchive reads by */

static la_ssize_t on_read(struct archive *reader, void *ctx, const void **out)
{
    struct look *l = ctx;
    size_t size = l->size - l->at < STEP ? (size_t)(l->size - l->at) : STEP;
    l->allowance -= (int64_t)size;
    if (l->allowance < 0) {
        l->spent = true;
        archive_set_error(reader, EINVAL, "too much is read");
        return ARCHIVE_FATAL;
    }
    if (l->archive->bytes) {
        *out = l->archive->bytes + l->at;
    } else {
        *out = l->step;
        size = fseeko(l->in, l->at, SEEK_SET) == 0 ? fread(l->step, 1, size, l->in) : 0;
        if (size == 0 && l->at < l->size) {
            archive_set_error(reader, EIO, "it cannot be read");
            return ARCHIVE_FATAL;
        }
    }
    l->at += (int64_t)size;
    return (la_ssize_t)size;
}

static la_int64_t on_seek(struct archive *reader, void *ctx, la_int64_t offset, int whence)
{
    struct look *l = ctx;
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? l->at : l->size;
    (void)reader;
    if (offset < -from || offset > l->size - from)
        return ARCHIVE_FATAL;
    l->at = from + offset;
    return l->at;
}

static la_int64_t on_skip(struct archive *reader, void *ctx, la_int64_t request)
{
    struct look *l = ctx;
    int64_t left = l->size - l->at;
    (void)reader;
    request = request < 0 ? 0 : request > left ? left : request;
    l->at += request;
    return request;
}

static enum corral_err open_file(struct look *l)
{
    const struct pack_archive *a = l->archive;
    struct stat st;
    if (a->bytes) {
        l->size = (int64_t)a->size;
        return CORRAL_OK;
    }
    if (stat(a->path, &st) != 0)
        return refuse(a, CORRAL_ERR_IO, l->d, "cannot read it", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(a, CORRAL_ERR_IO, l->d, "cannot read it, for it is not a file", "");
    l->in = fopen(a->path, "rb");
    if (!l->in)
        return refuse(a, CORRAL_ERR_IO, l->d, "cannot read it", strerror(errno));
    l->size = st.st_size;
    return CORRAL_OK;
}

/* libarchive's complaint, or ours where what it read was bounded. */
static enum corral_err complain(struct look *l)
{
    char words[128];
    const char *own = archive_error_string(l->reader);
    snprintf(words, sizeof(words), "%s", own ? own : "");
    words[strcspn(words, "\r\n")] = '\0';
    if (l->spent)
        return refuse(l->archive, CORRAL_ERR_LIMIT, l->d, "more is to be read of it than a pack has", "");
    return refuse(l->archive, CORRAL_ERR_FORMAT, l->d, "this is no ZIP archive that can be read", words);
}

static enum corral_err begin(struct look *l)
{
    enum corral_err err = open_file(l);
    if (err != CORRAL_OK)
        return err;
    l->allowance = MAX_DIRECTORY;
    l->reader = archive_read_new();
    if (!l->reader) {
        pack_no_memory(l->d);
        return CORRAL_ERR_NO_MEMORY;
    }
    archive_read_support_format_zip_seekable(l->reader);
    archive_read_set_read_callback(l->reader, on_read);
    archive_read_set_seek_callback(l->reader, on_seek);
    archive_read_set_skip_callback(l->reader, on_skip);
    archive_read_set_callback_data(l->reader, l);
    return archive_read_open1(l->reader) == ARCHIVE_OK ? CORRAL_OK : complain(l);
}

static void end(struct look *l)
{
    if (l->reader)
        archive_read_free(l->reader);
    if (l->in)
        fclose(l->in);
    l->reader = NULL;
    l->in = NULL;
}

/* ---- entries */

/* "../" anywhere, "/" or a drive in front. Both slashes count, as some packs have the other one. */
static bool leads_out(const char *name)
{
    if (name[0] == '/' || name[0] == '\\' || strchr(name, ':'))
        return true;
    for (const char *part = name; part; part = strpbrk(part, "/\\")) {
        part += *part == '/' || *part == '\\';
        if (part[0] == '.' && part[1] == '.' && strchr("/\\", part[2]))
            return true;
    }
    return false;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '\\' && *b == '/'))
            return false;
    return *a == *b;
}

/* The next entry; *name NULL at the end. An archive that tries to lead out is refused as a whole. */
static enum corral_err next_entry(struct look *l, size_t number, struct archive_entry **entry,
                                  const char **name)
{
    int result = archive_read_next_header(l->reader, entry);
    *name = NULL;
    if (result == ARCHIVE_EOF)
        return CORRAL_OK;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
        return complain(l);
    if (number >= MAX_ENTRIES)
        return refuse(l->archive, CORRAL_ERR_LIMIT, l->d, "it has more than 65536 entries", "");
    l->allowance = ENTRY_BYTES;
    const char *found = archive_entry_pathname(*entry);
    if (!found)
        found = archive_entry_pathname_utf8(*entry);
    if (!found)
        found = "?"; /* one that cannot be said in this locale is none that is looked for */
    if (leads_out(found))
        return refuse(l->archive, CORRAL_ERR_FORMAT, l->d, "an entry's name leads out of the archive", found);
    *name = found;
    return CORRAL_OK;
}

static bool is_description(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcasecmp(name + length - 5, ".pdsc") == 0 && !strpbrk(name, "/\\");
}

/* Packs are stored or deflated. Other ways to compress take as much memory as the archive says. */
static bool is_plain(struct look *l)
{
    const char *format = archive_format_name(l->reader);
    return format && (strstr(format, "(uncompressed)") || strstr(format, "(deflation)"));
}

/* The entry's bytes: as many as it says, and no more than `most`. */
static enum corral_err take(struct look *l, struct archive_entry *entry, const char *name, size_t most,
                            char **bytes, size_t *size)
{
    const struct pack_archive *a = l->archive;
    if (archive_entry_is_encrypted(entry))
        return refuse(a, CORRAL_ERR_FORMAT, l->d, "an entry is encrypted", name);
    if (archive_entry_symlink(entry) || archive_entry_hardlink(entry) ||
        archive_entry_filetype(entry) != AE_IFREG)
        return refuse(a, CORRAL_ERR_FORMAT, l->d, "an entry is a link, not a file", name);
    if (!is_plain(l))
        return refuse(a, CORRAL_ERR_FORMAT, l->d, "an entry is neither stored nor deflated", name);
    int64_t said = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
    if (said > (int64_t)most)
        return refuse(a, CORRAL_ERR_LIMIT, l->d, "an entry is too large", name);
    l->allowance = (int64_t)most + ENTRY_BYTES;
    size_t room = 0, have = 0;
    char *all = NULL;
    for (;;) {
        if (room - have < 2) {
            room = room ? 2 * room : 65536;
            room = room > most + 2 ? most + 2 : room;
            char *larger = realloc(all, room);
            if (!larger) {
                free(all);
                pack_no_memory(l->d);
                return CORRAL_ERR_NO_MEMORY;
            }
            all = larger;
        }
        la_ssize_t n = archive_read_data(l->reader, all + have, room - 1 - have);
        if (n < 0) {
            free(all);
            return complain(l);
        }
        have += (size_t)n;
        if (n == 0 || have > most)
            break;
    }
    if (have > most || (said >= 0 && (size_t)said != have)) {
        free(all);
        return refuse(a, CORRAL_ERR_FORMAT, l->d, "an entry's size is not the one that is said", name);
    }
    all[have] = '\0';
    *bytes = all;
    *size = have;
    return CORRAL_OK;
}

enum corral_err pack_archive_read(const struct pack_archive *archive, const char *name, size_t most,
                                  char **bytes, size_t *size, struct diag *d)
{
    struct look *l = calloc(1, sizeof(*l));
    if (!l) {
        pack_no_memory(d);
        return CORRAL_ERR_NO_MEMORY;
    }
    l->archive = archive;
    l->d = d;
    enum corral_err err = begin(l);
    for (size_t i = 0; err == CORRAL_OK && !*bytes; i++) {
        struct archive_entry *entry;
        const char *found;
        err = next_entry(l, i, &entry, &found);
        if (err == CORRAL_OK && !found) {
            err = refuse(archive, CORRAL_ERR_IO, d, "there is no such entry", name);
            break;
        }
        if (err == CORRAL_OK && same_name(found, name))
            err = take(l, entry, found, most, bytes, size);
    }
    end(l);
    free(l);
    return err;
}

/* ---- the description */

/* All entries are looked at: there must be one, and one only. */
static enum corral_err take_description(struct look *l, struct pack_file *file)
{
    char *first = NULL; /* its name */
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; err == CORRAL_OK; i++) {
        struct archive_entry *entry;
        const char *found;
        err = next_entry(l, i, &entry, &found);
        if (err != CORRAL_OK || !found)
            break;
        if (!is_description(found))
            continue;
        if (first) {
            err = refuse(l->archive, CORRAL_ERR_FORMAT, l->d, "more than one .pdsc is in its root", found);
            break;
        }
        first = pack_shown(found);
        if (!first) {
            pack_no_memory(l->d);
            err = CORRAL_ERR_NO_MEMORY;
        } else {
            err = take(l, entry, found, PACK_MAX_BYTES, &file->bytes, &file->size);
        }
    }
    if (err == CORRAL_OK && !first)
        err = refuse(l->archive, CORRAL_ERR_FORMAT, l->d, "no .pdsc is in its root", "");
    if (err == CORRAL_OK) {
        size_t size = strlen(file->name) + strlen(first) + 2;
        char *name = malloc(size);
        if (name) {
            snprintf(name, size, "%s/%s", file->name, first);
            free(file->name);
            file->name = name;
        } else {
            pack_no_memory(l->d);
            err = CORRAL_ERR_NO_MEMORY;
        }
    }
    free(first);
    return err;
}

bool pack_archive_open(struct pack_file *file, const char *bytes, size_t size, struct diag *d)
{
    struct pack_archive *a = file->archive = calloc(1, sizeof(*a));
    struct look *l = calloc(1, sizeof(*l));
    bool ok = a && l && (a->path = strdup(file->path)) && (a->name = strdup(file->name));
    if (ok && bytes && size > MAX_COPY) {
        refuse(a, CORRAL_ERR_LIMIT, d, "it is larger than 256 MB", "");
        free(l);
        return false;
    }
    if (ok && bytes) {
        a->bytes = malloc(size ? size : 1);
        ok = a->bytes != NULL;
        if (ok && size)
            memcpy(a->bytes, bytes, size);
        a->size = size;
    }
    if (!ok) {
        free(l);
        return pack_no_memory(d);
    }
    l->archive = a;
    l->d = d;
    enum corral_err err = begin(l);
    if (err == CORRAL_OK)
        err = take_description(l, file);
    end(l);
    free(l);
    return err == CORRAL_OK;
}

void pack_archive_free(struct pack_archive *archive)
{
    if (!archive)
        return;
    free(archive->path);
    free(archive->name);
    free(archive->bytes);
    free(archive);
}

#else

bool pack_archive_open(struct pack_file *file, const char *bytes, size_t size, struct diag *d)
{
    (void)bytes;
    (void)size;
    diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s: this corral was built without libarchive and reads no .pack",
             file->name);
    return false;
}

enum corral_err pack_archive_read(const struct pack_archive *archive, const char *name, size_t most,
                                  char **bytes, size_t *size, struct diag *d)
{
    (void)archive;
    (void)most;
    (void)bytes;
    (void)size;
    return diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s cannot be read without libarchive", name);
}

void pack_archive_free(struct pack_archive *archive)
{
    (void)archive;
}

#endif
