/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See openocd_flash.h. OpenOCD finds a bank by the current target and the address, so the bank's own target
 * is made the current one for each command, and the one before it afterwards.
 *
 * What OpenOCD says is hostile: numbers are checked, texts are escaped before anybody sees them.
 */
#include "link/openocd_flash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define PATH_ROOM   256
#define FLASH_MS    120000 /* a large sector of a slow chip over a slow probe */
#define SECTORS_MAX 8192u

const char openocd_flash_list[] =
    "; set corral_n 0; catch { foreach corral_b [flash list] { "
    "catch {append corral_r \"=$corral_n [dict get $corral_b base] [dict get $corral_b size] "
    "[dict get $corral_b target];\"}; incr corral_n } }";

/* A number of OpenOCD's; false where it is none, or above `limit`. */
static bool number(const char *text, uint64_t limit, uint64_t *value)
{
    char *end = NULL;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    *value = v;
    return errno == 0 && *end == '\0' && v <= limit;
}

bool openocd_flash_take(struct openocd_flash *f, char *line)
{
    char *save = NULL, *word[4];
    uint64_t bank = 0, base = 0, size = 0;
    line += strspn(line, " \r\n");
    if (*line != '=')
        return false;
    word[0] = strtok_r(line + 1, " \r\n", &save);
    for (size_t i = 1; i < 4; i++)
        word[i] = word[i - 1] ? strtok_r(NULL, " \r\n", &save) : NULL;
    if (f->count == OPENOCD_BANKS_MAX || !word[3] || strlen(word[3]) >= OPENOCD_NAME_ROOM ||
        !number(word[0], UINT16_MAX, &bank) || !number(word[1], UINT32_MAX, &base) ||
        !number(word[2], (uint64_t)UINT32_MAX + 1, &size))
        return true;
    struct openocd_bank *b = &f->bank[f->count++];
    *b = (struct openocd_bank){.base = base, .size = size, .number = (uint32_t)bank};
    snprintf(b->target, sizeof(b->target), "%s", word[3]);
    return true;
}

static enum corral_err refused(const struct openocd_rpc *rpc, const char *error, const char *what,
                               uint64_t address, size_t size, struct diag *d)
{
    char said[140];
    text_escape((const uint8_t *)error, strlen(error), said, sizeof(said));
    return diag_set(d, CORRAL_ERR_LINK_FAULT,
                    "OpenOCD (%s) does not %s %zu bytes of flash at address 0x%08" PRIx64 ": %s",
                    openocd_rpc_name(rpc), what, size, address, said);
}

static const struct openocd_bank *find(const struct openocd_flash *f, uint32_t ap, uint64_t address,
                                       size_t size)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct openocd_bank *b = &f->bank[i];
        /* A bank that OpenOCD has not looked at yet may have size 0: it is to say itself what fits. */
        bool inside = address >= b->base && address - b->base < (b->size ? b->size : UINT32_MAX);
        if (b->ap == ap && inside && (!b->size || size <= b->size - (address - b->base)))
            return b;
    }
    return NULL;
}

/* A file of ours with these bytes; its name is plain in Tcl's braces. */
static enum corral_err put_aside(const uint8_t *data, size_t size, char *path, struct diag *d)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || folder[0] != '/' || strlen(folder) > PATH_ROOM - 32 || strpbrk(folder, "{}\\\"$[]\n"))
        folder = "/tmp";
    snprintf(path, PATH_ROOM, "%s/corral-flash-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0)
        return diag_set(d, CORRAL_ERR_IO, "a file for OpenOCD cannot be made in %s: %s", folder,
                        strerror(errno));
    bool good = true;
    for (size_t at = 0; at < size && good;) {
        ssize_t n = write(fd, data + at, size - at);
        if (n > 0)
            at += (size_t)n;
        else
            good = n < 0 && errno == EINTR;
    }
    int why = errno;
    if (close(fd) == 0 && good)
        return CORRAL_OK;
    unlink(path);
    return diag_set(d, CORRAL_ERR_IO, "a file for OpenOCD cannot be written in %s: %s", folder,
                    strerror(why));
}

enum corral_err openocd_flash_do(const struct openocd_flash *f, struct openocd_rpc *rpc,
                                 enum link_flash_op op, uint32_t ap, uint64_t address, const uint8_t *data,
                                 size_t size, struct diag *d)
{
    char script[PATH_ROOM + OPENOCD_NAME_ROOM + 400], command[PATH_ROOM + 100], path[PATH_ROOM];
    const char *result = NULL, *error = NULL;
    if (op == LINK_FLASH_DONE || size == 0)
        return CORRAL_OK; /* each command is complete by itself */
    const struct openocd_bank *b = find(f, ap, address, size);
    if (!b)
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "OpenOCD (%s) has no flash bank for %zu bytes at address 0x%08" PRIx64
                        " of access port %" PRIu32,
                        openocd_rpc_name(rpc), size, address, ap);
    enum corral_err err = CORRAL_OK;
    if (op == LINK_FLASH_WRITE)
        err = put_aside(data, size, path, d);
    if (err)
        return err;
    if (op == LINK_FLASH_WRITE)
        snprintf(command, sizeof(command), "flash write_image {%s} 0x%" PRIx64 " bin", path, address);
    else
        snprintf(command, sizeof(command), "flash erase_address 0x%" PRIx64 " %zu", address, size);
    /* arp_poll: OpenOCD is to know that its target was halted by somebody else. */
    snprintf(script, sizeof(script),
             "set corral_t [target current]; targets %s; catch {%s arp_poll}; "
             "set corral_c [catch {%s} corral_x]; targets $corral_t; if {$corral_c} { error $corral_x }",
             b->target, b->target, command);
    openocd_rpc_set_patience(rpc, FLASH_MS);
    err = openocd_rpc_run(rpc, script, &result, &error, d);
    openocd_rpc_set_patience(rpc, 0);
    if (op == LINK_FLASH_WRITE)
        unlink(path);
    if (!err && error)
        err = refused(rpc, error, op == LINK_FLASH_WRITE ? "write" : "erase", address, size, d);
    return err;
}

/* "#  1: 0x00000400 (0x400 1kB) ..."; false for any other line. */
static bool take_sector(const char *line, uint64_t *offset, uint64_t *size)
{
    char *end = NULL;
    line += strspn(line, " \t\r");
    if (*line++ != '#')
        return false;
    line += strspn(line, " 0123456789");
    if (strncmp(line, ": 0x", 4) != 0)
        return false;
    *offset = strtoull(line + 2, &end, 16);
    if (strncmp(end, " (0x", 4) != 0)
        return false;
    *size = strtoull(end + 2, &end, 16);
    return *end == ' ' && *offset <= UINT32_MAX && *size > 0 && *size <= UINT32_MAX;
}

/* Neighbours of one size are one region. */
static size_t take_sectors(const struct openocd_bank *b, char *text, struct link_flash_region *list,
                           size_t room)
{
    size_t n = 0;
    unsigned sectors = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line && sectors < SECTORS_MAX;
         line = strtok_r(NULL, "\n", &save)) {
        uint64_t offset = 0, size = 0;
        if (!take_sector(line, &offset, &size) || b->base + offset + size > (uint64_t)UINT32_MAX + 1)
            continue;
        sectors++;
        struct link_flash_region *last = n ? &list[n - 1] : NULL;
        if (last && last->block == size && last->start + last->size == b->base + offset)
            last->size += size;
        else if (last && b->base + offset < last->start + last->size)
            return 0; /* no order in it: nothing of it is to be believed */
        else if (n == room)
            break;
        else
            list[n++] = (struct link_flash_region){
                .start = b->base + offset, .size = size, .block = (uint32_t)size, .ap = b->ap};
    }
    return n;
}

size_t openocd_flash_regions(const struct openocd_flash *f, struct openocd_rpc *rpc,
                             struct link_flash_region *list, size_t room, struct diag *d)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count && n < room; i++) {
        const struct openocd_bank *b = &f->bank[i];
        char script[80];
        const char *result = NULL, *error = NULL;
        snprintf(script, sizeof(script), "append corral_r [flash info %" PRIu32 "]", b->number);
        if (openocd_rpc_run(rpc, script, &result, &error, d))
            break;
        if (error) {
            refused(rpc, error, "tell the sectors of", b->base, (size_t)b->size, d);
            continue;
        }
        char *text = strdup(result);
        if (text)
            n += take_sectors(b, text, list + n, room - n);
        free(text);
    }
    return n;
}
