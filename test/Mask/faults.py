#!/usr/bin/env python3
"""Planted faults: each is one wrong line in the C++ of masks, and the tests must notice it (test/support/plant.py).

The tests run until one fails. What ends in no time, or in a signal, is caught too.

    nice -n 10 test/Mask/faults.py BUILD_DIR [--only TEXT] [--quick] [--list] [--keep-going-from N]
    test/Mask/faults.py --applies
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from fault_list import EQUIVALENT, FAULTS
from plant import ROOT, campaign

CURSOR, KERNEL, LAWS = "heddle_mask_test", "heddle_mask_kernel_test", "heddle-opt"
OPTIONS = ["--threads=1", "--failures=1", "--limit=10"]
# What is tried in turn: most faults show in the first seconds.
STEPS = {
    CURSOR: [["--expressions=64", "--seed=3"], ["--expressions=640", "--seed=4"]],
    KERNEL: [["--expressions=32", "--seed=3"], ["--expressions=320", "--seed=4"]],
    LAWS: [["simplify.mlir"]],
}


def tests_of(file):
    if "Attention" in file or "Interpreter" in file:
        return [KERNEL]
    if "Transforms" in file or "MaskProofs" in file:
        return [LAWS, CURSOR]
    if "/IR/" in file:
        return [CURSOR, LAWS, KERNEL]
    return [CURSOR, KERNEL] if "EmitWalk" in file or "EmitConnectives" in file else [CURSOR]


def run(tool, step):
    """None when all is well, else what failed."""
    name = os.path.basename(tool)
    if name == LAWS:
        test = os.path.join(ROOT, "test/Dialect/Mask", step[0])
        line = "%s %s --split-input-file --mask-simplify --canonicalize --cse | /usr/lib/llvm-22/bin/FileCheck %s" % (tool, test, test)
        done = subprocess.run(["timeout", "60", "bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
        return None if done.returncode == 0 else step[0]
    try:
        done = subprocess.run([tool] + OPTIONS + step + ["--gtest_fail_fast"], capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return "%s does not end" % name
    if done.returncode == 0:
        return None
    text = done.stdout + done.stderr
    at = re.search(r"\[  FAILED  \] (\S+)|FAIL (.*no end)", text)
    running = re.findall(r"\[ RUN      \] (\S+)", text)
    return at.group(1) or at.group(2) if at else "%s, by status %d" % (running[-1] if running else name, done.returncode)


def check(build, made, fault):
    for turn in range(2):
        for test in tests_of(fault[1]):
            if turn < len(STEPS[test]):
                if what := run(build.link(test, made), STEPS[test][turn]):
                    return what
    return None


def sound(build):
    return next((what for tool in (CURSOR, KERNEL) if (what := run(os.path.join(build.path, "bin", tool), STEPS[tool][0]))), None)


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, [CURSOR, KERNEL], check, sound, EQUIVALENT))
