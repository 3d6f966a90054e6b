#!/usr/bin/env python3
"""Attention through tiles on the emulated device: `tile_attention.py --heddle HEDDLE [--case NAME] [--suite NAME]`. Grouped heads, masks, padding, a row that sees nothing,
keys and values that are no numbers.

A row's bits are the same whatever the length of the text, the batch, the padding and what nobody sees; numbers are those of
f64, in bf16 of rounded queries, keys and values, where weights are rounded too. Ends in `N passed, N failed`."""
import argparse
import json
import os
import sys
import tempfile
import typing

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors  # noqa: E402
from emulated_program import compile_model, run_program  # noqa: E402

LENGTHS = [1, 8, 17, 64, 65]  # of 2 heads a group: low tiles up to 8 rows
LONGEST, BATCH, HEADS, GROUPS = 130, 3, 4, 2


class Case(typing.NamedTuple):
    """Numbers, chip, components of a head, those of the one head of `wide`."""
    dtype: str
    chip: str
    width: int
    wide: int

    def name(self):
        return self.dtype + "_" + self.chip


# 20 components are 10 words of pairs, which lie in no groups of four; 24 and more lie in such, and sm_90a multiplies them by groups of warps. Above
# 128 features are shared out among tiles, 160 as 96 and 64; f32 of 256 has tall tiles of 32 rows.
CASES = [Case("f32", "sm_80", 20, 256), Case("bf16", "sm_80", 20, 160), Case("bf16", "sm_90a", 24, 256)]
KINDS = {  # name: mask; a row that sees keys is any whose text has begun, but for `apart`
    "grows": "=causal and keys(seen)",
    "behind": "=window(40, 0) and keys(seen)",
    "around": "=window(9, 3) and keys(seen)",
    "apart": "=window(70, -64) and keys(seen)",
    "texts": "=causal and keys(seen) and document(part)",
}
CUDA = ["--target=cuda", "--emulate-alone", "--emulate-races"]
DEVICES = ["copies=early,order=reverse,products=late", "copies=random,order=random,seed=5,sms=3,products=early", "races,copies=random,products=random,seed=2"]


def bf16(x):
    """Rounded to bf16, as f64."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


ROUNDED = {"f32": lambda x: x.astype(np.float64), "bf16": bf16}
# Of the rms: sums in f32, and in bf16 weights that are off by 2^-9 at most.
LIMITS = {"f32": 2e-6, "bf16": 2.5e-3}


class Suite:
    """Programs of one model, and what is said of their results."""

    def __init__(self, heddle, work, name, model, weights):
        self.heddle, self.work, self.weights, self.passed, self.failed = heddle, os.path.join(work, name), weights, 0, 0
        os.mkdir(self.work)
        with open(os.path.join(self.work, "model.json"), "w") as f:
            json.dump(model, f)
        tensors.write(os.path.join(self.work, "model.safetensors"), weights)

    def compile(self, name, *flags):
        return compile_model(self.heddle, self.work, name, *flags)

    def run(self, program, inputs, device=None):
        return run_program(program, self.work, inputs, device)

    def count(self, good, what):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print("FAIL " + what)

    def same(self, a, b, what, part=lambda x: x):
        """`part` of each tensor of a is b, bit by bit."""
        self.count(a.keys() == b.keys() and a and all(part(a[k]).tobytes() == b[k].tobytes() for k in a), what)

    def near(self, got, right, limit, what):
        off = np.sqrt(np.mean((got - right) ** 2) / np.mean(right ** 2)) if got is not None and got.shape == right.shape else np.inf
        self.count(off < limit, "%s is off by %.1e of its rms" % (what, off))


def model(case):
    attention = lambda x, mask, **more: {"attention": x, "heads": HEADS, "kv_heads": GROUPS, "mask": mask, **more}  # noqa: E731
    body = [{name: attention(["q", "k", "v"], mask)} for name, mask in KINDS.items()]
    body += [{"sink": {"parameter": [], "weights": "sink", "shape": [HEADS]}}, {"near": {"alibi": HEADS}},
             {"modified": attention(["q", "k", "v"], KINDS["grows"], bias="=near", sinks="=sink", softcap=2.0)},
             {"wide": {"attention": ["x", "x", "x"], "heads": 1, "mask": KINDS["grows"]}}]
    return {"heddle": 1, "name": "attentions", "weights": {"file": "model.safetensors"},
            "inputs": {"q": "f32[B,T,%d]" % (HEADS * case.width), "k": "f32[B,T,%d]" % (GROUPS * case.width), "v": "f32[B,T,%d]" % (GROUPS * case.width),
                       "x": "f32[B,T,%d]" % case.wide, "seen": "i64[B,T]", "part": "i64[B,T]"},
            "body": body, "outputs": [*KINDS, "modified", "wide"]}


def inputs(case, length, batch=slice(None), left=0, right=0):
    """The first rows of the longest text, with padding."""
    random = np.random.default_rng(7)
    given = {name: random.standard_normal((BATCH, LONGEST, w)).astype(np.float32)
             for name, w in (("q", HEADS * case.width), ("k", GROUPS * case.width), ("v", GROUPS * case.width), ("x", case.wide))}
    given["seen"] = np.ones((BATCH, LONGEST), np.int64)
    given["part"] = np.broadcast_to(np.arange(LONGEST) // 50, (BATCH, LONGEST)).astype(np.int64)
    ends = lambda x, fill: np.pad(x[batch, :length], [(0, 0), (left, right)] + [(0, 0)] * (x.ndim - 2), constant_values=fill)  # noqa: E731
    return {name: np.ascontiguousarray(ends(x, 0)) for name, x in given.items()}


def sees(name, given, b):
    n = given["seen"].shape[1]
    behind = np.arange(n)[:, None] - np.arange(n)[None, :]
    shape = {"behind": (behind >= 0) & (behind <= 40), "around": (behind >= -3) & (behind <= 9), "apart": (behind >= 64) & (behind <= 70),
             "texts": (behind >= 0) & (given["part"][b][:, None] == given["part"][b][None, :])}.get(name, behind >= 0)
    return shape & (given["seen"][b] != 0)[None, :], behind


def expected(case, name, given, sink):
    heads, groups, x = (1, 1, ("x", "x", "x")) if name == "wide" else (HEADS, GROUPS, ("q", "k", "v"))
    q, k, v = (ROUNDED[case.dtype](given[i]) for i in x)
    batch, n, width = q.shape[0], q.shape[1], q.shape[2] // heads
    out = np.zeros((batch, n, heads * width))
    for b in range(batch):
        seen, behind = sees(name, given, b)
        for h in range(heads):
            mine, group = slice(h * width, h * width + width), slice(h // (heads // groups) * width, (h // (heads // groups) + 1) * width)
            s = q[b][:, mine] @ k[b][:, group].T * width ** -0.5
            extra = 0
            if name == "modified":
                s = 2 * np.tanh(s / 2) - 2.0 ** (-8 / heads * (h + 1)) * behind
                extra = np.exp(float(sink[h]))
            p = np.where(seen, np.exp(s), 0)
            total = p.sum(1, keepdims=True) + extra
            out[b][:, mine] = p / np.where(total, total, 1) @ v[b][:, group]
    return out


def attentions(heddle, work, case):
    weights = {"sink.weight": np.array([0.5, -1, 2, 0], np.float32)}
    suite = Suite(heddle, work, "attentions_" + case.name(), model(case), weights)
    program = suite.compile(case.name(), "--dtype=" + case.dtype, "--mcpu=" + case.chip, *CUDA)
    whole = suite.run(program, inputs(case, LONGEST), "")
    for mma in ("", "mma=chop") if case.dtype == "bf16" else ("",):
        got = whole if not mma else suite.run(program, inputs(case, LONGEST), mma)
        for name in model(case)["outputs"]:
            right = expected(case, name, inputs(case, LONGEST), weights["sink.weight"])
            suite.near(got.get(name), right, LIMITS[case.dtype], "%s %s %s" % (case.name(), name, mma))
    suite.count("apart" in whole and not whole["apart"][:, :64].any(), "rows that see nothing are not 0")
    # Bits.
    for device in DEVICES:
        suite.same(whole, suite.run(program, inputs(case, LONGEST), device), case.name() + ": other bits with " + device)
    suite.same(whole, suite.run(program, inputs(case, LONGEST, slice(1, 2)), ""), "a text alone has other bits than in a batch", lambda x: x[1:2])
    ahead = {k: x for k, x in whole.items() if k != "around"}  # whose rows see what comes behind the end
    for n in LENGTHS:
        got = {k: x for k, x in suite.run(program, inputs(case, n), "").items() if k != "around"}
        suite.same(ahead, got, "%d rows have other bits than %d" % (n, LONGEST), lambda x: x[:, :n])
    for left, right in ((1, 0), (67, 0), (0, 70), (3, 5)):
        got = suite.run(program, inputs(case, LONGEST, left=left, right=right), "")
        text = {k: x[:, left:left + LONGEST] for k, x in got.items()}
        suite.same(whole, text, "other bits with %d rows of padding in front and %d behind" % (left, right))
        suite.count(got and not got["behind"][:, :left].any(), "rows of padding that see nothing are not 0")
    # What nobody sees may be anything; an infinity that a row sees shows, two make a NaN.
    padded = inputs(case, LONGEST, left=3, right=5)
    for name in ("k", "v", "x"):
        padded[name][:, :3], padded[name][:, -5:] = np.nan, -np.inf
    text = {k: x[:, 3:3 + LONGEST] for k, x in suite.run(program, padded, "").items()}
    suite.same(whole, text, "other bits where padding is no number")
    given = inputs(case, LONGEST)
    given["v"][:, 20, 0], given["v"][:, 30, 0], given["v"][:, 25, 1], given["v"][:, 40, 2] = np.inf, -np.inf, np.nan, -np.inf
    got, right = suite.run(program, given, ""), {k: x.copy() for k, x in whole.items()}
    for h in range(HEADS // GROUPS):  # the heads of the first group
        first = h * case.width
        right["grows"][:, 20:30, first], right["grows"][:, 30:, first] = np.inf, np.nan
        right["grows"][:, 25:, first + 1], right["grows"][:, 40:, first + 2] = np.nan, -np.inf
        right["behind"][:, 20:30, first], right["behind"][:, 30:61, first], right["behind"][:, 61:71, first] = np.inf, np.nan, -np.inf
        right["behind"][:, 25:66, first + 1], right["behind"][:, 40:81, first + 2] = np.nan, -np.inf
    suite.same(got, suite.run(program, given, DEVICES[-1]), case.name() + ": infinities, other bits with " + DEVICES[-1])
    for name in ("grows", "behind"):
        suite.count(name in got and np.array_equal(got[name], right[name], equal_nan=True), "%s: infinities are not seen as they are" % name)
    return suite


def shared_keys(heddle, work, case):
    """Few rows over many keys: parts of 128 keys are other blocks' work, and joined behind. As many rows as fill tall tiles join them as they go."""
    keys, rows, few = 300, 40, [1, 3, 8]
    attention = lambda mask, **more: {"attention": ["q", "k", "v"], "heads": HEADS, "kv_heads": GROUPS, "mask": mask, **more}  # noqa: E731
    model = {"heddle": 1, "name": "shared", "weights": {"file": "model.safetensors"},
             "inputs": {"q": "f32[B,Q,%d]" % (HEADS * case.width), **{x: "f32[B,T,%d]" % (GROUPS * case.width) for x in "kv"}, "seen": "i64[B,T]"},
             "body": [{"sink": {"parameter": [], "weights": "sink", "shape": [HEADS]}}, {"plain": attention("=keys(seen)")},
                      {"modified": attention("=keys(seen)", sinks="=sink", softcap=2.0)}],
             "outputs": ["plain", "modified"]}
    weights = {"sink.weight": np.array([0.5, -1, 2, 0], np.float32)}
    suite = Suite(heddle, work, "shared_" + case.name(), model, weights)
    program = suite.compile(case.name(), "--dtype=" + case.dtype, "--mcpu=" + case.chip, *CUDA)
    random = np.random.default_rng(11)
    given = {x: random.standard_normal((BATCH, n, w)).astype(np.float32)
             for x, n, w in (("q", rows, HEADS * case.width), ("k", keys, GROUPS * case.width), ("v", keys, GROUPS * case.width))}
    # One text is whole, one lacks a part of keys, one begins later and sees 2 keys of its second part.
    given["seen"] = np.ones((BATCH, keys), np.int64)
    given["seen"][1, 100:260], given["seen"][2, :70], given["seen"][2, 200:] = 0, 0, 0
    given["k"][2, 20], given["v"][2, 30] = np.nan, np.inf
    given["q"][:, 2] *= 30 # one key has most of the weight
    rounded = ROUNDED[case.dtype]

    def right(name):
        out = np.zeros((BATCH, rows, HEADS * case.width))
        for b in range(BATCH):
            there = given["seen"][b] != 0
            for h in range(HEADS):
                mine, kv = slice(h * case.width, (h + 1) * case.width), slice(h // 2 * case.width, (h // 2 + 1) * case.width)
                s = rounded(given["q"][b][:, mine]) @ rounded(given["k"][b][there][:, kv]).T * case.width ** -0.5
                s, extra = (2 * np.tanh(s / 2), weights["sink.weight"][h]) if name == "modified" else (s, -np.inf)
                most = np.maximum(s.max(1, keepdims=True), extra)
                p = np.exp(s - most)
                out[b][:, mine] = p / (p.sum(1, keepdims=True) + np.exp(extra - most)) @ rounded(given["v"][b][there][:, kv])
        return out

    def run(n, device="", **more):
        return suite.run(program, {**given, **more, "q": np.ascontiguousarray(given["q"][:, :n])}, device)

    tall = run(rows)
    for name in model["outputs"]:
        suite.near(tall.get(name), right(name), LIMITS[case.dtype], "%s of shared keys, %s," % (name, case.name()))
    for n in few:
        suite.same(tall, run(n), "%s: %d rows have other bits where keys are shared out" % (case.name(), n), lambda x: x[:, :n])
    for device in DEVICES:
        suite.same(tall, run(3, device), "%s: shared keys, other bits with %s" % (case.name(), device), lambda x: x[:, :3])
    # Infinities in several parts; the third text does not see those of the last.
    spoiled = given["v"].copy()
    spoiled[:, 80, 0], spoiled[:, 290, 0], spoiled[:, 290, 1], spoiled[:, 90, 2], spoiled[:, 299, 2] = np.inf, np.inf, -np.inf, np.inf, -np.inf
    tall, low = run(rows, v=spoiled), run(3, v=spoiled)
    for name in model["outputs"]:
        suite.count(name in low and np.array_equal(tall[name][:, :3], low[name], equal_nan=True), "%s: infinities of shared keys" % name)
        first = low[name][0, 0, :3] if name in low else []
        suite.count(np.array_equal(first, [np.inf, -np.inf, np.nan], equal_nan=True), "%s: infinities are %s" % (name, first))
    return suite


SUITES = {"attentions": attentions, "shared": shared_keys}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--case", choices=[case.name() for case in CASES], help="this one alone (all)")
    p.add_argument("--suite", choices=sorted(SUITES), help="this one alone (both)")
    o = p.parse_args()
    cases = [case for case in CASES if o.case in (None, case.name())]
    with tempfile.TemporaryDirectory() as work:
        heddle = os.path.abspath(o.heddle)
        suites = [suite(heddle, work, case) for case in cases for name, suite in SUITES.items() if o.suite in (None, name)]
    passed, failed = (sum(n) for n in zip(*((suite.passed, suite.failed) for suite in suites)))
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
