/* SPDX-License-Identifier: Apache-2.0 */
/* The capture writer: read back by our own reader and by Wireshark's tools, cut anywhere, out of space, from
 * several threads. */
#include "capture_file.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "capture/capture_reader.h"
#include "capture/capture_writer.h"

#define WALL 1700000000000000000

static struct capture_writer *create(char name[32])
{
    struct diag d = DIAG_INIT;
    file_store("", 0, name);
    struct capture_writer *w = capture_writer_open(name, WALL, &d);
    assert_non_null(w);
    return w;
}

static uint32_t interface(struct capture_writer *w, int linktype, const char *name)
{
    uint32_t id = UINT32_MAX;
    struct diag d = DIAG_INIT;
    assert_int_equal(capture_writer_interface(w, linktype, name, &id, &d), CORRAL_OK);
    return id;
}

/* A datagram, a log batch, an event with a comment, statistics. */
static void write_story(char name[32])
{
    struct diag d = DIAG_INIT;
    struct capture_writer *w = create(name);
    uint32_t udp = interface(w, CAPTURE_LINKTYPE_RAW_IP, "profile");
    uint32_t log = interface(w, CAPTURE_LINKTYPE_TLOG, "log core0");
    uint32_t event = interface(w, CAPTURE_LINKTYPE_EVENT, "events \"q\" \xC3\xA4 \xFF");
    assert_int_equal(capture_writer_udp(w, udp, 1, "192.0.2.2", 40000, "192.0.2.1", 51080, "odd", 3, &d), 0);
    assert_int_equal(capture_writer_packet(w, log, 1000000002, "TLOGbatch", 9, NULL, &d), 0);
    assert_int_equal(capture_writer_packet(w, event, 1000000003, "{}", 2, "halt: core0 was first", &d), 0);
    assert_int_equal(capture_writer_packet(w, event, EVENT_NO_TIME, "", 0, NULL, &d), 0);
    assert_int_equal(capture_writer_udp(w, udp, 2000000000, "10.0.0.1", 1, "10.0.0.2", 51080, NULL, 0, &d),
                     0);
    assert_int_equal(capture_writer_stats(w, udp, 2000000001, 2, 7, &d), 0);
    assert_int_equal(capture_writer_close(w, &d), CORRAL_OK);
}

static uint16_t ones_sum(uint32_t sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)sum;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    char name[32];
    struct diag d = DIAG_INIT;
    struct capture_packet p;
    struct capture_udp udp;
    write_story(name);
    struct capture_reader *r = capture_reader_open(name, &d);
    assert_non_null(r);

    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.ns, WALL + 1);
    assert_int_equal(p.linktype, CAPTURE_LINKTYPE_RAW_IP);
    assert_int_equal(p.interface_id, 0);
    assert_int_equal(p.size, 31);
    assert_int_equal(p.original, 31);
    assert_int_equal(ones_sum(0, p.data, 20), 0xFFFF);                /* IPv4 header */
    assert_int_equal(ones_sum(17 + 11, p.data + 12, 8 + 11), 0xFFFF); /* pseudo header and UDP */
    assert_true(capture_reader_udp(r, &p, &udp));
    assert_string_equal(udp.source, "192.0.2.2:40000");
    assert_int_equal(udp.dest_port, 51080);
    assert_int_equal(udp.size, 3);
    assert_memory_equal(udp.data, "odd", 3);

    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.ns, WALL + 1000000002);
    assert_int_equal(p.linktype, CAPTURE_LINKTYPE_TLOG);
    assert_int_equal(p.interface_id, 1);
    assert_int_equal(p.size, 9);
    assert_memory_equal(p.data, "TLOGbatch", 9);
    assert_false(capture_reader_udp(r, &p, &udp));

    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.linktype, CAPTURE_LINKTYPE_EVENT);
    assert_int_equal(p.size, 2);
    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.ns, WALL + 1000000003); /* no time of its own */
    assert_int_equal(p.size, 0);

    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_true(capture_reader_udp(r, &p, &udp));
    assert_int_equal(udp.size, 0);
    assert_false(udp.cut);
    assert_int_equal(capture_reader_next(r, &p, &d), 0);
    struct capture_reader_stats s;
    capture_reader_get_stats(r, &s);
    assert_int_equal(s.packets, 5);
    assert_int_equal(s.udp, 2);
    assert_int_equal(s.other, 1);
    assert_int_equal(s.unknown_linktype, 0);
    capture_reader_close(r);
    unlink(name);
}

static void a_cut_file_is_good_up_to_its_last_whole_block(void **state)
{
    (void)state;
    static uint8_t data[4096];
    char name[32];
    write_story(name);
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    size_t size = fread(data, 1, sizeof(data), f);
    fclose(f);
    unlink(name);
    assert_in_range(size, 300, sizeof(data) - 1);

    size_t end = 0; /* of the last whole block, and the packets up to there */
    size_t packets = 0;
    for (size_t n = 0; n <= size; n++) {
        if (n - end >= 8 && load_le32(data + end + 4) == n - end) {
            packets += load_le32(data + end) == 6;
            end = n;
        }
        file_store(data, n, name);
        struct diag d = DIAG_INIT;
        struct capture_reader *r = capture_reader_open(name, &d);
        unlink(name);
        if (!r) {
            assert_int_equal(end, 0);
            continue;
        }
        struct capture_packet p;
        size_t got = 0;
        int result;
        while ((result = capture_reader_next(r, &p, &d)) == 1)
            got++;
        assert_int_equal(got, packets);
        assert_int_equal(result, n == end ? 0 : -1);
        capture_reader_close(r);
    }
    assert_int_equal(end, size);
    assert_int_equal(packets, 5);
}

static void a_full_disk_leaves_a_whole_file_and_stays_an_error(void **state)
{
    (void)state;
    char name[32];
    struct diag d = DIAG_INIT;
    struct capture_writer *w = create(name);
    uint32_t id = interface(w, CAPTURE_LINKTYPE_TLOG, "log");
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {.rlim_cur = 1000, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint8_t data[100] = {0};
    size_t written = 0;
    enum corral_err err;
    while ((err = capture_writer_packet(w, id, 5, data, sizeof(data), NULL, &d)) == CORRAL_OK &&
           written < 100)
        written++;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(err, CORRAL_ERR_IO);
    assert_in_range(written, 3, 8);
    /* Room again, but the first error stands: there is a hole in the record. */
    struct diag again = DIAG_INIT;
    assert_int_equal(capture_writer_packet(w, id, 6, data, 4, NULL, &again), CORRAL_ERR_IO);
    assert_string_equal(again.message, d.message);
    assert_int_equal(capture_writer_stats(w, id, 6, 1, 1, &again), CORRAL_ERR_IO);
    assert_int_equal(capture_writer_close(w, &again), CORRAL_ERR_IO);

    struct capture_reader *r = capture_reader_open(name, &d);
    assert_non_null(r);
    struct capture_packet p;
    for (size_t i = 0; i < written; i++)
        assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(capture_reader_next(r, &p, &d), 0);
    capture_reader_close(r);
    unlink(name);
}

static void what_cannot_be_is_refused_and_does_no_harm(void **state)
{
    (void)state;
    char name[32];
    struct diag d = DIAG_INIT;
    assert_null(capture_writer_open("no-such-folder/capture", 0, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    assert_null(capture_writer_open("/dev/full", 0, &d));
    assert_int_equal(d.code, CORRAL_ERR_IO);
    struct capture_writer *w = create(name);
    uint32_t id = 77;
    assert_int_equal(capture_writer_packet(w, 0, 0, "x", 1, NULL, &d), CORRAL_ERR_USAGE);
    assert_int_equal(capture_writer_interface(w, -1, "x", &id, &d), CORRAL_ERR_USAGE);
    assert_int_equal(capture_writer_interface(w, 65536, "x", &id, &d), CORRAL_ERR_USAGE);
    assert_int_equal(id, 77);
    for (unsigned i = 0; i < CAPTURE_MAX_INTERFACES; i++)
        assert_int_equal(interface(w, CAPTURE_LINKTYPE_RAW_IP, "same name"), i);
    assert_int_equal(capture_writer_interface(w, 101, "one more", &id, &d), CORRAL_ERR_LIMIT);
    uint8_t *big = calloc(1, CAPTURE_MAX_PACKET + 1);
    assert_int_equal(capture_writer_packet(w, 0, 0, big, CAPTURE_MAX_PACKET + 1, NULL, &d), CORRAL_ERR_LIMIT);
    assert_int_equal(capture_writer_udp(w, 0, 0, "1.2.3.4", 1, "1.2.3.4", 1, big, 65508, &d),
                     CORRAL_ERR_LIMIT);
    assert_int_equal(capture_writer_udp(w, 0, 0, "::1", 1, "1.2.3.4", 1, big, 1, &d), CORRAL_ERR_USAGE);
    assert_int_equal(capture_writer_udp(w, 0, 0, "1.2.3.4", 1, "localhost", 1, big, 1, &d), CORRAL_ERR_USAGE);
    assert_int_equal(capture_writer_packet(w, 0, 0, big, CAPTURE_MAX_PACKET, NULL, &d), CORRAL_OK);
    assert_int_equal(capture_writer_udp(w, 0, INT64_MAX, "1.2.3.4", 1, "1.2.3.4", 1, big, 65507, &d),
                     CORRAL_OK);
    memset(big, 'x', 5000);
    assert_int_equal(capture_writer_packet(w, 0, -WALL - 5, "x", 1, (char *)big, &d), CORRAL_OK);
    free(big);
    assert_int_equal(capture_writer_close(w, &d), CORRAL_OK);
    assert_int_equal(capture_writer_close(NULL, &d), CORRAL_OK);

    struct capture_reader *r = capture_reader_open(name, &d);
    struct capture_packet p;
    struct capture_udp udp;
    assert_non_null(r);
    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.size, CAPTURE_MAX_PACKET);
    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.ns, INT64_MAX);
    assert_true(capture_reader_udp(r, &p, &udp));
    assert_int_equal(udp.size, 65507);
    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_int_equal(p.ns, 0);
    assert_int_equal(capture_reader_next(r, &p, &d), 0);
    capture_reader_close(r);
    unlink(name);
}

#define THREADS    4
#define PER_THREAD 2000

struct worker {
    pthread_t thread;
    struct capture_writer *w;
    uint32_t id;
    size_t failed;
};

static void *work(void *arg)
{
    struct worker *me = arg;
    uint8_t data[64];
    memset(data, (int)me->id + 'A', sizeof(data));
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        store_le32(data, i);
        me->failed += capture_writer_packet(me->w, me->id, i, data, 4 + i % 60, NULL, NULL) != CORRAL_OK;
    }
    return NULL;
}

static void threads_do_not_mix_their_blocks(void **state)
{
    (void)state;
    char name[32];
    struct diag d = DIAG_INIT;
    struct capture_writer *w = create(name);
    struct worker workers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.w = w, .id = interface(w, CAPTURE_LINKTYPE_TLOG, "log")};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failed, 0);
    }
    assert_int_equal(capture_writer_close(w, &d), CORRAL_OK);
    struct capture_reader *r = capture_reader_open(name, &d);
    assert_non_null(r);
    uint32_t next[THREADS] = {0};
    struct capture_packet p;
    int result;
    while ((result = capture_reader_next(r, &p, &d)) == 1) {
        assert_in_range(p.interface_id, 0, THREADS - 1);
        uint32_t i = next[p.interface_id]++;
        assert_int_equal(load_le32(p.data), i);
        assert_int_equal(p.size, 4 + i % 60);
        for (size_t k = 4; k < p.size; k++)
            assert_int_equal(p.data[k], 'A' + p.interface_id);
    }
    assert_int_equal(result, 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(next[i], PER_THREAD);
    capture_reader_close(r);
    unlink(name);
}

static void output_of(const char *command, char *out, size_t size)
{
    FILE *p = popen(command, "r");
    assert_non_null(p);
    out[fread(out, 1, size - 1, p)] = '\0';
    assert_int_equal(pclose(p), 0);
}

static void wireshark_reads_it(void **state)
{
    (void)state;
    if (system("command -v tshark >/dev/null && command -v capinfos >/dev/null") != 0) {
        print_message("# tshark and capinfos are not installed: skipped\n");
        skip();
    }
    static char out[8192];
    char name[32];
    char command[512];
    write_story(name);
    snprintf(command, sizeof(command),
             "tshark -r %s -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -E separator='|' "
             "-e frame.interface_name -e frame.time_epoch -e ip.src -e udp.srcport -e udp.dstport "
             "-e udp.length -e ip.checksum.status -e udp.checksum.status -e frame.comment -e data.data "
             "2>/dev/null",
             name);
    output_of(command, out, sizeof(out));
    static const char *const lines[] = {
        "profile|1700000000.000000001|192.0.2.2|40000|51080|11|1|1||6f6464\n",
        "log core0|1700000001.000000002|||||||",
        "events \"q\" \xC3\xA4 \\xff|1700000001.000000003||||||",
        "|halt: core0 was first|",
        "profile|1700000002.000000000|10.0.0.1|1|51080|8|1|1||\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(out, lines[i]))
            fail_msg("no %s in:\n%s", lines[i], out);
    snprintf(command, sizeof(command), "capinfos -M %s", name);
    output_of(command, out, sizeof(out));
    static const char *const facts[] = {"pcapng",
                                        "nanoseconds",
                                        "Number of packets:   5",
                                        "Capture application: corral",
                                        "Number of interfaces in file: 3",
                                        "Name = log core0"};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (!strstr(out, facts[i]))
            fail_msg("no %s in:\n%s", facts[i], out);
    unlink(name);
}

/* Profile packets that were no datagrams are known by the link type and the interface's name together. */
static void packets_of_a_debug_link_have_their_senders_name(void **state)
{
    (void)state;
    static const char *const names[] = {"profile ram:core0", "profile ", "profiles of mine", "", "profile x"};
    static const char *const senders[] = {"ram:core0", NULL, NULL, NULL, NULL};
    char name[32], longest[200];
    struct diag d = DIAG_INIT;
    struct capture_writer *w = create(name);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t id = interface(w, i < 4 ? CAPTURE_LINKTYPE_PROFILE : CAPTURE_LINKTYPE_EVENT, names[i]);
        assert_int_equal(capture_writer_packet(w, id, 1, "\x3e\xb1", 2, NULL, &d), CORRAL_OK);
    }
    memset(longest, 'n', sizeof(longest));
    memcpy(longest, "profile ", 8);
    longest[sizeof(longest) - 1] = '\0';
    uint32_t id = interface(w, CAPTURE_LINKTYPE_PROFILE, longest);
    assert_int_equal(capture_writer_packet(w, id, 1, "", 0, NULL, &d), CORRAL_OK);
    assert_int_equal(capture_writer_close(w, &d), CORRAL_OK);

    struct capture_reader *r = capture_reader_open(name, &d);
    struct capture_packet p;
    struct capture_udp udp;
    assert_non_null(r);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(capture_reader_next(r, &p, &d), 1);
        const char *sender = capture_reader_profile(&p);
        assert_int_equal(sender != NULL, senders[i] != NULL);
        if (sender)
            assert_string_equal(sender, senders[i]);
        assert_int_equal(p.size, 2);
        assert_false(capture_reader_udp(r, &p, &udp));
    }
    assert_int_equal(capture_reader_next(r, &p, &d), 1);
    assert_non_null(capture_reader_profile(&p));
    assert_true(strlen(p.interface) < strlen(longest)); /* cut, and ended */
    assert_int_equal(capture_reader_next(r, &p, &d), 0);
    capture_reader_close(r);
    unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_of_a_debug_link_have_their_senders_name),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_cut_file_is_good_up_to_its_last_whole_block),
        cmocka_unit_test(a_full_disk_leaves_a_whole_file_and_stays_an_error),
        cmocka_unit_test(what_cannot_be_is_refused_and_does_no_harm),
        cmocka_unit_test(threads_do_not_mix_their_blocks),
        cmocka_unit_test(wireshark_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
