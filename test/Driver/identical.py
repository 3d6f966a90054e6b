#!/usr/bin/env python3
"""Whether two builds make the same programs: `identical.py BUILD OTHER [--objects] [--cases N] [--only NAME] [--jobs N]`.

Both compile every example and N cases of the oracle in each of --modes, from the same folder and under the same name. Compared are

    object   what `--emit=obj` gives: code, weights' places and the card
    ptx      what `--emit=ptx` gives for sm_80 and sm_90a
    binary   of the examples in f32: the whole program, byte by byte, with the runtime that is linked into it
    outputs  of the examples in f32 and of all cases: what the linked program computes from the model's recorded input, or
             what it says to a text

--objects leaves `binary` out: for a change of the runtime, or of what is linked. One line a difference, saying which file and where,
then `N equal, M differ`; exit 1 if any differs or none was compared. Both must be built by the same C++ compiler, whose order of
arguments is the order of the code that is made. A change of the compiler that is to change no program is proved by it:

    git worktree add /tmp/before main && cmake -S /tmp/before -B /tmp/before/build -G Ninja && ninja -C /tmp/before/build heddle
    test/Driver/identical.py /tmp/before/build build --cases 20"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODES = {"f32": [], "wide": ["--dtype=bf16", "--math=wide"], "dots": ["--dtype=bf16", "--math=dots"], "f16": ["--dtype=f16"],
         "int8": ["--weights-dtype=int8"], "int4": ["--weights-dtype=int4"]}
# Made for one processor, so that it does not matter which machine compares.
KINDS = {"object": ["--emit=obj", "--mcpu=znver4"], "ptx": ["--target=cuda", "--emit=ptx", "--mcpu=sm_80+sm_90a"],
         "binary": ["--mcpu=znver4"], "outputs": []}
TEXT = "Once upon a time there was a little house"


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


def said(command, folder):
    """Status and output of a command, errors too; its own path, in which the build's name is, as PROGRAM."""
    p = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout.replace(command[0].encode(), b"PROGRAM")


def outputs(program, source, folder):
    """What a linked model computes from its recorded input, or else what it makes of a text; b"" if it does neither."""
    model = source if os.path.isdir(source) else os.path.dirname(source)
    for name in ("input.safetensors", "inputs.safetensors"):
        if os.path.exists(os.path.join(model, name)):
            status, text = said([program, "run", "--input", os.path.join(model, name), "--output", "-", "--threads=1"], folder)
            if status == 0:
                return text
    for words in ([TEXT, "-n", "24"], [TEXT]):
        status, text = said([program] + words, folder)
        if status == 0:
            return text
    return b""


def compiled(build, source, mode, kind, folder):
    """The bytes that a build makes of a model; what it says where it makes none."""
    out = os.path.join(folder, "out")
    if os.path.exists(out):
        os.unlink(out)
    status, text = said([os.path.join(build, "bin", "heddle"), "compile", source, "-o", out] + MODES[mode] + KINDS[kind], folder)
    if status:
        return None, "exit %d: %s" % (status, text.decode(errors="replace").strip())
    if kind == "outputs":
        return outputs(out, source, folder) or None, "the program gives nothing"
    with open(out, "rb") as f:
        return f.read(), ""


def compare(builds, name, source, mode, kind):
    """One line where the two differ; None: equal; "": neither build makes one."""
    with tempfile.TemporaryDirectory() as folder:
        (a, why), (b, other) = (compiled(build, source, mode, kind, folder) for build in builds)
    if a is None and b is None:
        return "" if why == other else "%s %s %s: said otherwise:\n  %s\n  %s" % (name, mode, kind, why, other)
    if a is None or b is None:
        return "%s %s %s: only one build makes it: %s" % (name, mode, kind, why or other)
    if a == b:
        return None
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "%s %s %s: %d and %d bytes, they part at byte %d: %r and %r" % (name, mode, kind, len(a), len(b), at, a[at:at + 40], b[at:at + 40])


def kinds(linked, mode, objects):
    """What is compared of a model in a mode; `linked`: an example."""
    return ["object", "ptx"] + (["outputs"] if mode == "f32" else []) + (["binary"] if linked and mode == "f32" and not objects else [])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("builds", nargs=2, metavar="BUILD")
    p.add_argument("--objects", action="store_true", help="the code that is made, not the runtime that is linked with it")
    p.add_argument("--cases", type=int, default=10, help="of the oracle, spread over its list (10)")
    p.add_argument("--only", default="", help="models whose name has this in it")
    p.add_argument("--modes", default="f32,wide,dots,int8,int4", help="of %s (all but f16)" % ",".join(MODES))
    p.add_argument("--kinds", default=",".join(KINDS), help="of %s (all)" % ",".join(KINDS))
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    builds = [os.path.abspath(b) for b in o.builds]
    tasks = [(name, source, mode, kind) for name, source, linked in models(o.cases, o.only) for mode in o.modes.split(",")
             for kind in kinds(linked, mode, o.objects) if kind in o.kinds.split(",")]
    equal = differ = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for line in pool.map(lambda t: compare(builds, *t), tasks):
            equal += line is None
            differ += bool(line)
            if line:
                print(line, flush=True)
    print("%d equal, %d differ, %d made by neither build" % (equal, differ, len(tasks) - equal - differ))
    return int(differ > 0 or equal == 0)


if __name__ == "__main__":
    sys.exit(main())
