#!/usr/bin/python3
"""A GPT-2 of true shapes with random weights, as a Hugging Face directory: what `compile` and `bench` are measured on.

    make_gpt2.py DIR [--size small|medium|large|xl]     (small: 124 M parameters, 498 MB)"""
import argparse

import random_model

SIZES = {"small": (768, 12, 12), "medium": (1024, 24, 16), "large": (1280, 36, 20), "xl": (1600, 48, 25)}
VOCAB, POSITIONS = 50257, 1024


def tensors(width, layers):
    yield "wte.weight", (VOCAB, width), 0
    yield "wpe.weight", (POSITIONS, width), 0
    for i in range(layers):
        for name, shape, about in (("ln_1", (width,), 1), ("attn.c_attn", (width, 3 * width), 0), ("attn.c_proj", (width, width), 0),
                                   ("ln_2", (width,), 1), ("mlp.c_fc", (width, 4 * width), 0), ("mlp.c_proj", (4 * width, width), 0)):
            yield "h.%d.%s.weight" % (i, name), shape, about
            yield "h.%d.%s.bias" % (i, name), shape[-1:], 0
    yield "ln_f.weight", (width,), 1
    yield "ln_f.bias", (width,), 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--size", choices=SIZES, default="small")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    width, layers, heads = SIZES[o.size]
    config = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "bos_token_id": 50256, "eos_token_id": 50256,
              "layer_norm_epsilon": 1e-05, "n_ctx": POSITIONS, "n_embd": width, "n_head": heads, "n_layer": layers, "n_positions": POSITIONS, "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(width, layers), zeros=o.zeros)


if __name__ == "__main__":
    main()
