/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon on a target, as a profile uses it (profiling.h, profiler sheet 6): it is told to send here, and
 * its process maps give a meaning to the addresses of samples with a process. The maps are kept, since a
 * sender's space is made only when the sender is known. Hostile input: bounded, and paths are only compared.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/profiling_internal.h"

#define ASK_SHARE 0.01 /* of all active samples: a process below it is not worth a question */

/* --- what the daemon says; on the control channel's thread ---------------------------------------------- */

static void for_spaces(struct profiling *p,
                       void (*fn)(struct profiling *p, struct symbol_space *space,
                                  const struct profiling_map *map),
                       const struct profiling_map *map)
{
    for (size_t i = 0; i < p->space_count; i++)
        if (p->spaces[i].maps)
            fn(p, p->spaces[i].space, map);
}

static void add_map(struct profiling *p, struct symbol_space *space, const struct profiling_map *map)
{
    /* A map that does not fit is a map that is not there: its samples stay unknown, and are counted so. */
    (void)symbol_space_add_map(space, map->pid, map->start, map->end, map->offset, map->path,
                               profiling_image_of_path(p, map->path), NULL);
}

static void clear_maps(struct profiling *p, struct symbol_space *space, const struct profiling_map *map)
{
    (void)p;
    symbol_space_clear_maps(space, map->pid);
}

void profiling_replay_maps(struct profiling *p, struct symbol_space *space)
{
    for (size_t i = 0; i < p->map_count; i++)
        add_map(p, space, &p->maps[i]);
}

static void forget(struct profiling *p, uint32_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->map_count; i++) {
        if (p->maps[i].pid == pid)
            free(p->maps[i].path);
        else
            p->maps[kept++] = p->maps[i];
    }
    p->map_count = kept;
}

/* False when there is no room. */
static bool keep(struct profiling *p, const struct profiling_map *map)
{
    if (p->map_count >= SYMBOL_SPACE_MAX_MAPS)
        return false;
    if (p->map_count == p->map_room) {
        size_t room = p->map_room ? p->map_room * 2 : 64;
        struct profiling_map *more = reallocarray(p->maps, room, sizeof(*more));
        if (!more)
            return false;
        p->maps = more;
        p->map_room = room;
    }
    struct profiling_map *entry = &p->maps[p->map_count];
    *entry = *map;
    entry->path = strdup(map->path);
    if (!entry->path)
        return false;
    p->map_count++;
    for_spaces(p, add_map, entry);
    return true;
}

static void on_begin(void *ctx, uint32_t pid, const char *version)
{
    struct profiling *p = ctx;
    (void)version;
    pthread_mutex_lock(&p->lock);
    forget(p, pid);
    for_spaces(p, clear_maps, &(struct profiling_map){.pid = pid});
    pthread_mutex_unlock(&p->lock);
}

static void on_map(void *ctx, uint32_t pid, const struct prof_control_map *map)
{
    struct profiling *p = ctx;
    char path[PROF_CONTROL_LINE_MAX + 1];
    snprintf(path, sizeof(path), "%s", map->path);
    pthread_mutex_lock(&p->lock);
    p->maps_left_out += !keep(
        p, &(struct profiling_map){
               .pid = pid, .start = map->start, .end = map->end, .offset = map->file_offset, .path = path});
    pthread_mutex_unlock(&p->lock);
}

/* A kernel module is a file NAME.ko whose code begins where it was loaded. */
static void on_module(void *ctx, const struct prof_control_module *module)
{
    struct profiling *p = ctx;
    char path[PROF_CONTROL_LINE_MAX + 8];
    snprintf(path, sizeof(path), "%s.ko", module->name);
    pthread_mutex_lock(&p->lock);
    p->maps_left_out +=
        !keep(p, &(struct profiling_map){
                     .start = module->address, .end = module->address + module->size, .path = path});
    pthread_mutex_unlock(&p->lock);
}

/* --- the channel ---------------------------------------------------------------------------------------- */

struct target_words {
    char host[256];
    uint16_t port; /* 0 = the default */
};

/* "HOST[:PORT]", "[ADDR]:PORT"; an address with several colons and no brackets is one without a port. */
static enum corral_err parse_target(const char *text, struct target_words *w, struct diag *d)
{
    const char *colon = strrchr(text, ':');
    const char *end = text + strlen(text);
    bool brackets = text[0] == '[';
    *w = (struct target_words){.port = 0};
    if (brackets ? colon > text && colon[-1] == ']' : colon && strchr(text, ':') == colon) {
        char *rest = NULL;
        unsigned long port = strtoul(colon + 1, &rest, 10);
        if (colon[1] < '0' || colon[1] > '9' || *rest || port == 0 || port > 65535)
            return diag_set(d, CORRAL_ERR_USAGE, "'%.200s' is not HOST[:PORT]", text);
        w->port = (uint16_t)port;
        end = colon;
    }
    if (brackets) {
        text++;
        if (end > text && end[-1] == ']')
            end--;
    }
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof(w->host))
        return diag_set(d, CORRAL_ERR_USAGE, "'%.200s' is not HOST[:PORT]", text);
    memcpy(w->host, text, length);
    return CORRAL_OK;
}

/* The host's addresses tell which senders its maps are about. */
static void find_addresses(struct profiling *p, const char *host)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *list = NULL;
    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return; /* connecting says so */
    for (struct addrinfo *a = list; a && p->address_count < PROFILING_MAX_ADDRESSES; a = a->ai_next) {
        char *out = p->addresses[p->address_count];
        if (getnameinfo(a->ai_addr, a->ai_addrlen, out, sizeof(p->addresses[0]), NULL, 0, NI_NUMERICHOST) ==
            0)
            p->address_count++;
    }
    freeaddrinfo(list);
}

bool profiling_target_is_here(const char *target)
{
    struct target_words words;
    if (parse_target(target, &words, NULL) != CORRAL_OK)
        return false;
    return strcmp(words.host, "localhost") == 0 || strncmp(words.host, "127.", 4) == 0;
}

bool profiling_sender_is_controlled(const struct profiling *p, const char *name)
{
    for (size_t i = 0; i < p->address_count; i++)
        if (profiling_is_sender(p, p->addresses[i], PROF_MAX_SOURCES, name))
            return true;
    return false;
}

enum corral_err profiling_control(struct profiling *p, const char *target, int64_t timeout_ns, struct diag *d)
{
    struct target_words words;
    enum corral_err err = parse_target(target, &words, d);
    if (err != CORRAL_OK)
        return err;
    if (p->control)
        return diag_set(d, CORRAL_ERR_USAGE, "a profile connects to one target only");
    pthread_mutex_lock(&p->lock);
    find_addresses(p, words.host);
    pthread_mutex_unlock(&p->lock);
    const struct prof_control_sink sink = {.ctx = p, .begin = on_begin, .map = on_map, .module = on_module};
    const struct prof_control_options options = {
        .host = words.host, .port = words.port, .timeout_ns = timeout_ns, .sink = &sink};
    p->control = prof_control_open(&options, d);
    if (!p->control)
        return d ? d->code : CORRAL_ERR_LINK_DOWN;
    (void)prof_control_ask_vma(p->control, NULL); /* a target that has none sends none */
    return CORRAL_OK;
}

bool profiling_control_lost(struct profiling *p)
{
    return p->control && !prof_control_alive(p->control);
}

uint64_t profiling_control_refused(struct profiling *p)
{
    struct prof_control_counts counts;
    if (!p->control)
        return 0;
    prof_control_get_counts(p->control, &counts);
    pthread_mutex_lock(&p->lock);
    uint64_t left_out = p->maps_left_out;
    pthread_mutex_unlock(&p->lock);
    return counts.bad_lines + counts.long_lines + counts.ignored + left_out;
}

void profiling_free_control(struct profiling *p)
{
    prof_control_close(p->control);
    p->control = NULL;
    for (size_t i = 0; i < p->map_count; i++)
        free(p->maps[i].path);
    free(p->maps);
    p->maps = NULL;
    p->map_count = p->map_room = 0;
}

/* --- questions ------------------------------------------------------------------------------------------ */

static bool was_asked(const struct profiling *p, uint32_t pid)
{
    for (size_t i = 0; i < p->asked_count; i++)
        if (p->asked[i] == pid)
            return true;
    return false;
}

/* A process, and samples of it that no image covers. */
struct unknown {
    uint32_t pid;
    uint64_t samples;
};

static int by_pid(const void *a, const void *b)
{
    const struct unknown *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Each process once, over all senders; by sorting, since a hostile sender may name as many as it likes. */
static size_t find_unknown(const struct prof_report *report, struct unknown *list)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < report->function_count; i++)
        if (report->functions[i].pid != 0 && !report->functions[i].image)
            list[n++] = (struct unknown){report->functions[i].pid, report->functions[i].self};
    qsort(list, n, sizeof(*list), by_pid);
    for (size_t i = 0; i < n; i++) {
        if (kept && list[kept - 1].pid == list[i].pid)
            list[kept - 1].samples += list[i].samples;
        else
            list[kept++] = list[i];
    }
    return kept;
}

void profiling_ask_maps(struct profiling *p, const struct prof_report *report)
{
    double least = (double)report->totals.active_samples * ASK_SHARE;
    struct unknown *list = p->control ? calloc(report->function_count + 1, sizeof(*list)) : NULL;
    size_t n = list ? find_unknown(report, list) : 0; /* without memory it is asked with a later report */
    for (size_t i = 0; i < n && p->asked_count < PROFILING_MAX_ASKED; i++) {
        if ((double)list[i].samples <= least || was_asked(p, list[i].pid))
            continue;
        if (prof_control_ask_pid(p->control, list[i].pid, NULL) != CORRAL_OK)
            break; /* asked again with the next report */
        p->asked[p->asked_count++] = list[i].pid;
    }
    free(list);
}
