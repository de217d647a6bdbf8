# SPDX-License-Identifier: Apache-2.0
"""Writes a C program of many functions, each with functions inlined into it some levels deep: what a profile of a
large firmware has to name. No library is needed, so it compiles for any target. The same seed, the same text."""
import os
import random

LEAVES, MIDDLES, SPREADS = 24, 40, 20


def leaves(rng):
    lines = ["extern volatile unsigned sink;", ""]
    for i in range(LEAVES):
        lines += [f"static inline unsigned leaf_{i}(unsigned x)", "{",
                  f"    x ^= x << {rng.randrange(1, 14)};",
                  f"    sink = x + {rng.randrange(1, 999)};",
                  f"    return x * {rng.randrange(3, 99999)}u;", "}", ""]
    return lines


def middles(rng):
    lines = ['#include "leaves.h"', ""]
    for i in range(MIDDLES):
        first, second = rng.randrange(LEAVES), rng.randrange(LEAVES)
        lines += [f"static inline unsigned middle_{i}(unsigned x, unsigned y)", "{",
                  f"    if (x > {rng.randrange(10, 500)}u)",
                  f"        y += leaf_{first}(x);",
                  "    else",
                  f"        y -= leaf_{second}(y ^ x);"]
        if i:
            lines.append(f"    y += {'middle_%d(y, x)' % rng.randrange(i) if i % 3 == 0 else 'leaf_%d(y)' % first};")
        lines += ["    return y;", "}", ""]
    for i in range(SPREADS):
        lines += [f"static inline unsigned spread_{i}(unsigned n)", "{", "    unsigned sum = sink;",
                  "    for (unsigned i = 0; i < n; i++) {",
                  f"        sum += middle_{rng.randrange(MIDDLES)}(sum, i);",
                  "    }", "    return sum;", "}", ""]
    return lines


def part(rng, number, count, small):
    lines = ['#include "middles.h"', "", f"int part_{number}_table[16];", ""]
    for i in range(small):
        lines += [f"unsigned small_{number}_{i}(unsigned x)", "{",
                  f"    return leaf_{rng.randrange(LEAVES)}(x + {i}u);", "}", ""]
    for i in range(count):
        name = f"work_{number}_{i}"
        callee = f"work_{number}_{rng.randrange(i)}(x)" if i else "x"
        kind = i % 4
        if kind == 0:
            # Called with constants only: compilers make copies of it for them.
            lines += [f"static __attribute__((noinline)) unsigned fixed_{number}_{i}(unsigned x, unsigned how)", "{",
                      "    if (how == 3)", f"        return leaf_{i % LEAVES}(x);",
                      f"    return middle_{i % MIDDLES}(x, how);", "}", ""]
        lines += [f"unsigned {name}(unsigned x)", "{", "    unsigned y = sink;"]
        if kind == 0:
            lines += [f"    y += fixed_{number}_{i}(x, 3);"]
        elif kind == 1:
            lines += ["    switch (x & 7) {"]
            for c in range(6):
                lines += [f"    case {c}:", f"        y += leaf_{rng.randrange(LEAVES)}(y + {c});", "        break;"]
            lines += ["    default:", f"        y ^= spread_{rng.randrange(SPREADS)}(x & 15);", "    }"]
        elif kind == 2:
            lines += [f"    y = spread_{rng.randrange(SPREADS)}(y & 31);",
                      f"    part_{number}_table[x & 15] = (int)y;"]
        lines += [f"    y += middle_{rng.randrange(MIDDLES)}(x, y);",
                  f"    if (__builtin_expect(y == {rng.randrange(1, 1000)}u, 0))",
                  f"        y += {callee};", "    return y;", "}", ""]
    calls = " + ".join(f"work_{number}_{i}(x)" for i in range(0, count, 7))
    lines += [f"unsigned part_{number}(unsigned x)", "{", f"    return {calls};", "}", ""]
    return lines


def write(folder, parts=4, functions=48, small=500, seed=1):
    """Returns the names of the C files."""
    rng = random.Random(seed)
    texts = {"leaves.h": leaves(rng), "middles.h": middles(rng)}
    for n in range(parts):
        texts[f"part_{n}.c"] = part(rng, n, functions, small)
    calls = " + ".join(f"part_{n}(sink)" for n in range(parts))
    texts["start.c"] = ["volatile unsigned sink;"] + [f"unsigned part_{n}(unsigned x);" for n in range(parts)] + [
        "void _start(void);", "void _start(void)", "{", "    for (;;)", f"        sink = {calls};", "}"]
    for name, lines in texts.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
    return [name for name in texts if name.endswith(".c")]


if __name__ == "__main__":
    import sys
    print(*write(sys.argv[1], *map(int, sys.argv[2:])))
