# SPDX-License-Identifier: Apache-2.0
"""QEMU's dual Cortex-M33 (mps2-an521) through its gdb stub: what can be had is said, and both cores obey.

Usage: test_qemu.py CORRAL AN521.ELF
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "cli"))
import tap  # noqa: E402

PATIENCE = 120  # seconds; for a machine that does much else
COUNTS = 0x38000000  # an521.c: two counters; the faults come with them
CODE = range(0x10000400, 0x10001000)


class Qemu:
    """A running QEMU whose gdb port nobody can take before it: it is handed the listening socket."""

    def __init__(self, corral, *args):
        program = shutil.which("qemu-system-arm")
        if not program:
            if os.environ.get("CI"):
                raise AssertionError("qemu-system-arm is not installed, and CI is set, where it must be there")
            raise tap.Skip("qemu-system-arm is not installed")
        self.corral = corral
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
            self.process = subprocess.Popen(
                [program, "-M", "mps2-an521", "-nographic", "-serial", "null", "-monitor", "none", "-kernel", sys.argv[2],
                 "-icount", "shift=8",  # 4 million instructions a second: it is not to keep the machine busy
                 "-chardev", f"socket,id=gdb,fd={s.fileno()},server=on,wait=off,nodelay=on", "-gdb", "chardev:gdb", *args],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=[s.fileno()])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()

    def run(self, *args):
        return self.corral("--link", f"gdb:127.0.0.1:{self.port}", *args, timeout=PATIENCE)

    def json(self, *args):
        r = self.run("--json", *args)
        assert r.code == 0, (args, r.code, r.out, r.err)
        return json.loads(r.out)

    def registers(self, core):
        return self.json("regs", "--core", core)["registers"]

    def words(self, address, count, core="core0"):
        r = self.run("read", "--core", core, hex(address), str(count))
        assert r.code == 0, r.err
        words = []
        for line in r.out.splitlines():
            words += [int(w, 16) for w in line.split("|")[0].split()[1:]]
        return words

    def until_both_count(self):
        """Core 0 starts core 1; on a loaded machine that takes a while."""
        end = time.monotonic() + PATIENCE
        while True:
            words = self.words(COUNTS, 3)
            both = [w for w in words if w]
            if len(both) >= 2 or time.monotonic() > end:
                return words
            time.sleep(0.1)


def test_scan_says_what_can_be_had(corral):
    with Qemu(corral) as q:
        scan = q.json("scan")
        assert scan["aps"] == []
        assert [(c["name"], c["type"], c["cpuid"] >> 4 & 0xFFF, c["cti"]) for c in scan["cores"]] == \
            [("core0", "Cortex-M33", 0xD21, None), ("core1", "Cortex-M33", 0xD21, None)]
        text = q.run("scan")
        assert text.code == 0
        assert "thread p1.1 of a gdb stub, which shows no debug registers" in text.out, text.out
        assert "thread p2.2 of a gdb stub" in text.out, text.out


def test_halt_and_run_are_the_stub_s(corral):
    with Qemu(corral) as q:
        before = q.until_both_count()
        for _ in range(3):
            halt = q.json("halt")
            assert halt["kind"] == "halt" and halt["mechanism"] == "stub" and halt["skew_ns"] is None
            assert [c["name"] for c in halt["cores"]] == ["core0", "core1"]
            for c in halt["cores"]:
                assert c["state"] == "halted" and c["reason"] == "request" and c["pc"] in CODE, c
            run = q.json("run")
            assert run["mechanism"] == "stub" and all(c["restarted"] for c in run["cores"]), run
            time.sleep(0.05)
        after = q.until_both_count()
        assert after != before and 0 in after, (before, after)  # no faults


def test_a_look_lets_a_running_target_go_on(corral):
    with Qemu(corral) as q:
        first = q.until_both_count()
        end = time.monotonic() + PATIENCE
        while q.words(COUNTS, 3) == first:
            assert time.monotonic() < end, "it was left stopped"


def test_what_was_never_started_stays_so(corral):
    with Qemu(corral, "-S") as q:
        first = q.registers("core0")
        assert first["pc"] in CODE
        q.json("scan")
        assert q.registers("core0") == first
        assert q.registers("core1")["pc"] == 0  # nobody has started it
        q.json("run")
        assert q.until_both_count().count(0) == 1


def test_a_step_moves_one_core(corral):
    with Qemu(corral, "-S") as q:
        pc = q.registers("core0")["pc"]
        event = q.json("step", "--core", "core0")
        mine = [c for c in event["cores"] if c["name"] == "core0"][0]
        assert mine["reason"] == "step" and mine["pc"] in CODE and 2 <= mine["pc"] - pc <= 4, (hex(pc), mine)
    with Qemu(corral) as q:
        q.until_both_count()
        event = q.json("step", "--core", "core1")
        mine = [c for c in event["cores"] if c["name"] == "core1"][0]
        assert mine["state"] == "halted" and mine["reason"] == "step" and mine["pc"] in CODE, mine


def test_registers_and_memory_of_both_cores(corral):
    with Qemu(corral, "-S") as q:
        for i, core in enumerate(("core0", "core1")):
            r = q.run("regs", "--core", core, f"r5={0x1000 + i}")
            assert r.code == 0, r.err
            assert q.registers(core)["r5"] == 0x1000 + i
            address = hex(0x38004000 + 16 * i)
            r = q.run("write", "--core", core, address, hex(0xCAFE0000 + i))
            assert r.code == 0, r.err
        assert q.registers("core0")["r5"] == 0x1000
        assert q.words(0x38004000, 5, "core1")[::4] == [0xCAFE0000, 0xCAFE0001]
        assert q.words(0xE000ED00, 1) == [0x410FD213]
        assert len(q.words(0x38000000, 2000)) == 2000  # more than a packet holds


def test_what_is_not_there_is_said(corral):
    with Qemu(corral) as q:
        r = q.run("read", "0x70000000")
        assert r.code == 1 and "0x70000000" in r.err, (r.code, r.err)
        r = q.run("--json", "scan")
        assert r.code == 0, r.err  # the link works on
        r = q.run("watch", "0x38000004", "--count", "2")
        assert r.code == 1 and "while its target runs" in r.err, (r.code, r.err)
        r = q.run("reset", "--halt")
        assert r.code == 0 and "core0" in r.out, (r.code, r.out, r.err)  # QEMU 7.2 resets only that one, which is said
        r = q.run("--clock", "1000000", "status")
        assert r.code == 2 and "clock" in r.err, (r.code, r.err)
        q.process.kill()
        q.process.wait()
        r = q.run("status")
        assert r.code == 3 and str(q.port) in r.err, (r.code, r.err)


if __name__ == "__main__":
    tap.main(globals())
