/* SPDX-License-Identifier: Apache-2.0 */
/* See rsp_reply.h. */
#include "link/rsp_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* At least one digit, and no more than fit. */
static bool take_hex(const char **text, uint64_t limit, uint64_t *value)
{
    const char *p = *text;
    uint64_t v = 0;
    for (; text_hex_digit((uint8_t)*p) >= 0; p++) {
        if (v > limit >> 4)
            return false;
        v = v << 4 | (unsigned)text_hex_digit((uint8_t)*p);
    }
    if (p == *text || v > limit)
        return false;
    *text = p;
    *value = v;
    return true;
}

bool rsp_reply_hex(const char *text, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++, text += 2) {
        int high = text_hex_digit((uint8_t)text[0]);
        int low = high < 0 ? -1 : text_hex_digit((uint8_t)text[1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return *text == '\0';
}

bool rsp_reply_is_error(const char *text, int *number, const char **words)
{
    *number = -1;
    *words = "";
    if (text[0] != 'E')
        return false;
    if (text[1] == '.') {
        *words = text + 2;
        return true;
    }
    if (text_hex_digit((uint8_t)text[1]) < 0 || text_hex_digit((uint8_t)text[2]) < 0 || text[3] != '\0')
        return false;
    *number = text_hex_digit((uint8_t)text[1]) << 4 | text_hex_digit((uint8_t)text[2]);
    return true;
}

static bool take_id(const char **text, int32_t *id)
{
    uint64_t v = 0;
    if (strncmp(*text, "-1", 2) == 0) {
        *text += 2;
        *id = -1;
        return true;
    }
    if (!take_hex(text, INT32_MAX, &v))
        return false;
    *id = (int32_t)v;
    return true;
}

bool rsp_reply_thread_id(const char *text, struct rsp_thread_id *id, const char **rest)
{
    *id = (struct rsp_thread_id){0};
    if (*text == 'p') {
        text++;
        if (!take_id(&text, &id->pid) || *text != '.')
            return false;
        text++;
    }
    bool good = take_id(&text, &id->tid);
    *rest = text;
    return good;
}

/* "NAME:VALUE" of a T packet. */
static bool take_field(const char *name, size_t length, const char *value, struct rsp_stop *stop)
{
    const char *rest = value;
    static const char *const watches[] = {"watch", "rwatch", "awatch"}, *const breaks[] = {"swbreak",
                                                                                           "hwbreak"};
    if (length == 6 && strncmp(name, "thread", 6) == 0) {
        stop->has_thread = rsp_reply_thread_id(value, &stop->thread, &rest);
        return stop->has_thread && (*rest == ';' || *rest == '\0');
    }
    for (size_t i = 0; i < 3; i++)
        if (length == strlen(watches[i]) && strncmp(name, watches[i], length) == 0) {
            stop->kind = RSP_STOP_WATCH;
            return take_hex(&rest, UINT64_MAX, &stop->address) && (*rest == ';' || *rest == '\0');
        }
    for (size_t i = 0; i < 2; i++)
        if (length == 7 && strncmp(name, breaks[i], length) == 0 && stop->kind == RSP_STOP_SIGNAL)
            stop->kind = RSP_STOP_BREAK;
    return true; /* registers and what we do not know */
}

bool rsp_reply_stop(const char *text, struct rsp_stop *stop)
{
    *stop = (struct rsp_stop){0};
    char kind = *text++;
    if ((kind != 'T' && kind != 'S' && kind != 'W' && kind != 'X') || text_hex_digit((uint8_t)text[0]) < 0 ||
        text_hex_digit((uint8_t)text[1]) < 0)
        return false;
    stop->signal = (unsigned)(text_hex_digit((uint8_t)text[0]) << 4 | text_hex_digit((uint8_t)text[1]));
    text += 2;
    if (kind == 'W' || kind == 'X') {
        stop->kind = RSP_STOP_ENDED;
        return *text == '\0' || *text == ';';
    }
    if (kind == 'S')
        return *text == '\0';
    while (*text) {
        size_t length = strcspn(text, ":;");
        if (text[length] != ':' || !take_field(text, length, text + length + 1, stop))
            return false;
        text += length + 1;
        text += strcspn(text, ";");
        text += *text == ';';
    }
    return true;
}

bool rsp_reply_threads(const char *text, struct rsp_thread_id *list, size_t room, size_t *count, bool *last)
{
    *last = text[0] == 'l' && text[1] == '\0';
    if (*last)
        return true;
    if (*text++ != 'm')
        return false;
    for (;;) {
        struct rsp_thread_id id;
        if (!rsp_reply_thread_id(text, &id, &text) || id.tid <= 0 || id.pid < 0)
            return false;
        if (*count < room)
            list[(*count)++] = id;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncmp(text, word, length) == 0;
}

void rsp_reply_features(const char *text, struct rsp_features *f)
{
    static const char size_word[] = "PacketSize=";
    *f = (struct rsp_features){0};
    while (*text) {
        size_t length = strcspn(text, ";");
        if (length > strlen(size_word) && strncmp(text, size_word, strlen(size_word)) == 0) {
            const char *p = text + strlen(size_word);
            uint64_t v = 0;
            if (take_hex(&p, UINT32_MAX, &v) && (*p == ';' || *p == '\0'))
                f->packet_size = (uint32_t)v;
        }
        f->multiprocess |= is_word(text, length, "multiprocess+");
        f->no_ack |= is_word(text, length, "QStartNoAckMode+");
        f->vcont |= is_word(text, length, "vContSupported+");
        f->target_xml |= is_word(text, length, "qXfer:features:read+");
        text += length + (text[length] == ';');
    }
}

/* The value of attribute `name` within a tag that ends at `end`, as long as it fits; false without one. */
static bool attribute(const char *tag, const char *end, const char *name, char *out, size_t room)
{
    size_t n = strlen(name);
    for (const char *p = tag; p + n + 2 < end; p++) {
        if (strncmp(p, name, n) != 0 || p[n] != '=' || (p[n + 1] != '"' && p[n + 1] != '\'') ||
            (p[-1] != ' ' && p[-1] != '\t' && p[-1] != '\n' && p[-1] != '\r'))
            continue;
        const char *value = p + n + 2;
        const char *close = memchr(value, p[n + 1], (size_t)(end - value));
        if (!close || (size_t)(close - value) >= room)
            return false;
        memcpy(out, value, (size_t)(close - value));
        out[close - value] = '\0';
        return true;
    }
    return false;
}

static bool decimal(const char *text, uint32_t limit, uint32_t *value)
{
    uint32_t v = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || v > limit / 10)
            return false;
        v = v * 10 + (uint32_t)(*text - '0');
    }
    *value = v;
    return v <= limit;
}

static bool is_plain(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name && strspn(name, allowed) == strlen(name);
}

static void take_register(const char *tag, const char *end, struct rsp_registers *r)
{
    char name[RSP_NAME], text[12];
    uint32_t number = r->next, bits = 0;
    if (attribute(tag, end, "regnum", text, sizeof(text)) && !decimal(text, 0xFFFF, &number))
        return;
    r->next = number + 1;
    if (!attribute(tag, end, "bitsize", text, sizeof(text)) || !decimal(text, 4096, &bits) ||
        !attribute(tag, end, "name", name, sizeof(name)) || !is_plain(name) || r->count == RSP_REGISTERS)
        return;
    struct rsp_register *reg = &r->reg[r->count++];
    memcpy(reg->name, name, sizeof(name));
    reg->number = number;
    reg->bits = bits;
}

void rsp_reply_registers(const char *xml, struct rsp_registers *r)
{
    while ((xml = strchr(xml, '<')) != NULL) {
        if (strncmp(xml, "<!--", 4) == 0) {
            xml = strstr(xml, "-->");
            if (!xml)
                return;
            continue;
        }
        const char *end = strchr(xml, '>');
        if (!end)
            return;
        if (strncmp(xml, "<reg ", 5) == 0)
            take_register(xml + 5, end, r);
        else if (strncmp(xml, "<xi:include ", 12) == 0 && r->includes < RSP_INCLUDES &&
                 attribute(xml + 12, end, "href", r->include[r->includes], sizeof(r->include[0])) &&
                 is_plain(r->include[r->includes]))
            r->includes++;
        xml = end;
    }
}
