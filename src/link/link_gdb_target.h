/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the gdb link share. Only link_gdb*.c include this. */
#ifndef CORRAL_LINK_LINK_GDB_TARGET_H
#define CORRAL_LINK_LINK_GDB_TARGET_H

#include "link/link_gdb.h"
#include "link/rsp.h"

#define LINK_GDB_XML_MAX (64u << 10)

#define LINK_GDB_POINTS 128

/* A breakpoint or watchpoint that the stub has. QEMU's stop whichever core comes by, so that there a core
 * shares another one's. */
struct link_gdb_point {
    unsigned users; /* 0: free */
    unsigned type;
    size_t core; /* SIZE_MAX: of all */
    uint32_t address, size;
};

struct link_gdb {
    struct rsp *rpc;
    struct rsp_features features;
    bool qemu, vcont;
    bool binary;        /* X packets */
    bool never_started; /* QEMU with -S that nobody has let go yet */
    bool keep;          /* closing leaves the target as it is */
    size_t cores;
    struct rsp_thread_id core[LINK_GDB_CORES];
    char id[LINK_GDB_CORES][24];
    int selected; /* the core that Hg last named, or -1 */
    struct link_gdb_state state;
    struct rsp_registers registers[LINK_GDB_CORES]; /* QEMU's cores are not alike: one may lack an FPU */
    struct link_gdb_point points[LINK_GDB_POINTS];
    char xml[LINK_GDB_XML_MAX + 1];
};

/* link_gdb.c */
struct link_gdb *link_gdb_of(struct link *link); /* NULL: another kind of link */
size_t link_gdb_core_of(const struct link_gdb *g, const struct rsp_stop *stop);
enum corral_err link_gdb_ask(struct link_gdb *g, const char *packet, const char **answer, struct diag *d);
/* The stub's refusal to `what` as a sentence; CORRAL_OK when the answer is none. */
enum corral_err link_gdb_refusal(const struct link_gdb *g, const char *answer, const char *what,
                                 struct diag *d);
enum corral_err link_gdb_nonsense(const struct link_gdb *g, const char *about, struct diag *d);
enum corral_err link_gdb_expect_ok(struct link_gdb *g, const char *packet, const char *what, struct diag *d);
/* The core whose view the next packets mean. */
enum corral_err link_gdb_select_core(struct link_gdb *g, size_t core, struct diag *d);

/* link_gdb_run.c: a target that runs is not asked anything. */
enum corral_err link_gdb_require_stopped(const struct link_gdb *g, struct diag *d);

/* link_gdb_access.c */
enum corral_err link_gdb_access_memory(struct link_gdb *g, struct link_access *a, struct diag *d);

#endif
