/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a description's devices a name means: exactly, in any case of letters, with its vendor; and what
 * is said when there is none, or more than one.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_internal.h"

/* Some of the names and how many there are; those that begin like the one that was meant come first. */
static void hint_names(const struct pack_file *file, const char *meant, struct diag *d)
{
    char text[200];
    size_t used = 0, shown = 0, begin = meant ? strlen(meant) : 0;
    text[0] = '\0';
    for (; begin > 3 || (begin > 0 && shown == 0); begin--) {
        for (size_t i = 0; i < file->entry_count && shown == 0; i++)
            shown = strncasecmp(file->entries[i].name, meant, begin) == 0;
        if (shown)
            break;
    }
    shown = 0;
    for (size_t i = 0; i < file->entry_count && shown < 4; i++) {
        const char *name = file->entries[i].name;
        size_t length = strlen(name);
        if (begin && strncasecmp(name, meant, begin) != 0)
            continue;
        if (used + length + 3 > sizeof(text) - 40)
            break;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", shown ? ", " : "", name);
        shown++;
    }
    if (shown == file->entry_count)
        diag_hint(d, "it has %s", text);
    else if (shown)
        diag_hint(d, "it has %s and others, %zu in all", text, file->entry_count);
    else
        diag_hint(d, "it has %zu devices", file->entry_count);
}

static const struct pack_entry *wrong_name(const struct pack_file *file, const char *name, const char *what,
                                           struct diag *d)
{
    char shown[72];
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    diag_set(d, CORRAL_ERR_USAGE, "%s: %s '%s'", file->name, what, shown);
    hint_names(file, name, d);
    diag_object(d, "%s", shown);
    return NULL;
}

static bool is_vendor(const struct pack_entry *e, const char *vendor, size_t length)
{
    size_t own = strcspn(e->vendor, ":");
    return (length == own || length == strlen(e->vendor)) && strncasecmp(e->vendor, vendor, length) == 0;
}

/* Exactly, then in any case of letters, if that is one. */
static const struct pack_entry *by_name(const struct pack_file *file, const char *name, const char *vendor,
                                        size_t vendor_length, bool *several)
{
    const struct pack_entry *found = NULL;
    *several = false;
    for (size_t i = 0; i < file->entry_count; i++) {
        const struct pack_entry *e = &file->entries[i];
        if (vendor && !is_vendor(e, vendor, vendor_length))
            continue;
        if (strcmp(e->name, name) == 0)
            return e;
        if (strcasecmp(e->name, name) == 0) {
            *several = found && strcmp(found->name, e->name) != 0;
            found = found ? found : e;
        }
    }
    return found;
}

static const struct pack_entry *the_only(const struct pack_file *file, struct diag *d)
{
    const struct pack_entry *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < file->entry_count; i++) {
        if (!file->entries[i].has_variants) {
            found = &file->entries[i];
            count++;
        }
    }
    if (count == 1)
        return found;
    if (count == 0) {
        diag_set(d, CORRAL_ERR_USAGE, "%s describes no device", file->name);
        diag_object(d, "%s", file->name);
        return NULL;
    }
    diag_set(d, CORRAL_ERR_USAGE, "%s describes more than one device; name one with --device", file->name);
    hint_names(file, NULL, d);
    diag_object(d, "%s", file->name);
    return NULL;
}

const struct pack_entry *pack_find(const struct pack_file *file, const char *name, struct diag *d)
{
    bool several = false;
    if (!name || !*name || file->entry_count == 0)
        return the_only(file, d);
    const struct pack_entry *e = by_name(file, name, NULL, 0, &several);
    const char *colons = strstr(name, "::");
    if (!e && colons && !several)
        e = by_name(file, colons + 2, name, (size_t)(colons - name), &several);
    /* A file may have the vendor in its own name, and the user not, or not the same. */
    for (size_t i = 0; !e && i < file->entry_count; i++) {
        const char *own = strstr(file->entries[i].name, "::");
        if (own &&
            (strcasecmp(own + 2, name) == 0 || (strlen(name) == (size_t)(own - file->entries[i].name) &&
                                                strncasecmp(file->entries[i].name, name, strlen(name)) == 0)))
            e = &file->entries[i];
    }
    if (several)
        return wrong_name(file, name, "but for upper and lower case, more than one device is called", d);
    return e ? e : wrong_name(file, name, "there is no device", d);
}
