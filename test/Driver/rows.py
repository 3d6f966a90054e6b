"""`rows.py DIR`: the programs f32, usual, near and wide of one model, by their logits.

Rounding rows is what separates `usual` and `near` from `wide`, whose weights are the same codes. With a scale
for 32 features instead of 128 the distance to `wide` is at most 0.8 of it. Bits do not depend on threads or
the batch. Ends in `N passed, N failed`."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors  # noqa: E402
from checks import check, finish  # noqa: E402

folder = sys.argv[1]
random = np.random.default_rng(3)
ids = random.integers(1, 130, (5, 60)).astype(np.int64)


def logits(program, given, *flags):
    at, to = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors.write(at, {"input_ids": given})
    subprocess.run([os.path.join(folder, program), "run", "--input", at, "--output", to, *flags], check=True)
    return tensors.read(to)["logits"]


wide, usual, near = (logits(program, ids).astype(np.float64) for program in ("wide", "usual", "near"))
distance = {name: np.sqrt(np.mean((x - wide) ** 2)) for name, x in (("usual", usual), ("near", near))}
check(0 < distance["near"] < 0.8 * distance["usual"], "32: %.3g of the distance with 128" % (distance["near"] / distance["usual"]))
check(np.isfinite(near).all() and not np.array_equal(logits("f32", ids), near), "f32 is none of them")
one = logits("near", ids, "--threads", "1")
check(one.tobytes() == logits("near", ids, "--threads", "3").tobytes(), "threads")
check(all(one[i].tobytes() == logits("near", ids[i:i + 1])[0].tobytes() for i in range(len(ids))), "a row alone")
sys.exit(finish())
