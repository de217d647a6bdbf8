/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses against the instructions before them: profiler sheet 3.7 (Ubicom32), the Armv7-M and
 * Armv8-A manuals' encodings of BL and BLX/BLR. A call that names its target proves its caller; one through a
 * register makes it possible. Words are hostile: nothing below is subtracted that would wrap.
 */
#include "prof/caller.h"

#include "base/bytes.h"

bool prof_target_at(const struct symbol_space *space, uint32_t pid, uint64_t address,
                    struct symbol_function *function, struct prof_target *place)
{
    struct symbol_place at;

    if (!space || !symbol_space_find(space, pid, address, &at) || !at.image ||
        !symbol_function_at(at.image, at.address, function))
        return false;
    place->image = at.image;
    place->shift = address - at.address;
    place->function = function->address + place->shift;
    return true;
}

/* What the instruction before a return address says of it. */
enum call_kind {
    CALL_NONE,     /* no call: no return address */
    CALL_UNSEEN,   /* the image has no bytes there, or its instructions are not known here */
    CALL_INDIRECT, /* of whatever a register held */
    CALL_DIRECT,   /* of `target` */
    CALL_NEAR,     /* of something in the 128 bytes from `target` on */
};
struct call {
    enum call_kind kind;
    uint64_t address, target;
};

static uint64_t sign_extend(uint64_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);

    return (value ^ sign) - sign;
}

static bool read_word(const struct prof_target *at, uint64_t address, uint32_t *word)
{
    uint8_t bytes[4];

    if (!symbol_code(at->image, address - at->shift, bytes, sizeof(bytes)))
        return false;
    *word = symbol_big_endian(at->image) ? load_be32(bytes) : load_le32(bytes);
    return true;
}

/* Instructions of Arm are little-endian in all but the oldest of its big-endian images. */
static bool read_half(const struct prof_target *at, uint64_t address, uint32_t *half)
{
    uint8_t bytes[2];

    if (!symbol_code(at->image, address - at->shift, bytes, sizeof(bytes)))
        return false;
    *half = load_le16(bytes);
    return true;
}

#define UBICOM_CALL  0x1bu
#define UBICOM_CALLI 0x1eu
#define UBICOM_JMP   0x1au

/* 24 bits in two pieces: 26..24 and 20..0. */
static uint32_t ubicom_imm24(uint32_t word)
{
    return (word >> 3 & 0xe00000) | (word & 0x1fffff);
}

static struct call ubicom_call(const struct prof_target *at, uint64_t after)
{
    struct call call = {.kind = CALL_UNSEEN, .address = after - 4};
    uint32_t word, before;

    if (!read_word(at, call.address, &word))
        return call;
    call.kind = CALL_NONE;
    if (word >> 27 == UBICOM_CALL) {
        call.kind = CALL_DIRECT;
        call.target = (uint32_t)(call.address + (sign_extend(ubicom_imm24(word), 24) << 2));
    } else if (word >> 27 == UBICOM_CALLI) {
        call.kind = CALL_INDIRECT;
        if (call.address >= 4 && read_word(at, call.address - 4, &before) && before >> 28 == 0xe) {
            /* MOVEAI: the address but for its low 7 bits, which are in the CALLI. */
            uint32_t high = (before >> 3 & 0x1000000) | ubicom_imm24(before);
            call.kind = CALL_NEAR;
            call.target = (uint32_t)(high << 7);
        }
    }
    return call;
}

static struct call thumb_call(const struct prof_target *at, uint64_t after)
{
    struct call call = {.kind = CALL_UNSEEN, .address = after - 2};
    uint32_t first, second;

    if (!read_half(at, after - 2, &second))
        return call;
    call.kind = CALL_NONE;
    if (read_half(at, after - 4, &first) && (first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000 &&
        (second & 0x1000 || !(second & 1))) {
        uint32_t sign = first >> 10 & 1;
        uint32_t i1 = ~((second >> 13) ^ sign) & 1, i2 = ~((second >> 11) ^ sign) & 1;
        uint64_t offset =
            (uint64_t)sign << 24 | i1 << 23 | i2 << 22 | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;
        uint64_t from = second & 0x1000 ? after : after & ~UINT64_C(3); /* BLX to Arm code is aligned */
        call.kind = CALL_DIRECT;
        call.address = after - 4;
        call.target = (uint32_t)(from + sign_extend(offset, 25));
    } else if ((second & 0xff80) == 0x4780) { /* BLX, and BLXNS, of a register */
        call.kind = CALL_INDIRECT;
    }
    return call;
}

static struct call arm_call(const struct prof_target *at, uint64_t after)
{
    struct call call = {.kind = CALL_UNSEEN, .address = after - 4};
    uint8_t bytes[4];

    if (!symbol_code(at->image, call.address - at->shift, bytes, sizeof(bytes)))
        return call;
    uint32_t word = load_le32(bytes);
    call.kind = CALL_NONE;
    if (word >> 28 != 0xf && (word & 0x0f000000) == 0x0b000000) {
        call.kind = CALL_DIRECT;
        call.target = (uint32_t)(after + 4 + (sign_extend(word & 0xffffff, 24) << 2));
    } else if (word >> 28 != 0xf && (word & 0x0ffffff0) == 0x012fff30) {
        call.kind = CALL_INDIRECT;
    }
    return call;
}

static struct call aarch64_call(const struct prof_target *at, uint64_t after)
{
    struct call call = {.kind = CALL_UNSEEN, .address = after - 4};
    uint8_t bytes[4];

    if (!symbol_code(at->image, call.address - at->shift, bytes, sizeof(bytes)))
        return call;
    uint32_t word = load_le32(bytes); /* whatever the order of data */
    call.kind = CALL_NONE;
    if (word >> 26 == 0x25) {
        call.kind = CALL_DIRECT;
        call.target = call.address + (sign_extend(word & 0x3ffffff, 26) << 2);
    } else if ((word & 0xfffffc1f) == 0xd63f0000) {
        call.kind = CALL_INDIRECT;
    }
    return call;
}

/* The call before `word`, by the machine of the image that `at` is in. `word` is at least 8. */
static struct call call_before(const struct prof_target *at, uint64_t word)
{
    unsigned alignment = symbol_alignment(at->image);
    uint16_t machine = symbol_machine(at->image);

    if (machine == SYMBOL_MACHINE_ARM && (word & 1))
        return thumb_call(at, word & ~UINT64_C(1));
    if (alignment && word % alignment != 0)
        return (struct call){.kind = CALL_NONE};
    if (machine == SYMBOL_MACHINE_UBICOM32)
        return ubicom_call(at, word);
    if (machine == SYMBOL_MACHINE_ARM) {
        struct call call = word % 4 == 0 ? arm_call(at, word) : (struct call){.kind = CALL_NONE};
        if (call.kind == CALL_UNSEEN) /* an even address is Arm code's, if that can be seen */
            call.kind = CALL_NONE;
        return call;
    }
    if (machine == SYMBOL_MACHINE_AARCH64)
        return aarch64_call(at, word);
    /* Behind a MIPS call is its delay slot. */
    unsigned back = machine == SYMBOL_MACHINE_MIPS ? 8 : alignment == 4 ? 4 : alignment == 2 ? 2 : 1;
    return (struct call){.kind = CALL_UNSEEN, .address = word - back};
}

/* Is `word` a return address behind a call of `callee`, in process `pid`? */
static bool check_caller(const struct symbol_space *space, uint32_t pid, uint64_t word,
                         const struct prof_target *callee, struct prof_caller *out)
{
    struct symbol_function function;
    struct prof_target at;

    if (word < 8)
        return false;
    /* The last instruction of a function may be a call, so it is the call's place that counts. */
    if (!prof_target_at(space, pid, (word & ~UINT64_C(1)) - 4, &function, &at) &&
        !prof_target_at(space, pid, (word & ~UINT64_C(1)) - 2, &function, &at))
        return false;
    struct call call = call_before(&at, word);
    if (call.kind == CALL_NONE || !prof_target_at(space, pid, call.address, &out->function, &out->place))
        return false;
    bool ubicom = symbol_machine(at.image) == SYMBOL_MACHINE_UBICOM32;
    bool other = out->place.function != callee->function;
    out->call = call.address;
    out->certainty = PROF_CALLER_POSSIBLE;
    out->proven = call.kind != CALL_UNSEEN;
    switch (call.kind) {
    case CALL_DIRECT:
        /* A call of another function is what a link register shows that one left behind; that it was left by
         * a jump on to here is rarer, and cannot be told from it. */
        out->certainty = PROF_CALLER_VALID;
        return call.target == callee->function;
    case CALL_NEAR:
        out->certainty = PROF_CALLER_VALID;
        return callee->function >= call.target && callee->function - call.target < 128;
    case CALL_INDIRECT:
        return ubicom || other;
    case CALL_UNSEEN:
        return !ubicom && other;
    default:
        return false;
    }
}

/* Has one of the words from `from` on a call of `callee` by name before it? */
static bool named_later(const struct symbol_space *space, uint32_t pid, const uint32_t *words, size_t from,
                        size_t count, const struct prof_target *callee)
{
    struct prof_caller c;

    for (size_t i = from; i < count; i++)
        if (check_caller(space, pid, words[i], callee, &c) && c.certainty == PROF_CALLER_VALID)
            return true;
    return false;
}

size_t prof_caller_chain(const struct symbol_space *space, const struct prof_aggregate_entry *entry,
                         const struct prof_target *leaf, struct prof_caller chain[PROF_CHAIN_MAX])
{
    const struct prof_target *callee = leaf;
    uint32_t words[PROF_CHAIN_MAX] = {entry->link};
    size_t depth = 0, count = 1;

    for (size_t i = 0; i < entry->parent_count && i < PROF_AGGREGATE_PARENTS; i++)
        words[count++] = entry->parents[i];
    for (size_t i = 0; i < count; i++) {
        struct prof_caller *next = &chain[depth];
        if (i && depth && words[i] == words[i - 1])
            continue; /* the link register, saved */
        if (!check_caller(space, entry->pid, words[i], callee, next))
            continue;
        if (depth && !next->proven)
            continue; /* further out, a word of the stack must be more than plausible */
        /* The link register is first (sheet 3.7), but where it may be left over, what is sure is better. */
        if (!depth && next->certainty != PROF_CALLER_VALID &&
            symbol_machine(next->place.image) != SYMBOL_MACHINE_UBICOM32 &&
            named_later(space, entry->pid, words, i + 1, count, callee))
            continue;
        callee = &next->place;
        depth++;
    }
    return depth;
}

bool prof_branch_decode(uint32_t word, bool *predicted_taken)
{
    uint32_t condition = word >> 23 & 0xf;

    *predicted_taken = (word >> 22 & 1) != 0;
    return word >> 27 == UBICOM_JMP && condition != 0 && condition != 13; /* never, always */
}

bool prof_branch_taken(uint32_t word, uint8_t cond_codes)
{
    unsigned flags = word >> 21 & 1 ? cond_codes >> 4 : cond_codes & 0xf;
    bool n = flags & 8, z = flags & 4, v = flags & 2, c = flags & 1;

    switch (word >> 23 & 0xf) {
    case 1:
        return !c;
    case 2:
        return c;
    case 3:
        return z;
    case 4:
        return n == v;
    case 5:
        return n == v && !z;
    case 6:
        return c && !z;
    case 7:
        return z || n != v;
    case 8:
        return !c || z;
    case 9:
        return n != v;
    case 10:
        return n;
    case 11:
        return !z;
    case 12:
        return !n;
    case 13:
        return true;
    case 14:
        return !v;
    case 15:
        return v;
    default:
        return false;
    }
}
