# SPDX-License-Identifier: Apache-2.0
"""A kernel to boot and the modules built for it.

The image must match the installed headers, never the running kernel. It is unpacked into a folder of the build
directory, not installed: no boot loader, no initramfs, nothing left behind.
"""
import glob
import os
import re
import shutil
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


# Debian 12's second kernel, of its security archive. tools/install-deps installs it where the archive has it.
SECOND = "linux-headers-6.12-cloud-amd64"


class Missing(Exception):
    """Something that has to be installed is not there; the text says what."""


class OnlyOne(Exception):
    """There is one kernel and no more are to be had: no fault of this machine."""


class DoesNotBuild(Exception):
    """The modules; the text is what make said."""


def version_key(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


class Kernel:
    def __init__(self, version, image, build_tree):
        self.version, self.image, self.build_tree = version, image, build_tree


def headers(version=None):
    """The cloud kernels whose headers are installed, the newest first: (version, build tree) each."""
    found = sorted(glob.glob("/usr/src/linux-headers-*-cloud-amd64"), key=version_key, reverse=True)
    found = [(os.path.basename(path)[len("linux-headers-"):], path) for path in found]
    if version:
        found = [(name, path) for name, path in found if name == version or name.startswith((version + ".", version + "-"))]
    if not found:
        raise Missing("the kernel's headers: linux-headers-cloud-amd64" + (f" {version}" if version else ""))
    return found


def series(version):
    return re.match(r"\d+\.\d+", version).group()


def each_series():
    """The newest of each series, the newest series first: (version, build tree) each."""
    newest = {}
    for version, build_tree in headers():
        newest.setdefault(series(version), (version, build_tree))
    return list(newest.values())


def second():
    """The version of the newest kernel of another series than the newest."""
    found = each_series()
    if len(found) > 1:
        return found[1][0]
    if shutil.which("apt-cache"):
        policy = subprocess.run(["apt-cache", "policy", SECOND], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"}, check=False).stdout.decode()
        if re.search(r"Candidate: [^(\s]", policy):
            raise Missing(f"the second kernel's headers: {SECOND}")
    raise OnlyOne(f"there is one kernel only ({found[0][0]}), and the archive has no {SECOND}")


def debian(cache, wanted=None):
    """The newest of them whose image can be had too."""
    missing = None
    for version, build_tree in headers(wanted):
        image = os.path.join(cache, "root-" + version, "boot", "vmlinuz-" + version)
        try:
            if not os.path.exists(image):
                fetch(cache, version)
            return Kernel(version, image, build_tree)
        except Missing as what:
            missing = missing or what
    raise missing


def fetch(cache, version):
    package = "linux-image-" + version
    folder = os.path.join(cache, "fetch")
    os.makedirs(folder, exist_ok=True)
    if not shutil.which("apt-get"):
        raise Missing(f"the kernel's image: {package}, and apt-get to fetch it")
    for attempt in range(3):  # an archive can be out of reach for a moment
        time.sleep(5 * attempt)
        got = subprocess.run(["apt-get", "download", package], cwd=folder, stdin=subprocess.DEVNULL, timeout=600,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        debs = glob.glob(os.path.join(folder, package + "_*.deb"))
        if got.returncode == 0 and debs:
            break
    if got.returncode != 0 or not debs:
        words = got.stdout.decode(errors="replace").strip().splitlines()
        raise Missing(f"the kernel's image: {package} could not be fetched ({words[-1] if words else 'no reason given'})")
    unpacked = os.path.join(cache, "unpacking")
    shutil.rmtree(unpacked, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", debs[0], unpacked], check=True, timeout=600)
    shutil.rmtree(os.path.join(unpacked, "lib"), ignore_errors=True)  # 100 MB of modules that nobody loads
    os.rename(unpacked, os.path.join(cache, "root-" + version))
    shutil.rmtree(folder)


def built(build_tree):
    """A kernel from its own build tree (the debug kernel)."""
    image = os.path.join(build_tree, "arch", "x86", "boot", "bzImage")
    if not os.path.exists(image):
        raise Missing(f"a kernel in {build_tree}: tools/build-debug-kernel makes one")
    with open(os.path.join(build_tree, "include", "config", "kernel.release"), encoding="ascii") as f:
        return Kernel(f.read().strip(), image, build_tree)


def copy_changed(source, target):
    """Bring target up to date, times included, so that make builds again only what changed."""
    wanted = set()
    for folder, _, names in os.walk(source):
        for name in names:
            if name.endswith((".c", ".h", "Kbuild", "Makefile")) and not name.endswith(".mod.c"):
                wanted.add(os.path.relpath(os.path.join(folder, name), source))
    for name in wanted:
        a, b = os.path.join(source, name), os.path.join(target, name)
        if not os.path.exists(b) or os.stat(a).st_mtime_ns != os.stat(b).st_mtime_ns:
            os.makedirs(os.path.dirname(b), exist_ok=True)
            shutil.copy2(a, b)


def copy_sources(tree):
    for part in ("kernel", "src/tlog", "src/base"):
        copy_changed(os.path.join(ROOT, part), os.path.join(tree, part))
    return tree


def modules(cache, kernel, log):
    """{name: bytes} of the modules, built outside the source tree."""
    tree = copy_sources(os.path.join(cache, "modules-" + kernel.version))
    with open(log, "wb") as out:
        done = subprocess.run(["make", "-C", kernel.build_tree, "M=" + os.path.join(tree, "kernel"), "modules"],
                              stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=900, check=False)
    names = ("tlog_core.ko", "tlog_pci.ko")
    paths = {name: os.path.join(tree, "kernel", name) for name in names}
    if done.returncode != 0 or not all(map(os.path.exists, paths.values())):
        with open(log, encoding="utf-8", errors="replace") as f:
            raise DoesNotBuild("the modules do not build:\n" + "".join(f.readlines()[-30:]))
    return {name: open(path, "rb").read() for name, path in paths.items()}


def reader(cache):
    """tlog_reader.c as a static program."""
    exe = os.path.join(cache, "tlog_reader")
    source = os.path.join(ROOT, "tests", "kernel", "tlog_reader.c")
    subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "kernel/include/uapi"),
                    source, "-o", exe], check=True, timeout=600)
    with open(exe, "rb") as f:
        return f.read()
