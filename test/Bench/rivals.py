#!/usr/bin/python3
"""Heddle beside ONNX Runtime, in turns on this machine: one command, one table for each kind of weights.

    rivals.py --heddle build/bin/heddle --work DIR [--rounds 3] [--cores 1,2] [--rows bert,gpt2] [--weights floats,codes]
              [--mcpu NAME | --avx2] [--under COMMAND] [--out FILE]

DIR takes models of true shapes with random weights (make_*.py), graphs and binaries: 9 GB, and 20 more with --rows llama; what is there
is not made again. ONNX Runtime comes out of npm's package onnxruntime-node, installed there. Both get the same weights and the
same rows; that they do the same work is checked on their outputs first. Every measured process is pinned, runs before all
others where the system allows it, and takes its turn with the others; ONNX Runtime's is the better of two levels of its
optimiser. "codes" are weights in 8 and 4 bits beside ONNX Runtime's dynamic int8. Shares of the limit are of what Heddle's own
bench measures beside it. --avx2 hides AVX-512 and AMX from ONNX Runtime (rivals/avx2_only.c) and compiles for x86-64-v3: both as on
a processor that has AVX2 alone."""
import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "rivals"))
import graphs
import graphs_sound

# How Heddle stores weights: what its compiler is told.
STORED = {"f32": "--dtype=f32", "bf16": "--dtype=bf16", "int8": "--weights-dtype=int8", "int4": "--weights-dtype=int4"}
# A table: what ONNX Runtime computes with, and what stands beside it.
TABLES = {"floats": ("f32", ("f32", "bf16")), "codes": ("int8", ("int8", "int4"))}


class Row:
    """prompt: tokens, or samples of sound; gen: a text is continued by `steps` tokens. inputs, output: what is compared for the same
    inputs before anything is measured; none where ONNX Runtime does other work (the whole of a sparse attention) or the inputs differ."""

    def __init__(self, key, name, model, graph, prompt, gen=False, batch=1, seconds=2, form="", inputs=(), output="last_hidden_state"):
        self.key, self.name, self.model, self.graph = key, name, model, graph
        self.prompt, self.gen, self.batch, self.seconds, self.form = prompt, gen, batch, seconds, form
        self.inputs, self.output = inputs, "logits" if gen else output
        self.steps = 17 if gen else 1


def dense_bigbird(folder, path, T, form):
    graphs.bert(folder, path, T, form, pooler="pooler")


def mistral(folder, path, T, form):
    graphs.llama(folder, path, T, form, layers=12, heads=12, kv=4, width=768, window=512, longest=8192)


IDS = ("input_ids",)
ROWS = [
    Row("bert", "BERT-base 128", "bert", graphs.bert, 128, form="attention", inputs=IDS),
    Row("bert", "BERT-base 512", "bert", graphs.bert, 512, form="attention", inputs=IDS),
    Row("t5", "T5-base encoder 512", "t5", graphs.t5, 512, inputs=IDS),
    Row("vit", "ViT-base 197", "vit", graphs.vit, 197, form="attention"),
    Row("vaswani", "Vaswani base 128/128", "vaswani", graphs.vaswani, 128, form="attention", inputs=("src", "tgt"), output="logits"),
    Row("gpt2", "GPT-2 124M, 64", "gpt2", graphs.gpt2, 64, gen=True, inputs=IDS),
    Row("gpt2", "GPT-2 124M, 512", "gpt2", graphs.gpt2, 512, gen=True, inputs=IDS),
    Row("batch", "GPT-2 124M, 8 texts of 64", "gpt2", graphs.gpt2, 64, gen=True, batch=8),
    Row("whisper", "Whisper-base, 30 s and the first token", "whisper", graphs_sound.whisper, 1),
    Row("wav2vec2", "wav2vec2-base, 10 s", "wav2vec2", graphs_sound.wav2vec2, 160000, form="attention", inputs=("input_values",)),
    Row("sparse", "Longformer-base 4096 (rival: dense)", "longformer", graphs.bert, 4096, seconds=1, form="mha"),
    Row("sparse", "BigBird-base 4096 (rival: dense)", "bigbird", dense_bigbird, 4096, seconds=1, form="mha"),
    Row("window", "window 512 at 4096, 125 M", "mistral", mistral, 4096, gen=True, seconds=1, inputs=IDS),
    Row("llama", "LLaMA 1.1B, 512", "llama", graphs.llama, 512, gen=True, seconds=1, inputs=IDS),
    Row("short", "LLaMA 1.1B, 64", "llama", graphs.llama, 64, gen=True, seconds=1),
]


def said(command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit("rivals.py: error: %s: %s" % (" ".join(command), (done.stderr or done.stdout).strip()[-500:]))
    return done.stdout


def before_others(cores):
    """Pinned to the last cores, and in front of other processes where the system allows it: as the first of a group of its
    own where processes are scheduled by groups, for real-time processes get only 95 % of each second."""
    def enter():
        mine = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, mine[-cores:])
        os.setsid()
        try:
            with open("/proc/self/autogroup", "w") as group:
                group.write("-20")
        except OSError:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
            except PermissionError:
                pass
    return enter


class Bench:
    def __init__(self, options):
        self.o, self.work = options, os.path.abspath(options.work)
        self.heddle = os.path.abspath(options.heddle)
        for folder in ("models", "graphs", "bin"):
            os.makedirs(os.path.join(self.work, folder), exist_ok=True)

    def install(self):
        if not shutil.which("node") or not shutil.which("npm"):
            sys.exit("rivals.py: error: needs node and npm, which bring ONNX Runtime (packages nodejs and npm)")
        if not os.path.exists(os.path.join(self.work, "node_modules", "onnxruntime-node")):
            said(["npm", "install", "--ignore-scripts", "--no-save", "--prefix", self.work, "onnxruntime-node"])
        self.hidden = []
        if self.o.avx2:
            library = os.path.join(self.work, "bin", "avx2_only.so")
            compiler = shutil.which("cc") or shutil.which("clang-22")
            if not compiler:
                sys.exit("rivals.py: error: --avx2 needs a C compiler, cc or clang-22, for rivals/avx2_only.c")
            said([compiler, "-O2", "-shared", "-fPIC", os.path.join(HERE, "rivals", "avx2_only.c"), "-o", library])
            self.hidden = ["env", "LD_PRELOAD=" + library]

    def model(self, row):
        folder = os.path.join(self.work, "models", row.model)
        if not os.path.exists(os.path.join(folder, "model.safetensors")):
            said([sys.executable, os.path.join(HERE, "make_%s.py" % row.model), folder])
        described = os.path.join(folder, "model.json")
        return described if os.path.exists(described) else folder

    def graph(self, row, rival):
        self.model(row)
        path = os.path.join(self.work, "graphs", "%s.%d.%s.onnx" % (row.model, 0 if row.gen else row.prompt, rival))
        if not os.path.exists(path):
            row.graph(os.path.join(self.work, "models", row.model), path, row.prompt, row.form if rival == "f32" else rival)
        return path

    def binary(self, row, stored, flags=None):
        # The compiler may have changed, so that binaries are made anew.
        path = os.path.join(self.work, "bin", "%s.%s" % (row.model, stored))
        if path not in made:
            made.add(path)
            said([self.heddle, "compile", self.model(row), "-o", path] + (flags or [STORED[stored]]) + (["--mcpu=" + self.o.mcpu] if self.o.mcpu else []))
        return path

    def measured(self, command, cores):
        done = subprocess.run(shlex.split(self.o.under) + command, cwd=self.work, capture_output=True, text=True, preexec_fn=before_others(cores))
        if done.returncode:
            sys.exit("rivals.py: error: %s: %s" % (" ".join(command), done.stderr.strip()[-500:]))
        return json.loads(done.stdout.strip().splitlines()[-1])

    def ort(self, row, rival, cores, level, *more):
        keys = ["level=" + level, "seconds=%g" % row.seconds, "prompt=%d" % row.prompt, "steps=%d" % row.steps, "batch=%d" % row.batch, "dim.T=1"]
        command = self.hidden + ["node", os.path.join(HERE, "rivals", "ort.mjs"), self.graph(row, rival), str(cores), "gen" if row.gen else "run", *keys, *more]
        return self.measured(command, cores)

    def ours(self, row, stored, cores, flags=None):
        command = [self.binary(row, stored, flags), "bench", "--prompt-tokens", str(row.prompt), "--batch", str(row.batch), "--threads", str(cores), "--json"]
        # A step after the prompt is what makes a text of the first token.
        return self.measured(command + ["--new-tokens", str(max(row.steps, 2))] if row.gen or row.model == "whisper" else command, cores)

    def agree(self, row):
        """The root of the mean square of the difference of outputs for the same ids, relative to their size."""
        out = os.path.join(self.work, "out")
        self.ort(row, "f32", 1, "basic", "dump=" + out + ".f32", "seconds=0", "steps=1")
        theirs = np.fromfile(out + ".f32", "<f4")
        mine = self.outputs(row, "f32", len(theirs))
        return float(np.sqrt(np.mean((mine - theirs) ** 2) / np.mean(theirs ** 2)))

    def outputs(self, row, stored, count, flags=None):
        """The last `count` numbers that our program has for the ids of ort.mjs."""
        out = os.path.join(self.work, "out")
        k = np.arange(row.prompt, dtype=np.int64)
        if "input_values" in row.inputs:
            kind, values = "F32", (k * 2654435761 % 65536 / 65536 - 0.5).astype("<f4")
        else:
            kind, values = "I64", 100 + (k * 7919 % 20000 if row.gen else (k * 7919 + 13) % 20000)
        size = values.nbytes
        head = {name: {"dtype": kind, "shape": [1, row.prompt], "data_offsets": [i * size, (i + 1) * size]} for i, name in enumerate(row.inputs)}
        text = json.dumps(head).encode()
        with open(out + ".in.safetensors", "wb") as f:
            f.write(len(text).to_bytes(8, "little") + text + values.tobytes() * len(row.inputs))
        said([self.binary(row, stored, flags), "run", "--input", out + ".in.safetensors", "--output", out + ".safetensors"])
        return graphs.Weights(out + ".safetensors")(row.output).reshape(-1)[-count:]


made = set()


def spread(values):
    return "%.4g (%.4g-%.4g)" % (statistics.median(values), min(values), max(values))


def lines_of(row, cores, theirs, ours):
    """Table lines of a row: one for a prompt or a run, one for a step."""
    for what in ("prefill", "decode") if row.gen else ("prefill",):
        level = min(theirs, key=lambda l: statistics.median(r[what + "_ms"] for r in theirs[l]))
        rival = [r[what + "_ms"] for r in theirs[level]]
        cells = [row.name + (", " + what if row.gen else ""), str(cores), spread(rival)]
        for turns in ours.values():
            mine = [r[what + "_ms"] for r in turns]
            shares = [r.get("prefill_flops_fraction" if what == "prefill" else "decode_bandwidth_fraction") for r in turns]
            shares = [s for s in shares if s is not None]
            cells += [spread(mine), "%.2f" % (statistics.median(mine) / statistics.median(rival)), "%.0f %%" % (100 * statistics.median(shares)) if shares else "-"]
        yield "| " + " | ".join(cells) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True, metavar="BIN")
    p.add_argument("--work", required=True, metavar="DIR")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--cores", default="1,2")
    p.add_argument("--rows", default="bert,t5,vit,vaswani,gpt2,batch,whisper,wav2vec2", help="which of " + ", ".join(dict.fromkeys(r.key for r in ROWS)))
    p.add_argument("--weights", default="floats,codes", help="which tables: " + ", ".join(TABLES))
    p.add_argument("--under", default="", metavar="COMMAND", help="what each measured process is started by")
    compiled = p.add_mutually_exclusive_group()
    compiled.add_argument("--mcpu", help="what Heddle compiles for, if not this processor")
    compiled.add_argument("--avx2", action="store_true", help="both without AVX-512 and AMX, on a processor that has them")
    p.add_argument("--out", metavar="FILE", help="where the table goes, too")
    o = p.parse_args()
    if o.rounds < 1:
        p.error("--rounds is 1 or more, not %d" % o.rounds)
    if o.avx2:
        o.mcpu = "x86-64-v3"
    bench = Bench(o)
    bench.install()
    unknown = set(o.rows.split(",")) - {r.key for r in ROWS}
    if unknown:
        p.error("no row %s" % ", ".join(sorted(unknown)))
    if set(o.weights.split(",")) - set(TABLES):
        p.error("--weights is of " + ", ".join(TABLES))
    rows = [r for r in ROWS if r.key in o.rows.split(",")]
    for row in rows:
        if row.inputs:
            apart = bench.agree(row)
            if not apart < 1e-4:
                sys.exit("rivals.py: error: %s: outputs are %.1e apart: not the same work" % (row.name, apart))
    table = []

    def put(line):
        print(line, flush=True)
        table.append(line)
    for rival, stored in (TABLES[t] for t in o.weights.split(",")):
        head = ["row", "cores", "ONNX Runtime %s, ms" % rival] + [c for s in stored for c in ("Heddle %s, ms" % s, "ratio", "of the limit")]
        put("| " + " | ".join(head) + " |")
        put("|---" * len(head) + "|")
        for row in rows:
            for cores in map(int, o.cores.split(",")):
                theirs, ours = {"all": [], "basic": []}, {s: [] for s in stored}
                for _ in range(o.rounds):
                    for level in theirs:
                        theirs[level].append(bench.ort(row, rival, cores, level))
                    for s in stored:
                        ours[s].append(bench.ours(row, s, cores))
                for line in lines_of(row, cores, theirs, ours):
                    put(line)
        put("")
    if o.out:
        with open(o.out, "w") as f:
            f.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
