# SPDX-License-Identifier: Apache-2.0
"""Somebody else's firmware: the example of docs/board.md, built by the page's own commands, through Corral's commands.

What the page itself promises of the example is asserted: its log lines, its hot functions and their counts. (The board
alone runs it in tests/unit/sim/test_board_doc.c.)
"""
import os
import re
import shutil
import subprocess

import tap

TEXT = "hello from the smallest firmware"


def page():
    with open(os.path.join(tap.ROOT, "docs", "board.md"), encoding="utf-8") as f:
        return f.read()


def example_commands():
    """The commands below the example, each on one line."""
    (block,) = [b for b in re.findall(r"^```sh\n(.*?)^```$", page(), re.M | re.S) if "board.ld hello.c" in b]
    return block.replace("\\\n", " ").splitlines()


def build(corral, compiler):
    """What a reader does with one of the compilers: a.elf and b.elf."""
    for program in (compiler, *(["ld.lld"] if compiler == "clang" else [])):
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")
    for name, language in (("board.ld", "ld"), ("hello.c", "c")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```$", page(), re.M | re.S)
        with open(corral.path(name), "w", encoding="utf-8") as f:
            f.write(text)
    commands = example_commands()
    (first,) = [c for c in commands if c.startswith(compiler) and " board.ld " in c]
    (script,) = [c for c in commands if c.startswith("sed ")]
    second = first.replace(" board.ld ", " board1.ld ").replace("-o a.elf", "-o b.elf")
    if compiler == "clang":
        assert second in commands, "the page builds core 1's image as core 0's"
    for command in (first, script, second):
        p = subprocess.run(["sh", "-c", command], cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=120)
        assert p.returncode == 0 and not p.stdout, (command, p.stdout.decode())


def comes_out(corral, compiler):
    build(corral, compiler)
    r = corral("--json", "--link", "sim:a.elf,b.elf", "demo", "--seconds", "0.5", "--listen", "127.0.0.1:0")
    assert r.code == 0 and r.err == "", r.err
    events = r.lines()
    s = events[-1]
    for core, source in (("core0", "SMC"), ("core1", "DMC")):
        logs = [e for e in events if e["kind"] == "log" and e["core"] == core]
        assert len(logs) > 20 and {(e["source"], e["text"]) for e in logs} == {(source, TEXT)}, logs[:2]
        assert [e["sequence"] for e in logs] == list(range(len(logs)))
        assert s["logs"][source] == len(logs)
        top = {t["function"]: t for t in s["top"] if t["core"] == core}
        long, short = top["spin_long"], top["spin_short"]
        assert 2.5 < long["count"] / short["count"] < 3.5, (long, short)
        assert long["share"] + short["share"] > 0.99, top
        for t in (long, short):
            assert abs(t["share"] - t["board_share"]) < 0.03, t
    # Whole packets of 40; a sample each 10000 to 30000 cycles, 5000 a core and second.
    assert s["samples"] % 40 == 0 and s["samples"] > 4000 and s["lost"] == 0, s
    assert s["samples"] == sum(len(e["samples"]) for e in events if e["kind"] == "profile")
    assert s["skew_ns"]["cti"]["max"] < 200 < 10000 < s["skew_ns"]["software"]["median"], s["skew_ns"]


def test_built_by_gcc_it_logs_and_is_profiled(corral):
    comes_out(corral, "arm-none-eabi-gcc")


def test_built_by_clang_it_logs_and_is_profiled(corral):
    comes_out(corral, "clang")


def test_every_other_command_of_the_page(corral):
    """What follows the build in that block, as it stands there."""
    build(corral, "clang")
    commands = [c.split() for c in example_commands() if c.startswith("corral ")]
    words = {"log": TEXT, "profile": "spin_long", "top": "terminal", "demo": "spin_long"}
    assert {w for c in commands for w in c if w in words} == set(words), commands
    for command in commands:
        (name,) = [w for w in command if w in words]
        port = ("--listen", "127.0.0.1:0") if name in ("profile", "demo") else ()  # others may have the standard one
        r = corral(*command[1:], *port)
        if name == "top":  # it wants a terminal, which a test is not
            assert r.code == 2 and words[name] in r.err, r.err
            continue
        assert r.code == 0 and r.err == "", (command, r.err)
        assert "--status" in command or words[name] in r.out, (command, r.out[:200])


tap.main(globals())
