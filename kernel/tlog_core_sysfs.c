// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/tlog/tlogN: counters and state, one decimal number a file. The table
 * in docs/kernel.md says what each means.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "tlog_core.h"

#define COUNTER(name, which)						\
static ssize_t name##_show(struct device *dev,				\
			   struct device_attribute *attr, char *buf)	\
{									\
	struct tlog_device *t = container_of(dev, struct tlog_device, dev); \
									\
	return sysfs_emit(buf, "%llu\n", tlog_counted(t, which));	\
}									\
static DEVICE_ATTR_RO(name)

COUNTER(batches, TLOG_CNT_BATCHES);
COUNTER(records, TLOG_CNT_RECORDS);
COUNTER(bytes, TLOG_CNT_BYTES);
COUNTER(gaps, TLOG_CNT_GAPS);
COUNTER(lost, TLOG_CNT_LOST);
COUNTER(restarts, TLOG_CNT_RESTARTS);
COUNTER(resets, TLOG_CNT_RESETS);
COUNTER(torn, TLOG_CNT_TORN);
COUNTER(torn_headers, TLOG_CNT_TORN_HEADERS);
COUNTER(anomalies, TLOG_CNT_ANOMALIES);
COUNTER(framing_errors, TLOG_CNT_FRAMING_ERRORS);
COUNTER(magic_errors, TLOG_CNT_MAGIC_ERRORS);
COUNTER(owner_errors, TLOG_CNT_OWNER_ERRORS);
COUNTER(suspect, TLOG_CNT_SUSPECT);
COUNTER(interrupts, TLOG_CNT_INTERRUPTS);
COUNTER(spurious, TLOG_CNT_SPURIOUS);
COUNTER(polls, TLOG_CNT_POLLS);
COUNTER(setups, TLOG_CNT_SETUPS);
COUNTER(setup_failures, TLOG_CNT_SETUP_FAILURES);
COUNTER(suppressed, TLOG_CNT_SUPPRESSED);

#define FIELD(name)							\
static ssize_t name##_show(struct device *dev,				\
			   struct device_attribute *attr, char *buf)	\
{									\
	struct tlog_device *t = container_of(dev, struct tlog_device, dev); \
									\
	return sysfs_emit(buf, "%u\n", READ_ONCE(t->name));		\
}									\
static DEVICE_ATTR_RO(name)

FIELD(state);
FIELD(setup_status);
FIELD(firmware_version);

static ssize_t buffer_size_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct tlog_device *t = container_of(dev, struct tlog_device, dev);

	return sysfs_emit(buf, "%u\n", t->size);
}
static DEVICE_ATTR_RO(buffer_size);

static struct attribute *tlog_attrs[] = {
	&dev_attr_batches.attr,
	&dev_attr_records.attr,
	&dev_attr_bytes.attr,
	&dev_attr_gaps.attr,
	&dev_attr_lost.attr,
	&dev_attr_restarts.attr,
	&dev_attr_resets.attr,
	&dev_attr_torn.attr,
	&dev_attr_torn_headers.attr,
	&dev_attr_anomalies.attr,
	&dev_attr_framing_errors.attr,
	&dev_attr_magic_errors.attr,
	&dev_attr_owner_errors.attr,
	&dev_attr_suspect.attr,
	&dev_attr_interrupts.attr,
	&dev_attr_spurious.attr,
	&dev_attr_polls.attr,
	&dev_attr_setups.attr,
	&dev_attr_setup_failures.attr,
	&dev_attr_suppressed.attr,
	&dev_attr_state.attr,
	&dev_attr_setup_status.attr,
	&dev_attr_firmware_version.attr,
	&dev_attr_buffer_size.attr,
	NULL
};

static const struct attribute_group tlog_group = {
	.attrs = tlog_attrs,
};

const struct attribute_group *tlog_groups[] = {
	&tlog_group,
	NULL
};
