# SPDX-License-Identifier: Apache-2.0
"""corral sim as a board: its switches and what is wrong with them, its control socket, its SRAM as a file."""
import json
import os
import re
import signal
import socket
import struct
import time

import tap

PATIENCE = 300  # seconds; for a machine that does much else
DHCSR = 0xE000EDF0


class Board:
    """A running "corral sim" with its control socket; its probe says CMSIS-DAP."""

    def __init__(self, corral, *args, probe=True):
        self.path = corral.path("control")
        self.process = corral.start("--json", "sim", *(["--cmsis-dap", "0"] if probe else []), "--control", self.path, *args)
        if probe:
            line = self.process.stderr.readline().decode()
            m = re.match(r"corral: cmsis-dap listens on 127\.0\.0\.1:(\d+)\n", line)
            assert m, line + self.process.stderr.read().decode()
            self.port = int(m[1])
        self.control = socket.socket(socket.AF_UNIX)
        self.control.settimeout(PATIENCE)
        for _ in range(PATIENCE * 100):
            try:
                self.control.connect(self.path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.01)
        self.lines = self.control.makefile("r")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.lines.close()
        self.control.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def say(self, command):
        """All lines of the answer."""
        self.control.sendall(command.encode() + b"\n")
        out = []
        while not out or not out[-1].startswith(("ok", "error: ")):
            line = self.lines.readline()
            assert line, f"{command}: hung up on"
            out.append(line.rstrip("\n"))
        return out

    def ok(self, command):
        answer = self.say(command)
        assert answer == ["ok"], (command, answer)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        assert not os.path.exists(self.path)
        return json.loads(out)


class Probe:
    """A CMSIS-DAP client that knows just enough: words of memory through an AP."""

    def __init__(self, board):
        self.s = socket.create_connection(("127.0.0.1", board.port), timeout=PATIENCE)
        assert self.packet(b"\2\1") == b"\2\1"
        self.transfers(b"\0\x1E\0\0\0" + b"\4\0\0\0\x50")

    def packet(self, packet):
        self.s.sendall(b"DAP\0" + struct.pack("<HBB", len(packet), 1, 0) + packet)
        head = self.receive(8)
        return self.receive(int.from_bytes(head[4:6], "little"))

    def receive(self, size):
        data = b""
        while len(data) < size:
            more = self.s.recv(size - len(data))
            if not more:
                raise ConnectionError("hung up on")
            data += more
        return data

    def transfers(self, row):
        """(acknowledge, data) of a row of transfers, given as the bytes behind the count."""
        count, at = 0, 0
        while at < len(row):
            at += 1 if row[at] & 2 else 5
            count += 1
        answer = self.packet(b"\5\0" + bytes([count]) + row)
        return answer[2], answer[3:]

    def aim(self, ap, address):
        return b"\x08" + struct.pack("<I", ap << 24) + b"\1\x02\0\0\x23" + b"\5" + struct.pack("<I", address)

    def read(self, ap, address):
        ack, data = self.transfers(self.aim(ap, address) + b"\x0F")
        return struct.unpack("<I", data)[0] if ack == 1 else -ack

    def write(self, ap, address, value):
        return self.transfers(self.aim(ap, address) + b"\x0D" + struct.pack("<I", value))[0]

    def clear(self):
        self.packet(b"\x08\0\x1E\0\0\0")


def refused(corral, args, words):
    r = corral("sim", *args)
    assert r.code == 2 and r.out == "" and words in r.err, (args, r.code, r.err)


def test_every_mistake_is_a_sentence(corral):
    for args, words in (
            (("--identity", "m7,m9"), "there is no 'm9'"), (("--identity", "m7,"), "there is no ''"),
            (("--core-hz", "0"), "'0' is not a number"), (("--core-hz", "1e6"), "'1e6' is not a number"),
            (("--core-hz", "99999989,99999971"), "above 100 GHz"), (("--cti-base", "0x40000000"), "0x40000000"),
            (("--cti-base", "0xE000E000"), "a CTI cannot be at 0xE000E000"), (("--no-cti", "2"), "core0, core1 or both"),
            (("--held-in-reset", "all"), "core0, core1 or both"), (("--unpowered", ""), "needs a value"),
            (("--ctm-latency", "1000001"), "1000001"), (("--seed", "x"), "'x' is not a number"),
            (("--adiv6=1",), "adiv6"), (("--identity",), "--identity"), (("--no-such",), "--no-such")):
        refused(corral, ("--jtag", "0", *args), words)
    refused(corral, ("--identity", "m7,m7"), "nothing to emulate")
    refused(corral, ("--shm", "x"), "without a probe nothing moves the board")
    refused(corral, ("--profile-control", "0", "--shm", "x", "--pace", "max"), "devices of their own")
    refused(corral, ("--profile-control", "0", "--control", "x"), "another device")
    refused(corral, ("--tlog-device", "x", "--ram", "y", "--level-halted"), "another device")
    assert not os.path.exists(corral.path("x"))
    refused(corral, ("--jtag", "0", "--control", "x" * 200), "socket's path")


def test_the_switches_work_for_a_private_board_too(corral):
    def target(board):
        with open(corral.path("board.yml"), "w") as f:
            f.write("link: sim\n" + board)
        return "--target", "board.yml"
    for board in ("board: --core-hz 100000000,64000000 --ctm-latency 7\n", "board:\n  - --identity m7,m4\n  - --seed 5\n"):
        r = corral("--json", *target(board), "halt", "--sync")
        assert r.code == 0 and [c["state"] for c in json.loads(r.out)["cores"]] == ["halted"] * 2, (r.out, r.err)
    r = corral(*target("board: --identity m7,m8\n"), "status")
    assert r.code == 2 and "board.yml:2: board: --identity: there is no 'm8'" in r.err, r.err
    r = corral(*target("board: --core-hz 99999989,99999971\n"), "status")
    assert r.code == 2 and "above 100 GHz" in r.err, r.err


def test_reset_and_power_by_command(corral):
    with Board(corral) as board:
        probe = Probe(board)
        assert probe.read(1, 0xE00FFFF0) == 0x0D
        board.ok("reset core1 on")
        assert [probe.read(1, DHCSR) >> 25 & 1 for _ in range(3)] == [1, 1, 1]
        board.ok("reset core1 off")
        assert [probe.read(1, DHCSR) >> 25 & 1 for _ in range(3)] == [1, 0, 0]
        board.ok("power core1 off")
        assert probe.read(1, DHCSR) == -4
        probe.clear()
        assert probe.read(0, 0xE00FFFF0) == 0x0D
        board.ok("power core1 on")
        assert probe.read(1, 0xE00FFFF0) == 0x0D
        assert board.say("power core2 on")[0].startswith("error: power core0|core1")
        board.end()


def test_faults_by_command(corral):
    with Board(corral) as board:
        probe = Probe(board)
        assert probe.packet(b"\4\0\0\0\0\0") == b"\4\0"  # WAIT is not said again
        board.ok("fault wait 1")
        assert probe.read(0, DHCSR) == -2
        assert probe.read(0, DHCSR) >= 0
        board.ok("fault fault 1 after 3")
        assert probe.read(0, DHCSR) == -4
        board.ok("apfault 1 0xE0042000 0xFFFFF000")
        assert probe.read(1, 0xE0042000) == -4
        probe.clear()
        assert probe.read(0, 0xE0042FF0) == 0x0D and probe.read(1, DHCSR) >= 0
        board.ok("apfault off")
        assert probe.read(1, 0xE0042FF0) == 0x0D
        board.end()


def test_the_boards_log_and_its_ticks(corral):
    with Board(corral) as board:
        probe = Probe(board)
        assert board.say("log") == ["ok 0"]
        assert probe.write(0, DHCSR, 0xA05F0003) == 1
        assert probe.write(0, DHCSR, 0xA05F0001) == 1
        log = board.say("log")
        assert len(log) == 3 and log[2] == "ok 2", log
        halt = re.fullmatch(r"halt core0 tick (\d+) pc 0x08[0-9a-f]{6} dfsr 0x01", log[0])
        run = re.fullmatch(r"run core0 tick (\d+) pc 0x08[0-9a-f]{6} dfsr 0x00", log[1])
        assert halt and run and int(halt[1]) < int(run[1]), log
        assert board.say("log 1") == log[1:]
        ticks = board.say("ticks")[0].split()
        assert ticks[0] == "ok" and int(ticks[1]) >= int(run[1]) and ticks[2] == "100000000", ticks
        assert board.say("ticks")[0].split() == ticks  # at pace wire nobody's asking moves the board
        board.end()


def test_a_probe_that_vanishes(corral):
    with Board(corral) as board:
        probe = Probe(board)
        board.ok("vanish after 9")
        assert probe.read(0, 0xE0042FF0) == 0x0D  # five transfers
        try:
            probe.read(0, 0xE0042FF0)
            raise AssertionError("it is there still")
        except ConnectionError:
            pass
        try:
            socket.create_connection(("127.0.0.1", board.port), timeout=PATIENCE)
            raise AssertionError("it lets somebody in")
        except ConnectionRefusedError:
            pass
        board.ok("vanish off")
        assert Probe(board).read(0, 0xE0042FF0) == 0x0D
        board.end()


def test_a_probe_that_says_nothing(corral):
    with Board(corral) as board:
        probe = Probe(board)
        board.ok("stall")
        probe.s.sendall(b"DAP\0\2\0\1\0\2\1")
        probe.s.settimeout(0.2)
        try:
            probe.s.recv(1)
            raise AssertionError("it says something")
        except TimeoutError:
            pass
        board.ok("stall off")
        probe.s.settimeout(PATIENCE)
        assert probe.receive(10) == b"DAP\0\2\0\2\0\2\1"
        assert probe.read(0, 0xE0042FF0) == 0x0D
        board.end()


def test_nonsense_on_the_control_socket(corral):
    with Board(corral) as board:
        for command in ("", "help", "fault", "reset core0", "\x00", "vanish soon", "log 1 2 3"):
            assert board.say(command)[0].startswith("error: "), command
        other = socket.socket(socket.AF_UNIX)
        other.connect(board.path)  # the newest controller counts
        other.settimeout(PATIENCE)
        other.sendall(b"ticks\n")
        assert other.recv(100).startswith(b"ok 0 ")
        assert board.control.recv(1) == b""
        other.sendall(b"x" * 1000)
        try:
            assert other.recv(100) == b""
        except ConnectionError:
            pass
        other.close()
        board.end()


def test_the_sram_is_a_file(corral):
    with Board(corral, "--shm", "sram", "--pace", "max", probe=False) as board:
        assert os.path.getsize(corral.path("sram")) == 0x80000
        with open(corral.path("sram"), "r+b", buffering=0) as f:
            for _ in range(PATIENCE * 10):
                f.seek(0x40000)
                head = f.read(16)
                if head[8:12] == b"GOLT" and head[12] == 1:
                    break
                time.sleep(0.1)
            size = struct.unpack("<I", head[:4])[0]
            assert head[12] == 1 and 16 < size <= 4112, head
            assert b"boot: core 0" in f.read(size - 16)
            f.seek(0x4000C)
            f.write(b"\0")  # taken: the next batch follows
            for _ in range(PATIENCE * 10):
                f.seek(0x4000C)
                if f.read(1) == b"\1":
                    break
                time.sleep(0.1)
            else:
                raise AssertionError("the firmware does not see what the host writes")
        board.end()
    r = corral("sim", "--jtag", "0", "--shm", ".")
    assert r.code == 1 and "SRAM cannot be the file" in r.err, r.err
    with open(corral.path("mine"), "w") as f:
        f.write("not yours")
    r = corral("sim", "--jtag", "0", "--shm", "mine")
    assert r.code == 1 and "of another size, which stays as it is" in r.err, r.err
    with open(corral.path("mine")) as f:
        assert f.read() == "not yours"


tap.main(globals())
