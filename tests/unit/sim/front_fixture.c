/* SPDX-License-Identifier: Apache-2.0 */
/* See front_fixture.h. The output buffer is checked on its canary: nothing is written behind the room. */
#include "front_fixture.h"

#include <stdlib.h>
#include <string.h>

struct talk *talk_begin(const struct front_kind *kind)
{
    return talk_begin_with(kind, NULL);
}

struct talk *talk_begin_with(const struct front_kind *kind, const struct board_config *config)
{
    struct talk *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->board = board_counting(config, NULL);
    t->front = kind->make(t->board);
    assert_non_null(t->front);
    assert_ptr_equal(t->front->kind, kind);
    kind->begin(t->front);
    return t;
}

void talk_end(struct talk *t)
{
    t->front->kind->release(t->front);
    board_free(t->board);
    free(t);
}

/* As the server works: again while something is taken and the output buffer is empty. */
static void pump(struct talk *t)
{
    for (;;) {
        uint8_t *room = malloc(FRONT_OUT_MAX); /* exactly: a byte too many is an error of the sanitizer's */
        assert_non_null(room);
        struct front_io io = {.in = t->in, .size = t->in_size, .out = room, .room = FRONT_OUT_MAX};
        t->front->kind->work(t->front, &io);
        assert_true(io.used <= t->in_size && io.filled <= FRONT_OUT_MAX);
        size_t keep = io.filled;
        if (keep > sizeof(t->out) - t->out_size)
            keep = sizeof(t->out) - t->out_size;
        memcpy(t->out + t->out_size, room, keep);
        t->out_size += keep;
        free(room);
        memmove(t->in, t->in + io.used, t->in_size - io.used);
        t->in_size -= io.used;
        t->closed |= io.close;
        if (t->closed || io.used == 0)
            return;
    }
}

static void say(struct talk *t, const uint8_t *data, size_t size)
{
    while (size > 0 && !t->closed) {
        size_t n = sizeof(t->in) - t->in_size < size ? sizeof(t->in) - t->in_size : size;
        assert_true(n > 0); /* a message that fits no buffer must close */
        memcpy(t->in + t->in_size, data, n);
        t->in_size += n;
        data += n;
        size -= n;
        pump(t);
    }
}

size_t talk_say(struct talk *t, const void *data, size_t size)
{
    return talk_say_cut(t, data, size, size ? size : 1);
}

size_t talk_say_cut(struct talk *t, const void *data, size_t size, size_t step)
{
    const uint8_t *bytes = data;
    t->out_size = 0;
    for (size_t at = 0; at < size; at += step)
        say(t, bytes + at, size - at < step ? size - at : step);
    return t->out_size;
}

static uint32_t noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void new_client(struct talk *t)
{
    t->in_size = t->out_size = 0;
    t->closed = false;
    t->front->kind->begin(t->front);
}

void talk_nonsense(struct talk *t, const uint8_t *first, size_t first_size)
{
    static uint8_t message[1024];
    uint32_t seed = 1;
    uint64_t said = 0;
    for (unsigned round = 0; said < 1u << 20; round++) {
        size_t size = 1 + noise(&seed) % sizeof(message);
        for (size_t i = 0; i < size; i++)
            message[i] = (uint8_t)(noise(&seed) & (round % 3 == 0 ? 0xFFu : noise(&seed)));
        if (round % 2)
            memcpy(message, first, first_size < size ? first_size : size);
        t->out_size = 0;
        talk_say(t, message, size);
        said += size;
        if (t->closed || round % 16 == 0)
            new_client(t);
    }
    new_client(t);
}
