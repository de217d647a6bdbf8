# SPDX-License-Identifier: Apache-2.0
"""Two gdbs at "corral serve" whose target is behind a probe: the same as on the board in this process, over each link.

Usage: test_gdb_links.py CORRAL CORE0.ELF CORE1.ELF
"""
import sys

import test_gdb
from gdb_client import tap
from live_board import Board, CONFIG, openocd_program

ROUNDS = 6


def session(corral, link):
    """Breakpoint on core 1, both stop, either starts both, a watchpoint, steps, Ctrl-C, and nothing is left."""
    with Board(corral, link) as board:
        with test_gdb.Pair(corral, "--sync", link=board.words) as p:
            p.b.do("-break-insert -h mailbox_answer")
            for i in range(ROUNDS):
                first, second = (p.a, p.b) if i % 2 else (p.b, p.a)
                first.go()
                second.go()
                test_gdb.expect(p.b.wait_stopped(), 'func="mailbox_answer"', "mailbox_answer.c")
                test_gdb.expect(p.a.wait_stopped(), 'signal-name="SIGINT"')
            assert not p.moves(0.5), "core 0 must stand still"
            test_gdb.expect(p.a.do("-stack-list-frames"), "core0.c")
            b = p.b.pc()
            p.a.do("-exec-step-instruction")
            test_gdb.expect(p.a.wait_stopped(), 'reason="end-stepping-range"')
            p.b.cli("maintenance flush register-cache")
            assert p.b.pc() == b
            p.b.do("-break-delete")
            p.b.go()  # with this its breakpoint is gone
            assert p.moves()
            p.a.go()
            p.a.interrupt()
            p.a.wait_stopped()
            p.b.wait_stopped()
            assert "halts by cti, runs by cti" in p.eye.monitor("sync status")[1]
            p.eye.close()
            p.a.do("-gdb-exit")
            p.b.do("-gdb-exit")
            assert p.server.end() == 0, p.server.text()


def test_over_jtag(corral):
    session(corral, "jtag")


def test_over_cmsis_dap(corral):
    session(corral, "cmsis-dap")


def test_over_openocd(corral):
    session(corral, "openocd")


def test_over_an_openocd_that_corral_starts(corral):
    session(corral, "openocd-spawn")


def test_load_into_the_flash_that_openocd_knows(corral):
    """OpenOCD's own commands write it; gdb knows its sectors. Its driver "faux" keeps to itself what is written."""
    openocd_program()
    with Board(corral, "jtag", "--pace", "real") as board:
        config = corral.path("faux.cfg")
        with open(config, "w", encoding="ascii") as f:
            f.write(CONFIG["jtag"].format(port=board.port) + "dap create c.dap -chain-position c.cpu\n"
                    "target create f0 mem_ap -dap c.dap -ap-num 0\nflash bank b0 faux 0x08000000 0x40000 0 0 f0\n")
        with test_gdb.Pair(corral, "--sync", link=f"openocd:spawn:{config}") as p:
            test_gdb.expect(p.a.cli("info mem"), "0x08000000 0x08040000 flash blocksize 0x10000")
            assert "flash" not in p.b.cli("info mem"), "core 1 has none there"
            test_gdb.expect(p.a.cli("load"), "Loading section", "Transfer rate")
            answer = p.eye.ask("vFlashErase:8000100,100")
            assert answer.startswith(b"E.") and b"OpenOCD" in answer, answer
            p.eye.close()
            assert p.server.end() == 0, p.server.text()


def test_report_the_probe_vanishes(corral):
    """Whoever waits is told, and corral ends with exit 3."""
    with Board(corral, "cmsis-dap") as board:
        with test_gdb.Pair(corral, "--sync", link=board.words) as p:
            p.a.go()
            board.control("vanish")
            p.a.wait_for("=thread-group-exited")
            test_gdb.expect("\n".join(p.a.log), "closed the connection")
            assert p.server.process.wait(test_gdb.PATIENCE) == 3, p.server.text()


if __name__ == "__main__":
    tap.main(globals())
