# SPDX-License-Identifier: Apache-2.0
"""One boot: the emulator, the guest, and what scenarios do with them again and again."""
import re
import shutil
import tempfile
import time

from emulator import Emulator
from guest import DidNotBoot, Guest

DEVICE = "/sys/class/tlog/tlog0"
# The states of uapi/linux/tlog.h.
OFF, ACTIVE, REFUSED, BAD_MAGIC, DEAD = range(5)
CALM = ("generate 0 0", "flood off", "silence off", "miss-irq 0", "refuse 0 0", "mute 0", "late 0 0", "level 3",
        "length 0", "period 20", "version 0", "compatible off", "restart")


def boot(*args):
    """A Rig. A kernel that does not come up on a busy machine says nothing about the driver, which is not there yet."""
    for left in (2, 1, 0):
        try:
            return Rig(*args)
        except DidNotBoot as why:
            if not left:
                raise
            print("# the machine did not come up; once more:\n#   " + "\n#   ".join(str(why).splitlines()[-40:]), flush=True)
    return None


class Rig:
    def __init__(self, corral, kernel, archive, scale=1.0, keep=False):
        self.keep = keep
        self.folder = tempfile.mkdtemp(prefix="corral-kernel-")
        self.emulator = self.guest = None
        self.log_text = ""
        self.expected_remarks = set()
        self.batches_before = 0
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
        # By default an answer may take its time: how busy this machine is must not look like a fault of the firmware.
        patience = words.pop("answer_ms", 20000)
        self.mark()
        self.guest("insmod /tlog_core.ko " + " ".join(f"{k}={v}" for k, v in words.items()))
        self.guest(f"insmod /tlog_pci.ko answer_ms={patience}")
        if wait is not None:
            self.wait_state(wait)

    def fresh(self, **parameters):
        self.calm()
        self.load(**parameters)

    def set(self, module="tlog_core", **parameters):
        for name, value in parameters.items():
            self.guest(f"echo {value} > /sys/module/{module}/parameters/{name}")

    def mark(self):
        """No device is set up: from here on the driver that comes will count batches."""
        self.batches_before = self.emulator.status()["batches"]

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

    def drained(self, timeout=60):
        """Everything that was logged has been handed over and taken; the driver may still be busy with its copy."""
        return self.emulator.wait("all taken", lambda s: s["left"] == 0 and s["staged"] == 0 and s["owner"] == 0,
                                  timeout * self.guest.scale)

    def settled(self, uncounted=0):
        """The driver has done all there is to do with all of it: it counts a batch behind its last record.

        `uncounted` batches are known to be none for it (their magic was wrong)."""
        self.batches_before += uncounted
        status = self.drained()
        self.wait_counter("batches", status["batches"] - self.batches_before, 30)
        return status

    def flows(self, count=20, settled=True):
        """Records still get through, each of them. settled=False: whether each batch before was one is not known."""
        if settled:
            self.settled()
        before = self.counter("records")
        logged = self.emulator.status()["logged"]
        self.emulator(f"generate {count}")
        logged = self.drained()["logged"] - logged
        self.wait_counter("records", before + logged, 30)
        if settled:
            self.settled()

    def start_reader(self, name, options="", device="/dev/tlog0"):
        self.guest(f"rm -f /tmp/{name}; ( /tlog_reader {options} {device} >/tmp/{name} 2>&1 & echo $! >/tmp/{name}.pid )")
        self.guest.wait("the reader starts", f"grep -q ready /tmp/{name}", 30)

    def reader_is_at(self, name, count):
        """A reader with -e has read so many records of the stream."""
        self.guest.wait(f"the reader is at {count}", f"grep -qx 'at {count}' /tmp/{name}", 60)

    def end_reader(self, name, timeout=60):
        """The counts of a reader that ends by itself. It is gone then: while it has its file open no module unloads."""
        gone = f"! grep -qs '^State:.[^Z]' /proc/$(cat /tmp/{name}.pid)/status"
        try:
            text = self.guest.wait("the reader ends", f"{gone} && grep frames= /tmp/{name}", timeout)
        except AssertionError as error:
            tail = self.guest.run(f"kill $(cat /tmp/{name}.pid); sleep 1; tail -n 3 /tmp/{name}")
            raise AssertionError(f"{error}\nthe reader, made to end: {tail}") from None
        return {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)", text)}

    def stop_reader(self, name):
        """Let a reader read what is there, and no more; its counts."""
        self.guest(f"kill $(cat /tmp/{name}.pid)")
        return self.end_reader(name)

    def signal_reader(self, name, signal, state):
        """Send a signal and wait until the reader is in a state of proc(5)."""
        self.guest(f"kill -{signal} $(cat /tmp/{name}.pid)")
        self.guest.wait(f"the reader after {signal}", f"grep -q '^State:.{state}' /proc/$(cat /tmp/{name}.pid)/status")

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
