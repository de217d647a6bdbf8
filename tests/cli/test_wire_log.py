# SPDX-License-Identifier: Apache-2.0
"""--wire-log and --link replay: the same answers without the target; and what is said where they cannot be had."""
import re
import resource
import signal

import live_board
import tap

COMMANDS = (["scan"], ["--json", "scan"], ["status"], ["halt"], ["halt", "--sync"], ["run", "--sync"],
            ["read", "0x20060000", "16"], ["read", "0x70000000"])


def replayed(corral, words, *command, same=lambda out: out):
    log = corral.path("wire.log")
    first = corral("--link", words, "--wire-log", log, *command)
    again = corral("--link", f"replay:{log}", *command)
    assert (first.code, same(first.out), first.err) == (again.code, same(again.out), again.err), (
        command, first.out, first.err, again.out, again.err)
    return first


def test_commands_on_the_board_are_replayed(corral):
    for command in COMMANDS:
        r = replayed(corral, "sim", *command)
        assert (r.code == 0) == ("0x70000000" not in command), r.err
    # times too: the clock is the log's
    replayed(corral, "sim", "--json", "halt", "--sync")


def test_commands_over_jtag_are_replayed(corral):
    def without_time(out):  # a real clock goes on between two accesses
        return re.sub(r"^@[0-9:.]+", "@", out)
    with live_board.Board(corral, "jtag") as board:
        for command in COMMANDS + (["run"],):
            r = replayed(corral, board.words, *command, same=without_time)
            assert (r.code == 0) == ("0x70000000" not in command), r.err


def test_another_command_diverges(corral):
    log = corral.path("wire.log")
    assert corral("--wire-log", log, "read", "0x20060000").code == 0
    r = corral("--link", f"replay:{log}", "read", "0x20060010")
    assert r.code == 3 and r.out == "", (r.code, r.out)
    assert f"wire log {log}:" in r.err and "0x20060000" in r.err and "0x20060010" in r.err, r.err
    r = corral("--link", f"replay:{log}", "halt")
    assert r.code == 3 and "wire log" in r.err and "is asked" in r.err or "more was asked" in r.err, r.err


def test_a_log_of_another_kind(corral):
    log = corral.path("wire.log")
    with open(log, "w", encoding="ascii") as f:
        f.write("not a log\n")
    r = corral("--link", f"replay:{log}", "scan")
    assert r.code == 1 and "no wire log" in r.err, (r.code, r.err)
    assert corral("--link", "replay:", "scan").code == 2
    r = corral("--link", f"replay:{corral.path('none')}", "scan")
    assert r.code == 1 and "cannot read the wire log" in r.err, r.err
    r = corral("--wire-log", corral.path("no/such/folder"), "scan")
    assert r.code == 1 and r.out == "" and "cannot write the wire log" in r.err, r.err


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_full_disk_is_said_once_and_stops_nothing(corral):
    log = corral.path("wire.log")
    for command in (["scan"], ["halt", "--sync"]):
        whole = corral(*command)
        r = corral("--wire-log", log, *command, preexec_fn=limited)
        assert r.code == 0 and r.out == whole.out, (r.code, r.err)
        assert r.err.count("wire log") == 1 and r.err.startswith(f"corral: the wire log {log} ends here: "), r.err
        assert corral("--quiet", "--wire-log", log, *command, preexec_fn=limited).err == ""
        with open(log, "rb") as f:
            text = f.read()
        assert 3000 < len(text) <= 4096 and text.endswith(b"\n"), len(text)


tap.main(globals())
