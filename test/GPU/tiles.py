#!/usr/bin/env python3
"""Linears through tiles on the emulated device: `tiles.py --heddle HEDDLE`.

Sides that no tile fits, rows that fill no tile, a residual, a bias, a function in the epilogue. In f32 every bit is a processor's, whether 1
row is multiplied, 16 (the general kernel), 17 or 150 (tiles). In bf16 a row's bits are the same in any company, and numbers
are those of rounded factors in f64 as far as sums in f32 go, whether units round or cut off. All of it whatever the order of threads
and the moment at which copies are done, and without a race. Ends in `N passed, N failed`."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Oracle"))
import tensors  # noqa: E402

ROWS = [1, 16, 17, 150]
DEVICES = ["", "copies=early,order=reverse", "copies=random,order=random,seed=5,sms=3", "races,copies=random,seed=2"]
MODEL = {
    "heddle": 1, "name": "tiles", "inputs": {"x": "f32[n,100]"}, "weights": {"file": "model.safetensors"},
    "body": [
        {"h": {"linear": "x", "out": 180, "weights": "up"}},
        {"g": "=gelu(h)"},
        {"r": {"linear": "x", "out": 133, "bias": False, "weights": "skip"}},
        {"d": {"linear": "g", "out": 133, "weights": "down"}},
        {"y": "=d + r"},
        {"z": {"linear": "y", "out": 64, "weights": "last"}}],
    "outputs": ["h", "y", "z"]}


def bf16(x):
    """Rounded to bf16, as f64."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def expected(w, x):
    product = lambda x, name: bf16(x) @ bf16(w[name + ".weight"]).T + w.get(name + ".bias", np.float32(0)).astype(np.float64)  # noqa: E731
    h = product(x, "up")
    g = h * 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
    y = product(g, "down") + product(x, "skip")
    return {"h": h, "y": y, "z": product(y, "last")}


class Suite:
    def __init__(self, heddle, work):
        self.heddle, self.work, self.passed, self.failed = heddle, work, 0, 0
        random = np.random.default_rng(12)
        self.weights = {}
        for name, out, inner, bias in (("up", 180, 100, True), ("skip", 133, 100, False), ("down", 133, 180, True), ("last", 64, 133, True)):
            self.weights[name + ".weight"] = (inner ** -0.5 * random.standard_normal((out, inner))).astype(np.float32)
            if bias:
                self.weights[name + ".bias"] = random.standard_normal(out).astype(np.float32)
        self.x = random.standard_normal((max(ROWS), 100)).astype(np.float32)
        with open(os.path.join(work, "model.json"), "w") as f:
            json.dump(MODEL, f)
        tensors.write(os.path.join(work, "model.safetensors"), self.weights)

    def compile(self, name, *flags):
        program = os.path.join(self.work, name)
        subprocess.run([self.heddle, "compile", os.path.join(self.work, "model.json"), "-o", program, *flags], check=True)
        return program

    def run(self, program, rows, device=None):
        given, result = os.path.join(self.work, "in.safetensors"), os.path.join(self.work, "out.safetensors")
        tensors.write(given, {"x": self.x[-rows:]})
        chosen = [] if device is None else ["--device=emulator" + (":" + device if device else "")]
        p = subprocess.run([program, "run", "--input", given, "--output", result, *chosen], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode:
            print("FAIL %s: exit status %d: %s" % (os.path.basename(program), p.returncode, p.stdout.strip()[-300:]))
            return {}
        return tensors.read(result)

    def count(self, good, what):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print("FAIL " + what)

    def same(self, a, b, what):
        """b is the last rows of a, bit by bit."""
        self.count(a.keys() == b.keys() and a and all(a[k][-len(b[k]):].tobytes() == b[k].tobytes() for k in a), what)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(os.path.abspath(o.heddle), work)
        cuda = ["--target=cuda", "--mcpu=sm_80", "--emulate", "--emulate-races"]
        processor, reals, pairs = suite.compile("cpu"), suite.compile("f32", *cuda), suite.compile("bf16", "--dtype=bf16", *cuda)
        all_rows = suite.run(processor, max(ROWS))
        for rows in ROWS:
            suite.same(all_rows, suite.run(reals, rows, ""), "f32: %d rows have other bits than on a processor" % rows)
        for device in DEVICES[1:]:
            suite.same(all_rows, suite.run(reals, max(ROWS), device), "f32: other bits with " + device)
        right = expected(suite.weights, suite.x)
        for mma in ("", "mma=chop"):
            tall = suite.run(pairs, max(ROWS), mma)
            for rows in ROWS[:-1]:
                suite.same(tall, suite.run(pairs, rows, mma), "bf16 %s: %d rows have other bits than %d" % (mma, rows, max(ROWS)))
            for device in DEVICES[1:]:
                suite.same(tall, suite.run(pairs, max(ROWS), ",".join(filter(None, [device, mma]))), "bf16 %s: other bits with %s" % (mma, device))
            # The first product has the factors of the other one; behind it a rounding may go the other way.
            for name, limit in (("h", 2e-6), ("y", 4e-4), ("z", 4e-4)):
                off = np.sqrt(np.mean((tall[name] - right[name]) ** 2) / np.mean(right[name] ** 2)) if name in tall else np.inf
                suite.count(off < limit, "bf16 %s: %s is off by %.1e of its rms" % (mma, name, off))
        print("%d passed, %d failed" % (suite.passed, suite.failed))
        return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
