/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PDSC: which devices there are, and what each inherits from (family, subFamily, device, variant;
 * cross-trigger sheet 4.1). What stands in these elements is read when a device is described, not before:
 * there may be thousands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pack/pack_pdsc_internal.h"

#define MAX_PARTS 4096 /* elements of a device that describe its processors, ports and patches */

struct pack_pdsc {
    struct pack_xml xml;
};

const struct pack_xml_node *pack_pdsc_first(const struct pack_pdsc_reading *r, const struct pack_xml_node *in,
                                            enum pack_xml_kind kind)
{
    for (uint32_t n = in->first; n != PACK_XML_NONE; n = r->x->nodes[n].next)
        if (r->x->nodes[n].kind == kind)
            return &r->x->nodes[n];
    return NULL;
}

const struct pack_xml_node *pack_pdsc_next(const struct pack_pdsc_reading *r,
                                           const struct pack_xml_node *node)
{
    for (uint32_t n = node->next; n != PACK_XML_NONE; n = r->x->nodes[n].next)
        if (r->x->nodes[n].kind == node->kind)
            return &r->x->nodes[n];
    return NULL;
}

static void free_texts(struct pack_pdsc_reading *r)
{
    pack_xml_text_free(&r->value);
    pack_xml_text_free(&r->text);
    pack_xml_text_free(&r->if_);
    pack_xml_text_free(&r->while_);
    pack_xml_text_free(&r->timeout);
}

/* ---- the names */

static bool has_child(const struct pack_xml *x, uint32_t n, enum pack_xml_kind kind)
{
    uint32_t child = x->nodes[n].first;
    while (child != PACK_XML_NONE && x->nodes[child].kind != kind)
        child = x->nodes[child].next;
    return child != PACK_XML_NONE;
}

/* Of the nearest element that says it. */
static bool take_vendor(struct pack_pdsc_reading *r, uint32_t n, struct pack_entry *entry)
{
    for (; n != PACK_XML_NONE && r->x->nodes[n].kind >= PACK_XML_FAMILY; n = r->x->nodes[n].parent) {
        uint32_t begin, end;
        if (pack_xml_find(r->x, &r->x->nodes[n], "Dvendor", &begin, &end))
            return pack_pdsc_string(r, &r->x->nodes[n], "Dvendor", entry->vendor, sizeof(entry->vendor));
    }
    return true;
}

static bool add_device(struct pack_pdsc_reading *r, struct pack_file *file, uint32_t n)
{
    const struct pack_xml_node *node = &r->x->nodes[n];
    bool variant = node->kind == PACK_XML_VARIANT;
    const char *attribute = variant ? "Dvariant" : "Dname";
    struct pack_entry entry = {.node = n, .has_variants = !variant && has_child(r->x, n, PACK_XML_VARIANT)};
    if (!pack_pdsc_string(r, node, attribute, entry.name, sizeof(entry.name)) || !take_vendor(r, n, &entry))
        return false;
    if (!entry.name[0]) {
        sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_xml_place_of(r->x, node), 1, NULL,
                              "a %s without a name (%s) is left out", variant ? "variant" : "device",
                              attribute);
        return true;
    }
    /* To find a line costs more than all the rest. */
    bool full = file->entry_count >= PACK_MAX_DEVICES;
    return pack_add_entry(file, &entry, full ? pack_xml_place_of(r->x, node).line : 0, r->d);
}

static int compare_entries(const void *a, const void *b)
{
    const struct pack_entry *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->node > (*y)->node) - ((*x)->node < (*y)->node);
}

/* Of two of one name the first counts, and who has the file is told. */
static bool warn_of_doubles(struct pack_pdsc_reading *r)
{
    size_t count = r->file->entry_count;
    const struct pack_entry **sorted = malloc((count ? count : 1) * sizeof(*sorted));
    if (!sorted)
        return pack_no_memory(r->d);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &r->file->entries[i];
    qsort(sorted, count, sizeof(*sorted), compare_entries);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[i]->name, sorted[i - 1]->name) != 0)
            continue;
        sequence_problems_add(r->problems, SEQUENCE_WARNING,
                              pack_xml_place_of(r->x, &r->x->nodes[sorted[i]->node]), 1, NULL,
                              "device %s is here a second time; the first one counts", sorted[i]->name);
    }
    free(sorted);
    return true;
}

bool pack_pdsc_parse(struct pack_file *file, struct sequence_problems *problems, struct diag *d)
{
    struct pack_pdsc *pdsc = file->pdsc = calloc(1, sizeof(*pdsc));
    if (!pdsc)
        return pack_no_memory(d);
    if (!pack_xml_read(&pdsc->xml, file, d))
        return false;
    struct pack_pdsc_reading r = {.file = file, .x = &pdsc->xml, .problems = problems, .d = d};
    bool ok = true;
    /* In the file's order, for so they are kept. */
    for (size_t n = 0; n < pdsc->xml.count && ok; n++) {
        enum pack_xml_kind kind = pdsc->xml.nodes[n].kind;
        if (kind == PACK_XML_DEVICE || kind == PACK_XML_VARIANT)
            ok = add_device(&r, file, (uint32_t)n);
    }
    ok = ok && warn_of_doubles(&r);
    free_texts(&r);
    return ok;
}

/* ---- one of them */

static void find_chain(struct pack_pdsc_reading *r, uint32_t n)
{
    uint32_t up[4];
    size_t count = 0;
    for (; n != PACK_XML_NONE && r->x->nodes[n].kind >= PACK_XML_FAMILY && count < 4;
         n = r->x->nodes[n].parent)
        up[count++] = n;
    for (size_t i = 0; i < count; i++) {
        const struct pack_xml_node *node = &r->x->nodes[up[count - 1 - i]];
        r->chain[i].node = node;
        r->chain[i].level = 1 + (unsigned)(node->kind - PACK_XML_FAMILY);
    }
    r->chain_length = count;
}

/* Each of these is looked at for each processor, so their number is bounded. What is said of sequences the
 * set bounds. */
static bool check_count(struct pack_pdsc_reading *r)
{
    const struct pack_xml_node *nodes = r->x->nodes;
    size_t count = 0;
    for (size_t i = 0; i < r->chain_length; i++) {
        for (uint32_t n = r->chain[i].node->first; n != PACK_XML_NONE; n = nodes[n].next) {
            if (nodes[n].kind < PACK_XML_PROCESSOR || nodes[n].kind > PACK_XML_DEBUG)
                continue;
            count++;
            for (uint32_t child = nodes[n].first; child != PACK_XML_NONE; child = nodes[child].next)
                count++;
            if (count > MAX_PARTS)
                return pack_mistake(r->file, pack_xml_place_of(r->x, &nodes[n]).line, r->d,
                                    "too many processors, ports and patches for one device; at most %d "
                                    "elements are expected",
                                    MAX_PARTS);
        }
    }
    return true;
}

bool pack_pdsc_describe(const struct pack_file *file, const struct pack_entry *entry,
                        struct pack_device *device, struct sequence_problems *problems, struct diag *d)
{
    struct pack_pdsc_reading r = {
        .file = file, .x = &file->pdsc->xml, .device = device, .problems = problems, .d = d};
    find_chain(&r, (uint32_t)entry->node);
    bool ok = check_count(&r) && pack_pdsc_take_ports(&r) && pack_pdsc_take_cores(&r) &&
              pack_pdsc_take_sequences(&r);
    free_texts(&r);
    return ok;
}

void pack_pdsc_free(struct pack_pdsc *pdsc)
{
    if (!pdsc)
        return;
    pack_xml_free(&pdsc->xml);
    free(pdsc);
}
