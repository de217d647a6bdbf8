# SPDX-License-Identifier: Apache-2.0
"""What gdb waits for: "corral serve" and OpenOCD's gdb server, one after the other behind the same front of the virtual
board (JTAG by remote bitbang), and QEMU's stub, in one run. Reports medians and ratios; asserts no speed.

Usage: bench_gdb.py CORRAL AN521.ELF [ROUNDS]
A server that is not installed is left out, and that is said.
"""
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers", "gdb"))
from gdb_client import PATIENCE, Raw, Server  # noqa: E402

SIZE = 64 * 1024
OPENOCD = """adapter driver remote_bitbang
remote_bitbang host 127.0.0.1
remote_bitbang port {port}
transport select jtag
jtag newtap c cpu -irlen 4 -expected-id 0x4ba00477
dap create c.dap -chain-position c.cpu
target create c0 cortex_m -dap c.dap -ap-num 0 -gdb-port 0
target create c1 cortex_m -dap c.dap -ap-num 1 -gdb-port disabled
telnet_port disabled
tcl_port disabled
init
"""


class Corral:
    """As tests/cli/tap.py has it, in a folder of its own."""

    def __init__(self, exe, cwd):
        self.exe, self.cwd = os.path.abspath(exe), cwd

    def path(self, name):
        return os.path.join(self.cwd, name)


def end(p):
    if p.poll() is None:
        p.send_signal(signal.SIGINT)
        try:
            p.wait(20)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


def wait_for(p, path, pattern):
    limit = time.monotonic() + PATIENCE
    while True:
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        m = re.search(pattern, text)
        if m:
            return int(m[1])
        if p.poll() is not None or time.monotonic() > limit:
            raise RuntimeError(text)
        time.sleep(0.01)


def start(corral, name, words, pattern, **kw):
    said = corral.path(name + ".said")
    with open(said, "wb") as f:
        p = subprocess.Popen(words, cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, **kw)
    try:
        return p, wait_for(p, said, pattern) if pattern else 0
    except BaseException:
        end(p)
        raise


def board(corral):
    return start(corral, "sim", [corral.exe, "sim", "--jtag", "0", "--pace", "real"], r"jtag listens on 127\.0\.0\.1:(\d+)")


def median(do, rounds):
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        do()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def halted(c, rounds, ram):
    """All figures of one server, in seconds; the core is halted when it begins and ends."""
    tid = (c.ask("qC")[2:] or b"1").decode()
    limit = int(re.search(rb"PacketSize=([0-9a-f]+)", c.ask("qSupported"))[1], 16)
    piece = min((limit - 64) // 2, SIZE) & ~3

    def step():
        assert c.ask(f"vCont;s:{tid}")[:1] in b"TS"
        assert len(c.ask("g")) >= 17 * 8

    def registers():
        assert len(c.ask("g")) >= 17 * 8

    def read():
        at = 0
        while at < SIZE:
            n = min(piece, SIZE - at)
            got = c.ask(f"m{ram + at:x},{n:x}")
            assert len(got) == 2 * n, (len(got), n)
            at += n

    binary = c.ask(f"X{ram:x},0:") == b"OK"  # as gdb asks; QEMU has M only
    # No byte of it needs an escape, so that a piece is as long on every wire.
    data = bytes(range(0x40, 0x7D)) * (SIZE // 61 + 1)

    def write():
        at = 0
        while at < SIZE:
            n = min(piece, SIZE - at)
            how = b"X%x,%x:" % (ram + at, n) + data[at:at + n]
            answer = c.ask(how if binary else b"M%x,%x:" % (ram + at, n) + data[at:at + n].hex().encode())
            assert answer == b"OK", answer
            at += n

    def breakpoint():
        """Continue from one hit of a breakpoint in a loop to the next, as gdb does it: step off, insert, continue."""
        assert c.ask(f"vCont;s:{tid}")[:1] in b"TS"
        assert c.ask(f"Z1,{place:x},2") == b"OK"
        c.say("vCont;c")
        assert c.hear()[:1] in b"TS"
        assert c.ask(f"z1,{place:x},2") == b"OK"

    figures = {"g": median(registers, rounds), "stepi (s, then g)": median(step, rounds)}
    # A place that it comes to again and again: somewhere in its main loop.
    place = int.from_bytes(bytes.fromhex(c.ask("g").decode())[60:64], "little")
    c.say("vCont;c")
    time.sleep(0.2)
    c.s.sendall(b"\x03")
    assert c.hear()[:1] in b"TS"
    place = int.from_bytes(bytes.fromhex(c.ask("g").decode())[60:64], "little")
    figures["breakpoint to stop reply"] = median(breakpoint, max(rounds // 4, 3))
    figures["read 64 KiB"] = median(read, 1)
    figures["write 64 KiB"] = median(write, 1)
    return figures


class Late(Raw):
    """QEMU tells of the stop that a connection brings about before it answers."""

    def ask(self, packet):
        answer = super().ask(packet)
        asked = packet if isinstance(packet, bytes) else packet.encode()
        return self.hear() if asked.startswith(b"qSupported") and b"PacketSize" not in answer else answer


def stop(c):
    """Halted, whatever it was."""
    answer = c.ask("?")
    assert answer[:1] in b"TS", answer


def corral_figures(corral, rounds):
    sim, port = board(corral)
    try:
        with Server(corral, "--no-sync", "--no-log", link=f"jtag:127.0.0.1:{port}") as server:
            c = Raw(server.ports[0])
            stop(c)
            return halted(c, rounds, 0x20060000)
    finally:
        end(sim)


def openocd_figures(corral, rounds):
    program = shutil.which("openocd")
    if not program:
        return None
    sim, port = board(corral)
    p = None
    try:
        with open(corral.path("bench.cfg"), "w", encoding="ascii") as f:
            f.write(OPENOCD.format(port=port))
        p, gdb = start(corral, "openocd", [program, "-f", "bench.cfg"], r"Listening on port (\d+) for gdb connections")
        c = Raw(gdb)
        stop(c)
        c.monitor("halt")
        return halted(c, rounds, 0x20060000)
    finally:
        if p:
            end(p)
        end(sim)


def qemu_figures(corral, rounds):
    program = shutil.which("qemu-system-arm")
    if not program:
        return None
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        p, _ = start(corral, "qemu",
                     [program, "-M", "mps2-an521", "-nographic", "-serial", "null", "-monitor", "none", "-kernel",
                      os.path.abspath(sys.argv[2]), "-chardev", f"socket,id=gdb,fd={s.fileno()},server=on,wait=off,nodelay=on",
                      "-gdb", "chardev:gdb"], None, pass_fds=[s.fileno()])
    try:
        c = Late(port, noack=False)  # it has no other way
        stop(c)
        return halted(c, rounds, 0x38010000)
    finally:
        end(p)


def main():
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    with tempfile.TemporaryDirectory() as folder:
        corral = Corral(sys.argv[1], folder)
        columns = {"corral": corral_figures(corral, rounds), "openocd": openocd_figures(corral, rounds),
                   "qemu": qemu_figures(corral, rounds)}
    for name, figures in columns.items():
        if not figures:
            print(f"{name} is not installed")
    print(f"{'ms':26}{'corral':>10}{'openocd':>10}{'qemu':>10}{'openocd/corral':>16}")
    for what, own in columns["corral"].items():
        cells = [figures[what] * 1000 if figures else float("nan") for figures in columns.values()]
        print(f"{what:26}" + "".join(f"{c:10.3f}" for c in cells) + f"{cells[1] / cells[0]:16.2f}")


if __name__ == "__main__":
    main()
