# SPDX-License-Identifier: Apache-2.0
"""corral cti: what is shown, what is connected, what is refused."""
import json

import live_board
import tap

CTI = 0xE0042000


def document(corral, *args):
    r = corral("--json", *args)
    assert r.code == 0 and r.err == "", (args, r.code, r.err)
    return json.loads(r.out)


def refused(corral, code, *args):
    r = corral("--json", *args)
    assert r.code == code and r.out == "", (args, r.code, r.out, r.err)
    return json.loads(r.err)["error"]


def side(cti, name):
    """trigger name -> channels, of those that are connected."""
    return {t["name"] or t["trigger"]: t["channels"] for t in cti[name] if t["channels"]}


def test_show(corral):
    ctis = document(corral, "cti", "show")["ctis"]
    assert [c["core"] for c in ctis] == ["core0", "core1"]
    for c in ctis:
        assert (c["address"], c["triggers"], c["channels"], c["restart_output"], c["on"]) == (CTI, 8, 4, 7, False)
        assert [t["name"] for t in c["inputs"]] == ["halted", "dwt0", "dwt1", "dwt2", "etm0", "etm1", "etm2", "etm3"]
        assert [t["name"] for t in c["outputs"]] == ["debug-request", "irq0", "irq1", "etm0", "etm1", "etm2", "etm3", "restart"]
        assert c["devid"] == 0x40800 and c["devtype"] == 0x14 and c["gate"] == 0xF
        assert not any(t["asserted"] for t in c["outputs"]) and side(c, "inputs") == side(c, "outputs") == {}
    assert [c["core"] for c in document(corral, "cti", "show", "--core", "core1")["ctis"]] == ["core1"]
    r = corral("cti", "show")
    assert r.out.count("\n  in0 halted") == 2 and r.out.count("\n  out7 restart") == 2, r.out


def test_names_follow_the_core(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write('link: sim\nboard: "--identity m33,m4"\n')
    m33, m4 = document(corral, "cti", "show")["ctis"]
    assert m33["outputs"][1]["name"] == "restart" and m33["restart_output"] == 1
    assert [t["name"] for t in m33["inputs"]][:6] == ["halted", "dwt0", "dwt1", "dwt2", "etm0", "etm1"]
    assert m4["inputs"][4]["name"] == "dwt0" and m4["inputs"][1]["name"] is None
    assert m4["outputs"][2]["name"] == "irq0" and m4["outputs"][7]["name"] == "restart"


def test_a_core_without_one_is_told_once(corral):
    for switches, code, shown in (("--no-cti core1", 0, 1), ("--no-cti both", 1, 0)):
        with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
            f.write(f"link: sim\nboard: {switches}\n")
        r = corral("cti", "show")
        assert r.code == code and r.out.count("CTI at ") == shown, (switches, r.out, r.err)
        assert r.err.count("core0 has no CTI") == 1 - shown and r.err.count("core1 has no CTI") == 1, r.err


def test_by_address(corral):
    c, = document(corral, "cti", "show", "--ap", "1", "--address", hex(CTI))["ctis"]
    assert c["core"] is None and c["ap"] == 1 and c["address"] == CTI
    assert all(t["name"] is None for t in c["inputs"] + c["outputs"])
    assert refused(corral, 1, "cti", "show", "--ap", "1", "--address", "0x08000000")["name"] == "cti-unusable"
    assert "4096" in refused(corral, 2, "cti", "show", "--ap", "1", "--address", "0xE0042004")["message"]


def test_connections_stay_until_they_are_taken_away(corral):
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        found = document(corral, *link, "cti", "show")
        c, = document(corral, *link, "cti", "connect", "dwt0", "2")["ctis"]
        assert c["on"] and side(c, "inputs") == {"dwt0": [2]} and side(c, "outputs") == {}
        document(corral, *link, "cti", "connect", "--core", "core1", "2", "irq0")
        document(corral, *link, "cti", "connect", "in4", "3")
        core0, core1 = document(corral, *link, "cti", "show")["ctis"]
        assert side(core0, "inputs") == {"dwt0": [2], "etm0": [3]} and side(core0, "outputs") == {}
        assert side(core1, "outputs") == {"irq0": [2]} and core1["on"]
        # run control with cross triggers goes around them, and leaves them
        e = document(corral, *link, "halt", "--sync")
        assert e["mechanism"] == "cti"
        document(corral, *link, "run", "--sync")
        again0, again1 = document(corral, *link, "cti", "show")["ctis"]
        assert side(again0, "inputs") == side(core0, "inputs") and side(again1, "outputs") == side(core1, "outputs")
        document(corral, *link, "cti", "disconnect", "dwt0", "2")
        assert refused(corral, 1, *link, "cti", "disconnect", "dwt0", "2")["name"] == "cti-unusable", "it is not there"
        document(corral, *link, "cti", "disconnect", "in4", "3")
        c, = document(corral, *link, "cti", "disconnect", "--core", "core1", "2", "out1")["ctis"]
        assert not c["on"]
        now = document(corral, *link, "cti", "show")
        for c in now["ctis"] + found["ctis"]:
            c.pop("lock_status")
        assert now == found


def test_a_pulse_arrives(corral):
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        document(corral, *link, "cti", "connect", "--core", "core0", "3", "irq0")
        document(corral, *link, "cti", "connect", "--core", "core1", "3", "irq1")
        document(corral, *link, "cti", "pulse", "3")
        core0, core1 = document(corral, *link, "cti", "show")["ctis"]
        assert [t["name"] for t in core0["outputs"] if t["asserted"]] == ["irq0"]
        assert [t["name"] for t in core1["outputs"] if t["asserted"]] == ["irq1"]


def test_what_halts_or_restarts_a_core_is_refused_without_force(corral):
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        for words in (["2", "debug-request"], ["2", "restart"], ["2", "out0"], ["2", "out7"]):
            e = refused(corral, 1, *link, "cti", "connect", *words)
            assert e["name"] == "cti-unusable" and e["hint"], (words, e)
        document(corral, *link, "cti", "connect", "--force", "2", "debug-request")
        assert refused(corral, 1, *link, "cti", "pulse", "2")["name"] == "cti-unusable"
        assert [c["state"] for c in document(corral, *link, "status")["cores"]] == ["running", "running"]
        document(corral, *link, "cti", "pulse", "--force", "2")
        r = corral("--json", *link, "status")  # which acknowledges the request, and says so
        assert [c["state"] for c in json.loads(r.out)["cores"]] == ["halted", "running"] and "acknowledged" in r.err


def test_a_pulse_on_a_cti_that_is_off_is_refused(corral):
    assert refused(corral, 1, "cti", "pulse", "1")["name"] == "cti-unusable"


def test_what_cannot_be_meant(corral):
    for words in ([], ["look"], ["show", "all"], ["connect"], ["connect", "dwt0"], ["connect", "dwt0", "etm0"], ["connect", "1", "2"],
                  ["connect", "dwt0", "4"], ["connect", "dwt9", "1"], ["connect", "in8", "1"], ["connect", "1", "dwt0"],
                  ["connect", "halt", "1"], ["connect", "in0x", "1"], ["pulse"], ["pulse", "4"], ["pulse", "x"], ["pulse", "1", "2"],
                  ["show", "--ap", "0"], ["show", "--address", "0xE0042000"], ["pulse", "1", "--core", "core7"]):
        r = corral("cti", *words)
        assert r.code == 2 and r.out == "" and r.err, (words, r.code, r.out, r.err)


def test_a_core_without_one(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write('link: sim\nboard: "--no-cti core1"\n')
    r = corral("--json", "cti", "show")
    assert r.code == 0 and [c["core"] for c in json.loads(r.out)["ctis"]] == ["core0"]
    assert "core1" in json.loads(r.err)["warning"]["message"]
    assert refused(corral, 1, "cti", "show", "--core", "core1")["name"] == "no-cross-trigger"
    assert refused(corral, 1, "cti", "pulse", "--core", "core1", "0")["name"] == "no-cross-trigger"


tap.main(globals())
