# SPDX-License-Identifier: Apache-2.0
"""What the tests of the export formats share: the programs that read them, and Node's packages.

A reader that is missing makes a test skip with the reason; where CI is set it makes it fail, since there it must not
go unnoticed.
"""
import fcntl
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "cli"))
import tap  # noqa: E402


def missing(what):
    if os.environ.get("CI"):
        raise AssertionError(what + ", and CI is set, where it must be there")
    raise tap.Skip(what)


def program(name):
    path = name and shutil.which(name)
    return path or missing(f"{name} is not installed")


def run(*args, **kw):
    p = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=800, **kw)
    out, err = p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")
    assert p.returncode == 0, f"{args}: exit code {p.returncode}\n{out[-2000:]}\n{err[-2000:]}"
    return out, err


def export(samples, profile, form):
    """The path of the file, and what the exporter said."""
    path = samples.path(f"{profile}.{form}")
    r = samples(profile, form, path)
    assert r.code == 0, r.out + r.err
    return path, r.out.strip()


def node_folder(folder, source=HERE):
    """A folder with the packages of `source`'s lock file, made once; tests that run at the same time wait for it."""
    program("node")
    npm = program("npm")
    os.makedirs(folder, exist_ok=True)
    lock_file = os.path.join(source, "package-lock.json")
    with open(lock_file, "rb") as f:
        wanted = f.read()
    stamp = os.path.join(folder, "installed")
    with open(os.path.join(folder, "lock"), "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        try:
            with open(stamp, "rb") as f:
                if f.read() == wanted:
                    return folder
        except FileNotFoundError:
            pass
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(os.path.join(source, name), os.path.join(folder, name))
        p = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if p.returncode:
            missing("npm cannot install what reads it: " + p.stdout.decode("utf-8", "replace").strip().replace("\n", " ")[:200])
        with open(stamp, "wb") as f:
            f.write(wanted)
    return folder
