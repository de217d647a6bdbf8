/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: statements of a debug sequence a second, on a target that does nothing: arithmetic alone
 * (beside the same loop in C), with an access each round, with a call each round, and atomic blocks. On the
 * real clock, which is looked at before every statement. Reports, asserts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sequence/sequence_run.h"

#define TRIES 5

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static enum corral_err on_access(void *ctx, struct sequence_access *list, size_t count, bool atomic,
                                 size_t *done, struct diag *d)
{
    (void)ctx, (void)atomic, (void)d;
    for (size_t i = 0; i < count; i++)
        if (!list[i].write)
            list[i].value = 1;
    *done = count;
    return CORRAL_OK;
}

struct part {
    const char *name;
    const char *body; /* of `while n > 0` */
    bool atomic;
};

static const struct part parts[] = {
    {"arithmetic",
     "x = (x * 0x5DEECE66D + 0xB) & 0xFFFFFFFFFFFF;\ns += (x >> 17) & 0xFF;\ns ^= n << 3;\nn -= 1;\n", false},
    {"one access a round", "s += Read32(0x20000000 + (n & 0xFC));\nWrite32(0x20000000, s);\nn -= 1;\n",
     false},
    {"one call a round", "Sequence(\"Sub\");\nn -= 1;\n", false},
    {"an atomic block a round",
     "Write32(0x20000000, 1);\nWrite32(0x20000004, 2);\nWrite32(0x20000008, 3);\nn -= 1;\n", true},
};

static struct sequence_text text_of(const char *bytes)
{
    return (struct sequence_text){.bytes = bytes, .size = strlen(bytes)};
}

static enum corral_err fill(struct sequence_set *set, const struct part *part, uint64_t rounds,
                            struct diag *d)
{
    char start[128];
    snprintf(start, sizeof(start), "__var n = %" PRIu64 ";\n__var x = 42;\n__var s = 0;\n", rounds);
    const struct sequence_text first = text_of(start), body = text_of(part->body), more = text_of("n > 0");
    const struct sequence_text sub = text_of("__var y = 1;\ny += 1;\n");
    const struct sequence_head bench = {.name = "Bench", .level = 3}, called = {.name = "Sub", .level = 3};
    const struct sequence_place place = {0, 0, 0};
    const struct sequence_control loop = {.while_ = &more};
    enum corral_err err = sequence_set_begin(set, &bench, d);
    err = err ? err : sequence_set_block(set, &first, false, place, d);
    err = err ? err : sequence_set_begin_control(set, &loop, d);
    err = err ? err : sequence_set_block(set, &body, part->atomic, place, d);
    err = err ? err : sequence_set_end_control(set, d);
    err = err ? err : sequence_set_end(set, d);
    err = err ? err : sequence_set_begin(set, &called, d);
    err = err ? err : sequence_set_block(set, &sub, false, place, d);
    return err ? err : sequence_set_end(set, d);
}

/* Nanoseconds of a run; 0 when it went wrong. */
static int64_t run(const struct part *part, uint64_t rounds, struct host_clock *clock,
                   struct sequence_result *result)
{
    static const struct sequence_target target = {.access = on_access};
    struct diag d = DIAG_INIT;
    struct sequence_problems problems = {0};
    const struct sequence_setting setting = {0};
    const struct sequence_run how = {.target = &target, .clock = clock};
    struct sequence_set *set = sequence_set_new();
    int64_t took = 0;
    enum corral_err err = set ? fill(set, part, rounds, &d) : CORRAL_ERR_NO_MEMORY;
    struct sequence_program *program = err ? NULL : sequence_compile(set, &setting, &problems, &d);
    if (program) {
        int64_t begin = now_ns();
        err = sequence_run(program, "Bench", &how, result, &d);
        took = now_ns() - begin;
    }
    if (!program || err)
        printf("  %s: %s\n", part->name, problems.count ? problems.list[0].text : d.message);
    sequence_program_free(program);
    sequence_problems_clear(&problems);
    sequence_set_free(set);
    return err ? 0 : took;
}

/* The first part's loop in C, with what keeps the compiler from doing it at once. */
static int64_t plain(uint64_t rounds)
{
    volatile uint64_t n = rounds, x = 42, s = 0;
    int64_t begin = now_ns();
    while (n > 0) {
        x = (x * 0x5DEECE66D + 0xB) & 0xFFFFFFFFFFFF;
        s += (x >> 17) & 0xFF;
        s ^= n << 3;
        n -= 1;
    }
    (void)s;
    return now_ns() - begin;
}

int main(void)
{
    const uint64_t rounds = 500000;
    struct host_clock *clock = host_clock_new_real();
    if (!clock)
        return 1;
    printf("debug sequences, %" PRIu64 " rounds each, the best of %d\n", rounds, TRIES);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct sequence_result result = {0};
        int64_t best = INT64_MAX, best_plain = INT64_MAX;
        for (int k = 0; k < TRIES; k++) {
            int64_t took = run(&parts[i], rounds, clock, &result), in_c = plain(rounds);
            best = took && took < best ? took : best;
            best_plain = in_c < best_plain ? in_c : best_plain;
        }
        if (best == INT64_MAX)
            continue;
        printf("  %-24s %6.2f million statements/s, %6.2f million accesses/s", parts[i].name,
               1e3 * (double)result.statements / (double)best, 1e3 * (double)result.accesses / (double)best);
        if (i == 0)
            printf("; the same in C %.2f ns a statement, 1/%.0f of that",
                   (double)best_plain / (4 * (double)rounds), (double)best / (double)best_plain);
        printf("\n");
    }
    host_clock_free(clock);
    return 0;
}
