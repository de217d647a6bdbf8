/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report on answers worked out by hand: functions, shares and their error, callers, inclusive counts, hot
 * addresses, branch outcomes, stacks, images. The images are small ELF files made by the test, with the
 * instructions of profiler sheet 3.7 written into them.
 */
#include "prof_rig.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../symbol/symbol_elf_maker.h"
#include "prof/caller.h"

#define S(state) ((struct rig *)*(state))

#define UBICOM 0xde3d
#define NOP    0x20000000u /* some instruction that is neither call nor jump */

/* Ubicom32: main calls leaf by CALL, other by MOVEAI and CALLI, third by CALLI alone, fourth calls main. */
#define MAIN   (TEXT + 0x00)
#define LEAF   (TEXT + 0x40)
#define MIDDLE (TEXT + 0x80)
#define THIRD  (TEXT + 0xc0)

static struct elf_maker elf;

static void put(uint32_t address, uint32_t word)
{
    if (elf.big)
        store_be32(elf.data + 52 + (address - TEXT), word);
    else
        store_le32(elf.data + 52 + (address - TEXT), word);
}

/* 24 bits of words in two pieces, link register A5. */
static uint32_t ubicom_call(uint32_t from, uint32_t to)
{
    uint32_t words = (to - from) / 4;

    return UINT32_C(0x1b) << 27 | (words & 0xe00000) << 3 | 5u << 21 | (words & 0x1fffff);
}

static uint32_t ubicom_moveai(uint32_t address)
{
    uint32_t high = address >> 7;

    return UINT32_C(0xe) << 28 | (high & 0x1000000) << 3 | (high & 0xe00000) << 3 | 5u << 21 |
           (high & 0x1fffff);
}

static struct symbol_index *ubicom_image(void)
{
    static const struct elf_symbol names[] = {{"main", MAIN, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"leaf", LEAF, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"middle", MIDDLE, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"third", THIRD, 0x40, GLOBAL_FUNC, SECTION_TEXT}};
    struct diag d = DIAG_INIT;

    elf_make(&elf, true, UBICOM, names, 4);
    for (uint32_t at = TEXT; at < TEXT + 0x100; at += 4)
        put(at, NOP);
    put(MAIN + 0x10, ubicom_call(MAIN + 0x10, LEAF));
    put(MAIN + 0x20, ubicom_call(MAIN + 0x20, MIDDLE));
    put(MIDDLE + 0x10, ubicom_moveai(LEAF));
    put(MIDDLE + 0x14, UINT32_C(0x1e) << 27);
    put(MIDDLE + 0x20, ubicom_moveai(THIRD));
    put(MIDDLE + 0x24, UINT32_C(0x1e) << 27);
    put(THIRD + 0x10, UINT32_C(0x1e) << 27);
    put(THIRD + 0x20, ubicom_call(THIRD + 0x20, MAIN));
    /* JMPcc: Z (3), predicted taken (bit 22), 32-bit flags (bit 21) */
    put(LEAF + 0x08, UINT32_C(0x1a) << 27 | 3u << 23 | 1u << 22 | 1u << 21 | 4);
    put(LEAF + 0x0c, UINT32_C(0x1a) << 27 | 13u << 23); /* always: no condition */
    struct symbol_index *image = symbol_open_memory(elf.data, elf.size, "ubicom", &d);
    assert_non_null(image);
    return image;
}

/* Thumb: caller's BL of callee at 0x10, its BLX of a register at 0x20. */
#define CALLER (TEXT + 0x00)
#define CALLEE (TEXT + 0x40)

static struct symbol_index *arm_image(void)
{
    static const struct elf_symbol names[] = {{"caller", CALLER + 1, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"callee", CALLEE + 1, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"outer", TEXT + 0x81, 0x40, GLOBAL_FUNC, SECTION_TEXT}};
    struct diag d = DIAG_INIT;

    elf_make(&elf, false, 40, names, 3);
    for (uint32_t at = 0; at < 0x100; at += 2)
        store_le16(elf.data + 52 + at, 0xbf00); /* NOP */
    /* BL from 0x10 to 0x40: offset 0x40 - 0x14 = 0x2c: 11110 0 0000000000, 11 1 1 1 00000010110 */
    store_le16(elf.data + 52 + 0x10, 0xf000);
    store_le16(elf.data + 52 + 0x12, 0xf816);
    store_le16(elf.data + 52 + 0x20, 0x4798); /* BLX r3 */
    store_le16(elf.data + 52 + 0xa0, 0x4798);
    /* BL from 0x90 back to 0x00: offset -0x94: S 1, imm10 all ones, J1 = J2 = 1, imm11 = 0x7b6 */
    store_le16(elf.data + 52 + 0x90, 0xf7ff);
    store_le16(elf.data + 52 + 0x92, 0xffb6);
    struct symbol_index *image = symbol_open_memory(elf.data, elf.size, "thumb", &d);
    assert_non_null(image);
    return image;
}

static void use(struct rig *r, struct symbol_index *image)
{
    r->spaces[0] = symbol_space_new();
    assert_non_null(r->spaces[0]);
    assert_int_equal(symbol_space_add(r->spaces[0], image, 0, NULL), CORRAL_OK);
}

static void drop(struct rig *r, struct symbol_index *image)
{
    prof_report_free(r->report); /* borrows names */
    r->report = NULL;
    symbol_space_free(r->spaces[0]);
    symbol_close(image);
}

static void expect_caller(const struct prof_report_function *f, size_t index, const char *name,
                          uint64_t address, uint64_t count, enum prof_certainty certainty)
{
    assert_true(index < f->caller_count);
    const struct prof_report_caller *c = &f->callers[index];
    assert_string_equal(c->frame.name, name);
    assert_int_equal(c->address, address);
    assert_int_equal(c->count, count);
    assert_int_equal(c->certainty, certainty);
}

/* --- functions ------------------------------------------------------------------------------------------ */

static void shares_and_their_error(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, LEAF + 4, 0, 0, 60);
    rig_sample(r, LEAF + 8, 0, 0, 15);
    rig_sample(r, MAIN, 0, 0, 20);
    rig_sample(r, 0x60000000, 0, 0, 5);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->function_count, 3);
    assert_string_equal(p->functions[0].frame.name, "leaf");
    assert_int_equal(p->functions[0].self, 75);
    assert_int_equal(p->functions[0].inclusive, 75);
    assert_int_equal(p->functions[0].address, LEAF);
    assert_int_equal(p->functions[0].size, 0x40);
    expect_near(p->functions[0].share, 0.75);
    expect_near(p->functions[0].share_error, sqrt(0.75 * 0.25 / 100));
    assert_int_equal(p->functions[0].by_thread[0], 75);
    expect_near(p->functions[0].weight, 75);
    assert_string_equal(p->functions[1].frame.name, "main");
    expect_near(p->functions[1].share, 0.2);
    expect_near(p->functions[1].share_error, 0.04);
    assert_string_equal(p->functions[2].frame.name, "[unknown]");
    assert_int_equal(p->functions[2].address, 0x60000000);
    assert_int_equal(p->sources[0].unknown_pc, 5);
    assert_int_equal(p->sources[0].example_pc, 0x60000000);
    assert_false(p->sources[0].image_missing);
    assert_false(p->sources[0].image_mismatch);
    assert_int_equal(p->hot_count, 4);
    assert_int_equal(p->hot[0].pc, LEAF + 4);
    assert_int_equal(p->hot[0].count, 60);
    assert_string_equal(p->hot[0].frames[p->hot[0].frame_count - 1].name, "leaf");
    assert_ptr_equal(p->hot[0].image, image);
    drop(r, image);
}

static void row_37_unknown_addresses(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, 0, 0, 0, 1);
    rig_sample(r, 0xffffffff, 0xffffffff, 0xffffffff, 1);
    rig_sample(r, LEAF + 1, 0, 0, 1); /* between instructions */
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->function_count, 1);
    assert_string_equal(p->functions[0].frame.name, "[unknown]");
    assert_int_equal(p->functions[0].self, 3);
    assert_int_equal(p->sources[0].unknown_pc, 3);
    assert_int_equal(p->hot_count, 3);
    drop(r, image);
}

static void without_an_image(void **state)
{
    struct rig *r = S(state);
    rig_sample(r, 0x1000, 0x2001, 0x3001, 2);
    const struct prof_report *p = rig_report_with(r, NULL);
    assert_true(p->sources[0].image_missing);
    assert_int_equal(p->sources[0].unknown_pc, 2);
    assert_int_equal(p->functions[0].caller_count, 1);
    assert_int_equal(p->functions[0].callers[0].certainty, PROF_CALLER_UNKNOWN);
    assert_null(p->stacks);
}

static void one_thread_only(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    const struct profile_sample s[] = {{.pc = LEAF, .thread = 0, .active = 3},
                                       {.pc = MAIN, .thread = 1, .active = 3},
                                       {.pc = LEAF, .thread = 1, .active = 3},
                                       {.pc = LEAF, .thread = 1, .active = 3}};
    rig_feed(r, s, 4);
    struct prof_report_options o = {.spaces = r->spaces, .space_count = 1, .thread = 1, .hot_limit = 1};
    const struct prof_report *p = rig_report_with(r, &o);
    assert_int_equal(rig_function(p, "leaf")->self, 2);
    expect_near(rig_function(p, "leaf")->share, 2.0 / 3);
    assert_int_equal(p->hot_count, 1); /* the limit */
    assert_int_equal(p->hot[0].count, 2);
    expect_near(p->hot[0].share, 2.0 / 3); /* of what functions are shares of */
    assert_int_equal(p->sources[0].active, 3);
    assert_int_equal(p->sources[0].totals.active_samples, 4);
    assert_int_equal(p->thread_count, 1);
    assert_int_equal(p->threads[0].thread, 1);
    o.thread = 15;
    p = rig_report_with(r, &o);
    assert_int_equal(p->function_count, 0);
    drop(r, image);
}

static void a_busy_sender_leaves_room_for_the_addresses_of_others(void **state)
{
    struct rig *r = S(state);
    const struct profile_sample quiet = {.pc = LEAF, .active = 1};
    for (uint32_t i = 0; i < 3; i++)
        rig_sample(r, MAIN + 4 * i, 0, 0, 5);
    r->header.seq = 0;
    rig_feed_from(r, OTHER, &quiet, 1);
    const struct prof_report_options o = {.thread = -1, .hot_limit = 2};
    const struct prof_report *p = rig_report_with(r, &o);
    assert_int_equal(p->hot_count, 3);
    assert_int_equal(p->hot[0].source, 0);
    assert_int_equal(p->hot[1].source, 0);
    assert_int_equal(p->hot[2].source, 1);
    expect_near(p->hot[0].share, 1.0 / 3);
    expect_near(p->hot[2].share, 1);
}

/* --- callers -------------------------------------------------------------------------------------------- */

static void ubicom_callers_by_instruction(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, LEAF + 4, MAIN + 0x14, 0, 5);           /* a5: behind the CALL */
    rig_sample(r, LEAF + 4, 0, MIDDLE + 0x18, 3);         /* the stack: behind MOVEAI, CALLI */
    rig_sample(r, LEAF + 4, THIRD + 0x14, 0, 2);          /* CALLI alone */
    rig_sample(r, LEAF + 8, MAIN + 0x18, MAIN + 0x24, 1); /* no call; a call of another */
    const struct prof_report_function *f = rig_function(rig_report(r), "leaf");
    assert_non_null(f);
    assert_int_equal(f->caller_count, 3);
    expect_caller(f, 0, "main", MAIN + 0x10, 5, PROF_CALLER_VALID);
    expect_caller(f, 1, "middle", MIDDLE + 0x14, 3, PROF_CALLER_VALID);
    expect_caller(f, 2, "third", THIRD + 0x10, 2, PROF_CALLER_POSSIBLE);
    assert_int_equal(rig_function(r->report, "main")->self, 0);
    assert_int_equal(rig_function(r->report, "main")->inclusive, 5);
    assert_int_equal(rig_function(r->report, "middle")->inclusive, 3);
    assert_int_equal(f->inclusive, 11);
    drop(r, image);
}

static void ubicom_moveai_of_another_function(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, LEAF, MIDDLE + 0x28, 0, 1); /* calls third: 128 bytes further up */
    expect_caller(rig_function(rig_report(r), "leaf"), 0, "[unknown]", 0, 1, PROF_CALLER_UNKNOWN);
    drop(r, image);
}

static void link_register_comes_first(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, LEAF, MAIN + 0x14, MIDDLE + 0x18, 1);
    const struct prof_report_function *f = rig_function(rig_report(r), "leaf");
    assert_int_equal(f->caller_count, 1);
    expect_caller(f, 0, "main", MAIN + 0x10, 1, PROF_CALLER_VALID);
    drop(r, image);
}

static void row_38_words_that_are_no_return_addresses(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    static const uint32_t words[] = {0,          1, 2, 3, 4, 7, 8, 0xffffffff, 0xfffffffc, MAIN, TEXT + 0x100,
                                     MAIN + 0x15};
    use(r, image);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        rig_sample(r, LEAF, words[i], words[i], 1);
    const struct prof_report_function *f = rig_function(rig_report(r), "leaf");
    assert_int_equal(f->caller_count, 1);
    expect_caller(f, 0, "[unknown]", 0, 12, PROF_CALLER_UNKNOWN);
    assert_int_equal(r->report->function_count, 1);
    drop(r, image);
}

static void chain_of_version_21(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    r->layout = PROFILE_V21;
    r->header.thread_count = 12;
    struct profile_sample s = {.pc = LEAF + 4, .active = 1, .parent_count = 4};
    s.a_reg = 0x12345678;         /* nothing */
    s.parents[0] = MIDDLE + 0x18; /* middle called leaf */
    s.parents[1] = THIRD + 0x24;  /* data: third calls main, not middle */
    s.parents[2] = MAIN + 0x24;   /* main called middle */
    s.parents[3] = THIRD + 0x24;  /* third called main */
    rig_feed(r, &s, 1);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->stack_count, 1);
    const struct prof_report_stack *k = &p->stacks[0];
    assert_int_equal(k->depth, 4);
    assert_string_equal(k->frames[0].name, "third");
    assert_string_equal(k->frames[1].name, "main");
    assert_string_equal(k->frames[2].name, "middle");
    assert_string_equal(k->frames[3].name, "leaf");
    assert_int_equal(k->addresses[0], THIRD + 0x20);
    assert_int_equal(k->addresses[1], MAIN + 0x20);
    assert_int_equal(k->addresses[2], MIDDLE + 0x14);
    assert_int_equal(k->addresses[3], LEAF + 4);
    assert_int_equal(k->caller, MIDDLE + 0x14);
    assert_int_equal(k->count, 1);
    assert_int_equal(rig_function(p, "third")->inclusive, 1);
    expect_caller(rig_function(p, "leaf"), 0, "middle", MIDDLE + 0x14, 1, PROF_CALLER_VALID);
    drop(r, image);
}

static void recursion_is_inclusive_once(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    symbol_close(image);
    put(MAIN + 0x30, ubicom_call(MAIN + 0x30, MAIN));
    image = symbol_open_memory(elf.data, elf.size, "ubicom", NULL);
    assert_non_null(image);
    use(r, image);
    rig_sample(r, MAIN + 4, MAIN + 0x34, MAIN + 0x34, 7);
    const struct prof_report_function *f = rig_function(rig_report(r), "main");
    assert_int_equal(f->self, 7);
    assert_int_equal(f->inclusive, 7);
    expect_caller(f, 0, "main", MAIN + 0x30, 7, PROF_CALLER_VALID);
    drop(r, image);
}

static void thumb_callers(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = arm_image();
    use(r, image);
    rig_sample(r, CALLEE + 4, CALLER + 0x15, 0, 4); /* behind the BL */
    rig_sample(r, CALLEE + 4, 0, CALLER + 0x23, 2); /* behind the BLX */
    rig_sample(r, CALLEE + 4, CALLER + 0x14, 0, 1); /* no Thumb bit */
    rig_sample(r, CALLEE + 4, CALLER + 0x31, 0, 1); /* no call before it */
    rig_sample(r, CALLEE + 6, CALLEE + 0x11, 0, 1); /* itself: it has called something */
    rig_sample(r, CALLEE + 6, TEXT + 0x95, 0, 3);   /* outer called another: left over */
    rig_sample(r, CALLEE + 6, 0, TEXT + 0x95, 1);   /* the same on the stack: an interrupted function's */
    rig_sample(r, CALLEE + 8, TEXT + 0xa3, CALLER + 0x15, 1); /* a BLX left over, and who it was */
    rig_sample(r, CALLEE + 8, TEXT + 0xa3, 0, 1);             /* the BLX alone: possible */
    const struct prof_report_function *f = rig_function(rig_report(r), "callee");
    assert_int_equal(f->caller_count, 3);
    expect_caller(f, 0, "caller", CALLER + 0x10, 7, PROF_CALLER_VALID);
    expect_caller(f, 1, "[unknown]", 0, 7, PROF_CALLER_UNKNOWN);
    expect_caller(f, 2, "outer", TEXT + 0xa0, 1, PROF_CALLER_POSSIBLE);
    assert_int_equal(rig_function(r->report, "caller")->inclusive, 7);
    drop(r, image);
}

static void machine_whose_calls_are_not_known(void **state)
{
    struct rig *r = S(state);
    static const struct elf_symbol names[] = {{"f", TEXT, 0x40, GLOBAL_FUNC, SECTION_TEXT},
                                              {"g", TEXT + 0x40, 0x40, GLOBAL_FUNC, SECTION_TEXT}};
    elf_make(&elf, true, 20 /* PowerPC */, names, 2);
    struct symbol_index *image = symbol_open_memory(elf.data, elf.size, "other", NULL);
    assert_non_null(image);
    use(r, image);
    rig_sample(r, TEXT + 0x44, TEXT + 0x14, 0, 2);
    rig_sample(r, TEXT + 0x44, TEXT + 0x54, 0, 1); /* its own */
    rig_sample(r, TEXT + 0x44, TEXT + 0x104, 0, 1);
    const struct prof_report_function *f = rig_function(rig_report(r), "g");
    assert_int_equal(f->caller_count, 2);
    assert_string_equal(f->callers[0].frame.name, "f");
    assert_int_equal(f->callers[0].count, 2);
    assert_int_equal(f->callers[0].certainty, PROF_CALLER_POSSIBLE);
    drop(r, image);
}

/* --- branches ------------------------------------------------------------------------------------------- */

static void branch_outcomes(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    prof_analysis_count_conditions(r->analysis, 0);
    /* the high nibble is selected: Z there takes it, Z in the low one does not */
    const struct profile_sample s[] = {{.pc = LEAF + 8, .active = 1, .cond_codes = 0x40},
                                       {.pc = LEAF + 8, .active = 1, .cond_codes = 0x4b},
                                       {.pc = LEAF + 8, .active = 1, .cond_codes = 0x04},
                                       {.pc = LEAF + 8, .active = 0, .cond_codes = 0x40},
                                       {.pc = LEAF + 12, .active = 1, .cond_codes = 0xff}};
    rig_feed(r, s, 5);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->hot[0].pc, LEAF + 8);
    assert_true(p->hot[0].is_branch);
    assert_int_equal(p->hot[0].taken, 2);
    assert_int_equal(p->hot[0].not_taken, 1);
    assert_int_equal(p->hot[0].mispredicted_at_most, 1); /* predicted taken */
    assert_int_equal(p->hot[1].pc, LEAF + 12);
    assert_false(p->hot[1].is_branch);
    drop(r, image);
}

/* --- stacks and images ---------------------------------------------------------------------------------- */

static void stacks_that_differ_in_what_is_not_believed_are_one(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    for (uint32_t i = 0; i < 50; i++) {
        rig_sample(r, LEAF + 4, MAIN + 0x14, 0x90000000 + 4 * i, 1);
        rig_sample(r, LEAF + 4, 0x90000000 + 4 * i, 0, 1);
    }
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->stack_count, 2);
    assert_int_equal(p->stacks[0].count, 50);
    assert_int_equal(p->stacks[0].depth, 1);
    assert_int_equal(p->stacks[0].caller, 0);
    assert_int_equal(p->stacks[1].count, 50);
    assert_int_equal(p->stacks[1].depth, 2);
    assert_string_equal(p->stacks[1].frames[0].name, "main");
    assert_string_equal(p->stacks[1].frames[1].name, "leaf");
    drop(r, image);
}

static void image_that_does_not_fit(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    use(r, image);
    rig_sample(r, LEAF, 0, 0, 50);
    assert_false(rig_report(r)->images[0].mismatch);
    rig_sample(r, LEAF + 2, 0, 0, 10);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->image_count, 1);
    assert_int_equal(p->images[0].samples, 60);
    assert_true(p->images[0].mismatch);
    assert_non_null(strstr(p->images[0].note, "between two instructions"));
    assert_true(p->sources[0].image_mismatch);
    drop(r, image);
}

static void image_at_an_offset(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    r->spaces[0] = symbol_space_new();
    assert_int_equal(symbol_space_add(r->spaces[0], image, 0x1000000, NULL), CORRAL_OK);
    rig_sample(r, LEAF + 0x1000004, MAIN + 0x1000014, 0, 3);
    const struct prof_report_function *f = rig_function(rig_report(r), "leaf");
    assert_non_null(f);
    assert_int_equal(f->address, LEAF + 0x1000000);
    expect_caller(f, 0, "main", MAIN + 0x1000010, 3, PROF_CALLER_VALID);
    drop(r, image);
}

static void processes(void **state)
{
    struct rig *r = S(state);
    struct symbol_index *image = ubicom_image();
    r->spaces[0] = symbol_space_new();
    assert_int_equal(symbol_space_add(r->spaces[0], image, 0, NULL), CORRAL_OK);
    assert_int_equal(
        symbol_space_add_map(r->spaces[0], 7, 0x40000000, 0x40001000, 0, "/lib/libc.so", NULL, NULL),
        CORRAL_OK);
    r->layout = PROFILE_V21;
    r->header.thread_count = 12;
    const struct profile_sample s[] = {{.pc = LEAF, .pid = 7, .active = 1},
                                       {.pc = LEAF, .pid = 8, .active = 1},
                                       {.pc = 0x40000100, .pid = 7, .active = 1},
                                       {.pc = 0x40000100, .pid = 8, .active = 1}};
    rig_feed(r, s, 4);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(rig_function(p, "leaf")->self, 2); /* the same in every process */
    assert_int_equal(rig_function(p, "leaf")->pid, 0);
    assert_int_equal(rig_function(p, "[libc.so]")->self, 1);
    assert_int_equal(rig_function(p, "[libc.so]")->pid, 7);
    assert_int_equal(rig_function(p, "[unknown]")->self, 1);
    assert_int_equal(rig_function(p, "[unknown]")->pid, 8); /* whose maps would be wanted */
    assert_int_equal(p->sources[0].unknown_pc, 1);
    drop(r, image);
}

struct feeding {
    struct rig *r;
    atomic_bool done;
};

/* More senders than there are places, and counting anew on the way. */
static void *feed_much(void *ctx)
{
    struct feeding *f = ctx;
    struct profile_sample s[8];
    char name[32];
    for (uint32_t i = 0; i < 3000; i++) {
        for (uint32_t k = 0; k < 8; k++)
            s[k] = (struct profile_sample){.pc = 0x1000 + (i * 8 + k) % 500 * 4,
                                           .a5 = i,
                                           .thread = (uint8_t)k,
                                           .active = (uint16_t)(0xff ^ (i & 1))};
        snprintf(name, sizeof(name), "192.0.2.7:%u", (unsigned)(i % 100));
        rig_feed_from(f->r, name, s, 8);
        if (i % 700 == 699)
            prof_streams_reset(f->r->streams);
    }
    atomic_store(&f->done, true);
    return NULL;
}

static void a_report_shows_one_moment(void **state)
{
    struct feeding f = {.r = S(state)};
    const struct prof_report_options o = {.thread = -1, .hot_limit = 1000, .stacks = true};
    pthread_t thread;
    bool last = false;
    assert_int_equal(pthread_create(&thread, NULL, feed_much, &f), 0);
    while (!last) {
        last = atomic_load(&f.done); /* one more behind the end */
        struct prof_report *p = prof_report_make(f.r->streams, f.r->analysis, &o, NULL);
        uint64_t active = 0, functions = 0, hot = 0, stacks = 0, threads = 0;
        assert_non_null(p);
        for (size_t i = 0; i < p->source_count; i++)
            active += p->sources[i].evicted ? 0 : p->sources[i].totals.active_samples;
        for (size_t i = 0; i < p->function_count; i++)
            functions += p->functions[i].self;
        for (size_t i = 0; i < p->hot_count; i++)
            hot += p->hot[i].count;
        for (size_t i = 0; i < p->stack_count; i++)
            stacks += p->stacks[i].count;
        for (size_t i = 0; i < p->thread_count; i++)
            threads += p->threads[i].active;
        assert_int_equal(functions, active);
        assert_int_equal(stacks, active);
        assert_int_equal(threads, active);
        assert_true(hot <= active && (hot == active || p->hot_count == 1000));
        prof_report_free(p);
    }
    pthread_join(thread, NULL);
}

static void nothing_came(void **state)
{
    struct rig *r = S(state);
    const struct prof_report *p = rig_report(r);
    assert_int_equal(p->source_count, 0);
    assert_int_equal(p->function_count, 0);
    assert_int_equal(p->stack_count, 0);
    prof_report_free(NULL);
}

/* Condition by condition, over all flags: the sheet's list once more, as masks of the NZVC values that take
 * it. Bit f of a mask is flags f. */
static void every_condition(void **state)
{
    (void)state;
    static const uint32_t takes[16] = {
        [0] = 0x0000,  /* never */
        [1] = 0x5555,  /* C clear: even */
        [2] = 0xaaaa,  /* C set */
        [3] = 0xf0f0,  /* Z: 4 to 7, 12 to 15 */
        [4] = 0xcc33,  /* N == V: 0 1 4 5, 10 11 14 15 */
        [5] = 0x0c03,  /* and Z clear: 0 1, 10 11 */
        [6] = 0x0a0a,  /* C and not Z: 1 3 9 11 */
        [7] = 0xf3fc,  /* Z or N != V */
        [8] = 0xf5f5,  /* not C, or Z */
        [9] = 0x33cc,  /* N != V */
        [10] = 0xff00, /* N */
        [11] = 0x0f0f, /* not Z */
        [12] = 0x00ff, /* not N */
        [13] = 0xffff, /* always */
        [14] = 0x3333, /* not V */
        [15] = 0xcccc, /* V */
    };
    for (uint32_t condition = 0; condition < 16; condition++) {
        for (unsigned flags = 0; flags < 16; flags++) {
            uint32_t jump = UINT32_C(0x1a) << 27 | condition << 23;
            bool want = takes[condition] >> flags & 1;
            assert_int_equal(prof_branch_taken(jump, (uint8_t)flags), want);
            assert_int_equal(prof_branch_taken(jump | 1u << 21, (uint8_t)(flags << 4 | (flags ^ 0xf))), want);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shares_and_their_error),
        TEST(row_37_unknown_addresses),
        TEST(without_an_image),
        TEST(one_thread_only),
        TEST(a_busy_sender_leaves_room_for_the_addresses_of_others),
        TEST(ubicom_callers_by_instruction),
        TEST(ubicom_moveai_of_another_function),
        TEST(link_register_comes_first),
        TEST(row_38_words_that_are_no_return_addresses),
        TEST(chain_of_version_21),
        TEST(recursion_is_inclusive_once),
        TEST(thumb_callers),
        TEST(machine_whose_calls_are_not_known),
        TEST(branch_outcomes),
        TEST(stacks_that_differ_in_what_is_not_believed_are_one),
        TEST(image_that_does_not_fit),
        TEST(image_at_an_offset),
        TEST(processes),
        TEST(a_report_shows_one_moment),
        TEST(nothing_came),
        cmocka_unit_test(every_condition),
    };
    return cmocka_run_group_tests_name("prof report", tests, NULL, NULL);
}
