/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the .pack reader: any bytes as an archive, from which the description and two files are
 * asked for. What is refused is told in words that can be shown; what is taken is within its bounds.
 */
#include <string.h>

#include "fuzz_target.h"
#include "pack/pack_internal.h"

static void check_printable(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK(((unsigned char)text[i] >= 0x20 || text[i] == '\t') && text[i] != 0x7f);
}

static void check_refusal(const struct diag *d)
{
    FUZZ_CHECK(d->code == CORRAL_ERR_FORMAT || d->code == CORRAL_ERR_LIMIT || d->code == CORRAL_ERR_IO ||
               d->code == CORRAL_ERR_NO_MEMORY || d->code == CORRAL_ERR_UNSUPPORTED);
    check_printable(d->message, sizeof(d->message));
    check_printable(d->object, sizeof(d->object));
}

static void try_read(const struct pack_file *file, const char *name)
{
    struct diag d = DIAG_INIT;
    char *bytes = NULL, *path = NULL;
    size_t size = 0;
    if (pack_read_named(file, name, 5000, &bytes, &size, &path, &d) == CORRAL_OK) {
        FUZZ_CHECK(bytes && path && size <= 5000 && bytes[size] == '\0');
    } else {
        FUZZ_CHECK(!bytes && !path);
        check_refusal(&d);
    }
    free(bytes);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    struct pack_file *file = pack_parse(PACK_ARCHIVE, "dir/a.pack", (const char *)data, size, NULL, NULL, &d);
    if (file) {
        FUZZ_CHECK(file->size <= PACK_MAX_BYTES && file->bytes[file->size] == '\0');
        FUZZ_CHECK(strncmp(file->name, "dir/a.pack/", 11) == 0);
        check_printable(file->name, strlen(file->name) + 1);
        try_read(file, "Debug/a.sdf");
        try_read(file, "a.dbgconf");
    } else {
        check_refusal(&d);
        FUZZ_CHECK(d.code == CORRAL_ERR_NO_MEMORY || strncmp(d.message, "dir/a.pack", 10) == 0);
    }
    pack_close(file);
    return 0;
}
