/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: number and kind of arguments, what has to be constant, names of sequences, Message's format
 * (cross-trigger sheet 4.7; cases C24, C29, C30, C34, C40), access port variables (C35). Must not refuse what
 * only a target can tell.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "sequence/sequence_compiler.h"

#define MAX_PINS_WAIT 3000000 /* us; sheet 4.7 */

static bool constant(const struct sequence_compiler *c, const struct sequence_node *node, uint64_t *value)
{
    bool by_zero;
    return node && node->kind != NODE_STRING && compiler_constant(c, node, value, &by_zero);
}

static const struct sequence_node *argument(const struct sequence_node *call, unsigned i)
{
    const struct sequence_node *node = call->a;
    while (node && i--)
        node = node->next;
    return node;
}

/* ---- number and kinds */

static void say_count(struct sequence_compiler *c, const struct sequence_node *call, unsigned count)
{
    const struct sequence_function *f = call->function;
    if (f->most == f->least)
        compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "%s takes %u argument%s, not %u", f->name,
                     f->least, f->least == 1 ? "" : "s", count);
    else
        compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "%s takes at least %u arguments, not %u",
                     f->name, f->least, count);
}

static bool check_kinds(struct sequence_compiler *c, const struct sequence_node *call)
{
    const struct sequence_function *f = call->function;
    bool good = true;
    unsigned i = 0;
    for (const struct sequence_node *a = call->a; a; a = a->next, i++) {
        bool wanted = i < 32 && f->strings >> i & 1;
        bool any = f->id == FN_MESSAGE && i >= 2; /* the format decides */
        if (any || wanted == (a->kind == NODE_STRING))
            continue;
        compiler_say(c, SEQUENCE_ERROR, a->place, a->width, "argument %u of %s must be a %s", i + 1, f->name,
                     wanted ? "string in '\"'" : "number");
        good = false;
    }
    return good;
}

/* ---- the functions */

static void check_sequence(struct sequence_compiler *c, struct sequence_node *call)
{
    const char *name = call->a->string.bytes;
    char shown[100]; /* cut at a whole character, so that the sentence is not */
    text_escape((const uint8_t *)name, strlen(name), shown, sizeof(shown));
    bool exists = c->pname[0] ? sequence_code_find(c->program, name, c->pname) != NULL
                              : compiler_first_named(c->program, name) != 0;
    if (!exists && !sequence_is_predefined(name)) {
        compiler_say(c, SEQUENCE_ERROR, call->a->place, call->a->width,
                     "%s calls the sequence %s, which there is not%s", c->code->info.name, shown,
                     compiler_first_named(c->program, name) ? " for this processor" : "");
        return;
    }
    if (c->call_count == c->call_room) {
        size_t room = c->call_room ? 2 * c->call_room : 64;
        struct compiler_call *larger = realloc(c->calls, room * sizeof(*larger));
        if (!larger) {
            c->err = CORRAL_ERR_NO_MEMORY;
            return;
        }
        c->calls = larger;
        c->call_room = room;
    }
    c->calls[c->call_count++] = (struct compiler_call){c->code_index, call};
}

static void check_message_argument(struct sequence_compiler *c, const struct sequence_node *format,
                                   const struct sequence_node *a, unsigned i)
{
    bool wants = sequence_format_wants_string(format->string.bytes, format->string.size, i);
    if (wants && a->kind != NODE_STRING)
        compiler_say(c, SEQUENCE_ERROR, a->place, a->width,
                     "%%s stands for a string in '\"', not for an expression");
    else if (!wants && a->kind == NODE_STRING)
        compiler_say(c, SEQUENCE_ERROR, a->place, a->width, "a string where the format wants a number");
}

static void check_message(struct sequence_compiler *c, const struct sequence_node *call, unsigned count)
{
    const struct sequence_node *kind = call->a, *format = argument(call, 1);
    unsigned unknown = 0, given = count - 2, i = 0;
    uint64_t value;
    if (constant(c, kind, &value) && value > 2)
        compiler_say(c, SEQUENCE_ERROR, kind->place, kind->width,
                     "Message has the types 0 (information), 1 (warning) and 2 (error)");
    unsigned wanted = sequence_format_arguments(format->string.bytes, format->string.size, &unknown);
    if (unknown)
        compiler_say(c, SEQUENCE_WARNING, format->place, format->width,
                     "the format has a specifier that is not known: it is shown as it stands");
    if (given < wanted)
        compiler_say(c, SEQUENCE_ERROR, call->place, call->width, "the format wants %u argument%s, not %u",
                     wanted, wanted == 1 ? "" : "s", given);
    else if (given > wanted + unknown)
        compiler_say(c, SEQUENCE_WARNING, call->place, call->width,
                     "the format wants %u argument%s: the rest is not shown", wanted, wanted == 1 ? "" : "s");
    for (const struct sequence_node *a = format->next; a && i < wanted + unknown; a = a->next)
        check_message_argument(c, format, a, i++);
}

static void check_query(struct sequence_compiler *c, const struct sequence_node *call)
{
    uint64_t value;
    const struct sequence_node *type = call->a;
    if (!constant(c, type, &value))
        compiler_say(c, SEQUENCE_ERROR, type->place, type->width, "the type of Query must be a constant");
    else if (value > 3)
        compiler_say(c, SEQUENCE_ERROR, type->place, type->width,
                     "Query has the types 0 (Ok), 1 (YesNo), 2 (YesNoCancel) and 3 (OkCancel)");
}

static void check_range(struct sequence_compiler *c, const struct sequence_node *call, unsigned i,
                        uint64_t least, uint64_t most, const char *what)
{
    const struct sequence_node *a = argument(call, i);
    uint64_t value;
    if (constant(c, a, &value) && (value < least || value > most))
        compiler_say(c, SEQUENCE_ERROR, a->place, a->width, "%s of %s must be %llu to %llu", what,
                     call->function->name, (unsigned long long)least, (unsigned long long)most);
}

static void check_dp_register(struct sequence_compiler *c, const struct sequence_node *call)
{
    uint64_t value;
    if (constant(c, call->a, &value) && (value > 0xc || value % 4))
        compiler_say(c, SEQUENCE_ERROR, call->a->place, call->a->width,
                     "a debug port has the registers 0x0, 0x4, 0x8 and 0xC");
}

static void refuse_external(struct sequence_compiler *c, const struct sequence_token *name)
{
    bool flash = strncasecmp(name->bytes, "Flash", 5) == 0;
    compiler_say(c, SEQUENCE_ERROR, name->place, name->width,
                 flash ? "%.*s is refused: Corral does not program flash through debug sequences"
                       : "%.*s is a function of external tools, which Corral does not run",
                 (int)name->size, name->bytes);
}

/* Before the port is up and while it goes down memory may not be there: real descriptions try nevertheless.
 */
static void remark_port(struct sequence_compiler *c, const struct sequence_node *call)
{
    enum sequence_function_id id = call->function->id;
    const char *name = c->code->info.name;
    bool memory = id == FN_READ || id == FN_WRITE;
    bool ap = id == FN_READ_AP || id == FN_WRITE_AP || id == FN_READ_ACCESS_AP || id == FN_WRITE_ACCESS_AP;
    bool setup = strcmp(name, "DebugPortSetup") == 0;
    if (!(setup && ap) && !(memory && strncmp(name, "DebugPort", 9) == 0 && c->code->info.predefined))
        return;
    if (c->said_once & ONCE_PORT)
        return;
    c->said_once |= ONCE_PORT;
    compiler_say(c, SEQUENCE_WARNING, call->place, call->width,
                 "%s accesses %s: it fails where the port is %s", name, memory ? "memory" : "an access port",
                 strcmp(name, "DebugPortStop") == 0 ? "down already" : "not up yet");
}

void compiler_check_call(struct sequence_compiler *c, struct sequence_node *call,
                         const struct sequence_token *name)
{
    const struct sequence_function *f = call->function;
    unsigned count = 0;
    for (const struct sequence_node *a = call->a; a; a = a->next)
        count++;
    if (f->id == FN_EXTERNAL) {
        refuse_external(c, name);
        return;
    }
    if (count < f->least || count > f->most) {
        say_count(c, call, count);
        return;
    }
    if (!call->a || !check_kinds(c, call)) /* none of the rest takes no argument */
        return;
    remark_port(c, call);
    switch (f->id) {
    case FN_SEQUENCE:
        check_sequence(c, call);
        break;
    case FN_MESSAGE:
        check_message(c, call, count);
        break;
    case FN_QUERY:
        check_query(c, call);
        break;
    case FN_SWJ_SEQUENCE:
    case FN_JTAG_SEQUENCE:
        check_range(c, call, 0, 1, 64, "the number of bits");
        break;
    case FN_PINS:
        check_range(c, call, 2, 0, MAX_PINS_WAIT, "the wait in microseconds");
        break;
    case FN_READ_DP:
    case FN_WRITE_DP:
        check_dp_register(c, call);
        break;
    default:
        break;
    }
}

/* In a sequence that is refused anyhow, since its conditions name what is not declared, the wrong one of __ap
 * and __apid is a remark: such a sequence is a family's, and which of them is right is the device's. */
void compiler_check_names(struct sequence_compiler *c)
{
    for (unsigned i = 0; i < c->access_port_count; i++) {
        const struct compiler_note *note = &c->access_port[i];
        compiler_say(
            c, c->unfinished ? SEQUENCE_WARNING : SEQUENCE_ERROR, note->place, note->width,
            c->setting->has_access_ports
                ? "__ap cannot be used with a device whose access ports are described: expected __apid"
                : "__apid cannot be used with a device whose access ports are not described: expected __ap");
        c->code->own_errors = true;
    }
}
