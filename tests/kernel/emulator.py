# SPDX-License-Identifier: Apache-2.0
"""The emulated device: corral sim --tlog-device, driven through its control socket (docs/tlog-device.md)."""
import json
import os
import socket
import subprocess
import time


class Emulator:
    def __init__(self, corral, folder, *options):
        self.socket = os.path.join(folder, "iv.sock")
        self.ram = os.path.join(folder, "guest.ram")
        control = os.path.join(folder, "emulator.sock")
        self.errors = open(os.path.join(folder, "emulator.err"), "w+b")
        self.process = subprocess.Popen(
            [corral, "--json", "--quiet", "sim", "--tlog-device", self.socket, "--ram", self.ram, "--control", control,
             *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors)
        self.link = None
        try:
            self.link = self.connect(control)
            self.file = self.link.makefile("rw", encoding="utf-8", newline="\n")
        except BaseException:
            self.kill()
            raise

    def connect(self, path):
        end = time.monotonic() + 60
        while True:
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(120)
            try:
                link.connect(path)
                return link
            except OSError:
                link.close()
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("the emulator did not start: " + self.words()) from None
                time.sleep(0.02)

    def words(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-3000:]

    def ask(self, line):
        self.file.write(line + "\n")
        self.file.flush()
        reply = self.file.readline().strip()
        if not reply:
            raise RuntimeError(f"the emulator ended at '{line}': " + self.words())
        return reply

    def __call__(self, *lines):
        """Commands that must be accepted."""
        for line in lines:
            reply = self.ask(line)
            if reply != "ok":
                raise RuntimeError(f"emulator: '{line}': {reply}")

    def status(self):
        return json.loads(self.ask("status"))

    def wait(self, what, until, timeout=120):
        """Wait until until(status) holds and give that status."""
        end = time.monotonic() + timeout
        while True:
            status = self.status()
            if until(status):
                return status
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {timeout} s; emulator: {status}")
            time.sleep(0.02)

    def report(self):
        """The report at the end. The guest is gone by now, or it is told to quit."""
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.ask("quit")
        out, _ = self.process.communicate(timeout=60)
        lines = out.decode().splitlines()
        if not lines:
            raise RuntimeError(f"the emulator gave no report, exit {self.process.returncode}: " + self.words())
        return json.loads(lines[-1])["tlog_device"]

    def kill(self):
        if self.link:
            self.link.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
