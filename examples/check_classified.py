#!/usr/bin/python3
"""check_classified.py BINARY expected.json: every case of the file, from its text or its picture; texts once more as ids in one
padded batch. Classes must be the same and logits agree to 2e-5, which is what the file's seven digits leave."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test", "Oracle"))
import tensors

NEAR = 2e-5


def from_file(binary, what):
    """-> [(label, score, logit)] in the order of the classes, and the best label"""
    said = subprocess.run([binary, what, "--json", "--top", "1000"], check=True, stdout=subprocess.PIPE).stdout
    ranked = json.loads(said)["labels"]
    return sorted(ranked, key=lambda one: one["id"]), ranked[0]["label"]


def from_ids(binary, cases):
    """-> logits of all cases, run as one batch"""
    longest = max(len(c["input_ids"]) for c in cases)
    ids, mask = np.zeros((len(cases), longest), np.int64), np.zeros((len(cases), longest), np.int64)
    for row, case in enumerate(cases):
        n = len(case["input_ids"])
        ids[row, :n], mask[row, :n] = case["input_ids"], 1
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        tensors.write(source, {"input_ids": ids, "attention_mask": mask})
        subprocess.run([binary, "run", "--input", source, "--output", result], check=True)
        return tensors.read(result)["logits"]


def main():
    binary, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        expected = json.load(f)
    cases, good = expected["cases"], 0
    batch = from_ids(binary, cases) if "input_ids" in cases[0] else None
    for row, case in enumerate(cases):
        what = case["text"] if "text" in case else os.path.join(os.path.dirname(path), case["image"])
        classes, best = from_file(binary, what)
        logits = [one["logit"] for one in classes]
        wrong = [one["label"] for one in classes] != expected["labels"] or best != case["label"]
        wrong |= np.abs(np.array(logits) - case["logits"]).max() > NEAR
        if "probabilities" in case:
            wrong |= np.abs(np.array([one["score"] for one in classes]) - case["probabilities"]).max() > NEAR
        if batch is not None:
            # A sentence in a batch gives the bits that it gives alone.
            wrong |= [float(x) for x in batch[row]] != [float(np.float32(x)) for x in logits]
        if wrong:
            print("%r: expected %s %s, found %s %s" % (what, case["label"], case["logits"], best, logits))
        else:
            good += 1
    print("%d of %d as expected" % (good, len(cases)))
    return int(good < len(cases))


if __name__ == "__main__":
    sys.exit(main())
