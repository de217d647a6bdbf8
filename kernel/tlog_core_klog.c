// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware records to the kernel log. Firmware text is an argument, never a
 * format; one record is one line, or marked continuation lines when it is longer
 * than the kernel log takes; a flood costs a bounded number of lines a second.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "tlog_core.h"

/* The kernel log cuts lines at about 1000 characters, prefix included. */
#define CHUNK 800

static bool kmsg = true;
module_param(kmsg, bool, 0644);
MODULE_PARM_DESC(kmsg, "firmware records to the kernel log (default on)");

static uint level_limit = 2;
module_param_named(level, level_limit, uint, 0644);
MODULE_PARM_DESC(level,
		 "least severe level for the kernel log: 1 err, 2 warn (default), 3 info, 4 debug; level 0 is always logged");

static uint log_rate = 100;
module_param(log_rate, uint, 0644);
MODULE_PARM_DESC(log_rate,
		 "lines a second to the kernel log per device, errors apart (default 100, 0 = no limit)");

static void tell_suppressed(struct tlog_device *t, struct tlog_limit *limit)
{
	if (!limit->suppressed)
		return;
	dev_warn(&t->dev, "%u lines not shown here (log_rate)\n",
		 limit->suppressed);
	limit->suppressed = 0;
}

static bool limit_ok(struct tlog_device *t, struct tlog_limit *limit)
{
	u32 rate = READ_ONCE(log_rate);

	if (time_after_eq(jiffies, limit->begin + HZ)) {
		tell_suppressed(t, limit);
		limit->begin = jiffies;
		limit->count = 0;
	}
	if (rate && limit->count >= rate) {
		limit->suppressed++;
		tlog_count(t, TLOG_CNT_SUPPRESSED);
		return false;
	}
	limit->count++;
	return true;
}

/* For the driver's own complaints about what the firmware sends. */
bool tlog_klog_ratelimit(struct tlog_device *t)
{
	return limit_ok(t, &t->limit_err);
}

/* A flood's last count appears even when nothing follows it. */
void tlog_klog_idle(struct tlog_device *t)
{
	if (time_after_eq(jiffies, t->limit.begin + HZ))
		tell_suppressed(t, &t->limit);
	if (time_after_eq(jiffies, t->limit_err.begin + HZ))
		tell_suppressed(t, &t->limit_err);
}

static const char *kernel_level(u8 level)
{
	switch (level) {
	case 1:
		return KERN_ERR;
	case 2:
		return KERN_WARNING;
	case 0:
	case 3:
		return KERN_INFO;
	default:
		return KERN_DEBUG;
	}
}

/* t->line holds the cleaned text already if `cleaned`. */
void tlog_klog_record(struct tlog_device *t, const struct tlog_record *record,
		      size_t text_size, bool cleaned)
{
	/* Raw records are always shown; levels that do not exist count as debug. */
	u8 level = min_t(u8, record->level, 4);
	char name[8];
	const char *source;
	struct tlog_limit *limit = level == 1 ? &t->limit_err : &t->limit;
	char mark = ':';
	size_t size, at;

	if (!READ_ONCE(kmsg) || !text_size)
		return;
	if (level > READ_ONCE(level_limit))
		return;
	if (!limit_ok(t, limit))
		return;
	if (cleaned)
		size = strlen(t->line);
	else
		size = tlog_text_clean(t->line, TLOG_LINE_SIZE, record->text,
				       text_size);
	source = tlog_source_text(record->source, name, sizeof(name));
	for (at = 0; at < size; at += CHUNK) {
		/* A long text is cut nowhere, but its further lines count too. */
		limit->count += at != 0;
		dev_printk(kernel_level(record->level), &t->dev,
			   "%s%c %.*s%s\n", source, mark, CHUNK, t->line + at,
			   record->torn && size - at <= CHUNK ? " [cut]" : "");
		mark = '+';
	}
}

void tlog_klog_gap(struct tlog_device *t, u32 missing, u32 sequence)
{
	if (READ_ONCE(kmsg) && limit_ok(t, &t->limit))
		dev_warn(&t->dev,
			 "%u records lost before record %u\n",
			 missing, sequence);
}
