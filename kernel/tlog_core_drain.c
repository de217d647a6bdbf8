// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches out of the shared buffer. The firmware may write to that buffer at any
 * moment, whoever owns it: each byte is copied once, and only the copy is looked
 * at. The buffer is handed back before anything is done with the records, for
 * the firmware drops what it has to say in the meantime (firmware-log sheet,
 * sections 3.3, 6 and 8). The walk over the records is tlog_decode.c's.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "tlog_core.h"

#define CREATE_TRACE_POINTS
#include "tlog_trace.h"

static void on_anomaly(void *ctx, enum tlog_anomaly reason, uint32_t offset,
		       uint32_t value)
{
	struct tlog_device *t = ctx;

	if (reason != TLOG_ANOMALY_MSG_SIZE)
		tlog_count(t, TLOG_CNT_ANOMALIES);
	switch (reason) {
	case TLOG_ANOMALY_MSG_SIZE:
		tlog_count(t, TLOG_CNT_FRAMING_ERRORS);
		if (tlog_klog_ratelimit(t))
			dev_err(&t->dev,
				"record at offset %u has size %u; rest of the batch dropped\n",
				offset, value);
		break;
	case TLOG_ANOMALY_OWNER:
		tlog_count(t, TLOG_CNT_OWNER_ERRORS);
		break;
	case TLOG_ANOMALY_MAGIC:
	case TLOG_ANOMALY_MAGIC_BYTE_ORDER:
	case TLOG_ANOMALY_LINK_DOWN:
		tlog_count(t, TLOG_CNT_MAGIC_ERRORS);
		if (!t->magic_told)
			dev_err(&t->dev, "magic is 0x%08x%s\n",
				value,
				reason == TLOG_ANOMALY_LINK_DOWN ?
					" (dead device?)" :
				reason == TLOG_ANOMALY_MAGIC_BYTE_ORDER ?
					" (byte order)" : "");
		t->magic_told = true;
		break;
	default:
		break;
	}
}

static void step_sequence(struct tlog_device *t, struct tlog_frame *frame)
{
	u32 missing;

	switch (tlog_sequence_step(&t->sequence, frame->sequence, &missing)) {
	case TLOG_STEP_GAP:
		frame->flags |= TLOG_FRAME_GAP;
		frame->missing = missing;
		tlog_count(t, TLOG_CNT_GAPS);
		tlog_count_add(t, TLOG_CNT_LOST, missing);
		tlog_klog_gap(t, missing, frame->sequence);
		break;
	case TLOG_STEP_RESTART:
		t->restart_pending = true;
		break;
	default:
		break;
	}
	if (t->restart_pending) {
		t->restart_pending = false;
		frame->flags |= TLOG_FRAME_RESTART;
		tlog_count(t, TLOG_CNT_RESTARTS);
	}
}

static void on_record(void *ctx, const struct tlog_record *record)
{
	struct tlog_device *t = ctx;
	struct tlog_frame frame = {
		.level = record->level,
		.source = record->source,
		.sequence = record->sequence,
		.timestamp = record->timestamp,
		.host_ns = t->batch_ns,
	};
	size_t text_size = tlog_text_size(record->text, record->text_size);
	bool cleaned = false;

	tlog_count(t, TLOG_CNT_RECORDS);
	tlog_count_add(t, TLOG_CNT_BYTES, record->text_size + TLOG_RECORD_HEADER);
	if (record->torn) {
		tlog_count(t, TLOG_CNT_TORN);
		frame.flags |= TLOG_FRAME_TORN;
	}
	step_sequence(t, &frame);
	frame.text_size = text_size; /* a record is below 64 KiB by its header */
	tlog_ring_push(&t->ring, &frame, record->text);
	if (trace_tlog_record_enabled()) {
		size_t size = tlog_text_clean(t->line, TLOG_LINE_SIZE,
					      record->text, text_size);

		cleaned = true;
		trace_tlog_record(t->minor, &frame, t->line,
				  min_t(size_t, size, 1024));
	}
	tlog_klog_record(t, record, text_size, cleaned);
	cond_resched();
}

static const struct tlog_callbacks silent;

/* One batch; true if there was one. */
static bool drain_batch(struct tlog_device *t)
{
	const struct tlog_callbacks callbacks = {
		.ctx = t,
		.record = on_record,
		.anomaly = on_anomaly,
	};
	struct tlog_batch_result result;
	u32 end;

	if (READ_ONCE(t->shared[TLOG_OFF_OWNER]) == 0)
		return false;
	/* The owner byte first, then what it guards. */
	dma_rmb();
	memcpy(t->copy, t->shared, TLOG_HEADER_SIZE);
	/* From here on the compiler may not go back to the shared bytes. */
	barrier();
	/* The decoder on the header alone: no room behind it, so no records. */
	result = tlog_decode_batch(t->copy, TLOG_HEADER_SIZE,
				   TLOG_STAGING_DEFAULT, &silent);
	if (result.status == TLOG_OK) {
		end = tlog_le32(t->copy + TLOG_OFF_WRITE_OFFSET);
		end = min(end, t->size);
		if (end > TLOG_HEADER_SIZE)
			memcpy(t->copy + TLOG_HEADER_SIZE,
			       t->shared + TLOG_HEADER_SIZE,
			       end - TLOG_HEADER_SIZE);
	}
	t->batch_ns = ktime_get_ns();
	if (result.release) {
		/* All loads of the copy before the store that gives the buffer away. */
		mb();
		if (READ_ONCE(t->shared[TLOG_OFF_OWNER]) == 1)
			WRITE_ONCE(t->shared[TLOG_OFF_OWNER], 0);
		else
			tlog_count(t, TLOG_CNT_SUSPECT);
	}

	result = tlog_decode_batch(t->copy, t->size, TLOG_STAGING_DEFAULT,
				   &callbacks);
	if (result.torn_header_bytes)
		tlog_count(t, TLOG_CNT_TORN_HEADERS);
	switch (result.status) {
	case TLOG_OK:
		tlog_count(t, TLOG_CNT_BATCHES);
		t->setup_delay_ms = 0;
		t->magic_told = false;
		tlog_ring_wake(&t->ring);
		return true;
	case TLOG_BAD_MAGIC:
		/* The firmware finds that magic too and drops everything: set it up again. */
		tlog_set_state(t, TLOG_STATE_BAD_MAGIC);
		tlog_schedule_setup(t, false);
		return false;
	case TLOG_LINK_DOWN:
		tlog_set_state(t, TLOG_STATE_DEAD);
		return false;
	default:
		return false;
	}
}

/* At most `limit` batches; returns how many there were. */
unsigned int tlog_drain(struct tlog_device *t, unsigned int limit)
{
	unsigned int n = 0;

	while (n < limit && drain_batch(t))
		n++;
	return n;
}

/* From the poll: what no interrupt tells. */
void tlog_check_idle(struct tlog_device *t)
{
	u8 owner = READ_ONCE(t->shared[TLOG_OFF_OWNER]);
	u8 header[TLOG_HEADER_SIZE];
	u32 magic;

	if (owner > 1 && owner == t->odd_owner && !t->odd_owner_told) {
		dev_warn(&t->dev,
			 "owner byte stays at 0x%02x\n", owner);
		t->odd_owner_told = true;
	}
	if (owner <= 1)
		t->odd_owner_told = false;
	t->odd_owner = owner;
	if (owner)
		return;
	/* A magic that was destroyed between two batches: the firmware hands over no more. */
	memcpy(header, t->shared, sizeof(header));
	barrier();
	magic = tlog_le32(header + TLOG_OFF_MAGIC);
	if (magic != TLOG_MAGIC) {
		on_anomaly(t, TLOG_ANOMALY_MAGIC, TLOG_OFF_MAGIC, magic);
		tlog_set_state(t, TLOG_STATE_BAD_MAGIC);
		tlog_schedule_setup(t, false);
	}
}
