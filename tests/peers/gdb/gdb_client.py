# SPDX-License-Identifier: Apache-2.0
"""A running "corral serve", the real gdb in its machine interface, and a bare client for exact bytes."""
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "cli"))
import tap  # noqa: E402

PATIENCE = 120  # seconds; for a machine that does much else


def gdb_program():
    program = shutil.which("gdb-multiarch")
    if not program and os.environ.get("CI"):
        raise AssertionError("gdb-multiarch is not installed, and CI is set, where it must be there")
    if not program:
        raise tap.Skip("gdb-multiarch is not installed")
    return program


class Server:
    """corral serve on free ports; `link` as for --link."""

    def __init__(self, corral, *args, link="sim"):
        self.said = corral.path("serve.said")
        self.out = corral.path("serve.out")
        with open(self.said, "wb") as err, open(self.out, "wb") as out:
            self.process = subprocess.Popen([corral.exe, "--json", "--link", link, "serve", "--gdb-port", "0", *args],
                                            cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        end = time.monotonic() + PATIENCE
        want = 3 if "--gdb-all" in args else 2
        self.ports = []
        while len(self.ports) < want:
            self.ports = [int(p) for p in re.findall(r"^corral: gdb for .* on 127\.0\.0\.1:(\d+)$", self.text(), re.M)]
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise AssertionError(self.text())
            time.sleep(0.01)

    def text(self):
        with open(self.said, encoding="utf-8", errors="replace") as f:
            return f.read()

    def events(self):
        with open(self.out, encoding="utf-8") as f:
            return f.read()

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Raw:
    """A client that says exactly what it is told to."""

    def __init__(self, port, noack=True):
        self.s = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.console, self.acks = b"", b"", True
        assert b"PacketSize=" in self.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
        if noack:
            assert self.ask("QStartNoAckMode") == b"OK"
            self.acks = False

    def say(self, packet):
        packet = packet if isinstance(packet, bytes) else packet.encode()
        self.s.sendall(b"$" + packet + b"#%02x" % (sum(packet) & 255))

    def byte(self, end):
        while not self.buffer:
            self.s.settimeout(max(0.001, end - time.monotonic()))
            self.buffer = self.s.recv(65536)
            if not self.buffer:
                raise ConnectionError("the connection has ended")
        c, self.buffer = self.buffer[:1], self.buffer[1:]
        return c

    def hear(self, seconds=PATIENCE):
        """The next reply that is no console text."""
        end = time.monotonic() + seconds
        while True:
            while self.byte(end) != b"$":
                pass
            raw = b""
            while (c := self.byte(end)) != b"#":
                raw += c
            digits = self.byte(end) + self.byte(end)
            assert int(digits, 16) == sum(raw) & 255, raw[:80]
            if self.acks:
                self.s.sendall(b"+")
            out = re.sub(rb"\}(.)", lambda m: bytes([m[1][0] ^ 0x20]), raw, flags=re.S)
            if out[:1] == b"O" and out != b"OK":
                self.console += bytes.fromhex(out[1:].decode())
                continue
            return out

    def ask(self, packet):
        self.say(packet)
        return self.hear()

    def silent(self, seconds=0.3):
        try:
            got = self.hear(seconds)
        except TimeoutError:
            return True
        raise AssertionError(f"unasked for: {got}")

    def word(self, address):
        return int.from_bytes(bytes.fromhex(self.ask(f"m{address:x},4").decode()), "little")

    def monitor(self, words):
        self.console = b""
        answer = self.ask("qRcmd," + words.encode().hex())
        return answer, self.console.decode()

    def close(self):
        self.s.close()


class Gdb:
    """gdb-multiarch with mi-async, so that it takes commands while its target runs."""

    def __init__(self, elf=None, *args):
        self.p = subprocess.Popen([gdb_program(), "-nx", "-q", "--interpreter=mi3", *args, *([elf] if elf else [])],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pending, self.log, self.stops, self.token = b"", [], [], 0
        for words in ("mi-async on", "pagination off", "confirm off", "remotetimeout 60", "tcp auto-retry off"):
            self.do(f"-gdb-set {words}")

    def line(self, end):
        while b"\n" not in self.pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                raise TimeoutError("gdb says nothing more:\n" + "\n".join(self.log[-40:]))
            more = os.read(self.p.stdout.fileno(), 65536)
            if not more:
                raise ConnectionError("gdb has ended:\n" + "\n".join(self.log[-40:]))
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        text = line.decode("utf-8", "replace").rstrip("\r")
        self.log.append(text)
        if text.startswith("*stopped"):
            self.stops.append(text)
        return text

    def do(self, command, want="done|running|connected|exit"):
        """A command; its result line. `want` "error" where it must fail."""
        self.token += 1
        self.p.stdin.write(f"{self.token}{command}\n".encode())
        self.p.stdin.flush()
        end = time.monotonic() + PATIENCE
        while True:
            text = self.line(end)
            m = re.match(rf"{self.token}\^(\w+)", text)
            if m:
                assert re.fullmatch(want, m[1]), f"{command}: " + "\n".join(self.log[-20:])
                return text

    def cli(self, words, want="done|running|connected|exit"):
        """A command of the command line; all that it printed."""
        start = len(self.log)
        self.do('-interpreter-exec console "' + words.replace("\\", "\\\\").replace('"', '\\"') + '"', want)
        said = "".join(bytes(t[2:-1], "utf-8").decode("unicode_escape") for t in self.log[start:] if t[:2] in ('~"', '@"', '&"'))
        return said

    def connect(self, port):
        self.do(f"-target-select extended-remote 127.0.0.1:{port}")
        self.wait_stopped()

    def stopped(self):
        return bool(self.stops)

    def wait_stopped(self, seconds=PATIENCE):
        """The next stop; it is taken."""
        end = time.monotonic() + seconds
        while not self.stops:
            self.line(end)
        return self.stops.pop(0)

    def wait_for(self, begin):
        """A line that begins so."""
        end = time.monotonic() + PATIENCE
        while not self.line(end).startswith(begin):
            pass

    def silent(self, seconds=0.4):
        """No stop comes for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.line(end)
            except TimeoutError:
                break
        assert not self.stops, self.stops

    def go(self):
        self.do("-exec-continue")

    def interrupt(self):
        self.do("-exec-interrupt")

    def value(self, expression):
        m = re.search(r'value="([^"]*)"', self.do(f'-data-evaluate-expression "{expression}"'))
        return m[1]

    def pc(self):
        return int(self.value("(unsigned)$pc"))

    def kill(self):
        self.p.kill()
        self.p.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.p.poll() is None:
            self.kill()
        self.p.stdin.close()
        self.p.stdout.close()


def symbol(elf, name):
    """The address of a symbol, as gdb has it."""
    with Gdb(elf) as g:
        return int(g.value(f"(unsigned)&{name}")) & ~1 if name else 0
