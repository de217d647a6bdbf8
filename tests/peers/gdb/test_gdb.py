# SPDX-License-Identifier: Apache-2.0
"""gdb-multiarch at the ports of "corral serve": the cases D1 to D30 of the cross-trigger sheet 12.D as gdb's user sees
them. What gdb never sends is said by a bare client (D9, D24, and garbage).

Usage: test_gdb.py CORRAL CORE0.ELF CORE1.ELF
"""
import os
import signal
import sys
import time

from gdb_client import Gdb, PATIENCE, Raw, Server, symbol, tap

ELF = [os.path.abspath(p) for p in sys.argv[2:4]]
ASKED = None  # the address of a word that moves while core 0 runs


def asked():
    global ASKED
    ASKED = ASKED or symbol(ELF[0], "mailbox_asked")
    return ASKED


class Pair:
    """A server with sync, a gdb on each core, and a look at memory beside them."""

    def __init__(self, corral, *args, link="sim"):
        self.parts = []
        self.eye = None
        try:
            self.server = self.keep(Server(corral, *(args or ("--sync", "--run")), link=link))
            self.a = self.keep(Gdb(ELF[0]))
            self.b = self.keep(Gdb(ELF[1]))
            self.a.connect(self.server.ports[0])
            self.b.connect(self.server.ports[1])
            self.eye = Raw(self.server.ports[0])
            assert self.eye.ask("?")[:1] == b"T"
        except BaseException:  # also where there is no gdb: who never got in is not let out
            self.__exit__()
            raise

    def keep(self, part):
        self.parts.append(part)
        return part

    def moves(self, seconds=PATIENCE):
        """Does core 0 run?"""
        before, end = self.eye.word(asked()), time.monotonic() + seconds
        while time.monotonic() < end:
            if self.eye.word(asked()) != before:
                return True
        return False

    def runs_once_all_have_left(self):
        """A client that comes before the last one's end is noticed finds the cores as that one left them."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.eye.close()
            self.eye = Raw(self.server.ports[0])
            if self.moves(0.5):
                return True
            self.eye.close()
            time.sleep(0.1)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.eye:
            self.eye.close()
        for part in reversed(self.parts):
            part.__exit__()


def expect(text, *words):
    for w in words:
        assert w in text, f"{w!r} is not in {text}"


def test_breakpoint_on_core_1_stops_both_and_either_starts_both(corral):
    with Pair(corral) as p:
        p.b.do("-break-insert -h mailbox_answer")
        p.a.go()
        p.b.go()
        expect(p.b.wait_stopped(), 'reason="breakpoint-hit"', 'func="mailbox_answer"', "mailbox_answer.c")
        expect(p.a.wait_stopped(), 'signal-name="SIGINT"')
        assert not p.moves(0.5), "core 0 must stand still"
        expect(p.a.do("-stack-list-frames"), "core0.c")
        expect(p.b.do("-stack-list-frames"), 'func="mailbox_answer"', "core1.c")
        expect(p.a.do("-thread-info"), 'state="stopped"', 'name="core0"')
        expect(p.b.do("-thread-info"), 'name="core1"')
        assert int(p.b.value("$xpsr")) & (1 << 24)
        p.b.do("-break-delete")
        p.b.go()  # from B alone: with this its breakpoint is gone
        assert p.moves()
        p.a.go()
        p.a.silent()
        p.b.interrupt()
        p.b.wait_stopped()
        p.a.wait_stopped()
        p.a.go()  # from A alone
        assert p.moves()
        p.b.go()
        p.a.interrupt()
        p.a.wait_stopped()
        p.b.wait_stopped()


def test_d1_stop_before_the_others_continue(corral):
    with Pair(corral) as p:
        p.eye.word(asked())
        p.b.cli("set breakpoint always-inserted on")
        p.b.do("-break-insert -h mailbox_answer")
        p.a.go()
        expect(p.a.wait_stopped(), 'signal-name="SIGINT"')
        p.b.go()  # on arrival: its stop, and nobody runs
        expect(p.b.wait_stopped(), 'func="mailbox_answer"')
        assert not p.moves(0.4)


def test_d2_d4_both_continue_and_one_ctrl_c(corral):
    with Pair(corral) as p:
        p.a.go()
        p.b.go()
        assert p.moves()
        p.a.interrupt()
        expect(p.a.wait_stopped(), 'signal-name="SIGINT"')
        expect(p.b.wait_stopped(), 'signal-name="SIGINT"')
        p.a.silent()
        p.b.silent()


def test_d3_registers_while_the_group_runs(corral):
    with Pair(corral) as p:
        p.a.go()
        assert p.moves()
        p.b.cli("maintenance flush register-cache", "done|error")
        p.b.cli("info registers r0", "done|error")
        expect("\n".join(p.b.log[-8:]), "core is running")
        p.a.interrupt()
        p.a.wait_stopped()
        p.b.cli("maintenance flush register-cache")
        expect(p.b.cli("info registers pc"), "pc ")


def test_d5_d6_ctrl_c_from_both(corral):
    with Pair(corral) as p:
        p.a.go()
        p.b.go()
        p.a.interrupt()
        p.b.interrupt()
        p.a.wait_stopped()
        p.b.wait_stopped()
        p.a.go()  # no 0x03 that came late may stop this run
        p.a.silent(0.6)
        assert p.moves()
        p.a.interrupt()
        p.a.wait_stopped()


def test_d7_d8_steps_move_one_core(corral):
    with Pair(corral) as p:
        b = p.b.pc()
        for _ in range(3):
            a = p.a.pc()
            p.a.do("-exec-step-instruction")
            expect(p.a.wait_stopped(), 'reason="end-stepping-range"')
            assert p.a.pc() != a
        p.a.do(f"-break-insert -h *{p.a.pc()}")
        a = p.a.pc()
        p.a.do("-exec-step-instruction")
        p.a.wait_stopped()
        assert p.a.pc() != a
        p.b.cli("maintenance flush register-cache")
        assert p.b.pc() == b
        assert p.eye.word(0xE0042134) == 0 and not p.b.stopped()


def test_d11_next_steps_a_range(corral):
    with Pair(corral) as p:
        p.a.do("-break-insert -h -t crc32_update")
        p.a.go()
        p.a.wait_stopped()
        b = p.b.pc() if p.b.cli("maintenance flush register-cache") is not None else 0
        p.a.do("-exec-next")
        expect(p.a.wait_stopped(), 'reason="end-stepping-range"')
        p.b.cli("maintenance flush register-cache")
        assert p.b.pc() == b


def test_d12_the_other_core_stands_on_its_breakpoint(corral):
    with Pair(corral) as p:
        p.b.cli("set breakpoint always-inserted on")
        p.b.do("-break-insert -h mailbox_answer")
        p.b.go()
        expect(p.b.wait_stopped(), 'func="mailbox_answer"')
        for _ in range(3):
            p.a.go()
            p.a.wait_stopped()
            before = p.eye.word(asked())
            p.a.go()
            p.a.wait_stopped()
            if p.eye.word(asked()) != before:
                break
        else:
            raise AssertionError("core 1 does not get past its breakpoint")


def test_d13_d14_comparators_belong_to_a_core(corral):
    with Pair(corral) as p:
        for g in (p.a, p.b):
            g.cli("set breakpoint always-inserted on")
            g.do("-break-insert -h *0x0803ff00")
        p.a.do("-break-delete")
        p.a.go()
        p.a.silent(0.3)
        other = Raw(p.server.ports[1])
        assert other.word(0xE0002008) & 1, "core 1's must stay"
        other.close()
        p.a.interrupt()
        p.a.wait_stopped()
        for i in range(8):
            p.a.do(f"-break-insert -h *{0x08000300 + 16 * i}")
        failed = p.a.cli("hbreak *0x08000400", "done|error")
        expect(failed + "\n".join(p.a.log[-10:]), "too many hardware")


def test_d15_a_breakpoint_while_the_group_runs(corral):
    with Pair(corral) as p:
        p.b.cli("set breakpoint always-inserted on")
        p.a.go()
        assert p.moves()
        p.b.do("-break-insert -h mailbox_answer")
        expect(p.a.wait_stopped(), 'signal-name="SIGINT"')


def test_d16_an_auxiliary_gdb(corral):
    with Pair(corral) as p, Gdb(ELF[0]) as aux:
        p.a.go()
        aux.connect(p.server.ports[0])
        assert p.moves()
        assert not p.a.stopped()
        first = aux.value("mailbox_asked")
        end = time.monotonic() + PATIENCE
        while aux.do('-data-read-memory-bytes &mailbox_asked 4') and aux.value("mailbox_asked") == first:
            aux.cli("maintenance flush dcache", "done|error")
            assert time.monotonic() < end
        aux.kill()
        assert p.moves()
        p.a.interrupt()
        p.a.wait_stopped()


def test_d17_gdb_killed_while_it_waits(corral):
    with Pair(corral) as p:
        p.a.do("-break-insert -h *0x0803fff0")
        p.a.go()
        p.b.go()
        p.a.kill()
        assert p.moves()
        end = time.monotonic() + PATIENCE
        while p.eye.word(0xE0002008) & 1:
            assert time.monotonic() < end, "its breakpoint must go"
        p.b.interrupt()
        expect(p.b.wait_stopped(), 'signal-name="SIGINT"')


def test_d18_a_breakpoint_of_the_other_gdb(corral):
    with Pair(corral) as p:
        at = p.b.value("(unsigned)mailbox_answer & ~1")
        p.a.do(f"-break-insert -h *{at}")  # core 0 has other code there, and never comes to it
        p.b.do("-break-insert -h mailbox_answer")
        p.a.go()
        p.b.go()
        expect(p.b.wait_stopped(), 'reason="breakpoint-hit"')
        expect(p.a.wait_stopped(), 'reason="signal-received"', 'signal-name="SIGINT"')
        p.a.silent(0.5)  # a follower that had a cause would go on by itself, for ever


def test_d19_a_watchpoint(corral):
    with Pair(corral) as p:
        p.a.do("-break-watch mailbox_asked")
        p.a.go()
        p.b.go()
        expect(p.a.wait_stopped(), 'reason="watchpoint-trigger"', 'exp="mailbox_asked"')
        expect(p.b.wait_stopped(), 'signal-name="SIGINT"')


def test_d21_monitor_reset_halt(corral):
    with Pair(corral) as p:
        p.b.go()
        p.a.cli("monitor reset halt")
        expect(p.b.wait_stopped(), "reset_handler")
        p.a.cli("maintenance flush register-cache")
        expect(p.a.do("-stack-list-frames"), "reset_handler")
        p.a.do("-break-insert -h -t core_main")
        p.a.go()
        expect(p.a.wait_stopped(), 'func="core_main"')


def test_d22_load_while_the_other_runs(corral):
    with Pair(corral) as p:
        p.b.go()
        expect(p.a.cli("load"), "Transfer rate")
        expect(p.a.cli("compare-sections .text"), "matched")


def test_d23_detach_and_quit(corral):
    with Pair(corral) as p:
        p.a.go()
        p.a.interrupt()
        p.a.wait_stopped()
        p.a.cli("detach")
        other = Raw(p.server.ports[1])
        assert other.word(0xE0042000) & 1, "core 1's gdb is there still"
        p.eye.close()
        other.close()
        p.b.do("-gdb-exit")
        p.b.p.wait(PATIENCE)
        assert p.runs_once_all_have_left()  # as it was found
        assert p.server.end() == 0, p.server.text()


def test_d24_bytes_that_are_no_packets(corral):
    with Server(corral, "--sync") as server:
        c = Raw(server.ports[0], noack=False)
        c.s.sendall(b"$?#00")
        assert c.byte(time.monotonic() + PATIENCE) == b"-"
        c.s.sendall(b"$?#3f")
        first = c.hear()
        assert first[:1] == b"T"
        c.s.sendall(b"-")
        assert c.hear() == first
        c.s.sendall(b"$" + b"a" * 300000 + b"#00")
        assert c.byte(time.monotonic() + PATIENCE) == b"-"
        c.close()
        c = Raw(server.ports[0])
        c.s.sendall(b"$" + b"a" * 300000 + b"#00")
        assert c.hear()[:1] == b"E"
        assert c.ask("?")[:1] == b"T"
        c.close()


def test_d25_without_sync_cores_are_independent(corral):
    with Pair(corral, "--run") as p:
        p.b.do("-break-insert -h mailbox_answer")
        p.a.go()
        p.b.go()
        expect(p.b.wait_stopped(), 'func="mailbox_answer"')
        p.a.silent()
        p.a.interrupt()
        p.a.wait_stopped()
        assert p.eye.word(0xE0042000) == 0 and p.eye.word(0xE0042020) == 0


def test_d26_one_core_without_a_cti(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\nboard: --no-cti core1\n")
    with Pair(corral) as p:
        p.a.go()
        p.b.go()
        assert p.moves()
        p.b.interrupt()
        p.b.wait_stopped()
        p.a.wait_stopped()
        expect(p.server.events(), "no CTI")


def test_d27_a_core_held_in_reset(corral):
    with open(corral.path("corral.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\nboard: --held-in-reset core1\n")
    with Server(corral, "--sync", "--run") as server, Gdb(ELF[0]) as a, Gdb(ELF[1]) as b:
        a.connect(server.ports[0])
        b.connect(server.ports[1])
        b.cli("maintenance flush register-cache", "done|error")
        b.cli("info registers r0", "done|error")
        expect("\n".join(b.log[-8:]), "core in reset")
        a.go()
        a.silent(0.3)
        a.interrupt()
        a.wait_stopped()


def test_monitor_log_level(corral):
    with Pair(corral) as p:
        p.a.go()
        end = time.monotonic() + PATIENCE
        while '"level":"inf"' not in p.server.events():
            assert time.monotonic() < end
        assert p.eye.monitor("log level 1") == (b"OK", "done\n")
        assert p.eye.monitor("log level x")[0][:1] == b"E"
        p.a.interrupt()
        p.a.wait_stopped()


def test_d30_rounds(corral):
    with Pair(corral) as p:
        p.b.do("-break-insert -h mailbox_answer")
        p.a.do("-break-insert -h mailbox_ask")
        for i in range(12):
            first, second = (p.a, p.b) if i % 3 else (p.b, p.a)
            first.go()
            second.go()
            first.wait_stopped()
            second.wait_stopped()
            p.a.silent(0.02)
            p.b.silent(0.02)


def test_an_all_cores_port(corral):
    with Server(corral, "--sync", "--run", "--gdb-all", "0") as server, Gdb(ELF[0]) as g:
        g.connect(server.ports[2])
        threads = g.do("-thread-info")
        expect(threads, 'name="core0"', 'name="core1"')
        g.do("-exec-step-instruction --thread 2")
        expect(g.wait_stopped(), 'thread-id="2"')
        g.go()
        g.silent(0.3)
        g.interrupt()
        g.wait_stopped()


def test_report_02_continue_with_a_signal(corral):
    with Pair(corral) as p:
        p.a.go()
        p.b.go()
        p.a.interrupt()
        p.a.wait_stopped()
        p.b.wait_stopped()
        p.a.cli("signal SIGSEGV &")
        assert p.moves()
        p.a.interrupt()
        p.a.wait_stopped()


def test_garbage_a_slow_reader_and_a_crowd_disturb_nobody(corral):
    with Pair(corral) as p:
        junk = [Raw(p.server.ports[1]) for _ in range(2)]
        junk[0].s.sendall(b"GET / HTTP/1.1\r\n" * 1000)
        for _ in range(3000):  # asks for much, and reads nothing
            try:
                junk[1].s.settimeout(0.2)
                junk[1].s.sendall(b"$m20000000,8000#00")
            except (TimeoutError, OSError):
                break
        crowd = []
        for _ in range(100):
            import socket
            crowd.append(socket.create_connection(("127.0.0.1", p.server.ports[0]), PATIENCE))
        p.a.go()
        p.b.go()
        p.a.interrupt()
        p.a.wait_stopped()
        p.b.wait_stopped()
        for s in crowd:
            s.close()
        for j in junk:
            j.close()
        p.a.go()
        assert p.moves()
        p.a.interrupt()
        p.a.wait_stopped()


def test_gdb_killed_with_9_and_sigterm_to_corral(corral):
    with Pair(corral, "--sync", "--run", "--on-detach", "resume") as p:
        p.a.kill()
        p.b.kill()
        assert p.runs_once_all_have_left()
        p.eye.close()
        assert p.server.end(signal.SIGTERM) == 0, p.server.text()


if __name__ == "__main__":
    tap.main(globals())
