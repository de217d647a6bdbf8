/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture reader's front: finds out which format a file has, hands out its packets, counts what was in
 * them. The formats are in capture_pcap.c and capture_blocks.c, the frames in capture_frames.c. Once a file
 * was found damaged it stays so: every later call says the same.
 */
#include "capture/capture_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "capture/capture_blocks.h"
#include "capture/capture_frames.h"
#include "capture/capture_input.h"
#include "capture/capture_pcap.h"
#include "capture/capture_writer.h"

struct capture_reader {
    struct capture_input in;
    struct capture_pcap pcap;
    struct capture_blocks blocks;
    struct capture_reader_stats stats;
    struct diag damage;
    bool is_blocks;
    bool damaged;
};

static bool is_pcap(const uint8_t *p)
{
    uint32_t le = load_le32(p);
    uint32_t be = load_be32(p);
    return le == CAPTURE_PCAP_MAGIC_US || be == CAPTURE_PCAP_MAGIC_US || le == CAPTURE_PCAP_MAGIC_NS ||
           be == CAPTURE_PCAP_MAGIC_NS;
}

bool capture_reader_probe(const uint8_t *data, size_t size)
{
    if (size < 4)
        return false;
    if (load_be32(data) == CAPTURE_BLOCK_SECTION)
        return size < 12 || load_be32(data + 8) == CAPTURE_BLOCK_ORDER ||
               load_le32(data + 8) == CAPTURE_BLOCK_ORDER;
    return is_pcap(data);
}

static bool read_head(struct capture_reader *r, struct diag *d)
{
    uint8_t first[4];
    size_t got = capture_input_read(&r->in, first, sizeof(first));
    if (ferror(r->in.file)) {
        diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be read: %s", r->in.path, strerror(errno));
        return false;
    }
    if (got == sizeof(first) && load_be32(first) == CAPTURE_BLOCK_SECTION) {
        r->is_blocks = true;
        return capture_blocks_open(&r->blocks, &r->in, d);
    }
    if (got == sizeof(first) && is_pcap(first))
        return capture_pcap_open(&r->pcap, &r->in, first, d);
    diag_set(d, CORRAL_ERR_CAPTURE, "%.200s: %s", r->in.path,
             got == 0 ? "an empty file, not a capture" : "neither a pcap nor a pcapng file");
    diag_object(d, "%.150s", r->in.path);
    return false;
}

struct capture_reader *capture_reader_open(const char *path, struct diag *d)
{
    FILE *file = fopen(path, "rbe");
    if (!file) {
        diag_set(d, CORRAL_ERR_IO, "%.200s: cannot be opened: %s", path, strerror(errno));
        diag_object(d, "%.150s", path);
        return NULL;
    }
    return capture_reader_open_stream(file, NULL, 0, path, d);
}

struct capture_reader *capture_reader_open_stream(FILE *file, const uint8_t *ahead, size_t ahead_size,
                                                  const char *name, struct diag *d)
{
    struct capture_reader *r = calloc(1, sizeof(*r));
    if (r) {
        r->in.path = strdup(name);
        r->in.buffer = malloc(CAPTURE_INPUT_BUFFER);
    }
    if (!r || !r->in.path || !r->in.buffer) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory for a capture reader");
        capture_reader_close(r);
        fclose(file);
        return NULL;
    }
    r->in.file = file;
    r->in.ahead = ahead;
    r->in.ahead_size = ahead_size;
    if (!read_head(r, d)) {
        capture_reader_close(r);
        return NULL;
    }
    return r;
}

void capture_reader_close(struct capture_reader *r)
{
    if (!r)
        return;
    if (r->in.file)
        fclose(r->in.file);
    capture_blocks_close(&r->blocks);
    free(r->in.buffer);
    free(r->in.path);
    free(r);
}

int capture_reader_next(struct capture_reader *r, struct capture_packet *packet, struct diag *d)
{
    int result = -1;
    if (!r->damaged) {
        result = r->is_blocks ? capture_blocks_next(&r->blocks, &r->in, packet, &r->damage)
                              : capture_pcap_next(&r->pcap, &r->in, packet, &r->damage);
        r->damaged = result < 0;
    }
    if (result < 0 && d)
        *d = r->damage;
    if (result > 0)
        r->stats.packets++;
    return result;
}

bool capture_reader_udp(struct capture_reader *r, const struct capture_packet *packet,
                        struct capture_udp *udp)
{
    *udp = (struct capture_udp){.data = NULL};
    enum capture_frame kind = capture_frames_udp(packet->linktype, packet->data, packet->size, udp);
    /* Fewer bytes than the wire had are no loss by themselves: a trailer may be what is missing. */
    if (udp->cut || (kind != CAPTURE_FRAME_UDP && packet->size < packet->original))
        r->stats.cut++;
    switch (kind) {
    case CAPTURE_FRAME_UDP:
        r->stats.udp++;
        return true;
    case CAPTURE_FRAME_FRAGMENT:
        r->stats.fragments++;
        return false;
    case CAPTURE_FRAME_UNKNOWN_LINK:
        r->stats.unknown_linktype++;
        return false;
    case CAPTURE_FRAME_OTHER:
        break;
    }
    r->stats.other++;
    return false;
}

const char *capture_reader_profile(const struct capture_packet *packet)
{
    size_t length = strlen(CAPTURE_PROFILE_NAME);

    /* Others use the link type for what they like: the name must be ours, too. */
    if (packet->linktype != CAPTURE_LINKTYPE_PROFILE || packet->size < packet->original ||
        strncmp(packet->interface, CAPTURE_PROFILE_NAME, length) != 0 || !packet->interface[length])
        return NULL;
    return packet->interface + length;
}

void capture_reader_get_stats(const struct capture_reader *r, struct capture_reader_stats *stats)
{
    *stats = r->stats;
}
