#!/usr/bin/python3
"""A GPT-2 of true shapes with random weights, as a Hugging Face directory: what `compile` and `bench` are measured on.

    make_gpt2.py DIR [--size small|medium|large|xl]     (small: 124 M parameters, 498 MB)"""
import argparse
import json
import os

import numpy as np

SIZES = {"small": (768, 12, 12), "medium": (1024, 24, 16), "large": (1280, 36, 20), "xl": (1600, 48, 25)}
VOCAB, POSITIONS = 50257, 1024


def shapes(width, layers):
    yield "wte.weight", (VOCAB, width)
    yield "wpe.weight", (POSITIONS, width)
    for i in range(layers):
        for name, shape in (("ln_1", (width,)), ("attn.c_attn", (width, 3 * width)), ("attn.c_proj", (width, width)), ("ln_2", (width,)),
                            ("mlp.c_fc", (width, 4 * width)), ("mlp.c_proj", (4 * width, width))):
            yield "h.%d.%s.weight" % (i, name), shape
            yield "h.%d.%s.bias" % (i, name), shape[-1:]
    yield "ln_f.weight", (width,)
    yield "ln_f.bias", (width,)


def values(random, name, shape):
    """Sizes as training leaves them, so that no activation runs away."""
    v = random.standard_normal(shape, np.float32) * np.float32(0.02)
    return v + np.float32(1) if "ln_" in name and name.endswith("weight") else v


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--size", choices=SIZES, default="small")
    o = p.parse_args()
    width, layers, heads = SIZES[o.size]
    os.makedirs(o.dir, exist_ok=True)
    config = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "bos_token_id": 50256, "eos_token_id": 50256,
              "layer_norm_epsilon": 1e-05, "n_ctx": POSITIONS, "n_embd": width, "n_head": heads, "n_layer": layers, "n_positions": POSITIONS, "vocab_size": VOCAB}
    with open(os.path.join(o.dir, "config.json"), "w") as f:
        json.dump(config, f, indent=2)
    head, at = {}, 0
    for name, shape in shapes(width, layers):
        size = 4 * int(np.prod(shape))
        head[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(124)
    with open(os.path.join(o.dir, "model.safetensors"), "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes(width, layers):
            f.write(values(random, name, shape).tobytes())
    print("%s: %d parameters, %.0f MB" % (o.dir, at // 4, at / 1e6))


if __name__ == "__main__":
    main()
