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
import subprocess
import time

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


tap.main(globals())
