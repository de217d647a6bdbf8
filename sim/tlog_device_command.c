/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the emulated firmware-log device (docs/tlog-device.md): one line each, words separated by
 * blanks, numbers decimal or 0x. A command that is not understood changes nothing.
 */
#include "sim/tlog_device_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 4

struct words {
    int count; /* without the command's name */
    const char *word[WORDS_MAX];
    uint64_t number[WORDS_MAX];  /* UINT64_MAX where it is no number */
    const char *rest[WORDS_MAX]; /* the line from that word on */
};

struct command {
    const char *name;
    int least, most; /* words after the name */
    bool (*run)(struct tlog_device *dev, const struct words *w);
};

static uint64_t parse_number(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return UINT64_MAX;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    return *end || errno ? UINT64_MAX : value;
}

/* The number of word `i`, or `otherwise` when it is not there. False when it is there and cannot be. */
static bool number(const struct words *w, int i, uint64_t most, uint32_t otherwise, uint32_t *value)
{
    *value = otherwise;
    if (i >= w->count)
        return true;
    if (w->number[i] > most)
        return false;
    *value = (uint32_t)w->number[i];
    return true;
}

static bool lie(struct tlog_device_lie *to, const struct words *w, uint64_t most, uint32_t otherwise)
{
    uint32_t value;
    if (!number(w, 0, most, otherwise, &value))
        return false;
    *to = (struct tlog_device_lie){true, value};
    return true;
}

static bool on_off(const struct words *w, bool *to)
{
    bool on = w->count == 0 || strcmp(w->word[0], "on") == 0;
    if (!on && strcmp(w->word[0], "off") != 0)
        return false;
    *to = on;
    return true;
}

/* ---- the next hand-over ---- */

static bool cmd_bad_magic(struct tlog_device *dev, const struct words *w)
{
    return lie(&dev->tamper.magic, w, UINT32_MAX, 0x474F4C54u);
}

static bool cmd_write_offset(struct tlog_device *dev, const struct words *w)
{
    return lie(&dev->tamper.write_offset, w, UINT32_MAX, 0);
}

static bool cmd_buffer_size(struct tlog_device *dev, const struct words *w)
{
    return lie(&dev->tamper.buffer_size, w, UINT32_MAX, 0);
}

static bool cmd_msg_size(struct tlog_device *dev, const struct words *w)
{
    uint32_t index;
    if (!number(w, 1, UINT16_MAX, 0, &index) || !lie(&dev->tamper.msg_size, w, UINT16_MAX, 0))
        return false;
    dev->tamper.msg_index = index;
    return true;
}

static bool cmd_torn(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    dev->tamper.torn_record = true;
    return true;
}

static bool cmd_torn_header(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    dev->tamper.torn_header = true;
    return true;
}

static bool cmd_owner_next(struct tlog_device *dev, const struct words *w)
{
    return lie(&dev->tamper.owner, w, 255, 2);
}

static bool cmd_flip(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    dev->tamper.flip = true;
    return true;
}

static bool cmd_scribble(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, 10000, 10, &dev->tamper.scribble_ms);
}

/* ---- at once ---- */

static bool cmd_owner(struct tlog_device *dev, const struct words *w)
{
    uint32_t value;
    if (!dev->firmware.active || !number(w, 0, 255, 0, &value))
        return false;
    tlog_device_poke(dev, 12, value, 1);
    return true;
}

static bool cmd_poke(struct tlog_device *dev, const struct words *w)
{
    uint32_t offset, value;
    if (!dev->firmware.active || !number(w, 0, UINT32_MAX, 0, &offset) ||
        !number(w, 1, UINT32_MAX, 0, &value))
        return false;
    dev->firmware.intact = false;
    tlog_device_poke(dev, offset, value, 4);
    return true;
}

static bool cmd_miss_irq(struct tlog_device *dev, const struct words *w)
{
    if (w->count && strcmp(w->word[0], "all") == 0)
        dev->miss_interrupts = UINT32_MAX;
    else
        return number(w, 0, UINT32_MAX, 1, &dev->miss_interrupts);
    return true;
}

static bool cmd_spurious_irq(struct tlog_device *dev, const struct words *w)
{
    uint32_t count;
    if (!number(w, 0, 1000000, 1, &count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        tlog_device_raise(dev, TLOG_PCI_VECTOR_LOG);
    dev->report.interrupts += count;
    return true;
}

static bool cmd_silence(struct tlog_device *dev, const struct words *w)
{
    return on_off(w, &dev->firmware.silent);
}

static bool cmd_restart(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    if (tlog_device_firmware_start(dev, NULL) != CORRAL_OK)
        return false;
    tlog_device_raise(dev, TLOG_PCI_VECTOR_RESET);
    return true;
}

static bool cmd_dead(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    tlog_device_firmware_die(dev);
    return true;
}

/* ---- the queue ---- */

static bool cmd_refuse(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, UINT32_MAX, 0, &dev->refuse_code) && number(w, 1, UINT32_MAX, 1, &dev->refuse_left);
}

static bool cmd_mute(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, UINT32_MAX, 1, &dev->mute_left);
}

static bool cmd_late(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, 60000, 0, &dev->late_ms) && number(w, 1, UINT32_MAX, 1, &dev->late_left);
}

static bool cmd_stale(struct tlog_device *dev, const struct words *w)
{
    uint32_t count;
    return number(w, 0, ARC_ENTRIES_MAX, 1, &count) && tlog_device_queue_stale(dev, count) == count;
}

/* Word `offset` of the control block, or a queue header's; `right` undoes it. */
static bool lie_about(struct tlog_device *dev, const struct words *w, uint32_t offset, uint32_t keep,
                      uint32_t right)
{
    uint32_t value;
    if (dev->report.dead || !number(w, 0, UINT32_MAX, right, &value))
        return false;
    tlog_device_bar_write(dev, offset, (tlog_device_bar_read(dev, offset) & keep) | (value & ~keep));
    return true;
}

static bool cmd_entries(struct tlog_device *dev, const struct words *w)
{
    return lie_about(dev, w, CONTROL_BLOCK + ARC_CONTROL_SHAPE, ~0xFFu, ARC_ENTRIES_DEFAULT);
}

static bool cmd_queue_address(struct tlog_device *dev, const struct words *w)
{
    return lie_about(dev, w, CONTROL_BLOCK + ARC_CONTROL_QUEUE_ADDRESS, 0, FIRST_QUEUE);
}

static bool cmd_response_pointer(struct tlog_device *dev, const struct words *w)
{
    return lie_about(dev, w, FIRST_QUEUE + ARC_QUEUE_RESPONSE_WPTR, 0, 0);
}

static bool cmd_boot_status(struct tlog_device *dev, const struct words *w)
{
    return lie_about(dev, w, TLOG_PCI_SCRATCH(ARC_SCRATCH_BOOT_STATUS), 0, ARC_BOOT_STATUS_READY);
}

/* ---- records ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool cmd_log(struct tlog_device *dev, const struct words *w)
{
    char text[sizeof(dev->line)];
    uint32_t length = 0, level, source;
    if (!number(w, 0, 255, 0, &level) || !number(w, 1, 255, 0, &source))
        return false;
    for (const char *at = w->count > 2 ? w->rest[2] : ""; *at && length < sizeof(text); at++) {
        /* \xNN is any byte, NUL included */
        if (at[0] == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 && hex_digit(at[3]) >= 0) {
            text[length++] = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
            at += 3;
        } else {
            text[length++] = *at;
        }
    }
    return dev->firmware.running &&
           tlog_producer_log(&dev->firmware.producer, (uint8_t)level, (uint8_t)source, text, length);
}

static bool cmd_batch(struct tlog_device *dev, const struct words *w)
{
    uint8_t bytes[sizeof(dev->line) / 2];
    const char *hex = w->word[0];
    size_t size = strlen(hex);
    if (size % 2 != 0 || size / 2 > sizeof(bytes))
        return false;
    for (size_t i = 0; i < size; i += 2) {
        int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return tlog_device_raw_batch(dev, bytes, size / 2);
}

static bool cmd_generate(struct tlog_device *dev, const struct words *w)
{
    uint32_t rate;
    if (w->number[0] > INT64_MAX || !number(w, 1, 1000000, dev->rate, &rate))
        return false;
    dev->left = w->number[0];
    dev->rate = rate;
    dev->next_record_ns = tlog_device_now();
    return true;
}

static bool cmd_level(struct tlog_device *dev, const struct words *w)
{
    uint32_t value;
    if (!number(w, 0, 255, 0, &value))
        return false;
    dev->level = (uint8_t)value;
    return true;
}

static bool cmd_length(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, 4068, 0, &dev->length);
}

static bool cmd_version(struct tlog_device *dev, const struct words *w)
{
    uint32_t value;
    if (!number(w, 0, 255, 0, &value))
        return false;
    dev->version = (uint8_t)value;
    return true;
}

static bool cmd_compatible(struct tlog_device *dev, const struct words *w)
{
    return on_off(w, &dev->compatible);
}

static bool cmd_flood(struct tlog_device *dev, const struct words *w)
{
    return on_off(w, &dev->flood);
}

static bool cmd_period(struct tlog_device *dev, const struct words *w)
{
    return number(w, 0, 3600000, 0, &dev->options.period_ms);
}

static bool cmd_quit(struct tlog_device *dev, const struct words *w)
{
    (void)w;
    dev->quit = true;
    return true;
}

static const struct command commands[] = {
    {"bad-magic", 0, 1, cmd_bad_magic},
    {"write-offset", 1, 1, cmd_write_offset},
    {"buffer-size", 1, 1, cmd_buffer_size},
    {"msg-size", 1, 2, cmd_msg_size},
    {"torn", 0, 0, cmd_torn},
    {"torn-header", 0, 0, cmd_torn_header},
    {"owner-next", 1, 1, cmd_owner_next},
    {"flip", 0, 0, cmd_flip},
    {"scribble", 0, 1, cmd_scribble},
    {"owner", 1, 1, cmd_owner},
    {"poke", 2, 2, cmd_poke},
    {"miss-irq", 1, 1, cmd_miss_irq},
    {"spurious-irq", 0, 1, cmd_spurious_irq},
    {"silence", 0, 1, cmd_silence},
    {"restart", 0, 0, cmd_restart},
    {"dead", 0, 0, cmd_dead},
    {"refuse", 1, 2, cmd_refuse},
    {"mute", 0, 1, cmd_mute},
    {"late", 1, 2, cmd_late},
    {"stale", 0, 1, cmd_stale},
    {"entries", 0, 1, cmd_entries},
    {"queue-address", 0, 1, cmd_queue_address},
    {"response-pointer", 0, 1, cmd_response_pointer},
    {"boot-status", 0, 1, cmd_boot_status},
    {"log", 2, WORDS_MAX, cmd_log},
    {"batch", 1, 1, cmd_batch},
    {"generate", 1, 2, cmd_generate},
    {"level", 1, 1, cmd_level},
    {"length", 1, 1, cmd_length},
    {"version", 1, 1, cmd_version},
    {"compatible", 0, 1, cmd_compatible},
    {"flood", 0, 1, cmd_flood},
    {"period", 1, 1, cmd_period},
    {"quit", 0, 0, cmd_quit},
};

static void status(const struct tlog_device *dev, char *reply, size_t size)
{
    struct tlog_device_report r;
    tlog_device_get_report(dev, &r);
    snprintf(reply, size,
             "{\"generation\":%" PRIu32 ",\"connected\":%s,\"active\":%s,\"dead\":%s,\"address\":%" PRIu64
             ",\"size\":%" PRIu32 ",\"owner\":%" PRIu32 ",\"setups\":%" PRIu32 ",\"refused\":%" PRIu32
             ",\"releases\":%" PRIu32 ",\"requests\":%" PRIu32 ",\"doorbells\":%" PRIu32
             ",\"interrupts\":%" PRIu32 ",\"withheld\":%" PRIu32 ",\"logged\":%" PRIu64
             ",\"delivered\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"batches\":%" PRIu64 ",\"records\":%" PRIu64
             ",\"left\":%" PRIu64 ",\"staged\":%" PRIu32 ",\"violations\":%" PRIu32 ",\"remarks\":%" PRIu32
             "}",
             r.generation, r.connected ? "true" : "false", r.active ? "true" : "false",
             r.dead ? "true" : "false", r.address, r.size, r.owner, r.setups, r.refused, r.releases,
             r.requests, r.doorbells, r.interrupts, r.withheld, r.logged, r.delivered, r.dropped, r.batches,
             r.records, r.left, r.staged, r.violations, r.remarks);
}

/* Cut a copy of the line into words; `rest` keeps pointing into the line as it came. */
static const char *split(const char *line, char *copy, size_t size, struct words *w, bool *fits)
{
    const char *name = NULL;
    *w = (struct words){0};
    *fits = strlen(line) < size;
    snprintf(copy, size, "%s", line);
    for (char *at = copy; *at;) {
        at += strspn(at, " ");
        if (!*at)
            break;
        size_t start = (size_t)(at - copy);
        char *word = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = 0;
        if (!name) {
            name = word;
        } else if (w->count < WORDS_MAX) {
            w->word[w->count] = word;
            w->rest[w->count] = line + start;
            w->number[w->count++] = parse_number(word);
        }
    }
    return name;
}

bool tlog_device_command(struct tlog_device *dev, const char *line, char *reply, size_t reply_size)
{
    char copy[sizeof(dev->line)];
    struct words w;
    bool fits;
    const char *name = split(line, copy, sizeof(copy), &w, &fits);
    if (!name || !fits) {
        snprintf(reply, reply_size, "error: %s", fits ? "an empty command" : "a command that is too long");
        return false;
    }
    if (strcmp(name, "status") == 0) {
        status(dev, reply, reply_size);
        return true;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const struct command *c = &commands[i];
        if (strcmp(c->name, name) != 0)
            continue;
        bool done = w.count >= c->least && w.count <= c->most && c->run(dev, &w);
        snprintf(reply, reply_size, "%s", done ? "ok" : "error: not possible with these words, or not now");
        return done;
    }
    snprintf(reply, reply_size, "error: there is no such command");
    return false;
}
