# SPDX-License-Identifier: Apache-2.0
"""corral read, write, watch, regs and load: on the board in this process, and on one that outlives the command."""
import json
import os
import pty
import re
import select
import signal
import struct
import time

import live_board
import tap

SRAM_END = 0x20080000
FREE = 0x20060000  # SRAM that no built-in program uses


def document(corral, *args):
    r = corral("--json", *args)
    assert r.code == 0 and r.err == "", (args, r.code, r.err)
    return json.loads(r.out)


def error(corral, code, *args):
    r = corral("--json", *args)
    assert r.code == code, (args, r.code, r.out, r.err)
    return json.loads(r.err.splitlines()[-1])["error"], r.out


# ---- read ----

def test_read_as_json_and_as_text(corral):
    j = document(corral, "read", "0x08000000", "2")
    assert list(j) == ["address", "size", "values"]
    assert j["address"] == 0x08000000 and j["size"] == 4 and len(j["values"]) == 2
    stack, reset = j["values"]
    assert stack % 8 == 0 and reset & 1
    j = document(corral, "read", "--size", "1", "0x08000000", "8")
    assert bytes(j["values"]) == struct.pack("<II", stack, reset)
    j = document(corral, "read", "--size", "2", "0x08000002")
    assert j["values"] == [stack >> 16]
    r = corral("read", "0x08000000", "6")
    lines = r.out.splitlines()
    assert len(lines) == 2 and lines[0].startswith(f"0x08000000  {stack:08x} {reset:08x} "), r.out
    assert re.fullmatch(r"0x08000010  [0-9a-f]{8} [0-9a-f]{8} {18}  \|.{8}\|", lines[1]), lines
    text = "".join(chr(b) if 0x20 <= b < 0x7F else "." for b in struct.pack("<II", stack, reset))
    assert lines[0].split("|")[1].startswith(text)


def test_read_by_symbol(corral):
    at = document(corral, "read", "tlog_buffer")["address"]
    assert at == 0x20040000
    assert document(corral, "read", "tlog_buffer+0x10")["address"] == at + 0x10
    assert document(corral, "read", "tlog_buffer+16", "--core", "core1")["address"] != at + 16
    e, out = error(corral, 1, "read", "no_such_thing+4")
    assert e["name"] == "no-symbol" and "no_such_thing" in e["message"] and out == ""
    for words in ("12x", "tlog_buffer+", "tlog_buffer+x", "+4", "0x20000000+4"):
        assert error(corral, 2, "read", words)[0]["name"] == "usage", words


def test_a_read_past_the_end_says_how_far(corral):
    for count, size in ((64, 4), (3000, 4), (5000, 1), (2051, 2)):
        first = SRAM_END - 40
        e, out = error(corral, 1, "read", "--size", size, hex(first), count)
        assert e["name"] == "link-fault"
        assert len(json.loads(out)["values"]) == 40 // size, (count, size)
        assert f"{40 // size} of {count} read, up to 0x20080000" in e["message"], e
    e, out = error(corral, 1, "read", hex(SRAM_END))
    assert out == "" and "0x20080000" in e["message"]


def test_what_cannot_be_read(corral):
    for words in (["read"], ["read", "0x20000001"], ["read", "--size", "2", "0x20000001"], ["read", "--size", "3", "0"],
                  ["read", "--size", "8", "0"], ["read", "0x20000000", "0"], ["read", "0x20000000", "1", "2"],
                  ["read", "0xFFFFFFFC", "2"], ["read", "0x100000000"], ["read", "0x20000000", "99999999999"],
                  ["read", "--core", "core0", "--ap", "0", "0x20000000"], ["read", "--core", "core9", "0x20000000"]):
        r = corral(*words)
        assert r.code == 2 and r.out == "" and r.err, (words, r.code, r.err)


def test_read_into_a_file(corral):
    out = corral.path("flash.bin")
    r = corral("read", "--out", out, "0x08000000", "1024")
    assert r.code == 0 and "4096 bytes" in r.out
    with open(out, "rb") as f:
        data = f.read()
    assert len(data) == 4096 and list(data[:32]) == document(corral, "read", "--size", "1", "0x08000000", "32")["values"]
    j = document(corral, "read", "--out", out, "--size", "1", "0x08000000", "7")
    assert j["count"] == 7 and os.path.getsize(out) == 7
    assert corral("read", "--out", out, hex(SRAM_END - 8), "100").code == 1
    assert os.path.getsize(out) == 8  # what could be read
    assert corral("read", "--out", "/nowhere/at/all", "0x08000000").code == 1
    p = corral.start("read", "--out", "-", "0x08000000", "4")
    raw, _ = p.communicate()
    assert p.returncode == 0 and raw == data[:16]


def test_read_through_an_access_port(corral):
    assert document(corral, "read", "--ap", "1", "0xE000ED00")["values"][0] >> 24 == 0x41
    e, _ = error(corral, 3, "read", "--ap", "7", "0")
    assert e["name"] == "no-ap"
    assert document(corral, "--link", "dry:0x20=5", "read", "--ap", "0", "0x20", "2")["values"] == [5, 0]
    with open(corral.path("ram.bin"), "wb") as f:
        f.write(bytes(range(64)))
    shm = f"shm:{corral.path('ram.bin')}@0x30000000"
    assert document(corral, "--link", shm, "read", "--size", "1", "0x30000008", "3")["values"] == [8, 9, 10]
    assert document(corral, "--link", shm, "write", "--verify", "--size", "2", "0x30000002", "0xBEEF")["verified"] is True
    with open(corral.path("ram.bin"), "rb") as f:
        assert f.read()[:5] == bytes([0, 1, 0xEF, 0xBE, 4])


# ---- write ----

def test_write_and_verify(corral):
    for size, values in ((4, [0xCAFEF00D, 0, 0xFFFFFFFF]), (2, [0xBEEF, 1]), (1, [0xFF, 0x80, 1, 2, 3])):
        j = document(corral, "write", "--verify", "--size", size, hex(FREE + size), *values)
        assert j == {"address": FREE + size, "size": size, "count": len(values), "verified": True}
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        document(corral, *link, "write", "--size", "1", hex(FREE + 1), "0x12", "0x34")
        assert document(corral, *link, "read", "--size", "1", hex(FREE), "4")["values"][1:3] == [0x12, 0x34]


def test_a_write_without_effect_is_found(corral):
    e, _ = error(corral, 1, "write", "--verify", "0xE000ED00", "0")  # CPUID reads what it is
    assert e["name"] == "failed" and "0xe000ed00" in e["message"] and "0x00000000 was written" in e["message"]
    assert corral("write", "0xE000ED00", "0").code == 0
    e, _ = error(corral, 1, "write", "0x08000000", "0")
    assert e["name"] == "link-fault"
    e, out = error(corral, 1, "write", hex(SRAM_END - 4), "1", "2")
    assert "1 of 2 written, up to 0x20080000" in e["message"]


def test_what_cannot_be_written(corral):
    for words in (["write"], ["write", hex(FREE)], ["write", hex(FREE), "zero"], ["write", "--size", "1", hex(FREE), "256"],
                  ["write", "--size", "2", hex(FREE), "0x10000"], ["write", hex(FREE), "0x100000000"],
                  ["write", hex(FREE + 2), "1"], ["write", hex(FREE), "1", "2", ""]):
        r = corral(*words)
        assert r.code == 2 and r.out == "" and r.err, (words, r.code, r.err)


# ---- watch ----

def test_watch_as_json_lines(corral):
    r = corral("--json", "watch", "--interval", "0.005", "--count", "4", "tlog_buffer", "0x50000000", "0x08000000")
    assert r.code == 0 and r.err == "", r.err
    events = r.lines()
    assert len(events) == 4
    for e in events:
        assert e["kind"] == "watch" and e["core"] == "core0" and e["target_ns"] is None
        assert [v["address"] for v in e["values"]] == [0x20040000, 0x50000000, 0x08000000]
        assert e["values"][1]["value"] is None and "FAULT" in e["values"][1]["error"]
        assert e["values"][2]["value"] is not None
    times = [e["host_ns"] for e in events]
    assert all(b - a == 5000000 for a, b in zip(times, times[1:])), times


def test_watch_ends(corral):
    r = corral("watch", "--interval", "0.004", "--seconds", "0.02", "0x08000000")
    assert r.code == 0 and len(r.out.splitlines()) == 6, r.out
    assert "\x1b" not in r.out
    r = corral("watch", "--count", "3", "0x50000000")
    assert r.code == 1 and r.out == "" and "FAULT" in r.err
    for words in (["watch"], ["watch", "0x20000001"], ["watch", "--interval", "0", "0x20000000"], ["watch", "nosuch"],
                  ["watch", "--count", "0", "0x20000000"], ["watch", *["0x20000000"] * 65]):
        assert corral(*words).code in (1, 2), words


def test_watch_does_not_halt_and_ends_with_a_signal(corral):
    with live_board.Board(corral, "jtag") as board:
        for number in (signal.SIGINT, signal.SIGTERM):
            p = corral.start("--json", "--link", board.words, "watch", "--interval", "0.01", "0xE0001004")
            lines = [json.loads(p.stdout.readline()) for _ in range(3)]
            p.send_signal(number)
            out, err = p.communicate(timeout=live_board.PATIENCE)
            assert p.returncode == 0 and err == b"", (p.returncode, err)
            assert all(line["kind"] == "watch" for line in lines)
            for line in out.decode().splitlines():
                json.loads(line)
        board_log = board.control("log")
        assert "halt" not in board_log and "run" not in board_log, board_log


def test_watch_of_a_link_that_goes(corral):
    with live_board.Board(corral, "jtag") as board:
        p = corral.start("--link", board.words, "watch", "--interval", "0.01", "0x08000000")
        assert p.stdout.readline()
        board.control("vanish")
        out, err = p.communicate(timeout=live_board.PATIENCE)
        assert p.returncode == 3 and err.startswith(b"corral: "), (p.returncode, err)


def test_watch_updates_in_place_on_a_terminal_only(corral):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(corral.exe, [corral.exe, "watch", "--interval", "0.005", "--count", "3", "0x08000000", "tlog_buffer"])
    seen = b""
    end = time.monotonic() + live_board.PATIENCE
    while time.monotonic() < end and select.select([fd], [], [], 1.0)[0] is not None:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, seen
    assert seen.count(b"\x1b[2A") == 2 and seen.count(b"tlog_buffer") == 3, seen


# ---- regs ----

def test_regs_of_a_halted_core_only(corral):
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        e, out = error(corral, 1, *link, "regs")
        assert e["name"] == "core-state" and "core0 is running" in e["message"] and "halt" in e["hint"] and out == ""
        assert error(corral, 2, *link, "regs", "r99")[0]["name"] == "usage"  # wrong, whether it runs or not
        document(corral, *link, "halt", "--core", "core0")
        j = document(corral, *link, "regs")
        assert j["core"] == "core0"
        names = list(j["registers"])
        assert names[:17] == [f"r{i}" for i in range(13)] + ["sp", "lr", "pc", "xpsr"], names
        assert {"msp", "psp", "primask", "basepri", "faultmask", "control"} <= set(names)
        assert j["registers"]["sp"] in (j["registers"]["msp"], j["registers"]["psp"])
        assert document(corral, *link, "regs", "PC", "r15")["registers"] == {"pc": j["registers"]["pc"]}
        assert document(corral, *link, "regs", "r4=0x12345678", "r5")["registers"] == {
            "r5": j["registers"]["r5"], "r4": 0x12345678}
        assert document(corral, *link, "regs", "r4", "--core", "core0")["registers"] == {"r4": 0x12345678}
        assert error(corral, 1, *link, "regs", "--core", "core1")[0]["name"] == "core-state"
        assert error(corral, 2, *link, "regs", "control=0x1000")[0]["name"] == "usage"
        r = corral(*link, "regs", "pc", "sp")
        assert re.fullmatch(r"pc +0x[0-9a-f]{8} +sp +0x[0-9a-f]{8}\n", r.out), r.out


def test_regs_with_a_halt_for_the_moment(corral):
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        j = document(corral, *link, "regs", "--halt", "pc")
        assert j["registers"]["pc"] >> 24 == 0x08
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]


# ---- load ----

def elf(segments, entry=0x20060001, **change):
    """An ELF32 executable; each segment is (address, bytes) or (address, bytes, memory size)."""
    f = {"ident": b"\x7fELF\1\1\1" + bytes(9), "type": 2, "machine": 40, "phoff": 52, "phentsize": 32,
         "phnum": len(segments), "offset": None, "filesz": None}
    f.update(change)
    out = f["ident"] + struct.pack("<HHIIIIIHHHHHH", f["type"], f["machine"], 1, entry, f["phoff"], 0, 0x5000000, 52,
                                   f["phentsize"], f["phnum"], 0, 0, 0)
    at = 52 + 32 * len(segments)
    body = b""
    for address, data, *memory in segments:
        offset = at + len(body) if f["offset"] is None else f["offset"]
        size = len(data) if f["filesz"] is None else f["filesz"]
        out += struct.pack("<IIIIIIII", 1, offset, address, address, size, memory[0] if memory else size, 7, 4)
        body += data
    return out + body


# movs r0, #0; loop: adds r0, #1; b loop
LOOP = bytes.fromhex("0020" "0130" "fde7")
TABLE = struct.pack("<II", 0x20070000, 0x20060081) + bytes(120)


def put(corral, name, data):
    with open(corral.path(name), "wb") as f:
        f.write(data)
    return name


def test_load_sets_the_core_up_and_leaves_it_halted(corral):
    put(corral, "a.elf", elf([(FREE, TABLE + LOOP), (0x20062000, b"hello")], entry=0x20060081))
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        j = document(corral, *link, "load", "a.elf")
        assert j["segments"] == [{"address": FREE, "size": 134}, {"address": 0x20062000, "size": 5}]
        assert j["state"] == "halted" and j["stack"] == 0x20070000 and j["vectors"] == FREE and j["verified"] is True
        j = document(corral, *link, "regs", "pc", "sp", "xpsr", "control", "primask")["registers"]
        assert j == {"pc": 0x20060080, "sp": 0x20070000, "xpsr": 0x01000000, "control": 0, "primask": 0}
        assert document(corral, *link, "read", "0xE000ED08")["values"] == [FREE]
        assert bytes(document(corral, *link, "read", "--size", "1", "0x20062000", "5")["values"]) == b"hello"
        cores = document(corral, *link, "status")["cores"]
        assert [c["state"] for c in cores] == ["halted", "running"]


def test_load_and_run(corral):
    put(corral, "a.elf", elf([(FREE, TABLE + LOOP)], entry=0x20060081))
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        document(corral, *link, "reset", "--halt")  # the interrupts of the program before are off then
        assert document(corral, *link, "load", "--run", "--core", "core1", "a.elf")["state"] == "running"
        document(corral, *link, "run", "--core", "core0")
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]
        j = document(corral, *link, "regs", "--core", "core1", "--halt", "pc", "r0")["registers"]
        assert j["pc"] in (0x20060082, 0x20060084) and j["r0"] > 0, j


def test_load_through_an_access_port_is_bytes_only(corral):
    put(corral, "a.elf", elf([(FREE, b"data")]))
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        j = document(corral, *link, "load", "--ap", "0", "a.elf")
        assert j["core"] is None and j["state"] is None
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]
        put(corral, "b.elf", elf([(FREE, LOOP)]))
        assert error(corral, 2, *link, "load", "--ap", "0", "--run", "b.elf")[0]["name"] == "usage"


def test_flash_is_refused_before_anything_is_touched(corral):
    put(corral, "a.elf", elf([(FREE, b"\1\2\3\4"), (0x08000000, b"flash")]))
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        document(corral, *link, "write", hex(FREE), "0")
        e, out = error(corral, 1, *link, "load", "a.elf")
        assert e["name"] == "unsupported" and "0x08000000" in e["message"] and "flash" in e["message"] and out == ""
        assert document(corral, *link, "read", hex(FREE))["values"] == [0]
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]
        # where it is said to be RAM and is not, it is found out, and the core goes on
        e, out = error(corral, 1, *link, "load", "--ram", "0x08000000:0x1000", "a.elf")
        assert e["name"] in ("failed", "link-fault") and out == ""
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]


def test_hostile_elf_files(corral):
    good = [(FREE, b"12345678")]
    cases = {
        "not-elf": b"hello", "empty": b"", "cut": elf(good)[:60], "cut-body": elf(good)[:-1],
        "elf64": elf(good, ident=b"\x7fELF\2\1\1" + bytes(9)), "big-endian": elf(good, ident=b"\x7fELF\1\2\1" + bytes(9)),
        "machine": elf(good, machine=62), "relocatable": elf(good, type=1), "no-segments": elf([], phnum=0),
        "many": elf(good, phnum=65535), "entry-size": elf(good, phentsize=1), "table-outside": elf(good, phoff=0xFFFFFFF0),
        "offset-outside": elf(good, offset=0xFFFFFFFF), "size-wraps": elf(good, offset=0x10, filesz=0xFFFFFFF8),
        "address-wraps": elf([(0xFFFFFFFC, b"12345678")]), "larger-than-memory": elf([(FREE, b"12345678", 4)]),
        "overlap": elf([(FREE, b"12345678"), (FREE + 4, b"12345678")]), "nothing": elf([(FREE, b"")]),
        "below": elf([(0x1FFFFFFC, b"12345678")]), "above": elf([(0x3FFFFFFC, b"12345678")]),
    }
    for name, data in cases.items():
        r = corral("--json", "load", put(corral, name + ".elf", data))
        assert r.code == 1 and r.out == "", (name, r.code, r.out)
        e = json.loads(r.err)["error"]
        assert e["name"] in ("elf", "unsupported") and name + ".elf" in e["message"], (name, e)
    assert error(corral, 1, "load", "--run", put(corral, "entry.elf", elf(good, entry=0x20000001)))[0]["name"] == "elf"
    assert error(corral, 1, "load", corral.cwd)[0]["name"] == "elf"
    assert error(corral, 1, "load", "nothing-there.elf")[0]["name"] == "io"
    for words in (["load"], ["load", "a", "b"], ["load", "--ram", "1", "a"], ["load", "--ram", "1:0", "a"]):
        assert corral(*words).code == 2, words
    r = corral("load", put(corral, "fine.elf", elf(good, entry=0x20000001)))
    assert r.code == 0 and "not in what was loaded" in r.out, r.out


tap.main(globals())
