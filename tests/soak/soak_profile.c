/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's own firmware sampled at 10 kHz on both cores, over UDP and over packets in RAM: the samples
 * that arrive are those that the firmware counted, none lost. Half a second in `make test`, 30 in `make
 * soak`.
 *
 * Usage: soak_profile SECONDS UDP0.ELF UDP1.ELF RAM0.ELF RAM1.ELF
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prof/records.h"
#include "session/profiling.h"
#include "session/session.h"

#define RAM_SWCLK 10000000u /* docs/profile-records.md: what two cores at 10 kHz want */

static double soak_seconds;
static char **soak_images; /* UDP0 UDP1 RAM0 RAM1 */

struct soak {
    struct event_bus *bus;
    struct session *session;
};

static struct soak open_board(char **images, uint32_t clock_hz)
{
    struct soak s = {.bus = event_bus_new()};
    struct diag d = DIAG_INIT;
    char link[1024];
    assert_non_null(s.bus);
    snprintf(link, sizeof(link), "sim:%s,%s", images[0], images[1]);
    struct session_options options = {
        .link = link, .clock_hz = clock_hz, .profile = true, .listen_port = 0, .bus = s.bus};
    s.session = session_open(&options, &d);
    if (!s.session || session_connect(s.session, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    assert_int_equal(session_core_count(s.session), 2);
    return s;
}

static void close_board(struct soak *s)
{
    session_close(s->session);
    event_bus_free(s->bus, NULL);
}

static uint32_t variable(struct soak *s, size_t core, const char *name)
{
    struct diag d = DIAG_INIT;
    uint32_t value = 0;
    if (session_read_variable(s->session, core, name, &value, &d) != CORRAL_OK)
        fail_msg("%s", d.message);
    return value;
}

/* Run, halt both cores, and compare: what a core has sent by then against what came from the sender `name`.
 */
static void run_and_compare(struct soak *s, const char *prefix, bool last_is_in_ram)
{
    struct diag d = DIAG_INIT;
    assert_int_equal(session_run_for(s->session, (int64_t)(soak_seconds * 1e9), NULL, &d), CORRAL_OK);
    assert_int_equal(session_halt(s->session, 0, NULL, &d), CORRAL_OK);
    /* Time for what has been handed over to be fetched; the cores stand still. */
    assert_int_equal(session_run_for(s->session, 200 * NS_PER_MS, NULL, &d), CORRAL_OK);
    struct prof_report *report = profiling_report(session_profiling(s->session), -1, 0, false, &d);
    assert_non_null(report);
    assert_int_equal(report->totals.lost + report->totals.late + report->totals.duplicates +
                         report->totals.restarts + report->totals.rejected + report->totals.bad_samples +
                         report->totals.idle_steps + report->kernel_drops,
                     0);
    for (size_t core = 0; core < 2; core++) {
        char name[64];
        const struct prof_report_source *source = NULL;
        snprintf(name, sizeof(name), "%s%s", prefix, session_core_name(s->session, core));
        for (size_t i = 0; i < report->source_count; i++)
            if (strcmp(report->sources[i].name, name) == 0)
                source = &report->sources[i];
        assert_non_null(source);
        uint32_t sent = variable(s, core, "prof_samples_sent"),
                 taken = variable(s, core, "prof_samples_taken");
        print_message("%s: %u samples taken, %u sent, %llu arrived\n", name, taken, sent,
                      (unsigned long long)source->totals.samples);
        assert_true(taken > soak_seconds * 9500 && taken < soak_seconds * 10500);
        assert_true(taken - sent < 49);
        /* In RAM the slot that is being filled is still the core's. */
        if (last_is_in_ram)
            assert_true(sent >= source->totals.samples && sent - source->totals.samples <= 2 * 49);
        else
            assert_int_equal(source->totals.samples, sent);
    }
    prof_report_free(report);
}

static void over_udp_every_sample_arrives(void **state)
{
    (void)state;
    struct soak s = open_board(soak_images, 0);
    run_and_compare(&s, "", false);
    close_board(&s);
}

static void over_packets_in_ram_every_sample_arrives(void **state)
{
    struct diag d = DIAG_INIT;
    struct prof_records_stats stats;
    (void)state;
    struct soak s = open_board(soak_images + 2, RAM_SWCLK);
    assert_int_equal(session_start_records(s.session, &d), CORRAL_OK);
    assert_int_equal(session_records_count(s.session), 2);
    run_and_compare(&s, "ram:", true);
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(session_records_stats(s.session, i, &stats));
        assert_int_equal(stats.lost + stats.restarts + stats.bad_shapes + stats.bad_owners +
                             stats.bad_batches + stats.bad_records,
                         0);
    }
    close_board(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_udp_every_sample_arrives),
        cmocka_unit_test(over_packets_in_ram_every_sample_arrives),
    };
    if (argc != 6 || (soak_seconds = strtod(argv[1], NULL)) <= 0) {
        fprintf(stderr, "usage: soak_profile SECONDS UDP0.ELF UDP1.ELF RAM0.ELF RAM1.ELF\n");
        return 2;
    }
    soak_images = argv + 2;
    return cmocka_run_group_tests_name("soak profile", tests, NULL, NULL);
}
