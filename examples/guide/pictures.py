#!/usr/bin/env python3
"""Draws the pictures of the guide and of the front page: `pictures.py --heddle HEDDLE [--check]`.

masks.svg   what each attention of examples/masks sees, its formula, and the share of work left out
speed.svg   test/Bench/results/speed.json as bars: Heddle's time, the rival's being 100 %

Both follow the reader's colour scheme. With --check nothing is written: the script compares the files with
what it would write, ends with status 1 if one differs, and prints `N passed, N failed`."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHOWN, COUNTED = 64, 4096  # length of the drawing, length of the saved work
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


def speed():
    with open(os.path.join(ROOT, "test/Bench/results/speed.json"), encoding="utf-8") as f:
        data = json.load(f)
    left, full, line, y, body = 300, 320, 22, 44, []
    body.append(text(16, 22, "Time on one core; the grey line is the rival's time"))
    worst = max(row["heddle_ms"] / row["rival_ms"] for row in data["rows"])
    top = y
    for dtype in dict.fromkeys(row["dtype"] for row in data["rows"]):
        rows = [row for row in data["rows"] if row["dtype"] == dtype]
        rivals = " and ".join(dict.fromkeys(data["rivals"][row["rival"]].split(",")[0].split(" with")[0] for row in rows))
        body.append(text(16, y + 12, "%s, beside %s" % (dtype, rivals), "small"))
        y += line
        for row in rows:
            share = row["heddle_ms"] / row["rival_ms"]
            body += [text(left - 8, y + 13, row["model"], anchor="end"), bar(left, y + 2, full * share, line - 8, "all"),
                     text(left + full * max(share, 1) + 8, y + 13, "%.2f x" % share, "small")]
            y += line
        y += 8
    body.append('<path class="line" stroke-dasharray="3 3" d="M%g %gV%g"/>' % (left + full, top, y))
    body.append(text(16, y + 16, "%s; %s" % (data["machine"], data["date"]), "small"))
    return picture(int(left + full * worst + 60), y + 28, data["what"], body)


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
