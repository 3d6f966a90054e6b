#!/usr/bin/python3
"""What rounding weights costs: the Kullback-Leibler divergence of each next token from f32, in milli-nats.

    quality.py --heddle BIN [--texts N] [--only NAME]

Models: the published stories260K (`../shared/real-weights`, on texts that it samples itself) and random ones with and without outlier
features (make_outliers.py, on random ids). A row a model and a way of storing; `rows f32` is --math=wide: weights are rounded and rows
are not, so the difference is what rounding rows costs."""
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
import codes
import make_outliers

REAL = os.path.join(ROOT, "..", "shared", "real-weights", "stories260K")
WAYS = [("int8", ["--weights-dtype=int8"]), ("int8, rows of 32", ["--weights-dtype=int8", "--rows=32"]), ("int8, rows f32", ["--weights-dtype=int8", "--math=wide"]), ("int8, groups of 32", ["--weights-dtype=int8", "--group=32"]),
        ("int4", ["--weights-dtype=int4"]), ("int4, rows of 32", ["--weights-dtype=int4", "--rows=32"]), ("int4, rows f32", ["--weights-dtype=int4", "--math=wide"]), ("bf16", ["--dtype=bf16"])]


def sampled(binary, count):
    """Texts of at most 200 tokens that the model itself finds likely, seed by seed."""
    texts = []
    for seed in range(count):
        said = subprocess.run([binary, "generate", "--ids", "1", "-n", "200", "--print-ids", "--temperature", "1", "--seed", str(seed)], check=True, stdout=subprocess.PIPE, text=True).stdout
        texts.append([1] + [int(word) for word in said.replace(",", " ").split() if word.lstrip("-").isdigit()])
    return texts


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--texts", type=int, default=12)
    p.add_argument("--only", default="")
    o = p.parse_args()
    heddle = os.path.abspath(o.heddle)
    with tempfile.TemporaryDirectory(prefix="heddle-quality-") as work:
        models = {}
        if os.path.isdir(REAL):
            models["stories260K"] = REAL
        else:
            print("no %s: the published model is left out" % REAL)
        for name, where, times in (("random, no outliers", "weights", 1), ("random, outlier columns of weights", "weights", 20), ("random, outlier features of rows", "rows", 20)):
            models[name] = os.path.join(work, name.replace(" ", "-"))
            make_outliers.write(models[name], where, times=times)
        print("| model | %s |" % " | ".join(way for way, _ in WAYS))
        print("|---|%s" % ("---|" * len(WAYS)))
        for name, folder in models.items():
            if o.only not in name:
                continue
            binary = os.path.join(work, "program")
            compiled = lambda *how: subprocess.run([heddle, "compile", folder, "-o", binary, *how], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            compiled()
            r = np.random.default_rng(5)
            texts = sampled(binary, o.texts) if folder == REAL else [list(map(int, r.integers(3, make_outliers.VOCAB, 128))) for _ in range(o.texts)]
            whole, cells = codes.log_probabilities(binary, texts, work), []
            for _, how in WAYS:
                compiled(*how)
                cells.append("%.3g" % codes.divergence(whole, codes.log_probabilities(binary, texts, work)))
            print("| %s | %s |" % (name, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
