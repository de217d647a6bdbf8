# SPDX-License-Identifier: Apache-2.0
"""corral scan: the board, the words of real parts, and what cannot be scanned."""
import json
import os
import subprocess
import sys

import tap


def test_the_board_as_json(corral):
    r = corral("--json", "--link", "sim", "scan")
    assert r.code == 0, r.err
    s = json.loads(r.out)
    assert set(s) == {"aps", "cores"}, s.keys()
    assert [a["ap"] for a in s["aps"]] == [0, 1]
    for a in s["aps"]:
        assert a["base"] == 0xE00FF003 and "error" not in a
        names = [c["name"] for c in a["components"]]
        assert sorted(names) == sorted(["ROM table", "SCS", "DWT", "FPB", "ITM", "CTI"]), names
        for c in a["components"]:
            assert set(c) == {"address", "class", "designer", "part", "devtype", "archid", "name"}, c
            assert c["designer"] == 0x43B
    assert [c["name"] for c in s["cores"]] == ["core0", "core1"]
    for ap, c in enumerate(s["cores"]):
        assert c["ap"] == ap and c["type"] == "Cortex-M7" and c["cpuid"] >> 4 & 0xFFF == 0xC27
        assert c["cti"] == {"address": 0xE0042000, "triggers": 8, "channels": 4, "restart_output": 7}


def test_the_board_as_a_tree(corral):
    r = corral("--link", "sim", "scan")
    assert r.code == 0 and r.err == ""
    for word in ("AP 0", "AP 1", "0xe0042000", "CTI", "core1", "restart is output 7"):
        assert word in r.out, word


def test_json_may_come_behind_the_command(corral):
    r = corral("scan", "--json")
    assert r.code == 0 and len(json.loads(r.out)["cores"]) == 2


def test_rom_tables_of_real_parts(corral):
    check, parts = os.path.join(tap.SHARED, "vectors", "check.py"), os.path.join(tap.SHARED, "vectors", "rom")
    if not os.path.exists(check):
        raise tap.Skip("the shared vectors are not there")
    p = subprocess.run([sys.executable, check, corral.exe, "rom", parts], stdout=subprocess.PIPE, timeout=240)
    text = p.stdout.decode()
    n = len([f for f in os.listdir(parts) if f.endswith(".json")])
    assert p.returncode == 0 and f"{n} of {n} hold" in text, text


def test_a_block_that_cannot_be_read_is_listed_with_its_error(corral):
    table = {"aps": [{"ap": 0, "idr": "0x24770011", "base": "0xE00FF003", "unreadable": ["0xE0001000"], "words": {
        "0xE00FF000": "0xFFF02003", "0xE00FFFF0": "0x0D", "0xE00FFFF4": "0x10", "0xE00FFFF8": "0x05",
        "0xE00FFFFC": "0xB1"}}]}
    with open(corral.path("part.json"), "w") as f:
        json.dump(table, f)
    r = corral("--json", "--link", "dry:@part.json", "scan")
    assert r.code == 0, r.err
    ap = json.loads(r.out)["aps"][0]
    assert [c["name"] for c in ap["components"]] == ["ROM table"]
    assert ap["unreadable"][0]["address"] == 0xE0001000 and "FAULT" in ap["unreadable"][0]["error"]
    r = corral("--link", "dry:@part.json", "scan")
    assert "0xe0001000" in r.out and "FAULT" in r.out


def test_words_that_mean_nothing(corral):
    for args in (["--link", "nonsense", "scan"], ["--link", "dry:x=y", "scan"], ["--link", "sim:one.elf,", "scan"],
                 ["scan", "--frobnicate"], ["scan", "something"]):
        r = corral("--json", *args)
        assert r.code == 2 and r.out == "", (args, r.code)
        error = json.loads(r.err)["error"]
        assert error["name"] == "usage" and error["message"], args


def test_files_that_are_not_there_or_not_right(corral):
    with open(corral.path("foreign.elf"), "wb") as f:
        f.write(b"\x7fELF\x02\x01\x01" + bytes(100))
    with open(corral.path("cut.elf"), "wb") as f:
        f.write(b"\x7fELF\x01\x01\x01")
    for link, word in (("sim:foreign.elf,foreign.elf", "foreign.elf"), ("sim:cut.elf,cut.elf", "cut.elf"),
                       ("sim:absent.elf,absent.elf", "absent.elf"), ("dry:@absent.json", "absent.json"),
                       ("dry:@cut.elf", "cut.elf")):
        r = corral("--link", link, "scan")
        assert r.code == 1 and r.out == "", (link, r.code, r.out)
        assert word in r.err and r.err.startswith("corral: "), r.err


def test_clock_of_the_wire(corral):
    """--clock is the board's SWCLK."""
    assert corral("--clock", "8000000", "scan").code == 0
    p = corral("--clock", "200000000", "scan")
    assert p.code == 2 and "100 MHz" in p.err, p.err
    for words in ("0", "fast", "-1", "4e9", "99999999999"):
        assert corral("--clock", words, "scan").code == 2, words
    p = corral("--clock", "1000000", "--link", "dry", "scan")
    assert p.code == 2 and "no wire" in p.err, p.err


tap.main(globals())
