#!/usr/bin/python3
"""Lengths that an op takes and lengths that it does not: 0, 1, just inside, just outside and far outside of each condition that ops leave open.

    length_conditions.py --heddle BIN [--only NAME,..] [--device emulator]

One program has all the ops, each on an input with a dim of its own, so that a call gives one of them a length to try and the others one that fits.
Binary and interpreter must give what numpy says, or refuse where it does, both before anything runs: status 1, the op's token by file, line and
column, the length. Then the same along the ways in which texts grow. Ends in `N passed, N failed`."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish
from random_weights import Weights, tensors

FAR = 5000  # far outside at the long end


def taken(x, index):
    """x[:, index], an error where it does not exist"""
    n = x.shape[1]
    if not -n <= index < n:
        raise ValueError
    return x[:, index]


def part(x, begin, end):
    """x[:, begin:end] as the language has it: a bound outside of the axis is refused, not clipped"""
    if not 0 <= begin <= end <= x.shape[1]:
        raise ValueError
    return x[:, begin:end]


def padded(x, before, after):
    if before < 0 or after < 0:
        raise ValueError
    return np.pad(x, ((0, 0), (before, after), (0, 0)))


def convolved(x, w, stride=1, dilation=1, padding=0, groups=1):
    """Cross-correlation along axis 1; w [m, c / groups, taps]"""
    x = np.pad(x, ((0, 0), (padding, padding), (0, 0)))
    m, c, taps = w.shape
    room = x.shape[1] - dilation * (taps - 1) - 1
    if room < 0:
        raise ValueError
    out = np.zeros((x.shape[0], room // stride + 1, m))
    for o in range(m):
        g = o // (m // groups)
        for t in range(taps):
            rows = x[:, t * dilation:t * dilation + stride * (room // stride) + 1:stride, g * c:(g + 1) * c]
            out[:, :, o] += rows @ w[o, :, t]
    return out


def counted(begin, end):
    if end < begin:
        raise ValueError
    return np.arange(begin, end)


def largest(x, what):
    if not x.shape[1]:
        raise ValueError
    return what(x, 1)


def rows_of(x, rows):
    if rows.min() < 0 or rows.max() >= x.shape[1]:
        raise ValueError
    return x[:, rows]


def resized(x, n):
    """Bilinear along axis 1 of [B, H, 1, c], half-pixel centres"""
    h = x.shape[1]
    if n < 0 or h < 1:
        raise ValueError
    at = (np.arange(n) + 0.5) * h / max(n, 1) - 0.5
    low = np.floor(at).astype(int)
    part = (at - low)[None, :, None, None]
    return x[:, np.clip(low, 0, h - 1)] * (1 - part) + x[:, np.clip(low + 1, 0, h - 1)] * part


def divided(a, b):
    if b == 0:
        raise ValueError
    return a // b


# name: what the language says of x and T, what numpy says, the first length of the run around which lengths are tried, the weights' shape
X = "f32[B,%s,2]"
OPS = {
    "row": ("=x[:, 7]", lambda x, w: taken(x, 7), 8),
    "row_from_the_end": ("=x[:, -7]", lambda x, w: taken(x, -7), 7),
    "far_row": ("=x[:, 5000000]", lambda x, w: taken(x, 5000000), None),
    "rows_from": ("=x[:, 5:]", lambda x, w: part(x, 5, x.shape[1]), 5),
    "rows_to": ("=x[:, :6]", lambda x, w: part(x, 0, 6), 6),
    "last_rows": ("=x[:, -4:]", lambda x, w: part(x, x.shape[1] - 4, x.shape[1]), 4),
    "but_the_last": ("=x[:, :-3]", lambda x, w: part(x, 0, x.shape[1] - 3), 3),
    "inner_rows": ("=x[:, 2:-3]", lambda x, w: part(x, 2, x.shape[1] - 3), 5),
    "rows_by_a_length": ("=x[:, T // 2:5]", lambda x, w: part(x, x.shape[1] // 2, 5), 5),
    "pad_before": ({"pad": "x", "axis": 1, "before": "=T - 4"}, lambda x, w: padded(x, x.shape[1] - 4, 0), 4),
    "pad_behind": ({"pad": "x", "axis": 1, "after": "=9 - T"}, lambda x, w: padded(x, 0, 9 - x.shape[1]), 9),
    "pad_both": ({"pad": "x", "axis": 1, "before": "=6 - T", "after": "=T - 2"}, lambda x, w: padded(x, 6 - x.shape[1], x.shape[1] - 2), 2),
    "taps": ({"conv": "x", "out": 3, "taps": 3, "bias": False}, lambda x, w: convolved(x, w), 3, (3, 2, 3)),
    "strided": ({"conv": "x", "out": 16, "taps": 5, "stride": 2, "bias": False}, lambda x, w: convolved(x, w, stride=2), 5, (16, 2, 5)),
    "dilated": ({"conv": "x", "out": 2, "taps": 3, "dilation": 3, "groups": 2, "bias": False}, lambda x, w: convolved(x, w, dilation=3, groups=2), 7, (2, 1, 3)),
    "padded_taps": ({"conv": "x", "out": 16, "taps": 6, "padding": 1, "bias": False}, lambda x, w: convolved(x, w, padding=1), 4, (16, 2, 6)),
    "range": ("=range(T - 4) + T - T", lambda x, w: counted(0, x.shape[1] - 4), 4),
    "range_between": ("=range(3, T - 2) + 1", lambda x, w: counted(3, x.shape[1] - 2) + 1, 5),
    "divisor": ("=x * (4 // (T - 3))", lambda x, w: x * divided(4, x.shape[1] - 3), 3),
    "remainder": ("=x + T % (T - 6)", lambda x, w: x + (x.shape[1] - (x.shape[1] - 6) * divided(x.shape[1], x.shape[1] - 6)), 6),
    "length_with_divisor": ("=x[:, :12 // (T - 2)]", lambda x, w: part(x, 0, divided(12, x.shape[1] - 2)), 5),
    "max_of_rows": ({"max": "=x[:, 4:]", "axis": 1}, lambda x, w: largest(part(x, 4, x.shape[1]), np.max), 5),
    "argmax_of_rows": ({"argmax": "=x[:, 3:]", "axis": 1}, lambda x, w: largest(part(x, 3, x.shape[1]), np.argmax), 4),
    "sum_of_rows": ({"sum": "=x[:, 4:]", "axis": 1}, lambda x, w: part(x, 4, x.shape[1]).sum(1), 4),
    "interpolate": ({"interpolate": "=x[:, :, null]", "size": ["=T - 2", 1]}, lambda x, w: resized(x[:, :, None], x.shape[1] - 2), 2),
    "interpolate_rows": ({"interpolate": "=x[:, 2:, null]", "size": [3, 1]}, lambda x, w: resized(part(x, 2, x.shape[1])[:, :, None], 3), 3),
    "concat": ({"concat": ["=x[:, 3:]", "=x[:, :4]"], "axis": 1}, lambda x, w: np.concatenate([part(x, 3, x.shape[1]), part(x, 0, 4)], 1), 4),
    "split": ({"rearrange": "=x[:, T - 2 * (T // 2):]", "pattern": "b (t k) c -> b t (k c)", "sizes": {"k": 2}}, lambda x, w: x[:, x.shape[1] % 2:].reshape(x.shape[0], x.shape[1] // 2, 4), 2),
    "view": ({"rearrange": "=x[:, 2:]", "pattern": "b t c -> b c t"}, lambda x, w: part(x, 2, x.shape[1]).transpose(0, 2, 1), 2),
    "windows": ({"concat": ["=x[:, :-2]", "=x[:, 1:-1]", "=x[:, 2:]"], "axis": 2}, lambda x, w: np.concatenate([part(x, i, x.shape[1] - 2 + i) for i in range(3)], 2), 2),
    "pooled": ({"max": {"concat": ["=x[:, :-2, null]", "=x[:, 1:-1, null]", "=x[:, 2:, null]"], "axis": 2}, "axis": 2}, lambda x, w: np.max([part(x, i, x.shape[1] - 2 + i) for i in range(3)], 0), 2),
    "gather": ({"gather": ["=x[:1]", "=range(5, 7)[null]"]}, lambda x, w: rows_of(x[:1], np.arange(5, 7)), 7),
    "positions": ({"embedding": "=range(T)", "rows": 9, "width": 2}, lambda x, w: rows_of(w[None], counted(0, x.shape[1]))[0], 9, (9, 2)),
}
FITS = {"rows_by_a_length": 6, "pad_behind": 5, "pad_both": 4, "length_with_divisor": 5, "positions": 5}


def tried(name):
    """0, 1, two on either side of where a length begins or ends to fit, far outside"""
    at = OPS[name][2]
    return [0, 1, 2, 7, FAR] if at is None else sorted({0, 1, at - 1, at, at + 1, at + 2, FAR})


class Program:
    def __init__(self, heddle, work, names, flags=()):
        self.heddle, self.work, self.names = heddle, work, names
        w, body, inputs = Weights(work, 7), [], {}
        for name in names:
            dim = "T_" + name
            inputs["x_" + name] = X % dim
            text = json.dumps(OPS[name][0])
            for old, new in ((r"(?<![\w\"])x(?=[\[ ])|(?<=\")x(?=\")", "x_" + name), (r"\bT\b", dim)):
                text = re.sub(old, new, text)
            said = json.loads(text)
            if len(OPS[name]) > 3:
                said["weights"] = name
                w.table(name + ".weight", *OPS[name][3])
            inner = said.get("max") if isinstance(said, dict) else None
            if isinstance(inner, dict):
                body.append({"inner_" + name: inner})
                said = dict(said, max="inner_" + name)
            body.append({"y_" + name: said})
            if "x_" + name not in json.dumps(said):
                body.append({"z_" + name: "=x_%s * 2" % name})
        self.weights = w.named
        outputs = [next(iter(b)) for b in body if not next(iter(b)).startswith("inner_")]
        model = {"heddle": 1, "name": "lengths", "inputs": inputs, "body": body, "outputs": outputs}
        if w.named:
            model["weights"] = "model.safetensors"
            w.write({})
        self.model = os.path.join(work, "model.json")
        with open(self.model, "w") as f:
            f.write(json.dumps(model, indent=1))
        with open(self.model) as f:
            self.lines = f.read().split("\n")
        self.binary = os.path.join(work, "program")
        p = subprocess.run([heddle, "compile", self.model, "-o", self.binary, *cached.quick(heddle), *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.good = p.returncode == 0
        check(self.good, "compile: %s" % p.stdout.decode()[-1500:])

    def given(self, name, length):
        r = np.random.default_rng(length + 1)
        shapes = {n: FITS.get(n) or (OPS[n][2] or 0) + 2 for n in self.names}
        shapes[name] = length
        return {"x_" + n: r.standard_normal((2, t, 2)).astype(np.float32) for n, t in shapes.items()}

    def expected(self, name, x):
        if x.shape[1] < 1:
            return None  # an input has a length of 1 or more
        try:
            return OPS[name][1](x.astype(np.float64), self.weights.get(name + ".weight"))
        except ValueError:
            return None

    def line_of(self, text):
        """The line of the statement that a message names; 0: none"""
        place = re.search(r"model\.json:(\d+):\d+: error|error.* at \$\S* \((\d+):\d+\)", text)
        return int(place.group(1) or place.group(2)) if place else 0

    def statement(self, name):
        """The lines at which the statements of this op stand"""
        begin = next(i for i, l in enumerate(self.lines) if '"inner_%s"' % name in l or '"y_%s": ' % name in l) + 1
        end = next((i for i in range(begin, len(self.lines)) if self.lines[i].startswith("  }")), len(self.lines)) + 1
        return range(begin, end + 8)

    def attempt(self, name, length, device=()):
        given = self.given(name, length)
        want = self.expected(name, given["x_" + name])
        path, out = os.path.join(self.work, "in"), os.path.join(self.work, "out")
        tensors.write(path, given)
        for way, command in (("program", [self.binary, "run", "--input", path, "--output", out, *device]), ("interpreter", [self.heddle, "interpret", self.model, "-i", path, "-o", out])):
            what = "%s, T = %d, %s" % (name, length, way)
            if os.path.exists(out):
                os.remove(out)
            p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
            said = p.stderr.decode()
            if want is None:
                check(p.returncode == 1 and not os.path.exists(out), "%s: status %d, expected 1: %s" % (what, p.returncode, said[-300:]))
                check(length == 0 or (self.line_of(said) in self.statement(name) and "T_%s is %d" % (name, length) in said), "%s: no place and length in %s" % (what, said[-300:]))
                continue
            if not check(p.returncode == 0, "%s: status %d: %s" % (what, p.returncode, said[-300:])):
                continue
            got = tensors.read(out)["y_" + name]
            near = got.shape == want.shape and (not got.size or np.abs(got - want).max() < 1e-4 * max(1, np.abs(want).max()))
            check(near, "%s: %s of %s, expected %s of %s" % (what, got.ravel()[:4], got.shape, want.ravel()[:4], want.shape))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--device", default="")
    args = p.parse_args()
    heddle = os.path.abspath(args.heddle)
    names = [n for n in OPS if not args.only or n in args.only.split(",")]
    flags, device = (["--target=cuda", "--emulate"], ["--device", args.device]) if args.device else ([], [])
    for together in ([n for n in names if n != "far_row"], [n for n in names if n == "far_row"]):
        if not together:
            continue
        with tempfile.TemporaryDirectory() as work:
            program = Program(heddle, work, together, flags)
            for name in program.names:
                for length in tried(name) if program.good else []:
                    program.attempt(name, length, device)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
