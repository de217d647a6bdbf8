/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the capture reader: any bytes as a file, its packets one by one, the UDP payload of each,
 * and the same bytes as one frame of every link type that is read. Whatever is handed out is read to its last
 * byte.
 */
#include <string.h>

#include "capture/capture_frames.h"
#include "fuzz_target.h"

static unsigned sum_of(const uint8_t *data, size_t size)
{
    unsigned sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += data[i];
    return sum;
}

/* Inside `data`, and of a size that the sender's name goes with. */
static void check_udp(const struct capture_udp *udp, const uint8_t *data, size_t size)
{
    FUZZ_CHECK(udp->data >= data && udp->data <= data + size);
    FUZZ_CHECK(udp->size <= size - (size_t)(udp->data - data));
    size_t length = strnlen(udp->source, sizeof(udp->source));
    FUZZ_CHECK(length >= 3 && length < sizeof(udp->source));
    FUZZ_CHECK(strrchr(udp->source, ':') != NULL);
    FUZZ_CHECK(strtoul(strrchr(udp->source, ':') + 1, NULL, 10) == udp->source_port);
    volatile unsigned sum = sum_of(udp->data, udp->size);
    (void)sum;
}

static void read_frames(const uint8_t *data, size_t size)
{
    static const uint16_t links[] = {0, 1, 12, 101, 108, 113, 147, 162, 228, 229, 276, 9999};

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        struct capture_udp udp = {.data = NULL};
        enum capture_frame kind = capture_frames_udp(links[i], data, size, &udp);
        if (kind == CAPTURE_FRAME_UDP)
            check_udp(&udp, data, size);
        FUZZ_CHECK((kind == CAPTURE_FRAME_UNKNOWN_LINK) == (links[i] == 9999));
        FUZZ_CHECK(kind != CAPTURE_FRAME_UDP || (links[i] != 147 && links[i] != 162));
    }
}

static void check_stats(const struct capture_reader *r, uint64_t packets)
{
    struct capture_reader_stats stats;

    capture_reader_get_stats(r, &stats);
    FUZZ_CHECK(stats.packets == packets);
    FUZZ_CHECK(stats.udp + stats.other + stats.fragments + stats.unknown_linktype == packets);
    FUZZ_CHECK(stats.cut <= packets);
}

/* Half of the bytes through `ahead`, as a probed pipe is read, or none. Returns a sum over what was read. */
static uint64_t read_file(const uint8_t *data, size_t size, size_t ahead)
{
    struct diag d = DIAG_INIT;
    uint64_t packets = 0, digest = 0;
    int result;

    FILE *file = size > ahead ? fmemopen((void *)(uintptr_t)(data + ahead), size - ahead, "rb")
                              : fopen("/dev/null", "rb");
    FUZZ_CHECK(file);
    struct capture_reader *r = capture_reader_open_stream(file, data, ahead, "input", &d);
    if (!r) {
        FUZZ_CHECK(d.code == CORRAL_ERR_CAPTURE && d.message[0]);
        return 1;
    }
    FUZZ_CHECK(capture_reader_probe(data, size));
    for (;;) {
        struct capture_packet packet;
        struct capture_udp udp;
        result = capture_reader_next(r, &packet, &d);
        if (result <= 0)
            break;
        FUZZ_CHECK(++packets <= size); /* a packet takes bytes of the file */
        FUZZ_CHECK(packet.size <= CAPTURE_MAX_PACKET);
        digest = digest * 31 + sum_of(packet.data, packet.size) + (uint64_t)packet.ns + packet.interface_id;
        if (capture_reader_udp(r, &packet, &udp))
            check_udp(&udp, packet.data, packet.size);
    }
    check_stats(r, packets);
    if (result < 0) { /* it stays so */
        struct capture_packet packet;
        struct diag again = DIAG_INIT;
        FUZZ_CHECK(d.code != CORRAL_OK && d.message[0]);
        FUZZ_CHECK(capture_reader_next(r, &packet, &again) < 0 && strcmp(again.message, d.message) == 0);
    }
    capture_reader_close(r);
    return digest * 31 + packets + (unsigned)result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_frames(data, size);
    FUZZ_CHECK(size >= 4 || !capture_reader_probe(data, size));
    FUZZ_CHECK(read_file(data, size, 0) == read_file(data, size, size / 2));
    return 0;
}
