# SPDX-License-Identifier: Apache-2.0
"""Probes that go away or fall silent in the middle of a command: exit code 3 or 5 and a sentence, within --timeout."""
import json
import os
import re
import signal
import socket
import threading
import time

import live_board
import tap

GIVEN = 0.5  # seconds of --timeout, where it has to run out


def lost(corral, board, what, timeout, *command):
    """The command fails as one whose target is gone; it says so."""
    start = time.monotonic()
    r = corral("--timeout", timeout, "--link", board.words, *command)
    took = time.monotonic() - start
    assert r.code in (3, 5), (what, command, r.code, r.out, r.err)
    assert re.match(r"corral: \S.{10,}", r.err), (what, r.err)
    assert "Sanitizer" not in r.err, r.err
    return r, took


def in_time(case):
    """It takes GIVEN and not the links' own bounds of 5 s and more. A machine that is busy gets two more tries."""
    for _ in range(3):
        took = case()
        if took < GIVEN + 3:
            return
    raise AssertionError(f"{took} s, where {GIVEN} s were given")


def vanish(corral, link):
    for after in (0, 30, 170):
        with live_board.Board(corral, link) as board:
            board.control(f"vanish after {after}")
            r, _ = lost(corral, board, f"{link} vanishes after {after}", 60, "halt", "--sync")
            assert r.code == 3, r.err
            lost(corral, board, f"{link} stays away", 60, "status")
            if link in ("jtag", "cmsis-dap"):
                board.control("vanish off")
                assert corral("--link", board.words, "status").code == 0


def stall(corral, link):
    def case():
        with live_board.Board(corral, link) as board:
            board.control(f"stall after {after}")
            return lost(corral, board, f"{link} stalls after {after}", GIVEN, "halt", "--sync")[1]
    for after in (0, 150):
        in_time(case)


def test_a_jtag_server_that_vanishes(corral):
    vanish(corral, "jtag")


def test_a_cmsis_dap_probe_that_vanishes(corral):
    vanish(corral, "cmsis-dap")


def test_a_probe_that_vanishes_behind_openocd(corral):
    vanish(corral, "openocd")


def test_a_probe_that_vanishes_behind_a_spawned_openocd(corral):
    vanish(corral, "openocd-spawn")


def test_a_jtag_server_that_stalls(corral):
    stall(corral, "jtag")


def test_a_cmsis_dap_probe_that_stalls(corral):
    stall(corral, "cmsis-dap")


def test_a_probe_that_stalls_behind_openocd(corral):
    stall(corral, "openocd")


def test_a_probe_that_stalls_behind_a_spawned_openocd(corral):
    stall(corral, "openocd-spawn")


def test_a_board_that_is_killed(corral):
    with live_board.Board(corral, "jtag") as board:
        board.process.kill()
        board.process.wait()
        r, _ = lost(corral, board, "nobody listens", 60, "status")
        assert r.code == 3 and f":{board.port}" in r.err, r.err


def test_an_openocd_that_stands_still_or_dies(corral):
    with live_board.Board(corral, "openocd") as board:
        board.openocd.send_signal(signal.SIGSTOP)
        in_time(lambda: lost(corral, board, "a stopped OpenOCD", GIVEN, "scan")[1])
        board.openocd.send_signal(signal.SIGCONT)
        assert corral("--link", board.words, "status").code == 0
        board.openocd.kill()
        board.openocd.wait()
        assert lost(corral, board, "a dead OpenOCD", 60, "scan")[0].code == 3


def test_a_listener_that_says_nothing(corral):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        port = s.getsockname()[1]
        class Silent:
            words = ""

        for link in (f"jtag:127.0.0.1:{port}", f"openocd:127.0.0.1:{port}", f"cmsis-dap:tcp:127.0.0.1:{port}"):
            Silent.words = link
            in_time(lambda: lost(corral, Silent, link, GIVEN, "status")[1])


def flood(listener, much):
    """Whoever connects is sent bytes without end."""
    while True:
        try:
            connection = listener.accept()[0]
            while True:
                connection.sendall(much)
        except OSError:
            if listener.fileno() < 0:
                return


def test_a_listener_that_never_falls_silent(corral):
    """A wait has an end also where there is always something more to be read."""
    for kind in ("jtag", "openocd", "cmsis-dap:tcp", "gdb"):
        for what in (b"\0", b"+"):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                s.listen(5)
                threading.Thread(target=flood, args=(s, what * (1 << 22)), daemon=True).start()

                class Flood:
                    words = f"{kind}:127.0.0.1:{s.getsockname()[1]}"

                in_time(lambda: lost(corral, Flood, f"{kind} {what}", GIVEN, "status")[1])
                s.shutdown(socket.SHUT_RDWR)


def stalled(log):
    """What a command has written down until nothing more came."""
    size = -1
    while True:
        time.sleep(0.2)
        now = os.path.getsize(log) if os.path.exists(log) else 0
        if now == size and now:
            return
        size = now


def test_killed_in_the_middle_of_a_halt(corral):
    """The next command names and repairs what is latched; how much that is depends on when it was."""
    with live_board.Board(corral, "jtag", "--json") as board:
        assert corral("--link", board.words, "halt", "--sync").code == 0
        board.process.send_signal(signal.SIGTERM)
        total = json.loads(board.process.communicate()[0])["fronts"][0]["transfers"]
    named = 0
    for before_the_end in (60, 200, 340):
        with live_board.Board(corral, "jtag") as board:
            log = corral.path(f"killed-{before_the_end}.log")
            board.control(f"stall after {total - before_the_end}")
            p = corral.start("--link", board.words, "--wire-log", log, "halt", "--sync")
            stalled(log)
            assert p.poll() is None, p.communicate()
            p.kill()
            p.communicate()
            board.control("stall off")
            r = corral("--link", board.words, "status")
            assert r.code == 0, r.err
            named += "ended without detaching" in r.err
            assert corral("--link", board.words, "run", "--sync").code == 0
            r = corral("--link", board.words, "status")
            assert r.code == 0 and r.err == "" and r.out.count("running") == 2, (before_the_end, r.out, r.err)
    assert named >= 2, named


tap.main(globals())
