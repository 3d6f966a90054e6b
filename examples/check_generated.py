#!/usr/bin/python3
"""check_generated.py BINARY expected.json: every case of the file, as ids (greedy, one by one) and as text."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test", "Oracle"))
import tensors


def new_ids(binary, roles, ids, steps, folder):
    source, result = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
    tensors.write(source, {roles["input"]: np.array([ids], np.int64)})
    subprocess.run([binary, "generate", "--input", source, "--output", result, "-n", str(steps), "--greedy"], check=True)
    return tensors.read(result)["ids"][0, roles["prompt"](ids):].tolist()


def main():
    binary, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        expected = json.load(f)
    pairs = "output" in expected["cases"][0]  # text in, another text out; else a text is continued
    roles = {"input": "source_ids", "prompt": lambda ids: 1} if pairs else {"input": "input_ids", "prompt": len}
    steps, good = (12 if pairs else expected["max_new_tokens"]), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in expected["cases"]:
            want, prompt = case["generated_ids"], case.get("text", case.get("prompt"))
            got = new_ids(binary, roles, case["input_ids"], steps, folder)[:len(want)]
            said = subprocess.run([binary, prompt, "-n", str(steps), "--greedy"], check=True, stdout=subprocess.PIPE).stdout.decode().rstrip("\n")
            text = case["output"] if pairs else (prompt + case["generated_text"]).replace("<|endoftext|>", "")
            if got != want:
                print("%r: expected ids %s, found %s" % (prompt, want, got))
            elif said != text.rstrip("\n"):
                print("%r: expected %r, found %r" % (prompt, text, said))
            else:
                good += 1
    print("%d of %d as expected" % (good, len(expected["cases"])))
    return int(good < len(expected["cases"]))


if __name__ == "__main__":
    sys.exit(main())
