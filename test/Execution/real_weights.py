#!/usr/bin/python3
"""Published, trained weights against the outputs that are published with them.

    real_weights.py --heddle BIN [DIR]                      (default: ../shared/real-weights beside the tree)

stories260K: 200 greedy tokens, on one thread and two, as ids and as text, with slots, and for x86-64-v3. aren-transliteration: greedy and
searched, beginnings alone and as one batch, forbidden letters, another end. Without the weights it says so and ends well. Ends in
`N passed, N failed`."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.abspath(__file__).rpartition("/test/")[0] + "/test/support")
import heddle_test
import tensors
from checks import check, finish
from serving import Server


class Suite:
    def __init__(self, heddle, folder, work):
        self.heddle, self.folder, self.work = heddle, folder, work
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as f:
            self.expected = json.load(f)

    def compiled(self, name, model, *flags):
        binary = os.path.join(self.work, name)
        p = subprocess.run([self.heddle, "compile", model, "-o", binary, *flags], stderr=subprocess.PIPE)
        check(p.returncode == 0, "%s: status %d, %s" % (name, p.returncode, p.stderr.decode()))
        return binary

    def says(self, what, binary, words, want):
        p = subprocess.run([binary, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        said = p.stdout.decode().rstrip("\n")
        check(p.returncode == 0 and said == want, "%s: status %d, %r, expected %r %s" % (what, p.returncode, said, want, p.stderr.decode()))

    def stories(self):
        expected, model = self.expected["stories260K"], os.path.join(self.folder, "stories260K")
        want, new = expected["text"].rstrip("\n"), str(expected["greedy_new_tokens"])
        binary = self.compiled("stories", model)
        for name, program in (("stories", binary), ("stories for x86-64-v3", self.compiled("stories3", model, "--mcpu=x86-64-v3"))):
            for threads in ("1", "2"):
                self.says("%s on %s threads" % (name, threads), program, [expected["prompt"], "-n", new, "--greedy", "--threads", threads], want)
                self.says("%s from ids on %s threads" % (name, threads), program, ["generate", "--ids", "1", "-n", new, "--greedy", "--threads", threads], want)
            for flags in ([], ["--slots", "3", "--threads", "2"]):
                with Server(program, *flags) as server:
                    body = {"prompt": [[1], [1], [1]], "max_tokens": int(new), "temperature": 0}
                    status, got = server.post("/v1/completions", body)
                    texts = [c["text"] for c in got["choices"]] if status == 200 else got
                    check(status == 200 and [t.strip() for t in texts] == [want.strip()] * 3, "%s, served %s: %s %s" % (name, flags, status, texts))

    def aren(self):
        expected, source = self.expected["aren-transliteration"], os.path.join(self.folder, "aren-transliteration")
        with open(os.path.join(source, "model.json"), encoding="utf-8") as f:
            config = json.load(f)["config"]
        with open(os.path.join(source, "tokenizer.json"), encoding="utf-8") as f:
            vocabulary = json.load(f)["model"]["vocab"]
        model = os.path.join(source, "model.json")
        binary = self.compiled("aren", model)
        covered = {"prefix"}

        for name, cases in expected.items():
            if name.startswith("greedy"):
                covered.add(name)
                for word, want in cases.items():
                    for how in (["--greedy"], ["--num-beams", "4"]):
                        for threads in ("1", "2"):
                            self.says("aren %s %s" % (word, how), binary, [word, "-n", "20", "--threads", threads, *how], want)
            elif " on " in name:  # a key of generation_config.json and a word
                covered.add(name)
                key, value, word = re.fullmatch(r"(\w+) (\[.*\]) on (\S+)", name).groups()
                home = os.path.join(self.work, key)
                shutil.copytree(source, home)
                with open(os.path.join(home, "generation_config.json"), "w") as f:
                    json.dump({key: json.loads(value)}, f)
                other = self.compiled("aren_" + key, os.path.join(home, "model.json"))
                self.says("aren, " + name, other, [word, "-n", "20"], cases)
        check(covered == set(expected), "what is not tried: %s" % (set(expected) - covered))

        def ids_of(source_word, begin):
            return [vocabulary[c] for c in source_word], [config["start"]] + [vocabulary["\u2581" + c] for c in begin]

        def letters_of(ids):
            names = {i: t for t, i in vocabulary.items()}
            ids = ids[:ids.index(config["eos"])] if config["eos"] in ids else ids
            return "".join(names[i] for i in ids if i > config["eos"]).replace("\u2581", "")

        def made(rows, *flags):
            width, length = (max(len(r[k]) for r in rows) for k in (0, 1))
            pad = config["pad"]
            path, out = (os.path.join(self.work, n) for n in ("in.safetensors", "out.safetensors"))
            tensors.write(path, {"source_ids": np.array([s + [pad] * (width - len(s)) for s, _ in rows], np.int64), "target_ids": np.array([t + [pad] * (length - len(t)) for _, t in rows], np.int64)})
            p = subprocess.run([binary, "generate", "--input", path, "--output", out, "-n", "20", *flags], stderr=subprocess.PIPE)
            if p.returncode:
                return [p.stderr.decode()] * len(rows)
            return [letters_of(t + row[length:]) for (_, t), row in zip(rows, tensors.read(out)["ids"].tolist())]

        prefixes, together = expected["prefix"], []
        for word, begin, want in prefixes:
            beams = re.search(r" \((\d+) beams\)", want)
            flags = ["--num-beams", beams.group(1)] if beams else []
            want, row = want.split(" ")[0], ids_of(word, begin)
            got = made([row], *flags)
            check(got == [want], "aren, %s from %s: %s, expected %s" % (word, begin, got, want))
            if not beams:
                together.append((row, want))
        for rows in (together, together[::-1]):
            for threads in ("1", "2"):
                got = made([row for row, _ in rows], "--threads", threads)
                check(got == [want for _, want in rows], "aren, beginnings as one batch: %s, expected %s" % (got, [want for _, want in rows]))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--heddle", required=True)
    p.add_argument("folder", nargs="?", default=os.path.join(ROOT, os.pardir, "shared", "real-weights"))
    o = p.parse_args()
    if not os.path.isfile(os.path.join(o.folder, "expected.json")):
        print("no published weights at %s: skipped\n0 passed, 0 failed, 1 skipped" % os.path.relpath(o.folder, ROOT))
        return 0
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(os.path.abspath(o.heddle), os.path.abspath(o.folder), work)
        suite.stories()
        suite.aren()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
