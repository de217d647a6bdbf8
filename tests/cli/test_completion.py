# SPDX-License-Identifier: Apache-2.0
"""The completions of bash and zsh know every command and every option; bash's offers what is meant."""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess

import tap

FOLDER = os.path.join(tap.ROOT, "tools", "completion")


def update():
    loader = importlib.machinery.SourceFileLoader("completion_update", os.path.join(FOLDER, "update"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("completion_update", loader))
    loader.exec_module(module)
    return module


def test_every_command_and_option_is_in_them(corral):
    general, commands = update().table(corral.exe)
    assert {"demo", "halt", "sync-check", "sim"} <= set(commands) and "--link" in general
    for name in ("corral.bash", "_corral"):
        with open(os.path.join(FOLDER, name), encoding="ascii") as f:
            text = f.read()
        words = {c: set(w.split()) for c, w in re.findall(r"^ +([a-z'][a-z'-]*)\) words(?:_here)?='([^']*)'", text, re.M)}
        missing = (set(general) | set(commands)) - words["''"]
        assert not missing, f"{name}: {missing}; run tools/completion/update {corral.exe}"
        for command, options in commands.items():
            missing = set(options) - words.get(command, set())
            assert not missing, f"{name}: {command}: {missing}; run tools/completion/update {corral.exe}"


def complete(*words):
    script = (f"source {os.path.join(FOLDER, 'corral.bash')}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); _corral; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    p = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True, timeout=60)
    return p.stdout.split()


def test_bash_completes(corral):
    if not shutil.which("bash"):
        raise tap.Skip("bash is not installed")
    assert "halt" in complete("corral", "ha") and complete("corral", "--prot") == ["--protocol"]
    assert complete("corral", "--protocol", "s") == ["swd"]
    assert complete("corral", "--link", "sim", "sync") == ["sync-check"]
    assert complete("corral", "halt", "--sy") == ["--sync"]
    assert complete("corral", "--quiet", "cti", "dis") == ["disconnect"]
    assert "--core" not in complete("corral", "--")


def test_zsh_accepts_its_file(corral):
    if not shutil.which("zsh"):
        raise tap.Skip("zsh is not installed")
    subprocess.run(["zsh", "-n", os.path.join(FOLDER, "_corral")], check=True, timeout=60)


tap.main(globals())
