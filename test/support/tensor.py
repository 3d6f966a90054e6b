"""Small safetensors on the command line: `tensor.py write FILE NAME=DTYPE:JSON...` and `tensor.py print FILE [NAME]` (dtype: i64, f32, bool)."""
import json
import sys

import numpy as np

import heddle_test
import tensors

TYPES = {"i64": np.int64, "f32": np.float32, "bool": bool}


def main():
    verb, path, *rest = sys.argv[1:]
    if verb == "write":
        named = {}
        for r in rest:
            name, _, what = r.partition("=")
            kind, _, value = what.partition(":")
            named[name] = np.array(json.loads(value), TYPES[kind])
        tensors.write(path, named)
    else:
        for name, t in sorted(tensors.read(path).items()):
            if not rest or name in rest:
                print("%s %s[%s] %s" % (name, t.dtype.name, ", ".join(map(str, t.shape)), json.dumps(np.round(t.astype(float), 4).tolist() if t.dtype.kind == "f" else t.tolist())))


if __name__ == "__main__":
    main()
