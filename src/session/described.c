/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and programs of a description's cores (described.h). Cross-trigger sheet 5, 7. */
#include "session/described.h"

#include <string.h>

#include "session/sequences.h"

static bool is_taken(const uint16_t *ports, size_t count, uint16_t port)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i] == port)
            return true;
    return false;
}

bool described_ports(const struct pack_device *device, const char *const *pnames, size_t count,
                     uint16_t *ports)
{
    uint16_t next = 0;
    if (!device->server_count)
        return false;
    for (size_t i = 0; i < device->server_count; i++)
        next = device->servers[i].port > next ? device->servers[i].port : next;
    for (size_t core = 0; core < count; core++) {
        const char *pname = pnames[core];
        ports[core] = 0;
        for (size_t i = 0; pname && i < device->server_count && !ports[core]; i++)
            if (strcmp(device->servers[i].pname, pname) == 0 &&
                !is_taken(ports, core, device->servers[i].port))
                ports[core] = device->servers[i].port;
    }
    for (size_t core = 0; core < count; core++)
        if (!ports[core])
            ports[core] = next < UINT16_MAX ? ++next : 0;
    return true;
}

static bool has_symbols(const struct pack_output *output)
{
    return strcmp(output->type, "elf") == 0 && output->load != PACK_LOAD_IMAGE;
}

const char *described_program(const struct pack_device *device, const char *pname)
{
    const char *common = NULL;
    for (size_t i = 0; i < device->output_count; i++) {
        const struct pack_output *output = &device->outputs[i];
        if (!has_symbols(output))
            continue;
        if (output->pname[0] && strcmp(output->pname, pname) == 0)
            return output->path;
        if (!output->pname[0] && !common)
            common = output->path;
    }
    /* One that is for no named processor is the start processor's. */
    const struct pack_processor *start = sequences_start_processor(device);
    return common && start && strcmp(start->pname, pname) == 0 ? common : NULL;
}
