#!/usr/bin/python3
"""Writes model.safetensors (random, always the same) and input.safetensors of this example."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir))
from random_weights import Weights

MELS, WIDTH, LAYERS, HEADS, INNER, REACH, CHANNELS, SYMBOLS, FRAMES = 20, 32, 2, 4, 64, 7, 12, 30, 37


def main():
    w = Weights(HERE, seed=5)
    w.linear("subsample.0", CHANNELS, 1, 3, 3)
    w.linear("subsample.1", CHANNELS, CHANNELS, 3, 3)
    w.linear("subsample.out", WIDTH, CHANNELS * (((MELS - 1) // 2 - 1) // 2))
    for i in range(LAYERS):
        b = "blocks.%d." % i
        for half in ("first", "second"):
            w.norm(b + half + ".norm", WIDTH)
            w.feed_forward(b + half + ".ff", WIDTH, INNER)
        w.norm(b + "attention.norm", WIDTH)
        w.attention(b + "attention", WIDTH)
        w.linear(b + "attention.distance.r", WIDTH, WIDTH, bias=False)
        w.table(b + "attention.distance.u", HEADS, WIDTH // HEADS)
        w.table(b + "attention.distance.v", HEADS, WIDTH // HEADS)
        w.norm(b + "convolution.before", WIDTH)
        w.linear(b + "convolution.glu", 2 * WIDTH, WIDTH, 1, bias=False)
        w.linear(b + "convolution.depthwise", WIDTH, 1, REACH, bias=False)
        w.norm(b + "convolution.norm", WIDTH)
        w.table(b + "convolution.norm.running_mean", WIDTH, scale=0.1)
        w.table(b + "convolution.norm.running_var", WIDTH, scale=0.1, mean=1.0)
        w.linear(b + "convolution.out", WIDTH, WIDTH, 1, bias=False)
        w.norm(b + "norm", WIDTH)
    w.linear("head", SYMBOLS, WIDTH)
    w.write({"features": w.random.standard_normal((2, FRAMES, MELS)).astype(np.float32), "lengths": np.array([FRAMES, 23])})


if __name__ == "__main__":
    main()
