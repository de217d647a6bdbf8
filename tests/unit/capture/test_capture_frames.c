/* SPDX-License-Identifier: Apache-2.0 */
/* From a frame to its UDP payload: link types, tags, IP options and extension headers, and every way to be
 * cut. Each frame is put in an exactly sized allocation, so that reading past its end is caught. */
#include "capture_file.h"

#include "capture/capture_frames.h"

static enum capture_frame parse(unsigned linktype, const struct capture_file *f, size_t n,
                                struct capture_udp *udp)
{
    uint8_t *exact = malloc(n ? n : 1);
    memcpy(exact, f->data, n);
    memset(udp, 0, sizeof(*udp));
    enum capture_frame kind = capture_frames_udp((uint16_t)linktype, exact, n, udp);
    if (kind == CAPTURE_FRAME_UDP) {
        assert_true(udp->data >= exact && udp->data + udp->size <= exact + n);
        udp->data = udp->data - exact + f->data;
    }
    free(exact);
    return kind;
}

static void put_udp(struct capture_file *f)
{
    f->big = true;
    file_u16(f, 40000);
    file_u16(f, 51080);
    file_u16(f, 12);
    file_u16(f, 0);
    file_bytes(f, "data", 4);
}

static void put_ipv4(struct capture_file *f, unsigned options, unsigned fragment)
{
    f->big = true;
    size_t at = f->size;
    file_bytes(f, (uint8_t[]){(uint8_t)(0x45 + options), 0}, 2);
    file_u16(f, 20 + options * 4 + 12);
    file_u16(f, 1);
    file_u16(f, fragment);
    file_bytes(f, (uint8_t[]){64, 17, 0, 0, 192, 0, 2, 2, 192, 0, 2, 1}, 12);
    assert_int_equal(f->size - at, 20);
    file_room(f, options * 4);
    put_udp(f);
}

static void put_ipv6(struct capture_file *f, unsigned next, const void *extensions, size_t n)
{
    f->big = true;
    file_u32(f, 0x60000000);
    file_u16(f, (unsigned)n + 12);
    file_bytes(f, (uint8_t[]){(uint8_t)next, 64}, 2);
    file_bytes(f, (uint8_t[]){0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, 16);
    file_bytes(f, (uint8_t[]){0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 16);
    file_bytes(f, extensions, n);
    put_udp(f);
}

static void expect_data(unsigned linktype, const struct capture_file *f, const char *source)
{
    struct capture_udp udp;
    assert_int_equal(parse(linktype, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_string_equal(udp.source, source);
    assert_int_equal(udp.source_port, 40000);
    assert_int_equal(udp.dest_port, 51080);
    assert_int_equal(udp.size, 4);
    assert_memory_equal(udp.data, "data", 4);
    assert_false(udp.cut);
    /* Cut anywhere: never past the end, never a payload that is not there. */
    for (size_t n = 0; n < f->size; n++) {
        enum capture_frame kind = parse(linktype, f, n, &udp);
        if (n >= f->size - 4) {
            assert_int_equal(kind, CAPTURE_FRAME_UDP);
            assert_true(udp.cut);
            assert_int_equal(udp.size, n - (f->size - 4));
        } else {
            assert_int_equal(kind, CAPTURE_FRAME_OTHER);
        }
    }
}

#define V4 "192.0.2.2:40000"
#define V6 "[2001:db8::2]:40000"

static void ethernet_with_tags_of_all_kinds(void **state)
{
    (void)state;
    static const unsigned tags[][4] = {
        {0}, {0x8100}, {0x88A8, 0x8100}, {0x9100, 0x8100}, {0x9200, 0x9100, 0x8100}};
    struct capture_file *f = calloc(1, sizeof(*f));
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        for (int v6 = 0; v6 < 2; v6++) {
            f->size = 0;
            f->big = true;
            file_room(f, 12);
            for (size_t t = 0; tags[i][t]; t++) {
                file_u16(f, tags[i][t]);
                file_u16(f, 100);
            }
            file_u16(f, v6 ? 0x86DD : 0x0800);
            if (v6)
                put_ipv6(f, 17, NULL, 0);
            else
                put_ipv4(f, 0, 0);
            expect_data(1, f, v6 ? V6 : V4);
        }
    }
    free(f);
}

static void more_tags_than_any_network_stacks(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    f->big = true;
    file_room(f, 12);
    for (int i = 0; i < 200; i++)
        file_u32(f, 0x81000064);
    file_u16(f, 0x0800);
    put_ipv4(f, 0, 0);
    struct capture_udp udp;
    assert_int_equal(parse(1, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    free(f);
}

static void other_link_types(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    f->big = true;
    file_room(f, 14);
    file_u16(f, 0x0800);
    put_ipv4(f, 0, 0);
    expect_data(113, f, V4);

    f->size = 0;
    file_u16(f, 0x86DD);
    file_room(f, 18);
    put_ipv6(f, 17, NULL, 0);
    expect_data(276, f, V6);

    f->size = 0;
    file_u16(f, 0x8100); /* a tag behind the cooked header */
    file_room(f, 18);
    file_u16(f, 5);
    file_u16(f, 0x0800);
    put_ipv4(f, 0, 0);
    expect_data(276, f, V4);

    static const struct {
        unsigned linktype;
        uint32_t family;
        bool big, v6;
    } loops[] = {{0, 2, false, false}, {0, 2, true, false},  {108, 2, true, false}, {0, 10, false, true},
                 {0, 24, true, true},  {0, 28, false, true}, {0, 30, false, true},  {108, 24, true, true}};
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        f->size = 0;
        f->big = loops[i].big;
        file_u32(f, loops[i].family);
        if (loops[i].v6)
            put_ipv6(f, 17, NULL, 0);
        else
            put_ipv4(f, 0, 0);
        expect_data(loops[i].linktype, f, loops[i].v6 ? V6 : V4);
    }
    static const unsigned raw[] = {101, 12, 228};
    for (size_t i = 0; i < 3; i++) {
        f->size = 0;
        put_ipv4(f, 0, 0);
        expect_data(raw[i], f, V4);
    }
    static const unsigned raw6[] = {101, 12, 229};
    for (size_t i = 0; i < 3; i++) {
        f->size = 0;
        put_ipv6(f, 17, NULL, 0);
        expect_data(raw6[i], f, V6);
    }
    struct capture_udp udp;
    assert_int_equal(parse(228, f, f->size, &udp), CAPTURE_FRAME_OTHER); /* IPv6 under IPv4's link type */
    assert_int_equal(parse(147, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    assert_int_equal(parse(162, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    assert_int_equal(parse(105, f, f->size, &udp), CAPTURE_FRAME_UNKNOWN_LINK);
    assert_int_equal(parse(65535, f, 0, &udp), CAPTURE_FRAME_UNKNOWN_LINK);
    free(f);
}

static void ipv4_options_fragments_and_trailers(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    struct capture_udp udp;
    put_ipv4(f, 3, 0x4000); /* three option words; don't fragment is no fragment */
    expect_data(101, f, V4);
    f->size = 0;
    put_ipv4(f, 10, 0);
    expect_data(101, f, V4);

    static const unsigned fragments[] = {0x2000, 1, 0x2001, 0x1FFF};
    for (size_t i = 0; i < 4; i++) {
        f->size = 0;
        put_ipv4(f, 0, fragments[i]);
        assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_FRAGMENT);
    }
    f->size = 0; /* what the IP length does not cover is a trailer, even where UDP claims it */
    put_ipv4(f, 0, 0);
    store_be16(f->data + 24, 16);
    file_bytes(f, "padding", 7);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 4);
    assert_true(udp.cut);
    store_be16(f->data + 24, 12);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 4);
    assert_false(udp.cut);
    store_be16(f->data + 24, 10); /* UDP may say less than IP */
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 2);
    store_be16(f->data + 24, 8); /* an empty datagram */
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 0);
    assert_false(udp.cut);
    for (unsigned length = 1; length < 8; length++) {
        store_be16(f->data + 24, (uint16_t)length);
        assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    }
    free(f);
}

static void ipv4_headers_that_lie(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    struct capture_udp udp;
    put_ipv4(f, 0, 0);
    for (unsigned first = 0; first < 256; first++) { /* every version and header length */
        f->data[0] = (uint8_t)first;
        enum capture_frame kind = parse(101, f, f->size, &udp);
        if (first != 0x45)
            assert_int_equal(kind == CAPTURE_FRAME_UDP && udp.size == 4, false);
    }
    f->data[0] = 0x45;
    for (unsigned total = 1; total < 28; total++) { /* shorter than its own headers */
        store_be16(f->data + 2, (uint16_t)total);
        assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    }
    store_be16(f->data + 2, 0); /* left to the network card */
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 4);
    store_be16(f->data + 2, 32);
    f->data[9] = 6; /* TCP */
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    free(f);
}

static void ipv6_extension_headers(void **state)
{
    (void)state;
    struct capture_file *f = calloc(1, sizeof(*f));
    struct capture_udp udp;
    static const uint8_t hop[8] = {17, 0};
    put_ipv6(f, 0, hop, 8);
    expect_data(101, f, V6);
    /* hop-by-hop (16 bytes), routing, destination options, authentication (12 + 4), atomic fragment */
    static const uint8_t chain[] = {43, 1, 0, 0, 0, 0,  0, 0, 0, 0, 0,  0, 0, 0,  0, 0, 60, 0, 0,
                                    0,  0, 0, 0, 0, 51, 0, 0, 0, 0, 0,  0, 0, 44, 2, 0, 0,  0, 0,
                                    0,  0, 0, 0, 0, 0,  0, 0, 0, 0, 17, 0, 0, 0,  0, 0, 0,  9};
    f->size = 0;
    put_ipv6(f, 0, chain, sizeof(chain));
    expect_data(101, f, V6);

    uint8_t fragment[8] = {17, 0, 0, 1, 0, 0, 0, 9}; /* first of several */
    f->size = 0;
    put_ipv6(f, 44, fragment, 8);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_FRAGMENT);
    fragment[3] = 8; /* last */
    f->size = 0;
    put_ipv6(f, 44, fragment, 8);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_FRAGMENT);

    uint8_t endless[8 * 64] = {0};
    f->size = 0;
    put_ipv6(f, 0, endless, sizeof(endless));
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    uint8_t over[8] = {17, 255};
    f->size = 0;
    put_ipv6(f, 60, over, 8);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);
    f->size = 0;
    put_ipv6(f, 59, NULL, 0); /* no next header */
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_OTHER);

    f->size = 0; /* a trailer behind IPv6 */
    put_ipv6(f, 17, NULL, 0);
    file_bytes(f, "padding", 7);
    assert_int_equal(parse(101, f, f->size, &udp), CAPTURE_FRAME_UDP);
    assert_int_equal(udp.size, 4);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ethernet_with_tags_of_all_kinds),
        cmocka_unit_test(more_tags_than_any_network_stacks),
        cmocka_unit_test(other_link_types),
        cmocka_unit_test(ipv4_options_fragments_and_trailers),
        cmocka_unit_test(ipv4_headers_that_lie),
        cmocka_unit_test(ipv6_extension_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
