/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware half of the emulated device: target/tlog_producer.c on a port over the guest's memory, the
 * control messages (firmware-log sheet 2), the flush timer, and a generator of records.
 */
#include "sim/tlog_device_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OFF_OWNER     12u
#define OWNER_HOST    1u
#define NS_PER_PERIOD 1000000LL
#define BUSY_NS       20000LL /* how often the owner byte is looked at while records wait for it */
#define SLICE         4096u   /* records in one call, so that commands and queues stay responsive */

static uint32_t port_read32(void *ctx, uint64_t address)
{
    return tlog_device_ram_read(ctx, address);
}

static void port_write32(void *ctx, uint64_t address, uint32_t value)
{
    struct tlog_device *dev = ctx;
    bool gives = address == dev->firmware.address + OFF_OWNER && (value & 0xFFu) == OWNER_HOST;
    if (gives)
        tlog_device_tamper_before(dev, &value);
    tlog_device_dma_write(dev, address, value);
}

static void port_raise_irq(void *ctx)
{
    struct tlog_device *dev = ctx;
    tlog_device_tamper_after(dev);
    if (dev->miss_interrupts) {
        if (dev->miss_interrupts != UINT32_MAX)
            dev->miss_interrupts--;
        dev->report.withheld++;
        return;
    }
    dev->report.interrupts++;
    tlog_device_raise(dev, TLOG_PCI_VECTOR_LOG);
}

static uint32_t port_now(void *ctx)
{
    (void)ctx;
    return (uint32_t)(tlog_device_now() / 1000000);
}

static bool port_map_window(void *ctx, uint64_t address, uint32_t size)
{
    return tlog_device_ram_at(ctx, address, size) != NULL;
}

/* What this start of the firmware did, into the totals. */
static void add_up(struct tlog_device *dev)
{
    dev->report.batches += dev->firmware.producer.counts.batches;
    dev->report.records += dev->firmware.producer.counts.delivered;
}

enum corral_err tlog_device_firmware_start(struct tlog_device *dev, struct diag *d)
{
    struct tlog_device_firmware *fw = &dev->firmware;
    if (fw->running)
        add_up(dev);
    tlog_device_queue_stop(dev);
    memset(fw, 0, sizeof(*fw));
    memset(&dev->tamper, 0, sizeof(dev->tamper));
    fw->port = (struct target_port){.ctx = dev,
                                    .map_window = port_map_window,
                                    .read32 = port_read32,
                                    .write32 = port_write32,
                                    .raise_irq = port_raise_irq,
                                    .now = port_now};
    const struct tlog_producer_config config = {.port = &fw->port,
                                                .staging = fw->staging,
                                                .staging_size = sizeof(fw->staging),
                                                .version = dev->version,
                                                .mode = dev->compatible ? TLOG_PRODUCER_COMPATIBLE
                                                                        : TLOG_PRODUCER_CAREFUL,
                                                .slack = 0};
    if (!tlog_producer_init(&fw->producer, &config))
        return diag_set(d, CORRAL_ERR_FAILED, "the producer refused its configuration");
    fw->control.producer = &fw->producer;
    dev->report.dead = false;
    dev->number = 0;
    fw->running = true;
    /* The ID first: a driver looks at nothing else before it. */
    memset(dev->bar, 0, TLOG_PCI_BAR_SIZE);
    tlog_device_bar_write(dev, TLOG_PCI_ID, TLOG_PCI_ID_VALUE);
    tlog_device_bar_write(dev, TLOG_PCI_VERSION, 1);
    tlog_device_bar_write(dev, TLOG_PCI_EMULATOR_ID, DEVICE_PEER);
    tlog_device_bar_write(dev, TLOG_PCI_GENERATION, ++dev->report.generation);
    return tlog_device_queue_start(dev, d);
}

void tlog_device_firmware_die(struct tlog_device *dev)
{
    if (dev->firmware.running)
        add_up(dev);
    tlog_device_queue_stop(dev);
    dev->firmware.running = dev->firmware.active = false;
    dev->report.dead = true;
    memset(dev->bar, 0xFF, TLOG_PCI_BAR_SIZE);
}

/* What a host must keep to (sheet 2), though the firmware does not ask for it. */
static void check_setup(struct tlog_device *dev, const struct arc_tlog_request *request,
                        const uint32_t *words)
{
    uint64_t last = request->address + request->size - 1;
    if (request->address == 0 || request->address % 4 != 0)
        tlog_device_remark(dev, "SETUP with an address that is 0 or not a multiple of 4");
    if (request->size < ARC_TLOG_HOST_MIN_SIZE || request->size % 4 != 0)
        tlog_device_remark(dev, "SETUP with a size below 4112 or not a multiple of 4");
    if (request->address / ARC_TLOG_WINDOW != last / ARC_TLOG_WINDOW)
        tlog_device_remark(dev, "SETUP of a buffer that crosses a 16 MiB window");
    if (request->version != ARC_TLOG_VERSION)
        tlog_device_remark(dev, "SETUP for a protocol version other than 0");
    for (unsigned i = 4; i < ARC_MESSAGE_WORDS; i++)
        if (words[i] != 0)
            tlog_device_remark(dev, "SETUP with words that are not 0 where they must be");
    if (dev->firmware.active)
        tlog_device_remark(dev, "SETUP while a buffer was set up");
}

static uint32_t setup(struct tlog_device *dev, const struct arc_tlog_request *request, const uint32_t *words)
{
    struct tlog_device_firmware *fw = &dev->firmware;
    check_setup(dev, request, words);
    if (dev->refuse_left) {
        dev->refuse_left--;
        dev->report.refused++;
        return dev->refuse_code;
    }
    uint32_t response[ARC_MESSAGE_WORDS] = {0};
    bool before = fw->active;
    uint64_t address = fw->address;
    uint32_t size = fw->size;
    fw->active = fw->attaching = true;
    fw->address = request->address;
    fw->size = request->size;
    tlog_control_message(&fw->control, words, response);
    fw->attaching = false;
    if (response[0] != ARC_TLOG_OK) { /* then an earlier buffer stays in use */
        fw->active = before;
        fw->address = address;
        fw->size = size;
        dev->report.refused++;
        return response[0];
    }
    fw->intact = true;
    dev->report.setups++;
    return ARC_TLOG_OK;
}

uint32_t tlog_device_control_message(struct tlog_device *dev, const uint32_t *words)
{
    uint32_t response[ARC_MESSAGE_WORDS] = {0};
    struct arc_tlog_request request;
    if (!arc_tlog_decode(words, &request))
        return ARC_MSG_UNKNOWN;
    if (request.subcommand == ARC_TLOG_SETUP)
        return setup(dev, &request, words);
    bool release = request.subcommand == ARC_TLOG_RELEASE;
    if (release && !dev->firmware.active)
        tlog_device_remark(dev, "RELEASE though nothing was set up");
    tlog_control_message(&dev->firmware.control, words, response);
    if (release && response[0] == ARC_TLOG_OK) {
        dev->firmware.active = false;
        dev->firmware.scribble_until_ns = 0;
        dev->report.releases++;
    }
    return response[0];
}

static bool buffer_free(const struct tlog_device *dev)
{
    const struct tlog_device_firmware *fw = &dev->firmware;
    return fw->active && (tlog_device_ram_read(dev, fw->address + OFF_OWNER) & 0xFFu) == 0;
}

static bool flush(struct tlog_device *dev)
{
    struct tlog_device_firmware *fw = &dev->firmware;
    if (buffer_free(dev) && fw->intact && fw->producer.counts.batches > 0 &&
        tlog_device_ram_read(dev, fw->address + 4) != fw->size) {
        tlog_device_remark(dev, "the host wrote into the header beside the owner byte");
        fw->intact = false;
    }
    uint32_t before = fw->producer.used;
    return tlog_producer_tick(&fw->producer) || fw->producer.used < before;
}

/* The next record of the stream; as a Zephyr back end formats it. */
static uint32_t next_text(const struct tlog_device *dev, char *text, uint32_t size)
{
    static const char *const names[] = {"", "err", "wrn", "inf", "dbg"};
    uint32_t ms = (uint32_t)(dev->number & 0xFFFFFFu);
    const char *name = dev->level < 5 ? names[dev->level] : "dbg";
    int n = snprintf(text, size, "[%02u:%02u:%02u.%03u,000] \x1b[0m<%s> stream: n=%" PRIu64 " g=%u\x1b[0m",
                     ms / 3600000u, ms / 60000u % 60u, ms / 1000u % 60u, ms % 1000u, name, dev->number,
                     dev->report.generation);
    uint32_t used = n > 0 ? (uint32_t)n : 0;
    for (; used < dev->length && used + 2 < size; used++)
        text[used] = (char)('a' + used % 26);
    text[used++] = '\r';
    text[used++] = '\n';
    return used;
}

static void generate(struct tlog_device *dev, int64_t now)
{
    struct tlog_producer *p = &dev->firmware.producer;
    char text[TLOG_PRODUCER_STAGING];
    for (uint32_t i = 0; i < SLICE && dev->left; i++) {
        if (dev->rate && now < dev->next_record_ns)
            return;
        uint32_t length = next_text(dev, text, sizeof(text) - 2);
        if (!dev->flood && TLOG_PRODUCER_RECORD_MIN + length > p->staging_size - p->used && !flush(dev))
            return; /* it waits: a stream that tests count must not lose any */
        tlog_producer_log(p, dev->level, TLOG_SMC, text, length);
        dev->number++;
        dev->left--;
        if (dev->rate) {
            int64_t step = 1000000000LL / dev->rate;
            /* a pause is not made up for by a burst */
            dev->next_record_ns = dev->next_record_ns + step < now - 100 * NS_PER_PERIOD
                                      ? now + step
                                      : dev->next_record_ns + step;
        }
    }
}

void tlog_device_firmware_work(struct tlog_device *dev, int64_t now)
{
    struct tlog_device_firmware *fw = &dev->firmware;
    if (!fw->running)
        return;
    if (fw->scribble_until_ns) {
        tlog_device_scribble(dev);
        if (now >= fw->scribble_until_ns || !fw->active)
            fw->scribble_until_ns = 0;
        return; /* one thing at a time: a batch that is scribbled on is not replaced */
    }
    if (fw->silent)
        return;
    generate(dev, now);
    if (now >= fw->next_flush_ns) {
        flush(dev);
        fw->next_flush_ns = now + (int64_t)dev->options.period_ms * NS_PER_PERIOD;
    }
}

int64_t tlog_device_firmware_due(const struct tlog_device *dev, int64_t now)
{
    const struct tlog_device_firmware *fw = &dev->firmware;
    if (!fw->running)
        return INT64_MAX;
    if (fw->scribble_until_ns)
        return now;
    if (fw->silent)
        return INT64_MAX;
    int64_t due = fw->producer.used && fw->active ? fw->next_flush_ns : INT64_MAX;
    if (dev->left && fw->active) {
        int64_t next = dev->rate ? dev->next_record_ns : now + BUSY_NS;
        due = next < due ? next : due;
    }
    return due;
}

bool tlog_device_raw_batch(struct tlog_device *dev, const uint8_t *bytes, size_t size)
{
    struct tlog_device_firmware *fw = &dev->firmware;
    if (!buffer_free(dev) || size > fw->size - TLOG_PRODUCER_BUFFER_HEADER)
        return false;
    for (size_t i = 0; i < size; i++)
        tlog_device_poke(dev, (uint32_t)(TLOG_PRODUCER_BUFFER_HEADER + i), bytes[i], 1);
    tlog_device_poke(dev, 0, (uint32_t)(TLOG_PRODUCER_BUFFER_HEADER + size), 4);
    port_write32(dev, fw->address + OFF_OWNER, OWNER_HOST);
    port_raise_irq(dev);
    dev->report.batches++;
    return true;
}
