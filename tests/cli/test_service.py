# SPDX-License-Identifier: Apache-2.0
"""The systemd unit: systemd accepts it, and what it starts serves gdb and ends well."""
import os
import re
import shlex
import shutil
import signal
import subprocess

import tap

UNIT = os.path.join(tap.ROOT, "tools", "systemd", "corral.service")
PATIENCE = 120


def text():
    with open(UNIT, encoding="ascii") as f:
        return f.read()


def test_systemd_accepts_the_unit(corral):
    if not shutil.which("systemd-analyze"):
        raise tap.Skip("systemd-analyze is not installed")
    with open(corral.path("corral.service"), "w", encoding="ascii") as f:
        f.write(re.sub(r"^ExecStart=corral ", f"ExecStart={corral.exe} ", text(), flags=re.M))
    p = subprocess.run(["systemd-analyze", "--man=no", "verify", corral.path("corral.service")], capture_output=True,
                       text=True, timeout=PATIENCE, env={**os.environ, "LC_ALL": "C"})
    assert p.returncode == 0 and not p.stderr, p.stderr


def test_what_it_starts_serves_and_ends_well(corral):
    words = shlex.split(re.search(r"^ExecStart=(.*)$", text(), re.M)[1])
    assert words[0] == "corral" and "serve" in words
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\nsync: true\n")
    words = [corral.path("corral.yml") if w == "/etc/corral/corral.yml" else w for w in words[1:]]
    assert corral.path("corral.yml") in words
    p = corral.start(*words, "--gdb-port", "0")
    try:
        line = p.stderr.readline().decode()
        assert re.fullmatch(r"corral: gdb for core0 on 127\.0\.0\.1:\d+\n", line), line + p.stderr.read().decode()
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=PATIENCE)
        assert p.returncode == 0, err
    finally:
        if p.poll() is None:
            p.kill()
            p.communicate()


tap.main(globals())
