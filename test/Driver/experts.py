"""Experts of one tensor: `experts.py HEDDLE FOLDER`.

A mixture of 8 experts, 2 chosen, whose first matrices lie in one tensor and whose second ones have names of their own: its numbers, what a call
must read and multiply, counted by hand, and what its weights take in f32, bf16 and 4 bits."""
import json
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from reference import silu, softmax
import tensors
from checks import check, finish

EXPERTS, CHOSEN, WIDTH, INNER = 8, 2, 64, 96
MODEL = {
    "heddle": 1, "inputs": {"x": "f32[B,T,%d]" % WIDTH}, "weights": {"file": "model.safetensors"}, "outputs": ["y"],
    "body": [
        {"r": {"linear": "x", "out": EXPERTS, "bias": False, "weights": "router"}},
        {"g": {"top_k": "r", "k": CHOSEN, "fill": -1e30}},
        {"g": {"softmax": "g"}},
        {"into": {"parameter": [], "weight": "stack", "shape": [EXPERTS, INNER, WIDTH]}},
        {"m": "=0.0"},
        {"repeat": EXPERTS, "index": "e", "body": [
            {"h": {"linear": "x", "weight": "=into[e]", "bias": False}},
            {"y": {"linear": "=silu(h)", "out": WIDTH, "bias": False, "weights": "back.{e}"}},
            {"m": "=m + g[:, :, e:e + 1] * y"}]},
        {"y": "=m"}]}


def expected(w, x):
    r = x @ w["router.weight"].T
    r = np.where(r >= np.sort(r, -1)[..., -CHOSEN:][..., :1], r, -np.inf)
    g, y = softmax(r), 0
    for e in range(EXPERTS):
        h = x @ w["stack"][e].T
        y = y + g[..., e : e + 1] * (silu(h) @ w["back.%d.weight" % e].T)
    return y


def main():
    heddle, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(7)
    make = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[-1])).astype("<f4")
    w = {"router.weight": make(EXPERTS, WIDTH), "stack": make(EXPERTS, INNER, WIDTH), **{"back.%d.weight" % e: make(WIDTH, INNER) for e in range(EXPERTS)}}
    tensors.write(os.path.join(folder, "model.safetensors"), w)
    model = os.path.join(folder, "model.json")
    with open(model, "w") as f:
        json.dump(MODEL, f)
    x = random.standard_normal((2, 5, WIDTH)).astype("<f4")
    tensors.write(os.path.join(folder, "in"), {"x": x})
    real = {n: t.astype(np.float64) for n, t in w.items()}
    matrix = INNER * WIDTH
    for flags, most, bytes_of in ((["--dtype=f32"], 1e-6, 4), (["--dtype=bf16"], 2e-2, 2), (["--weights-dtype=int4"], 0.3, 0.5 + 2 / 32)):
        what, program, out = flags[0], os.path.join(folder, "program"), os.path.join(folder, "out")
        subprocess.run([heddle, "compile", model, "-o", program] + cached.quick(heddle) + flags, check=True, capture_output=True)
        subprocess.run([program, "run", "--input", os.path.join(folder, "in"), "--output", out], check=True)
        y, good = tensors.read(out)["y"], expected(real, x.astype(np.float64))
        error = np.sqrt(np.mean((y - good) ** 2) / np.mean(good**2))
        check(error < most, "%s: numbers: %.1e of their size apart" % (what, error))
        card = subprocess.run([program, "info", "--card"], check=True, capture_output=True, text=True).stdout
        form = lambda key: re.search(r"^%s (.*)$" % key, card, re.M)[1]
        for batch, rows in ((1, 1), (1, 3), (2, 5)):
            value = lambda key: eval(form(key).split(" #")[0], {"max": max, "min": min}, {"B": batch, "T": rows})
            n = batch * rows
            check(value("flops") == 2 * n * WIDTH * EXPERTS + 2 * n * CHOSEN * 2 * matrix, "%s: operations of %d rows: %d" % (what, n, value("flops")))
            router = WIDTH * EXPERTS * (4 if bytes_of < 1 else bytes_of)
            met, found = min(EXPERTS, n * CHOSEN) * 2 * matrix * bytes_of, value("reads")
            # The 8 columns of the router fill a panel of up to 48.
            check(met + router <= found <= met + 6 * router, "%s: bytes of %d rows: %d, of experts %d" % (what, n, found, met))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
