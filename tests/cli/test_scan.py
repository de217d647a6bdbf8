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


OWN_PARTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "coresight", "rom")


def own(name):
    return "dry:@" + os.path.join(OWN_PARTS, name + ".json")


def test_more_parts_by_the_same_measure(corral):
    """The parts of tests/unit/coresight/rom have the form of the shared vectors."""
    check = os.path.join(tap.SHARED, "vectors", "check.py")
    if not os.path.exists(check):
        raise tap.Skip("the shared vectors are not there")
    p = subprocess.run([sys.executable, check, corral.exe, "rom", OWN_PARTS], stdout=subprocess.PIPE, timeout=240)
    n = len([f for f in os.listdir(OWN_PARTS) if f.endswith(".json")])
    assert n >= 12 and p.returncode == 0 and f"{n} of {n} hold" in p.stdout.decode(), p.stdout.decode()


def write(corral, name, text):
    with open(corral.path(name), "w") as f:
        f.write(text)


def test_a_tree_has_each_level_indented(corral):
    r = corral("--link", own("alif_e7"), "scan")
    assert r.code == 0, r.err
    lines = r.out.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("AP 0x40000 "))
    assert lines[at + 1].startswith("  0xf0000000  ROM table"), lines[at + 1]
    assert lines[at + 2].startswith("    0xe00ff000  ROM table"), lines[at + 2]
    assert lines[at + 3].startswith("      0xe000e000  SCS") and lines[at + 3].endswith("= core2, Cortex-M0+")
    assert any(line.startswith("AP 0x100 ") and "behind AP 0x50000 at 0x02008000" in line for line in lines)
    assert any("CTI" in line and line.endswith("= core0's CTI") for line in lines)
    assert "\033" not in r.out


def test_a_nested_port_as_json(corral):
    r = corral("--json", "--link", own("alif_e7"), "scan")
    s = json.loads(r.out)
    nested = next(a for a in s["aps"] if a["ap"] == 256)
    assert nested["parent"] == 0x50000 and nested["address"] == 0x02008000
    assert [a["ap"] for a in s["aps"]] == [-1, 0x200000, 0x300000, 0x40000, 0x50000, 256]
    m0 = next(c for c in s["cores"] if c["ap"] == 0x40000)
    assert m0["cti"] is None and "0xf0001000" in m0["why_no_cti"]
    assert "refused" not in s and "cut" not in s


def test_corral_yml_says_what_the_tables_do_not(corral):
    write(corral, "k3.yml", "link: " + own("ti_k3") + "\naps: [7, 8]\ncores:\n"
          "  - {name: m3, ap: 7, cti: {address: 0x3C016000}}\n"
          "  - {name: m4f, ap: 8, cti: {address: 0x20001000, restart_output: 7}}\n")
    s = json.loads(corral("--json", "--target", "k3.yml", "scan").out)
    assert [c["cti"]["address"] for c in s["cores"]] == [0x3C016000, 0x20001000]
    assert [c["cti"]["from"] for c in s["cores"]] == ["corral.yml"] * 2
    assert "restart_from" not in s["cores"][0]["cti"] and s["cores"][1]["cti"]["restart_from"] == "corral.yml"
    r = corral("--target", "k3.yml", "scan")
    assert "CTI at 0x20001000 (corral.yml): 8 triggers, 4 channels, restart is output 7 (corral.yml)" in r.out, r.out


def test_b25_what_is_said_and_is_not_so_is_refused(corral):
    write(corral, "imx7.yml", "link: " + own("imx7") + "\ncores:\n"
          "  - {name: m4, ap: 4, cti: {address: 0xE0043000}}\n")
    r = corral("--json", "--target", "imx7.yml", "scan")
    assert r.code == 0, r.err
    s = json.loads(r.out)
    assert len(s["refused"]) == 1 and s["refused"][0]["ap"] == 4 and s["refused"][0]["address"] == 0xE0043000
    assert "funnel" in s["refused"][0]["why"]
    m4 = next(c for c in s["cores"] if c["ap"] == 4)
    assert m4["cti"]["address"] == 0xE0044000 and "from" not in m4["cti"]
    assert "refused: corral.yml says that" in corral("--target", "imx7.yml", "scan").out


SDF = """<?xml version="1.0"?>
<system_description><scanchain><dap name="DP">
<device name="M0" type="Cortex-M0+"><config_items><config_item name="CORESIGHT_AP_INDEX">0x00000002</config_item>
</config_items></device>
<device name="CTI" type="CSCTI"><config_items><config_item name="CORESIGHT_AP_INDEX">2</config_item>
<config_item name="CORESIGHT_BASE_ADDRESS">0xF0000000</config_item></config_items></device>
</dap></scanchain>
<topology><topology_link type="CTITrigger" master="M0" slave="CTI" trigger="7"/></topology></system_description>
"""


def test_an_sdf_says_what_the_tables_do_not(corral):
    write(corral, "part.sdf", SDF)
    write(corral, "mp25.yml", "link: " + own("stm32mp25") + "\nsdf: part.sdf\n")
    r = corral("--json", "--target", "mp25.yml", "scan")
    if "without libxml2" in r.err:
        raise tap.Skip("built without libxml2")
    m0 = next(c for c in json.loads(r.out)["cores"] if c["ap"] == 2)
    assert m0["cti"] == {"address": 0xF0000000, "triggers": 8, "channels": 4, "restart_output": 7, "from": "sdf",
                         "restart_from": "sdf"}, m0
    write(corral, "part.sdf", SDF.replace("<topology>", "<topology>\n<!DOCTYPE x>"))
    r = corral("--target", "mp25.yml", "scan")
    assert r.code == 1 and r.out == "" and "part.sdf:9: " in r.err, r.err


def test_b18_a_patch_in_corral_yml(corral):
    write(corral, "patch.yml", "link: " + own("stm32h745") + "\npatches:\n"
          "  - {ap: 3, register: 0xF8, value: 0x00000002}\n")
    s = json.loads(corral("--json", "--target", "patch.yml", "scan").out)
    assert [c["ap"] for c in s["cores"]] == [0]
    assert next(a for a in s["aps"] if a["ap"] == 3)["base"] == 2


def test_a_named_core_without_power_costs_no_other(corral):
    write(corral, "off.yml", "link: sim\nboard: --unpowered core1\ncores:\n  - {name: a, ap: 0}\n  - {name: b, ap: 1}\n")
    s = json.loads(corral("--json", "--target", "off.yml", "scan").out)
    assert [c["ap"] for c in s["cores"]] == [0, 1]
    assert "error" not in s["cores"][0] and s["cores"][0]["cti"]
    assert "FAULT" in s["cores"][1]["error"] and s["cores"][1]["cti"] is None
    r = corral("--target", "off.yml", "status")
    assert r.code == 0 and "unpowered" in r.out, (r.out, r.err)


def test_the_board_behind_adiv6(corral):
    write(corral, "v6.yml", "link: sim\nboard: --adiv6\n")
    s = json.loads(corral("--json", "--target", "v6.yml", "scan").out)
    assert s["aps"][0]["ap"] == -1 and [c["type"] for c in s["cores"]] == ["Cortex-M7"] * 2
    assert all(c["ap"] >= 4096 and c["cti"]["restart_output"] == 7 for c in s["cores"]), s["cores"]
    r = corral("--target", "v6.yml", "status")
    assert r.code == 0 and r.out.count("running") == 2, (r.out, r.err)


def test_colour_is_for_terminals_only(corral):
    import pty
    for no_colour, want in ((None, True), ("1", False)):
        parent, child = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        if no_colour:
            env["NO_COLOR"] = no_colour
        p = subprocess.Popen([corral.exe, "--link", own("nrf5340"), "scan"], stdout=child, env=env)
        os.close(child)
        out = b""
        while True:
            try:
                more = os.read(parent, 65536)
            except OSError:
                break
            if not more:
                break
            out += more
        os.close(parent)
        assert p.wait() == 0 and b"core1" in out
        assert (b"\x1b[" in out) == want, out


tap.main(globals())
