#!/usr/bin/env python3
"""Planted faults of the device's runtime and of the emulator: each is one wrong line, and the unit test that is named beside it
(fault_list.py) must fail. One source and heddle_emulator_test are made anew for each (test/support/plant.py).

    nice -n 10 test/Emulator/faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Emulator/faults.py --applies
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from fault_list import FAULTS
from plant import campaign

TOOL = "heddle_emulator_test"


def fails(program, test):
    """The test, if it fails, crashes or does not end in a minute."""
    try:
        done = subprocess.run([program, "--gtest_filter=" + test], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return test + " does not end"
    if b"Running 1 test " not in done.stdout:
        raise SystemExit("there is no test " + test)
    return test if done.returncode else None


def check(build, made, fault):
    return fails(build.link(TOOL, made), fault[4])


def sound(build):
    return next((what for test in sorted({f[4] for f in FAULTS}) if (what := fails(os.path.join(build.path, "bin", TOOL), test))), None)


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, [TOOL], check, sound))
