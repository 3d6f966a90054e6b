"""Attention as others compute it, given the mask as they take it: PyTorch's scaled_dot_product_attention (1.x: its
private ancestor) and ONNX Runtime's com.microsoft.MultiHeadAttention through Node, whichever this host has."""
import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np

# Both take a mask as N x M numbers or not at all; past this they would need gigabytes for it.
LONGEST_MASK = 4096
ONNX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx.js")


def find(name, modules):
    return {"torch": Torch, "onnx": Onnx}[name](modules)


def dense(pattern, length):
    given, k = pattern.tensors(length), np.arange(length)[None]
    rows = [pattern.seen(np.arange(f, min(length, f + 512))[:, None], k, given) for f in range(0, length, 512)]
    return np.concatenate(rows)


class Torch:
    name, version = "torch", None

    def __init__(self, modules):
        try:
            import torch
        except ImportError:
            return
        self.torch, self.version = torch, torch.__version__

    def milliseconds(self, pattern, length, threads, qkv, heads, pin):
        if not self.version or (pattern.name not in ("full", "causal") and length > LONGEST_MASK):
            return None
        torch, cores = self.torch, os.sched_getaffinity(0)
        pin()
        torch.set_num_threads(threads)
        q, k, v = (torch.from_numpy(qkv[n].reshape(1, length, heads, -1)).transpose(1, 2).contiguous() for n in "qkv")
        mask = None if pattern.name == "full" else torch.from_numpy(dense(pattern, length))
        fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)

        def call():
            if fused:
                return fused(q, k, v, attn_mask=mask)
            s = torch.matmul(q, k.transpose(-2, -1)).mul_(q.shape[-1] ** -0.5)
            if mask is not None:
                s.masked_fill_(~mask, float("-inf"))
            return torch.matmul(torch.softmax(s, -1), v)

        with torch.no_grad():
            result = median(call, threads)
        os.sched_setaffinity(0, cores)
        return result


def median(call, threads):
    clock = time.process_time if threads == 1 else time.perf_counter
    times, begin = [], time.perf_counter()
    while len(times) < 4 or (time.perf_counter() - begin < 2 and len(times) < 50):
        start = clock()
        call()
        times.append(clock() - start)
    return 1e3 * float(np.median(times[1:]))


class Onnx:
    name, version = "onnx", None

    def __init__(self, modules):
        self.modules, package = modules, os.path.join(modules, "onnxruntime-node", "package.json")
        if modules and shutil.which("node") and os.path.exists(package):
            with open(package) as f:
                self.version = json.load(f)["version"]

    def milliseconds(self, pattern, length, threads, qkv, heads, pin):
        if not self.version or (pattern.name != "full" and length > LONGEST_MASK):
            return None
        with tempfile.TemporaryDirectory() as folder:
            for n in "qkv":
                qkv[n].tofile(os.path.join(folder, n))
            causal = pattern.name == "causal"
            if pattern.name not in ("full", "causal"):
                np.where(dense(pattern, length), np.float32(0), np.float32(-1e30)).tofile(os.path.join(folder, "bias"))
            with open(os.path.join(folder, "model.onnx"), "wb") as f:
                f.write(model(heads, causal, pattern.name not in ("full", "causal")))
            run = subprocess.run(["node", ONNX, os.path.abspath(self.modules), folder, str(length), str(qkv["q"].shape[2]), str(threads)],
                                 capture_output=True, text=True, preexec_fn=pin)
        return float(run.stdout) if run.returncode == 0 else None


#===-- an ONNX model of one node, written by hand: protobuf is a handful of bytes ----------------------------------===

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, axes):
    shape = b"".join(field(1, field(2, a)) for a in axes)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def model(heads, causal, biased):
    attribute = lambda name, value: field(5, field(1, name) + field(3, value) + field(20, 2))
    inputs = ["q", "k", "v"] + (["", "", "bias"] if biased else [])
    node = b"".join(field(1, n) for n in inputs) + field(2, "y") + field(4, "MultiHeadAttention")
    node += attribute("num_heads", heads) + attribute("unidirectional", int(causal)) + field(7, "com.microsoft")
    graph = field(1, node) + field(2, "g") + b"".join(field(11, tensor(n, ["B", "T", "D"])) for n in "qkv")
    graph += field(11, tensor("bias", ["b", "h", "t", "s"])) if biased else b""
    graph += field(12, tensor("y", ["B", "T", "D"]))
    opset = lambda domain, version: field(8, field(1, domain) + field(2, version))
    return field(1, 8) + field(7, graph) + opset("", 17) + opset("com.microsoft", 1)
