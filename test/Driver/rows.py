"""`rows.py DIR`: the programs f32, usual, near and wide of one model, by their logits.

Rounding rows is what separates `usual` and `near` from `wide`, whose weights are the same codes. With a scale
for 32 features instead of 128 the distance to `wide` is at most 0.8 of it. Bits do not depend on threads or
the batch. Ends in `N passed, N failed`."""
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../Oracle"))
import tensors  # noqa: E402

folder = sys.argv[1]
random = np.random.default_rng(3)
ids = random.integers(1, 130, (5, 60)).astype(np.int64)


def logits(program, given, *flags):
    at, to = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors.write(at, {"input_ids": given})
    subprocess.run([os.path.join(folder, program), "run", "--input", at, "--output", to, *flags], check=True)
    return tensors.read(to)["logits"]


passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL " + what)


wide, usual, near = (logits(program, ids).astype(np.float64) for program in ("wide", "usual", "near"))
distance = {name: np.sqrt(np.mean((x - wide) ** 2)) for name, x in (("usual", usual), ("near", near))}
check("32: %.3g of the distance with 128" % (distance["near"] / distance["usual"]), 0 < distance["near"] < 0.8 * distance["usual"])
check("f32 is none of them", np.isfinite(near).all() and not np.array_equal(logits("f32", ids), near))
one = logits("near", ids, "--threads", "1")
check("threads", one.tobytes() == logits("near", ids, "--threads", "3").tobytes())
check("a row alone", all(one[i].tobytes() == logits("near", ids[i:i + 1])[0].tobytes() for i in range(len(ids))))
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
