/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ST-Link front: the TCP protocol of ST's stlink-server with one probe behind it, an ST-Link V3 on SWD.
 * What OpenOCD 0.12's adapter "st-link" with its backend "tcp" says, and no more.
 *
 * A message is a server command; command 5 carries a 16-byte command for the probe and the data of one USB
 * transfer. Its answer always has the size that the client asked for, zero where there is nothing to say, so
 * that a probe's status of 0 (which is none) tells that a command is not known here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sim/front_port.h"

#define SERVER_REFRESH 0x00u
#define SERVER_COUNT   0x01u
#define SERVER_INFO    0x02u
#define SERVER_OPEN    0x03u
#define SERVER_CLOSE   0x04u
#define SERVER_USB     0x05u
#define SERVER_VERSION 0x06u

#define SERVER_OK            0x00000001u
#define SERVER_BAD_PARAMETER 0x00001002u
#define SERVER_NOT_OPEN      0x00001003u
#define SERVER_API           3u /* below that OpenOCD does not use RW_MISC */
#define USB_HEADER           32u
#define USB_MAX              65536u /* data of one transfer */
#define INFO_SIZE            41u
#define CONNECTION           1u
#define DEVICE               1u

#define VID          0x0483u
#define PID          0x374Fu /* V3 */
#define VERSION_JTAG 13u

#define MODE_IDLE  0x01u
#define MODE_DEBUG 0x02u
#define ENTER_SWD  0xA3u
#define DP_PORT    0xFFFFu

#define STATUS_OK        0x80u
#define STATUS_AP_WAIT   0x10u
#define STATUS_AP_FAULT  0x11u
#define STATUS_AP_ERROR  0x12u
#define STATUS_DP_OFFSET 0x04u /* the same of the debug port */
#define STATUS_NO_IDCODE 0x09u
#define STATUS_BAD_AP    0x1Du

#define MISC_MAX     2048u
#define MISC_ADDRESS 1u
#define MISC_WRITE   2u
#define MISC_READ    3u
#define MISC_AP      5u

#define DP_CTRL_STAT 0x4u
#define POWER_UP     0x50000000u
#define AP_IDR       0xFCu
#define RESET_PULSE  1000u /* wire clocks */

struct stlink {
    struct front front;
    struct front_port port;
    bool open, debugging;
    uint8_t status; /* of the last memory access */
    uint32_t misc_count;
    uint32_t misc_value[MISC_MAX], misc_status[MISC_MAX];
};

/* One transfer: what it carries out, or the room for what it brings back. */
struct usb {
    const uint8_t *command; /* 16 bytes */
    const uint8_t *out;
    uint8_t *in; /* zeroed */
    uint32_t size;
};

/* A field of an answer, if the client asked for so much. */
static void reply(const struct usb *u, uint32_t at, unsigned size, uint32_t value)
{
    if (u->in && at + size <= u->size)
        store_le(u->in + at, size, value);
}

static uint8_t status_of(unsigned ack, bool ap)
{
    if (ack == FRONT_ACK_OK)
        return STATUS_OK;
    uint8_t status = ack == FRONT_ACK_WAIT    ? STATUS_AP_WAIT
                     : ack == FRONT_ACK_FAULT ? STATUS_AP_FAULT
                                              : STATUS_AP_ERROR;
    return ap ? status : status + STATUS_DP_OFFSET;
}

/* Connect: power up, no errors of before. */
static uint8_t enter(struct stlink *s, uint8_t mode)
{
    uint32_t value = POWER_UP;

    if (mode != ENTER_SWD)
        return STATUS_NO_IDCODE;
    front_port_begin(&s->port, &s->front);
    front_port_dp(&s->port, false, DP_CTRL_STAT, &value); /* if there were errors, this one clears them */
    unsigned ack = front_port_dp(&s->port, false, DP_CTRL_STAT, &value);
    s->debugging = ack == FRONT_ACK_OK;
    return status_of(ack, false);
}

static uint8_t dap_register(struct stlink *s, const struct usb *u, bool read)
{
    uint32_t port = load_le(u->command + 2, 2), value = read ? 0 : load_le(u->command + 6, 4);
    uint8_t reg = u->command[4];
    unsigned ack = 0;

    if (port != DP_PORT && port >= FRONT_PORTS)
        return STATUS_BAD_AP;
    if (port == DP_PORT)
        ack = front_port_dp(&s->port, read, reg, &value);
    else
        ack = front_port_ap(&s->port, (uint8_t)port, read, reg, &value);
    if (read && ack == FRONT_ACK_OK)
        reply(u, 4, 4, value);
    return status_of(ack, port != DP_PORT);
}

static uint8_t open_ap(struct stlink *s, uint8_t ap)
{
    uint32_t idr = 0;
    unsigned ack = front_port_ap(&s->port, ap, true, AP_IDR, &idr);

    return ack == FRONT_ACK_OK && idr == 0 ? STATUS_BAD_AP : status_of(ack, true);
}

static void memory(struct stlink *s, const struct usb *u, unsigned size, bool read, bool increment)
{
    uint32_t length = load_le(u->command + 6, 2);
    struct front_block b = {
        .ap = u->command[8],
        .size = (uint8_t)size,
        .increment = increment,
        .address = load_le(u->command + 2, 4),
        .length = length < u->size ? length : u->size,
    };

    if (read != (u->in != NULL)) /* the direction of the transfer is not the command's */
        return;
    s->port.csw[b.ap] = load_le(u->command + 9, 3) << 8;
    s->status = status_of(front_port_memory(&s->port, &b, u->out, u->in), true);
}

/* Single words, many in one transfer. False = its sizes make no sense. */
static bool misc_out(struct stlink *s, const struct usb *u)
{
    uint32_t count = load_le(u->command + 2, 4);
    uint32_t values = (count + 3u) & ~3u;
    struct front_block b = {.size = 4, .increment = true, .length = 4};

    s->misc_count = 0;
    if (!u->out || count > MISC_MAX || values + 4 * count > u->size)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = load_le(u->out + values + 4 * i, 4);
        uint8_t word[4] = {0}, status = STATUS_OK;
        bool read = false;
        switch (u->out[i]) {
        case MISC_AP:
            b.ap = (uint8_t)value;
            break;
        case MISC_ADDRESS:
            b.address = value;
            break;
        case MISC_READ:
        case MISC_WRITE:
            read = u->out[i] == MISC_READ;
            if (read)
                b.address = value;
            status = status_of(
                front_port_memory(&s->port, &b, read ? NULL : u->out + values + 4 * i, read ? word : NULL),
                true);
            break;
        default:
            status = STATUS_AP_ERROR;
            break;
        }
        s->misc_value[i] = load_le(word, 4);
        s->misc_status[i] = status;
    }
    s->misc_count = count;
    return true;
}

static void misc_in(const struct stlink *s, const struct usb *u)
{
    for (uint32_t i = 0; i < s->misc_count; i++) {
        reply(u, 4 * i, 4, s->misc_value[i]);
        reply(u, 4 * (s->misc_count + i), 4, s->misc_status[i]);
    }
}

static void frequencies(const struct stlink *s, const struct usb *u)
{
    uint32_t khz = board_get_config(s->front.board)->swclk_hz / 1000;

    reply(u, 0, 1, STATUS_OK);
    reply(u, 4, 4, khz);
    if (u->command[1] == 0x62) { /* the list of all there are */
        reply(u, 8, 1, 1);
        reply(u, 12, 4, khz);
    }
}

/* The memory commands. False = it is none. */
static bool memory_command(struct stlink *s, const struct usb *u)
{
    static const struct {
        uint8_t code, size;
        bool read, increment;
    } commands[] = {
        {0x07, 4, true, true}, {0x08, 4, false, true}, {0x0C, 1, true, true},   {0x0D, 1, false, true},
        {0x47, 2, true, true}, {0x48, 2, false, true}, {0x50, 4, false, false}, {0x54, 4, true, false},
    };

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (commands[i].code == u->command[1]) {
            memory(s, u, commands[i].size, commands[i].read, commands[i].increment);
            return true;
        }
    return false;
}

static uint32_t debug_command(struct stlink *s, const struct usb *u)
{
    uint32_t value = 0;

    if (memory_command(s, u))
        return SERVER_OK;
    switch (u->command[1]) {
    case 0x30:
        reply(u, 0, 1, enter(s, u->command[2]));
        break;
    case 0x21:
        s->debugging = false;
        break;
    case 0x31:
        reply(u, 0, 1, status_of(front_port_dp(&s->port, true, 0, &value), false));
        reply(u, 4, 4, value);
        break;
    case 0x3B:
    case 0x3E:
        reply(u, 0, 1, s->status);
        reply(u, 4, 4, s->port.fault_address);
        break;
    case 0x3C: /* nRESET: 0 low, 1 high, 2 a pulse */
        board_pin_reset(s->front.board, u->command[2] != 1);
        if (u->command[2] == 2)
            board_dap_idle(s->front.board, RESET_PULSE);
        s->front.pulls_reset = u->command[2] == 0;
        board_pin_reset(s->front.board, s->front.pulls_reset);
        reply(u, 0, 1, STATUS_OK);
        break;
    case 0x45:
    case 0x46:
        reply(u, 0, 1, dap_register(s, u, u->command[1] == 0x45));
        break;
    case 0x4B:
        reply(u, 0, 1, open_ap(s, u->command[2]));
        break;
    case 0x4C:
        reply(u, 0, 1, STATUS_OK);
        break;
    case 0x51:
        return misc_out(s, u) ? SERVER_OK : SERVER_BAD_PARAMETER;
    case 0x52:
        misc_in(s, u);
        break;
    case 0x61:
    case 0x62:
        frequencies(s, u);
        break;
    default:
        break;
    }
    return SERVER_OK;
}

static uint32_t probe_command(struct stlink *s, const struct usb *u)
{
    switch (u->command[0]) {
    case 0xF1: /* version, big-endian, and with 0 in it the next command is wanted */
        reply(u, 0, 2, 0x0030);
        reply(u, 2, 2, VID);
        reply(u, 4, 2, PID);
        break;
    case 0xFB:
        reply(u, 0, 1, 3);
        reply(u, 2, 1, VERSION_JTAG);
        reply(u, 8, 2, VID);
        reply(u, 10, 2, PID);
        break;
    case 0xF5:
        reply(u, 0, 2, s->debugging ? MODE_DEBUG : MODE_IDLE);
        break;
    case 0xF7: /* 2.4 V times the second over the first: 3.3 V */
        reply(u, 0, 4, 1600);
        reply(u, 4, 4, 2200);
        break;
    case 0xF2:
        return debug_command(s, u);
    default:
        break;
    }
    return SERVER_OK;
}

static uint8_t *room_for(struct front_io *io, size_t size)
{
    if (io->room - io->filled < size)
        return NULL;
    uint8_t *answer = io->out + io->filled;
    memset(answer, 0, size);
    io->filled += size;
    return answer;
}

/* Returns false when the message, or the room for its answer, is not whole yet. */
static bool usb_message(struct stlink *s, struct front_io *io, const uint8_t *m, size_t offered)
{
    if (offered < USB_HEADER)
        return false;
    bool outward = m[24] == 0;
    uint32_t size = load_le(m + 28, 4);
    if (size > USB_MAX || m[24] > 3) {
        io->close = true;
        return false;
    }
    if (offered < USB_HEADER + (outward ? size : 0u))
        return false;
    uint8_t *answer = room_for(io, 4 + (outward ? 0u : size));
    if (!answer)
        return false;
    struct usb u = {.command = m + 8,
                    .size = size,
                    .out = outward ? m + USB_HEADER : NULL,
                    .in = outward ? NULL : answer + 4};
    bool good = s->open && load_le(m + 4, 4) == CONNECTION;
    store_le(answer, 4, good ? probe_command(s, &u) : SERVER_NOT_OPEN);
    io->used += USB_HEADER + (outward ? size : 0u);
    return true;
}

/* The size of a server command, of its answer, and what the answer says. 0 = no such command. */
static size_t server_sizes(uint8_t command, size_t *answer)
{
    static const struct {
        uint8_t size, answer;
    } sizes[] = {
        [SERVER_REFRESH] = {2, 4}, [SERVER_COUNT] = {1, 4}, [SERVER_INFO] = {8, 4 + INFO_SIZE},
        [SERVER_OPEN] = {8, 8},    [SERVER_CLOSE] = {8, 4}, [SERVER_VERSION] = {4, 16},
    };

    if (command >= sizeof(sizes) / sizeof(sizes[0]))
        return 0;
    *answer = sizes[command].answer;
    return sizes[command].size;
}

static void server_command(struct stlink *s, const uint8_t *m, uint8_t *answer)
{
    store_le(answer, 4, SERVER_OK); /* of SERVER_COUNT the number */
    switch (m[0]) {
    case SERVER_INFO:
        if (m[1] != 0) {
            store_le(answer, 4, SERVER_BAD_PARAMETER);
            break;
        }
        store_le(answer + 4, 4, DEVICE);
        memcpy(answer + 8, "CORRALBOARD", sizeof("CORRALBOARD"));
        store_le(answer + 40, 2, VID);
        store_le(answer + 42, 2, PID);
        break;
    case SERVER_OPEN:
        if (load_le(m + 4, 4) != DEVICE) {
            store_le(answer, 4, SERVER_BAD_PARAMETER);
            break;
        }
        s->open = true;
        store_le(answer + 4, 4, CONNECTION);
        break;
    case SERVER_CLOSE:
        s->open = s->debugging = false;
        break;
    case SERVER_VERSION:
        store_le(answer, 4, SERVER_API);
        store_le(answer + 4, 4, 2);
        store_le(answer + 8, 4, 1);
        break;
    default:
        break;
    }
}

static bool message(struct stlink *s, struct front_io *io)
{
    const uint8_t *m = io->in + io->used;
    size_t offered = io->size - io->used, answer_size = 0;

    if (offered == 0)
        return false;
    if (m[0] == SERVER_USB)
        return usb_message(s, io, m, offered);
    size_t size = server_sizes(m[0], &answer_size);
    if (size == 0) {
        io->close = true;
        return false;
    }
    if (offered < size)
        return false;
    uint8_t *answer = room_for(io, answer_size);
    if (!answer)
        return false;
    server_command(s, m, answer);
    io->used += size;
    return true;
}

static void stlink_work(struct front *f, struct front_io *io)
{
    while (!io->close && message((struct stlink *)f, io))
        ;
}

static void stlink_begin(struct front *f)
{
    struct stlink *s = (struct stlink *)f;

    front_port_begin(&s->port, f);
    s->open = s->debugging = false;
    s->status = STATUS_OK;
    s->misc_count = 0;
}

static struct front *stlink_make(struct board *b)
{
    struct stlink *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->front = (struct front){.kind = &front_stlink, .board = b};
    stlink_begin(&s->front);
    return &s->front;
}

static void stlink_release(struct front *f)
{
    free(f);
}

const struct front_kind front_stlink = {
    .name = "stlink",
    .make = stlink_make,
    .release = stlink_release,
    .begin = stlink_begin,
    .work = stlink_work,
};
