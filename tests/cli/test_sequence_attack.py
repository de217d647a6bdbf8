# SPDX-License-Identifier: Apache-2.0
"""Debug sequences against hostile files and hosts: what is shown is harmless, what is lost is said, what runs ends."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time

import live_board
import pack_files as pf
import tap

ENDLESS = '        <sequence name="{}"><control while="1"><block>Read32(0xE000EDF0);</block></control></sequence>\n'
ODD = "\u009b31m\u202e\u2028"  # a control sequence of one character, another direction, another line end


def harmless(text):
    assert not any(c != "\n" and not c.isprintable() for c in text), ascii(text)


def test_output_that_is_lost_is_said_of_mistakes_too(corral):
    if not os.path.exists("/dev/full"):
        raise tap.Skip("there is no /dev/full")
    file = pf.write(corral, "one.pdsc", pf.pdsc(pf.ONE_CORE + pf.sequences(pf.sequence("Show", "a = 1;"))))
    for words in ((), ("--json",)):
        with open("/dev/full", "wb") as out:
            p = subprocess.run([corral.exe, *words, "sequence", "check", file], cwd=corral.cwd, stdin=subprocess.DEVNULL,
                               stdout=out, stderr=subprocess.PIPE, timeout=120, check=False)
        assert p.returncode == 1 and b"cannot write to standard output" in p.stderr, (p.returncode, p.stderr)


def test_names_and_texts_of_a_file_are_harmless(corral):
    names = pf.write(corral, "names.pdsc", pf.pdsc(pf.ONE_CORE, pf.device("D" + ODD)))
    texts = pf.write(corral, "texts.pdsc", pf.pdsc(pf.ONE_CORE + pf.sequences(
        pf.sequence("Show", f'Message(0, "{ODD}");', f' info="{ODD}"'), pf.sequence("Bad", f"{ODD}x = 1;"))))
    for file in (names, texts):
        for words in (("sequence", "check", file), ("sequence", "list", file), ("--link", "dry", "sequence", "run", "Show", file)):
            for how in ((), ("--json",)):
                r = corral(*how, *words)
                assert r.code in (0, 1), (words, r.code, r.err)
                harmless(r.err)
                harmless(r.out)
                if how and r.out:
                    assert all(isinstance(json.loads(line), dict) for line in r.out.splitlines()), r.out


def test_what_is_no_file_is_not_waited_for(corral):
    for name in ("a.pdsc", "a.pack", "a.yml", "a.dbgconf"):
        os.mkfifo(corral.path(name))
    pf.write(corral, "good.pdsc", pf.pdsc(pf.ONE_CORE))
    for words in (["a.pdsc"], ["a.pack"], ["a.yml"], ["good.pdsc", "--dbgconf", "a.dbgconf"]):
        r = corral("sequence", "check", *words)
        assert r.code == 1 and "not a file" in r.out + r.err, (words, r.code, r.out, r.err)


def test_a_pack_whose_run_control_never_ends(corral):
    """Over in the time that is given, not said to be well, and nothing is latched for who comes next."""
    good = pf.sequence("DebugCoreSetup", "Read32(0xE000EDF0);") + pf.sequence("ProcessorHaltAcknowledge", "Read32(0xE000EDF0);")
    file = pf.write(corral, "loop.pdsc", pf.pdsc(pf.TWO_CORES + pf.sequences(good, ENDLESS.format("ProcessorStop"))))
    setup = pf.write(corral, "setup.pdsc", pf.pdsc(pf.TWO_CORES + pf.sequences(
        ENDLESS.format("DebugCoreSetup"), pf.sequence("ProcessorHaltAcknowledge", "Read32(0xE000EDF0);"))))
    with live_board.Board(corral, "jtag") as board:
        corral("--timeout", 1, "--link", board.words, "halt", "--sync", "--pack", file)
        r = corral("--timeout", 1, "--link", board.words, "halt", "--sync", "--pack", setup)
        assert r.code in (3, 5), (r.code, r.out, r.err)
        for verb, state in (("halt", "halted"), ("run", "running")):
            r = corral("--link", board.words, verb, "--sync")
            assert r.code == 0, (verb, r.code, r.err)
            r = corral("--link", board.words, "status")
            assert r.code == 0 and r.out.count(state) == 2, (verb, r.out, r.err)


def test_a_reader_that_reads_no_more_holds_nothing_up(corral):
    file = pf.write(corral, "loop.pdsc", pf.pdsc(pf.ONE_CORE + pf.sequences(ENDLESS.format("Show"))))
    p = corral.start("--link", "sim", "sequence", "run", "Show", file, "--trace")
    end, before, now = time.monotonic() + 120, -1, 0
    while (now < 50000 or now != before) and time.monotonic() < end:  # until the pipe is full
        time.sleep(0.4)
        before, now = now, struct.unpack("i", fcntl.ioctl(p.stdout, termios.FIONREAD, struct.pack("i", 0)))[0]
    p.send_signal(signal.SIGTERM)
    try:
        assert p.wait(60) == 130, p.returncode
    finally:
        p.kill()
        p.communicate()


tap.main(globals())
