/* SPDX-License-Identifier: Apache-2.0 */
/* Memory through a gdb stub's m, M and X packets. Cross-trigger sheet 10.1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "link/link_gdb_target.h"

#define CHUNK_MAX (16u << 10)
#define OVERHEAD  40u /* of an M packet, beside its data */

static enum corral_err read_chunk(struct link_gdb *g, uint64_t address, uint8_t *out, size_t size,
                                  struct diag *d)
{
    char packet[48], what[64];
    const char *answer;
    snprintf(packet, sizeof(packet), "m%" PRIx64 ",%zx", address, size);
    snprintf(what, sizeof(what), "read %zu bytes at 0x%08" PRIx64, size, address);
    enum corral_err err = link_gdb_ask(g, packet, &answer, d);
    if (err)
        return err;
    if (rsp_reply_hex(answer, out, size))
        return CORRAL_OK;
    err = link_gdb_refusal(g, answer, what, d);
    if (!err && strlen(answer) < 2 * size) /* a part of it only: the rest is not there */
        err = diag_set(d, CORRAL_ERR_LINK_FAULT, "the gdb stub failed to %s", what);
    return err ? err : link_gdb_nonsense(g, "memory", d);
}

/* X where the stub has it: raw bytes, which the frame escapes; else M with hex digits. Both have room. */
static enum corral_err write_chunk(struct link_gdb *g, uint64_t address, const uint8_t *in, size_t size,
                                   struct diag *d)
{
    static const char digits[] = "0123456789abcdef";
    char what[64];
    const char *answer;
    char *packet = malloc(OVERHEAD + 2 * size);
    if (!packet)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    size_t n = (size_t)snprintf(packet, OVERHEAD, "%c%" PRIx64 ",%zx:", g->binary ? 'X' : 'M', address, size);
    for (size_t i = 0; i < size; i++) {
        if (g->binary) {
            packet[n++] = (char)in[i];
        } else {
            packet[n++] = digits[in[i] >> 4];
            packet[n++] = digits[in[i] & 0xF];
        }
    }
    snprintf(what, sizeof(what), "write %zu bytes at 0x%08" PRIx64, size, address);
    enum corral_err err = rsp_ask(g->rpc, packet, n, &answer, d);
    free(packet);
    if (!err && strcmp(answer, "OK") != 0) {
        err = link_gdb_refusal(g, answer, what, d);
        err = err ? err : link_gdb_nonsense(g, what, d);
    }
    return err;
}

/* Bytes of one packet, whole elements of `size`. */
static size_t chunk_bytes(const struct link_gdb *g, const struct link_access *a, uint32_t left)
{
    size_t most = (rsp_room(g->rpc) - OVERHEAD) / 2;
    if (most > CHUNK_MAX)
        most = CHUNK_MAX;
    size_t elements = most / a->size;
    return (elements < left ? elements : left) * a->size;
}

static uint32_t host_element(const uint8_t *p, unsigned size)
{
    uint32_t word;
    uint16_t half;
    if (size == 1)
        return *p;
    if (size == 2) {
        memcpy(&half, p, sizeof(half));
        return half;
    }
    memcpy(&word, p, sizeof(word));
    return word;
}

static void set_host_element(uint8_t *p, unsigned size, uint32_t value)
{
    uint16_t half = (uint16_t)value;
    if (size == 1)
        *p = (uint8_t)value;
    else if (size == 2)
        memcpy(p, &half, sizeof(half));
    else
        memcpy(p, &value, sizeof(value));
}

enum corral_err link_gdb_access_memory(struct link_gdb *g, struct link_access *a, struct diag *d)
{
    uint8_t *bytes = malloc(CHUNK_MAX);
    if (!bytes)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = link_gdb_require_stopped(g, d);
    if (!err)
        err = link_gdb_select_core(g, a->ap, d);
    while (!err && a->done < a->count) {
        size_t n = chunk_bytes(g, a, a->count - a->done);
        uint64_t address = a->address + (uint64_t)a->done * a->size;
        uint8_t *host = (uint8_t *)a->data + (size_t)a->done * a->size;
        for (size_t i = 0; a->op == LINK_MEM_WRITE && i < n; i += a->size)
            store_le(bytes + i, a->size, host_element(host + i, a->size));
        err = a->op == LINK_MEM_WRITE ? write_chunk(g, address, bytes, n, d)
                                      : read_chunk(g, address, bytes, n, d);
        for (size_t i = 0; !err && a->op == LINK_MEM_READ && i < n; i += a->size)
            set_host_element(host + i, a->size, load_le(bytes + i, a->size));
        if (!err)
            a->done += (uint32_t)(n / a->size);
    }
    free(bytes);
    return err;
}
