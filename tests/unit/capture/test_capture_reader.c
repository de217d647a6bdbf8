/* SPDX-License-Identifier: Apache-2.0 */
/* The capture reader on well-made, foreign and hostile files (pcap and pcapng drafts of the IETF opsawg). */
#include "capture_file.h"

#include "capture/capture_reader.h"

#define UDP_BYTES 36 /* IPv4 header, UDP header, "payload!" */

/* A raw IPv4 packet to port 51080 that carries eight bytes. */
static void make_ip(uint8_t p[UDP_BYTES])
{
    static const uint8_t payload[8] = "payload!";
    memset(p, 0, UDP_BYTES);
    p[0] = 0x45;
    store_be16(p + 2, UDP_BYTES);
    p[8] = 64;
    p[9] = 17;
    memcpy(p + 12, (uint8_t[]){192, 0, 2, 2, 192, 0, 2, 1}, 8);
    store_be16(p + 20, 40000);
    store_be16(p + 22, 51080);
    store_be16(p + 24, 16);
    memcpy(p + 28, payload, sizeof(payload));
}

static struct capture_reader *open_bytes(const void *data, size_t n, struct diag *d)
{
    char name[32];
    file_store(data, n, name);
    struct capture_reader *r = capture_reader_open(name, d);
    unlink(name);
    return r;
}

static void read_pcap(uint32_t magic, bool big, int64_t ns)
{
    struct capture_file *f = calloc(1, sizeof(*f));
    uint8_t ip[UDP_BYTES];
    make_ip(ip);
    f->big = big;
    file_u32(f, magic);
    file_u16(f, 2);
    file_u16(f, 4);
    file_u32(f, 0);
    file_u32(f, 0);
    file_u32(f, 65535);
    file_u32(f, 0x04000065u); /* raw IP; the upper half is a check sequence length */
    file_u32(f, 1700000000);
    file_u32(f, 123456);
    file_u32(f, UDP_BYTES);
    file_u32(f, UDP_BYTES);
    file_bytes(f, ip, UDP_BYTES);
    assert_true(capture_reader_probe(f->data, f->size));
    struct diag d = DIAG_INIT;
    struct capture_reader *r = open_bytes(f->data, f->size, &d);
    assert_non_null(r);
    struct capture_packet packet;
    struct capture_udp udp;
    assert_int_equal(capture_reader_next(r, &packet, &d), 1);
    assert_int_equal(packet.ns, ns);
    assert_int_equal(packet.linktype, 101);
    assert_true(capture_reader_udp(r, &packet, &udp));
    assert_string_equal(udp.source, "192.0.2.2:40000");
    assert_int_equal(udp.dest_port, 51080);
    assert_int_equal(udp.size, 8);
    assert_memory_equal(udp.data, "payload!", 8);
    assert_false(udp.cut);
    assert_int_equal(capture_reader_next(r, &packet, &d), 0);
    assert_int_equal(capture_reader_next(r, &packet, &d), 0);
    capture_reader_close(r);
    free(f);
}

static void pcap_both_orders_both_units(void **state)
{
    (void)state;
    read_pcap(0xA1B2C3D4u, false, 1700000000123456000);
    read_pcap(0xA1B2C3D4u, true, 1700000000123456000);
    read_pcap(0xA1B23C4Du, false, 1700000000000123456);
    read_pcap(0xA1B23C4Du, true, 1700000000000123456);
}

/* Two sections in different orders, three kinds of packet blocks, unknown blocks between them. */
static void make_sections(struct capture_file *f, bool big_first)
{
    uint8_t ip[UDP_BYTES];
    make_ip(ip);
    f->big = big_first;
    file_section(f);
    file_block_begin(f, 5); /* statistics of an interface that comes later: skipped */
    file_bytes(f, "............", 12);
    file_block_end(f);
    file_interface(f, 101, 0, 9);
    file_interface(f, 148, 0, 6);
    file_packet(f, 0, 1000000001, ip, UDP_BYTES, UDP_BYTES);
    file_packet(f, 1, 5, "{}x", 3, 3);
    f->big = !big_first;
    file_section(f);
    file_interface(f, 101, UDP_BYTES - 3, 0x80 | 20);
    file_block_begin(f, 0xBAD); /* custom */
    file_bytes(f, "abcdef", 6);
    file_block_end(f);
    file_packet(f, 0, (uint64_t)3 << 20 | 1 << 19, ip, UDP_BYTES, UDP_BYTES);
    file_block_begin(f, 3); /* simple: cut to the snap length */
    file_u32(f, UDP_BYTES);
    file_bytes(f, ip, UDP_BYTES - 3);
    file_block_end(f);
    file_block_begin(f, 2); /* obsolete */
    file_u16(f, 0);
    file_u16(f, 7);
    file_u32(f, 0);
    file_u32(f, 1 << 20);
    file_u32(f, UDP_BYTES);
    file_u32(f, UDP_BYTES);
    file_bytes(f, ip, UDP_BYTES);
    file_block_end(f);
}

static void read_sections(bool big_first)
{
    struct capture_file *f = calloc(1, sizeof(*f));
    make_sections(f, big_first);
    assert_true(capture_reader_probe(f->data, f->size));
    static const struct {
        int64_t ns;
        uint16_t linktype;
        uint32_t id;
        size_t size;
        bool udp, cut;
    } want[] = {
        {1000000001, 101, 0, 36, true, false}, {5000, 148, 1, 3, false, false},
        {3500000000, 101, 2, 36, true, false}, {0, 101, 2, 33, true, true},
        {1000000000, 101, 2, 36, true, false},
    };
    struct diag d = DIAG_INIT;
    struct capture_reader *r = open_bytes(f->data, f->size, &d);
    assert_non_null(r);
    struct capture_packet packet;
    struct capture_udp udp;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_int_equal(capture_reader_next(r, &packet, &d), 1);
        assert_int_equal(packet.ns, want[i].ns);
        assert_int_equal(packet.linktype, want[i].linktype);
        assert_int_equal(packet.interface_id, want[i].id);
        assert_int_equal(packet.size, want[i].size);
        assert_int_equal(capture_reader_udp(r, &packet, &udp), want[i].udp);
        assert_int_equal(udp.cut, want[i].cut);
    }
    assert_int_equal(capture_reader_next(r, &packet, &d), 0);
    struct capture_reader_stats s;
    capture_reader_get_stats(r, &s);
    assert_int_equal(s.packets, 5);
    assert_int_equal(s.udp, 4);
    assert_int_equal(s.other, 1);
    assert_int_equal(s.cut, 1);
    capture_reader_close(r);
    free(f);
}

static void pcapng_sections_orders_and_block_kinds(void **state)
{
    (void)state;
    read_sections(false);
    read_sections(true);
}

/* What the file holds up to each point, found by walking it in the test. */
static void every_truncation_point_keeps_what_was_before(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    make_sections(f, false);
    size_t ends[16];
    size_t packets[16];
    size_t count = 0;
    size_t seen = 0;
    f->big = false;
    for (size_t at = 0; at < f->size;) {
        if (load_le32(f->data + at) == 0x0A0D0D0Au)
            f->big = load_be32(f->data + at + 8) == 0x1A2B3C4Du;
        uint32_t type = f->big ? load_be32(f->data + at) : load_le32(f->data + at);
        seen += type == 6 || type == 3 || type == 2;
        at += f->big ? load_be32(f->data + at + 4) : load_le32(f->data + at + 4);
        ends[count] = at;
        packets[count++] = seen;
    }
    assert_int_equal(seen, 5);
    for (size_t n = 0; n < f->size; n++) {
        size_t whole = 0;
        while (whole < count && ends[whole] <= n)
            whole++;
        struct diag d = DIAG_INIT;
        struct capture_reader *r = open_bytes(f->data, n, &d);
        if (whole == 0) { /* not even the section header */
            assert_null(r);
            assert_int_equal(d.code, CORRAL_ERR_CAPTURE);
            assert_true(d.message[0] != '\0');
            continue;
        }
        assert_non_null(r);
        struct capture_packet packet;
        size_t got = 0;
        int result;
        while ((result = capture_reader_next(r, &packet, &d)) == 1)
            got++;
        assert_int_equal(got, packets[whole - 1]);
        assert_int_equal(result, ends[whole - 1] == n ? 0 : -1);
        if (result < 0) {
            char where[48];
            snprintf(where, sizeof(where), "at offset %zu:", ends[whole - 1]);
            assert_non_null(strstr(d.message, where));
            assert_int_equal(capture_reader_next(r, &packet, &d), -1);
        }
        capture_reader_close(r);
    }
    free(f);
}

static void every_truncation_point_of_a_pcap(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    file_u32(f, 0xA1B2C3D4u);
    file_u16(f, 2);
    file_u16(f, 4);
    file_room(f, 12);
    file_u32(f, 1);
    for (int i = 0; i < 3; i++) {
        file_room(f, 8);
        file_u32(f, 20);
        file_u32(f, 20);
        file_room(f, 20);
    }
    for (size_t n = 0; n <= f->size; n++) {
        struct diag d = DIAG_INIT;
        struct capture_reader *r = open_bytes(f->data, n, &d);
        if (n < 24) {
            assert_null(r);
            assert_int_equal(d.code, CORRAL_ERR_CAPTURE);
            continue;
        }
        assert_non_null(r);
        struct capture_packet packet;
        size_t got = 0;
        int result;
        while ((result = capture_reader_next(r, &packet, &d)) == 1)
            got++;
        assert_int_equal(got, (n - 24) / 36);
        assert_int_equal(result, (n - 24) % 36 ? -1 : 0);
        capture_reader_close(r);
    }
    free(f);
}

/* One packet, then one bad block: the packet comes, then -1 with the bad block's offset. */
static void expect_damage(struct capture_file *f, size_t at, const char *sentence)
{
    struct diag d = DIAG_INIT;
    struct capture_reader *r = open_bytes(f->data, f->size, &d);
    assert_non_null(r);
    struct capture_packet packet;
    assert_int_equal(capture_reader_next(r, &packet, &d), 1);
    assert_int_equal(capture_reader_next(r, &packet, &d), -1);
    assert_int_equal(d.code, CORRAL_ERR_CAPTURE);
    char where[48];
    snprintf(where, sizeof(where), "at offset %zu:", at);
    assert_non_null(strstr(d.message, where));
    assert_non_null(strstr(d.message, sentence));
    capture_reader_close(r);
}

static size_t good_start(struct capture_file *f)
{
    memset(f, 0, sizeof(*f));
    file_section(f);
    file_interface(f, 101, 0, 9);
    file_packet(f, 0, 1, "ok", 2, 2);
    return f->size;
}

static void hostile_blocks_are_damage_with_an_offset(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    static const uint32_t totals[] = {0, 4, 8, 11, 13, 34, 0x7FFFFFFF, UINT32_MAX, UINT32_MAX - 3};
    static const uint32_t types[] = {1, 2, 3, 6, 0xBAD};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
            size_t at = good_start(f);
            file_u32(f, types[t]);
            file_u32(f, totals[i]);
            file_room(f, 64);
            expect_damage(f, at, "");
        }
    }
    size_t at = good_start(f);
    file_packet(f, 0, 1, "abcd", 4, 4);
    f->data[f->size - 4] ^= 4; /* closing length */
    expect_damage(f, at, "lengths differ");

    at = good_start(f);
    file_packet(f, 1, 1, "abcd", 4, 4);
    expect_damage(f, at, "not described");

    static const uint32_t sizes[] = {5, 0x40000, 0x40001, UINT32_MAX, UINT32_MAX - 3, 0x80000000u};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        at = good_start(f);
        file_packet(f, 0, 1, "abcd", 4, 4);
        store_le32(f->data + at + 20, sizes[i]);
        expect_damage(f, at, "a packet of");
        at = good_start(f); /* the simple block says only what the wire had */
        file_block_begin(f, 3);
        file_u32(f, sizes[i]);
        file_bytes(f, "abcd", 4);
        file_block_end(f);
        expect_damage(f, at, "a packet of");
    }
    at = good_start(f); /* packet blocks too small for their own fields */
    file_block_begin(f, 6);
    file_room(f, 16);
    file_block_end(f);
    expect_damage(f, at, "a packet block of");

    at = good_start(f); /* an option that runs over the end */
    file_block_begin(f, 1);
    file_u16(f, 1);
    file_u16(f, 0);
    file_u32(f, 0);
    file_u16(f, 2);
    file_u16(f, 200);
    file_bytes(f, "abcd", 4);
    file_block_end(f);
    expect_damage(f, at, "option");

    at = good_start(f); /* a second section with no byte order */
    file_section(f);
    f->data[at + 8] ^= 1;
    expect_damage(f, at, "byte-order");
    at = good_start(f);
    file_section(f);
    f->data[at + 12] = 2;
    expect_damage(f, at, "version 2");
    free(f);
}

static void interfaces_of_the_last_section_do_not_count(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    good_start(f);
    file_section(f);
    size_t at = f->size;
    file_packet(f, 0, 1, "abcd", 4, 4);
    expect_damage(f, at, "not described");
    free(f);
}

static void interface_flood_is_bounded(void **state)
{
    (void)state;
    size_t each = 20;
    size_t size = 28 + 5000 * each;
    uint8_t *data = calloc(1, size);
    struct capture_file *f = calloc(1, sizeof(*f));
    file_section(f);
    memcpy(data, f->data, 28);
    for (size_t at = 28; at < size; at += each) {
        store_le32(data + at, 1);
        store_le32(data + at + 4, 20);
        store_le32(data + at + 16, 20);
    }
    struct diag d = DIAG_INIT;
    struct capture_reader *r = open_bytes(data, size, &d);
    assert_non_null(r);
    struct capture_packet packet;
    assert_int_equal(capture_reader_next(r, &packet, &d), -1);
    assert_non_null(strstr(d.message, "4096 interfaces"));
    capture_reader_close(r);
    free(f);
    free(data);
}

static int64_t stamp_of(uint8_t resolution, int64_t offset_s, uint64_t stamp, bool big)
{
    struct capture_file *f = calloc(1, sizeof(*f));
    f->big = big;
    file_section(f);
    file_block_begin(f, 1);
    file_u16(f, 101);
    file_u16(f, 0);
    file_u32(f, 0);
    file_option(f, 9, &resolution, 1);
    file_u16(f, 14);
    file_u16(f, 8);
    file_u32(f, (uint32_t)((uint64_t)offset_s >> (big ? 32 : 0)));
    file_u32(f, (uint32_t)((uint64_t)offset_s >> (big ? 0 : 32)));
    file_block_end(f);
    file_packet(f, 0, stamp, "", 0, 0);
    struct diag d = DIAG_INIT;
    struct capture_reader *r = open_bytes(f->data, f->size, &d);
    assert_non_null(r);
    struct capture_packet packet;
    assert_int_equal(capture_reader_next(r, &packet, &d), 1);
    capture_reader_close(r);
    free(f);
    return packet.ns;
}

static void time_resolutions_and_offsets(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        assert_int_equal(stamp_of(0, 0, 7, big), 7000000000);
        assert_int_equal(stamp_of(3, 0, 7, big), 7000000);
        assert_int_equal(stamp_of(9, 0, 7, big), 7);
        assert_int_equal(stamp_of(12, 0, 7999, big), 7);
        assert_int_equal(stamp_of(127, 0, UINT64_MAX, big), 0);
        assert_int_equal(stamp_of(0x80, 0, 2, big), 2000000000);
        assert_int_equal(stamp_of(0x80 | 32, 0, 1u << 31, big), 500000000);
        assert_int_equal(stamp_of(0xFF, 0, UINT64_MAX, big), 0);
        assert_int_equal(stamp_of(9, 1000, 5, big), 1000000000005);
        assert_int_equal(stamp_of(9, -1000, 5, big), -999999999995);
        assert_int_equal(stamp_of(0, 0, UINT64_MAX, big), INT64_MAX);
        assert_int_equal(stamp_of(9, INT64_MIN, 0, big), INT64_MIN);
        assert_int_equal(stamp_of(9, INT64_MAX, UINT64_MAX, big), INT64_MAX);
    }
}

/* Bytes changed anywhere: whatever is handed out lies within the file's own size, and it ends. */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    uint32_t seed = 3;
    size_t damaged = 0;
    for (int round = 0; round < 3000; round++) {
        memset(f, 0, sizeof(*f));
        make_sections(f, round & 1);
        for (int k = 0; k < 1 + round % 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 8) % f->size;
            seed = seed * 1664525u + 1013904223u;
            f->data[at] = (uint8_t)(round % 5 ? seed >> 24 : 0xFF);
        }
        struct diag d = DIAG_INIT;
        struct capture_reader *r = open_bytes(f->data, f->size, &d);
        if (!r) {
            assert_true(d.code != CORRAL_OK && d.message[0] != '\0');
            continue;
        }
        struct capture_packet packet;
        struct capture_udp udp;
        size_t got = 0;
        int result;
        while ((result = capture_reader_next(r, &packet, &d)) == 1) {
            assert_in_range(++got, 1, f->size / 16);
            assert_in_range(packet.size, 0, f->size);
            if (capture_reader_udp(r, &packet, &udp))
                assert_true(udp.data >= packet.data && udp.data + udp.size <= packet.data + packet.size);
        }
        damaged += result < 0;
        capture_reader_close(r);
    }
    assert_in_range(damaged, 300, 2700); /* both ways were taken */
    free(f);
}

static void what_is_no_capture_is_refused(void **state)
{
    (void)state;
    struct diag d = DIAG_INIT;
    assert_null(open_bytes("", 0, &d));
    assert_int_equal(d.code, CORRAL_ERR_CAPTURE);
    assert_non_null(strstr(d.message, "empty"));
    assert_null(open_bytes("\x3E\xB1\xFC\x02 a datagram", 14, &d));
    assert_int_equal(d.code, CORRAL_ERR_CAPTURE);
    assert_null(capture_reader_open("no-such-capture", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_null(capture_reader_open(".", &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_false(capture_reader_probe((const uint8_t *)"\x3E\xB1\xFC\x02", 4));
    assert_false(capture_reader_probe((const uint8_t *)"\xD4\xC3\xB2", 3));
    assert_true(capture_reader_probe((const uint8_t *)"\xD4\xC3\xB2\xA1", 4));
    assert_true(capture_reader_probe((const uint8_t *)"\n\r\r\n", 4));
    assert_false(capture_reader_probe((const uint8_t *)"\n\r\r\n\0\0\0\x1C\0\0\0\0", 12));
    capture_reader_close(NULL);
}

static void a_pcap_record_that_claims_too_much(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    static const uint32_t sizes[] = {CAPTURE_MAX_PACKET + 1, 0x7FFFFFFF, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        f->size = 0;
        file_u32(f, 0xA1B2C3D4u);
        file_u16(f, 2);
        file_u16(f, 4);
        file_room(f, 12);
        file_u32(f, 1);
        file_room(f, 8);
        file_u32(f, 4);
        file_u32(f, 4);
        file_room(f, 4);
        size_t at = f->size;
        file_room(f, 8);
        file_u32(f, sizes[i]);
        file_u32(f, sizes[i]);
        file_room(f, 100);
        expect_damage(f, at, "claims");
    }
    free(f);
}

/* The files of the public report on frames that are not plain Ethernet and IPv4. */
static void frames_of_report_14(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t packets, wanted, fragments, cut;
    } want[] = {
        {"mixed-frames.pcap", 14, 9, 1, 1}, {"sll.pcap", 3, 3, 0, 0},  {"sll2.pcap", 3, 3, 0, 0},
        {"raw-ip.pcap", 3, 3, 0, 0},        {"null.pcap", 3, 3, 0, 0}, {"two-links.pcapng", 4, 4, 0, 0},
        {"user-link.pcapng", 3, 2, 0, 0},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        char path[600];
        snprintf(path, sizeof(path), "%s/../shared/reports/14/%s", SOURCE_ROOT, want[i].file);
        if (access(path, R_OK) != 0) {
            print_message("# no %s: skipped\n", want[i].file);
            skip();
        }
        struct diag d = DIAG_INIT;
        struct capture_reader *r = capture_reader_open(path, &d);
        assert_non_null(r);
        struct capture_packet packet;
        struct capture_udp udp;
        uint64_t wanted = 0;
        int result;
        while ((result = capture_reader_next(r, &packet, &d)) == 1)
            if (capture_reader_udp(r, &packet, &udp) && udp.dest_port == 51080) {
                wanted++;
                assert_true(udp.size >= 4);
                assert_int_equal(load_be32(udp.data) >> 16, 0x3EB1);
            }
        assert_int_equal(result, 0);
        struct capture_reader_stats s;
        capture_reader_get_stats(r, &s);
        assert_int_equal(s.packets, want[i].packets);
        assert_int_equal(wanted, want[i].wanted);
        assert_int_equal(s.fragments, want[i].fragments);
        assert_int_equal(s.cut, want[i].cut);
        assert_int_equal(s.unknown_linktype, 0);
        assert_int_equal(s.udp + s.other + s.fragments, s.packets);
        capture_reader_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcap_both_orders_both_units),
        cmocka_unit_test(pcapng_sections_orders_and_block_kinds),
        cmocka_unit_test(every_truncation_point_keeps_what_was_before),
        cmocka_unit_test(every_truncation_point_of_a_pcap),
        cmocka_unit_test(hostile_blocks_are_damage_with_an_offset),
        cmocka_unit_test(interfaces_of_the_last_section_do_not_count),
        cmocka_unit_test(interface_flood_is_bounded),
        cmocka_unit_test(time_resolutions_and_offsets),
        cmocka_unit_test(damaged_files_do_no_harm),
        cmocka_unit_test(what_is_no_capture_is_refused),
        cmocka_unit_test(a_pcap_record_that_claims_too_much),
        cmocka_unit_test(frames_of_report_14),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
