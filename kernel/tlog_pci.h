/* SPDX-License-Identifier: GPL-2.0-only */
/* tlog_pci, private: the emulated device and its message queue. */
#ifndef TLOG_PCI_H
#define TLOG_PCI_H

#include <linux/mutex.h>
#include <linux/types.h>

struct tlog_queue {
	struct mutex lock;		/* one exchange at a time */
	void __iomem *bar;		/* TLOG_PCI_BAR_SIZE bytes, plain memory */
	void __iomem *bell;		/* doorbell register */
	unsigned int unanswered;	/* requests whose answers may still come */
};

int tlog_queue_exchange(struct tlog_queue *q, const u32 request[8],
			u32 response[8]);

#endif
