#!/usr/bin/python3
"""Whole programs for two targets, and their steps as graphs: `programs.py --heddle HEDDLE [--model DIR]`.

A GPT-2 of two layers (or DIR) is compiled for the processor, and for both targets in one program. On the processor both give the
same bits; the second is less than 3 MB larger and takes the processor by itself where there is no GPU. 200 steps on the emulated
device say what they say on the processor, greedy and sampled with a seed, and make one graph for each bucket of lengths, counted by
the emulator. Ends in `N passed, N failed`."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import make_gpt2  # noqa: E402
import random_model  # noqa: E402
import tensors  # noqa: E402

MORE_BYTES, STEPS, PROMPT = 3e6, 200, "3,1,4,1,5"
WAYS = {"greedy": ["--greedy"], "sampled": ["--temperature", "0.9", "--top-k", "20", "--seed", "11"]}


def toy(folder):
    """Small, with weights large enough that its texts wander."""
    width, layers, vocab, positions = 32, 2, 61, 320
    make_gpt2.VOCAB, make_gpt2.POSITIONS = vocab, positions
    config = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new", "bos_token_id": 0, "eos_token_id": 0,
              "layer_norm_epsilon": 1e-05, "n_ctx": positions, "n_embd": width, "n_head": 4, "n_layer": layers, "n_positions": positions, "vocab_size": vocab}
    with open(os.devnull, "w") as quiet:
        sys.stdout, said = quiet, sys.stdout
        random_model.write(folder, config, make_gpt2.tensors(width, layers))
        sys.stdout = said
    path = os.path.join(folder, "model.safetensors")
    tensors.write(path, {k: v if "ln_" in k else v * np.float32(15) for k, v in tensors.read(path).items()})
    return folder


class Checks:
    passed = failed = 0

    def that(self, what, good, figure=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print("FAIL %s%s" % (what, ": " + str(figure) if figure != "" else ""))


def say(command):
    """-> standard output, standard error"""
    p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise RuntimeError("%s: exit status %d: %s" % (" ".join(command), p.returncode, p.stderr[-400:]))
    return p.stdout, p.stderr


def generate(program, way, *more):
    return say([program, "generate", "--ids", PROMPT, "-n", str(STEPS), "--ignore-eos", "--print-ids", *WAYS[way], *more])


def one_program(check, programs, work):
    cpu, both = programs["cpu"], programs["both"]
    ids, results = os.path.join(work, "ids"), [os.path.join(work, n) for n in ("cpu.out", "both.out")]
    tensors.write(ids, {"input_ids": np.random.default_rng(2).integers(1, 61, (2, 70))})
    for (program, more), result in zip(((cpu, []), (both, ["--device=cpu"])), results):
        say([program, "run", "--input", ids, "--output", result, *more])
    a, b = (open(r, "rb").read() for r in results)
    check.that("one program for both targets, on the processor: the same bits", a == b)
    for way in WAYS:
        check.that("%s steps there" % way, generate(cpu, way)[0] == generate(both, way, "--device=cpu")[0])
    text, said = generate(both, "greedy")
    check.that("no GPU: the processor is taken, and that is said", text == generate(cpu, "greedy")[0] and "no GPU can be used" in said, said)
    more = os.path.getsize(both) - os.path.getsize(cpu)
    check.that("bytes for the second target", more < MORE_BYTES, more)
    print("%.2f MB for the second target" % (more / 1e6))


def outside(check, program, work):
    """An id that no table has: the same words from either machine."""
    source, said = os.path.join(work, "far"), []
    tensors.write(source, {"input_ids": np.array([[1, 2, 61, 3]])})
    for device in ("cpu", "emulator"):
        p = subprocess.run([program, "run", "--input", source, "--output", source + ".out", "--device", device], capture_output=True, text=True)
        said.append((p.returncode, p.stderr))
    wanted = "id 61 is outside a table of 61 rows (wte.weight, by input `input_ids`)"
    check.that("an id outside a table", said[0] == said[1] and said[0][0] == 1 and wanted in said[0][1], said)


def graphs(check, programs):
    for way in WAYS:
        text, said = generate(programs["emulated"], way, "--device=emulator:count")
        check.that("%d steps as graphs, %s: the processor's text" % (STEPS, way), text == generate(programs["cpu"], way)[0], text)
        counted = re.search(r"(\d+) graphs captured, (\d+) launched", said)
        made, launched = map(int, counted.groups()) if counted else (0, 0)
        # From past = 5 on: lengths up to 128, and up to 256.
        check.that("%s: a graph a bucket" % way, made == 2, said)
        check.that("%s: a launch a step" % way, launched == STEPS - 1, said)


def watched(check, program):
    """Digests are the same on any grid, and the line of a kernel whose result is another is the first that differs; times name every kernel."""
    def digests(prompt, more=""):
        text, said = say([program, "generate", "--ids", prompt, "-n", "3", "--greedy", "--print-ids", "--device=emulator:digest" + more])
        return text, re.findall(r"^launch \d+ (\S+).*: arena ([0-9a-f]{16}), states ([0-9a-f]{16})$", said, re.M)
    text, first = digests("3,1,4,1,5")
    check.that("a digest of every launch", len(first) > 20 and len({d[1] for d in first}) > 10 and len({d[2] for d in first}) > 2, first[:3])
    check.that("the same digests on other grids", digests("3,1,4,1,5", ",sms=3,order=random,seed=4") == (text, first))
    other = digests("3,1,4,1,6")[1]
    differ = [a[0] for a, b in zip(first, other) if a != b]
    check.that("digests of another prompt differ from the kernel on that reads it", 10 < len(differ) < len(first) and len(other) == len(first), differ[:3])
    text, said = say([program, "generate", "--ids", "3,1,4,1,5", "-n", "3", "--greedy", "--print-ids", "--device=emulator:timed,log"])
    rows = re.findall(r"^ *(\d+) +[\d.]+ +[\d.]+ +([\d.]+)%  (\S+)", said, re.M)
    check.that("times of every kernel", {r[2] for r in rows} == {d[0] for d in first} and sum(int(r[0]) for r in rows) == len(first) and 99 < sum(float(r[1]) for r in rows) < 101, said[:400])
    check.that("what the assembler says", "emulator: nothing was assembled" in said, said[:200])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heddle", required=True)
    p.add_argument("--model", help="compare sizes and bits on this model, and run nothing on the emulator")
    o = p.parse_args()
    check = Checks()
    with tempfile.TemporaryDirectory() as work:
        model = o.model or toy(os.path.join(work, "toy"))
        targets = {"cpu": [], "both": ["--target=cpu,cuda"], "emulated": ["--target=cpu,cuda", "--mcpu=native,sm_80", "--emulate"]}
        programs = {}
        try:
            for name, flags in targets.items():
                if o.model and name == "emulated":
                    continue
                programs[name] = os.path.join(work, name)
                say([os.path.abspath(o.heddle), "compile", model, "-o", programs[name], *cached.flags(o.heddle), *flags])
            one_program(check, programs, work)
            if not o.model:
                graphs(check, programs)
                outside(check, programs["emulated"], work)
                watched(check, programs["emulated"])
        except RuntimeError as e:
            check.that("it works", False, e)
    print("%d passed, %d failed" % (check.passed, check.failed))
    return int(check.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
