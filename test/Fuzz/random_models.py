#!/usr/bin/python3
"""Random models: what the compiled binary computes against what the interpreter computes.

    random_models.py --heddle BIN [--count N] [--first SEED] [--jobs N] [--keep DIR]

Every model is drawn from its seed: layers of attention under a random tree of masks, with biases, soft caps, sinks and grouped
heads, norms, feed-forwards, rotary positions, elementwise arithmetic, at lengths around the sizes of tiles; some inputs have a default
and are left out. A model that differs
is named by its seed (--first SEED --count 1 --keep DIR shows it again). The last line is `N passed, N failed`."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors

LENGTHS = [1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 90, 127, 128, 129, 150, 200, 257]
ACTIVATIONS = ["relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "sigmoid", "tanh"]


class Draw:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.weights, self.inputs, self.types, self.body, self.config = {}, {}, {}, [], {}
        self.B = int(self.r.integers(1, 4))
        self.T = self.pick(LENGTHS)
        self.layers = 0

    def pick(self, of):
        return of[int(self.r.integers(len(of)))]

    def chance(self, p):
        return bool(self.r.random() < p)

    def real(self, *shape, scale=1.0, mean=0.0):
        return (self.r.standard_normal(shape) * scale + mean).astype(np.float32)

    def weight(self, name, *shape):
        last = shape[-1] if len(shape) > 1 else None
        self.weights[name] = self.real(*shape, scale=last ** -0.5 if last else 0.2)

    def linear(self, name, out, into, bias=True):
        self.weight(name + ".weight", out, into)
        if bias:
            self.weight(name + ".bias", out)

    def input(self, name, text, value):
        self.types[name], self.inputs[name] = text, value
        return name

    # ---- masks
    def leaf(self, keys, length):
        """A leaf over queries [T] and keys `keys` of `length`; inputs are made as they are needed."""
        kind = self.pick(["all", "causal", "causal", "window", "window", "half", "dilated", "keys", "queries", "prefix", "document", "dense", "blocks"])
        tag = "%s_%d" % (keys, length)
        if kind in ("all", "causal"):
            return kind
        if kind == "window":
            return "window(%d, %d)" % (self.pick([0, 1, 3, 16, 40]), self.pick([0, 0, 2, 17]))
        if kind == "half":
            return self.pick(["window(%d, null)", "window(null, %d)"]) % self.pick([0, 2, 9, 33])
        if kind == "dilated":
            return "dilated(%d)" % self.pick([2, 3, 7])
        if kind == "keys":
            name = "real" + keys
            if name not in self.inputs:
                real = np.ones((self.B, length), np.int64)
                for b in range(self.B):
                    lost = int(self.r.integers(0, length))
                    if self.chance(0.5):
                        real[b, :lost] = 0
                    elif self.chance(0.5):
                        real[b, length - lost:] = 0
                    else:
                        real[b] = self.r.integers(0, 2, length)
                self.input(name, "i64[B,%s]" % keys, real)
            return "keys(%s)" % name
        if kind == "queries":
            if "asking" not in self.inputs:
                self.input("asking", "bool[B,T]", self.r.random((self.B, self.T)) < 0.8)
            return "queries(asking)"
        if kind == "prefix":
            if "begun" not in self.inputs:
                self.input("begun", "i64[B]", self.r.integers(0, length + 2, self.B))
            return "prefix(begun)"
        if kind == "document":
            for axis, n in (("T", self.T), (keys, length)):
                if "text" + axis not in self.inputs:
                    self.input("text" + axis, "i64[B,%s]" % axis, np.sort(self.r.integers(0, 4, (self.B, n)), 1))
            return "document(text%s, text%s)" % ("T", keys) if keys != "T" else "document(textT)"
        if kind == "dense":
            name = "seen" + keys
            if name not in self.inputs:
                shape = self.pick([(self.T, length), (self.B, self.T, length)])
                self.input(name, "bool[%s]" % ",".join({2: "T,", 3: "B,T,"}[len(shape)].split(",")[:-1] + [keys]), self.r.random(shape) < 0.6)
            return "dense(%s)" % name
        size = self.pick([4, 16, 32])
        rows, columns = -(-max(LENGTHS) // size), -(-length // size)
        name = "lists%s%d" % (keys, size)
        self.config.setdefault(name, self.r.integers(0, columns, (rows, 3)).tolist())
        return "blocks(%d, %s)" % (size, name)

    def mask(self, keys, length, depth):
        if depth == 0 or self.chance(0.3):
            return self.leaf(keys, length)
        kind = self.pick(["and", "and", "or", "not"])
        a = self.mask(keys, length, depth - 1)
        if kind == "not":  # the opposite of all is refused
            return a if "all" in a else "not (%s)" % a
        b = self.mask(keys, length, depth - 1)
        if kind == "and" and ("not (%s)" % a == b or "not (%s)" % b == a):  # and so is a contradiction
            return a
        return "(%s %s %s)" % (a, kind, b)

    # ---- layers
    def norm(self, name, width):
        if self.chance(0.6):
            self.weights[name + ".weight"] = self.real(width, scale=0.1, mean=1.0)
            self.weights[name + ".bias"] = self.real(width, scale=0.1)
            return {"layer_norm": "x", "weights": name}
        self.weights[name + ".weight"] = self.real(width, scale=0.1, mean=1.0)
        return {"rms_norm": "x", "weights": name}

    def attention(self, n, width, memory):
        heads = self.pick([1, 2, 3, 4, 8])
        groups = self.pick([g for g in range(1, heads + 1) if heads % g == 0])
        w = self.pick([4, 8, 12, 16, 32, 40, 64])
        u = w if self.chance(0.8) else self.pick([8, 24])
        name = "attention%d" % n
        keys, length = ("S", memory) if memory and self.chance(0.5) else ("T", self.T)
        source = "h" if keys == "T" else "memory"
        self.linear(name + ".q", heads * w, width, self.chance(0.5))
        self.linear(name + ".k", groups * w, width, self.chance(0.5))
        self.linear(name + ".v", groups * u, width, self.chance(0.5))
        self.linear(name + ".o", width, heads * u)
        for x, value in (("q", "h"), ("k", source), ("v", source)):
            self.body.append({x: {"linear": value, "weights": "%s.%s" % (name, x), "bias": name + ".%s.bias" % x in self.weights}})
        if keys == "T" and w % 4 == 0 and self.chance(0.3):
            turn = {"positions": "=range(T)[null, :]", "frequencies": "=10000.0 ** -(2 * range(%d) / %d)" % (w // 2, w), "head_width": w}
            style = self.pick(["halves", "pairs"])
            for x in "qk":
                self.body.append({x: {"rotary": x, **turn, "style": style}})
        call = {"attention": ["q", "k", "v"], "heads": heads, "kv_heads": groups, "mask": "=" + self.mask(keys, length, 3)}
        if self.chance(0.3):
            call["scale"] = float(np.round(self.r.random() + 0.05, 3))
        if self.chance(0.15):
            call["softcap"] = 5.0
        if self.chance(0.15):
            call["sinks"] = "=" + self.input("sink%d" % n, "f32[%d]" % heads, self.real(heads))
        if self.chance(0.1):
            call["key_start"] = int(self.r.integers(-20, 20))
        kind = self.pick(["none", "none", "none", "alibi", "bucket", "dense"])
        if kind == "alibi":
            self.body.append({"near": {"alibi": heads, "symmetric": self.chance(0.5)}})
        elif kind == "bucket":
            self.weight("table%d.weight" % n, 8, heads)
            self.body.append({"near": {"bucket_bias": [], "heads": heads, "buckets": 8, "max_distance": 20, "two_sided": self.chance(0.5), "weights": "table%d" % n}})
        elif kind == "dense":
            shape, text = self.pick([((self.T, length), "T," + keys), ((self.B, 1, self.T, length), "B,1,T," + keys), ((1, heads, 1, length), "1,%d,1,%s" % (heads, keys))])
            self.body.append({"near": {"dense_bias": self.input("bias%d" % n, "f32[%s]" % text, self.real(*shape))}})
        if kind != "none":
            call["bias"] = "=near"
        self.body.append({"a": call})
        self.body.append({"a": {"linear": "a", "weights": name + ".o"}})

    def model(self):
        width = self.pick([8, 20, 32, 48, 64, 96])
        if self.chance(0.5):
            rows = self.pick([11, 50, 300])
            self.input("ids", "i64[B,T]", self.r.integers(0, rows, (self.B, self.T)))
            self.weight("embed.weight", rows, width)
            self.body.append({"x": {"embedding": "ids", "weights": "embed"}})
            self.body.append({"x": "=x * %g" % self.pick([1.0, 2.5])})
        else:
            self.input("features", "f32[B,T,%d]" % width, self.real(self.B, self.T, width))
            self.body.append({"x": "=features"})
        if self.chance(0.3):
            self.body.append({"p": {"sinusoidal": "=range(T)", "width": width, "layout": self.pick(["interleaved", "halves"])}})
            self.body.append({"x": "=x + p"})
        memory = self.pick(LENGTHS) if self.chance(0.4) else 0
        if memory:
            self.input("memory", "f32[B,S,%d]" % width, self.real(self.B, memory, width))
        layers = int(self.r.integers(1, 4))
        for n in range(layers):
            before = self.chance(0.6)
            norm = self.norm("norm%d" % n, width)
            self.body.append({"h": norm} if before else {"h": "=x"})
            self.attention(n, width, memory)
            self.body.append({"x": "=x + a"} if before else {"x": {**norm, next(iter(norm)): "=x + a"}})
            if self.chance(0.7):
                inner, act, gated = self.pick([12, 33, 64, 130]), self.pick(ACTIVATIONS), self.chance(0.4)
                self.linear("up%d" % n, inner, width)
                self.linear("down%d" % n, width, inner, self.chance(0.5))
                self.body.append({"u": {"linear": "x", "weights": "up%d" % n}})
                if gated:
                    self.linear("gate%d" % n, inner, width, False)
                    self.body.append({"g": {"linear": "x", "weights": "gate%d" % n, "bias": False}})
                self.body.append({"u": "=activation(%s, '%s')%s" % ("g" if gated else "u", act, " * u" if gated else "")})
                self.body.append({"f": {"linear": "u", "weights": "down%d" % n, "bias": "down%d.bias" % n in self.weights}})
                self.body.append({"x": "=x + f"})
            if self.chance(0.3):
                self.body.append({"x": self.pick(["=clip(x, -2.0, 2.0)", "=x * sigmoid(x) + 0.1", "=max(x, -1.0)", "=x / sqrt(1 + x * x)", "=abs(x) - x * 0.5", "=x > 0.0 ? x : x * 0.1"])})
        out = self.pick(["rows", "rows", "linear", "first", "mean", "softmax"])
        if out == "linear":
            many = self.pick([1, 7, 50, 333])
            self.linear("head", many, width)
            self.body.append({"y": {"linear": "x", "weights": "head"}})
        else:
            self.body.append({"y": {"rows": "=x", "first": "=x[:, 0]", "mean": {"mean": "x", "axis": 1}, "softmax": {"softmax": "x"}}[out]})
        if memory and "memory" not in json.dumps(self.body):
            del self.inputs["memory"], self.types["memory"]
        doc = {"heddle": 1, "name": "random", "config": self.config, "inputs": self.types, "weights": "model.safetensors", "body": self.body, "outputs": ["y"]}
        # What the draw made and the body does not say after all is not allowed to stay.
        text = json.dumps(self.body)
        for name in [i for i in self.types if i not in text]:
            del self.types[name], self.inputs[name]
        for name in [c for c in self.config if c not in text]:
            del self.config[name]
        self.leave_out()
        return doc

    def leave_out(self):
        """Gives some inputs a default and nobody gives them, if others tell the lengths. The rest of the draw is what it would be without."""
        r = np.random.default_rng([self.B, self.T, len(self.body)])
        for name, text in list(self.types.items()):
            lengths = lambda t: set(re.findall("[A-Z]", t[t.index("["):]))
            others = set().union(*(lengths(self.types[n]) for n in self.inputs if n != name))
            if r.random() < 0.2 and lengths(text) <= others:
                kind = text[:text.index("[")]
                self.types[name] = {"type": text, "default": {"i64": "=1", "bool": "=B > 0", "f32": "=0.25"}[kind]}
                self.inputs.pop(name)


def make(seed, folder):
    draw = Draw(seed)
    doc = draw.model()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.json"), "w") as f:
        json.dump(doc, f, indent=1)
    tensors.write(os.path.join(folder, "model.safetensors"), draw.weights)
    tensors.write(os.path.join(folder, "input.safetensors"), draw.inputs)


def execute(command):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if p.returncode:
        raise RuntimeError("%s: exit status %d: %s" % (os.path.basename(command[0]) + " " + command[1], p.returncode, p.stdout.decode(errors="replace").strip()[:300]))


def one(seed, heddle, folder):
    """None, or what went wrong."""
    at = lambda name: os.path.join(folder, name)
    try:
        make(seed, folder)
        execute([heddle, "compile", at("model.json"), "-o", at("model"), *cached.quick(heddle)])
        execute([at("model"), "run", "--input", at("input.safetensors"), "--output", at("binary.safetensors")])
        execute([heddle, "interpret", at("model.json"), "-i", at("input.safetensors"), "-o", at("meaning.safetensors")])
        e, a = tensors.read(at("meaning.safetensors"))["y"], tensors.read(at("binary.safetensors"))["y"]
        if not np.isfinite(e).all():
            return "the meaning is not finite"
        return tensors.differs(e, a, 2e-4 * max(1.0, float(np.abs(e).max())), 1e-4)
    except (RuntimeError, subprocess.TimeoutExpired, OSError, KeyError) as e:
        return str(e)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--keep", help="leave the folders of what fails here")
    o = p.parse_args()
    heddle, passed, failed = os.path.abspath(o.heddle), 0, 0

    def work(seed):
        if o.keep:
            return seed, one(seed, heddle, os.path.join(o.keep, str(seed)))
        with tempfile.TemporaryDirectory(prefix="heddle-random-") as folder:
            return seed, one(seed, heddle, folder)

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for seed, wrong in pool.map(work, range(o.first, o.first + o.count)):
            if wrong:
                print("FAIL seed %d: %s" % (seed, wrong), flush=True)
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
