// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a vendor's own PCI driver offers its firmware's log to tlog_core. Built by
 * "make check" so that it stays true; it drives no device. What a driver has
 * already (message queue, interrupt handler) is only hinted at.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tlog_source.h>

struct vendor_card {
	struct pci_dev *pdev;
	struct tlog_source *log;
	spinlock_t log_lock;		/* log_notify, log_arg */
	tlog_notify_fn log_notify;
	void *log_arg;
};

/* Stands for the driver's message queue: locked, bounded, errors as tlog_source.h lists them. */
static int vendor_send_message(struct vendor_card *card, const u32 *request,
			       u32 *response)
{
	return -EAGAIN;
}

/* Called by the driver's interrupt handler for the vector that the firmware raises. */
static void __maybe_unused vendor_log_interrupt(struct vendor_card *card)
{
	unsigned long flags;

	spin_lock_irqsave(&card->log_lock, flags);
	if (card->log_notify)
		card->log_notify(card->log_arg);
	spin_unlock_irqrestore(&card->log_lock, flags);
}

static int log_exchange(void *ctx, const u32 request[TLOG_MESSAGE_WORDS],
			u32 response[TLOG_MESSAGE_WORDS])
{
	return vendor_send_message(ctx, request, response);
}

/* The lock is held around each call, so none runs any more when this returns. */
static int log_irq_notify(void *ctx, tlog_notify_fn notify, void *arg)
{
	struct vendor_card *card = ctx;
	unsigned long flags;

	spin_lock_irqsave(&card->log_lock, flags);
	card->log_notify = notify;
	card->log_arg = arg;
	spin_unlock_irqrestore(&card->log_lock, flags);
	return 0;
}

static const struct tlog_source_ops log_ops = {
	.queue_exchange = log_exchange,
	.irq_notify = log_irq_notify,
};

/* May run after vendor_remove(): frees nothing but the source. */
static void log_release(struct device *dev)
{
	kfree(container_of(dev, struct tlog_source, adev.dev));
}

/* Last in probe: queue, interrupt and DMA mask are ready. A card without its log still works. */
static void vendor_offer_log(struct vendor_card *card)
{
	struct pci_dev *pdev = card->pdev;
	struct tlog_source *log = kzalloc(sizeof(*log), GFP_KERNEL);

	if (!log)
		return;
	log->adev.dev.parent = &pdev->dev;
	log->adev.dev.release = log_release;
	log->adev.id = pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
	log->dma_dev = &pdev->dev;
	log->ops = &log_ops;
	log->ctx = card;
	if (!tlog_source_add(log))
		card->log = log;
}

static int vendor_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vendor_card *card;

	card = devm_kzalloc(&pdev->dev, sizeof(*card), GFP_KERNEL);
	if (!card)
		return -ENOMEM;
	card->pdev = pdev;
	spin_lock_init(&card->log_lock);
	pci_set_drvdata(pdev, card);
	vendor_offer_log(card);
	return 0;
}

/* First in remove: tlog_core sends RELEASE through the queue in here. */
static void vendor_remove(struct pci_dev *pdev)
{
	struct vendor_card *card = pci_get_drvdata(pdev);

	if (card->log)
		tlog_source_del(card->log);
}

/* No device: an example binds to nothing. */
static const struct pci_device_id vendor_ids[] = {
	{ }
};

static struct pci_driver vendor_driver = {
	.name = "example_parent",
	.id_table = vendor_ids,
	.probe = vendor_probe,
	.remove = vendor_remove,
};
module_pci_driver(vendor_driver);

MODULE_DESCRIPTION("Example: a PCI driver that offers its firmware's log");
MODULE_LICENSE("GPL");
