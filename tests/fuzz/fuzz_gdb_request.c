/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: gdb's side of a connection, through the frame machine and the request parser. The first byte
 * says how the stream is cut; what comes out may not depend on it. Whatever a request points at lies in its
 * packet.
 */
#include <string.h>

#include "fuzz_target.h"

#include "gdb/frame.h"
#include "gdb/request.h"

static void check_text(const struct gdb_frame *f, const char *text)
{
    FUZZ_CHECK(text >= f->payload && text <= f->payload + f->size);
    FUZZ_CHECK(memchr(text, '\0', (size_t)(f->payload + f->size + 1 - text)));
}

static void check_request(struct gdb_frame *f)
{
    struct gdb_request r;
    gdb_request_parse(&r, f->payload, f->size);
    FUZZ_CHECK(r.kind != GDB_MALFORMED || r.fault);
    if (r.kind == GDB_RESUME)
        FUZZ_CHECK(r.actions.count >= 1 && r.actions.count <= GDB_ACTIONS_MAX);
    if (r.kind == GDB_WRITE_MEMORY)
        FUZZ_CHECK(r.data_size == r.memory.length);
    if (r.kind == GDB_XFER_READ) {
        check_text(f, r.xfer.object);
        check_text(f, r.xfer.annex);
    }
    if (r.kind == GDB_COMMAND)
        check_text(f, r.text);
    if (r.data)
        FUZZ_CHECK((const char *)r.data >= f->payload &&
                   (const char *)r.data + r.data_size <= f->payload + f->size);
}

/* A number over all items, in order. */
static uint64_t feed(struct gdb_frame *f, const uint8_t *data, size_t size, size_t piece, bool parse)
{
    uint64_t all = 0;
    gdb_frame_start(f);
    while (size) {
        size_t give = size < piece ? size : piece, used = 0;
        enum gdb_item item = gdb_frame_take(f, data, give, &used);
        FUZZ_CHECK(used > 0 && used <= give);
        FUZZ_CHECK(f->size <= GDB_PACKET_MAX);
        if (item != GDB_ITEM_NONE)
            all = all * 31 + (uint64_t)item;
        if (item == GDB_ITEM_PACKET) {
            for (size_t i = 0; i < f->size; i++)
                all = all * 31 + (uint8_t)f->payload[i];
            if (parse)
                check_request(f);
        }
        data += used;
        size -= used;
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gdb_frame f; /* too large for the stack */
    if (size < 1)
        return 0;
    size_t piece = (size_t)(data[0] % 16) + 1;
    uint64_t whole = feed(&f, data + 1, size - 1, size, false);
    FUZZ_CHECK(feed(&f, data + 1, size - 1, piece, true) == whole);
    /* What is said is heard. */
    uint8_t wire[2048];
    size_t n = size <= 1000 ? gdb_frame_put(wire, sizeof(wire), (const char *)data, size) : 0;
    if (n) {
        size_t used = 0;
        gdb_frame_start(&f);
        FUZZ_CHECK(gdb_frame_take(&f, wire, n, &used) == GDB_ITEM_PACKET && used == n);
        FUZZ_CHECK(f.size == size && memcmp(f.payload, data, size) == 0);
    }
    return 0;
}
