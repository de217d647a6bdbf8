/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in the guest: reads a /dev/tlogN, checks the framing of uapi/linux/tlog.h and the order of the stream
 * that the emulator generates ("n=N" in the text), and prints one line of counts. Linked statically.
 *
 *   tlog_reader DEV [-n COUNT] [-e COUNT] [-t MS] [-s MS] [-b BYTES] [-B] [-d] [-p] [-i] [-m]
 *     -n  end after COUNT frames of the stream    -t  end when nothing came for MS (never)
 *     -s  sleep so long after each read           -b  size of the read buffer (65536)
 *     -B  block in read() instead of poll()       -d  first read away what is there, then say "ready"
 *     -p  print each text                         -i  print GET_INFO and end
 *     -e  print "at N" when N frames of the stream were read, N a multiple of COUNT
 *     -m  write "readable" to the kernel's trace whenever poll() finds something
 *
 * SIGTERM (without -B) makes it read what is there, without sleeping, and end. A test that waits for records
 * has to use that or -n: how long nothing comes says only how busy the machine is.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/tlog.h>

struct counts {
    uint64_t frames, stream, first, last, bad, disorder, missing, lost, gaps, restarts, torn;
    uint64_t host_ns, every;
    bool excused; /* a gap, restart or loss since the last frame of the stream */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take(struct counts *c, const struct tlog_frame *f, const char *text, bool print)
{
    char copy[4200];
    size_t size = f->text_size < sizeof(copy) - 1 ? f->text_size : sizeof(copy) - 1;
    memcpy(copy, text, size);
    copy[size] = 0;
    c->frames++;
    c->missing += f->missing;
    c->lost += f->lost;
    c->gaps += (f->flags & TLOG_FRAME_GAP) != 0;
    c->restarts += (f->flags & TLOG_FRAME_RESTART) != 0;
    c->torn += (f->flags & TLOG_FRAME_TORN) != 0;
    c->bad += ((f->flags & TLOG_FRAME_GAP) != 0) != (f->missing != 0); /* one says what the other says */
    c->bad += f->host_ns < c->host_ns || f->host_ns > now_ns();
    c->host_ns = f->host_ns;
    c->excused |= (f->flags & (TLOG_FRAME_GAP | TLOG_FRAME_RESTART)) != 0 || f->lost != 0;
    if (print)
        printf("%u %u %" PRIu32 " %s\n", f->level, f->source, f->sequence, copy);
    const char *at = strstr(copy, " n=");
    char *end = NULL;
    uint64_t n = at ? strtoull(at + 3, &end, 10) : 0;
    if (!at || strncmp(end, " g=", 3) != 0) {
        /* A record of the stream that was cut to what room there was: before its number, or in it. */
        c->excused |= copy[0] == 0 || copy[0] == '[';
        return;
    }
    if (c->stream == 0)
        c->first = n;
    else if (n != c->last + 1 && !c->excused)
        c->disorder++;
    c->excused = false;
    c->last = n;
    c->stream++;
    if (c->every && c->stream % c->every == 0)
        printf("at %" PRIu64 "\n", c->stream);
}

/* Whole frames and nothing else, or it counts as bad and ends there. */
static void frames(struct counts *c, const uint8_t *bytes, size_t size, bool print)
{
    for (size_t at = 0; at < size;) {
        struct tlog_frame f;
        if (size - at < sizeof(f)) {
            c->bad++;
            return;
        }
        memcpy(&f, bytes + at, sizeof(f));
        if (f.size % 8 != 0 || f.size < sizeof(f) || f.size > size - at || f.text_size > f.size - sizeof(f) ||
            f.size - sizeof(f) - f.text_size >= 8) {
            c->bad++;
            return;
        }
        for (size_t i = at + sizeof(f) + f.text_size; i < at + f.size; i++)
            c->bad += bytes[i] != 0;
        take(c, &f, (const char *)bytes + at + sizeof(f), print);
        at += f.size;
    }
}

static int info(int fd)
{
    struct tlog_info i;
    if (ioctl(fd, TLOG_IOC_GET_INFO, &i) != 0) {
        printf("errno=%d\n", errno);
        return 1;
    }
    printf("abi=%u buffer=%u version=%u state=%u batches=%llu records=%llu gaps=%llu lost=%llu status=%u\n",
           i.abi_version, i.buffer_size, i.firmware_version, i.state, (unsigned long long)i.batches,
           (unsigned long long)i.records, (unsigned long long)i.gaps, (unsigned long long)i.lost,
           i.setup_status);
    return 0;
}

static void interrupt(int signal)
{
    (void)signal; /* it interrupts ppoll(): that is all that is wanted of it */
}

/* Until there is something to read, or `timeout` ms have gone (-1: for ever), or SIGTERM has come, which
 * nothing else lets through: 1, 0 or -1. */
static int wait_for_frames(int fd, int timeout, const sigset_t *outside)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};
    sigset_t pending;
    int found = ppoll(&p, 1, timeout < 0 ? NULL : &t, outside);
    /* With something to read it does not look for signals. */
    if (found > 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1) {
        errno = EINTR;
        return -1;
    }
    return found;
}

int main(int argc, char **argv)
{
    struct counts c = {0}, before;
    uint64_t want = UINT64_MAX;
    int timeout = -1, pause = 0, option, error = 0;
    size_t size = 65536;
    bool blocking = false, drain = false, print = false, ask = false, ending = false;
    int marker = -1;
    while ((option = getopt(argc, argv, "n:e:t:s:b:Bdpim")) != -1) {
        switch (option) {
        case 'n':
            want = strtoull(optarg, NULL, 0);
            break;
        case 'e':
            c.every = strtoull(optarg, NULL, 0);
            break;
        case 't':
            timeout = atoi(optarg);
            break;
        case 's':
            pause = atoi(optarg);
            break;
        case 'b':
            size = strtoul(optarg, NULL, 0);
            break;
        case 'B':
            blocking = true;
            break;
        case 'd':
            drain = true;
            break;
        case 'p':
            print = true;
            break;
        case 'i':
            ask = true;
            break;
        case 'm':
            marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
            break;
        default:
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int fd = optind < argc ? open(argv[optind], O_RDONLY | O_NONBLOCK) : -1;
    uint8_t *bytes = malloc(size + 1);
    if (fd < 0 || !bytes) {
        printf("open errno=%d\n", errno);
        return 1;
    }
    if (ask)
        return info(fd);
    while (drain && read(fd, bytes, size) > 0)
        ;
    sigset_t terminate, outside;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    if (blocking)
        fcntl(fd, F_SETFL, 0);
    else if (sigprocmask(SIG_BLOCK, &terminate, &outside) != 0 || signal(SIGTERM, interrupt) == SIG_ERR)
        return 2;
    puts("ready");
    while (c.stream < want) {
        if (!blocking && !ending) {
            int found = wait_for_frames(fd, timeout, &outside);
            ending = found < 0 && errno == EINTR;
            if (found <= 0 && !ending)
                break;
            if (marker >= 0 && write(marker, "readable", 8) < 0)
                break;
        }
        ssize_t got = read(fd, bytes, size);
        if (got < 0 && errno == EAGAIN) {
            if (ending)
                break;
            continue;
        }
        if (got <= 0) {
            error = got < 0 ? errno : -1; /* end of file is not foreseen */
            break;
        }
        before = c;
        frames(&c, bytes, (size_t)got, print);
        if (c.bad != before.bad)
            break;
        if (pause && !ending)
            usleep((useconds_t)pause * 1000u);
    }
    printf("frames=%" PRIu64 " stream=%" PRIu64 " first=%" PRIu64 " last=%" PRIu64 " bad=%" PRIu64
           " disorder=%" PRIu64 " missing=%" PRIu64 " lost=%" PRIu64 " gaps=%" PRIu64 " restarts=%" PRIu64
           " torn=%" PRIu64 " errno=%d\n",
           c.frames, c.stream, c.first, c.last, c.bad, c.disorder, c.missing, c.lost, c.gaps, c.restarts,
           c.torn, error);
    return 0;
}
