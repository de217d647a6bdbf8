/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of gdb, parsed. GDB manual, appendix "Remote Protocol", sections "Packets", "General Query
 * Packets", "vFlash"; cross-trigger sheet 10.1, cases D9, D24; a neighbour's faults: the C forms of vCont
 * (report 02), lengths and payloads that disagree (report 05).
 *
 * Every payload is hostile. It is looked at once, from left to right, through a cursor that knows its end.
 */
#include "gdb/request.h"

#include <string.h>

#include "base/text.h"

struct cursor {
    char *at;
    char *end;
};

static bool at_end(const struct cursor *c)
{
    return c->at == c->end;
}

static bool take_char(struct cursor *c, char want)
{
    if (at_end(c) || *c->at != want)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

/* One to sixteen hexadecimal digits that mean something; zeros before them do not count. */
static bool take_hex(struct cursor *c, uint64_t *value)
{
    uint64_t v = 0;
    const char *from = c->at;
    for (int d; !at_end(c) && (d = text_hex_digit((uint8_t)*c->at)) >= 0; c->at++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)d;
    }
    *value = v;
    return c->at != from;
}

/* A thread: hexadecimal, -1 for all, 0 for any, or pPID.TID, whose process says nothing to us. */
static bool take_one_id(struct cursor *c, int64_t *id)
{
    uint64_t v;
    if (take_char(c, '-')) {
        *id = GDB_THREAD_ALL;
        return take_char(c, '1');
    }
    if (!take_hex(c, &v) || v > INT64_MAX)
        return false;
    *id = (int64_t)v;
    return true;
}

static bool take_thread(struct cursor *c, int64_t *thread)
{
    if (!take_char(c, 'p'))
        return take_one_id(c, thread);
    int64_t process;
    if (!take_one_id(c, &process))
        return false;
    *thread = GDB_THREAD_ALL;
    return !take_char(c, '.') || take_one_id(c, thread);
}

static void malformed(struct gdb_request *r, const char *why)
{
    r->kind = GDB_MALFORMED;
    r->fault = why;
}

/* Hexadecimal bytes up to the end, decoded where they stand. */
static bool take_bytes(struct cursor *c, struct gdb_request *r)
{
    size_t digits = (size_t)(c->end - c->at);
    uint8_t *out = (uint8_t *)c->at;
    if (digits % 2)
        return false;
    for (size_t i = 0; i < digits / 2; i++) {
        int high = text_hex_digit((uint8_t)c->at[2 * i]), low = text_hex_digit((uint8_t)c->at[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    r->data = out;
    r->data_size = digits / 2;
    c->at = c->end;
    return true;
}

static bool take_memory(struct cursor *c, struct gdb_request *r)
{
    return take_hex(c, &r->memory.address) && take_char(c, ',') && take_hex(c, &r->memory.length);
}

static void read_memory(struct cursor *c, struct gdb_request *r)
{
    if (!take_memory(c, r) || !at_end(c))
        malformed(r, "an address and a length are wanted");
}

static void write_memory(struct cursor *c, struct gdb_request *r, bool binary)
{
    if (!take_memory(c, r) || !take_char(c, ':')) {
        malformed(r, "an address, a length and data are wanted");
        return;
    }
    if (binary) {
        r->data = (const uint8_t *)c->at;
        r->data_size = (size_t)(c->end - c->at);
    } else if (!take_bytes(c, r)) {
        malformed(r, "the data are not whole hexadecimal bytes");
        return;
    }
    if (r->data_size != r->memory.length)
        malformed(r, "the length and the data disagree");
}

static void flash_write(struct cursor *c, struct gdb_request *r)
{
    r->memory.length = 0;
    if (!take_hex(c, &r->memory.address) || !take_char(c, ':')) {
        malformed(r, "an address and data are wanted");
        return;
    }
    r->data = (const uint8_t *)c->at;
    r->data_size = (size_t)(c->end - c->at);
}

static void registers(struct cursor *c, struct gdb_request *r)
{
    if (r->kind == GDB_READ_REGISTERS ? !at_end(c) : !take_bytes(c, r))
        malformed(r, "the registers are not whole hexadecimal bytes");
}

static void one_register(struct cursor *c, struct gdb_request *r)
{
    bool good = take_hex(c, &r->number);
    if (r->kind == GDB_WRITE_REGISTER)
        good = good && take_char(c, '=') && take_bytes(c, r);
    if (!good || !at_end(c))
        malformed(r, "a register number is wanted, and its value for a write");
}

static void breakpoint(struct cursor *c, struct gdb_request *r)
{
    uint64_t type;
    bool good = take_hex(c, &type) && type <= 4 && take_char(c, ',') && take_hex(c, &r->breakpoint.address) &&
                take_char(c, ',') && take_hex(c, &r->breakpoint.kind);
    /* Conditions and commands behind ';' are offered to a stub that says it wants them: we do not. */
    if (!good || !at_end(c)) {
        malformed(r, "type, address and kind of a breakpoint are wanted");
        return;
    }
    r->breakpoint.type = (unsigned)type;
}

static bool take_signal(struct cursor *c, unsigned *number)
{
    uint64_t v;
    if (!take_hex(c, &v) || v > 0xFF)
        return false;
    *number = (unsigned)v;
    return true;
}

static bool take_action(struct cursor *c, struct gdb_action *a)
{
    *a = (struct gdb_action){.thread = GDB_THREAD_ALL};
    if (take_char(c, 'c')) {
        a->kind = GDB_CONTINUE;
    } else if (take_char(c, 's')) {
        a->kind = GDB_STEP;
    } else if (take_char(c, 't')) {
        a->kind = GDB_STOP;
    } else if (take_char(c, 'C')) {
        a->kind = GDB_CONTINUE;
        if (!take_signal(c, &a->signal))
            return false;
    } else if (take_char(c, 'S')) {
        a->kind = GDB_STEP;
        if (!take_signal(c, &a->signal))
            return false;
    } else if (take_char(c, 'r')) {
        a->kind = GDB_RANGE_STEP;
        if (!take_hex(c, &a->start) || !take_char(c, ',') || !take_hex(c, &a->end))
            return false;
    } else {
        return false;
    }
    return !take_char(c, ':') || take_thread(c, &a->thread);
}

static void resume(struct cursor *c, struct gdb_request *r)
{
    r->actions.count = 0;
    r->actions.old_form = false;
    do {
        if (r->actions.count >= GDB_ACTIONS_MAX) {
            malformed(r, "there are too many actions");
            return;
        }
        if (!take_action(c, &r->actions.list[r->actions.count++])) {
            malformed(r, "an action is c, s, t, C, S with a signal, or r with a range, and a thread");
            return;
        }
    } while (take_char(c, ';'));
    if (!at_end(c))
        malformed(r, "there is something behind the actions");
}

/* c[ADDR], s[ADDR], CSIG[;ADDR], SSIG[;ADDR]. */
static void old_resume(struct cursor *c, struct gdb_request *r, char form)
{
    struct gdb_action *a = &r->actions.list[0];
    bool good = true;
    *a = (struct gdb_action){.kind = form == 'c' || form == 'C' ? GDB_CONTINUE : GDB_STEP,
                             .thread = GDB_THREAD_ANY};
    r->actions.count = 1;
    r->actions.old_form = true;
    if (form == 'C' || form == 'S')
        good = take_signal(c, &a->signal) && (at_end(c) || take_char(c, ';'));
    if (good && !at_end(c))
        good = a->address_set = take_hex(c, &a->address);
    if (!good || !at_end(c))
        malformed(r, "a signal, and an address, are what can follow");
}

/* OBJECT:read:ANNEX:OFFSET,LENGTH; the two names are ended where their ':' stood. */
static void transfer(struct cursor *c, struct gdb_request *r)
{
    char *object = c->at;
    char *colon = memchr(c->at, ':', (size_t)(c->end - c->at));
    if (!colon)
        return;
    c->at = colon + 1;
    if (!take_word(c, "read:"))
        return; /* writes are not known here */
    char *annex = c->at;
    char *after = memchr(c->at, ':', (size_t)(c->end - c->at));
    if (!after) {
        malformed(r, "an annex, an offset and a length are wanted");
        return;
    }
    c->at = after + 1;
    r->kind = GDB_XFER_READ;
    r->xfer.object = object;
    r->xfer.annex = annex;
    if (!take_hex(c, &r->xfer.offset) || !take_char(c, ',') || !take_hex(c, &r->xfer.length) || !at_end(c) ||
        memchr(object, '\0', (size_t)(after - object))) {
        malformed(r, "an annex, an offset and a length are wanted");
        return;
    }
    *colon = *after = '\0';
}

static void command(struct cursor *c, struct gdb_request *r)
{
    char *text = c->at;
    /* The NUL behind the decoded text has room: it is half as long as its digits. */
    if (!take_bytes(c, r) || memchr(text, '\0', r->data_size)) {
        malformed(r, "the command is not a text in hexadecimal");
        return;
    }
    text[r->data_size] = '\0';
    r->text = text;
    r->data = NULL;
    r->data_size = 0;
}

static bool has_feature(const char *from, size_t size, const char *name)
{
    return size == strlen(name) && memcmp(from, name, size) == 0;
}

static void supported(struct cursor *c, struct gdb_request *r)
{
    r->supported = (struct gdb_supported){0};
    if (at_end(c) || !take_char(c, ':'))
        return;
    while (!at_end(c)) {
        char *semicolon = memchr(c->at, ';', (size_t)(c->end - c->at));
        char *to = semicolon ? semicolon : c->end;
        size_t n = (size_t)(to - c->at);
        r->supported.swbreak |= has_feature(c->at, n, "swbreak+");
        r->supported.hwbreak |= has_feature(c->at, n, "hwbreak+");
        r->supported.multiprocess |= has_feature(c->at, n, "multiprocess+");
        r->supported.error_message |= has_feature(c->at, n, "error-message+");
        c->at = semicolon ? semicolon + 1 : c->end;
    }
}

static void thread_only(struct cursor *c, struct gdb_request *r)
{
    if (!take_thread(c, &r->thread) || !at_end(c))
        malformed(r, "a thread is wanted");
}

static void select_thread(struct cursor *c, struct gdb_request *r)
{
    if (at_end(c) || (*c->at != 'g' && *c->at != 'c')) {
        malformed(r, "Hg or Hc is what there is");
        return;
    }
    r->select.operation = *c->at++;
    if (!take_thread(c, &r->select.thread) || !at_end(c))
        malformed(r, "a thread is wanted");
}

/* Packets that begin with these words. `rest` may be followed by more, which the parser then takes. */
struct named {
    const char *word;
    enum gdb_request_kind kind;
    void (*parse)(struct cursor *c, struct gdb_request *r); /* NULL: nothing may follow */
};

static void anything(struct cursor *c, struct gdb_request *r)
{
    (void)c;
    (void)r;
}

static const struct named queries[] = {
    {"qSupported", GDB_SUPPORTED, supported},
    {"QStartNoAckMode", GDB_NO_ACK, NULL},
    {"qfThreadInfo", GDB_FIRST_THREADS, NULL},
    {"qsThreadInfo", GDB_NEXT_THREADS, NULL},
    {"qThreadExtraInfo,", GDB_THREAD_INFO, thread_only},
    {"qAttached", GDB_ATTACHED, anything},
    {"qTStatus", GDB_TRACE_STATUS, anything},
    {"qSymbol:", GDB_SYMBOL, anything},
    {"qXfer:", GDB_UNKNOWN, transfer},
    {"qRcmd,", GDB_COMMAND, command},
    {"qCRC:", GDB_CRC, read_memory},
    {"qC", GDB_CURRENT_THREAD, NULL},
    {"vCont?", GDB_RESUME_ACTIONS, NULL},
    {"vCont;", GDB_RESUME, resume},
    {"vKill", GDB_KILL, anything},
    {"vRun", GDB_RUN, anything},
    {"vAttach;", GDB_ATTACH, anything},
    {"vFlashErase:", GDB_FLASH_ERASE, read_memory},
    {"vFlashWrite:", GDB_FLASH_WRITE, flash_write},
    {"vFlashDone", GDB_FLASH_DONE, NULL},
};

static void parse_query(struct cursor *c, struct gdb_request *r)
{
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        const struct named *n = &queries[i];
        if (!take_word(c, n->word))
            continue;
        if (!n->parse && !at_end(c))
            return; /* a longer word that begins alike */
        r->kind = n->kind;
        if (n->parse)
            n->parse(c, r);
        return;
    }
}

static void alone(const struct cursor *c, struct gdb_request *r, enum gdb_request_kind kind)
{
    r->kind = kind;
    if (!at_end(c))
        malformed(r, "nothing can follow");
}

static void parse_letter(struct cursor *c, struct gdb_request *r, char letter)
{
    switch (letter) {
    case '!':
        alone(c, r, GDB_EXTENDED);
        break;
    case '?':
        alone(c, r, GDB_STOP_REASON);
        break;
    case 'g':
        r->kind = GDB_READ_REGISTERS;
        registers(c, r);
        break;
    case 'G':
        r->kind = GDB_WRITE_REGISTERS;
        registers(c, r);
        break;
    case 'p':
        r->kind = GDB_READ_REGISTER;
        one_register(c, r);
        break;
    case 'P':
        r->kind = GDB_WRITE_REGISTER;
        one_register(c, r);
        break;
    case 'm':
        r->kind = GDB_READ_MEMORY;
        read_memory(c, r);
        break;
    case 'M':
    case 'X':
        r->kind = GDB_WRITE_MEMORY;
        write_memory(c, r, letter == 'X');
        break;
    case 'c':
    case 'C':
    case 's':
    case 'S':
        r->kind = GDB_RESUME;
        old_resume(c, r, letter);
        break;
    case 'Z':
    case 'z':
        r->kind = GDB_BREAKPOINT;
        breakpoint(c, r);
        r->breakpoint.insert = letter == 'Z';
        break;
    case 'H':
        r->kind = GDB_SELECT_THREAD;
        select_thread(c, r);
        break;
    case 'T':
        r->kind = GDB_THREAD_ALIVE;
        thread_only(c, r);
        break;
    case 'D':
        r->kind = GDB_DETACH;
        break;
    case 'k':
        r->kind = GDB_KILL;
        break;
    case 'R':
        r->kind = GDB_RESTART;
        break;
    default:
        break;
    }
}

void gdb_request_parse(struct gdb_request *r, char *payload, size_t size)
{
    struct cursor c = {payload, payload + size};
    memset(r, 0, sizeof(*r));
    if (at_end(&c))
        return;
    if (*payload == 'q' || *payload == 'Q' || *payload == 'v') {
        parse_query(&c, r);
        return;
    }
    c.at++;
    parse_letter(&c, r, *payload);
}
