/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger that is not ours: OpenOCD 0.12 finds the board's components, and halts, steps, stops, resets and
 * cross-triggers its cores. Argument: the path of openocd.
 */
#include "board_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/front_jtag.h"

#define PATIENCE_MS 20000

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

/* Standard output and error of openocd go into `out`. */
static pid_t start(uint16_t port, const char *script, FILE *out)
{
    char setup[1024];
    snprintf(setup, sizeof(setup),
             "adapter driver remote_bitbang; remote_bitbang host 127.0.0.1; remote_bitbang port %u;"
             "transport select jtag; gdb_port disabled; telnet_port disabled; tcl_port disabled;"
             "jtag newtap c cpu -irlen 4 -expected-id 0x%08x; dap create c.dap -chain-position c.cpu;"
             "target create c0 cortex_m -dap c.dap -ap-num 0; target create c1 cortex_m -dap c.dap -ap-num 1;"
             "cti create cti0 -dap c.dap -ap-num 0 -baseaddr 0xE0042000;"
             "cti create cti1 -dap c.dap -ap-num 1 -baseaddr 0xE0042000; init",
             port, FRONT_JTAG_IDCODE);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(out), STDERR_FILENO);
        execl(openocd, "openocd", "-c", setup, "-c", script, "-c", "shutdown", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static bool readable(int s)
{
    struct pollfd p = {.fd = s, .events = POLLIN};
    return poll(&p, 1, PATIENCE_MS) == 1;
}

static void serve(struct board *b, int listener)
{
    static uint8_t in[4096], out[4096];
    struct front *front = front_jtag.make(b);
    int one = 1;
    assert_non_null(front);
    assert_true(readable(listener));
    int s = accept(listener, NULL, NULL);
    assert_true(s >= 0);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    while (readable(s)) {
        ssize_t n = read(s, in, sizeof(in));
        struct front_io io = {.in = in, .size = n > 0 ? (size_t)n : 0, .out = out, .room = sizeof(out)};
        front_jtag.work(front, &io);
        if (n <= 0 || io.close || (io.filled && write(s, out, io.filled) != (ssize_t)io.filled))
            break;
    }
    close(s);
    front_jtag.release(front);
}

/* Runs openocd with a script against a board of two counting cores; returns all it printed (free it). */
static char *session_with(const struct board_config *config, const char *script)
{
    uint16_t port = 0;
    struct board *b = board_counting(config, NULL);
    int listener = listen_on_loopback(&port);
    FILE *out = tmpfile();
    assert_non_null(out);
    pid_t pid = start(port, script, out);
    serve(b, listener);
    close(listener);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    long size = (fseek(out, 0, SEEK_END), ftell(out));
    assert_true(size >= 0);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    rewind(out);
    assert_int_equal(fread(text, 1, (size_t)size, out), (size_t)size);
    fclose(out);
    board_free(b);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fputs(text, stderr);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return text;
}

static char *session(const char *script)
{
    return session_with(NULL, script);
}

static void expect(const char *text, const char *words)
{
    if (strstr(text, words))
        return;
    fputs(text, stderr); /* longer than a cmocka message may be */
    fail_msg("not said: \"%s\"", words);
}

static void components_are_recognised(void **state)
{
    (void)state;
    char *said = session("echo [c.dap info 0]; echo [c.dap info 1]");
    static const char *const words[] = {
        "[c0] Cortex-M7 r1p2 processor detected",
        "[c1] Cortex-M7 r1p2 processor detected",
        "[c0] target has 8 breakpoints, 4 watchpoints",
        "AP ID register 0x84770001",
        "MEM-AP BASE 0xe00ff003",
        "Valid ROM table present",
        "Cortex-M7 PPB ROM",
        "SCS (System Control Space)",
        "DWT (Data Watchpoint and Trace)",
        "Cortex-M7 FPB (Flash Patch and Breakpoint)",
        "ITM (Instrumentation Trace Module)",
        "Part is 0x906, CoreSight CTI (Cross Trigger)",
        "Type is 0x14, Debug Control, Trigger Matrix",
        "End of ROM table",
    };
    for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
        expect(said, words[n]);
    free(said);
}

/* Two identities a session: what openocd calls the core, and what each of them can do for it. */
static const struct {
    enum board_identity id[2];
    const char *words[12];
} identities[] = {
    {{BOARD_M4, BOARD_M33},
     {"[c0] Cortex-M4 r0p1 processor detected", "[c0] target has 6 breakpoints, 4 watchpoints",
      "[c1] Cortex-M33 r0p4 processor detected", "[c1] target has 8 breakpoints, 4 watchpoints",
      "Cortex-M4 ROM", "Cortex-M3 FPB", "Flash Patch and Breakpoint unit (FPB) architecture",
      "Cross Trigger Interface (CTI) architecture", "Component class is 0x9"}},
    {{BOARD_M0PLUS, BOARD_M7},
     {"[c0] Cortex-M0+ r0p1 processor detected", "[c0] target has 4 breakpoints, 2 watchpoints",
      "[c1] Cortex-M7 r1p2 processor detected", "[c1] target has 8 breakpoints, 4 watchpoints",
      "Cortex-M0+ ROM", "Cortex-M0 SCS", "Cortex-M0 DWT", "Cortex-M0 BPU", "Part is 0x9a6"}},
};

static void the_other_identities_are_recognised(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(identities) / sizeof(identities[0]); k++) {
        struct board_config config = {.identity = {identities[k].id[0], identities[k].id[1]}};
        char *said = session_with(&config, "echo [c.dap info 0]; echo [c.dap info 1]");
        for (size_t n = 0; n < 12 && identities[k].words[n]; n++)
            expect(said, identities[k].words[n]);
        free(said);
    }
}

static void run_control_of_the_other_identities(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(identities) / sizeof(identities[0]); k++) {
        struct board_config config = {.identity = {identities[k].id[0], identities[k].id[1]}};
        char *said = session_with(
            &config, "foreach {c other} {c0 c1 c1 c0} { targets $c; halt;"
                     "echo \"A $c [$c curstate] [$other curstate]\";"
                     "set pc [dict get [get_reg pc] pc]; step;"
                     "echo \"B $c [expr {[dict get [get_reg pc] pc] != $pc}]\";"
                     "bp $pc 2 hw; resume; wait_halt 1000;"
                     "echo \"C $c [expr {[dict get [get_reg pc] pc] == $pc}]\"; rbp all;"
                     "set at [expr {0x20000100 + 4 * ($c eq \"c1\")}]; wp $at 4 w; resume; wait_halt 1000;"
                     "echo \"D $c [$c curstate]\"; rwp $at;"
                     "resume; echo \"E $c [$c curstate]\" }");
        static const char *const words[] = {
            "A c0 halted running",     "B c0 1", "C c0 1", "D c0 halted", "E c0 running",
            "A c1 halted running",     "B c1 1", "C c1 1", "D c1 halted", "E c1 running",
            "halted due to watchpoint"};
        for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
            expect(said, words[n]);
        free(said);
    }
}

static void run_control(void **state)
{
    (void)state;
    char *said = session("targets c0; halt; echo \"A [c0 curstate] [c1 curstate]\";"
                         "set pc [dict get [get_reg pc] pc]; step;"
                         "echo \"B [expr {[dict get [get_reg pc] pc] != $pc}]\";"
                         "bp 0x0800010a 2 hw; resume; wait_halt 1000;"
                         "echo \"C [format %x [dict get [get_reg pc] pc]]\"; rbp all;"
                         "mww 0x20070000 0x11223344; mwb 0x20070001 0xaa; echo \"D [mdw 0x20070000]\";"
                         "echo \"E [expr {[catch {mdw 0x70000000}] != 0}] [mdw 0x20070000]\";"
                         "reset halt; echo \"F [c0 curstate] [format %x [dict get [get_reg pc] pc]]\"");
    expect(said, "A halted running");
    expect(said, "B 1");
    expect(said, "C 800010a");
    expect(said, "D 0x20070000: 1122aa44");
    expect(said, "E 1 0x20070000: 1122aa44");
    expect(said, "F halted 8000100");
    free(said);
}

static void cross_trigger(void **state)
{
    (void)state;
    char *said =
        session("c0 mww 0xe0042fb0 0xc5acce55; c1 mww 0xe0042fb0 0xc5acce55;"
                "cti0 write OUTEN0 1; cti1 write OUTEN0 1; cti0 write OUTEN7 2; cti1 write OUTEN7 2;"
                "cti0 enable on; cti1 enable on; cti0 channel 0 pulse; sleep 20; c0 arp_poll; c1 arp_poll;"
                "echo \"A [c0 curstate] [c1 curstate]\"; cti0 ack 0; cti1 ack 0; cti1 channel 1 pulse;"
                "sleep 20; c0 arp_poll; c1 arp_poll; echo \"B [c0 curstate] [c1 curstate]\"");
    expect(said, "A halted halted");
    expect(said, "B running running");
    free(said);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_recognised),
        cmocka_unit_test(the_other_identities_are_recognised),
        cmocka_unit_test(run_control),
        cmocka_unit_test(run_control_of_the_other_identities),
        cmocka_unit_test(cross_trigger),
    };
    if (argc != 2)
        return 2;
    openocd = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
