/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenOCD link against OpenOCD itself in front of the virtual board, and against a server that lies.
 * Argument: the path of openocd, where there is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/core.h"
#include "coresight/rom_table.h"
#include "link/openocd.h"
#include "tests/unit/link/jtag_peer.h"

#define SRAM    0x20060000u /* in the shared half, where no image keeps anything */
#define NOWHERE 0x70000000u
#define WORDS   3000u /* more than a script reads */
#define ANSWERS 6

static const char *openocd;

static int listen_on_loopback(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s >= 0);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(s, 1), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return s;
}

/* OpenOCD, and the board behind it. */
struct real {
    struct jtag_peer *peer;
    struct host_clock *clock;
    struct link *link;
    char config[40];
    pid_t pid; /* of one that the test itself has started */
};

static void write_config(struct real *r)
{
    strcpy(r->config, "test_openocd_XXXXXX");
    int fd = mkstemp(r->config);
    assert_true(fd >= 0);
    dprintf(fd,
            "adapter driver remote_bitbang\nremote_bitbang host 127.0.0.1\nremote_bitbang port %u\n"
            "transport select jtag\njtag newtap c cpu -irlen 4 -expected-id 0x%08x\n"
            "dap create c.dap -chain-position c.cpu\n",
            jtag_peer_port(r->peer), JTAG_PEER_IDCODE);
    close(fd);
}

static bool without_openocd(void)
{
    if (openocd)
        return false;
    if (getenv("CI"))
        fail_msg("openocd is not installed");
    return true;
}

static struct real spawn_real(void)
{
    struct real r = {.peer = jtag_peer_start(NULL), .clock = host_clock_new_real()};
    char spec[80];
    struct diag d = DIAG_INIT;
    write_config(&r);
    snprintf(spec, sizeof(spec), "openocd:spawn:%s", r.config);
    r.link = link_openocd_open(spec, NULL, r.clock, &d);
    if (!r.link)
        fail_msg("%s", d.message);
    assert_int_equal(dp_power_up(r.link, &d), CORRAL_OK);
    return r;
}

static void close_real(struct real *r)
{
    link_close(r->link);
    if (r->pid) {
        kill(r->pid, SIGTERM);
        assert_int_equal(waitpid(r->pid, NULL, 0), r->pid);
    }
    /* whoever was started is gone, and was waited for */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    host_clock_free(r->clock);
    unlink(r->config);
    jtag_peer_stop(r->peer);
}

static void there_and_back(struct link *link, uint32_t ap)
{
    static uint32_t out[WORDS], in[WORDS];
    uint8_t bytes[37], back[37];
    struct diag d = DIAG_INIT;
    uint32_t v = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = ap + i * 0x9E3779B9u;
    memset(in, 0, sizeof(in));
    struct link_access a[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .ap = ap, .address = SRAM + 8, .count = WORDS, .data = out},
        {.op = LINK_MEM_READ, .size = 4, .ap = ap, .address = SRAM + 8, .count = WORDS, .data = in},
        {.op = LINK_AP_READ, .size = 4, .ap = ap, .address = 0xFC, .count = 1, .data = &v},
    };
    if (link_execute(link, a, 3, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    assert_int_equal(a[0].done, WORDS);
    assert_int_equal(a[1].done, WORDS);
    assert_memory_equal(out, in, sizeof(in));
    assert_int_equal(v, 0x84770001);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(7 * i + ap);
    assert_int_equal(link_write_bytes(link, ap, SRAM + 3, bytes, sizeof(bytes), &d), CORRAL_OK);
    assert_int_equal(link_read_bytes(link, ap, SRAM + 3, back, sizeof(back), &d), CORRAL_OK);
    assert_memory_equal(bytes, back, sizeof(bytes));
    uint16_t half = 0xBEEF, got = 0;
    struct link_access h[] = {
        {.op = LINK_MEM_WRITE, .size = 2, .ap = ap, .address = SRAM + 6, .count = 1, .data = &half},
        {.op = LINK_MEM_READ, .size = 2, .ap = ap, .address = SRAM + 6, .count = 1, .data = &got},
    };
    assert_int_equal(link_execute(link, h, 2, &d), CORRAL_OK);
    assert_int_equal(got, 0xBEEF);
}

static void test_openocd_itself_is_spawned(void **state)
{
    (void)state;
    if (without_openocd())
        skip();
    struct real r = spawn_real();
    struct diag d = DIAG_INIT;
    struct cs_topology *t = cs_scan(r.link, NULL, &d);
    if (!t)
        fail_msg("%s", d.message);
    assert_int_equal(t->core_count, 2);
    assert_true(t->cores[0].has_cti && t->cores[1].has_cti);
    cs_topology_free(t);
    for (uint32_t ap = 0; ap < 2; ap++) {
        there_and_back(r.link, ap);
        struct core *c = core_cortex_m_open(r.link, ap, "core", 0, NULL, &d);
        struct core_status s;
        uint32_t pc = 0;
        assert_non_null(c);
        assert_int_equal(core_request_halt(c, &d), CORRAL_OK);
        assert_int_equal(core_wait_halted(c, CORE_WAIT_NS, &d), CORRAL_OK);
        assert_int_equal(core_read_status(c, true, &s, &d), CORRAL_OK);
        assert_int_equal(core_read_register(c, 15, &pc, &d), CORRAL_OK);
        assert_int_equal(pc, s.pc);
        assert_int_equal(core_resume(c, &d), CORRAL_OK);
        core_close(c);
    }
    close_real(&r);
}

static void test_openocds_errors(void **state)
{
    (void)state;
    if (without_openocd())
        skip();
    struct real r = spawn_real();
    struct diag d = DIAG_INIT;
    uint32_t v = 0x12345678, w = 0;
    struct link_access a[] = {
        {.op = LINK_MEM_WRITE, .size = 4, .address = SRAM, .count = 1, .data = &v},
        {.op = LINK_MEM_READ, .size = 4, .address = NOWHERE, .count = 1, .data = &w},
        {.op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 1, .data = &w},
    };
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(link_execute(r.link, a, 3, &d), CORRAL_ERR_LINK_FAULT);
        assert_non_null(strstr(d.message, "0x70000000"));
        assert_int_equal(a[0].status, CORRAL_OK);
        assert_int_equal(a[1].status, CORRAL_ERR_LINK_FAULT);
        assert_int_equal(a[1].done, 0);
        assert_int_equal(a[2].status, CORRAL_ERR_INTERRUPTED);
    }
    assert_int_equal(link_read32(r.link, 0, SRAM, &w, &d), CORRAL_OK);
    assert_int_equal(w, v);
    assert_int_equal(link_read32(r.link, 5, SRAM, &w, &d), CORRAL_ERR_NO_AP);
    assert_int_equal(link_read32(r.link, LINK_OPENOCD_APS, SRAM, &w, &d), CORRAL_ERR_NO_AP);
    a[0].address = SRAM + 4;
    a[1].ap = 5;
    assert_int_equal(link_execute(r.link, a, 3, &d), CORRAL_ERR_NO_AP);
    assert_int_equal(a[0].status, CORRAL_OK); /* it came first */
    assert_int_equal(link_read32(r.link, 0, SRAM + 4, &w, &d), CORRAL_OK);
    assert_int_equal(w, v);
    /* The board's end of the cable goes away. */
    jtag_peer_change(r.peer, &(struct jtag_peer_options){.misdeed = PEER_CLOSES});
    assert_int_equal(link_read32(r.link, 0, SRAM, &w, &d), CORRAL_ERR_LINK_DOWN);
    assert_int_equal(link_read32(r.link, 0, SRAM, &w, &d), CORRAL_ERR_LINK_DOWN);
    close_real(&r);
}

static void test_a_running_openocd(void **state)
{
    (void)state;
    if (without_openocd())
        skip();
    struct real r = {.peer = jtag_peer_start(NULL), .clock = host_clock_new_real()};
    struct diag d = DIAG_INIT;
    char spec[80], ports[120];
    uint16_t port = 0;
    uint32_t v;
    close(listen_on_loopback(&port));
    write_config(&r);
    snprintf(ports, sizeof(ports), "gdb_port disabled; telnet_port disabled; tcl_port %u", port);
    snprintf(spec, sizeof(spec), "openocd:127.0.0.1:%u", port);
    r.pid = fork();
    if (r.pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        execl(openocd, "openocd", "-c", ports, "-f", r.config, "-c",
              "target create m0 mem_ap -dap c.dap -ap-num 0; target create m1 mem_ap -dap c.dap -ap-num 1; "
              "init",
              (char *)NULL);
        _exit(127);
    }
    for (unsigned i = 0; i < 600 && !r.link; i++) {
        r.link = link_openocd_open(spec, NULL, r.clock, &d);
        if (!r.link)
            host_clock_sleep(r.clock, 50 * NS_PER_MS);
    }
    if (!r.link)
        fail_msg("%s", d.message);
    there_and_back(r.link, 0);
    there_and_back(r.link, 1);
    assert_int_equal(link_read32(r.link, 2, SRAM, &v, &d), CORRAL_ERR_NO_AP);
    assert_non_null(strstr(d.hint, "mem_ap"));
    kill(r.pid, SIGKILL);
    assert_int_equal(waitpid(r.pid, NULL, 0), r.pid);
    r.pid = 0;
    assert_int_equal(link_read32(r.link, 0, SRAM, &v, &d), CORRAL_ERR_LINK_DOWN);
    close_real(&r);
}

static void test_an_openocd_that_does_not_come_up_says_why(void **state)
{
    (void)state;
    if (without_openocd())
        skip();
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    assert_null(link_openocd_open("openocd:spawn:no_such_file.cfg", NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "Can't find no_such_file.cfg"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    host_clock_free(clock);
}

/* A server that gives these answers whatever it is asked; '@' is the number of the command. */
struct fake {
    const char *answer[ANSWERS];
    int listener;
    pthread_t thread;
    char spec[40];
};

/* Up to the 0x1A. 0 at the client's end. */
static unsigned next_command(int s)
{
    static const char words[] = "{corral";
    unsigned number = 0;
    size_t matched = 0;
    char c;
    while (recv(s, &c, 1, 0) == 1) {
        if (c == 0x1A)
            return number;
        if (matched == sizeof(words) - 1 && c >= '0' && c <= '9')
            number = number * 10 + (unsigned)(c - '0');
        else if (matched < sizeof(words) - 1)
            matched = c == words[matched] ? matched + 1 : 0;
        else if (c == '|' && number == 0)
            return 0;
        else
            matched = sizeof(words); /* the number has ended */
    }
    return 0;
}

static void *serve(void *arg)
{
    struct fake *f = arg;
    int s = accept(f->listener, NULL, NULL);
    unsigned number;
    for (size_t i = 0; s >= 0 && (number = next_command(s)) != 0; i++) {
        const char *answer = i < ANSWERS ? f->answer[i] : NULL;
        if (!answer)
            break;
        for (; *answer; answer++) {
            char text[16];
            int n = *answer == '@' ? snprintf(text, sizeof(text), "corral%u|", number)
                                   : snprintf(text, sizeof(text), "%c", *answer);
            if (send(s, text, (size_t)n, MSG_NOSIGNAL) != n)
                break;
        }
    }
    if (s >= 0)
        close(s);
    return NULL;
}

static void start_fake(struct fake *f)
{
    uint16_t port;
    f->listener = listen_on_loopback(&port);
    snprintf(f->spec, sizeof(f->spec), "openocd:127.0.0.1:%u", port);
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void stop_fake(struct fake *f)
{
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    close(f->listener);
}

#define ONE_TARGET "@0|m0 mem_ap d 0;|\x1A"
#define IDR        "@0|0x84770001\n|\x1A"

static void test_opening_a_server_that_lies(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        enum corral_err code;
    } cases[] = {
        {NULL, CORRAL_ERR_LINK_DOWN},
        {"", CORRAL_ERR_LINK_DOWN}, /* and closes with the next command, which does not come */
        {"\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"hello\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"corral9|0||\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"@\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"@0\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"@0|\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"@|a|b\x1A", CORRAL_ERR_LINK_PROTOCOL},
        {"@0||\x1A", CORRAL_ERR_NO_AP},
        {"@0|m0 mem_ap d\n;;; ;m0;|\x1A", CORRAL_ERR_NO_AP},
        {"@0|m[exit] mem_ap d 0;m0 mem_ap {d} 0;m0 mem_ap d 0x100;m0 mem_ap d -1;m0 mem_ap d z;|\x1A",
         CORRAL_ERR_NO_AP},
        {"type target_state state running\x1A@0||\x1A", CORRAL_ERR_NO_AP},
    };
    struct host_clock *clock = host_clock_new_real();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake f = {.answer = {cases[i].answer}};
        struct diag d = DIAG_INIT;
        start_fake(&f);
        assert_null(link_openocd_open(f.spec, NULL, clock, &d));
        assert_int_equal(d.code, cases[i].code);
        assert_int_not_equal(d.message[0], '\0');
        stop_fake(&f);
    }
    host_clock_free(clock);
}

static void test_reading_from_a_server_that_lies(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *after; /* of the read, and of the look whether the target is still there */
        enum corral_err code;
    } cases[] = {
        {"@0|0x1 0x2;0x3;|\x1A", NULL, CORRAL_OK},
        {"type x\x1A@0|1 2\r\n;3\n;|\x1A", NULL, CORRAL_OK},
        {"@0|0x1;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},         /* too few values */
        {"@0|0x1 0x2 0x4;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL}, /* too many */
        {"@0|0x1 0x2;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@0|0x1 0x2;0x3;0x4;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@0|0x1 0x100000000;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@0|0x1 0xffffffffffffffffff;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@0|0x1 -2;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@0|0x1 2z;0x3;|\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL},
        {"@1|0x1 0x2;0x3;|failed\x1A", NULL, CORRAL_ERR_LINK_PROTOCOL}, /* all there, and yet failed */
        {"@1|0x1 0x2;|no \x1B[31m way\x1A", "@0|0xf0000040\n|\x1A", CORRAL_ERR_LINK_FAULT},
        {"@-4|0x1 0x2;|failed | or so\x1A", "@0|0xf0000040\n|\x1A", CORRAL_ERR_LINK_FAULT},
        {"@1|0x1 0x2;|failed\x1A", "@1||failed\x1A", CORRAL_ERR_LINK_DOWN},
        {"@1|0x1 0x2;|failed\x1A", NULL, CORRAL_ERR_LINK_DOWN},
        {NULL, NULL, CORRAL_ERR_LINK_DOWN},
    };
    struct host_clock *clock = host_clock_new_real();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fake f = {.answer = {ONE_TARGET, IDR, cases[i].answer, cases[i].after}};
        struct diag d = DIAG_INIT;
        uint32_t two[2] = {0}, one = 0;
        struct link_access a[] = {
            {.op = LINK_MEM_READ, .size = 4, .address = SRAM, .count = 2, .data = two},
            {.op = LINK_AP_READ, .size = 4, .address = 0xF8, .count = 1, .data = &one},
        };
        start_fake(&f);
        struct link *link = link_openocd_open(f.spec, NULL, clock, &d);
        if (!link)
            fail_msg("%s", d.message);
        assert_int_equal(link_execute(link, a, 2, &d), cases[i].code);
        if (cases[i].code == CORRAL_OK) {
            assert_int_equal(two[0] + 10 * two[1] + 100 * one, 321);
        } else {
            assert_null(strchr(d.message, '\x1B'));
            assert_true(a[0].status != CORRAL_OK || a[1].status != CORRAL_OK);
        }
        if (cases[i].code == CORRAL_ERR_LINK_FAULT) {
            assert_int_equal(a[0].status, CORRAL_OK);
            assert_int_equal(a[1].status, CORRAL_ERR_LINK_FAULT);
        }
        link_close(link);
        stop_fake(&f);
    }
    host_clock_free(clock);
}

static void test_an_answer_without_end_is_cut(void **state)
{
    (void)state;
    static char text[200000];
    struct fake f = {.answer = {text}};
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    memset(text, 'x', sizeof(text) - 1);
    start_fake(&f);
    assert_null(link_openocd_open(f.spec, NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_PROTOCOL);
    stop_fake(&f);
    host_clock_free(clock);
}

#define WITH_BANKS                                                                               \
    "@0|m0 mem_ap d 0;m1 mem_ap d 1;=0 134217728 4096 m1;=1 0x10000000 0x800 other;=2 x 1 m0;=;" \
    "=99999999999 1 1 m0;|\x1A"
#define SECTORS                                                                                \
    "@0|#0 : fake at 0x08000000, size 0x00001000, buswidth 0, chipwidth 0\n"                   \
    "\t#  0: 0x00000000 (0x400 1kB) not protected\n\t#  1: 0x00000400 (0x400 1kB) protected\n" \
    "\t#  2: 0x00000800 (0x800 2kB) not protected\n# 3: nonsense\n|\x1A"

static struct link *open_fake(struct fake *f, struct host_clock *clock)
{
    struct diag d = DIAG_INIT;
    start_fake(f);
    struct link *link = link_openocd_open(f->spec, NULL, clock, &d);
    if (!link)
        fail_msg("%s", d.message);
    return link;
}

static void test_flash_where_openocd_has_none(void **state)
{
    (void)state;
    struct host_clock *clock = host_clock_new_real();
    struct fake f = {.answer = {ONE_TARGET}};
    struct diag d = DIAG_INIT;
    struct link_flash_region list[4];
    struct link *link = open_fake(&f, clock);
    assert_false(link_has_flash(link));
    assert_int_equal(link_flash_regions(link, list, 4, &d), 0);
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 0, 0x08000000, NULL, 1024, &d),
                     CORRAL_ERR_UNSUPPORTED);
    link_close(link);
    stop_fake(&f);
    host_clock_free(clock);
}

static void test_flash_of_an_openocd(void **state)
{
    (void)state;
    static const uint8_t data[16] = {1, 2, 3};
    struct host_clock *clock = host_clock_new_real();
    struct fake f = {
        .answer = {WITH_BANKS, SECTORS, "@0||\x1A", "@1||failed \x1B[31m\x1A", "@0||\x1A", NULL}};
    struct diag d = DIAG_INIT;
    struct link_flash_region list[4] = {{0}};
    struct link *link = open_fake(&f, clock);
    assert_true(link_has_flash(link));
    assert_int_equal(link_flash_regions(link, list, 4, &d), 2);
    assert_int_equal(list[0].start, 0x08000000);
    assert_int_equal(list[0].size, 0x800);
    assert_int_equal(list[0].block, 0x400);
    assert_int_equal(list[0].ap, 1);
    assert_int_equal(list[1].start, 0x08000800);
    assert_int_equal(list[1].size, 0x800);
    assert_int_equal(list[1].block, 0x800);
    /* Only what lies in a bank of that core is asked of OpenOCD at all. */
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 0, 0x08000000, NULL, 1024, &d),
                     CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 1, 0x08000C00, NULL, 0x800, &d),
                     CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(link_flash(link, LINK_FLASH_WRITE, 1, 0x10000000, data, 16, &d), CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 1, UINT64_MAX - 3, NULL, SIZE_MAX, &d),
                     CORRAL_ERR_UNSUPPORTED);
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 1, 0x08000000, NULL, 1024, &d), CORRAL_OK);
    assert_int_equal(link_flash(link, LINK_FLASH_WRITE, 1, 0x08000000, data, 16, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "does not write 16 bytes of flash at address 0x08000000: failed"));
    assert_null(strchr(d.message, '\x1B'));
    assert_int_equal(link_flash(link, LINK_FLASH_WRITE, 1, 0x08000000, data, 16, &d), CORRAL_OK);
    assert_int_equal(link_flash(link, LINK_FLASH_DONE, 1, 0, NULL, 0, &d), CORRAL_OK);
    assert_int_equal(link_flash(link, LINK_FLASH_ERASE, 1, 0x08000000, NULL, 1024, &d), CORRAL_ERR_LINK_DOWN);
    link_close(link);
    stop_fake(&f);
    host_clock_free(clock);
}

/* OpenOCD's "faux" driver keeps what is written to itself: OpenOCD is made to read it back behind each write.
 */
static void test_flash_of_openocd_itself(void **state)
{
    (void)state;
    if (without_openocd())
        skip();
    struct real r = {.peer = jtag_peer_start(NULL), .clock = host_clock_new_real()};
    struct diag d = DIAG_INIT;
    char spec[80];
    static uint8_t data[3000];
    struct link_flash_region list[4] = {{0}};
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    write_config(&r);
    FILE *config = fopen(r.config, "a");
    assert_non_null(config);
    fprintf(config,
            "target create f0 mem_ap -dap c.dap -ap-num 0\nflash bank fb faux 0x08000000 0x20000 0 0 f0\n");
    fclose(config);
    snprintf(spec, sizeof(spec), "openocd:spawn:%s", r.config);
    r.link = link_openocd_open(spec, NULL, r.clock, &d);
    if (!r.link)
        fail_msg("%s", d.message);
    assert_int_equal(dp_power_up(r.link, &d), CORRAL_OK);
    assert_true(link_has_flash(r.link));
    size_t n = link_flash_regions(r.link, list, 4, &d);
    if (n == 0)
        fail_msg("%s", d.message);
    assert_int_equal(n, 1);
    assert_int_equal(list[0].start, 0x08000000);
    assert_int_equal(list[0].size, 0x20000);
    assert_int_equal(list[0].block, 0x10000);
    assert_int_equal(list[0].ap, 0);
    if (link_flash(r.link, LINK_FLASH_ERASE, 0, 0x08000000, NULL, 0x10000, &d))
        fail_msg("%s", d.message);
    if (link_flash(r.link, LINK_FLASH_WRITE, 0, 0x08000100, data, sizeof(data), &d))
        fail_msg("%s", d.message);
    /* half a sector is none */
    assert_int_equal(link_flash(r.link, LINK_FLASH_ERASE, 0, 0x08000100, NULL, 0x100, &d),
                     CORRAL_ERR_LINK_FAULT);
    close_real(&r);
}

static void test_words_that_lead_nowhere(void **state)
{
    (void)state;
    static const char *const bad[] = {"openocd", "openocd:", "openocd:host",
                                      "openocd:spawn:", "openocd:h:70000"};
    struct host_clock *clock = host_clock_new_real();
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_null(link_openocd_open(bad[i], NULL, clock, &d));
        assert_int_equal(d.code, CORRAL_ERR_USAGE);
    }
    char spec[40];
    uint16_t port;
    close(listen_on_loopback(&port));
    snprintf(spec, sizeof(spec), "openocd:127.0.0.1:%u", port);
    assert_null(link_openocd_open(spec, NULL, clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    host_clock_free(clock);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openocd_itself_is_spawned),
        cmocka_unit_test(test_openocds_errors),
        cmocka_unit_test(test_a_running_openocd),
        cmocka_unit_test(test_an_openocd_that_does_not_come_up_says_why),
        cmocka_unit_test(test_opening_a_server_that_lies),
        cmocka_unit_test(test_reading_from_a_server_that_lies),
        cmocka_unit_test(test_an_answer_without_end_is_cut),
        cmocka_unit_test(test_words_that_lead_nowhere),
        cmocka_unit_test(test_flash_where_openocd_has_none),
        cmocka_unit_test(test_flash_of_an_openocd),
        cmocka_unit_test(test_flash_of_openocd_itself),
    };
    openocd = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests_name("link-openocd", tests, NULL, NULL);
}
