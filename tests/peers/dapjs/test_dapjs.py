# SPDX-License-Identifier: Apache-2.0
"""Arm's dapjs debugs the board of "corral sim" through the CMSIS-DAP front.

Usage: test_dapjs.py CORRAL NODE_FOLDER: the latter is where Node's package may be put.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "openocd"), os.path.join(os.path.dirname(HERE), "exports")]
import peers  # noqa: E402
import tap  # noqa: E402
from test_openocd import Board  # noqa: E402

NODE = sys.argv[2]


def test_debugging(corral):
    folder = peers.node_folder(NODE, HERE)
    with Board(corral, "--cmsis-dap", "0") as board:
        out, _ = peers.run("node", os.path.join(HERE, "dapjs_client.js"), board.port["cmsis-dap"],
                           env={**os.environ, "NODE_PATH": os.path.join(folder, "node_modules")})
        said = json.loads(out)
        assert (said["dpidr"], said["cpuid"], said["r0"]) == (0x6BA02477, 0x411FC272, 0x12345678), said
        assert said["halted"] and said["running"] and said["block"] and 0x08000000 <= said["pc"] < 0x08040000, said
        report = board.end()["fronts"][0]
        assert report["clients"] == 1 and not report["nonsense"] and report["transfers"] > 500, report


if __name__ == "__main__":
    # test_openocd's own tests are not in these names.
    tap.main(globals())
