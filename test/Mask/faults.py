#!/usr/bin/env python3
"""Planted faults: each is one wrong line in the C++ of masks, and the tests must notice it.

A fault is a substitution in a copy of one source. The copy alone is compiled and linked in front of the
libraries of a build, which is not touched; then the tests run until one fails. What ends in no time, or
in a signal, is caught too. A substitution that no longer applies is a failure.

    nice -n 10 test/Mask/faults.py BUILD_DIR [--only TEXT] [--quick] [--list] [--keep-going-from N]
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fault_list import EQUIVALENT, FAULTS

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
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


class Build:
    """The commands of a build, to be repeated with one source replaced."""

    def __init__(self, path, scratch):
        self.path, self.scratch, self.links, self.lines = path, scratch, {}, []

    def commands(self, target):
        out = subprocess.run(["ninja", "-C", self.path, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
        return out.splitlines()

    def compile_command(self, file):
        """As the build compiles it, with its precompiled headers, up to the outputs."""
        self.lines = self.lines or self.commands(CURSOR) + self.commands(KERNEL)
        for line in self.lines:
            if line.endswith("/" + file) and " -c " in line:
                words = shlex.split(line)
                words = words[next(i for i, w in enumerate(words) if re.search(r"\+\+(-\d+)?$", w)):]
                return words[: words.index("-MD")] + ["-w"]
        raise SystemExit("no command compiles " + file)

    def compile(self, file, text):
        source, made = os.path.join(self.scratch, os.path.basename(file)), os.path.join(self.scratch, "fault.o")
        open(source, "w").write(text)
        done = subprocess.run(self.compile_command(file) + ["-o", made, "-c", source], cwd=self.path, capture_output=True, text=True)
        return made if done.returncode == 0 else None, done.stderr

    def link(self, tool, made):
        """The tool with this object in front: what it defines is not taken from a library."""
        if tool not in self.links:
            self.links[tool] = self.commands(tool)[-1]
        line, out = self.links[tool], os.path.join(self.scratch, tool)
        line = re.sub(r" -o \S+", " %s -o %s" % (shlex.quote(made), shlex.quote(out)), line, count=1)
        if shutil.which("ld.lld"): # a fifth of the time
            line = line.replace(" -o ", " -fuse-ld=lld -o ", 1)
        subprocess.run(line, shell=True, check=True, cwd=self.path, capture_output=True)
        return out


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


def plant(build, fault):
    name, file, right, wrong = fault
    text = open(os.path.join(ROOT, file)).read()
    if text.count(right) != 1 or right == wrong:
        return "not planted (%d places)" % text.count(right), ""
    made, error = build.compile(file, text.replace(right, wrong))
    if not made:
        return "does not compile", next((l for l in error.splitlines() if "error" in l), "")[:160]
    for turn in range(2):
        for test in tests_of(file):
            if turn >= len(STEPS[test]):
                continue
            what = run(build.link(test, made), STEPS[test][turn])
            if what:
                return "caught", what
    return "SURVIVED", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", default="", help="faults whose name or file has this in it")
    parser.add_argument("--quick", action="store_true", help="every twentieth")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep-going-from", type=int, default=0, metavar="N")
    args = parser.parse_args()
    chosen = [(n, f) for n, f in enumerate(FAULTS) if args.only in f[0] or args.only in f[1]]
    chosen = [(n, f) for n, f in chosen if n >= args.keep_going_from and (not args.quick or n % 20 == 7)]
    if args.list:
        for n, f in chosen:
            print("%3d %-40s %s" % (n, os.path.basename(f[1]), f[0]))
        for name, file, why in EQUIVALENT:
            print("  = %-40s %s: %s" % (os.path.basename(file), name, why))
        return 0
    caught, start = 0, time.time()
    with tempfile.TemporaryDirectory() as scratch:
        build = Build(os.path.abspath(args.build), scratch)
        for tool in (CURSOR, KERNEL):
            what = run(os.path.join(build.path, "bin", tool), STEPS[tool][0])
            if what:
                print("without a fault %s fails: %s" % (tool, what))
                return 1
        for n, fault in chosen:
            verdict, how = plant(build, fault)
            caught += verdict == "caught"
            print("%3d %-9s %-32s %-56s %s" % (n, verdict, os.path.basename(fault[1]), fault[0], how), flush=True)
    print("%d faults in %d s, %d equivalent ones explained (--list)" % (len(chosen), time.time() - start, len(EQUIVALENT)))
    print("%d passed, %d failed" % (caught, len(chosen) - caught))
    return caught != len(chosen) or not chosen


if __name__ == "__main__":
    sys.exit(main())
