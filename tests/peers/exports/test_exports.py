# SPDX-License-Identifier: Apache-2.0
"""gprof, Go's pprof, Datadog's decoder of pprof, and flamegraph.pl read what Corral exports.

Usage: test_exports.py SAMPLES NODE_FOLDER GPROF ELF: the program that writes fixed profiles (export_samples.c), where
Node's packages may be put, gprof for Arm and the image of the profile "board".
"""
import json
import os
import re
import sys

import elf_maker
import peers
import tap

NODE, ARM_GPROF, ELF = sys.argv[2:5]
FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
# What export_samples.c has in "board": samples by function, and calls that have a known caller.
BOARD = {"checksum": 270000, "net_poll": 104000, "idle": 95000, "fast_copy": 30000}
CALLS = {"checksum": 270000, "net_poll": 374000, "fast_copy": 30000}
RANGES = [
    (".ocm_text", 0x10000000, 0xC0, [("checksum", 0x10000000, 64), ("fast_copy", 0x10000040, 64), ("fast_end", 0x10000080, 64)]),
    (".text", 0x20000000, 0x100, [("main", 0x20000000, 64), ("net_poll", 0x20000040, 64), ("idle", 0x20000080, 64),
                                  ("text_end", 0x200000C0, 64)]),
]
LOST = "4 packets lost, whose samples are missing here: core1 3, core2 1"


def check_gprof(gprof, elf, path, unit):
    """Times and calls as gprof shows them, exactly; `unit`: what stands for one sample."""
    out, err = peers.run(gprof, "-b", elf, path)
    assert err == "", err
    assert f"Each sample counts as {unit}." in out, out
    scale = 1000 if unit.endswith(" seconds") else 1
    flat, graph = out.split("Call graph")
    seen, calls = {}, {}
    for line in flat.splitlines():
        m = re.match(r" *([\d.]+) +[\d.]+ +([\d.]+)(?: +(\d+) +[\d.]+ +[\d.]+)? +(\w+)$", line)
        if m:
            seen[m[4]] = round(float(m[2]) * scale)
            assert abs(float(m[1]) - 100 * seen[m[4]] / sum(BOARD.values())) < 0.006, line
            if m[3]:
                calls[m[4]] = int(m[3])
    assert seen == BOARD, out
    assert calls == CALLS, out
    assert re.search(r"374000/374000 +net_poll", graph) and re.search(r"30000/30000 +fast_copy", graph), graph
    assert re.search(r"270000/270000 +net_poll \[\d+\]\n\[\d+\] +\S+ +\S+ +\S+ +270000 +checksum", graph), graph


def test_gprof_of_an_arm_image(samples):
    gprof = peers.program(ARM_GPROF)
    if not os.path.exists(ELF):
        peers.missing("there is no compiler for Arm")
    path, said = peers.export(samples, "board", "gmon")
    check_gprof(gprof, ELF, path, "0.001 seconds")
    assert said == ("1000 samples outside the images are left out; 95000 samples have no known caller, so no arc; "
                    "1 % of core1's samples lie in no image. " + LOST), said


def test_gprof_without_a_rate_counts_samples(samples):
    gprof = peers.program(ARM_GPROF)
    path, _ = peers.export(samples, "board-no-rate", "gmon")
    check_gprof(gprof, ELF, path, "1 samples")


def test_gprof_of_ranges_of_128_mib(samples):
    gprof = peers.program(ARM_GPROF)
    path, _ = peers.export(samples, "board-sparse", "gmon")
    check_gprof(gprof, ELF, path, "0.001 seconds")
    assert os.path.getsize(path) < 2000, os.path.getsize(path)


def test_gprof_of_a_big_endian_image_of_an_unknown_machine(samples):
    gprof = peers.program("gprof")
    elf = samples.path("big.elf")
    elf_maker.make(elf, RANGES, big=True, wide=False, machine=elf_maker.MACHINE_UBICOM32)
    path, _ = peers.export(samples, "board-big-endian", "gmon")
    check_gprof(gprof, elf, path, "0.001 seconds")


def test_gprof_of_a_64_bit_image(samples):
    gprof = peers.program("gprof")
    elf = samples.path("wide.elf")
    elf_maker.make(elf, RANGES, big=False, wide=True, machine=62)
    path, _ = peers.export(samples, "board-wide", "gmon")
    check_gprof(gprof, elf, path, "0.001 seconds")


def pprof(samples, path, *args):
    go = peers.program("go")
    env = dict(os.environ, HOME=samples.cwd, PPROF_TMPDIR=samples.cwd, GOFLAGS="", GOTOOLCHAIN="local")
    return peers.run(go, "tool", "pprof", *args, path, env=env)[0]


def test_pprof_top(samples):
    path, said = peers.export(samples, "board", "pprof")
    assert said == "", said
    out = pprof(samples, path, "-top", "-nodefraction=0")
    assert LOST in out and "1 % of core1's samples lie in no image." in out, out
    assert "Type: cpu" in out and "File: exports.elf" in out and "Build ID: c0ffee" in out, out
    assert "Duration: 400s, Total samples = 500s" in out, out
    rows = {}
    for line in out.splitlines():
        m = re.match(r" +([\d.]+)s? +[\d.]+% +[\d.]+% +([\d.]+)s +[\d.]+% +(.*)$", line)
        if m:
            rows[m[3]] = (float(m[1]), float(m[2]))
    assert rows == {"checksum": (200, 270), "net_poll": (104, 374), "idle": (95, 95), "add_carry (inline)": (70, 70),
                    "fast_copy": (30, 30), "[unknown]": (1, 1), "main": (0, 404)}, out
    out = pprof(samples, path, "-top", "-sample_index=samples", "-nodefraction=0")
    assert re.search(r"^ *200000 40.00% 40.00% +270000 54.00%  checksum$", out, re.M), out
    out = pprof(samples, path, "-top", "-tagfocus=thread=^1$", "-nodefraction=0")
    assert re.search(r"^ *30s +6.00% +6.00% +30s +6.00%  fast_copy$", out, re.M) and "checksum" not in out, out


def test_pprof_tags_keep_thread_0(samples):
    path, _ = peers.export(samples, "board", "pprof")
    out = pprof(samples, path, "-tags")
    tags = {}
    for line in out.splitlines():
        head = re.match(r" *(\w+): Total", line)
        row = re.match(r" +([\d.]+)s \([^)]*\): (\w+)$", line)
        if head:
            tag = head[1]
        elif row:
            tags[tag, row[2]] = float(row[1])
    assert tags == {("thread", "0"): 469, ("thread", "1"): 30, ("pid", "77"): 70, ("track", "core0"): 400,
                    ("track", "core1"): 100, ("state", "active"): 384, ("state", "i_blocked"): 26,
                    ("state", "d_blocked"): 90}, out


def test_pprof_traces_have_the_leaf_first(samples):
    path, _ = peers.export(samples, "board", "pprof")
    out = pprof(samples, path, "-traces")
    assert re.search(r"70s +add_carry \(inline\)\n +checksum\n +net_poll\n +main\n", out), out


def test_pprof_raw_has_every_sample(samples):
    path, _ = peers.export(samples, "board", "pprof")
    out = pprof(samples, path, "-raw")
    assert "Period: 1000000\n" in out and "samples/count cpu/nanoseconds[dflt]" in out, out
    assert sum(map(int, re.findall(r"^ +(\d+) \d+: ", out, re.M))) == 500000, out
    assert re.search(r"0x10000008 M=1 add_carry net/carry.h:3 s=0\n +checksum net/sum.c:9 s=0\n", out), out
    assert "1: 0x10000000/0x100000c0/0x1000 exports.elf c0ffee [FN][FL][LN][IN]" in out, out


def test_pprof_reads_the_edges(samples):
    for profile, want in (("empty", "0 total"), ("hostile", "of 20 total"), ("many", "of 1901.90s total"),
                          ("large", "values are cut off where their sum would be above 2^63-1")):
        path, _ = peers.export(samples, profile, "pprof")
        out = pprof(samples, path, "-top")
        assert want in out, out
    path, _ = peers.export(samples, "board-no-rate", "pprof")
    out = pprof(samples, path, "-raw")
    assert "samples/count[dflt]" in out and "nanoseconds" not in out, out


def test_pprof_format_agrees(samples):
    folder = peers.node_folder(NODE)
    path, _ = peers.export(samples, "board", "pprof")
    out, _ = peers.run("node", os.path.join(peers.HERE, "pprof_format.js"), folder, path)
    p = json.loads(out)
    text = p["stringTable"]["strings"]
    functions = {f["id"]: f for f in p["function"]}
    locations = {loc["id"]: loc for loc in p["location"]}

    def string(n):
        return text[int(n)]

    assert text[0] == "", text
    assert [(string(t["type"]), string(t["unit"])) for t in p["sampleType"]] == [("samples", "count"), ("cpu", "nanoseconds")]
    assert string(p["defaultSampleType"]) == "cpu", p["defaultSampleType"]
    assert LOST in string(p["comment"][0]), p["comment"]
    stacks = {}
    for s in p["sample"]:
        frames = []
        for number in s["locationId"]:
            frames += [string(functions[line["functionId"]]["name"]) for line in locations[number]["line"]]
        count, ns = map(int, s["value"])
        assert ns == count * 1000000, s
        labels = {string(lab["key"]): string(lab["str"]) for lab in s["label"]}
        key = labels["track"], ";".join(frames)
        stacks[key] = stacks.get(key, 0) + count
    assert stacks == {
        ("core0", "checksum;net_poll;main"): 200000, ("core0", "add_carry;checksum;net_poll;main"): 70000,
        ("core0", "net_poll;main"): 100000, ("core0", "fast_copy;main"): 30000, ("core1", "idle"): 95000,
        ("core1", "net_poll;main"): 4000, ("core1", "[unknown]"): 1000}, stacks


def flamegraph(path):
    perl = peers.program("perl")
    if not os.path.exists(FLAMEGRAPH):
        peers.missing("flamegraph.pl (libdevel-nytprof-perl) is not installed")
    return peers.run(perl, FLAMEGRAPH, "--countname=samples", path)


def test_flamegraph_reads_folded_stacks(samples):
    path, _ = peers.export(samples, "board", "folded")
    out, err = flamegraph(path)
    assert err == "", err  # it counts lines that it does not understand there
    for title in ("core0 (400,000 samples, 80.00%)", "core1 (3 packets lost) (100,000 samples, 20.00%)",
                  "add_carry (70,000 samples, 14.00%)", "checksum (270,000 samples, 54.00%)"):
        assert f"<title>{title}</title>" in out, title
    with open(path) as f:
        assert "core2 (1 packet lost) 0\n" in f.readlines()


def test_flamegraph_reads_hostile_names_and_many(samples):
    for profile, total in (("hostile", "20"), ("many", "1,896,194")):
        path, _ = peers.export(samples, profile, "folded")
        out, err = flamegraph(path)
        assert err == "", err
        assert f"<title>all ({total} samples, 100%)</title>" in out, total


tap.main(globals())
