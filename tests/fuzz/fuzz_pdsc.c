/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the PDSC reader: any bytes as a file. What is refused is told with its line; what is taken
 * keeps the promises of pack/pack.h. Its texts are compared with those that libxml2 reads in a tree, and each
 * character with the one that stands in the file where its mark says.
 */
#include <string.h>

#include "fuzz_target.h"
#include "pack/pack_internal.h"
#include "pack/pack_xml.h"

static void check_printable(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK(((unsigned char)text[i] >= 0x20 || text[i] == '\t') && text[i] != 0x7f);
}

/* ---- where things stand */

static const char *line_at(const struct pack_xml *x, unsigned line)
{
    const char *p = x->bytes, *end = x->bytes + x->size;
    for (; line > 1 && p; line--) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    FUZZ_CHECK(p);
    return p;
}

static char char_at(const struct pack_xml *x, unsigned line, unsigned column)
{
    const char *p = line_at(x, line), *end = x->bytes + x->size;
    FUZZ_CHECK(column >= 1);
    for (; column > 1 && p < end; column--)
        for (p++; p < end && ((unsigned char)*p & 0xC0) == 0x80; p++) {
        }
    return p < end ? *p : '\0';
}

static void check_marks(const struct pack_xml *x, const struct pack_xml_text *t)
{
    size_t m = 0;
    unsigned line = 0, column = 0;
    FUZZ_CHECK(t->mark_count > 0 && t->marks[0].offset == 0 && t->bytes[t->size] == '\0');
    for (size_t i = 0; i < t->size; i++) {
        for (; m < t->mark_count && t->marks[m].offset == i; m++) {
            line = t->marks[m].line;
            column = t->marks[m].column;
        }
        if (((unsigned char)t->bytes[i] & 0xC0) == 0x80)
            continue;
        char raw = char_at(x, line, column);
        FUZZ_CHECK(raw == t->bytes[i] || raw == '&' || (strchr("\r\n\t", raw) && strchr(" \n", t->bytes[i])));
        line += t->bytes[i] == '\n';
        column = t->bytes[i] == '\n' ? 1 : column + 1;
    }
    FUZZ_CHECK(m == t->mark_count || t->marks[m].offset == t->size);
}

/* ---- what libxml2 reads */

#ifdef CORRAL_HAVE_XML

#include <libxml/tree.h>
#include <libxml/xmlreader.h>

struct together {
    const struct pack_xml *x;
    struct pack_xml_text t;
};

static bool same_element(const struct pack_xml *x, const struct pack_xml_node *node, const xmlNode *other)
{
    char name[512];
    const char *prefix = other->ns && other->ns->prefix ? (const char *)other->ns->prefix : NULL;
    snprintf(name, sizeof(name), "%s%s%s", prefix ? prefix : "", prefix ? ":" : "",
             (const char *)other->name);
    size_t length = node->attributes - node->at - 1;
    return strlen(name) == length && memcmp(name, x->bytes + node->at + 1, length) == 0;
}

static void check_attribute(struct together *both, const struct pack_xml_node *node, const xmlNode *other,
                            const char *name)
{
    bool there = false;
    FUZZ_CHECK(pack_xml_attribute(both->x, node, name, true, &both->t, &there, NULL));
    xmlChar *value = xmlGetNoNsProp(other, (const xmlChar *)name);
    FUZZ_CHECK(there == (value != NULL));
    if (value) {
        FUZZ_CHECK(strcmp((const char *)value, both->t.bytes) == 0);
        check_marks(both->x, &both->t);
    }
    xmlFree(value);
}

static void check_content(struct together *both, const struct pack_xml_node *node, const xmlNode *other)
{
    size_t at = 0;
    FUZZ_CHECK(pack_xml_content(both->x, node, &both->t, NULL));
    for (const xmlNode *n = other->children; n; n = n->next) {
        if (n->type != XML_TEXT_NODE && n->type != XML_CDATA_SECTION_NODE)
            continue;
        size_t length = n->content ? strlen((const char *)n->content) : 0;
        FUZZ_CHECK(both->t.size - at >= length &&
                   (length == 0 || memcmp(both->t.bytes + at, n->content, length) == 0));
        at += length;
    }
    FUZZ_CHECK(at == both->t.size);
    check_marks(both->x, &both->t);
}

/* Which elements are kept is told by their name and the element that they are in: children that are kept are
 * all those of their names. */
static void compare(struct together *both, uint32_t number, const xmlNode *other)
{
    const struct pack_xml_node *node = &both->x->nodes[number];
    static const char *const names[] = {"name", "if", "while", "timeout", "Pname"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_attribute(both, node, other, names[i]);
    if (node->kind == PACK_XML_BLOCK || node->kind == PACK_XML_DEBUGVARS)
        check_content(both, node, other);
    uint32_t child = node->first;
    for (const xmlNode *n = other->children; n && child != PACK_XML_NONE; n = n->next) {
        if (n->type != XML_ELEMENT_NODE || !same_element(both->x, &both->x->nodes[child], n))
            continue;
        compare(both, child, n);
        child = both->x->nodes[child].next;
    }
    FUZZ_CHECK(child == PACK_XML_NONE);
}

static void ignore(void *ctx, const char *words, ...)
{
    (void)ctx;
    (void)words;
}

static void check_texts(const struct pack_file *file)
{
    struct pack_xml x = {0};
    struct diag d = DIAG_INIT;
    FUZZ_CHECK(pack_xml_read(&x, file, &d));
    struct together both = {.x = &x};
    xmlSetGenericErrorFunc(NULL, ignore);
    xmlDocPtr doc = xmlReadMemory(file->bytes, (int)file->size, NULL, "UTF-8",
                                  XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (doc && xmlDocGetRootElement(doc))
        compare(&both, 0, xmlDocGetRootElement(doc));
    xmlFreeDoc(doc);
    pack_xml_text_free(&both.t);
    pack_xml_free(&x);
}

#else

static void check_texts(const struct pack_file *file)
{
    (void)file;
    (void)check_marks;
}

#endif

/* ---- a device */

static void check_problems(const struct sequence_problems *p, const struct sequence_set *set)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct sequence_problem *one = &p->list[i];
        const char *bytes;
        size_t size;
        check_printable(one->text, sizeof(one->text));
        FUZZ_CHECK(one->width > 0);
        if (one->place.file == PACK_DESCRIPTION && one->place.line) {
            FUZZ_CHECK(sequence_set_line(set, one->place.file, one->place.line, &bytes, &size));
            FUZZ_CHECK(one->place.column <= size + 2);
        }
    }
}

static void check_device(const struct pack_device *v)
{
    FUZZ_CHECK(v->processor_count >= 1 && v->processor_count <= PACK_MAX_PROCESSORS);
    FUZZ_CHECK(v->port_count <= PACK_MAX_PORTS && v->ap_count <= PACK_MAX_APS);
    FUZZ_CHECK(v->patch_count <= PACK_MAX_PATCHES && v->output_count == 0 && v->server_count == 0);
    check_printable(v->name, sizeof(v->name));
    for (size_t i = 0; i < v->processor_count; i++) {
        const struct pack_processor *p = &v->processors[i];
        check_printable(p->pname, sizeof(p->pname));
        check_printable(p->core, sizeof(p->core));
        check_printable(p->reset_sequence, sizeof(p->reset_sequence));
        FUZZ_CHECK(p->units >= 1);
        FUZZ_CHECK(pack_processor_named(v, p->pname) == p);
    }
    for (size_t i = 0; i < v->ap_count; i++)
        FUZZ_CHECK(pack_access_port_of(v, v->aps[i].id) == &v->aps[i]);
}

static void try_device(struct pack_file *file, size_t number, struct sequence_problems *p)
{
    struct diag d = DIAG_INIT;
    struct pack_device *device = pack_describe(file, pack_device_name(file, number), p, &d);
    if (!device) {
        FUZZ_CHECK(d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_LIMIT ||
                   d.code == CORRAL_ERR_NO_MEMORY);
        check_printable(d.message, sizeof(d.message));
        return;
    }
    check_device(device);
    struct sequence_program *program = pack_compile(device, p, &d);
    FUZZ_CHECK(program || d.code != CORRAL_OK);
    check_problems(p, device->set);
    sequence_program_free(program);
    pack_device_free(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    struct pack_file *file = pack_parse(PACK_PDSC, "dir/part.pdsc", (const char *)data, size, NULL, &p, &d);
    if (file) {
        size_t count = pack_device_count(file);
        FUZZ_CHECK(count <= PACK_MAX_DEVICES && !pack_device_name(file, count));
        check_texts(file);
        for (size_t i = 0; i < count && i < 3; i++)
            try_device(file, i, &p);
    } else {
        FUZZ_CHECK(d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_LIMIT ||
                   d.code == CORRAL_ERR_NO_MEMORY || d.code == CORRAL_ERR_UNSUPPORTED);
        FUZZ_CHECK(d.code != CORRAL_ERR_FORMAT || strncmp(d.message, "dir/part.pdsc:", 14) == 0);
        check_printable(d.message, sizeof(d.message));
        check_printable(d.hint, sizeof(d.hint));
    }
    sequence_problems_clear(&p);
    pack_close(file);
    return 0;
}
