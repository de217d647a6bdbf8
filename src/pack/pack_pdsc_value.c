/* SPDX-License-Identifier: Apache-2.0 */
/* What attributes of a PDSC mean: names, numbers, yes and no. A wrong one is told with its line. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "pack/pack_pdsc_internal.h"

static bool read(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name, bool *there)
{
    return pack_xml_attribute(r->x, node, name, false, &r->value, there, r->d);
}

struct sequence_place pack_pdsc_place(const struct pack_pdsc_reading *r, const struct pack_xml_node *node,
                                      const char *name)
{
    uint32_t begin, end;
    return pack_xml_find(r->x, node, name, &begin, &end) ? pack_xml_place(r->x, begin)
                                                         : pack_xml_place_of(r->x, node);
}

static bool wrong(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                  const char *expected)
{
    char shown[48];
    text_escape((const uint8_t *)r->value.bytes, r->value.size, shown, sizeof(shown));
    return pack_mistake(r->file, pack_pdsc_place(r, node, name).line, r->d, "%s is '%s', not %s", name, shown,
                        expected);
}

bool pack_pdsc_string(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                      char *out, size_t size)
{
    bool there = false;
    if (!read(r, node, name, &there))
        return false;
    if (!there)
        return true;
    if (r->value.size >= size ||
        text_escape((const uint8_t *)r->value.bytes, r->value.size, out, size) != r->value.size)
        return pack_mistake(r->file, pack_pdsc_place(r, node, name).line, r->d,
                            "%s is longer than %zu printable characters", name, size - 1);
    return true;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *value)
{
    static const char blank[] = " \t\r\n";
    text += strspn(text, blank);
    size_t length = strcspn(text, blank);
    if (length == 0 || text[length + strspn(text + length, blank)] != '\0')
        return false;
    return text_number(text, length, false, most, value);
}

bool pack_pdsc_number(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                      uint64_t most, uint64_t *value, bool *there)
{
    bool is_there = false;
    uint64_t number;
    if (!read(r, node, name, &is_there))
        return false;
    if (!is_there)
        return true;
    if (strlen(r->value.bytes) != r->value.size || !parse_number(r->value.bytes, most, &number))
        return wrong(r, node, name, "a number that fits");
    *value = number;
    if (there)
        *there = true;
    return true;
}

bool pack_pdsc_number32(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                        uint32_t *value, bool *there)
{
    uint64_t wide = *value;
    if (!pack_pdsc_number(r, node, name, UINT32_MAX, &wide, there))
        return false;
    *value = (uint32_t)wide;
    return true;
}

bool pack_pdsc_flag(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *name,
                    bool *value)
{
    bool there = false;
    if (!read(r, node, name, &there))
        return false;
    if (!there)
        return true;
    const char *text = r->value.bytes;
    bool yes = strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0;
    bool no = strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0;
    if (yes || no) {
        *value = yes;
        return true;
    }
    char shown[48];
    size_t width = text_escape((const uint8_t *)text, r->value.size, shown, sizeof(shown));
    sequence_problems_add(r->problems, SEQUENCE_WARNING, pack_pdsc_place(r, node, name), (unsigned)width,
                          NULL, "%s is '%s', where 1, true, 0 or false is expected: not heeded", name, shown);
    return true;
}

bool pack_pdsc_needs(struct pack_pdsc_reading *r, const struct pack_xml_node *node, const char *element,
                     const char *name)
{
    uint32_t begin, end;
    if (pack_xml_find(r->x, node, name, &begin, &end))
        return true;
    return pack_mistake(r->file, pack_xml_place_of(r->x, node).line, r->d, "%s without %s", element, name);
}
