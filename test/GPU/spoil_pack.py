#!/usr/bin/env python3
"""Makes a pack with wrong expectations, for tests: `spoil_pack.py PACK OUT STEP,CASE...`.

STEP is the number of a step, from 0. The last f32 of the case's expected file becomes 1e30."""
import json
import os
import struct
import sys
import tarfile
import tempfile


def spoil(path):
    with open(path, "r+b") as f:
        f.seek(-4, os.SEEK_END)
        f.write(struct.pack("<f", 1e30))


def main():
    pack, out, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(pack) as archive:
            archive.extractall(folder)
        with open(os.path.join(folder, "manifest.json")) as f:
            steps = json.load(f)["steps"]
        for one in wanted:
            step, name = one.split(",")
            case = next(c for c in steps[int(step)]["cases"] if c["name"] == name)
            spoil(os.path.join(folder, case["expected"]))
        with tarfile.open(out, "w") as archive:
            archive.add(folder, ".")
    return 0


if __name__ == "__main__":
    sys.exit(main())
