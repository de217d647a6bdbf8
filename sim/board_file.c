/* SPDX-License-Identifier: Apache-2.0 */
/* See board_file.h. The files are hostile: read whole with a bound here, checked by board_load_elf. */
#include "sim/board_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "sim/board_map.h"
#include "sim/identity.h"

#define IMAGE_MAX (64u << 20) /* no ELF file for 256 KiB of flash is larger */
#define STEP      (64u << 10)

static enum corral_err file_error(struct diag *d, const char *path, const char *why)
{
    char name[160];

    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", name, why);
    diag_object(d, "%s", name);
    return CORRAL_ERR_IO;
}

/* All of a file into *data (free it also on error); NULL, or why not. */
static const char *read_all(FILE *f, uint8_t **data, size_t *size)
{
    size_t room = 0;

    for (;;) {
        if (*size == room) {
            uint8_t *larger = NULL;
            room = room ? room * 2 : STEP;
            if (room > IMAGE_MAX)
                return "it is too large for an ELF image of this board";
            larger = realloc(*data, room);
            if (!larger)
                return "out of memory";
            *data = larger;
        }
        size_t n = fread(*data + *size, 1, room - *size, f);
        *size += n;
        if (n == 0)
            return ferror(f) ? strerror(errno) : NULL;
    }
}

static enum corral_err load_file(struct board *b, unsigned core, const char *path, struct diag *d)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0;
    enum corral_err err = CORRAL_OK;

    if (!f)
        return file_error(d, path, strerror(errno));
    const char *why = read_all(f, &data, &size);
    fclose(f);
    if (why) {
        err = file_error(d, path, why);
    } else if ((err = board_load_elf(b, core, data, size, d)) != CORRAL_OK) {
        char name[160];
        text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
        diag_prefix(d, "%s", name);
        diag_object(d, "%s", name);
    }
    free(data);
    return err;
}

static enum corral_err load_built_in(struct board *b, struct diag *d)
{
    enum corral_err err = CORRAL_OK;

    for (unsigned core = 0; core < BOARD_CORES && err == CORRAL_OK; core++) {
        size_t size = 0;
        const uint8_t *image = board_identity_image(board_get_config(b)->identity[core], core, &size);
        err = board_load_elf(b, core, image, size, d);
    }
    return err;
}

enum corral_err board_load_words(struct board *b, const char *words, struct diag *d)
{
    const char *comma = words ? strchr(words, ',') : NULL;

    if (!words)
        return load_built_in(b, d);
    if (*words == '\0' || comma == words || (comma && comma[1] == '\0'))
        return diag_set(d, CORRAL_ERR_USAGE, "an ELF file for core 0 is wanted, or one for each core");
    char *first = comma ? strndup(words, (size_t)(comma - words)) : strdup(words);
    if (!first)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = load_file(b, 0, first, d);
    free(first);
    if (err == CORRAL_OK && comma)
        err = load_file(b, 1, comma + 1, d);
    return err;
}

enum corral_err board_map_sram(const char *path, uint8_t **sram, struct diag *d)
{
    char name[160];
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    const char *why = NULL;

    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    if (fd < 0 || fstat(fd, &st) != 0)
        why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        why = "it is no regular file";
    else if (st.st_size != 0 && st.st_size != BOARD_SRAM_SIZE)
        why = "there is a file of another size, which stays as it is";
    else if (ftruncate(fd, BOARD_SRAM_SIZE) != 0)
        why = strerror(errno);
    void *map = why ? MAP_FAILED : mmap(NULL, BOARD_SRAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!why && map == MAP_FAILED)
        why = strerror(errno);
    if (fd >= 0)
        close(fd);
    if (why) {
        diag_set(d, CORRAL_ERR_IO, "the board's SRAM cannot be the file %s: %s", name, why);
        diag_object(d, "%s", name);
        return CORRAL_ERR_IO;
    }
    memset(map, 0, BOARD_SRAM_SIZE);
    *sram = map;
    return CORRAL_OK;
}

void board_unmap_sram(uint8_t *sram)
{
    if (sram)
        munmap(sram, BOARD_SRAM_SIZE);
}
