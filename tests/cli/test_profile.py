# SPDX-License-Identifier: Apache-2.0
"""`corral profile` as a user has it: every source and option, each mistake, loss in every view and file.

Captures are made here (profile_build.py), so that what must come out is known to the sample.
"""
import fcntl
import gzip
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

import profile_build as build
import tap

SHARES = {"alpha": 0.5, "beta": 0.3, "gamma": 0.2}


def known(corral, name="k.pcap", lost=(), **kw):
    """40 alpha, 30 beta, 20 gamma, 10 delta in ten packets, one every 50 ms; `lost` are left out."""
    order = ["alpha"] * 4 + ["beta"] * 3 + ["gamma"] * 2 + ["delta"]
    packets = []
    for seq in range(1, 11):
        samples = [build.sample(build.address(n, 4 * i), **kw) for i, n in enumerate(order)]
        if seq not in lost:
            packets.append((seq / 20, 1, 4000, build.v17(seq, samples, clocks=seq * 5000000)))
    return build.write(corral, name, build.pcap(packets))


def image(corral, name="fw.elf", **kw):
    return build.write(corral, name, build.elf(**kw))


def report(corral, *args):
    r = corral("--json", "profile", *args)
    assert r.code == 0, r.err
    return json.loads(r.out)


def by_name(doc):
    return {f["function"]: f for f in doc["functions"]}


# --- what comes out ---------------------------------------------------------------------------------------


def test_text_says_first_what_is_lost_then_where_the_time_goes(corral):
    r = corral("profile", "--pcap", known(corral), "--elf", image(corral))
    assert r.code == 0 and r.err == "", r.err
    lines = r.out.splitlines()
    assert lines[0] == "Profile: 100 samples (100 active) in 10 packets from 1 sender, 0.45 s", lines[0]
    assert "lost      nothing" in lines[:4], lines[:4]
    rows = re.findall(r"^ +([\d.]+) %\+-([\d.]+) +[#.]+ +(\d+) (\w+)", r.out, re.M)
    assert [(x[0], x[2], x[3]) for x in rows] == [("40.0", "40", "alpha"), ("30.0", "30", "beta"), ("20.0", "20", "gamma"),
                                                   ("10.0", "10", "delta")], rows
    assert rows[0][1] == "4.9" and rows[3][1] == "3.0", rows  # sqrt(p (1 - p) / n)
    order = [r.out.index(x) for x in ("lost ", "== Senders", "== Where the time goes", "== Threads", "== Functions",
                                      "== Hot addresses", "Not reported: ")]
    assert order == sorted(order)
    assert "WARNING" not in r.out


def test_what_is_not_reported_is_one_line_and_no_zeros(corral):
    r = corral("profile", "--pcap", known(corral), "--elf", image(corral))
    assert "Not reported: hardware counters, counters, memory, memory maps, latency\n" in r.out, r.out
    doc = report(corral, "--pcap", known(corral), "--elf", image(corral))
    assert doc["counters"] is None and doc["maps"] is None
    assert all(x is None for x in doc["sources"][0]["groups"].values()) and doc["sources"][0]["latency"] is None
    assert doc["threads"][0]["min_sp"] is None


def test_numbers_are_written_out_and_none_is_made_up(corral):
    packets = [(617 * i, 1, 4000, build.v17(i + 1, [build.sample(0x100000)], clocks=617000 * i, hz=1000)) for i in range(3)]
    f, e = build.write(corral, "long.pcap", build.pcap(packets)), image(corral)
    r = corral("profile", "--pcap", f, "--elf", e)
    assert r.out.splitlines()[0].endswith(", 1234 s"), r.out
    assert "3 of 3 active samples (100 %) are at addresses" in re.sub(r"\s+", " ", r.out), r.out
    assert "e+0" not in r.out, r.out
    doc = report(corral, "--pcap", f, "--elf", e)  # its instruction counters are all 0: there are none
    assert doc["sources"][0]["seconds"] == 1234 and doc["threads"][0]["mips"] is None
    assert all(x["mips"] is None for x in doc["functions"])


def test_shares_of_one_thread_are_of_that_thread(corral):
    samples = [build.sample(build.address("alpha"))] * 30 + [build.sample(build.address("beta"), thread=1)] * 10
    f = build.write(corral, "t.pcap", build.pcap([(1, 1, 4000, build.v17(1, samples, enabled=3))]))
    doc = report(corral, "--pcap", f, "--thread", "1")
    assert doc["functions"][0]["share"] == doc["hot"][0]["share"] == 1, doc["hot"]
    assert doc["sources"][0]["active_samples"] == 10 and doc["sources"][0]["totals"]["active_samples"] == 40
    r = corral("profile", "--pcap", f, "--elf", image(corral), "--thread", "1")
    assert re.search(r"^  0x00008100 100\.0 % +10 beta", r.out, re.M), r.out


def test_json_is_one_document_with_numbers(corral):
    r = corral("--json", "profile", "--pcap", known(corral), "--elf", image(corral))
    assert r.code == 0 and r.out.count("\n") == 1, r.err
    doc = json.loads(r.out)
    assert doc["kind"] == "profile-report" and doc["version"] == 1
    assert doc["totals"]["packets"] == 10 and doc["totals"]["active_samples"] == 100
    assert doc["losses"]["loss"] == 0 and doc["losses"]["packets"] == 0
    f = by_name(doc)["alpha"]
    assert f["self"] == 40 and abs(f["share"] - 0.4) < 1e-12 and f["address"] == build.BASE and f["size"] == 256
    assert abs(f["share_error"] - (0.4 * 0.6 / 100) ** 0.5) < 1e-9 and f["by_thread"] == {"0": 40}
    assert sum(x["self"] for x in doc["functions"]) == 100
    s = doc["sources"][0]
    assert s["name"] == "192.0.2.1:4000" and s["clock_hz"] == 100000000 and abs(s["seconds"] - 0.45) < 1e-9
    assert doc["threads"][0]["thread"] == 0 and doc["threads"][0]["samples"] == 100
    assert doc["images"][0]["file"] == "fw.elf" and doc["images"][0]["samples"] == 100
    assert doc["hot"][0]["pc"] == build.BASE and doc["hot"][0]["count"] == 10
    assert doc["hot"][0]["frames"][0]["function"] == "alpha"


def test_counters_memory_maps_and_latency_are_shown_where_reported(corral):
    def packet(seq, clocks, **extra):
        samples = [build.sample(build.address("alpha"), latency=100 * seq, d_blocked=seq == 2)]
        fields = dict(o84=50000, o88=40000, o100=0x40001000, o208=1000 * seq, o212=200 * seq, o216=500 * seq, o220=50 * seq)
        return build.v17(seq, samples, clocks=clocks, **fields, **extra)

    second = 100000000
    packets = [(1, 1, 4000, packet(1, second)), (1, 1, 4000, build.counters(second, Packets_in=1000, Free_memory=70)),
               (2, 1, 4000, packet(2, 2 * second)), (2, 1, 4000, build.counters(2 * second, Packets_in=1500, Free_memory=60)),
               (2, 1, 4000, build.maps((0, 1, 3), (8, 3, 2)))]
    f = build.write(corral, "all.pcap", build.pcap(packets))
    doc = report(corral, "--pcap", f, "--elf", image(corral))
    rows = {c["name"]: c for c in doc["counters"]}
    assert rows["Packets in"]["value"] == 1500 and abs(rows["Packets in"]["per_second"] - 500) < 1e-6, rows
    assert rows["Free memory"]["level"] is True
    groups = doc["sources"][0]["groups"]
    assert groups["heap"] == {"free": 50000, "low_water": 40000} and groups["extheap"] is None
    assert groups["perf"]["totals"][1] == 200 and groups["dsr"] is None, groups
    assert doc["threads"][0]["min_sp"] == 0x40001000 and doc["threads"][0]["d_blocked"] == 1
    m = doc["maps"][0]
    assert m["encoding"] == "v17" and m["complete"] is None and m["page_bytes"] == 4096
    assert {t["type"]: t["pages"] for t in m["types"]} == {"free": 8, "fs": 4} and m["free_by_order"][3] == 1, m
    assert doc["sources"][0]["latency"]["max_clocks"] == 200
    r = corral("profile", "--pcap", f, "--elf", "fw.elf")
    for word in ("Packets in", "a level", "on-chip heap", "may be incomplete", "lowest stack pointer", "longest 200 clocks",
                 "D misses"):
        assert word in r.out, (word, r.out)
    assert "Not reported" not in r.out


def test_callers_by_the_link_register(corral):
    sites = {build.address("beta", 0x0C): build.address("alpha"), build.address("gamma", 0x1C): build.address("alpha")}
    image(corral, "calls.elf", calls=sites)
    samples = [build.sample(build.address("alpha", 2 * i), a5=build.address("beta", 0x11)) for i in range(8)]
    samples += [build.sample(build.address("alpha", 64), a5=build.address("gamma", 0x21)) for _ in range(2)]
    f = build.write(corral, "c.pcap", build.pcap([(1, 1, 4000, build.v17(1, samples))]))
    doc = report(corral, "--pcap", f, "--elf", "calls.elf")
    alpha = by_name(doc)["alpha"]
    assert [(c["function"], c["samples"]) for c in alpha["callers"]] == [("beta", 8), ("gamma", 2)], alpha["callers"]
    r = corral("profile", "--pcap", f, "--elf", "calls.elf")
    assert re.search(r"80\.0 % from beta", r.out) and re.search(r"20\.0 % from gamma", r.out), r.out


def test_no_elf_is_said_first_and_addresses_are_shown(corral):
    r = corral("profile", "--pcap", known(corral))
    assert r.code == 0
    head = r.out[:r.out.index("== Senders")]
    assert "WARNING" in head and "no ELF file was given" in head and "--elf 192.0.2.1:4000=FILE" in head, head
    assert "0x00008000" in r.out
    doc = report(corral, "--pcap", "k.pcap")
    assert [x["code"] for x in doc["remarks"]] == ["no-image"] and doc["sources"][0]["image_missing"] is True


def test_a_wrong_elf_is_said_first(corral):
    image(corral, "wrong.elf", base=0x20000)
    r = corral("profile", "--pcap", known(corral), "--elf", "wrong.elf")
    assert r.code == 0
    head = r.out[:r.out.index("== Senders")]
    assert "WARNING" in head and "no image covers, for example 0x" in head, head
    image(corral, "data.elf", fill=0xDEAD)  # permanently undefined: no code of a Thumb core
    doc = report(corral, "--pcap", "k.pcap", "--elf", "data.elf")
    assert doc["sources"][0]["image_mismatch"] is False or any(x["code"] == "image-mismatch" for x in doc["remarks"])


def test_two_senders_with_their_own_images(corral):
    image(corral, "one.elf", functions=("left",))
    image(corral, "two.elf", functions=("right",))
    packets = [(1, h, 4000, build.v17(1, [build.sample(build.BASE)] * (h + 1))) for h in (1, 2)]
    f = build.write(corral, "two.pcap", build.pcap(packets))
    for first, second in (("192.0.2.1", "192.0.2.2:4000"), ("0", "1")):
        doc = report(corral, "--pcap", f, "--elf", f"{first}=one.elf", "--elf", f"{second}=two.elf")
        got = sorted((doc["sources"][x["source"]]["name"], x["function"], x["self"]) for x in doc["functions"] if x["self"])
        assert got == [("192.0.2.1:4000", "left", 2), ("192.0.2.2:4000", "right", 3)], got
    doc = report(corral, "--pcap", f, "--elf", "two.elf", "--elf", "192.0.2.1=one.elf")  # its own comes before one for all
    assert sorted(x["function"] for x in doc["functions"] if x["self"]) == ["left", "right"]
    doc = report(corral, "--pcap", f, "--elf", "192.0.2.1=one.elf")
    assert [s["image_missing"] for s in doc["sources"]] == [False, True]


def test_an_image_loaded_elsewhere(corral):
    image(corral, "moved.elf", base=0)
    doc = report(corral, "--pcap", known(corral), "--elf", f"moved.elf@{build.BASE:#x}")
    assert by_name(doc)["alpha"]["self"] == 40 and by_name(doc)["alpha"]["address"] == build.BASE
    image(corral, "a=b@0x10.elf")  # such a name is taken as it is when the file is there
    doc = report(corral, "--pcap", "k.pcap", "--elf", "a=b@0x10.elf")
    assert by_name(doc)["alpha"]["self"] == 40


def test_one_thread_only(corral):
    samples = [build.sample(build.address("alpha"), thread=0)] * 3 + [build.sample(build.address("beta"), thread=5)] * 2
    f = build.write(corral, "t.pcap", build.pcap([(1, 1, 4000, build.v17(1, samples, enabled=0x21))]))
    doc = report(corral, "--pcap", f, "--elf", image(corral), "--thread", "5")
    assert doc["thread"] == 5 and [(x["function"], x["self"]) for x in doc["functions"] if x["self"]] == [("beta", 2)]
    r = corral("profile", "--pcap", f, "--elf", "fw.elf", "--thread", "5", "--export", "folded:t.folded")
    assert r.code == 0 and "Only hardware thread 5" in r.out and "alpha" not in open(corral.path("t.folded")).read()


def test_top_limits_the_text_and_says_what_it_left_out(corral):
    r = corral("profile", "--pcap", known(corral), "--elf", image(corral), "--top", "2")
    assert "gamma" not in r.out[r.out.index("== Functions"):r.out.index("== Hot")]
    assert re.search(r"30\.0 % +in 2 more functions \(--top 4 shows them\)", r.out), r.out
    doc = report(corral, "--pcap", "k.pcap", "--elf", "fw.elf", "--top", "2")
    assert len(doc["hot"]) == 2 and len([x for x in doc["functions"] if x["self"]]) == 4


def test_names_from_outside_stay_text(corral):
    image(corral, "evil.elf", functions=("a\x1b[31m\xff;b", "beta", "gamma", "delta"))
    f = known(corral)
    packets = [(1, 1, 4000, build.v17(1, [build.sample(build.BASE)], clocks=1)),
               (1, 1, 4000, struct.pack(">HHIII", 0x9EA0, 1, 1, 0, 1) + b"\x1b[2J\xff".ljust(20, b"\0") + bytes(4))]
    g = build.write(corral, "\x1b[2Jc.pcap", build.pcap(packets))
    for args in ((f,), (g,)):
        for json_too in ((), ("--json",)):
            r = corral(*json_too, "profile", "--pcap", *args, "--elf", "evil.elf", "--export", "folded:e.folded")
            assert r.code == 0 and "\x1b" not in r.out, repr(r.out)
            assert b"\x1b" not in open(corral.path("e.folded"), "rb").read()


# --- loss -------------------------------------------------------------------------------------------------


def test_loss_is_in_every_view_and_every_file(corral):
    f, e = known(corral, lost=(4, 5)), image(corral)
    names = {"folded": "p.folded", "speedscope": "p.json", "pprof": "p.pb.gz", "svg": "p.svg", "jsonl": "p.jsonl",
             "gmon": "gmon.out"}
    exports = [x for k, v in names.items() for x in ("--export", f"{k}:{v}")]
    r = corral("profile", "--pcap", f, "--elf", e, *exports)
    assert r.code == 0, r.err
    head = r.out[:r.out.index("== Senders")]
    assert re.search(r"^LOST +192\.0\.2\.1:4000: 2 of 10 packets were lost \(20 %\)", head, re.M), head
    assert "lost      nothing" not in r.out
    doc = report(corral, "--pcap", f, "--elf", e)
    assert doc["totals"]["lost"] == 2 and doc["losses"]["packets"] == 2 and doc["losses"]["loss"] == 2
    assert abs(doc["losses"]["packets_share"] - 0.2) < 1e-12
    assert doc["remarks"][0]["weight"] == "loss" and doc["remarks"][0]["code"] == "lost"
    assert doc["sources"][0]["totals"]["lost"] == 2 and abs(doc["sources"][0]["lost_share"] - 0.2) < 1e-12
    said = {"folded": "2 packets lost", "speedscope": "2 packets lost", "svg": "lost"}
    for kind, words in said.items():
        assert words in open(corral.path(names[kind]), encoding="utf-8").read(), kind
    assert b"lost" in gzip.open(corral.path("p.pb.gz")).read()
    gaps = [x for x in map(json.loads, open(corral.path("p.jsonl"))) if x["kind"] == "gap"]
    assert [(x["expected"], x["lost"]) for x in gaps] == [(4, 2)], gaps
    assert open(corral.path("gmon.out"), "rb").read(4) == b"gmon"  # has no place for it


def test_fail_on_loss(corral):
    e = image(corral)
    r = corral("profile", "--pcap", known(corral, lost=(4,)), "--elf", e, "--fail-on-loss")
    assert r.code == 4 and "data was lost: 1 packet" in r.err and "packets" not in r.err and "== Functions" in r.out, (r.code, r.err)
    r = corral("--json", "profile", "--pcap", "k.pcap", "--elf", e, "--fail-on-loss")
    assert r.code == 4 and json.loads(r.err)["error"]["name"] == "data-lost" and json.loads(r.out)
    r = corral("profile", "--pcap", known(corral), "--elf", e, "--fail-on-loss")
    assert r.code == 0 and r.err == "", r.err


def test_one_percent_dropped_on_purpose_leaves_the_shares_within_their_error(corral):
    packets = build.drawn(SHARES, 500, seed=7)
    dropped = [p for i, p in enumerate(packets) if i % 100 != 50]
    f = build.write(corral, "d.pcap", build.pcap(dropped))
    doc = report(corral, "--pcap", f, "--elf", image(corral))
    assert doc["totals"]["lost"] == 5 and abs(doc["losses"]["packets_share"] - 0.01) < 1e-12
    n = doc["totals"]["active_samples"]
    for name, share in SHARES.items():
        got = by_name(doc)[name]
        assert abs(got["share_error"] - (got["share"] * (1 - got["share"]) / n) ** 0.5) < 1e-6
        assert abs(got["share"] - share) < 3 * got["share_error"], (name, got["share"], got["share_error"])


def test_what_is_refused_and_cut_is_said(corral):
    good = build.v17(1, [build.sample(build.BASE)])
    data = build.pcap([(1, 1, 4000, good), (1, 1, 4000, b"\xb1\x3e" + bytes(300)), (2, 1, 4000, build.v17(2, [build.sample(1)]))])
    f = build.write(corral, "cut.pcap", data[:-10])
    r = corral("profile", "--pcap", f, "--elf", image(corral))
    assert r.code == 0
    assert re.search(r"^LOST +.*damaged at offset", r.out, re.M) and "1 datagram was refused (1 byte-order)" in r.out, r.out
    r = corral("--json", "profile", "--pcap", f, "--fail-on-loss")
    assert r.code == 4 and json.loads(r.out)["losses"]["damaged_files"] == 1


# --- the difference of two ---------------------------------------------------------------------------------


def pair(corral):
    changed = {"alpha": 0.4, "beta": 0.4, "gamma": 0.2}
    for name, shares, seed in (("a", SHARES, 1), ("b", SHARES, 2), ("c", changed, 3)):
        build.write(corral, name + ".pcap", build.pcap(build.drawn(shares, 100, seed)))
    return image(corral)


def test_noise_is_called_noise_and_a_change_a_change(corral):
    e = pair(corral)
    for seed in range(4, 12):  # the same profile again and again differs by noise only
        build.write(corral, "n.pcap", build.pcap(build.drawn(SHARES, 100, seed)))
        r = corral("--json", "profile", "--elf", e, "--diff", "a.pcap", "n.pcap")
        assert r.code == 0, r.err
        assert not any(x["significant"] for x in json.loads(r.out)["functions"]), seed
    r = corral("--json", "profile", "--elf", e, "--diff", "a.pcap", "c.pcap")
    doc = json.loads(r.out)
    assert doc["kind"] == "profile-diff" and doc["confidence"] == 0.95 and doc["correction"] == "holm" and doc["tests"] == 3
    rows = {x["function"]: x for x in doc["functions"]}
    assert rows["alpha"]["significant"] and rows["beta"]["significant"] and not rows["gamma"]["significant"]
    for x in rows.values():
        n = doc["a"]["active_samples"], doc["b"]["active_samples"]
        p = (x["count_a"] + x["count_b"]) / sum(n)
        z = (x["count_b"] / n[1] - x["count_a"] / n[0]) / (p * (1 - p) * (1 / n[0] + 1 / n[1])) ** 0.5
        assert abs(x["z"] - z) < 1e-9 and abs(x["difference"] - (x["share_b"] - x["share_a"])) < 1e-12
    r = corral("profile", "--elf", e, "--diff", "a.pcap", "c.pcap")
    assert r.code == 0 and re.search(r"LESS +alpha", r.out) and re.search(r"MORE +beta", r.out), r.out
    assert re.search(r"noise +gamma", r.out) and "95 % confidence" in r.out and "2 of 3 functions" in r.out, r.out


def test_a_few_samples_prove_nothing(corral):
    e = image(corral)
    for name, pc in (("a.pcap", "alpha"), ("b.pcap", "beta")):
        build.write(corral, name, build.pcap([(1, 1, 4000, build.v17(1, [build.sample(build.address(pc))] * 3))]))
    r = corral("profile", "--elf", e, "--diff", "a.pcap", "b.pcap")
    assert r.code == 0 and r.out.count("too few") == 2 and "0 of 2 functions" in r.out, r.out


def test_saved_reports_compare_like_their_captures(corral):
    e = pair(corral)
    for name in "ac":
        r = corral("--json", "profile", "--pcap", name + ".pcap", "--elf", e)
        open(corral.path(name + ".json"), "w").write(r.out)
    want = json.loads(corral("--json", "profile", "--elf", e, "--diff", "a.pcap", "c.pcap").out)
    for a, b in (("a.json", "c.json"), ("a.json", "c.pcap"), ("a.pcap", "c.json")):
        r = corral("--json", "profile", "--elf", e, "--diff", a, b)
        assert r.code == 0, r.err
        assert json.loads(r.out)["functions"] == want["functions"], (a, b)


def test_a_difference_without_names_says_so(corral):
    r = corral("profile", "--diff", known(corral), "k.pcap")
    assert r.code == 0 and "give the ELF files with --elf" in r.out, r.out


def test_both_losses_stand_above_a_difference(corral):
    e = image(corral)
    known(corral, "a.pcap", lost=(3,))
    known(corral, "b.pcap", lost=(5, 6))
    r = corral("profile", "--elf", e, "--diff", "a.pcap", "b.pcap")
    assert r.code == 0 and r.out.index("LOST 1 packets") < r.out.index("LOST 2 packets") < r.out.index("share A"), r.out
    doc = json.loads(corral("--json", "profile", "--elf", e, "--diff", "a.pcap", "b.pcap").out)
    assert (doc["a"]["lost"], doc["b"]["lost"]) == (1, 2)
    assert corral("profile", "--elf", e, "--diff", "a.pcap", "b.pcap", "--fail-on-loss").code == 4


def test_what_cannot_be_compared(corral):
    known(corral, "a.pcap")
    build.write(corral, "x.json", b'{"kind": "profile-report", "functions": 5}')
    build.write(corral, "y.json", b'{"kind": ')
    build.write(corral, "z.bin", b"neither")
    for other, words in (("x.json", "no report"), ("y.json", "no JSON"), ("z.bin", "no capture"), ("gone", "cannot open")):
        r = corral("profile", "--diff", "a.pcap", other)
        assert r.code == 1 and words in r.err and r.out == "", (other, r.err)
    big = {"kind": "profile-report", "losses": {"loss": 0}, "functions": [{"function": "f", "self": 10}],
           "totals": {"packets": 1, "samples": 5, "active_samples": 5, "lost": 0}}
    build.write(corral, "big.json", json.dumps(big).encode())  # more in a function than there are
    assert corral("profile", "--diff", "a.pcap", "big.json").code == 1


# --- files ------------------------------------------------------------------------------------------------


def test_a_saved_report_made_to_fill_the_memory(corral):
    build.write(corral, "bomb.json", b'{"functions":[' + b"{}," * 7000000 + b"0]}")
    r = corral("profile", "--diff", "bomb.json", "bomb.json")
    assert r.code == 1 and "too large a report" in r.err and r.out == "", (r.code, r.err)
    build.write(corral, "text.json", json.dumps({"functions": "[{,\"\\" * 3000000}).encode())  # in a string it is only text
    r = corral("profile", "--diff", "text.json", "text.json")
    assert r.code == 1 and "is no report of" in r.err, (r.code, r.err)


def test_every_export_is_written_whole(corral):
    kinds = ("folded", "speedscope", "pprof", "gmon", "svg", "jsonl")
    args = [x for k in kinds for x in ("--export", f"{k}:out:{k}")]  # a file's name may hold a colon
    r = corral("profile", "--pcap", known(corral), "--elf", image(corral), *args)
    assert r.code == 0, r.err
    assert r.err == "corral: out:gmon: 100 samples have no known caller, so no arc\n", r.err  # what no gmon can hold
    assert sorted(x for x in os.listdir(corral.cwd) if x.startswith("out")) == sorted(f"out:{k}" for k in kinds)
    folded = dict(x.rsplit(" ", 1) for x in open(corral.path("out:folded")).read().splitlines())
    assert sum(int(v) for v in folded.values()) == 100 and any(k.endswith("alpha") for k in folded), folded
    doc = json.load(open(corral.path("out:speedscope")))
    assert sum(doc["profiles"][0]["weights"]) > 0
    assert b"alpha" in gzip.open(corral.path("out:pprof")).read()
    assert "<svg" in open(corral.path("out:svg")).read()
    assert sum(x["kind"] == "profile" for x in map(json.loads, open(corral.path("out:jsonl")))) == 10


def test_a_bad_export_is_refused_before_anything_is_collected(corral):
    os.mkdir(corral.path("folder"))
    live = ("profile", "--listen", "127.0.0.1:0")  # would run for ever
    for spec, code, words in (("flame:x.svg", 2, "no export format 'flame'"), ("svg", 2, "not FORMAT:FILE"), (":x", 2, "not FORMAT"),
                              ("svg:", 2, "no file"), ("svg:no/such/dir/x.svg", 1, "No such file"),
                              ("svg:folder", 1, "directory"), ("svg:folder/", 1, "directory"),
                              ("gmon:gmon.out", 1, "needs an ELF")):
        r = corral(*live, "--export", spec, timeout=60)
        assert r.code == code and words in r.err and r.out == "", (spec, r.code, r.err)
    assert sorted(os.listdir(corral.cwd)) == ["folder"]


def test_exports_are_written_over_no_file_that_is_read_nor_over_each_other(corral):
    f, e = known(corral), image(corral)
    before = [open(corral.path(x), "rb").read() for x in (f, e)]
    for specs, words in ((["jsonl:" + f], "the capture"), (["svg:./" + f], "the capture"), (["svg:" + e], "the ELF file"),
                         (["svg:out", "folded:./out"], "two exports"), (["jsonl:out", "pprof:out"], "two exports")):
        r = corral("profile", "--pcap", f, "--elf", e, *[x for s in specs for x in ("--export", s)])
        assert r.code == 2 and words in r.err and r.out == "", (specs, r.code, r.err)
        assert sorted(os.listdir(corral.cwd)) == sorted([f, e])
    with open(corral.path(f), "rb") as stdin:
        p = subprocess.run([corral.exe, "profile", "--pcap", "-", "--export", "jsonl:" + f], cwd=corral.cwd, stdin=stdin,
                           capture_output=True)
    assert p.returncode == 2, p.stderr
    assert before == [open(corral.path(x), "rb").read() for x in (f, e)]
    r = corral("profile", "--pcap", f, "--export", "folded:/dev/null", "--export", "svg:/dev/null")
    assert r.code == 0, r.err


def test_a_name_as_long_as_a_name_may_be(corral):
    name = "n" * 251 + ".svg"
    r = corral("profile", "--pcap", known(corral), "--export", "svg:" + name)
    assert r.code == 0 and "<svg" in open(corral.path(name)).read(), r.err
    r = corral("profile", "--pcap", "k.pcap", "--export", "svg:n" + name)
    assert r.code == 1 and "too long" in r.err and r.out == "", r.err


def test_a_file_that_cannot_be_finished_is_said_and_the_report_stands(corral):
    f, e = known(corral), image(corral)
    r = corral("profile", "--pcap", f, "--elf", e, "--export", "folded:/dev/full")
    assert r.code == 1 and "/dev/full" in r.err and "== Functions" in r.out, (r.code, r.err)
    r = corral("profile", "--pcap", f, "--elf", e, "--export", "jsonl:/dev/full")
    assert r.code == 1 and "No space" in r.err, (r.code, r.err)
    p = subprocess.run([corral.exe, "profile", "--pcap", f, "--elf", e, "--export", "folded:f.folded"], cwd=corral.cwd,
                       stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert p.returncode == 1 and b"standard output" in p.stderr, p.stderr
    assert os.path.exists(corral.path("f.folded"))


def test_no_sample_at_all(corral):
    f = build.write(corral, "empty.pcap", build.pcap([]))
    r = corral("profile", "--pcap", f)
    assert r.code == 0 and "no sample came" in r.out and "nan" not in r.out and "inf" not in r.out, r.out
    doc = report(corral, "--pcap", f, "--export", "folded:e.folded", "--export", "speedscope:e.json", "--export",
                 "pprof:e.pb.gz", "--export", "svg:e.svg")
    assert doc["totals"]["samples"] == 0 and doc["functions"] == [] and doc["sources"] == []
    json.load(open(corral.path("e.json")))
    r = corral("profile", "--pcap", f, "--elf", image(corral), "--export", "gmon:gmon.out")
    assert r.code == 1 and not os.path.exists(corral.path("gmon.out")), r.err


def test_where_to_look_when_nothing_came(corral):
    r = corral("profile", "--pcap", known(corral), "--port", "9")
    assert r.code == 0 and "of 10 captured packets none was for UDP port 9" in " ".join(r.out.split()), r.out
    r = corral("profile", "--listen", "127.0.0.1:0", "--seconds", "0.1")
    assert r.code == 0 and "where only this machine can send to" in " ".join(r.out.split()), r.out
    assert "of 127.0.0.1" in r.err, r.err


def test_an_elf_file_for_a_sender_that_never_sent(corral):
    f, e = known(corral), image(corral)
    for sender, unused in (("core0", True), ("192.0.2.1", False), ("0", False), ("7", True)):
        codes = [x["code"] for x in report(corral, "--pcap", f, "--elf", f"{sender}={e}")["remarks"]]
        assert ("elf-unused" in codes) == unused, (sender, codes)


# --- capture files ----------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(corral):
    build.write(corral, "raw.bin", build.v17(1, []))
    os.mkdir(corral.path("folder"))
    for name, words in (("gone.pcap", "cannot open"), ("folder", "cannot read"), ("raw.bin", "no capture file")):
        r = corral("profile", "--pcap", name)
        assert r.code == 1 and words in r.err and name in r.err and r.out == "", (name, r.err)
    build.write(corral, "no.elf", b"\x7fELF")
    for name in ("no.elf", "gone.elf", "192.0.2.1=gone.elf"):
        r = corral("profile", "--pcap", known(corral), "--elf", name)
        assert r.code == 1 and name.split("=")[-1] in r.err and r.out == "", (name, r.err)


def test_several_captures_are_one_profile_and_another_port(corral):
    known(corral, "all.pcap")
    known(corral, "one.pcap", lost=range(6, 11))
    known(corral, "two.pcap", lost=range(1, 6))
    e = image(corral)
    whole, parts = (report(corral, *x, "--elf", e) for x in (("--pcap", "all.pcap"), ("--pcap", "one.pcap", "--pcap", "two.pcap")))
    assert whole["functions"] == parts["functions"] and parts["totals"]["lost"] == 0
    assert report(corral, "--pcap", "all.pcap", "--port", "51081")["totals"]["packets"] == 0


def test_a_capture_on_standard_input(corral):
    data = open(corral.path(known(corral)), "rb").read()
    p = subprocess.run([corral.exe, "--json", "profile", "--pcap", "-"], cwd=corral.cwd, input=data, stdout=subprocess.PIPE)
    assert p.returncode == 0 and json.loads(p.stdout)["totals"]["packets"] == 10
    with open(corral.path("k.pcap"), "rb") as f:
        p = subprocess.run([corral.exe, "--json", "profile", "--pcap", "-"], cwd=corral.cwd, stdin=f, stdout=subprocess.PIPE)
    assert p.returncode == 0 and json.loads(p.stdout)["totals"]["packets"] == 10


def test_ctrl_c_ends_a_pipe_with_its_report(corral):
    p = subprocess.Popen([corral.exe, "--json", "profile", "--pcap", "-"], cwd=corral.cwd, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(open(corral.path(known(corral)), "rb").read())
    p.stdin.flush()
    time.sleep(2)  # the pipe stays open and quiet
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0 and json.loads(out)["totals"]["packets"] == 10, (p.returncode, err)


def test_the_vectors_add_up_as_decode_prof_has_them(corral):
    folder = os.path.join(tap.SHARED, "vectors", "prof")
    if not os.path.isdir(folder):
        raise tap.Skip("no shared vectors here")
    names = sorted(x for x in os.listdir(folder) if x.endswith(".pcap"))
    assert len(names) > 10
    for name in names:
        path = os.path.join(folder, name)
        want = corral("--json", "decode", "prof", path).lines()[-1]
        doc = report(corral, "--pcap", path)
        for key in ("packets", "samples", "active_samples", "lost", "duplicates", "late", "restarts", "idle_steps", "rejected",
                    "bad_samples", "sources"):
            assert doc["totals"][key] == want[key], (name, key)
        assert sum(x["self"] for x in doc["functions"]) == want["active_samples"], name
        assert "NaN" not in json.dumps(doc) and "Infinity" not in json.dumps(doc), name


def test_decode_prof_names_its_top_with_an_elf(corral):
    f, e = known(corral), image(corral)
    top = corral("--json", "decode", "prof", f).lines()[-1]["top"]
    assert all(x["function"] is None and x["file"] is None and x["line"] is None for x in top) and top
    top = corral("--json", "decode", "prof", "--elf", e, f).lines()[-1]["top"]
    assert {x["function"] for x in top} == {"alpha", "beta", "gamma", "delta"} and top[0]["line"] is None
    r = corral("decode", "prof", "--elf", e, f)
    assert r.code == 0 and re.search(r"0x00008000 +10 +10\.0 +alpha", r.out), r.out


# --- live -------------------------------------------------------------------------------------------------


def listening(corral, *args, **kw):
    """A running `corral profile` on any free port, and that port."""
    p = corral.start("profile", "--listen", "127.0.0.1:0", *args, **kw)
    line = p.stderr.readline().decode()
    found = re.search(r"UDP port (\d+)", line)
    assert found, line
    return p, int(found.group(1))


def send(port, packets, after=0.5):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    for data in packets:
        s.sendto(data, ("127.0.0.1", port))
    time.sleep(after)
    s.close()


def test_ctrl_c_ends_with_the_report_and_exit_0(corral):
    for which in (signal.SIGINT, signal.SIGTERM):
        p, port = listening(corral, "--elf", image(corral), "--export", "folded:live.folded", "--export", "jsonl:live.jsonl")
        send(port, [build.v17(seq, [build.sample(build.address("beta"))] * 5) for seq in (1, 2, 4)])
        p.send_signal(which)
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        assert b"15 samples (15 active) in 3 packets" in out and b"LOST" in out and b"beta" in out, out
        assert "1 packets lost" in open(corral.path("live.folded")).read().replace("packet lost", "packets lost")
        assert [json.loads(x)["kind"] for x in open(corral.path("live.jsonl"))] == ["profile", "profile", "gap", "profile"]


def test_seconds_end_it(corral):
    begin = time.monotonic()
    r = corral("profile", "--listen", "127.0.0.1:0", "--seconds", "0.5")
    assert r.code == 0 and time.monotonic() - begin >= 0.5 and "no sample came" in r.out, r.out


def test_a_port_that_is_taken(corral):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    r = corral("profile", "--listen", f"127.0.0.1:{s.getsockname()[1]}", "--seconds", "1")
    assert r.code == 1 and "in use" in r.err and r.out == "", r.err
    s.close()


def test_corral_yml_names_senders_and_their_images(corral):
    image(corral, "yml.elf")
    build.write(corral, "corral.yml", b"cores:\n  - {name: m7, elf: yml.elf}\nprofile:\n  listen: 127.0.0.1:0\n  sources:\n"
                b'    - {address: "192.0.2.1:4000", core: m7}\n')
    doc = report(corral, "--pcap", known(corral))
    assert doc["sources"][0]["name"] == "m7" and by_name(doc)["alpha"]["self"] == 40
    r = corral("profile", "--seconds", "0.1")
    assert r.code == 0 and "collecting on UDP port" in r.err, r.err


def test_the_virtual_board(corral):
    r = corral("--json", "--link", "sim", "profile", "--listen", "127.0.0.1:0", "--seconds", "0.2", "--export", "folded:b.folded")
    assert r.code == 0, r.err
    doc = json.loads(r.out)
    assert [s["name"] for s in doc["sources"]] == ["core0", "core1"] and doc["totals"]["lost"] == 0
    names = {(x["source"], x["function"]) for x in doc["functions"] if x["share"] > 0.05}
    assert (0, "fir_filter") in names and (1, "iir_filter") in names, names
    assert all(s["unknown_pc"] == 0 and not s["image_missing"] for s in doc["sources"])
    top = by_name(doc)["fir_filter"]
    assert top["file"].endswith("work_filter.c") and top["line"] > 0
    assert "core0;" in open(corral.path("b.folded")).read()


def test_pc_sampling_of_the_virtual_board(corral):
    r = corral("--json", "--link", "sim", "profile", "--pcsr", "--seconds", "0.3")
    assert r.code == 0, r.err
    doc = json.loads(r.out)
    assert [s["name"] for s in doc["sources"] if s["sent"] or s["totals"]["packets"]] == ["pcsr:core0", "pcsr:core1"]
    assert doc["totals"]["active_samples"] > 500
    names = {(x["source"], x["function"]) for x in doc["functions"] if x["share"] > 0.05}
    assert {n for _, n in names} >= {"fir_filter", "iir_filter"}, names


def test_packets_in_ram_of_the_virtual_board(corral):
    images = [os.path.join(os.path.dirname(corral.exe), "firmware", f"core{i}_records.elf") for i in (0, 1)]
    if not all(map(os.path.exists, images)):
        raise tap.Skip("the images that leave their packets in RAM were not built")
    r = corral("--json", "--link", "sim:" + ",".join(images), "profile", "--listen", "127.0.0.1:0", "--seconds", "0.2")
    assert r.code == 0, r.err
    doc = json.loads(r.out)
    sent = {s["name"]: s for s in doc["sources"] if s["sent"]}
    assert sorted(sent) == ["ram:core0", "ram:core1"] and all(s["totals"]["packets"] > 20 for s in sent.values())
    # two cores at 10 kHz are more than SWD at 4 MHz carries: what the target dropped is what is counted as lost
    lost = sum(s["totals"]["lost"] for s in sent.values())
    assert doc["totals"]["lost"] == lost and (lost == 0) == (not [x for x in doc["remarks"] if x["code"] == "records-full"])
    names = {x["function"] for x in doc["functions"] if x["share"] > 0.05}
    assert names >= {"fir_filter", "iir_filter"}, names


def test_packets_in_ram_of_a_mapped_memory(corral):
    """Over shm: there are no cores: prof_buffer is looked for in --elf's files. A target wrote two batches, and lost 3."""
    base, size = 0x20000000, 16 + 4 * 1456
    ram = bytearray(8192)
    struct.pack_into("<IIII", ram, 0, 0x464F5250, 0x401, 1456, 3)
    for i in range(2):
        packet = build.v17(i + 1, [build.sample(build.address("alpha")) for _ in range(40)], clocks=i * 1000000)
        at = 16 + 1456 * i
        ram[at:at + 16 + len(packet)] = struct.pack("<IIII", 1, 4 + len(packet), i, len(packet)) + packet
    build.write(corral, "ram", ram)
    elf = bytearray(build.elf(functions=("alpha", "prof_buffer", "end_mark")))
    symbol = elf.index(struct.pack("<II", (build.BASE + 256) | 1, 256))
    struct.pack_into("<IIBB", elf, symbol, base, size, 0x11, 0)  # an object
    build.write(corral, "fw.elf", elf)
    r = corral("--json", "--link", f"shm:ram@{base:#x}", "profile", "--listen", "127.0.0.1:0", "--elf", "fw.elf", "--seconds", "0.3")
    assert r.code == 0, r.err
    doc = json.loads(r.out)
    assert doc["totals"]["packets"] == 2 and doc["totals"]["active_samples"] == 80, doc["totals"]
    assert by_name(doc)["alpha"]["self"] == 80 and [x for x in doc["remarks"] if x["code"] == "records-full"], doc["remarks"]
    after = open(corral.path("ram"), "rb").read()
    assert [struct.unpack_from("<I", after, 16 + 1456 * i)[0] for i in range(4)] == [0] * 4  # handed back
    ram[16:20] = ram[16 + 1456:20 + 1456] = bytes(4)
    assert after == bytes(ram)  # and nothing else was written


def test_a_target_is_asked_to_send_here(corral):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.close()
    target = corral.start("sim", "--profile-control", "0", "--profile-port", port)
    control = re.search(r"127\.0\.0\.1:(\d+)", target.stderr.readline().decode()).group(1)
    r = corral("--json", "profile", "--listen", f"127.0.0.1:{port}", "--connect", f"127.0.0.1:{control}", "--seconds", "2")
    target.send_signal(signal.SIGINT)
    target.communicate(timeout=60)
    assert r.code == 0, r.err
    doc = json.loads(r.out)
    assert doc["totals"]["packets"] > 0 and doc["totals"]["samples"] > 0 and len(doc["sources"]) == 2
    assert doc["maps"] is not None and not [x for x in doc["remarks"] if x["code"] == "connection"], doc["remarks"]


def test_two_built_in_programs_are_not_one_gmon_file(corral):
    r = corral("--link", "sim", "profile", "--listen", "127.0.0.1:0", "--seconds", "0.1", "--export", "gmon:gmon.out")
    assert r.code == 1 and "of core0" in r.err and "of core1" in r.err and "pprof" in r.err, r.err
    assert not os.path.exists(corral.path("gmon.out"))


def test_a_target_elsewhere_is_heard_without_more_words(corral):
    helper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "profile_daemon.py")
    if not shutil.which("unshare") or not shutil.which("ip") or subprocess.run(["unshare", "-rn", "true"]).returncode:
        raise tap.Skip("this machine gives out no network namespaces")
    p = subprocess.run(["unshare", "-rn", sys.executable, helper, corral.exe], cwd=corral.cwd, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if p.returncode == 77:
        raise tap.Skip("no address can be added in a network namespace")
    assert p.returncode == 0, p.stderr
    told, _, doc = p.stdout.decode().partition("\n")
    assert told == "198.51.100.7" and json.loads(doc)["totals"]["packets"] == 1, (told, doc[:300], p.stderr)


def test_every_process_that_matters_is_asked_for_and_no_other(corral):
    """Nine processes have 300 samples each, 14,400 have one. A daemon that answers each question at once."""
    daemon, asked = socket.create_server(("127.0.0.1", 0)), []

    def serve():
        with daemon.accept()[0] as c, c.makefile("rb") as lines:
            for line in lines:
                if line.startswith((b"map", b"pid")):
                    asked.append(line)
                    c.sendall(b"PID:0 v\ndone\ndone - no modules\n" if line == b"map\n" else b"PID:%d\ndone\n" % int(line[4:]))

    def sample(pid):
        return struct.pack(">IIHHHBBI", build.BASE, pid, 1, 0, 0, 0, 0, 0) + bytes(16)

    def packet(seq, pids):
        h = bytearray(128)
        h[0:4] = bytes([0x3E, 0xB5, 128, len(pids)])
        struct.pack_into(">I", h, 4, seq * 100000)
        struct.pack_into(">HHHH", h, 60, 1, 0, 0, 0xFFFF)
        struct.pack_into(">III", h, 68, 100000000, seq, 0)
        struct.pack_into(">I", h, 124, 4)
        return bytes(h) + b"".join(sample(x) for x in pids)

    threading.Thread(target=serve, daemon=True).start()
    p, port = listening(corral, "--connect", f"127.0.0.1:{daemon.getsockname()[1]}")
    packets = [packet(1 + i, range(1, 10)) for i in range(300)]
    packets += [packet(301 + i, range(1000 + 36 * i, 1036 + 36 * i)) for i in range(400)]
    send(port, packets)
    deadline = time.monotonic() + 120
    while len(asked) < 10 and time.monotonic() < deadline:
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=120)
    daemon.close()
    assert p.returncode == 0
    assert sorted(asked) == [b"map\n"] + [b"pid %d\n" % i for i in range(1, 10)], asked


# --- the command line -------------------------------------------------------------------------------------


def test_what_a_daemon_says_wrong_is_said(corral):
    server = socket.create_server(("127.0.0.1", 0))
    p = corral.start("--json", "profile", "--listen", "127.0.0.1:0", "--connect", f"127.0.0.1:{server.getsockname()[1]}",
                     "--seconds", "0.5")
    client, _ = server.accept()
    client.sendall(b"PID:0 v\n8000-9000 r-xp 0 00:00 0 good\n9000-8000 r-xp 0 00:00 0 bad\n" + b"x" * 5000 + b"\ndone\n")
    out, err = p.communicate(timeout=60)
    client.close()
    server.close()
    assert p.returncode == 0, err
    said = [x for x in json.loads(out)["remarks"] if x["code"] == "control-lines"]
    assert len(said) == 1 and said[0]["weight"] == "warning" and ": 2 lines of its answers were refused" in said[0]["text"], out


def test_mistakes_of_the_command_line(corral):
    f = known(corral)
    for args, words in ((("--listen", "51080"), "not ADDR:PORT"), (("--listen", "127.0.0.1:70000"), "0 to 65535"),
                        (("--seconds", "x"), "number of seconds"), (("--thread", "16"), "0 to 15"), (("--top", "0"), "1 to"),
                        (("--pcap", f, "--seconds", "1"), "--seconds is for"), (("--diff", f), "two files"),
                        (("--diff", f, f, "--pcap", f), "collects nothing"), (("extra",), "one word too many"),
                        (("--pcap", "-", "--pcap", "-"), "standard input can be read once"), (("--nonsense",), "--help"),
                        (("--elf",), "needs a value"), (("--connect", ":1", "--listen", "127.0.0.1:0"), "HOST[:PORT]")):
        r = corral("profile", *args, timeout=60)
        assert r.code == 2 and words in r.err and r.out == "", (args, r.code, r.err)
    r = corral("profile", "--help")
    assert r.code == 0 and "Example" in r.out


def test_a_target_that_cannot_be_reached(corral):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))  # bound, not listening: refused
    r = corral("--timeout", "5", "profile", "--listen", "127.0.0.1:0", "--connect", f"127.0.0.1:{s.getsockname()[1]}",
               timeout=60)
    s.close()
    assert r.code == 3 and r.out == "", (r.code, r.err)


def test_no_terminal_no_colour_no_progress_eighty_columns(corral):
    image(corral, "long.elf", functions=tuple(n + "_with_a_very_long_name_indeed" * 4 for n in build.FUNCTIONS))
    r = corral("profile", "--pcap", known(corral, lost=(3,)), "--elf", "long.elf")
    assert r.code == 0 and r.err == "" and "\x1b" not in r.out and "\r" not in r.out
    wide = [x for x in r.out.splitlines() if len(x) > 80]
    assert not wide, wide


def on_terminal(corral, columns, *args, **env):
    """stdout and stderr on terminals of their own; (out, err)."""
    pairs = [pty.openpty() for _ in range(2)]
    for master, slave in pairs:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([corral.exe, *args], cwd=corral.cwd, stdin=subprocess.DEVNULL, stdout=pairs[0][1], stderr=pairs[1][1],
                         env={**os.environ, **env})
    for _, slave in pairs:
        os.close(slave)
    got = {master: b"" for master, _ in pairs}
    open_ends = set(got)
    while open_ends:
        for fd in select.select(list(open_ends), [], [], 60)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            got[fd] += data
            if not data:
                open_ends.discard(fd)
    assert p.wait(60) == 0
    for master, _ in pairs:
        os.close(master)
    return tuple(got[master].decode() for master, _ in pairs)


def test_a_terminal_has_its_width_colour_and_progress(corral):
    f, e = known(corral, lost=(3,)), image(corral)
    for columns in (80, 120):
        out, err = on_terminal(corral, columns, "profile", "--pcap", f, "--elf", e)
        assert "\x1b[1;31mLOST" in out
        plain = re.sub(r"\x1b\[[\d;]*[mK]", "", out)
        widest = max(len(x.rstrip("\r")) for x in plain.split("\n"))
        assert columns - 15 < widest <= columns, (columns, widest)
    out, err = on_terminal(corral, 80, "profile", "--pcap", f, "--elf", e, NO_COLOR="1")
    assert "\x1b" not in out
    out, err = on_terminal(corral, 80, "profile", "--listen", "127.0.0.1:0", "--seconds", "0.3")
    assert "0 packets" in err and "\r" in err and "packets, " not in out, err
    out, err = on_terminal(corral, 80, "--quiet", "profile", "--listen", "127.0.0.1:0", "--seconds", "0.3")
    assert err == "", err


tap.main(globals())
