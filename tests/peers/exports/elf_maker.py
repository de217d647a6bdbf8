# SPDX-License-Identifier: Apache-2.0
"""A small ELF file with symbols, for targets that no compiler here knows: any byte order, machine and class."""
import struct

MACHINE_UBICOM32 = 0xDE3D


def make(path, ranges, big, wide, machine):
    """`ranges`: (section name, address, bytes, [(symbol, address, size)]), ..."""
    e = ">" if big else "<"
    names, symbol_names = bytearray(b"\0"), bytearray(b"\0")

    def name(table, text):
        table.extend(text.encode() + b"\0")
        return len(table) - len(text) - 1

    header = 64 if wide else 52
    body = bytearray()
    sections = [(0,) * 10]
    symbols = bytearray(24 if wide else 16)

    def section(text, kind, flags, address, data, link=0, info=0, align=4, entry=0):
        while (header + len(body)) % 8:
            body.append(0)
        sections.append((name(names, text), kind, flags, address, header + len(body), len(data), link, info, align, entry))
        body.extend(data)

    for number, (text, address, size, inside) in enumerate(ranges, 1):
        section(text, 1, 6, address, bytes(size))
        for symbol, at, length in inside:
            n, info = name(symbol_names, symbol), 1 << 4 | 2
            symbols += (struct.pack(e + "IBBHQQ", n, info, 0, number, at, length) if wide else
                        struct.pack(e + "IIIBBH", n, at, length, info, 0, number))
    section(".symtab", 2, 0, 0, symbols, link=len(ranges) + 2, info=1, entry=24 if wide else 16)
    section(".strtab", 3, 0, 0, symbol_names)
    name(names, ".shstrtab")
    section(".shstrtab", 3, 0, 0, bytes(names) + b".shstrtab\0")
    while (header + len(body)) % 8:
        body.append(0)
    at = header + len(body)
    word = "Q" if wide else "I"
    ident = b"\x7fELF" + bytes([2 if wide else 1, 2 if big else 1, 1]) + bytes(9)
    with open(path, "wb") as f:
        f.write(ident)
        f.write(struct.pack(e + "HHI" + word * 3 + "IHHHHHH", 2, machine, 1, ranges[-1][1], 0, at, 0, header, 0, 0,
                            64 if wide else 40, len(sections), len(sections) - 1))
        f.write(body)
        for s in sections:
            f.write(struct.pack(e + ("IIQQQQIIQQ" if wide else "IIIIIIIIII"), *s))
