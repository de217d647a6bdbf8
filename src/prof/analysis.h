/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that a profile's views need, added up as packets come: samples by (sender, thread, process, pc,
 * stack) in the aggregate, and by sender intervals, weights, latencies, header groups, hardware counters,
 * named counters and memory maps (profiler sheet 4, 5, 8, 9). Memory grows with distinct addresses, not with
 * samples. Thread-safe; fed by the streams, read by prof_report_make.
 */
#ifndef CORRAL_PROF_ANALYSIS_H
#define CORRAL_PROF_ANALYSIS_H

#include "prof/aggregate.h"
#include "prof/stream.h"

struct prof_analysis;

struct prof_analysis *prof_analysis_new(void);
void prof_analysis_free(struct prof_analysis *a); /* NULL is allowed */
/* Samples by address; the analysis' own. */
struct prof_aggregate *prof_analysis_aggregate(struct prof_analysis *a);

/* What is set for an index holds for every sender that has it, one after the other. */
#define PROF_EVERY_SOURCE (~0u) /* all indexes at once */

/* HRT threads' share of the clock: 64 entries, low 5 bits a thread, bit 6 empty, bit 7 end (profiler sheet
 * 9), of one sender. Without a table HRT threads are weighed as high-priority ones. */
void prof_analysis_hrt_table(struct prof_analysis *a, unsigned source, const uint8_t table[64]);
/* Also count cond_codes by pc, for images whose branches can be read (Ubicom32). Before the first packet. */
void prof_analysis_count_conditions(struct prof_analysis *a, unsigned source);

#endif
