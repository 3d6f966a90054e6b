#!/usr/bin/python3
"""A GPT-2 of 124 M parameters from directory to first token: right, small and quick enough.

    real_size.py --heddle BIN [--model DIR]      (without --model one is made, see make_gpt2.py)

Checked: the logits against plain numpy, the size on disk, memory and time of the compiler, time to the first token. The figures
are printed; the last line is `N passed, N failed`."""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors

COMPILE_SECONDS, COMPILE_BYTES, FIRST_TOKEN_SECONDS, EXTRA_BYTES = 30, 1.5e9, 0.5, 3e6
HUGE_PAGE = 2 << 20


def forward(w, config, ids):
    """GPT-2 as its paper says it, float32, one row of ids -> logits of the last."""
    def norm(x, name):
        m = x.mean(-1, keepdims=True)
        return (x - m) / np.sqrt(((x - m) ** 2).mean(-1, keepdims=True) + config["layer_norm_epsilon"]) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    heads, n = config["n_head"], len(ids)
    x = w["wte.weight"][ids] + w["wpe.weight"][:n]
    hidden = np.triu(np.full((n, n), -np.inf, np.float32), 1)
    for i in range(config["n_layer"]):
        at = "h.%d." % i
        q, k, v = (t.reshape(n, heads, -1).transpose(1, 0, 2) for t in np.split(linear(norm(x, at + "ln_1"), at + "attn.c_attn"), 3, -1))
        s = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[-1])) + hidden
        p = np.exp(s - s.max(-1, keepdims=True))
        a = (p / p.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
        x = x + linear(a, at + "attn.c_proj")
        h = linear(norm(x, at + "ln_2"), at + "mlp.c_fc")
        h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h ** 3)))
        x = x + linear(h, at + "mlp.c_proj")
    return norm(x, "ln_f")[-1] @ w["wte.weight"].T


def measured(command):
    """-> seconds on the clock, seconds of computing, largest resident set in bytes"""
    with tempfile.TemporaryFile() as said:
        start = time.monotonic()
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(p.pid, 0)
        seconds, p.returncode = time.monotonic() - start, os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if p.returncode:
        sys.exit("FAIL %s: exit status %d\n%s\n0 passed, 1 failed" % (" ".join(command), p.returncode, text[-2000:]))
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def alignment_of_largest(binary):
    """Of the largest loaded segment of an ELF file of 64 bits, little-endian."""
    with open(binary, "rb") as f:
        head = f.read(64)
        f.seek(struct.unpack_from("<Q", head, 32)[0])
        entry, count = struct.unpack_from("<HH", head, 54)
        segments = [struct.unpack("<IIQQQQQQ", f.read(entry)[:56]) for _ in range(count)]
    return max((s[5], s[7]) for s in segments if s[0] == 1)[1]  # PT_LOAD: bytes in the file, alignment


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("--model")
    o = p.parse_args()
    results = []

    def check(what, good, figure):
        results.append(good)
        print("%s %s: %s" % ("ok  " if good else "FAIL", what, figure))

    with tempfile.TemporaryDirectory(prefix="heddle-real-size-") as work:
        model, binary = o.model or os.path.join(work, "gpt2"), os.path.join(work, "binary")
        if not o.model:
            subprocess.run(["/usr/bin/python3", os.path.join(HERE, "make_gpt2.py"), model], check=True, stdout=subprocess.DEVNULL)
        weights = os.path.getsize(os.path.join(model, "model.safetensors"))
        # Computing time decides: other work on the machine makes the clock run, not the compiler.
        seconds, computing, memory = measured([os.path.abspath(o.heddle), "compile", model, "-o", binary])
        check("compile", computing < COMPILE_SECONDS, "%.1f s, %.1f s of computing, at most %d" % (seconds, computing, COMPILE_SECONDS))
        check("memory of the compiler", memory < COMPILE_BYTES, "%.0f MB, at most %.0f" % (memory / 1e6, COMPILE_BYTES / 1e6))
        extra = os.path.getsize(binary) - weights
        check("size on disk", extra <= EXTRA_BYTES, "%.2f MB beside the weights, at most %.0f" % (extra / 1e6, EXTRA_BYTES / 1e6))

        aligned = alignment_of_largest(binary)
        check("weights in huge pages", aligned == HUGE_PAGE, "their segment is aligned to %d bytes" % aligned)

        ids = np.random.default_rng(7).integers(0, 50257, 19)
        given = ",".join(map(str, ids))
        first = min(measured([binary, "generate", "--ids", given, "-n", "1", "--greedy", "--print-ids"])[0] for _ in range(5))
        check("first token, warm", first < FIRST_TOKEN_SECONDS, "%.3f s, at most %.1f" % (first, FIRST_TOKEN_SECONDS))

        source, result = os.path.join(work, "in"), os.path.join(work, "out")
        tensors.write(source, {"input_ids": ids[None]})
        measured([binary, "run", "--input", source, "--output", result])
        with open(os.path.join(model, "config.json")) as f:
            expected = forward(tensors.read(os.path.join(model, "model.safetensors")), json.load(f), ids)
        wrong = tensors.differs(expected, tensors.read(result)["logits"][0, -1], 2e-4, 1e-4)
        check("logits of the last row", wrong is None, wrong or "as numpy's")
    print("%d passed, %d failed" % (sum(results), len(results) - sum(results)))
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
