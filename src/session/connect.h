/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a target is come to: the global options --protocol, --connect and --wire-log (INTERFACE.md "General"),
 * and what --connect does with the reset line.
 */
#ifndef CORRAL_SESSION_CONNECT_H
#define CORRAL_SESSION_CONNECT_H

#include "base/diag.h"
#include "link/link.h"

enum connect_mode {
    CONNECT_DEFAULT,     /* what corral.yml says, else attach */
    CONNECT_ATTACH,      /* nothing is done to the target */
    CONNECT_UNDER_RESET, /* nRESET is held low until every core will stop at its reset vector */
    CONNECT_PRE_RESET,   /* a pulse on nRESET before anything else */
};
/* False: not one of the words "attach", "under-reset", "pre-reset"; "swd", "jtag". */
bool connect_mode_named(const char *word, enum connect_mode *mode);
bool connect_protocol_named(const char *word, enum link_protocol *protocol);

/* Zeros: what corral.yml says, else the link's default. Strings are borrowed. */
struct session_wire {
    enum link_protocol protocol;
    enum connect_mode connect;
    const char *log; /* where every access is written down, or NULL */
    /* Called on the caller's thread with what is to be said beside a command's answer: one sentence a time.
     * May be NULL. */
    void (*note)(void *ctx, const char *sentence);
    void *ctx;
};

struct config;
/* A link from its words, for who needs no session; else as session_open_link (session.h). `timeout_ns` bounds
 * the opening; 0 or less = as long as the link thinks right. `wire` may be NULL. */
struct host_clock;
struct link *session_open_wire(const char *spec, uint32_t clock_hz, const struct session_wire *wire,
                               int64_t timeout_ns, const struct config *config, struct host_clock **clock,
                               struct diag *d);
/* The mode that counts: the command line's, else, where the link is corral.yml's own, what that says. */
enum connect_mode session_connect_mode(const char *spec, const struct session_wire *wire,
                                       const struct config *config);

#define CONNECT_NOTE 320
/*
 * Do what `mode` says; on the link's thread, before anything else. What could not be done as meant, but was
 * made up for, is a sentence in `note` ("" = nothing). With CONNECT_UNDER_RESET every core that can be found
 * is halted then; `hints` (NULL = none) says where to look, and where not to: some parts hang on an access
 * port that is not there. CORRAL_ERR_UNSUPPORTED on a link without a reset line.
 */
struct cs_hints;
enum corral_err connect_target(struct link *link, enum connect_mode mode, const struct cs_hints *hints,
                               char note[CONNECT_NOTE], struct diag *d);

#endif
