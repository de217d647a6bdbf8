# SPDX-License-Identifier: Apache-2.0
"""corral sequence run against an interpreter that shares nothing with it: the same accesses, messages and ends."""
import json
import os
import sys

import tap

sys.path.insert(0, os.path.join(tap.ROOT, "tests", "oracle", "sequence"))
import sequence_oracle as so  # noqa: E402
import sequence_programs  # noqa: E402

PACKS = os.path.join(tap.SHARED, "packs")
AT_ONCE = 60  # sequences of one command
OF_A_PACK = 4  # devices that differ
# What ST's sequences look for in the ROM table (its JEP106 number), so that they do not end at their first question.
GENUINE = {0xFE4: 0x00, 0xFE8: 0x02, 0xE00FFFE4: 0x00, 0xE00FFFE8: 0x02}
PROGRAMS, FILES = 500, 5


def events(text):
    """Of each sequence: its accesses, and its last line or None."""
    runs, trace = [], []
    for line in text.splitlines():
        e = json.loads(line)
        if e["kind"] == "access":
            trace.append((e["op"], e["space"], e["ap"], e["address"], e["size"], e["value"]))
        elif e["kind"] == "summary":
            runs.append((trace, e))
            trace = []
    return runs + ([(trace, None)] if trace else [])


def same(a, b):
    """A value of 64 bits may be told as a number that has not all of them."""
    return a[:5] == b[:5] and (a[5] == b[5] or (isinstance(a[5], float) and a[5] == float(b[5])))


def compare(name, mine, trace, summary, ended):
    for i, (a, b) in enumerate(zip(trace, mine.trace)):
        assert same(a, b), (name, i, "corral", a, "oracle", b)
    assert len(trace) == len(mine.trace), (name, len(trace), len(mine.trace), trace[len(mine.trace):][:3], mine.trace[len(trace):][:3])
    if summary:
        result = so.M64 if summary["result"] == -1 else summary["result"]
        assert summary["ran"] and result == (so.M64 if mine.special["__Result"] else 0), (name, summary, mine.special)
        assert summary["accesses"] == mine.accesses, (name, summary, mine.accesses)
    else:
        assert not ended, (name, "ended early")


def heard(err):
    said = []
    for line in err.splitlines():
        d = json.loads(line)
        said.append(d["warning"]["message"] if "warning" in d else d["error"]["message"])
    return said


def run_all(corral, file, device, pname, names, presets=()):
    """All of `names` in as few commands as it takes: one that ends early ends its command."""
    link = "dry" + "".join((":" if i == 0 else ",") + f"0x{a:X}=0x{v:X}" for i, (a, v) in enumerate(dict(presets).items()))
    words = ["--device", device.name, "--trace"] + (["--core", pname] if pname else [])
    left = list(names)
    while left:
        some = left[:AT_ONCE]
        r = corral("--json", "--link", link, "sequence", "run", ",".join(some), file, *words)
        assert r.code in (0, 1) or "aligned" in r.err, (some, r.code, r.err)
        runs, model, said = events(r.out), so.Dry(presets), heard(r.err)
        for i, name in enumerate(some):
            mine = so.Run(device, model, pname)
            good = mine.run(name)
            trace, summary = runs[i] if i < len(runs) else ([], None)
            compare((os.path.basename(file), device.name, pname, name), mine, trace, summary, good)
            for text in mine.said:
                assert any(s.endswith(": " + text) for s in said), (name, text, said)
            left.pop(0)
            if not good:
                assert r.code and i + 1 >= len(runs), (name, r.err)
                break
        else:
            assert r.code == 0 and len(runs) == len(some), (some, r.code, r.err)


def usable(corral, file, device, pname):
    """Those of the file itself that have no mistakes."""
    words = ["--device", device.name] + (["--core", pname] if pname else [])
    r = corral("--json", "sequence", "list", file, *words)
    assert r.code == 0, r.err
    group, = json.loads(r.out)["groups"]
    mine = {name for name, p in device.sequences if p in (None, pname)}
    listed = {s["name"] for s in group["sequences"] if s["origin"] == "pack" and s["pname"] in (None, pname)}
    assert listed == mine, (device.name, pname, listed ^ mine)
    wrong = {s["name"] for s in group["sequences"] if s["errors"]}
    return sorted(n for n in listed - wrong if not so.truth(device.find(n, pname).get("disable")))


def test_real_packs(corral):
    if not os.path.isdir(PACKS):
        raise tap.Skip("../shared/packs is not there")
    count = 0
    for name in sorted(os.listdir(PACKS)):
        if not name.endswith(".pdsc"):
            continue
        file, seen = os.path.join(PACKS, name), {}
        for device in so.devices(file):
            seen.setdefault(device.signature(), device)
        for device in list(seen.values())[:OF_A_PACK]:
            for pname, *_ in device.processors[:2]:
                names = usable(corral, file, device, pname)
                run_all(corral, file, device, pname, names, GENUINE)
                count += len(names)
    assert count > 50, count


def test_programs_made_at_random(corral):
    for seed in range(FILES):
        file = f"random{seed}.pdsc"
        with open(corral.path(file), "w", encoding="utf-8") as f:
            f.write(sequence_programs.pdsc(seed, PROGRAMS // FILES))
        r = corral("--json", "sequence", "check", file)
        problems = [p for p in json.loads(r.out)["problems"] if p["severity"] == "error"]
        assert not problems, problems[:3]
        device, = so.devices(corral.path(file))
        run_all(corral, file, device, None, [f"P{i}" for i in range(PROGRAMS // FILES)])


tap.main(globals())
