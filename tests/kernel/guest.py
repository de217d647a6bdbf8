# SPDX-License-Identifier: Apache-2.0
"""The virtual machine: QEMU, its console in a file, and a shell on its second serial port."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

MEMORY_MIB = 256
# A virtual processor can wait for its turn. A kernel that boots takes that for a timer that does not work, and panics;
# later it takes it for a processor that is stuck. The clock that does not change its mind while the machine runs spares
# it the patching of its own code, over which the other processor can fall (EMULATOR_FAULT).
PATIENT = "no_timer_check tsc=unstable rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60"
# QEMU 7.2 lets a processor run into the breakpoint that another has already replaced.
EMULATOR_FAULT = re.compile(r"int3: 0000 \[#")
# What a kernel says when something is badly wrong, without two lines of every boot under QEMU.
COMPLAINT = re.compile(r"BUG:|Oops|KASAN|UBSAN|WARNING|general protection|Kernel panic|DMA-API|pending DMA|"
                       r"unreferenced object|kmemleak: \d|INFO: possible|inconsistent lock|rcu:.*stall|hung task|"
                       r"sleeping function called|soft lockup|Call Trace|page allocation failure")
HARMLESS = re.compile(r"mtrr: your CPUs had inconsistent|use pci=nocrs and report a bug|"
                      r"DMA-API: (preallocated|debugging enabled)|kmemleak: Kernel memory leak detector initialized")


class DidNotBoot(Exception):
    """The machine ended, or did nothing, before anything of ours ran in it."""


class Answer(str):
    """A command's output, with its exit code as .code."""
    code = 0


class Guest:
    def __init__(self, folder, image, archive, emulator, scale=1.0, append=""):
        self.folder, self.scale, self.number = folder, scale, 0
        self.console = os.path.join(folder, "console.log")
        self.link = None
        initrd = os.path.join(folder, "initrd.cpio")
        with open(initrd, "wb") as f:
            f.write(archive)
        control = os.path.join(folder, "guest.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(control)
        listener.listen(1)
        self.errors = open(os.path.join(folder, "qemu.err"), "w+b")
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
             "-smp", "2", "-m", f"{MEMORY_MIB}M", "-machine", "q35,memory-backend=ram",
             "-object", f"memory-backend-file,id=ram,size={MEMORY_MIB}M,mem-path={emulator.ram},share=on",
             "-chardev", f"socket,id=iv,path={emulator.socket}", "-device", "ivshmem-doorbell,vectors=2,chardev=iv",
             "-serial", f"file:{self.console}", "-chardev", f"socket,id=ctl,path={control}", "-serial", "chardev:ctl",
             "-monitor", f"unix:{os.path.join(folder, 'monitor.sock')},server=on,wait=off",
             "-kernel", image, "-initrd", initrd,
             "-append", f"console=ttyS0 loglevel=4 panic=-1 oops=panic unknown_nmi_panic {PATIENT} {append}".strip()],
            stdin=subprocess.DEVNULL, stdout=self.errors, stderr=subprocess.STDOUT)
        try:
            listener.settimeout(0.2)
            end = time.monotonic() + max(120, 30 * scale)
            while self.link is None:
                try:
                    self.link, _ = listener.accept()
                except socket.timeout:
                    self.check_alive("QEMU starts", end)
            self.link.settimeout(0.2)
            self.buffer = b""
            self.read_answer(0, max(300, 60 * scale), "boot")
        except (RuntimeError, AssertionError, OSError) as why:
            self.kill()
            raise DidNotBoot(str(why)) from None
        except BaseException:
            self.kill()
            raise
        finally:
            listener.close()

    def check_alive(self, what, end):
        if self.process.poll() is not None:
            self.errors.seek(0)
            raise RuntimeError(f"{what}: the machine ended (exit {self.process.returncode}).\n"
                               + self.errors.read().decode(errors="replace")[-2000:] + self.tail())
        if time.monotonic() > end:
            raise AssertionError(f"{what}: no answer in time.\n" + self.why_stuck())

    def monitor(self, command):
        """A command to QEMU itself; what it says."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(20 * self.scale)
            link.connect(os.path.join(self.folder, "monitor.sock"))
            text = self.until_prompt(link, b"", 1)
            link.sendall(command.encode() + b"\n")
            time.sleep(0.2)
            text = self.until_prompt(link, text, 2)
            return text.decode(errors="replace")

    @staticmethod
    def until_prompt(link, text, count):
        while text.count(b"(qemu)") < count:
            more = link.recv(1 << 16)
            if not more:
                break
            text += more
        return text

    def why_stuck(self):
        """Make a machine that does not answer say where it is: an NMI, which is a panic with a backtrace."""
        words = ""
        try:
            text = self.monitor("info registers -a")
            words = " ".join(re.findall(r"RIP=\w+|HLT=\w+", text)) + "\n"
            self.monitor("nmi")
            time.sleep(2)
        except OSError as error:
            words += f"(no monitor: {error})\n"
        return words + self.tail(60)

    def tail(self, lines=25):
        return "\n".join(self.console_text().splitlines()[-lines:])

    def console_text(self):
        try:
            with open(self.console, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def read_answer(self, number, timeout, what):
        end = time.monotonic() + timeout
        mark = re.compile(rb"(?:^|\n)@@ %d (\d+)\r?\n" % number)
        while True:
            found = mark.search(self.buffer)
            if found:
                answer = Answer(self.buffer[:found.start()].decode(errors="replace").strip("\r\n"))
                answer.code = int(found.group(1))
                self.buffer = self.buffer[found.end():]
                return answer
            try:
                data = self.link.recv(65536)
                if not data:
                    self.process.wait(10)
                self.buffer += data
            except socket.timeout:
                pass
            self.check_alive(what, end)

    def __call__(self, command, timeout=20):
        """Run a shell command; its output. A code other than 0 is an error unless the command ends in '|| true'."""
        answer = self.run(command, timeout)
        if answer.code != 0:
            raise AssertionError(f"guest: '{command}' gave {answer.code}: {answer}")
        return answer

    def run(self, command, timeout=20):
        """The same, with the code left to the caller in .code."""
        assert "\n" not in command
        self.number += 1
        self.link.sendall(f"{self.number} {command}\n".encode())
        return self.read_answer(self.number, timeout * self.scale, f"'{command}'")

    @contextlib.contextmanager
    def held(self):
        """The machine stands still, as long as that lasts."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            end = time.monotonic() + 30 * self.scale
            while not self.stands_still():
                self.check_alive("standing still", end)
                time.sleep(0.01)
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stands_still(self):
        """Each thread of QEMU has stopped."""
        tasks = f"/proc/{self.process.pid}/task"
        try:
            for task in os.listdir(tasks):
                with open(os.path.join(tasks, task, "stat"), encoding="utf-8") as f:
                    if f.read().rpartition(")")[2].split()[0] not in "Tt":
                        return False
        except FileNotFoundError:  # a thread that has just ended
            return False
        return True

    def suspend(self, asleep):
        """Suspend to memory, call asleep() when the machine is, and wake it."""
        self.number += 1
        self.link.sendall(f"{self.number} echo mem > /sys/power/state\n".encode())
        end = time.monotonic() + 30 * self.scale
        while "suspended" not in self.monitor("info status"):
            self.check_alive("suspend", end)
        try:
            asleep()
        finally:
            self.monitor("system_wakeup")
        answer = self.read_answer(self.number, 30 * self.scale, "resume")
        if answer.code != 0:
            raise AssertionError("suspending failed: " + answer)

    def wait(self, what, command, timeout=10):
        """Wait until a command succeeds and give its output."""
        end = time.monotonic() + timeout * self.scale
        while True:
            answer = self.run(command)
            if answer.code == 0:
                return answer
            if time.monotonic() > end:
                raise AssertionError(f"{what}: '{command}' did not come true: {answer}\n" + self.run("dmesg | tail -15"))
            time.sleep(0.05)

    def log(self):
        """The kernel log since the last call, each line with its <level>."""
        return self("dmesg -r -c")

    def power_off(self):
        """Not by the guest: after a suspend QEMU no longer takes its word for it."""
        try:
            self.monitor("quit")
        except ConnectionError:
            pass
        self.process.wait(20 * self.scale)

    def emulator_fault(self):
        return EMULATOR_FAULT.search(self.console_text()) is not None

    def complaints(self, log=""):
        lines = (self.console_text() + "\n" + log).splitlines()
        return [line for line in lines if COMPLAINT.search(line) and not HARMLESS.search(line)]

    def kill(self):
        if self.link:
            self.link.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()
