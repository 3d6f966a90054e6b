#!/usr/bin/env python3
"""Whether two builds make the same programs: `identical.py BUILD OTHER [--cases N] [--only NAME] [--jobs N]`.

Both compile every example and N cases of the oracle, in f32, bf16 (wide and, where it can be made, dots) and f16, from the same
folder and under the same name; the objects are compared byte by byte, and of the examples the linked binaries too (code, card,
weights, runtime). One line a difference, saying which file and where, then `N equal, M differ`; exit 1 if any differs or
none was compared. Both must be built by the same C++ compiler, whose order of arguments is the order of the code that is made. A change of the compiler that is to change no program is proved by it:

    git worktree add /tmp/before main && cmake -S /tmp/before -B /tmp/before/build -G Ninja && ninja -C /tmp/before/build heddle
    test/Driver/identical.py /tmp/before/build build --cases 20"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Made for one processor, so that it does not matter which machine compares.
MODES = {"f32": [], "wide": ["--dtype=bf16", "--math=wide"], "dots": ["--dtype=bf16", "--math=dots"], "f16": ["--dtype=f16"]}


def models(cases, only):
    """Name, path and whether its binary is linked too."""
    found = []
    examples = os.path.join(ROOT, "examples")
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(examples, name)
        for source in (os.path.join(folder, "model.json"), folder):
            if os.path.exists(source if source != folder else os.path.join(folder, "config.json")):
                found.append((name, source, True))
                break
    oracle = os.path.join(ROOT, "..", "shared", "oracle")
    names = sorted(n for n in (os.listdir(oracle) if os.path.isdir(oracle) else []) if os.path.exists(os.path.join(oracle, n, "config.json")))
    step = max(len(names) // cases, 1) if cases else 1
    found += [(n, os.path.join(oracle, n), False) for n in names[::step][:cases]]
    return [m for m in found if not only or only in m[0]]


def compiled(build, source, flags, kind, folder):
    """The bytes that a build makes of a model; what it says where it makes none."""
    out = os.path.join(folder, "out")
    if os.path.exists(out):
        os.unlink(out)
    command = [os.path.join(build, "bin", "heddle"), "compile", source, "-o", out, "--mcpu=znver4"] + flags
    p = subprocess.run(command + (["--emit=obj"] if kind == "object" else []), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        return None, "exit %d: %s" % (p.returncode, p.stdout.decode(errors="replace").strip())
    with open(out, "rb") as f:
        return f.read(), ""


def compare(builds, name, source, mode, kind):
    """One line where the two differ; None: equal; "": neither build makes one."""
    with tempfile.TemporaryDirectory() as folder:
        (a, why), (b, other) = (compiled(build, source, MODES[mode], kind, folder) for build in builds)
    if a is None and b is None:
        return "" if why == other else "%s %s %s: said otherwise:\n  %s\n  %s" % (name, mode, kind, why, other)
    if a is None or b is None:
        return "%s %s %s: only one build makes it: %s" % (name, mode, kind, why or other)
    if a == b:
        return None
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "%s %s %s: %d and %d bytes, they part at byte %d" % (name, mode, kind, len(a), len(b), at)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("builds", nargs=2, metavar="BUILD")
    p.add_argument("--cases", type=int, default=10, help="of the oracle, spread over its list (10)")
    p.add_argument("--only", default="", help="models whose name has this in it")
    p.add_argument("--modes", default="f32,wide,dots", help="of %s (all but f16)" % ",".join(MODES))
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    builds = [os.path.abspath(b) for b in o.builds]
    tasks = [(name, source, mode, kind) for name, source, linked in models(o.cases, o.only) for mode in o.modes.split(",")
             for kind in (["object", "binary"] if linked and mode == "f32" else ["object"])]
    equal = differ = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for line in pool.map(lambda t: compare(builds, *t), tasks):
            equal += line is None
            differ += bool(line)
            if line:
                print(line, flush=True)
    print("%d equal, %d differ" % (equal, differ))
    return int(differ > 0 or equal == 0)


if __name__ == "__main__":
    sys.exit(main())
