#!/usr/bin/python3
"""The encoder of T5-base, true shapes, random weights, as a Hugging Face directory.

    make_t5.py DIR     (110 M parameters, 439 MB)"""
import argparse

import random_model

WIDTH, INNER, LAYERS, HEADS, VOCAB, BUCKETS = 768, 3072, 12, 12, 32128, 32


def tensors():
    yield "shared.weight", (VOCAB, WIDTH), 0
    for i in range(LAYERS):
        layer = "encoder.block.%d.layer." % i
        for name in "qkvo":
            yield from random_model.linear(layer + "0.SelfAttention." + name, WIDTH, WIDTH, bias=False)
        if i == 0:
            yield layer + "0.SelfAttention.relative_attention_bias.weight", (BUCKETS, HEADS), 0
        yield layer + "0.layer_norm.weight", (WIDTH,), 1
        yield from random_model.linear(layer + "1.DenseReluDense.wi", INNER, WIDTH, bias=False)
        yield from random_model.linear(layer + "1.DenseReluDense.wo", WIDTH, INNER, bias=False)
        yield layer + "1.layer_norm.weight", (WIDTH,), 1
    yield "encoder.final_layer_norm.weight", (WIDTH,), 1


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--zeros", action="store_true", help="no numbers: a file with a hole, which takes no room")
    o = p.parse_args()
    config = {"architectures": ["T5EncoderModel"], "model_type": "t5", "d_ff": INNER, "d_kv": WIDTH // HEADS, "d_model": WIDTH,
              "feed_forward_proj": "relu", "layer_norm_epsilon": 1e-6, "num_heads": HEADS, "num_layers": LAYERS, "pad_token_id": 0,
              "relative_attention_max_distance": 128, "relative_attention_num_buckets": BUCKETS, "vocab_size": VOCAB}
    random_model.write(o.dir, config, tensors(), zeros=o.zeros)


if __name__ == "__main__":
    main()
