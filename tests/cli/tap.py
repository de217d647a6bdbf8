# SPDX-License-Identifier: Apache-2.0
"""Tests of the command line as a user has it: run the program, look at exit code, stdout and stderr.

A test file defines functions test_*(corral) and ends with tap.main(globals()). One TAP line a test. A test that
needs something that is not installed raises tap.Skip with the reason.
"""
import json
import os
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")


class Skip(Exception):
    pass


class Result:
    def __init__(self, p):
        self.code, self.out, self.err = p.returncode, p.stdout.decode("utf-8"), p.stderr.decode("utf-8", "replace")

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


class Corral:
    """The program under test. Runs in a scratch folder of its own that goes when the test is over."""

    def __init__(self, exe, cwd):
        self.exe, self.cwd = os.path.abspath(exe), cwd

    def __call__(self, *args, timeout=240, **kw):
        p = subprocess.run([self.exe, *map(str, args)], cwd=self.cwd, stdin=subprocess.DEVNULL, timeout=timeout,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
        return Result(p)

    def start(self, *args, **kw):
        return subprocess.Popen([self.exe, *map(str, args)], cwd=self.cwd, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)

    def path(self, name):
        return os.path.join(self.cwd, name)


def main(names):
    exe = sys.argv[1]
    tests = [(n, f) for n, f in names.items() if n.startswith("test_") and callable(f)]
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for i, (name, f) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                f(Corral(exe, scratch))
                print(f"ok {i} - {name}", flush=True)
            except Skip as why:
                print(f"ok {i} - {name} # SKIP {why}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok {i} - {name}", flush=True)
                for line in traceback.format_exc().splitlines():
                    print("# " + line, flush=True)
    sys.exit(1 if failed else 0)
