#!/usr/bin/env python3
"""Draws the pictures of the guide and of the front page: `pictures.py --heddle HEDDLE [--check]`.

masks.svg   what each attention of examples/masks sees, its formula, and the share of work left out
leaves.svg  each mask of the language by itself
speed.svg   the table of test/Bench/results/2026-11-22-front-page.md as bars

Both follow the reader's colour scheme. With --check nothing is written: the script compares the files with
what it would write, ends with status 1 if one differs, and prints `N passed, N failed`."""
import argparse
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHOWN, COUNTED = 64, 4096  # length of the drawing, length of the saved work
RESULTS = "test/Bench/results/2026-11-22-front-page.md"
CELL, COLUMNS = 4, 4       # pixels of a cell, pictures in a row
STYLE = """<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #59636e }
  .paper { fill: #fff } .frame { fill: none; stroke: #d1d9e0 }
  .all { fill: #0b63b8 } .some { fill: #0b63b8; opacity: .5 } .rival { fill: #afb8c1 } .line { stroke: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .paper { fill: #0d1117 } .frame { stroke: #3d444d }
    .all, .some { fill: #4aa3ff } .rival { fill: #59636e } .line { stroke: #9198a1 }
  }
</style>"""


def picture(width, height, title, body):
    return "\n".join(['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">'
                      % (width, height, width, height),
                      "<title>%s</title>" % escape(title), STYLE,
                      '<rect class="paper" width="%d" height="%d"/>' % (width, height), *body, "</svg>", ""])


def text(x, y, words, kind="", anchor="start"):
    return '<text x="%g" y="%g"%s text-anchor="%s">%s</text>' % (x, y, kind and ' class="%s"' % kind, anchor, escape(words))


def bar(x, y, width, height, kind):
    return '<rect shape-rendering="crispEdges" class="%s" x="%g" y="%g" width="%g" height="%g"/>' % (kind, x, y, width, height)


# Each leaf of the language, on 8 x 8 positions of a grid where it is one; `heddle reference` has their meaning.
LEAVES = ["all", "causal", "window(12, 4)", "dilated(4)", "chunk(16)", "grid(8, 1, 1)", "grid_window(8, 4, 4)",
          "keys(real)", "queries(real)", "prefix(prefix_length)", "document(texts)", "blocks(8, lists)", "dense(cells)"]


def numbers_of(length):
    """Data for the masks that depend on it: padding at the end, four texts, a prefix, lists of blocks, a checkerboard."""
    part = length // 16
    texts = [0] * 5 * part + [1] * 3 * part + [2] * 6 * part + [3] * 2 * part
    return {"real": ([1, length], [1] * 14 * part + [0] * 2 * part), "texts": ([1, length], texts), "prefix_length": ([1], [6 * part])}


def write_data(path, data):
    """A safetensors file of the tensors of i64 {name: (shape, numbers)}."""
    header, body = {}, b""
    for name, (shape, numbers) in data.items():
        header[name] = {"dtype": "I64", "shape": shape, "data_offsets": [len(body), len(body) + 8 * len(numbers)]}
        body += struct.pack("<%dq" % len(numbers), *numbers)
    said = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(said)) + said + body)


def attentions(heddle, length, data, model=os.path.join(ROOT, "examples/masks/model.json")):
    """What `heddle mask` says of each attention of a model."""
    with tempfile.TemporaryDirectory() as folder:
        given = os.path.join(folder, "data.safetensors")
        write_data(given, data)
        if isinstance(model, dict):
            path = os.path.join(folder, "model.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(model, f)
            model = path
        said = subprocess.run([heddle, "mask", model, "--dims", "T=%d" % length, "--json", "--input", given],
                              check=True, capture_output=True, text=True).stdout
    return json.loads(said)["attentions"]


def formula(mask):
    """At most two lines of 30 characters."""
    lines = [""]
    for word in mask.split(" "):
        if len(lines[-1]) + len(word) > 30:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def thumbnail(x, y, attention):
    """What an attention sees, from (x, y) on; each cell of the drawing stands for several rows and keys."""
    grid, paths = attention["drawn"]["elements"], {"all": "", "some": ""}
    side, most = len(grid["visible"]) * CELL, grid["cell"][0] * grid["cell"][1]
    for i, row in enumerate(grid["visible"]):
        j = 0
        while j < len(row):  # equal neighbours are one rectangle
            end = j
            while end < len(row) and (row[end] == most, row[end] > 0) == (row[j] == most, row[j] > 0):
                end += 1
            if row[j]:
                paths["all" if row[j] == most else "some"] += "M%d %dh%dv%dh%dz" % (x + j * CELL, y + i * CELL, (end - j) * CELL, CELL, (j - end) * CELL)
            j = end
    body = ['<path shape-rendering="crispEdges" class="%s" d="%s"/>' % (kind, path) for kind, path in paths.items() if path]
    body.append('<rect class="frame" x="%g" y="%g" width="%g" height="%g"/>' % (x - .5, y - .5, side + 1, side + 1))
    return body, side


def masks(heddle):
    drawn, counted = (attentions(heddle, length, numbers_of(length)) for length in (SHOWN, COUNTED))
    across, down, body = 210, 204, []
    for n, (small, large) in enumerate(zip(drawn, counted)):
        x, y = 16 + n % COLUMNS * across, 16 + n // COLUMNS * down
        made, side = thumbnail(x, y, small)
        body += made
        saved = 100 - 100 * large["layer"]["operations"] / large["layer"]["operations_dense"]
        lines = formula(small["mask"])
        for k, line in enumerate(lines):
            body.append(text(x, y + side + 16 + 14 * k, line, "small"))
        body.append(text(x, y + side + 18 + 14 * len(lines), "%.1f %% of the work left out" % saved))
    rows = (len(drawn) + COLUMNS - 1) // COLUMNS
    return picture(COLUMNS * across + 8, rows * down + 8, "Eight masks at %d tokens; work left out at %d tokens" % (SHOWN, COUNTED), body)


def leaves(heddle):
    inputs = {"x": "f32[B,T,8]", "real": "i64[B,T]", "texts": "i64[B,T]", "prefix_length": "i64[B]", "lists": "i64[8,2]", "cells": "i64[T,T]"}
    model = {"heddle": 1, "name": "leaves", "inputs": inputs, "outputs": ["y%d" % n for n in range(len(LEAVES))],
             "body": [{"y%d" % n: {"attention": ["x", "x", "x"], "heads": 1, "mask": "=" + leaf}} for n, leaf in enumerate(LEAVES)]}
    board = [int((i // 8 + j // 8) % 2 == 0) for i in range(SHOWN) for j in range(SHOWN)]
    data = numbers_of(SHOWN)
    data.update(lists=([8, 2], [0, 1, 1, 6, 2, 0, 3, 5, 4, 0, 5, 2, 6, 3, 7, 0]), cells=([SHOWN, SHOWN], board))
    across, down, body = 168, 164, []
    for n, (leaf, attention) in enumerate(zip(LEAVES, attentions(heddle, SHOWN, data, model))):
        x, y = 16 + n % 5 * across, 16 + n // 5 * down
        made, side = thumbnail(x, y, attention)
        body += made + [text(x, y + side + 16, leaf)]
    return picture(5 * across, (len(LEAVES) + 4) // 5 * down + 8, "Every mask of the language at %d tokens" % SHOWN, body)


def measured():
    """[(model, numbers, rival, Heddle's time by the rival's)] on one core, of the table in RESULTS; its date and machine."""
    rows = []
    with open(os.path.join(ROOT, RESULTS), encoding="utf-8") as f:
        page = f.read()
    for line in re.findall(r"^\| (.*) \|$", page, re.M):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 8 and cells[1] == "1":
            for dtype, (rival, heddle) in (("f32", cells[2:4]), ("bf16", cells[5:7])):
                time, name = re.fullmatch(r"([\d.]+) \((.*)\)", rival).groups()
                rows.append((cells[0].replace("prefill", "prompt"), dtype, name, float(heddle) / float(time)))
    return rows, re.search(r"Measured on (.*?) on two cores of a virtual machine\s+\((.*?)\)", page).groups()


def speed():
    rows, (date, machine) = measured()
    left, full, line, y = 300, 320, 22, 44
    body = [text(16, 22, "Heddle's time on one core; the dashed line is the rival's time")]
    for dtype in ("f32", "bf16"):
        body.append(text(16, y + 12, dtype, "small"))
        y += line
        for model, _, rival, share in (row for row in rows if row[1] == dtype):
            body += [text(left - 8, y + 13, model, anchor="end"), bar(left, y + 2, full * share, line - 8, "all"),
                     text(left + full * max(share, 1) + 8, y + 13, "%.2f of %s" % (share, rival), "small")]
            y += line
        y += 8
    body.append('<path class="line" stroke-dasharray="3 3" d="M%g 44V%g"/>' % (left + full, y))
    body.append(text(16, y + 16, "%s; %s; ORT is ONNX Runtime" % (machine, date), "small"))
    width = int(left + full * max(share for *_, share in rows) + 120)
    return picture(width, y + 28, "Time of Heddle beside ONNX Runtime and llama.cpp", body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    for name, made in (("masks.svg", masks(options.heddle)), ("leaves.svg", leaves(options.heddle)), ("speed.svg", speed())):
        path = os.path.join(HERE, name)
        if options.check:
            with open(path, encoding="utf-8") as f:
                same = f.read() == made
            passed, failed = passed + same, failed + (not same)
            if not same:
                print("FAIL %s is not what pictures.py draws" % name)
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(made)
    if options.check:
        print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
