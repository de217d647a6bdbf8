/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' own target for the interpreter: sequence_rig.h. */
#include "sequence_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sequence/sequence_tree.h"

static void add(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *out, size_t size, const char *fmt, ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, fmt);
    vsnprintf(out + used, size - used, fmt, args);
    va_end(args);
}

void rig_memory(struct rig *r, uint64_t address, uint64_t value)
{
    for (size_t i = 0; i < r->word_count; i++)
        if (r->words[i].address == address) {
            r->words[i].value = value;
            return;
        }
    assert_true(r->word_count < sizeof(r->words) / sizeof(r->words[0]));
    r->words[r->word_count++] = (struct rig_word){address, value};
}

uint64_t rig_read(const struct rig *r, uint64_t address)
{
    for (size_t i = 0; i < r->word_count; i++)
        if (r->words[i].address == address)
            return r->words[i].value;
    return 0;
}

static void write_down(struct rig *r, const struct sequence_access *a)
{
    static const char *const registers[] = {
        [SEQUENCE_AP] = "AP", [SEQUENCE_AP_SPACE] = "SPACE", [SEQUENCE_DP] = "DP"};
    char *log = r->log;
    const size_t size = sizeof(r->log);
    switch (a->op) {
    case SEQUENCE_MEM:
        if (a->write)
            add(log, size, "W%u %" PRIX64 " %" PRIX64 "\n", 8 * a->size, a->address, a->value);
        else
            add(log, size, "R%u %" PRIX64 "\n", 8 * a->size, a->address);
        break;
    case SEQUENCE_AP:
    case SEQUENCE_AP_SPACE:
    case SEQUENCE_DP:
        assert_int_equal(a->size, 4);
        if (a->write)
            add(log, size, "%s %" PRIX64 "=%" PRIX64 "\n", registers[a->op], a->address, a->value);
        else
            add(log, size, "%s %" PRIX64 "?\n", registers[a->op], a->address);
        break;
    case SEQUENCE_ABORT:
        add(log, size, "ABORT %" PRIX64 "\n", a->value);
        break;
    case SEQUENCE_PINS:
        add(log, size, "PINS %" PRIX64 " of %" PRIX64 " wait %" PRIu64 "\n", a->value, a->address & 0xFF,
            a->address >> 8);
        break;
    case SEQUENCE_CLOCK:
        add(log, size, "CLOCK %" PRIu64 "\n", a->value);
        break;
    case SEQUENCE_SWJ_SEQUENCE:
        add(log, size, "SWJ %u %" PRIX64 "\n", a->size, a->value);
        break;
    case SEQUENCE_JTAG_SEQUENCE:
        add(log, size, "JTAG %u tms %" PRIX64 " tdi %" PRIX64 "\n", a->size, a->address, a->value);
        break;
    case SEQUENCE_DELAY:
        add(log, size, "DELAY %" PRIu64 "\n", a->value);
        break;
    }
}

/* What is read is left with junk above its size: cutting it is the interpreter's. */
static void do_access(struct rig *r, struct sequence_access *a)
{
    if (a->op == SEQUENCE_DELAY)
        host_clock_sleep(r->clock, (int64_t)a->value * NS_PER_US);
    else if (a->op == SEQUENCE_PINS)
        a->value = r->pins | UINT64_C(0xABCD) << 32;
    else if (a->op == SEQUENCE_JTAG_SEQUENCE)
        a->value = r->tdo;
    else if (a->op == SEQUENCE_DP && !a->write)
        a->value = a->address == 4 ? r->ctrl_stat : 0x2BA01477;
    else if (a->op <= SEQUENCE_AP_SPACE && a->write)
        rig_memory(r, a->address, a->value);
    else if (a->op <= SEQUENCE_AP_SPACE)
        a->value = rig_read(r, a->address);
}

static enum corral_err on_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d)
{
    struct rig *r = ctx;
    *done = 0;
    assert_true(count > 0);
    assert_true(atomic || count == 1);
    r->calls++;
    if (atomic && r->refuses_atomic)
        return diag_set(d, r->refuses_atomic, "this probe cannot do it in one batch");
    if (atomic)
        add(r->log, sizeof(r->log), "{\n");
    for (; *done < count; ++*done) {
        struct sequence_access *a = &list[*done];
        r->port = a->port;
        write_down(r, a);
        if (a->op <= SEQUENCE_DP && a->address == r->bad)
            return diag_set(d, r->bad_err ? r->bad_err : CORRAL_ERR_LINK_FAULT, "the target answered FAULT");
        do_access(r, a);
        host_clock_sleep(r->clock, r->access_ns);
        if (r->stop_after && --r->stop_after == 0)
            atomic_store(&r->stop, true);
    }
    if (atomic)
        add(r->log, sizeof(r->log), "}\n");
    return CORRAL_OK;
}

static void on_message(void *ctx, enum sequence_message kind, const char *text)
{
    struct rig *r = ctx;
    add(r->said, sizeof(r->said), "%d %s\n", (int)kind, text);
    add(r->log, sizeof(r->log), "SAID %s\n", text);
}

static void on_warn(void *ctx, const char *sentence)
{
    struct rig *r = ctx;
    add(r->warned, sizeof(r->warned), "%s\n", sentence);
}

static const struct sequence_target target = {.access = on_access, .message = on_message};

struct rig *rig_new(void)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->clock = host_clock_new_virtual();
    r->set = sequence_set_new();
    assert_non_null(r->clock);
    assert_non_null(r->set);
    r->bad = UINT64_MAX;
    r->run = (struct sequence_run){.target = &target,
                                   .ctx = r,
                                   .clock = r->clock,
                                   .stop = &r->stop,
                                   .warn = on_warn,
                                   .start = {.protocol = 2}};
    assert_int_equal(sequence_set_add_file(r->set, "test.pdsc", NULL, 0, &r->file, &r->d), CORRAL_OK);
    return r;
}

void rig_free(struct rig *r)
{
    sequence_program_free(r->program);
    sequence_problems_clear(&r->problems);
    sequence_set_free(r->set);
    host_clock_free(r->clock);
    free(r);
}

struct place_of_text {
    struct sequence_mark mark;
    struct sequence_text text;
};

static const struct sequence_text *text_at(const struct rig *r, struct place_of_text *p, const char *begin,
                                           size_t size, unsigned line, unsigned column)
{
    p->mark = (struct sequence_mark){0, line, column};
    p->text = (struct sequence_text){
        .bytes = begin, .size = size, .file = r->file, .marks = &p->mark, .mark_count = 1};
    return &p->text;
}

struct script {
    struct rig *r;
    bool atomic;
    const char *block;
    unsigned block_line;
    struct place_of_text parts[3];
    struct sequence_control control;
};

static void end_block(struct script *s, const char *end)
{
    struct place_of_text p;
    if (s->block && end > s->block)
        assert_int_equal(
            sequence_set_block(s->r->set,
                               text_at(s->r, &p, s->block, (size_t)(end - s->block), s->block_line, 1),
                               s->atomic, (struct sequence_place){s->r->file, s->block_line, 1}, &s->r->d),
            CORRAL_OK);
    s->block = NULL;
    s->atomic = false;
}

static bool is_word(const char *line, const char *word, const char **rest)
{
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0)
        return false;
    *rest = line + n;
    return true;
}

static void directive(struct script *s, const char *line, size_t size, unsigned number)
{
    struct rig *r = s->r;
    const char *rest;
    end_block(s, line);
    s->control.place = (struct sequence_place){r->file, number, 1};
    if (is_word(line, "@if ", &rest))
        s->control.if_ = text_at(r, &s->parts[0], rest, size - 4, number, 5);
    else if (is_word(line, "@while ", &rest))
        s->control.while_ = text_at(r, &s->parts[1], rest, size - 7, number, 8);
    else if (is_word(line, "@timeout ", &rest))
        s->control.timeout = text_at(r, &s->parts[2], rest, size - 9, number, 10);
    else if (is_word(line, "@begin", &rest)) {
        assert_int_equal(sequence_set_begin_control(r->set, &s->control, &r->d), CORRAL_OK);
        s->control = (struct sequence_control){0};
    } else if (is_word(line, "@end", &rest))
        assert_int_equal(sequence_set_end_control(r->set, &r->d), CORRAL_OK);
    else if (is_word(line, "@atomic", &rest))
        s->atomic = true;
    else
        assert_true(is_word(line, "@block", &rest));
}

void rig_sequence(struct rig *r, const char *name, const char *pname, const char *text)
{
    struct sequence_head head = {.name = name, .pname = pname, .level = 3, .place = {r->file, 1, 1}};
    struct script s = {.r = r};
    unsigned number = 1;
    assert_int_equal(sequence_set_begin(r->set, &head, &r->d), CORRAL_OK);
    const char *line = text;
    for (; *line; number++) {
        const char *end = strchr(line, '\n');
        end = end ? end : line + strlen(line);
        if (*line == '@') {
            directive(&s, line, (size_t)(end - line), number);
        } else if (!s.block) {
            s.block = line;
            s.block_line = number;
        }
        line = *end ? end + 1 : end;
    }
    end_block(&s, line);
    assert_int_equal(sequence_set_end(r->set, &r->d), CORRAL_OK);
}

void rig_disable(struct rig *r, const char *name)
{
    struct sequence_head head = {.name = name, .level = 3, .disabled = true, .place = {r->file, 1, 1}};
    assert_int_equal(sequence_set_begin(r->set, &head, &r->d), CORRAL_OK);
    assert_int_equal(sequence_set_end(r->set, &r->d), CORRAL_OK);
}

void rig_compile(struct rig *r)
{
    r->program = sequence_compile(r->set, &r->setting, &r->problems, &r->d);
    assert_non_null(r->program);
}

void rig_compile_well(struct rig *r)
{
    rig_compile(r);
    for (size_t i = 0; i < r->problems.count; i++)
        if (r->problems.list[i].severity == SEQUENCE_ERROR)
            fail_msg("%u:%u: %s", r->problems.list[i].place.line, r->problems.list[i].place.column,
                     r->problems.list[i].text);
    assert_int_equal(r->problems.errors, 0);
}

void rig_compile_anyway(struct rig *r)
{
    rig_compile(r);
    for (size_t i = 0; i < r->program->code_count; i++)
        r->program->codes[i]->own_errors = r->program->codes[i]->info.has_errors = false;
}

enum corral_err rig_run(struct rig *r, const char *name)
{
    r->log[0] = r->said[0] = r->warned[0] = '\0';
    r->calls = 0;
    r->d = (struct diag)DIAG_INIT;
    memset(&r->result, 0xEE, sizeof(r->result));
    r->result.ran = false;
    return sequence_run(r->program, name, &r->run, &r->result, &r->d);
}

struct rig *rig_of(const char *text)
{
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, text);
    rig_compile_well(r);
    return r;
}

struct rig *rig_of_refused(const char *text)
{
    struct rig *r = rig_new();
    rig_sequence(r, "T", NULL, text);
    rig_compile_anyway(r);
    return r;
}

uint64_t rig_value(const char *expression)
{
    char text[512];
    snprintf(text, sizeof(text), "Write64(0x1000, %s);\n", expression);
    struct rig *r = rig_of(text);
    if (rig_run(r, "T") != CORRAL_OK)
        fail_msg("%s: %s", expression, r->d.message);
    assert_int_equal(r->calls, 1);
    uint64_t value = rig_read(r, 0x1000);
    rig_free(r);
    return value;
}
