# SPDX-License-Identifier: Apache-2.0
"""Profile packets, captures and a small ELF file, built from the profiler sheet's tables (3.1, 3.3, 3.5, 4, 5)
and the formats' own documents; for the tests of `corral profile`."""
import random
import struct

PORT = 51080
BASE = 0x8000
FUNCTIONS = ("alpha", "beta", "gamma", "delta", "end_mark")  # 256 bytes each, from BASE on


def address(name, offset=0):
    return BASE + 256 * FUNCTIONS.index(name) + offset


def bl(site, target):
    """Thumb BL, encoding T1 (Armv7-M A7.7.18)."""
    offset = target - (site + 4)
    s, i1, i2 = offset >> 24 & 1, offset >> 23 & 1, offset >> 22 & 1
    return struct.pack("<HH", 0xF000 | s << 10 | offset >> 12 & 0x3FF,
                       0xD000 | (i1 ^ s ^ 1) << 13 | (i2 ^ s ^ 1) << 11 | offset >> 1 & 0x7FF)


def elf(functions=FUNCTIONS, base=BASE, fill=0xBF00, calls=()):
    """A little-endian ELF32 for Arm: one executable section full of NOPs, and symbols; no DWARF. `calls`: from
    address to address."""
    text = bytearray(struct.pack("<H", fill) * (128 * len(functions)))
    for site, target in dict(calls).items():
        text[site - base:site - base + 4] = bl(site, target)
    strings, symbols = b"\0", struct.pack("<IIIBBH", 0, 0, 0, 0, 0, 0)
    for i, name in enumerate(functions):
        symbols += struct.pack("<IIIBBH", len(strings), (base + 256 * i) | 1, 256, 0x12, 0, 1)
        strings += name.encode() + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    offset, body, headers = 52, b"", [struct.pack("<10I", *[0] * 10)]

    def section(name, kind, flags, at, data, link=0, info=0, entry=0):
        nonlocal body
        headers.append(struct.pack("<10I", names.index(name + b"\0"), kind, flags, at, offset + len(body), len(data), link,
                                   info, 4, entry))
        body += data + bytes(-len(data) % 4)

    section(b".text", 1, 6, base, text)
    section(b".symtab", 2, 0, 0, symbols, 3, 1, 16)
    section(b".strtab", 3, 0, 0, strings)
    section(b".shstrtab", 3, 0, 0, names)
    head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, base | 1, 0, offset + len(body), 0x5000200, 52,
                                                   0, 0, 40, 5, 4)
    return head + body + b"".join(headers)


def sample(pc, a5=0, parent=0, thread=0, active=True, latency=0, i_blocked=False, d_blocked=False):
    mask = 1 << thread
    return struct.pack(">IIIIHHHBB", pc, a5, parent, latency, mask if active else 0, mask if d_blocked else 0,
                       mask if i_blocked else 0, 0, thread | (0x10 if d_blocked else 0) | (0x20 if i_blocked else 0))


def v17(seq, samples, clocks=0, hz=100000000, enabled=1, **fields):
    """`fields`: offsets of 32-bit words as o196=..., for the groups that a Linux sender leaves zero."""
    h = bytearray(252)
    h[0:4] = bytes([0x3E, 0xB1, 252, len(samples)])
    struct.pack_into(">I", h, 4, clocks & 0xFFFFFFFF)
    struct.pack_into(">H", h, 76, enabled)
    struct.pack_into(">H", h, 82, 0xFFFF)
    struct.pack_into(">II", h, 164, hz, seq & 0xFFFFFFFF)
    for name, value in fields.items():
        struct.pack_into(">I", h, int(name[1:]), value)
    return bytes(h) + b"".join(samples)


def counters(clocks, **values):
    body = b"".join(n.replace("_", " ").encode()[:20].ljust(20, b"\0") + struct.pack(">I", v) for n, v in values.items())
    return struct.pack(">HHIII", 0x9EA0, len(values), clocks, 0, clocks) + body


def maps(*entries):
    """v17: (start page, type, order)."""
    return struct.pack(">HHI", 0xAEA0, len(entries), 12) + b"".join(
        struct.pack(">HH", start, kind << 11 | order) for start, kind, order in entries)


def pcap(packets):
    """Raw IPv4 frames (link type 101): (seconds, last byte of the sender, source port, payload)."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for when, host, sport, data in packets:
        udp = struct.pack(">HHHH", sport, PORT, 8 + len(data), 0) + data
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([192, 0, 2, host]), b"\xc0\0\2\2")
        out += struct.pack("<IIII", int(when), int(when % 1 * 1e6), 20 + len(udp), 20 + len(udp)) + ip + udp
    return out


def drawn(shares, packets, seed, per_packet=40, host=1, hz=100000000, rate=1000):
    """Packets of samples drawn by chance from `shares` of the functions, `rate` samples a second of target time."""
    chance = random.Random(seed)
    names, weights = list(shares), list(shares.values())
    out = []
    for seq in range(packets):
        picked = chance.choices(names, weights, k=per_packet)
        samples = [sample(address(n, 2 * chance.randrange(100))) for n in picked]
        when = seq * per_packet / rate
        out.append((when, host, 4000, v17(seq + 1, samples, clocks=int(when * hz), hz=hz)))
    return out


def write(corral, name, data):
    with open(corral.path(name), "wb") as f:
        f.write(data)
    return name
