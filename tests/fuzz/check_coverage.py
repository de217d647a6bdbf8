# SPDX-License-Identifier: Apache-2.0
"""What the corpora of the two oldest fuzz targets still reach: 90 % of the lines of each file they are about.

A corpus that no longer gets into its decoder replays as quietly as one that does; this notices. Prints TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WANTED = 90.0
# Fuzz target: the files it is about, and what else they need.
TARGETS = {
    "tlog_decode": (["tlog/tlog_decode.c"], ["base/text.c"]),
    "packet": (["prof/packet.c", "prof/packet_counters.c", "prof/packet_legacy.c", "prof/packet_v17.c",
                "prof/packet_v21.c", "prof/packet_write.c"], []),
}


def find(name):
    """The tool of that name that belongs to clang: the two must be of one version."""
    version = re.search(r"version (\d+)", run("clang", "--version")).group(1)
    return shutil.which(f"{name}-{version}") or shutil.which(name)


def run(*command, **kw):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **kw)
    if p.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {p.returncode}: {p.stderr.decode(errors='replace')[-2000:]}")
    return p.stdout.decode()


def coverage(target, scratch):
    """The share of lines, in percent, of each file of a target; by its path below src/."""
    about, others = TARGETS[target]
    exe, raw, merged = (os.path.join(scratch, target + end) for end in ("", ".raw", ".profdata"))
    fuzz = os.path.join(ROOT, "tests", "fuzz")
    sources = [os.path.join(fuzz, f"fuzz_{target}.c"), os.path.join(fuzz, "fuzz_replay.c")]
    sources += [os.path.join(ROOT, "src", s) for s in about + others]
    run("clang", "-std=c11", "-D_GNU_SOURCE", "-g", "-I", os.path.join(ROOT, "src"), "-I", ROOT,
        "-fprofile-instr-generate", "-fcoverage-mapping", *sources, "-o", exe)
    run(exe, os.path.join(fuzz, "corpus", target), env={**os.environ, "LLVM_PROFILE_FILE": raw})
    run(find("llvm-profdata"), "merge", raw, "-o", merged)
    report = json.loads(run(find("llvm-cov"), "export", "-summary-only", "-instr-profile=" + merged, exe))
    files = {os.path.relpath(f["filename"], os.path.join(ROOT, "src")): f["summary"]["lines"]["percent"]
             for f in report["data"][0]["files"]}
    return {name: files[name] for name in about}


def main():
    missing = [p for p in ("clang", "llvm-profdata", "llvm-cov") if not shutil.which(p)]
    if missing:
        print(f"1..0 # SKIP not installed: {', '.join(missing)}")
        return 0
    failed = 0
    print(f"1..{len(TARGETS)}", flush=True)
    for number, target in enumerate(TARGETS, 1):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                shares = coverage(target, scratch)
                low = [name for name, share in shares.items() if share < WANTED]
                notes = [f"{name}: {share:.1f} % of the lines" for name, share in shares.items()]
            except (RuntimeError, KeyError, OSError, subprocess.TimeoutExpired) as why:
                low, notes = [target], str(why).splitlines()
        failed += bool(low)
        print(f"{'not ok' if low else 'ok'} {number} - the corpus of {target} reaches {WANTED:g} % of its lines")
        for note in notes:
            print("# " + note)
    return 1 if failed else 0


sys.exit(main())
