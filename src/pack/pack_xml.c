/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PDSC's elements out of its bytes: pack_xml.h; cross-trigger sheet 4.1. Bounds what libxml2 is given
 * (depth, elements, attributes, namespaces) and finds which element is where. Must not decide what an element
 * means.
 */
#include "pack/pack_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PIECE 256u

/* Which elements are kept, and in which ones they may stand. */
#define IN(kind)  (1u << PACK_XML_##kind)
#define IN_LEVELS (IN(FAMILY) | IN(SUBFAMILY) | IN(DEVICE) | IN(VARIANT))
static const struct {
    const char *name;
    uint32_t in;
} kinds[PACK_XML_KINDS] = {
    [PACK_XML_PACKAGE] = {"package", 0},
    [PACK_XML_DEVICES] = {"devices", IN(PACKAGE)},
    [PACK_XML_FAMILY] = {"family", IN(DEVICES)},
    [PACK_XML_SUBFAMILY] = {"subFamily", IN(FAMILY)},
    [PACK_XML_DEVICE] = {"device", IN(FAMILY) | IN(SUBFAMILY)},
    [PACK_XML_VARIANT] = {"variant", IN(DEVICE)},
    [PACK_XML_PROCESSOR] = {"processor", IN_LEVELS},
    [PACK_XML_DEBUGCONFIG] = {"debugconfig", IN_LEVELS},
    [PACK_XML_DEBUGPORT] = {"debugport", IN_LEVELS},
    [PACK_XML_JTAG] = {"jtag", IN(DEBUGPORT)},
    [PACK_XML_SWD] = {"swd", IN(DEBUGPORT)},
    [PACK_XML_ACCESSPORT_V1] = {"accessportV1", IN_LEVELS},
    [PACK_XML_ACCESSPORT_V2] = {"accessportV2", IN_LEVELS},
    [PACK_XML_DEBUG] = {"debug", IN_LEVELS},
    [PACK_XML_DATAPATCH] = {"datapatch", IN(DEBUG) | IN(ACCESSPORT_V1) | IN(ACCESSPORT_V2)},
    [PACK_XML_DEBUGVARS] = {"debugvars", IN_LEVELS},
    [PACK_XML_SEQUENCES] = {"sequences", IN_LEVELS},
    [PACK_XML_SEQUENCE] = {"sequence", IN(SEQUENCES)},
    [PACK_XML_BLOCK] = {"block", IN(SEQUENCE) | IN(CONTROL)},
    [PACK_XML_CONTROL] = {"control", IN(SEQUENCE) | IN(CONTROL)},
};

struct open {
    uint32_t name, length; /* of the tag's name, in the bytes */
    uint32_t node;         /* PACK_XML_NONE = not kept, and nothing in it */
};

/* The names of elements and attributes that there are: a schema has a few hundred, and libxml2's own table is
 * slow with many. */
#define NAME_SLOTS  4096u
#define NAME_PROBES 64u
struct names {
    struct {
        uint32_t at, length; /* in the bytes; length 0 = free */
    } slots[NAME_SLOTS];
    size_t count;
};

struct scan {
    struct pack_xml *x;
    const struct pack_file *file;
    struct diag *d;
    size_t at;
    struct open open[PACK_XML_MAX_DEPTH];
    unsigned depth;
    size_t elements, namespaces;
    struct names *names;
};

/* ---- places */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void step(struct sequence_place *p, char c)
{
    if (c == '\n') {
        p->line++;
        p->column = 1;
    } else if (!is_continuation(c)) {
        p->column++;
    }
}

struct sequence_place pack_xml_place(const struct pack_xml *x, size_t at)
{
    const struct pack_xml_piece *piece = &x->pieces[at / PIECE];
    struct sequence_place p = {PACK_DESCRIPTION, piece->line, piece->column};
    for (size_t i = at / PIECE * PIECE; i < at && i < x->size; i++)
        step(&p, x->bytes[i]);
    return p;
}

struct sequence_place pack_xml_place_of(const struct pack_xml *x, const struct pack_xml_node *node)
{
    return pack_xml_place(x, node->at);
}

/* The pieces, and on the way whether all is UTF-8. */
static bool divide(struct scan *s)
{
    struct pack_xml *x = s->x;
    struct sequence_place p = {PACK_DESCRIPTION, 1, 1};
    x->pieces = calloc(x->size / PIECE + 1, sizeof(*x->pieces));
    if (!x->pieces)
        return pack_no_memory(s->d);
    size_t whole = 0; /* the end of the character under way */
    for (size_t i = 0; i <= x->size; i++) {
        if (i % PIECE == 0)
            x->pieces[i / PIECE] = (struct pack_xml_piece){p.line, p.column};
        if (i == x->size)
            break;
        unsigned char c = (unsigned char)x->bytes[i];
        if (c == 0)
            return pack_mistake(s->file, p.line, s->d, "a NUL byte; UTF-8 text is expected");
        if (c >= 0x80 && i >= whole) {
            uint32_t code;
            size_t length = text_utf8_decode((const uint8_t *)x->bytes + i, x->size - i, &code);
            if (length == 0)
                return pack_mistake(s->file, p.line, s->d, "byte 0x%02X is not UTF-8", c);
            whole = i + length;
        }
        step(&p, x->bytes[i]);
    }
    return true;
}

/* ---- tags */

static bool wrong(struct scan *s, size_t at, const char *what)
{
    return pack_mistake(s->file, pack_xml_place(s->x, at).line, s->d, "this is not XML (%s)", what);
}

static bool too_many(struct scan *s, const char *what, unsigned most)
{
    return pack_mistake(s->file, pack_xml_place(s->x, s->at).line, s->d, "%s; at most %u are expected", what,
                        most);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static char here(const struct scan *s)
{
    return s->at < s->x->size ? s->x->bytes[s->at] : '\0';
}

static void skip_blanks(struct scan *s)
{
    while (is_blank(here(s)))
        s->at++;
}

/* Which characters a name may have is libxml2's to say; here it ends where it must. */
static size_t skip_name(struct scan *s)
{
    size_t begin = s->at;
    for (char c = here(s); c && !is_blank(c) && !strchr("<>/='\"", c); c = here(s))
        s->at++;
    return s->at - begin;
}

static bool starts(const struct scan *s, const char *text)
{
    size_t length = strlen(text);
    return s->x->size - s->at >= length && memcmp(s->x->bytes + s->at, text, length) == 0;
}

/* Behind `end`, which is looked for `skip` bytes from here on. */
static bool skip_to(struct scan *s, size_t skip, const char *end, const char *what)
{
    size_t length = strlen(end), from = s->at + skip;
    const char *found = from < s->x->size ? memmem(s->x->bytes + from, s->x->size - from, end, length) : NULL;
    if (!found)
        return wrong(s, s->at, what);
    s->at = (size_t)(found - s->x->bytes) + length;
    return true;
}

static bool note_name(struct scan *s, size_t at, size_t length)
{
    const char *bytes = s->x->bytes;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[at + i]) * 16777619u;
    for (uint32_t probe = 0; probe < NAME_PROBES && s->names->count <= PACK_XML_MAX_NAMES; probe++) {
        uint32_t slot = (hash + probe) % NAME_SLOTS;
        if (s->names->slots[slot].length == 0) {
            s->names->slots[slot].at = (uint32_t)at;
            s->names->slots[slot].length = (uint32_t)length;
            s->names->count++;
            return true;
        }
        if (s->names->slots[slot].length == length &&
            memcmp(bytes + s->names->slots[slot].at, bytes + at, length) == 0)
            return true;
    }
    return too_many(s, "too many different names of elements and attributes", PACK_XML_MAX_NAMES);
}

/* One attribute from its name on. */
static bool skip_attribute(struct scan *s)
{
    size_t begin = s->at, length = skip_name(s);
    if (length == 0)
        return wrong(s, begin, "an attribute is expected");
    if (length >= 5 && memcmp(s->x->bytes + begin, "xmlns", 5) == 0 &&
        ++s->namespaces > PACK_XML_MAX_NAMESPACES)
        return too_many(s, "too many namespaces", PACK_XML_MAX_NAMESPACES);
    if (!note_name(s, begin, length))
        return false;
    skip_blanks(s);
    if (here(s) != '=')
        return wrong(s, begin, "an attribute without a value");
    s->at++;
    skip_blanks(s);
    char quote = here(s);
    if (quote != '"' && quote != '\'')
        return wrong(s, begin, "an attribute's value without quotes");
    const char *from = s->x->bytes + s->at + 1;
    const char *end = memchr(from, quote, s->x->size - s->at - 1);
    if (!end || memchr(from, '<', (size_t)(end - from)))
        return wrong(s, begin, "an attribute's value without its end");
    s->at = (size_t)(end - s->x->bytes) + 1;
    return true;
}

/* The node of an element that is kept; PACK_XML_NONE for one that is not. */
static bool add_node(struct scan *s, const char *name, size_t length, size_t at, uint32_t *number)
{
    struct pack_xml *x = s->x;
    uint32_t parent = s->depth ? s->open[s->depth - 1].node : PACK_XML_NONE;
    unsigned kind = 0;
    *number = PACK_XML_NONE;
    if (s->depth > 0 && parent == PACK_XML_NONE)
        return true;
    while (kind < PACK_XML_KINDS &&
           (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, name, length) != 0))
        kind++;
    if (s->depth == 0 && kind != PACK_XML_PACKAGE)
        return pack_mistake(s->file, pack_xml_place(x, at).line, s->d,
                            "this is no package description: its root element is not <package>");
    if (kind == PACK_XML_KINDS || (parent != PACK_XML_NONE && !(kinds[kind].in >> x->nodes[parent].kind & 1)))
        return true;
    if (x->count == x->room) {
        size_t room = x->room ? 2 * x->room : 256;
        struct pack_xml_node *larger = realloc(x->nodes, room * sizeof(*larger));
        if (!larger)
            return pack_no_memory(s->d);
        x->nodes = larger;
        x->room = room;
    }
    *number = (uint32_t)x->count++;
    x->nodes[*number] = (struct pack_xml_node){.kind = (enum pack_xml_kind)kind,
                                               .parent = parent,
                                               .first = PACK_XML_NONE,
                                               .last = PACK_XML_NONE,
                                               .next = PACK_XML_NONE,
                                               .at = (uint32_t)at};
    if (parent == PACK_XML_NONE)
        return true;
    if (x->nodes[parent].last == PACK_XML_NONE)
        x->nodes[parent].first = *number;
    else
        x->nodes[x->nodes[parent].last].next = *number;
    x->nodes[parent].last = *number;
    return true;
}

static bool begin_tag(struct scan *s)
{
    size_t at = s->at++, name = s->at, length = skip_name(s);
    unsigned attributes = 0;
    struct open one = {(uint32_t)name, (uint32_t)length, PACK_XML_NONE};
    if (length == 0)
        return wrong(s, at, "the name of an element is expected");
    if (++s->elements > PACK_XML_MAX_ELEMENTS)
        return too_many(s, "too many elements", PACK_XML_MAX_ELEMENTS);
    if (s->depth == PACK_XML_MAX_DEPTH)
        return too_many(s, "nested too deep", PACK_XML_MAX_DEPTH);
    if (!note_name(s, name, length) || !add_node(s, s->x->bytes + name, length, at, &one.node))
        return false;
    struct pack_xml_node *node = one.node == PACK_XML_NONE ? NULL : &s->x->nodes[one.node];
    if (node)
        node->attributes = (uint32_t)s->at;
    for (skip_blanks(s); here(s) != '>' && here(s) != '/'; skip_blanks(s)) {
        if (++attributes > PACK_XML_MAX_ATTRIBUTES)
            return too_many(s, "too many attributes", PACK_XML_MAX_ATTRIBUTES);
        if (!skip_attribute(s))
            return false;
    }
    bool empty = here(s) == '/';
    s->at += empty;
    if (here(s) != '>')
        return wrong(s, at, "a tag without its end");
    s->at++;
    if (node)
        node->content = node->end = (uint32_t)s->at;
    if (!empty)
        s->open[s->depth++] = one;
    return true;
}

static bool end_tag(struct scan *s)
{
    size_t at = s->at;
    s->at += 2;
    size_t name = s->at, length = skip_name(s);
    skip_blanks(s);
    if (here(s) != '>')
        return wrong(s, at, "an end tag without its end");
    s->at++;
    if (s->depth == 0)
        return wrong(s, at, "an end tag too many");
    struct open *one = &s->open[--s->depth];
    if (one->length != length || memcmp(s->x->bytes + one->name, s->x->bytes + name, length) != 0) {
        char shown[48], words[128];
        text_escape((const uint8_t *)s->x->bytes + one->name, one->length, shown, sizeof(shown));
        snprintf(words, sizeof(words), "the end tag of <%s>, line %u, is expected", shown,
                 pack_xml_place(s->x, one->name).line);
        return wrong(s, at, words);
    }
    if (one->node != PACK_XML_NONE)
        s->x->nodes[one->node].end = (uint32_t)at;
    return true;
}

static bool scan_all(struct scan *s)
{
    while (s->at < s->x->size) {
        const char *next = memchr(s->x->bytes + s->at, '<', s->x->size - s->at);
        bool ok;
        if (!next)
            break;
        s->at = (size_t)(next - s->x->bytes);
        if (starts(s, "<!--"))
            ok = skip_to(s, 4, "-->", "a comment without its end");
        else if (starts(s, "<![CDATA["))
            ok = skip_to(s, 9, "]]>", "a CDATA section without its end");
        else if (starts(s, "<?"))
            ok = skip_to(s, 2, "?>", "an instruction without its end");
        else if (starts(s, "<!"))
            ok = pack_mistake(s->file, pack_xml_place(s->x, s->at).line, s->d,
                              "a document type, which is not taken here");
        else if (starts(s, "</"))
            ok = end_tag(s);
        else
            ok = begin_tag(s);
        if (!ok)
            return false;
    }
    if (s->depth > 0)
        return wrong(s, s->open[s->depth - 1].name, "an element without its end tag");
    if (s->x->count == 0)
        return wrong(s, s->x->size, "there is no element");
    return true;
}

bool pack_xml_read(struct pack_xml *x, const struct pack_file *file, struct diag *d)
{
    struct scan s = {.x = x, .file = file, .d = d};
    *x = (struct pack_xml){.bytes = file->bytes, .size = file->size};
    if (x->size == 0)
        return pack_mistake(file, 1, d, "the file is empty");
    if (x->size > PACK_MAX_BYTES)
        return pack_mistake(file, 1, d, "the file is larger than %d bytes", PACK_MAX_BYTES);
    s.names = calloc(1, sizeof(*s.names));
    if (!s.names)
        return pack_no_memory(d);
    bool ok = divide(&s) && scan_all(&s);
    free(s.names);
    return ok && pack_xml_check(file, d);
}

void pack_xml_free(struct pack_xml *x)
{
    free(x->nodes);
    free(x->pieces);
    *x = (struct pack_xml){0};
}
