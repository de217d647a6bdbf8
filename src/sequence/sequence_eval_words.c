/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a sequence that speak with people: Query, QueryValue, Message, LoadDebugInfo.
 * Cross-trigger sheet 4.7, cases C29 to C31. Texts of a file reach the caller escaped.
 */
#include "sequence/sequence_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

static const char *escaped(const struct sequence_node *node, char *out, size_t size)
{
    if (node->kind == NODE_STRING)
        text_escape((const uint8_t *)node->string.bytes, node->string.size, out, size);
    else
        out[0] = '\0';
    return out;
}

/* 1 OK, 2 Cancel, 3 Yes, 4 No: which of them a box of each type has. */
static bool is_answer(uint64_t type, uint64_t answer)
{
    static const uint8_t answers[] = {1 << 1, 1 << 3 | 1 << 4, 1 << 2 | 1 << 3 | 1 << 4, 1 << 1 | 1 << 2};
    return type < sizeof(answers) && answer < 8 && (answers[type] >> answer) & 1;
}

bool sequence_query(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    bool boxed = node->function->id == FN_QUERY;
    const struct sequence_node *text = boxed && node->a ? node->a->next : node->a;
    uint64_t type = SEQUENCE_QUERY_VALUE, answer;
    if (s->atomic.mode != MODE_PLAIN)
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE, "%s cannot stand in an atomic block",
                             node->function->name);
    if (!text || !text->next)
        return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "%s lacks an argument", node->function->name);
    if ((boxed && !sequence_eval(s, node->a, &type)) || !sequence_eval(s, text->next, &answer))
        return false;
    if (boxed && type >= SEQUENCE_QUERY_VALUE) {
        *value = 0;
        sequence_warn(s, node, "Query has no type %" PRIu64 ": its answer is 0, an error", type);
        return true;
    }
    if (s->run->target->query) {
        char shown[SEQUENCE_MESSAGE_MAX];
        enum corral_err err = s->run->target->query(s->run->ctx, (unsigned)type,
                                                    escaped(text, shown, sizeof(shown)), &answer, s->d);
        if (err)
            return sequence_fail_said(s, node->place, err);
    }
    if (boxed && !is_answer(type, answer)) {
        sequence_warn(s, node,
                      "Query of type %" PRIu64 " cannot be answered by %" PRIu64 ": taken for 0, an error",
                      type, answer);
        answer = 0;
    }
    *value = answer;
    return true;
}

/* Both are done when the batch of an atomic block has been: nothing is known before. */
bool sequence_load_debug_info(struct sequence_state *s, const struct sequence_node *node, uint64_t *value)
{
    *value = 1;
    if (s->atomic.mode == MODE_COLLECT) {
        s->atomic.unknown = true;
        return true;
    }
    char file[SEQUENCE_MESSAGE_MAX];
    if (!node->a)
        return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "%s lacks an argument", node->function->name);
    escaped(node->a, file, sizeof(file));
    if (s->run->target->load_debug_info) {
        *value = s->run->target->load_debug_info(s->run->ctx, file) != 0;
    } else if (s->run->target->message) {
        char text[SEQUENCE_MESSAGE_MAX + 64];
        snprintf(text, sizeof(text), "LoadDebugInfo is not supported: \"%s\" is not loaded", file);
        s->run->target->message(s->run->ctx, SEQUENCE_WARN, text);
    }
    return true;
}

/* The arguments behind the format, all of them evaluated. */
static bool message_arguments(struct sequence_state *s, const struct sequence_node *format,
                              struct sequence_format_argument list[SEQUENCE_ARGUMENTS], unsigned *count)
{
    for (const struct sequence_node *one = format->next; one; one = one->next) {
        if (*count == SEQUENCE_ARGUMENTS)
            return sequence_fail(s, one->place, CORRAL_ERR_LIMIT, "Message takes at most %d arguments",
                                 SEQUENCE_ARGUMENTS);
        struct sequence_format_argument *argument = &list[(*count)++];
        *argument = (struct sequence_format_argument){.is_string = one->kind == NODE_STRING};
        if (argument->is_string)
            argument->string = one->string.bytes;
        else if (!sequence_eval(s, one, &argument->number))
            return false;
    }
    return true;
}

static bool check_message(struct sequence_state *s, const struct sequence_node *format,
                          const struct sequence_format_argument *list, unsigned count)
{
    unsigned odd;
    unsigned needed = sequence_format_arguments(format->string.bytes, format->string.size, &odd);
    if (needed > count)
        return sequence_fail(s, format->place, CORRAL_ERR_FORMAT, "Message needs %u arguments and has %u",
                             needed, count);
    for (unsigned i = 0; i < needed; i++)
        if (sequence_format_wants_string(format->string.bytes, format->string.size, i) && !list[i].is_string)
            return sequence_fail(s, format->place, CORRAL_ERR_FORMAT,
                                 "argument %u of Message is for %%s and no text", i + 1);
    if (odd)
        sequence_warn(s, format,
                      "the format of a Message holds an unknown specifier, which is shown as it is");
    return true;
}

static bool say(struct sequence_state *s, const struct sequence_node *node, uint64_t type,
                const struct sequence_node *format, const struct sequence_format_argument *list,
                unsigned count)
{
    char text[SEQUENCE_MESSAGE_MAX];
    sequence_format(format->string.bytes, format->string.size, list, count, text);
    if (s->run->target->message)
        s->run->target->message(s->run->ctx, (enum sequence_message)type, text);
    return type != SEQUENCE_FATAL || sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE, "%s", text);
}

bool sequence_say(struct sequence_state *s, const struct sequence_node *node)
{
    struct sequence_format_argument list[SEQUENCE_ARGUMENTS];
    unsigned count = 0;
    uint64_t type;
    const struct sequence_node *format = node->a ? node->a->next : NULL;
    if (!format || format->kind != NODE_STRING)
        return sequence_fail(s, node->place, CORRAL_ERR_FORMAT, "Message lacks its format");
    if (!sequence_eval(s, node->a, &type) || !message_arguments(s, format, list, &count))
        return false;
    if (type > SEQUENCE_FATAL)
        return sequence_fail(s, node->place, CORRAL_ERR_SEQUENCE,
                             "Message has types 0, 1 and 2, and not %" PRIu64, type);
    if (!check_message(s, format, list, count))
        return false;
    if (s->atomic.mode == MODE_COLLECT) {
        s->atomic.ended = type == SEQUENCE_FATAL;
        return true;
    }
    return say(s, node, type, format, list, count);
}
