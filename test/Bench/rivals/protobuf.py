"""Writes ONNX files without a library: the few messages of its protobuf that a graph needs (onnx.proto3: ModelProto, GraphProto,
NodeProto, AttributeProto, TensorProto, ValueInfoProto). Weights go to one file beside the graph, as external data."""
import os

import numpy as np

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
TYPES = {np.dtype("f4"): FLOAT, np.dtype("u1"): UINT8, np.dtype("i1"): INT8, np.dtype("i4"): INT32, np.dtype("i8"): INT64}


def varint(n):
    """A number in sevens of bits, the lowest first."""
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def num(field, value):
    """A field that is a number."""
    return varint(field << 3) + varint(value)


def txt(field, value):
    """A field that is a text, bytes or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    out = txt(1, name)
    if isinstance(value, float):
        out += varint(2 << 3 | 5) + np.float32(value).tobytes() + num(20, 1)
    elif isinstance(value, int):
        out += num(3, value) + num(20, 2)
    elif isinstance(value, str):
        out += txt(4, value) + num(20, 3)
    else:
        out += b"".join(num(8, v) for v in value) + num(20, 7)
    return txt(5, out)


class Graph:
    """A graph under construction; values are their names."""

    def __init__(self, path):
        self.path, self.nodes, self.inits, self.ins, self.outs = path, [], [], [], []
        self.data = open(path + ".data", "wb")
        self.at, self.n, self.seen = 0, 0, {}

    def name(self):
        self.n += 1
        return "t%d" % self.n

    def const(self, a, name=None):
        """An initializer; small ones stand in the graph, large ones in the file of weights."""
        a = np.ascontiguousarray(a)
        name = name or self.name()
        head = b"".join(num(1, d) for d in a.shape) + num(2, TYPES[a.dtype]) + txt(8, name)
        if a.nbytes < 1024:
            head += txt(9, a.tobytes())
        else:
            pad = -self.at % 4096
            self.data.write(b"\0" * pad)
            self.at += pad
            for k, v in (("location", os.path.basename(self.path) + ".data"), ("offset", str(self.at)), ("length", str(a.nbytes))):
                head += txt(13, txt(1, k) + txt(2, v))
            head += num(14, 1)
            self.data.write(memoryview(a).cast("B"))
            self.at += a.nbytes
        self.inits.append(txt(5, head))
        return name

    def op(self, kind, inputs, outs=1, domain="", **attributes):
        out = [self.name() for _ in range(outs)] if isinstance(outs, int) else list(outs)
        node = b"".join(txt(1, i) for i in inputs) + b"".join(txt(2, o) for o in out) + txt(3, "n" + self.name()) + txt(4, kind)
        node += b"".join(attribute(k, v) for k, v in attributes.items())
        if domain:
            node += txt(7, domain)
        self.nodes.append(txt(1, node))
        return out[0] if len(out) == 1 else out

    def ms(self, kind, inputs, outs=1, **attributes):
        """An op of ONNX Runtime's own, which does the work of several."""
        return self.op(kind, inputs, outs, "com.microsoft", **attributes)

    def value(self, name, kind, shape):
        dims = b"".join(txt(1, num(1, d) if isinstance(d, int) else txt(2, d)) for d in shape)
        return txt(1, name) + txt(2, txt(1, num(1, kind) + txt(2, dims)))

    def input(self, name, kind, shape):
        self.ins.append(txt(11, self.value(name, kind, shape)))
        return name

    def output(self, name, kind, shape):
        self.outs.append(txt(12, self.value(name, kind, shape)))

    def save(self):
        self.data.close()
        graph = b"".join(self.nodes) + txt(2, "g") + b"".join(self.inits) + b"".join(self.ins) + b"".join(self.outs)
        opset = lambda domain, version: txt(8, txt(1, domain) + num(2, version))
        with open(self.path, "wb") as f:
            f.write(num(1, 9) + txt(7, graph) + opset("", 17) + opset("com.microsoft", 1))
