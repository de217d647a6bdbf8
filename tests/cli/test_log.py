# SPDX-License-Identifier: Apache-2.0
"""`corral log`: mapped memory, the virtual board, the driver's device; --status; losses and exit codes. The checks 08
and 10 of the public bug reports are here, too."""
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

import tap

MAGIC = 0x544C4F47
BASE = 0x20000000
CAP = 4112
REPORTS = os.path.join(tap.SHARED, "reports")


def record(sequence, text, level=3, source=0, stamp=None):
    body = text.encode() + b"\0"
    return struct.pack("<HBBII", 12 + len(body), level, source, sequence if stamp is None else stamp, sequence) + body


def buffer(records=b"", owner=1, magic=MAGIC, size=CAP, version=0):
    head = struct.pack("<IIIBBH", 16 + len(records), size, magic, owner, version, 0)
    return (head + records).ljust(size, b"\0")


def memory(corral, *placed, size=0x4000, name="ram.bin"):
    data = bytearray(b"\xee" * size)
    for offset, content in placed:
        data[offset:offset + len(content)] = content
    path = corral.path(name)
    open(path, "wb").write(data)
    return path, bytes(data)


def shm(corral, *args, options=("--json",), at=0x400, **kw):
    return corral("--link", f"shm:ram.bin@{BASE:#x}", *options, "log", "--buffer", f"{BASE + at:#x}:{CAP}", *args, **kw)


def summary(r):
    last = r.lines()[-1]
    assert last["kind"] == "summary", last
    return last


def logs(lines, **want):
    return [e for e in lines if e["kind"] == "log" and all(e[k] == v for k, v in want.items())]


# ---- mapped memory

def test_what_is_there_now_then_the_summary(corral):
    path, before = memory(corral, (0x400, buffer(record(7, "hello") + record(8, "world", 1, 1))))
    r = shm(corral)
    assert r.code == 0 and r.err == "", r.err
    assert [(e["sequence"], e["level"], e["source"], e["text"]) for e in logs(r.lines())] == [
        (7, "inf", "SMC", "hello"), (8, "err", "DMC", "world")]
    assert summary(r) == {"kind": "summary", "stream": "tlog", "batches": 1, "records": 2, "lost": 0, "gaps": 0,
                          "restarts": 0, "torn": 0, "anomalies": 0, "dropped": 0}
    after = open(path, "rb").read()
    assert after[0x40c] == 0, "handed back"
    assert [i for i in range(len(after)) if after[i] != before[i]] == [0x40c], "one byte, and no other"
    r = shm(corral, options=())
    assert r.code == 0 and r.out == "0 records, 0 lost in 0 gaps, 0 restarts, 0 cut, 0 anomalies\n"


def test_a_log_without_records_says_why(corral):
    for content, words in ((bytes(CAP), "(not-set-up): there is no header: nobody has set this buffer up"),
                           (buffer(owner=0), "(quiet): set up, but the firmware has sent nothing for "),
                           (buffer(magic=0x12345678), "(wrong-magic): the magic is 0x12345678")):
        memory(corral, (0x400, content))
        r = shm(corral, options=())
        assert r.code == 0 and r.out.splitlines()[-1].startswith("0 records,"), r.out
        assert len(r.err.splitlines()) == 1 and f"no records from tlog {words}" in r.err, r.err
        for options in (("--quiet",), ("--json",)):
            assert shm(corral, options=options).err == ""
    memory(corral, (0x400, buffer(record(7, "hello"))))
    assert shm(corral, options=()).err == "", "a log that spoke needs no words"


def test_a_file_that_is_one_buffer_needs_no_place(corral):
    open(corral.path("one.bin"), "wb").write(buffer(record(0, "here")))
    r = corral("--json", "--link", "shm:one.bin", "log")
    assert r.code == 0 and logs(r.lines())[0]["text"] == "here", r.err
    open(corral.path("big.bin"), "wb").truncate(2 << 20)
    r = corral("--json", "--link", "shm:big.bin", "log")
    assert r.code == 2 and "--buffer" in json.loads(r.err)["error"]["hint"]


def test_foreign_memory_is_not_written(corral):
    for content in (bytes(CAP), b"\xff" * CAP, buffer(magic=0x12345678), os.urandom(12) + b"\1" + os.urandom(CAP - 13)):
        path, before = memory(corral, (0x400, content))
        assert shm(corral, "--seconds", "0.05").code == 0
        assert open(path, "rb").read() == before


def test_level_and_source(corral):
    lines = b"".join(record(i, f"t{i}", level, source) for i, (level, source) in enumerate(
        [(0, 0), (1, 0), (2, 1), (3, 0), (4, 1), (7, 9)]))
    for args, want in ((("--level", "err"), ["t0", "t1"]), (("--level", "wrn"), ["t0", "t1", "t2"]),
                       (("--source", "DMC"), ["t2", "t4"]), (("--source", "src9"), ["t5"]),
                       (("--level", "inf", "--source", "SMC"), ["t0", "t1", "t3"])):
        memory(corral, (0x400, buffer(lines)))
        r = shm(corral, *args)
        assert [e["text"] for e in logs(r.lines())] == want, (args, r.out)
        assert summary(r)["records"] == 6


def test_fail_on_loss(corral):
    memory(corral, (0x400, buffer(record(1, "a") + record(5, "b"))))
    r = shm(corral, "--fail-on-loss")
    assert r.code == 4 and json.loads(r.err)["error"]["name"] == "data-lost", r.err
    assert summary(r)["lost"] == 3 and [e["lost"] for e in r.lines() if e["kind"] == "gap"] == [3]
    memory(corral, (0x400, buffer(record(1, "a") + record(5, "b"))))
    assert shm(corral).code == 0
    memory(corral, (0x400, buffer(record(5, "a") + record(0, "b"))))
    r = shm(corral, "--fail-on-loss")
    assert r.code == 0 and summary(r)["restarts"] == 1, "a restart is no loss"


def test_mistakes(corral):
    memory(corral, (0x400, buffer()))
    for args in (["--buffer", "1"], ["--buffer", "x:4112"], ["--buffer", "0x20000400:28"], ["--buffer", "0:99999999"],
                 ["--level", "loud"], ["--source", "256"], ["--source", "me"], ["--follow", "--status"], ["word"],
                 ["--symbol", "a", "--buffer", "0:4112"], ["--device", "x", "--symbol", "y"], ["--seconds", "-1"]):
        r = corral("--link", "shm:ram.bin", "log", *args)
        assert r.code == 2 and r.out == "" and "corral log --help" in r.err, (args, r.code, r.err)
    r = shm(corral, at=0x4000 - 100)
    assert r.code == 2 and "outside the mapped" in r.err
    r = corral("--link", "shm:ram.bin", "log", "--core", "core0", "--buffer", "0:4112")
    assert r.code == 2 and "memory only" in r.err
    r = corral("--link", "shm:gone.bin", "log")
    assert r.code == 3 and "gone.bin" in r.err
    r = corral("log", "--help")
    assert r.code == 0 and "Example:" in r.out


def test_case_40_two_readers(corral):
    memory(corral, (0x400, buffer(record(0, "mine"))))
    p = corral.start("--link", f"shm:ram.bin@{BASE:#x}", "log", "--follow", "--buffer", f"{BASE + 0x400:#x}:{CAP}")
    try:
        assert b"mine" in p.stdout.readline()
        r = shm(corral)
        assert r.code == 3 and "in use by another corral" in r.err, r.err
    finally:
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=30)
    assert p.returncode == 0 and shm(corral).code == 0


def test_device_that_a_driver_owns(corral):
    os.mkdir(corral.path("0000:03:00.0"))
    memory(corral, (0x400, buffer(record(1, "the driver's"))), name="0000:03:00.0/resource0")
    os.symlink("../../bus/pci/drivers/tenstorrent", corral.path("0000:03:00.0/driver"))
    before = open(corral.path("0000:03:00.0/resource0"), "rb").read()
    r = corral("--json", "--link", "shm:0000:03:00.0/resource0@0", "log", "--buffer", "0x400:4112")
    error = json.loads(r.err)["error"]
    assert r.code == 3 and r.out == "" and "'tenstorrent'" in error["message"] and "--device" in error["hint"]
    assert open(corral.path("0000:03:00.0/resource0"), "rb").read() == before


# ---- --status

def status(corral, content, *args):
    path, before = memory(corral, (0x400, content))
    r = shm(corral, "--status", "--seconds", "0.1", *args)
    assert r.code == 0, r.err
    assert open(path, "rb").read() == before, "looking changes nothing"
    (one,) = json.loads(r.out)["logs"]
    return one


def test_status_says_why(corral):
    for content, state, words in (
            (bytes(CAP), "not-set-up", "nobody has set"),
            (buffer(owner=0), "quiet", "sent nothing"),
            (buffer(record(0, "x")), "owner-stuck", "a batch of 14 bytes waits"),
            (buffer(owner=0x80), "owner-stuck", "0x80"),
            (buffer(magic=0x12345678), "wrong-magic", "0x12345678"),
            (buffer(magic=0x474F4C54), "wrong-magic", "other way round"),
            (b"\xff" * CAP, "link-dead", "all ones")):
        one = status(corral, content)
        assert one["state"] == state and words in one["message"], one
        assert one["address"] == BASE + 0x400 and one["size"] == CAP
    assert status(corral, buffer(owner=0))["quiet_ns"] >= 90_000_000
    memory(corral, (0x400, buffer(owner=0)))
    r = shm(corral, "--status", "--seconds", "0.1", options=())
    assert r.code == 0 and "quiet: " in r.out


def test_status_of_the_board(corral):
    r = corral("--json", "log", "--status", "--seconds", "0.3")
    assert r.code == 0, r.err
    assert [(one["core"], one["state"]) for one in json.loads(r.out)["logs"]] == [
        ("core0", "active"), ("core1", "active")], r.out


def stopped(corral, path, seconds):
    """--status for so long; the buffer changes in the first third of that, then no more."""
    p = corral.start("--link", f"shm:ram.bin@{BASE:#x}", "--json", "log", "--status", "--seconds", str(seconds),
                     "--buffer", f"{BASE + 0x400:#x}:{CAP}")
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as view:
        end, offset = time.monotonic() + seconds / 3, 16
        while time.monotonic() < end:
            offset = 16 + (offset + 4) % 2048
            view[0x400:0x404] = struct.pack("<I", offset)
            time.sleep(0.01)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 0, err
    return json.loads(out)["logs"][0]


def test_status_of_a_log_that_stopped_while_it_was_watched(corral):
    path, _ = memory(corral, (0x400, buffer(owner=0)))
    for seconds in (1.5, 5, 20):  # a loaded machine may begin to look when all is over
        one = stopped(corral, path, seconds)
        if one["state"] == "active":
            break
    assert one["state"] == "active" and "the last one" in one["message"] and one["quiet_ns"] >= 250_000_000, one


# ---- following

class Firmware(threading.Thread):
    """The other side of a mapped buffer: hands batches over as fast as they are taken."""

    def __init__(self, path, at, batches):
        super().__init__()
        self.file = open(path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 0)
        self.at, self.batches, self.sent = at, batches, 0

    def run(self):
        end = time.monotonic() + 60
        for _ in range(self.batches):
            content = b"".join(record(self.sent + i, f"line {self.sent + i}") for i in range(20))
            self.map[self.at + 16:self.at + 16 + len(content)] = content
            self.map[self.at:self.at + 4] = struct.pack("<I", 16 + len(content))
            self.map[self.at + 12] = 1
            self.sent += 20
            while self.map[self.at + 12] == 1 and time.monotonic() < end:
                time.sleep(0.0005)


def follow(corral, *args, at=0x400):
    return corral.start("--link", f"shm:ram.bin@{BASE:#x}", *args, "log", "--follow", "--buffer",
                        f"{BASE + at:#x}:{CAP}")


def test_follow_until_interrupted(corral):
    path, _ = memory(corral, (0x400, buffer(owner=0)))
    for number in (signal.SIGINT, signal.SIGTERM):
        p = follow(corral, "--json")
        firmware = Firmware(path, 0x400, 50)
        firmware.start()
        firmware.join()
        p.send_signal(number)
        out, err = p.communicate(timeout=30)
        assert p.returncode == 0 and err == b"", (p.returncode, err)
        lines = [json.loads(line) for line in out.splitlines()]
        assert [e["sequence"] for e in logs(lines)] == list(range(1000))
        assert lines[-1]["kind"] == "summary" and lines[-1]["records"] == 1000 and lines[-1]["lost"] == 0


def test_follow_shows_both_times(corral):
    path, _ = memory(corral, (0x400, buffer(record(3, "now", stamp=61250))))
    p = follow(corral)
    line = p.stdout.readline().decode()
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=30)
    wall, target, rest = line.split(" ", 2)
    assert target == "00:01:01.250" and rest == "tlog SMC inf now\n", line
    seconds = int(wall[0:2]) * 3600 + int(wall[3:5]) * 60 + float(wall[6:])
    now = time.localtime()
    assert abs(seconds - (now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec)) % 86400 < 60, wall


def test_memory_that_goes_away_while_followed(corral):
    path, _ = memory(corral, (0x400, buffer(record(3, "last words"))))
    p = follow(corral, "--json")
    line = p.stdout.readline()
    os.truncate(path, 0)
    out, err = p.communicate(timeout=30)
    assert p.returncode == 3 and json.loads(err)["error"]["name"] == "link-down", (p.returncode, err)
    assert b"last words" in line and json.loads(out.splitlines()[-1])["kind"] == "summary"


def test_board_is_followed_with_nothing_lost(corral):
    r = corral("--json", "log", "--follow", "--seconds", "0.4", "--fail-on-loss")
    assert r.code == 0, r.err
    for core, source in (("core0", "SMC"), ("core1", "DMC")):
        seq = [e["sequence"] for e in logs(r.lines(), core=core)]
        assert len(seq) > 20 and seq == list(range(len(seq))), (core, seq[:5])
        assert {e["source"] for e in logs(r.lines(), core=core)} == {source}
    times = [e["target_ns"] for e in logs(r.lines(), core="core0")]
    assert max(times) > 300_000_000


def test_board_with_a_slow_terminal(corral):
    p = corral.start("--json", "log", "--follow", "--seconds", "0.4")
    lines = []
    while line := p.stdout.readline():
        lines.append(json.loads(line))
        time.sleep(0.02)
    assert p.wait(60) == 0
    for core in ("core0", "core1"):
        seq = [e["sequence"] for e in logs(lines, core=core)]
        assert len(seq) > 20 and seq == list(range(len(seq)))
    assert lines[-1]["lost"] == 0 and lines[-1]["dropped"] == 0


def test_board_until_interrupted(corral):
    p = corral.start("--json", "log", "--follow")
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0 and err == b"" and json.loads(out.splitlines()[-1])["kind"] == "summary"


def test_what_ends_by_itself_says_that_it_was_interrupted(corral):
    memory(corral, (0x400, buffer(record(1, "one"))))
    p = corral.start("--json", "--link", f"shm:ram.bin@{BASE:#x}", "log", "--seconds", "60", "--buffer",
                     f"{BASE + 0x400:#x}:{CAP}")
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 130 and json.loads(out.splitlines()[-1])["kind"] == "summary", err


def test_only_one_core(corral):
    r = corral("--json", "log", "--core", "core1")
    assert r.code == 0 and {e["core"] for e in logs(r.lines())} == {"core1"}
    assert corral("log", "--core", "core7").code == 2
    r = corral("--json", "log", "--symbol", "no_such_symbol")
    assert r.code == 1 and json.loads(r.err)["error"]["name"] == "no-symbol"


def test_logs_of_corral_yml(corral):
    memory(corral, (0x400, buffer(record(1, "by description"))))
    open(corral.path("corral.yml"), "w").write(f"""link: shm:ram.bin@{BASE:#x}
cores:
  - name: smc
logs:
  - core: smc
    address: {BASE + 0x400:#x}
    size: {CAP}
""")
    r = corral("--json", "log")
    assert r.code == 0 and logs(r.lines())[0]["text"] == "by description", r.err


def test_a_log_of_corral_yml_outside_the_memory_is_named_and_nothing_taken(corral):
    memory(corral, (0x400, buffer(record(1, "readable"))))
    open(corral.path("corral.yml"), "w").write(f"""link: shm:ram.bin@{BASE:#x}
cores:
  - name: smc
logs:
  - core: smc
    address: {BASE + 0x4000:#x}
    size: {CAP}
  - core: smc
    address: {BASE + 0x400:#x}
    size: {CAP}
""")
    r = corral("--json", "log")
    assert r.code == 2 and "corral.yml:5: " in r.err and "outside the mapped" in r.err, (r.code, r.err)
    r = corral("--json", "--link", f"shm:ram.bin@{BASE:#x}", "log", "--buffer", f"{BASE + 0x400:#x}:{CAP}")
    assert [e["text"] for e in logs(r.lines())] == ["readable"], r.out


# ---- the driver's device

def frame(sequence, text, level=3, source=0, flags=0, missing=0, lost=0, stamp=1000, host=5_000_000_000):
    body = text.encode()
    size = (40 + len(body) + 7) // 8 * 8
    return (struct.pack("=IHBBIIQIIQ", size, len(body), level, source, sequence, stamp, host, missing, flags, lost)
            + body).ljust(size, b"\0")


TORN, GAP, RESTART = 1, 2, 4


def test_device_frames(corral):
    open(corral.path("tlog0"), "wb").write(
        frame(5, "a") + frame(9, "b", 1, 1, GAP, 3) + frame(10, "cut", flags=TORN) + frame(0, "again", flags=RESTART)
        + frame(100, "late", lost=99))
    r = corral("--json", "log", "--device", "tlog0")
    assert r.code == 0, r.err
    kinds = [(e["kind"], e.get("text") or e.get("lost")) for e in r.lines()]
    assert kinds[:-1] == [("log", "a"), ("gap", 3), ("log", "b"), ("log", "cut"), ("restart", None), ("log", "again"),
                          ("gap", 99), ("log", "late")], kinds
    assert [e["reason"] for e in r.lines() if e["kind"] == "gap"] == ["sequence", "reader"]
    assert logs(r.lines())[2]["torn"] and logs(r.lines())[0]["host_ns"] == 5_000_000_000
    s = summary(r)
    assert (s["records"], s["lost"], s["gaps"], s["restarts"], s["torn"]) == (5, 102, 2, 1, 1)
    assert corral("log", "--device", "tlog0", "--fail-on-loss").code == 4


def test_device_in_small_pieces(corral):
    os.mkfifo(corral.path("tlog0"))
    p = corral.start("--json", "log", "--follow", "--device", "tlog0")
    data = b"".join(frame(i, "x" * (i % 40)) for i in range(200))
    fd = os.open(corral.path("tlog0"), os.O_WRONLY)
    for i in range(0, len(data), 97):
        os.write(fd, data[i:i + 97])
        if i % (97 * 20) == 0:
            time.sleep(0.01)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=30)
    os.close(fd)
    assert p.returncode == 0 and err == b"", err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [e["sequence"] for e in logs(lines)] == list(range(200))


def test_device_that_is_none(corral):
    r = corral("--json", "log", "--device", "no/tlog0")
    error = json.loads(r.err)["error"]
    assert r.code == 3 and r.out == "" and "headers" in error["hint"] and "no/tlog0" in error["message"], r.err
    for bad in (b"\0" * 64, b"\x27" + b"\0" * 63, os.urandom(4096), frame(1, "a")[:-1], frame(1, "a") + b"\xff" * 64):
        open(corral.path("bad"), "wb").write(bad)
        r = corral("--json", "log", "--device", "bad")
        assert r.code == 1 and json.loads(r.err)["error"]["name"] == "format", (bad[:8], r.code, r.err)
    r = corral("--json", "log", "--device", "bad", "--status")
    assert r.code == 1 and json.loads(r.err)["error"]["name"] == "unsupported"


# ---- public bug reports

def reports(name):
    folder = os.path.join(REPORTS, name)
    if not os.path.isdir(folder):
        raise tap.Skip("the reports are not beside the source tree")
    return folder


def build(corral, source, out, *args):
    if not shutil.which("arm-none-eabi-gcc"):
        raise tap.Skip("arm-none-eabi-gcc is not installed")
    p = subprocess.run(["sh", os.path.join(REPORTS, "lib", "build.sh"), source, corral.path(out), *args],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert p.returncode == 0, p.stdout.decode()


def expect_08(r, folder):
    assert r.code == 0, r.err
    want = json.load(open(os.path.join(folder, "expected.json")))
    assert [(e["sequence"], e["text"]) for e in logs(r.lines())] == [(e["sequence"], e["text"]) for e in want]
    s = summary(r)
    assert s["records"] == 100 and s["lost"] == 0 and s["batches"] == 1, s


def test_report_08_across_a_1_kib_boundary(corral):
    folder = reports("08")
    shutil.copyfile(os.path.join(folder, "ram.bin"), corral.path("ram.bin"))
    expect_08(shm(corral, at=0x3F8), folder)
    assert summary(shm(corral, at=0x3F8))["batches"] == 0, "one release"
    batch = bytearray(open(os.path.join(folder, "batch.tlog"), "rb").read())
    batch[12] = 1
    for before in (4, 12):
        memory(corral, (0x400 - before, batch))
        expect_08(shm(corral, at=0x400 - before), folder)


def test_report_08_on_the_board(corral):
    folder = reports("08")
    build(corral, os.path.join(folder, "straddle.c"), "straddle.elf", "0x08000000", "0x20000000", "0x20000")
    symbols = subprocess.run(["arm-none-eabi-nm", corral.path("straddle.elf")], stdout=subprocess.PIPE).stdout.decode()
    (pool,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" pool")]
    expect_08(corral("--json", "--link", "sim:straddle.elf", "log", "--buffer", f"{pool + 0x3F8:#x}:{CAP}"), folder)


def twin(corral, out, ram, at, *defines):
    build(corral, os.path.join(reports("10"), "twin.c"), out, "0x08000000", ram, "0x20000",
          f"-Wl,--section-start=.shared={at}", *defines)


def test_report_10_one_name_at_one_address(corral):
    twin(corral, "a.elf", "0x20000000", "0x20048000", "-DWRITER=1")
    twin(corral, "b.elf", "0x20020000", "0x20048000", "-DWRITER=0")
    r = corral("--json", "--link", "sim:a.elf,b.elf", "log", "--follow", "--symbol", "tlog_buffer", "--seconds", "0.1")
    assert r.code == 0, r.err
    seq = [e["sequence"] for e in logs(r.lines())]
    assert len(seq) > 30 and seq == list(range(len(seq)))
    assert summary(r)["gaps"] == 0 and len({e["stream"] for e in logs(r.lines())}) == 1


def test_report_10_one_name_at_two_addresses(corral):
    twin(corral, "a.elf", "0x20000000", "0x20048000", "-DWRITER=1")
    twin(corral, "b.elf", "0x20020000", "0x2004C000", "-DWRITER=1", "-DSEQ0=1000")
    r = corral("--json", "--link", "sim:a.elf,b.elf", "log", "--follow", "--symbol", "tlog_buffer", "--seconds", "0.1")
    assert r.code == 0, r.err
    for core, first in (("core0", 0), ("core1", 1000)):
        seq = [e["sequence"] for e in logs(r.lines(), core=core)]
        assert len(seq) > 30 and seq == list(range(first, first + len(seq))), (core, seq[:4])
    assert summary(r)["gaps"] == 0


def test_manual_pages_are_well_formed(corral):
    if not shutil.which("groff"):
        raise tap.Skip("groff is not installed")
    for page in ("corral-log.1", "tlog-format.5"):
        path = os.path.join(tap.ROOT, "docs", "man", page)
        p = subprocess.run(["groff", "-mdoc", "-Tutf8", "-ww", "-z", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert p.returncode == 0 and p.stdout == b"", p.stdout.decode()
    text = open(os.path.join(tap.ROOT, "docs", "man", "corral-log.1")).read()
    for word in re.findall(r"--([a-z-]+)", corral("log", "--help").out):
        assert f"Fl Fl {word}" in text, word


if __name__ == "__main__":
    tap.main(globals())
