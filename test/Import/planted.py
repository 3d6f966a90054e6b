"""planted.py HEDDLE-TOOLS LLVM-TOOLS WORK: a broken model whose test is wrong fails, with the model written by lit's worker (support/spoiled.py) or by a process.

Each case is a test of this folder's kind with one wrong line; lit runs all of them as a suite of its own."""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, os.pardir, "support")
sys.path.insert(0, SUPPORT)
from checks import check, finish

GOOD = """RUN: %spoil %s %t && %exits 1 heddle check %t 2>&1 | FileCheck %s
RUN: not ls %t.out
BASE: gpt2
EDIT config.json: "n_head": 2 => "n_head": 3
CHECK: error[H0320]:{{.*}}3{{.*}}8
"""
CASES = {  # what is wrong -> the line, and what stands in its place
    "nothing": ("", ""),
    "message": ("{{.*}}3{{.*}}8", "{{.*}}4{{.*}}8"),
    "code": ("H0320", "H0321"),
    "status": ("%exits 1", "%exits 3"),
    "range": ("%exits 1", "%exits 2-5"),
    "edit": ('"n_head": 2', '"n_head": 7'),
    "mended": ('=> "n_head": 3', '=> "n_head": 4'),
    "base": ("gpt2", "gpt-none"),
    "no-edits": ("EDIT config.json", "EDITS config.json"),
    "check-line": ("CHECK:", "CHUCK:"),
    "left": ("not ls", "ls"),
}
CONFIG = """import sys
sys.path.insert(0, %r)
import spoiled
config.name = "planted"
config.suffixes = [".test"]
config.environment["PATH"] = %r
config.test_source_root = config.test_exec_root = %r
config.substitutions += [("%%exits", %r), ("%%spoil", "/usr/bin/python3 " + %r)]
spoiled.in_process = lambda path: %r
config.test_format = spoiled.Spoiled(execute_external=False)
"""


def verdicts(folder, alone, path):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, (old, new) in CASES.items():
        with open(os.path.join(folder, name + ".test"), "w", encoding="utf-8") as f:
            f.write(GOOD.replace(old, new) if old else GOOD)
    with open(os.path.join(folder, "lit.cfg.py"), "w", encoding="utf-8") as f:
        f.write(CONFIG % (SUPPORT, path, folder, os.path.join(SUPPORT, "exits.sh"), os.path.join(SUPPORT, "spoil.py"), not alone))
    report = os.path.join(folder, "report.json")
    subprocess.run(["/usr/bin/python3", os.path.join(sys.argv[2], "lit"), "-q", "-j2", "--output", report, folder], stdout=subprocess.DEVNULL, timeout=200)
    with open(report, encoding="utf-8") as f:
        return {os.path.basename(t["name"])[:-5].split("/")[-1].split(" ")[-1]: t["code"] for t in json.load(f)["tests"]}


tools, llvm, work = sys.argv[1:]
for how in ("worker", "process"):
    found = verdicts(os.path.join(os.path.abspath(work), how), how == "process", os.pathsep.join([tools, llvm, "/usr/bin", "/bin"]))
    for name in CASES:
        wanted = "PASS" if name == "nothing" else "FAIL"
        check(found.get(name) == wanted, "%s, %s is wrong: expected %s, found %s" % (how, name, wanted, found.get(name)))
finish()
