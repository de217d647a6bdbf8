/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses made of transfers, against a modelled debug port with one memory behind two MEM-APs. Cross-
 * trigger sheet 2.1 to 2.3; cases B9, B12, B20, B23, B24. Each case runs on a posted and an un-posted port.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/link_backend.h"

#define MEM_BASE 0x20000000u
#define MEM_SIZE 0x4000u
#define APS      2
#define BAD      0x20003F00u /* reading or writing here is a bus error */

#define STICKYERR (1u << 5)

struct port {
    struct host_clock *clock;
    uint8_t mem[MEM_SIZE];
    uint32_t select, stat, posted;
    uint32_t csw[APS], tar[APS];
    unsigned transfers, aborts, drw_reads, banked;
    unsigned waits; /* so many WAITs to come; UINT_MAX = for ever, until DAPABORT */
    bool dead;
    bool doubles; /* an AXI port with 64-bit data */
    bool second;  /* of the two halves of one access */
    uint32_t low;
};

static uint32_t word_at(const struct port *p, uint32_t address)
{
    uint32_t v;
    memcpy(&v, &p->mem[(address & ~3u) - MEM_BASE], 4);
    return v;
}

/* Half of a 64-bit access through AP n: it goes to the bus with its first half read, its second half written.
 */
static bool double_drw(struct port *p, unsigned n, bool read, uint32_t *value)
{
    uint32_t at = p->tar[n];
    bool ok = at >= MEM_BASE && at + 8 <= MEM_BASE + MEM_SIZE && !(at < BAD + 4 && at + 8 > BAD);
    bool second = p->second;
    if (at % 8 != 0)
        return false;
    p->second = !second;
    if (read && ok)
        *value = word_at(p, at + (second ? 4 : 0));
    else if (!read && !second)
        p->low = *value;
    else if (!read && ok) {
        memcpy(&p->mem[at - MEM_BASE], &p->low, 4);
        memcpy(&p->mem[at + 4 - MEM_BASE], value, 4);
    }
    return ok || (!read && !second);
}

/* DRW through AP n; false = bus error. */
static bool drw(struct port *p, unsigned n, bool read, uint32_t *value)
{
    uint32_t at = p->tar[n], size = 1u << (p->csw[n] & 7);
    bool ok = at >= MEM_BASE && at + size <= MEM_BASE + MEM_SIZE && !(at >= BAD && at < BAD + 4);
    if (ok && read)
        *value = word_at(p, at);
    else if (ok)
        memcpy(&p->mem[at - MEM_BASE], (const uint8_t *)value + (at & 3), size);
    if (ok && (p->csw[n] & 0x10)) /* the increment wraps within 1 KiB */
        p->tar[n] = (at & ~0x3FFu) | ((at + size) & 0x3FF);
    return ok;
}

static bool access_ap(struct port *p, bool read, uint32_t reg, uint32_t *value)
{
    unsigned n = p->select >> 24;
    if (n >= APS) {
        if (read)
            *value = 0;
        return true;
    }
    switch (reg) {
    case 0x00:
        if (read)
            *value = p->csw[n];
        else
            p->csw[n] = *value;
        return true;
    case 0x04:
        if (read)
            *value = p->tar[n];
        else
            p->tar[n] = *value;
        return true;
    case 0x0C:
        p->drw_reads += read;
        return (p->csw[n] & 7) == 3 ? double_drw(p, n, read, value) : drw(p, n, read, value);
    case 0x10:
    case 0x14:
    case 0x18:
    case 0x1C: {
        uint32_t tar = p->tar[n];
        p->tar[n] = (tar & ~0xFu) | (reg - 0x10);
        bool ok = drw(p, n, read, value);
        p->tar[n] = tar; /* no increment here */
        p->banked++;
        return ok;
    }
    case 0xF4:
        if (read)
            *value = p->doubles ? 4 : 0;
        return true;
    case 0xFC:
        if (read)
            *value = p->doubles ? 0x14770004 : 0x24770011;
        return true;
    default:
        if (read)
            *value = 0;
        return true;
    }
}

static enum dap_ack transfer_dp(struct port *p, bool read, uint8_t addr, uint32_t *value)
{
    if (addr == 0x0 && !read) {
        p->aborts++;
        if (*value & 0x04)
            p->stat &= ~STICKYERR;
        if (*value & 0x01)
            p->waits = 0;
        return DAP_ACK_OK;
    }
    if (addr == 0x4 && read) {
        *value = p->stat;
        return DAP_ACK_OK;
    }
    if ((p->stat & STICKYERR) && !(addr == 0x0 && read))
        return DAP_ACK_FAULT;
    if (addr == 0x8 && !read)
        p->select = *value;
    else if (addr == 0xC && read)
        *value = p->posted;
    else if (addr == 0x0)
        *value = 0x2BA01477;
    return DAP_ACK_OK;
}

static enum dap_ack transfer(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value, bool posted)
{
    struct port *p = ctx;
    p->transfers++;
    host_clock_set(p->clock, host_clock_now(p->clock) + 11500);
    if (p->dead)
        return DAP_ACK_NONE;
    bool abort = !ap && !read && addr == 0;
    if (p->waits && !abort) {
        p->waits -= p->waits != UINT32_MAX;
        return DAP_ACK_WAIT;
    }
    if (!ap)
        return transfer_dp(p, read, addr, value);
    if (p->stat & STICKYERR)
        return DAP_ACK_FAULT;
    uint32_t got = read ? 0 : *value;
    bool ok = access_ap(p, read, (p->select & 0xF0) | addr, &got);
    if (!ok) {
        p->stat |= STICKYERR;
        /* On the wire the error shows with the next transfer, reads and writes alike; this one still brings
         * what the read before it got. */
        if (read && posted)
            *value = p->posted;
        return posted || !read ? DAP_ACK_OK : DAP_ACK_FAULT;
    }
    if (read && posted) {
        *value = p->posted;
        p->posted = got;
    } else if (read) {
        *value = got;
    }
    return DAP_ACK_OK;
}

static enum dap_ack dap_posted(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    return transfer(ctx, ap, read, addr, value, true);
}

static enum dap_ack dap(void *ctx, bool ap, bool read, uint8_t addr, uint32_t *value)
{
    return transfer(ctx, ap, read, addr, value, false);
}

static const struct link_backend posted_backend = {
    .caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = dap, .dap_posted = dap_posted};
static const struct link_backend plain_backend = {.caps = LINK_CAP_MEM | LINK_CAP_DAP, .dap = dap};

struct bench {
    struct port port;
    struct link *link;
};

static void open_bench(struct bench *b, bool posted)
{
    memset(b, 0, sizeof(*b));
    b->port.clock = host_clock_new_virtual();
    for (size_t i = 0; i < MEM_SIZE; i++)
        b->port.mem[i] = (uint8_t)(i * 7 + (i >> 8));
    b->port.csw[0] = b->port.csw[1] = 0x23000042; /* HPROT and DeviceEn are to be kept */
    b->link = link_new(posted ? &posted_backend : &plain_backend, &b->port, "port", b->port.clock);
    assert_non_null(b->link);
}

static void close_bench(struct bench *b)
{
    link_close(b->link);
    host_clock_free(b->port.clock);
}

#define FOR_BOTH(posted) for (int posted = 0; posted < 2; posted++)

static void test_the_same_word_again_costs_drw_alone(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v;
    open_bench(&b, true);
    for (uint32_t ap = 0; ap < 2; ap++)
        assert_int_equal(link_write32(b.link, ap, MEM_BASE + 0x10 + 4 * ap, 1, &d), CORRAL_OK);
    unsigned before = b.port.transfers;
    assert_int_equal(link_write32(b.link, 1, MEM_BASE + 0x14, 2, &d), CORRAL_OK);
    assert_int_equal(b.port.transfers - before, 2); /* DRW, RDBUFF to learn whether it went well */
    before = b.port.transfers;
    assert_int_equal(link_write32(b.link, 0, MEM_BASE + 0x10, 3, &d), CORRAL_OK);
    assert_int_equal(b.port.transfers - before, 3); /* SELECT too */
    before = b.port.transfers;
    assert_int_equal(link_read32(b.link, 0, MEM_BASE + 0x10, &v, &d), CORRAL_OK);
    assert_int_equal(b.port.transfers - before, 2);
    assert_int_equal(v, 3);
    assert_int_equal(word_at(&b.port, MEM_BASE + 0x14), 2);
    close_bench(&b);
}

/* As DHCSR, DCRSR, DCRDR and DEMCR are: TAR stays, and from the second access on SELECT too. */
static void test_words_beside_cost_no_tar(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        uint8_t byte = 0;
        open_bench(&b, posted);
        assert_int_equal(link_write32(b.link, 1, MEM_BASE + 0x14, 1, &d), CORRAL_OK);
        unsigned before = b.port.transfers, alone;
        assert_int_equal(link_read32(b.link, 1, MEM_BASE + 0x14, &v, &d), CORRAL_OK);
        alone = b.port.transfers - before;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(link_write32(b.link, 1, MEM_BASE + 0x1C - 4 * i, 100 + i, &d), CORRAL_OK);
            assert_int_equal(b.port.tar[1], MEM_BASE + 0x14);
            before = b.port.transfers;
            assert_int_equal(link_read32(b.link, 1, MEM_BASE + 0x1C - 4 * i, &v, &d), CORRAL_OK);
            assert_int_equal(b.port.transfers - before, alone);
            assert_int_equal(v, 100 + i);
            assert_int_equal(word_at(&b.port, MEM_BASE + 0x1C - 4 * i), 100 + i);
        }
        assert_int_equal(b.port.banked, 8);
        /* past the sixteen bytes, through the other access port, and in other sizes: by TAR and DRW */
        assert_int_equal(link_read32(b.link, 0, MEM_BASE + 0x18, &v, &d), CORRAL_OK);
        assert_int_equal(link_read8(b.link, 1, MEM_BASE + 0x19, &byte, &d), CORRAL_OK);
        assert_int_equal(byte, 0);
        assert_int_equal(link_read32(b.link, 1, MEM_BASE + 0x20, &v, &d), CORRAL_OK);
        assert_int_equal(v, word_at(&b.port, MEM_BASE + 0x20));
        assert_int_equal(b.port.banked, 8);
        /* after a fault nothing is taken for known */
        assert_int_equal(link_read32(b.link, 1, BAD + 4, &v, &d), CORRAL_OK);
        assert_int_equal(link_write32(b.link, 1, BAD, 5, &d), CORRAL_ERR_LINK_FAULT);
        assert_int_equal(b.port.banked, 9);
        assert_int_equal(link_write32(b.link, 1, BAD + 8, 6, &d), CORRAL_OK);
        assert_int_equal(word_at(&b.port, BAD + 8), 6);
        assert_int_equal(b.port.tar[1], BAD + 8);
        close_bench(&b);
    }
}

static void test_a_posted_block_costs_a_transfer_a_word(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint8_t block[4096];
    open_bench(&b, true);
    unsigned before = b.port.transfers;
    assert_int_equal(link_read_bytes(b.link, 0, MEM_BASE, block, sizeof(block), &d), CORRAL_OK);
    assert_memory_equal(block, b.port.mem, sizeof(block));
    assert_in_range(b.port.transfers - before, 1024, 1024 + 24);
    close_bench(&b);
}

static void test_b20_tar_is_written_again_at_each_kibibyte(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint8_t in[3000], out[3000];
        open_bench(&b, posted);
        for (size_t i = 0; i < sizeof(in); i++)
            in[i] = (uint8_t)(i ^ 0x5A);
        for (uint32_t offset = 0x3F0; offset < 0x3F8; offset++) {
            assert_int_equal(link_write_bytes(b.link, 1, MEM_BASE + offset, in, sizeof(in), &d), CORRAL_OK);
            assert_memory_equal(&b.port.mem[offset], in, sizeof(in));
            memset(out, 0, sizeof(out));
            assert_int_equal(link_read_bytes(b.link, 1, MEM_BASE + offset, out, sizeof(out), &d), CORRAL_OK);
            assert_memory_equal(out, in, sizeof(in));
        }
        close_bench(&b);
    }
}

static void test_byte_lanes_and_neighbours(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        open_bench(&b, posted);
        for (uint32_t i = 0; i < 8; i++) {
            uint8_t before[16], v = 0;
            memcpy(before, b.port.mem, sizeof(before));
            assert_int_equal(link_read8(b.link, 0, MEM_BASE + i, &v, &d), CORRAL_OK);
            assert_int_equal(v, before[i]);
            assert_int_equal(link_write8(b.link, 0, MEM_BASE + i, 0xA5, &d), CORRAL_OK);
            before[i] = 0xA5;
            assert_memory_equal(b.port.mem, before, sizeof(before));
        }
        uint16_t halves[3] = {0x1122, 0x3344, 0x5566};
        struct link_access a = {
            .op = LINK_MEM_WRITE, .size = 2, .address = MEM_BASE + 0x3FE, .count = 3, .data = halves};
        assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_OK);
        static const uint8_t expected[] = {0x22, 0x11, 0x44, 0x33, 0x66, 0x55};
        assert_memory_equal(&b.port.mem[0x3FE], expected, 6);
        close_bench(&b);
    }
}

static void test_unknown_bits_of_csw_are_kept(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint8_t v;
    open_bench(&b, true);
    assert_int_equal(link_read8(b.link, 0, MEM_BASE + 1, &v, &d), CORRAL_OK);
    assert_int_equal(b.port.csw[0], 0x23000040);
    close_bench(&b);
}

static void test_fault_on_read_names_the_address_and_clears_the_error(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t words[8] = {0}, v = 0;
        open_bench(&b, posted);
        struct link_access a[2] = {
            {.op = LINK_MEM_READ, .size = 4, .address = BAD - 8, .count = 8, .data = words},
            {.op = LINK_MEM_READ, .size = 4, .address = MEM_BASE, .count = 1, .data = &v},
        };
        assert_int_equal(link_execute(b.link, a, 2, &d), CORRAL_ERR_LINK_FAULT);
        assert_non_null(strstr(d.message, "0x20003f00"));
        assert_int_equal(a[0].status, CORRAL_ERR_LINK_FAULT);
        assert_int_equal(a[0].done, 2);
        assert_int_equal(words[1], word_at(&b.port, BAD - 4));
        assert_int_equal(a[1].status, CORRAL_ERR_INTERRUPTED);
        assert_int_equal(a[1].done, 0);
        assert_int_equal(b.port.stat & STICKYERR, 0);
        assert_int_equal(link_read32(b.link, 0, MEM_BASE + 4, &v, &d), CORRAL_OK);
        assert_int_equal(v, word_at(&b.port, MEM_BASE + 4));
        close_bench(&b);
    }
}

static void test_fault_of_a_buffered_write_is_that_writes(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t one = 1, v = 0, two = 2;
        open_bench(&b, posted);
        assert_int_equal(link_write32(b.link, 0, BAD, 1, &d), CORRAL_ERR_LINK_FAULT);
        assert_non_null(strstr(d.message, "0x20003f00"));
        assert_int_equal(b.port.stat & STICKYERR, 0);
        /* also when the error shows in the middle of a later access */
        struct link_access a[3] = {
            {.op = LINK_MEM_WRITE, .size = 4, .address = BAD, .count = 1, .data = &one},
            {.op = LINK_MEM_READ, .size = 4, .address = MEM_BASE, .count = 1, .data = &v},
            {.op = LINK_MEM_WRITE, .size = 4, .address = MEM_BASE + 8, .count = 1, .data = &two},
        };
        uint32_t kept = word_at(&b.port, MEM_BASE + 8);
        assert_int_equal(link_execute(b.link, a, 3, &d), CORRAL_ERR_LINK_FAULT);
        assert_int_equal(a[0].status, CORRAL_ERR_LINK_FAULT);
        assert_int_equal(a[0].done, 0);
        assert_int_equal(a[1].status, CORRAL_ERR_INTERRUPTED);
        assert_int_equal(a[2].status, CORRAL_ERR_INTERRUPTED);
        assert_int_equal(word_at(&b.port, MEM_BASE + 8), kept);
        assert_int_equal(link_write32(b.link, 0, MEM_BASE + 8, 5, &d), CORRAL_OK);
        assert_int_equal(word_at(&b.port, MEM_BASE + 8), 5);
        close_bench(&b);
    }
}

static void test_wait_is_repeated_and_no_access_is_done_twice(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        open_bench(&b, posted);
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_OK);
        unsigned reads = b.port.drw_reads;
        b.port.waits = 5;
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_OK);
        assert_int_equal(v, word_at(&b.port, MEM_BASE));
        assert_int_equal(b.port.drw_reads, reads + 1);
        assert_int_equal(b.port.aborts, 0);
        close_bench(&b);
    }
}

static void test_b24_wait_without_end_is_aborted_and_the_other_ap_works(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        open_bench(&b, posted);
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_OK);
        int64_t from = host_clock_now(b.port.clock);
        b.port.waits = UINT32_MAX;
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_ERR_LINK_WAIT);
        assert_non_null(strstr(d.message, "WAIT"));
        assert_true(host_clock_now(b.port.clock) - from < 200 * NS_PER_MS);
        assert_int_equal(b.port.aborts, 1);
        assert_int_equal(link_read32(b.link, 1, MEM_BASE + 4, &v, &d), CORRAL_OK);
        assert_int_equal(v, word_at(&b.port, MEM_BASE + 4));
        close_bench(&b);
    }
}

static void test_a_dead_wire_is_link_down(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint32_t v = 0;
        open_bench(&b, posted);
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_OK);
        b.port.dead = true;
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_ERR_LINK_DOWN);
        assert_int_equal(link_write32(b.link, 1, MEM_BASE, 1, &d), CORRAL_ERR_LINK_DOWN);
        b.port.dead = false; /* plugged in again */
        assert_int_equal(link_read32(b.link, 0, MEM_BASE, &v, &d), CORRAL_OK);
        close_bench(&b);
    }
}

static void test_an_absent_ap_is_named(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 1;
    open_bench(&b, true);
    assert_int_equal(link_read32(b.link, 7, MEM_BASE, &v, &d), CORRAL_ERR_NO_AP);
    assert_non_null(strstr(d.message, "access port 7"));
    assert_int_equal(link_read32(b.link, 300, MEM_BASE, &v, &d), CORRAL_ERR_NO_AP);
    close_bench(&b);
}

static void test_what_cannot_be_is_refused_before_any_transfer(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    open_bench(&b, true);
    assert_int_equal(link_read32(b.link, 0, 0xFFFFFFFE, &v, &d), CORRAL_ERR_USAGE);
    struct link_access a =
        (struct link_access){.op = LINK_MEM_READ, .size = 3, .address = 0, .count = 1, .data = &v};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_USAGE);
    a = (struct link_access){.op = LINK_AP_READ, .size = 4, .address = 0x102, .count = 1, .data = &v};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_USAGE);
    a = (struct link_access){
        .op = LINK_MEM_READ, .size = 4, .address = UINT64_MAX - 3, .count = 2, .data = &v};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(b.port.transfers, 0);
    close_bench(&b);
}

static void test_b12_nothing_above_4_gib_without_large_addresses(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v[2] = {0};
    open_bench(&b, true);
    assert_int_equal(link_read32(b.link, 0, UINT64_C(0x100000000), v, &d), CORRAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(d.message, "32 bits"));
    struct link_access a = {.op = LINK_MEM_READ, .size = 4, .address = 0xFFFFFFFC, .count = 2, .data = v};
    assert_int_equal(link_execute(b.link, &a, 1, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(b.port.drw_reads, 0);
    close_bench(&b);
}

static void test_what_others_did_to_the_port_is_forgotten_on_request(void **state)
{
    (void)state;
    struct bench b;
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    open_bench(&b, true);
    assert_int_equal(link_read32(b.link, 0, MEM_BASE + 4, &v, &d), CORRAL_OK);
    b.port.select = 1u << 24;
    b.port.tar[0] = MEM_BASE + 0x100;
    link_forget(b.link);
    assert_int_equal(link_read32(b.link, 0, MEM_BASE + 4, &v, &d), CORRAL_OK);
    assert_int_equal(v, word_at(&b.port, MEM_BASE + 4));
    /* and what the caller itself writes through the register accesses is minded */
    assert_int_equal(link_write_ap(b.link, 0, 0x04, MEM_BASE + 0x200, &d), CORRAL_OK);
    assert_int_equal(link_write_dp(b.link, 0x8, 0x010000F0, &d), CORRAL_OK);
    assert_int_equal(link_read32(b.link, 0, MEM_BASE + 4, &v, &d), CORRAL_OK);
    assert_int_equal(v, word_at(&b.port, MEM_BASE + 4));
    close_bench(&b);
}

/* 64 bits in one access where CFG.LD says so, else none; the narrower ones work beside it. */
static void test_c42_accesses_of_64_bits(void **state)
{
    (void)state;
    FOR_BOTH(posted)
    {
        struct bench b;
        struct diag d = DIAG_INIT;
        uint64_t values[3] = {UINT64_C(0x1122334455667788), UINT64_C(0x99AABBCCDDEEFF00), 3}, back[3] = {0};
        uint32_t v = 0;
        struct link_access w = {
            .op = LINK_MEM_WRITE, .size = 8, .address = MEM_BASE + 0x3F8, .count = 3, .data = values};
        struct link_access r = w;
        r.op = LINK_MEM_READ;
        r.data = back;
        open_bench(&b, posted);
        assert_int_equal(link_execute(b.link, &w, 1, &d), CORRAL_ERR_UNSUPPORTED);
        assert_string_equal(d.message, "access port 0 has no 64-bit accesses");
        assert_int_equal(w.done, 0);
        assert_int_equal(b.port.drw_reads, 0);
        close_bench(&b);

        open_bench(&b, posted);
        b.port.doubles = true;
        assert_int_equal(link_execute(b.link, &w, 1, &d), CORRAL_OK);
        assert_int_equal(w.done, 3);
        assert_memory_equal(&b.port.mem[0x3F8], values, sizeof(values));
        assert_int_equal(link_read32(b.link, 0, MEM_BASE + 0x3FC, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x11223344);
        assert_int_equal(link_execute(b.link, &r, 1, &d), CORRAL_OK);
        assert_memory_equal(back, values, sizeof(values));
        assert_int_equal(b.port.csw[0] & ~0x37u, 0x23000040); /* what is not ours is kept */
        w.address = MEM_BASE + 4;
        assert_int_equal(link_execute(b.link, &w, 1, &d), CORRAL_ERR_USAGE); /* not aligned */
        /* An error is that element's, seen at once; the next access works. */
        w.address = BAD - 8;
        assert_int_equal(link_execute(b.link, &w, 1, &d), CORRAL_ERR_LINK_FAULT);
        assert_int_equal(w.status, CORRAL_ERR_LINK_FAULT);
        assert_int_equal(w.done, 1);
        b.port.second = false;
        r.address = BAD - 8;
        back[1] = 5;
        assert_int_equal(link_execute(b.link, &r, 1, &d), CORRAL_ERR_LINK_FAULT);
        assert_int_equal(r.done, 1);
        assert_int_equal(back[1], 5);
        b.port.second = false;
        assert_int_equal(link_read32(b.link, 0, BAD - 8, &v, &d), CORRAL_OK);
        assert_int_equal(v, 0x55667788);
        close_bench(&b);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_word_again_costs_drw_alone),
        cmocka_unit_test(test_words_beside_cost_no_tar),
        cmocka_unit_test(test_a_posted_block_costs_a_transfer_a_word),
        cmocka_unit_test(test_b20_tar_is_written_again_at_each_kibibyte),
        cmocka_unit_test(test_byte_lanes_and_neighbours),
        cmocka_unit_test(test_unknown_bits_of_csw_are_kept),
        cmocka_unit_test(test_fault_on_read_names_the_address_and_clears_the_error),
        cmocka_unit_test(test_fault_of_a_buffered_write_is_that_writes),
        cmocka_unit_test(test_wait_is_repeated_and_no_access_is_done_twice),
        cmocka_unit_test(test_b24_wait_without_end_is_aborted_and_the_other_ap_works),
        cmocka_unit_test(test_a_dead_wire_is_link_down),
        cmocka_unit_test(test_an_absent_ap_is_named),
        cmocka_unit_test(test_what_cannot_be_is_refused_before_any_transfer),
        cmocka_unit_test(test_b12_nothing_above_4_gib_without_large_addresses),
        cmocka_unit_test(test_what_others_did_to_the_port_is_forgotten_on_request),
        cmocka_unit_test(test_c42_accesses_of_64_bits),
    };
    return cmocka_run_group_tests_name("link-mem-ap", tests, NULL, NULL);
}
