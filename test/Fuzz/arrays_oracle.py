#!/usr/bin/env python3
"""What heddle_fuzz_arrays read, judged by numpy: `arrays_oracle.py DIR` (its --dump).

Every file that was accepted is loaded by numpy, without pickle; names, types, shapes and elements must be the same."""
import io
import os
import sys
import zlib

import numpy as np

TYPES = {"BOOL": "?", "I8": "b", "U8": "B", "I16": "h", "U16": "H", "I32": "i", "U32": "I", "I64": "l", "U64": "L", "F16": "e", "F32": "f", "F64": "d"}


def judged(path):
    with open(path + ".bin", "rb") as f:
        loaded = np.load(io.BytesIO(f.read()), allow_pickle=False)
    arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    said = {}
    with open(path + ".txt", encoding="utf-8") as f:
        for line in f:
            name, kind, shape, total = line.rstrip("\n").rsplit(" ", 3)
            said[name] = (TYPES[kind], tuple(int(n) for n in shape.strip("()").split(",") if n), int(total))
    found = {}
    for name, a in arrays.items():
        plain = np.ascontiguousarray(a).astype(a.dtype.newbyteorder("="))
        found[name] = (plain.dtype.char.replace("q", "l").replace("Q", "L"), a.shape, zlib.crc32(plain.tobytes()))
    return "" if said == found else "%s: numpy reads %s, Heddle %s" % (path, found, said)


def main():
    folder = sys.argv[1]
    names = [n[:-4] for n in os.listdir(folder) if n.endswith(".bin")]
    wrong = []
    for name in sorted(names, key=int):
        try:
            what = judged(os.path.join(folder, name))
        except Exception as e:
            what = "%s: numpy refuses it: %s" % (name, e)
        if what:
            wrong.append(what)
    print("\n".join(wrong[:10] + ["%d accepted files judged, %d disagreements" % (len(names), len(wrong))]))
    return int(bool(wrong) or not names)


if __name__ == "__main__":
    sys.exit(main())
