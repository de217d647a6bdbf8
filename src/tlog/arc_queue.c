/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's end of the ARC message queue, and the log's messages (arc_queue.h): the firmware-log sheet,
 * sections 2 and 5 with its hazards (a) to (f), section 8 cases 35 and 36.
 *
 * N and the queue's address are believed only after a check, and looked at again before each exchange. After
 * a time-out, and at the start, the queue is out of step: nobody knows how many answers are still to come. A
 * TEST message whose answer is recognised by its value ends that; all answers before it are thrown away.
 */
#include "tlog/arc_queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ONES     0xFFFFFFFFu
#define POLL_LEAST   (50 * NS_PER_US)
#define POLL_MOST    (2 * NS_PER_MS)
#define STALE_FACTOR 4u /* answers thrown away in one go: at most so many times a full queue */

struct arc_client {
    struct arc_client_options options;
    uint64_t control; /* address of the control block */
    uint64_t queue;   /* address of our queue */
    uint32_t first_queue, shape;
    uint32_t entries; /* 1..ARC_ENTRIES_MAX */
    bool in_step;     /* every request so far has been answered, and the answer taken */
    uint32_t nonce;
    uint32_t serial; /* of our queue after the last exchange: a smaller one later is a restart */
    uint64_t stale;
};

struct pointers {
    uint32_t request_wptr, response_rptr, request_rptr, response_wptr;
};

static enum corral_err dead(struct diag *d)
{
    diag_set(d, CORRAL_ERR_LINK_DOWN, "the message queue reads as all ones: the link or the device is dead");
    return CORRAL_ERR_LINK_DOWN;
}

/* A word that is never all ones while the device lives. */
static enum corral_err read_word(const struct arc_client *c, uint64_t address, uint32_t *value,
                                 struct diag *d)
{
    enum corral_err err = c->options.memory.read32(c->options.memory.ctx, address, value, d);
    if (err != CORRAL_OK)
        return err;
    return *value == ALL_ONES ? dead(d) : CORRAL_OK;
}

static enum corral_err write_word(const struct arc_client *c, uint64_t address, uint32_t value,
                                  struct diag *d)
{
    return c->options.memory.write32(c->options.memory.ctx, address, value, d);
}

/* Sleep a little longer each time; false when the time is up. */
static bool back_off(struct host_clock *clock, int64_t *pause, const struct deadline *until)
{
    if (deadline_passed(until))
        return false;
    host_clock_sleep(clock, *pause);
    *pause = *pause * 2 > POLL_MOST ? POLL_MOST : *pause * 2;
    return true;
}

/* ---- finding the queue ---- */

static bool is_inside(const struct arc_client *c, uint64_t address, uint64_t size)
{
    const struct arc_client_options *o = &c->options;
    return address % 4 == 0 && address >= o->valid_base && address <= o->valid_end &&
           size <= o->valid_end - address;
}

static enum corral_err wait_ready(struct arc_client *c, struct diag *d)
{
    struct deadline until = deadline_in(c->options.clock, c->options.ready_ns);
    int64_t pause = POLL_LEAST;
    for (;;) {
        uint32_t status = 0;
        enum corral_err err = read_word(c, c->options.scratch + 4u * ARC_SCRATCH_BOOT_STATUS, &status, d);
        if (err != CORRAL_OK || (status & ARC_BOOT_STATUS_READY))
            return err;
        if (!back_off(c->options.clock, &pause, &until)) {
            diag_set(d, CORRAL_ERR_TIMEOUT,
                     "the firmware does not say that its message queue is ready "
                     "(boot status 0x%08" PRIx32 ")",
                     status);
            diag_hint(d, "is the firmware running?");
            return CORRAL_ERR_TIMEOUT;
        }
    }
}

static enum corral_err check_shape(struct arc_client *c, struct diag *d)
{
    unsigned entries = c->shape & 0xFF, queues = c->shape >> 8 & 0xFF;
    if (entries == 0 || entries > ARC_ENTRIES_MAX || queues == 0 || queues > ARC_QUEUES_MAX)
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                        "the message queues' shape is impossible: %u queues of %u entries", queues, entries);
    if (c->options.queue >= queues)
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE, "there is no message queue %u: the firmware has %u",
                        c->options.queue, queues);
    uint64_t size = ARC_QUEUE_SIZE(entries);
    if (!is_inside(c, c->first_queue, size * queues))
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                        "the message queues at 0x%08" PRIx32 " lie outside the firmware's memory",
                        c->first_queue);
    c->entries = entries;
    c->queue = c->first_queue + size * c->options.queue;
    return CORRAL_OK;
}

static enum corral_err find_queue(struct arc_client *c, struct diag *d)
{
    uint32_t control = 0;
    enum corral_err err = wait_ready(c, d);
    if (err == CORRAL_OK)
        err = read_word(c, c->options.scratch + 4u * ARC_SCRATCH_QUEUE_CONTROL, &control, d);
    if (err != CORRAL_OK)
        return err;
    c->control = control;
    if (!is_inside(c, control, ARC_CONTROL_SIZE))
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                        "the message queues' control block at 0x%08" PRIx32
                        " lies outside the firmware's memory",
                        control);
    err = read_word(c, c->control + ARC_CONTROL_QUEUE_ADDRESS, &c->first_queue, d);
    if (err == CORRAL_OK)
        err = read_word(c, c->control + ARC_CONTROL_SHAPE, &c->shape, d);
    return err == CORRAL_OK ? check_shape(c, d) : err;
}

/* The firmware may have been restarted, or may lie: what was checked is what is used, or nothing. */
static enum corral_err check_unchanged(struct arc_client *c, struct diag *d)
{
    uint32_t control = 0, address = 0, shape = 0;
    enum corral_err err = read_word(c, c->options.scratch + 4u * ARC_SCRATCH_QUEUE_CONTROL, &control, d);
    if (err == CORRAL_OK && control == c->control)
        err = read_word(c, c->control + ARC_CONTROL_QUEUE_ADDRESS, &address, d);
    if (err == CORRAL_OK && control == c->control)
        err = read_word(c, c->control + ARC_CONTROL_SHAPE, &shape, d);
    if (err != CORRAL_OK)
        return err;
    if (control == c->control && address == c->first_queue && shape == c->shape)
        return CORRAL_OK;
    diag_set(d, CORRAL_ERR_TLOG_QUEUE, "the message queues have moved or changed their shape");
    diag_hint(d, "was the device reset? Then it must be opened again");
    return CORRAL_ERR_TLOG_QUEUE;
}

/* ---- pointers ---- */

static enum corral_err read_pointer(const struct arc_client *c, uint32_t offset, uint32_t *value,
                                    struct diag *d)
{
    enum corral_err err = read_word(c, c->queue + offset, value, d);
    if (err != CORRAL_OK)
        return err;
    if (*value >= 2 * c->entries)
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                        "a pointer of message queue %u is impossible: %" PRIu32 " with %" PRIu32 " entries",
                        c->options.queue, *value, c->entries);
    return CORRAL_OK;
}

static enum corral_err read_pointers(const struct arc_client *c, struct pointers *p, struct diag *d)
{
    enum corral_err err = read_pointer(c, ARC_QUEUE_REQUEST_WPTR, &p->request_wptr, d);
    if (err == CORRAL_OK)
        err = read_pointer(c, ARC_QUEUE_RESPONSE_RPTR, &p->response_rptr, d);
    if (err == CORRAL_OK)
        err = read_pointer(c, ARC_QUEUE_REQUEST_RPTR, &p->request_rptr, d);
    if (err == CORRAL_OK)
        err = read_pointer(c, ARC_QUEUE_RESPONSE_WPTR, &p->response_wptr, d);
    return err;
}

static uint32_t advance(const struct arc_client *c, uint32_t pointer)
{
    return (pointer + 1) % (2 * c->entries);
}

/* Entries between the two ends; more than N is impossible. */
static enum corral_err fill(const struct arc_client *c, uint32_t wptr, uint32_t rptr, uint32_t *count,
                            struct diag *d)
{
    *count = (wptr + 2 * c->entries - rptr) % (2 * c->entries);
    if (*count <= c->entries)
        return CORRAL_OK;
    return diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                    "message queue %u cannot hold %" PRIu32 " messages: it has %" PRIu32 " entries",
                    c->options.queue, *count, c->entries);
}

/* ---- one exchange ---- */

/* Throw away what was answered to somebody else's question, or to one that we gave up. */
static enum corral_err drain(struct arc_client *c, struct pointers *p, struct diag *d)
{
    uint32_t count = 0;
    enum corral_err err = fill(c, p->response_wptr, p->response_rptr, &count, d);
    if (err != CORRAL_OK || count == 0)
        return err;
    c->stale += count;
    p->response_rptr = p->response_wptr;
    return write_word(c, c->queue + ARC_QUEUE_RESPONSE_RPTR, p->response_rptr, d);
}

static enum corral_err wait_space(struct arc_client *c, struct pointers *p, struct diag *d)
{
    struct deadline until = deadline_in(c->options.clock, c->options.space_ns);
    int64_t pause = POLL_LEAST;
    for (;;) {
        uint32_t count = 0;
        enum corral_err err = read_pointers(c, p, d);
        /* Unread answers keep the firmware from taking requests: drain them while we wait. */
        if (err == CORRAL_OK)
            err = drain(c, p, d);
        if (err == CORRAL_OK)
            err = fill(c, p->request_wptr, p->request_rptr, &count, d);
        if (err != CORRAL_OK || count < c->entries)
            return err;
        if (!back_off(c->options.clock, &pause, &until))
            return diag_set(d, CORRAL_ERR_TIMEOUT,
                            "the firmware takes no requests: message queue %u stays full", c->options.queue);
    }
}

static enum corral_err send(struct arc_client *c, struct pointers *p,
                            const uint32_t request[ARC_MESSAGE_WORDS], struct diag *d)
{
    enum corral_err err = wait_space(c, p, d);
    uint64_t slot =
        c->queue + ARC_QUEUE_HEADER_SIZE + (uint64_t)(p->request_wptr % c->entries) * ARC_MESSAGE_SIZE;
    for (unsigned i = 0; i < ARC_MESSAGE_WORDS && err == CORRAL_OK; i++)
        err = write_word(c, slot + 4u * i, request[i], d);
    if (err != CORRAL_OK)
        return err;
    c->in_step = false; /* until its answer has been taken */
    p->request_wptr = advance(c, p->request_wptr);
    err = write_word(c, c->queue + ARC_QUEUE_REQUEST_WPTR, p->request_wptr, d);
    if (err == CORRAL_OK && c->options.doorbell)
        err = write_word(c, c->options.doorbell, 0, d);
    return err;
}

/* Wait until at least one answer is there, and take the oldest. *more: others stand behind it. */
static enum corral_err receive(struct arc_client *c, struct pointers *p, const struct deadline *until,
                               uint32_t response[ARC_MESSAGE_WORDS], bool *more, struct diag *d)
{
    int64_t pause = POLL_LEAST;
    uint32_t count = 0;
    for (;;) {
        enum corral_err err = read_pointer(c, ARC_QUEUE_RESPONSE_WPTR, &p->response_wptr, d);
        if (err == CORRAL_OK)
            err = fill(c, p->response_wptr, p->response_rptr, &count, d);
        if (err != CORRAL_OK)
            return err;
        if (count > 0)
            break;
        if (!back_off(c->options.clock, &pause, until)) {
            diag_set(d, CORRAL_ERR_TIMEOUT, "the firmware did not answer on message queue %u",
                     c->options.queue);
            diag_hint(d, "the request may still take effect");
            return CORRAL_ERR_TIMEOUT;
        }
    }
    *more = count > 1;
    uint64_t slot = c->queue + ARC_QUEUE_HEADER_SIZE +
                    (uint64_t)(c->entries + p->response_rptr % c->entries) * ARC_MESSAGE_SIZE;
    for (unsigned i = 0; i < ARC_MESSAGE_WORDS; i++) {
        /* All ones may be an answer: only the caller can tell. */
        enum corral_err err = c->options.memory.read32(c->options.memory.ctx, slot + 4u * i, &response[i], d);
        if (err != CORRAL_OK)
            return err;
    }
    p->response_rptr = advance(c, p->response_rptr);
    return write_word(c, c->queue + ARC_QUEUE_RESPONSE_RPTR, p->response_rptr, d);
}

/* Our own ends must stand where we left them, or the queue has a second user. */
static enum corral_err check_alone(struct arc_client *c, const struct pointers *p, struct diag *d)
{
    struct pointers now;
    enum corral_err err = read_pointers(c, &now, d);
    if (err != CORRAL_OK || (now.request_wptr == p->request_wptr && now.response_rptr == p->response_rptr))
        return err;
    diag_set(d, CORRAL_ERR_TLOG_QUEUE, "somebody else uses message queue %u at the same time",
             c->options.queue);
    diag_hint(d, "another tool, or the vendor's driver?");
    return CORRAL_ERR_TLOG_QUEUE;
}

static enum corral_err get_in_step(struct arc_client *c, struct diag *d)
{
    uint32_t response[ARC_MESSAGE_WORDS];
    uint32_t request[ARC_MESSAGE_WORDS] = {ARC_MSG_TEST};
    struct pointers p;
    bool more = false;
    uint32_t serial = 0;
    enum corral_err err = read_word(c, c->queue + ARC_QUEUE_SERIAL, &serial, d);
    /* Unlike any number that an earlier user of this queue has taken: the serial has moved on since. */
    c->nonce = (c->nonce + serial) * 1664525u + 1013904223u + (uint32_t)host_clock_now(c->options.clock);
    request[1] = c->nonce;
    if (err == CORRAL_OK)
        err = send(c, &p, request, d);
    struct deadline until = deadline_in(c->options.clock, c->options.response_ns);
    for (unsigned n = 0; err == CORRAL_OK && n < STALE_FACTOR * c->entries; n++) {
        err = receive(c, &p, &until, response, &more, d);
        if (err == CORRAL_OK && response[0] == 0 && response[1] == c->nonce + 1 && !more) {
            c->in_step = true;
            return check_alone(c, &p, d);
        }
        c->stale += err == CORRAL_OK;
    }
    return err != CORRAL_OK ? err
                            : diag_set(d, CORRAL_ERR_TLOG_QUEUE,
                                       "message queue %u answers without end, but not what it was asked",
                                       c->options.queue);
}

enum corral_err arc_client_exchange(struct arc_client *c, const uint32_t request[ARC_MESSAGE_WORDS],
                                    uint32_t response[ARC_MESSAGE_WORDS], struct diag *d)
{
    struct pointers p;
    bool more = false;
    memset(response, 0, ARC_MESSAGE_SIZE);
    enum corral_err err = check_unchanged(c, d);
    if (err == CORRAL_OK && !c->in_step)
        err = get_in_step(c, d);
    if (err == CORRAL_OK)
        err = send(c, &p, request, d);
    if (err != CORRAL_OK)
        return err;
    struct deadline until = deadline_in(c->options.clock, c->options.response_ns);
    uint32_t answer[ARC_MESSAGE_WORDS] = {0};
    err = receive(c, &p, &until, answer, &more, d);
    if (err == CORRAL_OK)
        err = check_alone(c, &p, d);
    if (err != CORRAL_OK)
        return err;
    if (more)
        return diag_set(d, CORRAL_ERR_TLOG_QUEUE, "one request on message queue %u got several answers",
                        c->options.queue);
    c->in_step = true;
    memcpy(response, answer, ARC_MESSAGE_SIZE);
    return read_word(c, c->queue + ARC_QUEUE_SERIAL, &c->serial, d);
}

enum corral_err arc_client_restarted(struct arc_client *c, bool *restarted, struct diag *d)
{
    uint32_t status = 0, control = 0, serial = 0;
    *restarted = true;
    enum corral_err err = read_word(c, c->options.scratch + 4u * ARC_SCRATCH_BOOT_STATUS, &status, d);
    if (err != CORRAL_OK || !(status & ARC_BOOT_STATUS_READY))
        return err;
    err = read_word(c, c->options.scratch + 4u * ARC_SCRATCH_QUEUE_CONTROL, &control, d);
    if (err != CORRAL_OK || control != c->control)
        return err;
    err = read_word(c, c->queue + ARC_QUEUE_SERIAL, &serial, d);
    *restarted = err == CORRAL_OK && serial - c->serial >= 0x80000000u;
    return err;
}

struct arc_client *arc_client_open(const struct arc_client_options *options, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    struct arc_client *c = calloc(1, sizeof(*c));
    if (!c) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    c->options = *options;
    if (!c->options.ready_ns)
        c->options.ready_ns = ARC_READY_NS;
    if (!c->options.space_ns)
        c->options.space_ns = ARC_SPACE_NS;
    if (!c->options.response_ns)
        c->options.response_ns = ARC_RESPONSE_NS;
    enum corral_err err = find_queue(c, d);
    if (err == CORRAL_OK)
        err = get_in_step(c, d);
    if (err == CORRAL_OK)
        return c;
    arc_client_close(c);
    return NULL;
}

void arc_client_close(struct arc_client *c)
{
    free(c);
}

uint64_t arc_client_stale(const struct arc_client *c)
{
    return c->stale;
}

unsigned arc_client_entries(const struct arc_client *c)
{
    return c->entries;
}

/* ---- the log's messages ---- */

void arc_tlog_encode(const struct arc_tlog_request *request, uint32_t words[ARC_MESSAGE_WORDS])
{
    memset(words, 0, ARC_MESSAGE_SIZE);
    words[0] = ARC_MSG_TLOG | (uint32_t)request->subcommand << 8 | (uint32_t)request->version << 16;
    if (request->subcommand != ARC_TLOG_SETUP)
        return;
    words[1] = (uint32_t)request->address;
    words[2] = (uint32_t)(request->address >> 32);
    words[3] = request->size;
}

bool arc_tlog_decode(const uint32_t words[ARC_MESSAGE_WORDS], struct arc_tlog_request *request)
{
    if ((words[0] & 0xFF) != ARC_MSG_TLOG)
        return false;
    *request = (struct arc_tlog_request){
        .subcommand = (uint8_t)(words[0] >> 8),
        .version = (uint8_t)(words[0] >> 16),
        .address = (uint64_t)words[2] << 32 | words[1],
        .size = words[3],
    };
    return true;
}

enum arc_answer arc_answer_of(uint32_t word0)
{
    if (word0 == ARC_TLOG_OK)
        return ARC_ANSWER_OK;
    if (word0 == ALL_ONES)
        return ARC_ANSWER_DEAD;
    if (word0 == ARC_MSG_UNKNOWN)
        return ARC_ANSWER_UNSUPPORTED;
    return word0 >= 0xF0u && word0 <= ARC_TLOG_BUSY ? ARC_ANSWER_BUSY : ARC_ANSWER_FAULT;
}

const char *arc_answer_text(uint32_t word0)
{
    switch (arc_answer_of(word0)) {
    case ARC_ANSWER_OK:
        return "agreed";
    case ARC_ANSWER_UNSUPPORTED:
        return "does not know the log (command 0xC7)";
    case ARC_ANSWER_BUSY:
        return "was busy";
    case ARC_ANSWER_DEAD:
        return "answered with all ones: the device is gone";
    case ARC_ANSWER_FAULT:
        break;
    }
    return word0 == ARC_TLOG_BAD_SIZE         ? "refused the buffer's size"
           : word0 == ARC_TLOG_NO_TRANSLATION ? "cannot reach the host on this part (NOC translation is off)"
           : word0 == ARC_TLOG_BAD_SUBCOMMAND ? "does not know this subcommand"
                                              : "refused with a code that is not known";
}
