/* SPDX-License-Identifier: Apache-2.0 */
/* The fronts' server: real sockets on loopback, a thread that serves. */
#include "board_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/front_server.h"

#define PATIENCE_MS 60000 /* of this test with a slow machine */

struct service {
    struct board *board;
    struct front_server *server;
    uint16_t port[2];
    atomic_bool stop;
    pthread_t thread;
};

static void *run(void *ctx)
{
    struct service *s = ctx;
    struct diag d = DIAG_INIT;
    return front_server_run(s->server, &s->stop, &d) == CORRAL_OK ? s : NULL;
}

static void start(struct service *s, enum front_pace pace, int patience_ms, unsigned fronts)
{
    struct diag d = DIAG_INIT;
    memset(s, 0, sizeof(*s));
    s->board = board_counting(NULL, NULL);
    s->server = front_server_new(s->board, pace, patience_ms, &d);
    assert_non_null(s->server);
    for (unsigned i = 0; i < fronts; i++) {
        assert_int_equal(front_server_add(s->server, &front_jtag, &s->port[i], &d), CORRAL_OK);
        assert_int_not_equal(s->port[i], 0);
    }
    assert_int_equal(pthread_create(&s->thread, NULL, run, s), 0);
}

static struct front_server_report finish(struct service *s)
{
    struct front_server_report report;
    void *good = NULL;
    atomic_store(&s->stop, true);
    assert_int_equal(pthread_join(s->thread, &good), 0);
    assert_ptr_equal(good, s);
    front_server_get_report(s->server, &report);
    front_server_free(s->server);
    board_free(s->board);
    return report;
}

static int call(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s >= 0);
    assert_int_equal(connect(s, (struct sockaddr *)&to, sizeof(to)), 0);
    return s;
}

static void expect(int s, const char *text)
{
    char got[64];
    size_t size = strlen(text), n = 0;
    assert_true(size <= sizeof(got));
    while (n < size) {
        struct pollfd p = {.fd = s, .events = POLLIN};
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        ssize_t more = recv(s, got + n, size - n, 0);
        assert_true(more > 0);
        n += (size_t)more;
    }
    assert_memory_equal(got, text, size);
}

static void say(int s, const char *text)
{
    assert_int_equal(send(s, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* The other side hangs up; what it still says before is thrown away. */
static void expect_end(int s)
{
    char sink[4096];
    for (;;) {
        struct pollfd p = {.fd = s, .events = POLLIN};
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        if (recv(s, sink, sizeof(sink), 0) <= 0)
            return;
    }
}

static void clients_follow_each_other(void **state)
{
    (void)state;
    struct service s;
    start(&s, FRONT_PACE_WIRE, 0, 2);
    int first = call(s.port[0]), second = call(s.port[0]), other = call(s.port[1]);
    say(first, "RRR");
    expect(first, "000");
    say(second, "R"); /* waits for its turn */
    say(other, "RR"); /* another front: at once */
    expect(other, "00");
    close(first);
    expect(second, "0");
    say(second, "Q");
    expect_end(second);
    close(second);
    close(other);
    struct front_server_report r = finish(&s);
    assert_int_equal(r.fronts, 2);
    assert_string_equal(r.front[0].name, "jtag");
    assert_int_equal(r.front[0].clients, 2);
    assert_int_equal(r.front[1].clients, 1);
    assert_int_equal(r.front[0].put_off + r.front[0].nonsense, 0);
}

/* It asks and asks and never reads: it is hung up on, and the next one is served. */
static void who_does_not_read_is_put_off(void **state)
{
    (void)state;
    struct service s;
    char many[4096];
    start(&s, FRONT_PACE_WIRE, 50, 1);
    memset(many, 'R', sizeof(many));
    int deaf = call(s.port[0]);
    for (;;) { /* until the server has stopped taking, and then until it has hung up */
        struct pollfd p = {.fd = deaf, .events = POLLOUT};
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        if (p.revents & (POLLERR | POLLHUP))
            break;
        if (send(deaf, many, sizeof(many), MSG_NOSIGNAL | MSG_DONTWAIT) <= 0)
            break;
    }
    int next = call(s.port[0]);
    say(next, "RR");
    expect(next, "00");
    close(next);
    close(deaf);
    struct front_server_report r = finish(&s);
    assert_int_equal(r.front[0].clients, 2);
    assert_int_equal(r.front[0].put_off, 1);
}

static void only_the_wire_moves_the_board_at_pace_wire(void **state)
{
    (void)state;
    struct service s;
    start(&s, FRONT_PACE_WIRE, 0, 1);
    uint64_t before = board_wire_clocks(s.board);
    int c = call(s.port[0]);
    say(c, "0404040R");
    expect(c, "0");
    close(c);
    struct front_server_report r = finish(&s);
    assert_int_equal(r.wire_clocks - before, 3);
    assert_true(r.board_seconds < 0.001);
}

static void time_goes_on_by_itself_at_the_other_paces(void **state)
{
    (void)state;
    for (enum front_pace pace = FRONT_PACE_REAL; pace <= FRONT_PACE_MAX; pace++) {
        struct service s;
        start(&s, pace, 0, 1);
        int c = call(s.port[0]);
        for (int i = 0; i < 20; i++) {
            say(c, "R");
            expect(c, "0");
            usleep(1000);
        }
        close(c);
        struct front_server_report r = finish(&s);
        assert_true(r.board_seconds > 0.001);
    }
}

/* Nothing moves the board between two answers at pace wire: it may be looked at from here. */
static unsigned held(struct service *s)
{
    mem_read(s->board, 0, DHCSR);
    return mem_read(s->board, 0, DHCSR) >> 25 & 1u;
}

static void who_goes_lets_go_of_the_reset_line(void **state)
{
    (void)state;
    struct service s;
    start(&s, FRONT_PACE_WIRE, 0, 1);
    int c = call(s.port[0]), next = call(s.port[0]);
    say(c, "sR");
    expect(c, "0");
    assert_int_equal(held(&s), 1);
    close(c);
    say(next, "R");
    expect(next, "0");
    assert_int_equal(held(&s), 0);
    close(next);
    finish(&s);
}

static void a_port_that_is_taken_is_said(void **state)
{
    (void)state;
    struct service s;
    struct diag d = DIAG_INIT;
    start(&s, FRONT_PACE_WIRE, 0, 1);
    struct front_server *other = front_server_new(s.board, FRONT_PACE_WIRE, 0, &d);
    uint16_t port = s.port[0];
    assert_non_null(other);
    assert_int_equal(front_server_add(other, &front_jtag, &port, &d), CORRAL_ERR_IO);
    assert_non_null(strstr(d.message, "cannot listen"));
    front_server_free(other);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_follow_each_other),
        cmocka_unit_test(who_does_not_read_is_put_off),
        cmocka_unit_test(only_the_wire_moves_the_board_at_pace_wire),
        cmocka_unit_test(time_goes_on_by_itself_at_the_other_paces),
        cmocka_unit_test(who_goes_lets_go_of_the_reset_line),
        cmocka_unit_test(a_port_that_is_taken_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
