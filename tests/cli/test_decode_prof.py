# SPDX-License-Identifier: Apache-2.0
"""`corral decode prof` as a user has it: captures and raw datagrams, exit codes, both kinds of output.

The packets are built here from the profiler sheet's tables (3.1, 3.5, 4), the capture file from the pcap format.
"""
import os
import struct

import tap


def v17(seq, count=2, clocks=0, hz=100000000, enabled=1):
    h = bytearray(252)
    h[0:4] = bytes([0x3E, 0xB1, 252, count])
    struct.pack_into(">I", h, 4, clocks)
    struct.pack_into(">H", h, 76, enabled)
    struct.pack_into(">II", h, 164, hz, seq)
    samples = b"".join(struct.pack(">IIIIHHHBB", 0x40000000 + 4 * i, 0, 0, 0, 1, 0, 0, 0, 0) for i in range(count))
    return bytes(h) + samples


def counters(*names):
    body = b"".join(n.ljust(20, b"\0")[:20] + struct.pack(">I", 5) for n in names)
    return struct.pack(">HHIII", 0x9EA0, len(names), 0, 0, 0) + body


def pcap(packets):
    """Raw IPv4 frames (link type 101): (seconds, source port, destination port, payload)."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for when, sport, dport, data in packets:
        udp = struct.pack(">HHHH", sport, dport, 8 + len(data), 0) + data
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\xc0\0\2\1", b"\xc0\0\2\2") + udp
        out += struct.pack("<IIII", int(when), int(when % 1 * 1e6), len(ip), len(ip)) + ip
    return out


def write(corral, name, data):
    with open(os.path.join(corral.cwd, name), "wb") as f:
        f.write(data)
    return name


def test_raw_files_of_one_command_are_one_source(corral):
    files = [write(corral, f"p{seq}.bin", v17(seq)) for seq in (5, 6, 9)]
    r = corral("--json", "decode", "prof", *files)
    assert r.code == 0 and r.err == "", r.err
    kinds = [x["kind"] for x in r.lines()]
    assert kinds == ["profile", "profile", "gap", "profile", "summary"], kinds
    gap, summary = r.lines()[2], r.lines()[-1]
    assert (gap["expected"], gap["sequence"], gap["lost"], gap["reason"]) == (7, 9, 2, "sequence"), gap
    assert summary["lost"] == 2 and summary["sources"] == 1 and summary["packets"] == 3, summary
    assert len({x["stream"] for x in r.lines()[:-1]}) == 1


def legacy(version, seq, count=2):
    """A header with eight threads and what pretends to be samples; profiler sheet 3.2."""
    fixed = {5: 36, 9: 76, 16: 124}[version]
    h = bytearray(fixed + 8 * (16 if version == 16 else 8))
    h[0:4] = struct.pack(">HBB", 0x3EA0 | version, len(h), count)
    if version >= 7:
        struct.pack_into(">II", h, len(h) - fixed + 36, 100000000, seq)
    return bytes(h) + bytes(20 * count)


def test_headers_of_old_versions_on_request_only(corral):
    f = write(corral, "old.pcap", pcap([(1 + i, 4000 + v, 51080, legacy(v, s)) for i, (v, s) in
                                        enumerate([(9, 1), (5, 0), (9, 2), (5, 0), (9, 5), (16, 1)])]))
    r = corral("--json", "decode", "prof", f)
    assert r.code == 0 and [x.get("reason") for x in r.lines()[:-1]] == ["version"] * 6, r.out
    assert [x["version"] for x in r.lines()[:-1]] == [9, 5, 9, 5, 9, 16]
    r = corral("--json", "decode", "prof", "--legacy-headers", f)
    assert r.code == 0 and r.err == "", r.err
    packets = [x for x in r.lines() if x["kind"] == "profile"]
    assert [(p["version"], p["layout"], p["seq"]) for p in packets] == [
        (9, "legacy", 1), (5, "legacy", None), (9, "legacy", 2), (5, "legacy", None), (9, "legacy", 5), (16, "legacy", 1)]
    assert all(p["samples"] == [] and p["sample_count"] == 2 for p in packets)
    assert all((p["perf_counters"] is None) == (p["version"] < 11) for p in packets)
    summary = r.lines()[-1]
    assert (summary["packets"], summary["lost"], summary["duplicates"], summary["rejected"]) == (6, 2, 0, 0), summary
    r = corral("decode", "prof", "--legacy-headers", f)
    assert "profile legacy version 9 seq 5: header only, 2 samples not read" in r.out, r.out
    assert "profile legacy version 5: header only, 2 samples not read" in r.out, r.out
    r = corral("profile", "--pcap", f, "--legacy-headers")
    assert r.code == 0 and "only the headers were read" in " ".join(r.out.split()), r.out


def test_a_wrong_magic_is_named(corral):
    """Rows 2 and 3 of the sheet's list."""
    r = corral("decode", "prof", write(corral, "a.bin", b"\x3e\xc0" + bytes(50)), write(corral, "b.bin", b"\xb1\x3e" + bytes(50)))
    assert r.code == 0, r.err
    assert "refused a packet of 52 bytes: magic, 0x3ec0\n" in r.out, r.out
    assert "refused a packet of 52 bytes: byte-order, 0xb13e is 0x3eb1 swapped\n" in r.out, r.out


def test_only_port_51080_of_a_capture_is_read(corral):
    f = write(corral, "c.pcap", pcap([(1, 4000, 51080, v17(1)), (1, 4000, 51081, v17(9)), (1, 51080, 4000, v17(8)),
                                      (1, 4001, 51080, v17(70))]))
    r = corral("--json", "decode", "prof", f)
    assert r.code == 0, r.err
    assert [x["seq"] for x in r.lines()[:-1]] == [1, 70]
    assert r.lines()[0]["stream"] != r.lines()[1]["stream"]
    assert r.lines()[-1]["lost"] == 0 and r.lines()[-1]["sources"] == 2


def test_a_damaged_capture_stands_up_to_the_damage(corral):
    whole = pcap([(1, 4000, 51080, v17(1)), (1, 4000, 51080, v17(2)), (1, 4000, 51080, v17(3))])
    f = write(corral, "cut.pcap", whole[:-10])
    r = corral("--json", "decode", "prof", f)
    assert r.code == 0, r.err
    assert [x["seq"] for x in r.lines()[:-1]] == [1, 2]
    assert r.lines()[-1]["damaged_files"] == 1
    assert "cut.pcap" in r.err and "damaged at offset" in r.err, r.err
    r = corral("--quiet", "decode", "prof", f)
    assert r.code == 0 and r.err == "", r.err


def test_anomalies_do_not_change_the_exit_code(corral):
    f = write(corral, "bad.bin", b"\xb1\x3e" + bytes(300))
    r = corral("--json", "decode", "prof", f)
    assert r.code == 0
    assert r.lines()[0]["kind"] == "reject" and r.lines()[0]["reason"] == "byte-order"
    assert r.lines()[-1]["rejected"] == 1


def test_unreadable_file_is_exit_1(corral):
    r = corral("decode", "prof", "no-such-file")
    assert r.code == 1 and "no-such-file" in r.err and r.out == "", r.err
    os.mkdir(os.path.join(corral.cwd, "folder"))
    r = corral("decode", "prof", "folder")
    assert r.code == 1 and "folder" in r.err


def test_nothing_to_decode_is_exit_2(corral):
    for args in (("decode", "prof"), ("decode", "prof", "--no-such-option", "x")):
        r = corral(*args)
        assert r.code == 2 and "--help" in r.err, (args, r.err)
    r = corral("decode", "prof", "--help")
    assert r.code == 0 and "Usage" in r.out and "Example" in r.out


def test_longer_than_any_datagram(corral):
    f = write(corral, "big.bin", v17(1) + bytes(200000))
    r = corral("--json", "decode", "prof", f)
    assert r.code == 0 and r.lines()[0]["reason"] == "truncated"


def test_text_shows_packets_loss_and_totals(corral):
    f = write(corral, "c.pcap", pcap([(1, 4000, 51080, v17(1, clocks=0)), (1, 4000, 51080, v17(5, clocks=100)),
                                      (2, 4000, 51080, counters(b"Free memory(KB)")), (2, 4000, 51080, b"\0\0")]))
    r = corral("decode", "prof", f)
    assert r.code == 0, r.err
    assert "2 packets from 1 source, 4 samples (4 active), 3 lost, 1 refused" in r.out, r.out
    assert "0x40000000" in r.out and "50.0" in r.out
    assert "\x1b" not in r.out  # not a terminal


def test_names_from_outside_stay_text(corral):
    name = "a\x1b[31mb.bin"
    write(corral, name, counters(b"\x1b[2J\xff"))
    for args in (("--json",), ()):
        r = corral(*args, "decode", "prof", name)
        assert r.code == 0 and "\x1b" not in r.out, repr(r.out)


tap.main(globals())
