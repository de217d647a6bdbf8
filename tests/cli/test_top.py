# SPDX-License-Identifier: Apache-2.0
"""`corral top` on a real terminal: tmux is the terminal, a sender on loopback the target."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import profile_build as build
import tap

PATIENCE = 90  # seconds; a loaded machine is slow, and nothing waits longer than it must
ORDER = ["alpha"] * 4 + ["beta"] * 3 + ["gamma"] * 2 + ["delta"]
VIEWS = ["Summary", "Threads", "Functions", "Hot", "Counters", "Memory", "Latency", "Losses"]


class Terminal:
    """A tmux server of its own with one shell in one window."""

    def __init__(self, corral, columns=80, rows=24, term=None, env=""):
        if not shutil.which("tmux"):
            if os.environ.get("CI"):
                raise AssertionError("tmux is missing (tools/install-deps test)")
            raise tap.Skip("tmux is not installed")
        self.corral, self.socket = corral, corral.path(f"tmux{time.monotonic_ns()}")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "-c", corral.cwd,
                  f"env PS1='$ ' {env} sh")
        self.wait(r"^\$ ?$")
        if term:
            self.type(f"export TERM={term}")
            self.enter()
        self.modes = self.stty()

    def tmux(self, *args):
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        env.setdefault("LC_ALL", "C.UTF-8")
        p = subprocess.run(["tmux", "-u", "-S", self.socket, *map(str, args)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=PATIENCE, env=env)
        assert p.returncode == 0, (args, p.stderr)
        return p.stdout.decode()

    def show(self, *args):
        return self.tmux("capture-pane", "-p", *args)

    def info(self, what):
        return self.tmux("display-message", "-p", "#{%s}" % what).strip()

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def enter(self):
        self.key("Enter")

    def wait(self, pattern, gone=False, keys=""):
        """Until the screen has it (or has it no more), pressing `keys` meanwhile; the screen."""
        end = time.monotonic() + PATIENCE
        while True:
            if keys:
                self.type(keys)
            screen = self.show()
            if bool(re.search(pattern, screen, re.M)) != gone:
                return screen
            assert time.monotonic() < end, f"{pattern!r} {'stays' if gone else 'does not come'}:\n{screen}"
            time.sleep(0.05)

    def stty(self):
        path = self.corral.path("stty")
        self.type(f"stty -a >{path}.new; mv {path}.new {path}; clear")
        self.enter()
        end = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            assert time.monotonic() < end, self.show()
            time.sleep(0.02)
        with open(path) as f:
            text = f.read()
        os.remove(path)
        self.wait(r"^\$ ?$")
        return re.sub(r"rows \d+; columns \d+;", "", text)

    def start(self, *args, before=""):
        self.type(f"{before}{self.corral.exe} {' '.join(map(str, args))}; echo \"exit=$?\"")
        self.enter()

    def pid(self):
        """Of the corral in the window."""
        shell = self.info("pane_pid")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            p = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", shell], stdout=subprocess.PIPE)
            for line in p.stdout.decode().splitlines():
                if line.split()[1] == os.path.basename(self.corral.exe)[:15]:
                    return int(line.split()[0])
            time.sleep(0.05)
        raise AssertionError(self.show())

    def assert_given_back(self, code):
        """The shell is there, on its own screen, with its modes and its cursor."""
        self.wait(rf"^exit={code}$")
        assert self.info("alternate_on") == "0", self.show()
        assert self.info("cursor_flag") == "1"
        assert self.info("keypad_cursor_flag") == "0"
        self.type("clear")
        self.enter()
        assert self.stty() == self.modes

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], stderr=subprocess.DEVNULL)


SENDER = """
import socket, sys, time
sys.path.insert(0, {folder!r})
import profile_build as build
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def send(data):
    try:
        s.sendto(data, ("127.0.0.1", {port}))
    except OSError:
        pass
seq = 0
while True:
    seq += 1
    samples = [build.sample(build.address(n, 4 * i), thread=i % 2, latency=100 * i) for i, n in enumerate({order!r})]
    if seq % 5 != 3:
        send(build.v17(seq, samples, clocks=seq * 5000000, enabled=3, o84=5000, o88=4000, o100=0x3ffc1000, o240=77, o248=5))
    if seq % 10 == 1:
        send(build.counters(seq * 5000000 % 2**32, Free_memory=4000 - seq, Packets=seq))
        send(b"rubbish!")
    if seq == 2:
        send(build.maps((0, 1, 4), (16, 2, 0)))
    time.sleep(0.05)
"""


class Sender:
    """A target: every fifth packet is missing, and now and then comes rubbish."""

    def __init__(self, port):
        code = SENDER.format(folder=os.path.dirname(os.path.abspath(__file__)), port=port, order=ORDER)
        self.process = subprocess.Popen([sys.executable, "-c", code])

    def kill(self):
        self.process.kill()
        self.process.wait()


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Live:
    """Terminal, corral and sender together."""

    def __init__(self, corral, *args, sender=True, before="", **kw):
        self.port = free_port()
        self.elf = build.write(corral, "fw.elf", build.elf())
        self.t = Terminal(corral, **kw)
        self.t.start("top", "--listen", f"127.0.0.1:{self.port}", "--elf", self.elf, *args, before=before)
        self.t.wait(r"corral top +UDP")
        self.sender = Sender(self.port) if sender else None
        if sender:
            self.t.wait("LOST [1-9]")

    def __enter__(self):
        return self.t, self.sender

    def __exit__(self, *why):
        if self.sender:
            self.sender.kill()
        self.t.close()


class Replay:
    """Terminal and corral with a capture, for what needs no target: ten packets of which one is missing."""

    def __init__(self, corral, before="", **kw):
        packets = [(i / 20, 1, 4000, build.v17(i, [build.sample(build.address(n)) for n in ORDER], clocks=i * 5000000))
                   for i in range(1, 11) if i != 4]
        pcap = build.write(corral, "k.pcap", build.pcap(packets))
        elf = build.write(corral, "fw.elf", build.elf())
        self.t = Terminal(corral, **kw)
        self.t.start("top", "--pcap", pcap, "--elf", elf, before=before)
        self.t.wait(r"LOST 1\b")

    def __enter__(self):
        return self.t

    def __exit__(self, *why):
        self.t.close()


def test_every_view_and_the_loss_in_each(corral):
    wanted = {
        "Summary": r"busy .* samples a second",
        "Threads": r"^1 +NRT +\d+ +100\.0 %",
        "Functions": r"^ +40\.\d %.* alpha",
        "Hot": r"^0x00008000 .*alpha",
        "Counters": r"^Packets +\d+",
        "Memory": r"on-chip heap +free +5000 bytes, lowest +4000 bytes",
        "Latency": r"512 and more #+ \d+",
        "Losses": r"^ +rejected +[1-9]\d*",
    }
    with Live(corral) as (t, _):
        for i, view in enumerate(VIEWS, 1):
            t.key(str(i))
            screen = t.wait(wanted[view])
            assert f"[{i} {view}]" in screen, screen
            lines = screen.splitlines()
            assert re.match(r"LOSS:  LOST [1-9]\d*  drops 0  REJECTED \d+  late 0  unknown pcs 0", lines[22]), screen
            assert len(lines[0]) <= 80
        t.key("8")
        t.wait(r"short +[1-9]|magic +[1-9]")
        t.key("6")
        t.wait(r"map: \d+ pages of 4096 bytes; may be incomplete")
        t.key("7")
        t.wait(r"DSRs: \d+")
        t.key("?")
        screen = t.wait("Keys and words")
        assert "LOST" in screen
        t.key("Escape")
        t.wait(r"^Latency")
        t.key("q")
        t.assert_given_back(0)


def test_keys_details_search_sorting_and_threads(corral):
    with Live(corral) as (t, _):
        t.key("Tab", "Right")
        t.wait(r"\[3 Functions\]")
        t.wait(r"^Functions: 4")
        t.key("Down", "Enter")
        screen = t.wait("Details")
        assert re.search(r"^beta", screen, re.M) and "Callers" in screen and "LOST" in screen, screen
        t.key("Escape")
        t.key("<")
        t.wait("by file:line|by function")
        t.type("/GAM")
        t.wait("^/GAM_")
        t.wait(r"^Functions: 1 of 4 with \"GAM\"")
        t.enter()
        screen = t.wait(r"\bgamma\b")
        assert "alpha" not in screen, screen
        t.key("Escape")
        t.wait(r"^Functions: 4")
        t.key("t")
        t.wait(r"only thread 0")
        t.key("1")
        screen = t.wait(r"^Functions: 4, only thread 1")
        assert "[3 Functions]" in screen
        t.key("BTab")
        t.wait(r"\[2 Threads\]")
        t.key("q")
        t.assert_given_back(0)


def test_standing_still_and_counting_anew(corral):
    with Live(corral) as (t, sender):
        t.wait(r" \d{3,} samples  1 sender")
        t.key("Space")
        t.wait("PAUSED")
        before = re.search(r"(\d+) samples", t.show()).group(1)
        time.sleep(2.5)
        screen = t.wait("PAUSED")
        assert re.search(r"(\d+) samples", screen).group(1) == before, screen
        t.key("p")
        t.wait("PAUSED", gone=True)
        t.wait(rf"^corral top .* {before} samples", gone=True)
        t.wait(r" [4-9]\d\d samples|\d{4,} samples")
        sender.kill()
        t.key("r")
        t.wait(r"^corral top .*  0 samples")
        assert "LOSS" not in t.wait(r"^no loss")
        t.key("q")
        t.assert_given_back(0)


def test_another_size_of_the_window(corral):
    with Live(corral) as (t, _):
        t.key("3")
        t.tmux("resize-window", "-x", 40, "-y", 10)
        screen = t.wait(r"^1 2 \[3 Functions\] 4 5 6 7 8$")
        assert "LOST" in screen and re.search(r"%.* alpha$", screen, re.M), screen
        t.tmux("resize-window", "-x", 39, "-y", 9)
        screen = t.wait(r"At least 40x10")
        assert "LOST" in screen, screen
        t.tmux("resize-window", "-x", 200, "-y", 50)
        screen = t.wait(r"I-wait .*function .*file:line .*sender")
        assert re.match("LOSS", screen.splitlines()[48]), screen
        t.key("q")
        t.assert_given_back(0)


def test_a_dead_target_is_told_and_waited_for(corral):
    live = Live(corral)
    with live as (t, sender):
        sender.kill()
        screen = t.wait(r"nothing for \d+ s$")
        assert "LOST" in screen
        live.sender = Sender(live.port)
        t.wait(r"nothing for", gone=True)
        t.wait(r"  2 senders")
        t.key("C-c")
        t.assert_given_back(0)


def test_ended_by_signals_the_terminal_is_given_back(corral):
    """What cannot be caught is not in the list; -SEGV and -ABRT leave what a crash leaves."""
    for number, code in ((signal.SIGTERM, 0), (signal.SIGSEGV, r"(139|1)"), (signal.SIGABRT, r"(134|1)")):
        with Replay(corral, before="ulimit -c 0; ") as t:
            os.kill(t.pid(), number)
            t.assert_given_back(code)


def test_suspended_and_continued(corral):
    with Live(corral) as (t, _):
        t.key("C-z")
        t.wait(r"Stopped")
        assert t.info("alternate_on") == "0"
        assert t.stty() == t.modes
        t.type("fg")
        t.enter()
        t.wait(r"^LOSS:  LOST [1-9]")
        assert t.info("alternate_on") == "1"
        t.key("2")
        t.wait(r"\[2 Threads\]")
        os.kill(t.pid(), signal.SIGSTOP)  # nobody is asked; what is on the screen then is nobody's fault
        t.wait(r"Stopped")
        t.type("fg")
        t.key("C-j")  # the terminal is still as it was left: Return is no line feed
        t.wait(r"\[2 Threads\]")
        t.key("3")
        t.wait(r"\[3 Functions\]")
        t.key("q")
        t.wait(r"samples in \d+ packets")
        assert t.info("alternate_on") == "0"
        assert t.stty() == t.modes


def test_other_terminals_and_no_colour(corral):
    for term, env in (("vt100", ""), ("xterm-256color", ""), ("screen", "NO_COLOR=1")):
        with Replay(corral, term=term, env=env) as t:
            t.key("3")
            t.wait(r"%.* alpha")
            coloured = re.search(r"\x1b\[[0-9;]*3[0-7]m", t.show("-e"))
            assert bool(coloured) == (term == "xterm-256color"), (term, t.show("-e"))
            t.key("q")
            t.wait(r"^exit=0$")
            assert t.stty() == t.modes


def test_a_capture_file_is_looked_through(corral):
    with Replay(corral) as t:
        t.wait(r"90 samples \(90 active\) in 9 packets, 1 lost")
        assert "LOST 1 " in t.show()
        t.wait(r"a file counts once", keys="r")  # it stands for some seconds only
        assert "nothing for" not in t.show()
        t.key("q")
        t.assert_given_back(0)


def test_ten_thousand_addresses_and_functions(corral):
    names = [f"function_{i:05}" for i in range(10000)]
    elf = build.write(corral, "big.elf", build.elf(functions=names))
    packets = []
    for i in range(205):
        samples = [build.sample(build.BASE + 256 * j) for j in range(49 * i, min(49 * i + 49, 10000))]
        packets.append((i / 20, 1, 4000, build.v17(i + 1, samples, clocks=i * 5000000)))
    pcap = build.write(corral, "big.pcap", build.pcap(packets))
    t = Terminal(corral)
    try:
        t.start("top", "--pcap", pcap, "--elf", elf)
        t.wait(r"10000 samples")
        t.key("3")
        t.wait(r"^Functions: 10000")
        t.key("<", "<", "<")
        t.key("End")
        t.wait(r"function_\d{5}")
        t.type("/_0777")
        t.wait(r"^Functions: 10 of 10000")
        t.enter()
        t.key("4")
        t.wait(r"^Addresses: 10 of 10000")
        t.key("Escape")
        t.wait(r"^Addresses: 10000")
        t.key("q")
        t.assert_given_back(0)
    finally:
        t.close()


def test_seconds_end_it(corral):
    with Live(corral, "--seconds", "1", sender=False) as (t, _):
        t.assert_given_back(0)


def test_without_a_terminal_it_says_what_to_do(corral):
    r = corral("top")
    assert r.code == 2 and "must be a terminal" in r.err and "corral profile" in r.err and r.out == "", (r.code, r.err)
    r = corral("--json", "top")
    assert r.code == 2 and r.out == "" and '"code"' in r.err
    for words in (["--export", "folded:x"], ["--fail-on-loss"], ["--diff", "a", "b"]):
        r = corral("top", *words)
        assert r.code == 2 and words[0] in r.err and "'corral profile'" in r.err, r.err
    r = corral("top", "--frob")
    assert r.code == 2 and "--frob" in r.err
    assert "corral --link sim top" in corral("top", "--help").out
    assert re.search(r"^  top +", corral("--help").out, re.M)


def test_terminals_that_cannot_do_it(corral):
    t = Terminal(corral)
    try:
        for term, words in (("dumb", "does not move"), ("frob", "nothing is known")):
            t.start("top", before=f"TERM={term} ")
            t.wait(words)
            t.wait(r"^exit=2$")
            t.type("clear")
            t.enter()
            t.wait(words, gone=True)
    finally:
        t.close()


tap.main(globals())
