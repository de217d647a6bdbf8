# SPDX-License-Identifier: Apache-2.0
"""A described device in run control and in the server: --pack, --device, --cbuild-run; names, ports, sync, --print-launch."""
import json
import os
import re
import signal
import socket
import subprocess

import live_board
import pack_files as pf
import tap

PATIENCE = 120
SYNC = "    simultaneous-run-halt: true\n"
SETTINGS = "    device-settings:\n      simultaneous-run-halt: true\n"
NAME = "dual.cbuild-run.yml"
# The proposal's example, mended: the debugger's own cross triggers do the same (cross-trigger sheet 13).
TRIGGERS = """  debug-sequences:
    - name: DebugCoreSetup
      blocks:
        - if: __options & 1
          execute: |
            Write32(0xE0042FB0, 0xC5ACCE55);
            Write32(0xE0042020, 1 << 0);
            Write32(0xE00420A0, 1 << 0);
            Write32(0xE00420BC, 1 << 1);
            Write32(0xE0042140, 0x3);
            Write32(0xE0042000, 0x00000001);
    - name: ProcessorStart
      blocks:
        - execute: |
            Write32(0xE004201C, 1 << 1);
    - name: ProcessorHaltAcknowledge
      blocks:
        - execute: |
            Write32(0xE0042010, 0x01);
            Write32(0xE0042010, 0x00);
"""


def free_ports(count):
    """Free now, for both to be told in a file; another program may take one before we do, which nobody can exclude."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def servers(*pairs):
    return "    gdbserver:\n" + "".join(f"      - port: {port}\n        pname: {pname}\n" for port, pname in pairs)


def write(corral, *args, **kw):
    return pf.write(corral, NAME, pf.cbuild_run(*args, **kw))


def event(corral, *args, quiet=True):
    r = corral("--json", *args)
    assert r.code == 0 and "Sanitizer" not in r.err, (args, r.code, r.out, r.err)
    assert not quiet or r.err == "", r.err
    return json.loads(r.out)


def refused(corral, code, *args):
    r = corral("--json", *args)
    assert r.code == code and r.out == "", (args, r.code, r.out, r.err)
    return json.loads(r.err.splitlines()[-1])["error"]


class Serving:
    """corral serve until it is told to end; `ports` by core, as it says them."""

    def __init__(self, corral, cores, *args):
        self.process = corral.start(*args)
        self.ports, self.said = {}, []
        while len(self.ports) < cores:
            line = self.process.stderr.readline().decode()
            assert line, (self.said, self.process.wait(timeout=PATIENCE))
            m = re.fullmatch(r"corral: gdb for (\S+) on 127\.0\.0\.1:(\d+)\n", line)
            if m:
                self.ports[m[1]] = int(m[2])
            else:
                self.said.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            _, err = self.process.communicate(timeout=PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.communicate()
        if not any(_):
            assert self.process.returncode == 0, (self.process.returncode, err)


def monitor(port, words):
    """What `monitor WORDS` answers, as text."""
    def packet(data):
        return b"$" + data + b"#%02x" % (sum(data) & 0xFF)

    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
        s.sendall(packet(b"QStartNoAckMode"))
        out, text, received = b"", "", 0
        s.settimeout(PATIENCE)
        while b"#9a" not in out:  # OK
            got = s.recv(4096)
            assert got, out
            out += got
        s.sendall(b"+" + packet(b"qRcmd," + words.encode().hex().encode()))
        out = out.split(b"#9a", 1)[1]
        while True:
            m = re.search(rb"\$([^#]*)#..", out)
            if not m:
                got = s.recv(4096)
                assert got, (out, received)
                out += got
                continue
            out = out[m.end():]
            if m[1].startswith(b"O") and m[1] != b"OK":
                text += bytes.fromhex(m[1][1:].decode()).decode()
            else:
                return text + ("" if m[1] in (b"OK", b"") else bytes.fromhex(m[1].decode()).decode())


# ---- run control


def test_cores_have_their_processors_names(corral):
    write(corral)
    e = event(corral, "status", "--cbuild-run", NAME)
    assert [(c["name"], c["state"]) for c in e["cores"]] == [("M7", "running"), ("M4", "running")], e
    e = event(corral, "halt", "--core", "M4", "--cbuild-run", NAME)
    assert [c["name"] for c in e["cores"]] == ["M4"] and e["cores"][0]["state"] == "halted"
    assert "core0" in refused(corral, 2, "halt", "--core", "core0", "--cbuild-run", NAME)["message"]
    pf.write(corral, "two.pdsc", pf.pdsc(pf.TWO_CORES, pf.device("D1"), pf.device("D2")))
    e = event(corral, "run", "--pack", "two.pdsc", "--device", "D2")
    assert [c["name"] for c in e["cores"]] == ["M7", "M4"]
    e = event(corral, "reset", "--halt", "--pack", "two.pdsc", "--device", "D1")
    assert [(c["name"], c["state"]) for c in e["cores"]] == [("M7", "halted"), ("M4", "halted")]
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        event(corral, *link, "halt", "--pack", "two.pdsc", "--device", "D1")
        e = event(corral, *link, "step", "--core", "M4", "--cbuild-run", NAME)
        assert e["cores"][0]["name"] == "M4"


def mechanism(corral, *args):
    return event(corral, *args, quiet=False)["mechanism"]


def test_what_says_that_cores_stop_together(corral):
    """The command line before corral.yml before the description."""
    for debugger in (SYNC, SETTINGS):
        write(corral, debugger)
        assert mechanism(corral, "halt", "--cbuild-run", NAME) == "cti", debugger
        assert mechanism(corral, "halt", "--no-sync", "--cbuild-run", NAME) == "software"
        pf.write(corral, "off.yml", "link: sim\nsync: false\n")
        assert mechanism(corral, "--target", "off.yml", "halt", "--cbuild-run", NAME) == "software"
        assert mechanism(corral, "--target", "off.yml", "halt", "--sync", "--cbuild-run", NAME) == "cti"
    write(corral, SYNC.replace("true", "false"))
    assert mechanism(corral, "halt", "--cbuild-run", NAME) == "software"
    assert mechanism(corral, "halt", "--sync", "--cbuild-run", NAME) == "cti"
    pf.write(corral, "on.yml", "link: sim\nsync: true\n")
    assert mechanism(corral, "--target", "on.yml", "halt", "--cbuild-run", NAME) == "cti"
    # one core alone has nobody to follow it
    write(corral, SYNC)
    assert mechanism(corral, "halt", "--core", "M7", "--cbuild-run", NAME) == "software"
    assert mechanism(corral, "reset", "--halt", "--cbuild-run", NAME) in ("none", "software")


def names(corral, *args):
    return [c["name"] for c in event(corral, *args)["cores"]]


def test_corral_yml_may_name_it(corral):
    """The command line's file stands in for that of corral.yml; a device of it may be named there."""
    write(corral)
    pf.write(corral, "two.pdsc", pf.pdsc(pf.TWO_CORES, pf.device("D1"), pf.device("D2")))
    os.mkdir(corral.path("sub"))
    pf.write(corral, "sub/other.pdsc", pf.pdsc(pf.TWO_CORES.replace("M7", "BIG").replace("M4", "SMALL")))
    pf.write(corral, "pack.yml", "link: sim\npack: two.pdsc\ndevice: D1\n")
    pf.write(corral, "several.yml", "link: sim\npack: two.pdsc\n")
    pf.write(corral, "other.yml", "link: sim\npack: sub/other.pdsc\n")
    pf.write(corral, "cbuild.yml", f"link: sim\ncbuild-run: {NAME}\n")
    assert names(corral, "--target", "pack.yml", "status") == ["M7", "M4"]
    assert names(corral, "--target", "cbuild.yml", "halt") == ["M7", "M4"]
    assert names(corral, "--target", "other.yml", "run") == ["BIG", "SMALL"]
    assert names(corral, "--target", "several.yml", "status", "--device", "D2") == ["M7", "M4"]
    assert names(corral, "--target", "cbuild.yml", "status", "--pack", "sub/other.pdsc") == ["BIG", "SMALL"]
    assert names(corral, "--target", "other.yml", "status", "--cbuild-run", NAME) == ["M7", "M4"]
    assert "D1" in refused(corral, 2, "--target", "several.yml", "status")["hint"]
    assert "D3" in refused(corral, 2, "--target", "pack.yml", "status", "--device", "D3")["message"]
    assert refused(corral, 2, "--target", "cbuild.yml", "status", "--device", "D1")["hint"]
    r = corral("--target", "other.yml", "--json", "regs", "--core", "SMALL", "--halt", "pc")
    assert r.code == 0 and json.loads(r.out)["core"] == "SMALL", r.err
    pf.write(corral, "wrong.yml", f"link: sim\npack: {NAME}\n")
    refused(corral, 2, "--target", "wrong.yml", "status")


def test_by_the_descriptions_own_sequences(corral):
    write(corral, SYNC, TRIGGERS)
    e = event(corral, "halt", "--cbuild-run", NAME, quiet=False)
    assert e["mechanism"] == "sequence" and [c["state"] for c in e["cores"]] == ["halted", "halted"], e
    assert [c["reason"] for c in e["cores"]] == ["request", "cross-trigger"], e
    assert mechanism(corral, "halt", "--no-sync", "--cbuild-run", NAME) == "software"
    with live_board.Board(corral, "jtag") as board:
        link = ["--link", board.words]
        before = event(corral, *link, "cti", "show")
        event(corral, *link, "halt", "--cbuild-run", NAME, quiet=False)
        e = event(corral, *link, "run", "--cbuild-run", NAME, quiet=False)
        assert e["kind"] == "run" and e["mechanism"] == "sequence" and all(c["restarted"] for c in e["cores"]), e
        after = event(corral, *link, "cti", "show")
        for c in before["ctis"] + after["ctis"]:
            c.pop("lock_status")
        assert before == after


def test_the_manuals_pack_stops_and_starts_both_cores(corral):
    """corral-pack(5)'s own PDSC, as it is printed there."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(top, "docs/man/corral-pack.5"), encoding="utf-8") as f:
        found = re.search(r"^<package.*?^</package>\n", f.read(), re.M | re.S)
    assert found
    pf.write(corral, "my.pdsc", found.group(0))
    checked = event(corral, "sequence", "check", "my.pdsc", quiet=False)
    assert checked["errors"] == 0 and checked["warnings"] == 0, checked
    with live_board.Board(corral, "jtag") as board:
        for command, kind in (("halt", "halt"), ("run", "run")):
            e = event(corral, "--link", board.words, command, "--sync", "--pack", "my.pdsc")
            assert e["kind"] == kind and e["mechanism"] == "sequence", e
            assert [c["name"] for c in e["cores"]] == ["CM7", "CM4"], e


def test_commands_without_the_option_say_where_else(corral):
    pf.write(corral, "one.pdsc", pf.pdsc(pf.ONE_CORE))
    for words in (["regs"], ["cti", "show"], ["load", "x.elf"], ["read", "0x20000000"], ["write", "0x20000000", "1"], ["watch", "x"]):
        for option in ("--pack", "--cbuild-run", "--device"):
            e = refused(corral, 2, *words, option, "one.pdsc")
            assert option in e["message"] and f"{option[2:]}: in a corral.yml" in e["hint"], (words, e)
    assert "corral.yml" not in refused(corral, 2, "scan", "--pack", "one.pdsc")["hint"]


def test_what_a_description_says_wrong_is_told(corral):
    write(corral, "", """  debug-sequences:
    - name: DebugDeviceUnlock
      blocks:
        - execute: |
            nowhere = 1;
""")
    r = corral("status", "--cbuild-run", NAME)
    assert r.code == 0 and re.search(re.escape(NAME) + r":\d+:\d+: error: ", r.err) and "nowhere" in r.err, r.err
    assert corral("--quiet", "status", "--cbuild-run", NAME).err == ""


def test_what_does_not_go_together(corral):
    write(corral)
    pf.write(corral, "one.pdsc", pf.pdsc(pf.ONE_CORE))
    pf.write(corral, "two.pdsc", pf.pdsc(pf.TWO_CORES, pf.device("D1"), pf.device("D2")))
    for command in ("status", "halt", "run", "step", "reset", "serve"):
        for words in (["--device", "ONE"], ["--pack", "one.pdsc", "--cbuild-run", NAME], ["--cbuild-run", NAME, "--device", "Dual"],
                      ["--pack", NAME], ["--cbuild-run", "one.pdsc"], ["--pack", "one.pdsc", "--device", "TWO"], ["--pack", "two.pdsc"],
                      ["--pack", "x.txt"], ["--pack", "."]):
            e = refused(corral, 2, command, *words)
            assert e["name"] == "usage" and e["hint"], (command, words, e)
    e = refused(corral, 2, "status", "--pack", "two.pdsc")
    assert "D1" in e["hint"] and "D2" in e["hint"], e


def test_files_that_are_none(corral):
    os.mkdir(corral.path("folder.pdsc"))
    pf.write(corral, "empty.pdsc", "")
    pf.write(corral, "empty.pack", "")
    pf.write(corral, "empty.cbuild-run.yml", "")
    words = [["--pack", n] for n in ("nothing.pdsc", "folder.pdsc", "empty.pdsc", "empty.pack")]
    words += [["--cbuild-run", n] for n in ("nothing.yml", "empty.cbuild-run.yml")]
    if os.geteuid() != 0:
        os.close(os.open(corral.path("locked.pdsc"), os.O_CREAT, 0))
        words.append(["--pack", "locked.pdsc"])
    for w in words:
        for command in ("status", "serve"):
            e = refused(corral, 1, command, *w)
            assert w[1] in e["message"], (command, w, e)


# ---- the server


def test_ports_are_the_descriptions(corral):
    first, second = free_ports(2)
    write(corral, servers((second, "M4"), (first, "M7")))
    with Serving(corral, 2, "--link", "sim", "serve", "--cbuild-run", NAME) as s:
        assert s.ports == {"M7": first, "M4": second} and not s.said, (s.ports, s.said)
    with Serving(corral, 2, "--link", "sim", "serve", "--cbuild-run", NAME, "--gdb-port", "0") as s:
        assert set(s.ports) == {"M7", "M4"} and not set(s.ports.values()) & {first, second}, s.ports
    third, = free_ports(1)
    with Serving(corral, 1, "--link", "sim", "serve", "--cbuild-run", NAME, "--core", "M4", "--gdb-port", third) as s:
        assert s.ports == {"M4": third}, s.ports


def test_the_server_follows_the_switch(corral):
    for debugger, args, on in ((SYNC, [], True), (SYNC, ["--no-sync"], False), ("", [], False), ("", ["--sync"], True)):
        write(corral, debugger)
        with Serving(corral, 2, "--link", "sim", "serve", "--cbuild-run", NAME, "--gdb-port", "0", *args) as s:
            text = monitor(s.ports["M7"], "sync")
            assert ("cross trigger" in text or "cti" in text) == on, (debugger, args, text)


def test_a_real_project_starts_with_its_ports_and_cores(corral):
    file = os.path.join(tap.SHARED, "packs", "vscode-multi-core.cbuild-run.yml")
    if not os.path.isfile(file):
        raise tap.Skip(f"{file} is not there")
    try:
        for port in (3336, 3339):
            socket.create_server(("127.0.0.1", port)).close()
    except OSError as e:
        raise tap.Skip(f"a port of the file is not free: {e}")
    with Serving(corral, 2, "--link", "sim", "serve", "--cbuild-run", file) as s:
        assert s.ports == {"Core0": 3336, "Core1": 3339}, s.ports


# ---- launch.json and tasks.json


def launch_file(corral):
    return write(corral, servers((4001, "M7"), (4002, "M4")) + "    start-pname: M7\n", output="""  output:
    - file: m7.axf
      type: elf
      load: image+symbols
      pname: M7
    - file: m4.axf
      type: elf
      load: image+symbols
      pname: M4
""")


def check_launch(launch, tasks):
    by = {c["name"]: c for c in launch["configurations"]}
    assert len(by) == len(launch["configurations"]) >= 2 and all(c["type"] == "gdbtarget" for c in by.values()), launch
    assert all(set(c["configurations"]) <= set(by) for c in launch["compounds"]) and launch["compounds"], launch
    text = json.dumps(launch)
    assert all(c["cmsis"]["cbuildRunFile"] == "${workspaceFolder}/" + NAME for c in by.values()), launch
    assert "4001" in text and "4002" in text and "m7.axf" in text and "m4.axf" in text
    assert any("--cbuild-run" in json.dumps(t) for t in tasks["tasks"]), tasks


def test_launch_and_tasks_are_printed(corral):
    launch_file(corral)
    j = json.loads(corral("--json", "serve", "--cbuild-run", NAME, "--print-launch").out)
    check_launch(j["launch"], j["tasks"])
    r = corral("--link", "jtag:127.0.0.1:1", "serve", "--cbuild-run", NAME, "--print-launch")
    assert r.code == 0 and r.err == "", r.err  # nothing is connected to
    parts = re.split(r"^// (\.vscode/\w+\.json)\n", r.out, flags=re.M)
    assert parts[0] == "" and parts[1::2] == [".vscode/launch.json", ".vscode/tasks.json"], parts
    check_launch(json.loads(parts[2]), json.loads(parts[4]))


def launched(corral, *args):
    r = corral("--json", *args)
    assert r.code == 0, (args, r.code, r.err)
    j = json.loads(r.out)
    return j["launch"], j["tasks"]


def test_what_is_printed_is_what_was_asked_for(corral):
    launch_file(corral)
    base = ["serve", "--cbuild-run", NAME]
    launch, tasks = launched(corral, "--link", "jtag:localhost:9824", "--clock", "1000000", *base, "--sync", "--profile", "127.0.0.1:5100",
                             "--on-detach=resume", "--print-launch")
    start, other = launch["configurations"]
    words = ["--link", "jtag:localhost:9824", "--clock", "1000000", *base, "--sync", "--profile", "127.0.0.1:5100", "--on-detach=resume"]
    assert start["request"] == "launch" and start["target"]["serverParameters"] == words, start
    assert other["request"] == "attach" and (start["target"]["port"], other["target"]["port"]) == ("4001", "4002")
    assert tasks["tasks"][0]["args"] == words
    launch, _ = launched(corral, *base, "--gdb-port", "5000", "--print-launch")
    assert [c["target"]["port"] for c in launch["configurations"]] == ["5000", "5001"]
    launch, _ = launched(corral, *base, "--core", "M4", "--print-launch")
    assert [c["target"]["port"] for c in launch["configurations"]] == ["4002"], launch
    pf.write(corral, "cores.yml", "link: sim\ncores:\n  - name: big\n    ap: 0\n  - name: small\n    ap: 1\n")
    launch, tasks = launched(corral, "--target", "cores.yml", "serve", "--print-launch")
    assert ["big" in launch["configurations"][0]["name"], "small" in launch["configurations"][1]["name"]] == [True, True]
    launch, _ = launched(corral, "--target", "cores.yml", *base, "--print-launch")
    assert "big" in launch["configurations"][0]["name"] and launch["configurations"][0]["target"]["port"] == "4001", launch
    assert refused(corral, 2, "serve", "--print-launch")["hint"]
    assert "--gdb-port 0" in refused(corral, 2, *base, "--gdb-port", "0", "--print-launch")["message"]
    refused(corral, 2, *base, "--gdb-port", "65535", "--print-launch")
    refused(corral, 2, *base, "--core", "M9", "--print-launch")


def test_launch_and_tasks_are_written_both_or_none(corral):
    launch_file(corral)
    args = ["serve", "--cbuild-run", NAME]
    os.mkdir(corral.path("ide"))
    r = corral(*args, "--print-launch=ide")
    assert r.code == 0, r.err
    docs = []
    for name in ("launch.json", "tasks.json"):
        with open(corral.path(f"ide/{name}"), encoding="utf-8") as f:
            docs.append(json.load(f))
    check_launch(*docs)
    for gone, kept in (("launch.json", "tasks.json"), ("tasks.json", "launch.json")):
        os.remove(corral.path(f"ide/{gone}"))
        pf.write(corral, f"ide/{kept}", "mine")
        e = refused(corral, 1, *args, "--print-launch=ide")
        assert kept in e["message"] and os.listdir(corral.path("ide")) == [kept], (e, os.listdir(corral.path("ide")))
        with open(corral.path(f"ide/{kept}"), encoding="ascii") as f:
            assert f.read() == "mine"
        os.remove(corral.path(f"ide/{kept}"))
        assert corral(*args, "--print-launch=ide").code == 0
    assert "mkdir" in refused(corral, 1, *args, "--print-launch=nowhere/at/all")["hint"]
    refused(corral, 1, *args, "--print-launch=/dev/full")
    with open("/dev/full", "wb") as full:
        p = subprocess.run([corral.exe, *args, "--print-launch"], cwd=corral.cwd, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
    assert p.returncode == 1 and b"standard output" in p.stderr


tap.main(globals())
