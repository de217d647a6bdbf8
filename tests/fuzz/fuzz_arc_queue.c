/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the ARC message queue, client and server, against another side that writes what it likes when
 * it likes, over a link that fails when it likes. The input is a device's first memory contents and then a
 * script of what happens at each access. Checked: no access outside what was granted, no endless loop, writes
 * only where each side may write, that an answer is handed out only when one was there, and that nothing
 * fails without a sentence.
 */
#include <stdbool.h>

#include "base/bytes.h"
#include "fuzz_target.h"
#include "tlog/arc_queue.h"

#define BASE         0x10000000u
#define SIZE         0x1000u
#define CONTROL      (BASE + 0x40u)
#define QUEUES       (BASE + 0x80u)
#define SCRATCH      0x80030400u
#define DOORBELL     0x800B0000u
#define ACCESSES_MAX 200000u

struct world {
    uint32_t memory[SIZE / 4];
    uint32_t scratch[16];
    struct host_clock *clock;
    struct arc_server *server;
    struct byte_reader script;
    unsigned accesses;
    unsigned client_fault, server_fault;  /* this many accesses from now one fails; 0 = none */
    unsigned queue, entries, queue_count; /* what the client may write to: while `shape_known` */
    bool shape_known;
};

/* Is this the access that fails? */
static bool fails(unsigned *countdown)
{
    return *countdown && --*countdown == 0;
}

static enum corral_err fault(struct diag *d)
{
    return diag_set(d, CORRAL_ERR_LINK_FAULT, "as scripted");
}

static uint32_t *word_of(struct world *w, uint64_t address)
{
    if (address % 4 == 0 && address >= BASE && address < BASE + SIZE)
        return &w->memory[(address - BASE) / 4];
    if (address % 4 == 0 && address >= SCRATCH && address < SCRATCH + sizeof(w->scratch))
        return &w->scratch[(address - SCRATCH) / 4];
    return NULL;
}

/* What the other side does now. */
static void meddle(struct world *w)
{
    uint8_t what = byte_reader_u8(&w->script);
    uint8_t where = byte_reader_u8(&w->script);
    if (w->script.failed)
        return;
    switch (what & 7) {
    case 0: /* a pointer or header word of some queue, a small value */
        w->memory[(QUEUES - BASE) / 4 + where % 200] = what >> 3;
        break;
    case 1: /* the control block or a scratch word */
        w->shape_known = false;
        if (where & 1)
            w->memory[(CONTROL - BASE) / 4 + (where >> 1) % 4] ^= 1u << (what >> 3);
        else
            w->scratch[(where >> 1) % 16] ^= 1u << (what >> 3);
        break;
    case 2:
        w->memory[where * 4u % (SIZE / 4)] = 0xFFFFFFFFu;
        w->shape_known = false;
        break;
    case 3:
        if (w->server)
            arc_server_poll(w->server, NULL, NULL);
        break;
    case 4: {
        const uint32_t answer[ARC_MESSAGE_WORDS] = {what, where};
        if (w->server)
            arc_server_respond(w->server, where % 5, answer, NULL);
        break;
    }
    case 5:
        w->server_fault = where;
        break;
    case 6:
        w->client_fault = where;
        break;
    default:
        break;
    }
}

static enum corral_err client_read(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    struct world *w = ctx;
    FUZZ_CHECK(++w->accesses < ACCESSES_MAX);
    meddle(w);
    const uint32_t *word = word_of(w, address);
    FUZZ_CHECK(word);
    *value = *word;
    bool now = byte_reader_left(&w->script) && w->script.data[w->script.pos] == 0xEE;
    return now || fails(&w->client_fault) ? fault(d) : CORRAL_OK;
}

/* The host's part of its own queue: two pointers and the requests. */
static bool may_write(const struct world *w, uint64_t address)
{
    uint64_t queue = QUEUES + (uint64_t)w->queue * ARC_QUEUE_SIZE(w->entries);
    uint64_t requests = queue + ARC_QUEUE_HEADER_SIZE;
    return address == queue + ARC_QUEUE_REQUEST_WPTR || address == queue + ARC_QUEUE_RESPONSE_RPTR ||
           (address >= requests && address < requests + (uint64_t)w->entries * ARC_MESSAGE_SIZE);
}

static enum corral_err client_write(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    struct world *w = ctx;
    FUZZ_CHECK(++w->accesses < ACCESSES_MAX);
    if (fails(&w->client_fault))
        return fault(d);
    if (address == DOORBELL) {
        FUZZ_CHECK(value == 0);
        return CORRAL_OK;
    }
    FUZZ_CHECK(!w->shape_known || may_write(w, address));
    FUZZ_CHECK(address >= BASE && address < BASE + SIZE); /* never a scratch register */
    uint32_t *word = word_of(w, address);
    FUZZ_CHECK(word);
    *word = value;
    meddle(w);
    return CORRAL_OK;
}

/* Within what was granted; the world's memory may be shorter. */
static bool is_granted(const struct world *w, uint64_t address)
{
    return address >= QUEUES && address - QUEUES < (uint64_t)ARC_QUEUE_SIZE(w->entries) * w->queue_count;
}

static enum corral_err server_read(void *ctx, uint64_t address, uint32_t *value, struct diag *d)
{
    struct world *w = ctx;
    FUZZ_CHECK(is_granted(w, address));
    const uint32_t *word = word_of(w, address);
    if (!word || fails(&w->server_fault))
        return fault(d);
    *value = *word;
    return CORRAL_OK;
}

static enum corral_err server_write(void *ctx, uint64_t address, uint32_t value, struct diag *d)
{
    struct world *w = ctx;
    FUZZ_CHECK(is_granted(w, address) || (address >= CONTROL && address < CONTROL + ARC_CONTROL_SIZE));
    uint32_t *word = word_of(w, address);
    if (!word || fails(&w->server_fault))
        return fault(d);
    *word = value;
    return CORRAL_OK;
}

static enum arc_reply handle(void *ctx, unsigned queue, const uint32_t request[ARC_MESSAGE_WORDS],
                             uint32_t response[ARC_MESSAGE_WORDS])
{
    struct arc_tlog_request tlog;
    const struct world *w = ctx;
    FUZZ_CHECK(queue < w->queue_count);
    if (!arc_tlog_decode(request, &tlog))
        return ARC_REPLY_UNKNOWN;
    response[0] = tlog.size;
    return tlog.subcommand & 0x80 ? ARC_REPLY_NONE : ARC_REPLY_ANSWER;
}

/* The client sleeps. */
static void pass(void *ctx, int64_t until)
{
    struct world *w = ctx;
    if (w->server && (w->script.failed || byte_reader_u8(&w->script) & 1))
        arc_server_poll(w->server, NULL, NULL);
    host_clock_set(w->clock, until);
}

static void talk(struct world *w, bool usual_times)
{
    int64_t patience = usual_times ? 0 : 5 * NS_PER_MS;
    struct arc_client_options options = {.memory = {w, client_read, client_write},
                                         .clock = w->clock,
                                         .scratch = SCRATCH,
                                         .doorbell = DOORBELL,
                                         .valid_base = BASE,
                                         .valid_end = BASE + SIZE,
                                         .queue = byte_reader_u8(&w->script) % 5,
                                         .ready_ns = patience,
                                         .space_ns = patience,
                                         .response_ns = patience};
    struct diag d = DIAG_INIT;
    w->queue = options.queue;
    struct arc_client *client = arc_client_open(&options, &d);
    FUZZ_CHECK(client || (d.code != CORRAL_OK && d.message[0]));
    if (!client)
        return;
    unsigned n = arc_client_entries(client);
    FUZZ_CHECK(n >= 1 && n <= ARC_ENTRIES_MAX);
    for (unsigned i = 0; i < 6; i++) {
        uint32_t request[ARC_MESSAGE_WORDS], response[ARC_MESSAGE_WORDS];
        bool restarted;
        struct arc_tlog_request tlog = {(uint8_t)(byte_reader_u8(&w->script) | 1u), 0, i, 4112};
        arc_tlog_encode(&tlog, request);
        enum corral_err err = arc_client_exchange(client, request, response, &d);
        FUZZ_CHECK(err == CORRAL_OK || d.message[0]);
        if (err == CORRAL_OK)
            FUZZ_CHECK(arc_answer_text(response[0])[0]);
        else
            for (unsigned k = 0; k < ARC_MESSAGE_WORDS; k++)
                FUZZ_CHECK(err == CORRAL_ERR_LINK_FAULT || err == CORRAL_ERR_LINK_DOWN || response[k] == 0);
        arc_client_restarted(client, &restarted, NULL);
    }
    FUZZ_CHECK(arc_client_stale(client) < w->accesses);
    arc_client_close(client);
}

/* Of the shape that the mode's bits say, or of any, over memory that may fail. */
static void start_server(struct world *w, uint8_t mode)
{
    struct diag d = DIAG_INIT;
    struct arc_server_options options = {.memory = {w, server_read, server_write},
                                         .control = CONTROL,
                                         .queues = QUEUES,
                                         .entries = mode >> 1 & 7,
                                         .handle = handle,
                                         .ctx = w};
    if (mode & 0x10) {
        options.entries = byte_reader_u8(&w->script);
        options.queue_count = byte_reader_u8(&w->script);
        w->server_fault = byte_reader_u8(&w->script);
    }
    w->entries = options.entries ? options.entries : ARC_ENTRIES_DEFAULT;
    w->queue_count = options.queue_count ? options.queue_count : ARC_QUEUES_DEFAULT;
    w->server = arc_server_new(&options, &d);
    bool possible = w->entries <= ARC_ENTRIES_MAX && w->queue_count <= ARC_QUEUES_MAX;
    FUZZ_CHECK(w->server ? possible : d.code == (possible ? CORRAL_ERR_LINK_FAULT : CORRAL_ERR_USAGE));
    FUZZ_CHECK(w->server || (mode & 0x10));
    w->shape_known = w->server;
    w->scratch[ARC_SCRATCH_QUEUE_CONTROL] = CONTROL;
    w->scratch[ARC_SCRATCH_BOOT_STATUS] = mode & 0x80 ? 0 : ARC_BOOT_STATUS_READY;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.script = byte_reader_over(data, size)};
    uint8_t mode = byte_reader_u8(&w.script);
    w.clock = host_clock_new_virtual();
    FUZZ_CHECK(w.clock);
    host_clock_set_driver(w.clock, pass, &w);
    if (mode & 1) {
        start_server(&w, mode);
    } else { /* anything at all */
        for (size_t i = 0; i < 16; i++)
            w.scratch[i] = i == ARC_SCRATCH_QUEUE_CONTROL ? BASE + 4u * byte_reader_u8(&w.script)
                                                          : byte_reader_u8(&w.script);
        for (size_t i = 0; i < 128 && byte_reader_left(&w.script); i++)
            w.memory[i] = byte_reader_u8(&w.script);
        w.memory[(CONTROL - BASE) / 4] |= QUEUES;
    }
    talk(&w, mode & 0x20);
    if (w.server)
        arc_server_bad_pointers(w.server);
    arc_server_free(w.server);
    host_clock_free(w.clock);
    return 0;
}
