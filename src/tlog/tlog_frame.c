/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of /dev/tlogN (tlog_frame.h). */
#include "tlog/tlog_frame.h"

#include <string.h>

enum { FLAG_TORN = 1, FLAG_GAP = 2, FLAG_RESTART = 4 };

static uint32_t word_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static uint64_t long_at(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

enum tlog_frame_status tlog_frame_decode(const uint8_t *data, size_t size, struct tlog_frame_view *frame,
                                         size_t *used)
{
    uint16_t text_size;
    if (size < TLOG_FRAME_HEADER)
        return TLOG_FRAME_MORE;
    uint32_t length = word_at(data);
    memcpy(&text_size, data + 4, sizeof(text_size));
    if (length < TLOG_FRAME_HEADER || length > TLOG_FRAME_MOST || length % 8 != 0 ||
        text_size > length - TLOG_FRAME_HEADER)
        return TLOG_FRAME_BAD;
    if (length > size)
        return TLOG_FRAME_MORE;
    uint32_t flags = word_at(data + 28);
    uint64_t host_ns = long_at(data + 16);
    *frame = (struct tlog_frame_view){
        .record = {.level = data[6],
                   .source = data[7],
                   .torn = flags & FLAG_TORN,
                   .timestamp = word_at(data + 12),
                   .sequence = word_at(data + 8),
                   .text = data + TLOG_FRAME_HEADER,
                   .text_size = text_size},
        .host_ns = host_ns > INT64_MAX ? INT64_MAX : (int64_t)host_ns,
        .gap = flags & FLAG_GAP,
        .restart = flags & FLAG_RESTART,
        .missing = word_at(data + 24),
        .lost = long_at(data + 32),
    };
    *used = length;
    return TLOG_FRAME_OK;
}
