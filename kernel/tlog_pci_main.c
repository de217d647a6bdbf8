// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thin parent of tlog_core for the emulated firmware-log device (corral sim
 * --tlog-device): BAR, message queue, interrupts. A vendor's own PCI driver takes
 * its place on real cards; docs/kernel.md and example_parent.c show how.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tlog_source.h>

#include "tlog_pci.h"
#include "tlog_pci_regs.h"

#define BAR_REGISTERS	0
#define BAR_MEMORY	2
#define REG_DOORBELL	12
#define BAR_REGISTERS_SIZE 16
#define DMA_BITS	58

struct notify {
	spinlock_t lock;	/* held around the call: unregistering waits for it */
	tlog_notify_fn fn;
	void *arg;
};

struct tlog_pci {
	struct tlog_source *source;	/* outlives us if someone holds its device */
	struct pci_dev *pdev;
	struct tlog_queue queue;
	struct notify notify[TLOG_PCI_VECTORS];
	unsigned int vectors;
};

static int op_exchange(void *ctx, const u32 request[TLOG_MESSAGE_WORDS],
		       u32 response[TLOG_MESSAGE_WORDS])
{
	struct tlog_pci *p = ctx;

	return tlog_queue_exchange(&p->queue, request, response);
}

static int set_notify(struct tlog_pci *p, unsigned int vector,
		      tlog_notify_fn fn, void *arg)
{
	struct notify *n = &p->notify[vector];
	unsigned long flags;

	if (vector >= p->vectors)
		return -ENXIO;
	spin_lock_irqsave(&n->lock, flags);
	n->fn = fn;
	n->arg = arg;
	spin_unlock_irqrestore(&n->lock, flags);
	return 0;
}

static int op_irq_notify(void *ctx, tlog_notify_fn fn, void *arg)
{
	return set_notify(ctx, TLOG_PCI_VECTOR_LOG, fn, arg);
}

static int op_reset_notify(void *ctx, tlog_notify_fn fn, void *arg)
{
	return set_notify(ctx, TLOG_PCI_VECTOR_RESET, fn, arg);
}

static u32 op_generation(void *ctx)
{
	struct tlog_pci *p = ctx;

	return readl(p->queue.bar + TLOG_PCI_GENERATION);
}

static int op_dma_stop(void *ctx)
{
	struct tlog_pci *p = ctx;

	pci_clear_master(p->pdev);
	return 0;
}

static const struct tlog_source_ops tlog_pci_ops = {
	.queue_exchange = op_exchange,
	.irq_notify = op_irq_notify,
	.reset_notify = op_reset_notify,
	.generation = op_generation,
	.dma_stop = op_dma_stop,
};

static irqreturn_t on_vector(int irq, void *data)
{
	struct notify *n = data;

	spin_lock(&n->lock);
	if (n->fn)
		n->fn(n->arg);
	spin_unlock(&n->lock);
	return IRQ_HANDLED;
}

/* Without interrupts there is the poll: nothing here is an error. */
static void get_vectors(struct tlog_pci *p)
{
	unsigned int i;
	int n;

	n = pci_alloc_irq_vectors(p->pdev, 1, TLOG_PCI_VECTORS, PCI_IRQ_MSIX);
	for (i = 0; n > 0 && i < (unsigned int)n; i++) {
		if (request_irq(pci_irq_vector(p->pdev, i), on_vector, 0,
				"tlog_pci", &p->notify[i]))
			break;
		p->vectors++;
	}
	if (p->vectors < TLOG_PCI_VECTORS)
		pci_info(p->pdev, "%u of %u interrupt vectors\n", p->vectors,
			 TLOG_PCI_VECTORS);
}

static void put_vectors(struct tlog_pci *p)
{
	while (p->vectors) {
		p->vectors--;
		free_irq(pci_irq_vector(p->pdev, p->vectors),
			 &p->notify[p->vectors]);
	}
	pci_free_irq_vectors(p->pdev);
}

/* Runs when the last reference to the auxiliary device goes. */
static void source_release(struct device *dev)
{
	kfree(container_of(dev, struct tlog_source, adev.dev));
}

static int add_source(struct tlog_pci *p)
{
	struct pci_dev *pdev = p->pdev;

	p->source = kzalloc(sizeof(*p->source), GFP_KERNEL);
	if (!p->source)
		return -ENOMEM;
	p->source->adev.dev.parent = &pdev->dev;
	p->source->adev.dev.release = source_release;
	p->source->adev.id =
		pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
	p->source->dma_dev = &pdev->dev;
	p->source->ops = &tlog_pci_ops;
	p->source->ctx = p;
	return tlog_source_add(p->source);
}

static int map_bars(struct pci_dev *pdev, struct tlog_queue *q)
{
	if (pci_resource_len(pdev, BAR_REGISTERS) < BAR_REGISTERS_SIZE ||
	    pci_resource_len(pdev, BAR_MEMORY) < TLOG_PCI_BAR_SIZE)
		return -ENODEV;
	q->bar = pci_iomap(pdev, BAR_MEMORY, TLOG_PCI_BAR_SIZE);
	if (!q->bar)
		return -ENOMEM;
	q->bell = pci_iomap(pdev, BAR_REGISTERS, BAR_REGISTERS_SIZE);
	if (!q->bell) {
		pci_iounmap(pdev, q->bar);
		return -ENOMEM;
	}
	q->bell += REG_DOORBELL;
	return 0;
}

static void unmap_bars(struct pci_dev *pdev, struct tlog_queue *q)
{
	pci_iounmap(pdev, q->bell - REG_DOORBELL);
	pci_iounmap(pdev, q->bar);
}

static int tlog_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tlog_queue queue = {};
	struct tlog_pci *p;
	unsigned int i;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_selected_regions(pdev, BIT(BAR_REGISTERS) |
					   BIT(BAR_MEMORY), "tlog_pci");
	if (ret)
		goto err_disable;
	ret = map_bars(pdev, &queue);
	if (ret)
		goto err_regions;
	/* Any shared-memory device has these PCI ids: ours says who it is. */
	if (readl(queue.bar + TLOG_PCI_ID) != TLOG_PCI_ID_VALUE ||
	    readl(queue.bar + TLOG_PCI_VERSION) != 1) {
		pci_info(pdev, "not a firmware-log device\n");
		ret = -ENODEV;
		goto err_unmap;
	}
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(DMA_BITS));
	if (ret)
		goto err_unmap;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p) {
		ret = -ENOMEM;
		goto err_unmap;
	}
	p->pdev = pdev;
	p->queue = queue;
	mutex_init(&p->queue.lock);
	for (i = 0; i < TLOG_PCI_VECTORS; i++)
		spin_lock_init(&p->notify[i].lock);
	pci_set_master(pdev);
	get_vectors(p);
	pci_set_drvdata(pdev, p);

	ret = add_source(p);
	if (ret)
		goto err_vectors;
	return 0;

err_vectors:
	put_vectors(p);
	pci_clear_master(pdev);
	mutex_destroy(&p->queue.lock);
	kfree(p);
err_unmap:
	unmap_bars(pdev, &queue);
err_regions:
	pci_release_selected_regions(pdev, BIT(BAR_REGISTERS) | BIT(BAR_MEMORY));
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void tlog_pci_remove(struct pci_dev *pdev)
{
	struct tlog_pci *p = pci_get_drvdata(pdev);

	/* RELEASE goes out in here: queue and memory still work. */
	tlog_source_del(p->source);
	put_vectors(p);
	pci_clear_master(pdev);
	unmap_bars(pdev, &p->queue);
	pci_release_selected_regions(pdev, BIT(BAR_REGISTERS) | BIT(BAR_MEMORY));
	pci_disable_device(pdev);
	mutex_destroy(&p->queue.lock);
	kfree(p);
}

/* The auxiliary device sleeps first and wakes last; the PCI core keeps MSI-X. */
static int __maybe_unused tlog_pci_sleep(struct device *dev)
{
	return 0;
}

static SIMPLE_DEV_PM_OPS(tlog_pci_pm_ops, tlog_pci_sleep, tlog_pci_sleep);

static const struct pci_device_id tlog_pci_ids[] = {
	{ PCI_DEVICE(TLOG_PCI_VENDOR, TLOG_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, tlog_pci_ids);

static struct pci_driver tlog_pci_driver = {
	.name = "tlog_pci",
	.id_table = tlog_pci_ids,
	.probe = tlog_pci_probe,
	.remove = tlog_pci_remove,
	.driver = {
		.pm = &tlog_pci_pm_ops,
	},
};
module_pci_driver(tlog_pci_driver);

MODULE_DESCRIPTION("Emulated firmware-log device: parent of tlog_core");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
MODULE_SOFTDEP("post: tlog_core");
