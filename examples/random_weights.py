"""Random weights for examples, always the same: each make.py says which tensors its model has."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test", "Oracle"))
import tensors


class Weights:
    def __init__(self, folder, seed):
        self.folder, self.random, self.named = folder, np.random.default_rng(seed), {}

    def table(self, name, *shape, scale=1.0, mean=0.0):
        self.named[name] = (mean + scale * self.random.standard_normal(shape)).astype(np.float32)

    def linear(self, name, out, *inner, bias=True):
        """[out, inner...], a convolution's too: results as large as what goes in."""
        self.table(name + ".weight", out, *inner, scale=np.prod(inner) ** -0.5)
        if bias:
            self.table(name + ".bias", out, scale=0.1)

    def norm(self, name, width):
        self.table(name + ".weight", width, scale=0.1, mean=1.0)
        self.table(name + ".bias", width, scale=0.1)

    def attention(self, name, width, names="qkvo"):
        for p in names:
            self.linear("%s.%s" % (name, p), width, width)

    def feed_forward(self, name, width, inner):
        self.linear(name + ".up", inner, width)
        self.linear(name + ".down", width, inner)

    def write(self, inputs):
        tensors.write(os.path.join(self.folder, "model.safetensors"), self.named)
        tensors.write(os.path.join(self.folder, "input.safetensors"), inputs)
