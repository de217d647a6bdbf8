# SPDX-License-Identifier: Apache-2.0
"""tools/install-deps: its sets hold what the build asks for, and where it cannot install it says so in one sentence."""
import os
import re
import shutil
import subprocess

import tap

SCRIPT = os.path.join(tap.ROOT, "tools", "install-deps")
TOOLS = ("sh", "awk", "tr", "grep", "cat")


def sets():
    """name -> its lines, each as (package, reason, proof)."""
    with open(SCRIPT, encoding="utf-8") as f:
        text = f.read()
    rows = {}
    for name, body in re.findall(r"^(\w+)_set='\n(.*?)^'$", text, re.S | re.M):
        rows[name] = [(w[0], " ".join(w[1:-1]), w[-1]) for w in (line.split() for line in body.splitlines())]
    return rows


def machine(corral, **programs):
    """A folder for PATH with the plain tools, and the given programs as scripts."""
    folder = corral.path("bin")
    os.mkdir(folder)
    for tool in TOOLS:
        os.symlink(shutil.which(tool), os.path.join(folder, tool))
    for name, body in programs.items():
        path = os.path.join(folder, name.replace("_", "-"))
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + body + "\n")
        os.chmod(path, 0o755)
    return folder


def install(path, *args, **env):
    return subprocess.run(["/bin/sh", SCRIPT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"PATH": path, **env}, timeout=60, encoding="utf-8")


def refused(p, *words):
    assert p.returncode == 1 and p.stdout == "", (p.returncode, p.stdout)
    (line,) = p.stderr.splitlines()
    for word in words:
        assert word in line, line


def test_every_library_that_the_build_asks_for_is_in_a_set(corral):
    with open(os.path.join(tap.ROOT, "meson.build"), encoding="utf-8") as f:
        asked = re.findall(r"dependency\('([^']+)'(, required: get_option\('tests'\))?", f.read())
    assert len(asked) > 8
    rows = sets()
    run = {proof for _, _, proof in rows["run"]}
    test = run | {proof for _, _, proof in rows["test"]}
    for name, for_tests in asked:
        if name != "threads":
            assert "pkg-config:" + name in (test if for_tests else run), f"no package of tools/install-deps has {name}"


def test_every_program_that_a_test_looks_for_is_in_a_set(corral):
    """Or a fresh machine skips those tests, and CI, which must not, fails there only."""
    every_debian = {"apt-cache", "apt-get", "bash", "unshare"}
    with_others = {"systemd-analyze"}  # of systemd, which the sets' packages bring along
    have = {proof for lines in sets().values() for _, _, proof in lines} | every_debian | with_others
    have |= {"llvm-profdata", "llvm-cov"}  # of llvm
    looked_for = 0
    for folder, _, files in os.walk(os.path.join(tap.ROOT, "tests")):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    for program in re.findall(r"""which\(["']([\w.+-]+)["']\)""", f.read()):
                        assert program in have, f"{name} looks for {program}, which no package of tools/install-deps has"
                        looked_for += 1
    assert looked_for > 15


def test_every_package_has_its_reason_and_stands_once(corral):
    rows = [row for lines in sets().values() for row in lines]
    assert len(rows) > 40
    for package, reason, proof in rows:
        assert len(reason) >= 3 and re.fullmatch(r"-|[\w.+-]+|pkg-config:[\w.+-]+", proof), (package, reason, proof)
    names = [package for package, _, _ in rows]
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)


def test_another_system_is_told_what_is_missing(corral):
    p = install(machine(corral, gcc="exit 0"), "run")
    refused(p, "not a Debian system", " ninja ", " libxml-2.0 ", " libarchive ")
    assert " gcc " not in p.stderr, "gcc is there"


def test_another_system_that_has_all_is_left_alone(corral):
    proofs = {proof for _, _, proof in sets()["run"] if proof != "-" and ":" not in proof}
    path = machine(corral, **{p: "exit 0" for p in proofs})
    p = install(path, "run")
    assert (p.returncode, p.stdout, p.stderr) == (0, "", ""), p


def test_who_is_not_root_and_has_no_sudo_is_told(corral):
    path = machine(corral, dpkg_query="echo 'ii  gcc'", apt_get="exit 99", apt_cache="echo '  Candidate: 1'", id="echo 1000")
    p = install(path, "run")
    refused(p, "only root can install them", " libarchive-dev ")
    assert " gcc " not in p.stderr, "gcc is there"


def test_sudo_without_a_terminal_does_not_ask(corral):
    path = machine(corral, dpkg_query="exit 1", apt_get="exit 99", apt_cache="echo '  Candidate: 1'", id="echo 1000",
                   sudo=f'printf "%s\\n" "$*" >>{corral.path("log")}; exit 1')
    p = install(path, "run")
    assert p.returncode == 1 and "apt-get could not install" in p.stderr.splitlines()[-1], p.stderr
    with open(corral.path("log"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    assert len(lines) == 2 and all(line.startswith("-n ") for line in lines), lines


def test_what_is_there_is_not_installed_again(corral):
    """apt-get is asked for what is missing and no more; when nothing is, not even that."""
    packages = [package for package, _, _ in sets()["run"]]
    there = "; ".join(f"echo 'ii  {p}'" for p in packages if p != "libarchive-dev")
    path = machine(corral, dpkg_query=there, apt_cache="echo '  Candidate: 1'", id="echo 0", env='shift; exec "$@"',
                   apt_get=f'echo "$@" >>{corral.path("log")}')
    p = install(path, "run")
    assert p.returncode == 0 and ".pack archives" in p.stderr, p.stderr
    with open(corral.path("log"), encoding="utf-8") as f:
        asked = f.read().splitlines()
    assert [line.split()[-1] for line in asked] == ["update", "libarchive-dev"], asked
    with open(os.path.join(path, "dpkg-query"), "a", encoding="utf-8") as f:
        f.write("echo 'ii  libarchive-dev'\n")
    p = install(path, "run")
    assert (p.returncode, p.stdout, p.stderr) == (0, "", ""), p
    with open(corral.path("log"), encoding="utf-8") as f:
        assert f.read().splitlines() == asked


def test_it_can_be_forbidden(corral):
    path = machine(corral, dpkg_query="exit 1", apt_get="exit 99", id="echo 0")
    p = install(path, "test", CORRAL_NO_INSTALL="1")
    assert (p.returncode, p.stdout, p.stderr) == (0, "", ""), p


def test_an_unknown_set(corral):
    refused(install(machine(corral), "everything"), "usage: tools/install-deps run|test|lint|fuzz|debug-kernel")


tap.main(globals())
