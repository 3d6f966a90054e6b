#!/usr/bin/python3
"""A row's bits never depend on what stands beside it.

    determinism.py --heddle BIN [--dtype f16 | --dtype bf16 [--math dots|wide]] [--weights-dtype int8|int4] [--target cuda --device emulator|N] [--only NAME,...] [-v]

Models of this repository are compiled and run in different company: threads (of the emulated device: grids of three sizes, three
orders of blocks, warps and lanes), batch size, slot of the batch, padding on either side, longer texts, cached steps against the
whole text again. Every comparison is of bits. One line a failure, then `N passed, N failed`."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors

SPOIL = ["/usr/bin/python3", os.path.join(ROOT, "test", "support", "spoil.py")]


# How else a program is run: a name, and the arguments.
THREADS = [("%d threads" % n, ["--threads", str(n)]) for n in (1, 2, 3, 4, 7)]
GRIDS = [("%d multiprocessors, %s" % (n, how), ["--device=emulator:sms=%d,%s" % (n, how)])
         for n, how in ((1, "order=reverse"), (3, "order=random,seed=1,early"), (16, "order=random,seed=2"))]


def add_target(parser):
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--device", default="", help="what programs of cuda run on: a number, or emulator")


class Suite:
    def __init__(self, heddle, work, verbose, settings=(), target="cpu", device=""):
        self.heddle, self.work, self.verbose, self.count, self.passed, self.failed = heddle, work, verbose, 0, 0, 0
        emulated = device == "emulator"
        self.settings = [*settings, "--target", target, *(["--emulate-alone", "--mcpu=sm_80"] if emulated else [])]
        self.code = cached.quick if emulated else cached.flags
        self.usual = ["--device", device] if device else []
        self.ways = GRIDS if emulated else [] if device else THREADS

    def file(self):
        self.count += 1
        return os.path.join(self.work, str(self.count))

    def compile(self, model, *more):
        out = self.file()
        subprocess.run([self.heddle, "compile", model, "-o", out, *self.code(self.heddle), *self.settings, *more], check=True)
        return out

    def call(self, binary, given, *command, way=None):
        source, result = self.file(), self.file()
        tensors.write(source, given)
        subprocess.run([binary, *command, "--input", source, "--output", result, *(way or self.usual)], check=True)
        out = tensors.read(result)
        os.remove(source)
        os.remove(result)
        return out

    def run(self, binary, given, way=None, output="logits"):
        return self.call(binary, given, "run", way=way)[output]

    def same(self, what, a, b):
        good = a.shape == b.shape and a.tobytes() == b.tobytes()
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        if not good:
            far = float(np.abs(a.astype(float) - b.astype(float)).max()) if a.shape == b.shape else None
            print("FAIL %s: %s" % (what, "shapes %s, %s" % (a.shape, b.shape) if far is None else "largest difference %.1e" % far))
        elif self.verbose:
            print("ok   %s" % what)


def decoder(suite, name, model, vocab, longest):
    """A causal model with ids, mask and positions."""
    random, binary = np.random.default_rng(3), suite.compile(model)
    n = min(37, longest - 3)
    ids = random.integers(1, vocab, (3, n))
    whole = suite.run(binary, {"input_ids": ids})
    for way, arguments in suite.ways:
        suite.same("%s, %s" % (name, way), whole, suite.run(binary, {"input_ids": ids}, arguments))
    suite.same("%s, again" % name, whole, suite.run(binary, {"input_ids": ids}))
    for b in range(3):
        suite.same("%s, row %d alone" % (name, b), whole[b:b + 1], suite.run(binary, {"input_ids": ids[b:b + 1]}))
    suite.same("%s, slots exchanged" % name, whole[::-1], suite.run(binary, {"input_ids": ids[::-1]}))
    for m in (1, 2, 7, 16, n - 1):
        suite.same("%s, the first %d of %d rows" % (name, m, n), whole[:, :m], suite.run(binary, {"input_ids": ids[:, :m]}))
    for pad in (1, 2, 3):
        column, real = np.zeros((3, pad), np.int64), np.ones((3, n), np.int64)
        left = {"input_ids": np.concatenate([column, ids], 1), "attention_mask": np.concatenate([column, real], 1),
                "position_ids": np.concatenate([column, np.tile(np.arange(n), (3, 1))], 1)}
        suite.same("%s, %d pads on the left" % (name, pad), whole, suite.run(binary, left)[:, pad:])
        right = {"input_ids": np.concatenate([ids, column], 1), "attention_mask": np.concatenate([real, column], 1)}
        suite.same("%s, %d pads on the right" % (name, pad), whole, suite.run(binary, right)[:, :n])

    # Generation: cached steps against a binary that has none, rows together against rows alone, padded prompts.
    new = min(20, longest - 9)
    generate = lambda program, given: suite.call(program, given, "generate", "-n", str(new), "--greedy", "--ignore-eos")["ids"]
    again = suite.compile(model, "--cache=none")
    prompts = [ids[0, :5], ids[1, :8], ids[2, :2]]
    alone = [generate(binary, {"input_ids": p[None]})[0] for p in prompts]
    for p, a in zip(prompts, alone):
        suite.same("%s, %d tokens after %d, recomputed" % (name, new, len(p)), a, generate(again, {"input_ids": p[None]})[0])
    for side in ("left", "right"):
        batch = {"input_ids": np.zeros((3, 8), np.int64), "attention_mask": np.zeros((3, 8), np.int64)}
        for b, p in enumerate(prompts):
            at = slice(8 - len(p), 8) if side == "left" else slice(0, len(p))
            batch["input_ids"][b, at], batch["attention_mask"][b, at] = p, 1
        got = generate(binary, batch)
        for b, a in enumerate(alone):
            suite.same("%s, generated in a batch padded on the %s, row %d" % (name, side, b), a[-new:], got[b, -new:])


def encoder(suite, name, model, vocab):
    """An encoder with a mask: pads on the right are seen by nobody."""
    random, binary = np.random.default_rng(4), suite.compile(model)
    ids = random.integers(1, vocab, (2, 9))
    run = lambda given, way=None: suite.run(binary, given, way, "last_hidden_state")
    whole = run({"input_ids": ids})
    for way, arguments in suite.ways:
        suite.same("%s, %s" % (name, way), whole, run({"input_ids": ids}, arguments))
    for b in range(2):
        suite.same("%s, row %d alone" % (name, b), whole[b:b + 1], run({"input_ids": ids[b:b + 1]}))
    for pad in (1, 4, 7):
        column = np.zeros((2, pad), np.int64)
        got = run({"input_ids": np.concatenate([ids, column], 1), "attention_mask": np.concatenate([np.ones_like(ids), column], 1)})
        suite.same("%s, %d pads on the right" % (name, pad), whole, got[:, :9])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--dtype", default="f32")
    p.add_argument("--math", default="auto")
    p.add_argument("--weights-dtype", choices=["int8", "int4"])
    p.add_argument("--only", default="")
    p.add_argument("-v", action="store_true")
    add_target(p)
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-determinism-") as work:
        codes = ["--weights-dtype", o.weights_dtype] if o.weights_dtype else []
        suite = Suite(os.path.abspath(o.heddle), work, o.v, ["--dtype", o.dtype, "--math", o.math, *codes], o.target, o.device)

        def base(name):
            test = os.path.join(work, name + ".test")
            with open(test, "w") as f:
                f.write("BASE: %s\n" % name)
            subprocess.run(SPOIL + [test, os.path.join(work, name)], check=True)
            return os.path.join(work, name)

        for what, test in (("stories", lambda: decoder(suite, "stories", os.path.join(ROOT, "examples", "stories"), 1024, 256)),
                           ("gpt2", lambda: decoder(suite, "gpt2", base("gpt2"), 11, 16)),
                           ("llama", lambda: decoder(suite, "llama", base("llama"), 11, 16)),
                           ("bert", lambda: encoder(suite, "bert", base("bert"), 11))):
            if o.only and what not in o.only.split(","):
                continue
            try:
                test()
            except (subprocess.CalledProcessError, OSError, KeyError) as e:
                print("FAIL %s: %s" % (what, e))
                suite.failed += 1
    print("%d passed, %d failed" % (suite.passed, suite.failed))
    return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
