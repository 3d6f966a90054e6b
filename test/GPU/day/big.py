#!/usr/bin/env python3
"""Shapes that fill the chip and refill the rings many times, against float64.

    big.py FOLDER [--device N|emulator] [--small]

FOLDER has the programs of make_day.sh. A line is printed for each shape: the difference relative
to the norm of what is expected (limits: linear 1e-5, attention 8e-3) and the worst row. Each
shape is run three times with equal bits (--small: a few short shapes, once). Where a program is
wrong, the line says whether its twins are right: _sm80 (the kernels of sm_80), _O1 (the same
PTX, assembled with -O1). Needs numpy; torch, where it is, computes what is expected on the GPU.
Exit status 0, 1 (something is wrong)."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import big_models  # noqa: E402
import tensors  # noqa: E402  (big_models says where it is)

try:
    import torch
    GPU = torch.cuda.is_available()
except ImportError:
    GPU = False

LINEAR, ATTENTION = ["linear"], ["attention64", "attention128"]
LENGTHS = {False: {"linear": (17, 128, 300, 4096, 20000), "attention": (96, 1000, 4096)},
           True: {"linear": (17, 300), "attention": (200,)}}
LIMITS = {"linear": 1e-5, "attention": 8e-3}
TWINS = ("_sm80", "_O1")
SECONDS = 300


def product(a, b):
    """a @ b in float64."""
    if GPU:
        left, right = (torch.from_numpy(x).cuda().double() for x in (a, b))
        return (left @ right).cpu().numpy()
    return a.astype(np.float64) @ b.astype(np.float64)


def attention(q, k, v):
    """Causal attention in float64; q, k, v [1, T, heads * features]."""
    length, heads = q.shape[1], big_models.HEADS
    features = q.shape[2] // heads
    hidden = np.triu(np.ones((length, length), bool), 1)
    out = np.zeros(q.shape)
    for h in range(heads):
        columns = slice(h * features, (h + 1) * features)
        left, right, values = (x[0, :, columns].astype(np.float64) for x in (q, k, v))
        scores = product(left, right.T.copy()) / np.sqrt(features)
        scores[hidden] = -np.inf
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        out[0, :, columns] = product(weights, values)
    return out


class Failure(Exception):
    pass


class Big:
    def __init__(self, folder, device, small):
        self.folder, self.device, self.runs = folder, device, 1 if small else 3
        self.weights = tensors.read(os.path.join(folder, "linear.safetensors"))[big_models.WEIGHT]

    def run(self, program, given):
        """What the runs compute: one array each."""
        outs = []
        with tempfile.TemporaryDirectory(prefix="heddle-big-") as work:
            source, result = os.path.join(work, "in"), os.path.join(work, "out")
            tensors.write(source, given)
            command = [os.path.join(self.folder, program), "run", "--device", self.device,
                       "--input", source]
            for _ in range(self.runs):
                try:
                    p = subprocess.run([*command, "--output", result], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       timeout=SECONDS)
                except (OSError, subprocess.TimeoutExpired) as e:
                    raise Failure(str(e))
                if p.returncode:
                    raise Failure("exit status %d: %s" % (p.returncode, p.stderr.strip()[-300:]))
                outs.append(tensors.read(result)["y"])
        return outs

    def expected(self, given):
        if "x" in given:
            return product(big_models.bf16(given["x"]), self.weights.T.copy())
        return attention(**given)

    def judge(self, program, given, expected, limit):
        """-> whether the program is right, what its line says"""
        try:
            outs = self.run(program, given)
        except Failure as e:
            return False, str(e)
        got = outs[0]
        if got.shape != expected.shape:
            return False, "expected the shape %s, got %s" % (expected.shape, got.shape)
        others = sum((o.view(np.uint32) != got.view(np.uint32)).sum() for o in outs[1:])
        odd = np.count_nonzero(~np.isfinite(got))
        far = np.linalg.norm((got - expected).ravel()) / np.linalg.norm(expected.ravel())
        rows = np.abs(got - expected).reshape(-1, got.shape[-1]).max(1)
        said = "%.2e, worst row %d" % (far, rows.argmax())
        said += ", %d not finite" % odd if odd else ""
        said += ", RUNS DIFFER in %d elements" % others if others else ""
        return bool(far < limit and not odd and not others), said

    def shape(self, model, kind, length):
        """Prints the line of a shape; returns whether it is right."""
        given = big_models.inputs(model, length)
        expected = self.expected(given)
        good, said = self.judge(model, given, expected, LIMITS[kind])
        print("%-12s %5d: %s%s" % (model, length, said, "" if good else "  <-- WRONG"), flush=True)
        for twin in TWINS:
            if not good and os.path.exists(os.path.join(self.folder, model + twin)):
                right, said = self.judge(model + twin, given, expected, LIMITS[kind])
                verdict = "right" if right else "wrong"
                print("    its twin %s is %s: %s" % (twin, verdict, said), flush=True)
        return good


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder")
    p.add_argument("--device", default="0")
    p.add_argument("--small", action="store_true", help="short shapes, once each: for the emulator")
    o = p.parse_args()
    try:
        big = Big(os.path.abspath(o.folder), o.device, o.small)
    except OSError as e:
        print("big.py: expected a folder with the programs of make_day.sh: %s" % e, file=sys.stderr)
        return 2
    lengths = LENGTHS[o.small]
    good = [big.shape(m, "linear", n) for m in LINEAR for n in lengths["linear"]]
    good += [big.shape(m, "attention", n) for m in ATTENTION for n in lengths["attention"]]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
