#!/usr/bin/env python3
"""PTX of models, assembled: `ptxas.py --heddle HEDDLE [--chips sm_80,sm_90a] [--tiles] MODEL...`.

With --tiles also two of one linear each, 1024 x 512, in f32 and in bf16: a kernel that does it must have just so many
instructions that multiply (PRODUCTS), or LLVM has made something else of a tile. For each model and chip a line: kernels, most registers, bytes of stack, spills. A kernel with stack or spills, a text that ptxas
refuses or warns of, or one that holds what no text may hold (targets/GPU/README.md) counts as a failure. Ends in
`N passed, N failed[, N skipped]`; where there is no ptxas the assembling is skipped and said so."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FORBIDDEN = [(r"__nv_", "calls a device library"), (r"@-1\b", "a predicate that is none"),
             (r"\b(add|sub|mul|div|sqrt|fma)(\.ftz)?\.f32\b", "no rounding mode"), (r"\batom\.[a-z.]*(add|min|max)[a-z.]*\.f(16|32|64)\b", "float atomics")]


# Of the kernels of one linear: what a line holds, and how many lines do. f32: 4 steps of 8 x 8 sums a thread, and the general kernel for few rows. bf16: of a
# tall tile 2 steps of 4 x 4 units, of a low one 2 of 2; each left side comes by one ldmatrix.
PRODUCTS = {
    "f32": [("fma.rn.f32", 256, 1000), ("mma.sync", 0, 0)],
    "bf16": [("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 36, 36), ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", 10, 10), ("fma.rn.f32", 0, 0)],
}


def one_linear(folder):
    """The path of a model of one linear; its weights are zero."""
    sides = {"heddle": 1, "name": "tiles", "inputs": {"x": "f32[n,1024]"}, "weights": {"file": "model.safetensors"},
             "body": [{"y": {"linear": "x", "out": 512, "weights": "w"}}], "outputs": ["y"]}
    header = json.dumps({"w.weight": {"dtype": "F32", "shape": [512, 1024], "data_offsets": [0, 1 << 21]},
                         "w.bias": {"dtype": "F32", "shape": [512], "data_offsets": [1 << 21, (1 << 21) + 2048]}}).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(len(header).to_bytes(8, "little") + header + bytes((1 << 21) + 2048))
    with open(os.path.join(folder, "model.json"), "w") as f:
        json.dump(sides, f)
    return f.name


def miscounts(text, dtype):
    return ["%d x %s, not %d%s" % (found, what, low, " to %d" % high if high > low else "") for what, low, high in PRODUCTS[dtype]
            if not low <= (found := text.count(what)) <= high]


def assemble(path, chip):
    """-> problem or "", most registers, kernels"""
    p = subprocess.run(["ptxas", "-v", "-arch=" + chip, path, "-o", path + ".cubin"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        return "ptxas refuses it: " + p.stdout.strip().splitlines()[0], 0, 0
    used = [int(n) for n in re.findall(r"Used (\d+) registers", p.stdout)]
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", p.stdout)
    if any(n != "0" for frame in frames for n in frame):
        return "stack or spills", max(used, default=0), len(used)
    warned = [line for line in p.stdout.splitlines() if "warning" in line.lower() or "C75" in line]
    return warned[0] if warned else "", max(used, default=0), len(used)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--chips", default="sm_80,sm_90a")
    p.add_argument("--tiles", action="store_true")
    p.add_argument("model", nargs="*")
    o = p.parse_args()
    own = tempfile.TemporaryDirectory()
    models = [(model, model, None) for model in o.model]
    models += [("a linear in " + dtype, one_linear(own.name), dtype) for dtype in PRODUCTS if o.tiles]
    there = shutil.which("ptxas")
    passed = failed = skipped = 0
    if not there:
        print("there is no ptxas: texts are looked at, not assembled")
    for name, model, dtype in models:
        for chip in o.chips.split(","):
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/kernels.ptx"
                made = subprocess.run([o.heddle, "compile", model, "--target=cuda", "--mcpu=" + chip, "--emit=ptx", "-o", path]
                                      + (["--dtype=" + dtype] if dtype else []),
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if made.returncode:
                    problem = made.stdout.strip().splitlines()[:1]
                    print("FAIL %s %s: %s" % (name, chip, problem[0] if problem else "exit status %d" % made.returncode))
                    failed += 1
                    continue
                with open(path) as f:
                    text = f.read()
                problems = [why for pattern, why in FORBIDDEN if re.search(pattern, text)]
                kernels = len(re.findall(r"^\.visible \.entry", text, re.M))
                if dtype:
                    problems += miscounts(text, dtype)
                if not kernels:
                    problems.append("no kernels")
                registers = "?"
                if there:
                    problem, registers, assembled = assemble(path, chip)
                    problems += [problem] if problem else []
                    if not problem and assembled != kernels:
                        problems.append("%d of %d kernels were assembled" % (assembled, kernels))
                else:
                    skipped += 1
                print("%s%s %s: %d kernels, at most %s registers%s" % ("FAIL " if problems else "", name, chip, kernels, registers,
                                                                       ": " + "; ".join(problems) if problems else ""))
                passed, failed = passed + (not problems), failed + bool(problems)
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
