#!/usr/bin/env python3
"""Bytes and operations that `heddle compile --report` prints, held against a count by hand: `report.py --heddle HEDDLE [--table]`.

The models have true shapes and no numbers (test/Bench/make_*.py --zeros): GPT-2 124M, BERT-base, TinyLlama 1.1B, in bf16. Also: what kernels read and write
is at most 1.3 times what the products, the attention and the tables must. --table prints the tables of targets/GPU/figures.md, which the test compares with what
it finds (columns of ptxas only where there is one). Ends in `N passed, N failed[, N skipped]`."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import checks  # noqa: E402
from checks import check  # noqa: E402

PAGE = os.path.join(ROOT, "targets/GPU/figures.md")
PANEL = 32      # results side by side in a panel of a weight
SOME = 8        # registers that a kernel may take more before the table must change
FEW = 40        # registers of a kernel that the table leaves out; it has no shared memory, stack or spills


#===-- by hand: (operations, bytes read, bytes written) -------------------------------===#

def add(*counts):
    return tuple(sum(c) for c in zip(*counts))


def times(n, count):
    return tuple(n * x for x in count)


def linear(rows, k, n, bias=True, extra=0, rounded=False):
    """Rows rounded to bf16 first (4 bytes read, 2 written) unless a linear or a norm before has `rounded` them, then the product with a weight in bf16; `extra`: f32
    operands of its epilogue, as large as it."""
    weight = math.ceil(n / PANEL) * PANEL * (k + k % 2) * 2
    read = rows * k * (2 if rounded else 4 + 2) + weight + (4 * n if bias else 0) + 4 * rows * n * extra
    return 2 * rows * k * n, read, (0 if rounded else rows * k * 2) + 4 * rows * n


def norm(rows, width, vectors, written=2):
    """Rows that linears alone read are written in bf16, those that something else reads too (the hidden states that a run gives) in f32 as well."""
    return 0, 4 * rows * width + 4 * vectors * width, written * rows * width


def table(rows, width):
    """Ids are i64, the table bf16."""
    return 0, 8 * rows + 2 * rows * width, 4 * rows * width


def attention(queries, keys, heads, kv_heads, width, pairs, masks, stored=4):
    """`pairs` of a query and a key a head; `masks`: bytes of the tables that the mask asks. Keys and values are read as bf16; those that are rows of a
    tensor (`stored` in 4 bytes) are rounded first. Of few rows each part of 128 keys leaves its sums and two numbers, which are read again."""
    q, kv = heads * width, kv_heads * width
    rounded = 2 * keys * kv if stored == 4 else 0
    left = 4 * queries * heads * math.ceil(keys / 128) * (width + 2) if queries * heads // kv_heads <= 16 else 0
    return 4 * pairs * q, 4 * queries * q + 4 * rounded + 4 * keys * kv + masks + left, 4 * queries * q + 2 * rounded + left


def words(keys):
    """Bytes of padding of keys as the mask asks it: a word for each 16 keys, and two more."""
    return 8 * (math.ceil(keys / 16) + 2)


def rotary(rows, width, head):
    return 0, 4 * rows * width + 8 * rows + 4 * (head // 2 + 1), 4 * rows * width


def gpt2(rows, keys, w=768, layers=12, vocab=50257):
    step = rows == 1
    layer = add(times(3, linear(rows, w, w, rounded=True)), linear(rows, w, w, extra=1), linear(rows, w, 4 * w, rounded=True), linear(rows, 4 * w, w, extra=1))
    pairs = keys if step else rows * (rows + 1) // 2
    masks = 8 * keys + words(keys) + (24 if step else 8 * rows + 8)
    return {"linear": add(times(layers, layer), linear(rows, w, vocab, bias=False, rounded=True)), "layer_norm": add(times(2 * layers, norm(rows, w, 2)), norm(rows, w, 2, written=2 if step else 6)),
            "sdpa": times(layers, attention(rows, keys, 12, 12, 64, pairs, masks, 2 if step else 4)), "embedding": times(2, table(rows, w))}


def llama(rows, keys, w=2048, inner=5632, layers=22, vocab=32000, kv=256):
    step = rows == 1
    layer = add(linear(rows, w, w, bias=False, rounded=True), times(2, linear(rows, w, kv, bias=False, rounded=True)), linear(rows, w, w, bias=False, extra=1),
                linear(rows, w, inner, bias=False, rounded=True), linear(rows, w, inner, bias=False, extra=1, rounded=True), linear(rows, inner, w, bias=False, extra=1))
    pairs = keys if step else rows * (rows + 1) // 2
    masks = 8 * keys + words(keys) + (24 if step else 8 * rows + 8)
    return {"linear": add(times(layers, layer), linear(rows, w, vocab, bias=False, rounded=True)), "rms_norm": add(times(2 * layers, norm(rows, w, 1)), norm(rows, w, 1, written=2 if step else 6)),
            "sdpa": times(layers, attention(rows, keys, 32, 4, 64, pairs, masks, 2 if step else 4)), "embedding": table(rows, w),
            "rotary": times(layers, add(rotary(rows, w, 64), rotary(rows, kv, 64)))}


def bert(rows, keys, w=768, layers=12):
    """Rows come into a layer from the one before, so its first linear rounds them."""
    layer = add(linear(rows, w, w), times(2, linear(rows, w, w, rounded=True)), linear(rows, w, w, extra=1), linear(rows, w, 4 * w, rounded=True), linear(rows, 4 * w, w, extra=1))
    masks = 8 * keys + 8 * rows + words(keys) + 8 * rows + 8
    return {"linear": add(times(layers, layer), linear(1, w, w)), "layer_norm": add(times(layers, norm(rows, w, 2, written=6)), times(layers + 1, norm(rows, w, 2, written=4))),
            "sdpa": times(layers, attention(rows, keys, 12, 12, 64, rows * keys, masks)), "embedding": times(3, table(rows, w))}


MODELS = {  # maker, dims of the report, entries: how many rows and keys each has
    "gpt2": ("make_gpt2.py", "T=1024,capacity=1024", gpt2, {"run": (1024, 1024), "step": (1, 1024)}),
    "bert": ("make_bert.py", "T=512", bert, {"run": (512, 512)}),
    "llama": ("make_llama.py", "T=2048,capacity=2048", llama, {"run": (2048, 2048), "step": (1, 2048)}),
}
NAMES = {"gpt2": "GPT-2 124M", "bert": "BERT-base", "llama": "TinyLlama 1.1B"}


#===-- what the report says -----------------------------------------------------------===#

def reports(heddle, folder):
    """-> {model: [a chip's report, ...]}"""
    found = {}
    for model, (maker, dims, _, _) in MODELS.items():
        where = os.path.join(folder, model)
        subprocess.run([sys.executable, os.path.join(ROOT, "test/Bench", maker), where, "--zeros"], check=True, stdout=subprocess.DEVNULL)
        out = where + ".json"
        subprocess.run([heddle, "compile", where, "--target=cuda", "--dtype=bf16", "--report=" + out, "--dims=B=1," + dims], check=True)
        with open(out) as f:
            found[model] = json.load(f)
    return found


def by_op(entry):
    """-> {op: (operations, read, written)} of a call."""
    sums = {}
    for k in entry["kernels"]:
        for part in k["parts"]:
            op = part["op"]
            sums[op] = add(sums.get(op, (0, 0, 0)), times(k["launches"], (part["operations"], part["read"], part["written"])))
    return sums


def table_of(found):
    lines = ["| model, entry | chip | launches | MB | GFLOP | bound, ms | of which bytes and products, ms |", "|---|---|---|---|---|---|---|"]
    for model, chips in found.items():
        for chip in chips:
            for e in chip["entries"]:
                rows = MODELS[model][3][e["entry"]]
                lines.append("| %s, %s | %s | %d | %.1f | %.2f | %.2f | %.2f |" % (
                    NAMES[model], "prefill of %d" % rows[0] if e["entry"] == "run" and len(chip["entries"]) > 1 else "step at %d keys" % rows[1] if e["entry"] == "step"
                    else "%d rows" % rows[0], chip["chip"], e["launches"], (e["read"] + e["written"]) / 1e6, (e["operations_f32"] + e["operations_bf16"]) / 1e9,
                    e["bound_us"] / 1e3, e["roofline_us"] / 1e3))
    return lines


def resources_of(found):
    """-> {(op, chip): (most registers, most shared memory, most stack, most spills)} of all that take more than FEW; {} without ptxas."""
    most = {}
    for chips in found.values():
        for chip in chips:
            for k, op in ((k, part["op"]) for e in chip["entries"] for k in e["kernels"] if "registers" in k for part in k["parts"]):
                key = op, chip["chip"]
                most[key] = tuple(max(a, b) for a, b in zip(most.get(key, (0, 0, 0, 0)), (k["registers"], k["shared"], k["stack"], k["spills"])))
    return {key: took for key, took in most.items() if took[0] > FEW or any(took[1:])}


def resource_lines(most):
    lines = ["| op | chip | registers | shared memory | stack | spills |", "|---|---|---|---|---|---|"]
    return lines + ["| %s | %s | %d | %d | %d | %d |" % (op, chip, *most[op, chip]) for op, chip in sorted(most)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--table", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-report-") as folder:
        found = reports(o.heddle, folder)
    if o.table:
        print("\n".join(table_of(found) + [""] + resource_lines(resources_of(found))))
        return 0
    for model, chips in found.items():
        for e in chips[0]["entries"]:
            sums, where = by_op(e), "%s %s" % (model, e["entry"])
            hand = MODELS[model][2](*MODELS[model][3][e["entry"]])
            for op, count in hand.items():
                check(sums.get(op) == count, "%s: %s is (operations, read, written) %s, by hand %s" % (where, op, sums.get(op), count))
            moved, must = e["read"] + e["written"], sum(c[1] + c[2] for c in hand.values())
            check(moved <= 1.3 * must, "%s: kernels move %d bytes, %.2f of %d" % (where, moved, moved / must, must))
    with open(PAGE) as f:
        page = f.read().split("\n")
    for line in table_of(found):
        check(line in page, "targets/GPU/figures.md has no line '%s' (--table prints them)" % line)
    most = resources_of(found)
    if not most:
        print("no ptxas on the path: registers are not compared")
        print("%d passed, %d failed, 1 skipped" % (checks.passed, checks.failed))
        return int(checks.failed > 0)
    said = {(m[1], m[2]): tuple(map(int, m.groups()[2:])) for m in (re.match(r"\| (\S+) \| (sm_\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", l) for l in page) if m}
    for key, (registers, shared, stack, spills) in most.items():
        there = said.get(key)
        check(there and abs(registers - there[0]) <= SOME and (shared, stack, spills) == there[1:],
              "targets/GPU/figures.md: %s on %s takes %s, the table says %s" % (*key, (registers, shared, stack, spills), there))
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
