"""Experts of one tensor: `experts.py HEDDLE FOLDER`.

A mixture of 8 experts, 2 chosen, whose first matrices lie in one tensor and whose second ones have names of their own: its numbers, what a call
must read and multiply, counted by hand, and what its weights take in f32, bf16 and 4 bits."""
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np

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
passed = failed = 0


def check(what, good, found=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL %s: %s" % (what, str(found)[:500]))


def write(path, tensors):
    head, at = {}, 0
    for name, t in tensors.items():
        head[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def read(path, name):
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<Q", data[:8])[0]
    t = json.loads(data[8 : 8 + length])[name]
    begin, end = t["data_offsets"]
    return np.frombuffer(data[8 + length + begin : 8 + length + end], "<f4").reshape(t["shape"])


def expected(w, x):
    r = x @ w["router.weight"].T
    r = np.where(r >= np.sort(r, -1)[..., -CHOSEN:][..., :1], r, -np.inf)
    g = np.exp(r - r.max(-1, keepdims=True))
    g /= g.sum(-1, keepdims=True)
    y = 0
    for e in range(EXPERTS):
        h = x @ w["stack"][e].T
        y = y + g[..., e : e + 1] * ((h / (1 + np.exp(-h))) @ w["back.%d.weight" % e].T)
    return y


def main():
    heddle, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(7)
    make = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[-1])).astype("<f4")
    w = {"router.weight": make(EXPERTS, WIDTH), "stack": make(EXPERTS, INNER, WIDTH), **{"back.%d.weight" % e: make(WIDTH, INNER) for e in range(EXPERTS)}}
    write(os.path.join(folder, "model.safetensors"), w)
    model = os.path.join(folder, "model.json")
    with open(model, "w") as f:
        json.dump(MODEL, f)
    x = random.standard_normal((2, 5, WIDTH)).astype("<f4")
    write(os.path.join(folder, "in"), {"x": x})
    real = {n: t.astype(np.float64) for n, t in w.items()}
    matrix = INNER * WIDTH
    for flags, most, bytes_of in ((["--dtype=f32"], 1e-6, 4), (["--dtype=bf16"], 2e-2, 2), (["--weights-dtype=int4"], 0.3, 0.5 + 2 / 32)):
        what, program, out = flags[0], os.path.join(folder, "program"), os.path.join(folder, "out")
        subprocess.run([heddle, "compile", model, "-o", program] + flags, check=True, capture_output=True)
        subprocess.run([program, "run", "--input", os.path.join(folder, "in"), "--output", out], check=True)
        y, good = read(out, "y"), expected(real, x.astype(np.float64))
        error = np.sqrt(np.mean((y - good) ** 2) / np.mean(good**2))
        check(what + ": numbers", error < most, error)
        card = subprocess.run([program, "info", "--card"], check=True, capture_output=True, text=True).stdout
        form = lambda key: re.search(r"^%s (.*)$" % key, card, re.M)[1]
        for batch, rows in ((1, 1), (1, 3), (2, 5)):
            value = lambda key: eval(form(key).split(" #")[0], {"max": max, "min": min}, {"B": batch, "T": rows})
            n = batch * rows
            check(what + ": operations of %d rows" % n, value("flops") == 2 * n * WIDTH * EXPERTS + 2 * n * CHOSEN * 2 * matrix, value("flops"))
            router = WIDTH * EXPERTS * (4 if bytes_of < 1 else bytes_of)
            met, found = min(EXPERTS, n * CHOSEN) * 2 * matrix * bytes_of, value("reads")
            # The 8 columns of the router fill a panel of up to 48.
            check(what + ": bytes of %d rows" % n, met + router <= found <= met + 6 * router, (found, met, router))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
