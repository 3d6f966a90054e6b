#!/usr/bin/python3
"""Writes model.safetensors (random, always the same) and input.safetensors of this example."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "test", "Oracle"))
import tensors

WIDTH, LENGTH = 32, 21
LAYERS = ["causal", "window", "padding", "document", "prefix", "dilated", "blocks", "global"]


def main():
    r = np.random.default_rng(8)

    def random(*shape, scale=1.0, mean=0.0):
        return (r.standard_normal(shape) * scale + mean).astype(np.float32)

    weights = {}
    for layer in LAYERS:
        for p in "qkvo":
            weights["%s.attention.%s.weight" % (layer, p)] = random(WIDTH, WIDTH, scale=WIDTH ** -0.5)
        weights[layer + ".attention.o.bias"] = random(WIDTH, scale=0.1)
        weights[layer + ".norm.weight"] = random(WIDTH, scale=0.1, mean=1.0)
        weights[layer + ".norm.bias"] = random(WIDTH, scale=0.1)
    tensors.write(os.path.join(HERE, "model.safetensors"), weights)
    real = np.ones((2, LENGTH), np.int64)
    real[1, -5:] = 0
    texts = np.array([[0] * 9 + [1] * 7 + [2] * 5, [4] * 13 + [3] * 8])
    tensors.write(os.path.join(HERE, "input.safetensors"),
                  {"x": random(2, LENGTH, WIDTH), "real": real, "texts": texts, "prefix_length": np.array([2, 6])})


if __name__ == "__main__":
    main()
