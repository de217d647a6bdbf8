/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tlog_core, private: one device, from its DMA buffer to its readers.
 *
 * Locks, outer to inner: tlog_device.lock (life cycle, shared buffer, decode
 * state; sleeps through queue exchanges), tlog_ring.lock (frames). Readers take
 * tlog_file.lock and then tlog_ring.lock, never tlog_device.lock.
 */
#ifndef TLOG_CORE_H
#define TLOG_CORE_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/tlog_source.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/linux/tlog.h>

#include "tlog/tlog_decode.h"

#define TLOG_MAX_DEVICES	64
#define TLOG_LINE_SIZE		(16 * 1024)

enum tlog_counter {
	TLOG_CNT_BATCHES,
	TLOG_CNT_RECORDS,
	TLOG_CNT_BYTES,
	TLOG_CNT_GAPS,
	TLOG_CNT_LOST,
	TLOG_CNT_RESTARTS,
	TLOG_CNT_RESETS,
	TLOG_CNT_TORN,
	TLOG_CNT_TORN_HEADERS,
	TLOG_CNT_ANOMALIES,
	TLOG_CNT_FRAMING_ERRORS,
	TLOG_CNT_MAGIC_ERRORS,
	TLOG_CNT_OWNER_ERRORS,
	TLOG_CNT_SUSPECT,
	TLOG_CNT_INTERRUPTS,
	TLOG_CNT_SPURIOUS,
	TLOG_CNT_POLLS,
	TLOG_CNT_SETUPS,
	TLOG_CNT_SETUP_FAILURES,
	TLOG_CNT_SUPPRESSED,
	TLOG_CNT_COUNT,
};

/* At most `rate` lines a second to the kernel log. */
struct tlog_limit {
	unsigned long begin;
	u32 count;
	u32 suppressed;
};

/* The newest frames; a writer that needs room drops the oldest. */
struct tlog_ring {
	struct mutex lock;	/* all of it */
	wait_queue_head_t wait;
	u8 *data;
	u32 size;		/* a power of two */
	u64 head;		/* byte positions, never wrapped */
	u64 tail;
	u64 head_index;		/* record numbers at head and tail */
	u64 tail_index;
	unsigned long pushes;	/* changes with each frame; read without the lock */
	bool gone;
};

struct tlog_device {
	struct device dev;
	struct cdev cdev;
	int minor;
	struct device *parent;		/* source->dma_dev, referenced */
	struct tlog_source *source;	/* until remove() returns */
	struct tlog_ring ring;
	atomic64_t counters[TLOG_CNT_COUNT];

	struct mutex lock;		/* all that follows, but `events` */
	u8 *shared;			/* DMA buffer: the firmware writes at any time */
	dma_addr_t dma;
	u32 size;
	u8 *copy;			/* what is decoded */
	char *line;			/* cleaned text */
	bool stopped;			/* suspended or removed: works do nothing */
	bool maybe_active;		/* SETUP was sent, no RELEASE acknowledged */
	u32 state;			/* TLOG_STATE_*; read without the lock */
	u32 setup_status;
	u32 firmware_version;
	u32 generation;
	bool want_setup;
	unsigned long setup_at;		/* jiffies */
	unsigned int setup_delay_ms;
	unsigned int busy_tries;
	u8 odd_owner;			/* owner byte that the last poll saw, if neither 0 nor 1 */
	bool odd_owner_told;
	bool magic_told;
	struct tlog_sequence sequence;
	bool restart_pending;
	u64 batch_ns;
	struct tlog_limit limit;
	struct tlog_limit limit_err;

	unsigned long events;		/* TLOG_EVENT_* bits */
	bool have_irq;
	struct work_struct work;
	struct delayed_work poll;
};

#define TLOG_EVENT_IRQ		0
#define TLOG_EVENT_RESET	1

static inline void tlog_count(struct tlog_device *t, enum tlog_counter c)
{
	atomic64_inc(&t->counters[c]);
}

static inline void tlog_count_add(struct tlog_device *t, enum tlog_counter c,
				  u64 n)
{
	atomic64_add(n, &t->counters[c]);
}

static inline u64 tlog_counted(struct tlog_device *t, enum tlog_counter c)
{
	return atomic64_read(&t->counters[c]);
}

/* Byte by byte; asm/unaligned.h moved between kernel versions. */
static inline u32 tlog_le32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

/* tlog_core_main.c */
extern struct class tlog_class;
extern dev_t tlog_devt;

/* tlog_core_setup.c; t->lock held */
void tlog_setup(struct tlog_device *t);
void tlog_schedule_setup(struct tlog_device *t, bool soon);
bool tlog_release(struct tlog_device *t);
void tlog_set_state(struct tlog_device *t, u32 state);

/* tlog_core_drain.c; t->lock held */
unsigned int tlog_drain(struct tlog_device *t, unsigned int limit);
void tlog_check_idle(struct tlog_device *t);

/* tlog_core_klog.c; t->lock held */
void tlog_klog_record(struct tlog_device *t, const struct tlog_record *record,
		      size_t text_size, bool cleaned);
void tlog_klog_gap(struct tlog_device *t, u32 missing, u32 sequence);
void tlog_klog_idle(struct tlog_device *t);
bool tlog_klog_ratelimit(struct tlog_device *t);

/* tlog_core_text.c */
size_t tlog_text_size(const u8 *text, size_t size);
size_t tlog_text_clean(char *out, size_t room, const u8 *text, size_t size);
const char *tlog_source_text(u8 source, char *room, size_t size);

/* tlog_core_chardev.c */
int tlog_ring_init(struct tlog_ring *ring, u32 size);
void tlog_ring_free(struct tlog_ring *ring);
void tlog_ring_push(struct tlog_ring *ring, struct tlog_frame *frame,
		    const u8 *text);
void tlog_ring_wake(struct tlog_ring *ring);
void tlog_ring_gone(struct tlog_ring *ring);
extern const struct file_operations tlog_fops;

/* tlog_core_sysfs.c */
extern const struct attribute_group *tlog_groups[];

#endif
