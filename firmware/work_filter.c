/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals and fixed-point filters of the firmware. With the DSP extension the FIR filter multiplies pairs
 * (SMLAD); without it (host tests) the same sums are done one by one. It must give the same result either
 * way.
 */
#include "firmware/work.h"

#ifdef __ARM_FEATURE_DSP
#include <arm_acle.h>
#endif

const int16_t work_low_pass[WORK_TAPS] = {
    54,   54,   44,   0,    -97,  -248, -415, -521, -459, -131, 517,  1463, 2594, 3727, 4645, 5159,
    5159, 4645, 3727, 2594, 1463, 517,  -131, -459, -521, -415, -248, -97,  0,    44,   54,   54,
};

WORK_APART uint32_t noise_next(uint32_t *state)
{
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

WORK_APART void signal_block(uint32_t *noise, uint32_t *phase, uint32_t step, int16_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        *phase += step;
        int32_t ramp = (int32_t)(*phase >> 17); /* 0 to 32767 */
        int32_t triangle = (ramp < 16384 ? ramp : 32767 - ramp) - 8192;
        out[i] = (int16_t)(triangle + (int32_t)(noise_next(noise) >> 19) - 4096);
    }
}

#ifdef __ARM_FEATURE_DSP
static int32_t pair(const int16_t *at)
{
    int32_t both;
    __builtin_memcpy(&both, at, sizeof(both));
    return both;
}
#endif

static int16_t saturate16(int32_t value)
{
    if (value > INT16_MAX)
        return INT16_MAX;
    return value < INT16_MIN ? INT16_MIN : (int16_t)value;
}

WORK_APART void fir_filter(const int16_t taps[WORK_TAPS], const int16_t *in, int16_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int32_t sum = 0;
#pragma GCC unroll 4
        for (uint32_t k = 0; k < WORK_TAPS; k += 2) {
#ifdef __ARM_FEATURE_DSP
            sum = __smlad(pair(taps + k), pair(in + i + k), sum);
#else
            sum += taps[k] * in[i + k];
            sum += taps[k + 1] * in[i + k + 1];
#endif
        }
        out[i] = saturate16(sum >> 15);
    }
}

WORK_APART int32_t iir_filter(struct biquad *sections, uint32_t count, int32_t x)
{
    for (uint32_t i = 0; i < count; i++) {
        struct biquad *s = sections + i;
        int64_t sum = (int64_t)s->b0 * x + (int64_t)s->b1 * s->x1 + (int64_t)s->b2 * s->x2 +
                      (int64_t)s->a1 * s->y1 + (int64_t)s->a2 * s->y2;
        int64_t y = sum >> 30;
        if (y > INT32_MAX)
            y = INT32_MAX;
        else if (y < INT32_MIN)
            y = INT32_MIN;
        s->x2 = s->x1;
        s->x1 = x;
        s->y2 = s->y1;
        s->y1 = (int32_t)y;
        x = (int32_t)y;
    }
    return x;
}

WORK_APART int64_t signal_energy(const int16_t *in, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
#ifdef __ARM_FEATURE_DSP
        int32_t both = pair(in + i);
        sum = __smlald(both, both, sum);
#else
        sum += (int64_t)in[i] * in[i] + (int64_t)in[i + 1] * in[i + 1];
#endif
    }
    return sum;
}
