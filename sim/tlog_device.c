/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated firmware-log device as a whole: its life, its loop, its control socket, its report. What the
 * device is made of: tlog_device_internal.h.
 */
#include "sim/tlog_device.h"

#include "sim/control_socket.h"
#include "sim/tlog_device_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS_DEFAULT 20u
#define IDLE_NS           100000000LL /* the longest sleep: *stop and the end of a silence are seen after it */

enum { POLL_LISTENER, POLL_GUEST, POLL_BELL, POLL_CONTROL_LISTENER, POLL_CONTROL, POLL_COUNT };

int64_t tlog_device_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- control ---- */

enum corral_err tlog_device_control_open(struct tlog_device *dev, struct diag *d)
{
    if (!dev->options.control)
        return CORRAL_OK;
    dev->control_listener = control_socket_listen(dev->options.control, d);
    return dev->control_listener < 0 ? d ? d->code : CORRAL_ERR_IO : CORRAL_OK;
}

void tlog_device_control_close(struct tlog_device *dev)
{
    if (dev->control >= 0)
        close(dev->control);
    if (dev->control_listener >= 0) {
        unlink(dev->options.control);
        close(dev->control_listener);
    }
}

void tlog_device_control_accept(struct tlog_device *dev)
{
    int fd = accept4(dev->control_listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (dev->control >= 0) { /* the newest controller counts: the one before may have died */
        close(dev->control);
    }
    dev->control = fd;
    dev->line_used = 0;
}

static void answer(struct tlog_device *dev, const char *line)
{
    char reply[1024];
    tlog_device_command(dev, line, reply, sizeof(reply) - 1);
    size_t size = strlen(reply);
    reply[size++] = '\n';
    /* A controller that does not read its answers must not hold up the device. */
    if (send(dev->control, reply, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size) {
        close(dev->control);
        dev->control = -1;
    }
}

void tlog_device_control_input(struct tlog_device *dev)
{
    ssize_t got =
        recv(dev->control, dev->line + dev->line_used, sizeof(dev->line) - dev->line_used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0)
        dev->line_used += (size_t)got;
    char *end;
    while (got > 0 && dev->control >= 0 && (end = memchr(dev->line, '\n', dev->line_used)) != NULL) {
        size_t size = (size_t)(end - dev->line) + 1;
        *end = 0;
        if (end > dev->line && end[-1] == '\r')
            end[-1] = 0;
        answer(dev, dev->line);
        dev->line_used -= size;
        memmove(dev->line, dev->line + size, dev->line_used);
    }
    if (dev->control >= 0 && (got <= 0 || dev->line_used == sizeof(dev->line))) {
        close(dev->control);
        dev->control = -1;
    }
}

/* ---- life ---- */

/* "a=1,b" as the commands "a 1" and "b". */
static enum corral_err start_misbehaving(struct tlog_device *dev, struct diag *d)
{
    const char *at = dev->options.misbehave;
    char line[256], reply[128];
    while (at && *at) {
        size_t size = strcspn(at, ",");
        if (size >= sizeof(line))
            return diag_set(d, CORRAL_ERR_USAGE, "a misbehaviour of %zu characters is too long", size);
        memcpy(line, at, size);
        line[size] = 0;
        for (char *c = line; *c; c++)
            if (*c == '=')
                *c = ' ';
        if (!tlog_device_command(dev, line, reply, sizeof(reply))) {
            diag_set(d, CORRAL_ERR_USAGE, "the device cannot misbehave like '%s' from the start", line);
            diag_hint(d, "the commands are in docs/tlog-device.md; those about a buffer need one");
            return CORRAL_ERR_USAGE;
        }
        at += size + (at[size] == ',');
    }
    return CORRAL_OK;
}

struct tlog_device *tlog_device_open(const struct tlog_device_options *options, struct diag *d)
{
    struct tlog_device *dev = calloc(1, sizeof(*dev));
    if (!dev) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    dev->options = *options;
    if (dev->options.period_ms == 0)
        dev->options.period_ms = PERIOD_MS_DEFAULT;
    dev->listener = dev->guest = dev->bar_fd = dev->ram_fd = dev->control_listener = dev->control = -1;
    for (uint32_t i = 0; i < TLOG_PCI_VECTORS; i++)
        dev->bell[i] = dev->vector[i] = -1;
    dev->left = options->count;
    dev->rate = options->rate;
    dev->level = TLOG_INF;
    dev->next_record_ns = tlog_device_now();
    if (tlog_device_broker_open(dev, d) == CORRAL_OK && tlog_device_control_open(dev, d) == CORRAL_OK &&
        tlog_device_firmware_start(dev, d) == CORRAL_OK && start_misbehaving(dev, d) == CORRAL_OK)
        return dev;
    tlog_device_free(dev);
    return NULL;
}

void tlog_device_free(struct tlog_device *dev)
{
    if (!dev)
        return;
    tlog_device_queue_stop(dev);
    tlog_device_control_close(dev);
    tlog_device_broker_close(dev);
    tlog_device_ram_close(dev);
    free(dev);
}

/* The guest sends nothing on its socket: whatever happens there is its end, and bytes are thrown away. */
static bool guest_is_gone(const struct tlog_device *dev)
{
    char bytes[4096];
    ssize_t got = recv(dev->guest, bytes, sizeof(bytes), MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void sleep_until_something(struct tlog_device *dev, struct pollfd *fds)
{
    int64_t now = tlog_device_now(), due = tlog_device_firmware_due(dev, now),
            late = tlog_device_queue_due(dev);
    int64_t wait = (late < due ? late : due) - now;
    wait = wait < 0 ? 0 : wait > IDLE_NS ? IDLE_NS : wait;
    const int fd[POLL_COUNT] = {dev->listener, dev->guest, dev->bell[TLOG_PCI_BELL_QUEUE],
                                dev->control_listener, dev->control};
    for (int i = 0; i < POLL_COUNT; i++)
        fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    const struct timespec t = {.tv_sec = 0, .tv_nsec = (long)wait};
    if (ppoll(fds, POLL_COUNT, &t, NULL) < 0)
        for (int i = 0; i < POLL_COUNT; i++)
            fds[i].revents = 0;
}

enum corral_err tlog_device_run(struct tlog_device *dev, const atomic_bool *stop, struct diag *d)
{
    struct pollfd fds[POLL_COUNT];
    while (!dev->quit && !(stop && atomic_load(stop))) {
        sleep_until_something(dev, fds);
        if (fds[POLL_LISTENER].revents) {
            enum corral_err err = tlog_device_accept(dev, d);
            if (err != CORRAL_OK)
                return err;
        }
        if (fds[POLL_BELL].revents) {
            uint64_t rings;
            if (read(dev->bell[TLOG_PCI_BELL_QUEUE], &rings, sizeof(rings)) == (ssize_t)sizeof(rings)) {
                dev->report.doorbells++;
                /* Not before: QEMU connects first and makes its memory later. */
                if (!dev->ram && tlog_device_ram_open(dev, d) != CORRAL_OK)
                    return d ? d->code : CORRAL_ERR_IO;
                tlog_device_queue_scan(dev);
            }
        }
        if (fds[POLL_CONTROL_LISTENER].revents)
            tlog_device_control_accept(dev);
        else if (fds[POLL_CONTROL].revents)
            tlog_device_control_input(dev);
        int64_t now = tlog_device_now();
        tlog_device_queue_late(dev, now);
        tlog_device_firmware_work(dev, now);
        if (fds[POLL_GUEST].revents && guest_is_gone(dev))
            return CORRAL_OK;
        if (dev->ram && !tlog_device_ram_whole(dev))
            return diag_set(d, CORRAL_ERR_IO, "the file of the guest's memory has become shorter");
    }
    return CORRAL_OK;
}

void tlog_device_get_report(const struct tlog_device *dev, struct tlog_device_report *report)
{
    const struct tlog_device_firmware *fw = &dev->firmware;
    const struct tlog_producer_counts *c = &fw->producer.counts;
    *report = dev->report;
    report->active = fw->active;
    report->left = dev->left;
    report->address = fw->active ? fw->address : 0;
    report->size = fw->active ? fw->size : 0;
    report->owner = fw->active ? tlog_device_ram_read(dev, fw->address + 12) & 0xFFu : 0;
    if (fw->running) {
        report->logged = (uint64_t)c->logged + c->notices;
        report->delivered = c->delivered;
        report->dropped = c->dropped;
        report->staged = fw->producer.used;
        report->batches += c->batches;
        report->records += c->delivered;
    }
}
