/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default sequences, in the language itself, so that one interpreter runs everything. Cross-trigger sheet
 * 4.8 (what each does), 2.1 and 2.2 (debug port, switch words), 3.1 and 3.2 (DHCSR); ProcessorStart and
 * ProcessorStop after the proposal in the seed, without its mistakes (sheet 13.11, 13.16).
 *
 * They use nothing that a link may lack: no atomic block, no Query. Message(2) ends what cannot go on.
 */
#include "sequence/sequence_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step_kind { STEP_BEGIN, STEP_BLOCK, STEP_CONTROL, STEP_END_CONTROL, STEP_END };

struct step {
    enum step_kind kind;
    const char *text;    /* of a block; the name of a sequence; `if` of a control, NULL = none */
    const char *while_;  /* of a control; of a sequence its `info` */
    const char *timeout; /* of a control */
    bool vector_reset;   /* a sequence for each processor that has it, and for no other */
};

#define SEQUENCE(name, info)                \
    {                                       \
        STEP_BEGIN, name, info, NULL, false \
    }
#define SEQUENCE_END                      \
    {                                     \
        STEP_END, NULL, NULL, NULL, false \
    }
#define BLOCK(text)                         \
    {                                       \
        STEP_BLOCK, text, NULL, NULL, false \
    }
#define IF(condition)                              \
    {                                              \
        STEP_CONTROL, condition, NULL, NULL, false \
    }
#define WHILE(condition, us)                     \
    {                                            \
        STEP_CONTROL, NULL, condition, us, false \
    }
#define END                                       \
    {                                             \
        STEP_END_CONTROL, NULL, NULL, NULL, false \
    }
#define IF_END(condition, text)   IF(condition), BLOCK(text), END
#define POLL(condition, us, text) WHILE(condition, us), BLOCK(text), END

/* 51 clocks high reset an SWD port and a TAP that has lost its way. */
#define LINE_RESET "DAP_SWJ_Sequence(51, 0x7FFFFFFFFFFFF);\n"
/* 8 clocks high, then the 128 bits that a dormant port listens for. */
#define ALERT                                     \
    "DAP_SWJ_Sequence(8, 0xFF);\n"                \
    "DAP_SWJ_Sequence(64, 0x86852D956209F392);\n" \
    "DAP_SWJ_Sequence(64, 0x19BC0EA2E3DDAFE9);\n"

/* Released, the line is low for as long as somebody else holds it. */
#define RELEASE_RESET                                                                                      \
    BLOCK("__var pins = DAP_SWJ_Pins(0x80, 0x80, 0);\n"                                                    \
          "__var readable = pins != 0xFFFFFFFF;\n"),                                                       \
        IF("readable"), POLL("(pins & 0x80) == 0", "1000000", "pins = DAP_SWJ_Pins(0x80, 0x80, 0);\n"),    \
        IF_END("(pins & 0x80) == 0", "Message(1, \"nRESET is still low 1 s after its release\");\n"), END, \
        IF_END("!readable", "DAP_Delay(100000);\n")

/* S_RESET_ST reads 1 once after a reset, and for as long as one lasts. */
#define RECOVERY                                                                     \
    BLOCK("__var in_reset = 1;\n"),                                                  \
        POLL("in_reset", "500000", "in_reset = Read32(0xE000EDF0) & 0x02000000;\n"), \
        IF_END("in_reset", "Message(1, \"The processor is still in reset after 500 ms\");\n")

static const struct step steps[] = {
    SEQUENCE("DebugPortSetup", "Select the wire protocol and find the debug port"),
    BLOCK("__var wires = __protocol & 0xFFFF;\n"
          "__var switchable = (__protocol >> 16) & 1;\n"
          "__var dormant = (__protocol >> 17) & 1;\n"),
    IF("wires == 2"),
    IF_END("switchable && dormant",
           LINE_RESET "// JTAG to dormant\n"
                      "DAP_SWJ_Sequence(31, 0x33BBBBBA);\n" ALERT "// dormant to SWD\n"
                      "DAP_SWJ_Sequence(12, 0x1A0);\n"),
    IF_END("switchable && !dormant", LINE_RESET "// JTAG to SWD\n"
                                                "DAP_SWJ_Sequence(16, 0xE79E);\n"),
    BLOCK(LINE_RESET "// idle; DPIDR must be what is read first\n"
                     "DAP_SWJ_Sequence(3, 0);\n"
                     "ReadDP(0x0);\n"),
    END,
    IF("wires == 1"),
    IF_END("switchable && dormant", LINE_RESET "// SWD to dormant\n"
                                               "DAP_SWJ_Sequence(16, 0xE3BC);\n" ALERT "// dormant to JTAG\n"
                                               "DAP_SWJ_Sequence(12, 0x0A0);\n"),
    IF_END("switchable && !dormant", LINE_RESET "// SWD to JTAG\n"
                                                "DAP_SWJ_Sequence(16, 0xE73C);\n"),
    BLOCK("// Test-Logic-Reset, then Run-Test/Idle\n"
          "DAP_JTAG_Sequence(6, 1, 0x3F);\n"
          "DAP_JTAG_Sequence(1, 0, 1);\n"),
    END,
    IF_END("wires != 1 && wires != 2",
           "Message(1, \"DebugPortSetup has no default for protocol %u\", wires);\n"),
    SEQUENCE_END,

    SEQUENCE("DebugPortStart", "Clear sticky errors and power up the debug port"),
    BLOCK("__var swd = (__protocol & 0xFFFF) == 2;\n"
          "__var status = 0;\n"),
    IF_END("swd", "// with a sticky error even SELECT would be refused\n"
                  "DAP_WriteABORT(0x1E);\n"
                  "WriteDP(0x8, 0);\n"),
    IF_END("!swd", "WriteDP(0x8, 0);\n"
                   "// on JTAG 1s clear; what is powered up stays so\n"
                   "WriteDP(0x4, 0x50000032);\n"),
    BLOCK("WriteDP(0x4, 0x50000000);\n"),
    POLL("(status & 0xA0000000) != 0xA0000000", "1000000", "status = ReadDP(0x4);\n"),
    IF_END("(status & 0xA0000000) != 0xA0000000",
           "Message(2, \"The debug port did not power up within 1 s: CTRL/STAT is 0x%08X\", status);\n"),
    BLOCK("WriteDP(0x4, 0x50000F00);\n"),
    SEQUENCE_END,

    SEQUENCE("DebugPortStop", "Power down the debug port"),
    BLOCK("WriteDP(0x8, 0);\n"
          "WriteDP(0x4, 0);\n"),
    SEQUENCE_END,

    SEQUENCE("DebugCoreStart", "Enable debugging of the processor"),
    IF_END("(Read32(0xE000EDF0) & 1) == 0", "Write32(0xE000EDF0, 0xA05F0001);\n"),
    SEQUENCE_END,

    SEQUENCE("DebugCoreStop", "Disable debugging of the processor"),
    BLOCK("Write32(0xE000EDF0, 0xA05F0000);\n"
          "Write32(0xE000EDFC, 0);\n"),
    SEQUENCE_END,

    SEQUENCE("ResetSystem", "Reset by AIRCR.SYSRESETREQ"),
    BLOCK("Write32(0xE000ED0C, 0x05FA0004);\n"
          "DAP_Delay(100000);\n"),
    RECOVERY,
    SEQUENCE_END,

    {STEP_BEGIN, "ResetProcessor", "Reset by AIRCR.VECTRESET", NULL, true},
    BLOCK("Write32(0xE000ED0C, 0x05FA0001);\n"),
    RECOVERY,
    SEQUENCE_END,

    SEQUENCE("ResetHardware", "Reset by the line nRESET"),
    BLOCK("DAP_SWJ_Pins(0, 0x80, 0);\n"
          "DAP_Delay(50000);\n"),
    RELEASE_RESET,
    SEQUENCE_END,

    SEQUENCE("ResetHardwareAssert", "Drive nRESET low"),
    BLOCK("DAP_SWJ_Pins(0, 0x80, 0);\n"),
    SEQUENCE_END,

    SEQUENCE("ResetHardwareDeassert", "Release nRESET"),
    RELEASE_RESET,
    SEQUENCE_END,

    SEQUENCE("ResetCatchSet", "Stop at the reset vector"),
    BLOCK("Write32(0xE000EDFC, Read32(0xE000EDFC) | 1);\n"
          "// S_RESET_ST clears when it is read\n"
          "Read32(0xE000EDF0);\n"),
    SEQUENCE_END,

    SEQUENCE("ResetCatchClear", "Do not stop at the reset vector any more"),
    BLOCK("Write32(0xE000EDFC, Read32(0xE000EDFC) & ~1);\n"),
    SEQUENCE_END,

    SEQUENCE("ProcessorStart", "Let the processor run"),
    BLOCK("__var status = Read32(0xE000EDF0);\n"
          "__var mask = status & 0x8;\n"),
    IF_END("mask && (status & 0x20000)", "// C_MASKINTS may change only while C_HALT stays\n"
                                         "Write32(0xE000EDF0, 0xA05F0003);\n"
                                         "mask = 0;\n"),
    BLOCK("Write32(0xE000EDF0, 0xA05F0001 | mask);\n"),
    SEQUENCE_END,

    SEQUENCE("ProcessorStop", "Halt the processor"),
    BLOCK("// C_MASKINTS may not change together with C_HALT\n"
          "Write32(0xE000EDF0, 0xA05F0003 | (Read32(0xE000EDF0) & 0x8));\n"),
    SEQUENCE_END,
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* The file "default" that messages show: each text as it is, a line of its own for names and conditions. */
struct page {
    char *bytes; /* NULL while it is measured */
    size_t size;
    unsigned line; /* of what comes next, from 1 */
};

/* The line on which it begins. */
static unsigned print(struct page *page, const char *before, const char *text)
{
    unsigned line = page->line;
    const char *parts[] = {before, text};
    for (unsigned i = 0; i < 2; i++) {
        size_t length = strlen(parts[i]);
        if (page->bytes)
            memcpy(page->bytes + page->size, parts[i], length);
        page->size += length;
        for (const char *c = parts[i]; *c; c++)
            page->line += *c == '\n';
    }
    if (text[0] == '\0' || text[strlen(text) - 1] != '\n') {
        if (page->bytes)
            page->bytes[page->size] = '\n';
        page->size++;
        page->line++;
    }
    return line;
}

static const char in_if[] = "if ", in_while[] = "while ", in_timeout[] = "timeout ";

/* The lines of a step; of a control those of `if`, `while` and `timeout`. */
static void print_step(struct page *page, const struct step *step, unsigned lines[3])
{
    switch (step->kind) {
    case STEP_BEGIN:
        lines[0] = print(page, "sequence ", step->text);
        break;
    case STEP_BLOCK:
        lines[0] = print(page, "", step->text);
        break;
    case STEP_CONTROL:
        lines[0] = step->text ? print(page, in_if, step->text) : page->line;
        lines[1] = step->while_ ? print(page, in_while, step->while_) : page->line;
        lines[2] = step->timeout ? print(page, in_timeout, step->timeout) : page->line;
        break;
    case STEP_END_CONTROL:
        print(page, "end", "");
        break;
    case STEP_END:
        print(page, "", "");
        break;
    }
}

static enum corral_err add_page(struct sequence_set *set, unsigned *file, struct diag *d)
{
    struct page page = {.line = 1};
    unsigned lines[3];
    for (size_t i = 0; i < STEPS; i++)
        print_step(&page, &steps[i], lines);
    size_t size = page.size;
    page = (struct page){.bytes = malloc(size), .line = 1};
    if (!page.bytes)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < STEPS; i++)
        print_step(&page, &steps[i], lines);
    enum corral_err err = sequence_set_add_file(set, "default", page.bytes, size, file, d);
    free(page.bytes);
    return err;
}

struct piece {
    struct sequence_mark mark;
    struct sequence_text text;
};

static const struct sequence_text *piece_of(struct piece *piece, const char *text, unsigned file,
                                            unsigned line, size_t before)
{
    if (!text)
        return NULL;
    piece->mark = (struct sequence_mark){.offset = 0, .line = line, .column = (unsigned)before + 1};
    piece->text = (struct sequence_text){
        .bytes = text, .size = strlen(text), .file = file, .marks = &piece->mark, .mark_count = 1};
    return &piece->text;
}

static enum corral_err add_control(struct sequence_set *set, const struct step *step, unsigned file,
                                   const unsigned lines[3], struct diag *d)
{
    struct piece pieces[3];
    struct sequence_control control = {
        .if_ = piece_of(&pieces[0], step->text, file, lines[0], strlen(in_if)),
        .while_ = piece_of(&pieces[1], step->while_, file, lines[1], strlen(in_while)),
        .timeout = piece_of(&pieces[2], step->timeout, file, lines[2], strlen(in_timeout)),
        .place = {file, lines[0], 1},
    };
    return sequence_set_begin_control(set, &control, d);
}

static enum corral_err add_step(struct sequence_set *set, const struct step *step, const char *pname,
                                unsigned file, const unsigned lines[3], struct diag *d)
{
    struct sequence_place place = {file, lines[0], 1};
    struct sequence_head head = {.name = step->text, .pname = pname, .info = step->while_, .place = place};
    struct piece piece;
    switch (step->kind) {
    case STEP_BEGIN:
        return sequence_set_begin(set, &head, d);
    case STEP_BLOCK:
        return sequence_set_block(set, piece_of(&piece, step->text, file, lines[0], 0), false, place, d);
    case STEP_CONTROL:
        return add_control(set, step, file, lines, d);
    case STEP_END_CONTROL:
        return sequence_set_end_control(set, d);
    case STEP_END:
        break;
    }
    return sequence_set_end(set, d);
}

/* The sequence that begins at steps[first], whose text stands from page->line on. */
static enum corral_err add_sequence(struct sequence_set *set, size_t first, const char *pname, unsigned file,
                                    struct page *page, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    for (size_t i = first; i < STEPS && !err; i++) {
        unsigned lines[3] = {0, 0, 0};
        print_step(page, &steps[i], lines);
        err = add_step(set, &steps[i], pname, file, lines, d);
        if (steps[i].kind == STEP_END)
            break;
    }
    return err;
}

enum corral_err sequence_add_defaults(struct sequence_set *set, const struct sequence_setting *setting,
                                      struct diag *d)
{
    unsigned file;
    enum corral_err err = add_page(set, &file, d);
    struct page page = {.line = 1};
    for (size_t i = 0; i < STEPS && !err; i++) {
        struct page here = page;
        if (steps[i].kind == STEP_BEGIN && !steps[i].vector_reset)
            err = add_sequence(set, i, NULL, file, &here, d);
        for (size_t p = 0; steps[i].vector_reset && p < setting->processor_count && !err; p++) {
            here = page;
            if (setting->processors[p].vector_reset)
                err = add_sequence(set, i, setting->processors[p].pname, file, &here, d);
        }
        unsigned lines[3];
        print_step(&page, &steps[i], lines);
    }
    return err;
}
