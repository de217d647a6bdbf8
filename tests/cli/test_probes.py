# SPDX-License-Identifier: Apache-2.0
"""corral probes without a probe, and the words of links to probes that are not there."""
import json
import re

import tap


def test_what_is_there_is_listed_and_none_is_no_error(corral):
    r = corral("--json", "probes")
    assert r.code == 0 and r.err == "", r.err
    said = json.loads(r.out)
    assert set(said) == {"probes", "denied", "built_with"}, said
    text = corral("probes")
    assert text.code == 0 and text.err == ""
    if not said["probes"] and any(said["built_with"].values()):
        assert "no debug probe on USB" in text.out, text.out
    for p in said["probes"]:
        assert {"kind", "interface", "vid", "pid", "vendor", "product", "serial", "version", "link", "openocd"} == set(p)
        assert p["link"] or p["openocd"] or p["interface"], p


def test_too_many_words(corral):
    r = corral("probes", "all")
    assert r.code == 2 and "'all'" in r.err, r.err
    assert corral("probes", "--help").code == 0


def test_a_probe_that_is_not_there(corral):
    r = corral("--json", "--link", "cmsis-dap:NO-SUCH-SERIAL", "scan")
    said = json.loads(r.err)["error"]
    built = json.loads(corral("--json", "probes").out)["built_with"]
    if any(built.values()):
        assert r.code == 3 and said["name"] == "link-down" and "NO-SUCH-SERIAL" in said["message"], r.err
    else:
        assert "without USB" in said["message"], r.err
    r = corral("--link", "cmsis-dap:tcp:127.0.0.1:1", "scan")
    assert r.code == 3 and "cannot reach" in r.err, r.err
    r = corral("--link", "cmsis-dap?targetsel=2", "scan")
    assert r.code == 2 and "targetsel" in r.err, r.err


def test_the_board_through_its_cmsis_dap_front(corral):
    p = corral.start("sim", "--cmsis-dap", "0")
    try:
        line = p.stderr.readline().decode()
        m = re.match(r"corral: cmsis-dap listens on 127\.0\.0\.1:(\d+)\n", line)
        assert m, line
        port = m[1]
        link = f"cmsis-dap:tcp:127.0.0.1:{port}"
        r = corral("--json", "--link", link, "scan")
        assert r.code == 0, r.err
        own = json.loads(corral("--json", "--link", "sim", "scan").out)
        assert json.loads(r.out) == own
        r = corral("--link", link, "--protocol", "jtag", "scan")
        assert r.code != 0 and "JTAG" in r.err, r.err
    finally:
        p.kill()
        p.communicate()


tap.main(globals())
