/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link without a target: memory that reads 0, a preset, or the words of a real part from a file. Power-up
 * acknowledges, S_HALT and an AP's IDR are mirrored, so that connect sequences end (INTERFACE.md "--link").
 *
 * The file is hostile input: its numbers are checked and the table it fills is bounded.
 */
#include "link/dry.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "link/link_backend.h"

#define DRY_MAX_WORDS  (1u << 20)
#define DRY_MAX_BLOCKS 4096
#define DRY_MAX_NESTED 16
#define DRY_ACCESS_NS  (10 * NS_PER_US) /* time has to pass, or a bounded wait would never end */

#define SPACE_ANY  (-2)               /* presets: seen through every AP */
#define SPACE_ROOT (-1)               /* an ADIv6 root address space */
#define SPACE_REGS (INT64_C(1) << 40) /* registers of ADIv5 AP n: this + n */

enum { AP_BASEH = 0xF0, AP_CFG = 0xF4, AP_BASE = 0xF8, AP_IDR = 0xFC };
enum { ADIV6_REGISTERS = 0xD00, ADIV6_BLOCK = 0x1000 };

#define CFG_LD       4u
#define DEFAULT_IDR  0x24770011u /* AHB-AP */
#define NO_BASE      0x00000002u /* no table */
#define DPIDR_V1     0x2BA01477u
#define DPIDR_V3     0x4C013477u
#define ROOT_PRESENT 1u
#define PINS         0xAFu /* those that there are */

#define DHCSR        0xE000EDF0u
#define DHCSR_C_HALT 0x2u
#define S_REGRDY     0x10000u
#define S_HALT       0x20000u

/* Registers of an AP behind another one, from the start of its block. */
enum { NESTED_CSW = 0xD00, NESTED_TAR = 0xD04, NESTED_TARH = 0xD08, NESTED_DRW = 0xD0C };
enum { NESTED_BASE = 0xDF8, NESTED_IDR = 0xDFC };
#define CSW_INC 0x30u

/* What power requests are answered with: of a class 9 ROM table, and of a GPR. */
enum { DBGPCR = 0xA00, DBGPSR = 0xA80, DBGPSR_END = 0xB00, CPWRUPREQ = 0x000, CPWRUPACK = 0x004 };
enum { DEVARCH = 0xFBC, PIDR0 = 0xFE0, PIDR1 = 0xFE4 };
#define ROM_TABLE_ARCH 0x0AF7u
#define GPR_PART       0x9A4u
#define PCR_REQUESTED  3u
#define PSR_POWERED    3u

struct dry_word {
    int64_t space;
    uint64_t address;
    uint32_t value;
};

/* AP `ap` whose registers are a block of the parent's memory. */
struct dry_nested {
    int64_t ap, parent;
    uint64_t address;
};

struct dry {
    struct host_clock *clock;
    struct dry_word *words; /* sorted by space and address */
    size_t count, room;
    struct dry_word blocks[DRY_MAX_BLOCKS]; /* 4 KiB that fault; value unused */
    size_t block_count;
    struct dry_nested nested[DRY_MAX_NESTED];
    size_t nested_count;
    bool has_root;
    uint32_t root_base;
    uint32_t select, ctrl_stat;
    bool mirrors_idr; /* without a file: whatever AP is asked for is there */
    uint8_t pins;     /* as they were driven last, high before */
};

static int compare(int64_t space, uint64_t address, const struct dry_word *w)
{
    if (space != w->space)
        return space < w->space ? -1 : 1;
    return address < w->address ? -1 : address > w->address;
}

/* Where the word is, or where it would have to go. */
static size_t find(const struct dry *s, int64_t space, uint64_t address, bool *there)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(space, address, &s->words[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < s->count && compare(space, address, &s->words[low]) == 0;
    return low;
}

static enum corral_err put(struct dry *s, int64_t space, uint64_t address, uint32_t value, struct diag *d)
{
    bool there;
    size_t at = find(s, space, address, &there);
    if (there) {
        s->words[at].value = value;
        return CORRAL_OK;
    }
    if (s->count >= DRY_MAX_WORDS)
        return diag_set(d, CORRAL_ERR_LIMIT, "link dry keeps at most %u words", DRY_MAX_WORDS);
    if (s->count == s->room) {
        size_t room = s->room ? s->room * 2 : 256;
        struct dry_word *larger = realloc(s->words, room * sizeof(*larger));
        if (!larger)
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        s->words = larger;
        s->room = room;
    }
    memmove(&s->words[at + 1], &s->words[at], (s->count - at) * sizeof(*s->words));
    s->words[at] = (struct dry_word){space, address, value};
    s->count++;
    return CORRAL_OK;
}

static uint32_t get(const struct dry *s, int64_t space, uint64_t address)
{
    bool there;
    size_t at = find(s, space, address, &there);
    if (!there && space >= 0 && space < SPACE_REGS)
        at = find(s, SPACE_ANY, address, &there);
    return there ? s->words[at].value : 0;
}

static bool is_unreadable(const struct dry *s, int64_t space, uint64_t address)
{
    for (size_t i = 0; i < s->block_count; i++)
        if (s->blocks[i].space == space && s->blocks[i].address == (address & ~UINT64_C(0xFFF)))
            return true;
    return false;
}

static enum corral_err fault(struct diag *d, const struct link_access *a, uint64_t address)
{
    return diag_set(d, CORRAL_ERR_LINK_FAULT, "AP %" PRIu32 " answered FAULT at address 0x%08" PRIx64, a->ap,
                    address);
}

/* Power that is asked for is there (INTERFACE.md: connect sequences end). */
static uint32_t mirror_power(const struct dry *s, int64_t space, uint64_t address, uint32_t word)
{
    uint64_t block = address & ~UINT64_C(0xFFF), offset = address & 0xFFC;
    if (offset >= DBGPSR && offset < DBGPSR_END &&
        (get(s, space, block + DEVARCH) & 0xFFFF) == ROM_TABLE_ARCH &&
        (get(s, space, address - DBGPSR + DBGPCR) & PCR_REQUESTED) == PCR_REQUESTED)
        return word | PSR_POWERED;
    if (offset == CPWRUPACK && (get(s, space, block + PIDR0) & 0xFF) == (GPR_PART & 0xFF) &&
        (get(s, space, block + PIDR1) & 0xF) == GPR_PART >> 8)
        return word | get(s, space, block + CPWRUPREQ);
    return word;
}

static enum corral_err memory(struct dry *s, struct link_access *a, struct diag *d);

/* The access to DRW of an AP behind this one; false where there is none. */
static bool nested_drw(struct dry *s, const struct link_access *a, uint64_t address, void *element,
                       enum corral_err *err, struct diag *d)
{
    if ((address & 0xFFF) != NESTED_DRW || a->size != 4)
        return false;
    for (size_t i = 0; i < s->nested_count; i++) {
        const struct dry_nested *n = &s->nested[i];
        if (n->parent != (int64_t)a->ap || n->address != (address & ~UINT64_C(0xFFF)))
            continue;
        uint32_t csw = get(s, n->parent, n->address + NESTED_CSW),
                 tar = get(s, n->parent, n->address + NESTED_TAR);
        uint8_t size = (uint8_t)(1u << (csw & 7u ? (csw & 7u) == 1 ? 1 : 2 : 0));
        uint32_t word = 0;
        struct link_access inner = {.op = a->op, .size = 4, .ap = (uint32_t)n->ap, .count = 1, .data = &word};
        inner.address = (uint64_t)get(s, n->parent, n->address + NESTED_TARH) << 32 | (tar & ~3u);
        if (a->op == LINK_MEM_WRITE) {
            memcpy(&word, element, 4);
            word >>= 8 * (tar & 3u & ~(size - 1u));
            inner.size = size;
            inner.address |= tar & 3u & ~(size - 1u);
        }
        *err = memory(s, &inner, d);
        if (a->op == LINK_MEM_READ)
            memcpy(element, &word, 4);
        if (!*err && (csw & CSW_INC))
            *err = put(s, n->parent, n->address + NESTED_TAR, (tar & ~0x3FFu) | ((tar + size) & 0x3FFu), d);
        return true;
    }
    return false;
}

/* As its CFG says of AP `a->ap` (a file's "cfg"): two words, the lower one first. */
static enum corral_err double_words(struct dry *s, struct link_access *a, struct diag *d)
{
    char name[LINK_AP_NAME_MAX];
    if (!(get(s, SPACE_REGS + a->ap, AP_CFG) & CFG_LD))
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "access port %s has no 64-bit accesses",
                        link_ap_name(a->ap, name));
    for (uint32_t i = 0; i < a->count; i++) {
        uint8_t *at = (uint8_t *)a->data + (size_t)i * 8;
        uint64_t value;
        uint32_t words[2];
        struct link_access halves = {.op = a->op, .size = 4, .ap = a->ap, .count = 2, .data = words};
        halves.address = a->address + (uint64_t)i * 8;
        memcpy(&value, at, sizeof(value));
        words[0] = (uint32_t)value;
        words[1] = (uint32_t)(value >> 32);
        enum corral_err err = memory(s, &halves, d);
        if (err)
            return err;
        value = words[0] | (uint64_t)words[1] << 32;
        memcpy(at, &value, sizeof(value));
        a->done++;
    }
    return CORRAL_OK;
}

static enum corral_err memory(struct dry *s, struct link_access *a, struct diag *d)
{
    if (a->size == 8)
        return double_words(s, a, d);
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t address = a->address + (uint64_t)i * a->size;
        unsigned shift = 8 * (unsigned)(address & 3);
        uint32_t mask = a->size == 4 ? UINT32_MAX : (1u << 8 * a->size) - 1;
        uint8_t *element = (uint8_t *)a->data + (size_t)i * a->size;
        enum corral_err inner;
        if (is_unreadable(s, a->ap, address))
            return fault(d, a, address);
        if (nested_drw(s, a, address, element, &inner, d)) {
            if (inner)
                return inner;
            a->done++;
            continue;
        }
        uint32_t word = get(s, a->ap, address & ~UINT64_C(3));
        if (a->op == LINK_MEM_READ) {
            word = mirror_power(s, a->ap, address & ~UINT64_C(3), word);
            if ((address & ~UINT64_C(3)) == DHCSR)
                word |= S_REGRDY | (word & DHCSR_C_HALT ? S_HALT : 0);
            uint32_t v = word >> shift & mask;
            uint16_t half = (uint16_t)v;
            uint8_t byte = (uint8_t)v;
            memcpy(element,
                   a->size == 4   ? (void *)&v
                   : a->size == 2 ? (void *)&half
                                  : (void *)&byte,
                   a->size);
        } else {
            uint32_t v = 0;
            uint16_t half;
            if (a->size == 2) {
                memcpy(&half, element, 2);
                v = half;
            } else if (a->size == 1) {
                v = *element;
            } else {
                memcpy(&v, element, 4);
            }
            word = (word & ~(mask << shift)) | v << shift;
            if ((address & ~UINT64_C(3)) == DHCSR)
                word &= 0xFFFF; /* the upper half is the key */
            enum corral_err err = put(s, a->ap, address & ~UINT64_C(3), word, d);
            if (err)
                return err;
        }
        a->done++;
    }
    return CORRAL_OK;
}

/* Is there such a register? Without a file an ADIv6 AP (a block of 4 KiB) is as good as an ADIv5 one. */
static bool is_ap_register(const struct dry *s, const struct link_access *a)
{
    if (s->has_root || (a->ap <= 255 && a->address <= AP_IDR))
        return true;
    return s->mirrors_idr && a->ap % ADIV6_BLOCK == 0;
}

static enum corral_err ap_register(struct dry *s, struct link_access *a, struct diag *d)
{
    int64_t space = s->has_root ? SPACE_ROOT : SPACE_REGS + a->ap;
    uint64_t address = s->has_root ? (uint64_t)a->ap + a->address : a->address;
    uint64_t reg = a->address >= ADIV6_REGISTERS ? a->address - ADIV6_REGISTERS : a->address;
    uint32_t value;
    char name[LINK_AP_NAME_MAX];
    if (!is_ap_register(s, a))
        return diag_set(d, CORRAL_ERR_NO_AP, "there is no access port %s", link_ap_name(a->ap, name));
    if (is_unreadable(s, space, address))
        return fault(d, a, address);
    if (a->op == LINK_AP_READ) {
        value = get(s, space, address);
        if (s->has_root)
            value = mirror_power(s, space, address, value);
        else if (s->mirrors_idr && reg == AP_IDR)
            value = DEFAULT_IDR;
        else if (s->mirrors_idr && reg == AP_BASE && a->ap)
            value = NO_BASE;
        memcpy(a->data, &value, sizeof(value));
    } else {
        memcpy(&value, a->data, sizeof(value));
        if (s->has_root || reg < AP_BASEH) { /* else read-only */
            enum corral_err err = put(s, space, address, value, d);
            if (err)
                return err;
        }
    }
    a->done = 1;
    return CORRAL_OK;
}

static uint32_t dp_read(const struct dry *s, uint64_t reg)
{
    uint32_t bank = s->select & 0xF;
    if (reg == 0x0) {
        if (s->has_root && bank == 1)
            return 32; /* DPIDR1.ASIZE */
        if (s->has_root && bank == 2)
            return (s->root_base & ~0xFFFu) | ROOT_PRESENT;
        if (s->has_root && bank == 3)
            return 0;
        return s->has_root ? DPIDR_V3 : DPIDR_V1;
    }
    if (reg == 0x4 && bank == 0) /* each request is acknowledged at once */
        return s->ctrl_stat | (s->ctrl_stat & 0x54000000u) << 1;
    return 0;
}

static void dp_register(struct dry *s, struct link_access *a)
{
    uint32_t value;
    if (a->op == LINK_DP_READ) {
        value = dp_read(s, a->address);
        memcpy(a->data, &value, sizeof(value));
    } else {
        memcpy(&value, a->data, sizeof(value));
        if (a->address == 0x8)
            s->select = value;
        else if (a->address == 0x4 && (s->select & 0xF) == 0)
            s->ctrl_stat = value & 0x54000F0Fu;
    }
    a->done = 1;
}

static enum corral_err dry_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct dry *s = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        enum corral_err err = CORRAL_OK;
        switch (a->op) {
        case LINK_MEM_READ:
        case LINK_MEM_WRITE:
            err = memory(s, a, d);
            break;
        case LINK_AP_READ:
        case LINK_AP_WRITE:
            err = ap_register(s, a, d);
            break;
        case LINK_DP_READ:
        case LINK_DP_WRITE:
            dp_register(s, a);
            break;
        }
        host_clock_set(s->clock, host_clock_now(s->clock) + DRY_ACCESS_NS);
        a->status = err;
        if (err)
            return err;
    }
    return CORRAL_OK;
}

/*
 * There are no wires: pins read as they were driven, TDO reads 0, everything else is accepted. The time that
 * a wait for pins may take does not pass, since they are there at once.
 */
static enum corral_err dry_raw(void *ctx, struct link_raw *raw, struct diag *d)
{
    struct dry *s = ctx;
    (void)d;
    if (raw->op == LINK_RAW_PINS) {
        s->pins = (uint8_t)((s->pins & ~raw->select) | (raw->out & raw->select & PINS));
        raw->in = s->pins;
    }
    host_clock_set(s->clock, host_clock_now(s->clock) + DRY_ACCESS_NS);
    return CORRAL_OK;
}

static void dry_close(void *ctx)
{
    struct dry *s = ctx;
    if (s)
        free(s->words);
    free(s);
}

static const struct link_backend dry_backend = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP | LINK_CAP_WIDE,
    .execute = dry_execute,
    .double_words = true,
    .raw = dry_raw,
    .raws = 1u << LINK_RAW_PINS | 1u << LINK_RAW_CLOCK | 1u << LINK_RAW_SWJ | 1u << LINK_RAW_JTAG |
            1u << LINK_RAW_ABORT,
    .close = dry_close,
};

static bool parse_number(const char *text, size_t size, uint64_t most, uint64_t *value)
{
    char copy[32];
    if (size == 0 || size >= sizeof(copy) || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *end;
    errno = 0;
    unsigned long long v = strtoull(copy, &end, 0);
    if (errno || *end || v > most)
        return false;
    *value = v;
    return true;
}

static enum corral_err parse_presets(struct dry *s, const char *text, struct diag *d)
{
    while (*text) {
        size_t size = strcspn(text, ",");
        const char *equals = memchr(text, '=', size);
        uint64_t address, value;
        if (!equals || !parse_number(text, (size_t)(equals - text), UINT32_MAX, &address) ||
            address % 4 != 0 ||
            !parse_number(equals + 1, size - (size_t)(equals - text) - 1, UINT32_MAX, &value)) {
            char shown[64];
            text_escape((const uint8_t *)text, size, shown, sizeof(shown));
            diag_set(d, CORRAL_ERR_USAGE, "--link dry: '%s' is not ADDRESS=VALUE with an aligned address",
                     shown);
            diag_hint(d, "for example --link dry:0xE000ED00=0x411FC271");
            return CORRAL_ERR_USAGE;
        }
        enum corral_err err = put(s, SPACE_ANY, address, (uint32_t)value, d);
        if (err)
            return err;
        text += size + (text[size] == ',');
    }
    return CORRAL_OK;
}

/* A number in the file: JSON integer, or a string as C writes it. */
static bool json_number(const json_t *j, uint64_t most, uint64_t *value)
{
    if (json_is_integer(j)) {
        json_int_t v = json_integer_value(j);
        *value = (uint64_t)v;
        return v >= 0 && (uint64_t)v <= most;
    }
    return json_is_string(j) && parse_number(json_string_value(j), json_string_length(j), most, value);
}

/* "parent" (an AP of the file) and "address": where the registers of AP `n` are. */
static const char *load_nested(struct dry *s, int64_t n, const json_t *ap, uint64_t idr, uint64_t base,
                               struct diag *d)
{
    const json_t *parent = json_object_get(ap, "parent");
    uint64_t address = 0;
    if (!json_is_integer(parent) || json_integer_value(parent) < 0 ||
        json_integer_value(parent) > UINT32_MAX || json_integer_value(parent) == n ||
        s->nested_count >= DRY_MAX_NESTED ||
        !json_number(json_object_get(ap, "address"), UINT32_MAX, &address) || address % 0x1000 != 0)
        return "an AP behind another needs the other's number as \"parent\" and the \"address\" of a block";
    int64_t p = json_integer_value(parent);
    s->nested[s->nested_count++] = (struct dry_nested){.ap = n, .parent = p, .address = address};
    if (put(s, p, address + NESTED_IDR, (uint32_t)idr, d) ||
        put(s, p, address + NESTED_BASE, (uint32_t)base, d))
        return d ? d->message : "out of memory";
    return NULL;
}

static const char *load_ap(struct dry *s, json_t *ap, struct diag *d)
{
    const json_t *number = json_object_get(ap, "ap");
    json_int_t n = json_integer_value(number);
    if (!json_is_integer(number) || n < SPACE_ROOT || n > UINT32_MAX)
        return "an element of \"aps\" has no usable \"ap\"";
    bool v5 = n >= 0 && n <= 255;
    bool nested = n >= (json_int_t)LINK_NESTED_FIRST && n <= (json_int_t)LINK_NESTED_LAST;
    uint64_t idr = DEFAULT_IDR, base = NO_BASE, baseh = 0, cfg = 0, value;
    const json_t *from = json_object_get(ap, "walk_from");
    const json_t *at = json_object_get(ap, "base");
    if (json_object_get(ap, "idr") && !json_number(json_object_get(ap, "idr"), UINT32_MAX, &idr))
        return "an \"idr\" is not a 32-bit number";
    if (at && !json_number(at, UINT32_MAX, &base))
        return "a \"base\" is not a 32-bit number";
    if (!at && from) {
        if (!json_number(from, UINT32_MAX, &base))
            return "a \"walk_from\" is not a 32-bit number";
        base |= 3; /* where the table is known to be, in BASE's format */
    }
    if ((json_object_get(ap, "cfg") && !json_number(json_object_get(ap, "cfg"), UINT32_MAX, &cfg)) ||
        (json_object_get(ap, "baseh") && !json_number(json_object_get(ap, "baseh"), UINT32_MAX, &baseh)))
        return "a \"cfg\" or \"baseh\" is not a 32-bit number";
    const char *why = nested ? load_nested(s, n, ap, idr, base, d) : NULL;
    if (why)
        return why;
    if (n == SPACE_ROOT) {
        s->has_root = true;
        s->root_base = (uint32_t)base;
    }
    if (v5 && (put(s, SPACE_REGS + n, AP_IDR, (uint32_t)idr, d) ||
               put(s, SPACE_REGS + n, AP_BASE, (uint32_t)base, d) ||
               put(s, SPACE_REGS + n, AP_BASEH, (uint32_t)baseh, d) ||
               put(s, SPACE_REGS + n, AP_CFG, (uint32_t)cfg, d)))
        return d ? d->message : "out of memory";

    const char *key;
    json_t *word;
    json_object_foreach(json_object_get(ap, "words"), key, word)
    {
        uint64_t address;
        if (!parse_number(key, strlen(key), UINT64_MAX, &address) || address % 4 != 0 ||
            !json_number(word, UINT32_MAX, &value))
            return "an entry of \"words\" is not an address and a word";
        if (put(s, n, address, (uint32_t)value, d))
            return d ? d->message : "out of memory";
    }
    size_t i;
    json_t *block;
    json_array_foreach(json_object_get(ap, "unreadable"), i, block)
    {
        if (!json_number(block, UINT64_MAX, &value) || s->block_count >= DRY_MAX_BLOCKS)
            return "\"unreadable\" holds something else than addresses, or too many";
        s->blocks[s->block_count++] = (struct dry_word){n, value & ~UINT64_C(0xFFF), 0};
    }
    return NULL;
}

static enum corral_err load_file(struct dry *s, const char *path, struct diag *d)
{
    char name[160];
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        bool io = error.line < 0; /* jansson: the file could not be read at all */
        char why[160];
        text_escape((const uint8_t *)error.text, strlen(error.text), why, sizeof(why));
        if (io)
            diag_set(d, CORRAL_ERR_IO, "%s", why);
        else
            diag_set(d, CORRAL_ERR_FORMAT, "%s:%d: not valid JSON: %s", name, error.line, why);
        diag_object(d, "%s", name);
        return io ? CORRAL_ERR_IO : CORRAL_ERR_FORMAT;
    }
    const json_t *aps = json_object_get(root, "aps");
    const char *why = json_is_array(aps) ? NULL : "there is no array \"aps\"";
    struct diag inner = DIAG_INIT;
    size_t i;
    json_t *ap;
    if (!why) {
        json_array_foreach(aps, i, ap)
        {
            why = load_ap(s, ap, &inner);
            if (why)
                break;
        }
    }
    if (why) {
        diag_set(d, CORRAL_ERR_FORMAT, "%s: %s", name, why);
        diag_object(d, "%s", name);
    }
    json_decref(root);
    return why ? CORRAL_ERR_FORMAT : CORRAL_OK;
}

struct link *link_dry_open(const char *spec, struct host_clock *clock, struct diag *d)
{
    const char *presets = strncmp(spec, "dry:", 4) == 0 ? spec + 4 : "";
    struct dry *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->clock = clock;
    s->pins = PINS;
    s->mirrors_idr = presets[0] != '@';
    enum corral_err err = s->mirrors_idr ? parse_presets(s, presets, d) : load_file(s, presets + 1, d);
    struct link *link = err ? NULL : link_new(&dry_backend, s, spec, clock);
    if (!link) {
        if (!err)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        dry_close(s);
    }
    return link;
}
