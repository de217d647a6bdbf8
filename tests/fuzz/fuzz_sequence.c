/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the debug-sequence language: any text as blocks, conditions, debug variables and .dbgconf.
 * What compiles keeps the promises of sequence_tree.h and is run on a target of this file's own; what is
 * wrong is told at a place in the text, with nothing in it that a terminal would obey.
 *
 * Lines that begin with '@' build the set: "@sequence NAME [PNAME]", "@disable NAME", "@if E", "@while E",
 * "@timeout N", "@begin", "@end", "@atomic", "@block", "@vars [PNAME]", "@conf", "@ports" (there are access
 * port elements).
 */
#include <string.h>

#include "base/text.h"
#include "fuzz_target.h"
#include "sequence/sequence_run.h"
#include "sequence/sequence_tree.h"

#define MAX_ACCESSES 200

struct part {
    struct sequence_mark mark;
    struct sequence_text text;
};

struct builder {
    struct sequence_set *set;
    unsigned file, line, depth;
    bool open, atomic, ports;
    enum { TO_BLOCK, TO_VARIABLES, TO_CONFIGURATION } where;
    char pname[SEQUENCE_NAME_MAX]; /* of variables */
    unsigned level;
    struct part if_, while_, timeout;
    struct sequence_control control;
};

static const struct sequence_text *part(const struct builder *b, struct part *p, const char *bytes,
                                        size_t size, unsigned line, unsigned column)
{
    p->mark = (struct sequence_mark){0, line, column};
    p->text = (struct sequence_text){bytes, size, b->file, &p->mark, 1};
    return &p->text;
}

static void begin(struct builder *b, const char *words, size_t size, bool disabled)
{
    char name[2 * SEQUENCE_NAME_MAX] = "", *pname;
    if (b->open) {
        while (b->depth) {
            FUZZ_CHECK(sequence_set_end_control(b->set, NULL) == CORRAL_OK);
            b->depth--;
        }
        FUZZ_CHECK(sequence_set_end(b->set, NULL) == CORRAL_OK);
        b->open = false;
    }
    if (!words)
        return;
    memcpy(name, words, size < sizeof(name) ? size : sizeof(name) - 1);
    pname = strchr(name, ' ');
    if (pname)
        *pname++ = '\0';
    const struct sequence_head head = {
        .name = name, .pname = pname, .disabled = disabled, .level = 3, .place = {b->file, b->line, 1}};
    b->open = sequence_set_begin(b->set, &head, NULL) == CORRAL_OK;
    b->where = TO_BLOCK;
}

static void flush(struct builder *b, const char *from, const char *to, unsigned line)
{
    struct part p;
    const struct sequence_text *text = part(b, &p, from, (size_t)(to - from), line, 1);
    if (from == to)
        return;
    if (b->where == TO_VARIABLES)
        sequence_set_variables(b->set, text, b->pname, ++b->level % 4, NULL);
    else if (b->where == TO_CONFIGURATION)
        sequence_set_configuration(b->set, text, NULL);
    else if (b->open)
        FUZZ_CHECK(sequence_set_block(b->set, text, b->atomic, (struct sequence_place){b->file, line, 1},
                                      NULL) == CORRAL_OK);
    b->atomic = false;
}

static bool word(const char *line, size_t size, const char *wanted)
{
    size_t n = strlen(wanted);
    return size >= n && memcmp(line, wanted, n) == 0;
}

static void directive(struct builder *b, const char *line, size_t size)
{
    if (word(line, size, "@sequence ")) {
        begin(b, line + 10, size - 10, false);
    } else if (word(line, size, "@disable ")) {
        begin(b, line + 9, size - 9, true);
    } else if (word(line, size, "@if ")) {
        b->control.if_ = part(b, &b->if_, line + 4, size - 4, b->line, 5);
    } else if (word(line, size, "@while ")) {
        b->control.while_ = part(b, &b->while_, line + 7, size - 7, b->line, 8);
    } else if (word(line, size, "@timeout ")) {
        b->control.timeout = part(b, &b->timeout, line + 9, size - 9, b->line, 10);
    } else if (word(line, size, "@begin")) {
        b->control.place = (struct sequence_place){b->file, b->line, 1};
        b->depth += b->open && sequence_set_begin_control(b->set, &b->control, NULL) == CORRAL_OK;
        b->control = (struct sequence_control){0};
    } else if (word(line, size, "@end") && b->depth) {
        FUZZ_CHECK(sequence_set_end_control(b->set, NULL) == CORRAL_OK);
        b->depth--;
    } else if (word(line, size, "@atomic")) {
        b->atomic = true;
    } else if (word(line, size, "@vars")) {
        b->where = TO_VARIABLES;
        snprintf(b->pname, sizeof(b->pname), "%.*s", size > 6 ? (int)(size - 6) % 8 : 0, line + 6);
        b->pname[strcspn(b->pname, "\r\t")] = '\0';
    } else if (word(line, size, "@conf")) {
        b->where = TO_CONFIGURATION;
    } else if (word(line, size, "@ports")) {
        b->ports = true;
    }
}

static void build(struct builder *b, const char *data, size_t size)
{
    const char *from = data, *const end = data + size;
    unsigned line = 1;
    b->line = 1;
    begin(b, "T", 1, false);
    for (const char *at = data; at < end; b->line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *next = stop ? stop + 1 : end;
        if (*at == '@') {
            flush(b, from, at, line);
            directive(b, at, (size_t)((stop ? stop : end) - at));
            from = next;
            line = b->line + 1;
        }
        at = next;
    }
    flush(b, from, end, line);
    begin(b, NULL, 0, false);
}

/* ---- promises */

static void check_shown(const char *text)
{
    uint32_t code;
    for (size_t size = strlen(text); size;) {
        size_t step = text_utf8_decode((const uint8_t *)text, size, &code);
        FUZZ_CHECK(step && (code >= 0x20 || code == '\t') && code != 0x7f);
        text += step;
        size -= step;
    }
}

static void check_problem(const struct builder *b, const struct sequence_problem *p)
{
    size_t size = strnlen(p->text, sizeof(p->text));
    FUZZ_CHECK(size > 0 && size < sizeof(p->text));
    check_shown(p->text);
    FUZZ_CHECK(p->place.file == b->file && p->place.line >= 1 && p->place.line <= b->line + 1);
    FUZZ_CHECK(p->place.column >= 1 && p->width >= 1);
}

static void check_node(const struct sequence_program *program, const struct sequence_code *code,
                       const struct sequence_node *node, unsigned height)
{
    FUZZ_CHECK(height < 220);
    for (; node; node = node->next) {
        FUZZ_CHECK(node->width >= 1);
        FUZZ_CHECK(node->kind != NODE_LOCAL || node->slot < code->slots);
        FUZZ_CHECK(node->kind != NODE_DEBUGVAR || node->slot < program->value_count);
        FUZZ_CHECK(node->kind != NODE_PREDEFINED || node->slot < VAR_COUNT);
        FUZZ_CHECK(node->kind != NODE_CALL || node->function->id != FN_EXTERNAL);
        FUZZ_CHECK(node->kind != NODE_STRING || strlen(node->string.bytes) == node->string.size);
        check_node(program, code, node->a, height + 1);
        check_node(program, code, node->b, height + 1);
        check_node(program, code, node->c, height + 1);
    }
}

static void check_elements(const struct sequence_program *program, const struct sequence_code *code,
                           const struct sequence_element *e, unsigned depth)
{
    FUZZ_CHECK(depth <= SEQUENCE_MAX_DEPTH);
    for (; e; e = e->next) {
        for (const struct sequence_statement *s = e->statements; s; s = s->next) {
            FUZZ_CHECK(!s->declares || s->slot < code->slots);
            FUZZ_CHECK(s->declares || s->expression);
            check_node(program, code, s->expression, 0);
        }
        check_node(program, code, e->if_, 0);
        check_node(program, code, e->while_, 0);
        FUZZ_CHECK(!e->timeout_us || e->while_);
        check_elements(program, code, e->first, depth + (e->first != NULL));
    }
}

/* ---- running */

struct target {
    struct host_clock *clock;
    unsigned accesses;
    uint64_t seed;
    atomic_bool stop;
};

static enum corral_err on_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d)
{
    struct target *t = ctx;
    FUZZ_CHECK(count > 0 && (atomic || count == 1));
    for (*done = 0; *done < count; ++*done) {
        struct sequence_access *a = &list[*done];
        if (++t->accesses >= MAX_ACCESSES)
            atomic_store(&t->stop, true);
        host_clock_sleep(t->clock, 1000);
        t->seed = t->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        if (t->seed >> 60 == 0)
            return diag_set(d, CORRAL_ERR_LINK_FAULT, "a fault");
        FUZZ_CHECK(a->op != SEQUENCE_SWJ_SEQUENCE || (a->size >= 1 && a->size <= 64));
        FUZZ_CHECK(a->op != SEQUENCE_JTAG_SEQUENCE || (a->size >= 1 && a->size <= 64));
        FUZZ_CHECK(a->op != SEQUENCE_MEM || a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8);
        FUZZ_CHECK(a->op != SEQUENCE_MEM || !a->write || a->size == 8 || a->value >> (8 * a->size) == 0);
        if (!a->write)
            a->value = t->seed >> 16;
    }
    return CORRAL_OK;
}

static void on_message(void *ctx, enum sequence_message kind, const char *text)
{
    (void)ctx;
    FUZZ_CHECK(kind <= SEQUENCE_FATAL);
    check_shown(text);
}

static void run_all(const struct sequence_program *program)
{
    static const struct sequence_target functions = {.access = on_access, .message = on_message};
    for (size_t i = 0; i < sequence_count(program) && i < 16; i++) {
        struct sequence_info info;
        struct diag d = DIAG_INIT;
        FUZZ_CHECK(sequence_get(program, i, &info));
        if (info.is_default)
            continue; /* they come with every input */
        struct target t = {.clock = host_clock_new_virtual(), .seed = i};
        FUZZ_CHECK(t.clock);
        const struct sequence_run run = {.target = &functions,
                                         .ctx = &t,
                                         .clock = t.clock,
                                         .pname = info.pname,
                                         .stop = &t.stop,
                                         .timeout_ns = NS_PER_MS};
        struct sequence_result result;
        enum corral_err err = sequence_run(program, info.name, &run, &result, &d);
        FUZZ_CHECK(!info.has_errors || info.disabled || err == CORRAL_ERR_FORMAT);
        FUZZ_CHECK(err == CORRAL_OK || (d.code == err && d.message[0]));
        host_clock_free(t.clock);
    }
}

static void check(const struct builder *b, const struct sequence_setting *setting)
{
    struct sequence_problems problems = {0}, again = {0};
    struct diag d = DIAG_INIT;
    struct sequence_program *program = sequence_compile(b->set, setting, &problems, &d);
    FUZZ_CHECK(program || (d.code == CORRAL_ERR_LIMIT && d.message[0]));
    for (size_t i = 0; i < problems.count; i++)
        check_problem(b, &problems.list[i]);
    if (program) {
        struct sequence_program *second = sequence_compile(b->set, setting, &again, NULL);
        FUZZ_CHECK(second && again.count == problems.count && again.errors == problems.errors);
        for (size_t i = 0; i < program->code_count; i++)
            if (!program->codes[i]->info.has_errors)
                check_elements(program, program->codes[i], program->codes[i]->first, 0);
        run_all(program);
        sequence_program_free(second);
    }
    sequence_program_free(program);
    sequence_problems_clear(&problems);
    sequence_problems_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sequence_processor processors[] = {{"", true}};
    struct builder b = {.set = sequence_set_new()};
    FUZZ_CHECK(b.set);
    FUZZ_CHECK(sequence_set_add_file(b.set, "fuzz", (const char *)data, size, &b.file, NULL) == CORRAL_OK);
    build(&b, (const char *)data, size);
    const struct sequence_setting setting = {processors, 1, b.ports};
    check(&b, &setting);
    sequence_set_free(b.set);
    return 0;
}
