# SPDX-License-Identifier: Apache-2.0
"""OpenOCD 0.12 as Debian has it debugs the board of "corral sim" through each front that it has a driver for.

Usage: test_openocd.py CORRAL
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "cli"))
import tap  # noqa: E402

PATIENCE = 300  # seconds; for a machine that does much else
COMMON = ("gdb_port disabled; telnet_port disabled; tcl_port disabled;"
          "{tap}; dap create c.dap -chain-position c.cpu {version};"
          "target create c0 cortex_m -dap c.dap -ap-num {ap[0]}; target create c1 cortex_m -dap c.dap -ap-num {ap[1]};"
          "cti create cti0 -dap c.dap -ap-num {ap[0]} -baseaddr 0xE0042000;"
          "cti create cti1 -dap c.dap -ap-num {ap[1]} -baseaddr 0xE0042000; init")
FRONTS = {
    "jtag": "adapter driver remote_bitbang; remote_bitbang host 127.0.0.1; remote_bitbang port {port};"
            "transport select jtag;" + COMMON.replace("{tap}", "jtag newtap c cpu -irlen 4 -expected-id 0x4ba00477"),
    "stlink": "adapter driver st-link; st-link vid_pid 0x0483 0x374f; st-link backend tcp {port};"
              "transport select dapdirect_swd;" + COMMON.replace("{tap}", "swd newdap c cpu -expected-id 0x6ba02477"),
}
# What an adapter driver says when it had to wait for more than its second; the machine's fault, not the board's.
TOO_SLOW = ("failed to receive USB CMD response",)


class Board:
    """A running "corral sim" and the ports of its fronts."""

    def __init__(self, corral, *args):
        fronts = [a[2:] for a in args if a[2:] in ("jtag", "stlink", "cmsis-dap")]
        self.process = corral.start("--json", "sim", *args)
        self.port = {}
        while len(self.port) < len(fronts):
            line = self.process.stderr.readline().decode()
            m = re.match(r"corral: (\S+) listens on 127\.0\.0\.1:(\d+)\n", line)
            assert m, line + self.process.stderr.read().decode()
            self.port[m[1]] = int(m[2])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def end(self):
        """Its report."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        return json.loads(out)

    def call(self, front):
        return socket.create_connection(("127.0.0.1", self.port[front]), timeout=PATIENCE)


def openocd(board, front, script, adiv6=False):
    """All that OpenOCD says while it carries out `script`."""
    said_first = FRONTS[front].format(port=board.port[front], version="-adiv6" if adiv6 else "",
                                      ap=("0x2000", "0x4000") if adiv6 else ("0", "1"))
    program = shutil.which("openocd")
    if not program:
        if os.environ.get("CI"):
            raise AssertionError("openocd is not installed, and CI is set, where it must be there")
        raise tap.Skip("openocd is not installed")
    for _ in range(5):
        p = subprocess.run([program, "-c", said_first, "-c", script, "-c", "shutdown"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
        said = p.stdout.decode("utf-8", "replace")
        if not any(words in said for words in TOO_SLOW):
            break
    assert p.returncode == 0, said
    return said


def expect(said, *words):
    for w in words:
        assert w in said, f"not said: {w!r} in\n{said}"


def components(corral, front):
    with Board(corral, f"--{front}", "0") as board:
        said = openocd(board, front, "echo [c.dap info 0]; echo [c.dap info 1]")
        expect(said, "[c0] Cortex-M7 r1p2 processor detected", "[c1] Cortex-M7 r1p2 processor detected",
               "[c0] target has 8 breakpoints, 4 watchpoints", "AP ID register 0x84770001", "MEM-AP BASE 0xe00ff003",
               "Valid ROM table present", "Cortex-M7 PPB ROM", "SCS (System Control Space)",
               "DWT (Data Watchpoint and Trace)", "Cortex-M7 FPB (Flash Patch and Breakpoint)",
               "ITM (Instrumentation Trace Module)", "Part is 0x906, CoreSight CTI (Cross Trigger)", "End of ROM table")
        assert said.count("End of ROM table") == 2, said
        report = board.end()["fronts"]
        assert [f["name"] for f in report] == [front] and report[0]["transfers"] > 100 and not report[0]["nonsense"]


def run_control(corral, front):
    # The cycle counter stands still in debug state and goes on with the core.
    script = """
        targets c0; halt; echo "A [c0 curstate] [c1 curstate]"
        set pc [dict get [get_reg pc] pc]; step; echo "B [expr {[dict get [get_reg pc] pc] != $pc}]"
        set old [dict get [get_reg r12] r12]; mww 0xE000EDF8 0x12345678; mww 0xE000EDF4 0x1000C; reg r12 force
        echo "C [dict get [get_reg r12] r12]"; mww 0xE000EDF8 $old; mww 0xE000EDF4 0x1000C; reg r12 force
        mww 0x20070000 0x11223344; mwb 0x20070001 0xaa; mwh 0x20070006 0xbbcc; echo "D [mdw 0x20070000 2]"
        echo "E [expr {[catch {mdw 0x70000000}] != 0}] [mdw 0x20070000]"
        mww 0xE0001000 [expr {[lindex [read_memory 0xE0001000 32 1] 0] | 1}]
        set a [lindex [read_memory 0xE0001004 32 1] 0]; set b [lindex [read_memory 0xE0001004 32 1] 0]
        resume; echo "F [c0 curstate]"; halt
        set c [lindex [read_memory 0xE0001004 32 1] 0]; echo "G [expr {$a == $b}] [expr {$b != $c}]"
        targets c1; halt; reg; echo "H [c0 curstate] [c1 curstate]"; resume
        targets c0; reset halt; echo "I [c0 curstate] [format %x [dict get [get_reg pc] pc]]"; resume
    """
    with Board(corral, f"--{front}", "0") as board:
        said = openocd(board, front, script)
        expect(said, "A halted running", "B 1", "C 0x12345678", "D 0x20070000: 1122aa44 bbcc0000",
               "E 1 0x20070000: 1122aa44", "F running", "G 1 1", "H halted halted", "I halted ")
        board.end()


def cross_trigger(corral, front):
    script = """
        foreach t {c0 c1} { $t mww 0xe0042fb0 0xc5acce55 }
        foreach t {cti0 cti1} { $t write OUTEN0 1; $t write OUTEN7 2; $t enable on }
        cti0 channel 0 pulse; sleep 20; c0 arp_poll; c1 arp_poll; echo "A [c0 curstate] [c1 curstate]"
        cti0 ack 0; cti1 ack 0; cti1 channel 1 pulse; sleep 20; c0 arp_poll; c1 arp_poll
        echo "B [c0 curstate] [c1 curstate]"; cti0 dump
    """
    with Board(corral, f"--{front}", "0") as board:
        expect(openocd(board, front, script), "A halted halted", "B running running", "OUTEN7 (0x00bc) 0x00000002")
        board.end()


def blocks(corral, front):
    """Memory in blocks, there and back, over the AP's 1 KiB boundary and at odd ends."""
    data = bytes((i * 7 + i // 256) & 255 for i in range(5003))
    with Board(corral, f"--{front}", "0") as board:
        with open(corral.path("in.bin"), "wb") as f:
            f.write(data)
        openocd(board, front, f"targets c0; halt; targets c1; halt; load_image {corral.path('in.bin')} 0x20070101 bin; "
                              f"dump_image {corral.path('out.bin')} 0x20070101 {len(data)}; resume")
        with open(corral.path("out.bin"), "rb") as f:
            assert f.read() == data
        board.end()


# What OpenOCD 0.12 finds of each core: the processor's line, its breakpoints and watchpoints, the part of its CTI, its
# restart output.
CORES = {
    "m7": ("Cortex-M7 r1p2", "8 breakpoints, 4 watchpoints", "0x906", 7),
    "m4": ("Cortex-M4 r0p1", "6 breakpoints, 4 watchpoints", "0x906", 7),
    "m33": ("Cortex-M33 r0p4", "8 breakpoints, 4 watchpoints", "0xd21", 1),
    "m0plus": ("Cortex-M0+ r0p1", "4 breakpoints, 2 watchpoints", "0x9a6", 7),
}


def identity(corral, front, names):
    """Components, run control of each core and both through cross triggers, for two kinds of cores."""
    cores = [CORES[name] for name in names]
    script = "echo [c.dap info 0]; echo [c.dap info 1]\n"
    for n in (0, 1):
        script += f"""
        targets c{n}; halt; set pc [dict get [get_reg pc] pc]; step
        echo "step {n} [expr {{[dict get [get_reg pc] pc] != $pc}}] [c{n} curstate]"
        resume; echo "resume {n} [c{n} curstate]"
        c{n} mww 0xe0042fb0 0xc5acce55
        cti{n} write OUTEN0 1; cti{n} write OUTEN{cores[n][3]} 2; cti{n} write INEN0 1; cti{n} enable on
        """
    # Core 0's HALTED drags core 1 along; then both are acknowledged and restarted by one pulse.
    script += """
        c0 arp_halt; sleep 20; c0 arp_poll; c1 arp_poll; echo "halted [c0 curstate] [c1 curstate]"
        cti0 ack 0; cti1 ack 0; cti1 channel 1 pulse; sleep 20; c0 arp_poll; c1 arp_poll
        echo "running [c0 curstate] [c1 curstate]"; cti1 dump
    """
    with Board(corral, f"--{front}", "0", "--identity", ",".join(names)) as board:
        said = openocd(board, front, script)
        for n, (processor, units, part, restart) in enumerate(cores):
            expect(said, f"[c{n}] {processor} processor detected", f"[c{n}] target has {units}", f"Part is {part}, ",
                   f"step {n} 1 halted", f"resume {n} running")
        expect(said, "halted halted halted", "running running running", "INEN0 (0x0020) 0x00000001",
               f"OUTEN{cores[1][3]} (0x{0xa0 + 4 * cores[1][3]:04x}) 0x00000002")
        assert said.count("Type is 0x14, Debug Control, Trigger Matrix") == 2, said
        assert "double fault" not in said and "Error" not in said, said
        board.end()


def test_jtag_m4_and_m33(corral):
    identity(corral, "jtag", ("m4", "m33"))


def test_jtag_m0plus_and_m7(corral):
    identity(corral, "jtag", ("m0plus", "m7"))


def test_stlink_m4_and_m33(corral):
    identity(corral, "stlink", ("m4", "m33"))


def test_stlink_m0plus_and_m7(corral):
    identity(corral, "stlink", ("m0plus", "m7"))


def test_jtag_adiv6(corral):
    """The same debugger finds the access ports of a debug port of version 3 from its root table."""
    with Board(corral, "--jtag", "0", "--adiv6") as board:
        said = openocd(board, "jtag", """
            echo [c.dap info root]; targets c1; halt; step; echo "A [c1 curstate]"; resume; echo "B [c1 curstate]"
            mww 0x20070000 0x11223344; targets c0; echo "C [mdw 0x20070000]"; echo "D [expr {[catch {mdw 0x70000000}] != 0}] [mdw 0x20070000]"
            """, adiv6=True)
        expect(said, "CoreSight ROM architecture", "ROMTABLE[0x0] = 0x00002003", "ROMTABLE[0x4] = 0x00004003",
               "Memory Access Port v2 architecture", "AP ID register 0x34770008", "A halted", "B running",
               "C 0x20070000: 11223344", "D 1 0x20070000: 11223344")
        assert said.count("Part is 0x906, CoreSight CTI (Cross Trigger)") == 2, said
        board.end()


def test_jtag_srst(corral):
    """The reset line, where OpenOCD is told that there is one: both cores start again, one of them into its catch."""
    with Board(corral, "--jtag", "0") as board:
        said = openocd(board, "jtag", """
            proc was_reset {} { expr {[lindex [read_memory 0xE000EDF0 32 1] 0] >> 25 & 1} }
            reset_config srst_only srst_nogate srst_push_pull
            targets c1; halt; mww 0xE000EDFC 1; targets c0; was_reset
            adapter assert srst; echo "A [was_reset] [was_reset]"; adapter deassert srst
            was_reset; echo "C [was_reset]"
            targets c1; c1 arp_poll; echo "D [c1 curstate] [lindex [read_memory 0xE000ED30 32 1] 0]"
            """)
        expect(said, "A 1 1", "C 0", "D halted 0x")
        board.end()


def test_jtag_components(corral):
    components(corral, "jtag")


def test_jtag_run_control(corral):
    run_control(corral, "jtag")


def test_jtag_cross_trigger(corral):
    cross_trigger(corral, "jtag")


def test_jtag_blocks(corral):
    blocks(corral, "jtag")


def test_stlink_components(corral):
    components(corral, "stlink")


def test_stlink_run_control(corral):
    run_control(corral, "stlink")


def test_stlink_cross_trigger(corral):
    cross_trigger(corral, "stlink")


def test_stlink_blocks(corral):
    blocks(corral, "stlink")


def dap(s, packet):
    """A CMSIS-DAP packet there and its answer back. OpenOCD 0.12 cannot say it."""
    s.sendall(b"DAP\0" + len(packet).to_bytes(2, "little") + b"\1\0" + packet)
    head = receive(s, 8)
    assert head[:4] == b"DAP\0" and head[6:] == b"\2\0", head
    return receive(s, int.from_bytes(head[4:6], "little"))


def receive(s, size):
    data = b""
    while len(data) < size:
        more = s.recv(size - len(data))
        assert more, data
        data += more
    return data


def hung_up_on(s, nonsense):
    try:
        s.sendall(nonsense)
        assert s.recv(1) == b""
    except ConnectionError:  # what was not read yet makes it a reset
        pass


def test_fronts_together(corral):
    """One board behind three probes: what one writes the others see; who talks nonsense is hung up on."""
    with Board(corral, "--jtag", "0", "--stlink", "0", "--cmsis-dap", "0") as board:
        expect(openocd(board, "stlink", "targets c0; mww 0x20070000 0x11223344"), "[c0] Cortex-M7")
        expect(openocd(board, "jtag", "targets c1; echo [mdw 0x20070000]; mww 0x20070000 0x55667788"), "11223344")
        with board.call("cmsis-dap") as s:
            assert dap(s, b"\2\1") == b"\2\1"
            power_up = dap(s, b"\5\0\3" + b"\0\x1E\0\0\0" + b"\4\0\0\0\x50" + b"\x08\0\0\0\0")
            assert power_up == b"\5\3\1", power_up
            said = dap(s, b"\5\0\3" + b"\1\x12\0\0\x23" + b"\5\0\0\7\x20" + b"\x0F")
            assert said == b"\5\3\1\x88\x77\x66\x55", said
            hung_up_on(s, b"GET / HTTP/1.1\r\n\r\n")
        with board.call("stlink") as s:
            hung_up_on(s, b"GET / HTTP/1.1\r\n\r\n")
        report = {f["name"]: f for f in board.end()["fronts"]}
        assert [report[n]["clients"] for n in ("jtag", "stlink", "cmsis-dap")] == [1, 2, 1], report
        assert [report[n]["nonsense"] for n in ("jtag", "stlink", "cmsis-dap")] == [0, 1, 1], report
        assert report["cmsis-dap"]["transfers"] == 8, report


def test_pace(corral):
    """At pace wire nobody's waiting moves the board; at the others it runs for itself."""
    for pace, moves in (("wire", False), ("real", True), ("max", True)):
        with Board(corral, "--jtag", "0", "--pace", pace) as board:
            with board.call("jtag") as s:
                for _ in range(20):
                    s.sendall(b"04R")
                    assert s.recv(1) == b"0"
            report = board.end()
            assert (report["board_seconds"] > 0.0001) == moves, report
            assert report["fronts"][0]["clients"] == 1 and report["wire_clocks"] == 20, report


def test_words_that_do_not_fit(corral):
    for args, words in ((("--jtag", "0", "--jtag", "0"), "once is enough"), (("--jtag", "70000"), "--jtag"),
                        (("--pace", "wire"), "nothing to emulate"), (("--jtag", "0", "--pace", "fast"), "wire, real or max"),
                        (("--jtag", "0", "--profile-control", "0"), "devices of their own"),
                        (("--jtag", "0", "--ram", "x"), "another device"), (("--jtag", "0", "--elf", ",b"), "an ELF file")):
        r = corral("sim", *args)
        assert r.code == 2 and words in r.err, (args, r.code, r.err)
    r = corral("sim", "--jtag", "0", "--elf", "nowhere.elf")
    assert r.code == 1 and "cannot read nowhere.elf" in r.err, r.err
    with Board(corral, "--jtag", "0") as board:
        r = corral("sim", "--jtag", board.port["jtag"])
        assert r.code == 1 and "cannot listen on TCP port" in r.err, r.err
        board.end()


if __name__ == "__main__":
    tap.main(globals())
