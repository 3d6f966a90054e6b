"""The masks that are measured: each as an expression of the language, as the tensors it reads, and as a predicate in
numpy from which the live elements and tiles are counted."""
import numpy as np

BLOCK = 64


class Pattern:
    def __init__(self, name, mask, seen, inputs=None, given=None, classes=1):
        self.name, self.mask, self.inputs, self.given = name, mask, inputs or {}, given or (lambda n: {})
        self.classes = classes  # rows and keys of different residues modulo this never meet
        self.seen = seen  # seen(i, k, tensors) -> bool array, for columns i and rows k of indices

    def description(self, heads, width):
        qkv = {n: "f32[B,T,%d]" % (heads * width) for n in "qkv"}
        body = [{"a": {"attention": ["q", "k", "v"], "heads": heads, "mask": "=" + self.mask}}]
        return {"heddle": 1, "inputs": {**qkv, **self.inputs}, "body": body, "outputs": ["a"]}

    def tensors(self, length):
        return self.given(length)


def far(length, blocks):
    x = np.zeros(length, np.int64)
    x[:BLOCK if blocks else 16] = 1
    if blocks:
        x[-BLOCK:] = 1
    return {"far": x}


def bigbird(length):
    """Three random blocks a row of blocks, beside its own and its neighbours."""
    n, rng = -(-length // BLOCK), np.random.default_rng(7)
    near = np.clip(np.arange(n)[:, None] + np.array([-1, 0, 1]), 0, n - 1)
    return {"seen": np.concatenate([near, rng.integers(0, n, (n, 3))], 1), **far(length, True)}


def blocks_seen(i, k, t):
    listed = (t["seen"][i[:, 0] // BLOCK][:, :, None] == (k // BLOCK)[0][None, None, :]).any(1)
    return listed | (t["far"][i] > 0) | (t["far"][k] > 0)


def half(length):
    return {"real": (np.arange(length) < length // 2).astype(np.int64)[None]}


ALL = {p.name: p for p in [
    Pattern("full", "all", lambda i, k, t: (i >= 0) & (k >= 0)),
    Pattern("causal", "causal", lambda i, k, t: k <= i),
    Pattern("window", "causal and window(255, 0)", lambda i, k, t: (k <= i) & (k > i - 256)),
    Pattern("dilated", "causal and window(1020, 0) and dilated(4)",
            lambda i, k, t: (k <= i) & (i - k <= 1020) & ((i - k) % 4 == 0), classes=4),
    Pattern("longformer", "window(256, 256) or keys(far) or queries(far)",
            lambda i, k, t: (abs(i - k) <= 256) | (t["far"][i] > 0) | (t["far"][k] > 0),
            {"far": "i64[T]"}, lambda n: far(n, False)),
    Pattern("bigbird", "blocks(%d, seen) or keys(far) or queries(far)" % BLOCK, blocks_seen,
            {"seen": "i64[N,6]", "far": "i64[T]"}, bigbird),
    Pattern("documents", "causal and document(ids, ids)", lambda i, k, t: (k <= i) & (i // 512 == k // 512),
            {"ids": "i64[B,T]"}, lambda n: {"ids": (np.arange(n) // 512)[None]}),
    Pattern("prefix", "causal or prefix(256)", lambda i, k, t: (k <= i) | (k < 256)),
    Pattern("padding", "keys(real) and queries(real)", lambda i, k, t: (t["real"][0][i] > 0) & (t["real"][0][k] > 0),
            {"real": "i64[B,T]"}, half),
]}


def live(pattern, length, rows, keys):
    """Elements that some row sees, and tiles of rows x keys (of one class) that hold one."""
    given = pattern.tensors(length)
    elements = tiles = 0
    for c in range(pattern.classes):
        every = np.arange(c, length, pattern.classes)
        for first in range(0, len(every), rows):
            seen = pattern.seen(every[first:first + rows, None], every[None], given)
            elements += int(seen.sum())
            columns = np.pad(seen.any(0), (0, -len(every) % keys))
            tiles += int(columns.reshape(-1, keys).any(1).sum())
    return elements, tiles
