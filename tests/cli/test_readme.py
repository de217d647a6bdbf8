# SPDX-License-Identifier: Apache-2.0
"""The README is true: every command of its sh blocks is run, in order, and must end with exit code 0; what it shows of
the demo and of a profile is what they print."""
import os
import re
import shlex
import signal
import time

import tap


def commands():
    text = open(os.path.join(tap.ROOT, "README.md"), encoding="utf-8").read()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        yield from (line for line in block.splitlines() if line and not line.startswith("#"))


def serve(corral, words):
    """It serves until Ctrl-C; on a free port, for the page's may be somebody's."""
    p = corral.start(*words, "--gdb-port", "0")
    try:
        for core in ("core0", "core1"):
            line = p.stderr.readline().decode()
            assert re.fullmatch(rf"corral: gdb for {core} on 127\.0\.0\.1:\d+\n", line), line
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=120)
        assert p.returncode == 0, err
    finally:
        if p.poll() is None:
            p.kill()
            p.communicate()


def run(corral, words):
    """A command as it stands. The page's port is everybody's: who has it at the moment is waited for."""
    for _ in range(60):
        r = corral(*words)
        if r.code == 0 or "is in use by another program" not in r.err:
            break
        time.sleep(2)
    return r


def test_every_command_of_the_readme(corral):
    build = os.path.dirname(corral.exe)
    ran = 0
    for line in commands():
        words = [w.replace("build/firmware", os.path.join(build, "firmware")) for w in shlex.split(line)]
        words = [os.path.join(tap.ROOT, w) if w.startswith("targets/") else w for w in words]
        assert words[0] == "build/corral", f"a README command that is not tested: {line}"
        if "serve" in words and not {"--help", "--print-launch"} & set(words):
            serve(corral, words[1:])
            ran += 1
            continue
        r = run(corral, words[1:])
        assert r.code == 0, (line, r.err)
        assert r.out, line
        ran += 1
    assert ran >= 8


def blocks(start):
    """The plain blocks of the README that begin with these words, as lines."""
    with open(os.path.join(tap.ROOT, "README.md"), encoding="utf-8") as f:
        return [b.splitlines() for b in re.findall(r"^```\n(.*?)^```$", f.read(), re.S | re.M) if b.startswith(start)]


def shape(line):
    """A line without its numbers and the width of its columns: a transcript need not be of the last commit."""
    return " ".join(re.sub(r"0x[0-9a-f]+|[0-9]+(\.[0-9]+)?", "N", line).split())


def stands_in(shown, out):
    """Every line that is shown is there, in that order."""
    left = iter([shape(line) for line in out.splitlines()])
    for line in shown:
        share = re.search(r"([0-9.]+) %", line)
        rare = share and float(share.group(1)) < 5  # those change places
        if line != "..." and line.strip() and not rare:
            assert shape(line) in left, f"the README shows a line that is not printed (there): {line}"


def figures(line):
    """The numbers of a line, times in ns, shares in percent."""
    scale = {"us": 1000, "ms": 1000000, "s": 1000000000}
    found = re.findall(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?: (us|ms|ns|s)\b)?", line)
    return [float(n) * scale.get(unit, 1) for n, unit in found]


def test_the_demo_prints_what_the_readme_shows(corral):
    (shown,) = blocks("Corral demo:")
    r = corral("demo", "--listen", "127.0.0.1:0")
    assert r.code == 0, r.err
    stands_in(shown, r.out)
    for row in ("core by core", "x cross triggers"):
        (was,), (now,) = [[figures(line) for line in lines if row in line] for lines in (shown, r.out.splitlines())]
        assert len(was) == len(now) == 5, (was, now)
        assert all(abs(a - b) <= 0.1 * max(a, b) for a, b in zip(was, now)), f"{row}: the README is behind, {was} is {now}"
    with open(os.path.join(tap.ROOT, "README.md"), encoding="utf-8") as f:
        (said,) = re.findall(r"start and stop ([0-9.]+) us apart", f.read())
    (row,) = [line for line in shown if "core by core" in line]
    assert float(said) * 1000 == figures(row)[1], (said, row)


def test_a_profile_is_as_the_readme_shows(corral):
    ((command, *shown),) = blocks("$ build/corral --link sim profile")
    r = corral(*shlex.split(command)[2:], "--listen", "127.0.0.1:0")
    assert r.code == 0, r.err
    stands_in(shown, r.out)


tap.main(globals())
