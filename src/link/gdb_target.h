/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the gdb link share. Only gdb*.c include this. */
#ifndef CORRAL_LINK_GDB_TARGET_H
#define CORRAL_LINK_GDB_TARGET_H

#include "link/gdb.h"
#include "link/gdb_rsp.h"

#define GDB_XML_MAX (64u << 10)

#define GDB_POINTS 128

/* A breakpoint or watchpoint that the stub has. QEMU's stop whichever core comes by, so that there a core
 * shares another one's. */
struct gdb_point {
    unsigned users; /* 0: free */
    unsigned type;
    size_t core; /* SIZE_MAX: of all */
    uint32_t address, size;
};

struct gdb {
    struct gdb_rsp *rpc;
    struct gdb_features features;
    bool qemu, vcont;
    bool binary;        /* X packets */
    bool never_started; /* QEMU with -S that nobody has let go yet */
    bool keep;          /* closing leaves the target as it is */
    size_t cores;
    struct gdb_thread_id core[LINK_GDB_CORES];
    char id[LINK_GDB_CORES][24];
    int selected; /* the core that Hg last named, or -1 */
    struct link_gdb_state state;
    struct gdb_registers registers[LINK_GDB_CORES]; /* QEMU's cores are not alike: one may lack an FPU */
    struct gdb_point points[GDB_POINTS];
    char xml[GDB_XML_MAX + 1];
};

/* gdb.c */
struct gdb *gdb_of(struct link *link); /* NULL: another kind of link */
size_t gdb_core_of(const struct gdb *g, const struct gdb_stop *stop);
enum corral_err gdb_ask(struct gdb *g, const char *packet, const char **answer, struct diag *d);
/* The stub's refusal to `what` as a sentence; CORRAL_OK when the answer is none. */
enum corral_err gdb_refusal(const struct gdb *g, const char *answer, const char *what, struct diag *d);
enum corral_err gdb_nonsense(const struct gdb *g, const char *about, struct diag *d);
enum corral_err gdb_expect_ok(struct gdb *g, const char *packet, const char *what, struct diag *d);
/* The core whose view the next packets mean. */
enum corral_err gdb_select_core(struct gdb *g, size_t core, struct diag *d);

/* gdb_run.c: a target that runs is not asked anything. */
enum corral_err gdb_require_stopped(const struct gdb *g, struct diag *d);

/* gdb_access.c */
enum corral_err gdb_access_memory(struct gdb *g, struct link_access *a, struct diag *d);

#endif
