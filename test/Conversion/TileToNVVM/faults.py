#!/usr/bin/env python3
"""Planted faults of tiles: each is one wrong line in the lowering of tiles or in the programs of linears and attention, which test/GPU/tiles.py
or, where the list says so, test/GPU/tile_attention.py must notice on the emulated device. One source and heddle are made anew for each (test/support/plant.py).

    nice -n 10 test/Conversion/TileToNVVM/faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Conversion/TileToNVVM/faults.py --applies
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from fault_list import EQUIVALENT, FAULTS
from plant import ROOT, campaign

TOOL = "heddle"


def fails(tool, script):
    """What the script says first; None if nothing is wrong. One failure is enough, and a script that hangs is one, too."""
    command = ["/usr/bin/python3", "-u", os.path.join(ROOT, "test/GPU", script), "--heddle", tool]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as run:
        late = threading.Timer(600, os.killpg, (run.pid, signal.SIGKILL))
        late.start()
        said = next((line.strip() for line in run.stdout if "FAIL" in line or "rror" in line), None)
        if said and run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        status = run.wait()
        late.cancel()
    return said or ("status %d" % status if status else None)


def check(build, made, fault):
    # A compiler finds the runtime in ../lib.
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "bin"))
        os.symlink(os.path.join(build.path, "lib"), os.path.join(tree, "lib"))
        tool = os.path.join(tree, "bin", TOOL)
        os.rename(build.link(TOOL, made), tool)
        return fails(tool, *(fault[4:] or ["tiles.py"]))


def sound(build):
    tool = os.path.join(build.path, "bin", TOOL)
    return fails(tool, "tiles.py") or fails(tool, "tile_attention.py")


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, [TOOL], check, sound, EQUIVALENT))
