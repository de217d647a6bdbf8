/* SPDX-License-Identifier: Apache-2.0 */
/* See rsp_frame.h. The peer is not trusted: lengths are checked as the bytes come. */
#include "link/rsp_frame.h"

#define ESCAPE     '}'
#define ESCAPE_XOR 0x20
#define REPEAT     '*'
#define REPEAT_OFF 29 /* a count is sent as a character: n + 29 */
#define REPEAT_MIN ' '
#define REPEAT_MAX '~'

enum { IDLE, DATA, ESCAPED, COUNT, SUM_HIGH, SUM_LOW };

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void begin(struct rsp_frame *f, bool notification)
{
    f->state = DATA;
    f->notification = notification;
    f->broken = f->long_one = false;
    f->sum = 0;
    f->size = 0;
}

static void put(struct rsp_frame *f, uint8_t c)
{
    if (f->size < RSP_FRAME_MAX)
        f->data[f->size++] = c;
    else
        f->long_one = true;
}

static void repeat(struct rsp_frame *f, uint8_t c)
{
    if (f->size == 0 || c < REPEAT_MIN || c > REPEAT_MAX) {
        f->broken = true;
        return;
    }
    uint8_t last = f->data[f->size - 1];
    for (int i = c - REPEAT_OFF; i > 0; i--)
        put(f, last);
}

/* A byte between the start and the '#', which ends the data wherever it stands. */
static void take_data(struct rsp_frame *f, uint8_t c)
{
    if (c == '$') { /* never part of a packet: the last one was cut */
        begin(f, false);
        return;
    }
    if (c == '#') {
        f->broken |= f->state != DATA;
        f->state = SUM_HIGH;
        return;
    }
    f->sum = (uint8_t)(f->sum + c);
    switch (f->state) {
    case ESCAPED:
        put(f, c ^ ESCAPE_XOR);
        f->state = DATA;
        break;
    case COUNT:
        repeat(f, c);
        f->state = DATA;
        break;
    default:
        if (c == ESCAPE)
            f->state = ESCAPED;
        else if (c == REPEAT)
            f->state = COUNT;
        else
            put(f, c);
        break;
    }
}

static enum rsp_frame_event finish(struct rsp_frame *f, int low)
{
    f->state = IDLE;
    f->data[f->size] = '\0';
    if (f->long_one)
        return RSP_FRAME_TOO_LONG;
    if (f->broken || low < 0 || (f->expected | low) != f->sum)
        return RSP_FRAME_BAD;
    return f->notification ? RSP_FRAME_NOTIFICATION : RSP_FRAME_PACKET;
}

enum rsp_frame_event rsp_frame_feed(struct rsp_frame *f, const uint8_t *in, size_t size, size_t *used)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t c = in[i];
        int digit = hex_value(c);
        *used = i + 1;
        switch (f->state) {
        case IDLE:
            if (c == '$' || c == '%')
                begin(f, c == '%');
            else if (c == '+')
                return RSP_FRAME_ACK;
            else if (c == '-')
                return RSP_FRAME_NAK;
            break; /* anything else between packets means nothing */
        case SUM_HIGH:
            f->broken |= digit < 0;
            f->expected = (uint8_t)(digit < 0 ? 0 : digit << 4);
            f->state = SUM_LOW;
            break;
        case SUM_LOW:
            return finish(f, digit);
        default:
            take_data(f, c);
            break;
        }
    }
    *used = size;
    return RSP_FRAME_MORE;
}

size_t rsp_frame_write(const void *data, size_t size, uint8_t *out, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = data;
    size_t n = 0;
    uint8_t sum = 0;
    if (room < 4 || size > (room - 4) / 2)
        return 0;
    out[n++] = '$';
    for (size_t i = 0; i < size; i++) {
        uint8_t c = p[i];
        if (c == '$' || c == '#' || c == ESCAPE || c == REPEAT) {
            out[n++] = ESCAPE;
            sum = (uint8_t)(sum + ESCAPE);
            c ^= ESCAPE_XOR;
        }
        out[n++] = c;
        sum = (uint8_t)(sum + c);
    }
    out[n++] = '#';
    out[n++] = (uint8_t)digits[sum >> 4];
    out[n++] = (uint8_t)digits[sum & 0xF];
    return n;
}
