#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold `corral decode` against the shared reference vectors; skip where they are not there.

usage: check_vectors.py SHARED_FOLDER CORRAL tlog|prof
"""
import os
import subprocess
import sys

SKIP = 77  # what meson takes for "skipped"


def main():
    shared, corral, kind = sys.argv[1:4]
    check = os.path.join(shared, "vectors", "check.py")
    vectors = os.path.join(shared, "vectors", kind)
    if not os.path.isfile(check) or not os.path.isdir(vectors):
        print(f"the shared {kind} vectors are not here: skipped")
        return SKIP
    done = subprocess.run([sys.executable, check, corral, kind, vectors], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
