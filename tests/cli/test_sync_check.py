# SPDX-License-Identifier: Apache-2.0
"""corral sync-check finds each of the board's switches out by itself, and leaves the target as it was found."""
import json
import os
import re
import signal
import time

import live_board
import pack_files
import tap

CTI = 0xE0042000
DHCSR, DWT_CTRL = 0xE000EDF0, 0xE0001000
STICKY = 0x07010000 | 1 << 18  # S_REGRDY, the sticky bits, S_SLEEP: they come and go


def check(corral, switches="", rounds=3, warns=False):
    """The document that a private board with these switches gets."""
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\n" + (f'board: "{switches}"\n' if switches else ""))
    r = corral("--json", "sync-check", "--rounds", rounds)
    assert r.code == 0 and bool(r.err) == warns, (switches, r.code, r.err)
    j = json.loads(r.out)
    assert j["left_as_found"] is True and j["difference"] == ""
    return j


def works(j):
    return {v["feature"]: v["works"] for v in j["verdicts"]}


def why(j, feature):
    return next(v["why"] for v in j["verdicts"] if v["feature"] == feature)


ALL = {"halt together": "yes", "run together": "yes", "who was first": "yes", "step one": "yes", "reset": "yes"}
BY_ITSELF = {"halt together": "no", "run together": "no", "who was first": "partly", "step one": "yes", "reset": "yes"}


def test_the_board_as_it_is(corral):
    j = check(corral, rounds=5)
    assert [c["type"] for c in j["cores"]] == ["Cortex-M7"] * 2 and j["islands"] == 1
    for c in j["cores"]:
        assert c["state"] == "running" and c["halt_by"] == c["run_by"] == "cti" and c["why"] == ""
        cti = c["cti"]
        assert (cti["address"], cti["triggers"], cti["channels"], cti["halted"], cti["halt"], cti["restart"], cti["restart_output"],
                cti["restart_from"], cti["from"]) == (CTI, 8, 4, "pulse", "proven", "proven", 7, "table", "table")
    assert works(j) == ALL and j["unreachable"] == []
    software, through = j["skew"]["software"], j["skew"]["cti"]
    assert software["mechanism"] == "software" and through["mechanism"] == "cti"
    assert software["rounds"] == through["rounds"] == 5 and j["skew"]["between"] == ["core0", "core1"]
    # 46 SWCLK of a transfer are 11.5 us; cross triggers take some cycles of 10 ns
    assert 11500 <= software["median_ns"] <= 100000 and 0 <= through["max_ns"] <= 200, j["skew"]
    assert software["median_cycles"] == software["median_ns"] // 10


def with_sync(name, text):
    """A debug sequence that does this where __options bit 0 asks for it, as the proposal has it."""
    return (f'        <sequence name="{name}">\n'
            "          <block>__var multi_run_halt = ((__options &amp; 0x00000001) != 0);</block>\n"
            f'          <control if="multi_run_halt">\n{pack_files.block(text)}          </control>\n        </sequence>\n')


def test_what_a_packs_debug_sequences_do(corral):
    set_up = f"""Write32({CTI:#x} + 0xFB0, 0xC5ACCE55);
Write32({CTI:#x}, 1); Write32({CTI:#x} + 0x020, 1); Write32({CTI:#x} + 0x0A0, 1); Write32({CTI:#x} + 0x0BC, 2);"""
    pack_files.write(corral, "board.pdsc", pack_files.pdsc(pack_files.TWO_CORES + pack_files.sequences(
        with_sync("DebugCoreSetup", set_up), with_sync("ProcessorStart", f"Write32({CTI:#x} + 0x01C, 2);"),
        with_sync("ProcessorHaltAcknowledge", f"Write32({CTI:#x} + 0x010, 1);"))))
    r = corral("--json", "sync-check", "--rounds", 3, "--pack", "board.pdsc")
    assert r.code == 0 and r.err == "", (r.code, r.err)
    j = json.loads(r.out)
    assert [c["name"] for c in j["cores"]] == ["M7", "M4"] and works(j) == ALL and j["left_as_found"] is True
    assert all(c["halt_by"] == c["run_by"] == "sequence" for c in j["cores"])
    assert j["skew"]["software"]["mechanism"] == "software" and j["skew"]["cti"]["mechanism"] == "sequence"
    assert 0 <= j["skew"]["cti"]["max_ns"] <= 200, j["skew"]
    r = corral("sync-check", "--rounds", 1, "--pack", "board.pdsc")
    assert r.code == 0 and r.out.count("set up and started by the pack's debug sequences") == 2, r.out
    assert re.search(r"by debug sequences +1 rounds", r.out), r.out
    r = corral("sync-check", "--pack", "board.pdsc", "--cbuild-run", "x.yml")
    assert r.code == 2, r.code


def test_separate_ctm(corral):
    j = check(corral, "--separate-ctm", warns=True)
    assert j["islands"] == 2 and [c["cti"]["island"] for c in j["cores"]] == [0, 1]
    assert [c["halt_by"] for c in j["cores"]] == ["software"] * 2
    assert works(j) == BY_ITSELF and "reach no other core" in why(j, "halt together")
    assert j["skew"]["software"]["rounds"] == 3 and j["skew"]["cti"]["rounds"] == 0 and j["skew"]["cti"]["why"]


def test_level_halted(corral):
    j = check(corral, "--level-halted")
    assert [c["cti"]["halted"] for c in j["cores"]] == ["level"] * 2 and works(j) == ALL
    assert j["skew"]["cti"]["max_ns"] <= 200


def test_no_cti(corral):
    j = check(corral, "--no-cti core1", warns=True)
    assert j["cores"][0]["cti"] and j["cores"][1]["cti"] is None
    assert "no CTI" in j["cores"][1]["why_no_cti"] and works(j) == BY_ITSELF
    assert "core1 by itself: it has no CTI" in why(j, "halt together")
    j = check(corral, "--no-cti both", warns=True)
    assert [c["cti"] for c in j["cores"]] == [None, None] and j["islands"] == 0 and works(j) == BY_ITSELF


def test_cti_base(corral):
    j = check(corral, "--cti-base 0xE0043000,0xE0044000")
    assert [c["cti"]["address"] for c in j["cores"]] == [0xE0043000, 0xE0044000] and works(j) == ALL


def test_identities(corral):
    outputs = {"m7": ("Cortex-M7", 7), "m4": ("Cortex-M4", 7), "m33": ("Cortex-M33", 1), "m0plus": ("Cortex-M0+", 7)}
    for a, b in (("m7", "m4"), ("m33", "m0plus"), ("m4", "m33")):
        j = check(corral, f"--identity {a},{b}", rounds=2)
        assert [(c["type"], c["cti"]["restart_output"]) for c in j["cores"]] == [outputs[a], outputs[b]]
        assert works(j) == ALL, (a, b, j["verdicts"])
        counts = [x != "m0plus" for x in (a, b)]
        assert [c["cycle_counter"] for c in j["cores"]] == counts
        if all(counts):
            assert j["skew"]["cti"]["max_ns"] <= 200
        else:
            assert j["skew"]["cti"]["rounds"] == 0 and "no cycle counter" in j["skew"]["cti"]["why"]


def test_held_in_reset(corral):
    j = check(corral, "--held-in-reset core1", warns=True)
    assert [(c["state"], c["state_why"]) for c in j["cores"]] == [("running", ""), ("reset", "held in reset")]
    assert works(j) == {"halt together": "no", "run together": "no", "who was first": "partly", "step one": "partly",
                        "reset": "partly"}
    assert "core1 stops at its vector once it is let go" in why(j, "reset")
    assert "held in reset" in why(j, "halt together") and "core1 does not run" in j["skew"]["software"]["why"]


def test_unpowered(corral):
    j = check(corral, "--unpowered core1", warns=True)
    assert [p["ap"] for p in j["unreachable"]] == [1] and "FAULT" in j["unreachable"][0]["error"]
    assert [c["name"] for c in j["cores"]] == ["core0"]
    assert "AP 1 does not answer" in why(j, "halt together")


def test_unlike_clocks(corral):
    j = check(corral, "--core-hz 100000000,25000000")
    assert j["cores"][0]["clock_ratio"] == 1 and abs(j["cores"][1]["clock_ratio"] - 0.25) < 0.001, j["cores"][1]
    assert j["skew"]["cti"]["median_cycles"] is None and j["skew"]["cti"]["max_ns"] <= 400 and works(j) == ALL
    r = corral("sync-check", "--rounds", "1")
    assert "0.250 of the first core's (unlike clocks)" in r.out, r.out


def test_adiv6(corral):
    j = check(corral, "--adiv6")
    assert works(j) == ALL and all(c["ap"] > 255 for c in j["cores"]), j["cores"]
    assert j["skew"]["cti"]["median_ns"] is not None, "the board's clocks are known behind ADIv6, too"
    assert "on AP 0x2000 (" in corral("sync-check", "--rounds", "0").out and "on AP 0x4000, " in corral("cti", "show").out
    r = corral("read", "--core", "core1", "tlog_buffer")  # so are the names of its programs
    assert r.code == 0, r.err


def test_a_page_for_people(corral):
    r = corral("sync-check", "--rounds", "2")
    assert r.code == 0 and r.err == ""
    for line in ("Cores", "Cross triggers", "Skew of halt and run between core0 and core1", "What works with --sync",
                 "The target is as it was found."):
        assert line in r.out.splitlines(), r.out
    for feature in ALL:
        assert re.search(rf"^  {feature} +yes ", r.out, re.M), r.out
    assert re.search(r"one after the other +2 rounds +median \S+ us", r.out) and re.search(
        r"through cross triggers +2 rounds +median \d+ ns", r.out), r.out
    assert len(r.out.splitlines()) < 40


def test_no_rounds(corral):
    j = check(corral, rounds=0)
    assert j["skew"]["software"]["rounds"] == 0 and works(j) == ALL
    for words in (["--rounds", "1001"], ["--rounds", "-1"], ["--rounds"], ["now"]):
        assert corral("sync-check", *words).code == 2


# ---- a board that outlives it ----

BLOCKS = {CTI: 0x52, CTI + 0xFA0: 6, DHCSR: 4, DWT_CTRL: 1}
VOLATILE = {CTI + r for r in (0x130, 0x138, 0x13C)} | {DHCSR + 4, DHCSR + 8}  # statuses; DCRSR and DCRDR


def raw(corral, board):
    """The registers of both cores as a debugger reads them, without going through a core or a group."""
    found = {}
    for ap in ("0", "1"):
        for start, count in BLOCKS.items():
            r = corral("--json", "--link", board.words, "read", "--ap", ap, hex(start), count)
            assert r.code == 0, r.err
            for i, value in enumerate(json.loads(r.out)["values"]):
                address = start + 4 * i
                if address not in VOLATILE:
                    found[ap, hex(address)] = value & ~STICKY if address == DHCSR else value
    return found


def found_again(corral, prepare):
    with live_board.Board(corral, "jtag") as board:
        prepare(board)
        before = raw(corral, board)
        r = corral("--json", "--link", board.words, "sync-check", "--rounds", "3")
        assert r.code == 0, r.err
        after = raw(corral, board)
        assert after == before, {k: (hex(before[k]), hex(after[k])) for k in before if before[k] != after[k]}
        return json.loads(r.out)


def test_it_leaves_running_cores_as_they_were_found(corral):
    j = found_again(corral, lambda board: None)
    # over a wire the frequency is not known, but that the clocks are one is
    assert j["skew"]["cti"]["median_ns"] is None and j["skew"]["cti"]["max_cycles"] <= 20 < j["skew"]["software"]["median_cycles"]
    assert works(j) == ALL


def test_it_leaves_halted_cores_as_they_were_found(corral):
    def halt(board):
        assert corral("--link", board.words, "halt").code == 0
    j = found_again(corral, halt)
    assert [c["state"] for c in j["cores"]] == ["halted"] * 2 and j["skew"]["cti"]["rounds"] == 0
    assert "was found halted" in j["skew"]["cti"]["why"]


def test_it_leaves_somebody_elses_connections(corral):
    def connect(board):
        assert corral("--link", board.words, "cti", "connect", "dwt0", "0").code == 0
    j = found_again(corral, connect)
    assert works(j) == ALL and j["halt_channel"] != 0 and j["restart_channel"] != 0, j


def test_interrupted_it_leaves_the_target_as_it_was_found(corral):
    log = corral.path("wire.log")
    with live_board.Board(corral, "jtag") as board:
        before = raw(corral, board)
        p = corral.start("--wire-log", log, "--link", board.words, "sync-check", "--rounds", "1000")
        size = 0
        while size < 300000:  # somewhere in the rounds
            assert p.poll() is None
            time.sleep(0.05)
            size = os.path.getsize(log) if os.path.exists(log) else 0
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=live_board.PATIENCE)
        assert p.returncode == 130 and out == b"" and b"interrupted" in err, (p.returncode, err)
        after = raw(corral, board)
        assert after == before, {k: (hex(before[k]), hex(after[k])) for k in before if before[k] != after[k]}


def test_a_cti_that_cannot_be_put_back_is_said(corral):
    log = corral.path("wire.log")
    with live_board.Board(corral, "jtag") as board:
        p = corral.start("--wire-log", log, "--link", board.words, "sync-check", "--rounds", "150")
        pulsed = 0
        while pulsed < 12:  # in the rounds through cross triggers
            assert p.poll() is None, p.communicate()
            time.sleep(0.05)
            if os.path.exists(log):
                with open(log, encoding="ascii") as f:
                    pulsed = len(re.findall(r" w mem \S+ 0xe004201c ", f.read()))
        board.control(f"apfault 0 {CTI:#x} 0xFFFFF000")
        out, err = p.communicate(timeout=live_board.PATIENCE)
        assert p.returncode == 1 and b"FAULT" in err and b"core0: its CTI" in err, (p.returncode, out, err)
        assert b"is not as it was found" in out, out
        board.control("apfault off")
        r = corral("--link", board.words, "status")
        assert r.code == 0 and "core0" in r.err, r.err  # what was left there is named
        assert corral("--link", board.words, "run").code == 0
        r = corral("--link", board.words, "status")
        assert r.err == "" and re.findall(r"running", r.out) == ["running"] * 2, (r.out, r.err)


tap.main(globals())
