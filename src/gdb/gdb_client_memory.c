/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for gdb: read and written through the core's access port, whether it runs or not. A read that comes
 * to a place without memory gives what lies before it. Flash is written where the link can, else refused with
 * a sentence (cross-trigger sheet 10.1; issue "load").
 */
#include <inttypes.h>
#include <string.h>

#include "gdb/gdb_parts.h"

static struct core *core_of(const struct gdb_client *c)
{
    return c->hub->cores[c->registers_of].core;
}

static bool in_range(const struct gdb_request *r)
{
    return r->memory.address <= UINT32_MAX &&
           r->memory.length <= (uint64_t)UINT32_MAX + 1 - r->memory.address;
}

/* How much of `size` bytes can be read, from the first on. */
static size_t read_some(const struct gdb_client *c, uint64_t address, uint8_t *out, size_t size,
                        struct diag *d)
{
    struct core *core = core_of(c);
    size_t have = 0;
    if (core_read_memory(core, address, out, size, d) == CORRAL_OK)
        return size;
    /* Where it ends: at a boundary of memory, so halves, not bytes, are tried. */
    for (size_t step = size / 2; step > 0 && have < size; step /= 2)
        while (have + step <= size &&
               core_read_memory(core, address + have, out + have, step, NULL) == CORRAL_OK) {
            have += step;
            if (have + step > size)
                break;
        }
    return have;
}

void gdb_memory_read(struct gdb_client *client, const struct gdb_request *r)
{
    struct gdb_payload reply;
    struct diag d = DIAG_INIT;
    size_t size =
        r->memory.length < sizeof(client->hub->bytes) ? (size_t)r->memory.length : sizeof(client->hub->bytes);
    gdb_payload_start(&reply, client->hub->payload, GDB_PACKET_MAX);
    if (!in_range(r)) {
        client->send(client->ctx, "E01", 3, GDB_SEND_REPLY);
        return;
    }
    size_t have = size ? read_some(client, r->memory.address, client->hub->bytes, size, &d) : 0;
    if (size && !have) {
        client->send(client->ctx, "E01", 3, GDB_SEND_REPLY);
        return;
    }
    gdb_payload_hex(&reply, client->hub->bytes, have);
    gdb_client_reply(client, &reply, GDB_SEND_REPLY);
}

void gdb_memory_write(struct gdb_client *client, const struct gdb_request *r)
{
    struct diag d = DIAG_INIT;
    if (!in_range(r)) {
        gdb_client_error(client, "the address lies above 4 GiB");
        return;
    }
    if (r->data_size &&
        core_write_memory(core_of(client), r->memory.address, r->data, r->data_size, &d) != CORRAL_OK) {
        gdb_client_error(client, d.message);
        return;
    }
    gdb_client_ok(client);
}

/* The sum that gdb's compare-sections wants: polynomial 0x04C11DB7, most significant bit first. */
static uint32_t crc_add(uint32_t crc, uint8_t byte)
{
    crc ^= (uint32_t)byte << 24;
    for (int bit = 0; bit < 8; bit++)
        crc = crc & 0x80000000u ? crc << 1 ^ 0x04C11DB7u : crc << 1;
    return crc;
}

#define CRC_MAX (16u << 20) /* bytes of one request: it holds everybody else up */

void gdb_memory_crc(struct gdb_client *client, const struct gdb_request *r)
{
    struct gdb_payload reply;
    struct diag d = DIAG_INIT;
    uint32_t crc = UINT32_MAX;
    if (!in_range(r) || r->memory.length > CRC_MAX) {
        gdb_client_error(client, "that is too much at a time");
        return;
    }
    for (uint64_t done = 0; done < r->memory.length;) {
        size_t n = r->memory.length - done < sizeof(client->hub->bytes) ? (size_t)(r->memory.length - done)
                                                                        : sizeof(client->hub->bytes);
        if (core_read_memory(core_of(client), r->memory.address + done, client->hub->bytes, n, &d)) {
            gdb_client_error(client, d.message);
            return;
        }
        for (size_t i = 0; i < n; i++)
            crc = crc_add(crc, client->hub->bytes[i]);
        done += n;
    }
    gdb_payload_start(&reply, client->hub->payload, GDB_PACKET_MAX);
    gdb_payload_format(&reply, "C%08" PRIx32, crc);
    gdb_client_reply(client, &reply, GDB_SEND_REPLY);
}

void gdb_flash_request(struct gdb_client *client, const struct gdb_request *r)
{
    struct gdb_hub *hub = client->hub;
    const struct gdb_flash *f = &hub->options.flash;
    size_t core = client->registers_of;
    struct gdb_domain *domain = gdb_domain_of(hub, core);
    struct diag d = DIAG_INIT;
    enum corral_err err = CORRAL_OK;
    if (!f->erase || !f->write || !f->done) {
        gdb_client_error(client, "this link cannot write flash; load into RAM, or use the maker's tool");
        return;
    }
    if (domain->running) /* D22: nobody runs while the flash changes under it */
        err = gdb_hub_halt(hub, core, &d);
    if (!err)
        err = group_disarm(domain->group, hub->cores[core].member, &d);
    if (!err && r->kind == GDB_FLASH_ERASE)
        err = f->erase(f->ctx, core, r->memory.address, r->memory.length, &d);
    else if (!err && r->kind == GDB_FLASH_WRITE)
        err = f->write(f->ctx, core, r->memory.address, r->data, r->data_size, &d);
    else if (!err)
        err = f->done(f->ctx, core, &d);
    enum corral_err armed = group_arm(domain->group, hub->cores[core].member, err ? NULL : &d);
    if (err || armed)
        gdb_client_error(client, d.message);
    else
        gdb_client_ok(client);
}
