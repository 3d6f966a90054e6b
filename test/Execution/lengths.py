#!/usr/bin/python3
"""Prompts of different lengths in a batch without a mask: each is continued as if it were alone.

    lengths.py --heddle BIN

Decoders that say what is padding in several ways, or in none. Where `keys(ids != pad)` hides it and positions are counted the batch stays
one (`generate padding left` on the card), else rows of one length go together. Padding on either side, beams, a cached step and none, binary
and interpreter. Ends in `N passed, N failed`."""
import argparse
import json
import os
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

WORDS, WIDTH, PAD, EOS, NEW = 24, 16, 5, 1, 6
COUNTED, ABSOLUTE = {"at": {"counted_words": "ids", "padding": PAD}}, {"at": "=range(T) + 6"}
# name: mask, positions, what `generate` says besides, whether rows are turned
CASES = {"hidden and counted": ("causal and keys(ids != 5)", COUNTED, {"pad": PAD}, True), "hidden, absolute places": ("causal and keys(ids != 5)", ABSOLUTE, {"pad": PAD}, False),
         "seen": ("causal", COUNTED, {"pad": PAD}, False), "another id is hidden": ("causal and keys(ids != 7)", COUNTED, {"pad": PAD}, False),
         "a mask that nobody gives": ("causal and keys(mask)", {"at": {"counted": "mask"}}, {"pad": PAD, "mask": "mask"}, False),
         "an end of texts": ("causal and keys(ids != 5)", COUNTED, {"pad": PAD, "eos": [EOS, PAD]}, None)}


def written(work, mask, at, generate):
    w = Weights(work, 6)
    w.table("words.weight", WORDS, WIDTH)
    w.table("places.weight", 64, WIDTH)
    w.linear("qkv", 3 * WIDTH, WIDTH)
    w.linear("o", WIDTH, WIDTH)
    w.linear("out", WORDS, WIDTH)
    w.write({})
    path = os.path.join(work, "model.json")
    with open(path, "w") as f:
        json.dump({"heddle": 1, "name": "lengths", "inputs": {"ids": "i64[B,T]", **({"mask": {"type": "i64[B,T]", "default": "=1"}} if "mask" in generate else {})}, "weights": "model.safetensors", "body": [
            {"x": {"embedding": "ids", "rows": WORDS, "width": WIDTH, "weights": "words"}}, at, {"p": {"embedding": "at", "rows": 64, "width": WIDTH, "weights": "places"}}, {"x": "=x + p"},
            {"q,k,v": {"linear": "x", "split": 3, "out": 3 * WIDTH, "weights": "qkv"}}, {"a": {"attention": ["q", "k", "v"], "heads": 2, "mask": "=" + mask}},
            {"a": {"linear": "a", "weights": "o"}}, {"x": "=x + a"}, {"logits": {"linear": "x", "out": WORDS, "weights": "out"}}],
            "outputs": ["logits"], "generate": {"tokens": "ids", "logits": "logits", "eos": EOS, **generate}}, f)
    return path


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    heddle = os.path.abspath(p.parse_args().heddle)
    rows = [[9, 10, 11, 8], [12], [13, 14], [15, PAD, 9, 17], [6, 18]]
    width = max(map(len, rows))
    with tempfile.TemporaryDirectory() as work:
        given, made = (os.path.join(work, n) for n in ("in.safetensors", "out.safetensors"))

        def ids(rows, *command):
            tensors.write(given, {"ids": np.array(rows, np.int64)})
            names = ("-i", "-o") if command[1] == "interpret" else ("--input", "--output")
            subprocess.run([*command, names[0], given, names[1], made, "-n", str(NEW)], check=True, stderr=subprocess.DEVNULL)
            return [row[-NEW:] for row in tensors.read(made)["ids"].tolist()]

        for name, (mask, at, generate, turned) in CASES.items():
            model = written(work, mask, at, generate)
            for cache in ("auto", "none"):
                binary = os.path.join(work, "program")
                subprocess.run([heddle, "compile", model, "-o", binary, "--cache=" + cache, "--without=serve", *cached.quick(heddle)], check=True, stderr=subprocess.DEVNULL)
                card = subprocess.run([binary, "info", "--card"], check=True, stdout=subprocess.PIPE).stdout.decode()
                check(("generate padding left" in card) == bool(turned), "%s, --cache=%s: whether rows are turned, %s expected" % (name, cache, turned))
                for side in ("right", "left"):
                    padded = [r + [PAD] * (width - len(r)) if side == "right" else [PAD] * (width - len(r)) + r for r in rows]
                    ways = {"program": (binary, "generate"), "beams": (binary, "generate", "--num-beams", "3"), "sampled": (binary, "generate", "--temp", "1.2", "--seed", "4")}
                    if cache == "auto" or side == "right":
                        ways["interpreter"] = (heddle, "interpret", model, "--cache=" + cache)
                    for way, command in ways.items():
                        got = ids(padded, *command)
                        # What a row draws depends on its place: alone it stands there, too.
                        alone = [ids([row] * (i + 1), *command)[i] for i, row in enumerate(rows if turned is not None else padded)]
                        check(got == alone, "%s, %s, padded on the %s, --cache=%s: %s, alone %s" % (name, way, side, cache, got, alone))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
