# SPDX-License-Identifier: Apache-2.0
"""Every command of the README's sh blocks is run, in order, and must end with exit code 0."""
import os
import re
import shlex

import tap


def commands():
    text = open(os.path.join(tap.ROOT, "README.md"), encoding="utf-8").read()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        yield from (line for line in block.splitlines() if line and not line.startswith("#"))


def test_every_command_of_the_readme(corral):
    build = os.path.dirname(corral.exe)
    ran = 0
    for line in commands():
        words = [w.replace("build/firmware", os.path.join(build, "firmware")) for w in shlex.split(line)]
        assert words[0] == "build/corral", f"a README command that is not tested: {line}"
        r = corral(*words[1:])
        assert r.code == 0, (line, r.err)
        assert r.out, line
        ran += 1
    assert ran >= 8


tap.main(globals())
