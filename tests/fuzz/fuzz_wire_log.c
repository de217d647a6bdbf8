/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the wire log's replay. The first byte says how many accesses are made and whether a good
 * header goes ahead of the rest; two bytes say what each access is; the rest is the file. Whatever it holds,
 * an access gets no more than it asked for, and a replay that has ended stays ended.
 */
#include <string.h>

#include "fuzz_target.h"
#include "link/link.h"
#include "link/replay.h"

#define HEADER   "corral-wire-log 1 mem+dap+wire+wide virtual 0 x\n"
#define MOST     15u
#define TEXT_MAX 65536u

static void one(struct link *link, const uint8_t *how, bool *ended)
{
    static const uint32_t counts[] = {1, 2, 256, 257, 600};
    enum link_op op = (enum link_op)(how[0] % 6);
    bool mem = op == LINK_MEM_READ || op == LINK_MEM_WRITE;
    uint32_t count = mem ? counts[how[1] % 5] : 1;
    uint8_t size = (uint8_t)(mem ? 1u << how[0] / 6 % 3 : 4u);
    size_t bytes = (size_t)count * size;
    uint8_t *data = calloc(1, bytes), *before = calloc(1, bytes); /* exactly: a sanitizer sees one more */
    struct diag d = DIAG_INIT;
    FUZZ_CHECK(data && before);
    struct link_access a = {.op = op,
                            .size = size,
                            .ap = how[0] / 18 % 2,
                            .address = mem ? 0x20000000u : (how[1] / 5 % 4) * 4u,
                            .count = count,
                            .data = data};
    bool write = op == LINK_MEM_WRITE || op == LINK_AP_WRITE || op == LINK_DP_WRITE;
    int64_t now = host_clock_now(link_clock(link));
    enum corral_err err;
    if (how[1] == 255) {
        err = link_drive_reset(link, how[0] & 1, &d);
        a.status = err;
    } else {
        if (how[1] == 254)
            link_set_deadline(link, 1000);
        err = link_execute(link, &a, 1, &d);
        link_set_deadline(link, LINK_NO_DEADLINE);
        FUZZ_CHECK(a.done <= a.count);
    }
    FUZZ_CHECK(host_clock_now(link_clock(link)) >= now);
    FUZZ_CHECK(err == CORRAL_OK || (d.code == err && d.message[0]));
    FUZZ_CHECK(!write || memcmp(data, before, bytes) == 0);
    if (*ended && err != CORRAL_ERR_TIMEOUT)
        FUZZ_CHECK(err == CORRAL_ERR_LINK_DOWN);
    *ended |= err == CORRAL_ERR_LINK_DOWN && strncmp(d.message, "wire log f:", 11) == 0;
    free(data);
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + sizeof(HEADER)];
    if (size < 1)
        return 0;
    size_t count = data[0] & MOST, at = 1 + 2 * count, used = 0;
    if (at > size || size - at > TEXT_MAX)
        return 0;
    if (data[0] & 0x80) {
        memcpy(text, HEADER, sizeof(HEADER) - 1);
        used = sizeof(HEADER) - 1;
    }
    memcpy(text + used, data + at, size - at);
    used += size - at;
    if (used == 0)
        return 0;
    FILE *file = fmemopen(text, used, "r");
    struct host_clock *clock = host_clock_new_virtual();
    struct diag d = DIAG_INIT;
    FUZZ_CHECK(file && clock);
    struct link *link = link_replay_open_file(file, "f", clock, &d);
    FUZZ_CHECK(link || (d.code == CORRAL_ERR_FORMAT && d.message[0]));
    bool ended = false;
    for (size_t i = 0; link && i < count; i++)
        one(link, data + 1 + 2 * i, &ended);
    link_close(link);
    host_clock_free(clock);
    return 0;
}
