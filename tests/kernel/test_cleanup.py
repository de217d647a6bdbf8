#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py leaves nothing behind when it is ended in the middle, nor when the machine dies under it.

Usage: test_cleanup.py CORRAL CACHE
"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def processes(folder):
    """Command lines that name a folder: QEMU and the emulator of a run whose files are there."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if folder in line:
            found.append((int(pid), line))
    return found


def interrupted(folder, disturb):
    """Start a run, disturb it once the machine is there; the run's exit code and what it printed."""
    run = subprocess.Popen([sys.executable, os.path.join(HERE, "run.py"), *sys.argv[1:3], "twenty_loads_under_traffic"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env={**os.environ, "TMPDIR": folder})
    try:
        end = time.monotonic() + 900  # the modules may have to be built
        while not any("qemu-system" in line for _, line in processes(folder)):
            if run.poll() is not None or time.monotonic() > end:
                run.kill()
                return run.returncode, run.communicate()[0].decode()
            time.sleep(0.1)
        time.sleep(1)
        disturb(run)
        out, _ = run.communicate(timeout=300)
        return run.returncode, out.decode()
    finally:
        run.kill()


def kill_machines(run, folder):
    """Each that comes: one that dies before the first scenario is started again."""
    end = time.monotonic() + 300
    while run.poll() is None and time.monotonic() < end:
        for pid, line in processes(folder):
            if "qemu-system" in line:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def main():
    print("1..2", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, disturb) in enumerate((
                ("nothing_is_left_after_a_signal", lambda run: run.terminate()),
                ("nothing_is_left_after_the_machine_died", lambda run: kill_machines(run, folder))), 1):
            for _ in range(5):
                code, out = interrupted(folder, disturb)
                if code != 0 or "# SKIP missing" in out:
                    break  # else it had come to its end before this process had its turn
            if code == 0 and "# SKIP missing" in out:
                print(f"ok {number} - {name} # SKIP {out.strip()}")
                continue
            left = os.listdir(folder) + [line for _, line in processes(folder)]
            good = code != 0 and not left and "1..2" in out
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
            if not good:
                print(f"# exit {code}, left {left}\n# " + "\n# ".join(out.splitlines()[-30:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
