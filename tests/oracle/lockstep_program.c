/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of the firmware lockstep test: CRC, sorting, parsing and DSP arithmetic, freestanding, for
 * ever.
 *
 * Entered at lockstep_main with a stack; every round begins with other data and leaves its results in RAM.
 */
#include <stddef.h>
#include <stdint.h>

#define WORDS 64
#define TEXT  96

struct results {
    uint32_t round, crc, sum, median, parsed, dsp, quotient;
    int64_t energy;
};

/* At the start of the RAM (lockstep_program.ld): who runs it can see how many rounds are done. */
__attribute__((section(".results"))) struct results results;
static uint32_t data[WORDS];
static char text[TEXT];
static int16_t samples[WORDS], taps[8];

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed;
}

static uint32_t crc32(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0u;

    while (n--) {
        crc ^= *p++;
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static void sort(uint32_t *v, int low, int high)
{
    int i = low, j = high;
    uint32_t pivot = v[(low + high) / 2];

    while (i <= j) {
        while (v[i] < pivot)
            i++;
        while (v[j] > pivot)
            j--;
        if (i <= j) {
            uint32_t t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
    }
    if (low < j)
        sort(v, low, j);
    if (i < high)
        sort(v, i, high);
}

static void print_decimal(char **p, uint32_t v)
{
    char digit[10];
    int n = 0;

    do {
        digit[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n)
        *(*p)++ = digit[--n];
}

/* name=value pairs, a switch on the first letter. */
static uint32_t parse(const char *p)
{
    uint32_t total = 0;

    while (*p) {
        uint32_t weight, v = 0;
        switch (*p++) {
        case 'a':
            weight = 3;
            break;
        case 'b':
            weight = 5;
            break;
        case 'c':
            weight = 7;
            break;
        case 'd':
            weight = 11;
            break;
        default:
            weight = 1;
            break;
        }
        if (*p++ != '=')
            return total;
        while (*p >= '0' && *p <= '9')
            v = v * 10 + (uint32_t)(*p++ - '0');
        total += weight * v;
        if (*p == ' ')
            p++;
    }
    return total;
}

#if __ARM_ARCH == 6 /* without CLZ, which the compiler calls, and without the DSP extension */
int __clzsi2(uint32_t v);
int __clzsi2(uint32_t v)
{
    int n = 0;
    while (n < 32 && !(v >> (31 - n)))
        n++;
    return n;
}

static int32_t saturating_add(int32_t a, int32_t b)
{
    int64_t r = (int64_t)a + b;
    return r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : (int32_t)r;
}

static int32_t dual_multiply(uint32_t a, uint32_t b, int32_t sum)
{
    return sum + (int16_t)a * (int16_t)b + (int16_t)(a >> 16) * (int16_t)(b >> 16);
}
#else
static int32_t saturating_add(int32_t a, int32_t b)
{
    int32_t r;
    __asm__("qadd %0, %1, %2" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

static int32_t dual_multiply(uint32_t a, uint32_t b, int32_t sum)
{
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}
#endif

static uint32_t filter(void)
{
    int32_t out = 0;

    for (int n = 0; n + 8 <= WORDS; n++) {
        int32_t sum = 0;
        for (int k = 0; k < 8; k += 2) {
            uint32_t x = (uint16_t)samples[n + k] | (uint32_t)(uint16_t)samples[n + k + 1] << 16;
            uint32_t h = (uint16_t)taps[k] | (uint32_t)(uint16_t)taps[k + 1] << 16;
            sum = dual_multiply(x, h, sum);
        }
        out = saturating_add(out, sum);
        results.energy += (int64_t)sum * sum;
    }
    return (uint32_t)out;
}

void lockstep_main(void)
{
    uint32_t seed = 1;

    for (;;) {
        char *p = text;
        results.round++;
        for (int k = 0; k < WORDS; k++) {
            data[k] = next(&seed);
            samples[k] = (int16_t)(data[k] >> 16);
            taps[k & 7] = (int16_t)(data[k] >> 3);
        }
        for (char name = 'a'; name < 'f'; name++) {
            *p++ = name;
            *p++ = '=';
            print_decimal(&p, next(&seed) >> 8);
            *p++ = ' ';
        }
        *p = 0;
        results.crc ^= crc32((const uint8_t *)data, sizeof data);
        sort(data, 0, WORDS - 1);
        results.median = data[WORDS / 2];
        results.parsed += parse(text);
        results.dsp ^= filter();
        results.quotient +=
            (uint32_t)((int32_t)seed / (int32_t)(results.round | 1)) + seed / (results.crc | 1);
        for (int k = 0; k < WORDS; k++)
            results.sum += (data[k] << (k & 31)) ^ (uint32_t)__builtin_clz(data[k] | 1);
    }
}
