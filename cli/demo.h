/* SPDX-License-Identifier: Apache-2.0 */
/* What `corral demo` found out, between the file that plays the story and the one that draws it. */
#ifndef CORRAL_CLI_DEMO_H
#define CORRAL_CLI_DEMO_H

#include "cli/cli.h"
#include "session/session.h"

#define DEMO_FILES 5
#define DEMO_TOP   10

struct demo_options {
    double seconds;
    unsigned rounds;
    const char *out;
    bool ctm_latency_set;
    uint32_t ctm_latency;
    uint64_t seed;
    const char *listen; /* address, or NULL */
    int listen_port;    /* -1 = the default */
};

struct demo_function {
    unsigned core;
    char name[64];
    uint64_t count;
    double share;       /* of the core's active samples */
    double board_share; /* of the cycles the board itself counted; -1 = not known */
};

struct demo_result {
    struct link_sim_info board;
    uint64_t logs[3]; /* SMC, DMC, others */
    uint64_t lost;    /* log records, profile packets, and events that a sink had no room for */
    struct prof_totals totals;
    int64_t firmware_samples; /* what the firmware says it sent; -1 = it does not count */
    struct session_rounds software, cti;
    struct demo_function top[LINK_SIM_CORES * DEMO_TOP];
    size_t top_count;
    char files[DEMO_FILES][512];
    size_t file_count;
};

/* render_demo.c: text for people on stdout, and the summary line of --json. */
void demo_render_board(const struct link_sim_info *board, uint16_t profile_port);
void demo_render_result(const struct demo_result *r);
enum corral_err demo_render_summary(const struct demo_result *r, struct diag *d);

/* demo_files.c: the files of --out, made together or not at all. */
struct demo_files;
/* *files is the caller's to close also after an error, when the bus is gone: its sinks write to the capture.
 */
enum corral_err demo_files_create(const char *dir, struct event_bus *bus, struct demo_files **files,
                                  struct diag *d);
struct capture_writer *demo_files_capture(struct demo_files *f);
/* The profile exports, once everything is collected. */
enum corral_err demo_files_export(struct demo_files *f, struct session *s, struct diag *d);
/* Close what this object still holds. `keep` false: take away what was created. Lists names into *r. */
enum corral_err demo_files_close(struct demo_files *f, bool keep, struct demo_result *r, struct diag *d);

#endif
