#!/usr/bin/env python3
"""Damages saved stages and compiles them on: `stages.py BIN [--count N] [--seed N] [--keep DIR] [--whole]`.

BIN holds heddle and heddle-opt. Some small models are brought to the stages `tiled` and `buffers` as heddle prints them; each mutation
is one to three edits of that text, mostly of what the plan wrote: a number becomes another (0, negative, huge), an attribute
goes, a place changes its kind, a length form its dims, a flag list its length, a line is lost or comes twice. All that may come of
it is code or a diagnostic: many of them are one file for heddle-opt (--split-input-file), which must exit with 0 or 1; where it does not,
the batch is halved until the one is found, and kept in DIR. With --whole they go on to the LLVM dialect.
The last line counts; exit 1 if any crashed or nothing was refused."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = ["examples/seed001_transformer/model.json", "examples/masks/model.json", "examples/stories"]
TO_LOOPS = {"tiled": "heddle-buffers,convert-heddle-to-loops", "buffers": "convert-heddle-to-loops"}
TO_LLVM = {"tiled": "heddle-buffers,heddle-llvm", "buffers": "heddle-llvm"}
NUMBERS = ["0", "1", "-1", "2", "3", "7", "8", "15", "16", "17", "31", "33", "64", "127", "128", "256", "1000", "4096", "65536", "2147483648",
           "-2147483649", "4611686018427387904", "9223372036854775807", "9223372036854775808"]
FORMS = ["0", "64", "-64", "T", "B*T", "64*B", "nobody", "64*threads", "T//0", "T-1000000", "4611686018427387904*T", "1//0", "64*", "", "B**T",
         "max(B,T)", "9223372036854775807+B", "((((T))))", "past", "new", "capacity", "live"]
PLAN = re.compile(r"model\.(place|scratch|arena|copy_in|copy_back|copies|in_place|schedule|pieces|target|blob|blob_bytes) = |"
                  r"attn\.(cache|schedule) = |layout = |offset = |strides = |part = |parts |groups |"
                  r"^#(tiles|attention|panels|natural|arena|target|entry)\d* = ", re.MULTILINE)


def attribute(text, at):
    """The end of the attribute that begins at `at`, up to the comma or brace behind it."""
    depth, quoted = 0, False
    for i in range(at, len(text)):
        c = text[i]
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "<[{(":
            depth += 1
        elif c in ">]})" and not (c == ">" and text[i - 1] == "-"):
            if not depth:
                return i
            depth -= 1
        elif (c == "," and not depth) or c == "\n":
            return i
    return len(text)


def replaced(text, begin, end, by):
    return text[:begin] + by + text[end:]


def damaged(text, r):
    """One edit."""
    sites = [m for m in PLAN.finditer(text)]
    kind = r.random()
    if kind < 0.75 and sites:
        # An attribute of the plan.
        m = r.choice(sites)
        end = attribute(text, m.end())
        value = text[m.end():end]
        numbers = list(re.finditer(r"-?\b\d+\b", value))
        forms = list(re.finditer(r'"[^"]*"', value))
        choice = r.randrange(8)
        if choice <= 2 and numbers:
            n = r.choice(numbers)
            return replaced(text, m.end() + n.start(), m.end() + n.end(), r.choice(NUMBERS))
        if choice == 3 and forms:
            f = r.choice(forms)
            return replaced(text, m.end() + f.start(), m.end() + f.end(), '"%s"' % r.choice(FORMS))
        if choice == 4:
            gone = end + 2 if text[end:end + 2] == ", " else end
            return replaced(text, m.start(), gone, "")
        if choice == 5:
            for a, b in r.sample([("arena", "none"), ("output", "none"), ("true", "false"), ("false", "true"), ("natural", "panels 16"), ("panels 32", "natural"),
                                  ("keys,", "values,"), ("values,", "keys,"), ("f32", "bf16"), ("f32", "f16"), (", in_out", ""), ("array<i1:", "array<i64:")], 12):
                if a in value:
                    at = m.end() + value.index(a)
                    return replaced(text, at, at + len(a), b)
        if choice == 6:
            # What stands at another place.
            other = r.choice(sites)
            return replaced(text, m.end(), end, text[other.end():attribute(text, other.end())])
        return replaced(text, m.end(), end, r.choice(["unit", "[]", "{}", "0 : i64", '"arena 0"', "array<i64>", "array<i1>", "#model.place<none>", "#model.place<output, 0>",
                                                      '#model.place<arena, "0">', "[#model.place<none>]", "[1]", "dense<1> : tensor<i64>"]))
    if kind < 0.9:
        numbers = list(re.finditer(r"-?\b\d+\b", text))
        n = r.choice(numbers)
        return replaced(text, n.start(), n.end(), r.choice(NUMBERS))
    lines = text.split("\n")
    i = r.randrange(len(lines))
    if r.random() < 0.5:
        del lines[i]
    else:
        lines.insert(r.randrange(len(lines)), lines[i])
    return "\n".join(lines)


class Campaign:
    def __init__(self, o, folder):
        self.o, self.folder = o, folder
        self.opt = os.path.join(o.bin, "heddle-opt")
        self.crashed, self.refused = [], 0

    def run(self, texts, pipeline):
        """The exit status of heddle-opt on all of them."""
        path = os.path.join(self.folder, "batch.mlir")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n// -----\n".join(texts))
        limit = 20 + 5 * len(texts)
        try:
            p = subprocess.run([self.opt, path, "--split-input-file", "--mlir-disable-threading", "-o", os.devnull, "--pass-pipeline=builtin.module(%s)" % pipeline],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=limit)
        except subprocess.TimeoutExpired:
            return -99
        self.refused += p.stderr.count(b"error: ")
        return p.returncode

    def check(self, texts, pipeline):
        status = self.run(texts, pipeline)
        if status in (0, 1):
            return
        if len(texts) == 1:
            self.crashed.append(status)
            name = os.path.join(self.o.keep, "crash-%d.mlir" % len(self.crashed))
            os.makedirs(self.o.keep, exist_ok=True)
            with open(name, "w", encoding="utf-8") as f:
                f.write(texts[0])
            print("%s: %s: heddle-opt --pass-pipeline='builtin.module(%s)'" % (name, "hangs" if status == -99 else "exit %d" % status, pipeline), flush=True)
            return
        for part in (texts[:len(texts) // 2], texts[len(texts) // 2:]):
            self.check(part, pipeline)


def saved(o, model, stage):
    """The text of a stage, without the places in the description."""
    command = [os.path.join(o.bin, "heddle"), "compile", os.path.join(ROOT, model), "--emit=" + stage, "--mcpu=x86-64-v4"]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    plain = subprocess.run([os.path.join(o.bin, "heddle-opt"), "-"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    return plain.strip()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bin")
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--batch", type=int, default=25)
    p.add_argument("--keep", default="crashes")
    p.add_argument("--models", default=",".join(MODELS))
    p.add_argument("--whole", action="store_true")
    o = p.parse_args()
    r, started = random.Random(o.seed), time.time()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(o, folder)
        stages = [(stage, saved(o, model, stage)) for model in o.models.split(",") for stage in TO_LOOPS]
        done = 0
        while done < o.count:
            stage, text = stages[done // o.batch % len(stages)]
            batch = []
            for _ in range(min(o.batch, o.count - done)):
                one = text
                for _ in range(r.choice([1, 1, 1, 2, 3])):
                    one = damaged(one, r)
                batch.append(one)
            campaign.check(batch, (TO_LLVM if o.whole else TO_LOOPS)[stage])
            done += len(batch)
    print("%d mutations in %.0f s: %d errors said, %d crashed" % (done, time.time() - started, campaign.refused, len(campaign.crashed)))
    return int(bool(campaign.crashed) or not campaign.refused)


if __name__ == "__main__":
    sys.exit(main())
