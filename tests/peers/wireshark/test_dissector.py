#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Wireshark dissector against `corral decode prof`: field by field on every reference vector and on captures made
here, and on the demo's capture with its log batches and events. Usage: test_dissector.py CORRAL"""
import glob
import json
import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli"))
import tap  # noqa: E402

LUA = os.path.join(tap.ROOT, "tools", "wireshark", "corral.lua")
VECTORS = os.path.join(tap.SHARED, "vectors", "prof")
PACKETS = ("profile", "counters", "maps", "reject")
# What the two spell differently: events name lists and objects, fields are flat and repeat.
LISTS = {"samples": ("sample", ("pc", "thread", "active", "d_blocked", "i_blocked", "cond_codes", "self_d_blocked",
                                "self_i_blocked", "a5", "parent", "latency", "pid", "a_reg", "parents")),
         "counters": ("counter", ("name", "value", "side")),
         "entries": ("map", ("start", "type", "pages"))}
WORDS = {"kind", "layout", "encoding", "reason", "name", "side", "type"}
# In events but not on the wire: who sent it and when.
NOT_FIELDS = {"stream", "core", "host_ns", "target_ns", "kind"}


def tshark(capture, *options):
    exe = shutil.which("tshark")
    if not exe:
        if os.environ.get("CI"):
            raise AssertionError("tshark is not installed")
        raise tap.Skip("tshark is not installed")
    env = dict(os.environ, HOME=os.path.dirname(capture) or ".", XDG_CONFIG_HOME=os.path.dirname(capture) or ".")
    p = subprocess.run([exe, "-n", "-X", "lua_script:" + LUA, "-r", capture, *options], capture_output=True, timeout=120,
                       env=env, check=False)
    assert p.returncode == 0, p.stderr.decode()
    errors = [line for line in p.stderr.decode().splitlines() if "Running as user" not in line and line.strip()]
    assert not errors, errors
    return p.stdout.decode()


def udp_capture(path, datagrams):
    """A pcap of raw IPv4 packets; each datagram is (source port, bytes)."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
        for i, (port, data) in enumerate(datagrams):
            udp = struct.pack(">HHHH", port, 51080, 8 + len(data), 0) + data
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), i, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2") + udp
            f.write(struct.pack("<IIII", i // 1000, i % 1000 * 1000, len(ip), len(ip)) + ip)


def values(node, into):
    """All fields of a dissected packet, flat: name -> values in order."""
    for key, value in node.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                values(one, into)
            elif key.startswith("corralprof.") and key.count(".") <= 2:
                into.setdefault(key[len("corralprof."):], []).append(one)


def dissected(capture, *options):
    packets = []
    for frame in json.loads(tshark(capture, *options, "-T", "json", "--no-duplicate-keys", "-J", "corralprof")):
        layers = frame["_source"]["layers"].get("corralprof", [])
        for layer in layers if isinstance(layers, list) else [layers]:
            fields = {}
            values(layer, fields)
            packets.append(fields)
    return packets


def number(text):
    if text in ("True", "False"):
        return int(text == "True")
    return int(text, 0)


def same(got, name, wanted, where, may_lack=False):
    """One field; None in the event stands for a group of zeros, for what is not known, or for what is not there."""
    found = [one if name.split(".")[-1] in WORDS else number(one) for one in got.pop(name, [])]
    if isinstance(wanted, list):
        wanted = [int(w) if isinstance(w, bool) else w for w in wanted]
        assert found == wanted, f"{where}: {name}: {found}, not {wanted}"
    elif wanted is None:
        assert all(v == 0 for v in found) and (found or may_lack), f"{where}: {name}: {found}, not zeros"
    else:
        wanted = int(wanted) if isinstance(wanted, bool) else wanted
        assert found == [wanted], f"{where}: {name}: {found}, not {wanted}"


def compare(got, event, where):
    got = dict(got)
    same(got, "kind", event["kind"], where)
    for key, value in event.items():
        if key in NOT_FIELDS or event["kind"] == "reject" and key not in ("reason", "version"):
            continue
        if key in LISTS:
            prefix, parts = LISTS[key]
            for part in parts:
                wanted = []
                for one in value:
                    wanted += one.get(part, []) if part == "parents" else [one[part]] if part in one else []
                same(got, f"{prefix}.{part}", wanted, where)
            got.pop(prefix, None)
        elif key == "version" and value is None:
            continue
        else:
            same(got, key, value, where, event.get("layout") == "legacy")
    for left in ("magic", "value", "header_size", "sample", "counter", "map"):
        got.pop(left, None)
    got = {k: v for k, v in got.items() if not k.startswith("expert")}
    assert not got, f"{where}: fields that the event has not: {got}"


def check(corral, capture, legacy=False):
    decode = ("--json", "decode", "prof", *(["--legacy-headers"] if legacy else []), capture)
    events = [e for e in corral(*decode).lines() if e["kind"] in PACKETS]
    packets = dissected(capture, *(["-o", "corralprof.legacy_headers:TRUE"] if legacy else []))
    assert len(packets) == len(events), f"{capture}: {len(packets)} packets dissected, {len(events)} decoded"
    for i, (got, event) in enumerate(zip(packets, events)):
        compare(got, event, f"{os.path.basename(capture)}, packet {i}")
    return len(events)


def test_every_vector_is_dissected_as_it_is_decoded(corral):
    if not os.path.isdir(VECTORS):
        raise tap.Skip("the reference vectors are not beside the source tree")
    # An empty datagram never reaches a dissector. The single ones are in one capture, each from a port of its own:
    # above 51080, since the lower of the two ports is asked first, and many below are other protocols'.
    singles = [(52000 + i, data) for i, data in enumerate(
        open(name, "rb").read() for name in sorted(glob.glob(VECTORS + "/*.bin"))) if data]
    udp_capture(corral.path("all.pcap"), singles)
    count = check(corral, corral.path("all.pcap"))
    assert count >= len(singles) >= 40, (count, len(singles))
    for name in sorted(glob.glob(VECTORS + "/*.pcap")):
        check(corral, name)


def test_maps_follow_the_senders_last_version(corral):
    v21 = bytearray(128)
    v21[:4] = struct.pack(">HBB", 0x3EB5, 128, 0)
    maps = struct.pack(">HHIHHHH", 0xAEA1, 2, 12, 5, 0x0804, 9, 0x9000)
    udp_capture(corral.path("m.pcap"), [(1, maps), (1, bytes(v21)), (1, maps), (2, maps)])
    assert check(corral, corral.path("m.pcap")) == 4
    assert [p["encoding"] for p in dissected(corral.path("m.pcap")) if "encoding" in p] == [["v17"], ["v21"], ["v17"]]


def test_legacy_headers_on_request(corral):
    random.seed(3)
    fixed = {5: 36, 6: 40, 7: 44, 8: 68, 9: 76, 10: 76, 11: 100, 12: 112, 13: 112, 14: 112, 15: 124, 16: 124}
    datagrams = []
    for version, size in fixed.items():
        for threads in (16,) if version == 16 else (0, 1, 8, 12, 16, 17):
            size_there = size + 8 * threads
            header = struct.pack(">HBB", 0x3EA0 | version, size_there & 255, 2) + random.randbytes(size_there - 4 + 40)
            datagrams += [(54000 + len(datagrams), header), (54000 + len(datagrams), header[:random.randrange(2, size_there)])]
    udp_capture(corral.path("legacy.pcap"), datagrams)
    for legacy in (False, True):
        assert check(corral, corral.path("legacy.pcap"), legacy) == len(datagrams)
        packets = dissected(corral.path("legacy.pcap"), "-o", f"corralprof.legacy_headers:{str(legacy).upper()}")
        headers = sum(p["kind"] == ["profile"] for p in packets)
        assert headers >= 40 if legacy else headers == 0, headers


def test_mutated_packets_are_refused_alike(corral):
    random.seed(7)
    whole = bytearray(252 + 3 * 24)
    whole[:4] = struct.pack(">HBB", 0x3EB1, 252, 3)
    nss = bytearray(132 + 2 * 36)
    nss[:4] = struct.pack(">HBB", 0x3EB5, 132, 2)
    nss[7] = 4
    counters = struct.pack(">HHIII", 0x9EA0, 1, 5, 1, 6) + 2 * (b"twenty characters!!\xff" + struct.pack(">I", 9)) + bytes(nss)
    maps = struct.pack(">HHI", 0xAEA0, 3, 12) + random.randbytes(12)
    datagrams = []
    for i in range(600):
        data = bytearray((whole, nss, counters, maps)[i % 4])
        for _ in range(random.randrange(4)):
            data[random.randrange(min(len(data), random.choice((8, 400))))] = random.randrange(256)
        datagrams.append((53000 + i, bytes(data[:random.choice((len(data), random.randrange(1, len(data) + 1)))])))
    udp_capture(corral.path("mutated.pcap"), datagrams)
    assert check(corral, corral.path("mutated.pcap")) >= 600


def test_bad_packets_have_expert_infos(corral):
    gap = bytearray(252)
    gap[:4] = struct.pack(">HBB", 0x3EB1, 252, 0)
    later = bytearray(gap)
    later[168:172] = struct.pack(">I", 10)
    udp_capture(corral.path("bad.pcap"), [(1, b"\x3e\xb1\xfc\x05"), (2, bytes(gap)), (2, bytes(later))])
    said = tshark(corral.path("bad.pcap"), "-T", "fields", "-e", "_ws.expert.message").splitlines()
    assert said == ["Packet refused: truncated", "", "9 packets missing before this one"], said
    assert tshark(corral.path("bad.pcap"), "-Y", 'corralprof.reason == "truncated"', "-T", "fields", "-e", "frame.number") == "1\n"


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def test_packets_of_a_debug_link_are_a_sender_each(corral):
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for name in (b"profile ram:core0", b"profile pcsr:core1"):
        option = struct.pack("<HH", 2, len(name)) + name + bytes(-len(name) % 4) + bytes(4)
        out += block(1, struct.pack("<HHI", 149, 0, 0) + option)
    for seq, interface in ((1, 0), (700, 1), (2, 0), (701, 1), (5, 0)):
        data = bytearray(252 + 24)
        data[0:4] = b"\x3e\xb1\xfc\x01"
        struct.pack_into(">I", data, 168, seq)
        out += block(6, struct.pack("<IIIII", interface, 0, seq, len(data), len(data)) + bytes(data))
    capture = corral.path("link.pcapng")
    with open(capture, "wb") as f:
        f.write(out)
    events = corral("--json", "decode", "prof", capture).lines()
    packets = [e for e in events if e["kind"] == "profile"]
    assert [(e["stream"], e["seq"]) for e in packets] == [("prof:ram:core0", 1), ("prof:pcsr:core1", 700), ("prof:ram:core0", 2),
                                                          ("prof:pcsr:core1", 701), ("prof:ram:core0", 5)], packets
    assert [e["lost"] for e in events if e["kind"] == "gap"] == [2] and events[-1]["sources"] == 2
    rows = tshark(capture, "-T", "fields", "-e", "corralprof.seq", "-e", "_ws.expert.message").splitlines()
    assert [r.split("\t")[0] for r in rows] == ["1", "700", "2", "701", "5"], rows
    assert [r.split("\t")[1] for r in rows] == [""] * 4 + ["2 packets missing before this one"], rows


def test_a_whole_capture_of_the_demo(corral):
    p = corral("--json", "--quiet", "demo", "--seconds", "0.3", "--out", "out", "--listen", "127.0.0.1:0")
    assert p.code == 0, p.err
    captures = glob.glob(corral.path("out") + "/*.pcapng")
    assert len(captures) == 1, captures
    lines = [e for e in corral("--json", "decode", "prof", "--port", "51080", captures[0]).lines()]
    del lines  # the demo listens on any port: what counts here is the batches and the events
    logged = [json.loads(line) for line in p.out.splitlines()]
    wanted = sum(e["kind"] == "log" for e in logged) or None
    rows = tshark(captures[0], "-Y", "corraltlog", "-T", "fields", "-E", "aggregator=;", "-e", "corraltlog.sequence",
                  "-e", "_ws.expert.message").splitlines()
    assert rows and not any(row.split("\t")[1] for row in rows), rows[:3]
    records = sum(len(row.split("\t")[0].split(";")) for row in rows)
    assert records > 20 and wanted in (None, records), (records, wanted)
    kinds = tshark(captures[0], "-Y", "corralevent", "-T", "fields", "-e", "corralevent.kind").split()
    assert {"halt", "run"} <= set(kinds), set(kinds)


if __name__ == "__main__":
    tap.main(globals())
