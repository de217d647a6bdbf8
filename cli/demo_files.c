/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `corral demo --out`: made together or not at all, closed properly whatever ends the demo. */
#include "cli/demo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "export/export_sinks.h"
#include "session/capture_sink.h"

enum { FILE_CAPTURE, FILE_EVENTS, FILE_FOLDED, FILE_SPEEDSCOPE, FILE_TIMELINE };

static const char *const names[DEMO_FILES] = {"capture.pcapng", "events.jsonl", "profile.folded",
                                              "profile.speedscope.json", "timeline.json"};

struct demo_files {
    char path[DEMO_FILES][512];
    char dir[448];
    bool made_dir;
    bool made[DEMO_FILES];
    struct capture_writer *capture;
};

static int64_t wall_clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static enum corral_err make_dir(struct demo_files *f, const char *dir, struct diag *d)
{
    struct stat st;
    size_t length = strlen(dir);
    if (length == 0 || length >= sizeof(f->dir))
        return diag_set(d, CORRAL_ERR_USAGE, "--out: the name is empty or too long");
    memcpy(f->dir, dir, length + 1);
    if (mkdir(dir, 0777) == 0)
        f->made_dir = true;
    else if (errno != EEXIST)
        return diag_set(d, CORRAL_ERR_IO, "--out: cannot create '%s': %s", dir, strerror(errno));
    else if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return diag_set(d, CORRAL_ERR_IO, "--out: '%s' is not a directory", dir);
    for (size_t i = 0; i < DEMO_FILES; i++)
        snprintf(f->path[i], sizeof(f->path[i]), "%s/%s", dir, names[i]);
    return CORRAL_OK;
}

/* `made` first: a sink that is there has its file, whatever becomes of it on the bus. */
static enum corral_err attach(struct demo_files *f, int file, struct event_bus *bus, struct sink *sink,
                              struct diag *d)
{
    if (!sink)
        return d->code;
    f->made[file] = true;
    return cli_attach_sink(bus, sink, d);
}

enum corral_err demo_files_create(const char *dir, struct event_bus *bus, struct demo_files **files,
                                  struct diag *d)
{
    struct demo_files *f = *files = calloc(1, sizeof(*f));
    if (!f)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    enum corral_err err = make_dir(f, dir, d);
    if (err != CORRAL_OK)
        return err;
    f->capture = capture_writer_open(f->path[FILE_CAPTURE], wall_clock_ns(), d);
    if (!f->capture)
        return d->code;
    f->made[FILE_CAPTURE] = true;
    err = attach(f, FILE_CAPTURE, bus, capture_sink_new(f->capture, d), d);
    if (err == CORRAL_OK)
        err = attach(f, FILE_EVENTS, bus, export_jsonl_open(f->path[FILE_EVENTS], d), d);
    if (err == CORRAL_OK)
        err = attach(f, FILE_TIMELINE, bus, export_timeline_open(f->path[FILE_TIMELINE], d), d);
    return err;
}

struct capture_writer *demo_files_capture(struct demo_files *f)
{
    return f->capture;
}

enum corral_err demo_files_export(struct demo_files *f, struct session *s, struct diag *d)
{
    enum corral_err err = session_export_profile(s, "folded", f->path[FILE_FOLDED], d);
    if (err != CORRAL_OK)
        return err;
    f->made[FILE_FOLDED] = true;
    err = session_export_profile(s, "speedscope", f->path[FILE_SPEEDSCOPE], d);
    f->made[FILE_SPEEDSCOPE] = err == CORRAL_OK;
    return err;
}

enum corral_err demo_files_close(struct demo_files *f, bool keep, struct demo_result *r, struct diag *d)
{
    if (!f)
        return CORRAL_OK;
    enum corral_err err = capture_writer_close(f->capture, d);
    for (size_t i = 0; i < DEMO_FILES; i++) {
        if (f->made[i] && !keep)
            unlink(f->path[i]);
        if (f->made[i] && keep && r)
            memcpy(r->files[r->file_count++], f->path[i], sizeof(f->path[i]));
    }
    if (f->made_dir && !keep)
        rmdir(f->dir);
    free(f);
    return err;
}
