"""math_apart.py HEDDLE MODEL PATH: with --math=linear=X,attention=Y the program and the interpreter round the same products: their logits are
nearer to each other than to those of any other choice, which shows that each word concerns its own kind."""
import itertools
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import cached
import tensors

heddle, model, path = sys.argv[1:]
CHOICES = list(itertools.product(("dots", "wide"), repeat=2))


def logits(command, choice):
    out = path + ".out"
    subprocess.run([*command, "--input", path + ".in", "--output", out], check=True)
    return tensors.read(out)["logits"].astype(np.float64)


def main():
    tensors.write(path + ".in", {"input_ids": np.arange(1, 9, dtype=np.int64).reshape(1, -1)})
    interpreted, compiled = {}, {}
    for choice in CHOICES:
        how = ["--dtype=bf16", "--math=linear=%s,attention=%s" % choice]
        done = subprocess.run([heddle, "compile", model, "-o", path + ".bin", *cached.quick(heddle), *how], stderr=subprocess.PIPE, text=True)
        if done.returncode == 3 and "dots" in choice:
            print("no products of pairs on this processor: skipped")
            return
        assert done.returncode == 0, done.stderr
        compiled[choice] = logits([path + ".bin", "run"], choice)
        interpreted[choice] = logits([heddle, "interpret", model, *how], choice)
        said = subprocess.run([path + ".bin", "info", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
        for word, key in zip(choice, ("dots", "attention_dots")):
            assert '"%s":%s' % (key, "true" if word == "dots" else "false") in said, (choice, said[:200])
    off = lambda a, b: np.sqrt(np.mean((a - b) ** 2))
    for choice in CHOICES:
        away = {other: off(compiled[choice], interpreted[other]) for other in CHOICES}
        assert min(away, key=away.get) == choice, (choice, away)
    for a, b in itertools.combinations(CHOICES, 2):
        assert off(compiled[a], compiled[b]) > 0, (a, b)


main()
