#!/usr/bin/python3
"""What storing numbers in 16 bits costs, and that it costs no more.

    storage.py --heddle BIN [-v]

The examples that say what they must yield are compiled with --dtype=bf16 and --math=wide, and every other one with --math=dots
(where this processor has it) or with --dtype=f16, and interpreted with the same. Outputs may be off by LIMIT: the root of the mean square of the difference, relative to that of what is
expected; that they are off at all shows that something was rounded. Weights take half the bytes, but for biases and norms. Then the same for codes of 8 and 4 bits (codes.py). One
line a failure, then `N passed, N failed`."""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import codes
import tensors

# A product is off by 2e-3, of f16 by an eighth of it; these models have up to six layers.
LIMIT = {"wide": (1e-5, 1.2e-2), "dots": (1e-5, 1.2e-2), "f16": (1e-6, 1.5e-3)}
FORBIDDEN = -1e29  # a logit below is that of a token which the model rules out: the same whatever is rounded
UNSUPPORTED = 3


def rms(x):
    return float(np.sqrt(np.mean(np.square(x.astype(np.float64)))))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("-v", action="store_true")
    o = p.parse_args()
    heddle, passed, failed = os.path.abspath(o.heddle), 0, 0

    def check(what, good, more=""):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if o.v or not good:
            print("%s %s %s" % ("ok  " if good else "FAIL", what, more))

    examples = os.path.join(ROOT, "examples")
    with tempfile.TemporaryDirectory(prefix="heddle-storage-") as work:
        out = os.path.join(work, "out")
        size = lambda binary: json.loads(subprocess.run([binary, "info", "--json"], check=True, stdout=subprocess.PIPE).stdout)["weight_bytes"]
        ways = itertools.cycle((("wide", "dots"), ("wide", "f16")))
        for name in sorted(os.listdir(examples)):
            files = {f: os.path.join(examples, name, f) for f in ("model.json", "input.safetensors", "expected.safetensors")}
            if not all(map(os.path.exists, files.values())):
                continue
            expected, whole = tensors.read(files["expected.safetensors"]), os.path.join(work, name)
            subprocess.run([heddle, "compile", files["model.json"], "-o", whole, *cached.quick(heddle)], check=True)
            for math in next(ways):
                least, most = LIMIT[math]
                binary, how = "%s-%s" % (whole, math), ["--dtype=f16"] if math == "f16" else ["--dtype=bf16", "--math=" + math]
                status = subprocess.run([heddle, "compile", files["model.json"], "-o", binary, *cached.quick(heddle), *how], stderr=subprocess.DEVNULL).returncode
                if status == UNSUPPORTED and math != "wide":
                    continue
                check("%s %s compiles" % (name, math), status == 0)
                if status:
                    continue
                share = size(binary) / size(whole)
                check("%s %s: size" % (name, math), 0.5 <= share < 0.75, "%.2f of the weights' bytes" % share)
                for engine, command in (("binary", [binary, "run"]), ("interpreter", [heddle, "interpret", files["model.json"], *how])):
                    subprocess.run(command + ["--input", files["input.safetensors"], "--output", out], check=True)
                    got = tensors.read(out)
                    for key, e in sorted(expected.items()):
                        if e.dtype.kind != "f":
                            continue
                        ruled_out = e < FORBIDDEN
                        if got[key].shape != e.shape or not np.array_equal(got[key][ruled_out], e[ruled_out]):
                            off = np.inf
                        else:
                            off = rms((got[key] - e)[~ruled_out]) / rms(e[~ruled_out])
                        check("%s %s %s %s" % (name, math, engine, key), least < off <= most, "off by %.1e" % off)
        codes.rows(heddle, work, check)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main())
