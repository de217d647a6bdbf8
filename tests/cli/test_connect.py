# SPDX-License-Identifier: Apache-2.0
"""--connect, --protocol and --clock, and their keys in corral.yml, on every link that can or cannot."""
import json

import live_board
import tap


def states(corral, *args):
    r = corral(*args, "--json", "status")
    assert r.code == 0, (args, r.err)
    return [(c["state"], c["reason"]) for c in json.loads(r.out)["cores"]], r.err


RUNNING = [("running", None)] * 2
CAUGHT = [("halted", "vector-catch")] * 2


def test_connect_modes_on_the_board(corral):
    assert states(corral) == (RUNNING, "")
    assert states(corral, "--connect", "attach") == (RUNNING, "")
    assert states(corral, "--connect", "pre-reset") == (RUNNING, "")
    assert states(corral, "--connect", "under-reset") == (CAUGHT, "")


def behind(corral, link):
    with live_board.Board(corral, link) as board:
        to = ["--link", board.words]
        assert states(corral, *to) == (RUNNING, "")
        assert states(corral, *to, "--connect", "under-reset") == (CAUGHT, "")
        # at their very first instruction: the reset handler's address
        r = corral(*to, "--json", "status")
        vector = word(corral, to, "0x08000004") & ~1
        assert [c["pc"] for c in json.loads(r.out)["cores"]] == [vector, vector], (r.out, vector)
        # a pulse starts them anew: nothing is left that would catch them
        assert states(corral, *to, "--connect", "pre-reset") == (RUNNING, "")
        assert states(corral, *to) == (RUNNING, "")


def word(corral, to, address):
    r = corral(*to, "--json", "read", address)
    assert r.code == 0, r.err
    return json.loads(r.out)["values"][0]


def test_connect_modes_over_jtag(corral):
    behind(corral, "jtag")


def test_connect_modes_over_cmsis_dap(corral):
    behind(corral, "cmsis-dap")


def test_connect_modes_over_openocd(corral):
    behind(corral, "openocd")


def test_connect_modes_over_a_spawned_openocd(corral):
    behind(corral, "openocd-spawn")


def test_a_core_that_stays_in_reset_is_named(corral):
    with open(corral.path("held.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\nboard: --held-in-reset core1\n")
    r = corral("--target", "held.yml", "--connect", "under-reset", "status")
    assert r.code == 0, r.err
    assert r.out.splitlines()[0].startswith("core0    halted at 0x08000"), r.out
    assert "core1" in r.err and "did not halt" in r.err, r.err


def test_under_reset_looks_only_at_the_access_ports_that_are_named(corral):
    """B17: a part that hangs on others does so in reset, too."""
    with open(corral.path("aps.yml"), "w", encoding="ascii") as f:
        f.write("link: sim\naps: [0, 1]\n")
    for target, most in (([], 0xFF), (["--target", "aps.yml"], 1)):
        log = corral.path("aps.log")
        assert states(corral, *target, "--wire-log", log, "--connect", "under-reset") == (CAUGHT, "")
        with open(log, encoding="ascii") as lines:
            ports = {int(words[5], 16) for words in map(str.split, lines) if len(words) > 6 and words[4] == "ap"}
        assert max(ports) == most, (target, ports)


def test_a_link_without_a_reset_line(corral):
    for link in ("dry", "dry:0xE000ED00=0x411fc272"):
        for mode in ("pre-reset", "under-reset"):
            r = corral("--link", link, "--connect", mode, "scan")
            assert r.code == 1 and r.out == "" and "no reset line" in r.err, (link, mode, r.code, r.err)


def test_protocol_and_clock_where_there_is_no_choice(corral):
    for args, word in ((["--protocol", "jtag", "scan"], "SWD"), (["--link", "dry", "--protocol", "swd", "scan"], "protocol"),
                       (["--link", "dry", "--clock", "1000", "scan"], "--clock"),
                       (["--link", "jtag:127.0.0.1:1", "--protocol", "swd", "scan"], "JTAG only"),
                       (["--link", "jtag:127.0.0.1:1", "--clock", "1000000", "scan"], "TCK"),
                       (["--link", "openocd:127.0.0.1:1", "--protocol", "swd", "scan"], "configuration"),
                       (["--protocol", "uart", "scan"], "uart"), (["--connect", "hard", "scan"], "hard"),
                       (["scan", "--connect", "attach"], "before the command")):
        r = corral(*args)
        assert r.code == 2 and r.out == "" and word in r.err, (args, r.code, r.err)
    assert corral("--protocol", "swd", "--clock", "1000000", "scan").code == 0


def test_openocd_sets_its_adapters_speed(corral):
    with live_board.Board(corral, "openocd") as board:
        assert corral("--link", board.words, "--clock", "1000000", "scan").code == 0
    with live_board.Board(corral, "openocd-spawn") as board:  # remote_bitbang has no speed, and OpenOCD gives no reason
        r = corral("--link", board.words, "--clock", "1000000", "scan")
        assert r.code == 2 and r.err.splitlines()[0].endswith(" does not set the clock"), r.err


def test_keys_of_corral_yml(corral):
    path = corral.path("corral.yml")
    with open(path, "w", encoding="ascii") as f:
        f.write("link: sim\nprotocol: swd\nconnect: under-reset\n")
    assert states(corral) == (CAUGHT, "")
    assert states(corral, "--connect", "attach") == (RUNNING, "")  # the command line wins
    with open(path, "w", encoding="ascii") as f:
        f.write("link: jtag:127.0.0.1:1\nprotocol: jtag\nconnect: under-reset\n")
    assert states(corral, "--link", "sim") == (RUNNING, "")  # they are the other link's
    for line, words in (("protocol: can", "swd or jtag"), ("connect: now", "attach, under-reset or pre-reset")):
        with open(path, "w", encoding="ascii") as f:
            f.write(f"link: sim\n{line}\n")
        r = corral("status")
        assert r.code == 2 and "corral.yml:2: " in r.err and words in r.err, r.err


tap.main(globals())
