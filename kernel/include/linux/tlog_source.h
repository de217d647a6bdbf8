/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a parent driver hands to tlog_core: an auxiliary device that stands for
 * one firmware with a log. The parent keeps its PCI device, its queues and its
 * interrupts; tlog_core owns the log's DMA buffer and everything behind it.
 *
 * The parent needs no symbol of tlog_core, so the two load in any order.
 */
#ifndef _LINUX_TLOG_SOURCE_H
#define _LINUX_TLOG_SOURCE_H

#include <linux/auxiliary_bus.h>
#include <linux/types.h>

#define TLOG_MESSAGE_WORDS	8

/* Every parent registers under this name, so tlog_core has to know none of them. */
#define TLOG_SOURCE_MODULE	"tlog"
#define TLOG_SOURCE_NAME	"source"
#define TLOG_SOURCE_MATCH	TLOG_SOURCE_MODULE "." TLOG_SOURCE_NAME

/**
 * typedef tlog_notify_fn - what tlog_core wants to be called back with
 * @arg: as given at registration
 *
 * Never sleeps: may be called from a hard interrupt.
 */
typedef void (*tlog_notify_fn)(void *arg);

/**
 * struct tlog_source_ops - what a parent can do for its firmware's log
 * @queue_exchange: Send one message to the firmware and wait for its answer.
 *	Process context; may sleep; must be bounded in time (about a second) and
 *	allow one caller at a time by itself. 0 = answered (whatever the answer
 *	is); -EAGAIN = the firmware is not up yet; -ETIMEDOUT = no answer, the
 *	message may still take effect; -ENODEV = the device reads as all ones;
 *	-EPROTO = the queue holds nonsense.
 * @irq_notify: Call @notify for each log interrupt from now on; NULL = stop, and
 *	return only when no call is running. Calls with nothing to do are
 *	harmless. Optional: without it, or on an error, tlog_core polls.
 * @reset_notify: The same, for "the firmware has started again". Optional.
 * @generation: A number that changes with each start of the firmware. Optional,
 *	but without it a reset whose notification is lost shows only when the
 *	records' sequence goes back. All ones: the device does not answer, so it is
 *	no start. May not sleep for long.
 * @dma_stop: Stop all DMA of the device (PCI: bus mastering off). Called at
 *	removal, only when the firmware did not acknowledge RELEASE, because its
 *	buffer cannot be freed while it may still write. Optional: without it
 *	the buffer is then kept for ever.
 */
struct tlog_source_ops {
	int (*queue_exchange)(void *ctx, const u32 request[TLOG_MESSAGE_WORDS],
			      u32 response[TLOG_MESSAGE_WORDS]);
	int (*irq_notify)(void *ctx, tlog_notify_fn notify, void *arg);
	int (*reset_notify)(void *ctx, tlog_notify_fn notify, void *arg);
	u32 (*generation)(void *ctx);
	int (*dma_stop)(void *ctx);
};

/**
 * struct tlog_source - one firmware with a log, as its parent offers it
 * @adev: The auxiliary device. The parent sets adev.dev.parent, adev.dev.release
 *	and adev.id (unique among all sources: for a PCI device its domain, bus
 *	and function); tlog_source_add() sets the rest.
 * @dma_dev: The device whose DMA mask and IOMMU domain count; named in messages.
 * @ops: What the parent can do.
 * @ctx: First argument of each operation.
 */
struct tlog_source {
	struct auxiliary_device adev;
	struct device *dma_dev;
	const struct tlog_source_ops *ops;
	void *ctx;
};

/**
 * tlog_source_add() - offer a source to tlog_core
 * @source: filled in as above
 *
 * Operations may be called from here on, until tlog_source_del() returns. The
 * release function may run later than that, so memory that @ctx means is better
 * not freed by it; on an error it has run or will.
 *
 * Return: 0 or a negative error number.
 */
static inline int tlog_source_add(struct tlog_source *source)
{
	int ret;

	source->adev.name = TLOG_SOURCE_NAME;
	ret = auxiliary_device_init(&source->adev);
	if (ret) {
		source->adev.dev.release(&source->adev.dev);
		return ret;
	}
	ret = __auxiliary_device_add(&source->adev, TLOG_SOURCE_MODULE);
	if (ret)
		auxiliary_device_uninit(&source->adev);
	return ret;
}

/**
 * tlog_source_del() - take a source away
 * @source: as added
 *
 * tlog_core sends RELEASE during this call, so the queue must still work if the
 * device does. The release function of the auxiliary device may run here.
 */
static inline void tlog_source_del(struct tlog_source *source)
{
	auxiliary_device_delete(&source->adev);
	auxiliary_device_uninit(&source->adev);
}

#endif
