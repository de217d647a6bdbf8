#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ROM and RAM of the target code: usage check_target_sizes.py SOURCE-DIRECTORY [--print].

Compiles target/ for a Cortex-M7 with each cross compiler there is, at -Os, and compares with the table in
docs/target.md: a row may be up to 5 % smaller than measured (another release of the compiler), and at most
15 % larger. --print writes the table instead. Exit code 77: there is no cross compiler.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

COMPILERS = {
    "clang": ["clang", "--target=thumbv7em-none-eabi", "-mcpu=cortex-m7", "-mfloat-abi=soft"],
    "gcc": ["arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=soft"],
}
FLAGS = ["-std=c11", "-Os", "-ffreestanding", "-fno-builtin", "-munaligned-access", "-ffunction-sections", "-Wall",
         "-Wextra", "-Werror", "-c"]
# What: sources, definitions, the state whose size is the RAM (None: it has none).
PARTS = {
    "log, careful mode": (["tlog_producer.c"], ["-DTLOG_PRODUCER_MODES=1"], "tlog_producer"),
    "log, compatible mode": (["tlog_producer.c", "tlog_compatible.c"], ["-DTLOG_PRODUCER_MODES=2"], "tlog_producer"),
    "log, both modes": (["tlog_producer.c", "tlog_compatible.c"], ["-DTLOG_PRODUCER_MODES=3"], "tlog_producer"),
    "SETUP and RELEASE": (["tlog_control.c"], [], "tlog_control"),
    "message queue": (["queue_server.c"], [], "queue_server"),
    "profile sampler": (["prof_sampler.c"], [], "prof_sampler"),
    "profile counters and maps": (["prof_counters.c"], [], None),
    "profile records in RAM": (["prof_records.c"], [], "prof_records"),
}


def section_bytes(path):
    """(code and constants, data) of an ELF32 object, from its section headers."""
    with open(path, "rb") as f:
        elf = f.read()

    def word(at, size):
        return int.from_bytes(elf[at:at + size], "little")

    rom = ram = 0
    for i in range(word(48, 2)):
        at = word(32, 4) + i * word(46, 2)
        kind, flags, size = word(at + 4, 4), word(at + 8, 4), word(at + 20, 4)
        if not flags & 2 or kind not in (1, 8):  # ALLOC; PROGBITS or NOBITS
            continue
        if flags & 1:  # WRITE
            ram += size
        else:
            rom += size
    return rom, ram


def measure(top, command):
    sizes = {}
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "a.o")

        def build(source, options):
            subprocess.run(command + FLAGS + options + ["-I" + top, "-I" + os.path.join(top, "src"), source, "-o", out],
                           check=True)
            return section_bytes(out)

        for part, (sources, options, state) in PARTS.items():
            rom = ram = 0
            for name in sources:
                code, data = build(os.path.join(top, "target", name), options)
                rom, ram = rom + code, ram + data
            if state:
                one = os.path.join(work, "state.c")
                with open(one, "w", encoding="utf-8") as f:
                    f.write(f'#include "target/{state}.h"\nstruct {state} state = {{0}};\n')
                ram += build(one, options)[1]
            sizes[part] = (rom, ram)
    return sizes


def main():
    top = os.path.abspath(sys.argv[1])
    found = {name: command for name, command in COMPILERS.items() if shutil.which(command[0])}
    if not found:
        print("there is no cross compiler")
        return 77
    measured = {name: measure(top, command) for name, command in found.items()}
    if "--print" in sys.argv:
        for part in PARTS:
            cells = [str(measured[name][part][0]) if name in measured else "-" for name in COMPILERS]
            print(f"| {part} | {' | '.join(cells)} | {next(iter(measured.values()))[part][1]} |")
        return 0
    with open(os.path.join(top, "docs/target.md"), encoding="utf-8") as f:
        rows = {row[0].strip(): [int(cell) for cell in row[1:]]
                for row in re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|$", f.read(), re.M)}
    bad = []
    for name, sizes in measured.items():
        column = list(COMPILERS).index(name)
        for part, (rom, ram) in sizes.items():
            if part not in rows:
                bad.append(f"docs/target.md has no row for {part}")
                continue
            for what, stated, is_so in (("ROM", rows[part][column], rom), ("RAM", rows[part][2], ram)):
                print(f"{name}: {part}: {what} {is_so}, stated {stated}")
                if not 0.95 * is_so <= stated <= 1.15 * is_so:
                    bad.append(f"{name}: {part}: {what} is {is_so} bytes, docs/target.md says {stated}")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
