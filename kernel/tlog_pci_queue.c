// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client of the ARC message queue in the emulated device's BAR: the firmware-log
 * sheet, section 5. All that the other side can write is checked before it is
 * used: number of entries, addresses, pointers. Every wait is bounded.
 *
 * Answers carry no name of their request. One that was given up may be answered
 * later, so answers found before a request is sent are thrown away, and with
 * requests outstanding ours is the last answer, not the first.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>

#include "tlog/arc_queue_layout.h"

#include "tlog_pci.h"
#include "tlog_pci_regs.h"

#define READY_MS	500
#define SPACE_MS	1000
#define ANSWER_MIN_MS	100
#define ANSWER_MAX_MS	60000
#define SETTLE_MS	20

static uint answer_ms = 1000;
module_param(answer_ms, uint, 0644);
MODULE_PARM_DESC(answer_ms,
		 "how long the firmware may take to answer a message, 100 to 60000 ms (default 1000)");

struct shape {
	u32 queue;	/* offset of our queue */
	u32 entries;
};

static u32 word(struct tlog_queue *q, u32 offset)
{
	return readl(q->bar + offset);
}

static void nap(void)
{
	usleep_range(100, 200);
}

static int wait_ready(struct tlog_queue *q)
{
	unsigned long end = jiffies + msecs_to_jiffies(READY_MS);
	u32 status;

	for (;;) {
		bool late = time_after(jiffies, end);

		status = word(q, TLOG_PCI_SCRATCH(ARC_SCRATCH_BOOT_STATUS));
		if (status == ~0u)
			return -ENODEV;
		if (status & ARC_BOOT_STATUS_READY)
			return 0;
		if (late)
			return -EAGAIN;
		nap();
	}
}

/* Is offset[0..size) where queues may be? */
static bool in_queues(u32 offset, u32 size)
{
	return !(offset & 3) && offset >= TLOG_PCI_QUEUES &&
	       offset < TLOG_PCI_BAR_SIZE && size <= TLOG_PCI_BAR_SIZE - offset;
}

static int find_queue(struct tlog_queue *q, struct shape *shape)
{
	u32 control = word(q, TLOG_PCI_SCRATCH(ARC_SCRATCH_QUEUE_CONTROL));
	u32 value, queues;

	if (!in_queues(control, ARC_CONTROL_SIZE))
		return -EPROTO;
	value = word(q, control + ARC_CONTROL_SHAPE);
	shape->entries = value & 0xff;
	queues = value >> 8 & 0xff;
	if (!shape->entries || shape->entries > ARC_ENTRIES_MAX ||
	    queues <= ARC_QUEUE_DRIVER || queues > ARC_QUEUES_MAX)
		return -EPROTO;
	shape->queue = word(q, control + ARC_CONTROL_QUEUE_ADDRESS) +
		       ARC_QUEUE_DRIVER * ARC_QUEUE_SIZE(shape->entries);
	if (!in_queues(shape->queue, ARC_QUEUE_SIZE(shape->entries)))
		return -EPROTO;
	return 0;
}

/* Entries between the two pointers, or a negative error. */
static int distance(struct tlog_queue *q, const struct shape *s, u32 wptr_at,
		    u32 rptr_at, u32 *wptr, u32 *rptr)
{
	u32 n;

	*wptr = word(q, s->queue + wptr_at);
	*rptr = word(q, s->queue + rptr_at);
	if (*wptr == ~0u && *rptr == ~0u)
		return -ENODEV;
	if (*wptr >= 2 * s->entries || *rptr >= 2 * s->entries)
		return -EPROTO;
	n = (*wptr + 2 * s->entries - *rptr) % (2 * s->entries);
	return n <= s->entries ? (int)n : -EPROTO;
}

static int responses(struct tlog_queue *q, const struct shape *s, u32 *wptr,
		     u32 *rptr)
{
	return distance(q, s, ARC_QUEUE_RESPONSE_WPTR, ARC_QUEUE_RESPONSE_RPTR,
			wptr, rptr);
}

static int requests(struct tlog_queue *q, const struct shape *s, u32 *wptr,
		    u32 *rptr)
{
	return distance(q, s, ARC_QUEUE_REQUEST_WPTR, ARC_QUEUE_REQUEST_RPTR,
			wptr, rptr);
}

/* Throw away what is there, so that the firmware finds room for the next answer. */
static int drop_answers(struct tlog_queue *q, const struct shape *s)
{
	u32 wptr, rptr;
	int n = responses(q, s, &wptr, &rptr);

	if (n <= 0)
		return n;
	writel(wptr, q->bar + s->queue + ARC_QUEUE_RESPONSE_RPTR);
	q->unanswered -= min_t(unsigned int, q->unanswered, n);
	return n;
}

static void ring_bell(struct tlog_queue *q)
{
	u32 peer = word(q, TLOG_PCI_EMULATOR_ID) & 0xffff;

	writel(peer << 16 | TLOG_PCI_BELL_QUEUE, q->bell);
}

static int send(struct tlog_queue *q, const struct shape *s,
		const u32 request[8])
{
	unsigned long end = jiffies + msecs_to_jiffies(SPACE_MS);
	u32 wptr, rptr, at;
	bool told = false;
	unsigned int i;
	int n;

	for (;;) {
		bool late = time_after(jiffies, end);

		n = drop_answers(q, s);
		if (n < 0)
			return n;
		n = requests(q, s, &wptr, &rptr);
		if (n < 0)
			return n;
		/* An earlier driver's count too, if this one is newly loaded. */
		q->unanswered = max_t(unsigned int, q->unanswered, n);
		if (n < (int)s->entries)
			break;
		/* Whoever filled the queue may have rung in vain. */
		if (!told)
			ring_bell(q);
		told = true;
		if (late)
			return -ETIMEDOUT;
		nap();
	}
	at = s->queue + ARC_QUEUE_HEADER_SIZE +
	     wptr % s->entries * ARC_MESSAGE_SIZE;
	for (i = 0; i < ARC_MESSAGE_WORDS; i++)
		writel(request[i], q->bar + at + 4 * i);
	/* writel orders: the message before the pointer before the bell. */
	writel((wptr + 1) % (2 * s->entries),
	       q->bar + s->queue + ARC_QUEUE_REQUEST_WPTR);
	ring_bell(q);
	return 0;
}

static int receive(struct tlog_queue *q, const struct shape *s,
		   u32 response[8])
{
	uint ms = clamp_t(uint, READ_ONCE(answer_ms), ANSWER_MIN_MS,
			  ANSWER_MAX_MS);
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	unsigned long settled = 0;
	bool settling = false;
	u32 wptr, rptr, at, w, r;
	unsigned int i;
	int n;

	for (;;) {
		bool late = time_after(jiffies, end);

		n = responses(q, s, &wptr, &rptr);
		if (n < 0)
			return n;
		if (n && (!q->unanswered || n > (int)q->unanswered))
			break;
		if (n && !settling) {
			/*
			 * Old answers may be in front. When ours was taken and
			 * no further one comes, theirs never will.
			 */
			if (requests(q, s, &w, &r) == 0) {
				settling = true;
				settled = jiffies + msecs_to_jiffies(SETTLE_MS);
			}
		}
		if (n && settling && time_after(jiffies, settled))
			break;
		if (late)
			return -ETIMEDOUT;
		nap();
	}
	rptr = (wptr + 2 * s->entries - 1) % (2 * s->entries);
	at = s->queue + ARC_QUEUE_HEADER_SIZE +
	     (s->entries + rptr % s->entries) * ARC_MESSAGE_SIZE;
	for (i = 0; i < ARC_MESSAGE_WORDS; i++)
		response[i] = word(q, at + 4 * i);
	writel(wptr, q->bar + s->queue + ARC_QUEUE_RESPONSE_RPTR);
	q->unanswered = 0;
	return 0;
}

/* Errors as struct tlog_source_ops says. */
int tlog_queue_exchange(struct tlog_queue *q, const u32 request[8],
			u32 response[8])
{
	struct shape shape;
	int ret;

	mutex_lock(&q->lock);
	ret = wait_ready(q);
	if (!ret)
		ret = find_queue(q, &shape);
	if (!ret)
		ret = send(q, &shape, request);
	if (!ret) {
		ret = receive(q, &shape, response);
		if (ret)
			q->unanswered = min(q->unanswered + 1, shape.entries);
	}
	mutex_unlock(&q->lock);
	return ret;
}
