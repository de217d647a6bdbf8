/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's half of the control channel (profile_daemon.h). Commands are matched by how they begin, as the
 * original does. It must not answer what the original does not.
 */
#include "sim/profile_daemon.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/board_map.h"

#define MAX_PID    32767
#define PAGE_SHIFT 12
#define PAGE       (1u << PAGE_SHIFT)

static void answer(struct profile_daemon *p, const char *text)
{
    p->answer(p->ctx, text, strlen(text));
}

/* Without an MMU the map is two parts with a "done" each: what is mapped, then the modules. */
static void answer_map(struct profile_daemon *p)
{
    char text[256];

    snprintf(text, sizeof(text),
             "PID:0 Unknown version\n"
             "%08x-%08x r-xp 00000000 00:00 0 flash\n"
             "%08x-%08x rwxp 00000000 00:00 0 sram\n"
             "done\n"
             "done - no modules\n",
             BOARD_FLASH_BASE, BOARD_FLASH_BASE + BOARD_FLASH_SIZE, BOARD_SRAM_BASE,
             BOARD_SRAM_BASE + BOARD_SRAM_SIZE);
    answer(p, text);
}

static void answer_pid(struct profile_daemon *p, const char *words)
{
    char text[64];
    char *end;
    long pid = strtol(words, &end, 10);

    if (pid > MAX_PID || pid < 0) { /* as the original: it drops the connection */
        p->closing = true;
        return;
    }
    snprintf(text, sizeof(text), "PID:%ld\ndone - no %ld process\n", pid, pid);
    answer(p, text);
}

static uint8_t *put_be16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

/* The board's memory as a version 17 maps packet: 5 bits of type, 11 of size. */
static void push_maps(struct profile_daemon *p)
{
    static const struct {
        uint32_t type, address, size;
    } regions[] = {
        {16, 0, BOARD_FLASH_SIZE},
        {18, BOARD_SRAM_CORE0 - BOARD_SRAM_BASE + BOARD_FLASH_SIZE, BOARD_SRAM_EACH},
        {18, BOARD_SRAM_CORE1 - BOARD_SRAM_BASE + BOARD_FLASH_SIZE, BOARD_SRAM_EACH},
        {19, BOARD_SRAM_SHARED - BOARD_SRAM_BASE + BOARD_FLASH_SIZE, BOARD_SRAM_SHARED_SIZE},
    };
    uint8_t packet[8 + 4 * sizeof(regions) / sizeof(regions[0])];
    uint8_t *at = put_be16(packet, 0xAEA0);

    at = put_be16(at, sizeof(regions) / sizeof(regions[0]));
    at = put_be16(at, 0);
    at = put_be16(at, PAGE_SHIFT);
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        at = put_be16(at, regions[i].address / PAGE);
        at = put_be16(at, regions[i].type << 11 | regions[i].size / PAGE);
    }
    p->maps(p->ctx, packet, (size_t)(at - packet));
}

static void take_address(struct profile_daemon *p, const char *words)
{
    p->address_known = inet_pton(AF_INET, words, p->address) == 1 || p->address_known;
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static void take_line(struct profile_daemon *p)
{
    const char *line = p->line;

    p->commands++;
    if (begins(line, "map"))
        answer_map(p);
    else if (begins(line, "pid "))
        answer_pid(p, line + 4);
    else if (begins(line, "vma") && p->address_known)
        push_maps(p);
    else if (begins(line, "ip "))
        take_address(p, line + 3);
    else if (begins(line, "start"))
        p->started = true;
    else if (begins(line, "stop"))
        p->started = false;
    else if (begins(line, "close"))
        p->closing = true;
    else
        p->unknown += !begins(line, "vma");
}

void profile_daemon_begin(struct profile_daemon *p)
{
    p->started = p->address_known = p->closing = p->dropping = false;
    p->used = 0;
}

void profile_daemon_feed(struct profile_daemon *p, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && !p->closing; i++) {
        if (data[i] != '\n') {
            if (p->used < PROFILE_DAEMON_LINE)
                p->line[p->used++] = (char)data[i];
            else
                p->dropping = true;
            continue;
        }
        if (p->used && p->line[p->used - 1] == '\r')
            p->used--;
        p->line[p->used] = '\0';
        if (!p->dropping && p->used)
            take_line(p);
        p->used = 0;
        p->dropping = false;
    }
}
