/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Link layers and IP down to UDP. Link types are numbered as in the tcpdump.org registry; IPv4 is RFC 791,
 * IPv6 and its extension headers RFC 8200, UDP RFC 768. The IP length decides where a datagram ends, so an
 * Ethernet trailer or check sequence is never taken for payload. Checksums are not checked: captures on the
 * sending host hold unfinished ones. Must not reassemble fragments.
 */
#include "capture/capture_frames.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/bytes.h"

#define LINK_NULL       0u /* BSD loopback, address family in the capturing host's byte order */
#define LINK_ETHERNET   1u
#define LINK_RAW_BSD    12u
#define LINK_RAW        101u
#define LINK_LOOP       108u /* OpenBSD loopback, address family big-endian */
#define LINK_SLL        113u
#define LINK_USER_FIRST 147u
#define LINK_USER_LAST  162u
#define LINK_IPV4       228u
#define LINK_IPV6       229u
#define LINK_SLL2       276u

#define ETHER_IPV4 0x0800u
#define ETHER_IPV6 0x86DDu

#define MAX_TAGS       8  /* more than any network stacks */
#define MAX_EXTENSIONS 16 /* likewise, IPv6 extension headers */

#define IP_UDP      17u
#define UDP_HEADER  8u
#define IPV4_HEADER 20u
#define IPV6_HEADER 40u

static enum capture_frame parse_udp(int family, const uint8_t *address, const uint8_t *p, size_t size,
                                    struct capture_udp *udp)
{
    if (size < UDP_HEADER)
        return CAPTURE_FRAME_OTHER;
    size_t length = load_be16(p + 4);
    /* RFC 2675: 0 stands for a length that does not fit; then the IP length alone counts. */
    if (length == 0)
        length = size;
    if (length < UDP_HEADER)
        return CAPTURE_FRAME_OTHER;
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(family, address, text, sizeof(text));
    udp->source_port = load_be16(p);
    udp->dest_port = load_be16(p + 2);
    snprintf(udp->source, sizeof(udp->source), family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
             udp->source_port);
    udp->data = p + UDP_HEADER;
    udp->cut = length > size;
    udp->size = (udp->cut ? size : length) - UDP_HEADER;
    return CAPTURE_FRAME_UDP;
}

static enum capture_frame parse_ipv4(const uint8_t *p, size_t size, struct capture_udp *udp)
{
    if (size < IPV4_HEADER || p[0] >> 4 != 4)
        return CAPTURE_FRAME_OTHER;
    size_t header = (size_t)(p[0] & 0xFu) * 4;
    size_t total = load_be16(p + 2);
    /* Segmentation offload leaves 0 in frames captured on the sending host. */
    if (total == 0)
        total = size;
    if (header < IPV4_HEADER || total < header || header > size)
        return CAPTURE_FRAME_OTHER;
    if (load_be16(p + 6) & 0x3FFFu) /* more fragments, or an offset */
        return CAPTURE_FRAME_FRAGMENT;
    if (p[9] != IP_UDP)
        return CAPTURE_FRAME_OTHER;
    size_t end = total < size ? total : size;
    return parse_udp(AF_INET, p + 12, p + header, end - header, udp);
}

static enum capture_frame parse_ipv6(const uint8_t *p, size_t size, struct capture_udp *udp)
{
    if (size < IPV6_HEADER || p[0] >> 4 != 6)
        return CAPTURE_FRAME_OTHER;
    size_t left = load_be16(p + 4);
    if (left == 0 || left > size - IPV6_HEADER) /* 0: a jumbogram, or offload */
        left = size - IPV6_HEADER;
    const uint8_t *address = p + 8;
    unsigned next = p[6];
    p += IPV6_HEADER;
    for (int i = 0; i < MAX_EXTENSIONS; i++) {
        size_t length;
        if (next == IP_UDP)
            return parse_udp(AF_INET6, address, p, left, udp);
        if (left < 8)
            return CAPTURE_FRAME_OTHER;
        switch (next) {
        case 0:   /* hop-by-hop options */
        case 43:  /* routing */
        case 60:  /* destination options */
        case 135: /* mobility */
        case 139: /* host identity */
        case 140: /* shim6 */
            length = ((size_t)p[1] + 1) * 8;
            break;
        case 51: /* authentication counts in words of four bytes */
            length = ((size_t)p[1] + 2) * 4;
            break;
        case 44: /* fragment; one that is first and last at once is a whole datagram */
            if (load_be16(p + 2) & 0xFFF9u)
                return CAPTURE_FRAME_FRAGMENT;
            length = 8;
            break;
        default:
            return CAPTURE_FRAME_OTHER;
        }
        if (length > left)
            return CAPTURE_FRAME_OTHER;
        next = p[0];
        p += length;
        left -= length;
    }
    return CAPTURE_FRAME_OTHER;
}

static enum capture_frame parse_ip(const uint8_t *p, size_t size, struct capture_udp *udp)
{
    if (size < 1)
        return CAPTURE_FRAME_OTHER;
    return p[0] >> 4 == 6 ? parse_ipv6(p, size, udp) : parse_ipv4(p, size, udp);
}

/* An EtherType and what follows it: customer and service tags in any number and mixture, then IP. */
static enum capture_frame parse_ether(unsigned type, const uint8_t *p, size_t size, struct capture_udp *udp)
{
    for (int i = 0; i <= MAX_TAGS; i++) {
        switch (type) {
        case ETHER_IPV4:
            return parse_ipv4(p, size, udp);
        case ETHER_IPV6:
            return parse_ipv6(p, size, udp);
        case 0x8100: /* 802.1Q */
        case 0x88A8: /* 802.1ad */
        case 0x9100: /* older stacked tags */
        case 0x9200:
            if (size < 4)
                return CAPTURE_FRAME_OTHER;
            type = load_be16(p + 2);
            p += 4;
            size -= 4;
            break;
        default:
            return CAPTURE_FRAME_OTHER;
        }
    }
    return CAPTURE_FRAME_OTHER;
}

/* Address families differ between systems; whoever wrote the frame, IPv4 is 2 and IPv6 one of these. */
static enum capture_frame parse_family(uint32_t family, const uint8_t *p, size_t size,
                                       struct capture_udp *udp)
{
    switch (family) {
    case 2:
        return parse_ipv4(p, size, udp);
    case 10:
    case 24:
    case 28:
    case 30:
        return parse_ipv6(p, size, udp);
    default:
        return CAPTURE_FRAME_OTHER;
    }
}

static enum capture_frame parse_loopback(const uint8_t *p, size_t size, struct capture_udp *udp)
{
    if (size < 4)
        return CAPTURE_FRAME_OTHER;
    /* The families are small numbers, so the order they are in shows. */
    uint32_t family = load_le32(p);
    if (family > 0xFFFFu)
        family = load_be32(p);
    return parse_family(family, p + 4, size - 4, udp);
}

enum capture_frame capture_frames_udp(uint16_t linktype, const uint8_t *data, size_t size,
                                      struct capture_udp *udp)
{
    switch (linktype) {
    case LINK_ETHERNET:
        return size < 14 ? CAPTURE_FRAME_OTHER : parse_ether(load_be16(data + 12), data + 14, size - 14, udp);
    case LINK_SLL:
        return size < 16 ? CAPTURE_FRAME_OTHER : parse_ether(load_be16(data + 14), data + 16, size - 16, udp);
    case LINK_SLL2:
        return size < 20 ? CAPTURE_FRAME_OTHER : parse_ether(load_be16(data), data + 20, size - 20, udp);
    case LINK_RAW:
    case LINK_RAW_BSD:
        return parse_ip(data, size, udp);
    case LINK_IPV4:
        return parse_ipv4(data, size, udp);
    case LINK_IPV6:
        return parse_ipv6(data, size, udp);
    case LINK_NULL:
    case LINK_LOOP:
        return parse_loopback(data, size, udp);
    default:
        return linktype >= LINK_USER_FIRST && linktype <= LINK_USER_LAST ? CAPTURE_FRAME_OTHER
                                                                         : CAPTURE_FRAME_UNKNOWN_LINK;
    }
}
