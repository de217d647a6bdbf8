/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace event tlog:tlog_record: one firmware record, its text cleaned as for
 * the kernel log.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tlog

#if !defined(TLOG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TLOG_TRACE_H

#include <linux/tracepoint.h>
#include <uapi/linux/tlog.h>

TRACE_EVENT(tlog_record,
	TP_PROTO(int minor, const struct tlog_frame *frame, const char *text,
		 size_t text_size),
	TP_ARGS(minor, frame, text, text_size),
	TP_STRUCT__entry(
		__field(int, minor)
		__field(u8, level)
		__field(u8, source)
		__field(u32, sequence)
		__field(u32, timestamp)
		__field(u32, missing)
		__field(u32, flags)
		__dynamic_array(char, text, text_size + 1)
	),
	TP_fast_assign(
		__entry->minor = minor;
		__entry->level = frame->level;
		__entry->source = frame->source;
		__entry->sequence = frame->sequence;
		__entry->timestamp = frame->timestamp;
		__entry->missing = frame->missing;
		__entry->flags = frame->flags;
		memcpy(__get_dynamic_array(text), text, text_size);
		((char *)__get_dynamic_array(text))[text_size] = '\0';
	),
	TP_printk("tlog%d level=%u source=%u sequence=%u timestamp=%u missing=%u flags=%s text=%s",
		  __entry->minor, __entry->level, __entry->source,
		  __entry->sequence, __entry->timestamp, __entry->missing,
		  __print_flags(__entry->flags, "|",
				{ TLOG_FRAME_TORN, "torn" },
				{ TLOG_FRAME_GAP, "gap" },
				{ TLOG_FRAME_RESTART, "restart" }),
		  (char *)__get_dynamic_array(text))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tlog_trace
#include <trace/define_trace.h>
