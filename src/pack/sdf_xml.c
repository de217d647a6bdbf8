/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elements of an SDF out of its XML, by libxml2's streaming reader. The file is from outside: no network,
 * no document type (so no entities of its own), UTF-8 only, bounded in size, depth and number of elements.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "pack/sdf_internal.h"

#ifdef CORRAL_HAVE_XML

#include <libxml/xmlerror.h>
#include <libxml/xmlreader.h>

struct reader {
    struct sdf_elements *e;
    xmlTextReaderPtr xml;
    struct diag *d;
    unsigned daps;
    int device_depth; /* of the open device element; -1 = none */
    /* The config_item under way. */
    char item[SDF_TEXT_MAX];
    char value[SDF_TEXT_MAX];
    int item_depth; /* -1 = none */
    bool failed;    /* *d is set */
};

/* Where the element under way begins; where the parser stands before there is one. */
static unsigned line_of(const struct reader *r)
{
    xmlNodePtr here = xmlTextReaderCurrentNode(r->xml);
    long line = here ? xmlGetLineNo(here) : xmlTextReaderGetParserLineNumber(r->xml);
    return line > 0 ? (unsigned)line : 1;
}

#if LIBXML_VERSION >= 21200
typedef const xmlError *error_of_libxml;
#else
typedef xmlErrorPtr error_of_libxml;
#endif

/* libxml2's own words, instead of its printing them. The first complaint is the one that counts. */
static void on_error(void *ctx, error_of_libxml error)
{
    struct reader *r = ctx;
    char words[96];
    const char *message = error && error->message ? error->message : "unreadable";
    if (r->failed || (error && error->level < XML_ERR_ERROR))
        return;
    size_t size = strcspn(message, "\r\n");
    text_escape((const uint8_t *)message, size, words, sizeof(words));
    sdf_mistake(r->e->name, error && error->line > 0 ? (unsigned)error->line : 1, r->d,
                "this is not XML (%s)", words);
    r->failed = true;
}

/* An attribute as safe text of at most size - 1 bytes; "" when it is not there, false when it is longer. */
static bool attribute(struct reader *r, const char *name, char *out, size_t size)
{
    xmlChar *value = xmlTextReaderGetAttribute(r->xml, (const xmlChar *)name);
    out[0] = '\0';
    if (!value)
        return true;
    size_t length = strlen((const char *)value);
    bool fits = length < size && text_escape(value, length, out, size) == length;
    xmlFree(value);
    if (!fits) {
        r->failed = true;
        sdf_mistake(r->e->name, line_of(r), r->d, "attribute %s is longer than %zu printable characters",
                    name, size - 1);
    }
    return fits;
}

/* Decimal or 0x hexadecimal ("1" and "0x00000001", B19); `hex`: hexadecimal with or without the 0x. */
static bool parse_number(const char *text, bool hex, uint64_t most, uint64_t *value)
{
    const char *blank = " \t\r\n";
    text += strspn(text, blank);
    size_t length = strcspn(text, blank);
    if (text[length + strspn(text + length, blank)] != '\0' || length == 0)
        return false;
    return text_number(text, length, hex, most, value);
}

static void wrong_value(struct reader *r, const char *what, const char *value)
{
    char shown[48];
    text_escape((const uint8_t *)value, strlen(value), shown, sizeof(shown));
    r->failed = true;
    sdf_mistake(r->e->name, line_of(r), r->d, "%s is '%s', not a number that fits", what, shown);
}

static void end_item(struct reader *r)
{
    struct sdf_device *v = &r->e->devices[r->e->device_count - 1];
    static const char *const known[] = {"CORESIGHT_AP_INDEX",         "CORESIGHT_AP_ADDRESS",
                                        "CORESIGHT_BASE_ADDRESS",     "CORESIGHT_BASE_ADDRESS_MSW",
                                        "CTI_CORESIGHT_BASE_ADDRESS", "CORESIGHT_DP_MEMSPACE"};
    uint64_t value = 0;
    size_t k = 0;
    r->item_depth = -1;
    while (k < sizeof(known) / sizeof(known[0]) && strcmp(known[k], r->item) != 0)
        k++;
    if (k == 5) {
        const char *text = r->value + strspn(r->value, " \t\r\n");
        v->dp_space = strncmp(text, "True", 4) == 0 || strncmp(text, "true", 4) == 0 || text[0] == '1';
        return;
    }
    if (k == sizeof(known) / sizeof(known[0]))
        return;
    if (!parse_number(r->value, k != 0, k == 4 ? UINT64_MAX : UINT32_MAX, &value)) {
        wrong_value(r, known[k], r->value);
        return;
    }
    switch (k) {
    case 0:
        v->index_set = true;
        v->index = (uint32_t)value;
        break;
    case 1:
        v->ap_address_set = true;
        v->ap_address = (uint32_t)value;
        break;
    case 2:
        v->base_set = true;
        v->base = (uint32_t)value;
        break;
    case 3:
        v->msw_set = true;
        v->msw = (uint32_t)value;
        break;
    default:
        v->cti_set = true;
        v->cti = value;
        break;
    }
}

static void begin_device(struct reader *r, int depth, bool empty)
{
    struct sdf_elements *e = r->e;
    if (e->device_count >= SDF_MAX_DEVICES) {
        r->failed = true;
        sdf_mistake(e->name, line_of(r), r->d, "too many devices; at most %d are expected", SDF_MAX_DEVICES);
        return;
    }
    struct sdf_device *v = &e->devices[e->device_count];
    *v = (struct sdf_device){.dap = r->daps ? r->daps - 1 : 0, .line = line_of(r)};
    if (!attribute(r, "name", v->name, sizeof(v->name)) || !attribute(r, "type", v->type, sizeof(v->type)))
        return;
    for (size_t i = 0; i < e->device_count && v->name[0]; i++) {
        if (strcmp(e->devices[i].name, v->name) == 0) {
            r->failed = true;
            sdf_mistake(e->name, v->line, r->d, "device '%s' is here twice (first in line %u)", v->name,
                        e->devices[i].line);
            return;
        }
    }
    e->device_count++;
    if (!empty)
        r->device_depth = depth;
}

static void topology_link(struct reader *r)
{
    struct sdf_elements *e = r->e;
    char type[SDF_TEXT_MAX], trigger[SDF_TEXT_MAX], interface[SDF_TEXT_MAX];
    uint64_t number;
    if (!attribute(r, "type", type, sizeof(type)) || strcmp(type, "CTITrigger") != 0)
        return;
    if (e->link_count >= SDF_MAX_LINKS) {
        r->failed = true;
        sdf_mistake(e->name, line_of(r), r->d, "too many topology links; at most %d are expected",
                    SDF_MAX_LINKS);
        return;
    }
    struct sdf_link *link = &e->links[e->link_count];
    *link = (struct sdf_link){.trigger = -1, .line = line_of(r)};
    /* The specification spells the attribute so. It says nothing about a restart, but is looked at all the
     * same: a file in which it is no number is not what it claims to be. */
    if (!attribute(r, "master", link->master, sizeof(link->master)) ||
        !attribute(r, "slave", link->slave, sizeof(link->slave)) ||
        !attribute(r, "trigger", trigger, sizeof(trigger)) ||
        !attribute(r, "mater_interface", interface, sizeof(interface)))
        return;
    if (interface[0] && !parse_number(interface, false, UINT32_MAX, &number)) {
        wrong_value(r, "mater_interface", interface);
        return;
    }
    if (trigger[0]) {
        if (!parse_number(trigger, false, 31, &number)) {
            wrong_value(r, "trigger", trigger);
            return;
        }
        link->trigger = (int)number;
    }
    if (link->master[0] == '\0' || link->slave[0] == '\0') {
        r->failed = true;
        sdf_mistake(e->name, link->line, r->d, "a CTITrigger link without master or slave");
        return;
    }
    e->link_count++;
}

static void begin_element(struct reader *r, const char *name, int depth, bool empty)
{
    if (strcmp(name, "dap") == 0) {
        r->daps++;
    } else if (strcmp(name, "device") == 0) {
        begin_device(r, depth, empty);
    } else if (strcmp(name, "topology_link") == 0) {
        topology_link(r);
    } else if (strcmp(name, "config_item") == 0 && r->device_depth >= 0 && !empty) {
        char item[SDF_TEXT_MAX];
        if (!attribute(r, "name", item, sizeof(item)))
            return;
        memcpy(r->item, item, sizeof(r->item));
        r->value[0] = '\0';
        r->item_depth = depth;
    }
}

static void add_text(struct reader *r)
{
    const xmlChar *text = r->item_depth >= 0 ? xmlTextReaderConstValue(r->xml) : NULL;
    size_t have = strlen(r->value), more = text ? strlen((const char *)text) : 0;
    if (!text)
        return;
    /* Too long a value is only a mistake where the item means something: end_item then finds it wrong. */
    char *at = r->value + have;
    size_t room = sizeof(r->value) - 1 - have, n = more < room ? more : room;
    memcpy(at, text, n);
    at[n] = '\0';
    if (more > room)
        r->value[0] = '?';
}

static void end_element(struct reader *r, int depth)
{
    if (depth == r->item_depth)
        end_item(r);
    if (depth == r->device_depth)
        r->device_depth = -1;
}

static void node(struct reader *r)
{
    int depth = xmlTextReaderDepth(r->xml), type = xmlTextReaderNodeType(r->xml);
    if (depth > SDF_MAX_DEPTH) {
        r->failed = true;
        sdf_mistake(r->e->name, line_of(r), r->d, "nested too deep; at most %d levels are expected",
                    SDF_MAX_DEPTH);
        return;
    }
    switch (type) {
    case XML_READER_TYPE_ELEMENT: {
        const xmlChar *name = xmlTextReaderConstLocalName(r->xml);
        if (name)
            begin_element(r, (const char *)name, depth, xmlTextReaderIsEmptyElement(r->xml) == 1);
        break;
    }
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
        add_text(r);
        break;
    case XML_READER_TYPE_END_ELEMENT:
        end_element(r, depth);
        break;
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY_REFERENCE:
    case XML_READER_TYPE_ENTITY:
        r->failed = true;
        sdf_mistake(r->e->name, line_of(r), r->d, "a document type or an entity, which is not taken here");
        break;
    default:
        break;
    }
}

/* Before libxml2 sees a byte: what a parser could be made to expand or fetch, and what hides it. */
static bool is_plain(const struct sdf_elements *e, const char *bytes, size_t size, struct diag *d)
{
    static const char *const refused[] = {"<!DOCTYPE", "<!ENTITY"};
    unsigned line = 1;
    if (size > SDF_MAX_BYTES)
        return sdf_mistake(e->name, 1, d, "the file is larger than %d bytes", SDF_MAX_BYTES);
    for (size_t i = 0; i < size; i++) {
        line += bytes[i] == '\n';
        if (bytes[i] == '\0')
            return sdf_mistake(e->name, line, d, "a NUL byte; UTF-8 text is expected");
        for (size_t k = 0; bytes[i] == '<' && k < 2; k++)
            if (size - i >= strlen(refused[k]) && memcmp(bytes + i, refused[k], strlen(refused[k])) == 0)
                return sdf_mistake(e->name, line, d, "a document type (%s), which is not taken here",
                                   refused[k] + 2);
    }
    return true;
}

bool sdf_read_elements(struct sdf_elements *e, const char *bytes, size_t size, struct diag *d)
{
    struct diag own = DIAG_INIT;
    struct reader r = {.e = e, .d = d ? d : &own, .device_depth = -1, .item_depth = -1};
    if (!is_plain(e, bytes, size, r.d))
        return false;
    if (size == 0)
        return sdf_mistake(e->name, 1, r.d, "the file is empty");
    /* The encoding is ours to say: one that the file declares could hide from the look above. */
    xmlStructuredErrorFunc before = xmlStructuredError;
    void *ctx_before = xmlStructuredErrorContext;
    /* What it says of the input beside the reader would be printed: this thread's handler is ours meanwhile.
     */
    xmlSetStructuredErrorFunc(&r, on_error);
    r.xml = xmlReaderForMemory(bytes, (int)size, NULL, "UTF-8", XML_PARSE_NONET | XML_PARSE_COMPACT);
    if (!r.xml) {
        xmlSetStructuredErrorFunc(ctx_before, before);
        diag_set(r.d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return false;
    }
    xmlTextReaderSetStructuredErrorHandler(r.xml, on_error, &r);
    int more = 1;
    while (!r.failed && (more = xmlTextReaderRead(r.xml)) == 1)
        node(&r);
    if (more < 0 && !r.failed) {
        sdf_mistake(e->name, line_of(&r), r.d, "this is not XML");
        r.failed = true;
    }
    xmlFreeTextReader(r.xml);
    xmlSetStructuredErrorFunc(ctx_before, before);
    return !r.failed;
}

#else

bool sdf_read_elements(struct sdf_elements *e, const char *bytes, size_t size, struct diag *d)
{
    (void)bytes;
    (void)size;
    diag_set(d, CORRAL_ERR_UNSUPPORTED, "%s: this corral was built without libxml2 and reads no SDF",
             e->name);
    return false;
}

#endif
