// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tlogN: a bounded ring of frames and its readers, each with a position of
 * its own. The ABI is uapi/linux/tlog.h. A reader never holds up the writer: it
 * copies to a buffer of its own under the lock and to user space without it.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tlog_core.h"

/* More than the largest frame: a text is below 64 KiB. */
#define BOUNCE_SIZE (SZ_64K + SZ_4K)

struct tlog_file {
	struct tlog_device *t;
	struct mutex lock;	/* one read at a time moves the position */
	u64 pos;
	u64 index;
	u64 lost;		/* not yet reported */
	u8 *bounce;
};

int tlog_ring_init(struct tlog_ring *ring, u32 size)
{
	mutex_init(&ring->lock);
	init_waitqueue_head(&ring->wait);
	ring->size = size;
	ring->data = kvzalloc(size, GFP_KERNEL);
	return ring->data ? 0 : -ENOMEM;
}

void tlog_ring_free(struct tlog_ring *ring)
{
	kvfree(ring->data);
}

static void ring_copy_in(struct tlog_ring *ring, u64 at, const void *from,
			 u32 size)
{
	u32 offset = at & (ring->size - 1);
	u32 first = min(size, ring->size - offset);

	memcpy(ring->data + offset, from, first);
	memcpy(ring->data, (const u8 *)from + first, size - first);
}

static void ring_copy_out(struct tlog_ring *ring, u64 at, void *to, u32 size)
{
	u32 offset = at & (ring->size - 1);
	u32 first = min(size, ring->size - offset);

	memcpy(to, ring->data + offset, first);
	memcpy((u8 *)to + first, ring->data, size - first);
}

/* `size` is the first word of a frame, and frames begin at multiples of 8: it never wraps. */
static u32 ring_frame_size(struct tlog_ring *ring, u64 at)
{
	return *(u32 *)(ring->data + (at & (ring->size - 1)));
}

/* frame->text_size bytes of text; sets frame->size. */
void tlog_ring_push(struct tlog_ring *ring, struct tlog_frame *frame,
		    const u8 *text)
{
	static const u8 zeros[8];
	u32 filled = sizeof(*frame) + frame->text_size;

	frame->size = ALIGN(filled, 8);
	mutex_lock(&ring->lock);
	while (ring->head - ring->tail + frame->size > ring->size) {
		ring->tail += ring_frame_size(ring, ring->tail);
		ring->tail_index++;
	}
	ring_copy_in(ring, ring->head, frame, sizeof(*frame));
	ring_copy_in(ring, ring->head + sizeof(*frame), text,
		     frame->text_size);
	ring_copy_in(ring, ring->head + filled, zeros, frame->size - filled);
	ring->head += frame->size;
	ring->head_index++;
	WRITE_ONCE(ring->pushes, ring->pushes + 1);
	mutex_unlock(&ring->lock);
}

void tlog_ring_wake(struct tlog_ring *ring)
{
	wake_up_interruptible_poll(&ring->wait, EPOLLIN | EPOLLRDNORM);
}

/* Readers get -ENODEV from here on. */
void tlog_ring_gone(struct tlog_ring *ring)
{
	mutex_lock(&ring->lock);
	WRITE_ONCE(ring->gone, true);
	mutex_unlock(&ring->lock);
	wake_up_poll(&ring->wait, EPOLLHUP | EPOLLERR);
}

/*
 * Whole frames from f's position to its bounce buffer, at most `room` bytes.
 * Returns how many bytes, 0 when there is no frame, and in *pos and *index where
 * the reader will be. *seen is what to wait for a change of.
 */
static ssize_t collect(struct tlog_file *f, size_t room, u64 *pos, u64 *index,
		       unsigned long *seen)
{
	struct tlog_ring *ring = &f->t->ring;
	ssize_t ret = 0;
	u32 size;

	mutex_lock(&ring->lock);
	*seen = ring->pushes;
	if (ring->gone) {
		ret = -ENODEV;
		goto out;
	}
	if (f->pos < ring->tail) {
		f->lost += ring->tail_index - f->index;
		f->pos = ring->tail;
		f->index = ring->tail_index;
	}
	*pos = f->pos;
	*index = f->index;
	while (*pos < ring->head) {
		size = ring_frame_size(ring, *pos);
		if (size > room - ret)
			break;
		ring_copy_out(ring, *pos, f->bounce + ret, size);
		ret += size;
		*pos += size;
		(*index)++;
	}
	if (ret)
		((struct tlog_frame *)f->bounce)->lost = f->lost;
	else if (*pos < ring->head)
		ret = -EINVAL;
out:
	mutex_unlock(&ring->lock);
	return ret;
}

static ssize_t tlog_read(struct file *file, char __user *buf, size_t count,
			 loff_t *ppos)
{
	struct tlog_file *f = file->private_data;
	struct tlog_ring *ring = &f->t->ring;
	unsigned long seen;
	u64 pos, index;
	ssize_t ret;

	if (!count)
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&f->lock))
			return -ERESTARTSYS;
		ret = collect(f, min_t(size_t, count, BOUNCE_SIZE), &pos,
			      &index, &seen);
		if (ret > 0) {
			if (copy_to_user(buf, f->bounce, ret)) {
				ret = -EFAULT;
			} else {
				f->pos = pos;
				f->index = index;
				f->lost = 0;
			}
		}
		mutex_unlock(&f->lock);
		if (ret)
			return ret;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(ring->wait,
					     READ_ONCE(ring->pushes) != seen ||
					     READ_ONCE(ring->gone)))
			return -ERESTARTSYS;
	}
}

static __poll_t tlog_poll_file(struct file *file, poll_table *table)
{
	struct tlog_file *f = file->private_data;
	struct tlog_ring *ring = &f->t->ring;
	__poll_t mask = 0;

	poll_wait(file, &ring->wait, table);
	mutex_lock(&ring->lock);
	if (ring->gone)
		mask = EPOLLHUP | EPOLLERR | EPOLLIN | EPOLLRDNORM;
	else if (READ_ONCE(f->pos) != ring->head)
		mask = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&ring->lock);
	return mask;
}

static long tlog_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct tlog_file *f = file->private_data;
	struct tlog_device *t = f->t;
	struct tlog_info info;

	if (READ_ONCE(t->ring.gone))
		return -ENODEV;
	if (cmd != TLOG_IOC_GET_INFO)
		return -ENOTTY;
	memset(&info, 0, sizeof(info));
	info.abi_version = TLOG_ABI_VERSION;
	info.buffer_size = t->size;
	info.firmware_version = READ_ONCE(t->firmware_version);
	info.state = READ_ONCE(t->state);
	info.batches = tlog_counted(t, TLOG_CNT_BATCHES);
	info.records = tlog_counted(t, TLOG_CNT_RECORDS);
	info.gaps = tlog_counted(t, TLOG_CNT_GAPS);
	info.lost = tlog_counted(t, TLOG_CNT_LOST);
	info.setup_status = READ_ONCE(t->setup_status);
	if (copy_to_user((void __user *)arg, &info, sizeof(info)))
		return -EFAULT;
	return 0;
}

/* The open file holds the character device, which holds the device. */
static int tlog_open(struct inode *inode, struct file *file)
{
	struct tlog_device *t =
		container_of(inode->i_cdev, struct tlog_device, cdev);
	struct tlog_file *f;
	int ret = 0;

	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	f->bounce = kvmalloc(BOUNCE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!f->bounce) {
		kfree(f);
		return -ENOMEM;
	}
	f->t = t;
	mutex_init(&f->lock);
	mutex_lock(&t->ring.lock);
	if (t->ring.gone)
		ret = -ENODEV;
	f->pos = t->ring.tail;
	f->index = t->ring.tail_index;
	mutex_unlock(&t->ring.lock);
	if (ret) {
		kvfree(f->bounce);
		kfree(f);
		return ret;
	}
	get_device(&t->dev);
	file->private_data = f;
	return stream_open(inode, file);
}

static int tlog_release_file(struct inode *inode, struct file *file)
{
	struct tlog_file *f = file->private_data;
	struct tlog_device *t = f->t;

	mutex_destroy(&f->lock);
	kvfree(f->bounce);
	kfree(f);
	put_device(&t->dev);
	return 0;
}

const struct file_operations tlog_fops = {
	.owner = THIS_MODULE,
	.open = tlog_open,
	.release = tlog_release_file,
	.read = tlog_read,
	.poll = tlog_poll_file,
	.unlocked_ioctl = tlog_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
