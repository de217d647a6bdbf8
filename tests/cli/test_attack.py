# SPDX-License-Identifier: Apache-2.0
"""Abuse of the command line: closed streams, pipes, full disks, signals, two writers, odd names. Each test stands
for a kind of fault that was found once."""
import fcntl
import glob
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
import tty

import tap

QUICK = ("demo", "--seconds", "0.05", "--rounds", "2", "--listen", "127.0.0.1:0")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def names(corral, folder):
    return sorted(os.path.basename(p) for p in glob.glob(corral.path(folder) + "/*"))


def shell(corral, script, **kw):
    """Run `script` with $CORRAL, in the scratch folder."""
    return subprocess.run(["bash", "-c", script], cwd=corral.cwd, env={**os.environ, "CORRAL": corral.exe}, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


def test_closed_streams_never_end_up_in_a_file(corral):
    r = shell(corral, f"$CORRAL {' '.join(QUICK)} --out a <&- >&- 2>&-")
    assert r.returncode == 1, r
    for f in names(corral, "a"):
        with open(corral.path("a/" + f), "rb") as file:
            data = file.read()
        assert b"Corral demo" not in data and b"cannot write" not in data, f
    with open(corral.path("a/events.jsonl"), encoding="utf-8") as file:
        for line in file:
            json.loads(line)
    r = shell(corral, "$CORRAL --json scan 2>&1 >&-")
    assert r.returncode == 1 and json.loads(r.stdout)["error"]["name"] == "io", r


def test_a_pipe_is_read_as_a_file_is(corral):
    port = str(free_port())
    assert corral(*QUICK[:-1], "127.0.0.1:" + port, "--out", "a").code == 0
    decode = f"$CORRAL --json decode prof --port {port}"
    want = shell(corral, decode + " a/capture.pcapng").stdout.splitlines()[-1]
    assert json.loads(want)["packets"] > 0, want
    for way in (f"cat a/capture.pcapng | {decode} -", f"cat a/capture.pcapng | {decode} /dev/stdin",
                f"{decode} <(cat a/capture.pcapng)", f"mkfifo f; cat a/capture.pcapng >f & {decode} f"):
        r = shell(corral, way)
        assert r.returncode == 0 and r.stdout.splitlines()[-1] == want, (way, r)


def test_switches_may_stand_behind_the_command(corral):
    for where in (("--json", "status"), ("status", "--json"), ("status", "--core", "core0", "--json", "--quiet")):
        r = corral(*where)
        assert r.code == 0, r.err
        json.loads(r.out.splitlines()[0])
    r = corral("demo", "--seconds", "-1", "--json")
    assert r.code == 2 and json.loads(r.err)["error"]["name"] == "usage", r.err
    r = corral("status", "--link", "sim")
    assert r.code == 2 and "--link goes before the command" in r.err, r.err


def test_no_room_for_a_file_is_a_sentence_and_leaves_nothing(corral):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))

    r = corral(*QUICK, "--out", "a", preexec_fn=limit)
    assert r.code == 1 and "File too large" in r.err, (r.code, r.err)
    assert not os.path.exists(corral.path("a"))


def test_interrupt_at_any_moment_leaves_whole_files_or_none(corral):
    for ms in (5, 15, 30, 60, 120):
        p = corral.start(*QUICK, "--out", "a")
        time.sleep(ms / 1000)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        # before main() has begun the signal ends the process, and there are no files
        assert p.returncode in (130, 0) or (p.returncode == -signal.SIGINT and not names(corral, "a")), p.returncode
        assert not [f for f in names(corral, "a") if f.endswith(".part")], names(corral, "a")
        if "timeline.json" in names(corral, "a"):
            with open(corral.path("a/timeline.json"), encoding="utf-8") as f:
                json.load(f)


def test_second_writer_of_a_capture_is_turned_away(corral):
    assert corral(*QUICK, "--out", "a").code == 0
    before = {f: os.stat(corral.path("a/" + f)).st_size for f in names(corral, "a")}
    with open(corral.path("a/capture.pcapng"), "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        r = corral(*QUICK, "--out", "a")
        assert r.code == 1 and "another program is writing it" in r.err, (r.code, r.err)
    assert before == {f: os.stat(corral.path("a/" + f)).st_size for f in names(corral, "a")}


def test_names_of_files_cannot_act_on_a_terminal(corral):
    odd = b"a\n\x1b[31mred\xff"
    r = shell(corral, f"$CORRAL {' '.join(QUICK)} --out $'a\\n\\e[31mred\\xff'")
    assert r.returncode == 0 and b"\x1b" not in r.stdout, r
    assert rb"a\n\x1b[31mred\xff/timeline.json" in r.stdout
    r = shell(corral, f"$CORRAL --json {' '.join(QUICK)} --out $'a\\n\\e[31mred\\xff'")
    assert len(json.loads(r.stdout.splitlines()[-1])["files"]) == len(os.listdir(os.fsencode(corral.cwd) + b"/" + odd))


def test_demo_answers_a_target_file_that_is_not_there(corral):
    r = corral("--target", "nowhere.yml", *QUICK)
    assert r.code == 2 and "nowhere.yml" in r.err, (r.code, r.err)
    assert not os.path.exists(corral.path("corral-demo"))


# ---- the firmware log

def frame(sequence, text=b"x", host_ns=0, missing=0, flags=0, lost=0):
    """One frame of /dev/tlogN (tlog(4))."""
    size = (40 + len(text) + 7) // 8 * 8
    head = struct.pack("<IHBBIIQIIQ", size, len(text), 3, 0, sequence, 0, host_ns, missing, flags, lost)
    return (head + text).ljust(size, b"\0")


def write(corral, name, data):
    with open(corral.path(name), "wb") as f:
        f.write(data)


def emulator(corral, *args, **kw):
    """`corral sim` with its socket there; anything else than that is its early end."""
    p = corral.start("--json", "sim", "--tlog-device", "s", "--ram", "ram", "--control", "c", *args, **kw)
    while p.poll() is None and not os.path.exists(corral.path("c")):
        time.sleep(0.005)
    return p


def connect(corral, name):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    while True:
        try:
            s.connect(corral.path(name))
            return s
        except OSError:
            time.sleep(0.005)


def guest(corral):
    """The ivshmem peer: its socket, BAR2, and the bell of the queues."""
    s = connect(corral, "s")
    got = []
    for _ in range(7):
        message, fds, _, _ = socket.recv_fds(s, 8, 1)
        got.append((struct.unpack("<q", message)[0], fds))
    return s, got[2][1][0], got[3][1][0], [fd for _, fds in got for fd in fds]


def test_log_of_a_file_that_is_cut_again_and_again(corral):
    """The file is long when it is looked at and short when it is read: an answer, not a signal."""
    head = struct.pack("<IIIBBH", 16, 4096, 0x544C4F47, 0, 0, 0)
    for _ in range(3):
        write(corral, "m", head.ljust(4096, b"\0"))
        p = corral.start("--json", "--link", "shm:m", "log", "--follow", "--seconds", "0.5")
        while p.poll() is None:
            os.truncate(corral.path("m"), 0)
            os.truncate(corral.path("m"), 4096)
        _, err = p.communicate(timeout=60)
        assert p.returncode in (0, 3), (p.returncode, err)
        assert p.returncode == 0 or json.loads(err)["error"]["name"] == "link-down", err


def test_log_device_may_say_any_number(corral):
    write(corral, "f", frame(0, lost=2**63 - 1, host_ns=2**64 - 1) + frame(1, lost=2**63, host_ns=2**63 - 1) + frame(2, lost=1))
    r = corral("--json", "log", "--device", "f", "--fail-on-loss")
    assert r.code == 4 and r.lines()[-1]["lost"] == 2**63 - 1, (r.code, r.out)
    r = corral("log", "--device", "f", "--follow")
    assert r.code == 0 and r.out.count(" SMC inf x") == 3, (r.code, r.out, r.err)


def test_reader_that_has_stopped_does_not_hold_up_the_end(corral):
    os.mkfifo(corral.path("f"))
    feed = os.open(corral.path("f"), os.O_RDWR)
    p = corral.start("--json", "log", "--device", "f", "--follow")

    def fill():
        while p.poll() is None:
            try:
                os.write(feed, frame(0) * 64)
            except BlockingIOError:
                time.sleep(0.01)
    os.set_blocking(feed, False)
    feeder = threading.Thread(target=fill)
    feeder.start()
    full = fcntl.fcntl(p.stdout, 1032)  # F_GETPIPE_SZ
    while int.from_bytes(fcntl.ioctl(p.stdout, 0x541B, bytes(4)), "little") < full - 4096:  # FIONREAD
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    p.wait(timeout=120)
    feeder.join()
    os.close(feed)
    _, err = p.communicate()
    assert p.returncode == 1 and json.loads(err)["error"]["name"] == "io", (p.returncode, err)


def test_log_device_that_never_falls_silent(corral):
    """What is there now comes to an end, also where a record comes every few milliseconds."""
    ours, theirs = os.openpty()  # a character device that is at hand
    tty.setraw(theirs)
    over = threading.Event()

    def speak():
        while not over.is_set():
            os.write(ours, frame(0))
            time.sleep(0.002)
    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        r = corral("--json", "log", "--device", os.ttyname(theirs), timeout=60)
        assert r.code == 0 and r.lines()[-1]["records"] > 0, (r.out, r.err)
    finally:
        over.set()
        speaker.join()
        os.close(ours)
        os.close(theirs)


def test_log_pipe_whose_writer_comes_later(corral):
    os.mkfifo(corral.path("f"))
    p = corral.start("--json", "log", "--device", "f", "--follow")
    time.sleep(0.3)
    f = os.open(corral.path("f"), os.O_WRONLY | os.O_NONBLOCK)  # fails where nobody reads any more
    os.write(f, frame(5))
    os.close(f)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0 and json.loads(out.splitlines()[-1])["records"] == 1, (p.returncode, out, err)
    # every frame makes as many events as a frame can, and none is lost on the way to the output
    write(corral, "g", b"".join(frame(7 * i, b"", missing=1, flags=6, lost=1) for i in range(30000)))
    r = corral("--json", "log", "--device", "g")
    last = json.loads(r.out[-400:].splitlines()[-1])
    assert r.code == 0 and last["dropped"] == 0 and last["records"] == 30000, last


def test_logs_of_a_target_file_that_cannot_be(corral):
    write(corral, "m", bytes(8192))
    head = "link: %s\ncores: [{name: core0}]\nlogs:\n"
    for link, logs, word in (("shm:m", "  - {core: core0, address: 8000, size: 4096}\n", "outside the mapped"),
                             ("shm:m", "  - {core: core0, address: 0, size: 64}\n" * 2, "c.yml:5: the buffer"),
                             ("sim", "  - {core: core0, address: 0x20000000, size: 64}\n" * 2, "c.yml:5: the buffer")):
        write(corral, "c.yml", (head % link + logs).encode())
        r = corral("--target", "c.yml", "log")
        assert r.code == 2 and word in r.err and "c.yml:" in r.err, (link, r.code, r.err)


def test_help_that_cannot_be_written_is_said(corral):
    for command in ("log", "sim", "decode"):
        r = shell(corral, f"$CORRAL {command} --help >/dev/full")
        assert r.returncode == 1 and b"No space left" in r.stderr, r


def test_emulator_leaves_no_socket_behind(corral):
    write(corral, "ram", bytes(4096))
    for sent in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        p = emulator(corral)
        p.send_signal(sent)
        p.communicate(timeout=60)
        assert p.returncode == 0 and names(corral, ".") == ["ram"], (sent, p.returncode, names(corral, "."))
    p = emulator(corral)
    p.kill()
    p.communicate()
    assert names(corral, ".") == ["c", "ram", "s"]
    p = emulator(corral, "--misbehave", "quit")  # takes over what the killed one left
    assert p.wait(timeout=60) == 0 and names(corral, ".") == ["ram"], p.communicate()
    p = emulator(corral)
    for other in ({"--tlog-device": "s"}, {"--tlog-device": "t", "--control": "c"}):
        r = corral("sim", "--ram", "ram", *(word for pair in other.items() for word in pair))
        assert r.code == 1 and "already in use" in r.err and names(corral, ".") == ["c", "ram", "s"], r.err
    p.terminate()
    p.communicate(timeout=60)
    write(corral, "s", b"mine")
    r = corral("sim", "--tlog-device", "s", "--ram", "ram")
    assert r.code == 1 and "socket s:" in r.err and open(corral.path("s"), "rb").read() == b"mine", r.err


def test_guest_that_is_hostile_to_the_emulator(corral):
    write(corral, "ram", bytes(1 << 20))
    p = emulator(corral)
    s, bar, bell, fds = guest(corral)
    for size in (0, 1 << 30):
        try:
            os.ftruncate(bar, size)
            raise AssertionError("the guest cut BAR2")
        except PermissionError:
            pass
    s.sendall(os.urandom(100000))
    os.write(bell, struct.pack("<Q", 1))  # now the memory is mapped
    control = connect(corral, "c")
    for line in (b"generate 18446744073709551614\n", b"x" * 500 + b"\n", b"\0\n", b"spurious-irq 3\n"):
        control.sendall(line)
        assert control.recv(2000).startswith(b"ok" if b"irq" in line else b"error"), line
    os.truncate(corral.path("ram"), 0)
    out, err = p.communicate(timeout=60)
    for fd in fds:
        os.close(fd)
    assert p.returncode == 1 and b"has become shorter" in err, (p.returncode, out, err)
    assert names(corral, ".") == ["ram"]


tap.main(globals())
