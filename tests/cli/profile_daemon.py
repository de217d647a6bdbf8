# SPDX-License-Identifier: Apache-2.0
"""A target's daemon that is not on the loopback address, in a network namespace of its own, so that the standard UDP
port is nobody else's: `unshare -rn python3 profile_daemon.py CORRAL`. Prints the address that the daemon was told, then
corral's report; exit code 77 when the namespace cannot have the address."""
import socket
import subprocess
import sys
import threading

import profile_build as build

ADDRESS = "198.51.100.7"


class Daemon(threading.Thread):
    """Tells an empty map, and on start sends one packet to the address that it was told."""

    def __init__(self):
        super().__init__(daemon=True)
        self.server = socket.create_server((ADDRESS, 0))
        self.told = None

    def run(self):
        client, _ = self.server.accept()
        for line in client.makefile("r"):
            words = line.split()
            if words[0] == "map":
                client.sendall(b"PID:0 5\ndone\n")
            elif words[0] == "ip":
                self.told = words[1]
            elif words[0] == "start":
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                s.sendto(build.v17(1, [build.sample(build.address("alpha"))]), (self.told, 51080))
                s.close()


def main():
    for words in ("link set lo up", f"addr add {ADDRESS}/32 dev lo"):
        if subprocess.run(["ip", *words.split()], check=False).returncode:
            return 77
    daemon = Daemon()
    daemon.start()
    target = f"{ADDRESS}:{daemon.server.getsockname()[1]}"
    p = subprocess.run([sys.argv[1], "--json", "profile", "--connect", target, "--seconds", "1"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, check=False)
    print(daemon.told)
    print(p.stdout.decode())
    return p.returncode


sys.exit(main())
