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
    uint64_t sum = report->totals.lost + report->kernel_drops;
    for (size_t i = 0; i < report->source_count; i++)
        sum += report->sources[i].overflow;
    return sum;
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
        double percent = 100 * profiling_lost_share(&s->totals);
        if (s->totals.lost)
            profiling_remarks_add(out, PROFILING_LOSS, (int)i, "lost",
                                  "%s: %" PRIu64 " of %" PRIu64
                                  " packets were lost (%.2g %%); a share may be "
                                  "off by up to %.2g points if what ran then was not like the rest",
                                  s->name, s->totals.lost, sent, percent, percent);
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
    uint64_t active = s->totals.active_samples;
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
                              "%s: %" PRIu64 " of %" PRIu64 " active samples (%.2g %%) are at addresses that "
                              "no image covers, for example 0x%08" PRIx64,
                              s->name, s->unknown_pc, active, 100 * share, s->example_pc);
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
        if (s->totals.rejected)
            profiling_remarks_add(out, PROFILING_WARNING, (int)i, "rejected",
                                  "%s: %" PRIu64 " datagram%s refused; 'corral decode prof' says why",
                                  s->name, s->totals.rejected, s->totals.rejected == 1 ? " was" : "s were");
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
        if (n < 0 || (size_t)n >= size - used)
            return;
        used += (size_t)n;
    }
}
