/* SPDX-License-Identifier: Apache-2.0 */
/* SETUP and RELEASE (tlog_setup.h). Must not read records, and must not run against a device with a driver:
 * that is checked where the link is opened. */
#include "tlog/tlog_setup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tlog/tlog_decode.h"

#define SIZE_MAX_BYTES (1u << 20)
#define BUSY_TRIES     5
#define BUSY_PAUSE     (20 * NS_PER_MS)
#define NO_ANSWER      0xFFFFFFFFu

struct tlog_setup {
    struct tlog_setup_options options;
    struct link *link; /* during a call */
    struct arc_client *client;
    enum tlog_setup_state state;
    bool maybe_active; /* a SETUP was sent that may stand, and no RELEASE was agreed to */
    uint32_t answer;
};

static enum corral_err queue_read(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    const struct tlog_setup *s = ctx;
    return link_read32(s->link, s->options.ap, address, value, d);
}

static enum corral_err queue_write(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    const struct tlog_setup *s = ctx;
    return link_write32(s->link, s->options.ap, address, value, d);
}

const char *tlog_setup_state_name(enum tlog_setup_state state)
{
    static const char *const names[] = {
        [TLOG_SETUP_OFF] = "off",
        [TLOG_SETUP_ACTIVE] = "active",
        [TLOG_SETUP_NOT_READY] = "not-ready",
        [TLOG_SETUP_UNSUPPORTED] = "unsupported",
        [TLOG_SETUP_REFUSED] = "refused",
        [TLOG_SETUP_BUSY] = "busy",
        [TLOG_SETUP_UNKNOWN] = "no-answer",
        [TLOG_SETUP_DEAD] = "link-dead",
        [TLOG_SETUP_BAD_QUEUE] = "bad-queue",
        [TLOG_SETUP_BAD_MAGIC] = "wrong-magic",
        [TLOG_SETUP_BAD_VERSION] = "wrong-version",
    };
    return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

enum corral_err tlog_setup_check(uint64_t address, uint32_t size, struct diag *d)
{
    if (size < ARC_TLOG_MIN_SIZE || size > SIZE_MAX_BYTES || size % 4 != 0) {
        diag_set(d, CORRAL_ERR_USAGE,
                 "a log buffer of %" PRIu32 " bytes cannot be set up: %u to %u, a multiple of 4", size,
                 ARC_TLOG_MIN_SIZE, SIZE_MAX_BYTES);
        diag_hint(d, "%u bytes hold all that the firmware keeps", ARC_TLOG_HOST_MIN_SIZE);
        return CORRAL_ERR_USAGE;
    }
    if (address == 0 || address % 4 != 0)
        return diag_set(d, CORRAL_ERR_USAGE, "a log buffer cannot lie at 0x%" PRIx64, address);
    /* The firmware's window has 24 address bits: past its end it would write to somebody else's memory. */
    if (address / ARC_TLOG_WINDOW != (address + size - 1) / ARC_TLOG_WINDOW || address + size < address)
        return diag_set(d, CORRAL_ERR_USAGE, "a log buffer at 0x%" PRIx64 " would cross a multiple of 16 MiB",
                        address);
    return CORRAL_OK;
}

struct tlog_setup *tlog_setup_new(const struct tlog_setup_options *options, struct diag *d)
{
    if (tlog_setup_check(options->address, options->size, d) != CORRAL_OK)
        return NULL;
    struct tlog_setup *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->options = *options;
    s->answer = NO_ANSWER;
    return s;
}

void tlog_setup_free(struct tlog_setup *s)
{
    if (!s)
        return;
    arc_client_close(s->client);
    free(s);
}

const char *tlog_setup_warning(const struct tlog_setup *s)
{
    return s->options.size < ARC_TLOG_HOST_MIN_SIZE
               ? "a log buffer below 4112 bytes is smaller than what the firmware keeps: records will be cut"
               : NULL;
}

enum tlog_setup_state tlog_setup_state(const struct tlog_setup *s)
{
    return s->state;
}

uint32_t tlog_setup_answer(const struct tlog_setup *s)
{
    return s->answer;
}

enum corral_err tlog_setup_ready(struct tlog_setup *s, struct link *link, bool *ready, struct diag *d)
{
    uint32_t status = 0;
    *ready = false;
    enum corral_err err =
        link_read32(link, s->options.ap, s->options.scratch + 4u * ARC_SCRATCH_BOOT_STATUS, &status, d);
    /* All ones is a dead link; its sentence comes from who reads the buffer. */
    *ready = err == CORRAL_OK && status != NO_ANSWER && (status & ARC_BOOT_STATUS_READY);
    return err;
}

static enum corral_err open_client(struct tlog_setup *s, struct diag *d)
{
    const struct tlog_setup_options *o = &s->options;
    struct arc_client_options options = {.memory = {s, queue_read, queue_write},
                                         .clock = link_clock(s->link),
                                         .scratch = o->scratch,
                                         .doorbell = o->doorbell,
                                         .valid_base = o->valid_base,
                                         .valid_end = o->valid_end,
                                         .queue = o->queue,
                                         .response_ns = o->response_ns};
    arc_client_close(s->client);
    s->client = arc_client_open(&options, d);
    return s->client ? CORRAL_OK : d->code;
}

/* The error of an exchange as a state. A time-out before anything was sent is not "unknown". */
static enum corral_err failed(struct tlog_setup *s, enum corral_err err, bool sent)
{
    s->state = err == CORRAL_ERR_LINK_DOWN    ? TLOG_SETUP_DEAD
               : err == CORRAL_ERR_TLOG_QUEUE ? TLOG_SETUP_BAD_QUEUE
               : sent                         ? TLOG_SETUP_UNKNOWN
                                              : TLOG_SETUP_NOT_READY;
    return err;
}

static enum corral_err exchange(struct tlog_setup *s, uint8_t subcommand, uint32_t *answer, struct diag *d)
{
    uint32_t request[ARC_MESSAGE_WORDS], response[ARC_MESSAGE_WORDS];
    int64_t pause = BUSY_PAUSE;
    arc_tlog_encode(
        &(struct arc_tlog_request){subcommand, ARC_TLOG_VERSION, s->options.address, s->options.size},
        request);
    for (unsigned n = 0;; n++) {
        *answer = NO_ANSWER;
        enum corral_err err = arc_client_exchange(s->client, request, response, d);
        if (err != CORRAL_OK)
            return err;
        *answer = response[0];
        if (arc_answer_of(*answer) != ARC_ANSWER_BUSY || n + 1 >= BUSY_TRIES)
            return CORRAL_OK;
        host_clock_sleep(link_clock(s->link), pause);
        pause *= 2;
    }
}

/* What the firmware wrote when it agreed. */
static enum corral_err check_header(struct tlog_setup *s, struct diag *d)
{
    uint8_t header[TLOG_HEADER_SIZE];
    enum corral_err err =
        link_read_bytes(s->link, s->options.ap, s->options.address, header, sizeof(header), d);
    if (err != CORRAL_OK)
        return failed(s, err, true);
    uint32_t magic = load_le32(header + TLOG_OFF_MAGIC);
    if (magic == NO_ANSWER) {
        diag_set(d, CORRAL_ERR_LINK_DOWN, "the log buffer reads as all ones: the link or the device is dead");
        return failed(s, CORRAL_ERR_LINK_DOWN, true);
    }
    if (magic != TLOG_MAGIC) {
        s->state = TLOG_SETUP_BAD_MAGIC;
        diag_set(d, CORRAL_ERR_TLOG_MAGIC,
                 "the firmware agreed to the log buffer at 0x%" PRIx64
                 " but wrote no header there (0x%08" PRIx32 ")",
                 s->options.address, magic);
        diag_hint(d, magic == TLOG_MAGIC_SWAPPED ? "its bytes are the other way round"
                                                 : "does the firmware see the buffer at the same address?");
        return CORRAL_ERR_TLOG_MAGIC;
    }
    if (header[TLOG_OFF_VERSION] != ARC_TLOG_VERSION) {
        s->state = TLOG_SETUP_BAD_VERSION;
        return diag_set(d, CORRAL_ERR_UNSUPPORTED,
                        "the firmware's log has version %u, which this program does not know",
                        header[TLOG_OFF_VERSION]);
    }
    s->state = TLOG_SETUP_ACTIVE;
    return CORRAL_OK;
}

static enum corral_err refused(struct tlog_setup *s, struct diag *d)
{
    switch (arc_answer_of(s->answer)) {
    case ARC_ANSWER_UNSUPPORTED:
        s->state = TLOG_SETUP_UNSUPPORTED;
        return diag_set(d, CORRAL_ERR_UNSUPPORTED, "the firmware %s", arc_answer_text(s->answer));
    case ARC_ANSWER_DEAD:
        s->state = TLOG_SETUP_DEAD;
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the firmware %s", arc_answer_text(s->answer));
    case ARC_ANSWER_BUSY:
        s->state = TLOG_SETUP_BUSY;
        break;
    case ARC_ANSWER_OK:
    case ARC_ANSWER_FAULT:
        s->state = TLOG_SETUP_REFUSED;
        break;
    }
    return diag_set(d, CORRAL_ERR_TLOG_REFUSED,
                    "the log's SETUP failed: the firmware %s (answer 0x%02" PRIx32 ")",
                    arc_answer_text(s->answer), s->answer);
}

/* RELEASE; *answer is word 0 of what was answered. */
static enum corral_err let_go(struct tlog_setup *s, uint32_t *answer, struct diag *d)
{
    enum corral_err err = exchange(s, ARC_TLOG_RELEASE, answer, d);
    if (err == CORRAL_OK && arc_answer_of(*answer) == ARC_ANSWER_OK)
        s->maybe_active = false;
    return err;
}

enum corral_err tlog_setup_run(struct tlog_setup *s, struct link *link, struct diag *d)
{
    struct diag own = DIAG_INIT;
    static const uint8_t cleared[TLOG_HEADER_SIZE];
    uint32_t ignored;
    d = d ? d : &own;
    s->link = link;
    s->answer = NO_ANSWER;
    enum corral_err err = open_client(s, d);
    /* A header from before must not be taken for the one that the firmware writes now. */
    if (err == CORRAL_OK)
        err = link_write_bytes(link, s->options.ap, s->options.address, cleared, sizeof(cleared), d);
    if (err != CORRAL_OK)
        return failed(s, err, false);
    /* Whatever goes wrong with the answer, it may have been carried out. */
    bool before = s->maybe_active;
    s->maybe_active = true;
    err = exchange(s, ARC_TLOG_SETUP, &s->answer, d);
    if (err != CORRAL_OK)
        return failed(s, err, true);
    if (arc_answer_of(s->answer) != ARC_ANSWER_OK) {
        s->maybe_active = before; /* this one stands not, but an earlier one may */
        return refused(s, d);
    }
    err = check_header(s, d);
    if (err != CORRAL_OK && s->state != TLOG_SETUP_DEAD) /* it must not go on writing where nobody reads */
        let_go(s, &ignored, NULL);
    return err;
}

enum corral_err tlog_setup_restarted(struct tlog_setup *s, struct link *link, bool *restarted, struct diag *d)
{
    *restarted = false;
    s->link = link;
    if (!s->client || s->answer == NO_ANSWER || s->state == TLOG_SETUP_OFF)
        return CORRAL_OK;
    enum corral_err err = arc_client_restarted(s->client, restarted, d);
    if (err == CORRAL_OK && *restarted) {
        s->state = TLOG_SETUP_OFF;
        s->maybe_active = false; /* the one that knew of the buffer is gone */
    }
    return err;
}

enum corral_err tlog_setup_release(struct tlog_setup *s, struct link *link, struct diag *d)
{
    uint32_t answer = NO_ANSWER;
    if (!s->client || !s->maybe_active)
        return CORRAL_OK;
    s->link = link;
    enum corral_err err = let_go(s, &answer, d);
    if (err != CORRAL_OK)
        return failed(s, err, true);
    s->state = s->maybe_active ? TLOG_SETUP_UNKNOWN : TLOG_SETUP_OFF;
    return s->maybe_active ? diag_set(d, CORRAL_ERR_TLOG_REFUSED,
                                      "the log's RELEASE failed: the firmware %s (answer 0x%02" PRIx32 ")",
                                      arc_answer_text(answer), answer)
                           : CORRAL_OK;
}
