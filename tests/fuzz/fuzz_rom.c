/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of discovery: the input answers every read of a target, ADIv5 or ADIv6, as whole memory
 * accesses or as single transfers of a debug port; it says what each block is, what its words are and which
 * accesses fail, and what is known beforehand. The scan must end, stay within its bounds and what a table may
 * be read for, write nothing but power requests, and leave a topology that holds together.
 *
 * Bytes: flags, hints, then the answers in the order in which they are asked for; behind the end all is 0.
 */
#include <string.h>

#include "coresight/rom_table.h"
#include "fuzz_target.h"
#include "link/link_backend.h"

#define MAX_BLOCKS   4096
#define MAX_ACCESSES 3000000u
#define MAX_APS      64 /* of an ADIv6 port, whose registers are kept */

enum {
    FLAG_ADIV6 = 1,
    FLAG_TRANSFERS = 2,
    FLAG_POSTED = 4,
    FLAG_LARGE = 8,
    FLAG_HINTS = 16,
    FLAG_FAILURES = 32,
    FLAG_PORT_DIES = 64
};

enum kind {
    NOTHING,
    TABLE1,
    TABLE9,
    TABLE9_WIDE,
    SCS_V7,
    SCS_V8,
    CTI_V1,
    CTI_V2,
    GPR,
    MEM_AP,
    A_CORE,
    RANDOM,
    FAULT,
    WAIT,
    KINDS
};

struct block {
    bool used;
    uint64_t space, address;
    enum kind kind;
    uint32_t devid, affinity;
};

struct target {
    struct host_clock *clock;
    const uint8_t *data;
    size_t size;
    unsigned flags;
    struct block blocks[MAX_BLOCKS];
    uint32_t accesses;
    /* of the port with single transfers */
    uint32_t select, ctrl, last;
    struct ap {
        bool used;
        uint32_t number, csw, tar, tarh;
    } aps[MAX_APS];
    bool sticky;
};

static uint32_t take(struct target *t, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        if (t->size) {
            value |= (uint32_t)*t->data++ << 8 * i;
            t->size--;
        }
    }
    return value;
}

static struct block *block_at(struct target *t, uint64_t space, uint64_t address)
{
    uint32_t place = (uint32_t)((address >> 12) * 2654435761u ^ space * 40503u) % MAX_BLOCKS;
    for (uint32_t i = 0; i < 64 && t->blocks[place].used; i++, place = (place + 1) % MAX_BLOCKS)
        if (t->blocks[place].space == space && t->blocks[place].address == address)
            return &t->blocks[place];
    struct block *b = &t->blocks[place]; /* full around there: another is forgotten */
    uint8_t what = (uint8_t)take(t, 1);
    *b = (struct block){.used = true, .space = space, .address = address, .kind = (enum kind)(what % KINDS)};
    b->devid = b->kind == TABLE9_WIDE ? 0x21
               : b->kind == TABLE9    ? 0x20
               : what & 0x80          ? take(t, 4)
                                      : 0x00040800;
    b->affinity = what & 0x40 ? take(t, 1) : 0x80000000;
    if (b->kind == FAULT && !(t->flags & FLAG_FAILURES))
        b->kind = NOTHING;
    if (b->kind == WAIT && !(t->flags & FLAG_FAILURES))
        b->kind = TABLE1;
    return b;
}

static uint32_t id_word(struct target *t, const struct block *b, uint32_t offset)
{
    static const struct {
        uint8_t component_class;
        uint16_t part;
        uint32_t devarch;
        uint8_t devtype;
    } kinds[KINDS] = {[TABLE1] = {1, 0x4C7, 0, 0},
                      [TABLE9] = {9, 0x4C9, 0x47700AF7, 0},
                      [TABLE9_WIDE] = {9, 0x4C9, 0x47700AF7, 0},
                      [SCS_V7] = {0xE, 0x00C, 0, 0},
                      [SCS_V8] = {9, 0xD21, 0x47702A04, 0},
                      [CTI_V1] = {9, 0x906, 0, 0x14},
                      [CTI_V2] = {9, 0xD21, 0x47701A14, 0x14},
                      [GPR] = {9, 0x9A4, 0x47700A34, 0x34},
                      [MEM_AP] = {9, 0x9E3, 0x47700A17, 0},
                      [A_CORE] = {9, 0xD03, 0x47706A15, 0x15}};
    if (b->kind == RANDOM)
        return take(t, 1);
    if (b->kind == NOTHING || b->kind >= RANDOM)
        return 0;
    uint32_t part = kinds[b->kind].part;
    switch (offset) {
    case 0xFBC:
        return kinds[b->kind].devarch;
    case 0xFC8:
        return b->devid;
    case 0xFCC:
        return kinds[b->kind].devtype;
    case 0xFD0:
        return 0x04;
    case 0xFE0:
        return part & 0xFF;
    case 0xFE4:
        return 0xB0 | part >> 8;
    case 0xFE8:
        return 0x0B;
    case 0xFF0:
        return 0x0D;
    case 0xFF4:
        return (uint32_t)kinds[b->kind].component_class << 4;
    case 0xFF8:
        return 0x05;
    case 0xFFC:
        return 0xB1;
    default:
        return 0;
    }
}

/* B5: what a table is read for. */
static void check_table_read(const struct target *t, const struct block *b, uint32_t offset)
{
    if (t->flags & FLAG_HINTS) /* which may call a table something else */
        return;
    if (b->kind == TABLE1)
        FUZZ_CHECK(offset <= 0xEFC || offset >= 0xFA8);
    if (b->kind == TABLE9 || b->kind == TABLE9_WIDE)
        FUZZ_CHECK(offset <= 0x7FC || (offset >= 0xA00 && offset < 0xB00) || offset >= 0xFA8);
}

static enum corral_err read_word(struct target *t, uint64_t space, uint64_t address, uint32_t *value)
{
    struct block *b = block_at(t, space, address & ~UINT64_C(0xFFF));
    uint32_t offset = address & 0xFFC;
    if (b->kind == FAULT)
        return CORRAL_ERR_LINK_FAULT;
    if (b->kind == WAIT)
        return CORRAL_ERR_LINK_WAIT;
    check_table_read(t, b, offset);
    if (offset >= 0xFBC)
        *value = id_word(t, b, offset);
    else if (offset == 0xFA8)
        *value = b->affinity;
    else if (b->kind == TABLE1 || b->kind == TABLE9)
        *value = take(t, 4);
    else
        *value = take(t, 2) << 4;
    return CORRAL_OK;
}

/* Nothing but power requests, and the registers of APs behind APs. */
static enum corral_err write_word(struct target *t, uint64_t space, uint64_t address)
{
    const struct block *b = block_at(t, space, address & ~UINT64_C(0xFFF));
    uint32_t offset = address & 0xFFC;
    bool table = b->kind == TABLE9 || b->kind == TABLE9_WIDE, unknown = b->kind == RANDOM || b->kind >= FAULT;
    /* What hints say of an AP or patch in a block is not this target's doing. */
    FUZZ_CHECK((t->flags & FLAG_HINTS) || unknown || (table && offset >= 0xA00 && offset < 0xA80) ||
               (b->kind == GPR && (offset == 0 || offset == 0xFB0)) ||
               (b->kind == MEM_AP && offset >= 0xD00 && offset <= 0xD1C));
    return take(t, 1) & 1 && t->flags & FLAG_FAILURES ? CORRAL_ERR_LINK_FAULT : CORRAL_OK;
}

static uint32_t dp_word(struct target *t, uint32_t bank, uint32_t reg)
{
    bool v6 = t->flags & FLAG_ADIV6;
    if (reg == 0)
        return !v6         ? 0x2BA01477
               : bank == 0 ? 0x4C013477
               : bank == 1 ? 40
               : bank == 2 ? take(t, 4)
                           : take(t, 1) / 255;
    if (reg == 4 && bank == 0)
        return t->ctrl | (t->ctrl & 0x54000000u) << 1 | (t->sticky ? 0x20u : 0);
    return reg == 0xC ? t->last : 0;
}

static uint32_t ap_word(struct target *t, uint32_t ap, uint32_t reg)
{
    uint32_t own = t->flags & FLAG_ADIV6 ? reg - 0xD00 : reg;
    if (own == 0xFC)
        return !(t->flags & FLAG_ADIV6) && ap > 3 ? 0 : take(t, 1) & 1 ? 0x44770008 : 0x24770001;
    if (own == 0xF4)
        return t->flags & FLAG_LARGE ? 2 : 0;
    FUZZ_CHECK(own != 0xF0 || (t->flags & FLAG_LARGE)); /* B12 */
    if (own == 0xF8)
        return take(t, 4);
    uint32_t value = 0;
    if (t->flags & FLAG_ADIV6)
        read_word(t, UINT64_MAX, (uint64_t)ap + reg, &value);
    return value;
}

static void step(struct target *t)
{
    FUZZ_CHECK(++t->accesses < MAX_ACCESSES);
    host_clock_set(t->clock, host_clock_now(t->clock) + 20000);
}

static bool fails(struct target *t)
{
    return (t->flags & FLAG_PORT_DIES) && t->size < 4;
}

static enum corral_err one(struct target *t, struct link_access *a)
{
    uint32_t *words = a->data;
    enum corral_err err = CORRAL_OK;
    step(t);
    if (fails(t))
        return CORRAL_ERR_LINK_DOWN;
    switch (a->op) {
    case LINK_DP_READ:
        *words = dp_word(t, t->select & 0xF, (uint32_t)a->address);
        break;
    case LINK_DP_WRITE:
        if (a->address == 8)
            t->select = *words;
        else if (a->address == 4)
            t->ctrl = *words;
        break;
    case LINK_AP_READ:
        *words = ap_word(t, a->ap, (uint32_t)a->address);
        break;
    case LINK_AP_WRITE:
        err = write_word(t, UINT64_MAX, (uint64_t)a->ap + a->address);
        break;
    case LINK_MEM_READ:
        for (uint32_t i = 0; i < a->count && !err; i++)
            err = read_word(t, a->ap, a->address + 4 * (uint64_t)i, &words[i]);
        break;
    case LINK_MEM_WRITE:
        err = write_word(t, a->ap, a->address);
        break;
    }
    if (!err)
        a->done = a->count;
    return err;
}

static enum corral_err execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    for (size_t i = 0; i < count; i++) {
        accesses[i].status = one(ctx, &accesses[i]);
        if (accesses[i].status)
            return diag_set(d, accesses[i].status, "failed");
    }
    return CORRAL_OK;
}

static struct ap *registers_of(struct target *t, uint32_t number)
{
    size_t i = 0;
    while (i < MAX_APS - 1 && t->aps[i].used && t->aps[i].number != number)
        i++;
    if (!t->aps[i].used || t->aps[i].number != number)
        t->aps[i] = (struct ap){.used = true, .number = number};
    return &t->aps[i];
}

static enum dap_ack ap_transfer(struct target *t, bool read, uint8_t addr, uint32_t *value)
{
    bool v6 = t->flags & FLAG_ADIV6;
    uint32_t ap = v6 ? t->select & ~0xFFFu : t->select >> 24,
             reg = (t->select & (v6 ? 0xFF0u : 0xF0u)) | addr;
    uint32_t own = v6 ? reg - 0xD00 : reg;
    struct ap *mine = registers_of(t, ap);
    uint64_t at = (t->flags & FLAG_LARGE ? (uint64_t)mine->tarh << 32 : 0) | mine->tar;
    enum corral_err err = CORRAL_OK;
    FUZZ_CHECK(own != 0x08 || (t->flags & FLAG_LARGE)); /* B12 */
    if (own == 0x00 || own == 0x04 || own == 0x08) {
        uint32_t *word = own == 0x00 ? &mine->csw : own == 0x04 ? &mine->tar : &mine->tarh;
        if (read)
            *value = *word;
        else
            *word = *value;
    } else if (own == 0x0C) {
        err = read ? read_word(t, ap, at, value) : write_word(t, ap, at);
        if (mine->csw & 0x10) /* wraps: B20 */
            mine->tar = (mine->tar & ~0x3FFu) | ((mine->tar + 4) & 0x3FF);
    } else if (own >= 0x10 && own <= 0x1C) { /* banked: the words of the 16 bytes that TAR is in */
        at = (at & ~UINT64_C(0xF)) | (own & 0xC);
        err = read ? read_word(t, ap, at, value) : write_word(t, ap, at);
    } else if (read) {
        *value = ap_word(t, ap, reg);
    } else {
        err = v6 ? write_word(t, UINT64_MAX, (uint64_t)ap + reg) : CORRAL_OK;
    }
    t->sticky |= err == CORRAL_ERR_LINK_FAULT;
    return err == CORRAL_ERR_LINK_WAIT ? DAP_ACK_WAIT : err ? DAP_ACK_FAULT : DAP_ACK_OK;
}

static enum dap_ack dp_transfer(struct target *t, bool read, uint8_t addr, uint32_t *value)
{
    if (addr == 0 && !read) {
        t->sticky = false;
        return DAP_ACK_OK;
    }
    if (t->sticky && !(read && (addr == 0 || addr == 4)))
        return DAP_ACK_FAULT;
    if (read)
        *value = dp_word(t, t->select & 0xF, addr);
    else if (addr == 8)
        t->select = *value;
    else if (addr == 4 && (t->select & 0xF) == 0)
        t->ctrl = *value & 0x54000F0Fu;
    return DAP_ACK_OK;
}

static enum dap_ack plain(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct target *t = ctx;
    step(t);
    if (fails(t))
        return DAP_ACK_NONE;
    if (!ap)
        return dp_transfer(t, read, addr, value);
    return t->sticky ? DAP_ACK_FAULT : ap_transfer(t, read, addr, value);
}

static enum dap_ack posted(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    struct target *t = ctx;
    uint32_t got = read ? 0 : *value;
    enum dap_ack ack = plain(ctx, ap, read, addr, &got);
    if (!read || !ap) {
        *value = got;
        return ack;
    }
    if (ack == DAP_ACK_OK || (ack == DAP_ACK_FAULT && t->sticky)) {
        *value = t->last; /* this read's own error shows with the next transfer */
        t->last = got;
        return DAP_ACK_OK;
    }
    return ack;
}

static void check_text(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK((unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x7f);
}

static void check_topology(const struct cs_topology *t)
{
    FUZZ_CHECK(t->ap_count <= CS_MAX_APS && t->component_count <= CS_MAX_COMPONENTS);
    FUZZ_CHECK(t->core_count <= CS_MAX_CORES && t->refusal_count <= CS_MAX_REFUSALS);
    for (size_t i = 0; i < t->ap_count; i++) {
        check_text(t->aps[i].error, CS_ERROR_MAX);
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(t->aps[i].ap != t->aps[k].ap);
    }
    for (size_t i = 0; i < t->component_count; i++) {
        const struct cs_component *c = &t->components[i];
        check_text(c->error, CS_ERROR_MAX);
        FUZZ_CHECK(c->name && c->table < (int)i);
        FUZZ_CHECK(c->table < 0 || t->components[c->table].ap == c->ap);
    }
    for (size_t i = 0; i < t->core_count; i++) {
        const struct cs_core *c = &t->cores[i];
        check_text(c->name, sizeof(c->name));
        check_text(c->why_no_cti, CS_ERROR_MAX);
        check_text(c->error, CS_ERROR_MAX);
        FUZZ_CHECK(c->type && (c->has_cti || c->why_no_cti[0]));
        FUZZ_CHECK(c->has_cti == (c->cti_from != CS_SOURCE_NONE));
        FUZZ_CHECK(!c->has_cti || c->cti.restart_output < (int)c->cti.triggers);
        FUZZ_CHECK(c->cti.triggers <= 32 && c->cti.channels <= 32);
        FUZZ_CHECK((c->has_cti && c->cti.restart_output >= 0) == (c->restart_from != CS_SOURCE_NONE));
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(!c->has_cti || !t->cores[k].has_cti || c->cti.ap != t->cores[k].cti.ap ||
                       c->cti.address != t->cores[k].cti.address);
    }
    for (size_t i = 0; i < t->refusal_count; i++)
        check_text(t->refusals[i].why, sizeof(t->refusals[i].why));
}

static void read_hints(struct target *t, struct cs_hints *h, struct cs_ap_hint *aps,
                       struct cs_core_hint *cores, struct cs_patch *patches)
{
    if (!(t->flags & FLAG_HINTS))
        return;
    uint32_t counts = take(t, 1);
    *h = (struct cs_hints){.aps = aps, .patches = patches, .cores = cores};
    h->ap_count = counts & 3;
    h->core_count = counts >> 2 & 3;
    h->patch_count = counts >> 4 & 3;
    for (size_t i = 0; i < h->ap_count; i++) {
        uint32_t a = take(t, 2);
        aps[i] = (struct cs_ap_hint){.ap = a & 0x3FF,
                                     .nested = (a & 0x300) == 0x100,
                                     .parent = a >> 12 & 3,
                                     .address = take(t, 1) << 12};
    }
    for (size_t i = 0; i < h->core_count; i++) {
        uint32_t a = take(t, 2);
        cores[i] = (struct cs_core_hint){.ap = a & 3,
                                         .base_set = a & 4,
                                         .base = take(t, 4),
                                         .cti_set = a & 8,
                                         .cti_ap = a >> 4 & 3,
                                         .cti_address = take(t, 3) << 12,
                                         .cti_from = CS_SOURCE_CONFIG,
                                         .restart_output = (int)(a >> 8 & 0x3F) - 1,
                                         .restart_from = CS_SOURCE_SDF};
    }
    for (size_t i = 0; i < h->patch_count; i++)
        patches[i] = (struct cs_patch){.ap_register = take(t, 1) & 1,
                                       .ap = take(t, 1) & 3,
                                       .address = take(t, 4) & ~3u,
                                       .value = take(t, 4),
                                       .mask = take(t, 4)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct link_backend whole = {.caps = LINK_CAP_MEM | LINK_CAP_DAP | LINK_CAP_WIDE,
                                              .execute = execute};
    static const struct link_backend single = {.caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = plain};
    static const struct link_backend both = {
        .caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = plain, .dap_posted = posted};
    struct target *t = calloc(1, sizeof(*t));
    struct cs_ap_hint aps[4];
    struct cs_core_hint cores[4];
    struct cs_patch patches[4];
    struct cs_hints hints = {0};
    struct diag d = DIAG_INIT;
    if (!t)
        return 0;
    t->clock = host_clock_new_virtual();
    t->data = data;
    t->size = size;
    t->flags = take(t, 1);
    read_hints(t, &hints, aps, cores, patches);
    const struct link_backend *backend = !(t->flags & FLAG_TRANSFERS) ? &whole
                                         : t->flags & FLAG_POSTED     ? &both
                                                                      : &single;
    struct link *link = link_new(backend, t, "fuzz", t->clock);
    struct cs_topology *topology = link ? cs_scan(link, t->flags & FLAG_HINTS ? &hints : NULL, &d) : NULL;
    if (topology)
        check_topology(topology);
    else
        FUZZ_CHECK(d.code != CORRAL_OK);
    cs_topology_free(topology);
    link_close(link);
    host_clock_free(t->clock);
    free(t);
    return 0;
}
