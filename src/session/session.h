/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composes: a link, its owner thread, cores, a group, log consumers, the profile collector, symbols, and the
 * bus they all publish to. Every command is thin over this. Prints nothing.
 *
 * A session is used by one thread (the caller's); what it starts runs on threads of its own: the link's owner
 * thread and the collector.
 */
#ifndef CORRAL_SESSION_SESSION_H
#define CORRAL_SESSION_SESSION_H

#include <stdatomic.h>

#include "capture/capture_writer.h"
#include "event/sink.h"
#include "group/group.h"
#include "link/link_thread.h"
#include "link/sim.h"
#include "session/connect.h"
#include "session/profiling.h"
#include "tlog/consumer.h"

#define SESSION_MAX_CORES EVENT_MAX_CORES

struct config;
struct pack_device;
struct sequence_program;
struct session;

/*
 * Open a link from its words on the command line: "sim", "sim:A.elf,B.elf", "dry", "dry:...". Makes the clock
 * that goes with it (virtual for these); the caller frees it after link_close. NULL with *d set:
 * CORRAL_ERR_USAGE for words that mean nothing.
 */
struct link *session_open_link(const char *spec, uint32_t clock_hz, const struct config *config,
                               struct host_clock **clock, struct diag *d);
/* Are these the words of a link of this kind: "dry" or "dry:..." for "dry"? */
bool session_words_mean(const char *words, const char *kind);
/* Which words count: the command line's, else corral.yml's, else "sim". Borrowed from the arguments. */
const char *session_link_words(const char *command_line, const struct config *config);
/* The two steps of it, for who must have the clock first. All may be zeros; `sim` gives the board's options
 * but for elf, board, swclk_hz and clock, which are filled in. CORRAL_ERR_USAGE for what the link cannot. */
struct session_link_how {
    uint32_t clock_hz;
    const struct session_wire *wire;
    int64_t timeout_ns; /* for opening; 0 or less = as long as the link thinks right */
    const struct config *config;
    const struct link_sim_options *sim;
};
struct host_clock *session_clock_for(const char *spec, struct diag *d);
struct link *session_open_kind(const char *spec, const struct session_link_how *how, struct host_clock *clock,
                               struct diag *d);

/* Run fn(link, ctx, d) on the link's owner thread with one bound over all its accesses: CORRAL_ERR_TIMEOUT
 * when it failed and the bound had passed. */
enum corral_err session_bounded(struct link *link, link_call_fn fn, void *ctx, int64_t timeout_ns,
                                struct diag *d);

/* Strings and lists are borrowed and must outlive the session. */
struct session_options {
    const char *link;         /* NULL = what `config` says, else "sim" */
    uint32_t clock_hz;        /* of the debug port's wire; 0 = what `config` says, else the link's default */
    struct session_wire wire; /* --protocol, --connect, --wire-log */
    const struct config *config;   /* corral.yml, or NULL; must outlive the session */
    const char *const *core_names; /* only these cores; count 0 = all */
    size_t core_name_count;
    uint32_t ctm_latency; /* sim only; 0 with !ctm_latency_set = the board's default */
    bool ctm_latency_set;
    uint64_t seed;         /* sim only; 0 = the board's default */
    bool count_pcs;        /* sim only: exact counts, for session_exact_share */
    bool log_accesses;     /* sim only */
    bool profile;          /* collect profile packets */
    bool no_listen;        /* ... but not as datagrams: the board's are then not sent */
    const char *listen;    /* collector's address; NULL = 127.0.0.1 */
    int listen_port;       /* -1 = PROF_PORT, 0 = any free one */
    int64_t timeout_ns;    /* for each operation on the target, in host_clock time; <= 0 = none but its own */
    struct event_bus *bus; /* never NULL; must outlive the session */
    /*
     * A device's description (pack/pack.h), and its sequences compiled; NULL = none. Must outlive the
     * session. Cores are then its processors, under their Pnames unless corral.yml names them; the port and
     * the cores are come to, and left, by its sequences, and where it has those for cross triggers
     * session_set_sync uses them. Sentences about it go to wire.note.
     */
    const struct pack_device *pack;
    const struct sequence_program *program;
    bool pack_sync;          /* cross triggers will be asked for: __options bit 0, DebugCoreSetup at once */
    bool trace_sequences;    /* each access of a sequence is an event */
    const atomic_bool *stop; /* ends a sequence; may be NULL */
};

/* Opens the link and its thread and starts the collector; the target is not touched yet, so that sinks and
 * files can be made ready before anything happens. NULL with *d set. */
struct session *session_open(const struct session_options *options, struct diag *d);
/* Powers the port up, finds the cores, makes the group (mechanism software). Nothing is halted. What needs
 * cores works after this only. */
enum corral_err session_connect(struct session *s, struct diag *d);
/* Is the target the virtual board in this process? Known before session_connect. */
bool session_is_board(const struct session *s);
/* Are its cores a gdb stub's? Then nothing can be read while they run. Known after session_connect. */
bool session_has_stub(const struct session *s);
/* How many of the board's cores have a program (one without is held in reset); 0 on other links. Likewise. */
unsigned session_board_programs(const struct session *s);
/* Stops everything and leaves the target as it was found, unless session_detach (run_control.h) has left it:
 * then a failure was told with its reason, here it is only counted. NULL is allowed. */
enum corral_err session_close(struct session *s);

struct host_clock *session_clock(struct session *s);
struct link_thread *session_thread(struct session *s);
size_t session_core_count(const struct session *s);
const char *session_core_name(const struct session *s, size_t core);
/* Access port number n of those that do not answer and that no known core is behind: one may be there, and is
 * not seen. False past the last. *why is borrowed. Known after session_connect. */
bool session_silent_port(const struct session *s, size_t n, uint32_t *ap, const char **why);
/* The board's published numbers; false when the link is not the virtual board (or not connected). */
bool session_board_info(struct session *s, struct link_sim_info *info);
/* A core's symbols, NULL without an ELF. Borrowed. */
struct symbol_index *session_symbols(struct session *s, size_t core);

/*
 * Attach a log consumer to each core that has a buffer: what corral.yml says, else the symbol `tlog_buffer`
 * of its ELF, else (virtual board) the board's default address. On the virtual board a core 0 that offers the
 * message queue is given a buffer by SETUP instead. Polled every few milliseconds from then on.
 */
enum corral_err session_start_logs(struct session *s, struct diag *d);

/* The same for one place, or to look only. */
struct session_log_request {
    const char *symbol; /* that symbol of each core's ELF; two cores with one address share one stream */
    bool at_set;        /* the buffer at `address`, `size` bytes; seen through the first core */
    uint64_t address;
    uint32_t size;
    bool look_only; /* takes nothing: for session_log_status beside another reader */
};
enum corral_err session_start_logs_at(struct session *s, const struct session_log_request *r, struct diag *d);
size_t session_log_count(const struct session *s);

/* Why is a log silent? */
struct session_log_status {
    const char *stream, *core; /* core NULL = not known. Borrowed, as `setup` */
    uint64_t address;
    uint32_t size;
    /* "active", "quiet", "not-set-up", "refused", "unsupported", "owner-stuck", "link-dead", "wrong-magic",
     * "wrong-version", "unknown" */
    const char *state;
    const char *setup;    /* how SETUP went, tlog_setup_state_name; NULL = this log is attached to only */
    int64_t setup_answer; /* word 0 of its answer; -1 = none */
    bool header_known;
    uint32_t magic, write_offset;
    uint8_t owner, version;
    int64_t quiet_ns;  /* since when nothing came: a time that has passed; EVENT_NO_TIME = unknown */
    uint64_t records;  /* taken so far */
    char message[320]; /* a sentence for people */
};
void session_log_status(struct session *s, size_t index, struct session_log_status *st);

/* RELEASE what was set up, and take what is then left. session_close does it, too. */
enum corral_err session_stop_logs(struct session *s, struct diag *d);

/* What came before a final look: poll every buffer until none has a batch (bounded). */
enum corral_err session_drain_logs(struct session *s, struct diag *d);
/* The sum over all logs, between two batches. At any time, from the caller's thread. */
void session_log_stats(const struct session *s, struct tlog_consumer_stats *sum);

/* Write UDP datagrams and log batches as they come into `capture` (the caller's; must outlive the session).
 * CORRAL_ERR_UNSUPPORTED when the profile is collected over IPv6, which the file's packets cannot hold. */
enum corral_err session_capture(struct session *s, struct capture_writer *capture, struct diag *d);

uint16_t session_profile_port(const struct session *s);
/* Both may be used while packets are being collected: they show what has come so far. */
void session_profile_totals(const struct session *s, struct prof_totals *totals);
struct profiling *session_profiling(struct session *s); /* NULL without profile; the session's */

/* From now on, pairs of each core's cycle count and host time become clock events, every few milliseconds
 * while it runs (domain "NAME.cycles"). Cores whose frequency is not known have none. */
enum corral_err session_start_clocks(struct session *s, struct diag *d);

/* Let time pass until `ns` from now; events are drained to the sinks every few milliseconds. Ends early with
 * CORRAL_ERR_INTERRUPTED when *stop becomes true. */
enum corral_err session_run_for(struct session *s, int64_t ns, const atomic_bool *stop, struct diag *d);

/* Halt or run all cores, led by core number `leader`; the event (may be NULL) is filled in as group.h says.
 */
enum corral_err session_halt(struct session *s, size_t leader, struct event *event, struct diag *d);
enum corral_err session_run(struct session *s, size_t leader, struct event *event, struct diag *d);
/* Publish what the cores are doing now as a run or halt event of mechanism none: where a timeline begins. */
enum corral_err session_announce(struct session *s, struct diag *d);
/* Every core's state, unchanged. */
enum corral_err session_status(struct session *s, struct event *event, struct diag *d);
/* Cross triggers on or off; off puts every CTI back as it was found. */
enum corral_err session_set_sync(struct session *s, bool on, struct diag *d);

/* Read the 32-bit variable `name` of a core's program. CORRAL_ERR_NO_SYMBOL when it has none. */
enum corral_err session_read_variable(struct session *s, size_t core, const char *name, uint32_t *value,
                                      struct diag *d);

/* The share (0..1) of a core's cycles that the board itself counted in a function; -1 when it does not count.
 * Cycles of the profiler's own interrupt are left out, as samples cannot fall there. */
double session_exact_share(struct session *s, size_t core, uint32_t address, uint32_t size);

/* Rounds of run and halt, led by core 0 and ended by core 1, and what they showed. Cores are halted before
 * and after. */
struct session_rounds {
    unsigned rounds;
    int64_t median_ns, max_ns;             /* measured by CYCCNT */
    int64_t board_median_ns, board_max_ns; /* by the board's own log; EVENT_NO_TIME elsewhere */
    int64_t worst_difference_ns;           /* largest |measured - board| over the rounds; EVENT_NO_TIME */
    int64_t deadlines_missed;              /* -1 when the firmware does not count them */
};
enum corral_err session_measure_rounds(struct session *s, unsigned rounds, int64_t run_ns,
                                       const atomic_bool *stop, struct session_rounds *out, struct diag *d);

/*
 * Also fetch packets that cores leave in RAM: at the symbol prof_buffer of their programs, or on a link that
 * reaches memory only, of the images that the profile was given. Not finding any is no error.
 */
enum corral_err session_start_records(struct session *s, struct diag *d);
size_t session_records_count(const struct session *s);
struct prof_records_stats;
/* The sender's name, borrowed; NULL when there are not as many, or the link's thread does not answer. */
const char *session_records_stats(struct session *s, size_t index, struct prof_records_stats *stats);
/* Also sample every core's pc over the link. The note names cores that cannot be sampled, or is "". */
enum corral_err session_start_pcsr(struct session *s, struct diag *d);
const char *session_pcsr_note(const struct session *s);
/* How the last round of the two above ended. */
enum corral_err session_profile_error(struct session *s, struct diag *d);
/* Fetch what is left and end collecting: the counts are final then. */
enum corral_err session_stop_profile(struct session *s, struct diag *d);

/* profiling_export of the session's profile. */
enum corral_err session_export_profile(struct session *s, const char *format, const char *path,
                                       struct diag *d);

#endif
