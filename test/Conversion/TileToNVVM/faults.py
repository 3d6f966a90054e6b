#!/usr/bin/env python3
"""Planted faults of tiles: each is one wrong line in the lowering of tiles or in the program of linears, which test/GPU/tiles.py must
notice on the emulated device. One source and heddle are made anew for each (test/support/plant.py).

    nice -n 10 test/Conversion/TileToNVVM/faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Conversion/TileToNVVM/faults.py --applies
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../support")]
from fault_list import FAULTS
from plant import ROOT, campaign

TOOL = "heddle"


def fails(tool):
    """What test/GPU/tiles.py says first; None if nothing is wrong."""
    test = os.path.join(ROOT, "test/GPU/tiles.py")
    done = subprocess.run(["/usr/bin/python3", test, "--heddle", tool], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    return next((line for line in done.stdout.splitlines() if "FAIL" in line or "rror" in line), "status %d" % done.returncode) if done.returncode else None


def check(build, made, fault):
    # A compiler finds the runtime in ../lib.
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "bin"))
        os.symlink(os.path.join(build.path, "lib"), os.path.join(tree, "lib"))
        tool = os.path.join(tree, "bin", TOOL)
        os.rename(build.link(TOOL, made), tool)
        return fails(tool)


def sound(build):
    return fails(os.path.join(build.path, "bin", TOOL))


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, [TOOL], check, sound))
