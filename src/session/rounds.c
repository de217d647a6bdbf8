/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of run and halt: the skew measured by CYCCNT beside the board's own figure, and the deadlines that
 * the firmware missed meanwhile. DESIGN.md "Threads, time, pressure" says why a round is started by one core
 * and stopped by the other.
 */
#include <stdlib.h>

#include "session/session_internal.h"

#define ROUND_STARTER 0
#define ROUND_STOPPER 1
#define ROUNDS_MAX    1000

struct one_round {
    struct session *s;
    int64_t run_ns;
    int64_t measured_ns;
    int64_t board_ns; /* EVENT_NO_TIME without a board */
};

/* Half of start plus stop skew, from the board's log of this round: two restarts, then two halts. */
static int64_t board_skew(struct link *link, size_t from)
{
    struct link_sim_record records[8];
    int64_t start[2] = {0, 0}, stop[2] = {0, 0};
    unsigned seen = 0;
    size_t n = link_sim_log(link, from, records, 8);
    for (size_t i = 0; i < n; i++) {
        const struct link_sim_record *r = &records[i];
        if (r->core > 1)
            return EVENT_NO_TIME;
        (r->halted ? stop : start)[r->core] = r->ns;
        seen |= 1u << (r->core * 2 + (r->halted ? 1 : 0));
    }
    if (n != 4 || seen != 0xf) /* something else halted or ran: this round proves nothing */
        return EVENT_NO_TIME;
    int64_t start_skew = start[ROUND_STOPPER] - start[ROUND_STARTER];
    int64_t stop_skew = stop[ROUND_STARTER] - stop[ROUND_STOPPER];
    return llabs(start_skew + stop_skew) / 2;
}

static enum corral_err do_round(struct link *link, void *ctx, struct diag *d)
{
    struct one_round *r = ctx;
    struct group_skew skew;
    size_t from = link_sim_log_count(link);
    enum corral_err err = group_measure_round(r->s->group, ROUND_STARTER, ROUND_STOPPER, r->run_ns, &skew, d);
    /* the round ran and halted: two cuts */
    session_clocks_cut(r->s, false);
    session_clocks_cut(r->s, true);
    if (err != CORRAL_OK)
        return err;
    r->measured_ns = skew.skew_ns;
    r->board_ns = r->s->is_board ? board_skew(link, from) : EVENT_NO_TIME;
    return CORRAL_OK;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void median_and_max(int64_t *values, unsigned n, int64_t *median, int64_t *max)
{
    qsort(values, n, sizeof(*values), compare_ns);
    *median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    *max = values[n - 1];
}

/* False when the program does not count them. */
static bool missed_so_far(struct session *s, uint32_t *missed)
{
    return session_read_variable(s, 0, "mailbox_missed", missed, NULL) == CORRAL_OK;
}

enum corral_err session_measure_rounds(struct session *s, unsigned rounds, int64_t run_ns,
                                       const atomic_bool *stop, struct session_rounds *out, struct diag *d)
{
    if (rounds == 0 || rounds > ROUNDS_MAX)
        return diag_set(d, CORRAL_ERR_USAGE, "rounds: %u is not a number from 1 to %u", rounds, ROUNDS_MAX);
    if (s->core_count < 2)
        return diag_set(d, CORRAL_ERR_NO_CORE, "skew is measured between two cores, and there is one");
    int64_t *measured = calloc(rounds, sizeof(*measured));
    int64_t *board = calloc(rounds, sizeof(*board));
    if (!measured || !board) {
        free(measured);
        free(board);
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    }
    enum corral_err err = CORRAL_OK;
    uint32_t missed_before = 0, missed_after = 0;
    bool missed_known = missed_so_far(s, &missed_before);
    int64_t worst_difference = 0;
    bool board_known = true;
    for (unsigned i = 0; i < rounds && err == CORRAL_OK; i++) {
        /* unlike lengths, so that rounds do not fall on one phase of what the firmware does */
        struct one_round r = {.s = s, .run_ns = run_ns + (int64_t)(i * 7919u % 1000u) * NS_PER_US};
        err = session_call(s, do_round, &r, d);
        if (err == CORRAL_OK && r.measured_ns == EVENT_NO_TIME)
            err =
                diag_set(d, CORRAL_ERR_UNSUPPORTED,
                         "the skew of round %u cannot be measured: a core stopped by itself, or its clock is "
                         "not known",
                         i + 1);
        if (err == CORRAL_OK)
            err = event_bus_drain(s->bus, d);
        if (err == CORRAL_OK && stop && atomic_load(stop))
            err = diag_set(d, CORRAL_ERR_INTERRUPTED, "interrupted");
        measured[i] = r.measured_ns;
        board[i] = r.board_ns;
        board_known &= r.board_ns != EVENT_NO_TIME;
        if (board_known && llabs(r.measured_ns - r.board_ns) > worst_difference)
            worst_difference = llabs(r.measured_ns - r.board_ns);
    }
    if (err == CORRAL_OK) {
        *out = (struct session_rounds){.rounds = rounds,
                                       .board_median_ns = EVENT_NO_TIME,
                                       .board_max_ns = EVENT_NO_TIME,
                                       .worst_difference_ns = EVENT_NO_TIME};
        median_and_max(measured, rounds, &out->median_ns, &out->max_ns);
        if (board_known) {
            median_and_max(board, rounds, &out->board_median_ns, &out->board_max_ns);
            out->worst_difference_ns = worst_difference;
        }
        missed_known = missed_known && missed_so_far(s, &missed_after);
        out->deadlines_missed = missed_known ? (int64_t)(uint32_t)(missed_after - missed_before) : -1;
    }
    free(measured);
    free(board);
    return err;
}
