#!/usr/bin/python3
"""The models of big.py and of `day.sh speed`, and inputs for their programs.

    big_models.py models FOLDER             descriptions and weights, for `heddle compile`
    big_models.py input MODEL LENGTH FILE   an input of LENGTH rows or words, for `run` and `bench`

Models: linear (512 -> 1024), linear4096_zeros (4096 -> 4096), gelu_zeros (768 -> 3072, then GELU),
attention64 and attention128 (16 heads of so many features, causal). Weights are zeros where the
name says so. Those of `linear`, and all inputs of attention, are exact in bf16."""
import argparse
import json
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test", "Oracle"))
import tensors  # noqa: E402

HEADS = 16
# Features: out, in.
LINEARS = {"linear": (1024, 512), "linear4096_zeros": (4096, 4096), "gelu_zeros": (3072, 768)}
ATTENTIONS = {"attention64": 64, "attention128": 128}  # features of a head
MODELS = [*LINEARS, *ATTENTIONS]
WEIGHT = "w.weight"


def bf16(x):
    """Rounded to bf16, to nearest even; as f32."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def inputs(model, length, seed=3):
    """{name: f32}. Linear: x [length, in]. Attention: q, k, v [1, length, heads * features]."""
    rng = np.random.default_rng(seed)
    if model in LINEARS:
        return {"x": rng.standard_normal((length, LINEARS[model][1])).astype(np.float32)}
    shape = (1, length, HEADS * ATTENTIONS[model])
    return {name: bf16(rng.standard_normal(shape)) for name in "qkv"}


def describe(folder, name, given, *body):
    model = {"heddle": 1, "name": name, "inputs": given, "body": body, "outputs": ["y"]}
    if name in LINEARS:
        model["weights"] = {"file": name + ".safetensors"}
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump(model, f)


def write_models(folder):
    os.makedirs(folder, exist_ok=True)
    for name, shape in LINEARS.items():
        weights = np.zeros(shape, np.float32)
        if not name.endswith("zeros"):
            weights = np.random.default_rng(11).standard_normal(shape)
        tensors.write(os.path.join(folder, name + ".safetensors"), {WEIGHT: bf16(weights)})
        body = [{"y": {"linear": "x", "weights": "w", "bias": False}}]
        if name.startswith("gelu"):
            body.append({"y": "=gelu_tanh(y)"})
        describe(folder, name, {"x": "f32[M,%d]" % shape[1]}, *body)
    for name, features in ATTENTIONS.items():
        describe(folder, name, {n: "f32[B,T,%d]" % (HEADS * features) for n in "qkv"},
                 {"y": {"attention": ["q", "k", "v"], "heads": HEADS, "mask": "=causal"}})


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = p.add_subparsers(dest="what", required=True)
    what.add_parser("models").add_argument("folder")
    given = what.add_parser("input")
    given.add_argument("model", choices=MODELS)
    given.add_argument("length", type=int)
    given.add_argument("file")
    o = p.parse_args()
    if o.what == "models":
        write_models(o.folder)
    else:
        tensors.write(o.file, inputs(o.model, o.length))
    return 0


if __name__ == "__main__":
    sys.exit(main())
