#!/usr/bin/python3
"""Ops whose elements depend on each other, on the emulated device against NumPy: `scans.py --heddle HEDDLE`.

Largest elements and their first place (ties, NaN, rows of -inf), sums and running sums, group norm, of lengths around those where lanes and parts end: of one
element, 31, 32, 33, of a part and one more. Texts with padding anywhere, keys that no row sees among them, go through an attention as on a processor. Every run
has the same bits on one block and on many, in any order, and is watched for races. Ends in `N passed, N failed`."""
import argparse
import json
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
from checks import check, finish  # noqa: E402
from emulated_program import compile_model, run_program, tensors  # noqa: E402

LONG = 5003  # more elements than one warp reduces
MODEL = {"heddle": 1, "name": "scans", "weights": {"file": "model.safetensors"},
         "inputs": {"x": "f32[N,M]", "k": "i64[N,M]", "long": "f32[N,%d]" % LONG, "places": "f32[N,P,12]"},
         "body": [{"argmax": {"argmax": "x", "axis": 1}}, {"max": {"max": "x", "axis": 1}}, {"sum": {"sum": "x", "axis": 1}}, {"mean": {"mean": "x", "axis": 1}},
                  {"isum": {"sum": "k", "axis": 1}}, {"imax": {"max": "k", "axis": 1}}, {"iargmax": {"argmax": "k", "axis": 1}},
                  {"running": {"cumsum": "x", "axis": 1}}, {"counted": {"cumsum": "k", "axis": 1}},
                  {"largmax": {"argmax": "long", "axis": 1}}, {"lmax": {"max": "long", "axis": 1}}, {"lsum": {"sum": "long", "axis": 1}},
                  {"both": {"sum": "places", "axis": [1, 2]}}, {"along": {"sum": "places", "axis": 1}},
                  {"norm": {"group_norm": "places", "groups": 4, "weights": "g"}}, {"single": {"group_norm": "places", "groups": 12, "weights": "g"}}],
         "outputs": ["argmax", "max", "sum", "mean", "isum", "imax", "iargmax", "running", "counted", "largmax", "lmax", "lsum", "both", "along", "norm", "single"]}
# Rows (N), row length (M), positions (P).
LENGTHS = [(1, 1, 1), (3, 31, 255), (2, 32, 256), (5, 33, 257), (2, 700, 600)]
DEVICES = ["races", "sms=1,races", "order=random,seed=5,races", "sms=3,order=reverse"]
TEXTS = {"heddle": 1, "name": "texts", "inputs": {"x": "f32[B,T,8]", "seen": "i64[B,T]", "rows": "i64[B,T]"}, "outputs": ["y", "n"],
         "body": [{"y": {"attention": ["x", "x", "x"], "heads": 2, "mask": "=keys(seen) and causal"}}, {"n": {"cumsum": "rows", "axis": 1}}]}


def numbers(n, m, p):
    random = np.random.default_rng(n * 1000 + m)
    x = random.integers(-3, 4, (n, m)).astype(np.float32)  # with ties
    x[0, m // 2] = np.nan if m > 1 else -np.inf
    if n > 1:
        x[1] = -np.inf
    if n > 2:
        x[2, -1] = x[2, 0] = 9
    long = random.normal(size=(n, LONG)).astype(np.float32)
    long[0, 1024] = long[0, 1023] = long[0, 4999] = 7
    if n > 1:
        long[1, LONG - 1] = np.nan
        long[1, 17] = np.nan
    return {"x": x, "k": random.integers(-(1 << 40), 1 << 40, (n, m)), "long": long, "places": random.normal(2, 1, (n, p, 12)).astype(np.float32)}


def group_norm(x, groups, w, b):
    g = x.astype(np.float64).reshape(x.shape[0], x.shape[1], groups, -1)
    d = g - g.mean((1, 3), keepdims=True)
    return (d / np.sqrt((d * d).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * w + b


def running(x):
    """f32, in the order of the axis."""
    sums = np.zeros_like(x)
    now = np.zeros(len(x), np.float32)
    for i in range(x.shape[1]):
        now = now + x[:, i]
        sums[:, i] = now
    return sums


def expected(v, w, b):
    x, k, long, places = v["x"], v["k"], v["long"], v["places"]
    wide = x.astype(np.float64)
    return {"argmax": x.argmax(1), "max": x.max(1), "sum": wide.sum(1), "mean": wide.mean(1), "isum": k.sum(1), "imax": k.max(1), "iargmax": k.argmax(1),
            "running": running(x), "counted": k.cumsum(1), "largmax": long.argmax(1), "lmax": long.max(1), "lsum": long.astype(np.float64).sum(1),
            "both": places.astype(np.float64).sum((1, 2)), "along": places.astype(np.float64).sum(1), "norm": group_norm(places, 4, w, b),
            "single": group_norm(places, 12, w, b)}


def agree(got, exact):
    """Whole numbers, running sums and maxima exactly, other sums to rounding; NaN where NaN is."""
    if got.dtype == np.int64 or exact.dtype == np.float32:
        return np.array_equal(got, exact, equal_nan=got.dtype != np.int64)
    return got.shape == exact.shape and np.allclose(got, exact, rtol=1e-5, atol=1e-5, equal_nan=True)


def texts(length):
    """A text without padding, one with some on the left, right and inside, one that is all padding."""
    random = np.random.default_rng(length)
    seen = (random.random((4, length)) < 0.7).astype(np.int64)
    seen[0] = 1
    seen[1, :length // 3] = 0
    seen[1, length // 3:] = 1
    seen[3] = 0
    x = random.normal(size=(4, length, 8)).astype(np.float32)
    return {"x": x, "seen": seen, "rows": seen}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    with tempfile.TemporaryDirectory() as work:
        random = np.random.default_rng(1)
        w, b = (random.normal(size=12).astype(np.float32) for _ in range(2))
        tensors.write(os.path.join(work, "model.safetensors"), {"g.weight": w, "g.bias": b})
        with open(os.path.join(work, "model.json"), "w") as f:
            json.dump(MODEL, f)
        program = compile_model(heddle, work, "scans", "--target=cuda", "--mcpu=sm_80", "--emulate-alone", "--emulate-races")
        for lengths in LENGTHS:
            values = numbers(*lengths)
            runs = [run_program(program, work, values, device) for device in DEVICES]
            exact = expected(values, w, b)
            wrong = [name for name in exact if name not in runs[0] or not agree(runs[0][name], exact[name])]
            check(not wrong, "lengths %s: %s differ from NumPy" % (lengths, ", ".join(wrong)))
            check(all(run.keys() == runs[0].keys() and all(run[n].tobytes() == runs[0][n].tobytes() for n in run) for run in runs), "lengths %s: same bits" % (lengths,))
        with open(os.path.join(work, "model.json"), "w") as f:
            json.dump(TEXTS, f)
        host_program = compile_model(heddle, work, "host")
        program = compile_model(heddle, work, "texts", "--target=cuda", "--mcpu=sm_80", "--emulate-alone", "--emulate-races")
        for length in (1, 17, 513, 1100):
            values = texts(length)
            host = run_program(host_program, work, values)
            runs = [run_program(program, work, values, device) for device in DEVICES[:3]]
            check(runs[0] and np.allclose(runs[0]["y"], host["y"], rtol=1e-5, atol=1e-6) and np.array_equal(runs[0]["n"], values["rows"].cumsum(1)),
                  "texts of %d: as on a processor" % length)
            check(all(run.keys() == runs[0].keys() and all(run[n].tobytes() == runs[0][n].tobytes() for n in run) for run in runs), "texts of %d: same bits" % length)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
