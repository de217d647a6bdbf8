# SPDX-License-Identifier: Apache-2.0
"""`corral log --follow` for a long time, on slow terminals: every record once and in order, or a gap with the exact
count. On the virtual board with a program that resets it (soak_firmware.c), and on mapped memory beside a writer that
waits for nobody.

usage: soak_log.py CORRAL CORE0.ELF CORE1.ELF SECONDS [TEST...]   (make soak)
SECONDS are the board's where it is the board, and else the wall clock's. A TEST is named without its "test_".
"""
import collections
import json
import mmap
import os
import random
import re
import signal
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import tap

BOOT_S = 10                    # soak_firmware.c: BOOT_MS
LEVELS = ["err", "wrn", "inf", "dbg"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SEEN = {}                      # what the JSON run has shown, for the text run


def soak_args():
    return os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]), float(sys.argv[4])


def note(text):
    print("# " + text, flush=True)


class Terminal:
    """A pseudo-terminal that takes a few hundred bytes and then looks away; in the middle for seconds."""

    def __init__(self, corral, *args, piece=512, pause=0.006, stall=5.0):
        self.master, slave = os.openpty()
        self.pause, self.piece, self.stall = pause, piece, stall
        self.started = time.monotonic()
        self.error = []
        self.p = subprocess.Popen([corral.exe, *map(str, args)], cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=slave,
                                  stderr=subprocess.PIPE)
        os.close(slave)
        self.errors = threading.Thread(target=lambda: self.error.append(self.p.stderr.read()))
        self.errors.start()

    def read(self):
        try:
            return os.read(self.master, self.piece)
        except OSError:        # EIO: the other end is closed
            return b""

    def text(self, stall_after=1 << 20):
        pieces, length = [], 0
        while data := self.read():
            pieces.append(data)
            length += len(data)
            time.sleep(self.pause)
            if length > stall_after:
                time.sleep(self.stall)
                stall_after = 1 << 62
        return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")

    def end(self):
        code = self.p.wait(120)
        self.errors.join()
        os.close(self.master)
        self.wall = time.monotonic() - self.started
        return code, self.error[0].decode()


def filler(n):
    return "".join(chr(ord("a") + (n + i) % 26) for i in range(20 + n * 7 % 80))


class Core:
    """What one core's stream has shown, and whether that is what soak_firmware.c must have logged."""

    def __init__(self, number):
        self.number, self.boot = number, 0
        self.records = self.lost = self.gaps = self.restarts = 0
        self.resets = 0        # events that say so
        self.shown = []        # (boot, line) of all that were shown
        self.begin()

    def begin(self):
        self.last, self.line, self.holes, self.told, self.cut, self.count, self.stamp = -1, -1, 0, 0, 0, 0, -1
        self.pending, self.missing = None, 0

    def gap(self, expected, sequence, lost):
        assert expected == self.last + 1 and lost == sequence - expected > 0 and self.pending is None, (
            self.number, self.last, expected, sequence, lost)
        self.pending, self.missing = sequence, self.missing + lost
        self.holes += lost
        self.lost += lost
        self.gaps += 1

    def restart(self, previous, sequence):
        assert previous == self.last and sequence == 0 and self.pending is None, (self.number, previous, sequence)
        self.previous = (self.count, self.holes, self.told, self.cut)
        self.boot += 1
        self.restarts += 1
        self.begin()

    def log(self, sequence, level, source, text, stamp):
        want = self.last + 1 if self.pending is None else self.pending
        assert sequence in (want, None), (self.number, self.boot, want, sequence, text)
        assert source == ("SMC", "DMC")[self.number], source
        assert stamp >= self.stamp, (stamp, self.stamp)
        self.stamp, self.last, self.pending = stamp, want, None
        self.records += 1
        self.count += 1
        self.shown.append((self.boot, want, text))
        if notice := re.fullmatch(r"(\d+) messages dropped", text):
            self.told += int(notice[1])
            assert level == "wrn" and self.told == self.holes, (self.number, self.boot, text, self.told, self.holes)
            return
        self.line += 1 + self.missing
        self.missing = 0
        head = f"soak c{self.number} b{self.boot} n={self.line} d={self.holes} "
        if self.line == 0:
            assert text.startswith(head), (text, head)
            self.check_reset(text[len(head):])
            return
        assert level == LEVELS[self.line % 4], (level, text)
        whole = head + filler(self.line)
        if text != whole:      # the producer cuts a text to the room that it has left
            assert whole.startswith(text), (text, whole)
            self.cut += 1

    def check_reset(self, text):
        """The first line tells what the firmware itself had counted when the board was reset."""
        told = {k: int(v) for k, v in (word.split("=") for word in text.split())}
        if self.boot == 0:
            return
        if not told["exact"]:
            return
        count, holes, notices, cut = self.previous
        missing = told["delivered"] - count
        # Core 0's buffer is the host's and lies untouched; core 1 makes its own empty, whatever was in it.
        assert missing == 0 or (self.number == 1 and missing == told["held"]), (self.number, self.boot, told, count)
        assert holes <= told["dropped"] and notices <= told["dropped"] and cut <= told["cut"], (told, self.previous)
        assert told["logged"] > BOOT_S * 1000 / 10 and told["dropped"] > 0


def summary_agrees(s, cores):
    assert s["records"] == sum(c.records for c in cores), s
    assert s["lost"] == sum(c.lost for c in cores) and s["gaps"] == sum(c.gaps for c in cores), s
    assert s["restarts"] == sum(c.restarts for c in cores) and s["torn"] == 0 and s["dropped"] == 0, s
    assert s["anomalies"] <= sum(c.restarts for c in cores), s


def board_agrees(cores, seconds):
    for c in cores:
        assert c.restarts >= max(1, int(seconds / (BOOT_S + 2))), (c.number, c.restarts)
        assert c.lost > 0 and c.gaps > seconds / 4, "the bursts were too small to lose anything"
    assert cores[0].resets == cores[0].restarts


def board_run(corral, *options, seconds, **how):
    core0, core1, _ = soak_args()
    t = Terminal(corral, *options, "--link", f"sim:{core0},{core1}", "log", "--follow", "--seconds", seconds, **how)
    text = t.text()
    code, err = t.end()
    return t, text, code, err


def read_json(lines, cores):
    for e in map(json.loads, lines):
        if e["kind"] == "summary":
            return e
        if e["kind"] == "anomaly":
            assert e["reason"] == "owner", e
            continue
        c = cores[int(e["core"][-1])]
        if e["kind"] == "log":
            assert e["target_ns"] == e["timestamp"] * 1_000_000 and not e["torn"], e
            c.log(e["sequence"], e["level"], e["source"], e["text"], e["timestamp"])
        elif e["kind"] == "gap":
            assert e["reason"] == "sequence", e
            c.gap(e["expected"], e["sequence"], e["lost"])
        elif e["kind"] == "restart":
            c.restart(e["previous"], e["sequence"])
        else:
            assert e["kind"] == "link" and e["state"] == "reset", e
            c.resets += 1
    raise AssertionError("no summary")


def test_board_in_json_on_a_slow_terminal(corral):
    seconds = soak_args()[2]
    t, text, code, err = board_run(corral, "--json", seconds=seconds)
    assert code == 0 and err == "", (code, err)
    cores = [Core(0), Core(1)]
    lines = text.splitlines()
    s = read_json(lines, cores)
    assert json.loads(lines[-1]) == s, "the summary is the last line"
    summary_agrees(s, cores)
    board_agrees(cores, seconds)
    SEEN["board"] = [c.shown for c in cores], s
    note(f"{seconds:g} s of the board in {t.wall:.0f} s: {len(text)} bytes, {s['records']} records, {s['lost']} lost in "
         f"{s['gaps']} gaps, {s['restarts']} restarts, {s['anomalies']} anomalies")


TEXT_LOG = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (\d\d):(\d\d):(\d\d)\.(\d{3}) core([01]) (SMC|DMC) (\w{3}) (.*)")
TEXT_GAP = re.compile(r"\d\d:\d\d:\d\d\.\d{3} @[\d:.]+ core([01]) -- (\d+) records? lost \(expected (\d+), got (\d+)\) --")
TEXT_RESTART = re.compile(r"\d\d:\d\d:\d\d\.\d{3} @[\d:.]+ core([01]) -- restarted \(sequence (\d+), then (\d+)\) --")
TEXT_SUMMARY = re.compile(
    r"(\d+) records, (\d+) lost in (\d+) gaps, (\d+) restarts, (\d+) cut, (\d+) anomalies")


def test_board_in_text_on_a_slow_terminal(corral):
    seconds = soak_args()[2]
    t, text, code, err = board_run(corral, seconds=seconds, piece=256, pause=0.006)
    assert code == 0 and err == "", (code, err)
    assert "\x1b[" in text, "a terminal gets colours"
    cores, s = [Core(0), Core(1)], None
    for line in COLOUR.sub("", text).splitlines():
        assert s is None, "the summary is the last line"
        if m := TEXT_LOG.fullmatch(line):
            stamp = ((int(m[1]) * 60 + int(m[2])) * 60 + int(m[3])) * 1000 + int(m[4])
            cores[int(m[5])].log(None, m[7], m[6], m[8], stamp)
        elif m := TEXT_GAP.fullmatch(line):
            cores[int(m[1])].gap(int(m[3]), int(m[4]), int(m[2]))
        elif m := TEXT_RESTART.fullmatch(line):
            cores[int(m[1])].restart(int(m[2]), int(m[3]))
        elif m := TEXT_SUMMARY.fullmatch(line):
            s = dict(zip(("records", "lost", "gaps", "restarts", "torn", "anomalies"), map(int, m.groups())), dropped=0)
        elif re.search(r"started again", line):
            cores[0].resets += 1
        else:
            assert re.search(r"core[01] anomaly: owner ", line), line
    summary_agrees(s, cores)
    board_agrees(cores, seconds)
    if "board" in SEEN:        # the host's clock is the board's: how slow a terminal is changes nothing
        shown, other = SEEN["board"]
        assert [c.shown for c in cores] == shown and all(other[k] == v for k, v in s.items()), (s, other)
    note(f"{seconds:g} s of the board in {t.wall:.0f} s: {len(text)} bytes, {s['records']} records, {s['lost']} lost in "
         f"{s['gaps']} gaps, {s['restarts']} restarts, {s['anomalies']} anomalies")


def test_fail_on_loss(corral):
    core0, core1, _ = soak_args()
    link = "--link", f"sim:{core0},{core1}"
    r = corral("--json", *link, "log", "--follow", "--seconds", "4", "--fail-on-loss")
    assert r.code == 4 and json.loads(r.err)["error"]["name"] == "data-lost", (r.code, r.err)
    assert r.lines()[-1]["lost"] > 0
    assert f"{r.lines()[-1]['lost']} records" in json.loads(r.err)["error"]["message"], r.err
    r = corral("--json", *link, "log", "--follow", "--seconds", "1", "--fail-on-loss")
    assert r.code == 0 and r.err == "" and r.lines()[-1]["lost"] == 0, (r.code, r.err)
    r = corral("log", "--follow", "--seconds", "1", "--fail-on-loss")
    assert r.code == 0 and r.err == "", (r.code, r.err)


def test_interrupted_while_the_terminal_takes_nothing(corral):
    core0, core1, _ = soak_args()
    for options in (["--json"], []):
        t = Terminal(corral, *options, "--link", f"sim:{core0},{core1}", "log", "--follow", pause=0, piece=65536)
        first = t.read()
        time.sleep(2)          # the terminal's buffer has long been full
        t.p.send_signal(signal.SIGINT)
        time.sleep(1)
        text = (first.decode() + t.text()).replace("\r\n", "\n")
        code, err = t.end()
        assert code == 0 and err == "", (code, err)
        assert text.endswith("\n"), "whole lines"
        if options:
            cores = [Core(0), Core(1)]
            summary_agrees(read_json(text.splitlines(), cores), cores)
        else:
            assert TEXT_SUMMARY.fullmatch(text.splitlines()[-1])


def test_terminal_that_goes_away(corral):
    core0, core1, _ = soak_args()
    t = Terminal(corral, "--json", "--link", f"sim:{core0},{core1}", "log", "--follow")
    t.read()
    os.close(t.master)
    t.master = os.open(os.devnull, os.O_RDONLY)
    code, err = t.end()
    assert code == 1 and json.loads(err)["error"]["message"].startswith("cannot write the output"), (code, err)


# ---- mapped memory: the real clock, and a firmware that does not wait

MAGIC, CAP, BASE = 0x544C4F47, 4112, 0x20000000


class Firmware(threading.Thread):
    """Drops whole batches while the host has the buffer, as released firmware does, and starts again in between."""

    def __init__(self, path, seconds):
        super().__init__()
        self.map = mmap.mmap(os.open(path, os.O_RDWR), CAP)
        self.seconds, self.random = seconds, random.Random(1)
        self.boots = [[0, 0]]  # each: numbers used, handed over
        self.destroyed = 0     # handed over, and perhaps never read
        self.begin()

    def begin(self):
        self.map[12] = 0       # a reset can come at any time, also while the host reads
        self.map[0:12] = struct.pack("<III", 16, CAP, MAGIC)

    def batch(self, boot):
        content, count = b"", self.random.randint(1, 60)
        numbers = self.boots[-1]
        for i in range(count):
            n = numbers[0] + i
            body = f"boot {boot} line {n} {filler(n)[:n % 40]}".encode() + b"\0"
            content += struct.pack("<HBBII", 12 + len(body), 1 + n % 4, 0, n & 0xFFFFFFFF, n) + body
        numbers[0] += count
        if self.map[12] != 0 or len(content) > CAP - 16:
            return 0
        self.map[16:16 + len(content)] = content
        self.map[0:4] = struct.pack("<I", 16 + len(content))
        self.map[12] = 1
        numbers[1] += count
        return count

    def run(self):
        started = time.monotonic()
        boot, handed = 0, 0
        while (now := time.monotonic() - started) < self.seconds:
            handed = self.batch(boot) or handed
            time.sleep(self.random.random() * 0.006)
            if boot < 2 and now > self.seconds * (boot + 1) / 3:
                if self.map[12]:
                    self.destroyed += handed
                self.begin()
                boot += 1
                self.boots.append([0, 0])
        while self.map[12]:    # the last batch is taken
            time.sleep(0.01)


def test_mapped_memory_on_a_slow_terminal(corral):
    seconds = soak_args()[2]
    path = corral.path("ram.bin")
    open(path, "wb").truncate(CAP)
    firmware = Firmware(path, seconds)
    t = Terminal(corral, "--json", "--link", f"shm:ram.bin@{BASE:#x}", "log", "--follow", "--buffer",
                 f"{BASE:#x}:{CAP}", piece=400, pause=0.004, stall=max(5, seconds / 4))
    firmware.start()

    def stop():
        firmware.join()
        time.sleep(0.3)
        t.p.send_signal(signal.SIGTERM)
        t.pause = 0            # what is queued by now is read fast
    stopper = threading.Thread(target=stop)
    stopper.start()
    lines = t.text(stall_after=200_000).splitlines()
    code, err = t.end()
    stopper.join()
    assert code == 0 and err == "", (code, err)
    kinds = collections.Counter()
    shown = unshown = boot = 0
    last = -1
    blind = False              # the output itself has lost events: the stream goes on somewhere behind,
    behind = False             # perhaps in a later boot
    s = json.loads(lines[-1])
    for e in map(json.loads, lines[:-1]):
        kinds[e["kind"]] += 1
        if e["kind"] == "gap" and e["reason"] == "sink":
            kinds["gap"] -= 1
            # ordinals of all events that were published: those before it were shown or are accounted for
            assert e["expected"] == shown + unshown and e["lost"] == e["sequence"] - e["expected"] > 0, (e, shown, unshown)
            unshown += e["lost"]
            blind = behind = True
            continue
        shown += 1
        if e["kind"] == "gap":
            assert e["reason"] == "sequence" and e["lost"] == e["sequence"] - e["expected"] > 0, e
            assert blind or e["expected"] == last + 1, (e, last)
            last, blind = e["sequence"] - 1, False
        elif e["kind"] == "restart":
            assert blind or e["previous"] == last, (e, last)
            last, boot, blind = e["sequence"] - 1, boot + 1, False
        elif e["kind"] == "log":
            n = e["sequence"]
            words = e["text"].split(" ")
            assert blind or n == last + 1, (e, last)
            if behind:
                assert int(words[1]) >= boot, (e, boot)
                boot, behind = int(words[1]), False
            want = f"boot {boot} line {n} {filler(n)[:n % 40]}"
            assert e["text"] == want and e["level"] == LEVELS[n % 4], (e, want)
            last, blind = n, False
        else:
            assert e["kind"] == "anomaly" and e["reason"] in ("owner", "magic"), e
    assert s["kind"] == "summary" and unshown == s["dropped"], (s, unshown)
    assert shown + unshown == s["records"] + s["gaps"] + s["restarts"] + s["anomalies"], (s, kinds)
    assert s["restarts"] == 2 and s["torn"] == 0 and s["anomalies"] <= 4, s
    handed = sum(h for _, h in firmware.boots)
    assert 0 <= handed - s["records"] <= firmware.destroyed, (s, firmware.boots, firmware.destroyed)
    used = sum(n for n, _ in firmware.boots)
    assert s["records"] + s["lost"] <= used and s["lost"] > 0, (s, used)
    note(f"{seconds:g} s: {used} numbers used, {handed} records handed over, {s['records']} read, {s['lost']} lost in "
         f"{s['gaps']} gaps, {s['restarts']} restarts, {s['dropped']} not shown by this slow output")


if __name__ == "__main__":
    tap.main({name: f for name, f in globals().items() if not sys.argv[5:] or name[len("test_"):] in sys.argv[5:]})
