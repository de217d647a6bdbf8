#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`corral decode tlog` from outside: output, options, exit codes, what it refuses (INTERFACE.md).

usage: check_decode_tlog.py CORRAL      Prints TAP.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

CORRAL = os.path.abspath(sys.argv[1])
RESULTS = []


def run(*args, stdin=b""):
    done = subprocess.run([CORRAL, *args], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def events(*args, **more):
    code, out, err = run("--json", "decode", "tlog", *args, **more)
    assert code == 0 and err == "", (code, err)
    return [json.loads(line) for line in out.splitlines()]


def record(sequence, text, level=3, source=0, timestamp=0, size=None):
    body = text if isinstance(text, bytes) else text.encode() + b"\0"
    return struct.pack("<HBBII", 12 + len(body) if size is None else size, level, source, timestamp, sequence) + body


def buffer(*records, capacity=256):
    body = b"".join(records)
    head = struct.pack("<IIIBBH", 16 + len(body), capacity, 0x544C4F47, 1, 0, 0)
    return (head + body).ljust(capacity, b"\0")


def put(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def test(function):
    RESULTS.append(function)
    return function


@test
def json_lines_end_with_the_summary():
    name = put("one.tlog", buffer(record(1, "a", timestamp=1500), record(5, "b")))
    got = events(name)
    assert [e["kind"] for e in got] == ["log", "gap", "log", "batch", "summary"], got
    assert all(e["stream"] == "tlog" and "host_ns" not in e for e in got)
    assert got[0]["target_ns"] == 1500000000
    assert got[3]["file"] == name and got[3]["status"] == "ok"
    want = {"kind": "summary", "stream": "tlog", "records": 2, "lost": 3, "gaps": 1, "restarts": 0, "torn": 0,
            "anomalies": 0}
    assert got[4] == want, got[4]


@test
def several_files_are_one_stream():
    a, b = put("a.tlog", buffer(record(1, "a"))), put("b.tlog", buffer(record(2, "b"), record(2, "again")))
    assert [e["kind"] for e in events(a, b)] == ["log", "batch", "log", "restart", "log", "batch", "summary"]


@test
def dash_is_standard_input():
    got = events("-", stdin=buffer(record(1, "piped")))
    assert got[0]["text"] == "piped" and got[1]["file"] == "-"


@test
def level_shows_that_and_worse_and_raw():
    data = buffer(*[record(i, str(i), level=i) for i in range(6)])
    name = put("levels.tlog", data)
    shown = lambda *o: [e["level"] for e in events(*o, name) if e["kind"] == "log"]
    assert shown() == ["raw", "err", "wrn", "inf", "dbg", "lvl5"]
    assert shown("--level", "wrn") == ["raw", "err", "wrn"]
    assert shown("--level", "dbg") == ["raw", "err", "wrn", "inf", "dbg", "lvl5"]
    assert shown("--level", "inf") == ["raw", "err", "wrn", "inf"]
    assert events("--level", "err", name)[-1]["records"] == 6  # the totals are those of the stream


@test
def staging_decides_what_is_torn():
    name = put("torn.tlog", buffer(record(1, b"cut", size=300)))
    assert events(name)[0]["torn"] is True
    got = events("--staging", "299", name)
    assert [e["kind"] for e in got] == ["anomaly", "batch", "summary"] and got[0]["reason"] == "msg-size"


@test
def text_is_for_people():
    name = put("text.tlog", buffer(record(1, "\x1b[1;31mhot\x1b[0m\r\n", level=1, timestamp=61001), record(2, b""),
                                   record(9, "x\ny")))
    code, out, err = run("decode", "tlog", name)
    assert code == 0 and err == "", err
    lines = out.splitlines()
    assert lines[0] == "00:01:01.001 tlog SMC err hot", lines
    assert lines[1] == "tlog -- 6 records lost (expected 3, got 9) --", lines
    assert lines[2].endswith("SMC inf x\\ny") and len(lines) == 5, lines
    assert "\x1b" not in out


@test
def anomalies_do_not_change_the_exit_code():
    for data in (b"", b"\xff" * 64, buffer(record(1, b"", size=0)), b"\0" * 4096):
        assert events(put("bad.tlog", data))[-1]["kind"] == "summary"


@test
def unreadable_file_is_exit_1_and_named():
    name = put("good.tlog", buffer(record(1, "kept")))
    for bad in ("no-such-file", "."):
        code, out, err = run("--json", "decode", "tlog", name, bad)
        error = json.loads(err)["error"]
        assert code == 1 and bad in error["message"] and error["code"] and error["name"], (code, err)
        lines = [json.loads(line) for line in out.splitlines()]
        assert lines[0]["text"] == "kept" and lines[-1]["kind"] == "summary"
        code, out, err = run("decode", "tlog", bad)
        assert code == 1 and bad in err and out == "", (code, out, err)


@test
def too_large_a_file_is_refused():
    with open("large.tlog", "wb") as f:
        f.truncate((16 << 20) + 1)
    code, out, err = run("decode", "tlog", "large.tlog")
    assert code == 1 and "16 MiB" in err and out == "", (code, err)
    with open("large.tlog", "wb") as f:
        f.truncate(16 << 20)
    assert events("large.tlog")[0]["kind"] == "batch"


@test
def a_buffer_full_of_records_loses_nothing_on_the_way_out():
    count = 200000
    name = put("huge.tlog", buffer(*[record(i, b"") for i in range(count)], capacity=16 + 12 * count))
    code, out, err = run("--json", "decode", "tlog", name)
    assert code == 0 and out.count('"kind":"log"') == count and '"kind":"gap"' not in out


@test
def usage_is_exit_2():
    name = put("u.tlog", buffer())
    for args in ([], ["--level", "loud", name], ["--staging", "0", name], ["--staging", "x", name], ["--nope", name],
                 ["--staging"]):
        code, out, err = run("decode", "tlog", *args)
        assert code == 2 and err and out == "", (args, code, err)


@test
def help_has_an_example():
    code, out, err = run("decode", "tlog", "--help")
    assert code == 0 and "Example" in out and err == ""


def main():
    failed = 0
    print(f"1..{len(RESULTS)}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, function in enumerate(RESULTS, 1):
            try:
                function()
                print(f"ok {number} - {function.__name__}")
            except Exception as error:  # a crash of the product, too
                failed += 1
                print(f"not ok {number} - {function.__name__}\n# {type(error).__name__}: {error}")
        os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
