"""Makes a broken model out of a good one: `spoil.py TEST FOLDER` reads the lines of TEST that begin with

    BASE: NAME                         the good model, a folder of test/Import/Inputs; its weights.json says which tensors it has
    EDIT FILE: OLD => NEW              OLD must stand exactly once in the text of FILE; \\n is a line's end
    QUANTISE: METHOD OPTION=VALUE ...                         matrices called *_proj become codes (quantised.py), and config.json says so
    TENSOR NAME: drop | [shape] [TYPE] | copy OTHER | OTHER + 1      one more, one less, or another one in model.safetensors;
                 at INDEX VALUE | bytes TEXT                  one element of its own; other bytes (U8)
    STORE: BF16|F16                    the tensors of model.safetensors are stored so
    HEADER: OLD => NEW                 the same as EDIT in the JSON header of model.safetensors (its length is kept right)
    LENGTH: N                          the eight bytes of the header's length say N
    WRITE FILE: TEXT                   the whole file; \\n and \\xNN are escapes
    APPEND FILE: TEXT                  bytes at its end
    CUT FILE: N                        only the first N bytes of it (negative: all but the last ones)
    REPEAT FILE: N TEXT                the file is N times TEXT
    REMOVE FILE
    SHARDS: N                          model.safetensors becomes N shards and an index; EDITs of the index come after it

and writes FOLDER anew, the edits in their order."""
import json
import os
import re
import shutil
import sys

import numpy as np

import quantised

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, os.pardir, "Import", "Inputs")


def unescape(text):
    return re.sub(rb"\\(n|x[0-9a-fA-F]{2}|\\)", lambda m: {b"n": b"\n", b"\\": b"\\"}.get(m[1]) or bytes([int(m[1][1:], 16)]), text.encode())


def parse_file(data):
    size = int.from_bytes(data[:8], "little")
    return data[8:8 + size], data[8 + size:]


def joined(header, data, size=None):
    return (len(header) if size is None else size).to_bytes(8, "little") + header + data


def halves(t, kind):
    """The bytes of an f32 array in 16 bits; bf16 by cutting, which no test of a note minds."""
    return t.astype("<f2") if kind == "F16" else (t.view("<u4") >> 16).astype("<u2")


def safetensors(named, kind="F32"):
    head, blobs, at = {}, [], 0
    for name, t in named.items():
        real = not isinstance(t, quantised.Bits) and t.dtype == np.float32
        data = halves(t, kind).tobytes() if real and kind != "F32" else quantised.bytes_of(t)
        head[name] = {"dtype": kind if real else quantised.kind_of(t), "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    return joined(text + b" " * (-len(text) % 8), b"".join(blobs))


class Model:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.tensors = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(data)

    def base(self, name):
        shutil.copytree(os.path.join(INPUTS, name), self.folder, dirs_exist_ok=True)
        if os.path.exists(self.path("weights.json")):
            random = np.random.default_rng(1)
            for tensor, shape in json.loads(self.read("weights.json")).items():
                self.tensors[tensor] = random.standard_normal(shape).astype("<f4")
            os.remove(self.path("weights.json"))
            self.save()

    def save(self):
        self.write("model.safetensors", safetensors(self.tensors))

    def replaced(self, text, old, new, where):
        old, new = unescape(old), unescape(new)
        if text.count(old) != 1:
            sys.exit("spoil.py: %r stands %d times in %s" % (old, text.count(old), where))
        return text.replace(old, new)

    def tensor(self, name, what):
        if what == "drop":
            del self.tensors[name]
        elif what.startswith("["):
            shape, _, kind = what.rpartition("] ")
            self.tensors[name] = np.zeros(json.loads(shape + "]" if shape else what), quantised.NAMES[kind] if shape else "<f4")
        elif what.startswith("at "):
            _, index, value = what.split(" ")
            self.tensors[name].reshape(-1)[int(index)] = float(value)
        elif what.startswith("bytes "):
            self.tensors[name] = np.frombuffer(unescape(what[6:]), np.uint8)
        elif what.startswith("copy "):
            self.tensors[name] = self.tensors[what[5:]]
        else:
            self.tensors[name] = self.tensors[what.split(" ")[0]] + np.float32(1)
        self.save()

    def quantise(self, what):
        method, *options = what.split(" ")
        options = {k: json.loads(v) for k, v in (o.split("=") for o in options)}
        random = np.random.default_rng(2)
        for name in [n for n in self.tensors if n.endswith("_proj.weight")]:
            n, k = self.tensors.pop(name).shape
            pieces, _ = quantised.matrix(method, random, n, k, **options)
            self.tensors.update({name[:-7] + end: t if isinstance(t, quantised.Bits) else t.copy() for end, t in pieces.items()})
        config = {**json.loads(self.read("config.json")), "quantization_config": quantised.config(method, **options)}
        self.write("config.json", json.dumps(config, indent=2).encode())
        self.save()

    def shards(self, count):
        os.remove(self.path("model.safetensors"))
        names, index = list(self.tensors), {}
        for i in range(count):
            file = "model-%05d-of-%05d.safetensors" % (i + 1, count)
            mine = names[i * len(names) // count:(i + 1) * len(names) // count]
            self.write(file, safetensors({n: self.tensors[n] for n in mine}))
            index.update({n: file for n in mine})
        total = sum(t.nbytes for t in self.tensors.values())
        self.write("model.safetensors.index.json", json.dumps({"metadata": {"total_size": total}, "weight_map": index}, indent=1).encode())

    def command(self, verb, file, rest):
        if verb == "BASE":
            self.base(rest)
        elif verb == "EDIT":
            old, new = rest.split(" => ")
            self.write(file, self.replaced(self.read(file), old, new, file))
        elif verb == "TENSOR":
            self.tensor(file, rest)
        elif verb == "QUANTISE":
            self.quantise(rest)
        elif verb == "STORE":
            self.write("model.safetensors", safetensors(self.tensors, rest))
        elif verb == "HEADER":
            header, data = parse_file(self.read("model.safetensors"))
            old, new = rest.split(" => ")
            self.write("model.safetensors", joined(self.replaced(header, old, new, "the header"), data))
        elif verb == "LENGTH":
            data = self.read("model.safetensors")
            self.write("model.safetensors", int(rest, 0).to_bytes(8, "little") + data[8:])
        elif verb == "WRITE":
            self.write(file, unescape(rest))
        elif verb == "APPEND":
            self.write(file, self.read(file) + unescape(rest))
        elif verb == "CUT":
            self.write(file, self.read(file)[:int(rest)])
        elif verb == "REPEAT":
            count, text = rest.split(" ", 1)
            self.write(file, unescape(text) * int(count))
        elif verb == "REMOVE":
            os.remove(self.path(file))
        elif verb == "SHARDS":
            self.shards(int(rest))


def spoil(test, folder):
    model, found = Model(folder), False
    with open(test, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"(BASE|EDIT|QUANTISE|TENSOR|STORE|HEADER|LENGTH|WRITE|APPEND|CUT|REPEAT|REMOVE|SHARDS)(?: ([^\s:]+))?(?:: ?(.*))?$", line.rstrip("\n"))
            if m:
                model.command(m[1], m[2], m[3] or "")
                found = True
    if not found:
        sys.exit("spoil.py: %s has nothing to do" % test)


if __name__ == "__main__":
    spoil(*sys.argv[1:])
