/* SPDX-License-Identifier: Apache-2.0 */
/* A producer of either mode on a host buffer, for the tests that compare the two. */
#ifndef CORRAL_TESTS_LOG_RIG_H
#define CORRAL_TESTS_LOG_RIG_H

#include "host_buffer.h"

struct log_rig {
    struct host_buffer *host;
    struct tlog_producer producer;
    uint8_t *staging; /* exactly staging_size bytes: the sanitizer sees an overrun */
    char text[8192];
};

/* Neither attached nor anything staged. In compatible mode torn records are allowed. */
struct log_rig *log_rig_new(unsigned mode, uint32_t buffer_size, uint32_t staging_size);
/* Checks the counters against what the host got, and the guards. */
void log_rig_free(struct log_rig *r);
bool log_rig_attach(struct log_rig *r);
bool log_rig_log(struct log_rig *r, uint32_t text_length);
bool log_rig_error(struct log_rig *r, const char *text);
/* Log until `used` bytes are staged. */
void log_rig_stage(struct log_rig *r, uint32_t used);
/* Take batches and tick until nothing comes. */
void log_rig_drain(struct log_rig *r);
uint32_t log_rig_staged(const struct log_rig *r); /* records */
/* Sequence numbers that the host has not seen, of all that were used. */
uint32_t log_rig_missing(const struct log_rig *r);

#endif
