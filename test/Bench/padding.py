#!/usr/bin/python3
"""What rows of padding cost: an encoder of BERT's shape on batches that are padded to the longest text.

    padding.py --heddle BIN [--layers 4] [--batch 8] [--rows 512] [--threads 1] [--work DIR]

Two binaries: padding skipped (the default) and computed (--padded-rows=compute). For each batch: the share of live rows, the time
of both, and the floor: the sum of the times that the texts take alone, each at its own length. Times are the
processor's, medians of `BINARY bench --input FILE`."""
import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import random_model
import tensors as files

WIDTH, HEADS, INNER, VOCAB = 768, 12, 3072, 1000


def bert(layers, rows):
    config = {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": layers,
              "intermediate_size": INNER, "vocab_size": VOCAB, "type_vocab_size": 2, "max_position_embeddings": rows, "layer_norm_eps": 1e-12,
              "hidden_act": "gelu", "pad_token_id": 0, "position_embedding_type": "absolute"}

    def tensors():
        norm = lambda name: ((name + ".weight", (WIDTH,), 1), (name + ".bias", (WIDTH,), 0))
        linear = lambda name, to, by: ((name + ".weight", (to, by), 0), (name + ".bias", (to,), 0))
        for name, count in (("word", VOCAB), ("position", rows), ("token_type", 2)):
            yield "embeddings.%s_embeddings.weight" % name, (count, WIDTH), 0
        yield from norm("embeddings.LayerNorm")
        for i in range(layers):
            at = "encoder.layer.%d." % i
            for name in ("query", "key", "value"):
                yield from linear(at + "attention.self." + name, WIDTH, WIDTH)
            yield from linear(at + "attention.output.dense", WIDTH, WIDTH)
            yield from norm(at + "attention.output.LayerNorm")
            yield from linear(at + "intermediate.dense", INNER, WIDTH)
            yield from linear(at + "output.dense", WIDTH, INNER)
            yield from norm(at + "output.LayerNorm")
        yield from linear("pooler.dense", WIDTH, WIDTH)
    return config, tensors()


def batches(b, n):
    random = np.random.default_rng(1)
    yield "nothing padded", np.ones((b, n), np.int64)
    even = np.linspace(n // b, n, b).astype(np.int64)[:, None]  # lengths from n/b to n
    yield "lengths even from %d to %d, right" % (n // b, n), (np.arange(n) < even).astype(np.int64)
    yield "the same, left", (np.arange(n) >= n - even).astype(np.int64)
    half = np.where(np.arange(b)[:, None] == 0, n, n * (b // 2 - 1) // (b - 1))  # the longest full, half of all rows live
    yield "padded to 50 %, right", (np.arange(n) < half).astype(np.int64)
    yield "padded to 50 %, left", (np.arange(n) >= n - half).astype(np.int64)
    yield "holes, 50 %", (random.random((b, n)) < 0.5).astype(np.int64)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    for name, default in (("layers", 4), ("batch", 8), ("rows", 512), ("threads", 1)):
        p.add_argument("--" + name, type=int, default=default)
    p.add_argument("--work")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-padding-") as made:
        work = o.work or made
        model = os.path.join(work, "bert")
        random_model.write(model, *bert(o.layers, o.rows))
        binaries = {}
        for how in ("skip", "compute"):
            binaries[how] = os.path.join(work, how)
            subprocess.run([o.heddle, "compile", model, "-o", binaries[how], "--padded-rows=" + how], check=True)

        def milliseconds(how, mask):
            source = os.path.join(work, "in.safetensors")
            ids = np.random.default_rng(2).integers(1, VOCAB, mask.shape)
            files.write(source, {"input_ids": ids, "attention_mask": mask})
            run = subprocess.run([binaries[how], "bench", "--input", source, "--threads", str(o.threads), "--json"], check=True, capture_output=True, text=True)
            return json.loads(run.stdout)["run_cpu_ms"] / o.threads

        alone = functools.lru_cache(None)(lambda n: milliseconds("compute", np.ones((1, n), np.int64)))
        print("%d layers of BERT's base shape, batch %d, %d rows, %d threads" % (o.layers, o.batch, o.rows, o.threads))
        print("| batch | live rows | skipped, ms | computed, ms | floor, ms | over the floor |\n|---|---|---|---|---|---|")
        for name, mask in batches(o.batch, o.rows):
            floor = sum(alone(int(n)) for n in mask.sum(1) if n)
            skip, compute = milliseconds("skip", mask), milliseconds("compute", mask)
            print("| %s | %.1f %% | %.1f | %.1f | %.1f | %+.1f %% |" % (name, 100 * mask.mean(), skip, compute, floor, 100 * (skip / floor - 1)), flush=True)


if __name__ == "__main__":
    main()
