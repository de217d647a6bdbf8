#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The modules through sparse, its findings as errors, and with W=1: no warning. For each series of kernels there is.

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


def check(cache, version, build_tree):
    """What make said, whether it was satisfied, and how many files were to be checked and were."""
    tree = kernel_image.copy_sources(os.path.join(cache, "static-" + version))
    done = subprocess.run(["make", "-C", os.path.join(tree, "kernel"), "check", "KDIR=" + build_tree],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False)
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if not any(h in line for h in HARMLESS)]
    checked = sum("CHECK" in line for line in lines)
    warned = [line for line in lines if "warning:" in line or "error:" in line.lower()]
    # as many files as there are, or the checker was not run at all
    sources = len([name for name in os.listdir(os.path.join(tree, "kernel")) if name.endswith(".c") and
                   not name.endswith(".mod.c")])
    return warned or lines[-20:], done.returncode == 0 and not warned, sources, checked


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    try:
        if not shutil.which("sparse"):
            raise kernel_image.Missing("sparse")
        kernels = kernel_image.each_series()
    except kernel_image.Missing as what:
        if os.environ.get("CI") in ("true", "1"):
            print(f"1..1\nnot ok 1 - static\n# missing: {what}")
            return 1
        print(f"1..0 # SKIP missing: {what}")
        return 0
    print(f"1..{2 * len(kernels)}", flush=True)
    failed = 0
    for number, (version, build_tree) in enumerate(kernels):
        lines, good, sources, checked = check(sys.argv[2], version, build_tree)
        print(f"{'ok' if good else 'not ok'} {2 * number + 1} - no_warning_on_{version}")
        print(f"{'ok' if checked >= sources else 'not ok'} {2 * number + 2} - each_file_was_checked", flush=True)
        if not good or checked < sources:
            failed = 1
            print(f"# {checked} of {sources} files checked\n# " + "\n# ".join(lines))
    return failed


if __name__ == "__main__":
    sys.exit(main())
