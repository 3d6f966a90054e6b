#!/usr/bin/python3
"""Rows of padding cost nothing and change nothing.

    padding.py --heddle BIN [-v]

Each model is compiled twice: rows of padding skipped (the default of Hugging Face directories) and computed (--padded-rows=compute). On random masks, with
holes, on either side, whole texts of padding, nothing padded, batches of one, every row that is no padding must have the same
bits, and a row of padding is 0 (or, where its position is read, what it would be). One line a failure, then `N passed, N failed`."""
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
from determinism import SPOIL, Suite, tensors


def masks(random, b, n):
    """Named masks [b, n]; with b > 1 one text of each batch is nothing but padding."""
    yield "nothing padded", np.ones((b, n), np.int64)
    lengths = random.integers(0, n + 1, (b, 1))
    lengths[0] = n // 2 or 1
    yield "padded on the right", (np.arange(n) < lengths).astype(np.int64)
    yield "padded on the left", (np.arange(n) >= n - lengths).astype(np.int64)
    for share in (0.2, 0.5, 0.9):
        yield "holes, %d %%" % (100 * share), (random.random((b, n)) >= share).astype(np.int64)
    one = np.zeros((b, n), np.int64)
    one[b // 2, n // 3] = 1
    yield "one row left", one
    yield "nothing left", np.zeros((b, n), np.int64)


def check(suite, what, pair, given, real, threads):
    """`real`: output -> the mask of its rows, or None where all of it counts."""
    compare(suite, what, *(suite.call(p, given, "run", "--threads", str(threads)) for p in pair), real)


def interpreted(suite, what, model, given, real):
    """The interpreter says the same of both, and of each pass."""
    source, results = suite.file(), [suite.file(), suite.file()]
    tensors.write(source, given)
    for how, result in zip(("skip", "compute"), results):
        subprocess.run([suite.heddle, "interpret", model, "--stage", "fused", "--padded-rows=" + how, "-i", source, "-o", result], check=True)
    compare(suite, what + ", interpreted", *map(tensors.read, results), real)
    good = subprocess.run([suite.heddle, "verify", model, "-i", source], stdout=subprocess.DEVNULL).returncode == 0
    suite.passed, suite.failed = suite.passed + good, suite.failed + (not good)
    if not good:
        print("FAIL %s: heddle verify" % what)


def compare(suite, what, skipped, computed, real):
    for name, mask in real.items():
        a, b = skipped[name], computed[name]
        if mask is None:
            suite.same("%s, %s" % (what, name), a, b)
            continue
        live = mask.astype(bool)
        suite.same("%s, %s, live rows" % (what, name), a[live], b[live])
        width = int(np.prod(a.shape[2:]))
        dead, as_before = a[~live].reshape(-1, width), b[~live].reshape(-1, width)
        good = all((x == 0).all() or x.tobytes() == y.tobytes() for x, y in zip(dead, as_before))
        suite.passed, suite.failed = suite.passed + good, suite.failed + (not good)
        if not good:
            print("FAIL %s, %s: a row of padding is neither 0 nor what it would be" % (what, name))


def pair_of(suite, model, *more):
    return [suite.compile(model, "--padded-rows=" + how, *more) for how in ("skip", "compute")]


def is_packed(suite, name, model, entries, *more, expected=True):
    """The tests above are worth nothing where nothing is skipped."""
    text = subprocess.run([suite.heddle, "compile", model, "--emit=fused", *more], check=True, capture_output=True, text=True).stdout
    for entry in entries:
        body = text.split("func.func @%s(" % entry)[1].split("func.func @")[0]
        good = ("model.live_rows" in body and "model.pack_rows" in body) == expected
        suite.passed, suite.failed = suite.passed + good, suite.failed + (not good)
        if not good:
            print("FAIL %s: @%s %s rows of padding" % (name, entry, "does not skip" if expected else "skips"))


def sizes(longest):
    return [(3, min(longest, n)) for n in (1, 7, 16, 33)] + [(1, min(longest, 19)), (8, min(longest, 12))]


def tokens(suite, name, model, vocab, longest, outputs, *more):
    """Ids and a mask."""
    random, pair = np.random.default_rng(5), pair_of(suite, model, *more)
    is_packed(suite, name, model, ["run"])
    for b, n in dict.fromkeys(sizes(longest)):
        ids = random.integers(1, vocab, (b, n))
        for kind, mask in masks(random, b, n):
            real = {o: mask if rows else None for o, rows in outputs.items()}
            given = {"input_ids": ids, "attention_mask": mask}
            check(suite, "%s, %d x %d, %s" % (name, b, n, kind), pair, given, real, 1 + b % 3)
            if (b, n) == (3, 7) and longest < 100 and kind != "nothing padded":
                interpreted(suite, "%s, %d x %d, %s" % (name, b, n, kind), model, given, real)
    return pair


def generating(suite, name, pair, given, new):
    a, b = (suite.call(p, given, "generate", "-n", str(new), "--greedy", "--ignore-eos")["ids"] for p in pair)
    suite.same("%s, generated" % name, a, b)


def decoder(suite, name, model, vocab, longest):
    pair = tokens(suite, name, model, vocab, longest, {"logits": True, "last_hidden_state": True})
    is_packed(suite, name, model, ["step"])
    random, n = np.random.default_rng(6), min(9, longest // 2)
    for kind, mask in masks(random, 3, n):
        if mask.any(1).all() and (kind.startswith("padded") or kind.startswith("nothing")):
            generating(suite, "%s, %s" % (name, kind), pair, {"input_ids": random.integers(1, vocab, (3, n)), "attention_mask": mask}, min(6, longest - n))


def both_sides(suite, name, model, vocab):
    random, pair = np.random.default_rng(7), pair_of(suite, model)
    is_packed(suite, name, model, ["run", "once"])
    for b, n, m in ((3, 9, 5), (1, 17, 1), (4, 2, 8)):
        ids, target = random.integers(1, vocab, (b, n)), random.integers(1, vocab, (b, m))
        for (kind, source), (other, mine) in zip(masks(random, b, n), reversed(list(masks(random, b, m)))):
            given = {"input_ids": ids, "attention_mask": source, "decoder_input_ids": target, "decoder_attention_mask": mine}
            real = {"logits": mine, "encoder_last_hidden_state": source}
            check(suite, "%s, %d x %d, %s; %d, %s" % (name, b, n, kind, m, other), pair, given, real, 2)
            generating(suite, "%s, %d x %d, %s" % (name, b, n, kind), pair, {"input_ids": ids, "attention_mask": source}, 5)
            if n == 9:
                interpreted(suite, "%s, %d x %d, %s" % (name, b, n, kind), model, given, real)


def vectors(suite, name, model, width):
    """Vectors in, two masks of PyTorch's kind: true is hidden. The output has rows of padding, and who described the model
    himself gets them unless he says that nobody reads them."""
    random, pair = np.random.default_rng(8), pair_of(suite, model)
    is_packed(suite, name, model, ["run"], "--padded-rows=skip")
    is_packed(suite, name, model, ["run"], expected=False)
    for b, n in sizes(40):
        x = random.standard_normal((b, n, width)).astype(np.float32)
        hidden = random.random((b, n, n)) < 0.2
        for kind, mask in masks(random, b, n):
            given = {"src": x, "mask": hidden, "src_key_padding_mask": mask == 0}
            check(suite, "%s, %d x %d, %s" % (name, b, n, kind), pair, given, {"output": mask}, 2)
            if n == 7:
                interpreted(suite, "%s, %d x %d, %s" % (name, b, n, kind), model, given, {"output": mask})


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-padding-") as work:
        suite = Suite(os.path.abspath(o.heddle), work, o.v)

        def base(name):
            test = os.path.join(work, name + ".test")
            with open(test, "w") as f:
                f.write("BASE: %s\n" % name)
            subprocess.run(SPOIL + [test, os.path.join(work, name)], check=True)
            return os.path.join(work, name)

        example = lambda name: os.path.join(ROOT, "examples", name)
        for what, test in (("bert", lambda: tokens(suite, "bert", base("bert"), 11, 16, {"last_hidden_state": True, "pooler_output": False})),
                           ("gpt2", lambda: decoder(suite, "gpt2", base("gpt2"), 11, 16)),
                           ("llama", lambda: decoder(suite, "llama", base("llama"), 11, 16)),
                           ("stories", lambda: decoder(suite, "stories", example("stories"), 1024, 256)),
                           ("t5", lambda: both_sides(suite, "t5", base("t5"), 11)),
                           ("seed000_encoder", lambda: vectors(suite, "seed000_encoder", os.path.join(example("seed000_encoder"), "model.json"), 48))):
            try:
                test()
            except (subprocess.CalledProcessError, OSError, KeyError) as e:
                print("FAIL %s: %s" % (what, e))
                suite.failed += 1
    print("%d passed, %d failed" % (suite.passed, suite.failed))
    return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
