#!/usr/bin/env python3
"""`--device=N:digest` names the wrong kernel: `digest_faults.py BUILD_DIR [--only TEXT] [--list]`.

Each fault of a list in test/Conversion/TileToNVVM/fault_list.py makes a compiler whose kernels compute
other numbers. A program of that compiler and one of the sound compiler run on the emulated device with
`:digest`. The first line in which they differ must name a kernel whose PTX the fault changed, and the op
that the fault concerns. One source and heddle are made anew for each fault (test/support/plant.py).
Ends in `N passed, N failed`."""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors  # noqa: E402
from fault_list import FAULTS  # noqa: E402
from plant import campaign  # noqa: E402

TOOL = "heddle"
WIDTH, OUT, HEADS, KV_HEADS, ROWS = 112, 128, 2, 1, 300

# Name of the fault: (numbers and chip of the program, op whose kernel is wrong).
CHOSEN = {
    "few rows are computed by both programs": ("f32", "sm_80", "linear"),
    "k descends": ("f32", "sm_80", "linear"),
    "f32: weights of two keys are those of the first": ("f32", "sm_80", "attention"),
    "f32: a component of queries stands for its neighbours": ("f32", "sm_80", "attention"),
    "the sum of the weights is not shrunk": ("f32", "sm_80", "attention"),
    "a row that is packed belongs to the head before": ("f32", "sm_80", "attention"),
    "sums of lower rows go to upper ones": ("bf16", "sm_80", "linear"),
    "halves of k are swapped on the left": ("bf16", "sm_80", "linear"),
    "values are not turned": ("bf16", "sm_80", "attention"),
    "lanes of a norm round the first lane's column": ("bf16", "sm_80", "rms_norm"),
    "registers take the columns of a row first": ("bf16", "sm_90a", "linear"),
    "a unit of values begins half a unit too early": ("bf16", "sm_90a", "attention"),
}


def write_model(folder):
    """A norm, three linears of it, an attention of two heads that share keys, a linear with a residual."""
    linear = lambda x, out, name: {"linear": x, "out": out, "weights": name}  # noqa: E731
    body = [{"u": {"rms_norm": "x", "eps": 1e-6, "weights": "norm"}},
            {"q": linear("u", OUT, "q")},
            {"k": linear("u", OUT // HEADS, "k")},
            {"v": linear("u", OUT // HEADS, "v")},
            {"a": {"attention": ["q", "k", "v"], "heads": HEADS, "kv_heads": KV_HEADS, "mask": "=causal"}},
            {"r": linear("a", WIDTH, "o")},
            {"y": "=x + r"}]
    model = {"heddle": 1, "name": "digests", "inputs": {"x": "f32[B,T,%d]" % WIDTH},
             "weights": {"file": "model.safetensors"}, "body": body, "outputs": ["y"]}
    # A line an op: a place in a line of digests tells which op its kernel does.
    text = json.dumps(model).replace('{"u"', '\n{"u"')
    for name in "qkvary":
        text = text.replace('{"%s":' % name, '\n{"%s":' % name)
    with open(os.path.join(folder, "model.json"), "w") as f:
        f.write(text)
    random = np.random.default_rng(12)
    weights = {"norm.weight": (1 + 0.1 * random.standard_normal(WIDTH)).astype(np.float32)}
    for name, out, inner in (("q", OUT, WIDTH), ("k", OUT // HEADS, WIDTH), ("v", OUT // HEADS, WIDTH), ("o", WIDTH, OUT)):
        weights[name + ".weight"] = (inner ** -0.5 * random.standard_normal((out, inner))).astype(np.float32)
        weights[name + ".bias"] = random.standard_normal(out).astype(np.float32)
    tensors.write(os.path.join(folder, "model.safetensors"), weights)
    tensors.write(os.path.join(folder, "in.safetensors"), {"x": random.standard_normal((1, ROWS, WIDTH)).astype(np.float32)})


def op_of_line(folder, line):
    with open(os.path.join(folder, "model.json")) as f:
        text = f.read().splitlines()[line - 1]
    return next(op for op in ("rms_norm", "linear", "attention", "=x + r") if op in text)


def kernels(heddle, folder, flags):
    """PTX of each kernel by its name, without the names of registers and labels that other kernels shift."""
    ptx = os.path.join(folder, "kernels.ptx")
    subprocess.run([heddle, "compile", os.path.join(folder, "model.json"), "--emit=ptx", "-o", ptx, *flags], check=True)
    with open(ptx) as f:
        parts = re.split(r"^\.visible \.entry (\w+)\(", f.read(), flags=re.M)
    return {name: re.sub(r"\$L__\w+", "L", text) for name, text in zip(parts[1::2], parts[2::2])}


def digests(heddle, folder, flags):
    """[(kernel, line of its op, the whole line)] of one run, which a fault may end early."""
    program, said = os.path.join(folder, "program"), os.path.join(folder, "out.safetensors")
    subprocess.run([heddle, "compile", os.path.join(folder, "model.json"), "--emulate-alone", "-o", program, *flags], check=True)
    run = subprocess.run([program, "run", "--input", os.path.join(folder, "in.safetensors"), "--output", said,
                          "--device=emulator:digest"], capture_output=True, text=True)
    lines = re.findall(r"^(launch \d+ (\S+) \(.*?:(\d+):\d+\) .*)$", run.stderr, re.M)
    if not lines:
        raise SystemExit("status %d: %s" % (run.returncode, run.stderr.strip()[-400:]))
    return [(kernel, int(line), text) for text, kernel, line in lines]


def first_difference(good, bad):
    """Index of the first line in which two runs differ; None if there is none."""
    return next((n for n, (a, b) in enumerate(zip(good, bad)) if a[2] != b[2]), None)


def main():
    known = {fault[0] for fault in FAULTS}
    if missing := CHOSEN.keys() - known:
        print("no such faults: %s" % ", ".join(sorted(missing)))
        return 1
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder)
        sound_runs = {}

        def flags(name):
            return ["--target=cuda", "--dtype=" + CHOSEN[name][0], "--mcpu=" + CHOSEN[name][1]]

        def sound_run(heddle, name):
            if CHOSEN[name][:2] not in sound_runs:
                sound_runs[CHOSEN[name][:2]] = digests(heddle, folder, flags(name)), kernels(heddle, folder, flags(name))
            return sound_runs[CHOSEN[name][:2]]

        def sound(build):
            for name in CHOSEN:
                good, _ = sound_run(os.path.join(build.path, "bin", TOOL), name)
                if first_difference(good, digests(os.path.join(build.path, "bin", TOOL), folder, flags(name))) is not None:
                    return "two runs of %s differ" % " ".join(CHOSEN[name][:2])
            return None

        def check(build, made, fault):
            """What the first differing line says; None if there is none or it names another kernel."""
            with tempfile.TemporaryDirectory() as tree:  # a compiler finds the runtime in ../lib
                os.mkdir(os.path.join(tree, "bin"))
                os.symlink(os.path.join(build.path, "lib"), os.path.join(tree, "lib"))
                tool = os.path.join(tree, "bin", TOOL)
                os.rename(build.link(TOOL, made), tool)
                good, texts = sound_run("", fault[0])
                bad = digests(tool, folder, flags(fault[0]))
                n = first_difference(good, bad)
                if n is None:
                    return None
                kernel, line, text = bad[n]
                changed = {name for name, ptx in kernels(tool, folder, flags(fault[0])).items() if ptx != texts.get(name)}
                op = op_of_line(folder, line)
                if kernel not in changed or op != CHOSEN[fault[0]][2]:
                    print("  names %s (%s), changed are %s" % (kernel, op, ", ".join(sorted(changed))))
                    return None
                return text

        return campaign([fault for fault in FAULTS if fault[0] in CHOSEN], [TOOL], check, sound)


if __name__ == "__main__":
    sys.exit(main())
