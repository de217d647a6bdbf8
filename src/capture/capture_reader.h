/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads pcap (both byte orders, micro- and nanoseconds) and pcapng (several sections and link types), packet
 * by packet, and finds the UDP payload: Ethernet with VLAN, QinQ, SLL, SLL2, raw IP, loopback; IPv4, IPv6.
 * Hostile input. Fragments and cut frames are counted, not guessed at.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_READER_H
#define CORRAL_CAPTURE_CAPTURE_READER_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAPTURE_MAX_PACKET (256u * 1024u)

struct capture_reader;

struct capture_packet {
    int64_t ns; /* since the epoch */
    uint16_t linktype;
    uint32_t interface_id;
    const char *interface; /* its name, "" = none: text from outside. Borrowed as `data` */
    const uint8_t *data;   /* borrowed until the next call */
    size_t size;           /* captured */
    size_t original;       /* on the wire */
};

struct capture_udp {
    char source[64]; /* "ADDR:PORT", IPv6 as "[ADDR]:PORT" */
    uint16_t source_port;
    uint16_t dest_port;
    const uint8_t *data;
    size_t size;
    bool cut; /* fewer bytes than the UDP length says */
};

struct capture_reader_stats {
    uint64_t packets, udp, other, fragments, cut, unknown_linktype;
};

/* NULL with *d set (CORRAL_ERR_CAPTURE when it is no capture file). */
struct capture_reader *capture_reader_open(const char *path, struct diag *d);
/*
 * The same from a stream, which may be a pipe and is closed with the reader (on failure too). `ahead` are
 * bytes that were read from it already (borrowed until the close); `name` is for messages.
 */
struct capture_reader *capture_reader_open_stream(FILE *file, const uint8_t *ahead, size_t ahead_size,
                                                  const char *name, struct diag *d);
void capture_reader_close(struct capture_reader *r);
/* 1 = a packet, 0 = end of file, -1 = the file is damaged here (*d says where); what came before stands. */
int capture_reader_next(struct capture_reader *r, struct capture_packet *packet, struct diag *d);
/* True when the packet holds a UDP datagram; counts what it sees. */
bool capture_reader_udp(struct capture_reader *r, const struct capture_packet *packet,
                        struct capture_udp *udp);
/* The sender ("ram:core0") of a profile packet that Corral itself captured and that was no datagram; NULL
 * when the packet is something else. */
const char *capture_reader_profile(const struct capture_packet *packet);
void capture_reader_get_stats(const struct capture_reader *r, struct capture_reader_stats *stats);
/* Does the file begin like pcap or pcapng? (Else `decode prof` takes it for one raw datagram.) */
bool capture_reader_probe(const uint8_t *data, size_t size);

#endif
