/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's profile.proto, gzip (profiler sheet 10.2). Messages are written as they are made; only the tables
 * of distinct strings, functions and locations are kept. Labels are strings, since readers drop a numeric
 * label of 0. Nothing is guessed: cpu time stands only where a track's sampling rate is known, and what the
 * format's signed counts cannot hold is said in the comment, which is where losses are, too.
 */
#include "export/export_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/export_file.h"
#include "export/export_pprof_tables.h"
#include "export/export_proto.h"
#include "export/export_text.h"

enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION };
enum { PROFILE_STRING_TABLE = 6, PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD };
enum { PROFILE_COMMENT = 13, PROFILE_DEFAULT_SAMPLE_TYPE };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_BUILD_ID };
enum { MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILES, MAPPING_HAS_LINES, MAPPING_HAS_INLINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define FLUSH_ABOVE 65536u
#define NS_PER_S    1e9
#define VALUE_END   9223372036854775808.0 /* 2^63 */

enum label { LABEL_TRACK, LABEL_THREAD, LABEL_PID, LABEL_STATE, LABELS };
enum state { STATE_ACTIVE, STATE_I_BLOCKED, STATE_D_BLOCKED, STATES };

struct number_label {
    uint32_t value;
    uint64_t string; /* its number; 0 = none yet */
};

struct pprof {
    const struct export_profile *profile;
    struct export_file file;
    struct export_proto proto;
    z_stream zip;
    bool zip_begun;
    bool failed;       /* for want of memory */
    bool has_cpu;      /* some track's sampling rate is known */
    bool all_have;     /* and that of every track with samples */
    uint64_t total[2]; /* of the values written */
    bool cut;          /* some of them did not fit */

    struct export_pprof_tables tables;
    uint64_t keys[LABELS], states[STATES], track; /* numbers of strings */
    struct number_label last_number[LABELS];
};

/* Gives what is in the buffer to zlib, and what comes of it to the file. */
static void flush(struct pprof *p, int how)
{
    uint8_t out[16384];
    if (p->proto.failed)
        p->failed = true;
    p->zip.next_in = p->proto.data;
    for (size_t left = p->proto.size;;) {
        uInt step = left > FLUSH_ABOVE ? FLUSH_ABOVE : (uInt)left;
        left -= step;
        p->zip.avail_in = step;
        do {
            p->zip.next_out = out;
            p->zip.avail_out = sizeof(out);
            deflate(&p->zip, left ? Z_NO_FLUSH : how);
            fwrite(out, 1, sizeof(out) - p->zip.avail_out, p->file.out);
        } while (p->zip.avail_out == 0);
        if (left == 0)
            break;
    }
    p->proto.size = 0;
}

/* Ends a field of Profile itself. */
static void end_field(struct pprof *p, size_t begun)
{
    export_proto_end(&p->proto, begun);
    if (p->proto.size > FLUSH_ABOVE)
        flush(p, Z_NO_FLUSH);
}

static void put_value_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
    size_t begun = export_proto_begin(&p->proto, field);
    export_proto_uint(&p->proto, VALUE_TYPE, export_pprof_string(&p->tables, type));
    export_proto_uint(&p->proto, VALUE_UNIT, export_pprof_string(&p->tables, unit));
    end_field(p, begun);
}

static void put_label(struct pprof *p, enum label label, uint64_t value)
{
    size_t begun = export_proto_begin(&p->proto, SAMPLE_LABEL);
    export_proto_uint(&p->proto, LABEL_KEY, p->keys[label]);
    export_proto_uint(&p->proto, LABEL_STR, value);
    export_proto_end(&p->proto, begun);
}

/* As text, since readers drop a number of 0. Most stacks have the number of the one before. */
static void put_number_label(struct pprof *p, enum label label, uint32_t value)
{
    struct number_label *last = &p->last_number[label];
    char text[16];
    if (!last->string || last->value != value) {
        snprintf(text, sizeof(text), "%" PRIu32, value);
        *last = (struct number_label){.value = value, .string = export_pprof_string(&p->tables, text)};
    }
    put_label(p, label, last->string);
}

/* Readers add the values up in 64 bits with a sign: what would overflow that is cut off, and said. */
static void put_value(struct pprof *p, unsigned column, double exact, uint64_t value)
{
    uint64_t room = INT64_MAX - p->total[column];
    if (exact >= VALUE_END || value > room) {
        value = room;
        p->cut = true;
    }
    p->total[column] += value;
    export_proto_varint(&p->proto, value);
}

static void put_values(struct pprof *p, const struct export_track *track, uint64_t count)
{
    size_t begun = export_proto_begin(&p->proto, SAMPLE_VALUE);
    put_value(p, 0, 0, count);
    if (p->has_cpu) {
        double ns = track->sampling_hz > 0 ? round((double)count / track->sampling_hz * NS_PER_S) : 0;
        put_value(p, 1, ns, ns < VALUE_END ? (uint64_t)ns : 0);
    }
    export_proto_end(&p->proto, begun);
}

/* Leaf first, as the format has it; a frame and what is inlined into it are one location. */
static void put_locations(struct pprof *p, const struct export_stack *stack)
{
    static const struct export_frame unknown = {.name = "[unknown]", .mapping = -1};
    size_t begun = export_proto_begin(&p->proto, SAMPLE_LOCATION);
    for (size_t end = stack->depth; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && stack->frames[start].inlined)
            start--;
        export_proto_varint(
            &p->proto, export_pprof_location(
                           &p->tables, &(struct export_pprof_location){&stack->frames[start], end - start}));
        end = start;
    }
    if (stack->depth == 0)
        export_proto_varint(&p->proto,
                            export_pprof_location(&p->tables, &(struct export_pprof_location){&unknown, 1}));
    export_proto_end(&p->proto, begun);
}

static void put_sample(struct pprof *p, const struct export_track *track, const struct export_stack *stack,
                       uint64_t count, enum state state)
{
    if (count == 0)
        return;
    size_t begun = export_proto_begin(&p->proto, PROFILE_SAMPLE);
    put_locations(p, stack);
    put_values(p, track, count);
    put_label(p, LABEL_TRACK, p->track);
    if (stack->thread >= 0)
        put_number_label(p, LABEL_THREAD, (uint32_t)stack->thread);
    if (stack->pid)
        put_number_label(p, LABEL_PID, stack->pid);
    put_label(p, LABEL_STATE, p->states[state]);
    end_field(p, begun);
}

/* A sample that waits for both caches is in both counts; it goes to the instruction side. */
static void put_stack(struct pprof *p, const struct export_track *track, const struct export_stack *stack)
{
    uint64_t left = stack->count;
    uint64_t i_blocked = stack->i_blocked < left ? stack->i_blocked : left;
    left -= i_blocked;
    uint64_t d_blocked = stack->d_blocked < left ? stack->d_blocked : left;
    left -= d_blocked;
    put_sample(p, track, stack, left, STATE_ACTIVE);
    put_sample(p, track, stack, i_blocked, STATE_I_BLOCKED);
    put_sample(p, track, stack, d_blocked, STATE_D_BLOCKED);
}

static void put_samples(struct pprof *p)
{
    static const char *const keys[LABELS] = {"track", "thread", "pid", "state"};
    static const char *const states[STATES] = {"active", "i_blocked", "d_blocked"};
    for (size_t i = 0; i < LABELS; i++)
        p->keys[i] = export_pprof_string(&p->tables, keys[i]);
    for (size_t i = 0; i < STATES; i++)
        p->states[i] = export_pprof_string(&p->tables, states[i]);
    for (size_t t = 0; t < p->profile->count; t++) {
        const struct export_track *track = &p->profile->tracks[t];
        p->track = export_pprof_string(&p->tables, track->name);
        for (size_t i = 0; i < track->count; i++)
            put_stack(p, track, &track->stacks[i]);
    }
}

static void put_mapping(struct pprof *p, size_t i)
{
    const struct export_mapping *m = &p->profile->mappings[i];
    size_t begun = export_proto_begin(&p->proto, PROFILE_MAPPING);
    export_proto_uint(&p->proto, MAPPING_ID, i + 1);
    export_proto_uint(&p->proto, MAPPING_START, m->start);
    export_proto_uint(&p->proto, MAPPING_LIMIT, m->limit);
    export_proto_uint(&p->proto, MAPPING_OFFSET, m->file_offset);
    export_proto_uint(&p->proto, MAPPING_FILE, export_pprof_string(&p->tables, m->path));
    export_proto_uint(&p->proto, MAPPING_BUILD_ID, export_pprof_string(&p->tables, m->build_id));
    export_proto_uint(&p->proto, MAPPING_HAS_FUNCTIONS, 1); /* or readers would look for the file */
    export_proto_uint(&p->proto, MAPPING_HAS_FILES, m->has_lines);
    export_proto_uint(&p->proto, MAPPING_HAS_LINES, m->has_lines);
    export_proto_uint(&p->proto, MAPPING_HAS_INLINES, m->has_lines);
    end_field(p, begun);
}

static void put_location(struct pprof *p, size_t i)
{
    const struct export_pprof_location *l = &p->tables.locations[i];
    int mapping = l->frames[0].mapping;
    size_t begun = export_proto_begin(&p->proto, PROFILE_LOCATION);
    export_proto_uint(&p->proto, LOCATION_ID, i + 1);
    if (mapping >= 0 && (size_t)mapping < p->profile->mapping_count)
        export_proto_uint(&p->proto, LOCATION_MAPPING, (uint64_t)mapping + 1);
    export_proto_uint(&p->proto, LOCATION_ADDRESS, export_pprof_innermost(l)->address);
    for (size_t k = l->count; k > 0; k--) { /* innermost first */
        size_t line = export_proto_begin(&p->proto, LOCATION_LINE);
        export_proto_uint(&p->proto, LINE_FUNCTION, export_pprof_function(&p->tables, &l->frames[k - 1]));
        export_proto_uint(&p->proto, LINE_LINE, l->frames[k - 1].line);
        export_proto_end(&p->proto, line);
    }
    end_field(p, begun);
}

static void put_function(struct pprof *p, size_t i)
{
    size_t begun = export_proto_begin(&p->proto, PROFILE_FUNCTION);
    export_proto_uint(&p->proto, FUNCTION_ID, i + 1);
    export_proto_uint(&p->proto, FUNCTION_NAME, p->tables.functions[i].name);
    export_proto_uint(&p->proto, FUNCTION_SYSTEM_NAME, p->tables.functions[i].name);
    export_proto_uint(&p->proto, FUNCTION_FILE, p->tables.functions[i].file);
    end_field(p, begun);
}

/* The rates of the tracks: whether there is one, and the period when it is the same for all. */
static double look_at_rates(struct pprof *p)
{
    double hz = 0;
    bool same = true;
    p->all_have = true;
    for (size_t t = 0; t < p->profile->count; t++) {
        const struct export_track *track = &p->profile->tracks[t];
        if (track->count == 0)
            continue;
        if (!(track->sampling_hz > 0) || !isfinite(track->sampling_hz)) {
            p->all_have = false;
            continue;
        }
        same = same && (!p->has_cpu || track->sampling_hz == hz);
        hz = track->sampling_hz;
        p->has_cpu = true;
    }
    p->all_have = p->all_have && p->has_cpu;
    return p->all_have && same ? hz : 0;
}

static void put_comment(struct pprof *p, const char *text)
{
    if (*text)
        export_proto_element(&p->proto, PROFILE_COMMENT, export_pprof_string(&p->tables, text));
}

static void put_comments(struct pprof *p)
{
    char *note = export_text_note(p->profile);
    p->failed = p->failed || !note;
    put_comment(p, note ? note : "");
    free(note);
    if (p->has_cpu && !p->all_have)
        put_comment(p, "cpu time is 0 for tracks whose sampling rate is not known");
    if (p->cut)
        put_comment(p, "values are cut off where their sum would be above 2^63-1");
}

static void put_header(struct pprof *p)
{
    double hz = look_at_rates(p);
    export_pprof_string(&p->tables, ""); /* the first string must be this one */
    put_value_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
    if (p->has_cpu)
        put_value_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    if (hz > 0 && NS_PER_S / hz < 9e18) {
        put_value_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
        export_proto_uint(&p->proto, PROFILE_PERIOD, (uint64_t)round(NS_PER_S / hz));
    }
    export_proto_uint(&p->proto, PROFILE_DEFAULT_SAMPLE_TYPE,
                      export_pprof_string(&p->tables, p->all_have ? "cpu" : "samples"));
    if (p->profile->start_ns > 0)
        export_proto_uint(&p->proto, PROFILE_TIME, (uint64_t)p->profile->start_ns);
    if (p->profile->seconds > 0 && p->profile->seconds < 9e9)
        export_proto_uint(&p->proto, PROFILE_DURATION, (uint64_t)round(p->profile->seconds * NS_PER_S));
}

static void put_all(struct pprof *p)
{
    put_header(p);
    put_samples(p);
    for (size_t i = 0; i < p->profile->mapping_count; i++)
        put_mapping(p, i);
    for (size_t i = 0; i < p->tables.location_index.count && !p->tables.failed; i++)
        put_location(p, i);
    for (size_t i = 0; i < p->tables.function_index.count && !p->tables.failed; i++)
        put_function(p, i);
    put_comments(p);
    for (size_t i = 0; i < p->tables.string_index.count && !p->tables.failed; i++) {
        export_proto_string(&p->proto, PROFILE_STRING_TABLE, p->tables.strings[i]);
        if (p->proto.size > FLUSH_ABOVE)
            flush(p, Z_NO_FLUSH);
    }
    flush(p, Z_FINISH);
}

static void free_all(struct pprof *p)
{
    if (p->zip_begun)
        deflateEnd(&p->zip);
    export_pprof_tables_free(&p->tables);
    export_proto_free(&p->proto);
}

enum corral_err export_pprof(const struct export_profile *profile, const char *path, struct diag *d)
{
    struct pprof p = {.profile = profile};
    export_pprof_tables_init(&p.tables);
    enum corral_err err = export_file_begin(&p.file, path, d);
    if (err != CORRAL_OK)
        return err;
    /* 16 more than the window's bits: with gzip's header, which zlib writes without a time in it. */
    p.zip_begun = deflateInit2(&p.zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    p.failed = !p.zip_begun;
    if (p.zip_begun)
        put_all(&p);
    if (p.failed || p.tables.failed) {
        export_file_abandon(&p.file);
        err = diag_set(d, CORRAL_ERR_NO_MEMORY, "%.200s: out of memory for the profile", path);
    } else {
        err = export_file_end(&p.file, d);
    }
    free_all(&p);
    return err;
}
