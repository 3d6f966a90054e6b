#!/usr/bin/python3
"""Functions that a device has no library for, on the emulator against the C library: `functions.py --heddle HEDDLE [-v]`.

sin and cos of numbers of every size (a processor asks its C library for the huge ones, a device reduces them itself), x ** y with
zeros, infinities and odd powers, and the remainder, which is exact. Ends in `N passed, N failed`."""
import argparse
import ctypes
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors  # noqa: E402

MODEL = {"heddle": 1, "name": "functions", "inputs": {"x": "f32[N]", "y": "f32[N]"},
         "body": [{"s": "=sin(x)"}, {"c": "=cos(x)"}, {"p": "=x ** y"}, {"m": "=x % y"}], "outputs": ["s", "c", "p", "m"]}
ODD = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan,
       16777216.0, 16777215.0, -16777215.0, 1.0000001, 0.99999994]
LIBRARY = ctypes.CDLL("libm.so.6")
# The most that an answer may be off, in units of f32's last place.
ULPS = {"s": 1.5, "c": 1.5, "p": 1.0, "m": 0.0}


def c_function(name, count):
    """f64 of the C library, an element at a time."""
    f = getattr(LIBRARY, name)
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * count
    return lambda *xs: np.array([f(*map(float, row)) for row in zip(*xs)])


def remainder(x, y):
    """fmod of f32 is exact; the result has the sign of y."""
    r = c_function("fmod", 2)(x, y)
    with np.errstate(invalid="ignore"):
        turned = np.where((r != 0) & ((r < 0) != (y < 0)), (r.astype(np.float32) + y).astype(np.float64), r)
    return np.where(r == 0, np.copysign(0.0, y), turned)


def off(got, exact):
    """How far `got` is from `exact`, in units of the last place of f32; infinite where one alone is NaN or infinite, or a zero has the other sign."""
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = exact.astype(np.float32)
        unit = np.maximum(np.spacing(np.abs(nearest)), np.float32(1e-45)).astype(np.float64)
        far = np.abs(got.astype(np.float64) - exact) / unit
    same = (got == nearest) & (np.signbit(got) == np.signbit(nearest)) | np.isnan(got) & np.isnan(nearest)
    zeros = (got == 0) & (nearest == 0)
    return np.where(same & ~np.isfinite(far), 0.0, np.where(np.isfinite(far) & (same | ~zeros), far, np.inf))


def numbers():
    """Pairs: odd ones with odd ones, then every size with every size, then powers that are no overflow."""
    random = np.random.default_rng(17)
    odd = np.array(list(itertools.product(ODD, ODD)), np.float32)
    bits = random.integers(0, 1 << 32, (6000, 2), np.uint64).astype(np.uint32).view(np.float32)
    tame = np.stack([np.exp(random.uniform(-20, 20, 3000)), random.uniform(-4, 4, 3000)], 1).astype(np.float32)
    whole = np.stack([-np.exp(random.uniform(-3, 3, 1000)), random.integers(-20, 20, 1000)], 1).astype(np.float32)
    # Angles from where a device reduces by itself: near whole quarter turns, too.
    turns = np.array([[np.float32(k * np.pi / 2 * 2.0 ** e), 1] for k in range(1, 40) for e in range(10, 100, 3)], np.float32)
    pairs = np.concatenate([odd, bits, tame, whole, turns])
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        model, program, given, result = (os.path.join(work, n) for n in ("model.json", "program", "in", "out"))
        with open(model, "w") as f:
            json.dump(MODEL, f)
        flags = ["--target=cuda", "--mcpu=sm_80", "--emulate-alone", *cached.quick(o.heddle)]
        subprocess.run([os.path.abspath(o.heddle), "compile", model, "-o", program, *flags], check=True)
        x, y = numbers()
        tensors.write(given, {"x": x, "y": y})
        subprocess.run([program, "run", "--input", given, "--output", result, "--device=emulator"], check=True)
        got = tensors.read(result)
    exact = {"s": c_function("sin", 1)(x), "c": c_function("cos", 1)(x), "p": c_function("pow", 2)(x, y), "m": remainder(x, y)}
    for name, what in (("s", "sin"), ("c", "cos"), ("p", "power"), ("m", "remainder")):
        far = off(got[name], exact[name])
        worst = int(far.argmax())
        good = far[worst] <= ULPS[name]
        passed, failed = passed + good, failed + (not good)
        if o.v or not good:
            print("%s %s of %d pairs: at most %.3f units of the last place, at (%.9g, %.9g): %.9g, exactly %.17g" %
                  ("ok  " if good else "FAIL", what, len(x), far[worst], x[worst], y[worst], got[name][worst], exact[name][worst]))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
