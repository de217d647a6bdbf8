/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic pcap file (draft-ietf-opsawg-pcap): one link type, records of 16 bytes and a packet.
 * Private to src/capture.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_PCAP_H
#define CORRAL_CAPTURE_CAPTURE_PCAP_H

#include "capture/capture_input.h"

#define CAPTURE_PCAP_MAGIC_US 0xA1B2C3D4u
#define CAPTURE_PCAP_MAGIC_NS 0xA1B23C4Du

struct capture_pcap {
    bool nanoseconds;
    uint16_t linktype;
};

/* `first` are the file's first four bytes, already read. False with *d set. */
bool capture_pcap_open(struct capture_pcap *p, struct capture_input *in, const uint8_t first[4],
                       struct diag *d);
/* As capture_reader_next. */
int capture_pcap_next(const struct capture_pcap *p, struct capture_input *in, struct capture_packet *packet,
                      struct diag *d);

#endif
