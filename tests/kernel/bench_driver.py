#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long from the interrupt until /dev/tlog0 is readable, in the virtual machine: the kernel's own trace tells.

Usage: bench_driver.py CORRAL CACHE

Both ends are stamped by the guest's kernel: the entry of the interrupt handler, and a mark that the reader writes
when poll() returns. Under TCG this is ten to a hundred times what hardware does. Records come one a batch.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import kernel_image  # noqa: E402
import run  # noqa: E402
import rig as rigs  # noqa: E402

COUNT = 3000
TRACING = "/sys/kernel/tracing"
EVENT = re.compile(r" (\d+\.\d+): (irq_handler_entry|tracing_mark_write)")


def measure(rig):
    rig.fresh(level=1)
    rig.guest(f"cd {TRACING} && echo 0 > tracing_on && echo mono > trace_clock && echo 4096 > buffer_size_kb && "
              "echo 'name == \"tlog_pci\"' > events/irq/irq_handler_entry/filter && "
              "echo 1 > events/irq/irq_handler_entry/enable && echo 1 > tracing_on; cd /")
    rig.emulator("period 1")
    rig.start_reader("bench", f"-d -m -n {COUNT} -t 5000")
    rig.emulator(f"generate {COUNT} 400")
    rig.end_reader("bench", 60)
    rig.guest(f"echo 0 > {TRACING}/tracing_on")
    text = rig.guest(f"grep -E 'irq_handler_entry|mark_write' {TRACING}/trace", 120)
    taken, since = [], None
    for stamp, kind in EVENT.findall(text):
        if kind == "irq_handler_entry":
            since = float(stamp) if since is None else since
        elif since is not None:
            taken.append((float(stamp) - since) * 1e6)
            since = None
    return sorted(taken)


def main():
    try:
        kernel, archive = run.prepare(sys.argv[2])
    except kernel_image.Missing as what:
        print(f"skipped, missing: {what}")
        return 77
    rig = rigs.boot(os.path.abspath(sys.argv[1]), kernel, archive)
    try:
        taken = measure(rig)
    finally:
        rig.close()
    if len(taken) < COUNT // 4:
        print(f"only {len(taken)} interrupts could be followed")
        return 1
    print(f"interrupt to /dev/tlog0 readable (QEMU, TCG, {kernel.version}), {len(taken)} times: "
          f"median {taken[len(taken) // 2]:.0f} us, p99 {taken[len(taken) * 99 // 100]:.0f} us, "
          f"worst {taken[-1]:.0f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
