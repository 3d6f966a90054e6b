#!/usr/bin/env python3
"""Draws the pictures of the guide and of the front page: `pictures.py --heddle HEDDLE [--check]`.

masks.svg   what each attention of examples/masks sees, its formula, and the share of work left out
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


def write_data(path, length):
    """Data for the masks that depend on it: padding at the end, four texts, a prefix."""
    part = length // 16
    texts = [0] * 5 * part + [1] * 3 * part + [2] * 6 * part + [3] * 2 * part
    data = {"real": ("I64", [1, length], [1] * 14 * part + [0] * 2 * part), "texts": ("I64", [1, length], texts),
            "prefix_length": ("I64", [1], [6 * part])}
    header, body = {}, b""
    for name, (dtype, shape, numbers) in data.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + 8 * len(numbers)]}
        body += struct.pack("<%dq" % len(numbers), *numbers)
    said = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(said)) + said + body)


def attentions(heddle, length):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.safetensors")
        write_data(data, length)
        said = subprocess.run([heddle, "mask", os.path.join(ROOT, "examples/masks/model.json"), "--dims", "T=%d" % length,
                               "--json", "--input", data], check=True, capture_output=True, text=True).stdout
    return json.loads(said)["attentions"]


def formula(mask):
    """At most two lines of 30 characters."""
    lines = [""]
    for word in mask.split(" "):
        if len(lines[-1]) + len(word) > 30:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def masks(heddle):
    drawn, counted = attentions(heddle, SHOWN), attentions(heddle, COUNTED)
    cells = len(drawn[0]["drawn"]["elements"]["visible"])
    side, across, down = cells * CELL, 210, cells * CELL + 76
    body = []
    for n, (small, large) in enumerate(zip(drawn, counted)):
        x, y = 16 + n % COLUMNS * across, 16 + n // COLUMNS * down
        grid = small["drawn"]["elements"]
        most = grid["cell"][0] * grid["cell"][1]
        for i, row in enumerate(grid["visible"]):
            j = 0
            while j < len(row):  # equal neighbours are one rectangle
                end = j
                while end < len(row) and (row[end] == most, row[end] > 0) == (row[j] == most, row[j] > 0):
                    end += 1
                if row[j]:
                    body.append(bar(x + j * CELL, y + i * CELL, (end - j) * CELL, CELL, "all" if row[j] == most else "some"))
                j = end
        body.append('<rect class="frame" x="%g" y="%g" width="%g" height="%g"/>' % (x - .5, y - .5, side + 1, side + 1))
        saved = 100 - 100 * large["layer"]["operations"] / large["layer"]["operations_dense"]
        lines = formula(small["mask"])
        for k, line in enumerate(lines):
            body.append(text(x, y + side + 16 + 14 * k, line, "small"))
        body.append(text(x, y + side + 18 + 14 * len(lines), "%.1f %% of the work left out" % saved))
    rows = (len(drawn) + COLUMNS - 1) // COLUMNS
    return picture(COLUMNS * across + 8, rows * down + 8, "Eight masks at %d tokens; work left out at %d tokens" % (SHOWN, COUNTED), body)


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
    for name, made in (("masks.svg", masks(options.heddle)), ("speed.svg", speed())):
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
