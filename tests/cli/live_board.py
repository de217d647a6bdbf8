# SPDX-License-Identifier: Apache-2.0
"""A running "corral sim" for the tests of the links, with its control socket and, where wanted, an OpenOCD in front."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import tap

PATIENCE = 120  # seconds; for a machine that does much else
LINKS = ("jtag", "cmsis-dap", "openocd", "openocd-spawn")
FRONT = {"jtag": "jtag", "cmsis-dap": "cmsis-dap", "openocd": "stlink", "openocd-spawn": "jtag"}
CONFIG = {
    "jtag": "adapter driver remote_bitbang\nremote_bitbang host 127.0.0.1\nremote_bitbang port {port}\n"
            "transport select jtag\njtag newtap c cpu -irlen 4 -expected-id 0x4ba00477\n",
    "stlink": "adapter driver st-link\nst-link vid_pid 0x0483 0x374f\nst-link backend tcp {port}\n"
              "transport select dapdirect_swd\nswd newdap c cpu -expected-id 0x6ba02477\n",
}
TARGETS = ("target create m0 mem_ap -dap c.dap -ap-num 0\ntarget create m1 mem_ap -dap c.dap -ap-num 1\n")


def openocd_program():
    program = shutil.which("openocd")
    if not program and os.environ.get("CI"):
        raise AssertionError("openocd is not installed, and CI is set, where it must be there")
    if not program:
        raise tap.Skip("openocd is not installed")
    return program


class Board:
    """The board behind `link` (one of LINKS); `words` are what --link wants."""

    def __init__(self, corral, link, *args):
        self.openocd = None
        front = FRONT[link]
        self.socket = corral.path(f"control-{link}")
        self.process = corral.start("sim", f"--{front}", "0", "--control", self.socket, *args)
        line = self.process.stderr.readline().decode()
        m = re.match(r"corral: \S+ listens on 127\.0\.0\.1:(\d+)\n", line)
        assert m, line + self.process.stderr.read().decode()
        self.port = int(m[1])
        self.words = f"{link}:127.0.0.1:{self.port}" if link == "jtag" else f"cmsis-dap:tcp:127.0.0.1:{self.port}"
        if link.startswith("openocd"):
            try:
                self.put_openocd(corral, link, front)
            except BaseException:
                self.__exit__()
                raise

    def put_openocd(self, corral, link, front):
        program = openocd_program()
        config = corral.path(f"{link}.cfg")
        with open(config, "w", encoding="ascii") as f:
            f.write(CONFIG[front].format(port=self.port) + "dap create c.dap -chain-position c.cpu\n" +
                    "reset_config srst_only srst_nogate\n" + (TARGETS if link == "openocd" else ""))
        self.words = f"openocd:spawn:{config}"
        if link == "openocd":
            said = corral.path("openocd.said")
            with open(said, "wb") as out:
                self.openocd = subprocess.Popen(
                    [program, "-c", "gdb_port disabled; telnet_port disabled; tcl_port 0", "-f", config, "-c",
                     "init; poll off"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out)
            end = time.monotonic() + PATIENCE
            m = None
            while not m:
                with open(said, "rb") as f:
                    text = f.read().decode("utf-8", "replace")
                m = re.search(r"Listening on port (\d+) for tcl", text)
                assert m or (self.openocd.poll() is None and time.monotonic() < end), text
                time.sleep(0.01)
            self.words = f"openocd:127.0.0.1:{m[1]}"

    def control(self, line):
        """One command of docs/board.md "Control"; its answer."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE)
            s.connect(self.socket)
            s.sendall(line.encode() + b"\n")
            answer = b""
            while not re.search(rb"^(ok|error).*\n", answer, re.M):
                more = s.recv(65536)
                assert more, f"no answer to {line}: {answer}"
                answer += more
        answer = answer.decode()
        assert not answer.startswith("error"), answer
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for p in (self.openocd, self.process):
            if p and p.poll() is None:
                p.send_signal(signal.SIGCONT)
                p.kill()
                p.communicate()
