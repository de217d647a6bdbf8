/* SPDX-License-Identifier: Apache-2.0 */
/* The session's state, shared by the files of src/session/ only. */
#ifndef CORRAL_SESSION_SESSION_INTERNAL_H
#define CORRAL_SESSION_SESSION_INTERNAL_H

#include "clock/clock_domain.h"
#include "clock/clock_unwrap.h"
#include "coresight/rom_table.h"
#include "pack/pack.h"
#include "prof/pcsr.h"
#include "prof/records.h"
#include "session/config.h"
#include "session/session.h"
#include "tlog/tlog_setup.h"

#define SESSION_SLICE_NS (5 * NS_PER_MS) /* how long events may wait before the sinks draw them */

#define SESSION_MAX_LOGS 32

struct session_log {
    struct session *session;
    char stream[64], core_name[64];       /* name "" = not known */
    size_t core;                          /* index into cores, and which capture interface */
    struct tlog_consumer_options options; /* of the consumer; its strings are those above */
    struct tlog_consumer *consumer;
    bool look_only;      /* never takes a batch */
    unsigned idle, skip; /* empty polls in a row; turns that are left out */
    int job;             /* of the link thread */

    /* The message queue, where there is one: the log is given a buffer of its own once the firmware is ready.
     */
    struct tlog_setup *setup;
    uint64_t setup_address, own_address; /* the buffer we give; the one that the firmware takes by itself */
    int64_t next_look;                   /* when the queue is looked at again */
    struct diag setup_error;

    /* For session_log_status. */
    bool header_known;
    uint8_t header[16]; /* as last seen */
    int64_t active_ns;  /* when something last changed or came; EVENT_NO_TIME = never */
    int64_t since_ns;   /* when watching began */
};

/* A core's cycle counter; on the link's thread only. */
struct session_clock {
    struct clock_domain *domain; /* NULL = no frequency is known */
    struct clock_unwrap unwrap;
    int64_t last_host_ns; /* when it was last read, or last went on */
    bool halted;
};

/* Packets in RAM being read; on the link's thread. */
struct session_records {
    struct session *session;
    struct prof_records_reader *reader;
    char name[80]; /* of the sender */
    int job;
};

/* A sender whose packets come through the link, in the capture file. */
struct session_fetched {
    char source[80];
    bool has_interface; /* else the file had no room for one more, which was told */
    uint32_t interface_id;
    uint64_t packets;
};

struct session {
    struct session_options options;
    struct event_bus *bus;
    struct host_clock *clock;
    struct link_thread *thread;

    bool came;     /* as --connect says */
    bool detached; /* the target has been left */
    unsigned caps; /* of the link; known after session_connect */
    bool has_stub; /* its cores are a gdb stub's */
    bool is_board;
    unsigned board_programs;
    struct link_sim_info board;

    size_t core_count;
    struct core *cores[SESSION_MAX_CORES];
    struct cs_topology *topology;    /* what discovery found, or NULL */
    size_t found[SESSION_MAX_CORES]; /* a core's place in it */
    struct session_pack *pack;       /* NULL without a description of the device */
    struct symbol_index *symbols[SESSION_MAX_CORES];
    struct symbol_index *images[LINK_SIM_CORES]; /* of the board's programs, until a core takes it over */
    struct group *group;

    struct session_clock clocks[SESSION_MAX_CORES];

    size_t log_count;
    bool logs_stopped;
    struct session_log logs[SESSION_MAX_LOGS];

    struct profiling *profiling; /* NULL without profile */
    atomic_bool profile_stopped; /* the board's datagrams are sent to nobody */
    size_t records_count;        /* buffers of packets in RAM */
    struct session_records records[SESSION_MAX_CORES];
    struct prof_pcsr *pcsr; /* NULL = no PC sampling; the link's thread */
    int pcsr_job;
    char pcsr_note[320];
    int senders[LINK_SIM_CORES]; /* the board's datagram ports as UDP sockets, -1 = none */
    uint64_t datagrams_sent;     /* and expected at the collector; link's thread */

    struct capture_writer *_Atomic capture; /* looked at by the collector's and the link's thread */
    uint32_t capture_udp;
    uint32_t capture_logs[SESSION_MAX_CORES];
    size_t fetched_count; /* link's thread, until it has ended */
    struct session_fetched fetched[2 * SESSION_MAX_CORES];
};

/* session.c: what --connect says, once; before anything else is done to the target */
enum corral_err session_come_to_target(struct session *s, struct diag *d);

/* link_open.c: "sim" or "sim:..." */
bool session_words_mean_board(const char *spec);
/* The name of the file that the words "sim:A,B" give to core `core`; "" for the built-in image. */
void session_image_name(const char *spec, unsigned core, char *out, size_t size);

/* discover.c: what the core on this AP is called, before it is found */
#define SESSION_LABEL_MAX 64
const char *session_core_label(const struct session *s, unsigned ap, char out[SESSION_LABEL_MAX]);
/* discover.c: which of the virtual board's cores is behind this access port; LINK_SIM_CORES: none of them */
size_t session_board_core(const struct session *s, uint32_t ap);
/* discover.c: on the link's thread; ctx is the session */
enum corral_err session_open_images(struct link *link, void *ctx, struct diag *d); /* before the board runs */
enum corral_err session_discover(struct link *link, void *ctx, struct diag *d);

/* session_pack.c: nothing of it does anything without a description. On the link's thread but for the first
 * and last two. */
enum corral_err session_pack_open(struct session *s, struct diag *d);
/* The description where it is one of this target: the virtual board is none of the devices there are. */
const struct pack_device *session_pack_for_target(const struct session *s);
/* DebugPortSetup and what follows it, before anything else touches the target. */
enum corral_err session_pack_connect(struct link *link, void *ctx, struct diag *d);
/* Once the topology is known: which processor is which core. */
enum corral_err session_pack_bind(struct session *s, struct diag *d);
/* The processor on this access port; NULL = none, or there is no description. */
const struct pack_processor *session_pack_processor(const struct session *s, uint32_t ap);
/* Is the core on this access port one of those that are described (or is nothing described)? */
bool session_pack_knows(const struct session *s, uint32_t ap);
/* Once the cores are open: DebugCoreSetup, DebugCoreStart; and the group gets to know of the sequences. */
enum corral_err session_pack_start(struct session *s, struct link *link, struct diag *d);
/* For a group of all the session's cores: what it does by sequences. NULL = nothing. */
const struct group_sequences *session_pack_sequences(const struct session *s);
const struct group_reset_by *session_pack_reset_by(const struct session *s); /* NULL = their own way */
/* session_detach; `look` sees the target as the group has left it, before a pack's DebugCoreStop and
 * DebugPortStop, after which nothing answers. On the link's thread; what it returns does not count. */
enum corral_err session_detach_and_look(struct session *s, bool leave_halted, link_call_fn look, void *ctx,
                                        struct diag *d);
/* After group_detach. */
enum corral_err session_pack_leave(struct session *s, struct link *link, bool leave_halted, struct diag *d);
/* The gdb ports that the description gives its processors, one for each core: those that it does not name get
 * the next free numbers. False where it gives none. */
bool session_pack_ports(const struct session *s, uint16_t ports[SESSION_MAX_CORES]);
/* The program that the description names for a core, or NULL; whether it must be readable is the caller's. */
const char *session_pack_program(const struct session *s, size_t core);
void session_pack_note(struct session *s, const char *sentence); /* to be told */
void session_pack_tell(struct session *s); /* what was to be said, on the caller's thread */
void session_pack_close(struct session *s);

/* profile.c */
enum corral_err session_profile_open(struct session *s, struct diag *d);
enum corral_err session_profile_images(struct session *s, struct diag *d); /* once the cores are known */
void session_profile_close(struct session *s);
void session_on_datagram(void *ctx, unsigned core, const uint8_t *data, size_t size);

/* profile_capture.c: a packet that came through the link, into the capture file when there is one; `ctx` is
 * the session. On the link's thread. */
void session_capture_fetched(void *ctx, const char *source, const uint8_t *data, size_t size,
                             int64_t host_ns);
void session_capture_stats(struct session *s); /* once nothing comes any more */

/* profile_fetch.c */
enum corral_err session_pcsr_close(struct session *s, struct diag *d); /* puts back what it changed */
void session_profile_fetch_free(struct session *s);                    /* once the link's thread has ended */

/* Give each core's log batches an interface of the capture file, when there is one. */
enum corral_err session_capture_cores(struct session *s, struct diag *d);

/* clocks.c; the cut is told on the link's thread, right after all cores were halted or started */
void session_clocks_cut(struct session *s, bool halted);
void session_clocks_close(struct session *s);

/* logs.c */
void session_logs_close(struct session *s);

/* log_queue.c: before each poll; on the link's thread. An error of the queue stays with the log. */
void session_log_set_up(struct session_log *log, struct link *link);
void session_log_release(struct session_log *log, struct link *link);
/* log_status.c: after each poll */
void session_log_note(struct session_log *log, struct link *link, bool took);

/* Run fn(link, ctx, d) on the link's thread at the priority of run control. */
enum corral_err session_call(struct session *s, link_call_fn fn, void *ctx, struct diag *d);

#endif
