# SPDX-License-Identifier: Apache-2.0
"""Another interpreter of CMSIS debug sequences, made from the cross-trigger sheet (4.1 to 4.7, 12.C) alone, to compare
corral's with: it reads a PDSC, runs sequences on a model of the link without a target, and gives the accesses.

Knows what well-formed descriptions need, and no default sequences. Must share nothing with src/.
"""
import os
import re
import xml.etree.ElementTree as ElementTree

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
LEVELS = ("family", "subFamily", "device", "variant")
TOKEN = re.compile(r"""\s+|//[^\n]*|(?P<number>0[xX][0-9a-fA-F]+|\d+)[uUlL]*|(?P<name>[A-Za-z_]\w*)|"(?P<text>[^"]*)"
                   |(?P<op><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;(),])""", re.X)
BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
ALLOWED = {0: (1,), 1: (3, 4), 2: (2, 3, 4), 3: (1, 2)}  # answers to a Query, by its type


class Ended(Exception):
    """A sequence that ends itself, with all that called it."""


class Failed(Exception):
    """An access that cannot be done."""


# ---- the description


class Device:
    def __init__(self, name):
        self.name, self.sequences, self.variables, self.processors = name, {}, [], []
        self.config = None  # the .dbgconf: other values for the variables
        self.ports = {}  # what an __apid is on a link: an AP's number or base address

    def find(self, name, pname):
        for key in ((name, pname), (name, None)):
            if key in self.sequences:
                return self.sequences[key]
        return None

    def signature(self):
        return tuple(sorted((str(k), ElementTree.tostring(v)) for k, v in self.sequences.items())) + tuple(self.variables)


def truth(text):
    return text in ("1", "true")


def describe(chain, name):
    """What a device is, from the levels above it down to its own."""
    d = Device(name)
    cores, access = {}, {}
    for level in chain:
        for p in level.findall("processor"):
            cores.setdefault(p.get("Pname"), True)
        for e in level.findall("debug"):
            access.setdefault(e.get("Pname"), {}).update(e.attrib)
        for e in level:
            if e.tag in ("accessportV1", "accessportV2"):
                d.ports[int(e.get("__apid"), 0)] = int(e.get("index") or e.get("address"), 0)
        for e in level.findall("debugvars"):
            d.variables.append(e.text or "")
            d.config = os.path.basename((e.get("configfile") or "").replace("\\", "/")) or d.config
        for box in level.findall("sequences"):
            for s in box.findall("sequence"):
                d.sequences[s.get("name"), s.get("Pname")] = s
    for pname in cores:
        a = {**access.get(None, {}), **access.get(pname, {})}
        first = next(iter(d.ports), 0)
        d.processors.append((pname, int(a.get("__dp", "0"), 0), int(a.get("__ap", "0"), 0), int(a.get("__apid", str(first)), 0)))
    return d


def devices(path):
    found = []

    def down(element, chain):
        chain = chain + [element]
        below = [e for e in element if e.tag in LEVELS]
        if element.tag in ("device", "variant") and not any(e.tag == "variant" for e in below):
            found.append(describe(chain, element.get("Dvariant") or element.get("Dname")))
        for e in below:
            down(e, chain)

    for family in ElementTree.parse(path).getroot().iter("family"):
        down(family, [])
    for d in found:
        beside = os.path.join(os.path.dirname(path), d.config or "")
        if d.config and os.path.isfile(beside):
            with open(beside, encoding="utf-8") as f:
                d.variables.append(f.read())
    return found


# ---- the language: text to nested tuples


class Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise SyntaxError(text[at:at + 20])
            at = m.end()
            if m.lastgroup:
                self.tokens.append((m.lastgroup, m[m.lastgroup]))
        self.tokens.append(("end", ""))

    def peek(self, *words):
        return self.tokens[0][1] in words and self.tokens[0][0] in ("op", "name")

    def take(self, word=None):
        kind, value = self.tokens.pop(0)
        if word is not None and value != word:
            raise SyntaxError(f"'{value}' where '{word}' was expected")
        return kind, value

    def statements(self):
        out = []
        while self.tokens[0][0] != "end":
            if self.peek(";"):
                self.take()
                continue
            out.append(self.declaration() if self.peek("__var") else self.expression())
            self.take(";")
        return out

    def declaration(self):
        self.take()
        name, value = self.take()[1], ("number", 0)
        if self.peek("="):
            self.take()
            value = self.expression()
        return "declare", name, value

    def expression(self):
        kind, name = self.tokens[0]
        if kind == "name" and self.tokens[1][0] == "op" and re.fullmatch(r"([-+*/%&|^]|<<|>>)?=", self.tokens[1][1]):
            self.take()
            op = self.take()[1][:-1]
            value = self.expression()
            return "assign", name, ("binary", op, ("name", name), value) if op else value
        return self.conditional()

    def conditional(self):
        test = self.binary(0)
        if not self.peek("?"):
            return test
        self.take()
        yes = self.expression()
        self.take(":")
        return "choose", test, yes, self.expression()

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[0][0] == "op" and self.tokens[0][1] in BINARY[level]:
            op = self.take()[1]
            left = ("binary", op, left, self.binary(level + 1))
        return left

    def unary(self):
        if self.tokens[0][0] == "op" and self.peek("-", "~", "!", "+"):
            return "unary", self.take()[1], self.unary()
        kind, value = self.take()
        if kind == "number":
            return "number", int(value, 16 if value[:2] in ("0x", "0X") else 10)
        if kind == "text":
            return "text", value
        if value == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if not self.peek("("):
            return "name", value
        self.take()
        arguments = []
        while not self.peek(")"):
            arguments.append(self.expression())
            if not self.peek(")"):
                self.take(",")
        self.take()
        return "call", value.lower(), arguments


# ---- the link without a target


class Dry:
    def __init__(self, presets=()):
        self.presets, self.words, self.registers = dict(presets), {}, {}
        self.select = self.ctrl = self.now = 0  # time in microseconds
        self.pins = 0xAF

    def memory(self, ap, address, size, value=None):
        if size == 8 or address % size:
            raise Failed
        word, shift, mask = address & ~3, 8 * (address & 3), (1 << 8 * size) - 1
        old = self.words.get((ap, word), self.presets.get(word, 0))
        self.now += 10
        if value is None:
            if word == 0xE000EDF0:
                old |= 0x10000 | (0x20000 if old & 2 else 0)
            return old >> shift & mask
        new = old & ~(mask << shift) | (value & mask) << shift
        self.words[ap, word] = new & 0xFFFF if word == 0xE000EDF0 else new
        return value & mask

    def access_port(self, ap, register, value=None):
        if register % 4 or register > 0xFFC or (ap % 4096 and register > 0xFC):
            raise Failed
        self.now += 10
        own = register - 0xD00 if register >= 0xD00 else register
        if value is not None:
            if own < 0xF0:
                self.registers[ap, register] = value & M32
            return value & M32
        if own == 0xFC:
            return 0x24770011
        return 2 if own == 0xF8 and ap else self.registers.get((ap, register), 0)

    def debug_port(self, register, value=None):
        if register not in (0, 4, 8, 12):
            raise Failed
        self.now += 10
        if value is not None:
            if register == 8:
                self.select = value & M32
            elif register == 4 and not self.select & 15:
                self.ctrl = value & 0x54000F0F
            return value & M32
        if register == 0:
            return 0x2BA01477
        return self.ctrl | (self.ctrl & 0x54000000) << 1 if register == 4 and not self.select & 15 else 0


# ---- running


class Run:
    """One sequence and those that it calls: `trace` has (op, space, ap, address, size, value), `said` its messages."""

    def __init__(self, device, link, pname, predefined=()):
        self.device, self.link, self.pname = device, link, pname
        self.trace, self.said, self.scopes, self.accesses = [], [], [], 0
        processor = next((p for p in device.processors if p[0] == pname), device.processors[0] if device.processors else (None, 0, 0, 0))
        self.special = {"__dp": processor[1], "__ap": processor[2], "__apid": processor[3], "__errorcontrol": 0, "__Result": 0}
        self.fixed = {"__connection": 1, "__protocol": 0x10002, "__traceout": 0, "__traceclockin": 0, "__traceclockout": 0,
                      "__FlashOp": 0, "__FlashAddr": 0, "__FlashLen": 0, "__FlashArg": 0, "__options": 0, **dict(predefined)}
        self.parsed = {}
        for text in device.variables:
            for kind, name, value in Parser(text).statements():
                if kind == "declare" or name in self.fixed:
                    self.fixed[name] = self.value(value)

    def run(self, name):
        """True when it came to its end."""
        try:
            self.sequence(name)
            return True
        except (Ended, Failed):
            self.special["__Result"] = M64
            return False

    def sequence(self, name):
        element = self.device.find(name, self.pname)
        if element is None:
            raise KeyError(name)
        if truth(element.get("disable")):
            return
        kept, scopes = dict(self.special), self.scopes
        self.scopes = []
        self.children(element)
        self.scopes = scopes
        self.special = {**kept, "__Result": self.special["__Result"]}

    def children(self, element):
        self.scopes.append({})
        for e in element:
            if e.tag == "block":
                if e not in self.parsed:
                    self.parsed[e] = Parser("".join(e.itertext())).statements()
                for statement in self.parsed[e]:
                    self.value(statement)
            elif e.tag == "control":
                self.control(e)
        self.scopes.pop()

    def control(self, e):
        def holds(word):
            key = (e, word)
            if key not in self.parsed:
                self.parsed[key] = Parser(e.get(word) + ";").statements()[0]
            return self.value(self.parsed[key]) != 0

        start, limit, late = self.link.now, int(e.get("timeout", "0"), 0), False
        if e.get("if") is not None and not holds("if"):
            return
        if e.get("while") is None:
            self.children(e)
            return
        while holds("while") and not late:
            self.children(e)
            late = limit and self.link.now - start >= limit

    def scope_of(self, name):
        return next((s for s in reversed(self.scopes) if name in s), None)

    def value(self, node):
        return getattr(self, "do_" + node[0])(*node[1:])

    def do_number(self, n):
        return n

    def do_name(self, name):
        scope = self.scope_of(name)
        return scope[name] if scope is not None else self.special[name] if name in self.special else self.fixed[name]

    def do_declare(self, name, value):
        self.scopes[-1][name] = self.value(value)

    def do_assign(self, name, value):
        v = self.value(value)
        scope = self.scope_of(name)
        (self.special if scope is None else scope)[name] = v
        return v

    def do_choose(self, test, yes, no):
        return self.value(yes if self.value(test) else no)

    def do_unary(self, op, a):
        a = self.value(a)
        return (-a if op == "-" else ~a if op == "~" else a) & M64 if op != "!" else int(a == 0)

    def do_binary(self, op, a, b):
        a = self.value(a)
        if op in ("&&", "||"):
            return int(self.value(b) != 0) if (a != 0) == (op == "&&") else int(op == "||")
        b = self.value(b)
        if op in ("/", "%"):
            if b == 0:
                return self.fail()
            return a // b if op == "/" else a % b
        if op in ("<<", ">>"):
            return 0 if b > 63 else (a << b) & M64 if op == "<<" else a >> b
        simple = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b, "==": a == b, "!=": a != b,
                  "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}
        return int(simple[op]) & M64

    def fail(self):
        if not self.special["__errorcontrol"] & 1:
            raise Failed
        self.special["__Result"] = M64
        return 0

    def access(self, space, ap, address, size, do, value=None):
        self.accesses += 1
        try:
            got = do()
        except Failed:
            return self.fail()
        self.trace.append(("read" if value is None else "write", space, ap, address, size, got))
        return got if value is None else 0

    def do_call(self, name, arguments):
        if name == "sequence":
            self.sequence(arguments[0][1])
            return 0
        if name in ("message", "query", "queryvalue"):
            return self.talk(name, arguments)
        a = [self.value(x) for x in arguments]
        ap, link = self.device.ports[self.special["__apid"]] if self.device.ports else self.special["__ap"], self.link
        m = re.fullmatch(r"(read|write)(8|16|32|64)", name)
        if m:
            size, v = int(m[2]) // 8, a[1] if m[1] == "write" else None
            return self.access("mem", ap, a[0], size, lambda: link.memory(ap, a[0], size, v), v)
        m = re.fullmatch(r"(read|write)(ap|accessap|dp)", name)
        if m:
            v = a[1] if m[1] == "write" else None
            if m[2] == "dp":
                return self.access("dp", 0, a[0], 4, lambda: link.debug_port(a[0], v), v)
            port, register = (a[0] & ~0xFFF, a[0] & 0xFFF) if m[2] == "accessap" else (ap, a[0])
            return self.access("ap", port, register, 4, lambda: link.access_port(port, register, v), v)
        return self.wires(name, a)

    def wires(self, name, a):
        link = self.link
        self.accesses += 1
        link.now += a[0] if name == "dap_delay" else 10
        if name == "dap_swj_pins":
            link.pins = link.pins & ~a[1] | a[0] & a[1] & 0xAF
            for op, v in (("write", a[0]), ("read", link.pins)):
                self.trace.append((op, "pins", 0, a[1] | a[2] << 8, 4, v))
            return link.pins
        if name == "dap_jtag_sequence":
            self.trace += [("write", "jtag", 0, a[1], a[0], a[2] & (1 << a[0]) - 1), ("read", "jtag", 0, a[1], a[0], 0)]
            return 0
        space, size, v = {"dap_delay": ("delay", 4, 0), "dap_writeabort": ("abort", 4, 0), "dap_swj_clock": ("clock", 4, 0),
                          "dap_swj_sequence": ("swj", a[0], 1)}[name]
        self.trace.append(("write", space, 0, 0, size, a[v] & (1 << size) - 1 if v else a[v]))
        return 0

    def talk(self, name, arguments):
        if name == "queryvalue":
            return self.value(arguments[1])
        kind = self.value(arguments[0])
        if name == "query":
            answer = self.value(arguments[2])
            return answer if answer in ALLOWED.get(kind, ()) else 0
        values = [self.value(x) for x in arguments[2:]]
        self.said.append(self.formatted(arguments[1][1], values))
        if kind == 2:
            raise Ended
        return 0

    @staticmethod
    def formatted(text, values):
        def one(m):
            if m[4] == "%":
                return "%"
            v = values.pop(0) & (M64 if m[3] else M32)
            digits = format(v, {"u": "d"}.get(m[4], m[4]))
            return digits.rjust(int(m[2] or 0), "0" if m[1] else " ")
        return re.sub(r"%(0?)(\d*)(ll)?([uxXob%])", one, text)
