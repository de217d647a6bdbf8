# SPDX-License-Identifier: Apache-2.0
"""Clients that mean harm, or end badly, at the ports of "corral serve". Each test stands for a kind of fault that was
found once."""
import os
import re
import select
import signal
import socket
import time

import live_board
import tap

CTI = 0xE0042000
PATIENCE = 120  # seconds; for a machine that does much else


def packet(words):
    return b"$%s#%02x" % (words.encode(), sum(words.encode()) & 255)


class Server:
    def __init__(self, corral, *args, link="sim"):
        self.process = corral.start("--link", link, "serve", "--gdb-port", "0", *args)
        self.ports = [int(re.search(rb":(\d+)$", self.process.stderr.readline().strip())[1]) for _ in range(2)]

    def client(self, core=0):
        s = socket.create_connection(("127.0.0.1", self.ports[core]), PATIENCE)
        return s

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def pour(s, what, bytes_most=16 << 20, seconds=10):
    """All that it takes until it takes nothing for a while, or for too long. How much that was."""
    s.setblocking(False)
    sent, at, end = 0, 0, time.monotonic() + seconds
    while sent < bytes_most and time.monotonic() < end and select.select([], [s], [], 1)[1]:
        n = s.send(what[at:])
        at = (at + n) % len(what)
        sent += n
    return sent


def ask(s, words):
    """The reply to a packet, as it came, with acknowledges and console text before it."""
    s.setblocking(True)
    s.settimeout(PATIENCE)
    s.sendall(packet(words))
    got = b""
    while not re.search(rb"\$(?!O[0-9a-f])[^#]*#..$", got):
        more = s.recv(65536)
        assert more, got
        got += more
    return got


LONG = packet("qCRC:8000000,40000") * 100  # each takes the link for a while


def test_what_a_client_that_left_had_asked_for_is_not_done(corral):
    with Server(corral, "--run") as server:
        before = server.descriptors()
        for _ in range(3):
            with server.client() as s:
                assert pour(s, LONG) > 200_000
        with server.client(1) as s:
            assert b"PacketSize" in ask(s, "qSupported")
        end = time.monotonic() + PATIENCE
        while server.descriptors() > before:
            assert time.monotonic() < end, "its connection is kept"
            time.sleep(0.05)
        assert server.end()[0] == 0


def test_sigterm_does_not_wait_for_what_clients_have_asked_for(corral):
    with Server(corral, "--run") as server, server.client() as s:
        assert pour(s, LONG) > 200_000
        code, _, err = server.end()
        assert code == 0, (code, err)


def test_requests_without_a_byte_fill_nothing(corral):
    """An item costs memory even where it is empty: reading stops all the same."""
    sockets = 12 << 20  # what the kernel keeps of a connection at most, both ends together
    with live_board.Board(corral, "jtag") as board, Server(corral, "--no-log", link=board.words) as server:
        with server.client() as s:
            assert b"$T" in ask(s, "?")
            board.process.send_signal(signal.SIGSTOP)  # nothing is taken from what waits for the link
            s.sendall(packet("m20000000,4"))
            assert pour(s, b"\x03" * 100_000, 64 << 20, seconds=3) < 2 * sockets
            board.process.send_signal(signal.SIGCONT)
        with server.client(1) as s:
            assert b"PacketSize" in ask(s, "qSupported")
        assert server.end()[0] == 0


def test_a_cti_that_cannot_be_put_back_is_an_error(corral):
    for leaves in (False, True):
        with live_board.Board(corral, "jtag") as board, Server(corral, "--sync", "--no-log", link=board.words) as server:
            s = server.client()
            assert b"$T" in ask(s, "?")
            board.control(f"apfault 0 {CTI:#x} 0xFFFFF000")
            if leaves:
                s.close()  # what is owed is owed also when nobody is connected any more
                while b"cannot be put back" not in os.read(server.process.stdout.fileno(), 65536):
                    assert server.process.poll() is None
            code, _, err = server.end()
            s.close()
            assert code == 1 and "the CTI of core0 cannot be put back" in err, (leaves, code, err)
            board.control("apfault off")
            r = corral("--link", board.words, "status")
            assert r.code == 0 and "core0" in r.err, r.err  # what was left there is named, and taken away
            r = corral("--link", board.words, "status")
            assert r.code == 0 and r.err == "", r.err


def test_an_address_that_is_none_is_refused_before_the_target_is_touched(corral):
    r = corral("--link", "sim", "serve", "--listen", "foo")
    assert r.code == 2 and "'foo' is not an address" in r.err and not r.out, r.err


tap.main(globals())
