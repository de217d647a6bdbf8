# SPDX-License-Identifier: Apache-2.0
"""What others' gdb servers got wrong, by the checks that were made of their bug reports (../shared/reports 02, 05, 06):
their firmware is built, and their own clients look. Tests of the same kind that need nothing from there are in test_gdb.py,
test_gdb_hub.c and test_gdb_request.c.

Usage: test_gdb_reports.py CORRAL
"""
import os
import re
import shutil
import subprocess
import sys

from gdb_client import PATIENCE, Raw, Server, gdb_program, symbol, tap

REPORTS = os.path.join(tap.SHARED, "reports")
RAM = (0x20000000, 0x20020000)
FLASH = 0x08000000
FREE = 0x20070000  # in the shared half of SRAM, where no image keeps anything
COMPARATOR = 0xE0002008


def need(number):
    folder = os.path.join(REPORTS, number)
    if not os.path.isdir(folder):
        raise tap.Skip(f"../shared/reports/{number} is not there")
    return folder


def build(corral, source, core=0):
    """Its ELF file for a core of the board."""
    if not shutil.which("arm-none-eabi-gcc"):
        if os.environ.get("CI"):
            raise AssertionError("arm-none-eabi-gcc is not installed, and CI is set, where it must be there")
        raise tap.Skip("arm-none-eabi-gcc is not installed")
    out = corral.path(f"{os.path.basename(source)[:-2]}{core}.elf")
    p = subprocess.run(["sh", os.path.join(REPORTS, "lib", "build.sh"), source, out, hex(FLASH), hex(RAM[core]), "0x10000"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    assert p.returncode == 0, p.stdout
    return out


def check(words, cwd):
    p = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=PATIENCE)
    said = p.stdout.decode("utf-8", "replace")
    assert p.returncode == 0, said
    return said


def test_02_continue_with_a_signal_after_a_fault(corral):
    folder = need("02")
    elf, other = (build(corral, os.path.join(folder, "fault.c"), core) for core in range(2))
    # With sync core 1 faults, too, and its count must not be core 0's.
    for sync, second in (("--no-sync", elf), ("--sync", other)):
        with Server(corral, sync, link=f"sim:{elf},{second}") as server:
            said = check([sys.executable, os.path.join(folder, "check.py"), str(server.ports[0]), hex(symbol(elf, "after"))],
                         corral.cwd)
            assert said.startswith("ok"), said


def test_05_binary_writes_byte_for_byte(corral):
    folder = need("05")
    with Server(corral, "--sync") as server:
        said = check([sys.executable, os.path.join(folder, "check.py"), str(server.ports[0]), hex(FREE)], corral.cwd)
        assert said.startswith("ok"), said


def pair(corral):
    source = os.path.join(need("06"), "count.c")
    return build(corral, source, 0), build(corral, source, 1)


def test_06_breakpoints_that_stand_while_flash_is_programmed(corral):
    elf = pair(corral)
    with Server(corral, "--sync", link=f"sim:{elf[0]},{elf[1]}") as server:
        with open(os.path.join(need("06"), "check.gdb"), encoding="utf-8") as f:
            script = f.read()
        assert script.count(":3333") >= 1, script
        script = re.sub(r"^(target extended-remote ):3333$", rf"\g<1>127.0.0.1:{server.ports[0]}", script, flags=re.M)
        with open(corral.path("check.gdb"), "w", encoding="utf-8") as f:
            f.write(script)
        said = check([gdb_program(), "-nx", "-batch", "-x", "check.gdb", elf[0]], corral.cwd)
        before, loaded, after = said.partition("Transfer rate")
        assert loaded and before.count("Breakpoint 1, tick") == 1 and after.count("Breakpoint 1, tick") == 1, said
        assert "Cannot access memory" not in said and "Cannot insert breakpoint" not in said, said
        assert "CHECK DONE" in after, said
        words = [int(w, 16) for line in after.splitlines() if line.startswith("0xe00020") for w in line.split()[1:]]
        assert len(words) == 8 and not any(w & 1 for w in words), said


def section(elf, corral):
    """What of an image lies in flash."""
    out = corral.path("text.bin")
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", elf, out], check=True, timeout=PATIENCE)
    with open(out, "rb") as f:
        return f.read()


def program(client, image):
    """The image again, as gdb's load does it."""
    escaped = re.sub(rb"[#$}*]", lambda m: b"}" + bytes([m[0][0] ^ 0x20]), image)
    blocks = (len(image) + 1023) // 1024 * 1024
    assert client.ask(f"vFlashErase:{FLASH:x},{blocks:x}") == b"OK"
    assert client.ask(b"vFlashWrite:%x:" % FLASH + escaped) == b"OK"
    assert client.ask("vFlashDone") == b"OK"


def stops_at(client, tick):
    client.say("vCont;c")
    stop = client.hear()
    assert stop[:3] == b"T05", stop
    registers = client.ask("g")
    assert int.from_bytes(bytes.fromhex(registers.decode())[60:64], "little") == tick, registers


def test_06_raw(corral):
    elf = pair(corral)
    tick = symbol(elf[0], "tick")
    with Server(corral, "--sync", link=f"sim:{elf[0]},{elf[1]}") as server:
        c = Raw(server.ports[0])
        assert c.ask("?")[:1] == b"T"
        assert c.ask(f"Z1,{tick:x},2") == b"OK"
        stops_at(c, tick)
        program(c, section(elf[0], corral))
        assert c.word(COMPARATOR) & 1
        assert bytes.fromhex(c.ask(f"m{FLASH:x},{len(section(elf[0], corral)):x}").decode()) == section(elf[0], corral)
        stops_at(c, tick)
        c.close()


def test_06_two_cores(corral):
    """Core 1's flash is programmed while core 0's breakpoint stands."""
    elf = pair(corral)
    tick = [symbol(e, "tick") for e in elf]
    with Server(corral, "--sync", link=f"sim:{elf[0]},{elf[1]}") as server:
        a, b = Raw(server.ports[0]), Raw(server.ports[1])
        assert a.ask("?")[:1] == b"T" and b.ask("?")[:1] == b"T"
        assert a.ask(f"Z1,{tick[0]:x},2") == b"OK"
        stops_at(a, tick[0])
        program(b, section(elf[1], corral))
        assert a.word(COMPARATOR) & 1 and not b.word(COMPARATOR) & 1
        stops_at(a, tick[0])
        # and core 1 has its new program: it gets to its own breakpoint
        assert a.ask(f"z1,{tick[0]:x},2") == b"OK"
        assert b.ask(f"Z1,{tick[1]:x},2") == b"OK"
        b.say("vCont;c")  # the stop of core 0 that it has not heard of yet
        assert b.hear()[:3] == b"T02"
        a.say("vCont;c")
        stops_at(b, tick[1])
        assert a.hear()[:3] == b"T02"
        a.close()
        b.close()


if __name__ == "__main__":
    tap.main(globals())
