/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled by test_symbol_targets.c for every machine there is a compiler for: functions inlined two deep,
 * whose calls are found by their marks. Not part of the test program itself. */
volatile unsigned fixture_sink = 1;

static inline __attribute__((always_inline)) unsigned leaf(unsigned x)
{
    fixture_sink = x; /* LEAF */
    return x * 0x1234567u + fixture_sink;
}

static inline __attribute__((always_inline)) unsigned middle(unsigned x)
{
    unsigned y = fixture_sink;
    y += leaf(x + y); /* CALL LEAF */
    return y;
}

unsigned outer(unsigned x);
__attribute__((noinline)) unsigned outer(unsigned x)
{
    unsigned y = fixture_sink;
    y ^= middle(x); /* CALL MIDDLE */
    fixture_sink = y;
    return y;
}

unsigned plain(unsigned x);
__attribute__((noinline)) unsigned plain(unsigned x)
{
    fixture_sink = x;
    return fixture_sink + 0x7654321u;
}

void _start(void);
void _start(void)
{
    for (;;)
        fixture_sink = outer(fixture_sink) + plain(fixture_sink);
}
