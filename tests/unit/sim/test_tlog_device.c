/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated firmware-log device seen from a guest: this test is the ivshmem peer, with a file for memory
 * and src/tlog's queue client for a driver. Firmware-log sheet 2, 3, 5; what a real guest makes of the device
 * is tests/kernel.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/tlog_pci_regs.h"
#include "sim/tlog_device.h"
#include "tlog/arc_queue.h"

#define RAM_SIZE (1u << 20)
#define BUFFER   0x8000u
#define SIZE     8192u
#define DOORBELL 0x100000000u
#define FAR_MS   10000 /* for what must happen */

struct rig {
    char folder[64], socket[96], control[96], ram_path[96];
    struct tlog_device *device;
    pthread_t thread;
    enum corral_err ended;
    int guest, commands;
    int bar_fd, bell[2], vector[2];
    uint8_t *bar, *ram;
    struct host_clock *clock;
    struct arc_client *client;
};

static void *serve(void *arg)
{
    struct rig *r = arg;
    r->ended = tlog_device_run(r->device, NULL, NULL);
    return NULL;
}

static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static int64_t message(int from, int *fd)
{
    uint8_t bytes[8];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {bytes, sizeof(bytes)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    assert_int_equal(recvmsg(from, &m, MSG_CMSG_CLOEXEC), 8);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *fd = -1;
    if (c)
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return (int64_t)value;
}

static uint32_t load(const uint8_t *at)
{
    return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

static enum corral_err read_bar(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    (void)d;
    *value = load(((struct rig *)ctx)->bar + address);
    return CORRAL_OK;
}

static enum corral_err write_bar(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    struct rig *r = ctx;
    (void)d;
    if (address == DOORBELL) {
        uint64_t one = 1;
        assert_int_equal(write(r->bell[TLOG_PCI_BELL_QUEUE], &one, 8), 8);
        return CORRAL_OK;
    }
    __atomic_store_n((uint32_t *)(void *)(r->bar + address), value, __ATOMIC_RELEASE);
    return CORRAL_OK;
}

static struct arc_client *open_client(struct rig *r, int64_t response_ns, struct diag *d)
{
    const struct arc_client_options options = {.memory = {r, read_bar, write_bar},
                                               .clock = r->clock,
                                               .scratch = TLOG_PCI_SCRATCH(0),
                                               .doorbell = DOORBELL,
                                               .valid_base = TLOG_PCI_QUEUES,
                                               .valid_end = TLOG_PCI_BAR_SIZE,
                                               .queue = ARC_QUEUE_DRIVER,
                                               .response_ns = response_ns};
    return arc_client_open(&options, d);
}

static int start(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    strcpy(r->folder, "/tmp/corral-device-XXXXXX");
    assert_non_null(mkdtemp(r->folder));
    snprintf(r->socket, sizeof(r->socket), "%s/iv", r->folder);
    snprintf(r->control, sizeof(r->control), "%s/control", r->folder);
    snprintf(r->ram_path, sizeof(r->ram_path), "%s/ram", r->folder);
    int fd = open(r->ram_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, RAM_SIZE), 0);
    r->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(r->ram != MAP_FAILED);
    const struct tlog_device_options options = {
        .socket = r->socket, .ram = r->ram_path, .control = r->control};
    struct diag d = DIAG_INIT;
    r->device = tlog_device_open(&options, &d);
    assert_non_null(r->device);
    assert_int_equal(pthread_create(&r->thread, NULL, serve, r), 0);
    r->commands = dial(r->control);
    r->guest = dial(r->socket);
    int none;
    assert_int_equal(message(r->guest, &none), 0); /* version */
    assert_int_equal(message(r->guest, &none), 1); /* our number */
    assert_int_equal(message(r->guest, &r->bar_fd), -1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(message(r->guest, &r->bell[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(message(r->guest, &r->vector[i]), 1);
    assert_int_equal(lseek(r->bar_fd, 0, SEEK_END), TLOG_PCI_BAR_SIZE);
    r->bar = mmap(NULL, TLOG_PCI_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->bar_fd, 0);
    assert_true(r->bar != MAP_FAILED);
    r->clock = host_clock_new_real();
    r->client = open_client(r, 0, NULL);
    assert_non_null(r->client);
    *state = r;
    return 0;
}

static int stop(void **state)
{
    struct rig *r = *state;
    arc_client_close(r->client);
    host_clock_free(r->clock);
    close(r->guest); /* the guest goes away, and the device ends */
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    assert_int_equal(r->ended, CORRAL_OK);
    struct tlog_device_report report;
    tlog_device_get_report(r->device, &report);
    assert_int_equal(report.violations, 0);
    tlog_device_free(r->device);
    assert_int_not_equal(access(r->socket, F_OK), 0);
    assert_int_not_equal(access(r->control, F_OK), 0);
    close(r->commands);
    close(r->bar_fd);
    for (int i = 0; i < 2; i++) {
        close(r->bell[i]);
        close(r->vector[i]);
    }
    munmap(r->bar, TLOG_PCI_BAR_SIZE);
    munmap(r->ram, RAM_SIZE);
    unlink(r->ram_path);
    assert_int_equal(rmdir(r->folder), 0);
    free(r);
    return 0;
}

/* The answer to a command, without its line break. */
static void ask(const struct rig *r, const char *command, char *reply, size_t size)
{
    char line[256];
    int length = snprintf(line, sizeof(line), "%s\n", command);
    assert_int_equal(send(r->commands, line, (size_t)length, 0), length);
    size_t used = 0;
    do {
        assert_true(used < size);
        assert_int_equal(recv(r->commands, reply + used, 1, 0), 1);
    } while (reply[used++] != '\n');
    reply[used - 1] = 0;
}

static void tell(const struct rig *r, const char *command)
{
    char reply[1024];
    ask(r, command, reply, sizeof(reply));
    assert_string_equal(reply, "ok");
}

static uint64_t status(const struct rig *r, const char *name)
{
    char reply[1024], key[64];
    ask(r, "status", reply, sizeof(reply));
    snprintf(key, sizeof(key), "\"%s\":", name);
    const char *at = strstr(reply, key);
    assert_non_null(at);
    at += strlen(key);
    return strncmp(at, "true", 4) == 0 ? 1 : strtoull(at, NULL, 10);
}

static uint32_t control_message(struct rig *r, uint8_t subcommand, uint64_t address, uint32_t size)
{
    const struct arc_tlog_request request = {.subcommand = subcommand, .address = address, .size = size};
    uint32_t words[ARC_MESSAGE_WORDS], response[ARC_MESSAGE_WORDS];
    arc_tlog_encode(&request, words);
    struct diag d = DIAG_INIT;
    assert_int_equal(arc_client_exchange(r->client, words, response, &d), CORRAL_OK);
    return response[0];
}

static void setup(struct rig *r)
{
    assert_int_equal(control_message(r, ARC_TLOG_SETUP, BUFFER, SIZE), ARC_TLOG_OK);
    assert_int_equal(load(r->ram + BUFFER + 8), 0x544C4F47);
}

static uint8_t owner(const struct rig *r)
{
    return __atomic_load_n(r->ram + BUFFER + 12, __ATOMIC_ACQUIRE);
}

static void wait_owner(const struct rig *r, uint8_t value)
{
    for (int ms = 0; owner(r) != value; ms++) {
        assert_true(ms < FAR_MS);
        usleep(1000);
    }
}

static void hand_back(const struct rig *r)
{
    __atomic_store_n(r->ram + BUFFER + 12, 0, __ATOMIC_RELEASE);
}

/* Has the vector been raised since the last call? Waits for it up to `ms`. */
static bool raised(int vector, int ms)
{
    struct pollfd p = {.fd = vector, .events = POLLIN};
    uint64_t count;
    return poll(&p, 1, ms) == 1 && read(vector, &count, 8) == 8;
}

/* Records of the batch in the buffer; their sequence numbers have to follow *sequence. */
static unsigned count_records(const struct rig *r, uint32_t *sequence)
{
    uint32_t end = load(r->ram + BUFFER), at = 16;
    unsigned count = 0;
    assert_in_range(end, 16, SIZE);
    for (; at < end; count++) {
        uint8_t head[12];
        memcpy(head, r->ram + BUFFER + at, 12);
        assert_int_equal(head[8] | head[9] << 8 | head[10] << 16, *sequence);
        (*sequence)++;
        at += head[0] | head[1] << 8;
    }
    assert_int_equal(at, end);
    return count;
}

static void test_registers_and_test_message(void **state)
{
    struct rig *r = *state;
    assert_int_equal(load(r->bar + TLOG_PCI_ID), TLOG_PCI_ID_VALUE);
    assert_int_equal(load(r->bar + TLOG_PCI_VERSION), 1);
    assert_int_equal(load(r->bar + TLOG_PCI_GENERATION), 1);
    assert_int_equal(load(r->bar + TLOG_PCI_EMULATOR_ID), 0);
    uint32_t response[ARC_MESSAGE_WORDS];
    const uint32_t unknown[ARC_MESSAGE_WORDS] = {0x42};
    assert_int_equal(arc_client_exchange(r->client, unknown, response, NULL), CORRAL_OK);
    assert_int_equal(response[0], ARC_MSG_UNKNOWN);
    assert_int_equal(control_message(r, 3, 0, 0), ARC_TLOG_BAD_SUBCOMMAND);
}

static void test_records_in_order_with_interrupts(void **state)
{
    struct rig *r = *state;
    setup(r);
    tell(r, "generate 1000");
    uint32_t sequence = 0;
    for (unsigned records = 0; records < 1000;) {
        assert_true(raised(r->vector[TLOG_PCI_VECTOR_LOG], FAR_MS));
        while (owner(r) == 1) {
            records += count_records(r, &sequence);
            hand_back(r);
        }
    }
    assert_int_equal(sequence, 1000);
    assert_int_equal(status(r, "dropped"), 0);
    assert_int_equal(status(r, "remarks"), 0);
}

static void test_release_ends_all_stores(void **state)
{
    struct rig *r = *state;
    setup(r);
    tell(r, "generate 100000");
    wait_owner(r, 1);
    assert_int_equal(control_message(r, ARC_TLOG_RELEASE, 0, 0), ARC_TLOG_OK);
    hand_back(r);
    uint8_t *copy = malloc(RAM_SIZE);
    assert_non_null(copy);
    memcpy(copy, r->ram, RAM_SIZE);
    usleep(100000);
    assert_memory_equal(copy, r->ram, RAM_SIZE);
    free(copy);
    assert_int_equal(status(r, "active"), 0);
    /* what waited comes to the next host */
    setup(r);
    wait_owner(r, 1);
}

static void test_no_store_outside_the_buffer(void **state)
{
    struct rig *r = *state;
    static const uint32_t sizes[] = {32, 33, 35, 64, 4095, 4096, 4112};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(r->ram, 0x5A, RAM_SIZE);
        assert_int_equal(control_message(r, ARC_TLOG_SETUP, BUFFER, sizes[i]), ARC_TLOG_OK);
        tell(r, "generate 200");
        for (int batches = 0; batches < 3; batches++) {
            wait_owner(r, 1);
            hand_back(r);
        }
        tell(r, "generate 0");
        assert_int_equal(control_message(r, ARC_TLOG_RELEASE, 0, 0), ARC_TLOG_OK);
        for (uint32_t at = 0; at < RAM_SIZE; at++)
            if (at < BUFFER || at >= BUFFER + sizes[i])
                assert_int_equal(r->ram[at], 0x5A);
    }
}

static void test_setup_that_cannot_be(void **state)
{
    struct rig *r = *state;
    assert_int_equal(control_message(r, ARC_TLOG_SETUP, BUFFER, 28), ARC_TLOG_BAD_SIZE);
    assert_int_equal(control_message(r, ARC_TLOG_SETUP, RAM_SIZE - 4096, 8192), ARC_TLOG_BAD_SIZE);
    assert_int_equal(control_message(r, ARC_TLOG_SETUP, UINT64_MAX - 4095, 8192), ARC_TLOG_BAD_SIZE);
    assert_int_equal(status(r, "active"), 0);
    assert_int_equal(status(r, "refused"), 3);
    assert_true(status(r, "remarks") > 0);
}

static void test_each_lie_about_a_batch(void **state)
{
    struct rig *r = *state;
    static const struct {
        const char *command;
        uint32_t offset, mask, value;
    } lies[] = {
        {"bad-magic", 8, UINT32_MAX, 0x474F4C54}, {"write-offset 0xffffffff", 0, UINT32_MAX, UINT32_MAX},
        {"write-offset 15", 0, UINT32_MAX, 15},   {"buffer-size 0", 4, UINT32_MAX, 0},
        {"msg-size 11", 16, 0xFFFF, 11},          {"owner-next 0x80", 12, 0xFF, 0x80}};
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        setup(r);
        tell(r, "silence");
        tell(r, lies[i].command);
        tell(r, "generate 5");
        tell(r, "silence off");
        assert_true(raised(r->vector[TLOG_PCI_VECTOR_LOG], FAR_MS));
        assert_int_equal(load(r->ram + BUFFER + lies[i].offset) & lies[i].mask, lies[i].value);
    }
}

static void test_torn_tail(void **state)
{
    struct rig *r = *state;
    setup(r);
    tell(r, "silence");
    tell(r, "torn");
    tell(r, "log 3 0 0123456789");
    tell(r, "silence off");
    assert_true(raised(r->vector[TLOG_PCI_VECTOR_LOG], FAR_MS));
    assert_int_equal(load(r->ram + BUFFER + 16) & 0xFFFF, 12 + 11);
    assert_int_equal(load(r->ram + BUFFER), 16 + 12 + 5);
}

static void test_missed_and_spurious_interrupts(void **state)
{
    struct rig *r = *state;
    setup(r);
    tell(r, "miss-irq 1");
    tell(r, "log 3 0 one");
    wait_owner(r, 1);
    assert_false(raised(r->vector[TLOG_PCI_VECTOR_LOG], 50));
    assert_int_equal(status(r, "withheld"), 1);
    hand_back(r);
    tell(r, "spurious-irq");
    assert_true(raised(r->vector[TLOG_PCI_VECTOR_LOG], FAR_MS));
    assert_int_equal(owner(r), 0);
}

static void test_answers_refused_late_and_missing(void **state)
{
    struct rig *r = *state;
    tell(r, "refuse 0x13 1");
    assert_int_equal(control_message(r, ARC_TLOG_SETUP, BUFFER, SIZE), ARC_TLOG_NO_TRANSLATION);
    tell(r, "late 100");
    setup(r); /* waits for it */
    assert_int_equal(control_message(r, ARC_TLOG_RELEASE, 0, 0), ARC_TLOG_OK);
    arc_client_close(r->client);
    tell(r, "stale 2");
    r->client = open_client(r, 100 * NS_PER_MS, NULL);
    assert_non_null(r->client);
    setup(r);
    tell(r, "mute 1");
    uint32_t response[ARC_MESSAGE_WORDS];
    const uint32_t release[ARC_MESSAGE_WORDS] = {ARC_MSG_TLOG | ARC_TLOG_RELEASE << 8};
    assert_int_equal(arc_client_exchange(r->client, release, response, NULL), CORRAL_ERR_TIMEOUT);
}

static void test_queues_that_cannot_be(void **state)
{
    struct rig *r = *state;
    static const char *const lies[] = {"entries 0", "entries 255", "queue-address 0x7fffff00",
                                       "boot-status 0"};
    static const char *const rights[] = {"entries", "entries", "queue-address", "boot-status"};
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        tell(r, lies[i]);
        assert_null(open_client(r, 0, NULL));
        tell(r, rights[i]);
        struct arc_client *again = open_client(r, 0, NULL);
        assert_non_null(again);
        arc_client_close(again);
    }
}

static void test_restart_and_death(void **state)
{
    struct rig *r = *state;
    setup(r);
    tell(r, "generate 10");
    wait_owner(r, 1);
    tell(r, "restart");
    assert_true(raised(r->vector[TLOG_PCI_VECTOR_RESET], FAR_MS));
    assert_int_equal(load(r->bar + TLOG_PCI_GENERATION), 2);
    assert_int_equal(status(r, "active"), 0);
    arc_client_close(r->client);
    r->client = open_client(r, 0, NULL);
    setup(r);
    tell(r, "generate 10");
    wait_owner(r, 1);
    uint32_t sequence = 0; /* from the beginning again */
    count_records(r, &sequence);
    tell(r, "dead");
    assert_int_equal(load(r->bar + TLOG_PCI_GENERATION), UINT32_MAX);
    assert_int_equal(load(r->bar + TLOG_PCI_SCRATCH(ARC_SCRATCH_BOOT_STATUS)), UINT32_MAX);
    assert_null(open_client(r, 0, NULL));
    tell(r, "restart");
    assert_int_equal(load(r->bar + TLOG_PCI_GENERATION), 3);
}

static void test_commands_that_are_refused(void **state)
{
    struct rig *r = *state;
    static const char *const commands[] = {
        "",         "nonsense",    "generate",        "generate x", "owner 2",        "level 256", "batch 0",
        "batch 0g", "miss-irq -1", "silence perhaps", "log 3",      "status-is-none", "torn 1 2",  "refuse"};
    char reply[1024];
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        ask(r, commands[i], reply, sizeof(reply));
        assert_memory_equal(reply, "error: ", 7);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, start, stop)
    const struct CMUnitTest tests[] = {
        T(registers_and_test_message),
        T(records_in_order_with_interrupts),
        T(release_ends_all_stores),
        T(no_store_outside_the_buffer),
        T(setup_that_cannot_be),
        T(each_lie_about_a_batch),
        T(torn_tail),
        T(missed_and_spurious_interrupts),
        T(answers_refused_late_and_missing),
        T(queues_that_cannot_be),
        T(restart_and_death),
        T(commands_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
