# SPDX-License-Identifier: Apache-2.0
"""`corral serve` for a long time: two gdb clients halting and running, two auxiliary clients reading memory, log, a
profile at 10 kHz and a capture at once. No stop is missed, each resume is answered exactly once, and what is lost of
log and profile is reported. Then the thousand rounds of case D30, with random originators and timing.

usage: soak_gdb.py CORRAL CORE0_10KHZ.ELF CORE1_10KHZ.ELF SECONDS [ROUNDS]   (make soak)
SECONDS are the wall clock's. SEED in the environment gives the same choices again.
"""
import json
import os
import random
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers", "gdb"))
from gdb_client import PATIENCE, Raw, Server, symbol, tap  # noqa: E402

ELF = [os.path.abspath(p) for p in sys.argv[2:4]]
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 60
ROUNDS = int(sys.argv[5]) if len(sys.argv) > 5 else 1000
SEED = int(os.environ.get("SEED", "1"))


def note(text):
    print("# " + text, flush=True)


class Client(Raw):
    """Counts its resumes and stops; a stop that nobody asked for is an error."""

    def __init__(self, port):
        super().__init__(port)
        self.resumes = self.stops = 0
        self.missed = False  # a stop that it was not told of: its next resume is answered with that one
        answer = self.ask("?")
        assert answer[:1] == b"T", answer

    def go(self):
        self.resumes += 1
        self.say("vCont;c")

    def stop(self):
        answer = self.hear()
        assert answer[:1] == b"T", answer
        self.stops += 1
        return answer

    def interrupt(self):
        self.s.sendall(b"\x03")


class Reader(threading.Thread):
    """An auxiliary client that reads memory as fast as it is given."""

    def __init__(self, port, address):
        super().__init__()
        self.client, self.address = Client(port), address
        self.reads, self.ended, self.error = 0, False, None

    def run(self):
        try:
            while not self.ended:
                got = self.client.ask(f"m{self.address:x},400")
                assert len(got) == 2048, got[:80]
                self.reads += 1
        except Exception as e:  # shown by the main thread
            self.error = e
        self.client.close()


def counts_of(server):
    """By kind of event, and what was lost. Each log line follows the one before it, or a gap says how many are gone."""
    kinds, lost, following = {}, 0, {}
    for line in server.events().splitlines():
        event = json.loads(line)
        kind, stream = event["kind"], (event.get("stream"), event.get("core"))
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind == "log":
            assert following.get(stream, event["sequence"]) == event["sequence"], (following[stream], line)
            following[stream] = event["sequence"] + 1
        elif kind == "gap":
            lost += event["lost"] or 0
            following[stream] = event["sequence"]
        elif kind == "restart":
            following[stream] = event["sequence"]
    return kinds, lost


def one_round(clients, at, choose, counts):
    """One group run and its stop, by a breakpoint or by Ctrl-C; all who wait are told, once each."""
    for c in clients:
        if c.missed:
            c.go()
            c.stop()
            c.missed = False
    who, first, by_break = choose.randrange(2), choose.randrange(2), choose.random() < 0.5
    both = choose.random() < 0.7
    if by_break:
        assert clients[who].ask(f"Z1,{at[who]:x},2") == b"OK"
    clients[first].go()
    if both:
        if choose.random() < 0.5:
            time.sleep(choose.random() * 0.003)
        clients[not first].go()
    if not by_break:
        time.sleep(choose.random() * 0.004)
        clients[first].interrupt()
        if both and choose.random() < 0.2:
            clients[not first].interrupt()  # from both: one stop each
    clients[first].stop()
    if both:
        # Its continue may have come after the stop: then it is told of that one, at once.
        clients[not first].stop()
    else:
        clients[not first].missed = True
    if choose.random() < 0.3:
        n = choose.randrange(2)
        if clients[n].ask("g")[:1] != b"E":
            clients[n].resumes += 1
            clients[n].say("vCont;s:1;c")
            clients[n].stop()
            clients[n].missed = False
            counts["steps"] += 1
    if by_break:
        assert clients[who].ask(f"z1,{at[who]:x},2") == b"OK"
    counts["breakpoints" if by_break else "interrupts"] += 1


def catch_up(clients):
    """Who did not run has not heard of the last stop."""
    for c in clients:
        if c.missed:
            c.go()
            c.stop()


def quiet(clients):
    for c in clients:
        assert c.silent(0.2)
        assert c.resumes == c.stops, (c.resumes, c.stops)


def prepare(server):
    clients = [Client(server.ports[i]) for i in range(2)]
    return clients, [symbol(ELF[0], "mailbox_ask"), symbol(ELF[1], "mailbox_answer")], random.Random(SEED)


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_everything_at_once(corral):
    counts = {"breakpoints": 0, "interrupts": 0, "steps": 0}
    capture = corral.path("soak.pcapng")
    with Server(corral, "--sync", "--run", "--profile", f"127.0.0.1:{free_udp_port()}", "--capture", capture,
                link=f"sim:{ELF[0]},{ELF[1]}") as server:
        clients, at, choose = prepare(server)
        readers = [Reader(server.ports[i], 0x20000000 + 0x20000 * i) for i in range(2)]
        for r in readers:
            r.start()
        try:
            end, rounds = time.monotonic() + SECONDS, 0
            while time.monotonic() < end:
                one_round(clients, at, choose, counts)
                rounds += 1
                assert not any(r.error for r in readers), [r.error for r in readers]
            catch_up(clients)
            quiet(clients)
        finally:
            for r in readers:
                r.ended = True
            for r in readers:
                r.join(PATIENCE)
        assert all(r.reads > 0 and not r.error for r in readers)
        for c in clients:
            c.close()
        assert server.end() == 0, server.text()
        kinds, lost = counts_of(server)
        note(f"{rounds} rounds, {counts}; auxiliary reads of 1 KiB: {[r.reads for r in readers]}; events: {kinds}; "
             f"reported lost: {lost}; capture: {os.path.getsize(capture)} bytes; said: {server.text()[-300:]!r}")
        assert kinds.get("halt", 0) >= rounds, "every stop of the group is an event"


def test_d30_a_thousand_rounds(corral):
    counts = {"breakpoints": 0, "interrupts": 0, "steps": 0}
    with Server(corral, "--sync", "--run", "--no-log", link=f"sim:{ELF[0]},{ELF[1]}") as server:
        clients, at, choose = prepare(server)
        for _ in range(ROUNDS):
            one_round(clients, at, choose, counts)
        catch_up(clients)
        quiet(clients)
        replies = [c.stops for c in clients]
        for c in clients:
            c.close()
        assert server.end() == 0, server.text()
        note(f"{ROUNDS} rounds, {counts}; resumes and stop replies: {replies}")


if __name__ == "__main__":
    tap.main(globals())
