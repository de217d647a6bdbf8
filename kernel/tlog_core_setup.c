// SPDX-License-Identifier: GPL-2.0-only
/*
 * SETUP and RELEASE: control messages of the firmware-log sheet, section 2. Each
 * is one bounded exchange; what may be tried again is tried from the poll, later
 * and less and less often.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "tlog/arc_queue_layout.h"

#include "tlog_core.h"

#define BUSY_TRIES	10
#define RELEASE_TRIES	5
#define DELAY_FIRST_MS	1000
#define DELAY_LAST_MS	60000

void tlog_set_state(struct tlog_device *t, u32 state)
{
	WRITE_ONCE(t->state, state);
}

/* Another SETUP from the poll: at its next run, or after a delay that doubles. */
void tlog_schedule_setup(struct tlog_device *t, bool soon)
{
	t->want_setup = true;
	if (soon) {
		t->setup_delay_ms = 0;
		t->setup_at = jiffies;
		return;
	}
	t->setup_delay_ms = clamp(t->setup_delay_ms * 2,
				  (unsigned int)DELAY_FIRST_MS,
				  (unsigned int)DELAY_LAST_MS);
	t->setup_at = jiffies + msecs_to_jiffies(t->setup_delay_ms);
}

static int exchange(struct tlog_device *t, u32 subcommand, u32 *status)
{
	u32 request[TLOG_MESSAGE_WORDS] = {
		ARC_MSG_TLOG | subcommand << 8 | ARC_TLOG_VERSION << 16,
	};
	u32 response[TLOG_MESSAGE_WORDS] = { 0 };
	int ret;

	if (subcommand == ARC_TLOG_SETUP) {
		request[1] = lower_32_bits(t->dma);
		request[2] = upper_32_bits(t->dma);
		request[3] = t->size;
	}
	ret = t->source->ops->queue_exchange(t->source->ctx, request, response);
	*status = response[0];
	if (!ret && *status == ~0u)
		ret = -ENODEV;
	return ret;
}

static bool is_busy(u32 status)
{
	return status >= 0xf0 && status <= ARC_TLOG_BUSY;
}

/* RELEASE: true if the firmware has said that it writes no more. Bounded by its tries. */
bool tlog_release(struct tlog_device *t)
{
	unsigned int i;
	u32 status = 0;
	int ret;

	if (!t->maybe_active)
		return true;
	for (i = 0; i < RELEASE_TRIES; i++) {
		ret = exchange(t, ARC_TLOG_RELEASE, &status);
		if (ret || !is_busy(status))
			break;
		msleep(100);
	}
	if (!ret && status == ARC_TLOG_OK) {
		t->maybe_active = false;
		return true;
	}
	dev_warn(&t->dev, "RELEASE failed: %d, status 0x%02x\n",
		 ret, status);
	return false;
}

static void setup_failed(struct tlog_device *t, u32 status)
{
	tlog_set_state(t, TLOG_STATE_REFUSED);
	tlog_count(t, TLOG_CNT_SETUP_FAILURES);
	switch (status) {
	case ARC_MSG_UNKNOWN:
		/* Old firmware is no fault. */
		dev_dbg(&t->dev, "not supported by this firmware\n");
		break;
	case ARC_TLOG_NO_TRANSLATION:
		dev_warn(&t->dev, "not supported by this part\n");
		break;
	case ARC_TLOG_BAD_SIZE:
	case ARC_TLOG_BAD_SUBCOMMAND:
		dev_err(&t->dev, "SETUP refused: status 0x%02x\n",
			status);
		break;
	default:
		dev_warn(&t->dev, "SETUP refused: status 0x%02x\n",
			 status);
		break;
	}
}

/* The firmware said yes; the header it wrote says whether it can be believed. */
static void check_answer(struct tlog_device *t)
{
	u8 header[TLOG_HEADER_SIZE];
	u32 magic;

	dma_rmb();
	memcpy(header, t->shared, sizeof(header));
	barrier();
	magic = tlog_le32(header + TLOG_OFF_MAGIC);
	WRITE_ONCE(t->firmware_version, header[TLOG_OFF_VERSION]);
	if (magic != TLOG_MAGIC) {
		tlog_count(t, TLOG_CNT_MAGIC_ERRORS);
		tlog_count(t, TLOG_CNT_SETUP_FAILURES);
		if (!t->magic_told)
			dev_err(&t->dev,
				"magic after SETUP is 0x%08x\n",
				magic);
		t->magic_told = true;
		tlog_set_state(t, TLOG_STATE_BAD_MAGIC);
		tlog_schedule_setup(t, false);
		return;
	}
	/*
	 * Only now does this byte mean a version: hand-overs may clear it, the
	 * first one included.
	 */
	if (header[TLOG_OFF_VERSION] != ARC_TLOG_VERSION) {
		dev_err(&t->dev,
			"version %u is not known to this driver\n",
			header[TLOG_OFF_VERSION]);
		tlog_count(t, TLOG_CNT_SETUP_FAILURES);
		tlog_set_state(t, TLOG_STATE_REFUSED);
		tlog_release(t);
		return;
	}
	tlog_set_state(t, TLOG_STATE_ACTIVE);
	dev_info(&t->dev, "set up as tlog%d, %u bytes\n",
		 t->minor, t->size);
}

void tlog_setup(struct tlog_device *t)
{
	bool before;
	u32 status;
	int ret;

	/* A SETUP that got no answer may have taken effect, and a batch be there. */
	if (t->maybe_active)
		tlog_drain(t, 1);
	t->want_setup = false;
	if (t->source->ops->generation)
		t->generation = t->source->ops->generation(t->source->ctx);
	/* So that the header is seen to be written by this SETUP. */
	memset(t->shared, 0, TLOG_HEADER_SIZE);
	dma_wmb();
	tlog_count(t, TLOG_CNT_SETUPS);
	/* From the moment it is sent until RELEASE is acknowledged. */
	before = t->maybe_active;
	t->maybe_active = true;
	ret = exchange(t, ARC_TLOG_SETUP, &status);
	WRITE_ONCE(t->setup_status, ret ? ~0u : status);
	if (ret == -ENODEV) {
		/* Hands off until a reset is reported. */
		if (t->state != TLOG_STATE_DEAD)
			dev_err(&t->dev, "the device reads as all ones\n");
		tlog_count(t, TLOG_CNT_SETUP_FAILURES);
		tlog_set_state(t, TLOG_STATE_DEAD);
		return;
	}
	if (ret) {
		if (t->state != TLOG_STATE_DEAD && ret != -EAGAIN)
			dev_warn(&t->dev, "SETUP got no answer: %d\n",
				 ret);
		tlog_count(t, TLOG_CNT_SETUP_FAILURES);
		/* Not up yet: nothing was sent. */
		if (ret == -EAGAIN)
			t->maybe_active = before;
		tlog_set_state(t, ret == -EAGAIN ? TLOG_STATE_OFF :
						   TLOG_STATE_DEAD);
		tlog_schedule_setup(t, false);
		return;
	}
	/* A refusal sets nothing up, but an earlier SETUP may still stand. */
	if (status != ARC_TLOG_OK)
		t->maybe_active = before;
	if (is_busy(status) && t->busy_tries < BUSY_TRIES) {
		t->busy_tries++;
		tlog_set_state(t, TLOG_STATE_OFF);
		t->want_setup = true;
		t->setup_at = jiffies;
		return;
	}
	t->busy_tries = 0;
	if (status == ARC_TLOG_OK)
		check_answer(t);
	else
		setup_failed(t, status);
}
