/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled for Arm by test_symbol_compilers.c: functions that stay apart, one that the linker throws away,
 * one of assembly without a size, an alias. Not part of the test program itself. */
volatile int fixture_data = 3;
const int fixture_table[4] = {1, 2, 3, 4};

int dead_function(int x);
int dead_function(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += fixture_table[i & 3] * fixture_data;
    for (int i = 0; i < x; i++)
        sum ^= fixture_table[i & 1] + fixture_data;
    return sum;
}

__attribute__((noinline)) static int local_one(int x)
{
    int sum = fixture_data;
    for (int i = 0; i < x; i++)
        sum += fixture_table[i & 3];
    return sum;
}

__attribute__((noinline)) int public_two(int x)
{
    fixture_data = x;
    return local_one(x + 1) * 0x12345679;
}

int alias_of_two(int x) __attribute__((weak, alias("public_two")));

__asm__(".section .text.bare,\"ax\",%progbits\n"
        ".type bare, %function\n"
        ".global bare\n"
        ".thumb_func\n"
        "bare:\n"
        "nop\n"
        "nop\n"
        "bx lr\n"
        ".text\n");
void bare(void);

void reset(void);
void reset(void)
{
    for (;;) {
        fixture_data = public_two(fixture_data) + alias_of_two(2);
        bare();
    }
}
