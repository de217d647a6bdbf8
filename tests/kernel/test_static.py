#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modules through sparse, its findings as errors, and with W=1: no warning.

Usage: test_static.py CORRAL CACHE
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import kernel_image  # noqa: E402

HARMLESS = ("Skipping BTF generation", "the compiler differs from the one used to build the kernel")


def check(cache):
    if not shutil.which("sparse"):
        raise kernel_image.Missing("sparse")
    version, build_tree = kernel_image.headers()[0]
    tree = kernel_image.copy_sources(os.path.join(cache, "static-" + version))
    done = subprocess.run(["make", "-C", os.path.join(tree, "kernel"), "check", "KDIR=" + build_tree],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False)
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if not any(h in line for h in HARMLESS)]
    checked = sum("CHECK" in line for line in lines)
    warned = [line for line in lines if "warning:" in line or "error:" in line.lower()]
    print("1..2")
    good = done.returncode == 0 and not warned
    print(f"{'ok' if good else 'not ok'} 1 - no_warning")
    # as many files as there are, or the checker was not run at all
    sources = len([name for name in os.listdir(os.path.join(tree, "kernel")) if name.endswith(".c") and
                   not name.endswith(".mod.c")])
    print(f"{'ok' if checked >= sources else 'not ok'} 2 - each_file_was_checked")
    if not good or checked < sources:
        print(f"# {checked} of {sources} files checked\n# " + "\n# ".join(warned or lines[-20:]))
    return 0 if good and checked >= sources else 1


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    try:
        return check(sys.argv[2])
    except kernel_image.Missing as what:
        if os.environ.get("CI") in ("true", "1"):
            print(f"1..1\nnot ok 1 - static\n# missing: {what}")
            return 1
        print(f"1..0 # SKIP missing: {what}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
