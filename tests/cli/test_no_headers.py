# SPDX-License-Identifier: Apache-2.0
"""The Linux driver on a machine without the kernel's headers: nothing may look as if a module had been built, and the
user's next step must name the cause. Check 24 of the public bug reports."""
import json
import os
import platform
import re
import shutil
import subprocess

import tap

KERNEL = os.path.join(tap.ROOT, "kernel")
ABSENT = "0.0.0-absent"        # a kernel whose headers nobody has


def run(*words, **kw):
    p = subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=120, check=False, **kw)
    return p.returncode, p.stdout.decode()


def make(*words):
    if not shutil.which("make"):
        raise tap.Skip("make is not installed")
    return run("make", "-C", KERNEL, *words, env={k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")})


def names_what_is_missing(code, out, version):
    assert code != 0, "no headers, and make is content"
    assert f"linux-headers-{version}" in out and "KDIR=" in out, out
    assert len(out.splitlines()) <= 6, out


def test_make_without_headers(corral):
    names_what_is_missing(*make(f"KVER={ABSENT}"), ABSENT)
    names_what_is_missing(*make(f"KVER={ABSENT}", "clean"), ABSENT)
    code, out = make(f"KDIR={corral.path('nowhere')}")
    assert code != 0 and corral.path("nowhere") in out, out


def test_make_for_the_running_kernel(corral):
    version = platform.release()
    if os.path.exists(f"/lib/modules/{version}/build/Makefile"):
        raise tap.Skip("the running kernel's headers are installed")
    names_what_is_missing(*make(), version)


def test_the_tree_asked_for_is_the_one_built_for(corral):
    os.mkdir(corral.path("tree"))
    open(corral.path("tree/Makefile"), "w").write("modules:\n\t@echo BUILT-FOR-$(M)\n")
    code, out = make("KDIR=" + corral.path("tree"))
    assert code == 0 and f"BUILT-FOR-{KERNEL}" in out, out


def test_dkms_does_not_claim_to_have_installed(corral):
    """Both with the tree that dkms-tree makes and with kernel/ as it is: somebody will copy that."""
    if not shutil.which("dkms"):
        raise tap.Skip("dkms is not installed")
    conf = open(os.path.join(KERNEL, "dkms.conf")).read()
    name, version = (re.search(rf'^PACKAGE_{what}="?([^"\n]*)', conf, re.M)[1] for what in ("NAME", "VERSION"))
    for whole in (True, False):
        sources, state = corral.path(f"src-{whole}"), corral.path(f"state-{whole}")
        os.makedirs(state)
        os.makedirs(sources)
        if whole:
            code, out = make("dkms-tree", f"DKMS_DIR={sources}/{name}-{version}")
            assert code == 0, out
        else:
            shutil.copytree(KERNEL, f"{sources}/{name}-{version}")
        places = ["--dkmstree", state, "--sourcetree", sources, "-m", name, "-v", version]
        code, out = run("dkms", "add", *places)
        if code != 0 and os.geteuid() != 0:
            raise tap.Skip("dkms wants root here")
        assert code == 0, out
        for step in ("build", "install"):
            code, out = run("dkms", step, *places, "-k", ABSENT)
            assert code != 0 and ABSENT in out, (step, code, out)
        code, out = run("dkms", "status", *places)
        assert "added" in out and "installed" not in out and "built" not in out, out


def test_the_next_step_names_the_cause(corral):
    r = corral("--json", "log", "--device", corral.path("tlog0"))
    error = json.loads(r.err)["error"]
    assert r.code == 3 and r.out == "", (r.code, r.out)
    assert "modprobe" in error["hint"] and "linux-headers" in error["hint"], error
    page = re.search(r"docs/[a-z]+\.md", error["hint"])[0]
    assert "linux-headers" in open(os.path.join(tap.ROOT, page)).read(), page


if __name__ == "__main__":
    tap.main(globals())
