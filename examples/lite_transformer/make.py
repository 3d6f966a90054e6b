#!/usr/bin/python3
"""Writes model.safetensors (random, always the same) and input.safetensors of this example."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
from random_weights import Weights

VOCAB, WIDTH, HEADS, INNER, REACH = 101, 32, 2, 32, [3, 7]


def main():
    w = Weights(HERE, seed=6)
    w.table("embed.weight", VOCAB, WIDTH, scale=WIDTH ** -0.5)
    for stack, norms in (("encoder", 2), ("decoder", 3)):
        for i, taps in enumerate(REACH):
            b = "%s.%d." % (stack, i)
            w.attention(b + "self.far", WIDTH // 2)
            w.linear(b + "self.near.glu", WIDTH, WIDTH // 2)
            w.table(b + "self.near.taps", HEADS, taps)
            w.linear(b + "self.near.out", WIDTH // 2, WIDTH // 2)
            if stack == "decoder":
                w.attention(b + "cross", WIDTH)
            w.feed_forward(b + "ff", WIDTH, INNER)
            for n in range(norms):
                w.norm("%snorm%d" % (b, n + 1), WIDTH)
    source, target = w.random.integers(3, VOCAB, (2, 11)), w.random.integers(3, VOCAB, (2, 7))
    source[1, 8:], target[:, 0] = 0, 1
    w.write({"src": source, "tgt": target})


if __name__ == "__main__":
    main()
