#!/usr/bin/python3
"""A row's bits never depend on what stands beside it, for every kind of mask and every score modifier.

    mask_determinism.py --heddle BIN [--dtype bf16|f16] [--target cuda --device emulator|N] [--only NAME,...] [-v]

Small decoders, one a mask and one a modifier, are compiled with a cache and without, and run on one thread and two (of the emulated
device: on grids of three sizes, in three orders), in batches of 1, 3 and 8, in other slots, behind and before padding, on shorter texts, and token by token. Every comparison is of bits. One line a
failure, then `N passed, N failed`."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import determinism
from determinism import cached, tensors

HEADS, WIDTH, VOCAB, LONGEST = 4, 32, 13, 160
MASKS = {  # name: (mask, statements before it, it speaks of absolute positions)
    "causal": ("causal", [], False),
    "window": ("window(9, 0)", [], False),
    "off-diagonal": ("window(40, -1)", [], False),
    "chunk": ("causal and chunk(24)", [], True),
    "chunk-window": ("causal and chunk(32) and window(20, 0)", [], True),
    "grid": ("causal and grid(7, 2, 2)", [], True),
    "grid-window": ("causal and grid_window(9, 3, 4, 1)", [], True),
    "dilated": ("causal and window(24, 0) and dilated(3)", [], False),
    "keys": ("causal and keys(input_ids % 3 != 1)", [], False),
    "queries": ("causal and (window(5, 0) or queries(input_ids % 4 == 1))", [], False),
    "global": ("causal and (window(6, 0) or keys(input_ids == 2) or queries(input_ids == 2))", [], False),
    "document": ("causal and document(texts)", [{"texts": {"cumsum": "=input_ids == 1 ? 1 : 0", "axis": 1}}], False),
    "not-document": ("causal and not document(texts)", [{"texts": {"cumsum": "=input_ids == 1 ? 1 : 0", "axis": 1}}], False),
    "shuffled-documents": ("causal and document(input_ids % 3)", [], False),
    "labels": ("causal and window(1, 0, texts)", [{"texts": {"cumsum": "=input_ids == 1 ? 1 : 0", "axis": 1}}], False),
    "prefix": ("causal and (prefix(3) or window(7, 0))", [], True),
    "blocks": ("causal and blocks(8, lists)", [], True),
    "counted": ("(causal and window(12, 0)) + (causal and blocks(8, lists))", [], True),
    "strided": ("causal and (window(4, 0) or keys(range(T) % 5 == 4))", [], True),
    "nested": ("causal and not (keys(input_ids % 2 == 0) and not window(3, 0)) or window(0, 0)", [], False),
}
MODIFIERS = {  # name: (statements, attributes of the attention, weights)
    "scale": ([], {"scale": 0.3}, {}),
    "softcap": ([], {"softcap": 3.0}, {}),
    "alibi": ([{"near": {"alibi": HEADS}}], {"bias": "=near"}, {}),
    "buckets": ([{"near": {"bucket_bias": [], "heads": HEADS, "buckets": 8, "max_distance": 20, "weights": "near"}}], {"bias": "=near"},
                {"near.weight": (8, HEADS)}),
    "shaw": ([{"table": {"parameter": [], "weights": "table", "shape": [31, WIDTH // HEADS]}},
              {"near": {"relative_dot": ["q", "table"], "heads": HEADS, "zero": 15}}], {"bias": "=near"}, {"table.weight": (31, WIDTH // HEADS)}),
    "shaw-keys": ([{"table": {"parameter": [], "weights": "table", "shape": [31, WIDTH // HEADS]}},
                   {"near": {"relative_dot": ["k", "table"], "heads": HEADS, "zero": 15, "side": "key"}}], {"bias": "=near"},
                  {"table.weight": (31, WIDTH // HEADS)}),
    "sum": ([{"table": {"parameter": [], "weights": "table", "shape": [31, WIDTH // HEADS]}},
             {"dots": {"relative_dot": ["q", "table"], "heads": HEADS, "zero": 15}}, {"near": {"alibi": HEADS}}], {"bias": "=near + dots * 0.5"},
            {"table.weight": (31, WIDTH // HEADS)}),
    "sinks": ([{"sink": {"parameter": [], "weights": "sink", "shape": [HEADS]}}], {"sinks": "=sink"}, {"sink.weight": (HEADS,)}),
    "rotary": ([{x: {"rotary": x, "positions": "=position_ids", "frequencies": "=100.0 ** -(2 * range(4) / 8)", "head_width": 8}} for x in "qk"], {}, {}),
}


def write_model(folder, mask, before, statements, attributes, weights, longest=LONGEST):
    """A decoder of two layers with grouped heads (queries of 4 heads, keys of 2, where no weight says otherwise)."""
    os.makedirs(folder)
    random = np.random.default_rng(8)
    kv = HEADS if "relative_dot" in json.dumps(statements) else HEADS // 2
    d = WIDTH // HEADS
    shapes = {"embed.weight": (VOCAB, WIDTH), "head.weight": (VOCAB, WIDTH)}
    for i in range(2):
        for x, n in (("q", WIDTH), ("k", kv * d), ("v", kv * d), ("o", WIDTH)):
            shapes["layers.%d.%s.weight" % (i, x)] = (n, WIDTH)
        for name, shape in weights.items():
            shapes["layers.%d.%s" % (i, name)] = shape
    inputs = {"input_ids": "i64[B,T]", "attention_mask": {"type": "i64[B,T]", "default": "=1"}}
    generate = {"tokens": "input_ids", "logits": "logits", "mask": "attention_mask", "eos": 0, "pad": 0}
    if "position_ids" in json.dumps(statements):
        inputs["position_ids"] = {"type": "i64[B,T]", "default": "=range(T)"}
        generate["positions"] = "position_ids"
    layer = [{x: {"linear": "x", "bias": False, "weights": x}} for x in "qkv"] + statements + [
        {"a": {"attention": ["q", "k", "v"], "heads": HEADS, "kv_heads": kv, "mask": "=seen", **attributes}},
        {"a": {"linear": "a", "bias": False, "weights": "o"}}, {"x": "=x + a"}]
    blocks = (LONGEST + 24) // 8 + 1
    doc = {"heddle": 1, "name": "decoder", "config": {"lists": [[b, b - 1 if b else 0, int(random.integers(0, b + 1)), 0] for b in range(blocks)]},
           "dims": {"T": longest}, "inputs": inputs, "weights": "model.safetensors",
           "body": before + [{"seen": "=keys(attention_mask) and (%s)" % mask},
                             {"x": {"embedding": "input_ids", "rows": VOCAB, "width": WIDTH, "weights": "embed"}},
                             {"repeat": 2, "index": "i", "weights": "layers.{i}", "body": layer},
                             {"logits": {"linear": "x", "bias": False, "weights": "head"}}],
           "outputs": ["logits"], "generate": generate}
    if "lists" not in mask:
        del doc["config"]
    with open(os.path.join(folder, "model.json"), "w") as f:
        json.dump(doc, f)
    tensors.write(os.path.join(folder, "model.safetensors"),
                  {n: (random.standard_normal(s) * (1 if n == "embed.weight" else 0.3)).astype(np.float32) for n, s in shapes.items()})
    return folder


def ways(suite):
    """Two numbers of threads are enough here; every one of the grids and orders of a device."""
    return suite.ways[:2] if suite.ways is determinism.THREADS else suite.ways


def check(suite, name, model, absolute):
    """As determinism.decoder, and batches of 8; the text is longer than a tile of 128 keys."""
    binary, again = suite.compile(model), suite.compile(model, "--cache=none")
    random, n = np.random.default_rng(3), 137
    ids = random.integers(1, VOCAB, (8, n))
    placed = "position_ids" in open(os.path.join(model, "model.json")).read()
    whole = suite.run(binary, {"input_ids": ids})
    for way, arguments in ways(suite):
        suite.same("%s, %s" % (name, way), whole, suite.run(binary, {"input_ids": ids}, arguments))
    suite.same("%s, again" % name, whole, suite.run(binary, {"input_ids": ids}))
    suite.same("%s, 3 of 8" % name, whole[2:5], suite.run(binary, {"input_ids": ids[2:5]}))
    suite.same("%s, slots exchanged" % name, whole[::-1], suite.run(binary, {"input_ids": ids[::-1]}))
    for b in (0, 7):
        suite.same("%s, row %d alone" % (name, b), whole[b:b + 1], suite.run(binary, {"input_ids": ids[b:b + 1]}))
    for m in (1, 2, 33, 128, n - 1):
        suite.same("%s, the first %d of %d tokens" % (name, m, n), whole[:2, :m], suite.run(binary, {"input_ids": ids[:2, :m]}))
    for pad in (1, 5, 19):
        column, real = np.zeros((8, pad), np.int64), np.ones((8, n), np.int64)
        right = {"input_ids": np.concatenate([ids, column], 1), "attention_mask": np.concatenate([real, column], 1)}
        suite.same("%s, %d pads on the right" % (name, pad), whole, suite.run(binary, right)[:, :n])
        left = {"input_ids": np.concatenate([column, ids], 1), "attention_mask": np.concatenate([column, real], 1)}
        if placed:
            left["position_ids"] = np.concatenate([column, np.tile(np.arange(n), (8, 1))], 1)
        if not absolute:
            suite.same("%s, %d pads on the left" % (name, pad), whole, suite.run(binary, left)[:, pad:])

    generate = lambda program, given, new: suite.call(program, given, "generate", "-n", str(new), "--greedy", "--ignore-eos")["ids"]
    prompts = [ids[0, :5], ids[1, :8], ids[2, :2]]
    alone = [generate(binary, {"input_ids": p[None]}, 20)[0] for p in prompts]
    for p, a in zip(prompts, alone):
        suite.same("%s, 20 tokens after %d, recomputed" % (name, len(p)), a, generate(again, {"input_ids": p[None]}, 20)[0])
    for long in (120, 131):  # over the edge of a tile
        suite.same("%s, 12 tokens after %d, recomputed" % (name, long), generate(binary, {"input_ids": ids[:2, :long]}, 12),
                   generate(again, {"input_ids": ids[:2, :long]}, 12))
    for side in () if absolute else ("left", "right"):
        batch = {"input_ids": np.zeros((3, 8), np.int64), "attention_mask": np.zeros((3, 8), np.int64)}
        for b, p in enumerate(prompts):
            at = slice(8 - len(p), 8) if side == "left" else slice(0, len(p))
            batch["input_ids"][b, at], batch["attention_mask"][b, at] = p, 1
        got = generate(binary, batch, 20)
        for b, a in enumerate(alone):
            suite.same("%s, generated in a batch padded on the %s, row %d" % (name, side, b), a[-20:], got[b, -20:])


# Masks that look back so far and no farther: keys and values of long texts stand in rings (so many rows, and places with the twin block).
RINGS = {
    "window": ("window(200, 0)", 896, 1024),
    "off-diagonal": ("window(190, -1)", 896, 1024),
    "two windows": ("window(5, 0) or window(230, -200)", 896, 1024),
    "dilated": ("causal and window(240, 0) and dilated(3)", 3 * 384, 512),
    "document": ("causal and window(150, 0) and document(input_ids % 3)", 896, 1024),
}


def check_ring(suite, name, model, ring, room):
    """Texts of several rounds of the ring: cached against recomputed, in one batch with padding against alone, prompts that come in
    pieces against their parts."""
    binary, again = suite.compile(model), suite.compile(model, "--cache=none")
    card = subprocess.run([binary, "info", "--card"], check=True, stdout=subprocess.PIPE).stdout.decode()
    suite.same("%s has a ring" % name, np.array(["\npieces 512 beyond %d\n" % ring in card, "min(%d," % room in card]), np.array([True, True]))
    generate = lambda program, given, new, way=None: suite.call(program, given, "generate", "-n", str(new), "--greedy", "--ignore-eos", way=way)["ids"]
    ids = np.random.default_rng(5).integers(1, VOCAB, (2, 2100))
    for long in (300, 1900):
        suite.same("%s, 60 tokens after %d, recomputed" % (name, long), generate(binary, {"input_ids": ids[:, :long]}, 60), generate(again, {"input_ids": ids[:, :long]}, 60))
    whole = generate(binary, {"input_ids": ids[:1, :700]}, 1300)
    for way, arguments in ways(suite):
        suite.same("%s, %s" % (name, way), whole, generate(binary, {"input_ids": ids[:1, :700]}, 1300, arguments))
    for n in (1, 150, 512, 513, 896, 1100):  # what was fed alone, a prompt by now
        suite.same("%s, %d tokens more of the prompt" % (name, n), whole, generate(binary, {"input_ids": whole[:, :700 + n]}, 1300 - n))
    pad = 77
    batch = {"input_ids": np.zeros((2, 700 + pad), np.int64), "attention_mask": np.ones((2, 700 + pad), np.int64)}
    batch["input_ids"][0], batch["input_ids"][1, pad:], batch["attention_mask"][1, :pad] = ids[1, :700 + pad], ids[0, :700], 0
    suite.same("%s, in a batch and padded on the left" % name, whole[0, 700:], generate(binary, batch, 1300)[1, 700 + pad:])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--dtype", default="f32")
    p.add_argument("--only", default="")
    p.add_argument("-v", action="store_true")
    determinism.add_target(p)
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-determinism-") as work:
        suite = determinism.Suite(os.path.abspath(o.heddle), work, o.v, ["--dtype", o.dtype], o.target, o.device)
        suite.code = cached.quick
        models = [("mask " + n, m, b, [], {}, {}, a) for n, (m, b, a) in MASKS.items()]
        models += [("modifier " + n, "causal", [], s, a, w, False) for n, (s, a, w) in MODIFIERS.items()]
        models += [("modifier %s, window" % n, "window(20, 0)", [], *MODIFIERS[n], False) for n in ("alibi", "buckets", "shaw", "sinks")]
        for name, mask, before, statements, attributes, weights, absolute in models:
            if o.only and not any(x in name for x in o.only.split(",")):
                continue
            try:
                check(suite, name, write_model(os.path.join(work, name), mask, before, statements, attributes, weights), absolute)
            except (subprocess.CalledProcessError, OSError, KeyError) as e:
                print("FAIL %s: %s" % (name, e))
                suite.failed += 1
        suite.code = cached.flags  # what is recomputed is long
        for name, (mask, ring, room) in RINGS.items():
            name = "ring " + name
            if o.only and not any(x in name for x in o.only.split(",")):
                continue
            try:
                check_ring(suite, name, write_model(os.path.join(work, name), mask, [], [], {}, {}, 2200), ring, room)
            except (subprocess.CalledProcessError, OSError, KeyError) as e:
                print("FAIL %s: %s" % (name, e))
                suite.failed += 1
    print("%d passed, %d failed" % (suite.passed, suite.failed))
    return int(suite.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
