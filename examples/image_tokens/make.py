#!/usr/bin/python3
"""Writes model.safetensors (random, always the same) and input.safetensors of this example."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
from random_weights import Weights

WORDS, SIDE, TEXT, IMAGE, WIDTH, LAYERS, INNER = 8, 6, 120, 64, 32, 6, 64


def main():
    w = Weights(HERE, seed=7)
    w.table("embed.weight", TEXT + IMAGE, WIDTH)
    for name, rows in (("padding", WORDS), ("places", WORDS), ("rows", SIDE), ("columns", SIDE)):
        w.table(name + ".weight", rows, WIDTH)
    for i in range(LAYERS):
        b = "blocks.%d." % i
        w.norm(b + "norm1", WIDTH)
        w.attention(b + "self_attn", WIDTH)
        w.norm(b + "norm2", WIDTH)
        w.feed_forward(b + "ff", WIDTH, INNER)
    w.norm("norm", WIDTH)
    w.linear("head", TEXT + IMAGE, WIDTH)
    words, picture = w.random.integers(1, TEXT, (2, WORDS)), w.random.integers(TEXT, TEXT + IMAGE, (2, SIDE * SIDE))
    words[1, 5:] = 0
    w.write({"tokens": np.concatenate([words, picture], axis=1)})


if __name__ == "__main__":
    main()
