# SPDX-License-Identifier: Apache-2.0
"""Every command of the README's sh blocks is run, in order, and must end with exit code 0."""
import os
import re
import shlex
import signal

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


def test_every_command_of_the_readme(corral):
    build = os.path.dirname(corral.exe)
    ran = 0
    for line in commands():
        words = [w.replace("build/firmware", os.path.join(build, "firmware")) for w in shlex.split(line)]
        assert words[0] == "build/corral", f"a README command that is not tested: {line}"
        if "serve" in words and "--help" not in words:
            serve(corral, words[1:])
            ran += 1
            continue
        r = corral(*words[1:])
        assert r.code == 0, (line, r.err)
        assert r.out, line
        ran += 1
    assert ran >= 8


tap.main(globals())
