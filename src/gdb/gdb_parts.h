/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub's files share. Only files of src/gdb/ include this. */
#ifndef CORRAL_GDB_GDB_PARTS_H
#define CORRAL_GDB_GDB_PARTS_H

#include "gdb/frame.h"
#include "gdb/gdb_hub.h"
#include "gdb/request.h"

/* ---- gdb_payload.c: a payload being put together; what does not fit is left out and `cut` says so */

struct gdb_payload {
    char *data;
    size_t size, room;
    bool cut;
};

void gdb_payload_start(struct gdb_payload *r, char *data, size_t room);
void gdb_payload_text(struct gdb_payload *r, const char *text);
void gdb_payload_bytes(struct gdb_payload *r, const char *bytes, size_t size);
void gdb_payload_format(struct gdb_payload *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gdb_payload_hex(struct gdb_payload *r, const void *bytes, size_t size);
void gdb_payload_hex32(struct gdb_payload *r, uint32_t value); /* in the target's order: little-endian */

/* ---- breakpoints and watchpoints of one client */

#define GDB_GENERAL_REGISTERS 17 /* r0 to pc, xpsr: what g has */

#define GDB_POINTS_MAX 1024 /* of one client */

struct gdb_point {
    unsigned type; /* of Z: 0 to 4 */
    uint32_t address, kind;
    size_t core;
    bool removed; /* by z while its core was halted: goes when this client resumes, not before (10.4) */
};

enum gdb_client_state { GDB_CLIENT_IDLE, GDB_CLIENT_WAITING };

struct gdb_client {
    struct gdb_hub *hub;
    size_t core; /* or GDB_ALL_CORES */
    gdb_send_fn send;
    void *ctx;
    enum gdb_client_state state;
    uint64_t seen_epoch;   /* the last stop of its domain that it was told of */
    size_t registers_of;   /* Hg: which core g and p mean */
    size_t control_of;     /* Hc: which core c and s mean; GDB_ALL_CORES = all */
    bool swbreak, hwbreak; /* gdb understands these reasons */
    bool leaving;
    bool looked; /* it has read registers since it was last told of a stop */
    struct {     /* of that stop, where the cores were started again before it had looked */
        bool known;
        uint32_t values[GDB_GENERAL_REGISTERS];
    } kept;
    bool came_to_running; /* or to one in reset, and has not looked at registers yet */
    struct {              /* stepping as long as pc is inside */
        bool on;
        size_t core;
        uint32_t start, end;
    } range;
    struct gdb_point *points;
    size_t point_count, point_room;
    struct gdb_client *next;
};

/* ---- the cores, and those that stop and start together */

struct gdb_core {
    struct core *core;
    size_t domain, member;  /* which domain, and its number in that domain's group */
    struct event_core last; /* as of the last stop */
    uint32_t last_xpsr;
    bool late; /* its domain has stopped, it has not */
};

struct gdb_domain {
    struct group *group;
    size_t first, count; /* cores */
    bool attached, running;
    uint64_t epoch; /* counts stops */
};

struct gdb_hub {
    struct gdb_hub_options options;
    bool sync;
    size_t core_count, domain_count;
    struct gdb_core cores[EVENT_MAX_CORES];
    struct gdb_domain domains[EVENT_MAX_CORES];
    struct gdb_client *clients;
    struct diag down;                 /* code CORRAL_ERR_LINK_DOWN once the link was found to be gone */
    char payload[GDB_PACKET_MAX + 1]; /* of the reply being made */
    uint8_t bytes[GDB_PACKET_MAX / 2];
    char xml[64 * 1024];
};

/* gdb_hub.c */
struct gdb_domain *gdb_domain_of(struct gdb_hub *hub, size_t core);
bool gdb_client_covers(const struct gdb_client *client, size_t core);
/* Is the core halted, as far as the hub was told? If not, *why is a sentence for gdb. */
bool gdb_core_halted(const struct gdb_hub *hub, size_t core, const char **why);
/* Start the domain of `core`, led by it. On failure the client has to be told of a stop all the same (D28).
 */
enum corral_err gdb_hub_run(struct gdb_hub *hub, size_t core, struct diag *d);
/* Halt it; everybody who waits is told. */
enum corral_err gdb_hub_halt(struct gdb_hub *hub, size_t core, struct diag *d);
enum corral_err gdb_hub_step(struct gdb_hub *hub, size_t core, struct diag *d);
enum corral_err gdb_hub_reset(struct gdb_hub *hub, size_t core, bool halt, struct diag *d);
enum corral_err gdb_hub_set_sync(struct gdb_hub *hub, bool on, struct diag *d);
/* Are there other clients in the domains that this one covers? */
bool gdb_client_alone(const struct gdb_client *client);

/* gdb_client.c */
void gdb_client_reply(struct gdb_client *client, const struct gdb_payload *r, enum gdb_send how);
void gdb_client_ok(struct gdb_client *client);
void gdb_client_error(struct gdb_client *client, const char *text);
/* Text for the user; may be sent while gdb waits for a stop, and while it waits for a command's end. */
void gdb_client_print(struct gdb_client *client, const char *text);
/* The cores are about to run: keep the registers of the last stop for a client that has not looked yet. */
void gdb_client_keep_registers(struct gdb_client *client);
/* The stop of `core` as this client is to see it; it waits no longer. */
void gdb_client_stopped(struct gdb_client *client, size_t core);

/* gdb_points.c */
void gdb_points_request(struct gdb_client *client, const struct gdb_request *r);
/* This client resumes: what it removed goes now. */
void gdb_points_settle(struct gdb_client *client);
void gdb_points_drop(struct gdb_client *client);
/* The client's own point that explains a stop at `pc`; NULL when it has none. */
const struct gdb_point *gdb_points_at(const struct gdb_client *client, size_t core, bool watch, uint32_t pc);

/* gdb_describe.c: documents for qXfer; NULL for one that is not there. In hub->xml. */
const char *gdb_describe(struct gdb_client *client, const char *object, const char *annex, size_t *size);
/* gdb's number of a register -> the core's; false = there is none. */
bool gdb_register_number(struct gdb_hub *hub, size_t core, uint64_t number, unsigned *found, unsigned *bits);

/* gdb_monitor.c */
void gdb_monitor(struct gdb_client *client, const char *words);

/* gdb_client_memory.c */
void gdb_memory_read(struct gdb_client *client, const struct gdb_request *r);
void gdb_memory_write(struct gdb_client *client, const struct gdb_request *r);
void gdb_memory_crc(struct gdb_client *client, const struct gdb_request *r);
void gdb_flash_request(struct gdb_client *client, const struct gdb_request *r);

#endif
