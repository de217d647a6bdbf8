/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP client's end for the links that talk to a server: connecting, sending and receiving, each bounded in
 * real time (a wire to another process knows no virtual clock), no SIGPIPE. Knows no protocol.
 */
#ifndef CORRAL_LINK_LINK_TCP_H
#define CORRAL_LINK_LINK_TCP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "link/link.h"

#define LINK_TCP_NAME 160

/* "HOST:PORT", "[IPV6]:PORT". Returns the socket, or -1 with *d set; `name` then holds the words, escaped. */
int link_tcp_connect(const char *words, const char *kind, char name[LINK_TCP_NAME], struct diag *d);

/* The same within `ms` an address, where 3 s are too long. */
int link_tcp_connect_within(const char *words, const char *kind, int ms, char name[LINK_TCP_NAME],
                            struct diag *d);

/* Milliseconds of real time, from an arbitrary zero. */
int64_t link_tcp_now(void);

/* `when` of `clock`, a real one, in the terms of link_tcp_now; LINK_NO_DEADLINE becomes INT64_MAX. */
int64_t link_tcp_limit(struct host_clock *clock, int64_t when);
/* Until when a link that is opened now may take (options may be NULL). */
int64_t link_tcp_open_limit(const struct link_options *options);
/* Milliseconds until `limit`, `most` at most, 0 at least. */
int link_tcp_left(int64_t limit, int most);

/* All of it within `ms`. 0, or -1 with errno (ETIMEDOUT where time ran out). */
int link_tcp_send(int fd, const void *data, size_t size, int ms);
/* At least one byte within `ms`, or 0 at the peer's end, or -1 with errno. */
ssize_t link_tcp_receive(int fd, void *data, size_t room, int ms);

#endif
