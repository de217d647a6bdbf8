# SPDX-License-Identifier: Apache-2.0
"""Exports in headless Chromium: speedscope imports them, and flame graphs are used as a person would.

Usage: test_exports_browser.py SAMPLES NODE_FOLDER SCREENSHOTS. One run of browser.js does everything; the tests look
at what it saw. Pictures are left in SCREENSHOTS.
"""
import json
import os
import shutil
import sys

import peers
import tap

NODE, PICTURES = sys.argv[2:4]
WIDTH, MARGIN = 1280, 10
EXPORTS = [("board", "svg", "board.svg"), ("hostile", "svg", "hostile.svg"), ("empty", "svg", "empty.svg"),
           ("many", "svg", "many.svg"), ("board", "speedscope", "in-board.json"), ("hostile", "speedscope", "in-hostile.json"),
           ("empty", "speedscope", "in-empty.json"), ("many", "speedscope", "in-many.json"),
           ("large", "speedscope", "in-large.json"), ("board", "pprof", "in-board.pb.gz"), ("board", "folded", "in-board.txt")]
memory = {}


def seen(samples):
    if "seen" not in memory:
        chromium = peers.program("chromium")
        folder = peers.node_folder(NODE)
        shutil.rmtree(PICTURES, ignore_errors=True)
        os.makedirs(PICTURES)
        for profile, form, name in EXPORTS:
            shutil.copyfile(peers.export(samples, profile, form)[0], os.path.join(PICTURES, name))
        env = dict(os.environ, HOME=samples.cwd)
        out, _ = peers.run("node", os.path.join(peers.HERE, "browser.js"), folder, chromium, PICTURES, env=env)
        memory["seen"] = json.loads(out)
    return memory["seen"]


def shown(frames, name, track="core0"):
    """The frame of that name that is shown below `track`, or None."""
    here = None
    for f in frames:
        here = f["name"] if f["name"].startswith("core") else here
        if f["name"] == name and here == track and f["shown"]:
            return f
    return None


def at(frame, left, width, total=WIDTH - 2 * MARGIN):
    """Whether it lies there; both in parts of the whole."""
    return abs(frame["left"] - MARGIN - left * total) < 1 and abs(frame["width"] - width * total) < 1


def test_speedscope_imports(samples):
    s = seen(samples)["speedscope"]
    want = {
        "in-board.json": ("board: net firmware (4 packets lost)", "speedscope json file"),
        "in-hostile.json": ("<b>\"title\"</b> & 'co' ]]> (2 packets lost)", "speedscope json file"),
        "in-empty.json": ("empty", "speedscope json file"),
        "in-many.json": ("many", "speedscope json file"),
        "in-large.json": ("large", "speedscope json file"),
        "in-board.pb.gz": ("in-board.pb.gz", "protobuf encoded pprof file"),
        "in-board.txt": ("in-board.txt", "collapsed stack format"),
    }
    assert sorted(s) == sorted(want), s.keys()
    for name, (title, form) in want.items():
        assert s[name]["title"] == title + " - speedscope", (name, s[name]["title"])
        assert "Importing as " + form in s[name]["console"], (name, s[name]["console"])
        assert s[name]["errors"] == [] and s[name]["dialogs"] == 0, (name, s[name]["errors"])
    assert "core0 (1/3)" in s["in-board.json"]["text"], s["in-board.json"]["text"]
    assert "(2 packets lost)" in s["in-hostile.json"]["text"], s["in-hostile.json"]["text"]


def test_flame_graph_asks_for_nothing(samples):
    for name in ("board", "hostile", "empty", "many"):
        s = seen(samples)[name]
        assert len(s["requests"]) == 1 and s["requests"][0].startswith("file://"), s["requests"]
        assert s["errors"] == [] and s["console"] == [] and s["dialogs"] == 0, s["errors"] + s["console"]


def test_flame_graph_at_first(samples):
    s = seen(samples)["board"]
    assert s["title"] == "board: net firmware", s["title"]
    assert "4 packets lost, whose samples are missing here: core1 3, core2 1." in s["note"], s["note"]
    assert at(shown(s["before"], "core0"), 0, 1) and at(shown(s["before"], "core1", "core1"), 0, 1)
    assert at(shown(s["before"], "net_poll"), 0, 0.925) and at(shown(s["before"], "fast_copy"), 0.925, 0.075)
    assert at(shown(s["before"], "checksum"), 0, 0.675) and at(shown(s["before"], "add_carry"), 0, 0.175)
    assert at(shown(s["before"], "main", "core1"), 0.95, 0.04)
    texts = [f["text"] for f in s["before"]]
    assert "core1  \u00b7  100,000 samples  \u00b7  3 packets lost" in texts, texts
    assert "core2  \u00b7  no samples  \u00b7  1 packet lost" in texts, texts
    assert shown(s["before"], "checksum")["lines"] == [
        "checksum", "net/sum.c:8-9", "270,000 samples, 67.50 % of core0", "itself: 200,000 samples",
        "waiting for instructions: 1,000 samples, for data: 60,000 samples"], s["before"]
    assert s["light"] != s["dark"], s["dark"]


def test_flame_graph_zooms_and_resets(samples):
    s = seen(samples)["board"]
    assert at(shown(s["zoomed"], "net_poll"), 0, 1) and at(shown(s["zoomed"], "main"), 0, 1)
    assert at(shown(s["zoomed"], "checksum"), 0, 270 / 370) and shown(s["zoomed"], "fast_copy") is None
    assert at(shown(s["zoomed"], "idle", "core1"), 0, 0.95), "another track stays"
    assert s["zoomedWords"].startswith("net_poll"), s["zoomedWords"]
    assert at(shown(s["afterReset"], "net_poll"), 0, 0.925) and shown(s["afterReset"], "fast_copy")


def test_flame_graph_searches(samples):
    s = seen(samples)["board"]
    assert [f["name"] for f in s["searched"] if f["match"]] == ["checksum"], s["searched"]
    assert s["searchedWords"] == "core0: 67.50 %  \u00b7  core1: 0.00 %  \u00b7  core2: 0.00 %", s["searchedWords"]
    assert [f["name"] for f in s["found"] if f["focus"]] == ["checksum"], "Enter goes to what was found"
    assert not any(f["match"] for f in s["cleared"]), "Escape ends the search"


def test_flame_graph_search_finds_what_is_too_small_to_draw(samples):
    answers = seen(samples)["many"]["answers"]
    assert answers[0].startswith("10000 found, ") and answers[0].endswith("core0: 100.00 %"), answers
    assert answers[1] == "1 found, 1 of them too small to draw | core0: 0.00 %", answers
    assert answers[2:] == ["0 found | core0: 0.00 %", "1 found | core0: 100.00 %", "0 found | core0: 0.00 %"], answers


def test_flame_graph_by_keys(samples):
    s = seen(samples)["board"]
    assert [f["name"] for f in s["keys"] if f["focus"]] == ["fast_copy"], s["keys"]
    assert at(shown(s["keysZoomed"], "fast_copy"), 0, 1) and shown(s["keysZoomed"], "net_poll") is None


def test_flame_graph_follows_the_window(samples):
    s = seen(samples)["board"]
    assert at(shown(s["narrow"], "net_poll"), 0, 0.925, total=680), s["narrow"]


def test_flame_graph_without_scripts_is_a_picture(samples):
    s = seen(samples)["still"]
    assert s["controls"] == 0, "no control that does nothing"
    assert at(shown(s["before"], "net_poll"), 0, 0.925, total=1180), s["before"]
    assert any(f["text"].startswith("checksum") for f in s["before"]), s["before"]


def test_hostile_names_are_text(samples):
    s = seen(samples)["hostile"]
    assert s["scripts"] == 1, "only ours"
    names = [f["name"] for f in s["before"]]
    for name in ("</text></svg><script>alert(1)</script>", "]]>&amp;&lt;<![CDATA[", "semi;colon\\nnew line\\r\ttab",
                 "\\x1b[31mred\\x07 \\x01\\x7f", "bad \\xff\\xc3 \\xed\\xa0\\x80 utf \\ufffe", "%s%n%n", "?"):
        assert name in names, (name, names)
    assert s["title"] == "<b>\"title\"</b> & 'co' ]]>", s["title"]
    assert "note <i>with</i> & ]]> \\x1b[0m \\xff" in s["note"], s["note"]


def test_empty_flame_graph(samples):
    s = seen(samples)["empty"]
    assert s["before"] == [] and s["title"] == "empty", s


tap.main(globals())
