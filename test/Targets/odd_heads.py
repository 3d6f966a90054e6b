"""odd_heads.py HEDDLE WORK: attention whose values are 1, 17 and 33 wide, one lane more than whole vectors, read by one linear.

In every dtype, on 1, 2 and 3 threads: the same bits, and the numbers that the interpreter has with the same rounding. (Where LLVM stored
the last lane too wide, the first element of the next head was lost when another thread had written it before.)"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

HEDDLE, WORK = sys.argv[1:]
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish
from random_weights import Weights, tensors

WIDTHS, HEADS, BATCH, ROWS = (1, 17, 33), (2, 3), 1, 1
WAYS = {"f32": [], "bf16": ["--dtype=bf16"], "bf16, wide": ["--dtype=bf16", "--math=wide"], "f16": ["--dtype=f16"], "int8": ["--weights-dtype=int8", "--group=32"],
        "int8 and bf16": ["--weights-dtype=int8", "--group=32", "--dtype=bf16"]}


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    w, body, inputs, outputs = Weights(WORK, 5), [], {}, []
    for heads in HEADS:
        for width in WIDTHS:
            name = "%d_%d" % (heads, width)
            inputs.update({"q" + name: "f32[B,T,%d]" % (16 * heads), "v" + name: "f32[B,T,%d]" % (width * heads)})
            body += [{"a" + name: {"attention": ["q" + name, "q" + name, "v" + name], "heads": heads, "mask": "=causal"}}, {"y" + name: {"linear": "a" + name, "out": 32, "weights": "w" + name}}]
            outputs += ["y" + name]
            w.linear("w" + name, 32, width * heads)
    tensors.write(os.path.join(WORK, "model.safetensors"), w.named)
    description = os.path.join(WORK, "model.json")
    with open(description, "w", encoding="utf-8") as f:
        json.dump({"heddle": 1, "name": "heads", "inputs": inputs, "weights": "model.safetensors", "body": body, "outputs": outputs}, f)
    random, given, want = np.random.default_rng(7), os.path.join(WORK, "in.safetensors"), os.path.join(WORK, "want.safetensors")
    tensors.write(given, {n: random.standard_normal((BATCH, ROWS, int(s.split(",")[2][:-1]))).astype(np.float32) for n, s in inputs.items()})
    for way, flags in WAYS.items():
        binary, out = os.path.join(WORK, "model"), os.path.join(WORK, "out.safetensors")
        subprocess.run([HEDDLE, "compile", description, "-o", binary, *flags], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([HEDDLE, "interpret", description, "-i", given, "-o", want, *flags], check=True, stderr=subprocess.DEVNULL)
        wanted, first = tensors.read(want), None
        for threads in (1, 2, 3) * 6:
            subprocess.run([binary, "run", "--input", given, "--output", out, "--threads", str(threads)], check=True)
            got = tensors.read(out)
            first = first or got
            same = all(got[n].tobytes() == first[n].tobytes() for n in outputs)
            far = max(float(np.abs(got[n].astype(np.float64) - wanted[n]).max()) for n in outputs)
            near = all(np.isfinite(got[n]).all() for n in outputs) and far < (2e-5 if way == "f32" else 0.06)
            check(same and near, "%s, %d threads: %s, largest difference from the interpreter %g" % (way, threads, "the same bits" if same else "other bits than the first run", far))
            if not (same and near):
                break
    return finish()


if __name__ == "__main__":
    sys.exit(main())
