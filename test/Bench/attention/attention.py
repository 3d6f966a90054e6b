#!/usr/bin/python3
"""Attention alone, mask by mask: time, the share of the machine's multiply-add peak that goes into elements somebody
sees, and what a live tile costs beside one of full attention.

    attention.py --heddle BIN [--patterns causal,full,..] [--lengths 512,2048] [--threads 1,2] [--dtype f32]
                 [--rivals torch,onnx] [--node-modules DIR] [--json FILE]

Every pattern is a description of a dozen lines, compiled by Heddle and timed by the `bench` of what came out, packing of
keys included. The peak is measured in the same run. Rivals are given the mask as they take it; one that is not installed
is named as absent. Figures are printed, nothing gates a test. 12 heads of width 64, batch 1."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import patterns
import rivals

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "Oracle"))
import tensors

HEADS, WIDTH, ROWS, KEYS = 12, 64, 32, 128


def compiled(heddle, folder, pattern, dtype):
    """The program of one pattern; lengths are symbolic, so it serves every length."""
    path, program = os.path.join(folder, pattern.name + ".json"), os.path.join(folder, pattern.name)
    if not os.path.exists(program):
        with open(path, "w") as f:
            json.dump(pattern.description(HEADS, WIDTH), f)
        options = [] if dtype == "f32" else ["--dtype=" + dtype]
        subprocess.run([heddle, "compile", path, "-o", program] + options, check=True)
    return program


def pinned(threads):
    """The last cores of those this process may use: the first ones serve interrupts."""
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    return lambda: os.sched_setaffinity(0, cores)


def timed(program, given, threads, dtype):
    command = [program, "bench", "--input", given, "--threads", str(threads), "--json"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=pinned(threads))
    figures = json.loads(run.stdout)
    # A thread that works alone is timed by what it worked: others may have the core in between.
    ms = figures["run_cpu_ms"] if threads == 1 else figures["prefill_ms"]
    # Of bf16 the peak is that of pairs, where the processor has them.
    peak = (figures["machine_dots_per_s"] if dtype == "bf16" else 0) or figures["machine_flops_per_s"]
    return {"ms": ms, "peak": peak, "memory": figures["peak_memory_bytes"]}


def measured(args, folder, pattern, length, threads):
    data = pattern.tensors(length)
    rng = np.random.default_rng(length)
    qkv = {n: rng.standard_normal((1, length, HEADS * WIDTH), dtype=np.float32) for n in "qkv"}
    given = os.path.join(folder, "given.safetensors")
    tensors.write(given, {**qkv, **data})
    result = timed(compiled(args.heddle, folder, pattern, args.dtype), given, threads, args.dtype)
    elements, tiles = patterns.live(pattern, length, ROWS, KEYS)
    every = -(-length // ROWS) * -(-length // KEYS)
    result.update(pattern=pattern.name, length=length, threads=threads, elements=elements, share=tiles / every,
                  fraction=4 * HEADS * WIDTH * elements / (result["ms"] * 1e-3) / result["peak"])
    for rival in args.rivals:
        result[rival.name] = rival.milliseconds(pattern, length, threads, qkv, HEADS, pinned(threads))
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--heddle", required=True)
    p.add_argument("--patterns", default=",".join(patterns.ALL))
    p.add_argument("--lengths", default="512,2048,8192,16384")
    p.add_argument("--threads", default="1")
    p.add_argument("--dtype", default="f32")
    p.add_argument("--rivals", default="")
    p.add_argument("--node-modules", default="")
    p.add_argument("--json")
    args = p.parse_args()
    args.heddle = os.path.abspath(args.heddle)
    args.rivals = [rivals.find(n, args.node_modules) for n in args.rivals.split(",") if n]
    for rival in args.rivals:
        print("%s: %s" % (rival.name, rival.version or "absent"))
    names = args.patterns.split(",")
    unknown = [n for n in names if n not in patterns.ALL]
    if unknown:
        sys.exit("no pattern %s; there are: %s" % (unknown[0], ", ".join(patterns.ALL)))
    if "full" not in names:
        names.insert(0, "full")  # what a tile costs is told beside it
    names.sort(key=lambda n: n != "full")
    rows, full = [], {}
    head = "%-11s %6s %3s %10s %7s %8s %8s %9s" % ("pattern", "L", "thr", "ms", "% peak", "tiles %", "x full", "memory MB")
    print(head + "".join(" %10s" % r.name for r in args.rivals), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for length in map(int, args.lengths.split(",")):
            for threads in map(int, args.threads.split(",")):
                for name in names:
                    r = measured(args, folder, patterns.ALL[name], length, threads)
                    if name == "full":
                        full[length, threads] = r["ms"]
                    r["per_tile"] = r["ms"] / r["share"] / full[length, threads]
                    rows.append(r)
                    print("%-11s %6d %3d %10.3f %7.1f %8.2f %8.2f %9.1f" % (
                        name, length, threads, r["ms"], 100 * r["fraction"], 100 * r["share"], r["per_tile"], r["memory"] / 1e6)
                        + "".join(" %10s" % ("-" if r[x.name] is None else "%.3f" % r[x.name]) for x in args.rivals), flush=True)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
