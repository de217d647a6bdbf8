/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same virtual board behind each link: in this process, or a `corral sim` of its own, with an OpenOCD in
 * front of it where the link wants one. For the tests that run one list of checks over all links, and for the
 * benchmark of them.
 */
#ifndef CORRAL_TESTS_LINK_PLACES_H
#define CORRAL_TESTS_LINK_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "link/link.h"

enum place_kind {
    PLACE_SIM,
    PLACE_JTAG,
    PLACE_CMSIS_DAP,
    PLACE_OPENOCD,       /* running, in front of --stlink */
    PLACE_OPENOCD_SPAWN, /* started by the link, in front of --jtag */
    PLACE_KINDS
};

struct place {
    enum place_kind kind;
    const char *name; /* "sim", "jtag", ... */
    struct host_clock *clock;
    struct link *link;
    uint16_t port; /* of the front in use */
    uint32_t ap;   /* an access port whose memory may be read for time to pass: 0, unless it is set */
    uint16_t tcl;  /* of a running OpenOCD */
    pid_t board, openocd;
    int said[2];           /* what the two say on stderr, or -1 */
    char config[40];       /* OpenOCD's, "" = none */
    char spec[80];         /* the link's words */
    char more[120];        /* the board's switches */
    const char *board_exe; /* of `corral` */
};

/*
 * Starts everything and opens the link. `corral` and `openocd` are paths of the programs; `more` are further
 * options of `corral sim`, or NULL. False with the reason in *d. `port`: 0, or where the front really is to
 * be reached (somebody stands in between).
 */
bool place_open(struct place *p, enum place_kind kind, const char *corral, const char *openocd,
                const char *more, struct diag *d);
/* The two steps of it: the programs, and the link. */
bool place_start(struct place *p, enum place_kind kind, const char *corral, const char *openocd,
                 const char *more, struct diag *d);
bool place_link(struct place *p, const struct link_options *options, struct diag *d);
/* Ends and reaps what was started. */
void place_close(struct place *p);

/* About `ms` of board time pass, whatever drives it. */
bool place_let_pass(struct place *p, unsigned ms);

#endif
