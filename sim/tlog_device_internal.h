/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the emulated firmware-log device among themselves: broker (ivshmem), memory (the guest's RAM
 * as the firmware's window), queue, firmware (the producer and what makes it misbehave), control (commands).
 */
#ifndef CORRAL_SIM_TLOG_DEVICE_INTERNAL_H
#define CORRAL_SIM_TLOG_DEVICE_INTERNAL_H

#include "sim/tlog_device.h"

#include "kernel/tlog_pci_regs.h"
#include "target/tlog_control.h"
#include "target/tlog_producer.h"
#include "tlog/arc_queue.h"

#define DEVICE_PEER 0 /* our ivshmem number */
#define GUEST_PEER  1

#define DEVICE_LATE 8u /* answers that can be due later at a time */

#define CONTROL_BLOCK TLOG_PCI_QUEUES
#define FIRST_QUEUE   (TLOG_PCI_QUEUES + ARC_CONTROL_SIZE)

/* A request whose answer is due later. */
struct tlog_device_late {
    bool used;
    unsigned queue;
    uint32_t words[ARC_MESSAGE_WORDS];
    int64_t due_ns;
};

/* A value to write in place of the right one, once. */
struct tlog_device_lie {
    bool set;
    uint32_t value;
};

/* What is wrong with the next hand-over; everything is cleared by it. */
struct tlog_device_tamper {
    struct tlog_device_lie magic, write_offset, buffer_size, msg_size, owner;
    uint32_t msg_index; /* whose msg_size */
    bool torn_record, torn_header, flip;
    uint32_t scribble_ms; /* go on writing into the batch for so long */
};

struct tlog_device_firmware {
    struct target_port port;
    struct tlog_producer producer;
    struct tlog_control control;
    uint8_t staging[TLOG_PRODUCER_STAGING];
    bool running;
    bool silent; /* produces and flushes nothing */
    bool active;
    bool attaching; /* SETUP rewrites a header whatever its owner byte says */
    bool intact;    /* the header is as the firmware wrote it, so a change is the guest's doing */
    uint64_t address;
    uint32_t size;
    struct arc_server *server;
    int64_t next_flush_ns;
    int64_t scribble_until_ns;
};

struct tlog_device {
    struct tlog_device_options options;
    struct tlog_device_report report;
    bool quit;

    /* broker */
    int listener, guest; /* sockets; -1 = none */
    int bar_fd;
    uint8_t *bar;
    int bell[TLOG_PCI_VECTORS];   /* the guest rings these */
    int vector[TLOG_PCI_VECTORS]; /* we raise these */

    /* the guest's memory */
    int ram_fd;
    uint8_t *ram;
    uint64_t ram_size;

    struct tlog_device_firmware firmware;
    struct tlog_device_late late[DEVICE_LATE];

    /* generator */
    uint64_t number; /* of the next record, since the firmware's start */
    uint64_t left;
    uint32_t rate;
    uint32_t length; /* of a record's text, at least */
    uint8_t level;
    bool compatible; /* drop for drop what released firmware does, from the next start on */
    uint8_t version; /* in the header, from the next start on */
    bool flood;      /* do not wait for room: what does not fit is lost */
    int64_t next_record_ns;

    /* misbehaviour */
    struct tlog_device_tamper tamper;
    uint32_t miss_interrupts; /* UINT32_MAX = all */
    uint32_t refuse_code, refuse_left;
    uint32_t mute_left;          /* requests that get no answer */
    uint32_t late_ms, late_left; /* requests answered late */

    /* control */
    int control_listener, control; /* sockets; -1 = none */
    char line[1024];
    size_t line_used;
};

int64_t tlog_device_now(void);

/* broker */
enum corral_err tlog_device_broker_open(struct tlog_device *dev, struct diag *d);
void tlog_device_broker_close(struct tlog_device *dev);
enum corral_err tlog_device_accept(struct tlog_device *dev, struct diag *d);
void tlog_device_raise(struct tlog_device *dev, uint32_t vector);
/* A word of BAR2; offsets outside give 0 and store nothing. */
uint32_t tlog_device_bar_read(const struct tlog_device *dev, uint32_t offset);
void tlog_device_bar_write(struct tlog_device *dev, uint32_t offset, uint32_t value);

/* memory */
enum corral_err tlog_device_ram_open(struct tlog_device *dev, struct diag *d);
void tlog_device_ram_close(struct tlog_device *dev);
bool tlog_device_ram_whole(const struct tlog_device *dev); /* its file is as long as it was */
/* One access of 1, 2 or 4 bytes at what tlog_device_ram_at gave. False, and nothing is there any more, when
 * the file has been cut. */
bool tlog_device_ram_load(const uint8_t *at, unsigned size, uint32_t *value);
bool tlog_device_ram_store(uint8_t *at, unsigned size, uint32_t value);
/* `size` bytes of guest memory at `address`, or NULL when they are not all there in one piece. */
uint8_t *tlog_device_ram_at(const struct tlog_device *dev, uint64_t address, uint64_t size);
uint32_t tlog_device_ram_read(const struct tlog_device *dev, uint64_t address);
/* A firmware store into the buffer, with all checks. */
bool tlog_device_dma_write(struct tlog_device *dev, uint64_t address, uint32_t value);
void tlog_device_violation(struct tlog_device *dev, const char *what);
void tlog_device_remark(struct tlog_device *dev, const char *what);

/* queue */
enum corral_err tlog_device_queue_start(struct tlog_device *dev, struct diag *d);
void tlog_device_queue_stop(struct tlog_device *dev);
void tlog_device_queue_scan(struct tlog_device *dev);
void tlog_device_queue_late(struct tlog_device *dev, int64_t now);
int64_t tlog_device_queue_due(const struct tlog_device *dev);
/* Put answers into the driver's queue that nobody asked for. How many went in. */
uint32_t tlog_device_queue_stale(struct tlog_device *dev, uint32_t count);

/* firmware */
enum corral_err tlog_device_firmware_start(struct tlog_device *dev, struct diag *d);
void tlog_device_firmware_die(struct tlog_device *dev);
/* Word 0 of the answer to a firmware-log message. */
uint32_t tlog_device_control_message(struct tlog_device *dev, const uint32_t *words);
void tlog_device_firmware_work(struct tlog_device *dev, int64_t now);
/* Hand over `size` bytes as one batch as they are. False when the buffer is not free or too small. */
bool tlog_device_raw_batch(struct tlog_device *dev, const uint8_t *bytes, size_t size);
/* When work is next to be done; INT64_MAX = nothing is. */
int64_t tlog_device_firmware_due(const struct tlog_device *dev, int64_t now);

/* tamper */
/* Before a batch of this device is given away with *owner_word. */
void tlog_device_tamper_before(struct tlog_device *dev, uint32_t *owner_word);
void tlog_device_tamper_after(struct tlog_device *dev);
void tlog_device_scribble(struct tlog_device *dev);
/* A deliberate store into the buffer, wherever in it; outside it nothing is stored. */
void tlog_device_poke(struct tlog_device *dev, uint32_t offset, uint32_t value, unsigned size);

/* control */
enum corral_err tlog_device_control_open(struct tlog_device *dev, struct diag *d);
void tlog_device_control_close(struct tlog_device *dev);
void tlog_device_control_accept(struct tlog_device *dev);
void tlog_device_control_input(struct tlog_device *dev);

#endif
