// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware log over a DMA buffer: auxiliary driver, from probe to removal.
 *
 * The parent (linux/tlog_source.h) owns device, queue and interrupts; this module
 * owns the buffer. Two things must never happen: that the log stops because an
 * interrupt was lost (so there is a poll), and that the firmware writes into
 * memory that was given back (so the buffer is freed only after RELEASE was
 * acknowledged or DMA is off).
 */
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/iommu.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/pm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "tlog/arc_queue_layout.h"

#include "tlog_core.h"

#define BUFFER_MAX	SZ_1M
#define RING_MIN	SZ_256K
#define RING_MAX	SZ_64M
#define POLL_MIN_MS	10
#define POLL_MAX_MS	60000
/* Batches in one go; then the work queue may do something else first. */
#define DRAIN_LIMIT	16

static uint buffer_size = SZ_8K;
module_param(buffer_size, uint, 0444);
MODULE_PARM_DESC(buffer_size,
		 "bytes of the shared buffer: 4112 to 1 MiB, rounded up to a multiple of 4 (default 8192)");

static uint ring_size = SZ_1M;
module_param(ring_size, uint, 0444);
MODULE_PARM_DESC(ring_size,
		 "bytes kept for readers of /dev/tlogN: 256 KiB to 64 MiB, rounded up to a power of two (default 1 MiB)");

static uint poll_ms = 1000;
module_param(poll_ms, uint, 0644);
MODULE_PARM_DESC(poll_ms,
		 "period of the look that needs no interrupt, 10 to 60000 ms (default 1000)");

static bool interrupts = true;
module_param(interrupts, bool, 0444);
MODULE_PARM_DESC(interrupts, "use the parent's interrupt (default on)");

enum iommu_policy { IOMMU_POLICY_REQUIRE, IOMMU_POLICY_WARN, IOMMU_POLICY_OFF };
static const char *const iommu_names[] = { "require", "warn", "off" };
static int iommu_policy = IOMMU_POLICY_WARN;

static int iommu_set(const char *value, const struct kernel_param *kp)
{
	int i = sysfs_match_string(iommu_names, value);

	if (i < 0)
		return i;
	iommu_policy = i;
	return 0;
}

static int iommu_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", iommu_names[iommu_policy]);
}

static const struct kernel_param_ops iommu_ops = {
	.set = iommu_set,
	.get = iommu_get,
};
module_param_cb(iommu, &iommu_ops, NULL, 0444);
MODULE_PARM_DESC(iommu,
		 "devices without a translating IOMMU: require (refuse them), warn (default), off");

struct class tlog_class = {
	.name = "tlog",
};

dev_t tlog_devt;
static DEFINE_IDA(tlog_ida);
static struct workqueue_struct *tlog_wq;

static unsigned long poll_period(void)
{
	return msecs_to_jiffies(clamp_t(uint, READ_ONCE(poll_ms), POLL_MIN_MS,
					POLL_MAX_MS));
}

/* Hard interrupt context from here ... */
static void on_irq(void *arg)
{
	struct tlog_device *t = arg;

	tlog_count(t, TLOG_CNT_INTERRUPTS);
	set_bit(TLOG_EVENT_IRQ, &t->events);
	queue_work(tlog_wq, &t->work);
}

static void on_reset(void *arg)
{
	struct tlog_device *t = arg;

	set_bit(TLOG_EVENT_RESET, &t->events);
	queue_work(tlog_wq, &t->work);
}

/* ... to here. */

/* The firmware has started again: it knows of no buffer, and its sequence begins anew. */
static void handle_reset(struct tlog_device *t)
{
	const struct tlog_source_ops *ops = t->source->ops;
	u32 generation = ops->generation ? ops->generation(t->source->ctx) : 0;

	/* Reported twice, by interrupt and by poll: once is enough. */
	if (ops->generation && generation == t->generation)
		return;
	/* What it handed over before it died. */
	if (t->state == TLOG_STATE_ACTIVE)
		tlog_drain(t, DRAIN_LIMIT);
	if (ops->generation && generation == ~0u) {
		/* Not a start but an end; the next number is a start. */
		t->generation = generation;
		t->want_setup = false;
		if (t->state != TLOG_STATE_DEAD)
			dev_err(&t->dev, "the device reads as all ones\n");
		tlog_set_state(t, TLOG_STATE_DEAD);
		return;
	}
	tlog_count(t, TLOG_CNT_RESETS);
	dev_info(&t->dev, "the firmware has started again\n");
	t->restart_pending = t->sequence.seen || t->restart_pending;
	t->sequence.seen = false;
	t->magic_told = false;
	t->busy_tries = 0;
	tlog_set_state(t, TLOG_STATE_OFF);
	tlog_schedule_setup(t, true);
}

static void setup_if_due(struct tlog_device *t)
{
	if (t->want_setup && time_after_eq(jiffies, t->setup_at))
		tlog_setup(t);
}

static void tlog_work(struct work_struct *work)
{
	struct tlog_device *t = container_of(work, struct tlog_device, work);
	bool irq, again = false;

	mutex_lock(&t->lock);
	irq = test_and_clear_bit(TLOG_EVENT_IRQ, &t->events);
	if (t->stopped)
		goto out;
	if (test_and_clear_bit(TLOG_EVENT_RESET, &t->events)) {
		handle_reset(t);
		setup_if_due(t);
	}
	if (t->state == TLOG_STATE_ACTIVE) {
		unsigned int n = tlog_drain(t, DRAIN_LIMIT);

		if (irq && !n)
			tlog_count(t, TLOG_CNT_SPURIOUS);
		again = n == DRAIN_LIMIT;
	}
	if (again)
		queue_work(tlog_wq, &t->work);
out:
	mutex_unlock(&t->lock);
}

static void tlog_poll(struct work_struct *work)
{
	struct tlog_device *t =
		container_of(work, struct tlog_device, poll.work);
	const struct tlog_source_ops *ops = t->source->ops;

	mutex_lock(&t->lock);
	if (t->stopped)
		goto out;
	if (ops->generation && ops->generation(t->source->ctx) != t->generation)
		handle_reset(t);
	setup_if_due(t);
	if (t->state == TLOG_STATE_ACTIVE) {
		unsigned int n = tlog_drain(t, DRAIN_LIMIT);

		/* Late interrupts count as lost here: it is only a count. */
		tlog_count_add(t, TLOG_CNT_POLLS, n);
		if (n == DRAIN_LIMIT)
			queue_work(tlog_wq, &t->work);
	}
	if (t->state == TLOG_STATE_ACTIVE)
		tlog_check_idle(t);
	tlog_klog_idle(t);
	queue_delayed_work(tlog_wq, &t->poll, poll_period());
out:
	mutex_unlock(&t->lock);
}

static void start(struct tlog_device *t)
{
	const struct tlog_source_ops *ops = t->source->ops;
	void *ctx = t->source->ctx;

	mutex_lock(&t->lock);
	t->stopped = false;
	t->busy_tries = 0;
	tlog_schedule_setup(t, true);
	mutex_unlock(&t->lock);

	/* Notifications first: what comes between SETUP and them would be lost. */
	t->have_irq = interrupts && ops->irq_notify &&
		      !ops->irq_notify(ctx, on_irq, t);
	if (!t->have_irq)
		dev_info(&t->dev, "no interrupt: polling\n");
	if (ops->reset_notify && ops->reset_notify(ctx, on_reset, t))
		dev_info(&t->dev, "no notification of resets: polling\n");

	mutex_lock(&t->lock);
	setup_if_due(t);
	mutex_unlock(&t->lock);
	/* Once without waiting: an interrupt before its vector was enabled is lost. */
	queue_delayed_work(tlog_wq, &t->poll, 0);
}

/* Nothing runs afterwards, and the firmware was told. */
static void stop(struct tlog_device *t)
{
	const struct tlog_source_ops *ops = t->source->ops;
	void *ctx = t->source->ctx;

	/* Sources of work first, then the works: a late interrupt must not queue one again. */
	if (t->have_irq)
		ops->irq_notify(ctx, NULL, NULL);
	if (ops->reset_notify)
		ops->reset_notify(ctx, NULL, NULL);
	mutex_lock(&t->lock);
	t->stopped = true;
	mutex_unlock(&t->lock);
	cancel_work_sync(&t->work);
	cancel_delayed_work_sync(&t->poll);

	mutex_lock(&t->lock);
	if (t->state == TLOG_STATE_ACTIVE) {
		/* Room for what the firmware has staged, then the last batch it handed over. */
		tlog_drain(t, 1);
		tlog_release(t);
		tlog_drain(t, 1);
	} else {
		tlog_release(t);
	}
	tlog_set_state(t, TLOG_STATE_OFF);
	t->want_setup = false;
	mutex_unlock(&t->lock);
}

static int check_iommu(struct device *dev, struct device *dma_dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dma_dev);

	if (domain && (domain->type & __IOMMU_DOMAIN_PAGING))
		return 0;
	if (iommu_policy == IOMMU_POLICY_REQUIRE) {
		dev_err(dev, "%s has no translating IOMMU: firmware log refused (iommu=require)\n",
			dev_name(dma_dev));
		return -EPERM;
	}
	if (iommu_policy == IOMMU_POLICY_WARN)
		dev_warn(dev, "%s has no translating IOMMU: its firmware can write to all memory (iommu=require refuses)\n",
			 dev_name(dma_dev));
	return 0;
}

/* The last reference is gone: no file is open, no attribute is read. */
static void tlog_device_release(struct device *dev)
{
	struct tlog_device *t = container_of(dev, struct tlog_device, dev);

	tlog_ring_free(&t->ring);
	kvfree(t->copy);
	kvfree(t->line);
	put_device(t->parent);
	mutex_destroy(&t->lock);
	kfree(t);
}

static int alloc_shared(struct tlog_device *t)
{
	t->size = ALIGN(clamp_t(uint, buffer_size, ARC_TLOG_HOST_MIN_SIZE,
				BUFFER_MAX), 4);
	t->copy = kvzalloc(t->size, GFP_KERNEL);
	t->line = kvzalloc(TLOG_LINE_SIZE, GFP_KERNEL);
	if (!t->copy || !t->line)
		return -ENOMEM;
	t->shared = dma_alloc_coherent(t->parent, t->size, &t->dma, GFP_KERNEL);
	if (!t->shared)
		return -ENOMEM;
	/* The firmware reaches it through one window and would wrap inside that. */
	if (!t->dma || (t->dma & 3) ||
	    (t->dma & ~(u64)(ARC_TLOG_WINDOW - 1)) !=
	    ((t->dma + t->size - 1) & ~(u64)(ARC_TLOG_WINDOW - 1))) {
		dev_err(&t->dev, "DMA buffer lies where the firmware cannot reach it\n");
		dma_free_coherent(t->parent, t->size, t->shared, t->dma);
		return -ERANGE;
	}
	return 0;
}

static void free_shared(struct tlog_device *t)
{
	const struct tlog_source_ops *ops = t->source->ops;

	if (t->maybe_active && ops->dma_stop &&
	    !ops->dma_stop(t->source->ctx))
		t->maybe_active = false;
	if (t->maybe_active) {
		dev_err(&t->dev, "the firmware may still write: its buffer is never freed\n");
		return;
	}
	dma_free_coherent(t->parent, t->size, t->shared, t->dma);
	t->shared = NULL;
}

static int tlog_probe(struct auxiliary_device *adev,
		      const struct auxiliary_device_id *id)
{
	struct tlog_source *source =
		container_of(adev, struct tlog_source, adev);
	struct tlog_device *t;
	int ret;

	if (!source->ops || !source->ops->queue_exchange || !source->dma_dev)
		return -EINVAL;
	ret = check_iommu(&adev->dev, source->dma_dev);
	if (ret)
		return ret;

	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->source = source;
	t->parent = get_device(source->dma_dev);
	t->setup_status = ~0u;
	t->stopped = true;
	mutex_init(&t->lock);
	INIT_WORK(&t->work, tlog_work);
	INIT_DELAYED_WORK(&t->poll, tlog_poll);
	device_initialize(&t->dev);
	t->dev.class = &tlog_class;
	t->dev.parent = &adev->dev;
	t->dev.groups = tlog_groups;
	t->dev.release = tlog_device_release;

	t->minor = ida_alloc_max(&tlog_ida, TLOG_MAX_DEVICES - 1, GFP_KERNEL);
	if (t->minor < 0) {
		ret = t->minor;
		goto err_put;
	}
	t->dev.devt = MKDEV(MAJOR(tlog_devt), t->minor);
	ret = dev_set_name(&t->dev, "tlog%d", t->minor);
	if (ret)
		goto err_ida;
	ret = tlog_ring_init(&t->ring,
			     roundup_pow_of_two(clamp_t(uint, ring_size,
							RING_MIN, RING_MAX)));
	if (ret)
		goto err_ida;
	ret = alloc_shared(t);
	if (ret)
		goto err_ida;
	cdev_init(&t->cdev, &tlog_fops);
	t->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&t->cdev, &t->dev);
	if (ret)
		goto err_shared;

	auxiliary_set_drvdata(adev, t);
	dev_info(&t->dev, "firmware log of %s\n", dev_name(t->parent));
	start(t);
	return 0;

err_shared:
	free_shared(t);
err_ida:
	ida_free(&tlog_ida, t->minor);
err_put:
	put_device(&t->dev);
	return ret;
}

static void tlog_remove(struct auxiliary_device *adev)
{
	struct tlog_device *t = auxiliary_get_drvdata(adev);

	stop(t);
	tlog_ring_gone(&t->ring);
	cdev_device_del(&t->cdev, &t->dev);
	ida_free(&tlog_ida, t->minor);
	free_shared(t);
	/* Open files keep the rest. */
	put_device(&t->dev);
}

static void tlog_shutdown(struct auxiliary_device *adev)
{
	stop(auxiliary_get_drvdata(adev));
}

static int __maybe_unused tlog_suspend(struct device *dev)
{
	stop(dev_get_drvdata(dev));
	return 0;
}

static int __maybe_unused tlog_resume(struct device *dev)
{
	start(dev_get_drvdata(dev));
	return 0;
}

static SIMPLE_DEV_PM_OPS(tlog_pm_ops, tlog_suspend, tlog_resume);

static const struct auxiliary_device_id tlog_ids[] = {
	{ .name = TLOG_SOURCE_MATCH },
	{ }
};
MODULE_DEVICE_TABLE(auxiliary, tlog_ids);

static struct auxiliary_driver tlog_driver = {
	.name = "tlog",
	.probe = tlog_probe,
	.remove = tlog_remove,
	.shutdown = tlog_shutdown,
	.driver = {
		.pm = &tlog_pm_ops,
	},
	.id_table = tlog_ids,
};

static int __init tlog_init(void)
{
	int ret;

	/* Not bound to a CPU: a flood on one core's queue would hold up others there. */
	tlog_wq = alloc_workqueue("tlog", WQ_UNBOUND, 0);
	if (!tlog_wq)
		return -ENOMEM;
	ret = alloc_chrdev_region(&tlog_devt, 0, TLOG_MAX_DEVICES, "tlog");
	if (ret)
		goto err_wq;
	ret = class_register(&tlog_class);
	if (ret)
		goto err_region;
	ret = auxiliary_driver_register(&tlog_driver);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_unregister(&tlog_class);
err_region:
	unregister_chrdev_region(tlog_devt, TLOG_MAX_DEVICES);
err_wq:
	destroy_workqueue(tlog_wq);
	return ret;
}

static void __exit tlog_exit(void)
{
	auxiliary_driver_unregister(&tlog_driver);
	class_unregister(&tlog_class);
	unregister_chrdev_region(tlog_devt, TLOG_MAX_DEVICES);
	destroy_workqueue(tlog_wq);
	ida_destroy(&tlog_ida);
}

module_init(tlog_init);
module_exit(tlog_exit);

MODULE_DESCRIPTION("Firmware log over a shared DMA buffer");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
