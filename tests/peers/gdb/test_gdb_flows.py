# SPDX-License-Identifier: Apache-2.0
"""Every block of docs/multicore.md is run as a reader runs it: corral in a terminal, gdb's command line in others.

The page is the test: a section with an "sh" block is a flow. Of its blocks
- "sh": each line starts a program; "# terminal N: NAME" names it. A line "corral ... status" is run to its end;
- "yaml": the corral.yml of the folder;
- "gdb": what is typed. "# NAME" says into which gdb, "# Ctrl-C" is that key, and each line "#> TEXT" is output that
  must come before the next command is typed, "..." whatever;
- "text": lines of the last status.
Ports and paths are the only things that differ: the page's are replaced by free ones, and by this build's.

Usage: test_gdb_flows.py CORRAL CORE0.ELF CORE1.ELF
"""
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time

from gdb_client import PATIENCE, Raw, gdb_program, tap

PAGE = os.path.join(tap.ROOT, "docs", "multicore.md")
ELF = [os.path.abspath(p) for p in sys.argv[2:4]]
PROMPT = "(gdb) "


def pattern_of(text):
    """What the page says of output, where "..." is whatever."""
    return re.escape(text).replace(r"\.\.\.", ".*")


class Program:
    """A program in a terminal: what is typed into it, and what it has said."""

    def __init__(self, words, cwd):
        self.p = subprocess.Popen(words, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, bufsize=0)
        self.said = ""

    def more(self, end, what):
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
            raise AssertionError(f"{what!r} does not come; there is only:\n{self.said}")
        text = os.read(self.p.stdout.fileno(), 65536).decode("utf-8", "replace")
        assert text, f"it has ended, and {what!r} did not come:\n{self.said}"
        self.said += text

    def expect(self, pattern):
        end = time.monotonic() + PATIENCE
        while True:
            m = re.search(pattern, self.said, re.M)
            if m:
                return m
            self.more(end, pattern)

    def look(self):
        if select.select([self.p.stdout], [], [], 0)[0]:
            self.more(time.monotonic() + PATIENCE, "anything")

    def ready(self):
        """gdb waits for a command."""
        end = time.monotonic() + PATIENCE
        while not self.said.endswith(PROMPT):
            self.more(end, PROMPT)

    def type(self, line):
        self.ready()
        self.said = ""
        self.p.stdin.write(line.encode() + b"\n")

    def end(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.p.stdin.close()
        self.p.stdout.close()


class Flow:
    def __init__(self, corral):
        self.corral, self.programs, self.ports, self.core_ports, self.status = corral, {}, {}, [], None

    def start(self, line):
        line, _, name = line.partition("# ")
        name = name.split(": ")[-1].strip()
        words = [w.replace("build/firmware/core0.elf", ELF[0]).replace("build/firmware/core1.elf", ELF[1])
                 for w in shlex.split(line)]
        words = [re.sub(r"(?<=:)\d{4}\b", lambda m: str(self.ports[m[0]]), w) for w in words]
        if words[0] == "gdb-multiarch" and "-batch" in words:
            words[1:1] = ["-nx"]
            subprocess.run([gdb_program(), *words[1:]], check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
            return
        if words[0] == "gdb-multiarch":
            # What depends on there being a terminal, and a user's own settings
            self.programs[name] = Program([gdb_program(), "-nx", "-q", "-ex", "set pagination off", *words[1:]], self.corral.cwd)
            self.programs[name].ready()
            return
        assert words[0] == "build/corral", line
        words[0] = self.corral.exe
        if "status" in words:
            r = self.corral(*words[1:])
            assert r.code == 0, r.err
            self.status = r.out
            return
        if "sim" in words and "--jtag" in words:
            at = words.index("--jtag") + 1
            asked, words[at] = words[at], "0"
            p = self.programs[name] = Program(words, self.corral.cwd)
            self.ports[asked] = p.expect(r"listens on 127\.0\.0\.1:(\d+)$")[1]
            return
        assert "serve" in words and "--gdb-port" not in words, line
        words[words.index("serve") + 1:words.index("serve") + 1] = ["--gdb-port", "0"]
        p = self.programs[name] = Program(words, self.corral.cwd)
        self.core_ports = [p.expect(rf"gdb for core{i} on 127\.0\.0\.1:(\d+)$")[1] for i in range(2)]
        self.ports.update({"3333": self.core_ports[0], "3334": self.core_ports[1]})

    def let_go(self, name):
        """Somebody who types has seen that it runs, or that it has stopped again, before he turns to another window."""
        gdb = self.programs[name]
        gdb.expect("Continuing")
        eye = Raw(int(self.core_ports[0]))
        end = time.monotonic() + PATIENCE
        while not gdb.said.endswith(PROMPT) and "core is running" not in eye.monitor("status")[1]:
            assert time.monotonic() < end, eye.monitor("status")
            gdb.look()
        eye.close()

    def gdb(self, block):
        name, typed = None, ""
        for line in block.splitlines():
            program = self.programs.get(name)
            if m := re.fullmatch(r"# (core [01]|corral|board)", line):
                if typed == "continue":
                    self.let_go(name)
                name, typed = m[1], ""
            elif line == "# Ctrl-C":
                if typed == "continue":
                    self.let_go(name)
                program.p.send_signal(signal.SIGINT)
            elif line.startswith("#> "):
                program.expect(pattern_of(line[3:]))
            elif line:
                assert not line.startswith("#"), line
                program.type(line)
                typed = line
        if typed == "continue":
            self.let_go(name)

    def run(self, blocks):
        for kind, text in blocks:
            if kind == "yaml":
                with open(self.corral.path("corral.yml"), "w", encoding="ascii") as f:
                    f.write(text)
            elif kind == "sh":
                for line in text.splitlines():
                    self.start(line)
            elif kind == "gdb":
                self.gdb(text)
            elif kind == "text":
                for line in text.splitlines():
                    assert re.search(pattern_of(line), self.status), self.status
            else:
                raise AssertionError(f"a block of an unknown kind: {kind}")
        for p in self.programs.values():
            if p.p.poll() is None and p.said.endswith(PROMPT):
                p.type("quit")

    def end(self):
        for p in self.programs.values():
            p.end()


def flows():
    with open(PAGE, encoding="utf-8") as f:
        sections = re.split(r"^## ", f.read(), flags=re.M)[1:]
    for section in sections:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", section, re.S | re.M)
        if any(kind == "sh" for kind, _ in blocks):
            yield section.split("\n", 1)[0], blocks


def test_of(blocks):
    def test(corral):
        gdb_program()
        flow = Flow(corral)
        try:
            flow.run(blocks)
        finally:
            flow.end()
    return test


def test_the_page_has_the_flows_that_users_ask_for(_):
    titles = " / ".join(title.lower() for title, _ in flows())
    for word in ("load both", "main on both", "reset together", "held in reset", "running target", "waiting on it", "leave"):
        assert word in titles, f"no flow is about {word!r}: {titles}"


if __name__ == "__main__":
    tap.main({"test_the_page_has_the_flows_that_users_ask_for": test_the_page_has_the_flows_that_users_ask_for,
              **{"test_" + re.sub(r"\W+", "_", title.lower()): test_of(blocks) for title, blocks in flows()}})
