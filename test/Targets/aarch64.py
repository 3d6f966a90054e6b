"""Programs for aarch64 under qemu-user: `aarch64.py ROOT HEDDLE WORK QEMU`.

Vectors of NEON are as wide as those of plain x86-64, sums go in the same order, so a program for one has the bits of a
program for the other: in f32, in bf16, and in codes, whose products are sdot, usdot or multiplications of words. A text
is that of this machine, one of many threads that of one. A processor that lacks an instruction refuses the program."""
import os
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
from checks import check, finish

root, heddle, work, qemu = sys.argv[1:]
qemu = shlex.split(qemu)
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)


def compiled(model, mcpu, *more):
    out = os.path.join(work, "-".join([os.path.basename(model), mcpu, *more]))
    path = os.path.join(root, "examples", model)
    path = path if os.path.exists(os.path.join(path, "config.json")) else os.path.join(path, "model.json")
    said = subprocess.run([heddle, "compile", path, "--without=serve", "--mcpu=" + mcpu, "-o", out, *cached.flags(heddle), *more], capture_output=True, text=True)
    check(said.returncode == 0, "%s for %s: compiled: %s" % (model, mcpu, said.stderr))
    return out


def run(program, *arguments, cpu="max"):
    """What it says; `cpu` is the emulated one, None: this machine."""
    emulator = qemu[:1] + ["-cpu", cpu] + qemu[1:] if cpu else []
    return subprocess.run(emulator + [program, *arguments], capture_output=True, text=True, timeout=280)


def answer(model, mcpu, *more, cpu="max"):
    program, result = compiled(model, mcpu, *more), os.path.join(work, "result")
    said = run(program, "run", "--input", os.path.join(root, "examples", model, "input.safetensors"), "--output", result, cpu=cpu)
    check(said.returncode == 0, "%s for %s runs: %s" % (model, mcpu, said.stderr))
    with open(result, "rb") as f:
        return f.read()


MODEL = "seed000_encoder"
for more in ([], ["--dtype=bf16", "--math=wide"], ["--weights-dtype=int8"], ["--weights-dtype=int4"]):
    here = answer(MODEL, "x86-64", *more, cpu=None)
    for mcpu in ("generic-aarch64", "neoverse-n1", "neoverse-v1") if "--weights" in "".join(more) else ("neoverse-n1",):
        check(answer(MODEL, mcpu, *more) == here, "%s %s: the bits of x86-64" % (mcpu, " ".join(more)))

program, text = compiled("stories", "neoverse-n1"), ("Once upon a time", "-n", "38", "--greedy")
expected = run(compiled("stories", "native"), *text, cpu=None).stdout
check(len(expected) > 100 and run(program, *text).stdout == expected, "a story is that of this machine")
check(run(program, *text, "--threads", "3").stdout == expected, "three threads tell the same story")
check(run(program, *text, cpu="neoverse-n1").stdout == expected, "the processor that it is for tells it")
said = run(program, "--verify")
check(said.returncode == 0, "the program is what was written: " + said.stderr)
said = run(program, *text, cpu="cortex-a53")
check(said.returncode == 3 and "lacks lse, rdm, dotprod" in said.stderr, "an older processor refuses it: " + said.stderr)
sys.exit(finish())
