#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Linux driver in a virtual machine against the emulated firmware: TAP, one test a scenario and one for the end.

Usage: run.py CORRAL CACHE [--kernel BUILD_TREE | --version V | --second] [--scale X] [--keep] [SCENARIO...]

CORRAL is the program, CACHE a folder for the kernel's image and the modules. --kernel boots a kernel from its build
tree instead of Debian's; --version picks among Debian's, by how its name begins (else the newest). --second takes the
newest of another series and the scenarios that ask most of the kernel. --scale stretches all deadlines. --keep leaves
the folder of each boot (console.log). Without QEMU, headers or image everything is skipped, unless CI is set: there it
fails. A second kernel that the archive does not offer is no failure.
"""
import argparse
import fcntl
import os
import shutil
import signal
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import initramfs  # noqa: E402
import kernel_image  # noqa: E402
import scenarios  # noqa: E402
import rig as rigs  # noqa: E402


def prepare(cache, build_tree=None, version=None):
    """Kernel and guest archive."""
    os.makedirs(cache, exist_ok=True)
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"), ("make", "make"), ("gcc", "gcc")):
        if not shutil.which(program):
            raise kernel_image.Missing(f"{program}: {package}")
    busybox = shutil.which("busybox")
    if not busybox:
        raise kernel_image.Missing("busybox: busybox-static")
    # Two runs may share the folder; one of them builds.
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = kernel_image.built(build_tree) if build_tree else kernel_image.debian(cache, version)
        files = kernel_image.modules(cache, kernel, os.path.join(cache, "modules.log"))
        files["tlog_reader"] = kernel_image.reader(cache)
    with open(busybox, "rb") as f:
        return kernel, initramfs.build(f.read(), files)


class Run:
    def __init__(self, args, tests):
        self.args, self.tests = args, tests
        self.number, self.failed = 0, 0
        self.rig = None
        self.wrong = []

    def point(self, ok, name, words=""):
        self.number += 1
        self.failed += not ok
        print(f"{'ok' if ok else 'not ok'} {self.number} - {name}{words}", flush=True)

    def explain(self, text):
        for line in text.rstrip().splitlines():
            print("#   " + line, flush=True)

    def boot(self, kernel, archive):
        if self.rig is None:
            self.rig = rigs.boot(os.path.abspath(self.args.corral), kernel, archive, self.args.scale, self.args.keep)

    def end_boot(self, healthy):
        """Shut down in order and look at what was said; after a failure only what is plain wrong counts."""
        rig, self.rig = self.rig, None
        if rig is None:
            return
        try:
            if healthy:
                wrong, _ = rig.finish()
            else:
                wrong = ["the kernel: " + line for line in rig.guest.complaints(rig.log_text)] if rig.guest else []
            self.wrong += wrong
        except Exception:  # the verdict on the boot is then this
            if rig.guest and rig.guest.emulator_fault():
                print("# an emulated processor missed a change of code (int3) at the end", flush=True)
            else:
                self.wrong.append(traceback.format_exc())
        finally:
            rig.close()

    def attempt(self, test, kernel, archive):
        """Once more, in a new machine, when QEMU itself let the kernel fall."""
        try:
            return test(self.rig)
        except Exception:
            if not self.rig.guest.emulator_fault():
                raise
            print("# an emulated processor missed a change of code (int3); once more:", flush=True)
            self.explain(self.rig.guest.tail(40))
            self.rig.close()
            self.rig = None
        self.boot(kernel, archive)
        return test(self.rig)

    def scenario(self, test, kernel, archive):
        started = time.monotonic()
        name = test.__name__
        try:
            self.boot(kernel, archive)
            skipped = self.attempt(test, kernel, archive)
            spent = time.monotonic() - started
            self.point(True, name, f" # SKIP {skipped}" if skipped else f" # {spent:.1f} s")
        except Exception:
            self.point(False, name)
            self.explain(traceback.format_exc())
            if self.rig and self.rig.guest and self.rig.guest.process.poll() is None:
                try:
                    self.explain(self.rig.guest.run("dmesg | tail -20"))
                    self.explain(str(self.rig.counters()))
                    self.explain(self.rig.emulator.ask("status"))
                except Exception as again:
                    self.explain(str(again))
            self.end_boot(False)

    def run(self, kernel, archive):
        print(f"1..{len(self.tests) + 1}", flush=True)
        try:
            for test in self.tests:
                self.scenario(test, kernel, archive)
            self.end_boot(True)
        finally:
            if self.rig:
                self.rig.close()
        self.point(not self.wrong, "nothing_was_wrong_besides")
        for text in self.wrong[:40]:
            self.explain(text)
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corral")
    parser.add_argument("cache")
    parser.add_argument("--kernel")
    parser.add_argument("--version")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--scale", type=float, default=4.0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("scenarios", nargs="*")
    args = parser.parse_intermixed_args()
    # The kernel's build looks for the modules from a folder of its own.
    args.cache = os.path.abspath(args.cache)
    args.kernel = args.kernel and os.path.abspath(args.kernel)
    tests = scenarios.for_each_kernel() if args.second else scenarios.all_scenarios()
    unknown = set(args.scenarios) - {test.__name__ for test in tests}
    if unknown:
        parser.error("there is no scenario " + " ".join(sorted(unknown)))
    if args.scenarios:
        tests = [test for test in tests if test.__name__ in args.scenarios]
    # Meson ends a test that takes too long with SIGTERM: the machine and the files have to go all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        kernel, archive = prepare(args.cache, args.kernel, kernel_image.second() if args.second else args.version)
    except kernel_image.OnlyOne as why:
        print(f"1..0 # SKIP {why}")
        return 0
    except kernel_image.DoesNotBuild as why:
        print("# " + "\n# ".join(str(why).splitlines()) + "\nBail out! the modules do not build")
        return 1
    except kernel_image.Missing as what:
        if os.environ.get("CI") in ("true", "1"):
            print(f"1..1\nnot ok 1 - kernel\n# missing: {what}")
            return 1
        print(f"1..0 # SKIP missing: {what}")
        return 0
    print(f"# Linux {kernel.version}", flush=True)
    return Run(args, tests).run(kernel, archive)


if __name__ == "__main__":
    sys.exit(main())
