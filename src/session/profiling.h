/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A statistical profile being collected, whatever it comes from: UDP, capture files, records in a target's
 * RAM, PC sampling over the debug link. Owns the streams, the analysis, the images and the control channel;
 * every command that shows a profile is thin over it. Independent of struct session, which feeds one where a
 * target is attached.
 */
#ifndef CORRAL_SESSION_PROFILING_H
#define CORRAL_SESSION_PROFILING_H

#include <stdatomic.h>

#include "base/host_clock.h"
#include "event/sink.h"
#include "prof/collector.h"
#include "prof/report.h"

struct profiling;

struct profiling_options {
    struct event_bus *bus;    /* or NULL: then no events are made */
    struct host_clock *clock; /* of the events; never NULL */
};
struct profiling *profiling_new(const struct profiling_options *options, struct diag *d);
/* Ends collecting, closes the control channel, frees the images. NULL is allowed. */
void profiling_free(struct profiling *p);

struct prof_streams *profiling_streams(struct profiling *p);

/* The sender at `address` ("ADDR:PORT") is called `name`. Before it sends. */
enum corral_err profiling_name_sender(struct profiling *p, const char *address, const char *name,
                                      struct diag *d);
/* Names of senders out of corral.yml (NULL is allowed), and with `images` the ELF files of their cores. */
struct config;
enum corral_err profiling_use_config(struct profiling *p, const struct config *config, bool images,
                                     struct diag *d);

/* "[SOURCE=]FILE[@OFFSET]": an image of one sender, or of all. SOURCE is its name, "ADDR[:PORT]", or its
 * number in the report (from 0). All images come before the first report. The file is
 * read at once; CORRAL_ERR_* of symbol.h. An '@' or '=' that is part of a file's name is taken as such when
 * that file is there. */
enum corral_err profiling_add_elf(struct profiling *p, const char *words, struct diag *d);
/* The same in parts; `sender` NULL = all. */
enum corral_err profiling_add_elf_of(struct profiling *p, const char *sender, const char *file,
                                     uint64_t offset, struct diag *d);
bool profiling_has_images(struct profiling *p);
const struct symbol_index *profiling_image(struct profiling *p, size_t index); /* NULL = no more */
/* The image a session has opened already (borrowed; outlives this), for the sender named `source`. */
enum corral_err profiling_add_image(struct profiling *p, const char *source, const struct symbol_index *image,
                                    struct diag *d);

/* Listen for datagrams; raw datagrams go to `raw` as well. Address and port as for prof_collector. */
enum corral_err profiling_listen(struct profiling *p, const struct prof_collector_options *options,
                                 struct diag *d);
struct prof_collector *profiling_collector(struct profiling *p); /* NULL unless listening */
/* Take what has come so far and end listening: the counts are final then. */
void profiling_finish(struct profiling *p);

/* Every UDP datagram to `port` of a capture file ("-" = standard input), in order; or the file is one raw
 * datagram when `raw_allowed` and it is no capture. Ends early with CORRAL_ERR_INTERRUPTED when *stop is set.
 * `progress` (may be NULL) is told now and then how many bytes of how many (0 = not known) are done. */
struct profiling_file_stats {
    uint64_t packets, udp, other, fragments, cut, unknown_linktype;
    bool damaged; /* what came before the damage stands; `damage` says where */
    struct diag damage;
};
enum corral_err profiling_read_capture(struct profiling *p, const char *path, uint16_t port, bool raw_allowed,
                                       const atomic_bool *stop,
                                       void (*progress)(void *ctx, uint64_t done, uint64_t size), void *ctx,
                                       struct profiling_file_stats *stats, struct diag *d);

/* Talk to the target's daemon "HOST[:PORT]": have it start sending here, and take the process maps it tells.
 */
enum corral_err profiling_control(struct profiling *p, const char *target, int64_t timeout_ns,
                                  struct diag *d);
/* Does HOST[:PORT] mean this machine by its words? What it sends then comes to 127.0.0.1. */
bool profiling_target_is_here(const char *target);
bool profiling_control_lost(struct profiling *p); /* it was connected, and the target closed it */
/* Lines of the daemon that were refused, too long, or of more maps than are kept. */
uint64_t profiling_control_refused(struct profiling *p);
/* Ask for the maps of processes that matter and are not known yet. Cheap; call it with each display. */
void profiling_ask_maps(struct profiling *p, const struct prof_report *report);

/* What has come so far. `thread` -1 = all. */
struct prof_report *profiling_report(struct profiling *p, int thread, size_t hot_limit, bool stacks,
                                     struct diag *d);
/* Count anew from now on: senders and images stay. */
void profiling_reset(struct profiling *p);

/* The sender that the `i`-th image was given for, or NULL: it is for all, or that sender is in the report, or
 * there is no such image. Copied into `out`. */
const char *profiling_idle_elf(struct profiling *p, const struct prof_report *report, size_t i,
                               char out[256]);

/* Is `format` one of folded speedscope pprof gmon svg jsonl, and can `path` be written? Before collecting
 * begins: CORRAL_ERR_USAGE, CORRAL_ERR_IO. */
enum corral_err profiling_check_export(const char *format, const char *path, struct diag *d);
/* A report made with stacks, so that several files and the text show one moment. */
enum corral_err profiling_export_report(struct profiling *p, const struct prof_report *report,
                                        const char *format, const char *path, struct diag *d);
/* FORMAT:FILE, or the two apart. "jsonl" is no format of this: it is a sink of the events as they come. */
enum corral_err profiling_export(struct profiling *p, const char *format, const char *path, struct diag *d);

#endif
