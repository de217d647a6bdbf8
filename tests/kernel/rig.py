# SPDX-License-Identifier: Apache-2.0
"""One boot: the emulator, the guest, and what scenarios do with them again and again."""
import re
import shutil
import tempfile
import time

from emulator import Emulator
from guest import Guest

DEVICE = "/sys/class/tlog/tlog0"
PARAMETERS = "/sys/module/tlog_core/parameters"
# The states of uapi/linux/tlog.h.
OFF, ACTIVE, REFUSED, BAD_MAGIC, DEAD = range(5)
CALM = ("generate 0 0", "flood off", "silence off", "miss-irq 0", "refuse 0 0", "mute 0", "late 0 0", "level 3",
        "length 0", "period 20", "version 0", "compatible off", "restart")


class Rig:
    def __init__(self, corral, kernel, archive, scale=1.0, keep=False):
        self.keep = keep
        self.folder = tempfile.mkdtemp(prefix="corral-kernel-")
        self.emulator = self.guest = None
        self.log_text = ""
        self.expected_remarks = set()
        try:
            self.emulator = Emulator(corral, self.folder)
            self.guest = Guest(self.folder, kernel.image, archive, self.emulator, scale)
        except BaseException:
            self.close()
            raise

    # ---- the modules ----

    def loaded(self):
        return self.guest.run("lsmod").split()

    def unload(self):
        for module in ("tlog_pci", "tlog_core"):
            if self.guest.run(f"grep -q '^{module} ' /proc/modules").code == 0:
                self.guest("rmmod " + module)

    def calm(self):
        """No module, and a firmware that has just started and behaves."""
        self.unload()
        self.emulator(*CALM)
        self.keep_log()

    def load(self, wait=ACTIVE, **parameters):
        """Both modules; the device has to reach a state (None = whatever it does)."""
        words = {"iommu": "off", "poll_ms": 200, **parameters}
        self.guest("insmod /tlog_core.ko " + " ".join(f"{k}={v}" for k, v in words.items()))
        self.guest("insmod /tlog_pci.ko")
        if wait is not None:
            self.wait_state(wait)

    def fresh(self, **parameters):
        self.calm()
        self.load(**parameters)

    def set(self, **parameters):
        for name, value in parameters.items():
            self.guest(f"echo {value} > {PARAMETERS}/{name}")

    # ---- what it says ----

    def counter(self, name):
        return int(self.guest(f"cat {DEVICE}/{name}"))

    def counters(self):
        text = self.guest(f"cd {DEVICE} && grep -H -x -E '[0-9]+' $(ls -p | grep -v / | grep -v dev | grep -v uevent); cd /")
        return {name: int(value) for name, value in re.findall(r"^(\w+):(\d+)$", text, re.M)}

    def wait_state(self, state, timeout=10):
        self.guest.wait(f"state {state}", f"grep -qx {state} {DEVICE}/state", timeout)

    def wait_counter(self, name, least, timeout=10):
        self.guest.wait(f"{name} >= {least}", f"[ $(cat {DEVICE}/{name}) -ge {least} ]", timeout)

    def keep_log(self):
        """The kernel log since the last call; kept for the verdict as well."""
        text = self.guest.log()
        self.log_text += text + "\n"
        return text

    # ---- records ----

    def drained(self, timeout=30):
        """Everything that was logged has been handed over and taken."""
        return self.emulator.wait("all taken", lambda s: s["left"] == 0 and s["staged"] == 0 and s["owner"] == 0,
                                  timeout * self.guest.scale)

    def flows(self, count=20):
        """Records still get through, each of them."""
        before = self.counter("records")
        logged = self.emulator.status()["logged"]
        self.emulator(f"generate {count}")
        self.drained()
        logged = self.emulator.status()["logged"] - logged
        self.guest.wait(f"{count} records", f"[ $(cat {DEVICE}/records) -ge {before + logged} ]")

    def start_reader(self, name, options="", device="/dev/tlog0"):
        self.guest(f"( /tlog_reader {options} {device} >/tmp/{name} 2>&1 & echo $! >/tmp/{name}.pid )")
        self.guest.wait("the reader starts", f"grep -q ready /tmp/{name}")

    def end_reader(self, name, timeout=60):
        """The reader's counts once it has ended."""
        text = self.guest.wait("the reader ends", f"grep frames= /tmp/{name}", timeout)
        return {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)", text)}

    # ---- the end ----

    def finish(self):
        """Power off; everything that must not have happened, as a list of lines."""
        self.unload()
        self.scan_for_leaks()
        self.keep_log()
        self.guest.power_off()
        report = self.emulator.report()
        wrong = ["the emulator: " + text for text in report["violations"]]
        wrong += ["the guest: " + text for text in report["remarks"] if text not in self.expected_remarks]
        wrong += ["the kernel: " + line for line in self.guest.complaints(self.log_text)]
        return wrong, report

    def scan_for_leaks(self):
        """kmemleak, where the kernel has it: an object must look lost in two scans, and be older than 5 s."""
        leaks = "/sys/kernel/debug/kmemleak"
        if self.guest.run(f"[ -e {leaks} ]").code != 0:
            return
        for _ in range(2):
            sleep(6)
            self.guest(f"echo scan > {leaks}", 60)
        self.log_text += self.guest(f"cat {leaks}", 60) + "\n"

    def close(self):
        for part in (self.guest, self.emulator):
            if part:
                part.kill()
        if self.keep:
            print(f"# kept: {self.folder}", flush=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def sleep(seconds):
    """A pause that gives something wrong the time to happen; never a wait for something right."""
    time.sleep(seconds)
