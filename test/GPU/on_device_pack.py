#!/usr/bin/python3
"""Makes the pack that on_device.py runs on a GPU.

    on_device_pack.py FILE [--heddle BIN] [--oracle DIR [--only CASE,...]] [--times]

A program holds its kernels as PTX and, for the emulator, as host code; what is expected is what
the emulated device answers here. In bf16 each case has two programs: one for sm_90a and sm_80,
whose emulated chip is an sm_90a, and its twin for sm_80 alone. A case that is wrong in one
program and right in the other shows which kernels are at fault. Of the oracle the pack takes the
cases of run.py's LISTED; without an oracle it has the small kernels and the texts.

The pack is one xz stream; of a full one the dictionary holds several programs, which share the
runtime, and twins their weights. The model that is timed (--times: GPT-2 124M) travels as zeros;
on_device.py fills them."""
import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import make_gpt2  # noqa: E402
import programs  # noqa: E402
import run as oracle  # noqa: E402
import tensors  # noqa: E402

LIMIT = 1e-2  # between two ways to add products of bf16: the units of a chip and their model
RUNS, STEPS = 20, 200
PRESET, QUICK = 9, 3  # of xz: a dictionary of 64 MiB; 4 MiB in a quarter of the time
ARGUMENTS = ["--ids", programs.PROMPT, "-n", str(STEPS), "--ignore-eos", "--print-ids", "--greedy"]
BF16 = ["--dtype", "bf16", "--mcpu"]
BOTH, TWIN = [*BF16, "sm_90a+sm_80"], [*BF16, "sm_80"]
# One kernel each, of sizes that fill no tile: inputs, n of them, and what is computed.
KERNELS = {
    "map": ({"x": "f32[n,33]"}, 19, "=x * 0.5 + 1"),
    "softmax": ({"x": "f32[n,33]"}, 19, {"softmax": "x", "axis": -1}),
    "matmul": ({"x": "f32[n,33]", "z": "f32[33,17]"}, 19, {"matmul": ["x", "z"]}),
    "attention": ({"x": "f32[1,n,48]"}, 19, {"attention": ["x", "x", "x"], "heads": 3,
                                            "mask": "=causal and window(4, 0)"}),
}
# In bf16: a ring of copies that is filled again, two tiles of rows, parts of a tile at every end.
TILES = {
    "linear": ({"x": "f32[n,328]"}, 136, {"linear": "x", "weights": "w"}),
    "heads of 64": ({"x": "f32[1,n,128]"}, 150, {"attention": ["x", "x", "x"], "heads": 2,
                                                 "mask": "=causal"}),
}
WEIGHTS = {"w.weight": (136, 328), "w.bias": (136,)}
# Cases of the oracle whose bf16 programs run 20 times: every kind of tile.
REPEATED = ["att_causal", "att_padding_left_causal", "bert", "gpt2", "llama_gqa", "t5", "whisper"]


class Packer:
    def __init__(self, heddle, folder):
        self.heddle, self.folder, self.count = heddle, folder, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def name(self, kind):
        """Of a file of the pack; files are packed in the order in which they were named."""
        self.count += 1
        return "%04d.%s" % (self.count, kind)

    def compile(self, model, *more):
        name = self.name("program")
        programs.say([self.heddle, "compile", model, "--target=cuda", "-o", self.path(name), *cached.flags(self.heddle), *more])
        return name

    def run(self, name, program, inputs):
        """A case of what the emulated device answers."""
        source, result = self.name("in"), self.name("expected")
        tensors.write(self.path(source), inputs)
        programs.say([self.path(program), "run", "--input", self.path(source),
                      "--output", self.path(result), "--device", "emulator"])
        return {"name": name, "program": program, "input": source, "expected": result,
                "limit": LIMIT, "runs": RUNS}

    def pack(self, path, steps, preset):
        with open(self.path("manifest.json"), "w") as f:
            json.dump({"steps": steps}, f)
        with tarfile.open(path, "w:xz", preset=preset) as archive:
            for name in sorted(os.listdir(self.folder)):
                archive.add(self.path(name), name)


def described(work, name, inputs, result):
    """The file of a model of one op, `result`."""
    model = {"heddle": 1, "name": name, "inputs": inputs, "body": [{"y": result}], "outputs": ["y"]}
    if "linear" in result:
        weights = os.path.join(work, "weights.safetensors")
        random = np.random.default_rng(6)
        drawn = {k: random.standard_normal(s, np.float32) for k, s in WEIGHTS.items()}
        tensors.write(weights, drawn)
        model["weights"] = {"file": weights}
    path = os.path.join(work, name.replace(" ", "_") + ".json")
    with open(path, "w") as f:
        json.dump(model, f)
    return path


def kernels(packer, work, described_kernels, *more):
    random, cases = np.random.default_rng(5), []
    for name, (inputs, n, result) in described_kernels.items():
        program = packer.compile(described(work, name, inputs, result), "--emulate", *more)
        shapes = {k: [n if d == "n" else int(d) for d in t[4:-1].split(",")]
                  for k, t in inputs.items()}
        given = {k: random.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
        cases.append(packer.run(name, program, given))
    return cases


def of_oracle(packer, folder, names, *ways):
    """A list of cases for each way to compile; programs of one case stand next to each other."""
    lists = [[] for _ in ways]
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            case = oracle.Case(os.path.join(folder, name), work)
            runs = [r for r in case.meta["runs"] if "greedy" not in r["kind"]][:2]
            made = {}
            for r in runs:
                settings = case.weights + case.settings(r)
                for way, cases in zip(ways, lists):
                    more = ["--emulate", "--outputs=all", "--masked-rows=zero", *way, *settings]
                    key = tuple(more)
                    made[key] = made.get(key) or packer.compile(case.model, *more)
                    cases.append(packer.run("%s/%s" % (name, r["name"]), made[key], case.given(r)))
    return lists


def texts(packer, work):
    toy = packer.compile(programs.toy(os.path.join(work, "toy")), "--emulate")
    said = programs.say([packer.path(toy), "generate", *ARGUMENTS, "--device", "emulator"])[0]
    return {"name": "greedy", "program": toy, "arguments": ARGUMENTS, "says": said.strip()}


def times(packer, work):
    """GPT-2 124M in bf16: the program and its bounds."""
    model, report = os.path.join(work, "gpt2"), os.path.join(work, "report.json")
    programs.say([sys.executable, make_gpt2.__file__, model, "--zeros"])
    program = packer.compile(model, "--dtype=bf16")
    programs.say([packer.heddle, "compile", model, "--target=cuda", "--dtype=bf16",
                  "--report=" + report, "--dims=B=1,T=512,capacity=1024"])
    with open(report) as f:
        bounds = {"%s %s us" % (chip["chip"], e["entry"]): round(e["bound_us"])
                  for chip in json.load(f) for e in chip["entries"]}
    arguments = ["--prompt-tokens", "512", "--new-tokens", "128"]
    return {"name": "GPT-2 124M", "program": program, "arguments": arguments, "bounds": bounds}


def all_steps(packer, work, folder, names, timed):
    """The steps of on_device.py, in their order."""
    small = kernels(packer, work, KERNELS)
    tiles = kernels(packer, work, TILES, *BOTH)
    twins = kernels(packer, work, TILES, *TWIN)
    full, bf16, bf16_twins = of_oracle(packer, folder, names, [], BOTH, TWIN) if names else [[]] * 3
    again = [c for c in bf16 if c["name"].split("/")[0] in REPEATED]
    steps = [("four kernels, the emulator's bits", "bits", small),
             ("two kernels in bf16", "near", tiles),
             ("their twins for sm_80", "near", twins),
             ("the oracle in f32, the emulator's bits", "bits", full),
             ("%d runs, equal bits" % RUNS, "again", small[-2:] + tiles + again),
             ("the oracle in bf16", "near", bf16),
             ("its twins for sm_80", "near", bf16_twins),
             ("%d steps as graphs" % STEPS, "text", [texts(packer, work)])]
    if timed:
        steps.append(("times", "times", [times(packer, work)]))
    return [{"name": n, "check": check, "cases": cases} for n, check, cases in steps if cases]


def names_of(o):
    """The cases of the oracle that are asked for."""
    if not o.oracle:
        return []
    there = set(os.listdir(o.oracle))
    names = sorted(set(o.only.split(",")) if o.only else set(oracle.LISTED) & there)
    if missing := [n for n in names if n not in there] or ([] if names else ["any case"]):
        raise OSError("expected %s in %s" % (", ".join(missing), o.oracle))
    return names


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("pack")
    p.add_argument("--heddle", default=os.path.join(ROOT, "build/bin/heddle"))
    p.add_argument("--oracle", default="", help="a folder of cases")
    p.add_argument("--only", default="", help="these cases of the oracle, not the listed ones")
    p.add_argument("--times", action="store_true", help="the program that is timed, too")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-pack-") as folder, \
            tempfile.TemporaryDirectory(prefix="heddle-models-") as work:
        packer = Packer(os.path.abspath(o.heddle), folder)
        try:
            steps = all_steps(packer, work, o.oracle, names_of(o), o.times)
            packer.pack(o.pack, steps, PRESET if o.oracle else QUICK)
        except (OSError, RuntimeError) as e:
            print("on_device_pack.py: %s" % e, file=sys.stderr)
            return 1
    size = os.path.getsize(o.pack)
    print("%s: %d steps, %.1f MB" % (o.pack, len(steps), size / 1e6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
