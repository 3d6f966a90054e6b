#!/usr/bin/env python3
"""Planted faults of the lowering: each is one wrong line in compiler/Conversion/Lowering, ToKernels or compiler/Plan, and the test of form that is named
beside it (fault_list.py) must fail. Only one source and heddle-opt are made anew for each (test/support/plant.py).

    nice -n 10 test/Conversion/Lowering/faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Conversion/Lowering/faults.py --applies
"""
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from fault_list import FAULTS
from plant import campaign

TOOL = "heddle-opt"


def fails(tools, test):
    """Whether one of the test's RUN lines fails with the heddle-opt in the folder `tools`; how long that took."""
    file, start = os.path.join(HERE, test), time.time()
    with open(file) as f:
        lines = re.findall(r"^// RUN: (.*)$", f.read(), re.M)
    work = tempfile.TemporaryDirectory()
    environment = dict(os.environ, PATH=os.pathsep.join([tools, "/usr/lib/llvm-22/bin", "/usr/bin", "/bin"]))
    for line in lines:
        command = line.replace("%loops", "/usr/bin/python3 " + os.path.join(HERE, "loops.py")).replace("%s", file).replace("%t", os.path.join(work.name, "t"))
        if subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environment, capture_output=True, timeout=120).returncode:
            return "%s in %.1f s" % (test, time.time() - start)
    return None


def check(build, made, fault):
    return fails(os.path.dirname(build.link(TOOL, made)), fault[4])


def sound(build):
    return next((what for test in sorted({f[4] for f in FAULTS}) if (what := fails(os.path.join(build.path, "bin"), test))), None)


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, [TOOL], check, sound))
