/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file whole or not at all (export_file.h). No format is known here, but for JSON's strings. */
#include "export/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define MAX_TRIES 100 /* temporary names of others that may be in the way */
#define NAME_KEPT 200 /* bytes of a name that may have 255, of which the temporary one has to be as well */

static enum corral_err fail(const struct export_file *f, const char *what, int error, struct diag *d)
{
    diag_set(d, CORRAL_ERR_IO, "%.200s: %s: %s", f->path, what, strerror(error));
    diag_object(d, "%.150s", f->path);
    return CORRAL_ERR_IO;
}

/* A new file beside the one that is meant; -1 with errno set. */
static int create_temporary(struct export_file *f)
{
    size_t room = strlen(f->path) + 48;
    const char *slash = strrchr(f->path, '/');
    const char *name = slash ? slash + 1 : f->path;
    int kept = (int)(name - f->path) + (int)strnlen(name, NAME_KEPT);
    f->temporary = malloc(room);
    if (!f->temporary)
        return -1;
    for (int i = 0; i < MAX_TRIES; i++) {
        snprintf(f->temporary, room, "%.*s.%ld-%d.part", kept, f->path, (long)getpid(), i);
        int fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

enum corral_err export_file_begin(struct export_file *f, const char *path, struct diag *d)
{
    struct stat st;
    *f = (struct export_file){.path = strdup(path)};
    if (!f->path)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory to write %.150s", path);
    bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    int fd = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_temporary(f);
    int error = errno;
    if (fd >= 0) {
        f->out = fdopen(fd, "w");
        error = errno;
        if (f->out)
            return CORRAL_OK;
        close(fd);
    } else {
        free(f->temporary); /* there is no such file, or it is somebody else's */
        f->temporary = NULL;
    }
    fail(f, "cannot be created", error, d);
    export_file_abandon(f);
    return CORRAL_ERR_IO;
}

enum corral_err export_file_end(struct export_file *f, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    errno = 0;
    bool failed = fflush(f->out) != 0 || ferror(f->out);
    int error = errno;
    if (fclose(f->out) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    f->out = NULL;
    if (failed)
        err = fail(f, "cannot be written", error ? error : EIO, d);
    else if (f->temporary && rename(f->temporary, f->path) != 0)
        err = fail(f, "cannot be put in place", errno, d);
    if (err == CORRAL_OK) {
        free(f->temporary);
        f->temporary = NULL;
    }
    export_file_abandon(f);
    return err;
}

void export_file_abandon(struct export_file *f)
{
    if (f->out)
        fclose(f->out);
    if (f->temporary)
        unlink(f->temporary);
    free(f->temporary);
    free(f->path);
    *f = (struct export_file){.out = NULL};
}

void export_file_json_string(FILE *out, const char *text)
{
    size_t left = strlen(text);
    putc('"', out);
    while (left > 0) {
        uint32_t code;
        size_t n = text_utf8_decode((const uint8_t *)text, left, &code);
        if (n == 0) {
            fprintf(out, "\\\\x%02x", (unsigned char)text[0]);
            n = 1;
        } else if (code < 0x20 || code == 0x7F) {
            fprintf(out, "\\u%04x", (unsigned)code);
        } else {
            if (code == '"' || code == '\\')
                putc('\\', out);
            fwrite(text, 1, n, out);
        }
        text += n;
        left -= n;
    }
    putc('"', out);
}
