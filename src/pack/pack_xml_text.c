/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What texts and attributes of a PDSC say, and where each character of them stands: entities and references
 * become characters, comments and instructions vanish, line ends become line feeds (in attributes blanks).
 * Cross-trigger sheet 4.2, case C33. The bytes are those that libxml2 has found to be XML (pack_xml.c); all
 * the same nothing is read outside them.
 */
#include <stdlib.h>
#include <string.h>

#include "pack/pack_xml.h"

struct reading {
    const struct pack_xml *x;
    struct pack_xml_text *t;
    struct diag *d;
    size_t at, end;
    bool marks;
    struct sequence_place place; /* of `at` */
    struct sequence_place next;  /* where the next character stands unless a mark says otherwise */
};

void pack_xml_text_free(struct pack_xml_text *t)
{
    free(t->bytes);
    free(t->marks);
    *t = (struct pack_xml_text){0};
}

struct sequence_text pack_xml_sequence_text(const struct pack_xml_text *t)
{
    return (struct sequence_text){.bytes = t->bytes,
                                  .size = t->size,
                                  .file = PACK_DESCRIPTION,
                                  .marks = t->marks,
                                  .mark_count = t->mark_count};
}

static bool mark(struct reading *r)
{
    struct pack_xml_text *t = r->t;
    if (t->mark_count == t->mark_room) {
        size_t room = t->mark_room ? 2 * t->mark_room : 16;
        struct sequence_mark *larger = realloc(t->marks, room * sizeof(*larger));
        if (!larger)
            return pack_no_memory(r->d);
        t->marks = larger;
        t->mark_room = room;
    }
    t->marks[t->mark_count++] = (struct sequence_mark){t->size, r->place.line, r->place.column};
    r->next = r->place;
    return true;
}

/* A character of the text, in UTF-8. It stands where the reading is; what is read for it is passed by
 * advance. */
static bool put(struct reading *r, const char *bytes, size_t size)
{
    struct pack_xml_text *t = r->t;
    if (r->marks && (r->place.line != r->next.line || r->place.column != r->next.column) && !mark(r))
        return false;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    if (bytes[0] == '\n') {
        r->next.line++;
        r->next.column = 1;
    } else {
        r->next.column++;
    }
    return true;
}

static void advance(struct reading *r, size_t size)
{
    for (size_t i = 0; i < size && r->at < r->end; i++, r->at++) {
        char c = r->x->bytes[r->at];
        if (c == '\n') {
            r->place.line++;
            r->place.column = 1;
        } else if (((unsigned char)c & 0xC0) != 0x80) {
            r->place.column++;
        }
    }
}

static size_t encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[length] | code);
    return length;
}

/* &name; or &#number; of `length` bytes without the semicolon. False when it means nothing. */
static bool reference(const char *text, size_t length, uint32_t *code)
{
    static const struct {
        const char *name;
        char c;
    } five[] = {{"&lt", '<'}, {"&gt", '>'}, {"&amp", '&'}, {"&quot", '"'}, {"&apos", '\''}};
    for (size_t i = 0; i < sizeof(five) / sizeof(five[0]); i++) {
        if (strlen(five[i].name) == length && memcmp(five[i].name, text, length) == 0) {
            *code = (unsigned char)five[i].c;
            return true;
        }
    }
    if (length < 3 || text[1] != '#')
        return false;
    bool hex = text[2] == 'x';
    *code = 0;
    for (size_t i = hex ? 3 : 2; i < length; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'          ? (unsigned)(c - '0')
                         : hex && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : hex && c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                       : 99;
        if (digit == 99)
            return false;
        *code = *code * (hex ? 16 : 10) + digit;
        if (*code > 0x10FFFF)
            return false;
    }
    return *code != 0;
}

/* One character as it stands, a line's end, an entity. */
static bool take_character(struct reading *r, bool attribute, bool entities)
{
    const char *p = r->x->bytes + r->at;
    size_t left = r->end - r->at, length = 1;
    char out[4] = {*p};
    if (*p == '&' && entities) {
        const char *semicolon = memchr(p, ';', left < 64 ? left : 64);
        uint32_t code;
        if (semicolon && reference(p, (size_t)(semicolon - p), &code)) {
            size_t size = encode(code, out);
            return put(r, out, size) && (advance(r, (size_t)(semicolon - p) + 1), true);
        }
    } else if (*p == '\r') {
        length = left > 1 && p[1] == '\n' ? 2 : 1;
        out[0] = attribute ? ' ' : '\n';
    } else if (attribute && (*p == '\n' || *p == '\t')) {
        out[0] = ' ';
    } else {
        while (length < left && length < 4 && ((unsigned char)p[length] & 0xC0) == 0x80)
            length++;
        if (!put(r, p, length))
            return false;
        advance(r, length);
        return true;
    }
    if (!put(r, out, 1))
        return false;
    advance(r, length);
    return true;
}

static size_t length_to(const struct reading *r, const char *end, size_t skip)
{
    size_t left = r->end - r->at;
    const char *p = r->x->bytes + r->at;
    const char *found = left > skip ? memmem(p + skip, left - skip, end, strlen(end)) : NULL;
    return found ? (size_t)(found - p) + strlen(end) : left;
}

/* The length of a tag; '>' in an attribute's value does not end it. */
static size_t tag_length(const struct reading *r)
{
    char quote = 0;
    for (size_t i = r->at; i < r->end; i++) {
        char c = r->x->bytes[i];
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (!quote && c == '>')
            return i + 1 - r->at;
    }
    return r->end - r->at;
}

static bool is_next(const struct reading *r, const char *text)
{
    size_t length = strlen(text);
    return r->end - r->at >= length && memcmp(r->x->bytes + r->at, text, length) == 0;
}

static bool take_cdata(struct reading *r, bool shown)
{
    size_t length = length_to(r, "]]>", 9), end = r->end;
    size_t begin = r->at;
    advance(r, 9);
    r->end = begin + length - 3;
    while (shown && r->at < r->end)
        if (!take_character(r, false, false))
            return false;
    r->end = end;
    advance(r, begin + length - r->at);
    return true;
}

static bool take_content(struct reading *r)
{
    unsigned inside = 0; /* elements in which it stands */
    while (r->at < r->end) {
        if (r->x->bytes[r->at] != '<') {
            if (inside)
                advance(r, 1);
            else if (!take_character(r, false, true))
                return false;
        } else if (is_next(r, "<!--")) {
            advance(r, length_to(r, "-->", 4));
        } else if (is_next(r, "<?")) {
            advance(r, length_to(r, "?>", 2));
        } else if (is_next(r, "<![CDATA[")) {
            if (!take_cdata(r, inside == 0))
                return false;
        } else {
            bool ends = is_next(r, "</");
            size_t length = tag_length(r);
            bool empty = length >= 2 && r->x->bytes[r->at + length - 2] == '/';
            if (ends && inside > 0)
                inside--;
            else if (!ends && !empty)
                inside++;
            advance(r, length);
        }
    }
    return true;
}

static bool read_range(const struct pack_xml *x, size_t begin, size_t end, bool attribute, bool marks,
                       struct pack_xml_text *t, struct diag *d)
{
    struct reading r = {.x = x, .t = t, .d = d, .at = begin, .end = end, .marks = marks};
    if (marks)
        r.place = pack_xml_place(x, begin);
    t->size = t->mark_count = 0;
    /* No text is longer than what stands for it. */
    if (t->room < end - begin + 1) {
        char *larger = realloc(t->bytes, end - begin + 1);
        if (!larger)
            return pack_no_memory(d);
        t->bytes = larger;
        t->room = end - begin + 1;
    }
    if (marks && begin == end && !mark(&r))
        return false;
    bool ok = true;
    if (attribute)
        while (ok && r.at < r.end)
            ok = take_character(&r, true, true);
    else
        ok = take_content(&r);
    t->bytes[t->size] = '\0';
    return ok;
}

bool pack_xml_content(const struct pack_xml *x, const struct pack_xml_node *node, struct pack_xml_text *t,
                      struct diag *d)
{
    return read_range(x, node->content, node->end, false, true, t, d);
}

bool pack_xml_find(const struct pack_xml *x, const struct pack_xml_node *node, const char *name,
                   uint32_t *begin, uint32_t *end)
{
    const char *p = x->bytes + node->attributes, *last = x->bytes + node->content;
    size_t wanted = strlen(name);
    while (p < last) {
        p += strspn(p, " \t\r\n");
        size_t length = strcspn(p, " \t\r\n<>/='\"");
        const char *equals = p + length + strspn(p + length, " \t\r\n");
        if (length == 0 || *equals != '=')
            return false;
        const char *quote = equals + 1 + strspn(equals + 1, " \t\r\n");
        const char *close = *quote ? strchr(quote + 1, *quote) : NULL;
        if (!close)
            return false;
        if (length == wanted && memcmp(p, name, length) == 0) {
            *begin = (uint32_t)(quote + 1 - x->bytes);
            *end = (uint32_t)(close - x->bytes);
            return true;
        }
        p = close + 1;
    }
    return false;
}

bool pack_xml_attribute(const struct pack_xml *x, const struct pack_xml_node *node, const char *name,
                        bool marks, struct pack_xml_text *t, bool *there, struct diag *d)
{
    uint32_t begin = 0, end = 0;
    *there = pack_xml_find(x, node, name, &begin, &end);
    return read_range(x, begin, end, true, marks, t, d);
}
