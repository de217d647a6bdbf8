# SPDX-License-Identifier: Apache-2.0
"""Faults of neighbours that concern debug sequences (reports 17 and 20): the files there, and the accesses that are right."""
import json
import os
import shutil

import pack_files
import tap

REPORTS = os.path.join(tap.SHARED, "reports")


def folder(number):
    path = os.path.join(REPORTS, number)
    if not os.path.isdir(path):
        raise tap.Skip(f"{path} is not there")
    return path


def expected(number):
    with open(os.path.join(folder(number), "expected.json"), encoding="utf-8") as f:
        return json.load(f)


def accesses(corral, link, name, file, *args):
    r = corral("--link", link, "--json", "sequence", "run", name, file, "--trace", *args)
    assert r.code == 0, (name, r.out, r.err)
    lines = r.lines()
    assert lines[-1]["kind"] == "summary" and lines[-1]["sequence"] == name and lines[-1]["ran"] is True, lines
    seen = [[e["op"], e["address"], e["value"]] for e in lines[:-1]]
    assert all(e["kind"] == "access" and e["space"] == "mem" and e["size"] == 4 and e["ap"] == 0 for e in lines[:-1]), lines
    assert lines[-1]["accesses"] == len(seen)
    return seen, r.err


def test_report_17_an_assignment_used_as_a_value(corral):
    source = folder("17")
    shutil.copy(os.path.join(source, "assign.pdsc"), corral.path("assign.pdsc"))
    cases = expected("17")
    assert set(cases) == {"Wait", "Chain", "InIf", "Twice"}
    for name, case in cases.items():
        link = "dry" + (":" + case["preset"] if "preset" in case else "")
        seen, _ = accesses(corral, link, name, "assign.pdsc")
        assert seen == case["accesses"], (name, seen)


def test_report_17_is_said_but_no_error(corral):
    shutil.copy(os.path.join(folder("17"), "assign.pdsc"), corral.path("assign.pdsc"))
    r = corral("--json", "sequence", "check", "assign.pdsc")
    j = json.loads(r.out)
    assert r.code == 0 and j["errors"] == 0 and j["warnings"] >= 4, r.out
    assert all(p["severity"] == "warning" and p["line"] and p["column"] for p in j["problems"]), j


SAID = {"no-last-semicolon": "demo.dbgconf:5", "unknown": "NOT_THERE"}  # what must be told; of the others nothing must


def check_dbgconfs(corral, file):
    source, cases = folder("20"), expected("20")
    assert set(cases) == {"comments", "crlf-bom", "empty", "no-last-semicolon", "two-lines", "unknown"}
    for name, case in cases.items():
        shutil.copy(os.path.join(source, name + ".dbgconf"), corral.path("demo.dbgconf"))
        seen, err = accesses(corral, "dry", "Show", file)
        assert seen == case, (name, seen, err)
        if name in SAID:
            assert "warning" in err and SAID[name] in err, (name, err)
        elif name in ("comments", "crlf-bom", "empty"):
            assert err == "", (name, err)


def test_report_20_dbgconf_files_as_people_leave_them(corral):
    shutil.copy(os.path.join(folder("20"), "demo.pdsc"), corral.path("demo.pdsc"))
    check_dbgconfs(corral, "demo.pdsc")


CBUILD = """    dbgconf: demo.dbgconf
"""
VARIABLES = """  debug-vars:
    vars: |
      __var A = 1;
      __var B = 2;
      __var C = 3;
      __var LAST = 4;
"""
SHOW = """  debug-sequences:
    - name: Show
      blocks:
        - execute: |
            Write32(0x20000000, A);
            Write32(0x20000004, B);
            Write32(0x20000008, C);
            Write32(0x2000000C, LAST);
"""


def test_report_20_through_a_cbuild_run_file(corral):
    pack_files.write(corral, "demo.cbuild-run.yml", pack_files.cbuild_run(CBUILD, SHOW, variables=VARIABLES))
    check_dbgconfs(corral, "demo.cbuild-run.yml")


tap.main(globals())
