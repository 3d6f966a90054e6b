"""What `heddle mask --json` counts against brute force: `mask_counts.py HEDDLE SCRATCH [--models N] [--seed S]`.

Random masks (every leaf, every connective, real data) in random sizes and tiles. Visible pairs, tiles empty/full/partial, blind
rows and every cell of the picture must be exact; what is visited and computed must cover what is visible; the formulas must hold
for every tile of rows, and those of pictures must be near it. The report must have exactly the members of SHAPE, and compiler/MaskReport/mask.md must name each.
One line a failure, then `N passed, N failed`."""
import argparse
import json
import os
import random
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors  # noqa: E402

INT, TEXT, BOOL, REAL = int, str, bool, float
GRID = {"cell": [INT], "visible": [[INT]]}
INTERVAL = [{"begin": TEXT, "end": TEXT}]
SHAPE = {"model": TEXT, "entry": TEXT, "dims": None, "attentions": [{
    "mask": TEXT, "simplified": TEXT, "places": [{"file": TEXT, "line": INT, "column": INT, "path": TEXT, "mask_line": INT, "mask_column": INT, "layers": INT}],
    "layers": INT, "batches": INT, "heads": INT, "kv_heads": INT, "key_width": INT, "value_width": INT, "rows": INT, "keys": INT, "key_start": INT,
    "depends_on": {"batch": BOOL, "head": BOOL, "data": [{"name": TEXT, "source": TEXT}]},
    "bounds": {"visible": INTERVAL, "full": INTERVAL, "data_hides_more": BOOL, "data_fills_more": BOOL}, "tile": [INT],
    "counts": {k: INT for k in ("pairs", "visible", "computed", "tested", "tiles", "empty", "full", "partial", "visited", "rows_without_keys")},
    "layer": {k: REAL for k in ("operations", "operations_dense", "bytes", "bytes_dense")},
    "drawn": {"batch": INT, "head": INT, "elements": GRID, "tiles": GRID}}]}


def misfits(value, shape, path):
    """Where `value` is not of `shape`."""
    if shape is None:
        return []
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return ["%s has the members %s" % (path, sorted(value) if isinstance(value, dict) else value)]
        return [m for k in shape for m in misfits(value[k], shape[k], path + "." + k)]
    if isinstance(shape, list):
        return [m for i, v in enumerate(value) for m in misfits(v, shape[0], "%s[%d]" % (path, i))]
    fits = isinstance(value, bool) if shape is BOOL else isinstance(value, (int, float)) and not isinstance(value, bool) if shape is REAL else type(value) is shape
    return [] if fits else ["%s is %r" % (path, value)]


class Case:
    """One model: data, and masks over it, as text and as counts [B, T, S]."""

    def __init__(self, rng):
        self.rng = rng
        self.B, self.T, self.heads = rng.randint(1, 2), rng.randint(1, 70), 2
        T, B = self.T, self.B
        draw = lambda lo, hi, *shape: np.array([rng.randint(lo, hi) for _ in range(int(np.prod(shape)))]).reshape(shape)
        self.data = {"some": draw(0, 1, B, T), "rare": (draw(0, 9, B, T) == 0).astype(int), "texts": np.sort(draw(0, 4, B, T), axis=1),
                     "mixed": draw(0, 3, B, T), "length": draw(-2, T + 2, B), "pairs": draw(0, 1, T, T), "real": (np.arange(T) < draw(0, T, B)[:, None]).astype(int)}
        self.i, self.k = np.arange(T)[:, None], np.arange(T)[None, :]

    def leaf(self):
        rng, T, B, d, i, k = self.rng, self.T, self.B, self.data, self.i, self.k
        one = lambda m: np.broadcast_to(m, (B, T, T)).astype(int)
        key = lambda n: one((d[n] != 0)[:, None, :])
        kind = rng.choice(["causal", "window", "window", "dilated", "keys", "keys", "queries", "prefix", "document", "document", "labels", "blocks", "dense", "chunk", "grid", "grid_window"])
        if kind == "causal":
            return "causal", one(k <= i)
        if kind == "window":
            l, r = (rng.choice([None, rng.randint(-4, 12)]) for _ in range(2))
            seen = np.ones((T, T), bool)
            seen = seen & (k - i >= -l) if l is not None else seen
            seen = seen & (k - i <= r) if r is not None else seen
            if l is None and r is None or l is not None and r is not None and l + r < 0:  # all; refused as a window that sees nothing
                return self.leaf()
            return "window(%s, %s)" % tuple("null" if x is None else x for x in (l, r)), one(seen)
        if kind == "chunk":
            n = rng.randint(1, 20)
            return "chunk(%d)" % n, one(i // n == k // n)
        if kind == "grid":
            w, r, c = rng.randint(1, 9), rng.randint(0, 3), rng.randint(0, 4)
            return "grid(%d, %d, %d)" % (w, r, c), one((abs(i // w - k // w) <= r) & (abs(i % w - k % w) <= c))
        if kind == "grid_window":
            w, r, c, s = rng.randint(1, 9), rng.randint(1, 4), rng.randint(1, 5), rng.randint(0, 3)
            return "grid_window(%d, %d, %d, %d)" % (w, r, c, s), one(((i // w - s) // r == (k // w - s) // r) & ((i % w - s) // c == (k % w - s) // c))
        if kind == "dilated":
            n = rng.randint(1, 5)
            return "dilated(%d)" % n, one((k - i) % n == 0)
        if kind == "keys":
            n = rng.choice(["some", "rare", "real"])
            return "keys(%s)" % n, key(n)
        if kind == "queries":
            n = rng.choice(["some", "rare", "real"])
            return "queries(%s)" % n, one((d[n] != 0)[:, :, None])
        if kind == "prefix":
            return "prefix(length)", one(k[None] < d["length"][:, None, None])
        if kind == "document":
            n = rng.choice(["texts", "mixed"])
            return "document(%s)" % n, one(d[n][:, :, None] == d[n][:, None, :])
        if kind == "labels":
            n, l = rng.choice(["texts", "mixed"]), rng.randint(0, 2)
            distance = d[n][:, None, :] - d[n][:, :, None]
            return "window(%d, 0, %s)" % (l, n), one((distance >= -l) & (distance <= 0))
        if kind == "blocks":
            size = rng.randint(1, 9)
            n = -(-T // size)
            lists = [[rng.randrange(n) for _ in range(rng.randint(1, 3))] for _ in range(n)]
            seen = np.array([[b in lists[a // size] for b in range(n)] for a in range(T)])
            return "blocks(%d, %s)" % (size, lists), one(seen[:, np.arange(T) // size])
        return "dense(pairs)", one(d["pairs"] != 0)

    def mask(self, depth):
        if depth == 0 or self.rng.random() < 0.25:
            return self.leaf()
        kind = self.rng.choice(["and", "and", "or", "or", "not", "+"])
        a, x = self.mask(depth - 1)
        if kind == "not":
            return "(not (%s))" % a, (x == 0).astype(int)
        b, y = self.mask(depth - 1)
        both = {"and": x * y, "or": np.maximum(x, y), "+": x + y}[kind]
        return "(%s %s %s)" % (a, kind, b), both

    def write(self, folder, masks):
        inputs = {"x": "f32[B,T,8]"}
        used = [n for n in self.data if any(n in text for text, _ in masks)]
        for n in used:
            inputs[n] = {"length": "i64[B]", "pairs": "i64[T,T]"}.get(n, "i64[B,T]")
        body = [{"x%d" % n: {"attention": ["x", "x", "x"], "heads": self.heads, "mask": "=" + text}} for n, (text, _) in enumerate(masks)]
        body.append({"y": "=" + " + ".join("x%d" % n for n in range(len(masks)))})
        model = {"heddle": 1, "name": "random", "inputs": inputs, "body": body, "outputs": ["y"]}
        with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as f:
            json.dump(model, f)
        tensors.write(os.path.join(folder, "data.safetensors"), {n: self.data[n].astype(np.int64) for n in used})


def value(form, names):
    """A formula of the report, which is Python but for //."""
    return eval(form, {"__builtins__": {}, "min": min, "max": max}, names)


def check(r, seen, case):
    """What is wrong with the report `r` of a mask whose counts are `seen`."""
    T, B, rows, keys = case.T, case.B, r["tile"][0], r["tile"][1]
    wrong, visible, c = [], seen > 0, r["counts"]

    def equal(name, have, want):
        if have != want:
            wrong.append("%s is %s, should be %s" % (name, have, want))

    def summed(m, tall, wide):
        return [[int(m[a:a + tall, b:b + wide].sum()) for b in range(0, T, wide)] for a in range(0, T, tall)]

    equal("visible", c["visible"], int(visible.sum()) * case.heads)
    equal("pairs", c["pairs"], B * T * T * case.heads)
    equal("rows_without_keys", c["rows_without_keys"], int((~visible.any(axis=2)).sum()) * case.heads)
    kinds = {"empty": 0, "full": 0, "partial": 0}
    for b in range(B):
        for a in range(0, T, rows):
            for k in range(0, T, keys):
                tile = visible[b, a:a + rows, k:k + keys]
                kinds["full" if tile.all() else "partial" if tile.any() else "empty"] += case.heads
    for name, n in kinds.items():
        equal(name, c[name], n)
    equal("drawn elements", r["drawn"]["elements"]["visible"], summed(visible[0], *r["drawn"]["elements"]["cell"]))
    equal("drawn tiles", r["drawn"]["tiles"]["visible"], summed(visible[0], rows, keys))
    if not (c["full"] + c["partial"] <= c["visited"] <= c["tiles"] and c["visible"] <= c["computed"] <= c["pairs"] and c["tested"] <= c["computed"]):
        wrong.append("counts do not cover each other: %s" % c)
    # Neighbours in a picture are at most so many keys away, and a window may begin a row of the picture earlier.
    picture = re.fullmatch(r"grid(_window)?\((\d+), (\d+), (\d+)(, \d+)?\)", r["mask"])
    if picture:
        w, high, wide = (int(n) for n in picture.groups()[1:4])
        most = (high - 1) * w + min(wide - 1, w - 1) + w if picture[1] else high * w + min(wide, w - 1)
    at, k = {"T": T, "B": B, "b": 0, "h": 0}, np.arange(T)
    for b in range(B):
        at["length"] = int(case.data["length"][b])
        for at["t"] in range(-(-T // rows)):
            part = visible[b, at["t"] * rows:(at["t"] + 1) * rows]
            hull, full = np.zeros(T, bool), np.zeros(T, bool)
            for into, intervals in ((hull, r["bounds"]["visible"]), (full, r["bounds"]["full"])):
                for i in intervals:
                    into |= (k >= value(i["begin"], at)) & (k < value(i["end"], at))
            if picture and any(value(i["begin"], at) < max(0, at["t"] * rows - most) or value(i["end"], at) > min(T, (at["t"] + 1) * rows + most) for i in r["bounds"]["visible"]):
                wrong.append("the bounds %s of tile %d are further than %d keys from its rows" % (r["bounds"]["visible"], at["t"], most))
            if (part & ~hull).any():
                wrong.append("rows of tile %d see keys outside of %s" % (at["t"], r["bounds"]["visible"]))
            if (~part & full).any():
                wrong.append("rows of tile %d do not see all of %s" % (at["t"], r["bounds"]["full"]))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("scratch")
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(options.scratch, exist_ok=True)
    passed = failed = 0
    with open(os.path.join(HERE, os.pardir, os.pardir, "compiler", "MaskReport", "mask.md"), encoding="utf-8") as f:
        page = f.read()

    def members(shape):
        if isinstance(shape, list):
            yield from members(shape[0])
        elif isinstance(shape, dict):
            for k, v in shape.items():
                yield k
                yield from members(v)

    for name in sorted(set(members(SHAPE))):
        if "`%s`" % name not in page:
            print("FAIL compiler/MaskReport/mask.md does not name `%s`" % name)
            failed += 1
    for seed in range(options.seed, options.seed + options.models):
        case = Case(random.Random(seed))
        masks = [case.mask(3) for _ in range(10)]
        case.write(options.scratch, masks)
        tile = "%dx%d" % (case.rng.randint(1, 17), case.rng.randint(1, 33))
        p = subprocess.run([options.heddle, "mask", os.path.join(options.scratch, "model.json"), "--json", "--tile", tile, "--dims", "T=%d,B=%d" % (case.T, case.B),
                            "--input", os.path.join(options.scratch, "data.safetensors")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if p.returncode:
            print("FAIL seed %d: exit %d: %s" % (seed, p.returncode, p.stderr.decode()[:2000]))
            failed += 1
            continue
        report = json.loads(p.stdout.decode())
        wrong = misfits(report, SHAPE, "report")
        # Masks that are written alike share one report.
        place = {tuple(int(s) for s in [p["path"].split("[")[1].split("]")[0]])[0]: r for r in report["attentions"] for p in r["places"]}
        for n, (text, seen) in enumerate(masks):
            for w in wrong + check(place[n], seen, case):
                print("FAIL seed %d, tiles %s, T %d: %s: %s" % (seed, tile, case.T, text, w))
                failed += 1
                break
            else:
                passed += 1
            wrong = []
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
