/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a profile being collected, shared by the files profiling*.c only. */
#ifndef CORRAL_SESSION_PROFILING_INTERNAL_H
#define CORRAL_SESSION_PROFILING_INTERNAL_H

#include <pthread.h>

#include "prof/control.h"
#include "session/profiling.h"

#define PROFILING_MAX_NAMES     128
#define PROFILING_MAX_SPACES    128 /* distinct choices of images, not senders: few in any real case */
#define PROFILING_MAX_ASKED     256 /* processes whose maps are asked for */
#define PROFILING_MASK_WORDS    2
#define PROFILING_MAX_ADDRESSES 8 /* of the daemon's host */

struct profiling_image {
    char *sender; /* NULL = of all */
    const struct symbol_index *image;
    struct symbol_index *own; /* the same where it is to be closed here */
    uint64_t offset;
    char *file; /* as given; "" = a borrowed image */
};

/* A sender that was given a name. */
struct profiling_name {
    char *address, *name;
};

/* What senders with the same choice of images see. */
struct profiling_space {
    uint64_t mask[PROFILING_MASK_WORDS]; /* of images[] */
    bool maps;                           /* and the process maps of the control channel */
    struct symbol_space *space;
};

struct profiling_map {
    uint32_t pid;
    uint64_t start, end, offset;
    char *path;
};

struct profiling {
    struct event_bus *bus;
    struct host_clock *clock;
    struct prof_analysis *analysis;
    struct prof_streams *streams;
    struct prof_collector *collector;
    char *raw_source; /* the first raw datagram's file: all of them are one sender */
    int64_t start_ns; /* since the epoch, of the first datagram; 0 = not known */

    pthread_mutex_t lock; /* over all below: the control channel has a thread of its own */
    size_t image_count;
    struct profiling_image images[SYMBOL_SPACE_MAX_IMAGES];
    size_t name_count;
    struct profiling_name names[PROFILING_MAX_NAMES];
    size_t space_count;
    struct profiling_space spaces[PROFILING_MAX_SPACES];

    struct prof_control *control;
    size_t address_count;
    char addresses[PROFILING_MAX_ADDRESSES][64]; /* the daemon's host, numeric */
    size_t map_count, map_room;
    uint64_t maps_left_out; /* for want of room */
    struct profiling_map *maps;
    size_t asked_count;
    uint32_t asked[PROFILING_MAX_ASKED];
};

/* profiling.c: the spaces by source index, how many. */
size_t profiling_spaces_of(struct profiling *p, const struct prof_report *report,
                           struct symbol_space *spaces[PROF_MAX_SOURCES]);

/* profiling_elf.c; all with the lock held. */
/* The space of sender number `index` that is called `name`; NULL when no image is meant for it. */
struct symbol_space *profiling_space_for(struct profiling *p, unsigned index, const char *name);
/* Is `text` (an address with or without port, a name, a number) this sender? */
bool profiling_is_sender(const struct profiling *p, const char *text, unsigned index, const char *name);
void profiling_free_images(struct profiling *p);
/* An image whose file has the same last part as `path`, or NULL. */
const struct symbol_index *profiling_image_of_path(const struct profiling *p, const char *path);

/* profiling_control.c */
void profiling_free_control(struct profiling *p);
/* Add the maps that are known to a space just made. */
void profiling_replay_maps(struct profiling *p, struct symbol_space *space);
bool profiling_sender_is_controlled(const struct profiling *p, const char *name);

/* The address that a named sender has; its own name when nobody named it. */
const char *profiling_address_of(const struct profiling *p, const char *name);

#endif
