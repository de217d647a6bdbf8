# SPDX-License-Identifier: Apache-2.0
"""corral sequence: what check shows, what list knows, what run does, and what is refused."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import live_board
import pack_files as pf
import tap

PATIENCE = 120
WRONG = """            __var a = 1;
\t    b = a + 1;
            Write32(0x20000000, a);"""
GOOD = """            Write32(0x20000000, 0x11);
            Read32(0x20000000);"""


def refused(corral, code, *args):
    r = corral("--json", *args)
    assert r.code == code and r.out == "", (args, r.code, r.out, r.err)
    return json.loads(r.err.splitlines()[-1])["error"]


def document(corral, *args, code=0):
    r = corral("--json", *args)
    assert r.code == code, (args, r.code, r.out, r.err)
    return json.loads(r.out)


def place_of(corral, file, text):
    """LINE:COLUMN of a text that is in the file once."""
    with open(corral.path(file), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if text in line:
                return number, line.index(text) + 1
    raise AssertionError(text)


def one(corral, text, name="Show", family=pf.ONE_CORE, **kw):
    return pf.write(corral, "one.pdsc", pf.pdsc(family + pf.sequences(pf.sequence(name, text, **kw))))


# ---- check


def test_a_mistake_is_shown_where_it_stands(corral):
    file = one(corral, WRONG)
    line, column = place_of(corral, file, "b = a + 1")
    r = corral("sequence", "check", file)
    assert r.code == 1 and r.err == "", (r.out, r.err)
    shown = r.out.splitlines()
    head = re.fullmatch(rf"one\.pdsc:{line}:{column}: error: (.+)", shown[0])
    assert head and "b" in head[1] and not head[1].endswith("."), shown
    assert shown[1] == "       b = a + 1;" and re.fullmatch(r" {7}\^~*", shown[2]), shown  # a tab is one blank
    assert shown[3:] == ["1 device: 1 error, 0 warnings"], shown


def test_the_document_has_the_same(corral):
    file = one(corral, WRONG)
    line, column = place_of(corral, file, "b = a + 1")
    j = document(corral, "sequence", "check", file, code=1)
    p, = j.pop("problems")
    assert j == {"file": file, "devices": 1, "errors": 1, "warnings": 0}, j
    assert p.pop("message") and p == {"severity": "error", "file": file, "line": line, "column": column, "width": 1, "sequence": "Show"}, p


def test_no_mistake(corral):
    file = one(corral, GOOD)
    r = corral("sequence", "check", file)
    assert (r.code, r.out, r.err) == (0, "1 device: 0 errors, 0 warnings\n", "")
    assert document(corral, "sequence", "check", file) == {"file": file, "devices": 1, "problems": [], "errors": 0, "warnings": 0}


def test_warnings_are_no_failure(corral):
    file = one(corral, "            __var a;\n            a |= 1;")
    j = document(corral, "sequence", "check", file)
    assert j["errors"] == 0 and j["warnings"] == 2 and {p["severity"] for p in j["problems"]} == {"warning"}, j


def test_what_devices_inherit_is_said_once(corral):
    family = pf.ONE_CORE + pf.sequences(pf.sequence("Show", WRONG))
    own = pf.sequences(pf.sequence("Own", "            c = 1;"))
    pf.write(corral, "many.pdsc", pf.pdsc(family, *[pf.device(f"D{i}") for i in range(20)], pf.device("LAST", own)))
    j = document(corral, "sequence", "check", "many.pdsc", code=1)
    assert (j["devices"], j["errors"]) == (21, 2) and [p["sequence"] for p in j["problems"]] == ["Show", "Own"], j
    j = document(corral, "sequence", "check", "many.pdsc", "--device", "D3", code=1)
    assert (j["devices"], j["errors"]) == (1, 1), j


def test_a_line_is_safe_and_fits(corral):
    file = one(corral, "            x\u202e = \u00e4;\n            " + 90 * "1 + " + "wrong_name + " + 90 * "2 + " + "3;")
    r = corral("sequence", "check", file)
    assert r.code == 1 and "\u202e" not in r.out and "\\xe2\\x80\\xae" in r.out, r.out
    lines = r.out.splitlines()
    assert all(len(line) <= 200 or "error:" in line for line in lines), [len(line) for line in lines]
    source, mark = next((lines[i], lines[i + 1]) for i in range(len(lines)) if "wrong_name" in lines[i] and "error" not in lines[i])
    assert source.startswith("  ...") and source.endswith("...")
    assert source[mark.index("^"):].startswith("wrong_name") and mark.endswith("^" + 9 * "~"), (source, mark)


def on_terminal(corral, columns, *args, **env):
    """What the program writes to a terminal so wide."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([corral.exe, *args], cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.PIPE,
                         env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **env})
    os.close(child)
    out = b""
    while True:
        try:
            got = os.read(parent, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    os.close(parent)
    p.communicate(timeout=PATIENCE)
    return p.returncode, out.decode()


def test_colour_is_a_terminals(corral):
    file = one(corral, WRONG + "\n            " + 60 * "1 + " + "2;\n            " + 60 * "1 + " + "zzz;")
    code, out = on_terminal(corral, 60, "sequence", "check", file)
    assert code == 1 and "\x1b[1;31merror:\x1b[0m" in out and "\x1b[1;32m^" in out, out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines()
    sources = [line for line in plain if line.startswith("  ")]
    assert sources and max(map(len, sources)) <= 60, plain
    assert any(line.startswith("  ...") and line.rstrip().endswith("zzz;") for line in plain), plain
    code, out = on_terminal(corral, 60, "sequence", "check", file, NO_COLOR="1")
    assert code == 1 and "\x1b" not in out
    assert "\x1b" not in corral("sequence", "check", file).out


def test_a_mistake_of_the_file_itself(corral):
    for text, said in (("", "one.pdsc"), ("no XML", "one.pdsc:1"), ("<package/>", "one.pdsc"), ("\0" * 64, "one.pdsc")):
        pf.write(corral, "one.pdsc", text)
        for verb in ("check", "list"):
            r = corral("sequence", verb, "one.pdsc")
            assert r.code == 1 and said in r.err + r.out and "Sanitizer" not in r.err, (text, r.code, r.out, r.err)


def test_files_that_are_none(corral):
    os.mkdir(corral.path("folder.pdsc"))
    os.mkdir(corral.path("folder"))
    for name in ("nothing.pdsc", "folder.pdsc", "nothing.pack", "nothing.cbuild-run.yml"):
        e = refused(corral, 1, "sequence", "check", name)
        assert name in e["message"], e
    pf.write(corral, "x.txt", "x")
    for name in ("x.txt", "folder", "nothing", "pdsc", "x.pdsc.gz"):
        e = refused(corral, 2, "sequence", "check", name)
        assert ".pdsc" in e["message"] + e["hint"], e
    if os.geteuid() != 0:
        one(corral, GOOD)
        os.chmod(corral.path("one.pdsc"), 0)
        assert refused(corral, 1, "sequence", "check", "one.pdsc")["name"] == "io"


def test_an_archive(corral):
    text = pf.pdsc(pf.ONE_CORE + pf.sequences(pf.sequence("Show", WRONG)))
    pf.write_pack(corral, "Example.Test_DFP.0.0.1.pack", {"Example.Test_DFP.pdsc": text, "Docs/readme.md": "nothing"})
    r = corral("sequence", "check", "Example.Test_DFP.0.0.1.pack")
    assert r.code == 1 and "Example.Test_DFP.pdsc:" in r.out and "^" in r.out, r.out + r.err
    for content in (b"", b"no archive", b"PK\x03\x04" + bytes(60)):
        with open(corral.path("bad.pack"), "wb") as f:
            f.write(content)
        assert "bad.pack" in refused(corral, 1, "sequence", "check", "bad.pack")["message"], content


def test_packs_of_vendors_have_no_errors(corral):
    folder = os.path.join(tap.SHARED, "packs")
    if not os.path.isdir(folder):
        raise tap.Skip(f"{folder} is not there")
    files = sorted(f for f in os.listdir(folder) if f.endswith((".pdsc", ".cbuild-run.yml")))
    assert len(files) >= 7, files
    for name in files:
        j = document(corral, "sequence", "check", os.path.join(folder, name))
        assert j["devices"] > 0 and j["errors"] == 0, (name, j)
        assert all(p["severity"] == "warning" for p in j["problems"]), (name, j)


# ---- list


def test_list(corral):
    text = pf.pdsc(pf.TWO_CORES + pf.sequences(
        pf.sequence("Show", GOOD, ' info="what it is"'), pf.sequence("Show", GOOD, ' Pname="M4"'),
        pf.sequence("DebugPortStart", GOOD), '        <sequence name="ResetSystem" disable="1"/>\n',
        pf.sequence("Broken", WRONG)))
    pf.write(corral, "two.pdsc", text)
    j = document(corral, "sequence", "list", "two.pdsc")
    group, = j["groups"]
    assert j["file"] == "two.pdsc" and group["devices"] == ["ONE"], j
    by = {(s["name"], s["pname"]): s for s in group["sequences"]}
    line, _ = place_of(corral, "two.pdsc", 'info="what it is"')
    assert by["Show", None] == {"name": "Show", "pname": None, "origin": "pack", "predefined": False, "disabled": False, "errors": False,
                                "info": "what it is", "file": "two.pdsc", "line": line}, by["Show", None]
    assert by["Show", "M4"]["origin"] == "pack" and by["Broken", None]["errors"]
    assert by["DebugPortStart", None]["origin"] == "pack" and by["DebugPortStart", None]["predefined"]
    assert by["DebugPortStop", None]["origin"] == "default" and by["DebugPortStop", None]["line"] is None
    assert by["ResetSystem", None]["disabled"]
    core, = document(corral, "sequence", "list", "two.pdsc", "--core", "M4")["groups"]
    assert [s["pname"] for s in core["sequences"] if s["name"] == "Show"] == ["M4"]
    core, = document(corral, "sequence", "list", "two.pdsc", "--core", "M7")["groups"]
    assert [s["pname"] for s in core["sequences"] if s["name"] == "Show"] == [None]
    out = corral("sequence", "list", "two.pdsc").out
    assert re.search(r"^ONE:\n", out) and re.search(r"^  Show +M4 +pack$", out, re.M), out
    assert re.search(r"^  Show +pack: what it is$", out, re.M) and re.search(r"^  ResetSystem +pack, disabled$", out, re.M), out
    assert re.search(r"^  Broken +pack, has errors$", out, re.M) and re.search(r"^  DebugPortStop +default", out, re.M), out


def test_devices_with_the_same_are_listed_together(corral):
    own = pf.sequences(pf.sequence("Own", GOOD))
    pf.write(corral, "many.pdsc", pf.pdsc(pf.ONE_CORE, *[pf.device(f"D{i:02}") for i in range(12)], pf.device("OWN", own)))
    groups = document(corral, "sequence", "list", "many.pdsc")["groups"]
    assert [len(g["devices"]) for g in groups] == [12, 1] and groups[1]["devices"] == ["OWN"]
    assert any(s["name"] == "Own" for s in groups[1]["sequences"])
    assert "D07 and 4 more:\n" in corral("sequence", "list", "many.pdsc").out
    group, = document(corral, "sequence", "list", "many.pdsc", "--device", "OWN")["groups"]
    assert group["devices"] == ["OWN"]


# ---- run


def test_run_tells_accesses_and_the_end(corral):
    file = one(corral, GOOD)
    lines = corral("--link", "dry", "--json", "sequence", "run", "Show", file, "--trace").lines()
    for e in lines[:-1]:
        e.pop("host_ns", None), e.pop("target_ns", None), e.pop("core", None)
    access = {"kind": "access", "stream": "sequence", "space": "mem", "ap": 0, "address": 0x20000000, "size": 4, "value": 0x11}
    assert lines[:-1] == [{**access, "op": "write"}, {**access, "op": "read"}], lines
    assert lines[-1] == {"kind": "summary", "sequence": "Show", "ran": True, "result": 0, "accesses": 2, "statements": 2}
    r = corral("--link", "dry", "sequence", "run", "Show", file, "--trace")
    assert (r.code, r.err) == (0, "") and r.out.splitlines() == [
        "write mem ap 0 0x20000000 <- 0x00000011", "read  mem ap 0 0x20000000 -> 0x00000011", "Show: result 0, 2 accesses, 2 statements"], r.out
    r = corral("--link", "dry", "sequence", "run", "Show", file)
    assert (r.code, r.err, r.out) == (0, "", "Show: result 0, 2 accesses, 2 statements\n")


def test_each_kind_of_access_has_its_words(corral):
    text = """            Write8(0x20000000, 0x1FF);
            Write16(0x20000000, 0x2);
            ReadDP(0x4);
            WriteDP(0x8, 0xF0);
            WriteAP(0x00, 0x23000052);
            DAP_WriteABORT(0x1E);
            DAP_SWJ_Sequence(16, 0xE79E);
            DAP_SWJ_Clock(1000000);
            DAP_SWJ_Pins(0x00, 0x80, 50000);
            DAP_JTAG_Sequence(6, 1, 0x3F);
            DAP_Delay(50000);"""
    r = corral("--link", "dry", "sequence", "run", "Show", one(corral, text), "--trace")
    assert r.code == 0, r.err
    lines = r.out.splitlines()
    for line in ("write mem ap 0 0x20000000 <- 0xFF", "write mem ap 0 0x20000000 <- 0x0002", "write dp 0x8 <- 0x000000F0",
                 "write ap 0 0x00 <- 0x23000052", "write abort <- 0x0000001E", "write swj 16 bits <- 0xE79E", "write clock <- 1000000 Hz",
                 "write pins 0x00 of 0x80, wait 50000 us", "write jtag 6 cycles, TMS 1 <- 0x3F", "write delay 50000 us"):
        assert line in lines, (line, r.out)
    assert any(re.fullmatch(r"read  dp 0x4 -> 0x[0-9A-F]{8}", line) for line in lines), r.out
    assert any(re.fullmatch(r"read  pins -> 0x[0-9A-F]+", line) for line in lines), r.out
    assert any(re.fullmatch(r"read  jtag 6 cycles, TMS 1 -> 0x[0-9A-F]+", line) for line in lines), r.out


def test_several_in_one_connection(corral):
    text = pf.pdsc(pf.ONE_CORE + pf.sequences(pf.sequence("First", "            Write32(0x20000000, 7);"),
                                              pf.sequence("Second", "            Write32(0x20000004, Read32(0x20000000) + 1);")))
    pf.write(corral, "two.pdsc", text)
    lines = corral("--link", "dry", "--json", "sequence", "run", "First,Second,DebugDeviceUnlock", "two.pdsc", "--trace").lines()
    assert [e["value"] for e in lines if e["kind"] == "access"] == [7, 7, 8]
    ends = [e for e in lines if e["kind"] == "summary"]
    assert [(e["sequence"], e["ran"], e["accesses"]) for e in ends] == [("First", True, 1), ("Second", True, 2), ("DebugDeviceUnlock", False, 0)]
    assert "DebugDeviceUnlock: nothing to run\n" in corral("--link", "dry", "sequence", "run", "DebugDeviceUnlock", "two.pdsc").out


def test_a_predefined_one_without_the_file_having_it(corral):
    r = corral("--link", "dry", "--json", "sequence", "run", "DebugPortSetup,DebugPortStart,DebugPortStop", one(corral, GOOD), "--trace")
    assert r.code == 0, r.err
    ends = [e for e in r.lines() if e["kind"] == "summary"]
    assert [e["ran"] for e in ends] == [True, True, True] and all(e["accesses"] > 0 for e in ends), ends
    assert {e["space"] for e in r.lines() if e["kind"] == "access"} <= {"swj", "dp", "abort", "jtag"}, r.out


def test_what_a_sequence_says(corral):
    text = '            Message(0, "value %x", 0x2A);\n            Message(1, "odd");\n            Write32(0x20000000, 1);'
    r = corral("--link", "dry", "sequence", "run", "Show", one(corral, text))
    assert r.code == 0 and r.out == "Show: result 0, 1 access, 3 statements\n", r.out
    assert "value 2a" in r.err and "odd" in r.err
    r = corral("--link", "dry", "--json", "sequence", "run", "Show", "one.pdsc", "--trace")
    assert [e["kind"] for e in r.lines()] == ["access", "summary"] and "value 2a" in r.err
    assert all("warning" in json.loads(line) for line in r.err.splitlines())
    assert corral("--link", "dry", "--quiet", "sequence", "run", "Show", "one.pdsc").err == ""


def test_one_that_ends_itself(corral):
    text = '            Write32(0x20000000, 1);\n            Message(2, "cannot be");\n            Write32(0x20000000, 2);'
    file = one(corral, text)
    line, _ = place_of(corral, file, "Message(2")
    r = corral("--link", "dry", "--json", "sequence", "run", "Show,Show", file, "--trace")
    e = json.loads(r.err.splitlines()[-1])["error"]
    assert r.code == 1 and e["name"] == "sequence" and "cannot be" in e["message"] and f"one.pdsc:{line}:" in e["message"], r.err
    assert r.err.count("cannot be") == 1, r.err
    assert [e["value"] for e in r.lines() if e["kind"] == "access"] == [1]
    r = corral("--link", "dry", "sequence", "run", "Show", one(corral, "            __var a = 0;\n            Write32(0x20000000, 5 / a);"))
    assert r.code == 1 and re.search(r"one\.pdsc:\d+:\d+", r.err), r.err


def test_one_with_mistakes_is_not_run(corral):
    text = pf.pdsc(pf.ONE_CORE + pf.sequences(pf.sequence("Bad", WRONG), pf.sequence("Good", GOOD),
                                              pf.sequence("Calls", '            Sequence("Bad");')))
    pf.write(corral, "mixed.pdsc", text)
    line, column = place_of(corral, "mixed.pdsc", "b = a + 1")
    for names in ("Bad", "Calls", "Good,Bad"):
        r = corral("--link", "dry", "sequence", "run", names, "mixed.pdsc", "--trace")
        assert r.code == 1 and r.out == "" and f"mixed.pdsc:{line}:{column}: error: " in r.err, (names, r.out, r.err)
    assert corral("--link", "dry", "sequence", "run", "Good", "mixed.pdsc").code == 0


def test_unknown_names_come_with_what_there_is(corral):
    text = pf.pdsc(pf.TWO_CORES + pf.sequences(pf.sequence("Show", GOOD)), pf.device("D1"), pf.device("D2"))
    pf.write(corral, "two.pdsc", text)
    run = ["--link", "dry", "sequence", "run"]
    e = refused(corral, 2, *run, "Show", "two.pdsc")
    assert "D1" in e["hint"] and "D2" in e["hint"], e
    for verb in (["check"], ["list"], ["run", "Show"]):
        e = refused(corral, 2, "--link", "dry", "sequence", *verb, "two.pdsc", "--device", "D3")
        assert "D3" in e["message"] and "D1" in e["hint"], e
    e = refused(corral, 2, *run, "Shw", "two.pdsc", "--device", "D1")
    assert "Shw" in e["message"] and "Show" in e["hint"], e
    e = refused(corral, 2, *run, "Show", "two.pdsc", "--device", "D1", "--core", "M9")
    assert "M9" in e["message"] and "M7, M4" in e["hint"], e
    e = refused(corral, 2, "sequence", "list", "two.pdsc", "--core", "M9")
    assert "M9" in e["message"] and "M7, M4" in e["hint"], e
    e = refused(corral, 2, *run, "Show", "two.pdsc", "--device", "D1", "--var", "NoSuch=1")
    assert "NoSuch" in e["message"], e
    for names in ("", ",", "Show,", ",Show", "Show,,Show", "N" * 200):
        refused(corral, 2, *run, names, "two.pdsc", "--device", "D1")


def test_core_and_variables(corral):
    family = pf.TWO_CORES + "      <debugvars>\n        __var V = 3;\n      </debugvars>\n" + pf.sequences(
        pf.sequence("Show", "            Write32(0x20000000, V);\n            Write32(0x20000004, __connection);"),
        pf.sequence("Which", "            Write32(0x20000000, 7);", ' Pname="M7"'),
        pf.sequence("Which", "            Write32(0x20000000, 4);", ' Pname="M4"'))
    pf.write(corral, "two.pdsc", pf.pdsc(family))

    def values(*args):
        r = corral("--link", "dry", "--json", "sequence", "run", *args, "two.pdsc", "--trace")
        assert r.code == 0, (args, r.err)
        return [(e["ap"], e["value"]) for e in r.lines() if e["kind"] == "access"]

    assert values("Which") == [(0, 7)] and values("Which", "--core", "M4") == [(1, 4)] and values("Which", "--core", "M7") == [(0, 7)]
    assert values("Show") == [(0, 3), (0, 1)]
    assert values("Show", "--var", "V=0x10", "--var", "__connection=0x102") == [(0, 16), (0, 0x102)]
    assert values("Show", "--var", "V=010") == [(0, 10), (0, 1)], "as in the language: no octal numbers"
    assert values("Show", "--var", "V=18446744073709551615")[0] == (0, 0xFFFFFFFF)
    for bad in ("V", "V=", "=1", "V=x", "V=-1", "V=0x", "V=1 ", "V= 1", "V=18446744073709551616", "V=0x1FFFFFFFFFFFFFFFF"):
        refused(corral, 2, "--link", "dry", "sequence", "run", "Show", "two.pdsc", "--var", bad)


def test_a_configuration_of_ones_own(corral):
    family = pf.ONE_CORE + '      <debugvars configfile="own.dbgconf">\n        __var V = 3;\n      </debugvars>\n' + pf.sequences(
        pf.sequence("Show", "            Write32(0x20000000, V);"))
    pf.write(corral, "own.pdsc", pf.pdsc(family))
    pf.write(corral, "own.dbgconf", "V = 4;\n")
    pf.write(corral, "mine.cfg", "V = 5;\n")

    def value(*args):
        r = corral("--link", "dry", "--json", "sequence", "run", "Show", "own.pdsc", "--trace", *args)
        assert r.code == 0, r.err
        return r.lines()[0]["value"], r.err

    assert value() == (4, "") and value("--dbgconf", "mine.cfg") == (5, "")
    v, err = value("--dbgconf", "nothing.cfg")
    assert v in (3, 4) and "nothing.cfg" in err, (v, err)
    assert document(corral, "sequence", "check", "own.pdsc")["warnings"] == 0
    os.remove(corral.path("own.dbgconf"))
    v, err = value()
    assert v == 3 and "own.dbgconf" in err, "that no setting is in force is said"


def test_it_ends_when_asked_and_when_it_takes_too_long(corral):
    text = pf.pdsc(pf.ONE_CORE + pf.sequences('        <sequence name="Ever">\n          <control while="1">\n' + pf.block("            Read32(0x20000000);")
                                              + "          </control>\n        </sequence>\n",
                                              '        <sequence name="Delays">\n          <control while="1">\n' + pf.block("            DAP_Delay(1000);")
                                              + "          </control>\n        </sequence>\n"))
    pf.write(corral, "ever.pdsc", text)
    r = corral("--link", "dry", "--json", "--timeout", "0.05", "sequence", "run", "Delays", "ever.pdsc")
    e = json.loads(r.err)["error"]
    assert r.code == 5 and r.lines()[0]["accesses"] >= 49 and r.lines()[0]["result"] == -1, (r.out, r.err)
    assert e["name"] == "timeout" and "ever.pdsc:" in e["message"], e
    with live_board.Board(corral, "jtag") as board:
        p = corral.start("--link", board.words, "--timeout", "600", "--json", "sequence", "run", "Ever", "ever.pdsc", "--trace")
        try:
            assert json.loads(p.stdout.readline())["kind"] == "access"
            p.send_signal(signal.SIGINT)
            _, err = p.communicate(timeout=PATIENCE)
            assert p.returncode == 130 and json.loads(err.splitlines()[-1])["error"]["name"] == "interrupted", err
        finally:
            if p.poll() is None:
                p.kill()
                p.communicate()


def test_on_the_board(corral):
    text = pf.pdsc(pf.TWO_CORES + pf.sequences(pf.sequence("Who", "            Read32(0xE000ED00);")))
    pf.write(corral, "two.pdsc", text)

    def cpuids(link, names, *args):
        r = corral("--link", link, "--json", "sequence", "run", names, "two.pdsc", "--trace", *args)
        assert r.code == 0, (link, names, r.out, r.err)
        return [e["value"] & 0xFFF0 for e in r.lines() if e.get("space") == "mem"]

    assert cpuids("sim", "Who") == [0xC270] and cpuids("sim", "Who", "--core", "M4") == [0xC270]
    assert cpuids("sim", "DebugPortSetup,DebugPortStart,Who,DebugPortStop") == [0xC270]
    with live_board.Board(corral, "jtag") as board:
        assert cpuids(board.words, "Who") == [0xC270] and cpuids(board.words, "DebugPortSetup,DebugPortStart,Who,DebugPortStop") == [0xC270]
    r = corral("--link", "jtag:127.0.0.1:1", "sequence", "run", "Who", "two.pdsc")
    assert r.code == 3 and r.out == "", r.err


def test_an_access_that_fails(corral):
    file = one(corral, "            Read32(0x70000000);\n            Write32(0x20000000, 1);")
    line, _ = place_of(corral, file, "Read32(0x7")
    r = corral("--link", "sim", "--json", "sequence", "run", "Show", file, "--trace")
    e = json.loads(r.err.splitlines()[-1])["error"]
    assert r.code == 1 and e["name"] == "link-fault" and f"one.pdsc:{line}:" in e["message"], r.err
    assert not [e for e in r.lines() if e["kind"] == "access"], r.out


def test_connect_is_not_for_what_brings_the_port_up(corral):
    file = one(corral, GOOD)
    assert "dry" in refused(corral, 2, "--link", "dry", "--connect", "under-reset", "sequence", "run", "Show", file)["message"]
    refused(corral, 2, "--link", "sim", "--connect", "pre-reset", "sequence", "run", "DebugPortSetup", file)


def test_standard_output_that_takes_nothing(corral):
    file = one(corral, GOOD)
    for words in (["check"], ["list"], ["run", "Show"]):
        args = ["--link", "dry", "sequence", *words, file]
        with open("/dev/full", "wb") as full:
            p = subprocess.run([corral.exe, *args], cwd=corral.cwd, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE)
        assert p.returncode == 1 and b"standard output" in p.stderr, (words, p.returncode, p.stderr)
        p = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", corral.exe, *args], cwd=corral.cwd, stderr=subprocess.PIPE, timeout=PATIENCE)
        assert p.returncode == 1 and b"standard output" in p.stderr, (words, p.returncode, p.stderr)
    p = corral.start("--link", "dry", "sequence", "run", ",".join(["Show"] * 60), file, "--trace")
    p.stdout.close()
    assert p.wait(timeout=PATIENCE) == 1
    p.stderr.close()


def test_what_cannot_be_meant(corral):
    file = one(corral, GOOD)
    for words in ([], ["look", file], ["check"], ["list"], ["run", file], ["check", file, file], ["run", "Show", file, "more"],
                  ["check", file, "--trace"], ["list", file, "--sync"], ["check", file, "--var", "A=1"], ["check", file, "--core", "M7"],
                  ["run", "Show", file, "--no-such"], ["run", "Show", file, "--device"]):
        e = refused(corral, 2, "--link", "dry", "sequence", *words)
        assert e["name"] == "usage" and e["hint"], (words, e)
    assert corral("sequence", "--help").code == 0 and "Usage: corral" in corral("sequence", "check", "--help").out


tap.main(globals())
