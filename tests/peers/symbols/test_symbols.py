# SPDX-License-Identifier: Apache-2.0
"""The symbol index against llvm-symbolizer and addr2line: names, inlined functions, files and lines of 20,000
addresses in a program that the test writes and compiles, with units of DWARF 4 and of DWARF 5 in one file."""
import os
import random
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "cli")]
import symbols_program  # noqa: E402
import tap  # noqa: E402

FLOOR = 20000
TEXT = 0x08000000
FREESTANDING = ["-O2", "-g", "-w", "-ffreestanding", "-fno-builtin"]


def tool(*names):
    for name in names:
        if shutil.which(name):
            return name
    raise tap.Skip(f"{names[0]} is not installed")


def run(*args, cwd, data=None):
    p = subprocess.run(args, cwd=cwd, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.returncode == 0, f"{args}: {p.stderr.decode()[:2000]}"
    return p.stdout.decode()


def build(folder, compiler, link, name, dwarf=(4, 5)):
    """Two units at a time, one for each processor there may be."""
    files = symbols_program.write(folder)
    for i in range(0, len(files), 2):
        jobs = [subprocess.Popen([*compiler, *FREESTANDING, f"-gdwarf-{dwarf[(i + k) % len(dwarf)]}", "-c", f,
                                  "-o", f + ".o"], cwd=folder, stderr=subprocess.PIPE)
                for k, f in enumerate(files[i:i + 2])]
        for job in jobs:
            _, err = job.communicate()
            assert job.returncode == 0, err.decode()[:2000]
    run(*link, *[f + ".o" for f in files], "-o", name, cwd=folder)
    return os.path.join(folder, name)


def addresses(elf, step, limit):
    """Every place an instruction may be at in .text, or as many as `limit` of them."""
    headers = run(tool("llvm-readelf", "llvm-readelf-14"), "-S", elf, cwd=".")
    start, size = re.search(r" \.text +PROGBITS +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)", headers).groups()
    every = range(int(start, 16), int(start, 16) + int(size, 16), step)
    assert len(every) >= FLOOR, f"only {len(every)} addresses: the program is too small"
    return sorted(random.Random(7).sample(every, min(limit, len(every))))


def answers(command, elf, wanted):
    text = run(*command, cwd=os.path.dirname(elf), data="".join(f"{a:#x}\n" for a in wanted).encode())
    found = text.rstrip("\n").split("\n\n")
    assert len(found) == len(wanted), f"{len(found)} answers to {len(wanted)} addresses"
    return [answer.split("\n") for answer in found]


def place(text, column):
    """FILE:LINE[:COLUMN] as (file, line); './' in a path says nothing."""
    file, line = text.rsplit(":", 2 if column else 1)[:2]
    return (os.path.normpath(file) if file != "??" else "??", line)


def frames(answer, column=False):
    return [(answer[i], place(answer[i + 1], column)) for i in range(0, len(answer), 2)]


def compare_llvm(corral, elf, step):
    wanted = addresses(elf, step, FLOOR)
    ours = answers([corral.exe, elf], elf, wanted)
    theirs = answers([tool("llvm-symbolizer", "llvm-symbolizer-14"), "--inlines", "--output-style=LLVM",
                      "--obj=" + elf], elf, wanted)
    inlined = 0
    for address, a, b in zip(wanted, ours, theirs):
        a, b = frames(a), frames(b, column=True)
        assert a == b, f"{address:#x}: {a}, but llvm-symbolizer has {b}"
        inlined += len(a) > 1
    assert inlined >= FLOOR // 4, f"only {inlined} addresses are in inlined functions"
    print(f"# {len(wanted)} addresses, {inlined} of them inlined, {sum(len(a) // 2 for a in ours)} frames", flush=True)


def arm_by_clang(corral):
    clang, lld = tool("clang-14", "clang"), tool("ld.lld-14", "ld.lld")
    return build(corral.cwd, [clang, "--target=thumbv7em-none-eabi"], [lld, f"-Ttext={TEXT:#x}", "-e", "_start"],
                 "clang.elf")


def arm_by_gcc(corral):
    gcc = tool("arm-none-eabi-gcc")
    link = [gcc, "-nostdlib", f"-Wl,-Ttext={TEXT:#x}", "-Wl,-z,max-page-size=4096"]
    return build(corral.cwd, [gcc, "-mcpu=cortex-m4", "-mthumb"], link, "gcc.elf")


def test_clang_names_inlines_files_and_lines_as_llvm_symbolizer_has_them(corral):
    compare_llvm(corral, arm_by_clang(corral), 2)


def test_gcc_names_inlines_files_and_lines_as_llvm_symbolizer_and_addr2line_have_them(corral):
    elf = arm_by_gcc(corral)
    compare_llvm(corral, elf, 2)
    addr2line = tool("arm-none-eabi-addr2line")
    wanted = addresses(elf, 2, 5000)
    ours = answers([corral.exe, elf], elf, wanted)
    lines = run(addr2line, "-e", elf, cwd=corral.cwd, data="".join(f"{a:#x}\n" for a in wanted).encode())
    theirs = re.sub(r" \(discriminator \d+\)", "", lines).splitlines()
    assert len(theirs) == len(wanted)
    for address, a, b in zip(wanted, ours, theirs):
        mine, other = place(a[1], False), place(b.replace(":?", ":0"), False)
        assert mine == other, f"{address:#x}: {mine}, but addr2line has {other}"


if __name__ == "__main__":
    tap.main(globals())
