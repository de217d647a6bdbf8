# SPDX-License-Identifier: Apache-2.0
"""Run `corral decode prof` over the shared reference vectors with their own checker.

usage: run_prof_vectors.py CORRAL VECTORS
Exit 77 (skipped, to Meson) with a message when the vectors are not on this machine.
"""
import os
import subprocess
import sys


def main():
    corral, vectors = sys.argv[1:3]
    checker = os.path.join(vectors, "check.py")
    folder = os.path.join(vectors, "prof")
    if not os.path.isfile(checker) or not os.path.isdir(folder):
        print("skipped: the reference vectors are not beside the source tree")
        return 77
    return subprocess.run([sys.executable, checker, corral, "prof", folder], timeout=300).returncode


sys.exit(main())
