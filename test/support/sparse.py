"""Weights without numbers: what `heddle weights --json` lists, as a safetensors file whose data is a hole of the file system."""
import json
import os
import subprocess

WIDTH = {"F32": 4, "BF16": 2, "F16": 2, "F64": 8, "I64": 8, "BOOL": 1}


def listed(heddle, model, *flags):
    """The weights that a model needs: objects with name, shape, dtype, stored, and perhaps optional."""
    r = subprocess.run([heddle, "weights", "--json", model, *flags], capture_output=True, text=True, timeout=120)
    if r.returncode:
        raise RuntimeError(r.stderr[:600])
    return json.loads(r.stdout)


def write(path, weights):
    header, at = {}, 0
    for w in weights:
        count = WIDTH[w["dtype"]]
        for n in w["shape"]:
            count *= n
        header[w["name"]] = {"dtype": w["dtype"], "shape": w["shape"], "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        f.truncate(8 + len(text) + at)
