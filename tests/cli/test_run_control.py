# SPDX-License-Identifier: Apache-2.0
"""corral status, halt and run on the virtual board: each invocation is a board of its own."""
import json

import tap


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


def test_one_core_alone_cannot_be_cross_triggered(corral):
    r = corral("--json", "halt", "--sync", "--core", "core0")
    assert r.code == 1 and r.out == ""
    assert json.loads(r.err)["error"]["name"] == "no-cross-trigger"


def test_help(corral):
    for name in ("scan", "status", "halt", "run"):
        r = corral(name, "--help")
        assert r.code == 0 and r.out.startswith("Usage:") and "Example:" in r.out


def test_timeout_bounds_an_operation(corral):
    for command in (["scan"], ["status"], ["halt"], ["run", "--sync"]):
        r = corral("--json", "--timeout", "0.001", *command)
        assert r.code == 5 and r.out == "" and json.loads(r.err)["error"]["name"] == "timeout", (command, r.out, r.err)
        assert corral("--timeout", "10", *command).code == 0
    r = corral("--timeout", "0.001", "demo", "--listen", "127.0.0.1:0")
    assert r.code == 5 and "--timeout" in r.err, r.err


tap.main(globals())
