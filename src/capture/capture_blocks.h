/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pcapng file (draft-ietf-opsawg-pcapng): sections, interfaces with a link type each, packet blocks.
 * Private to src/capture.
 */
#ifndef CORRAL_CAPTURE_CAPTURE_BLOCKS_H
#define CORRAL_CAPTURE_CAPTURE_BLOCKS_H

#include "capture/capture_input.h"

#define CAPTURE_BLOCK_SECTION 0x0A0D0D0Au
#define CAPTURE_BLOCK_ORDER   0x1A2B3C4Du

/* More than any real capture describes in one section. */
#define CAPTURE_BLOCKS_MAX_INTERFACES 4096u

#define CAPTURE_BLOCKS_NAME 96

struct capture_interface {
    uint16_t linktype;
    uint8_t resolution; /* if_tsresol as written: bit 7 set = a power of two */
    uint32_t snap_length;
    int64_t offset_s;               /* if_tsoffset */
    char name[CAPTURE_BLOCKS_NAME]; /* if_name, cut to fit */
};

struct capture_blocks {
    struct capture_interface *interfaces; /* of the current section */
    uint32_t count;
    uint32_t room;
    uint32_t base; /* interfaces of the sections before, so that numbers are unique in the file */
};

/* The block type of the first section header has been read. False with *d set. */
bool capture_blocks_open(struct capture_blocks *b, struct capture_input *in, struct diag *d);
void capture_blocks_close(struct capture_blocks *b);
/* As capture_reader_next. */
int capture_blocks_next(struct capture_blocks *b, struct capture_input *in, struct capture_packet *packet,
                        struct diag *d);

#endif
