/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about a report (profiling_remarks.h). Judges by thresholds of the profiler sheet 9; draws
 * nothing. */
#include "session/profiling_remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN_WARNING 0.05  /* of a sender's active samples (profiler sheet 9) */
#define UNKNOWN_NOTE    0.001 /* likewise */

const char *profiling_weight_name(enum profiling_weight weight)
{
    static const char *const names[] = {"loss", "warning", "note"};
    return names[weight];
}

void profiling_remarks_add(struct profiling_remarks *out, enum profiling_weight weight, int source,
                           const char *code, const char *fmt, ...)
{
    va_list args;
    if (out->count == PROFILING_MAX_REMARKS) {
        out->left_out++;
        return;
    }
    struct profiling_remark *remark = &out->list[out->count++];
    *remark = (struct profiling_remark){.weight = weight, .source = source, .code = code};
    va_start(args, fmt);
    vsnprintf(remark->text, sizeof(remark->text), fmt, args);
    va_end(args);
}

double profiling_lost_share(const struct prof_totals *totals)
{
    double came = (double)(totals->packets - totals->duplicates);
    double lost = (double)totals->lost;
    return came + lost > 0 ? lost / (came + lost) : 0;
}

uint64_t profiling_loss(const struct prof_report *report)
{
    uint64_t sum =
        report->totals.lost + report->kernel_drops + report->totals.rejected_by[PROF_REASON_SOURCES];
    for (size_t i = 0; i < report->source_count; i++)
        sum += report->sources[i].overflow;
    return sum;
}

/* "12 %" of 0..1: two digits, and never 100 for what is less. */
static const char *percent(double share, char out[16])
{
    double value = 100 * share;
    if (value > 99 && value < 100)
        snprintf(out, 16, "%.1f %%", value > 99.9 ? 99.9 : value);
    else
        snprintf(out, 16, value < 10 ? "%.2g %%" : "%.0f %%", value);
    return out;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* --- losses --------------------------------------------------------------------------------------------- */

static void find_lost(const struct prof_report *report, struct profiling_remarks *out)
{
    for (size_t i = 0; i < report->source_count; i++) {
        const struct prof_report_source *s = &report->sources[i];
        uint64_t sent = s->totals.packets - s->totals.duplicates + s->totals.lost;
        char share[16], points[16];
        percent(profiling_lost_share(&s->totals), share);
        snprintf(points, sizeof(points), "%.*s", (int)(strlen(share) - 2), share);
        if (s->totals.lost)
            profiling_remarks_add(out, PROFILING_LOSS, (int)i, "lost",
                                  "%s: %" PRIu64 " of %" PRIu64 " packets were lost (%s); a share may be "
                                  "off by up to %s points if what ran then was not like the rest",
                                  s->name, s->totals.lost, sent, share, points);
        if (s->overflow)
            profiling_remarks_add(out, PROFILING_LOSS, (int)i, "overflow",
                                  "%s: %" PRIu64 " samples have more distinct addresses than the table holds "
                                  "(%u); they are in the totals and in no function",
                                  s->name, s->overflow, PROF_MAX_ADDRESSES);
    }
    if (report->kernel_drops)
        profiling_remarks_add(out, PROFILING_LOSS, -1, "kernel-drops",
                              "this host's kernel had no room for %" PRIu64
                              " datagram%s: it was too busy, or "
                              "net.core.rmem_max is too small",
                              report->kernel_drops, plural(report->kernel_drops));
}

/* --- what makes it doubtful ----------------------------------------------------------------------------- */

static void find_unknown(const struct prof_report_source *s, int index, struct profiling_remarks *out)
{
    uint64_t active = s->active;
    char part[16];
    double share = active ? (double)s->unknown_pc / (double)active : 0;
    if (s->image_missing) {
        if (active)
            profiling_remarks_add(out, PROFILING_WARNING, index, "no-image",
                                  "%s: no ELF file was given, so there are addresses and no names "
                                  "(--elf %s=FILE)",
                                  s->name, s->name);
        return;
    }
    if (s->unknown_pc && share >= UNKNOWN_NOTE)
        profiling_remarks_add(out, share >= UNKNOWN_WARNING ? PROFILING_WARNING : PROFILING_NOTE, index,
                              "unknown-pc",
                              "%s: %" PRIu64 " of %" PRIu64 " active samples (%s) are at addresses that "
                              "no image covers, for example 0x%08" PRIx64,
                              s->name, s->unknown_pc, active, percent(share, part), s->example_pc);
}

/* "2 short, 1 magic": datagrams refused, by reason. */
static void write_reasons(const struct prof_totals *t, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < PROF_REASONS; i++) {
        if (!t->rejected_by[i] || used >= size)
            continue;
        int n = snprintf(out + used, size - used, "%s%" PRIu64 " %s", used ? ", " : "", t->rejected_by[i],
                         prof_reason_name((enum prof_reason)i));
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Of one sender, or (index -1) of nobody. */
static void find_refused(const char *name, const struct prof_totals *t, int index,
                         struct profiling_remarks *out)
{
    char reasons[300];
    if (!t->rejected)
        return;
    write_reasons(t, reasons, sizeof(reasons));
    profiling_remarks_add(out, PROFILING_WARNING, index, "rejected",
                          "%s: %" PRIu64 " datagram%s refused (%s)", name, t->rejected,
                          t->rejected == 1 ? " was" : "s were", reasons);
}

/* Datagrams that no sender's row has: every place was taken by a sender that was named. */
static void find_homeless(const struct prof_report *report, struct profiling_remarks *out)
{
    uint64_t n = report->totals.rejected_by[PROF_REASON_SOURCES];
    if (n)
        profiling_remarks_add(out, PROFILING_LOSS, -1, "senders",
                              "%" PRIu64
                              " datagram%s of senders for which there is no place: all %d are taken "
                              "by senders that were given names",
                              n, n == 1 ? " was" : "s were", PROF_MAX_SOURCES);
}

static void find_cut(const struct prof_report_source *s, int index, struct profiling_remarks *out)
{
    if (s->coarse)
        profiling_remarks_add(out, PROFILING_WARNING, index, "callers-cut",
                              "%s: of %" PRIu64 " samples the callers are not kept: there are more distinct "
                              "ones than the table has room for",
                              s->name, s->coarse);
    if (s->counters_cut)
        profiling_remarks_add(out, PROFILING_WARNING, index, "counters-cut",
                              "%s: %" PRIu64
                              " counters were cut off the packets that announced them; what is "
                              "shown of them is older",
                              s->name, s->counters_cut);
    if (s->counters_ignored)
        profiling_remarks_add(out, PROFILING_WARNING, index, "counters-ignored",
                              "%s: %" PRIu64 " counters are not shown: there are more names than are kept",
                              s->name, s->counters_ignored);
}

static void find_doubts(const struct prof_report *report, struct profiling_remarks *out)
{
    for (size_t i = 0; i < report->source_count; i++) {
        const struct prof_report_source *s = &report->sources[i];
        if (s->image_mismatch)
            profiling_remarks_add(out, PROFILING_WARNING, (int)i, "image-mismatch",
                                  "%s: its ELF file is not what runs there; names below are doubtful",
                                  s->name);
        find_unknown(s, (int)i, out);
        if (s->totals.frequency_disagrees)
            profiling_remarks_add(out, PROFILING_WARNING, (int)i, "frequency",
                                  "%s: its clock frequency does not fit its clock by this host's time; MIPS "
                                  "and seconds are doubtful",
                                  s->name);
        find_refused(s->name, &s->totals, (int)i, out);
        find_cut(s, (int)i, out);
        if (s->totals.bad_samples)
            profiling_remarks_add(
                out, PROFILING_WARNING, (int)i, "bad-samples",
                "%s: %" PRIu64 " sample%s of threads that its layout does not have, left out", s->name,
                s->totals.bad_samples, s->totals.bad_samples == 1 ? " is" : "s are");
    }
    for (size_t i = 0; i < report->image_count; i++)
        if (report->images[i].note)
            profiling_remarks_add(out, report->images[i].mismatch ? PROFILING_WARNING : PROFILING_NOTE, -1,
                                  "image", "%.150s: %.200s", symbol_path(report->images[i].image),
                                  report->images[i].note);
    if (report->totals.evicted)
        profiling_remarks_add(out, PROFILING_WARNING, -1, "evicted",
                              "more than %d senders: %" PRIu64 " that had been quiet longest were put out of "
                              "the table, and what they had sent is shown together",
                              PROF_MAX_SOURCES, report->totals.evicted);
}

/* --- notes ---------------------------------------------------------------------------------------------- */

static void find_notes(const struct prof_report *report, struct profiling_remarks *out)
{
    if (report->totals.samples == 0)
        profiling_remarks_add(out, PROFILING_WARNING, -1, "empty", "no sample came");
    else if (report->totals.active_samples == 0)
        profiling_remarks_add(out, PROFILING_WARNING, -1, "idle",
                              "no sample was of a thread that was running: there is nothing to share out");
    for (size_t i = 0; i < report->source_count; i++) {
        const struct prof_report_source *s = &report->sources[i];
        if (s->totals.restarts)
            profiling_remarks_add(out, PROFILING_NOTE, (int)i, "restarts",
                                  "%s: %" PRIu64 " restart%s; what was sent before counts, too", s->name,
                                  s->totals.restarts, plural(s->totals.restarts));
        if (s->totals.duplicates || s->totals.late)
            profiling_remarks_add(
                out, PROFILING_NOTE, (int)i, "order",
                "%s: %" PRIu64 " packet%s came twice and %" PRIu64 " late; each counts once", s->name,
                s->totals.duplicates, plural(s->totals.duplicates), s->totals.late);
        if (s->totals.frequency_swapped)
            profiling_remarks_add(
                out, PROFILING_NOTE, (int)i, "frequency-swapped",
                "%s: its clock frequency came with its bytes swapped; the clock itself told, "
                "and it was put right",
                s->name);
        if (s->evicted)
            continue; /* of several senders together: none of what follows is known of them */
        if (s->sent && s->totals.packets && s->layout == PROFILE_LEGACY)
            profiling_remarks_add(out, PROFILING_WARNING, (int)i, "headers-only",
                                  "%s: of version %u only the headers were read; its samples are not here",
                                  s->name, s->version);
        if (s->sent && s->totals.packets && s->clock_hz == 0)
            profiling_remarks_add(out, PROFILING_NOTE, (int)i, "no-frequency",
                                  "%s: it reports no clock frequency: no seconds, rates or MIPS", s->name);
    }
}

void profiling_remarks_find(const struct prof_report *report, struct profiling_remarks *out)
{
    out->count = out->left_out = 0;
    find_lost(report, out);
    find_homeless(report, out);
    find_doubts(report, out);
    find_notes(report, out);
}

void profiling_remarks_line(const struct profiling_remarks *remarks, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < remarks->count; i++) {
        if (remarks->list[i].weight == PROFILING_NOTE)
            continue;
        int n = snprintf(out + used, size - used, "%s%s", used ? "; " : "", remarks->list[i].text);
        if (n < 0 || (size_t)n >= size - used) { /* no half a sentence, and not as if that were all */
            snprintf(out + used, size - used, " ...");
            return;
        }
        used += (size_t)n;
    }
}
