/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes as they might come out of /dev/tlogN. Checks what tlog_frame.h promises: a frame lies
 * inside the bytes, its text inside the frame, and a cut frame is asked for again, never refused.
 */
#include <string.h>

#include "fuzz_target.h"
#include "tlog/tlog_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        struct tlog_frame_view frame, again;
        size_t used = 0, same = 0;
        enum tlog_frame_status status = tlog_frame_decode(data + at, size - at, &frame, &used);
        if (status != TLOG_FRAME_OK) {
            FUZZ_CHECK(used == 0);
            FUZZ_CHECK(status != TLOG_FRAME_MORE || size - at < TLOG_FRAME_MOST);
            break;
        }
        FUZZ_CHECK(used >= TLOG_FRAME_HEADER && used <= size - at && used % 8 == 0 &&
                   used <= TLOG_FRAME_MOST);
        FUZZ_CHECK(frame.record.text == data + at + TLOG_FRAME_HEADER);
        FUZZ_CHECK(frame.record.text_size <= used - TLOG_FRAME_HEADER);
        FUZZ_CHECK(frame.host_ns >= 0);
        /* what follows changes nothing, and one byte less is not enough */
        FUZZ_CHECK(tlog_frame_decode(data + at, used, &again, &same) == TLOG_FRAME_OK && same == used);
        FUZZ_CHECK(again.record.sequence == frame.record.sequence && again.lost == frame.lost);
        FUZZ_CHECK(tlog_frame_decode(data + at, used - 1, &again, &same) == TLOG_FRAME_MORE);
        at += used;
    }
    return 0;
}
