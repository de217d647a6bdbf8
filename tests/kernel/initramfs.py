# SPDX-License-Identifier: Apache-2.0
"""The guest's file system: an uncompressed cpio archive ("newc"), written without root and without cpio."""
import stat

# The guest takes one command a line on its second serial port: a number, then shell text. The answer is the
# output, then "@@ NUMBER RC". What runs in the background must have its output redirected, and must be started by
# a subshell, "( ... & )": the end of a child of its own makes the shell's "read" forget the bytes it had already.
# For the same reason the shell is not process 1, which gets every orphan.
INIT = """#!/bin/sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
stty -F /dev/ttyS1 raw -echo 2>/dev/null
sh /shell
poweroff -f
"""
SHELL = """exec </dev/ttyS1 >/dev/ttyS1 2>&1
echo "@@ 0 0"
while read -r number line; do
    eval "$line" </dev/null
    echo "@@ $number $?"
done
"""

APPLETS = ("sh mount stty echo cat dmesg insmod rmmod lsmod grep sed ls mkdir mknod sleep head tail wc kill test [ "
           "poweroff dd cp rm mv ps true false tr cut sort uniq printf expr basename dirname seq find stat sync "
           "usleep date timeout env readlink awk hexdump od tee chmod ln").split()


class Archive:
    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        for part in (head, data):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def folder(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o755):
        self.add(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def build(busybox, files):
    """The archive's bytes; files is {path in the guest: bytes}."""
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "tmp"):
        archive.folder(name)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.file("bin/busybox", busybox)
    for name in APPLETS:
        archive.link("bin/" + name, "busybox")
    archive.file("init", INIT.encode())
    archive.file("shell", SHELL.encode())
    for name, data in files.items():
        archive.file(name, data)
    return archive.bytes()
