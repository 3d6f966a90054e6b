#!/usr/bin/env python3
"""Planted faults: each is one wrong line in what makes several texts at once, and company.py must notice it.

The spoiled source is compiled as the build does and put into a copy of the archives, from which programs are then linked.

    nice -n 10 test/Serve/faults.py BUILD_DIR [--only TEXT] [--list] [--keep-going-from N]
    test/Serve/faults.py --applies
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from fault_list import FAULTS
from plant import campaign

COMPANY = [os.path.join(HERE, "company.py"), "--requests", "40", "--at", "4:1,8:1"]


def tools(build):
    """A copy of the tool and the archives in the scratch folder."""
    folder = os.path.join(build.scratch, "tree")
    if not os.path.isdir(folder):
        os.makedirs(os.path.join(folder, "bin"))
        shutil.copy(os.path.join(build.path, "bin/heddle"), os.path.join(folder, "bin"))
    shutil.rmtree(os.path.join(folder, "lib"), ignore_errors=True)
    shutil.copytree(os.path.join(build.path, "lib"), os.path.join(folder, "lib"), ignore=lambda _, names: [n for n in names if not n.startswith("libheddle")])
    return folder


def fails(folder):
    """What of company.py fails with these tools; None: nothing."""
    try:
        done = subprocess.run(["/usr/bin/python3", *COMPANY, "--heddle", os.path.join(folder, "bin/heddle")], capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return None
    lines = [l for l in done.stdout.splitlines() if l.startswith("FAIL")] or (done.stderr or "status %d" % done.returncode).splitlines()[-1:]
    return lines[0][:100]


def check(build, made, fault):
    folder = tools(build)
    archive = "libheddle_%s.a" % fault[1].split("/")[1].lower()
    member = os.path.join(build.scratch, os.path.basename(fault[1]) + ".o")
    shutil.copy(made, member)
    subprocess.run(["ar", "r", os.path.join(folder, "lib", archive), member], check=True, capture_output=True)
    return fails(folder)


if __name__ == "__main__":
    sys.exit(campaign(FAULTS, ["heddle"], check, sound=lambda build: fails(tools(build))))
