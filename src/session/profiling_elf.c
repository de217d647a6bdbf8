/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image is whose (profiling.h): the words of --elf, and for each sender the space of all that is meant
 * for it. Senders with the same images share a space, so that a flood of forged senders costs nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "session/profiling_internal.h"

/* --- the words of --elf --------------------------------------------------------------------------------- */

struct elf_words {
    char sender[256]; /* "" = all */
    char file[4096];
    uint64_t offset;
};

/* "[+-]NUMBER", whole. */
static bool parse_offset(const char *text, uint64_t *offset)
{
    bool minus = text[0] == '-';
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    char *end = NULL;
    errno = 0;
    if (!isdigit((unsigned char)digits[0]))
        return false;
    uint64_t value = strtoull(digits, &end, 0);
    if (*end || errno)
        return false;
    *offset = minus ? 0 - value : value;
    return true;
}

static bool copy(char *out, size_t size, const char *text, size_t length)
{
    if (length >= size)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* Take the words apart, with a sender or not, with an offset or not; false where that is not possible. */
static bool split(const char *words, bool sender, bool offset, struct elf_words *w)
{
    *w = (struct elf_words){.offset = 0};
    const char *equals = sender ? strchr(words, '=') : NULL;
    if (sender &&
        (!equals || equals == words || !copy(w->sender, sizeof(w->sender), words, (size_t)(equals - words))))
        return false;
    const char *file = equals ? equals + 1 : words;
    const char *at = offset ? strrchr(file, '@') : NULL;
    if (offset && (!at || !parse_offset(at + 1, &w->offset)))
        return false;
    return file[0] && copy(w->file, sizeof(w->file), file, at ? (size_t)(at - file) : strlen(file)) &&
           w->file[0];
}

/* A file that is there under a longer name wins over taking the name apart. Where none is, the words are
 * taken apart as far as they can be, and opening says that there is no such file. */
static bool understand(const char *words, struct elf_words *w)
{
    for (int parts = 0; parts < 4; parts++)
        if (split(words, parts & 2, parts & 1, w) && access(w->file, F_OK) == 0)
            return true;
    return split(words, true, true, w) || split(words, true, false, w) || split(words, false, true, w) ||
           split(words, false, false, w);
}

enum corral_err profiling_add_elf(struct profiling *p, const char *words, struct diag *d)
{
    struct elf_words *w = calloc(1, sizeof(*w));
    if (!w)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err;
    if (understand(words, w)) {
        err = profiling_add_elf_of(p, w->sender[0] ? w->sender : NULL, w->file, w->offset, d);
    } else {
        err = diag_set(d, CORRAL_ERR_USAGE, "'%.200s' is not [SOURCE=]FILE[@OFFSET]", words);
        diag_hint(d, "as in core0=build/core0.elf or 192.168.1.10=lib.so@0x10000");
    }
    free(w);
    return err;
}

/* --- images --------------------------------------------------------------------------------------------- */

/* One file for several senders is read once. */
static const struct symbol_index *opened(const struct profiling *p, const char *file)
{
    for (size_t i = 0; i < p->image_count; i++)
        if (strcmp(p->images[i].file, file) == 0)
            return p->images[i].image;
    return NULL;
}

static void free_image(struct profiling_image *image)
{
    symbol_close(image->own);
    free(image->sender);
    free(image->file);
}

/* What the analysis adds up differently when packets come from such an image: branches can be read, and where
 * the program has the table of its hard-real-time threads, their share of the clock is known. */
static void tell_analysis(struct profiling *p, const struct symbol_index *image)
{
    uint64_t address, size;
    uint8_t table[64];
    if (symbol_machine(image) != SYMBOL_MACHINE_UBICOM32)
        return;
    prof_analysis_count_conditions(p->analysis, PROF_EVERY_SOURCE);
    if (symbol_lookup(image, "_system_hrt_table", &address, &size) &&
        symbol_code(image, address, table, sizeof(table)))
        prof_analysis_hrt_table(p->analysis, PROF_EVERY_SOURCE, table);
}

/* Takes `own` over, also where it fails. */
static enum corral_err add_image(struct profiling *p, const struct symbol_index *image,
                                 struct symbol_index *own, uint64_t offset, const char *sender,
                                 const char *file, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    pthread_mutex_lock(&p->lock);
    if (p->image_count == SYMBOL_SPACE_MAX_IMAGES) {
        symbol_close(own);
        err = diag_set(d, CORRAL_ERR_LIMIT, "more than %u images cannot be used at once",
                       SYMBOL_SPACE_MAX_IMAGES);
    } else {
        struct profiling_image *entry = &p->images[p->image_count];
        *entry = (struct profiling_image){.image = image, .own = own, .offset = offset};
        entry->sender = sender ? strdup(sender) : NULL;
        entry->file = strdup(file);
        if ((!sender || entry->sender) && entry->file) {
            p->image_count++;
            tell_analysis(p, image);
        } else {
            free_image(entry);
            err = diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        }
    }
    pthread_mutex_unlock(&p->lock);
    return err;
}

enum corral_err profiling_add_elf_of(struct profiling *p, const char *sender, const char *file,
                                     uint64_t offset, struct diag *d)
{
    const struct symbol_index *image = opened(p, file);
    struct symbol_index *own = image ? NULL : symbol_open(file, d);
    if (!image && !own)
        return d ? d->code : CORRAL_ERR_ELF;
    return add_image(p, image ? image : own, own, offset, sender, file, d);
}

enum corral_err profiling_add_image(struct profiling *p, const char *source, const struct symbol_index *image,
                                    struct diag *d)
{
    return image ? add_image(p, image, NULL, 0, source, "", d) : CORRAL_OK;
}

bool profiling_has_images(struct profiling *p)
{
    pthread_mutex_lock(&p->lock);
    bool any = p->image_count > 0;
    pthread_mutex_unlock(&p->lock);
    return any;
}

const struct symbol_index *profiling_image(struct profiling *p, size_t index)
{
    pthread_mutex_lock(&p->lock);
    const struct symbol_index *image = index < p->image_count ? p->images[index].image : NULL;
    pthread_mutex_unlock(&p->lock);
    return image;
}

void profiling_free_images(struct profiling *p)
{
    for (size_t i = 0; i < p->space_count; i++)
        symbol_space_free(p->spaces[i].space);
    for (size_t i = 0; i < p->image_count; i++)
        free_image(&p->images[i]);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const struct symbol_index *profiling_image_of_path(const struct profiling *p, const char *path)
{
    const char *name = last_part(path);
    for (size_t i = 0; name[0] && i < p->image_count; i++)
        if (strcmp(last_part(p->images[i].file), name) == 0)
            return p->images[i].image;
    return NULL;
}

/* --- whose they are ------------------------------------------------------------------------------------- */

/* "ADDR" of "ADDR:PORT", also of "[ADDR]:PORT" without its brackets. */
static bool is_address_of(const char *text, const char *address)
{
    size_t length = strlen(text);
    if (address[0] == '[' && text[0] != '[')
        return strncmp(address + 1, text, length) == 0 && address[length + 1] == ']';
    return strncmp(address, text, length) == 0 && address[length] == ':';
}

static bool is_number(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

bool profiling_is_sender(const struct profiling *p, const char *text, unsigned index, const char *name)
{
    const char *address = profiling_address_of(p, name);
    if (strcmp(text, name) == 0 || strcmp(text, address) == 0 || is_address_of(text, address))
        return true;
    return is_number(text) && strlen(text) < 4 && strtoul(text, NULL, 10) == index;
}

static bool is_for(const struct profiling *p, const struct profiling_image *image, unsigned index,
                   const char *name)
{
    return !image->sender || profiling_is_sender(p, image->sender, index, name);
}

const char *profiling_idle_elf(struct profiling *p, const struct prof_report *report, size_t i, char out[256])
{
    const char *sender = NULL;
    pthread_mutex_lock(&p->lock);
    if (i < p->image_count && p->images[i].sender && p->images[i].file[0])
        sender = p->images[i].sender;
    for (size_t k = 0; sender && k < report->source_count; k++)
        if (profiling_is_sender(p, sender, (unsigned)k, report->sources[k].name))
            sender = NULL;
    if (sender)
        snprintf(out, 256, "%s", sender);
    pthread_mutex_unlock(&p->lock);
    return sender ? out : NULL;
}

/* What is meant for one sender comes before what is meant for all: the first image wins where two overlap. */
static enum corral_err fill(struct profiling *p, const struct profiling_space *entry)
{
    for (int general = 0; general < 2; general++) {
        for (size_t i = 0; i < p->image_count; i++) {
            const struct profiling_image *image = &p->images[i];
            if (!(entry->mask[i / 64] >> i % 64 & 1) || (image->sender == NULL) != (general == 1))
                continue;
            enum corral_err err = symbol_space_add(entry->space, image->image, image->offset, NULL);
            if (err != CORRAL_OK)
                return err;
        }
    }
    return CORRAL_OK;
}

static struct symbol_space *make_space(struct profiling *p, const struct profiling_space *wanted)
{
    if (p->space_count == PROFILING_MAX_SPACES)
        return NULL;
    struct profiling_space *entry = &p->spaces[p->space_count];
    *entry = *wanted;
    entry->space = symbol_space_new();
    if (!entry->space)
        return NULL;
    if (fill(p, entry) != CORRAL_OK) {
        symbol_space_free(entry->space);
        return NULL;
    }
    if (entry->maps)
        profiling_replay_maps(p, entry->space);
    p->space_count++;
    return entry->space;
}

struct symbol_space *profiling_space_for(struct profiling *p, unsigned index, const char *name)
{
    struct profiling_space wanted = {.maps = profiling_sender_is_controlled(p, name)};
    bool any = wanted.maps;
    for (size_t i = 0; i < p->image_count; i++) {
        if (is_for(p, &p->images[i], index, name)) {
            wanted.mask[i / 64] |= UINT64_C(1) << i % 64;
            any = true;
        }
    }
    if (!any)
        return NULL;
    for (size_t i = 0; i < p->space_count; i++)
        if (memcmp(p->spaces[i].mask, wanted.mask, sizeof(wanted.mask)) == 0 &&
            p->spaces[i].maps == wanted.maps)
            return p->spaces[i].space;
    return make_space(p, &wanted);
}
