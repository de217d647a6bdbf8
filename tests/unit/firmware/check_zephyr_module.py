#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Zephyr module's files agree with one another: usage check_zephyr_module.py TARGET-DIRECTORY.

What module.yml and CMakeLists.txt name exists; every option that is used is defined in Kconfig, with the
default that docs/target.md gives where that matters, and every one that is defined is used.
"""
import os
import re
import sys

ZEPHYRS_OWN = {"LOG_MODE_DEFERRED", "LOG_OUTPUT"}


def main():
    target = sys.argv[1]
    here = os.path.join(target, "zephyr")

    def read(name):
        with open(os.path.join(here, name), encoding="utf-8") as f:
            return f.read()

    bad = []
    module = dict(re.findall(r"^\s*(name|cmake|kconfig): *(\S+)$", read("module.yml"), re.M))
    if module.get("name") != "corral_tlog":
        bad.append("module.yml: no name")
    for key, name in (("cmake", "CMakeLists.txt"), ("kconfig", "")):
        path = os.path.join(target, module.get(key, "?"), name)
        if not os.path.isfile(path.rstrip("/")):
            bad.append(f"module.yml: {key}: there is no {path}")
    cmake = read("CMakeLists.txt")
    for name in re.findall(r"[\w${}./]+\.c\b", cmake):
        path = os.path.join(here, name.replace("${CORRAL_TARGET}", ".."))
        if not os.path.isfile(path):
            bad.append(f"CMakeLists.txt: there is no {path}")
    kconfig = read("Kconfig")
    defined = set(re.findall(r"^config (\w+)", kconfig, re.M))
    used = set(re.findall(r"\bCONFIG_(\w+)", cmake + read("zephyr_log_backend.c")))
    for name in sorted(used - defined):
        bad.append(f"{name} is used and not defined")
    for name in sorted(defined - used):
        bad.append(f"{name} is defined and not used")
    for name in re.findall(r"^\s*(?:depends on|select|if) (\w+)", kconfig, re.M):
        if name not in defined | ZEPHYRS_OWN:
            bad.append(f"Kconfig: {name} is neither ours nor Zephyr's")
    size = re.search(r"config TT_PCIE_LOG_BACKEND_BUFFER_SIZE\n(?:\t.*\n)*?\tdefault (\d+)", kconfig)
    if not size or size.group(1) != "4096":
        bad.append("TT_PCIE_LOG_BACKEND_BUFFER_SIZE: the default is 4096")
    print("\n".join(bad) or "the module's files agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
