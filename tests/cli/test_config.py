# SPDX-License-Identifier: Apache-2.0
"""corral.yml from outside: it is found, it is obeyed, the command line wins, and a mistake names its line."""
import json
import os

import tap


def write(corral, text, name="corral.yml"):
    with open(corral.path(name), "w") as f:
        f.write(text)


def images(corral):
    folder = os.path.join(os.path.dirname(corral.exe), "firmware")
    return os.path.join(folder, "core0.elf"), os.path.join(folder, "core1.elf")


def test_names_and_sync_from_corral_yml(corral):
    write(corral, "link: sim\nsync: true\ncores:\n  - {name: cm7, ap: 0}\n  - {name: cm4, ap: 1}\n")
    e = json.loads(corral("--json", "halt").out)
    assert e["mechanism"] == "cti" and [c["name"] for c in e["cores"]] == ["cm7", "cm4"], e
    assert json.loads(corral("--json", "halt", "--no-sync").out)["mechanism"] == "software"
    assert [c["name"] for c in json.loads(corral("--json", "halt", "--core", "cm4").out)["cores"]] == ["cm4"]


def test_target_option_and_relative_paths(corral):
    os.mkdir(corral.path("board"))
    for n, image in enumerate(images(corral)):
        os.symlink(image, corral.path(f"board/{n}.elf"))
    write(corral, "link: sim:0.elf,1.elf\ncores:\n  - {name: a, elf: 0.elf}\n", "board/t.yml")
    r = corral("--target", "board/t.yml", "--json", "status")
    assert r.code == 0, r.err
    assert [c["name"] for c in json.loads(r.out)["cores"]] == ["a", "core1"]


def test_command_line_wins_over_the_file(corral):
    write(corral, "link: sim:gone.elf,gone.elf\n")
    assert corral("status").code != 0
    assert corral("--link", "sim", "status").code == 0


def test_a_core_that_is_not_there(corral):
    write(corral, "link: sim\ncores:\n  - name: cm7\n    ap: 5\n")
    r = corral("status")
    assert r.code == 2 and "corral.yml:3" in r.err and "AP 5" in r.err, r.err


def test_mistakes_name_their_line(corral):
    for text, where in (("link: sim\nlnk: sim\n", ":2"), ("cores: 7\n", ":1"), ("link: [\n", ":"), ("\tlink: sim\n", ":1")):
        write(corral, text)
        r = corral("--json", "status")
        e = json.loads(r.err)["error"]
        assert r.code == 2 and e["name"] == "config" and "corral.yml" + where in e["message"], e
        assert "expected" in e["message"] or "tab" in e["message"], e


def test_missing_target_file(corral):
    r = corral("--target", "no.yml", "status")
    assert r.code in (1, 2) and "no.yml" in r.err and r.out == "", r.err


def test_scan_takes_the_link(corral):
    write(corral, "link: dry\n")
    assert json.loads(corral("--json", "scan").out)["cores"] == []


tap.main(globals())
