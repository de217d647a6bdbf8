# SPDX-License-Identifier: Apache-2.0
"""Debug sequences made at random, well-formed and ending by themselves, for sequence_oracle.py and corral."""
import random
from xml.sax.saxutils import escape, quoteattr

NUMBERS = ["0", "1", "2", "3", "7", "10", "0x10", "0xFF", "31", "32", "63", "64", "65", "010", "0xFFFFFFFF", "0x100000000",
           "0x7FFFFFFFFFFFFFFF", "0x8000000000000000", "0xFFFFFFFFFFFFFFFF", "0xA05F0003"]
BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]
COMPOUND = ["+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>="]
ADDRESSES = [0x20000000 + 4 * i for i in range(6)] + [0xE000EDF0, 0xE000ED00]
VARIABLES = """
          __var Base  = 0x20000000;   // where the memory is
          __var Magic = 0xA5A5 | 1;
"""


class Maker:
    def __init__(self, seed, callees):
        self.random, self.callees = random.Random(seed), callees
        self.lines, self.indent = [], "          "
        self.names, self.taken, self.count = ["Base", "Magic"], [], 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def put(self, text):
        self.lines.append(self.indent + text)

    # ---- expressions

    def address(self, size):
        if self.random.random() < 0.04:
            return str(self.random.choice(ADDRESSES) + self.pick(1, 3))  # perhaps not aligned
        a = self.random.choice(ADDRESSES) + size * self.random.randrange(4 // min(size, 4))
        return f"(Base + 0x{a - 0x20000000:X})" if 0x20000000 <= a < 0x20001000 and self.random.random() < 0.5 else f"0x{a:X}"

    def read(self):
        kind = self.random.random()
        if kind < 0.55:
            bits = self.pick(8, 16, 32, 32, 32)
            return f"Read{bits}({self.address(bits // 8)})"
        if kind < 0.58:
            return f"Read64({self.address(4)})"
        if kind < 0.75:
            return f"ReadAP(0x{4 * self.pick(0, 1, 2, 62, 63, 61):X})"
        if kind < 0.8:
            return f"ReadAccessAP(0x{0x1000 * self.pick(1, 2) + self.pick(0xD00, 0xD04, 0xDFC, 0x10):X})"
        return f"ReadDP(0x{self.pick(0, 4, 4, 8, 12):X})"

    def expression(self, depth=0):
        kind = self.random.random()
        if depth > 3 or kind < 0.2:
            return self.random.choice(NUMBERS)
        if kind < 0.42:
            return self.random.choice(self.names + ["__Result", "__ap", "__protocol", "__connection"])
        if kind < 0.52:
            return self.pick("-", "~", "!", "!!", "- ") + self.expression(depth + 1)
        if kind < 0.57:
            return f"({self.expression(depth + 1)} ? {self.expression(depth + 1)} : {self.expression(depth + 1)})"
        if kind < 0.66:
            return self.read()
        inner = f"{self.expression(depth + 1)} {self.random.choice(BINARY)} {self.expression(depth + 1)}"
        return f"({inner})" if self.random.random() < 0.5 else inner

    # ---- statements

    def own(self):
        return [n for n in self.names if n not in ("Base", "Magic")]

    def declare(self):
        self.count += 1
        name = f"v{self.count}"
        self.put(f"__var {name} = {self.expression()};")
        self.names.append(name)

    def wire(self):
        self.put(self.pick(f"DAP_SWJ_Sequence({self.pick(1, 8, 51, 64)}, 0x{self.random.getrandbits(62):X});",
                           f"DAP_Delay({self.pick(0, 1, 50, 1000)});", f"DAP_WriteABORT(0x{self.pick(1, 4, 0x1E):X});",
                           f"DAP_SWJ_Clock({self.pick(1, 1000000)});",
                           f"DAP_JTAG_Sequence({self.pick(1, 5, 64)}, {self.pick(0, 1)}, 0x{self.random.getrandbits(60):X});",
                           f"DAP_SWJ_Pins(0x{self.pick(0, 0x80, 0xA0):X}, 0x{self.pick(0, 0x80, 0x83):X}, {self.pick(0, 100, 3000000)});"))

    def message(self):
        form = self.pick("%u", "%x", "%08X", "%o", "%b", "%5u", "%llx", "%016llX", "100%%: %u")
        kind = self.pick(0, 0, 0, 0, 1, 1, 1, 2)
        self.put(f'Message({kind}, "it is {form}; // not a comment", {self.expression(2)});')

    def statement(self):
        kind, own = self.random.random(), self.own()
        if kind < 0.2 or not own:
            self.declare()
        elif kind < 0.35:
            op = self.random.choice(["="] * 4 + COMPOUND)
            self.put(f"{self.random.choice(own)} {op} {self.expression()};   // {self.pick('so', 'a = b;', '//')}")
        elif kind < 0.55:
            bits = self.pick(8, 16, 32, 32, 32)
            self.put(f"Write{bits}({self.address(bits // 8)}, {self.expression(1)});")
        elif kind < 0.62:
            self.put(self.pick(f"WriteAP(0x{4 * self.pick(0, 1, 3, 63):X}, {self.expression(2)});",
                               f"WriteDP(0x{self.pick(0, 4, 8):X}, {self.pick('0', '1', '0x50000000', self.expression(3))});",
                               f"WriteAccessAP(0x{0x2000 + self.pick(0xD00, 0xD04):X}, {self.expression(2)});"))
        elif kind < 0.7:
            self.wire()
        elif kind < 0.74:
            self.put(f"{self.pick('__errorcontrol', '__errorcontrol', '__ap', '__Result')} = {self.pick(0, 1, 1, 2)};")
        elif kind < 0.79:
            self.message()
        elif kind < 0.83:
            self.put(f'{self.random.choice(own)} = Query({self.pick(0, 1, 2, 3)}, "so; or (so)?", {self.pick(0, 1, 2, 3, 4)});')
        elif kind < 0.86:
            self.put(f'{self.random.choice(own)} = QueryValue("how much", {self.expression(2)});')
        elif kind < 0.92 and self.callees:
            self.put(f'Sequence("{self.random.choice(self.callees)}");')
        else:
            self.put(f"{self.read()};")

    # ---- what contains them

    def block(self):
        self.put("<block>")
        first = len(self.lines)
        for _ in range(self.random.randint(1, 5)):
            self.statement()
        self.lines[first:] = [escape(line) for line in self.lines[first:]]
        self.put("</block>")

    def atomic(self):
        """Accesses, and nothing that is read is used."""
        self.put('<block atomic="1">')
        for _ in range(self.random.randint(1, 4)):
            self.put(self.pick(f"Write32(0x{self.random.choice(ADDRESSES):X}, {self.pick('Magic', '5', '0x12345678')});",
                               f"Read32(0x{self.random.choice(ADDRESSES):X});", "ReadDP(4);", "ReadAP(0xFC);"))
            if self.random.random() < 0.3:
                self.wire()
        self.put("</block>")

    def show(self, names):
        """What the last of the variables hold is to be seen."""
        for n in names[-4:]:
            self.put(f"<block>Write32(0x{self.random.choice(ADDRESSES):X}, {n} ^ ({n} &gt;&gt; 32));</block>")

    def control(self, depth):
        kept, indent = list(self.names), self.indent
        kind = self.random.random()
        if kind < 0.5:
            words = {"if": self.expression(1)}
        else:
            # Bounded by a counter of its own; a time limit may end it before.
            self.count += 1
            counter = f"n{self.count}"
            self.put(f"<block>__var {counter} = 0;</block>")
            self.names.append(counter)
            kept.append(counter)
            words = {"while": f"({counter} += 1) <= {self.pick(0, 1, 3, 5)}" if self.random.random() < 0.5
                     else f"(Read32(0x20000000) & 0) == 0 && ({counter} += 1) <= {self.pick(1, 4, 9)}"}
            self.names.remove(counter)  # nobody else changes it
            kept.remove(counter)
            if kind < 0.75:
                words["timeout"] = str(self.pick(0, 1, 10, 15, 30, 60, 1000))
            if kind < 0.6:
                words["if"] = self.expression(2)
        outside = set(self.own())
        self.put("<control " + " ".join(f"{k}={quoteattr(v)}" for k, v in words.items()) + ">")
        self.indent += "  "
        self.body(depth + 1)
        self.show([n for n in self.own() if n not in outside])
        self.indent, self.names = indent, kept
        self.put("</control>")

    def body(self, depth):
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.35 and depth < 3:
                self.control(depth)
            elif kind < 0.42:
                self.atomic()
            else:
                self.block()

    def make(self, name):
        self.put(f'<sequence name="{name}">')
        if self.random.random() < 0.8:  # else it may well end early
            self.put("<block>__errorcontrol = 1;</block>")
        self.body(0)
        self.show(self.own())
        self.put("</sequence>")
        return "\n".join(self.lines)


def pdsc(seed, count):
    """A description with one device D and `count` sequences P0 .. ; each may call some of those before it."""
    out = []
    for i in range(count):
        callees = [f"P{k}" for k in range(max(0, i - 3), i)] if i % 3 == 2 else []
        out.append(Maker(seed * 100000 + i, callees).make(f"P{i}"))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package schemaVersion="1.7.7">
  <vendor>Corral</vendor><name>Random</name><description>made at random</description><url/>
  <releases><release version="1.0.0">first</release></releases>
  <devices>
    <family Dfamily="Random" Dvendor="Corral:999">
      <processor Dcore="Cortex-M7" DcoreVersion="r1p1"/>
      <debugvars>{VARIABLES}      </debugvars>
      <sequences>
""" + "\n".join(out) + """
      </sequences>
      <device Dname="D"/>
    </family>
  </devices>
</package>
"""
