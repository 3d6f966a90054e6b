#!/usr/bin/python3
"""Weights in huge pages: `huge_pages.py HEDDLE FOLDER`.

A table of 16 MiB and one of 1 MiB are compiled and read. Of the large one the segment that holds the weights has the alignment of a huge
page, in memory and in the file alike; nothing is left of the linker's own output; and both give the rows asked for."""
import json
import os
import shutil
import struct
import subprocess
import sys

HUGE = 2 << 20


def safetensors(path, tensors):
    """tensors: (name, type, shape, bytes)"""
    head, at = {}, 0
    for name, kind, shape, data in tensors:
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(data for _, _, _, data in tensors))


def segments(path):
    """(offset, address, alignment, bytes) of what is loaded"""
    with open(path, "rb") as f:
        raw = f.read(4096)
    at, = struct.unpack_from("<Q", raw, 32)
    size, count = struct.unpack_from("<HH", raw, 54)
    for i in range(count):
        kind, _, offset, address, _, length, _, align = struct.unpack_from("<IIQQQQQQ", raw, at + i * size)
        if kind == 1:
            yield offset, address, align, length


def main():
    heddle, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    for rows, align in ((256, 64 << 10), (4096, HUGE)):
        here = os.path.join(folder, str(rows))
        os.makedirs(os.path.join(here, "out"))
        table = b"".join(struct.pack("<f", row) * 1024 for row in range(rows))
        safetensors(here + "/model.safetensors", [("table.weight", "F32", [rows, 1024], table)])
        with open(here + "/model.json", "w") as f:
            json.dump({"heddle": 1, "name": "table", "inputs": {"ids": "i64[B,T]"}, "weights": {"file": "model.safetensors"},
                       "body": [{"rows": {"embedding": "ids", "weights": "table", "rows": rows, "width": 1024}}], "outputs": ["rows"]}, f)
        binary = here + "/out/table"
        subprocess.run([heddle, "compile", here + "/model.json", "-o", binary], check=True)
        assert os.listdir(here + "/out") == ["table"], os.listdir(here + "/out")
        offset, address, aligned, _ = max(segments(binary), key=lambda s: s[3])
        assert aligned == align and offset % align == address % align, (rows, offset, address, aligned)
        safetensors(here + "/in", [("ids", "I64", [1, 2], struct.pack("<qq", rows - 1, 3))])
        subprocess.run([binary, "run", "--input", here + "/in", "--output", here + "/given"], check=True)
        with open(here + "/given", "rb") as f:
            given = f.read()[-8192:]
        assert given == struct.pack("<f", rows - 1) * 1024 + struct.pack("<f", 3) * 1024, rows
    print("2 tables")


main()
