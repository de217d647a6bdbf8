/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler's control channel (profiler sheet 6): TCP 51081 of the target, text lines. A client that asks
 * a target to start and where to send, and that hands over the memory maps it answers with. Hostile input:
 * lines are bounded (a longer one is dropped to its end, and counted), numbers checked, every wait bounded.
 *
 * prof_control_text_* is the pure half: bytes to lines to map entries, no sockets.
 */
#ifndef CORRAL_PROF_CONTROL_H
#define CORRAL_PROF_CONTROL_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_CONTROL_PORT     51081
#define PROF_CONTROL_LINE_MAX 1024 /* bytes, without the LF */
#define PROF_CONTROL_MAX_MAPS 5000 /* of one process */

struct prof_control_map {
    uint64_t start, end, file_offset;
    char permissions[5];
    const char *path; /* "" = anonymous. Borrowed */
};
struct prof_control_module { /* PID 0: a kernel module */
    const char *name;
    uint64_t address, size;
};

/* What a text block says, in order. All pointers are borrowed for the call. */
struct prof_control_sink {
    void *ctx;
    void (*begin)(void *ctx, uint32_t pid, const char *version); /* version: PID 0's words, else NULL */
    void (*command)(void *ctx, uint32_t pid, const char *command_line);
    void (*map)(void *ctx, uint32_t pid, const struct prof_control_map *map);
    void (*module)(void *ctx, const struct prof_control_module *module);
    void (*done)(void *ctx, uint32_t pid, const char *reason); /* reason: NULL, or why there is none */
    void (*bad_line)(void *ctx, const char *line);             /* escaped; refused and counted */
};

struct prof_control_text;
struct prof_control_text *prof_control_text_new(const struct prof_control_sink *sink); /* copied */
void prof_control_text_free(struct prof_control_text *t);
/* Bytes as they came; lines may be split anywhere. */
void prof_control_text_feed(struct prof_control_text *t, const uint8_t *data, size_t size);
struct prof_control_counts {
    uint64_t blocks, maps, modules, bad_lines, long_lines, ignored;
};
void prof_control_text_counts(const struct prof_control_text *t, struct prof_control_counts *counts);

/* --- the client
 * -------------------------------------------------------------------------------------------*/

struct prof_control;
struct prof_control_options {
    const char *host;                     /* name or address of the target */
    uint16_t port;                        /* 0 = PROF_CONTROL_PORT */
    const char *own_ip;                   /* where it is to send; NULL = this end of the connection */
    int64_t timeout_ns;                   /* real time, for the connection and for each answer */
    bool no_start;                        /* ask for maps only */
    const struct prof_control_sink *sink; /* called on the client's own thread */
};
/* Connects, asks for the map, waits for its `done`, sends ip and start (the order of the sheet); from then on
 * a thread takes blocks that come unasked. CORRAL_ERR_UNREACHABLE, CORRAL_ERR_TIMEOUT. NULL with *d set. */
struct prof_control *prof_control_open(const struct prof_control_options *options, struct diag *d);
/* Ask for a process's maps (answered later, through the sink), or for the memory maps over UDP. Never blocks;
 * CORRAL_ERR_LIMIT when 64 requests wait already. */
enum corral_err prof_control_ask_pid(struct prof_control *c, uint32_t pid, struct diag *d);
enum corral_err prof_control_ask_vma(struct prof_control *c, struct diag *d);
bool prof_control_alive(struct prof_control *c); /* false once the target closed the connection */
/* What was taken and what was refused so far. Any thread. */
void prof_control_get_counts(struct prof_control *c, struct prof_control_counts *counts);
/* stop and close, bounded. NULL is allowed. */
void prof_control_close(struct prof_control *c);

#endif
