# SPDX-License-Identifier: Apache-2.0
"""corral status, halt and run on the virtual board: each invocation is a board of its own."""
import json
import os
import re
import signal
import time

import live_board
import tap

CTI = 0xE0042000


def event(corral, *args):
    r = corral("--json", "--link", "sim", *args)
    assert r.code == 0, r.err
    assert r.err == ""
    return json.loads(r.out)


def test_status(corral):
    e = event(corral, "status")
    assert e["kind"] == "halt" and e["mechanism"] == "none" and e["skew_ns"] is None
    assert [(c["name"], c["state"], c["reason"], c["first"]) for c in e["cores"]] == [
        ("core0", "running", None, False), ("core1", "running", None, False)]
    r = corral("status")
    assert r.code == 0 and r.out.splitlines() == ["core0    running", "core1    running"], r.out


def test_halt_core_by_core(corral):
    for args in (["halt"], ["halt", "--no-sync"], ["halt", "--sync", "--no-sync"], ["halt", "--leave-halted"]):
        e = event(corral, *args)
        assert e["mechanism"] == "software"
        assert [(c["state"], c["reason"], c["first"]) for c in e["cores"]] == [
            ("halted", "request", True), ("halted", "request", False)], e
        assert all(c["pc"] for c in e["cores"])


def test_halt_through_cross_triggers(corral):
    e = event(corral, "halt", "--sync")
    assert e["kind"] == "halt" and e["mechanism"] == "cti" and e["host_ns"] > 0
    assert [(c["state"], c["reason"], c["first"]) for c in e["cores"]] == [
        ("halted", "request", True), ("halted", "cross-trigger", False)], e


def test_one_core(corral):
    e = event(corral, "halt", "--core", "core1")
    assert [c["name"] for c in e["cores"]] == ["core1"] and e["cores"][0]["first"]
    e = event(corral, "halt", "--core", "core1", "--core", "core0")
    assert len(e["cores"]) == 2


def test_run_leaves_running_cores_alone(corral):
    for args in (["run"], ["run", "--sync"]):
        e = event(corral, *args)
        assert e["kind"] == "run" and e["mechanism"] == "none"
        assert [(c["state"], c["restarted"]) for c in e["cores"]] == [("running", False)] * 2, e


def test_the_same_board_gives_the_same_answer(corral):
    assert corral("--json", "halt", "--sync").out == corral("--json", "halt", "--sync").out


def test_text(corral):
    r = corral("halt", "--sync")
    assert r.code == 0 and "core0" in r.out and "cross-trigger" in r.out and "\x1b" not in r.out


def test_what_cannot_be_meant(corral):
    for args, word in ((["halt", "--core", "core7"], "core7"), (["status", "--core"], "--core"), (["run", "now"], "now"),
                       (["halt", "--hard"], "--hard"), (["--link", "gadget", "halt"], "gadget")):
        r = corral(*args)
        assert r.code == 2 and r.out == "" and word in r.err, (args, r.code, r.err)


def test_one_core_alone_is_halted_by_itself_and_the_reason_is_said(corral):
    r = corral("--json", "halt", "--sync", "--core", "core0")
    assert r.code == 0
    assert json.loads(r.out)["mechanism"] == "software"
    warnings = [json.loads(line)["warning"] for line in r.err.splitlines()]
    assert [w["core"] for w in warnings] == [None, "core0"] and "no other core" in warnings[1]["message"], warnings
    r = corral("halt", "--sync", "--core", "core0")
    assert r.code == 0 and r.err.count("core0 is halted and started by itself: ") == 1, r.err
    assert corral("--quiet", "halt", "--sync", "--core", "core0").err == ""


def test_help(corral):
    for name in ("scan", "status", "halt", "run", "step", "reset"):
        r = corral(name, "--help")
        assert r.code == 0 and r.out.startswith("Usage:") and "Example:" in r.out


def test_timeout_bounds_an_operation(corral):
    for command in (["scan"], ["status"], ["halt"], ["run", "--sync"]):
        r = corral("--json", "--timeout", "0.001", *command)
        assert r.code == 5 and r.out == "" and json.loads(r.err)["error"]["name"] == "timeout", (command, r.out, r.err)
        assert corral("--timeout", "10", *command).code == 0
    r = corral("--timeout", "0.001", "demo", "--listen", "127.0.0.1:0")
    assert r.code == 5 and "--timeout" in r.err, r.err


# ---- a board that outlives the command: what each command leaves ----

def live(corral, board, *args):
    r = corral("--json", "--link", board.words, *args)
    assert r.code == 0 and "Sanitizer" not in r.err, (args, r.code, r.err)
    return json.loads(r.out)


def states(corral, board):
    return [c["state"] for c in live(corral, board, "status")["cores"]]


def ctis(corral, board):
    """Every register, but for the lock: who was killed has left it open, and it cannot be known that it was not."""
    return [{k: v for k, v in c.items() if k != "lock_status"} for c in live(corral, board, "cti", "show")["ctis"]]


def pcs(corral, board):
    return [c["pc"] for c in live(corral, board, "status")["cores"]]


def test_halt_stays_halted_and_run_stays_running(corral):
    with live_board.Board(corral, "jtag") as board:
        found = ctis(corral, board)
        e = live(corral, board, "halt", "--sync")
        assert e["mechanism"] == "cti" and [c["first"] for c in e["cores"]] == [True, False]
        assert states(corral, board) == ["halted", "halted"]
        assert ctis(corral, board) == found
        where = pcs(corral, board)
        assert pcs(corral, board) == where  # a look changes nothing
        e = live(corral, board, "run", "--sync")
        assert e["mechanism"] == "cti" and [c["restarted"] for c in e["cores"]] == [True, True]
        assert states(corral, board) == ["running", "running"]
        assert ctis(corral, board) == found
        live(corral, board, "halt", "--core", "core1")
        assert states(corral, board) == ["running", "halted"]
        live(corral, board, "run")
        assert states(corral, board) == ["running", "running"]


def test_step_moves_one_core_only(corral):
    with live_board.Board(corral, "jtag") as board:
        r = corral("--json", "--link", board.words, "step")
        assert r.code == 1 and r.out == "" and json.loads(r.err)["error"]["name"] == "core-state", r.err
        assert states(corral, board) == ["running", "running"]
        live(corral, board, "halt", "--sync")
        before = pcs(corral, board)
        for args in ([], ["--sync"]):
            e = live(corral, board, "step", "--core", "core1", *args)
            one = [c for c in e["cores"] if c["name"] == "core1"]
            assert [(c["state"], c["reason"]) for c in one] == [("halted", "step")], e
            after = pcs(corral, board)
            assert after[0] == before[0] and after[1] != before[1], (before, after)
            before = after
        live(corral, board, "step", "--core", "core1", "25")
        after = pcs(corral, board)
        assert after[0] == before[0]
        assert states(corral, board) == ["halted", "halted"]
        for words in (["step", "0"], ["step", "--core", "core0", "--core", "core1"], ["step", "1", "2"]):
            assert corral("--link", board.words, *words).code == 2, words


def test_reset(corral):
    with live_board.Board(corral, "jtag") as board:
        e = live(corral, board, "reset", "--halt")
        vectors = live(corral, board, "read", "0x08000004")["values"][0] & ~1
        assert [(c["state"], c["reason"], c["pc"]) for c in e["cores"]] == [("halted", "vector-catch", vectors)] * 2
        assert states(corral, board) == ["halted", "halted"]
        assert [c["state"] for c in live(corral, board, "reset")["cores"]] == ["running", "running"]
        assert states(corral, board) == ["running", "running"]
        e = live(corral, board, "reset", "--halt", "--core", "core1")
        assert [(c["name"], c["reason"]) for c in e["cores"]] == [("core1", "vector-catch")]
        assert states(corral, board) == ["running", "halted"]
        live(corral, board, "run")
        r = corral("--link", board.words, "reset")
        assert r.code == 0 and r.out.startswith("reset: core0 running; core1 running"), r.out


def accesses(path, op, low, high):
    """Memory accesses of a wire log to low..high; op is r or w."""
    with open(path, encoding="ascii") as f:
        words = [line.split() for line in f.read().splitlines()[1:]]
    return [w for w in words if len(w) > 6 and w[3] == op and w[4] == "mem" and low <= int(w[6], 0) < high]


def test_without_sync_not_one_cti_register_is_written(corral):
    log = corral.path("wire.log")
    for command in (["halt"], ["run"], ["status"], ["reset"], ["halt", "--core", "core0"]):
        assert corral("--wire-log", log, *command).code == 0
        assert accesses(log, "w", CTI, CTI + 0x1000) == [], command
    assert corral("--wire-log", log, "halt", "--sync").code == 0
    assert accesses(log, "w", CTI, CTI + 0x1000)


def test_what_a_dead_tool_left_is_named_and_repaired(corral):
    """kill -9 in the middle of halts and restarts."""
    log = corral.path("wire.log")
    with live_board.Board(corral, "jtag") as board:
        found = ctis(corral, board)
        p = corral.start("--wire-log", log, "--link", board.words, "sync-check", "--rounds", "150")
        pulses = []
        while len(pulses) < 12:  # of the first rounds through cross triggers
            assert p.poll() is None, p.communicate()
            time.sleep(0.05)
            if os.path.exists(log):
                pulses = accesses(log, "w", CTI + 0x1C, CTI + 0x20)
        p.kill()
        p.communicate()
        assert ctis(corral, board) != found
        r = corral("--json", "--link", board.words, "status")
        said = [json.loads(line)["warning"] for line in r.err.splitlines()]
        assert r.code == 0 and {w["core"] for w in said} == {"core0", "core1"}, r.err
        assert any("cross triggers" in w["message"] for w in said), said
        assert ctis(corral, board) == found
        again = corral("--link", board.words, "status")
        assert again.code == 0 and again.err == "", again.err
        live(corral, board, "run")
        assert states(corral, board) == ["running", "running"]


def interrupted(corral, number, transfers, *command):
    """Stopped by a signal while the board does not answer; then it does."""
    with live_board.Board(corral, "jtag") as board:
        found = ctis(corral, board)
        board.control(f"stall after {transfers}")
        p = corral.start("--link", board.words, *command)
        time.sleep(0.5)
        running = p.poll() is None
        p.send_signal(number)
        time.sleep(0.1)
        board.control("stall off")
        out, err = p.communicate(timeout=live_board.PATIENCE)
        return running, p.returncode, out.decode(), err.decode(), states(corral, board), ctis(corral, board) == found


def test_interrupted_it_restores(corral):
    for number in (signal.SIGTERM, signal.SIGINT):
        running, code, out, err, after, same = interrupted(corral, number, 1000, "halt", "--sync")
        assert running and code == 130 and out == "" and "interrupted" in err, (code, out, err)
        assert after == ["running", "running"] and same
    running, code, out, err, after, same = interrupted(corral, signal.SIGTERM, 1000, "halt", "--sync", "--leave-halted")
    assert running and code == 130 and after == ["halted", "halted"] and same, (code, err, after)


def board_with(corral, switches):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write(f'link: sim\nboard: "{switches}"\n')


def test_a_core_that_is_held_in_reset_is_named_and_fails_nobody(corral):
    board_with(corral, "--held-in-reset core1")
    r = corral("status")
    assert r.code == 0 and re.search(r"^core1 +reset: held in reset$", r.out, re.M), r.out
    for sync in ([], ["--sync"]):
        r = corral("--json", "halt", *sync)
        assert r.code == 0, r.err
        assert [c["state"] for c in json.loads(r.out)["cores"]] == ["halted", "reset"]
        assert any(json.loads(line)["warning"]["core"] == "core1" for line in r.err.splitlines()), r.err


def test_a_core_that_is_still_in_reset_stops_when_it_is_let_go(corral):
    """Also when the command that said so has long ended; what was left for that goes with the start."""
    with live_board.Board(corral, "jtag") as board:
        def ask(*words):
            r = corral("--json", "--link", board.words, *words)
            assert r.code == 0, (words, r.err)
            return json.loads(r.out)

        def demcr():
            return ask("read", "--ap", 1, "0xE000EDFC")["values"][0]

        found = demcr()
        board.control("reset core1 on")
        r = corral("--link", board.words, "reset", "--halt")
        assert r.code == 0 and "core1 is still held in reset: it will stop" in r.err, r.err
        assert [c["state"] for c in ask("status")["cores"]] == ["halted", "reset"]
        board.control("reset core1 off")
        ask("run", "--core", "core0")
        cores = ask("status")["cores"]
        assert [c["state"] for c in cores] == ["running", "halted"], cores
        vector = ask("read", "--ap", 1, "4")["values"][0]
        assert cores[1]["pc"] == vector & ~1, cores
        ask("run")
        assert demcr() == found
        board.control("reset core1 pulse")
        assert [c["state"] for c in ask("status")["cores"]] == ["running", "running"]
        # and without the end: nothing stays where reset does not halt
        board.control("reset core1 on")
        ask("reset")
        assert demcr() == found
        board.control("reset core1 off")
        assert [c["state"] for c in ask("status")["cores"]] == ["running", "running"]


def test_a_core_without_power_is_named_and_fails_nobody(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write('link: sim\nboard: "--unpowered core1"\ncores:\n  - name: big\n    ap: 0\n  - name: small\n    ap: 1\n')
    r = corral("status")
    assert r.code == 0 and re.search(r"^small +unpowered: without power", r.out, re.M), r.out
    r = corral("--json", "halt", "--sync")
    assert r.code == 0 and [c["state"] for c in json.loads(r.out)["cores"]] == ["halted", "unpowered"], r.out
    assert any("small was left out" in json.loads(line)["warning"]["message"] for line in r.err.splitlines()), r.err


def test_an_access_port_that_does_not_answer_is_said(corral):
    """A core may be behind it, and nobody else would miss it."""
    board_with(corral, "--unpowered core1")
    for args in (["status"], ["halt"], ["reset", "--halt"]):
        r = corral("--json", *args)
        said = [json.loads(line)["warning"]["message"] for line in r.err.splitlines()]
        assert r.code == 0 and len(json.loads(r.out)["cores"]) == 1, (args, r.out, r.err)
        assert len(said) == 1 and said[0].startswith("AP 1 does not answer"), (args, said)
    r = corral("--json", "halt", "--core", "core0")
    assert r.code == 0 and r.err == "", "nobody asked for another core"


def test_no_core_is_no_usage_error(corral):
    board_with(corral, "--unpowered both")
    r = corral("--json", "halt")
    e = json.loads(r.err)["error"]
    assert r.code == 3 and r.out == "" and e["name"] == "no-core" and "AP 0 does not answer" in e["message"], r.err
    r = corral("--link", "dry", "status")
    assert r.code == 3 and "no core was found" in r.err and "corral scan" in r.err, r.err


def test_no_cross_trigger_is_said(corral):
    board_with(corral, "--no-cti core1")
    r = corral("halt", "--sync")
    assert r.code == 0 and "core1" in r.err and "no CTI" in r.err and "(software)" in r.out, (r.out, r.err)


def test_channels_of_corral_yml(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\nsync: true\nchannels: {halt: 3, restart: 2}\n")
    log = corral.path("wire.log")
    r = corral("--json", "--wire-log", log, "halt")
    assert r.code == 0 and json.loads(r.out)["mechanism"] == "cti"
    wanted = [w for w in accesses(log, "w", CTI + 0x20, CTI + 0xC0) if w[-1] not in ("0x00000000", "0x0")]
    assert wanted and not any(re.fullmatch(r"0x0*[12]", w[-1].split(",")[0]) for w in wanted), wanted


tap.main(globals())
