#!/usr/bin/python3
"""Two examples by `heddle-toy`, against their expected outputs: `toy.py --bin build/bin`. Ends in `N passed, N failed`."""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors  # noqa: E402

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--bin", required=True)
o = p.parse_args()
failed = 0
examples = ["seed000_encoder", "seed001_transformer"]
for name in examples:
    folder = os.path.join(ROOT, "examples", name)
    with tempfile.TemporaryDirectory() as work:
        program, out = os.path.join(work, "program"), os.path.join(work, "out")
        subprocess.run([os.path.join(o.bin, "heddle-toy"), os.path.join(folder, "model.json"), program], check=True)
        subprocess.run([program, "run", "--input", os.path.join(folder, "input.safetensors"), "--output", out], check=True)
        expected, got = tensors.read(os.path.join(folder, "expected.safetensors")), tensors.read(out)
    wrong = [k for k in expected if k in got and tensors.differs(expected[k], got[k], 1e-4, 1e-4)] or not set(expected) & set(got)
    failed += bool(wrong)
    if wrong:
        print("FAIL %s: %s" % (name, wrong))
print("%d passed, %d failed" % (len(examples) - failed, failed))
