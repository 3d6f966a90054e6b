#!/usr/bin/env python3
"""Linears through tiles on the emulated device: `tiles.py --heddle HEDDLE`.

Sides that no tile fits, rows that fill no tile, a residual, a bias, a function in the epilogue, a norm whose rows two linears read, a kernel of two
linears whose copies are of two kinds. In f32 every bit before the norm is a processor's, whether 1
row is multiplied, 16 (the general kernel), 17 or 150 (tiles). In bf16 a row's bits are the same in any company, and numbers
are those of rounded factors in f64 as far as sums in f32 go, whether units round or cut off. All of it whatever the order of threads
and the moment at which copies and products are done, and without a race, on sm_80 and on sm_90a. Ends in `N passed, N failed`."""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from reference import gelu, rms_norm
import tensors  # noqa: E402
from emulated_program import compile_model, run_program  # noqa: E402

ROWS = [1, 16, 17, 64, 65, 130, 150]
DEVICES = ["", "copies=early,order=reverse", "copies=random,order=random,seed=5,sms=3", "races,copies=random,seed=2",
           "copies=early,products=late,sms=1", "products=early,order=reverse", "races,copies=random,products=random,order=random,seed=7"]
# The sides of the linears: x, up and skip, down, last. No unit of 16 fills the first; the second ones lie in groups on a device, and fill no round of 64. A norm
# rounds the rows of the third sides; in "panels" it is a result of the model as well.
SIDES = {"panels": (100, 181, 136, 64), "groups": (112, 208, 144, 70)}


def model(name):
    x, up, down, last = SIDES[name]
    return {
        "heddle": 1, "name": "tiles", "inputs": {"x": "f32[n,%d]" % x}, "weights": {"file": "model.safetensors"},
        "body": [
            {"h": {"linear": "x", "out": up, "weights": "up"}},
            {"g": "=gelu(h)"},
            {"r": {"linear": "x", "out": down, "bias": False, "weights": "skip"}},
            {"d": {"linear": "g", "out": down, "weights": "down"}},
            {"y": "=d + r"},
            {"u": {"rms_norm": "y", "eps": 1e-6, "weights": "norm"}},
            {"z": {"linear": "u", "out": last, "weights": "last"}},
            {"v": {"linear": "u", "out": last, "bias": False, "weights": "other"}}],
        "outputs": ["h", "y", "z", "v"] + ["u"] * (name == "panels")}


def bf16(x):
    """Rounded to bf16, as f64."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def expected(w, x):
    product = lambda x, name: bf16(x) @ bf16(w[name + ".weight"]).T + w.get(name + ".bias", np.float32(0)).astype(np.float64)  # noqa: E731
    h = product(x, "up")
    y = product(gelu(h), "down") + product(x, "skip")
    u = rms_norm(y, w["norm.weight"], 1e-6)
    return {"h": h, "y": y, "u": u, "z": product(u, "last"), "v": product(u, "other")}


class Suite:
    """Programs of one model."""
    passed = failed = 0

    def __init__(self, heddle, work, name):
        self.heddle, self.work, self.name = heddle, os.path.join(work, name), name
        os.mkdir(self.work)
        random = np.random.default_rng(12)
        x, up, down, last = SIDES[name]
        self.weights = {}
        for weight, out, inner, bias in (("up", up, x, True), ("skip", down, x, False), ("down", down, up, True), ("last", last, down, True), ("other", last, down, False)):
            self.weights[weight + ".weight"] = (inner ** -0.5 * random.standard_normal((out, inner))).astype(np.float32)
            if bias:
                self.weights[weight + ".bias"] = random.standard_normal(out).astype(np.float32)
        self.weights["norm.weight"] = (1 + 0.1 * random.standard_normal(down)).astype(np.float32)
        self.x = random.standard_normal((max(ROWS), x)).astype(np.float32)
        with open(os.path.join(self.work, "model.json"), "w") as f:
            json.dump(model(name), f)
        tensors.write(os.path.join(self.work, "model.safetensors"), self.weights)
        self.right = expected(self.weights, self.x)

    def compile(self, name, *flags):
        return compile_model(self.heddle, self.work, name, *flags)

    def run(self, program, rows, device=None):
        return run_program(program, self.work, {"x": self.x[-rows:]}, device)

    @staticmethod
    def tally(good, what):
        Suite.passed, Suite.failed = Suite.passed + bool(good), Suite.failed + (not good)
        if not good:
            print("FAIL " + what)

    def count(self, good, what):
        self.tally(good, "%s, %s" % (self.name, what))

    def same(self, a, b, what):
        """b is the last rows of a, bit by bit."""
        self.count(a.keys() == b.keys() and a and all(a[k][-len(b[k]):].tobytes() == b[k].tobytes() for k in a), what)

    def reals(self, chip):
        """f32: a processor's bits; behind the norm, whose sums have another order there, the same bits in any company."""
        program, processor = self.compile("f32_" + chip, *cuda(chip)), self.run(self.compile("cpu"), max(ROWS))
        all_rows = {**self.run(program, max(ROWS), ""), "h": processor["h"], "y": processor["y"]}
        for rows in ROWS:
            self.same(all_rows, self.run(program, rows, ""), "f32 %s: %d rows have other bits than on a processor" % (chip, rows))
        for device in DEVICES[1:4]:
            self.same(all_rows, self.run(program, max(ROWS), device), "f32 %s: other bits with %s" % (chip, device))

    def pairs(self, chip, mma):
        """bf16: the same bits in any company, and the numbers of rounded factors. Gives the results of all rows."""
        program = self.compile("bf16_" + chip, "--dtype=bf16", *cuda(chip))
        tall = self.run(program, max(ROWS), mma)
        for rows in ROWS[:-1]:
            self.same(tall, self.run(program, rows, mma), "bf16 %s %s: %d rows have other bits than %d" % (chip, mma, rows, max(ROWS)))
        for device in DEVICES[1:]:
            self.same(tall, self.run(program, max(ROWS), ",".join(filter(None, [device, mma]))), "bf16 %s %s: other bits with %s" % (chip, mma, device))
        # The first product has the factors of the other one; behind it a rounding may go the other way.
        for name in tall:
            limit = 2e-6 if name == "h" else 4e-4
            off = np.sqrt(np.mean((tall[name] - self.right[name]) ** 2) / np.mean(self.right[name] ** 2))
            self.count(off < limit, "bf16 %s %s: %s is off by %.1e of its rms" % (chip, mma, name, off))
        return tall


def joined(heddle, work):
    """Two linears in one kernel of sm_90a: the table of an embedding through copies of threads, and behind it one in groups, through copies in bulk."""
    random, work = np.random.default_rng(3), os.path.join(work, "joined")
    os.mkdir(work)
    weights = {name + ".weight": (112 ** -0.5 * random.standard_normal((rows, 112))).astype(np.float32) for name, rows in (("table", 208), ("other", 144))}
    body = [{"e": {"embedding": "ids", "rows": 208, "width": 112, "weights": "table"}},
            {"a": {"linear": "x", "out": 208, "bias": False, "weights": "table"}}, {"b": {"linear": "z", "out": 144, "bias": False, "weights": "other"}}]
    with open(os.path.join(work, "model.json"), "w") as f:
        json.dump({"heddle": 1, "name": "joined", "inputs": {"ids": "i64[n]", "x": "f32[n,112]", "z": "f32[n,112]"}, "weights": {"file": "model.safetensors"},
                   "body": body, "outputs": ["e", "a", "b"]}, f)
    tensors.write(os.path.join(work, "model.safetensors"), weights)
    program = compile_model(heddle, work, "program", "--dtype=bf16", *cuda("sm_90a"))
    given = {"ids": np.arange(150) % 208, **{name: random.standard_normal((150, 112)).astype(np.float32) for name in "xz"}}
    right = {"a": bf16(given["x"]) @ bf16(weights["table.weight"]).T, "b": bf16(given["z"]) @ bf16(weights["other.weight"]).T}
    for device in ("sms=1", "races,copies=random,products=random,order=random,seed=7,sms=1"):
        got = run_program(program, work, given, device)
        for name, y in right.items():
            off = np.sqrt(np.mean((got[name] - y) ** 2) / np.mean(y ** 2)) if name in got else np.inf
            Suite.tally(off < 2e-6, "joined, %s: %s is off by %.1e of its rms" % (device, name, off))


def cuda(chip):
    return ["--target=cuda", "--mcpu=" + chip, "--emulate-alone", "--emulate-races"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as work:
        panels, groups = (Suite(os.path.abspath(o.heddle), work, name) for name in SIDES)
        panels.reals("sm_80")
        groups.reals("sm_90a")
        panels.pairs("sm_80", "")
        panels.pairs("sm_90a", "mma=chop")
        for mma in ("", "mma=chop"):
            # Both chips add units in one order here, so that they have the same bits; so has a program for both.
            tall = groups.pairs("sm_80", mma)
            groups.same(tall, groups.pairs("sm_90a", mma), "bf16 %s: two chips have other bits" % mma)
        both = groups.compile("bf16_both", "--dtype=bf16", *cuda("sm_80+sm_90a"))
        groups.same(groups.run(groups.compile("bf16_one", "--dtype=bf16", *cuda("sm_80")), 65, ""), groups.run(both, 65, ""), "bf16: other bits in a program for two chips")
        joined(os.path.abspath(o.heddle), work)
    print("%d passed, %d failed" % (Suite.passed, Suite.failed))
    return int(Suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
