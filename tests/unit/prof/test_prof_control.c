/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control channel: profiler sheet 6, and rows 61 and 62 of its section 11. The text half on bytes, the
 * client against the daemon of the virtual board and against peers that misbehave.
 */
#include "prof/control.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/host_clock.h"
#include "sim/profile_target.h"

/* What a sink was told, a line each. */
struct told {
    pthread_mutex_t lock;
    char text[8192];
};

static void tell(struct told *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(struct told *t, const char *fmt, ...)
{
    va_list list;
    pthread_mutex_lock(&t->lock);
    size_t used = strlen(t->text);
    va_start(list, fmt);
    vsnprintf(t->text + used, sizeof(t->text) - used, fmt, list);
    va_end(list);
    pthread_mutex_unlock(&t->lock);
}

static void on_begin(void *ctx, uint32_t pid, const char *version)
{
    tell(ctx, "begin %u %s\n", pid, version ? version : "-");
}
static void on_command(void *ctx, uint32_t pid, const char *command_line)
{
    tell(ctx, "command %u %s\n", pid, command_line);
}
static void on_map(void *ctx, uint32_t pid, const struct prof_control_map *map)
{
    tell(ctx, "map %u %llx-%llx %s +%llx '%s'\n", pid, (unsigned long long)map->start,
         (unsigned long long)map->end, map->permissions, (unsigned long long)map->file_offset, map->path);
}
static void on_module(void *ctx, const struct prof_control_module *module)
{
    tell(ctx, "module %s %llx %llu\n", module->name, (unsigned long long)module->address,
         (unsigned long long)module->size);
}
static void on_done(void *ctx, uint32_t pid, const char *reason)
{
    tell(ctx, "done %u %s\n", pid, reason ? reason : "-");
}
static void on_bad_line(void *ctx, const char *line)
{
    tell(ctx, "bad %s\n", line);
}

static struct prof_control_sink sink_to(struct told *t)
{
    memset(t, 0, sizeof(*t));
    pthread_mutex_init(&t->lock, NULL);
    return (struct prof_control_sink){t, on_begin, on_command, on_map, on_module, on_done, on_bad_line};
}

/* Feed in pieces of `piece` bytes (0 = at once). */
static struct prof_control_counts fed(const char *bytes, size_t size, size_t piece, struct told *told)
{
    struct prof_control_sink sink = sink_to(told);
    struct prof_control_text *t = prof_control_text_new(&sink);
    struct prof_control_counts counts;
    assert_non_null(t);
    for (size_t at = 0; at < size;) {
        size_t n = piece && piece < size - at ? piece : size - at;
        uint8_t *copy = malloc(n); /* of its own, so that reading past it is seen */
        assert_non_null(copy);
        memcpy(copy, bytes + at, n);
        prof_control_text_feed(t, copy, n);
        free(copy);
        at += n;
    }
    prof_control_text_counts(t, &counts);
    prof_control_text_free(t);
    return counts;
}

#define FED(text, piece, told) fed(text, sizeof(text) - 1, piece, told)

static const char process[] = "PID:212\nhttpd -D /var/www\n"
                              "60400000-60420000 r-xp 00001000 1f:02 33 /usr/sbin/httpd\n"
                              "60430000-60431000 rw-p 00000000 00:00 0\n"
                              "done\n";
static const char process_told[] = "begin 212 -\ncommand 212 httpd -D /var/www\n"
                                   "map 212 60400000-60420000 r-xp +1000 '/usr/sbin/httpd'\n"
                                   "map 212 60430000-60431000 rw-p +0 ''\n"
                                   "done 212 -\n";

static void test_a_block_split_anywhere_reads_the_same(void **state)
{
    struct told told;
    (void)state;
    for (size_t piece = 0; piece < 40; piece++) {
        FED(process, piece, &told);
        assert_string_equal(told.text, process_told);
    }
}

static void test_done_split_over_segments_and_crlf(void **state)
{
    struct told told;
    (void)state;
    FED("PID:3\r\nsh\r\ndone - no 3 maps\r\n", 3, &told);
    assert_string_equal(told.text, "begin 3 -\ncommand 3 sh\ndone 3 no 3 maps\n");
}

static void test_a_target_without_mmu_says_done_twice(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts c =
        FED("PID:0 Unknown version\n40000000-40100000 r-xp 00000000 00:00 0 vmlinux\n"
            "done\n"
            "ath9k 81920 1 mac80211, Live 0x41000000 [ath9k_init (12 bytes @ 0x41000040)]\n"
            "done\n",
            0, &told);
    assert_string_equal(told.text,
                        "begin 0 Unknown version\nmap 0 40000000-40100000 r-xp +0 'vmlinux'\ndone 0 -\n"
                        "module ath9k 41000000 81920\ndone 0 -\n");
    assert_int_equal(c.bad_lines, 0);
}

static void test_a_command_line_may_look_like_anything(void **state)
{
    struct told told;
    (void)state;
    FED("PID:7\nPID:9\n10-20 rwxp 0 0:0 0\ndone\n", 0, &told);
    assert_string_equal(told.text, "begin 7 -\ncommand 7 PID:9\nmap 7 10-20 rwxp +0 ''\ndone 7 -\n");
    FED("PID:7\ndone - empty command\n", 0, &told);
    assert_string_equal(told.text, "begin 7 -\ndone 7 empty command\n");
}

/* Row 61: a line of 1 MB without LF is dropped up to the next LF, and what follows is read. */
static void test_a_megabyte_without_line_feed_is_dropped(void **state)
{
    static const char head[] = "PID:1\ninit\n";
    struct told told;
    size_t size = (1u << 20) + sizeof(head) + sizeof(process);
    char *bytes = malloc(size);
    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    memcpy(bytes, head, sizeof(head) - 1);
    bytes[sizeof(head) - 1 + (1u << 20)] = '\n';
    memcpy(bytes + sizeof(head) + (1u << 20), process, sizeof(process) - 1);
    struct prof_control_counts c = fed(bytes, size - 1, 1448, &told);
    free(bytes);
    assert_int_equal(c.long_lines, 1);
    assert_int_equal(c.bad_lines, 0);
    assert_non_null(strstr(told.text, process_told));
}

static void test_a_line_that_never_ends_is_counted_as_it_comes(void **state)
{
    struct told told;
    char bytes[4096];
    (void)state;
    memset(bytes, 'A', sizeof(bytes));
    assert_int_equal(fed(bytes, sizeof(bytes), 100, &told).long_lines, 1);
}

static void test_nul_bytes_are_blanks_in_a_command_and_bad_elsewhere(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts c = FED("PID:5\nsh\0-c\0true\n10-2\0 rwxp 0 0:0 0\ndone\n", 0, &told);
    assert_string_equal(told.text, "begin 5 -\ncommand 5 sh -c true\nbad 10-2\ndone 5 -\n");
    assert_int_equal(c.bad_lines, 1);
    assert_int_equal(c.maps, 0);
}

/* Row 62 */
static void test_maps_that_end_before_they_start_are_refused(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts c = FED("PID:5\na\n60420000-60400000 r-xp 00000000 1f:02 33 /bin/a\n"
                                       "60400000-60400000 r-xp 00000000 1f:02 33 /bin/a\ndone\n",
                                       0, &told);
    assert_int_equal(c.bad_lines, 2);
    assert_int_equal(c.maps, 0);
}

static void test_maps_with_sixteen_digits_are_refused(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts c =
        FED("PID:5\na\n0000000060400000-0000000060410000 r-xp 00000000 1f:02 33 /bin/a\n"
            "60400000-60410000 r-xp 0000000000000000 1f:02 33 /bin/a\n"
            "60400000-60410000 r-x\n60400000-\n-\nff-fff\n"
            "60400000-60410000 r-xp 0 1f:02\ndone\n",
            0, &told);
    assert_int_equal(c.maps, 0);
    assert_int_equal(c.bad_lines, 7);
}

static void test_more_maps_than_a_process_can_have_are_ignored_and_counted(void **state)
{
    struct told *told = calloc(1, sizeof(*told));
    struct prof_control_sink sink = {0};
    struct prof_control_text *t = prof_control_text_new(&sink);
    struct prof_control_counts c;
    (void)state;
    assert_non_null(told);
    assert_non_null(t);
    prof_control_text_feed(t, (const uint8_t *)"PID:5\na\n", 8);
    for (unsigned i = 0; i < PROF_CONTROL_MAX_MAPS + 100; i++) {
        char line[64];
        int n = snprintf(line, sizeof(line), "%x-%x r-xp 0 0:0 0 /a\n", i * 16, i * 16 + 16);
        prof_control_text_feed(t, (const uint8_t *)line, (size_t)n);
    }
    prof_control_text_counts(t, &c);
    assert_int_equal(c.maps, PROF_CONTROL_MAX_MAPS);
    assert_int_equal(c.ignored, 100);
    prof_control_text_free(t);
    free(told);
}

static void test_a_line_that_begins_with_a_blank_names_no_module(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts counts =
        FED("PID:0 v\n mod 1 2 3 Live 0x1\n\tmod 1 2 3 Live 0x1\nmod 1 2 3 Live 0x1\n", 0, &told);
    assert_int_equal(counts.modules, 1);
    assert_int_equal(counts.bad_lines, 2);
    assert_non_null(strstr(told.text, "module mod 1 1\n"));
}

static void test_what_belongs_to_no_block_is_ignored(void **state)
{
    struct told told;
    (void)state;
    struct prof_control_counts c =
        FED("10-20 rwxp 0 0:0 0\nPID:99999999999\n10-20 rwxp 0 0:0 0\nPID:x\nhello\ndone\n", 0, &told);
    assert_int_equal(c.maps, 0);
    assert_int_equal(c.bad_lines, 2);
    assert_int_equal(c.ignored, 4);
    assert_null(strstr(told.text, "done"));
}

static void test_text_from_outside_is_escaped(void **state)
{
    struct told told;
    (void)state;
    FED("PID:0 \x1b[31mred\n\x1b]0;x\x07 bad\ndone - \x9b\n", 0, &told);
    for (const char *p = told.text; *p; p++)
        assert_true((unsigned char)*p >= ' ' || *p == '\n');
}

/* ---- the client ---- */

struct server {
    struct profile_target *target;
    atomic_bool stop;
    pthread_t thread;
};

static void *run_server(void *ctx)
{
    struct server *s = ctx;
    profile_target_run(s->target, &s->stop, NULL);
    return NULL;
}

/* A collector's port on loopback. */
static int open_udp(uint16_t *port)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(own);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    *port = ntohs(own.sin_port);
    return fd;
}

static bool comes(int fd, uint8_t first, uint8_t second)
{
    for (int i = 0; i < 1000; i++) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        uint8_t packet[2048];
        if (poll(&p, 1, 10000) != 1)
            return false;
        ssize_t n = recv(fd, packet, sizeof(packet), 0);
        if (n >= 2 && packet[0] == first && packet[1] == second)
            return true;
    }
    return false;
}

static bool hears(struct told *told, const char *what)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&told->lock);
        bool heard = strstr(told->text, what) != NULL;
        pthread_mutex_unlock(&told->lock);
        if (heard)
            return true;
        usleep(10000);
    }
    return false;
}

static void test_the_board_starts_sends_and_answers(void **state)
{
    struct server server = {0};
    struct profile_target_options options = {.control_port = 0};
    struct profile_target_report report;
    struct diag d = DIAG_INIT;
    struct told told;
    (void)state;
    int udp = open_udp(&options.udp_port);
    server.target = profile_target_open(&options, &d);
    assert_non_null(server.target);
    assert_int_equal(pthread_create(&server.thread, NULL, run_server, &server), 0);

    struct prof_control_sink sink = sink_to(&told);
    struct prof_control_options o = {.host = "127.0.0.1",
                                     .port = profile_target_port(server.target),
                                     .timeout_ns = 20 * NS_PER_S,
                                     .sink = &sink};
    struct prof_control *c = prof_control_open(&o, &d);
    if (!c)
        print_message("%s\n", d.message);
    assert_non_null(c);
    assert_true(hears(&told, "begin 0 Unknown version\nmap 0 8000000-8040000 r-xp +0 'flash'\n"));
    assert_true(comes(udp, 0x3E, 0xB1)); /* samples */
    assert_int_equal(prof_control_ask_vma(c, &d), CORRAL_OK);
    assert_true(comes(udp, 0xAE, 0xA0)); /* memory maps */
    assert_int_equal(prof_control_ask_pid(c, 12, &d), CORRAL_OK);
    assert_true(hears(&told, "begin 12 -\ndone 12 no 12 process\n"));
    assert_int_equal(prof_control_ask_pid(c, 40000, &d), CORRAL_ERR_USAGE); /* the daemon would hang up */
    assert_true(prof_control_alive(c));
    prof_control_close(c);

    /* The next client is served, too, and asks for nothing but maps. */
    sink = sink_to(&told);
    o.no_start = true;
    c = prof_control_open(&o, &d);
    assert_non_null(c);
    prof_control_close(c);
    atomic_store(&server.stop, true);
    pthread_join(server.thread, NULL);
    profile_target_get_report(server.target, &report);
    assert_int_equal(report.clients, 2);
    assert_int_equal(report.unknown_commands, 0);
    /* What is made while nobody asks is discarded. So far there may have been no such moment. */
    for (int i = 0; i < 1000 && report.discarded == 0; i++) {
        atomic_store(&server.stop, false);
        assert_int_equal(pthread_create(&server.thread, NULL, run_server, &server), 0);
        usleep(20000);
        atomic_store(&server.stop, true);
        pthread_join(server.thread, NULL);
        profile_target_get_report(server.target, &report);
    }
    assert_true(report.discarded > 0);
    profile_target_free(server.target);
    close(udp);
}

/* A peer that takes the connection and does what the test says with it. */
struct peer {
    int listener;
    uint16_t port;
    const char *says; /* sent at once; NULL = nothing */
    bool hangs_up;
    pthread_t thread;
    int client;
};

static void *run_peer(void *ctx)
{
    struct peer *p = ctx;
    p->client = accept(p->listener, NULL, NULL);
    if (p->client >= 0 && p->says)
        (void)!write(p->client, p->says, strlen(p->says));
    if (p->client >= 0 && p->hangs_up) {
        shutdown(p->client, SHUT_RDWR);
        close(p->client);
        p->client = -1;
    }
    return NULL;
}

static void open_peer(struct peer *p)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(own);
    p->client = -1;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&own, size), 0);
    assert_int_equal(listen(p->listener, 1), 0);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&own, &size), 0);
    p->port = ntohs(own.sin_port);
    assert_int_equal(pthread_create(&p->thread, NULL, run_peer, p), 0);
}

static void close_peer(struct peer *p)
{
    pthread_join(p->thread, NULL);
    if (p->client >= 0)
        close(p->client);
    close(p->listener);
}

static enum corral_err opening_fails(struct peer *p, struct diag *d)
{
    open_peer(p);
    struct prof_control_options o = {.host = "127.0.0.1", .port = p->port, .timeout_ns = 300 * NS_PER_MS};
    assert_null(prof_control_open(&o, d));
    close_peer(p);
    return d->code;
}

static void test_a_silent_daemon_is_given_up_in_time(void **state)
{
    struct peer p = {0};
    struct diag d = DIAG_INIT;
    (void)state;
    assert_int_equal(opening_fails(&p, &d), CORRAL_ERR_TIMEOUT);
    assert_non_null(strstr(d.message, "did not answer"));
}

static void test_a_daemon_that_hangs_up_is_reported(void **state)
{
    struct peer p = {.says = "PID:0 x\n", .hangs_up = true};
    struct diag d = DIAG_INIT;
    (void)state;
    assert_int_equal(opening_fails(&p, &d), CORRAL_ERR_LINK_DOWN);
}

static void test_nobody_there(void **state)
{
    struct peer p = {0};
    struct diag d = DIAG_INIT;
    (void)state;
    open_peer(&p);
    uint16_t port = p.port;
    struct prof_control_options o = {.host = "127.0.0.1", .port = port, .timeout_ns = 300 * NS_PER_MS};
    assert_null(prof_control_open(&o, &d)); /* lets the peer's thread end */
    close_peer(&p);
    assert_null(prof_control_open(&o, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    o.host = "no such host\x1b[2J";
    assert_null(prof_control_open(&o, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_null(strchr(d.message, '\x1b'));
    o.host = "127.0.0.1";
}

static void test_a_daemon_that_dies_later_is_noticed(void **state)
{
    struct peer p = {.says = "PID:0 x\ndone\n"};
    struct diag d = DIAG_INIT;
    (void)state;
    open_peer(&p);
    struct prof_control_options o = {.host = "127.0.0.1", .port = p.port, .timeout_ns = 5 * NS_PER_S};
    struct prof_control *c = prof_control_open(&o, &d);
    assert_non_null(c);
    assert_true(prof_control_alive(c));
    close_peer(&p);
    for (int i = 0; i < 1000 && prof_control_alive(c); i++)
        usleep(10000);
    assert_false(prof_control_alive(c));
    assert_int_equal(prof_control_ask_pid(c, 1, &d), CORRAL_ERR_LINK_DOWN);
    prof_control_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_split_anywhere_reads_the_same),
        cmocka_unit_test(test_done_split_over_segments_and_crlf),
        cmocka_unit_test(test_a_target_without_mmu_says_done_twice),
        cmocka_unit_test(test_a_command_line_may_look_like_anything),
        cmocka_unit_test(test_a_megabyte_without_line_feed_is_dropped),
        cmocka_unit_test(test_a_line_that_never_ends_is_counted_as_it_comes),
        cmocka_unit_test(test_nul_bytes_are_blanks_in_a_command_and_bad_elsewhere),
        cmocka_unit_test(test_maps_that_end_before_they_start_are_refused),
        cmocka_unit_test(test_maps_with_sixteen_digits_are_refused),
        cmocka_unit_test(test_more_maps_than_a_process_can_have_are_ignored_and_counted),
        cmocka_unit_test(test_a_line_that_begins_with_a_blank_names_no_module),
        cmocka_unit_test(test_what_belongs_to_no_block_is_ignored),
        cmocka_unit_test(test_text_from_outside_is_escaped),
        cmocka_unit_test(test_the_board_starts_sends_and_answers),
        cmocka_unit_test(test_a_silent_daemon_is_given_up_in_time),
        cmocka_unit_test(test_a_daemon_that_hangs_up_is_reported),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_a_daemon_that_dies_later_is_noticed),
    };
    return cmocka_run_group_tests_name("prof-control", tests, NULL, NULL);
}
