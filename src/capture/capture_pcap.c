/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the classic pcap file (draft-ietf-opsawg-pcap sections 4 and 5): both byte orders, micro- and
 * nanoseconds. A record that claims more than CAPTURE_MAX_PACKET is damage: nothing behind it can be found.
 */
#include "capture/capture_pcap.h"

#include "base/bytes.h"

#define PCAP_HEADER 24
#define PCAP_RECORD 16

bool capture_pcap_open(struct capture_pcap *p, struct capture_input *in, const uint8_t first[4],
                       struct diag *d)
{
    uint32_t big = load_be32(first);
    in->big_endian = big == CAPTURE_PCAP_MAGIC_US || big == CAPTURE_PCAP_MAGIC_NS;
    p->nanoseconds = capture_input_u32(in, first) == CAPTURE_PCAP_MAGIC_NS;

    uint8_t rest[PCAP_HEADER - 4];
    if (capture_input_read(in, rest, sizeof(rest)) != sizeof(rest)) {
        capture_input_damaged(in, 0, d, "the file ends inside its pcap header");
        return false;
    }
    uint16_t major = capture_input_u16(in, rest);
    if (major != 2) {
        capture_input_damaged(in, 4, d, "pcap version %u is not known", major);
        return false;
    }
    /* The upper half of the field holds the frame check sequence's length, not part of the link type. */
    p->linktype = (uint16_t)capture_input_u32(in, rest + 16);
    return true;
}

int capture_pcap_next(const struct capture_pcap *p, struct capture_input *in, struct capture_packet *packet,
                      struct diag *d)
{
    uint64_t at = in->offset;
    uint8_t head[PCAP_RECORD];
    size_t got = capture_input_read(in, head, sizeof(head));
    if (got == 0 && !ferror(in->file))
        return 0;
    if (got != sizeof(head))
        return capture_input_damaged(in, at, d, "the file ends inside a record header");

    uint32_t size = capture_input_u32(in, head + 8);
    if (size > CAPTURE_MAX_PACKET)
        return capture_input_damaged(in, at, d, "a record claims %u bytes, more than any packet has", size);
    if (capture_input_read(in, in->buffer, size) != size)
        return capture_input_damaged(in, at, d, "the file ends inside a packet of %u bytes", size);

    int64_t fraction = capture_input_u32(in, head + 4);
    *packet = (struct capture_packet){
        .ns =
            (int64_t)capture_input_u32(in, head) * 1000000000 + (p->nanoseconds ? fraction : fraction * 1000),
        .linktype = p->linktype,
        .interface = "",
        .data = in->buffer,
        .size = size,
        .original = capture_input_u32(in, head + 12),
    };
    return 1;
}
