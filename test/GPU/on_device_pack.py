#!/usr/bin/python3
"""Makes the pack that on_device.py runs on a GPU: `on_device_pack.py FILE [--heddle BIN] [--oracle DIR] [--times]`.

Programs hold their kernels as PTX for both chips and, for the emulator, as host code; what is expected is what the emulated device answers here. Without an oracle
the pack has the four kernels, 20 runs and the texts alone. Of the oracle it takes the cases of run.py's LISTED. The pack is an archive of a few MB: programs are
alike, and the model that is timed (--times: GPT-2 124M) has zeros for weights."""
import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", "Oracle"), os.path.join(ROOT, "test", "GPU"), os.path.join(ROOT, "test", "Bench")]
import make_gpt2  # noqa: E402
import programs  # noqa: E402
import run as oracle  # noqa: E402
import tensors  # noqa: E402

LIMIT = 1e-2  # between two ways to add up the same products of bf16: the units of a chip and their model
RUNS, STEPS = 20, 200
ARGUMENTS = ["--ids", programs.PROMPT, "-n", str(STEPS), "--ignore-eos", "--print-ids", "--greedy"]
# One kernel each, of sizes that fill no tile.
KERNELS = {
    "map": ({"x": "f32[n,33]"}, {"y": "=x * 0.5 + 1"}),
    "softmax": ({"x": "f32[n,33]"}, {"y": {"softmax": "x", "axis": -1}}),
    "matmul": ({"x": "f32[n,33]", "z": "f32[33,17]"}, {"y": {"matmul": ["x", "z"]}}),
    "attention": ({"x": "f32[1,n,48]"}, {"y": {"attention": ["x", "x", "x"], "heads": 3, "mask": "=causal and window(4, 0)"}}),
}


class Packer:
    def __init__(self, heddle, folder):
        self.heddle, self.folder, self.count = heddle, folder, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, model, *more):
        self.count += 1
        name = "program%d" % self.count
        subprocess.run([self.heddle, "compile", model, "--target=cuda", "--emulate", "-o", self.path(name), *more], check=True, stdout=subprocess.DEVNULL)
        return name

    def run(self, name, program, inputs):
        """A case of what the emulated device answers."""
        self.count += 1
        source, result = "in%d" % self.count, "expected%d" % self.count
        tensors.write(self.path(source), inputs)
        programs.say([self.path(program), "run", "--input", self.path(source), "--output", self.path(result), "--device", "emulator"])
        return {"name": name, "program": program, "input": source, "expected": result, "limit": LIMIT, "runs": RUNS}


def kernels(packer):
    random, cases = np.random.default_rng(5), []
    for name, (inputs, body) in KERNELS.items():
        model = packer.path(name + ".json")
        with open(model, "w") as f:
            json.dump({"heddle": 1, "name": name, "inputs": inputs, "body": [body], "outputs": ["y"]}, f)
        shapes = {k: [19 if n == "n" else int(n) for n in t[4:-1].split(",")] for k, t in inputs.items()}
        cases.append(packer.run(name, packer.compile(model), {k: random.standard_normal(s).astype(np.float32) for k, s in shapes.items()}))
        os.remove(model)
    return cases


def of_oracle(packer, folder, dtype):
    cases = []
    for name in sorted(set(oracle.LISTED) & set(os.listdir(folder))):
        with tempfile.TemporaryDirectory() as work:
            case = oracle.Case(os.path.join(folder, name), work)
            runs = [r for r in case.meta["runs"] if "greedy" not in r["kind"]][:2]
            made = {}
            for r in runs:
                more = ["--outputs=all", "--masked-rows=zero", "--dtype", dtype] + case.weights + case.settings(r)
                key = tuple(more)
                made[key] = made.get(key) or packer.compile(case.model, *more)
                cases.append(packer.run("%s/%s" % (name, r["name"]), made[key], case.given(r)))
    return cases


def texts(packer, work):
    toy = packer.compile(programs.toy(os.path.join(work, "toy")))
    says = programs.say([packer.path(toy), "generate", *ARGUMENTS, "--device", "emulator"])[0].strip()
    return {"name": "greedy", "program": toy, "arguments": ARGUMENTS, "says": says}


def times(packer, work):
    """GPT-2 124M in bf16: the program and its bounds."""
    model, report = os.path.join(work, "gpt2"), os.path.join(work, "report.json")
    subprocess.run([sys.executable, make_gpt2.__file__, model, "--zeros"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([packer.heddle, "compile", model, "--target=cuda", "--dtype=bf16", "--report=" + report, "--dims=B=1,T=512,capacity=1024"], check=True)
    with open(report) as f:
        bounds = {"%s %s us" % (chip["chip"], e["entry"]): round(e["bound_us"]) for chip in json.load(f) for e in chip["entries"]}
    packer.count += 1
    name = "program%d" % packer.count
    subprocess.run([packer.heddle, "compile", model, "--target=cuda", "--dtype=bf16", "-o", packer.path(name)], check=True, stdout=subprocess.DEVNULL)
    return {"name": "GPT-2 124M", "program": name, "arguments": ["--prompt-tokens", "512", "--new-tokens", "128"], "bounds": bounds}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pack")
    p.add_argument("--heddle", default=os.path.join(ROOT, "build/bin/heddle"))
    p.add_argument("--oracle", default="", help="a folder of cases")
    p.add_argument("--times", action="store_true", help="the program that is timed, too")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-pack-") as folder, tempfile.TemporaryDirectory(prefix="heddle-models-") as work:
        packer = Packer(os.path.abspath(o.heddle), folder)
        small, text = kernels(packer), texts(packer, work)
        steps = [{"name": "four kernels, the emulator's bits", "check": "bits", "cases": small}]
        if o.oracle:
            steps.append({"name": "the oracle in f32, the emulator's bits", "check": "bits", "cases": of_oracle(packer, o.oracle, "f32")})
        steps.append({"name": "%d runs, equal bits" % RUNS, "check": "again", "cases": small[-2:]})
        if o.oracle:
            steps.append({"name": "the oracle in bf16", "check": "near", "cases": of_oracle(packer, o.oracle, "bf16")})
        steps.append({"name": "%d steps as graphs" % STEPS, "check": "text", "cases": [text]})
        if o.times:
            steps.append({"name": "times", "check": "times", "cases": [times(packer, work)]})
        with open(packer.path("manifest.json"), "w") as f:
            json.dump({"steps": steps}, f)
        with tarfile.open(o.pack, "w:xz") as archive:
            for name in sorted(os.listdir(folder)):
                archive.add(packer.path(name), name)
    print("%s: %d steps, %.1f MB" % (o.pack, len(steps), os.path.getsize(o.pack) / 1e6))


if __name__ == "__main__":
    sys.exit(main())
