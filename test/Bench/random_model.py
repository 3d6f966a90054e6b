"""Writes Hugging Face directories of true shapes with random weights, in float32 or bfloat16, a tensor at a time."""
import json
import os

import numpy as np

BYTES = {"F32": 4, "BF16": 2}


def norm(name, width):
    """Tensors of a layer norm, as `write` takes them."""
    yield name + ".weight", (width,), 1
    yield name + ".bias", (width,), 0


def linear(name, out, width, bias=True):
    yield name + ".weight", (out, width), 0
    if bias:
        yield name + ".bias", (out,), 0


def values(random, shape, dtype, about):
    """Sizes as training leaves them, so that no activation runs away; norms lie around 1."""
    v = random.standard_normal(shape, np.float32) * np.float32(0.02) + np.float32(about)
    return v if dtype == "F32" else (v.view(np.uint32) >> 16).astype(np.uint16)


def write(folder, config, tensors, dtype="F32", seed=124, zeros=False, name="config.json"):
    """tensors: (name, shape, value it lies around). `zeros`: a hole instead of numbers, which takes no room on the disk. `name`: the file of `config`."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as f:
        json.dump(config, f, indent=2)
    head, at, tensors = {}, 0, list(tensors)
    for name, shape, _ in tensors:
        size = BYTES[dtype] * int(np.prod(shape))
        head[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(seed)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        if zeros:
            f.truncate(8 + len(text) + at)
            tensors = []
        for _, shape, about in tensors:
            f.write(values(random, shape, dtype, about).tobytes())
    print("%s: %d parameters, %.0f MB" % (folder, at // BYTES[dtype], at / 1e6))
